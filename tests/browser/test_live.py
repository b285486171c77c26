"""Figures alive in a real browser: nothing moves, and everything they promise works under a strict policy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from browser.figure_pages import HOSTILE, make_runs

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

PAGES = {
    "points": ("points",),
    "marked": ("marked",),
    "dense": ("dense",),
    "cut": ("cut",),
    "crowded": ("crowded",),
    "many": ("many", "points"),
    "log": ("log",),
    "decay": ("decay",),
    "two-axes": ("two-axes",),
    "time": ("time",),
    "panels": ("diag-1", "diag-2", "diag-3"),
    "hostile": ("hostile",),
}
# Places of every word and line of a figure's picture; the classes of the live view are Vega's.
PLACES = """(figure, live) => {
  const shown = figure.querySelector(live ? ".rg-live svg" : ".rg-plot > svg");
  const box = (node) => node.getBoundingClientRect();
  const place = (node) => [box(node).left, box(node).top, box(node).right, box(node).bottom];
  const all = (root, still, alive) => [...root.querySelectorAll(live ? alive : still)];
  const words = all(shown, "text", "text")
    .filter((node) => box(node).width > 0)
    .map((node) => [node.textContent, ...place(node)])
    .sort((a, b) => a[0].localeCompare(b[0]) || a[1] - b[1] || a[2] - b[2]);
  const alive = ".lines_marks path, .right_lines_marks path, .role-axis-grid line";
  const lines = all(shown, ".rg-line, .rg-grid line", alive);
  const leaders = all(shown, ".rg-ends path, .rg-ends line", ".leaders_marks line, .early_marks line")
    .filter((node) => node.getClientRects().length);
  const around = [...figure.querySelectorAll(".rg-title, .rg-subtitle, .rg-plot, .rg-summary, .rg-data")];
  const rows = [
    ...lines.map((node) => [node.localName === "line" ? "grid" : "", ...place(node)]),
    ...leaders.map((node) => ["leader", ...place(node)]).sort((a, b) => a[4] - b[4] || a[2] - b[2]),
    ...around.map((node) => ["", ...place(node)]),
  ];
  return [...words, ...rows.sort((a, b) => a[0].localeCompare(b[0]))];
}"""
TOOLTIP = """async (tooltip) => {
  await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
  return [...tooltip.children].map((row) => [...row.children].map((cell) => cell.textContent));
}"""
NO_IDLE = "window.requestIdleCallback = () => 0;"


def figure_of(tab: Page, name: str) -> Locator:
    """A figure by its id."""
    return tab.locator(f"#{name}")


def wake(tab: Page, name: str) -> Locator:
    """A figure, alive."""
    figure = figure_of(tab, name)
    figure.scroll_into_view_if_needed()
    figure.dispatch_event("pointermove")
    expect(figure).to_have_class(re.compile("rg-is-live"))
    expect(figure.locator(".rg-toolbar")).to_be_attached()
    return figure


def point_at(figure: Locator, across: float, down: float = 0.5) -> None:
    """Move the pointer to a fraction of the plot's width and height."""
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    figure.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])


def drag(figure: Locator, start: float, end: float) -> None:
    """Drag across the plot, from one fraction of its width to another."""
    point_at(figure, start)
    figure.page.mouse.down()
    point_at(figure, (start + end) / 2)
    point_at(figure, end)
    figure.page.mouse.up()


def tooltip_rows(figure: Locator) -> list[list[str]]:
    """The words of the tooltip, row by row, its head first, in the frame after the pointer has moved."""
    tooltip = figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    return [[cell for cell in row if cell] for row in tooltip.evaluate(TOOLTIP)]


def names_in_tooltip(figure: Locator) -> list[str]:
    """The series that the tooltip lists."""
    assert tooltip_rows(figure)
    rows = figure.locator(".rg-tooltip-row:not(.rg-of-run, .rg-difference) > .rg-name")
    return rows.all_text_contents()


def x_labels(figure: Locator) -> list[str]:
    """The words at the ticks of the live x axis."""
    axis = figure.locator(".rg-live .role-axis").filter(has=figure.page.locator(".role-axis-domain"))
    words = axis.locator(".role-axis-label text").evaluate_all(
        "ws => ws.map(w => [w.getBoundingClientRect().left, w.textContent]).sort((a, b) => a[0] - b[0])"
    )
    return [word for _, word in words]


def y_labels(figure: Locator) -> list[str]:
    """The words at the ticks of the live y axis, from below."""
    axes = figure.locator(".rg-live .role-axis").filter(has=figure.page.locator(".role-axis-label"))
    words = axes.last.locator(".role-axis-label text").evaluate_all(
        "ws => ws.map(w => [w.getBoundingClientRect().top, w.textContent]).sort((a, b) => b[0] - a[0])"
    )
    return [word for _, word in words]


def tool(figure: Locator, words: str) -> Locator:
    """A button of the toolbar."""
    return figure.get_by_role("button", name=words, exact=True)


def said(figure: Locator) -> Locator:
    """What a screen reader is told."""
    return figure.get_by_role("status")


def save(figure: Locator, words: str, folder: Path) -> Path:
    """Download something from a figure's menu."""
    tool(figure, "Download").click()
    with figure.page.expect_download() as download:
        figure.locator(".rg-menu").get_by_text(words).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


