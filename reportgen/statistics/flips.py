"""Problems that turned mostly right or mostly wrong between two series of answers, and their sign test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from reportgen.statistics.metrics import find_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import ProblemScores


class Answers(NamedTuple):
    """How many answers to a problem are right, of how many."""

    right: int
    total: int


class Flip(NamedTuple):
    """A problem whose answers are mostly right on one side and mostly wrong on the other."""

    problem: str
    before: Answers
    after: Answers

    @property
    def change(self) -> float:
        """By how much the share of right answers changed."""
        return self.after.right / self.after.total - self.before.right / self.before.total


def count_answers(scores: ProblemScores, series: str) -> list[Answers]:
    """Count the answers of a series to each problem, over all its runs."""
    rows = find_rows(scores, scores.series.index(series))
    right, total = (one[rows].sum(axis=0).tolist() for one in (scores.correct, scores.samples))
    return list(map(Answers, right, total))


def find_flips(problems: Sequence[str], before: Sequence[Answers], after: Sequence[Answers]) -> list[Flip]:
    """Find the flipped problems among those that both sides answered, the most certain first.

    These are the largest changes of the share of right answers, of equal ones those with more answers. A
    problem of which half of the answers are right is neither right nor wrong.
    """
    flipped = [
        Flip(problem, old, new)
        for problem, old, new in zip(problems, before, after, strict=True)
        if old.total and new.total and (2 * old.right - old.total) * (2 * new.right - new.total) < 0
    ]
    return sorted(
        flipped, key=lambda one: (-abs(one.change), -min(one.before.total, one.after.total), one.problem)
    )


def compute_sign_p(gained: int, lost: int) -> float | None:
    """Compute the exact two-sided p of a sign test: how unusual this split of the flips is by chance alone.

    Returns None if nothing flipped.
    """
    flipped = gained + lost
    if not flipped:
        return None
    tail = sum(math.comb(flipped, one) for one in range(min(gained, lost) + 1))
    p: float = tail / 2 ** (flipped - 1)
    return min(1.0, p)
