"""What has to be drawn: every block with its page, its sources and what it asks of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.blocks.results import use_every_step
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names
from reportgen.narrative.requests import make_benchmark_request, make_requests
from reportgen.narrative.topics import find_topics, list_block_sources, list_named_sources
from reportgen.settings.blocks import CurveSettings, ObservationsSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from reportgen.core.model import Request
    from reportgen.core.statements import Binding
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark


OBSERVATIONS = "observations"
"""What ``annotate`` calls the observations of its figure."""


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block whose sources could be opened, with the curves or outcomes it asks for.

    ``topics`` are what its observations are about: of a block of observations, and of a figure that has
    some drawn into it. ``claims`` are the page's claims that are drawn into it.
    """

    page: Page
    block: Block
    sources: tuple[str, ...]
    requests: tuple[Request, ...]
    topics: tuple[Topic, ...] = ()
    claims: tuple[Binding, ...] = ()

    @property
    def curves(self) -> tuple[CurveRequest, ...]:
        """Its requests, of a block that draws curves."""
        return tuple(request for request in self.requests if isinstance(request, CurveRequest))

    @property
    def outcomes(self) -> tuple[ScoreRequest, ...]:
        """Its requests, of a block about scores."""
        return tuple(request for request in self.requests if isinstance(request, ScoreRequest))


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """A page's benchmark and the curves or outcomes that rank its series."""

    page: Page
    benchmark: Benchmark
    request: Request


@dataclass(frozen=True, slots=True)
class PlannedStatement:
    """A bound value or claim and what it is about; ``number`` counts the statements of its page from 1."""

    page: Page
    binding: Binding
    number: int
    topic: Topic


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything to draw and to hold against the data, in the order of the report."""

    blocks: tuple[PlannedBlock, ...]
    benchmarks: tuple[PlannedBenchmark, ...]
    statements: tuple[PlannedStatement, ...] = ()

    @property
    def places(self) -> dict[Request, SourceLocation]:
        """The first block, or the page of the benchmark, that asks for each request."""
        found = {b.request: SourceLocation(b.page.file, b.benchmark.line) for b in self.benchmarks}
        blocks = reversed(self.blocks)
        return found | {request: p.block.location for p in blocks for request in p.requests}

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request once, in the order of the report."""
        of_blocks = (request for planned in self.blocks for request in planned.requests)
        of_benchmarks = (planned.request for planned in self.benchmarks)
        return tuple(dict.fromkeys((*of_blocks, *of_benchmarks)))

    @property
    def topics(self) -> dict[Topic, SourceLocation]:
        """Every topic of statements and observations once, with the first place that names it."""
        found: dict[Topic, SourceLocation] = {}
        for planned in self.blocks:
            for topic in planned.topics:
                found.setdefault(topic, planned.block.location)
        for one in self.statements:
            found.setdefault(one.topic, one.binding.location)
        return found

    @property
    def requests_by_source(self) -> dict[str, tuple[Request, ...]]:
        """Every request once, by the source that it asks."""
        found: dict[str, list[Request]] = defaultdict(list)
        for request in self.requests:
            found[request.source].append(request)
        return {source: tuple(requests) for source, requests in found.items()}

    @property
    def sources_by_page(self) -> dict[str, set[str]]:
        """The sources that each page's part of the plan reads."""
        found: dict[str, set[str]] = defaultdict(set)
        for planned in self.blocks:
            found[planned.page.path] |= {*planned.sources}
        for benchmark in self.benchmarks:
            found[benchmark.page.path].add(benchmark.request.source)
        for statement in self.statements:
            found[statement.page.path].add(statement.topic.request.source)
        return found

    def select_pages(self, paths: Collection[str]) -> Plan:
        """The part of the plan that belongs to these pages."""
        return Plan(
            tuple(planned for planned in self.blocks if planned.page.path in paths),
            tuple(planned for planned in self.benchmarks if planned.page.path in paths),
            tuple(planned for planned in self.statements if planned.page.path in paths),
        )


