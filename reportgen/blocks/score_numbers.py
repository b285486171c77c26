"""The numbers of blocks about scores for ``report.json``: plain JSON with every digit."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reportgen.figures.scores.wording import find_protocol_differences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.comparisons import AcrossBenchmarks, Power, ProblemGrid
    from reportgen.core.outcomes import OutcomeNotes, ProblemScores, Score
    from reportgen.figures.plot import BenchmarkScores, ScoreContext


def collect_score_numbers(scored: BenchmarkScores, context: ScoreContext) -> dict[str, Any]:
    """Scores with group, what was found on the way, and how they were measured."""
    group = {name: one.rank for one in scored.groups for name in one.series}
    ranks = {
        one.series: {"best": one.best, "worst": one.worst, "best_probability": one.best_probability}
        for one in scored.ranks
    }
    scores = [
        {**_collect_score(one), "group": group.get(one.series), "rank": ranks.get(one.series)}
        for one in scored.scores
    ]
    return {"scores": scores, **describe_benchmark(scored.problems, context)}


def collect_pair_numbers(scored: BenchmarkScores, context: ScoreContext) -> dict[str, Any]:
    """The same with all pairs, groups and the power of the benchmark."""
    return {
        **collect_score_numbers(scored, context),
        "comparisons": [to_json_values(one) for one in scored.comparisons],
        "groups": [list(one.series) for one in scored.groups],
        "power": to_json_values(scored.power) if scored.power else None,
    }


def collect_across_numbers(
    across: AcrossBenchmarks,
    powers: Mapping[str, Power],
    contexts: Mapping[str, ScoreContext],
    found: Mapping[str, OutcomeNotes],
) -> dict[str, Any]:
    """Every cell of series × benchmark, the macro average, and how each benchmark was measured."""
    return {
        "baseline": across.baseline,
        "benchmarks": {
            name: {
                **_describe_protocol(context),
                "found": _collect_notes(found[name]),
                "power": to_json_values(powers[name]) if name in powers else None,
            }
            for name, context in contexts.items()
        },
        "series": {
            name: {
                benchmark: {**to_json_values(cell), "score": _collect_score(cell.score)}
                for benchmark, cell in zip(across.benchmarks, across.cells[place], strict=True)
            }
            for place, name in enumerate(across.series)
        },
        "macro": {
            name: {**to_json_values(across.macro[place]), "score": _collect_score(across.macro[place].score)}
            for place, name in enumerate(across.series)
        },
    }


def collect_grid_numbers(
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
            column: {value: [to_json_values(one) for one in parts] for value, parts in values.items()}
            for column, values in sliced.items()
        },
        **describe_benchmark(scores, context),
    }


def _collect_score(score: Score) -> dict[str, Any]:
    """A score; of one that is used as reported it may not be known over how many problems it is."""
    numbers: dict[str, Any] = to_json_values(score)
    unknown = not score.problems and score.samples is None and score.estimate is not None
    return {**numbers, "problems": None} if unknown else numbers


def to_json_values(value: Any) -> Any:  # noqa: ANN401 - any of the frozen results
    """A result as JSON has it, so that it is the same before and after it was kept."""
    return json.loads(json.dumps(asdict(value), allow_nan=False))


def _collect_notes(notes: OutcomeNotes) -> dict[str, Any]:
    """``report.json`` calls series with incomplete problems "lacking"."""
    values = to_json_values(notes)
    return {"lacking" if name == "incomplete" else name: value for name, value in values.items()}


def describe_benchmark(scores: ProblemScores, context: ScoreContext) -> dict[str, Any]:
    """Which benchmark it is, what was found on the way, and how each series was measured."""
    return {
        "benchmark": context.benchmark,
        "higher_is_better": context.higher_is_better,
        "found": _collect_notes(scores.notes),
        **_describe_protocol(context),
    }


def _describe_protocol(context: ScoreContext) -> dict[str, Any]:
    return {
        "protocol": {series: dict(pairs) for series, pairs in context.protocol},
        "mixed_protocol": find_protocol_differences(context),
    }
