"""Final and best values of curves, for page headers and overviews.

Final values come first: a best value is picked after the fact, sometimes from more points than others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.digits import is_same
from reportgen.core.model import BenchmarkResult
from reportgen.core.words import join_names
from reportgen.figures.axis import LOGS, format_estimate, format_value
from reportgen.figures.curves.plotting import get_unsmoothed, make_plot
from reportgen.figures.number_format import choose_step_format, format_d3
from reportgen.figures.plot import make_curve_spec, name_caution
from reportgen.figures.standings import Dot, draw_strip, make_standing, write_claims
from reportgen.settings.blocks import CurveSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.model import Curve, CurveSet, Lead
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec
    from reportgen.settings.report import Benchmark


_MOST_NAMES: Final = 6


class Reading(NamedTuple):
    """Value of a series at a step; ``low`` and ``high`` are NaN without an interval.

    ``part`` says how many of its runs reach the step, ``1 of 2 runs``, if not all do.
    """

    series: str
    step: float
    value: float
    low: float = np.nan
    high: float = np.nan
    part: str = ""

    @property
    def name(self) -> str:
        """The series, with the part of its runs."""
        return f"{self.series} with {self.part}" if self.part else self.series


def list_known_curves(curve_set: CurveSet) -> list[Curve]:
    """Return the curves that have a value, with every step: what is written is not about bins."""
    return [curve.every_step or curve for curve in curve_set.curves if np.isfinite(curve.values).any()]


def get_lead(curve_set: CurveSet, *, lowest: bool) -> Lead:
    """Return the series that ends above (or below) every other by the test."""
    return curve_set.leads[int(lowest)]


def rank_finals(curves: Sequence[Curve], *, lowest: bool) -> list[Reading]:
    """Return the last value of each series, highest first (lowest first if ``lowest``)."""
    ends = []
    for curve in curves:
        index = int(np.flatnonzero(np.isfinite(get_unsmoothed(curve)))[-1])
        end = _read_at(curve, index)
        # The band of a smoothed line is not an interval of the unsmoothed value.
        if curve.raw is None and not curve.illustrative:
            end = end._replace(low=float(curve.low[index]), high=float(curve.high[index]))
        ends.append(end)
    return sorted(ends, key=lambda end: end.value if lowest else -end.value)


def find_bests(curves: Sequence[Curve], *, lowest: bool, precision: float = 0.0) -> list[Reading]:
    """Return the best value at its first step, for every series that reaches it within ``precision``."""
    bests = [find_best(curve, lowest=lowest) for curve in curves]
    first = min(bests, key=lambda best: best.value if lowest else -best.value)
    return [best for best in bests if _is_level(best, first, precision)]


def find_best(curve: Curve, *, lowest: bool) -> Reading:
    """Return the best value of a series, with an interval only if that accounts for picking the step."""
    values = get_unsmoothed(curve)
    best = _read_at(curve, int(np.nanargmin(values) if lowest else np.nanargmax(values)))
    picked = curve.extremes[int(lowest)] if curve.extremes else None
    if picked is None or picked.low is None or picked.high is None:
        return best
    return best._replace(low=picked.low, high=picked.high)


def _read_at(curve: Curve, index: int) -> Reading:
    n, runs = int(curve.n[index]), len(curve.runs)
    part = f"{n} of {runs} runs" if n < runs and not curve.given else ""
    return Reading(curve.series, float(curve.steps[index]), float(get_unsmoothed(curve)[index]), part=part)


def describe_checkpoints(counts: Sequence[int], *, is_time: bool, binned: bool = False, most: str) -> str:
    """Describe how many values the best of each series was picked from: ``best of 8 to 14 checkpoints``."""
    noun = "bin mean" if binned else "reading" if is_time else "checkpoint"
    return f"{most} of {format_ends(counts)} {noun}{'' if max(counts) == 1 else 's'}"


def describe_pick(curve_set: CurveSet, plot: Plot, *, most: str) -> str:
    """Describe how many values the best was picked from."""
    curves = list_known_curves(curve_set)
    ordered = [int(np.count_nonzero(np.isfinite(get_unsmoothed(curve)))) for curve in curves]
    is_time = plot.x.scale == "time"
    binned = curve_set.bins is not None and any(curve.every_step is None for curve in curve_set.curves)
    return describe_checkpoints(ordered, is_time=is_time, binned=binned, most=most)


def read_out(plot: Plot, value: float) -> str:
    """Format a value as the y axis shows it."""
    return format_value(plot.y, value)


def read_out_estimate(plot: Plot, reading: Reading) -> str:
    """Format a value with its interval, if it has one, and the part of the runs."""
    value, interval = format_estimate(plot.y, reading.value, reading.low, reading.high)
    return " ".join(filter(None, (value, interval, f"({reading.part})" if reading.part else "")))


def read_out_apart(plot: Plot, ends: Sequence[Reading]) -> list[str]:
    """Format two different values, with as many digits as show their difference if they have no interval."""
    words = [read_out_estimate(plot, end) for end in ends]
    if words[0] != words[1] or np.isfinite(ends[0].low):
        return words
    apart = abs(ends[0].value - ends[1].value)
    return [format_estimate(plot.y, end.value, end.value - apart, end.value + apart)[0] for end in ends]


def list_level_series(ends: Sequence[Reading], precision: float = 0.0) -> list[Reading]:
    """Return the series with the value of the first, or one that is at most ``precision`` from it."""
    return [end for end in ends if _is_level(end, ends[0], precision)]


def _is_level(one: Reading, other: Reading, precision: float) -> bool:
    apart = abs(one.value - other.value)
    return is_same(one.value, other.value) or apart < precision or is_same(apart, precision)


def format_ends(counts: Iterable[int]) -> str:
    """Format counts as ``3`` or ``3 to 5``."""
    ends = sorted(set(counts))
    return f"{ends[0]:,}" if len(ends) == 1 else f"{ends[0]:,} to {ends[-1]:,}"


def describe_fewer_runs(curves: Sequence[Curve]) -> str:
    """Return a sentence on lines that not all runs reach at some steps, with their n, or "" without any."""
    names: dict[str, dict[str, None]] = {}
    for curve in curves:
        counts = curve.n[np.isfinite(curve.values)]
        if counts.min(initial=len(curve.runs)) < len(curve.runs) and not curve.given:
            names.setdefault(format_ends(counts.tolist()), {})[curve.series] = None
    listed = "; ".join(f"{n} for {join_names([*those], most=6)}" for n, those in names.items())
    return f"Where fewer runs reach, it is drawn from those that do: n = {listed}." if listed else ""


def describe_missing_runs(curve_set: CurveSet) -> str:
    """Return a sentence on runs and series without a value of the metric, with their number, or ""."""
    names = [series if run is None else f"run {run} of {series}" for series, run in curve_set.without_values]
    names += curve_set.absent
    if not names:
        return ""
    listed, count = join_names(names, most=_MOST_NAMES), curve_set.missing
    if not count:
        return f"Without a value of {curve_set.metric}, and left out: {listed}."
    total = count + sum(len(curve.runs) for curve in curve_set.curves)
    have = "runs have" if count > 1 else f"{'run' if total == 1 else 'runs'} has"
    said = f"{count:,} of {total:,} {have} no value of {curve_set.metric}"
    return f"{said}, and {'are' if count > 1 else 'is'} left out: {listed}."


def describe_early_ends(curve_set: CurveSet, step: str, *, together: bool) -> str:
    """Return a sentence on runs that end before others of their series, or of all, or "" without any.

    A run ends early if at least one more of its values was due: the distance is at least the largest between
    its own steps. Runs of one value each have no end. ``step`` is what steps are called.
    """
    if all(run.steps.size == 1 for curve in curve_set.curves for run in curve.runs):
        return ""
    early, total = [], 0
    last = max(float(curve.steps[-1]) for curve in curve_set.curves)
    for curve in curve_set.curves:
        end, total = last if together else float(curve.steps[-1]), total + len(curve.runs)
        for run in curve.runs:
            own = float(run.steps[-1])
            if own < end and end - own >= np.max(np.diff(run.steps), initial=0.0):
                name = f"run {run.run} of {curve.series}" if run.run else curve.series
                at = format_d3(own, choose_step_format(run.steps[-1:]))
                early.append(f"{name} at {step} {at}")
    if not early:
        return ""
    have = "runs end" if len(early) > 1 else "runs ends"
    return f"{len(early):,} of {total:,} {have} before the others: {join_names(early, most=_MOST_NAMES)}."


def describe_given_n(curves: Sequence[Curve]) -> str:
    """Return the number of runs in the input's own intervals, or "" if the input does not give it."""
    counts = {int(n) for curve in curves for n in curve.n[np.isfinite(curve.values)].tolist()}
    if max(counts, default=0) <= 1:
        return ""
    return f", n {'=' if len(counts) == 1 else 'from'} {format_ends(counts)}"


