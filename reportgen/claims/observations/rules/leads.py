"""The rule ``crossing``: who leads where, where the leader changes, and who is last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position
from reportgen.claims.observations.field import align_series, make_windows
from reportgen.claims.observations.phrases import (
    format_call_of,
    format_during,
    format_few,
    format_range,
    format_stretches,
)
from reportgen.claims.observations.thresholds import SAME, describe_share
from reportgen.core.statements import Observation
from reportgen.core.words import format_count
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.windows import Aligned, BoolArray, Windows
    from reportgen.core.model import FloatArray, IntArray


class Stretch(NamedTuple):
    """Neighbouring steps at which the same series leads: places in ``Aligned.steps``, both included."""

    leader: int
    first: int
    last: int


class Largest(NamedTuple):
    """Where a series leads by most: over which other, at which place of ``Aligned.steps``, by how much."""

    leader: int
    rival: int
    at: int
    size: float


@dataclass(frozen=True)
class Leads:
    """Who leads at which steps, or is last: by a test, or by the readings alone.

    Attributes:
        both: two or more series.
        tested: the windows of readings that are tested; None where it is the readings alone.
        turned: ask who is behind all others.
    """

    both: Aligned
    tested: Windows | None
    turned: bool = False

    @cached_property
    def led(self) -> IntArray:
        """The place of the series that leads each step, −1 where none does, shape (G,)."""
        if self.tested is not None:
            return self.tested.find_leaders()
        good = self.good
        present = np.isfinite(good)
        first: IntArray = np.argmax(np.where(present, good, -np.inf), axis=0)
        enough = good[first, np.arange(good.shape[1])] - good > self.both.least * (1 + SAME)
        enough[first, np.arange(good.shape[1])] = True
        return np.where((enough | ~present).all(axis=0) & (present.sum(axis=0) > 1), first, -1)

    @property
    def good(self) -> FloatArray:
        """Readings, more being further ahead, shape (S, G)."""
        return -self.both.good if self.turned else self.both.good

    def find_ahead(self, place: int) -> BoolArray:
        """Where a series is ahead of each other one, shape (S, G)."""
        if self.tested is not None:
            return self.tested.find_ahead(place)
        with np.errstate(invalid="ignore"):
            found: BoolArray = self.good[place] - self.good > self.both.least * (1 + SAME)
        return found


def find_leads(field: Field, *, turned: bool = False) -> Leads | None:
    """Who leads where, as far as it may be told; None where neither a test nor few readings allow it."""
    both = align_series(field)
    tested = field.windows if not turned else make_windows(field, both, turned=True)
    found = Leads(both, tested, turned)
    if tested is not None and (found.led >= 0).any():
        return found
    return Leads(both, None, turned) if field.few else None


def find_stretches(led: IntArray) -> list[Stretch]:
    """Runs of equal leaders, without those of steps that nobody leads."""
    ends = np.flatnonzero(np.diff(led)) if led.size else np.empty(0, dtype=int)
    starts = [0, *(ends + 1).tolist()]
    stops = [*ends.tolist(), led.size - 1]
    every = [Stretch(int(led[first]), first, last) for first, last in zip(starts, stops, strict=True)]
    return [one for one in every if one.leader >= 0]


def merge_stretches(found: Sequence[Stretch]) -> list[Stretch]:
    """Stretches of one leader after the other put together, across steps that nobody leads."""
    merged: list[Stretch] = []
    for one in found:
        if merged and merged[-1].leader == one.leader:
            merged[-1] = Stretch(one.leader, merged[-1].first, one.last)
        else:
            merged.append(one)
    return merged


def find_largest_leads(side: Leads, found: Sequence[Stretch], who: Sequence[int]) -> list[Largest]:
    """The step at which the readings of each series are furthest ahead of the next, where it leads.

    Args:
        side: two or more series.
        found: where they lead, or are last.
        who: places of series, each with a stretch.
    """
    good = side.good
    largest = []
    for place in who:
        own = [np.arange(one.first, one.last + 1) for one in found if one.leader == place]
        inside = np.concatenate(own)
        rivals = np.where(np.isfinite(good[:, inside]), good[:, inside], -np.inf)
        rivals[place] = -np.inf
        ahead = good[place, inside] - rivals.max(axis=0)
        at = int(np.argmax(ahead))
        largest.append(Largest(place, int(np.argmax(rivals[:, at])), int(inside[at]), float(ahead[at])))
    return largest


_PAIR = 2
_MOST_SAID = 3
"""More stretches of one series than these are put together, or counted."""


class LeadWords(NamedTuple):
    """What is said of who leads; where neither way is better, of who is highest.

    Attributes:
        leads: that one leads, with the steps behind it.
        leads_other: that one of two leads throughout, with the other's name behind it.
        change: the head of a sentence about changes, before how often.
        last: the last place.
        ahead, behind: how one stands to another.
        alone: which of two reads higher, noise or not.
        label: at the step at which a series takes the lead.
    """

    leads: str
    leads_other: str
    change: str
    last: str
    ahead: str
    behind: str
    alone: str
    label: str


_LEADING = LeadWords(
    leads="leads",
    leads_other="leads",
    change="The lead changes",
    last="last",
    ahead="ahead of",
    behind="behind",
    alone="ahead",
    label="takes the lead",
)
_HIGHEST = LeadWords(
    leads="is highest",
    leads_other="is above",
    change="Which is highest changes",
    last="lowest",
    ahead="above",
    behind="below",
    alone="above",
    label="becomes highest",
)


def get_lead_words(field: Field) -> LeadWords:
    """The words for who leads a metric, or stands highest where neither way is better."""
    if not field.ranks:
        return _HIGHEST
    if field.sign > 0:
        return _LEADING
    return _LEADING._replace(change="The lead, which the lower value has, changes")


def describe_when(field: Field, both: Aligned, found: Sequence[Stretch], leader: int) -> str:
    """The steps at which one series leads: each stretch, or how many steps of a range, or of all."""
    own = [one for one in found if one.leader == leader]
    if len(own) <= _MOST_SAID:
        ends = [(float(both.steps[one.first]), float(both.steps[one.last])) for one in own]
        return format_stretches(ends, float(both.steps[-1]), field.scale)
    merged = [one for one in merge_stretches(found) if one.leader == leader]
    if len(merged) == 1:
        (whole,) = merged
        total = sum(one.last - one.first + 1 for one in own)
        first, last = float(both.steps[whole.first]), float(both.steps[whole.last])
        steps = f"{whole.last - whole.first + 1:,} steps"
        return f"at {total:,} of the {steps} from {format_range(first, last, field.scale)}"
    total = sum(one.last - one.first + 1 for one in own)
    return f"at {format_count(total, 'step')} of {both.steps.size:,}"


def describe_absent(field: Field, both: Aligned, found: Sequence[Stretch]) -> str:
    """Which series have no readings at some of the steps that are told, where there are three or more."""
    places = np.concatenate([np.arange(one.first, one.last + 1) for one in found])
    said = []
    for place, name in enumerate(both.names):
        there = np.flatnonzero(np.isfinite(both.good[place]))
        if places.min() < there[0]:
            said.append(f"{name} starts {describe_position(float(both.steps[there[0]]), field.scale)}")
        if places.max() > there[-1]:
            said.append(f"{name} ends {describe_position(float(both.steps[there[-1]]), field.scale)}")
    if len(both.names) == _PAIR or not said:
        return ""
    return f"; {format_few(said, _MOST_SAID)}"


_TWO_SERIES = 2
_MOST_STRETCHES = 14
_MOST_RIVALS = 8


def describe_readings(field: Field, both: Aligned) -> tuple[str, ...]:
    """How often two series cross, and which is ahead where, noise or not; nothing for more than two."""
    if len(both.names) != _TWO_SERIES:
        return ()
    both = align_series(field, both.names)
    ahead = both.good[0] - both.good[1]
    size = np.nanmax(np.abs(both.good))
    signs = np.where(np.abs(ahead) <= SAME * size, 0, np.sign(ahead))
    there = np.isfinite(ahead)
    clear = signs[there & (signs != 0)]
    crossings = int((clear[1:] != clear[:-1]).sum())
    counted = f"{format_call_of(field, 'crossings', *both.names)} = {crossings:,}"
    found = find_stretches(np.where(there & (signs != 0), (signs < 0).astype(np.int64), -1))
    if not 0 < len(found) <= _MOST_STRETCHES:
        return (counted,)
    end = float(both.steps[-1])
    said = []
    for place, name in enumerate(both.names):
        ends = [
            (float(both.steps[one.first]), float(both.steps[one.last]))
            for one in found
            if one.leader == place
        ]
        if ends:
            said.append(f"{name} {format_stretches(ends, end, field.scale)}")
    return (counted, f"{get_lead_words(field).alone} by the readings alone: {', '.join(said)}")


def describe_ahead(field: Field, side: Leads, place: int) -> tuple[str, ...]:
    """From which step to its end a series is ahead of each other one, and by how much; nearest first.

    Args:
        field: has words.
        side: three or more series; of two nothing is told that is not said already.
        place: the series; where last places are looked at, from where on it is behind each.
    """
    both = side.both
    if len(both.names) == _TWO_SERIES:
        return ()
    words = get_lead_words(field)
    relation = words.behind if side.turned else words.ahead
    clear = side.find_ahead(place)
    said: list[tuple[float, str, str]] = []
    for rival, name in enumerate(both.names):
        ahead = side.good[place] - side.good[rival]
        there = np.flatnonzero(np.isfinite(ahead))
        enough = clear[rival, there] & (ahead[there] > 0)
        since = int(np.argmin(enough[::-1])) if not enough.all() else enough.size
        if rival == place or not since:
            continue
        steps = there[-since:]
        pair = (both.names[place], name)
        least, most = (field.format_size(float(pick(ahead[steps])), *pair) for pick in (np.min, np.max))
        by = least if least == most else f"{least} to {most}"
        when = format_during(
            float(both.steps[steps[0]]), float(both.steps[steps[-1]]), float(both.steps[-1]), field.scale
        )
        said.append(
            (float(np.min(ahead[steps])), name, f"{both.names[place]} is {relation} {name} {when}, by {by}")
        )
    return tuple(words for _, _, words in sorted(said)[:_MOST_RIVALS])


def describe_largest_leads(field: Field, side: Leads, found: Sequence[Stretch]) -> tuple[str, ...]:
    """By how much each series' readings are ahead of the next at most, where it leads, or behind it."""
    both = side.both
    who = list(dict.fromkeys(one.leader for one in found))
    words = get_lead_words(field)
    relation = words.behind if side.turned else words.ahead
    said = []
    for one in find_largest_leads(side, found, who)[:_MOST_RIVALS]:
        pair = both.names[one.leader], both.names[one.rival]
        by = (
            f"by up to {field.format_size(one.size, *pair)}, "
            f"{describe_position(float(both.steps[one.at]), field.scale)}"
        )
        said.append(f"{pair[0]} is {relation} {pair[1]} {by}")
    return tuple(said)


