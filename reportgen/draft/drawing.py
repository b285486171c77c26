"""Planning and drawing of every block, or its retrieval from the cache, and judging of statements.

A worker process reads and draws some pages of a large report. It sends back only series names and drawn
blocks; data and curves stay in the process that read them, until the last page that shows them is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, Severity, SourceLocation, Stage, StatementRule
from reportgen.core.facts import FACTS
from reportgen.core.model import BenchmarkResult, Figure, Observed, Panels, ScoreRequest, Shown
from reportgen.core.statements import Statement, Truth
from reportgen.draft.blocks.draw_inputs import (
    DrawInputs,
    describe_topic,
    link_topic,
    make_names_key,
    read_series_names,
)
from reportgen.draft.blocks.kinds import (
    draw_overview,
    has_pdf,
    is_overview,
    name_cause,
    plan_block,
    refuse_illustrative,
    warn_pooled,
    warn_totals,
)
from reportgen.draft.blocks.observations import judge_statement
from reportgen.draft.blocks.plan import Plan, PlannedBlock, PlannedStatement, find_topic, plan_benchmark
from reportgen.draft.blocks.results import ResultsStore
from reportgen.draft.origin import add_metadata, count_observed, find_origin, hash_table, name_figure
from reportgen.draft.stored_blocks import (
    DrawnBlock,
    DrawnParts,
    Place,
    change_figures,
    restore_block,
    store_block,
)
from reportgen.narrative.requests import check_steps, has_sources, make_benchmark_request
from reportgen.narrative.topics import find_host, list_block_sources, list_named_sources
from reportgen.settings.blocks import get_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.model import Request
    from reportgen.draft.blocks.draw_inputs import SeriesColours
    from reportgen.draft.blocks.plan import PlannedBenchmark
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


ReportProgress: TypeAlias = Callable[[str, "Shown | None"], None]
"""Function that is given a block's page and what it shows, or None if that was not read."""


def plan_report(pages: tuple[Page, ...], sources: Mapping[str, Source], problems: Diagnostics) -> Plan:
    """Plan every block and statement, except those of unopened sources, which are reported elsewhere."""
    blocks: list[PlannedBlock] = []
    benchmarks: list[PlannedBenchmark] = []
    statements: list[PlannedStatement] = []
    for page in pages:
        benchmark, first = page.front_matter.benchmark, len(blocks)
        for block in page.blocks:
            opened = all(name in sources for name in list_block_sources(block, page))
            if opened and has_sources(block, benchmark, sources):
                with problems.collecting():
                    blocks.append(plan_block(block, page, sources))
        if benchmark and benchmark.source_name in sources:
            with problems.collecting():
                source, line = sources[benchmark.source_name], SourceLocation(page.file, benchmark.line)
                check_steps(source, line, f'benchmark "{benchmark.name}"')
                request = make_benchmark_request(benchmark, source, page)
                benchmarks.append(plan_benchmark(page, benchmark, request, blocks[first:]))
        statements += _plan_statements(page, pages, sources, problems)
    return Plan(tuple(blocks), tuple(benchmarks), tuple(statements))


def _plan_statements(
    page: Page, pages: tuple[Page, ...], sources: Mapping[str, Source], problems: Diagnostics
) -> Iterator[PlannedStatement]:
    """Plan the statements of a page, most of which share one topic; errors are added to ``problems``."""
    hosts = {of: find_host(of, page, pages) for of in dict.fromkeys(one.of for one in page.bindings)}
    opened = {of: sources.keys() >= {*list_named_sources(*host)} for of, host in hosts.items()}
    topics: dict[str | None, Topic] = {}
    for number, binding in enumerate(page.bindings, start=1):
        if not opened[binding.of]:
            continue
        with problems.collecting():
            if binding.of not in topics:
                of, host = hosts[binding.of]
                topics[binding.of] = find_topic(replace(binding, of=of), host, sources)
            yield PlannedStatement(page, binding, number, topics[binding.of])


class DrawnBlocks(Struct):
    """Drawn results and statements by page path, and blocks and their keys by their places.

    Blocks of unchanged pages are functions that restore them: few are read again.
    """

    results: dict[str, BenchmarkResult] = field(default_factory=dict)
    blocks: dict[Place, DrawnBlock | Callable[[], DrawnBlock]] = field(default_factory=dict)
    keys: dict[Place, str] = field(default_factory=dict)  # cache keys of stored blocks
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)  # by page path


