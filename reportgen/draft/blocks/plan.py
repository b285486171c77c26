"""The plan of a draft: every block with its page, its sources and its requests."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names
from reportgen.draft.blocks.results import use_every_step
from reportgen.narrative.topics import find_topics
from reportgen.settings.blocks import CurveSettings, PanelsSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from reportgen.core.model import Request
    from reportgen.core.statements import Binding
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark


class PlannedBlock(Struct, frozen=True):
    """A block whose sources could be opened, with the curves or outcomes that it requests."""

    page: Page
    block: Block
    sources: tuple[str, ...]
    requests: tuple[Request, ...] = ()
    # Topics of observations, in a block of observations or a figure that marks some.
    topics: tuple[Topic, ...] = ()
    claims: tuple[Binding, ...] = ()  # the page's claims that the figure marks
    others: tuple[PlannedBlock, ...] = ()  # the same with each other x that a reader can choose

    @property
    def curves(self) -> tuple[CurveRequest, ...]:
        """The requests for curves."""
        return tuple(request for request in self.requests if isinstance(request, CurveRequest))

    @property
    def outcomes(self) -> tuple[ScoreRequest, ...]:
        """The requests for scores."""
        return tuple(request for request in self.requests if isinstance(request, ScoreRequest))

    def list_all_requests(self) -> tuple[Request, ...]:
        """List its requests, including those with another x."""
        return (*self.requests, *(request for other in self.others for request in other.requests))


class PlannedBenchmark(Struct, frozen=True):
    """A page's benchmark with the curves or outcomes that rank its series."""

    page: Page
    benchmark: Benchmark
    request: Request
    metric_title: str = ""  # what the page's figures call the metric; empty if they use its name
    others: tuple[ScoreRequest, ...] = ()  # for other benchmarks whose series the page compares


class PlannedStatement(Struct, frozen=True):
    """A bound value or claim with its topic; ``number`` is its position on the page, from 1."""

    page: Page
    binding: Binding
    number: int
    topic: Topic


_Planned = TypeVar("_Planned", PlannedBlock, PlannedBenchmark, PlannedStatement)


def _group_by_page(planned: tuple[_Planned, ...]) -> dict[str, tuple[_Planned, ...]]:
    found: dict[str, list[_Planned]] = defaultdict(list)
    for one in planned:
        found[one.page.path].append(one)
    return {path: tuple(some) for path, some in found.items()}


class Plan(Struct, frozen=True):
    """Everything to draw and to judge, in the order of the report."""

    blocks: tuple[PlannedBlock, ...]
    benchmarks: tuple[PlannedBenchmark, ...]
    statements: tuple[PlannedStatement, ...] = ()

    @property
    def places(self) -> dict[Request, SourceLocation]:
        """Location of the first block that makes each request, or else of the page's benchmark."""
        found = {b.request: SourceLocation(b.page.file, b.benchmark.line) for b in self.benchmarks}
        blocks = reversed(self.blocks)
        return found | {request: p.block.location for p in blocks for request in p.list_all_requests()}

    @property
    def requests(self) -> tuple[Request, ...]:
        """Unique requests in the order of the report, those of benchmarks last."""
        of_blocks = (request for planned in self.blocks for request in planned.requests)
        of_benchmarks = (one for planned in self.benchmarks for one in (planned.request, *planned.others))
        return tuple(dict.fromkeys((*of_blocks, *of_benchmarks)))

    @property
    def requests_by_source(self) -> dict[str, tuple[Request, ...]]:
        """Unique requests by source."""
        found: dict[str, tuple[Request, ...]] = {}
        for request in self.requests:
            found[request.source] = (*found.get(request.source, ()), request)
        return found

    @property
    def sources_by_page(self) -> dict[str, set[str]]:
        """Sources read for each page."""
        found: dict[str, set[str]] = defaultdict(set)
        for planned in self.blocks:
            found[planned.page.path] |= {*planned.sources}
        for benchmark in self.benchmarks:
            found[benchmark.page.path].add(benchmark.request.source)
        for statement in self.statements:
            found[statement.page.path].add(statement.topic.request.source)
        return found

    def split_pages(self) -> list[Plan]:
        """Return the part of the plan for each page, in the order of the report."""
        blocks, benchmarks = _group_by_page(self.blocks), _group_by_page(self.benchmarks)
        statements = _group_by_page(self.statements)
        pages = dict.fromkeys((*blocks, *benchmarks, *statements))
        return [
            Plan(blocks.get(page, ()), benchmarks.get(page, ()), statements.get(page, ())) for page in pages
        ]

    def select_pages(self, paths: Collection[str]) -> Plan:
        """Return the part of the plan for these pages."""
        return Plan(
            tuple(planned for planned in self.blocks if planned.page.path in paths),
            tuple(planned for planned in self.benchmarks if planned.page.path in paths),
            tuple(planned for planned in self.statements if planned.page.path in paths),
        )

    def list_all_requests(self) -> tuple[Request, ...]:
        """List all unique requests, including those of statements and observations, with every step."""
        topics = [topic.request for planned in self.blocks for topic in planned.topics]
        topics = list(dict.fromkeys((*topics, *(one.topic.request for one in self.statements))))
        exact = [use_every_step(request) for request in topics if isinstance(request, CurveRequest)]
        of_blocks = [request for planned in self.blocks for request in planned.list_all_requests()]
        return tuple(dict.fromkeys((*self.requests, *of_blocks, *topics, *exact)))


