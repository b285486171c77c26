"""The picture of a comparison: every series' difference to one of them; its data table has all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.comparison_words import difference_words, half_width
from reportgen.figures.pairs import WORDS
from reportgen.figures.pairs_csv import pairs_csv
from reportgen.figures.palette import drawn_slots
from reportgen.figures.row_poster import rows_file
from reportgen.figures.row_spec import rows_spec
from reportgen.figures.score_axis import difference_axis
from reportgen.figures.score_rows import Row, rows_class, rows_svg
from reportgen.figures.score_words import (
    difference_text,
    in_percent,
    interval_text,
    level_text,
    metric_text,
    p_text,
)
from reportgen.model import Figure, Table
from reportgen.words import axis_word, counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.pairs import Pairs
    from reportgen.figures.score_context import ScoreContext, Scored
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


def difference_figure(figure_id: str, pairs: Pairs, scored: Scored, context: ScoreContext) -> Figure:
    """Rows of differences to the reference, best series first.

    Args:
        figure_id: unique on its page.
        pairs: all pairs, and the reference.
        scored: the benchmark.
        context: words and colours.
    """
    compared = pairs.against_reference()
    slots = drawn_slots(pairs.series, context.slots)
    rows = [_row(one, slots[one.a], context) for one in compared]
    axis = _axis(compared, pairs.reference, context)
    title = f"Difference to {pairs.reference}"
    how = f"{metric_text(compared[0].metric, context)}, mean and {level_text(compared[0].level)} interval"
    how += ", right of 0 is better" if context.higher_is_better else ", left of 0 is better"
    return Figure(
        id=figure_id,
        kind="comparison",
        title=title,
        subtitle=how,
        caption="",
        summary=_SUMMARY,
        inline_svg=rows_svg(rows, axis, labelled_by=f"{figure_id}-title {figure_id}-summary", rule=0.0),
        file_svg=rows_file(
            rows,
            axis,
            title=f"{context.benchmark}: {axis_word(title)}",
            subtitle=how,
            source=context.source,
            rule=0.0,
        ),
        table=_table(scored, pairs, context),
        csv=pairs_csv(compared),
        spec=rows_spec(rows, axis, title=title, subtitle=how, rule=0.0),
        view="",
        payload="",
        numbers={"reference": pairs.reference},
        legend=tuple((row.name, row.slot) for row in rows),
        plot_class=rows_class(rows),
    )


def _axis(compared: Sequence[Comparison], reference: str, context: ScoreContext) -> Axis:
    unit = "points" if in_percent(context) else "the unit of the scores"
    ends = [end for one in compared for end in (one.difference, one.low, one.high)]
    return difference_axis(ends, context, title=f"difference to {reference} in {unit}")


def _row(one: Comparison, slot: int | None, context: ScoreContext) -> Row:
    verdict = WORDS[one.verdict]
    if one.difference is None:
        missing = f"missing: {one.reason or 'no shared problem'}"
        return Row(one.a, slot, missing, None, None, None, (f"{one.a} minus {one.b}", missing))
    said = difference_text(one.difference, context, half=half_width(one)).removesuffix(" points")
    tip = (
        f"{one.a} minus {one.b}: {verdict}",
        difference_words(one, context),
        f"{counted(one.shared, 'shared problem')}",
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


def _table(scored: Scored, pairs: Pairs, context: ScoreContext) -> Table:
    """Every pair, those that are drawn first; a column that says nothing of any pair is left out."""
    drawn = pairs.against_reference()
    rest = [one for one in scored.comparisons if pairs.reference not in {one.a, one.b}]
    rows = [_cells(one, context) for one in (*drawn, *rest)]
    kept = [place for place in range(len(_HEADER)) if any(row[place] for row in rows)]
    note = f"The picture shows the first {len(drawn)} of {counted(len(rows), 'pair')}." if rest else ""
    header = tuple(_HEADER[place] for place in kept)
    return Table(header, tuple(tuple(row[place] for place in kept) for row in rows), note)


def _cells(one: Comparison, context: ScoreContext) -> tuple[str, ...]:
    known = one.difference is not None
    alone = [(one.a, one.only_a), (one.b, one.only_b)]
    return (
        one.a,
        one.b,
        difference_text(one.difference, context, half=half_width(one))
        if one.difference is not None
        else "missing",
        interval_text(one.low, one.high, context, signed=True) or ("no interval" if known else "missing"),
        p_text(one.p).removeprefix("p ").removeprefix("= "),
        p_text(one.adjusted_p).removeprefix("p ").removeprefix("= "),
        WORDS[one.verdict],
        str(one.shared),
        "; ".join(f"{name}: {listing(names, most=_MOST_NAMED)}" for name, names in alone if names),
        one.method.replace(" 000", ",000"),
        one.reason,
    )
