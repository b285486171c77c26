"""What an expression asks, checked before anything is evaluated: names, arguments, quantities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reportgen.claims.expressions.amounts import Kind, combine_kinds, describe_quantity
from reportgen.claims.expressions.faults import ExpressionError, Fault, shorten
from reportgen.claims.expressions.language import (
    COMPARISONS,
    Call,
    Chain,
    Name,
    Number,
    Prefix,
    Tree,
    get_text,
    parse,
)
from reportgen.claims.expressions.mistakes import (
    check_amount,
    check_count,
    check_distinct,
    check_name,
    check_number,
    check_pair,
    check_series,
    check_truth,
    explain_unknown_fact,
    get_example_series,
    suggest_fact,
)
from reportgen.claims.facts.vocabulary import FACTS, ParameterKind
from reportgen.core.statements import Quantity

if TYPE_CHECKING:
    from reportgen.claims.facts.vocabulary import Subject


Purpose: TypeAlias = Literal["value", "claim"]
"""What an expression is for: a bound value is a number, a claim holds or not."""


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """An expression that can be evaluated: every name is known, and every number goes with the next.

    Attributes:
        text: as its author wrote it.
        tree: what was read.
        quantity: what kind of number it is.
    """

    text: str
    tree: Tree
    quantity: Quantity


def check_expression(text: str, subject: Subject, purpose: Purpose | None = None) -> CheckedExpression:
    """Read and check an expression without evaluating it; ``purpose`` is None where both will do.

    Raises:
        ExpressionError: with everything that is wrong, or with the first thing that makes it unreadable.
    """
    tree = parse(text)
    checker = _Checker(text, subject)
    kind = checker.infer_kind(tree)
    if checker.faults or kind is None:
        raise ExpressionError(checker.faults)
    fault = _check_purpose(text, tree, kind, purpose, subject)
    if fault:
        raise ExpressionError([fault])
    return CheckedExpression(text, tree, kind.quantity)


def _check_purpose(
    text: str, tree: Tree, kind: Kind, purpose: Purpose | None, subject: Subject
) -> Fault | None:
    here, truth = shorten(get_text(text, tree)), kind.quantity is Quantity.TRUTH
    if kind.constant:
        fact = "final" if subject.holds == "curves" else "score"
        said = "This asks nothing of the data"
        step = f"Write a fact in it, such as {fact}({get_example_series(subject)})"
    elif purpose == "claim" and not truth:
        said = f"A claim holds or not, and {here} is {describe_quantity(kind.quantity, subject.scale)}"
        step = f"Compare it, such as {here} > 0.5, or write value= instead of claim="
    elif purpose == "value" and truth:
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

    def infer_kind(self, tree: Tree) -> Kind | None:
        match tree:
            case Number():
                return Kind(Quantity.NUMBER, constant=True, percent=tree.percent)
            case Name():
                fault = check_name(tree, self._subject)
                return self._check_kind(Kind(Quantity.STEP, constant=True), fault)
            case Call():
                return self._infer_call(tree)
            case Prefix():
                if tree.operator == "not":
                    return self._expect_truth(tree.of, "not")
                return self._expect_number(tree.of)
            case Chain():
                return self._infer_chain(tree)

    def _expect_truth(self, tree: Tree, operator: str) -> Kind | None:
        kind = self.infer_kind(tree)
        fault = check_truth(self._text, tree, kind, operator, self._subject) if kind else None
        return self._check_kind(kind, fault)

    def _expect_number(self, tree: Tree) -> Kind | None:
        kind = self.infer_kind(tree)
        fault = check_amount(self._text, tree, kind) if kind else None
        return self._check_kind(kind, fault)

    def _report(self, fault: Fault | None) -> None:
        if fault:
            self.faults.append(fault)

    def _check_kind(self, kind: Kind | None, fault: Fault | None) -> Kind | None:
        self._report(fault)
        return None if fault else kind

    def _infer_call(self, call: Call) -> Kind | None:
        said = explain_unknown_fact(call.name, self._subject.holds)
        if said:
            step = suggest_fact(call.name, self._subject, brief=self._listed)
            self._listed = True
            return self._check_kind(None, Fault(call.position, len(call.name), said, step))
        fact = FACTS[call.name]
        fault = check_count(self._text, call, fact)
        self._report(fault)
        for argument, parameter in zip(call.arguments, fact.parameters, strict=False):
            if parameter.kind is ParameterKind.SERIES:
                # With the wrong count, an argument may well stand in the wrong place.
                self._report(None if fault else check_series(self._text, argument, fact, self._subject))
            elif parameter.kind is ParameterKind.STEP and isinstance(argument, Name):
                self._report(check_name(argument, self._subject, Quantity.STEP))
            elif (kind := self._expect_number(argument)) and not fault:
                self._report(check_number(self._text, argument, kind, fact, self._subject))
        if not fault and [parameter.name for parameter in fact.parameters[:2]] == ["a", "b"]:
            self._report(check_distinct(self._text, call))
        return Kind(fact.quantity)

    def _infer_chain(self, chain: Chain) -> Kind | None:
        operator = chain.operators[0]
        if operator in {"and", "or"}:
            return _make_truth_kind([self._expect_truth(part, operator) for part in chain.parts])
        kinds = [self._expect_number(part) for part in chain.parts]
        if operator not in COMPARISONS:
            return self._infer_arithmetic(chain, kinds)
        for at, sign in enumerate(chain.operators):
            self._infer_pair(
                chain, at, (get_text(self._text, chain.parts[at]), kinds[at]), sign, kinds[at + 1]
            )
        return _make_truth_kind(kinds)

    def _infer_arithmetic(self, chain: Chain, kinds: list[Kind | None]) -> Kind | None:
        total = kinds[0]
        for at, sign in enumerate(chain.operators):
            # All that stands in front of the operator, without the operator itself.
            before = self._text[chain.position : chain.parts[at + 1].position].rstrip(" \t\n(+-−*/×")
            total = self._infer_pair(chain, at, (before, total), sign, kinds[at + 1])
        return total

    def _infer_pair(
        self, chain: Chain, at: int, left: tuple[str, Kind | None], sign: str, other: Kind | None
    ) -> Kind | None:
        words, kind = left
        if kind is None or other is None:
            return None
        first, second = chain.parts[at : at + 2]
        fault = check_pair(self._text, (words, first, kind), sign, (second, other), self._subject)
        return self._check_kind(None if sign in COMPARISONS else combine_kinds(sign, kind, other), fault)


def _make_truth_kind(kinds: list[Kind | None]) -> Kind:
    return Kind(Quantity.TRUTH, constant=all(kind is not None and kind.constant for kind in kinds))
