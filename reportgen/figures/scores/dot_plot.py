"""Dot plots: rows of dots and intervals as a picture for a page, a file and a Vega-Lite specification.

As in ``picture``, the root of the inline picture is the plot rectangle and fits any width. Names are left of
their row, text such as the score right of it (``rg-wide``). Below 480 pixels the style sheet hides these,
shows both above the row instead (``rg-narrow``), removes the margins (``rg-rows``) and moves the marks of a
row (``rg-drawn``) down by ``SHIFT`` pixels: rows are high enough for either.

The dot of a row with its interval is a ``<g class="rg-mark">`` with ``data-rg-tip`` (lines of the tooltip),
and so is each small dot under it. Everything in a row has ``data-rg-series``.
"""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from reportgen.core.model import Figure
from reportgen.figures.axis import position
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import (
    Frame,
    draw_framed,
    draw_x_axis,
    draw_x_grid,
    format_position,
    set_into_page,
)
from reportgen.figures.plot import Margins
from reportgen.figures.style import LABEL_SIZE, apply_house_style, get_colour, resolve_specification
from reportgen.figures.text import (
    NARROWEST,
    break_name,
    escape_text,
    isolate_names,
    measure_text,
    shorten_name,
)
from reportgen.figures.value_axis import draw_row_reference, list_reference_layers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.model import Table
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import FigureText, Mark


SHIFT = 7
"""Pixels by which the style sheet moves a row's dots down if its name is above them."""
_ROW, _ROW_WITH_DOTS, _ROW_WITH_BEFORE, _ROW_WITH_BINS = 36, 52, 50, 84
# Pixels from the middle of a row without bins to the ground of its bins, and from there to its dot.
_GROUND, _BINS_HIGH, _UNDER_BINS = 42, 40, 12
_BELOW, _BAR = 14, 16
_CENTRE = 18
_HEAD, _GAP = 22, 6
_LINE = 15
_DOTS_AT, _LANE, _LANES, _DOT_ROOM = 12, 6, 3, 7.0
_NARROW = Margins(top=0, right=16, bottom=44, left=16)
Layout: TypeAlias = Literal["page", "wide", "narrow"]
"""Where a row has its words: at its sides, above it, or both in a page, whose style sheet hides one."""
# Marks of the specification.
_SHADE = {"type": "rect", "color": "var(--rg-muted)", "opacity": 0.08}
_HEADING = {"type": "text", "align": "left", "dx": 4, "dy": -10, "color": "var(--rg-muted)"}
_RULE = {"type": "rule", "color": "var(--rg-muted)"}
_INTERVAL = {"type": "rule", "strokeWidth": 2}
_BAR_MARK = {"type": "bar", "opacity": 0.3, "height": _BAR}
_POINT = {"type": "point", "size": 80, "strokeWidth": 2, "opacity": 1}
_DOT = {"type": "circle", "size": 30, "opacity": 0.65, "yOffset": _DOTS_AT}


class RowDot(Struct, frozen=True):
    """Small dot under a row's interval, such as one run; ``tip`` holds the lines of its tooltip."""

    value: float
    tip: tuple[str, ...]


class RowBin(Struct, frozen=True):
    """Bar of a histogram above a row's interval; ``height`` is a fraction of the tallest of all rows."""

    start: float
    end: float
    height: float
    tip: tuple[str, ...]


class Before(Struct, frozen=True):
    """A row's dot and interval in an earlier state."""

    value: float
    low: float | None
    high: float | None


