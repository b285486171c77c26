"""Figures of a page that share an x axis are zoomed and read together; boxes and pinches zoom y as well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.test_live import NO_IDLE, figure_of, point_at, said, tool, wake, x_labels, y_labels

if TYPE_CHECKING:
    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

SAVED = "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };"
ZOOMED = re.compile("rg-is-zoomed")


def drag(figure: Locator, start: tuple[float, float], end: tuple[float, float], *, box: bool = False) -> None:
    """Drag from one place of the plot to another, in fractions from its top left; a box with Shift."""
    keyboard, mouse = figure.page.keyboard, figure.page.mouse
    if box:
        keyboard.down("Shift")
    point_at(figure, *start)
    mouse.down()
    point_at(figure, (start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    point_at(figure, *end)
    mouse.up()
    if box:
        keyboard.up("Shift")


def pinch(figure: Locator, *fingers: tuple[tuple[float, float], tuple[float, float]]) -> None:
    """Move two fingers on the plot, each from one place to another, in fractions from its top left."""
    box = figure.locator(".rg-surface").bounding_box()
    assert box

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
        figure.page.wait_for_timeout(50)


def copied_state(figure: Locator) -> str:
    """The fragment that the button of a figure copies."""
    tool(figure, "Copy a link to this figure").click()
    expect(said(figure)).to_have_text("Link copied")
    return str(figure.page.evaluate("window.copied")).partition("#")[2]


def open_linked(tabs: Tabs, **how: str) -> tuple[Page, Locator, Locator]:
    """A page of figures over one axis, two of them alive."""
    tab = tabs.open("linked", script=SAVED, served=True, **how)  # type: ignore[arg-type]
    return tab, wake(tab, "points"), wake(tab, "longer")


def test_figures_with_one_x_axis_zoom_together(tabs: Tabs) -> None:
    """The other one shows the same steps, and all of its axis again; a figure over time is not touched."""
    tab, first, second = open_linked(tabs)
    third = wake(tab, "time")
    weeks, whole = x_labels(third), x_labels(second)
    first.scroll_into_view_if_needed()
    drag(first, (0.4, 0.5), (0.9, 0.5))
    expect(second).to_have_class(ZOOMED)
    labels = [int(label) for label in x_labels(second)]
    assert labels[0] >= 56
    assert labels[-1] <= 126
    assert x_labels(third) == weeks
    tool(second, "Reset zoom").click()
    expect(first).not_to_have_class(ZOOMED)
    assert x_labels(second) == whole


def test_a_range_without_steps_of_a_figure_leaves_it_whole(tabs: Tabs) -> None:
    """Steps 200 to 300 are only in the longer one."""
    _, first, second = open_linked(tabs)
    drag(second, (0.7, 0.5), (0.99, 0.5))
    expect(second).to_have_class(ZOOMED)
    expect(first).not_to_have_class(ZOOMED)


def test_figures_that_wake_later_join(tabs: Tabs) -> None:
    """What was zoomed before they were alive is what they show."""
    tab = tabs.open("linked", script=NO_IDLE)
    first = wake(tab, "points")
    drag(first, (0.4, 0.5), (0.9, 0.5))
    second = wake(tab, "longer")
    expect(second).to_have_class(ZOOMED)
    assert int(x_labels(second)[-1]) <= 126


def test_linked_figures_are_read_together(tabs: Tabs) -> None:
    """The rule stands at the same step in both, with values instead of a second tooltip."""
    tab, first, second = open_linked(tabs)
    point_at(first, 60 / 140)
    expect(second.locator(".rg-at-rule:visible").first).to_be_visible()
    expect(second.locator(".rg-tooltip")).to_be_hidden()
    rule, box = (second.locator(part).bounding_box() for part in (".rg-rule", ".rg-surface"))
    assert rule
    assert box
    assert (rule["x"] + 0.5 - box["x"]) / box["width"] == pytest.approx(60 / 300, abs=0.01)
    tab.mouse.move(5, 5)
    expect(second.locator(".rg-rule")).to_be_hidden()
    first.locator(".rg-surface").focus()
    tab.keyboard.press("Home")
    expect(second.locator(".rg-rule")).to_be_visible()


def test_a_figure_can_be_zoomed_alone(tabs: Tabs) -> None:
    """A button takes the others out, a copied link says so, and they are whole where it leads."""
    tab, first, second = open_linked(tabs)
    drag(first, (0.4, 0.5), (0.9, 0.5))
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
    tab.evaluate("location.hash = ''")
    tab.reload()
    second = wake(tab, "longer")
    tab.evaluate("state => { location.hash = state; }", state)
    first = figure_of(tab, "points")
    expect(first).to_have_class(ZOOMED)
    expect(second).not_to_have_class(ZOOMED)
    tool(first, "Zoom and read the figures with this x axis together").click()
    expect(second).to_have_class(ZOOMED)


def test_a_link_to_a_range_shows_it_everywhere(tabs: Tabs) -> None:
    """As it was where the link was copied."""
    tab, first, second = open_linked(tabs)
    tab.evaluate("location.hash = 'points~x=60..120'")
    expect(first).to_have_class(ZOOMED)
    expect(second).to_have_class(ZOOMED)
    tab.keyboard.press("Escape")
    expect(first).not_to_have_class(ZOOMED)
    expect(second).not_to_have_class(ZOOMED)


def test_shift_and_drag_zooms_to_a_box(tabs: Tabs) -> None:
    """Both axes show what the box held; links keep it, and the button for y leads out of it."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    whole = y_labels(figure)
    drag(figure, (0.5, 0.1), (0.8, 0.3), box=True)
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
    tab.evaluate("state => { location.hash = state; }", state)
    words = re.compile(r"Showing step .* y from 0\.\d+ to 0\.\d+\.")
    expect(figure.locator(".rg-state")).to_contain_text(words)
    assert y_labels(figure) == boxed


