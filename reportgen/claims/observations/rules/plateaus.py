"""The rules ``plateau`` and ``late decline``: where a series settles, and what it loses at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.phrases import format_reading_fact, format_value_fact
from reportgen.claims.observations.rules.moves import CLEAR, find_move
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field
    from reportgen.core.model import FloatArray


QUARTER = 0.25
"""A level that is held for less of the steps' range is not called a plateau."""

_DRIFTS = 2.0
"""What has a first third so many standard errors from its last still moves."""

_SHORTEST = 3
"""Two readings are no plateau."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A level that a series comes to rest at.

    Attributes:
        place: the first of its readings' places in the curve.
        level: the last value of its course, or of its readings.
        moved: how far from it the series has been.
        inferred: whether a test has found that.
    """

    place: int
    level: float
    moved: float
    inferred: bool


def observe_plateaus(field: Field) -> Iterator[Observation]:
    """Series that end at a level, held for a quarter of the steps or more, and were elsewhere before."""
    for series in field.names:
        found = find_rest(field, series)
        if found is not None and (not found.inferred or find_move(field, series) is not None):
            yield _make_plateau(field, series, found)


def find_rest(field: Field, series: str) -> Rest | None:
    """The final level of the course of a series, or of its readings where these are few."""
    own = field.get_points(series)
    if field.is_moving(series):
        course, steps = field.get_course(series), field.get_course_steps(series)
        found = _locate_rest(steps, course.level, field.least)
        if found is None or found.moved <= CLEAR * course.compute_error(_furthest(course.level), -1):
            return None
        third = max((steps.size - found.place) // 3, 1)
        if abs(course.compare_means(slice(found.place, found.place + third), slice(-third, None))) > _DRIFTS:
            return None
        place = int(np.searchsorted(own.steps, steps[found.place]))
        return Rest(place, found.level, found.moved, inferred=True)
    return _locate_rest(own.steps, own.values, field.least) if field.few else None


def _furthest(values: FloatArray) -> int:
    return int(np.argmax(np.abs(values - values[-1])))


def _locate_rest(steps: FloatArray, values: FloatArray, least: float) -> Rest | None:
    level = float(values[-1])
    apart = np.abs(values - level)
    outside = np.flatnonzero(apart > least * (1 + SAME))
    if not outside.size:
        return None
    long = steps[-1] - steps >= QUARTER * (steps[-1] - steps[0])
    long[: int(outside[-1]) + 1] = False
    long[steps.size - _SHORTEST + 1 :] = False
    starts = np.flatnonzero(long)
    return Rest(int(starts[0]), level, float(apart.max()), inferred=False) if starts.size else None


def _make_plateau(field: Field, series: str, found: Rest) -> Observation:
    steps, values = field.get_points(series)
    start, end = float(steps[found.place]), float(steps[-1])
    held = field.readings_alone
    return Observation(
        rule=Rule.PLATEAU,
        text=_describe_plateau(field, series, found),
        evidence=(
            format_reading_fact(field, series, start, float(values[found.place])),
            format_value_fact(field, "final", series, float(values[-1]), end),
            (
                f"before, up to {field.format_size(found.moved, series)} away from "
                f"{field.format_reading(found.level, series)}"
            ),
        ),
        threshold=field.describe_course_test(series) if found.inferred else held.describe(found.moved),
        series=(series,),
        strength=held.strength(found.moved) / 4,
        from_step=start,
        to_step=end,
        mark_series=series,
        mark=start,
        label=f"{'plateau' if found.inferred else 'from here'} {field.format_reading(found.level, series)}",
    )


def _describe_plateau(field: Field, series: str, found: Rest) -> str:
    steps, values = field.get_points(series)
    start, end = (describe_step(float(steps[place]), field.scale) for place in (found.place, -1))
    level = field.format_reading(found.level, series)
    if found.inferred:
        return f"{series} levels off at about {level} from {start} on."
    inside = values[found.place :]
    ends = [field.format_reading(float(one), series) for one in (inside.min(), inside.max())]
    where = f"at {level}" if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
    return f"The last {inside.size:,} readings of {series} are all {where}, from {start} to {end}."


_FEWEST, _FALL, _FALL_OF_RUNS = 3, 2.0, 1.5
_PART = 14
"""Means of so small a part of the curve are compared."""


@dataclass(frozen=True, slots=True)
class _Loss:
    """A decline, by places of the readings.

    Attributes:
        peak: the best reading, the first of equal ones.
        onset: the last place at which it is as good as ever: of the course, or of the readings.
        landed: from here on it stays at its final level; None where it does not come to rest after it.
        depth: how much worse it ends than it has been.
        inferred: whether a test has found it.
    """

    peak: int
    onset: int
    landed: int | None
    depth: float
    inferred: bool


def observe_late_decline(field: Field) -> Iterator[Observation]:
    """Series that end worse than their best by more than noise, and by when they have lost it."""
    for series in field.names:
        loss = _loss(field, series)
        if loss is not None:
            yield _make_decline(field, series, loss)


def _loss(field: Field, series: str) -> _Loss | None:
    if field.get_points(series).steps.size < _FEWEST:
        return None
    return (_find_course_loss(field, series) if field.is_moving(series) else None) or _find_reading_loss(
        field, series
    )


def _find_course_loss(field: Field, series: str) -> _Loss | None:
    own, course, steps = field.get_points(series), field.get_course(series), field.get_course_steps(series)
    level = field.sign * course.level
    top, depth = int(np.argmax(level)), float(level.max() - level[-1])
    width = max(level.size // _PART, 2)
    fall = field.sign * course.compare_means(course.get_around(top, 3 * width), course.get_around(-1, width))
    if depth <= field.least or fall < (_FALL_OF_RUNS if course.spread.known else _FALL):
        return None
    onset = int(np.searchsorted(own.steps, steps[_find_last_good(level, float(level.max()), depth / 10)]))
    return _make_loss(field, series, onset, depth, inferred=True)


def _find_reading_loss(field: Field, series: str) -> _Loss | None:
    good = field.sign * field.get_points(series).values
    best = float(good.max())
    depth = best - float(good[-1])
    if not field.few or not field.readings_alone.is_exceeded(depth):
        return None
    return _make_loss(field, series, _find_last_good(good, best, SAME * abs(best)), depth, inferred=False)


def _make_loss(field: Field, series: str, onset: int, depth: float, *, inferred: bool) -> _Loss | None:
    good = field.sign * field.get_points(series).values
    # What is best at the first reading has not declined late: it has never risen.
    if onset == 0 or onset >= good.size - 1:
        return None
    after = find_rest(field, series)
    landed = after.place if after is not None and after.place > onset else None
    return _Loss(int(np.argmax(good)), onset, landed, depth, inferred)


def _find_last_good(good: FloatArray, best: float, near: float) -> int:
    return int(np.flatnonzero(good >= best - near)[-1])


def _make_decline(field: Field, series: str, loss: _Loss) -> Observation:
    steps, values = field.get_points(series)
    best = ("peak" if field.sign > 0 else "low") if loss.inferred else ("high" if field.sign > 0 else "low")
    held = field.readings_alone
    peak, onset = float(steps[loss.peak]), float(steps[loss.onset])
    evidence = [format_value_fact(field, "peak", series, float(values[loss.peak]), peak)]
    if loss.onset != loss.peak:
        evidence.append(format_reading_fact(field, series, onset, float(values[loss.onset])))
    if loss.landed is not None:
        evidence.append(
            format_reading_fact(field, series, float(steps[loss.landed]), float(values[loss.landed]))
        )
    evidence.append(format_value_fact(field, "final", series, float(values[-1]), float(steps[-1])))
    return Observation(
        rule=Rule.LATE_DECLINE,
        text=_describe_decline(field, series, loss),
        evidence=tuple(evidence),
        threshold=field.describe_course_test(series) if loss.inferred else held.describe(loss.depth),
        series=(series,),
        strength=held.strength(loss.depth),
        from_step=onset,
        to_step=float(steps[-1]),
        mark_series=series,
        mark=peak,
        label=f"{best} {field.format_reading(float(values[loss.peak]), series)}",
    )


def _describe_decline(field: Field, series: str, loss: _Loss) -> str:
    """A drop that lasts, a fall towards the end, or an end below an early peak."""
    steps, values = field.get_points(series)
    verb = "falls" if field.sign > 0 else "rises"
    beyond = "below" if field.sign > 0 else "above"
    best = "peak" if field.sign > 0 else "lowest value"
    places = (loss.peak, loss.onset, -1)
    top, start, end = (field.format_reading(float(values[place]), series) for place in places)
    at_peak, at_onset, at_end = (describe_position(float(steps[place]), field.scale) for place in places)
    size = field.format_size(loss.depth, series)
    if not loss.inferred:
        extreme = "highest" if field.sign > 0 else "lowest"
        way = (
            f"The last reading of {series} is {end} {at_end}, {size} {beyond} its {extreme} reading of {top}"
        )
        if loss.landed is not None:
            landed = field.format_reading(float(values[loss.landed]), series)
            there = describe_step(float(steps[loss.landed]), field.scale)
            return f"{way} {at_onset}; from {there} on its readings are at {landed}."
        return f"{way} {at_onset if start == top else at_peak}."
    if loss.landed is not None:
        landed = field.format_reading(float(values[loss.landed]), series)
        there = describe_position(float(steps[loss.landed]), field.scale)
        return f"{series} {verb} from {start} {at_onset} to {landed} {there} and levels off there."
    if start == top and _one_fall(field, series, loss):
        return f"{series} {verb} from its {best}, {start} {at_onset}, to {end} {at_end}, where it ends."
    return (
        f"{series} {verb} from {at_onset.removeprefix('at ')} on and ends lower, at {end} {at_end}."
        if field.sign > 0
        else f"{series} {verb} from {at_onset.removeprefix('at ')} on and ends higher, at {end} {at_end}."
    )


def _one_fall(field: Field, series: str, loss: _Loss) -> bool:
    """Whether it never turns between the onset and the end."""
    values = field.sign * field.get_points(series).values[loss.onset :]
    return bool((np.diff(values) <= 0).all())