def summarize_benchmark(
    benchmark: Benchmark, page: str, curve_set: CurveSet, context: DrawContext, metric_title: str = ""
) -> BenchmarkResult:
    """Summarize final values, best values, runs, date and protocol in words.

    ``page`` is the page's path below ``content/``; ``metric_title`` is what its figures call the metric.
    """
    spec = make_curve_spec("strip", CurveSettings(y_title=metric_title or None), curve_set.metric, context)
    plot = make_plot(curve_set, spec, context)
    lowest, is_ranked = spec.higher_is_better is False, spec.higher_is_better is not None
    ends, lead = rank_finals(list_known_curves(curve_set), lowest=lowest), get_lead(curve_set, lowest=lowest)
    found = _describe_finding(ends, plot, spec)
    standing = make_standing(found, lead, percent=plot.y.percent, has_direction=is_ranked)
    words = write_claims([(benchmark.name, standing)])
    best, size = _list_bests(curve_set, plot, spec), _count_runs(curve_set)
    facts = [
        ("Verdict", words["claim"]),
        ("Difference", words["difference"]),
        ("Best", best),
        ("Runs", size),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or ""),
        ("Caution", context.approximate or ""),
    ]
    slots = {line.name: line.slot for line in plot.lines}
    dots = [Dot(end.series, slots.get(end.series), *end[2:5], *_format(plot, end)) for end in ends]
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        **words,
        measure=spec.measured,
        size=size,
        best=best,
        flag=name_caution(context.approximate),
        facts=tuple((label, text) for label, text in facts if text),
        strip=draw_strip(dots, _list_late(plot), percent=plot.y.percent, log=plot.y.scale in LOGS),
        date=benchmark.date or "",
    )


