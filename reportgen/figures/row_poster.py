"""A picture about scores as a file of its own: title, subtitle and source around it, colours resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.layout import TICK_SIZE
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.poster import wrap
from reportgen.figures.score_rows import rows_body, rows_height, rows_margins
from reportgen.figures.svg_text import escaped
from reportgen.figures.tokens import resolve_svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Margins
    from reportgen.figures.score_rows import Row

_EDGE = 24
_TITLE_SIZE, _SOURCE_SIZE = 17, 11
_TITLE_LINE, _LINE = 22, 16


def rows_file(
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
    return framed_svg(
        rows_body(rows, axis, rule=rule, alive=False),
        rows_height(rows),
        rows_margins(rows),
        title=title,
        subtitle=subtitle,
        source=source,
    )


def framed_svg(drawing: str, height: int, margins: Margins, *, title: str, subtitle: str, source: str) -> str:
    """Elements that are as wide as their place, set ``PIXELS_WIDE`` pixels wide into a file of their own.

    Args:
        drawing: SVG elements; their colours may be tokens.
        height: of the plot without its margins, in pixels.
        margins: room around it for what the drawing has outside of the plot.
        title: what is shown.
        subtitle: how.
        source: where the numbers are from.
    """
    width = PIXELS_WIDE + margins.left + margins.right + 2 * _EDGE
    room = width - 2 * _EDGE
    heading, how = wrap(title, _TITLE_SIZE, 600, room), wrap(subtitle, TICK_SIZE, 400, room)
    y = _EDGE + 14
    words = list(_lines(heading, y, _TITLE_LINE, f'font-size="{_TITLE_SIZE}" font-weight="600"', "text"))
    y += _TITLE_LINE * len(heading)
    words += _lines(how, y, _LINE, f'font-size="{TICK_SIZE}"', "muted")
    top = y + _LINE * len(how) + margins.top
    total = top + height + margins.bottom + 34
    origin = wrap(f"Source: {source}", _SOURCE_SIZE, 400, room)
    shown = [f"{origin[0]}{' …' if len(origin) > 1 else ''}"]
    words += _lines(shown, total - 14, _LINE, f'font-size="{_SOURCE_SIZE}"', "muted")
    return resolve_svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" '
        f'viewBox="0 0 {width} {total}" font-family="var(--rg-font)" font-size="{TICK_SIZE}">'
        f'<title>{escaped(title)}</title><rect width="100%" height="100%" fill="var(--rg-bg)"/>'
        f'{"".join(words)}<svg x="{_EDGE + margins.left}" y="{top}" width="{PIXELS_WIDE}" '
        f'height="{height}" overflow="visible">{drawing}</svg></svg>\n'
    )


def _lines(lines: Sequence[str], y: int, step: int, font: str, ink: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        at = y + number * step
        yield f'<text x="{_EDGE}" y="{at}" {font} fill="var(--rg-{ink})">{escaped(line)}</text>'
