"""The summary of a figure in words: where the best value stands, who ends best, and how sure that is.

It speaks of highest and lowest only. Of a metric of which neither is better it tells the highest value, or
the lowest where the highest is only the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.plotting import unsmoothed
from reportgen.words import axis_word, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import Wanted
    from reportgen.model import Curve, CurveSet


def summary(curve_set: CurveSet, plot: Plot, wanted: Wanted) -> str:
    """One or two sentences: where the best value stands, who ends best, and how sure that is."""
    curves = [curve for curve in curve_set.curves if np.isfinite(curve.values).any()]
    if not curves:
        return f"No series has a value of {wanted.metric}."
    lowest = _tells_lowest(curves, wanted)
    word = "lowest" if lowest else "highest"
    several = any(len(curve.runs) > 1 for curve in curves)
    centre = "median" if curve_set.band == "iqr" else "mean"
    what = f"{word} {centre} {wanted.metric}" if several else f"{word} {wanted.metric}"
    sentences = [_best(curves, plot, wanted, what, lowest=lowest)]
    if len(curves) > 1:
        sentences.append(_endings(curve_set, curves, plot, wanted))
    return " ".join(sentence for sentence in (*sentences, _sureness(curves, plot)) if sentence)


def _tells_lowest(curves: Sequence[Curve], wanted: Wanted) -> bool:
    """Whether the lowest value is told: the best, or neither is and the highest is where curves start."""
    if wanted.higher_is_better is not None:
        return not wanted.higher_is_better
    found = [(curve, *_extreme(curve, lowest=False)) for curve in curves]
    highest = max(value for _, _, value in found)
    return all(step == _first_step(curve) for curve, step, value in found if value == highest)


def _first_step(curve: Curve) -> float:
    return float(curve.steps[np.isfinite(unsmoothed(curve))][0])


def _best(curves: Sequence[Curve], plot: Plot, wanted: Wanted, what: str, *, lowest: bool) -> str:
    """Where the best value stands; every series that reaches it, to the digits shown, is named."""
    best = min if lowest else max
    found = [(curve.series, *_extreme(curve, lowest=lowest)) for curve in curves]
    value = _read(plot, best(here for _, _, here in found))
    first = [(name, format_value(plot.x, step)) for name, step, here in found if _read(plot, here) == value]
    where = axis_word(wanted.x_title)
    if len(first) > 1:
        names = listing([f"{series} (at {where} {step})" for series, step in first])
        return f"{names} reach the {what}, {value}."
    ((series, step),) = first
    verb = "reaches the" if len(curves) > 1 else "has its"
    joint = "," if len(curves) > 1 else " of"
    return f"{series} {verb} {what}{joint} {value} at {where} {step}."


def _extreme(curve: Curve, *, lowest: bool) -> tuple[float, float]:
    """The first step that has the lowest or highest value, and the value."""
    values = unsmoothed(curve)
    index = int(np.nanargmin(values) if lowest else np.nanargmax(values))
    return float(curve.steps[index]), float(values[index])


def _endings(curve_set: CurveSet, curves: Sequence[Curve], plot: Plot, wanted: Wanted) -> str:
    ends = [_ending(curve) for curve in curves]
    same_step = len({end.step for end in ends}) == 1
    where = f"At the last step, {format_value(plot.x, ends[0].step)}," if same_step else "At their last steps"
    ends.sort(key=lambda end: end.value if wanted.higher_is_better is False else -end.value)
    first, second = ends[:2]
    level = [end.series for end in ends if _read(plot, end.value) == _read(plot, first.value)]
    if len(level) > 1:
        return f"{where} {listing(level)} stand at {_read(plot, first.value)}."
    lead, follow = (f"{end.series} with {_estimate(plot, end)}" for end in (first, second))
    beyond = "below" if wanted.higher_is_better is False else "above"
    said = f"{where} {lead} stands {beyond} {follow}"
    upper, lower = (second, first) if wanted.higher_is_better is False else (first, second)
    if np.isfinite(upper.low) and np.isfinite(lower.high):
        given = curve_set.given_interval
        interval = given != "minimum and maximum" and (curve_set.band == "ci" or given)
        bands = "intervals" if interval else "bands"
        return f"{said}; their {bands} {'overlap' if upper.low <= lower.high else 'do not overlap'}."
    return f"{said}."


class _Ending(NamedTuple):
    series: str
    step: float
    value: float
    low: float
    high: float


def _ending(curve: Curve) -> _Ending:
    values = unsmoothed(curve)
    index = int(np.flatnonzero(np.isfinite(values))[-1])
    interval = (curve.low, curve.high) if curve.raw is None else (np.full_like(values, np.nan),) * 2
    low, high = (float(end[index]) for end in interval)
    return _Ending(curve.series, float(curve.steps[index]), float(values[index]), low, high)


def _estimate(plot: Plot, ending: _Ending) -> str:
    if np.isfinite(ending.low) and np.isfinite(ending.high):
        return f"{_read(plot, ending.value)} [{_read(plot, ending.low)}, {_read(plot, ending.high)}]"
    return _read(plot, ending.value)


def _sureness(curves: Sequence[Curve], plot: Plot) -> str:
    if all(len(curve.runs) == 1 for curve in curves) and plot.band == "none":
        return "With one run per series, nothing can be said about how much runs vary."
    return ""


def _read(plot: Plot, value: float) -> str:
    return format_value(plot.y, value)
