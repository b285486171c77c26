"""Drawing of the blocks about scores: scores, passk, comparison, problems, runs and plan.

Each block imports the code that computes and draws it, so that other reports load none of it. Its numbers
for ``report.json`` are plain JSON with full precision.
"""

from __future__ import annotations

import json
import os
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from reportgen.core.comparisons import THESE_PROBLEMS, ScoresError
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import Figure
from reportgen.core.report_json import encode_json
from reportgen.core.words import quote_names, suggest_name
from reportgen.draft.blocks.draw_inputs import list_notes
from reportgen.draft.blocks.results import place_score_errors
from reportgen.figures.plot import ScoreContext
from reportgen.figures.scores.wording import find_protocol_differences, list_found_notes
from reportgen.narrative.requests import fill_defaults, name_benchmark
from reportgen.settings.base import describe_filter
from reportgen.settings.score_blocks import split_metric
from reportgen.statistics.metrics import find_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.core.cache import CachedText
    from reportgen.core.comparisons import (
        OutcomeNotes,
        ProblemScores,
        Score,
    )
    from reportgen.core.model import BenchmarkResult, ScoreRequest, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.figures.plot import BenchmarkScores
    from reportgen.figures.scores.samples import SampleSource
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Benchmark
    from reportgen.settings.score_blocks import (
        ComparisonSettings,
        OutcomeSettings,
        PasskSettings,
        PlanSettings,
        ProblemsSettings,
        RunsSettings,
        ScoresSettings,
    )


def make_score_context(
    place: SourceLocation,
    request: ScoreRequest,
    scores: ProblemScores,
    source: Source,
    *,
    benchmark: Benchmark | None = None,
    slots: Mapping[str, int] | None = None,
    shows_all: bool = False,
) -> ScoreContext:
    """Make the context of scores; ``benchmark`` is the page's. Text and tables need no slots.

    ``shows_all`` is whether benchmarks that only some of several sources have are shown, too.
    """
    name = ""  # for totals, which are named by their metric
    if source.kind == "outcomes":
        from reportgen.read import get_score_names  # noqa: PLC0415 - imports the database

        name = get_score_names(source).get(request.benchmark or "", "")
    return ScoreContext(
        place=place,
        slots=slots or {},
        source=source.settings.title or source.name,
        benchmark=name_benchmark(request, source, benchmark),
        approximate=source.settings.caution or None,
        higher_is_better=request.higher_is_better,
        lowest=scores.lowest,
        highest=scores.highest,
        protocol=tuple(_list_protocols(source, scores, name)),
        score_name=name,
        notes=(
            *filter(None, [describe_filter(dict(request.where))]),
            *scores.grouped,
            *list_notes(source, shows_all=shows_all),
        ),
    )


def _list_protocols(
    source: Source, scores: ProblemScores, score_name: str
) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
    """List how each series was measured: its score, the protocol in ``source.yml``, a hash of the problems.

    The problems of totals are not known.
    """
    stated = {name: source.settings.get_protocol(name).list_stated() for name in scores.series}
    if not scores.problems:
        return list(stated.items())
    from reportgen.read import hash_problem_set  # noqa: PLC0415 - imports the database

    protocols = []
    score = (("score", score_name),) if score_name else ()
    for row, name in enumerate(scores.series):
        # Where it is known which answers are missing, the set includes their problems.
        counts = scores.samples if scores.left_out is None else scores.samples + scores.left_out
        answered = counts[find_rows(scores, row)].sum(axis=0) > 0
        if not answered.any():
            continue  # what was not measured differs in nothing
        columns = np.flatnonzero(answered).tolist()
        gold = (scores.gold[column] for column in columns if scores.gold)
        problem_set = hash_problem_set((scores.problems[column] for column in columns), gold)
        protocols.append((name, (*score, *stated[name], ("problem set", problem_set))))
    return protocols


def to_json_values(value: Any) -> Any:  # noqa: ANN401 - any of the frozen results
    """Convert a result to JSON values, the same before and after it is cached; null if it is infinite."""
    return json.loads(encode_json(to_builtins(value)))


