"""What the data say to an expression: a number, or a truth with the comparisons that make it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.claims.expressions.amounts import (
    Amount,
    compare_amounts,
    compute_amount,
    join_reasons,
    make_fact_amount,
    make_moment,
    make_number,
    negate_amount,
)
from reportgen.claims.expressions.faults import ExpressionError, Fault, shorten
from reportgen.claims.expressions.language import Call, Chain, Name, Number, Prefix, Tree, get_text
from reportgen.claims.facts.vocabulary import FACTS, FactError, ParameterKind
from reportgen.core.statements import Fact, Quantity, Truth
from reportgen.core.words import parse_moment

if TYPE_CHECKING:
    from reportgen.claims.expressions.checking import CheckedExpression
    from reportgen.claims.facts.vocabulary import Argument, Subject


@dataclass(frozen=True, slots=True)
class Part:
    """The smallest thing in a claim that holds or not: a comparison, or a fact such as ``better``.

    ``a < b < c`` has two parts.

    Attributes:
        text: the part as its author wrote it; of a chain the two sides concerned.
        truth: what the data say to it.
        reason: why it is undecided, a phrase; otherwise empty.
        operator: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``!=``; empty for a fact.
        sides: left and right of the operator, with their text; empty for a fact.
        fact: the fact that is true or false; None for a comparison.
        position, length: where it stands in the expression.
    """

    text: str
    truth: Truth
    reason: str
    operator: str
    sides: tuple[Amount, ...]
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


def evaluate(expression: CheckedExpression, subject: Subject) -> Result:
    """Ask the subject of a checked expression for every fact in it, and say what comes out.

    No part is left out because another one decides already: the evidence is whole. Truth has three values
    (Kleene): what is undecided decides nothing, and undecided ``and`` false is false.

    Raises:
        ExpressionError: facts that the results have no answer to, each where it stands.
    """
    evaluator = _Evaluator(expression.text, subject)
    is_truth = expression.quantity is Quantity.TRUTH
    found = (evaluator.evaluate_truth if is_truth else evaluator.evaluate_amount)(expression.tree)
    if evaluator.faults:
        raise ExpressionError(evaluator.faults)
    facts = tuple(dict.fromkeys(evaluator.facts))
    if isinstance(found, Amount):
        return Result(expression.quantity, found.value, found.reason, facts)
    reason = join_reasons(tuple(part.reason for part in found.deciding)) if found.truth is None else ""
    parts = tuple(sorted(evaluator.parts, key=lambda part: part.position))
    return Result(expression.quantity, found.truth, reason, facts, parts, found.deciding)


@dataclass(frozen=True, slots=True)
class _TruthResult:
    """A truth, None where it is undecided, and the parts that make it so."""

    truth: bool | None
    deciding: tuple[Part, ...] = ()


class _Evaluator:
    """Walks the tree from its leaves. A fact without an answer is told, and undecided until then."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.faults: list[Fault] = []
        self.facts: list[Fact] = []
        self.parts: list[Part] = []
        self._text = text
        self._subject = subject

    def evaluate_truth(self, tree: Tree) -> _TruthResult:
        match tree:
            case Prefix():
                inner = self.evaluate_truth(tree.of)
                return _TruthResult(None if inner.truth is None else not inner.truth, inner.deciding)
            case Chain() if tree.operators[0] in {"and", "or"}:
                return _join_truths(tree.operators[0], [self.evaluate_truth(part) for part in tree.parts])
            case Chain():
                return self._evaluate_comparisons(tree)
            case Call():
                return self._evaluate_fact(tree)
        raise TypeError(f"not a truth: {tree}")  # checked before

    def evaluate_amount(self, tree: Tree) -> Amount:
        match tree:
            case Number():
                return make_number(tree.value)
            case Name():
                return make_moment(parse_moment(tree.name) or 0.0)
            case Call():
                fact = self._get_fact(tree)
                dated = self._subject.scale.step_is_time
                return make_fact_amount(fact, scale=self._find_scale(fact), dated=dated)
            case Prefix():
                return negate_amount(self.evaluate_amount(tree.of))
            case Chain():
                total, *others = (self.evaluate_amount(part) for part in tree.parts)
                for operator, part, other in zip(tree.operators, tree.parts[1:], others, strict=True):
                    total = compute_amount(operator, total, other, shorten(get_text(self._text, part)))
                return total

    def _evaluate_comparisons(self, chain: Chain) -> _TruthResult:
        amounts = [self.evaluate_amount(part) for part in chain.parts]
        sides = [
            replace(amount, text=get_text(self._text, tree))
            for tree, amount in zip(chain.parts, amounts, strict=True)
        ]
        judged = []
        for at, operator in enumerate(chain.operators):
            first, last = chain.parts[at : at + 2]
            # Cut from a chain, the words of two sides could miss a parenthesis.
            text = f"{sides[at].text} {operator} {sides[at + 1].text}"
            start, length = first.position, last.position + last.length - first.position
            if len(chain.operators) == 1:
                text, start, length = get_text(self._text, chain), chain.position, chain.length
            truth = compare_amounts(operator, *amounts[at : at + 2])
            reason = join_reasons((amounts[at].reason, amounts[at + 1].reason))
            pair = tuple(sides[at : at + 2])
            part = Part(text, to_truth(truth), reason, operator, pair, None, start, length)
            judged.append(_TruthResult(truth, (part,)))
            self.parts.append(part)
        return _join_truths("and", judged)

    def _evaluate_fact(self, call: Call) -> _TruthResult:
        fact = self._get_fact(call)
        truth = None if fact.value is None else bool(fact.value)
        text = get_text(self._text, call)
        part = Part(text, to_truth(truth), fact.reason, "", (), fact, call.position, call.length)
        self.parts.append(part)
        return _TruthResult(truth, (part,))

    def _get_fact(self, call: Call) -> Fact:
        """A fact; one without a value where an argument has none, or where the results have no answer."""
        kind = FACTS[call.name]
        arguments: list[Argument] = []
        unknown = []
        for argument, parameter in zip(call.arguments, kind.parameters, strict=True):
            if parameter.kind is ParameterKind.SERIES and isinstance(argument, Name):
                arguments.append(argument.name)
                continue
            amount = self.evaluate_amount(argument)
            arguments.append(0.0 if amount.value is None else amount.value)
            unknown += [amount.reason] if amount.value is None else []
        series = tuple(argument for argument in arguments if isinstance(argument, str))
        fact = Fact(get_text(self._text, call), kind.quantity, None, join_reasons(tuple(unknown)), series)
        if not unknown:
            try:
                fact = self._subject.fact(call.name, tuple(arguments))
            except FactError as error:
                self.faults.append(Fault(call.position, call.length, error.message, error.next_step))
        self.facts.append(fact)
        return fact

    def _find_scale(self, fact: Fact) -> float:
        """The largest number that a difference comes from: a gap of 1e-17 between values near 1 is none."""
        if fact.quantity is not Quantity.DIFFERENCE or fact.value is None:
            return 0.0
        names = ("peak", "trough") if self._subject.holds == "curves" else ("score",)
        values = [self._subject.fact(name, (series,)).value for name in names for series in fact.series]
        return max((abs(value) for value in values if value is not None), default=0.0)


def _join_truths(operator: str, several: list[_TruthResult]) -> _TruthResult:
    """Kleene's ``and`` and ``or``, and what decides them: what alone would do, else what is undecided."""
    decisive = operator == "or"
    truths = [one.truth for one in several]
    result = decisive if decisive in truths else None if None in truths else not decisive
    return _TruthResult(
        result, tuple(part for one in several if one.truth is result for part in one.deciding)
    )
