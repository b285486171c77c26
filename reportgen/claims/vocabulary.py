"""The vocabulary of facts, their notation in expressions, and the subject that answers them."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from msgspec.structs import replace

from reportgen.core.facts import FACTS, ParameterKind, list_fact_kinds
from reportgen.core.statements import Fact
from reportgen.core.words import format_moment, join_names

if TYPE_CHECKING:
    from reportgen.core.statements import Scale


KEYWORDS = ("and", "or", "not")  # words of the language that are not names
# The fact that is the mean of one number of each run, where the runs have no steps.
OF_RUNS = {"final": "final", "best": "peak", "mean": "mean"}
# Every repeated branch can match in one way only, so that reading takes linear time.
PLAIN_NAME = r"[^\W\d][\w.]*(?:-[\w.]+)*"  # a name that needs no quotes, as a pattern


def quote_name(name: str) -> str:
    """Return a name as written in expressions: ``MEL``, or with quotes if needed: ``'Series A'``."""
    if re.fullmatch(PLAIN_NAME, name) and name not in KEYWORDS:
        return name
    return "'" + name.replace("'", "''") + "'"


# From here on whole numbers have an exponent: nobody can count the digits of 1e16.
_PLAIN_BELOW = 1e15
TOO_LARGE = "the numbers are too large to compute with"


Argument: TypeAlias = str | float  # a series' name, or a step or level


class FactError(ValueError):
    """A question that the results have no answer to, such as a step outside a series' range.

    Not for unknown values: that is a fact without a value. ``message`` says what was found and ``next_step``,
    which may be empty, what to do about it; each is a sentence without its full stop.
    """

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class Subject(Protocol):
    """Curves or scores of one metric, and the facts about them."""

    @property
    def holds(self) -> Literal["curves", "scores"]:
        """The subject's content, which determines its facts."""

    @property
    def scale(self) -> Scale:
        """Description of its numbers."""

    @property
    def series(self) -> tuple[str, ...]:
        """Names of its series."""

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """Return a fact of its vocabulary; raise ``FactError`` if the results have no answer."""


def make_question(
    name: str, arguments: tuple[Argument, ...], subject: Subject
) -> tuple[Fact, tuple[float, ...]]:
    """Make a fact without a value from its name and arguments, and return it with its numeric arguments.

    Raises ``FactError`` if a series does not exist or is compared with itself, or a number is not finite.
    """
    pairs = zip(arguments, FACTS[name].parameters, strict=False)
    series = tuple(str(one) for one, parameter in pairs if parameter.kind is ParameterKind.SERIES)
    for one in series:
        if one not in subject.series:
            raise FactError(f"There is no series {one}", f"The series are {join_names(subject.series)}")
    numbers = tuple(float(one) for one in arguments if not isinstance(one, str))
    if len(set(series)) < len(series):
        raise FactError(f"{name} holds {series[0]} against itself", "Name two different series")
    text = format_call(name, arguments, subject.scale)
    return Fact(text, FACTS[name].quantity, None, series=series), numbers


def format_call(name: str, arguments: tuple[Argument, ...], scale: Scale) -> str:
    """Format a call for an expression: ``peak(MEL)``, ``at('Series A', 15)``, ``at(A, '2024-05-01')``."""
    texts = []
    for one, parameter in zip(arguments, FACTS[name].parameters, strict=False):
        if isinstance(one, str):
            texts.append(quote_name(one))
            continue
        number = float(one)
        dated = scale.step_is_time and parameter.kind is ParameterKind.STEP
        moment = format_moment(number) if dated else None
        whole = number == round(number) and abs(number) < _PLAIN_BELOW
        texts.append(f"'{moment}'" if moment is not None else str(int(number)) if whole else repr(number))
    return f"{name}({', '.join(texts)})"


def drop_infinite(fact: Fact) -> Fact:
    """Return the fact, without a value if its number is too large for a float."""
    if any(one is not None and not math.isfinite(one) for one in (fact.value, fact.step)):
        return Fact(fact.call, fact.quantity, None, TOO_LARGE, fact.series)
    if any(end is None or not math.isfinite(end) for end in (fact.low, fact.high)):
        return replace(fact, low=None, high=None)
    return fact


def collect_facts(subject: Subject) -> tuple[Fact, ...]:
    """Return the facts of every series, then of every pair, in the order of series and vocabulary.

    Each pair occurs once, in the order of series; ``better`` in the reverse order if that is true. Facts that
    the subject does not have are left out, as those about steps where each run has one value.
    """
    of_series = ParameterKind.SERIES
    kinds = [
        kind
        for kind in list_fact_kinds(subject.holds)
        if all(parameter.kind is of_series for parameter in kind.parameters)
    ]
    single, paired = ([kind.name for kind in kinds if len(kind.parameters) == count] for count in (1, 2))
    facts: list[Fact] = []
    for series, name in product(subject.series, single):
        with suppress(FactError):
            facts.append(subject.fact(name, (series,)))
    for (a, b), name in product(combinations(subject.series, 2), paired):
        with suppress(FactError):
            fact = subject.fact(name, (a, b))
            if name == "better" and fact.value is False:
                other = subject.fact(name, (b, a))
                fact = other if other.value is True else fact
            facts.append(fact)
    return tuple(facts)
