"""The rule ``steady``: a series that goes one way without turning back, and the range of other readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.moves import CLEAR, move
from reportgen.observations.phrases import value_fact
from reportgen.observations.turns import deepest_fall
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field
    from reportgen.observations.moves import Move
    from reportgen.observations.turns import Setback

_FEWEST = 4
"""Three readings that rise are three readings."""

_SMALL = 0.1
"""A step back of this share of the way is told, and is still steady."""

_TWICE = 2
"""A course that could hide a setback of half its way is not called steady."""


def steady(field: Field) -> Iterator[Observation]:
    """Series that rise, or fall, without turning back; and between which values others stay."""
    for series in field.names:
        values = field.points(series).values
        if values.size < _FEWEST:
            continue
        found = move(field, series)
        if found is not None and found.inferred:
            yield from _course(field, found)
        elif found is not None:
            yield from _readings(field, found)
        elif not field.moves(series) and (not field.few or values.min() == values.max()):
            yield _range(field, series)


def _course(field: Field, found: Move) -> Iterator[Observation]:
    """A course that never turns, known well enough that it hides no setback of half its way."""
    course = field.course(found.series)
    rising = (1.0 if found.up else -1.0) * course.level
    back = deepest_fall(rising)
    errors = [course.error(place, 0) for place in np.linspace(0, rising.size - 1, 9).astype(int).tolist()]
    if back.depth > field.least or found.size < _TWICE * CLEAR * max(errors):
        return
    verb = "rises" if found.up else "falls"
    start, end = (field.reading(value, found.series) for value in (found.start, found.end))
    text = f"{found.series} {verb} from about {start} to {end}; its fitted course never turns back."
    yield _observation(
        field, found, text, deepest_fall((1.0 if found.up else -1.0) * field.points(found.series).values)
    )


def _readings(field: Field, found: Move) -> Iterator[Observation]:
    """Readings that go one way, but for a step back of a tenth of it."""
    series = found.series
    steps, values = field.points(series)
    back = deepest_fall((1.0 if found.up else -1.0) * values)
    least = field.readings_alone.value
    # What it loses in the end and does not make good is a decline.
    lost = back.depth > least and back.end == values.size - 1
    if lost or back.depth > max(least, _SMALL * found.size):
        return
    extreme = float(values.max() if found.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    start, end = (field.reading(value, series) for value in (found.start, found.end))
    way = f"The readings of {series} go {'up' if found.up else 'down'} from {start} "
    way += f"{at_step(float(steps[0]), field.scale)} to {end} {at_step(float(steps[reached]), field.scale)}"
    if back.depth == 0:
        stays = " and stay there" if reached < steps.size - 1 else ""
        beside = "below" if found.up else "above"
        text = f"{way}{stays}; none of the {steps.size:,} is {beside} the one before."
    else:
        text = f"{way}; the largest step back of the {steps.size:,} is {_back(field, series, back)}."
    yield _observation(field, found, text, back)


def _observation(field: Field, found: Move, text: str, back: Setback) -> Observation:
    series = found.series
    steps, values = field.points(series)
    held = field.readings_alone
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            value_fact(field, "start", series, float(values[0]), float(steps[0])),
            value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
            f"largest step back: {_back(field, series, back)}"
            if back.depth
            else f"{series} has no step back",
        ),
        threshold=field.course_words(series) if found.inferred else held.words(back.depth),
        series=(series,),
        strength=held.strength(found.size) / 4,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _range(field: Field, series: str) -> Observation:
    """Between which values readings stay of which nothing else can be said."""
    steps, values = field.points(series)
    lowest, highest = (field.reading(float(end), series) for end in (values.min(), values.max()))
    first, last = (step_said(float(steps[place]), field.scale) for place in (0, -1))
    if lowest == highest:
        text = f"All readings of {series} are {lowest}, from {first} to {last}."
    else:
        middle = field.reading(float(values.mean()), series)
        text = f"The readings of {series} lie between {lowest} and {highest}, with a mean of {middle}."
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            value_fact(field, "start", series, float(values[0]), float(steps[0])),
            value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
        ),
        threshold="readings as they are",
        series=(series,),
        strength=0.5,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _back(field: Field, series: str, back: Setback) -> str:
    """``0.01, from 0.08 at step 10 to 0.09 at step 15``."""
    steps, values = field.points(series)
    ends = (
        f"{field.reading(float(values[place]), series)} {at_step(float(steps[place]), field.scale)}"
        for place in (back.start, back.end)
    )
    return f"{field.size(back.depth, series)}, from {' to '.join(ends)}"
