"""Reading of pages and opening of every source that they or a command name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import (
    Diagnostic,
    Diagnostics,
    ReportError,
    Severity,
    SourceLocation,
    Stage,
    move_diagnostics,
)
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import choose_names, is_pattern, join_names, quote_names, suggest_name
from reportgen.draft.blocks.draw_inputs import format_step_title, make_subject
from reportgen.draft.blocks.observations import describe_topic_runs, find_observations
from reportgen.draft.blocks.results import (
    ResultsStore,
    place_score_errors,
    use_every_step,
)
from reportgen.draft.opening import DataEntries, open_project_source
from reportgen.narrative.documents import read_documents
from reportgen.narrative.pages import generate_for_scores, generate_pages, read_pages
from reportgen.narrative.references import check_references
from reportgen.narrative.requests import list_joined
from reportgen.narrative.topics import (
    Topic,
    find_host,
    is_figure,
    iterate_topics,
    list_block_sources,
    list_figures,
    list_named_sources,
    list_page_sources,
    list_percent_metrics,
    make_source_topic,
)
from reportgen.settings.base import name_joined
from reportgen.settings.block_parts import DataSettings, list_formulas
from reportgen.settings.report import Benchmark
from reportgen.settings.score_blocks import ProblemsSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.comparisons import Plan
    from reportgen.core.model import Request, ResultTable
    from reportgen.core.statements import Observation
    from reportgen.settings.block_parts import BlockSettings, Metrics
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Project


def gather_pages(project: Project, problems: Diagnostics, cache: Cache | None = None) -> tuple[Page, ...]:
    """Read the author's pages, generate those of benchmarks without one, and read the documents."""
    pages = read_pages(project, problems, cache)
    with problems.collecting():
        pages += generate_pages(project.settings.benchmarks, pages)
    problems.add(check_references(pages, {one.location.file for one in problems.errors}))
    return (*pages, *read_documents(project, problems))


def gather_sources(
    project: Project, pages: tuple[Page, ...], hashes: FileHashes, cache: Cache, problems: Diagnostics
) -> dict[str, Source]:
    """Open every source that a page names; one that cannot be opened is reported and left out."""
    data = SourceLocation(project.settings.data_dir)
    entries: DataEntries | None = None
    sources: dict[str, Source] = {}
    opening_problems: dict[str, Diagnostics] = {}
    labels = _gather_labels(pages, problems)
    with_texts = _list_sources_with_texts(pages)
    for name, place, page in _iterate_sources(pages, pages):
        if name not in opening_problems:
            opening_problems[name] = Diagnostics()
            if entries is None:
                entries = DataEntries(project.root / project.settings.data_dir)
            with opening_problems[name].collecting():
                sources[name] = open_project_source(
                    *(project, name, hashes, cache),
                    entries=entries,
                    labels=labels.get(name),
                    texts=name in with_texts,
                )
                if curves := sources[name].checkpoints:
                    sources[curves.name] = curves
                    opening_problems[name].add(curves.warnings if _draws_curves(name, pages) else ())
                opening_problems[name].add(sources[name].warnings)
        # A missing source is reported wherever it is named; an ``of`` may have meant a figure.
        found = opening_problems[name].found
        if page and [problem.location for problem in found] == [data]:
            said = f'there is no figure "{name}" on this page, and {found[0].message}'
            step = f"{list_figures(name, page)}. {found[0].next_step}".strip()
            found = [replace(found[0], message=said, next_step=step)]
        problems.add(move_diagnostics(found, data, place))
    hashes.save()
    problems.add(_check_labels(pages, sources))
    problems.add(_check_percent(sources.values()))
    return sources | _join_sources(project, pages, sources, cache, problems)


def _list_sources_with_texts(pages: tuple[Page, ...]) -> set[str]:
    """List the sources of blocks that show prompts and whole answers."""
    return {
        name
        for page in pages
        for block in page.blocks
        if isinstance(block.settings, ProblemsSettings) and block.settings.samples
        for name in list_block_sources(block, page)
    }


