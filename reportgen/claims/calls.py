"""A call of a fact and the fact that answers it, also from a comparison of two series."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.claims.fact_words import format_quantity, format_quantity_interval
from reportgen.claims.vocabulary import FACTS, FactError, ParameterKind, quote_name
from reportgen.core.comparisons import Verdict
from reportgen.core.statements import Fact, Quantity
from reportgen.core.words import format_equation, format_moment, format_p, join_names
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from reportgen.claims.vocabulary import Argument, Subject
    from reportgen.core.comparisons import Comparison
    from reportgen.core.statements import Scale


# Beyond these a whole number is written with its exponent, as 1e16 and not as digits nobody can count.
_PLAIN_BELOW = 1e15
TOO_LARGE = "the numbers are too large to compute with"


def make_question(
    name: str, arguments: tuple[Argument, ...], subject: Subject
) -> tuple[Fact, tuple[float, ...]]:
    """A fact that has no value yet, from its name and arguments, and those of the arguments that are numbers.

    Raises ``FactError``: there is no such series, one is held against itself, or a number is not finite.
    """
    series = tuple(one for one in arguments if isinstance(one, str))
    for one in series:
        if one not in subject.series:
            raise FactError(f"There is no series {one}", f"The series are {join_names(subject.series)}")
    numbers = tuple(float(one) for one in arguments if not isinstance(one, str))
    if len(set(series)) < len(series):
        raise FactError(f"{name} holds {series[0]} against itself", "Name two different series")
    if not all(math.isfinite(one) for one in numbers):
        raise FactError(f"{name} is asked for a number that is not finite", "Give a finite number")
    text = format_call(name, arguments, subject.scale)
    return Fact(text, FACTS[name].quantity, None, series=series), numbers


def format_call(name: str, arguments: tuple[Argument, ...], scale: Scale) -> str:
    """A call as an expression has it: ``peak(MEL)``, ``at('Series A', 15)``, ``at(A, '2024-05-01')``."""
    texts = []
    for one, parameter in zip(arguments, FACTS[name].parameters, strict=True):
        if isinstance(one, str):
            texts.append(quote_name(one))
            continue
        number = float(one)
        dated = scale.step_is_time and parameter.kind is ParameterKind.STEP
        moment = format_moment(number) if dated else None
        whole = number == round(number) and abs(number) < _PLAIN_BELOW
        texts.append(f"'{moment}'" if moment is not None else str(int(number)) if whole else repr(number))
    return f"{name}({', '.join(texts)})"


def drop_infinite(fact: Fact) -> Fact:
    """The fact; a number that is too large for a float is none."""
    if any(one is not None and not math.isfinite(one) for one in (fact.value, fact.step)):
        return Fact(fact.call, fact.quantity, None, TOO_LARGE, fact.series)
    if any(end is None or not math.isfinite(end) for end in (fact.low, fact.high)):
        return replace(fact, low=None, high=None)
    return fact


# The facts that are answered here.
VERDICT_FACTS = frozenset({"p_value", "better", "unclear", "equivalent", "tied"})


def evaluate_verdict(
    question: Fact,
    one: Comparison,
    scale: Scale,
    numbers: tuple[float, ...] = (),
    *,
    behind: str,
    few: str,
    step: float | None = None,
) -> Fact:
    """What a comparison, a minus b, adjusted together with all pairs of the subject, says to a question.

    A pair that was not tested is neither better nor unclear: equal runs on both sides leave nothing to test
    with, and a difference between them may still be real. Of two that differ none is known to be better where
    it is not known which way is. ``numbers`` holds the margin, for ``equivalent``; ``behind`` is what the
    test rests on, such as ``30 problems``; ``few`` is why it could not be tested where that is for too few
    runs or problems; ``step`` is where two curves were compared. Raises ``FactError`` for a margin of 0.
    """
    question, name = replace(question, step=step, n=one.shared), question.name
    untested = few if one.verdict is Verdict.TOO_FEW else one.reason or few
    if name == "equivalent":
        tested = _test_equivalence(question, one, numbers[0], scale, behind)
        return tested or replace(question, reason=untested)
    if one.adjusted_p is None:
        return replace(question, reason=untested)
    unclear = one.verdict is Verdict.UNCLEAR
    difference = format_quantity_interval(
        one.difference or 0.0, one.low, one.high, Quantity.DIFFERENCE, scale
    )
    p = format_equation("adjusted p" if one.tested_together > 1 else "p", format_p(one.adjusted_p))
    note = f"difference {difference}, {p}, {behind}"
    value: float | bool | None = None
    reason = ""
    if name == "p_value":
        value, note = one.adjusted_p, f"difference {difference}, {behind}"
    elif name == "tied" and unclear and not is_within(one.low, one.high):
        reason = f"the interval of the difference excludes 0, and the test does not decide: {note}"
        note = ""
    elif name in {"unclear", "tied"}:
        value, note = unclear, f"{note}; {one.reason}" if one.reason else note
    elif scale.higher_is_better is None and not unclear:
        reason = (
            f"the two differ, and it is not said whether a higher or a lower {scale.metric} is better: "
            "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
        )
    else:
        value = one.verdict is Verdict.BETTER
    return replace(question, value=value, reason=reason, note=note)


def is_within(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Whether an interval holds a value; one that is not known may hold any."""
    return low is None or high is None or low <= value <= high


def _test_equivalence(
    question: Fact, one: Comparison, margin: float, scale: Scale, behind: str
) -> Fact | None:
    """Two one-sided t tests at 5 % each (Schuirmann 1987): the 90 % interval lies inside the margin.

    An interval that was widened for what the standard error does not show stays as much wider. None where
    there is no interval.
    """
    if not margin > 0:
        raise FactError("The margin of equivalent is not above 0", "Give the largest difference that is none")
    if one.difference is None or not one.stderr or one.df is None or one.low is None or one.high is None:
        return None
    half = t_quantile(0.95, one.df) * one.stderr
    narrower = t_quantile(0.95, one.df) / t_quantile((1 + one.level) / 2, one.df)
    low = one.difference - max(half, (one.difference - one.low) * narrower)
    high = one.difference + max(half, (one.high - one.difference) * narrower)
    inside = -margin < low and high < margin
    difference = format_quantity_interval(one.difference, low, high, Quantity.DIFFERENCE, scale)
    limit = format_quantity(margin, Quantity.DIFFERENCE, scale, signed=False)
    where = "inside" if inside else "not inside"
    return replace(
        question, value=inside, note=f"difference {difference} at 90 %, {where} ±{limit}, {behind}"
    )
