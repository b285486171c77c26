"""From p values to verdicts: adjustment for many comparisons, the leader, and possible ranks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.comparisons import RankGroup, RankRange, Verdict
from reportgen.core.model import Lead

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.comparisons import Comparison, Score

_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def adjust_comparisons(
    comparisons: Sequence[Comparison], *, alpha: float = 0.05, higher_is_better: bool = True
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
            verdict = decide(comparison, p, alpha, higher_is_better=higher_is_better)
        judged.append(replace(comparison, adjusted_p=p, tested_together=len(tested), verdict=verdict))
    return tuple(judged)


def decide(comparison: Comparison, p: float, alpha: float, *, higher_is_better: bool) -> Verdict:
    """Return ``BETTER`` or ``WORSE`` if p < ``alpha`` and the interval excludes 0, else ``UNCLEAR``."""
    low, high = comparison.low, comparison.high
    if p >= alpha or low is None or high is None or low <= 0 <= high:
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


def find_leader(
    comparisons: Iterable[Comparison],
    first: str,
    others: Iterable[str],
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> Lead:
    """Find out whether ``first``, the series with the best number, is better than each other one.

    This is the intersection-union test (Berger 1982): p of each pair is below ``alpha`` without adjustment
    for other pairs, since a wrong leader needs a wrong verdict on its pair with the best series. Comparisons
    of other pairs are skipped. If ``first`` does not lead, nobody does: ``tested`` if a test shows that it is
    not clearly better than one of them, not ``tested`` if a pair could not be tested.
    """
    verdicts = {}
    for one in comparisons:
        if one.p is not None:
            verdict = decide(one, one.p * one.family_blocks, alpha, higher_is_better=higher_is_better)
            verdicts[one.a, one.b] = verdict
            verdicts[one.b, one.a] = _OPPOSITE.get(verdict, verdict)
    against_others = {verdicts.get((first, other), Verdict.TOO_FEW) for other in others}
    if against_others <= {Verdict.BETTER}:
        return Lead(first, tested=bool(against_others))
    return Lead(None, tested=bool(against_others & {Verdict.UNCLEAR, Verdict.WORSE}))


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
