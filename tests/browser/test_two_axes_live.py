"""A live figure of two y axes: each line is read on its own axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect
from unpacked_payload import unpack_payload

from browser.test_link_state import ring_place
from browser.test_live import drag, point_at, said, save, tool, tooltip_rows, wake

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

NAMES = {"loss": ["one · loss", "two · loss"], "right": ["one · accuracy (right)", "two · accuracy (right)"]}


def read_payload(figure: Locator) -> dict[str, Any]:
    """The numbers that the figure was made of."""
    text = figure.locator(".rg-payload").text_content()
    assert text
    return unpack_payload(text)


def list_labels(figure: Locator) -> list[str]:
    """The words at the ticks of every live axis: of x, of the left and of the right one."""
    words = figure.locator(".rg-live .role-axis-label text").all_text_contents()
    return [word for word in words if word]


def test_each_line_is_read_on_its_own_axis(tabs: Tabs) -> None:
    """Values, intervals and dots are those of a line's axis; those of the right axis come last."""
    figure = wake(tabs.open("two-axes"), "two-axes")
    point_at(figure, 0.5)
    head, *rows = tooltip_rows(figure)
    assert head == ["step 50", "95% CI, n = 3"]
    assert sorted(row[0] for row in rows[:2]) == NAMES["loss"]
    assert sorted(" ".join(row[:2]) for row in rows[2:]) == NAMES["right"]
    values = {" ".join(row[:-2]): float(row[-2]) for row in rows}
    for name in ("one", "two"):
        # The losses of the page are 3 - 2.5 times the accuracies.
        expected = 3 - 2.5 * values[f"{name} · accuracy (right)"]
        assert values[f"{name} · loss"] == pytest.approx(expected, abs=0.01)
    for row in rows:
        value, half = float(row[-2]), 0.02 if "(right)" in row else 0.1
        low, high = (float(end) for end in row[-1].strip("[]").split(", "))
        assert (low, high) == pytest.approx((value - half, value + half), abs=0.011)


def test_dots_are_at_the_heights_of_their_axes(tabs: Tabs) -> None:
    """A dot is where its axis has its value."""
    figure = wake(tabs.open("two-axes"), "two-axes")
    payload = read_payload(figure)
    point_at(figure, 0.5)
    surface = figure.locator(".rg-surface").bounding_box()
    assert surface
    dots = figure.locator(".rg-dot")
    for number, one in enumerate(payload["series"]):
        low, high = payload["right" if one.get("right") else "y"]["domain"]
        dot = dots.nth(number).bounding_box()
        assert dot
        height = (1 - (one["y"][5] - low) / (high - low)) * surface["height"]
        assert dot["y"] + dot["height"] / 2 - surface["y"] == pytest.approx(height, abs=1.5)


def test_a_marked_point_is_on_the_axis_of_its_line(tabs: Tabs) -> None:
    """A link to a point of the right axis has its ring at that value, and its words say it."""
    tab = tabs.open("two-axes", fragment="#two-axes~mark=50@two%20·%20accuracy")
    figure = wake(tab, "two-axes")
    payload = read_payload(figure)
    low, high = payload["right"]["domain"]
    (one,) = [row for row in payload["series"] if row["name"] == "two · accuracy"]
    expect(figure.locator(".rg-state")).to_contain_text(f"{one['y'][5]:.3f}")
    assert ring_place(figure)[1] == pytest.approx(1 - (one["y"][5] - low) / (high - low), abs=0.01)


def test_a_log_axis_is_the_left_one(tabs: Tabs) -> None:
    """The right axis and its lines stay where they are, and zooming keeps both."""
    figure = wake(tabs.open("two-axes"), "two-axes")
    lines = ".rg-live .right_lines_marks path"
    paths = "paths => paths.map(path => path.getAttribute('d'))"
    before, labels = figure.locator(lines).evaluate_all(paths), list_labels(figure)
    left = figure.locator(".rg-live .lines_marks path").first.get_attribute("d")
    tool(figure, "Logarithmic left axis").click()
    expect(figure.locator(".rg-live .lines_marks path").first).not_to_have_attribute("d", left or "")
    assert figure.locator(lines).evaluate_all(paths) == before
    right = [f"{tick:.1f}" for tick in read_payload(figure)["right"]["ticks"]]
    assert list_labels(figure)[-len(right) :] == right == labels[-len(right) :]
    drag(figure, 0.2, 0.8)
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0][0] == "step 50"


def test_a_screen_reader_and_a_saved_picture_name_the_axis(tabs: Tabs, tmp_path: Path) -> None:
    """What has no colour or place to tell the axis by says it in words."""
    tab = tabs.open("two-axes")
    figure = wake(tab, "two-axes")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("ArrowRight")
    for name in (*NAMES["loss"], *NAMES["right"]):
        expect(said(figure)).to_contain_text(name)
    picture = save(figure, "SVG picture", tmp_path).read_text("utf-8")
    for name in (*NAMES["loss"], *NAMES["right"]):
        assert f">{name}</text>" in picture