def plan_benchmark(
    page: Page, benchmark: Benchmark, request: Request, blocks: Sequence[PlannedBlock]
) -> PlannedBenchmark:
    """Plan a page's benchmark; ``blocks`` are those of the page."""
    if isinstance(request, CurveRequest):
        return PlannedBenchmark(page, benchmark, request, _find_metric_title(blocks, request))
    compared = (
        one for planned in blocks if planned.block.settings.compares_pairs for one in planned.outcomes
    )
    # Scored in the same way, so that one overview can show the verdicts of both.
    others = (
        one for one in compared if replace(request, benchmark=one.benchmark) == replace(one, family_blocks=1)
    )
    same = dict.fromkeys(replace(one, family_blocks=1) for one in others)
    return PlannedBenchmark(page, benchmark, request, others=tuple(one for one in same if one != request))


def _find_metric_title(blocks: Iterable[PlannedBlock], request: CurveRequest) -> str:
    """Return what the first figure that gives a metric a title calls it, or an empty string."""
    for planned in blocks:
        settings, metrics = planned.block.settings, [(one.source, one.metric) for one in planned.curves]
        if (request.source, request.metric) not in metrics:
            continue
        title: str | None = None
        if isinstance(settings, PanelsSettings):
            titles = (one.title or one.y_title for one in settings.panels if one.name == request.metric)
            title = next(titles, None)
        elif isinstance(settings, CurveSettings) and len(metrics) == 1:
            title = settings.y_title
        if title:
            return title
    return ""


def find_topic(binding: Binding, page: Page, sources: Mapping[str, Source]) -> Topic:
    """Return the topic of a statement; raise ``ReportError`` if there are none or several."""
    topics = find_topics(binding.of, page, sources, binding.location)
    if len(topics) == 1:
        return topics[0]
    ids = [topic.part or topic.figure for topic in topics]
    what = f'"{binding.of}"' if binding.of else "the page's only figure"
    said = f"{what} shows {len(topics)} metrics or benchmarks, and it is unclear which one is meant"
    step = f"Name one with of=: {quote_names(ids)}"
    shown = dict.fromkeys(getattr(one.request, "benchmark", None) or one.request.metric for one in topics)
    step = step if len(set(ids)) > 1 else f"Name a figure that shows one of {quote_names(tuple(shown))}"
    raise ReportError(Diagnostic(binding.location, said, step, Stage.NARRATIVE))
