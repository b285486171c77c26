"""Problem × series, from the easiest problem to the hardest, and what only one series solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.outcomes import ProblemGrid
from reportgen.statistics.metrics import compute_series_means, find_rows

if TYPE_CHECKING:
    from reportgen.outcomes import ProblemScores


def build_problem_grid(problem_scores: ProblemScores, *, higher_is_better: bool = True) -> ProblemGrid:
    """Mean scores of every series on every problem, ordered by difficulty.

    A problem's difficulty is its mean score over the series that have it, each counting once; equally hard
    problems stand by name. A problem is solved by one series alone if that one has at least one right sample,
    no other has any, and at least one other tried it.

    Args:
        problem_scores: of one benchmark.
        higher_is_better: whether a larger score means an easier problem.
    """
    score = compute_series_means(problem_scores, problem_scores.mean)
    known = np.isfinite(score)
    count = known.sum(axis=0)
    total = np.where(known, score, 0.0).sum(axis=0)
    difficulty = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    sign = -1 if higher_is_better else 1
    # Problems without any score go last.
    order = np.argsort(sign * difficulty, kind="stable")
    places = range(len(problem_scores.series))
    samples = np.array(
        [problem_scores.samples[find_rows(problem_scores, place)].sum(axis=0) for place in places]
    )
    right = np.array(
        [problem_scores.correct[find_rows(problem_scores, place)].sum(axis=0) for place in places]
    )
    return ProblemGrid(
        series=problem_scores.series,
        problems=tuple(problem_scores.problems[place] for place in order.tolist()),
        score=score[:, order],
        samples=samples[:, order],
        difficulty=difficulty[order],
        solved_by_one=tuple(
            (problem_scores.problems[place], problem_scores.series[int(np.argmax(right[:, place]))])
            for place in order.tolist()
            if all(problem_scores.binary)
            and np.count_nonzero(right[:, place]) == 1
            and np.count_nonzero(samples[:, place]) > 1
        ),
    )
