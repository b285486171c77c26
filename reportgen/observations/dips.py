"""The rules ``dip`` and ``spike``: an interior extreme that the curve comes back from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.phrases import reading_fact
from reportgen.observations.turns import Turn, dips
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field

COMES_BACK = 0.35
"""A turn that is not made good to this share is no dip but a loss that lasts, or no spike but a rise."""

_BACK = 0.9
"""A turn that is made good to this share is back."""

_MOST = 4
"""So many of one series at most; of a curve that goes up and down all the time nobody reads more."""

_NARROW = 0.15
"""A peak that is over within this share of the steps is a spike."""

_FLANK = 2.5
"""Each flank of a turn is so many standard errors high or more."""

_LONE, _LONE_AMONG, _BESIDE = 8, 60, 2
"""A reading stands alone that is so many times as far out as the next, among so many."""


def dip(field: Field) -> Iterator[Observation]:
    """Where the values of a series fall, as measured, and come back."""
    yield from _turns(field, 1.0)


def spike(field: Field) -> Iterator[Observation]:
    """Where the values of a series rise, as measured, and come back."""
    yield from _turns(field, -1.0)


def _turns(field: Field, sign: float) -> Iterator[Observation]:
    for series in field.names:
        found = _clear(field, series, sign) if field.moves(series) else []
        found += _lone(field, series, sign)
        yield from (_observation(field, series, turn, sign) for turn in found)
        if field.few:
            alone = dips(sign * field.points(series).values, field.readings_alone.value)
            told = [turn for turn in alone if turn.recovery >= COMES_BACK * turn.fall]
            other = [turn for turn in told if not any(turn.place == one.place for one in found)]
            yield from (_reading(field, series, turn, sign) for turn in other[: _MOST - len(found)])


def _clear(field: Field, series: str, sign: float) -> list[Turn]:
    """The turns of a course of which both flanks are clear, by places of the readings."""
    course = field.course(series)
    found = []
    for turn in dips(sign * course.level, field.least):
        wide = turn.right - turn.left
        middle = course.around(turn.place, max(wide // 3, 1))
        sides = (
            slice(max(turn.left - wide // 2, 0), turn.left + 1),
            slice(turn.right, turn.right + wide // 2 + 1),
        )
        flanks = min(sign * course.apart(side, middle) for side in sides)
        if flanks >= _FLANK and turn.recovery >= COMES_BACK * turn.fall:
            found.append(_in_readings(field, series, turn, sign))
    return found[:_MOST]


def _in_readings(field: Field, series: str, turn: Turn, sign: float) -> Turn:
    """A turn of the course by the readings that stand there: the extreme one in its middle."""
    own, steps = field.points(series), field.course_steps(series)
    first, left, place, right, last = (
        int(np.argmin(np.abs(own.steps - steps[at])))
        for at in (
            (turn.left + turn.place) // 2,
            turn.left,
            turn.place,
            turn.right,
            -(-(turn.place + turn.right) // 2),
        )
    )
    inside = slice(max(first, left + 1), max(min(last, right - 1), place) + 1)
    place = inside.start + int(np.argmin(sign * own.values[inside]))
    return turn._replace(place=place, last=place, left=left, right=right)


def _lone(field: Field, series: str, sign: float) -> list[Turn]:
    """One reading that stands out so far that no law of noise makes it: many times as far as the next one.

    The largest of many readings exceeds the second r times with a probability of 1/r³ where tails fall like
    those of Student's t with three degrees of freedom, and more seldom where they fall faster.
    """
    values = sign * field.points(series).values
    if values.size < _LONE_AMONG or not field.known(series):
        return []
    out = (values[:-2] + values[2:]) / 2 - values[1:-1]
    around = max(out.size // 10, _LONE_AMONG // 2)
    # The first readings of a loss bend more than any noise.
    place = 1 + around + int(np.argmax(out[around:-around])) if out.size > 2 * around else 0
    first = max(place - 1 - around, 0)
    beside = np.abs(out[first : place + around])
    at = place - 1 - first
    others = np.delete(beside, np.arange(max(at - 1, 0), min(at + 2, beside.size)))
    if not place or beside[at] <= _LONE * float(others.max()) or out[place - 1] <= 0:
        return []
    at = place - 1
    sides = float(values[at] - values[place]), float(values[place + 1] - values[place])
    return [Turn(place, place, at, place + 1, min(sides), *sides)]


def _observation(field: Field, series: str, turn: Turn, sign: float) -> Observation:
    """A turn that a test has found."""
    label = "dip" if sign > 0 else "spike" if _narrow(field, series, turn) else "peak"
    steps, values = field.points(series)
    places = (turn.left, turn.place, turn.right)
    before, at, after = (field.reading(float(values[place]), series) for place in places)
    start, there = (at_step(float(steps[place]), field.scale) for place in places[:2])
    end = step_said(float(steps[turn.right]), field.scale)
    fall, recovery = (sign * float(values[side] - values[turn.place]) for side in (turn.left, turn.right))
    if label == "peak":
        head = f"{series} peaks at {at} {there}, up from {before} {start}"
    else:
        head = f"{series} {label}s from {before} {start} to {at} {there}"
    back = "back at" if _BACK * fall <= recovery <= fall / _BACK else "at"
    return _made(field, series, turn, sign, f"{head}; by {end} it is {back} {after}.")


def _reading(field: Field, series: str, turn: Turn, sign: float) -> Observation:
    """A turn of the readings, whatever noise makes of them."""
    places = (turn.left, turn.place, turn.right)
    before, at, after = (field.reading(float(field.points(series).values[place]), series) for place in places)
    start, there, end = (at_step(float(field.points(series).steps[place]), field.scale) for place in places)
    until = ""
    if turn.last > turn.place:
        until = (
            f" and stay there until {step_said(float(field.points(series).steps[turn.last]), field.scale)}"
        )
    verb = "down" if sign > 0 else "up"
    again = "up" if sign > 0 else "down"
    way = f"{verb} from {before} {start} to {at} {there}{until}, and {again} to {after} {end}"
    return _made(field, series, turn, sign, f"The readings of {series} go {way}.")


def _made(field: Field, series: str, turn: Turn, sign: float, text: str) -> Observation:
    steps, values = field.points(series)
    alone = text.startswith("The readings")
    held = field.readings_alone
    shown = "dip" if sign > 0 else "spike" if _narrow(field, series, turn) else "peak"
    if alone:
        shown = "low" if sign > 0 else "high"
    return Observation(
        rule=Rule.DIP if sign > 0 else Rule.SPIKE,
        text=text,
        evidence=tuple(
            reading_fact(field, series, float(steps[at]), float(values[at]))
            for at in (turn.left, turn.place, turn.right)
        ),
        threshold=_threshold(field, series, turn) if not alone else held.words(turn.prominence),
        series=(series,),
        strength=held.strength(turn.prominence),
        from_step=float(steps[turn.left]),
        to_step=float(steps[turn.right]),
        mark_series=series,
        mark=float(steps[turn.place]),
        label=f"{shown} {field.reading(float(values[turn.place]), series)}",
    )


def _threshold(field: Field, series: str, turn: Turn) -> str:
    if turn.right - turn.left == _BESIDE:
        return f"this reading stands out more than {_LONE} times as far as any other"
    return field.course_words(series)


def _narrow(field: Field, series: str, turn: Turn) -> bool:
    """Whether it stands over its shoulders for a few steps only."""
    steps = field.points(series).steps
    return bool(steps[turn.right] - steps[turn.left] <= _NARROW * (steps[-1] - steps[0]))
