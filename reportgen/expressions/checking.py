"""An expression held against what there is to ask, before anything is asked: names, arguments, quantities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reportgen.expressions.argument_faults import (
    count_fault,
    first_series,
    name_fault,
    number_fault,
    series_fault,
    twice_fault,
)
from reportgen.expressions.faults import ExpressionError, Fault, shortened
from reportgen.expressions.language import (
    COMPARISONS,
    Call,
    Chain,
    Name,
    Number,
    Prefix,
    Tree,
    parse,
    part_of,
)
from reportgen.expressions.pair_faults import amount_fault, pair_fault, truth_fault
from reportgen.expressions.quantities import Kind, combined, quantity_words
from reportgen.expressions.unknown_names import no_such_fact, which_fact
from reportgen.facts.vocabulary import FACTS, ParameterKind
from reportgen.statements import Quantity

if TYPE_CHECKING:
    from reportgen.facts.subject import Subject

Wanted: TypeAlias = Literal["value", "claim"]
"""What an expression is for: a bound value is a number, a claim holds or not."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An expression that can be evaluated: every name is known, and every number goes with the next.

    Attributes:
        text: as its author wrote it.
        tree: what was read.
        quantity: what kind of number it is.
    """

    text: str
    tree: Tree
    quantity: Quantity


def checked(text: str, subject: Subject, wanted: Wanted | None = None) -> Checked:
    """An expression, read and checked; nothing is asked of the data.

    Args:
        text: the expression.
        subject: what its facts will be asked of.
        wanted: what it is for; None where both will do.

    Raises:
        ExpressionError: with everything that is wrong, or with the first thing that makes it unreadable.
    """
    tree = parse(text)
    checker = _Checker(text, subject)
    kind = checker.kind(tree)
    if checker.faults or kind is None:
        raise ExpressionError(checker.faults)
    fault = _misplaced(text, tree, kind, wanted, subject)
    if fault:
        raise ExpressionError([fault])
    return Checked(text, tree, kind.quantity)


def _misplaced(text: str, tree: Tree, kind: Kind, wanted: Wanted | None, subject: Subject) -> Fault | None:
    here, truth = shortened(part_of(text, tree)), kind.quantity is Quantity.TRUTH
    if kind.constant:
        fact = "final" if subject.holds == "curves" else "score"
        said = "This asks nothing of the data"
        step = f"Write a fact in it, such as {fact}({first_series(subject)})"
    elif wanted == "claim" and not truth:
        said = f"A claim holds or not, and {here} is {quantity_words(kind.quantity, subject.scale)}"
        step = f"Compare it, such as {here} > 0.5, or write value= instead of claim="
    elif wanted == "value" and truth:
        said = f"A bound value is a number, and {here} is true or false"
        step = "Write claim= instead of value="
    else:
        return None
    return Fault(tree.position, tree.length, said, step)


class _Checker:
    """Walks the tree from its leaves; what is known to be wrong is None, and told once."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.faults: list[Fault] = []
        self._text = text
        self._subject = subject
        self._listed = False

    def kind(self, tree: Tree) -> Kind | None:
        match tree:
            case Number():
                return Kind(Quantity.NUMBER, constant=True, percent=tree.percent)
            case Name():
                fault = name_fault(tree, self._subject)
                return self._sound(Kind(Quantity.STEP, constant=True), fault)
            case Call():
                return self._call(tree)
            case Prefix():
                return self._truth(tree.of, "not") if tree.operator == "not" else self._number(tree.of)
            case Chain():
                return self._chain(tree)

    def _truth(self, tree: Tree, operator: str) -> Kind | None:
        kind = self.kind(tree)
        fault = truth_fault(self._text, tree, kind, operator, self._subject) if kind else None
        return self._sound(kind, fault)

    def _number(self, tree: Tree) -> Kind | None:
        kind = self.kind(tree)
        fault = amount_fault(self._text, tree, kind) if kind else None
        return self._sound(kind, fault)

    def _told(self, fault: Fault | None) -> None:
        if fault:
            self.faults.append(fault)

    def _sound(self, kind: Kind | None, fault: Fault | None) -> Kind | None:
        self._told(fault)
        return None if fault else kind

    def _call(self, call: Call) -> Kind | None:
        said = no_such_fact(call.name, self._subject.holds)
        if said:
            step = which_fact(call.name, self._subject, brief=self._listed)
            self._listed = True
            return self._sound(None, Fault(call.position, len(call.name), said, step))
        fact = FACTS[call.name]
        fault = count_fault(self._text, call, fact)
        self._told(fault)
        for argument, parameter in zip(call.arguments, fact.parameters, strict=False):
            if parameter.kind is ParameterKind.SERIES:
                # With the wrong count, an argument may well stand in the wrong place.
                self._told(None if fault else series_fault(self._text, argument, fact, self._subject))
            elif parameter.kind is ParameterKind.STEP and isinstance(argument, Name):
                self._told(name_fault(argument, self._subject, Quantity.STEP))
            elif (kind := self._number(argument)) and not fault:
                self._told(number_fault(self._text, argument, kind, fact, self._subject))
        if not fault and [parameter.name for parameter in fact.parameters[:2]] == ["a", "b"]:
            self._told(twice_fault(self._text, call))
        return Kind(fact.quantity)

    def _chain(self, chain: Chain) -> Kind | None:
        operator = chain.operators[0]
        if operator in {"and", "or"}:
            return _truth_of([self._truth(part, operator) for part in chain.parts])
        kinds = [self._number(part) for part in chain.parts]
        if operator not in COMPARISONS:
            return self._computed(chain, kinds)
        for at, sign in enumerate(chain.operators):
            self._pair(chain, at, (part_of(self._text, chain.parts[at]), kinds[at]), sign, kinds[at + 1])
        return _truth_of(kinds)

    def _computed(self, chain: Chain, kinds: list[Kind | None]) -> Kind | None:
        total = kinds[0]
        for at, sign in enumerate(chain.operators):
            # All that stands in front of the operator, without the operator itself.
            before = self._text[chain.position : chain.parts[at + 1].position].rstrip(" \t\n(+-−*/×")
            total = self._pair(chain, at, (before, total), sign, kinds[at + 1])
        return total

    def _pair(
        self, chain: Chain, at: int, left: tuple[str, Kind | None], sign: str, other: Kind | None
    ) -> Kind | None:
        words, kind = left
        if kind is None or other is None:
            return None
        first, second = chain.parts[at : at + 2]
        fault = pair_fault(self._text, (words, first, kind), sign, (second, other), self._subject)
        return self._sound(None if sign in COMPARISONS else combined(sign, kind, other), fault)


def _truth_of(kinds: list[Kind | None]) -> Kind:
    return Kind(Quantity.TRUTH, constant=all(kind is not None and kind.constant for kind in kinds))
