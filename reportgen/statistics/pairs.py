"""Pairs of series: their differences on one benchmark, and on the macro average of several."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.core.outcomes import Score
from reportgen.statistics.distributions import deviation, mean, t_quantile, t_tail
from reportgen.statistics.intervals import (
    FEW_OF,
    RunVariance,
    add_variances,
    estimate_over_differences,
    estimate_run_variance,
    is_constant,
    shrink_variances,
    variance_of_mean,
)
from reportgen.statistics.metrics import find_rows, list_units
from reportgen.statistics.permutation_tests import Flips, FlipTest, Hypothesis, run_flip_test
from reportgen.statistics.scores import make_missing_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from reportgen.core.model import FloatArray
    from reportgen.core.outcomes import ProblemScores
    from reportgen.statistics.metrics import ProblemValues


Pair: TypeAlias = tuple[str, str]

# With 5 problems the smallest possible p is 2/32, above 0.05 whatever the scores.
FEWEST: Final = 6
T_TEST: Final = "t over problems and runs"
SMALLEST_P: Final = 1e-300


class PairedBenchmark:
    """The pairs of one benchmark that are compared.

    Attributes:
        tested: the pairs that share at least ``FEWEST`` problems, or clusters of them.
        runs: what the runs of each series add to its variance; None under 2 runs.
        averaged_runs: the same, averaged over the series of these pairs.
    """

    def __init__(
        self, name: str, scores: ProblemScores, values: ProblemValues, pairs: Sequence[Pair]
    ) -> None:
        self.name, self.scores, self.values = name, scores, values
        self.pairs = tuple(dict.fromkeys(pairs))
        self._place = {series: place for place, series in enumerate(scores.series)}
        self._units = list_units(scores)
        self._known = np.isfinite(values.series)
        self.tested = frozenset(pair for pair in self.pairs if self._count_units(pair) >= FEWEST)
        present = [series for series in scores.series if any(series in pair for pair in self.pairs)]
        own = [
            estimate_run_variance(values.runs[find_rows(scores, self._place[series])]) for series in present
        ]
        self.runs = dict(zip(present, own, strict=True))
        self.averaged_runs = dict(zip(present, shrink_variances(own), strict=True))

    def prepare(self, draws: int, seed: int) -> None:
        """Test each pair by itself; the family needs so many draws of chance."""
        # Other draws of the same signs for each benchmark: problems of one name are not one problem.
        first = int.from_bytes(hashlib.sha256(self.name.encode("utf-8", "surrogatepass")).digest()[:4])
        ends = self.scores.lowest, self.scores.highest
        self._flips = Flips(
            self.values.series, self._units or self.scores.problems, ends, seed, draws=draws, first=first
        )
        # Of few problems no test comes, but the average of benchmarks needs their draws.
        found = self._flips.run_tests([self.find_rows(pair) for pair in self.pairs])
        self._tests = {
            pair: test for pair, test in zip(self.pairs, found, strict=True) if pair in self.tested
        }

    def find_rows(self, pair: Pair) -> tuple[int, int]:
        """The places of a pair's series."""
        return self._place[pair[0]], self._place[pair[1]]

    def compute_differences(self, pair: Pair) -> tuple[FloatArray, list[str]]:
        """Differences on the problems that both have, and the unit of each."""
        a, b = self.find_rows(pair)
        shared = np.flatnonzero(self._known[a] & self._known[b])
        units = self._units or self.scores.problems
        return self.values.series[a, shared] - self.values.series[b, shared], [
            units[place] for place in shared.tolist()
        ]

    def compare(self, pair: Pair, level: float) -> Comparison:
        """One pair before the adjustment for others: the verdict is still open."""
        a, b = self.find_rows(pair)
        differences, units = self.compute_differences(pair)
        count, width = differences.size, self.scores.highest - self.scores.lowest
        runs = [self.runs[name] for name in pair]
        interval = estimate_over_differences(
            differences, -width, width, level, units=units if self._units else None, runs=runs
        )
        spread = None
        if count > 1:
            spread = 0.0 if is_constant(differences, -width, width) else deviation(differences)
        test = self._tests.get(pair)
        difference = mean(differences) if count else None
        if test and interval.run_stderr and interval.stderr and interval.df and difference is not None:
            p = 2 * t_tail(abs(difference) / interval.stderr, interval.df)
            test = FlipTest(max(p, SMALLEST_P), T_TEST)
        return Comparison(
            a=pair[0],
            b=pair[1],
            metric=self.values.name,
            level=level,
            difference=difference,
            low=interval.low,
            high=interval.high,
            spread=spread,
            p=test.p if test else None,
            shared=count,
            only_a=self._list_problems(self._known[a] & ~self._known[b]),
            only_b=self._list_problems(self._known[b] & ~self._known[a]),
            verdict=Verdict.UNCLEAR if test else Verdict.TOO_FEW,
            method=test.method if test else "",
            interval_method=interval.method,
            reason=interval.reason if test else self._too_few(pair),
            runs=(len(find_rows(self.scores, a)), len(find_rows(self.scores, b))),
            stderr=interval.stderr,
            run_stderr=interval.run_stderr,
            df=interval.df,
        )

    def make_hypothesis(self, pair: Pair) -> Hypothesis:
        """A tested pair as one hypothesis of a family."""
        a, b = self.find_rows(pair)
        differences, units = self.compute_differences(pair)
        variance = variance_of_mean(differences, units if self._units else None).total
        sides = tuple((name, self.averaged_runs[name]) for name in pair)
        return Hypothesis(
            mean(differences),
            variance,
            self.name,
            (sides[0], sides[1]),
            lambda: self._flips.draw_centred(a, b),
        )

    def describe_few(self, pair: Pair) -> str:
        """That few of many problems make a pair's difference; empty where more do."""
        differences, _ = self.compute_differences(pair)
        near = 1e-9 * (self.scores.highest - self.scores.lowest)
        differing = int(np.count_nonzero(np.abs(differences) > near))
        if not differing or differing * FEW_OF > differences.size:
            return ""
        carry = "1 problem carries" if differing == 1 else f"{differing} problems carry"
        equal = f"on {differences.size - differing} of {differences.size} problems the two are equal"
        return f"{equal}: {carry} the difference"

    def _count_units(self, pair: Pair) -> int:
        a, b = self.find_rows(pair)
        shared = self._known[a] & self._known[b]
        if not self._units:
            return int(np.count_nonzero(shared))
        return len({self._units[place] for place in np.flatnonzero(shared).tolist()})

    def _too_few(self, pair: Pair) -> str:
        units, what = self._count_units(pair), "cluster" if self._units else "problem"
        return f"{units} shared {what}{'' if units == 1 else 's'}: fewer than {FEWEST} cannot decide"

    def _list_problems(self, chosen: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.scores.problems[place] for place in np.flatnonzero(chosen).tolist())


