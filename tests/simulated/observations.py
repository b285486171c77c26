"""Blocks of observations on simulated curves: noise laws, planted effects, and how often a block says what.

Noise has a standard deviation of 1 for a single reading of a single run, whatever its law; a random walk,
whose spread grows, has steps of 1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from reportgen.claims.observations.choosing import observe_curves
from reportgen.core.model import Curve, CurveSet, Run
from reportgen.core.statements import Scale
from reportgen.statistics.curves.bands import compute_band

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation

Law: TypeAlias = "Callable[[np.random.Generator, int, int], FloatArray]"
"""Noise of so many runs at so many steps, shape (runs, n)."""

SCALE = Scale("score")
INFERRED = {"crossover", "lead", "decline", "rise", "plateau"}
"""Rules of inferences, but for ``level``, which claims nothing."""


# ---- noise ------------------------------------------------------------------------------------------


def white(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Independent normal deviates."""
    return rng.standard_normal((runs, n))


def autoregressive(strength: float) -> Law:
    """Normal deviates of which neighbours have this correlation."""

    def made(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
        noise = rng.standard_normal((runs, n))
        for at in range(1, n):
            noise[:, at] = strength * noise[:, at - 1] + np.sqrt(1 - strength**2) * noise[:, at]
        return noise

    return made


def moving_average(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Means of four neighbouring deviates."""
    fresh = rng.standard_normal((runs, n + 3))
    made: FloatArray = sum((fresh[:, at : at + n] for at in range(4)), start=np.zeros((runs, n))) / 2
    return made


def falling(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """White noise whose standard deviation falls tenfold along the run."""
    noise: FloatArray = rng.standard_normal((runs, n)) * 10 ** -np.linspace(0, 1, n)
    return noise


def growing(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """White noise whose standard deviation grows fivefold along the run."""
    noise: FloatArray = rng.standard_normal((runs, n)) * 5 ** (np.linspace(0, 1, n) - 1)
    return noise


def heavy_tailed(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Student's t with three degrees of freedom."""
    noise: FloatArray = rng.standard_t(3, (runs, n)) / np.sqrt(3)
    return noise


def skewed(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Exponential deviates."""
    return rng.standard_exponential((runs, n)) - 1


def problems(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Accuracies of 30 problems of one difficulty, in standard deviations of one."""
    noise: FloatArray = (rng.binomial(30, 0.4, (runs, n)) / 30 - 0.4) / np.sqrt(0.24 / 30)
    return noise


def walk(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Random walks, each run its own."""
    return np.cumsum(rng.standard_normal((runs, n)), axis=1)


def unsteady_walk(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Random walks, each run its own, read with an error of three steps' size."""
    return walk(rng, runs, n) + 3 * rng.standard_normal((runs, n))


def offset(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """White noise of runs that lie apart all along."""
    noise: FloatArray = (rng.standard_normal((runs, n)) + rng.standard_normal((runs, 1))) / np.sqrt(2)
    return noise


LAWS: dict[str, Law] = {
    "white": white,
    "AR(.5)": autoregressive(0.5),
    "AR(.9)": autoregressive(0.9),
    "sd falls tenfold": falling,
    "30 problems": problems,
}
CHANGED: dict[str, Law] = {
    "AR(.7)": autoregressive(0.7),
    "AR(.95)": autoregressive(0.95),
    "MA(3)": moving_average,
    "t(3)": heavy_tailed,
    "exponential": skewed,
    "sd grows fivefold": growing,
}
WALKS: dict[str, Law] = {"random walk": walk}
CHANGED_WALKS: dict[str, Law] = {"walk with errors": unsteady_walk, "offset runs": offset}


# ---- other noise, unlike what the tests of a block were calibrated with ---------------------------------


def _waves(first: float, second: float) -> Law:
    """Noise of the second order, by its two coefficients."""

    def made(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
        fresh = rng.standard_normal((runs, n + 100))
        noise = np.zeros_like(fresh)
        for at in range(2, n + 100):
            noise[:, at] = first * noise[:, at - 1] + second * noise[:, at - 2] + fresh[:, at]
        variance = (1 - second) / ((1 + second) * ((1 - second) ** 2 - first**2))
        waved: FloatArray = noise[:, 100:] / np.sqrt(variance)
        return waved

    return made


def _wander(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """A slow wander that is read with errors of its size: ARMA(1, 1)."""
    noise: FloatArray = (autoregressive(0.9)(rng, runs, n) + white(rng, runs, n)) / np.sqrt(2)
    return noise


def _long_average(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Means of eight neighbouring deviates."""
    fresh = rng.standard_normal((runs, n + 7))
    made: FloatArray = sum((fresh[:, at : at + n] for at in range(8)), start=np.zeros((runs, n))) / 8**0.5
    return made


def _clustered(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """GARCH(1, 1): a large deviate makes the next ones large."""
    noise, variance = rng.standard_normal((runs, n)), np.ones(runs)
    for at in range(n):
        noise[:, at] *= np.sqrt(variance)
        variance = 0.1 + 0.2 * noise[:, at] ** 2 + 0.7 * variance
    return noise


def laplace(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Two-sided exponential deviates."""
    return rng.laplace(0, 0.5**0.5, (runs, n))


def _lognormal(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Now and then far below the others."""
    noise: FloatArray = (np.exp(0.125) - np.exp(0.5 * rng.standard_normal((runs, n)))) / 0.604
    return noise


def _midway(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """White noise that is five times as large midway as at the ends."""
    noise: FloatArray = rng.standard_normal((runs, n)) * (0.2 + 0.8 * np.hanning(n))
    return noise


def _near_the_top(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Accuracies of 50 problems of which nine in ten are solved, in standard deviations of one."""
    noise: FloatArray = (rng.binomial(50, 0.9, (runs, n)) / 50 - 0.9) / np.sqrt(0.09 / 50)
    return noise


def _heavy_walk(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """Random walks with steps of Student's t with four degrees of freedom, each run its own."""
    return np.cumsum(rng.standard_t(4, (runs, n)) / 2**0.5, axis=1)


def _slopes(rng: np.random.Generator, runs: int, n: int) -> FloatArray:
    """White noise of runs that rise or fall, each at a rate of its own."""
    slope = np.linspace(-1.5, 1.5, n) * rng.standard_normal((runs, 1))
    noise: FloatArray = rng.standard_normal((runs, n)) + slope
    return noise


OTHERS: dict[str, Law] = {
    "AR(2), long": _waves(0.5, 0.3),
    "AR(2), waves": _waves(1.2, -0.4),
    "ARMA(1, 1)": _wander,
    "MA(8)": _long_average,
    "GARCH": _clustered,
    "Laplace": laplace,
    "lognormal": _lognormal,
    "sd largest midway": _midway,
    "50 problems, 90%": _near_the_top,
}
OTHER_WALKS: dict[str, Law] = {"heavy-tailed walk": _heavy_walk, "slopes of runs": _slopes}
EVERY_LAW = LAWS | CHANGED | WALKS | CHANGED_WALKS | OTHERS | OTHER_WALKS


# ---- planted effects ----------------------------------------------------------------------------------


class Planted(NamedTuple):
    """Something planted in the first of two series: its course, and the rule that has to tell of it."""

    rule: str
    truth: Callable[[FloatArray, float], FloatArray]
    says: str


def _ramp(share: FloatArray, start: float, width: float) -> FloatArray:
    return np.clip((share - start) / width, 0, 1)


EFFECT = 4.0
"""In standard deviations of a reading."""
PLANTED: dict[str, Planted] = {
    "rise": Planted("rise", lambda x, u: EFFECT * _ramp(x, 0.1 + 0.4 * u, 0.2), "A rises"),
    "collapse": Planted(
        "decline", lambda x, u: EFFECT * ((x > 0.2) - _ramp(x, 0.7 + 0.1 * u, 0.1)), "A ends"
    ),
    "plateau": Planted("plateau", lambda x, u: EFFECT * _ramp(x, 0.1 + 0.2 * u, 0.2), "No change of A"),
    "lead": Planted("lead", lambda x, u: EFFECT + 0 * x + 0 * u, "A is ahead of B"),
    "crossover": Planted(
        "crossover",
        lambda x, u: EFFECT - 2 * EFFECT * _ramp(x, 0.25 + 0.3 * u, 0.2),
        "A is ahead of B .*B is ahead of A",
    ),
    "lead at one step": Planted("lead", lambda x, u: EFFECT * _at_one_step(x, u), "A is ahead of B at step"),
}


def _at_one_step(share: FloatArray, place: float) -> FloatArray:
    alone: FloatArray = (np.arange(share.size) == int(place * share.size)).astype(np.float64)
    return alone


# ---- blocks -------------------------------------------------------------------------------------------


def curve(series: str, runs: FloatArray, level: float = 10.0) -> Curve:
    """Runs of shape (runs, n) as the curve that a report makes of them."""
    steps = np.arange(runs.shape[1], dtype=np.float64)
    values = level + runs
    each = tuple(Run(series, str(at), str(at), steps, one) for at, one in enumerate(values))
    if len(each) == 1:
        unknown = np.full(steps.size, np.nan)
        return Curve(series, steps, values[0], unknown, unknown, np.ones(steps.size, np.int64), each)
    across = compute_band(values)
    return Curve(series, steps, across.centre, across.low, across.high, across.n, each)


def block(*curves: Curve, scale: Scale = SCALE) -> tuple[Observation, ...]:
    """Everything that a block says of the curves of one figure."""
    made = CurveSet(
        "score", curves, "ci", 0.95, 0.0, exact=True, replaced=0, dropped=0, bins=None, given_interval=None
    )
    return observe_curves([(made, scale)])


def inferences(found: tuple[Observation, ...]) -> list[Observation]:
    """The sentences that claim more than what was read: a change, a fall or a lead."""
    return [one for one in found if one.rule in INFERRED]


def false_block(law: Law, n: int, runs: int, seed: int) -> list[Observation]:
    """What a block of two series infers from nothing but noise."""
    rng = np.random.default_rng([seed, n, runs])
    return inferences(block(*(curve(name, law(rng, runs, n)) for name in "AB")))


def found_in_block(planted: Planted, law: Law, n: int, runs: int, seed: int) -> bool:
    """Whether a block of two series, one with something planted in it, tells of it."""
    rng = np.random.default_rng([seed, n, runs, 1])
    truth = planted.truth(np.linspace(0, 1, n), float(rng.uniform()))
    pair = curve("A", truth + law(rng, runs, n)), curve("B", law(rng, runs, n))
    return any(
        one.rule == planted.rule and re.search(planted.says, one.text) for one in inferences(block(*pair))
    )
