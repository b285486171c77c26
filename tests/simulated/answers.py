"""Answers of made-up models: many laws of difficulty, tastes of models, and seeds that differ or fail.

None of the laws is one that an estimator assumes. Problems have a difficulty in logits, a model an ability, a
taste (how it differs from others on a problem beside its ability), a run a shift of its own and a taste of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix
from msgspec.structs import replace

from reportgen.core.comparisons import RunOfSeries, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.comparisons import Comparison, ProblemScores
    from reportgen.core.model import FloatArray

Generator = np.random.Generator


def _logit(share: FloatArray) -> FloatArray:
    clipped: FloatArray = np.clip(share, 1e-3, 1 - 1e-3)
    return np.log(clipped / (1 - clipped))


DIFFICULTIES: dict[str, Callable[[Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(0, 1.5, n),
    "wide": lambda rng, n: rng.normal(0, 2.5, n),
    "easy": lambda rng, n: rng.normal(1.5, 1.5, n),
    "two heaps": lambda rng, n: np.where(rng.random(n) < 0.5, -2.5, 2.0) + rng.normal(0, 0.5, n),
    "uniform": lambda rng, n: _logit(rng.uniform(0.05, 0.95, n)),
    "beta": lambda rng, n: _logit(rng.beta(0.6, 0.4, n)),
    "t(3)": lambda rng, n: 1.2 * rng.standard_t(3, n),
    "Laplace": lambda rng, n: rng.laplace(0.5, 1.2, n),
    "Gumbel": lambda rng, n: rng.gumbel(-1.0, 1.3, n),
    "three heaps": lambda rng, n: rng.choice([-3.0, 0.0, 3.0], n, p=[0.3, 0.4, 0.3]) + rng.uniform(-1, 1, n),
    "mostly hard": lambda rng, n: _logit(rng.beta(0.4, 1.2, n)),
    "triangular": lambda rng, n: rng.triangular(-4, 2, 4, n),
}
"""Laws of the logits of a right answer by a model of ability 0, shape (problems,)."""

TASTES: dict[str, Callable[[Generator, tuple[int, ...]], FloatArray]] = {
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "Laplace": lambda rng, size: rng.laplace(0, 0.5**0.5, size),
    "skewed": lambda rng, size: 1 - rng.standard_exponential(size),
}
"""Laws of tastes, of mean 0 and deviation 1."""

SHIFTS: dict[str, Callable[[Generator, tuple[int, int]], FloatArray]] = {
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "skewed": lambda rng, size: rng.exponential(1.0, size) - 1,
    "heavy": lambda rng, size: rng.standard_t(4, size) / 2**0.5,
    "failing": lambda rng, size: np.where(rng.random(size) < 0.15, -2.0, 0.35),
    "uniform": lambda rng, size: rng.uniform(-(3**0.5), 3**0.5, size),
    "two camps": lambda rng, size: rng.choice([-1.0, 1.0], size) + rng.normal(0, 0.2, size),
    "lognormal": lambda rng, size: (np.exp(0.25) - np.exp(rng.normal(0, 0.5**0.5, size))) / 1.035,
    "one of twelve fails": lambda rng, size: (
        np.where(rng.random(size) < 1 / 12, -2.5, 0.23) + rng.normal(0, 0.5, size)
    ),
}
"""Laws of shifts of runs of mean 0 and deviation about 1; a few fail, or fall into two camps."""


@dataclass(frozen=True, slots=True)
class Field:
    """Models on one benchmark; ``tau`` and ``taste`` are in logits."""

    models: int = 2
    problems: int = 30
    samples: int = 4
    runs: int = 1
    tau: float = 0.0
    taste: float = 0.5
    law: str = "normal"
    shape: str = "normal"
    tastes: str = "normal"

    def draw(self, rng: Generator, abilities: Sequence[float] | None = None) -> ProblemScores:
        """Answers, 1 or 0; models of equal ability unless abilities are given."""
        ability = np.zeros(self.models) if abilities is None else np.array(abilities)
        difficulty = DIFFICULTIES[self.law](rng, self.problems)
        liked = (self.models, self.problems)
        taste = self.taste * TASTES[self.tastes](rng, liked) if self.taste else 0.0
        base = difficulty + ability[:, None] + taste
        shift = self.tau * SHIFTS[self.shape](rng, (self.models, self.runs))
        own = rng.normal(0, 0.3, (self.models, self.runs, self.problems)) if self.runs > 1 else 0.0
        logits = base[:, None, :] + shift[:, :, None] + own
        return answer(rng, logits, self.samples)


def answer(rng: Generator, logits: FloatArray, samples: int) -> ProblemScores:
    """Answers, 1 or 0, of models with runs; ``logits`` are of shape (models, runs, problems)."""
    models, runs, problems = logits.shape
    right = rng.random((*logits.shape, samples)) < (1 / (1 + np.exp(-logits)))[..., None]
    alone = matrix(right.astype(np.float64).reshape(-1, problems, samples), series=["run"] * (models * runs))
    return replace(
        alone,
        series=tuple(f"m{place:02}" for place in range(models)),
        runs=tuple(RunOfSeries(place // runs, str(place % runs), None) for place in range(models * runs)),
        binary=(True,) * models,
    )


def count_called(found: Sequence[Comparison]) -> int:
    """How many pairs have a verdict for one side."""
    return sum(one.verdict in {Verdict.BETTER, Verdict.WORSE} for one in found)
