"""What has to be drawn: every block with its page, its sources and what it asks of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.errors import Place
from reportgen.model import CurveRequest, ScoreRequest
from reportgen.narrative.requests import benchmark_request, requests_of, source_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reportgen.errors import Problems
    from reportgen.model import Block, Page, Request, Source
    from reportgen.settings.front_matter import Benchmark


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block whose sources could be opened, with the curves or outcomes it asks for."""

    page: Page
    block: Block
    sources: tuple[str, ...]
    requests: tuple[Request, ...]

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
class Plan:
    """Everything to draw, in the order of the report."""

    blocks: tuple[PlannedBlock, ...]
    benchmarks: tuple[PlannedBenchmark, ...]

    @property
    def places(self) -> dict[Request, Place]:
        """The first block, or the page of the benchmark, that asks for each request."""
        found = {planned.request: Place(planned.page.file) for planned in self.benchmarks}
        for planned in reversed(self.blocks):
            found.update(dict.fromkeys(planned.requests, planned.block.place))
        return found

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request once, in the order of the report."""
        of_blocks = (request for planned in self.blocks for request in planned.requests)
        of_benchmarks = (planned.request for planned in self.benchmarks)
        return tuple(dict.fromkeys((*of_blocks, *of_benchmarks)))

    @property
    def requests_by_source(self) -> dict[str, tuple[Request, ...]]:
        """Every request once, by the source that it asks."""
        found: dict[str, list[Request]] = defaultdict(list)
        for request in self.requests:
            found[request.source].append(request)
        return {source: tuple(requests) for source, requests in found.items()}

    def of_pages(self, paths: Collection[str]) -> Plan:
        """The part of the plan that belongs to these pages."""
        return Plan(
            tuple(planned for planned in self.blocks if planned.page.path in paths),
            tuple(planned for planned in self.benchmarks if planned.page.path in paths),
        )


def plan_of(pages: tuple[Page, ...], sources: Mapping[str, Source], problems: Problems) -> Plan:
    """Plan every block; one whose source could not be opened is passed over, its problem is known."""
    blocks: list[PlannedBlock] = []
    benchmarks: list[PlannedBenchmark] = []
    for page in pages:
        benchmark = page.front_matter.benchmark
        if benchmark and benchmark.source in sources:
            with problems.collecting():
                request = benchmark_request(benchmark, sources[benchmark.source], page)
                benchmarks.append(PlannedBenchmark(page, benchmark, request))
        for block in page.blocks:
            named = source_names(block, benchmark)
            if all(name in sources for name in named):
                with problems.collecting():
                    blocks.append(PlannedBlock(page, block, named, requests_of(block, benchmark, sources)))
    return Plan(tuple(blocks), tuple(benchmarks))
