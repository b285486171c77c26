"""Scores of series on one benchmark, each with its interval and what that interval is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.outcomes import Score
from reportgen.statistics.intervals import (
    Interval,
    check_level,
    estimate_over_problems,
    estimate_within_problems,
    mean,
    wilson,
)
from reportgen.statistics.metrics import (
    compute_problem_values,
    compute_sampling_variance,
    find_rows,
    find_sample_range,
    list_units,
)
from reportgen.statistics.run_spreads import measure_between_runs
from reportgen.statistics.run_variance import estimate_run_variance

if TYPE_CHECKING:
    import numpy.typing as npt

    from reportgen.model import FloatArray
    from reportgen.outcomes import Estimand, Metric, ProblemScores
    from reportgen.statistics.metrics import ProblemValues
    from reportgen.statistics.run_variance import RunVariance

_ESTIMANDS = ("problems like these", "these problems")


def score_series(
    problem_scores: ProblemScores,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> tuple[Score, ...]:
    """The score of each series: the mean over problems of each problem's own value.

    A problem's value is the metric over its samples (``statistics.metrics``), averaged over runs. The
    interval is about one of two things:

    - ``problems like these``: what the series would score on other such problems. The t interval over
      problems on the logit scale (``intervals.over_problems``), with errors by cluster where problems have
      clusters, and with what runs add where there are several: what other runs like these would score.
      Wilson's where each problem is one draw that is right or wrong.
      Samples of one problem are never counted as if they were problems.
    - ``these problems``: what it would score on these very problems with other samples. √(Σ v_p)/P with v_p
      the sampling variance of the problem's value (s²/m for a mean), t with Satterthwaite's degrees of
      freedom.

    Each series is scored on its own problems, so no other series moves its numbers; which problems it lacks
    is in ``ProblemScores.found``.

    Args:
        problem_scores: of one benchmark.
        metric: ``mean``, ``avg@n``, ``pass@k``, ``pass^k`` or ``maj@k``.
        k: for all but ``mean``.
        estimand: one of the two above.
        level: confidence level.

    Returns:
        One score a series, in the order of ``problem_scores.series``.

    Raises:
        ScoresError: see ``compute_problem_values``.
        ValueError: if there is no such metric or estimand, or ``level`` is not between 0 and 1.
    """
    check_level(level)
    if estimand not in _ESTIMANDS:
        raise ValueError(f"there is no estimand {estimand!r}; there are {', '.join(_ESTIMANDS)}")
    request = _Request(
        problem_scores,
        compute_problem_values(problem_scores, metric, k),
        estimand,
        level,
        compute_sampling_variance(problem_scores, metric, k) if estimand == "these problems" else None,
    )
    return tuple(_score(request, place) for place in range(len(problem_scores.series)))


def make_missing_score(series: str, level: float, reason: str) -> Score:
    """A score that is missing, and why."""
    return Score(
        series=series,
        metric="",
        estimand="",
        level=level,
        estimate=None,
        low=None,
        high=None,
        method="",
        reason=reason,
        problems=0,
    )


class _Request(NamedTuple):
    """What ``score_series`` was asked for, with each problem's value and, where it matters, its sampling noise."""

    scores: ProblemScores
    values: ProblemValues
    estimand: str
    level: float
    noise: tuple[FloatArray, FloatArray] | None


def _score(request: _Request, place: int) -> Score:
    series_values = request.values.series[place]
    own = np.isfinite(series_values)
    present = series_values[own]
    interval = _compute_interval(request, place, own)
    rows = find_rows(request.scores, place)
    return Score(
        series=request.scores.series[place],
        metric=request.values.name,
        estimand=request.estimand,
        level=request.level,
        estimate=mean(present) if present.size else None,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        reason=interval.reason,
        problems=int(present.size),
        samples=find_sample_range(request.scores.samples[rows]),
        runs=len(rows),
        between_runs=measure_between_runs(request.values.runs[rows]).sd,
        tokens=_compute_mean_cost(request.scores.tokens[rows]),
        seconds=_compute_mean_cost(request.scores.seconds[rows]),
        stderr=interval.stderr,
        run_stderr=interval.run_stderr
        if request.estimand == _ESTIMANDS[0] and _estimate_variance(request, rows)
        else None,
        cost=_compute_mean_cost(request.scores.cost[rows]),
    )


def _compute_interval(request: _Request, place: int, own: npt.NDArray[np.bool_]) -> Interval:
    scores, present = request.scores, request.values.series[place][own]
    if not present.size:
        return Interval(None, None, "", "no problem with a score")
    if request.estimand == "problems like these":
        samples = scores.samples[find_rows(scores, place)]
        one_draw = samples.shape[0] == 1 and bool(np.all(samples[0][own] == request.values.draws))
        # A majority vote may be split, and is then no longer right or wrong.
        whole = bool(np.all((present == scores.lowest) | (present == scores.highest)))
        units = list_units(scores)
        if scores.binary[place] and one_draw and whole and units is None:
            return wilson(mean(present), present.size, scores.lowest, scores.highest, request.level)
        return estimate_over_problems(
            present,
            scores.lowest,
            scores.highest,
            request.level,
            units=None if units is None else [units[at] for at in np.flatnonzero(own).tolist()],
            runs=_estimate_variance(request, find_rows(scores, place)),
        )
    if request.noise is None:
        return Interval(None, None, "", f"the sampling noise of {request.values.name} is not known")
    variance, freedom = (array[place][own] for array in request.noise)
    return estimate_within_problems(
        mean(present), variance, freedom, (scores.lowest, scores.highest), request.level
    )


def _estimate_variance(request: _Request, rows: list[int]) -> RunVariance | None:
    return estimate_run_variance(request.values.runs[rows])


def _compute_mean_cost(cost: FloatArray) -> float | None:
    """The mean cost of a sample: over runs, then over problems; None where it is not given."""
    known = np.isfinite(cost)
    count = known.sum(axis=0)
    each = np.where(known, cost, 0.0).sum(axis=0)[count > 0] / count[count > 0]
    return mean(each) if each.size else None
