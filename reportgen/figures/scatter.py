"""The ``scatter`` block: a point for each series over two measures, with intervals of both.

The picture is made of marks, as in ``scores/dot_plot``: a point is a ``<g class="rg-mark">`` with
``data-rg-tip``, and so is each run; ``data-rg-series`` is on everything that a click isolates.
"""

from __future__ import annotations

import json
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.digits import choose_percent_decimals
from reportgen.core.model import Estimate, Figure, Table
from reportgen.core.words import (
    choose_common_decimals,
    find_common_half,
    format_count,
    format_estimate,
    format_percent,
    join_names,
)
from reportgen.figures.axis import make_linear_axis, make_log_axis, use_percent
from reportgen.figures.curves.plotting import check_positive, compute_margins, fit_axis
from reportgen.figures.labels import place_names_of_groups
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import Frame, draw_body, draw_framed, format_position, set_into_page
from reportgen.figures.plot import Mark, Plot, SeriesLine, describe_source, join_caption
from reportgen.figures.style import apply_house_style, get_colour, pick_slots, resolve_specification
from reportgen.figures.text import escape_text, isolate_names, write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import SourceContext
    from reportgen.settings.blocks import ScatterSettings


_WIDE = 10
"""Factor between the smallest and largest x from which the axis is logarithmic."""
_PAD, _NO_BREAK = 0.06, "\u00a0"
_HALO = 'stroke="var(--rg-bg)" stroke-width="3" paint-order="stroke"'
_FRONT = (
    "A series is on the Pareto front if, compared with every other one, a test shows it to be better in one "
    "of the two measures; each measure is adjusted for all pairs, at 2.5%."
)
_COLUMNS = ("series", "run", "x", "x_low", "x_high", "y", "y_low", "y_high", "n", "front")


class ScatterPoint(Struct, frozen=True):
    """A series with its estimates, and the value pairs of its runs if there are several."""

    series: str
    x: Estimate
    y: Estimate
    runs: tuple[tuple[str, float, float], ...] = ()
    colour: str = ""  # what gives it its colour, if not the series


class Scatter(Struct, frozen=True):
    """Points over two measures; ``front`` is None if no test could place a series on it.

    ``ways`` say whether larger x and y are better, ``units`` what intervals are over, ``how`` the method.
    A point is of a series or, if ``each`` says so, of a run.
    """

    x_title: str
    y_title: str
    points: tuple[ScatterPoint, ...]
    ways: tuple[bool | None, bool | None]
    front: tuple[str, ...] | None
    units: str
    level: float
    percent: bool
    how: tuple[str, ...]
    each: str = "series"


def draw_scatter(
    block_id: str, settings: ScatterSettings, scatter: Scatter, context: SourceContext
) -> Figure:
    """Draw a scatter plot of series, with their names at their points where there is room."""
    words, plot = _ScatterWords(settings, scatter, context), _make_plot(block_id, settings, scatter, context)
    names, title, subtitle = [point.series for point in scatter.points], words.title, words.subtitle
    labelled_by = f"{block_id}-title {block_id}-summary"
    frame = Frame(title, subtitle, f"Source: {describe_source(context)}")
    caption = " ".join(filter(None, (_describe_names(plot, scatter), words.write_caption())))
    return Figure(
        id=block_id,
        kind="scatter",
        title=title,
        subtitle=subtitle,
        caption=isolate_names(caption, names),
        summary=isolate_names(words.write_summary(), names),
        inline_svg=set_into_page(_draw(plot, scatter, words, page=True), plot.height, labelled_by),
        file_svg=draw_framed(_draw(plot, scatter, words, page=False), plot.height, plot.margins, frame),
        table_data=words.build_table(),
        csv=write_table_csv(_COLUMNS, _list_records(scatter)),
        spec=_write_spec(plot, scatter, title, subtitle),
        view="",
        payload="",
        numbers_data=words.collect_numbers(),
        plot_class=f"rg-left-{plot.margins.left} rg-right-{plot.margins.right}",
    )


