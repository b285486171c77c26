"""All pairs of a benchmark, each seen from either side: their verdicts in words, and as CSV."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.core.comparisons import TARGET_POWER, Verdict
from reportgen.core.errors import ReportError
from reportgen.core.words import describe_chance, format_count, join_names
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.plot import make_diagnostic
from reportgen.figures.scores.wording import (
    describe_family_blocks,
    describe_method,
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    group_reasons,
    half_width,
    is_percent,
    name_metric,
)
from reportgen.figures.text import wrap_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.core.comparisons import Comparison, Power
    from reportgen.figures.plot import BenchmarkScores, ScoreContext


VERDICT_MARKS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "unclear",
    Verdict.TOO_FEW: "missing",
}
"""The class of a cell by its verdict; too few problems decide as little as none."""
VERDICT_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "cannot tell",
    Verdict.TOO_FEW: "too few",
}
_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Series, best first, the one that the others are compared with, and every comparison by its pair.

    ``by_pair`` has each comparison from both sides; a pair that was not compared is missing.
    """

    series: tuple[str, ...]
    reference: str
    by_pair: Mapping[tuple[str, str], Comparison]

    def list_against_reference(self) -> tuple[Comparison, ...]:
        """Every other series minus the reference, best first."""
        found = (self.by_pair.get((name, self.reference)) for name in self.series if name != self.reference)
        return tuple(one for one in found if one is not None)


def collect_pairs(scored: BenchmarkScores, baseline: str | None, context: ScoreContext) -> Pairs:
    """The pairs of a benchmark; the reference is the baseline, or the series that scores best.

    Raises:
        ReportError: if the baseline is not among the series.
    """
    series = sort_best_first(scored, higher_is_better=context.higher_is_better)
    if baseline is not None and baseline not in series:
        there = f"There are {', '.join(series)}"
        said = f"there is no series {baseline} to compare with on {context.benchmark}"
        raise ReportError(make_diagnostic(context, said, there))
    by_pair = {(one.a, one.b): one for one in scored.comparisons}
    by_pair |= {(one.b, one.a): swap_sides(one) for one in scored.comparisons}
    return Pairs(series, baseline or (series[0] if series else ""), by_pair)


def sort_best_first(scored: BenchmarkScores, *, higher_is_better: bool) -> tuple[str, ...]:
    """Names by score; those without one last, equal ones in the order of the data."""
    sign = -1 if higher_is_better else 1
    known = {one.series: sign * one.estimate for one in scored.scores if one.estimate is not None}
    return tuple(sorted((one.series for one in scored.scores), key=lambda n: known.get(n, float("inf"))))


def group_by_verdict(compared: Sequence[Comparison]) -> dict[Verdict, list[str]]:
    """The first sides of comparisons by what was found of them, in the order of verdicts' names."""
    return {verdict: [one.a for one in compared if one.verdict is verdict] for verdict in Verdict}


def swap_sides(one: Comparison) -> Comparison:
    """The same comparison seen from its other side; 0 has no sign to turn."""
    low, high = (None if end is None else 0.0 - end for end in (one.high, one.low))
    return replace(
        one,
        a=one.b,
        b=one.a,
        difference=None if one.difference is None else 0.0 - one.difference,
        low=low,
        high=high,
        only_a=one.only_b,
        only_b=one.only_a,
        verdict=_OPPOSITE.get(one.verdict, one.verdict),
    )


PAIR_COLUMNS = (
    *("a", "b", "metric", "difference", "low", "high", "level", "p", "adjusted_p", "tested_together"),
    *("shared_problems", "only_a", "only_b", "verdict", "test", "interval_method", "reason"),
)


def write_pairs_csv(compared: Iterable[Comparison]) -> str:
    """The columns ``PAIR_COLUMNS``: a minus b; what is not known is empty."""
    return write_table_csv(PAIR_COLUMNS, map(list_pair_fields, compared))


