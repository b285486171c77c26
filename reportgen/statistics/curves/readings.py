"""Numbers read off one or two curves: values, crossings, gaps and volatility.

They refer to the unsmoothed centre at a curve's own finite points, joined by straight lines and never
extrapolated. Numbers that differ only by rounding are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.curves.mean_curves import interpolate
from reportgen.statistics.distributions import deviation, find_scale, mean

if TYPE_CHECKING:
    from reportgen.core.model import Curve, FloatArray

# Numbers whose relative difference is below this are equal up to rounding.
_SAME = 1e-12
# A standard deviation of first differences needs two differences.
_FEWEST_POINTS = 3


class Points(NamedTuple):
    """Finite steps and values, arrays of shape (S,) with S ≥ 0; steps are strictly increasing."""

    steps: FloatArray
    values: FloatArray


class BandAt(NamedTuple):
    """Band and number ``n`` of runs at a step; its ends are None if unknown."""

    low: float | None
    high: float | None
    n: int


def get_points(curve: Curve) -> Points:
    """Return the finite points of the unsmoothed centre."""
    centre = _get_centre(curve)
    known = np.isfinite(centre)
    return Points(curve.steps[known], centre[known])


def match_step(curve: Curve, step: float) -> float:
    """Return the curve's own step that equals ``step`` up to rounding (0.3 for 3 × 0.1), or ``step``."""
    steps = get_points(curve).steps
    if not steps.size:
        return step
    nearest = float(steps[np.argmin(np.abs(steps - step))])
    return nearest if abs(nearest - step) <= _SAME * abs(nearest) else step


def interpolate_value(curve: Curve, step: float) -> float | None:
    """Return the linearly interpolated value at a step, or None outside the range of steps."""
    steps, values = get_points(curve)
    if not steps.size or not steps[0] <= step <= steps[-1]:
        return None
    return float(interpolate(np.array([step]), steps, values)[0])


def interpolate_band(curve: Curve, step: float) -> BandAt:
    """Return the band at a step inside the range; between two steps its ends are interpolated linearly.

    Such an interval is never too narrow, since a standard deviation is at most the sum of its parts'. The
    ends of a smoothed curve's band are not those of the unsmoothed one, and unknown.
    """
    known = np.isfinite(_get_centre(curve))
    steps = curve.steps[known]
    left = int(np.searchsorted(steps, step, side="right")) - 1
    around = slice(left, left + 1 if steps[left] == step else left + 2)
    n = int(curve.n[known][around].min())
    ends = [end[known][around] for end in (curve.low, curve.high)]
    if curve.raw is not None or not all(np.isfinite(end).all() for end in ends):
        return BandAt(None, None, n)
    low, high = (float(interpolate(np.array([step]), steps[around], end)[0]) for end in ends)
    return BandAt(low, high, n)


def mean_between(curve: Curve, first: float, last: float) -> float | None:
    """Return the mean at the curve's own steps from first to last, both included, or None if it has none."""
    steps, values = get_points(curve)
    inside = values[(steps >= first) & (steps <= last)]
    return mean(inside) if inside.size else None


def measure_last(curve: Curve, count: int) -> tuple[float, ...]:
    """Return the mean of the last ``count`` readings of each run, of all that it has if they are fewer."""
    return tuple(mean(run.values[-count:]) for run in curve.runs)


def measure_spread(curve: Curve) -> tuple[float | None, int]:
    """Return the standard deviation (ddof = 1) of the runs at the last step, and how many reach it.

    It is None for fewer than two runs.
    """
    last = get_points(curve).steps[-1]
    values = np.array([run.values[-1] for run in curve.runs if run.steps.size and run.steps[-1] == last])
    return (deviation(values) if values.size > 1 else None), int(values.size)


class Checkpoint(NamedTuple):
    """The step of one run that another metric picks, and the value there.

    ``regret`` is how far it stays behind the best value among the ``steps`` to pick from, at least 0.
    """

    step: float
    value: float
    regret: float
    steps: int


def pick_checkpoints(
    curve: Curve, picking: Curve, *, lowest: bool, higher_is_better: bool = True
) -> tuple[Checkpoint, ...] | None:
    """Return the checkpoint of each run at which another metric of the same run is best, the first of equals.

    Only steps at which a run has both metrics can be picked, which is how checkpoints are evaluated: nothing
    is interpolated. None if a run has no such step. ``lowest`` says which value of ``picking`` is best.
    """
    others = {run.run: run for run in picking.runs}
    found = []
    for run in curve.runs:
        other = others.get(run.run)
        if other is None:
            return None
        steps, own, its = np.intersect1d(run.steps, other.steps, return_indices=True)
        if not steps.size:
            return None
        values = run.values[own]
        index = int((np.argmin if lowest else np.argmax)(other.values[its]))
        best = float(values.max() if higher_is_better else values.min())
        value = float(values[index])
        found.append(Checkpoint(float(steps[index]), value, abs(best - value), int(steps.size)))
    return tuple(found)


