"""The rule ``widest gap``: where two series lie furthest apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position
from reportgen.observations.aligned import SAME, align_series
from reportgen.observations.phrases import format_call_of, format_reading_fact
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field

_PAIR = 2
_USUAL = 3
"""The widest of many gaps of readings is a few times the noise anyhow."""


def observe_widest_gap(field: Field) -> Iterator[Observation]:
    """The largest difference of two series' readings, with its step and both values."""
    if len(field.curves) < _PAIR:
        return
    both = align_series(field)
    several = np.flatnonzero(np.isfinite(both.good).sum(axis=0) > 1)
    if not several.size:
        return
    values = field.sign * both.good
    spread = np.nanmax(values[:, several], axis=0) - np.nanmin(values[:, several], axis=0)
    # The first of the steps that share the largest, up to rounding.
    at = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    high, low = int(np.nanargmax(values[:, at])), int(np.nanargmin(values[:, at]))
    size = float(values[high, at] - values[low, at])
    step = float(both.steps[at])
    names = both.names[high], both.names[low]
    held = field.readings_alone
    if not held.is_exceeded(size):
        return
    ends = (float(values[high, at]), float(values[low, at]))
    widest = f"{format_call_of(field, 'widest_gap', *sorted(names))} = {field.format_size(size, *names)}"
    yield Observation(
        rule=Rule.WIDEST_GAP,
        text=_describe_gap(field, names, ends, step),
        evidence=(
            f"{widest} {describe_position(step, field.scale)}",
            *(format_reading_fact(field, name, step, end) for name, end in zip(names, ends, strict=True)),
        ),
        threshold=held.describe(size),
        series=names,
        strength=held.strength(size)
        if field.few
        else min(_strength(field, names, size), held.strength(size)),
        from_step=step,
        to_step=step,
        mark_series=names[1] if both.read[low, at] else names[0],
        mark=step,
        label=f"gap {field.format_size(size, *names)}",
    )


def _strength(field: Field, names: tuple[str, str], size: float) -> float:
    noise = max(field.get_noise(name).value for name in names)
    return size / (_USUAL * noise) if noise else _USUAL


def _describe_gap(field: Field, names: tuple[str, str], ends: tuple[float, float], step: float) -> str:
    where = describe_position(step, field.scale)
    size = field.format_size(ends[0] - ends[1], *names)
    high, low = (field.format_reading(end, name) for end, name in zip(ends, names, strict=True))
    if len(field.curves) == _PAIR:
        return f"The readings are furthest apart {where}, by {size}: {names[0]} {high}, {names[1]} {low}."
    return (
        f"The readings of all series are furthest apart {where}, by {size}: from {low} ({names[1]}) "
        f"to {high} ({names[0]})."
    )
