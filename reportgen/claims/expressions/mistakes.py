"""What is wrong with the names, arguments and quantities of an expression, with suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.claims.expressions.amounts import combine_kinds, describe_quantity, is_comparable
from reportgen.claims.expressions.faults import Fault, shorten
from reportgen.claims.expressions.language import Name, Number, get_text, remove_comma
from reportgen.claims.facts.vocabulary import FACTS, ParameterKind, list_fact_kinds, quote_name
from reportgen.core.statements import Quantity
from reportgen.core.words import find_nearest, format_count, join_names, parse_moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.expressions.amounts import Kind
    from reportgen.claims.expressions.language import Call, Tree
    from reportgen.claims.facts.vocabulary import FactKind, Held, Subject


_MOST_NAMES = 12
# What somebody means who asks curves for a fact of scores, or the other way round.
_COUNTERPARTS = {
    "score": "final",
    "difference": "gap",
    "final": "score",
    "peak": "score",
    "gap": "difference",
    "widest_gap": "difference",
}
# Words that others use for a fact.
_SYNONYMS = {
    "best": "peak",
    "worst": "trough",
    "best_step": "peak_step",
    "worst_step": "trough_step",
    **dict.fromkeys(("last", "end", "value"), "final"),
    **dict.fromkeys(("first", "initial", "begin"), "start"),
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("diff", "delta"), "difference"),
    **dict.fromkeys(("std", "noise"), "volatility"),
    **dict.fromkeys(("p", "pvalue"), "p_value"),
    **dict.fromkeys(("accuracy", "acc"), "score"),
    **dict.fromkeys(("beats", "wins"), "better"),
    **dict.fromkeys(("equal", "same"), "equivalent"),
}
_HIGHEST, _LOWEST = {"max", "maximum", "highest"}, {"min", "minimum", "lowest"}


def suggest_series(name: str, series: Sequence[str]) -> str:
    """The next step for a series that there is not."""
    near = find_nearest(name, series)
    names = join_names([quote_name(one) for one in series], most=_MOST_NAMES)
    verb = "series are" if len(series) > 1 else "only series is"
    there = f"The {verb} {names}" if series else "There are no series"
    return f"Did you mean {quote_name(near)}? {there}" if near else there


def suggest_fact(name: str, subject: Subject, *, brief: bool = False) -> str:
    """The next step for a fact that does not exist, or not for what the subject holds.

    ``brief`` where another fault lists all facts already.
    """
    facts = list_fact_kinds(subject.holds)
    signatures = {fact.name: fact.signature for fact in facts}
    synonym, near = _find_synonym(name.lower(), subject), find_nearest(name, list(signatures))
    meant = (synonym, _COUNTERPARTS.get(name), near, _COUNTERPARTS.get(synonym))
    near = next((signatures[one] for one in meant if one in signatures), "")
    if brief:
        return f"Did you mean {near}?" if near else ""
    there = f"The facts of {subject.holds} are {join_names(list(signatures.values()))}"
    return f"Did you mean {near}? {there}" if near else there


def explain_unknown_fact(name: str, holds: Held) -> str:
    """What is wrong with the name of a fact; empty if nothing is."""
    if name not in FACTS:
        return f'There is no fact "{name}"'
    if holds not in FACTS[name].holds:
        (other,) = FACTS[name].holds
        return f'"{name}" is a fact of {other}, and the data here are {holds}'
    return ""


def _find_synonym(name: str, subject: Subject) -> str:
    # The highest value is the best one only where higher is better.
    best, worst = (_LOWEST, _HIGHEST) if subject.scale.higher_is_better is False else (_HIGHEST, _LOWEST)
    return "peak" if name in best else "trough" if name in worst else _SYNONYMS.get(name, "")


DATE_STEP = "Write the date in quotes: '2024-05-01' or '2024-05-01T12:00'"
_ONE = {
    ParameterKind.SERIES: "a series",
    ParameterKind.STEP: "a step",
    ParameterKind.LEVEL: "a level",
    ParameterKind.MARGIN: "a margin",
}
_EXPECTED = {
    ParameterKind.STEP: Quantity.STEP,
    ParameterKind.LEVEL: Quantity.VALUE,
    ParameterKind.MARGIN: Quantity.DIFFERENCE,
}
_TWO = {
    ParameterKind.SERIES: "two series",
    ParameterKind.STEP: "two steps",
    ParameterKind.LEVEL: "two levels",
}


def check_count(text: str, call: Call, fact: FactKind) -> Fault | None:
    """A fact with too few or too many arguments."""
    given, expected = len(call.arguments), len(fact.parameters)
    if given == expected:
        return None
    kinds = [parameter.kind for parameter in fact.parameters]
    takes = [(_ONE if kinds.count(kind) == 1 else _TWO)[kind] for kind in dict.fromkeys(kinds)]
    got = (
        f"and {format_count(given, 'argument stands', 'arguments stand') if given else 'nothing stands'} here"
    )
    said = f'"{fact.name}" takes {join_names(takes)}, {got}'
    numbers = zip(call.arguments, call.arguments[1:], strict=False)
    for left, right in numbers:
        meant = remove_comma(text, get_text(text, left), get_text(text, right), right.position)
        if meant:
            return Fault(call.position, call.length, said, f"A number is written without commas: {meant}")
    return Fault(call.position, call.length, said, f"Write {fact.signature}")


def check_series(text: str, argument: Tree, fact: FactKind, subject: Subject) -> Fault | None:
    """Something that is no series where a series has to stand."""
    here = get_text(text, argument)
    if isinstance(argument, Name):
        if argument.name in subject.series:
            return None
        said = f'There is no series "{argument.name}"'
        return Fault(argument.position, argument.length, said, suggest_series(argument.name, subject.series))
    if here in subject.series:
        said, step = f'"{here}" is not in quotes', f"This name has to be in quotes: {quote_name(here)}"
        return Fault(argument.position, argument.length, said, step)
    what = "a number" if isinstance(argument, Number) else "no name"
    said = f'"{fact.name}" takes a series, and "{shorten(here)}" is {what}'
    return Fault(argument.position, argument.length, said, suggest_series(here, subject.series))


def check_distinct(text: str, call: Call) -> Fault | None:
    """A fact about two series that is asked about one."""
    first, second = call.arguments[:2]
    if isinstance(first, Name) and isinstance(second, Name) and first.name == second.name:
        said = f"{get_text(text, call)} holds {quote_name(first.name)} against itself"
        return Fault(call.position, call.length, said, "Name two different series")
    return None


def check_number(text: str, argument: Tree, kind: Kind, fact: FactKind, subject: Subject) -> Fault | None:
    """A step or level that is another kind of number."""
    # Steps, levels and margins stand behind the series, and no fact takes two kinds of them.
    expected = _EXPECTED[fact.parameters[-1].kind]
    here = shorten(get_text(text, argument))
    if kind.plain and subject.scale.step_is_time and expected is Quantity.STEP:
        said = f'The steps of "{subject.scale.metric}" are dates, and "{here}" is a plain number'
        return Fault(argument.position, argument.length, said, DATE_STEP)
    if kind.plain and kind.percent and subject.scale.percent and expected is not Quantity.STEP:
        return report_percent(text, argument, subject)
    if kind.plain or kind.quantity is expected:
        return None
    is_what = describe_quantity(kind.quantity, subject.scale)
    said = f'"{fact.name}" takes {describe_quantity(expected, subject.scale)}, and {here} is {is_what}'
    examples = {Quantity.VALUE: "final", Quantity.STEP: "peak_step"}
    step = "Write a number"
    if expected in examples:
        step += f", or a fact such as {examples[expected]}({get_example_series(subject)})"
    return Fault(argument.position, argument.length, said, step)


def check_name(name: Name, subject: Subject, expected: Quantity = Quantity.VALUE) -> Fault | None:
    """A name that stands where a number has to; None where it is a date on an axis of time."""
    scale, shown, step = subject.scale, quote_name(name.name), ""
    if scale.step_is_time and name.quoted and parse_moment(name.name) is not None:
        return None
    signatures = {fact.name: fact.signature for fact in list_fact_kinds(subject.holds)}
    if name.name in subject.series:
        said = f"{shown} is a series and not yet a number"
        of_curves = "peak_step" if expected is Quantity.STEP else "final"
        fact = of_curves if subject.holds == "curves" else "score"
        step = f"Ask a fact of it, such as {fact}({shown})"
    elif name.name in FACTS:
        said = f'"{name.name}" is a fact, and what it is about is missing'
        step = f"Write {FACTS[name.name].signature}"
    elif scale.step_is_time and name.quoted:
        said, step = f'"{name.name}" is no date', DATE_STEP
    elif parse_moment(name.name) is not None:
        said, step = f'"{name.name}" is a date, and the steps here are numbers', "Write the step as a number"
    else:
        said = f'"{name.name}" is neither a number nor a fact'
        near = find_nearest(name.name, [*signatures, *subject.series])
        step = f"Did you mean {signatures.get(near, quote_name(near))}? " if near else ""
        step += f"The facts of {subject.holds} are {join_names(list(signatures.values()))}"
    return Fault(name.position, name.length, said, step)


def report_percent(text: str, tree: Tree, subject: Subject) -> Fault:
    """``84%``, which is 0.84, beside values that are percentages already."""
    here = shorten(get_text(text, tree))
    said = f'"{subject.scale.metric}" is written in percent already, and {here} would be a hundredth of it'
    return Fault(tree.position, tree.length, said, "Write the number without the percent sign")


def get_example_series(subject: Subject) -> str:
    """A series for examples, as expressions hold it."""
    return quote_name(subject.series[0]) if subject.series else "A"


_DONE = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}
_PRODUCTS = {"*", "/"}
_IN_SUMS = "Put like and like together; a number written out, such as 0.5, goes with everything"
_IN_PRODUCTS = "Multiply with a number, a count or a ratio; divide by one of them, or like by like"
_OF_METRIC = {Quantity.VALUE, Quantity.DIFFERENCE}
_OF_STEPS = {Quantity.STEP, Quantity.STEPS}


def check_pair(
    text: str, left: tuple[str, Tree, Kind], operator: str, right: tuple[Tree, Kind], subject: Subject
) -> Fault | None:
    """Two numbers that cannot be computed with or compared; None if they can.

    ``left`` is everything in front of the operator as written, its last part, and what kind it is; ``right``
    is what stands behind the operator, and what kind it is.
    """
    (words, first, kind), (second, other), scale = left, right, subject.scale
    arithmetic = operator in _DONE
    if (combine_kinds(operator, kind, other) is None) if arithmetic else not is_comparable(kind, other):
        here = shorten(words), shorten(get_text(text, second))
        said = ["a number" if one.plain else describe_quantity(one.quantity, scale) for one in (kind, other)]
        done = _DONE.get(operator, "compared")
        message = f"{here[0]} is {said[0]} and {here[1]} {said[1]}: they cannot be {done}"
        step = _IN_PRODUCTS if operator in _PRODUCTS else _IN_SUMS
        return Fault(first.position, second.position + second.length - first.position, message, step)
    if operator in _PRODUCTS:
        return None
    for tree, plain, measured in ((first, kind, other), (second, other, kind)):
        if plain.plain and scale.step_is_time and measured.quantity in _OF_STEPS:
            return _undated(text, tree, measured, subject)
        if plain.plain and plain.percent and scale.percent and measured.quantity in _OF_METRIC:
            return report_percent(text, tree, subject)
    return None


def check_truth(text: str, tree: Tree, kind: Kind, operator: str, subject: Subject) -> Fault | None:
    """A number where ``and``, ``or`` or ``not`` takes what is true or false; None if nothing is wrong."""
    if kind.quantity is Quantity.TRUTH:
        return None
    what = describe_quantity(kind.quantity, subject.scale)
    said = f'"{operator}" takes what is true or false, and {shorten(get_text(text, tree))} is {what}'
    return Fault(tree.position, tree.length, said, "Compare it with a number or with another fact")


def check_amount(text: str, tree: Tree, kind: Kind) -> Fault | None:
    """A truth where a number has to stand; None if nothing is wrong."""
    if kind.quantity is not Quantity.TRUTH:
        return None
    said = f"{shorten(get_text(text, tree))} is true or false, and no number"
    return Fault(tree.position, tree.length, said, 'Join what is true or false with "and", "or" and "not"')


def _undated(text: str, tree: Tree, measured: Kind, subject: Subject) -> Fault:
    is_what = describe_quantity(measured.quantity, subject.scale)
    said = f'"{shorten(get_text(text, tree))}" is a plain number, and what stands beside it is {is_what}'
    date = measured.quantity is Quantity.STEP
    return Fault(tree.position, tree.length, said, DATE_STEP if date else "Hold dates against each other")
