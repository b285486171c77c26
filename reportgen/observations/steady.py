"""The rule ``steady``: a series that goes one way without falling back, or does not move at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.moves import move
from reportgen.observations.phrases import value_fact
from reportgen.observations.smoothing import independent, running_mean, window
from reportgen.observations.turns import deepest_fall
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field, Threshold
    from reportgen.observations.moves import Move
    from reportgen.observations.turns import Setback

_FEWEST = 4
"""Three readings that rise are three readings."""

_SMALL = 0.1
"""Where noise is not known, a step back of this share of the way is told, and is still steady."""

_SMALL_BACK = 0.25
"""Where noise is known, what falls back by more of its way may be within noise, and is still not steady."""

_WIDE = 3
"""What is long and shallow shows in running means over so many windows."""

_TWICE = 2
"""A series that could hide a setback of half its way is not called steady."""


def steady(field: Field) -> Iterator[Observation]:
    """Series that rise, or fall, without turning back by more than noise; and those that do not move."""
    for series in field.names:
        if field.points(series).steps.size < _FEWEST:
            continue
        found = move(field, series)
        if found is not None:
            yield from _one_way(field, found)
        elif field.noise(series).known:
            yield from _flat(field, series)


def _one_way(field: Field, found: Move) -> Iterator[Observation]:
    series = found.series
    steps, values = field.points(series)
    sign = 1.0 if found.up else -1.0
    back = deepest_fall(sign * values)
    known = field.noise(series).known
    if known:
        held, backs = _limits(field, series, sign * values)
        if any(limit.passed(one.depth) for limit, one in zip(held, backs, strict=True)):
            return
        if found.size < _TWICE * held[1].value:
            return
        against = held[0]
    else:
        against = field.threshold(series)
        # What it loses in the end and does not make good is a decline.
        lost = back.depth > against.value and back.end == values.size - 1
        if lost or back.depth > max(against.value, _SMALL * found.size):
            return
    last = sign * values[-1]
    yield Observation(
        rule=Rule.STEADY,
        text=_sentence(field, found, back),
        evidence=(
            value_fact(field, "start", series, float(values[0]), float(steps[0])),
            value_fact(field, "final", series, float(sign * last), float(steps[-1])),
            _setback(field, series, back),
        ),
        threshold=against.words(back.depth),
        series=(series,),
        strength=found.held.strength(found.size) / 2,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )


def _limits(
    field: Field, series: str, rising: FloatArray
) -> tuple[tuple[Threshold, Threshold], tuple[Setback, Setback]]:
    """The deepest fall of the readings and of running means, and what each is held against.

    A setback of a few readings shows in the readings, a long and shallow one in the means.
    """
    width = _WIDE * window(field, series) - _WIDE + 1
    count = rising.size * len(field.names)
    return (
        (
            field.threshold(series, choices=count**2),
            field.threshold(series, choices=independent(count, width) ** 2, readings=(width, width)),
        ),
        (deepest_fall(rising), deepest_fall(running_mean(rising, width))),
    )


def _sentence(field: Field, found: Move, back: Setback) -> str:
    series = found.series
    steps, values = field.points(series)
    verb, turn = ("rises", "falls back") if found.up else ("falls", "rises again")
    start, end = (field.reading(value, series) for value in (found.start, found.end))
    if field.noise(series).known:
        steadily = " steadily" if back.depth <= _SMALL_BACK * found.size else ""
        way = f"{series} {verb}{steadily} from {start} to {end}"
        if back.depth == 0:
            return f"{way}: it never {turn}."
        size = f"by {field.size(back.depth, series)} at most"
        little = "within noise" if field.noisy(series) else "less than 1 % of the range"
        return f"{way}: it {turn} {size}, which is {little}."
    extreme = float(values.max() if found.up else values.min())
    reached = int(np.flatnonzero(values == extreme)[0])
    way = f"{verb} from {start} {at_step(float(steps[0]), field.scale)} to "
    way += f"{field.reading(extreme, series)} {at_step(float(steps[reached]), field.scale)}"
    count = f"{steps.size:,} readings"
    if back.depth == 0:
        stays = " and stays there" if reached < steps.size - 1 else ""
        return f"{series} {way}{stays}; in {count} it never {turn}."
    return f"{series} {way}; in {count} its largest step back is {_back(field, series, back)}."


def _setback(field: Field, series: str, back: Setback) -> str:
    if back.depth == 0:
        return f"{series} has no step back"
    return f"largest step back: {_back(field, series, back)}"


def _back(field: Field, series: str, back: Setback) -> str:
    """``0.01, from 0.08 at step 10 to 0.09 at step 15``."""
    steps, values = field.points(series)
    ends = (
        f"{field.reading(float(values[place]), series)} {at_step(float(steps[place]), field.scale)}"
        for place in (back.start, back.end)
    )
    return f"{field.size(back.depth, series)}, from {' to '.join(ends)}"


def _flat_sentence(field: Field, series: str, swing: float) -> str:
    steps, values = field.points(series)
    middle = field.reading(float(values.mean()), series)
    first, last = (step_said(float(steps[place]), field.scale) for place in (0, -1))
    when = f"from {first} to {last}"
    if swing == 0:
        return f"{series} stays at {middle} {when}."
    if field.noisy(series):
        return f"{series} stays about {middle} {when}: no change beyond noise."
    return f"{series} stays about {middle} {when}: it changes by less than 1 % of the range."


def _flat(field: Field, series: str) -> Iterator[Observation]:
    """A series of which neither readings nor running means nor a trend go beyond noise."""
    steps, values = field.points(series)
    width = _WIDE * window(field, series) - _WIDE + 1
    means = running_mean(values, width)[width // 2 : values.size - width // 2]
    count = values.size * len(field.names)
    pair = (width, width)
    held = field.threshold(series, choices=count**2)
    smooth = field.threshold(series, choices=independent(count, width) ** 2, readings=pair)
    thirds = max(values.size // 3, 1)
    drift = abs(float(values[-thirds:].mean() - values[:thirds].mean()))
    trend = field.threshold(series, readings=(thirds, thirds))
    swing = float(values.max() - values.min())
    if held.passed(swing) or smooth.passed(float(np.ptp(means))) or trend.passed(drift):
        return
    lowest, highest = (field.reading(float(end), series) for end in (values.min(), values.max()))
    yield Observation(
        rule=Rule.STEADY,
        text=_flat_sentence(field, series, swing),
        evidence=(
            value_fact(field, "start", series, float(values[0]), float(steps[0])),
            value_fact(field, "final", series, float(values[-1]), float(steps[-1])),
            f"all readings are between {lowest} and {highest}",
        ),
        threshold=held.words(swing),
        series=(series,),
        strength=1.0,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
    )
