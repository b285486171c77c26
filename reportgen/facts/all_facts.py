"""Every fact that needs no step or level of its author's choice."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from reportgen.facts.vocabulary import ParameterKind, list_fact_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.facts.subject import Subject
    from reportgen.statements import Fact


def collect_facts(subject: Subject) -> tuple[Fact, ...]:
    """The facts of every series, then those of every pair, in the order of series and of the vocabulary.

    Each pair is asked once, in the order of series; ``better`` the other way round where that is true.
    """
    named = {1: [], 2: []}  # type: dict[int, list[str]]
    for kind in list_fact_kinds(subject.holds):
        if all(parameter.kind is ParameterKind.SERIES for parameter in kind.parameters):
            named[len(kind.parameters)].append(kind.name)
    one = [subject.fact(name, (series,)) for series in subject.series for name in named[1]]
    return (*one, *_collect_pair_facts(subject, named[2]))


def _collect_pair_facts(subject: Subject, names: list[str]) -> Iterator[Fact]:
    for a, b in combinations(subject.series, 2):
        for name in names:
            fact = subject.fact(name, (a, b))
            if name == "better" and fact.value is False:
                other = subject.fact(name, (b, a))
                fact = other if other.value is True else fact
            yield fact
