"""What is wrong with the arguments of a fact, and with names that stand where no name can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.expressions.faults import Fault, shortened
from reportgen.expressions.language import Name, Number, part_of
from reportgen.expressions.quantities import quantity_words
from reportgen.expressions.syntax_faults import without_comma
from reportgen.expressions.unknown_names import which_series
from reportgen.facts.names import written
from reportgen.facts.vocabulary import FACTS, ParameterKind, facts_of
from reportgen.moments import read_moment
from reportgen.naming import nearest
from reportgen.statements import Quantity
from reportgen.words import counted, listing

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
_WANTED = {
    ParameterKind.STEP: Quantity.STEP,
    ParameterKind.LEVEL: Quantity.VALUE,
    ParameterKind.MARGIN: Quantity.DIFFERENCE,
}
_TWO = {
    ParameterKind.SERIES: "two series",
    ParameterKind.STEP: "two steps",
    ParameterKind.LEVEL: "two levels",
}


def count_fault(text: str, call: Call, fact: FactKind) -> Fault | None:
    """A fact with too few or too many arguments."""
    given, wanted = len(call.arguments), len(fact.parameters)
    if given == wanted:
        return None
    kinds = [parameter.kind for parameter in fact.parameters]
    takes = [(_ONE if kinds.count(kind) == 1 else _TWO)[kind] for kind in dict.fromkeys(kinds)]
    got = f"and {counted(given, 'argument stands', 'arguments stand') if given else 'nothing stands'} here"
    said = f'"{fact.name}" takes {listing(takes)}, {got}'
    numbers = zip(call.arguments, call.arguments[1:], strict=False)
    for left, right in numbers:
        meant = without_comma(text, part_of(text, left), part_of(text, right), right.position)
        if meant:
            return Fault(call.position, call.length, said, f"A number is written without commas: {meant}")
    return Fault(call.position, call.length, said, f"Write {fact.signature}")


def series_fault(text: str, argument: Tree, fact: FactKind, subject: Subject) -> Fault | None:
    """Something that is no series where a series has to stand."""
    here = part_of(text, argument)
    if isinstance(argument, Name):
        if argument.name in subject.series:
            return None
        said = f'There is no series "{argument.name}"'
        return Fault(argument.position, argument.length, said, which_series(argument.name, subject.series))
    if here in subject.series:
        said, step = f'"{here}" is not in quotes', f"This name has to be in quotes: {written(here)}"
        return Fault(argument.position, argument.length, said, step)
    what = "a number" if isinstance(argument, Number) else "no name"
    said = f'"{fact.name}" takes a series, and "{shortened(here)}" is {what}'
    return Fault(argument.position, argument.length, said, which_series(here, subject.series))


def twice_fault(text: str, call: Call) -> Fault | None:
    """A fact about two series that is asked about one."""
    first, second = call.arguments[:2]
    if isinstance(first, Name) and isinstance(second, Name) and first.name == second.name:
        said = f"{part_of(text, call)} holds {written(first.name)} against itself"
        return Fault(call.position, call.length, said, "Name two different series")
    return None


def number_fault(text: str, argument: Tree, kind: Kind, fact: FactKind, subject: Subject) -> Fault | None:
    """A step or level that is another kind of number.

    Args:
        text: the expression.
        argument: what is given as step or level.
        kind: what it is.
        fact: whose argument it is.
        subject: what the fact is asked of.
    """
    # Steps, levels and margins stand behind the series, and no fact takes two kinds of them.
    wanted = _WANTED[fact.parameters[-1].kind]
    here = shortened(part_of(text, argument))
    if kind.plain and subject.scale.step_is_time and wanted is Quantity.STEP:
        said = f'The steps of "{subject.scale.metric}" are dates, and "{here}" is a plain number'
        return Fault(argument.position, argument.length, said, DATE_STEP)
    if kind.plain and kind.percent and subject.scale.percent and wanted is not Quantity.STEP:
        return percent_fault(text, argument, subject)
    if kind.plain or kind.quantity is wanted:
        return None
    is_what = quantity_words(kind.quantity, subject.scale)
    said = f'"{fact.name}" takes {quantity_words(wanted, subject.scale)}, and {here} is {is_what}'
    examples = {Quantity.VALUE: "final", Quantity.STEP: "peak_step"}
    fact_such = (
        f", or a fact such as {examples[wanted]}({first_series(subject)})" if wanted in examples else ""
    )
    return Fault(argument.position, argument.length, said, f"Write a number{fact_such}")


def name_fault(name: Name, subject: Subject, wanted: Quantity = Quantity.VALUE) -> Fault | None:
    """A name that stands where a number has to; None where it is a date on an axis of time.

    Args:
        name: the name.
        subject: what the facts are asked of.
        wanted: the quantity that is wanted, for the example.
    """
    scale, shown, step = subject.scale, written(name.name), ""
    if scale.step_is_time and name.quoted and read_moment(name.name) is not None:
        return None
    signatures = {fact.name: fact.signature for fact in facts_of(subject.holds)}
    if name.name in subject.series:
        said = f"{shown} is a series and not yet a number"
        of_curves = "peak_step" if wanted is Quantity.STEP else "final"
        fact = of_curves if subject.holds == "curves" else "score"
        step = f"Ask a fact of it, such as {fact}({shown})"
    elif name.name in FACTS:
        said = f'"{name.name}" is a fact, and what it is about is missing'
        step = f"Write {FACTS[name.name].signature}"
    elif scale.step_is_time and name.quoted:
        said, step = f'"{name.name}" is no date', DATE_STEP
    elif read_moment(name.name) is not None:
        said, step = f'"{name.name}" is a date, and the steps here are numbers', "Write the step as a number"
    else:
        said = f'"{name.name}" is neither a number nor a fact'
        near = nearest(name.name, [*signatures, *subject.series])
        step = f"Did you mean {signatures.get(near, written(near))}? " if near else ""
        step += f"The facts of {subject.holds} are {listing(list(signatures.values()))}"
    return Fault(name.position, name.length, said, step)


def percent_fault(text: str, tree: Tree, subject: Subject) -> Fault:
    """``84%``, which is 0.84, beside values that are percentages already."""
    here = shortened(part_of(text, tree))
    said = f'"{subject.scale.metric}" is written in percent already, and {here} would be a hundredth of it'
    return Fault(tree.position, tree.length, said, "Write the number without the percent sign")


def first_series(subject: Subject) -> str:
    """A series for examples, as expressions hold it."""
    return written(subject.series[0]) if subject.series else "A"
