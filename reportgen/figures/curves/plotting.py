"""Aligned curves to plots: order, colours, axes, reference lines, annotations and margins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.core.words import format_count, join_names
from reportgen.figures.axis import (
    DAY,
    LOGS,
    Axis,
    format_value,
    make_linear_axis,
    make_log2_axis,
    make_log_axis,
    make_time_axis,
    position,
    use_percent,
)
from reportgen.figures.curves.decimals import choose_precision
from reportgen.figures.curves.marks import find_lone_points, make_marks, separate_lines
from reportgen.figures.labels import WIDTHS, place_labels
from reportgen.figures.number_format import choose_step_format, format_d3, to_moment
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.plot import EndLabel, Margins, Plot, RunLine, SeriesLine, make_diagnostic
from reportgen.figures.style import LABEL_SIZE, SLOTS, TICK_SIZE, colour_best, pick_slots
from reportgen.figures.text import cut_text, measure_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray, Run
    from reportgen.figures.plot import DrawContext, PlotSpec, SourceContext


_LINE_HEIGHT = 16
_WIDEST_LABEL = 176
_MOST_LABELS = 8
_LEVEL = 5  # pixels that a name may be above or below the end of its line
_EARLY = 0.01  # of the x axis, by which a line ends before another
_BEHIND_LEADERS = 24
_MOST_RUN_LINES = 10
_MOST_SYMBOLS = 25
_TALL = 260
_PAD, _SETTINGS_PAD = 0.04, 0.05  # of y, and of x where it is a few settings
_LARGEST_SHARE = 10.0
_FAR_OUT = 3
_TICK_COUNTS, _LABEL_GAP = (7, 5, 4, 3, 2), 14
_TITLE_GAP = 16


def make_plot(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Plot:
    """Make the plot of aligned curves.

    Raises a ``ReportError`` if there are no values, a highlighted or annotated series is unknown, a reference
    line or annotation is outside the plot, or a log axis has no positive values.
    """
    if not any(np.isfinite(curve.values).any() for curve in curve_set.curves):
        raise ReportError(make_diagnostic(context, f'"{spec.metric}" has no value that could be drawn'))
    # The curves of each y axis are sorted by themselves, since values of two axes are not compared.
    left = tuple(curve for curve in curve_set.curves if not _is_right(curve, spec))
    curves = sort_curves(left, spec.order, lower_first=spec.higher_is_better is False)
    if spec.right is not None:
        right = tuple(curve for curve in curve_set.curves if _is_right(curve, spec))
        curves += sort_curves(right, spec.order, lower_first=spec.right.higher_is_better is False)
    alone = _is_one_step(curves, spec, context)
    spec = replace(spec, whiskers=True) if alone else spec
    keys = {curve.series: curve.key.colour if curve.key else curve.series for curve in curves}
    last_best = sort_curves(curves, "final", lower_first=spec.higher_is_better is False)
    slots = _pick_line_slots(keys, spec, context, [curve.series for curve in last_best])
    lines = [_make_line(curve, slots[curve.series], spec) for curve in curves]
    x, (y, right_axis) = _make_x_axis(curves, spec, context), _make_y_axes(lines, curves, spec, context)
    axes = (x, y, right_axis or y)
    references, annotations = make_marks(lines, spec, axes, context)
    # The labels of a right axis are where names at line ends would be.
    ends = () if right_axis else place_end_labels(lines, y, spec.height, x)
    symbols = spec.whiskers or all(np.isfinite(line.values).sum() <= _MOST_SYMBOLS for line in lines)
    plot = Plot(
        id=spec.id,
        x=x,
        y=y,
        lines=tuple(lines),
        margins=compute_margins(y, ends, right_axis),
        height=spec.height,
        symbols=symbols,
        clip=bool(spec.x_domain or spec.y_domain or spec.y_scale == "log"),
        whiskers=spec.whiskers,
        band=curve_set.band if any(np.isfinite(line.low).any() for line in lines) else "none",
        references=references,
        annotations=annotations if symbols else (*find_lone_points(lines, axes), *annotations),
        ends=ends,
        right=right_axis,
    )
    plot = place_labels(plot)
    return separate_lines(plot) if alone else plot


def _is_one_step(curves: Sequence[Curve], spec: PlotSpec, context: DrawContext) -> bool:
    """Return whether all is at one step and has an interval, which is then a line beside the runs."""
    steps = np.unique(np.concatenate([curve.steps for curve in curves]))
    known = any(np.isfinite(curve.low).any() for curve in curves)
    return steps.size == 1 and known and spec.right is None and not context.step_is_time


def _make_line(curve: Curve, slot: int | None, spec: PlotSpec) -> SeriesLine:
    few = len(curve.runs) <= _MOST_RUN_LINES if spec.runs is None else spec.runs
    runs = tuple(
        RunLine(
            run.run,
            run.steps,
            run.values if run.smoothed is None else run.smoothed,
            None if run.seed == run.run else run.seed,
        )
        for run in (curve.runs if len(curve.runs) > 1 and few else ())
    )
    band, dash = (curve.values, curve.low, curve.high, curve.n), curve.key.dash if curve.key else None
    right = _is_right(curve, spec)
    return SeriesLine(curve.series, slot, curve.steps, *band, runs, curve.raw, dash=dash, right=right)


def _is_right(curve: Curve, spec: PlotSpec) -> bool:
    return bool(spec.right and curve.key and curve.key.metric in spec.right.metrics)


def _pick_line_slots(
    keys: Mapping[str, str], spec: PlotSpec, context: DrawContext, ranked: Sequence[str]
) -> dict[str, int | None]:
    """Return the slot of each line; ``keys`` are the lines and what gives each its colour.

    Of more lines than the palette has, the best of ``ranked`` have colour. Unknown names are refused.
    """
    unknown = dict.fromkeys(name for name in spec.highlight if name not in {*keys, *keys.values()})
    noted = (note.series for note in spec.annotations if note.series)
    unknown |= dict.fromkeys(name for name in noted if name not in keys)
    if unknown:
        known = ", ".join(f'"{name}"' for name in keys)
        messages = (f'"{name}" is not a series of this figure' for name in unknown)
        raise ReportError(*(make_diagnostic(context, message, f"It has {known}") for message in messages))
    if len(keys) > SLOTS and not spec.highlight and all(line == key for line, key in keys.items()):
        return colour_best(ranked, context.slots)
    highlighted = {line: {line, key}.intersection(spec.highlight) for line, key in keys.items()}
    coloured = tuple(dict.fromkeys(key for line, key in keys.items() if highlighted[line]))
    slots = pick_slots(tuple(dict.fromkeys(keys.values())), context.slots, coloured)
    return {line: slots[key] if highlighted[line] or not coloured else None for line, key in keys.items()}


def align_margins(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Give all panels the widest margins among them, so that their axes line up."""
    plots = tuple(plots)
    top, bottom, left = (
        max(getattr(plot.margins, side) for plot in plots) for side in ("top", "bottom", "left")
    )
    room = Margins(top=top, right=16, bottom=bottom, left=left)
    return tuple(replace(plot, margins=room, ends=()) for plot in plots)


