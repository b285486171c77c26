"""The rule ``plateau``: from which step a series that has moved stays at its final level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import step_said
from reportgen.observations.field import SAME
from reportgen.observations.noise import allowance
from reportgen.observations.phrases import reading_fact, value_fact
from reportgen.observations.smoothing import independent, running_mean, window
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import FloatArray
    from reportgen.observations.aligned import BoolArray
    from reportgen.observations.field import Field, Threshold

QUARTER = 0.25
"""A level that is held for less of the steps' range is not called a plateau."""

_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Rest:
    """A level that a series comes to rest at.

    Attributes:
        place: the first of its places in the curve.
        level: the mean of the last quarter, or the last reading where noise is not known.
        moved: how far from it the series has been.
        held: what that was held against.
    """

    place: int
    level: float
    moved: float
    held: Threshold


def plateau(field: Field) -> Iterator[Observation]:
    """Series that end at a level, held for a quarter of the steps or more, and were elsewhere before."""
    for series in field.names:
        found = rest(field, series)
        if found is not None:
            yield _observation(field, series, found)


def rest(field: Field, series: str) -> Rest | None:
    """The final level: the mean of the last quarter, or the last reading where noise is not known."""
    steps, values = field.points(series)
    tail = steps >= steps[-1] - QUARTER * (steps[-1] - steps[0])
    known = field.noise(series).known
    level = float(values[tail].mean() if known else values[-1])
    width = window(field, series)
    apart = np.abs(running_mean(values, width) - level)
    readings = (width, int(tail.sum())) if known else (1, 1)
    choices = independent(steps.size, width) * len(field.names)
    near = field.threshold(series, choices=choices, readings=readings)
    alone = field.threshold(series, choices=steps.size * len(field.names), readings=(1, readings[1]))
    beyond = (apart > near.value * (1 + SAME)) | (np.abs(values - level) > alone.value * (1 + SAME))
    outside = np.flatnonzero(beyond)
    held = field.threshold(series, choices=choices)
    if not outside.size or not held.passed(float(apart[outside].max())):
        return None
    moved = float(apart[outside].max())
    long = steps[-1] - steps >= QUARTER * (steps[-1] - steps[0])
    long[: int(outside[-1]) + 1] = False
    long[steps.size - _SHORTEST + 1 :] = False
    starts = np.flatnonzero(long & _level(field, series, values) if known else long)
    return Rest(int(starts[0]), level, moved, held) if starts.size else None


def _level(field: Field, series: str, values: FloatArray) -> BoolArray:
    """From which readings on the two halves of the rest are alike, so that it does not still rise."""
    half = (values.size - np.arange(values.size)) // 2
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, count = np.arange(values.size), np.maximum(half, 1)
    drift = (total[-1] - total[values.size - half] - total[first + half] + total[first]) / count
    noise = field.noise(series).within * field.left_in_mean(series, count.astype(np.float64), itself=True)
    held = allowance(1) * math.sqrt(2) * noise
    if not field.noisy(series):
        held = np.maximum(held, field.least)
    alike: BoolArray = (np.abs(drift) <= held * (1 + SAME)) | (half == 0)
    return alike


def _observation(field: Field, series: str, found: Rest) -> Observation:
    steps, values = field.points(series)
    start, end = float(steps[found.place]), float(steps[-1])
    return Observation(
        rule=Rule.PLATEAU,
        text=_sentence(field, series, found),
        evidence=(
            reading_fact(field, series, start, float(values[found.place])),
            value_fact(field, "final", series, float(values[-1]), end),
            f"before, up to {field.size(found.moved, series)} away from {field.reading(found.level, series)}",
        ),
        threshold=found.held.words(found.moved),
        series=(series,),
        strength=found.held.strength(found.moved) / 2,
        from_step=start,
        to_step=end,
        mark_series=series,
        mark=start,
        label=f"plateau {field.reading(found.level, series)}",
    )


def _sentence(field: Field, series: str, found: Rest) -> str:
    steps, values = field.points(series)
    start, end = (step_said(float(steps[place]), field.scale) for place in (found.place, -1))
    level = field.reading(found.level, series)
    if field.noise(series).known:
        near = "noise" if field.noisy(series) else "1 % of the range"
        return f"{series} stays within {near} of {level} from {start} on."
    inside = values[found.place :]
    ends = [field.reading(float(end), series) for end in (inside.min(), inside.max())]
    if ends[0] != ends[1]:
        level = f"between {ends[0]} and {ends[1]}"
        return f"{series} stays {level} from {start} to {end}."
    return f"{series} stays at {level} from {start} to {end}."
