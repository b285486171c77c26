"""The static picture of a plot, written as SVG.

The picture on the page is fluid: its root is the plot rectangle, lines live in a stretched inner
``svg`` whose strokes do not scale, and words stand at percentages, so that it fits 360 to 960 pixels
without a script and without shrinking its text. Margins are CSS classes, because a strict content
security policy allows no style attribute. The live view draws at the same places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.figures.axis import position
from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.line_paths import PIXELS_WIDE, UNITS_A_PIXEL
from reportgen.figures.palette import DASHES, SYMBOLS
from reportgen.figures.svg_text import escape_text
from reportgen.figures.x_axis import draw_x_axis, format_position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.line_paths import LinePaths
    from reportgen.figures.plot import Mark, Plot, SeriesLine

SYMBOL_PATHS: dict[str, str] = {
    "circle": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "square": "M-3.2-3.2h6.4v6.4h-6.4z",
    "triangle-up": "M0-4.4L4 3H-4z",
    "diamond": "M0-4.6L4.2 0L0 4.6L-4.2 0z",
    "triangle-down": "M0 4.4L4-3H-4z",
    "cross": "M-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
    "triangle-right": "M4.4 0L-3 4V-4z",
    "triangle-left": "M-4.4 0L3 4V-4z",
}


def draw_picture(plot: Plot, paths: tuple[LinePaths, ...], *, labelled_by: str) -> str:
    """The fluid picture for a page; ``labelled_by`` holds the ids of its title and summary."""
    return (
        f'<svg class="rg-picture" role="img" aria-labelledby="{escape_text(labelled_by)}" width="100%" '
        f'height="{plot.height}" font-size="{TICK_SIZE}">{draw_body(plot, paths, fluid=True)}</svg>'
    )


def draw_body(plot: Plot, paths: tuple[LinePaths, ...], *, fluid: bool) -> str:
    """The picture's elements, as wide as their place or ``PIXELS_WIDE`` pixels."""
    return "".join(
        [
            *_draw_y_grid(plot),
            *_draw_references(plot, fluid=fluid),
            _draw_marks(plot, paths, fluid=fluid),
            *_draw_symbols(plot),
            *draw_x_axis(plot.x, plot.height),
            *_draw_annotations(plot, fluid=fluid),
            *_draw_ends(plot),
        ]
    )


def get_colour(slot: int | None) -> str:
    """The CSS variable of a palette slot; None is the muted grey."""
    return f"var(--rg-series-{'muted' if slot is None else slot + 1})"


def get_dash(plot: Plot, line: SeriesLine) -> tuple[float, ...]:
    """The dash of a line: solid where symbols tell the series apart, and for muted series."""
    return () if plot.symbols or line.slot is None else DASHES[line.slot]


def _draw_y_grid(plot: Plot) -> Iterator[str]:
    yield '<g class="rg-grid" stroke="var(--rg-grid)">'
    for tick in plot.y.ticks:
        y = _format_pixel(plot, tick)
        yield f'<line x2="100%" y1="{y}" y2="{y}"/>'
    yield '</g><g class="rg-y-labels" text-anchor="end" fill="var(--rg-muted)">'
    for tick, label in zip(plot.y.ticks, plot.y.labels, strict=True):
        yield f'<text x="-8" y="{_format_pixel(plot, tick)}" dy="4">{escape_text(label)}</text>'
    yield f'</g><text class="rg-y-title" x="{-plot.margins.left}" y="-14" fill="var(--rg-text)">'
    yield f"{escape_text(plot.y.title)}</text>"


