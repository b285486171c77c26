"""What every block is drawn from: results, colours of series, notes on sources, specifications of charts."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.blocks.results import format_step_title
from reportgen.blocks.subjects import SubjectStore
from reportgen.core.errors import Diagnostic, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.figures.plot import DrawContext
from reportgen.figures.style import SLOTS, assign_slots
from reportgen.narrative.topics import get_ranked_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reportgen.blocks.plan import Plan
    from reportgen.blocks.results import CurveResult, ResultsStore
    from reportgen.core.cache import Cache
    from reportgen.core.errors import Diagnostics
    from reportgen.core.model import Request
    from reportgen.figures.plot import ChartShape
    from reportgen.settings.inputs import Source
    from reportgen.settings.report import Benchmark, Project


def make_names_key(cache: Cache, requests: tuple[Request, ...], source: Source) -> str:
    """The key of the series names behind all requests to a source."""
    return cache.make_key("series", repr(requests), source.digest)


@dataclass(frozen=True, slots=True)
class SeriesColours:
    """The palette slot of every series, and the series behind each request."""

    slots: Mapping[str, int]
    names: Mapping[Request, tuple[str, ...]]

    def get_slots(self, requests: Iterable[Request]) -> dict[str, int]:
        """The slots of the series behind some requests."""
        return {name: self.slots[name] for request in requests for name in self.names.get(request, ())}


def read_series_names(
    plan: Plan, sources: Mapping[str, Source], answers: ResultsStore, cache: Cache, problems: Diagnostics
) -> dict[Request, tuple[str, ...]]:
    """The series behind every request, stored in the cache: unchanged sources are not read for them."""
    names: dict[Request, tuple[str, ...]] = {}
    for source, requests in plan.requests_by_source.items():
        key = make_names_key(cache, requests, sources[source])
        stored = cache.load(key, tuple[tuple[str, ...], ...])
        if stored is not None:
            names |= zip(requests, stored, strict=True)
            continue
        found: dict[Request, tuple[str, ...]] = {}
        for request in requests:
            with problems.collecting():
                found[request] = answers.get_series(request)
        if len(found) == len(requests):
            cache.store(key, tuple[tuple[str, ...], ...], tuple(found.values()))
        names |= found
    return names


def choose_colours(
    plan: Plan, names: Mapping[Request, tuple[str, ...]], pinned: Mapping[str, int], problems: Diagnostics
) -> SeriesColours:
    """Slots such that series drawn together differ, on every page alike.

    The order of the plan decides which series is given a slot first. ``pinned`` are places in the palette,
    from 1, that the author gave to series; ``problems`` gets those that are out of range.
    """
    in_order = {request: names[request] for request in plan.requests if request in names}
    wrong = [name for name, place in pinned.items() if not 1 <= place <= SLOTS]
    if wrong:
        said = f'the palette has places 1 to {SLOTS}, and "{wrong[0]}" asks for {pinned[wrong[0]]}'
        problems.add([Diagnostic(SourceLocation("mkdocs.yml"), said, "", Stage.SETTINGS)])
    slots = {name: place - 1 for name, place in pinned.items()} if not wrong else {}
    return SeriesColours(assign_slots(in_order.values(), slots), in_order)


_MOST_PLACES: Final = 3
# What concerns settings, or the x that a block may choose: only the author can do something with it.
_ADVICE: Final = re.compile(
    r"^(?:rename|rename_metrics|lower_is_better|score_name|protocols|series_from|seed_from|run_from): "
    r"|: steps here are _step\b"
)
# Behind what is irregular may stand what a block could do about it.
_IN_A_BLOCK: Final = re.compile(r': "[^"]*" in a block [^;]*')

# What ``repeat:`` does to rows of one step, or of one problem.
_REPEAT: Final = {
    ("measurements", "mean"): "Rows of one run and step are averaged.",
    ("measurements", "runs"): "Rows of one run and step are read as runs of their own.",
    ("outcomes", "runs"): "Rows of one run, problem and sample are read as runs of their own.",
}


def list_notes(source: Source) -> tuple[str, ...]:
    """Sentences about a source for the readers of its figures.

    They are what the build warns of, but for the steps that its author may take and for what concerns
    settings only. Files are told by their paths below the source. Of a frozen source they begin with what
    was found when it was frozen.
    """
    places_by_message: dict[str, list[str]] = defaultdict(list)
    folder = _folder(source)
    for warning in source.warnings:
        if not _ADVICE.search(warning.message):
            message = _IN_A_BLOCK.sub("", warning.message).replace(f"{folder}/", "")
            places_by_message[message].append(_shorten_place(warning.location, source, folder))
    found = (
        f"{join_names(places, most=_MOST_PLACES)}: {message}."
        for message, places in places_by_message.items()
    )
    repeat = _REPEAT.get((source.kind, source.settings.repeat or ""))
    return tuple(
        dict.fromkeys((*(source.settings.provenance.found or ()), *found, *([repeat] if repeat else [])))
    )


def _folder(source: Source) -> str:
    """The source's folder, as places tell it."""
    place = PurePosixPath(source.location.file)
    return str(place.parent if place.name == "source.yml" else place)


