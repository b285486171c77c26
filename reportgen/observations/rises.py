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
        for inferred in (True, False):
            alike = [one for one in moves if one.up is up and one.inferred is inferred]
            if alike:
                yield _observation(field, sorted(alike, key=lambda one: (one.reached, one.series)))


def _observation(field: Field, moves: Sequence[Move]) -> Observation:
    """One sentence for all series that move the same way, fastest first."""
    fastest, slowest = moves[0], moves[-1]
    far = max(moves, key=lambda one: (one.size, one.series))
    marked = slowest if _slower(slowest, fastest) else fastest
    return Observation(
        rule=Rule.RISE,
        text=_inferred(field, moves) if far.inferred else _alone(field, moves),
        evidence=tuple(_evidence(field, one) for one in moves[:_MOST_IN_EVIDENCE]),
        threshold=field.course_words(far.series) if far.inferred else field.readings_alone.words(far.size),
        series=tuple(one.series for one in moves),
        strength=field.readings_alone.strength(far.size),
        from_step=min(one.start_step for one in moves),
        to_step=slowest.reached,
        mark_series=marked.series,
        mark=marked.reached,
        label=f"90 % of {_way(marked)}",
    )


def _alone(field: Field, moves: Sequence[Move]) -> str:
    """What the readings do, without a word on what noise makes of them."""
    way = "up" if moves[0].up else "down"
    if len(moves) == 1:
        one = moves[0]
        start, end = (field.reading(value, one.series) for value in (one.start, one.end))
        return (
            f"The readings of {one.series} go {way} from {start} to {end}, 90 % of the way {_by(field, one)}."
        )
    said = _between(field, moves, most=len(moves))
    return f"By their readings the series have gone 90 % of their way {way} so: {said}."


def _inferred(field: Field, moves: Sequence[Move]) -> str:
    fastest, slowest = moves[0], moves[-1]
    verb = "rises" if fastest.up else "falls"
    if len(moves) == 1:
        start, end = (field.reading(value, fastest.series) for value in (fastest.start, fastest.end))
        way = f"{fastest.series} {verb} from about {start} to {end}"
        return f"{way}, and has made 90 % of that {_by(field, fastest)}."
    if not _slower(slowest, fastest):
        return f"{_names(moves)} {verb.removesuffix('s')}: {_between(field, moves)} 90 % of it is made."
    first = [one for one in moves if one.reached == fastest.reached and not _slower(one, fastest)]
    last = [one for one in moves if one.reached == slowest.reached and not _slower(slowest, one)]
    has = "has made 90 % of its" if len(first) == 1 else "have made 90 % of their"
    head = f"{_names(first)} {has} {_way(fastest)} {_by(field, fastest)}"
    between = [one for one in moves if one not in first and one not in last]
    middle = f", {_between(field, between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    slow = (
        f"{_names(last)} {'is' if len(last) == 1 else 'are'} {'slower' if last == moves[1:] else 'slowest'}"
    )
    return f"{head}{middle}; {slow}, there {at_step(slowest.reached, field.scale)}."


def _between(field: Field, moves: Sequence[Move], most: int = _MOST_BETWEEN + 1) -> str:
    """Names with the steps at which they are there, those of one step together."""
    steps = list(dict.fromkeys(one.reached for one in moves))
    groups = [[one for one in moves if one.reached == step] for step in steps]
    return few([f"{_names(group)} {_by(field, group[0])}" for group in groups], most)


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
