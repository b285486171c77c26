"""A step can be pinned and compared with others and copied as a bound value, and a run read alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from browser.test_link_state import faded, follow, line
from browser.test_linked_live import SAVED, copied_state
from browser.test_live import figure_of, point_at, said, tool, tooltip_rows, wake

if TYPE_CHECKING:
    from browser.conftest import Tabs

pytestmark = pytest.mark.browser


def click(figure: Locator, across: float, down: float = 0.95) -> None:
    """Click on a place of the plot, in fractions from its top left."""
    point_at(figure, across, down)
    figure.page.mouse.down()
    figure.page.mouse.up()


def pinned(figure: Locator) -> Locator:
    """The line below the plot about the step that is pinned."""
    return figure.locator(".rg-pinned")


def test_two_steps_are_compared(tabs: Tabs) -> None:
    """A click pins a step, other steps show the change from it, and a second click takes it away."""
    figure = wake(tabs.open("points"), "points")
    click(figure, 60 / 140)
    expect(said(figure)).to_have_text("Training step 60 is pinned")
    expect(figure.locator(".rg-pin")).to_be_visible()
    expect(pinned(figure)).to_contain_text("Training step 60 is pinned: other steps show the change from it.")
    point_at(figure, 120 / 140)
    rows = tooltip_rows(figure)
    assert rows[0] == ["Training step 120", "change from 60"]
    assert rows[1] == ["MEL", "0.840", "+0.030"]
    assert rows[2] == ["GRPO", "0.820", "+0.020"]
    click(figure, 60 / 140)
    expect(pinned(figure)).to_have_count(0)
    point_at(figure, 120 / 140)
    assert tooltip_rows(figure)[1] == ["MEL", "0.840"]


def test_a_step_is_pinned_and_compared_by_keys(tabs: Tabs) -> None:
    """Enter pins, changes are read out, Escape ends it."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("Enter")
    expect(said(figure)).to_have_text("Training step 0 is pinned")
    tab.keyboard.press("End")
    expect(said(figure)).to_have_text(re.compile(r"^Training step 140: (GRPO|MEL) 0\.820, \+0\.080 from 0, "))
    tab.keyboard.press("Escape")
    expect(pinned(figure)).to_have_count(0)


def test_fingers_pin_with_a_second_tap(tabs: Tabs) -> None:
    """The first one reads the step, and one at another step reads that."""
    tab = tabs.open("points", touch=True, width=390)
    figure = wake(tab, "points")
    box = figure.locator(".rg-surface").bounding_box()
    assert box

    def tap(step: int) -> None:
        tab.touchscreen.tap(box["x"] + step / 140 * box["width"], box["y"] + 0.9 * box["height"])

    tap(60)
    assert tooltip_rows(figure)[0][0] == "Training step 60"
    tap(120)
    assert tooltip_rows(figure)[0][0] == "Training step 120"
    expect(pinned(figure)).to_have_count(0)
    tap(120)
    expect(pinned(figure)).to_contain_text("Training step 120 is pinned")
    tool(figure, "Copy a number of this step with the expression it comes from").tap()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.keyboard.press("Escape")
    pinned(figure).get_by_role("button", name="Unpin").click()
    expect(pinned(figure)).to_have_count(0)


def test_a_link_keeps_what_is_pinned(tabs: Tabs) -> None:
    """And its words end where the reader pins another step."""
    tab = tabs.open("points", script=SAVED, served=True)
    figure = wake(tab, "points")
    click(figure, 60 / 140)
    state = copied_state(figure)
    assert state == "points~pin=60"
    pinned(figure).get_by_role("button", name="Unpin").click()
    follow(tab, state)
    expect(pinned(figure)).to_contain_text("Training step 60 is pinned")
    tab.keyboard.press("Escape")
    expect(pinned(figure)).to_have_count(0)


def test_a_pinned_value_is_copied_with_its_expression(tabs: Tabs) -> None:
    """Of each series, and of the difference of two."""
    tab = tabs.open("points", script=SAVED, served=True)
    figure = wake(tab, "points")
    click(figure, 120 / 140)
    copy = tool(figure, "Copy a number of this step with the expression it comes from")
    copied = []
    for words in ("MEL 0.840", "GRPO − MEL −0.020"):
        copy.click()
        pinned(figure).get_by_role("button", name=words, exact=True).click()
        expect(said(figure)).to_contain_text("Copied [")
        copied.append(tab.evaluate("window.copied"))
    assert copied == [
        '[0.840]{value="at(MEL, 120)" of="points"}',
        '[−0.020]{value="gap(GRPO, MEL, 120)" of="points"}',
    ]


def test_names_that_an_expression_cannot_hold_are_not_offered(tabs: Tabs) -> None:
    """What is offered can be pasted; names with spaces or other letters are in quotes."""
    tab = tabs.open("hostile", script=SAVED, served=True)
    figure = wake(tab, "hostile")
    click(figure, 0.5)
    tool(figure, "Copy a number of this step with the expression it comes from").click()
    choices = pinned(figure).locator(".rg-menu button")
    words = choices.all_text_contents()
    assert not any("<" in word for word in words)
    choices.filter(has_text="مرحبا").click()
    expect(said(figure)).to_contain_text("Copied [")
    assert "at('مرحبا', " in tab.evaluate("window.copied")


# ---- single runs ----------------------------------------------------------------------------------