def test_keys_zoom_y(tabs: Tabs) -> None:
    """Shift with up shows half as much of y around the value read, with down twice as much again."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    whole = x_labels(figure), y_labels(figure)
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("End")
    tab.keyboard.press("Shift+ArrowUp")
    tab.keyboard.press("Shift+ArrowUp")
    assert x_labels(figure) == whole[0]
    assert y_labels(figure) != whole[1]
    state = copied_state(figure)
    assert re.fullmatch(r"dense~box=[\d.]+", state)
    boxed = y_labels(figure)
    tool(figure, "Reset zoom").click()
    assert (x_labels(figure), y_labels(figure)) == whole
    tab.evaluate("state => { location.hash = state; }", state)
    expect(figure.locator(".rg-state")).to_contain_text("Showing y from")
    assert y_labels(figure) == boxed


def test_two_fingers_zoom(tabs: Tabs) -> None:
    """Side by side they stretch x about the places they hold, one above the other y; the page stays."""
    tab = tabs.open("dense", touch=True, width=390)
    figure = wake(tab, "dense")
    top = tab.evaluate("scrollY")
    whole = y_labels(figure)
    pinch(figure, ((0.4, 0.5), (0.2, 0.5)), ((0.6, 0.5), (0.8, 0.5)))
    expect(figure).to_have_class(ZOOMED)
    labels = [int(label.replace(",", "")) for label in x_labels(figure)]
    assert labels[0] >= 490
    assert labels[-1] <= 1000
    before = y_labels(figure)
    pinch(figure, ((0.5, 0.4), (0.5, 0.2)), ((0.5, 0.6), (0.5, 0.8)))
    assert y_labels(figure) not in (before, whole)
    assert [int(label.replace(",", "")) for label in x_labels(figure)] == labels
    pinch(figure, ((0.1, 0.5), (0.45, 0.5)), ((0.9, 0.5), (0.55, 0.5)))
    expect(figure).not_to_have_class(ZOOMED)
    assert tab.evaluate("scrollY") == top
