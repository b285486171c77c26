"""The ``comparison`` block for one benchmark: who is better than whom, as a table and then as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.comparison_words import (
    FOUND_NOTE,
    describe_comparisons,
    describe_pair,
    describe_power,
    describe_shared,
    list_reasons,
    write_answer,
)
from reportgen.figures.difference_figure import draw_differences
from reportgen.figures.pairs import VERDICT_MARKS, Pairs, collect_pairs
from reportgen.figures.pairs_csv import write_pairs_csv
from reportgen.figures.score_words import (
    format_score_estimate,
    is_percent,
    list_found_notes,
    list_protocol_notes,
    name_metric,
)
from reportgen.figures.wording import isolate_names
from reportgen.model import Cell, ResultTable, Stack

if TYPE_CHECKING:
    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.settings.score_blocks import ComparisonSettings

MOST_WHOLE = 8
"""Series up to which a cell says everything; beyond, verdict and difference, and the data table the rest."""


def draw_comparison(
    block_id: str, settings: ComparisonSettings, scored: BenchmarkScores, context: ScoreContext
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
    pairs = collect_pairs(scored, settings.baseline, context)
    metric = name_metric(settings.metric, context)
    parts: list[Any] = [isolate_names(_write_answer(pairs, scored, settings, context), pairs.series)]
    if scored.comparisons:
        parts += [_build_matrix(f"{block_id}-pairs", pairs, scored, context)]
        parts += [draw_differences(f"{block_id}-differences", pairs, scored, context)]
    parts.append(isolate_names(describe_power(context.benchmark, scored.power, context), pairs.series))
    return Stack(
        id=block_id,
        title=settings.title or f"{context.benchmark}: who is better than whom",
        subtitle=f"{metric}, paired by problem, every pair",
        parts=tuple(parts),
        caption=isolate_names(_write_caption(pairs, scored, settings, context), pairs.series),
    )


def _write_answer(
    pairs: Pairs, scored: BenchmarkScores, settings: ComparisonSettings, context: ScoreContext
) -> str:
    if not pairs.reference:
        return f"{context.benchmark} has no series to compare."
    score = next(one for one in scored.scores if one.series == pairs.reference)
    role = "the baseline" if settings.baseline else "the best score"
    introduced = f"{pairs.reference}, {role} ({format_score_estimate(score, context)})"
    return write_answer(pairs.list_against_reference(), introduced, context)


def _build_matrix(table_id: str, pairs: Pairs, scored: BenchmarkScores, context: ScoreContext) -> ResultTable:
    whole = len(pairs.series) <= MOST_WHOLE
    unit = "points" if is_percent(context) else "difference"
    lines = f"verdict, {unit}, interval, adjusted p" if whole else f"verdict, {unit}"
    elsewhere = "" if whole else " Interval and p of every pair stand in the data table below the picture."
    return ResultTable(
        id=table_id,
        title=f"Row minus column: {lines}",
        header=("row minus column", *pairs.series),
        rows=tuple(
            (Cell(row), *(_build_cell(pairs, row, column, context, whole=whole) for column in pairs.series))
            for row in pairs.series
        ),
        caption=f"Best first. A row that says better throughout is better than all others.{elsewhere}",
        csv=write_pairs_csv(scored.comparisons),
    )


def _build_cell(pairs: Pairs, row: str, column: str, context: ScoreContext, *, whole: bool) -> Cell:
    if row == column:
        return Cell("–", None, "self")
    one = pairs.get_comparison(row, column)
    if one is None:
        return Cell("missing\nnot compared", None, "missing")
    lines = describe_pair(one, context)
    mark = "missing" if one.difference is None else VERDICT_MARKS[one.verdict]
    return Cell("\n".join(lines if whole else lines[:2]), one.difference, mark)


def _write_caption(
    pairs: Pairs, scored: BenchmarkScores, settings: ComparisonSettings, context: ScoreContext
) -> str:
    caution = f" ({context.approximate})" if context.approximate else ""
    how: tuple[str, ...] = ()
    if scored.comparisons:
        how = (
            *describe_comparisons(scored.comparisons, context, "pair"),
            describe_shared(scored.comparisons),
            *list_reasons(scored.comparisons),
            FOUND_NOTE if scored.power and scored.power.difference else "",
        )
    sentences = [
        settings.caption or "",
        *how,
        *list_found_notes(scored.problems.notes, pairs.series),
        *list_protocol_notes(context, pairs.series),
        *context.notes,
        f"Source: {context.source}{caution}.",
    ]
    return " ".join(filter(None, sentences))
