"""Draws every block, or takes what an earlier draft drew from the same input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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
    from reportgen.figures.wanted import Context
    from reportgen.model import BenchmarkResult, Shown
    from reportgen.settings.blocks import BlockSettings


def results_of(plan: Plan, desk: Desk, problems: Problems) -> dict[str, BenchmarkResult]:
    """The result of each benchmark, by the path of its page."""
    results = {}
    for planned in plan.benchmarks:
        with problems.collecting():
            results[planned.page.path] = _benchmark(planned, desk)
    return results


Elsewhere: TypeAlias = "Callable[..., Callable[[], Shown]]"
"""Starts a function with its arguments in another process; what it returns waits for the result."""

_WORTH_SHARING = 24
"""Figures to draw from which a second process saves more than it costs to start."""
_AWAY = 3
"""Every third page is drawn in the second process, which has link cards to make as well."""


@dataclass(frozen=True, slots=True)
class Observer:
    """Whom to tell of progress: how many of how many are drawn, and what each block shows."""

    progress: Callable[[int, int], None]
    drawn: Callable[[str, Shown], None]


def draw_all(  # noqa: PLR0917 - the step hands on what earlier steps made
    plan: Plan,
    desk: Desk,
    results: dict[str, BenchmarkResult],
    problems: Problems,
    observer: Observer,
    elsewhere: Elsewhere | None,
) -> dict[tuple[str, str], Shown]:
    """What each block shows, by its page's path and its id."""
    shown: dict[tuple[str, str], Shown] = {}
    waiting: list[tuple[PlannedBlock, Callable[[], Shown]]] = []
    away = _pages_away(plan, desk) if elsewhere else frozenset()

    def keep(planned: PlannedBlock, block: Shown) -> None:
        shown[planned.page.path, planned.block.id] = block
        observer.drawn(planned.page.path, block)
        observer.progress(len(shown), len(plan.blocks))

    for planned in plan.blocks:
        with problems.collecting():
            later = _later(planned, desk, elsewhere) if elsewhere and planned.page.path in away else None
            if later:
                waiting.append((planned, later))
            else:
                keep(planned, _shown(planned, desk, results))
    for planned, later in waiting:
        with problems.collecting():
            keep(planned, later())
    return shown


def _pages_away(plan: Plan, desk: Desk) -> frozenset[str]:
    """The pages whose figures the second process draws; whole pages, so that a page keeps its order.

    None where most figures are kept from an earlier draft: starting a process would cost more.
    """
    fresh = [planned for planned in plan.blocks if not _is_kept(planned, desk)]
    if len(fresh) < _WORTH_SHARING:
        return frozenset()
    pages = list(dict.fromkeys(planned.page.path for planned in fresh))
    return frozenset(pages[1::_AWAY])


def _is_kept(planned: PlannedBlock, desk: Desk) -> bool:
    settings = planned.block.settings
    drawn = isinstance(settings, CurveSettings | PanelsSettings)
    return not drawn or desk.cache.holds(_key(planned, settings, desk))


def _later(planned: PlannedBlock, desk: Desk, elsewhere: Elsewhere) -> Callable[[], Shown] | None:
    """A figure that another process draws; None where it is kept already or of another kind."""
    settings = planned.block.settings
    if not isinstance(settings, CurveSettings | PanelsSettings):
        return None
    key = _key(planned, settings, desk)
    if desk.cache.holds(key):
        return None
    draw, *arguments = _work(planned, settings, desk)
    result = elsewhere(draw, *arguments)

    def finished() -> Shown:
        block = result()
        desk.cache.put(key, kept.written(block))
        return block

    return finished


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
    if isinstance(settings, TableSettings):
        return _table(planned, settings, desk)
    draw, *arguments = _work(planned, settings, desk)
    block: Shown = draw(*arguments)
    return block


def _work(planned: PlannedBlock, settings: BlockSettings, desk: Desk) -> tuple[Any, ...]:
    """The function that draws a figure and its arguments, which can travel to another process."""
    block = planned.block
    answers = [desk.answers.answer(request) for request in planned.requests]
    context = _context(planned, desk)
    curve_sets = tuple(answer.curve_set for answer in answers)
    if isinstance(settings, CurveSettings):
        wanted = wanted_curve(block.id, settings, curve_sets[0].metric, context)
        return curve_figure, curve_sets[0], wanted, context
    if isinstance(settings, PanelsSettings):
        return panels, block.id, settings, curve_sets, wanted_panels(block.id, settings, context), context
    raise TypeError(block.kind)


def _table(planned: PlannedBlock, settings: TableSettings, desk: Desk) -> Shown:
    context = _context(planned, desk)
    better = settings.higher_is_better
    better = context.higher_is_better if better is None else better
    endings = [desk.answers.endings(request, higher_is_better=better) for request in planned.requests]
    metrics = tuple(zip((request.metric for request in planned.requests), endings, strict=True))
    return result_table(planned.block.id, settings, metrics, context, higher_is_better=better)


def _context(planned: PlannedBlock, desk: Desk) -> Context:
    answer = desk.answers.answer(planned.requests[0])
    return desk.context(planned.block.place, planned.sources[0], answer, planned.page.front_matter.benchmark)


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
