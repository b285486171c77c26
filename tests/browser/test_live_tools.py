"""The tools of live figures and of tables: switches, downloads, copies, colours, paper, hostile names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.conftest import NO_IDLE, SAVED, wait_until
from browser.figure_pages import HOSTILE
from browser.live import (
    box_of,
    copied_state,
    drag,
    figure_of,
    follow,
    key_of,
    point_at,
    press,
    said,
    save,
    tool,
    tooltip_rows,
    wake,
    y_labels,
)

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

# Where the clipboard is open and where only the old way is left.
_CLIPBOARDS = ("{ writeText: async (text) => { window.copied = text; } }", "undefined")
_OLD_WAY = "document.execCommand = () => { window.copied = document.activeElement.value; return true; };"


def test_toggles(tabs: Tabs) -> None:
    """Thin lines and band go and come back, and the y axis turns logarithmic, while a choice is kept."""
    figure = wake(tabs.open("dense"), "dense")
    key_of(figure, "B").click()
    runs = figure.locator(".rg-live .runs_marks path")
    expect(runs).to_have_count(25)
    tool(figure, "A thin line for each run").click()
    expect(runs).to_have_count(0)
    tool(figure, "95% CI").click()
    drawn = "paths => paths.filter(path => (path.getAttribute('d') || '').trim()).length"
    assert figure.locator(".rg-live .bands_marks path").evaluate_all(drawn) == 0
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0] == ["step 740", "n = 5"]
    path = figure.locator(".rg-live .lines_marks path").first
    before = path.get_attribute("d") or ""
    log = tool(figure, "Logarithmic y axis")
    log.click()
    expect(log).to_have_attribute("aria-pressed", "true")
    expect(path).not_to_have_attribute("d", before)
    expect(runs).to_have_count(0)
    point_at(figure, 0.6)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["B"]
    log.click()
    expect(path).to_have_attribute("d", before)
    tool(figure, "A thin line for each run").click()
    expect(runs).to_have_count(25)


def test_full_screen(tabs: Tabs) -> None:
    """The figure fills the screen and its plot grows; leaving brings the old size back."""
    tab = tabs.open("points", fresh=True)
    figure = wake(tab, "points")
    tool(figure, "Full screen").click()
    expect(tool(figure, "Leave full screen")).to_be_attached()
    surface = figure.locator(".rg-surface")
    expect(surface).not_to_have_js_property("offsetHeight", 320)
    box, live = (box_of(figure.locator(part)) for part in (".rg-surface", ".rg-live svg"))
    assert box["height"] > 400
    assert live["height"] == pytest.approx(box["height"] + 72, abs=1)
    tab.evaluate("document.exitFullscreen()")
    expect(surface).to_have_js_property("offsetHeight", 320)


def test_downloads(tabs: Tabs, tmp_path: Path) -> None:
    """Pictures have the theme's colours and say where they come from; names begin with that of the page."""
    figure = wake(tabs.open("many", served=True, scheme="dark"), "many")
    png = save(figure, "PNG", tmp_path)
    assert png.name == "many-many.png"
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(png.read_bytes()[16:20], "big") > 1600
    svg = save(figure, "SVG", tmp_path).read_text(encoding="utf-8")
    assert "var(" not in svg
    source = "Source: test data · Figures · commit 1234567"
    for words in ("rgb(21, 23, 26)", "accuracy by step", "method 12", source):
        assert words in svg
    figure.page.evaluate("document.title = 'Long title '.repeat(20)")
    svg = save(figure, "SVG", tmp_path).read_text(encoding="utf-8")
    assert ">Source: test data<" in svg
    assert ">commit 1234567 · Long title Long" in svg
    csv = save(figure, "CSV", tmp_path)
    assert csv.read_text(encoding="utf-8").startswith("series,metric,step,value,low,high,n")
    assert save(figure, "Vega-Lite", tmp_path).name == "many-many.vl.json"
    pdf = save(figure, "PDF", tmp_path)
    assert pdf.name == "many-many.pdf"
    assert pdf.read_bytes().startswith(b"%PDF")


