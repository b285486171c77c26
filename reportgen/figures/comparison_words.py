"""What is said of comparisons: cells, the sentence that answers first, and how every number came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.cell_lines import in_lines
from reportgen.figures.pairs import WORDS, by_verdict
from reportgen.figures.score_words import (
    blocks_words,
    difference_text,
    in_percent,
    interval_text,
    level_text,
    method_words,
    metric_text,
    p_text,
)
from reportgen.outcomes import OFTEN, Verdict
from reportgen.words import chance_words, counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import Comparison, Power

_MOST_NAMED, _MOST_REASONS = 8, 4
_VERDICTS = (
    "Better or worse: adjusted p below 0.05 and an interval without 0. Cannot tell: anything else. "
    "Too few: under 6 shared problems, not tested."
)
_SAID = {
    Verdict.BETTER: "{names} {verb} better",
    Verdict.WORSE: "{names} {verb} worse",
    Verdict.UNCLEAR: "{names} {show} no clear difference",
    Verdict.TOO_FEW: "{names} {share} too few problems with it for a verdict",
}


def half_width(one: Comparison) -> float | None:
    """Half the interval, which decides the digits."""
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def pair_lines(one: Comparison, context: ScoreContext) -> tuple[str, ...]:
    """Verdict, difference, interval and adjusted p of a cell, a line each; the unit stands elsewhere."""
    if one.difference is None:
        return ("missing", *in_lines(one.reason or "no shared problem").split("\n"))
    said = difference_text(one.difference, context, half=half_width(one)).removesuffix(" points")
    ends = interval_text(one.low, one.high, context, signed=True) or "no interval"
    if one.verdict is Verdict.TOO_FEW:
        return (WORDS[one.verdict], said, ends, f"{counted(one.shared, 'problem')} shared")
    return (WORDS[one.verdict], said, ends, p_text(one.adjusted_p))


def difference_words(one: Comparison, context: ScoreContext) -> str:
    """A difference with its interval and adjusted p in a sentence: ``+3.2 points [+0.4, +6.0], p = 0.01``."""
    if one.difference is None:
        return one.reason or "no shared problem"
    said = difference_text(one.difference, context, half=half_width(one))
    ends = interval_text(one.low, one.high, context, signed=True) or "(no interval)"
    return f"{said} {ends}, {p_text(one.adjusted_p)}"


def answer(compared: Sequence[Comparison], introduced: str, context: ScoreContext) -> str:
    """The sentence that says who is better, who is worse, and for whom no difference is clear.

    Args:
        compared: each series minus the reference.
        introduced: the reference in words, to stand after "Against".
        context: has the unit.
    """
    if not compared:
        return f"There is no other series to hold against {introduced}."
    alone = f" ({difference_words(compared[0], context)})" if len(compared) == 1 else ""
    return f"Against {introduced}: {verdict_words(compared)}{alone}."


def verdict_words(compared: Sequence[Comparison]) -> str:
    """Who is better, worse, and so on: ``A is better; B and C show no clear difference``."""
    groups = [(verdict, names) for verdict, names in by_verdict(compared).items() if names]
    return "; ".join(
        _SAID[verdict].format(
            names=listing(names, most=_MOST_NAMED),
            verb="is" if len(names) == 1 else "are",
            show="shows" if len(names) == 1 else "show",
            share="shares" if len(names) == 1 else "share",
        )
        for verdict, names in groups
    )


def how_compared(compared: Sequence[Comparison], context: ScoreContext, together: str) -> tuple[str, ...]:
    """How differences, intervals, p and verdicts came about; ``together`` is what was adjusted together."""
    tested = max((one.tested_together for one in compared), default=0)
    unit = ", in points" if in_percent(context) else ""
    metric = metric_text(compared[0].metric, context)
    said = (
        f"Difference: mean over shared problems of the difference in {metric}{unit}.",
        _intervals(compared),
        _tests(compared, tested, together),
        _VERDICTS,
        "" if context.higher_is_better else "Lower is better: better is a negative difference.",
    )
    return tuple(filter(None, said))


def shared_words(compared: Sequence[Comparison]) -> str:
    """How many problems stand behind the differences."""
    counts = sorted({one.shared for one in compared})
    if len(counts) == 1:
        return f"n = {counts[0]} problems shared by {'both' if len(compared) == 1 else 'every pair'}."
    return (
        f"n = {counts[0]} to {counts[-1]} problems shared by a pair; "
        "what only one side answered is left out and named in the data table."
    )


def reasons(compared: Sequence[Comparison]) -> tuple[str, ...]:
    """What is unusual about single pairs, said once for all that share it."""
    found: dict[str, list[str]] = {}
    for one in compared:
        if one.reason:
            found.setdefault(one.reason, []).append(f"{one.a} and {one.b}")
    said = [f"{listing(pairs, most=_MOST_REASONS)}: {reason}." for reason, pairs in found.items()]
    more = len(said) - _MOST_REASONS
    return (*said[:_MOST_REASONS], *([f"{more} more remarks stand in the data table."] if more > 0 else []))


def power_words(
    benchmark: str,
    found: Power | None,
    context: ScoreContext,
    *,
    together: str = "pairs",
    reported: bool = False,
) -> str:
    """How large a true difference has to be to be found, alone and in the family; see ``FOUND``.

    Args:
        benchmark: its name.
        found: None where nothing was compared.
        context: has the unit.
        together: what was tested together.
        reported: whether scores are used as reported, so that their problems are not known.
    """
    if found is None or found.difference is None or found.half is None:
        why = "its problems are not" if reported else "no two series share problems"
        why = found.reason if found else why
        return f"How large a difference on {benchmark} has to be to be found is not known: {why}."
    whole, half = _sizes(found.difference, context)
    basis = f"{counted(found.problems, 'problem')} of {benchmark}{_runs_words(found)}"
    said = (
        f"With the {basis} a true difference of {whole} is found {chance_words(OFTEN)}; one of {half}, "
        f"{chance_words(found.half)}."
    )
    if found.family_difference is None or found.family_half is None:
        return said
    whole, half = _sizes(found.family_difference, context)
    among = f"Among these {found.together:,} {together}"
    return f"{said} {among} it takes {whole}; {half} are found {chance_words(found.family_half)}."


FOUND = "Found: the comparison gets a verdict, for a pair with the mean variance of all pairs."
"""What a difference that is found means."""


def _sizes(difference: float, context: ScoreContext) -> tuple[str, str]:
    """A difference and half of it."""
    return (
        difference_text(difference, context, signed=False),
        difference_text(difference / 2, context, signed=False),
    )


def _runs_words(found: Power) -> str:
    """``and 3 runs of each series``; empty for one run."""
    fewest, most = found.runs
    if most == 1:
        return ""
    return f" and {fewest if fewest == most else f'{fewest} to {most}'} runs of each series"


def _intervals(compared: Sequence[Comparison]) -> str:
    methods = listing(
        list(dict.fromkeys(method_words(c.interval_method) for c in compared if c.interval_method))
    )
    if not methods:
        return "No interval: see the remarks."
    return (
        f"Brackets: {level_text(compared[0].level)} interval of the mean difference on other problems like "
        f"these ({methods}), each by itself, not adjusted."
    )


def _tests(compared: Sequence[Comparison], tested: int, together: str) -> str:
    # Exact ones first, whichever pair was written first.
    methods = sorted(
        {one.method for one in compared if one.method}, key=lambda one: ("exact" not in one, one)
    )
    if not methods:
        return ""
    said = listing([method.replace(" 000", ",000") for method in methods])
    adjusted = (
        f"adjusted for {counted(tested, together)} tested together (step-down test of the largest)"
        if tested > 1
        else ("one comparison, so no adjustment")
    )
    blocks = blocks_words(compared)
    return f"p: two-sided test of the differences by problem ({said}), {adjusted}{blocks}."
