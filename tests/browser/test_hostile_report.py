"""A report whose every name is hostile is built whole and read in a browser: nothing runs, nothing breaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from example_site import build
from hostile_report import LAST, WRITABLE, write_hostile_report
from playwright.sync_api import expect

from browser.conftest import resize
from browser.live import ALIVE, press

if TYPE_CHECKING:
    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

PAGES = ("index", "series/index", "metrics/index", "words/index", "scores/index")
FIGURES = {
    "series/index": 5,
    "metrics/index": len(WRITABLE),
    "words/index": len(WRITABLE),
    "scores/index": 5,
}
# What no page of ours has: an image, a handler, an address that is a script.
_STRANGE = """() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]
    .filter((a) => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value) && a.name.match(/href|src/))
    .map((a) => `${node.localName} ${a.name}=${a.value}`)
    .concat(["IMG", "IFRAME", "B", "OBJECT"].includes(node.tagName) ? [node.outerHTML] : []))"""


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The hostile report's site, built strictly."""
    return sites.make("hostile", lambda folder: build(write_hostile_report(folder)))


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_pages_open_whole_and_run_nothing(tabs: Tabs, *, from_server: bool) -> None:
    """Every figure wakes, the last heading stands, no element comes of a name, and none widens a page."""
    tab, wide = tabs.open("index", served=from_server), []
    for page in PAGES:
        tabs.go(tab, page)
        figures = tab.locator(".rg-figure")
        expect(figures).to_have_count(FIGURES.get(page, 0))
        # Scripts are found in another way from a server, but draw the same.
        for figure in figures.all()[: 1 if from_server else None]:
            figure.dispatch_event("pointermove")
            expect(figure).to_have_class(re.compile("rg-is-(live|read)"))
        expect(tab.get_by_role("heading", name=LAST)).to_be_visible()
        assert tab.evaluate(_STRANGE) == []
        assert tab.evaluate("[typeof {}.x, Object.keys(Object.prototype)]") == ["undefined", []]
        for width in (360, 1280):
            resize(tab, width)
            if tab.evaluate("document.scrollingElement.scrollWidth") > width:
                wide.append(f"{page}, {width} px")
    assert wide == []


def test_names_are_said_and_found_as_they_are(tabs: Tabs) -> None:
    """Tooltips and marks have all series, also those named like properties; search has words."""
    tab = tabs.open("series/index")
    figure = tab.locator("#all")
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(ALIVE)
    press(figure, "End")
    tooltip = figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    cells = "tip => [...tip.children].flatMap(row => [...row.children].map(cell => cell.textContent))"
    assert set(WRITABLE) <= set(tooltip.evaluate(cells))
    tabs.go(tab, "scores/index")
    figure = tab.locator("#dots")
    expect(figure).to_have_class(re.compile("rg-is-read"))
    said = figure.locator(".rg-mark").evaluate_all("marks => marks.map(mark => mark.dataset.rgSeries)")
    assert set(WRITABLE) <= set(said)
    tabs.go(tab, "index")
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("hostile")
    expect(tab.get_by_role("option").first).to_be_visible()
    assert tab.evaluate(_STRANGE) == []
