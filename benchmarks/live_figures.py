"""Measures live figures in Chromium: what loading blocks, the first tooltip, reading values, and scrolling.

    python benchmarks/live_figures.py [--times 9] [--folder DIR]

Pages are opened from disk, each time in a new profile, so nothing is compiled or cached. Times in
milliseconds are medians; on a busy machine compare them with the empty Vega view, which is measured in the
same run.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import run, table
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

_REPORT = "site_name: Measured\ndocs_dir: content\ntheme: {name: reportgen}\nplugins: [search, reportgen]\n"
# Series, seeds, steps and figures of each page.
_PAGES = {"figure": (5, 5, 1000, 1), "many-series": (20, 1, 1000, 1), "many-figures": (5, 5, 1000, 30)}
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
_NO_IDLE = "window.requestIdleCallback = () => 0;"
_NOTE_TASKS = """
window.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((task) => task.duration)))
  .observe({ type: "longtask", buffered: true });
"""
# From the first event over the plot to the first task after the frame in which the tooltip is shown.
_TIME_TOOLTIP = """() => new Promise((done) => {
  const figure = document.querySelector(".rg-figure");
  const after = new MessageChannel();
  let start = null;
  after.port1.onmessage = () => done(performance.now() - start);
  const look = (_, observer) => {
    const tooltip = figure.querySelector(".rg-tooltip");
    if (!tooltip || tooltip.hidden) return;
    observer.disconnect();
    after.port2.postMessage(null);
  };
  new MutationObserver(look).observe(figure, { subtree: true, childList: true, attributeFilter: ["hidden"] });
  figure.addEventListener("pointerover", (event) => (start ??= event.timeStamp), { capture: true });
})"""
_FIND_MIDDLE = """(surface) => {
  const { left, top, width, height } = surface.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""
# What a move of the pointer costs: its events, what they do in the next frame, and the layout after it.
_TIME_MOVES = """async (count) => {
  const surface = document.querySelector(".rg-surface");
  const box = surface.getBoundingClientRect();
  const frame = window.requestAnimationFrame;
  let spent = 0;
  window.requestAnimationFrame = (act) => frame((time) => {
    const start = performance.now();
    act(time);
    document.body.getBoundingClientRect();
    spent += performance.now() - start;
  });
  const times = [];
  for (let i = 0; i < count; i++) {
    const place = { clientX: box.left + (box.width * (i + 0.5)) / count, clientY: box.top + box.height / 2 };
    const start = performance.now();
    surface.dispatchEvent(new PointerEvent("pointermove", { ...place, bubbles: true }));
    spent = performance.now() - start;
    await new Promise((done) => frame(() => frame(done)));
    times.push(spent);
  }
  return times;
}"""
_TIME_EMPTY_VIEW = """(url) => new Promise((done, failed) => {
  const start = performance.now();
  const script = document.createElement("script");
  script.src = url;
  script.onerror = failed;
  script.onload = async () => {
    const options = { renderer: "svg", container: document.body, expr: vega.expressionInterpreter };
    const empty = { width: 100, height: 100, marks: [] };
    await new vega.View(vega.parse(empty, null, { ast: true }), options).runAsync();
    requestAnimationFrame(() => done(performance.now() - start));
  };
  document.head.append(script);
})"""


def write_report(folder: Path) -> None:
    """Write a report with a page for each of ``_PAGES``."""
    (folder / "content").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "mkdocs.yml").write_text(_REPORT, encoding="utf-8")
    (folder / "content/index.md").write_text("# Empty\n", encoding="utf-8")
    rng = np.random.default_rng(0)
    for name, (series, seeds, steps, figures) in _PAGES.items():
        with (folder / f"data/{name}.csv").open("w", encoding="utf-8") as file:
            file.write("series,seed,step,loss\n")
            for one in range(series):
                level = np.exp(-np.arange(steps) / (200 + 20 * one))
                for seed in range(seeds):
                    values = level + rng.normal(0, 0.02, steps)
                    file.writelines(
                        f"series {one},{seed},{10 * step},{value:.4f}\n" for step, value in enumerate(values)
                    )
        block = f"```curve\nsource: {name}\nid: figure-{{}}\n```\n\n"
        page = f"# {name}\n\n" + "".join(block.format(number) for number in range(figures))
        (folder / f"content/{name}.md").write_text(page, encoding="utf-8")


