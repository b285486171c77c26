"""The rule ``uncertain here``: steps at which a band is widest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.fact_words import describe_position
from reportgen.observations.field import SAME
from reportgen.observations.noise import FEWEST_READINGS, get_half_widths
from reportgen.observations.phrases import format_stretches
from reportgen.observations.smoothing import find_window_ends, running_mean
from reportgen.observations.thresholds import Threshold
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import Curve, FloatArray
    from reportgen.observations.aligned import BoolArray
    from reportgen.observations.field import Field

WIDER = 1.25
"""A band has to be so many times as wide as usual before it is called wide."""

_ENOUGH_RUNS = 5
"""Of so many runs a band's width is told as it is, where steps are too few to say what chance makes of it."""

_FEWEST_STEPS = 4
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
        return format_number(self.top / self.usual, significant=2)

    @property
    def threshold(self) -> str:
        times = format_number(self.least / self.usual, significant=3)
        return Threshold(self.least, f"{times} × the average").describe(self.top)

    def list_evidence(self, series: str, at: str) -> tuple[str, ...]:
        """Half the band there and on average."""
        top, usual = (format_number(value, significant=2) for value in (self.top, self.usual))
        mean = f", mean of {self.width:,} steps" if self.width > 1 else ""
        return (
            f"half the band of {series} {at} = {top}{mean}",
            f"on average over {format_count(self.steps, 'step')} = {usual}",
        )


def observe_uncertainty(field: Field) -> Iterator[Observation]:
    """Where the band of a series is wider than it is elsewhere, as the runs read."""
    for series in field.names:
        curve = field.get_curve(series)
        half = get_half_widths(curve)
        known = np.isfinite(half)
        if known.sum() >= _FEWEST_STEPS and float(half[known].max()) > 0:
            yield from _find_wide(field, curve, known)


def _find_wide(field: Field, curve: Curve, known: BoolArray) -> Iterator[Observation]:
    series, steps, half = curve.series, curve.steps[known], get_half_widths(curve)[known]
    usual = float(half.mean())
    width = _window(half.size)
    widths = running_mean(half, width)
    least = usual * _compute_least(field, series, half.size, width)
    if not (widths > least * (1 + SAME)).any():
        return
    # Told is where the band is wide, not only where chance is ruled out.
    top = int(np.argmax(widths / least))
    stretches = _find_stretches(widths, max(WIDER * usual, (usual + float(widths[top])) / 2))
    shown = sorted(stretches[:_MOST_STRETCHES])
    last = float(steps[-1])
    parts = [(float(steps[one.first]), float(steps[one.last])) for one in shown]
    places = format_stretches(parts, last, field.scale)
    at = describe_position(float(steps[top]), field.scale)
    alone = len(shown) == 1 and shown[0].first == shown[0].last
    where = ", where" if alone else f": {at}"
    words = _Words(usual, float(widths[top]), float(least[top]), half.size, width)
    left, runs = (int(n) for n in (curve.n[known][top], curve.n.max()))
    fewer = f", with {left:,} of its {runs:,} runs" if left < runs and not curve.given else ""
    wide = f"its band is {words.ratio} times its average width{fewer}"
    yield Observation(
        rule=Rule.UNCERTAIN_HERE,
        text=f"The readings of the runs of {series} lie furthest apart {places}{where} {wide}.",
        evidence=words.list_evidence(series, at),
        threshold=words.threshold,
        series=(series,),
        strength=words.top / words.least,
        from_step=float(steps[shown[0].first]),
        to_step=float(steps[shown[-1].last]),
        mark_series=series,
        mark=float(steps[top]),
        label="widest band",
    )


def _window(n: int) -> int:
    if n < FEWEST_READINGS:
        return 1
    tenth = n // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)


def _compute_least(field: Field, series: str, n: int, width: int) -> FloatArray:
    """How many times the average width is worth telling; shape (n,).

    The width of a band of r runs has a relative standard error of about 1 / √(2 (r − 1)), its running mean
    less by the root of its readings; the largest of n such means lies √(2 ln n) of them above.
    """
    runs = int(field.get_curve(series).n.max())
    few = n < FEWEST_READINGS and runs >= _ENOUGH_RUNS
    if field.get_curve(series).given or runs <= 1 or few:
        return np.full(n, WIDER)
    first, last = find_window_ends(n, width)
    spread = 1 / np.sqrt((last - first) * 2 * (runs - 1))
    least: FloatArray = np.maximum(WIDER, np.exp(math.sqrt(2 * math.log(n * len(field.names))) * spread))
    return least


def _find_stretches(widths: FloatArray, level: float) -> list[_Stretch]:
    """Neighbouring steps at or above a level, the widest first."""
    wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
    edges = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2)
    found = [
        _Stretch(first, last - 1, first + int(np.argmax(widths[first:last])))
        for first, last in edges.tolist()
    ]
    return sorted(found, key=lambda stretch: (-float(widths[stretch.top]), stretch.first))
