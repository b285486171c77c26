"""How large a true difference has to be to be found, alone and among all that is tested together."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.outcomes import TARGET_POWER, Power
from reportgen.statistics.student_t import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray
    from reportgen.outcomes import Comparison, ProblemScores

_LEVEL: Final = 0.95
_POINTS: Final = 201
_DEVIATIONS: Final = 8
_HALVINGS: Final = 48


class Rule(NamedTuple):
    """When a difference gets a verdict: |d| ≥ t · its standard error + ``step``, and |d| ≥ ``least``.

    Attributes:
        stderr: of the difference.
        df: degrees of freedom of ``stderr``.
        level: of the interval that has to leave 0 out.
        least: what a family needs: its critical value times its standard error; 0 for a pair by itself.
        varies: whether ``least`` varies as ``stderr`` does. It does where runs are a part of both: the family
            has few of them, too. Over problems it is an average of many spreads, and hardly varies.
        step: half the distance between neighbouring means of the sign-flip test, see ``find_half_step``.
    """

    stderr: float
    df: float
    level: float = _LEVEL
    least: float = 0.0
    varies: bool = False
    step: float = 0.0


def find_probability(difference: float, rule: Rule) -> float:
    """The probability that a true difference gets a verdict in its own direction.

    d is normal about the true difference, and its standard error varies as √(χ²_df/df) of its own: the
    noncentral t of Cohen 1988, 12.7, with the family's threshold where that is larger. With S = √(χ²_df/df)
    it is E Φ(δ/stderr - max(t S + step/stderr, least S/stderr)), without the last S where it does not vary.

    Args:
        difference: the true one, 0 or more, in the unit of ``rule.stderr``.
        rule: when it gets a verdict.

    Returns:
        Rounded, so that it is the same number on every machine.
    """
    spreads, weights = _list_spreads(rule.df)
    quantile = t_quantile((1 + max(rule.level, _LEVEL)) / 2, rule.df)
    least = rule.least * spreads if rule.varies else rule.least
    needed = np.maximum(quantile * spreads * rule.stderr + rule.step, least)
    reach = (difference - needed) / (rule.stderr * math.sqrt(2))
    found = math.fsum(
        weight * (1 + math.erf(one)) / 2 for weight, one in zip(weights.tolist(), reach.tolist(), strict=True)
    )
    return float(f"{found:.10g}")


def find_difference(rule: Rule, probability: float = TARGET_POWER) -> float:
    """The true difference that gets a verdict with this probability; rounded, so that machines agree."""
    low, high = 0.0, rule.stderr
    while find_probability(high, rule) < probability:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if find_probability(middle, rule) < probability else (low, middle)
    return float(f"{high:.10g}")


def estimate_power(comparisons: Sequence[Comparison], step: float = 0.0) -> Power:
    """What the comparisons of one benchmark find: a pair with their mean variance, alone and in their family.

    The family test averages spreads over its pairs (``statistics.step_down``), so a typical pair has their
    mean variance, and the median of their degrees of freedom and problems. Pairs without spread (a series and
    its copy) say nothing about others and are left out.

    Args:
        comparisons: of one benchmark and metric, tested together; or one.
        step: from ``find_half_step``.
    """
    usable = [one for one in comparisons if one.stderr and one.spread and one.df]
    if not usable:
        reason = "no two series whose differences have a spread"
        return Power(None, None, 0, (1, 1), None, 0, None, None, reason)
    alone = Rule(
        stderr=_mean_square([one.stderr or 0.0 for one in usable]),
        df=median(one.df or math.inf for one in usable),
        level=usable[0].level,
        step=0.0 if any(one.run_stderr for one in usable) else step,
    )
    found, together = find_difference(alone), make_family_rule(alone, usable)
    in_family = find_difference(together) if together else None
    return Power(
        difference=found,
        half=find_probability(found / 2, alone),
        problems=int(median(one.shared for one in usable)),
        runs=(min(min(one.runs) for one in usable), max(max(one.runs) for one in usable)),
        stderr=alone.stderr,
        together=max(one.tested_together for one in usable),
        family_difference=in_family,
        family_half=find_probability(in_family / 2, together) if together and in_family else None,
        reason="",
    )


def find_half_step(scores: ProblemScores, metric: str) -> float:
    """Half the distance between neighbouring mean differences that sign flips give; 0 where it is tiny.

    With m samples that are right or wrong a problem's score is a multiple of 1/m, and a flipped sign moves
    the mean by twice as much over P problems. The test counts what is as far as the difference seen or
    farther, and so asks for half a step more than a test of continuous numbers (Feller 1968, VII.3, on the
    correction for continuity).

    Args:
        scores: of one benchmark.
        metric: ``mean``, or another, whose values have no common step.
    """
    some = scores.samples[scores.samples > 0]
    if (
        not some.size
        or some.min() < some.max()
        or not all(scores.binary)
        or not metric.startswith(("mean", "avg"))
    ):
        return 0.0
    runs = max(Counter(run.series for run in scores.runs).values())
    return (scores.highest - scores.lowest) / (int(some[0]) * runs * len(scores.problems))


def make_family_rule(alone: Rule, comparisons: Sequence[Comparison]) -> Rule | None:
    """The rule of a pair in the family of these comparisons; None where each was tested by itself."""
    family = [one for one in comparisons if one.family_stderr and one.critical]
    if not family:
        return None
    stderr = _mean_square([one.family_stderr or 0.0 for one in family])
    return alone._replace(
        # Blocks of one family each multiply p by their number, that of a pair by itself too.
        level=max(alone.level, 1 - (1 - _LEVEL) / family[0].family_blocks),
        least=max(one.critical or 0.0 for one in family) * stderr,
        varies=any(one.run_stderr for one in family),
    )


def _mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))


@lru_cache(maxsize=256)
def _list_spreads(df: float) -> tuple[FloatArray, FloatArray]:
    """Values of √(χ²_df/df) and their probabilities."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    width = _DEVIATIONS / math.sqrt(2 * df)
    values = np.linspace(max(1e-3, 1 - width), 1 + width, _POINTS)
    logs = (df - 1) * np.log(values) - df * values**2 / 2
    weights = np.exp(logs - logs.max())
    return values, weights / weights.sum()
