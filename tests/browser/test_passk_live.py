"""pass@k against k in a real browser: static picture and live view agree, and both count in doublings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from made_outcomes import matrix
from playwright.sync_api import expect

from browser.figure_pages import write_page
from browser.test_live import (
    NO_IDLE,
    PLACES,
    drag,
    figure_of,
    point_at,
    said,
    save,
    tool,
    tooltip_rows,
    wake,
    x_labels,
)
from reportgen.core.errors import SourceLocation
from reportgen.figures.plot import ScoreContext
from reportgen.figures.scores.pass_curve import draw_passk
from reportgen.settings.score_blocks import PasskSettings
from reportgen.statistics.scores import score_pass_at_k

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from browser.conftest import Site, Tabs
    from reportgen.core.model import Figure

pytestmark = pytest.mark.browser

KS = (1, 2, 4, 8, 16, 24)


@pytest.fixture(scope="module", autouse=True)
def drawn(figures_site: Site) -> Figure:
    """The figure of a page ``passk``: three series on 30 problems, two with 24 samples and one with 16."""
    rng = np.random.default_rng(20260101)
    ease = rng.beta(0.6, 0.4, size=30)[:, np.newaxis]
    scores = np.stack([rng.random((30, 24)) < ease**power for power in (1, 1.5, 3)]).astype(np.float64)
    scores[2, 5, 16:] = np.nan
    problems = matrix(scores, series=("large", "middle", "small"))
    slots = {name: place for place, name in enumerate(problems.series)}
    context = ScoreContext(
        place=SourceLocation("content/index.md", 1),
        slots=slots,
        source="made answers",
        benchmark="AIME",
        approximate=None,
        higher_is_better=True,
        lowest=0,
        highest=1,
    )
    made = draw_passk("passk", PasskSettings(), score_pass_at_k(problems), context, problems=problems)
    write_page(figures_site.folder, "passk", made)
    return made


def at_k(figure: Locator, k: float) -> None:
    """Move the pointer to a k on an axis that shows all ``KS`` in doublings."""
    # The very edge of the plot is already outside.
    point_at(figure, min(0.999, max(0.001, float(np.log2(k) / np.log2(KS[-1])))))


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves(tabs: Tabs, width: int) -> None:
    """Every word, line and neighbour stands within a pixel of where it stood when still."""
    tab = tabs.open("passk", width=width, script=NO_IDLE)
    tab.evaluate("document.fonts.ready")
    figure = figure_of(tab, "passk")
    still: list[list[Any]] = figure.evaluate(PLACES, arg=False)
    labels = [place[0] for place in still]
    ticks = ["1", "2", "4", "8", "16"][:: 1 if width == 1280 else 2]
    assert {*ticks, "k", "pass@k (%)"} <= set(labels)
    assert ("8" in labels) == (width == 1280)
    figure.dispatch_event("pointermove")
    expect(figure).to_have_class(re.compile("rg-is-live"))
    alive: list[list[Any]] = figure.evaluate(PLACES, arg=True)
    assert [place[0] for place in alive] == labels
    for was, now in zip(still, alive, strict=True):
        assert now[1:] == pytest.approx(was[1:], abs=1), was[0]


def test_lines_and_bands_are_those_of_the_still_picture(tabs: Tabs) -> None:
    """The outline of every line and band, in pixels, and the place of every symbol."""
    boxes = """(figure, [root, parts]) => parts.flatMap(part =>
      [...figure.querySelectorAll(`${root} ${part}`)]
        .map(node => node.getBoundingClientRect())
        .map(box => [box.left, box.top, box.right, box.bottom])
        .sort((a, b) => a[1] - b[1] || a[0] - b[0]))"""
    tab = tabs.open("passk", script=NO_IDLE)
    figure = figure_of(tab, "passk")
    still = figure.evaluate(boxes, [".rg-picture", [".rg-line", ".rg-band", ".rg-symbols use"]])
    wake(tab, "passk")
    kinds = [".lines_marks path", ".bands_marks path", ".points_marks path"]
    alive = figure.evaluate(boxes, [".rg-live", kinds])
    assert len(alive) == 3 + 3 + 6 + 6 + 5
    assert np.array(alive) == pytest.approx(np.array(still), abs=1)


def test_the_tooltip_says_what_the_table_says(tabs: Tabs, drawn: Figure) -> None:
    """At every k: "k = 8", and of each series the words of its cell in the data table, largest first."""
    figure = wake(tabs.open("passk"), "passk")
    for k, row in zip(KS, drawn.table.rows, strict=True):
        at_k(figure, k)
        expect(figure.locator(".rg-tooltip-head .rg-name")).to_have_text(f"k = {k}")
        head, *read = tooltip_rows(figure)
        assert head == [f"k = {k}", "95% CI, n = 30"]
        cells = dict(zip(drawn.table.header, row, strict=True))
        assert cells["k"] == str(k)
        assert {name: " ".join(words) for name, *words in read} == {
            name: cells[name] or "no value" for name in ("large", "middle", "small")
        }
        values = [float(words[1].removesuffix("%")) for words in read if words[1] != "no value"]
        assert values == sorted(values, reverse=True)
    assert read[-1] == ["small", "no value"]


def test_the_nearest_k_is_nearest_in_doublings(tabs: Tabs) -> None:
    """Half way between 4 and 16 stands 8, and 6 is nearer to 8 than to 4."""
    figure = wake(tabs.open("passk"), "passk")
    for pointed, read in ((8, 8), (6, 8), (5.5, 4), (1.3, 1)):
        at_k(figure, pointed)
        expect(figure.locator(".rg-tooltip-head .rg-name")).to_have_text(f"k = {read}")


def test_keyboard_reads_k_out(tabs: Tabs, drawn: Figure) -> None:
    """Arrows step through k, and values are said with their unit."""
    tab = tabs.open("passk")
    figure = wake(tab, "passk")
    figure.locator(".rg-surface").focus()
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    cells = [cell.split(" [") for cell in drawn.table.rows[3][1:]]
    names = ("large", "middle", "small")
    heard = ", ".join(f"{name} {cell[0]}" for name, cell in zip(names, cells, strict=True))
    expect(said(figure)).to_have_text(f"k = 8: {heard}")
    tab.keyboard.press("ArrowDown")
    low, high = cells[0][1].removesuffix("]").split(", ")
    expect(said(figure)).to_have_text(f"k = 8: large {cells[0][0]} from {low} to {high}")


def test_zoom_keeps_to_whole_k(tabs: Tabs) -> None:
    """Powers of two where there are enough, whole numbers where there are not, and all again after."""
    figure = wake(tabs.open("passk"), "passk")
    whole = x_labels(figure)
    assert whole == ["1", "2", "4", "8", "16"]
    drag(figure, 0.15, 0.9)
    expect(tool(figure, "Reset zoom")).to_be_visible()
    assert x_labels(figure) == ["2", "4", "8", "16"]
    drag(figure, 0.35, 0.65)
    assert x_labels(figure) == ["4", "5", "6", "7"]
    tool(figure, "Reset zoom").click()
    assert x_labels(figure) == whole


def test_saved_picture_has_the_same_ticks(tabs: Tabs, tmp_path: Path) -> None:
    """What is taken away is what is seen."""
    figure = wake(tabs.open("passk", served=True), "passk")
    svg = save(figure, "SVG", tmp_path).read_text(encoding="utf-8")
    for words in ("pass@k on AIME", "pass@k (%)", ">16</text>", ">k</text>"):
        assert words in svg


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_alive(tabs: Tabs, scheme: str) -> None:
    """axe-core has nothing to object to."""
    tab = tabs.open("passk", scheme=scheme, served=True)
    wake(tab, "passk")
    complaints = list(tabs.complaints)
    found = Axe().run(tab)
    tabs.complaints[:] = complaints  # axe-core itself asks for more than the policy allows
    assert found.violations_count == 0, found.generate_report()
