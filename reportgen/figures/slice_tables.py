"""Scores by a free column, such as subject or level: a table for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.cell_lines import wrap_cell
from reportgen.figures.score_words import (
    describe_estimand,
    describe_method,
    format_level,
    format_score_estimate,
    name_metric,
)
from reportgen.figures.tidy import write_table_csv
from reportgen.model import Cell, ResultTable
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import Score

_CSV_COLUMNS = (
    *("column", "value", "series", "metric", "score", "low", "high", "level", "problems"),
    *("estimand", "method", "reason"),
)


def build_slice_table(
    table_id: str, column: str, values: Mapping[str, tuple[Score, ...]], context: ScoreContext
) -> ResultTable:
    """A row for each series and a column for each value, with intervals.

    Args:
        table_id: id of the table on its page.
        column: what is sliced by.
        values: the scores of all series by value, in one order.
        context: has the unit.
    """
    names = list(dict.fromkeys(score.series for scores in values.values() for score in scores))
    by_name = {value: {score.series: score for score in scores} for value, scores in values.items()}
    return ResultTable(
        id=table_id,
        title=f"By {column}",
        header=("series", *(_write_head(column, value, scores) for value, scores in values.items())),
        rows=tuple(
            (Cell(name), *(_build_cell(by_name[value].get(name), value, context) for value in values))
            for name in names
        ),
        caption=_write_caption(
            [score for scores in values.values() for score in scores], len(values), context
        ),
        csv=write_table_csv(
            _CSV_COLUMNS, (_row(column, value, one) for value, scores in values.items() for one in scores)
        ),
    )


def _write_head(column: str, value: str, scores: Iterable[Score]) -> str:
    """The value with its number of problems; a bare number is told what it counts: ``level 1``."""
    counts = sorted({one.problems for one in scores if one.problems})
    name = f"{column} {value}" if value[:1].isdigit() else value
    if not counts:
        return f"{name} (no problems)"
    many = format_count(counts[-1], "problem")
    return f"{name} ({many})" if len(counts) == 1 else f"{name} ({counts[0]} to {many})"


def _build_cell(score: Score | None, value: str, context: ScoreContext) -> Cell:
    if score is None or score.estimate is None:
        reason = score.reason if score and score.reason else f"no answers in {value}"
        return Cell(f"missing\n{wrap_cell(reason)}", None, "missing")
    without = "\nno interval" if score.low is None else ""
    return Cell(f"{format_score_estimate(score, context)}{without}", score.estimate)


def _row(column: str, value: str, one: Score) -> tuple[object, ...]:
    return (
        *(column, value, one.series, one.metric, one.estimate, one.low, one.high, one.level, one.problems),
        *(one.estimand, one.method, one.reason),
    )


def _write_caption(scores: list[Score], slices: int, context: ScoreContext) -> str:
    known = [one for one in scores if one.low is not None]
    if not known:
        return "No interval: each slice has too few problems."
    about = join_names(list(dict.fromkeys(describe_estimand(one) for one in known)))
    methods = join_names(list(dict.fromkeys(describe_method(one.method) for one in known)))
    metric = join_names(list(dict.fromkeys(name_metric(one.metric, context) for one in known)))
    return (
        f"{metric[0].upper()}{metric[1:]} over the problems of a slice. Brackets: "
        f"{format_level(known[0].level)} interval of {about} ({methods}). {format_count(slices, 'slice')}, each by "
        "itself: nothing is adjusted for many, and intervals that overlap do not say that series are alike."
    )
