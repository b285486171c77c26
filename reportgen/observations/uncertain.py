"""The rule ``uncertain here``: steps at which a band is widest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.fact_words import at_step
from reportgen.observations.field import SAME
from reportgen.observations.noise import FEWEST_READINGS, half_widths
from reportgen.observations.phrases import stretches_said
from reportgen.observations.smoothing import ends, running_mean
from reportgen.observations.thresholds import Threshold
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import Curve, FloatArray
    from reportgen.observations.aligned import BoolArray
    from reportgen.observations.field import Field

MORE = 1.25
"""A band has to be so many times as wide as usual before it is called wide."""

_ENOUGH_RUNS = 5
"""Of so many runs a band's width is told as it is, where steps are too few to say what chance makes of it."""

_FEWEST = 4
_MOST_STRETCHES = 3
_SHARE, _WIDEST, _NARROWEST = 10, 21, 3


class _Stretch(NamedTuple):
    """Neighbouring steps with a wide band, by places in the curve, and the place where it is widest."""

    first: int
    last: int
    top: int


class _Words(NamedTuple):
    """The widths that count, for sentences: on average, at the widest place, and what was asked there."""

    usual: float
    top: float
    least: float
    steps: int
    width: int

    @property
    def ratio(self) -> str:
        return number(self.top / self.usual, significant=2)

    @property
    def threshold(self) -> str:
        times = number(self.least / self.usual, significant=3)
        return Threshold(self.least, f"{times} × the average").words(self.top)

    def evidence(self, series: str, at: str) -> tuple[str, ...]:
        """Half the band there and on average."""
        top, usual = (number(value, significant=2) for value in (self.top, self.usual))
        mean = f", mean of {self.width:,} steps" if self.width > 1 else ""
        return (
            f"half the band of {series} {at} = {top}{mean}",
            f"on average over {counted(self.steps, 'step')} = {usual}",
        )


def uncertain_here(field: Field) -> Iterator[Observation]:
    """Where the band of a series is wider than it is elsewhere, as the runs read."""
    for series in field.names:
        curve = field.curve(series)
        half = half_widths(curve)
        known = np.isfinite(half)
        if known.sum() >= _FEWEST and float(half[known].max()) > 0:
            yield from _wide(field, curve, known)


def _wide(field: Field, curve: Curve, known: BoolArray) -> Iterator[Observation]:
    series, steps, half = curve.series, curve.steps[known], half_widths(curve)[known]
    usual = float(half.mean())
    width = _window(half.size)
    widths = running_mean(half, width)
    least = usual * _least(field, series, half.size, width)
    if not (widths > least * (1 + SAME)).any():
        return
    # Told is where the band is wide, not only where chance is ruled out.
    top = int(np.argmax(widths / least))
    stretches = _stretches(widths, max(MORE * usual, (usual + float(widths[top])) / 2))
    told = sorted(stretches[:_MOST_STRETCHES])
    last = float(steps[-1])
    parts = [(float(steps[one.first]), float(steps[one.last])) for one in told]
    places = stretches_said(parts, last, field.scale)
    at = at_step(float(steps[top]), field.scale)
    alone = len(told) == 1 and told[0].first == told[0].last
    where = ", where" if alone else f": {at}"
    words = _Words(usual, float(widths[top]), float(least[top]), half.size, width)
    left, runs = (int(n) for n in (curve.n[known][top], curve.n.max()))
    fewer = f", with {left:,} of its {runs:,} runs" if left < runs and not curve.given else ""
    wide = f"its band is {words.ratio} times its average width{fewer}"
    yield Observation(
        rule=Rule.UNCERTAIN_HERE,
        text=f"The readings of the runs of {series} lie furthest apart {places}{where} {wide}.",
        evidence=words.evidence(series, at),
        threshold=words.threshold,
        series=(series,),
        strength=words.top / words.least,
        from_step=float(steps[told[0].first]),
        to_step=float(steps[told[-1].last]),
        mark_series=series,
        mark=float(steps[top]),
        label="widest band",
    )


def _window(n: int) -> int:
    if n < FEWEST_READINGS:
        return 1
    tenth = n // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)


def _least(field: Field, series: str, n: int, width: int) -> FloatArray:
    """How many times the average width is worth telling; shape (n,).

    The width of a band of r runs has a relative standard error of about 1 / √(2 (r − 1)), its running mean
    less by the root of its readings; the largest of n such means lies √(2 ln n) of them above.
    """
    runs = int(field.curve(series).n.max())
    few = n < FEWEST_READINGS and runs >= _ENOUGH_RUNS
    if field.curve(series).given or runs <= 1 or few:
        return np.full(n, MORE)
    first, last = ends(n, width)
    spread = 1 / np.sqrt((last - first) * 2 * (runs - 1))
    least: FloatArray = np.maximum(MORE, np.exp(math.sqrt(2 * math.log(n * len(field.names))) * spread))
    return least


def _stretches(widths: FloatArray, level: float) -> list[_Stretch]:
    """Neighbouring steps at or above a level, the widest first."""
    wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
    edges = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2)
    found = [
        _Stretch(first, last - 1, first + int(np.argmax(widths[first:last])))
        for first, last in edges.tolist()
    ]
    return sorted(found, key=lambda stretch: (-float(widths[stretch.top]), stretch.first))
