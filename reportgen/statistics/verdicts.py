"""From p values to verdicts: adjustment for many comparisons, the leader and ranks, and runs of curves."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import (
    FRAGILE,
    Comparison,
    RankGroup,
    RankRange,
    ScoresError,
    Verdict,
)
from reportgen.core.model import Estimate, Lead
from reportgen.statistics.distributions import (
    check_level,
    compute_t_p,
    deviation,
    find_scale,
    find_t_ends,
    mean,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.comparisons import ProblemScores, Score
    from reportgen.core.model import Curve, FloatArray

ALPHA = 0.05
_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def adjust_comparisons(
    comparisons: Sequence[Comparison], *, higher_is_better: bool = True
) -> tuple[Comparison, ...]:
    """Adjust the p of comparisons shown together by Holm and add verdicts (see ``decide``).

    What could not be tested keeps its verdict, mostly ``TOO_FEW``, and does not count in the adjustment: what
    is shared is known before the scores.
    """
    tested = [comparison.p for comparison in comparisons if comparison.p is not None]
    adjusted = iter(holm(tested))
    judged = []
    for comparison in comparisons:
        p, verdict = None, comparison.verdict
        if comparison.p is not None:
            p = next(adjusted)
            verdict = decide(comparison, p, higher_is_better=higher_is_better)
        judged.append(replace(comparison, adjusted_p=p, tested_together=len(tested), verdict=verdict))
    return tuple(judged)


def decide(comparison: Comparison, p: float, *, higher_is_better: bool) -> Verdict:
    """Return ``BETTER`` or ``WORSE`` if p < ``ALPHA`` and the interval excludes 0, else ``UNCLEAR``."""
    low, high = comparison.low, comparison.high
    if p >= ALPHA or low is None or high is None or low <= 0 <= high:
        return Verdict.UNCLEAR
    return Verdict.BETTER if ((comparison.difference or 0.0) > 0) is higher_is_better else Verdict.WORSE


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p values of one family: max over j ≤ i of min(1, (m - j + 1) p_(j)) (Holm 1979)."""
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return adjusted


def adjust_by_fdr(values: Sequence[float]) -> list[float]:
    """Adjust p values for the false discovery rate: min over j ≥ i of m p_(j)/j.

    Benjamini and Hochberg 1995; for all pairs of several groups also Yekutieli 2008.
    """
    adjusted = [0.0] * len(values)
    smallest = 1.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank, index in reversed([*enumerate(order, start=1)]):
        smallest = min(smallest, len(values) * values[index] / rank)
        adjusted[index] = smallest
    return adjusted


def swap_sides(comparison: Comparison) -> Comparison:
    """Return the same comparison with its sides swapped."""
    # 0.0 - 0.0 is 0.0; -0.0 would be written as "-0".
    difference, low, high = (
        None if value is None else 0.0 - value
        for value in (comparison.difference, comparison.high, comparison.low)
    )
    return replace(
        comparison,
        a=comparison.b,
        b=comparison.a,
        difference=difference,
        low=low,
        high=high,
        only_a=comparison.only_b,
        only_b=comparison.only_a,
        verdict=_OPPOSITE.get(comparison.verdict, comparison.verdict),
    )


def check_counted(scores: ProblemScores, *, higher_is_better: bool) -> None:
    """Refuse answers that count as wrong, with the lowest score, where that is the best one."""
    if not higher_is_better and any(counts.wrong for counts in scores.notes.statuses):
        message = "answers that count as wrong have the lowest score, which is the best where lower is better"
        raise ScoresError(message, "Say count: [] in source.yml, which leaves those without a score out")


