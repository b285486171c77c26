"""Figure of a plot: its pictures, files and table, and the view that live figures share.

Signals (``x_domain``, ``x_ticks``, ``colours`` and so on) drive a live view, so that all figures of one shape
share it; the ``payload`` holds the signals' values and the data. This needs no Altair, so a build with only
known shapes does not import it.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.core.model import Figure, Table
from reportgen.figures.axis import BILLIONS, format_estimate, make_reader
from reportgen.figures.charts.chart_file import write_chart_file
from reportgen.figures.charts.view import write_view
from reportgen.figures.paths import make_line_paths
from reportgen.figures.payload import build_payload
from reportgen.figures.picture import draw_file, draw_picture
from reportgen.figures.plot import ANNOTATIONS, get_shape
from reportgen.figures.text import escape_field, isolate_names, name_view, write_compact_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import CurveSet, FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import ChartShape, DrawContext, FigureText, Plot


CURVE_COLUMNS = ("series", "metric", "step", "value", "low", "high", "n")

_MOST_TABLE_ROWS = 40
_SCALE_SIGNALS: Final = {
    "x": "x_domain",
    "y": "y_domain",
    "color": "colours",
    "strokeDash": "dashes",
    "shape": "shapes",
}
_AXIS_SIGNALS: Final = ("x_title", "x_ticks", "x_format", "y_title", "y_title_x", "y_ticks", "y_format")
_RIGHT_SIGNALS: Final = tuple(f"right_{part}" for part in ("domain", "title", "title_x", "ticks", "format"))
_INSIDE: Final = "inrange(datum.step, x_domain) && inrange(datum.value, {axis}_domain) ? 1 : 0"
_FADING: Final = "datum.faded ? 0.25 : 1"
# Rows of a live figure are numbers or null, and each has a step.
_CHECK_OF_STEP: Final = r'isValid\(datum\[\\"step\\"\]\) && isFinite\(\+datum\[\\"step\\"\]\) && '
_REPEATED_CHECKS: Final = re.compile(rf'{_CHECK_OF_STEP}| && isFinite\(\+datum\[\\"\w+\\"\]\)')
# Steps are numbers already, also where the axis shows times; descriptions are for tooltips of files.
_NEEDLESS: Final = frozenset({"step", "description"})
_STYLE: Final = ("fill", "opacity", "stroke", "strokeDash", "strokeJoin", "strokeWidth")


def write_curves_csv(curve_set: CurveSet, full_names: Mapping[str, str] | None = None) -> str:
    """Write the columns ``series,metric,step,value,low,high,n``, and ``raw`` if the line is smoothed.

    ``full_names`` are those of series with a short name. Unknown values are empty. Steps have fifteen
    significant digits, other numbers ten; lines end in a single newline.
    """
    smoothed = any(curve.raw is not None for curve in curve_set.curves)
    parts = [",".join((*CURVE_COLUMNS, "raw") if smoothed else CURVE_COLUMNS) + "\n"]
    form = "%.15g,%.10g,%.10g,%.10g,%d" + ",%.10g" * smoothed
    for curve in curve_set.curves:
        columns = [curve.steps, curve.values, curve.low, curve.high, curve.n.astype(np.float64)]
        if smoothed:
            columns.append(curve.values if curve.raw is None else curve.raw)
        key = curve.key
        series = key.series if key else curve.series
        series = (full_names or {}).get(series, series)
        metric = key.metric if key else curve_set.metric
        parts.append(_format_rows(f"{escape_field(series)},{escape_field(metric)},", form, columns))
    return "".join(parts)


def _format_rows(start: str, form: str, columns: Sequence[FloatArray]) -> str:
    """Format a line for each row: ``start`` and its numbers in ``form``; NaN is empty.

    One formatting call for all rows is several times as fast as one for each number.
    """
    table = np.column_stack(columns)
    known = np.isfinite(table)
    if known.all():
        return (start.replace("%", "%%") + form + "\n") * len(table) % tuple(table.ravel().tolist())
    lines = ((form + "\n") * len(table) % tuple(table.ravel().tolist())).splitlines()
    for row in np.flatnonzero(~known.all(axis=1)).tolist():
        cells = zip(lines[row].split(","), known[row], strict=True)
        lines[row] = ",".join(cell if here else "" for cell, here in cells)
    return "".join(f"{start}{line}\n" for line in lines)


def load_chart(cache: Cache, shape: ChartShape) -> str:
    """Return the chart of a shape, which the cache keeps, as Vega-Lite without data."""

    def write() -> str:
        from reportgen.figures.charts.chart import write_chart  # noqa: PLC0415 - imports Altair

        return write_chart(shape)

    return cache.memo(cache.make_key("chart", repr(shape)), str, write)


def draw_plot_figure(plot: Plot, curve_set: CurveSet, text: FigureText, context: DrawContext) -> Figure:
    """Draw a plot's figure: pictures, specification, live view, table and CSV, all of the same numbers.

    ``curve_set`` holds the curves of the plot.
    """
    how, names = text.subtitle, tuple(line.name for line in plot.lines)
    paths, csv = make_line_paths(plot), write_curves_csv(curve_set, context.full_names)
    shape = get_shape(plot)
    chart = context.get_chart(shape)
    view = write_view(chart, shape)
    columns = build_payload(plot, band_name=text.band) | {"view": name_view(view)}
    # Lines of several metrics have no difference; intervals make one of a difference only if runs do.
    columns["differences"] = text.comparable and all(curve.key is None for curve in curve_set.curves)
    columns["source"] = text.source
    if curve_set.smooth:
        columns["smooth"] = curve_set.smooth
    of_steps = text.of_steps and all(curve.runs for curve in curve_set.curves)
    if not curve_set.bins and columns["differences"] and of_steps:
        columns["of"] = text.of or text.id  # what statements about its steps name
    if curve_set.quantiles and columns["differences"] and not any(curve.given for curve in curve_set.curves):
        columns["quantiles"] = curve_set.quantiles
        if ends := curve_set.curves[0].ends:
            columns["bounds"] = [end if math.isfinite(end) else None for end in ends]
    return Figure(
        id=text.id,
        kind=text.kind,
        title=text.title,
        subtitle=how,
        caption=isolate_names(text.caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=draw_picture(plot, paths, labelled_by=f"{text.id}-title {text.id}-summary"),
        file_svg=draw_file(plot, paths, title=text.title, subtitle=how, source=text.source),
        table_data=_build_table(plot),
        csv=csv,
        spec=write_chart_file(plot, chart, title=text.title, subtitle=how, band=text.band),
        view=view,
        payload=write_compact_json(columns),
        numbers_data=_name_in_full(text.numbers, context.full_names),
        legend=tuple((line.label, line.slot) for line in plot.lines),
        dashes=tuple(line.dash for line in plot.lines if line.dash is not None),
        plot_class=_list_classes(plot),
    )


def _list_classes(plot: Plot) -> str:
    """Return the CSS classes of a plot: its margins, and what it has."""
    has = {
        "rg-has-ends": plot.ends,
        "rg-has-leaders": any(end.at is not None for end in plot.ends),
        "rg-has-symbols": plot.symbols,
        "rg-has-right": plot.right,
    }
    margins = (f"rg-left-{plot.margins.left}", f"rg-right-{plot.margins.right}")
    return " ".join((*margins, *(name for name, there in has.items() if there)))


def _write_cell(axis: Axis, value: float, low: float, high: float) -> str:
    words, interval = format_estimate(axis, value, low, high)
    return f"{words}{axis.unit} {interval}".rstrip()


def _build_table(plot: Plot) -> Table:
    """Build a table with a row for each step and a column for each series, thinned to about 40 rows."""
    steps = np.unique(np.concatenate([line.steps for line in plot.lines]))
    every = math.ceil(steps.size / _MOST_TABLE_ROWS)
    shown = steps[::every]
    if shown[-1] != steps[-1]:
        shown = np.append(shown, steps[-1])
    columns = [list(map(make_reader(plot.x), shown.tolist()))]
    for line in plot.lines:
        axis = plot.get_y(line)
        place = np.searchsorted(line.steps, shown).clip(max=line.steps.size - 1)
        there = (line.steps[place] == shown) & np.isfinite(line.values[place])
        parts = (part[place].tolist() for part in (line.values, line.low, line.high))
        cells = zip(there.tolist(), *parts, strict=True)
        columns.append([_write_cell(axis, *numbers) if here else "" for here, *numbers in cells])
    note = f"One in {every} of {steps.size:,} steps; the CSV file has them all." if every > 1 else ""
    header = (plot.x.title, *(line.name for line in plot.lines))
    return Table(header, tuple(zip(*columns, strict=True)), note)


def _name_in_full(numbers: dict[str, Any], full_names: Mapping[str, str]) -> dict[str, Any]:
    """Add the names in the CSV file of lines with a short name, ``label``, to an entry in ``report.json``."""
    if not full_names or "series" not in numbers:
        return numbers
    names = (row["name"] for row in numbers["series"])
    lines = numbers.get("lines") or [{"name": name, "series": name} for name in names]
    full = [
        line | {"series": full_names[line["series"]], "label": line["series"]}
        if line["series"] in full_names
        else line
        for line in lines
    ]
    return numbers | {"lines": full}


def compile_view(specification: str) -> str:
    """Compile a Vega-Lite specification (JSON) to Vega, with its variable parts as signals."""
    from reportgen.figures.render import compile_to_vega  # noqa: PLC0415 - starts an engine

    text = write_compact_json(compile_to_vega(json.loads(specification)))
    for number, name in enumerate(("y", "right")):
        text = text.replace(f'"layer_{number}_y"', f'"{name}"')
    text = _REPEATED_CHECKS.sub("", text)
    vega = json.loads(text)
    vega.pop("$schema")
    _draw_paths(vega)
    vega["padding"] = {"signal": "margins"}
    for scale in vega["scales"]:
        name = scale["name"]
        if name in {"x", "y", "right"}:
            scale["domain"] = {"signal": f"{name}_domain"}
        else:
            scale["domain"], scale["range"] = {"signal": "keys"}, {"signal": _SCALE_SIGNALS[name]}
    for axis in vega["axes"]:
        name = axis["scale"]
        # Vega shifts axes by half a pixel and rounds ticks to whole pixels; the static picture does not.
        axis["translate"], axis["tickRound"] = 0, False
        axis["values"] = {"signal": f"{name}_ticks"}
        if not axis.get("grid"):
            axis["title"] = {"signal": f"{name}_title"}
            axis["format"] = {"signal": f"{name}_format"}
            axis["encode"] = {"labels": {"update": {"text": {"signal": BILLIONS}}}}
            if name != "x":
                axis["titleX"] = {"signal": f"{name}_title_x"}
    notes = {ANNOTATIONS}
    notes.update(one["name"] for one in vega["data"] if one.get("source") in notes)
    for mark in vega["marks"]:
        _set_clip_signal(mark)
        if mark["from"].get("data") in notes:
            # Rows lie inside the plot; rings around points at its edge are shown whole.
            mark.pop("clip", None)
            mark["encode"]["update"]["opacity"] = {"signal": _FADING}
    at_right = _RIGHT_SIGNALS if any(scale["name"] == "right" for scale in vega["scales"]) else ()
    signals = (*_SCALE_SIGNALS.values(), *_AXIS_SIGNALS, "keys", "margins", "clip", *at_right)
    vega["signals"] = [{"name": name} for name in dict.fromkeys(signals)]
    return write_compact_json(vega)


def _draw_paths(vega: dict[str, Any]) -> None:
    """Draw each line and band as one path, which the page makes: Vega would spend most of its time on points.

    Each kind of mark has a data set of its paths. Data sets of points stay only where some are drawn.
    """
    for number, group in enumerate(vega["marks"]):
        if "facet" not in group["from"]:
            continue
        line = group["marks"][0]
        paths = line["name"].removesuffix("_marks") + "_paths"
        style = {name: rule for name, rule in line["encode"]["update"].items() if name in _STYLE}
        mark = {name: line[name] for name in ("aria", "clip", "name")}
        mark |= {"encode": {"update": style | {"path": {"field": "path"}}}, "from": {"data": paths}}
        vega["marks"][number] = mark | {"type": "path"}
        vega["data"].append({"name": paths})
    drawn = {mark["from"]["data"] for mark in vega["marks"]}
    for one in reversed(vega["data"]):  # a data set comes after its source
        if one["name"] in drawn and "source" in one:
            drawn.add(one["source"])
    vega["data"] = [one for one in vega["data"] if one["name"] in drawn]
    for one in vega["data"]:
        if "transform" in one:
            one["transform"] = [part for part in one["transform"] if part.get("as") not in _NEEDLESS]


def _set_clip_signal(mark: dict[str, Any]) -> None:
    if mark["name"] in {"points_marks", "right_points_marks", "bars_marks"}:
        # Show symbols and bars at the edge of the plot whole, and none beyond it.
        del mark["clip"]
        axis = "right" if mark["name"] == "right_points_marks" else "y"
        mark["encode"]["update"]["opacity"] = {"signal": _INSIDE.format(axis=axis)}
    elif mark.get("clip"):
        mark["clip"] = {"signal": "clip"}
    for inner in mark.get("marks", ()):
        _set_clip_signal(inner)
