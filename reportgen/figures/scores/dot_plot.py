"""Dot plots: rows of dots and intervals, as a picture for a page, a file and a Vega-Lite specification.

As in ``picture``, the root of the inline picture is the plot rectangle and fits any width. Names stand left
of their row and words such as the score right of it (``rg-wide``). Below 480 pixels the style sheet hides
these, shows both above their row instead (``rg-narrow``), takes the margins away (``rg-rows``) and moves what
is drawn in a row (``rg-drawn``) down by ``SHIFT`` pixels: rows are high enough for either.

The dot of a row with its interval is a ``<g class="rg-mark">`` with ``data-rg-tip`` (lines to show at the
pointer), and so is each small dot under it. Everything of a row has ``data-rg-series``.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reportgen.core.model import Figure
from reportgen.figures.axis import position
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import draw_framed, draw_rule, draw_x_axis, draw_x_grid, format_position
from reportgen.figures.plot import Margins
from reportgen.figures.style import (
    LABEL_SIZE,
    TICK_SIZE,
    apply_house_style,
    get_colour,
    resolve_specification,
)
from reportgen.figures.text import break_name, escape_text, isolate_names, measure_text, shorten_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.model import Table
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import FigureText


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


def draw_dot_plot(
    rows: Sequence[Row],
    axis: Axis,
    text: FigureText,
    *,
    table: Table,
    csv: str,
    rule: float | None = None,
    file_title: str = "",
    legend: tuple[tuple[str, int | None], ...] = (),
) -> Figure:
    """The finished figure of rows, from top to bottom; a line down the picture stands at ``rule``."""
    title, how = text.title, text.subtitle
    names = [row.name for row in rows]
    return Figure(
        id=text.id,
        kind=text.kind,
        title=title,
        subtitle=how,
        caption=isolate_names(text.caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=draw_rows(rows, axis, labelled_by=f"{text.id}-title {text.id}-summary", rule=rule),
        file_svg=draw_rows_file(
            rows, axis, title=file_title or title, subtitle=how, source=text.source, rule=rule
        ),
        table=table,
        csv=csv,
        spec=write_rows_spec(rows, axis, title=title, subtitle=how, rule=rule),
        view="",
        payload="",
        numbers=text.numbers,
        legend=legend,
        plot_class=name_rows_class(rows),
    )


def draw_rows(rows: Sequence[Row], axis: Axis, *, labelled_by: str, rule: float | None = None) -> str:
    """The fluid picture for a page; ``labelled_by`` holds the ids of its title and summary."""
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
    bands = _group_rows(rows)
    return sum(band.height for band in bands) + _GAP * (len(bands) - 1) if bands else _ROW


def draw_rows_body(rows: Sequence[Row], axis: Axis, *, rule: float | None = None, alive: bool = True) -> str:
    """The picture's elements, as wide as their place.

    With ``alive`` they have what a page needs to show tips and to isolate series, and narrow variants.
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
    # Which of a few lanes each dot takes, so that dots at nearly one value stay apart.
    order = sorted(range(len(row.dots)), key=lambda place: row.dots[place].value)
    lanes, last = [0] * len(row.dots), [-math.inf] * _LANES
    for place in order:
        x = position(axis, row.dots[place].value) * PIXELS_WIDE
        free = [lane for lane in range(_LANES) if x - last[lane] >= _DOT_ROOM]
        lanes[place] = free[0] if free else last.index(min(last))
        last[lanes[place]] = x
    for dot, lane in zip(row.dots, lanes, strict=True):
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
        yield (
            f'<g class="rg-narrow" display="none"{_write_series_attribute(row)} '
            f'font-size="{LABEL_SIZE}" {ink}>'
        )
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


def _write_series_attribute(row: Row) -> str:
    return f' data-rg-series="{escape_text(row.series or row.name)}"'


def draw_rows_file(
    rows: Sequence[Row], axis: Axis, *, title: str, subtitle: str, source: str, rule: float | None = None
) -> str:
    """Rows as an SVG of fixed size on white, complete with words; fonts are named, not embedded."""
    return draw_framed(
        draw_rows_body(rows, axis, rule=rule, alive=False),
        measure_rows(rows),
        compute_rows_margins(rows),
        title=title,
        subtitle=subtitle,
        source=source,
    )


