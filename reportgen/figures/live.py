"""Vega-Lite specification of a plot with its numbers as CSV, and the payload of its live view.

A specification is that of the plot's shape, filled with text, colours and data. This needs no Altair, so a
build with only known shapes does not import it. Signals (``x_domain``, ``x_ticks``, ``colours`` and so on)
drive a live view, so that all figures of one shape share it; the payload holds the signals' values and the
data.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from msgspec.structs import asdict

from reportgen.figures.axis import count_decimals
from reportgen.figures.paths import thin_together
from reportgen.figures.picture import get_dash, get_symbol
from reportgen.figures.style import SYMBOL_PATHS, get_colour, resolve
from reportgen.figures.text import escape_field, escape_formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import CurveSet, FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot, SeriesLine


MEANS, RUNS, ENDS, REFERENCES, ANNOTATIONS = "means", "runs", "ends", "references", "annotations"
DOMAIN = "y_domain"
"""Parameter that holds the y domain in charts with a log y axis."""
CURVE_COLUMNS = ("series", "metric", "step", "value", "low", "high", "n")

_RUN_POINTS = 100
_TITLE_ROOM = 56
_CSV = {
    MEANS: {"type": "csv", "parse": dict.fromkeys(("step", "value", "low", "high", "raw"), "number")},
    RUNS: {"type": "csv", "parse": {"step": "number", "value": "number", "run": "string"}},
}
# A thousandth of the y range is under half a pixel.
_RUN_LEVELS = 1024
# Limit for values far outside the plot, in these levels.
_FARTHEST = 2**40
_HALF = 0.5 + 1e-9  # a half that floats made a little smaller is rounded up, too
_NO_DIFFERENCE = 1e-6
_SCALE_SIGNALS = {
    "x": "x_domain",
    "y": "y_domain",
    "color": "colours",
    "fill": "colours",
    "strokeDash": "dashes",
    "shape": "shapes",
}
_AXIS_SIGNALS = ("x_title", "x_ticks", "x_format", "y_title", "y_title_x", "y_ticks", "y_format")
_INSIDE = "inrange(datum.step, x_domain) && inrange(datum.value, y_domain) ? 1 : 0"
_FADING = "datum.faded ? 0.25 : 1"
_LARGEST_WHOLE = 2**53


def write_compact_json(value: object) -> str:
    """Serialize to JSON without spaces and with sorted keys; NaN is an error."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False, ensure_ascii=False)


