"""What a reader chooses of a live figure: a step, a run, a difference, smoothing, another x."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from browser.conftest import SAVED, opened
from browser.figure_pages import make_runs
from browser.live import (
    ALIVE,
    box_of,
    choose,
    click,
    copied_state,
    drag,
    faded,
    figure_of,
    follow,
    key_of,
    line,
    pinned,
    point_at,
    press,
    readings,
    said,
    save,
    tap,
    tool,
    tooltip_rows,
    wake,
    x_labels,
    y_labels,
)
from browser.live import interval as ends_of
from reportgen.statistics.curves.points import smooth

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Pool, Sites, Tabs

pytestmark = pytest.mark.browser

COPY = "Copy a number of this step with the expression it comes from"
DIFFERENCE = "Difference of the two series shown"
_RUN_PLACE = """(figure, [series, run, index]) => {
  const live = window.reportgenLive;
  const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
  const one = new live.Data(payload).series.find(({ name }) => name === series);
  const { steps, values } = one.runs.find(({ name }) => name === run);
  return [live.fraction(payload.x, steps[index]), 1 - live.fraction(payload.y, values[index])];
}"""


# ---- a step that is pinned ------------------------------------------------------------------------


def test_two_steps_are_compared(tabs: Tabs) -> None:
    """A click pins a step, others show the change from it, a second click ends it; so do keys and links."""
    tab = tabs.open("points", script=SAVED, served=True)
    figure = wake(tab, "points")
    click(figure, 60 / 140)
    expect(said(figure)).to_have_text("Training step 60 is pinned")
    expect(figure.locator(".rg-pin")).to_be_visible()
    expect(pinned(figure)).to_contain_text("Training step 60 is pinned: other steps show the change from it.")
    point_at(figure, 120 / 140)
    rows = tooltip_rows(figure)
    assert rows[0] == ["Training step 120", "change from 60"]
    assert rows[1:3] == [["MEL", "0.840", "+0.030"], ["GRPO", "0.820", "+0.020"]]
    click(figure, 60 / 140)
    expect(pinned(figure)).to_have_count(0)
    point_at(figure, 120 / 140)
    assert tooltip_rows(figure)[1] == ["MEL", "0.840"]
    press(figure, "Home", "Enter")
    expect(said(figure)).to_have_text("Training step 0 is pinned")
    press(figure, "End")
    expect(said(figure)).to_have_text(re.compile(r"^Training step 140: (GRPO|MEL) 0\.820, \+0\.080 from 0, "))
    press(figure, "Escape")
    expect(pinned(figure)).to_have_count(0)
    click(figure, 60 / 140)
    state = copied_state(figure)
    assert state == "points~pin=60"
    pinned(figure).get_by_role("button", name="Unpin").click()
    follow(tab, state)
    expect(pinned(figure)).to_contain_text("Training step 60 is pinned")
    tab.keyboard.press("Escape")
    expect(pinned(figure)).to_have_count(0)


def test_a_pinned_value_is_copied_with_its_expression(tabs: Tabs) -> None:
    """Of each series and of the difference of two; what no expression can hold is not offered."""
    tab = tabs.open("points", script=SAVED, served=True)
    figure = wake(tab, "points")
    click(figure, 120 / 140)
    copied = []
    for words in ("MEL 0.840", "GRPO − MEL −0.020"):
        tool(figure, COPY).click()
        pinned(figure).get_by_role("button", name=words, exact=True).click()
        expect(said(figure)).to_contain_text("Copied [")
        copied.append(tab.evaluate("window.copied"))
    assert copied == [
        '[0.840]{value="at(MEL, 120)" of="points"}',
        '[−0.020]{value="gap(GRPO, MEL, 120)" of="points"}',
    ]
    tabs.go(tab, "hostile")
    figure = wake(tab, "hostile")
    click(figure, 0.5)
    tool(figure, COPY).click()
    choices = pinned(figure).locator(".rg-menu button")
    assert not any("<" in word for word in choices.all_text_contents())
    choices.filter(has_text="مرحبا").click()
    expect(said(figure)).to_contain_text("Copied [")
    assert "at('مرحبا', " in tab.evaluate("window.copied")


def test_fingers_pin_with_a_second_tap_and_reach_the_difference(tabs: Tabs) -> None:
    """The first one reads the step, and one at another step reads that; the pinned step offers the gap."""
    tab = tabs.open("points", touch=True, width=390, script=SAVED)
    figure = wake(tab, "points")
    for step in (60, 120):
        tap(figure, step / 140)
        assert tooltip_rows(figure)[0][0] == f"Training step {step}"
    expect(pinned(figure)).to_have_count(0)
    tap(figure, 120 / 140)
    expect(pinned(figure)).to_contain_text("Training step 120 is pinned")
    tool(figure, COPY).tap()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.keyboard.press("Escape")
    pinned(figure).get_by_role("button", name="Unpin").click()
    expect(pinned(figure)).to_have_count(0)
    tool(figure, DIFFERENCE).tap()
    tap(figure, 120 / 140)
    assert tooltip_rows(figure)[0][0] == "Training step 120"
    tap(figure, 120 / 140)
    tool(figure, COPY).tap()
    pinned(figure).locator(".rg-menu").get_by_role("button").tap()
    expect(said(figure)).to_contain_text("Copied [")
    assert tab.evaluate("window.copied") == '[−0.020]{value="gap(GRPO, MEL, 120)" of="points"}'


# ---- single runs ----------------------------------------------------------------------------------


def test_a_click_on_a_thin_line_isolates_its_run(tabs: Tabs) -> None:
    """The line stands out, the others go, the box reads it, and a link shows it again; R leads on."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    runs, alone = figure.locator(".rg-live .runs_marks path"), r"run ([A-E])-\d of \1"
    across, down = figure.evaluate(_RUN_PLACE, ["A", "A-3", 10])
    point_at(figure, across, down)
    expect(figure.locator(".rg-run-line")).to_be_visible()
    name = figure.locator(".rg-of-run .rg-name").text_content()
    click(figure, across, down)
    expect(said(figure)).to_have_text(re.compile(rf"^Showing {alone}$"))
    expect(pinned(figure)).to_have_count(0)
    assert faded(figure) == 4
    assert runs.count() == 1
    point_at(figure, 0.9, 0.9)
    assert figure.locator(".rg-of-run .rg-name").all_text_contents() == [name]
    state = copied_state(figure)
    assert re.fullmatch(r"dense~run=([A-E])-\d@\1", state)
    tab.keyboard.press("Escape")
    key_of(figure, "A").click()
    assert runs.count() == 25
    follow(tab, state)
    expect(line(figure)).to_have_text(re.compile(rf"^Showing {alone}\.$"))
    assert runs.count() == 1
    tool(figure, "Show everything").click()
    expect(figure.locator(".rg-run-line")).to_be_hidden()
    press(figure, "ArrowDown")
    for words in [*(f"Showing run A-{n} of A" for n in range(5)), "Showing all series"]:
        press(figure, "r")
        expect(said(figure)).to_have_text(words)


