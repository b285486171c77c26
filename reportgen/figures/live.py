"""Figure of a plot: its Vega-Lite specification with numbers as CSV, and the view that live figures share.

A specification is that of the plot's shape, filled with text, colours and data. This needs no Altair, so a
build with only known shapes does not import it. Signals (``x_domain``, ``x_ticks``, ``colours`` and so on)
drive a live view, so that all figures of one shape share it; the ``payload`` holds the signals' values and
the data.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import asdict

from reportgen.core.model import Figure, Table
from reportgen.core.words import escape_formula
from reportgen.figures.axis import format_estimate, make_reader
from reportgen.figures.paths import make_line_paths, thin_together
from reportgen.figures.payload import build_payload, list_dash, list_label_fields
from reportgen.figures.picture import draw_file, draw_picture, get_symbol
from reportgen.figures.plot import (
    ANNOTATIONS,
    DOMAIN,
    ENDS,
    MEANS,
    ON_THE_RIGHT,
    REFERENCES,
    RIGHT,
    RUNS,
    SHIFTS,
    get_shape,
)
from reportgen.figures.style import SYMBOL_PATHS, TICK_SIZE, get_colour, resolve
from reportgen.figures.text import escape_field, isolate_names, measure_text, name_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import CurveSet, FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import ChartShape, DrawContext, FigureText, Plot


CURVE_COLUMNS = ("series", "metric", "step", "value", "low", "high", "n")

_RUN_POINTS = 100
_MOST_TABLE_ROWS = 40
_TITLE_ROOM = 56
_WIDEST_ENTRY, _SWATCH_ROOM = 240, 48
_CSV = {
    MEANS: {"type": "csv", "parse": dict.fromkeys(("step", "value", "low", "high", "raw"), "number")},
    RUNS: {"type": "csv", "parse": {"step": "number", "value": "number", "run": "string"}},
}
_SCALE_SIGNALS = {
    "x": "x_domain",
    "y": "y_domain",
    "color": "colours",
    "fill": "colours",
    "strokeDash": "dashes",
    "shape": "shapes",
}
_AXIS_SIGNALS = ("x_title", "x_ticks", "x_format", "y_title", "y_title_x", "y_ticks", "y_format")
_RIGHT_SIGNALS = (RIGHT, *(f"right_{part}" for part in ("domain", "title", "title_x", "ticks", "format")))
_INSIDE = "inrange(datum.step, x_domain) && inrange(datum.value, {axis}_domain) ? 1 : 0"
_FADING = "datum.faded ? 0.25 : 1"
# Rows of a live figure are numbers or null, and each has a step.
_CHECK_OF_STEP = r'isValid\(datum\[\\"step\\"\]\) && isFinite\(\+datum\[\\"step\\"\]\) && '
_REPEATED_CHECKS = re.compile(rf'{_CHECK_OF_STEP}| && isFinite\(\+datum\[\\"\w+\\"\]\)')
_STYLE = ("fill", "opacity", "stroke", "strokeDash", "strokeJoin", "strokeWidth")


def write_compact_json(value: object) -> str:
    """Serialize to JSON without spaces and with sorted keys; NaN is an error."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False, ensure_ascii=False)


def write_curves_csv(
    curve_set: CurveSet, full_names: Mapping[str, str] | None = None, *, by_line: bool = False
) -> str:
    """Write the columns ``series,metric,step,value,low,high,n``, and ``raw`` if the line is smoothed.

    ``full_names`` are those of series with a short name. With ``by_line``, lines of several metrics are named
    as in the plot rather than after their series.
    Unknown values are empty. Steps have fifteen significant digits, other numbers ten; lines end in a single
    newline.
    """
    smoothed = any(curve.raw is not None for curve in curve_set.curves)
    parts = [",".join((*CURVE_COLUMNS, "raw") if smoothed else CURVE_COLUMNS) + "\n"]
    form = "%.15g,%.10g,%.10g,%.10g,%d" + ",%.10g" * smoothed
    for curve in curve_set.curves:
        columns = [curve.steps, curve.values, curve.low, curve.high, curve.n.astype(np.float64)]
        if smoothed:
            columns.append(curve.values if curve.raw is None else curve.raw)
        key = curve.key
        series = key.series if key and not by_line else curve.series
        series = (full_names or {}).get(series, series)
        metric = key.metric if key else curve_set.metric
        parts.append(_format_rows(f"{escape_field(series)},{escape_field(metric)},", form, columns))
    return "".join(parts)


