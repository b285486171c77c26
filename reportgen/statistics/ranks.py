"""Ranks that verdicts of all pairs leave to each series, and groups between which every pair is decided."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from reportgen.outcomes import RankGroup, RankRange, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.outcomes import Comparison, Score


def rank_ranges(scores: Sequence[Score], comparisons: Iterable[Comparison]) -> tuple[RankRange, ...]:
    """The best and the worst rank of each series with a score.

    Best is 1 + the number of series that are better, worst is the number of series less those that it is
    better than, by the verdicts of one family. A pair without a verdict leaves both orders open, so that
    all ranges hold together with the confidence of the family (Goldstein and Spiegelhalter 1996 on ranks;
    here from the closed verdicts, as Klein, Wright and Wieczorek 2020).

    Args:
        scores: of one benchmark and metric.
        comparisons: of pairs of these series, in any direction, adjusted together.

    Returns:
        In the order of ``scores``; series without a score are left out.
    """
    placed = [score.series for score in scores if score.estimate is not None]
    beaten, beats = defaultdict(set), defaultdict(set)
    for better, worse in _decided(comparisons):
        beaten[worse].add(better)
        beats[better].add(worse)
    count = len(placed)
    return tuple(
        RankRange(name, 1 + len(beaten[name] & {*placed}), count - len(beats[name] & {*placed}), count)
        for name in placed
    )


def rank_groups(
    scores: Sequence[Score], comparisons: Iterable[Comparison], *, higher_is_better: bool = True
) -> tuple[RankGroup, ...]:
    """Series by score, best first, with a border where every series above is better than every one below.

    Equal scores keep the order of ``scores``; a series without a score is in no group. With few problems, or
    where one pair across a border is undecided, there is no border: two groups always differ, two series of
    one group need not be alike.

    Args:
        scores: of one benchmark and metric.
        comparisons: of pairs of these series, in any direction, adjusted together.
        higher_is_better: as for ``comparisons``.
    """
    sign = -1 if higher_is_better else 1
    placed = [(sign * score.estimate, score.series) for score in scores if score.estimate is not None]
    names = [name for _, name in sorted(placed, key=lambda pair: pair[0])]
    decided = set(_decided(comparisons))
    groups: list[list[str]] = []
    for place, name in enumerate(names):
        below = names[place:]
        if not place or not all((upper, lower) in decided for upper in names[:place] for lower in below):
            groups = groups or [[]]
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(RankGroup(rank, tuple(members)) for rank, members in enumerate(groups, start=1))


def find_leader(names: Sequence[str], comparisons: Iterable[Comparison]) -> str | None:
    """The one series that is better than each of the others; None where there is no clear winner.

    Args:
        names: of at least two series.
        comparisons: of pairs of these series, in any direction, adjusted together.
    """
    wins: dict[str, set[str]] = defaultdict(set)
    for better, worse in _decided(comparisons):
        wins[better].add(worse)
    others = {*names}
    return next((name for name in names if len(others) > 1 and wins[name] >= others - {name}), None)


def _decided(comparisons: Iterable[Comparison]) -> list[tuple[str, str]]:
    """The better and the worse side of each pair with a verdict."""
    return [
        (one.a, one.b) if one.verdict is Verdict.BETTER else (one.b, one.a)
        for one in comparisons
        if one.verdict in {Verdict.BETTER, Verdict.WORSE}
    ]
