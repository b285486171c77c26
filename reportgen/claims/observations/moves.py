"""The rules ``rise`` and ``steady``: how far a series moves, by when, and whether it turns back."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.claims.fact_words import describe_position, describe_step, format_few
from reportgen.claims.observations.dips import find_deepest_fall, format_fall
from reportgen.claims.observations.field import observe
from reportgen.core.digits import SAME
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.dips import Setback
    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation


CLEAR = 3.0  # height in standard errors at which a part of a course is clear, if the course itself is
_DONE = 0.9  # share of a move at which it counts as done
_STAYS = 0.35  # a move that retains a smaller share at the end is a peak or a dip
_DOUBT = 2.0
_MOST_IN_EVIDENCE, _MOST_NAMED, _MOST_BETWEEN = 8, 6, 2
_FEWEST = 4

_SMALL = 0.1  # setbacks up to this share of the move still count as steady
_TWICE = 2  # a course that could hide a setback of half the move is not called steady


class Move(Struct, frozen=True):
    """Rise or fall, as measured, of a series from its start to the level it reaches."""

    series: Series
    up: bool
    inferred: bool  # whether found by a test rather than in the readings
    start: float  # the first value of the course, or of the readings
    end: float  # the furthest one
    start_step: float
    reached: float  # the first step with 90% of the move
    earliest: float  # the first step that may have 90% of the move, given the noise

    @property
    def size(self) -> float:
        """Size of the move, 0 or more."""
        return abs(self.end - self.start)

    @property
    def noun(self) -> str:
        """``rise`` or ``fall``."""
        return "rise" if self.up else "fall"

    @property
    def by(self) -> str:
        """Step by which it is done, as text: ``by step 120``."""
        return f"by {describe_step(self.reached, self.series.field.scale)}"

    @property
    def ends(self) -> str:
        """Start and end as text: ``0.2 to 0.84``."""
        return f"{self.series.format(self.start)} to {self.series.format(self.end)}"

    def is_slower(self, other: Move) -> bool:
        """Return whether this move is slower by the readings, and clearly so given the noise."""
        return self.reached > other.reached and self.earliest > other.reached


def find_move(series: Series) -> Move | None:
    """Return the larger of the rise and the fall of a series from its start, or None."""
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
    """Yield the steps by which series made 90% of their rise or fall, with fastest and slowest."""
    found = [move for series in field.series.values() if (move := find_move(series)) is not None]
    for up, inferred in product((True, False), repeat=2):
        moves = [move for move in found if move.up is up and move.inferred is inferred]
        if not moves:
            continue
        moves.sort(key=lambda move: (move.reached, move.series.name))
        evidence = []
        for move in moves[:_MOST_IN_EVIDENCE]:
            call = field.format_call("start", move.series.name)
            level = move.start + _DONE * (move.end - move.start)
            words = [move.series.format(value) for value in (move.start, move.end, level)]
            share = f"90% of the {move.noun} to {words[1]} is {words[2]}, reached {move.by}"
            evidence.append(f"{call} = {words[0]}; {share}")
        fastest, slowest = moves[0], moves[-1]
        far = max(moves, key=lambda move: (move.size, move.series.name))
        marked = slowest if slowest.is_slower(fastest) else fastest
        yield observe(
            Rule.RISE,
            _describe_rise(moves),
            evidence,
            far.series.rate(far.size, inferred=inferred),
            [move.series.name for move in moves],
            steps=(min(move.start_step for move in moves), slowest.reached),
            mark=(marked.series.name, marked.reached),
            label=f"90% of {marked.noun}",
        )


def _describe_rise(moves: Sequence[Move]) -> str:
    fastest, slowest = moves[0], moves[-1]
    name, noun, way = fastest.series.name, fastest.noun, "up" if fastest.up else "down"
    if not fastest.inferred:  # no statement about noise for readings
        if len(moves) == 1:
            return f"The readings of {name} go {way} from {fastest.ends}, 90% of the way {fastest.by}."
        steps = _format_steps(moves, most=len(moves))
        return f"By the readings, each series has made 90% of its {noun}: {steps}."
    if len(moves) == 1:
        return f"{name} {noun}s from about {fastest.ends}, and has made 90% of that {fastest.by}."
    if not slowest.is_slower(fastest):
        return f"{_format_names(moves)} {noun}: {_format_steps(moves)} 90% of it is made."
    first = [move for move in moves if move.reached == fastest.reached and not move.is_slower(fastest)]
    last = [move for move in moves if move.reached == slowest.reached and not slowest.is_slower(move)]
    has = "has made 90% of its" if len(first) == 1 else "have made 90% of their"
    between = [move for move in moves if move not in first and move not in last]
    middle = f", {_format_steps(between)}" if 0 < len(between) <= _MOST_BETWEEN else ""
    verb = "is" if len(last) == 1 else "are"
    how = "slower" if last == moves[1:] else "slowest"
    there = describe_position(slowest.reached, slowest.series.field.scale)
    return (
        f"{_format_names(first)} {has} {noun} {fastest.by}{middle}; "
        f"{_format_names(last)} {verb} {how}, there {there}."
    )


def _format_steps(moves: Sequence[Move], most: int = _MOST_BETWEEN + 1) -> str:
    """Join names with the steps at which they are done, grouped by step."""
    groups = [[move for move in moves if move.reached == step] for step in {m.reached: None for m in moves}]
    return format_few([f"{_format_names(group)} {group[0].by}" for group in groups], most)


def _format_names(moves: Sequence[Move]) -> str:
    return format_few([move.series.name for move in moves], _MOST_NAMED)


def observe_steady(field: Field) -> Iterator[Observation]:
    """Yield series that rise or fall without turning back, and the range of those that do neither."""
    for series in field.series.values():
        values = series.points.values
        if values.size < _FEWEST:
            continue
        start, final, name = series.read(0), series.read(-1), series.name
        evidence = [start.format_fact("start"), final.format_fact("final")]
        basis = ("readings as they are", 0.5)
        move = find_move(series)
        if move is not None:
            steady = _describe_steady(move)
            if steady is None:
                continue
            text, back = steady
            size = f"largest step back: {', '.join(format_fall(series, back))}"
            evidence.append(size if back.depth else f"{name} has no step back")
            strength = field.readings_alone.strength(move.size) / 4
            basis = series.rate(back.depth, inferred=move.inferred)[0], strength
        elif series.is_moving or (field.few and values.min() != values.max()):
            continue
        else:
            numbers = values.min(), values.max(), values.mean()
            low, high, mean = (series.format(float(number)) for number in numbers)
            text = f"The readings of {name} lie between {low} and {high}, with a mean of {mean}."
            if low == high:
                text = f"All readings of {name} are {low}, from {start.step_words} to {final.step_words}."
        yield observe(Rule.STEADY, text, evidence, basis, (name,), steps=(start.step, final.step))


def _describe_steady(move: Move) -> tuple[str, Setback] | None:
    """Describe a move and its largest setback in the readings, or return None if it turns back.

    A course must never turn, nor hide a setback of half the move; readings may go back a tenth of it.
    """
    series, sign = move.series, 1.0 if move.up else -1.0
    steps, values = series.points
    back = find_deepest_fall(sign * values)
    if move.inferred:
        level = sign * series.course.level
        places = np.linspace(0, level.size - 1, 9).astype(int).tolist()
        error = max(series.course.compute_error(place, 0) for place in places)
        if find_deepest_fall(level).depth > series.field.least or move.size < _TWICE * CLEAR * error:
            return None
        return f"{series.name} {move.noun}s from about {move.ends}; its fitted course never turns back.", back
    least = series.field.readings_alone.value
    # A final loss that is not recovered is a decline.
    lost = back.depth > least and back.end == values.size - 1
    if lost or back.depth > max(least, _SMALL * move.size):
        return None
    extreme = float(values.max() if move.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    way, start, end = "up" if move.up else "down", series.format(move.start), series.format(move.end)
    text = (
        f"The readings of {series.name} go {way} from {start} {series.read(0).position} "
        f"to {end} {series.read(reached).position}"
    )
    if back.depth == 0:
        stays = " and stay there" if reached < steps.size - 1 else ""
        side = "below" if move.up else "above"
        return f"{text}{stays}; none of the {steps.size:,} is {side} the one before.", back
    size = ", ".join(format_fall(series, back))
    return f"{text}; the largest step back of the {steps.size:,} is {size}.", back