def plan_report(pages: tuple[Page, ...], sources: Mapping[str, Source], problems: Diagnostics) -> Plan:
    """Plan every block and statement; one whose source could not be opened is passed over: that is told."""
    blocks: list[PlannedBlock] = []
    benchmarks: list[PlannedBenchmark] = []
    statements: list[PlannedStatement] = []
    for page in pages:
        benchmark = page.front_matter.benchmark
        if benchmark and benchmark.source in sources:
            with problems.collecting():
                request = make_benchmark_request(benchmark, sources[benchmark.source], page)
                benchmarks.append(PlannedBenchmark(page, benchmark, request))
        for block in page.blocks:
            if all(name in sources for name in list_block_sources(block, page)):
                with problems.collecting():
                    blocks.append(_plan_block(block, page, sources))
        statements += _plan_statements(page, sources, problems)
    return Plan(tuple(blocks), tuple(benchmarks), tuple(statements))


def _plan_statements(
    page: Page, sources: Mapping[str, Source], problems: Diagnostics
) -> Iterator[PlannedStatement]:
    """The statements of a page; most of them are about one topic, which is looked up once."""
    topics: dict[str | None, Topic] = {}
    for number, binding in enumerate(page.bindings, start=1):
        if binding.of not in topics and any(
            name not in sources for name in list_named_sources(binding.of, page)
        ):
            continue
        with problems.collecting():
            if binding.of not in topics:
                topics[binding.of] = _find_topic(binding, page, sources)
            yield PlannedStatement(page, binding, number, topics[binding.of])


def _plan_block(block: Block, page: Page, sources: Mapping[str, Source]) -> PlannedBlock:
    names, settings = list_block_sources(block, page), block.settings
    if isinstance(settings, ObservationsSettings):
        topics = find_topics(settings.of, page, sources, block.location)
        return PlannedBlock(page, block, names, (), topics)
    requests = make_requests(block, page, sources)
    if not isinstance(settings, CurveSettings) or not settings.annotate:
        return PlannedBlock(page, block, names, requests)
    topics = find_topics(block.id, page, sources, block.location)
    problems = Diagnostics()
    claims = []
    for name in settings.annotate:
        if name != OBSERVATIONS:
            with problems.collecting():
                claims.append(_find_claim(name, block, page, sources, topics[0]))
    problems.raise_errors()
    return PlannedBlock(page, block, names, requests, topics, tuple(claims))


def _find_claim(name: str, block: Block, page: Page, sources: Mapping[str, Source], topic: Topic) -> Binding:
    """The claim of a name, to be drawn into the block's figure.

    Raises:
        ReportError: the page has none, or several, or it is about something else than the figure.
    """
    claims = [binding for binding in page.bindings if binding.name == name]
    if len(claims) != 1:
        known = tuple(dict.fromkeys(binding.name for binding in page.bindings if binding.name))
        said = f'"annotate: {name}" names {len(claims) or "no"} claim{"s" if claims else ""} of this page'
        step = f"Name a claim of this page: {quote_names(known) or 'none has a name yet'}"
        step = "Give each claim a name of its own" if claims else step
    elif _find_topic(claims[0], page, sources).request != topic.request:
        said = f'the claim "{name}" is about something else than this figure'
        step = f'Give the claim of="{block.id}"'
    else:
        return claims[0]
    raise ReportError(Diagnostic(block.location, said, step, Stage.NARRATIVE))


def _find_topic(binding: Binding, page: Page, sources: Mapping[str, Source]) -> Topic:
    """The one topic of a statement.

    Raises:
        ReportError: there is none, or several.
    """
    topics = find_topics(binding.of, page, sources, binding.location)
    if len(topics) == 1:
        return topics[0]
    ids = [topic.figure for topic in topics]
    what = f'"{binding.of}"' if binding.of else "the page's only figure"
    said = f"{what} shows {len(topics)} things, and it is open which is meant"
    named = (
        f"Write of= with one of {quote_names(ids)}" if len(set(ids)) > 1 else "Name a figure that shows one"
    )
    raise ReportError(Diagnostic(binding.location, said, named, Stage.NARRATIVE))


def list_requests(plan: Plan) -> tuple[Request, ...]:
    """Every request of a plan with those of its statements and observations, which want every step."""
    topics = [topic.request for topic in plan.topics]
    exact = [use_every_step(request) for request in topics if isinstance(request, CurveRequest)]
    return tuple(dict.fromkeys((*plan.requests, *topics, *exact)))
