"""The summary of a figure in words: who ends best, where the best value stands, and how sure that is.

It speaks of highest and lowest only. Of a metric of which neither is better it tells the highest value, or
the lowest where the highest is only the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.plotting import get_unsmoothed
from reportgen.figures.standing import (
    describe_pick,
    find_best,
    find_bests,
    get_lead,
    list_known_curves,
    name_level_series,
    rank_finals,
    read_out,
    read_out_estimate,
)
from reportgen.words import join_names, lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import PlotSpec
    from reportgen.model import Curve, CurveSet


def write_summary(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> str:
    """Who ends best and whether a test says so, where the best value stands, and how sure that is."""
    curves = list_known_curves(curve_set)
    if not curves:
        return f"No series has a value of {spec.metric}."
    sentences = [
        _describe_endings(curve_set, curves, plot, spec) if len(curves) > 1 else "",
        _describe_best(curve_set, curves, plot, spec),
        _sureness(curves, plot),
    ]
    return " ".join(filter(None, sentences))


def _shows_lowest(curves: Sequence[Curve], spec: PlotSpec) -> bool:
    """Whether the lowest value is told: the best, or neither is and the highest is where curves start."""
    if spec.higher_is_better is not None:
        return not spec.higher_is_better
    found = [(curve, find_best(curve, lowest=False)) for curve in curves]
    highest = max(one.value for _, one in found)
    return all(one.step == _first_step(curve) for curve, one in found if one.value == highest)


def _first_step(curve: Curve) -> float:
    return float(curve.steps[np.isfinite(get_unsmoothed(curve))][0])


def _describe_best(curve_set: CurveSet, curves: Sequence[Curve], plot: Plot, spec: PlotSpec) -> str:
    """Where the best value stands, and from how many it was picked; all that reach it are named."""
    lowest = _shows_lowest(curves, spec)
    word = "lowest" if lowest else "highest"
    what = f"{word} {_name_centre(curve_set, curves)}{spec.metric}"
    found = find_bests(curves, plot, lowest=lowest)
    most = "best" if spec.higher_is_better is not None else word
    names = [one.series for one in found]
    picked = describe_pick(curve_set, plot, names, most=most)
    where = lower_axis_title(spec.x_title)
    if len(found) > 1:
        reached = [f"{one.series} (at {where} {format_value(plot.x, one.step)})" for one in found]
        return f"{join_names(reached)} reach the {what}, {read_out(plot, found[0].value)}, {picked}."
    (one,) = found
    verb = "reaches the" if len(curves) > 1 else "has its"
    joint = "," if len(curves) > 1 else " of"
    said = f"{read_out_estimate(plot, one)} at {where} {format_value(plot.x, one.step)}"
    return f"{one.series} {verb} {what}{joint} {said}, {picked}."


def _name_centre(curve_set: CurveSet, curves: Sequence[Curve]) -> str:
    if all(len(curve.runs) == 1 for curve in curves):
        return ""
    return "median " if curve_set.band == "iqr" else "mean "


def _describe_endings(curve_set: CurveSet, curves: Sequence[Curve], plot: Plot, spec: PlotSpec) -> str:
    """Who ends best: as a claim where the test says so, otherwise as a reading."""
    lowest = spec.higher_is_better is False
    ends = rank_finals(curves, lowest=lowest)
    same_step = len({end.step for end in ends}) == 1
    where = f"At the last step, {format_value(plot.x, ends[0].step)}," if same_step else "At their last steps"
    first, second = ends[:2]
    ahead, ranked = get_lead(curve_set, lowest=lowest), spec.higher_is_better is not None
    if ahead.series == first.series:
        verb = "leads" if ranked else "ends above all others"
        ahead_of = f"{second.series} with {read_out_estimate(plot, second)}"
        return f"{where} {first.series} {verb} with {read_out_estimate(plot, first)}, before {ahead_of}."
    if ahead.tested:
        where += f" there is no clear {'winner' if ranked else 'order'}:"
    if read_out(plot, first.value) == read_out(plot, second.value):
        return f"{where} {name_level_series(plot, ends)} stand at {read_out(plot, first.value)}."
    if ahead.tested:
        return f"{where} {first.series} has {read_out_estimate(plot, first)}, {second.series} {read_out_estimate(plot, second)}."
    which = f"{'lowest' if lowest else 'highest'} {_name_centre(curve_set, curves) or 'reading'}".strip()
    readings = f"{read_out_estimate(plot, first)} ({first.series}), then {read_out_estimate(plot, second)} ({second.series})"
    return f"{where} the {which} is {readings}."


def _sureness(curves: Sequence[Curve], plot: Plot) -> str:
    if all(len(curve.runs) == 1 for curve in curves) and plot.band == "none":
        return "With one run per series, nothing can be said about how much runs vary."
    return ""
