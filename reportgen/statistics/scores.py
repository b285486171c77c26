"""Scores of series on one benchmark, each with its interval and what that interval is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.outcomes import Score
from reportgen.statistics.intervals import (
    Interval,
    checked_level,
    mean,
    over_problems,
    wilson,
    within_problems,
)
from reportgen.statistics.metrics import (
    problem_values,
    rows_of,
    sample_range,
    sampling_variance,
    unit_names,
)
from reportgen.statistics.run_spreads import between_runs
from reportgen.statistics.run_variance import run_variance

if TYPE_CHECKING:
    import numpy.typing as npt

    from reportgen.model import FloatArray
    from reportgen.outcomes import Estimand, Metric, ProblemScores
    from reportgen.statistics.metrics import ProblemValues
    from reportgen.statistics.run_variance import RunVariance

_ESTIMANDS = ("problems like these", "these problems")


def scores(
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
        ScoresError: see ``problem_values``.
        ValueError: if there is no such metric or estimand, or ``level`` is not between 0 and 1.
    """
    checked_level(level)
    if estimand not in _ESTIMANDS:
        raise ValueError(f"there is no estimand {estimand!r}; there are {', '.join(_ESTIMANDS)}")
    asked = _Asked(
        problem_scores,
        problem_values(problem_scores, metric, k),
        estimand,
        level,
        sampling_variance(problem_scores, metric, k) if estimand == "these problems" else None,
    )
    return tuple(_score(asked, place) for place in range(len(problem_scores.series)))


def no_score(series: str, level: float, reason: str) -> Score:
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


class _Asked(NamedTuple):
    """What ``scores`` was asked for, with each problem's value and, where it matters, its sampling noise."""

    scores: ProblemScores
    values: ProblemValues
    estimand: str
    level: float
    noise: tuple[FloatArray, FloatArray] | None


def _score(asked: _Asked, place: int) -> Score:
    series_values = asked.values.series[place]
    own = np.isfinite(series_values)
    present = series_values[own]
    interval = _interval(asked, place, own)
    rows = rows_of(asked.scores, place)
    return Score(
        series=asked.scores.series[place],
        metric=asked.values.name,
        estimand=asked.estimand,
        level=asked.level,
        estimate=mean(present) if present.size else None,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        reason=interval.reason,
        problems=int(present.size),
        samples=sample_range(asked.scores.samples[rows]),
        runs=len(rows),
        between_runs=between_runs(asked.values.runs[rows]).sd,
        tokens=_average(asked.scores.tokens[rows]),
        seconds=_average(asked.scores.seconds[rows]),
        stderr=interval.stderr,
        run_stderr=interval.run_stderr
        if asked.estimand == _ESTIMANDS[0] and _variance(asked, rows)
        else None,
        cost=_average(asked.scores.cost[rows]),
    )


def _interval(asked: _Asked, place: int, own: npt.NDArray[np.bool_]) -> Interval:
    scores, present = asked.scores, asked.values.series[place][own]
    if not present.size:
        return Interval(None, None, "", "no problem with a score")
    if asked.estimand == "problems like these":
        samples = scores.samples[rows_of(scores, place)]
        one_draw = samples.shape[0] == 1 and bool(np.all(samples[0][own] == asked.values.draws))
        # A majority vote may be split, and is then no longer right or wrong.
        whole = bool(np.all((present == scores.lowest) | (present == scores.highest)))
        units = unit_names(scores)
        if scores.binary[place] and one_draw and whole and units is None:
            return wilson(mean(present), present.size, scores.lowest, scores.highest, asked.level)
        return over_problems(
            present,
            scores.lowest,
            scores.highest,
            asked.level,
            units=None if units is None else [units[at] for at in np.flatnonzero(own).tolist()],
            runs=_variance(asked, rows_of(scores, place)),
        )
    if asked.noise is None:
        return Interval(None, None, "", f"the sampling noise of {asked.values.name} is not known")
    variance, freedom = (array[place][own] for array in asked.noise)
    return within_problems(mean(present), variance, freedom, (scores.lowest, scores.highest), asked.level)


def _variance(asked: _Asked, rows: list[int]) -> RunVariance | None:
    return run_variance(asked.values.runs[rows])


def _average(cost: FloatArray) -> float | None:
    """The mean cost of a sample: over runs, then over problems; None where it is not given."""
    known = np.isfinite(cost)
    count = known.sum(axis=0)
    each = np.where(known, cost, 0.0).sum(axis=0)[count > 0] / count[count > 0]
    return mean(each) if each.size else None