def show_gaps(curve_set: CurveSet) -> CurveSet:
    """Return the curves and their runs with an unknown value, NaN, inside each gap.

    A gap is where runs of a series have values and none of them is a finite number.
    """
    return replace(curve_set, curves=tuple(map(_open_gaps, curve_set.curves)))


def _open_gaps(curve: Curve) -> Curve:
    steps = _list_gaps(curve)
    if not steps.size:
        return curve
    places = np.searchsorted(curve.steps, steps)
    columns = {name: np.insert(getattr(curve, name), places, np.nan) for name in ("values", "low", "high")}
    raw = None if curve.raw is None else np.insert(curve.raw, places, np.nan)
    n, runs = np.insert(curve.n, places, 0), tuple(_break_run(run, steps) for run in curve.runs)
    return replace(curve, steps=np.insert(curve.steps, places, steps), raw=raw, n=n, runs=runs, **columns)


def _list_gaps(curve: Curve) -> FloatArray:
    """Return a step inside each gap; of binned steps, only those of gaps that are wider than a bin."""
    full = curve.every_step or curve
    if full.gaps is None or not full.gaps.size:
        return np.empty(0)
    after = np.searchsorted(full.steps, full.gaps)
    if curve.every_step:
        width = (curve.steps[-1] - curve.steps[0]) / curve.steps.size
        wide = full.steps[after] - full.steps[after - 1] > width
        inside = (curve.steps[0] < full.gaps) & (full.gaps < curve.steps[-1])
        steps = np.setdiff1d(full.gaps[wide & inside], curve.steps)
    else:
        steps = full.gaps
    _, first = np.unique(np.searchsorted(curve.steps, steps), return_index=True)
    return steps[first]


