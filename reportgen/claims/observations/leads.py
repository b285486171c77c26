"""The rule ``crossing``: who leads where, where the leader changes, and who is last."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.fact_words import (
    describe_position,
    format_during,
    format_few,
    format_range,
    format_stretches,
)
from reportgen.claims.observations.field import observe
from reportgen.claims.observations.thresholds import describe_share
from reportgen.core.digits import SAME
from reportgen.core.words import format_count
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.thresholds import Aligned, Windows
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.statements import Observation


_TWO_SERIES = 2
_MOST_SHOWN = 3  # more stretches of one series are merged or counted
_MOST_STRETCHES, _MOST_RIVALS = 14, 8
_MOSTLY = 0.5  # a series is last throughout if it is at more than this share of steps, and no other ever is
_TESTED = 8.0  # strength of a tested observation


class Stretch(NamedTuple):
    """Consecutive steps with the same leader: places in ``Aligned.steps``, both included."""

    leader: int
    first: int
    last: int

    @property
    def size(self) -> int:
        """Number of steps."""
        return self.last - self.first + 1


_LEADS, _LOWEST_LEADS = "The lead changes", "The lead, which the lower value has, changes"


class _LeadWords(NamedTuple):
    """Wording of leads, or of who is highest if neither direction is better."""

    leads: str = "leads"  # before the steps
    leads_other: str = "leads"  # of two series, throughout, before the other's name
    change: str = _LEADS  # before the number of changes
    last: str = "last"
    ahead: str = "ahead of"
    behind: str = "behind"
    alone: str = "ahead"  # by the readings alone
    label: str = "takes the lead"


_HIGHEST = _LeadWords(
    *("is highest", "is above", "Which is highest changes", "lowest"),
    *("above", "below", "above", "becomes highest"),
)


class _Leads:
    """Leaders of two or more series (or the last) by step: by a test, or by the readings alone."""

    def __init__(self, field: Field, tested: Windows | None, *, turned: bool) -> None:
        self.field = field
        self.tested = tested  # windows to test, or None for the readings alone
        alone = tested is None and len(field.aligned.names) == _TWO_SERIES
        self.aligned = field.aligned.select_read() if alone else field.aligned
        is_read = (self.aligned.read | ~np.isfinite(self.aligned.good)).all()
        self.head = "By the readings alone, " if is_read else "Interpolated between readings, "
        self.names = self.aligned.names
        # Readings, higher is further ahead, (S, G); with ``turned``, further behind.
        self.good = -self.aligned.good if turned else self.aligned.good
        self.leaders = self.find_leaders() if tested is None else tested.find_leaders()
        self.stretches = find_stretches(self.leaders)
        self.who = list(dict.fromkeys(stretch.leader for stretch in self.stretches))
        # Consecutive stretches of one leader are merged across steps without a leader.
        groups = [list(group) for _, group in groupby(self.stretches, key=lambda stretch: stretch.leader)]
        self.merged = [group[0]._replace(last=group[-1].last) for group in groups]
        change = _LEADS if field.sign > 0 else _LOWEST_LEADS
        self.words = _LeadWords(change=change) if field.ranks else _HIGHEST
        self.relation = self.words.behind if turned else self.words.ahead

    def find_leaders(self) -> IntArray:
        """Return the index of the series whose reading leads at each step, −1 if none does, shape (G,)."""
        present = np.isfinite(self.good)
        first: IntArray = np.argmax(np.where(present, self.good, -np.inf), axis=0)
        columns = np.arange(self.good.shape[1])
        enough = self.good[first, columns] - self.good > self.aligned.least * (1 + SAME)
        enough[first, columns] = True
        return np.where((enough | ~present).all(axis=0) & (present.sum(axis=0) > 1), first, -1)

    def get_step(self, place: int) -> float:
        return float(self.aligned.steps[place])

    @cached_property
    def largest(self) -> list[tuple[int, int, int, float]]:
        """Largest lead of each leader over the next series: both, the place and the size."""
        largest = []
        for row in self.who:
            own = [np.arange(one.first, one.last + 1) for one in self.stretches if one.leader == row]
            inside = np.concatenate(own)
            rivals = np.where(np.isfinite(self.good[:, inside]), self.good[:, inside], -np.inf)
            rivals[row] = -np.inf
            ahead = self.good[row, inside] - rivals.max(axis=0)
            at = int(np.argmax(ahead))
            largest.append((row, int(np.argmax(rivals[:, at])), int(inside[at]), float(ahead[at])))
        return largest

    def rate(self) -> tuple[str, float]:
        if self.tested is not None:
            basis = "means over windows of readings differ, by t over all windows and pairs"
            return f"{basis}; {describe_share(self.field.share_of_leads)}", _TESTED
        return self.field.readings_alone.rate(min(size for *_, size in self.largest))

    def describe_leaders(self) -> str:
        """Describe who leads where, changes of the leader, and series that start late or end early."""
        words, who = self.words, self.who
        parts = [f"{self.names[row]} {self.describe_when(row)}" for row in who]
        first = self.names[who[0]]
        against = f" {self.names[1 - who[0]]}" if len(who) == 1 and len(self.names) == _TWO_SERIES else ""
        rest = parts[0].removeprefix(first)
        if self.tested is None:
            ahead = "is ahead" if self.field.ranks else "is highest"
            parts[0] = f"{first} {f'is {words.ahead}{against}' if against else ahead}{rest}"
            head = self.head
        else:
            parts[0] = f"{first} {words.leads_other if against else words.leads}{against}{rest}"
            changes = len(self.merged) - 1
            times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
            head = f"{words.change} {times}: " if changes else ""
        absent = []
        for name, good in zip(self.names, self.good, strict=True):
            known = np.flatnonzero(np.isfinite(good)).tolist()
            start, end = (describe_position(self.get_step(known[at]), self.field.scale) for at in (0, -1))
            absent += [f"{name} starts {start}"] if self.stretches[0].first < known[0] else []
            absent += [f"{name} ends {end}"] if self.stretches[-1].last > known[-1] else []
        tail = f"; {format_few(absent, _MOST_SHOWN)}" if absent and len(self.names) > _TWO_SERIES else ""
        return f"{head}{', '.join(parts)}{tail}."

    def describe_readings(self) -> list[str]:
        """Count the crossings of two series, and describe which is ahead where, regardless of noise."""
        if len(self.names) != _TWO_SERIES:
            return []
        signs = _compare(self.field.aligned)
        clear = signs[np.isfinite(signs) & (signs != 0)]
        crossings = int((clear[1:] != clear[:-1]).sum())
        counted = f"{self.field.format_call('crossings', *self.names)} = {crossings:,}"
        read = self.field.aligned.select_read()
        signs = _compare(read)
        leaders = np.where(np.isfinite(signs) & (signs != 0), signs < 0, -1).astype(np.int64)
        stretches = find_stretches(leaders)
        if not 0 < len(stretches) <= _MOST_STRETCHES:
            return [counted]
        parts = []
        for row, name in enumerate(self.names):
            own = [stretch for stretch in stretches if stretch.leader == row]
            parts += [f"{name} {_format_stretches(own, read, self.field)}"] if own else []
        return [counted, f"{self.words.alone} by the readings alone: {', '.join(parts)}"]

    def describe_when(self, row: int) -> str:
        """Describe where a series leads: each stretch, or the number of steps."""
        own = [stretch for stretch in self.stretches if stretch.leader == row]
        if len(own) <= _MOST_SHOWN:
            return _format_stretches(own, self.aligned, self.field)
        total = sum(stretch.size for stretch in own)
        merged = [stretch for stretch in self.merged if stretch.leader == row]
        if len(merged) == 1:
            ends = self.get_step(merged[0].first), self.get_step(merged[0].last)
            return (
                f"at {total:,} of the {merged[0].size:,} steps from {format_range(*ends, self.field.scale)}"
            )
        return f"at {format_count(total, 'step')} of {self.aligned.steps.size:,}"

    def list_evidence(self, row: int) -> list[str]:
        """List since when and by how much a series is ahead of each other one; empty for two."""
        if len(self.names) == _TWO_SERIES:
            return []
        parts: list[tuple[float, str, str]] = []
        if self.tested is not None:
            clear = self.tested.find_ahead(row)
        else:
            with np.errstate(invalid="ignore"):
                clear = np.asarray(self.good[row] - self.good > self.aligned.least * (1 + SAME))
        for rival, name in enumerate(self.names):
            ahead = self.good[row] - self.good[rival]
            known = np.flatnonzero(np.isfinite(ahead))
            enough = clear[rival, known] & (ahead[known] > 0)
            since = int(np.argmin(enough[::-1])) if not enough.all() else enough.size
            if rival == row or not since:
                continue
            steps = known[-since:]
            pair = self.names[row], name
            smallest = float(np.min(ahead[steps]))
            sizes = [self.field.format_size(size, *pair) for size in (smallest, float(ahead[steps].max()))]
            size = " to ".join(dict.fromkeys(sizes))
            ends = self.get_step(steps[0]), self.get_step(steps[-1]), self.get_step(-1)
            when = format_during(*ends, self.field.scale)
            parts.append((smallest, name, f"{pair[0]} is {self.relation} {name} {when}, by {size}"))
        return [words for _, _, words in sorted(parts)[:_MOST_RIVALS]]

    def list_largest(self) -> list[str]:
        """List the largest lead of each series over the next, or how far it is behind."""
        parts = []
        for leader, rival, place, ahead in self.largest[:_MOST_RIVALS]:
            pair = self.names[leader], self.names[rival]
            size = self.field.format_size(ahead, *pair)
            where = describe_position(self.get_step(place), self.field.scale)
            parts.append(f"{pair[0]} is {self.relation} {pair[1]} by up to {size}, {where}")
        return parts


def _compare(aligned: Aligned) -> FloatArray:
    """Return the sign of the first series' lead over the second at each step, shape (G,)."""
    ahead = aligned.good[0] - aligned.good[1]
    return np.where(np.abs(ahead) <= SAME * np.nanmax(np.abs(aligned.good), initial=0.0), 0, np.sign(ahead))


