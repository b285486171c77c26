"""Checks of an expression before anything is evaluated: names, arguments, kinds of numbers.

Equal kinds can be combined, and a plain number with all. ``value - value`` is a difference, ``step - step`` a
number of steps, a ratio of equal kinds a plain number, and anything multiplied with or divided by a plain
number remains what it is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from reportgen.claims.language import (
    COMPARISONS,
    Call,
    Chain,
    Name,
    Number,
    Prefix,
    Tree,
    get_text,
    make_fault,
    parse,
    remove_comma,
    shorten,
)
from reportgen.claims.vocabulary import quote_name
from reportgen.core.facts import FACTS, ParameterKind, list_fact_kinds
from reportgen.core.statements import ExpressionError, Fault, Quantity
from reportgen.core.words import find_nearest, format_count, join_names, parse_moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.facts import FactKind
    from reportgen.core.statements import Scale


# The purpose of an expression: a bound value is a number, a claim is true or false.
Purpose: TypeAlias = Literal["value", "claim"]


# ---- kinds of numbers --------------------------------------------------------------------------------


class Kind(Struct, frozen=True):
    """Properties of a part of an expression that are known before its value."""

    quantity: Quantity
    constant: bool = False  # whether it does not depend on the data
    percent: bool = False  # whether it contains a percent sign; only for a plain number

    @property
    def plain(self) -> bool:
        """Whether it can be combined with every quantity."""
        return self.constant and self.quantity is Quantity.NUMBER


_UNITS = {
    **dict.fromkeys((Quantity.VALUE, Quantity.DIFFERENCE), "metric"),
    **dict.fromkeys((Quantity.STEP, Quantity.STEPS), "steps"),
    **dict.fromkeys((Quantity.PROBABILITY, Quantity.NUMBER), "none"),
    Quantity.TRUTH: "truth",
}
# The difference of two positions is a distance; a position and a distance give a position.
_DISTANCES = {Quantity.VALUE: Quantity.DIFFERENCE, Quantity.STEP: Quantity.STEPS}
_PLACES = {Quantity.VALUE, Quantity.STEP, Quantity.NUMBER}


def is_comparable(left: Kind, right: Kind) -> bool:
    """Return whether the two can be compared, added and subtracted."""
    return left.plain or right.plain or _UNITS[left.quantity] == _UNITS[right.quantity]


def combine_kinds(operator: str, left: Kind, right: Kind) -> Kind | None:
    """Return the kind of ``left operator right``, for ``+ - * /``, or None if it is meaningless."""
    a, b = left.quantity, right.quantity
    quantity: Quantity | None = None
    if operator in {"*", "/"}:
        if b is Quantity.NUMBER:
            quantity = a
        elif operator == "*" and a is Quantity.NUMBER:
            quantity = b
        elif _UNITS[a] == _UNITS[b] and (operator == "/" or _UNITS[a] == "none"):
            quantity = Quantity.NUMBER
    elif is_comparable(left, right):
        if left.plain or right.plain:
            quantity = b if left.plain else a
        elif a == b:
            quantity = _DISTANCES.get(a, a) if operator == "-" else a
        else:  # a position and a distance, or a probability and a plain number
            quantity = a if a in _PLACES else b
    if quantity is None:
        return None
    percent = quantity is Quantity.NUMBER and (left.percent or right.percent)
    return Kind(quantity, left.constant and right.constant, percent)


def describe_quantity(quantity: Quantity, scale: Scale) -> str:
    """Describe a quantity in a sentence: ``a value of "accuracy"``, ``a step``."""
    of = f' of "{scale.metric}"' if scale.metric else ""
    words = {
        Quantity.VALUE: f"a value{of}",
        Quantity.DIFFERENCE: f"a difference{of}",
        Quantity.STEP: "a date" if scale.step_is_time else "a step",
        Quantity.STEPS: "a stretch of time" if scale.step_is_time else "a number of steps",
        Quantity.PROBABILITY: "a probability",
        Quantity.NUMBER: "a count or a ratio",
        Quantity.TRUTH: "true or false",
    }
    return words[quantity]


# ---- checking ----------------------------------------------------------------------------------------


class CheckedExpression(Struct, frozen=True):
    """An expression that can be evaluated: names are known, and kinds of numbers are compatible."""

    text: str
    tree: Tree
    quantity: Quantity


def check_expression(text: str, subject: Subject, purpose: Purpose | None = None) -> CheckedExpression:
    """Read and check an expression without evaluating it; ``purpose`` is None if both are allowed.

    Raises ``ExpressionError`` with all faults, or with the first that makes the expression unreadable.
    """
    tree = parse(text)
    checker = _Checker(text, subject)
    kind = checker.infer_kind(tree)
    if checker.faults or kind is None:
        raise ExpressionError(checker.faults)
    here, truth = shorten(get_text(text, tree)), kind.quantity is Quantity.TRUTH
    message = step = ""
    if kind.constant:
        fact = "final" if subject.holds == "curves" else "score"
        message = "This asks nothing of the data"
        step = f"Write a fact in it, such as {fact}({get_example_series(subject)})"
    elif purpose == "claim" and not truth:
        message = f"A claim holds or not, and {here} is {describe_quantity(kind.quantity, subject.scale)}"
        step = f"Compare it, such as {here} > 0.5, or write value= instead of claim="
    elif purpose == "value" and truth:
        message = f"A bound value is a number, and {here} is true or false"
        step = "Write claim= instead of value="
    if message:
        raise ExpressionError([make_fault(tree, message, step)])
    return CheckedExpression(text, tree, kind.quantity)


_MOST_NAMES = 12
# Facts of curves for users who write a fact of scores, or the other way round.
_COUNTERPARTS = {"score": "final", "difference": "gap", "final": "score", "peak": "score"}
_COUNTERPARTS |= {"gap": "difference", "widest_gap": "difference"}
# Words that others use for a fact.
_SYNONYMS = {"best": "peak", "worst": "trough", "best_step": "peak_step", "worst_step": "trough_step"}
_SYNONYMS |= {
    **dict.fromkeys(("end", "value"), "final"),
    **dict.fromkeys(("first", "initial", "begin"), "start"),
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("diff", "delta"), "difference"),
    **dict.fromkeys(("std", "stdev"), "sd"),
    "noise": "volatility",
    **dict.fromkeys(("p", "pvalue"), "p_value"),
    **dict.fromkeys(("accuracy", "acc"), "score"),
    **dict.fromkeys(("beats", "wins"), "better"),
    **dict.fromkeys(("equal", "same"), "equivalent"),
}
_HIGHEST, _LOWEST = {"max", "maximum", "highest"}, {"min", "minimum", "lowest"}


def suggest_series(name: str, series: Sequence[str]) -> str:
    """Return the next step for an unknown series."""
    near = find_nearest(name, series)
    names = join_names([quote_name(one) for one in series], most=_MOST_NAMES)
    verb = "series are" if len(series) > 1 else "only series is"
    there = f"The {verb} {names}" if series else "There are no series"
    return f"Did you mean {quote_name(near)}? {there}" if near else there


def suggest_fact(name: str, subject: Subject, *, brief: bool = False) -> str:
    """Return the next step for a fact that does not exist, or not for what the subject holds.

    ``brief`` if another fault already lists all facts.
    """
    signatures = {fact.name: fact.signature for fact in list_fact_kinds(subject.holds)}
    # The highest value is the best one only if higher is better.
    best, worst = (_LOWEST, _HIGHEST) if subject.scale.higher_is_better is False else (_HIGHEST, _LOWEST)
    word = name.lower()
    synonym = "peak" if word in best else "trough" if word in worst else _SYNONYMS.get(word, "")
    meant = (synonym, _COUNTERPARTS.get(name), find_nearest(name, signatures), _COUNTERPARTS.get(synonym))
    near = next((f"Did you mean {signatures[one]}?" for one in meant if one in signatures), "")
    there = "" if brief else f"The facts of {subject.holds} are {join_names(list(signatures.values()))}"
    return f"{near} {there}".strip()


DATE_STEP = "Write the date in quotes: '2024-05-01' or '2024-05-01T12:00'"
_TAKES = {
    ParameterKind.SERIES: ("a series", "two series"),
    ParameterKind.STEP: ("a step", "two steps"),
    ParameterKind.LEVEL: ("a level", "two levels"),
    ParameterKind.MARGIN: ("a margin", "two margins"),
    ParameterKind.COUNT: ("a number of readings", "two numbers of readings"),
    ParameterKind.METRIC: ("a metric", "two metrics"),
}
_EXPECTED = {
    ParameterKind.STEP: Quantity.STEP,
    ParameterKind.LEVEL: Quantity.VALUE,
    ParameterKind.MARGIN: Quantity.DIFFERENCE,
    ParameterKind.COUNT: Quantity.NUMBER,
}


def get_example_series(subject: Subject) -> str:
    """Return a series for examples, as written in expressions."""
    return quote_name(subject.series[0]) if subject.series else "A"


_DONE = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}
_IN_SUMS = "Put like and like together; a number written out, such as 0.5, goes with everything"
_IN_PRODUCTS = "Multiply with a number, a count or a ratio; divide by one of them, or like by like"


class _Checker:
    """Walks the tree from its leaves; a part with a fault is None, and reported once."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.faults: list[Fault] = []
        self._text = text
        self._subject = subject
        self._listed = False  # whether a fault already lists all facts

    def get_text(self, tree: Tree) -> str:
        return get_text(self._text, tree)

    def infer_kind(self, tree: Tree) -> Kind | None:
        match tree:
            case Number():
                return Kind(Quantity.NUMBER, constant=True, percent=tree.percent)
            case Name():
                return self._check(self.check_name(tree), Kind(Quantity.STEP, constant=True))
            case Call():
                return self._infer_call(tree)
            case Prefix():
                return self._expect(tree.of, "not" if tree.operator == "not" else "")
            case Chain():
                return self._infer_chain(tree)

    def _check(self, fault: Fault | None, kind: Kind | None = None) -> Kind | None:
        """Return the kind if there is no fault to report."""
        if fault:
            self.faults.append(fault)
            return None
        return kind

    def _expect(self, tree: Tree, operator: str = "") -> Kind | None:
        """Return the kind of an operand, a truth for ``and``, ``or`` or ``not`` and otherwise a number."""
        kind = self.infer_kind(tree)
        if kind is None or (kind.quantity is Quantity.TRUTH) is bool(operator):
            return kind
        here = shorten(self.get_text(tree))
        message = f"{here} is true or false, and no number"
        step = 'Join what is true or false with "and", "or" and "not"'
        if operator:
            what = describe_quantity(kind.quantity, self._subject.scale)
            message = f'"{operator}" takes what is true or false, and {here} is {what}'
            step = "Compare it with a number or with another fact"
        return self._check(make_fault(tree, message, step))

    def _infer_call(self, call: Call) -> Kind | None:
        name, holds = call.name, self._subject.holds
        if name not in FACTS or holds not in FACTS[name].holds:
            message = f'There is no fact "{name}"'
            if name in FACTS:
                (other,) = FACTS[name].holds
                message = f'"{name}" is a fact of {other}, and the data here are {holds}'
            step = suggest_fact(name, self._subject, brief=self._listed)
            self._listed = True
            return self._check(Fault(call.position, len(name), message, step))
        fact = FACTS[name]
        fault = self.check_count(call, fact)
        self._check(fault)
        for argument, parameter in zip(call.arguments, fact.parameters, strict=False):
            if parameter.kind is ParameterKind.SERIES:
                # With the wrong count, an argument may be in the wrong position.
                self._check(None if fault else self.check_series(argument, fact))
            elif parameter.kind is ParameterKind.METRIC:
                self._check(None if fault else self.check_metric(argument, fact))
            elif parameter.kind is ParameterKind.STEP and isinstance(argument, Name):
                self._check(self.check_name(argument, Quantity.STEP))
            elif (kind := self._expect(argument)) and not fault:
                self._check(self.check_number(argument, kind, fact))
        if not fault and [parameter.name for parameter in fact.parameters[:2]] == ["a", "b"]:
            names = [argument.name for argument in call.arguments[:2] if isinstance(argument, Name)]
            if len(names) > len(set(names)):
                message = f"{self.get_text(call)} holds {quote_name(names[0])} against itself"
                self._check(make_fault(call, message, "Name two different series"))
        return Kind(fact.quantity)

    def _infer_chain(self, chain: Chain) -> Kind | None:
        operator, parts = chain.operators[0], chain.parts
        logical, comparing = operator in {"and", "or"}, operator in COMPARISONS
        kinds = [self._expect(part, operator if logical else "") for part in parts]
        total = kinds[0]
        for at, sign in enumerate(() if logical else chain.operators):
            left, other = kinds[at] if comparing else total, kinds[at + 1]
            first, second = parts[at : at + 2]
            total = None
            if left is not None and other is not None:
                # Everything before the operator, without the operator itself.
                words = self._text[chain.position : second.position].rstrip(" \t\n(+-−*/×")
                words = self.get_text(first) if comparing else words
                fault = self.check_pair((words, first, left), sign, (second, other))
                total = self._check(fault, None if comparing else combine_kinds(sign, left, other))
        if logical or comparing:
            return Kind(Quantity.TRUTH, constant=all(kind is not None and kind.constant for kind in kinds))
        return total

    def check_count(self, call: Call, fact: FactKind) -> Fault | None:
        given = len(call.arguments)
        if given in {len(fact.parameters), len(fact.parameters) - fact.optional}:
            return None
        kinds = [parameter.kind for parameter in fact.parameters]
        takes = [_TAKES[kind][kinds.count(kind) > 1] for kind in dict.fromkeys(kinds)]
        got = format_count(given, "argument stands", "arguments stand") if given else "nothing stands"
        step = f"Write {fact.signature}"
        for left, right in pairwise(call.arguments):
            meant = remove_comma(self._text, self.get_text(left), self.get_text(right), right.position)
            if meant:
                step = f"A number is written without commas: {meant}"
                break
        return make_fault(call, f'"{fact.name}" takes {join_names(takes)}, and {got} here', step)

    def check_series(self, argument: Tree, fact: FactKind) -> Fault | None:
        here = self.get_text(argument)
        if isinstance(argument, Name):
            if argument.name in self._subject.series:
                return None
            step = suggest_series(argument.name, self._subject.series)
            return make_fault(argument, f'There is no series "{argument.name}"', step)
        if here in self._subject.series:
            step = f"This name has to be in quotes: {quote_name(here)}"
            return make_fault(argument, f'"{here}" is not in quotes', step)
        what = "a number" if isinstance(argument, Number) else "no name"
        message = f'"{fact.name}" takes a series, and "{shorten(here)}" is {what}'
        return make_fault(argument, message, suggest_series(here, self._subject.series))

    def check_metric(self, argument: Tree, fact: FactKind) -> Fault | None:
        """Check that a metric is written as a name; which there are is known when it is evaluated."""
        if isinstance(argument, Name):
            return None
        here = shorten(self.get_text(argument))
        step = f"Put its name in quotes: {quote_name(here)}"
        return make_fault(argument, f'"{fact.name}" takes a metric, and "{here}" is no name', step)

    def check_number(self, argument: Tree, kind: Kind, fact: FactKind) -> Fault | None:
        # Steps, levels and margins follow the series, and no fact takes two kinds of them.
        expected, scale = _EXPECTED[fact.parameters[-1].kind], self._subject.scale
        here = shorten(self.get_text(argument))
        if kind.plain and scale.step_is_time and expected is Quantity.STEP:
            message = f'The steps of "{scale.metric}" are dates, and "{here}" is a plain number'
            return make_fault(argument, message, DATE_STEP)
        if kind.plain and kind.percent and scale.percent and expected is not Quantity.STEP:
            return self.report_percent(argument)
        if kind.plain or kind.quantity is expected:
            return None
        takes, is_what = (describe_quantity(quantity, scale) for quantity in (expected, kind.quantity))
        example = {Quantity.VALUE: "final", Quantity.STEP: "peak_step"}.get(expected)
        step = f", or a fact such as {example}({get_example_series(self._subject)})" if example else ""
        message = f'"{fact.name}" takes {takes}, and {here} is {is_what}'
        return make_fault(argument, message, f"Write a number{step}")

    def check_name(self, name: Name, expected: Quantity = Quantity.VALUE) -> Fault | None:
        """Check a name in the position of a number; None if it is a date on a time axis."""
        scale, shown = self._subject.scale, quote_name(name.name)
        is_date = parse_moment(name.name) is not None
        if scale.step_is_time and name.quoted and is_date:
            return None
        signatures = {fact.name: fact.signature for fact in list_fact_kinds(self._subject.holds)}
        if name.name in self._subject.series:
            of_curves = "peak_step" if expected is Quantity.STEP else "final"
            fact = of_curves if self._subject.holds == "curves" else "score"
            message, step = (
                f"{shown} is a series and not yet a number",
                f"Ask a fact of it, such as {fact}({shown})",
            )
        elif name.name in FACTS:
            message = f'"{name.name}" is a fact, and what it is about is missing'
            step = f"Write {FACTS[name.name].signature}"
        elif scale.step_is_time and name.quoted:
            message, step = f'"{name.name}" is no date', DATE_STEP
        elif is_date:
            message = f'"{name.name}" is a date, and the steps here are numbers'
            step = "Write the step as a number"
        else:
            message = f'"{name.name}" is neither a number nor a fact'
            near = find_nearest(name.name, [*signatures, *self._subject.series])
            step = f"Did you mean {signatures.get(near, quote_name(near))}? " if near else ""
            step += f"The facts of {self._subject.holds} are {join_names(list(signatures.values()))}"
        return make_fault(name, message, step)

    def report_percent(self, tree: Tree) -> Fault:
        """Report ``84%``, which is 0.84, next to values that are percentages already."""
        here, metric = shorten(self.get_text(tree)), self._subject.scale.metric
        message = f'"{metric}" is written in percent already, and {here} would be a hundredth of it'
        return make_fault(tree, message, "Write the number without the percent sign")

    def check_pair(
        self, left: tuple[str, Tree, Kind], operator: str, right: tuple[Tree, Kind]
    ) -> Fault | None:
        """Return the fault of two numbers that cannot be computed with or compared, or None.

        ``left`` is everything before the operator as written, its last part, and its kind; ``right`` is what
        follows the operator, and its kind.
        """
        (words, first, kind), (second, other), scale = left, right, self._subject.scale
        fits = (
            combine_kinds(operator, kind, other) is not None
            if operator in _DONE
            else is_comparable(kind, other)
        )
        if not fits:
            sides = [
                "a number" if one.plain else describe_quantity(one.quantity, scale) for one in (kind, other)
            ]
            pair = f"{shorten(words)} is {sides[0]} and {shorten(self.get_text(second))} {sides[1]}"
            message = f"{pair}: they cannot be {_DONE.get(operator, 'compared')}"
            length = second.position + second.length - first.position
            step = _IN_PRODUCTS if operator in {"*", "/"} else _IN_SUMS
            return Fault(first.position, length, message, step)
        if operator in {"*", "/"}:
            return None
        for tree, plain, measured in ((first, kind, other), (second, other, kind)):
            of_metric = measured.quantity in {Quantity.VALUE, Quantity.DIFFERENCE}
            if plain.plain and scale.step_is_time and measured.quantity in {Quantity.STEP, Quantity.STEPS}:
                what = describe_quantity(measured.quantity, scale)
                here = shorten(self.get_text(tree))
                message = f'"{here}" is a plain number, and the other side is {what}'
                date = measured.quantity is Quantity.STEP
                return make_fault(tree, message, DATE_STEP if date else "Hold dates against each other")
            if plain.plain and plain.percent and scale.percent and of_metric:
                return self.report_percent(tree)
        return None