def _break_run(run: Run, steps: FloatArray) -> Run:
    if not run.steps.size:
        return run
    own = np.setdiff1d(steps[(run.steps[0] < steps) & (steps < run.steps[-1])], run.steps)
    places = np.searchsorted(run.steps, own)
    smoothed = None if run.smoothed is None else np.insert(run.smoothed, places, np.nan)
    values = np.insert(run.values, places, np.nan)
    return replace(run, steps=np.insert(run.steps, places, own), values=values, smoothed=smoothed)


def sort_curves(curves: tuple[Curve, ...], order: str, *, lower_first: bool) -> tuple[Curve, ...]:
    """Sort curves as the settings say; ties and ``given`` keep the order of the data."""
    if order == "name":
        return tuple(sorted(curves, key=lambda curve: curve.series.casefold()))
    if order == "given":
        return curves
    sign = 1.0 if lower_first else -1.0

    def rank(curve: Curve) -> float:
        known = get_unsmoothed(curve)[np.isfinite(get_unsmoothed(curve))]
        if not known.size:
            return float("inf")
        return sign * float(known[-1]) if order == "final" else float((sign * known).min())

    return tuple(sorted(curves, key=rank))


def get_unsmoothed(curve: Curve) -> FloatArray:
    """Return the values before smoothing, which facts, scores and tables use."""
    return curve.values if curve.raw is None else curve.raw


def _make_x_axis(curves: Sequence[Curve], spec: PlotSpec, context: DrawContext) -> Axis:
    # Bins reach from the first step to the last, and are read at the means of their steps.
    steps = np.concatenate([(curve.every_step or curve).steps for curve in curves])
    marked = [mark.x for mark in spec.references if mark.x is not None]
    shown = np.concatenate([steps, np.array(marked, dtype=np.float64)])
    if spec.x_scale in LOGS and (shown > 0).any():
        shown = shown[shown > 0]
    low, high = spec.x_domain or (float(shown.min()), float(shown.max()))
    pad = _SETTINGS_PAD if spec.whiskers else 0.0
    if spec.x_scale in LOGS:
        logarithmic = make_log2_axis if spec.x_scale == "log2" else make_log_axis
        low, high = check_positive(low, high, "x", context)
        room = (high / low) ** pad
        axis = logarithmic(spec.x_title, low / room, high * room)
    elif not context.step_is_time:
        whole = bool((steps == np.rint(steps)).all())
        axis = fit_axis(
            lambda count: make_linear_axis(spec.x_title, low, high, count=count, whole=whole, pad=pad)
        )
    else:
        return _make_time_axis(steps, (low, high), spec, context)
    axis = replace(axis, read_format=choose_step_format(np.concatenate([curve.steps for curve in curves])))
    if not spec.whiskers:
        return axis
    # The ticks are at the settings that were tried, if their labels have room.
    ticks = np.unique(steps).tolist()
    written = axis.format if "e" in axis.format else axis.read_format
    labels = [format_d3(tick, written) for tick in ticks]
    widths = [measure_text(label, TICK_SIZE) for label in labels]
    places = [position(axis, tick) * PIXELS_WIDE for tick in ticks]
    apart = zip(pairwise(places), pairwise(widths), strict=True)
    if any(right - left < sum(pair) / 2 + _LABEL_GAP for (left, right), pair in apart):
        return axis
    return replace(axis, ticks=tuple(ticks), labels=tuple(labels), format=written)


def _make_time_axis(
    steps: FloatArray, ends: tuple[float, float], spec: PlotSpec, context: DrawContext
) -> Axis:
    low, high = ends
    try:
        axis = fit_axis(lambda count: make_time_axis(spec.x_title, low, high, count=count))
    except OverflowError:
        message = f"a time axis cannot reach from {low:g} to {high:g}"
        advice = "Times are milliseconds since 1970, and years 1 to 9999 can be shown"
        raise ReportError(make_diagnostic(context, message, advice)) from None
    days = bool((steps % DAY == 0).all())
    years = all(to_moment(step).strftime("%m-%d") == "01-01" for step in steps) if days else False
    return replace(axis, read_format="%Y" if years else "%Y-%m-%d") if days else axis


def fit_axis(make_axis: Callable[[int], Axis], width: int = PIXELS_WIDE) -> Axis:
    """Make the axis, ``width`` pixels wide, with the most ticks without overlapping labels."""
    axis = make_axis(_TICK_COUNTS[0])
    for count in _TICK_COUNTS[1:]:
        if sum(measure_text(label, TICK_SIZE) + _LABEL_GAP for label in axis.labels) <= width:
            break
        axis = make_axis(count)
    return axis


