"""The macro average: the mean over benchmarks of a series' scores, and of its differences to a baseline."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.outcomes import Score, Verdict
from reportgen.statistics.compare import FEWEST
from reportgen.statistics.metrics import problem_values
from reportgen.statistics.scores import no_score
from reportgen.statistics.sign_flips import flip_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.model import FloatArray
    from reportgen.outcomes import Comparison, Metric, ProblemScores

ESTIMAND = "these benchmarks, problems like theirs"
METHOD = "squared half-widths of the benchmarks"


def macro_score(series: str, column: Sequence[tuple[str, Score | None]], level: float) -> Score:
    """The mean of a series' scores on B benchmarks, each counting once.

    The benchmarks are fixed and their problems drawn independently, so variances add: with half-widths h_b
    below (or above) each score the average's is √(Σ h_b²)/B. For intervals of one quantile times a standard
    error this is the quantile times √(Σ se_b²)/B; Wilson's and other uneven intervals enter with the side
    they have (Zou and Donner 2008, "square-and-add", MOVER). It says nothing about other benchmarks.

    Args:
        series: its name.
        column: benchmarks and the series' score on each, None where it has none.
        level: of the scores' intervals.

    Returns:
        A score without estimate where one is missing, without interval where one has none; with the reason.
    """
    known = [(name, one) for name, one in column if one is not None and one.estimate is not None]
    if len(known) < len(column):
        gone = [name for name, one in column if one is None or one.estimate is None]
        reason = f"no score on {', '.join(gone)}: an average over the others could not be compared"
        return no_score(series, level, reason)
    count = len(known)
    metrics = dict.fromkeys(one.metric for _, one in known)
    low, high = _spans([(one.estimate, one.low, one.high) for _, one in known])
    estimate = math.fsum(one.estimate or 0.0 for _, one in known) / count
    without = [name for name, one in known if one.low is None]
    reason = f"no interval on {', '.join(without)}" if without else ""
    return Score(
        series=series,
        metric=", ".join(metrics),
        # Of totals that are used as reported it is not known what their intervals are about.
        estimand=ESTIMAND if all(one.estimand for _, one in known) else "",
        level=level,
        estimate=estimate,
        low=None if low is None else estimate - low,
        high=None if high is None else estimate + high,
        method="" if without else METHOD,
        reason=reason,
        problems=sum(one.problems for _, one in known),
    )


def macro_comparison(
    parts: Mapping[str, ProblemScores],
    benchmarks: Sequence[str],
    paired: Sequence[Comparison | None],
    *,
    metric: Metric | str,
    k: int | None,
    seed: int,
) -> Comparison | None:
    """The mean over benchmarks of the paired differences, each benchmark counting once.

    The interval is made of the benchmarks' as in ``macro_score``. p is the sign-flip test of the same mean:
    every shared problem of every benchmark is flipped by itself and weighs 1/(B P_b).

    Args:
        parts: problem scores by benchmark.
        benchmarks: B names.
        paired: the comparison on each of them, None where there is none.
        metric: see ``scores``.
        k: see ``scores``.
        seed: of the report.

    Returns:
        Before adjustment; None unless the two share problems on every benchmark.
    """
    pairs = [one for one in paired if one is not None and one.difference is not None]
    if len(pairs) < len(benchmarks) or not pairs:
        return None
    weighed, names = [], []
    for benchmark, one in zip(benchmarks, pairs, strict=True):
        differences, problems = _differences(parts[benchmark], one, metric, k)
        weighed.append(differences / (one.shared * len(pairs)))
        names += [f"{benchmark}\0{problem}" for problem in problems]
    test = flip_test(np.concatenate(weighed), names, seed) if len(names) >= FEWEST else None
    reason = "" if test else f"{len(names)} shared problems: fewer than {FEWEST} cannot decide"
    without = [name for name, one in zip(benchmarks, pairs, strict=True) if one.low is None]
    difference = math.fsum(one.difference or 0.0 for one in pairs) / len(pairs)
    low, high = _spans([(one.difference, one.low, one.high) for one in pairs])
    return replace(
        pairs[0],
        difference=difference,
        low=None if low is None else difference - low,
        high=None if high is None else difference + high,
        spread=None,
        p=test.p if test else None,
        shared=len(names),
        only_a=(),
        only_b=(),
        verdict=Verdict.UNCLEAR if test else Verdict.TOO_FEW,
        method=test.method if test else "",
        interval_method="" if without else METHOD,
        reason=reason or (f"no interval on {', '.join(without)}" if without else ""),
    )


def _differences(
    part: ProblemScores, one: Comparison, metric: Metric | str, k: int | None
) -> tuple[FloatArray, list[str]]:
    """The differences of two series on the problems they share, and those problems."""
    values = problem_values(part, metric, k).series
    difference = values[part.series.index(one.a)] - values[part.series.index(one.b)]
    shared = np.isfinite(difference)
    return difference[shared], [part.problems[place] for place in np.flatnonzero(shared).tolist()]


def _spans(
    intervals: Sequence[tuple[float | None, float | None, float | None]],
) -> tuple[float | None, float | None]:
    """How far the average's interval reaches down and up; None where one of the intervals is missing."""
    below, above = [], []
    for centre, low, high in intervals:
        if centre is None or low is None or high is None:
            return None, None
        below.append(centre - low)
        above.append(high - centre)
    count = len(intervals)
    return math.hypot(*below) / count, math.hypot(*above) / count
