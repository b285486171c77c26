"""How large the noise of a curve is, for the digits that its numbers deserve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.curve_numbers import get_points

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
    from reportgen.model import Curve, FloatArray

FEWEST_READINGS = 20
"""With fewer readings of one run nobody can tell noise from change."""

SMALLEST_SHARE = 0.01
"""Nothing smaller than this share of the plotted range is told."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise scale of one curve.

    Attributes:
        value: half the band's width, or twice what the line jitters by; 0 where neither is known.
        known: False where there is neither a band nor readings enough.
    """

    value: float
    known: bool


def estimate_noise(curve: Curve, band: str = "ci") -> Noise:
    """Half the band's width at the usual step, or else twice the median change between readings.

    Args:
        curve: unsmoothed; arrays of shape (steps,).
        band: what the band shows, as in ``CurveSet.band``: of a standard error twice as much counts.
    """
    half = get_half_widths(curve)
    if np.isfinite(half).any():
        return Noise(float(np.nanmedian(half)) * (2 if band == "se" else 1), known=True)
    known = get_points(curve)
    if known.steps.size < FEWEST_READINGS:
        return Noise(0.0, known=False)
    return Noise(2 * measure_jitter(known), known=True)


def measure_jitter(known: Points) -> float:
    """The median change from one reading to the next, the trend taken out.

    Each reading is held against the straight line between its neighbours, so that neither the slope nor the
    bend of a learning curve counts (Gasser, Sroka and Jennen-Steinmetz 1986).

    Args:
        known: three readings or more.
    """
    left, here, right = known.steps[:-2], known.steps[1:-1], known.steps[2:]
    weight = (right - here) / (right - left)
    line = weight * known.values[:-2] + (1 - weight) * known.values[2:]
    apart = np.abs(known.values[1:-1] - line) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return math.sqrt(2) * float(np.median(apart))


def get_half_widths(curve: Curve) -> FloatArray:
    """Half the band's width at each step, shape (steps,); NaN where there is no band."""
    half: FloatArray = (curve.high - curve.low) / 2
    return half
