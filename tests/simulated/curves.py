"""Curves with a known truth: how often bands and peaks cover it, and how often equals have a leader.

The noise is not what the estimator assumes: besides independent and autoregressive readings there are runs
with offsets of their own, noise that falls tenfold along the run, random walks, skewed readings, seeds that
fail, and accuracies of a few problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.model import ReducedMetric, Run
from reportgen.statistics.curves.mean_curves import compute_curves
from reportgen.statistics.verdicts import find_leads_at_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import CurveSet, FloatArray

_PROBLEMS = 30
SHAPES = ("flat", "rise", "hump", "peak", "power law", "two humps")
"""Mean curves: no best step, a plateau of best ones, a broad best, a clear one, the last one, two alike."""


class Coverage(NamedTuple):
    """Shares of simulated curves, and how far a peak's interval reaches.

    Attributes:
        band: the whole mean curve lies in the simultaneous band, where there is a band.
        picked: the interval of a peak holds the true mean at the picked step.
        highest: it holds the true maximum.
        plain: the interval of the picked step by itself holds the true mean there.
        unknown: the peak has no interval, since all runs are equal there.
    """

    band: float
    picked: float
    highest: float
    plain: float
    unknown: float


def shape(name: str, steps: int) -> FloatArray:
    """A mean curve, in standard deviations of the noise of a reading."""
    x = np.linspace(0, 1, steps)
    made: FloatArray = {
        "flat": np.zeros(steps),
        "rise": 3 * np.minimum(1, 2 * x),
        "hump": -6 * (x - 0.6) ** 2,
        "peak": -40 * (x - 0.6) ** 2,
        "power law": 3 * (1 - (1 + 30 * x) ** -0.7),
        "two humps": np.sin(3 * np.pi * x) ** 2 * (1 + 0.1 * x),
    }[name]
    return made


def autoregressive(rng: np.random.Generator, size: tuple[int, int], likeness: float) -> FloatArray:
    """Noise with variance 1 whose neighbours on the last axis correlate by ``likeness``."""
    noise: FloatArray = rng.normal(size=size)
    for step in range(1, size[1]):
        noise[:, step] = likeness * noise[:, step - 1] + np.sqrt(1 - likeness**2) * noise[:, step]
    return noise


def _of_two(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    """Noise that waves: of the second order, 1.2 of the reading before less 0.4 of the one before that."""
    fresh = rng.normal(size=(size[0], size[1] + 50))
    made = np.zeros_like(fresh)
    for step in range(2, fresh.shape[1]):
        made[:, step] = 1.2 * made[:, step - 1] - 0.4 * made[:, step - 2] + fresh[:, step]
    variance = 1.4 / (0.6 * (1.4**2 - 1.2**2))
    waved: FloatArray = made[:, 50:] / np.sqrt(variance)
    return waved


def _clustered(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    """GARCH(1, 1): a large deviate makes the next ones large."""
    made = rng.normal(size=size)
    variance = np.ones(size[0])
    for step in range(size[1]):
        made[:, step] *= np.sqrt(variance)
        variance = 0.1 + 0.2 * made[:, step] ** 2 + 0.7 * variance
    return made


def _slopes(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    slope = np.linspace(-1, 1, size[1]) * rng.normal(size=(size[0], 1))
    made: FloatArray = np.sqrt(0.75) * (slope + rng.normal(size=size))
    return made


def _walk(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    made: FloatArray = rng.normal(size=size).cumsum(axis=1) / np.sqrt(size[1])
    return made


def _offsets(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    made: FloatArray = np.sqrt(0.5) * (rng.normal(size=(size[0], 1)) + autoregressive(rng, size, 0.5))
    return made


def _skewed(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    spread = 0.5
    made = np.exp(spread * autoregressive(rng, size, 0.5))
    mean, variance = np.exp(spread**2 / 2), (np.exp(spread**2) - 1) * np.exp(spread**2)
    skewed: FloatArray = (mean - made) / np.sqrt(variance)
    return skewed


def _failing(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    failed = rng.random((size[0], 1)) < 0.1
    return autoregressive(rng, size, 0.5) - 4 * (failed - 0.1)


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "white": lambda rng, size: rng.normal(size=size),
    "AR(.5)": lambda rng, size: autoregressive(rng, size, 0.5),
    "AR(.9)": lambda rng, size: autoregressive(rng, size, 0.9),
    "run offsets": _offsets,
    "falls tenfold": lambda rng, size: autoregressive(rng, size, 0.5) * np.geomspace(1, 0.1, size[1]),
    "random walks": _walk,
    "skewed": _skewed,
    "failing seeds": _failing,
}
"""Noise of mean 0 by its name, of shape (runs, steps)."""

OTHERS: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "uniform": lambda rng, size: rng.uniform(-(3**0.5), 3**0.5, size),
    "Laplace": lambda rng, size: rng.laplace(0, 0.5**0.5, size),
    "AR(2)": _of_two,
    "GARCH": _clustered,
    "slopes of runs": _slopes,
    "largest midway": lambda rng, size: rng.normal(size=size) * np.hanning(size[1] + 2)[1:-1],
    "lognormal seeds": lambda rng, size: (
        autoregressive(rng, size, 0.5) + 1.6 * (np.exp(0.18) - np.exp(rng.normal(0, 0.6, (size[0], 1))))
    ),
    "one of twenty fails": lambda rng, size: (
        rng.normal(size=size) - 4 * ((rng.random((size[0], 1)) < 0.05) - 0.05)
    ),
}
"""Laws unlike those, for simulations with other generators."""


def readings(
    rng: np.random.Generator, noise: str, mean: FloatArray, runs: int
) -> tuple[FloatArray, FloatArray]:
    """Runs around a mean curve, shape (runs, steps), and the mean that they truly have.

    ``accuracies`` are shares of 30 problems, around a curve from 0.5 to 0.95.
    """
    if noise != "accuracies":
        return mean + (NOISES | OTHERS)[noise](rng, (runs, mean.size)), mean
    spread = np.ptp(mean) or 1.0
    chance = 0.5 + 0.45 * (mean - mean.min()) / spread
    return rng.binomial(_PROBLEMS, chance, size=(runs, mean.size)) / _PROBLEMS, chance


def drawn(*series: FloatArray, band: str = "ci", peak: str = "none") -> CurveSet:
    """The curves of series, each of shape (runs, steps), as a report has them."""
    runs = tuple(
        Run(f"series {place}", f"run {run}", None, np.arange(float(one.size)), one)
        for place, values in enumerate(series)
        for run, one in enumerate(values)
    )
    return compute_curves(ReducedMetric("score", runs, 0, 0, None, None), band=band, peak=peak)


def coverage(noise: str, mean: str, runs: int, steps: int, *, draws: int, seed: int = 0) -> Coverage:
    """How often the band and the interval of a peak hold the truth."""
    rng = np.random.default_rng([seed, runs, steps])
    found = np.array([_covered(*readings(rng, noise, shape(mean, steps), runs)) for _ in range(draws)])
    known = ~np.isnan(found[:, 1])
    picked, highest, plain = found[known, 1:].mean(axis=0).tolist() if known.any() else [np.nan] * 3
    return Coverage(float(found[:, 0].mean()), picked, highest, plain, float(1 - known.mean()))


def _covered(values: FloatArray, mean: FloatArray) -> tuple[float, float, float, float]:
    (curve,) = drawn(values, band="simultaneous", peak="simultaneous").curves
    known = np.isfinite(curve.low)
    whole = bool(np.all((curve.low <= mean) & (mean <= curve.high) | ~known))
    if curve.extremes is None:
        return whole, np.nan, np.nan, np.nan
    place, best = int(np.argmax(curve.values)), curve.extremes[0]
    low, high = best.low or 0.0, best.high or 0.0
    (plain,) = drawn(values[:, [place]]).curves
    return (
        whole,
        low <= mean[place] <= high,
        low <= mean.max() <= high,
        bool(plain.low[0] <= mean[place] <= plain.high[0]),
    )


def leaders_among_equals(
    noise: str, series: int, runs: int, *, draws: int, seed: int = 0, mean: str = "rise"
) -> float:
    """How often one of several equal series is said to lead at the end, above or below all others."""
    rng = np.random.default_rng([seed, series, runs])
    named = 0
    for _ in range(draws):
        made = [readings(rng, noise, shape(mean, 8), runs)[0] for _ in range(series)]
        named += any(lead.series for lead in find_leads_at_end(drawn(*made).curves, 0.95))
    return named / draws


def leaders_ahead(series: int, runs: int, ahead: float, tied: int, *, draws: int, seed: int = 0) -> float:
    """How often one series is said to lead, if ``tied`` of them are ahead by so many standard deviations."""
    rng = np.random.default_rng([seed, series, runs, tied])
    named = 0
    for _ in range(draws):
        made = [rng.normal((place < tied) * ahead, 1, (runs, 2)) for place in range(series)]
        above, _ = find_leads_at_end(drawn(*made).curves, 0.95)
        named += above.series is not None if tied > 1 else above.series == "series 0"
    return named / draws


def bands_without_width(runs: int, *, draws: int, seed: int = 0) -> tuple[float, float]:
    """Of accuracies: the share of steps at which all runs are equal, and of those that have a band there."""
    rng = np.random.default_rng([seed, runs])
    equal = banded = 0
    for _ in range(draws):
        (curve,) = drawn(readings(rng, "accuracies", shape("rise", 40), runs)[0]).curves
        equal += curve.equal
        banded += int(np.count_nonzero(curve.high - curve.low == 0))
    return equal / (40 * draws), banded / (40 * draws)
