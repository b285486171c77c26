"""What has to be drawn: every block with its page, its sources and what it asks of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names
from reportgen.draft.blocks.results import use_every_step
from reportgen.narrative.topics import find_topics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reportgen.core.model import Request
    from reportgen.core.statements import Binding
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block whose sources could be opened, with the curves or outcomes it asks for."""

    page: Page
    block: Block
    sources: tuple[str, ...]
    requests: tuple[Request, ...] = ()
    # What its observations are about: of a block of observations, and of a figure with some drawn into it.
    topics: tuple[Topic, ...] = ()
    claims: tuple[Binding, ...] = ()  # the page's claims that are drawn into it

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
    """Everything to draw and to compare with the data, in the order of the report."""

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
        return tuple(dict.fromkeys((*of_blocks, *(planned.request for planned in self.benchmarks))))

    @property
    def requests_by_source(self) -> dict[str, tuple[Request, ...]]:
        """Every request once, by the source that it asks."""
        found: dict[str, tuple[Request, ...]] = {}
        for request in self.requests:
            found[request.source] = (*found.get(request.source, ()), request)
        return found

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

    def list_all_requests(self) -> tuple[Request, ...]:
        """Every request with those of statements and observations, which need every step."""
        topics = [topic.request for planned in self.blocks for topic in planned.topics]
        topics = list(dict.fromkeys((*topics, *(one.topic.request for one in self.statements))))
        exact = [use_every_step(request) for request in topics if isinstance(request, CurveRequest)]
        return tuple(dict.fromkeys((*self.requests, *topics, *exact)))


def find_topic(binding: Binding, page: Page, sources: Mapping[str, Source]) -> Topic:
    """The one topic of a statement; raises ``ReportError`` if there is none, or several."""
    topics = find_topics(binding.of, page, sources, binding.location)
    if len(topics) == 1:
        return topics[0]
    ids = [topic.figure for topic in topics]
    what = f'"{binding.of}"' if binding.of else "the page's only figure"
    said = f"{what} shows {len(topics)} things, and it is open which is meant"
    step = f"Write of= with one of {quote_names(ids)}"
    step = step if len(set(ids)) > 1 else "Name a figure that shows one"
    raise ReportError(Diagnostic(binding.location, said, step, Stage.NARRATIVE))
