"""Reads the pages and opens every source that they, or a command, name; problems of pages are collected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reportgen.core.errors import (
    Diagnostic,
    Diagnostics,
    ReportError,
    SourceLocation,
    Stage,
    move_diagnostics,
)
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.draft.blocks.draw_inputs import make_subject
from reportgen.draft.blocks.observations import find_observations
from reportgen.draft.blocks.results import ResultsStore, place_score_errors, use_every_step
from reportgen.narrative.pages import generate_for_scores, generate_pages, read_pages
from reportgen.narrative.topics import (
    Topic,
    is_figure,
    iterate_topics,
    list_block_sources,
    list_figures,
    list_named_sources,
    make_source_topic,
)
from reportgen.settings.loading import load_source_settings
from reportgen.settings.report import Benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.model import Request, ResultTable
    from reportgen.core.statements import Observation
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


def gather_pages(project: Project, problems: Diagnostics) -> tuple[Page, ...]:
    """The author's pages, then those generated for benchmarks without one."""
    untrusted = project.settings.untrusted
    pages = read_pages(project.root, project.content_dir, project.page_paths, problems, untrusted=untrusted)
    with problems.collecting():
        pages += generate_pages(project.settings.benchmarks, pages)
    return pages


def gather_sources(
    project: Project, pages: tuple[Page, ...], hashes: FileHashes, cache: Cache, problems: Diagnostics
) -> dict[str, Source]:
    """Every source that a page names, opened; one that cannot be opened is left out and reported."""
    data = SourceLocation(project.settings.data_dir)
    sources: dict[str, Source] = {}
    opening_problems: dict[str, Diagnostics] = {}
    for name, place, page in _iterate_sources(pages):
        if name not in opening_problems:
            opening_problems[name] = Diagnostics()
            with opening_problems[name].collecting():
                sources[name] = open_project_source(project, name, hashes, cache)
                opening_problems[name].add(sources[name].warnings)
        # A source that is not there is the problem of all who name it; an ``of`` may have meant a figure.
        found = opening_problems[name].found
        if page and [problem.location for problem in found] == [data]:
            said = f'there is no figure "{name}" on this page, and {found[0].message}'
            step = f"{list_figures(name, page)}. {found[0].next_step}".strip()
            found = [replace(found[0], message=said, next_step=step)]
        problems.add(move_diagnostics(found, data, place))
    hashes.save()
    return sources


def _iterate_sources(pages: tuple[Page, ...]) -> Iterator[tuple[str, SourceLocation, Page | None]]:
    """Sources and who names them, in the order of the report; with the page where it is an ``of``."""
    for page in pages:
        if benchmark := page.front_matter.benchmark:
            yield benchmark.source, SourceLocation(page.file, benchmark.line), None
        names = [
            (list_block_sources(block, page), block.location, getattr(block.settings, "of", None))
            for block in page.blocks
        ]
        names += [(list_named_sources(one.of, page), one.location, one.of) for one in page.bindings]
        for sources, place, of in names:
            for name in sources:
                yield name, place, page if name == of and not is_figure(name, page) else None


def open_project_source(project: Project, name: str, hashes: FileHashes, cache: Cache) -> Source:
    """A source of a report; raises ``ReportError`` if there is none of this name, or it cannot be opened."""
    from reportgen.read import open_source  # noqa: PLC0415 - imports the database

    return open_source(
        project.root,
        project.settings.data_dir,
        name,
        load_settings=load_source_settings,
        hashes=hashes,
        cache=cache,
        follow_links=project.settings.follow_links,
    )


def fit_pages(pages: tuple[Page, ...], sources: Mapping[str, Source]) -> tuple[Page, ...]:
    """The pages; one generated for a benchmark is about scores if its source turns out to hold such."""

    def fit(page: Page) -> Page:
        benchmark = page.front_matter.benchmark
        source = sources.get(benchmark.source) if benchmark else None
        if source is None or source.kind == "measurements":
            return page
        return generate_for_scores(page, totals=source.kind == "totals")

    return tuple(map(fit, pages))


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A plan in sentences, as a table, and as plain JSON."""

    sentences: tuple[str, ...]
    table: ResultTable
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """What a command asks about a source; its methods raise ``ReportError`` for what the data have wrong."""

    topic: Topic
    source: Source
    answers: ResultsStore

    def get_subject(self) -> Subject:
        """The results that facts are computed from."""
        return make_subject(self.topic, self.source.location, self.answers)

    def plan(self, difference: float | None) -> PlanAnswer:
        """What more data would find; ``difference`` is in points where scores go from 0 to 1.

        Raises ``ReportError`` also if there are no answers to problems.
        """
        from reportgen.draft.blocks.scores import make_score_context, to_json_values  # noqa: PLC0415 - only for scores
        from reportgen.figures.scores.plan import build_plan_table, write_plan_sentences  # noqa: PLC0415

        request, place = self.topic.request, self.source.location
        if not isinstance(request, ScoreRequest) or self.source.kind != "outcomes":
            said = f'a plan needs answers to problems, and source "{self.source.name}" has none'
            raise ReportError(Diagnostic(place, said, "Name a source with outcomes", Stage.DATA))
        with place_score_errors(place):
            found = self.answers.plan_study(request, difference)
        context = make_score_context(place, request, self.answers.get_problem_scores(request), self.source)
        table = build_plan_table("plan", found, context)
        return PlanAnswer(write_plan_sentences(found, context), table, to_json_values(found))

    def find_observations(self) -> tuple[Observation, ...]:
        """What rules find, most telling first."""
        sources = {self.source.name: self.source}
        return find_observations((self.topic,), self.source.location, self.answers, sources)


def prepare_question(
    project: Project,
    name: str,
    cache: Cache,
    hashes: FileHashes,
    *,
    metric: str | None = None,
    benchmark: str | None = None,
) -> SourceQuestion:
    """A question about a source, with what the pages say of it.

    ``metric``, and of outcomes ``benchmark``, a value of the benchmark column, may be left out where there is
    one, or where a page's benchmark names one. Raises ``ReportError`` if the source cannot be read, or it is
    open which metric or benchmark is meant.
    """
    source = open_project_source(project, name, hashes, cache)
    hashes.save()
    # What pages have wrong is another command's business.
    pages = gather_pages(project, Diagnostics())
    topic = _find_question_topic(pages, source, metric, benchmark)
    requests: tuple[Request, ...] = (topic.request,)
    if isinstance(topic.request, CurveRequest):
        requests += (use_every_step(topic.request),)
    return SourceQuestion(topic, source, ResultsStore(project.root, {name: source}, requests))


def _find_question_topic(
    pages: tuple[Page, ...], source: Source, metric: str | None, benchmark: str | None
) -> Topic:
    """The topic of a question, with what the pages say of it: its metric, and which way is better."""
    own = next((b for page in pages if (b := page.front_matter.benchmark) and b.source == source.name), None)
    # The names of files and of values in data, as they are: of those in settings, the space around is cut.
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
        said = f'source "{source.name}" has {len(open_names)} {kind}s, and it is open which is meant'
        step = f"Name one with --{kind}: {quote_names(open_names)}"
        raise ReportError(Diagnostic(source.location, said, step, Stage.DATA))
    topic = make_source_topic(chosen, source, declared=own)
    shown = [one for page in pages for one in iterate_topics(page, {source.name: source})]
    same = (one.higher_is_better for one in shown if one.request.metric == topic.request.metric)
    # Of several figures the first that says or knows it.
    better = next((one for one in same if one is not None), topic.higher_is_better)
    return replace(topic, higher_is_better=better)
