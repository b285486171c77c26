"""What facts are about, made from curves or scores when the first fact is asked for, and kept with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from reportgen.drafting.answers import every_step
from reportgen.drafting.desk import step_title
from reportgen.drafting.score_answers import TellingAt
from reportgen.drafting.score_contexts import benchmark_title
from reportgen.model import CurveRequest, ScoreRequest
from reportgen.statements import Fact, Quantity, Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import Answers
    from reportgen.drafting.plan import Plan
    from reportgen.errors import Place
    from reportgen.facts.subject import Argument, Subject
    from reportgen.model import Request, Source
    from reportgen.narrative.topics import Topic

_PERCENT = (0.0, 100.0)


def asked_of(plan: Plan) -> tuple[Request, ...]:
    """Every request of a plan with those of its statements and observations, which want every step."""
    topics = [topic.request for topic in plan.topics]
    exact = [every_step(request) for request in topics if isinstance(request, CurveRequest)]
    return tuple(dict.fromkeys((*plan.requests, *topics, *exact)))


def subject_of(topic: Topic, place: Place, answers: Answers) -> Subject:
    """The subject of a topic, from data that are read if they were not yet.

    Raises:
        ReportError: what the data have wrong, or do not give, told at ``place``.
    """
    request = topic.request
    if isinstance(request, ScoreRequest):
        from reportgen.facts.score_facts import ScoreSubject  # noqa: PLC0415 - only where something is computed

        with TellingAt(place):
            scored = answers.scores.scored(request)
            return ScoreSubject(
                scored.scores,
                scored.comparisons,
                scored.tiers,
                score_scale(request, scored.problems.lowest, scored.problems.highest),
            )
    from reportgen.facts.curve_facts import CurveSubject  # noqa: PLC0415 - as above

    answer = answers.with_every_step(request)
    return CurveSubject(answer.curve_set, curve_scale(topic, answer.step_name, is_time=answer.step_is_time))


def curve_scale(topic: Topic, step_name: str, *, is_time: bool) -> Scale:
    """What the numbers of a topic's curves mean."""
    metric = topic.request.metric
    return Scale(
        metric=topic.title or metric,
        higher_is_better=topic.higher_is_better,
        step_name=step_title(step_name),
        step_is_time=is_time,
        percent="%" in metric,
    )


def score_scale(request: ScoreRequest, lowest: float, highest: float) -> Scale:
    """What the numbers of scores mean."""
    return Scale(
        metric=request.metric,
        higher_is_better=request.higher_is_better,
        step_name="",
        bounds=(lowest, highest),
        percent=(lowest, highest) == _PERCENT,
    )


def said_of(topic: Topic, sources: Mapping[str, Source]) -> str:
    """What statements of a topic are about, for their reader: the metric, and the benchmark of scores."""
    request = topic.request
    if isinstance(request, CurveRequest):
        return topic.title or request.metric
    metric = "score" if request.metric == "mean" else request.metric
    return f"{metric} on {benchmark_title(request, sources[request.source], None)}"


class Subjects:
    """The subjects of a draft's statements, by topic; new facts are kept by ``keep``."""

    def __init__(self, answers: Answers, sources: Mapping[str, Source], cache: Cache) -> None:
        self._answers, self._sources, self._cache = answers, sources, cache
        self._known: dict[Topic, KeptSubject] = {}

    def of(self, topic: Topic, place: Place) -> KeptSubject:
        """The subject of a topic, its data unread if all its facts are kept."""
        if topic not in self._known:
            source = self._sources[topic.request.source]
            better, request = str(topic.higher_is_better), repr(topic.request)
            key = self._cache.key("facts", request, better, topic.title, source.digest)
            self._known[topic] = KeptSubject(
                self._cache.get(key),
                lambda: subject_of(topic, place, self._answers),
                lambda kept: self._cache.put(key, kept),
            )
        return self._known[topic]

    def keep(self) -> None:
        """Keep the facts that were not kept before."""
        for subject in self._known.values():
            subject.keep()


class KeptSubject:
    """A subject whose facts are computed once, whatever asks for them, and outlive the draft."""

    def __init__(
        self, kept: bytes | None, make: Callable[[], Subject], keep: Callable[[bytes], None]
    ) -> None:
        self._make, self._keep = make, keep
        self._made: Subject | None = None
        self._about: dict[str, Any] | None = None
        self._facts: dict[str, Fact] = {}
        if kept:
            self._about, self._facts = _read(kept)
        self._fresh = False

    @property
    def _subject(self) -> Subject:
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def _described(self) -> dict[str, Any]:
        if self._about is None:
            subject = self._subject
            self._about = {"holds": subject.holds, "series": subject.series, "scale": subject.scale}
            self._fresh = True
        return self._about

    @property
    def holds(self) -> Literal["curves", "scores"]:
        """See ``Subject``."""
        holds: Literal["curves", "scores"] = self._described["holds"]
        return holds

    @property
    def scale(self) -> Scale:
        """See ``Subject``."""
        scale: Scale = self._described["scale"]
        return scale

    @property
    def series(self) -> tuple[str, ...]:
        """See ``Subject``."""
        series: tuple[str, ...] = self._described["series"]
        return series

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """See ``Subject``."""
        call = json.dumps([name, *arguments])
        if call not in self._facts:
            self._facts[call] = self._subject.fact(name, arguments)
            self._fresh = True
        return self._facts[call]

    def keep(self) -> None:
        """Keep what was not kept before."""
        if self._fresh:
            about = {**self._described, "scale": asdict(self.scale)}
            facts = {call: asdict(fact) for call, fact in sorted(self._facts.items())}
            self._keep(json.dumps({"about": about, "facts": facts}, allow_nan=False).encode())


def _read(kept: bytes) -> tuple[dict[str, Any], dict[str, Fact]]:
    value = json.loads(kept)
    about, scale = value["about"], value["about"]["scale"]
    bounds = tuple(scale["bounds"]) if scale["bounds"] else None
    described = {
        "holds": about["holds"],
        "series": tuple(about["series"]),
        "scale": Scale(**{**scale, "bounds": bounds}),
    }
    return described, {call: _fact(fields) for call, fields in value["facts"].items()}


def _fact(fields: dict[str, Any]) -> Fact:
    named = {"quantity": Quantity(fields["quantity"]), "series": tuple(fields["series"])}
    return Fact(**{**fields, **named})
