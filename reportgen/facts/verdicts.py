"""What a comparison answers: its p value, whether one side is better, unclear, or equivalent to the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.facts.calls import Answer
from reportgen.facts.fact_words import format_quantity, format_quantity_interval
from reportgen.facts.subject import FactError
from reportgen.outcomes import Verdict
from reportgen.statements import Quantity
from reportgen.statistics.student_t import t_quantile
from reportgen.words import format_equation, format_p

if TYPE_CHECKING:
    from reportgen.outcomes import Comparison
    from reportgen.statements import Scale

VERDICT_FACTS = frozenset({"p_value", "better", "unclear", "equivalent", "tied"})
"""The facts that are answered here."""


def evaluate_verdict(
    name: str,
    one: Comparison,
    scale: Scale,
    numbers: tuple[float, ...] = (),
    *,
    behind: str,
    few: str,
    step: float | None = None,
) -> Answer:
    """What a comparison says to one of ``VERDICT_FACTS``.

    A pair that was not tested is neither better nor unclear: equal runs on both sides leave nothing to test
    with, and a difference between them may still be real. Of two that differ none is known to be better where
    it is not known which way is.

    Args:
        name: the fact.
        one: a minus b, adjusted together with all pairs of the subject.
        scale: what its numbers mean.
        numbers: the margin, for ``equivalent``.
        behind: what the test rests on, such as ``30 problems``.
        few: why it could not be tested where that is for too few runs or problems.
        step: where two curves were compared.

    Raises:
        FactError: the margin is not above 0.
    """
    if name == "equivalent":
        return replace(_test_equivalence(one, numbers[0], scale, behind, few), step=step, n=one.shared)
    if one.adjusted_p is None:
        reason = few if one.verdict is Verdict.TOO_FEW else one.reason or few
        return Answer(None, reason, step=step, n=one.shared)
    said = _difference(one, scale)
    if name == "p_value":
        return Answer(one.adjusted_p, step=step, n=one.shared, note=f"{said}, {behind}")
    p = format_equation("adjusted p" if one.tested_together > 1 else "p", format_p(one.adjusted_p))
    note = f"{said}, {p}, {behind}"
    if name in {"unclear", "tied"}:
        return replace(_unclear(name, one, note), step=step, n=one.shared)
    if scale.higher_is_better is None and one.verdict is not Verdict.UNCLEAR:
        return Answer(None, _no_way(scale), step=step, n=one.shared, note=note)
    return Answer(one.verdict is Verdict.BETTER, step=step, n=one.shared, note=note)


def _unclear(name: str, one: Comparison, note: str) -> Answer:
    if name == "tied" and one.verdict is Verdict.UNCLEAR and not is_within(one.low, one.high):
        return Answer(
            None, f"the interval of the difference excludes 0, and the test does not decide: {note}"
        )
    remark = f"; {one.reason}" if one.reason else ""
    return Answer(one.verdict is Verdict.UNCLEAR, note=f"{note}{remark}")


def is_within(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Whether an interval holds a value; one that is not known may hold any."""
    return low is None or high is None or low <= value <= high


def _test_equivalence(one: Comparison, margin: float, scale: Scale, behind: str, few: str) -> Answer:
    """Two one-sided t tests at 5 % each (Schuirmann 1987): the 90 % interval lies inside the margin.

    An interval that was widened for what the standard error does not show stays as much wider.
    """
    if not margin > 0:
        raise FactError("The margin of equivalent is not above 0", "Give the largest difference that is none")
    if one.difference is None or not one.stderr or one.df is None or one.low is None or one.high is None:
        return Answer(None, few if one.verdict is Verdict.TOO_FEW else one.reason or few)
    half = t_quantile(0.95, one.df) * one.stderr
    narrower = t_quantile(0.95, one.df) / t_quantile((1 + one.level) / 2, one.df)
    low = one.difference - max(half, (one.difference - one.low) * narrower)
    high = one.difference + max(half, (one.high - one.difference) * narrower)
    inside = -margin < low and high < margin
    said = format_quantity_interval(one.difference, low, high, Quantity.DIFFERENCE, scale)
    limit = format_quantity(margin, Quantity.DIFFERENCE, scale, signed=False)
    where = "inside" if inside else "not inside"
    return Answer(inside, note=f"difference {said} at 90 %, {where} ±{limit}, {behind}")


def _no_way(scale: Scale) -> str:
    return (
        f"the two differ, and it is not said whether a higher or a lower {scale.metric} is better: "
        "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
    )


def _difference(one: Comparison, scale: Scale) -> str:
    value = one.difference or 0.0
    if one.low is None or one.high is None:
        return f"difference {format_quantity(value, Quantity.DIFFERENCE, scale)}"
    return f"difference {format_quantity_interval(value, one.low, one.high, Quantity.DIFFERENCE, scale)}"
