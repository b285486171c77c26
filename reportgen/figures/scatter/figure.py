"""The ``scatter`` block: a point for each series over two measures, with intervals of both.

The picture is made of marks, as in ``scores/dot_plot``: a point is a ``<g class="rg-mark">`` with
``data-rg-tip``, and so is each run; ``data-rg-series`` is on everything that a click isolates.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.core.model import Figure
from reportgen.figures.curves.plotting import compute_margins
from reportgen.figures.labels import place_labels, place_names_of_groups
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import Frame, draw_framed, format_position, set_into_page
from reportgen.figures.plot import FigureText, Mark, Plot, SeriesLine, describe_source
from reportgen.figures.scatter.fit import draw_ground, list_fit_layers, make_fit_line
from reportgen.figures.scatter.words import ScatterWords
from reportgen.figures.style import apply_house_style, get_colour, pick_slots, resolve_specification
from reportgen.figures.text import escape_text, isolate_names, write_table_csv
from reportgen.figures.value_axis import list_reference_layers, make_references, make_value_axis

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.model import Table
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import SourceContext
    from reportgen.figures.scatter.words import Scatter, ScatterPoint
    from reportgen.settings.score_blocks import ScatterSettings, SweepSettings


_PAD = 0.06
_HALO = 'stroke="var(--rg-bg)" stroke-width="3" paint-order="stroke"'
_COLUMNS = ("series", "run", "x", "x_low", "x_high", "y", "y_low", "y_high", "n", "front")


def draw_scatter(
    block_id: str, settings: ScatterSettings, scatter: Scatter, context: SourceContext
) -> Figure:
    """Draw a scatter plot of series, with their names at their points where there is room."""
    words = ScatterWords(settings, scatter, context)
    text = FigureText(
        id=block_id,
        kind="scatter",
        title=words.title,
        subtitle=words.subtitle,
        caption=words.write_caption(),
        summary=words.write_summary(),
        source=describe_source(context),
        numbers=words.collect_numbers(),
    )
    csv = write_table_csv(_COLUMNS, _list_records(scatter))
    return draw_points(text, words, table=words.build_table(), csv=csv)


def draw_points(text: FigureText, words: ScatterWords, *, table: Table, csv: str) -> Figure:
    """Draw the points of a scatter plot, or of a sweep, whose points need no names."""
    settings, scatter = words.settings, words.scatter
    plot = _make_plot(text.id, settings, scatter, words.context)
    names = [point.series for point in scatter.points]
    frame = Frame(text.title, text.subtitle, f"Source: {text.source}")
    caption = " ".join(filter(None, (_describe_names(plot, scatter), text.caption)))
    labelled_by = f"{text.id}-title {text.id}-summary"
    return Figure(
        id=text.id,
        kind=text.kind,
        title=text.title,
        subtitle=text.subtitle,
        caption=isolate_names(caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=set_into_page(_draw(plot, scatter, words, page=True), plot.height, labelled_by),
        file_svg=draw_framed(_draw(plot, scatter, words, page=False), plot.height, plot.margins, frame),
        table_data=table,
        csv=csv,
        spec=_write_spec(plot, scatter, text.title, text.subtitle),
        view="",
        payload="",
        numbers_data=text.numbers,
        plot_class=f"rg-left-{plot.margins.left} rg-right-{plot.margins.right}",
    )


def _list_records(scatter: Scatter) -> Iterator[tuple[object, ...]]:
    for point in scatter.points:
        x, y = point.x, point.y
        front = "" if scatter.front is None else "shown" if point.series in scatter.front else "not shown"
        yield (point.series, "", x.value, x.low, x.high, y.value, y.low, y.high, y.n, front)
        yield from (
            (point.series, run, at, None, None, value, None, None, 1, "") for run, at, value in point.runs
        )


def _make_plot(
    block_id: str, settings: ScatterSettings | SweepSettings, scatter: Scatter, context: SourceContext
) -> Plot:
    """Make the axes, and place the names of series at their points."""
    points = scatter.points
    x_values, y_values = (_list_ends(points, name, place) for place, name in enumerate("xy"))
    x_title, y_title = settings.x_title or scatter.x_title, settings.y_title or scatter.y_title
    x_axis = make_value_axis(x_values, x_title, settings, "x", context, pad=_PAD)
    y_axis = make_value_axis(y_values, y_title, settings, "y", context, pad=_PAD, percent=scatter.percent)
    slots = pick_slots(tuple(dict.fromkeys(one.colour or one.series for one in points)), context.slots)
    lines, marks = [], []
    for point in points:
        x, y, slot = point.x, point.y, slots[point.colour or point.series]
        # Lines are what names must not cover: both intervals.
        steps = np.array([x.value if end is None else end for end in (x.low, x.value, x.high)])
        low, high = (np.array([np.nan, np.nan if end is None else end, np.nan]) for end in (y.low, y.high))
        lines.append(SeriesLine(point.series, slot, steps, np.full(3, y.value), low, high, np.full(3, y.n)))
        marks.append(Mark(point.series if scatter.names else "", x.value, y.value, slot, point.series))
    if scatter.fit:
        lines.append(make_fit_line(scatter.fit))
    plot = Plot(
        id=block_id,
        x=x_axis,
        y=y_axis,
        lines=tuple(lines),
        margins=compute_margins(y_axis, ()),
        height=settings.height,
        symbols=False,
        clip=False,
        band="none",
        whiskers=True,
        references=make_references(settings.reference),
        annotations=tuple(marks),
    )
    groups = [point.colour for point in points]
    return place_names_of_groups(plot, groups) if scatter.names else place_labels(plot)


def _describe_names(plot: Plot, scatter: Scatter) -> str:
    """Return where the names of points are that have no room in the picture."""
    count = sum(mark.label is None for mark in plot.annotations) if scatter.names else 0
    if not count:
        return ""
    where = "point at it or see the data table"
    if any(mark.text != mark.series for mark in plot.annotations):
        return f"Each colour is named once; for the name of a dot, {where}."
    return f"No room for the names of {count} of {len(scatter.points)} dots; for the name of a dot, {where}."


def _list_ends(points: Sequence[ScatterPoint], name: str, place: int) -> list[float]:
    """List all values of x or y: means, ends of intervals, and values of runs."""
    estimates = [getattr(point, name) for point in points]
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    return ends + [run[1 + place] for point in points for run in point.runs]


def _draw(plot: Plot, scatter: Scatter, words: ScatterWords, *, page: bool) -> str:
    """Draw axes, front, intervals, runs, points and names; tooltips only in a page."""
    ground = draw_ground(plot, scatter.fit)
    on_front = sorted(
        (point.x.value, point.y.value) for point in scatter.points if point.series in (scatter.front or ())
    )
    # Steps: between two of its series nothing is better than the worse of both.
    front = ['<g class="rg-front" stroke="var(--rg-muted)" stroke-dasharray="4 3">']
    for first, second in pairwise(on_front):
        worse = [
            (min if way else max)(pair)
            for way, pair in zip(scatter.ways, zip(first, second, strict=True), strict=True)
        ]
        for start, end in ((first, worse), (worse, second)):
            ends = ((f"x{n}", f"y{n}", one) for n, one in ((1, start), (2, end)))
            front.append(f"<line {' '.join(_write_place(plot, *one) for one in ends)}/>")
    return "".join([ground, *front, "</g>", *_draw_marks(plot, scatter, words, page=page)])


def _write_place(plot: Plot, across: str, down: str, point: Sequence[float]) -> str:
    return f'{across}="{format_position(plot.x, point[0])}" {down}="{plot.find_pixel(point[1]):.4g}"'


def _draw_marks(plot: Plot, scatter: Scatter, words: ScatterWords, *, page: bool) -> Iterator[str]:
    rows = list(zip(scatter.points, plot.annotations, strict=True))

    def wrap(drawn: str, point: ScatterPoint, tip: Sequence[str] = ()) -> str:
        if not page:
            return drawn
        series = f'data-rg-series="{escape_text(point.series)}"'
        lines = "&#10;".join(escape_text(" ".join(line.split())) for line in tip)
        return (
            f'<g class="rg-mark" data-rg-tip="{lines}" {series}>{drawn}</g>'
            if tip
            else f"<g {series}>{drawn}</g>"
        )

    for point, mark in rows:
        ink, (x, y) = get_colour(mark.slot), (point.x, point.y)
        drawn = ""
        if x.low is not None and x.high is not None:
            drawn += _draw_interval(plot, (x.low, y.value), (x.high, y.value), ink)
        if y.low is not None and y.high is not None:
            drawn += _draw_interval(plot, (x.value, y.low), (x.value, y.high), ink)
        yield wrap(f"{drawn}{draw_name(plot, mark)}", point)
    for point, mark in rows:
        fill = f'fill="{get_colour(mark.slot)}" fill-opacity=".45"'
        for run in point.runs:
            drawn = f'<circle {_write_place(plot, "cx", "cy", run[1:])} r="3" {fill}/>'
            yield wrap(drawn, point, words.write_run_tip(point, run))
    for point, mark in rows:
        ink, known = get_colour(mark.slot), point.y.low is not None or point.x.low is not None
        look = f'r="5.5" fill="{ink}" stroke="var(--rg-bg)" stroke-width="1.5"'
        look = look if known else f'r="4.5" fill="var(--rg-bg)" stroke="{ink}" stroke-width="2"'
        place = _write_place(plot, "cx", "cy", (point.x.value, point.y.value))
        yield wrap(f"<circle {place} {look}/>", point, words.write_tip(point))


def _draw_interval(plot: Plot, start: Sequence[float], end: Sequence[float], ink: str) -> str:
    ends = f"{_write_place(plot, 'x1', 'y1', start)} {_write_place(plot, 'x2', 'y2', end)}"
    return f'<line {ends} stroke="{ink}" stroke-width="1.5"/>'


def draw_name(plot: Plot, mark: Mark) -> str:
    """Draw the placed name of a point."""
    label = mark.label
    if label is None or mark.x is None or mark.y is None:
        return ""
    x, y = format_position(plot.x, mark.x), plot.find_pixel(mark.y)
    leader = ""
    if label.leader:
        start, end = (f"{y + shift:.4g}" for shift in label.leader)
        leader = f'<line x1="{x}" x2="{x}" y1="{start}" y2="{end}" stroke="{get_colour(mark.slot)}"/>'
    look = f'fill="{get_colour(mark.slot)}" font-weight="600" {_HALO}'
    at = f'x="{x}" dx="{label.dx:g}" y="{y + label.dy:.4g}" text-anchor="{label.anchor}" {look}'
    if label.short == label.text:
        return f"{leader}<text {at}>{escape_text(label.text)}</text>"
    both = (("rg-wide", label.text), ("rg-narrow", label.short))
    return leader + "".join(f'<text class="{name}" {at}>{escape_text(text)}</text>' for name, text in both)


def _write_spec(plot: Plot, scatter: Scatter, title: str, subtitle: str) -> str:
    """Write the specification as JSON with a trailing newline, with data and colours of the light theme."""
    names = ("series", "run", "x", "x_low", "x_high", "y", "y_low", "y_high")
    rows = [dict(zip(names, record, strict=False)) for record in _list_records(scatter)]

    def encode(axis: Axis, field: str) -> dict[str, Any]:
        scale = {"domain": list(axis.domain), "type": axis.scale, "nice": False, "zero": False}
        ticks = {"values": list(axis.ticks), "format": axis.format}
        return {"field": field, "type": "quantitative", "title": axis.title, "scale": scale, "axis": ticks}

    marks = plot.annotations
    colours = {"domain": [mark.series for mark in marks], "range": [get_colour(mark.slot) for mark in marks]}
    ink = {"field": "series", "type": "nominal", "scale": colours, "title": None}
    x, y, tip = encode(plot.x, "x"), encode(plot.y, "y"), [{"field": name} for name in names]

    def layer(which: str, mark: dict[str, Any], **encoding: object) -> dict[str, Any]:
        rows_of = [{"filter": f"datum.run {which} ''"}]
        return {"transform": rows_of, "mark": mark, "encoding": {"x": x, "y": y, "color": ink, **encoding}}

    rule, dot = {"type": "rule"}, {"type": "circle", "opacity": 1}
    layers = [
        layer("===", rule, x=x | {"field": "x_low"}, x2={"field": "x_high"}),
        layer("===", rule, y=y | {"field": "y_low"}, y2={"field": "y_high"}),
        layer("!==", dot | {"size": 30, "opacity": 0.45}, tooltip=tip),
        layer("===", dot | {"size": 90}, tooltip=tip),
    ]
    if scatter.fit:
        layers[:0] = list_fit_layers(scatter.fit, x, y)
    layers[:0] = list_reference_layers(plot.references, {"x": ("x", x), "y": ("y", y)})
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": PIXELS_WIDE,
        "height": plot.height,
        "background": "var(--rg-bg)",
        "data": {"values": rows},
        "layer": layers,
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"
