"""One palette slot for each series of the whole report, from the names in its figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.drafting.keys import make_names_key
from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.figures.palette import SLOTS, assign_slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.cache import Cache
    from reportgen.drafting.answers import ResultsStore
    from reportgen.drafting.plan import Plan
    from reportgen.errors import Problems
    from reportgen.model import Request, Source


@dataclass(frozen=True, slots=True)
class SeriesColours:
    """The palette slot of every series, and the series behind each request."""

    slots: Mapping[str, int]
    names: Mapping[Request, tuple[str, ...]]

    def get_slots(self, requests: Iterable[Request]) -> dict[str, int]:
        """The slots of the series behind some requests."""
        return {name: self.slots[name] for request in requests for name in self.names.get(request, ())}


def read_series_names(
    plan: Plan, sources: Mapping[str, Source], answers: ResultsStore, cache: Cache, problems: Problems
) -> dict[Request, tuple[str, ...]]:
    """The series behind every request, kept in the cache, so that unchanged sources are not read for them."""
    names: dict[Request, tuple[str, ...]] = {}
    for source, requests in plan.requests_by_source.items():
        key = make_names_key(cache, requests, sources[source])
        stored = cache.get(key)
        if stored is not None:
            names |= zip(requests, map(tuple, json.loads(stored)), strict=True)
            continue
        found: dict[Request, tuple[str, ...]] = {}
        for request in requests:
            with problems.collecting():
                found[request] = answers.get_series(request)
        if len(found) == len(requests):
            cache.put(key, json.dumps(list(found.values())).encode())
        names |= found
    return names


def choose_colours(
    plan: Plan, names: Mapping[Request, tuple[str, ...]], pinned: Mapping[str, int], problems: Problems
) -> SeriesColours:
    """Slots such that series drawn together differ, on every page alike.

    Args:
        plan: the report's; its order decides who is given a slot first.
        names: the series behind each request, as far as they could be read.
        pinned: places in the palette, from 1, that the author gave to series.
        problems: gets the pins that are out of range.
    """
    in_order = {request: names[request] for request in plan.requests if request in names}
    with problems.collecting():
        return SeriesColours(assign_slots(in_order.values(), _check_pins(pinned)), in_order)
    return SeriesColours(assign_slots(in_order.values()), in_order)


def _check_pins(pinned: Mapping[str, int]) -> dict[str, int]:
    wrong = [name for name, place in pinned.items() if not 1 <= place <= SLOTS]
    if wrong:
        said = f'the palette has places 1 to {SLOTS}, and "{wrong[0]}" asks for {pinned[wrong[0]]}'
        raise ReportError(Problem(SourceLocation("mkdocs.yml"), said, "", Stage.SETTINGS))
    return {name: place - 1 for name, place in pinned.items()}
