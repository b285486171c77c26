"""Where a curve turns: its dips and peaks by prominence, and where it falls back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.field import SAME

if TYPE_CHECKING:
    from reportgen.model import FloatArray

_NEARLY = 0.9
"""A shoulder is the nearest reading that is this share of the prominence away from the turn."""


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


def dips(values: FloatArray, threshold: float) -> list[Turn]:
    """Every interior low point with a prominence above the threshold, deepest first.

    Prominence is topographic: on each side the highest reading before one that is lower still, or before
    the end of the curve; the lower of the two less the point itself.

    Args:
        values: shape (n,); of the negative values these are the peaks.
        threshold: prominence has to be larger.
    """
    before, after = np.maximum.accumulate(values), np.maximum.accumulate(values[::-1])[::-1]
    # A cheap bound first: of noise nearly nothing is left of all the low points.
    deep = np.minimum(before, after) - values > threshold * (1 + SAME)
    found = []
    for place in np.flatnonzero(deep).tolist():
        if values[place - 1] <= values[place]:
            continue
        last = place
        while values[last + 1] == values[place]:
            last += 1
        if values[last + 1] > values[place]:
            turn = _turn(values, place, last)
            if turn.prominence > threshold * (1 + SAME):
                found.append(turn)
    return sorted(found, key=lambda turn: (-turn.prominence, turn.place))


def _turn(values: FloatArray, place: int, last: int) -> Turn:
    """The turn whose lowest readings are from ``place`` to ``last``; of equal turns the first is deepest."""
    low = float(values[place])
    left, right = values[:place], values[last + 1 :]
    lower = np.flatnonzero(left <= low)
    left_from = int(lower[-1]) + 1 if lower.size else 0
    lower = np.flatnonzero(right < low)
    right_to = int(lower[0]) if lower.size else right.size
    fall = float(left[left_from:].max()) - low
    recovery = float(right[:right_to].max()) - low
    prominence = min(fall, recovery)
    level = low + _NEARLY * prominence
    shoulder_left = int(np.flatnonzero(left >= level)[-1])
    shoulder_right = last + 1 + int(np.flatnonzero(right >= level)[0])
    return Turn(place, last, shoulder_left, shoulder_right, prominence, fall, recovery)


def setbacks(values: FloatArray) -> list[Setback]:
    """Every fall from a reading to the end of its descent, deepest first; equal ones in their order.

    A descent ends where the next reading is higher; readings that stay equal end it, too.

    Args:
        values: shape (n,), more is better.
    """
    found = []
    start = 0
    for place in range(1, values.size + 1):
        if place < values.size and values[place] < values[place - 1]:
            continue
        if place - 1 > start:
            found.append(Setback(start, place - 1, float(values[start] - values[place - 1])))
        start = place
    return sorted(found, key=lambda setback: (-setback.depth, setback.start))


def deepest_fall(values: FloatArray) -> Setback:
    """The largest fall from any reading to any later one; of depth 0 where there is none."""
    highest = np.maximum.accumulate(values)
    end = int(np.argmax(highest - values))
    start = int(np.flatnonzero(values[: end + 1] == highest[end])[-1])
    return Setback(start, end, float(highest[end] - values[end]))
