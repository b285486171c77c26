"""Subjects whose facts and judgements are computed once and kept; data are read when it is needed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from reportgen.drafting.subjects import make_subject
from reportgen.statements import Fact, Judgement, Quantity, Scale, Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import ResultsStore
    from reportgen.errors import SourceLocation
    from reportgen.facts.subject import Argument, Subject
    from reportgen.model import Source
    from reportgen.narrative.topics import Topic
    from reportgen.statements import Binding


class SubjectStore:
    """The subjects of a draft's statements, by topic."""

    def __init__(self, answers: ResultsStore, sources: Mapping[str, Source], cache: Cache) -> None:
        self._answers, self._sources, self._cache = answers, sources, cache
        self._known: dict[Topic, CachedSubject] = {}

    def get_subject(self, topic: Topic, place: SourceLocation) -> CachedSubject:
        """The subject of a topic; ``place`` is told what its data have wrong."""
        if topic not in self._known:
            source = self._sources[topic.request.source]
            better, request = str(topic.higher_is_better), repr(topic.request)
            key = self._cache.make_key("facts", request, better, topic.title, source.digest)
            self._known[topic] = CachedSubject(
                self._cache.get(key),
                lambda: make_subject(topic, place, self._answers),
                lambda stored: self._cache.put(key, stored),
            )
        return self._known[topic]

    def keep(self) -> None:
        """Keep what was asked for, where some of it was not kept before."""
        for subject in self._known.values():
            subject.keep()


class CachedSubject:
    """A subject that outlives the draft; what a draft no longer asks for is forgotten."""

    def __init__(
        self, stored: bytes | None, make: Callable[[], Subject], keep: Callable[[bytes], None]
    ) -> None:
        self._make, self._keep = make, keep
        self._kept: dict[str, Any] = json.loads(stored) if stored else {"facts": {}, "judgements": {}}
        self._facts: dict[str, Fact] = {}
        self._judgements: dict[str, Judgement] = {}
        self._fresh = not stored

    @property
    def holds(self) -> Literal["curves", "scores"]:
        """See ``Subject``."""
        return self._about.holds

    @property
    def scale(self) -> Scale:
        """See ``Subject``."""
        return self._about.scale

    @property
    def series(self) -> tuple[str, ...]:
        """See ``Subject``."""
        return self._about.series

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """See ``Subject``."""
        call = json.dumps([name, *arguments])
        if call not in self._facts:
            stored = self._kept["facts"].get(call)
            self._facts[call] = _build_fact(stored) if stored else self._subject.fact(name, arguments)
            self._fresh = self._fresh or not stored
        return self._facts[call]

    def get_judgement(self, binding: Binding, judge: Callable[[Binding, Subject], Judgement]) -> Judgement:
        """What the data say to a binding: as ``judge`` told it when it was first asked."""
        key = json.dumps([binding.kind, binding.words, binding.expression])
        if key not in self._judgements:
            stored = self._kept["judgements"].get(key)
            self._judgements[key] = _build_judgement(stored) if stored else judge(binding, self)
            self._fresh = self._fresh or not stored
        return self._judgements[key]

    def keep(self) -> None:
        """Keep what was asked for, if some of it was not kept before."""
        if not self._fresh:
            return
        value = {
            "about": asdict(self._about),
            "facts": {call: asdict(fact) for call, fact in sorted(self._facts.items())},
            "judgements": {key: asdict(one) for key, one in sorted(self._judgements.items())},
        }
        self._keep(json.dumps(value, allow_nan=False).encode())

    @cached_property
    def _subject(self) -> Subject:
        return self._make()

    @cached_property
    def _about(self) -> _About:
        if "about" in self._kept:
            return _build_about(self._kept["about"])
        return _About(self._subject.holds, self._subject.scale, self._subject.series)


@dataclass(frozen=True, slots=True)
class _About:
    """What a subject says of itself before it is asked for a fact."""

    holds: Literal["curves", "scores"]
    scale: Scale
    series: tuple[str, ...]


def _build_about(fields: dict[str, Any]) -> _About:
    scale = fields["scale"]
    bounds = tuple(scale["bounds"]) if scale["bounds"] else None
    return _About(fields["holds"], Scale(**{**scale, "bounds": bounds}), tuple(fields["series"]))


def _build_fact(fields: dict[str, Any]) -> Fact:
    named = {"quantity": Quantity(fields["quantity"]), "series": tuple(fields["series"])}
    return Fact(**{**fields, **named})


def _build_judgement(fields: dict[str, Any]) -> Judgement:
    return Judgement(
        truth=Truth(fields["truth"]),
        found=fields["found"],
        evidence=tuple(fields["evidence"]),
        repaired=fields["repaired"],
        facts=tuple(map(_build_fact, fields["facts"])),
    )
