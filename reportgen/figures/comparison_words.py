"""What is said of comparisons: cells, the sentence that answers first, and how every number came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.cell_lines import in_lines
from reportgen.figures.pairs import WORDS, by_verdict
from reportgen.figures.score_words import (
    difference_text,
    in_percent,
    interval_text,
    level_text,
    method_words,
    metric_text,
    p_text,
)
from reportgen.outcomes import Verdict
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import Comparison, Resolution

_MOST_NAMED, _MOST_REASONS = 8, 4
_VERDICTS = (
    "Better or worse: adjusted p below 0.05 and an interval without 0. Cannot tell: anything else. "
    "Too few: under 6 shared problems, not tested."
)
_SAID = {
    Verdict.BETTER: "{names} {verb} better",
    Verdict.WORSE: "{names} {verb} worse",
    Verdict.UNCLEAR: "{names} {verb} not clearly different",
    Verdict.TOO_FEW: "{names} {share} too few problems with it to tell",
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
    """The sentence that says who is better, who is worse, and who cannot be told from the reference.

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
    """Who is better, worse, and so on: ``A is better; B and C cannot be told from it``."""
    groups = [(verdict, names) for verdict, names in by_verdict(compared).items() if names]
    return "; ".join(
        _SAID[verdict].format(
            names=listing(names, most=_MOST_NAMED),
            verb="is" if len(names) == 1 else "are",
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


def resolution_words(
    benchmark: str, found: Resolution | None, context: ScoreContext, *, reported: bool = False
) -> str:
    """What a benchmark can show: the smallest difference; ``power_words`` says what that means.

    Of scores that are used as ``reported`` nothing is known, since their problems are not.
    """
    if found is None or found.difference is None:
        why = "its problems are not" if reported else "no two series share problems"
        why = found.reason if found else why
        return f"What {benchmark} can tell apart is not known: {why}."
    smallest = difference_text(found.difference, context, signed=False)
    problems = counted(found.problems, "problem")
    return f"Differences under {smallest} cannot be told with the {problems} of {benchmark}."


def power_words(found: Resolution | None) -> str:
    """What "can be told" means; empty where nothing is known."""
    if found is None or found.difference is None:
        return ""
    return (
        f"Told: a true difference of that size is shown with {level_text(found.power)} probability, for a "
        f"typical pair, in one comparison at the {level_text(found.alpha)} level, before the adjustment for "
        "many."
    )


def largest_undecided(comparisons: Iterable[Comparison]) -> Comparison | None:
    """The largest difference that could not be told from none: more problems would decide it first."""
    undecided = [one for one in comparisons if one.verdict is Verdict.UNCLEAR and one.difference]
    return max(undecided, key=lambda one: abs(one.difference or 0.0), default=None)


def needed_sentence(one: Comparison, found: Resolution, context: ScoreContext) -> str:
    """How many problems an undecided difference would need, taken for the true one."""
    seen = difference_text(found.observed or 0.0, context, signed=False)
    between = f"the {seen} seen between {one.a} and {one.b}"
    if found.needed is None:
        return f"No number of problems would do for {between}."
    if found.needed <= found.problems:
        return (
            f"For {between} {found.needed:,} problems would do in a comparison by itself; "
            f"among {one.tested_together:,} tested together {found.problems:,} do not."
        )
    return f"{found.needed:,} problems would do for {between}."


def needed_words(found: Resolution, context: ScoreContext) -> str:
    """How many problems a pair's own difference would need: ``112 for the 3.2 points seen``."""
    if found.observed is None:
        return ""
    seen = difference_text(found.observed, context, signed=False)
    if found.needed is None:
        return f"no number for the {seen} seen"
    return f"{found.needed:,} for the {seen} seen"


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
    return f"p: two-sided test of the differences by problem ({said}), {adjusted}."