def find_leader(
    comparisons: Iterable[Comparison],
    first: str,
    others: Iterable[str],
    *,
    higher_is_better: bool = True,
    missing: str = "not every pair was compared",
) -> Lead:
    """Find out whether ``first``, the series with the best number, is better than each other one.

    This is the intersection-union test (Berger 1982): p of each pair is below ``ALPHA`` without adjustment
    for other pairs, since a wrong leader needs a wrong verdict on its pair with the best series. ``others``
    are in the order of their numbers, best first; comparisons of other pairs are skipped. If ``first`` does
    not lead, nobody does: ``tested`` if a test shows that it is not clearly better than one of them, not
    ``tested`` if a pair could not be tested, with the first reason: that of its comparison, or ``missing``
    without one.
    """
    own = {one.b if one.a == first else one.a: one for one in comparisons if first in {one.a, one.b}}
    names, open_pairs, untested = list(others), [], []
    sides: dict[str, Comparison] = {}
    for name in names:
        one = own.get(name)
        if one is None or one.p is None:
            untested.append(one.reason if one else missing)
            continue
        p = one.p * one.family_blocks
        sides[name] = one = one if one.a == first else swap_sides(one)
        if decide(one, p, higher_is_better=higher_is_better) is not Verdict.BETTER:
            open_pairs.append(one)
    if open_pairs:
        return Lead(None, tested=True, **_measure_pair(open_pairs[0]))
    if untested:
        return Lead(None, tested=False, reason=untested[0])
    rival = names[0] if len(names) == 1 else ""
    single = any(max(own[name].runs) == 1 for name in names)
    measured = _measure_pair(sides[names[0]]) if names else {}
    fragile = any(FRAGILE in one.reason for one in sides.values())
    return Lead(first, tested=bool(names), rival=rival, single=single, fragile=fragile, **measured)


def _measure_pair(pair: Comparison) -> dict[str, Any]:
    """Return the fields of a ``Lead`` on the pair that decides."""
    if pair.difference is None:
        return {"pair": (pair.a, pair.b)}
    difference = Estimate(pair.difference, pair.low, pair.high, pair.shared)
    return {"pair": (pair.a, pair.b), "difference": difference}


def find_front(
    series: Sequence[str], comparisons: Iterable[Comparison], *, alpha: float = 0.025
) -> tuple[str, ...] | None:
    """Find the series that are shown to be on the Pareto front of several measures.

    These are better than every other series in one of the measures at least, by verdicts whose adjusted p is
    below ``alpha``. With two measures, each adjusted by itself, the chance of a wrong member is at most 5%.
    Returns None if nothing was tested.
    """
    tested = [one for one in comparisons if one.adjusted_p is not None]
    shown = {*_list_decided(one for one in tested if (one.adjusted_p or 0.0) < alpha)}
    front = (one for one in series if all((one, other) in shown for other in series if other != one))
    return tuple(front) if tested else None


def rank_ranges(scores: Sequence[Score], comparisons: Iterable[Comparison]) -> tuple[RankRange, ...]:
    """Return the best and worst rank of each series with a score, in the order of ``scores``.

    Best is 1 + the number of series that are better, worst the number of series minus those that it is better
    than, by the verdicts of one family (Goldstein and Spiegelhalter 1996; Klein, Wright and Wieczorek 2020).
    """
    names = [score.series for score in scores if score.estimate is not None]
    pairs = [pair for pair in _list_decided(comparisons) if {*pair} <= {*names}]
    beaten, beats = defaultdict(set), defaultdict(set)
    for better, worse in pairs:
        beaten[worse].add(better)
        beats[better].add(worse)
    count = len(names)
    return tuple(RankRange(name, 1 + len(beaten[name]), count - len(beats[name]), count) for name in names)


def rank_groups(
    scores: Sequence[Score], comparisons: Iterable[Comparison], *, higher_is_better: bool = True
) -> tuple[RankGroup, ...]:
    """Group series by score, best first, split where every series above is better than every one below.

    Equal scores keep the order of ``scores``; a series without a score is in no group. Two groups always
    differ, two series of one group need not be equal.
    """
    sign = -1 if higher_is_better else 1
    ordered = [(sign * score.estimate, score.series) for score in scores if score.estimate is not None]
    names = [name for _, name in sorted(ordered, key=lambda pair: pair[0])]
    decided = set(_list_decided(comparisons))
    groups: list[list[str]] = []
    for index, name in enumerate(names):
        if not index or all((above, below) in decided for above in names[:index] for below in names[index:]):
            groups.append([])
        groups[-1].append(name)
    return tuple(RankGroup(rank, tuple(members)) for rank, members in enumerate(groups, start=1))


