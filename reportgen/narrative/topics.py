"""What statements and observations are about: a figure, a source or the page's benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.core.directions import find_direction
from reportgen.core.errors import Diagnostic, ReportError
from reportgen.core.model import ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.narrative.requests import list_sources, make_benchmark_request, make_requests
from reportgen.settings.blocks import DataSettings, ObservationsSettings, OutcomeSettings, PanelsSettings
from reportgen.settings.inputs import Page
from reportgen.settings.report import Benchmark, FrontMatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import Request
    from reportgen.settings.inputs import Block, Source


def get_ranked_metric(benchmark: Benchmark | None, source: Source) -> str | None:
    """The metric of a source that a benchmark ranks its series by; None of another source's benchmark."""
    if benchmark is None or benchmark.source != source.name:
        return None
    return benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else None)


def choose_direction(
    metric: str, benchmark: Benchmark | None, source: Source, *said: bool | None
) -> bool | None:
    """Whether a larger value is better; None where that is not known, or where neither is.

    Args:
        metric: a metric of the source.
        benchmark: the page's, which counts if it is ranked by this metric: of another it says nothing.
        source: where the metric stands.
        said: what panel and block say, before the benchmark.
    """
    own = benchmark if benchmark and metric == get_ranked_metric(benchmark, source) else None
    return find_direction(metric, *said, own.higher_is_better if own else None, ranks=own is not None)


@dataclass(frozen=True, slots=True)
class Topic:
    """One metric that something is said about.

    Attributes:
        request: its curves or outcomes, as the figure asks for them.
        higher_is_better: whether a larger value is better; None where that is not known, or neither is.
        figure: the id of the figure on the page that shows it; empty where none does.
        title: what the page calls it, of a panel that has a title; otherwise empty.
    """

    request: Request
    higher_is_better: bool | None
    figure: str
    title: str = ""


