"""The ``comparison`` block for one benchmark, and the wording of compared pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import FRAGILE, THESE_PROBLEMS, VERDICT_WORDS, Verdict
from reportgen.core.model import Cell, ResultTable, Stack, Table
from reportgen.core.words import format_count, join_names, lower_axis_title
from reportgen.figures.plot import FigureText, join_caption
from reportgen.figures.scores.dot_plot import Row, draw_dot_plot
from reportgen.figures.scores.wording import (
    FDR_NOTE,
    describe_adjustment,
    describe_family_blocks,
    describe_method,
    describe_noises,
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    format_plain_difference,
    format_score_estimate,
    group_reasons,
    half_width,
    is_percent,
    list_found_notes,
    list_protocol_notes,
    make_difference_axis,
    name_metric,
    share_digits,
)
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names, wrap_cell, write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Figure
    from reportgen.figures.plot import BenchmarkScores, ScoreContext
    from reportgen.settings.score_blocks import ComparisonSettings


MOST_WHOLE = 8
"""Number of series up to which cells are complete; with more, the data table has intervals and p values."""
PAIR_COLUMNS = (
    *("a", "b", "metric", "difference", "low", "high", "level", "p", "adjusted_p", "tested_together"),
    *("shared_problems", "only_a", "only_b", "verdict", "test", "interval_method", "reason"),
    *("estimand", "adjust"),
)
VERDICT_MARKS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "unclear",
    Verdict.TOO_FEW: "missing",
}
"""CSS class of a cell by verdict; too few problems decide as little as none."""
# Wording for one series and for several.
_VERDICT_SENTENCES = {
    Verdict.BETTER: ("is better", "are better"),
    Verdict.WORSE: ("is worse", "are worse"),
    Verdict.UNCLEAR: ("is not distinguishable", "are not distinguishable"),
    Verdict.TOO_FEW: ("is not tested", "are not tested"),
}
_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
_VERDICTS = (
    "Better or worse: adjusted p below 0.05 and an interval without 0. No clear winner: any other tested "
    "pair. Not tested: fewer than 6 shared problems."
)
_LEFT_OUT = "what only one side answered is left out and named in the data table."
_HEADER = (
    *("series", "minus", "difference", "interval", "p", "adjusted p", "verdict", "shared problems"),
    *("answered by one side only", "test", "remark"),
)
_SUMMARY = "If an interval includes 0, there is no clear winner; otherwise the adjusted p decides."
_MOST_SERIES, _MOST_PROBLEMS, _MOST_REASONS = 8, 6, 4


class Pairs(Struct, frozen=True):
    """Series, best first, a reference and the comparisons by pair.

    ``by_pair`` has each comparison from both sides; pairs that were not compared are missing.
    ``against_reference`` is every other series minus the reference, best first.
    """

    series: tuple[str, ...]
    reference: str
    by_pair: Mapping[tuple[str, str], Comparison]
    against_reference: tuple[Comparison, ...]


def collect_pairs(scored: BenchmarkScores, baseline: str | None, context: ScoreContext) -> Pairs:
    """Collect the pairs of a benchmark; the reference is the baseline or the best series.

    Series without a score come last, ties in the order of the data.
    """
    sign = -1 if context.higher_is_better else 1
    known = {one.series: sign * one.estimate for one in scored.scores if one.estimate is not None}
    series = tuple(sorted((one.series for one in scored.scores), key=lambda n: known.get(n, float("inf"))))
    by_pair = {(pair.a, pair.b): pair for pair in scored.comparisons}
    by_pair |= {(pair.b, pair.a): swap_sides(pair) for pair in scored.comparisons}
    reference = baseline or (series[0] if series else "")
    against = (by_pair.get((name, reference)) for name in series if name != reference)
    return Pairs(series, reference, by_pair, tuple(pair for pair in against if pair is not None))


def swap_sides(pair: Comparison) -> Comparison:
    """Swap the sides of a comparison, without creating a negative zero."""
    low, high = (None if end is None else 0.0 - end for end in (pair.high, pair.low))
    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        difference=None if pair.difference is None else 0.0 - pair.difference,
        low=low,
        high=high,
        only_a=pair.only_b,
        only_b=pair.only_a,
        verdict=_OPPOSITE.get(pair.verdict, pair.verdict),
    )


def write_pairs_csv(compared: Iterable[Comparison]) -> str:
    """Write the columns ``PAIR_COLUMNS``: a minus b; unknown values are empty."""
    return write_table_csv(PAIR_COLUMNS, map(list_pair_fields, compared))


def list_pair_fields(pair: Comparison) -> tuple[object, ...]:
    """Return a comparison in the order of ``PAIR_COLUMNS``."""
    return (
        *(pair.a, pair.b, pair.metric, pair.difference, pair.low, pair.high, pair.level),
        *(pair.p, pair.adjusted_p, pair.tested_together, pair.shared),
        *("; ".join(pair.only_a), "; ".join(pair.only_b), VERDICT_WORDS[pair.verdict]),
        *(pair.method, pair.interval_method, pair.reason, pair.estimand, pair.adjust),
    )


def write_answer(compared: Sequence[Comparison], introduced: str, context: ScoreContext) -> str:
    """Return the sentence on which series are better, worse, or without a clear difference.

    ``compared`` is each series minus the reference; ``introduced`` is the reference in words.
    """
    if not compared:
        return f"There is no other series to hold against {introduced}."
    alone = f", {_describe_difference(compared[0], context)}" if len(compared) == 1 else ""
    decided = [pair.runs for pair in compared if pair.verdict in _OPPOSITE]
    about = " (these checkpoints)" if decided and all(max(runs) == 1 for runs in decided) else ""
    fragile = [pair.a for pair in compared if FRAGILE in pair.reason]
    doubt = f" Of {join_names(fragile, most=_MOST_SERIES)}, this holds {FRAGILE}." if fragile else ""
    return f"Against {introduced}: {describe_verdicts(compared)}{alone}{about}.{doubt}"


def describe_verdicts(compared: Sequence[Comparison]) -> str:
    """Join the series by verdict: ``A is better; B and C are not distinguishable``."""
    groups = [(verdict, [pair.a for pair in compared if pair.verdict is verdict]) for verdict in Verdict]
    return "; ".join(
        f"{join_names(names, most=_MOST_SERIES)} {_VERDICT_SENTENCES[verdict][len(names) > 1]}"
        for verdict, names in groups
        if names
    )


def _describe_difference(pair: Comparison, context: ScoreContext) -> str:
    """Format a difference with interval and adjusted p: ``+3.2 points [+0.4, +6.0], p = 0.01``."""
    if pair.difference is None:
        return pair.reason or "no shared problem"
    size = format_difference(pair.difference, context, half=half_width(pair))
    ends = format_interval(pair.low, pair.high, context, signed=True) or "(no interval)"
    return f"{size} {ends}{f', {format_p_text(pair.adjusted_p)}' if pair.adjusted_p is not None else ''}"


def describe_comparisons(
    compared: Sequence[Comparison], context: ScoreContext, together: str
) -> tuple[str, ...]:
    """Describe the methods of differences, intervals, p values and verdicts; ``together`` is the family."""
    unit = ", in points" if is_percent(context) else ""
    metric = name_metric(compared[0].metric, context)
    methods = dict.fromkeys(describe_method(c.interval_method) for c in compared if c.interval_method)
    within = compared[0].estimand == THESE_PROBLEMS
    where = "these very problems with other samples" if within else "other problems like these"
    intervals = (
        f"Brackets: {format_level(compared[0].level)} CI of the mean difference on {where} "
        f"({join_names(list(methods))}), each by itself, not adjusted."
    )
    # Exact tests first, in an order independent of the pairs.
    tests = sorted(
        {pair.method for pair in compared if pair.method}, key=lambda test: ("exact" not in test, test)
    )
    names = join_names([describe_method(test).replace(" 000", ",000") for test in tests])
    sentences = (
        f"Difference: mean over shared problems of the difference in {metric}{unit}.",
        intervals if methods else "No interval: see the remarks.",
        f"p: two-sided test of the differences by problem ({names}), "
        f"{describe_adjustment(compared, together)}{describe_family_blocks(compared)}."
        if tests
        else "",
        _VERDICTS,
        "" if context.higher_is_better else "Lower is better: better is a negative difference.",
    )
    return tuple(filter(None, sentences))


def list_reasons(compared: Iterable[tuple[Comparison, str]]) -> tuple[str, ...]:
    """List remarks on single pairs, once for all pairs that share them; each with its benchmark, if named."""
    pairs = ((f"{pair.a} and {pair.b}{on and f' on {on}'}", pair.reason) for pair, on in compared)
    reasons = group_reasons(pairs, most=_MOST_REASONS)
    more = len(reasons) - _MOST_REASONS
    rest = [f"{more} more remarks stand in the data table."] if more > 0 else []
    return (*reasons[:_MOST_REASONS], *rest)


def draw_comparison(
    block_id: str, settings: ComparisonSettings, scored: BenchmarkScores, context: ScoreContext
) -> Stack:
    """Draw the matrix of paired differences and those to one series.

    The comparisons of ``scored`` are of all pairs and adjusted together. The baseline is one of the series.
    """
    context = share_digits(context, scored.scores, scored.comparisons)
    pairs = collect_pairs(scored, settings.baseline, context)
    title = settings.title or f"{context.benchmark}: who is better than whom"
    answer = _write_comparison_answer(pairs, settings, scored, context)
    parts: list[Any] = [isolate_names(answer, pairs.series)]
    about = ", these problems" if settings.estimand == THESE_PROBLEMS else ""
    if scored.comparisons:
        parts += [_build_matrix(f"{block_id}-pairs", title, pairs, scored, context)]
        parts += [_draw_differences(f"{block_id}-differences", pairs, scored, context, about)]
    how: list[str] = []
    shared = ""
    if scored.comparisons:
        counts = sorted({pair.shared for pair in scored.comparisons})
        who = "both" if len(scored.comparisons) == 1 else "every pair"
        shared = f"n = {counts[0]} problems shared by {who}."
        if len(counts) > 1:
            shared = f"n = {counts[0]} to {counts[-1]} problems shared by a pair; {_LEFT_OUT}"
        how += describe_comparisons(scored.comparisons, context, "pair")
        how += describe_noises(scored.comparisons, context)
        how += list_reasons((pair, "") for pair in scored.comparisons)
    notes = list_found_notes(scored.problems.notes, pairs.series)
    mixed, protocol = list_protocol_notes(context, pairs.series)
    how += protocol
    sentences = [shared, *mixed, *notes]
    return Stack(
        id=block_id,
        title=title,
        subtitle="" if scored.comparisons else name_metric(settings.metric, context),
        parts=tuple(parts),
        caption=join_caption(sentences, context, pairs.series, how),
    )


def _write_comparison_answer(
    pairs: Pairs, settings: ComparisonSettings, scored: BenchmarkScores, context: ScoreContext
) -> str:
    if not pairs.reference:
        return f"{context.benchmark} has no series to compare."
    if all(one.estimate is None for one in scored.scores):
        return f"No series has a score on {context.benchmark} yet."
    score = next(one for one in scored.scores if one.series == pairs.reference)
    role = "the baseline" if settings.baseline else "the best score"
    introduced = f"{pairs.reference}, {role} ({format_score_estimate(score, context)})"
    return write_answer(pairs.against_reference, introduced, context)


def _build_matrix(
    table_id: str, title: str, pairs: Pairs, scored: BenchmarkScores, context: ScoreContext
) -> ResultTable:
    """Build the upper triangle with verdict, difference and interval, and adjusted p on separate lines."""
    whole = len(pairs.series) <= MOST_WHOLE
    unit = "points" if is_percent(context) else "difference"
    rows = []
    for place, row in enumerate(pairs.series[:-1]):
        cells = [Cell(row), *[Cell("", None, "self")] * place]
        for column in pairs.series[place + 1 :]:
            pair = pairs.by_pair.get((row, column))
            mark, lines = "missing", ["missing", "not compared"]
            if pair and pair.difference is None:
                lines = ["missing", *wrap_cell(pair.reason or "no shared problem").split("\n")]
            elif pair:
                mark = VERDICT_MARKS[pair.verdict]
                ends = format_interval(pair.low, pair.high, context, signed=True) or "no interval"
                difference = format_plain_difference(pair, context)
                lines = [VERDICT_WORDS[pair.verdict], f"{difference} {ends}" if whole else difference]
                few = pair.verdict is Verdict.TOO_FEW
                count = f"{format_count(pair.shared, 'problem')} shared"
                lines.append(count if few else format_p_text(pair.adjusted_p))
            text = "\n".join(lines if whole else lines[:2])
            cells.append(Cell(text, pair.difference if pair else None, mark))
        rows.append(tuple(cells))
    fdr = f" {FDR_NOTE.capitalize()}." if any(one.adjust == "fdr" for one in scored.comparisons) else ""
    elsewhere = ", interval, adjusted p" if whole else "; the data table of the picture has intervals and p"
    return ResultTable(
        id=table_id,
        title=title,
        header=("row minus column", *pairs.series[1:]),
        rows=tuple(rows),
        caption=f"Row minus column, best first: verdict, {unit}{elsewhere}.{fdr}",
        csv=write_pairs_csv(scored.comparisons),
        folded="Table of this pair" if len(scored.comparisons) == 1 else "Table of all pairs",
    )


def _draw_differences(
    figure_id: str, pairs: Pairs, scored: BenchmarkScores, context: ScoreContext, about: str
) -> Figure:
    """Draw rows of differences to the reference, best series first; ``about`` says of which problems."""
    compared, slots, rows = pairs.against_reference, pick_slots(pairs.series, context.slots), []
    for pair in compared:
        verdict, minus = VERDICT_WORDS[pair.verdict], f"{pair.a} minus {pair.b}"
        text = f"missing: {pair.reason or 'no shared problem'}"
        tip: tuple[str, ...] = (minus, text)
        if pair.difference is not None:
            text = f"{verdict}, {format_plain_difference(pair, context)}"
            shared = format_count(pair.shared, "shared problem")
            tip = (f"{minus}: {verdict}", _describe_difference(pair, context), shared)
        ends = (pair.low, pair.high) if pair.difference is not None else (None, None)
        rows.append(Row(pair.a, slots[pair.a], text, pair.difference, *ends, tip))
    values = [end for pair in compared for end in (pair.difference, pair.low, pair.high)]
    metric, level = name_metric(compared[0].metric, context), format_level(compared[0].level)
    title = f"Difference to {pairs.reference}"
    how = f"{metric} paired by problem{about}, mean difference and {level} CI"
    words = FigureText(
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
        make_difference_axis(values, context, title=f"{lower_axis_title(title)} in {_name_unit(context)}"),
        words,
        table=_build_table(scored, pairs, context),
        csv=write_pairs_csv(compared),
        rule=0.0,
        file_title=f"{context.benchmark}: {lower_axis_title(title)}",
        legend=tuple((row.name, row.slot) for row in rows),
    )


def _name_unit(context: ScoreContext) -> str:
    return "points" if is_percent(context) else "the unit of the scores"


def _build_table(scored: BenchmarkScores, pairs: Pairs, context: ScoreContext) -> Table:
    """Build the table of all pairs, drawn ones first, without empty columns."""
    drawn = pairs.against_reference
    rest = [pair for pair in scored.comparisons if pairs.reference not in {pair.a, pair.b}]
    rows = []
    for pair in (*drawn, *rest):
        size, none = "missing", "missing"
        if pair.difference is not None:
            size = format_difference(pair.difference, context, half=half_width(pair))
            none = "no interval"
        ps = (format_p_text(p).removeprefix("p ").removeprefix("= ") for p in (pair.p, pair.adjusted_p))
        alone = ((pair.a, pair.only_a), (pair.b, pair.only_b))
        lone = (f"{name}: {join_names(only, most=_MOST_PROBLEMS)}" for name, only in alone if only)
        rows.append(
            (
                *(pair.a, pair.b, size, format_interval(pair.low, pair.high, context, signed=True) or none),
                *(*ps, VERDICT_WORDS[pair.verdict], str(pair.shared), "; ".join(lone)),
                *(pair.method.replace(" 000", ",000"), pair.reason),
            )
        )
    columns = [place for place in range(len(_HEADER)) if any(row[place] for row in rows)]
    note = f"The picture shows the first {len(drawn)} of {format_count(len(rows), 'pair')}." if rest else ""
    header = tuple(_HEADER[place] for place in columns)
    return Table(header, tuple(tuple(row[place] for place in columns) for row in rows), note)
