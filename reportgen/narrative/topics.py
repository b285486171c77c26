"""The topics of statements and observations: a figure, a source or the page's benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.directions import find_direction
from reportgen.core.errors import Diagnostic, ReportError
from reportgen.core.model import ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.narrative.requests import (
    has_sources,
    is_about,
    list_parts,
    list_sources,
    make_benchmark_request,
    make_requests,
)
from reportgen.settings.block_parts import DataSettings, ObservationsSettings
from reportgen.settings.blocks import CurveSettings, PanelsSettings
from reportgen.settings.inputs import Page
from reportgen.settings.report import Benchmark, FrontMatter
from reportgen.settings.score_blocks import OutcomeSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import Request
    from reportgen.settings.block_parts import ValueFormat
    from reportgen.settings.inputs import Block, Source


class Topic(Struct, frozen=True):
    """One metric as the subject of statements and observations."""

    request: Request  # its curves or outcomes, as in the figure
    higher_is_better: bool | None  # None if unknown, or if neither is better
    figure: str  # id of the figure on the page that shows it, empty without one
    title: str = ""  # title of a panel, if it has one
    part: str = ""  # id of one metric of a figure that draws several in one plot
    percent: bool = False  # whether values of curves, which are shares, are written in percent


def get_ranked_metric(benchmark: Benchmark | None, source: Source) -> str | None:
    """Return the metric of a source that a benchmark ranks by, or None if its source is another."""
    if benchmark is None or not is_about(benchmark, source):
        return None
    return benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else None)


def list_percent_metrics(page: Page, source: Source) -> frozenset[str]:
    """Return the metrics of a source that a page writes in percent, as the source or any block says."""
    parts, benchmark = list_parts(source), page.front_matter.benchmark
    found = {metric for part in parts for metric in part.settings.list_percent(source.metrics)}
    only = get_ranked_metric(benchmark, source)
    for block in page.blocks:
        if {part.name for part in parts}.isdisjoint(list_sources(block, benchmark)):
            continue
        if getattr(block.settings, "format", None) == "percent":
            found.update(block.settings.list_metrics() or ((only,) if only else source.metrics))
        panels = block.settings.panels if isinstance(block.settings, PanelsSettings) else ()
        found.update(panel.name for panel in panels if panel.format == "percent")
    return frozenset(found)


def find_topics(
    of: str | None, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> tuple[Topic, ...]:
    """Return the topics of an ``of`` on a page, one for each metric or benchmark that a figure shows.

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
        if benchmark.source_name not in sources:
            raise ReportError  # its problem has been reported
        return (
            _find_topic(benchmark, sources[benchmark.source_name], page, (topics for _, topics in shown)),
        )
    by_id = dict(shown)
    if of in by_id:
        return by_id[of]
    if of in sources:
        source = sources[of]
        own = benchmark if benchmark and benchmark.source_name == of else Benchmark(name=of, source=of)
        if source.kind != "outcomes" and not own.metric and len(source.metrics) != 1:
            ids = [figure for figure, topics in by_id.items() if topics[0].request.source == of]
            message = f'source "{of}" has {len(source.metrics)} metrics, and it is unclear which one is meant'
            step = f"Name a figure that shows one{f': {quote_names(ids)}' if ids else ' of them'}"
            raise ReportError(Diagnostic(place, message, step))
        return (_find_topic(own, source, page, by_id.values()),)
    for block in page.blocks:
        if of == block.id or of in _list_figures(block):
            raise _refuse_block(block, page, sources, place)
    message = f'there is no figure "{of}" on this page, and no source of that name'
    raise ReportError(Diagnostic(place, message, list_figures(of, page)))


