"""Which of its places each label takes, so that labels and their leaders keep clear of each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.figures.label_places import Box, Drawn, Place, apart

if TYPE_CHECKING:
    from collections.abc import Sequence

_BESIDE_A_LEADER = 3
_ROUNDS = 8


def chosen(wishes: Sequence[Sequence[Place]], drawn: Drawn) -> list[Place | None]:
    """The place of each label, the most important label first; None where there is no room for it.

    Each in turn takes the cheapest place that is free. One that finds none takes the first turn in another
    round. The round counts that leaves out the fewest labels, and the least important ones.
    """
    cheapest = [sorted(places, key=lambda place: place.cost) for places in wishes]
    order = list(range(len(wishes)))
    best = found = _in_turn(order, cheapest, drawn)
    for _ in range(_ROUNDS):
        left = _left_out(found)
        if not left:
            break
        order.remove(left[0])
        order.insert(0, left[0])
        found = _in_turn(order, cheapest, drawn)
        best = min(best, found, key=_rank)
    return best


def _left_out(found: Sequence[Place | None]) -> list[int]:
    return [number for number, place in enumerate(found) if place is None]


def _rank(found: Sequence[Place | None]) -> tuple[int, list[int]]:
    """Few left out come before many, unimportant ones before others."""
    left = _left_out(found)
    return len(left), [-number for number in left]


def _in_turn(order: Sequence[int], wishes: Sequence[Sequence[Place]], drawn: Drawn) -> list[Place | None]:
    words, leaders = list(drawn.words), list[Box]()
    found: list[Place | None] = [None] * len(wishes)
    for number in order:
        free = (place for place in wishes[number] if _free(place, words, leaders))
        best, least = None, math.inf
        for place in free:
            if place.cost >= least:
                # They rise in what they cost by themselves.
                break
            cost = place.cost + drawn.cost(place.box)
            if cost < least:
                best, least = place, cost
        found[number] = best
        if best:
            words.append(best.box)
            leaders += [best.leader] if best.leader else []
    return found


def _free(place: Place, words: Sequence[Box], leaders: Sequence[Box]) -> bool:
    """Whether a label and its leader keep clear of other labels and their leaders."""
    if not all(apart(place.box, one) for one in words):
        return False
    if not all(apart(place.box, one, _BESIDE_A_LEADER) for one in leaders):
        return False
    return place.leader is None or all(apart(place.leader, one, _BESIDE_A_LEADER) for one in words)
