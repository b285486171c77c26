"""From aligned curves to a plot: order, colours, axes, reference lines, annotations and margins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.errors import Diagnostics, ReportError
from reportgen.figures.axis import (
    DAY,
    LOGS,
    Axis,
    make_linear_axis,
    make_log2_axis,
    make_log_axis,
    make_time_axis,
    position,
)
from reportgen.figures.labels import place_labels
from reportgen.figures.number_format import choose_step_format
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.plot import EndLabel, Margins, Mark, Plot, RunLine, SeriesLine, make_diagnostic
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE, pick_slots
from reportgen.figures.text import measure_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import Curve, CurveSet, FloatArray
    from reportgen.figures.plot import DrawContext, PlotSpec
    from reportgen.settings.blocks import Annotation


_LINE_HEIGHT = 16
_WIDEST_LABEL = 176
_MOST_LABELS = 8


def compute_margins(y: Axis, ends: Sequence[EndLabel]) -> Margins:
    """Room for tick labels at the left, titles above and below, and line ends at the right."""
    left = max((measure_text(label, TICK_SIZE) for label in y.labels), default=0) + 12
    right = max((measure_text(end.text, LABEL_SIZE, 600) for end in ends), default=0) + 18 if ends else 16
    return Margins(top=28, right=_round_to_eights(right), bottom=44, left=_round_to_eights(left))


def place_end_labels(lines: Sequence[SeriesLine], y: Axis, height: int) -> tuple[EndLabel, ...]:
    """Names at the line ends, or none where they would not fit and a legend row serves better."""
    ends = [(line, _last_value(line)) for line in lines]
    drawn = [(line, value) for line, value in ends if value is not None]
    too_wide = any(measure_text(line.name, LABEL_SIZE, 600) > _WIDEST_LABEL for line, _ in drawn)
    too_many = len(drawn) > _MOST_LABELS or len(drawn) * _LINE_HEIGHT > height
    if too_wide or too_many:
        return ()
    heights = [(1 - min(1.0, max(0.0, position(y, value)))) * height for _, value in drawn]
    return tuple(
        EndLabel(line.name, line.slot, round(place, 1))
        for (line, _), place in zip(drawn, spread_apart(heights, _LINE_HEIGHT, 0, height), strict=True)
    )


def spread_apart(targets: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Move positions apart to at least ``distance`` inside ``low`` to ``high``, as little as possible.

    Isotonic regression on the positions less their rank's distance (pool adjacent violators) gives the
    least-squares answer; ties keep their given order.
    """
    order = sorted(range(len(targets)), key=lambda i: (targets[i], i))
    pools: list[list[float]] = []
    for rank, index in enumerate(order):
        pools.append([targets[index] - rank * distance, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, weight = pools.pop()
            pools[-1] = [
                (pools[-1][0] * pools[-1][1] + value * weight) / (pools[-1][1] + weight),
                pools[-1][1] + weight,
            ]
    flat = [value for value, weight in pools for _ in range(round(weight))]
    room = max(low, high - (len(targets) - 1) * distance)
    placed = [0.0] * len(targets)
    for rank, (index, value) in enumerate(zip(order, flat, strict=True)):
        placed[index] = min(room, max(low, value)) + rank * distance
    return placed


def _last_value(line: SeriesLine) -> float | None:
    known = np.flatnonzero(np.isfinite(line.values))
    return float(line.values[known[-1]]) if known.size else None


def _round_to_eights(pixels: float) -> int:
    return math.ceil(pixels / 8) * 8


_ROUNDING = 1e-9


def make_marks(
    curves: Iterable[Curve],
    slots: Mapping[str, int | None],
    spec: PlotSpec,
    axes: tuple[Axis, Axis],
    context: DrawContext,
) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    """Reference lines and annotations; an annotation of no series is a line with words at its top.

    Of what was marked, that is annotations that no author placed, those outside the plot are left out.

    Raises:
        ReportError: each line and annotation of the author's that stands outside its curve or the plot.
    """
    by_name = {curve.series: curve for curve in curves}
    lines = [Mark(text=line.label, x=line.x, y=line.y) for line in spec.references]
    notes = []
    problems = Diagnostics()
    for note in spec.annotations:
        with problems.collecting():
            if note.series is None:
                lines.append(Mark(note.text, x=note.x))
            else:
                notes.append(_place_on_curve(note, by_name[note.series], slots[note.series], context))
    for mark in (*lines, *notes):
        problems.add(_check_inside(mark, *axes, context))
    problems.raise_errors()
    for mark in _list_marked(by_name, slots, spec, axes):
        (lines if mark.y is None else notes).append(mark)
    return tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(notes))


def _list_marked(
    curves: Mapping[str, Curve], slots: Mapping[str, int | None], spec: PlotSpec, axes: tuple[Axis, Axis]
) -> Iterator[Mark]:
    """What was marked and stands inside the plot; of no series, a line with words at its top."""
    for note in spec.marked:
        value, slot = None, None
        if note.series is not None:
            value = _interpolate_at(curves[note.series], note.x) if note.series in curves else None
            slot = slots.get(note.series)
            if value is None or not _is_inside(axes[1], value):
                continue
        if _is_inside(axes[0], note.x):
            yield Mark(note.text, note.x, value, slot)


def find_lone_points(lines: Iterable[SeriesLine], axes: tuple[Axis, Axis]) -> tuple[Mark, ...]:
    """A ring with the name of each series that has one point: a line through one point cannot be seen."""
    found = []
    for line in lines:
        known = np.flatnonzero(np.isfinite(line.values))
        if known.size == 1:
            step, value = float(line.steps[known[0]]), float(line.values[known[0]])
            if _is_inside(axes[0], step) and _is_inside(axes[1], value):
                found.append(Mark(line.name, step, value, line.slot))
    return tuple(found)


def _place_on_curve(note: Annotation, curve: Curve, slot: int | None, context: DrawContext) -> Mark:
    value = _interpolate_at(curve, note.x)
    if value is None:
        said = f'the annotation "{note.text}" stands at {note.x:g}, outside {curve.series}'
        raise ReportError(make_diagnostic(context, said))
    return Mark(note.text, note.x, value, slot)


def _interpolate_at(curve: Curve, step: float) -> float | None:
    """Where the drawn line stands at a step; None outside its range."""
    known = np.isfinite(curve.values)
    steps, values = curve.steps[known], curve.values[known]
    if not steps.size or not steps[0] <= step <= steps[-1]:
        return None
    return float(np.interp(step, steps, values))


def _check_inside(mark: Mark, x: Axis, y: Axis, context: DrawContext) -> Iterator[Diagnostic]:
    for name, axis, value in (("x", x, mark.x), ("y", y, mark.y)):
        if value is not None and not _is_inside(axis, value):
            what = f'"{mark.text}"' if mark.text else f"the reference line at {value:g}"
            low, high = axis.domain
            said = f"{what} stands at {name} = {value:g}, and the {name} axis runs from {low:g} to {high:g}"
            yield make_diagnostic(context, said, f"Move it, or widen {name}_domain")


def _is_inside(axis: Axis, value: float) -> bool:
    return -_ROUNDING <= position(axis, value) <= 1 + _ROUNDING


_MOST_RUN_LINES = 10
_MOST_SYMBOLS = 25
_TALL = 260
_TICK_COUNTS, _LABEL_GAP = (7, 5, 4, 3, 2), 14


def make_plot(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Plot:
    """The plot of aligned curves.

    Raises:
        ReportError: there is no value at all, a highlighted or annotated series is not there, a reference
            line or an annotation lies outside the plot, or a log axis has nothing positive to show.
    """
    if not any(np.isfinite(curve.values).any() for curve in curve_set.curves):
        raise ReportError(make_diagnostic(context, f'"{spec.metric}" has no value that could be drawn'))
    curves = sort_curves(curve_set.curves, spec.order, lower_first=spec.higher_is_better is False)
    _check_names(curves, spec, context)
    slots = pick_slots(tuple(c.series for c in curves), context.slots, spec.highlight)
    lines = tuple(_make_line(curve, slots[curve.series], spec) for curve in curves)
    x, y = _make_x_axis(lines, spec, context), _make_y_axis(lines, spec, context)
    references, annotations = make_marks(curves, slots, spec, (x, y), context)
    ends = place_end_labels(lines, y, spec.height)
    symbols = all(np.isfinite(line.values).sum() <= _MOST_SYMBOLS for line in lines)
    plot = Plot(
        id=spec.id,
        x=x,
        y=y,
        lines=lines,
        margins=compute_margins(y, ends),
        height=spec.height,
        symbols=symbols,
        clip=bool(spec.x_domain or spec.y_domain or spec.y_scale == "log"),
        band=curve_set.band if any(np.isfinite(line.low).any() for line in lines) else "none",
        references=references,
        annotations=annotations if symbols else (*find_lone_points(lines, (x, y)), *annotations),
        ends=ends,
    )
    return place_labels(plot)


def align_margins(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Panels side by side get the widest margins of them all, so that their axes line up."""
    plots = tuple(plots)
    room = Margins(
        top=max(plot.margins.top for plot in plots),
        right=16,
        bottom=max(plot.margins.bottom for plot in plots),
        left=max(plot.margins.left for plot in plots),
    )
    return tuple(replace(plot, margins=room, ends=()) for plot in plots)


def sort_curves(curves: tuple[Curve, ...], order: str, *, lower_first: bool) -> tuple[Curve, ...]:
    """Series in the order the author asked for; ties and ``given`` keep the order of the data."""
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
    """The centre before smoothing, which facts, scores and tables use."""
    return curve.values if curve.raw is None else curve.raw


def _make_line(curve: Curve, slot: int | None, spec: PlotSpec) -> SeriesLine:
    several = len(curve.runs) > 1
    show = several and (spec.runs if spec.runs is not None else len(curve.runs) <= _MOST_RUN_LINES)
    runs = tuple(
        RunLine(run.run, run.steps, run.values if run.smoothed is None else run.smoothed)
        for run in curve.runs
    )
    return SeriesLine(
        name=curve.series,
        slot=slot,
        steps=curve.steps,
        values=curve.values,
        low=curve.low,
        high=curve.high,
        n=curve.n,
        runs=runs if show else (),
        raw=curve.raw,
    )


def _make_x_axis(lines: tuple[SeriesLine, ...], spec: PlotSpec, context: DrawContext) -> Axis:
    steps = np.concatenate([line.steps for line in lines])
    lasting = [mark.x for mark in spec.references if mark.x is not None]
    shown = np.concatenate([steps, np.array(lasting, dtype=np.float64)])
    if spec.x_scale in LOGS and (shown > 0).any():
        shown = shown[shown > 0]
    low, high = spec.x_domain or (float(shown.min()), float(shown.max()))
    if spec.x_scale in LOGS:
        logarithmic = make_log2_axis if spec.x_scale == "log2" else make_log_axis
        axis = logarithmic(spec.x_title, *_check_positive(low, high, "x", context))
        return replace(axis, read_format=choose_step_format(steps))
    if context.step_is_time:
        return _make_time_axis(spec.x_title, low, high, steps, context)
    whole = bool((steps == np.rint(steps)).all())
    axis = _fit_axis(lambda count: make_linear_axis(spec.x_title, low, high, count=count, whole=whole))
    return replace(axis, read_format=choose_step_format(steps))


def _make_time_axis(title: str, low: float, high: float, steps: FloatArray, context: DrawContext) -> Axis:
    try:
        axis = _fit_axis(lambda count: make_time_axis(title, low, high, count=count))
    except OverflowError:
        said = f"a time axis cannot reach from {low:g} to {high:g}"
        advice = "Times are milliseconds since 1970, and years 1 to 9999 can be shown"
        raise ReportError(make_diagnostic(context, said, advice)) from None
    days = bool((steps % DAY == 0).all())
    return replace(axis, read_format="%Y-%m-%d") if days else axis


def _fit_axis(axis: Callable[[int], Axis]) -> Axis:
    """The axis with the most ticks whose labels stand beside each other."""
    found = axis(_TICK_COUNTS[0])
    for count in _TICK_COUNTS[1:]:
        if sum(measure_text(label, TICK_SIZE) + _LABEL_GAP for label in found.labels) <= PIXELS_WIDE:
            break
        found = axis(count)
    return found


def _make_y_axis(lines: tuple[SeriesLine, ...], spec: PlotSpec, context: DrawContext) -> Axis:
    parts = [part for line in lines for part in (line.values, line.low, line.high)]
    parts += [run.values for line in lines for run in line.runs]
    parts += [line.raw for line in lines if line.raw is not None]
    parts.append(np.array([ref.y for ref in spec.references if ref.y is not None], dtype=np.float64))
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & ((values > 0) | (spec.y_scale != "log"))]
    if not values.size and spec.y_domain is None:
        raise ReportError(
            make_diagnostic(context, f'"{spec.metric}" has no value above 0, so a log axis cannot show it')
        )
    low, high = spec.y_domain or (float(values.min()), float(values.max()))
    if spec.y_scale == "log":
        return make_log_axis(spec.y_title, *_check_positive(low, high, "y", context))
    pad = 0.0 if spec.y_domain else 0.04
    return make_linear_axis(spec.y_title, low, high, count=5 if spec.height >= _TALL else 4, pad=pad)


def _check_positive(low: float, high: float, axis: str, context: DrawContext) -> tuple[float, float]:
    if low <= 0:
        raise ReportError(
            make_diagnostic(context, f"the {axis} axis is a log axis and starts at {low:g}", "Start above 0")
        )
    return low, high


def _check_names(curves: tuple[Curve, ...], spec: PlotSpec, context: DrawContext) -> None:
    known = [curve.series for curve in curves]
    names = [*spec.highlight, *(note.series for note in spec.annotations if note.series)]
    unknown = dict.fromkeys(name for name in names if name not in known)
    if unknown:
        listed = ", ".join(f'"{name}"' for name in known)
        raise ReportError(
            *(
                make_diagnostic(context, f'"{name}" is not a series of this figure', f"It has {listed}")
                for name in unknown
            )
        )
