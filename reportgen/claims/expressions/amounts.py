"""The numbers of an expression: what kind each one is, and how they are computed and compared.

Like goes with like, and a plain number with all. ``value - value`` is a difference, ``step - step`` a number
of steps, like by like a plain number, and anything multiplied with or divided by a plain number stays what
it is. Numbers are never rounded and never infinite, and equal within their slack.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.core.statements import Quantity, Scale

if TYPE_CHECKING:
    from reportgen.core.statements import Fact


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a part of an expression before its value is.

    Attributes:
        quantity: what kind of number it is.
        constant: whether it asks nothing of the data; a constant plain number goes with every quantity.
        percent: whether a percent sign stands in it; only for a plain number.
    """

    quantity: Quantity
    constant: bool = False
    percent: bool = False

    @property
    def plain(self) -> bool:
        """Whether it goes with every quantity."""
        return self.constant and self.quantity is Quantity.NUMBER


_UNITS = {
    Quantity.VALUE: "metric",
    Quantity.DIFFERENCE: "metric",
    Quantity.STEP: "steps",
    Quantity.STEPS: "steps",
    Quantity.PROBABILITY: "none",
    Quantity.NUMBER: "none",
    Quantity.TRUTH: "truth",
}
# The difference of two places is a distance; a place and a distance give a place.
_DISTANCES = {Quantity.VALUE: Quantity.DIFFERENCE, Quantity.STEP: Quantity.STEPS}


def is_comparable(left: Kind, right: Kind) -> bool:
    """Whether the two can be compared, added and subtracted."""
    return left.plain or right.plain or _UNITS[left.quantity] == _UNITS[right.quantity]


def combine_kinds(operator: str, left: Kind, right: Kind) -> Kind | None:
    """What ``left operator right`` is, for ``+ - * /``; None if it means nothing."""
    quantity = (_combine_sum if operator in {"+", "-"} else _combine_product)(operator, left, right)
    if quantity is None:
        return None
    percent = quantity is Quantity.NUMBER and (left.percent or right.percent)
    return Kind(quantity, left.constant and right.constant, percent)


def describe_quantity(quantity: Quantity, scale: Scale) -> str:
    """What asks the data, in a sentence: ``a value of "accuracy"``, ``a step``."""
    of = f' of "{scale.metric}"' if scale.metric else ""
    words = {
        Quantity.VALUE: f"a value{of}",
        Quantity.DIFFERENCE: f"a difference{of}",
        Quantity.STEP: "a date" if scale.step_is_time else "a step",
        Quantity.STEPS: "a stretch of time" if scale.step_is_time else "a number of steps",
        Quantity.PROBABILITY: "a probability",
        Quantity.NUMBER: "a count or a ratio",
        Quantity.TRUTH: "true or false",
    }
    return words[quantity]


def _combine_sum(operator: str, left: Kind, right: Kind) -> Quantity | None:
    if not is_comparable(left, right):
        return None
    if left.plain or right.plain:
        return right.quantity if left.plain else left.quantity
    if left.quantity == right.quantity:
        return _DISTANCES.get(left.quantity, left.quantity) if operator == "-" else left.quantity
    # A place and a distance, or a probability and a plain number.
    places = {Quantity.VALUE, Quantity.STEP, Quantity.NUMBER}
    return left.quantity if left.quantity in places else right.quantity


def _combine_product(operator: str, left: Kind, right: Kind) -> Quantity | None:
    if right.quantity is Quantity.NUMBER:
        return left.quantity
    if operator == "*" and left.quantity is Quantity.NUMBER:
        return right.quantity
    if _UNITS[left.quantity] == _UNITS[right.quantity]:
        return Quantity.NUMBER if operator == "/" or _UNITS[left.quantity] == "none" else None
    return None


