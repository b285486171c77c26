"""The rule ``rise``: by which step series have made most of their way, and who is fastest and slowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.moves import move
from reportgen.observations.phrases import fact, few
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.moves import Move

_MOST_IN_EVIDENCE, _MOST_BETWEEN = 8, 2


def rise(field: Field) -> Iterator[Observation]:
    """By which step each series made 90 % of its way up, or down; fastest and slowest where there are."""
    moves = [found for series in field.names if (found := move(field, series)) is not None]
    for up in (True, False):
        alike = [one for one in moves if one.up is up]
        if alike:
            yield _observation(field, sorted(alike, key=lambda one: (one.reached, one.series)))


def _observation(field: Field, moves: Sequence[Move]) -> Observation:
    """One sentence for all series that move the same way, fastest first."""
    fastest, slowest = moves[0], moves[-1]
    far = max(moves, key=lambda one: (one.held.strength(one.size), one.series))
    marked = slowest if _slower(slowest, fastest) else fastest
    return Observation(
        rule=Rule.RISE,
        text=_sentence(field, moves),
        evidence=tuple(_evidence(field, one) for one in moves[:_MOST_IN_EVIDENCE]),
        threshold=far.held.words(far.size),
        series=tuple(one.series for one in moves),
        strength=far.held.strength(far.size),
        from_step=min(one.start_step for one in moves),
        to_step=slowest.reached,
        mark_series=marked.series,
        mark=marked.reached,
        label=f"90 % of {_way(marked)}",
    )


def _sentence(field: Field, moves: Sequence[Move]) -> str:
    fastest, slowest = moves[0], moves[-1]
    if len(moves) == 1:
        start, end = (field.reading(value, fastest.series) for value in (fastest.start, fastest.end))
        way = f"its {_way(fastest)}, from {start} to {end},"
        return f"{fastest.series} has made 90 % of {way} {_by(field, fastest)}."
    if not _slower(slowest, fastest):
        if len({one.reached for one in moves}) == 1:
            return f"{_names(moves)} have made 90 % of their {_way(fastest)} {_by(field, fastest)}."
        others = _between(field, moves[1:])
        head = f"{fastest.series} has made 90 % of its {_way(fastest)} {_by(field, fastest)}, {others}"
        return f"{head}; noise leaves open who is faster."
    first = [one for one in moves if one.reached == fastest.reached and not _slower(one, fastest)]
    last = [one for one in moves if one.reached == slowest.reached and not _slower(slowest, one)]
    verb = "has made 90 % of its" if len(first) == 1 else "have made 90 % of their"
    head = f"{_names(first)} {verb} {_way(fastest)} {_by(field, fastest)}"
    between = [one for one in moves if one not in first and one not in last]
    middle = f", {_between(field, between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    slow = (
        f"{_names(last)} {'is' if len(last) == 1 else 'are'} {'slower' if last == moves[1:] else 'slowest'}"
    )
    return f"{head}{middle}; {slow}, first there {at_step(slowest.reached, field.scale)}."


def _between(field: Field, moves: Sequence[Move]) -> str:
    """Names with the steps at which they are there, those of one step together."""
    steps = list(dict.fromkeys(one.reached for one in moves))
    groups = [[one for one in moves if one.reached == step] for step in steps]
    return few([f"{_names(group)} {_by(field, group[0])}" for group in groups], _MOST_BETWEEN + 1)


def _slower(one: Move, other: Move) -> bool:
    """Whether readings show it and noise leaves no doubt of it."""
    return one.reached > other.reached and one.earliest > other.reached


def _names(moves: Sequence[Move]) -> str:
    return few([one.series for one in moves], 6)


def _by(field: Field, one: Move) -> str:
    return f"by {step_said(one.reached, field.scale)}"


def _way(one: Move) -> str:
    return "rise" if one.up else "fall"


def _evidence(field: Field, one: Move) -> str:
    """``start(MEL) = 0.74; 90 % of the rise to 0.84 is 0.83, reached by step 120``."""
    start, end, level = (
        field.reading(value, one.series)
        for value in (one.start, one.end, one.start + 0.9 * (one.end - one.start))
    )
    call = fact(field, "start", one.series)
    return f"{call} = {start}; 90 % of the {_way(one)} to {end} is {level}, reached {_by(field, one)}"