def test_rows_of_runs_and_their_lines_are_linked_both_ways(tabs: Tabs) -> None:
    """Pointing at a row shows its line, pointing at a line marks its row, and the link isolates it."""
    tab = tabs.open("runs")
    row = tab.locator("#runs tbody tr").nth(3)
    row.hover()
    figure = figure_of(tab, "dense")
    expect(figure).to_have_class(ALIVE)
    tab.mouse.move(2, 2)
    row.hover()
    expect(figure.locator(".rg-run-line.rg-slot-0")).to_be_visible()
    expect(row).to_have_class(re.compile("rg-chosen"))
    tab.mouse.move(2, 2)
    expect(figure.locator(".rg-run-line")).to_be_hidden()
    figure.scroll_into_view_if_needed()
    point_at(figure, *figure.evaluate(_RUN_PLACE, ["A", "A-3", 10]))
    expect(tab.locator("#runs tbody tr.rg-chosen")).to_have_count(1)
    row.get_by_role("link").click()
    tab.mouse.move(2, 2)
    expect(line(figure)).to_have_text("Showing run A-3 of A.")
    expect(row).to_have_class(re.compile("rg-chosen"))


# ---- the difference of two series -----------------------------------------------------------------


def shades(figure: Locator) -> list[tuple[float, float]]:
    """The shaded parts of a plot, in fractions of its width."""
    box = box_of(figure.locator(".rg-surface"))
    parts = [box_of(part) for part in figure.locator(".rg-live .excluding_marks path").all()]
    edges = [(part["x"] - box["x"], part["right"] - box["x"]) for part in parts]
    return [(start / box["width"], end / box["width"]) for start, end in edges]


