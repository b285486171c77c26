"""What statements and observations are about: a figure, a source or the page's benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.core.directions import find_direction
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.narrative.requests import list_sources, make_benchmark_request, make_requests
from reportgen.settings.blocks import DataSettings, ObservationsSettings, OutcomeSettings, PanelsSettings
from reportgen.settings.inputs import Page
from reportgen.settings.report import Benchmark, FrontMatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    named = [block for block in page.blocks if of == block.id or of in _list_ids(block)]
    if named:
        raise _explain_no_topics(named[0], page, sources, place)
    said = f'there is no figure "{of}" on this page, and no source of that name'
    raise ReportError(_make_problem(place, said, list_figures(of, page)))


def list_figures(of: str, page: Page) -> str:
    """A next step for an ``of`` that names nothing: which figures there are on the page."""
    ids = [name for block in page.blocks for name in _list_ids(block)]
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
    return Topic(request, _get_direction(request, declared, source), "")


def list_block_sources(block: Block, page: Page) -> tuple[str, ...]:
    """The sources behind a block, one of observations included."""
    benchmark = page.front_matter.benchmark
    if not isinstance(block.settings, ObservationsSettings):
        return list_sources(block, benchmark)
    return list_named_sources(block.settings.of, page)


def is_figure(of: str, page: Page) -> bool:
    """Whether a figure or panel of the page has this id."""
    return any(of in _list_ids(block) for block in page.blocks)


def list_named_sources(of: str | None, page: Page) -> tuple[str, ...]:
    """The sources behind an ``of``: of the figure that it names, otherwise it is a source itself."""
    benchmark = page.front_matter.benchmark
    if of is None and benchmark:
        return (benchmark.source,)
    blocks = [block for block in page.blocks if of in _list_ids(block)] if of else _select_with_data(page)
    if blocks:
        return list_sources(blocks[0], benchmark)
    is_other = any(block.id == of for block in page.blocks)
    return (of,) if of and not is_other and not _is_misspelt(of, page) else ()


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
        figures = _select_with_data(page)
        if len(figures) == 1:
            for _, topics in _iterate_shown(figures[0], page, sources):
                return topics
            raise _explain_no_topics(figures[0], page, sources, place)
        said = "it is not said what this is about, and the page has no benchmark"
        ids = [name for block in figures for name in _list_ids(block)]
        raise ReportError(
            _make_problem(place, said, f"Name a figure with of=: {quote_names(ids) or 'there is none'}")
        )
    if benchmark.source not in sources:
        # Its problem is known already.
        raise ReportError
    request = make_benchmark_request(benchmark, sources[benchmark.source], page)
    for block in page.blocks:
        for _, topics in _iterate_shown(block, page, sources):
            if len(topics) == 1 and _is_same(topics[0].request, request):
                return topics
    return (Topic(request, _get_direction(request, benchmark, sources[benchmark.source]), ""),)


def _explain_no_topics(
    block: Block, page: Page, sources: Mapping[str, Source], place: SourceLocation
) -> ReportError:
    """Why nothing can be said about a block; empty where a problem of its sources says it."""
    if not _has_data(block):
        said = f'"{block.id}" is the id of a block of kind {block.kind}, which statements cannot be about'
        return ReportError(_make_problem(place, said, list_figures("", page)))
    names = list_sources(block, page.front_matter.benchmark)
    if any(name not in sources for name in names):
        return ReportError()
    said = f'figure "{block.id}" names no source, so statements cannot be about it'
    return ReportError(_make_problem(place, said, 'Add a line such as "source: NAME" to its block'))


def _find_source_topic(
    name: str, page: Page, source: Source, shown: Mapping[str, tuple[Topic, ...]], place: SourceLocation
) -> Topic:
    benchmark = page.front_matter.benchmark
    own = benchmark if benchmark and benchmark.source == name else Benchmark(name=name, source=name)
    if source.kind != "outcomes" and not own.metric and len(source.metrics) != 1:
        ids = [topic_id for topic_id, topics in shown.items() if topics[0].request.source == name]
        said = f'source "{name}" has {len(source.metrics)} metrics, and it is open which is meant'
        step = (
            f"Name a figure that shows one: {quote_names(ids)}"
            if ids
            else "Name a figure that shows one of them"
        )
        raise ReportError(_make_problem(place, said, step))
    request = make_benchmark_request(own, source, page)
    same = (
        topics[0] for topics in shown.values() if len(topics) == 1 and _is_same(topics[0].request, request)
    )
    return next(same, Topic(request, _get_direction(request, benchmark, source), ""))


def _iterate_shown(
    block: Block, page: Page, sources: Mapping[str, Source]
) -> Iterator[tuple[str, tuple[Topic, ...]]]:
    """Ids of a block's figures, its own first, each with what it shows."""
    benchmark, settings = page.front_matter.benchmark, block.settings
    names = list_sources(block, benchmark)
    if not _has_data(block) or not names or not all(name in sources for name in names):
        return
    requests = make_requests(block, page, sources)
    if not requests:
        return
    if isinstance(settings, PanelsSettings):
        said = [None if isinstance(metric, str) else metric.higher_is_better for metric in settings.metrics]
        panels = tuple(
            Topic(
                request,
                _get_direction(request, benchmark, sources[request.source], own, settings.higher_is_better),
                f"{block.id}-{number}",
                "" if isinstance(metric, str) else metric.title or "",
            )
            for number, (request, metric, own) in enumerate(
                zip(requests, settings.metrics, said, strict=True), start=1
            )
        )
        yield block.id, panels
        yield from ((panel.figure, (panel,)) for panel in panels)
        return
    block_says = settings.higher_is_better if isinstance(settings, DataSettings | OutcomeSettings) else None
    yield (
        block.id,
        tuple(
            Topic(request, _get_direction(request, benchmark, sources[request.source], block_says), block.id)
            for request in requests
        ),
    )


def _get_direction(
    request: Request, benchmark: Benchmark | None, source: Source, *said: bool | None
) -> bool | None:
    if isinstance(request, ScoreRequest):
        return request.higher_is_better
    return choose_direction(request.metric, benchmark, source, *said)


def _is_same(shown: Request, other: Request) -> bool:
    """Whether a figure shows what is asked for: all series of one metric, however smooth."""
    if isinstance(shown, ScoreRequest) or isinstance(other, ScoreRequest):
        return shown == other
    return (shown.source, shown.metric, shown.x, shown.series, shown.where) == (
        other.source,
        other.metric,
        other.x,
        other.series,
        other.where,
    )


def _select_with_data(page: Page) -> list[Block]:
    return [block for block in page.blocks if _has_data(block)]


def _has_data(block: Block) -> bool:
    return isinstance(block.settings, DataSettings | OutcomeSettings) and block.kind != "altair"


def _list_ids(block: Block) -> tuple[str, ...]:
    if isinstance(block.settings, PanelsSettings):
        numbers = range(1, len(block.settings.metrics) + 1)
        return (block.id, *(f"{block.id}-{number}" for number in numbers))
    return (block.id,) if _has_data(block) else ()


def _is_misspelt(of: str, page: Page) -> bool:
    """Whether a name is more like a figure of the page than like a source that nobody has seen yet."""
    return bool(suggest_name(of, [name for block in page.blocks for name in _list_ids(block)]))


def _make_problem(place: SourceLocation, message: str, next_step: str) -> Diagnostic:
    return Diagnostic(place, message, next_step, Stage.NARRATIVE)
