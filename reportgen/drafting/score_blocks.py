"""Draws the blocks about scores: ``scores``, ``passk``, ``comparison``, ``problems`` and ``runs``.

What computes and draws is imported by the block that needs it, so that other reports load none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.drafting.score_answers import TellingAt
from reportgen.drafting.score_contexts import context_of_all, score_context, with_found
from reportgen.drafting.score_numbers import (
    numbers_across,
    numbers_of_curves,
    numbers_of_grid,
    numbers_of_pairs,
    numbers_of_plan,
    numbers_of_runs,
    numbers_of_scores,
)
from reportgen.errors import Place, Problem, ReportError, Stage
from reportgen.naming import did_you_mean, listed
from reportgen.narrative.score_requests import benchmark_title, with_defaults
from reportgen.outcomes import ScoresError
from reportgen.settings.score_blocks import (
    ComparisonSettings,
    OutcomeSettings,
    PasskSettings,
    PlanSettings,
    ProblemsSettings,
    RunsSettings,
    ScoresSettings,
    metric_and_k,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.drafting.desk import Desk
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.figures.score_context import ScoreContext
    from reportgen.model import BenchmarkResult, Figure, Page, ScoreRequest, Stack
    from reportgen.outcomes import ProblemScores
    from reportgen.settings.front_matter import Benchmark


@dataclass(frozen=True, slots=True)
class _Asked:
    """A block about one benchmark and what it is drawn from."""

    id: str
    request: ScoreRequest
    context: ScoreContext
    desk: Desk

    @property
    def problems(self) -> ProblemScores:
        return self.desk.answers.scores.problems(self.request)


def score_block(planned: PlannedBlock, settings: OutcomeSettings, desk: Desk) -> Figure | Stack:
    """What a block about scores shows, with its numbers.

    Raises:
        ReportError: what the files have wrong, what the outcomes cannot give, a series that there is not.
    """
    benchmark = planned.page.front_matter.benchmark
    whole = with_defaults(settings, benchmark)
    place = planned.block.place
    with TellingAt(place):
        if isinstance(whole, ComparisonSettings) and len(planned.outcomes) > 1:
            return _across(planned, whole, desk)
        (request,) = planned.outcomes
        scores = desk.answers.scores.problems(request)
        context = score_context(place, request, scores, benchmark, desk)
        return _of_one(whole, _Asked(planned.block.id, request, context, desk))


def score_result(page: Page, benchmark: Benchmark, request: ScoreRequest, desk: Desk) -> BenchmarkResult:
    """What happened on a page's benchmark of problems.

    Raises:
        ReportError: as ``score_block``, or no series has a score.
    """
    from reportgen.figures.score_benchmark import score_benchmark_result  # noqa: PLC0415

    place = Place(page.file, benchmark.line)
    with TellingAt(place):
        scored = desk.answers.scores.scored(request)
        context = score_context(place, request, scored.problems, benchmark, desk)
        if all(one.estimate is None for one in scored.scores):
            raise ScoresError("none of the outcomes has a score", "Look at the score column of the source")
        return score_benchmark_result(benchmark, page.path, scored, context)


def _of_one(settings: OutcomeSettings, asked: _Asked) -> Figure | Stack:
    if isinstance(settings, ScoresSettings):
        return _scores(settings, asked)
    if isinstance(settings, ComparisonSettings):
        return _comparison(settings, asked)
    if isinstance(settings, PasskSettings):
        return _passk(settings, asked)
    if isinstance(settings, ProblemsSettings):
        return _problems(settings, asked)
    if isinstance(settings, RunsSettings):
        return _runs(settings, asked)
    if isinstance(settings, PlanSettings):
        return _plan(settings, asked)
    raise TypeError(type(settings))


def _scores(settings: ScoresSettings, asked: _Asked) -> Stack:
    from reportgen.figures.scores import scores_block  # noqa: PLC0415

    scored = asked.desk.answers.scores.scored(asked.request, settings.estimand)
    drawn = scores_block(asked.id, settings, scored, asked.context)
    return replace(drawn, numbers=numbers_of_scores(scored, asked.context))


def _comparison(settings: ComparisonSettings, asked: _Asked) -> Stack:
    from reportgen.figures.comparison import comparison_block  # noqa: PLC0415

    _is_there(settings.baseline, asked.problems.series, asked.context.place)
    scored = asked.desk.answers.scores.scored(asked.request)
    drawn = comparison_block(asked.id, settings, scored, asked.context)
    return replace(drawn, numbers=numbers_of_pairs(scored, asked.context))


def _passk(settings: PasskSettings, asked: _Asked) -> Figure:
    from reportgen.figures.pass_curve import passk_block  # noqa: PLC0415
    from reportgen.statistics.pass_curves import pass_at_k_curves  # noqa: PLC0415

    curves = pass_at_k_curves(asked.problems, level=settings.level)
    drawn = passk_block(
        asked.id,
        settings,
        curves,
        asked.context,
        problems=asked.problems,
        skeleton_of=asked.desk.skeletons,
    )
    told = numbers_of_curves(curves, asked.problems, asked.context)
    return replace(drawn, numbers={**drawn.numbers, **told})


def _problems(settings: ProblemsSettings, asked: _Asked) -> Stack:
    from reportgen.figures.problems import problems_block  # noqa: PLC0415
    from reportgen.statistics.difficulty import problem_grid  # noqa: PLC0415
    from reportgen.statistics.slices import slices  # noqa: PLC0415

    grid = problem_grid(asked.problems, higher_is_better=asked.request.higher_is_better)
    answers = asked.desk.answers.scores
    sliced = {
        column: slices(answers.parts(asked.request, column), level=settings.level)
        for column in settings.slices
    }
    # The picture itself tells which problems a series lacks.
    context = with_found(asked.context, replace(asked.problems.found, lacking=()))
    drawn = problems_block(asked.id, settings, grid, sliced, context)
    return replace(drawn, numbers=numbers_of_grid(grid, sliced, asked.problems, asked.context))


def _runs(settings: RunsSettings, asked: _Asked) -> Stack:
    from reportgen.figures.runs import runs_block  # noqa: PLC0415
    from reportgen.statistics.run_spreads import run_spreads  # noqa: PLC0415

    metric, k = metric_and_k(settings.metric)
    spreads = run_spreads(asked.problems, metric, k, level=settings.level)
    drawn = runs_block(asked.id, settings, spreads, with_found(asked.context, asked.problems.found))
    return replace(drawn, numbers=numbers_of_runs(spreads, asked.problems, asked.context))


def _plan(settings: PlanSettings, asked: _Asked) -> Stack:
    from reportgen.figures.plan import plan_block  # noqa: PLC0415

    found = asked.desk.answers.scores.plan(asked.request, settings.difference)
    drawn = plan_block(asked.id, settings, found, asked.context, skeleton_of=asked.desk.skeletons)
    return replace(drawn, numbers=numbers_of_plan(found, asked.problems, asked.context))


def _across(planned: PlannedBlock, settings: ComparisonSettings, desk: Desk) -> Stack:
    """Several benchmarks side by side."""
    from reportgen.figures.across import across_block  # noqa: PLC0415
    from reportgen.statistics.across import across_benchmarks  # noqa: PLC0415
    from reportgen.statistics.power import half_step, power_of  # noqa: PLC0415

    place, benchmark = planned.block.place, planned.page.front_matter.benchmark
    answers = desk.answers.scores
    requests = dict(zip(_titles(planned, desk), planned.outcomes, strict=True))
    parts = {name: answers.problems(request) for name, request in requests.items()}
    contexts = {
        name: score_context(place, request, parts[name], benchmark, desk)
        for name, request in requests.items()
    }
    _is_there(settings.baseline, [name for part in parts.values() for name in part.series], place)
    metric, k = metric_and_k(settings.metric)
    across = across_benchmarks(
        parts,
        metric,
        k,
        given={name: answers.scores(one) for name, one in requests.items() if not parts[name].problems},
        baseline=settings.baseline,
        level=settings.level,
        higher_is_better=_one_direction(requests),
        blocks=planned.outcomes[0].family_blocks,
    )
    powers = {}
    for column, (name, request) in enumerate(requests.items()):
        against = [one for row in across.cells if (one := row[column].against) is not None]
        if against:
            powers[name] = power_of(against, half_step(parts[name], request.metric))
        elif not settings.baseline and (power := answers.scored(request).power):
            # Nothing is tested together, so only a comparison by itself has a power.
            powers[name] = replace(power, family_difference=None, family_half=None)
    whole = context_of_all(place, list(contexts.values()))
    told = {name: part.found for name, part in parts.items()}
    drawn = across_block(planned.block.id, settings, across, powers, contexts, whole, found=told)
    return replace(drawn, numbers=numbers_across(across, powers, contexts, told))


def _one_direction(requests: Mapping[str, ScoreRequest]) -> bool:
    """Whether higher is better on all of these benchmarks."""
    lower = [name for name, request in requests.items() if not request.higher_is_better]
    if lower and len(lower) < len(requests):
        higher = [name for name in requests if name not in lower]
        said = f"lower is better on {listed(lower)}, and higher on {listed(higher)}"
        raise ScoresError(f"{said}: they have no average", "Give each a block of its own with benchmarks:")
    return not lower


def _titles(planned: PlannedBlock, desk: Desk) -> list[str]:
    """What each benchmark is called; its source is named too where two would be called alike."""
    benchmark = planned.page.front_matter.benchmark
    asked: list[tuple[str, str]] = [
        (benchmark_title(request, desk.sources[request.source], benchmark), request.source)
        for request in planned.outcomes
    ]
    names = [name for name, _ in asked]
    return [name if names.count(name) == 1 else f"{name} ({source})" for name, source in asked]


def _is_there(name: str | None, series: Iterable[str], place: Place) -> None:
    known = tuple(dict.fromkeys(series))
    if name is not None and name not in known:
        said = f'there is no series "{name}" in these outcomes'
        step = f"{did_you_mean(name, known)}Its series are {listed(known)}"
        raise ReportError(Problem(place, said, step, Stage.NARRATIVE))
