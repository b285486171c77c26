"""The rules ``observe_dips`` and ``observe_spikes``: an interior extreme that the curve comes back from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position, describe_step
from reportgen.observations.course import MOST_READINGS, fit_course, looks_normal
from reportgen.observations.phrases import format_reading_fact
from reportgen.observations.turns import Turn, find_dips
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

COMES_BACK = 0.35
"""A turn that is not made good to this share is no dip but a loss that lasts, or no spike but a rise."""

_BACK = 0.9
"""A turn that is made good to this share is back."""

_MOST_SHOWN = 4
"""So many of one series at most; of a curve that goes up and down all the time nobody reads more."""

_NARROW = 0.15
"""A peak that is over within this share of the steps is a spike."""

_FLANK = 2.0
"""Each flank of a turn is so many standard errors high or more."""

_LONE, _LONE_UNUSUAL, _LONE_ALIKE = 8.0, 2.83, 2.0
"""Readings stand alone that are so many times as far out as the next: where neighbours are not alike,
where they are but noise does not look normal, and where it does."""

_LONE_WIDEST, _LONE_AMONG, _LONE_INSIDE = 3, 60, 10
"""So many readings, among so many, so far from both ends."""

_NOT_ALIKE, _ALIKE = 0.5, 0.8


def observe_dips(field: Field) -> Iterator[Observation]:
    """Where the values of a series fall, as measured, and come back."""
    yield from _observe_turns(field, 1.0)


def observe_spikes(field: Field) -> Iterator[Observation]:
    """Where the values of a series rise, as measured, and come back."""
    yield from _observe_turns(field, -1.0)


def _observe_turns(field: Field, sign: float) -> Iterator[Observation]:
    for series in field.names:
        found = _find_clear_turns(field, series, sign) if field.is_moving(series) else []
        for turn in found:
            yield _describe_turn(field, series, turn, sign, field.describe_course_test(series))
        lone = _find_lone_reading(field, series, sign)
        if lone and not any(turn.left <= lone[0].place <= turn.right for turn in found):
            yield _describe_turn(field, series, lone[0], sign, lone[1])
            found.append(lone[0])
        if field.few:
            alone = find_dips(sign * field.get_points(series).values, field.readings_alone.value)
            recovered = [turn for turn in alone if turn.recovery >= COMES_BACK * turn.fall]
            other = [turn for turn in recovered if not any(turn.place == one.place for one in found)]
            yield from (
                _describe_reading_turn(field, series, turn, sign)
                for turn in other[: _MOST_SHOWN - len(found)]
            )


def _find_clear_turns(field: Field, series: str, sign: float) -> list[Turn]:
    """The turns of a course of which both flanks are clear, by places of the readings."""
    fitted = field.get_course(series)
    found = []
    for turn in find_dips(sign * fitted.level, field.least):
        wide = turn.right - turn.left
        middle = fitted.get_around(turn.place, max(wide // 3, 1))
        sides = (
            slice(max(turn.left - wide // 2, 0), turn.left + 1),
            slice(turn.right, turn.right + wide // 2 + 1),
        )
        flanks = min(sign * fitted.compare_means(side, middle) for side in sides)
        if flanks >= _FLANK and turn.recovery >= COMES_BACK * turn.fall:
            found.append(_place_in_readings(field, series, turn, sign))
    return found[:_MOST_SHOWN]


def _place_in_readings(field: Field, series: str, turn: Turn, sign: float) -> Turn:
    """A turn of the course by the readings that stand there: the extreme one in its middle."""
    own, steps = field.get_points(series), field.get_course_steps(series)
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


def _find_lone_reading(field: Field, series: str, sign: float) -> tuple[Turn, str] | None:
    """One to three readings that stand out so far that no law of noise makes it, and what that rests on.

    The largest of many readings exceeds the second r times with a probability of 1/r³ where tails fall like
    those of Student's t with three degrees of freedom, and more seldom where they fall faster. Where noise is
    alike from one reading to the next it takes two such deviations to go out and come back, so 1/r⁶.
    """
    values = sign * field.get_points(series).values
    if values.size < _LONE_AMONG or not field.is_noise_known(series):
        return None
    tried = []
    for width in range(1, _LONE_WIDEST + 1):
        inside = np.lib.stride_tricks.sliding_window_view(values, width).max(axis=1)[1:-1]
        depth = np.minimum(values[: -width - 1], values[width + 1 :]) - inside
        left = _LONE_INSIDE + int(np.argmax(depth[_LONE_INSIDE:-_LONE_INSIDE]))
        tried.append((float(depth[left]), left, left + width + 1))
    out, left, right = max(tried)
    change, at = np.abs(np.diff(values)), np.arange(1, values.size - 1)
    # The first readings of a loss change more than any noise.
    near = np.abs(at - left) <= max(values.size // 4, _LONE_AMONG // 2)
    following = float(np.minimum(change[:-1], change[1:])[near & ((at < left) | (at > right))].max())
    if out <= _LONE_ALIKE * following:
        return None
    times = _times_asked(field, values, left, right)
    if out <= times * following:
        return None
    place = left + 1 + int(np.argmin(values[left + 1 : right]))
    sides = float(values[left] - values[place]), float(values[right] - values[place])
    said = (
        f"this stands out more than {format_number(times, significant=2)} times as far as any other reading"
    )
    return Turn(place, place, left, right, min(sides), *sides), said


def _times_asked(field: Field, values: FloatArray, left: int, right: int) -> float:
    """How many times as far as the next the readings between two places have to stand out."""
    near = slice(max(left - MOST_READINGS // 2, 0), right + MOST_READINGS // 2)
    others = values.copy()
    others[left:right] = np.linspace(values[left], values[right], right - left, endpoint=False)
    strength = fit_course(others[None, near], field.share_of_course).spread.strength
    alike = min(max((strength - _NOT_ALIKE) / (_ALIKE - _NOT_ALIKE), 0.0), 1.0)
    least = _LONE_ALIKE if looks_normal(others[near]) else _LONE_UNUSUAL
    return float(_LONE ** (1 - alike) * least**alike)


def _describe_turn(field: Field, series: str, turn: Turn, sign: float, threshold: str) -> Observation:
    """A turn that a test has found, by the words of that test."""
    label = "dip" if sign > 0 else "spike" if _is_narrow(field, series, turn) else "peak"
    steps, values = field.get_points(series)
    places = (turn.left, turn.place, turn.right)
    before, at, after = (field.format_reading(float(values[place]), series) for place in places)
    start, there = (describe_position(float(steps[place]), field.scale) for place in places[:2])
    end = describe_step(float(steps[turn.right]), field.scale)
    fall, recovery = (sign * float(values[side] - values[turn.place]) for side in (turn.left, turn.right))
    if label == "peak":
        head = f"{series} peaks at {at} {there}, up from {before} {start}"
    else:
        head = f"{series} {label}s from {before} {start} to {at} {there}"
    back = "back at" if _BACK * fall <= recovery <= fall / _BACK else "at"
    made = _make_observation(field, series, turn, sign, f"{head}; by {end} it is {back} {after}.")
    return replace(made, threshold=threshold)


def _describe_reading_turn(field: Field, series: str, turn: Turn, sign: float) -> Observation:
    """A turn of the readings, whatever noise makes of them."""
    places = (turn.left, turn.place, turn.right)
    before, at, after = (
        field.format_reading(float(field.get_points(series).values[place]), series) for place in places
    )
    start, there, end = (
        describe_position(float(field.get_points(series).steps[place]), field.scale) for place in places
    )
    until = ""
    if turn.last > turn.place:
        until = f" and stay there until {describe_step(float(field.get_points(series).steps[turn.last]), field.scale)}"
    verb = "down" if sign > 0 else "up"
    again = "up" if sign > 0 else "down"
    way = f"{verb} from {before} {start} to {at} {there}{until}, and {again} to {after} {end}"
    return _make_observation(field, series, turn, sign, f"The readings of {series} go {way}.")


def _make_observation(field: Field, series: str, turn: Turn, sign: float, text: str) -> Observation:
    steps, values = field.get_points(series)
    alone = text.startswith("The readings")
    held = field.readings_alone
    shown = "dip" if sign > 0 else "spike" if _is_narrow(field, series, turn) else "peak"
    if alone:
        shown = "low" if sign > 0 else "high"
    return Observation(
        rule=Rule.DIP if sign > 0 else Rule.SPIKE,
        text=text,
        evidence=tuple(
            format_reading_fact(field, series, float(steps[at]), float(values[at]))
            for at in (turn.left, turn.place, turn.right)
        ),
        threshold=held.describe(turn.prominence),
        series=(series,),
        strength=held.strength(turn.prominence),
        from_step=float(steps[turn.left]),
        to_step=float(steps[turn.right]),
        mark_series=series,
        mark=float(steps[turn.place]),
        label=f"{shown} {field.format_reading(float(values[turn.place]), series)}",
    )


def _is_narrow(field: Field, series: str, turn: Turn) -> bool:
    """Whether it stands over its shoulders for a few steps only."""
    steps = field.get_points(series).steps
    return bool(steps[turn.right] - steps[turn.left] <= _NARROW * (steps[-1] - steps[0]))
