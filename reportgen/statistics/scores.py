"""Scores of series on one benchmark with intervals, scores of runs, and totals as reported."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.outcomes import REPORTED, OutcomeNotes, ProblemScores, RunScore, RunSpread, Score
from reportgen.statistics.distributions import check_level, deviation, mean, normal_quantile, t_quantile
from reportgen.statistics.intervals import (
    Interval,
    estimate_over_problems,
    estimate_run_variance,
    estimate_within_problems,
    is_constant,
    wilson,
)
from reportgen.statistics.metrics import (
    compute_problem_values,
    compute_sampling_variance,
    find_rows,
    find_sample_range,
    list_units,
    mean_of_known,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from reportgen.core.model import FloatArray
    from reportgen.core.outcomes import Estimand, Metric, ReportedScore
    from reportgen.statistics.intervals import RunVariance
    from reportgen.statistics.metrics import ProblemValues


def measure_run_spreads(
    problem_scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None, *, level: float = 0.95
) -> tuple[RunSpread, ...]:
    """Each run's own score, and their mean with the t interval over runs (runs - 1 degrees of freedom).

    Runs of a series are scored on the problems that all of them answered: otherwise a run with the harder
    problems would look like a worse seed. The estimand is the mean score of other runs like these on these
    problems.

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
      problems on the logit scale (``estimate_over_problems``), with errors by cluster where problems have
      clusters, and with what runs add where there are several: what other runs like these would score.
      Wilson's where each problem is one draw that is right or wrong.
      Samples of one problem are never counted as if they were problems.
    - ``these problems``: what it would score on these very problems with other samples. √(Σ v_p)/P with v_p
      the sampling variance of the problem's value (s²/m for a mean), t with Satterthwaite's degrees of
      freedom.

    Each series is scored on its own problems, so no other series moves its numbers; which problems it lacks
    is in ``ProblemScores.found``.

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
    return Score(series, "", "", level, reason=reason)


class _Request(NamedTuple):
    """The settings of ``score_series`` with each problem's value and sampling noise."""

    scores: ProblemScores
    values: ProblemValues
    estimand: str
    level: float
    noise: tuple[FloatArray, FloatArray] | None


def _score(request: _Request, place: int) -> Score:
    scores, series_values = request.scores, request.values.series[place]
    own = np.isfinite(series_values)
    present = series_values[own]
    rows = find_rows(scores, place)
    runs = None
    if request.estimand == "problems like these":
        runs = estimate_run_variance(request.values.runs[rows])
    interval = _compute_interval(request, place, own, runs)
    return Score(
        series=scores.series[place],
        metric=request.values.name,
        estimand=request.estimand,
        level=request.level,
        estimate=mean(present) if present.size else None,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        reason=interval.reason,
        problems=int(present.size),
        samples=find_sample_range(scores.samples[rows]),
        runs=len(rows),
        between_runs=measure_between_runs(request.values.runs[rows]).sd,
        tokens=_compute_mean_cost(scores.tokens[rows]),
        seconds=_compute_mean_cost(scores.seconds[rows]),
        stderr=interval.stderr,
        run_stderr=interval.run_stderr if runs else None,
        cost=_compute_mean_cost(scores.cost[rows]),
    )


def _compute_interval(
    request: _Request, place: int, own: npt.NDArray[np.bool_], runs: RunVariance | None
) -> Interval:
    scores, present, level = request.scores, request.values.series[place][own], request.level
    lowest, highest = scores.lowest, scores.highest
    if not present.size:
        return Interval(reason="no problem with a score")
    if request.estimand == "these problems":
        if request.noise is None:
            return Interval(reason=f"the sampling noise of {request.values.name} is not known")
        variance, freedom = (array[place][own] for array in request.noise)
        return estimate_within_problems(mean(present), variance, freedom, (lowest, highest), level)
    units = list_units(scores)
    if units is not None:
        units = [units[column] for column in np.flatnonzero(own).tolist()]
    samples = scores.samples[find_rows(scores, place)]
    one_draw = samples.shape[0] == 1 and bool(np.all(samples[0][own] == request.values.draws))
    # A majority vote may be split, and is then no longer right or wrong.
    whole = bool(np.all((present == lowest) | (present == highest)))
    if scores.binary[place] and one_draw and whole and units is None:
        return wilson(mean(present), present.size, lowest, highest, level)
    return estimate_over_problems(present, lowest, highest, level, units=units, runs=runs)


