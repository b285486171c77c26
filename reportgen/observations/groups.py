"""Values of several series in groups that stand apart."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import SAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.thresholds import Criterion


class Groups(NamedTuple):
    """Series in groups, best first, and the smallest gap between two groups.

    Attributes:
        members: names, best first; of equal values in the order of names.
        gap: the smallest difference of neighbouring groups; 0 with one group.
        threshold: what this gap is held against.
    """

    members: tuple[tuple[str, ...], ...]
    gap: float
    threshold: Criterion


def group_values(
    field: Field, values: Mapping[str, float], held_to: Callable[[str, str], Criterion]
) -> Groups:
    """Cuts between values of which everyone above differs from everyone below by more than noise.

    Where the noise of a series is not known, a cut is also natural: wider than the mean gap of neighbours,
    and with all cuts wider than what they leave together. Otherwise there is no cut at all.

    Args:
        field: has the noise.
        values: of two or more series, as measured.
        held_to: what the difference of two of them is held against, the better one first.
    """
    held_to = cache(held_to)  # every cut asks for all pairs around it
    order = sorted(values, key=lambda name: (-field.sign * values[name], name))
    gaps = np.abs(np.diff([values[name] for name in order]))
    # Neighbours of many values lie closer together, not further apart: there is no choice to pay for.
    held = [held_to(*pair) for pair in pairwise(order)]
    cuts = [
        place
        for place, gap in enumerate(gaps.tolist())
        if held[place].is_exceeded(gap) and _is_separated(order, place + 1, values, held_to)
    ]
    if not all(field.get_noise(name).known for name in order):
        cuts = _choose_natural_cuts(gaps.tolist(), cuts)
    starts = [0, *(place + 1 for place in cuts), len(order)]
    members = tuple(tuple(order[a:b]) for a, b in pairwise(starts))
    narrowest = min(cuts, key=lambda place: gaps[place], default=0)
    return Groups(members, float(gaps[narrowest]) if cuts else 0.0, held[narrowest])


def _is_separated(
    order: Sequence[str], cut: int, values: Mapping[str, float], held_to: Callable[[str, str], Criterion]
) -> bool:
    return all(
        held_to(above, below).is_exceeded(values[above] - values[below])
        for above in order[:cut]
        for below in order[cut:]
    )


def _choose_natural_cuts(gaps: Sequence[float], cuts: Sequence[int]) -> list[int]:
    """The cuts that stand out among the gaps; none where what they leave together is as wide as one."""
    if len(gaps) == 1:
        return list(cuts)
    mean = sum(gaps) / len(gaps)
    chosen = [place for place in cuts if gaps[place] > mean * (1 + SAME)]
    if not chosen:
        return []
    bounds = [-1, *chosen, len(gaps)]
    widest = max(sum(gaps[a + 1 : b]) for a, b in pairwise(bounds))
    return chosen if min(gaps[place] for place in chosen) > widest * (1 + SAME) else []
