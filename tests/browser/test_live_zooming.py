"""Live figures are zoomed and their series chosen; those of one x axis follow each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import NO_IDLE, SAVED, resize
from browser.live import (
    ALIVE,
    ZOOMED,
    box_of,
    copied_state,
    double_click,
    drag,
    figure_of,
    follow,
    key_of,
    line,
    names_in_tooltip,
    point_at,
    press,
    said,
    tool,
    tooltip_rows,
    wake,
    x_labels,
    x_numbers,
    y_labels,
)

if TYPE_CHECKING:
    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

_HEIGHTS = """paths => { const tops = paths.map(p => p.getBoundingClientRect());
  return Math.max(...tops.map(t => t.bottom)) - Math.min(...tops.map(t => t.top)); }"""
_FRAMES = "new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"


# ---- choosing -------------------------------------------------------------------------------------


def test_names_at_the_line_ends_isolate(tabs: Tabs) -> None:
    """Click isolates, shift-click adds and removes, a second click shows all; the others fade, not vanish."""
    figure = wake(tabs.open("dense"), "dense")
    key = figure.locator(".rg-legend").get_by_role("button")
    key.nth(1).click()
    expect(said(figure)).to_have_text("Showing B")
    assert [button.get_attribute("aria-pressed") for button in key.all()] == ["false", "true", *["false"] * 3]
    strokes = "ps => ps.map(p => p.getAttribute('stroke'))"
    shown = figure.locator(".rg-live .lines_marks path").evaluate_all(strokes)
    assert sum("color-mix" in stroke for stroke in shown) == 4
    key.nth(2).click(modifiers=["Shift"])
    point_at(figure, 0.5)
    assert sorted(names_in_tooltip(figure)) == ["B", "C"]
    key.nth(2).click(modifiers=["Shift"])
    key.nth(1).click()
    expect(said(figure)).to_have_text("Showing all series")
    key.nth(0).click(modifiers=["Shift"])
    expect(said(figure)).to_have_text("Showing B, C, D, E")
    # Where names do not fit at the line ends the row above the plot does the same.
    figure = wake(tabs.open("many"), "many")
    key_of(figure, "method 3").click()
    point_at(figure, 0.5)
    assert [row[0] for row in tooltip_rows(figure)[1:]] == ["method 3"]


def test_names_stand_over_the_words_they_replace(tabs: Tabs) -> None:
    """On a wide page the buttons lie on the names that the picture draws; on a narrow one they are a row."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    drawn = box_of(figure.locator(".rg-live .ends_marks text").filter(has_text="MEL"))
    button = box_of(figure.get_by_role("button", name="MEL"))
    assert button["x"] <= drawn["x"]
    assert drawn["y"] >= button["y"] - 2
    assert drawn["right"] <= button["right"]
    resize(tab, 390)
    expect(figure.locator(".rg-live .ends_marks text")).to_have_count(0)
    row, plot = box_of(figure.locator(".rg-legend")), box_of(figure.locator(".rg-plot"))
    assert row["bottom"] <= plot["y"] + 12


# ---- zooming --------------------------------------------------------------------------------------


def test_drag_zooms_and_tooltip_works_there(tabs: Tabs) -> None:
    """The x axis shows what was dragged over, the tooltip reads it, and a double click shows all again."""
    figure = wake(tabs.open("dense"), "dense")
    whole = x_labels(figure)
    expect(tool(figure, "Reset zoom")).to_be_hidden()
    drag(figure, 0.2, 0.4)
    expect(said(figure)).to_have_text(re.compile(r"Zoomed: step 298 to 596"))
    labels = x_numbers(figure)
    assert labels[0] >= 298
    assert labels[-1] <= 596
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0][0] == "step 450"
    assert figure.locator(".rg-live [clip-path]").count() > 0
    double_click(figure)
    assert x_labels(figure) == whole


