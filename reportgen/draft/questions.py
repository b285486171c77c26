"""Questions about one source that the command line asks: its facts, its observations and a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reportgen.blocks.observations import find_observations
from reportgen.blocks.results import ResultsStore, place_score_errors, use_every_step
from reportgen.blocks.subjects import make_subject
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.draft.gathering import gather_pages, open_project_source
from reportgen.narrative.topics import Topic, iterate_topics, make_source_topic
from reportgen.settings.report import Benchmark

if TYPE_CHECKING:
    from reportgen.claims.facts.vocabulary import Subject
    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.model import Request, ResultTable
    from reportgen.core.statements import Observation
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A plan in sentences, as a table, and as plain JSON."""

    sentences: tuple[str, ...]
    table: ResultTable
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question about a source that has one answer.

    Attributes:
        topic: what is asked about.
        source: where it stands.
        answers: the data.
    """

    topic: Topic
    source: Source
    answers: ResultsStore

    def get_subject(self) -> Subject:
        """What facts are asked of.

        Raises:
            ReportError: what the data have wrong.
        """
        return make_subject(self.topic, self.source.location, self.answers)

    def plan(self, difference: float | None) -> PlanAnswer:
        """What more data would find; ``difference`` is in points where scores go from 0 to 1.

        Raises:
            ReportError: what the data have wrong, or there are no answers to problems.
        """
        from reportgen.blocks.score_numbers import to_json_values  # noqa: PLC0415
        from reportgen.blocks.scores import make_plain_context  # noqa: PLC0415 - as ``scored``
        from reportgen.figures.scores.pass_curve import build_plan_table, write_plan_sentences  # noqa: PLC0415

        request, place = self.topic.request, self.source.location
        if not isinstance(request, ScoreRequest) or self.source.kind != "outcomes":
            said = f'a plan needs answers to problems, and source "{self.source.name}" has none'
            raise ReportError(Diagnostic(place, said, "Name a source with outcomes", Stage.DATA))
        with place_score_errors(place):
            found = self.answers.plan_study(request, difference)
        context = make_plain_context(place, request, self.answers.get_problem_scores(request), self.source)
        return PlanAnswer(
            write_plan_sentences(found, context),
            build_plan_table("plan", found, context),
            to_json_values(found),
        )

    def find_observations(self) -> tuple[Observation, ...]:
        """What rules find, most telling first.

        Raises:
            ReportError: what the data have wrong.
        """
        return find_observations(
            (self.topic,), self.source.location, self.answers, {self.source.name: self.source}
        )


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
    one, or where a page's benchmark names one.

    Raises:
        ReportError: the source cannot be read, or it is open which metric or benchmark is meant.
    """
    source = open_project_source(project, name, hashes, cache)
    hashes.save()
    # What pages have wrong is another command's business.
    pages = gather_pages(project, Diagnostics())
    topic = _find_topic(pages, source, metric, benchmark)
    requests: tuple[Request, ...] = (topic.request,)
    if isinstance(topic.request, CurveRequest):
        requests += (use_every_step(topic.request),)
    return SourceQuestion(topic, source, ResultsStore(project.root, {name: source}, requests))


def _find_topic(pages: tuple[Page, ...], source: Source, metric: str | None, benchmark: str | None) -> Topic:
    """What is asked for, with what the pages say of it: which metric counts, and which way is better."""
    declared = [b for page in pages if (b := page.front_matter.benchmark) and b.source == source.name]
    own = declared[0] if declared else None
    # The names of files and of values in data, as they are: of those in settings, the space around is cut.
    chosen = own or Benchmark.model_construct(name=source.name, source=source.name)
    if benchmark is not None:
        _check(benchmark, source.benchmarks, "benchmark", source)
        chosen = Benchmark.model_construct(
            name=benchmark, source=source.name, metric=chosen.metric, benchmark=benchmark
        )
    if metric is not None:
        if source.kind == "measurements":
            _check(metric, source.metrics, "metric", source)
        chosen = chosen.model_copy(update={"metric": metric})
    _check_unambiguous(chosen, source)
    topic = make_source_topic(chosen, source, declared=own)
    shown = [one for page in pages for one in iterate_topics(page, {source.name: source})]
    same = (one.higher_is_better for one in shown if one.request.metric == topic.request.metric)
    # Of several figures the first that says or knows it.
    return replace(
        topic, higher_is_better=next((one for one in same if one is not None), topic.higher_is_better)
    )


def _check_unambiguous(chosen: Benchmark, source: Source) -> None:
    """Refuse a question that has several answers."""
    kind, names = "", source.metrics
    if source.kind == "measurements" and chosen.metric is None and len(source.metrics) > 1:
        kind, names = "metric", source.metrics
    elif len(source.benchmarks) > 1 and not {chosen.benchmark, chosen.name} & set(source.benchmarks):
        kind, names = "benchmark", source.benchmarks
    if kind:
        said = f'source "{source.name}" has {len(names)} {kind}s, and it is open which is meant'
        step = f"Name one with --{kind}: {quote_names(names)}"
        raise ReportError(Diagnostic(source.location, said, step, Stage.DATA))


def _check(name: str, known: tuple[str, ...], kind: str, source: Source) -> None:
    if name not in known:
        said = f'"{name}" is no {kind} of source "{source.name}"'
        step = f"{suggest_name(name, known)}There are {quote_names(known) or 'none'}"
        raise ReportError(Diagnostic(source.location, said, step, Stage.DATA))
