"""Draws every block, or takes what an earlier draft drew from the same input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reportgen.drafting.author import author_chart, vega_lite_chart
from reportgen.drafting.kept import keep, keep_result, kept, kept_result
from reportgen.drafting.keys import block_key
from reportgen.drafting.marking import marked_points
from reportgen.drafting.statements import statements_of
from reportgen.errors import Place
from reportgen.figures.benchmark import benchmark_result, overview
from reportgen.figures.curve import curve_figure, panels
from reportgen.figures.results import result_table
from reportgen.figures.wanted import wanted_curve, wanted_panels
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

    from reportgen.drafting.desk import Desk
    from reportgen.drafting.plan import Plan, PlannedBenchmark, PlannedBlock
    from reportgen.errors import Problems
    from reportgen.figures.wanted import Context
    from reportgen.model import BenchmarkResult, Shown
    from reportgen.settings.blocks import BlockSettings
    from reportgen.statements import Statement


@dataclass(slots=True)
class Drawn:
    """What was drawn: results by their page's path, the others by their page's path and their block's id.

    ``keys`` has the cache keys of blocks that are kept; ``statements`` what the data say to those of each
    page.
    """

    results: dict[str, BenchmarkResult] = field(default_factory=dict)
    shown: dict[tuple[str, str], Shown] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)


def draw(
    plan: Plan,
    desk: Desk,
    problems: Problems,
    told: Callable[[str, Shown], None] = lambda _page, _shown: None,
) -> Drawn:
    """Draw everything but overviews, which show other pages' results.

    Args:
        plan: what to draw.
        desk: what to draw it from.
        problems: gets what cannot be drawn.
        told: told after each block its page's path and what it shows.
    """
    drawn = Drawn()
    for benchmark in plan.benchmarks:
        with problems.collecting():
            drawn.results[benchmark.page.path] = _benchmark(benchmark, desk)
    for planned in plan.blocks:
        place, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                continue
            if isinstance(settings, AltairSettings):
                # Never kept: the author's function may change while its block does not.
                block: Shown = author_chart(planned, settings, desk)
            else:
                key = _key(planned, settings, desk)
                block = kept(desk.cache, key) or keep(desk.cache, key, _drawn(planned, settings, desk))
                drawn.keys[place] = key
            drawn.shown[place] = block
            told(planned.page.path, block)
    drawn.statements |= statements_of(plan, desk, problems)
    return drawn


def with_overviews(plan: Plan, drawn: Drawn, problems: Problems, told: Callable[[str, Shown], None]) -> Drawn:
    """Everything drawn, in the order of the plan, with overviews of the results."""
    results = {
        b.page.path: drawn.results[b.page.path] for b in plan.benchmarks if b.page.path in drawn.results
    }
    shown: dict[tuple[str, str], Shown] = {}
    for planned in plan.blocks:
        key, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                shown[key] = overview(planned.block, settings, results)
                told(planned.page.path, shown[key])
            elif key in drawn.shown:
                shown[key] = drawn.shown[key]
    return Drawn(results, shown, drawn.keys, drawn.statements)


def _drawn(planned: PlannedBlock, settings: BlockSettings, desk: Desk) -> Shown:
    if isinstance(settings, VegaLiteSettings):
        return vega_lite_chart(planned, settings, desk)
    if isinstance(settings, TableSettings):
        return _table(planned, settings, desk)
    if isinstance(settings, OutcomeSettings):
        from reportgen.drafting.score_blocks import score_block  # noqa: PLC0415 - only where there are scores

        return score_block(planned, settings, desk)
    if isinstance(settings, ObservationsSettings):
        from reportgen.drafting.observing import observations_block  # noqa: PLC0415 - as above

        return observations_block(planned, settings, desk)
    answers = [desk.answers.answer(request) for request in planned.curves]
    context = _context(planned, desk)
    curve_sets = tuple(answer.curve_set for answer in answers)
    if isinstance(settings, CurveSettings):
        marked = marked_points(planned, settings, desk)
        wanted = wanted_curve(planned.block.id, settings, curve_sets[0].metric, context, marked)
        return curve_figure(curve_sets[0], wanted, context)
    if isinstance(settings, PanelsSettings):
        wishes = wanted_panels(planned.block.id, settings, context)
        return panels(planned.block.id, settings, curve_sets, wishes, context)
    raise TypeError(planned.block.kind)


def _table(planned: PlannedBlock, settings: TableSettings, desk: Desk) -> Shown:
    context = _context(planned, desk)
    better = tuple(context.better(one.metric, settings.higher_is_better) for one in planned.curves)
    endings = [
        desk.answers.endings(request, higher_is_better=way is not False)
        for request, way in zip(planned.curves, better, strict=True)
    ]
    metrics = tuple(zip((request.metric for request in planned.curves), endings, strict=True))
    leads = tuple(
        desk.answers.answer(request).curve_set.leads[int(way is False)]
        for request, way in zip(planned.curves, better, strict=True)
    )
    return result_table(planned.block.id, settings, metrics, context, better=better, leads=leads)


def _context(planned: PlannedBlock, desk: Desk) -> Context:
    answer = desk.answers.answer(planned.curves[0])
    return desk.context(planned.block.place, planned.sources[0], answer, planned.page.front_matter.benchmark)


def _key(planned: PlannedBlock, settings: BlockSettings, desk: Desk) -> str:
    benchmark = planned.page.front_matter.benchmark
    parts = (
        planned.block.kind,
        planned.block.id,
        settings.model_dump_json(),
        benchmark.model_dump_json() if benchmark else "",
        repr(planned.requests),
        repr(planned.topics),
        repr([claim.expression for claim in planned.claims]),
        repr(sorted(desk.colours.of(planned.requests).items())),
    )
    return block_key(desk.cache, parts, (desk.sources[name] for name in planned.sources))


def _benchmark(planned: PlannedBenchmark, desk: Desk) -> BenchmarkResult:
    page, benchmark = planned.page, planned.benchmark
    source = desk.sources[benchmark.source]
    slots = repr(sorted(desk.colours.of([planned.request]).items()))
    parts = ("benchmark", page.path, benchmark.model_dump_json(), repr(planned.request), slots)
    key = block_key(desk.cache, parts, [source])
    result = kept_result(desk.cache, key)
    if result is None:
        result = _result(planned, desk)
        keep_result(desk.cache, key, result)
    return result


def _result(planned: PlannedBenchmark, desk: Desk) -> BenchmarkResult:
    page, benchmark, request = planned.page, planned.benchmark, planned.request
    if isinstance(request, ScoreRequest):
        from reportgen.drafting.score_blocks import score_result  # noqa: PLC0415 - as above

        return score_result(page, benchmark, request, desk)
    answer = desk.answers.answer(request)
    context = desk.context(Place(page.file, benchmark.line), benchmark.source, answer, benchmark)
    return benchmark_result(benchmark, page.path, answer.curve_set, context)