@pytest.mark.parametrize(
    ("end", "zoomed"),
    [("Home", ["0 to 70", "0 to 35", "0 to 70"]), ("End", ["70 to 140", "105 to 140", "70 to 140"])],
)
def test_zoom_by_button_and_key(tabs: Tabs, end: str, zoomed: list[str]) -> None:
    """Plus zooms around the step and minus undoes it at either end; Escape and the button reset."""
    figure = wake(tabs.open("points"), "points")
    press(figure, end)
    for key, words in zip("++-", zoomed, strict=True):
        press(figure, key)
        expect(said(figure)).to_have_text(f"Zoomed: training step {words}")
    assert figure.get_by_role("button", name="GRPO").is_visible()
    press(figure, "-")
    expect(said(figure)).to_have_text("Showing the whole range")
    press(figure, "+")
    expect(said(figure)).to_have_text(re.compile("^Zoomed"))
    press(figure, "Escape")
    expect(said(figure)).to_have_text("Showing the whole range")
    drag(figure, 0.5, 0.9)
    expect(said(figure)).to_have_text(re.compile("^Zoomed"))
    tool(figure, "Reset zoom").click()
    expect(said(figure)).to_have_text("Showing the whole range")
    expect(figure.locator(".rg-surface")).to_be_focused()


def test_zooming_fits_y_to_the_lines_shown(tabs: Tabs) -> None:
    """The plateau fills the plot, of the series shown only; a button shows the whole axis."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    whole = y_labels(figure)
    drag(figure, 0.6, 0.9)
    fitted = y_labels(figure)
    assert fitted != whole
    assert len(fitted) > 2
    height = box_of(figure.locator(".rg-surface"))["height"]
    point_at(figure, 0.5)
    expect(figure.locator(".rg-dot:visible")).to_have_count(5)
    dots = [box_of(dot)["y"] for dot in figure.locator(".rg-dot:visible").all()]
    assert max(dots) - min(dots) > 0.15 * height
    assert figure.locator(".rg-live .bands_marks path").evaluate_all(_HEIGHTS) > 0.5 * height
    tool(figure, "y: fit, change to whole").click()
    expect(said(figure)).to_have_text("The y axis is whole")
    assert y_labels(figure) == whole
    tool(figure, "y: whole, change to fit").click()
    assert y_labels(figure) == fitted
    key_of(figure, "A").click()
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


def test_zoom_on_other_axes(tabs: Tabs) -> None:
    """Log and time axes zoom, with own ticks; factors are fitted as factors, an author's cut stays."""
    tab = tabs.open("log")
    for name in ("log", "time"):
        tabs.go(tab, name)
        figure = wake(tab, name)
        before, whole = x_labels(figure), y_labels(figure)
        drag(figure, 0.3, 0.6)
        expect(tool(figure, "Reset zoom")).to_be_visible()
        after = x_labels(figure)
        assert len(after) > 1
        assert after != before
        point_at(figure, 0.5)
        assert len(tooltip_rows(figure)) > 1
        if name == "log":
            tool(figure, "Reset zoom").click()
            drag(figure, 0.7, 0.95)
            assert y_labels(figure) != whole
            assert len(y_labels(figure)) > 1
    tabs.go(tab, "cut")
    figure = wake(tab, "cut")
    drag(figure, 0.5, 0.99)
    values = [float(word) for word in y_labels(figure)]
    assert min(values) >= 0.5
    assert max(values) <= 1.0


