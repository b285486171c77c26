"""Bands across runs: at each step, simultaneous for the whole mean curve, and for its peak."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.curves.bounded import cut_ends, move_ends, move_share
from reportgen.statistics.distributions import check_level, t_quantile, t_tail

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray, GivenInterval, IntArray
    from reportgen.settings.block_parts import Band

_DRAWS = 2000
_DRAWS_AT_ONCE = 250
# Normal deviates: 4 MB in each of eight parts.
_MOST_KEPT = 2**19
# Correlations are rounded down to multiples of 1/10: lower ones widen bands, and similar curves share draws.
_PARTS = 10
_SKEW_PARTS = 4
_MOST_SKEWED = 2.5
# Skewness needs three runs; variances are averaged over a window of an eighth of the steps.
_FEWEST_SKEWED = 3
_PART_OF_STEPS = 8
_MOST_CORRELATED = 0.99
_MANTISSA = 2.0**32
_FEWEST_RUNS = 2


class Noise(NamedTuple):
    """Correlation and skewness of the deviations of runs from their mean.

    The correlation at a distance of k steps is far + (1 - far) · near^k: an offset of the whole run plus
    first-order autoregressive noise. ``skew`` is the skewness of a deviation.
    """

    far: float
    near: float
    skew: float


class PeakEnds(NamedTuple):
    """Distances of the lower and upper end of a peak's interval from the peak, in standard errors."""

    behind: float
    beyond: float


def find_pointwise_level(values: FloatArray, level: float) -> float:
    """Return the level that t intervals at each step of ``values`` (R, S) need to hold simultaneously."""
    runs, steps = _count_varied(values)
    if runs < _FEWEST_RUNS or steps < 2:  # noqa: PLR2004 - one step is by itself
        return level
    critical, _ = _find_critical(runs, steps, estimate_run_noise(values), level)
    return 1 - 2 * t_tail(critical, runs - 1)


def find_peak_ends(values: FloatArray, n: int, level: float) -> PeakEnds | None:
    """Return the ends of an interval of the highest mean, given that its step was picked; None under 2 runs.

    The lower end uses the quantile of the studentised error at the highest step of a flat curve, the worst
    case; the upper end that of a single step. Both tails share 1 - ``level``. ``values`` as in
    ``compute_band``, negated for the lowest mean; ``n`` runs reach the picked step.
    """
    runs, steps = _count_varied(values)
    if min(runs, n) < _FEWEST_RUNS:
        return None
    _, ends = _find_critical(runs, max(steps, 1), estimate_run_noise(values), level)
    if n == runs:
        return ends
    # With fewer runs at this step, the ends have the same tails.
    return PeakEnds(*(t_quantile(1 - t_tail(end, runs - 1), n - 1) for end in ends))