def _list_decided(comparisons: Iterable[Comparison]) -> list[tuple[str, str]]:
    """List the better and the worse side of each pair with a verdict."""
    return [
        (one.a, one.b) if one.verdict is Verdict.BETTER else (one.b, one.a)
        for one in comparisons
        if one.verdict in {Verdict.BETTER, Verdict.WORSE}
    ]


# ---- the runs of curves

_ILLUSTRATIVE = "illustrative runs"
_METHOD = "Welch's t over runs"
SAME_RUNS = 1e-12
"""Runs whose relative standard error is at most this are equal."""


def compare_curves(
    a: Curve,
    b: Curve,
    *,
    at: float,
    metric: str = "",
    level: float = 0.95,
    higher_is_better: bool = True,
) -> Comparison:
    """Compare the runs of two series, a minus b, by Welch's t test (1947): runs are the units.

    Each run gives its value ``at`` a step, interpolated inside its own range. Runs that do not reach it do
    not count: ``TOO_FEW`` under 2 a side; ``shared`` is the number of runs of the smaller side.
    """
    check_level(level)
    sides = [
        np.array(
            [
                float(np.interp(at, run.steps, run.values))
                for run in curve.runs
                if run.steps.size and run.steps[0] <= at <= run.steps[-1]
            ]
        )
        for curve in (a, b)
    ]
    comparison = Comparison(a.series, b.series, metric, level, runs=(sides[0].size, sides[1].size))
    if a.illustrative or b.illustrative:
        return replace(comparison, verdict=Verdict.UNCLEAR, reason=_ILLUSTRATIVE)
    tested = compare_run_values(comparison, sides[0], sides[1])
    return adjust_comparisons([tested], higher_is_better=higher_is_better)[0]


def compare_run_values(comparison: Comparison, first: FloatArray, second: FloatArray) -> Comparison:
    """Add Welch's test of one number per run and side, before verdicts, or the reason for its absence."""
    fewest = min(comparison.runs)
    difference = mean(first) - mean(second) if fewest else None
    comparison = replace(comparison, shared=fewest, difference=difference)
    if fewest < 2:  # noqa: PLR2004 - one run says nothing about others
        return replace(comparison, reason=_describe_few_runs(comparison))
    size = find_scale(np.concatenate([first, second]))
    first, second = first / size, second / size
    parts = [deviation(side) ** 2 / side.size for side in (first, second)]
    stderr = math.sqrt(sum(parts))
    if stderr <= SAME_RUNS:
        reason = "the runs of each side are equal, so there is no interval"
        return replace(comparison, verdict=Verdict.UNCLEAR, reason=reason)
    shares = [part / sum(parts) for part in parts]
    df = 1 / (shares[0] ** 2 / (first.size - 1) + shares[1] ** 2 / (second.size - 1))
    return replace(add_t(comparison, stderr * size, df, _METHOD), run_stderr=stderr * size)


def add_t(comparison: Comparison, stderr: float, df: float, method: str, interval: str = "") -> Comparison:
    """Add the interval and the p of a difference by Student's t, before verdicts."""
    difference = comparison.difference or 0.0
    low, high = find_t_ends(difference, stderr, df, comparison.level)
    p, interval = compute_t_p(difference, stderr, df), interval or method
    known = {"low": low, "high": high, "stderr": stderr, "df": df, "p": p, "method": method}
    return replace(comparison, **known, interval_method=interval, verdict=Verdict.UNCLEAR)


def _describe_few_runs(comparison: Comparison) -> str:
    sides = zip(comparison.runs, (comparison.a, comparison.b), strict=True)
    few = [f"{'one run' if runs else 'no run'} of {name}" for runs, name in sides if runs < 2]  # noqa: PLR2004
    return "one run each" if comparison.runs == (1, 1) else " and ".join(few)