# ---- coming alive ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves(tabs: Tabs, name: str, width: int) -> None:
    """Every word, line and neighbour of the picture stands within a pixel of where it stood when still."""
    tab = tabs.open(name, width=width, script=NO_IDLE)
    tab.evaluate("document.fonts.ready")
    still = {one: figure_of(tab, one).evaluate(PLACES, arg=False) for one in PAGES[name]}
    tab.evaluate("window.scrollTo(0, 0)")
    before = tab.evaluate("[document.documentElement.scrollHeight, scrollY]")
    for one in PAGES[name]:
        figure_of(tab, one).dispatch_event("pointermove")
        expect(figure_of(tab, one)).to_have_class(re.compile("rg-is-live"))
    for one in PAGES[name]:
        alive: list[list[Any]] = figure_of(tab, one).evaluate(PLACES, arg=True)
        assert [place[0] for place in alive] == [place[0] for place in still[one]]
        for was, now in zip(still[one], alive, strict=True):
            assert now[1:] == pytest.approx(was[1:], abs=1), was[0]
    assert tab.evaluate("[document.documentElement.scrollHeight, scrollY]") == before


def test_rings_on_the_edge_of_the_plot_are_whole(tabs: Tabs) -> None:
    """Lines end at the edge, rings do not: alive as they were when still, zoomed too."""
    figure = wake(tabs.open("cut", script=NO_IDLE), "cut")
    rings = figure.locator(".rg-live .mark-symbol path[stroke]")
    clipped = "all => all.map(one => Boolean(one.closest('[clip-path]')))"
    assert rings.evaluate_all(clipped) == [False, False]
    assert figure.locator(".rg-live .lines_marks path").evaluate_all(clipped) == [True, True]
    drag(figure, 0.3, 0.9)
    assert rings.evaluate_all(clipped) == [False, False]


def test_comes_alive_when_idle_and_only_near_the_window(tabs: Tabs) -> None:
    """A figure in view wakes by itself, and Vega is asked for once."""
    tab = tabs.open("many")
    expect(figure_of(tab, "many")).to_have_class(re.compile("rg-is-live"))
    expect(figure_of(tab, "points")).to_have_class(re.compile("rg-is-live"))
    assert sum(url.endswith("vega.js") for url in tabs.requests) == 1


def test_wakes_only_where_scrolling_stops(tabs: Tabs) -> None:
    """A page that scrolls under the pointer stays smooth."""
    scrolling = "window.scrolling = setInterval(() => document.dispatchEvent(new Event('scroll')), 20);"
    tab = tabs.open("points", script=scrolling)
    figure_of(tab, "points").dispatch_event("pointerover")
    tab.wait_for_timeout(1000)
    assert not any(url.endswith("vega.js") for url in tabs.requests)
    tab.evaluate("clearInterval(scrolling)")
    expect(figure_of(tab, "points")).to_have_class(re.compile("rg-is-live"))


def test_is_read_as_soon_as_it_looks_alive(tabs: Tabs) -> None:
    """No key is lost between the first drawing and what listens, on a slow machine either."""
    slow = "const wait = setTimeout; window.setTimeout = (job, ms = 0) => wait(job, ms + 100);"
    figure = figure_of(tabs.open("panels", script=slow), "diag-1")
    figure.locator(".rg-surface").focus()
    expect(figure).to_have_class(re.compile("rg-is-live"))
    figure.page.keyboard.press("End")
    expect(figure.get_by_role("status")).not_to_be_empty(timeout=1000)


def test_values_are_read_before_the_view_is_drawn(tabs: Tabs) -> None:
    """The still picture has the same places, so the pointer that wakes a figure reads it at once."""
    slow = "const wait = setTimeout; window.setTimeout = (job, ms = 0) => wait(job, ms + 1000);"
    tab = tabs.open("dense", script=NO_IDLE + slow)
    figure = figure_of(tab, "dense")
    point_at(figure, 0.5)
    expect(figure.locator(".rg-tooltip")).to_be_visible(timeout=2500)
    expect(figure).not_to_have_class(re.compile("rg-is-live"))
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("+")
    expect(figure).to_have_class(re.compile("rg-is-live rg-is-zoomed|rg-is-zoomed rg-is-live"), timeout=15000)
    ticks = figure.locator(".rg-live .role-axis-label text")
    assert "200" not in ticks.all_text_contents()


def test_saves_data_where_the_reader_asks_for_it(tabs: Tabs) -> None:
    """With Save-Data nothing is loaded until a figure is used."""
    saving = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
    tab = tabs.open("points", script=saving)
    tab.wait_for_timeout(500)
    assert not any(url.endswith("vega.js") for url in tabs.requests)
    figure_of(tab, "points").locator(".rg-surface").focus()
    expect(figure_of(tab, "points")).to_have_class(re.compile("rg-is-live"))


def test_leaks_two_names_only(tabs: Tabs) -> None:
    """Vega's one-letter names stay inside its bundle."""
    tab = tabs.open("points", script="window.before = new Set(Object.keys(window));")
    wake(tab, "points")
    new = tab.evaluate("Object.keys(window).filter(name => !before.has(name)).sort()")
    assert new == ["before", "reportgenLive", "vega"]


def test_stays_still_without_script(tabs: Tabs) -> None:
    """Without JavaScript picture, summary, legend, table and downloads are there."""
    tab = tabs.open("many", javascript=False)
    figure = figure_of(tab, "many")
    expect(figure.locator("svg[role=img]")).to_be_visible()
    expect(figure.locator(".rg-summary")).to_be_visible()
    expect(figure.locator(".rg-legend")).to_contain_text("method 12")
    figure.get_by_text("Data table", exact=True).click()
    expect(figure.locator("table")).to_be_visible()
    expect(figure.get_by_role("link", name="CSV")).to_have_attribute("href", "figures/many.csv")


