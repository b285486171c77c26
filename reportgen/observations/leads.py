"""Who leads at which steps: the series that is ahead of all others by more than noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import SAME, align_series
from reportgen.observations.windows import Windows, make_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray, IntArray
    from reportgen.observations.aligned import Aligned, BoolArray
    from reportgen.observations.field import Field


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
