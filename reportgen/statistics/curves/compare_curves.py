"""Curves compared across their runs: two at a step or over a range of steps, all of them at the end."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.core.model import Lead
from reportgen.statistics.distributions import check_level, deviation, mean, t_quantile, t_tail
from reportgen.statistics.verdicts import adjust_comparisons, find_leader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, FloatArray, Run


_METHOD = "Welch's t over runs"
# Means of runs that differ by less than this share of their size are the same number.
_SAME = 1e-12


def compare_curves(
    a: Curve,
    b: Curve,
    *,
    at: float | None = None,
    between: tuple[float, float] | None = None,
    metric: str = "",
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
) -> Comparison:
    """The difference of two series' runs, a minus b, by Welch's t test: runs are the units, steps are not.

    Binned runs have the means of their bins: reduce with ``max_points=None`` for exact steps.

    Each run gives one number: its value ``at`` a step, interpolated linearly inside its own range, or the
    mean of its values at its own steps ``between`` two steps, both included. Runs without such a number do
    not count. With means m, variances s² and n runs a side, se² = s_a²/n_a + s_b²/n_b and the degrees of
    freedom are se⁴ / (Σ (s²/n)²/(n - 1)) (Welch 1947). The estimand is the mean difference of other runs like
    these.

    Returns:
        ``TOO_FEW`` under 2 runs a side. ``shared`` is the number of runs of the smaller side.

    Raises:
        ValueError: unless exactly one of ``at`` and ``between`` is given.
    """
    check_level(level)
    if (at is None) == (between is None):
        raise ValueError("give either a step or a range of steps")
    first, second = (_reduce_runs(curve.runs, at, between) for curve in (a, b))
    one = _make_comparison((a.series, b.series), first, second, metric, level)
    (judged,) = adjust_comparisons([one], alpha=alpha, higher_is_better=higher_is_better)
    return judged


def compare_at_end(
    curves: Sequence[Curve], *, level: float = 0.95, higher_is_better: bool = True
) -> tuple[Comparison, ...]:
    """All pairs of series at the last step that both have, adjusted together; see ``compare_curves``.

    A pair whose ranges of steps do not meet is left out.
    """
    tested = [
        compare_curves(a, b, at=step, level=level, higher_is_better=higher_is_better)
        for a, b in combinations(curves, 2)
        if (step := find_last_common_step(a, b)) is not None
    ]
    return adjust_comparisons(tested, higher_is_better=higher_is_better)


def find_last_common_step(a: Curve, b: Curve) -> float | None:
    """The last step that both reach; None where their ranges do not meet."""
    last = min(float(a.steps[-1]), float(b.steps[-1]))
    return last if last >= max(a.steps[0], b.steps[0]) else None


def _reduce_runs(runs: tuple[Run, ...], at: float | None, between: tuple[float, float] | None) -> FloatArray:
    found = []
    for run in runs:
        if at is not None and run.steps.size and run.steps[0] <= at <= run.steps[-1]:
            found.append(float(np.interp(at, run.steps, run.values)))
        elif between is not None:
            inside = run.values[(run.steps >= between[0]) & (run.steps <= between[1])]
            if inside.size:
                found.append(mean(inside))
    return np.array(found)


def _make_comparison(
    names: tuple[str, str], first: FloatArray, second: FloatArray, metric: str, level: float
) -> Comparison:
    """Welch's test of two sides' numbers, one a run, before verdicts; or the reason why there is none."""
    fewest, runs = min(first.size, second.size), (first.size, second.size)
    one = Comparison(*names, metric, level, shared=fewest, runs=runs)
    if fewest:
        one = replace(one, difference=mean(first) - mean(second))
    if fewest < 2:  # noqa: PLR2004 - one run says nothing about others
        return replace(one, reason=f"{first.size} and {second.size} runs: 2 a side are needed")
    # Divided by a power of 2 near the largest, which is exact, squares neither overflow nor vanish.
    size = math.ldexp(1.0, math.frexp(float(np.abs(np.concatenate([first, second])).max()))[1] - 1)
    first, second = first / size, second / size
    parts = [deviation(side) ** 2 / side.size for side in (first, second)]
    stderr = math.sqrt(sum(parts))
    if stderr <= _SAME:
        reason = "the runs of each side are equal: nothing to build an interval from"
        return replace(one, verdict=Verdict.UNCLEAR, reason=reason)
    shares = [part / sum(parts) for part in parts]
    df = 1 / (shares[0] ** 2 / (first.size - 1) + shares[1] ** 2 / (second.size - 1))
    difference = mean(first) - mean(second)
    half = t_quantile((1 + level) / 2, df) * stderr
    return replace(
        one,
        low=(difference - half) * size,
        high=(difference + half) * size,
        # A p too small for a float is still not 0.
        p=max(2 * t_tail(abs(difference) / stderr, df), sys.float_info.min),
        verdict=Verdict.UNCLEAR,
        method=_METHOD,
        interval_method=_METHOD,
        stderr=stderr * size,
        run_stderr=stderr * size,
        df=df,
    )


_ALPHA = 0.05
_MOST_HOLM = 30
"""Of more series all pairs are too many tests: Bonferroni's adjustment needs those of one series only."""


def find_leads_at_end(curves: Sequence[Curve], level: float) -> tuple[Lead, Lead]:
    """Who ends above all others, and who below.

    That is the series with the best final value, if it is better than each other one. The test is Welch's
    over runs at the last step that both of a pair have, with Holm's adjustment over all pairs (above 30
    series Bonferroni's); where runs of both sides are equal, or there is but one, nothing can be tested.
    """
    if len(curves) == 1:
        alone = Lead(curves[0].series, tested=False)
        return alone, alone
    # Without two series of several runs there is no test to pay for, however many series there are.
    if sum(len(curve.runs) > 1 for curve in curves) < 2:  # noqa: PLR2004 - a pair
        return Lead(None, tested=False), Lead(None, tested=False)
    finals = [float((curve.values if curve.raw is None else curve.raw)[-1]) for curve in curves]
    upwards = [curves[place] for place in sorted(range(len(curves)), key=finals.__getitem__)]
    try:
        return (
            _find_lead(upwards[::-1], level, higher_is_better=True),
            _find_lead(upwards, level, higher_is_better=False),
        )
    except OverflowError:  # sums beyond all numbers are nothing to test
        return Lead(None, tested=False), Lead(None, tested=False)


def _find_lead(curves: Sequence[Curve], level: float, *, higher_is_better: bool) -> Lead:
    """Who leads of curves in the order of their final values, the best first."""
    first, *others = curves
    names = [curve.series for curve in others]
    # Adjusting for the family takes verdicts away and gives none: mostly the nearest pair alone decides.
    alone: list[Comparison] = []
    for other in others:
        pair = compare_at_end((first, other), level=level, higher_is_better=higher_is_better)
        found = find_leader(pair, first.series, [other.series])
        if found.tested and found.series is None:
            return found
        alone += pair
    found = find_leader(alone, first.series, names)
    pairs = len(curves) * len(others) // 2
    if found.series is None or max(one.p or 0.0 for one in alone) * pairs < _ALPHA:
        return found
    if len(curves) > _MOST_HOLM:
        return Lead(None, tested=True)
    family = compare_at_end(curves, level=level, higher_is_better=higher_is_better)
    return find_leader(family, first.series, names)
