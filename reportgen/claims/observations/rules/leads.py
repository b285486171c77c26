"""The rule ``crossing``: who leads where, where the leader changes, and who is last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position
from reportgen.claims.observations.phrases import format_during, format_few, format_range, format_stretches
from reportgen.claims.observations.thresholds import SAME, describe_share
from reportgen.core.statements import Observation
from reportgen.core.words import format_count
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.windows import Aligned, BoolArray, Windows
    from reportgen.core.model import FloatArray, IntArray


_TWO_SERIES = 2
_MOST_SHOWN = 3
"""More stretches of one series than these are put together, or counted."""

_MOST_STRETCHES, _MOST_RIVALS = 14, 8
_MOSTLY = 0.5
"""Last throughout is who is last at more than this share of the steps, and nobody else at any."""

_TESTED = 8.0
"""Strength of what a test says."""


class Stretch(NamedTuple):
    """Neighbouring steps at which the same series leads: places in ``Aligned.steps``, both included."""

    leader: int
    first: int
    last: int

    @property
    def size(self) -> int:
        """The number of steps."""
        return self.last - self.first + 1


class _Largest(NamedTuple):
    """Where a series leads by most: over which other, at which place of ``Aligned.steps``, by how much."""

    leader: int
    rival: int
    place: int
    size: float


class _LeadWords(NamedTuple):
    """The words for who leads; where neither way is better, for who is highest.

    Attributes:
        leads: that one leads, before the steps.
        leads_other: that one of two leads throughout, before the other's name.
        change: the head of a sentence about changes, before how often.
        last: the last place.
        ahead, behind: how one stands to another.
        alone: which of two reads higher, noise or not.
        label: at the step at which a series takes the lead.
    """

    leads: str = "leads"
    leads_other: str = "leads"
    change: str = "The lead changes"
    last: str = "last"
    ahead: str = "ahead of"
    behind: str = "behind"
    alone: str = "ahead"
    label: str = "takes the lead"


_LEADING = _LeadWords()
_LOWEST_LEADS = _LeadWords(change="The lead, which the lower value has, changes")
_HIGHEST = _LeadWords(
    leads="is highest",
    leads_other="is above",
    change="Which is highest changes",
    last="lowest",
    ahead="above",
    behind="below",
    alone="above",
    label="becomes highest",
)


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
class _Leads:
    """Who leads two or more series at which steps, or is last: by a test, or by the readings alone.

    Attributes:
        field: has the series.
        tested: the windows of readings that are tested; None where it is the readings alone.
        turned: ask who is behind all others.
    """

    field: Field
    tested: Windows | None
    turned: bool

    @property
    def aligned(self) -> Aligned:
        return self.field.aligned

    @property
    def names(self) -> tuple[str, ...]:
        return self.aligned.names

    @cached_property
    def good(self) -> FloatArray:
        """Readings, more being further ahead, shape (S, G)."""
        return -self.aligned.good if self.turned else self.aligned.good

    @cached_property
    def leaders(self) -> IntArray:
        """The place of the series that leads each step, −1 where none does, shape (G,)."""
        if self.tested is not None:
            return self.tested.find_leaders()
        good = self.good
        present = np.isfinite(good)
        first: IntArray = np.argmax(np.where(present, good, -np.inf), axis=0)
        columns = np.arange(good.shape[1])
        enough = good[first, columns] - good > self.aligned.least * (1 + SAME)
        enough[first, columns] = True
        return np.where((enough | ~present).all(axis=0) & (present.sum(axis=0) > 1), first, -1)

    @cached_property
    def stretches(self) -> list[Stretch]:
        return find_stretches(self.leaders)

    @cached_property
    def merged(self) -> list[Stretch]:
        """Stretches of one leader after the other put together, across steps that nobody leads."""
        merged: list[Stretch] = []
        for stretch in self.stretches:
            if merged and merged[-1].leader == stretch.leader:
                merged[-1] = merged[-1]._replace(last=stretch.last)
            else:
                merged.append(stretch)
        return merged

    @cached_property
    def who(self) -> list[int]:
        """Places of all leaders, in the order of steps."""
        return list(dict.fromkeys(stretch.leader for stretch in self.stretches))

    @cached_property
    def words(self) -> _LeadWords:
        if not self.field.ranks:
            return _HIGHEST
        return _LEADING if self.field.sign > 0 else _LOWEST_LEADS

    @property
    def relation(self) -> str:
        """How a leader stands to another."""
        return self.words.behind if self.turned else self.words.ahead

    def get_step(self, place: int) -> float:
        return float(self.aligned.steps[place])

    def get_ends(self, stretch: Stretch) -> tuple[float, float]:
        return self.get_step(stretch.first), self.get_step(stretch.last)

    def find_ahead(self, row: int) -> BoolArray:
        """Where a series is ahead of each other one, shape (S, G)."""
        if self.tested is not None:
            return self.tested.find_ahead(row)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.good[row] - self.good > self.aligned.least * (1 + SAME))

    def find_largest(self) -> list[_Largest]:
        """The step at which the readings of each leader are furthest ahead of the next, where it leads."""
        largest = []
        for row in self.who:
            own = [np.arange(one.first, one.last + 1) for one in self.stretches if one.leader == row]
            inside = np.concatenate(own)
            rivals = np.where(np.isfinite(self.good[:, inside]), self.good[:, inside], -np.inf)
            rivals[row] = -np.inf
            ahead = self.good[row, inside] - rivals.max(axis=0)
            at = int(np.argmax(ahead))
            largest.append(_Largest(row, int(np.argmax(rivals[:, at])), int(inside[at]), float(ahead[at])))
        return largest

    def describe_basis(self) -> tuple[float, str]:
        """How clear the weakest lead is, and in words."""
        if self.tested is not None:
            basis = "means over windows of readings differ, by t over all windows and pairs"
            return _TESTED, f"{basis}; {describe_share(self.field.share_of_leads)}"
        weakest = min(largest.size for largest in self.find_largest())
        return self.field.readings_alone.strength(weakest), self.field.readings_alone.describe(weakest)


def find_stretches(leaders: IntArray) -> list[Stretch]:
    """Runs of equal leaders, without those of steps that nobody leads, which are below 0."""
    bounds = [0, *(np.flatnonzero(np.diff(leaders)) + 1).tolist(), leaders.size]
    every = [Stretch(int(leaders[first]), first, end - 1) for first, end in pairwise(bounds) if end > first]
    return [stretch for stretch in every if stretch.leader >= 0]


def observe_crossing(field: Field) -> Iterator[Observation]:
    """Who leads where; and who is last throughout."""
    if len(field.curves) < _TWO_SERIES:
        return
    leads = _find_leads(field, field.windows)
    if leads is not None and leads.stretches:
        yield _make_lead_observation(leads)
    if len(field.curves) == _TWO_SERIES:
        return
    last = _find_leads(field, field.make_windows(turned=True), turned=True)
    if last is None or len(last.who) != 1:
        return
    if sum(stretch.size for stretch in last.stretches) > _MOSTLY * last.leaders.size:
        yield _make_last_observation(last)


def _find_leads(field: Field, tested: Windows | None, *, turned: bool = False) -> _Leads | None:
    """Who leads where; None where neither a test nor few readings show it."""
    leads = _Leads(field, tested, turned)
    if tested is not None and (leads.leaders >= 0).any():
        return leads
    return _Leads(field, None, turned) if field.few else None


def _make_lead_observation(leads: _Leads) -> Observation:
    names = [leads.names[row] for row in leads.who]
    changes = len(leads.merged) - 1
    first, last = leads.merged[0], leads.merged[-1]
    evidence = (*_describe_readings(leads), *_describe_ahead(leads, last.leader))
    strength, threshold = leads.describe_basis()
    return Observation(
        rule=Rule.CROSSING,
        text=f"{_describe_leaders(leads)}{_describe_absent(leads)}.",
        evidence=evidence or _describe_largest(leads),
        threshold=threshold,
        series=tuple(names) if changes else tuple(dict.fromkeys([*names, *leads.names])),
        strength=strength,
        from_step=leads.get_step(first.last if changes else first.first),
        to_step=leads.get_step(last.first if changes else last.last),
        mark_series=leads.names[last.leader] if changes else None,
        mark=leads.get_step(last.first) if changes else None,
        label=leads.words.label if changes else "",
    )


def _make_last_observation(last: _Leads) -> Observation:
    row = last.who[0]
    name = last.names[row]
    total = sum(stretch.size for stretch in last.stretches)
    every = total == int(np.isfinite(last.good[row]).sum())
    where = "at every step" if every else _describe_when(last, row)
    alone = "By the readings alone, " if last.tested is None else ""
    strength, threshold = last.describe_basis()
    return Observation(
        rule=Rule.CROSSING,
        text=f"{alone}{name} is {last.words.last} {where}.",
        evidence=_describe_ahead(last, row) or _describe_largest(last),
        threshold=threshold,
        series=(name, *(other for other in last.names if other != name)),
        strength=strength,
        from_step=last.get_step(last.stretches[0].first),
        to_step=last.get_step(last.stretches[-1].last),
    )


def _describe_leaders(leads: _Leads) -> str:
    """Who leads where; that the lead changes, only where a test has found each leader."""
    words, who = leads.words, leads.who
    parts = [f"{leads.names[row]} {_describe_when(leads, row)}" for row in who]
    first = leads.names[who[0]]
    alone_of_two = len(who) == 1 and len(leads.names) == _TWO_SERIES
    against = f" {leads.names[1 - who[0]]}" if alone_of_two else ""
    rest = parts[0].removeprefix(first)
    if leads.tested is None:
        ahead = "is ahead" if leads.field.ranks else "is highest"
        parts[0] = f"{first} {f'is {words.ahead}{against}' if against else ahead}{rest}"
        return f"By the readings alone, {', '.join(parts)}"
    parts[0] = f"{first} {words.leads_other if against else words.leads}{against}{rest}"
    changes = len(leads.merged) - 1
    times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
    return f"{f'{words.change} {times}: ' if changes else ''}{', '.join(parts)}"


def _describe_when(leads: _Leads, row: int) -> str:
    """The steps at which one series leads: each stretch, or how many steps of a range, or of all."""
    own = [stretch for stretch in leads.stretches if stretch.leader == row]
    if len(own) <= _MOST_SHOWN:
        ends = [leads.get_ends(stretch) for stretch in own]
        return format_stretches(ends, leads.get_step(-1), leads.field.scale)
    total = sum(stretch.size for stretch in own)
    merged = [stretch for stretch in leads.merged if stretch.leader == row]
    if len(merged) == 1:
        steps = format_range(*leads.get_ends(merged[0]), leads.field.scale)
        return f"at {total:,} of the {merged[0].size:,} steps from {steps}"
    return f"at {format_count(total, 'step')} of {leads.aligned.steps.size:,}"


def _describe_absent(leads: _Leads) -> str:
    """Which of three or more series have no readings at some of the steps that are reported."""
    first, last = leads.stretches[0].first, leads.stretches[-1].last
    parts = []
    for name, good in zip(leads.names, leads.good, strict=True):
        known = np.flatnonzero(np.isfinite(good)).tolist()
        start, end = (
            describe_position(leads.get_step(place), leads.field.scale) for place in (known[0], known[-1])
        )
        parts += [f"{name} starts {start}"] if first < known[0] else []
        parts += [f"{name} ends {end}"] if last > known[-1] else []
    return f"; {format_few(parts, _MOST_SHOWN)}" if parts and len(leads.names) > _TWO_SERIES else ""


def _describe_readings(leads: _Leads) -> tuple[str, ...]:
    """How often two series cross, and which is ahead where, noise or not; nothing for more than two."""
    if len(leads.names) != _TWO_SERIES:
        return ()
    good = leads.aligned.good
    ahead = good[0] - good[1]
    signs = np.where(np.abs(ahead) <= SAME * np.nanmax(np.abs(good)), 0, np.sign(ahead))
    different = np.isfinite(ahead) & (signs != 0)
    clear = signs[different]
    crossings = int((clear[1:] != clear[:-1]).sum())
    counted = f"{leads.field.format_call('crossings', *leads.names)} = {crossings:,}"
    stretches = find_stretches(np.where(different, (signs < 0).astype(np.int64), -1))
    if not 0 < len(stretches) <= _MOST_STRETCHES:
        return (counted,)
    parts = []
    for row, name in enumerate(leads.names):
        ends = [leads.get_ends(stretch) for stretch in stretches if stretch.leader == row]
        if ends:
            parts.append(f"{name} {format_stretches(ends, leads.get_step(-1), leads.field.scale)}")
    return (counted, f"{leads.words.alone} by the readings alone: {', '.join(parts)}")


def _describe_ahead(leads: _Leads, row: int) -> tuple[str, ...]:
    """From which step to its end a series is ahead of each other one, and by how much; nearest first.

    Of two series the sentence says it already.
    """
    if len(leads.names) == _TWO_SERIES:
        return ()
    clear = leads.find_ahead(row)
    parts: list[tuple[float, str, str]] = []
    for rival, name in enumerate(leads.names):
        ahead = leads.good[row] - leads.good[rival]
        known = np.flatnonzero(np.isfinite(ahead))
        enough = clear[rival, known] & (ahead[known] > 0)
        since = int(np.argmin(enough[::-1])) if not enough.all() else enough.size
        if rival == row or not since:
            continue
        steps = known[-since:]
        pair = leads.names[row], name
        smallest = float(np.min(ahead[steps]))
        least, most = (leads.field.format_size(size, *pair) for size in (smallest, float(ahead[steps].max())))
        size = least if least == most else f"{least} to {most}"
        ends = leads.get_step(steps[0]), leads.get_step(steps[-1]), leads.get_step(-1)
        when = format_during(*ends, leads.field.scale)
        parts.append((smallest, name, f"{pair[0]} is {leads.relation} {name} {when}, by {size}"))
    return tuple(words for _, _, words in sorted(parts)[:_MOST_RIVALS])


def _describe_largest(leads: _Leads) -> tuple[str, ...]:
    """By how much each series' readings are ahead of the next at most, where it leads, or behind it."""
    parts = []
    for largest in leads.find_largest()[:_MOST_RIVALS]:
        pair = leads.names[largest.leader], leads.names[largest.rival]
        size = leads.field.format_size(largest.size, *pair)
        where = describe_position(leads.get_step(largest.place), leads.field.scale)
        parts.append(f"{pair[0]} is {leads.relation} {pair[1]} by up to {size}, {where}")
    return tuple(parts)