def _join_sources(
    project: Project,
    pages: tuple[Page, ...],
    sources: Mapping[str, Source],
    cache: Cache,
    problems: Diagnostics,
) -> dict[str, Source]:
    """Join the sources that a block shows together, by the name of the joined ones."""
    joined: dict[str, Source] = {}
    warned: set[tuple[str, str]] = set()  # each page says it of its own sources, once
    for names, place, block in _iterate_joined(pages):
        name, opened = name_joined(names), [sources[one] for one in names if one in sources]
        if len(opened) < len(names):
            continue
        with problems.collecting():
            if name not in joined:
                joined[name] = join_project_sources(project.root, opened, place, cache)
            if (name, place.file) not in warned:
                warned.add((name, place.file))
                problems.add(move_diagnostics(joined[name].warnings, joined[name].location, place))
            if not block or joined[name].kind != "measurements":
                continue
            titles = {part.source.name: format_step_title(part.step) for part in joined[name].parts}
            # A block that says what its x is may join steps with different names.
            stated = [getattr(block.settings, option, "") for option in ("x", "x_title")]
            if stated == [None, None] and len(set(titles.values())) > 1:
                said = join_names([f'{title or "not known"} in "{one}"' for one, title in titles.items()])
                step = "Choose one that each has with x:, or name what they have in common with x_title:"
                problems.add([Diagnostic(place, f"x is {said}", step, Stage.DATA, Severity.WARNING)])
    return joined


def _iterate_joined(
    pages: tuple[Page, ...],
) -> Iterator[tuple[tuple[str, ...], SourceLocation, Block | None]]:
    """Yield sources that are shown together and where that is written; no block for a page's benchmark."""
    for page in pages:
        benchmark = page.front_matter.benchmark
        if benchmark and len(benchmark.sources) > 1:
            yield benchmark.sources, SourceLocation(page.file, benchmark.line), None
        for block in page.blocks:
            if names := list_joined(block, benchmark):
                yield names, block.location, block


def join_project_sources(
    root: Path, sources: Sequence[Source], place: SourceLocation, cache: Cache
) -> Source:
    """Join opened sources; raise ``ReportError`` at ``place`` if they cannot be shown together."""
    from reportgen.read import join_sources  # noqa: PLC0415 - imports the database

    return join_sources(root, sources, place, cache)


def _iterate_sources(
    pages: tuple[Page, ...], hosts: tuple[Page, ...] = ()
) -> Iterator[tuple[str, SourceLocation, Page | None]]:
    """Yield sources and where they are named, in the order of the report; with the page for an ``of``.

    ``hosts`` are the pages that say what documents are about.
    """
    for page in pages:
        if benchmark := page.front_matter.benchmark:
            place = SourceLocation(page.file, benchmark.line)
            yield from ((name, place, None) for name in benchmark.sources)
        names = [
            (list_block_sources(block, page), block.location, getattr(block.settings, "of", None))
            for block in page.blocks
        ]
        named = {one.of: list_named_sources(*find_host(one.of, page, hosts)) for one in page.bindings}
        names += [(named[one.of], one.location, one.of) for one in page.bindings]
        for sources, place, of in names:
            for name in sources:
                is_own = name == of and not page.is_document and not is_figure(name, page)
                yield name, place, page if is_own else None


def _draws_curves(name: str, pages: Iterable[Page]) -> bool:
    """Return whether a block draws curves of a source; of one with scores, they are those of checkpoints."""
    drawing = ((block, page) for page in pages for block in page.blocks)
    return any(
        name in list_block_sources(block, page)
        for block, page in drawing
        if isinstance(block.settings, DataSettings)
    )


def _gather_labels(pages: tuple[Page, ...], problems: Diagnostics) -> dict[str, dict[str, str]]:
    """Gather the short names that pages give the series of each source; two for one series are an error."""
    labels: dict[str, dict[str, str]] = {}
    for page in pages:
        for name, _, _ in _iterate_sources((page,)) if page.front_matter.labels else ():
            known = labels.setdefault(name, {})
            for series, label in page.front_matter.labels.items():
                if known.setdefault(series, label) != label:
                    said = f'"{series}" of "{name}" is "{known[series]}" on another page, and "{label}" here'
                    step = "Give a series one name in all of the report"
                    problems.add([Diagnostic(SourceLocation(page.file), said, step, Stage.SETTINGS)])
    return labels


def _check_labels(pages: tuple[Page, ...], sources: Mapping[str, Source]) -> Iterator[Diagnostic]:
    """Yield a warning of each short name in front matter whose series none of the page's sources has."""
    for page in pages:
        shown = [sources[name] for name, _, _ in _iterate_sources((page,)) if name in sources]
        for series in page.front_matter.labels:
            if not any(series in source.settings.labels for source in shown):
                said = f'labels: no source of this page has a series "{series}"'
                step = "Write the name as reportgen describe prints it, or remove the label"
                yield Diagnostic(SourceLocation(page.file), said, step, Stage.DATA, Severity.WARNING)