def write_curves_csv(curve_set: CurveSet, *, by_line: bool = False) -> str:
    """Write the columns ``series,metric,step,value,low,high,n``, and ``raw`` if the line is smoothed.

    With ``by_line``, lines of several metrics are named as in the plot rather than after their series.
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
    _fill_layers(spec["layer"], plot, [keys[line.name] for line in plot.lines])
    spec["height"] = plot.height
    if plot.y.scale == "log":
        spec["params"] = [{"name": DOMAIN, "value": list(plot.y.domain)}]
    spec["padding"] = asdict(plot.margins) | {"top": plot.margins.top + _TITLE_ROOM}
    spec["title"] = {"text": title, "subtitle": subtitle, "anchor": "start", "frame": "bounds", "offset": 30}
    spec["background"] = resolve("var(--rg-bg)")
    datasets: dict[str, Any] = {MEANS: csv}
    if any(line.runs for line in plot.lines):
        datasets[RUNS] = write_runs_csv(curve_set)
    if plot.ends:
        datasets[ENDS] = [{"series": keys[end.text], "text": end.text, "y": end.y} for end in plot.ends]
    for name, marks in ((REFERENCES, plot.references), (ANNOTATIONS, plot.annotations)):
        if marks:
            datasets[name] = [
                {"step": m.x, "value": m.y, "text": m.text} | _list_label_fields(m) for m in marks
            ]
    spec["datasets"] = datasets
    return spec


def _fill_layers(layers: list[dict[str, Any]], plot: Plot, keys: list[str]) -> None:
    """Fill a plot's titles, domains and colours into the layers; ``keys`` are its series in the rows."""
    inks = {"domain": keys, "range": [resolve(get_colour(line.slot)) for line in plot.lines]}
    scales = {
        "color": inks,
        "fill": inks,
        "strokeDash": {"domain": keys, "range": [_list_dash(plot, line) for line in plot.lines]},
        "shape": {"domain": keys, "range": [SYMBOL_PATHS[get_symbol(line)] for line in plot.lines]},
        "x": {"domain": list(plot.x.domain)},
        "y": {"domain": list(plot.y.domain)},
    }
    for layer in layers:
        for channel, encoding in layer["encoding"].items():
            if channel in scales and encoding.get("scale") is not None:
                encoding["scale"].update(scales[channel])
            if channel in {"x", "y"} and encoding.get("axis"):
                axis = plot.x if channel == "x" else plot.y
                words = {"title": axis.title, "values": list(axis.ticks), "format": axis.format}
                encoding["axis"].update(words | ({"titleX": -plot.margins.left} if channel == "y" else {}))
        layer["data"] |= {"format": _CSV[layer["data"]["name"]]} if layer["data"]["name"] in _CSV else {}
        if layer.get("name") == "lines":
            # Tooltips at points, and a legend unless there are names at the line ends.
            layer["mark"]["point"] = {"filled": True, "opacity": 0, "size": 80}
            layer["encoding"]["tooltip"] = [
                {"field": name, "type": "nominal" if name == "series" else "quantitative"}
                for name in CURVE_COLUMNS
                if name != "metric"
            ]
            if not plot.ends:
                layer["encoding"]["color"]["legend"] = {"orient": "right", "title": None, "labelLimit": 240}


def _list_dash(plot: Plot, line: SeriesLine) -> list[float]:
    return list(get_dash(plot, line)) or [1, 0]


def _list_label_fields(mark: Mark) -> dict[str, Any]:
    """Return a mark's label as fields of its row: ``text, short, align, dx, dy, from, to``.

    ``short`` is omitted if equal to ``text``, and ``from`` and ``to`` without a leader. A label that does not
    fit and a horizontal line have no fields.
    """
    label = mark.label
    if label is None:
        return {}
    align = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
    row: dict[str, Any] = {"text": label.text, "align": align, "dx": label.dx, "dy": label.dy}
    row |= {"short": label.short} if label.short != label.text else {}
    return row | (dict(zip(("from", "to"), label.leader, strict=True)) if label.leader else {})


def compile_view(specification: str) -> str:
    """Compile a Vega-Lite specification (JSON) to Vega, with its variable parts as signals."""
    from reportgen.figures.render import compile_to_vega  # noqa: PLC0415 - starts an engine

    vega = compile_to_vega(json.loads(specification))
    vega.pop("$schema")
    vega["padding"] = {"signal": "margins"}
    for scale in vega["scales"]:
        signal = {"signal": _SCALE_SIGNALS[scale["name"]]}
        if scale["name"] in {"x", "y"}:
            scale["domain"] = signal
        else:
            scale["domain"], scale["range"] = {"signal": "keys"}, signal
    for axis in vega["axes"]:
        name = axis["scale"]
        # Vega shifts axes by half a pixel and rounds ticks to whole pixels; the static picture does not.
        axis["translate"], axis["tickRound"] = 0, False
        axis["values"] = {"signal": f"{name}_ticks"}
        if not axis.get("grid"):
            axis["title"] = {"signal": f"{name}_title"}
            axis["format"] = {"signal": f"{name}_format"}
            if name == "y":
                axis["titleX"] = {"signal": "y_title_x"}
    notes = {ANNOTATIONS}
    notes.update(one["name"] for one in vega["data"] if one.get("source") in notes)
    for mark in vega["marks"]:
        _set_clip_signal(mark)
        if mark["from"].get("data") in notes:
            # Rows lie inside the plot; rings around points at its edge are shown whole.
            mark.pop("clip", None)
            mark["encode"]["update"]["opacity"] = {"signal": _FADING}
    signals = (*_SCALE_SIGNALS.values(), *_AXIS_SIGNALS, "keys", "margins", "clip")
    vega["signals"] = [{"name": name} for name in dict.fromkeys(signals)]
    return write_compact_json(vega)


