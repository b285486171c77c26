"""The ``comparison`` block for one benchmark: who is better than whom, as a table and then as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.core.model import Cell, ResultTable, Stack, Table
from reportgen.core.words import format_count, join_names, lower_axis_title
from reportgen.figures.plot import FigureText, describe_source
from reportgen.figures.scores.dot_plot import Row, draw_dot_plot
from reportgen.figures.scores.pairs import (
    FOUND_NOTE,
    VERDICT_MARKS,
    VERDICT_WORDS,
    Pairs,
    collect_pairs,
    describe_comparisons,
    describe_difference,
    describe_pair,
    describe_power,
    describe_shared,
    format_plain_difference,
    list_reasons,
    write_answer,
    write_pairs_csv,
)
from reportgen.figures.scores.wording import (
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    format_score_estimate,
    half_width,
    is_percent,
    list_found_notes,
    list_protocol_notes,
    make_difference_axis,
    name_metric,
)
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names

if TYPE_CHECKING:
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Figure
    from reportgen.figures.plot import BenchmarkScores, ScoreContext
    from reportgen.settings.blocks import ComparisonSettings


_HEADER = (
    *("series", "minus", "difference", "interval", "p", "adjusted p", "verdict", "shared problems"),
    *("answered by one side only", "test", "remark"),
)
_MOST_NAMED = 6
_SUMMARY = (
    "Where an interval reaches 0, no difference is clear; where it does not, the p adjusted for many "
    "comparisons decides."
)


def draw_differences(figure_id: str, pairs: Pairs, scored: BenchmarkScores, context: ScoreContext) -> Figure:
    """Rows of differences to the reference, best series first."""
    compared = pairs.list_against_reference()
    slots = pick_slots(pairs.series, context.slots)
    rows = [_make_row(one, slots[one.a], context) for one in compared]
    unit = "points" if is_percent(context) else "the unit of the scores"
    ends = [end for one in compared for end in (one.difference, one.low, one.high)]
    title = f"Difference to {pairs.reference}"
    how = f"{name_metric(compared[0].metric, context)}, mean and {format_level(compared[0].level)} interval"
    text = FigureText(
        id=figure_id,
        kind="comparison",
        title=title,
        subtitle=f"{how}, {'right' if context.higher_is_better else 'left'} of 0 is better",
        summary=_SUMMARY,
        source=context.source,
        numbers={"reference": pairs.reference},
    )
    return draw_dot_plot(
        rows,
        make_difference_axis(ends, context, title=f"difference to {pairs.reference} in {unit}"),
        text,
        table=_build_table(scored, pairs, context),
        csv=write_pairs_csv(compared),
        rule=0.0,
        file_title=f"{context.benchmark}: {lower_axis_title(title)}",
        legend=tuple((row.name, row.slot) for row in rows),
    )


def _make_row(one: Comparison, slot: int | None, context: ScoreContext) -> Row:
    verdict = VERDICT_WORDS[one.verdict]
    if one.difference is None:
        missing = f"missing: {one.reason or 'no shared problem'}"
        return Row(one.a, slot, missing, None, None, None, (f"{one.a} minus {one.b}", missing))
    tip = (
        f"{one.a} minus {one.b}: {verdict}",
        describe_difference(one, context),
        f"{format_count(one.shared, 'shared problem')}",
    )
    text = f"{verdict}, {format_plain_difference(one, context)}"
    return Row(one.a, slot, text, one.difference, one.low, one.high, tip)


def _build_table(scored: BenchmarkScores, pairs: Pairs, context: ScoreContext) -> Table:
    """Every pair, those that are drawn first; a column that says nothing of any pair is left out."""
    drawn = pairs.list_against_reference()
    rest = [one for one in scored.comparisons if pairs.reference not in {one.a, one.b}]
    rows = [_format_cells(one, context) for one in (*drawn, *rest)]
    columns = [place for place in range(len(_HEADER)) if any(row[place] for row in rows)]
    note = f"The picture shows the first {len(drawn)} of {format_count(len(rows), 'pair')}." if rest else ""
    header = tuple(_HEADER[place] for place in columns)
    return Table(header, tuple(tuple(row[place] for place in columns) for row in rows), note)


def _format_cells(one: Comparison, context: ScoreContext) -> tuple[str, ...]:
    known = one.difference is not None
    alone = [(one.a, one.only_a), (one.b, one.only_b)]
    return (
        one.a,
        one.b,
        format_difference(one.difference, context, half=half_width(one))
        if one.difference is not None
        else "missing",
        format_interval(one.low, one.high, context, signed=True) or ("no interval" if known else "missing"),
        format_p_text(one.p).removeprefix("p ").removeprefix("= "),
        format_p_text(one.adjusted_p).removeprefix("p ").removeprefix("= "),
        VERDICT_WORDS[one.verdict],
        str(one.shared),
        "; ".join(f"{name}: {join_names(names, most=_MOST_NAMED)}" for name, names in alone if names),
        one.method.replace(" 000", ",000"),
        one.reason,
    )


MOST_WHOLE = 8
"""Series up to which a cell says everything; beyond, verdict and difference, and the data table the rest."""


def draw_comparison(
    block_id: str, settings: ComparisonSettings, scored: BenchmarkScores, context: ScoreContext
) -> Stack:
    """The matrix of paired differences, their picture against one series, and how large ones are found.

    The comparisons of ``scored`` are of all pairs and adjusted together.

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
    one = pairs.by_pair.get((row, column))
    if one is None:
        return Cell("missing\nnot compared", None, "missing")
    lines = describe_pair(one, context)
    mark = "missing" if one.difference is None else VERDICT_MARKS[one.verdict]
    return Cell("\n".join(lines if whole else lines[:2]), one.difference, mark)


def _write_caption(
    pairs: Pairs, scored: BenchmarkScores, settings: ComparisonSettings, context: ScoreContext
) -> str:
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
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(filter(None, sentences))
