"""What a comparison answers: its p value, whether one side is better, whether both are tied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.calls import Found
from reportgen.facts.fact_words import interval_words, value_words
from reportgen.outcomes import Verdict
from reportgen.statements import Quantity
from reportgen.words import equation, p_words

if TYPE_CHECKING:
    from reportgen.outcomes import Comparison
    from reportgen.statements import Scale

VERDICT_FACTS = frozenset({"p_value", "better", "tied"})
"""The facts that are answered here."""


def verdict_found(
    name: str, one: Comparison, scale: Scale, *, behind: str, few: str, step: float | None = None
) -> Found:
    """What a comparison says to ``p_value``, ``better`` or ``tied``.

    A pair that was not tested is neither better nor tied: equal runs on both sides leave nothing to test
    with, and a difference between them may still be real. Of two that differ none is known to be better where
    it is not known which way is.

    Args:
        name: the fact.
        one: a minus b, adjusted together with all pairs of the subject.
        scale: what its numbers mean.
        behind: what the test rests on, such as ``30 problems``.
        few: why it could not be tested where that is for too few runs or problems.
        step: where two curves were compared.
    """
    if one.adjusted_p is None:
        reason = few if one.verdict is Verdict.TOO_FEW else one.reason or few
        return Found(None, reason, step=step, n=one.shared)
    said = _difference(one, scale)
    if name == "p_value":
        return Found(one.adjusted_p, step=step, n=one.shared, note=f"{said}, {behind}")
    p = equation("adjusted p" if one.tested_together > 1 else "p", p_words(one.adjusted_p))
    note = f"{said}, {p}, {behind}"
    if name == "tied":
        remark = f"; {one.reason}" if one.reason else ""
        return Found(one.verdict is Verdict.UNCLEAR, step=step, n=one.shared, note=f"{note}{remark}")
    if scale.higher_is_better is None and one.verdict is not Verdict.UNCLEAR:
        return Found(None, _no_way(scale), step=step, n=one.shared, note=note)
    return Found(one.verdict is Verdict.BETTER, step=step, n=one.shared, note=note)


def _no_way(scale: Scale) -> str:
    return (
        f"the two differ, and it is not said whether a higher or a lower {scale.metric} is better: "
        "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
    )


def _difference(one: Comparison, scale: Scale) -> str:
    value = one.difference or 0.0
    if one.low is None or one.high is None:
        return f"difference {value_words(value, Quantity.DIFFERENCE, scale)}"
    return f"difference {interval_words(value, one.low, one.high, Quantity.DIFFERENCE, scale)}"
