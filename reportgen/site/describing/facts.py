"""Every fact about a source in finished words, for an author who looks for one to write down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.claims.facts.fact_words import describe_fact
from reportgen.claims.facts.vocabulary import FactError, ParameterKind, collect_facts, list_fact_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.facts.vocabulary import FactKind, Subject
    from reportgen.core.statements import Fact


@dataclass(frozen=True, slots=True)
class FactGroup:
    """One fact of the vocabulary and its value for each series or pair.

    ``signature`` is how it is written, such as ``peak(s)``, ``says`` its meaning; ``rows`` are pairs of a
    call to paste and what the data say; ``note`` says why there are no rows, or that they are one example.
    """

    signature: str
    says: str
    rows: tuple[tuple[str, str], ...]
    note: str = ""


def group_facts(subject: Subject) -> tuple[FactGroup, ...]:
    """The facts that there are for what a subject holds, in the order of the vocabulary."""
    known: dict[str, list[Fact]] = {}
    for fact in collect_facts(subject):
        known.setdefault(fact.name, []).append(fact)
    groups = []
    for kind in list_fact_kinds(subject.holds):
        chosen = any(parameter.kind is not ParameterKind.SERIES for parameter in kind.parameters)
        facts = _find_example(kind, known, subject) if chosen else known.get(kind.name, [])
        rows = []
        for fact in facts:
            words = describe_fact(fact, subject.scale).removeprefix(fact.call).strip()
            rows.append((fact.call, words.removeprefix("= ").removeprefix("is ")))
        note = "For example:" if rows and chosen else ""
        if not rows and len(subject.series) < _count_series(kind):
            note = "It needs two series."
        groups.append(FactGroup(kind.signature, kind.says, tuple(rows), note))
    return tuple(groups)


def _find_example(kind: FactKind, known: dict[str, list[Fact]], subject: Subject) -> Iterator[Fact]:
    """The fact of the first series or pair, at a step or level that its curve has."""
    needed = _count_series(kind)
    series = subject.series[:needed]
    bounds = subject.scale.bounds
    worst, best = _find_value(known, "trough"), _find_value(known, "peak")
    numbers = {
        "x": _find_value(known, "widest_gap_step" if needed > 1 else "peak_step"),
        "from": known["start"][0].step if "start" in known else None,
        "to": known["final"][0].step if "final" in known else None,
        # Between the first series' worst and best value, in two digits.
        "level": None if worst is None or best is None else float(f"{(worst + best) / 2:.2g}"),
        # A fiftieth of the range that values may have.
        "margin": (bounds[1] - bounds[0]) / 50 if bounds else None,
    }
    chosen = [numbers[one.name] for one in kind.parameters if one.kind is not ParameterKind.SERIES]
    given = [number for number in chosen if number is not None]
    if len(series) < needed or len(given) < len(chosen):
        return
    try:
        yield subject.fact(kind.name, (*series, *given))
    except FactError:
        # A curve without such a step: the signature alone says how the fact is written.
        return


def _count_series(kind: FactKind) -> int:
    return sum(parameter.kind is ParameterKind.SERIES for parameter in kind.parameters)


def _find_value(known: dict[str, list[Fact]], name: str) -> float | None:
    value = known[name][0].value if name in known else None
    return None if value is None else float(value)
