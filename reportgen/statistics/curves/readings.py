"""Numbers read off one curve or two: values, crossings, gaps and volatility.

All of it is about the unsmoothed centre at a curve's own finite points, joined by straight lines and never
extrapolated. Numbers that differ by no more than rounding are the same number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.curves.mean_curves import interpolate
from reportgen.statistics.distributions import deviation, mean

if TYPE_CHECKING:
    from reportgen.core.model import Curve, FloatArray

# Numbers that differ by less than this share of their size are one number, computed in two ways.
_SAME = 1e-12
# A standard deviation of first differences needs two of them.
_FEWEST_POINTS = 3


class Points(NamedTuple):
    """Steps and values, arrays of shape (S,); S may be 0. Steps are strictly increasing, all is finite."""

    steps: FloatArray
    values: FloatArray


class BandAt(NamedTuple):
    """The band at a step; its ends are None where it is not known. ``n`` is the number of runs there."""

    low: float | None
    high: float | None
    n: int


def get_points(curve: Curve) -> Points:
    """The finite points of the unsmoothed centre."""
    centre = _get_centre(curve)
    known = np.isfinite(centre)
    return Points(curve.steps[known], centre[known])


def match_step(curve: Curve, step: float) -> float:
    """The curve's own step that ``step`` is up to rounding, otherwise ``step``: 0.3 for 3 × 0.1."""
    steps = get_points(curve).steps
    if not steps.size:
        return step
    nearest = float(steps[np.argmin(np.abs(steps - step))])
    return nearest if abs(nearest - step) <= _SAME * abs(nearest) else step


def interpolate_value(curve: Curve, step: float) -> float | None:
    """The value at a step, interpolated linearly between neighbours; None outside the range of steps."""
    steps, values = get_points(curve)
    if not steps.size or not steps[0] <= step <= steps[-1]:
        return None
    return float(interpolate(np.array([step]), steps, values)[0])


def interpolate_band(curve: Curve, step: float) -> BandAt:
    """The band at a step inside the range; between two steps its ends are interpolated as the values are.

    Such an interval is never too narrow, since a standard deviation is at most the sum of its parts'. The
    ends of a smoothed curve's band are not those of the unsmoothed one, and not known.
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
    """The mean of the values at the curve's own steps between two, both included; None if it has none."""
    steps, values = get_points(curve)
    inside = values[(steps >= first) & (steps <= last)]
    return mean(inside) if inside.size else None


def find_step_reaching(curve: Curve, level: float, *, higher_is_better: bool | None) -> float | None:
    """The first step at which the curve is as good as ``level``, interpolated; None if it never is.

    A curve that starts there, or better, reaches it at its first step. Where neither way is better, it is
    reached from the side that the curve starts on.
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
    """Steps, and a minus b at them: the steps of both, inside both ranges.

    The difference of two broken lines is largest and smallest at one of these. It is 0 where it is no more
    than rounding. Both arrays are empty where the ranges do not meet.
    """
    first, second = get_points(a), get_points(b)
    if not first.steps.size or not second.steps.size:
        return np.empty(0), np.empty(0)
    grid = np.union1d(first.steps, second.steps)
    start, end = max(first.steps[0], second.steps[0]), min(first.steps[-1], second.steps[-1])
    grid = grid[(grid >= start) & (grid <= end)]
    return grid, _subtract(*(interpolate(grid, side.steps, side.values) for side in (first, second)))


def compute_gap(a: Curve, b: Curve, step: float) -> float | None:
    """A minus b at a step, 0 where that is no more than rounding; None outside either range."""
    first, second = interpolate_value(a, step), interpolate_value(b, step)
    if first is None or second is None:
        return None
    return float(_subtract(np.array([first]), np.array([second]))[0])


def find_crossings(a: Curve, b: Curve) -> FloatArray:
    """Where the lines of two curves cross: steps at which the sign of a minus b changes, interpolated.

    To touch, to part after a common start or to meet at the end is not to cross. Where the curves run
    together in between, it is the first step at which they do.
    """
    steps, difference = compute_differences(a, b)
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
    """The values at the curve's points without their trend: minus the least-squares line in step.

    The line is one in step, not in the number of the reading, so a curve that climbs evenly is flat
    afterwards, however unequal the distances of its steps. Every point counts the same.
    """
    steps, values = get_points(curve)
    if steps.size < _FEWEST_POINTS:
        return np.zeros(steps.size)
    # Milliseconds since 1970 squared would leave no digits for the steps themselves.
    x = steps - steps[0]
    x = x / x[-1]
    x = x - mean(x)
    size = _choose_scale(values)
    y = values / size
    y = y - mean(y)
    rest = y - mean(x * y) / mean(x * x) * x
    return np.where(np.abs(rest) <= _SAME * (np.abs(values).max() / size), 0.0, rest) * size


def volatility(curve: Curve) -> float | None:
    """Standard deviation (ddof = 1) of the first differences of the detrended curve; None under 3 points.

    Differences are between neighbouring readings, whatever their distance: noise of a reading does not grow
    with the distance to the one before, and the part of a difference that does, the trend, is taken out.
    """
    rest = remove_trend(curve)
    if rest.size < _FEWEST_POINTS:
        return None
    size = _choose_scale(rest)
    return deviation(np.diff(rest / size)) * size


def _get_centre(curve: Curve) -> FloatArray:
    return curve.values if curve.raw is None else curve.raw


def _choose_scale(values: FloatArray) -> float:
    """A power of 2 near the largest value: divided by it, squares neither overflow nor vanish."""
    largest = float(np.abs(values).max())
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def _subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """First minus second, 0 where that is no more than rounding."""
    with np.errstate(over="ignore"):
        plain = first - second
    return np.where(np.abs(plain) <= _SAME * np.maximum(np.abs(first), np.abs(second)), 0.0, plain)


def _find_zero(steps: FloatArray, values: FloatArray, left: int) -> float:
    """Where the line from ``left`` to the next point, of opposite sign, is 0; NaN if too large."""
    start, end = float(steps[left]), float(steps[left + 1])
    share = 1 / (1 + abs(float(values[left + 1]) / float(values[left])))
    return min(max(start * (1 - share) + end * share, start), end)
