"""Permutation tests: sign flips of paired differences, and the step-down adjustment of a family.

If two series do not differ, each problem's difference could as well have the other sign (Fisher 1935, "The
Design of Experiments", 21; Dror et al. 2018 for its use in evaluation). Problems are flipped, never samples.
"""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.statistics.distributions import draw_t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.model import FloatArray, IntArray
    from reportgen.statistics.intervals import NullVariance, RunVariance

# With up to this many problems that differ, all sign vectors are enumerated.
EXACT = 20
FLIPS = 20_000
_EXACT_METHOD = "exact sign-flip"
_DRAWN_METHOD = f"{FLIPS // 1000} 000 seeded flips"

# Problems with signs in memory at once: 256 × 20 000 float64 are 41 MB.
_PROBLEMS_AT_ONCE = 256
_COLUMNS_AT_ONCE = 256
# Whole numbers up to this are exact in a float64, and so are their sums below it, in any order.
_EXACT_BITS = 53


class FlipTest(NamedTuple):
    """A two-sided p, in (0, 1], and how it was computed."""

    p: float
    method: str


class Flips:
    """Random signs of the units of one benchmark, and tests of its series' differences with them.

    Up to ``EXACT`` units that differ, p is the share of all sign vectors whose sum is at least as far from 0
    as the observed one; otherwise (1 + r)/(1 + ``FLIPS``) with r such sums among random ones (Phipson and
    Smyth 2010). The signs of a unit come from a hash of the seed and its name. Values are put on a grid of
    2^36 steps (fewer above 65 000 problems), so that all sums are exact. ``values`` has shape (S, P), NaN if
    a series does not have a problem; problems of one of the P ``units`` flip together. ``draw_means`` gives
    ``draws`` of the sums from the ``first`` on: benchmarks with problems of the same names are independent if
    their draws differ.
    """

    def __init__(
        self,
        values: FloatArray,
        units: Sequence[str],
        ends: tuple[float, float],
        seed: int = 0,
        *,
        draws: int = 0,
        first: int = 0,
    ) -> None:
        self._known = np.isfinite(values)
        bits = min(36, _EXACT_BITS - 1 - len(units).bit_length())
        self._step = (ends[1] - ends[0]) / 2.0**bits
        share = (np.where(self._known, values, ends[0]) - ends[0]) / (ends[1] - ends[0])
        self._grid = np.rint(share * 2.0**bits).astype(np.int64) * self._known
        self._names = list(dict.fromkeys(units))
        index = {name: place for place, name in enumerate(self._names)}
        self._unit_of = np.array([index[name] for name in units], dtype=np.int64)
        self._seed = seed
        self._draws = (first + np.arange(draws)) % FLIPS
        self._apart: dict[tuple[int, int], FloatArray] = {}

    def run_tests(self, pairs: Sequence[tuple[int, int]]) -> list[FlipTest]:
        """Run one test per pair of rows; p = 1 if nothing differs, or nothing is shared."""
        tests: dict[tuple[int, int], FlipTest] = {}
        apart = []
        for a, b in pairs:
            differences = self._compute_differences(a, b)
            differing = differences[np.abs(differences) > 1]
            same_problems = self._has_same_problems(a, b)
            if differing.size <= EXACT:
                tests[a, b] = FlipTest(_compute_exact_p(differing), _EXACT_METHOD)
            elif same_problems:
                p = _compute_share(self._sums[a] - self._sums[b], differences)
                tests[a, b] = FlipTest(p, _DRAWN_METHOD)
            if not same_problems and (self._draws.size or (a, b) not in tests):
                apart.append((a, b))
        for start in range(0, len(apart), _COLUMNS_AT_ONCE):
            some = apart[start : start + _COLUMNS_AT_ONCE]
            differences = np.array([self._compute_differences(a, b) for a, b in some])
            sums = _sum_flips(differences, self._names, self._seed)
            for index, pair in enumerate(some):
                if self._draws.size:
                    self._apart[pair] = sums[index, self._draws]
                p = _compute_share(sums[index], differences[index])
                tests.setdefault(pair, FlipTest(p, _DRAWN_METHOD))
        return [tests[pair] for pair in pairs]

    def draw_means(self, a: int, b: int) -> FloatArray:
        """Draw the mean difference of two rows under flipped signs, shape (draws,).

        Only for pairs given to ``run_tests``.
        """
        if self._has_same_problems(a, b):
            sums = (self._sums[a] - self._sums[b])[self._draws]
        else:
            sums = self._apart[a, b]
        means: FloatArray = sums * self._step / np.count_nonzero(self._known[a] & self._known[b])
        return means

    def _has_same_problems(self, a: int, b: int) -> bool:
        return np.array_equal(self._known[a], self._known[b])

    def _compute_differences(self, a: int, b: int) -> IntArray:
        """Return the sum of differences of each unit, on the problems that both rows have."""
        shared = self._known[a] & self._known[b]
        return self._sum_by_unit(np.where(shared, self._grid[a] - self._grid[b], 0))

    def _sum_by_unit(self, row: IntArray) -> IntArray:
        if len(self._names) == self._unit_of.size:
            return row
        summed = np.zeros(len(self._names), dtype=np.int64)
        np.add.at(summed, self._unit_of, row)
        return summed

    @cached_property
    def _sums(self) -> FloatArray:
        rows = np.array([self._sum_by_unit(row) for row in self._grid])
        return _sum_flips(rows, self._names, self._seed)


