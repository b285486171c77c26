"""Draws every block, or takes what an earlier draft drew from the same input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.drafting import kept
from reportgen.drafting.author import author_chart, vega_lite_chart
from reportgen.drafting.keys import block_key
from reportgen.errors import Place
from reportgen.figures.benchmark import benchmark_result, overview
from reportgen.figures.curve import curve_figure, panels
from reportgen.figures.results import result_table
from reportgen.figures.wanted import wanted_curve, wanted_panels
from reportgen.settings.blocks import (
    AltairSettings,
    CurveSettings,
    OverviewSettings,
    PanelsSettings,
    TableSettings,
    VegaLiteSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.drafting.desk import Desk
    from reportgen.drafting.plan import Plan, PlannedBenchmark, PlannedBlock
    from reportgen.errors import Problems
    from reportgen.model import BenchmarkResult, Shown
    from reportgen.settings.blocks import BlockSettings


def results_of(plan: Plan, desk: Desk, problems: Problems) -> dict[str, BenchmarkResult]:
    """The result of each benchmark, by the path of its page."""
    results = {}
    for planned in plan.benchmarks:
        with problems.collecting():
            results[planned.page.path] = _benchmark(planned, desk)
    return results


def draw_all(  # noqa: PLR0917 - the step hands on what earlier steps made
    plan: Plan,
    desk: Desk,
    results: dict[str, BenchmarkResult],
    problems: Problems,
    progress: Callable[[int, int], None],
    drawn: Callable[[str, Shown], None],
) -> dict[tuple[str, str], Shown]:
    """What each block shows, by its page's path and its id."""
    shown: dict[tuple[str, str], Shown] = {}
    for done, planned in enumerate(plan.blocks, start=1):
        with problems.collecting():
            block = _shown(planned, desk, results)
            shown[planned.page.path, planned.block.id] = block
            drawn(planned.page.path, block)
        progress(done, len(plan.blocks))
    return shown


def _shown(planned: PlannedBlock, desk: Desk, results: dict[str, BenchmarkResult]) -> Shown:
    settings = planned.block.settings
    if isinstance(settings, OverviewSettings):
        return overview(planned.block, settings, results)
    if isinstance(settings, AltairSettings):
        # Never kept: the author's function may change while its block does not.
        return author_chart(planned, settings, desk)
    key = _key(planned, settings, desk)
    drawn = kept.read(desk.cache.get(key))
    if drawn is None:
        drawn = _drawn(planned, settings, desk)
        desk.cache.put(key, kept.written(drawn))
    return drawn


def _drawn(planned: PlannedBlock, settings: BlockSettings, desk: Desk) -> Shown:
    if isinstance(settings, VegaLiteSettings):
        return vega_lite_chart(planned, settings, desk)
    block, benchmark = planned.block, planned.page.front_matter.benchmark
    answers = [desk.answers.answer(request) for request in planned.requests]
    context = desk.context(block.place, planned.sources[0], answers[0], benchmark)
    curve_sets = tuple(answer.curve_set for answer in answers)
    if isinstance(settings, CurveSettings):
        wanted = wanted_curve(block.id, settings, curve_sets[0].metric, context)
        return curve_figure(curve_sets[0], wanted, context)
    if isinstance(settings, PanelsSettings):
        return panels(block.id, settings, curve_sets, wanted_panels(block.id, settings, context), context)
    if isinstance(settings, TableSettings):
        better = settings.higher_is_better
        better = context.higher_is_better if better is None else better
        endings = [desk.answers.endings(request, higher_is_better=better) for request in planned.requests]
        metrics = tuple(request.metric for request in planned.requests)
        return result_table(
            block.id, settings, tuple(zip(metrics, endings, strict=True)), context, higher_is_better=better
        )
    raise TypeError(block.kind)


def _key(planned: PlannedBlock, settings: BlockSettings, desk: Desk) -> str:
    benchmark = planned.page.front_matter.benchmark
    parts = (
        planned.block.kind,
        planned.block.id,
        settings.model_dump_json(),
        benchmark.model_dump_json() if benchmark else "",
        repr(planned.requests),
        repr(sorted(desk.colours.of(planned.requests).items())),
    )
    return block_key(desk.cache, parts, (desk.sources[name] for name in planned.sources))


def _benchmark(planned: PlannedBenchmark, desk: Desk) -> BenchmarkResult:
    page, benchmark = planned.page, planned.benchmark
    source = desk.sources[benchmark.source]
    slots = repr(sorted(desk.colours.of([planned.request]).items()))
    parts = ("benchmark", page.path, benchmark.model_dump_json(), repr(planned.request), slots)
    key = block_key(desk.cache, parts, [source])
    result = kept.read_result(desk.cache.get(key))
    if result is None:
        answer = desk.answers.answer(planned.request)
        context = desk.context(Place(page.file), benchmark.source, answer, benchmark)
        result = benchmark_result(benchmark, page.path, answer.curve_set, context)
        desk.cache.put(key, kept.written(result))
    return result
