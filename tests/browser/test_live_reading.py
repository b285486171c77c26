"""Live figures are read by pointer, finger and keyboard: what the tooltip and a screen reader say."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect
from unpacked_payload import unpack_payload

from browser.conftest import NO_IDLE, resize
from browser.figure_pages import make_runs, pass_at_k
from browser.live import (
    box_of,
    double_click,
    drag,
    interval,
    key_of,
    names_in_tooltip,
    point_at,
    press,
    readings,
    ring_place,
    said,
    save,
    tool,
    tooltip_rows,
    wake,
    x_labels,
)

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

KS = (1, 2, 4, 8, 16, 24)
_RUN_HEIGHT = """(p, x) => { for (let n = 0; n < 600; n++) {
  const at = p.getPointAtLength(n * p.getTotalLength() / 600);
  if (at.x >= x) return at.y; } }"""
_OUTLINES = """(figure, [root, parts]) => parts.flatMap(part =>
  [...figure.querySelectorAll(`${root} ${part}`)]
    .map(node => node.getBoundingClientRect())
    .map(box => [box.left, box.top, box.right, box.bottom])
    .sort((a, b) => a[1] - b[1] || a[0] - b[0]))"""


# ---- by pointer -----------------------------------------------------------------------------------


def test_tooltip_lists_every_series_at_the_nearest_step(tabs: Tabs) -> None:
    """Largest first, with value, interval and number of runs, a dot each, and a rule; inside the window."""
    tab = tabs.open("dense")
    figure = wake(tab, "dense")
    point_at(figure, 0.5)
    head, *rows = tooltip_rows(figure)
    assert head == ["step 740", "95% CI, n = 5"]
    assert sorted(row[0] for row in rows) == list("ABCDE")
    values = [float(row[1]) for row in rows]
    assert values == sorted(values, reverse=True)
    for _, value, ends in rows:
        around = (float(value) - 0.02, float(value) + 0.02)
        assert interval(ends) == pytest.approx(around, abs=0.0011)
    expect(figure.locator(".rg-dot:visible")).to_have_count(5)
    rule, surface = (box_of(figure.locator(part)) for part in (".rg-rule", ".rg-surface"))
    assert rule["x"] - surface["x"] == pytest.approx(surface["width"] * 740 / 1490, abs=1)
    for width in (1280, 390):
        resize(tab, width)
        expect(figure.locator(".rg-live .ends_marks text")).to_have_count(5 if width == 1280 else 0)
        for across in (0.001, 0.5, 0.999):
            point_at(figure, across)
            assert tooltip_rows(figure)  # it stands where the pointer is
            box = box_of(figure.locator(".rg-tooltip"))
            assert box["x"] >= 0
            assert box["right"] <= width
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


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
    double_click(figure)
    assert figure.page.evaluate("String(getSelection())") == ""


def test_two_series_have_a_difference_and_nothing_is_interpolated(tabs: Tabs) -> None:
    """First minus second, whichever is larger, with an interval where both have one."""
    figure = wake(tabs.open("points"), "points")
    point_at(figure, 120 / 140)
    assert tooltip_rows(figure)[1:] == [["MEL", "0.840"], ["GRPO", "0.820"], ["−", "difference", "−0.020"]]
    point_at(figure, 30 / 140)  # where only MEL was read
    assert tooltip_rows(figure) == [["Training step 30"], ["MEL", "0.760"], ["GRPO", "no value"]]
    figure.page.mouse.move(1, 1)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()
    figure = wake(tabs.open("dense"), "dense")
    point_at(figure, 0.5)
    expect(figure.locator(".rg-difference")).to_have_count(0)
    key_of(figure, "B").click()
    key_of(figure, "D").click(modifiers=["Shift"])
    point_at(figure, 0.5)
    *_, (_, words, value, ends) = rows = tooltip_rows(figure)
    values = {row[0]: float(row[1]) for row in rows if row[0] in "BD"}
    assert words == "difference"
    assert float(value.replace("−", "-")) == pytest.approx(values["B"] - values["D"], abs=0.0011)
    low, high = interval(ends)
    assert high - low == pytest.approx(2 * 0.02 * 2**0.5, abs=0.0021)


def test_single_runs_are_read(tabs: Tabs) -> None:
    """The run under the pointer has name, seed and value; a series alone has all of its runs."""
    figure = wake(tabs.open("dense"), "dense")
    lines = figure.locator(".rg-tooltip-row.rg-of-run")
    key_of(figure, "E").click()
    point_at(figure, 0.5, 0.02)
    runs = make_runs(4, 5, 150)[:, 74]
    shown = [row for row in tooltip_rows(figure) if row[0].startswith("run ")]
    order = sorted(range(5), key=lambda n: -runs[n])
    assert shown == [[f"run E-{n}", f"seed {n}", f"{runs[n]:.3f}"] for n in order]
    key_of(figure, "E").click()
    point_at(figure, 0.5, 0.02)
    expect(lines).to_have_count(0)
    box = box_of(figure.locator(".rg-surface"))
    last = figure.locator(".rg-live .runs_marks path").last
    point_at(figure, 0.5, last.evaluate(_RUN_HEIGHT, 0.497 * box["width"]) / box["height"])
    expect(lines).to_have_count(1)
    tool(figure, "A thin line for each run").click()
    point_at(figure, 0.5, 0.5)
    expect(lines).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "few"),
    [
        ("decay", ["2.51e-5 [1.61e-5, 3.42e-5]", "1.42e-7 [9.1e-8, 1.93e-7]"]),
        ("wide", ["900", "3", "0.5200", "\u22120.0042", "3e-8", "0.0300 [0.0251, 0.0349]"]),
    ],
)
def test_the_tooltip_says_what_the_data_table_does(tabs: Tabs, name: str, few: list[str]) -> None:
    """At each step, with the interval: digits of the values, whatever the height of the plot."""
    figure = wake(tabs.open(name), name)
    rows = [row.locator("th, td").all_text_contents() for row in figure.locator(".rg-data tr").all()]
    header, *rows = rows
    places = [0.002 + 0.996 * place / (len(rows) - 1) for place in range(len(rows))]
    for row, (_, *read) in zip(rows, readings(figure, places), strict=True):
        shown = {words[0]: " ".join(words[1:3]) for words in read if words[0] in header}
        assert shown == dict(zip(header[1:], row[1:], strict=True))
    assert set(few) <= {cell for row in rows for cell in row}


def test_a_smooth_curve_has_no_stairs_when_zoomed(tabs: Tabs) -> None:
    """Each of its values is below the one before."""
    figure = wake(tabs.open("smooth"), "smooth")
    drag(figure, 0.5, 0.6)
    path = figure.locator(".lines_marks path").first.get_attribute("d") or ""
    heights = [float(height) for height in re.findall(r"[ML][\d.-]+,([\d.-]+)", path)]
    assert len(heights) > 200
    assert all(before < after for before, after in pairwise(heights))


# ---- by finger and keyboard -----------------------------------------------------------------------


def test_fingers_read_and_hit_buttons(tabs: Tabs) -> None:
    """A tap reads a step, and one elsewhere ends it; a button answers 36 pixels high and 32 wide."""
    tab = tabs.open("points", width=390, touch=True)
    figure = wake(tab, "points")
    box = box_of(figure.locator(".rg-surface"))
    tab.touchscreen.tap(box["x"] + 2, box["y"] + 100)
    assert tooltip_rows(figure)[0] == ["Training step 0"]
    tab.touchscreen.tap(5, 5)
    expect(figure.locator(".rg-tooltip")).to_be_hidden()
    tabs.go(tab, "dense")
    figure = wake(tab, "dense")
    expect(figure.locator(".rg-toolbar")).to_have_css("opacity", "1")
    hit = """buttons => buttons.map((button) => {
      const { left, right, top, bottom, width } = button.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const over = dy => button.contains(document.elementFromPoint(x, y + dy));
      return [width >= 32, over(-17), over(17)]; })"""
    buttons = figure.locator(".rg-toolbar .rg-tool:visible")
    assert buttons.evaluate_all(hit) == [[True, True, True]] * buttons.count() != []


def test_long_names_keep_their_end_and_the_window(tabs: Tabs) -> None:
    """The middle of a name is cut, the whole name stays in the text; no tap widens the document."""
    tab = tabs.open("hostile", width=390, touch=True)
    figure = wake(tab, "hostile")
    for across in (0.9, 0.02, 0.5):
        box = box_of(figure.locator(".rg-surface"))
        tab.touchscreen.tap(box["x"] + across * box["width"], box["y"] + 100)
        expect(figure.locator(".rg-tooltip")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
    cut = figure.locator(".rg-tooltip .rg-cut").filter(has_text="xxxx")
    expect(cut).to_have_text("x" * 500)
    width, right, edge = figure.evaluate(
        """figure => {
          const tip = figure.querySelector(".rg-tooltip");
          const cut = [...tip.querySelectorAll(".rg-cut")].find((one) => one.textContent.includes("xxxx"));
          const { width, right } = [...cut.querySelectorAll("span")].pop().getBoundingClientRect();
          return [width, right, tip.getBoundingClientRect().right];
        }"""
    )
    assert width > 40
    assert right < edge


def test_keyboard_reads_values_out(tabs: Tabs) -> None:
    """Arrows step through x and series, and each reading is announced; the tooltip leaves the dots free."""
    tab = tabs.open("points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    for key, words in (
        ("ArrowRight", "Training step 0: GRPO 0.740, MEL 0.740, difference 0.000"),
        ("End", None),
        ("ArrowLeft", "Training step 120: MEL 0.840, GRPO 0.820, difference −0.020"),
        ("ArrowDown", "Training step 120: GRPO 0.820"),
        ("Home", "Training step 0: GRPO 0.740"),
    ):
        tab.keyboard.press(key)
        if words:
            expect(said(figure)).to_have_text(words)
    expect(figure.locator(".rg-rule")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-rule")).to_be_hidden()
    tabs.go(tab, "points")
    figure = wake(tab, "points")
    figure.locator(".rg-surface").focus()
    for key, above in (("End", False), ("Home", True)):
        tab.keyboard.press(key)
        tip = box_of(figure.locator(".rg-tooltip"))
        dots = [box_of(dot) for dot in figure.locator(".rg-dot:visible").all()]
        assert dots
        for dot in dots:
            assert (tip["bottom"] < dot["y"]) if above else (tip["y"] > dot["bottom"])


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


# ---- other axes -----------------------------------------------------------------------------------


def test_a_time_axis_is_in_utc_and_offers_only_what_it_has(tabs: Tabs) -> None:
    """Days are those of UTC wherever the reader is; no log axis below zero, no switch for nothing."""
    figure = wake(tabs.open("time"), "time")
    point_at(figure, 0.0)
    assert tooltip_rows(figure)[0][0] == "step 2023-11-14"
    for words in ("Logarithmic y axis", "A thin line for each run", "Band"):
        expect(tool(figure, words)).to_have_count(0)


def test_panels_are_read_together(tabs: Tabs) -> None:
    """One legend, toolbar and pointer; values in the others stand at the rule, none over another."""
    tab = tabs.open("panels")
    panels = [wake(tab, f"diag-{n}") for n in (1, 2, 3)]
    tops = "ps => ps.map(p => Math.round(p.getBoundingClientRect().top))"
    found = tab.locator("#diag .rg-plot").evaluate_all(tops)
    assert found == found[:1] * 3
    for across in (0.02, 0.5, 0.98):
        point_at(panels[1], across)
        rows = tooltip_rows(panels[1])
        assert rows[0][0] == {0.02: "step 0", 0.5: "step 15", 0.98: "step 30"}[across]
        values = sorted(row[1] for row in rows[1:] if row[0] in {"one", "two"})
        for panel in (panels[0], panels[2]):
            expect(panel.locator(".rg-tooltip")).to_be_hidden()
            shown = panel.locator(".rg-at-rule:visible")
            assert sorted(shown.all_text_contents()) == values
            plot = box_of(panel.locator(".rg-surface"))
            boxes = sorted((box_of(one) for one in shown.all()), key=lambda box: box["y"])
            for box in boxes:
                assert plot["x"] <= box["x"]
                assert box["right"] <= plot["right"]
            assert boxes[0]["bottom"] <= boxes[1]["y"] + 1
    tab.mouse.move(1, 1)
    expect(tab.locator(".rg-at-rule:visible")).to_have_count(0)
    tab.locator("#diag > .rg-legend").get_by_role("button", name="two").click()
    point_at(panels[0], 0.5)
    assert names_in_tooltip(panels[0]) == ["two"]
    for panel in panels[1:]:
        expect(panel.locator(".rg-at-rule:visible")).to_have_count(1)


# ---- pass@k against k -----------------------------------------------------------------------------


def place_of(k: float) -> float:
    """Where a k is on an axis that shows all ``KS`` in doublings; the very edge is already outside."""
    return min(0.999, max(0.001, float(np.log2(k) / np.log2(KS[-1]))))


def test_pass_at_k_is_drawn_as_in_the_still_picture(tabs: Tabs) -> None:
    """Ticks in doublings, and the outline of every line and band, in pixels, and of every symbol."""
    tab = tabs.open("passk", width=390, script=NO_IDLE)
    figure = tab.locator("#passk")
    words = figure.locator(".rg-plot > svg text")
    for width, ticks in ((390, ["1", "4", "16"]), (1280, ["1", "2", "4", "8", "16"])):
        resize(tab, width)
        shown = [word.text_content() for word in words.all() if word.is_visible()]
        assert {*ticks, "k", "pass@k (%)"} <= set(shown)
        assert ("8" in shown) == (width == 1280)
    parts = [".rg-line", ".rg-band", ".rg-symbols use"]
    still = figure.evaluate(_OUTLINES, [".rg-picture", parts])
    wake(tab, "passk")
    kinds = [".lines_marks path", ".bands_marks path", ".points_marks path"]
    alive = figure.evaluate(_OUTLINES, [".rg-live", kinds])
    assert len(alive) == 3 + 3 + 6 + 6 + 5
    assert np.array(alive) == pytest.approx(np.array(still), abs=1)


def test_pass_at_k_is_read_as_the_table_says(tabs: Tabs) -> None:
    """At every k: "k = 8", and of each series its cell, largest first; the nearest k is so in doublings."""
    tab, table = tabs.open("passk"), pass_at_k().table
    figure = wake(tab, "passk")
    found = readings(figure, [place_of(k) for k in KS])
    for k, row, (head, *read) in zip(KS, table.rows, found, strict=True):
        assert head == [f"k = {k}", "95% CI, n = 30"]
        cells = dict(zip(table.header, row, strict=True))
        assert cells["k"] == str(k)
        assert {name: " ".join(words) for name, *words in read} == {
            name: cells[name] or "no value" for name in ("large", "middle", "small")
        }
        values = [float(words[1].removesuffix("%")) for words in read if words[1] != "no value"]
        assert values == sorted(values, reverse=True)
    assert read[-1] == ["small", "no value"]
    heads = [rows[0][0] for rows in readings(figure, [place_of(k) for k in (8, 6, 5.5, 1.3)])]
    assert heads == ["k = 8", "k = 8", "k = 4", "k = 1"]
    press(figure, "Home", *["ArrowRight"] * 3)
    parts = [cell.split(" [") for cell in table.rows[3][1:]]
    names = ("large", "middle", "small")
    heard = ", ".join(f"{name} {part[0]}" for name, part in zip(names, parts, strict=True))
    expect(said(figure)).to_have_text(f"k = 8: {heard}")
    tab.keyboard.press("ArrowDown")
    low, high = parts[0][1].removesuffix("]").split(", ")
    expect(said(figure)).to_have_text(f"k = 8: large {parts[0][0]} from {low} to {high}")


def test_pass_at_k_is_zoomed_and_saved_in_whole_k(tabs: Tabs, tmp_path: Path) -> None:
    """Powers of two where there are enough, otherwise whole numbers; what is saved is what is seen."""
    figure = wake(tabs.open("passk", served=True), "passk")
    whole = x_labels(figure)
    assert whole == ["1", "2", "4", "8", "16"]
    svg = save(figure, "SVG", tmp_path).read_text(encoding="utf-8")
    for words in ("pass@k on AIME", "pass@k (%)", ">16</text>", ">k</text>"):
        assert words in svg
    drag(figure, 0.15, 0.9)
    expect(tool(figure, "Reset zoom")).to_be_visible()
    assert x_labels(figure) == ["2", "4", "8", "16"]
    drag(figure, 0.35, 0.65)
    assert x_labels(figure) == ["4", "5", "6", "7"]
    tool(figure, "Reset zoom").click()
    assert x_labels(figure) == whole


# ---- two y axes -----------------------------------------------------------------------------------

OF_AXIS = {
    "loss": ["one · loss", "two · loss"],
    "right": ["one · accuracy (right)", "two · accuracy (right)"],
}


def read_payload(figure: Locator) -> dict[str, Any]:
    """The numbers that the figure was made of."""
    return unpack_payload(figure.locator(".rg-payload").text_content() or "")


def test_each_line_is_read_on_its_own_axis(tabs: Tabs) -> None:
    """Values, intervals and dots are those of a line's axis; those of the right axis come last."""
    figure = wake(tabs.open("two-axes"), "two-axes")
    point_at(figure, 0.5)
    head, *rows = tooltip_rows(figure)
    assert head == ["step 50", "95% CI, n = 3"]
    assert sorted(row[0] for row in rows[:2]) == OF_AXIS["loss"]
    assert sorted(" ".join(row[:2]) for row in rows[2:]) == OF_AXIS["right"]
    values = {" ".join(row[:-2]): float(row[-2]) for row in rows}
    for name in ("one", "two"):
        # The losses of the page are 3 - 2.5 times the accuracies.
        expected = 3 - 2.5 * values[f"{name} · accuracy (right)"]
        assert values[f"{name} · loss"] == pytest.approx(expected, abs=0.01)
    for row in rows:
        value, half = float(row[-2]), 0.02 if "(right)" in row else 0.1
        assert interval(row[-1]) == pytest.approx((value - half, value + half), abs=0.011)
    payload, surface = read_payload(figure), box_of(figure.locator(".rg-surface"))
    for number, one in enumerate(payload["series"]):
        low, high = payload["right" if one.get("right") else "y"]["domain"]
        dot = box_of(figure.locator(".rg-dot").nth(number))
        height = (1 - (one["y"][5] - low) / (high - low)) * surface["height"]
        assert dot["y"] + dot["height"] / 2 - surface["y"] == pytest.approx(height, abs=1.5)