def _check_percent(sources: Iterable[Source]) -> Iterator[Diagnostic]:
    """Yield a warning of each name under ``percent`` that is no metric of its source."""
    for source in sources:
        for name in choose_names(source.settings.percent, source.metrics).unmatched:
            said = f'percent: "{name}" is not a metric of curves of source "{source.name}"'
            step = (
                f"{suggest_name(name, source.metrics)}Its metrics are {quote_names(source.metrics) or 'none'}"
            )
            yield Diagnostic(source.location, said, step, Stage.DATA, Severity.WARNING)


def fit_pages(pages: tuple[Page, ...], sources: Mapping[str, Source]) -> tuple[Page, ...]:
    """Adapt pages to their sources, as far as these could be opened.

    Pages generated for benchmarks show scores if their source contains scores, and patterns of metrics in
    blocks become the metrics that they match. Blocks that draw curves of evaluations show their checkpoints.
    Each page lists the metrics that it writes in percent.
    """
    joined = [name for name, source in sources.items() if source.parts]

    def fit(page: Page) -> Page:
        benchmark = page.front_matter.benchmark
        source = sources.get(benchmark.source_name) if benchmark else None
        if source is not None and source.kind != "measurements":
            page = generate_for_scores(page, totals=source.kind == "totals")
        blocks = []
        for block in page.blocks:
            shown, names = block, list_block_sources(block, page)
            evaluated = sources.get(names[0]) if len(names) == 1 else None
            if isinstance(block.settings, DataSettings) and evaluated and evaluated.checkpoints:
                # Curves of an evaluation are those of its checkpoints.
                update = {"source": evaluated.checkpoints.name}
                shown = replace(block, settings=block.settings.model_copy(update=update))
            blocks.append(replace(shown, settings=_choose_metrics(shown, page, sources)))
        page = page if tuple(blocks) == page.blocks else replace(page, blocks=tuple(blocks))
        used = dict.fromkeys((*list_page_sources(page), *joined))
        opened = (sources[name] for name in used if name in sources)
        percent = {one.name: metrics for one in opened if (metrics := list_percent_metrics(page, one))}
        return replace(page, percent=percent)

    return tuple(map(fit, pages))


def _choose_metrics(block: Block, page: Page, sources: Mapping[str, Source]) -> BlockSettings:
    """Return a block's settings with the metrics that patterns match."""
    settings, names = block.settings, list_block_sources(block, page)
    joined = list_joined(block, page.front_matter.benchmark)
    source = sources.get(name_joined(joined) if joined else names[0]) if names else None
    if not isinstance(settings, DataSettings) or source is None or source.kind != "measurements":
        return settings
    return choose_metrics(settings, source)


def choose_metrics(settings: BlockSettings, source: Source) -> BlockSettings:
    """Return settings with the metrics of a source that their patterns match; one that matches none stays."""
    if not any(map(is_pattern, settings.list_metrics())):
        return settings

    def choose(metrics: Metrics) -> Metrics:
        formulas = list_formulas(metrics)
        named = [name for name, formula in formulas.items() if not formula]
        chosen = choose_names(named, source.metrics)
        derived = tuple({name: formula} for name, formula in formulas.items() if formula)
        return (*chosen.names, *chosen.unmatched, *derived)

    return settings.resolve_metrics(choose)


class PlanAnswer(Struct, frozen=True):
    """A plan as sentences, as a table and as numbers."""

    sentences: tuple[str, ...]
    table: ResultTable
    plan: Plan


class SourceQuestion(Struct, frozen=True):
    """A command's question about a source; its methods raise ``ReportError`` if the data are invalid."""

    topic: Topic
    source: Source
    answers: ResultsStore

    def get_subject(self) -> Subject:
        """Make the subject that facts are computed from."""
        return make_subject(self.topic, self.source.location, self.answers)

    def plan(self, difference: float | None) -> PlanAnswer:
        """Plan more data; ``difference`` is in percentage points if scores are between 0 and 1.

        Also raises ``ReportError`` if there are no answers to problems.
        """
        from reportgen.draft.blocks.scores import make_score_context  # noqa: PLC0415 - only for scores
        from reportgen.figures.scores.plan import build_plan_table, write_plan_sentences  # noqa: PLC0415

        request, place = self.topic.request, self.source.location
        if not isinstance(request, ScoreRequest) or self.source.kind != "outcomes":
            said = f'a plan needs answers to problems, and source "{self.source.name}" has none'
            raise ReportError(Diagnostic(place, said, "Name a source with outcomes", Stage.DATA))
        with place_score_errors(place):
            found = self.answers.plan_study(request, difference)
        context = make_score_context(place, request, self.answers.get_problem_scores(request), self.source)
        table = build_plan_table("plan", found, context)
        return PlanAnswer(write_plan_sentences(found, context), table, found)

    def find_observations(self) -> tuple[Observation, ...]:
        """Find observations, in the order of rules."""
        sources = {self.source.name: self.source}
        return find_observations((self.topic,), self.source.location, self.answers, sources)

    def describe_runs(self) -> str:
        """Say of which series nothing is inferred for want of runs."""
        return describe_topic_runs((self.topic,), self.answers)