def place_of_run(figure: Locator, series: str, run: str, index: int) -> tuple[float, float]:
    """Where the line of a run stands at a step, in fractions of the plot from the top left."""
    found = figure.evaluate(
        """(figure, [series, run, index]) => {
          const live = window.reportgenLive;
          const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
          const one = new live.Data(payload).series.find(({ name }) => name === series);
          const { steps, values } = one.runs.find(({ name }) => name === run);
          return [live.fraction(payload.x, steps[index]), 1 - live.fraction(payload.y, values[index])];
        }""",
        [series, run, index],
    )
    return found[0], found[1]


def test_a_click_on_a_thin_line_isolates_its_run(tabs: Tabs) -> None:
    """The line stands out, the others go, the box reads it, and a link shows the same."""
    tab = tabs.open("dense", script=SAVED, served=True)
    figure = wake(tab, "dense")
    place = place_of_run(figure, "A", "A-3", 10)
    point_at(figure, *place)
    expect(figure.locator(".rg-run-line")).to_be_visible()
    name = figure.locator(".rg-of-run .rg-name").text_content()
    click(figure, *place)
    expect(said(figure)).to_have_text(re.compile(r"^Showing run ([A-E])-\d of \1$"))
    expect(pinned(figure)).to_have_count(0)
    assert faded(figure) == 4
    assert figure.locator(".rg-live .runs_marks path").count() == 1
    point_at(figure, 0.9, 0.9)
    assert figure.locator(".rg-of-run .rg-name").all_text_contents() == [name]
    state = copied_state(figure)
    assert re.fullmatch(r"dense~run=([A-E])-\d@\1", state)
    tab.keyboard.press("Escape")
    figure.get_by_role("button", name="A", exact=True).click()
    assert figure.locator(".rg-live .runs_marks path").count() == 25
    follow(tab, state)
    expect(line(figure)).to_have_text(re.compile(r"^Showing run ([A-E])-\d of \1\.$"))
    assert figure.locator(".rg-live .runs_marks path").count() == 1
    tool(figure, "Show everything").click()
    expect(figure.locator(".rg-run-line")).to_be_hidden()


def test_keys_lead_from_run_to_run(tabs: Tabs) -> None:
    """R shows the runs of the chosen series one by one."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    figure.locator(".rg-surface").focus()
    tab.keyboard.press("ArrowDown")
    for words in [*(f"Showing run A-{n} of A" for n in range(5)), "Showing all series"]:
        tab.keyboard.press("r")
        expect(said(figure)).to_have_text(words)


def test_rows_of_runs_and_their_lines_are_linked_both_ways(tabs: Tabs) -> None:
    """Pointing at a row shows its line, pointing at a line marks its row, and the link isolates it."""
    tab = tabs.open("runs")
    row = tab.locator("#runs tbody tr").nth(3)
    row.hover()
    figure = figure_of(tab, "dense")
    expect(figure).to_have_class(re.compile("rg-is-live"))
    tab.mouse.move(2, 2)
    row.hover()
    expect(figure.locator(".rg-run-line.rg-slot-0")).to_be_visible()
    expect(row).to_have_class(re.compile("rg-chosen"))
    tab.mouse.move(2, 2)
    expect(figure.locator(".rg-run-line")).to_be_hidden()
    figure.scroll_into_view_if_needed()
    point_at(figure, *place_of_run(figure, "A", "A-3", 10))
    chosen = tab.locator("#runs tbody tr.rg-chosen")
    expect(chosen).to_have_count(1)
    row.get_by_role("link").click()
    tab.mouse.move(2, 2)
    expect(line(figure)).to_have_text("Showing run A-3 of A.")
    expect(row).to_have_class(re.compile("rg-chosen"))


def test_rows_of_a_table_are_filtered(tabs: Tabs) -> None:
    """Those that have every word are left, the link keeps the words, and a short table has no filter."""
    tab = tabs.open("runs", script=SAVED, served=True)
    table = tab.locator("#runs")
    rows = table.locator("tbody tr:visible")
    expect(rows).to_have_count(10)
    field = table.get_by_role("searchbox", name="Filter the rows of this table")
    field.fill("b 3")
    expect(rows).to_have_count(1)
    expect(table.get_by_text("1 of 10 rows")).to_be_visible()
    table.get_by_role("button", name="Cite or copy this table").click()
    table.locator(".rg-menu:visible").get_by_text("Copy link to this table").click()
    tab.wait_for_function("window.copied")
    state = tab.evaluate("window.copied").partition("#")[2]
    assert state == "runs~rows=b%203"
    field.fill("")
    expect(rows).to_have_count(10)
    tab.evaluate("state => { location.hash = state; }", state)
    expect(rows).to_have_count(1)
    expect(tabs.open("results").get_by_role("searchbox")).to_have_count(0)


def test_a_link_keeps_the_order_of_a_table(tabs: Tabs) -> None:
    """With the words of its filter; a link without an order shows the first one."""
    tab = tabs.open("runs", script=SAVED, served=True)
    table = tab.locator("#runs")
    seeds, head = table.locator("tbody tr:visible td"), table.get_by_role("columnheader", name="seed")
    head.get_by_role("button").click()
    table.get_by_role("searchbox").fill("b")
    expect(seeds).to_have_text(list("43210"))
    table.get_by_role("button", name="Cite or copy this table").click()
    table.locator(".rg-menu:visible").get_by_text("Copy link to this table").click()
    tab.wait_for_function("window.copied")
    state = tab.evaluate("window.copied").partition("#")[2]
    assert state == "runs~rows=b~sort=descending@seed"
    for address, order, sort in (("runs~rows=b", "01234", None), (state, "43210", "descending")):
        tab.evaluate("address => { location.hash = address; }", address)
        expect(seeds).to_have_text(list(order))
        assert head.get_attribute("aria-sort") == sort