def _set_clip_signal(mark: dict[str, Any]) -> None:
    if mark["name"] == "points_marks":
        # Show symbols at the edge of the plot whole, and none beyond it.
        del mark["clip"]
        mark["encode"]["update"]["opacity"] = {"signal": _INSIDE}
    elif mark.get("clip"):
        mark["clip"] = {"signal": "clip"}
    for inner in mark.get("marks", ()):
        _set_clip_signal(inner)


@lru_cache(maxsize=64)  # figures of one shape share their view
def name_view(specification: str) -> str:
    """Return a short name of the view compiled from a Vega-Lite specification."""
    return hashlib.sha256(specification.encode()).hexdigest()[:12]


def build_payload(plot: Plot, *, band_name: str) -> dict[str, Any]:
    """Build the signals and columns of a plot for ``site/assets/live.js``.

    ``xs`` holds each column of steps once, even ones as start, step and count. Means and intervals are
    rounded to a hundred-thousandth of the y range; runs are stored as differences, rounded to a thousandth or
    finer (``run_from``, ``run_unit``). If ``run_exact``, they read as the values themselves. A gap is null.
    """
    steps = _Steps()
    low, high = plot.y.domain
    read = count_decimals(plot.y)
    start, unit = _choose_run_levels(low, high, read)
    decimals = max(0, 5 - math.floor(math.log10(high - low)))
    series = [_build_series(plot, line, steps, decimals, (start, unit)) for line in plot.lines]
    references, annotations = (
        [_list_mark_fields(mark) for mark in marks] for marks in (plot.references, plot.annotations)
    )
    return {
        "x": _build_axis(plot.x),
        "y": _build_axis(plot.y),
        "margins": asdict(plot.margins),
        "height": plot.height,
        "clip": plot.clip,
        "symbols": plot.symbols,
        "band": band_name,
        "series": series,
        "xs": steps.columns,
        "run_from": start,
        "run_unit": unit,
        "run_exact": read is not None,
        "ends": [{"text": end.text, "y": end.y} for end in plot.ends],
        "references": references,
        "annotations": annotations,
    }


def _list_mark_fields(mark: Mark) -> dict[str, Any]:
    row: dict[str, Any] = {"x": mark.x, "y": mark.y, "text": mark.text}
    return row | ({"series": mark.series} if mark.series else {}) | _list_label_fields(mark)


def _choose_run_levels(low: float, high: float, read: int | None) -> tuple[float, float]:
    """Return the start and the distance of the levels that values of runs are rounded to.

    If values are read with ``read`` decimal places, an odd number of levels stands for one of the last: then
    rounding twice reads as rounding once.
    """
    unit = (high - low) / _RUN_LEVELS
    if read is None:
        return low, unit
    place = 10.0**-read
    return math.floor(low / place) * place, place / (2 * math.ceil((place / unit - 1) / 2) + 1)


