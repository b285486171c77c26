"""What readers do with a live figure, and what they see of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import Locator, Page, expect

from browser.conftest import wait_until

if TYPE_CHECKING:
    from pathlib import Path

ALIVE = re.compile("rg-is-live")
ZOOMED = re.compile("rg-is-zoomed")
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
# What the tooltip says with the pointer at each of these fractions of the plot's width.
_READINGS = """async (figure, [fractions, down]) => {
  const surface = figure.querySelector(".rg-surface");
  const { left, top, width, height } = surface.getBoundingClientRect();
  const frame = () => new Promise((shown) => requestAnimationFrame(shown)), said = [];
  for (const across of fractions) {
    const place = { clientX: left + across * width, clientY: top + down * height };
    surface.dispatchEvent(new PointerEvent("pointermove", { ...place, bubbles: true, pointerType: "mouse" }));
    await frame();
    await frame();
    const rows = [...figure.querySelector(".rg-tooltip").children];
    said.push(rows.map((row) => [...row.children].map((cell) => cell.textContent).filter(Boolean)));
  }
  return said;
}"""
_TOOLTIP = """async (tooltip) => {
  await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
  return [...tooltip.children].map((row) => [...row.children].map((cell) => cell.textContent));
}"""


def figure_of(tab: Page, name: str) -> Locator:
    """A figure by its id."""
    return tab.locator(f"#{name}")


def wake(tab: Page, name: str) -> Locator:
    """A figure, alive."""
    figure = figure_of(tab, name)
    figure.scroll_into_view_if_needed()
    figure.dispatch_event("pointermove")
    expect(figure).to_have_class(ALIVE)
    expect(figure.locator(".rg-toolbar")).to_be_attached()
    return figure


def box_of(part: Locator) -> dict[str, float]:
    """Where a part is in the window, in pixels; it must be shown."""
    box = part.bounding_box()
    assert box, part
    x, y, width, height = box["x"], box["y"], box["width"], box["height"]
    return {"x": x, "y": y, "width": width, "height": height, "right": x + width, "bottom": y + height}


def point_at(figure: Locator, across: float, down: float = 0.5) -> None:
    """Move the pointer to a fraction of the plot's width and height."""
    box = box_of(figure.locator(".rg-surface"))
    figure.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])


def click(figure: Locator, across: float, down: float = 0.95) -> None:
    """Click on a place of the plot, in fractions from its top left."""
    point_at(figure, across, down)
    figure.page.mouse.down()
    figure.page.mouse.up()


def double_click(figure: Locator) -> None:
    """Click twice on the plot."""
    box = box_of(figure.locator(".rg-surface"))
    figure.page.mouse.dblclick(box["x"] + 200, box["y"] + 100)


def tap(figure: Locator, across: float, down: float = 0.9) -> None:
    """Touch a place of the plot, in fractions from its top left."""
    box = box_of(figure.locator(".rg-surface"))
    figure.page.touchscreen.tap(box["x"] + across * box["width"], box["y"] + down * box["height"])


def drag(
    figure: Locator,
    start: float | tuple[float, float],
    end: float | tuple[float, float],
    *,
    boxed: bool = False,
) -> None:
    """Drag from one place of the plot to another, in fractions from its top left; a box with Shift."""
    keyboard, mouse = figure.page.keyboard, figure.page.mouse
    (x, y), (right, bottom) = (one if isinstance(one, tuple) else (one, 0.5) for one in (start, end))
    if boxed:
        keyboard.down("Shift")
    point_at(figure, x, y)
    mouse.down()
    point_at(figure, (x + right) / 2, (y + bottom) / 2)
    point_at(figure, right, bottom)
    mouse.up()
    if boxed:
        keyboard.up("Shift")


def press(figure: Locator, *keys: str) -> None:
    """Press keys, on the plot from the first one on."""
    figure.locator(".rg-surface").focus()
    for key in keys:
        figure.page.keyboard.press(key)


def tooltip_rows(figure: Locator) -> list[list[str]]:
    """The words of the tooltip, row by row, its head first, in the frame after the pointer has moved."""
    tooltip = figure.locator(".rg-tooltip")
    expect(tooltip).to_be_visible()
    return [[cell for cell in row if cell] for row in tooltip.evaluate(_TOOLTIP)]


def readings(figure: Locator, fractions: list[float], down: float = 0.5) -> list[list[list[str]]]:
    """The words of the tooltip at each of these fractions of the plot's width, as ``tooltip_rows``."""
    found: list[list[list[str]]] = figure.evaluate(_READINGS, [fractions, down])
    return found


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


def x_numbers(figure: Locator) -> list[int]:
    """The numbers at the ticks of the live x axis."""
    return [int(word.replace(",", "")) for word in x_labels(figure)]


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


def key_of(figure: Locator, name: str) -> Locator:
    """The button of a series in the legend."""
    return figure.locator(".rg-legend").get_by_role("button", name=name, exact=True)


def choose(figure: Locator, menu: str, words: str) -> None:
    """Choose something in a menu of the toolbar."""
    tool(figure, menu).click()
    figure.locator(".rg-menu:visible").get_by_role("button", name=words, exact=True).click()


def said(figure: Locator) -> Locator:
    """What a screen reader is told."""
    return figure.get_by_role("status")


def line(figure: Locator) -> Locator:
    """The words below the plot that say what a link shows."""
    return figure.locator(".rg-state > span")


def pinned(figure: Locator) -> Locator:
    """The line below the plot about what the reader chose: the step that is pinned, the x, the smoothing."""
    return figure.locator(".rg-pinned")


def faded(figure: Locator) -> int:
    """How many lines have stepped back."""
    strokes = "paths => paths.filter(one => (one.getAttribute('stroke') || '').includes('color-mix')).length"
    found: int = figure.locator(".rg-live .lines_marks path").evaluate_all(strokes)
    return found


def follow(tab: Page, state: str) -> None:
    """Go to a fragment as a link on the page does."""
    tab.evaluate("state => { location.hash = state; }", state)


def fragment(tab: Page) -> str:
    """The address behind its #."""
    return str(tab.evaluate("location.hash"))


def copied_state(figure: Locator, words: str = "Copy a link to this figure") -> str:
    """The fragment that the button of a figure copies; the page was opened with ``SAVED``."""
    figure.page.evaluate("window.copied = null")
    tool(figure, words).click()
    wait_until(figure.page, "window.copied")
    return str(figure.page.evaluate("window.copied")).partition("#")[2]


def ring_place(figure: Locator) -> tuple[float, float]:
    """The middle of the ring, as fractions of the plot's width and height from its top left."""
    ring, plot = (box_of(figure.locator(part)) for part in (".rg-state-ring", ".rg-surface"))
    x, y = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    return (x - plot["x"]) / plot["width"], (y - plot["y"]) / plot["height"]


def save(figure: Locator, words: str, folder: Path) -> Path:
    """Download something from a figure's menu."""
    tool(figure, "Download").click()
    with figure.page.expect_download() as download:
        figure.locator(".rg-menu").get_by_text(words).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def interval(words: str) -> tuple[float, float]:
    """The ends of an interval in words."""
    low, high = (float(end) for end in words.replace("−", "-").strip("[]").split(", "))
    return low, high