def prepare_question(
    project: Project,
    names: Sequence[str],
    cache: Cache,
    hashes: FileHashes,
    *,
    metric: str | None = None,
    benchmark: str | None = None,
    by: str = "",
    value: str = "",
) -> SourceQuestion:
    """Prepare a question about a source, or several together, using what the pages say about it.

    ``metric`` and, for outcomes, ``benchmark``, a value of the benchmark column, are optional if there is
    only one or a page's benchmark names one. Curves are grouped ``by`` a setting, and have one ``value`` of
    each run, such as the final one, if it is not empty. Raises ``ReportError`` if the source cannot be read,
    or the metric or benchmark is ambiguous.
    """
    # Errors in pages are reported by other commands.
    pages = gather_pages(project, Diagnostics(), cache)
    labels = _gather_labels(pages, Diagnostics())
    source, *others = [
        open_project_source(project, name, hashes, cache, labels=labels.get(name))
        for name in dict.fromkeys(names)
    ]
    hashes.save()
    if others:
        place = SourceLocation(project.settings.data_dir)
        source = join_project_sources(project.root, [source, *others], place, cache)
    pages = fit_pages(pages, {source.name: source})
    topic = _find_question_topic(pages, source, metric, benchmark)
    if by and isinstance(topic.request, CurveRequest):
        topic = replace(topic, request=replace(topic.request, by=(by,), value=value))
    requests: tuple[Request, ...] = (topic.request,)
    if isinstance(topic.request, CurveRequest):
        requests += (use_every_step(topic.request),)
    return SourceQuestion(topic, source, ResultsStore(project.root, {source.name: source}, requests))


def _find_question_topic(
    pages: tuple[Page, ...], source: Source, metric: str | None, benchmark: str | None
) -> Topic:
    """Find the topic of a question, with the metric and direction that pages give."""
    own = next(
        (b for page in pages if (b := page.front_matter.benchmark) and b.source_name == source.name), None
    )
    # Skip validation, which strips whitespace: names from files and data have to stay unchanged.
    chosen = own or Benchmark.model_construct(name=source.name, source=source.name)
    measured = source.kind == "measurements"
    for kind, value, known in (
        ("benchmark", benchmark, source.benchmarks),
        ("metric", metric if measured else None, source.metrics),
    ):
        if value is not None and value not in known:
            said = f'"{value}" is no {kind} of source "{source.name}"'
            step = f"{suggest_name(value, known)}There are {quote_names(known) or 'none'}"
            raise ReportError(Diagnostic(source.location, said, step, Stage.DATA))
    if benchmark is not None:
        chosen = Benchmark.model_construct(
            name=benchmark, source=source.name, metric=chosen.metric, benchmark=benchmark
        )
    if metric is not None:
        chosen = chosen.model_copy(update={"metric": metric})
    open_names: tuple[str, ...] = ()
    if measured and chosen.metric is None and len(source.metrics) > 1:
        kind, open_names = "metric", source.metrics
    elif len(source.benchmarks) > 1 and not {chosen.benchmark, chosen.name} & set(source.benchmarks):
        kind, open_names = "benchmark", source.benchmarks
    if open_names:
        said = f'source "{source.name}" has {len(open_names)} {kind}s, and it is unclear which one is meant'
        step = f"Name one with --{kind}: {quote_names(open_names)}"
        raise ReportError(Diagnostic(source.location, said, step, Stage.DATA))
    topic = make_source_topic(chosen, source, declared=own)
    shown = [one for page in pages for one in iterate_topics(page, {source.name: source})]
    same = (one.higher_is_better for one in shown if one.request.metric == topic.request.metric)
    # The first figure with a known direction.
    better = next((one for one in same if one is not None), topic.higher_is_better)
    return replace(topic, higher_is_better=better)


def read_answers(root: Path, source: Source, request: ScoreRequest, series: str) -> list[dict[str, Any]]:
    """Read the scored answers of a series that a request selects, as ``list_answers`` does."""
    from reportgen.read import list_answers, read_outcomes  # noqa: PLC0415 - imports the database

    chosen = partial(read_outcomes, root, source, benchmark=request.benchmark, series=request.series)
    return list_answers(chosen(where=dict(request.where), by=request.by), series)
