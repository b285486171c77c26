"""How far a number moved between two states, and how sure that is: over runs, over items, over all tests.

A state's number is the mean of its runs, and the two states may share some of them. With c shared runs, r
removed and a added, after minus before is a contrast of three group means whose weights add up to 0::

    a/(c + a) · added - r/(c + r) · removed + c (1/(c + a) - 1/(c + r)) · shared

If nothing but the choice of runs changed, all three groups are draws from one population. Taking the states
as independent would count the shared runs twice: with 3 of 5 runs shared its interval is 1.7 times too wide.
"""

from __future__ import annotations

import hashlib
import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from reportgen.statistics.distributions import (
    compute_t_p,
    deviation,
    find_scale,
    find_t_ends,
    mean,
    normal_quantile,
    t_tail,
)
from reportgen.statistics.intervals import (
    RunVariance,
    estimate_over_differences,
    estimate_run_variance,
    null_variance_of_mean,
)
from reportgen.statistics.pairs import FEWEST
from reportgen.statistics.permutation_tests import Flips, Hypothesis, adjust_step_down
from reportgen.statistics.verdicts import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray
    from reportgen.review.model import Method

ALPHA = 0.05
# Means that differ by less than this share of their size are the same number, computed in two ways.
_SAME = 1e-12
# Of a group's variance its own estimate, the rest is the pooled one: 2 runs say too little by themselves.
_OWN_SHARE = 0.5
_SMALLEST_P = sys.float_info.min


class Effect(Struct, frozen=True):
    """After minus before; None where something is not known, with the ``reason``."""

    method: Method
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    stderr: float | None = None
    df: float = math.inf
    reason: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class RunGroups(NamedTuple):
    """What each run measured, a run a row: removed, shared by both states, added."""

    removed: FloatArray
    shared: FloatArray
    added: FloatArray

    @property
    def weights(self) -> tuple[float, float, float]:
        """Of the group means in after minus before; both states have a run."""
        r, c, a = (len(group) for group in self)
        return -r / (c + r), c / (c + a) - c / (c + r), a / (c + a)

    @property
    def differ(self) -> bool:
        """Whether a run is not shared."""
        return bool(len(self.removed) or len(self.added))

    @property
    def are_paired_by_item(self) -> bool:
        """Whether scores by item say more than those of whole runs: no run is shared, and no side lacks some.

        With one run a side it is about these very runs.
        """
        counts = {min(len(self.removed), 2), min(len(self.added), 2)}
        return not len(self.shared) and len(counts) == 1

    @property
    def method(self) -> Method:
        """Which row of the table of methods it is."""
        nested = len(self.shared) and not (len(self.removed) and len(self.added))
        return "nested runs" if nested else "welch"


def estimate_over_runs(groups: RunGroups, level: float) -> Effect:
    """The contrast of the groups with its t interval; each group is a 1-d array of a number a run.

    Where runs were only added or only removed, all have one variance, which is pooled. Otherwise each group
    has the mean of its own variance and the pooled one: Welch's interval of 2 against 10 runs holds the truth
    in 90%, this one in 95%. A single run has the pooled variance. Degrees of freedom are Satterthwaite's
    (1946).
    """
    size = find_scale(np.concatenate(groups))
    terms = [(values / size, w) for values, w in zip(groups, groups.weights, strict=True) if len(values)]
    difference = math.fsum(w * mean(values) for values, w in terms) * size
    variances = [deviation(values) ** 2 if len(values) > 1 else None for values, _ in terms]
    if variances.count(None) == len(variances):
        return Effect("none", difference, reason="one run a side: 2 of one side are needed")
    own = 0.0 if groups.method == "nested runs" else _OWN_SHARE
    scales = [(w * w / len(values), len(values) - 1) for values, w in terms]
    total, df = _add_variances(variances, scales, own)
    if math.sqrt(total) <= _SAME:
        reason = "the runs of each side are equal: nothing to build an interval from"
        return Effect("none", difference, reason=reason)
    stderr = math.sqrt(total) * size
    ends = find_t_ends(difference, stderr, df, level)
    return Effect(groups.method, difference, *ends, compute_t_p(difference, stderr, df), stderr, df)