def compute_average_run_variance(parts: Sequence[PairedBenchmark], series: str) -> RunVariance | None:
    """What the runs of a series add to its average over benchmarks.

    Where the runs have the same names on every benchmark, they are the same runs: their own averages vary.
    Otherwise benchmarks add as if they had been run apart.
    """
    found = [part.runs[series] for part in parts]
    known = [one for one in found if one is not None]
    if len(known) < len(parts):
        return None
    count = len(parts)
    names, rows = [], []
    for part in parts:
        own = find_rows(part.scores, part.scores.series.index(series))
        names.append([part.scores.runs[row].run for row in own])
        whole = part.values.runs[own]
        rows.append(whole[:, np.isfinite(whole).all(axis=0)].mean(axis=1))
    residual = sum(one.residual for one in known) / count**2
    if all(own == names[0] for own in names):
        return RunVariance(known[0].runs, deviation(np.mean(rows, axis=0)) ** 2, residual)
    between = sum(one.between for one in known) / count**2
    return RunVariance(min(one.runs for one in known), between, residual)


ESTIMAND = "these benchmarks, problems like theirs"
METHOD = "squared half-widths of the benchmarks"


def compute_macro_score(series: str, column: Sequence[tuple[str, Score | None]], level: float) -> Score:
    """The mean of a series' scores on B benchmarks, each counting once.

    The benchmarks are fixed and their problems drawn independently, so variances add: with half-widths h_b
    below (or above) each score the average's is √(Σ h_b²)/B. For intervals of one quantile times a standard
    error this is the quantile times √(Σ se_b²)/B; Wilson's and other uneven intervals enter with the side
    they have (Zou and Donner 2008, "square-and-add", MOVER). It says nothing about other benchmarks.

    ``column`` holds the benchmarks and the series' score on each, None where it has none.

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

    The interval combines the benchmarks' own as in ``compute_macro_score``; where runs add to the variance
    it is t √(Σ v_b/B² + τ_a²/r_a + τ_b²/r_b) with the degrees of freedom of Satterthwaite (1946). p is by
    sign flips (by t where runs add): every shared problem of every benchmark, or cluster, is flipped by
    itself and weighs 1/(B P_b).

    ``compared`` are the comparisons on each benchmark, on all of which the two share problems; ``runs`` is
    what the runs of both add to their averages.
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
    """A pair on the average of all benchmarks as one hypothesis of a family."""
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
