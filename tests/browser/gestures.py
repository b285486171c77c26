"""What readers do with a pointer, a finger and keys: commands of a session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PATIENCE = 30_000  # milliseconds after which a state is waited for in vain, on a busy machine, too
NO_IDLE = "window.requestIdleCallback = () => 0;"
# What is copied; an empty page has no clipboard.
SAVED = """if (navigator.clipboard)
  navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };"""
ROLE = re.compile(
    r"(button|link|searchbox|combobox|option|heading|columnheader|tooltip|navigation|dialog):(.*)"
)
_RUN_PLACE = """(figure, [series, run, step]) => {
  const live = window.reportgenLive;
  const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
  const one = new live.Data(payload).series.find(({ name }) => name === series);
  const { steps, values } = one.runs.find(({ name }) => name === run);
  const index = steps.indexOf(step);
  return [live.fraction(payload.x, step), 1 - live.fraction(payload.y, values[index])];
}"""
# What is folded under a figure or table is shown first.
_UNFOLD = """(all) => all.forEach((one) => {
  const inner = one.closest("summary")?.parentElement ?? one;
  inner.parentElement?.closest(".rg-foot details:not([open])")?.setAttribute("open", "");
})"""
_ROWS = """async (tooltip) => {
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  await frame();
  await frame();
  return [...tooltip.children].map((row) => (row.children.length ? [...row.children] : [row])
    .map((cell) => cell.textContent).filter(Boolean)); }"""


class Gestures:
    """Gestures in a tab, on the figure that was woken or watched last."""

    tab: Page
    _watched: list[str]

    # ---- where things are -------------------------------------------------------------------------

    @property
    def figure(self) -> Locator:
        """The part that was woken or watched last."""
        return self.tab.locator(f"[id='{self._watched[-1]}']")

    def find(self, target: str) -> Locator:
        """The first visible element that a target means."""
        scopes = ", ".join(f"[id='{one}']" for one in self._watched) or "body"
        if match := ROLE.fullmatch(target):
            role, name = match.groups()
            named = {"name": name, "exact": True} if name else {}
            inside = self.tab.locator(scopes).get_by_role(role, **named)  # type: ignore[arg-type]
            if not inside.count():
                folded = self.tab.locator(scopes).get_by_role(role, include_hidden=True, **named)  # type: ignore[arg-type]
                folded.evaluate_all(_UNFOLD)
        elif target.startswith("text:"):
            inside = self.tab.locator(scopes).get_by_text(target.removeprefix("text:"))
        else:
            inside = self.tab.locator(target)
            inside.evaluate_all(_UNFOLD)
        return inside.filter(visible=True).first

    def place(self, words: str) -> tuple[float, float]:
        """A place of a plot, in pixels of the window."""
        across, _, down = words.partition(",")
        box = box_of(self.figure.locator(".rg-surface"))
        return box["x"] + read_fraction(across) * box["width"], box["y"] + read_fraction(down or "0.5") * box[
            "height"
        ]

    # ---- pointer, finger, keys --------------------------------------------------------------------

    def do_point(self, place: str) -> None:
        """Move the pointer over the plot."""
        self.tab.mouse.move(*self.place(place))

    def do_point_run(self, series: str, run: str, step: str) -> None:
        """Move the pointer to the line of a run."""
        across, down = self.figure.evaluate(_RUN_PLACE, [series, run, float(step)])
        self.do_point(f"{across},{down}")

    def do_leave(self) -> None:
        """Move the pointer to the page's corner."""
        self.tab.mouse.move(1, 1)

    def do_down(self) -> None:
        """Press the pointer's button."""
        self.tab.mouse.down()

    def do_up(self) -> None:
        """Let the pointer's button go."""
        self.tab.mouse.up()

    def do_click_at(self, place: str, times: str = "1") -> None:
        """Click on a place of the plot."""
        self.do_point(place)
        wait_briefly(self.tab)  # what the pointer is over is read once a frame
        for count in range(1, int(times) + 1):
            self.tab.mouse.down(click_count=count)
            self.tab.mouse.up(click_count=count)

    def do_drag(self, start: str, end: str, key: str = "") -> None:
        """Drag over the plot, with a key held if one is named."""
        if key:
            self.tab.keyboard.down(key)
        (x, y), (right, bottom) = self.place(start), self.place(end)
        self.tab.mouse.move(x, y)
        self.tab.mouse.down()
        self.tab.mouse.move((x + right) / 2, (y + bottom) / 2)
        self.tab.mouse.move(right, bottom)
        self.tab.mouse.up()
        if key:
            self.tab.keyboard.up(key)

    def do_tap_at(self, place: str) -> None:
        """Touch a place of the plot."""
        self.tab.touchscreen.tap(*self.place(place))

    def do_tap_outside(self) -> None:
        """Touch the page's corner."""
        self.tab.touchscreen.tap(5, 5)

    def do_pinch(self, first: str, first_end: str, second: str, second_end: str) -> None:
        """Move two fingers, each from one place of the plot to another."""
        ways = [(self.place(first), self.place(first_end)), (self.place(second), self.place(second_end))]
        client = self.tab.context.new_cdp_session(self.tab)
        for kind, part in (("touchStart", 0.0), ("touchMove", 0.5), ("touchMove", 1.0), ("touchEnd", None)):
            touched = (
                []
                if part is None
                else [{"x": a + part * (c - a), "y": b + part * (d - b)} for (a, b), (c, d) in ways]
            )
            client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})
            wait_briefly(self.tab)  # what moves a finger comes once a frame
        client.detach()

    def do_keys(self, *keys: str) -> None:
        """Press keys on the plot."""
        self.figure.locator(".rg-surface").focus()
        self.do_press(*keys)

    def do_press(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        for key in keys:
            self.tab.keyboard.press(key)

    def do_click(self, target: str, *keys: str) -> None:
        """Click on a target, with keys held."""
        self.find(target).click(modifiers=list(keys))  # type: ignore[arg-type]

    def do_tap(self, target: str) -> None:
        """Touch a target."""
        self.find(target).tap()

    def do_hover(self, target: str) -> None:
        """Move the pointer over a target."""
        self.find(target).hover()

    def do_focus(self, target: str) -> None:
        """Give a target the focus."""
        self.find(target).focus()

    def do_fill(self, target: str, text: str) -> None:
        """Write into a field."""
        self.find(target).fill(text)

    def do_point_cell(self, row: str, column: str) -> None:
        """Move the pointer to a cell of a map: ``point-cell 1/4 0/40`` is the first of the second row."""
        box = box_of(self.figure.locator("svg.rg-heat"))
        (place, of), (across, wide) = (map(int, part.split("/")) for part in (row, column))
        x = box["x"] + (across + 0.5) / wide * box["width"]
        self.tab.mouse.move(x, box["y"] + (place + 0.5) / of * box["height"])

    def do_point_mark(self, words: str, number: str = "0") -> None:
        """Move the pointer to the middle of a mark whose tip begins with these words."""
        mark = self.figure.locator(f'.rg-mark[data-rg-tip^="{words}"]').nth(int(number))
        mark.scroll_into_view_if_needed()
        box = box_of(mark)
        self.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def do_click_mark(self, words: str) -> None:
        """Click on the middle of the first mark whose tip begins with these words."""
        self.do_point_mark(words)
        self.do_down()
        self.do_up()


def wait_briefly(page: Page) -> None:
    """Wait for the next frame, or a tenth of a second."""
    page.evaluate("new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 100); })")


def read_fraction(words: str) -> float:
    """Read a number, or a fraction like ``60/140``."""
    number, _, of = words.partition("/")
    return float(number) / float(of or 1)


def box_of(part: Locator) -> dict[str, float]:
    """Where a part is in the window, in pixels; it must be shown."""
    box = part.bounding_box()
    assert box, part
    x, y, width, height = box["x"], box["y"], box["width"], box["height"]
    return {"x": x, "y": y, "width": width, "height": height, "right": x + width, "bottom": y + height}


def read_rows(figure: Locator) -> list[list[str]]:
    """The words of the tooltip, row by row, in the frame after the pointer has moved."""
    tooltip = figure.locator(".rg-tooltip")
    tooltip.wait_for(state="visible")
    found: list[list[str]] = tooltip.evaluate(_ROWS)
    return found


def resize(page: Page, width: int, height: int = 900) -> None:
    """Give the window another size, and wait until the page has it, which may take some frames."""
    page.set_viewport_size({"width": width, "height": height})
    wait_until(page, f"innerWidth === {width}")


def wait_until(page: Page, condition: str) -> None:
    """Wait for a state of a page, also of one that draws no frames for a while.

    What Playwright has for it needs a policy that allows ``eval``.
    """
    page.evaluate(
        f"""async () => {{
          const end = performance.now() + {PATIENCE};
          while (!({condition})) {{
            if (performance.now() > end) throw new Error("waited in vain");
            await new Promise((next) => {{ requestAnimationFrame(next); setTimeout(next, 100); }});
          }}
        }}"""
    )
