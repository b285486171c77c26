"""The numbers of blocks about scores, for ``report.json``: plain JSON, every digit, nothing that is drawn."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reportgen.figures.score_words import protocol_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.figures.score_context import ScoreContext, Scored
    from reportgen.outcomes import (
        AcrossBenchmarks,
        Found,
        Plan,
        Power,
        ProblemGrid,
        ProblemScores,
        RunSpread,
        Score,
    )


def numbers_of_scores(scored: Scored, context: ScoreContext) -> dict[str, Any]:
    """Scores with group, what was found on the way, and how they were measured."""
    group = {name: one.rank for one in scored.groups for name in one.series}
    ranks = {
        one.series: {"best": one.best, "worst": one.worst, "best_probability": one.best_probability}
        for one in scored.ranks
    }
    scores = [
        {**_score(one), "group": group.get(one.series), "rank": ranks.get(one.series)}
        for one in scored.scores
    ]
    return {"scores": scores, **_around(scored.problems, context)}


def numbers_of_pairs(scored: Scored, context: ScoreContext) -> dict[str, Any]:
    """The same with all pairs, groups and the power of the benchmark."""
    return {
        **numbers_of_scores(scored, context),
        "comparisons": [plain(one) for one in scored.comparisons],
        "groups": [list(one.series) for one in scored.groups],
        "power": plain(scored.power) if scored.power else None,
    }


def numbers_across(
    across: AcrossBenchmarks,
    powers: Mapping[str, Power],
    contexts: Mapping[str, ScoreContext],
    found: Mapping[str, Found],
) -> dict[str, Any]:
    """Every cell of series × benchmark, the macro average, and how each benchmark was measured."""
    return {
        "baseline": across.baseline,
        "benchmarks": {
            name: {
                **_protocol(context),
                "found": plain(found[name]),
                "power": plain(powers[name]) if name in powers else None,
            }
            for name, context in contexts.items()
        },
        "series": {
            name: {
                benchmark: {**plain(cell), "score": _score(cell.score)}
                for benchmark, cell in zip(across.benchmarks, across.cells[place], strict=True)
            }
            for place, name in enumerate(across.series)
        },
        "macro": {
            name: {**plain(across.macro[place]), "score": _score(across.macro[place].score)}
            for place, name in enumerate(across.series)
        },
    }


def numbers_of_curves(
    curves: Iterable[Iterable[Score]], scores: ProblemScores, context: ScoreContext
) -> dict[str, Any]:
    """pass@k of every series at every k."""
    return {"scores": [plain(one) for curve in curves for one in curve], **_around(scores, context)}


def numbers_of_runs(
    spreads: Iterable[RunSpread], scores: ProblemScores, context: ScoreContext
) -> dict[str, Any]:
    """Every run's score, and the spread between runs."""
    return {"spreads": [plain(one) for one in spreads], **_around(scores, context)}


def numbers_of_plan(plan: Plan, scores: ProblemScores, context: ScoreContext) -> dict[str, Any]:
    """What every design finds."""
    return {"plan": plain(plan), **_around(scores, context)}


def numbers_of_grid(
    grid: ProblemGrid,
    sliced: Mapping[str, Mapping[str, tuple[Score, ...]]],
    scores: ProblemScores,
    context: ScoreContext,
) -> dict[str, Any]:
    """What only one series solves, and the scores of each slice; every cell stands in the figure's CSV."""
    return {
        "problems": len(grid.problems),
        "solved_by_one": [list(one) for one in grid.solved_by_one],
        "slices": {
            column: {value: [plain(one) for one in parts] for value, parts in values.items()}
            for column, values in sliced.items()
        },
        **_around(scores, context),
    }


def _score(score: Score) -> dict[str, Any]:
    """A score; of one that is used as reported it may not be known over how many problems it is."""
    told: dict[str, Any] = plain(score)
    unknown = not score.problems and score.samples is None and score.estimate is not None
    return {**told, "problems": None} if unknown else told


def plain(value: Any) -> Any:  # noqa: ANN401 - any of the frozen results
    """A result as JSON has it, so that it is the same before and after it was kept."""
    return json.loads(json.dumps(asdict(value), allow_nan=False))


def _around(scores: ProblemScores, context: ScoreContext) -> dict[str, Any]:
    return {
        "benchmark": context.benchmark,
        "higher_is_better": context.higher_is_better,
        "found": plain(scores.found),
        **_protocol(context),
    }


def _protocol(context: ScoreContext) -> dict[str, Any]:
    return {
        "protocol": {series: dict(pairs) for series, pairs in context.protocol},
        "mixed_protocol": protocol_differences(context),
    }