_FEWEST_SERIES = 2
_MOSTLY = 0.5
"""Last throughout is who is last at more than this share of the steps, and nobody else at any."""
_TESTED = 8.0
"""Strength of what a test says."""


def observe_crossing(field: Field) -> Iterator[Observation]:
    """Who leads where; and who is last throughout."""
    if len(field.curves) < _FEWEST_SERIES:
        return
    side = find_leads(field)
    if side is not None and (found := find_stretches(side.led)):
        yield _make_lead_observation(field, side, found)
    last = find_leads(field, turned=True) if len(field.curves) > _FEWEST_SERIES else None
    behind = find_stretches(last.led) if last is not None else []
    mostly = last is not None and sum(one.last - one.first + 1 for one in behind) > _MOSTLY * last.led.size
    if last is not None and mostly and len({one.leader for one in behind}) == 1:
        yield _make_last_observation(field, last, behind)


def _make_lead_observation(field: Field, side: Leads, found: list[Stretch]) -> Observation:
    both, merged = side.both, merge_stretches(found)
    who = list(dict.fromkeys(one.leader for one in found))
    names = [both.names[one] for one in who]
    changes = len(merged) - 1
    last = merged[-1]
    evidence = (*describe_readings(field, both), *describe_ahead(field, side, last.leader))
    strength, threshold = _describe_basis(field, side, found)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{_describe_leaders(field, side, found)}{describe_absent(field, both, found)}.",
        evidence=evidence or describe_largest_leads(field, side, found),
        threshold=threshold,
        series=tuple(names) if changes else tuple(dict.fromkeys([*names, *both.names])),
        strength=strength,
        from_step=float(both.steps[merged[0].last if changes else found[0].first]),
        to_step=float(both.steps[last.first if changes else found[-1].last]),
        mark_series=both.names[last.leader] if changes else None,
        mark=float(both.steps[last.first]) if changes else None,
        label=get_lead_words(field).label if changes else "",
    )


