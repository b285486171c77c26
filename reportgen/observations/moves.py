"""How far a series moves from where it starts, up or down, and by when it is there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.field import SAME
from reportgen.observations.smoothing import independent, running_mean, window

if TYPE_CHECKING:
    from reportgen.model import FloatArray
    from reportgen.observations.field import Field, Threshold

DONE = 0.9
"""A move is as good as done at this share of it."""

_NEAR = 1.4
"""Running means so many of their noise scales below the highest are about as high; found by simulation."""

_DOUBT = 2.0
"""So many of their noise scales below a level it is open whether it is reached; found by simulation."""


@dataclass(frozen=True, slots=True)
class Move:
    """A rise or fall from the first reading to the level that a series gets to.

    Attributes:
        series: whose.
        up: True where values rise, as measured.
        start, end: the first reading, and the level: the median of the readings about as far as it gets.
        start_step: the first step.
        reached: the first step with 90 % of the move; for sparse readings the reading by which it is done.
        earliest: the first step at which noise leaves open whether it is there.
        held: what its size was held against.
    """

    series: str
    up: bool
    start: float
    end: float
    start_step: float
    reached: float
    earliest: float
    held: Threshold

    @property
    def size(self) -> float:
        """How far it goes, 0 or more."""
        return abs(self.end - self.start)


def move(field: Field, series: str) -> Move | None:
    """The larger of the rise and the fall of a series from its first reading; None if it is noise."""
    steps, values = field.points(series)
    width = window(field, series)
    means = running_mean(values, width)
    up = means.max() - means[0] >= means[0] - means.min()
    sign = 1.0 if up else -1.0
    risen = sign * (means - values[0])
    choices = 2 * independent(steps.size, width) * len(field.names)
    held = field.threshold(series, choices=choices, readings=(1, width))
    if not held.passed(max(float(risen.max()), 0.0)):
        return None
    noise = field.noise(series)
    slack = noise.within * float(field.left_in_mean(series, width, itself=True)) if noise.known else 0.0
    # The highest of many noisy readings lies above the level that they are about.
    size = float(np.median(sign * (values[risen >= risen.max() - _NEAR * slack] - values[0])))
    # What the first reading is off by moves the level by a tenth of that.
    doubt = _DOUBT * math.hypot(slack, (1 - DONE) * float(field.noise_along(series)[0]))
    reached, earliest = (_first(steps, risen, level) for level in (DONE * size, DONE * size - doubt))
    if reached is None or earliest is None:
        return None
    return Move(
        series=series,
        up=bool(up),
        start=float(values[0]),
        end=float(values[0] + sign * size),
        start_step=float(steps[0]),
        reached=reached,
        earliest=earliest,
        held=held,
    )


def _first(steps: FloatArray, risen: FloatArray, level: float) -> float | None:
    """The first step with at least this rise; None if none has it."""
    there = np.flatnonzero(risen >= level - SAME * abs(level))
    return float(steps[there[0]]) if there.size else None