def test_menu_closes_and_links_are_copied(tabs: Tabs) -> None:
    """Escape closes it and gives the focus back, as does a press elsewhere; both ways of copying say so."""
    for clipboard in _CLIPBOARDS:
        script = f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }});{_OLD_WAY}"
        tab = tabs.open("points", script=script)
        figure = wake(tab, "points")
        tool(figure, "Copy a link to this figure").click()
        expect(said(figure)).to_have_text("Link copied")
        expect(tool(figure, "Copy a link to this figure")).to_have_attribute("data-words", "Link copied")
        assert tab.evaluate("window.copied") == f"{tab.url}#points"
    button = tool(figure, "Download")
    button.click()
    expect(figure.get_by_role("button", name="PNG picture")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-menu")).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    tab.mouse.click(5, 5)
    expect(figure.locator(".rg-menu")).to_be_hidden()


def test_colours_are_variables_and_paper_has_the_still_picture(tabs: Tabs) -> None:
    """The same elements get other colours; paper gets the whole picture, whatever the reader zoomed to."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    path = figure.locator(".rg-live .lines_marks path").first
    colour = "p => { p.marked = true; return getComputedStyle(p).stroke; }"
    light = path.evaluate(colour)
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert path.evaluate("p => p.marked")
    assert path.evaluate(colour) != light
    drag(figure, 0.2, 0.4)
    tab.emulate_media(media="print")
    expect(figure.locator(".rg-picture")).to_be_visible()
    for part in (".rg-live", ".rg-toolbar", ".rg-tooltip", ".rg-data"):
        expect(figure.locator(part)).to_be_hidden()


def test_hostile_names_stay_words(tabs: Tabs, tmp_path: Path) -> None:
    """Names that look like mark-up or properties are shown as they are, everywhere, and run nothing."""
    tab = tabs.open("hostile")
    figure = wake(tab, "hostile")
    names = figure.locator(".rg-legend .rg-name").all_text_contents()
    assert names == list(HOSTILE)
    point_at(figure, 0.5)
    assert {row[0] for row in tooltip_rows(figure)[1:]} == set(HOSTILE)
    press(figure, "ArrowRight")
    expect(said(figure)).to_contain_text("__proto__ 2.5")
    for number in (0, 2, 3):
        figure.locator(".rg-legend button").nth(number).click()
        expect(said(figure)).to_have_text(f"Showing {HOSTILE[number]}")
    figure.locator(".rg-legend button").nth(3).click()
    svg = save(figure, "SVG", tmp_path).read_text(encoding="utf-8")
    assert "<script" not in svg
    assert "constructor" in svg
    assert tab.evaluate("document.images.length") == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("width", [1280, 390])
def test_authors_chart_is_alive(tabs: Tabs, width: int) -> None:
    """An author's own chart keeps its place, answers to the pointer at any size, and says data as text."""
    tab = tabs.open("author", width=width, script=NO_IDLE)
    figure = figure_of(tab, "author")
    still = figure.locator(".rg-plot > svg").bounding_box()
    wake(tab, "author")
    live = figure.locator(".rg-live svg").bounding_box()
    assert live == pytest.approx(still, abs=3)  # browser and build measure the legend's words apart
    point = figure.locator(".rg-live .mark-symbol.role-mark path").nth(4)
    point.hover()
    expect(figure.locator(".rg-tooltip")).to_contain_text(HOSTILE[0])
    box = box_of(point)
    tab.mouse.move(box["x"] - 20, box["y"] - 30)
    tab.mouse.down()
    tab.mouse.move(box["x"], box["y"])
    tab.mouse.move(box["right"] + 4, box["bottom"] + 4)
    tab.mouse.up()
    place = "p => { const b = p.getBBox(), m = p.getScreenCTM(); return [m.e + m.a * b.x, m.a * b.width]; }"
    brush = figure.locator(".rg-live .brush_brush path").evaluate(place)
    assert brush == pytest.approx([box["x"] - 20, box["width"] + 24], abs=1)


# ---- tables ---------------------------------------------------------------------------------------


def test_result_table_sorts(tabs: Tabs) -> None:
    """Numbers start with the largest, words with the first, what is missing comes last; then as at first."""
    tab = tabs.open("results")
    table = tab.locator("table.rg-sortable")
    first = table.locator("tbody th")
    for words, order, state in (
        ("mean", ["GRPO", "PPO", "MEL"], "descending"),
        ("mean", ["PPO", "GRPO", "MEL"], "ascending"),
        ("final", ["MEL", "GRPO", "PPO"], "descending"),
        ("series", ["GRPO", "MEL", "PPO"], "ascending"),
    ):
        table.get_by_role("button", name=words).click()
        assert first.all_text_contents() == order
        expect(table.get_by_role("columnheader", name=words)).to_have_attribute("aria-sort", state)
    expect(table.locator("[aria-sort]")).to_have_count(1)
    for words, presses in (("series", 2), ("mean", 3)):
        for _ in range(presses):
            table.get_by_role("button", name=words).click()
        assert first.all_text_contents() == ["GRPO", "MEL", "PPO"]
        expect(table.locator("[aria-sort]")).to_have_count(0)
    expect(tab.get_by_role("searchbox")).to_have_count(0)  # a short table has no filter


def test_the_column_that_sorts_a_table_is_marked(tabs: Tabs) -> None:
    """Before anything is pressed, too; its head turns the order round, then brings it back."""
    table = tabs.open("sorted").locator("table.rg-sortable")
    head = table.get_by_role("columnheader", name="final")
    arrow = "(head) => getComputedStyle(head.querySelector('button'), '::before').opacity"
    for order, state in (
        (["MEL", "GRPO", "PPO"], "descending"),
        (["PPO", "GRPO", "MEL"], "ascending"),
        (["MEL", "GRPO", "PPO"], "descending"),
    ):
        assert table.locator("tbody th").all_text_contents() == order
        expect(head).to_have_attribute("aria-sort", state)
        expect(table.locator("[aria-sort]")).to_have_count(1)
        assert head.evaluate(arrow) == "1"
        head.get_by_role("button").click()
    table.get_by_role("button", name="mean").click()
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))
    assert table.get_by_role("columnheader", name="mean").evaluate(arrow) == "1"
    assert head.evaluate(arrow) == "0"


