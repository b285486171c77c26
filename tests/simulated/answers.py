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
    from collections.abc import Sequence

    from reportgen.core.comparisons import Comparison, ProblemScores
    from reportgen.core.model import FloatArray

Generator = np.random.Generator


def _logit(share: FloatArray) -> FloatArray:
    clipped: FloatArray = np.clip(share, 1e-3, 1 - 1e-3)
    return np.log(clipped / (1 - clipped))


def draw_difficulties(law: str, problems: int, rng: Generator) -> FloatArray:
    """Logits of a right answer by a model of ability 0, shape (problems,)."""
    if law == "normal":
        return rng.normal(0, 1.5, problems)
    if law == "wide":
        return rng.normal(0, 2.5, problems)
    if law == "easy":
        return rng.normal(1.5, 1.5, problems)
    if law == "two heaps":
        return np.where(rng.random(problems) < 0.5, -2.5, 2.0) + rng.normal(0, 0.5, problems)
    if law == "uniform":
        return _logit(rng.uniform(0.05, 0.95, problems))
    return _logit(rng.beta(0.6, 0.4, problems))


def draw_runs(shape: str, size: tuple[int, int], rng: Generator) -> FloatArray:
    """Shifts of runs of mean 0 and deviation about 1: normal, skewed, heavy-tailed, or a few that fail."""
    if shape == "skewed":
        return rng.exponential(1.0, size) - 1
    if shape == "heavy":
        return rng.standard_t(4, size) / 2**0.5
    if shape == "failing":
        return np.where(rng.random(size) < 0.15, -2.0, 0.35)
    return rng.normal(0, 1, size)


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

    def draw(self, rng: Generator, abilities: Sequence[float] | None = None) -> ProblemScores:
        """Answers, 1 or 0; models of equal ability unless abilities are given."""
        ability = np.zeros(self.models) if abilities is None else np.array(abilities)
        difficulty = draw_difficulties(self.law, self.problems, rng)
        taste = rng.normal(0, self.taste, (self.models, self.problems)) if self.taste else 0.0
        base = difficulty + ability[:, None] + taste
        shift = self.tau * draw_runs(self.shape, (self.models, self.runs), rng)
        own = rng.normal(0, 0.3, (self.models, self.runs, self.problems)) if self.runs > 1 else 0.0
        logits = base[:, None, :] + shift[:, :, None] + own
        right = rng.random((*logits.shape, self.samples)) < (1 / (1 + np.exp(-logits)))[..., None]
        values = right.astype(np.float64)
        alone = matrix(
            values.reshape(-1, self.problems, self.samples), series=["run"] * values[:, :, 0, 0].size
        )
        return replace(
            alone,
            series=tuple(f"m{place:02}" for place in range(self.models)),
            runs=tuple(
                RunOfSeries(place // self.runs, str(place % self.runs), None)
                for place in range(len(alone.runs))
            ),
            binary=(True,) * self.models,
        )


def count_called(found: Sequence[Comparison]) -> int:
    """How many pairs have a verdict for one side."""
    return sum(one.verdict in {Verdict.BETTER, Verdict.WORSE} for one in found)
