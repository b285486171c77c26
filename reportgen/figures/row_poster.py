"""A picture about scores as a file of its own: title, subtitle and source around it, colours resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.layout import TICK_SIZE
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.poster import wrap_words
from reportgen.figures.score_rows import compute_rows_margins, draw_rows_body, measure_rows
from reportgen.figures.svg_text import escape_text
from reportgen.figures.tokens import resolve_svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Margins
    from reportgen.figures.score_rows import Row

_FRAME_EDGE = 24
_FRAME_TITLE_SIZE, _FRAME_SOURCE_SIZE = 17, 11
_TITLE_LINE, _TEXT_LINE = 22, 16


def draw_rows_file(
    rows: Sequence[Row], axis: Axis, *, title: str, subtitle: str, source: str, rule: float | None = None
) -> str:
    """Rows as an SVG of fixed size on white, complete with words; fonts are named, not embedded.

    Args:
        rows: from top to bottom.
        axis: of their values.
        title: what is shown.
        subtitle: how.
        source: where the numbers are from.
        rule: see ``rows_svg``.
    """
    return draw_framed(
        draw_rows_body(rows, axis, rule=rule, alive=False),
        measure_rows(rows),
        compute_rows_margins(rows),
        title=title,
        subtitle=subtitle,
        source=source,
    )


def draw_framed(
    drawing: str, height: int, margins: Margins, *, title: str, subtitle: str, source: str
) -> str:
    """Elements that are as wide as their place, set ``PIXELS_WIDE`` pixels wide into a file of their own.

    Args:
        drawing: SVG elements; their colours may be tokens.
        height: of the plot without its margins, in pixels.
        margins: room around it for what the drawing has outside of the plot.
        title: what is shown.
        subtitle: how.
        source: where the numbers are from.
    """
    width = PIXELS_WIDE + margins.left + margins.right + 2 * _FRAME_EDGE
    room = width - 2 * _FRAME_EDGE
    heading, how = wrap_words(title, _FRAME_TITLE_SIZE, 600, room), wrap_words(subtitle, TICK_SIZE, 400, room)
    y = _FRAME_EDGE + 14
    words = list(
        _draw_framed_lines(
            heading, y, _TITLE_LINE, f'font-size="{_FRAME_TITLE_SIZE}" font-weight="600"', "text"
        )
    )
    y += _TITLE_LINE * len(heading)
    words += _draw_framed_lines(how, y, _TEXT_LINE, f'font-size="{TICK_SIZE}"', "muted")
    top = y + _TEXT_LINE * len(how) + margins.top
    total = top + height + margins.bottom + 34
    origin = wrap_words(f"Source: {source}", _FRAME_SOURCE_SIZE, 400, room)
    shown = [f"{origin[0]}{' …' if len(origin) > 1 else ''}"]
    words += _draw_framed_lines(shown, total - 14, _TEXT_LINE, f'font-size="{_FRAME_SOURCE_SIZE}"', "muted")
    return resolve_svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" '
        f'viewBox="0 0 {width} {total}" font-family="var(--rg-font)" font-size="{TICK_SIZE}">'
        f'<title>{escape_text(title)}</title><rect width="100%" height="100%" fill="var(--rg-bg)"/>'
        f'{"".join(words)}<svg x="{_FRAME_EDGE + margins.left}" y="{top}" width="{PIXELS_WIDE}" '
        f'height="{height}" overflow="visible">{drawing}</svg></svg>\n'
    )


def _draw_framed_lines(lines: Sequence[str], y: int, step: int, font: str, ink: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        at = y + number * step
        yield f'<text x="{_FRAME_EDGE}" y="{at}" {font} fill="var(--rg-{ink})">{escape_text(line)}</text>'
