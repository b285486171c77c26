"""Which of its places each label takes, so that labels and their leaders keep clear of each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.figures.label_places import Box, LabelPlace, Obstacles, is_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEADER_GAP = 3
_ROUNDS = 8


def choose_places(
    candidates: Sequence[Sequence[LabelPlace]], obstacles: Obstacles
) -> list[LabelPlace | None]:
    """The place of each label, the most important label first; None where there is no room for it.

    Each in turn takes the cheapest place that is free. One that finds none takes the first turn in another
    round. The round counts that leaves out the fewest labels, and the least important ones.
    """
    cheapest = [sorted(places, key=lambda place: place.cost) for places in candidates]
    order = list(range(len(candidates)))
    best = found = _place_in_turn(order, cheapest, obstacles)
    for _ in range(_ROUNDS):
        left = _list_unplaced(found)
        if not left:
            break
        order.remove(left[0])
        order.insert(0, left[0])
        found = _place_in_turn(order, cheapest, obstacles)
        best = min(best, found, key=_rank)
    return best


def _list_unplaced(found: Sequence[LabelPlace | None]) -> list[int]:
    return [number for number, place in enumerate(found) if place is None]


def _rank(found: Sequence[LabelPlace | None]) -> tuple[int, list[int]]:
    """Few left out come before many, unimportant ones before others."""
    left = _list_unplaced(found)
    return len(left), [-number for number in left]


def _place_in_turn(
    order: Sequence[int], candidates: Sequence[Sequence[LabelPlace]], obstacles: Obstacles
) -> list[LabelPlace | None]:
    words, leaders = list(obstacles.words), list[Box]()
    found: list[LabelPlace | None] = [None] * len(candidates)
    for number in order:
        free = (place for place in candidates[number] if _is_free(place, words, leaders))
        best, least = None, math.inf
        for place in free:
            if place.cost >= least:
                # They rise in what they cost by themselves.
                break
            cost = place.cost + obstacles.compute_cost(place.box)
            if cost < least:
                best, least = place, cost
        found[number] = best
        if best:
            words.append(best.box)
            leaders += [best.leader] if best.leader else []
    return found


def _is_free(place: LabelPlace, words: Sequence[Box], leaders: Sequence[Box]) -> bool:
    """Whether a label and its leader keep clear of other labels and their leaders."""
    if not all(is_apart(place.box, one) for one in words):
        return False
    if not all(is_apart(place.box, one, _LEADER_GAP) for one in leaders):
        return False
    return place.leader is None or all(is_apart(place.leader, one, _LEADER_GAP) for one in words)