class Row(Struct, frozen=True):
    """One row of a picture; values are in the unit of the axis."""

    name: str  # text left of the row
    slot: int | None  # palette slot; None is the muted grey
    text: str  # text right of the row, such as its score; replaces the dot if there is none
    value: float | None  # position of the dot; None if there is nothing to draw
    low: float | None  # ends of the interval; None without one, which makes the dot hollow
    high: float | None
    tip: tuple[str, ...]  # lines of the tooltip
    series: str = ""  # the series that a click isolates; the name if empty
    group: str = ""  # consecutive rows of one group share a band with this heading
    dots: tuple[RowDot, ...] = ()
    hollow: bool = False  # draw a hollow dot even with an interval
    full: bool = False  # draw a full dot even without an interval
    before: Before | None = None  # the earlier value, above it in hollow grey
    bar: bool = False  # draw a bar from 0 to the value, behind the interval
    bins: tuple[RowBin, ...] = ()


def draw_dot_plot(
    rows: Sequence[Row],
    axis: Axis,
    text: FigureText,
    *,
    table: Table,
    csv: str,
    rule: float | None = None,
    references: Sequence[Mark] = (),
    file_title: str = "",
    legend: tuple[tuple[str, int | None], ...] = (),
) -> Figure:
    """Draw the figure of rows, from top to bottom, with vertical lines at ``rule`` and of the author."""
    title, how, source = text.title, text.subtitle, f"Source: {text.source}"
    names, height = [row.name for row in rows], measure_rows(rows)
    draw = partial(_draw_body, rows, axis, rule=rule, references=references)
    frame = Frame(file_title or title, how, source)
    return Figure(
        id=text.id,
        kind=text.kind,
        title=title,
        subtitle=how,
        caption=isolate_names(text.caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=set_into_page(draw(layout="page"), height, f"{text.id}-title {text.id}-summary"),
        file_svg=draw_framed(draw(layout="wide"), height, compute_rows_margins(rows), frame),
        table_data=table,
        csv=csv,
        spec=_write_spec(rows, title, how, _make_layers(rows, axis, rule, references)),
        view="",
        payload="",
        numbers_data=text.numbers,
        legend=legend,
        plot_class=name_rows_class(rows),
    )


def draw_rows(rows: Sequence[Row], axis: Axis, *, labelled_by: str, rule: float | None) -> str:
    """Draw the fluid picture for a page; ``labelled_by`` holds the ids of its title and summary."""
    return set_into_page(_draw_body(rows, axis, rule=rule, layout="page"), measure_rows(rows), labelled_by)


def draw_narrow_rows(
    rows: Sequence[Row], axis: Axis, frame: Frame, *, room: int, rule: float | None = None
) -> str:
    """Draw rows as a complete SVG with ``room`` pixels inside its frame; the words of a row are above it."""
    body = _draw_body(rows, axis, rule=rule, layout="narrow", room=room)
    across = room - _NARROW.left - _NARROW.right
    return draw_framed(body, measure_rows(rows), _NARROW, frame, across=across)


def name_rows_class(rows: Sequence[Row]) -> str:
    """Return the CSS classes for the margins of these rows."""
    room = compute_rows_margins(rows)
    return f"rg-rows rg-left-{room.left} rg-right-{room.right}"


def compute_rows_margins(rows: Sequence[Row]) -> Margins:
    """Compute the margins for names at the left, text at the right, and the axis below."""
    names = [measure_text(line, LABEL_SIZE) for row in rows for line in break_name(row.name)]
    words = [measure_text(row.text, LABEL_SIZE) for row in rows]
    left, right = (8 * math.ceil((max(widths, default=0) + 12) / 8) for widths in (names, words))
    return Margins(top=8, right=min(200, max(16, right)), bottom=44, left=min(200, max(16, left)))


def measure_rows(rows: Sequence[Row]) -> int:
    """Return the pixels from the top of the first row to the axis."""
    return max((band.top + band.height for band in _list_bands(rows)), default=_ROW)


class _Band(Struct, frozen=True):
    word: str
    shaded: bool
    rows: tuple[Row, ...]
    top: int
    height: int


def _list_bands(rows: Sequence[Row]) -> list[_Band]:
    """List the consecutive rows of each group; every second group is shaded."""
    words = list(dict.fromkeys(row.group for row in rows if row.group))
    bands: list[_Band] = []
    for word, stretch in groupby(rows, key=lambda row: row.group):
        members = tuple(stretch)
        top = bands[-1].top + bands[-1].height + _GAP if bands else 0
        height = sum(map(_measure_row, members)) + (_HEAD if word else 0)
        bands.append(_Band(word, bool(word) and words.index(word) % 2 == 0, members, top, height))
    return bands


def _measure_row(row: Row) -> int:
    if row.bins:
        return _ROW_WITH_BINS
    return _ROW_WITH_DOTS if row.dots else _ROW_WITH_BEFORE if row.before else _ROW


def _draw_body(
    rows: Sequence[Row],
    axis: Axis,
    *,
    rule: float | None,
    layout: Layout,
    room: float = NARROWEST,
    references: Sequence[Mark] = (),
) -> str:
    """Draw the elements of the fluid picture; ``room`` is that of words above their row.

    In a page, they have tooltips, and series to isolate.
    """
    height, bands = measure_rows(rows), _list_bands(rows)
    # Bands are drawn behind the grid, their headings in front of it.
    parts = ['<g class="rg-tiers" fill="var(--rg-muted)" fill-opacity=".08">']
    parts += [f'<rect y="{b.top}" width="100%" height="{b.height}" rx="4"/>' for b in bands if b.shaded]
    parts += ["</g>", *draw_x_grid(axis, height)]
    if rule is not None:
        x = format_position(axis, rule)
        parts.append(f'<line class="rg-zero" x1="{x}" x2="{x}" y2="{height}" stroke="var(--rg-muted)"/>')
    parts += (draw_row_reference(axis, mark, height) for mark in references)
    parts.append('<g class="rg-tier-words" fill="var(--rg-muted)">')
    parts += [f'<text x="8" y="{b.top + 15}">{escape_text(b.word)}</text>' for b in bands if b.word]
    parts.append("</g>")
    for band in bands:
        y = band.top + (_HEAD if band.word else 0)
        for row in band.rows:
            parts += _draw_words(row, y, layout, room)
            parts += _draw_marks(row, axis, y + _CENTRE + SHIFT * (layout == "narrow"), layout)
            y += _measure_row(row)
    return "".join([*parts, *draw_x_axis(axis, height)])


def _draw_words(row: Row, top: int, layout: Layout, room: float) -> Iterator[str]:
    """Draw the name and text of a row at its sides, above it, or both."""
    lines, font = break_name(row.name), f'font-size="{LABEL_SIZE}" fill="var(--rg-text)"'
    baseline = top + _CENTRE + 4.5 + (_BELOW / 2 if row.before else 0)
    first = baseline - (len(lines) - 1) * _LINE / 2
    right = escape_text(row.text) if _has_marks(row) else ""
    series = _write_series_attribute(row)
    if layout != "narrow":
        wide = f' class="rg-wide"{series}' if layout == "page" else ""
        yield f"<g{wide} {font}>"
        for number, line in enumerate(lines):
            yield f'<text x="-12" y="{first + number * _LINE:g}" text-anchor="end">{escape_text(line)}</text>'
        yield f'<text x="100%" dx="12" y="{baseline:g}">{right}</text></g>'
    if layout != "wide":
        short = shorten_name(row.name, row.text if _has_marks(row) else "", room)
        narrow = f' class="rg-narrow" display="none"{series}' if layout == "page" else ""
        # Without a style sheet the words are as wide as the margins, and the grid must not cross them.
        inset = 8 if layout == "page" else -_NARROW.left
        font += "" if layout == "page" else ' stroke="var(--rg-bg)" stroke-width="6" paint-order="stroke"'
        yield f"<g{narrow} {font}>"
        yield f'<text x="{inset}" y="{top + 14}">{escape_text(short)}</text>'
        yield f'<text x="100%" dx="{-inset}" y="{top + 14}" text-anchor="end">{right}</text></g>'


def _has_marks(row: Row) -> bool:
    return row.value is not None or row.before is not None


def _write_series_attribute(row: Row) -> str:
    return f' data-rg-series="{escape_text(row.series or row.name)}"'


def _draw_marks(row: Row, axis: Axis, middle: int, layout: Layout) -> Iterator[str]:
    """Draw the dot of a row with its interval below its earlier value, and its small dots."""
    ink, before = get_colour(row.slot), row.before
    hollow = row.hollow or (row.low is None and not row.full)
    mark = f'<text x="8" y="{middle + 4.5}" fill="var(--rg-muted)">{escape_text(row.text)}</text>'
    ground, middle = middle + _GROUND, middle + (_GROUND + _UNDER_BINS if row.bins else 0)
    if before:
        mark = _draw_dot(axis, (before.value, before.low, before.high), middle, get_colour(None), hollow=True)
        middle += _BELOW
    if row.value is not None:
        after = _draw_dot(axis, (row.value, row.low, row.high), middle, ink, hollow=hollow)
        if row.bar:
            left, right = sorted((position(axis, 0), position(axis, row.value)))
            start = format_position(axis, min(0, row.value))
            where = (
                f'x="{start}" y="{middle - _BAR // 2}" width="{100 * (right - left):.3f}%" height="{_BAR}"'
            )
            after = f'<rect {where} fill="{ink}" fill-opacity=".3"/>{after}'
        mark = f"{mark}{after}" if before else after
    marks = [(row.tip, mark)]
    # Lane of each dot, so that dots with close values do not overlap.
    lanes, last = [0] * len(row.dots), [-math.inf] * _LANES
    for place in sorted(range(len(row.dots)), key=lambda place: row.dots[place].value):
        x = position(axis, row.dots[place].value) * PIXELS_WIDE
        free = [lane for lane in range(_LANES) if x - last[lane] >= _DOT_ROOM]
        lanes[place] = free[0] if free else last.index(min(last))
        last[lanes[place]] = x
    for dot, lane in zip(row.dots, lanes, strict=True):
        centre = f'cx="{format_position(axis, dot.value)}" cy="{middle + _DOTS_AT + lane * _LANE}"'
        marks.append((dot.tip, f'<circle {centre} r="3" fill="{ink}" fill-opacity=".65"/>'))
    marks += ((one.tip, _draw_bin(axis, one, ground, ink)) for one in row.bins)
    for tip, drawn in marks:
        lines = "&#10;".join(escape_text(" ".join(line.split())) for line in tip)
        data = f'data-rg-tip="{lines}"{_write_series_attribute(row)}'
        yield f'<g class="rg-mark rg-drawn" {data}>{drawn}</g>' if layout == "page" else drawn


def _draw_bin(axis: Axis, one: RowBin, ground: int, ink: str) -> str:
    left, right = (position(axis, end) for end in (one.start, one.end))
    size = f'width="{100 * (right - left):.3f}%" height="{one.height * _BINS_HIGH:.4g}"'
    place = f'x="{100 * left:.6g}%" y="{ground - one.height * _BINS_HIGH:.5g}"'
    look = f'fill="{ink}" fill-opacity=".45" stroke="var(--rg-bg)"'
    return f"<rect {place} {size} {look}/>"


def _draw_dot(
    axis: Axis, estimate: tuple[float, float | None, float | None], middle: int, ink: str, *, hollow: bool
) -> str:
    """A value, full or hollow, on its interval if it has one."""
    value, low, high = estimate
    fill, edge = ("var(--rg-bg)", ink) if hollow else (ink, "var(--rg-bg)")
    size = 'r="4.5" stroke-width="2"' if hollow else 'r="5.5" stroke-width="1.5"'
    centre = f'cx="{format_position(axis, value)}" cy="{middle}"'
    dot = f'<circle {centre} {size} fill="{fill}" stroke="{edge}"/>'
    if low is None or high is None:
        return dot
    ends = f'x1="{format_position(axis, low)}" x2="{format_position(axis, high)}"'
    stroke = f'y1="{middle}" y2="{middle}" stroke="{ink}" stroke-width="2"'
    return f'<line class="rg-interval" {ends} {stroke}/>{dot}'


def _write_spec(rows: Sequence[Row], title: str, subtitle: str, layers: list[dict[str, Any]]) -> str:
    """Write the specification as JSON with a trailing newline, inline data and colours of the light theme.

    Row names must be unique.
    """
    data = [
        {
            "name": row.name,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "text": row.text,
            "hollow": row.hollow or row.low is None,
            "group": row.group,
            "head": band.word if index == 0 else "",
            "shaded": band.shaded,
            **({"zero": 0} if row.bar else {}),
        }
        for band in _list_bands(rows)
        for index, row in enumerate(band.rows)
    ]
    dots = [
        {"name": row.name, "value": dot.value, "text": ", ".join(dot.tip)} for row in rows for dot in row.dots
    ]
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": PIXELS_WIDE,
        "height": {"step": max((_measure_row(row) for row in rows), default=_ROW)},
        "background": "var(--rg-bg)",
        "data": {"name": "rows"},
        "layer": layers,
        "datasets": {"rows": data, "dots": dots},
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"


def _make_layers(
    rows: Sequence[Row], axis: Axis, rule: float | None, references: Sequence[Mark]
) -> list[dict[str, Any]]:
    """Make layers of group bands, headings, rule, intervals, hollow and filled dots, and runs."""
    # The axis has the picture's own labels: Vega numbers its ticks from 0 to 1.
    labels, last = json.dumps(list(axis.labels), ensure_ascii=False), max(0, len(axis.ticks) - 1)
    ticks = {"values": list(axis.ticks), "labelExpr": f"{labels}[round(datum.index * {last})]"}
    scale = {"domain": list(axis.domain), "nice": False, "zero": False}
    x: dict[str, Any] = {"type": "quantitative", "title": axis.title, "scale": scale, "axis": ticks}
    names, colours = [row.name for row in rows], [get_colour(row.slot) for row in rows]
    nominal: dict[str, Any] = {"field": "name", "type": "nominal"}
    outline = {"labelLimit": 320, "ticks": False, "domain": False}
    y = nominal | {"title": None, "scale": {"domain": names}, "axis": outline}
    ink = nominal | {"legend": None, "scale": {"domain": names, "range": colours}}
    fill = {"condition": {"test": "datum.hollow", "value": "var(--rg-bg)"}, **ink}
    tip = [{"field": name} for name in ("name", "text", "value", "low", "high", "group")]

    def layer(name: str, mark: dict[str, Any], known: str = "", **encoding: object) -> dict[str, Any]:
        only = {"transform": [{"filter": known}]} if known else {}
        return {"name": name, **only, "mark": mark, "encoding": encoding}

    low, value = x | {"field": "low"}, x | {"field": "value"}
    layers = [
        layer("shades", _SHADE, "datum.shaded", x={"value": 0}, x2={"value": "width"}, y=y),
        layer("heads", _HEADING, x={"value": 0}, y=y, text={"field": "head"}),
        *([layer("rule", _RULE, x=x | {"datum": rule})] if rule is not None else []),
        *list_reference_layers(references, {"y": ("x", x)}),
        *(
            [layer("bars", _BAR_MARK, x={**value, "field": "zero"}, x2={"field": "value"}, y=y, color=ink)]
            if any(row.bar for row in rows)
            else []
        ),
        layer("intervals", _INTERVAL, "isValid(datum.low)", x=low, x2={"field": "high"}, y=y, color=ink),
        layer("points", _POINT, "isValid(datum.value)", x=value, y=y, stroke=ink, fill=fill, tooltip=tip),
    ]
    if any(row.dots for row in rows):
        runs = layer("dots", _DOT, x=value, y=y, color=ink, tooltip=[{"field": "text"}])
        layers.append({"name": "dots", "data": {"name": "dots"}} | runs)
    return layers
