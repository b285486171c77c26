"""Ranks that verdicts of all pairs leave to each series, and groups between which every pair is decided."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.outcomes import RankGroup, RankRange, Verdict
from reportgen.statistics.metrics import compute_problem_values, find_rows, list_units
from reportgen.statistics.run_variance import draw_t, estimate_run_variance, shrink_variances

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.model import FloatArray
    from reportgen.outcomes import Comparison, Metric, ProblemScores, Score

_DRAWS: Final = 2_000
_UNITS_AT_ONCE: Final = 1_000
_SAME: Final = 1e-9


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
    for better, worse in _list_decided(comparisons):
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
    decided = set(_list_decided(comparisons))
    groups: list[list[str]] = []
    for place, name in enumerate(names):
        below = names[place:]
        if not place or not all((upper, lower) in decided for upper in names[:place] for lower in below):
            groups = groups or [[]]
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(RankGroup(rank, tuple(members)) for rank, members in enumerate(groups, start=1))


def estimate_best_probabilities(
    problem_scores: ProblemScores,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    higher_is_better: bool = True,
    seed: int = 0,
) -> dict[str, float]:
    """How often each series is the best, if other problems like these, and other runs, had been drawn.

    The Bayesian bootstrap (Rubin 1981): problems, or their clusters, get weights from one exponential
    distribution, the same for all series; what runs add moves a series by Student's t, as in ``step_down``.
    Series that are best together share the draw. Not a test: among equal series one is the best more often.

    Args:
        problem_scores: of one benchmark.
        metric: see ``scores``.
        k: see ``scores``.
        higher_is_better: whether a larger value is the better one.
        seed: of the report.

    Returns:
        A share in 0 to 1 by series; without those that have no score.
    """
    values = compute_problem_values(problem_scores, metric, k)
    names = [
        name for name, row in zip(problem_scores.series, values.series, strict=True) if np.isfinite(row).any()
    ]
    places = [problem_scores.series.index(name) for name in names]
    known = np.isfinite(values.series[places])
    filled = np.where(known, values.series[places], 0.0)
    units = list_units(problem_scores) or list(problem_scores.problems)
    totals, weights = np.zeros((len(names), _DRAWS)), np.zeros((len(names), _DRAWS))
    for start in range(0, len(units), _UNITS_AT_ONCE):
        part = slice(start, start + _UNITS_AT_ONCE)
        drawn = np.array([_draw_exponentials(unit, seed) for unit in units[part]])
        totals += filled[:, part] @ drawn
        weights += known[:, part] @ drawn
    means = totals / weights
    variances = shrink_variances(
        [estimate_run_variance(values.runs[find_rows(problem_scores, at)]) for at in places]
    )
    for place, (name, runs) in enumerate(zip(names, variances, strict=True)):
        if runs is not None and runs.excess:
            means[place] += math.sqrt(runs.of_mean) * draw_t(name, 2 * (runs.runs - 1), _DRAWS, seed)
    means *= 1 if higher_is_better else -1
    first = means >= means.max(axis=0) - _SAME * (problem_scores.highest - problem_scores.lowest)
    shares = (first / first.sum(axis=0)).mean(axis=1)
    return dict(zip(names, shares.tolist(), strict=True))


def _draw_exponentials(unit: str, seed: int) -> FloatArray:
    """Draws of the exponential distribution from a hash of the seed and a name, shape (draws,)."""
    digest = hashlib.shake_256(f"{seed}\0weight\0{unit}".encode("utf-8", "surrogatepass")).digest(2 * _DRAWS)
    drawn: FloatArray = _exponential_quantiles()[np.frombuffer(digest, dtype="<u2")]
    return drawn


@cache
def _exponential_quantiles() -> FloatArray:
    """Rounded, so that they are the same numbers on every machine."""
    shares = (np.arange(1 << 16, dtype=np.float64) + 0.5) / (1 << 16)
    return (-np.log1p(-shares)).round(9)


def _list_decided(comparisons: Iterable[Comparison]) -> list[tuple[str, str]]:
    """The better and the worse side of each pair with a verdict."""
    return [
        (one.a, one.b) if one.verdict is Verdict.BETTER else (one.b, one.a)
        for one in comparisons
        if one.verdict in {Verdict.BETTER, Verdict.WORSE}
    ]