def write_runs_csv(curve_set: CurveSet) -> str:
    """Write the columns ``series,run,step,value`` of all runs, thinned to what pixels can show."""
    parts = ["series,run,step,value\n"]
    for curve in curve_set.curves:
        lines = [(run.steps, run.values if run.smoothed is None else run.smoothed) for run in curve.runs]
        for run, points in zip(curve.runs, thin_together(lines, _RUN_POINTS), strict=True):
            start = f"{escape_field(curve.series)},{escape_field(run.run)},"
            parts.append(_format_rows(start, "%.15g,%.6g", points))
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


def build_spec(
    plot: Plot, curve_set: CurveSet, csv: str, chart_spec: str, *, title: str, subtitle: str
) -> dict[str, Any]:
    """Build the content of ``figures/<page>/<id>.vl.json``, which opens in any Vega-Lite editor.

    ``csv`` is the figure's own CSV file, used as the means and parsed by Vega; ``chart_spec`` is the
    specification of the plot's shape as JSON.
    """
    keys = {line.name: escape_formula(line.name) for line in plot.lines}
    spec: dict[str, Any] = json.loads(resolve(chart_spec))
    sides = [side["layer"] for side in spec["layer"]] if plot.right else [spec["layer"]]
    for layers, y, title_x in zip(
        sides, (plot.y, plot.right or plot.y), (-plot.margins.left, plot.margins.right), strict=False
    ):
        _fill_layers(layers, plot, [keys[line.name] for line in plot.lines], (y, title_x))
    spec["height"] = plot.height
    values: dict[str, Any] = {
        DOMAIN: list(plot.y.domain),
        RIGHT: [keys[line.name] for line in plot.lines if line.right],
        SHIFTS: {keys[line.name]: line.shift for line in plot.lines},
    }
    for parameter in spec.get("params", ()):
        parameter["value"] = values[parameter["name"]]
    widest = max(measure_text(line.label, TICK_SIZE) for line in plot.lines)
    legend_room = 0 if plot.ends else math.ceil(min(_WIDEST_ENTRY, widest)) + _SWATCH_ROOM
    more = {"top": plot.margins.top + _TITLE_ROOM, "right": plot.margins.right + legend_room}
    spec["padding"] = asdict(plot.margins) | more
    spec["title"] = {"text": title, "subtitle": subtitle, "anchor": "start", "frame": "bounds", "offset": 30}
    spec["background"] = resolve("var(--rg-bg)")
    datasets: dict[str, Any] = {MEANS: csv}
    if any(line.runs for line in plot.lines):
        datasets[RUNS] = write_runs_csv(curve_set)
    if plot.ends:
        datasets[ENDS] = [{"series": keys[end.text], "dx": end.dx} | end.list_fields() for end in plot.ends]
    for name, marks in ((REFERENCES, plot.references), (ANNOTATIONS, plot.annotations)):
        if marks:
            datasets[name] = [
                {"step": m.x, "value": m.y, "text": m.text} | list_label_fields(m) for m in marks
            ]
    spec["datasets"] = datasets
    return spec


def _fill_layers(layers: list[dict[str, Any]], plot: Plot, keys: list[str], down: tuple[Axis, int]) -> None:
    """Fill a plot's titles, domains and colours into the layers.

    ``keys`` are its series in the rows, ``down`` the y axis of these layers and the x of its title in pixels.
    """
    inks = {"domain": keys, "range": [resolve(get_colour(line.slot)) for line in plot.lines]}
    scales = {
        "color": inks,
        "fill": inks,
        "strokeDash": {"domain": keys, "range": [list_dash(plot, line) for line in plot.lines]},
        "shape": {"domain": keys, "range": [SYMBOL_PATHS[get_symbol(line)] for line in plot.lines]},
        "x": {"domain": list(plot.x.domain)},
        "y": {"domain": list(down[0].domain)},
    }
    for layer in layers:
        for channel, encoding in layer["encoding"].items():
            if channel in scales and encoding.get("scale") is not None:
                encoding["scale"].update(scales[channel])
            if channel in {"x", "y"} and encoding.get("axis"):
                axis = plot.x if channel == "x" else down[0]
                words = {"title": axis.title, "values": list(axis.ticks), "format": axis.format}
                encoding["axis"].update(words | ({"titleX": down[1]} if channel == "y" else {}))
        layer["data"] |= {"format": _CSV[layer["data"]["name"]]} if layer["data"]["name"] in _CSV else {}
        if layer.get("name") in {"lines", "right_lines"}:
            # Tooltips at points, and a legend unless there are names at the line ends.
            layer["mark"]["point"] = {"filled": True, "opacity": 0, "size": 80}
            layer["encoding"]["tooltip"] = [
                {"field": name, "type": "nominal" if name == "series" else "quantitative"}
                for name in CURVE_COLUMNS
                if name != "metric"
            ]
            if not plot.ends:
                layer["encoding"]["color"]["legend"] = _make_legend(plot)
        if not plot.ends:
            # A channel without a legend takes that of the others away.
            for channel in ("color", "fill"):
                if layer["encoding"].get(channel, {}).get("legend", "") is None:
                    del layer["encoding"][channel]["legend"]


