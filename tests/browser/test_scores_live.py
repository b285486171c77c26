"""Rows and heat maps in a real browser: read out, isolated, downloaded, and complete without a script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import resize
from browser.figure_pages import HOSTILE
from browser.live import box_of, press, said
from browser.score_pages import NAMES

if TYPE_CHECKING:
    from browser.conftest import Site, Tabs

pytestmark = pytest.mark.browser

# Places of every word and line of the page, the added parts apart.
_PLACES = """async () => {
  await document.fonts.ready;
  const parts = ".rg-picture :is(text, circle, line, path), .rg-title, .rg-plot, .rg-summary, td";
  const boxes = [...document.querySelectorAll(parts)].map((node) => node.getBoundingClientRect());
  return boxes.flatMap(({ left, top, right, bottom }) => [left, top, right, bottom]);
}"""
_FOCUSED = "(e => e.getAttribute('aria-label') || e.className || e.textContent)(document.activeElement)"


@pytest.fixture(scope="session")
def site(scores_site: Site) -> Site:
    """The pages of ``score_pages``."""
    return scores_site


def alive(tab: Page, figure_id: str) -> Locator:
    """A figure of marks that can be read."""
    figure = tab.locator(f"#{figure_id}")
    expect(figure.locator(".rg-toolbar")).to_be_attached()
    figure.scroll_into_view_if_needed()
    return figure


def tip(figure: Locator) -> list[str]:
    """The lines of the tooltip."""
    expect(figure.locator(".rg-tooltip")).to_be_visible()
    return figure.locator(".rg-tooltip > *").all_text_contents()


def faded(figure: Locator) -> set[str]:
    """The series that stand back in a figure."""
    names: list[str] = figure.locator("svg .rg-faded").evaluate_all("ps => ps.map(p => p.dataset.rgSeries)")
    return set(names)


def middle(part: Locator) -> tuple[float, float]:
    """The middle of a part of a picture, in pixels of the window, where it is in view now."""
    part.scroll_into_view_if_needed()
    box = box_of(part)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def mark(figure: Locator, words: str) -> Locator:
    """The mark whose tip begins with these words."""
    return figure.locator(f'.rg-mark[data-rg-tip^="{words}"]')


def cell(figure: Locator, series: int, problem: int) -> tuple[float, float]:
    """The middle of a cell of a heat map of 4 series and 40 problems, both counted from 0."""
    box = box_of(figure.locator("svg.rg-heat"))
    return box["x"] + (problem + 0.5) / 40 * box["width"], box["y"] + (series + 0.5) / 4 * box["height"]


def test_nothing_moves(tabs: Tabs) -> None:
    """The page is the same to the pixel with and without its scripts, and scrolls sideways in neither."""
    still, tab, moves = tabs.open("rows", javascript=False), tabs.open("rows"), []
    for name in ("rows", "pairs", "heat"):
        for width in (1280, 390):
            still.set_viewport_size({"width": width, "height": 900})
            tabs.go(still, name)
            before, figures = still.evaluate(_PLACES), still.locator(".rg-of-marks").count()
            resize(tab, width)
            tabs.go(tab, name)
            expect(tab.locator(".rg-of-marks .rg-toolbar")).to_have_count(figures)
            if tab.evaluate(_PLACES) != pytest.approx(before, abs=0.01):
                moves.append(f"{name}, {width} px: something moves")
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                moves.append(f"{name}, {width} px: scrolls sideways")
    assert moves == []


def test_marks_need_no_vega_and_share_a_page_with_curves(tabs: Tabs) -> None:
    """Marks load two small scripts and no Vega; a page without marks loads neither of the two."""
    tab = tabs.open("rows")
    alive(tab, "scores")
    tab.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))")
    loaded = {url.rpartition("/")[2] for url in tabs.requests if url.endswith(".js")}
    assert loaded == {"live.js", "live-toolbar.js", "live-marks.js"}
    tabs.requests.clear()
    tabs.go(tab, "curves")
    expect(tab.locator("#points .rg-toolbar")).to_be_attached()
    assert not any(url.endswith("live-marks.js") for url in tabs.requests)
    tabs.go(tab, "both")
    expect(tab.locator("#points .rg-toolbar")).to_be_attached()
    alive(tab, "scores").locator(".rg-surface").hover()
    expect(tab.locator("#points .rg-surface")).to_be_attached()


def test_complete_without_script(tabs: Tabs) -> None:
    """Picture, summary, words, tables and downloads are there."""
    tab = tabs.open("rows", javascript=False)
    figure = tab.locator("#scores")
    expect(figure.locator("svg[role=img]")).to_be_visible()
    expect(figure.locator(".rg-summary")).to_contain_text("Large")
    expect(tab.locator(".rg-words")).to_have_text("Large is better than Small.")
    expect(tab.locator("#pairs td.rg-better").first).to_contain_text("better")
    figure.get_by_text("Data table", exact=True).click()
    expect(figure.locator("table")).to_be_visible()
    expect(figure.get_by_role("link", name="SVG")).to_have_attribute("href", "figures/scores.svg")


# ---- reading --------------------------------------------------------------------------------------


def test_pointer_reads_a_row_and_its_dots(tabs: Tabs) -> None:
    """Anywhere in a row its mark is read, its name included; close to a run's dot the run is."""
    tab = tabs.open("rows")
    figure = alive(tab, "runs")
    x, y = middle(mark(figure, "Small").first)
    tab.mouse.move(x, y)
    assert tip(figure)[:2] == ["Small", "mean of 3 runs: 64.0%"]
    tab.mouse.move(box_of(figure.locator(".rg-plot"))["x"] + 20, y)
    assert tip(figure)[0] == "Small"
    tab.mouse.move(*middle(mark(figure, "Small").nth(1)))
    assert tip(figure) == ["Small", "run 1: 62.0%"]
    tab.mouse.move(1, 1)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()
    # Arrows go from mark to mark and from series to series, and each is announced; Escape leaves.
    for key, words in (
        ("ArrowRight", "Large, mean of 3 runs: 80.0%"),
        ("ArrowRight", "Large, run 1: 78.0%"),
        ("ArrowDown", f"{NAMES[1]}, mean of 3 runs: 72.0%"),
        ("End", "Tiny, run 3: 58.0%"),
        ("ArrowRight", "Tiny, run 3: 58.0%"),
        ("ArrowUp", "Small, mean of 3 runs: 64.0%"),
        ("Home", "Large, mean of 3 runs: 80.0%"),
    ):
        press(figure, key)
        expect(said(figure)).to_contain_text(words)
    expect(figure.locator(".rg-ring")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-tooltip")).to_be_hidden()
    expect(figure.locator(".rg-surface")).to_be_focused()


def test_a_heat_map_is_read_and_isolates_its_rows(tabs: Tabs) -> None:
    """A cell names its problem, how hard it is, the score and the samples; a click isolates."""
    tab = tabs.open("heat")
    figure = alive(tab, "problems-map")
    tab.mouse.move(*cell(figure, 1, 0))
    problem, hard, score = tip(figure)
    assert problem.startswith("p000")
    assert hard
    assert score == f"{NAMES[1]}: 100.0%, 4 of 4 samples right"
    tab.mouse.move(*cell(figure, 3, 39))
    assert tip(figure)[2] == "Tiny: 0.0%, 0 of 4 samples right"
    tab.mouse.move(1, 1)
    press(figure, "ArrowRight", "End")
    expect(said(figure)).to_contain_text("Large: 0.0%, 0 of 4 samples right")
    data = json.loads(figure.locator("> .rg-heat-data").text_content() or "")
    tab.mouse.move(*cell(figure, 0, data["score"][0].index(None)))
    assert tip(figure)[2] == "Large: no answer"
    tab.mouse.click(*cell(figure, 2, 5))
    assert faded(figure) == set(NAMES) - {"Small"}
    tab.mouse.click(box_of(figure.locator(".rg-plot"))["x"] + 10, cell(figure, 3, 0)[1])
    assert faded(figure) == set(NAMES) - {"Tiny"}


def test_tooltip_stays_inside_the_window(tabs: Tabs) -> None:
    """From the first mark to the last one."""
    tab, outside = tabs.open("rows"), []
    for name, figure_id in (("rows", "scores"), ("heat", "problems-map")):
        for width in (1280, 390):
            resize(tab, width)
            tabs.go(tab, name)
            figure = alive(tab, figure_id)
            for key in ("Home", "End"):
                press(figure, key)
                box = box_of(figure.locator(".rg-tooltip"))
                if box["x"] < 0 or box["y"] < 0 or box["right"] > width:
                    outside.append(f"{name}, {width} px, {key}")
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                outside.append(f"{name}, {width} px: scrolls sideways")
    assert outside == []


def test_tab_reaches_every_control(tabs: Tabs) -> None:
    """A figure is one stop, then come its tools, its data table and the next part of the block."""
    tab = tabs.open("rows")
    alive(tab, "scores")
    reached = []
    for key in ("Tab", "Tab", "ArrowRight", "ArrowRight", *["Tab"] * 6):
        tab.keyboard.press(key)
        reached.append(tab.evaluate(_FOCUSED))
    assert reached[:4] == ["rg-surface", "Full screen", "Download", "Copy a link to this figure"]
    assert "Data table" in reached
    assert {"rg-scroll", "rg-sort"} <= set(reached)


def test_touch_reads_first_and_isolates_second(tabs: Tabs) -> None:
    """A tap shows the words, a second tap on the same mark isolates, a tap elsewhere ends it."""
    tab = tabs.open("rows", width=390, touch=True)
    figure = alive(tab, "scores")
    place = middle(mark(figure, "Small"))
    tab.touchscreen.tap(*place)
    assert tip(figure)[0] == "Small"
    assert faded(figure) == set()
    tab.touchscreen.tap(*place)
    assert faded(figure) == set(NAMES) - {"Small"}
    tab.touchscreen.tap(5, 5)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()


# ---- isolating, tools -----------------------------------------------------------------------------


def test_a_click_isolates_in_the_whole_block(tabs: Tabs) -> None:
    """Every figure of the block and its table follow; the same click, Escape or the button show all again."""
    tab = tabs.open("rows")
    rows, runs = alive(tab, "scores"), alive(tab, "runs")
    others = set(NAMES) - {"Small"}
    tab.mouse.click(*middle(mark(rows, "Small")))
    assert (faded(rows), faded(runs)) == (others, others)
    expect(said(rows)).to_have_text("Showing Small")
    expect(tab.locator("#pairs tr.rg-chosen th")).to_have_text("Small")
    tab.mouse.click(*middle(mark(rows, "Small")))
    assert (faded(rows), faded(runs)) == (set(), set())
    expect(said(rows)).to_have_text("Showing all series")
    tab.mouse.move(1, 1)
    press(rows, "ArrowDown", "Enter")
    assert faded(runs) == set(NAMES) - {"Large"}
    tab.keyboard.press("Escape")
    assert faded(runs) == set()
    tab.mouse.click(*middle(mark(rows, "Tiny")))
    runs.get_by_role("button", name="Show all series").click()
    assert faded(rows) == set()
    expect(tab.locator("tr.rg-chosen")).to_have_count(0)
    # Printed, nothing is faded and nothing of the tools is there.
    tab.mouse.click(*middle(mark(rows, "Small")))
    tab.emulate_media(media="print")
    for part in (".rg-toolbar", ".rg-surface", ".rg-tooltip"):
        expect(rows.locator(part)).to_be_hidden()
    opacity = rows.locator(".rg-mark").evaluate_all("ms => ms.map(m => getComputedStyle(m).opacity)")
    assert set(opacity) == {"1"}


def test_downloads(tabs: Tabs) -> None:
    """The picture, the numbers and the specification are the site's own files."""
    tab = tabs.open("rows", served=True)
    figure = alive(tab, "scores")
    button = figure.get_by_role("button", name="Download")
    for words, name in (
        ("SVG picture", "scores.svg"),
        ("CSV, the numbers", "scores.csv"),
        ("Vega-Lite JSON", "scores.vl.json"),
    ):
        button.click()
        with tab.expect_download() as download:
            figure.locator(".rg-menu").get_by_text(words).click()
        assert download.value.suggested_filename == f"rows-{name}"
    button.click()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-menu")).to_be_hidden()
    expect(button).to_be_focused()


def test_full_screen_and_link(tabs: Tabs) -> None:
    """A figure fills the screen and still reads out; its link leads to it."""
    script = "document.execCommand = () => { window.copied = document.activeElement.value; return true; };"
    script += "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    tab = tabs.open("heat", script=script, fresh=True)
    figure = alive(tab, "problems-map")
    figure.get_by_role("button", name="Copy a link to this figure").click()
    expect(said(figure)).to_have_text("Link copied")
    assert tab.evaluate("window.copied") == f"{tab.url}#problems-map"
    figure.get_by_role("button", name="Full screen").click()
    expect(figure.get_by_role("button", name="Leave full screen")).to_be_attached()
    tab.mouse.move(*cell(figure, 3, 39))
    assert tip(figure)[2] == "Tiny: 0.0%, 0 of 4 samples right"
    tab.evaluate("document.exitFullscreen()")
    expect(figure.get_by_role("button", name="Full screen")).to_be_attached()


# ---- names ----------------------------------------------------------------------------------------


def test_names_stand_beside_wide_rows_and_above_narrow_ones(tabs: Tabs) -> None:
    """Whole inside the page in either case, and never over what is drawn."""
    tab = tabs.open("rows")
    figure = alive(tab, "scores")
    for width in (1280, 390):
        resize(tab, width)
        shown = figure.locator("svg text:visible", has_text="Tiny")
        expect(shown).to_have_count(1)
        name, dot = box_of(shown), box_of(mark(figure, "Tiny"))
        assert name["x"] >= 0
        if width == 1280:
            assert name["right"] < dot["x"]
        else:
            # A halo of 3 px around the words belongs to their box, and may reach a mark.
            assert name["bottom"] <= dot["y"] + 5


def test_hostile_names_stay_words(tabs: Tabs) -> None:
    """Names that look like mark-up or properties are read out and isolated like any other."""
    tab = tabs.open("hostile")
    for figure_id in ("scores", "problems-map"):
        figure = alive(tab, figure_id)
        press(figure, "ArrowRight")
        for name in HOSTILE:
            assert name in "\n".join(tip(figure))
            tab.keyboard.press("Enter")
            expect(said(figure)).to_have_text(f"Showing {name}")
            assert faded(figure) == set(HOSTILE) - {name}
            tab.keyboard.press("Enter")
            tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.images.length") == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


def test_blocks_about_scores_are_accessible(tabs: Tabs) -> None:
    """axe-core has nothing to object to."""
    tab, faults = tabs.open("rows", served=True), []
    for name in ("rows", "pairs", "heat", "hostile"):
        tabs.go(tab, name)
        expect(tab.locator(".rg-of-marks .rg-toolbar").first).to_be_attached()
        faults += tabs.find_faults(tab, widths=(1280,))
    assert faults == []
