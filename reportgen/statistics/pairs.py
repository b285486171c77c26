"""Pairs of series on one benchmark: differences, intervals, and what chance would make of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from reportgen.outcomes import Comparison, Verdict
from reportgen.statistics.intervals import (
    FEW_OF,
    deviation,
    estimate_over_differences,
    is_constant,
    mean,
    variance_of_mean,
)
from reportgen.statistics.metrics import find_rows, list_units
from reportgen.statistics.run_variance import RunVariance, estimate_run_variance, shrink_variances
from reportgen.statistics.sign_flips import Flips, FlipTest
from reportgen.statistics.step_down import Hypothesis
from reportgen.statistics.student_t import t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from reportgen.model import FloatArray
    from reportgen.outcomes import ProblemScores
    from reportgen.statistics.metrics import ProblemValues

Pair: TypeAlias = tuple[str, str]

# With 5 problems the smallest possible p is 2/32, above 0.05 whatever the scores.
FEWEST: Final = 6
T_TEST: Final = "t over problems and runs"
SMALLEST_P: Final = 1e-300


class PairedBenchmark:
    """The pairs of one benchmark that are compared.

    Args:
        name: of the benchmark.
        scores: its problem scores.
        values: their metric.
        pairs: names of series.

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
        """Test each pair by itself; so many draws of chance are kept for the family."""
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
            adjusted_p=None,
            tested_together=0,
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
