"""A series in three numbers: its final value, its peak, and its mean over steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.model import Ending, Estimate
from reportgen.statistics.band import compute_band

if TYPE_CHECKING:
    from reportgen.model import Curve, CurveSet


def summarise_curves(curve_set: CurveSet, *, higher_is_better: bool = True) -> tuple[Ending, ...]:
    """Final value, peak and mean of each series, from unsmoothed values.

    - ``final``: the mean across runs at the series' last step;
    - ``peak``: the mean curve's maximum, or minimum where lower is better, at the first step that has it;
    - ``mean``: each run's mean over its own steps, every step counting once; then the mean across runs.

    Intervals are t intervals across the runs that support that step (``n``); None for one run, except
    that a single run's own interval, where the input gives one, is used for ``final``. A peak has an
    interval only where the curves were made with ``peak="simultaneous"``: that of its step alone does not
    know that the step was picked.

    Where the curves were binned, steps are bin centres and values bin means; reduce with
    ``max_points=None`` for the exact last and best step.

    Args:
        curve_set: made with ``band="ci"``, not smoothed.
        higher_is_better: whether the peak is a maximum.
    """
    return tuple(
        _summarise_curve(curve, curve_set.level, higher_is_better=higher_is_better)
        for curve in curve_set.curves
    )


def _summarise_curve(curve: Curve, level: float, *, higher_is_better: bool) -> Ending:
    pick = np.argmax if higher_is_better else np.argmin
    last, peak = curve.steps.size - 1, int(pick(curve.values))
    picked = Estimate(float(curve.values[peak]), None, None, int(curve.n[peak]))
    if curve.extremes is not None:
        picked = curve.extremes[0 if higher_is_better else 1]
    means = np.array([[np.mean(run.values)] for run in curve.runs])
    mean, low, high, n = compute_band(means, "ci", level)
    return Ending(
        series=curve.series,
        final=_make_estimate(curve, last),
        final_step=float(curve.steps[last]),
        peak=picked,
        peak_step=float(curve.steps[peak]),
        mean=Estimate(float(mean[0]), _to_float(low[0]), _to_float(high[0]), int(n[0])),
        runs=len(curve.runs),
        readings=int(curve.steps.size),
    )


def _make_estimate(curve: Curve, place: int) -> Estimate:
    return Estimate(
        value=float(curve.values[place]),
        low=_to_float(curve.low[place]),
        high=_to_float(curve.high[place]),
        n=int(curve.n[place]),
    )


def _to_float(end: np.float64) -> float | None:
    return float(end) if np.isfinite(end) else None
