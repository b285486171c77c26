"""The rules ``rise`` and ``steady``: how far a series moves, by when, and whether it turns back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.phrases import format_few
from reportgen.claims.observations.rules.dips import find_deepest_fall
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field, Series
    from reportgen.claims.observations.rules.dips import Setback
    from reportgen.core.model import FloatArray


CLEAR = 3.0
"""A part of a course that is so many standard errors high is clear, where the course itself is."""

_DONE = 0.9
"""A move is as good as done at this share of it."""

_STAYS = 0.35
"""What loses more than the rest of it again is a peak or a dip."""

_DOUBT = 2.0
_MOST_IN_EVIDENCE, _MOST_NAMED, _MOST_BETWEEN = 8, 6, 2
_FEWEST = 4

_SMALL = 0.1
"""A step back of this share of the way is reported, and is still steady."""

_TWICE = 2
"""A course that could hide a setback of half its way is not called steady."""


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

    series: Series
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

    @property
    def sign(self) -> float:
        """1 for a rise, −1 for a fall."""
        return 1.0 if self.up else -1.0

    @property
    def noun(self) -> str:
        """``rise`` or ``fall``."""
        return "rise" if self.up else "fall"

    @property
    def by(self) -> str:
        """By when it is as good as done: ``by step 120``."""
        return f"by {describe_step(self.reached, self.series.field.scale)}"

    @property
    def ends(self) -> str:
        """``0.2 to 0.84``."""
        return f"{self.series.format(self.start)} to {self.series.format(self.end)}"

    def is_slower(self, other: Move) -> bool:
        """Whether readings show it and noise leaves no doubt of it."""
        return self.reached > other.reached and self.earliest > other.reached


def find_move(series: Series) -> Move | None:
    """The larger of the rise and the fall of a series from its start; None if there is none to report."""
    field = series.field
    if series.is_moving:
        course = series.course
        level = course.level
        far = int(np.argmax(np.abs(level - level[0])))
        error, size = course.compute_error(far, 0), float(level[far] - level[0])
        stays = float(level[-1] - level[0]) / size if size else 0.0
        if abs(size) > max(CLEAR * error, field.least) and stays >= _STAYS:
            return _make_move(series, series.course_steps, level, doubt=_DOUBT * error, inferred=True)
    if not field.few:
        return None
    move = _make_move(series, *series.points, doubt=0.0, inferred=False)
    return move if move is not None and field.readings_alone.is_exceeded(move.size) else None


def _make_move(
    series: Series, steps: FloatArray, values: FloatArray, *, doubt: float, inferred: bool
) -> Move | None:
    up = bool(values.max() - values[0] >= values[0] - values.min())
    risen = (1.0 if up else -1.0) * (values - values[0])
    size = float(risen.max())
    if size <= 0:
        return None
    reached, earliest = (
        float(steps[np.flatnonzero(risen >= level - SAME * abs(level))[0]])
        for level in (_DONE * size, max(_DONE * size - doubt, 0.0))
    )
    start = float(values[0])
    end = start + (size if up else -size)
    return Move(series, up, inferred, start, end, float(steps[0]), reached, earliest)


def observe_rises(field: Field) -> Iterator[Observation]:
    """By which step each series made 90 % of its way up, or down; fastest and slowest where there are."""
    moves = [move for series in field.series.values() if (move := find_move(series)) is not None]
    for up in (True, False):
        for inferred in (True, False):
            group = [move for move in moves if move.up is up and move.inferred is inferred]
            if group:
                yield _make_rise(field, sorted(group, key=lambda move: (move.reached, move.series.name)))


def _make_rise(field: Field, moves: Sequence[Move]) -> Observation:
    """One sentence for all series that move the same way, fastest first."""
    fastest, slowest = moves[0], moves[-1]
    far = max(moves, key=lambda move: (move.size, move.series.name))
    marked = slowest if slowest.is_slower(fastest) else fastest
    return Observation(
        rule=Rule.RISE,
        text=_describe_inferred(moves) if far.inferred else _describe_readings(moves),
        evidence=tuple(_format_evidence(move) for move in moves[:_MOST_IN_EVIDENCE]),
        threshold=far.series.describe_threshold(far.size, inferred=far.inferred),
        series=tuple(move.series.name for move in moves),
        strength=field.readings_alone.strength(far.size),
        from_step=min(move.start_step for move in moves),
        to_step=slowest.reached,
        mark_series=marked.series.name,
        mark=marked.reached,
        label=f"90 % of {marked.noun}",
    )


def _describe_readings(moves: Sequence[Move]) -> str:
    """What the readings do, without a word on what noise makes of them."""
    move = moves[0]
    way = "up" if move.up else "down"
    if len(moves) == 1:
        return f"The readings of {move.series.name} go {way} from {move.ends}, 90 % of the way {move.by}."
    steps = _format_steps(moves, most=len(moves))
    return f"By their readings the series have gone 90 % of their way {way} so: {steps}."


def _describe_inferred(moves: Sequence[Move]) -> str:
    fastest, slowest = moves[0], moves[-1]
    if len(moves) == 1:
        way = f"{fastest.series.name} {fastest.noun}s from about {fastest.ends}"
        return f"{way}, and has made 90 % of that {fastest.by}."
    if not slowest.is_slower(fastest):
        return f"{_format_names(moves)} {fastest.noun}: {_format_steps(moves)} 90 % of it is made."
    first = [move for move in moves if move.reached == fastest.reached and not move.is_slower(fastest)]
    last = [move for move in moves if move.reached == slowest.reached and not slowest.is_slower(move)]
    has = "has made 90 % of its" if len(first) == 1 else "have made 90 % of their"
    between = [move for move in moves if move not in first and move not in last]
    middle = f", {_format_steps(between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    verb = "is" if len(last) == 1 else "are"
    how = "slower" if last == moves[1:] else "slowest"
    there = describe_position(slowest.reached, slowest.series.field.scale)
    return (
        f"{_format_names(first)} {has} {fastest.noun} {fastest.by}{middle}; "
        f"{_format_names(last)} {verb} {how}, there {there}."
    )


def _format_steps(moves: Sequence[Move], most: int = _MOST_BETWEEN + 1) -> str:
    """Names with the steps at which they are there, those of one step together."""
    groups = [[move for move in moves if move.reached == step] for step in {m.reached: None for m in moves}]
    return format_few([f"{_format_names(group)} {group[0].by}" for group in groups], most)


def _format_names(moves: Sequence[Move]) -> str:
    return format_few([move.series.name for move in moves], _MOST_NAMED)


def _format_evidence(move: Move) -> str:
    """``start(MEL) = 0.74; 90 % of the rise to 0.84 is 0.83, reached by step 120``."""
    start, end, level = (
        move.series.format(value)
        for value in (move.start, move.end, move.start + _DONE * (move.end - move.start))
    )
    call = move.series.field.format_call("start", move.series.name)
    return f"{call} = {start}; 90 % of the {move.noun} to {end} is {level}, reached {move.by}"


def observe_steady(field: Field) -> Iterator[Observation]:
    """Series that rise, or fall, without turning back; and between which values others stay."""
    for series in field.series.values():
        values = series.points.values
        if values.size < _FEWEST:
            continue
        move = find_move(series)
        if move is not None:
            yield from _observe_course(move) if move.inferred else _observe_readings(move)
        elif not series.is_moving and (not field.few or values.min() == values.max()):
            yield _observe_range(series)


def _observe_course(move: Move) -> Iterator[Observation]:
    """A course that never turns, known well enough that it hides no setback of half its way."""
    course = move.series.course
    rising = move.sign * course.level
    places = np.linspace(0, rising.size - 1, 9).astype(int).tolist()
    error = max(course.compute_error(place, 0) for place in places)
    if find_deepest_fall(rising).depth > move.series.field.least or move.size < _TWICE * CLEAR * error:
        return
    text = f"{move.series.name} {move.noun}s from about {move.ends}; its fitted course never turns back."
    yield _make_steady(move, text, find_deepest_fall(move.sign * move.series.points.values))


def _observe_readings(move: Move) -> Iterator[Observation]:
    """Readings that go one way, but for a step back of a tenth of it."""
    series = move.series
    steps, values = series.points
    back = find_deepest_fall(move.sign * values)
    least = series.field.readings_alone.value
    # What it loses in the end and does not make good is a decline.
    lost = back.depth > least and back.end == values.size - 1
    if lost or back.depth > max(least, _SMALL * move.size):
        return
    extreme = float(values.max() if move.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    text = (
        f"The readings of {series.name} go {'up' if move.up else 'down'} from "
        f"{series.format(move.start)} {series.read(0).position} to "
        f"{series.format(move.end)} {series.read(reached).position}"
    )
    if back.depth == 0:
        stays = " and stay there" if reached < steps.size - 1 else ""
        side = "below" if move.up else "above"
        text += f"{stays}; none of the {steps.size:,} is {side} the one before."
    else:
        text += f"; the largest step back of the {steps.size:,} is {_format_setback(series, back)}."
    yield _make_steady(move, text, back)


def _make_steady(move: Move, text: str, back: Setback) -> Observation:
    series = move.series
    start, final = series.read(0), series.read(-1)
    largest = f"largest step back: {_format_setback(series, back)}"
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            start.format_fact("start"),
            final.format_fact("final"),
            largest if back.depth else f"{series.name} has no step back",
        ),
        threshold=series.describe_threshold(back.depth, inferred=move.inferred),
        series=(series.name,),
        strength=series.field.readings_alone.strength(move.size) / 4,
        from_step=start.step,
        to_step=final.step,
    )


def _observe_range(series: Series) -> Observation:
    """Between which values readings stay of which nothing else can be said."""
    values = series.points.values
    start, final = series.read(0), series.read(-1)
    lowest, highest = (series.format(float(end)) for end in (values.min(), values.max()))
    if lowest == highest:
        text = f"All readings of {series.name} are {lowest}, from {start.step_words} to {final.step_words}."
    else:
        mean = series.format(float(values.mean()))
        text = f"The readings of {series.name} lie between {lowest} and {highest}, with a mean of {mean}."
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(start.format_fact("start"), final.format_fact("final")),
        threshold="readings as they are",
        series=(series.name,),
        strength=0.5,
        from_step=start.step,
        to_step=final.step,
    )


def _format_setback(series: Series, back: Setback) -> str:
    """``0.01, from 0.08 at step 10 to 0.09 at step 15``."""
    start, end = series.read(back.start), series.read(back.end)
    size = series.field.format_size(back.depth, series.name)
    return f"{size}, from {start} {start.position} to {end} {end.position}"
