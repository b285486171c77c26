"""How much the score moves from run to run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.outcomes import RunScore, RunSpread
from reportgen.statistics.intervals import check_level, deviation, is_constant, mean
from reportgen.statistics.metrics import compute_problem_values, find_rows
from reportgen.statistics.student_t import t_quantile

if TYPE_CHECKING:
    from reportgen.model import FloatArray
    from reportgen.outcomes import Metric, ProblemScores


def measure_run_spreads(
    problem_scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None, *, level: float = 0.95
) -> tuple[RunSpread, ...]:
    """Each run's own score, and their mean with the t interval over runs (runs - 1 degrees of freedom).

    Runs of a series are scored on the problems that all of them answered: otherwise a run with the harder
    problems would look like a worse seed. The estimand is the mean score of other runs like these on these
    problems.

    Args:
        problem_scores: of one benchmark.
        metric: see ``scores``.
        k: see ``scores``.
        level: confidence level.

    Raises:
        ScoresError: see ``compute_problem_values``.
    """
    check_level(level)
    values = compute_problem_values(problem_scores, metric, k)
    found = []
    for place, name in enumerate(problem_scores.series):
        rows = find_rows(problem_scores, place)
        between = measure_between_runs(values.runs[rows])
        runs = [problem_scores.runs[row] for row in rows]
        low, high, reason = _estimate_over_runs(problem_scores, between, level)
        found.append(
            RunSpread(
                series=name,
                metric=values.name,
                level=level,
                runs=tuple(
                    RunScore(run.run, run.seed, score)
                    for run, score in zip(runs, between.scores, strict=False)
                ),
                mean=mean(np.array(between.scores)) if between.scores else None,
                sd=between.sd,
                low=low,
                high=high,
                reason=reason,
                problems=between.problems,
                left_out=int(np.isfinite(values.runs[rows]).any(axis=0).sum()) - between.problems,
            )
        )
    return tuple(found)


class BetweenRuns(NamedTuple):
    """Scores of runs on the problems that all of them have, and their standard deviation."""

    scores: list[float]
    sd: float | None
    problems: int


def measure_between_runs(values: FloatArray) -> BetweenRuns:
    """Scores of runs, shape (runs, P), on the problems that none of them lacks."""
    shared = np.isfinite(values).all(axis=0)
    if not shared.any():
        return BetweenRuns([], None, 0)
    totals = [mean(run[shared]) for run in values]
    sd = deviation(np.array(totals)) if len(totals) > 1 else None
    return BetweenRuns(totals, sd, int(shared.sum()))


def _estimate_over_runs(
    scores: ProblemScores, between: BetweenRuns, level: float
) -> tuple[float | None, float | None, str]:
    totals = np.array(between.scores)
    if not totals.size:
        return None, None, "no problem that every run answered"
    if between.sd is None:
        return None, None, "1 run: no spread between runs"
    if is_constant(totals, scores.lowest, scores.highest):
        return None, None, f"all {totals.size} runs have the same score: no interval"
    half = t_quantile((1 + level) / 2, totals.size - 1) * between.sd / math.sqrt(totals.size)
    centre = mean(totals)
    return max(centre - half, scores.lowest), min(centre + half, scores.highest), ""
