"""A report whose every name is hostile is built whole and read in a browser: nothing runs, nothing breaks."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from example_site import build, made_once
from hostile_report import LAST, NAMES, WRITABLE, write_hostile_report
from html_tree import classed, read_html, words
from playwright.sync_api import expect

from browser.conftest import Site, Tabs, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PAGES = ("index", "series/index", "metrics/index", "words/index", "scores/index")
FIGURES = {
    "series/index": 5,
    "metrics/index": len(WRITABLE),
    "words/index": len(WRITABLE),
    "scores/index": 5,
}
MARKS = ("=", "+", "-", "@", "\t", "\r", "\n")
# What no page of ours has: an image, a handler, an address that is a script.
_STRANGE = """() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]
    .filter((a) => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value) && a.name.match(/href|src/))
    .map((a) => `${node.localName} ${a.name}=${a.value}`)
    .concat(["IMG", "IFRAME", "B", "OBJECT"].includes(node.tagName) ? [node.outerHTML] : []))"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The hostile report's site, built strictly, on disk and served."""
    site = made_once(tmp_path_factory, "hostile", lambda folder: build(write_hostile_report(folder)))
    with served(site) as address:
        yield Site(site, address)


@pytest.fixture
def tabs(browser: Browser, hostile: Site) -> Iterator[Tabs]:
    """A way to open pages; no dialog, message, error, violation or outside request may come of it."""
    opened = Tabs(browser, hostile)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.mark.parametrize("served_or_not", [False, True], ids=["file", "http"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_whole_and_runs_nothing(tabs: Tabs, page: str, *, served_or_not: bool) -> None:
    """Every figure wakes, the last heading stands, and no element came out of a name."""
    tab = tabs.open(page, served=served_or_not)
    figures = tab.locator(".rg-figure")
    expect(figures).to_have_count(FIGURES.get(page, 0))
    for figure in figures.all():
        figure.dispatch_event("pointermove")
        expect(figure).to_have_class(re.compile("rg-is-(live|read)"))
    expect(tab.get_by_role("heading", name=LAST)).to_be_visible()
    assert tab.evaluate(_STRANGE) == []
    assert tab.evaluate("[typeof {}.x, Object.keys(Object.prototype)]") == ["undefined", []]


@pytest.mark.parametrize("width", [1280, 360])
def test_no_name_pushes_a_page_out_of_its_window(tabs: Tabs, width: int) -> None:
    """A name of 500 letters in titles, legends, tables and the navigation wraps or is cut."""
    tab = tabs.open("index", width=width)
    for page in PAGES:
        tab.goto(f"{tabs.site.folder.as_uri()}/{page}.html")
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= width, page


def test_the_tooltip_says_every_name_as_it_is(tabs: Tabs) -> None:
    """All series have a row, also those named like properties of every object."""
    tab = tabs.open("series/index")
    figure = tab.locator("#all")
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(re.compile("rg-is-live"))
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("End")
    tooltip = figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    rows = tooltip.evaluate("t => [...t.children].map(row => [...row.children].map(c => c.textContent))")
    shown = {cell for row in rows for cell in row}
    assert set(WRITABLE) <= shown


def test_marks_say_every_name_as_it_is(tabs: Tabs) -> None:
    """A score is read out with the name of its series, whatever that is."""
    tab = tabs.open("scores/index")
    figure = tab.locator("#dots")
    expect(figure).to_have_class(re.compile("rg-is-read"))
    said = figure.locator(".rg-mark").evaluate_all("marks => marks.map(mark => mark.dataset.rgSeries)")
    assert set(WRITABLE) <= set(said)


def test_search_shows_hostile_titles_as_text(tabs: Tabs) -> None:
    """What is found is words, never markup."""
    tab = tabs.open("index")
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("hostile")
    expect(tab.get_by_role("option").first).to_be_visible()
    assert tab.evaluate(_STRANGE) == []


def test_pages_are_well_nested(hostile: Site) -> None:
    """No name closes an element: the tree of each page is whole, with all its figures."""
    for page in PAGES:
        tree = read_html((hostile.folder / f"{page}.html").read_text("utf-8"))
        assert len(classed(tree, "rg-figure")) == FIGURES.get(page, 0)
        for figure in classed(tree, "rg-figure"):
            assert len(classed(figure, "rg-data")) == 1
        assert words(tree).count(LAST) >= 1


def test_marks_that_an_author_wrote_stay_words(hostile: Site) -> None:
    """Raw HTML that looks like our own marks is neither filled nor a fault."""
    html = (hostile.folder / "index.html").read_text("utf-8")
    for words_of_it in ("of no block", "of another page", "with a salt", "bound to nothing"):
        assert words_of_it in html
    assert 'data-rg-block="nope"' in html
    assert "<rg-bound n=" not in html


def test_pictures_are_well_formed(hostile: Site) -> None:
    """Every SVG file is XML without script, handler or outside address."""
    found = sorted(hostile.folder.glob("figures/**/*.svg"))
    assert len(found) == sum(FIGURES.values())
    for path in found:
        for element in ET.fromstring(path.read_text("utf-8")).iter():  # noqa: S314 - our own output
            assert not element.tag.lower().endswith(("script", "foreignobject", "}image")), path
            assert not [name for name in element.attrib if name.lower().startswith("on")], path


def test_no_cell_is_a_formula(hostile: Site) -> None:
    """A spreadsheet runs nothing of a CSV file; names are there, whole."""
    for path in sorted(hostile.folder.glob("figures/**/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}, path
        for cell in (cell for row in rows for cell in row):
            assert _is_number(cell) or not cell.startswith(MARKS), (path, cell)
    with (hostile.folder / "figures/series/all.csv").open(encoding="utf-8", newline="") as file:
        series = {row["series"].removeprefix("'") for row in csv.DictReader(file)}
    assert {name.removeprefix("'") for name in NAMES} == series


def test_scores_name_everything_as_it_is(hostile: Site) -> None:
    """Series, benchmarks and what was measured otherwise stand whole in the numbers."""
    report = json.loads((hostile.folder / "report.json").read_text("utf-8"))
    [page] = [page for page in report["pages"] if page["path"] == "scores.md"]
    stacks = {stack["id"]: stack["numbers"] for stack in page["stacks"]}
    assert {score["series"] for score in stacks["dots"]["scores"]} == set(NAMES)
    assert set(stacks["both"]["benchmarks"]) == {NAMES[5], NAMES[1]}
    assert stacks["dots"]["mixed_protocol"]["prompt"][NAMES[3]] == [NAMES[1]]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_report_json_names_everything_as_it_is(hostile: Site) -> None:
    """The data of the report are JSON with the names of the data."""
    report = json.loads((hostile.folder / "report.json").read_text("utf-8"))
    [page] = [page for page in report["pages"] if page["path"] == "series.md"]
    [figure] = [figure for figure in page["figures"] if figure["id"] == "all"]
    assert {series["name"] for series in figure["numbers"]["series"]} == set(NAMES)
    assert figure["title"] == NAMES[0]