def collect_score(score: Score) -> dict[str, Any]:
    """Convert a score, with None for ``problems`` if a reported score does not give their number."""
    numbers: dict[str, Any] = to_json_values(score)
    unknown = not score.problems and score.samples is None and score.estimate is not None
    return {**numbers, "problems": None} if unknown else numbers


def describe_measurement(notes: OutcomeNotes, context: ScoreContext) -> dict[str, Any]:
    """Collect irregularities in the outcomes, and how each series was measured."""
    shown = to_json_values(notes).items()
    found = {name: own for name, own in shown if own or name not in {"partial", "statuses"}}
    found["lacking"] = found.pop("incomplete")  # its name in ``report.json``
    return {
        "found": found,
        "protocol": {series: dict(pairs) for series, pairs in context.protocol},
        "mixed_protocol": find_protocol_differences(context),
    }


class ScoreBlock(Struct, frozen=True):
    """A block about one benchmark; its drawing methods return what it shows and its numbers."""

    id: str
    request: ScoreRequest
    context: ScoreContext
    problems: ProblemScores
    inputs: DrawInputs

    def add_notes(self, notes: OutcomeNotes) -> ScoreContext:
        """Return the context with notes on irregularities, for figures that do not get them otherwise."""
        return replace(self.context, notes=(*list_found_notes(notes), *self.context.notes))

    def hide_invented(self, scores: tuple[Score, ...]) -> tuple[Score, ...]:
        """Return scores without intervals if the source is illustrative."""
        from reportgen.statistics.scores import hide_interval  # noqa: PLC0415

        is_illustrative = self.inputs.sources[self.request.source].settings.illustrative
        return tuple(map(hide_interval, scores)) if is_illustrative else scores

    def draw_scores(self, settings: ScoresSettings) -> tuple[Stack, dict[str, Any]]:
        """Draw a ``scores`` block."""
        from reportgen.figures.scores.scores import draw_scores  # noqa: PLC0415
        from reportgen.statistics.scores import bound_scores  # noqa: PLC0415

        bounds = bound_scores(self.problems, *split_metric(self.request.metric))
        scored = replace(self.inputs.answers.score_benchmark(self.request), bounds=bounds)
        return draw_scores(self.id, settings, scored, self.context), _collect_scores(scored)

    def draw_comparison(self, settings: ComparisonSettings) -> tuple[Stack, dict[str, Any]]:
        """Draw a ``comparison`` block of one benchmark."""
        from reportgen.figures.scores.comparison import draw_comparison  # noqa: PLC0415

        check_series(settings.baseline, self.problems.series, self.context.place)
        scored = self.inputs.answers.score_benchmark(self.request)
        untested = [one.reason for one in scored.comparisons if one.p is None]
        if settings.estimand == THESE_PROBLEMS and len(untested) == len(scored.comparisons) > 0:
            said = f"no pair can be compared on these problems: {untested[0]}"
            raise ScoresError(said, "It needs several samples of each problem; or leave out estimand")
        return draw_comparison(self.id, settings, scored, self.context), {
            **_collect_scores(scored),
            "comparisons": [to_json_values(one) for one in scored.comparisons],
            "groups": [list(one.series) for one in scored.groups],
        }

    def draw_pass_curves(self, settings: PasskSettings) -> tuple[Figure, dict[str, Any]]:
        """Draw a ``passk`` block."""
        from reportgen.figures.scores.pass_curve import draw_passk  # noqa: PLC0415
        from reportgen.statistics.scores import score_pass_at_k  # noqa: PLC0415

        found = score_pass_at_k(self.problems, level=settings.level)
        curves = [self.hide_invented(curve) for curve in found]
        drawn = draw_passk(
            self.id,
            settings,
            curves,
            self.context,
            problems=self.problems,
            get_chart=self.inputs.get_chart,
        )
        scores = [to_json_values(one) for curve in curves for one in curve]
        return drawn, {**drawn.numbers, "scores": scores}

    def draw_problems(self, settings: ProblemsSettings) -> tuple[Stack, dict[str, Any]]:
        """Draw the grid of problems, leaving its cells out of the numbers since the CSV has them."""
        from reportgen.figures.scores.problems import draw_problems  # noqa: PLC0415
        from reportgen.statistics.scores import build_problem_grid, score_slices  # noqa: PLC0415

        grid = build_problem_grid(self.problems, higher_is_better=self.request.higher_is_better)
        get_slices = partial(self.inputs.answers.get_slices, self.request)
        sliced = {
            column: {
                value: self.hide_invented(part)
                for value, part in score_slices(get_slices(column), level=settings.level).items()
            }
            for column in settings.slices
        }
        samples = self.find_samples() if settings.samples else None
        # The picture itself shows which problems a series did not answer.
        context = self.add_notes(replace(self.problems.notes, incomplete=()))
        return draw_problems(self.id, settings, grid, sliced, context, samples=samples), {
            "problems": len(grid.problems),
            "solved_by_one": [list(one) for one in grid.solved_by_one],
            "slices": {
                column: {value: [to_json_values(one) for one in parts] for value, parts in values.items()}
                for column, values in sliced.items()
            },
        }

    def find_samples(self) -> SampleSource:
        """Find the samples; their scripts go into the cache one by one, as all may not fit into memory."""
        from reportgen.figures.scores.samples import SampleSource  # noqa: PLC0415 - few blocks show them

        cache, source = self.inputs.cache, self.inputs.sources[self.request.source]
        key = cache.make_key("samples", str(self.context.place), repr(self.request), source.digest)

        def put(number: int, script: str) -> str | CachedText:
            try:
                return cache.put_text(key, f"{os.getpid()}.{number}", script)
            except OSError:  # the cache is a convenience
                return script

        return SampleSource(self.inputs.answers.find_samples(self.request), put)

    def draw_runs(self, settings: RunsSettings) -> tuple[Stack, dict[str, Any]]:
        """Draw a ``run-scores`` block."""
        from reportgen.figures.scores.runs import draw_runs  # noqa: PLC0415
        from reportgen.statistics.scores import measure_run_spreads  # noqa: PLC0415

        spreads = measure_run_spreads(self.problems, *split_metric(settings.metric), level=settings.level)
        drawn = draw_runs(self.id, settings, spreads, self.add_notes(self.problems.notes))
        return drawn, {"spreads": [to_json_values(one) for one in spreads]}

    def draw_plan(self, settings: PlanSettings) -> tuple[Stack, dict[str, Any]]:
        """Draw a ``plan`` block."""
        from reportgen.figures.scores.plan import draw_plan  # noqa: PLC0415

        found = self.inputs.answers.plan_study(self.request, settings.difference)
        drawn = draw_plan(self.id, settings, found, self.context, get_chart=self.inputs.get_chart)
        return drawn, {"plan": to_json_values(found)}


