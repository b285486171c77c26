"""A part of a claim in words: ``0.84 is above 0.82``, with as many digits as tell the two apart."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from reportgen.facts.fact_words import value_words
from reportgen.statements import Quantity, Truth
from reportgen.words import SMALLEST_P, number

if TYPE_CHECKING:
    from reportgen.expressions.results import Part, Side
    from reportgen.statements import Scale

# A double has no more digits than these.
MOST_DIGITS = 17
# Equal to the language: what it compares is right to a billionth.
_CLOSE = 1e-9
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")
_FAILED = {">": "is not above", "<": "is not below", ">=": "is below", "<=": "is above"}
_OF_STEPS = {"above": "after", "below": "before"}


def part_words(part: Part, scale: Scale) -> str:
    """Why a part holds, fails or is undecided; empty for a fact that says no more than its truth."""
    if part.truth is Truth.UNDECIDED:
        return part.reason
    if part.fact is not None:
        return part.fact.note
    left, right = part.sides
    if left.value is None or right.value is None:
        return part.reason
    if _equal(part, left.value, right.value):
        words = _words(left.value, _quantity(left, right), scale)
        return f"{words} equals {words}"
    words, others = _told_apart((left, left.value), (right, right.value), scale)
    return f"{words} {_verb(part, left.value > right.value, _quantity(left, right))} {others}"


def _equal(part: Part, left: float, right: float) -> bool:
    """Whether the language took the two as equal."""
    holds = part.truth is Truth.HOLDS
    if part.operator in {"=", "!="}:
        return holds is (part.operator == "=")
    # Where the truth is not that of the bare numbers, they differ by less than their slack.
    strict = left < right if part.operator.startswith("<") else left > right
    return left == right or strict is not holds or math.isclose(left, right, rel_tol=_CLOSE)


def _quantity(side: Side, other: Side) -> Quantity:
    """A plain number is told as what it is compared with."""
    return other.quantity if side.quantity is Quantity.NUMBER and side.fact is None else side.quantity


def _verb(part: Part, above: bool, quantity: Quantity) -> str:  # noqa: FBT001 - of two numbers that differ
    if part.operator in {"=", "!="}:
        return "differs from"
    holds = part.truth is Truth.HOLDS
    words = ("is above" if above else "is below") if holds else _FAILED[part.operator]
    for word, of_steps in _OF_STEPS.items():
        words = words.replace(word, of_steps) if quantity is Quantity.STEP else words
    return words


def _told_apart(left: tuple[Side, float], right: tuple[Side, float], scale: Scale) -> tuple[str, str]:
    """Two numbers that differ, in words that differ."""
    kinds = (_quantity(left[0], right[0]), _quantity(right[0], left[0]))
    words, others = _words(left[1], kinds[0], scale), _words(right[1], kinds[1], scale)
    for decimals in range(min(decimals_of(words), decimals_of(others)) + 1, MOST_DIGITS):
        if words != others:
            return words, others
        words = _words(left[1], kinds[0], scale, decimals)
        others = _words(right[1], kinds[1], scale, decimals)
    return number(left[1], significant=MOST_DIGITS), number(right[1], significant=MOST_DIGITS)


def decimals_of(words: str) -> int:
    """How many digits stand behind the first point of some words."""
    found = _DECIMALS.search(words)
    return len(found[1]) if found else 0


def _words(value: float, quantity: Quantity, scale: Scale, decimals: int | None = None) -> str:
    if quantity is Quantity.PROBABILITY and decimals is None and value < SMALLEST_P:
        # What is compared is a number: "< 0.001 is below 0.05" reads badly.
        return number(value, significant=2)
    return value_words(value, quantity, scale, decimals=decimals, signed=False)
