"""Draws the blocks about scores: scores, passk, comparison, problems, runs and plan.

Each block imports what computes and draws it, so that other reports load none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.blocks.draw_inputs import list_notes
from reportgen.blocks.results import place_score_errors
from reportgen.blocks.score_numbers import (
    collect_across_numbers,
    collect_grid_numbers,
    collect_pair_numbers,
    collect_score_numbers,
    describe_benchmark,
    to_json_values,
)
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.outcomes import ScoresError
from reportgen.core.words import quote_names, suggest_name
from reportgen.figures.plot import ScoreContext
from reportgen.figures.scores.wording import list_found_notes
from reportgen.narrative.requests import fill_defaults, name_benchmark
from reportgen.settings.blocks import ComparisonSettings, split_metric
from reportgen.statistics.metrics import find_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.blocks.draw_inputs import DrawInputs
    from reportgen.blocks.plan import PlannedBlock
    from reportgen.core.model import BenchmarkResult, Figure, ScoreRequest, Stack
    from reportgen.core.outcomes import OutcomeNotes, ProblemScores
    from reportgen.settings.blocks import (
        OutcomeSettings,
        PasskSettings,
        PlanSettings,
        ProblemsSettings,
        RunsSettings,
        ScoresSettings,
    )
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Benchmark


def make_score_context(
    place: SourceLocation,
    request: ScoreRequest,
    scores: ProblemScores,
    benchmark: Benchmark | None,
    inputs: DrawInputs,
) -> ScoreContext:
    """The context of one benchmark's scores; ``benchmark`` is the page's."""
    context = make_plain_context(place, request, scores, inputs.sources[request.source], benchmark)
    return replace(context, slots=inputs.colours.slots)


def make_plain_context(
    place: SourceLocation,
    request: ScoreRequest,
    scores: ProblemScores,
    source: Source,
    benchmark: Benchmark | None = None,
) -> ScoreContext:
    """The same without colours, for words and tables."""
    name = _find_score_name(source, request)
    return ScoreContext(
        place=place,
        slots={},
        source=source.settings.title or source.name,
        benchmark=name_benchmark(request, source, benchmark),
        approximate=source.settings.approximate,
        higher_is_better=request.higher_is_better,
        lowest=scores.lowest,
        highest=scores.highest,
        protocol=tuple(_list_protocols(source, scores, name)),
        score_name=name,
        notes=list_notes(source),
    )


def combine_contexts(place: SourceLocation, contexts: Sequence[ScoreContext]) -> ScoreContext:
    """The context of several benchmarks side by side; how each was measured stays with its own."""
    first = contexts[0]
    names = {one.score_name for one in contexts}
    cautions = list(dict.fromkeys(one.approximate for one in contexts if one.approximate))
    return ScoreContext(
        place=place,
        slots=first.slots,
        source=", ".join(dict.fromkeys(one.source for one in contexts)),
        benchmark="",
        approximate="; ".join(cautions) or None,
        higher_is_better=first.higher_is_better,
        lowest=first.lowest,
        highest=first.highest,
        score_name=names.pop() if len(names) == 1 else "",
        notes=tuple(dict.fromkeys(note for one in contexts for note in one.notes)),
    )


def add_found_notes(context: ScoreContext, found: OutcomeNotes) -> ScoreContext:
    """The context with what was found in the outcomes, for a block that is not given it otherwise."""
    return replace(context, notes=(*list_found_notes(found), *context.notes))


def _find_score_name(source: Source, request: ScoreRequest) -> str:
    """What the score of answers is called; empty where it has no name. Totals are named by their metric."""
    if source.kind != "outcomes":
        return ""
    from reportgen.read import get_score_names  # noqa: PLC0415 - imports the database

    return get_score_names(source).get(request.benchmark or "", "")


def _list_protocols(
    source: Source, scores: ProblemScores, score_name: str
) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
    """How each series was measured: its score, what ``source.yml`` says, and the hash of the problems.

    Of totals the problems are not known.
    """
    if not scores.problems:
        return [(name, source.settings.get_protocol(name).list_stated()) for name in scores.series]
    from reportgen.read import hash_problem_set  # noqa: PLC0415 - imports the database

    found, known = [], bool(scores.gold)
    for place, name in enumerate(scores.series):
        answered = scores.samples[find_rows(scores, place)].sum(axis=0) > 0
        here = np.flatnonzero(answered).tolist()
        names = hash_problem_set(
            (scores.problems[at] for at in here), (scores.gold[at] for at in here if known)
        )
        said = source.settings.get_protocol(name).list_stated()
        score = (("score", score_name),) if score_name else ()
        found.append((name, (*score, *said, ("problem set", names))))
    return found


@dataclass(frozen=True, slots=True)
class _ScoreBlock:
    """A block about one benchmark and what it is drawn from."""

    id: str
    request: ScoreRequest
    context: ScoreContext
    inputs: DrawInputs

    @property
    def problems(self) -> ProblemScores:
        return self.inputs.answers.get_problem_scores(self.request)

    def describe(self) -> dict[str, Any]:
        return describe_benchmark(self.problems, self.context)


def draw_score_block(planned: PlannedBlock, settings: OutcomeSettings, inputs: DrawInputs) -> Figure | Stack:
    """What a block about scores shows, with its numbers.

    Raises:
        ReportError: what the files have wrong, what the outcomes cannot give, a series that there is not.
    """
    benchmark = planned.page.front_matter.benchmark
    whole = fill_defaults(settings, benchmark)
    place = planned.block.location
    with place_score_errors(place):
        if isinstance(whole, ComparisonSettings) and len(planned.outcomes) > 1:
            return _draw_across(planned, whole, inputs)
        (request,) = planned.outcomes
        scores = inputs.answers.get_problem_scores(request)
        context = make_score_context(place, request, scores, benchmark, inputs)
        return _DRAWERS[planned.block.kind](whole, _ScoreBlock(planned.block.id, request, context, inputs))


def make_score_result(
    page: Page, benchmark: Benchmark, request: ScoreRequest, inputs: DrawInputs
) -> BenchmarkResult:
    """What happened on a page's benchmark of problems.

    Raises:
        ReportError: as ``draw_score_block``, or no series has a score.
    """
    from reportgen.figures.scores.key_results import summarize_score_benchmark  # noqa: PLC0415

    place = SourceLocation(page.file, benchmark.line)
    with place_score_errors(place):
        scored = inputs.answers.score_benchmark(request)
        context = make_score_context(place, request, scored.problems, benchmark, inputs)
        if all(one.estimate is None for one in scored.scores):
            raise ScoresError("none of the outcomes has a score", "Look at the score column of the source")
        return summarize_score_benchmark(benchmark, page.path, scored, context)


def _draw_scores(settings: ScoresSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores.scores import draw_scores  # noqa: PLC0415

    scored = block.inputs.answers.score_benchmark(block.request, settings.estimand)
    drawn = draw_scores(block.id, settings, scored, block.context)
    return replace(drawn, numbers=collect_score_numbers(scored, block.context))


def _draw_comparison(settings: ComparisonSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores.comparison import draw_comparison  # noqa: PLC0415

    _check_series(settings.baseline, block.problems.series, block.context.place)
    scored = block.inputs.answers.score_benchmark(block.request)
    drawn = draw_comparison(block.id, settings, scored, block.context)
    return replace(drawn, numbers=collect_pair_numbers(scored, block.context))


def _draw_pass_curves(settings: PasskSettings, block: _ScoreBlock) -> Figure:
    from reportgen.figures.scores.pass_curve import draw_passk  # noqa: PLC0415
    from reportgen.statistics.scores import score_pass_at_k  # noqa: PLC0415

    curves = score_pass_at_k(block.problems, level=settings.level)
    drawn = draw_passk(
        block.id,
        settings,
        curves,
        block.context,
        problems=block.problems,
        get_chart_spec=block.inputs.get_chart_spec,
    )
    scores = [to_json_values(one) for curve in curves for one in curve]
    return replace(drawn, numbers={**drawn.numbers, "scores": scores, **block.describe()})


def _draw_problems(settings: ProblemsSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores.problems import draw_problems  # noqa: PLC0415
    from reportgen.statistics.scores import build_problem_grid, score_slices  # noqa: PLC0415

    grid = build_problem_grid(block.problems, higher_is_better=block.request.higher_is_better)
    answers = block.inputs.answers
    sliced = {
        column: score_slices(answers.get_slices(block.request, column), level=settings.level)
        for column in settings.slices
    }
    # The picture itself tells which problems a series lacks.
    context = add_found_notes(block.context, replace(block.problems.notes, incomplete=()))
    drawn = draw_problems(block.id, settings, grid, sliced, context)
    return replace(drawn, numbers=collect_grid_numbers(grid, sliced, block.problems, block.context))


def _draw_runs(settings: RunsSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores.runs import draw_runs  # noqa: PLC0415
    from reportgen.statistics.scores import measure_run_spreads  # noqa: PLC0415

    metric, k = split_metric(settings.metric)
    spreads = measure_run_spreads(block.problems, metric, k, level=settings.level)
    drawn = draw_runs(block.id, settings, spreads, add_found_notes(block.context, block.problems.notes))
    numbers = {"spreads": [to_json_values(one) for one in spreads], **block.describe()}
    return replace(drawn, numbers=numbers)


def _draw_plan(settings: PlanSettings, block: _ScoreBlock) -> Stack:
    from reportgen.figures.scores.plan import draw_plan  # noqa: PLC0415

    found = block.inputs.answers.plan_study(block.request, settings.difference)
    drawn = draw_plan(block.id, settings, found, block.context, get_chart_spec=block.inputs.get_chart_spec)
    return replace(drawn, numbers={"plan": to_json_values(found), **block.describe()})


_DRAWERS: Final[Mapping[str, Callable[[Any, _ScoreBlock], Figure | Stack]]] = {
    "scores": _draw_scores,
    "passk": _draw_pass_curves,
    "comparison": _draw_comparison,
    "problems": _draw_problems,
    "runs": _draw_runs,
    "plan": _draw_plan,
}


def _draw_across(planned: PlannedBlock, settings: ComparisonSettings, inputs: DrawInputs) -> Stack:
    """Several benchmarks side by side."""
    from reportgen.figures.scores.across import draw_across  # noqa: PLC0415
    from reportgen.statistics.compare import compare_benchmarks  # noqa: PLC0415
    from reportgen.statistics.power import estimate_power, find_half_step  # noqa: PLC0415

    place, benchmark = planned.block.location, planned.page.front_matter.benchmark
    answers = inputs.answers
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
        raise ReportError(Diagnostic(place, said, step, Stage.NARRATIVE))
