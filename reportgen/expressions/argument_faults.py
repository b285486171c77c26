"""What is wrong with the arguments of a fact, and with names that stand where no name can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.expressions.faults import Fault, shorten
from reportgen.expressions.language import Name, Number, get_text
from reportgen.expressions.quantities import describe_quantity
from reportgen.expressions.syntax_faults import remove_comma
from reportgen.expressions.unknown_names import suggest_series
from reportgen.facts.names import quote_name
from reportgen.facts.vocabulary import FACTS, ParameterKind, list_fact_kinds
from reportgen.moments import parse_moment
from reportgen.naming import find_nearest
from reportgen.statements import Quantity
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from reportgen.expressions.language import Call, Tree
    from reportgen.expressions.quantities import Kind
    from reportgen.facts.subject import Subject
    from reportgen.facts.vocabulary import FactKind

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
    """A step or level that is another kind of number.

    Args:
        text: the expression.
        argument: what is given as step or level.
        kind: what it is.
        fact: whose argument it is.
        subject: what the fact is asked of.
    """
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
    fact_such = (
        f", or a fact such as {examples[expected]}({get_example_series(subject)})"
        if expected in examples
        else ""
    )
    return Fault(argument.position, argument.length, said, f"Write a number{fact_such}")


def check_name(name: Name, subject: Subject, expected: Quantity = Quantity.VALUE) -> Fault | None:
    """A name that stands where a number has to; None where it is a date on an axis of time.

    Args:
        name: the name.
        subject: what the facts are asked of.
        expected: the quantity that is wanted, for the example.
    """
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