def _compute_exact_p(differences: IntArray) -> float:
    """Return the share of all 2^n sign vectors with a sum at least as far from 0 as the observed one.

    Every sum is one of the first half plus one of the second (Horowitz and Sahni 1974): 2 · 2^(n/2) sums and
    their counting by bisection instead of 2^n.
    """
    least = abs(int(differences.sum())) - 2 * differences.size  # each may be one step off, in both sums
    if least <= 0:
        return 1.0
    half = differences.size // 2
    first, second = np.sort(_list_sums(differences[:half])), _list_sums(differences[half:])
    above = first.size - np.searchsorted(first, least - second, side="left")
    below = np.searchsorted(first, -least - second, side="right")
    return float((above.sum() + below.sum()) / (first.size * second.size))


def _list_sums(numbers: IntArray) -> IntArray:
    sums = np.zeros(1, dtype=np.int64)
    for number in numbers.tolist():
        sums = np.concatenate([sums + number, sums - number])
    return sums


def _compute_share(sums: FloatArray, differences: IntArray) -> float:
    least = abs(int(differences.sum())) - 2 * np.count_nonzero(differences)  # as above
    return float((1 + np.count_nonzero(np.abs(sums) >= least)) / (1 + FLIPS))


def _sum_flips(rows: IntArray, problems: Sequence[str], seed: int) -> FloatArray:
    """Return each row's sum under every flip, shape (rows, FLIPS), whole numbers."""
    sums = np.zeros((rows.shape[0], FLIPS))
    work = np.empty((min(_PROBLEMS_AT_ONCE, len(problems)), FLIPS))
    for start in range(0, len(problems), _PROBLEMS_AT_ONCE):
        digests = [
            hashlib.shake_256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest(FLIPS // 8)
            for name in problems[start : start + _PROBLEMS_AT_ONCE]
        ]
        packed = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1)
        # 1 for plus and 0 for minus, reusing memory: fresh pages cost more than the sums.
        heads = work[: len(digests)]
        heads[...] = np.unpackbits(packed, axis=1)
        sums += rows[:, start : start + len(digests)].astype(np.float64) @ heads
    sums *= 2
    sums -= rows.sum(axis=1)[:, np.newaxis]
    return sums


# Statistics whose relative difference is below this are equal up to rounding.
_SAME: Final = 1e-9
_MOST_DRAWS, _FEWEST_DRAWS = 20_000, 2_000
# Draws of all hypotheses together: with more hypotheses each gets fewer.
_DRAWS_TOGETHER: Final = 5_000_000


