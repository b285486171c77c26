"""Reference lines and annotations of a plot, each inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.errors import Problem, Problems, ReportError, Stage
from reportgen.figures.axis import position
from reportgen.figures.plot import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import SeriesLine
    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Curve
    from reportgen.settings.blocks import Annotation

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
    problems = Problems()
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
        raise ReportError(_make_diagnostic(context, said))
    return Mark(note.text, note.x, value, slot)


def _interpolate_at(curve: Curve, step: float) -> float | None:
    """Where the drawn line stands at a step; None outside its range."""
    known = np.isfinite(curve.values)
    steps, values = curve.steps[known], curve.values[known]
    if not steps.size or not steps[0] <= step <= steps[-1]:
        return None
    return float(np.interp(step, steps, values))


def _check_inside(mark: Mark, x: Axis, y: Axis, context: DrawContext) -> Iterator[Problem]:
    for name, axis, value in (("x", x, mark.x), ("y", y, mark.y)):
        if value is not None and not _is_inside(axis, value):
            what = f'"{mark.text}"' if mark.text else f"the reference line at {value:g}"
            low, high = axis.domain
            said = f"{what} stands at {name} = {value:g}, and the {name} axis runs from {low:g} to {high:g}"
            yield _make_diagnostic(context, said, f"Move it, or widen {name}_domain")


def _is_inside(axis: Axis, value: float) -> bool:
    return -_ROUNDING <= position(axis, value) <= 1 + _ROUNDING


def _make_diagnostic(context: DrawContext, message: str, next_step: str = "") -> Problem:
    return Problem(context.place, message, next_step, Stage.FIGURE)
