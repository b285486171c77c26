"""The rule ``observe_steady``: a series that goes one way without turning back, and the range of other readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position, describe_step
from reportgen.observations.moves import CLEAR, find_move
from reportgen.observations.phrases import format_value_fact
from reportgen.observations.turns import find_deepest_fall
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


def observe_steady(field: Field) -> Iterator[Observation]:
    """Series that rise, or fall, without turning back; and between which values others stay."""
    for series in field.names:
        values = field.get_points(series).values
        if values.size < _FEWEST:
            continue
        found = find_move(field, series)
        if found is not None and found.inferred:
            yield from _observe_course(field, found)
        elif found is not None:
            yield from _observe_readings(field, found)
        elif not field.is_moving(series) and (not field.few or values.min() == values.max()):
            yield _observe_range(field, series)


def _observe_course(field: Field, found: Move) -> Iterator[Observation]:
    """A course that never turns, known well enough that it hides no setback of half its way."""
    course = field.get_course(found.series)
    rising = (1.0 if found.up else -1.0) * course.level
    back = find_deepest_fall(rising)
    errors = [
        course.compute_error(place, 0) for place in np.linspace(0, rising.size - 1, 9).astype(int).tolist()
    ]
    if back.depth > field.least or found.size < _TWICE * CLEAR * max(errors):
        return
    verb = "rises" if found.up else "falls"
    start, end = (field.format_reading(value, found.series) for value in (found.start, found.end))
    text = f"{found.series} {verb} from about {start} to {end}; its fitted course never turns back."
    yield _make_steady(
        field,
        found,
        text,
        find_deepest_fall((1.0 if found.up else -1.0) * field.get_points(found.series).values),
    )


def _observe_readings(field: Field, found: Move) -> Iterator[Observation]:
    """Readings that go one way, but for a step back of a tenth of it."""
    series = found.series
    steps, values = field.get_points(series)
    back = find_deepest_fall((1.0 if found.up else -1.0) * values)
    least = field.readings_alone.value
    # What it loses in the end and does not make good is a decline.
    lost = back.depth > least and back.end == values.size - 1
    if lost or back.depth > max(least, _SMALL * found.size):
        return
    extreme = float(values.max() if found.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    start, end = (field.format_reading(value, series) for value in (found.start, found.end))
    way = f"The readings of {series} go {'up' if found.up else 'down'} from {start} "
    way += f"{describe_position(float(steps[0]), field.scale)} to {end} {describe_position(float(steps[reached]), field.scale)}"
    if back.depth == 0:
        stays = " and stay there" if reached < steps.size - 1 else ""
        side = "below" if found.up else "above"
        text = f"{way}{stays}; none of the {steps.size:,} is {side} the one before."
    else:
        text = (
            f"{way}; the largest step back of the {steps.size:,} is {_format_setback(field, series, back)}."
        )
    yield _make_steady(field, found, text, back)


def _make_steady(field: Field, found: Move, text: str, back: Setback) -> Observation:
    series = found.series
    steps, values = field.get_points(series)
    held = field.readings_alone
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            format_value_fact(field, "start", series, float(values[0]), float(steps[0])),
            format_value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
            f"largest step back: {_format_setback(field, series, back)}"
            if back.depth
            else f"{series} has no step back",
        ),
        threshold=field.describe_course_test(series) if found.inferred else held.describe(back.depth),
        series=(series,),
        strength=held.strength(found.size) / 4,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _observe_range(field: Field, series: str) -> Observation:
    """Between which values readings stay of which nothing else can be said."""
    steps, values = field.get_points(series)
    lowest, highest = (field.format_reading(float(end), series) for end in (values.min(), values.max()))
    first, last = (describe_step(float(steps[place]), field.scale) for place in (0, -1))
    if lowest == highest:
        text = f"All readings of {series} are {lowest}, from {first} to {last}."
    else:
        middle = field.format_reading(float(values.mean()), series)
        text = f"The readings of {series} lie between {lowest} and {highest}, with a mean of {middle}."
    return Observation(
        rule=Rule.STEADY,
        text=text,
        evidence=(
            format_value_fact(field, "start", series, float(values[0]), float(steps[0])),
            format_value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
        ),
        threshold="readings as they are",
        series=(series,),
        strength=0.5,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _format_setback(field: Field, series: str, back: Setback) -> str:
    """``0.01, from 0.08 at step 10 to 0.09 at step 15``."""
    steps, values = field.get_points(series)
    ends = (
        f"{field.format_reading(float(values[place]), series)} {describe_position(float(steps[place]), field.scale)}"
        for place in (back.start, back.end)
    )
    return f"{field.format_size(back.depth, series)}, from {' to '.join(ends)}"
