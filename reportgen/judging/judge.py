"""What the data say to a bound value or a claim, in finished words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.expressions.checking import check_expression
from reportgen.expressions.evaluation import evaluate
from reportgen.expressions.faults import ExpressionError
from reportgen.expressions.language import Call
from reportgen.expressions.results import to_truth
from reportgen.facts.fact_words import describe_fact, describe_position, format_fact_interval, format_quantity
from reportgen.judging.agreement import agrees, check_unit, get_typed_value
from reportgen.judging.part_words import MOST_DIGITS, count_decimals, describe_noise, describe_part
from reportgen.judging.retyping import repair
from reportgen.judging.typed import read_typed
from reportgen.statements import Judgement, Truth
from reportgen.words import format_equation, format_number

if TYPE_CHECKING:
    from reportgen.expressions.checking import CheckedExpression
    from reportgen.expressions.faults import Fault
    from reportgen.expressions.results import Part, Result
    from reportgen.facts.subject import Subject
    from reportgen.judging.typed import Typed
    from reportgen.statements import Binding, Quantity, Scale

_SAID = {Truth.HOLDS: "holds", Truth.FAILS: "fails", Truth.UNDECIDED: "cannot be decided"}


def judge(binding: Binding, subject: Subject) -> Judgement:
    """Hold a bound value or a claim against the data.

    Args:
        binding: what the author wrote.
        subject: what it is about.

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
    new = typed.words if holds else repair(typed, value, quantity, scale)
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