def _compute_mean_cost(cost: FloatArray) -> float | None:
    """The mean cost of a sample: over runs, then over problems; None where it is not given."""
    each = mean_of_known(cost)
    known = each[np.isfinite(each)]
    return mean(known) if known.size else None


def score_totals(
    reported: Iterable[ReportedScore],
    *,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> tuple[Score, ...]:
    """The score of each series from its totals on one benchmark, in order of first appearance.

    Several totals of a series are taken for runs on the same problems: their mean, with the mean of their
    standard errors, which the mean's own never exceeds, however the runs depend on each other (the standard
    deviation of a sum is at most the sum of standard deviations). Their spread is given, too.

    ``ends`` are the smallest and the largest possible score; None where the range is not known.
    """
    totals: dict[str, list[ReportedScore]] = defaultdict(list)
    for one in reported:
        totals[one.series].append(one)
    return tuple(_score_runs(name, runs, level, ends) for name, runs in totals.items())


def _score_runs(
    series: str, runs: Sequence[ReportedScore], level: float, ends: tuple[float, float] | None
) -> Score:
    values = [one.value for one in runs if one.value is not None]
    errors = [one.stderr for one in runs if one.value is not None and one.stderr is not None]
    problems = {one.problems for one in runs}
    score = score_total(
        series,
        statistics.fmean(values) if values else None,
        statistics.fmean(errors) if values and len(errors) == len(values) else None,
        metric=runs[0].metric,
        problems=(problems.pop() or 0) if len(problems) == 1 else 0,
        level=level,
        ends=ends,
    )
    between = statistics.stdev(values) if len(values) > 1 else None
    reasons = [
        f"{len(runs) - len(values)} of {len(runs)} runs have no score" if 0 < len(values) < len(runs) else "",
        f"{len(values) - len(errors)} of {len(values)} report no standard error"
        if 0 < len(errors) < len(values)
        else score.reason,
    ]
    reason = "; ".join(filter(None, reasons))
    return replace(score, runs=len(values), between_runs=between, reason=reason)


def make_empty_scores(series: Sequence[str], ends: tuple[float, float]) -> ProblemScores:
    """What is known by problem of series of which there are totals only: nothing but their names."""
    floats, counts = np.empty((0, 0)), np.empty((0, 0), np.int64)
    return ProblemScores(
        series=tuple(series),
        problems=(),
        runs=(),
        samples=counts,
        correct=counts,
        mean=floats,
        variance=floats,
        binary=(False,) * len(series),
        lowest=ends[0],
        highest=ends[1],
        tokens=floats,
        seconds=floats,
        cost=floats,
        notes=OutcomeNotes(),
    )


def score_total(
    series: str,
    value: float | None,
    stderr: float | None = None,
    *,
    metric: str = "mean",
    problems: int = 0,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> Score:
    """A total as it is reported, such as ``acc`` with ``acc_stderr``.

    The interval is value ± z stderr, cut at the range of scores if it is stated. Without problems nothing can
    be paired: such a score is never compared.

    ``problems`` is how many it is over, 0 where that is not stated; ``ends`` as in ``score_totals``.
    """
    known = value is not None and math.isfinite(value)
    reason, half = "", None
    lowest, highest = ends or (-math.inf, math.inf)
    if not known:
        reason = "no score is reported"
    elif stderr is None or not math.isfinite(stderr):
        reason = "no standard error is reported"
    elif stderr <= 0:
        reason = f"the reported standard error is {stderr:g}, which leaves nothing to build an interval from"
    else:
        half = normal_quantile(check_level(level)) * stderr
    return Score(
        series=series,
        metric=metric,
        estimand="",
        level=level,
        estimate=value if known else None,
        low=max(value - half, min(lowest, value)) if value is not None and half is not None else None,
        high=min(value + half, max(highest, value)) if value is not None and half is not None else None,
        method=REPORTED,
        reason=reason,
        problems=problems,
        stderr=stderr if half is not None else None,
    )
