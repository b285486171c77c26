"""Scores made in a test, with all that is told of a benchmark, and what their figures know beyond numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.errors import Place
from reportgen.figures.palette import assign_slots
from reportgen.figures.score_context import ScoreContext, Scored
from reportgen.statistics.compare import compare_all
from reportgen.statistics.leading import leader_of
from reportgen.statistics.power import half_step, power_of
from reportgen.statistics.ranks import rank_groups, rank_ranges
from reportgen.statistics.scores import scores

if TYPE_CHECKING:
    from reportgen.outcomes import ProblemScores


def scored(
    problems: ProblemScores,
    metric: str = "mean",
    k: int | None = None,
    *,
    estimand: str = "problems like these",
    higher_is_better: bool = True,
) -> Scored:
    """One benchmark with its scores, all pairs, groups and power."""
    found = scores(problems, metric, k, estimand=estimand)
    pairs = compare_all(problems, metric, k, higher_is_better=higher_is_better)
    ranked = rank_groups(found, pairs, higher_is_better=higher_is_better)
    ranks = rank_ranges(found, pairs)
    known = {one.series: one.estimate for one in found if one.estimate is not None}
    first = (max if higher_is_better else min)(known, key=known.__getitem__, default="")
    lead = leader_of(pairs, first, [name for name in known if name != first])
    power = power_of(pairs, half_step(problems, metric)) if pairs else None
    return Scored(problems, found, pairs, ranked, power, ranks, lead)


def score_context(*names: str, **fields: Any) -> ScoreContext:  # noqa: ANN401 - fields of a ScoreContext
    """The context of series with these names: scores from 0 to 1, higher is better, no protocol."""
    plain: dict[str, Any] = {
        "place": Place("content/page.md", 7),
        "slots": assign_slots([names]),
        "source": "a source",
        "benchmark": "Contest",
        "approximate": None,
        "higher_is_better": True,
        "lowest": 0.0,
        "highest": 1.0,
    }
    return ScoreContext(**{**plain, **fields})
