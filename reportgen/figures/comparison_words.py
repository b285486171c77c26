"""What is said of comparisons: cells, the sentence that answers first, and how every number came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.cell_lines import wrap_cell
from reportgen.figures.pairs import VERDICT_WORDS, group_by_verdict
from reportgen.figures.score_words import (
    describe_family_blocks,
    describe_method,
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    is_percent,
    name_metric,
)
from reportgen.outcomes import TARGET_POWER, Verdict
from reportgen.words import describe_chance, format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import Comparison, Power

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


def half_width(one: Comparison) -> float | None:
    """Half the interval, which decides the digits."""
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def describe_pair(one: Comparison, context: ScoreContext) -> tuple[str, ...]:
    """Verdict, difference, interval and adjusted p of a cell, a line each; the unit stands elsewhere."""
    if one.difference is None:
        return ("missing", *wrap_cell(one.reason or "no shared problem").split("\n"))
    said = format_difference(one.difference, context, half=half_width(one)).removesuffix(" points")
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

    Args:
        compared: each series minus the reference.
        introduced: the reference in words, to stand after "Against".
        context: has the unit.
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
    found: dict[str, list[str]] = {}
    for one in compared:
        if one.reason:
            found.setdefault(one.reason, []).append(f"{one.a} and {one.b}")
    said = [f"{join_names(pairs, most=_MOST_REASONS)}: {reason}." for reason, pairs in found.items()]
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

    Args:
        benchmark: its name.
        power: None where nothing was compared.
        context: has the unit.
        together: what was tested together.
        reported: whether scores are used as reported, so that their problems are not known.
    """
    if power is None or power.difference is None or power.half is None:
        why = "its problems are not" if reported else "no two series share problems"
        why = power.reason if power else why
        return f"How large a difference on {benchmark} has to be to be found is not known: {why}."
    whole, half = _format_sizes(power.difference, context)
    basis = f"{format_count(power.problems, 'problem')} of {benchmark}{_describe_runs(power)}"
    said = (
        f"With the {basis} a true difference of {whole} is found {describe_chance(TARGET_POWER)}; one of {half}, "
        f"{describe_chance(power.half)}."
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