def draw_blocks(
    plan: Plan,
    inputs: DrawInputs,
    problems: Diagnostics,
    report_progress: ReportProgress = lambda _page, _shown: None,
) -> DrawnBlocks:
    """Draw everything except overviews, which show results of other pages, and judge the statements.

    Errors are added to ``problems``; ``report_progress`` is called after each block.
    """
    drawn = DrawnBlocks()
    pages = plan.split_pages()
    sources = [{name for names in page.sources_by_page.values() for name in names} for page in pages]
    last_page = {name: number for number, names in enumerate(sources) for name in names}
    for number, (page, names) in enumerate(zip(pages, sources, strict=True)):
        _draw_page(page, inputs, problems, drawn, report_progress)
        for name in names:
            if last_page[name] == number:
                inputs.forget(name)
    for name in (*inputs.subjects,):  # of joined sources
        inputs.forget(name)
    return drawn


def _draw_page(
    plan: Plan,
    inputs: DrawInputs,
    problems: Diagnostics,
    drawn: DrawnBlocks,
    report_progress: ReportProgress,
) -> None:
    for one in plan.benchmarks:
        found = Diagnostics()
        with found.collecting():
            drawn.results[one.page.path] = _get_result(one, inputs)
        problems.add(name_cause(one, found.found))
    keys = {one.block.id: _make_block_key(one, inputs) for one in plan.blocks if not is_overview(one)}
    is_unchanged = all(key and inputs.cache.has_entry(key) for key in keys.values())
    for planned in plan.blocks:
        problems.add((*warn_pooled(planned, inputs), *warn_totals(planned, inputs)))
        if (key := keys.get(planned.block.id)) is None:
            continue
        place, get_block = (planned.page.path, planned.block.id), partial(_get_block, planned, key, inputs)
        if key:
            drawn.keys[place] = key
        if is_unchanged:
            drawn.blocks[place] = get_block
            report_progress(planned.page.path, None)
            continue
        with problems.collecting():
            block = drawn.blocks[place] = get_block()
            report_progress(planned.page.path, block[0])
    drawn.statements |= judge_statements(plan, inputs, problems)


def _make_block_key(planned: PlannedBlock, inputs: DrawInputs) -> str:
    """Return the cache key of a block; empty if it is always redrawn."""
    block, benchmark = planned.block, planned.page.front_matter.benchmark
    if not get_kind(block.kind).stored:
        return ""
    parts = (
        *(block.kind, block.id, block.settings.model_dump_json()),
        benchmark.model_dump_json() if benchmark else "",
        repr(has_pdf(planned, inputs)),
        repr((planned.list_all_requests(), planned.topics)),
        repr([claim.expression for claim in planned.claims]),
    )
    return _make_key(planned.page, parts, planned.requests, planned.sources, inputs)


def _get_block(planned: PlannedBlock, key: str, inputs: DrawInputs) -> DrawnBlock:
    """Restore a block, or draw it."""
    stored = restore_block(inputs.cache, key, get_kind(planned.block.kind).shows) if key else None
    if stored:
        return stored
    drawn = _draw_block(planned, inputs), _count_observed(planned, inputs)
    return store_block(inputs.cache, key, *drawn) if key else drawn


def _draw_block(planned: PlannedBlock, inputs: DrawInputs) -> Shown:
    """Draw a block, and say in the file of each figure what it is drawn from."""
    from reportgen.draft.blocks.charts import draw_block  # noqa: PLC0415 - only where something is drawn

    def name_origin(_: int, figure: Figure) -> Figure:
        name, origin = name_figure(planned.page.path, figure.id), find_origin(planned, inputs.sources, figure)
        picture = add_metadata(str(figure.file_svg), name, origin)
        table = hash_table(figure.table.header, figure.table.rows)
        return replace(
            figure, file_svg=picture, has_pdf=has_pdf(planned, inputs), origin=origin, table_sha256=table
        )

    refuse_illustrative(planned, inputs.sources)
    return change_figures(draw_block(planned, inputs), name_origin)


def _count_observed(planned: PlannedBlock, inputs: DrawInputs) -> tuple[Observed, ...]:
    requests = planned.requests
    parts = [[one] for one in requests] if get_kind(planned.block.kind).shows is Panels else [requests]
    return tuple(count_observed(part, inputs.answers) for part in parts if part)


def add_overviews(
    plan: Plan, drawn: DrawnBlocks, problems: Diagnostics, report_progress: ReportProgress
) -> DrawnBlocks:
    """Return everything drawn, in the order of the plan, with overviews of the results."""
    paths = [benchmark.page.path for benchmark in plan.benchmarks]
    results = {path: drawn.results[path] for path in paths if path in drawn.results}
    blocks: dict[Place, DrawnBlock | Callable[[], DrawnBlock]] = {}
    for planned in plan.blocks:
        place = planned.page.path, planned.block.id
        with problems.collecting():
            if is_overview(planned):
                settings: Any = planned.block.settings
                overview = draw_overview(planned, settings, results)
                blocks[place] = overview, ()
                report_progress(planned.page.path, overview)
            elif place in drawn.blocks:
                blocks[place] = drawn.blocks[place]
    return DrawnBlocks(results, blocks, drawn.keys, drawn.statements)


