"""Autoregressive noise around a curve: its size along the readings, and its autocorrelation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray


_PARTS, _PART = 6, 25
_CHANGES, _SURE = 1.5, 2.4
_CLIPPED, _AROUND = 3.0, 5


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """Noise of first order: φ times that of the reading before, and an innovation.

    Attributes:
        along: the relative size of innovations, its inverse squares with a mean of 1, shape (n,).
        innovation: the standard deviation of innovations where ``along`` is 1.
        strength: φ, from 0 to 1; of several runs an upper bound.
        df: degrees of freedom of the innovation's variance.
        known: whether it comes from several runs; otherwise it is fitted together with the course.
    """

    along: FloatArray
    innovation: float = 0.0
    strength: float = 0.0
    df: float = 1.0
    known: bool = False

    def replace_fit(self, strength: float, innovation: float, df: float) -> NoiseModel:
        """The same with what a fit of the course has found."""
        return replace(self, strength=strength, innovation=innovation, df=df)

    @property
    def upper(self) -> float:
        """φ of one run with its small-sample bias (Marriott and Pope 1954) and two standard errors added."""
        n = self.along.size
        strength = self.strength + (1 + 4 * self.strength) / n + 2 * math.sqrt((1 - self.strength**2) / n)
        return min(strength, 0.99)

    @property
    def free(self) -> float:
        """How many independent readings the noise is known from, 3 or more."""
        return max(self.df * (1 - self.upper) / (1 + self.upper), 3.0)

    def compute_error_of_mean(self, readings: float) -> float:
        """The standard deviation of the mean of so many neighbours of one run, where ``along`` is 1.

        1/n · ((1 + φ)/(1 − φ) − 2φ(1 − φⁿ)/(n(1 − φ)²)) of a reading's variance.
        """
        strength = self.upper
        ratio = (1 + strength) / (1 - strength)
        ends = 2 * strength * (1 - strength**readings) / (readings * (1 - strength) ** 2)
        left = min(max((ratio - ends) / readings, 1 / readings), 1.0)
        return self.innovation * math.sqrt(left / (1 - strength**2))


def estimate_from_one(values: FloatArray) -> NoiseModel:
    """What one run of shape (n,) shows of its noise before its course is known: only how its size changes."""
    return NoiseModel(_estimate_size(np.abs(_measure_bends(values))))


def estimate_from_runs(runs: FloatArray) -> NoiseModel:
    """The noise of the mean of several runs, from how they differ.

    Runs of shape (r, n), r ≥ 2, that lie apart all along are taken to one level first. φ is an upper bound,
    as above, so that random walks count as such.
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
    upper = min(strength + bias + 2 * error, 1.0)
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
    """How the size of m absolute deviations changes along the readings, its inverse squares with a mean of 1.

    First on a straight line of logarithms, then in parts of ten readings or more; each only where it changes
    by more than chance makes it.
    """
    n = sizes.size
    usual = float(np.median(sizes)) or float(sizes.mean())
    if usual <= 0:
        return np.ones(n)
    logs = np.log(np.clip(sizes / usual, 0.02, 10.0))
    place = np.linspace(-0.5, 0.5, n)
    slope = float(place @ logs) / float(place @ place)
    error = float(np.std(logs - slope * place)) / math.sqrt(float(place @ place))
    line = slope * place if abs(slope) > _SURE * error else np.zeros(n)
    if n >= _PARTS * _PART:
        line = line + _estimate_by_parts(logs - line)
    size = np.exp(-2 * (line - line.mean()))
    return np.asarray(1 / np.sqrt(size / size.mean()))


def _estimate_by_parts(logs: FloatArray) -> FloatArray:
    """What parts differ by from one another, where two of them differ by more than half."""
    parts = np.array_split(np.arange(logs.size), _PARTS)
    means = np.array([float(logs[part].mean()) for part in parts])
    errors = np.array([float(logs[part].std()) / math.sqrt(part.size) for part in parts])
    if means.max() - means.min() < max(math.log(_CHANGES), 4.0 * math.sqrt(2) * float(errors.mean())):
        return np.zeros(logs.size)
    middles = [float(part.mean()) for part in parts]
    return np.asarray(np.interp(np.arange(logs.size), middles, means))


def cut_outliers(values: FloatArray) -> FloatArray:
    """Readings, shape (..., n), where what is far from the median of five counts as three deviations away."""
    if values.shape[-1] < _AROUND:
        return values
    padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(_AROUND // 2, _AROUND // 2)], mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, _AROUND, axis=-1), axis=-1)
    apart = values - usual
    rows = np.abs(apart).reshape(-1, values.shape[-1]).mean(axis=0)
    # A third of the readings are their own median.
    size = np.quantile(np.abs(apart), 0.683, axis=-1, keepdims=True) * _estimate_size(rows)
    return np.asarray(usual + np.clip(apart, -_CLIPPED * size, _CLIPPED * size))


def _measure_bends(values: FloatArray) -> FloatArray:
    """How far each reading is from the middle of its neighbours, as a deviation of readings; shape (n,).

    At the ends that of the reading beside.
    """
    inside = (values[1:-1] - (values[:-2] + values[2:]) / 2) / math.sqrt(1.5)
    made: FloatArray = np.pad(inside, 1, mode="edge")
    made[[0, -1]] = 0.0 if made.size < 3 else made[[0, -1]]  # noqa: PLR2004
    return made