def copy_link_to_runs(tab: Page) -> str:
    """The fragment that the menu of the table of runs copies."""
    tab.evaluate("window.copied = null")
    table = tab.locator("#runs")
    table.get_by_role("button", name="Cite or copy this table").click()
    table.locator(".rg-menu:visible").get_by_text("Copy link to this table").click()
    wait_until(tab, "window.copied")
    return str(tab.evaluate("window.copied")).partition("#")[2]


def test_rows_of_a_table_are_filtered_and_ordered_by_links(tabs: Tabs) -> None:
    """Those that have every word are left; a link keeps words and order, and one without shows the first."""
    tab = tabs.open("runs", script=SAVED, served=True)
    table = tab.locator("#runs")
    rows, seeds = table.locator("tbody tr:visible"), table.locator("tbody tr:visible td")
    field, head = table.get_by_role("searchbox"), table.get_by_role("columnheader", name="seed")
    expect(rows).to_have_count(10)
    expect(field).to_have_accessible_name("Filter the rows of this table")
    field.fill("b 3")
    expect(rows).to_have_count(1)
    expect(table.get_by_text("1 of 10 rows")).to_be_visible()
    state = copy_link_to_runs(tab)
    assert state == "runs~rows=b%203"
    field.fill("")
    expect(rows).to_have_count(10)
    follow(tab, state)
    expect(rows).to_have_count(1)
    head.get_by_role("button").click()
    field.fill("b")
    expect(seeds).to_have_text(list("43210"))
    state = copy_link_to_runs(tab)
    assert state == "runs~rows=b~sort=descending@seed"
    for address, order, sort in (("runs~rows=b", "01234", None), (state, "43210", "descending")):
        follow(tab, address)
        expect(seeds).to_have_text(list(order))
        assert head.get_attribute("aria-sort") == sort


# ---- everybody ------------------------------------------------------------------------------------


def test_live_figures_are_accessible(tabs: Tabs) -> None:
    """axe-core has nothing to object to on any page of ours."""
    alive = {"many": ("many", "points"), "panels": ("diag-1", "diag-2", "diag-3"), "results": ()}
    tab, faults = tabs.open("points", served=True), []
    for name in ("points", "many", "panels", "hostile", "author", "results", "passk"):
        tabs.go(tab, name)
        for figure in alive.get(name, (name,)):
            wake(tab, figure)
        faults += tabs.find_faults(tab, widths=(1280,))
    assert faults == []


def test_a_choice_of_the_whole_y_axis_is_kept_by_a_link(tabs: Tabs) -> None:
    """What the reader did not want fitted is not fitted by the link."""
    tab = tabs.open("dense", served=True, script=SAVED)
    figure = wake(tab, "dense")
    drag(figure, 0.5, 0.9)
    tool(figure, "y: fit, change to whole").click()
    state, labels = copied_state(figure), y_labels(figure)
    assert state.endswith("~fit=0")
    tabs.go(tab, "dense", f"#{state}")
    expect(figure.locator(".rg-state > span")).to_contain_text("the whole y axis")
    assert y_labels(figure) == labels
    tool(figure, "Show everything").click()
    drag(figure, 0.5, 0.9)
    assert y_labels(figure) != labels
