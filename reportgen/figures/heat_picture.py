"""The static picture of a heat map: a row for each series, a column for each problem, the hardest last.

A row is as wide as its place: a nested ``svg`` stretches it, in which one path a step of colour holds all its
cells. So 600 problems of 20 series are some hundred elements and not 12 000. The distance of rows is the same
in wide figures, where names stand left of them, and in narrow ones, where the style sheet puts names
(``rg-heat-name``) above cells of half the height (``rg-heat-cells``). So a pointer's height tells its row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.heat_map import LEVELS, format_bound
from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.row_names import WIDEST_NAME, cut_label
from reportgen.figures.svg_text import escape_text
from reportgen.figures.text_width import measure_text
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from reportgen.figures.heat_map import HeatMap
    from reportgen.figures.score_context import ScoreContext
    from reportgen.model import IntArray

PITCH = 34
"""Distance of rows in pixels: room for a name above cells of half that height."""
BELOW = 52
"""Room under the rows for the words of the axis and the key of colours."""
INK = "var(--rg-series-1)"
OPACITIES = (0.1, 0.25, 0.39, 0.53, 0.68, 0.84, 1.0)
"""One a level; opacity over the page's own ground works in light and in dark."""
_CELL = 10
"""Drawing units of a cell, across and down; the picture stretches them."""
_SEPARATE = 120
"""Up to so many columns a gap stands between cells."""


def measure_heat_height(heat: HeatMap) -> int:
    """Height of the rows in pixels."""
    return PITCH * len(heat.series)


def measure_left_margin(heat: HeatMap) -> int:
    """Room for the names left of the rows, in whole eights, as the style sheet's margins are."""
    widest = max((measure_text(cut_label(name, WIDEST_NAME), LABEL_SIZE) for name in heat.series), default=0)
    return min(200, max(16, 8 * math.ceil((widest + 12) / 8)))


def draw_heat_map(heat: HeatMap, context: ScoreContext, figure_id: str) -> str:
    """The fluid picture for a page, labelled by the figure's title and summary."""
    labels = escape_text(f"{figure_id}-title {figure_id}-summary")
    return (
        f'<svg class="rg-picture rg-heat" role="img" aria-labelledby="{labels}" width="100%" '
        f'height="{measure_heat_height(heat)}" font-size="{TICK_SIZE}" data-rg-columns="problems">'
        f'<rect class="rg-cells" width="100%" height="{measure_heat_height(heat)}" fill="none"/>'
        f"{draw_heat_body(heat, context)}</svg>"
    )


def draw_heat_body(heat: HeatMap, context: ScoreContext, *, alive: bool = True) -> str:
    """The picture's elements, as wide as their place; ``alive`` lets a page isolate a series."""
    rows = (_draw_row(heat, place, alive=alive) for place in range(len(heat.series)))
    return "".join([*rows, *_draw_axis(heat), *_draw_key(heat, context)])


def _draw_row(heat: HeatMap, place: int, *, alive: bool) -> str:
    name, top = heat.series[place], PITCH * place
    return (
        f"<g{_of(name) if alive else ''}>"
        f'<text class="rg-heat-name" x="-10" y="{top + 22}" text-anchor="end" font-size="{LABEL_SIZE}" '
        f'fill="var(--rg-text)">{escape_text(cut_label(" ".join(name.split()), WIDEST_NAME))}</text>'
        f'<svg y="{top}" width="100%" height="{PITCH}">'
        f'<svg class="rg-heat-cells" y="1" width="100%" height="{PITCH - 2}" preserveAspectRatio="none" '
        f'viewBox="0 0 {_CELL * len(heat.columns)} {_CELL}" fill="none" stroke="{INK}">'
        f"{''.join(_draw_cells(heat.level[place]))}</svg></svg></g>"
    )


def _of(name: str) -> str:
    return f' data-rg-series="{escape_text(name)}"'


def _draw_cells(levels: IntArray) -> Iterator[str]:
    """One path a level; a stroke as wide as the row is a third of the text of a rectangle."""
    gap = 1 if levels.size <= _SEPARATE else 0
    for level in range(LEVELS):
        data = _write_cells_path(levels == level, gap)
        if data:
            yield f'<path stroke-opacity="{OPACITIES[level]:g}" stroke-width="{_CELL}" d="{data}"/>'
    missing = _write_cells_path(levels < 0, gap)
    if missing:
        # A thin line where a cell would be: it is not drawn as if it were a score.
        yield f'<path stroke="var(--rg-series-muted)" stroke-width="0.8" d="{missing}"/>'


def _write_cells_path(chosen: npt.NDArray[np.bool_], gap: int) -> str:
    """Path data of the chosen cells; neighbours without a gap between them are one line."""
    places = np.flatnonzero(chosen)
    if not places.size:
        return ""
    if gap:
        return "".join(f"M{_CELL * place} 5h{_CELL - gap}" for place in places.tolist())
    breaks = np.flatnonzero(np.diff(places) > 1)
    starts = places[np.concatenate([[0], breaks + 1])].tolist()
    ends = places[np.concatenate([breaks, [places.size - 1]])].tolist()
    runs = zip(starts, ends, strict=True)
    return "".join(f"M{_CELL * start} 5h{_CELL * (end - start + 1)}" for start, end in runs)


def _draw_axis(heat: HeatMap) -> Iterator[str]:
    y = measure_heat_height(heat) + 17
    middle = format_count(heat.problems, "problem")
    if heat.shared > 1:
        middle += f", {heat.shared} a column"
    yield '<g class="rg-x-labels" fill="var(--rg-muted)">'
    yield f'<text x="0" y="{y}">easiest</text><text x="50%" y="{y}" text-anchor="middle">{middle}</text>'
    yield f'<text x="100%" y="{y}" text-anchor="end">hardest</text></g>'


def _draw_key(heat: HeatMap, context: ScoreContext) -> Iterator[str]:
    """The steps of colour between the lowest and the highest score, those that are drawn."""
    used = [level for level in range(LEVELS) if (heat.level == level).any()]
    shown = range(LEVELS) if any(0 < level < LEVELS - 1 for level in used) else (0, LEVELS - 1)
    y = measure_heat_height(heat) + 34
    low, high = format_bound(context.lowest, context), format_bound(context.highest, context)
    x = measure_text(low, TICK_SIZE) + 6
    yield f'<g class="rg-heat-key" fill="var(--rg-muted)"><text x="0" y="{y + 10}">{escape_text(low)}</text>'
    for level in shown:
        yield f'<rect x="{x:.0f}" y="{y}" width="17" height="12" fill="{INK}" '
        yield f'fill-opacity="{OPACITIES[level]:g}"/>'
        x += 18
    yield f'<text x="{x + 5:.0f}" y="{y + 10}">{escape_text(high)}</text>'
    if (heat.level < 0).any():
        x += measure_text(high, TICK_SIZE) + 26
        yield f'<rect x="{x:.0f}" y="{y + 5}" width="17" height="2" fill="var(--rg-series-muted)"/>'
        yield f'<text x="{x + 22:.0f}" y="{y + 10}">missing</text>'
    yield "</g>"
