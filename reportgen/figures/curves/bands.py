"""Words for the bands of curves: what they show, how they are made, and why some are missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.core.model import Curve, CurveSet

# Short name and explanation of each band.
_BANDS = {
    "ci": (
        "{level} CI",
        "pointwise {level} CI of the mean across runs (Student t{scale})",
    ),
    "simultaneous": (
        "{level} simultaneous",
        "the whole mean curve of runs like these lies in it with {level} confidence (Bonferroni{scale})",
    ),
    "se": ("± standard error", "standard error of the mean across runs at each step{cut}"),
    "sd": ("± SD", "standard deviation across runs at each step{cut}"),
    "range": ("range", "smallest to largest run at each step"),
    "iqr": ("IQR", "middle half of the runs at each step, with the median as the line"),
}
_MOST_NAMES = 6
_GIVEN_BANDS: Final = {
    "low and high": "intervals as supplied (low and high)",
    "standard errors of scores": (
        "{level} CI of each score for problems like these (Student's t on the logit scale)"
    ),
    "minimum and maximum": (
        "from the smallest to the largest of the values that a point stands for, as supplied"
    ),
}


def describe_scale(curves: Iterable[Curve]) -> str:
    """Return ", log scale" if intervals of means are made on it (``statistics.distributions``), or ""."""
    ends = dict.fromkeys(curve.ends for curve in curves)
    names = dict.fromkeys("log" if any(map(math.isinf, one)) else "logit" for one in ends if one)
    stated = " where the range is stated" if names and None in ends else ""
    return f", {' or '.join(names)} scale{stated}" if names else ""


def _describe_cut(curves: Iterable[Curve]) -> str:
    """Return ", cut at 0" if a band reaches the smallest or largest possible value, or ""."""
    reached: dict[float, None] = {}
    for curve in curves:
        for end, band in zip(curve.ends or (), (curve.low, curve.high), strict=False):
            reached |= {end: None} if np.any(band == end) else {}
    return f", cut at {join_names([f'{end:g}' for end in reached])}" if reached else ""


def describe_given_band(curve_set: CurveSet) -> str:
    """Return what the intervals of the input are."""
    level = f"{curve_set.level * 100:g}%"
    scale = describe_scale(curve_set.curves).replace(", ", " on the ", 1)
    computed = f"pointwise {level} CI computed from the {curve_set.given_interval} supplied{scale}"
    return _GIVEN_BANDS.get(curve_set.given_interval or "", computed).replace("{level}", level)


def name_band(curve_set: CurveSet) -> str:
    """Return a short name of the band for subtitles and tooltips, or "" if none is drawn."""
    if curve_set.given_interval and not any(len(curve.runs) > 1 for curve in curve_set.curves):
        ends = curve_set.given_interval == "minimum and maximum"
        return "smallest to largest, as given" if ends else "interval as given"
    if not any(np.isfinite(curve.low).any() for curve in curve_set.curves):
        return ""
    return _BANDS.get(curve_set.band, ("", ""))[0].format(level=format_level(curve_set))


def format_level(curve_set: CurveSet) -> str:
    """Return the confidence level in percent."""
    return f"{curve_set.level * 100:g}%"


def describe_band(curve_set: CurveSet) -> list[str]:
    """Return sentences on what the band is, and where there is none."""
    given = [curve.series for curve in curve_set.curves if curve.given]
    level = format_level(curve_set)
    by_input = describe_given_band(curve_set)
    if len(given) == len(curve_set.curves):
        return [f"Band: {by_input}.", *_describe_at_end(curve_set.curves)]
    if curve_set.band == "none":
        return [f"Band of {join_names(given)}: {by_input}."] if given else []
    several = any(len(curve.runs) > 1 for curve in curve_set.curves)
    if not several and not given:
        # Scores may have no standard error.
        unknown = any(run.given for curve in curve_set.curves for run in curve.runs)
        neither = "No band: the input gives no interval, and one across runs needs at least 2."
        return [neither if unknown else "No band: an interval needs at least 2 runs."]
    ways = {"scale": describe_scale(curve_set.curves), "cut": _describe_cut(curve_set.curves)}
    sentences = [f"Band: {_BANDS[curve_set.band][1].format(level=level, **ways)}."] if several else []
    lone = [curve.series for curve in curve_set.curves if len(curve.runs) == 1 and not curve.given]
    sentences += [f"{join_names(lone)}: 1 run, no band."] if lone else []
    sentences += [f"{join_names(given)}: {by_input}."] if given else []
    if several and (equal := [curve.series for curve in curve_set.curves if curve.equal]):
        # A zero-width band would suggest certainty.
        sentences.append(f"{join_names(equal, most=_MOST_NAMES)}: no band where the runs are equal.")
    sentences += _describe_at_end(curve_set.curves)
    if curve_set.given_ignored:
        sentences.append("Where a series has several runs, intervals that the input gives are not used.")
    return sentences


def _describe_at_end(curves: Iterable[Curve]) -> list[str]:
    """Say where the input has a standard error of a mean at the end of its range, which has no interval."""
    count = sum(
        int(np.count_nonzero(np.isnan(curve.low) & np.isin(curve.values, curve.ends)))
        for curve in curves
        if curve.given and curve.ends
    )
    return [f"{format_count(count, 'mean')} at the end of the range: no band there."] if count else []
