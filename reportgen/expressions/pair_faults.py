"""What is wrong where two parts of an expression meet: numbers of different kinds, a truth among numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.expressions.argument_faults import DATE_STEP, report_percent
from reportgen.expressions.faults import Fault, shorten
from reportgen.expressions.language import get_text
from reportgen.expressions.quantities import combine_kinds, describe_quantity, is_comparable
from reportgen.statements import Quantity

if TYPE_CHECKING:
    from reportgen.expressions.language import Tree
    from reportgen.expressions.quantities import Kind
    from reportgen.facts.subject import Subject

_DONE = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}
_PRODUCTS = {"*", "/"}
_IN_SUMS = "Put like and like together; a number written out, such as 0.5, goes with everything"
_IN_PRODUCTS = "Multiply with a number, a count or a ratio; divide by one of them, or like by like"
_OF_METRIC = {Quantity.VALUE, Quantity.DIFFERENCE}
_OF_STEPS = {Quantity.STEP, Quantity.STEPS}


def check_pair(
    text: str, left: tuple[str, Tree, Kind], operator: str, right: tuple[Tree, Kind], subject: Subject
) -> Fault | None:
    """Two numbers that cannot be computed with or compared; None if they can.

    Args:
        text: the expression.
        left: everything in front of the operator as written, its last part, and what kind it is.
        operator: a comparison or one of ``+ - * /``.
        right: what stands behind the operator, and what kind it is.
        subject: for what the numbers mean.
    """
    (words, first, kind), (second, other), scale = left, right, subject.scale
    arithmetic = operator in _DONE
    if (combine_kinds(operator, kind, other) is None) if arithmetic else not is_comparable(kind, other):
        here = shorten(words), shorten(get_text(text, second))
        said = ["a number" if one.plain else describe_quantity(one.quantity, scale) for one in (kind, other)]
        done = _DONE.get(operator, "compared")
        message = f"{here[0]} is {said[0]} and {here[1]} {said[1]}: they cannot be {done}"
        step = _IN_PRODUCTS if operator in _PRODUCTS else _IN_SUMS
        return Fault(first.position, second.position + second.length - first.position, message, step)
    if operator in _PRODUCTS:
        return None
    for tree, plain, measured in ((first, kind, other), (second, other, kind)):
        if plain.plain and scale.step_is_time and measured.quantity in _OF_STEPS:
            return _undated(text, tree, measured, subject)
        if plain.plain and plain.percent and scale.percent and measured.quantity in _OF_METRIC:
            return report_percent(text, tree, subject)
    return None


def check_truth(text: str, tree: Tree, kind: Kind, operator: str, subject: Subject) -> Fault | None:
    """A number where ``and``, ``or`` or ``not`` takes what is true or false; None if nothing is wrong."""
    if kind.quantity is Quantity.TRUTH:
        return None
    what = describe_quantity(kind.quantity, subject.scale)
    said = f'"{operator}" takes what is true or false, and {shorten(get_text(text, tree))} is {what}'
    return Fault(tree.position, tree.length, said, "Compare it with a number or with another fact")


def check_amount(text: str, tree: Tree, kind: Kind) -> Fault | None:
    """A truth where a number has to stand; None if nothing is wrong."""
    if kind.quantity is not Quantity.TRUTH:
        return None
    said = f"{shorten(get_text(text, tree))} is true or false, and no number"
    return Fault(tree.position, tree.length, said, 'Join what is true or false with "and", "or" and "not"')


def _undated(text: str, tree: Tree, measured: Kind, subject: Subject) -> Fault:
    is_what = describe_quantity(measured.quantity, subject.scale)
    said = f'"{shorten(get_text(text, tree))}" is a plain number, and what stands beside it is {is_what}'
    date = measured.quantity is Quantity.STEP
    return Fault(tree.position, tree.length, said, DATE_STEP if date else "Hold dates against each other")