def _add_variances(
    variances: Sequence[float | None], scales: Sequence[tuple[float, int]], own: float
) -> tuple[float, float]:
    """The variance of a contrast of groups and its degrees of freedom.

    A group's variance counts by its scale, which comes with the degrees of freedom. It is ``own`` of itself
    and the rest of the pooled one; a group without any has the pooled one.
    """
    known = [
        (variance, *scale) for variance, scale in zip(variances, scales, strict=True) if variance is not None
    ]
    freedom = sum(df for _, _, df in known)
    pooled = math.fsum(variance * df for variance, _, df in known) / freedom
    of_pooled = math.fsum(scale for scale, _ in scales) - own * math.fsum(scale for _, scale, _ in known)
    weights = [own * scale + of_pooled * df / freedom for _, scale, df in known]
    total = math.fsum(w * variance for w, (variance, _, _) in zip(weights, known, strict=True))
    # The shares of the groups are not taken from their own variances alone, which vary too much.
    parts = [
        (w * (own * variance + (1 - own) * pooled), df)
        for w, (variance, _, df) in zip(weights, known, strict=True)
    ]
    squares = math.fsum(part**2 / df for part, df in parts)
    return total, math.fsum(part for part, _ in parts) ** 2 / squares if squares else freedom


def estimate_given(before: tuple[float, float], after: tuple[float, float], level: float) -> Effect:
    """Two numbers with the standard errors that the input gives, as if nothing were shared."""
    stderr = math.hypot(before[1], after[1])
    half = normal_quantile(level) * stderr
    difference = after[0] - before[0]
    return Effect("given", difference, difference - half, difference + half, stderr=stderr, reason="unpaired")


class ItemSides(NamedTuple):
    """One series in two states without a shared run: its score on each item, NaN where it has none, and runs.

    The groups of runs have shape (runs, items).
    """

    series: str
    before: FloatArray
    after: FloatArray
    runs: RunGroups


class ItemChanges:
    """The changes of all series on one benchmark, paired by item.

    ``units`` are the items' names, or their clusters, which are taken as drawn at random. ``draws`` of chance
    are made for the family.
    """

    def __init__(
        self,
        benchmark: str,
        units: Sequence[str],
        ends: tuple[float, float],
        sides: Sequence[ItemSides],
        draws: int,
    ) -> None:
        self._units, self._sides = units, sides
        self._clustered = len(set(units)) < len(units)
        self._width = ends[1] - ends[0]
        values = np.array([row for one in sides for row in (one.after, one.before)])
        # Items of one name on two benchmarks are not one item, so they are flipped by other draws.
        first = int.from_bytes(hashlib.sha256(benchmark.encode("utf-8", "surrogatepass")).digest()[:4])
        self._flips = Flips(values, units, ends, draws=draws, first=first)
        self._tests = self._flips.run_tests([self._find_rows(index) for index in range(len(sides))])

    @staticmethod
    def _find_rows(index: int) -> tuple[int, int]:
        return 2 * index, 2 * index + 1

    def _compute_differences(self, index: int) -> tuple[FloatArray, list[str]]:
        one = self._sides[index]
        shared = np.flatnonzero(np.isfinite(one.before) & np.isfinite(one.after))
        return one.after[shared] - one.before[shared], [self._units[item] for item in shared.tolist()]

    def estimate(self, index: int, level: float) -> Effect:
        """The effect on one series."""
        differences, units = self._compute_differences(index)
        if len(set(units)) < FEWEST:
            difference = mean(differences) if differences.size else None
            what = "clusters" if self._clustered else "problems"
            reason = f"{len(set(units))} shared {what}: fewer than {FEWEST} cannot decide"
            return Effect("none", difference, reason=reason)
        clusters, ends = units if self._clustered else None, (-self._width, self._width)
        variance = measure_run_variance(self._sides[index].runs)
        interval = estimate_over_differences(differences, ends, level, clusters, [variance])
        p = self._tests[index].p
        if interval.run_stderr and interval.stderr and interval.df:
            p = compute_t_p(mean(differences), interval.stderr, interval.df)
        alone = "" if variance else "one run a side: about these checkpoints, not about training again"
        return Effect(
            "paired",
            mean(differences),
            interval.low,
            interval.high,
            p,
            interval.stderr,
            interval.df or math.inf,
            "; ".join(filter(None, [alone, interval.reason])),
        )

    def make_hypothesis(self, index: int) -> Hypothesis:
        """The same for the family."""
        differences, units = self._compute_differences(index)
        runs = self._sides[index].runs
        variance = null_variance_of_mean(differences, units if self._clustered else None)
        # Named and turned by what was measured, so that the reverse comparison takes the same draws.
        digests = [hashlib.sha256(group.tobytes()).hexdigest() for group in (runs.removed, runs.added)]
        sides = [("".join(sorted(digests)), measure_run_variance(runs)), ("", None)]
        sides = sides if digests[0] < digests[1] else sides[::-1]
        rows = self._find_rows(index)
        return Hypothesis(mean(differences), variance, sides, lambda: self._flips.draw_means(*rows))