def _make_y_axes(
    lines: Sequence[SeriesLine], curves: Sequence[Curve], spec: PlotSpec, context: DrawContext
) -> tuple[Axis, Axis | None]:
    """Make the left y axis, and the right one if there is one, with titles that do not overlap."""
    sides: tuple[list[tuple[SeriesLine, Curve]], ...] = ([], [])
    for line, curve in zip(lines, curves, strict=True):
        sides[line.right].append((line, curve))
    left = _make_y_axis(sides[False], spec, context)
    if spec.right is None:
        return left, None
    plain = {"y_domain": None, "y_scale": "linear", "references": ()}
    own = replace(spec, metric=join_names(spec.right.metrics), y_title=spec.right.title, **plain)
    right = _make_y_axis(sides[True], own, context)
    margins = compute_margins(left, (), right)
    room = WIDTHS[0] + margins.left + margins.right - _TITLE_GAP
    widths = [measure_text(axis.title, TICK_SIZE) for axis in (left, right)]
    most = [max(room / 2, room - width) for width in reversed(widths)]
    titles = [
        cut_text(axis.title, TICK_SIZE, 400, width) for axis, width in zip((left, right), most, strict=True)
    ]
    return replace(left, title=titles[0]), replace(right, title=titles[1])


def _make_y_axis(drawn: Sequence[tuple[SeriesLine, Curve]], spec: PlotSpec, context: DrawContext) -> Axis:
    lines = [line for line, _ in drawn]
    parts = [part for line in lines for part in (line.values, line.low, line.high)]
    parts += [run.values for line in lines for run in line.runs]
    parts += [line.raw for line in lines if line.raw is not None]
    parts.append(np.array([ref.y for ref in spec.references if ref.y is not None], dtype=np.float64))
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & ((values > 0) | (spec.y_scale != "log"))]
    if not values.size and not isinstance(spec.y_domain, tuple):
        why = "above 0, so a log axis cannot show it" if spec.y_scale == "log" else "that could be drawn"
        message = f'"{spec.metric}" has no value {why}'
        raise ReportError(make_diagnostic(context, message))
    low, high, left_out = _choose_ends(values, lines, spec)
    if spec.y_scale == "log":
        axis = make_log_axis(spec.y_title, *check_positive(low, high, "y", context))
    else:
        pad = 0.0 if isinstance(spec.y_domain, tuple) else _PAD
        axis = make_linear_axis(spec.y_title, low, high, count=5 if spec.height >= _TALL else 4, pad=pad)
    axis = replace(axis, left_out=left_out)
    axis = replace(axis, precision=choose_precision([curve for _, curve in drawn], percent=spec.percent))
    largest = float(np.abs(values).max(initial=0.0))
    if spec.percent and largest > _LARGEST_SHARE:
        message = f'"{spec.metric}" reaches {largest:,.6g}, and format: percent would show that 100-fold'
        step = "Leave format out where values are in percent already"
        raise ReportError(make_diagnostic(context, message, step))
    return use_percent(axis) if spec.percent else axis


def _choose_ends(values: FloatArray, lines: Sequence[SeriesLine], spec: PlotSpec) -> tuple[float, float, int]:
    """Return the ends of the y axis, and how many values of lines ``y_domain: auto`` leaves out.

    These are *far out* (Tukey, Exploratory Data Analysis, 1977): three times the distance of the quartiles of
    all lines beyond one of them, in the logarithm where all values are above 0, so that a curve that falls by
    equal factors has none.
    """
    if isinstance(spec.y_domain, tuple):
        return *spec.y_domain, 0
    centres = np.concatenate([line.values for line in lines])
    centres = centres[np.isfinite(centres) & ((centres > 0) | (spec.y_scale != "log"))]
    if spec.y_domain == "auto" and centres.size:
        into, back = (np.log, np.exp) if values.min() > 0 else (np.positive, np.positive)
        first, third = np.quantile(into(centres), (0.25, 0.75))
        fence = back(np.array([first - _FAR_OUT * (third - first), third + _FAR_OUT * (third - first)]))
        inside = (fence[0] <= values) & (values <= fence[1])
        inside |= np.isin(values, [line.y for line in spec.references if line.y is not None])
        left_out = int(np.count_nonzero((centres < fence[0]) | (centres > fence[1])))
        if left_out and third > first:
            return float(values[inside].min()), float(values[inside].max()), left_out
    return float(values.min()), float(values.max()), 0


