"""How alike the noise of neighbouring readings is, and how much of it is left in a mean of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.statistics.align import on_steps

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
    from reportgen.model import Curve, FloatArray

_FARTHEST, _NEAR = 20, 30
"""Readings are held against others a twentieth of the curve away at most: further off it is the curve that
bends. Up to a thirtieth, even a dip as wide as a fifth of the curve does not show."""

_SURE, _SURER = 3.4, 4.8
"""So many times 1/√n more residual at a distance than side by side is no chance: one white curve in fifty has
more; at the longer distances one in fifty with a wide dip."""

_CLIPPED = 3.0
"""Residuals of so many medians count as no more than these: they are spikes and jumps."""

_WALK = 1.1
"""No noise grows faster with the distance than a random walk, by its root; a curve's bend by its square.
(A tenth and three standard errors more are chance.)"""

_BEYOND = 1.6
"""Noise is taken to be so many times as large as at the longest distance at most."""

_STRONGEST = 0.99
_FEWEST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Averaging:
    """The share of a reading's noise variance that is left in the mean of neighbouring readings.

    Attributes:
        sizes: how many readings, rising from 1, shape (K,).
        shares: what is left, 1 for a single one, shape (K,).
    """

    sizes: FloatArray
    shares: FloatArray

    def left(self, readings: FloatArray | int) -> FloatArray:
        """The share for so many readings, between the known ones on a straight line of logarithms."""
        asked = np.maximum(np.asarray(readings, dtype=np.float64), 1.0)
        between = np.exp(np.interp(np.log(asked), np.log(self.sizes), np.log(self.shares)))
        beyond: FloatArray = between * np.minimum(self.sizes[-1] / asked, 1.0)
        return beyond


def residuals(known: Points, lag: int = 1) -> FloatArray:
    """How far each reading is from the straight line between those ``lag`` before and after it; 0 or more.

    In white noise of variance v this has the variance v·(1 + w² + (1 − w)²), where w and 1 − w are the
    weights of the two: it is scaled to v. With a lag of 1 these are the residuals of Gasser, Sroka and
    Jennen-Steinmetz 1986.

    Args:
        known: more than twice ``lag`` readings.
        lag: 1 or more.
    """
    left, here, right = known.steps[: -2 * lag], known.steps[lag:-lag], known.steps[2 * lag :]
    weight = (right - here) / (right - left)
    line = weight * known.values[: -2 * lag] + (1 - weight) * known.values[2 * lag :]
    found: FloatArray = np.abs(known.values[lag:-lag] - line) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return found


def correlation(known: Points, *, proven: bool = True) -> float:
    """The correlation of neighbouring readings' noise, 0 to 0.99.

    Noise that is alike from one reading to the next looks small to whoever compares neighbours only. So
    residuals are taken at longer distances, too, where an autoregressive noise of first order shows as
    1.5 − 2φ^h + φ^(2h)/2 of its variance, and white noise as 1.5 at each. φ is that of the distance with the
    largest residuals.

    Args:
        known: any number of readings; under 60 no correlation can be told from chance.
        proven: 0 unless the readings show that there is one; otherwise whatever they look like.
    """
    n = known.steps.size
    side_by_side = _size(residuals(known)) if n > _FARTHEST else 0.0
    largest, at, lag = 1.0, 1, 2
    while side_by_side > 0 and lag <= n // _FARTHEST:
        ratio = _size(residuals(known, lag)) / side_by_side
        sure = (_SURE if lag <= n // _NEAR else _SURER) if proven else 0.0
        if max(largest, 1.0 + sure / math.sqrt(n)) < ratio < (_WALK + 3 / math.sqrt(n)) * math.sqrt(lag):
            largest, at = ratio, lag
        lag = max(lag + 1, lag * 3 // 2)
    if at == 1:
        return 0.0
    tried = np.linspace(0.0, _STRONGEST, 100)
    seen = np.sqrt(_seen(tried, at) / _seen(tried, 1))
    found = float(tried[np.argmin(np.abs(seen - largest))])
    plausible = tried[inflation(tried) <= _BEYOND * largest]
    return min(found, float(plausible[-1]))


def _size(found: FloatArray) -> float:
    """Root mean square of residuals, the few large ones clipped; 0 where half of them are."""
    usual = float(np.median(found))
    return usual * math.sqrt(float((np.minimum(found / usual, _CLIPPED) ** 2).mean())) if usual > 0 else 0.0


def inflation(strength: FloatArray | float) -> FloatArray | float:
    """How many times as large noise of this correlation is as neighbours alone make it seem."""
    return np.sqrt(1.5 / _seen(strength, 1))


def averaging(curve: Curve, strength: float, *, itself: bool = False) -> Averaging:
    """What is left of a series' noise in means: from its runs where there are several, otherwise from φ.

    Of several runs the spread of their means is measured: runs that lie apart all along do not come together
    in a mean.

    Args:
        curve: with its runs.
        strength: the correlation of neighbouring readings' noise, for a single run.
        itself: means are held against others of the same series, from which each run lies apart as much.
    """
    sizes: FloatArray = np.exp2(np.arange(int(math.log2(max(curve.steps.size, 1))) + 1.0))
    apart = _deviations(curve)
    if apart.shape[0] > 1 and apart.shape[1] >= _FEWEST_STEPS:
        return Averaging(sizes, _measured(apart - itself * apart.mean(axis=1, keepdims=True), sizes))
    return Averaging(sizes, left_in_mean(sizes, strength))


def left_in_mean(sizes: FloatArray, strength: float) -> FloatArray:
    """The share of variance that is left in means of n readings with the correlations φ^h.

    1/n · ((1 + φ)/(1 − φ) − 2φ(1 − φⁿ)/(n(1 − φ)²)).
    """
    ratio = (1 + strength) / (1 - strength)
    ends = 2 * strength * (1 - strength**sizes) / (sizes * (1 - strength) ** 2)
    left: FloatArray = np.clip((ratio - ends) / sizes, 1 / sizes, 1.0)
    return left


def _seen(strength: FloatArray | float, lag: int) -> FloatArray | float:
    return 1.5 - 2 * strength**lag + strength ** (2 * lag) / 2


def _deviations(curve: Curve) -> FloatArray:
    """How far runs lie from their mean at the steps that all of them have, shape (R, S)."""
    if curve.given or len(curve.runs) < 2:  # noqa: PLR2004 - one run lies nowhere
        return np.empty((0, 0))
    every = np.stack([on_steps(curve.steps, run.steps, run.values) for run in curve.runs])
    every = every[:, np.isfinite(every).all(axis=0)]
    found: FloatArray = every - every.mean(axis=0)
    return found


def _measured(apart: FloatArray, sizes: FloatArray) -> FloatArray:
    """The variance across runs of means over so many steps, as a share of that of readings, shape (K,)."""
    # Squares of very large or small numbers would leave the range of numbers.
    apart = apart / (float(np.abs(apart).max()) or 1.0)
    total = np.concatenate([np.zeros((apart.shape[0], 1)), np.cumsum(apart, axis=1)], axis=1)
    single = float((apart**2).sum(axis=0).mean())
    shares = [1.0]
    for size in sizes[1:].astype(int).tolist():
        # Few means say little about their spread, and more readings never leave less than half of it.
        least = shares[-1] / 2
        if single > 0 and 2 * size <= apart.shape[1]:
            means = (total[:, size:] - total[:, :-size]) / size
            least = max(least, float((means**2).sum(axis=0).mean()) / single)
        shares.append(min(least, shares[-1]))
    return np.array(shares)