class Pages:
    """Opens pages of a site from disk, each in a new profile."""

    def __init__(self, browser: Browser, site: Path) -> None:
        self.browser, self.site = browser, site

    def measure(self, name: str, script: str, act: Callable[[Page], Any]) -> Any:  # noqa: ANN401 - what ``act`` gives
        """Open a page, with a script that runs before its own, and return what ``act`` measures there."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        tab = context.new_page()
        tab.add_init_script(_NOTE_TASKS + script)
        tab.goto((self.site / name / "index.html").as_uri())
        measured = act(tab)
        context.close()
        return measured


def _sum_blocking(tab: Page) -> float:
    """What loading a page blocks beyond 50 ms a task, before anything is woken."""
    tab.wait_for_timeout(500)
    tasks: list[float] = tab.evaluate("tasks")
    return sum(max(0, task - 50) for task in tasks)


def _measure_tooltip(tab: Page) -> tuple[float, float]:
    """Time from the pointer to the first tooltip, and the longest task in it."""
    tab.wait_for_timeout(300)
    tab.evaluate("tasks.length = 0")
    x, y = tab.locator(".rg-surface").first.evaluate(_FIND_MIDDLE)
    tab.evaluate(f"() => {{ window.measured = ({_TIME_TOOLTIP})(); }}")
    for away in range(2000):
        tab.mouse.move(x + away % 40, y)
        if tab.locator(".rg-tooltip:visible").count():
            break
    waited = tab.evaluate("measured")
    tab.wait_for_timeout(200)
    return waited, max(tab.evaluate("tasks"), default=0)


def _measure_moves(tab: Page) -> tuple[float, float]:
    """The median and the slowest of 45 moves of the pointer over a live figure, after five others."""
    tab.locator(".rg-is-live .rg-toolbar").first.wait_for(state="attached")
    times: list[float] = tab.evaluate(_TIME_MOVES, 50)[5:]
    return statistics.median(times), max(times)


def _measure_scrolling(tab: Page) -> float:
    """The longest task while a page is scrolled from top to bottom, and figures wake where it stops."""
    tab.wait_for_timeout(300)
    tab.evaluate("tasks.length = 0")
    tab.mouse.move(640, 450)
    while tab.evaluate("scrollY + innerHeight < document.documentElement.scrollHeight - 1"):
        tab.mouse.wheel(0, 300)
        tab.wait_for_timeout(30)
    tab.wait_for_timeout(500)
    return max(tab.evaluate("tasks"), default=0)


def measure_rows(pages: Pages, times: int) -> Iterator[tuple[str, str, str]]:
    """Yield rows of what is measured, its median with the extremes, and the limit."""
    vega = next(pages.site.rglob("vega.js")).as_uri()

    def repeat(name: str, script: str, act: Callable[[Page], Any]) -> list[Any]:
        return [pages.measure(name, script, act) for _ in range(times)]

    empty = repeat(".", "", lambda tab: tab.evaluate(_TIME_EMPTY_VIEW, vega))
    yield _row("empty Vega view, for comparison", empty)
    yield _row("loading, blocked beyond 50 ms", repeat("figure", _NO_IDLE, _sum_blocking), "0")
    waits = repeat("figure", _NO_IDLE, _measure_tooltip)
    yield _row("pointer to first tooltip, 5 x 5 x 1000", [wait for wait, _ in waits], "150")
    yield _row("  longest task in it", [task for _, task in waits], "50")
    moves = repeat("many-series", "", _measure_moves)
    yield _row("a move of the pointer, 20 x 1000", [median for median, _ in moves], "16")
    yield _row("  slowest of 45", [slowest for _, slowest in moves])
    scrolled = repeat("many-figures", "", _measure_scrolling)
    yield _row("scrolling 30 figures, longest task", scrolled, "50")


def _row(what: str, times: list[float], limit: str = "") -> tuple[str, str, str]:
    return what, f"{statistics.median(times):.0f} ({min(times):.0f} to {max(times):.0f})", limit


def main() -> None:
    """Build the pages, open them, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where the report is kept")
    wanted = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    finder = importlib.import_module("find_chromium")
    if (path := finder.find_chromium()) is None:
        sys.exit(finder.what_is_missing("nothing was installed"))
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = wanted.folder or Path(temporary) / "report"
        write_report(folder)
        run([sys.executable, "-m", "reportgen", "build"], folder)
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        rows = measure_rows(Pages(browser, folder / "site"), wanted.times)
        print(table(("measured", "ms", "limit"), rows))
        browser.close()


if __name__ == "__main__":
    main()