def list_pair_fields(one: Comparison) -> tuple[object, ...]:
    """A comparison in the order of ``PAIR_COLUMNS``."""
    return (
        *(one.a, one.b, one.metric, one.difference, one.low, one.high, one.level, one.p, one.adjusted_p),
        *(one.tested_together, one.shared, "; ".join(one.only_a), "; ".join(one.only_b)),
        *(VERDICT_WORDS[one.verdict], one.method, one.interval_method, one.reason),
    )


_MOST_NAMED, _MOST_REASONS = 8, 4
_VERDICTS = (
    "Better or worse: adjusted p below 0.05 and an interval without 0. Cannot tell: anything else. "
    "Too few: under 6 shared problems, not tested."
)
_VERDICT_SENTENCES = {
    Verdict.BETTER: "{names} {verb} better",
    Verdict.WORSE: "{names} {verb} worse",
    Verdict.UNCLEAR: "{names} {show} no clear difference",
    Verdict.TOO_FEW: "{names} {share} too few problems with it for a verdict",
}


def format_plain_difference(one: Comparison, context: ScoreContext) -> str:
    """A difference that is known, without its unit."""
    return format_difference(one.difference or 0.0, context, half=half_width(one)).removesuffix(" points")


def describe_pair(one: Comparison, context: ScoreContext) -> tuple[str, ...]:
    """Verdict, difference, interval and adjusted p of a cell, a line each; the unit stands elsewhere."""
    if one.difference is None:
        return ("missing", *wrap_cell(one.reason or "no shared problem").split("\n"))
    said = format_plain_difference(one, context)
    ends = format_interval(one.low, one.high, context, signed=True) or "no interval"
    if one.verdict is Verdict.TOO_FEW:
        return (VERDICT_WORDS[one.verdict], said, ends, f"{format_count(one.shared, 'problem')} shared")
    return (VERDICT_WORDS[one.verdict], said, ends, format_p_text(one.adjusted_p))


def describe_difference(one: Comparison, context: ScoreContext) -> str:
    """A difference with its interval and adjusted p in a sentence: ``+3.2 points [+0.4, +6.0], p = 0.01``."""
    if one.difference is None:
        return one.reason or "no shared problem"
    said = format_difference(one.difference, context, half=half_width(one))
    ends = format_interval(one.low, one.high, context, signed=True) or "(no interval)"
    return f"{said} {ends}, {format_p_text(one.adjusted_p)}"


def write_answer(compared: Sequence[Comparison], introduced: str, context: ScoreContext) -> str:
    """The sentence that says who is better, who is worse, and for whom no difference is clear.

    ``compared`` is each series minus the reference; ``introduced`` is the reference in words.
    """
    if not compared:
        return f"There is no other series to hold against {introduced}."
    alone = f" ({describe_difference(compared[0], context)})" if len(compared) == 1 else ""
    return f"Against {introduced}: {describe_verdicts(compared)}{alone}."


def describe_verdicts(compared: Sequence[Comparison]) -> str:
    """Who is better, worse, and so on: ``A is better; B and C show no clear difference``."""
    groups = [(verdict, names) for verdict, names in group_by_verdict(compared).items() if names]
    return "; ".join(
        _VERDICT_SENTENCES[verdict].format(
            names=join_names(names, most=_MOST_NAMED),
            verb="is" if len(names) == 1 else "are",
            show="shows" if len(names) == 1 else "show",
            share="shares" if len(names) == 1 else "share",
        )
        for verdict, names in groups
    )


def describe_comparisons(
    compared: Sequence[Comparison], context: ScoreContext, together: str
) -> tuple[str, ...]:
    """How differences, intervals, p and verdicts came about; ``together`` is what was adjusted together."""
    tested = max((one.tested_together for one in compared), default=0)
    unit = ", in points" if is_percent(context) else ""
    metric = name_metric(compared[0].metric, context)
    said = (
        f"Difference: mean over shared problems of the difference in {metric}{unit}.",
        _describe_intervals(compared),
        _describe_tests(compared, tested, together),
        _VERDICTS,
        "" if context.higher_is_better else "Lower is better: better is a negative difference.",
    )
    return tuple(filter(None, said))