def _make_key(
    page: Page, parts: Iterable[str], requests: Sequence[Request], sources: Iterable[str], inputs: DrawInputs
) -> str:
    slots = repr(sorted(inputs.colours.get_slots(requests).items()))
    units = repr([sorted(page.percent.get(one.source, ())) for one in requests])
    digests = (inputs.sources[name].digest for name in sources)
    return inputs.cache.make_key("block", page.path, *parts, slots, units, *digests)


def _get_result(planned: PlannedBenchmark, inputs: DrawInputs) -> BenchmarkResult:
    page, benchmark, request = planned.page, planned.benchmark, planned.request

    def make_result() -> BenchmarkResult:
        if isinstance(request, ScoreRequest):
            from reportgen.draft.blocks.scores import make_score_result  # noqa: PLC0415 - only where there are scores

            return make_score_result(page, benchmark, (request, *planned.others), inputs)
        from reportgen.figures.curves.key_results import summarize_benchmark  # noqa: PLC0415 - as above

        place, result = SourceLocation(page.file, benchmark.line), inputs.answers.get_curves(request)
        context = inputs.make_context(place, benchmark.source_name, result, page)
        return summarize_benchmark(benchmark, page.path, result.curve_set, context, planned.metric_title)

    requested = repr((request, planned.others)), planned.metric_title
    parts = ("benchmark", benchmark.model_dump_json(), *requested)
    key = _make_key(page, parts, [request], [benchmark.source_name], inputs)
    result = inputs.cache.memo(key, BenchmarkResult, make_result)
    return replace(result, title=page.title, published=page.front_matter.date or "")


def judge_statements(
    plan: Plan, inputs: DrawInputs, problems: Diagnostics
) -> dict[str, tuple[Statement, ...]]:
    """Judge each page's statements by the data, and return them by the page's path.

    ``problems`` gets an error for each statement that cannot be read, and a warning for each that does not
    hold, cannot be decided, or was expected to fail and holds.
    """
    found: dict[str, tuple[Statement, ...]] = {}
    for planned in plan.statements:
        with problems.collecting():
            judgement = judge_statement(planned, inputs)
            facts = judgement.facts
            figure = "" if planned.page.is_document else planned.topic.figure
            # The link shows the series of the facts, and the first range and point among them.
            series = tuple(dict.fromkeys(name for fact in facts for name in fact.series))
            points = ((one.step, one.series[0]) for one in facts if one.step is not None and one.series)
            ranges = ((one.from_step, one.to_step) for one in facts)
            spans = ((a, b) for a, b in ranges if a is not None and b is not None and a < b)
            statement = Statement(
                binding=planned.binding,
                number=planned.number,
                judgement=judgement,
                metric=describe_topic(planned.topic, inputs.sources),
                figure=figure,
                state=link_topic(planned.topic, series, next(spans, None), next(points, None))
                if figure
                else "",
            )
            found[planned.page.path] = (*found.get(planned.page.path, ()), statement)
            problems.add(_list_warnings(statement, planned.page))
    return found


def _list_warnings(statement: Statement, page: Page) -> Iterator[Diagnostic]:
    """Yield warnings about the judgement of a statement and about old names of facts."""
    binding, judgement = statement.binding, statement.judgement
    for name in dict.fromkeys(fact.name for fact in judgement.facts):
        if instead := FACTS[name].instead:
            said = f'"{name}" is an old name of a fact'
            place = binding.expression_location
            yield Diagnostic(place, said, f"Write {instead}", Stage.NARRATIVE, Severity.WARNING)
    if statement.as_expected:
        return
    rule = StatementRule.UNEXPECTED if binding.fails else StatementRule.FAILS
    if judgement.truth is Truth.UNDECIDED:
        rule = StatementRule.UNDECIDED
        said = f'"{binding.words}": {judgement.found}'
        step = "Say that it is not known, or remove the claim" if binding.kind == "claim" else ""
    elif binding.fails:
        said = f'"{binding.words}" holds, and was expected to fail ("{binding.fails}"): {judgement.found}'
        step = "Take fails= away"
    elif binding.table is not None:
        said, step = judgement.found, '"reportgen fix --write" writes it anew'
    elif binding.kind == "value":
        said = f'"{binding.words}" but {judgement.found}'
        written = "Write" if page.variables else '"reportgen fix --write" writes'  # what is read is made
        if binding.in_notebook:
            written = "In Jupyter, write"
        step = f'{written} "{judgement.repaired}"' if judgement.repaired else ""
    else:
        said = f'"{binding.words}" is not so: {judgement.found}'
        step = "Rewrite the sentence, or say with fails= why it fails"
    yield Diagnostic(binding.location, said, step, Stage.NARRATIVE, Severity.WARNING, rule=rule)


