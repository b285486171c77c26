"""The heat map of problem × series: its cells, its static picture and its Vega-Lite specification.

A row is as wide as its place: a nested ``svg`` stretches it, in which one path a step of colour holds all its
cells. So 600 problems of 20 series are some hundred elements and not 12 000. The distance of rows is the same
in wide figures, where names stand left of them, and in narrow ones, where the style sheet puts names
(``rg-heat-name``) above cells of half the height (``rg-heat-cells``). So a pointer's height tells its row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.core.words import format_count, format_number
from reportgen.figures.csv_text import escape_field
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.scores.wording import format_score, is_percent
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE, apply_house_style, resolve, resolve_specification
from reportgen.figures.text import WIDEST_NAME, cut_label, escape_text, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from reportgen.core.comparisons import ProblemGrid
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.figures.plot import ScoreContext


MOST_COLUMNS = 600
"""As many as the widest picture has pixels; more problems than these share a column with their neighbours."""
LEVELS = 7
"""Steps of colour: never, five fifths between, always. Never and always are what a reader looks for."""


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """A row for each of ``series`` and a column for each of ``columns``, the hardest problem last.

    Attributes:
        series: names, in order of first appearance.
        columns: the problem of each column, or the problems that share it.
        score: shape (series, columns), in the unit of the input; NaN where a series lacks the problem.
        samples: same shape; 0 where a series lacks the problem.
        level: same shape: step of colour from 0, the lowest score, to ``LEVELS`` - 1, the highest;
            -1 where a series lacks the problem.
        difficulty: shape (columns,), mean over the series that have the problem.
        shared: problems a column; the last column may have fewer.
        problems: how many there are.
    """

    series: tuple[str, ...]
    columns: tuple[str, ...]
    score: FloatArray
    samples: IntArray
    level: IntArray
    difficulty: FloatArray
    shared: int
    problems: int


def build_heat_map(grid: ProblemGrid, context: ScoreContext) -> HeatMap:
    """The heat map of a grid; neighbours by difficulty share a column where there are too many problems.

    A shared column has the mean score over its problems that the series answered, each counting once.
    """
    count = len(grid.problems)
    shared = max(1, math.ceil(count / MOST_COLUMNS))
    starts = np.arange(0, count, shared)
    known = np.isfinite(grid.score)
    answered = np.add.reduceat(known, starts, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.where(known, grid.score, 0.0), starts, axis=1)
    score: FloatArray = np.where(answered > 0, total / np.maximum(answered, 1), np.nan)
    return HeatMap(
        series=grid.series,
        columns=tuple(_column_name(grid.problems[start : start + shared]) for start in starts.tolist()),
        score=score,
        samples=np.add.reduceat(grid.samples, starts, axis=1),
        level=_levels(score, context.lowest, context.highest),
        difficulty=_reduce_difficulty(grid.difficulty, starts),
        shared=shared,
        problems=count,
    )


def build_heat_payload(heat: HeatMap, context: ScoreContext) -> dict[str, Any]:
    """What the browser needs to name a cell; see ``site/assets/live-marks.js`` for who reads it.

    ``score`` and ``samples`` are lists by series, ``tags`` says how hard a problem is. A score is the place
    of its words in ``words``, null where it is missing: no script rounds a number.
    """
    places: dict[str, int] = {}
    scores = [
        [
            places.setdefault(format_score(value, context), len(places)) if math.isfinite(value) else None
            for value in row
        ]
        for row in heat.score.tolist()
    ]
    return {
        "series": list(heat.series),
        "problems": list(heat.columns),
        "tags": [
            f"on average {format_score(value, context)}" if math.isfinite(value) else "no score"
            for value in heat.difficulty.tolist()
        ],
        "score": scores,
        "samples": heat.samples.tolist(),
        "words": list(places),
    }


def format_bound(value: float, context: ScoreContext) -> str:
    """An end of the range of scores, which is exact: ``100 %``."""
    return f"{value * 100:g} %" if is_percent(context) else format_number(value)


def write_grid_csv(grid: ProblemGrid) -> str:
    """Columns ``problem,difficulty,series,score,samples``: one row a cell, every problem by itself."""
    starts = [
        f"{escape_field(problem)},{_format_number(difficulty)}"
        for problem, difficulty in zip(grid.problems, grid.difficulty.tolist(), strict=True)
    ]
    rows = _list_cell_rows(starts, grid.series, grid.score, grid.samples, with_missing=True)
    return "problem,difficulty,series,score,samples\n" + "".join(rows)


def write_heat_csv(heat: HeatMap) -> str:
    """Columns ``column,problem,series,score,samples`` of the cells that are drawn."""
    starts = [f"{place},{escape_field(name)}" for place, name in enumerate(heat.columns, start=1)]
    rows = _list_cell_rows(starts, heat.series, heat.score, heat.samples, with_missing=False)
    return "column,problem,series,score,samples\n" + "".join(rows)


def _list_cell_rows(
    starts: Sequence[str], series: Sequence[str], score: FloatArray, samples: IntArray, *, with_missing: bool
) -> Iterator[str]:
    """A line a cell, with its score empty where there is none, or without such cells.

    Names are escaped once and not once a cell: there may be some hundred thousand.
    """
    names = [escape_field(name) for name in series]
    for start, scores, counts in zip(starts, score.T.tolist(), samples.T.tolist(), strict=True):
        for name, value, count in zip(names, scores, counts, strict=True):
            if with_missing or math.isfinite(value):
                yield f"{start},{name},{_format_number(value)},{count}\n"


def _format_number(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else ""


def _column_name(problems: tuple[str, ...]) -> str:
    if len(problems) == 1:
        return problems[0]
    return f"{problems[0]} to {problems[-1]} ({len(problems)} problems)"


def _reduce_difficulty(values: FloatArray, starts: IntArray) -> FloatArray:
    known = np.isfinite(values)
    total = np.add.reduceat(np.where(known, values, 0.0), starts)
    count = np.add.reduceat(known, starts, dtype=np.int64)
    mean: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean


def _levels(score: FloatArray, lowest: float, highest: float) -> IntArray:
    share = (np.nan_to_num(score, nan=lowest) - lowest) / (highest - lowest)
    between = 1 + np.minimum(np.floor(share * (LEVELS - 2)), LEVELS - 3)
    level = np.where(share <= 0, 0, np.where(share >= 1, LEVELS - 1, between))
    return np.where(np.isfinite(score), level, -1).astype(np.int64)


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
    series = f' data-rg-series="{escape_text(name)}"' if alive else ""
    return (
        f"<g{series}>"
        f'<text class="rg-heat-name" x="-10" y="{top + 22}" text-anchor="end" font-size="{LABEL_SIZE}" '
        f'fill="var(--rg-text)">{escape_text(cut_label(" ".join(name.split()), WIDEST_NAME))}</text>'
        f'<svg y="{top}" width="100%" height="{PITCH}">'
        f'<svg class="rg-heat-cells" y="1" width="100%" height="{PITCH - 2}" preserveAspectRatio="none" '
        f'viewBox="0 0 {_CELL * len(heat.columns)} {_CELL}" fill="none" stroke="{INK}">'
        f"{''.join(_draw_cells(heat.level[place]))}</svg></svg></g>"
    )


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


_NAMES = {"title": None, "labelLimit": 320, "ticks": False, "domain": False}


def build_heat_spec(heat: HeatMap, context: ScoreContext, *, title: str, subtitle: str) -> dict[str, Any]:
    """A rectangle a cell, the hardest problem last; cells without an answer are left out.

    Columns are numbered, so that two problems never share one; the tooltip names them.
    """
    nominal, numeric = ("problem", "series"), ("score", "samples")
    spec = {
        "width": PIXELS_WIDE,
        "height": PITCH * len(heat.series),
        "background": "var(--rg-bg)",
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": None},
            "y": {"field": "series", "type": "nominal", "sort": None, "axis": _NAMES},
            "color": {
                "field": "score",
                "type": "quantitative",
                "scale": {
                    "domain": [context.lowest, context.highest],
                    "range": [_compute_faintest(), resolve(INK)],
                    "interpolate": "rgb",
                },
                "legend": {"title": "score", "format": ".0%" if is_percent(context) else "~r"},
            },
            "tooltip": [
                *({"field": name, "type": "nominal"} for name in nominal),
                *({"field": name, "type": "quantitative"} for name in numeric),
            ],
        },
    }
    ours: dict[str, Any] = resolve_specification(apply_house_style(spec))
    heading = {"text": title, "subtitle": subtitle, "anchor": "start"}
    # Of its own accord Vega would read a name such as 007 as a number.
    kinds = dict.fromkeys(("score", "samples", "column"), "number") | dict.fromkeys(nominal, "string")
    data = {"values": write_heat_csv(heat), "format": {"type": "csv", "parse": kinds}}
    return {**ours, "title": heading, "data": data}


def _compute_faintest() -> str:
    """The colour of the lowest score, which is not that of the ground: there stands no score."""
    pairs = zip(*(bytes.fromhex(resolve(name)[1:]) for name in ("var(--rg-bg)", INK)), strict=True)
    return "#" + "".join(f"{round(ground + OPACITIES[0] * (ink - ground)):02x}" for ground, ink in pairs)
