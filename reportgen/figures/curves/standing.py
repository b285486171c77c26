"""Where series stand at their ends and at their best, and the summary of a figure in words.

Ends come first: a best value is picked by looking, from more readings of one series than of another perhaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.words import join_names, lower_axis_title
from reportgen.figures.axis import format_value
from reportgen.figures.curves.plotting import get_unsmoothed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, CurveSet, Lead
    from reportgen.figures.plot import Plot, PlotSpec


class Reading(NamedTuple):
    """A value of a series at a step; ``low`` and ``high`` are NaN without an interval."""

    series: str
    step: float
    value: float
    low: float = np.nan
    high: float = np.nan


def list_known_curves(curve_set: CurveSet) -> list[Curve]:
    """The curves that have a value."""
    return [curve for curve in curve_set.curves if np.isfinite(curve.values).any()]


def get_lead(curve_set: CurveSet, *, lowest: bool) -> Lead:
    """Who ends above every other series by the test, or below."""
    return curve_set.leads[int(lowest)]


def rank_finals(curves: Sequence[Curve], *, lowest: bool) -> list[Reading]:
    """The last value of each series, the highest first, or the lowest."""
    ends = [_find_final(curve) for curve in curves]
    return sorted(ends, key=lambda end: end.value if lowest else -end.value)


def find_bests(curves: Sequence[Curve], plot: Plot, *, lowest: bool) -> list[Reading]:
    """The best value of all at its first step; every series that reaches it, to the digits shown."""
    found = [find_best(curve, lowest=lowest) for curve in curves]
    first = min(found, key=lambda one: one.value if lowest else -one.value)
    return [one for one in found if read_out(plot, one.value) == read_out(plot, first.value)]


def find_best(curve: Curve, *, lowest: bool) -> Reading:
    """The best value of a series; with an interval only where that knows that the step was picked."""
    values = get_unsmoothed(curve)
    index = int(np.nanargmin(values) if lowest else np.nanargmax(values))
    plain = Reading(curve.series, float(curve.steps[index]), float(values[index]))
    if curve.extremes is None:
        return plain
    picked = curve.extremes[int(lowest)]
    if picked.low is None or picked.high is None:
        return plain
    return plain._replace(low=picked.low, high=picked.high)


def count_readings(curve: Curve) -> int:
    """How many values of a series there are to pick from."""
    return int(np.count_nonzero(np.isfinite(get_unsmoothed(curve))))


def describe_checkpoints(
    counts: Sequence[int], *, is_time: bool, binned: bool = False, most: str = "best"
) -> str:
    """How many a best value was picked from.

    ``best of 14 checkpoints``; where others have other numbers, the first being that of the series which is
    told of, ``best of 14 against best of 8 checkpoints`` or ``best of 14 against best of 8 to 12``.
    """
    first, others = counts[0], sorted(set(counts) - {counts[0]})
    noun = "bin mean" if binned else "reading" if is_time else "checkpoint"
    said = f"{most} of {first:,}"
    if others:
        said += f" against {most} of {others[0]:,}"
    if len(set(counts)) > 2:  # noqa: PLR2004 - two numbers of others are a range
        said += f" to {others[-1]:,}"
    return f"{said} {noun}{'' if max(counts) == 1 else 's'}"


def describe_pick(curve_set: CurveSet, plot: Plot, names: Sequence[str], *, most: str = "best") -> str:
    """From how many values the best was picked, those of ``names`` first."""
    own = [count_readings(curve) for curve in list_known_curves(curve_set) if curve.series in names]
    others = [count_readings(curve) for curve in list_known_curves(curve_set) if curve.series not in names]
    is_time, binned = plot.x.scale == "time", curve_set.bins is not None
    return describe_checkpoints([*own, *others], is_time=is_time, binned=binned, most=most)


def read_out_estimate(plot: Plot, one: Reading) -> str:
    """A value with its interval, where it has one."""
    if np.isfinite(one.low) and np.isfinite(one.high):
        return f"{read_out(plot, one.value)} [{read_out(plot, one.low)}, {read_out(plot, one.high)}]"
    return read_out(plot, one.value)


def name_level_series(plot: Plot, ends: Sequence[Reading]) -> str:
    """The first of these, with every other that reads the same."""
    return join_names(
        [end.series for end in ends if read_out(plot, end.value) == read_out(plot, ends[0].value)]
    )


def read_out(plot: Plot, value: float) -> str:
    """A value as the axis shows it."""
    return format_value(plot.y, value)


def _find_final(curve: Curve) -> Reading:
    values = get_unsmoothed(curve)
    index = int(np.flatnonzero(np.isfinite(values))[-1])
    plain = Reading(curve.series, float(curve.steps[index]), float(values[index]))
    # A smoothed line's band belongs to the smoothed line, not to the value told here.
    if curve.raw is not None:
        return plain
    return plain._replace(low=float(curve.low[index]), high=float(curve.high[index]))


def write_summary(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> str:
    """Who ends best and whether a test says so, where the best value stands, and how sure that is."""
    curves = list_known_curves(curve_set)
    if not curves:
        return f"No series has a value of {spec.metric}."
    sentences = [_describe_endings(curve_set, curves, plot, spec)] if len(curves) > 1 else []
    sentences.append(_describe_best(curve_set, curves, plot, spec))
    if plot.band == "none" and all(len(curve.runs) == 1 for curve in curves):
        sentences.append("With one run per series, nothing can be said about how much runs vary.")
    return " ".join(sentences)


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
        return (
            f"{where} {first.series} has {read_out_estimate(plot, first)}, {second.series} "
            f"{read_out_estimate(plot, second)}."
        )
    which = f"{'lowest' if lowest else 'highest'} {_name_centre(curve_set, curves) or 'reading'}".strip()
    readings = (
        f"{read_out_estimate(plot, first)} ({first.series}), then "
        f"{read_out_estimate(plot, second)} ({second.series})"
    )
    return f"{where} the {which} is {readings}."
