"""What stands behind a sentence about leads: who reads higher where, and from where on a series is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.aligned import SAME
from reportgen.observations.leads import stretches
from reportgen.observations.phrases import during, fact, stretches_said

if TYPE_CHECKING:
    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field

_PAIR = 2
_MOST_STRETCHES = 14
_MOST_RIVALS = 8


def readings_alone(field: Field, both: Aligned) -> tuple[str, ...]:
    """How often two series cross, and which is ahead where, noise or not; nothing for more than two."""
    if len(both.names) != _PAIR:
        return ()
    ahead = both.good[0] - both.good[1]
    size = np.nanmax(np.abs(both.good))
    signs = np.where(np.abs(ahead) <= SAME * size, 0, np.sign(ahead))
    there = np.isfinite(ahead)
    clear = signs[there & (signs != 0)]
    crossings = int((clear[1:] != clear[:-1]).sum())
    counted = f"{fact(field, 'crossings', *both.names)} = {crossings:,}"
    found = stretches(np.where(there & (signs != 0), (signs < 0).astype(np.int64), -1))
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
            said.append(f"{name} {stretches_said(ends, end, field.scale)}")
    return (counted, f"ahead by the readings alone: {', '.join(said)}")


def ahead_of_each(field: Field, both: Aligned, place: int, *, last_place: bool = False) -> tuple[str, ...]:
    """From which step to the end a series is ahead of each other one, and by how much; nearest first.

    Args:
        field: has noise and words.
        both: three or more series; of two nothing is told that is not said already.
        place: the series.
        last_place: from where on it is behind each.
    """
    if len(both.names) == _PAIR:
        return ()
    sign = -1.0 if last_place else 1.0
    held = both.thresholds(place, both.steps.size)
    said: list[tuple[float, str, str]] = []
    for rival, name in enumerate(both.names):
        ahead = sign * (both.good[place] - both.good[rival])
        there = np.flatnonzero(np.isfinite(ahead))
        enough = ahead[there] > held[rival, there] * (1 + SAME)
        since = int(np.argmin(enough[::-1])) if not enough.all() else enough.size
        if rival == place or not since:
            continue
        steps = there[-since:]
        pair = (both.names[place], name)
        least, most = (field.size(float(pick(ahead[steps])), *pair) for pick in (np.min, np.max))
        by = least if least == most else f"{least} to {most}"
        when = during(
            float(both.steps[steps[0]]), float(both.steps[steps[-1]]), float(both.steps[-1]), field.scale
        )
        words = f"{both.names[place]} is {'behind' if last_place else 'ahead of'} {name} {when}, by {by}"
        said.append((float(np.min(ahead[steps])), name, words))
    return tuple(words for _, _, words in sorted(said)[:_MOST_RIVALS])
