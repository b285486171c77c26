"""Evaluation of an expression: a number in full, or a truth with the comparisons that decide it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.checking import Kind, combine_kinds
from reportgen.claims.language import Call, Chain, Name, Number, Prefix, Tree, get_text, make_fault, shorten
from reportgen.claims.vocabulary import OF_RUNS, FactError
from reportgen.core.facts import FACTS, ParameterKind
from reportgen.core.statements import ExpressionError, Fact, Fault, Quantity, Truth
from reportgen.core.words import parse_moment

if TYPE_CHECKING:
    from reportgen.claims.checking import CheckedExpression
    from reportgen.claims.vocabulary import Argument, Subject


# Floating-point sums are off by less than this fraction of their terms: closer numbers are equal.
_SLACK = 1e-9
# Dates are whole milliseconds, and a billionth of the time since 1970 is more than a second.
_SLACK_OF_MOMENTS = 0.5
_LARGEST = sys.float_info.max


class Amount(Struct, frozen=True):
    """A number during evaluation.

    Two numbers are equal within the larger slack. It is a billionth of the largest number that the value
    comes from, so that ``final(A) - final(B) = 0.1`` holds for 0.9 and 0.8, and scaling both sides changes no
    comparison.
    """

    kind: Kind
    value: float | None  # finite, or None if unknown
    slack: float = 0.0  # its possible error
    reason: str = ""  # why there is no value, a phrase
    fact: Fact | None = None  # the fact, if it is nothing else
    minuend: Fact | None = None  # the first fact, if it is one minus another
    subtrahend: Fact | None = None
    text: str = ""  # of a side of a comparison, as its author wrote it

    @property
    def quantity(self) -> Quantity:
        """The quantity of the number."""
        return self.kind.quantity


def compute_amount(operator: str, left: Amount, right: Amount, divisor: str) -> Amount:
    """Compute ``left operator right`` for ``+ - * /`` and compatible kinds.

    Division by 0, with the text ``divisor``, and numbers that are too large give no value.
    """
    kind = combine_kinds(operator, left.kind, right.kind) or left.kind
    a, b, slack_a, slack_b = left.value, right.value, left.slack, right.slack
    if a is None or b is None:
        return Amount(kind, None, 0.0, join_reasons((left.reason, right.reason)))
    if operator == "/" and abs(b) <= slack_b:
        return Amount(kind, None, 0.0, f"{divisor} is 0, and nothing can be divided by it")
    if operator == "*":
        value, slack = a * b, max(slack_a * abs(b), abs(a) * slack_b)
    elif operator == "/":
        value = a / b
        slack = max(slack_a / abs(b), abs(value) * (slack_b / abs(b)))
    else:
        value, slack = a - b if operator == "-" else a + b, max(slack_a, slack_b)
    if abs(value) > _LARGEST:
        return Amount(kind, None, 0.0, "the numbers become too large")
    facts = (left.fact, right.fact) if operator == "-" and left.fact and right.fact else (None, None)
    return Amount(kind, value + 0.0, min(slack, _LARGEST), "", None, *facts)


def compare_amounts(operator: str, left: Amount, right: Amount) -> bool | None:
    """Return whether the comparison of unrounded numbers is true; None if one of them has no value."""
    if left.value is None or right.value is None:
        return None
    equal = abs(left.value - right.value) <= max(left.slack, right.slack)
    if operator in {"=", "!="}:
        return equal is (operator == "=")
    if equal:
        return operator in {"<=", ">="}
    return left.value < right.value if operator in {"<", "<="} else left.value > right.value


def join_reasons(several: tuple[str, ...]) -> str:
    """Join the reasons for a missing value, each once."""
    return "; ".join(dict.fromkeys(reason for reason in several if reason))


class Part(Struct, frozen=True):
    """A comparison, or a fact such as ``better``, that is true or false; ``a < b < c`` has two parts."""

    text: str  # as its author wrote it; of a chain the two sides concerned
    truth: Truth
    reason: str  # why it is undecided, a phrase
    operator: str  # empty for a fact
    sides: tuple[Amount, ...]  # left and right of the operator, with their text; empty for a fact
    fact: Fact | None  # the fact that is true or false; None for a comparison


class Result(Struct, frozen=True):
    """Result of an expression.

    ``deciding`` are the parts that decide it: of a claim that fails, what has to change; of one that holds,
    what it depends on; of an undecided one, what is undecided.
    """

    quantity: Quantity
    value: float | bool | None  # finite, or None if unknown
    reason: str  # why there is no value, a phrase
    facts: tuple[Fact, ...]  # each once, in order of evaluation: those that a step comes from first
    parts: tuple[Part, ...] = ()  # of a claim, in the order of the text
    deciding: tuple[Part, ...] = ()


def to_truth(value: bool | None) -> Truth:  # noqa: FBT001 - the three values of a truth
    """Convert to a truth; None is undecided."""
    return Truth.UNDECIDED if value is None else Truth.HOLDS if value else Truth.FAILS


def evaluate(expression: CheckedExpression, subject: Subject) -> Result:
    """Evaluate every fact of a checked expression, and the expression itself.

    No part is left out because another one already decides: the evidence is complete. Truth has three values
    (Kleene): what is undecided decides nothing, and undecided ``and`` false is false. Raises
    ``ExpressionError`` with the facts for which the results have no answer, and their positions.
    """
    evaluator = _Evaluator(expression.text, subject)
    is_truth = expression.quantity is Quantity.TRUTH
    outcome = (evaluator.evaluate_truth if is_truth else evaluator.evaluate_amount)(expression.tree)
    if evaluator.faults:
        raise ExpressionError(evaluator.faults)
    facts = tuple(dict.fromkeys(evaluator.facts))
    if isinstance(outcome, Amount):
        return Result(expression.quantity, outcome.value, outcome.reason, facts)
    truth, deciding = outcome
    reason = join_reasons(tuple(part.reason for part in deciding)) if truth is None else ""
    return Result(expression.quantity, truth, reason, facts, tuple(evaluator.parts), deciding)


# A truth, None if undecided, and the parts that decide it.
_Decision = tuple[bool | None, tuple[Part, ...]]


class _Evaluator:
    """Walks the tree from its leaves; a fact without an answer is reported, and undecided until then."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.faults: list[Fault] = []
        self.facts: list[Fact] = []
        self.parts: list[Part] = []
        self._text = text
        self._subject = subject

    def evaluate_truth(self, tree: Tree) -> _Decision:
        match tree:
            case Prefix():
                truth, deciding = self.evaluate_truth(tree.of)
                return None if truth is None else not truth, deciding
            case Chain() if tree.operators[0] in {"and", "or"}:
                return _join_decisions(tree.operators[0], [self.evaluate_truth(part) for part in tree.parts])
            case Chain():
                sides = [
                    replace(self.evaluate_amount(part), text=get_text(self._text, part))
                    for part in tree.parts
                ]
                decisions: list[_Decision] = []
                for at, operator in enumerate(tree.operators):
                    pair = (sides[at], sides[at + 1])
                    # Cut from a chain, the words of two sides could miss a parenthesis.
                    cut = f"{pair[0].text} {operator} {pair[1].text}"
                    text = cut if len(tree.operators) > 1 else get_text(self._text, tree)
                    truth = compare_amounts(operator, *pair)
                    reason = join_reasons(tuple(side.reason for side in pair))
                    part = Part(text, to_truth(truth), reason, operator, pair, None)
                    decisions.append((truth, (part,)))
                    self.parts.append(part)
                return _join_decisions("and", decisions)
            case Call():
                fact, text = self._get_fact(tree), get_text(self._text, tree)
                truth = None if fact.value is None else bool(fact.value)
                part = Part(text, to_truth(truth), fact.reason, "", (), fact)
                self.parts.append(part)
                return truth, (part,)
        raise TypeError(f"not a truth: {tree}")  # checked before

    def evaluate_amount(self, tree: Tree) -> Amount:
        match tree:
            case Number():
                return Amount(Kind(Quantity.NUMBER, constant=True), tree.value, abs(tree.value) * _SLACK)
            case Name():
                kind = Kind(Quantity.STEP, constant=True)
                return Amount(kind, parse_moment(tree.name) or 0.0, _SLACK_OF_MOMENTS)
            case Call():
                fact = self._get_fact(tree)
                kind = Kind(fact.quantity)
                if fact.value is None:
                    return Amount(kind, None, 0.0, fact.reason, fact)
                largest = [abs(float(fact.value))]
                if fact.quantity is Quantity.DIFFERENCE:  # a gap of 1e-17 between values near 1 is 0
                    of_runs = self._subject.scale.of_runs
                    of_curves = (OF_RUNS[of_runs],) if of_runs else ("peak", "trough")
                    names = of_curves if self._subject.holds == "curves" else ("score",)
                    values = (self._subject.fact(name, (one,)).value for name in names for one in fact.series)
                    largest += [abs(value) for value in values if value is not None]
                dated = self._subject.scale.step_is_time
                dated = dated and fact.quantity in {Quantity.STEP, Quantity.STEPS}
                slack = _SLACK_OF_MOMENTS if dated else max(largest) * _SLACK
                return Amount(kind, float(fact.value), slack, "", fact)
            case Prefix():
                amount = self.evaluate_amount(tree.of)
                value = None if amount.value is None else 0.0 - amount.value
                return Amount(amount.kind, value, amount.slack, amount.reason)
            case Chain():
                total, *others = (self.evaluate_amount(part) for part in tree.parts)
                for operator, part, other in zip(tree.operators, tree.parts[1:], others, strict=True):
                    total = compute_amount(operator, total, other, shorten(get_text(self._text, part)))
                return total

    def _get_fact(self, call: Call) -> Fact:
        """Return a fact; it has no value if an argument has none, or the results have no answer."""
        kind = FACTS[call.name]
        arguments: list[Argument] = []
        unknown = []
        names = {ParameterKind.SERIES, ParameterKind.METRIC}
        for argument, parameter in zip(call.arguments, kind.parameters, strict=False):
            if parameter.kind in names and isinstance(argument, Name):
                arguments.append(argument.name)
                continue
            amount = self.evaluate_amount(argument)
            arguments.append(0.0 if amount.value is None else amount.value)
            unknown += [amount.reason] if amount.value is None else []
        pairs = zip(arguments, kind.parameters, strict=False)
        series = tuple(str(one) for one, parameter in pairs if parameter.kind is ParameterKind.SERIES)
        fact = Fact(get_text(self._text, call), kind.quantity, None, join_reasons(tuple(unknown)), series)
        if not unknown:
            try:
                fact = self._subject.fact(call.name, tuple(arguments))
            except FactError as error:
                self.faults.append(make_fault(call, error.message, error.next_step))
        self.facts.append(fact)
        return fact


def _join_decisions(operator: str, several: list[_Decision]) -> _Decision:
    """Apply Kleene's ``and`` or ``or``; what decides is what alone suffices, else what is undecided."""
    decisive = operator == "or"
    truths = [truth for truth, _ in several]
    result = decisive if decisive in truths else None if None in truths else not decisive
    return result, tuple(part for truth, deciding in several if truth is result for part in deciding)