def find_host(of: str | None, page: Page, pages: Iterable[Page]) -> tuple[str | None, Page]:
    """Return the page that says how to read what a statement is about, and what that is called there.

    Of a page, that is the page itself. A document names a figure as ``math500.md#accuracy``, a benchmark or a
    source; of a benchmark's source, the page of the benchmark says which metric is meant.
    """
    if not page.is_document or not of:
        return of, page
    path, _, figure = of.rpartition("#")
    by_source: Page | None = None
    for one in pages:
        benchmark = one.front_matter.benchmark
        if path and one.path == path:
            return figure, one
        if benchmark and benchmark.name == of:
            return None, one
        if benchmark and benchmark.source_name == of:
            by_source = by_source or one
    return (None, by_source) if by_source else (of, page)


def _find_only_figure(page: Page, sources: Mapping[str, Source], place: SourceLocation) -> tuple[Topic, ...]:
    figures = [block for block in page.blocks if block.settings.has_topics]
    if len(figures) != 1:
        message = "the page has neither a figure nor a benchmark that this could be about"
        step = 'Add a figure to the page, or name a source with "of"'
        if figures:
            message = (
                f"the page has {len(figures)} figures and no benchmark, so it is unclear which one is meant"
            )
            step = f'Name one with "of": {quote_names(_list_page_figures(page))}'
        raise ReportError(Diagnostic(place, message, step))
    for _, topics in _iterate_shown(figures[0], page, sources):
        return topics
    raise _refuse_block(figures[0], page, sources, place)


def _find_topic(
    benchmark: Benchmark, source: Source, page: Page, shown: Iterable[tuple[Topic, ...]]
) -> Topic:
    """Return what a benchmark is ranked by, with the first figure that shows only that metric."""
    request = make_benchmark_request(benchmark, source, page)

    def is_same(other: Request) -> bool:
        """Return whether two requests are equal, ignoring smoothing and the like."""
        if isinstance(request, ScoreRequest) or isinstance(other, ScoreRequest):
            return request == other
        names = ("source", "metric", "formula", "x", "x_formula", "series", "where", "by")
        return all(getattr(request, name) == getattr(other, name) for name in names)

    same = (topics[0] for topics in shown if len(topics) == 1 and is_same(topics[0].request))
    return next(same, None) or _make_topic(request, source, page)


def list_figures(of: str, page: Page) -> str:
    """Return the next step for an unknown ``of``: the figures on the page."""
    ids = _list_page_figures(page)
    there = f"The figures of this page are {quote_names(ids)}" if ids else "This page has no figure"
    return f"{suggest_name(of, ids)}{there}"


def iterate_topics(page: Page, sources: Mapping[str, Source]) -> Iterator[Topic]:
    """Yield what the figures of a page show, as far as their sources are given.

    Raises:
        ReportError: a block requests what its source does not have.
    """
    for block in page.blocks:
        for _, topics in _iterate_shown(block, page, sources):
            yield from topics


def make_source_topic(benchmark: Benchmark, source: Source, *, declared: Benchmark | None = None) -> Topic:
    """Return what a benchmark is ranked by, without a page that shows it.

    ``benchmark`` gives the metric or benchmark of the source, ``declared`` is the benchmark of a page on the
    source.

    Raises:
        ReportError: it is unclear which metric or benchmark of the source is meant.
    """
    nowhere = Page(source.name, str(source.location), "", FrontMatter(benchmark=declared), (), "")
    nowhere = replace(nowhere, percent={source.name: list_percent_metrics(nowhere, source)})
    return _make_topic(make_benchmark_request(benchmark, source, nowhere), source, nowhere)


def list_block_sources(block: Block, page: Page) -> tuple[str, ...]:
    """Return the sources that a block uses, including a block of observations."""
    if isinstance(block.settings, ObservationsSettings):
        return list_named_sources(block.settings.of, page)
    return list_sources(block, page.front_matter.benchmark)


def is_figure(of: str, page: Page) -> bool:
    """Return whether a figure or panel of the page has this id."""
    return of in _list_page_figures(page)


