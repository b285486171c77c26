"""Centre and band across runs, at every step at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.simultaneous import find_pointwise_level
from reportgen.statistics.student_t import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.model import FloatArray, GivenInterval, IntArray
    from reportgen.settings.blocks import Band


class Banded(NamedTuple):
    """Centre, lower and upper end of the band, and number of runs, at each step; arrays of shape (S,)."""

    centre: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray


def compute_band(values: FloatArray, kind: Band | str = "ci", level: float = 0.95) -> Banded:
    """Centre and band across the runs that support each step.

    The centre is the mean, for ``iqr`` the median. With ``s`` the standard deviation across runs
    (ddof = 1) and ``n`` the number of runs, the band is

    - ``ci``: mean ± t s / √n, where t is the (1 + level) / 2 quantile of Student's t with n - 1 degrees
      of freedom; the interval answers: the mean of other runs like these, at each step by itself;
    - ``simultaneous``: the same with t so large that the whole mean curve lies in the band at this level;
    - ``se``: mean ± s / √n;
    - ``sd``: mean ± s;
    - ``range``: smallest to largest run;
    - ``iqr``: first to third quartile, interpolated linearly (Hyndman and Fan 1996, type 7);
    - ``none``: no band.

    One run says nothing about other runs, and equal runs say no more of how runs differ: there the band is
    NaN, never of zero width.

    Args:
        values: shape (R, S), NaN where a run does not support a step.
        kind: which band.
        level: confidence level of ``ci`` and ``simultaneous``, between 0 and 1.

    Raises:
        ValueError: if there is no such band, or ``level`` is not between 0 and 1.
    """
    if str(kind) not in _BANDS:
        raise ValueError(f"there is no band {kind!r}; there are {', '.join(_BANDS)}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    if str(kind) == "simultaneous":
        level = find_pointwise_level(values, level)
    n = np.count_nonzero(~np.isnan(values), axis=0).astype(np.int64)
    ordered = np.sort(values, axis=0)  # NaN goes last: row n - 1 is each step's largest value
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        centre, low, high = _BANDS[str(kind)](ordered, n, level)
    known = (n > 1) & np.isfinite(low) & np.isfinite(high) & (low < high)
    return Banded(centre, np.where(known, low, np.nan), np.where(known, high, np.nan), n)


def get_given_band(values: FloatArray, given: GivenInterval, level: float) -> tuple[FloatArray, FloatArray]:
    """The interval that the input itself gives, at each step.

    ``low`` and ``high`` are used as they are. A standard error becomes an interval at ``level``: with the
    quantile of Student's t for n - 1 degrees of freedom where the input gives n, otherwise of the normal
    distribution.

    Args:
        values: shape (S,), the values the interval belongs to.
        given: what the input gave at these steps.
        level: confidence level, used with a standard error.

    Returns:
        Lower and upper ends, shape (S,), NaN where the input gives none.
    """
    if given.stderr is None:
        none = np.full_like(values, np.nan)
        low, high = (none if end is None else end for end in (given.low, given.high))
    else:
        quantile = np.full_like(values, t_quantile((1 + level) / 2, math.inf))
        if given.n is not None:
            quantile = np.where(np.isfinite(given.n), _t_quantile(given.n, level), quantile)
        low, high = values - quantile * given.stderr, values + quantile * given.stderr
    known = np.isfinite(low) & np.isfinite(high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


_LAST_PLACES = 4 * np.finfo(np.float64).eps

_Ends = tuple["FloatArray", "FloatArray", "FloatArray"]


def _compute_mean(ordered: FloatArray, n: IntArray) -> FloatArray:
    largest = _take_row(ordered, n - 1)
    total = np.nansum(ordered, axis=0)
    # Rounding must not carry the mean of equal values past them: runs that agree have no spread.
    return np.where(n > 0, np.clip(total / np.maximum(n, 1), ordered[0], largest), np.nan)


def _compute_deviation(ordered: FloatArray, n: IntArray, centre: FloatArray) -> FloatArray:
    # hypot adds squares without leaving the range of float64 on the way.
    length: FloatArray = np.hypot.reduce(np.nan_to_num(ordered - centre), axis=0)
    # Runs whose own means were rounded differ in the last place: they agree.
    length = np.where(length <= _LAST_PLACES * np.abs(centre), 0.0, length)
    return length / np.sqrt(n - 1)


def _ci(ordered: FloatArray, n: IntArray, level: float) -> _Ends:
    centre = _compute_mean(ordered, n)
    half = _t_quantile(n, level) * _compute_deviation(ordered, n, centre) / np.sqrt(n)
    return centre, centre - half, centre + half


def _se(ordered: FloatArray, n: IntArray, _: float) -> _Ends:
    centre = _compute_mean(ordered, n)
    half = _compute_deviation(ordered, n, centre) / np.sqrt(n)
    return centre, centre - half, centre + half


def _sd(ordered: FloatArray, n: IntArray, _: float) -> _Ends:
    centre = _compute_mean(ordered, n)
    half = _compute_deviation(ordered, n, centre)
    return centre, centre - half, centre + half


def _range(ordered: FloatArray, n: IntArray, _: float) -> _Ends:
    return _compute_mean(ordered, n), ordered[0], _take_row(ordered, n - 1)


def _iqr(ordered: FloatArray, n: IntArray, _: float) -> _Ends:
    low, centre, high = (_interpolate_quantile(ordered, n, share) for share in (0.25, 0.5, 0.75))
    return centre, low, high


def _none(ordered: FloatArray, n: IntArray, _: float) -> _Ends:
    nothing = np.full(n.shape, np.nan)
    return _compute_mean(ordered, n), nothing, nothing


_BANDS: dict[str, Callable[[FloatArray, IntArray, float], _Ends]] = {
    "ci": _ci,
    "simultaneous": _ci,
    "se": _se,
    "sd": _sd,
    "range": _range,
    "iqr": _iqr,
    "none": _none,
}


def _take_row(ordered: FloatArray, index: IntArray) -> FloatArray:
    """One row of each column of a 2-d array; the first where there is no such row."""
    taken: FloatArray = np.take_along_axis(ordered, np.maximum(index, 0)[np.newaxis], axis=0)[0]
    return taken


def _interpolate_quantile(ordered: FloatArray, n: IntArray, share: float) -> FloatArray:
    place = (n - 1) * share
    lower = np.floor(place).astype(np.int64)
    part = place - lower
    below, above = _take_row(ordered, lower), _take_row(ordered, np.minimum(lower + 1, n - 1))
    between: FloatArray = np.clip(below * (1 - part) + above * part, below, above)
    return between


def _t_quantile(n: IntArray | FloatArray, level: float) -> FloatArray:
    sizes, where = np.unique(n, return_inverse=True)
    probability = (1 + level) / 2
    quantiles = [t_quantile(probability, size - 1) if size > 1 else math.nan for size in sizes.tolist()]
    return np.array(quantiles, dtype=np.float64)[where]