def measure_run_variance(runs: RunGroups) -> RunVariance | None:
    """What the choice of removed and of added runs adds to the variance; None where a side has a single run.

    Variances are added as in ``estimate_over_runs``. What answers explain is not taken off: the rest of two
    runs' variance would often be 0, and a family of twenty such scores then gets false verdicts in 10%.
    """
    sides = (runs.removed, runs.added)
    known = [one for group in sides if (one := estimate_run_variance(group)) is not None]
    if len(known) < len(sides):
        return None
    scales = [(1 / len(group), len(group) - 1) for group in sides]
    between, df = _add_variances([one.between for one in known], scales, _OWN_SHARE)
    count = max(round(df), 1) + 1
    return RunVariance(count, between * count, 0.0, count - 1)


class Family(NamedTuple):
    """Adjusted p of effects, None where there was no test; and how many tests there are by each method."""

    adjusted: tuple[float | None, ...]
    stepped: int
    others: int


def adjust_family(effects: Sequence[Effect], hypotheses: Sequence[Hypothesis | None], draws: int) -> Family:
    """Adjust the p of a whole change together.

    Effects over items, which have a hypothesis, are adjusted by the step-down test: their items are shared.
    The others are adjusted by Holm's method. Each of these two parts gets of alpha the share that it has of
    all tests (Bonferroni), so the chance of any wrong verdict is at most alpha.
    """
    tested = [index for index, effect in enumerate(effects) if effect.p is not None]
    stepped = [index for index in tested if hypotheses[index] is not None]
    others = [index for index in tested if hypotheses[index] is None]
    joint = [0.0] * len(stepped)
    if len(stepped) > 1:
        known = [one for one in (hypotheses[index] for index in stepped) if one is not None]
        joint = [one.p for one in adjust_step_down(known, draws, ALPHA)]
    adjusted = {}
    for index, together in zip(stepped, joint, strict=True):
        effect = effects[index]
        p = max(effect.p or 0.0, together)
        # Below 1/draws, where no draw of chance reaches, p is by t.
        if p <= 1 / draws and effect.stderr:
            tail = 2 * t_tail(abs(effect.difference or 0.0) / effect.stderr, effect.df)
            p = min(p, max(len(stepped) * tail, _SMALLEST_P))
        adjusted[index] = p
    adjusted |= zip(others, holm([effects[index].p or 0.0 for index in others]), strict=True)
    share = {index: len(tested) / len(part) for part in (stepped, others) for index in part}
    scaled = {index: min(1.0, p * share[index]) for index, p in adjusted.items()}
    return Family(tuple(scaled.get(index) for index in range(len(effects))), len(stepped), len(others))
