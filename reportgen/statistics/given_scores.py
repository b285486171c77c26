"""Totals that are used as reported, without the problems behind them."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.outcomes import REPORTED, OutcomeNotes, ProblemScores, Score
from reportgen.statistics.intervals import check_level, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.outcomes import ReportedScore


def score_totals(
    reported: Iterable[ReportedScore],
    *,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
) -> tuple[Score, ...]:
    """The score of each series from its totals on one benchmark, in order of first appearance.

    Several totals of a series are taken for runs on the same problems: their mean, with the mean of their
    standard errors, which the mean's own never exceeds, however the runs depend on each other (the standard
    deviation of a sum is at most the sum of standard deviations). Their spread is given beside.

    Args:
        reported: totals of one benchmark and metric.
        level: confidence level.
        ends: the smallest and the largest possible score; None where the range is not known.
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

    Args:
        series: its name.
        value: the total; None or not finite where there is none.
        stderr: its standard error; None where it is not given.
        metric: as it is called there.
        problems: how many it is over; 0 where that is not said.
        level: confidence level.
        ends: the smallest and the largest possible score; None where the range is not known.
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
