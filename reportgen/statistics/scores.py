"""Scores of series on one benchmark: with intervals, by run, slice, k and problem, and as reported."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import (
    REPORTED,
    REPORTED_RUNS,
    OutcomeNotes,
    ProblemGrid,
    ProblemScores,
    RunScore,
    RunSpread,
    Score,
)
from reportgen.statistics.distributions import (
    check_level,
    deviation,
    find_t_ends,
    mean,
    t_quantile,
)
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
    compute_series_means,
    find_rows,
    find_sample_range,
    list_units,
    mean_of_known,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from reportgen.core.comparisons import Estimand, Metric, ReportedScore
    from reportgen.core.model import FloatArray
    from reportgen.statistics.intervals import RunVariance
    from reportgen.statistics.metrics import ProblemValues

_Number = TypeVar("_Number", np.int64, np.float64)


def measure_run_spreads(
    problem_scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None, *, level: float = 0.95
) -> tuple[RunSpread, ...]:
    """Return each run's own score, and their mean with a t interval over runs (df = runs - 1).

    Runs of a series are scored on the problems that all of them answered: otherwise a run with the harder
    problems would look like a worse seed.
    """
    check_level(level)
    values = compute_problem_values(problem_scores, metric, k)
    spreads = []
    for place, name in enumerate(problem_scores.series):
        rows = find_rows(problem_scores, place)
        totals, sd, problems = _measure_between_runs(values.runs[rows])
        low = high = None
        if not totals.size:
            reason = "no problem that every run answered"
        elif sd is None:
            reason = "1 run: no spread between runs"
        elif is_constant(totals, (problem_scores.lowest, problem_scores.highest)):
            reason = f"all {totals.size} runs have the same score: no interval"
        else:
            reason = ""
            stderr, ends = sd / math.sqrt(totals.size), (problem_scores.lowest, problem_scores.highest)
            low, high = find_t_ends(mean(totals), stderr, totals.size - 1, level, ends)
        runs = [problem_scores.runs[row] for row in rows]
        scored = zip(runs, totals.tolist(), strict=False)
        left_out = int(np.isfinite(values.runs[rows]).any(axis=0).sum()) - problems
        spreads.append(
            RunSpread(
                series=name,
                metric=values.name,
                level=level,
                runs=tuple(RunScore(run.run, run.seed, score) for run, score in scored),
                mean=mean(totals) if totals.size else None,
                sd=sd,
                low=low,
                high=high,
                reason=reason,
                problems=problems,
                left_out=left_out,
            )
        )
    return tuple(spreads)


def _measure_between_runs(values: FloatArray) -> tuple[FloatArray, float | None, int]:
    """Return runs' scores on the problems that all have, their deviation, and the number of problems."""
    shared = np.isfinite(values).all(axis=0)
    totals = np.array([mean(run[shared]) for run in values] if shared.any() else [])
    return totals, deviation(totals) if totals.size > 1 else None, int(shared.sum())


_ESTIMANDS = ("problems like these", "these problems")