class _ScatterWords(Struct, frozen=True, dict=True):
    """Texts and table of a scatter plot."""

    settings: ScatterSettings
    scatter: Scatter
    context: SourceContext

    @property
    def title(self) -> str:
        return self.settings.title or f"{self.scatter.y_title} by {self.scatter.x_title}"

    @property
    def subtitle(self) -> str:
        level = f"{self.scatter.level * 100:g}% CI"
        has_interval = any(end.low is not None for point in self.scatter.points for end in (point.x, point.y))
        interval = f", {level} over {self.scatter.units}" if has_interval else ""
        return f"one point per {self.scatter.each}{interval}"

    @cached_property
    def x_decimals(self) -> int | None:
        """The decimals of all values of x."""
        return choose_common_decimals([point.x for point in self.scatter.points])

    @cached_property
    def y_decimals(self) -> int | None:
        """The decimals of all values of y unless they are in percent."""
        return choose_common_decimals([point.y for point in self.scatter.points])

    @cached_property
    def y_percent_decimals(self) -> int:
        """The decimals of all values of y in percent."""
        return choose_percent_decimals(find_common_half(point.y for point in self.scatter.points))

    def write_y(self, estimate: Estimate) -> str:
        """Write a value of y with its interval, in percent as scores are."""
        if not self.scatter.percent:
            return format_estimate(estimate, decimals=self.y_decimals)
        numbers = (estimate.value, estimate.low, estimate.high)
        decimals = self.y_percent_decimals
        value, *ends = (format_percent(one, decimals=decimals) for one in numbers if one is not None)
        return f"{value} [{', '.join(ends).replace('%', '')}]" if ends else value

    def write_x(self, estimate: Estimate) -> str:
        """Write a value of x with its interval."""
        return format_estimate(estimate, decimals=self.x_decimals)

    def write_tip(self, point: ScatterPoint) -> list[str]:
        """Return the lines of a point's tooltip."""
        scatter = self.scatter
        y, x = f"{scatter.y_title}: {self.write_y(point.y)}", f"{scatter.x_title}: {self.write_x(point.x)}"
        return [point.series, y, x, format_count(point.y.n, scatter.units.removesuffix("s"))]

    def write_run_tip(self, point: ScatterPoint, run: tuple[str, float, float]) -> list[str]:
        """Return the lines of a run's tooltip."""
        x, y = (Estimate(value, None, None, 1) for value in run[1:])
        shown = f"{self.scatter.y_title}: {self.write_y(y)}", f"{self.scatter.x_title}: {self.write_x(x)}"
        return [f"{point.series}, run {run[0]}", *shown]

    def write_summary(self) -> str:
        """Name the best of each measure, and the series that are shown to be on the front."""
        scatter, sentences = self.scatter, []
        for axis, name, way in (
            ("y", scatter.y_title, scatter.ways[1]),
            ("x", scatter.x_title, scatter.ways[0]),
        ):
            if axis == "x" and way is None:
                continue
            choose, word = (min, "Lowest") if way is False else (max, "Highest")
            best = choose(scatter.points, key=lambda point: getattr(point, axis).value)
            value = self.write_y(best.y) if axis == "y" else self.write_x(best.x)
            # No line break inside a quantity.
            sentences.append(f"{word} {name}: {best.series} with {value.replace(' ', _NO_BREAK)}.")
        if scatter.front:
            listed = join_names(scatter.front)
            rest = len(scatter.points) - len(scatter.front)
            sentences.append(f"Shown to be on the Pareto front: {listed}{'; no other is' if rest else ''}.")
        elif scatter.front is not None:
            sentences.append("No series is shown to be on the Pareto front.")
        return " ".join(sentences)

    def write_caption(self) -> str:
        """Say what points and intervals are, how the front is tested, or why it is not."""
        scatter, (x, y) = self.scatter, self.scatter.ways
        measures = ((scatter.y_title, y), (scatter.x_title, x))
        lower, unknown = ([name for name, way in measures if way is one] for one in (False, None))
        front = "Dashed: Pareto front." if len(scatter.front or ()) > 1 else ""
        if unknown:
            known = f"whether a larger value of {join_names(unknown)} is better"
            front = f"No Pareto front: it is not known {known}."
        elif scatter.front is None and len(scatter.points) > 1:
            front = f"No Pareto front: its tests need several {scatter.units} of each series."
        sentences = (
            self.settings.caption or "",
            "Small dots: runs." if any(point.runs for point in scatter.points) else "",
            f"Lower is better for {join_names(lower)}." if lower else "",
            front,
        )
        definition = _FRONT if scatter.front is not None else ""
        return join_caption(sentences, self.context, how=(*scatter.how, definition))

    def build_table(self) -> Table:
        """Build the data table, a row for each series."""
        scatter = self.scatter
        header = ("series", scatter.units, scatter.y_title, scatter.x_title)
        rows = [
            (point.series, f"{point.y.n:,}", self.write_y(point.y), self.write_x(point.x))
            for point in scatter.points
        ]
        if scatter.front is None:
            return Table(header, tuple(rows))
        marked = ((*row, "shown" if row[0] in scatter.front else "not shown") for row in rows)
        return Table((*header, "Pareto front"), tuple(marked))

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``."""
        scatter = self.scatter
        points = [
            {"name": point.series, "n": point.y.n}
            | {name: [one.value, one.low, one.high] for name, one in (("x", point.x), ("y", point.y))}
            for point in scatter.points
        ]
        front = None if scatter.front is None else list(scatter.front)
        return {
            "x": scatter.x_title,
            "y": scatter.y_title,
            "level": scatter.level,
            "points": points,
            "front": front,
        }


def _list_records(scatter: Scatter) -> Iterator[tuple[object, ...]]:
    for point in scatter.points:
        x, y = point.x, point.y
        front = "" if scatter.front is None else "shown" if point.series in scatter.front else "not shown"
        yield (point.series, "", x.value, x.low, x.high, y.value, y.low, y.high, y.n, front)
        yield from (
            (point.series, run, at, None, None, value, None, None, 1, "") for run, at, value in point.runs
        )


def _make_plot(block_id: str, settings: ScatterSettings, scatter: Scatter, context: SourceContext) -> Plot:
    """Make the axes, and place the names of series at their points."""
    points = scatter.points
    if settings.x_scale == "log":
        check_positive(
            min(point.x.value if point.x.low is None else point.x.low for point in points), 0, "x", context
        )
    x_axis = _make_axis(
        [one.x for one in points],
        [run[1] for one in points for run in one.runs],
        scatter.x_title,
        settings.x_scale,
    )
    y_axis = _make_axis(
        [one.y for one in points], [run[2] for one in points for run in one.runs], scatter.y_title, "linear"
    )
    y_axis = use_percent(y_axis) if scatter.percent else y_axis
    slots = pick_slots(tuple(dict.fromkeys(one.colour or one.series for one in points)), context.slots)
    lines, marks = [], []
    for point in points:
        x, y, slot = point.x, point.y, slots[point.colour or point.series]
        # Lines are what names must not cover: both intervals.
        steps = np.array([x.value if end is None else end for end in (x.low, x.value, x.high)])
        low, high = (np.array([np.nan, np.nan if end is None else end, np.nan]) for end in (y.low, y.high))
        lines.append(SeriesLine(point.series, slot, steps, np.full(3, y.value), low, high, np.full(3, y.n)))
        marks.append(Mark(point.series, x.value, y.value, slot, point.series))
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
        annotations=tuple(marks),
    )
    return place_names_of_groups(plot, [point.colour for point in points])


def _describe_names(plot: Plot, scatter: Scatter) -> str:
    """Return where the names of points are that have no room in the picture."""
    count = sum(mark.label is None for mark in plot.annotations)
    if not count:
        return ""
    where = "point at it or see the data table"
    if any(mark.text != mark.series for mark in plot.annotations):
        return f"Each colour is named once; for the name of a dot, {where}."
    return f"No room for the names of {count} of {len(scatter.points)} dots; for the name of a dot, {where}."


def _make_axis(estimates: Sequence[Estimate], runs: Sequence[float], title: str, scale: str | None) -> Axis:
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None] + [*runs]
    low, high = min(ends), max(ends)
    if scale == "log" or (scale is None and low > 0 and high / low >= _WIDE):
        room = (high / low) ** _PAD
        return make_log_axis(title, low / room, high * room)
    return fit_axis(lambda count: make_linear_axis(title, low, high, count=count, pad=_PAD))


def _draw(plot: Plot, scatter: Scatter, words: _ScatterWords, *, page: bool) -> str:
    """Draw axes, front, intervals, runs, points and names; tooltips only in a page."""
    ground = draw_body(replace(plot, lines=(), annotations=()), (), fluid=True)
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


def _draw_marks(plot: Plot, scatter: Scatter, words: _ScatterWords, *, page: bool) -> Iterator[str]:
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
        yield wrap(f"{drawn}{_draw_name(plot, mark)}", point)
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


def _draw_name(plot: Plot, mark: Mark) -> str:
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
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": PIXELS_WIDE,
        "height": plot.height,
        "background": "var(--rg-bg)",
        "data": {"values": rows},
        "layer": layers,
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"
