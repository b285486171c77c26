"""The noise around a curve: its size, how that varies along the readings, and its autocorrelation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from reportgen.core.model import Curve, FloatArray


FEWEST_READINGS = 20  # with fewer readings of one run, noise and change cannot be separated
_PARTS, _PART = 6, 25
_CHANGES, _SURE = 1.5, 2.4
_CLIPPED, _AROUND = 3.0, 5


class Noise(Struct, frozen=True):
    """Noise of a curve: half the band's width, or twice the jitter of the line; 0 if not ``known``."""

    value: float
    known: bool


def estimate_noise(curve: Curve, band: str = "ci") -> Noise:
    """Return half the median width of the band, or else twice the median jitter of the readings.

    A band of standard errors (see ``CurveSet.band``) counts twice. Each reading is compared with the straight
    line between its neighbours, so that neither slope nor curvature of a learning curve counts (Gasser, Sroka
    and Jennen-Steinmetz 1986).
    """
    half = get_half_widths(curve)
    if np.isfinite(half).any():
        return Noise(float(np.nanmedian(half)) * (2 if band == "se" else 1), known=True)
    steps, values = get_points(curve)
    if steps.size < FEWEST_READINGS:
        return Noise(0.0, known=False)
    left, here, right = steps[:-2], steps[1:-1], steps[2:]
    weight = (right - here) / (right - left)
    line = weight * values[:-2] + (1 - weight) * values[2:]
    apart = np.abs(values[1:-1] - line) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return Noise(2 * (math.sqrt(2) * float(np.median(apart))), known=True)


def get_half_widths(curve: Curve) -> FloatArray:
    """Return half the band's width at each step, shape (steps,); NaN without a band."""
    half: FloatArray = (curve.high - curve.low) / 2
    return half


class NoiseModel(Struct, frozen=True):
    """First-order autoregressive noise: φ times that of the previous reading, plus an innovation."""

    along: FloatArray  # relative size of innovations, with inverse squares of mean 1, (n,)
    innovation: float = 0.0  # standard deviation of innovations where ``along`` is 1
    strength: float = 0.0  # φ, from 0 to 1; an upper bound for several runs
    df: float = 1.0  # degrees of freedom of the innovation's variance
    known: bool = False  # whether from several runs; otherwise fitted together with the course

    @property
    def upper(self) -> float:
        """φ of one run plus its small-sample bias (Marriott and Pope 1954) and two standard errors."""
        n = self.along.size
        strength = self.strength + (1 + 4 * self.strength) / n + 2 * math.sqrt((1 - self.strength**2) / n)
        return min(strength, 0.99)

    @property
    def free(self) -> float:
        """Number of independent readings that the noise is estimated from, at least 3."""
        return max(self.df * (1 - self.upper) / (1 + self.upper), 3.0)

    def compute_error_of_mean(self, readings: float) -> float:
        """Return the standard deviation of the mean of neighbouring readings of one run where ``along`` is 1.

        It is the root of 1/n · ((1 + φ)/(1 − φ) − 2φ(1 − φⁿ)/(n(1 − φ)²)) times a reading's variance.
        """
        strength = self.upper
        ratio = (1 + strength) / (1 - strength)
        ends = 2 * strength * (1 - strength**readings) / (readings * (1 - strength) ** 2)
        left = min(max((ratio - ends) / readings, 1 / readings), 1.0)
        return self.innovation * math.sqrt(left / (1 - strength**2))


def estimate_from_one(values: FloatArray) -> NoiseModel:
    """Estimate how the size of the noise varies in one run of shape (n,), before its course is known.

    The size is the distance of each reading from the mean of its neighbours, scaled to a deviation of
    readings; the ends take the value of the next reading.
    """
    inside = (values[1:-1] - (values[:-2] + values[2:]) / 2) / math.sqrt(1.5)
    return NoiseModel(_estimate_size(np.abs(np.pad(inside, 1, mode="edge"))))


def estimate_from_runs(runs: FloatArray) -> NoiseModel:
    """Estimate the noise of the mean of several runs from their differences.

    Runs have shape (r, n), r ≥ 2; constant offsets between them are removed first. φ is an upper bound, so
    that random walks count as such.
    """
    r, n = runs.shape
    apart = runs - runs.mean(axis=0)
    apart = apart - apart.mean(axis=1, keepdims=True)
    size = 1 / _estimate_size(np.sqrt((apart**2).mean(axis=0)))[1:] ** 2
    now, before = apart[:, 1:], apart[:, :-1]
    squares = float((size * before**2).sum())
    strength = float((size * now * before).sum()) / squares if squares > 0 else 0.0
    strength = min(max(strength, 0.0), 1.0)
    bias, error = (1 + 4 * strength + 2 * strength**20) / n, math.sqrt((1 - strength**2) / ((r - 1) * n))
    # By simulation of random walks with and without errors: two standard errors for two runs, one for many.
    upper = min(strength + bias + r / (r - 1) * error, 1.0)
    innovations = now - upper * before
    along = _estimate_size(np.sqrt((innovations**2).mean(axis=0)))
    along = np.concatenate([along[:1], along])
    size = 1 / along**2
    along = along * math.sqrt(size.mean())
    fresh = innovations / along[1:]
    df = float((r - 1) * (n - 1))
    variance = float((fresh**2).sum()) / df
    return NoiseModel(along, math.sqrt(variance / r), upper, df, known=True)


def _estimate_size(sizes: FloatArray) -> FloatArray:
    """Estimate how the size of m absolute deviations varies, with inverse squares of mean 1.

    The logarithms are fitted by a line, a parabola, and in parts of 25 readings or more, each only if
    it varies by more than chance.
    """
    n = sizes.size
    usual = float(np.median(sizes)) or float(sizes.mean())
    if usual <= 0:
        return np.ones(n)
    logs = np.log(np.clip(sizes / usual, 0.02, 10.0))
    place = np.linspace(-0.5, 0.5, n)
    bow = place**2 - float((place**2).mean())
    line = np.zeros(n)
    for shape in (place, bow):
        factor = float(shape @ logs) / float(shape @ shape)
        error = float(np.std(logs - line - factor * shape)) / math.sqrt(float(shape @ shape))
        line = line + factor * shape * (abs(factor) > _SURE * error)
    if n >= _PARTS * _PART:
        parts = np.array_split(np.arange(n), _PARTS)
        rest = [(logs - line)[part] for part in parts]
        means = np.array([float(part.mean()) for part in rest])
        errors = np.array([float(part.std()) / math.sqrt(part.size) for part in rest])
        if means.max() - means.min() >= max(math.log(_CHANGES), 4.0 * math.sqrt(2) * float(errors.mean())):
            line = line + np.interp(np.arange(n), [float(part.mean()) for part in parts], means)
    size = np.exp(-2 * (line - line.mean()))
    return np.asarray(1 / np.sqrt(size / size.mean()))


def cut_outliers(values: FloatArray) -> FloatArray:
    """Clip readings, shape (..., n), to three deviations from the running median of five."""
    if values.shape[-1] < _AROUND:
        return values
    padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(_AROUND // 2, _AROUND // 2)], mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, _AROUND, axis=-1), axis=-1)
    apart = values - usual
    rows = np.abs(apart).reshape(-1, values.shape[-1]).mean(axis=0)
    # A third of the readings are their own median.
    size = np.quantile(np.abs(apart), 0.683, axis=-1, keepdims=True) * _estimate_size(rows)
    return np.asarray(usual + np.clip(apart, -_CLIPPED * size, _CLIPPED * size))
