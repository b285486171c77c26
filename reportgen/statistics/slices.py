"""Scores by a free column, such as subject or level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.statistics.scores import make_missing_score, score_series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.outcomes import Estimand, Metric, ProblemScores, Score


def score_slices(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    estimand: Estimand | str = "problems like these",
    level: float = 0.95,
) -> dict[str, tuple[Score, ...]]:
    """The scores of each part by itself, from ``problem_scores_by``.

    Each interval is about problems like those of its slice. Slices are looked at for themselves: intervals
    of many slices are not adjusted, so one in twenty misses at a level of 95 %.

    Args:
        parts: problem scores by value of the column.
        metric: see ``score_series``.
        k: see ``score_series``.
        estimand: see ``score_series``.
        level: confidence level.

    Returns:
        For each part the scores of all series, in one order; a series that a part lacks has no estimate, and
        a reason.

    Raises:
        ScoresError: see ``problem_values``.
    """
    names = tuple(dict.fromkeys(series for part in parts.values() for series in part.series))
    found = {}
    for value, part in parts.items():
        own = {one.series: one for one in score_series(part, metric, k, estimand=estimand, level=level)}
        found[value] = tuple(
            own.get(name) or make_missing_score(name, level, f"no answers in {value}") for name in names
        )
    return found