class _Steps:
    """Columns of steps, without duplicates; evenly spaced integers as start, step and count."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self._known: dict[bytes, int] = {}

    def add(self, steps: FloatArray) -> int:
        key = steps.tobytes()
        if key not in self._known:
            self._known[key] = len(self.columns)
            column: Any = [_shorten_whole(step) for step in steps.tolist()]
            if steps.size >= 3:  # noqa: PLR2004 - two numbers are shorter than their rule
                start, by = float(steps[0]), float(steps[1] - steps[0])
                if by.is_integer() and start.is_integer() and (np.diff(steps) == by).all():
                    column = {"from": column[0], "by": _shorten_whole(by), "count": len(column)}
            self.columns.append(column)
        return self._known[key]


def _build_series(
    plot: Plot, line: SeriesLine, steps: _Steps, decimals: int, levels: tuple[float, float]
) -> dict[str, Any]:
    n = line.n.tolist()
    read = count_decimals(plot.y)
    row: dict[str, Any] = {
        "name": line.name,
        "colour": get_colour(line.slot),
        "muted": line.slot is None,
        "dash": _list_dash(plot, line),
        "shape": SYMBOL_PATHS[get_symbol(line)],
        "x": steps.add(line.steps),
        "y": round_values(line.values, decimals, read),
        "n": n[0] if n and len(set(n)) == 1 else n,
    }
    if line.dash is not None:
        row["line"] = line.dash
    if np.isfinite(line.low).any():
        row["low"], row["high"] = (round_values(end, decimals, read) for end in (line.low, line.high))
    if line.raw is not None:
        row["raw"] = round_values(line.raw, decimals, read)
    for run in line.runs:
        # ``q`` holds differences of (value - ``run_from``) / ``run_unit``, rounded; a gap is null.
        known = np.isfinite(run.values)
        with np.errstate(over="ignore"):
            heights = (run.values[known] - levels[0]) / levels[1]
            whole = np.floor(heights.clip(-_FARTHEST, _FARTHEST) + _HALF).astype(np.int64)
        rest = iter(np.diff(whole, prepend=0).tolist())
        differences = [next(rest) if here else None for here in known.tolist()]
        row.setdefault("runs", []).append({"name": run.name, "x": steps.add(run.steps), "q": differences})
    return row


def _build_axis(axis: Axis) -> dict[str, Any]:
    how = ({"unit": axis.unit} if axis.unit else {}) | ({"symbol": True} if axis.symbol else {})
    return how | {
        "title": axis.title,
        "scale": axis.scale,
        "domain": list(axis.domain),
        "ticks": list(axis.ticks),
        "format": axis.format,
        "read": axis.read_format,
    }


def round_values(values: FloatArray, decimals: int, read: int | None = None) -> list[float | None]:
    """Return values as a list, rounded to ``decimals`` places; NaN becomes None.

    A value that rounding would put halfway between two numbers of ``read`` places is not rounded: rounded
    twice, it could differ from the data table.
    """
    short = np.round(values, decimals)
    if read is not None and read < decimals:
        halves = short * (2 * 10.0**read)
        nearest = np.rint(halves)
        middle = (np.abs(halves - nearest) < _NO_DIFFERENCE) & (nearest % 2 == 1)
        short = np.where(middle, values, short)
    numbers: list[float] = short.tolist()
    if np.isfinite(values).all():
        return list(numbers)
    return [number if math.isfinite(number) else None for number in numbers]


def _shorten_whole(number: float) -> float:
    """Convert an integral float to an int, which is shorter in JSON."""
    return int(number) if number.is_integer() and abs(number) < 1e15 else number  # noqa: PLR2004 - exact below


def write_link_state(
    figure: str,
    series: Sequence[str] = (),
    x: tuple[float, float] | None = None,
    mark: tuple[float, str] | None = None,
) -> str:
    """Write the fragment of a link to a figure's state: ``scores~series=MEL,GRPO~x=100..140~mark=120@MEL``.

    ``site/assets/live-state.js`` reads it. Names are percent-encoded, so they cannot contain a separator.
    Only given parts are written, in this order. Series not in ``series`` fade; ``mark`` is the step and
    series of the marked point. In panels, the figure is the panel. Raises a ``ValueError`` if a step is not
    finite.
    """
    parts = [_quote_name(figure)]
    if series:
        parts.append("series=" + ",".join(map(_quote_name, series)))
    if x is not None:
        parts.append("x=" + "..".join(map(_write_step, x)))
    if mark is not None:
        parts.append(f"mark={_write_step(mark[0])}@{_quote_name(mark[1])}")
    return "~".join(parts)


def _quote_name(name: str) -> str:
    # A lone surrogate cannot be encoded; ``quote`` does not escape the separator ``~``.
    return quote(name.encode("utf-8", "replace"), safe="").replace("~", "%7E")


def _write_step(step: float) -> str:
    if not math.isfinite(step):
        raise ValueError(f"a link cannot name the step {step}")
    return str(int(step)) if float(step).is_integer() and abs(step) <= _LARGEST_WHOLE else repr(float(step))
