"""Static picture of a plot as SVG: for a page, as a file, and as a card for link previews.

The picture on the page is fluid: its root is the plot rectangle, lines are in a stretched inner ``svg`` with
strokes that do not scale, and text is placed at percentages, so that it fits 360 to 960 pixels without a
script and without smaller text. Margins are CSS classes, because a strict content security policy allows no
style attribute. The live view draws at the same positions.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.figures.axis import position
from reportgen.figures.paths import PIXELS_WIDE, UNITS_A_PIXEL, make_line_paths
from reportgen.figures.plot import GAP
from reportgen.figures.style import (
    DASHES,
    LABEL_SIZE,
    LIGHT,
    SYMBOL_PATHS,
    SYMBOLS,
    TICK_SIZE,
    get_colour,
    resolve,
    resolve_svg,
)
from reportgen.figures.text import cut_text, escape_text, measure_text, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.figures.axis import Axis
    from reportgen.figures.paths import LinePaths
    from reportgen.figures.plot import EndLabel, Margins, Mark, Plot, SeriesLine


SPARK_ACROSS, SPARK_DOWN = 600, 200
"""Size of a sparkline in drawing units."""
_BEHIND = ("pale", "before", "plain", "full")
_WIDE = {"plain", "full"}
_BEFORE_DASH = (3.0, 3.0)
_TITLE_SIZE, _SOURCE_SIZE = 17, 11
_TITLE_LINE, _TEXT_LINE, _LEGEND_ROW = 22, 16, 20
_TITLE_FONT = f'font-size="{_TITLE_SIZE}" font-weight="600"'
_SHIFTED = re.compile(r' y="(-?[\d.]+)" dy="(-?[\d.]+)"')
# Text too long for any card; an entity counts as one character.
_TOO_LONG = re.compile(r">((?:&[^;<]*;|[^<&]){400})[^<]+<")


def draw_x_grid(axis: Axis, height: int) -> Iterator[str]:
    """Draw a line at each tick, ``height`` pixels high."""
    yield '<g class="rg-grid" stroke="var(--rg-grid)">'
    for tick in axis.ticks:
        x = format_position(axis, tick)
        yield f'<line x1="{x}" x2="{x}" y2="{height}"/>'
    yield "</g>"


def draw_x_axis(axis: Axis, bottom: int) -> Iterator[str]:
    """Draw the x axis, ``bottom`` pixels down."""
    # Narrow figures hide every second tick and its label.
    ticks = [(format_position(axis, tick), ' class="rg-odd"' * (n % 2)) for n, tick in enumerate(axis.ticks)]
    yield f'<g class="rg-x-axis" stroke="var(--rg-rule)"><line x2="100%" y1="{bottom}" y2="{bottom}"/>'
    for x, odd in ticks:
        yield f'<line{odd} x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>'
    yield '</g><g class="rg-x-labels" text-anchor="middle" fill="var(--rg-muted)">'
    for (x, odd), label in zip(ticks, axis.labels, strict=True):
        yield f'<text{odd} x="{x}" y="{bottom + 19}">{escape_text(label)}</text>'
    yield f'</g><text class="rg-x-title" x="50%" y="{bottom + 38}" text-anchor="middle" '
    yield f'fill="var(--rg-text)">{escape_text(axis.title)}</text>'


def format_position(axis: Axis, value: float, shift: float = 0.0) -> str:
    """Return the position of a value on the axis as an SVG length, moved by a part of the axis."""
    return f"{(position(axis, value) + shift) * 100:.6g}%"


def draw_picture(plot: Plot, paths: tuple[LinePaths, ...], *, labelled_by: str) -> str:
    """Draw the fluid picture for a page; ``labelled_by`` holds the ids of its title and summary."""
    return set_into_page(draw_body(plot, paths, fluid=True), plot.bottom, labelled_by)


def set_into_page(drawing: str, height: int, labelled_by: str) -> str:
    """Wrap fluid elements as the picture of a page."""
    return (
        f'<svg class="rg-picture" role="img" aria-labelledby="{escape_text(labelled_by)}" width="100%" '
        f'height="{height}" font-size="{TICK_SIZE}">{drawing}</svg>'
    )


class _Drawing(Struct, frozen=True):
    """Drawing of a plot, fluid or ``width`` pixels wide."""

    plot: Plot
    fluid: bool
    width: int

    def draw_ground(self) -> Iterator[str]:
        """Draw the y axis with its grid, and reference lines."""
        yield '<g class="rg-grid" stroke="var(--rg-grid)">'
        for tick in self.plot.y.ticks:
            y = self.format_pixel(tick)
            yield f'<line x2="100%" y1="{y}" y2="{y}"/>'
        yield '</g><g class="rg-y-labels" text-anchor="end" fill="var(--rg-muted)">'
        for tick, label in zip(self.plot.y.ticks, self.plot.y.labels, strict=True):
            yield f'<text x="-8" y="{self.format_pixel(tick)}" dy="4">{escape_text(label)}</text>'
        yield f'</g><text class="rg-y-title" x="{-self.plot.margins.left}" y="-14" fill="var(--rg-text)">'
        yield f"{escape_text(self.plot.y.title)}</text>"
        line = 'stroke="var(--rg-muted)" stroke-dasharray="2 3"'
        for mark in self.plot.references:
            if mark.y is not None:
                y = self.format_pixel(mark.y)
                yield f'<g class="rg-reference"><line x2="100%" y1="{y}" y2="{y}" {line}/>'
                words = f'<text x="4" y="{y}" dy="-5" fill="var(--rg-muted)">{escape_text(mark.text)}</text>'
                yield f"{words if mark.text else ''}</g>"
            elif mark.x is not None:
                x = format_position(self.plot.x, mark.x)
                yield f'<g class="rg-reference"><line x1="{x}" x2="{x}" y2="{self.plot.height}" {line}/>'
                yield f"{self.draw_label(mark, x, 0, 'var(--rg-muted)')}</g>"

    def draw_right_axis(self, axis: Axis) -> Iterator[str]:
        """Draw ticks, labels and title of the right y axis, which has no grid."""
        yield '<svg class="rg-right-axis" x="100%" overflow="visible" fill="var(--rg-muted)">'
        for tick, label in zip(axis.ticks, axis.labels, strict=True):
            y = self.format_pixel(tick, axis)
            yield f'<line x2="5" y1="{y}" y2="{y}" stroke="var(--rg-rule)"/>'
            yield f'<text x="9" y="{y}" dy="4">{escape_text(label)}</text>'
        yield f'<text x="{self.plot.margins.right}" y="-14" text-anchor="end" fill="var(--rg-text)">'
        yield f"{escape_text(axis.title)}</text></svg>"

    def draw_lines(self, paths: tuple[LinePaths, ...]) -> Iterator[str]:
        """Draw bands, runs, means and symbols; strokes are in drawing units unless fluid."""
        stretch = ' preserveAspectRatio="none"' if self.fluid else ""
        yield (
            f'<svg class="rg-marks" width="{"100%" if self.fluid else self.width}" '
            f'height="{self.plot.height}" '
            f'viewBox="0 0 {self.width * UNITS_A_PIXEL} {self.plot.height * UNITS_A_PIXEL}"{stretch} '
            f'overflow="{"hidden" if self.plot.clip else "visible"}" fill="none" stroke-linejoin="round">'
        )
        ordered = sorted(
            zip(self.plot.lines, paths, strict=True),
            key=lambda pair: (_BEHIND.index(pair[0].look), pair[0].right, pair[0].slot is not None),
        )
        if has_before(self.plot):
            # A band would tint the line of the other state.
            yield from (self.draw_band(line, data) for line, data in ordered)
            ordered = [(line, replace(data, band="")) for line, data in ordered]
        for line, data in ordered:
            yield self.draw_band(line, data)
            yield from self.draw_strokes(line, data)
        yield "</svg>"
        for number, line in enumerate(self.plot.lines if self.plot.symbols else ()):
            if line.look != "full":
                continue
            name = f"{self.plot.id}-symbol-{number}"
            yield f'<g class="rg-symbols" fill="{get_colour(line.slot)}"><defs><path id="{name}" '
            yield f'd="{SYMBOL_PATHS[get_symbol(line)]}"/></defs>'
            axis = self.plot.get_y(line)
            for step, value in zip(line.steps.tolist(), line.values.tolist(), strict=True):
                if 0 <= position(self.plot.x, step) <= 1 and 0 <= position(axis, value) <= 1:
                    x = format_position(self.plot.x, step, line.shift)
                    yield f'<use href="#{name}" x="{x}" y="{self.format_pixel(value, axis)}"/>'
            yield "</g>"

    def draw_band(self, line: SeriesLine, data: LinePaths) -> str:
        """Draw the band of one series, or its intervals as whiskers."""
        if not data.band:
            return ""
        look = f'fill="{_get_ink(line)}" fill-opacity=".16"'
        if self.plot.whiskers or line.bars:
            look = f'stroke="{_get_ink(line)}" {self.write_width(1.5)}'
        return f'<path class="rg-band" {look} d="{data.band}"/>'

    def write_width(self, width: float) -> str:
        """Write a stroke width in pixels, which stretching does not change."""
        if self.fluid:
            return f'stroke-width="{width:g}" vector-effect="non-scaling-stroke"'
        return f'stroke-width="{width * UNITS_A_PIXEL:g}"'

    def draw_strokes(self, line: SeriesLine, data: LinePaths) -> Iterator[str]:
        """Runs, the values before smoothing, and the line of one series."""
        scale, attribute = (1, ' vector-effect="non-scaling-stroke"') if self.fluid else (UNITS_A_PIXEL, "")
        pattern = " ".join(f"{length * scale:g}" for length in get_dash(self.plot, line))
        dashed = f' stroke-dasharray="{pattern}"' if pattern else ""
        faint = ' stroke-opacity=".4"' if line.look == "pale" else ""
        # A stroke without length and with round ends is a point.
        point = (6, ' stroke-opacity=".4" stroke-linecap="round"')
        for kind, width, extra, path in (
            ("run", *(point if self.plot.whiskers else (1, ' stroke-opacity=".32"')), data.runs),
            ("raw", 1, ' stroke-opacity=".4"', data.raw),
            ("line", 2 if line.look in _WIDE else 1.5, f"{dashed}{faint}", data.line),
        ):
            if path or kind == "line":
                size = f'stroke="{_get_ink(line)}" stroke-width="{width * scale:g}"'
                yield f'<path class="rg-{kind}" {size}{extra} d="{path}"{attribute}/>'

    def draw_names(self) -> Iterator[str]:
        """Draw annotations and the names at the line ends."""
        for mark in self.plot.annotations:
            if mark.x is None or mark.y is None:
                continue
            x, y = format_position(self.plot.x, mark.x), self.plot.find_pixel(mark.y, self.plot.get_y(mark))
            yield f'<g class="rg-annotation"><svg x="{x}" y="{y:.4g}" overflow="visible">'
            yield '<path d="M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z" fill="none" stroke="var(--rg-text)"/></svg>'
            if mark.label and mark.label.leader:
                start, end = (f"{y + shift:.4g}" for shift in mark.label.leader)
                yield f'<line x1="{x}" x2="{x}" y1="{start}" y2="{end}" stroke="var(--rg-muted)"/>'
            yield f"{self.draw_label(mark, x, y, 'var(--rg-text)')}</g>"
        if self.plot.ends:
            yield f'<g class="rg-ends" font-size="{LABEL_SIZE}" font-weight="600">'
            for label in self.plot.ends:
                colour = get_colour(label.slot)
                if label.at is not None:
                    yield self.draw_leader(label, label.at, f'stroke="{colour}"')
                place = f'x="100%" dx="{label.dx:g}" y="{label.y:g}" dy="4" fill="{colour}"'
                yield f"<text {place}>{escape_text(label.text)}</text>"
            yield "</g>"

    def draw_leader(self, label: EndLabel, at: float, ink: str) -> str:
        """Draw the thin line from the end of a series' line to its name."""
        path = f'<path d="M6 {at:g}L{label.dx - 4:g} {label.y:g}" fill="none" {ink}/>'
        across = ""
        if label.step is not None:
            ends = f'x1="{format_position(self.plot.x, label.step)}" x2="100%" y1="{at:g}" y2="{at:g}"'
            across = f'<line {ends} {ink} stroke-dasharray="1 4"/>'
        return f'{across}<svg x="100%" overflow="visible">{path}</svg>'

    def draw_label(self, mark: Mark, x: str, y: float, ink: str) -> str:
        """Draw a mark's label, with the full text on hover if it is cut or does not fit."""
        label = mark.label
        if label is None:
            return f"<title>{escape_text(mark.text)}</title>"
        shift = f' dx="{label.dx:g}"' if label.dx else ""
        at = f'x="{x}"{shift} y="{y + label.dy:.4g}" text-anchor="{label.anchor}" fill="{ink}"'
        if not self.fluid or label.short == label.text:
            return f"<text {at}>{escape_text(label.text)}</text>"
        both = ((' class="rg-wide"', label.text), (' class="rg-narrow"', label.short))
        words = "".join(f"<text{which} {at}>{escape_text(text)}</text>" for which, text in both)
        return f"<title>{escape_text(mark.text)}</title>{words}"

    def format_pixel(self, value: float, axis: Axis | None = None) -> str:
        return f"{self.plot.find_pixel(value, axis):.4g}"