def compare_at_end(
    curves: Sequence[Curve], *, level: float = 0.95, higher_is_better: bool = True
) -> tuple[Comparison, ...]:
    """Compare all pairs with overlapping steps at the last step that both have, adjusted together."""
    tested = [
        compare_curves(a, b, at=step, level=level, higher_is_better=higher_is_better)
        for a, b in combinations(curves, 2)
        if (step := find_last_common_step(a, b)) is not None
    ]
    return adjust_comparisons(tested, higher_is_better=higher_is_better)


def find_last_common_step(a: Curve, b: Curve) -> float | None:
    """Return the last step that both reach, or None if their ranges do not overlap."""
    last = min(float(a.steps[-1]), float(b.steps[-1]))
    return last if last >= max(a.steps[0], b.steps[0]) else None


# With fewer runs of a series, its own variance says too little: Welch's test would hardly ever find a leader.
_FEWEST_RUNS = 4


def find_leads_at_end(curves: Sequence[Curve], level: float) -> tuple[Lead, Lead]:
    """Find the series that ends above all others and the one that ends below, if there are any.

    Tested against each other series at the last step that both have (see ``find_leader``): by Welch's t over
    runs, and if there are three series or more and one has fewer than four runs, by t with the variance of
    all series' final values. Nothing can be tested if a side has one run, or the runs of each side are equal.
    """
    if any(curve.illustrative for curve in curves):
        return (Lead(None, tested=False, reason=_ILLUSTRATIVE),) * 2
    if len(curves) == 1:
        return (Lead(curves[0].series, tested=False),) * 2
    # Skip the tests, which are slow for many series, unless two series have several runs.
    several = [curve.series for curve in curves if len(curve.runs) > 1]
    if len(several) < 2:  # noqa: PLR2004 - a pair
        reason = f"several runs only of {several[0]}" if several else "one run each"
        if any(curve.given for curve in curves):
            reason = "single runs are not given"
        return (Lead(None, tested=False, reason=reason),) * 2
    finals = [float((curve.values if curve.raw is None else curve.raw)[-1]) for curve in curves]
    upwards = [curves[index] for index in sorted(range(len(curves)), key=finals.__getitem__)]
    try:
        above = _find_lead(upwards[::-1], level, higher_is_better=True)
        return above, _find_lead(upwards, level, higher_is_better=False)
    except OverflowError:
        return (Lead(None, tested=False, reason="the values are too large"),) * 2


def _find_lead(curves: Sequence[Curve], level: float, *, higher_is_better: bool) -> Lead:
    """Find the leader of curves in the order of their final values, best first."""
    first, *others = curves
    pooled = _pool_runs(curves)
    compared: list[Comparison] = []
    for other in others:
        step = find_last_common_step(first, other)
        if step is None:
            continue
        pair = compare_curves(first, other, at=step, level=level, higher_is_better=higher_is_better)
        compared.append(_use_pooled(pair, *pooled) if pooled else pair)
    names, missing = [curve.series for curve in others], "no step that both sides reach"
    return find_leader(compared, first.series, names, higher_is_better=higher_is_better, missing=missing)


def _pool_runs(curves: Sequence[Curve]) -> tuple[float, int] | None:
    """Return the pooled deviation of the runs' final values and its freedom, where it is needed."""
    finals = [np.array([run.values[-1] for run in curve.runs if run.steps.size]) for curve in curves]
    known = [values for values in finals if values.size > 1]
    if len(curves) == 2 or min(map(np.size, known), default=_FEWEST_RUNS) >= _FEWEST_RUNS:  # noqa: PLR2004
        return None
    df = sum(values.size - 1 for values in known)
    size = find_scale(np.concatenate(known))
    squares = math.fsum((values.size - 1) * deviation(values / size) ** 2 for values in known)
    return math.sqrt(squares / df) * size, df


def _use_pooled(pair: Comparison, sd: float, df: int) -> Comparison:
    """Return a tested pair with p and interval from a pooled standard deviation."""
    if pair.p is None or pair.difference is None or not sd:
        return pair
    return add_t(pair, sd * math.sqrt(sum(1 / runs for runs in pair.runs)), df, pair.method)