def test_shift_and_drag_zooms_to_a_box(tabs: Tabs) -> None:
    """Both axes show what the box held; links keep it, and the button for y leads out of it."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    whole = y_labels(figure)
    drag(figure, (0.5, 0.1), (0.8, 0.3), boxed=True)
    expect(said(figure)).to_have_text(re.compile(r"Zoomed: step \d+ to [\d,]+, y from 0\.\d+ to 0\.\d+"))
    boxed = y_labels(figure)
    assert boxed != whole
    state = copied_state(figure)
    assert re.fullmatch(r"dense~x=\d+\.\.\d+~box=0\.\d+\.\.0\.\d+", state)
    low, high = map(float, state.partition("box=")[2].split(".."))
    assert all(low <= float(label) <= high for label in boxed)
    tool(figure, "y: box, change to fit").click()
    assert y_labels(figure) not in (boxed, whole)
    tool(figure, "Reset zoom").click()
    follow(tab, state)
    words = re.compile(r"Showing step .* y from 0\.\d+ to 0\.\d+\.")
    expect(line(figure)).to_contain_text(words)
    assert y_labels(figure) == boxed


def test_keys_zoom_y(tabs: Tabs) -> None:
    """Shift with up shows half as much of y around the value read, with down twice as much again."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    whole = x_labels(figure), y_labels(figure)
    press(figure, "End", "Shift+ArrowUp", "Shift+ArrowUp")
    assert x_labels(figure) == whole[0]
    boxed = y_labels(figure)
    assert boxed != whole[1]
    state = copied_state(figure)
    assert re.fullmatch(r"dense~box=[\d.]+", state)
    tool(figure, "Reset zoom").click()
    assert (x_labels(figure), y_labels(figure)) == whole
    follow(tab, state)
    expect(line(figure)).to_contain_text("Showing y from")
    assert y_labels(figure) == boxed


def pinch(figure: Locator, *fingers: tuple[tuple[float, float], tuple[float, float]]) -> None:
    """Move two fingers on the plot, each from one place to another, in fractions from its top left."""
    box = box_of(figure.locator(".rg-surface"))

    def place(part: tuple[float, float]) -> dict[str, float]:
        return {"x": box["x"] + part[0] * box["width"], "y": box["y"] + part[1] * box["height"]}

    client = figure.page.context.new_cdp_session(figure.page)
    for kind, points in (
        ("touchStart", [place(start) for start, _ in fingers]),
        ("touchMove", [place(((a + c) / 2, (b + d) / 2)) for (a, b), (c, d) in fingers]),
        ("touchMove", [place(end) for _, end in fingers]),
        ("touchEnd", []),
    ):
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        figure.page.evaluate(_FRAMES)  # what moves a finger comes once a frame
    client.detach()


def test_two_fingers_zoom(tabs: Tabs) -> None:
    """Side by side they stretch x about the places they hold, one above the other y; the page stays."""
    tab = tabs.open("dense", touch=True, width=390)
    figure = wake(tab, "dense")
    top, whole = tab.evaluate("scrollY"), y_labels(figure)
    pinch(figure, ((0.4, 0.5), (0.2, 0.5)), ((0.6, 0.5), (0.8, 0.5)))
    expect(figure).to_have_class(ZOOMED)
    labels = x_numbers(figure)
    assert labels[0] >= 490
    assert labels[-1] <= 1000
    before = y_labels(figure)
    pinch(figure, ((0.5, 0.4), (0.5, 0.2)), ((0.5, 0.6), (0.5, 0.8)))
    assert y_labels(figure) not in (before, whole)
    assert x_numbers(figure) == labels
    pinch(figure, ((0.1, 0.5), (0.45, 0.5)), ((0.9, 0.5), (0.55, 0.5)))
    expect(figure).not_to_have_class(ZOOMED)
    assert tab.evaluate("scrollY") == top


# ---- several figures ------------------------------------------------------------------------------


def test_panels_share_zoom_and_choice(tabs: Tabs) -> None:
    """What is zoomed in one is so in all, with one button; no toolbar covers axis titles and legend."""
    tab = tabs.open("panels")
    panels = [wake(tab, f"diag-{n}") for n in (1, 2, 3)]
    drag(panels[0], 0.0, 0.5)
    reset = tool(tab.locator("#diag > .rg-toolbar"), "Reset zoom")
    for panel in panels:
        expect(panel).to_have_class(ZOOMED)
        assert len(x_labels(panel)) > 1
        expect(tool(panel, "Reset zoom")).to_have_count(0)
    point_at(panels[0], 0.5)
    words = ".rg-live .role-axis-title text, #diag > .rg-legend .rg-series, #diag > .rg-title, .rg-subtitle"
    hidden = """all => all.filter(one => { const { left, right, top, bottom } = one.getBoundingClientRect();
      return [...document.querySelectorAll(".rg-toolbar")].map(bar => bar.getBoundingClientRect()).some(bar =>
        left < bar.right && bar.left < right && top < bar.bottom && bar.top < bottom); })
      .map(one => one.textContent)"""
    assert tab.locator("#diag").locator(words).count() > 6
    assert tab.locator("#diag").locator(words).evaluate_all(hidden) == []
    reset.click()
    for panel in panels:
        expect(panel).not_to_have_class(ZOOMED)
    expect(reset).to_be_hidden()