def test_works_below_a_path_of_a_server(tabs: Tabs) -> None:
    """Scripts find each other and files download below a sub-path."""
    tab = tabs.open("points", served=True)
    figure = wake(tab, "points")
    point_at(figure, 0.01)
    assert tooltip_rows(figure)[0] == ["Training step 0"]


def test_stays_still_where_vega_is_missing(tabs: Tabs) -> None:
    """A bundle that cannot be loaded leaves a readable page and one message."""
    tab = tabs.open("points", served=True, script=NO_IDLE)
    tab.route("**/vega.js", lambda route: route.abort())
    figure = figure_of(tab, "points")
    figure.hover()
    tab.wait_for_timeout(500)
    expect(figure.locator(".rg-picture")).to_be_visible()
    assert "console: vega.js could not be loaded; figures stay still." in tabs.complaints
    tabs.complaints.clear()


# ---- reading --------------------------------------------------------------------------------------


def test_tooltip_lists_every_series_at_the_nearest_step(tabs: Tabs) -> None:
    """Largest first, with value, interval and number of runs, a dot each, and a rule."""
    figure = wake(tabs.open("dense"), "dense")
    point_at(figure, 0.5)
    head, *rows = tooltip_rows(figure)
    assert head == ["step 740", "95% CI, n = 5"]
    assert sorted(row[0] for row in rows) == list("ABCDE")
    values = [float(row[1]) for row in rows]
    assert values == sorted(values, reverse=True)
    for _, value, interval in rows:
        low, high = (float(end) for end in interval.strip("[]").split(", "))
        assert (low, high) == pytest.approx((float(value) - 0.02, float(value) + 0.02), abs=0.0011)
    expect(figure.locator(".rg-dot:visible")).to_have_count(5)
    rule, surface = (figure.locator(part).bounding_box() for part in (".rg-rule", ".rg-surface"))
    assert rule
    assert surface
    assert rule["x"] - surface["x"] == pytest.approx(surface["width"] * 740 / 1490, abs=1)


def test_tooltip_says_where_a_series_has_no_value(tabs: Tabs) -> None:
    """Nothing is interpolated: at step 30 only MEL was read."""
    figure = wake(tabs.open("points"), "points")
    point_at(figure, 30 / 140)
    assert tooltip_rows(figure) == [["Training step 30"], ["MEL", "0.760"], ["GRPO", "no value"]]
    figure.page.mouse.move(1, 1)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 390])
def test_tooltip_stays_inside_the_window(tabs: Tabs, width: int) -> None:
    """Neither end of the plot pushes it out, and the page never scrolls sideways."""
    tab = tabs.open("dense", width=width)
    figure = wake(tab, "dense")
    for across in (0.001, 0.5, 0.999):
        point_at(figure, across)
        expect(figure.locator(".rg-tooltip")).to_be_visible()
        box = figure.locator(".rg-tooltip").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_tooltip_on_a_time_axis_is_in_utc(tabs: Tabs) -> None:
    """Days are those of UTC wherever the reader is."""
    figure = wake(tabs.open("time"), "time")
    point_at(figure, 0.0)
    assert tooltip_rows(figure)[0][0] == "step 2023-11-14"


def test_touch_shows_the_tooltip(tabs: Tabs) -> None:
    """A tap reads a step, and a tap elsewhere ends it; the toolbar is there without hovering."""
    tab = tabs.open("points", width=390, touch=True)
    figure = wake(tab, "points")
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    tab.touchscreen.tap(box["x"] + 2, box["y"] + 100)
    assert tooltip_rows(figure)[0] == ["Training step 0"]
    tab.touchscreen.tap(5, 5)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()


def test_two_series_have_a_difference(tabs: Tabs) -> None:
    """First minus second, whichever is larger, with an interval where both have one."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    point_at(figure, 120 / 140)
    assert tooltip_rows(figure)[1:] == [["MEL", "0.840"], ["GRPO", "0.820"], ["−", "difference", "−0.020"]]
    figure = wake(tabs.open("dense"), "dense")
    point_at(figure, 0.5)
    expect(figure.locator(".rg-difference")).to_have_count(0)
    figure.get_by_role("button", name="B", exact=True).click()
    figure.get_by_role("button", name="D", exact=True).click(modifiers=["Shift"])
    point_at(figure, 0.5)
    values = {row[0]: float(row[1]) for row in tooltip_rows(figure) if row[0] in "BD"}
    _, words, value, interval = tooltip_rows(figure)[-1]
    assert words == "difference"
    assert float(value.replace("−", "-")) == pytest.approx(values["B"] - values["D"], abs=0.0011)
    low, high = (float(end.replace("−", "-")) for end in interval.strip("[]").split(", "))
    assert high - low == pytest.approx(2 * 0.02 * 2**0.5, abs=0.0021)


def test_single_runs_are_read(tabs: Tabs) -> None:
    """The run under the pointer has name, seed and value; a series alone has all of its runs."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    lines = figure.locator(".rg-tooltip-row.rg-of-run")
    figure.get_by_role("button", name="E", exact=True).click()
    point_at(figure, 0.5, 0.02)
    runs = make_runs(4, 5, 150)[:, 74]
    shown = [row for row in tooltip_rows(figure) if row[0].startswith("run ")]
    order = sorted(range(5), key=lambda n: -runs[n])
    assert shown == [[f"run E-{n}", f"seed {n}", f"{runs[n]:.3f}"] for n in order]
    figure.get_by_role("button", name="E", exact=True).click()
    point_at(figure, 0.5, 0.02)
    expect(lines).to_have_count(0)
    place = """(p, x) => { for (let n = 0; n < 600; n++) {
      const at = p.getPointAtLength(n * p.getTotalLength() / 600);
      if (at.x >= x) return at.y; } }"""
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    last = figure.locator(".rg-live .runs_marks path").last
    point_at(figure, 0.5, last.evaluate(place, 0.497 * box["width"]) / box["height"])
    expect(lines).to_have_count(1)
    tool(figure, "A thin line for each run").click()
    point_at(figure, 0.5, 0.5)
    expect(lines).to_have_count(0)