def _make_legend(plot: Plot) -> dict[str, Any]:
    # Symbols are paths in pixels, see ``altair_chart``.
    size = {"symbolSize": 4} if plot.symbols else {"symbolType": "stroke", "symbolStrokeWidth": 2}
    legend: dict[str, Any] = {"orient": "right", "title": None, "labelLimit": _WIDEST_ENTRY, **size}
    legend["symbolOpacity"] = 1
    if plot.right:
        said = f"indexof({RIGHT}, datum.label) < 0 ? datum.label : datum.label + '{ON_THE_RIGHT}'"
        legend |= {"labelExpr": said, "offset": plot.margins.right}
    return legend


def load_chart_spec(cache: Cache, shape: ChartShape) -> str:
    """Return the Vega-Lite specification of a chart's shape as JSON, which the cache keeps."""

    def write_spec() -> str:
        from reportgen.figures.altair_chart import write_chart_spec  # noqa: PLC0415 - imports Altair

        return write_chart_spec(shape)

    return cache.memo(cache.make_key("spec", repr(shape)), str, write_spec)


def draw_plot_figure(plot: Plot, curve_set: CurveSet, text: FigureText, context: DrawContext) -> Figure:
    """Draw a plot's figure: pictures, specification, live view, table and CSV, all of the same numbers.

    ``curve_set`` holds the curves of the plot.
    """
    how, names = text.subtitle, tuple(line.name for line in plot.lines)
    paths, csv = make_line_paths(plot), write_curves_csv(curve_set, context.full_names)
    chart_spec = context.get_chart_spec(get_shape(plot))
    same_names = curve_set.curves[0].key is None and not context.full_names
    rows = csv if same_names else write_curves_csv(curve_set, by_line=True)
    spec = build_spec(plot, curve_set, rows, chart_spec, title=text.title, subtitle=how)
    columns = build_payload(plot, band_name=text.band) | {"view": name_view(chart_spec)}
    # Lines of several metrics have no difference; intervals make one of a difference only if runs do.
    columns["differences"] = all(curve.key is None for curve in curve_set.curves)
    columns["source"] = text.source
    if curve_set.smooth:
        columns["smooth"] = curve_set.smooth
    of_steps = text.kind in {"curve", "panel"} and all(curve.runs for curve in curve_set.curves)
    if not curve_set.bins and columns["differences"] and of_steps:
        columns["of"] = text.of or text.id  # what statements about its steps name
    if curve_set.quantiles and columns["differences"] and not any(curve.given for curve in curve_set.curves):
        columns["quantiles"] = curve_set.quantiles
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
        spec=write_compact_json(spec) + "\n",
        view=chart_spec,
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
    shifts = [signal["name"] for signal in vega.get("signals", ()) if signal["name"] == SHIFTS]
    signals = (*_SCALE_SIGNALS.values(), *_AXIS_SIGNALS, "keys", "margins", "clip", *at_right, *shifts)
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
    for one in vega["data"]:  # steps are numbers already, also where the axis shows times
        if "transform" in one:
            one["transform"] = [part for part in one["transform"] if part.get("as") != "step"]


def _set_clip_signal(mark: dict[str, Any]) -> None:
    if mark["name"] in {"points_marks", "right_points_marks"}:
        # Show symbols at the edge of the plot whole, and none beyond it.
        del mark["clip"]
        axis = "y" if mark["name"] == "points_marks" else "right"
        mark["encode"]["update"]["opacity"] = {"signal": _INSIDE.format(axis=axis)}
    elif mark.get("clip"):
        mark["clip"] = {"signal": "clip"}
    for inner in mark.get("marks", ()):
        _set_clip_signal(inner)
