"""Sentences about curves: the summary that says who leads, where and how sure, and the caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.plotting import unsmoothed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import Context, Wanted
    from reportgen.model import Curve, CurveSet

_BANDS = {
    "ci": "{level} confidence interval of the mean across runs (Student t)",
    "se": "standard error of the mean across runs",
    "sd": "standard deviation across runs",
    "range": "smallest to largest run",
    "iqr": "middle half of the runs, with the median as the line",
}


def band_name(curve_set: CurveSet) -> str:
    """A short name of the band for subtitles and tooltips; empty where none is drawn."""
    if curve_set.given_interval and not any(len(curve.runs) > 1 for curve in curve_set.curves):
        return "interval as given"
    level = f"{curve_set.level * 100:g} %"
    names = {"ci": f"{level} CI", "se": "± standard error", "sd": "± SD", "range": "range", "iqr": "IQR"}
    has_band = any(np.isfinite(curve.low).any() for curve in curve_set.curves)
    return names.get(curve_set.band, "") if has_band else ""


def subtitle(curve_set: CurveSet, wanted: Wanted) -> str:
    """Metric, centre, band and number of runs, in a few words."""
    centre = "median" if curve_set.band == "iqr" else "mean"
    counts = sorted({len(curve.runs) for curve in curve_set.curves})
    if counts == [1]:
        runs = "1 run per series"
    elif len(counts) == 1:
        runs = f"{centre} of {counts[0]} runs per series"
    else:
        runs = f"{centre} of {counts[0]} to {counts[-1]} runs per series"
    band = band_name(curve_set)
    better = "" if wanted.higher_is_better else "lower is better"
    return ", ".join(part for part in (wanted.metric, runs, band and f"band: {band}", better) if part)


def summary(curve_set: CurveSet, plot: Plot, wanted: Wanted) -> str:
    """One or two sentences: where the best value stands, who ends best, and how sure that is."""
    curves = [curve for curve in curve_set.curves if np.isfinite(curve.values).any()]
    if not curves:
        return f"No series has a value of {wanted.metric}."
    pick = max if wanted.higher_is_better else min
    best = pick(curves, key=lambda curve: _extreme(curve, wanted)[1])
    step, value = _extreme(best, wanted)
    word = "highest" if wanted.higher_is_better else "lowest"
    several = any(len(curve.runs) > 1 for curve in curves)
    centre = "median" if curve_set.band == "iqr" else "mean"
    what = f"{word} {centre} {wanted.metric}" if several else f"{word} {wanted.metric}"
    at = f"{_read(plot, value)} at {axis_word(wanted.x_title)} {format_value(plot.x, step)}"
    if len(curves) == 1:
        return f"{best.series} has its {what} of {at}. {_sureness(curves, plot)}"
    return (
        f"{best.series} reaches the {what}, {at}. {_endings(curves, plot, wanted)} {_sureness(curves, plot)}"
    )


def caption(curve_set: CurveSet, wanted: Wanted, context: Context) -> str:
    """The author's words, then n, band and level, smoothing, alignment, what was dropped, and source."""
    sentences = [wanted.caption or "", _runs(curve_set), _band(curve_set), _smoothing(curve_set)]
    sentences += [_alignment(curve_set), *_dropped(curve_set), *context.notes, _source(context)]
    return " ".join(sentence for sentence in sentences if sentence)


def _extreme(curve: Curve, wanted: Wanted) -> tuple[float, float]:
    values = unsmoothed(curve)
    index = int(np.nanargmax(values) if wanted.higher_is_better else np.nanargmin(values))
    return float(curve.steps[index]), float(values[index])


def _endings(curves: Sequence[Curve], plot: Plot, wanted: Wanted) -> str:
    ends = [_ending(curve) for curve in curves]
    same_step = len({end.step for end in ends}) == 1
    where = f"At the last step, {format_value(plot.x, ends[0].step)}," if same_step else "At their last steps"
    ends.sort(key=lambda end: -end.value if wanted.higher_is_better else end.value)
    first, second = ends[:2]
    if _read(plot, first.value) == _read(plot, second.value):
        return f"{where} {first.series} and {second.series} stand at {_read(plot, first.value)}."
    lead, follow = (f"{end.series} with {_estimate(plot, end)}" for end in (first, second))
    beyond = "above" if wanted.higher_is_better else "below"
    said = f"{where} {lead} stands {beyond} {follow}"
    upper, lower = (first, second) if wanted.higher_is_better else (second, first)
    if np.isfinite(upper.low) and np.isfinite(lower.high):
        return f"{said}; their intervals {'overlap' if upper.low <= lower.high else 'do not overlap'}."
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


def _runs(curve_set: CurveSet) -> str:
    counts = {curve.series: len(curve.runs) for curve in curve_set.curves}
    distinct = set(counts.values())
    if distinct == {1}:
        return "Each line is one run."
    centre = "median" if curve_set.band == "iqr" else "mean"
    if len(distinct) == 1:
        return f"Each line is the {centre} of n = {distinct.pop()} runs."
    listed = ", ".join(f"{series} {count}" for series, count in counts.items())
    return f"Each line is the {centre} of n runs: {listed}."


def _band(curve_set: CurveSet) -> str:
    single = all(len(curve.runs) == 1 for curve in curve_set.curves)
    if curve_set.given_interval and single:
        return f"Band: interval given by the input ({curve_set.given_interval})."
    if curve_set.band == "none":
        return ""
    if single:
        return "No band: an interval needs at least 2 runs."
    words = _BANDS[curve_set.band].format(level=f"{curve_set.level * 100:g} %")
    lone = [curve.series for curve in curve_set.curves if len(curve.runs) == 1]
    without = f" {', '.join(lone)}: 1 run, no band." if lone else ""
    thinner = any(len(set(curve.n.tolist())) > 1 for curve in curve_set.curves)
    fewer = " Where fewer runs reach, the band is drawn from those that do." if thinner else ""
    return f"Band: {words}.{without}{fewer}"


def _smoothing(curve_set: CurveSet) -> str:
    if not curve_set.smooth:
        return "Not smoothed."
    strength = f"{curve_set.smooth:g}"
    return f"Smoothed by a time-weighted exponential average, {strength}; the faint line is not smoothed."


def _alignment(curve_set: CurveSet) -> str:
    if all(len(curve.runs) == 1 for curve in curve_set.curves):
        return ""
    if curve_set.exact:
        return "All runs share their steps."
    return "Steps differ between runs: each run is interpolated linearly within its own range."


def _dropped(curve_set: CurveSet) -> list[str]:
    sentences = []
    if curve_set.bins:
        sentences.append(f"Steps are averaged in {curve_set.bins} bins.")
    if curve_set.replaced:
        rows = "row was" if curve_set.replaced == 1 else "rows were"
        sentences.append(f"{curve_set.replaced:,} {rows} replaced by a later row of the same run and step.")
    if curve_set.dropped:
        values = "value was" if curve_set.dropped == 1 else "values were"
        sentences.append(f"{curve_set.dropped:,} missing or non-finite {values} left out.")
    return sentences


def _source(context: Context) -> str:
    caution = f" ({context.approximate})" if context.approximate else ""
    return f"Source: {context.source}{caution}."


def axis_word(title: str) -> str:
    """An axis title inside a sentence: its capital is dropped, unless the word is all capitals."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