def draw_score_block(
    draw: Callable[[ScoreBlock, Any], tuple[Figure | Stack, dict[str, Any]]],
    planned: PlannedBlock,
    settings: OutcomeSettings,
    inputs: DrawInputs,
) -> Figure | Stack:
    """Draw a block about one benchmark with a method of ``ScoreBlock``, and add its numbers.

    Raises ``ReportError`` if the files are invalid, the outcomes insufficient or a series is unknown.
    """
    benchmark, place = planned.page.front_matter.benchmark, planned.block.location
    whole: Any = fill_defaults(settings, benchmark)
    with place_score_errors(place):
        (request,) = planned.outcomes
        scores, source = inputs.answers.get_problem_scores(request), inputs.sources[request.source]
        context = make_score_context(
            place, request, scores, source, benchmark=benchmark, slots=inputs.colours.slots
        )
        block = ScoreBlock(planned.block.id, request, context, scores, inputs)
        if apart := find_apart(source, scores):
            if planned.block.settings.pairs_problems:
                step = "Name problems in the same way in each, or show the sources in blocks of their own"
                raise ScoresError(apart, step)
            block = replace(block, context=replace(context, notes=(f"{apart}.", *context.notes)))
        drawn, numbers = draw(block, whole)
        numbers |= {"benchmark": context.benchmark, "higher_is_better": context.higher_is_better}
        numbers |= describe_measurement(scores.notes, context)
        if isinstance(drawn, Figure):
            return replace(drawn, numbers_data=numbers)
        return replace(drawn, numbers=numbers)


