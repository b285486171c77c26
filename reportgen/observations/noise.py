"""How large the noise of a curve is, and how far above it an effect must stand before a rule speaks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.curve_numbers import points
from reportgen.words import counted

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
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


def noise_scale(curve: Curve, plotted_range: float, band: str = "ci") -> Noise:
    """Half the band's width, or else twice the median change from reading to reading, the trend taken out.

    With a band the median over the steps that have one; twice the standard error, where the band shows
    that. Never less than 1 % of the plotted range, nor, with 20 readings or more, than ``jitter``: a band
    that is narrower than the line jitters does not hold all the noise. Without a band and with fewer than
    20 readings the noise is not known.

    Args:
        curve: unsmoothed; arrays of shape (steps,).
        plotted_range: highest less lowest value of the figure, 0 or more.
        band: what the band shows, as in ``CurveSet.band``.
    """
    found = [(SMALLEST_SHARE * plotted_range, "1 % of the range")]
    half = half_widths(curve)
    if np.isfinite(half).any():
        value = float(np.nanmedian(half))
        found.append((2 * value, "twice the standard error") if band == "se" else (value, _band_words(curve)))
    known = points(curve)
    count = known.steps.size
    if count >= FEWEST_READINGS:
        found.append((2 * jitter(known), "twice the median change between readings"))
    elif len(found) == 1:
        source = f"1 % of the range; with {counted(count, 'reading')} and no band noise cannot be told"
        return Noise(found[0][0], known=False, source=source)
    value, source = max(found)
    return Noise(value, known=True, source=source)


def jitter(known: Points) -> float:
    """The median change from one reading to the next, the trend taken out.

    The trend is local: each reading is held against the straight line between its neighbours, so that neither
    the slope nor the bend of a learning curve counts as noise. In white noise of variance v that residual has
    the variance v·(1 + w² + (1 − w)²), where w and 1 − w are its neighbours' weights, and a change has 2v:
    the residuals are scaled to that. They are those of Gasser, Sroka and Jennen-Steinmetz 1986.

    Args:
        known: three readings or more.
    """
    left, here, right = known.steps[:-2], known.steps[1:-1], known.steps[2:]
    weight = (right - here) / (right - left)
    line = weight * known.values[:-2] + (1 - weight) * known.values[2:]
    residuals = np.abs(known.values[1:-1] - line) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return math.sqrt(2) * float(np.median(residuals))


def _band_words(curve: Curve) -> str:
    runs = int(curve.n.max())
    return "half the band" if curve.given or runs == 1 else f"half the band of {runs:,} runs"


def half_widths(curve: Curve) -> FloatArray:
    """Half the band's width at each step, shape (steps,); NaN where there is no band."""
    half: FloatArray = (curve.high - curve.low) / 2
    return half


def allowance(choices: int) -> float:
    """By how much the noise of a difference is multiplied where a rule picks the largest of so many.

    1.17 + 0.27·√(2 ln choices): the largest of n normal deviates grows like √(2 ln n). The two constants
    are from simulation: 1,000 flat curves of white noise (a single run of 20, 30, 60, 120 and 400 steps,
    whose scale is twice the median change; and the mean of 5 runs with 95 % bands), where these quantiles
    of differences, as multiples of √(a² + b²) of the two noise scales, were read off at 97 %: two readings
    1.17; peak less last reading 1.6 to 1.9; widest gap of two series 1.8 to 2.1; both with the number of
    steps as ``choices`` (1.8 to 2.1 here); depth of the deepest dip 1.9 to 2.5, with the number of steps
    squared, as both its ends are extremes (2.1 to 2.5 here). Bands of runs need about three quarters of
    that. ``tests/test_observations_planted.py`` holds what follows from it.
    """
    return 1.17 + 0.27 * math.sqrt(2 * math.log(max(choices, 1)))