def estimate_run_noise(values: FloatArray) -> Noise:
    """Estimate the noise of runs about their mean, rounded toward wider intervals.

    ``far`` is the mean correlation of standardised deviations over distances above half of the steps;
    ``near`` follows from that of neighbours. Half its standard error is subtracted from the skewness, since a
    few readings seem skewed by chance.
    """
    values = values[:, _find_varied(values)]
    runs, steps = values.shape
    if steps < 2:  # noqa: PLR2004 - nothing to correlate
        return Noise(0.0, 0.0, 0.0)
    deviations = values - np.nanmean(values, axis=0)
    variance = np.nanmean(deviations**2, axis=0)
    # Products at every distance at once, by Fourier transform (Wiener and Khinchin).
    length = 1 << (2 * steps - 1).bit_length()
    power = np.abs(np.fft.rfft(np.nan_to_num(deviations / np.sqrt(variance)), length, axis=1)) ** 2
    products = np.fft.irfft(power.sum(axis=0), length)[1:steps]
    correlation = products / (runs * np.arange(steps - 1, 0, -1))
    far = _round_down(float(correlation[correlation.size // 2 :].mean()), _MOST_CORRELATED, _PARTS)
    near = _round_down((float(correlation[0]) - far) / (1 - far), _MOST_CORRELATED, _PARTS)
    # Skewness unbiased for few runs (k statistics), minus half its standard error.
    skew, n = 0.0, np.count_nonzero(np.isfinite(deviations), axis=0)
    enough = n >= _FEWEST_SKEWED
    if enough.any():
        variance = variance[enough] * n[enough] / (n[enough] - 1)
        n, deviations = n[enough], deviations[:, enough]
        window = np.ones(max(1, n.size // _PART_OF_STEPS))
        around = np.convolve(variance, window, "same") / np.convolve(np.ones(n.size), window, "same")
        third = n / ((n - 1) * (n - 2)) * np.nansum(deviations**3, axis=0)
        skewness, most = float(np.mean(third / around**1.5)), int(n.max())
        independent = 1 + (steps - 1) * (1 - far) * (1 - near) / (1 + near)
        square = 6 * most * (most - 1) / ((most - 2) * (most + 1) * (most + 3)) / independent
        skew = math.copysign(max(0.0, abs(skewness) - math.sqrt(square) / 2), skewness)
    return Noise(far, near, math.copysign(_round_down(abs(skew), _MOST_SKEWED, _SKEW_PARTS), skew))


def _count_varied(values: FloatArray) -> tuple[int, int]:
    """Return the numbers of runs and of steps at which runs differ."""
    counts = np.count_nonzero(np.isfinite(values[:, _find_varied(values)]), axis=0)
    return int(counts.max(initial=0)), int(counts.size)


def _find_varied(values: FloatArray) -> IntArray:
    """Return the steps at which runs differ; steps at which all are equal do not show their noise."""
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf).min(axis=0)
    high = np.where(finite, values, -np.inf).max(axis=0)
    return np.flatnonzero(high > low).astype(np.int64)


def _round_down(value: float, most: float, parts: int) -> float:
    return math.floor(min(max(value, 0.0), most) * parts) / parts


@lru_cache(maxsize=1024)
def _find_critical(runs: int, steps: int, noise: Noise, level: float) -> tuple[float, PeakEnds]:
    """Return the quantile of the largest |t| over all steps under noise alone, and a peak's ends.

    The ends have the widest tail that leaves at most 1 - level outside, whether the curve is flat or not.
    """
    largest, picked, every = [], [], []
    for start in range(0, _DRAWS, _DRAWS_AT_ONCE):
        mean, error = _draw_means(runs, steps, noise, f"{start}")
        t = mean / error
        largest.append(np.abs(t).max(axis=1))
        picked.append(np.take_along_axis(t, mean.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0])
        every.append(t.ravel())
    of_peaks, of_steps = np.concatenate(picked), np.sort(np.concatenate(every))
    both, behind, beyond = 1 - level, 0.0, 0.0
    tails = np.linspace(both, both / 2, 26)
    # All of them take as long as one.
    lower, upper = np.quantile(of_steps, tails), np.quantile(of_steps, 1 - tails)
    for tail, low, high in zip(tails.tolist(), lower, upper, strict=True):
        beyond = -_round_digits(low)
        behind = max(_compute_quantile(of_peaks, 1 - tail), _round_digits(high))
        # The value may also lie below the ends for a flat curve, and above a single step's for a clear peak.
        clear = 1 - np.searchsorted(of_steps, behind) / of_steps.size
        if tail + max(float(np.mean(of_peaks < -beyond)), clear) <= both:
            break
    return _compute_quantile(np.concatenate(largest), level), PeakEnds(behind, beyond)


def _compute_quantile(values: FloatArray, share: float) -> float:
    return _round_digits(float(np.quantile(values, share)))


def _round_digits(quantile: float) -> float:
    """Round to nine digits: logarithms may differ in the last place between machines."""
    return float(f"{quantile:.9g}")


def _draw_means(runs: int, steps: int, noise: Noise, name: str) -> tuple[FloatArray, FloatArray]:
    """Draw means over runs and their standard errors under noise alone, each of shape (draws, steps)."""
    shape = (steps + 1, runs, _DRAWS_AT_ONCE)
    draw = _draw_normal if math.prod(shape) <= _MOST_KEPT else _draw_normal.__wrapped__
    normal = draw(shape, name).copy()
    own = math.sqrt(1 - noise.near**2)
    for step in range(2, steps + 1):
        normal[step] = noise.near * normal[step - 1] + own * normal[step]
    drawn = math.sqrt(noise.far) * normal[0] + math.sqrt(1 - noise.far) * normal[1:]
    # The a for which z + a (z² - 1), of mean 0, has this skewness (Fleishman 1978).
    bends = np.linspace(0, 5, 501)
    skews = (6 * bends + 8 * bends**3) / (1 + 2 * bends**2) ** 1.5
    bend = math.copysign(float(np.interp(abs(noise.skew), skews, bends)), noise.skew)
    if bend:
        drawn += bend * (drawn**2 - 1)
    mean = drawn.mean(axis=1)
    squares = ((drawn - mean[:, np.newaxis]) ** 2).sum(axis=1)
    return mean.T, np.sqrt(squares / (runs - 1) / runs).T


@lru_cache(maxsize=_DRAWS // _DRAWS_AT_ONCE)
def _draw_normal(shape: tuple[int, ...], name: str) -> FloatArray:
    """Draw normal deviates from a hash of the name (Box and Muller 1958).

    The draws for a number of runs and steps are kept for curves with other noise.
    """
    half = -(-math.prod(shape) // 2)
    digest = hashlib.shake_128(f"normal\0{name}".encode()).digest(8 * half)
    uniform = (np.frombuffer(digest, dtype="<u4").astype(np.float64) + 0.5) / _MANTISSA
    radius, angle = np.sqrt(-2 * np.log(uniform[:half])), 2 * math.pi * uniform[half:]
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[: math.prod(shape)].reshape(shape)


class Banded(NamedTuple):
    """Centre, lower and upper end of the band, and number of runs at each step; arrays of shape (S,)."""

    centre: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray


_BANDS = ("ci", "simultaneous", "se", "sd", "range", "iqr", "none")
_LAST_PLACES = 4 * np.finfo(np.float64).eps


def compute_band(
    values: FloatArray,
    kind: Band | str = "ci",
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> Banded:
    """Return centre and band across the runs that support each step.

    With mean, deviation ``s`` and number ``n`` of runs: ``ci`` is mean ± t s / √n at each step by itself,
    ``simultaneous`` the same for the whole curve at once, ``se`` mean ± s / √n, ``sd`` mean ± s, ``range``
    the smallest and largest run, ``iqr`` the median with quartiles (Hyndman and Fan 1996, type 7). With one
    run, or if all are equal, the band is NaN, never of zero width. With ``ends``, the smallest and largest
    possible value, the first two are made on a scale that stays inside (``bounded.move_ends``), and ``se``
    and ``sd`` are cut there. ``values`` has shape (R, S), NaN if a run does not support a step. Raises a
    ValueError if there is no such band, or ``level`` is not between 0 and 1.
    """
    if str(kind) not in _BANDS:
        raise ValueError(f"there is no band {kind!r}; there are {', '.join(_BANDS)}")
    check_level(level)
    if str(kind) == "simultaneous":
        level = find_pointwise_level(values, level)
    n = np.count_nonzero(~np.isnan(values), axis=0).astype(np.int64)
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
    input gives n, otherwise by the normal distribution; of a score between two ends by
    ``_find_score_ends``, and of values with ``bounds`` by ``bounded.move_ends``.
    """
    if given.stderr is None:
        none = np.full_like(values, np.nan)
        low, high = (none if end is None else end for end in (given.low, given.high))
    else:
        quantile = np.full_like(values, t_quantile((1 + level) / 2, math.inf))
        if given.n is not None:
            quantile = np.where(np.isfinite(given.n), _t_quantile(given.n, level), quantile)
        half = quantile * given.stderr
        low, high = move_ends(values, half, half, bounds or (-math.inf, math.inf))
        if given.low is not None and given.high is not None and given.n is not None:
            low, high = _find_score_ends(values, half, given.n, (given.low, given.high), level)
    known = np.isfinite(low) & np.isfinite(high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _find_score_ends(
    values: FloatArray, half: FloatArray, n: FloatArray, ends: tuple[FloatArray, FloatArray], level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of each mean score over n problems, which ``ends`` bound.

    It is made on the logit scale (``bounded.move_share``), as in ``intervals.estimate_over_problems``, which
    has the problems and corrects one end by them. Without a spread it is ``intervals.make_unseen_interval``:
    n problems of one score leave a share of 1 - ((1 - level)/2)^(1/n) unseen.
    """
    width = ends[1] - ends[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        share, step = (values - ends[0]) / width, half / width
        low, high = (ends[0] + width * move_share(share, by) for by in (-step, step))
        unseen = 1 - ((1 - level) / 2) ** (1 / n)
    equal = ~(half > 0) & np.isfinite(n)
    low = np.where(equal, values - unseen * (values - ends[0]), low)
    return low, np.where(equal, values + unseen * (ends[1] - values), high)


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
