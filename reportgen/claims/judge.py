"""Judgement of bound values and claims by the data, with its text."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from reportgen.claims.agreement import agrees, check_unit, get_typed_value, repair
from reportgen.claims.checking import check_expression
from reportgen.claims.evaluation import evaluate, to_truth
from reportgen.claims.fact_words import (
    describe_fact,
    describe_position,
    explain_fact,
    format_fact_interval,
    format_quantity,
    format_quantity_interval,
)
from reportgen.claims.language import Call
from reportgen.claims.subjects import is_within
from reportgen.claims.typed import read_typed
from reportgen.claims.vocabulary import FactError
from reportgen.core.facts import ParameterKind, list_fact_kinds
from reportgen.core.statements import ExpressionError, Fact, Fault, Judgement, Quantity, Truth
from reportgen.core.words import (
    LARGEST_P,
    SMALLEST_P,
    format_equation,
    format_number,
    join_names,
    suggest_name,
)

if TYPE_CHECKING:
    from reportgen.claims.checking import CheckedExpression
    from reportgen.claims.evaluation import Part, Result
    from reportgen.claims.typed import Typed
    from reportgen.claims.vocabulary import Subject
    from reportgen.core.statements import Binding, Scale


MOST_DIGITS = 17  # of a double
# Equal in the language, which compares to a billionth.
_CLOSE = 1e-9
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")
# What aligns the bars of a table.
_TABLE_SPACE = re.compile(r"[ \t]+(?=\||$)|(?<=\|)[ \t]+|:?-{3,}:?", re.MULTILINE)
_FAILED = {">": "is not above", "<": "is not below", ">=": "is below", "<=": "is above"}
# Facts whose difference between two series has an interval; on curves both have to be at one step.
_OF_SCORES, _OF_CURVES = {"score", "rank"}, {"start", "final", "at"}
_TRUTHS = {Truth.HOLDS: "holds", Truth.FAILS: "fails", Truth.UNDECIDED: "cannot be decided"}


def judge(binding: Binding, subject: Subject) -> Judgement:
    """Judge a bound value or a claim by the data.

    Raises ``ExpressionError`` with every fault of its expression, with its place in ``binding.expression``,
    and of its words, with the position -1.
    """
    if binding.table is not None:
        return _judge_table(binding.expression, binding.table, subject)
    if binding.kind == "claim":
        return judge_claim(binding.expression, subject)
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


def _judge_table(columns: str, written: str, subject: Subject) -> Judgement:
    """Judge a table with a row for each series and a column for each named fact of one series."""
    kinds = {kind.name: kind.parameters for kind in list_fact_kinds(subject.holds)}
    known = [name for name, of in kinds.items() if [one.kind for one in of] == [ParameterKind.SERIES]]
    names = [name.strip() for name in columns.split(",")]
    for name in names:
        if name not in known:
            step = f"{suggest_name(name, known)}They are {join_names(known)}"
            message = f'"{name}" is no fact of one series'
            raise ExpressionError([Fault(columns.find(name), len(name) or 1, message, step)])
    facts = list[Fact]()
    rows = [[_escape(subject.scale.metric), *names], ["---"] * (len(names) + 1)]
    for series in subject.series:
        rows.append([_escape(series)])
        for name in names:
            cell = ""
            with suppress(FactError):
                facts.append(subject.fact(name, (series,)))
                cell = format_fact_interval(facts[-1], subject.scale)
            rows[-1].append(cell or "–")
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    old, new = map(_drop_alignment, (written, table))
    if old == new:
        found = f"{len(subject.series)} series as the data have them"
        return Judgement(Truth.HOLDS, found, (), (), columns, "", tuple(facts))
    found, table = "this table is not as the data have it", f"\n\n{table}\n\n"
    return Judgement(Truth.FAILS, found, (), (), columns, table, tuple(facts))


def _escape(name: str) -> str:
    """Return a name for a cell, without what Markdown would read in it."""
    return re.sub(r"[\\|*_`<\[]", r"\\\g<0>", name)


def _drop_alignment(table: str) -> str:
    return _TABLE_SPACE.sub(lambda one: one[0].strip(" \t:")[:3], table.strip())


def _judge_value(expression: CheckedExpression, typed: Typed, result: Result, scale: Scale) -> Judgement:
    fact = result.facts[-1] if isinstance(expression.tree, Call) else None  # evaluated after its arguments
    fact_texts = {one: describe_fact(one, scale) for one in result.facts}
    if result.value is None:
        words = fact_texts.pop(fact) if fact else f"{expression.text} has no value: {result.reason}"
        sentences = (
            result.reason,
            *(explain_fact(one, scale) for one in result.facts if one.value is not None),
        )
        evidence = tuple(fact_texts.values())
        return Judgement(Truth.UNDECIDED, words, evidence, sentences, expression.text, "", result.facts)
    value, quantity = float(result.value), expression.quantity
    holds = agrees(typed, value, quantity, scale)
    new = repair(typed, value, quantity, scale)
    whole = format_fact_interval(fact, scale) if fact else format_quantity(value, quantity, scale)
    shown, plain = whole, whole.partition(" [")[0]
    if not holds and not _is_distinguishable(typed, plain, quantity, scale):
        # With enough digits to show that it is not what was typed.
        shown = format_number(value, significant=MOST_DIGITS)
        for decimals in range(count_decimals(plain) + 1, MOST_DIGITS):
            words = format_quantity(value, quantity, scale, decimals=decimals, signed=plain.startswith("+"))
            # Steps are written without a choice of digits.
            words = format_number(value, decimals=decimals) if words == plain else words
            if _is_distinguishable(typed, words, quantity, scale):
                shown = words
                break
    written = words = format_equation(fact.call if fact else expression.text, shown)
    if fact and shown == whole:
        words = fact_texts.pop(fact)
    elif fact:
        words += fact_texts[fact].removeprefix(format_equation(fact.call, whole))
    truth, evidence = Truth.HOLDS if holds else Truth.FAILS, tuple(fact_texts.values())
    facts = sorted(result.facts, key=lambda one: one is not fact)
    sentences = tuple(explain_fact(one, scale, shown if one is fact else "") for one in facts)
    written = fact.call if fact else written
    new = "" if new == typed.words else new
    return Judgement(truth, words, evidence, sentences, written, new, result.facts)


def _is_distinguishable(typed: Typed, words: str, quantity: Quantity, scale: Scale) -> bool:
    """Return whether words of the value and the typed ones differ, and neither rounds to the other."""
    try:
        shown = read_typed(words, scale)
    except ExpressionError:
        return True  # a time with more digits than anybody types
    value, expected = (get_typed_value(one, quantity, scale) for one in (shown, typed))
    if shown.relation == "<":
        return expected > value
    if math.isinf(value) or math.isinf(expected):
        return value != expected  # one of them is larger than any number, if only by its rounding
    rounded = not shown.moment and agrees(shown, expected, quantity, scale)
    return not rounded and not agrees(typed, value, quantity, scale)


def count_decimals(words: str) -> int:
    """Count the digits after the first point of some words."""
    decimals = _DECIMALS.search(words)
    return len(decimals[1]) if decimals else 0


def judge_claim(claim: str, subject: Subject) -> Judgement:
    """Judge a claim by the data; raise ``ExpressionError`` with every fault of it."""
    expression = check_expression(claim, subject, "claim")
    return _judge_claim(expression, evaluate(expression, subject), subject)


def _judge_claim(expression: CheckedExpression, result: Result, subject: Subject) -> Judgement:
    scale, parts = subject.scale, result.parts
    truth = to_truth(None if result.value is None else bool(result.value))
    fact_texts = {one: describe_fact(one, scale) for one in result.facts}
    single = len(parts) == 1 and parts[0].truth is truth
    outcome, details = f"{expression.text} {_TRUTHS[truth]}", []
    if single:
        words, fact = describe_part(parts[0], scale), parts[0].fact
        if fact and fact.step is not None and fact.value is not None:
            outcome += f" {describe_position(fact.step, scale)}"
        outcome += f": {words}" if words else ""
        if fact:
            fact_texts.pop(fact)
    elif truth is not Truth.HOLDS or len(result.deciding) <= 1:
        # If a claim holds, the facts below it say the rest; otherwise the deciding parts do.
        for part in result.deciding:
            words = describe_part(part, scale)
            details.append(f"{part.text} {_TRUTHS[part.truth]}{f' ({words})' if words else ''}")
        outcome += f": {'; '.join(details)}"
    noise = [(part, describe_noise(part, subject)) for part in result.deciding if truth is Truth.HOLDS]
    doubts = [words if single else f"{words} ({part.text})" for part, words in noise if words]
    outcome += f", but {'; '.join(doubts)}" if doubts else ""
    sentences = [explain_fact(one, scale) for one in result.facts]
    for part in result.deciding:
        # Readers compare facts and numbers by themselves.
        computed = (side for side in part.sides if side.fact is None and side.quantity is not Quantity.NUMBER)
        if not part.fact and (truth is not Truth.HOLDS or (part.operator != "=" and any(computed))):
            sentences.append(describe_part(part, scale))
    sentences += [f"But {words}" for words in doubts]
    unique = tuple(dict.fromkeys(filter(None, sentences)))
    evidence = tuple(fact_texts.values())
    return Judgement(truth, outcome, evidence, unique, expression.text, "", result.facts)


def describe_part(part: Part, scale: Scale) -> str:
    """Explain why a part holds, fails or is undecided; empty if a fact says no more than its truth."""
    if part.fact is not None and part.truth is not Truth.UNDECIDED:
        return part.fact.note
    values = [side.value for side in part.sides if side.value is not None]
    if part.truth is Truth.UNDECIDED or len(values) != len(part.sides):
        return part.reason
    left, right = values
    # A plain number is written like the quantity it is compared with.
    quantities = [
        other.quantity if side.quantity is Quantity.NUMBER and side.fact is None else side.quantity
        for side, other in (part.sides, part.sides[::-1])
    ]
    holds, above = part.truth is Truth.HOLDS, left > right
    # If the truth is not that of the bare numbers, they differ by less than their slack.
    strict = left < right if part.operator.startswith("<") else above
    equal = left == right or strict is not holds or math.isclose(left, right, rel_tol=_CLOSE)
    if part.operator in {"=", "!="}:
        equal, verb = holds is (part.operator == "="), "differs from"
    else:
        verb = ("is above" if above else "is below") if holds else _FAILED[part.operator]
    if equal:
        words = _format_number(left, quantities[0], scale)
        return f"{words} equals {words}"
    if quantities[0] is Quantity.STEP:
        verb = verb.replace("above", "after").replace("below", "before")
    # Two numbers that differ need words that differ.
    pairs = list(zip(values, quantities, strict=True))
    words, others = (_format_number(value, quantity, scale) for value, quantity in pairs)
    decimals = min(count_decimals(words), count_decimals(others))
    while words == others:
        decimals += 1
        if decimals >= MOST_DIGITS - 1:
            words, others = (format_number(value, significant=MOST_DIGITS) for value in values)
            break
        words, others = (_format_number(value, quantity, scale, decimals) for value, quantity in pairs)
    return f"{words} {verb} {others}"


def _format_number(value: float, quantity: Quantity, scale: Scale, decimals: int | None = None) -> str:
    if quantity is Quantity.PROBABILITY and decimals is None and not SMALLEST_P <= value <= LARGEST_P:
        # Numbers are compared: "< 0.001 is below 0.05" reads badly.
        return format_number(value, significant=2)
    return format_quantity(value, quantity, scale, decimals=decimals, signed=False)


def describe_noise(part: Part, subject: Subject) -> str:
    """Describe why a comparison holds only within noise; empty if there is no reason.

    The interval of the difference contains the number that the difference is compared with, or the verdicts
    of all pairs leave more ranks than the one stated.
    """
    if part.truth is not Truth.HOLDS or not part.operator:
        return ""
    try:
        for side, other in (part.sides, part.sides[::-1]):
            if side.fact and side.fact.name == "rank" and other.fact is None:
                ranks = [subject.fact(name, side.fact.series).value for name in ("best_rank", "worst_rank")]
                best, worst = ranks
                if best is not None and worst is not None and best < worst:
                    return f"the verdicts leave it the ranks {best:.0f} to {worst:.0f}"
        fact, value = _find_difference(part, subject)
    except FactError:
        return ""
    if part.operator == "=" or fact is None or fact.value is None or fact.low is None or fact.high is None:
        return ""
    if not is_within(fact.low, fact.high, value):
        return ""
    quantity, scale = Quantity.DIFFERENCE, subject.scale
    limit = format_quantity(value, quantity, scale) if value else "0"
    ends = format_quantity_interval(float(fact.value), fact.low, fact.high, quantity, scale)
    return f"the interval of the difference includes {limit}: {ends}"


def _find_difference(part: Part, subject: Subject) -> tuple[Fact | None, float]:
    """Return the difference of two series in a comparison, and the number it is compared with."""
    left, right = part.sides
    pair, value = (left.fact, right.fact), 0.0
    if not (left.fact and right.fact):
        for side, other in ((left, right), (right, left)):
            if side.fact and side.fact.name in {"difference", "gap"}:
                return side.fact, other.value or 0.0
            if side.minuend and side.subtrahend:
                pair, value = (side.minuend, side.subtrahend), other.value or 0.0
                break
    one, two = pair
    if one is None or two is None or one.name != two.name:
        return None, value
    series = (*one.series, *two.series)
    if len(set(series)) < len(series):
        return None, value
    if one.name in _OF_SCORES:
        return subject.fact("difference", series), value
    step = 0.0 if subject.scale.of_runs else one.step
    if one.name in _OF_CURVES and step is not None and one.step == two.step:
        return subject.fact("gap", (*series, step)), value
    return None, value