def test_the_right_axis_is_named_and_stays(tabs: Tabs, tmp_path: Path) -> None:
    """In words, in a saved picture and where a link marks a point; a log axis is the left one, zoomed too."""
    tab = tabs.open("two-axes", fragment="#two-axes~mark=50@two%20·%20accuracy")
    figure = wake(tab, "two-axes")
    payload = read_payload(figure)
    low, high = payload["right"]["domain"]
    (one,) = [row for row in payload["series"] if row["name"] == "two · accuracy"]
    expect(figure.locator(".rg-state")).to_contain_text(f"{one['y'][5]:.3f}")
    assert ring_place(figure)[1] == pytest.approx(1 - (one["y"][5] - low) / (high - low), abs=0.01)
    names = (*OF_AXIS["loss"], *OF_AXIS["right"])
    press(figure, "Escape", "Home")
    for name in names:
        expect(said(figure)).to_contain_text(name)
    picture = save(figure, "SVG picture", tmp_path).read_text("utf-8")
    assert all(f">{name}</text>" in picture for name in names)
    lines, left = (figure.locator(f".rg-live .{kind}_marks path") for kind in ("right_lines", "lines"))
    paths = "paths => paths.map(path => path.getAttribute('d'))"
    words = figure.locator(".rg-live .role-axis-label text")
    right = [f"{tick:.1f}" for tick in payload["right"]["ticks"]]
    before, drawn = lines.evaluate_all(paths), left.first.get_attribute("d") or ""
    assert list(filter(None, words.all_text_contents()))[-len(right) :] == right
    tool(figure, "Logarithmic left axis").click()
    expect(left.first).not_to_have_attribute("d", drawn)
    assert lines.evaluate_all(paths) == before
    assert list(filter(None, words.all_text_contents()))[-len(right) :] == right
    drag(figure, 0.2, 0.8)
    point_at(figure, 0.5)
    assert tooltip_rows(figure)[0][0] == "step 50"