def describe_shared(compared: Sequence[Comparison]) -> str:
    """How many problems stand behind the differences."""
    counts = sorted({one.shared for one in compared})
    if len(counts) == 1:
        return f"n = {counts[0]} problems shared by {'both' if len(compared) == 1 else 'every pair'}."
    return (
        f"n = {counts[0]} to {counts[-1]} problems shared by a pair; "
        "what only one side answered is left out and named in the data table."
    )


def list_reasons(compared: Sequence[Comparison]) -> tuple[str, ...]:
    """What is unusual about single pairs, said once for all that share it."""
    said = group_reasons(((f"{one.a} and {one.b}", one.reason) for one in compared), most=_MOST_REASONS)
    more = len(said) - _MOST_REASONS
    return (*said[:_MOST_REASONS], *([f"{more} more remarks stand in the data table."] if more > 0 else []))


def describe_power(
    benchmark: str,
    power: Power | None,
    context: ScoreContext,
    *,
    together: str = "pairs",
    reported: bool = False,
) -> str:
    """How large a true difference has to be to be found, alone and in the family; see ``FOUND_NOTE``.

    ``power`` is None where nothing was compared; ``together`` names what was tested together; ``reported``
    says that scores are used as reported, so that their problems are not known.
    """
    if power is None or power.difference is None or power.half is None:
        why = "its problems are not" if reported else "no two series share problems"
        why = power.reason if power else why
        return f"How large a difference on {benchmark} has to be to be found is not known: {why}."
    whole, half = _format_sizes(power.difference, context)
    basis = f"{format_count(power.problems, 'problem')} of {benchmark}{_describe_runs(power)}"
    said = (
        f"With the {basis} a true difference of {whole} is found {describe_chance(TARGET_POWER)}; "
        f"one of {half}, {describe_chance(power.half)}."
    )
    if power.family_difference is None or power.family_half is None:
        return said
    whole, half = _format_sizes(power.family_difference, context)
    among = f"Among these {power.together:,} {together}"
    return f"{said} {among} it takes {whole}; {half} are found {describe_chance(power.family_half)}."


FOUND_NOTE = "Found: the comparison gets a verdict, for a pair with the mean variance of all pairs."
"""What a difference that is found means."""


def _format_sizes(difference: float, context: ScoreContext) -> tuple[str, str]:
    """A difference and half of it."""
    return (
        format_difference(difference, context, signed=False),
        format_difference(difference / 2, context, signed=False),
    )


def _describe_runs(found: Power) -> str:
    """``and 3 runs of each series``; empty for one run."""
    fewest, most = found.runs
    if most == 1:
        return ""
    return f" and {fewest if fewest == most else f'{fewest} to {most}'} runs of each series"


def _describe_intervals(compared: Sequence[Comparison]) -> str:
    methods = join_names(
        list(dict.fromkeys(describe_method(c.interval_method) for c in compared if c.interval_method))
    )
    if not methods:
        return "No interval: see the remarks."
    return (
        f"Brackets: {format_level(compared[0].level)} interval of the mean difference on other problems like "
        f"these ({methods}), each by itself, not adjusted."
    )


def _describe_tests(compared: Sequence[Comparison], tested: int, together: str) -> str:
    # Exact ones first, whichever pair was written first.
    methods = sorted(
        {one.method for one in compared if one.method}, key=lambda one: ("exact" not in one, one)
    )
    if not methods:
        return ""
    said = join_names([method.replace(" 000", ",000") for method in methods])
    adjusted = (
        f"adjusted for {format_count(tested, together)} tested together (step-down test of the largest)"
        if tested > 1
        else ("one comparison, so no adjustment")
    )
    blocks = describe_family_blocks(compared)
    return f"p: two-sided test of the differences by problem ({said}), {adjusted}{blocks}."
