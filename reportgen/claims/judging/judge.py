"""What the data say to a bound value or a claim, in finished words."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from reportgen.claims.expressions.checking import check_expression
from reportgen.claims.expressions.evaluation import evaluate, to_truth
from reportgen.claims.expressions.faults import ExpressionError
from reportgen.claims.expressions.language import Call
from reportgen.claims.facts.calls import is_within
from reportgen.claims.facts.fact_words import (
    describe_fact,
    describe_position,
    format_fact_interval,
    format_quantity,
    format_quantity_interval,
)
from reportgen.claims.facts.vocabulary import FactError
from reportgen.claims.judging.agreement import agrees, check_unit, get_typed_value, repair
from reportgen.claims.judging.typed import read_typed
from reportgen.core.statements import Judgement, Quantity, Truth
from reportgen.core.words import SMALLEST_P, format_equation, format_number

if TYPE_CHECKING:
    from reportgen.claims.expressions.amounts import Amount
    from reportgen.claims.expressions.checking import CheckedExpression
    from reportgen.claims.expressions.evaluation import Part, Result
    from reportgen.claims.expressions.faults import Fault
    from reportgen.claims.facts.vocabulary import Subject
    from reportgen.claims.judging.typed import Typed
    from reportgen.core.statements import Binding, Fact, Scale


# A double has no more digits than these.
MOST_DIGITS = 17
# Equal to the language: what it compares is right to a billionth.
_CLOSE = 1e-9
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")
_FAILED = {">": "is not above", "<": "is not below", ">=": "is below", "<=": "is above"}
_OF_STEPS = {"above": "after", "below": "before"}
# Facts of one series of which two have a difference with an interval, on curves at the step of both.
_OF_SCORES, _OF_CURVES = {"score", "rank"}, {"start", "final", "at"}


def describe_part(part: Part, scale: Scale) -> str:
    """Why a part holds, fails or is undecided; empty for a fact that says no more than its truth."""
    if part.truth is Truth.UNDECIDED:
        return part.reason
    if part.fact is not None:
        return part.fact.note
    left, right = part.sides
    if left.value is None or right.value is None:
        return part.reason
    if _is_equal(part, left.value, right.value):
        words = _format_number(left.value, _get_quantity(left, right), scale)
        return f"{words} equals {words}"
    words, others = _format_apart((left, left.value), (right, right.value), scale)
    return f"{words} {_choose_verb(part, left.value > right.value, _get_quantity(left, right))} {others}"


def describe_noise(part: Part, subject: Subject) -> str:
    """What says that a comparison holds only within noise; empty where nothing does.

    The interval of the difference holds the number that the difference is compared with, or the verdicts of
    all pairs leave more ranks than the one stated.
    """
    if part.truth is not Truth.HOLDS or not part.operator:
        return ""
    try:
        return _describe_ranks(part, subject) or _describe_difference(part, subject)
    except FactError:
        return ""


def _describe_ranks(part: Part, subject: Subject) -> str:
    for side, other in (part.sides, part.sides[::-1]):
        if side.fact and side.fact.name == "rank" and other.fact is None:
            best, worst = (subject.fact(name, side.fact.series).value for name in ("best_rank", "worst_rank"))
            if best is not None and worst is not None and best < worst:
                return f"the verdicts leave it the ranks {best:.0f} to {worst:.0f}"
    return ""


def _describe_difference(part: Part, subject: Subject) -> str:
    fact, value = _find_difference(part, subject)
    if part.operator == "=" or fact is None or fact.value is None or fact.low is None or fact.high is None:
        return ""
    if not is_within(fact.low, fact.high, value):
        return ""
    limit = format_quantity(value, Quantity.DIFFERENCE, subject.scale) if value else "0"
    ends = format_quantity_interval(
        float(fact.value), fact.low, fact.high, Quantity.DIFFERENCE, subject.scale
    )
    return f"the interval of the difference holds {limit}: {ends}"


def _find_difference(part: Part, subject: Subject) -> tuple[Fact | None, float]:
    """The difference of two series that a comparison is about, and the number it is compared with."""
    left, right = part.sides
    if left.fact and right.fact:
        return _get_difference(left.fact, right.fact, subject), 0.0
    for side, other in ((left, right), (right, left)):
        if side.fact and side.fact.name in {"difference", "gap"}:
            return side.fact, other.value or 0.0
        if side.minuend and side.subtrahend:
            return _get_difference(side.minuend, side.subtrahend, subject), other.value or 0.0
    return None, 0.0


def _get_difference(one: Fact, other: Fact, subject: Subject) -> Fact | None:
    pair = (*one.series, *other.series)
    if len(set(pair)) < len(pair) or one.name != other.name:
        return None
    if one.name in _OF_SCORES:
        return subject.fact("difference", pair)
    if one.name in _OF_CURVES and one.step is not None and one.step == other.step:
        return subject.fact("gap", (*pair, one.step))
    return None


def _is_equal(part: Part, left: float, right: float) -> bool:
    """Whether the language took the two as equal."""
    holds = part.truth is Truth.HOLDS
    if part.operator in {"=", "!="}:
        return holds is (part.operator == "=")
    # Where the truth is not that of the bare numbers, they differ by less than their slack.
    strict = left < right if part.operator.startswith("<") else left > right
    return left == right or strict is not holds or math.isclose(left, right, rel_tol=_CLOSE)


def _get_quantity(side: Amount, other: Amount) -> Quantity:
    """A plain number is told as what it is compared with."""
    return other.quantity if side.quantity is Quantity.NUMBER and side.fact is None else side.quantity


def _choose_verb(part: Part, above: bool, quantity: Quantity) -> str:  # noqa: FBT001 - of two numbers that differ
    if part.operator in {"=", "!="}:
        return "differs from"
    holds = part.truth is Truth.HOLDS
    words = ("is above" if above else "is below") if holds else _FAILED[part.operator]
    for word, of_steps in _OF_STEPS.items():
        words = words.replace(word, of_steps) if quantity is Quantity.STEP else words
    return words


def _format_apart(left: tuple[Amount, float], right: tuple[Amount, float], scale: Scale) -> tuple[str, str]:
    """Two numbers that differ, in words that differ."""
    kinds = (_get_quantity(left[0], right[0]), _get_quantity(right[0], left[0]))
    words, others = _format_number(left[1], kinds[0], scale), _format_number(right[1], kinds[1], scale)
    for decimals in range(min(count_decimals(words), count_decimals(others)) + 1, MOST_DIGITS):
        if words != others:
            return words, others
        words = _format_number(left[1], kinds[0], scale, decimals)
        others = _format_number(right[1], kinds[1], scale, decimals)
    return format_number(left[1], significant=MOST_DIGITS), format_number(right[1], significant=MOST_DIGITS)


def count_decimals(words: str) -> int:
    """How many digits stand behind the first point of some words."""
    found = _DECIMALS.search(words)
    return len(found[1]) if found else 0


def _format_number(value: float, quantity: Quantity, scale: Scale, decimals: int | None = None) -> str:
    if quantity is Quantity.PROBABILITY and decimals is None and value < SMALLEST_P:
        # What is compared is a number: "< 0.001 is below 0.05" reads badly.
        return format_number(value, significant=2)
    return format_quantity(value, quantity, scale, decimals=decimals, signed=False)


_SAID = {Truth.HOLDS: "holds", Truth.FAILS: "fails", Truth.UNDECIDED: "cannot be decided"}


def judge(binding: Binding, subject: Subject) -> Judgement:
    """Judge a bound value or a claim by the data.

    Raises:
        ExpressionError: every fault of its expression, with its place in ``binding.expression``, and of its
            words, with the position -1.
    """
    if binding.kind == "claim":
        expression = check_expression(binding.expression, subject, "claim")
        return _judge_claim(expression, evaluate(expression, subject), subject)
    typed: Typed | None = None
    faults: list[Fault] = []
    try:
        typed = read_typed(binding.words, subject.scale)
    except ExpressionError as error:
        faults += error.faults
    try:
        expression = check_expression(binding.expression, subject, "value")
    except ExpressionError as error:
        raise ExpressionError([*faults, *error.faults]) from error
    if typed is not None and (misfit := check_unit(typed, expression.quantity, subject.scale)):
        faults.append(misfit)
    if typed is None or faults:
        raise ExpressionError(faults)
    return _judge_value(expression, typed, evaluate(expression, subject), subject.scale)


def _judge_value(expression: CheckedExpression, typed: Typed, result: Result, scale: Scale) -> Judgement:
    fact = result.facts[-1] if isinstance(expression.tree, Call) else None  # asked after its arguments
    fact_texts = {one: describe_fact(one, scale) for one in result.facts}
    if result.value is None:
        found = fact_texts.pop(fact) if fact else f"{expression.text} has no value: {result.reason}"
        return Judgement(Truth.UNDECIDED, found, tuple(fact_texts.values()), "", result.facts)
    value, quantity = float(result.value), expression.quantity
    holds = agrees(typed, value, quantity, scale)
    new = repair(typed, value, quantity, scale)
    whole = format_fact_interval(fact, scale) if fact else format_quantity(value, quantity, scale)
    shown = whole if holds else _add_digits(typed, whole, value, quantity, scale)
    if fact and shown == whole:
        found = fact_texts.pop(fact)
    elif fact:
        found = format_equation(fact.call, shown) + fact_texts[fact].removeprefix(
            format_equation(fact.call, whole)
        )
    else:
        found = format_equation(expression.text, shown)
    return Judgement(
        truth=Truth.HOLDS if holds else Truth.FAILS,
        found=found,
        evidence=tuple(fact_texts.values()),
        repaired="" if new == typed.words else new,
        facts=result.facts,
    )


def _add_digits(typed: Typed, whole: str, value: float, quantity: Quantity, scale: Scale) -> str:
    """Words of a value that is not what was typed, with as many digits as show that."""
    plain = whole.partition(" [")[0]
    if _is_distinguishable(typed, plain, quantity, scale):
        return whole
    for decimals in range(count_decimals(plain) + 1, MOST_DIGITS):
        words = format_quantity(value, quantity, scale, decimals=decimals, signed=plain.startswith("+"))
        # Steps are told without a choice of digits.
        words = format_number(value, decimals=decimals) if words == plain else words
        if _is_distinguishable(typed, words, quantity, scale):
            return words
    return format_number(value, significant=MOST_DIGITS)


def _is_distinguishable(typed: Typed, words: str, quantity: Quantity, scale: Scale) -> bool:
    """Whether a reader of some words of the value sees that it is not what was typed.

    Neither may be a rounding of the other; a date is told in full.
    """
    try:
        shown = read_typed(words, scale)
    except ExpressionError:
        return True  # a time with more digits than anybody types
    said, expected = (get_typed_value(one, quantity, scale) for one in (shown, typed))
    if shown.relation == "<":
        return expected > said
    rounded = not shown.moment and agrees(shown, expected, quantity, scale)
    return not rounded and not agrees(typed, said, quantity, scale)


def _judge_claim(expression: CheckedExpression, result: Result, subject: Subject) -> Judgement:
    scale = subject.scale
    truth = to_truth(None if result.value is None else bool(result.value))
    fact_texts = {one: describe_fact(one, scale) for one in result.facts}
    only = result.parts[0] if len(result.parts) == 1 and result.parts[0].truth is truth else None
    if only is None and truth is Truth.HOLDS and len(result.deciding) > 1:
        # The facts, which stand below it, tell the rest; of what fails the part that makes it fail is told.
        found = f"{expression.text} holds"
    elif only is None:
        found = f"{expression.text} {_SAID[truth]}: {'; '.join(_part(one, scale) for one in result.deciding)}"
    else:
        words, fact = describe_part(only, scale), only.fact
        place = (
            f" {describe_position(fact.step, scale)}"
            if fact and fact.step is not None and fact.value is not None
            else ""
        )
        found = f"{expression.text} {_SAID[truth]}{place}{f': {words}' if words else ''}"
        if fact:
            fact_texts.pop(fact)
    noise = [(part, describe_noise(part, subject)) for part in result.deciding if truth is Truth.HOLDS]
    said = [words if only else f"{words} ({part.text})" for part, words in noise if words]
    found += f", but {'; '.join(said)}" if said else ""
    return Judgement(truth, found, tuple(fact_texts.values()), "", result.facts)


def _part(part: Part, scale: Scale) -> str:
    words = describe_part(part, scale)
    return f"{part.text} {_SAID[part.truth]}{f' ({words})' if words else ''}"