draw_scores_block = partial(draw_score_block, ScoreBlock.draw_scores)
draw_passk_block = partial(draw_score_block, ScoreBlock.draw_pass_curves)
draw_pairs_block = partial(draw_score_block, ScoreBlock.draw_comparison)
draw_problems_block = partial(draw_score_block, ScoreBlock.draw_problems)
draw_runs_block = partial(draw_score_block, ScoreBlock.draw_runs)
draw_plan_block = partial(draw_score_block, ScoreBlock.draw_plan)


def find_apart(source: Source, scores: ProblemScores) -> str:
    """Return which two of several sources share no problem, with an example of each; empty if all do."""
    answered: dict[str, dict[str, None]] = {}
    for part in source.parts if scores.problems else ():
        rows = [row for row, name in enumerate(scores.series) if name in part.names.values()]
        samples = [scores.samples[find_rows(scores, row)].sum(axis=0) for row in rows]
        columns = np.flatnonzero(np.sum(samples, axis=0)).tolist() if samples else []
        answered[part.source.name] = dict.fromkeys(scores.problems[column] for column in columns)
    for (one, first), (other, second) in combinations(answered.items(), 2):
        if first and second and not first.keys() & second.keys():
            shown = [f'"{next(iter(names))}"' for names in (first, second)]
            said = f'no problem is in both "{one}" and "{other}", so nothing is paired between them'
            return f"{said}: {shown[0]} is in the first and {shown[1]} in the second"
    return ""


def make_score_result(
    page: Page, benchmark: Benchmark, requests: Sequence[ScoreRequest], inputs: DrawInputs
) -> BenchmarkResult:
    """Make the results on a page's benchmark of problems, with the verdicts on others that the page compares.

    The first request is for the benchmark. Raises ``ReportError`` as ``draw_score_block``.
    """
    from reportgen.figures.scores.key_results import (  # noqa: PLC0415
        describe_standing,
        summarize_score_benchmark,
    )

    place, sources, slots = SourceLocation(page.file, benchmark.line), inputs.sources, inputs.colours.slots
    with place_score_errors(place):
        scored = [inputs.answers.score_benchmark(request) for request in requests]
        first = scored[0]
        source = sources[requests[0].source]
        context = make_score_context(
            place, requests[0], first.problems, source, benchmark=benchmark, slots=slots
        )
        others = []
        for request, one in zip(requests[1:], scored[1:], strict=True):
            same = make_score_context(
                place, request, one.problems, sources[request.source], benchmark=benchmark, slots=slots
            )
            name = name_benchmark(request, sources[request.source], benchmark)
            others.append((name, describe_standing(one, same)))
        return summarize_score_benchmark(benchmark, page.path, first, context, others)


def _collect_scores(scored: BenchmarkScores) -> dict[str, Any]:
    """Collect scores with their groups and ranks."""
    group = {name: one.rank for one in scored.groups for name in one.series}
    ranks = {one.series: {"best": one.best, "worst": one.worst} for one in scored.ranks}
    scores = [
        {**collect_score(one), "group": group.get(one.series), "rank": ranks.get(one.series)}
        | ({"bounds": list(scored.bounds[one.series])} if one.series in scored.bounds else {})
        for one in scored.scores
    ]
    return {"scores": scores}


def check_series(name: str | None, series: Iterable[str], place: SourceLocation) -> None:
    """Refuse a series that none of the data have."""
    known = tuple(dict.fromkeys(series))
    if name is not None and name not in known:
        said = f'there is no series "{name}" in these outcomes'
        step = f"{suggest_name(name, known)}Its series are {quote_names(known)}"
        raise ReportError(Diagnostic(place, said, step, Stage.NARRATIVE))
