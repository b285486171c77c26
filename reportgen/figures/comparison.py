"""The ``comparison`` block for one benchmark: who is better than whom, as a table and then as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.comparison_words import (
    FOUND,
    answer,
    how_compared,
    pair_lines,
    power_words,
    reasons,
    shared_words,
)
from reportgen.figures.difference_figure import difference_figure
from reportgen.figures.pairs import MARKS, Pairs, pairs_of
from reportgen.figures.pairs_csv import pairs_csv
from reportgen.figures.score_words import (
    estimate_text,
    found_notes,
    in_percent,
    metric_text,
    protocol_notes,
)
from reportgen.figures.wording import isolated
from reportgen.model import Cell, ResultTable, Stack

if TYPE_CHECKING:
    from reportgen.figures.score_context import ScoreContext, Scored
    from reportgen.settings.score_blocks import ComparisonSettings

MOST_WHOLE = 8
"""Series up to which a cell says everything; beyond, verdict and difference, and the data table the rest."""


def comparison_block(
    block_id: str, settings: ComparisonSettings, scored: Scored, context: ScoreContext
) -> Stack:
    """The matrix of paired differences, their picture against one series, and how large ones are found.

    Args:
        block_id: id of the block on its page.
        settings: title, caption, baseline, metric and level.
        scored: one benchmark; its comparisons are of all pairs and adjusted together.
        context: words and colours.

    Raises:
        ReportError: if the baseline is not among the series.
    """
    pairs = pairs_of(scored, settings.baseline, context)
    metric = metric_text(settings.metric, context)
    parts: list[Any] = [isolated(_answer(pairs, scored, settings, context), pairs.series)]
    if scored.comparisons:
        parts += [_matrix(f"{block_id}-pairs", pairs, scored, context)]
        parts += [difference_figure(f"{block_id}-differences", pairs, scored, context)]
    parts.append(isolated(power_words(context.benchmark, scored.power, context), pairs.series))
    return Stack(
        id=block_id,
        title=settings.title or f"{context.benchmark}: who is better than whom",
        subtitle=f"{metric}, paired by problem, every pair",
        parts=tuple(parts),
        caption=isolated(_caption(pairs, scored, settings, context), pairs.series),
    )


def _answer(pairs: Pairs, scored: Scored, settings: ComparisonSettings, context: ScoreContext) -> str:
    if not pairs.reference:
        return f"{context.benchmark} has no series to compare."
    score = next(one for one in scored.scores if one.series == pairs.reference)
    role = "the baseline" if settings.baseline else "the best score"
    introduced = f"{pairs.reference}, {role} ({estimate_text(score, context)})"
    return answer(pairs.against_reference(), introduced, context)


def _matrix(table_id: str, pairs: Pairs, scored: Scored, context: ScoreContext) -> ResultTable:
    whole = len(pairs.series) <= MOST_WHOLE
    unit = "points" if in_percent(context) else "difference"
    lines = f"verdict, {unit}, interval, adjusted p" if whole else f"verdict, {unit}"
    elsewhere = "" if whole else " Interval and p of every pair stand in the data table below the picture."
    return ResultTable(
        id=table_id,
        title=f"Row minus column: {lines}",
        header=("row minus column", *pairs.series),
        rows=tuple(
            (Cell(row), *(_cell(pairs, row, column, context, whole=whole) for column in pairs.series))
            for row in pairs.series
        ),
        caption=f"Best first. A row that says better throughout is better than all others.{elsewhere}",
        csv=pairs_csv(scored.comparisons),
    )


def _cell(pairs: Pairs, row: str, column: str, context: ScoreContext, *, whole: bool) -> Cell:
    if row == column:
        return Cell("–", None, "self")
    one = pairs.seen(row, column)
    if one is None:
        return Cell("missing\nnot compared", None, "missing")
    lines = pair_lines(one, context)
    mark = "missing" if one.difference is None else MARKS[one.verdict]
    return Cell("\n".join(lines if whole else lines[:2]), one.difference, mark)


def _caption(pairs: Pairs, scored: Scored, settings: ComparisonSettings, context: ScoreContext) -> str:
    caution = f" ({context.approximate})" if context.approximate else ""
    how: tuple[str, ...] = ()
    if scored.comparisons:
        how = (
            *how_compared(scored.comparisons, context, "pair"),
            shared_words(scored.comparisons),
            *reasons(scored.comparisons),
            FOUND if scored.power and scored.power.difference else "",
        )
    sentences = [
        settings.caption or "",
        *how,
        *found_notes(scored.problems.found, pairs.series),
        *protocol_notes(context, pairs.series),
        *context.notes,
        f"Source: {context.source}{caution}.",
    ]
    return " ".join(filter(None, sentences))