def list_named_sources(of: str | None, page: Page) -> tuple[str, ...]:
    """Return the sources of an ``of``: those of the figure that it names, otherwise the source itself."""
    benchmark = page.front_matter.benchmark
    if of is None and benchmark:
        return benchmark.sources
    for block in page.blocks:
        if of in _list_figures(block) if of else block.settings.has_topics:
            return list_sources(block, benchmark)
    if not of or any(block.id == of for block in page.blocks):
        return ()
    # A name similar to a figure's is more likely a typing error than a new source.
    return () if suggest_name(of, _list_page_figures(page)) else (of,)


def list_page_sources(page: Page) -> tuple[str, ...]:
    """Return every source that a page uses, each once, in the order of the page."""
    benchmark = page.front_matter.benchmark
    names = [*benchmark.sources] if benchmark else []
    names += [name for block in page.blocks for name in list_block_sources(block, page)]
    names += [name for binding in page.bindings for name in list_named_sources(binding.of, page)]
    return tuple(dict.fromkeys(names))


def _refuse_block(
    block: Block, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> ReportError:
    """Return why statements cannot be about a block; empty if a problem of its sources explains it."""
    if not block.settings.has_topics:
        message = f'"{block.id}" is the id of a block of kind {block.kind}, which statements cannot be about'
        return ReportError(Diagnostic(place, message, list_figures("", page)))
    if not has_sources(block, page.front_matter.benchmark, sources):
        return ReportError()
    message = f'figure "{block.id}" names no source, so statements cannot be about it'
    return ReportError(Diagnostic(place, message, 'Add a line such as "source: NAME" to its block'))


def _iterate_shown(
    block: Block, page: Page, sources: Mapping[str, Source]
) -> Iterator[tuple[str, tuple[Topic, ...]]]:
    """Yield the ids of a block's figures, its own first, each with its topics."""
    benchmark, settings = page.front_matter.benchmark, block.settings
    if not isinstance(settings, DataSettings | OutcomeSettings) or not list_sources(block, benchmark):
        return
    if not has_sources(block, benchmark, sources):
        return
    requests, better = make_requests(block, page, sources), settings.higher_is_better
    opened = [sources[request.source] for request in requests]
    if not isinstance(settings, PanelsSettings):
        pairs = zip(requests, opened, strict=True)
        form = getattr(settings, "format", None)
        topics = tuple(_make_topic(*pair, page, better, formats=(form,), figure=block.id) for pair in pairs)
        if isinstance(settings, CurveSettings) and len(topics) > 1:
            parts = _list_figures(block)[1:]
            topics = tuple(replace(topic, part=part) for topic, part in zip(topics, parts, strict=True))
        if topics:
            yield block.id, topics
            yield from ((topic.part, (topic,)) for topic in topics if topic.part)
        return
    panels = tuple(
        _make_topic(
            request,
            source,
            page,
            panel.higher_is_better,
            better,
            formats=(panel.format, settings.format),
            figure=figure,
            title=panel.title or "",
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
    page: Page,
    *given: bool | None,
    formats: tuple[ValueFormat | None, ...] = (),
    figure: str = "",
    title: str = "",
) -> Topic:
    """Return a topic; ``given`` and ``formats`` are the directions and formats that panel and block state.

    The page's benchmark comes next if it is ranked by this metric; it does not apply to others.
    """
    if isinstance(request, ScoreRequest):
        return Topic(request, request.higher_is_better, figure, title)
    benchmark, stated = page.front_matter.benchmark, next(filter(None, formats), None)
    percent = stated == "percent" if stated else request.metric in page.percent.get(source.name, ())
    own = benchmark if benchmark and request.metric == get_ranked_metric(benchmark, source) else None
    given = (*given, own.higher_is_better if own else None)
    logged = source.higher_is_better.get(request.metric)
    way = find_direction(request.metric, *given, logged, ranks=own is not None)
    return Topic(request, way, figure, title, percent=percent)


def _list_figures(block: Block) -> tuple[str, ...]:
    return block.settings.list_figures(block.id)


def _list_page_figures(page: Page) -> list[str]:
    return [name for block in page.blocks for name in _list_figures(block)]