def _draw_marks(plot: Plot, paths: tuple[LinePaths, ...], *, fluid: bool) -> str:
    pen = _FLUID if fluid else _FIXED
    pairs = sorted(zip(plot.lines, paths, strict=True), key=lambda pair: pair[0].slot is not None)
    drawn = "".join(part for line, data in pairs for part in _draw_line(plot, line, data, pen))
    stretch = ' preserveAspectRatio="none"' if fluid else ""
    return (
        f'<svg class="rg-marks" width="{"100%" if fluid else PIXELS_WIDE}" height="{plot.height}" '
        f'viewBox="0 0 {PIXELS_WIDE * UNITS_A_PIXEL} {plot.height * UNITS_A_PIXEL}"{stretch} '
        f'overflow="{"hidden" if plot.clip else "visible"}" fill="none" stroke-linejoin="round">{drawn}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Pen:
    """Strokes of the fluid picture do not scale; those of the fixed one are given in drawing units."""

    scale: int
    attribute: str

    def draw_stroke(self, kind: str, ink: str, width: int, data: str, extra: str = "") -> str:
        size = f'stroke-width="{width * self.scale}"'
        return f'<path class="rg-{kind}" stroke="{ink}" {size}{extra} d="{data}"{self.attribute}/>'

    def write_pattern(self, lengths: tuple[float, ...]) -> str:
        scaled = " ".join(f"{length * self.scale:g}" for length in lengths)
        return f' stroke-dasharray="{scaled}"' if scaled else ""


_FLUID = _Pen(1, ' vector-effect="non-scaling-stroke"')
_FIXED = _Pen(UNITS_A_PIXEL, "")


def _draw_line(plot: Plot, line: SeriesLine, data: LinePaths, pen: _Pen) -> Iterator[str]:
    ink = get_colour(line.slot)
    if data.band:
        yield f'<path class="rg-band" fill="{ink}" fill-opacity=".16" d="{data.band}"/>'
    if data.runs:
        yield pen.draw_stroke("run", ink, 1, data.runs, ' stroke-opacity=".32"')
    if data.raw:
        yield pen.draw_stroke("raw", ink, 1, data.raw, ' stroke-opacity=".4"')
    yield pen.draw_stroke("line", ink, 2, data.line, pen.write_pattern(get_dash(plot, line)))


def _draw_symbols(plot: Plot) -> Iterator[str]:
    if not plot.symbols:
        return
    for number, line in enumerate(plot.lines):
        shape = SYMBOL_PATHS[SYMBOLS[line.slot or 0]]
        name = f"{plot.id}-symbol-{number}"
        yield f'<g class="rg-symbols" fill="{get_colour(line.slot)}"><defs><path id="{name}" d="{shape}"/></defs>'
        for step, value in zip(line.steps.tolist(), line.values.tolist(), strict=True):
            if math.isfinite(value) and _is_inside(plot, step, value):
                yield f'<use href="#{name}" x="{format_position(plot.x, step)}" y="{_format_pixel(plot, value)}"/>'
        yield "</g>"


def _draw_references(plot: Plot, *, fluid: bool) -> Iterator[str]:
    line = 'stroke="var(--rg-muted)" stroke-dasharray="2 3"'
    for mark in plot.references:
        if mark.y is not None:
            y = _format_pixel(plot, mark.y)
            yield f'<g class="rg-reference"><line x2="100%" y1="{y}" y2="{y}" {line}/>'
            yield f'<text x="4" y="{y}" dy="-5" fill="var(--rg-muted)">{escape_text(mark.text)}</text></g>'
        elif mark.x is not None:
            x = format_position(plot.x, mark.x)
            yield f'<g class="rg-reference"><line x1="{x}" x2="{x}" y2="{plot.height}" {line}/>'
            yield f"{_draw_label(mark, x, 0, 'var(--rg-muted)', fluid=fluid)}</g>"


def _draw_annotations(plot: Plot, *, fluid: bool) -> Iterator[str]:
    for mark in plot.annotations:
        if mark.x is None or mark.y is None:
            continue
        x, y = format_position(plot.x, mark.x), _height(plot, mark.y)
        yield f'<g class="rg-annotation"><svg x="{x}" y="{_format_pixel(plot, mark.y)}" overflow="visible">'
        yield '<path d="M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z" fill="none" stroke="var(--rg-text)"/></svg>'
        if mark.label and mark.label.leader:
            start, end = (f"{y + shift:.4g}" for shift in mark.label.leader)
            yield f'<line x1="{x}" x2="{x}" y1="{start}" y2="{end}" stroke="var(--rg-muted)"/>'
        yield f"{_draw_label(mark, x, y, 'var(--rg-text)', fluid=fluid)}</g>"


def _draw_label(mark: Mark, x: str, y: float, ink: str, *, fluid: bool) -> str:
    """The words at a mark; where they are cut or find no room, all of them when it is pointed at."""
    label = mark.label
    if label is None:
        return f"<title>{escape_text(mark.text)}</title>"
    shift = f' dx="{label.dx:g}"' if label.dx else ""
    at = f'x="{x}"{shift} y="{y + label.dy:.4g}" text-anchor="{label.anchor}" fill="{ink}"'
    if not fluid or label.short == label.text:
        return f"<text {at}>{escape_text(label.text)}</text>"
    both = ((' class="rg-wide"', label.text), (' class="rg-narrow"', label.short))
    words = "".join(f"<text{which} {at}>{escape_text(text)}</text>" for which, text in both)
    return f"<title>{escape_text(mark.text)}</title>{words}"


def _draw_ends(plot: Plot) -> Iterator[str]:
    if not plot.ends:
        return
    yield f'<g class="rg-ends" font-size="{LABEL_SIZE}" font-weight="600">'
    for end in plot.ends:
        ink = get_colour(end.slot)
        yield f'<text x="100%" dx="10" y="{end.y:g}" dy="4" fill="{ink}">{escape_text(end.text)}</text>'
    yield "</g>"


def _is_inside(plot: Plot, step: float, value: float) -> bool:
    return 0 <= position(plot.x, step) <= 1 and 0 <= position(plot.y, value) <= 1


def _format_pixel(plot: Plot, value: float) -> str:
    return f"{_height(plot, value):.4g}"


def _height(plot: Plot, value: float) -> float:
    return (1 - position(plot.y, value)) * plot.height
