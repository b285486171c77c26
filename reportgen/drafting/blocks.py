"""Draws every block, or takes what an earlier draft drew from the same input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reportgen.drafting.author import draw_author_chart, draw_vega_lite
from reportgen.drafting.kept import restore_block, restore_result, store_block, store_result
from reportgen.drafting.keys import make_block_key
from reportgen.drafting.marking import mark_points
from reportgen.drafting.statements import judge_statements
from reportgen.errors import SourceLocation
from reportgen.figures.benchmark import collect_overview, summarize_benchmark
from reportgen.figures.curve import draw_curve, draw_panels
from reportgen.figures.results import build_result_table
from reportgen.figures.wanted import make_curve_spec, make_panel_specs
from reportgen.model import ScoreRequest
from reportgen.settings.blocks import (
    AltairSettings,
    CurveSettings,
    OverviewSettings,
    PanelsSettings,
    TableSettings,
    VegaLiteSettings,
)
from reportgen.settings.observation_blocks import ObservationsSettings
from reportgen.settings.score_blocks import OutcomeSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import Plan, PlannedBenchmark, PlannedBlock
    from reportgen.errors import Problems
    from reportgen.figures.wanted import DrawContext
    from reportgen.model import BenchmarkResult, Shown
    from reportgen.settings.blocks import BlockSettings
    from reportgen.statements import Statement


@dataclass(slots=True)
class DrawnBlocks:
    """What was drawn: results by their page's path, the others by their page's path and their block's id.

    ``keys`` has the cache keys of blocks that are kept; ``statements`` what the data say to those of each
    page.
    """

    results: dict[str, BenchmarkResult] = field(default_factory=dict)
    shown: dict[tuple[str, str], Shown] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)


def draw_blocks(
    plan: Plan,
    inputs: DrawInputs,
    problems: Problems,
    report_progress: Callable[[str, Shown], None] = lambda _page, _shown: None,
) -> DrawnBlocks:
    """Draw everything but overviews, which show other pages' results.

    Args:
        plan: what to draw.
        inputs: what to draw it from.
        problems: gets what cannot be drawn.
        report_progress: told after each block its page's path and what it shows.
    """
    drawn = DrawnBlocks()
    for benchmark in plan.benchmarks:
        with problems.collecting():
            drawn.results[benchmark.page.path] = _get_result(benchmark, inputs)
    for planned in plan.blocks:
        place, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                continue
            if isinstance(settings, AltairSettings):
                # Never kept: the author's function may change while its block does not.
                block: Shown = draw_author_chart(planned, settings, inputs)
            else:
                key = _make_key(planned, settings, inputs)
                block = restore_block(inputs.cache, key) or store_block(
                    inputs.cache, key, draw_block(planned, settings, inputs)
                )
                drawn.keys[place] = key
            drawn.shown[place] = block
            report_progress(planned.page.path, block)
    drawn.statements |= judge_statements(plan, inputs, problems)
    return drawn


def add_overviews(
    plan: Plan, drawn: DrawnBlocks, problems: Problems, report_progress: Callable[[str, Shown], None]
) -> DrawnBlocks:
    """Everything drawn, in the order of the plan, with overviews of the results."""
    results = {
        b.page.path: drawn.results[b.page.path] for b in plan.benchmarks if b.page.path in drawn.results
    }
    shown: dict[tuple[str, str], Shown] = {}
    for planned in plan.blocks:
        key, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                shown[key] = collect_overview(planned.block, settings, results)
                report_progress(planned.page.path, shown[key])
            elif key in drawn.shown:
                shown[key] = drawn.shown[key]
    return DrawnBlocks(results, shown, drawn.keys, drawn.statements)


def draw_block(planned: PlannedBlock, settings: BlockSettings, inputs: DrawInputs) -> Shown:
    if isinstance(settings, VegaLiteSettings):
        return draw_vega_lite(planned, settings, inputs)
    if isinstance(settings, TableSettings):
        return _draw_table(planned, settings, inputs)
    if isinstance(settings, OutcomeSettings):
        from reportgen.drafting.score_blocks import draw_score_block  # noqa: PLC0415 - only where there are scores

        return draw_score_block(planned, settings, inputs)
    if isinstance(settings, ObservationsSettings):
        from reportgen.drafting.observing import draw_observations  # noqa: PLC0415 - as above

        return draw_observations(planned, settings, inputs)
    answers = [inputs.answers.get_curves(request) for request in planned.curves]
    context = _make_context(planned, inputs)
    curve_sets = tuple(answer.curve_set for answer in answers)
    if isinstance(settings, CurveSettings):
        marked = mark_points(planned, settings, inputs)
        spec = make_curve_spec(planned.block.id, settings, curve_sets[0].metric, context, marked)
        return draw_curve(curve_sets[0], spec, context)
    if isinstance(settings, PanelsSettings):
        specs = make_panel_specs(planned.block.id, settings, context)
        return draw_panels(planned.block.id, settings, curve_sets, specs, context)
    raise TypeError(planned.block.kind)


def _draw_table(planned: PlannedBlock, settings: TableSettings, inputs: DrawInputs) -> Shown:
    context = _make_context(planned, inputs)
    better = tuple(context.resolve_direction(one.metric, settings.higher_is_better) for one in planned.curves)
    endings = [
        inputs.answers.get_endings(request, higher_is_better=way is not False)
        for request, way in zip(planned.curves, better, strict=True)
    ]
    metrics = tuple(zip((request.metric for request in planned.curves), endings, strict=True))
    leads = tuple(
        inputs.answers.get_curves(request).curve_set.leads[int(way is False)]
        for request, way in zip(planned.curves, better, strict=True)
    )
    return build_result_table(planned.block.id, settings, metrics, context, better=better, leads=leads)


def _make_context(planned: PlannedBlock, inputs: DrawInputs) -> DrawContext:
    answer = inputs.answers.get_curves(planned.curves[0])
    return inputs.make_context(
        planned.block.location, planned.sources[0], answer, planned.page.front_matter.benchmark
    )


def _make_key(planned: PlannedBlock, settings: BlockSettings, inputs: DrawInputs) -> str:
    benchmark = planned.page.front_matter.benchmark
    parts = (
        planned.block.kind,
        planned.block.id,
        settings.model_dump_json(),
        benchmark.model_dump_json() if benchmark else "",
        repr(planned.requests),
        repr(planned.topics),
        repr([claim.expression for claim in planned.claims]),
        repr(sorted(inputs.colours.get_slots(planned.requests).items())),
    )
    return make_block_key(inputs.cache, parts, (inputs.sources[name] for name in planned.sources))


def _get_result(planned: PlannedBenchmark, inputs: DrawInputs) -> BenchmarkResult:
    page, benchmark = planned.page, planned.benchmark
    source = inputs.sources[benchmark.source]
    slots = repr(sorted(inputs.colours.get_slots([planned.request]).items()))
    parts = ("benchmark", page.path, benchmark.model_dump_json(), repr(planned.request), slots)
    key = make_block_key(inputs.cache, parts, [source])
    result = restore_result(inputs.cache, key)
    if result is None:
        result = _make_result(planned, inputs)
        store_result(inputs.cache, key, result)
    return result


def _make_result(planned: PlannedBenchmark, inputs: DrawInputs) -> BenchmarkResult:
    page, benchmark, request = planned.page, planned.benchmark, planned.request
    if isinstance(request, ScoreRequest):
        from reportgen.drafting.score_blocks import make_score_result  # noqa: PLC0415 - as above

        return make_score_result(page, benchmark, request, inputs)
    answer = inputs.answers.get_curves(request)
    context = inputs.make_context(
        SourceLocation(page.file, benchmark.line), benchmark.source, answer, benchmark
    )
    return summarize_benchmark(benchmark, page.path, answer.curve_set, context)
