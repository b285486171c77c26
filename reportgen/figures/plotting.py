"""From aligned curves to a plot: order, colours, axes, symbols and margins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.errors import Problem, ReportError, Stage
from reportgen.figures.axis import LOGS, Axis, make_linear_axis, make_log2_axis, make_log_axis, make_time_axis
from reportgen.figures.layout import TICK_SIZE, compute_margins, place_end_labels
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.mark_labels import place_labels
from reportgen.figures.marks import find_lone_points, make_marks
from reportgen.figures.palette import pick_slots
from reportgen.figures.plot import Margins, Plot, RunLine, SeriesLine
from reportgen.figures.text_width import measure_text
from reportgen.figures.time_ticks import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Curve, CurveSet, FloatArray

_MOST_RUN_LINES = 10
_MOST_SYMBOLS = 25
_TALL = 260
_TICK_COUNTS, _LABEL_GAP = (7, 5, 4, 3, 2), 14
_MOST_READABLE, _LEAST_READABLE = 1e15, 1e-4


def make_plot(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Plot:
    """The plot of aligned curves.

    Raises:
        ReportError: there is no value at all, a highlighted or annotated series is not there, a reference
            line or an annotation lies outside the plot, or a log axis has nothing positive to show.
    """
    if not any(np.isfinite(curve.values).any() for curve in curve_set.curves):
        raise _make_error(context, f'"{spec.metric}" has no value that could be drawn')
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
        raise _make_error(context, said, advice) from None
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


def choose_step_format(steps: FloatArray) -> str:
    """The d3 format that reads out steps: whole ones to the last digit, others to six digits."""
    largest = float(np.abs(steps).max(initial=0.0))
    if largest >= _MOST_READABLE or 0 < largest < _LEAST_READABLE:
        return ".5~e"
    return ",.0f" if (steps == np.rint(steps)).all() else ",.6~r"


def _make_y_axis(lines: tuple[SeriesLine, ...], spec: PlotSpec, context: DrawContext) -> Axis:
    parts = [part for line in lines for part in (line.values, line.low, line.high)]
    parts += [run.values for line in lines for run in line.runs]
    parts += [line.raw for line in lines if line.raw is not None]
    parts.append(np.array([ref.y for ref in spec.references if ref.y is not None], dtype=np.float64))
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & ((values > 0) | (spec.y_scale != "log"))]
    if not values.size and spec.y_domain is None:
        raise _make_error(context, f'"{spec.metric}" has no value above 0, so a log axis cannot show it')
    low, high = spec.y_domain or (float(values.min()), float(values.max()))
    if spec.y_scale == "log":
        return make_log_axis(spec.y_title, *_check_positive(low, high, "y", context))
    pad = 0.0 if spec.y_domain else 0.04
    return make_linear_axis(spec.y_title, low, high, count=5 if spec.height >= _TALL else 4, pad=pad)


def _check_positive(low: float, high: float, axis: str, context: DrawContext) -> tuple[float, float]:
    if low <= 0:
        raise _make_error(context, f"the {axis} axis is a log axis and starts at {low:g}", "Start above 0")
    return low, high


def _check_names(curves: tuple[Curve, ...], spec: PlotSpec, context: DrawContext) -> None:
    known = [curve.series for curve in curves]
    names = [*spec.highlight, *(note.series for note in spec.annotations if note.series)]
    unknown = dict.fromkeys(name for name in names if name not in known)
    if unknown:
        listed = ", ".join(f'"{name}"' for name in known)
        raise ReportError(
            *(
                Problem(
                    context.place,
                    f'"{name}" is not a series of this figure',
                    f"It has {listed}",
                    Stage.FIGURE,
                )
                for name in unknown
            )
        )


def _make_error(context: DrawContext, message: str, next_step: str = "") -> ReportError:
    return ReportError(Problem(context.place, message, next_step, Stage.FIGURE))
