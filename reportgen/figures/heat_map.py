"""A heat map of problem × series: what is drawn, before it becomes a picture or a specification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.figures.score_words import format_score, is_percent
from reportgen.figures.tidy import escape_field
from reportgen.words import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.model import FloatArray, IntArray
    from reportgen.outcomes import ProblemGrid

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
        "tags": [_tag(value, context) for value in heat.difficulty.tolist()],
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


def _tag(difficulty: float, context: ScoreContext) -> str:
    return f"on average {format_score(difficulty, context)}" if math.isfinite(difficulty) else "no score"


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
