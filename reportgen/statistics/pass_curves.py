"""pass@k against k."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.statistics.metrics import find_rows, find_sample_range
from reportgen.statistics.scores import score_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.outcomes import Estimand, ProblemScores, Score


def score_pass_at_k(
    problem_scores: ProblemScores,
    ks: Sequence[int] | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> tuple[tuple[Score, ...], ...]:
    """The score pass@k of each series at several k.

    A series goes as far as its problem with the fewest samples allows, since beyond it the curve would be
    about fewer and fewer problems. Intervals are those of ``score_series`` at each k by itself: neighbouring ones
    rest on the same samples and move together.

    Args:
        problem_scores: of one benchmark.
        ks: which k; powers of two and the largest possible if left out.
        estimand: see ``score_series``.
        level: confidence level.

    Returns:
        A curve a series, in the order of ``problem_scores.series``; empty where it has no score.

    Raises:
        ScoresError: if scores are not right or wrong.
    """
    curves = []
    for place in range(len(problem_scores.series)):
        own = _select_series(problem_scores, place)
        counts = find_sample_range(own.samples)
        most = counts[0] if counts else 0
        chosen = sorted({k for k in ks if k <= most} if ks is not None else _powers_of_two(most))
        curves.append(
            tuple(score_series(own, "pass@k", k, estimand=estimand, level=level)[0] for k in chosen)
        )
    return tuple(curves)


def _powers_of_two(most: int) -> set[int]:
    return {2**power for power in range(most.bit_length()) if 2**power <= most} | ({most} if most else set())


def _select_series(scores: ProblemScores, place: int) -> ProblemScores:
    """One series' rows."""
    rows = find_rows(scores, place)
    return replace(
        scores,
        series=(scores.series[place],),
        runs=tuple(replace(scores.runs[row], series=0) for row in rows),
        samples=scores.samples[rows],
        correct=scores.correct[rows],
        mean=scores.mean[rows],
        variance=scores.variance[rows],
        binary=(scores.binary[place],),
        tokens=scores.tokens[rows],
        seconds=scores.seconds[rows],
        votes=None,
    )