# A machine's sums are off by less than this share of what is summed: what is closer counts as equal.
_SLACK = 1e-9
# Dates are whole milliseconds, and a billionth of the time since 1970 is more than a second.
_SLACK_OF_MOMENTS = 0.5
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Amount:
    """A number on its way through an expression.

    Attributes:
        kind: what kind of number it is.
        value: a finite number; None where nobody can know it.
        slack: how far off it may be; two numbers are equal within the larger slack. It is a billionth of the
            largest number that the value comes from, so that ``final(A) - final(B) = 0.1`` holds for 0.9
            and 0.8, and scaling both sides changes no comparison.
        reason: why there is no value, a phrase; otherwise empty.
        fact: the fact that it is, where it is nothing else than one fact.
        minuend, subtrahend: the two facts, where it is one of them less the other.
        text: of a side of a comparison, as its author wrote it; otherwise empty.
    """

    kind: Kind
    value: float | None
    slack: float = 0.0
    reason: str = ""
    fact: Fact | None = None
    minuend: Fact | None = None
    subtrahend: Fact | None = None
    text: str = ""

    @property
    def quantity(self) -> Quantity:
        """What kind of number it is."""
        return self.kind.quantity


def make_number(value: float) -> Amount:
    """A number that the author wrote."""
    return Amount(Kind(Quantity.NUMBER, constant=True), value, abs(value) * _SLACK)


def make_moment(milliseconds: float) -> Amount:
    """A date that the author wrote."""
    return Amount(Kind(Quantity.STEP, constant=True), milliseconds, _SLACK_OF_MOMENTS)


def make_fact_amount(fact: Fact, *, scale: float, dated: bool) -> Amount:
    """What a fact says; ``scale`` is the largest number that it was computed from."""
    if fact.value is None:
        return Amount(Kind(fact.quantity), None, 0.0, fact.reason, fact)
    value = float(fact.value)
    steps = fact.quantity in {Quantity.STEP, Quantity.STEPS}
    slack = _SLACK_OF_MOMENTS if dated and steps else max(abs(value), scale) * _SLACK
    return Amount(Kind(fact.quantity), value, slack, "", fact)


def negate_amount(amount: Amount) -> Amount:
    """The number with its sign turned."""
    value = None if amount.value is None else 0.0 - amount.value
    return Amount(amount.kind, value, amount.slack, amount.reason)


def compute_amount(operator: str, left: Amount, right: Amount, divisor: str) -> Amount:
    """``left operator right`` for ``+ - * /``, of kinds that go with each other.

    What is divided by 0, for which ``divisor`` is the text, or is too large for a number, has no value.
    """
    kind = combine_kinds(operator, left.kind, right.kind) or left.kind
    if left.value is None or right.value is None:
        return Amount(kind, None, 0.0, join_reasons((left.reason, right.reason)))
    if operator == "/" and abs(right.value) <= right.slack:
        return Amount(kind, None, 0.0, f"{divisor} is 0, and nothing can be divided by it")
    # Subtracting is adding the opposite, to the last bit.
    sign, rule = (-1.0, _add) if operator == "-" else (1.0, _ARITHMETIC[operator])
    value, slack = rule(left.value, left.slack, sign * right.value, right.slack)
    if abs(value) > _LARGEST:
        return Amount(kind, None, 0.0, "the numbers become too large")
    facts = (left.fact, right.fact) if operator == "-" and left.fact and right.fact else (None, None)
    return Amount(kind, value + 0.0, min(slack, _LARGEST), "", None, *facts)


def compare_amounts(operator: str, left: Amount, right: Amount) -> bool | None:
    """Whether the comparison holds, on the numbers in full; None where one of them has no value."""
    if left.value is None or right.value is None:
        return None
    equal = abs(left.value - right.value) <= max(left.slack, right.slack)
    if operator in {"=", "!="}:
        return equal is (operator == "=")
    if equal:
        return operator in {"<=", ">="}
    return left.value < right.value if operator in {"<", "<="} else left.value > right.value


def join_reasons(several: tuple[str, ...]) -> str:
    """Why there is no value, each reason once."""
    return "; ".join(dict.fromkeys(reason for reason in several if reason))


def _add(a: float, slack_a: float, b: float, slack_b: float) -> tuple[float, float]:
    return a + b, max(slack_a, slack_b)


def _multiply(a: float, slack_a: float, b: float, slack_b: float) -> tuple[float, float]:
    return a * b, max(slack_a * abs(b), abs(a) * slack_b)


def _divide(a: float, slack_a: float, b: float, slack_b: float) -> tuple[float, float]:
    quotient = a / b
    return quotient, max(slack_a / abs(b), abs(quotient) * (slack_b / abs(b)))


_ARITHMETIC = {"+": _add, "*": _multiply, "/": _divide}