def draw_body(plot: Plot, paths: tuple[LinePaths, ...], *, fluid: bool, width: int = PIXELS_WIDE) -> str:
    """Draw the elements of the picture, fluid or ``width`` pixels wide, as the paths are."""
    drawing, axis = _Drawing(plot, fluid, width), draw_x_axis(plot.x, plot.bottom)
    right = drawing.draw_right_axis(plot.right) if plot.right else ()
    strip = _draw_strip(_Drawing(plot.strip, fluid, width), plot) if plot.strip else ()
    parts = (drawing.draw_ground(), right, drawing.draw_lines(paths), strip, axis, drawing.draw_names())
    return "".join(text for part in parts for text in part)


def _draw_strip(drawing: _Drawing, above: Plot) -> Iterator[str]:
    """Draw the difference of the lines above, with points where they have symbols."""
    strip, top = drawing.plot, above.height + GAP
    yield f'<svg class="rg-below" y="{top}" width="100%" height="{strip.height}" overflow="visible">'
    yield from drawing.draw_ground()
    yield from drawing.draw_lines(make_line_paths(strip, drawing.width))
    line, points = strip.lines[0], {"bg": "", "muted": ""}  # by what they are filled with
    excludes = (line.low > 0) | (line.high < 0)
    rows = zip(line.steps.tolist(), line.values.tolist(), excludes.tolist(), strict=True)
    for step, value, filled in rows if above.symbols else ():
        if 0 <= position(strip.x, step) <= 1 and math.isfinite(value):
            at = f'cx="{format_position(strip.x, step)}" cy="{drawing.format_pixel(value)}"'
            points["muted" if filled else "bg"] += f'<circle {at} r="3"/>'
    for fill, drawn in points.items():
        yield f'<g stroke="var(--rg-muted)" fill="var(--rg-{fill})">{drawn}</g>' if drawn else ""
    yield "</svg>"