def test_the_difference_is_that_of_the_box(tabs: Tabs) -> None:
    """Value and interval of the row that both lines have; shaded where, and only where, 0 is not inside."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    button = tool(figure, DIFFERENCE)
    expect(button).to_be_hidden()
    press(figure, "d")
    expect(said(figure)).to_have_text("A difference needs two series: choose them in the legend")
    key_of(figure, "A").click()
    key_of(figure, "E").click(modifiers=["Shift"])
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
    assert shades(figure)
    button.click()
    expect(said(figure)).to_have_text("Showing A and E")
    assert figure.locator(".rg-live .excluding_marks").count() == 0
    point_at(figure, 0.3)
    assert tooltip_rows(figure)[-1] == row
    # It ends where one of the two is left out.
    button.click()
    figure.locator(".rg-legend").get_by_role("button").nth(4).press("Enter")
    expect(button).to_be_hidden()
    assert figure.locator(".rg-live .excluding_marks").count() == 0
    expect(figure.locator(".rg-live .lines_marks path")).to_have_count(5)


def test_shades_are_where_the_box_says(tabs: Tabs) -> None:
    """At each step that is read, there is a shade if and only if the interval excludes 0."""
    tab = tabs.open("dense", fragment="#dense~series=B,C~difference=1")
    figure = wake(tab, "dense")
    expect(line(figure)).to_have_text("Showing B and C, the difference B − C.")
    parts = shades(figure)
    seen = set()
    for (head, *_), (_, _, words) in readings(figure, [n / 100 for n in range(2, 99, 4)]):
        low, high = ends_of(words)
        step = int(head.removeprefix("step ").replace(",", ""))
        inside = any(start - 1e-3 <= step / 1490 <= end + 1e-3 for start, end in parts)
        assert inside == (low > 0 or high < 0) or min(abs(low), abs(high)) < 0.001
        seen.add(inside)
    assert seen == {True, False}


def test_a_difference_of_single_runs_and_of_percentages(tabs: Tabs, tmp_path: Path) -> None:
    """No shade where nothing is known of it, steps of one only are left out; ticks in points, as the box."""
    tab = tabs.open("points", served=True)
    figure = wake(tab, "points")
    press(figure, "d")
    expect(said(figure)).to_have_text("Showing GRPO minus MEL")
    assert not shades(figure)
    for key, words in (
        ("End", "Training step 140: GRPO − MEL 0.000"),
        ("ArrowLeft", "Training step 120: GRPO − MEL −0.020"),
        ("ArrowLeft", re.compile("^Training step 80")),
        ("D", "Showing GRPO and MEL"),
    ):
        press(figure, key)
        expect(said(figure)).to_have_text(words)
    tabs.go(tab, "percent")
    figure = wake(tab, "percent")
    assert all(label.endswith("%") for label in y_labels(figure))
    tool(figure, DIFFERENCE).click()
    title = figure.locator(".rg-live .role-axis-title text").last
    expect(title).to_have_text("ours − base (percentage points)")
    assert y_labels(figure)[0] == "0"
    assert not any("%" in label for label in y_labels(figure))
    point_at(figure, 0.99)
    assert tooltip_rows(figure)[-1][1:] == ["+12 points"]
    svg = save(figure, "SVG picture", tmp_path).read_text("utf-8")
    assert "percentage points" in svg
    assert "%</text>" not in svg
    tool(figure, DIFFERENCE).click()
    assert all(label.endswith("%") for label in y_labels(figure))


def test_links_zoom_and_pictures_of_a_difference(tabs: Tabs, tmp_path: Path) -> None:
    """The link shows the same, y fits while zoomed, and the picture has shades and the name."""
    tab = tabs.open("dense", script=SAVED, served=True, fragment="#dense~series=A,E~difference=1")
    figure = wake(tab, "dense")
    expect(line(figure)).to_contain_text("the difference A − E")
    whole = x_labels(figure), y_labels(figure)
    state = copied_state(figure)
    assert state == "dense~series=A,E~difference=1"
    press(figure, "End", "+")
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


# ---- smoothing and another x ----------------------------------------------------------------------


def test_lines_are_smoothed_as_the_build_does(tabs: Tabs) -> None:
    """Value and unsmoothed value at a step, a faint line, no band; the author's choice brings all back."""
    figure = wake(tabs.open("dense"), "dense")
    point_at(figure, 0.5)
    before = tooltip_rows(figure)
    choose(figure, "Smooth the lines", "Weight 0.9")
    expect(said(figure)).to_have_text("Lines with weight 0.9")
    words = "Lines with weight 0.9; the page has no smoothing. No band, as it would need every run."
    expect(pinned(figure).locator("span").first).to_have_text(words)
    key_of(figure, "A").click()
    point_at(figure, 0.5, 0.99)
    mean = make_runs(0, 5, 150).mean(axis=0)
    expected = smooth(np.arange(0, 1500, 10.0), mean, 0.9)
    head, row, *_ = tooltip_rows(figure)
    at = 74 if head[0] == "step 740" else 75
    assert row[0] == "A"
    assert float(row[1]) == pytest.approx(expected[at], abs=6e-4)
    assert row[2] == f"unsmoothed {mean[at]:.3f}"
    assert figure.locator(".rg-live .reader_raw_marks path").count() == 5
    key_of(figure, "A").click()
    tool(figure, "As on the page").click()
    expect(pinned(figure)).to_have_count(0)
    assert figure.locator(".rg-live .reader_raw_marks").count() == 0
    point_at(figure, 0.5)
    assert tooltip_rows(figure) == before
    tool(figure, "Smooth the lines").focus()
    for key in ("Enter", "Tab", "Enter"):
        figure.page.keyboard.press(key)
    expect(said(figure)).to_have_text("Lines with weight 0.3")