def score_series(
    problem_scores: ProblemScores,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> tuple[Score, ...]:
    """Score each series: the mean of the metric over its own problems, averaged over runs.

    The interval for ``problems like these`` is Wilson's if each problem is one draw that is right or wrong,
    else ``estimate_over_problems``, by cluster if problems have clusters, and with what runs add. That for
    ``these problems`` with other samples is ``estimate_within_problems``. Raises a ValueError if there is no
    such metric or estimand, or ``level`` is not between 0 and 1.
    """
    check_level(level)
    if estimand not in _ESTIMANDS:
        raise ValueError(f"there is no estimand {estimand!r}; there are {', '.join(_ESTIMANDS)}")
    values = compute_problem_values(problem_scores, metric, k)
    noise = None
    if estimand == "these problems":
        noise = compute_sampling_variance(problem_scores, metric, k)
    request = _Request(problem_scores, values, estimand, level, noise)
    return tuple(request.score(place) for place in range(len(problem_scores.series)))


def hide_interval(score: Score) -> Score:
    """Return a score of invented answers without anything that would say how sure it is."""
    unknown = dict.fromkeys(("low", "high", "stderr", "run_stderr", "between_runs"))
    why = "the answers are illustrative: no interval"
    return replace(score, **unknown, estimand="", method="", reason=why)


def make_missing_score(series: str, level: float, reason: str) -> Score:
    """Make a missing score with its reason."""
    return Score(series, "", "", level, reason=reason)


class _Request(NamedTuple):
    """Settings of ``score_series`` with each problem's value and sampling noise."""

    scores: ProblemScores
    values: ProblemValues
    estimand: str
    level: float
    noise: tuple[FloatArray, FloatArray] | None

    def score(self, place: int) -> Score:
        scores, values = self.scores, self.values
        problems = int(np.isfinite(values.series[place]).sum())
        rows = find_rows(scores, place)
        runs = estimate_run_variance(values.runs[rows]) if self.estimand == "problems like these" else None
        interval = self.compute_interval(place, runs)
        _, between_runs, _ = _measure_between_runs(values.runs[rows])
        costs: list[float | None] = []
        for cost in (scores.tokens, scores.seconds, scores.cost):
            each = mean_of_known(cost[rows])
            known = each[np.isfinite(each)]
            costs.append(mean(known) if known.size else None)
        return Score(
            series=scores.series[place],
            metric=values.name,
            estimand=self.estimand,
            level=self.level,
            estimate=mean(values.series[place][np.isfinite(values.series[place])]) if problems else None,
            low=interval.low,
            high=interval.high,
            method=interval.method,
            reason=interval.reason,
            problems=problems,
            samples=find_sample_range(scores.samples[rows]),
            runs=len(rows),
            between_runs=between_runs,
            tokens=costs[0],
            seconds=costs[1],
            stderr=interval.stderr,
            run_stderr=interval.run_stderr if runs else None,
            cost=costs[2],
        )

    def compute_interval(self, place: int, runs: RunVariance | None) -> Interval:
        scores, values, level = self.scores, self.values, self.level
        own = np.isfinite(values.series[place])
        present, ends = values.series[place][own], (scores.lowest, scores.highest)
        if not present.size:
            return Interval(reason="no problem with a score")
        if self.estimand == "these problems":
            if self.noise is None:
                return Interval(reason=f"the sampling noise of {values.name} is not known")
            variance, freedom = (array[place][own] for array in self.noise)
            return estimate_within_problems(mean(present), variance, freedom, ends, level)
        units = list_units(scores)
        if units is not None:
            units = [units[column] for column in np.flatnonzero(own).tolist()]
        samples = scores.samples[find_rows(scores, place)]
        one_draw = samples.shape[0] == 1 and bool(np.all(samples[0][own] == values.draws))
        # A majority vote may be tied, and is then neither right nor wrong.
        whole = bool(np.all((present == ends[0]) | (present == ends[1])))
        if scores.binary[place] and one_draw and whole and units is None:
            return wilson(mean(present), present.size, ends, level)
        return estimate_over_problems(present, ends, level, units, runs)


def bound_scores(
    scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None
) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest score of each series with every answer that is left out.

    Nothing is assumed of these (Manski 1989): each may have any score of the range. Means, pass@k and pass^k
    never fall when an answer gets a better score, so the ends are those of all wrong and of all right. Empty
    where no status is known, and for maj@k, which may fall with an answer that is right.
    """
    if scores.left_out is None or metric == "maj@k":
        return {}
    low, high = (
        compute_problem_values(fill_answers(scores, dict.fromkeys(scores.series, end)), metric, k).series
        for end in (scores.lowest, scores.highest)
    )
    means = zip(low.mean(axis=1).tolist(), high.mean(axis=1).tolist(), strict=True)
    return dict(zip(scores.series, means, strict=True))


def fill_answers(scores: ProblemScores, ends: Mapping[str, float]) -> ProblemScores:
    """Return the scores with every answer that is left out, those of a series at its end of the range."""
    if scores.left_out is None:
        return scores
    runs = (*scores.runs, *scores.lost_runs)
    lost = len(scores.lost_runs)
    n, correct = (_add_rows(array, lost, 0) for array in (scores.samples, scores.correct))
    mean, variance = (_add_rows(array, lost, np.nan) for array in (scores.mean, scores.variance))
    whole = scores.samples + scores.left_out
    more = _add_rows(scores.left_out, lost, int(whole.max(initial=1)))
    end = np.array([[ends.get(scores.series[run.series], scores.lowest)] for run in runs])
    total = n + more
    old, spread = np.where(n > 0, mean, 0.0), np.where(n > 1, variance, 0.0)
    centre = np.where(more > 0, (n * old + more * end) / np.maximum(total, 1), mean)
    squares = np.maximum(n - 1, 0) * spread + n * (old - centre) ** 2 + more * (end - centre) ** 2
    unknown = np.full((lost, n.shape[1]), np.nan)
    costs = {name: np.concatenate([getattr(scores, name), unknown]) for name in ("tokens", "seconds", "cost")}
    return replace(
        scores,
        runs=runs,
        samples=total,
        correct=correct + np.where(end == scores.highest, more, 0),
        mean=centre,
        variance=np.where(total > 1, squares / np.maximum(total - 1, 1), np.nan),
        left_out=None,
        lost_runs=(),
        **costs,
    )


def _add_rows(array: npt.NDArray[_Number], count: int, value: float) -> npt.NDArray[_Number]:
    return np.concatenate([array, np.full((count, array.shape[1]), value, dtype=array.dtype)])


def score_slices(parts: Mapping[str, ProblemScores], *, level: float = 0.95) -> dict[str, tuple[Score, ...]]:
    """Return mean scores of all series in each part; intervals are not adjusted for the number of parts."""
    names = tuple(dict.fromkeys(series for part in parts.values() for series in part.series))
    slices = {}
    for value, part in parts.items():
        own = {score.series: score for score in score_series(part, level=level)}
        slices[value] = tuple(
            own.get(name) or make_missing_score(name, level, f"no answers in {value}") for name in names
        )
    return slices


def score_pass_at_k(
    problem_scores: ProblemScores,
    ks: Sequence[int] | None = None,
    *,
    level: float = 0.95,
) -> tuple[tuple[Score, ...], ...]:
    """Score pass@k of each series at ``ks``, up to the fewest samples of its problems."""
    curves = []
    for place in range(len(problem_scores.series)):
        rows = find_rows(problem_scores, place)
        arrays = ("samples", "correct", "mean", "variance", "tokens", "seconds")
        own = replace(
            problem_scores,
            series=(problem_scores.series[place],),
            runs=tuple(replace(problem_scores.runs[row], series=0) for row in rows),
            binary=(problem_scores.binary[place],),
            votes=None,
            **{name: getattr(problem_scores, name)[rows] for name in arrays},
        )
        most = (find_sample_range(own.samples) or (0, 0))[0]
        powers = {2**power for power in range(most.bit_length())} | ({most} if most else set())
        chosen = sorted(powers if ks is None else {k for k in ks if k <= most})
        scores = [score_series(own, "pass@k", k, level=level)[0] for k in chosen]
        curves.append(tuple(scores))
    return tuple(curves)


def build_problem_grid(problem_scores: ProblemScores, *, higher_is_better: bool = True) -> ProblemGrid:
    """Build the mean scores of every series on every problem, ordered by difficulty, then by name.

    A problem's difficulty is its mean score over the series that have it. It is solved by one series alone if
    that one has a right sample, no other has any, and at least one other tried it.
    """
    score = compute_series_means(problem_scores, problem_scores.mean)
    difficulty = mean_of_known(score)
    # Problems without any score go last.
    order = np.argsort((-1 if higher_is_better else 1) * difficulty, kind="stable")
    rows = [find_rows(problem_scores, place) for place in range(len(problem_scores.series))]
    samples = np.array([problem_scores.samples[own].sum(axis=0) for own in rows])
    right = np.array([problem_scores.correct[own].sum(axis=0) for own in rows])
    alone = (np.count_nonzero(right, axis=0) == 1) & (np.count_nonzero(samples, axis=0) > 1)
    return ProblemGrid(
        series=problem_scores.series,
        problems=tuple(problem_scores.problems[column] for column in order.tolist()),
        score=score[:, order],
        samples=samples[:, order],
        difficulty=difficulty[order],
        solved_by_one=tuple(
            (problem_scores.problems[column], problem_scores.series[int(np.argmax(right[:, column]))])
            for column in order.tolist()
            if all(problem_scores.binary) and alone[column]
        ),
        right=right[:, order] if all(problem_scores.binary) and higher_is_better else None,
    )


def score_totals(
    reported: Iterable[ReportedScore], *, level: float = 0.95, ends: tuple[float, float] | None = None
) -> tuple[Score, ...]:
    """Score each series from its totals on one benchmark, in order of first appearance.

    Several totals of a series are treated as runs on the same problems: their mean, with the mean of their
    standard errors, which that of the mean never exceeds. ``ends`` are the range of scores, or None if
    unknown.
    """
    totals: dict[str, list[ReportedScore]] = defaultdict(list)
    for total in reported:
        totals[total.series].append(total)
    scores = []
    for series, runs in totals.items():
        values = [run.value for run in runs if run.value is not None]
        errors = [run.stderr for run in runs if run.value is not None and run.stderr is not None]
        problems = {run.problems for run in runs}
        score = score_total(
            series,
            statistics.fmean(values) if values else None,
            statistics.fmean(errors) if values and len(errors) == len(values) else None,
            metric=runs[0].metric,
            problems=(problems.pop() or 0) if len(problems) == 1 else 0,
            runs=min((run.runs for run in runs if run.runs), default=None),
            level=level,
            ends=ends,
        )
        if len(values) > 1:
            score = replace(score, runs=len(values), between_runs=statistics.stdev(values))
        reasons = [score.reason]
        if 0 < len(errors) < len(values):
            reasons = [f"{len(values) - len(errors)} of {len(values)} report no standard error"]
        if 0 < len(values) < len(runs):
            reasons.insert(0, f"{len(runs) - len(values)} of {len(runs)} runs have no score")
        reason = "; ".join(filter(None, reasons))
        scores.append(replace(score, runs=score.runs or len(values), reason=reason))
    return tuple(scores)


def make_empty_scores(series: Sequence[str], ends: tuple[float, float]) -> ProblemScores:
    """Make problem scores, without any problem, for series that only have totals."""
    floats, counts = np.empty((0, 0)), np.empty((0, 0), np.int64)
    binary, notes = (False,) * len(series), OutcomeNotes()
    return ProblemScores(
        tuple(series), (), (), counts, counts, floats, floats, binary, *ends, floats, floats, floats, notes
    )


def score_total(
    series: str,
    value: float | None,
    stderr: float | None = None,
    *,
    metric: str = "mean",
    problems: int = 0,
    runs: int | None = None,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> Score:
    """Return a reported total, such as ``acc`` with ``acc_stderr``; it is never compared.

    The interval is value ± z stderr, cut at the range of scores ``ends`` if it is stated. ``problems`` is the
    number of problems, 0 if not stated. If ``stderr`` is that of a mean over ``runs``, the interval is by
    Student's t with runs - 1 degrees of freedom.
    """
    method = REPORTED_RUNS if runs else REPORTED
    score = Score(series, metric, "", level, method=method, problems=problems, runs=runs or 0)
    if value is None or not math.isfinite(value):
        return replace(score, reason="no score is reported")
    score = replace(score, estimate=value)
    if stderr is None or not math.isfinite(stderr):
        return replace(score, reason="no standard error is reported")
    if runs == 1:
        return replace(score, reason="1 run has no spread")
    quantile = t_quantile((1 + check_level(level)) / 2, runs - 1 if runs else math.inf)
    score = replace(score, between_runs=stderr * math.sqrt(runs) if runs else None)
    half = quantile * stderr
    if not 0 < half < math.inf:
        reason = f"the reported standard error is {stderr:g}, which leaves nothing to build an interval from"
        return replace(score, reason=reason)
    lowest, highest = ends or (-math.inf, math.inf)
    low, high = max(value - half, min(lowest, value)), min(value + half, max(highest, value))
    return replace(score, low=low, high=high, stderr=stderr)
