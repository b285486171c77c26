"""The words of a plot's marks get their places, among everything else that is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import format_value, position
from reportgen.figures.label_choice import choose_places
from reportgen.figures.label_places import (
    RING,
    Box,
    LabelPlace,
    Obstacles,
    list_fractions,
    list_places_at_line,
    list_places_at_point,
    measure_room,
)
from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.line_paths import positions
from reportgen.figures.plot import Label, Mark
from reportgen.figures.text_width import cut_text, measure_text
from reportgen.words import join_names, lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.plot import Plot
    from reportgen.model import FloatArray

_ACROSS_X, _ACROSS_TOP, _ACROSS_BOTTOM = 4, -15, -1
_END_X, _END_HALF = 10, 8
_LONGEST = 480


def place_labels(plot: Plot) -> Plot:
    """The plot with a place for the words of each reference line down and each annotation.

    Lines come first, then annotations in their order: of words that find no room the later ones are left
    out, and their marks stay (``describe_unplaced`` tells them).
    """
    marks = [*plot.references, *plot.annotations]
    wanting = [number for number, mark in enumerate(marks) if mark.text and mark.x is not None]
    if not wanting:
        return plot
    places = choose_places(
        [list(_list_places(plot, marks[number])) for number in wanting], _collect_obstacles(plot)
    )
    for number, place in zip(wanting, places, strict=True):
        if place is not None:
            marks[number] = replace(marks[number], label=_make_label(plot, marks[number], place))
    lines = len(plot.references)
    return replace(plot, references=tuple(marks[:lines]), annotations=tuple(marks[lines:]))


def describe_unplaced(plot: Plot) -> str:
    """A sentence with the words that found no room in the plot; empty where all did."""
    where = lower_axis_title(plot.x.title)
    left = [
        f"{mark.text} (at {where} {format_value(plot.x, mark.x)})"
        for mark in (*plot.references, *plot.annotations)
        if mark.text and mark.x is not None and mark.label is None
    ]
    return f"Marked without room for the words: {join_names(left)}." if left else ""


def _list_places(plot: Plot, mark: Mark) -> Iterator[LabelPlace]:
    short, long = (measure_text(words, TICK_SIZE) for words in _cut_words(plot, mark))
    x = position(plot.x, mark.x or 0.0)
    if mark.y is None:
        return list_places_at_line(x, (short, long), plot.height)
    return list_places_at_point(x, _height(plot, mark.y), (short, long), plot.height)


def _make_label(plot: Plot, mark: Mark, place: LabelPlace) -> Label:
    y = 0.0 if mark.y is None else _height(plot, mark.y)
    leader = (round(place.leader.top - y, 1), round(place.leader.bottom - y, 1)) if place.leader else None
    short, long = _cut_words(plot, mark)
    return Label(long, short, place.anchor, place.dx, round(place.baseline - y, 1), leader)


def _cut_words(plot: Plot, mark: Mark) -> tuple[str, str]:
    """The words for a narrow picture, and for any other."""
    words = cut_text(" ".join(mark.text.split()), TICK_SIZE, 400, _LONGEST)
    return cut_text(words, TICK_SIZE, 400, measure_room(position(plot.x, mark.x or 0.0))), words


def _height(plot: Plot, value: float) -> float:
    return (1 - position(plot.y, value)) * plot.height


def _collect_obstacles(plot: Plot) -> Obstacles:
    marks = []
    for mark in plot.annotations:
        if mark.x is not None and mark.y is not None:
            y = _height(plot, mark.y)
            marks.append(Box(position(plot.x, mark.x), ((-RING, RING),) * 2, y - RING, y + RING))
    lines = [mark.x for mark in plot.references if mark.x is not None]
    marks += [Box(position(plot.x, x), ((0, 0), (0, 0)), 0, plot.height) for x in lines]
    return Obstacles(words=list(_list_word_boxes(plot)), marks=marks, strokes=_sample_lines(plot))


def _list_word_boxes(plot: Plot) -> Iterator[Box]:
    """The names at the line ends, and the words at lines across."""
    for end in plot.ends:
        sides = (_END_X, _END_X + measure_text(end.text, LABEL_SIZE, 600))
        yield Box(1, (None, sides), end.y - _END_HALF, end.y + _END_HALF)
    for mark in plot.references:
        if mark.y is not None and mark.text:
            y = _height(plot, mark.y)
            sides = (_ACROSS_X, _ACROSS_X + measure_text(mark.text, TICK_SIZE))
            yield Box(0, (sides, sides), y + _ACROSS_TOP, y + _ACROSS_BOTTOM)


def _sample_lines(plot: Plot) -> FloatArray:
    """The height of each line in pixels, at even fractions of the width."""
    grid = list_fractions()
    rows = [np.full(grid.size, _height(plot, m.y)) for m in plot.references if m.y is not None]
    for line in plot.lines:
        x, y = positions(plot.x, line.steps), positions(plot.y, line.values)
        known = np.isfinite(x) & np.isfinite(y)
        if known.any():
            along = np.interp(grid, x[known], y[known], left=np.nan, right=np.nan)
            rows.append((1 - along) * plot.height)
    return np.array(rows) if rows else np.empty((0, grid.size))
