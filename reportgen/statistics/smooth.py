"""Smoothing of one run: a time-weighted, bias-corrected exponential average."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray

# Weights inside one block are computed relative to its first step; e^200 leaves room for values of 1e220.
_BLOCK = 200.0


def smooth(steps: FloatArray, values: FloatArray, weight: float) -> FloatArray:
    """Average each value with all earlier ones of its run, which count less the further back they lie.

    The smoothed value at step ``t_k`` is the weighted mean of the values up to it,
    ``sum_j w_kj v_j / sum_j w_kj`` with ``w_kj = weight ** ((t_k - t_j) / unit)``, where ``unit`` is the
    median distance of the run's neighbouring steps. So ``weight`` says how much the value one usual step
    back counts, whatever the steps are measured in, and a gap in the steps forgets more. Dividing by the
    sum of the weights is the bias correction; no starting value is made up.

    Source: exponential averages by distance in time, Eckner, "Algorithms for Unevenly Spaced Time
    Series: Moving Averages and Other Rolling Operators" (2014). With equal distances it is TensorBoard's
    smoothing with its debiasing, and pandas' ``ewm(halflife, times=..., adjust=True)`` with
    ``halflife = unit * log(0.5) / log(weight)``.

    Args:
        steps: shape (S,), strictly increasing.
        values: shape (S,) or (R, S): one or several runs that share these steps; finite.
        weight: 0 (values unchanged) up to, but not including, 1.

    Returns:
        The smoothed values, same shape as ``values``; each within the range of the values up to it.

    Raises:
        ValueError: if ``weight`` is not in [0, 1).
    """
    if not 0 <= weight < 1:
        raise ValueError(f"smooth must be at least 0 and below 1, not {weight}")
    if weight == 0 or steps.size <= 1:
        return values.copy()
    age = (steps - steps[0]) * (-math.log(weight) / float(np.median(np.diff(steps))))
    scale = np.max(np.abs(values), axis=-1, keepdims=True)
    averaged = _decayed_mean(age, values / np.where(scale > 0, scale, 1)) * scale
    # Rounding may leave the range of what was averaged by an ulp: a constant stays exactly constant.
    low, high = (pick.accumulate(values, axis=-1) for pick in (np.minimum, np.maximum))
    smoothed: FloatArray = np.clip(averaged, low, high)
    return smoothed


def _decayed_mean(age: FloatArray, values: FloatArray) -> FloatArray:
    """Mean of the values up to each point, weighted by ``exp(age_j - age_k)``, without a loop over points."""
    averaged = np.empty_like(values)
    total = np.zeros((*values.shape[:-1], 1))
    weights = 0.0
    start = 0
    while start < age.size:
        stop = int(np.searchsorted(age, age[start] + _BLOCK, side="right"))
        decay = math.exp(age[start - 1] - age[start]) if start else 0.0
        growth = np.exp(age[start:stop] - age[start])
        sums = np.cumsum(values[..., start:stop] * growth, axis=-1) + total * decay
        norms = np.cumsum(growth) + weights * decay
        averaged[..., start:stop] = sums / norms
        total, weights = sums[..., -1:] / growth[-1], float(norms[-1] / growth[-1])
        start = stop
    return averaged
