"""Inputs for drawing blocks: results, subjects of facts, colours of series, notes on sources."""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.statements import Fact, Judgement, Scale
from reportgen.core.words import join_names, quote_names, suggest_name
from reportgen.draft.blocks.results import place_score_errors
from reportgen.figures.style import SLOTS, assign_slots
from reportgen.figures.text import write_link_state
from reportgen.narrative.requests import is_about, name_benchmark
from reportgen.narrative.topics import get_ranked_metric
from reportgen.settings.base import PALETTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.claims.vocabulary import Argument, Subject
    from reportgen.core.cache import Cache
    from reportgen.core.errors import Diagnostics
    from reportgen.core.model import Request
    from reportgen.core.statements import Binding
    from reportgen.draft.blocks.plan import Plan, PlannedBlock
    from reportgen.draft.blocks.results import CurveResult, ResultsStore
    from reportgen.figures.plot import ChartShape, DrawContext
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Page, Source
    from reportgen.settings.report import Project, ProjectSettings


class SeriesColours(Struct, frozen=True):
    """Palette slot of every series, and what has a colour in each request: its series, or a setting."""

    slots: Mapping[str, int]
    names: Mapping[Request, tuple[str, ...]]

    def get_slots(self, requests: Iterable[Request]) -> dict[str, int]:
        """Return the slots of the series of some requests."""
        return {name: self.slots[name] for request in requests for name in self.names.get(request, ())}


_STEP_TITLES = {"_step": "step", "global_step": "step", "iter": "iteration"}


def format_step_title(column: str) -> str:
    """Return the name of the steps in a column."""
    return _STEP_TITLES.get(column, column.replace("_", " ").strip())


def make_names_key(cache: Cache, requests: tuple[Request, ...], source: Source) -> str:
    """Return the cache key of the series names of all requests to a source."""
    return cache.make_key("series", repr(requests), source.digest)


_MOST_HELD: Final = 80_000_000
"""Size of the files whose results are held in memory, in bytes; as numbers, they take about as much."""


def read_series_names(
    plan: Plan, sources: Mapping[str, Source], answers: ResultsStore, cache: Cache, problems: Diagnostics
) -> dict[Request, tuple[str, ...]]:
    """Return the series of every request, from the cache if their source has not changed.

    What was read stays in memory for the drawing, up to a limit: the rest is read again then.
    """
    names: dict[Request, tuple[str, ...]] = {}
    held = 0
    for source, requests in plan.requests_by_source.items():
        key = make_names_key(cache, requests, sources[source])
        stored = cache.load(key, tuple[tuple[str, ...], ...])
        if stored is not None:
            names |= zip(requests, stored, strict=True)
            continue
        found: dict[Request, tuple[str, ...]] = {}
        for request in requests:
            with problems.collecting():
                found[request] = answers.get_colour_names(request)
        if len(found) == len(requests):
            cache.store(key, tuple(found.values()))
        names |= found
        held += sum(file.size for file in sources[source].files)
        if held > _MOST_HELD:
            answers.forget(source)
    return names


def choose_colours(
    plan: Plan, names: Mapping[Request, tuple[str, ...]], pinned: Mapping[str, int], problems: Diagnostics
) -> SeriesColours:
    """Assign the same slot on every page to each series, with different slots for series drawn together.

    Slots are assigned in the order of the plan. ``pinned`` has the author's palette positions of series, from
    1; those that are out of range are added to ``problems``.
    """
    in_order = {request: names[request] for request in plan.requests if request in names}
    wrong = [name for name, place in pinned.items() if not 1 <= place <= SLOTS]
    if wrong:
        said = f'the palette has places 1 to {SLOTS}, and "{wrong[0]}" asks for {pinned[wrong[0]]}'
        problems.add([Diagnostic(SourceLocation("mkdocs.yml"), said, "", Stage.SETTINGS)])
    slots = {name: place - 1 for name, place in pinned.items()} if not wrong else {}
    return SeriesColours(assign_slots(in_order.values(), slots), in_order)


