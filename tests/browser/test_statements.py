"""Bound words in a browser: a popover that tells what the list at the page's end tells, and never more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from made_projects import SETTINGS, write_report
from playwright.sync_api import expect

from browser.conftest import opened
from browser.live import box_of, fragment
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

PROSE = "Nothing is bound in these words, which fill a line or two of the page. " * 12
PAGE = f"""---
title: Small
---

# Small

MEL peaks at [0.82]{{value="peak(MEL)"}}, [and ends above
GRPO]{{claim="final(MEL) > final(GRPO)"}}; some say [0.99]{{value="peak(MEL)"}}, and
[GRPO wins]{{claim="better(GRPO, MEL)" fails="an old belief"}}. As [one of 0.82](#scores) says.

```curve
id: scores
source: runs
title: Accuracy
```

{PROSE}

- ends at [0.72]{{value="final(GRPO)"}} in a list, at the very end of a line that is long enough to wrap

{PROSE}
"""
# What waits for its time is listed, so that a test can wait until it has come.
SLOWLY = """window.delays = [];
const wait = setTimeout;
window.setTimeout = (job, ms = 0, ...rest) => {
  delays.push(new Promise((done) => wait(done, ms + 50)));
  return wait(job, ms, ...rest);
};"""
# Material would otherwise ask another place for its fonts.
THEMES = {"reportgen": "{name: reportgen}", "material": "{name: material, font: false}"}


@pytest.fixture(scope="module", params=THEMES)
def site(request: pytest.FixtureRequest, sites: Sites) -> Site:
    """A site with statements, in our theme and in a foreign one."""
    theme: str = request.param

    def make(folder: Path) -> Path:
        settings = SETTINGS.replace("{name: reportgen}", THEMES[theme])
        write_report(folder, {"mkdocs.yml": settings, "content/index.md": PAGE})
        publish(folder / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
        return folder / "site"

    return sites.make(f"stated-{theme}", make)


@pytest.fixture
def tabs(pool: Pool, site: Site) -> Iterator[Tabs]:
    """A way to open pages of one theme or the other; afterwards each of them must have been clean."""
    with opened(pool, site) as tabs:
        yield tabs
    assert tabs.complaints == []


def popover(tab: Page) -> Locator:
    """What is told beside the words."""
    return tab.locator(".rg-popover")


def plain(text: str | None) -> str:
    """Words with single spaces."""
    return " ".join((text or "").split())


def test_hover_and_focus_tell_what_the_list_says(tabs: Tabs) -> None:
    """Word for word, and the pointer may move on to its link; Escape closes it, Enter leads to the row."""
    tab = tabs.open("index", script=SLOWLY)
    for number in (1, 2, 3):
        tab.locator(f"#statement-{number}").hover()
        expect(popover(tab)).to_be_visible()
        row = tab.locator(f"#checked-{number} .rg-says")
        assert plain(popover(tab).text_content()) == plain(row.text_content())
        expect(tab.locator(f"#statement-{number}")).to_have_attribute("aria-describedby", "rg-told")
    # Not by colour alone: what fails has another underline.
    style = "element => getComputedStyle(element).textDecorationStyle"
    shapes = [tab.locator(f"#statement-{n}").evaluate(style) for n in (1, 3)]
    assert shapes == ["dotted", "wavy"]
    popover(tab).get_by_role("link").hover()
    tab.evaluate("Promise.all(delays)")  # what the pointer began by leaving the words has ended
    expect(popover(tab)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(popover(tab)).to_be_hidden()
    tab.locator("#statement-1").hover()
    tab.locator("h1").hover()
    expect(popover(tab)).to_be_hidden()
    tab.locator("#statement-1").focus()
    expect(popover(tab)).to_be_visible()
    assert popover(tab).get_by_role("tooltip").text_content()
    tab.keyboard.press("Enter")
    assert fragment(tab) == "#checked-1"
    tab.locator("#checked-1 .rg-typed a").focus()
    expect(popover(tab)).to_be_hidden()
    tab.keyboard.press("Enter")
    assert fragment(tab) == "#statement-1"
    # Its link leads to the state of the figure that the statement is about.
    tab.locator("h1").hover()
    tab.locator("#statement-1").hover()
    popover(tab).get_by_role("link").click()
    assert fragment(tab) == "#scores~series=MEL~mark=10@MEL"
    expect(tab.locator("#scores")).to_be_in_viewport()
    expect(popover(tab)).to_be_hidden()


def test_a_tap_tells_and_another_follows_the_link(tabs: Tabs) -> None:
    """On a narrow screen the popover stays inside; a tap elsewhere closes it."""
    tab = tabs.open("index", width=390, touch=True)
    for bound in tab.locator(".rg-bound").all():
        bound.scroll_into_view_if_needed()
        bound.tap()
        expect(popover(tab)).to_be_visible()
        box, words = box_of(popover(tab)), box_of(bound)
        assert box["x"] >= 0
        assert box["right"] <= 390
        assert box["y"] >= words["bottom"] - 1 or box["bottom"] <= words["y"] + 1
        assert fragment(tab) == ""
        tab.locator(".rg-badge").dispatch_event("pointerdown")
        expect(popover(tab)).to_be_hidden()
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= 390
    bound = tab.locator("#statement-1")
    bound.tap()
    bound.tap()
    assert fragment(tab) == "#checked-1"


def test_without_javascript_nothing_is_missing(tabs: Tabs) -> None:
    """Words are links to the list, and the list has links to the figure."""
    tab = tabs.open("index", javascript=False)
    tab.locator("#statement-3").click()
    row = tab.locator("#checked-3")
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text("fails")
    expect(row).to_contain_text("The best value of MEL is 0.82 at step 10: best of 2 checkpoints.")
    expect(tab.locator("#statement-3 + .rg-verdict")).to_have_text("(the data say 0.82)")
    row.get_by_role("link", name=re.compile("Show in the figure")).click()
    expect(tab.locator("#scores")).to_be_in_viewport()


def test_statements_are_accessible_and_on_paper(tabs: Tabs) -> None:
    """Contrast, names and roles, with a popover open; paper has their number in one line, unfolded or not."""
    tab = tabs.open("index", served=True)
    tab.locator("#statement-3").hover()
    expect(popover(tab)).to_be_visible()
    parts = (".rg-badge", ".rg-checked", ".rg-popover", ".rg-bound")
    assert tabs.find_faults(tab, (1280,), *parts) == []
    expect(popover(tab)).to_be_visible()
    tab.emulate_media(media="print")
    expect(popover(tab)).to_be_hidden()
    expect(tab.locator(".rg-checked summary")).to_contain_text("5 statements compared with the data")
    tab.goto(f"{tab.url}#checked-1")
    expect(tab.locator("#checked-1")).to_be_hidden()
    expect(tab.locator(".rg-badge")).to_be_visible()
