"""Bands across runs: at each step, and simultaneous for the whole mean curve; one number of each run.

Also the best of many runs, which are attempts of a search.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.comparisons import Search
from reportgen.core.model import Estimate
from reportgen.statistics.distributions import check_level, cut_ends, mean, move_ends, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray, GivenInterval, IntArray
    from reportgen.settings.block_parts import Band


class Banded(NamedTuple):
    """Centre, lower and upper end of the band, and number of runs at each step; arrays of shape (S,)."""

    centre: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray


_BANDS = ("ci", "simultaneous", "se", "sd", "range", "iqr", "none")
_FEWEST_REPETITIONS: Final = 2  # of which the best attempt has an interval of its own
_LAST_PLACES = 4 * np.finfo(np.float64).eps


def compute_band(
    values: FloatArray,
    kind: Band | str = "ci",
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> Banded:
    """Return centre and band across the runs that support each step.

    With mean, deviation ``s`` and number ``n`` of runs: ``ci`` is mean ± t s / √n at each step by itself,
    ``simultaneous`` the same for all S steps with several runs at once, 1 - ``level`` divided by S
    (Bonferroni), ``se`` mean ± s / √n, ``sd`` mean ± s, ``range`` the smallest and largest run, ``iqr`` the
    median with quartiles (Hyndman and Fan 1996, type 7). With one run, or if all are equal, the band is NaN,
    never of zero width. With ``ends``, the smallest and largest possible value, the first two are made on a
    scale that stays inside (``move_ends``), and ``se`` and ``sd`` are cut there. ``values`` has
    shape (R, S), NaN if a run does not support a step. Raises a ValueError if there is no such band, or
    ``level`` is not between 0 and 1.
    """
    if str(kind) not in _BANDS:
        raise ValueError(f"there is no band {kind!r}; there are {', '.join(_BANDS)}")
    check_level(level)
    n = np.count_nonzero(~np.isnan(values), axis=0).astype(np.int64)
    if str(kind) == "simultaneous":
        level = 1 - (1 - level) / max(1, int(np.count_nonzero(n > 1)))
    ordered = np.sort(values, axis=0)  # NaN sorts last: row n - 1 is each step's largest value
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        centre, low, high = _find_ends(ordered, n, str(kind), level)
        if ends is not None and str(kind) in {"ci", "simultaneous"}:
            low, high = move_ends(centre, centre - low, high - centre, ends)
        elif str(kind) in {"se", "sd"}:
            low, high = cut_ends(low, high, ends)
    known = (n > 1) & np.isfinite(low) & np.isfinite(high) & (low < high)
    return Banded(centre, np.where(known, low, np.nan), np.where(known, high, np.nan), n)


def get_given_band(
    values: FloatArray, given: GivenInterval, level: float, bounds: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the interval given by the input at each step, or NaN if it gives none.

    A standard error becomes an interval at ``level``: by Student's t with n - 1 degrees of freedom if the
    input gives n, otherwise by the normal distribution, inside ``bounds`` by ``move_ends``. A mean
    score, which ``low`` and ``high`` bound, has that of ``intervals.make_unseen_interval`` without a spread.
    """
    if given.stderr is None:
        none = np.full_like(values, np.nan)
        low, high = (none if end is None else end for end in (given.low, given.high))
    else:
        quantile = np.full_like(values, t_quantile((1 + level) / 2, math.inf))
        if given.n is not None:
            quantile = np.where(np.isfinite(given.n), _t_quantile(given.n, level), quantile)
        lowest, highest = bounds or (-math.inf, math.inf)
        if given.low is not None and given.high is not None:
            lowest, highest = float(np.nanmin(given.low)), float(np.nanmax(given.high))
        half = quantile * given.stderr
        low, high = move_ends(values, half, half, (lowest, highest))
        if given.low is not None and given.n is not None:
            equal, unseen = ~(half > 0) & np.isfinite(given.n), 1 - ((1 - level) / 2) ** (1 / given.n)
            low = np.where(equal, values - unseen * (values - lowest), low)
            high = np.where(equal, values + unseen * (highest - values), high)
    known = np.isfinite(low) & np.isfinite(high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _find_ends(
    ordered: FloatArray, n: IntArray, kind: str, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centre and ends of a band at each step; runs are sorted at each step separately."""
    if kind == "iqr":
        quartiles = []
        for place in ((n - 1) * share for share in (0.25, 0.5, 0.75)):
            lower = np.floor(place).astype(np.int64)
            part = place - lower
            below, above = _take_row(ordered, lower), _take_row(ordered, np.minimum(lower + 1, n - 1))
            quartiles.append(np.clip(below * (1 - part) + above * part, below, above))
        return quartiles[1], quartiles[0], quartiles[2]
    largest = _take_row(ordered, n - 1)
    # Rounding must not move the mean of equal values past them: runs that agree have no spread.
    mean = np.clip(np.nansum(ordered, axis=0) / np.maximum(n, 1), ordered[0], largest)
    centre = np.where(n > 0, mean, np.nan)
    if kind == "range":
        return centre, ordered[0], largest
    if kind == "none":
        nothing = np.full(n.shape, np.nan)
        return centre, nothing, nothing
    # hypot adds squares without overflow or underflow.
    length: FloatArray = np.hypot.reduce(np.nan_to_num(ordered - centre), axis=0)
    # Runs whose means were rounded differ in the last place: they agree.
    half = np.where(length <= _LAST_PLACES * np.abs(centre), 0.0, length) / np.sqrt(n - 1)
    if kind in {"ci", "simultaneous"}:
        half = _t_quantile(n, level) * half
    if kind != "sd":
        half = half / np.sqrt(n)
    return centre, centre - half, centre + half


def _take_row(ordered: FloatArray, index: IntArray) -> FloatArray:
    """Take one row of each column of a 2-d array, the first if there is no such row."""
    taken: FloatArray = np.take_along_axis(ordered, np.maximum(index, 0)[np.newaxis], axis=0)[0]
    return taken


def _t_quantile(n: IntArray | FloatArray, level: float) -> FloatArray:
    sizes, where = np.unique(n, return_inverse=True)
    probability = (1 + level) / 2
    quantiles = [t_quantile(probability, size - 1) if size > 1 else math.nan for size in sizes.tolist()]
    return np.array(quantiles, dtype=np.float64)[where]


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


def measure_search(attempts: Sequence[Sequence[float]], best: int, level: float = 0.95) -> Search:
    """Measure a search of at least one attempt, each with its values in order: its own and its repetitions.

    ``best`` is the place of the attempt that was chosen by its first value. It is compared with the mean of
    the first attempt. Noise is pooled over repetitions and taken to be normal and equal in all attempts.
    Without repetitions of the best one, the test is Dunnett's of many treatments against a control (Dunnett
    1955); with two or more, Student's t, where the value that chose the attempt does not count.
    """
    first, fresh = attempts[0], attempts[best][1:] if best else ()
    groups = [fresh if place == best and best else one for place, one in enumerate(attempts)]
    df = sum(len(one) - 1 for one in groups if one)
    base, compared = mean(np.array(first)), len(attempts) - 1
    gain = attempts[best][0] - base if best else 0.0
    if not df or not compared:
        return Search(compared, gain)
    total = sum(float(np.square(np.array(one) - mean(np.array(one))).sum()) for one in groups if one)
    noise = math.sqrt(total / df)
    luck = noise * find_luck(compared, len(first), df, level)
    if len(fresh) < _FEWEST_REPETITIONS:
        return Search(compared, gain, noise, df, luck, None, bool(gain > luck))
    repeated = mean(np.array(fresh)) - base
    half = t_quantile((1 + level) / 2, df) * noise * math.sqrt(1 / len(fresh) + 1 / len(first))
    own = Estimate(repeated, repeated - half, repeated + half, len(fresh))
    return Search(compared, gain, noise, df, luck, own, repeated > half)


@lru_cache(maxsize=256)
def find_luck(compared: int, repetitions: int, df: int, level: float) -> float:
    """Return what the best of ``compared`` equal attempts gains at most, in standard deviations.

    The gain is that over the mean of ``repetitions`` of the first attempt, divided by a standard deviation
    with ``df`` degrees of freedom: the one-sided point of Dunnett's test with one value for each treatment.
    """
    low, high = 0.0, 1.0
    while _compute_chance(high, compared, repetitions, df) < level:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:  # figures show four digits
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _compute_chance(middle, compared, repetitions, df) < level else (low, middle)
        )
    return high


def _compute_chance(gain: float, compared: int, repetitions: int, df: int) -> float:
    """Return the probability that no attempt gains more: Phi(z/√k + gain·s)^N averaged over z and s."""
    z = np.linspace(-8, 8, 129)
    # The logarithm of s: the density of √(χ²/df) times s.
    logs = np.linspace(-36 / df if df < 4 else -9 / math.sqrt(df), 5 / math.sqrt(df), 400)  # noqa: PLR2004
    weight = np.exp(df * logs - df / 2 * np.expm1(2 * logs))
    density = np.exp(-z * z / 2)
    below = _normal_chance(z[:, None] / math.sqrt(repetitions) + gain * np.exp(logs)[None, :]) ** compared
    return float(density @ below @ weight / (density.sum() * weight.sum()))


def _normal_chance(values: FloatArray) -> FloatArray:
    return np.interp(values, *_tabulate_normal())


@lru_cache(maxsize=1)
def _tabulate_normal() -> tuple[FloatArray, FloatArray]:
    places = np.linspace(-8, 8, 8001)
    return places, np.array([math.erfc(-one / math.sqrt(2)) / 2 for one in places])
