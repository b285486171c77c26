"""Curves with something known planted in them, and noise of a known size: one run, or five with a band.

All is in units of the design's noise scale: the noise is made so large that the scale is about 1, for one run
twice the median change between readings, for five runs half of their 95 % band.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from reportgen.model import Curve, Run
from reportgen.observations.field import Field
from reportgen.statements import Scale
from reportgen.statistics.band import band

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.model import FloatArray

Kind: TypeAlias = Literal["one run", "five runs"]
KINDS: tuple[Kind, ...] = ("one run", "five runs")

EFFECT = 3.0
"""Planted effects are so many noise scales."""

RUNS = 5
STEP = 5.0
"""Distance of two steps."""

# Median |difference| of two normal deviates is 0.6745·√2 standard deviations, and the scale is twice that.
_ONE_RUN: float = 1 / (2 * 0.6745 * 2**0.5)
# Half a 95 % band of five runs is 2.776·s/√5, and the median of s is 0.916 standard deviations.
_OF_FIVE: float = 1 / (2.776 / 5**0.5 * 0.916)


def length(seed: int) -> int:
    """A number of steps from 30 to 400, evenly spread on a logarithmic scale over the seeds."""
    share = seed * 0.618034 % 1
    return int(np.rint(30 * np.exp(share * np.log(400 / 30))))


def correlated(
    truth: FloatArray, kind: Kind, rng: np.random.Generator, strength: float, *, series: str = "A"
) -> Curve:
    """A curve around the truth with autoregressive noise, as large as that of ``noisy``.

    Each reading's is ``strength`` times the last one's, and something new.
    """
    return noisy(truth, kind, _Alike(rng, strength), series=series)


class _Alike:
    """Normal deviates of which neighbours along the last axis have a correlation."""

    def __init__(self, rng: np.random.Generator, strength: float) -> None:
        self.rng, self.strength = rng, strength

    def standard_normal(self, shape: int | tuple[int, ...]) -> FloatArray:
        """Deviates of variance 1."""
        made: FloatArray = self.rng.standard_normal(shape)
        for at in range(1, made.shape[-1]):
            fresh = np.sqrt(1 - self.strength**2) * made[..., at]
            made[..., at] = self.strength * made[..., at - 1] + fresh
        return made


def noisy(
    truth: FloatArray,
    kind: Kind,
    rng: np.random.Generator | _Alike,
    *,
    series: str = "A",
    spread: FloatArray | float = 1.0,
) -> Curve:
    """A curve around the truth with white noise.

    Args:
        truth: shape (n,), in noise scales.
        kind: one run, or five of which the mean and its 95 % band are drawn.
        rng: where the noise comes from.
        series: its name.
        spread: how many times as large as usual the noise is, a number or shape (n,).
    """
    n = truth.size
    steps = STEP * np.arange(n, dtype=np.float64)
    sizes = np.broadcast_to(np.asarray(spread, dtype=np.float64), (n,))
    if kind == "one run":
        values: FloatArray = truth + _ONE_RUN * sizes * rng.standard_normal(n)
        unknown = np.full(n, np.nan)
        only = (Run(series, "1", "1", steps, values),)
        return Curve(series, steps, values, unknown, unknown, np.ones(n, np.int64), only)
    runs: FloatArray = truth + _OF_FIVE * sizes * rng.standard_normal((RUNS, n))
    across = band(runs)
    seeds = (str(seed + 1) for seed in range(RUNS))
    each = tuple(Run(series, seed, seed, steps, values) for seed, values in zip(seeds, runs, strict=True))
    return Curve(series, steps, across.centre, across.low, across.high, across.n, each)


def field(
    truths: Mapping[str, FloatArray],
    kind: Kind,
    rng: np.random.Generator,
    *,
    lower_is_better: bool = False,
    metric: str = "score",
) -> Field:
    """The curves of some series, around a level of 10, all with noise of the same size.

    With ``lower_is_better`` everything is turned around, so that what was good still is.
    """
    sign = -1.0 if lower_is_better else 1.0
    curves = tuple(noisy(10 + sign * truth, kind, rng, series=name) for name, truth in truths.items())
    return Field(curves, Scale(metric, higher_is_better=not lower_is_better), "ci")


def flat(n: int) -> FloatArray:
    """Nothing at all."""
    return np.zeros(n)


def risen(n: int, start: float, end: float, size: float = EFFECT) -> FloatArray:
    """A rise of this size between two shares of the steps, evenly, and level before and after."""
    return size * np.clip((_share(n) - start) / (end - start), 0, 1)


def dipped(n: int, middle: float, width: float = 0.2) -> FloatArray:
    """A dip with round shoulders; its whole width is a share of the steps."""
    apart = np.clip(np.abs(_share(n) - middle) / (width / 2), 0, 1)
    return -EFFECT * (1 + np.cos(np.pi * apart)) / 2


def _share(n: int) -> FloatArray:
    return np.linspace(0, 1, n)