def find_step_reaching(curve: Curve, level: float, *, higher_is_better: bool | None) -> float | None:
    """Return the first step, interpolated, at which the curve is as good as ``level``, or None.

    A curve that starts there, or better, reaches it at its first step. If neither direction is better, it is
    reached from the side on which the curve starts.
    """
    steps, values = get_points(curve)
    if higher_is_better is None:
        higher_is_better = bool(values[0] <= level)
    above = (1.0 if higher_is_better else -1.0) * _subtract(values, np.full_like(values, level))
    reached = np.flatnonzero(above >= 0)
    if not reached.size:
        return None
    first = int(reached[0])
    return _find_zero(steps, above, first - 1) if first else float(steps[0])


def compute_differences(a: Curve, b: Curve) -> tuple[FloatArray, FloatArray]:
    """Return the steps of both curves inside both ranges, and a minus b at them.

    The difference of two piecewise linear curves has its extremes at these. It is 0 if it is only rounding.
    Both arrays are empty if the ranges do not overlap.
    """
    first, second = get_points(a), get_points(b)
    if not first.steps.size or not second.steps.size:
        return np.empty(0), np.empty(0)
    grid = np.union1d(first.steps, second.steps)
    start, end = max(first.steps[0], second.steps[0]), min(first.steps[-1], second.steps[-1])
    grid = grid[(grid >= start) & (grid <= end)]
    return grid, _subtract(*(interpolate(grid, side.steps, side.values) for side in (first, second)))


def compute_gap(a: Curve, b: Curve, step: float) -> float | None:
    """Return a minus b at a step, 0 if it is only rounding, or None outside either range."""
    first, second = interpolate_value(a, step), interpolate_value(b, step)
    if first is None or second is None:
        return None
    return float(_subtract(np.array([first]), np.array([second]))[0])


def find_crossings(steps: FloatArray, difference: FloatArray) -> FloatArray:
    """Return the steps, interpolated, at which two curves cross: their difference changes sign.

    Touching, parting after a common start or meeting at the end is not crossing. If the curves coincide in
    between, it is the first step at which they do.
    """
    signed = np.flatnonzero(difference)
    signs = np.sign(difference[signed])
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    return np.array(
        [
            _find_zero(steps, difference, left) if right == left + 1 else float(steps[left + 1])
            for left, right in zip(signed[turns].tolist(), signed[turns + 1].tolist(), strict=True)
        ]
    )


def remove_trend(curve: Curve) -> FloatArray:
    """Return the values at the curve's points minus their least-squares line in step.

    The line is one in step, not in the index of the reading, so a curve that climbs evenly is flat
    afterwards, however unequal the distances of its steps. Every point has the same weight.
    """
    steps, values = get_points(curve)
    if steps.size < _FEWEST_POINTS:
        return np.zeros(steps.size)
    # Steps in milliseconds since 1970, squared, would exceed the precision of floats.
    x = steps - steps[0]
    x = x / x[-1]
    x = x - mean(x)
    size = find_scale(values)
    y = values / size
    y = y - mean(y)
    rest = y - mean(x * y) / mean(x * x) * x
    return np.where(np.abs(rest) <= _SAME * (np.abs(values).max() / size), 0.0, rest) * size


def volatility(curve: Curve) -> float | None:
    """Return the standard deviation (ddof = 1) of the first differences of the detrended curve.

    None under 3 points. Differences are between neighbouring readings, whatever their distance: noise of a
    reading does not grow with the distance to the one before; the part that does, the trend, is removed.
    """
    rest = remove_trend(curve)
    if rest.size < _FEWEST_POINTS:
        return None
    size = find_scale(rest)
    return deviation(np.diff(rest / size)) * size


def _get_centre(curve: Curve) -> FloatArray:
    return curve.values if curve.raw is None else curve.raw


def _subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return first minus second, 0 if it is only rounding."""
    with np.errstate(over="ignore"):
        plain = first - second
    return np.where(np.abs(plain) <= _SAME * np.maximum(np.abs(first), np.abs(second)), 0.0, plain)


def _find_zero(steps: FloatArray, values: FloatArray, left: int) -> float:
    """Return the zero of the line from ``left`` to the next point, of opposite sign; NaN if too large."""
    start, end = float(steps[left]), float(steps[left + 1])
    share = 1 / (1 + abs(float(values[left + 1]) / float(values[left])))
    return min(max(start * (1 - share) + end * share, start), end)
