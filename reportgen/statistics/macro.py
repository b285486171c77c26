"""The macro average: the mean over benchmarks of a series' scores, and of its differences to a baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.outcomes import Score, Verdict
from reportgen.statistics.intervals import add_variances
from reportgen.statistics.pairs import FEWEST, SMALLEST_P, T_TEST
from reportgen.statistics.scores import make_missing_score
from reportgen.statistics.sign_flips import run_flip_test
from reportgen.statistics.step_down import Hypothesis
from reportgen.statistics.student_t import t_quantile, t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray
    from reportgen.outcomes import Comparison
    from reportgen.statistics.pairs import Pair, PairedBenchmark
    from reportgen.statistics.run_variance import RunVariance

ESTIMAND = "these benchmarks, problems like theirs"
METHOD = "squared half-widths of the benchmarks"


def compute_macro_score(series: str, column: Sequence[tuple[str, Score | None]], level: float) -> Score:
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
        return make_missing_score(series, level, reason)
    count = len(known)
    metrics = dict.fromkeys(one.metric for _, one in known)
    low, high = _combine_spans([(one.estimate, one.low, one.high) for _, one in known])
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


def compare_macro(
    parts: Sequence[PairedBenchmark],
    pair: Pair,
    compared: Sequence[Comparison],
    runs: Sequence[RunVariance | None],
    seed: int,
) -> Comparison:
    """The mean of a pair's differences on B benchmarks, before the adjustment for others.

    The interval combines the benchmarks' own as in ``compute_macro_score``; where runs add to the variance it is
    t √(Σ v_b/B² + τ_a²/r_a + τ_b²/r_b) with the degrees of freedom of Satterthwaite (1946). p is by sign
    flips (by t where runs add): every shared problem of every benchmark, or cluster, is flipped by itself and
    weighs 1/(B P_b).

    Args:
        parts: the benchmarks; the two share problems on each.
        pair: names of series.
        compared: the comparison on each benchmark.
        runs: what the runs of both add to their averages.
        seed: of the report.
    """
    summed, units = _collect_weighted(parts, pair)
    test = run_flip_test(summed, units, seed) if len(units) >= FEWEST else None
    reason = "" if test else f"{len(units)} shared problems: fewer than {FEWEST} cannot decide"
    without = [part.name for part, one in zip(parts, compared, strict=True) if one.low is None]
    difference = math.fsum(one.difference or 0.0 for one in compared) / len(compared)
    low, high = _combine_spans([(one.difference, one.low, one.high) for one in compared])
    average = replace(
        compared[0],
        difference=difference,
        low=None if low is None else difference - low,
        high=None if high is None else difference + high,
        spread=None,
        p=test.p if test else None,
        shared=sum(one.shared for one in compared),
        only_a=(),
        only_b=(),
        verdict=Verdict.UNCLEAR if test else Verdict.TOO_FEW,
        method=test.method if test else "",
        interval_method="" if without else METHOD,
        reason=reason or (f"no interval on {', '.join(without)}" if without else ""),
        runs=(min(one.runs[0] for one in compared), min(one.runs[1] for one in compared)),
        stderr=None,
        run_stderr=0.0,
        df=None,
    )
    return _add_runs(average, compared, runs) if test and not without else average


def _collect_weighted(parts: Sequence[PairedBenchmark], pair: Pair) -> tuple[FloatArray, list[str]]:
    """What each unit of each benchmark adds to the average difference, and the units' names."""
    weights: dict[str, list[float]] = defaultdict(list)
    for part in parts:
        differences, names = part.compute_differences(pair)
        for name, weighed in zip(
            names, (differences / (differences.size * len(parts))).tolist(), strict=True
        ):
            weights[f"{part.name}\0{name}"].append(weighed)
    return np.array([math.fsum(own) for own in weights.values()]), list(weights)


def _add_runs(
    average: Comparison, compared: Sequence[Comparison], runs: Sequence[RunVariance | None]
) -> Comparison:
    """The average with its standard error, and an interval and p from it where runs add to it."""
    count = len(compared)
    known = [(one.stderr, one.df, one.run_stderr) for one in compared]
    parts = [((stderr**2 - of_runs**2) / count**2, df) for stderr, df, of_runs in known if stderr and df]
    if len(parts) < count:
        return average
    variance = add_variances(parts, runs)
    stderr, difference = math.sqrt(variance.total), average.difference or 0.0
    average = replace(average, stderr=stderr, df=variance.df)
    if not variance.of_runs:
        return average
    half = t_quantile((1 + average.level) / 2, variance.df) * stderr
    return replace(
        average,
        low=difference - half,
        high=difference + half,
        p=max(2 * t_tail(abs(difference) / stderr, variance.df), SMALLEST_P),
        method=T_TEST,
        interval_method="t over problems of the benchmarks and runs",
        run_stderr=math.sqrt(variance.of_runs),
    )


def make_average_hypothesis(
    parts: Sequence[PairedBenchmark], pair: Pair, runs: Sequence[RunVariance | None]
) -> Hypothesis:
    """A pair on the average of all benchmarks as one hypothesis of a family.

    Args:
        parts: the benchmarks.
        pair: names of series.
        runs: what the runs of both add to their averages, averaged over the family.
    """
    own = [part.make_hypothesis(pair) for part in parts]
    count = len(own)

    def draw() -> tuple[FloatArray, FloatArray]:
        drawn = [one.draw() for one in own]
        means = sum((means for means, _ in drawn[1:]), drawn[0][0]) / count
        return means, sum((variances for _, variances in drawn[1:]), drawn[0][1]) / count**2

    return Hypothesis(
        difference=math.fsum(one.difference for one in own) / count,
        variance=math.fsum(one.variance for one in own) / count**2,
        group=None,
        sides=((pair[0], runs[0]), (pair[1], runs[1])),
        draw=draw,
    )


def _combine_spans(
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