class Hypothesis(NamedTuple):
    """Null hypothesis that two series do not differ, with the observed difference."""

    difference: float
    # of the mean over problems under the null hypothesis, without what runs add; see ``NullVariance``
    variance: NullVariance
    # the two series, and what their runs add
    sides: Sequence[tuple[str, RunVariance | None]]
    # returns null draws of the difference, shape (draws,)
    draw: Callable[[], FloatArray]

    @property
    def runs(self) -> list[RunVariance]:
        """What the runs of the sides add, if they do."""
        return [runs for _, runs in self.sides if runs is not None and runs.excess]

    @property
    def total(self) -> float:
        """The variance of the difference under the null hypothesis."""
        return math.fsum([self.variance.total, *(one.of_mean for one in self.runs)])

    @property
    def df(self) -> float:
        """Degrees of freedom of ``total`` (Satterthwaite 1946); flips do not change the part of problems."""
        squares = math.fsum(one.of_mean**2 / one.moderated_df for one in self.runs)
        return self.total**2 / squares if squares else math.inf

    def normalize(self, differences: FloatArray | float) -> FloatArray:
        """Return |d| in standard errors, from the scale of Student's t to that of the normal distribution.

        √(f log(1 + t²/f)) (8f + 1)/(8f + 3) for f degrees of freedom (Wallace 1959).
        """
        statistic: FloatArray = np.abs(differences) / math.sqrt(self.total or math.inf)
        if math.isinf(self.df):
            return statistic
        return _find_factor(self.df) * np.sqrt(self.df * np.log1p(statistic**2 / self.df))

    def find_critical(self, normal: float) -> tuple[float, float]:
        """Return the standard error about the observed difference, and the critical value in units of it.

        The critical value is infinite if no difference on so few problems could reach it.
        """
        square = normal**2
        if math.isfinite(self.df):
            square = self.df * math.expm1((normal / _find_factor(self.df)) ** 2 / self.df)
        stderr = math.sqrt(max(0.0, self.total - self.difference**2 * self.variance.weight))
        rest = 1 - square * self.variance.weight
        return stderr, float(f"{math.sqrt(square / rest):.10g}") if rest > 0 else math.inf


def _find_factor(df: float) -> float:
    return (8 * df + 1) / (8 * df + 3)


class Adjusted(NamedTuple):
    """A p adjusted for all hypotheses, its standard error, and its critical value in standard errors.

    An adjustment of p alone has neither of these.
    """

    p: float
    stderr: float | None = None
    critical: float | None = None


def count_draws(hypotheses: int) -> int:
    """Return the number of draws for this many hypotheses: 20,000, and fewer beyond 250 of them."""
    return max(_FEWEST_DRAWS, min(_MOST_DRAWS, _DRAWS_TOGETHER // max(hypotheses, 1)))


def adjust_step_down(
    hypotheses: Sequence[Hypothesis], draws: int, alpha: float, seed: int = 0
) -> list[Adjusted]:
    """Adjust p for a family of two or more by the largest statistic of hypotheses not yet rejected.

    The statistic is |d|/√(q + τ²) with q the variance over problems if the two do not differ and τ² what runs
    add. Flips do not change q: the statistic of few problems is hardly larger by chance than that of many
    (Efron 1969); with runs, ``Hypothesis.normalize`` makes pairs comparable. Each draw flips signs, the same
    for all pairs, and moves each series by its own t draw of what runs add (Westfall and Young 1993,
    algorithm 4.1; Romano and Wolf 2005). ``alpha`` is for the critical value.
    """
    seen = [float(one.normalize(one.difference)) for one in hypotheses]
    order = sorted(range(len(hypotheses)), key=seen.__getitem__)
    largest, adjusted = np.zeros(draws), [0.0] * len(hypotheses)
    for index in order:
        one = hypotheses[index]
        moved = one.draw()
        for sign, (name, runs) in zip((1, -1), one.sides, strict=True):
            if runs is not None and runs.excess:
                moved = moved + sign * math.sqrt(runs.of_mean) * draw_t(name, runs.moderated_df, draws, seed)
        largest = np.maximum(largest, one.normalize(moved))
        reaching = int(np.count_nonzero(largest >= seen[index] * (1 - _SAME)))
        adjusted[index] = (1 + reaching) / (1 + draws)
    before = 0.0
    for index in reversed(order):
        before = adjusted[index] = max(before, adjusted[index])
    normal = np.sort(largest)[math.ceil((1 - alpha) * draws) - 1]
    return [Adjusted(p, *one.find_critical(normal)) for p, one in zip(adjusted, hypotheses, strict=True)]