def _describe_leaders(field: Field, side: Leads, found: list[Stretch]) -> str:
    """Who leads where: that the lead changes is said only where a test has found each leader."""
    both, words = side.both, get_lead_words(field)
    who = list(dict.fromkeys(one.leader for one in found))
    said = [f"{both.names[one]} {describe_when(field, both, found, one)}" for one in who]
    first = both.names[who[0]]
    against = f" {both.names[1 - who[0]]}" if len(who) == 1 and len(both.names) == _FEWEST_SERIES else ""
    rest = said[0].removeprefix(first)
    if side.tested is None:
        ahead = f"is {words.ahead}{against}" if against else "is ahead" if field.ranks else "is highest"
        return f"By the readings alone, {', '.join([f'{first} {ahead}{rest}', *said[1:]])}"
    said[0] = f"{first} {words.leads_other if against else words.leads}{against}{rest}"
    changes = len(merge_stretches(found)) - 1
    times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
    return f"{f'{words.change} {times}: ' if changes else ''}{', '.join(said)}"


def _make_last_observation(field: Field, side: Leads, found: list[Stretch]) -> Observation:
    both, place = side.both, found[0].leader
    name = both.names[place]
    every = sum(one.last - one.first + 1 for one in found) == int(np.isfinite(both.good[place]).sum())
    where = "at every step" if every else describe_when(field, both, found, place)
    alone = "By the readings alone, " if side.tested is None else ""
    strength, threshold = _describe_basis(field, side, found)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{alone}{name} is {get_lead_words(field).last} {where}.",
        evidence=describe_ahead(field, side, place) or describe_largest_leads(field, side, found),
        threshold=threshold,
        series=(name, *(one for one in both.names if one != name)),
        strength=strength,
        from_step=float(both.steps[found[0].first]),
        to_step=float(both.steps[found[-1].last]),
    )


def _describe_basis(field: Field, side: Leads, found: list[Stretch]) -> tuple[float, str]:
    """How clear the weakest lead is, and in words."""
    if side.tested is not None:
        by = "means over windows of readings differ, by t over all windows and pairs"
        return _TESTED, f"{by}; {describe_share(field.share_of_leads)}"
    largest = find_largest_leads(side, found, list(dict.fromkeys(one.leader for one in found)))
    weakest = min(one.size for one in largest)
    return field.readings_alone.strength(weakest), field.readings_alone.describe(weakest)