def write_rows_spec(
    rows: Sequence[Row], axis: Axis, *, title: str, subtitle: str, rule: float | None = None
) -> str:
    """The specification as JSON with a newline at the end: data inside, colours of the light theme.

    The names of the rows differ.
    """
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": PIXELS_WIDE,
        "height": {"step": max((_measure_row(row) for row in rows), default=_ROW)},
        "background": "var(--rg-bg)",
        "data": {"name": "rows"},
        "layer": _make_layers(rows, axis, rule),
        "datasets": {
            "rows": _list_rows(rows),
            "dots": [
                {"name": row.name, "value": dot.value, "text": ", ".join(dot.tip)}
                for row in rows
                for dot in row.dots
            ],
        },
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"


def _make_layers(rows: Sequence[Row], axis: Axis, rule: float | None) -> list[dict[str, Any]]:
    """Bands behind groups, their words, the rule, intervals, hollow and full dots, and runs."""
    names, colours = [row.name for row in rows], [get_colour(row.slot) for row in rows]
    nominal: dict[str, Any] = {"field": "name", "type": "nominal"}
    x = _encode_x(axis)
    y = nominal | {
        "title": None,
        "scale": {"domain": names},
        "axis": {"labelLimit": 320, "ticks": False, "domain": False},
    }
    ink = nominal | {"legend": None, "scale": {"domain": names, "range": colours}}
    layers: list[dict[str, Any]] = [
        {
            "name": "shades",
            "transform": [{"filter": "datum.shaded"}],
            "mark": {"type": "rect", "color": "var(--rg-muted)", "opacity": 0.08},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": y},
        },
        {
            "name": "heads",
            "mark": {"type": "text", "align": "left", "dx": 4, "dy": -10, "color": "var(--rg-muted)"},
            "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "head"}},
        },
    ]
    if rule is not None:
        mark = {"type": "rule", "color": "var(--rg-muted)"}
        layers.append({"name": "rule", "mark": mark, "encoding": {"x": x | {"datum": rule}}})
    layers += [
        {
            "name": "intervals",
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}, "y": y, "color": ink},
        },
        _make_point_layer(x, y, ink),
    ]
    if any(row.dots for row in rows):
        dot = {"type": "circle", "size": 30, "opacity": 0.65, "yOffset": _DOTS_AT}
        placed = {"x": x | {"field": "value"}, "y": y, "color": ink, "tooltip": [{"field": "text"}]}
        layers.append({"name": "dots", "data": {"name": "dots"}, "mark": dot, "encoding": placed})
    return layers


def _encode_x(axis: Axis) -> dict[str, Any]:
    """The axis with the picture's own labels: Vega numbers its ticks from 0 to 1."""
    labels = json.dumps(list(axis.labels), ensure_ascii=False)
    return {
        "type": "quantitative",
        "title": axis.title,
        "scale": {"domain": list(axis.domain), "nice": False, "zero": False},
        "axis": {
            "values": list(axis.ticks),
            "labelExpr": f"{labels}[round(datum.index * {max(0, len(axis.ticks) - 1)})]",
        },
    }


def _make_point_layer(x: dict[str, Any], y: dict[str, Any], ink: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "points",
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "point", "size": 80, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            "x": x | {"field": "value"},
            "y": y,
            "stroke": ink,
            "fill": {"condition": {"test": "datum.hollow", "value": "var(--rg-bg)"}, **ink},
            "tooltip": [{"field": name} for name in ("name", "text", "value", "low", "high", "group")],
        },
    }


def _list_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    words = list(dict.fromkeys(row.group for row in rows if row.group))
    before = ["", *(row.group for row in rows)]
    return [
        {
            "name": row.name,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "text": row.text,
            "hollow": row.hollow or row.low is None,
            "group": row.group,
            "head": row.group if row.group != above else "",
            "shaded": bool(row.group) and words.index(row.group) % 2 == 0,
        }
        for row, above in zip(rows, before, strict=False)
    ]