def find_topics(
    of: str | None, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> tuple[Topic, ...]:
    """The topics that an ``of`` names, one for each metric or benchmark that a figure shows.

    Args:
        of: the id of a figure or panels of the page, a source, or None for the page's benchmark.
        page: the page that says it.
        sources: every source that could be opened.
        place: where it is said, for problems.

    Raises:
        ReportError: there is no such figure or source, or nothing is named and the page has no benchmark.
    """
    if of is None:
        return _find_page_topics(page, sources, place)
    shown = {
        topic_id: topic for block in page.blocks for topic_id, topic in _iterate_shown(block, page, sources)
    }
    if of in shown:
        return shown[of]
    if of in sources:
        return (_find_source_topic(of, page, sources[of], shown, place),)
    named = [block for block in page.blocks if of == block.id or of in _list_figures(block)]
    if named:
        raise _explain_no_topics(named[0], page, sources, place)
    said = f'there is no figure "{of}" on this page, and no source of that name'
    raise ReportError(Diagnostic(place, said, list_figures(of, page)))


def list_figures(of: str, page: Page) -> str:
    """A next step for an ``of`` that names nothing: which figures there are on the page."""
    ids = _list_page_figures(page)
    there = f"The figures of this page are {quote_names(ids)}" if ids else "This page has no figure"
    return f"{suggest_name(of, ids)}{there}"


def iterate_topics(page: Page, sources: Mapping[str, Source]) -> Iterator[Topic]:
    """What the figures of a page show, as far as their sources are given.

    Raises:
        ReportError: a block asks for what its source does not have.
    """
    for block in page.blocks:
        for _, topics in _iterate_shown(block, page, sources):
            yield from topics


def make_source_topic(benchmark: Benchmark, source: Source, *, declared: Benchmark | None = None) -> Topic:
    """What a benchmark is ranked by, without a page that shows it.

    Args:
        benchmark: which metric or benchmark of the source is meant.
        source: the source.
        declared: the benchmark of a page that is about the source.

    Raises:
        ReportError: it is open which metric or benchmark of the source is meant.
    """
    nowhere = Page(source.name, str(source.location), "", FrontMatter(), (), "")
    request = make_benchmark_request(benchmark, source, nowhere)
    return _make_topic(request, declared, source)


def list_block_sources(block: Block, page: Page) -> tuple[str, ...]:
    """The sources behind a block, one of observations included."""
    benchmark = page.front_matter.benchmark
    if not isinstance(block.settings, ObservationsSettings):
        return list_sources(block, benchmark)
    return list_named_sources(block.settings.of, page)


def is_figure(of: str, page: Page) -> bool:
    """Whether a figure or panel of the page has this id."""
    return of in _list_page_figures(page)


def list_named_sources(of: str | None, page: Page) -> tuple[str, ...]:
    """The sources behind an ``of``: of the figure that it names, otherwise it is a source itself."""
    benchmark = page.front_matter.benchmark
    if of is None and benchmark:
        return (benchmark.source,)
    meant = (of in _list_figures(block) if of else block.settings.has_topics for block in page.blocks)
    blocks = [block for block, is_meant in zip(page.blocks, meant, strict=True) if is_meant]
    if blocks:
        return list_sources(blocks[0], benchmark)
    if not of or any(block.id == of for block in page.blocks):
        return ()
    # What is more like a figure of the page is hardly a source that nobody has seen yet.
    return () if suggest_name(of, _list_page_figures(page)) else (of,)


def list_page_sources(page: Page) -> tuple[str, ...]:
    """Every source behind a page, each once, in the order of the page."""
    benchmark = page.front_matter.benchmark
    names = [benchmark.source] if benchmark else []
    names += [name for block in page.blocks for name in list_block_sources(block, page)]
    names += [name for binding in page.bindings for name in list_named_sources(binding.of, page)]
    return tuple(dict.fromkeys(names))


def _find_page_topics(page: Page, sources: Mapping[str, Source], place: SourceLocation) -> tuple[Topic, ...]:
    """The page's benchmark, with the first figure that shows it; without one, the page's only figure."""
    benchmark = page.front_matter.benchmark
    if benchmark is None:
        figures = [block for block in page.blocks if block.settings.has_topics]
        if len(figures) == 1:
            for _, topics in _iterate_shown(figures[0], page, sources):
                return topics
            raise _explain_no_topics(figures[0], page, sources, place)
        said = "it is not said what this is about, and the page has no benchmark"
        step = f"Name a figure with of=: {quote_names(_list_page_figures(page)) or 'there is none'}"
        raise ReportError(Diagnostic(place, said, step))
    if benchmark.source not in sources:
        # Its problem is known already.
        raise ReportError
    source = sources[benchmark.source]
    request = make_benchmark_request(benchmark, source, page)
    shown = (topics for block in page.blocks for _, topics in _iterate_shown(block, page, sources))
    return (_find_same(request, shown) or _make_topic(request, benchmark, source),)


def _find_source_topic(
    name: str, page: Page, source: Source, shown: Mapping[str, tuple[Topic, ...]], place: SourceLocation
) -> Topic:
    benchmark = page.front_matter.benchmark
    own = benchmark if benchmark and benchmark.source == name else Benchmark(name=name, source=name)
    if source.kind != "outcomes" and not own.metric and len(source.metrics) != 1:
        ids = [topic_id for topic_id, topics in shown.items() if topics[0].request.source == name]
        said = f'source "{name}" has {len(source.metrics)} metrics, and it is open which is meant'
        step = f"Name a figure that shows one{f': {quote_names(ids)}' if ids else ' of them'}"
        raise ReportError(Diagnostic(place, said, step))
    request = make_benchmark_request(own, source, page)
    return _find_same(request, shown.values()) or _make_topic(request, benchmark, source)


def _find_same(request: Request, shown: Iterable[tuple[Topic, ...]]) -> Topic | None:
    """The first figure that shows what is asked for alone: all series of one metric, however smooth."""

    def is_same(other: Request) -> bool:
        if isinstance(request, ScoreRequest) or isinstance(other, ScoreRequest):
            return request == other
        same = ("source", "metric", "x", "series", "where")
        return all(getattr(request, name) == getattr(other, name) for name in same)

    return next((topics[0] for topics in shown if len(topics) == 1 and is_same(topics[0].request)), None)


def _explain_no_topics(
    block: Block, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> ReportError:
    """Why nothing can be said about a block; empty where a problem of its sources says it."""
    if not block.settings.has_topics:
        said = f'"{block.id}" is the id of a block of kind {block.kind}, which statements cannot be about'
        return ReportError(Diagnostic(place, said, list_figures("", page)))
    if any(name not in sources for name in list_sources(block, page.front_matter.benchmark)):
        return ReportError()
    said = f'figure "{block.id}" names no source, so statements cannot be about it'
    return ReportError(Diagnostic(place, said, 'Add a line such as "source: NAME" to its block'))


def _iterate_shown(
    block: Block, page: Page, sources: Mapping[str, Source]
) -> Iterator[tuple[str, tuple[Topic, ...]]]:
    """Ids of a block's figures, its own first, each with what it shows."""
    benchmark, settings = page.front_matter.benchmark, block.settings
    names = list_sources(block, benchmark)
    if not isinstance(settings, DataSettings | OutcomeSettings) or not names:
        return
    if not all(name in sources for name in names):
        return
    requests, better = make_requests(block, page, sources), settings.higher_is_better
    opened = [sources[request.source] for request in requests]
    if not isinstance(settings, PanelsSettings):
        topics = (
            _make_topic(request, benchmark, source, better, figure=block.id)
            for request, source in zip(requests, opened, strict=True)
        )
        if requests:
            yield block.id, tuple(topics)
        return
    _, *ids = _list_figures(block)
    panels = tuple(
        _make_topic(
            request, benchmark, source, panel.higher_is_better, better, figure=figure, title=panel.title or ""
        )
        for request, source, panel, figure in zip(requests, opened, settings.panels, ids, strict=True)
    )
    yield block.id, panels
    yield from ((panel.figure, (panel,)) for panel in panels)


def _make_topic(
    request: Request,
    benchmark: Benchmark | None,
    source: Source,
    *said: bool | None,
    figure: str = "",
    title: str = "",
) -> Topic:
    """A topic; ``said`` is which way panel and block say is better, before the benchmark."""
    if isinstance(request, ScoreRequest):
        return Topic(request, request.higher_is_better, figure, title)
    return Topic(request, choose_direction(request.metric, benchmark, source, *said), figure, title)


def _list_figures(block: Block) -> tuple[str, ...]:
    return block.settings.list_figures(block.id)


def _list_page_figures(page: Page) -> list[str]:
    return [name for block in page.blocks for name in _list_figures(block)]