def test_long_names_keep_their_end(tabs: Tabs) -> None:
    """What tells series apart is not cut: the middle goes, and the whole name stays in the text."""
    figure = wake(tabs.open("hostile", width=390), "hostile")
    point_at(figure, 0.5)
    cut = figure.locator(".rg-tooltip .rg-cut").filter(has_text="xxxx")
    expect(cut).to_have_text("x" * 500)
    end, tip = (one.bounding_box() for one in (cut.locator("span").last, figure.locator(".rg-tooltip")))
    assert end
    assert tip
    assert end["width"] > 40
    assert end["x"] + end["width"] < tip["x"] + tip["width"]


def test_a_drag_is_not_covered_and_selects_no_words(tabs: Tabs) -> None:
    """The tooltip steps aside while the range is dragged over, and a double click marks nothing."""
    figure = wake(tabs.open("dense"), "dense")
    point_at(figure, 0.3)
    figure.page.mouse.down()
    point_at(figure, 0.5)
    expect(figure.locator(".rg-brush")).to_be_visible()
    expect(figure.locator(".rg-tooltip")).to_be_hidden()
    figure.page.mouse.up()
    point_at(figure, 0.5)
    expect(figure.locator(".rg-tooltip")).to_be_visible()
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    figure.page.mouse.dblclick(box["x"] + 200, box["y"] + 100)
    assert figure.page.evaluate("String(getSelection())") == ""


