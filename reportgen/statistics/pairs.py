"""Pairs of series: differences on one benchmark, and on the macro average of several."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import THESE_PROBLEMS, Comparison, Noises, Score, Verdict
from reportgen.core.words import format_count
from reportgen.statistics.distributions import compute_t_p, deviation, mean
from reportgen.statistics.intervals import (
    WITHIN_METHOD,
    Interval,
    NullVariance,
    RunVariance,
    add_variances,
    estimate_over_differences,
    estimate_run_variance,
    estimate_within_problems,
    is_constant,
    moderate_variances,
    null_variance_of_mean,
    share_variance,
    sum_by_unit,
)
from reportgen.statistics.metrics import (
    compute_problem_values,
    compute_sampling_variance,
    find_rows,
    list_units,
)
from reportgen.statistics.permutation_tests import Flips, FlipTest, Hypothesis
from reportgen.statistics.scores import make_missing_score
from reportgen.statistics.verdicts import add_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from reportgen.core.comparisons import Metric, ProblemScores
    from reportgen.core.model import FloatArray

Pair: TypeAlias = tuple[str, str]

# With 5 problems the smallest possible p is 2/32, above 0.05 whatever the scores.
FEWEST: Final = 6
_T_TEST: Final = "t over problems and runs"


class PairedBenchmark:
    """Compared pairs of one benchmark.

    ``tested`` are the pairs that share at least ``FEWEST`` problems, or clusters of them. ``runs`` is what
    the runs of each series add to its variance, None under 2; ``moderated_runs`` is that for the family.
    """

    def __init__(
        self,
        name: str,
        scores: ProblemScores,
        pairs: Sequence[Pair],
        metric: Metric | str,
        k: int | None,
    ) -> None:
        self.name, self.scores, self.values = name, scores, compute_problem_values(scores, metric, k)
        self._sampling = compute_sampling_variance(scores, metric, k)
        self.pairs = tuple(dict.fromkeys(pairs))
        self._row_of = {series: row for row, series in enumerate(scores.series)}
        self._units = list_units(scores)
        self._known = np.isfinite(self.values.series)
        self.tested = frozenset(pair for pair in self.pairs if self._count_units(pair) >= FEWEST)
        paired = {name for pair in self.pairs for name in pair}
        present = [series for series in scores.series if series in paired]
        own = [
            estimate_run_variance(self.values.runs[find_rows(scores, self._row_of[name])]) for name in present
        ]
        self.runs = dict(zip(present, own, strict=True))
        self.moderated_runs = dict(zip(present, moderate_variances(own), strict=True))
        self._tests: dict[Pair, FlipTest] = {}

    def prepare(self, draws: int, seed: int) -> None:
        """Test each pair separately, with this many random draws for the family."""
        # Each benchmark uses other draws: problems of the same name are different problems.
        first = int.from_bytes(hashlib.sha256(self.name.encode("utf-8", "surrogatepass")).digest()[:4])
        units, ends = self._units or self.scores.problems, (self.scores.lowest, self.scores.highest)
        self._flips = Flips(self.values.series, units, ends, seed, draws=draws, first=first)
        # Few problems give no test, but the average of benchmarks needs their draws.
        tests = self._flips.run_tests([self._find_rows(pair) for pair in self.pairs])
        self._tests = {
            pair: test for pair, test in zip(self.pairs, tests, strict=True) if pair in self.tested
        }

    def _find_rows(self, pair: Pair) -> tuple[int, int]:
        return self._row_of[pair[0]], self._row_of[pair[1]]

    def compute_differences(self, pair: Pair) -> tuple[FloatArray, list[str]]:
        """Return the differences on the problems that both have, and the unit of each."""
        a, b = self._find_rows(pair)
        shared = np.flatnonzero(self._known[a] & self._known[b])
        units = self._units or self.scores.problems
        differences = self.values.series[a, shared] - self.values.series[b, shared]
        return differences, [units[column] for column in shared.tolist()]

    def compare(self, pair: Pair, level: float, *, within: bool = False) -> Comparison:
        """Compare one pair before adjustment for others, ``within`` these problems or over ones like them."""
        a, b = self._find_rows(pair)
        differences, units = self.compute_differences(pair)
        count, width = differences.size, self.scores.highest - self.scores.lowest
        ends = -width, width
        runs = share_variance([self.runs[name] for name in pair])
        whole = estimate_over_differences(differences, ends, level, units if self._units else None, runs)
        interval = self._estimate_sampling(pair, level) if within else whole
        spread = None
        if count > 1:
            spread = 0.0 if is_constant(differences, ends) else deviation(differences)
        difference = mean(differences) if count else None
        test, reason = self._test(pair, difference, interval, within=within)
        return Comparison(
            *pair,
            metric=self.values.name,
            level=level,
            estimand=THESE_PROBLEMS if within else "problems like these",
            noises=self._split_noise(pair, whole, level),
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
            reason=reason,
            runs=(len(find_rows(self.scores, a)), len(find_rows(self.scores, b))),
            stderr=interval.stderr,
            run_stderr=interval.run_stderr,
            df=interval.df,
        )

    def _test(
        self, pair: Pair, difference: float | None, interval: Interval, *, within: bool
    ) -> tuple[FlipTest | None, str]:
        """Return the test of a pair, by t unless problems alone vary, and what is missing or unusual."""
        if pair not in self.tested:
            what = f"shared {'cluster' if self._units else 'problem'}"
            some = format_count(self._count_units(pair), what)
            return None, f"{some}, and fewer than {FEWEST} cannot decide"
        if difference is None or not (interval.stderr and interval.df and (within or interval.run_stderr)):
            return self._tests.get(pair), interval.reason
        p = compute_t_p(difference, interval.stderr, interval.df)
        if within:
            return FlipTest(p, WITHIN_METHOD), interval.reason
        return FlipTest(p, _T_TEST), "; ".join(filter(None, [interval.reason, self._describe_lone(pair)]))

    def _estimate_sampling(self, pair: Pair, level: float) -> Interval:
        """Return the interval of a difference for the same problems with other samples."""
        rows = list(self._find_rows(pair))
        shared = np.flatnonzero(self._known[rows].all(axis=0))
        if not shared.size:
            return Interval(reason="no shared problem")
        if self._sampling is None:
            return Interval(reason=f"the sampling noise of {self.values.name} is not known")
        variances, freedom = (array[rows][:, shared] for array in self._sampling)
        width = self.scores.highest - self.scores.lowest
        centre = mean(self.compute_differences(pair)[0])
        return estimate_within_problems(centre, variances, freedom, (-width, width), level)

    def _split_noise(self, pair: Pair, interval: Interval, level: float) -> Noises | None:
        """Split the standard error for problems like these by where it comes from."""
        if interval.stderr is None:
            return None
        answers = self._estimate_sampling(pair, level).stderr
        rest = interval.stderr**2 - interval.run_stderr**2 - (answers or 0.0) ** 2
        known = any(self.runs[name] for name in pair)
        return Noises(answers, math.sqrt(max(0.0, rest)), interval.run_stderr if known else None)

    def _describe_lone(self, pair: Pair) -> str:
        lone = [name for name in pair if self.runs[name] is None]
        if len(lone) != 1:
            return ""
        (other,) = {*pair} - {*lone}
        return f"{lone[0]} has one run, which is taken to vary as the runs of {other} do"

    def make_hypothesis(self, pair: Pair) -> Hypothesis:
        """Make a tested pair a hypothesis of a family."""
        differences, units = self.compute_differences(pair)
        variance = null_variance_of_mean(differences, units if self._units else None)
        sides = list(zip(pair, share_variance([self.moderated_runs[name] for name in pair]), strict=True))
        rows = self._find_rows(pair)
        return Hypothesis(mean(differences), variance, sides, lambda: self._flips.draw_means(*rows))

    def _count_units(self, pair: Pair) -> int:
        return len(set(self.compute_differences(pair)[1]))

    def _list_problems(self, chosen: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.scores.problems[column] for column in np.flatnonzero(chosen).tolist())


def compute_average_run_variance(parts: Sequence[PairedBenchmark], series: str) -> RunVariance | None:
    """Return the variance that the runs of a series add to its average over benchmarks.

    If the runs have the same names on every benchmark, they are the same runs: their own averages vary.
    Otherwise the runs of different benchmarks are independent.
    """
    count = len(parts)
    known = [variance for part in parts if (variance := part.runs[series]) is not None]
    if len(known) < count:
        return None
    names, rows = [], []
    for part in parts:
        own = find_rows(part.scores, part.scores.series.index(series))
        names.append([part.scores.runs[row].run for row in own])
        whole = part.values.runs[own]
        rows.append(whole[:, np.isfinite(whole).all(axis=0)].mean(axis=1))
    residual = sum(one.residual for one in known) / count**2
    if all(own == names[0] for own in names):
        return known[0]._replace(between=deviation(np.mean(rows, axis=0)) ** 2, residual=residual)
    between = sum(one.between for one in known) / count**2
    runs = min(one.runs for one in known)
    return RunVariance(runs, between, residual, min(one.freedom for one in known))


_ESTIMANDS = {
    "problems like these": "these benchmarks, problems like theirs",
    THESE_PROBLEMS: "these benchmarks, these problems",
}
_METHOD = "squared half-widths of the benchmarks"


def compute_macro_score(series: str, column: Sequence[tuple[str, Score | None]], level: float) -> Score:
    """Return the mean of a series' scores on B fixed benchmarks, equally weighted.

    With half-widths h_b below (or above) each score the average's is √(Σ h_b²)/B (Zou and Donner 2008,
    "square-and-add", MOVER). ``column`` holds the benchmarks and the series' score on each; if one is missing
    there is no estimate, if one has no interval there is none, with the reason.
    """
    gone = [name for name, score in column if score is None or score.estimate is None]
    if gone:
        reason = f"no score on {', '.join(gone)}: an average over the others could not be compared"
        return make_missing_score(series, level, reason)
    known = [score for _, score in column if score is not None]
    estimate, low, high = _average_intervals([(one.estimate, one.low, one.high) for one in known])
    without = [name for name, score in column if score is not None and score.low is None]
    return Score(
        series=series,
        metric=", ".join(dict.fromkeys(one.metric for one in known)),
        # The estimand of intervals of reported totals is unknown.
        estimand=_ESTIMANDS[known[0].estimand] if all(one.estimand for one in known) else "",
        level=level,
        estimate=estimate,
        low=low,
        high=high,
        method="" if without else _METHOD,
        reason=f"no interval on {', '.join(without)}" if without else "",
        problems=sum(one.problems for one in known),
    )


def compare_macro(
    parts: Sequence[PairedBenchmark],
    pair: Pair,
    compared: Sequence[Comparison],
    runs: Sequence[RunVariance | None],
    seed: int,
) -> Comparison:
    """Compare a pair by the mean of its differences on B benchmarks, before adjustment for others.

    The interval is made as in ``compute_macro_score``; if runs add to the variance it is t √(Σ v_b/B² +
    τ_a²/r_a + τ_b²/r_b). p is by sign flips (by t if runs add): every shared problem of every benchmark, or
    cluster, is flipped independently and weighs 1/(B P_b). ``compared`` are the comparisons on each
    benchmark, ``runs`` what the runs of both add to their averages.
    """
    count, average = len(compared), _average_differences(parts, pair, compared)
    weighed, units = [], []
    for part in parts:
        differences, own = part.compute_differences(pair)
        weighed.append(differences / (differences.size * count))
        units += [f"{part.name}\0{unit}" for unit in own]
    names = list(dict.fromkeys(units))
    difference, low, high = _average_intervals([(one.difference, one.low, one.high) for one in compared])
    average = replace(
        average, difference=difference, low=low, high=high, interval_method="" if average.reason else _METHOD
    )
    if len(names) < FEWEST:
        return replace(average, reason=f"{len(names)} shared problems, and fewer than {FEWEST} cannot decide")
    summed = sum_by_unit(np.concatenate(weighed), units)
    most = float(np.abs(summed).max()) or 1.0
    flips = Flips(np.stack([summed, np.zeros(summed.size)]), names, (-most, most), seed)
    (test,) = flips.run_tests([(0, 1)])
    average = replace(average, p=test.p, method=test.method, verdict=Verdict.UNCLEAR)
    return average if average.reason else _add_runs(average, compared, runs)


def _average_differences(
    parts: Sequence[PairedBenchmark], pair: Pair, compared: Sequence[Comparison]
) -> Comparison:
    """Return the comparison of a pair on the average of benchmarks, without interval and test."""
    one = compared[0]
    without = [part.name for part, own in zip(parts, compared, strict=True) if own.low is None]
    return Comparison(
        *pair,
        metric=one.metric,
        level=one.level,
        estimand=one.estimand,
        difference=math.fsum(own.difference or 0.0 for own in compared) / len(compared),
        shared=sum(own.shared for own in compared),
        reason=f"no interval on {', '.join(without)}" if without else "",
        runs=(min(own.runs[0] for own in compared), min(own.runs[1] for own in compared)),
    )


def _add_runs(
    average: Comparison, compared: Sequence[Comparison], runs: Sequence[RunVariance | None]
) -> Comparison:
    """Return the average with its standard error, and interval and p from it if runs add to it."""
    count = len(compared)
    known = [(one.stderr, one.df, one.run_stderr) for one in compared]
    parts = [((stderr**2 - of_runs**2) / count**2, df) for stderr, df, of_runs in known if stderr and df]
    if len(parts) < count:
        return average
    variance = add_variances(parts, runs)
    stderr = math.sqrt(variance.total)
    if not variance.of_runs:
        return replace(average, stderr=stderr, df=variance.df)
    average = add_t(average, stderr, variance.df, _T_TEST, "t over problems of the benchmarks and runs")
    return replace(average, run_stderr=math.sqrt(variance.of_runs))


def compare_macro_within(
    parts: Sequence[PairedBenchmark], pair: Pair, compared: Sequence[Comparison]
) -> Comparison:
    """Compare a pair by the mean of its differences on B benchmarks, of these problems: d ± t √(Σ v_b)/B."""
    average = _average_differences(parts, pair, compared)
    if average.reason or average.shared < FEWEST:
        few = f"{average.shared} shared problems: fewer than {FEWEST} cannot decide"
        return replace(average, reason=average.reason or few)
    known = [((one.stderr / len(compared)) ** 2, one.df) for one in compared if one.stderr and one.df]
    variance = add_variances(known, [])
    return add_t(average, math.sqrt(variance.total), variance.df, WITHIN_METHOD)


def make_average_hypothesis(
    parts: Sequence[PairedBenchmark], pair: Pair, runs: Sequence[RunVariance | None]
) -> Hypothesis:
    """Make a pair on the average of all benchmarks a hypothesis of a family."""
    own = [part.make_hypothesis(pair) for part in parts]
    count = len(own)

    def draw() -> FloatArray:
        return sum((one.draw() for one in own[1:]), own[0].draw()) / count

    difference = math.fsum(one.difference for one in own) / count
    variance = NullVariance(
        math.fsum(one.variance.total for one in own) / count**2,
        math.fsum(one.variance.weight for one in own) / count**2,
    )
    return Hypothesis(difference, variance, list(zip(pair, runs, strict=True)), draw)


def _average_intervals(
    intervals: Sequence[tuple[float | None, float | None, float | None]],
) -> tuple[float, float | None, float | None]:
    """Return the mean of centres and its ends, which are None if one of the intervals is missing."""
    count = len(intervals)
    average = math.fsum(centre or 0.0 for centre, _, _ in intervals) / count
    below, above = [], []
    for centre, low, high in intervals:
        if centre is None or low is None or high is None:
            return average, None, None
        below.append(centre - low)
        above.append(high - centre)
    return average, average - math.hypot(*below) / count, average + math.hypot(*above) / count
