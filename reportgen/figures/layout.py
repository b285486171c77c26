"""Where words stand around a plot: margins, and names at the ends of lines without overlap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import Axis, position
from reportgen.figures.plot import EndLabel, Margins, SeriesLine
from reportgen.figures.text_width import measure_text

if TYPE_CHECKING:
    from collections.abc import Sequence

TICK_SIZE = 12
LABEL_SIZE = 13
_LINE_HEIGHT = 16
_WIDEST_LABEL = 176
_MOST_LABELS = 8


def compute_margins(y: Axis, ends: Sequence[EndLabel]) -> Margins:
    """Room for tick labels at the left, titles above and below, and line ends at the right."""
    left = max((measure_text(label, TICK_SIZE) for label in y.labels), default=0) + 12
    right = max((measure_text(end.text, LABEL_SIZE, 600) for end in ends), default=0) + 18 if ends else 16
    return Margins(top=28, right=_round_to_eights(right), bottom=44, left=_round_to_eights(left))


def place_end_labels(lines: Sequence[SeriesLine], y: Axis, height: int) -> tuple[EndLabel, ...]:
    """Names at the line ends, or none where they would not fit and a legend row serves better."""
    ends = [(line, _last_value(line)) for line in lines]
    drawn = [(line, value) for line, value in ends if value is not None]
    too_wide = any(measure_text(line.name, LABEL_SIZE, 600) > _WIDEST_LABEL for line, _ in drawn)
    too_many = len(drawn) > _MOST_LABELS or len(drawn) * _LINE_HEIGHT > height
    if too_wide or too_many:
        return ()
    heights = [(1 - min(1.0, max(0.0, position(y, value)))) * height for _, value in drawn]
    return tuple(
        EndLabel(line.name, line.slot, round(place, 1))
        for (line, _), place in zip(drawn, spread_apart(heights, _LINE_HEIGHT, 0, height), strict=True)
    )


def spread_apart(targets: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Move positions apart to at least ``distance`` inside ``low`` to ``high``, as little as possible.

    Isotonic regression on the positions less their rank's distance (pool adjacent violators) gives the
    least-squares answer; ties keep their given order.
    """
    order = sorted(range(len(targets)), key=lambda i: (targets[i], i))
    pools: list[list[float]] = []
    for rank, index in enumerate(order):
        pools.append([targets[index] - rank * distance, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, weight = pools.pop()
            pools[-1] = [
                (pools[-1][0] * pools[-1][1] + value * weight) / (pools[-1][1] + weight),
                pools[-1][1] + weight,
            ]
    flat = [value for value, weight in pools for _ in range(round(weight))]
    room = max(low, high - (len(targets) - 1) * distance)
    placed = [0.0] * len(targets)
    for rank, (index, value) in enumerate(zip(order, flat, strict=True)):
        placed[index] = min(room, max(low, value)) + rank * distance
    return placed


def _last_value(line: SeriesLine) -> float | None:
    known = np.flatnonzero(np.isfinite(line.values))
    return float(line.values[known[-1]]) if known.size else None


def _round_to_eights(pixels: float) -> int:
    return math.ceil(pixels / 8) * 8