def check_colours(planned: PlannedBlock, colours: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse colours of names that a block does not show, with a ``ReportError``."""
    problems = [
        Diagnostic(
            planned.block.location,
            f'colours names "{name}", and this block does not show it',
            f"{suggest_name(name, names)}It shows {quote_names(names)}",
            Stage.FIGURE,
        )
        for name in colours
        if name not in names
    ]
    if problems:
        raise ReportError(*problems)


def list_fixed_places(settings: ProjectSettings, sources: Iterable[Source]) -> dict[str, int]:
    """List the places in the palette, from 1, that sources and the report give to series; the report wins."""
    by_colour = {colour: place for place, colour in enumerate(PALETTE, start=1)}
    named = [*(source.settings.colours for source in sources if not source.parts), settings.colours]
    places = {name: by_colour[colour] for colours in named for name, colour in colours.items()}
    return places | {name: place for name, place in settings.series.items() if name not in settings.colours}


_MOST_PLACES: Final = 3
# Messages about settings, or about the x that a block can choose, which concern only the author.
_ADVICE: Final = re.compile(
    r"^(?:rename(?:_metrics|_benchmarks)?|unit|lower_is_better|score_name|protocols|series_from|seed_from|"
    r"run_from): "
    r"|: steps here are _step\b"
)
# Advice for a block's author that may follow the description of an irregularity.
_IN_A_BLOCK: Final = re.compile(r': "[^"]*" in a block [^;]*')
# Effect of ``repeat:`` on rows of one step, or of one problem and sample.
_REPEAT: Final = {
    ("measurements", "mean"): "Rows of one run and step are averaged.",
    ("measurements", "runs"): "Rows of one run and step are read as runs of their own.",
    ("totals", "mean"): "Rows of one run and benchmark are averaged.",
    ("totals", "runs"): "Rows of one run and benchmark are read as runs of their own.",
    ("outcomes", "runs"): "Rows of one run, problem and sample are read as runs of their own.",
}


def list_notes(source: Source, *, shows_all: bool = False) -> tuple[str, ...]:
    """List sentences about a source for the readers of its figures.

    They are the build's warnings without next steps and without those that concern only settings. Files are
    named by their paths below the source. A frozen source starts with the notes from when it was frozen.
    Of sources shown together they are those of each, and which benchmarks are left out unless a block
    ``shows_all``.
    """
    if source.parts:
        benchmarks = (name for part in source.parts for name in part.source.benchmarks)
        rest = [name for name in dict.fromkeys(benchmarks) if name not in source.benchmarks]
        omitted = ""
        if rest and not shows_all:
            omitted = f"Not in every source, and left out: {join_names(rest, most=_MOST_PLACES)}."
        notes = [note for part in source.parts for note in list_notes(part.source)]
        return tuple(dict.fromkeys(filter(None, (*notes, omitted))))
    location = PurePosixPath(source.location.file)
    folder = str(location.parent if location.name == "source.yml" else location)
    own_files = {file.path for file in source.files}

    def shorten(place: SourceLocation) -> str:
        path = PurePosixPath(place.file)
        if place.file in {source.location.file, folder} - own_files:
            return source.name
        below = path.is_relative_to(folder) and path != PurePosixPath(folder)
        return str(replace(place, file=str(path.relative_to(folder)) if below else path.name))

    places_by_message: dict[str, list[str]] = defaultdict(list)
    for warning in source.warnings:
        if not _ADVICE.search(warning.message):
            message = _IN_A_BLOCK.sub("", warning.message).replace(f"{folder}/", "")
            places_by_message[message].append(shorten(warning.location))
    notes = [*(source.settings.provenance.found or ())]
    for message, places in places_by_message.items():
        notes.append(f"{join_names(places, most=_MOST_PLACES)}: {message}.")
    if repeat := _REPEAT.get((source.kind, source.settings.repeat or "")):
        notes.append(repeat)
    return tuple(dict.fromkeys(notes))


def list_cautions(sources: Iterable[Source]) -> str:
    """Return why numbers of these sources are approximate, in brackets; empty if they are exact."""
    cautions = dict.fromkeys(s.settings.caution for s in sources if s.settings.caution)
    return f" ({', '.join(cautions)})" if cautions else ""


def make_curve_scale(topic: Topic, result: CurveResult) -> Scale:
    """Make the scale of a topic's curves."""
    metric = topic.request.metric
    return Scale(
        metric=topic.title or metric,
        higher_is_better=topic.higher_is_better,
        step_name=format_step_title(result.step_name),
        step_is_time=result.step_is_time,
        bounds=(0.0, 1.0) if topic.percent else None,
        percent="%" in metric,
    )


def make_score_scale(request: ScoreRequest, lowest: float, highest: float) -> Scale:
    """Make the scale of the scores of a request."""
    bounds = (lowest, highest)
    percent = bounds == (0.0, 100.0)
    return Scale(request.metric, request.higher_is_better, step_name="", bounds=bounds, percent=percent)


def make_subject(topic: Topic, place: SourceLocation, answers: ResultsStore) -> Subject:
    """Make the subject of a topic, reading its data if necessary.

    Raises ``ReportError`` at ``place`` if the data are invalid or insufficient.
    """
    request = topic.request
    if isinstance(request, ScoreRequest):
        from reportgen.claims.subjects import ScoreSubject  # noqa: PLC0415 - only where something is computed

        with place_score_errors(place):
            scored = answers.score_benchmark(request)
            scale = make_score_scale(request, scored.problems.lowest, scored.problems.highest)
            untested = "" if scored.comparisons else scored.lead.reason
            return ScoreSubject(
                scored.scores, scored.comparisons, scored.groups, scale, untested, scored.problems
            )
    from reportgen.claims.subjects import CurveSubject  # noqa: PLC0415 - as above

    result = answers.get_every_step(request)
    curve_set, scale = result.curve_set, make_curve_scale(topic, result)
    # Finished runs have one value each.
    if value := request.value or ("" if result.step_name else "final"):
        from reportgen.statistics.curves.mean_curves import measure_curves  # noqa: PLC0415 - as above

        higher = scale.higher_is_better is not False
        curve_set = measure_curves(curve_set, value, higher_is_better=higher)
        scale = replace(scale, of_runs=value)
    get_metric = functools.partial(answers.get_other_metric, request)
    if request.order:
        from reportgen.draft.blocks.ladder import SearchSubject, read_ladder  # noqa: PLC0415 - as above

        ladder = functools.partial(read_ladder, request, curve_set, place, answers, scale.higher_is_better)
        return SearchSubject(curve_set, scale, get_metric, ladder)
    return CurveSubject(curve_set, scale, get_metric)


def describe_topic(topic: Topic, sources: Mapping[str, Source]) -> str:
    """Describe a topic for readers: the metric and, for scores, the benchmark."""
    request = topic.request
    if isinstance(request, CurveRequest):
        return topic.title or request.metric
    metric = "score" if request.metric == "mean" else request.metric
    return f"{metric} on {name_benchmark(request, sources[request.source], None)}"


def link_topic(
    topic: Topic,
    series: tuple[str, ...],
    x: tuple[float, float] | None,
    mark: tuple[float, str] | None,
    run: tuple[str, str] | None = None,
) -> str:
    """Return the link fragment that shows series in a topic's figure, or an empty string without a figure.

    ``x`` is the range of steps to show, ``mark`` the step and series of the point to mark, ``run`` the name
    and series of a run; they are ignored for scores. In a plot of several metrics the lines of the others
    stay.
    """
    if not topic.figure:
        return ""
    if isinstance(topic.request, ScoreRequest):
        return write_link_state(topic.figure, series)
    shown = x if x and x[0] < x[1] else None
    if topic.request.value:  # the figure of a sweep has settings in place of steps
        return write_link_state(topic.figure)
    if topic.part:
        return write_link_state(topic.figure, x=shown)
    return write_link_state(topic.figure, series, shown, mark, run)


class _Knowledge(Struct, frozen=True):
    """Cached contents of a subject, with facts by call and judgements by binding."""

    holds: Literal["curves", "scores"]
    scale: Scale
    series: tuple[str, ...]
    facts: dict[str, Fact] = field(default_factory=dict)
    judgements: dict[str, Judgement] = field(default_factory=dict)


class CachedSubject:
    """A ``Subject`` cached between drafts; results that a draft no longer uses are dropped."""

    def __init__(self, cache: Cache, key: str, make: Callable[[], Subject]) -> None:
        self._cache, self._key, self._make = cache, key, make
        self._stored = cache.load(key, _Knowledge)
        self._facts: dict[str, Fact] = {}
        self._judgements: dict[str, Judgement] = {}
        self._fresh = self._stored is None

    @cached_property
    def _subject(self) -> Subject:
        return self._make()

    @property
    def holds(self) -> Literal["curves", "scores"]:
        """See ``Subject``."""
        return (self._stored or self._subject).holds

    @property
    def scale(self) -> Scale:
        """See ``Subject``."""
        return (self._stored or self._subject).scale

    @property
    def series(self) -> tuple[str, ...]:
        """See ``Subject``."""
        return (self._stored or self._subject).series

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """See ``Subject``."""
        call = json.dumps([name, *arguments])
        if call not in self._facts:
            stored = self._stored.facts.get(call) if self._stored else None
            self._facts[call] = stored or self._subject.fact(name, arguments)
            self._fresh = self._fresh or not stored
        return self._facts[call]

    def get_judgement(self, binding: Binding) -> Judgement:
        """Return the judgement of a binding, judging it if that is not cached."""
        table = [] if binding.table is None else [binding.table]
        key = json.dumps([binding.kind, binding.words, binding.expression, *table])
        if key not in self._judgements:
            stored = self._stored.judgements.get(key) if self._stored else None
            if stored is None:
                from reportgen.claims.judge import judge  # noqa: PLC0415 - only where it is needed

                stored, self._fresh = judge(binding, self), True
            self._judgements[key] = stored
        return self._judgements[key]

    def store(self) -> None:
        """Store the facts and judgements used, if any is new; there are none if the data are invalid."""
        if self._fresh and (self._facts or self._judgements):
            facts, judgements = dict(sorted(self._facts.items())), dict(sorted(self._judgements.items()))
            known = _Knowledge(self.holds, self.scale, self.series, facts, judgements)
            self._cache.store(self._key, known)


class DrawInputs(Struct, frozen=True, dict=True):
    """Inputs for drawing the blocks of a draft."""

    project: Project
    sources: Mapping[str, Source]
    answers: ResultsStore
    colours: SeriesColours
    cache: Cache
    subjects: dict[str, dict[str, CachedSubject]] = field(default_factory=dict)  # by source and key
    # By source and filter: settings in which runs of a series differ, with their values.
    pooled: dict[tuple[str, tuple[Any, ...]], dict[str, dict[str, list[str]]]] = field(default_factory=dict)

    def get_subject(self, topic: Topic, place: SourceLocation) -> CachedSubject:
        """Return the subject of a topic; problems in its data are reported at ``place``."""
        better, digest = str(topic.higher_is_better), self.sources[topic.request.source].digest
        unit = "percent" if topic.percent else ""
        # Topics of several figures may be the same but for their figures.
        key = self.cache.make_key("facts", repr(topic.request), better, topic.title, unit, digest)
        known = self.subjects.setdefault(topic.request.source, {})
        if key not in known:
            make = functools.partial(make_subject, topic, place, self.answers)
            known[key] = CachedSubject(self.cache, key, make)
        return known[key]

    def forget(self, source: str) -> None:
        """Store the facts of a source, and drop what was read of it."""
        for subject in self.subjects.pop(source, {}).values():
            subject.store()
        self.answers.forget(source)

    @cached_property
    def get_chart(self) -> Callable[[ChartShape], str]:
        """Function that returns the Vega-Lite specification of a chart's shape as JSON."""
        from reportgen.figures.live import load_chart  # noqa: PLC0415 - only where something is drawn

        return functools.cache(functools.partial(load_chart, self.cache))

    def make_context(
        self, place: SourceLocation, source: str, result: CurveResult, page: Page
    ) -> DrawContext:
        """Make the context of a figure of one source: everything it needs besides its numbers."""
        from reportgen.figures.plot import DrawContext  # noqa: PLC0415 - only where something is drawn

        opened, benchmark = self.sources[source], page.front_matter.benchmark
        ranked = benchmark is not None and is_about(benchmark, opened)
        return DrawContext(
            place=place,
            slots=self.colours.slots,
            higher_is_better=benchmark.higher_is_better if ranked and benchmark else None,
            ranked_by=get_ranked_metric(benchmark, opened),
            logged_directions=opened.higher_is_better,
            step_title=format_step_title(result.step_name),
            step_is_time=result.step_is_time,
            source=opened.settings.title or source,
            approximate=opened.settings.caution or None,
            precision=opened.settings.precision or 0.0,
            illustrative=opened.settings.illustrative,
            get_chart=self.get_chart,
            full_names={label: name for name, label in opened.settings.labels.items()},
            percent=page.percent.get(source, frozenset()),
            notes=(*result.notes, *list_notes(opened)),
        )


def make_curve_context(planned: PlannedBlock, inputs: DrawInputs) -> DrawContext:
    """Make the context of the curves that a block requests, with the notes on all of them and their runs."""
    from reportgen.figures.curves.key_results import describe_early_ends, describe_missing_runs  # noqa: PLC0415 - only where something is drawn

    results = [inputs.answers.get_curves(request) for request in planned.curves]
    notes = dict.fromkeys(note for one in results for note in one.notes)
    notes |= dict.fromkeys(describe_missing_runs(one.curve_set) for one in results)
    together = planned.block.settings.x_is_setting
    for request, one in zip(planned.curves, results, strict=True):
        if request.x is None and not one.step_is_time:
            title = format_step_title(one.step_name)
            notes[describe_early_ends(one.curve_set, title, together=together)] = None
    result = replace(results[0], notes=tuple(filter(None, notes)))
    return inputs.make_context(planned.block.location, planned.curves[0].source, result, planned.page)
