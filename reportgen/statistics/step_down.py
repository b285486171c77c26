"""The step-down test of many differences that are shown together."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.statistics.run_variance import draw_t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.model import FloatArray
    from reportgen.statistics.run_variance import RunVariance

# Of how many spreads of the family's mean a pair's own spread is averaged with.
_SHARE_OF_FAMILY: Final = 2
# Statistics that differ by less than this share are one number, computed in two ways.
_SAME: Final = 1e-9
_MOST_DRAWS, _FEWEST_DRAWS = 20_000, 2_000
# Draws of all hypotheses together: more of them share fewer.
_DRAWS_TOGETHER: Final = 5_000_000


class Hypothesis(NamedTuple):
    """That two series do not differ.

    Attributes:
        difference: the one seen.
        variance: of the mean over problems, without what runs add.
        group: hypotheses whose spreads are averaged: those of one benchmark.
        sides: the two series, and what their runs add, averaged over the family.
        draw: gives what chance makes of the difference, and its variance, shape (draws,) each.
    """

    difference: float
    variance: float
    group: str | None
    sides: tuple[tuple[str, RunVariance | None], tuple[str, RunVariance | None]]
    draw: Callable[[], tuple[FloatArray, FloatArray]]


class Adjusted(NamedTuple):
    """A p adjusted for all hypotheses, the standard error behind it, and how many of these are critical."""

    p: float
    stderr: float
    critical: float


def count_draws(hypotheses: int) -> int:
    """How many draws are taken for so many hypotheses: 20,000, and fewer beyond 250 of them."""
    return max(_FEWEST_DRAWS, min(_MOST_DRAWS, _DRAWS_TOGETHER // max(hypotheses, 1)))


def adjust_step_down(
    hypotheses: Sequence[Hypothesis], draws: int, alpha: float, seed: int = 0
) -> list[Adjusted]:
    """Adjusts p for a family by the largest statistic of what is not yet rejected.

    The statistic is |d|/√(v + τ²) with v the variance of the mean over problems, averaged as
    (v + 2 mean v of the group)/3, and τ² what runs add. Each draw flips the signs of the centred differences
    of a problem, the same for all pairs, and moves each series by its own draw of what runs add (Student's t
    with the degrees of freedom of the averaged variance). The hypotheses are taken from the largest
    statistic down: p is the share of draws whose largest statistic among those that remain is at least the
    one seen, and never below the p before it (Westfall and Young 1993, algorithm 4.1; Romano and Wolf 2005).
    It has no floor that rises with the size of the family. Averaging spreads is what Efron et al. 2001 and
    Smyth 2004 do for many comparisons of few units: with 15 problems the smallest of 190 spreads is luck.

    Args:
        hypotheses: at least two.
        draws: see ``count_draws``.
        alpha: familywise error, for the critical value.
        seed: of the report.

    Returns:
        One a hypothesis, in their order.
    """
    spreads: dict[str | None, list[float]] = defaultdict(list)
    drawn_spreads: dict[str | None, FloatArray] = {}
    for one in hypotheses:
        spreads[one.group].append(one.variance)
        _, variances = one.draw()
        drawn_spreads[one.group] = drawn_spreads.get(one.group, 0.0) + variances
    typical = {group: math.fsum(own) / len(own) for group, own in spreads.items()}
    drawn = {group: total / len(spreads[group]) for group, total in drawn_spreads.items()}
    added = [_of_runs(one) for one in hypotheses]
    stderrs = [
        math.sqrt(_combine_variance(one.variance, typical[one.group]) + more)
        for one, more in zip(hypotheses, added, strict=True)
    ]
    seen = [_ratio(abs(one.difference), stderr) for one, stderr in zip(hypotheses, stderrs, strict=True)]
    order = sorted(range(len(hypotheses)), key=lambda place: seen[place])
    largest, found = np.zeros(draws), [0.0] * len(hypotheses)
    for place in order:
        one = hypotheses[place]
        means, variances = one.draw()
        means = np.abs(means + _draw_run_effects(one, draws, seed))
        scale = np.sqrt(_combine_variance(variances, drawn[one.group]) + added[place])
        largest = np.maximum(largest, np.divide(means, scale, out=np.zeros(draws), where=scale > 0))
        reaching = int(np.count_nonzero(largest >= seen[place] * (1 - _SAME)))
        found[place] = (1 + reaching) / (1 + draws)
    before = 0.0
    for place in reversed(order):
        before = found[place] = max(before, found[place])
    critical = float(f"{np.sort(largest)[math.ceil((1 - alpha) * draws) - 1]:.10g}")
    return [Adjusted(p, stderr, critical) for p, stderr in zip(found, stderrs, strict=True)]


def _combine_variance(own: FloatArray | float, typical: FloatArray | float) -> FloatArray | float:
    return (own + _SHARE_OF_FAMILY * typical) / (1 + _SHARE_OF_FAMILY)


def _of_runs(one: Hypothesis) -> float:
    return sum(runs.of_mean for _, runs in one.sides if runs is not None)


def _draw_run_effects(one: Hypothesis, draws: int, seed: int) -> FloatArray | float:
    """What other runs would make of the difference by chance, draw by draw."""
    moved: FloatArray | float = 0.0
    for sign, (name, runs) in zip((1, -1), one.sides, strict=True):
        if runs is not None and runs.excess:
            # Averaged with the family, a variance has twice the degrees of freedom.
            moved = moved + sign * math.sqrt(runs.of_mean) * draw_t(name, 2 * (runs.runs - 1), draws, seed)
    return moved


def _ratio(value: float, scale: float) -> float:
    if scale:
        return value / scale
    return math.inf if value else 0.0
