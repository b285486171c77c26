"""The picture of a comparison: every series' difference to one of them; its data table has all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.comparison_words import describe_difference, half_width
from reportgen.figures.pairs import VERDICT_WORDS
from reportgen.figures.pairs_csv import write_pairs_csv
from reportgen.figures.palette import pick_slots
from reportgen.figures.row_poster import draw_rows_file
from reportgen.figures.row_spec import write_rows_spec
from reportgen.figures.score_axis import make_difference_axis
from reportgen.figures.score_rows import Row, draw_rows, name_rows_class
from reportgen.figures.score_words import (
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    is_percent,
    name_metric,
)
from reportgen.model import Figure, Table
from reportgen.words import format_count, join_names, lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.pairs import Pairs
    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.outcomes import Comparison

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
    """Rows of differences to the reference, best series first.

    Args:
        figure_id: unique on its page.
        pairs: all pairs, and the reference.
        scored: the benchmark.
        context: words and colours.
    """
    compared = pairs.list_against_reference()
    slots = pick_slots(pairs.series, context.slots)
    rows = [_make_row(one, slots[one.a], context) for one in compared]
    axis = _axis(compared, pairs.reference, context)
    title = f"Difference to {pairs.reference}"
    how = f"{name_metric(compared[0].metric, context)}, mean and {format_level(compared[0].level)} interval"
    how += ", right of 0 is better" if context.higher_is_better else ", left of 0 is better"
    return Figure(
        id=figure_id,
        kind="comparison",
        title=title,
        subtitle=how,
        caption="",
        summary=_SUMMARY,
        inline_svg=draw_rows(rows, axis, labelled_by=f"{figure_id}-title {figure_id}-summary", rule=0.0),
        file_svg=draw_rows_file(
            rows,
            axis,
            title=f"{context.benchmark}: {lower_axis_title(title)}",
            subtitle=how,
            source=context.source,
            rule=0.0,
        ),
        table=_build_table(scored, pairs, context),
        csv=write_pairs_csv(compared),
        spec=write_rows_spec(rows, axis, title=title, subtitle=how, rule=0.0),
        view="",
        payload="",
        numbers={"reference": pairs.reference},
        legend=tuple((row.name, row.slot) for row in rows),
        plot_class=name_rows_class(rows),
    )


def _axis(compared: Sequence[Comparison], reference: str, context: ScoreContext) -> Axis:
    unit = "points" if is_percent(context) else "the unit of the scores"
    ends = [end for one in compared for end in (one.difference, one.low, one.high)]
    return make_difference_axis(ends, context, title=f"difference to {reference} in {unit}")


def _make_row(one: Comparison, slot: int | None, context: ScoreContext) -> Row:
    verdict = VERDICT_WORDS[one.verdict]
    if one.difference is None:
        missing = f"missing: {one.reason or 'no shared problem'}"
        return Row(one.a, slot, missing, None, None, None, (f"{one.a} minus {one.b}", missing))
    said = format_difference(one.difference, context, half=half_width(one)).removesuffix(" points")
    tip = (
        f"{one.a} minus {one.b}: {verdict}",
        describe_difference(one, context),
        f"{format_count(one.shared, 'shared problem')}",
    )
    return Row(
        name=one.a,
        slot=slot,
        text=f"{verdict}, {said}",
        value=one.difference,
        low=one.low,
        high=one.high,
        tip=tip,
    )


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
