"""Who leads at which steps: the series that is ahead of all others by more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import IntArray
    from reportgen.observations.aligned import Aligned


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


def leaders(side_by_side: Aligned, *, last_place: bool = False) -> IntArray:
    """The place of the series that leads each step by more than noise, shape (G,); −1 where none does.

    Args:
        side_by_side: two or more series.
        last_place: look for the series behind all others instead.
    """
    good = -side_by_side.good if last_place else side_by_side.good
    here = np.arange(good.shape[1])
    present = np.isfinite(good)
    first: IntArray = np.argmax(np.where(present, good, -np.inf), axis=0)
    ahead = good[first, here] - good
    enough = ahead > side_by_side.thresholds(first, side_by_side.choices) * (1 + SAME)
    enough[first, here] = True
    clear = (enough | ~present).all(axis=0) & (present.sum(axis=0) > 1)
    return np.where(clear, first, -1)


def first_apart(side_by_side: Aligned) -> int:
    """The first place in ``Aligned.steps`` where any two series differ by more than noise; G if none do."""
    first = side_by_side.steps.size
    for one in range(len(side_by_side.names) - 1):
        # Only what comes before a known place is of interest, and each pair once.
        others = side_by_side.part(slice(one, None), slice(first))
        held = others.thresholds(0, side_by_side.choices)
        # Outside a series' range there is nothing to differ from.
        differ = (np.abs(others.good - others.good[0]) > held * (1 + SAME)).any(axis=0)
        first = int(np.argmax(differ)) if differ.any() else first
    return first


def stretches(led: IntArray) -> list[Stretch]:
    """Runs of equal leaders, without those of steps that nobody leads."""
    ends = np.flatnonzero(np.diff(led)) if led.size else np.empty(0, dtype=int)
    starts = [0, *(ends + 1).tolist()]
    stops = [*ends.tolist(), led.size - 1]
    every = [Stretch(int(led[first]), first, last) for first, last in zip(starts, stops, strict=True)]
    return [one for one in every if one.leader >= 0]


def turns(found: Sequence[Stretch]) -> list[Stretch]:
    """Stretches of one leader after the other put together, across steps that nobody leads."""
    merged: list[Stretch] = []
    for one in found:
        if merged and merged[-1].leader == one.leader:
            merged[-1] = Stretch(one.leader, merged[-1].first, one.last)
        else:
            merged.append(one)
    return merged


def largest_of(
    side_by_side: Aligned, found: Sequence[Stretch], who: Sequence[int], *, last_place: bool = False
) -> list[Largest]:
    """The step at which each series is furthest ahead of the next, among those where it leads.

    Args:
        side_by_side: two or more series.
        found: where they lead, or are last.
        who: places of series, each with a stretch.
        last_place: how far they are behind.
    """
    good = -side_by_side.good if last_place else side_by_side.good
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
