"""Facts about one curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.calls import Answer
from reportgen.facts.curve_numbers import (
    find_step_reaching,
    get_points,
    interpolate_band,
    interpolate_value,
    match_step,
    mean_between,
    volatility,
)
from reportgen.facts.fact_words import describe_position, describe_step
from reportgen.facts.subject import FactError
from reportgen.words import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.model import Curve
    from reportgen.statements import Scale


INTERVALS = frozenset({"ci", "simultaneous"})
"""Bands that are confidence intervals of the mean."""


@dataclass(frozen=True, slots=True)
class CurveContext:
    """A curve with at least one point, and what its facts depend on: ``band`` is its curve set's."""

    curve: Curve
    scale: Scale
    band: str


def check_step(curve: Curve, step: float, scale: Scale) -> float:
    """A step inside a curve's range, as the curve has it where both are the same but for rounding.

    Raises:
        FactError: it is outside.
    """
    step = match_step(curve, step)
    if interpolate_value(curve, step) is None:
        raise FactError(
            f"{curve.series} has no value {describe_position(step, scale)}", _describe_range(curve, scale)
        )
    return step


def _describe_range(curve: Curve, scale: Scale) -> str:
    steps = get_points(curve).steps
    first, last = (describe_step(float(step), scale) for step in (steps[0], steps[-1]))
    return f"Its only value is at {first}" if steps.size == 1 else f"It has values from {first} to {last}"


def _start(context: CurveContext) -> Answer:
    return _evaluate_at(context, float(get_points(context.curve).steps[0]))


def _final(context: CurveContext) -> Answer:
    return _evaluate_at(context, float(get_points(context.curve).steps[-1]))


def _peak(context: CurveContext) -> Answer:
    return _find_extreme(context, best=True)


def _peak_step(context: CurveContext) -> Answer:
    return _report_step(context, _find_extreme_step(context, best=True))


def _trough(context: CurveContext) -> Answer:
    return _find_extreme(context, best=False)


def _trough_step(context: CurveContext) -> Answer:
    return _report_step(context, _find_extreme_step(context, best=False))


def _at(context: CurveContext, step: float) -> Answer:
    return _evaluate_at(context, check_step(context.curve, step, context.scale))


def _evaluate_mean(context: CurveContext, first: float, last: float) -> Answer:
    curve, scale = context.curve, context.scale
    said = f"from {describe_step(first, scale)} to {describe_step(last, scale)}"
    if first > last:
        raise FactError(f"There is no range {said}", "Write the earlier step first")
    first, last = match_step(curve, first), match_step(curve, last)
    value = mean_between(curve, first, last)
    if value is None:
        raise FactError(f"{curve.series} has no step {said}", _describe_range(curve, scale))
    return Answer(value, from_step=first, to_step=last)


def _steps_to(context: CurveContext, level: float) -> Answer:
    step = find_step_reaching(context.curve, level, higher_is_better=context.scale.higher_is_better)
    if step is None:
        return Answer(None, f"{context.curve.series} never reaches {format_number(level)}")
    return _report_step(context, step)


def _evaluate_volatility(context: CurveContext) -> Answer:
    steps = get_points(context.curve).steps
    value = volatility(context.curve)
    if value is None:
        return Answer(None, f"3 steps are needed, {context.curve.series} has {steps.size}")
    return Answer(value, from_step=float(steps[0]), to_step=float(steps[-1]), n=_runs(context))


def _evaluate_band_width(context: CurveContext, step: float) -> Answer:
    curve = context.curve
    step = check_step(curve, step, context.scale)
    low, high, n = interpolate_band(curve, step)
    if low is None or high is None:
        return Answer(None, _explain_missing_band(context, n), step=step, n=n)
    return Answer(high - low, step=step, n=n)


def _explain_missing_band(context: CurveContext, n: int) -> str:
    if context.curve.raw is not None:
        return f"the band of {context.curve.series} is that of the smoothed curve"
    if context.band == "none" and not context.curve.given:
        return "no band is asked for"
    if context.curve.given:
        return f"no interval of {context.curve.series} is given there"
    return (
        f"1 run of {context.curve.series}"
        if n == 1
        else f"all runs of {context.curve.series} are equal there"
    )


def _evaluate_at(context: CurveContext, step: float) -> Answer:
    """The value at a step inside the range, with its interval at that step where the band is one."""
    low, high, n = interpolate_band(context.curve, step)
    value = interpolate_value(context.curve, step)
    if context.band in INTERVALS or context.curve.given:
        return Answer(value, step=step, low=low, high=high, n=n)
    return Answer(value, step=step, n=n)


def _find_extreme(context: CurveContext, *, best: bool) -> Answer:
    """The best or the worst value, without an interval: that of its step does not know that it was picked."""
    step, count = _find_extreme_step(context, best=best), get_points(context.curve).steps.size
    ranked = context.scale.higher_is_better is not None
    most = ("best" if best else "worst") if ranked else "highest" if best else "lowest"
    noun = "reading" if context.scale.step_is_time else "checkpoint"
    note = f"{most} of {format_count(count, noun)}" if count > 1 else ""
    return Answer(
        interpolate_value(context.curve, step),
        step=step,
        n=interpolate_band(context.curve, step).n,
        note=note,
    )


def _report_step(context: CurveContext, step: float) -> Answer:
    return Answer(step, step=step, n=interpolate_band(context.curve, step).n)


def _find_extreme_step(context: CurveContext, *, best: bool) -> float:
    """The first step that has the best or the worst value; the highest or lowest where neither is better."""
    steps, values = get_points(context.curve)
    pick = np.argmax if best is (context.scale.higher_is_better is not False) else np.argmin
    return float(steps[int(pick(values))])


def _runs(context: CurveContext) -> int:
    return int(context.curve.n.min())


SERIES_FACTS: dict[str, Callable[..., Answer]] = {
    "start": _start,
    "final": _final,
    "peak": _peak,
    "peak_step": _peak_step,
    "trough": _trough,
    "trough_step": _trough_step,
    "at": _at,
    "mean": _evaluate_mean,
    "steps_to": _steps_to,
    "volatility": _evaluate_volatility,
    "band_width": _evaluate_band_width,
}
"""What answers a fact about one series; called with ``CurveContext`` and the call's numbers."""
