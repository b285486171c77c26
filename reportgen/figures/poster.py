"""The picture of a plot as a file of its own: title, subtitle, legend, and colours that need no page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.palette import SYMBOLS
from reportgen.figures.picture import SYMBOL_PATHS, draw_body, get_colour, get_dash
from reportgen.figures.svg_text import escape_text
from reportgen.figures.text_width import cut_text, measure_text
from reportgen.figures.tokens import resolve, resolve_svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.line_paths import LinePaths
    from reportgen.figures.plot import Plot, SeriesLine

_EDGE = 24
_TITLE_SIZE, _SOURCE_SIZE = 17, 11
_LEGEND_ROW = 20


def draw_file(plot: Plot, paths: tuple[LinePaths, ...], *, title: str, subtitle: str, source: str) -> str:
    """An SVG of fixed size on white, complete with words; fonts are named, not embedded."""
    width = PIXELS_WIDE + plot.margins.left + plot.margins.right + 2 * _EDGE
    title_lines = wrap_words(title, _TITLE_SIZE, 600, width - 2 * _EDGE)
    under = [line for part in (subtitle,) for line in wrap_words(part, TICK_SIZE, 400, width - 2 * _EDGE)]
    words = list(_draw_lines(title_lines, _TITLE_SIZE, 600, "text", _EDGE + 14))
    y = _EDGE + 14 + 22 * len(title_lines)
    words += _draw_lines(under, TICK_SIZE, 400, "muted", y)
    y += 16 * len(under)
    if not plot.ends:
        legend, rows = _draw_legend(plot, y + 6, width)
        words += legend
        y += _LEGEND_ROW * rows
    top = y + plot.margins.top + 4
    left = _EDGE + plot.margins.left
    height = top + plot.height + plot.margins.bottom + 34
    origin = wrap_words(f"Source: {source}", _SOURCE_SIZE, 400, width - 2 * _EDGE)
    ending = " …" if len(origin) > 1 else ""
    words.append(_draw_text(_EDGE, height - 14, _SOURCE_SIZE, 400, "muted", f"{origin[0]}{ending}"))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="var(--rg-font)" font-size="{TICK_SIZE}">'
        f'<title>{escape_text(title)}</title><rect width="100%" height="100%" fill="var(--rg-bg)"/>'
        f'{"".join(words)}<svg x="{left}" y="{top}" width="{PIXELS_WIDE}" height="{plot.height}" '
        f'overflow="visible">{draw_body(plot, paths, fluid=False)}</svg></svg>\n'
    )
    return resolve_svg(picture)


_SHIFTED = re.compile(r' y="(-?[\d.]+)" dy="(-?[\d.]+)"')
# Words that no card has room for; an entity is one character.
_TOO_LONG = re.compile(r">((?:&[^;<]*;|[^<&]){400})[^<]+<")


def draw_card(picture: str) -> str:
    """A 1200 x 630 card for link previews, with a figure's own picture fitted into it."""
    wide, high = _size(picture)
    scale = min(1120 / wide, 600 / high)
    # Clipping at the edge of a nested svg costs the rasteriser five times the drawing.
    # A preview is small: runs would cost two thirds of the time and not be seen.
    picture = re.sub(r'<path class="rg-run"[^>]*/>', "", picture)
    # A shift of the baseline makes a text three times as slow to draw as the same sum written out.
    picture = _SHIFTED.sub(lambda found: f' y="{float(found[1]) + float(found[2]):g}"', picture)
    # Setting a text takes the rasteriser the square of its length.
    picture = _TOO_LONG.sub(r">\1…<", picture)
    visible = picture.replace("<svg ", '<svg overflow="visible" ', 1)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630">'
        f'<rect width="1200" height="630" fill="{resolve("var(--rg-bg)")}"/>'
        f'<g transform="translate({(1200 - wide * scale) / 2:.2f} {(630 - high * scale) / 2:.2f}) '
        f'scale({scale:.4f})">{visible}</g></svg>'
    )


def wrap_words(text: str, size: float, weight: Literal[400, 600], width: float) -> list[str]:
    """Words in lines no wider than ``width`` pixels; a word wider than a line is cut with an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure_text(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_text(word, size, weight, width))
    return lines


def _draw_lines(lines: list[str], size: int, weight: Literal[400, 600], ink: str, y: float) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield _draw_text(_EDGE, y + number * (size + 5), size, weight, ink, line)


def _draw_text(x: float, y: float, size: float, weight: Literal[400, 600], ink: str, words: str) -> str:  # noqa: PLR0917
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" '
        f'fill="var(--rg-{ink})">{escape_text(words)}</text>'
    )


def _draw_legend(plot: Plot, y: float, width: float) -> tuple[list[str], int]:
    parts, x, rows = [], float(_EDGE), 1
    for line in plot.lines:
        name = cut_text(line.name, LABEL_SIZE, 400, width - 2 * _EDGE - 40)
        wide = 34 + measure_text(name, LABEL_SIZE) + 18
        if x + wide > width - _EDGE and x > _EDGE:
            x, rows = float(_EDGE), rows + 1
        here = y + (rows - 1) * _LEGEND_ROW
        parts.append(_draw_swatch(plot, line, x, here - 4))
        parts.append(_draw_text(x + 30, here, LABEL_SIZE, 400, "text", name))
        x += wide
    return parts, rows


def _draw_swatch(plot: Plot, line: SeriesLine, x: float, y: float) -> str:
    ink = get_colour(line.slot)
    pattern = " ".join(f"{length:g}" for length in get_dash(plot, line))
    dashed = f' stroke-dasharray="{pattern}"' if pattern else ""
    swatch = f'<path d="M{x:g} {y:g}h24" stroke="{ink}" stroke-width="2"{dashed}/>'
    if plot.symbols:
        shape = SYMBOL_PATHS[SYMBOLS[line.slot or 0]]
        swatch += f'<path transform="translate({x + 12:g} {y:g})" d="{shape}" fill="{ink}"/>'
    return swatch


def _size(picture: str) -> tuple[int, int]:
    wide, high = re.findall(r'(?:width|height)="(\d+)"', picture)[:2]
    return int(wide), int(high)
