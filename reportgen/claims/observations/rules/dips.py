"""The rules ``dip`` and ``spike``: where a curve turns, by prominence, and comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.course import MOST_READINGS, fit_course, looks_normal
from reportgen.claims.observations.phrases import format_reading_fact
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.core.words import format_number
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field
    from reportgen.core.model import FloatArray


_NEARLY = 0.9
"""A shoulder is the nearest reading that is this share of the prominence away from the turn."""

_MOST_TURNS = 50
"""More turns of one curve nobody looks at."""


class Turn(NamedTuple):
    """A low point between two higher ones, by places in the curve.

    Attributes:
        place: the lowest reading, the first of equal ones.
        last: the last of the equal readings beside it.
        left, right: its shoulders: the nearest readings that are nearly as high as its sides.
        prominence: how far the lower of its sides stands above it.
        fall, recovery: how far its left and its right side stand above it.
    """

    place: int
    last: int
    left: int
    right: int
    prominence: float
    fall: float
    recovery: float


class Setback(NamedTuple):
    """A fall from one reading to a later, lower one, by places in the curve."""

    start: int
    end: int
    depth: float


def find_dips(values: FloatArray, threshold: float) -> list[Turn]:
    """Interior low points with a prominence above the threshold, deepest first; the 50 deepest of many.

    Prominence is topographic: on each side the highest reading before one that is lower still, or before
    the end of the curve; the lower of the two less the point itself.

    Args:
        values: shape (n,); of the negative values these are the peaks.
        threshold: prominence has to be larger.
    """
    lows, highs = _find_swings(values.tolist(), threshold * (1 + SAME))
    found = []
    for at in range(1, len(lows) - 1):
        low = values[lows[at]]
        lower = np.flatnonzero(values[lows[:at]] <= low)
        left = int(lower[-1]) if lower.size else 0
        lower = np.flatnonzero(values[lows[at + 1 :]] < low)
        right = at + 1 + int(lower[0]) if lower.size else len(lows) - 1
        sides = float(values[highs[left:at]].max() - low), float(values[highs[at:right]].max() - low)
        if min(sides) > threshold * (1 + SAME):
            found.append((min(sides), lows[at], sides))
    deepest = sorted(found, key=lambda one: (-one[0], one[1]))[:_MOST_TURNS]
    return [_make_turn(values, place, sides) for _, place, sides in deepest]


def _find_swings(values: list[float], threshold: float) -> tuple[list[int], list[int]]:
    """Places of the lows and highs between which a curve swings by more than the threshold.

    They alternate: lows[i], highs[i], lows[i + 1] and so on, from the start, which stands for a low, to the
    last low, which may be the end. Between two lows the high is the highest, between two highs the low is
    the lowest, each at the first place that has it. Every low with a prominence above the threshold is one.
    """
    lows, highs = [0], []
    low = high = 0
    rising = True
    for place, value in enumerate(values):
        if rising:
            if value > values[high]:
                high = place
            elif values[high] - value > threshold:
                highs.append(high)
                low, rising = place, False
        elif value < values[low]:
            low = place
        elif value - values[low] > threshold:
            lows.append(low)
            high, rising = place, True
    if rising:
        highs.append(high)
        low = len(values) - 1
    lows.append(low)
    return lows, highs


def _make_turn(values: FloatArray, place: int, sides: tuple[float, float]) -> Turn:
    """The turn at this place with its shoulders."""
    last = place
    while values[last + 1] == values[place]:
        last += 1
    fall, recovery = sides
    level = values[place] + _NEARLY * min(sides)
    shoulder_left = int(np.flatnonzero(values[:place] >= level)[-1])
    shoulder_right = last + 1 + int(np.argmax(values[last + 1 :] >= level))
    return Turn(place, last, shoulder_left, shoulder_right, min(sides), fall, recovery)


def find_setbacks(values: FloatArray) -> list[Setback]:
    """Every fall from a reading to the end of its descent, deepest first; equal ones in their order.

    A descent ends where the next reading is higher; readings that stay equal end it, too.

    Args:
        values: shape (n,), more is better.
    """
    falling = np.concatenate([[False], np.diff(values) < 0, [False]])
    edges = np.flatnonzero(falling[1:] != falling[:-1]).reshape(-1, 2)
    found = [Setback(start, end, float(values[start] - values[end])) for start, end in edges.tolist()]
    return sorted(found, key=lambda setback: (-setback.depth, setback.start))


def find_deepest_fall(values: FloatArray) -> Setback:
    """The largest fall from any reading to any later one; of depth 0 where there is none."""
    highest = np.maximum.accumulate(values)
    end = int(np.argmax(highest - values))
    start = int(np.flatnonzero(values[: end + 1] == highest[end])[-1])
    return Setback(start, end, float(highest[end] - values[end]))


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
    similar from one reading to the next it takes two such deviations to go out and come back, so 1/r⁶.
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
    times = _get_required_ratio(field, values, left, right)
    if out <= times * following:
        return None
    place = left + 1 + int(np.argmin(values[left + 1 : right]))
    sides = float(values[left] - values[place]), float(values[right] - values[place])
    said = (
        f"this stands out more than {format_number(times, significant=2)} times as far as any other reading"
    )
    return Turn(place, place, left, right, min(sides), *sides), said


def _get_required_ratio(field: Field, values: FloatArray, left: int, right: int) -> float:
    """How many times as far as the next the readings between two places have to stand out."""
    near = slice(max(left - MOST_READINGS // 2, 0), right + MOST_READINGS // 2)
    others = values.copy()
    others[left:right] = np.linspace(values[left], values[right], right - left, endpoint=False)
    strength = fit_course(others[None, near], field.share_of_course).spread.strength
    similar = min(max((strength - _NOT_ALIKE) / (_ALIKE - _NOT_ALIKE), 0.0), 1.0)
    least = _LONE_ALIKE if looks_normal(others[near]) else _LONE_UNUSUAL
    return float(_LONE ** (1 - similar) * least**similar)


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
        until = (
            " and stay there until "
            f"{describe_step(float(field.get_points(series).steps[turn.last]), field.scale)}"
        )
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
