"""What a benchmark can tell apart, and how many problems a difference would need."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from reportgen.outcomes import Resolution
from reportgen.statistics.pairs import FEWEST
from reportgen.statistics.student_t import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.outcomes import Comparison

# Beyond this many problems nobody asks how many it would take.
_MOST = 10**9


def resolution(comparison: Comparison, *, power: float = 0.8, alpha: float = 0.05) -> Resolution:
    """The smallest difference that this pair's problems show, and the problems that the one seen would need.

    (t₁₋ₐ/₂ + t_power) s_d/√P with P - 1 degrees of freedom: a true difference of this size gives a t interval
    without 0 with probability ``power`` (Cohen 1988, 2.3, for paired differences). Both are about one
    comparison by itself, before the adjustment for many. What the difference seen would need takes it for the
    true one.

    Args:
        comparison: of two series on one benchmark.
        power: chance to show a difference that is there.
        alpha: two-sided level of the test.
    """
    spread, count = comparison.spread, comparison.shared
    observed = None if comparison.difference is None else abs(comparison.difference)
    if spread is None:
        reason = f"{count} shared problem{'' if count == 1 else 's'}: the spread of differences is not known"
        return Resolution(None, count, None, observed, None, power, alpha, reason)
    if not spread:
        reason = f"all {count} shared problems differ by the same: their spread is not known"
        return Resolution(None, count, spread, observed, None, power, alpha, reason)
    needed = _needed(observed or 0.0, spread, power, alpha)
    reason = "" if needed else "the difference seen is too small for any number of problems"
    return Resolution(
        _smallest(count, spread, power, alpha), count, spread, observed, needed, power, alpha, reason
    )


def benchmark_resolution(
    comparisons: Sequence[Comparison], *, power: float = 0.8, alpha: float = 0.05
) -> Resolution:
    """The smallest difference that a benchmark shows for a typical pair of series.

    The formula of ``resolution``, with the median over pairs of s_d and of the number of shared problems.
    Pairs without spread (a series and its copy) say nothing about others and are left out.

    Args:
        comparisons: the pairs of one benchmark and metric.
        power: chance to show a difference that is there.
        alpha: two-sided level of the test.
    """
    usable = [(one.spread, one.shared) for one in comparisons if one.spread]
    if not usable:
        reason = "no two series whose differences have a spread"
        return Resolution(None, 0, None, None, None, power, alpha, reason)
    spread, count = median(spread for spread, _ in usable), int(median(count for _, count in usable))
    return Resolution(_smallest(count, spread, power, alpha), count, spread, None, None, power, alpha, "")


def _smallest(count: int, spread: float, power: float, alpha: float) -> float:
    df = count - 1
    return (t_quantile(1 - alpha / 2, df) + t_quantile(power, df)) * spread / math.sqrt(count)


def _needed(observed: float, spread: float, power: float, alpha: float) -> int | None:
    """The fewest problems, at least ``FEWEST``, whose resolution is the observed difference or finer."""
    fewest, most = FEWEST, FEWEST
    while most < _MOST and _smallest(most, spread, power, alpha) > observed:
        fewest, most = most, 2 * most
    if most >= _MOST:
        return None
    while fewest < most:
        middle = (fewest + most) // 2
        if _smallest(middle, spread, power, alpha) > observed:
            fewest = middle + 1
        else:
            most = middle
    return most