def describe_left_out(axis: Axis) -> str:
    """Return a sentence on the values that ``y_domain: auto`` leaves out, or an empty text."""
    if not axis.left_out:
        return ""
    ends = " to ".join(format_value(axis, end) for end in axis.domain)
    counted = f"{format_count(axis.left_out, 'value')} far from the others"
    return f"{counted} {'is' if axis.left_out == 1 else 'are'} not shown: the y axis is {ends}."


def check_positive(low: float, high: float, axis: str, context: SourceContext) -> tuple[float, float]:
    """Return the ends of a log axis; raise a ``ReportError`` unless both are above 0."""
    if low <= 0:
        message = f"the {axis} axis is a log axis and starts at {low:g}"
        raise ReportError(make_diagnostic(context, message, "Start above 0"))
    return low, high


def describe_beyond_log(curves: Sequence[Curve], spec: PlotSpec) -> str:
    """Return a sentence on the values that a log axis cannot show, or an empty text."""
    x = np.concatenate([curve.steps for curve in curves]) if spec.x_scale in LOGS else np.ones(0)
    y = np.concatenate([curve.values for curve in curves]) if spec.y_scale == "log" else np.ones(0)
    counts = {"x": np.unique(x[x <= 0]).size, "y": y[y <= 0].size}
    words = [f"{format_count(n, 'value')} of {axis} of 0 or below" for axis, n in counts.items() if n]
    return f"Not on a log axis: {join_names(words)}." if words else ""


def compute_margins(y: Axis, ends: Sequence[EndLabel], right_axis: Axis | None = None) -> Margins:
    """Compute the margins for tick labels (left), titles (top, bottom), line-end labels or ticks (right)."""
    left, ticks = (
        max((measure_text(label, TICK_SIZE) for label in axis.labels), default=0) + 12 if axis else 0
        for axis in (y, right_axis)
    )
    right = max((measure_text(end.text, LABEL_SIZE, 600) + end.dx + 8 for end in ends), default=16.0)
    right = max(right, ticks)
    # The title at the right is below the toolbar.
    top = 44 if right_axis else 28
    return Margins(top=top, right=math.ceil(right / 8) * 8, bottom=44, left=math.ceil(left / 8) * 8)


def place_end_labels(
    lines: Sequence[SeriesLine], y: Axis, height: int, x: Axis | None = None
) -> tuple[EndLabel, ...]:
    """Place names at the line ends, or return none if they do not fit and a legend works better.

    A name away from its line's end has a leader, and with the x axis also that of a line which ends early;
    then all names stand farther from the plot.
    """
    known = [(line, line.values[np.isfinite(line.values)]) for line in lines]
    drawn = [(line, float(values[-1])) for line, values in known if values.size]
    too_wide = any(measure_text(line.name, LABEL_SIZE, 600) > _WIDEST_LABEL for line, _ in drawn)
    if too_wide or len(drawn) > _MOST_LABELS or len(drawn) * _LINE_HEIGHT > height:
        return ()
    heights = [(1 - min(1.0, max(0.0, position(y, value)))) * height for _, value in drawn]
    lasts = [float(line.steps[np.isfinite(line.values)][-1]) for line, _ in drawn]
    places = spread_apart(heights, _LINE_HEIGHT, 0, height)
    found = []
    for (line, _), last, at, place in zip(drawn, lasts, heights, places, strict=True):
        early = x is not None and 0 <= position(x, last) < position(x, max(lasts)) - _EARLY
        start = round(at, 1) if early or abs(place - at) > _LEVEL else None
        found.append(EndLabel(line.name, line.slot, round(place, 1), at=start, step=last if early else None))
    if any(end.at is not None for end in found):
        found = [replace(end, dx=_BEHIND_LEADERS) for end in found]
    return tuple(found)


def spread_apart(targets: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Move positions apart to at least ``distance`` within ``low`` to ``high``, as little as possible.

    Isotonic regression (pool adjacent violators) on the positions minus rank times distance gives the
    least-squares solution; ties keep their given order.
    """
    order = sorted(range(len(targets)), key=lambda i: (targets[i], i))
    pools: list[tuple[float, float]] = []
    for rank, index in enumerate(order):
        pools.append((targets[index] - rank * distance, 1.0))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, weight = pools.pop()
            mean, count = pools[-1]
            pools[-1] = ((mean * count + value * weight) / (count + weight), count + weight)
    flat = [value for value, weight in pools for _ in range(round(weight))]
    room = max(low, high - (len(targets) - 1) * distance)
    placed = [0.0] * len(targets)
    for rank, (index, value) in enumerate(zip(order, flat, strict=True)):
        placed[index] = min(room, max(low, value)) + rank * distance
    return placed
