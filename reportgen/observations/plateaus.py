"""The rule ``observe_plateaus``: from which step a series that has moved stays at its final level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_step
from reportgen.observations.field import SAME
from reportgen.observations.moves import CLEAR, find_move
from reportgen.observations.phrases import format_reading_fact, format_value_fact
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

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
            f"before, up to {field.format_size(found.moved, series)} away from {field.format_reading(found.level, series)}",
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
