"""Words below a figure: its subtitle, and the caption that says how its lines came about."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import bidirectional

import numpy as np

from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Curve, CurveSet

_TURNING = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
_BANDS = {
    "ci": "{level} confidence interval of the mean across runs (Student t), at each step by itself",
    "simultaneous": "the whole mean curve of runs like these lies in it with {level} confidence (sup-t)",
    "se": "standard error of the mean across runs, at each step by itself",
    "sd": "standard deviation across runs, at each step by itself",
    "range": "smallest to largest run, at each step by itself",
    "iqr": "middle half of the runs at each step by itself, with the median as the line",
}
_MOST_NAMES = 6


def name_band(curve_set: CurveSet) -> str:
    """A short name of the band for subtitles and tooltips; empty where none is drawn."""
    if curve_set.given_interval and not any(len(curve.runs) > 1 for curve in curve_set.curves):
        ends = curve_set.given_interval == "minimum and maximum"
        return "smallest to largest, as given" if ends else "interval as given"
    level = f"{curve_set.level * 100:g} %"
    names = {
        "ci": f"{level} CI",
        "simultaneous": f"{level} simultaneous",
        "se": "± standard error",
        "sd": "± SD",
        "range": "range",
        "iqr": "IQR",
    }
    has_band = any(np.isfinite(curve.low).any() for curve in curve_set.curves)
    return names.get(curve_set.band, "") if has_band else ""


def write_subtitle(curve_set: CurveSet, spec: PlotSpec) -> str:
    """Metric, centre, band and number of runs, in a few words."""
    centre = "median" if curve_set.band == "iqr" else "mean"
    counts = sorted({len(curve.runs) for curve in curve_set.curves})
    if all(curve.given for curve in curve_set.curves):
        runs = f"as given{describe_given_n(curve_set.curves)}"
    elif counts == [1]:
        runs = "1 run per series"
    elif len(counts) == 1:
        runs = f"{centre} of {counts[0]} runs per series"
    else:
        runs = f"{centre} of {counts[0]} to {counts[-1]} runs per series"
    band = name_band(curve_set)
    better = "lower is better" if spec.higher_is_better is False else ""
    return ", ".join(part for part in (spec.metric, runs, band and f"band: {band}", better) if part)


def write_caption(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> str:
    """The author's words, then n, band and level, smoothing, alignment, what was dropped, and source."""
    sentences = [
        spec.caption or "",
        _describe_runs(curve_set),
        _describe_band(curve_set),
        _describe_choice(curve_set),
    ]
    sentences += [
        _smoothing(curve_set),
        _describe_alignment(curve_set),
        *_describe_dropped(curve_set),
        _not_drawn(curve_set),
    ]
    sentences += [*context.notes, f"Source: {describe_plot_source(context)}."]
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_runs(curve_set: CurveSet) -> str:
    counts = {curve.series: len(curve.runs) for curve in curve_set.curves}
    distinct = set(counts.values())
    if all(curve.given for curve in curve_set.curves):
        return f"Each line is as given by the input{describe_given_n(curve_set.curves)}."
    if distinct == {1}:
        return "Each line is one run."
    centre = "median" if curve_set.band == "iqr" else "mean"
    if len(distinct) == 1:
        return f"Each line is the {centre} of n = {distinct.pop()} runs."
    listed = ", ".join(f"{series} {count}" for series, count in counts.items())
    return f"Each line is the {centre} of n runs: {listed}."