def open_linked(tabs: Tabs) -> tuple[Page, Locator, Locator]:
    """A page of figures over one axis, two of them alive."""
    tab = tabs.open("linked", script=SAVED, served=True)
    return tab, wake(tab, "points"), wake(tab, "longer")


def test_figures_with_one_x_axis_zoom_together(tabs: Tabs) -> None:
    """The other one shows the same steps, and all of its axis again; a figure over time is not touched."""
    tab, first, second = open_linked(tabs)
    third = wake(tab, "time")
    weeks, whole = x_labels(third), x_labels(second)
    first.scroll_into_view_if_needed()
    drag(first, 0.4, 0.9)
    expect(second).to_have_class(ZOOMED)
    labels = x_numbers(second)
    assert labels[0] >= 56
    assert labels[-1] <= 126
    assert x_labels(third) == weeks
    tool(second, "Reset zoom").click()
    expect(first).not_to_have_class(ZOOMED)
    assert x_labels(second) == whole
    second.scroll_into_view_if_needed()
    drag(second, 0.7, 0.99)  # steps 200 to 300 are only in the longer one
    expect(second).to_have_class(ZOOMED)
    expect(first).not_to_have_class(ZOOMED)
    tool(second, "Reset zoom").click()
    follow(tab, "points~x=60..120")
    for figure in (first, second):
        expect(figure).to_have_class(ZOOMED)
    tab.keyboard.press("Escape")
    for figure in (first, second):
        expect(figure).not_to_have_class(ZOOMED)


def test_figures_that_wake_later_join(tabs: Tabs) -> None:
    """What was zoomed before they were alive is what they show."""
    tab = tabs.open("linked", script=NO_IDLE)
    drag(wake(tab, "points"), 0.4, 0.9)
    second = wake(tab, "longer")
    expect(second).to_have_class(ZOOMED)
    assert x_numbers(second)[-1] <= 126


def test_linked_figures_are_read_together_or_alone(tabs: Tabs) -> None:
    """The rule stands at the same step in both; a button takes one out, and a copied link says so."""
    tab, first, second = open_linked(tabs)
    point_at(first, 60 / 140)
    expect(second.locator(".rg-at-rule:visible").first).to_be_visible()
    expect(second.locator(".rg-tooltip")).to_be_hidden()
    rule, box = (box_of(second.locator(part)) for part in (".rg-rule", ".rg-surface"))
    assert (rule["x"] + 0.5 - box["x"]) / box["width"] == pytest.approx(60 / 300, abs=0.01)
    tab.mouse.move(5, 5)
    expect(second.locator(".rg-rule")).to_be_hidden()
    press(first, "Home")
    expect(second.locator(".rg-rule")).to_be_visible()
    drag(first, 0.4, 0.9)
    expect(second).to_have_class(ZOOMED)
    alone = tool(first, "Zoom and read the figures with this x axis together")
    expect(alone).to_have_attribute("aria-pressed", "true")
    alone.click()
    expect(said(first)).to_have_text("This figure is on its own")
    expect(second).not_to_have_class(ZOOMED)
    expect(first).to_have_class(ZOOMED)
    point_at(first, 0.5)
    expect(second.locator(".rg-rule")).to_be_hidden()
    state = copied_state(first)
    assert state == "points~x=60..120~linked=0"
    tabs.go(tab, "linked")
    second = wake(tab, "longer")
    follow(tab, state)
    first = figure_of(tab, "points")
    expect(first).to_have_class(ALIVE)
    expect(first).to_have_class(ZOOMED)
    expect(second).not_to_have_class(ZOOMED)
    tool(first, "Zoom and read the figures with this x axis together").click()
    expect(second).to_have_class(ZOOMED)
