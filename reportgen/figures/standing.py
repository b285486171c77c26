"""Where series stand at their ends and at their best: what summaries, key results and cards of curves share.

Ends come first: a best value is picked by looking, from more readings of one series than of another perhaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.plotting import get_unsmoothed
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.plot import Plot
    from reportgen.model import Curve, CurveSet, Lead


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