def test_a_link_keeps_the_smoothing(tabs: Tabs) -> None:
    """And says it in words; the difference of two series is that of the smoothed lines."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    choose(figure, "Smooth the lines", "Weight 0.6")
    state = copied_state(figure)
    assert state == "dense~smooth=0.6"
    tool(figure, "As on the page").click()
    follow(tab, state)
    expect(line(figure)).to_have_text("Showing lines smoothed with 0.6.")
    expect(pinned(figure)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(pinned(figure)).to_have_count(0)
    follow(tab, "dense~series=A,E~smooth=0.6~difference=1")
    expect(line(figure)).to_have_text("Showing A and E, the difference A − E, lines smoothed with 0.6.")
    point_at(figure, 0.5)
    assert len(tooltip_rows(figure)[1]) == 2
    tabs.go(tab, "points")  # eight steps have nothing to smooth
    expect(tool(wake(tab, "points"), "Smooth the lines")).to_have_count(0)


def ticks(figure: Locator) -> list[str]:
    """Numbers of the axes."""
    return sorted(figure.locator(".rg-live .role-axis-label text").all_text_contents())


def test_lines_are_shown_over_the_chosen_x(pool: Pool, sites: Sites, example_site: Path) -> None:
    """The same values at another place; a zoom belongs to its axis; links keep both."""
    name, menu = "choice-of-x", "Choose the x axis"
    with opened(pool, sites.find(example_site)) as tabs:
        tab = tabs.open("guide/curve/index", script=SAVED, served=True)
        figure = wake(tab, name)
        before = ticks(figure)
        point_at(figure, 0.995)
        own = tooltip_rows(figure)
        assert own[0][0] == "step 1,199"
        drag(figure, 0.2, 0.6)
        choose(figure, menu, "samples")
        expect(said(figure)).to_have_text("Lines by samples")
        expect(pinned(figure).locator("span").first).to_have_text("By samples; the page has step.")
        expect(tool(figure, "Reset zoom")).to_be_hidden()
        point_at(figure, 0.995)
        rows = tooltip_rows(figure)
        assert rows[0][0] == "samples 76,736"
        assert rows[1:] == own[1:]
        choose(figure, menu, "epoch")
        point_at(figure, 0.995)
        assert tooltip_rows(figure)[0][0] == "epoch 11"
        tool(figure, "As on the page").click()
        expect(pinned(figure)).to_have_count(0)
        tool(figure, "Reset zoom").click()
        expect(tool(figure, "Reset zoom")).to_be_hidden()
        assert ticks(figure) == before
        choose(figure, menu, "samples")
        drag(figure, 0.2, 0.6)
        state = copied_state(figure)
        assert re.fullmatch(rf"{name}~x=.*~over=samples", state)
        tool(figure, "As on the page").click()
        follow(tab, state)
        expect(line(figure)).to_contain_text("the lines by samples")
        expect(tool(figure, "Reset zoom")).to_be_visible()
        assert copied_state(figure) == state
        tab.keyboard.press("Escape")
        expect(pinned(figure)).to_have_count(0)
        follow(tab, f"{name}~over=nothing")  # shows the author's
        expect(line(figure)).to_have_count(0)
    assert tabs.complaints == []
