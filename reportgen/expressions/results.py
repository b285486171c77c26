"""What comes out of an expression: a number, or a truth with the parts that make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.statements import Truth

if TYPE_CHECKING:
    from reportgen.statements import Fact, Quantity


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        text: the side as its author wrote it.
        quantity: what kind of number it is.
        value: a finite number; None where nobody can know it.
        reason: why there is no value, a phrase; otherwise empty.
        fact: the fact that it is, where it is nothing else than one fact.
        minuend, subtrahend: the two facts, where it is one of them less the other.
    """

    text: str
    quantity: Quantity
    value: float | None
    reason: str = ""
    fact: Fact | None = None
    minuend: Fact | None = None
    subtrahend: Fact | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The smallest thing in a claim that holds or not: a comparison, or a fact such as ``better``.

    ``a < b < c`` has two parts.

    Attributes:
        text: the part as its author wrote it; of a chain the two sides concerned.
        truth: what the data say to it.
        reason: why it is undecided, a phrase; otherwise empty.
        operator: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``!=``; empty for a fact.
        sides: left and right of the operator; empty for a fact.
        fact: the fact that is true or false; None for a comparison.
        position, length: where it stands in the expression.
    """

    text: str
    truth: Truth
    reason: str
    operator: str
    sides: tuple[Side, ...]
    fact: Fact | None
    position: int
    length: int


@dataclass(frozen=True, slots=True)
class Result:
    """What the data say to an expression.

    Attributes:
        quantity: what kind of number it is; ``TRUTH`` for a claim.
        value: a finite number or a truth; None where nobody can know.
        reason: why there is no value, a phrase; otherwise empty.
        facts: every fact asked, each once, in the order of asking: what a step is taken from comes first.
        parts: every part of a claim, in the order of the text; empty for a number.
        deciding: those of the parts that make it what it is: of a claim that fails, what has to change;
            of one that holds, what it rests on; of an undecided one, what is undecided.
    """

    quantity: Quantity
    value: float | bool | None
    reason: str
    facts: tuple[Fact, ...]
    parts: tuple[Part, ...] = ()
    deciding: tuple[Part, ...] = ()


def to_truth(value: bool | None) -> Truth:  # noqa: FBT001 - the three values of a truth
    """What the data say, where None is what nobody can know."""
    return Truth.UNDECIDED if value is None else Truth.HOLDS if value else Truth.FAILS