def _shorten_place(place: SourceLocation, source: Source, folder: str) -> str:
    """A place as it is told to readers: below the source's folder, or the source itself by its name."""
    path = PurePosixPath(place.file)
    if place.file in {source.location.file, folder} and all(file.path != place.file for file in source.files):
        return source.name
    below = path.is_relative_to(folder) and path != PurePosixPath(folder)
    return str(replace(place, file=str(path.relative_to(folder)) if below else path.name))


def list_cautions(sources: Iterable[Source]) -> str:
    """Why numbers of these sources are not exact, in brackets behind their titles; empty where they are."""
    cautions = dict.fromkeys(s.settings.approximate for s in sources if s.settings.approximate)
    return f" ({', '.join(cautions)})" if cautions else ""


def cache_specs(cache: Cache) -> Callable[[ChartShape], str]:
    """What gives the Vega-Lite specification of a chart's shape, as JSON."""

    def write_spec(shape: ChartShape) -> str:
        from reportgen.figures.altair_chart import write_chart_spec  # noqa: PLC0415 - imports Altair

        return write_chart_spec(shape)

    @functools.cache
    def get_spec(shape: ChartShape) -> str:
        return cache.memo(cache.make_key("spec", repr(shape)), str, lambda: write_spec(shape))

    return get_spec


@dataclass(frozen=True, slots=True)
class DrawInputs:
    """The materials of a draft, gathered before the first block is drawn."""

    project: Project
    sources: Mapping[str, Source]
    answers: ResultsStore
    subjects: SubjectStore
    colours: SeriesColours
    cache: Cache
    get_chart_spec: Callable[[ChartShape], str]

    @classmethod
    def gather(
        cls,
        project: Project,
        sources: Mapping[str, Source],
        answers: ResultsStore,
        colours: SeriesColours,
        cache: Cache,
    ) -> DrawInputs:
        """The inputs of a draft or of the worker process, each with stores of its own."""
        subjects = SubjectStore(answers, sources, cache)
        return cls(project, sources, answers, subjects, colours, cache, cache_specs(cache))

    def make_context(
        self, place: SourceLocation, source: str, answer: CurveResult, benchmark: Benchmark | None
    ) -> DrawContext:
        """What a figure of one source needs to know beyond its numbers."""
        opened = self.sources[source]
        ranked = benchmark is not None and benchmark.source == source
        return DrawContext(
            place=place,
            slots=self.colours.slots,
            higher_is_better=benchmark.higher_is_better if ranked and benchmark else None,
            ranked_by=get_ranked_metric(benchmark, opened),
            step_title=format_step_title(answer.step_name),
            step_is_time=answer.step_is_time,
            source=opened.settings.title or source,
            approximate=opened.settings.approximate,
            get_chart_spec=self.get_chart_spec,
            notes=list_notes(opened),
        )
