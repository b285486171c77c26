"""What kind of number comes out of two: like goes with like, and a plain number with all.

``value - value`` is a difference, ``step - step`` a number of steps, like by like a plain number, and
anything multiplied with or divided by a plain number stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from reportgen.statements import Quantity, Scale


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