def _describe_band(curve_set: CurveSet) -> str:
    given = [curve.series for curve in curve_set.curves if curve.given]
    by_input = _describe_given_band(curve_set)
    if len(given) == len(curve_set.curves):
        return f"Band: {by_input}."
    if curve_set.band == "none":
        return f"Band of {join_names(given)}: {by_input}." if given else ""
    several = any(len(curve.runs) > 1 for curve in curve_set.curves)
    if not several and not given:
        return "No band: an interval needs at least 2 runs."
    words = _BANDS[curve_set.band].format(level=f"{curve_set.level * 100:g} %")
    sentences = [f"Band: {words}."] if several else []
    lone = [curve.series for curve in curve_set.curves if len(curve.runs) == 1 and not curve.given]
    sentences += [f"{join_names(lone)}: 1 run, no band."] if lone else []
    sentences += [f"{join_names(given)}: {by_input}."] if given else []
    sentences += [_describe_equal_runs(curve_set)] if several else []
    if any(len(set(curve.n.tolist())) > 1 and not curve.given for curve in curve_set.curves):
        sentences.append("Where fewer runs reach, the band is drawn from those that do.")
    if curve_set.given_ignored:
        sentences.append("Where a series has several runs, intervals that the input gives are not used.")
    return " ".join(filter(None, sentences))


def _describe_equal_runs(curve_set: CurveSet) -> str:
    """Where all runs are equal, and a band without width would look like certainty."""
    steps = [(curve.equal, curve.series) for curve in curve_set.curves if curve.equal]
    if not steps:
        return ""
    what = "an equal middle half of the runs" if curve_set.band == "iqr" else "equal readings in all runs"
    count = sum(number for number, _ in steps)
    if len(curve_set.curves) == 1 or len(steps) > _MOST_NAMES:
        where = format_count(count, "step")
    else:
        where = join_names([f"{format_count(number, 'step')} of {series}" for number, series in steps])
    return f"{where} {'has' if count == 1 else 'have'} {what}: no band there."


def _describe_choice(curve_set: CurveSet) -> str:
    if all(curve.extremes is None for curve in curve_set.curves):
        return ""
    level = f"{curve_set.level * 100:g} %"
    return f"The interval of the best value ({level}) allows for the choice of its step among all."


def _describe_given_band(curve_set: CurveSet) -> str:
    if curve_set.given_interval == "low and high":
        return "interval given by the input (low and high)"
    if curve_set.given_interval == "minimum and maximum":
        return "from the smallest to the largest of the values that a point stands for, as given by the input"
    level = f"{curve_set.level * 100:g} %"
    source = curve_set.given_interval
    return f"{level} confidence interval computed from the input's {source}, at each step by itself"


def describe_given_n(curves: Sequence[Curve]) -> str:
    """How many runs the input says are behind its own interval, where it says so."""
    counts = {int(n) for curve in curves for n in curve.n.tolist()}
    if max(counts) <= 1:
        return ""
    return f", n = {min(counts)}" if len(counts) == 1 else f", n from {min(counts)} to {max(counts)}"


def _smoothing(curve_set: CurveSet) -> str:
    if not curve_set.smooth:
        return "Not smoothed."
    strength = f"{curve_set.smooth:g}"
    return f"Smoothed by a time-weighted exponential average, {strength}; the faint line is not smoothed."


def _describe_alignment(curve_set: CurveSet) -> str:
    if all(len(curve.runs) == 1 for curve in curve_set.curves):
        return ""
    if curve_set.exact:
        return "All runs share their steps."
    return "Steps differ between runs: each run is interpolated linearly within its own range."


def _describe_dropped(curve_set: CurveSet) -> list[str]:
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


def _not_drawn(curve_set: CurveSet) -> str:
    """Series and runs without a finite value."""
    names = [series if run is None else f"run {run} of {series}" for series, run in curve_set.without_values]
    return f"Without a finite value, and not drawn: {join_names(names, most=6)}." if names else ""


def describe_plot_source(context: DrawContext) -> str:
    """The source's title, and why its numbers are not exact if they are not."""
    caution = f" ({context.approximate})" if context.approximate else ""
    return f"{context.source}{caution}"


def isolate_names(sentence: str, names: Sequence[str]) -> str:
    """A sentence in which names that run from right to left do not turn the words around them.

    Such a name is put between U+2068 and U+2069 (Unicode annex 9).
    """
    for name in names:
        if any(bidirectional(letter) in _TURNING for letter in name):
            sentence = sentence.replace(name, f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}")
    return sentence
