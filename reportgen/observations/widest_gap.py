"""The rule ``widest gap``: where two series lie furthest apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step
from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.phrases import fact, reading_fact
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field

_PAIR = 2


def widest_gap(field: Field) -> Iterator[Observation]:
    """The largest difference of two series, with its step and both values."""
    if len(field.curves) < _PAIR:
        return
    both = aligned(field)
    several = np.flatnonzero(np.isfinite(both.good).sum(axis=0) > 1)
    if not several.size:
        return
    values = field.sign * both.good
    spread = np.nanmax(values[:, several], axis=0) - np.nanmin(values[:, several], axis=0)
    # The first of the steps that share the largest, up to rounding.
    at = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    high, low = int(np.nanargmax(values[:, at])), int(np.nanargmin(values[:, at]))
    size = float(values[high, at] - values[low, at])
    pairs = len(both.names) * (len(both.names) - 1) // 2
    step = float(both.steps[at])
    names = both.names[high], both.names[low]
    held = field.threshold(*sorted(names), choices=several.size * pairs, steps=(step,))
    if size <= held.value * (1 + SAME):
        return
    said, where = field.size(size, *names), at_step(step, field.scale)
    ends = [float(values[place, at]) for place in (high, low)]
    widest = f"{fact(field, 'widest_gap', *sorted(names))} = {said} {where}"
    readings = (reading_fact(field, name, step, end) for name, end in zip(names, ends, strict=True))
    first, second = (field.reading(end, name) for name, end in zip(names, ends, strict=True))
    if len(both.names) == _PAIR:
        text = f"The gap is widest {where}, {said}: {names[0]} {first}, {names[1]} {second}."
    else:
        text = (
            f"The series lie furthest apart {where}, by {said}: "
            f"from {second} ({names[1]}) to {first} ({names[0]})."
        )
    yield Observation(
        rule=Rule.WIDEST_GAP,
        text=text,
        evidence=(widest, *readings),
        threshold=held.words(size),
        series=names,
        strength=held.strength(size),
        from_step=step,
        to_step=step,
        mark_series=names[1] if both.read[low, at] else names[0],
        mark=step,
        label=f"gap {said}",
    )
