"""One number of each run, such as its last value, and the mean of such numbers over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.model import Estimate
from reportgen.statistics.curves.bands import compute_band

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, CurveSet


def measure_runs(curve: Curve, value: str, *, higher_is_better: bool = True) -> tuple[float, ...]:
    """Return one number of each run: its ``final`` value, its ``best`` or the ``mean`` of its values."""
    if value == "mean":
        return tuple(float(np.mean(run.values)) for run in curve.runs)
    if value == "best":
        return tuple(float((np.max if higher_is_better else np.min)(run.values)) for run in curve.runs)
    return tuple(float(run.values[-1]) for run in curve.runs)


def average_runs(values: Sequence[float], level: float, ends: tuple[float, float] | None = None) -> Estimate:
    """Return the mean of one number of each run, at least one, with its t interval across runs."""
    centre, low, high, n = compute_band(np.array(values)[:, None], "ci", level, ends)
    return Estimate(float(centre[0]), to_float(low[0]), to_float(high[0]), int(n[0]))


def get_ends(curve_set: CurveSet) -> tuple[float, float] | None:
    """Return the smallest and largest possible value of a metric, if they are stated."""
    return next((curve.ends for curve in curve_set.curves), None)


def to_float(end: np.float64) -> float | None:
    """Return the end of an interval, or None for NaN."""
    return float(end) if np.isfinite(end) else None
