"""The rule ``observe_rises``: by which step series have made most of their way, and who is fastest and slowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.fact_words import describe_position, describe_step
from reportgen.observations.moves import find_move
from reportgen.observations.phrases import format_call_of, format_few
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.moves import Move

_MOST_IN_EVIDENCE, _MOST_BETWEEN = 8, 2


def observe_rises(field: Field) -> Iterator[Observation]:
    """By which step each series made 90 % of its way up, or down; fastest and slowest where there are."""
    moves = [found for series in field.names if (found := find_move(field, series)) is not None]
    for up in (True, False):
        for inferred in (True, False):
            group = [one for one in moves if one.up is up and one.inferred is inferred]
            if group:
                yield _make_rise(field, sorted(group, key=lambda one: (one.reached, one.series)))


def _make_rise(field: Field, moves: Sequence[Move]) -> Observation:
    """One sentence for all series that move the same way, fastest first."""
    fastest, slowest = moves[0], moves[-1]
    far = max(moves, key=lambda one: (one.size, one.series))
    marked = slowest if _is_slower(slowest, fastest) else fastest
    return Observation(
        rule=Rule.RISE,
        text=_describe_inferred(field, moves) if far.inferred else _describe_readings(field, moves),
        evidence=tuple(_format_evidence(field, one) for one in moves[:_MOST_IN_EVIDENCE]),
        threshold=field.describe_course_test(far.series)
        if far.inferred
        else field.readings_alone.describe(far.size),
        series=tuple(one.series for one in moves),
        strength=field.readings_alone.strength(far.size),
        from_step=min(one.start_step for one in moves),
        to_step=slowest.reached,
        mark_series=marked.series,
        mark=marked.reached,
        label=f"90 % of {_get_way(marked)}",
    )


def _describe_readings(field: Field, moves: Sequence[Move]) -> str:
    """What the readings do, without a word on what noise makes of them."""
    way = "up" if moves[0].up else "down"
    if len(moves) == 1:
        one = moves[0]
        start, end = (field.format_reading(value, one.series) for value in (one.start, one.end))
        return f"The readings of {one.series} go {way} from {start} to {end}, 90 % of the way {_format_by(field, one)}."
    said = _format_steps(field, moves, most=len(moves))
    return f"By their readings the series have gone 90 % of their way {way} so: {said}."


def _describe_inferred(field: Field, moves: Sequence[Move]) -> str:
    fastest, slowest = moves[0], moves[-1]
    verb = "rises" if fastest.up else "falls"
    if len(moves) == 1:
        start, end = (field.format_reading(value, fastest.series) for value in (fastest.start, fastest.end))
        way = f"{fastest.series} {verb} from about {start} to {end}"
        return f"{way}, and has made 90 % of that {_format_by(field, fastest)}."
    if not _is_slower(slowest, fastest):
        return f"{_format_names(moves)} {verb.removesuffix('s')}: {_format_steps(field, moves)} 90 % of it is made."
    first = [one for one in moves if one.reached == fastest.reached and not _is_slower(one, fastest)]
    last = [one for one in moves if one.reached == slowest.reached and not _is_slower(slowest, one)]
    has = "has made 90 % of its" if len(first) == 1 else "have made 90 % of their"
    head = f"{_format_names(first)} {has} {_get_way(fastest)} {_format_by(field, fastest)}"
    between = [one for one in moves if one not in first and one not in last]
    middle = f", {_format_steps(field, between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    slow = f"{_format_names(last)} {'is' if len(last) == 1 else 'are'} {'slower' if last == moves[1:] else 'slowest'}"
    return f"{head}{middle}; {slow}, there {describe_position(slowest.reached, field.scale)}."


def _format_steps(field: Field, moves: Sequence[Move], most: int = _MOST_BETWEEN + 1) -> str:
    """Names with the steps at which they are there, those of one step together."""
    steps = list(dict.fromkeys(one.reached for one in moves))
    groups = [[one for one in moves if one.reached == step] for step in steps]
    return format_few([f"{_format_names(group)} {_format_by(field, group[0])}" for group in groups], most)


def _is_slower(one: Move, other: Move) -> bool:
    """Whether readings show it and noise leaves no doubt of it."""
    return one.reached > other.reached and one.earliest > other.reached


def _format_names(moves: Sequence[Move]) -> str:
    return format_few([one.series for one in moves], 6)


def _format_by(field: Field, one: Move) -> str:
    return f"by {describe_step(one.reached, field.scale)}"


def _get_way(one: Move) -> str:
    return "rise" if one.up else "fall"


def _format_evidence(field: Field, one: Move) -> str:
    """``start(MEL) = 0.74; 90 % of the rise to 0.84 is 0.83, reached by step 120``."""
    start, end, level = (
        field.format_reading(value, one.series)
        for value in (one.start, one.end, one.start + 0.9 * (one.end - one.start))
    )
    call = format_call_of(field, "start", one.series)
    return (
        f"{call} = {start}; 90 % of the {_get_way(one)} to {end} is {level}, reached {_format_by(field, one)}"
    )