def _format_stretches(stretches: list[Stretch], aligned: Aligned, field: Field) -> str:
    steps = aligned.steps.tolist()
    ends = [(steps[one.first], steps[one.last]) for one in stretches]
    return format_stretches(ends, steps[-1], field.scale)


def find_stretches(leaders: IntArray) -> list[Stretch]:
    """Find stretches of equal leaders, without steps that have none (below 0)."""
    bounds = [0, *(np.flatnonzero(np.diff(leaders)) + 1).tolist(), leaders.size]
    every = [Stretch(int(leaders[first]), first, end - 1) for first, end in pairwise(bounds) if end > first]
    return [stretch for stretch in every if stretch.leader >= 0]


def observe_crossing(field: Field) -> Iterator[Observation]:
    """Yield who leads where, and who is last throughout."""
    count = len(field.curves)
    if count < _TWO_SERIES:
        return
    leads = _find_leads(field, field.windows)
    if leads is not None and leads.stretches:
        names = [leads.names[row] for row in leads.who]
        first, last = leads.merged[0], leads.merged[-1]
        evidence = [*leads.describe_readings(), *leads.list_evidence(last.leader)] or leads.list_largest()
        series, label = [*names, *leads.names], ""
        mark: tuple[str, float] | None = None
        steps = leads.get_step(first.first), leads.get_step(last.last)
        if len(leads.merged) > 1:
            steps = leads.get_step(first.last), leads.get_step(last.first)
            series, label = names, leads.words.label
            mark = leads.names[last.leader], leads.get_step(last.first)
        text = leads.describe_leaders()
        series = list(dict.fromkeys(series))
        yield observe(
            Rule.CROSSING, text, evidence, leads.rate(), series, steps=steps, mark=mark, label=label
        )
    if count == _TWO_SERIES:
        return
    lowest = _find_leads(field, field.make_windows(turned=True), turned=True)
    if lowest is None or len(lowest.who) != 1:
        return
    (row,) = lowest.who
    total = sum(stretch.size for stretch in lowest.stretches)
    if total > _MOSTLY * lowest.leaders.size:
        name = lowest.names[row]
        every = total == int(np.isfinite(lowest.good[row]).sum())
        where = "at every step" if every else lowest.describe_when(row)
        alone = lowest.head if lowest.tested is None else ""
        evidence = lowest.list_evidence(row) or lowest.list_largest()
        series = list(dict.fromkeys([name, *lowest.names]))
        steps = lowest.get_step(lowest.stretches[0].first), lowest.get_step(lowest.stretches[-1].last)
        text = f"{alone}{name} is {lowest.words.last} {where}."
        yield observe(Rule.CROSSING, text, evidence, lowest.rate(), series, steps=steps)


def _find_leads(field: Field, tested: Windows | None, *, turned: bool = False) -> _Leads | None:
    """Find the leaders by step, or None if neither a test nor few readings show any."""
    leads = _Leads(field, tested, turned=turned)
    if tested is not None and (leads.leaders >= 0).any():
        return leads
    return _Leads(field, None, turned=turned) if field.few else None
