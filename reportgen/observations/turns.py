"""Where a curve turns: its dips and peaks by prominence, and where it falls back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.field import SAME

if TYPE_CHECKING:
    from reportgen.model import FloatArray

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
