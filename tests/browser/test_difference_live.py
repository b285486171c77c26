"""Two series as their difference: line, interval and shade are those of the box, and links keep the view."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from browser.test_link_state import follow, line
from browser.test_linked_live import SAVED, copied_state
from browser.test_live import point_at, said, save, tool, tooltip_rows, wake, x_labels, y_labels

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

BUTTON = "Difference of the two series shown"


def shades(figure: Locator) -> list[tuple[float, float]]:
    """The shaded parts of a plot, in fractions of its width."""
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    parts = [part.bounding_box() for part in figure.locator(".rg-live .excluding_marks path").all()]
    edges = [(part["x"] - box["x"], part["x"] + part["width"] - box["x"]) for part in parts if part]
    return [(start / box["width"], end / box["width"]) for start, end in edges]


def test_the_difference_is_that_of_the_box(tabs: Tabs) -> None:
    """Value and interval of the row that both lines have, and 0 on the axis; shaded without 0 inside."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    button = tool(figure, BUTTON)
    expect(button).to_be_hidden()
    keys = figure.locator(".rg-legend").get_by_role("button")
    keys.nth(0).click()
    keys.nth(4).click(modifiers=["Shift"])
    point_at(figure, 0.3)
    row = tooltip_rows(figure)[-1]
    assert row[-3] == "difference"
    button.click()
    expect(said(figure)).to_have_text("Showing A minus E")
    expect(button).to_have_attribute("aria-pressed", "true")
    point_at(figure, 0.3)
    head, alone = tooltip_rows(figure)
    assert head[0] == "step 450"
    assert alone == ["A − E", row[-2], row[-1]]
    assert "0.00" in y_labels(figure)
    inside = any(start <= 0.3 <= end for start, end in shades(figure))
    low, high = map(float, row[-1].replace("−", "-").strip("[]").split(", "))
    assert inside == (low > 0 or high < 0)
    assert shades(figure)
    button.click()
    expect(said(figure)).to_have_text("Showing A and E")
    assert figure.locator(".rg-live .excluding_marks").count() == 0
    point_at(figure, 0.3)
    assert tooltip_rows(figure)[-1] == row


def test_shades_are_where_the_box_says(tabs: Tabs) -> None:
    """At each step that is read, there is a shade if and only if the interval excludes 0."""
    tab = tabs.open("dense", fragment="#dense~series=B,C~difference=1")
    figure = wake(tab, "dense")
    expect(line(figure)).to_have_text("Showing B and C, the difference B − C.")
    parts = shades(figure)
    seen = set()
    for n in range(2, 99, 4):
        point_at(figure, n / 100)
        _, (_, _, interval) = tooltip_rows(figure)
        low, high = map(float, interval.replace("−", "-").strip("[]").split(", "))
        step = int(tooltip_rows(figure)[0][0].removeprefix("step ").replace(",", ""))
        inside = any(start - 1e-3 <= step / 1490 <= end + 1e-3 for start, end in parts)
        assert inside == (low > 0 or high < 0) or min(abs(low), abs(high)) < 0.001
        seen.add(inside)
    assert seen == {True, False}


def test_one_run_has_a_difference_without_shade(tabs: Tabs) -> None:
    """Nothing is known of how sure it is; steps that only one of them has are left out."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("d")
    expect(said(figure)).to_have_text("Showing GRPO minus MEL")
    assert not shades(figure)
    tab.keyboard.press("End")
    expect(said(figure)).to_have_text("Training step 140: GRPO − MEL 0.000")
    tab.keyboard.press("ArrowLeft")
    expect(said(figure)).to_have_text("Training step 120: GRPO − MEL −0.020")
    tab.keyboard.press("ArrowLeft")
    expect(said(figure)).to_have_text(re.compile("^Training step 80"))
    tab.keyboard.press("D")
    expect(said(figure)).to_have_text("Showing GRPO and MEL")


def test_a_difference_of_percentages_is_in_points(tabs: Tabs, tmp_path: Path) -> None:
    """The axis says so as the box does: its ticks have no percent sign, in the picture neither."""
    tab = tabs.open("percent", script=SAVED, served=True)
    figure = wake(tab, "percent")
    assert all(label.endswith("%") for label in y_labels(figure))
    tool(figure, BUTTON).click()
    expect(figure.locator(".rg-live .role-axis-title text").last).to_have_text(
        "ours − base (percentage points)"
    )
    assert y_labels(figure)[0] == "0"
    assert not any("%" in label for label in y_labels(figure))
    point_at(figure, 0.99)
    assert tooltip_rows(figure)[-1][1:] == ["+12 points"]
    svg = save(figure, "SVG picture", tmp_path).read_text("utf-8")
    assert "percentage points" in svg
    assert "%</text>" not in svg
    tool(figure, BUTTON).click()
    assert all(label.endswith("%") for label in y_labels(figure))


def test_a_difference_needs_two_series(tabs: Tabs) -> None:
    """With others there is none, and it ends where one is left out."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    surface = figure.locator(".rg-surface")
    surface.focus()
    tab.keyboard.press("d")
    expect(said(figure)).to_have_text("A difference needs two series: choose them in the legend")
    keys = figure.locator(".rg-legend").get_by_role("button")
    keys.nth(0).click()
    keys.nth(1).click(modifiers=["Shift"])
    tool(figure, BUTTON).click()
    keys.nth(1).press("Enter")  # names at the line ends are gone with the lines
    expect(tool(figure, BUTTON)).to_be_hidden()
    assert figure.locator(".rg-live .excluding_marks").count() == 0
    expect(figure.locator(".rg-live .lines_marks path")).to_have_count(5)


def test_links_zoom_and_pictures_of_a_difference(tabs: Tabs, tmp_path: Path) -> None:
    """The link shows the same, y fits while zoomed, and the picture has shades and the name."""
    tab = tabs.open("dense", script=SAVED, served=True, fragment="#dense~series=A,E~difference=1")
    figure = wake(tab, "dense")
    expect(line(figure)).to_contain_text("the difference A − E")
    whole = x_labels(figure), y_labels(figure)
    state = copied_state(figure)
    assert state == "dense~series=A,E~difference=1"
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("End")
    tab.keyboard.press("+")
    assert x_labels(figure) != whole[0]
    assert y_labels(figure) != whole[1]
    svg = save(figure, "SVG picture", tmp_path).read_text("utf-8")
    assert "A − E" in svg
    assert "excluding_marks" in svg or 'fill-opacity="0.12"' in svg
    tab.evaluate("location.hash = ''")
    follow(tab, state)
    assert (x_labels(figure), y_labels(figure)) == whole
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-live .lines_marks path")).to_have_count(5)


def test_fingers_reach_the_difference(tabs: Tabs) -> None:
    """The button takes a tap, and the pinned step offers the gap."""
    tab = tabs.open("points", touch=True, width=390, script=SAVED)
    figure = wake(tab, "points")
    tool(figure, BUTTON).tap()
    box = figure.locator(".rg-surface").bounding_box()
    assert box
    for _ in range(2):
        tab.touchscreen.tap(box["x"] + 120 / 140 * box["width"], box["y"] + 0.9 * box["height"])
        tab.wait_for_timeout(400)
    tool(figure, "Copy a number of this step with the expression it comes from").tap()
    figure.locator(".rg-pinned .rg-menu").get_by_role("button").tap()
    expect(said(figure)).to_contain_text("Copied [")
    assert tab.evaluate("window.copied") == '[−0.020]{value="gap(GRPO, MEL, 120)" of="points"}'
