"""Scores of one benchmark taken apart: by a free column, by k, and problem by problem."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.comparisons import ProblemGrid
from reportgen.statistics.metrics import compute_series_means, find_rows, find_sample_range, mean_of_known
from reportgen.statistics.scores import make_missing_score, score_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.outcomes import Estimand, Metric, ProblemScores, Score


def score_slices(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> dict[str, tuple[Score, ...]]:
    """The scores of each part by itself, from ``group_problem_scores_by``.

    Each interval is about problems like those of its slice. Slices are looked at for themselves: intervals
    of many slices are not adjusted, so one in twenty misses at a level of 95 %.

    Returns:
        For each part the scores of all series, in one order; a series that a part lacks has no estimate, and
        a reason.

    Raises:
        ScoresError: see ``compute_problem_values``.
    """
    names = tuple(dict.fromkeys(series for part in parts.values() for series in part.series))
    found = {}
    for value, part in parts.items():
        own = {one.series: one for one in score_series(part, metric, k, estimand=estimand, level=level)}
        found[value] = tuple(
            own.get(name) or make_missing_score(name, level, f"no answers in {value}") for name in names
        )
    return found


def score_pass_at_k(
    problem_scores: ProblemScores,
    ks: Sequence[int] | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> tuple[tuple[Score, ...], ...]:
    """The score pass@k of each series at several k.

    A series goes as far as its problem with the fewest samples allows, since beyond it the curve would be
    about fewer and fewer problems. Intervals are those of ``score_series`` at each k by itself:
    neighbouring ones rest on the same samples and move together.

    ``ks`` are powers of two and the largest possible k if left out.

    Returns:
        A curve a series, in the order of ``problem_scores.series``; empty where it has no score.

    Raises:
        ScoresError: if scores are not right or wrong.
    """
    curves = []
    for place in range(len(problem_scores.series)):
        own = _select_series(problem_scores, place)
        counts = find_sample_range(own.samples)
        most = counts[0] if counts else 0
        powers = {2**power for power in range(most.bit_length())} | ({most} if most else set())
        chosen = sorted(powers if ks is None else {k for k in ks if k <= most})
        curves.append(
            tuple(score_series(own, "pass@k", k, estimand=estimand, level=level)[0] for k in chosen)
        )
    return tuple(curves)


def _select_series(scores: ProblemScores, place: int) -> ProblemScores:
    """One series' rows."""
    rows = find_rows(scores, place)
    return replace(
        scores,
        series=(scores.series[place],),
        runs=tuple(replace(scores.runs[row], series=0) for row in rows),
        samples=scores.samples[rows],
        correct=scores.correct[rows],
        mean=scores.mean[rows],
        variance=scores.variance[rows],
        binary=(scores.binary[place],),
        tokens=scores.tokens[rows],
        seconds=scores.seconds[rows],
        votes=None,
    )


def build_problem_grid(problem_scores: ProblemScores, *, higher_is_better: bool = True) -> ProblemGrid:
    """Mean scores of every series on every problem, ordered by difficulty.

    A problem's difficulty is its mean score over the series that have it, each counting once; equally hard
    problems stand by name. A problem is solved by one series alone if that one has at least one right sample,
    no other has any, and at least one other tried it.
    """
    score = compute_series_means(problem_scores, problem_scores.mean)
    difficulty = mean_of_known(score)
    sign = -1 if higher_is_better else 1
    # Problems without any score go last.
    order = np.argsort(sign * difficulty, kind="stable")
    rows = [find_rows(problem_scores, place) for place in range(len(problem_scores.series))]
    samples = np.array([problem_scores.samples[own].sum(axis=0) for own in rows])
    right = np.array([problem_scores.correct[own].sum(axis=0) for own in rows])
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
