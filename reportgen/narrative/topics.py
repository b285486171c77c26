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


@dataclass(frozen=True, slots=True)
class Topic:
    """One metric that something is said about."""

    request: Request  # its curves or outcomes, as the figure shows them
    higher_is_better: bool | None  # None where that is not known, or neither is
    figure: str  # the id of the figure on the page that shows it; empty where none does
    title: str = ""  # of a panel that has a title


def get_ranked_metric(benchmark: Benchmark | None, source: Source) -> str | None:
    """The metric of a source that a benchmark ranks its series by; None of another source's benchmark."""
    if benchmark is None or benchmark.source != source.name:
        return None
    return benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else None)


def find_topics(
    of: str | None, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> tuple[Topic, ...]:
    """The topics that an ``of`` on a page names, one for each metric or benchmark that a figure shows.

    ``of`` is the id of a figure or panels of the page, a source, or None for the page's benchmark, or its
    only figure; ``place`` is where it is written, and ``sources`` are those that could be opened.

    Raises:
        ReportError: there is no such figure or source, or nothing is named and the page has no benchmark.
    """
    benchmark = page.front_matter.benchmark
    shown = (pair for block in page.blocks for pair in _iterate_shown(block, page, sources))
    if of is None:
        if benchmark is None:
            return _find_only_figure(page, sources, place)
        if benchmark.source not in sources:
            raise ReportError  # its problem is known already
        return (_find_topic(benchmark, sources[benchmark.source], page, (topics for _, topics in shown)),)
    by_id = dict(shown)
    if of in by_id:
        return by_id[of]
    if of in sources:
        source = sources[of]
        own = benchmark if benchmark and benchmark.source == of else Benchmark(name=of, source=of)
        if source.kind != "outcomes" and not own.metric and len(source.metrics) != 1:
            ids = [figure for figure, topics in by_id.items() if topics[0].request.source == of]
            message = f'source "{of}" has {len(source.metrics)} metrics, and it is open which is meant'
            step = f"Name a figure that shows one{f': {quote_names(ids)}' if ids else ' of them'}"
            raise ReportError(Diagnostic(place, message, step))
        return (_find_topic(own, source, page, by_id.values()),)
    for block in page.blocks:
        if of == block.id or of in _list_figures(block):
            raise _refuse_block(block, page, sources, place)
    message = f'there is no figure "{of}" on this page, and no source of that name'
    raise ReportError(Diagnostic(place, message, list_figures(of, page)))


def _find_only_figure(page: Page, sources: Mapping[str, Source], place: SourceLocation) -> tuple[Topic, ...]:
    figures = [block for block in page.blocks if block.settings.has_topics]
    if len(figures) != 1:
        message = "it is not said what this is about, and the page has no benchmark"
        step = f"Name a figure with of=: {quote_names(_list_page_figures(page)) or 'there is none'}"
        raise ReportError(Diagnostic(place, message, step))
    for _, topics in _iterate_shown(figures[0], page, sources):
        return topics
    raise _refuse_block(figures[0], page, sources, place)


def _find_topic(
    benchmark: Benchmark, source: Source, page: Page, shown: Iterable[tuple[Topic, ...]]
) -> Topic:
    """What a benchmark is ranked by, with the first figure that shows just that: one metric of all series."""
    request = make_benchmark_request(benchmark, source, page)

    def is_same(other: Request) -> bool:
        """Smoothing and the like make no difference."""
        if isinstance(request, ScoreRequest) or isinstance(other, ScoreRequest):
            return request == other
        names = ("source", "metric", "x", "series", "where")
        return all(getattr(request, name) == getattr(other, name) for name in names)

    same = (topics[0] for topics in shown if len(topics) == 1 and is_same(topics[0].request))
    return next(same, None) or _make_topic(request, source, page.front_matter.benchmark)


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

    ``benchmark`` says which metric or benchmark of the source is meant, ``declared`` is the one of a page
    about the source.

    Raises:
        ReportError: it is open which metric or benchmark of the source is meant.
    """
    nowhere = Page(source.name, str(source.location), "", FrontMatter(), (), "")
    return _make_topic(make_benchmark_request(benchmark, source, nowhere), source, declared)


def list_block_sources(block: Block, page: Page) -> tuple[str, ...]:
    """The sources behind a block, one of observations included."""
    if isinstance(block.settings, ObservationsSettings):
        return list_named_sources(block.settings.of, page)
    return list_sources(block, page.front_matter.benchmark)


def is_figure(of: str, page: Page) -> bool:
    """Whether a figure or panel of the page has this id."""
    return of in _list_page_figures(page)


def list_named_sources(of: str | None, page: Page) -> tuple[str, ...]:
    """The sources behind an ``of``: of the figure that it names, otherwise it is a source itself."""
    benchmark = page.front_matter.benchmark
    if of is None and benchmark:
        return (benchmark.source,)
    for block in page.blocks:
        if of in _list_figures(block) if of else block.settings.has_topics:
            return list_sources(block, benchmark)
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


def _refuse_block(
    block: Block, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> ReportError:
    """Why nothing can be said about a block; empty where a problem of its sources says it."""
    if not block.settings.has_topics:
        message = f'"{block.id}" is the id of a block of kind {block.kind}, which statements cannot be about'
        return ReportError(Diagnostic(place, message, list_figures("", page)))
    if any(name not in sources for name in list_sources(block, page.front_matter.benchmark)):
        return ReportError()
    message = f'figure "{block.id}" names no source, so statements cannot be about it'
    return ReportError(Diagnostic(place, message, 'Add a line such as "source: NAME" to its block'))


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
        pairs = zip(requests, opened, strict=True)
        if requests:
            yield block.id, tuple(_make_topic(*pair, benchmark, better, figure=block.id) for pair in pairs)
        return
    panels = tuple(
        _make_topic(
            request, source, benchmark, panel.higher_is_better, better, figure=figure, title=panel.title or ""
        )
        for request, source, panel, figure in zip(
            requests, opened, settings.panels, _list_figures(block)[1:], strict=True
        )
    )
    yield block.id, panels
    yield from ((panel.figure, (panel,)) for panel in panels)


def _make_topic(
    request: Request,
    source: Source,
    benchmark: Benchmark | None,
    *given: bool | None,
    figure: str = "",
    title: str = "",
) -> Topic:
    """A topic; ``given`` is which way panel and block say is better.

    Then the page's benchmark counts if it is ranked by this metric: of another it says nothing.
    """
    if isinstance(request, ScoreRequest):
        return Topic(request, request.higher_is_better, figure, title)
    own = benchmark if benchmark and request.metric == get_ranked_metric(benchmark, source) else None
    given = (*given, own.higher_is_better if own else None)
    return Topic(request, find_direction(request.metric, *given, ranks=own is not None), figure, title)


def _list_figures(block: Block) -> tuple[str, ...]:
    return block.settings.list_figures(block.id)


def _list_page_figures(page: Page) -> list[str]:
    return [name for block in page.blocks for name in _list_figures(block)]
