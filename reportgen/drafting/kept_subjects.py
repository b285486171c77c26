"""Subjects whose facts and judgements are computed once and kept; data are read when it is needed."""

from __future__ import annotations

import json
from dataclasses import asdict
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
        self._made: Subject | None = None
        self._kept: dict[str, Any] = json.loads(kept) if kept else {"facts": {}, "judgements": {}}
        self._about = _described(self._kept["about"]) if kept else None
        self._facts: dict[str, Fact] = {}
        self._judgements: dict[str, Judgement] = {}
        self._fresh = not kept

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
            "about": {**self._described, "scale": asdict(self.scale)},
            "facts": {call: asdict(fact) for call, fact in sorted(self._facts.items())},
            "judgements": {asked: asdict(one) for asked, one in sorted(self._judgements.items())},
        }
        self._keep(json.dumps(value, allow_nan=False).encode())

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
        return self._about


def _described(about: dict[str, Any]) -> dict[str, Any]:
    scale = about["scale"]
    bounds = tuple(scale["bounds"]) if scale["bounds"] else None
    series = tuple(about["series"])
    return {"holds": about["holds"], "series": series, "scale": Scale(**{**scale, "bounds": bounds})}


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