def has_before(plot: Plot) -> bool:
    """Whether a plot compares two states."""
    return any(line.look == "before" for line in plot.lines)


def _get_ink(line: SeriesLine) -> str:
    return get_colour(None if line.look == "before" else line.slot)


def get_dash(plot: Plot, line: SeriesLine) -> tuple[float, ...]:
    """Return the dash of a line: solid for muted series, and if symbols distinguish the series.

    If two states are compared, only the lines of the earlier one are dashed; a dash that stands for a metric
    stays.
    """
    if line.look == "before":
        return _BEFORE_DASH
    if line.dash is not None:
        return DASHES[line.dash]
    return () if plot.symbols or line.slot is None or has_before(plot) else DASHES[line.slot]


def get_symbol(line: SeriesLine) -> str:
    """Return the name of the symbol of a line."""
    if line.look == "plain":
        return "none"
    return SYMBOLS[(line.slot if line.dash is None else line.dash) or 0]


def draw_file(plot: Plot, paths: tuple[LinePaths, ...], *, title: str, subtitle: str, source: str) -> str:
    """Draw a complete SVG of fixed size on white; fonts are named, not embedded."""
    body = draw_body(plot, paths, fluid=False)
    frame = Frame(title, subtitle, f"Source: {source}")
    return draw_framed(body, plot.bottom, plot.margins, frame, plot=plot)