StartWorker: TypeAlias = "Callable[..., Callable[[], Any]]"
"""Function that starts a call in a worker process and returns a function that waits for its result."""

_WORTH_SHARING = 24
"""Number of blocks to draw from which a worker process saves more time than it takes to start."""


def split_plan(
    plan: Plan, sources: Mapping[str, Source], cache: Cache, start_worker: StartWorker | None
) -> tuple[Plan, Plan]:
    """Split a plan into the parts for this process and for the worker process, if it may be started.

    Every second page is for the worker process, or none if an earlier draft read most of the data: starting a
    process would take longer. Pages with a common source stay together, so that no data are read twice.
    """
    fresh = {
        source
        for source, requests in plan.requests_by_source.items()
        if not cache.has_entry(make_names_key(cache, requests, sources[source]))
    }
    blocks = [
        block
        for block in plan.blocks
        if not fresh.isdisjoint((*block.sources, *(request.source for request in block.requests)))
    ]
    if start_worker is None or len(blocks) < _WORTH_SHARING:
        return plan, Plan((), ())
    pages = list(dict.fromkeys(block.page.path for block in blocks))
    used = plan.sources_by_page
    here = {*pages, *used} - {*pages[1::2]}
    while True:
        known = {source for page, names in used.items() if page in here for source in names}
        joining = {page for page, names in used.items() if page not in here and names & known}
        if not joining:
            return plan.select_pages(here), plan.select_pages(set(pages) - here)
        here |= joining


class WorkerShare:
    """The worker process's part of a plan, which it starts to read at once."""

    def __init__(
        self,
        plan: Plan,
        project: Project,
        sources: Mapping[str, Source],
        cache: Cache,
        start_worker: StartWorker | None,
    ) -> None:
        self._plan, self._project, self._sources, self._cache = plan, project, dict(sources), cache
        self._start = start_worker if start_worker and plan.blocks else _run_at_once
        self._reading = self._start(_read, plan, project.root, self._sources, cache)
        self._drawing: Callable[[], tuple[DrawnBlocks, list[Diagnostic]]]

    def fetch_names(self, problems: Diagnostics) -> dict[Request, tuple[str, ...]]:
        """Return the series of its requests."""
        names: dict[Request, tuple[str, ...]]
        names, found = self._reading()
        problems.add(found)
        return names

    def start_drawing(self, colours: SeriesColours) -> None:
        """Start drawing, once all series have their colours."""
        self._drawing = self._start(_draw, self._plan, self._project, self._sources, colours, self._cache)

    def add_to(self, parts: DrawnBlocks, problems: Diagnostics, report_progress: ReportProgress) -> None:
        """Wait for its blocks and add them to those drawn in this process."""
        drawn, found = self._drawing()
        problems.add(found)
        parts.results |= drawn.results
        parts.keys |= drawn.keys
        parts.statements |= drawn.statements
        parts.blocks |= drawn.blocks
        for (page, _), shown in DrawnParts(drawn.blocks, 0).items():
            report_progress(page, shown)


def _run_at_once(work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401 - as elsewhere
    """Run in this process, for an empty plan or if no worker may be started."""
    result = work(*arguments)
    return lambda: result


def prepare_drawing(cache: Cache) -> None:
    """Import what reading and drawing need, and write the usual chart's specification, in an idle process."""
    for name in ("draft.blocks.charts", "figures.charts.chart", "read", "statistics.curves.mean_curves"):
        import_module(f"reportgen.{name}")
    usual = import_module("reportgen.figures.plot").USUAL_SHAPE
    import_module("reportgen.figures.live").load_chart(cache, usual)


_answers: dict[Path, ResultsStore] = {}
"""Results stores of the worker process, saved between reading and drawing."""


def _read(
    plan: Plan, root: Path, sources: dict[str, Source], cache: Cache
) -> tuple[dict[Request, tuple[str, ...]], list[Diagnostic]]:
    problems = Diagnostics()
    _answers[root] = ResultsStore(root, sources, plan.list_all_requests(), plan.places)
    return read_series_names(plan, sources, _answers[root], cache, problems), problems.found


def _draw(
    plan: Plan, project: Project, sources: dict[str, Source], colours: SeriesColours, cache: Cache
) -> tuple[DrawnBlocks, list[Diagnostic]]:
    problems = Diagnostics()
    inputs = DrawInputs(project, sources, _answers.pop(project.root), colours, cache)
    drawn = draw_blocks(plan, inputs, problems)
    drawn.blocks |= {place: one() for place, one in drawn.blocks.items() if not isinstance(one, tuple)}
    return drawn, problems.found
