"""The rules ``dip`` and ``spike``: an interior extreme that the curve comes back from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.phrases import reading_fact
from reportgen.observations.turns import dips
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field, Threshold
    from reportgen.observations.turns import Turn

COMES_BACK = 0.35
"""A turn that is not made good to this share is no dip but a loss that lasts, or no spike but a rise."""

_MOST = 4
"""So many of one series at most; of a curve that goes up and down all the time nobody reads more."""

_NARROW = 0.15
"""A peak that is over within this share of the steps is a spike."""


def dip(field: Field) -> Iterator[Observation]:
    """Where the values of a series fall, as measured, and come back."""
    yield from _turns(field, 1.0)


def spike(field: Field) -> Iterator[Observation]:
    """Where the values of a series rise, as measured, and come back."""
    yield from _turns(field, -1.0)


def _turns(field: Field, sign: float) -> Iterator[Observation]:
    for series in field.names:
        steps, values = field.points(series)
        # Both ends of a prominence are the extremes of many readings, and every series is looked at.
        choices = steps.size**2 * len(field.names)
        told = 0
        for turn in dips(sign * values, field.threshold(series, choices=choices).value):
            beside = turn.left if sign * (values[turn.left] - values[turn.right]) < 0 else turn.right
            places = (float(steps[turn.place]), float(steps[beside]))
            held = field.threshold(series, choices=choices, steps=places)
            if told < _MOST and held.passed(turn.prominence) and turn.recovery >= COMES_BACK * turn.fall:
                told += 1
                yield _observation(field, series, turn, held, sign)


def _observation(field: Field, series: str, turn: Turn, held: Threshold, sign: float) -> Observation:
    steps, values = field.points(series)
    left, place, right = (float(steps[at]) for at in (turn.left, turn.place, turn.right))
    label = "dip" if sign > 0 else "peak"
    if sign < 0 and _narrow(field, series, turn):
        label = "spike"
    return Observation(
        rule=Rule.DIP if sign > 0 else Rule.SPIKE,
        text=_sentence(field, series, turn, label),
        evidence=tuple(
            reading_fact(field, series, float(steps[at]), float(values[at]))
            for at in (turn.left, turn.place, turn.right)
        ),
        threshold=held.words(turn.prominence),
        series=(series,),
        strength=held.strength(turn.prominence),
        from_step=left,
        to_step=right,
        mark_series=series,
        mark=place,
        label=f"{label} {field.reading(float(values[turn.place]), series)}",
    )


def _sentence(field: Field, series: str, turn: Turn, label: str) -> str:
    """Where it comes from, where it gets to, and by when it is back."""
    steps, values = field.points(series)
    places = (turn.left, turn.place, turn.right)
    before, at, after = (field.reading(float(values[place]), series) for place in places)
    start, there = (at_step(float(steps[place]), field.scale) for place in places[:2])
    if label == "peak":
        head = f"{series} peaks at {at} {there}, up from {before} {start}"
    else:
        head = f"{series} {label}s from {before} {start} to {at} {there}"
    if turn.last > turn.place:
        head += f" and stays there until {step_said(float(steps[turn.last]), field.scale)}"
    back = "at" if turn.recovery >= turn.fall and after != before else "back at"
    return f"{head}; by {step_said(float(steps[turn.right]), field.scale)} it is {back} {after}."


def _narrow(field: Field, series: str, turn: Turn) -> bool:
    """Whether it stands over its shoulders for a few steps only."""
    steps = field.points(series).steps
    return bool(steps[turn.right] - steps[turn.left] <= _NARROW * (steps[-1] - steps[0]))
