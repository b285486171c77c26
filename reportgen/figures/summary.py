"""The summary of a figure in words: who ends best, where the best value stands, and how sure that is.

It speaks of highest and lowest only. Of a metric of which neither is better it tells the highest value, or
the lowest where the highest is only the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.plotting import unsmoothed
from reportgen.figures.standing import (
    best,
    bests,
    estimate,
    finals,
    known_curves,
    lead,
    level_with,
    picked_from,
    read,
)
from reportgen.words import axis_word, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import Wanted
    from reportgen.model import Curve, CurveSet


def summary(curve_set: CurveSet, plot: Plot, wanted: Wanted) -> str:
    """Who ends best and whether a test says so, where the best value stands, and how sure that is."""
    curves = known_curves(curve_set)
    if not curves:
        return f"No series has a value of {wanted.metric}."
    sentences = [
        _endings(curve_set, curves, plot, wanted) if len(curves) > 1 else "",
        _best(curve_set, curves, plot, wanted),
        _sureness(curves, plot),
    ]
    return " ".join(filter(None, sentences))


def _tells_lowest(curves: Sequence[Curve], wanted: Wanted) -> bool:
    """Whether the lowest value is told: the best, or neither is and the highest is where curves start."""
    if wanted.higher_is_better is not None:
        return not wanted.higher_is_better
    found = [(curve, best(curve, lowest=False)) for curve in curves]
    highest = max(one.value for _, one in found)
    return all(one.step == _first_step(curve) for curve, one in found if one.value == highest)


def _first_step(curve: Curve) -> float:
    return float(curve.steps[np.isfinite(unsmoothed(curve))][0])


def _best(curve_set: CurveSet, curves: Sequence[Curve], plot: Plot, wanted: Wanted) -> str:
    """Where the best value stands, and from how many it was picked; all that reach it are named."""
    lowest = _tells_lowest(curves, wanted)
    word = "lowest" if lowest else "highest"
    what = f"{word} {_centre(curve_set, curves)}{wanted.metric}"
    found = bests(curves, plot, lowest=lowest)
    most = "best" if wanted.higher_is_better is not None else word
    names = [one.series for one in found]
    picked = picked_from(curve_set, plot, names, most=most)
    where = axis_word(wanted.x_title)
    if len(found) > 1:
        reached = [f"{one.series} (at {where} {format_value(plot.x, one.step)})" for one in found]
        return f"{listing(reached)} reach the {what}, {read(plot, found[0].value)}, {picked}."
    (one,) = found
    verb = "reaches the" if len(curves) > 1 else "has its"
    joint = "," if len(curves) > 1 else " of"
    said = f"{estimate(plot, one)} at {where} {format_value(plot.x, one.step)}"
    return f"{one.series} {verb} {what}{joint} {said}, {picked}."


def _centre(curve_set: CurveSet, curves: Sequence[Curve]) -> str:
    if all(len(curve.runs) == 1 for curve in curves):
        return ""
    return "median " if curve_set.band == "iqr" else "mean "


def _endings(curve_set: CurveSet, curves: Sequence[Curve], plot: Plot, wanted: Wanted) -> str:
    """Who ends best: as a claim where the test says so, otherwise as a reading."""
    lowest = wanted.higher_is_better is False
    ends = finals(curves, lowest=lowest)
    same_step = len({end.step for end in ends}) == 1
    where = f"At the last step, {format_value(plot.x, ends[0].step)}," if same_step else "At their last steps"
    first, second = ends[:2]
    ahead, ranked = lead(curve_set, lowest=lowest), wanted.higher_is_better is not None
    if ahead.series == first.series:
        verb = "leads" if ranked else "ends above all others"
        ahead_of = f"{second.series} with {estimate(plot, second)}"
        return f"{where} {first.series} {verb} with {estimate(plot, first)}, before {ahead_of}."
    if ahead.tested:
        where += f" there is no clear {'winner' if ranked else 'order'}:"
    if read(plot, first.value) == read(plot, second.value):
        return f"{where} {level_with(plot, ends)} stand at {read(plot, first.value)}."
    if ahead.tested:
        return (
            f"{where} {first.series} has {estimate(plot, first)}, {second.series} {estimate(plot, second)}."
        )
    which = f"{'lowest' if lowest else 'highest'} {_centre(curve_set, curves) or 'reading'}".strip()
    readings = f"{estimate(plot, first)} ({first.series}), then {estimate(plot, second)} ({second.series})"
    return f"{where} the {which} is {readings}."


def _sureness(curves: Sequence[Curve], plot: Plot) -> str:
    if all(len(curve.runs) == 1 for curve in curves) and plot.band == "none":
        return "With one run per series, nothing can be said about how much runs vary."
    return ""
