"""The best of many attempts: what luck alone would show, from the noise of attempts that were repeated."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from reportgen.core.model import Estimate
from reportgen.statistics.distributions import mean, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray

_FEWEST: Final = 2  # repetitions of which the winner has an interval of its own


class Search(Struct, frozen=True):
    """The gain of the best attempt over the first one, larger is better, and what luck would show.

    ``luck`` is what the best of as many attempts would gain at most, with the probability of the level, if
    none differed from the first; None if the noise is not known, like ``beyond_luck``. ``repeated`` is the
    gain of later repetitions of the best attempt, which did not choose it; then its interval decides.
    """

    compared: int  # attempts with a value besides the first; repetitions are none
    gain: float
    noise: float | None = None  # the standard deviation between repetitions
    df: int = 0
    luck: float | None = None
    repeated: Estimate | None = None
    beyond_luck: bool | None = None
    attempts: int = 0  # all of them, also those without a value
    best: float | None = None  # the value of the best one


def measure_search(attempts: Sequence[Sequence[float]], best: int, level: float = 0.95) -> Search:
    """Measure a search of at least one attempt, each with its values in order: its own and its repetitions.

    ``best`` is the place of the attempt that was chosen by its first value. It is compared with the mean of
    the first attempt. Noise is pooled over repetitions and taken to be normal and equal in all attempts.
    Without repetitions of the best one, the test is Dunnett's of many treatments against a control (1955);
    with them, Student's t, where the value that chose the attempt does not count.
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
    if len(fresh) < _FEWEST:
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
