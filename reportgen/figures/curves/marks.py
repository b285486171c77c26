"""Reference lines, annotations, points that stand alone and marks at one step, placed in a plot."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from reportgen.core.errors import Diagnostics
from reportgen.figures.axis import position
from reportgen.figures.paths import PIXELS_WIDE, RUNS_ASIDE, positions
from reportgen.figures.plot import Mark, make_diagnostic
from reportgen.figures.style import SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec, SeriesLine
    from reportgen.settings.block_parts import Annotation


_APART, _MOST_APART = 6, 54  # pixels between the marks of two lines at one setting, and of the first and last
_SHARE_APART = 0.6  # of the distance between two settings that the marks at one of them may take
_ROUNDING = 1e-9


def make_marks(
    lines: Sequence[SeriesLine], spec: PlotSpec, axes: tuple[Axis, Axis, Axis], context: DrawContext
) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    """Place reference lines and annotations; an annotation without a series becomes a labelled line.

    ``axes`` are x, y, and the y axis of lines on the right.
    Automatic annotations (``spec.marked``) outside the plot, or equal to others, are dropped. Raises a
    ``ReportError`` for each line or annotation of the author's that is outside its curve or the plot.
    """
    by_name = {line.name: line for line in lines}
    references = [Mark(text=line.label, x=line.x, y=line.y) for line in spec.references]
    notes: list[Mark] = []
    problems = Diagnostics()
    for note in spec.annotations:
        mark = _place_note(note, by_name)
        if mark is None:
            message = f'the annotation "{note.text}" stands at {note.x:g}, outside {note.series}'
            problems.add([make_diagnostic(context, message)])
        else:
            (references if mark.y is None else notes).append(mark)
    for mark in (*references, *notes):
        for name, axis, value in (("x", axes[0], mark.x), ("y", axes[1 + mark.right], mark.y)):
            if value is not None and not _is_inside(axis, value):
                what = f'"{mark.text}"' if mark.text else f"the reference line at {value:g}"
                ends = f"runs from {axis.domain[0]:g} to {axis.domain[1]:g}"
                message = f"{what} stands at {name} = {value:g}, and the {name} axis {ends}"
                problems.add([make_diagnostic(context, message, f"Move it, or widen {name}_domain")])
    problems.raise_errors()
    for note in spec.marked:
        mark = _place_note(note, by_name)
        if (
            mark
            and _is_inside(axes[0], note.x)
            and (mark.y is None or _is_inside(axes[1 + mark.right], mark.y))
        ):
            own = references if mark.y is None else notes
            own += [replace(mark, found=True)] if mark not in own else []
    return tuple(dict.fromkeys(references)), tuple(dict.fromkeys(notes))


def _place_note(note: Annotation, lines: Mapping[str, SeriesLine]) -> Mark | None:
    """Place an annotation on its line, or return None if the line has no value at its step."""
    if note.series is None:
        return Mark(note.text, x=note.x)
    line = lines.get(note.series)
    if line is None:
        return None
    known = np.isfinite(line.values)
    steps, values = line.steps[known], line.values[known]
    if not steps.size or not steps[0] <= note.x <= steps[-1]:
        return None
    value = float(np.interp(note.x, steps, values))
    return Mark(note.text, note.x, value, line.slot, line.name, right=line.right)


def find_lone_points(lines: Iterable[SeriesLine], axes: tuple[Axis, Axis, Axis]) -> Iterator[Mark]:
    """Mark each series with a single point by a labelled ring, since its line cannot be seen."""
    for line in lines:
        known = np.flatnonzero(np.isfinite(line.values))
        if known.size == 1:
            step, value = float(line.steps[known[0]]), float(line.values[known[0]])
            if _is_inside(axes[0], step) and _is_inside(axes[1 + line.right], value):
                yield Mark(line.label, step, value, line.slot, line.name, right=line.right)


def _is_inside(axis: Axis, value: float) -> bool:
    return -_ROUNDING <= position(axis, value) <= 1 + _ROUNDING


def separate_lines(plot: Plot) -> Plot:
    """Move lines with marks at the same settings apart, and dash those whose colour is not theirs alone."""
    lines = plot.lines
    every = np.concatenate([line.steps for line in lines])
    places = np.unique(positions(plot.x, every))
    if len(lines) > SLOTS:
        greys = count()
        dashes = [next(greys) % SLOTS if line.slot is None else line.slot for line in lines]
        lines = tuple(replace(line, dash=dash) for line, dash in zip(lines, dashes, strict=True))
    if places.size == every.size:
        return replace(plot, lines=lines)
    apart = _APART + (RUNS_ASIDE if any(line.runs for line in lines) else 0)
    room = min(_MOST_APART, _SHARE_APART * float(np.diff(places).min(initial=1.0)) * PIXELS_WIDE)
    step = min(apart, room / (len(lines) - 1)) / PIXELS_WIDE
    middle = (len(lines) - 1) / 2
    moved = (replace(line, shift=(number - middle) * step) for number, line in enumerate(lines))
    return replace(plot, lines=tuple(moved))
