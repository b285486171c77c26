"""Rows of dots and intervals: what scores, runs and differences are drawn as.

As in ``picture``, the root of the inline picture is the plot rectangle and fits any width. Names stand left
of their row and words such as the score right of it (``rg-wide``). Below 480 pixels the style sheet hides
these, shows both above their row instead (``rg-narrow``), takes the margins away (``rg-rows``) and moves what
is drawn in a row (``rg-drawn``) down by ``SHIFT`` pixels: rows are high enough for either.

The dot of a row with its interval is a ``<g class="rg-mark">`` with ``data-rg-tip`` (lines to show at the
pointer), and so is each small dot under it. Everything of a row has ``data-rg-series``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.figures.axis import position
from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.picture import get_colour
from reportgen.figures.plot import Margins
from reportgen.figures.row_names import break_name, shorten_name
from reportgen.figures.svg_text import escape_text
from reportgen.figures.text_width import measure_text
from reportgen.figures.x_axis import draw_rule, draw_x_axis, draw_x_grid, format_position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.axis import Axis

SHIFT = 7
"""Pixels by which the style sheet moves a row's dots down where its name stands above them."""
_ROW, _ROW_WITH_DOTS = 36, 52
_CENTRE = 18
_HEAD, _GAP = 22, 6
_LINE = 15
_DOTS_AT, _LANE, _LANES, _DOT_ROOM = 12, 6, 3, 7.0


