"""Intervals of a mean over problems and over runs, the reasons for missing ones, and of a fitted line."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from reportgen.core.comparisons import Fit
from reportgen.core.model import Estimate
from reportgen.statistics.distributions import (
    deviation,
    find_t_ends,
    mean,
    move_ends,
    normal_quantile,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray


_FEWEST_FITTED = 3
_FIT_PLACES = 61  # of the drawn line; a power law is straight on log axes and smooth on others
# The smallest and the largest possible value.
Ends: TypeAlias = tuple[float, float]
# The cluster of each value, or None if each is independent.
Units: TypeAlias = "Sequence[str] | None"


class RunVariance(NamedTuple):
    """Variance between the runs of a series, in squared units of its scores."""

    # r, at least 2; see ``share_variance`` for other numbers
    runs: float
    # S², the variance (ddof = 1) of the runs' own scores
    between: float
    # the part explained by answers alone: the mean square of run × problem, over the problems
    residual: float
    # degrees of freedom of S²
    freedom: int

    @property
    def excess(self) -> float:
        """τ², the variance between runs that answers do not explain; 0 if none or only rounding is left."""
        equal = math.isclose(self.between, self.residual)
        return 0.0 if equal else max(0.0, self.between - self.residual)

    @property
    def of_mean(self) -> float:
        """τ²/r, the part in the variance of the mean over runs."""
        return self.excess / self.runs

    @property
    def df(self) -> float:
        """Degrees of freedom of τ²: (r - 1)(τ²/S²)², as for a difference in Satterthwaite (1946)."""
        return self.freedom * (self.excess / self.between) ** 2 if self.excess else math.inf

    @property
    def moderated_df(self) -> int:
        """Degrees of freedom of a variance that is moderated with others: twice its own."""
        return 2 * self.freedom


def share_variance(runs: Sequence[RunVariance | None]) -> list[RunVariance | None]:
    """Give the single run of one side the variance of the runs of the other side (Crawford and Howell 1998).

    What a single run adds is unknown, not zero: S² (1 + 1/r) for both sides, and nothing of that is taken for
    answers. Without runs on both sides, or with several on both, nothing changes.
    """
    known = [one for one in runs if one is not None]
    if len(known) != 1:
        return list(runs)
    return [known[0]._replace(residual=0.0, runs=one.runs if one else 1) for one in runs]


def estimate_run_variance(values: FloatArray) -> RunVariance | None:
    """Estimate the variance between runs by ANOVA of runs × problems (Searle et al. 1992, 4.7).

    With S² the variance of the runs' scores and M the mean square of what neither run nor problem explains,
    S² estimates τ² + (variance of run × problem and of sampling)/P, M/P the latter alone. ``values`` has
    shape (r, P); problems with NaN are left out. None under 2 runs or 2 problems.
    """
    whole = values[:, np.isfinite(values).all(axis=0)]
    runs, problems = whole.shape
    if min(runs, problems) < 2:  # noqa: PLR2004 - one says nothing of how others vary
        return None
    scores = np.array([mean(row) for row in whole])
    rest = whole - scores[:, np.newaxis] - whole.mean(axis=0) + mean(scores)
    square = math.fsum((rest**2).ravel()) / ((runs - 1) * (problems - 1))
    return RunVariance(runs, deviation(scores) ** 2, square / problems, runs - 1)


def moderate_variances(variances: Sequence[RunVariance | None]) -> list[RunVariance | None]:
    """Raise the variances of series that are below the median of several halfway to it.

    In a family of comparisons the series with the smallest estimates would win by that alone; the median is
    what most series have, and an unstable one keeps its own (Smyth 2004; Phipson et al. 2016). The weight is
    that of a prior with r - 1 degrees of freedom: estimated from six variances of three runs, it is 1 in 29%
    of cases although one series has four times the deviation. Estimates are divided by the median of χ²/f,
    (1 - 2/(9f))³ for f = r - 1 (Wilson and Hilferty 1931).
    """
    known = [one.between / (1 - 2 / (9 * one.freedom)) ** 3 for one in variances if one is not None]
    if not known:
        return list(variances)
    typical = median(known)
    return [one and one._replace(between=max(one.between, (one.between + typical) / 2)) for one in variances]


# Values whose difference is below this fraction of their range are equal up to rounding.
_SAME = 1e-9
# Values within this fraction of the range of an end count as that end: pass@k near 1 is hardly ever 1.
_AT_END = 0.005
# One problem in this many is few.
_FEW_OF = 20
# One problem says nothing about others.
_FEWEST = 2

WITHIN_METHOD = "t over samples"


class Interval(NamedTuple):
    """Both ends or neither, the method, a reason in words, and the underlying variance, if known."""

    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""
    stderr: float | None = None
    df: float | None = None
    run_stderr: float = 0.0


class Variance(NamedTuple):
    """Variance of a mean, its degrees of freedom, and the part of it that runs add."""

    total: float
    df: float
    of_runs: float = 0.0


def variance_of_mean(
    values: FloatArray, units: Units = None, runs: Sequence[RunVariance | None] = ()
) -> Variance:
    """Return the variance of a mean over random problems and random runs; ``values`` has no NaN.

    s²/P over problems; ``_estimate_clustered`` over clusters (``units``); τ²/r is added for each of ``runs``.
    """
    if units is None:
        return add_variances([(deviation(values) ** 2 / values.size, values.size - 1.0)], runs)
    return add_variances([_estimate_clustered(values, units)], runs)


def _estimate_clustered(values: FloatArray, units: Sequence[str]) -> tuple[float, float]:
    """Return the variance of a mean over G clusters of m_g values each, n in all, and its degrees of freedom.

    Σ_g (Σ_{p in g} (x_p - mean))² / (1 - m_g/n) / n²: CR2 of Bell and McCaffrey (2002) for a mean, with
    Satterthwaite's degrees of freedom for the intraclass correlation that analysis of variance estimates
    (Donner 1986; Pustejovsky and Tipton 2018). For clusters of one size both are those of Liang and Zeger
    (1986) and of Miller 2024, "Adding error bars to evals", 2.2. Values of shape (n,).
    """
    rest, count = values - mean(values), values.size
    sums, sizes = sum_by_unit(rest, units), sum_by_unit(np.ones(count), units)
    groups = sums.size
    if groups == 1:
        return 0.0, 1.0
    part = sizes / count
    variance = math.fsum(sums**2 / (1 - part)) / count**2
    between = math.fsum(sums**2 / sizes) / (groups - 1)
    within = (math.fsum(rest**2) - math.fsum(sums**2 / sizes)) / max(count - groups, 1)
    excess = max(0.0, between - within) / ((count - math.fsum(sizes * part)) / (groups - 1))
    correlation = excess / (excess + within) if excess > 0 else 0.0
    return variance, _approximate_df(part, count, correlation)


def _approximate_df(part: FloatArray, count: int, correlation: float) -> float:
    """Return Satterthwaite's degrees of freedom (Σ_g c_gg)² / Σ_gh c_gh² of the sum over clusters.

    c_gh is the covariance of the terms of two clusters, with ``part`` (G,) their shares of ``count`` values
    of variance 1 and ``correlation`` r inside a cluster. It is d_g - b_g² (s + 2r p_g) on the diagonal and
    -b_g b_h (s + r p_g + r p_h) elsewhere, so that the sums need no matrix.
    """
    sizes = part * count
    squares = sizes**2 / (1 - part)
    own = ((1 - correlation) * sizes + correlation * sizes**2) / (1 - part)
    base = (1 - correlation) / count - correlation * math.fsum(part**2)
    zeroth, first, second = (math.fsum(squares * part**power) for power in range(3))
    common = squares * (base + 2 * correlation * part)
    total = math.fsum(own) - math.fsum(common)
    apart = base**2 * zeroth**2 + 4 * base * correlation * zeroth * first
    apart += 2 * correlation**2 * (zeroth * second + first**2)
    return total**2 / (math.fsum(own**2) - 2 * math.fsum(own * common) + apart)


def sum_by_unit(values: FloatArray, units: Sequence[str]) -> FloatArray:
    """Return the sums of values by their unit, in order of appearance."""
    sums: dict[str, list[float]] = defaultdict(list)
    for unit, value in zip(units, values.tolist(), strict=True):
        sums[unit].append(value)
    return np.array([math.fsum(own) for own in sums.values()])


class NullVariance(NamedTuple):
    """Variance of a mean difference if its expectation is 0.

    ``weight`` is Σ w², with w the weight of a unit in the mean: the observed difference adds its square times
    this to ``total``, which is Σ w² d².
    """

    total: float
    weight: float


def null_variance_of_mean(differences: FloatArray, units: Units = None) -> NullVariance:
    """Return the variance of a mean of differences of expectation 0: Σ d²/P², with sums of d by cluster."""
    count, ones = differences.size, np.ones(differences.size)
    if units is not None:
        differences, ones = sum_by_unit(differences, units), sum_by_unit(ones, units)
    return NullVariance(math.fsum(differences**2) / count**2, math.fsum(ones**2) / count**2)


def add_variances(parts: Sequence[tuple[float, float]], runs: Sequence[RunVariance | None]) -> Variance:
    """Add variances and those of runs; the degrees of freedom are V² / Σ v²/f (Satterthwaite 1946).

    A variance that a single run shares with the other side (``share_variance``) was estimated once, and its
    terms are one.
    """
    added = [(one.of_mean, one.df) for one in runs if one is not None and one.excess]
    if any(one is not None and one.runs == 1 for one in runs):
        added = [(math.fsum(part for part, _ in added), df) for _, df in added[:1]]
    present = [(part, df) for part, df in (*parts, *added) if part]
    total, of_runs = (math.fsum(part for part, _ in terms) for terms in (present, added))
    if len(present) < 2:  # noqa: PLR2004 - nothing is added up
        return Variance(total, present[0][1] if present else parts[0][1], of_runs)
    return Variance(total, total**2 / math.fsum(part**2 / df for part, df in present), of_runs)


def estimate_over_problems(
    values: FloatArray, ends: Ends, level: float, units: Units = None, runs: RunVariance | None = None
) -> Interval:
    """Return the t interval of a mean score over problems, made on the logit scale of the range of scores.

    With u = (mean - lowest)/(highest - lowest) and se_u its standard error it is logit(u) ± t se_u/(u (1 -
    u)), transformed back (Korn and Graubard 1998; ``svyciprop`` of R's survey package). If all values are
    equal it is ``make_unseen_interval``; if at least half are within 0.5% of one end of the range it is never
    shorter than that, and if what is unseen reaches half as far as t, the end near the border takes the whole
    error (Feldman and Cousins 1998). Coverage: ``benchmarks/honesty_scores.py``.
    """
    count, (lowest, highest) = values.size, ends
    if count < _FEWEST:
        return _make_no_interval(count)
    centre, width = mean(values), highest - lowest
    share = (centre - lowest) / width
    if is_constant(values, ends) or not 0 < share < 1:
        return make_unseen_interval(centre, count, ends, level)
    variance = variance_of_mean(values, units, [runs])
    stderr = math.sqrt(variance.total)
    intervals = []
    for probability in ((1 + level) / 2, level):
        half = np.array(t_quantile(probability, variance.df) * stderr)
        low, high = (float(end) for end in move_ends(np.array(centre), half, half, ends))
        # The observed mean is inside, whatever the rounding.
        intervals.append((max(lowest, min(low, centre)), min(highest, max(high, centre))))
    low, high, reason = _extend_interval(intervals, values, ends, level)
    method = f"t over {_describe_units(units, variance)} on the logit scale"
    return Interval(low, high, method, reason, stderr, variance.df, math.sqrt(variance.of_runs))


def _extend_interval(
    intervals: Sequence[tuple[float, float]], values: FloatArray, ends: Ends, level: float
) -> tuple[float, float, str]:
    """Widen an interval to ``make_unseen_interval`` if half of the problems are at one end of the range.

    ``intervals`` are the two-sided one and the one-sided ends, for the one that takes the whole error.
    """
    (low, high), one_sided = intervals
    near = _AT_END * (ends[1] - ends[0])
    at_low, at_high = (np.count_nonzero(np.abs(values - end) <= near) for end in ends)
    if 2 * max(at_low, at_high) < values.size:
        return low, high, ""
    centre, share = mean(values), _compute_unseen_share(values.size, level)
    pulled, end = _move_mean(centre, share, ends), ""
    if at_high > at_low and centre - low <= 2 * (centre - pulled[0]):
        high, end = one_sided[1], "; its upper end is one-sided"
    elif at_low > at_high and high - centre <= 2 * (pulled[1] - centre):
        low, end = one_sided[0], "; its lower end is one-sided"
    low, high = min(low, pulled[0]), max(high, pulled[1])
    if np.allclose((low, high), intervals[0], rtol=0, atol=1e-12 * (ends[1] - ends[0])):  # rounding
        return low, high, ""
    reason = (
        f"at least half of {values.size:,} problems stand at one end of the range: the interval allows for "
        f"the share of other problems, at most {100 * share:.2g}%, that they do not rule out{end}"
    )
    return low, high, reason


def estimate_over_differences(
    differences: FloatArray, ends: Ends, level: float, units: Units, runs: Sequence[RunVariance | None]
) -> Interval:
    """Return the t interval of a mean paired difference, mean ± t √V (``variance_of_mean``), within range.

    If all problems differ by the same amount it is ``make_unseen_interval``; if 19 of 20 do, it is never
    shorter than that, since few problems carry the rest. The reason says so.
    """
    count, (lowest, highest) = differences.size, ends
    if count < _FEWEST:
        return _make_no_interval(count)
    variance = variance_of_mean(differences, units, runs)
    centre, stderr = mean(differences), math.sqrt(variance.total)
    if is_constant(differences, ends) and not variance.of_runs:
        return make_unseen_interval(centre, count, ends, level, what="difference")
    low, high = find_t_ends(centre, stderr, variance.df, level, ends)
    equal = np.count_nonzero(np.abs(differences - np.median(differences)) <= _SAME * (highest - lowest))
    share = _compute_unseen_share(count, level)
    pulled = _move_mean(centre, share, ends)
    reason = ""
    if _FEW_OF * (count - equal) <= count and (pulled[0] < low or pulled[1] > high):
        low, high = min(low, pulled[0]), max(high, pulled[1])
        reason = (
            f"{equal:,} of {count:,} problems have the same difference: the interval allows for the share of "
            f"other problems, at most {100 * share:.2g}%, that they do not rule out"
        )
    method = f"t over {_describe_units(units, variance)}"
    return Interval(low, high, method, reason, stderr, variance.df, math.sqrt(variance.of_runs))


def _describe_units(units: Units, variance: Variance) -> str:
    """Describe what is assumed to be drawn at random."""
    return f"{'problems' if units is None else 'clusters'}{' and runs' if variance.of_runs else ''}"


def make_unseen_interval(
    value: float, count: int, ends: Ends, level: float, *, what: str = "value"
) -> Interval:
    """Return an interval, never of zero width, for problems like ``count`` ones that share one value.

    A share q of problems with another value shows none among n with probability (1 - q)^n, so with h = (1 -
    level)/2 it is at most 1 - h^(1/n) (Clopper and Pearson 1934), anywhere in the range.
    """
    share = _compute_unseen_share(count, level)
    reason = (
        f"all {count:,} problems have the same {what}: the interval allows for the share of other problems, "
        f"at most {100 * share:.2g}%, that this does not rule out"
    )
    return Interval(*_move_mean(value, share, ends), "bound on unseen problems", reason)


def _compute_unseen_share(count: int, level: float) -> float:
    """Return the largest share of problems that may be absent in ``count``; see ``make_unseen_interval``."""
    missed: float = ((1 - level) / 2) ** (1 / count)
    return 1 - missed


def _move_mean(value: float, share: float, ends: Ends) -> tuple[float, float]:
    """Return a mean after moving a share of problems to the lower and to the upper end of the range."""
    return value - share * (value - ends[0]), value + share * (ends[1] - value)


def _make_no_interval(count: int) -> Interval:
    return Interval(reason=f"{count} problem{'' if count == 1 else 's'}: no interval")


def wilson(rate: float, count: int, ends: Ends, level: float) -> Interval:
    """Return Wilson's score interval of a proportion, for problems that are right or wrong in one draw.

    (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927), scaled to the range of scores.
    """
    if count < _FEWEST:
        return _make_no_interval(count)
    lowest, width = ends[0], ends[1] - ends[0]
    z, share = normal_quantile(level), (rate - lowest) / width
    square = z * z / count
    centre = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    stderr = math.sqrt(share * (1 - share) / (count - 1)) * width
    # The observed rate is inside, whatever the rounding.
    low = min(lowest + max(centre - half, 0.0) * width, rate)
    high = max(lowest + min(centre + half, 1.0) * width, rate)
    return Interval(low, high, "Wilson", stderr=stderr or None)


def estimate_within_problems(
    centre: float, variances: FloatArray, freedom: FloatArray, ends: Ends, level: float
) -> Interval:
    """Return the interval for the same problems with other samples: mean ± t √(Σ v_p)/P, cut at the range.

    ``variances`` holds v_p, the variance of problem p's own score, NaN with too few samples, shape (P,), or
    those of both sides of a difference, shape (2, P); ``freedom`` holds their degrees of freedom, combined by
    Satterthwaite (1946).
    """
    problems = variances.shape[-1]
    unknown = int(np.count_nonzero(~np.isfinite(np.atleast_2d(variances)).all(axis=0)))
    if unknown:
        reason = f"{unknown:,} of {problems:,} problems have too few samples for sampling noise"
        return Interval(reason=reason)
    total = math.fsum(variances.ravel())
    if total <= (_SAME * (ends[1] - ends[0])) ** 2:
        return Interval(reason="no two samples of a problem differ: sampling noise cannot be known")
    noisy = variances > 0
    df = total**2 / math.fsum(variances[noisy] ** 2 / freedom[noisy])
    stderr = math.sqrt(total) / problems
    low, high = find_t_ends(centre, stderr, df, level, ends)
    return Interval(low, high, WITHIN_METHOD, stderr=stderr, df=df)


def is_constant(values: FloatArray, ends: Ends) -> bool:
    """Return whether all values are equal up to rounding."""
    return bool(np.ptp(values) <= _SAME * (ends[1] - ends[0]))


def fit_points(x: FloatArray, y: FloatArray, kind: Literal["linear", "power"], level: float) -> Fit:
    """Fit y = a + b·x, or y = a·x^b as a line through the logarithms, to points (n,) and (n,).

    The intervals of b and of the fitted mean are those of ordinary least squares: errors are independent, of
    equal size and normal, for a power law on the log scale (Draper and Smith, *Applied Regression Analysis*,
    3rd edition, sections 1.4 and 3.1). Raises a ValueError for fewer than three points, one x, or values that
    have no logarithm.
    """
    if x.size < _FEWEST_FITTED or np.unique(x).size < 2:  # noqa: PLR2004 - a line needs two places
        count = f"there are {x.size}" if x.size < _FEWEST_FITTED else "all have one"
        raise ValueError(f"a fit needs {_FEWEST_FITTED} points or more, at two values of x, and {count}")
    is_power = kind == "power"
    if is_power and min(x.min(), y.min()) <= 0:
        raise ValueError("a power law is for values above 0")
    u, v = (np.log(x), np.log(y)) if is_power else (x, y)
    middle, centre = math.fsum(u) / u.size, math.fsum(v) / v.size
    spread = math.fsum((u - middle) ** 2)
    slope = math.fsum((u - middle) * (v - centre)) / spread
    rest = v - centre - slope * (u - middle)
    df = x.size - 2
    sd, t = math.sqrt(math.fsum(rest**2) / df), t_quantile((1 + level) / 2, df)
    half = t * sd / math.sqrt(spread)
    places = np.linspace(u.min(), u.max(), _FIT_PLACES)
    mean = centre + slope * (places - middle)
    around = t * sd * np.sqrt(1 / u.size + (places - middle) ** 2 / spread)
    line = np.array([places, mean, mean - around, mean + around])
    constant = centre - slope * middle
    return Fit(
        is_power,
        Estimate(slope, slope - half, slope + half, x.size),
        math.exp(constant) if is_power else constant,
        np.exp(line) if is_power else line,
    )
