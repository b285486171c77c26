"""Differences of two curves at a step, with the one interval that statements, tables and figures have."""

from __future__ import annotations

import math

import numpy as np

from reportgen.core.model import Curve, CurveSet, Estimate
from reportgen.statistics.curves.readings import compute_differences, compute_gap, interpolate_value
from reportgen.statistics.verdicts import compare_curves

_SAME = 1e-9
INTERVALS = frozenset({"ci", "simultaneous"})
"""Bands that are confidence intervals of the mean; with others a difference has none, too."""


def measure_gap(a: Curve, b: Curve, step: float, curve_set: CurveSet) -> Estimate:
    """Return a minus b at a step inside both ranges, with Welch's interval over runs if there is one."""
    value, slack = compute_gap(a, b, step) or 0.0, _SAME * abs(interpolate_value(a, step) or 0.0)
    one = compare_curves(a, b, at=step, level=curve_set.level)
    # If runs are interpolated, the mean of the lines need not be the line of the means.
    apart = value if one.difference is None else one.difference
    same = one.difference is not None and math.isclose(apart, value, rel_tol=_SAME, abs_tol=slack)
    low, high = (one.low, one.high) if curve_set.band in INTERVALS and same else (None, None)
    return Estimate(value, low, high, one.shared)


def subtract_baseline(curve_set: CurveSet, baseline: str) -> CurveSet:
    """Return each other series minus one, at the steps inside both ranges."""
    (base,) = (curve for curve in curve_set.curves if curve.series == baseline)
    curves, apart = [], []
    for curve in curve_set.curves:
        steps, _ = compute_differences(curve, base)
        if not steps.size:
            apart.append(curve.series)
        if curve is base or not steps.size:
            continue
        gaps = [measure_gap(curve, base, step, curve_set) for step in steps.tolist()]
        rows = [(gap.value, gap.low, gap.high) for gap in gaps]
        values, low, high = np.array(rows, dtype=np.float64).T  # None is NaN in an array of floats
        runs = min(len(curve.runs), len(base.runs)) or 1  # of invented ones nothing is counted
        n = np.array([gap.n or runs for gap in gaps], dtype=np.int64)
        curves.append(Curve(curve.series, steps, values, low, high, n, given=True))
    metric, band, level = curve_set.metric, curve_set.band, curve_set.level
    return CurveSet(metric, tuple(curves), band, level, absent=tuple(apart))