@dataclass(frozen=True, slots=True)
class RowDot:
    """A small dot under a row's interval, such as one run; ``tip`` is shown at the pointer, line by line."""

    value: float
    tip: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a picture.

    Attributes:
        name: the words left of it.
        slot: palette slot; None is the muted grey.
        text: the words right of it, such as its score; without a dot they stand in its place.
        value: where the dot stands, in the unit of the axis; None where there is nothing to draw.
        low, high: the ends of the interval; None where there is none, the dot is then hollow.
        tip: what is shown at the pointer, line by line.
        series: the series that a click isolates; the name if empty.
        group: rows that follow each other with one word here share a band under that word, such as a group.
        dots: small dots under the interval, such as runs.
        hollow: draw a hollow dot although there is an interval.
    """

    name: str
    slot: int | None
    text: str
    value: float | None
    low: float | None
    high: float | None
    tip: tuple[str, ...]
    series: str = ""
    group: str = ""
    dots: tuple[RowDot, ...] = ()
    hollow: bool = False


def draw_rows(rows: Sequence[Row], axis: Axis, *, labelled_by: str, rule: float | None = None) -> str:
    """The fluid picture for a page.

    Args:
        rows: from top to bottom.
        axis: of their values.
        labelled_by: ids of the picture's title and summary.
        rule: draw a line down the picture at this value, such as no difference.
    """
    return (
        f'<svg class="rg-picture" role="img" aria-labelledby="{escape_text(labelled_by)}" width="100%" '
        f'height="{measure_rows(rows)}" font-size="{TICK_SIZE}">{draw_rows_body(rows, axis, rule=rule)}</svg>'
    )


def name_rows_class(rows: Sequence[Row]) -> str:
    """The CSS classes that give the plot of these rows its margins."""
    room = compute_rows_margins(rows)
    return f"rg-rows rg-left-{room.left} rg-right-{room.right}"


def compute_rows_margins(rows: Sequence[Row]) -> Margins:
    """Room for names at the left, words at the right, and the axis below."""
    names = [measure_text(line, LABEL_SIZE) for row in rows for line in break_name(row.name)]
    words = [measure_text(row.text, LABEL_SIZE) for row in rows]
    left, right = (8 * math.ceil((max(widths, default=0) + 12) / 8) for widths in (names, words))
    return Margins(top=8, right=min(200, max(16, right)), bottom=44, left=min(200, max(16, left)))


def measure_rows(rows: Sequence[Row]) -> int:
    """Pixels from the top of the first row to the axis."""
    return (
        sum(band.height for band in _group_rows(rows)) + _GAP * (len(_group_rows(rows)) - 1) if rows else _ROW
    )


def draw_rows_body(rows: Sequence[Row], axis: Axis, *, rule: float | None = None, alive: bool = True) -> str:
    """The picture's elements, as wide as their place.

    Args:
        rows: from top to bottom.
        axis: of their values.
        rule: see ``draw_rows``.
        alive: with what a page needs to show tips and to isolate series, and narrow variants.
    """
    height = measure_rows(rows)
    shades, words = _draw_shades(rows)
    parts = [shades, *draw_x_grid(axis, height), *draw_rule(axis, height, rule), words]
    top = 0
    for band in _group_rows(rows):
        y = top + (_HEAD if band.word else 0)
        for row in band.rows:
            parts += _draw_row(row, axis, y, alive=alive)
            y += _measure_row(row)
        top += band.height + _GAP
    return "".join([*parts, *draw_x_axis(axis, height)])


@dataclass(frozen=True, slots=True)
class _Band:
    word: str
    shaded: bool
    rows: tuple[Row, ...]
    height: int


def _group_rows(rows: Sequence[Row]) -> list[_Band]:
    """Rows that follow each other with one word; every second word is shaded."""
    words = list(dict.fromkeys(row.group for row in rows if row.group))
    stretches: list[list[Row]] = []
    for row in rows:
        if stretches and stretches[-1][-1].group == row.group:
            stretches[-1].append(row)
        else:
            stretches.append([row])
    return [
        _Band(
            word=(word := stretch[0].group),
            shaded=bool(word) and words.index(word) % 2 == 0,
            rows=tuple(stretch),
            height=sum(map(_measure_row, stretch)) + (_HEAD if word else 0),
        )
        for stretch in stretches
    ]


def _measure_row(row: Row) -> int:
    return _ROW_WITH_DOTS if row.dots else _ROW


def _draw_shades(rows: Sequence[Row]) -> tuple[str, str]:
    """The bands, and their words, which stand in front of the grid."""
    top, shades, words = 0, [], []
    for band in _group_rows(rows):
        if band.shaded:
            shades.append(f'<rect y="{top}" width="100%" height="{band.height}" rx="4"/>')
        if band.word:
            words.append(f'<text x="8" y="{top + 15}">{escape_text(band.word)}</text>')
        top += band.height + _GAP
    return (
        f'<g class="rg-tiers" fill="var(--rg-muted)" fill-opacity=".08">{"".join(shades)}</g>',
        f'<g class="rg-tier-words" fill="var(--rg-muted)">{"".join(words)}</g>',
    )


def _draw_row(row: Row, axis: Axis, top: int, *, alive: bool) -> Iterator[str]:
    middle = top + _CENTRE
    yield from _draw_words(row, top, alive=alive)
    yield _draw_mark(row, row.tip, "".join(_draw_interval(row, axis, middle)), alive=alive)
    for dot, lane in zip(row.dots, _choose_lanes(row.dots, axis), strict=True):
        circle = (
            f'<circle cx="{format_position(axis, dot.value)}" cy="{middle + _DOTS_AT + lane * _LANE}" r="3" '
            f'fill="{get_colour(row.slot)}" fill-opacity=".65"/>'
        )
        yield _draw_mark(row, dot.tip, circle, alive=alive)


def _draw_mark(row: Row, tip: Sequence[str], drawn: str, *, alive: bool) -> str:
    if not alive:
        return drawn
    lines = "&#10;".join(escape_text(" ".join(line.split())) for line in tip)
    return f'<g class="rg-mark rg-drawn" data-rg-tip="{lines}"{_write_series_attribute(row)}>{drawn}</g>'


def _draw_words(row: Row, top: int, *, alive: bool) -> Iterator[str]:
    """The name and the words of a row: beside it, and for a narrow picture above it."""
    lines, ink = break_name(row.name), 'fill="var(--rg-text)"'
    first = top + _CENTRE + 4.5 - (len(lines) - 1) * _LINE / 2
    right = "" if row.value is None else escape_text(row.text)
    kind = f' class="rg-wide"{_write_series_attribute(row)}' if alive else ""
    yield f'<g{kind} font-size="{LABEL_SIZE}" {ink}>'
    for number, line in enumerate(lines):
        yield f'<text x="-12" y="{first + number * _LINE:g}" text-anchor="end">{escape_text(line)}</text>'
    yield f'<text x="100%" dx="12" y="{top + _CENTRE + 4.5:g}">{right}</text></g>'
    if alive:
        short = shorten_name(row.name, "" if row.value is None else row.text)
        yield f'<g class="rg-narrow" display="none"{_write_series_attribute(row)} font-size="{LABEL_SIZE}" {ink}>'
        yield f'<text x="8" y="{top + 14}">{escape_text(short)}</text>'
        yield f'<text x="100%" dx="-8" y="{top + 14}" text-anchor="end">{right}</text></g>'


def _draw_interval(row: Row, axis: Axis, y: int) -> Iterator[str]:
    if row.value is None:
        yield f'<text x="8" y="{y + 4.5}" fill="var(--rg-muted)">{escape_text(row.text)}</text>'
        return
    ink, hollow = get_colour(row.slot), row.hollow or row.low is None
    if row.low is not None and row.high is not None:
        ends = f'x1="{format_position(axis, row.low)}" x2="{format_position(axis, row.high)}"'
        yield f'<line class="rg-interval" {ends} y1="{y}" y2="{y}" stroke="{ink}" stroke-width="2"/>'
    fill, edge = ("var(--rg-bg)", ink) if hollow else (ink, "var(--rg-bg)")
    size = 'r="4.5" stroke-width="2"' if hollow else 'r="5.5" stroke-width="1.5"'
    yield f'<circle cx="{format_position(axis, row.value)}" cy="{y}" {size} fill="{fill}" stroke="{edge}"/>'


def _choose_lanes(dots: Sequence[RowDot], axis: Axis) -> list[int]:
    """Which of a few lanes each dot takes, so that dots at nearly one value stay apart."""
    order = sorted(range(len(dots)), key=lambda place: dots[place].value)
    lanes, last = [0] * len(dots), [-math.inf] * _LANES
    for place in order:
        x = position(axis, dots[place].value) * PIXELS_WIDE
        free = [lane for lane in range(_LANES) if x - last[lane] >= _DOT_ROOM]
        lanes[place] = free[0] if free else last.index(min(last))
        last[lanes[place]] = x
    return lanes


def _write_series_attribute(row: Row) -> str:
    return f' data-rg-series="{escape_text(row.series or row.name)}"'
