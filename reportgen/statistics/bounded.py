"""Intervals of means of values that have a smallest or a largest possible value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray

# e^709 is the largest power of e that a float64 holds.
_LARGEST_EXPONENT = 700.0


def move_ends(
    centre: FloatArray,
    below: FloatArray,
    above: FloatArray,
    ends: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """Return the mean moved down by ``below`` and up by ``above``, on a scale that keeps it inside ``ends``.

    With one end and u the distance of the mean from it, log u moves by h/u, the delta method's step for a
    step of h: u exp(±h/u) (Meeker and Escobar 1998, *Statistical Methods for Reliability Data*, chapter 7).
    With both and u the share of the range, it is logit(u) ± h/(u (1 - u)) (Korn and Graubard 1998), as in
    ``intervals.estimate_over_problems``. Without ends it is the mean ± h. NaN where the mean is at an end.
    """
    low, high = ends
    if math.isinf(low) and math.isinf(high):
        return centre - below, centre + above
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if math.isinf(high):
            moved = _move_log(centre - low, -below), _move_log(centre - low, above)
            return low + moved[0], low + moved[1]
        if math.isinf(low):
            moved = _move_log(high - centre, below), _move_log(high - centre, -above)
            return high - moved[0], high - moved[1]
        share, width = (centre - low) / (high - low), high - low
        moved = move_share(share, -below / width), move_share(share, above / width)
        return low + width * moved[0], low + width * moved[1]


def move_share(share: FloatArray, step: FloatArray) -> FloatArray:
    """Return the share after its logit has moved by step / (share (1 - share)); NaN for a share of 0 or 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.exp(np.minimum(abs(step) / (share * (1 - share)), _LARGEST_EXPONENT))
        down, up = share / (share + (1 - share) * factor), share * factor / (share * factor + 1 - share)
    moved = np.where(step < 0, down, up)
    return np.where((share > 0) & (share < 1), moved, np.nan)


def cut_ends(
    low: FloatArray, high: FloatArray, ends: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of a band, cut at the smallest and the largest possible value."""
    return (low, high) if ends is None else (np.maximum(low, ends[0]), np.minimum(high, ends[1]))


def _move_log(distance: FloatArray, step: FloatArray) -> FloatArray:
    exponent = np.clip(step / distance, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    return np.where(distance > 0, distance * np.exp(exponent), np.nan)
