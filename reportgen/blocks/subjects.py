"""The subjects of facts, made from curves or scores; their facts and judgements are stored in the cache."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from reportgen.blocks.results import format_step_title, place_score_errors
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.statements import Fact, Judgement, Scale
from reportgen.figures.live import write_link_state
from reportgen.narrative.requests import name_benchmark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.blocks.results import ResultsStore
    from reportgen.claims.facts.vocabulary import Argument, Subject
    from reportgen.core.cache import Cache
    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Binding
    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Source


_PERCENT = (0.0, 100.0)


def make_subject(topic: Topic, place: SourceLocation, answers: ResultsStore) -> Subject:
    """The subject of a topic, from data that are read if they were not yet.

    Raises:
        ReportError: what the data have wrong, or do not give, told at ``place``.
    """
    request = topic.request
    if isinstance(request, ScoreRequest):
        from reportgen.claims.facts.subjects import ScoreSubject  # noqa: PLC0415 - only where something is computed

        with place_score_errors(place):
            scored = answers.score_benchmark(request)
            return ScoreSubject(
                scored.scores,
                scored.comparisons,
                scored.groups,
                make_score_scale(request, scored.problems.lowest, scored.problems.highest),
            )
    from reportgen.claims.facts.subjects import CurveSubject  # noqa: PLC0415 - as above

    answer = answers.get_every_step(request)
    return CurveSubject(
        answer.curve_set, make_curve_scale(topic, answer.step_name, is_time=answer.step_is_time)
    )


def make_curve_scale(topic: Topic, step_name: str, *, is_time: bool) -> Scale:
    """What the numbers of a topic's curves mean."""
    metric = topic.request.metric
    return Scale(
        metric=topic.title or metric,
        higher_is_better=topic.higher_is_better,
        step_name=format_step_title(step_name),
        step_is_time=is_time,
        percent="%" in metric,
    )


def make_score_scale(request: ScoreRequest, lowest: float, highest: float) -> Scale:
    """What the numbers of scores mean."""
    return Scale(
        metric=request.metric,
        higher_is_better=request.higher_is_better,
        step_name="",
        bounds=(lowest, highest),
        percent=(lowest, highest) == _PERCENT,
    )


def describe_topic(topic: Topic, sources: Mapping[str, Source]) -> str:
    """What statements of a topic are about, for their reader: the metric, and the benchmark of scores."""
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
) -> str:
    """The fragment of the link that shows something in a topic's figure; empty where none shows it.

    ``x`` is the range of steps to look at, ``mark`` the step and series of the point to mark; scores have
    neither.
    """
    if not topic.figure:
        return ""
    if isinstance(topic.request, ScoreRequest):
        return write_link_state(topic.figure, series)
    return write_link_state(topic.figure, series, x if x and x[0] < x[1] else None, mark)


class SubjectStore:
    """The subjects of a draft's statements, by topic."""

    def __init__(self, answers: ResultsStore, sources: Mapping[str, Source], cache: Cache) -> None:
        self._answers, self._sources, self._cache = answers, sources, cache
        self._known: dict[Topic, CachedSubject] = {}

    def get_subject(self, topic: Topic, place: SourceLocation) -> CachedSubject:
        """The subject of a topic; problems of its data are reported at ``place``."""
        if topic not in self._known:
            source = self._sources[topic.request.source]
            better, request = str(topic.higher_is_better), repr(topic.request)
            key = self._cache.make_key("facts", request, better, topic.title, source.digest)
            self._known[topic] = CachedSubject(
                self._cache, key, lambda: make_subject(topic, place, self._answers)
            )
        return self._known[topic]

    def store(self) -> None:
        """Store what this draft used, where some of it was not stored before."""
        for subject in self._known.values():
            subject.store()


@dataclass(frozen=True, slots=True)
class _Knowledge:
    """What is stored of a subject: itself, its facts by their calls, judgements by their bindings."""

    holds: Literal["curves", "scores"]
    scale: Scale
    series: tuple[str, ...]
    facts: dict[str, Fact] = field(default_factory=dict)
    judgements: dict[str, Judgement] = field(default_factory=dict)


class CachedSubject:
    """A subject that outlives the draft; what a draft no longer uses is forgotten."""

    def __init__(self, cache: Cache, key: str, make: Callable[[], Subject]) -> None:
        self._cache, self._key, self._make = cache, key, make
        self._stored = cache.load(key, _Knowledge)
        self._facts: dict[str, Fact] = {}
        self._judgements: dict[str, Judgement] = {}
        self._fresh = self._stored is None

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

    def get_judgement(self, binding: Binding, judge: Callable[[Binding, Subject], Judgement]) -> Judgement:
        """What the data say to a binding; ``judge`` is called where that is not stored."""
        key = json.dumps([binding.kind, binding.words, binding.expression])
        if key not in self._judgements:
            stored = self._stored.judgements.get(key) if self._stored else None
            self._judgements[key] = stored or judge(binding, self)
            self._fresh = self._fresh or not stored
        return self._judgements[key]

    def store(self) -> None:
        """Store what was used, if some of it was not stored before."""
        if self._fresh:
            facts, judgements = dict(sorted(self._facts.items())), dict(sorted(self._judgements.items()))
            known = _Knowledge(self.holds, self.scale, self.series, facts, judgements)
            self._cache.store(self._key, _Knowledge, known)

    @cached_property
    def _subject(self) -> Subject:
        return self._make()
