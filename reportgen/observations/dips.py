"""The rules ``dip`` and ``spike``: an interior extreme that the curve comes back from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.phrases import reading_fact
from reportgen.observations.turns import dips
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field
    from reportgen.observations.turns import Turn

COMES_BACK = 0.35
"""A turn that is not made good to this share is no dip but a loss that lasts, or no spike but a rise."""

_BACK = 0.9
"""A turn that is made good to this share is back."""

_MOST = 4
"""So many of one series at most; of a curve that goes up and down all the time nobody reads more."""

_NARROW = 0.15
"""A peak that is over within this share of the steps is a spike."""

_FLANK = 3.5
"""Each flank of a turn is so many standard errors high or more."""


def dip(field: Field) -> Iterator[Observation]:
    """Where the values of a series fall, as measured, and come back."""
    yield from _turns(field, 1.0)


def spike(field: Field) -> Iterator[Observation]:
    """Where the values of a series rise, as measured, and come back."""
    yield from _turns(field, -1.0)


def _turns(field: Field, sign: float) -> Iterator[Observation]:
    for series in field.names:
        found = _clear(field, series, sign) if field.moves(series) else []
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
        flanks = min(
            abs(float(course.level[side] - course.level[turn.place]))
            / max(course.error(side, turn.place), 1e-300)
            for side in (turn.left, turn.right)
        )
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
    said = f"The readings of {series} go {verb} from {before} {start} to {at} {there}{until}, and {again} to {after} {end}."
    return _made(field, series, turn, sign, said)


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
        threshold=held.words(turn.prominence) if alone else field.course_words(series),
        series=(series,),
        strength=held.strength(turn.prominence),
        from_step=float(steps[turn.left]),
        to_step=float(steps[turn.right]),
        mark_series=series,
        mark=float(steps[turn.place]),
        label=f"{shown} {field.reading(float(values[turn.place]), series)}",
    )


def _narrow(field: Field, series: str, turn: Turn) -> bool:
    """Whether it stands over its shoulders for a few steps only."""
    steps = field.points(series).steps
    return bool(steps[turn.right] - steps[turn.left] <= _NARROW * (steps[-1] - steps[0]))