class Frame(Struct, frozen=True):
    """What is around a drawing in a file of its own, and the colours of both."""

    title: str
    subtitle: str
    footer: str
    edge: int = 24
    tokens: Mapping[str, str] = field(default_factory=lambda: LIGHT)


def draw_framed(
    drawing: str,
    height: int,
    margins: Margins,
    frame: Frame,
    *,
    plot: Plot | None = None,
    across: int = PIXELS_WIDE,
) -> str:
    """Frame elements ``across`` pixels wide as a standalone file with resolved colours.

    ``height`` is that of the drawing in pixels, without margins; ``plot`` adds its legend.
    """
    edge, title = frame.edge, frame.title
    width = across + margins.left + margins.right + 2 * edge
    room = width - 2 * edge
    weight, step = ("", _TEXT_LINE) if plot is None else (' font-weight="400"', TICK_SIZE + 5)
    heading, how = wrap_words(title, _TITLE_SIZE, 600, room), wrap_words(frame.subtitle, TICK_SIZE, 400, room)
    y = edge + 14
    words = [
        _draw_text(edge, y + n * _TITLE_LINE, _TITLE_FONT, "text", line) for n, line in enumerate(heading)
    ]
    y += _TITLE_LINE * len(heading)
    font = f'font-size="{TICK_SIZE}"{weight}'
    words += [_draw_text(edge, y + n * step, font, "muted", line) for n, line in enumerate(how)]
    y += _TEXT_LINE * len(how)
    if plot is not None:
        legend, rows = ([], 0) if plot.ends else _draw_legend(plot, y + 6, width, edge)
        words += legend
        y += _LEGEND_ROW * rows + 4
    top = y + margins.top
    total = top + height + margins.bottom + 34
    last = wrap_words(frame.footer, _SOURCE_SIZE, 400, room)
    credit = f"{last[0]}{' …' if len(last) > 1 else ''}"
    words.append(_draw_text(edge, total - 14, f'font-size="{_SOURCE_SIZE}"{weight}', "muted", credit))
    return resolve_svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" '
        f'viewBox="0 0 {width} {total}" font-family="var(--rg-font)" font-size="{TICK_SIZE}">'
        f'<title>{escape_text(title)}</title><rect width="100%" height="100%" fill="var(--rg-bg)"/>'
        f'{"".join(words)}<svg x="{edge + margins.left}" y="{top}" width="{across}" height="{height}" '
        f'overflow="visible">{drawing}</svg></svg>\n',
        frame.tokens,
    )