def test_a_tap_never_widens_the_document(tabs: Tabs) -> None:
    """At the left end of a long-named figure, the tooltip is laid out inside from the first tap on."""
    tab = tabs.open("hostile", width=390, touch=True)
    figure = wake(tab, "hostile")
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    for across in (0.9, 0.02, 0.5):
        tab.touchscreen.tap(box["x"] + across * box["width"], box["y"] + 100)
        expect(figure.locator(".rg-tooltip")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_a_tooltip_of_the_keyboard_leaves_the_dots_free(tabs: Tabs) -> None:
    """It stands at the end of the plot that is farther from the values read."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    for key, above in (("End", False), ("Home", True)):
        tab.keyboard.press(key)
        tip = figure.locator(".rg-tooltip").bounding_box()
        dots = [dot.bounding_box() for dot in figure.locator(".rg-dot:visible").all()]
        assert tip
        assert dots
        for dot in dots:
            assert dot
            assert (tip["y"] + tip["height"] < dot["y"]) if above else (tip["y"] > dot["y"] + dot["height"])


def test_keyboard_reads_values_out(tabs: Tabs) -> None:
    """Arrows step through x and series, and each reading is announced."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("ArrowRight")
    expect(said(figure)).to_have_text("Training step 0: GRPO 0.740, MEL 0.740, difference 0.000")
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    expect(said(figure)).to_have_text("Training step 120: MEL 0.840, GRPO 0.820, difference −0.020")
    tab.keyboard.press("ArrowDown")
    expect(said(figure)).to_have_text("Training step 120: GRPO 0.820")
    tab.keyboard.press("Home")
    expect(said(figure)).to_have_text("Training step 0: GRPO 0.740")
    expect(figure.locator(".rg-rule")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-rule")).to_be_hidden()


def test_keyboard_reaches_every_control(tabs: Tabs) -> None:
    """Tab visits the plot, the toolbar, the names and the data table; arrow keys lead along the toolbar."""
    tab = tabs.open("dense")
    wake(tab, "dense")
    reached: list[str] = []
    name = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    for _ in range(10):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate(name))
        if tab.locator(".rg-toolbar :focus").count():
            tab.keyboard.press("End")
            last = tab.evaluate(name)
            tab.keyboard.press("Home")
            reached.append(tab.evaluate(name))
            while reached[-1] != last:
                tab.keyboard.press("ArrowRight")
                reached.append(tab.evaluate(name))
    words = ["Logarithmic y axis", "A thin line for each run", "95% CI", "Full screen", "Download", *"ABCDE"]
    assert set(words) <= set(reached)
    assert "Data table" in reached


# ---- choosing -------------------------------------------------------------------------------------


def test_names_at_the_line_ends_isolate(tabs: Tabs) -> None:
    """Click isolates, shift-click adds and removes, a second click shows all; the others fade, not vanish."""
    figure = wake(tabs.open("dense"), "dense")
    key = figure.locator(".rg-legend").get_by_role("button")
    key.nth(1).click()
    expect(said(figure)).to_have_text("Showing B")
    assert [button.get_attribute("aria-pressed") for button in key.all()] == ["false", "true", *["false"] * 3]
    strokes = figure.locator(".rg-live .lines_marks path").evaluate_all(
        "ps => ps.map(p => p.getAttribute('stroke'))"
    )
    assert sum("color-mix" in stroke for stroke in strokes) == 4
    key.nth(2).click(modifiers=["Shift"])
    point_at(figure, 0.5)
    assert sorted(names_in_tooltip(figure)) == ["B", "C"]
    key.nth(2).click(modifiers=["Shift"])
    key.nth(1).click()
    expect(said(figure)).to_have_text("Showing all series")
    key.nth(0).click(modifiers=["Shift"])
    expect(said(figure)).to_have_text("Showing B, C, D, E")


def test_names_stand_over_the_words_they_replace(tabs: Tabs) -> None:
    """On a wide page the buttons lie on the names that the picture draws; on a narrow one they are a row."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    drawn = figure.locator(".rg-live .ends_marks text").filter(has_text="MEL").bounding_box()
    button = figure.get_by_role("button", name="MEL").bounding_box()
    assert drawn
    assert button
    assert button["x"] <= drawn["x"]
    assert drawn["y"] >= button["y"] - 2
    assert drawn["x"] + drawn["width"] <= button["x"] + button["width"]
    tab.set_viewport_size({"width": 390, "height": 900})
    expect(figure.locator(".rg-live .ends_marks text")).to_have_count(0)
    row = figure.locator(".rg-legend").bounding_box()
    plot = figure.locator(".rg-plot").bounding_box()
    assert row
    assert plot
    assert row["y"] + row["height"] <= plot["y"] + 12


LEADERS = """(figure, live) => {
  const all = (places) => [...figure.querySelectorAll(places)];
  const names = all(live ? ".rg-live .ends_marks text" : ".rg-plot > svg .rg-ends text");
  const leaders = all(live ? ".rg-live .leaders_marks line" : ".rg-plot > svg .rg-ends path");
  const box = (node) => node.getBoundingClientRect();
  const middle = (node) => (box(node).top + box(node).bottom) / 2;
  return leaders.map((leader) => {
    const ink = getComputedStyle(leader).stroke;
    const name = names.find((one) => getComputedStyle(one).fill === ink);
    const near = Math.min(...[box(leader).top, box(leader).bottom].map((y) => Math.abs(y - middle(name))));
    return [name.textContent, near, box(name).left - box(leader).right];
  }).sort((a, b) => a[0].localeCompare(b[0]));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_leaders_lead_to_names_that_are_moved(tabs: Tabs, scheme: str) -> None:
    """Each has the colour of its series and ends at its name: still, alive, and where the reader zooms."""
    tab = tabs.open("crowded", scheme=scheme, script=NO_IDLE)
    still = figure_of(tab, "crowded").evaluate(LEADERS, arg=False)
    assert {"A", "B", "early"} <= {name for name, *_ in still}
    assert "apart" not in {name for name, *_ in still}
    figure = wake(tab, "crowded")
    alive = figure.evaluate(LEADERS, arg=True)
    assert [name for name, *_ in alive] == [name for name, *_ in still]
    drag(figure, 0.3, 0.6)
    expect(tool(figure, "Reset zoom")).to_be_visible()
    zoomed = figure.evaluate(LEADERS, arg=True)
    assert zoomed
    for _, near, apart in (*still, *alive, *zoomed):
        assert near < 3
        assert 0 < apart < 8


def test_annotations_fade_with_their_series(tabs: Tabs) -> None:
    """Ring and words of a series that steps back are as faint as its line; words about all series are not."""
    figure = wake(tabs.open("marked"), "marked")
    opacity = "all => Object.fromEntries(all.map(a => [a.textContent, a.getAttribute('opacity') ?? '1']))"
    words = figure.locator(".rg-live .mark-text text")
    figure.get_by_role("button", name="MEL", exact=True).click()
    shown: dict[str, str] = words.evaluate_all(opacity)
    assert {text for text, value in shown.items() if value == "0.25"} == {"widest gap 0.02", "crossing"} | {
        text for text in shown if text.startswith("plateau")
    }
    rings = figure.locator(".rg-live .mark-symbol path[stroke]")
    faint = "all => all.filter(one => one.getAttribute('opacity') === '0.25').length"
    assert [rings.count(), rings.evaluate_all(faint)] == [6, 3]
    figure.get_by_role("button", name="MEL", exact=True).click()
    assert set(words.evaluate_all(opacity).values()) == {"1"}


def test_words_at_points_have_a_halo(tabs: Tabs) -> None:
    """Lines that cross them are not read as a part of them, in the picture and alive."""
    figure = wake(tabs.open("points"), "points")
    halo = "words => words.map(w => [getComputedStyle(w).paintOrder, getComputedStyle(w).strokeWidth])"
    for place in (".rg-picture .rg-annotation text", ".rg-live .notes_marks text"):
        assert figure.locator(place).first.evaluate(f"w => ({halo})([w])") == [["stroke", "3px"]]


def test_legend_row_isolates(tabs: Tabs) -> None:
    """Where names do not fit at the line ends the row above the plot does the same."""
    figure = wake(tabs.open("many"), "many")
    figure.get_by_role("button", name="method 3", exact=True).click()
    point_at(figure, 0.5)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["method 3"]


# ---- zooming --------------------------------------------------------------------------------------


def test_drag_zooms_and_tooltip_works_there(tabs: Tabs) -> None:
    """The x axis shows what was dragged over, the tooltip reads it, and a double click shows all again."""
    figure = wake(tabs.open("dense"), "dense")
    whole = x_labels(figure)
    expect(tool(figure, "Reset zoom")).to_be_hidden()
    drag(figure, 0.2, 0.4)
    expect(said(figure)).to_have_text(re.compile(r"Zoomed: step 298 to 596"))
    labels = [int(label) for label in x_labels(figure)]
    assert labels[0] >= 298
    assert labels[-1] <= 596
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0][0] == "step 450"
    clip = figure.locator(".rg-live [clip-path]")
    assert clip.count() > 0
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    figure.page.mouse.dblclick(box["x"] + 200, box["y"] + 100)
    assert x_labels(figure) == whole


def test_zoom_by_button_and_key(tabs: Tabs) -> None:
    """Plus zooms around the step, Escape and the button reset."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    surface = figure.locator(".rg-surface")
    surface.focus()
    tab.keyboard.press("End")
    tab.keyboard.press("+")
    expect(said(figure)).to_have_text("Zoomed: training step 70 to 140")
    assert figure.get_by_role("button", name="GRPO").is_visible()
    tab.keyboard.press("Escape")
    expect(said(figure)).to_have_text("Showing the whole range")
    drag(figure, 0.5, 0.9)
    tool(figure, "Reset zoom").click()
    expect(said(figure)).to_have_text("Showing the whole range")
    expect(surface).to_be_focused()


def test_zooming_fits_y_to_the_lines_shown(tabs: Tabs) -> None:
    """The plateau fills the plot, of the series shown only; a button shows the whole axis."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    whole = y_labels(figure)
    drag(figure, 0.6, 0.9)
    fitted = y_labels(figure)
    assert fitted != whole
    assert len(fitted) > 2
    heights = """paths => { const tops = paths.map(p => p.getBoundingClientRect());
      return Math.max(...tops.map(t => t.bottom)) - Math.min(...tops.map(t => t.top)); }"""
    surface = figure.locator(".rg-surface").bounding_box()
    assert surface
    point_at(figure, 0.5)
    dots = [dot.bounding_box() for dot in figure.locator(".rg-dot:visible").all()]
    assert len(dots) == 5
    spread = max(dot["y"] for dot in dots if dot) - min(dot["y"] for dot in dots if dot)
    assert spread > 0.15 * surface["height"]
    assert figure.locator(".rg-live .bands_marks path").evaluate_all(heights) > 0.5 * surface["height"]
    tool(figure, "y: fit, change to whole").click()
    expect(said(figure)).to_have_text("The y axis is whole")
    assert y_labels(figure) == whole
    tool(figure, "y: whole, change to fit").click()
    assert y_labels(figure) == fitted
    figure.get_by_role("button", name="A", exact=True).click()
    assert y_labels(figure) != fitted
    tab.keyboard.press("Tab")
    tool(figure, "Reset zoom").click()
    assert y_labels(figure) == whole
    expect(figure.get_by_role("button", name="y: fit")).to_be_hidden()


def test_y_is_fitted_to_what_crosses_the_edges(tabs: Tabs) -> None:
    """Band and single runs between two steps, at both ends of the range, not only at the steps inside."""
    tab = tabs.open("dense")
    wake(tab, "dense")
    inside, columns = tab.evaluate("""() => {
      const payload = JSON.parse(document.querySelector("#dense .rg-payload").textContent);
      const [one] = new reportgenLive.Data(payload).series;
      const [from, to] = [(one.steps[1] + one.steps[2]) / 2, (one.steps[3] + 3 * one.steps[4]) / 4];
      const data = new reportgenLive.Data(payload);
      const axis = { scale: "linear", domain: [from, to] };
      const columns = [one.low, one.high, ...one.runs.map((run) => run.values)];
      return [data.valuesInside(one, axis, true, one.runs), columns];
    }""")
    for values in columns:
        for expected in ((values[1] + values[2]) / 2, (values[3] + 3 * values[4]) / 4):
            assert min(abs(value - expected) for value in inside) < 1e-9


def test_y_is_fitted_on_a_log_axis_and_never_beyond_the_authors(tabs: Tabs) -> None:
    """A cut of the author's stays one, and factors are fitted as factors."""
    figure = wake(tabs.open("log"), "log")
    whole = y_labels(figure)
    drag(figure, 0.7, 0.95)
    assert y_labels(figure) != whole
    assert len(y_labels(figure)) > 1
    figure = wake(tabs.open("cut"), "cut")
    drag(figure, 0.5, 0.99)
    values = [float(word) for word in y_labels(figure)]
    assert min(values) >= 0.5
    assert max(values) <= 1.0


@pytest.mark.parametrize(
    ("end", "zoomed"),
    [("Home", ["0 to 70", "0 to 35", "0 to 70"]), ("End", ["70 to 140", "105 to 140", "70 to 140"])],
)
def test_minus_undoes_plus_at_either_end(tabs: Tabs, end: str, zoomed: list[str]) -> None:
    """Each minus shows twice as much again, until the whole range is back."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press(end)
    for key, words in zip("++-", zoomed, strict=True):
        tab.keyboard.press(key)
        expect(said(figure)).to_have_text(f"Zoomed: training step {words}")
    tab.keyboard.press("-")
    expect(said(figure)).to_have_text("Showing the whole range")


@pytest.mark.parametrize("name", ["log", "time"])
def test_zoom_on_other_axes(tabs: Tabs, name: str) -> None:
    """Log and time axes zoom too, with ticks of their own."""
    figure = wake(tabs.open(name), name)
    before = x_labels(figure)
    drag(figure, 0.3, 0.6)
    expect(tool(figure, "Reset zoom")).to_be_visible()
    after = x_labels(figure)
    assert len(after) > 1
    assert after != before
    point_at(figure, 0.5)
    assert len(tooltip_rows(figure)) > 1


# ---- toolbar --------------------------------------------------------------------------------------


def test_toggles(tabs: Tabs) -> None:
    """Thin lines and band go and come back, and the y axis turns logarithmic, while a choice is kept."""
    figure = wake(tabs.open("dense"), "dense")
    figure.get_by_role("button", name="B", exact=True).click()
    runs = figure.locator(".rg-live .runs_marks path")
    expect(runs).to_have_count(25)
    tool(figure, "A thin line for each run").click()
    expect(runs).to_have_count(0)
    tool(figure, "95% CI").click()
    bands = figure.locator(".rg-live .bands_marks path")
    assert all(
        not (path or "").strip() for path in bands.evaluate_all("ps => ps.map(p => p.getAttribute('d'))")
    )
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0] == ["step 740", "n = 5"]
    line = figure.locator(".rg-live .lines_marks path").first
    before = line.get_attribute("d")
    tool(figure, "Logarithmic y axis").click()
    expect(tool(figure, "Logarithmic y axis")).to_have_attribute("aria-pressed", "true")
    expect(line).not_to_have_attribute("d", before or "")
    expect(runs).to_have_count(0)
    point_at(figure, 0.6)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["B"]
    tool(figure, "Logarithmic y axis").click()
    expect(line).to_have_attribute("d", before or "")
    tool(figure, "A thin line for each run").click()
    expect(runs).to_have_count(25)


def test_offers_only_what_the_figure_has(tabs: Tabs) -> None:
    """No log axis below zero, no switch for runs or bands that are not there."""
    figure = wake(tabs.open("time"), "time")
    for words in ("Logarithmic y axis", "A thin line for each run", "Band"):
        expect(tool(figure, words)).to_have_count(0)


def test_full_screen(tabs: Tabs) -> None:
    """The figure fills the screen and its plot grows; leaving brings the old size back."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    tool(figure, "Full screen").click()
    expect(tool(figure, "Leave full screen")).to_be_attached()
    surface = figure.locator(".rg-surface")
    expect(surface).not_to_have_js_property("offsetHeight", 320)
    box, live = (figure.locator(part).bounding_box() for part in (".rg-surface", ".rg-live svg"))
    assert box
    assert live
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
    assert "rgb(21, 23, 26)" in svg
    assert "accuracy by step" in svg
    assert "method 12" in svg
    assert "Source: test data · Figures · commit 1234567" in svg
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


def test_menu_closes(tabs: Tabs) -> None:
    """Escape closes the menu and gives the focus back; so does a press elsewhere."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    button = tool(figure, "Download")
    button.click()
    expect(figure.get_by_role("button", name="PNG picture")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-menu")).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    tab.mouse.click(5, 5)
    expect(figure.locator(".rg-menu")).to_be_hidden()


@pytest.mark.parametrize("clipboard", [True, False])
def test_copies_a_link(tabs: Tabs, *, clipboard: bool) -> None:
    """The link leads to the figure; where the clipboard is closed the old way is used, and both say so."""
    taken = "{ writeText: async (text) => { window.copied = text; } }" if clipboard else "undefined"
    script = f"Object.defineProperty(navigator, 'clipboard', {{ value: {taken} }});"
    script += "document.execCommand = () => { window.copied = document.activeElement.value; return true; };"
    tab = tabs.open("points", script=script)
    figure = wake(tab, "points")
    tool(figure, "Copy a link to this figure").click()
    expect(said(figure)).to_have_text("Link copied")
    assert tab.evaluate("window.copied") == f"{tab.url}#points"


def test_theme_switch_needs_no_drawing(tabs: Tabs) -> None:
    """Colours are variables: the same elements get other colours."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    line = figure.locator(".rg-live .lines_marks path").first
    colour = "p => { p.marked = true; return getComputedStyle(p).stroke; }"
    light = line.evaluate(colour)
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert line.evaluate("p => p.marked")
    assert line.evaluate(colour) != light


def test_print_shows_the_still_picture(tabs: Tabs) -> None:
    """Paper gets the whole picture, whatever the reader zoomed to."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    drag(figure, 0.2, 0.4)
    tab.emulate_media(media="print")
    expect(figure.locator(".rg-picture")).to_be_visible()
    for part in (".rg-live", ".rg-toolbar", ".rg-tooltip", ".rg-data"):
        expect(figure.locator(part)).to_be_hidden()


# ---- several figures, other kinds -----------------------------------------------------------------


def test_panels_share_pointer_zoom_and_choice(tabs: Tabs) -> None:
    """One legend, toolbar and pointer for all panels; what is zoomed or isolated in one is so in all."""
    tab = tabs.open("panels")
    first, *others = (wake(tab, f"diag-{n}") for n in (1, 2, 3))
    point_at(first, 0.5)
    assert tooltip_rows(first)[0][0] == "step 15"
    legend = tab.locator("#diag > .rg-legend")
    legend.get_by_role("button", name="two").click()
    point_at(first, 0.5)
    assert names_in_tooltip(first) == ["two"]
    for panel in others:
        expect(panel.locator(".rg-tooltip")).to_be_hidden()
        expect(panel.locator(".rg-at-rule:visible")).to_have_count(1)
    drag(first, 0.0, 0.5)
    reset = tool(tab.locator("#diag > .rg-toolbar"), "Reset zoom")
    for panel in (first, *others):
        expect(panel).to_have_class(re.compile("rg-is-zoomed"))
        assert len(x_labels(panel)) > 1
        expect(tool(panel, "Reset zoom")).to_have_count(0)
    reset.click()
    for panel in (first, *others):
        expect(panel).not_to_have_class(re.compile("rg-is-zoomed"))
    expect(reset).to_be_hidden()


def test_panels_that_are_not_read_have_values_at_the_rule(tabs: Tabs) -> None:
    """The box stands in the panel under the pointer; in the others values stand inside, none over another."""
    tab = tabs.open("panels")
    panels = [wake(tab, f"diag-{n}") for n in (1, 2, 3)]
    for across in (0.02, 0.5, 0.98):
        point_at(panels[1], across)
        expect(panels[1].locator(".rg-tooltip")).to_be_visible()
        rows = [row for row in tooltip_rows(panels[1])[1:] if row[0] in {"one", "two"}]
        for panel in (panels[0], panels[2]):
            values = panel.locator(".rg-at-rule:visible")
            assert sorted(values.all_text_contents()) == sorted(row[1] for row in rows)
            plot = panel.locator(".rg-surface").bounding_box()
            boxes = sorted((box for one in values.all() if (box := one.bounding_box())), key=lambda b: b["y"])
            assert plot
            for box in boxes:
                assert plot["x"] <= box["x"]
                assert box["x"] + box["width"] <= plot["x"] + plot["width"]
            assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1
    tab.mouse.move(1, 1)
    expect(tab.locator(".rg-at-rule:visible")).to_have_count(0)


def test_no_toolbar_covers_the_titles_of_panels(tabs: Tabs) -> None:
    """Zoomed, with the pointer in a panel: axis titles and the legend stay free."""
    tab = tabs.open("panels")
    panels = [wake(tab, f"diag-{n}") for n in (1, 2, 3)]
    drag(panels[0], 0.2, 0.8)
    point_at(panels[0], 0.5)
    words = ".rg-live .role-axis-title text, #diag > .rg-legend .rg-series, #diag > .rg-title, .rg-subtitle"
    hidden = """all => all.filter(one => { const { left, right, top, bottom } = one.getBoundingClientRect();
      return [...document.querySelectorAll(".rg-toolbar")].map(bar => bar.getBoundingClientRect()).some(bar =>
        left < bar.right && bar.left < right && top < bar.bottom && bar.top < bottom); })
      .map(one => one.textContent)"""
    assert tab.locator("#diag").locator(words).count() > 6
    assert tab.locator("#diag").locator(words).evaluate_all(hidden) == []


def test_panels_line_up(tabs: Tabs) -> None:
    """Plots of a row start at the same height."""
    tab = tabs.open("panels")
    tops = tab.locator("#diag .rg-plot").evaluate_all(
        "ps => ps.map(p => Math.round(p.getBoundingClientRect().top))"
    )
    assert len(tops) == 3
    assert len(set(tops)) == 1


def test_hostile_names_stay_words(tabs: Tabs, tmp_path: Path) -> None:
    """Names that look like mark-up or properties are shown as they are, everywhere, and run nothing."""
    tab = tabs.open("hostile")
    figure = wake(tab, "hostile")
    names = figure.locator(".rg-legend .rg-name").all_text_contents()
    assert names == list(HOSTILE)
    point_at(figure, 0.5)
    assert {row[0] for row in tooltip_rows(figure)[1:]} == set(HOSTILE)
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("ArrowRight")
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
    box = point.bounding_box()
    assert box
    tab.mouse.move(box["x"] - 20, box["y"] - 30)
    tab.mouse.down()
    tab.mouse.move(box["x"], box["y"])
    tab.mouse.move(box["x"] + box["width"] + 4, box["y"] + box["height"] + 4)
    tab.mouse.up()
    place = "p => { const b = p.getBBox(), m = p.getScreenCTM(); return [m.e + m.a * b.x, m.a * b.width]; }"
    brush = figure.locator(".rg-live .brush_brush path").evaluate(place)
    assert brush == pytest.approx([box["x"] - 20, box["width"] + 24], abs=1)


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


def test_the_column_that_sorts_a_table_is_marked(tabs: Tabs) -> None:
    """Before anything is pressed, too; its head turns the order round, then brings it back."""
    tab = tabs.open("sorted")
    table = tab.locator("table.rg-sortable")
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


def test_fingers_hit_buttons(tabs: Tabs) -> None:
    """On a touch screen a button answers 36 pixels high and 32 wide, though its picture is smaller."""
    tab = tabs.open("dense", width=390, touch=True)
    figure = wake(tab, "dense")
    expect(figure.locator(".rg-toolbar")).to_have_css("opacity", "1")
    hit = """button => { const { left, right, top, bottom, width } = button.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const over = dy => button.contains(document.elementFromPoint(x, y + dy));
      return [width, over(-17), over(17)]; }"""
    for button in figure.locator(".rg-toolbar .rg-tool").all():
        if button.is_visible():
            width, above, below = button.evaluate(hit)
            assert width >= 32
            assert above
            assert below


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["points", "many", "panels", "hostile", "author", "results"])
def test_accessible_alive(tabs: Tabs, name: str, scheme: str) -> None:
    """Live figures give axe-core nothing to object to."""
    tab = tabs.open(name, scheme=scheme, served=True)
    for one in PAGES.get(name, ()):
        wake(tab, one)
    complaints = list(tabs.complaints)
    found = Axe().run(tab)
    tabs.complaints[:] = complaints  # axe-core itself asks for more than the policy allows
    assert found.violations_count == 0, found.generate_report()
