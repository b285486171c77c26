"""The rule ``uncertain here``: steps at which a band is widest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.fact_words import at_step
from reportgen.observations.field import SAME
from reportgen.observations.noise import half_widths
from reportgen.observations.phrases import during
from reportgen.observations.smoothing import independent, running_mean
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import counted, listing, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

MORE = 1.25
"""A band has to be so many times as wide as usual before it is called wide."""

_FEWEST = 4
_MOST_STRETCHES = 3
_SHARE, _WIDEST, _NARROWEST, _MANY = 10, 21, 3, 20


class _Stretch(NamedTuple):
    """Neighbouring steps with a wide band, by places in the curve, and the place where it is widest."""

    first: int
    last: int
    top: int


def uncertain_here(field: Field) -> Iterator[Observation]:
    """Where the band of a series is clearly wider than it is elsewhere."""
    for series in field.names:
        curve = field.curve(series)
        half = half_widths(curve)
        known = np.isfinite(half)
        if known.sum() >= _FEWEST and float(np.median(half[known])) > 0:
            yield from _wide(field, series, curve.steps[known], half[known])


def _wide(field: Field, series: str, steps: FloatArray, half: FloatArray) -> Iterator[Observation]:
    usual = float(np.median(half))
    width = _window(half.size)
    widths = running_mean(half, width)
    least = usual * _least(field, series, half.size, width)
    if not widths.max() > least * (1 + SAME):
        return
    # Told is where the band is wide, not only where chance is ruled out.
    stretches = _stretches(widths, max(MORE * usual, (usual + float(widths.max())) / 2))
    told = sorted(stretches[:_MOST_STRETCHES])
    top = stretches[0].top
    places = listing(
        [during(float(steps[s.first]), float(steps[s.last]), math.inf, field.scale) for s in told]
    )
    ratio = number(float(half[top]) / usual, significant=2)
    at = at_step(float(steps[top]), field.scale)
    yield Observation(
        rule=Rule.UNCERTAIN_HERE,
        text=f"{series} is least certain {places}: {at} its band is {ratio} times as wide as usual.",
        evidence=(
            f"half the band of {series} {at}: {number(float(half[top]), significant=2)}",
            f"its median over {counted(half.size, 'step')}: {number(usual, significant=2)}",
        ),
        threshold=(
            f"{number(float(widths.max()), significant=2)} is more than {number(least, significant=2)}, "
            f"{number(least / usual, significant=2)} × the median width"
        ),
        series=(series,),
        strength=float(widths.max()) / least,
        from_step=float(steps[told[0].first]),
        to_step=float(steps[told[-1].last]),
        mark_series=series,
        mark=float(steps[top]),
        label="widest band",
    )


def _window(n: int) -> int:
    if n < _MANY:
        return 1
    tenth = n // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)


def _least(field: Field, series: str, n: int, width: int) -> float:
    """How many times the usual width chance alone makes of the widest place, if all are alike.

    The width of a band of r runs has a relative standard error of about 1 / √(2 (r − 1)), its running
    mean less by √width; the largest of n such means lies √(2 ln n) of them above the middle. The band
    that the data give themselves says nothing of its own error: only 1.25 is asked.
    """
    curve = field.curve(series)
    runs = int(curve.n.max())
    if curve.given or runs <= 1:
        return MORE
    chances = independent(n * len(field.names), width)
    spread = 1 / math.sqrt(2 * (runs - 1) * width)
    return max(MORE, math.exp((0.6 + math.sqrt(2 * math.log(max(chances, 2)))) * spread))


def _stretches(widths: FloatArray, level: float) -> list[_Stretch]:
    """Neighbouring steps at or above a level, the widest first."""
    wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
    edges = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2)
    found = [
        _Stretch(first, last - 1, first + int(np.argmax(widths[first:last])))
        for first, last in edges.tolist()
    ]
    return sorted(found, key=lambda stretch: (-float(widths[stretch.top]), stretch.first))
