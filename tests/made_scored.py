"""Scores made in a test, with all that is told of a benchmark, and what their figures know beyond numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.core.errors import SourceLocation
from reportgen.figures.plot import BenchmarkScores, ScoreContext
from reportgen.figures.style import assign_slots
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power, find_half_step
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import find_leader, rank_groups, rank_ranges

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores


def scored(
    problems: ProblemScores,
    metric: str = "mean",
    k: int | None = None,
    *,
    estimand: str = "problems like these",
    higher_is_better: bool = True,
) -> BenchmarkScores:
    """One benchmark with its scores, all pairs, groups and power."""
    found = score_series(problems, metric, k, estimand=estimand)
    pairs = compare_all(problems, metric, k, higher_is_better=higher_is_better)
    ranked = rank_groups(found, pairs, higher_is_better=higher_is_better)
    ranks = rank_ranges(found, pairs)
    known = {one.series: one.estimate for one in found if one.estimate is not None}
    first = (max if higher_is_better else min)(known, key=known.__getitem__, default="")
    lead = find_leader(pairs, first, [name for name in known if name != first])
    power = estimate_power(pairs, find_half_step(problems, metric)) if pairs else None
    return BenchmarkScores(problems, found, pairs, ranked, power, ranks, lead)


def score_context(*names: str, **fields: Any) -> ScoreContext:  # noqa: ANN401 - fields of a ScoreContext
    """The context of series with these names: scores from 0 to 1, higher is better, no protocol."""
    plain: dict[str, Any] = {
        "place": SourceLocation("content/page.md", 7),
        "slots": assign_slots([names]),
        "source": "a source",
        "benchmark": "Contest",
        "approximate": None,
        "higher_is_better": True,
        "lowest": 0.0,
        "highest": 1.0,
    }
    return ScoreContext(**{**plain, **fields})
