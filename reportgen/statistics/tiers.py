"""Series that cannot be told apart share a tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.outcomes import Tier, Verdict
from reportgen.statistics.verdicts import mirrored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.outcomes import Comparison, Score


def tiers(
    scores: Sequence[Score], comparisons: Sequence[Comparison], *, higher_is_better: bool = True
) -> tuple[Tier, ...]:
    """Series by score, best first, cut where one is worse than the first of its tier.

    A series joins the current tier unless it is ``WORSE`` than the tier's first; then it begins the next one.
    A tier says that none of its series is shown to be worse than its first, not that they are equal: with
    few problems everything is one tier. Equal scores keep the order of ``scores``; a series without a score,
    and one that shares too few problems with a tier's first, cannot be worse than it: the former is in no
    tier, the latter joins.

    Args:
        scores: of one benchmark and metric.
        comparisons: of all pairs of these series, in any direction, adjusted together.
        higher_is_better: as for ``comparisons``.

    Raises:
        ValueError: if a pair that is needed was not compared.
    """
    verdicts = {}
    for one in comparisons:
        verdicts[one.a, one.b] = one.verdict
        verdicts[one.b, one.a] = mirrored(one).verdict
    sign = -1 if higher_is_better else 1
    placed = [(score.series, score.estimate) for score in scores if score.estimate is not None]
    members: list[list[str]] = []
    for series, _ in sorted(placed, key=lambda pair: sign * pair[1]):
        if members and (series, members[-1][0]) not in verdicts:
            raise ValueError(f"{series} was not compared with {members[-1][0]}")
        if members and verdicts[series, members[-1][0]] is not Verdict.WORSE:
            members[-1].append(series)
        else:
            members.append([series])
    return tuple(Tier(rank, tuple(names)) for rank, names in enumerate(members, start=1))
