"""Subjects whose facts and judgements are computed once and kept; data are read when it is needed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from reportgen.drafting.subjects import subject_of
from reportgen.statements import Fact, Judgement, Quantity, Scale, Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import Answers
    from reportgen.errors import Place
    from reportgen.facts.subject import Argument, Subject
    from reportgen.model import Source
    from reportgen.narrative.topics import Topic
    from reportgen.statements import Binding


class Subjects:
    """The subjects of a draft's statements, by topic."""

    def __init__(self, answers: Answers, sources: Mapping[str, Source], cache: Cache) -> None:
        self._answers, self._sources, self._cache = answers, sources, cache
        self._known: dict[Topic, KeptSubject] = {}

    def of(self, topic: Topic, place: Place) -> KeptSubject:
        """The subject of a topic; ``place`` is told what its data have wrong."""
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
        """Keep what was asked for, where some of it was not kept before."""
        for subject in self._known.values():
            subject.keep()


class KeptSubject:
    """A subject that outlives the draft; what a draft no longer asks for is forgotten."""

    def __init__(
        self, kept: bytes | None, make: Callable[[], Subject], keep: Callable[[bytes], None]
    ) -> None:
        self._make, self._keep = make, keep
        self._kept: dict[str, Any] = json.loads(kept) if kept else {"facts": {}, "judgements": {}}
        self._facts: dict[str, Fact] = {}
        self._judgements: dict[str, Judgement] = {}
        self._fresh = not kept

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
            kept = self._kept["facts"].get(call)
            self._facts[call] = _fact(kept) if kept else self._subject.fact(name, arguments)
            self._fresh = self._fresh or not kept
        return self._facts[call]

    def judged(self, binding: Binding, judge: Callable[[Binding, Subject], Judgement]) -> Judgement:
        """What the data say to a binding: as ``judge`` told it when it was first asked."""
        asked = json.dumps([binding.kind, binding.words, binding.expression])
        if asked not in self._judgements:
            kept = self._kept["judgements"].get(asked)
            self._judgements[asked] = _judgement(kept) if kept else judge(binding, self)
            self._fresh = self._fresh or not kept
        return self._judgements[asked]

    def keep(self) -> None:
        """Keep what was asked for, if some of it was not kept before."""
        if not self._fresh:
            return
        value = {
            "about": asdict(self._about),
            "facts": {call: asdict(fact) for call, fact in sorted(self._facts.items())},
            "judgements": {asked: asdict(one) for asked, one in sorted(self._judgements.items())},
        }
        self._keep(json.dumps(value, allow_nan=False).encode())

    @cached_property
    def _subject(self) -> Subject:
        return self._make()

    @cached_property
    def _about(self) -> _About:
        if "about" in self._kept:
            return _about(self._kept["about"])
        return _About(self._subject.holds, self._subject.scale, self._subject.series)


@dataclass(frozen=True, slots=True)
class _About:
    """What a subject says of itself before it is asked for a fact."""

    holds: Literal["curves", "scores"]
    scale: Scale
    series: tuple[str, ...]


def _about(fields: dict[str, Any]) -> _About:
    scale = fields["scale"]
    bounds = tuple(scale["bounds"]) if scale["bounds"] else None
    return _About(fields["holds"], Scale(**{**scale, "bounds": bounds}), tuple(fields["series"]))


def _fact(fields: dict[str, Any]) -> Fact:
    named = {"quantity": Quantity(fields["quantity"]), "series": tuple(fields["series"])}
    return Fact(**{**fields, **named})


def _judgement(fields: dict[str, Any]) -> Judgement:
    return Judgement(
        truth=Truth(fields["truth"]),
        found=fields["found"],
        evidence=tuple(fields["evidence"]),
        repaired=fields["repaired"],
        facts=tuple(map(_fact, fields["facts"])),
    )