def _list_late(plot: Plot) -> list[float]:
    """List the ends of what lines reach in the second half of their steps."""
    late = [line.values[line.values.size // 2 :] for line in plot.lines]
    values = np.concatenate([one[np.isfinite(one)] for one in late])
    return [float(values.min()), float(values.max())] if values.size else []


def _format(plot: Plot, reading: Reading) -> tuple[str, str]:
    """Format a value and, if known, its interval."""
    return format_estimate(plot.y, reading.value, reading.low, reading.high)


def _describe_finding(ends: Sequence[Reading], plot: Plot, spec: PlotSpec) -> str:
    """Say what series end at: ``v1 ends at 30.2%, v10 at 30.0%``."""
    level = list_level_series(ends, spec.precision)
    names, value = join_names([end.name for end in level], most=_MOST_NAMES), read_out(plot, ends[0].value)
    which = "lowest" if spec.higher_is_better is False else "highest"
    if len(level) > 1:
        same = len(list_level_series(level)) == len(level)
        how = "level" if same else f"level to within {read_out(plot, spec.precision)}"
        return f"{names} end {how if len(level) == len(ends) else f'{which}, {how}'}, at {value}"
    if len(ends) == 1:
        return f"{names} ends at {value}"
    value, other = (one.partition(" [")[0] for one in read_out_apart(plot, ends[:2]))
    if len(ends) == 2:  # noqa: PLR2004 - each side is named
        return f"{names} ends at {value}, {ends[1].name} at {other}"
    return f"{names} ends {which}, at {value}; {ends[1].name} follows at {other}"


def _list_bests(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> str:
    """Say what the two best values are: ``best of 14 checkpoints: v10 32.5%, v1 31.8%``."""
    lowest = spec.higher_is_better is False
    bests = [find_best(curve, lowest=lowest) for curve in list_known_curves(curve_set)]
    bests.sort(key=lambda best: best.value if lowest else -best.value)
    label = describe_pick(curve_set, plot, most="highest" if spec.higher_is_better is None else "best")
    return f"{label}: {', '.join(f'{best.series} {read_out(plot, best.value)}' for best in bests[:2])}"


def _count_runs(curve_set: CurveSet) -> str:
    """Count the runs of each series: ``5 runs each``."""
    curves = curve_set.curves
    if all(curve.given for curve in curves):
        return f"as given{describe_given_n(curves)}"
    counts = format_ends(len(curve.runs) for curve in curves)
    return f"{counts} run{'' if counts == '1' else 's'}{' each' if len(curves) > 1 else ''}"
