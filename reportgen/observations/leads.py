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


def leaders(side_by_side: Aligned, *, last_place: bool = False) -> IntArray:
    """The place of the series that leads each step by more than noise, shape (G,); −1 where none does.

    Args:
        side_by_side: two or more series.
        last_place: look for the series behind all others instead.
    """
    good = -side_by_side.good if last_place else side_by_side.good
    size, length = good.shape
    found = np.full(length, -1, dtype=np.int64)
    for one in range(size):
        ahead = good[one] - good
        enough = side_by_side.thresholds(one, length * (size - 1)) * (1 + SAME)
        absent = np.isnan(good)
        others = ~absent
        others[one] = False
        clear = np.where(others, ahead > enough, True).all(axis=0)
        found[clear & others.any(axis=0) & ~absent[one]] = one
    return found


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