def _draw_text(x: float, y: float, font: str, ink: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" {font} fill="var(--rg-{ink})">{escape_text(words)}</text>'


def _draw_legend(plot: Plot, y: float, width: float, edge: int) -> tuple[list[str], int]:
    """Draw the swatch and name of each series, in rows, and return the number of rows."""
    parts, x, rows = [], float(edge), 1
    font = f'font-size="{LABEL_SIZE}" font-weight="400"'
    for line in plot.lines:
        if line.look == "before":
            continue
        name = cut_text(line.label, LABEL_SIZE, 400, width - 2 * edge - 40)
        wide = 34 + measure_text(name, LABEL_SIZE) + 18
        if x + wide > width - edge and x > edge:
            x, rows = float(edge), rows + 1
        here = y + (rows - 1) * _LEGEND_ROW
        ink, pattern = get_colour(line.slot), " ".join(f"{length:g}" for length in get_dash(plot, line))
        dashed = f' stroke-dasharray="{pattern}"' if pattern else ""
        dashed += ' stroke-opacity=".4"' if line.look == "pale" else ""
        parts.append(f'<path d="M{x:g} {here - 4:g}h24" stroke="{ink}" stroke-width="2"{dashed}/>')
        if plot.symbols:
            shape = SYMBOL_PATHS[get_symbol(line)]
            move = f"translate({x + 12:g} {here - 4:g})"
            parts.append(f'<path transform="{move}" d="{shape}" fill="{ink}"/>')
        parts.append(_draw_text(x + 30, here, font, "text", name))
        x += wide
    return parts, rows


def draw_card(picture: str) -> str:
    """Draw a 1200 x 630 card for link previews, with a figure's own picture scaled to fit."""
    wide, high = map(int, re.findall(r'(?:width|height)="(\d+)"', picture)[:2])
    scale = min(1120 / wide, 600 / high)
    # Clipping at the edge of a nested svg takes the rasteriser five times as long as drawing.
    # A preview is small: runs would take two thirds of the time and be invisible.
    picture = re.sub(r'<path class="rg-run"[^>]*/>', "", picture)
    # Text with a dy attribute takes three times as long to draw as text with the sum in y.
    picture = _SHIFTED.sub(lambda shift: f' y="{float(shift[1]) + float(shift[2]):g}"', picture)
    # The time to rasterise a text is quadratic in its length.
    picture = _TOO_LONG.sub(r">\1…<", picture)
    visible = picture.replace("<svg ", '<svg overflow="visible" ', 1)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630">'
        f'<rect width="1200" height="630" fill="{resolve("var(--rg-bg)")}"/>'
        f'<g transform="translate({(1200 - wide * scale) / 2:.2f} {(630 - high * scale) / 2:.2f}) '
        f'scale({scale:.4f})">{visible}</g></svg>'
    )
