"""Student's t and the normal distribution without SciPy, intervals inside a range, draws, and exact means."""

from __future__ import annotations

import hashlib
import math
import sys
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray

_SMALLEST = 1e-300
_TERMS = 10_000


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Return the value that a t variable with ``df`` degrees of freedom is below with this probability.

    By Newton's method inside a bracket; accurate to 11 digits up to 1000 degrees of freedom and to 8 up to a
    million, rounded to 12, so that machines agree. Infinite ``df`` is the normal distribution. Raises a
    ValueError for arguments out of range.
    """
    if not (0 < probability < 1 and df > 0):
        raise ValueError(
            f"no quantile of Student's t at probability {probability} with {df} degrees of freedom"
        )
    if probability < 0.5:  # noqa: PLR2004 - the distribution is symmetric about its median
        return -t_quantile(1 - probability, df)
    tail = 1 - probability
    if math.isinf(df) or tail == 0.5:  # noqa: PLR2004 - as above
        return NormalDist().inv_cdf(probability)
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        low, high = high, 2 * high
    value = (low + high) / 2
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    while True:
        excess = t_tail(value, df) - tail
        low, high = (value, high) if excess > 0 else (low, value)
        density = math.exp(scale - (df + 1) / 2 * math.log1p(value * value / df))
        # Far out, with few degrees of freedom, the density may vanish: then the bracket is halved.
        following = value + excess / density if density else math.inf
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - value) <= 4 * math.ulp(value):
            return float(f"{following:.12g}")
        value = following


def t_tail(value: float, df: float) -> float:
    """Return the probability that a t variable with ``df`` degrees of freedom exceeds ``value``, 0 or more.

    Half the regularized incomplete beta function I(df/(df + t²); df/2, 1/2) (Abramowitz and Stegun 26.7.1),
    by DLMF 8.17.22 on the side where that converges.
    """
    square = value * value
    x, rest, a, b = df / (df + square), square / (df + square), df / 2, 0.5
    if x <= 0 or rest <= 0:
        return float(rest <= 0) / 2
    front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    if x > (a + 1) / (a + b + 2):
        return (1 - math.exp(front) * _fraction(rest, b, a) / b) / 2
    return math.exp(front) * _fraction(x, a, b) / a / 2


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction by Lentz's method (Numerical Recipes, 6.4)."""
    value, c, d = 1.0, math.inf, 1.0
    for step in range(1, _TERMS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or _SMALLEST)
        c = 1 + term / c or _SMALLEST
        value *= c * d
        if abs(c * d - 1) < 1e-15:  # noqa: PLR2004 - the last places
            break
    return value


def compute_t_p(difference: float, stderr: float, df: float) -> float:
    """Return the two-sided p of a difference; one too small for a float is still above 0."""
    return max(2 * t_tail(abs(difference) / stderr, df), sys.float_info.min)


def find_t_ends(
    centre: float,
    stderr: float,
    df: float,
    level: float,
    ends: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Return both ends of Student's interval, cut at ``ends``."""
    half = t_quantile((1 + level) / 2, df) * stderr
    return max(centre - half, ends[0]), min(centre + half, ends[1])


def mean(values: FloatArray) -> float:
    """Return the mean, its sum rounded once, so that the order of values is irrelevant."""
    return math.fsum(values) / values.size


def deviation(values: FloatArray) -> float:
    """Return the standard deviation (ddof = 1), its sum rounded once."""
    return math.sqrt(math.fsum((values - mean(values)) ** 2) / (values.size - 1))


def find_scale(values: FloatArray) -> float:
    """Return a power of 2 near the largest value: divided by it, squares neither overflow nor underflow."""
    largest = float(np.abs(values).max())
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def normal_quantile(level: float) -> float:
    """Return the quantile of a standard normal variable's absolute value at ``level``."""
    return NormalDist().inv_cdf((1 + level) / 2)


def check_level(level: float) -> float:
    """Return ``level``; raise a ValueError unless it is between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    return level


# e^709 is the largest power of e that a float64 holds.
_LARGEST_EXPONENT = 700.0


def move_ends(
    centre: FloatArray,
    below: FloatArray,
    above: FloatArray,
    ends: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """Return the mean moved down by ``below`` and up by ``above``, on a scale that keeps it inside ``ends``.

    With one end and u the distance of the mean from it, log u moves by h/u, the delta method's step for a
    step of h: u exp(±h/u) (Meeker and Escobar 1998, *Statistical Methods for Reliability Data*, chapter 7).
    With both and u the share of the range, it is logit(u) ± h/(u (1 - u)) (Korn and Graubard 1998), as in
    ``intervals.estimate_over_problems``. Without ends it is the mean ± h. NaN where the mean is at an end.
    """
    low, high = ends
    if math.isinf(low) and math.isinf(high):
        return centre - below, centre + above
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if math.isinf(high):
            moved = _move_log(centre - low, -below), _move_log(centre - low, above)
            return low + moved[0], low + moved[1]
        if math.isinf(low):
            moved = _move_log(high - centre, below), _move_log(high - centre, -above)
            return high - moved[0], high - moved[1]
        share, width = (centre - low) / (high - low), high - low
        moved = move_share(share, -below / width), move_share(share, above / width)
        return low + width * moved[0], low + width * moved[1]


def move_share(share: FloatArray, step: FloatArray) -> FloatArray:
    """Return the share after its logit has moved by step / (share (1 - share)); NaN for a share of 0 or 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.exp(np.minimum(abs(step) / (share * (1 - share)), _LARGEST_EXPONENT))
        down, up = share / (share + (1 - share) * factor), share * factor / (share * factor + 1 - share)
    moved = np.where(step < 0, down, up)
    return np.where((share > 0) & (share < 1), moved, np.nan)


def cut_ends(
    low: FloatArray, high: FloatArray, ends: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of a band, cut at the smallest and the largest possible value."""
    return (low, high) if ends is None else (np.maximum(low, ends[0]), np.minimum(high, ends[1]))


def _move_log(distance: FloatArray, step: FloatArray) -> FloatArray:
    exponent = np.clip(step / distance, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    return np.where(distance > 0, distance * np.exp(exponent), np.nan)


# A draw of 16 bits picks one of this many quantiles.
_QUANTILES = 1 << 16


def draw_t(name: str, df: int, count: int, seed: int) -> FloatArray:
    """Draw ``count`` values of Student's t from a hash of seed and name, made of 65,536 normal quantiles."""
    text = f"{seed}\0{name}".encode("utf-8", "surrogatepass")
    places = np.frombuffer(hashlib.shake_256(text).digest(2 * (df + 1) * count), dtype="<u2")
    normals = _normal_quantiles()[places.reshape(df + 1, count)]
    drawn: FloatArray = normals[0] / np.sqrt((normals[1:] ** 2).mean(axis=0))
    return drawn


@cache
def _normal_quantiles() -> FloatArray:
    """Return normal quantiles, rounded to be the same on every machine."""
    half = [NormalDist().inv_cdf(0.5 + (place + 0.5) / _QUANTILES) for place in range(_QUANTILES // 2)]
    upper = np.round(np.array(half), 9)
    return np.concatenate([-upper[::-1], upper])
