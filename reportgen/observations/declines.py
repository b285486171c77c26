"""The rule ``late decline``: a series that ends worse than it has been.

Where neither way of a metric is better: that ends below its highest value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.phrases import reading_fact, value_fact
from reportgen.observations.plateaus import rest
from reportgen.observations.smoothing import running_mean, window
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field, Threshold

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class _Loss:
    """A decline, by places in the curve.

    Attributes:
        peak: the best reading, the first of equal ones.
        onset: the last place as good as the peak, within noise.
        landed: from here on it stays at its final level; None where it does not come to rest after it.
        depth: how much worse the last reading is than the best.
        held: what that was held against.
    """

    peak: int
    onset: int
    landed: int | None
    depth: float
    held: Threshold


def late_decline(field: Field) -> Iterator[Observation]:
    """Series that end worse than their best by more than noise, and by when they have lost it."""
    for series in field.names:
        loss = _loss(field, series)
        if loss is not None:
            yield _observation(field, series, loss)


def _loss(field: Field, series: str) -> _Loss | None:
    steps, values = field.points(series)
    good = field.sign * values
    if good.size < _FEWEST:
        return None
    peak = int(np.argmax(good))
    depth = float(good[peak] - good[-1])
    places = (float(steps[peak]), float(steps[-1]))
    held = field.threshold(series, choices=steps.size * len(field.names), steps=places)
    if not held.passed(depth):
        return None
    noise = field.noise(series)
    near = (
        max(noise.value, field.least)
        if noise.known
        else 1e-9 * max(abs(float(good[peak])), abs(float(good[-1])))
    )
    means = running_mean(good, window(field, series))
    onset = int(np.flatnonzero(means >= means.max() - near)[-1])
    # What is best at the first reading has not declined late: it has never risen.
    if onset == 0 or onset == good.size - 1:
        return None
    after = rest(field, series)
    landed = after.place if after is not None and after.place > onset else None
    return _Loss(peak, onset, landed, depth, held)


def _observation(field: Field, series: str, loss: _Loss) -> Observation:
    steps, values = field.points(series)
    best = "peak" if field.sign > 0 else "low"
    peak, onset = float(steps[loss.peak]), float(steps[loss.onset])
    evidence = [value_fact(field, "peak", series, float(values[loss.peak]), peak)]
    if loss.onset != loss.peak:
        evidence.append(reading_fact(field, series, onset, float(values[loss.onset])))
    if loss.landed is not None:
        evidence.append(reading_fact(field, series, float(steps[loss.landed]), float(values[loss.landed])))
    evidence.append(value_fact(field, "final", series, float(values[-1]), float(steps[-1])))
    return Observation(
        rule=Rule.LATE_DECLINE,
        text=_sentence(field, series, loss),
        evidence=tuple(evidence),
        threshold=loss.held.words(loss.depth),
        series=(series,),
        strength=loss.held.strength(loss.depth),
        from_step=onset,
        to_step=float(steps[-1]),
        mark_series=series,
        mark=peak,
        label=f"{best} {field.reading(float(values[loss.peak]), series)}",
    )


def _sentence(field: Field, series: str, loss: _Loss) -> str:
    """A drop that lasts, a fall towards the end, or an end below an early peak."""
    steps, values = field.points(series)
    verb = "falls" if field.sign > 0 else "rises"
    beyond = "below" if field.sign > 0 else "above"
    best = "peak" if field.sign > 0 else "lowest value"
    places = (loss.peak, loss.onset, -1)
    top, start, end = (field.reading(float(values[place]), series) for place in places)
    at_peak, at_onset, at_end = (at_step(float(steps[place]), field.scale) for place in places)
    size = field.size(loss.depth, series)
    if loss.landed is not None:
        landed = field.reading(float(values[loss.landed]), series)
        there = at_step(float(steps[loss.landed]), field.scale)
        last = step_said(float(steps[-1]), field.scale)
        return f"{series} {verb} from {start} {at_onset} to {landed} {there} and stays there until {last}."
    if start == top and _one_fall(field, series, loss):
        return f"{series} {verb} from its {best}, {start} {at_onset}, to {end} {at_end}, where it ends."
    ended = f"{series} ends at {end} {at_end}, {size} {beyond} its {best} of {top} {at_peak}"
    if loss.onset > loss.peak and field.noisy(series):
        return f"{ended}; {at_onset} it is within noise of that for the last time."
    return f"{ended}."


def _one_fall(field: Field, series: str, loss: _Loss) -> bool:
    """Whether it never turns between the onset and the end."""
    values = field.sign * field.points(series).values[loss.onset :]
    return bool((np.diff(values) <= 0).all())
