"""The rules ``rise`` and ``steady``: how far a series moves, by when, and whether it turns back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.phrases import format_call_of, format_few, format_value_fact
from reportgen.claims.observations.rules.dips import find_deepest_fall
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.rules.dips import Setback
    from reportgen.core.model import FloatArray


DONE = 0.9
"""A move is as good as done at this share of it."""

CLEAR = 3.0
"""A part of a course that is so many standard errors high is clear, where the course itself is."""

STAYS = 0.35
"""What loses more than the rest of it again is a peak or a dip."""

_DOUBT = 2.0


@dataclass(frozen=True, slots=True)
class Move:
    """A rise or fall from the start to the level that a series gets to.

    Attributes:
        series: whose.
        up: True where values rise, as measured.
        inferred: whether a test has found it; otherwise it is one of the readings.
        start, end: the first value, and the furthest one: of the course, or of the readings.
        start_step: the first step.
        reached: the first step with 90 % of the move.
        earliest: the first step at which noise leaves open whether it is there.
    """

    series: str
    up: bool
    inferred: bool
    start: float
    end: float
    start_step: float
    reached: float
    earliest: float

    @property
    def size(self) -> float:
        """How far it goes, 0 or more."""
        return abs(self.end - self.start)


def find_move(field: Field, series: str) -> Move | None:
    """The larger of the rise and the fall of a series from its start; None if there is none to tell of."""
    if field.is_moving(series):
        course = field.get_course(series)
        level = course.level
        far = int(np.argmax(np.abs(level - level[0])))
        error, size = course.compute_error(far, 0), float(level[far] - level[0])
        stays = float(level[-1] - level[0]) / size if size else 0.0
        if abs(size) > max(CLEAR * error, field.least) and stays >= STAYS:
            return _make_move(
                series, field.get_course_steps(series), level, doubt=_DOUBT * error, inferred=True
            )
    if not field.few:
        return None
    own = field.get_points(series)
    found = _make_move(series, own.steps, own.values, doubt=0.0, inferred=False)
    return found if found is not None and field.readings_alone.is_exceeded(found.size) else None


def _make_move(
    series: str, steps: FloatArray, values: FloatArray, *, doubt: float, inferred: bool
) -> Move | None:
    up = bool(values.max() - values[0] >= values[0] - values.min())
    risen = (1.0 if up else -1.0) * (values - values[0])
    size = float(risen.max())
    if size <= 0:
        return None
    reached, earliest = (
        float(steps[np.flatnonzero(risen >= level - SAME * abs(level))[0]])
        for level in (DONE * size, max(DONE * size - doubt, 0.0))
    )
    end = float(values[0]) + (size if up else -size)
    return Move(series, up, inferred, float(values[0]), end, float(steps[0]), reached, earliest)


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
        return (
            f"The readings of {one.series} go {way} from {start} to {end}, 90 % of the way "
            f"{_format_by(field, one)}."
        )
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
        return (
            f"{_format_names(moves)} {verb.removesuffix('s')}: {_format_steps(field, moves)} "
            "90 % of it is made."
        )
    first = [one for one in moves if one.reached == fastest.reached and not _is_slower(one, fastest)]
    last = [one for one in moves if one.reached == slowest.reached and not _is_slower(slowest, one)]
    has = "has made 90 % of its" if len(first) == 1 else "have made 90 % of their"
    head = f"{_format_names(first)} {has} {_get_way(fastest)} {_format_by(field, fastest)}"
    between = [one for one in moves if one not in first and one not in last]
    middle = f", {_format_steps(field, between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    slow = (
        f"{_format_names(last)} {'is' if len(last) == 1 else 'are'} "
        f"{'slower' if last == moves[1:] else 'slowest'}"
    )
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


_FEWEST = 4
"""Three readings that rise are three readings."""

_SMALL = 0.1
"""A step back of this share of the way is told, and is still steady."""

_TWICE = 2
"""A course that could hide a setback of half its way is not called steady."""


def observe_steady(field: Field) -> Iterator[Observation]:
    """Series that rise, or fall, without turning back; and between which values others stay."""
    for series in field.names:
        values = field.get_points(series).values
        if values.size < _FEWEST:
            continue
        found = find_move(field, series)
        if found is not None and found.inferred:
            yield from _observe_course(field, found)
        elif found is not None:
            yield from _observe_readings(field, found)
        elif not field.is_moving(series) and (not field.few or values.min() == values.max()):
            yield _observe_range(field, series)


def _observe_course(field: Field, found: Move) -> Iterator[Observation]:
    """A course that never turns, known well enough that it hides no setback of half its way."""
    course = field.get_course(found.series)
    rising = (1.0 if found.up else -1.0) * course.level
    back = find_deepest_fall(rising)
    errors = [
        course.compute_error(place, 0) for place in np.linspace(0, rising.size - 1, 9).astype(int).tolist()
    ]
    if back.depth > field.least or found.size < _TWICE * CLEAR * max(errors):
        return
    verb = "rises" if found.up else "falls"
    start, end = (field.format_reading(value, found.series) for value in (found.start, found.end))
    text = f"{found.series} {verb} from about {start} to {end}; its fitted course never turns back."
    yield _make_steady(
        field,
        found,
        text,
        find_deepest_fall((1.0 if found.up else -1.0) * field.get_points(found.series).values),
    )


def _observe_readings(field: Field, found: Move) -> Iterator[Observation]:
    """Readings that go one way, but for a step back of a tenth of it."""
    series = found.series
    steps, values = field.get_points(series)
    back = find_deepest_fall((1.0 if found.up else -1.0) * values)
    least = field.readings_alone.value
    # What it loses in the end and does not make good is a decline.
    lost = back.depth > least and back.end == values.size - 1
    if lost or back.depth > max(least, _SMALL * found.size):
        return
    extreme = float(values.max() if found.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    start, end = (field.format_reading(value, series) for value in (found.start, found.end))
    way = f"The readings of {series} go {'up' if found.up else 'down'} from {start} "
    way += (
        f"{describe_position(float(steps[0]), field.scale)} to {end} "
        f"{describe_position(float(steps[reached]), field.scale)}"
    )
    if back.depth == 0:
        stays = " and stay there" if reached < steps.size - 1 else ""
        side = "below" if found.up else "above"
        text = f"{way}{stays}; none of the {steps.size:,} is {side} the one before."
    else:
        text = (
            f"{way}; the largest step back of the {steps.size:,} is {_format_setback(field, series, back)}."
        )
    yield _make_steady(field, found, text, back)


def _make_steady(field: Field, found: Move, text: str, back: Setback) -> Observation:
    series = found.series
    steps, values = field.get_points(series)
    held = field.readings_alone
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            format_value_fact(field, "start", series, float(values[0]), float(steps[0])),
            format_value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
            f"largest step back: {_format_setback(field, series, back)}"
            if back.depth
            else f"{series} has no step back",
        ),
        threshold=field.describe_course_test(series) if found.inferred else held.describe(back.depth),
        series=(series,),
        strength=held.strength(found.size) / 4,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _observe_range(field: Field, series: str) -> Observation:
    """Between which values readings stay of which nothing else can be said."""
    steps, values = field.get_points(series)
    lowest, highest = (field.format_reading(float(end), series) for end in (values.min(), values.max()))
    first, last = (describe_step(float(steps[place]), field.scale) for place in (0, -1))
    if lowest == highest:
        text = f"All readings of {series} are {lowest}, from {first} to {last}."
    else:
        middle = field.format_reading(float(values.mean()), series)
        text = f"The readings of {series} lie between {lowest} and {highest}, with a mean of {middle}."
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            format_value_fact(field, "start", series, float(values[0]), float(steps[0])),
            format_value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
        ),
        threshold="readings as they are",
        series=(series,),
        strength=0.5,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _format_setback(field: Field, series: str, back: Setback) -> str:
    """``0.01, from 0.08 at step 10 to 0.09 at step 15``."""
    steps, values = field.get_points(series)
    ends = (
        f"{field.format_reading(float(values[place]), series)} "
        f"{describe_position(float(steps[place]), field.scale)}"
        for place in (back.start, back.end)
    )
    return f"{field.format_size(back.depth, series)}, from {' to '.join(ends)}"
