"""How large the noise of a curve is, and how far above it an effect must stand before a rule speaks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import Curve, FloatArray

FEWEST_READINGS = 20
"""With fewer readings and no band nobody can tell noise from change."""

SMALLEST_SHARE = 0.01
"""Nothing smaller than this share of the plotted range is told."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise scale of one curve.

    Attributes:
        value: an effect below it is noise; in the metric's unit, 0 where the plotted range is 0.
        known: False where there are too few readings to tell, so that ``value`` is a share of the range.
        source: where it comes from, a phrase: ``half the band of 5 runs``.
    """

    value: float
    known: bool
    source: str


def noise_scale(curve: Curve, plotted_range: float) -> Noise:
    """Half the band's width, or else twice the median first difference of the detrended curve.

    With a band the median over the steps that have one. Never less than 1 % of the plotted range.
    Without a band and with fewer than 20 readings the noise is not known.

    Args:
        curve: unsmoothed; arrays of shape (steps,).
        plotted_range: highest less lowest value of the figure, 0 or more.
    """
    least = SMALLEST_SHARE * plotted_range
    half = half_widths(curve)
    if np.isfinite(half).any():
        value = float(np.nanmedian(half))
        runs = "the band as given" if curve.given else f"half the band of {int(curve.n.max()):,} runs"
    elif curve.steps.size < FEWEST_READINGS:
        readings = f"{curve.steps.size:,} reading{'s' if curve.steps.size > 1 else ''}"
        return Noise(least, known=False, source=f"1 % of the range; {readings} cannot tell noise")
    else:
        value = 2 * float(np.median(np.abs(first_differences(curve))))
        runs = "twice the median change from reading to reading"
    if value < least:
        return Noise(least, known=True, source="1 % of the range")
    return Noise(value, known=True, source=runs)


def half_widths(curve: Curve) -> FloatArray:
    """Half the band's width at each step, shape (steps,); NaN where there is no band."""
    half: FloatArray = (curve.high - curve.low) / 2
    return half


def first_differences(curve: Curve) -> FloatArray:
    """First differences of the curve less its straight line, shape (steps − 1,)."""
    steps = curve.steps - curve.steps.mean()
    spread = float(steps @ steps)
    slope = float(steps @ curve.values) / spread if spread else 0.0
    differences: FloatArray = np.diff(curve.values - slope * steps)
    return differences


def allowance(choices: int) -> float:
    """By how much the noise scale is multiplied where a rule picks the largest of so many differences.

    The largest of n normal deviates grows like √(2 ln n).
    """
    return math.sqrt(2 * math.log(max(choices, 2)))
