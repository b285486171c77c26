"""The reader's smoothing: the numbers of the build's own, named when the author's is left, kept in links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from browser.figure_pages import make_runs
from browser.test_link_state import follow, line
from browser.test_linked_live import SAVED, copied_state
from browser.test_live import point_at, said, tool, tooltip_rows, wake
from reportgen.statistics.curves.points import smooth

if TYPE_CHECKING:
    from browser.conftest import Tabs

pytestmark = pytest.mark.browser


def choose(figure: Locator, words: str) -> None:
    """Choose a weight in the menu."""
    tool(figure, "Smooth the lines").click()
    figure.locator(".rg-menu:visible").get_by_role("button", name=words, exact=True).click()


def left(figure: Locator) -> Locator:
    """The line that says what the page has."""
    return figure.locator(".rg-pinned")


def test_lines_are_smoothed_as_the_build_does(tabs: Tabs) -> None:
    """Value and unsmoothed value at a step, a faint line, no band; the author's choice brings all back."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    point_at(figure, 0.5)
    before = tooltip_rows(figure)
    choose(figure, "Weight 0.9")
    expect(said(figure)).to_have_text("Lines with weight 0.9")
    words = "Lines with weight 0.9; the page has no smoothing. No band, as it would need every run."
    expect(left(figure).locator("span").first).to_have_text(words)
    figure.get_by_role("button", name="A", exact=True).click()
    point_at(figure, 0.5, 0.99)
    mean = make_runs(0, 5, 150).mean(axis=0)
    expected = smooth(np.arange(0, 1500, 10.0), mean, 0.9)
    at = 74 if tooltip_rows(figure)[0][0] == "step 740" else 75
    row = tooltip_rows(figure)[1]
    assert row[0] == "A"
    assert float(row[1]) == pytest.approx(expected[at], abs=6e-4)
    assert row[2] == f"unsmoothed {mean[at]:.3f}"
    assert figure.locator(".rg-live .reader_raw_marks path").count() == 5
    figure.get_by_role("button", name="A", exact=True).click()
    tool(figure, "As on the page").click()
    expect(left(figure)).to_have_count(0)
    assert figure.locator(".rg-live .reader_raw_marks").count() == 0
    point_at(figure, 0.5)
    assert tooltip_rows(figure) == before


def test_a_link_keeps_the_smoothing(tabs: Tabs) -> None:
    """And says it in words; the difference of two series is that of the smoothed lines."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    choose(figure, "Weight 0.6")
    state = copied_state(figure)
    assert state == "dense~smooth=0.6"
    tool(figure, "As on the page").click()
    follow(tab, state)
    expect(line(figure)).to_have_text("Showing lines smoothed with 0.6.")
    expect(left(figure)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(left(figure)).to_have_count(0)
    follow(tab, "dense~series=A,E~smooth=0.6~difference=1")
    expect(line(figure)).to_have_text("Showing A and E, the difference A − E, lines smoothed with 0.6.")
    point_at(figure, 0.5)
    assert len(tooltip_rows(figure)[1]) == 2


def test_keys_reach_the_smoothing(tabs: Tabs) -> None:
    """The menu is a button of the toolbar, and its choices are one after the other."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    tool(figure, "Smooth the lines").focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(said(figure)).to_have_text("Lines with weight 0.3")


def test_short_lines_are_not_smoothed(tabs: Tabs) -> None:
    """Eight steps have nothing to smooth."""
    figure = wake(tabs.open("points"), "points")
    expect(tool(figure, "Smooth the lines")).to_have_count(0)
