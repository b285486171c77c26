"""Who leads: the one series that is better than every other by the test, or nobody.

Cards, key results, summaries, tables, observations and claims all ask here, so that no two places of a report
can name different winners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.model import Lead
from reportgen.outcomes import Verdict
from reportgen.statistics.compare_curves import compare_at_end
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.model import Curve
    from reportgen.outcomes import Comparison

_ALPHA = 0.05
_MOST_HOLM = 30
"""Of more series all pairs are too many tests: Bonferroni's adjustment needs those of one series only."""


def find_leader(comparisons: Iterable[Comparison], first: str, others: Iterable[str]) -> Lead:
    """Whether ``first``, the series with the best number, is better than all others.

    Args:
        comparisons: verdicts of one family, each pair in either order; those of other pairs are skipped.
        first: the series with the best number.
        others: all other series shown with it.

    Returns:
        ``first`` where it is better than each of the others; nobody, ``tested``, where a test says that it is
        not clearly better than one of them; nobody, not ``tested``, where a pair could not be tested.
    """
    verdicts = {}
    for one in comparisons:
        if one.adjusted_p is None:
            continue
        verdicts[one.a, one.b] = one.verdict
        verdicts[one.b, one.a] = swap_sides(one).verdict
    found = {verdicts.get((first, other), Verdict.TOO_FEW) for other in others}
    if found <= {Verdict.BETTER}:
        return Lead(first, tested=bool(found))
    return Lead(None, tested=bool(found & {Verdict.UNCLEAR, Verdict.WORSE}))


def find_leads_at_end(curves: Sequence[Curve], level: float) -> tuple[Lead, Lead]:
    """Who ends above all others, and who below.

    That is the series with the best final value, if it is better than each other one. The test is Welch's
    over runs at the last step that both of a pair have, with Holm's adjustment over all pairs (above 30
    series Bonferroni's); where runs of both sides are equal, or there is but one, nothing can be tested.

    Args:
        curves: each with a point; unsmoothed values of their runs are used.
        level: of the intervals of the differences, which have to exclude 0.
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
