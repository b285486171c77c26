"""From p values to verdicts: the adjustment for many comparisons, and what is said in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.outcomes import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.outcomes import Comparison

_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def adjust_comparisons(
    comparisons: Sequence[Comparison], *, alpha: float = 0.05, higher_is_better: bool = True
) -> tuple[Comparison, ...]:
    """Comparisons shown together, with their p adjusted by Holm and a verdict each.

    ``BETTER`` or ``WORSE`` needs both an adjusted p below ``alpha`` and an interval without 0; the p guards
    against many comparisons, the interval against a difference whose size is not known. What could not be
    tested keeps its verdict, mostly ``TOO_FEW``, and counts for no adjustment: what is shared is known before
    the scores.

    Args:
        comparisons: each with its own p.
        alpha: the chance of at least one wrong verdict among all, if no two series differ.
        higher_is_better: whether a larger value is the better one.
    """
    tested = [place for place, one in enumerate(comparisons) if one.p is not None]
    after = dict(zip(tested, holm([comparisons[place].p or 0.0 for place in tested]), strict=True))
    return tuple(
        _make_verdict(
            one,
            after.get(place),
            len(tested),
            alpha,
            higher_is_better=higher_is_better,
        )
        for place, one in enumerate(comparisons)
    )


def holm(values: Sequence[float]) -> list[float]:
    """Adjusts p values that are looked at together: max over j ≤ i of min(1, (m - j + 1) p_(j)) (Holm 1979).

    Args:
        values: m unadjusted p, in any order.
    """
    after = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        after[place] = largest
    return after


def swap_sides(one: Comparison) -> Comparison:
    """The same comparison seen from its other side."""
    return replace(
        one,
        a=one.b,
        b=one.a,
        difference=_negate(one.difference),
        low=_negate(one.high),
        high=_negate(one.low),
        only_a=one.only_b,
        only_b=one.only_a,
        verdict=_OPPOSITE.get(one.verdict, one.verdict),
    )


def _negate(value: float | None) -> float | None:
    # 0.0 - 0.0 is 0.0, where -0.0 would be written as "-0".
    return None if value is None else 0.0 - value


def _make_verdict(
    one: Comparison,
    p: float | None,
    together: int,
    alpha: float,
    *,
    higher_is_better: bool,
) -> Comparison:
    if p is None:
        return replace(one, adjusted_p=None, tested_together=together)
    verdict = Verdict.UNCLEAR
    clear = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
    if p < alpha and clear:
        verdict = Verdict.BETTER if ((one.difference or 0.0) > 0) is higher_is_better else Verdict.WORSE
    return replace(one, adjusted_p=p, tested_together=together, verdict=verdict)
