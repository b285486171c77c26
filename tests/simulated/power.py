"""How often a planted difference of two models is found, beside the power that such data state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from reportgen.core.comparisons import TARGET_POWER, Verdict
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power, find_half_step
from simulated.answers import DIFFICULTIES, SHIFTS, TASTES, Field

if TYPE_CHECKING:
    from reportgen.core.comparisons import Power, ProblemScores

_LARGEST_SHIFT, _MANY = 12.0, 100_000
# Data whose statements are averaged: with 3 runs they differ by a third of themselves.
_STATED, _STATED_IN_FAMILIES = 400, 150

ALONE = [
    Field(problems=30, samples=4),
    Field(problems=15, samples=4, taste=1.0, law="wide"),
    Field(problems=100, samples=1),
    Field(problems=30, samples=16, law="beta"),
    Field(problems=60, samples=2, law="two heaps", taste=1.0),
    Field(problems=30, samples=4, runs=3, tau=0.3),
    Field(problems=60, samples=2, runs=5, tau=0.3, law="beta"),
]
FAMILIES = [
    Field(models=6, problems=30, samples=4),
    Field(models=8, problems=15, samples=4, law="uniform", taste=1.0),
    Field(models=4, problems=30, samples=4, runs=3, tau=0.3),
]
OTHERS_ALONE = [
    Field(problems=30, samples=4, law="t(3)", tastes="Laplace"),
    Field(problems=15, samples=8, taste=0.8, law="triangular", tastes="skewed"),
    Field(problems=120, samples=1, law="Gumbel"),
    Field(problems=40, samples=4, law="three heaps", taste=1.0, tastes="Laplace"),
    Field(problems=60, samples=2, law="mostly hard"),
    Field(problems=30, samples=4, runs=3, tau=0.3, law="Laplace", shape="uniform"),
    Field(problems=60, samples=2, runs=5, tau=0.3, law="t(3)", shape="two camps"),
]
OTHER_FAMILIES = [
    Field(models=6, problems=40, samples=4, law="Laplace", tastes="skewed"),
    Field(models=8, problems=20, samples=4, law="triangular", taste=1.0, tastes="Laplace"),
    Field(models=4, problems=30, samples=4, runs=3, tau=0.3, law="Gumbel", shape="uniform"),
]


def measure_power(field: Field, times: int, rng: np.random.Generator) -> float:
    """The probability to find a difference as stated, less that which is simulated.

    All models are of one ability but two, which are half a difference above and below. The difference is the
    one that such data state to be found four times in five, in the family where there is one; the statement
    is averaged over data that have it.
    """
    shift = 0.0
    for _ in range(2):
        count = min(times, _STATED if field.models == 2 else _STATED_IN_FAMILIES)
        stated = [_power(_planted(field, shift, rng)) for _ in range(count)]
        shift = _shift(field, float(np.mean([_in_family(one) for one in stated])))
    return TARGET_POWER - _rate(field, shift, times, rng)


def _planted(field: Field, shift: float, rng: np.random.Generator) -> ProblemScores:
    return field.draw(rng, [shift / 2, -shift / 2, *[0.0] * (field.models - 2)])


def _power(made: ProblemScores) -> Power:
    return estimate_power(compare_all(made), find_half_step(made, "mean"))


def _in_family(power: Power) -> float:
    found = power.family_difference or power.difference
    assert found is not None
    return found


def _rate(field: Field, shift: float, times: int, rng: np.random.Generator) -> float:
    """How often the upper model gets the better verdict."""
    found = 0
    for _ in range(times):
        one = next(
            one for one in compare_all(_planted(field, shift, rng)) if (one.a, one.b) == ("m00", "m01")
        )
        found += one.verdict is Verdict.BETTER
    return found / times


def _shift(field: Field, difference: float) -> float:
    """How far apart two models are in logits whose expected scores differ so."""
    rng = np.random.default_rng(1)
    logits = DIFFICULTIES[field.law](rng, _MANY) + TASTES[field.tastes](rng, (_MANY,)) * field.taste
    if field.runs > 1:
        logits += rng.normal(0, 0.3, _MANY)
    logits += field.tau * SHIFTS[field.shape](rng, (_MANY, 1))[:, 0]

    def expected(shift: float) -> float:
        upper, lower = (1 / (1 + np.exp(-(logits + side * shift / 2))) for side in (1, -1))
        return float(np.mean(upper - lower)) - difference

    root: float = brentq(expected, 0.0, _LARGEST_SHIFT)
    return root
