"""Draws the blocks about scores: ``get_scores``, ``passk``, ``comparison``, ``get_problem_scores`` and ``runs``.

What computes and draws is imported by the block that needs it, so that other reports load none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.drafting.score_answers import ScoreErrorsAt
from reportgen.drafting.score_contexts import add_found_notes, combine_contexts, make_score_context
from reportgen.drafting.score_numbers import (
    collect_across_numbers,
    collect_curve_numbers,
    collect_grid_numbers,
    collect_pair_numbers,
    collect_plan_numbers,
    collect_run_numbers,
    collect_score_numbers,
)
from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.naming import quote_names, suggest_name
from reportgen.narrative.score_requests import fill_defaults, name_benchmark
from reportgen.outcomes import ScoresError
from reportgen.settings.score_blocks import (
    ComparisonSettings,
    OutcomeSettings,
    PasskSettings,
    PlanSettings,
    ProblemsSettings,
    RunsSettings,
    ScoresSettings,
    split_metric,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.figures.score_context import ScoreContext
    from reportgen.model import BenchmarkResult, Figure, Page, ScoreRequest, Stack
    from reportgen.outcomes import ProblemScores
    from reportgen.settings.front_matter import Benchmark


@dataclass(frozen=True, slots=True)
class _ScoreBlock:
    """A block about one benchmark and what it is drawn from."""

    id: str
    request: ScoreRequest
    context: ScoreContext
    inputs: DrawInputs

    @property
    def problems(self) -> ProblemScores:
        return self.inputs.answers.scores.get_problem_scores(self.request)


def draw_score_block(planned: PlannedBlock, settings: OutcomeSettings, inputs: DrawInputs) -> Figure | Stack:
    """What a block about scores shows, with its numbers.

    Raises:
        ReportError: what the files have wrong, what the outcomes cannot give, a series that there is not.
    """
    benchmark = planned.page.front_matter.benchmark
    whole = fill_defaults(settings, benchmark)
    place = planned.block.location
    with ScoreErrorsAt(place):
        if isinstance(whole, ComparisonSettings) and len(planned.outcomes) > 1:
            return _draw_across(planned, whole, inputs)
        (request,) = planned.outcomes
        scores = inputs.answers.scores.get_problem_scores(request)
        context = make_score_context(place, request, scores, benchmark, inputs)
        return _draw_one(whole, _ScoreBlock(planned.block.id, request, context, inputs))


def make_score_result(
    page: Page, benchmark: Benchmark, request: ScoreRequest, inputs: DrawInputs
) -> BenchmarkResult:
    """What happened on a page's benchmark of problems.

    Raises:
        ReportError: as ``draw_score_block``, or no series has a score.
    """
    from reportgen.figures.score_benchmark import summarize_score_benchmark  # noqa: PLC0415

    place = SourceLocation(page.file, benchmark.line)
    with ScoreErrorsAt(place):
        scored = inputs.answers.scores.score_benchmark(request)
        context = make_score_context(place, request, scored.problems, benchmark, inputs)
        if all(one.estimate is None for one in scored.scores):
            raise ScoresError("none of the outcomes has a score", "Look at the score column of the source")
        return summarize_score_benchmark(benchmark, page.path, scored, context)


def _draw_one(settings: OutcomeSettings, block: _ScoreBlock) -> Figure | Stack:
    if isinstance(settings, ScoresSettings):
        return _draw_scores(settings, block)
    if isinstance(settings, ComparisonSettings):
        return _draw_comparison(settings, block)
    if isinstance(settings, PasskSettings):
        return _draw_pass_curves(settings, block)
    if isinstance(settings, ProblemsSettings):
        return _draw_problems(settings, block)
    if isinstance(settings, RunsSettings):
        return _draw_runs(settings, block)
    if isinstance(settings, PlanSettings):
        return _draw_plan(settings, block)
    raise TypeError(type(settings))


def _draw_scores(settings: ScoresSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores import draw_scores  # noqa: PLC0415

    scored = block.inputs.answers.scores.score_benchmark(block.request, settings.estimand)
    drawn = draw_scores(block.id, settings, scored, block.context)
    return replace(drawn, numbers=collect_score_numbers(scored, block.context))


def _draw_comparison(settings: ComparisonSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.comparison import draw_comparison  # noqa: PLC0415

    _check_series(settings.baseline, block.problems.series, block.context.place)
    scored = block.inputs.answers.scores.score_benchmark(block.request)
    drawn = draw_comparison(block.id, settings, scored, block.context)
    return replace(drawn, numbers=collect_pair_numbers(scored, block.context))


def _draw_pass_curves(settings: PasskSettings, block: _ScoreBlock) -> Figure:
    from reportgen.figures.pass_curve import draw_passk  # noqa: PLC0415
    from reportgen.statistics.pass_curves import score_pass_at_k  # noqa: PLC0415

    curves = score_pass_at_k(block.problems, level=settings.level)
    drawn = draw_passk(
        block.id,
        settings,
        curves,
        block.context,
        problems=block.problems,
        get_chart_spec=block.inputs.spec_cache,
    )
    numbers = collect_curve_numbers(curves, block.problems, block.context)
    return replace(drawn, numbers={**drawn.numbers, **numbers})


def _draw_problems(settings: ProblemsSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.problems import draw_problems  # noqa: PLC0415
    from reportgen.statistics.difficulty import build_problem_grid  # noqa: PLC0415
    from reportgen.statistics.slices import score_slices  # noqa: PLC0415

    grid = build_problem_grid(block.problems, higher_is_better=block.request.higher_is_better)
    answers = block.inputs.answers.scores
    sliced = {
        column: score_slices(answers.get_slices(block.request, column), level=settings.level)
        for column in settings.slices
    }
    # The picture itself tells which problems a series lacks.
    context = add_found_notes(block.context, replace(block.problems.notes, lacking=()))
    drawn = draw_problems(block.id, settings, grid, sliced, context)
    return replace(drawn, numbers=collect_grid_numbers(grid, sliced, block.problems, block.context))


def _draw_runs(settings: RunsSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.runs import draw_runs  # noqa: PLC0415
    from reportgen.statistics.run_spreads import measure_run_spreads  # noqa: PLC0415

    metric, k = split_metric(settings.metric)
    spreads = measure_run_spreads(block.problems, metric, k, level=settings.level)
    drawn = draw_runs(block.id, settings, spreads, add_found_notes(block.context, block.problems.notes))
    return replace(drawn, numbers=collect_run_numbers(spreads, block.problems, block.context))


def _draw_plan(settings: PlanSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.plan import draw_plan  # noqa: PLC0415

    found = block.inputs.answers.scores.plan(block.request, settings.difference)
    drawn = draw_plan(block.id, settings, found, block.context, get_chart_spec=block.inputs.spec_cache)
    return replace(drawn, numbers=collect_plan_numbers(found, block.problems, block.context))


def _draw_across(planned: PlannedBlock, settings: ComparisonSettings, inputs: DrawInputs) -> Stack:
    """Several benchmarks side by side."""
    from reportgen.figures.across import draw_across  # noqa: PLC0415
    from reportgen.statistics.across import compare_benchmarks  # noqa: PLC0415
    from reportgen.statistics.power import estimate_power, find_half_step  # noqa: PLC0415

    place, benchmark = planned.block.location, planned.page.front_matter.benchmark
    answers = inputs.answers.scores
    requests = dict(zip(_name_benchmarks(planned, inputs), planned.outcomes, strict=True))
    parts = {name: answers.get_problem_scores(request) for name, request in requests.items()}
    contexts = {
        name: make_score_context(place, request, parts[name], benchmark, inputs)
        for name, request in requests.items()
    }
    _check_series(settings.baseline, [name for part in parts.values() for name in part.series], place)
    metric, k = split_metric(settings.metric)
    across = compare_benchmarks(
        parts,
        metric,
        k,
        given={name: answers.get_scores(one) for name, one in requests.items() if not parts[name].problems},
        baseline=settings.baseline,
        level=settings.level,
        higher_is_better=_is_higher_better(requests),
        blocks=planned.outcomes[0].family_blocks,
    )
    powers = {}
    for column, (name, request) in enumerate(requests.items()):
        against = [one for row in across.cells if (one := row[column].against) is not None]
        if against:
            powers[name] = estimate_power(against, find_half_step(parts[name], request.metric))
        elif not settings.baseline and (power := answers.score_benchmark(request).power):
            # Nothing is tested together, so only a comparison by itself has a power.
            powers[name] = replace(power, family_difference=None, family_half=None)
    whole = combine_contexts(place, list(contexts.values()))
    found = {name: part.notes for name, part in parts.items()}
    drawn = draw_across(planned.block.id, settings, across, powers, contexts, whole, found=found)
    return replace(drawn, numbers=collect_across_numbers(across, powers, contexts, found))


def _is_higher_better(requests: Mapping[str, ScoreRequest]) -> bool:
    """Whether higher is better on all of these benchmarks."""
    lower = [name for name, request in requests.items() if not request.higher_is_better]
    if lower and len(lower) < len(requests):
        higher = [name for name in requests if name not in lower]
        said = f"lower is better on {quote_names(lower)}, and higher on {quote_names(higher)}"
        raise ScoresError(f"{said}: they have no average", "Give each a block of its own with benchmarks:")
    return not lower


def _name_benchmarks(planned: PlannedBlock, inputs: DrawInputs) -> list[str]:
    """What each benchmark is called; its source is named too where two would be called alike."""
    benchmark = planned.page.front_matter.benchmark
    titles: list[tuple[str, str]] = [
        (name_benchmark(request, inputs.sources[request.source], benchmark), request.source)
        for request in planned.outcomes
    ]
    names = [name for name, _ in titles]
    return [name if names.count(name) == 1 else f"{name} ({source})" for name, source in titles]


def _check_series(name: str | None, series: Iterable[str], place: SourceLocation) -> None:
    known = tuple(dict.fromkeys(series))
    if name is not None and name not in known:
        said = f'there is no series "{name}" in these outcomes'
        step = f"{suggest_name(name, known)}Its series are {quote_names(known)}"
        raise ReportError(Problem(place, said, step, Stage.NARRATIVE))
