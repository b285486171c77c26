"""Facts about one curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.calls import Found
from reportgen.facts.curve_numbers import (
    band_at,
    first_reached,
    mean_between,
    own_step,
    points,
    value_at,
    volatility,
)
from reportgen.facts.fact_words import at_step, step_said
from reportgen.facts.subject import FactError
from reportgen.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.model import Curve
    from reportgen.statements import Scale


INTERVALS = frozenset({"ci", "simultaneous"})
"""Bands that are confidence intervals of the mean."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A curve with at least one point, and what its facts depend on: ``band`` is its curve set's."""

    curve: Curve
    scale: Scale
    band: str


def step_inside(curve: Curve, step: float, scale: Scale) -> float:
    """A step inside a curve's range, as the curve has it where both are the same but for rounding.

    Raises:
        FactError: it is outside.
    """
    step = own_step(curve, step)
    if value_at(curve, step) is None:
        raise FactError(f"{curve.series} has no value {at_step(step, scale)}", _range_said(curve, scale))
    return step


def _range_said(curve: Curve, scale: Scale) -> str:
    steps = points(curve).steps
    first, last = (step_said(float(step), scale) for step in (steps[0], steps[-1]))
    return f"Its only value is at {first}" if steps.size == 1 else f"It has values from {first} to {last}"


def _start(asked: Asked) -> Found:
    return _value_at(asked, float(points(asked.curve).steps[0]))


def _final(asked: Asked) -> Found:
    return _value_at(asked, float(points(asked.curve).steps[-1]))


def _peak(asked: Asked) -> Found:
    return _extreme(asked, best=True)


def _peak_step(asked: Asked) -> Found:
    return _step(asked, _extreme_step(asked, best=True))


def _trough(asked: Asked) -> Found:
    return _extreme(asked, best=False)


def _trough_step(asked: Asked) -> Found:
    return _step(asked, _extreme_step(asked, best=False))


def _at(asked: Asked, step: float) -> Found:
    return _value_at(asked, step_inside(asked.curve, step, asked.scale))


def _mean(asked: Asked, first: float, last: float) -> Found:
    curve, scale = asked.curve, asked.scale
    said = f"from {step_said(first, scale)} to {step_said(last, scale)}"
    if first > last:
        raise FactError(f"There is no range {said}", "Write the earlier step first")
    first, last = own_step(curve, first), own_step(curve, last)
    value = mean_between(curve, first, last)
    if value is None:
        raise FactError(f"{curve.series} has no step {said}", _range_said(curve, scale))
    return Found(value, from_step=first, to_step=last)


def _steps_to(asked: Asked, level: float) -> Found:
    step = first_reached(asked.curve, level, higher_is_better=asked.scale.higher_is_better)
    if step is None:
        return Found(None, f"{asked.curve.series} never reaches {number(level)}")
    return _step(asked, step)


def _volatility(asked: Asked) -> Found:
    steps = points(asked.curve).steps
    value = volatility(asked.curve)
    if value is None:
        return Found(None, f"3 steps are needed, {asked.curve.series} has {steps.size}")
    return Found(value, from_step=float(steps[0]), to_step=float(steps[-1]), n=_runs(asked))


def _band_width(asked: Asked, step: float) -> Found:
    curve = asked.curve
    step = step_inside(curve, step, asked.scale)
    low, high, n = band_at(curve, step)
    if low is None or high is None:
        return Found(None, _no_band(asked, n), step=step, n=n)
    return Found(high - low, step=step, n=n)


def _no_band(asked: Asked, n: int) -> str:
    if asked.curve.raw is not None:
        return f"the band of {asked.curve.series} is that of the smoothed curve"
    if asked.band == "none" and not asked.curve.given:
        return "no band is asked for"
    if asked.curve.given:
        return f"no interval of {asked.curve.series} is given there"
    return f"1 run of {asked.curve.series}" if n == 1 else f"all runs of {asked.curve.series} are equal there"


def _value_at(asked: Asked, step: float) -> Found:
    """The value at a step inside the range, with its interval at that step where the band is one."""
    low, high, n = band_at(asked.curve, step)
    value = value_at(asked.curve, step)
    if asked.band in INTERVALS or asked.curve.given:
        return Found(value, step=step, low=low, high=high, n=n)
    return Found(value, step=step, n=n)


def _extreme(asked: Asked, *, best: bool) -> Found:
    """The best or the worst value, without an interval: that of its step does not know that it was picked."""
    step, count = _extreme_step(asked, best=best), points(asked.curve).steps.size
    ranked = asked.scale.higher_is_better is not None
    most = ("best" if best else "worst") if ranked else "highest" if best else "lowest"
    noun = "reading" if asked.scale.step_is_time else "checkpoint"
    note = f"{most} of {counted(count, noun)}" if count > 1 else ""
    return Found(value_at(asked.curve, step), step=step, n=band_at(asked.curve, step).n, note=note)


def _step(asked: Asked, step: float) -> Found:
    return Found(step, step=step, n=band_at(asked.curve, step).n)


def _extreme_step(asked: Asked, *, best: bool) -> float:
    """The first step that has the best or the worst value; the highest or lowest where neither is better."""
    steps, values = points(asked.curve)
    pick = np.argmax if best is (asked.scale.higher_is_better is not False) else np.argmin
    return float(steps[int(pick(values))])


def _runs(asked: Asked) -> int:
    return int(asked.curve.n.min())


SERIES_FACTS: dict[str, Callable[..., Found]] = {
    "start": _start,
    "final": _final,
    "peak": _peak,
    "peak_step": _peak_step,
    "trough": _trough,
    "trough_step": _trough_step,
    "at": _at,
    "mean": _mean,
    "steps_to": _steps_to,
    "volatility": _volatility,
    "band_width": _band_width,
}
"""What answers a fact about one series; called with ``Asked`` and the call's numbers."""
