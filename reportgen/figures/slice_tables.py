"""Scores by a free column, such as subject or level: a table for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.cell_lines import in_lines
from reportgen.figures.score_words import (
    estimand_words,
    estimate_text,
    level_text,
    method_words,
    metric_text,
)
from reportgen.figures.tidy import table_csv
from reportgen.model import Cell, ResultTable
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import Score

_CSV = (
    *("column", "value", "series", "metric", "score", "low", "high", "level", "problems"),
    *("estimand", "method", "reason"),
)


def slice_table(
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
        header=("series", *(_head(column, value, scores) for value, scores in values.items())),
        rows=tuple(
            (Cell(name), *(_cell(by_name[value].get(name), value, context) for value in values))
            for name in names
        ),
        caption=_caption([score for scores in values.values() for score in scores], len(values), context),
        csv=table_csv(_CSV, (_row(column, value, one) for value, scores in values.items() for one in scores)),
    )


def _head(column: str, value: str, scores: Iterable[Score]) -> str:
    """The value with its number of problems; a bare number is told what it counts: ``level 1``."""
    counts = sorted({one.problems for one in scores if one.problems})
    name = f"{column} {value}" if value[:1].isdigit() else value
    if not counts:
        return f"{name} (no problems)"
    many = counted(counts[-1], "problem")
    return f"{name} ({many})" if len(counts) == 1 else f"{name} ({counts[0]} to {many})"


def _cell(score: Score | None, value: str, context: ScoreContext) -> Cell:
    if score is None or score.estimate is None:
        reason = score.reason if score and score.reason else f"no answers in {value}"
        return Cell(f"missing\n{in_lines(reason)}", None, "missing")
    without = "\nno interval" if score.low is None else ""
    return Cell(f"{estimate_text(score, context)}{without}", score.estimate)


def _row(column: str, value: str, one: Score) -> tuple[object, ...]:
    return (
        *(column, value, one.series, one.metric, one.estimate, one.low, one.high, one.level, one.problems),
        *(one.estimand, one.method, one.reason),
    )


def _caption(scores: list[Score], slices: int, context: ScoreContext) -> str:
    known = [one for one in scores if one.low is not None]
    if not known:
        return "No interval: each slice has too few problems."
    about = listing(list(dict.fromkeys(estimand_words(one) for one in known)))
    methods = listing(list(dict.fromkeys(method_words(one.method) for one in known)))
    metric = listing(list(dict.fromkeys(metric_text(one.metric, context) for one in known)))
    return (
        f"{metric[0].upper()}{metric[1:]} over the problems of a slice. Brackets: "
        f"{level_text(known[0].level)} interval of {about} ({methods}). {counted(slices, 'slice')}, each by "
        "itself: nothing is adjusted for many, and intervals that overlap do not say that series are alike."
    )
