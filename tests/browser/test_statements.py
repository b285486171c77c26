"""Bound words in a browser: a popover that tells what the list at the page's end tells, and never more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from example_site import made_once
from made_projects import SETTINGS, write_report
from playwright.sync_api import expect

from browser.conftest import Site, Tabs, served
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

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
# Material would otherwise ask another place for its fonts.
THEMES = {"reportgen": "{name: reportgen}", "material": "{name: material, font: false}"}


@pytest.fixture(scope="module", params=THEMES)
def stated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with statements, in our theme and in a foreign one."""
    theme: str = request.param

    def make(folder: Path) -> Path:
        settings = SETTINGS.replace("{name: reportgen}", THEMES[theme])
        write_report(folder, {"mkdocs.yml": settings, "content/index.md": PAGE})
        publish(folder / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
        return folder / "site"

    site = made_once(tmp_path_factory, f"stated-{theme}", make)
    with served(site) as address:
        yield Site(site, address)


@pytest.fixture
def tabs(browser: Browser, stated: Site) -> Iterator[Tabs]:
    """A way to open pages; no message, error, violation or outside request may come of it."""
    opened = Tabs(browser, stated)
    yield opened
    opened.close()
    assert opened.complaints == []


def popover(tab: Page) -> Locator:
    """What is told beside the words."""
    return tab.locator(".rg-popover")


def plain(text: str | None) -> str:
    """Words with single spaces."""
    return " ".join((text or "").split())


def test_hover_tells_what_the_list_says(tabs: Tabs) -> None:
    """Word for word, and the pointer may move on to its link; Escape closes it."""
    tab = tabs.open("index")
    for number in (1, 2, 3):
        tab.locator(f"#statement-{number}").hover()
        expect(popover(tab)).to_be_visible()
        row = tab.locator(f"#checked-{number} .rg-says")
        assert plain(popover(tab).text_content()) == plain(row.text_content())
        expect(tab.locator(f"#statement-{number}")).to_have_attribute("aria-describedby", "rg-told")
    link = popover(tab).get_by_role("link")
    link.hover()
    tab.wait_for_timeout(400)
    expect(popover(tab)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(popover(tab)).to_be_hidden()
    tab.locator("#statement-1").hover()
    tab.locator("h1").hover()
    expect(popover(tab)).to_be_hidden()


def test_focus_tells_and_enter_leads_to_the_row_and_back(tabs: Tabs) -> None:
    """All of it works with a keyboard alone."""
    tab = tabs.open("index")
    tab.locator("#statement-1").focus()
    expect(popover(tab)).to_be_visible()
    assert popover(tab).get_by_role("tooltip").text_content()
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == "#checked-1"
    tab.locator("#checked-1 .rg-typed a").focus()
    expect(popover(tab)).to_be_hidden()
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == "#statement-1"


def test_a_tap_tells_and_another_follows_the_link(tabs: Tabs) -> None:
    """On a narrow screen the popover stays inside; a tap elsewhere closes it."""
    tab = tabs.open("index", width=390, touch=True)
    for bound in tab.locator(".rg-bound").all():
        bound.scroll_into_view_if_needed()
        bound.tap()
        expect(popover(tab)).to_be_visible()
        box = popover(tab).bounding_box()
        words = bound.bounding_box()
        assert box
        assert words
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] >= words["y"] + words["height"] - 1 or box["y"] + box["height"] <= words["y"] + 1
        assert tab.evaluate("location.hash") == ""
        tab.locator(".rg-badge").dispatch_event("pointerdown")
        expect(popover(tab)).to_be_hidden()
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= 390
    bound = tab.locator("#statement-1")
    bound.tap()
    bound.tap()
    assert tab.evaluate("location.hash") == "#checked-1"


def test_the_link_leads_to_the_figure(tabs: Tabs) -> None:
    """To the state that the statement is about."""
    tab = tabs.open("index")
    tab.locator("#statement-1").hover()
    popover(tab).get_by_role("link").click()
    assert tab.evaluate("location.hash") == "#scores~series=MEL~mark=10@MEL"
    expect(tab.locator("#scores")).to_be_in_viewport()
    expect(popover(tab)).to_be_hidden()


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


def test_print_folds_the_list_and_hides_the_popover(tabs: Tabs) -> None:
    """Paper has the number of statements in one line, also where the list was unfolded."""
    tab = tabs.open("index")
    tab.locator("#statement-1").hover()
    expect(popover(tab)).to_be_visible()
    tab.emulate_media(media="print")
    expect(popover(tab)).to_be_hidden()
    expect(tab.locator(".rg-checked summary")).to_contain_text("5 statements compared with the data")
    tab.goto(f"{tab.url}#checked-1")
    expect(tab.locator("#checked-1")).to_be_hidden()
    expect(tab.locator(".rg-badge")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_statements_are_accessible(tabs: Tabs, scheme: str) -> None:
    """Contrast, names and roles, with a popover open."""
    tab = tabs.open("index", scheme=scheme, served=True)
    tab.locator("#statement-3").hover()
    expect(popover(tab)).to_be_visible()
    found = Axe().run(tab, context=[[".rg-badge"], [".rg-checked"], [".rg-popover"], [".rg-bound"]]).response
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


def test_what_fails_differs_in_shape(tabs: Tabs) -> None:
    """Not by colour alone: the underline is another one."""
    tab = tabs.open("index")
    style = "element => getComputedStyle(element).textDecorationStyle"
    shapes = [tab.locator(f"#statement-{n}").evaluate(style) for n in (1, 3)]
    assert shapes == ["dotted", "wavy"]
