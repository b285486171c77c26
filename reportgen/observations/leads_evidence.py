"""What stands behind a sentence about leads: who reads higher where, and from where on a series is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position
from reportgen.observations.aligned import SAME, align_series
from reportgen.observations.lead_words import get_lead_words
from reportgen.observations.leads import find_largest_leads, find_stretches
from reportgen.observations.phrases import format_call_of, format_during, format_stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field
    from reportgen.observations.leads import Leads, Stretch

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
        by = f"by up to {field.format_size(one.size, *pair)}, {describe_position(float(both.steps[one.at]), field.scale)}"
        said.append(f"{pair[0]} is {relation} {pair[1]} {by}")
    return tuple(said)
