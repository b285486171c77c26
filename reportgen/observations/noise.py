"""How large the noise of a curve is, and how far above it an effect must stand before a rule speaks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.curve_numbers import points
from reportgen.observations.correlation import correlation, inflation, residuals
from reportgen.words import counted

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
    from reportgen.model import Curve, FloatArray

FEWEST_READINGS = 20
"""With fewer readings and no band nobody can tell noise from change."""

SMALLEST_SHARE = 0.01
"""Nothing smaller than this share of the plotted range is told."""

_FEW = 2.0
"""A band of white noise is 1.1 to 1.9 times as wide as the line jitters with ten to three runs; with two
runs, of which t makes much, 4.5 times."""

_TELLS = 60
"""With fewer readings no correlation of neighbours can be told from chance, see ``correlation``."""

_MOSTLY = 0.9
_BLOCKS, _BLOCK = 20, 30
_LOUD, _LOUDEST = 1.5, 100.0
"""A part of the curve with so many times its usual noise is held to its own; chance seldom makes so much."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise scale of one curve.

    Attributes:
        value: an effect below it is noise; in the metric's unit. 0 where no noise is seen, or known.
        within: the same for readings of the one series: twice what its line jitters by, where the band is
            wider than twice that, because it has few runs or they lie apart all along.
        known: False where there are too few readings to tell.
        source: where it comes from, a phrase: ``half the band of 5 runs``.
        strength: the correlation of neighbouring readings' noise.
    """

    value: float
    within: float
    known: bool
    source: str
    strength: float = 0.0


def noise_scale(curve: Curve, band: str = "ci") -> Noise:
    """Half the band's width, or else twice the median change from reading to reading, the trend taken out.

    With a band the median over the steps that have one; twice the standard error, where the band shows
    that. With 20 readings or more never less than twice ``jitter``: a band that is narrower than the line
    jitters does not hold all the noise. Without a band, noise that is alike from one reading to the next
    counts in full, see ``correlation``. Without a band and with fewer than 20 readings it is not known.

    Args:
        curve: unsmoothed; arrays of shape (steps,).
        band: what the band shows, as in ``CurveSet.band``.
    """
    known = points(curve)
    count = known.steps.size
    enough = count >= FEWEST_READINGS
    strength = correlation(known) if enough else 0.0
    half = half_widths(curve)
    banded = bool(np.isfinite(half).any())
    if not banded and not enough:
        unknown = f"with {counted(count, 'reading')} and no band noise cannot be told"
        return Noise(0.0, 0.0, known=False, source=unknown)
    line = 2 * jitter(known) if enough else 0.0
    itself = line * float(inflation(strength))
    alike = ", more as neighbours are alike" if strength and not banded else ""
    found = [(line if banded else itself, f"twice the median change between readings{alike}")]
    if banded:
        value = float(np.nanmedian(half))
        found.append((2 * value, "twice the standard error") if band == "se" else (value, _band_words(curve)))
    value, source = max(found)
    # A short line of alike readings looks calmer than it is, and nobody can tell.
    tells = count >= _TELLS and _own(curve)
    within = min(value, _FEW * itself) if tells else value
    return Noise(value, within, known=True, source=source, strength=strength)


def _own(curve: Curve) -> bool:
    """Whether its steps are those of its runs: a line between readings of a run does not jitter."""
    return all(run.steps.size >= _MOSTLY * curve.steps.size for run in curve.runs)


def jitter(known: Points) -> float:
    """The median change from one reading to the next, the trend taken out.

    The trend is local: each reading is held against the straight line between its neighbours, see
    ``residuals``, so that neither the slope nor the bend of a learning curve counts as noise. A change of
    white noise has twice the variance of a reading.

    Args:
        known: three readings or more.
    """
    return math.sqrt(2) * float(np.median(residuals(known)))


def loudness(curve: Curve) -> FloatArray:
    """How many times as large as usual noise is around each reading, 1 or more; shape (readings,).

    In up to 20 parts of 30 readings or more, by the median residual, or by the median width of the band, and
    between their middles on a straight line. Only what chance seldom makes of even noise counts.
    """
    known = points(curve)
    flat = np.ones(known.steps.size)
    half = half_widths(curve)[np.isfinite(curve.values if curve.raw is None else curve.raw)]
    if known.steps.size < 2 * _BLOCK:
        return flat
    size = half if np.isfinite(half).all() else np.pad(residuals(known), 1, mode="edge")
    usual = float(np.median(size))
    if usual <= 0:
        return flat
    place = np.arange(size.size)
    parts = np.array_split(place, min(known.steps.size // _BLOCK, _BLOCKS))
    middles, louder = (
        np.array(each) for each in zip(*((part.mean(), np.median(size[part])) for part in parts), strict=True)
    )
    every = np.minimum(np.interp(place, middles, louder / usual), _LOUDEST)
    return np.where(every > _LOUD, every, 1.0)


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
