"""The Vega-Lite file of a plot: the chart of its shape with its titles, domains, colours and rows."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.figures.axis import BILLIONS, LOGS, SI, position
from reportgen.figures.paths import thin_together
from reportgen.figures.picture import get_dash, get_symbol
from reportgen.figures.plot import CURVES, REFERENCES
from reportgen.figures.style import (
    LABEL_SIZE,
    LEGEND,
    LIGHT,
    get_colour,
    resolve,
    resolve_specification,
    write_standalone_style,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.model import FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot, SeriesLine

_WIDTH: Final = 640
_RUN_POINTS: Final = 100  # of each run; a picture shows no more of a thin line
_DIGITS: Final = {"step": "%.15g", "n": "%d"}  # others as in the CSV file
_TEN_DIGITS: Final = "%.10g"
_LONGEST_LINE: Final = 110
_CLIPPED: Final = ("bands", "bars", "runs", "raw", "lines", "points")
# What tells apart the layers of two y axes: our prefix, and Altair's number.
_SIDE: Final = re.compile(r"^right_|_\d+$")
_UNKNOWN: Final = re.compile(r":(nan|-?inf)\b")
# A tooltip would write null as 0.
_UNKNOWN_END: Final = re.compile(r',"(?:low|high)":nan\b')
# Above the axis, from its left edge on, as long as it is.
_UPRIGHT: Final = {
    "titleAngle": 0,
    "titleAlign": "left",
    "titleAnchor": "end",
    "titleBaseline": "bottom",
    "titleY": -8,
}


def write_chart_file(plot: Plot, chart: str, *, title: str, subtitle: str, band: str) -> str:
    """Return the content of ``figures/<page>/<id>.vl.json``, which opens in any Vega-Lite editor.

    ``chart`` is the specification of the plot's shape as JSON, ``band`` names its intervals. Rows have
    ``series``, ``step`` and ``value``, and those of means ``low``, ``high`` and ``n``, with the digits of the
    CSV file; null is unknown, and so is an end that is left out.
    """
    spec: dict[str, Any] = resolve_specification(json.loads(chart))
    spec |= {"width": _WIDTH, "height": plot.height}
    spec["title"] = {"text": title, "subtitle": subtitle, "anchor": "start", "offset": 12}
    style = write_standalone_style()
    spec["config"] = {name: style[name] for name in ("font", "view", "axis")} | {"background": LIGHT["bg"]}
    sides = spec["layer"] if plot.right else [spec]
    for side, y in zip(sides, (plot.y, plot.right or plot.y), strict=False):
        _fill_side(side, plot, y, band)
    rows = ",\n    ".join(_write_rows(plot))
    text = write_readable_json({name: value for name, value in spec.items() if name != "data"})
    return f'{text[:-2]},\n  "data": {{"name": "{CURVES}", "values": [\n    {rows}\n  ]}}\n}}\n'


def write_readable_json(value: Any, indent: str = "") -> str:  # noqa: ANN401 - any JSON
    """Serialize to JSON with what fits into a line on one line; NaN is an error."""
    line = json.dumps(value, allow_nan=False, ensure_ascii=False)
    if len(indent) + len(line) <= _LONGEST_LINE or not isinstance(value, dict | list):
        return line
    deeper = f"{indent}  "
    if isinstance(value, list):
        parts, ends = [write_readable_json(part, deeper) for part in value], "[]"
    else:
        named = ((json.dumps(name), write_readable_json(part, deeper)) for name, part in value.items())
        parts, ends = [f"{name}: {part}" for name, part in named], "{}"
    return f"{ends[0]}\n{deeper}{f',{chr(10)}{deeper}'.join(parts)}\n{indent}{ends[1]}"


def index_layers(side: dict[str, Any]) -> dict[str, Any]:
    """Return the layers of one y axis by kind, from back to front."""
    return {_SIDE.sub("", layer["name"]): layer for layer in side["layer"]}


def _fill_side(side: dict[str, Any], plot: Plot, y: Axis, band: str) -> None:
    """Fill titles, domains and colours into the layers of one y axis."""
    names, shared = [line.label for line in plot.lines], side["encoding"]
    for channel, axis in (("x", plot.x), ("y", y)):
        shared[channel] |= {"title": axis.title, "scale": _make_scale(axis), "axis": _describe_axis(axis)}
    shared["y"]["axis"] |= _UPRIGHT
    shared["x"]["axis"]["grid"] = False
    colours = [resolve(get_colour(line.slot)) for line in plot.lines]
    shared["color"]["scale"] = {"domain": names, "range": colours}
    layers = index_layers(side)
    if not _fits_names(plot):
        shared["color"]["legend"] = dict(LEGEND)
        layers.pop("names", None)
    dashes = [list(get_dash(plot, line)) or [1, 0] for line in plot.lines]
    if any(line.dash is not None or line.look == "before" for line in plot.lines):
        layers["lines"]["encoding"] = {"strokeDash": _name_looks(names, dashes, shared["color"])}
    if plot.symbols:
        layers["points"]["encoding"]["shape"] = _name_looks(
            names, list(map(_name_symbol, plot.lines)), shared["color"]
        )
    _fill_tooltip(layers["points"]["encoding"]["tooltip"], plot, y, band)
    for name in _CLIPPED if plot.clip else ():
        if name in layers:
            layers[name]["mark"]["clip"] = True
    for layer in layers.values():
        if "data" in layer:
            layer["data"] = {"values": _list_marks(plot, layer["data"]["name"])}
    side["layer"] = list(layers.values())


def _name_looks(names: list[str], looks: list[Any], color: dict[str, Any]) -> dict[str, Any]:
    """Return the channel of a look of each series; it has a legend where the colours have one."""
    legend = {"legend": None} if color["legend"] is None else {"title": None}
    return {"field": "series", "type": "nominal", "scale": {"domain": names, "range": looks}} | legend


def _describe_axis(axis: Axis) -> dict[str, Any]:
    """Return the format of an axis, and ticks where Vega's own are other powers."""
    ticks: dict[str, Any] = {"tickCount": len(axis.ticks)}
    if axis.scale in LOGS:
        ticks = {"values": list(axis.ticks)}
    elif axis.format == ",.0f":  # of whole numbers
        ticks["tickMinStep"] = 1
    elif axis.format == SI:
        ticks["labelExpr"] = BILLIONS
    return {"format": axis.format} | ticks


def _make_scale(axis: Axis) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "log": {"type": "log"},
        "log2": {"type": "log", "base": 2},
        "time": {"type": "utc"},
    }
    return kinds.get(axis.scale, {}) | {"domain": list(axis.domain)}


def _fill_tooltip(tooltip: list[dict[str, Any]], plot: Plot, y: Axis, band: str) -> None:
    """Fill formats and titles into the tooltip of the points."""
    form = _get_format(y, has_interval=plot.band != "none")
    titles = {"step": plot.x.title, "value": y.title, "low": f"{band}, low", "high": f"{band}, high"}
    for part in tooltip:
        if part["field"] in titles:
            axis_format = _get_format(plot.x) if part["field"] == "step" else form
            part |= {"title": titles[part["field"]], "format": axis_format}


def _get_format(axis: Axis, *, has_interval: bool = False) -> str:
    """Return the format of single values, with the decimals that most of them have."""
    if axis.precision is None:
        return axis.read_format
    decimals = axis.precision.usual if has_interval else axis.precision.plain
    return f",.{max(0, decimals)}{'%' if axis.percent else 'f'}"


def _name_symbol(line: SeriesLine) -> str:
    """Return Vega's name of a line's symbol; none is a point without extent."""
    name = get_symbol(line)
    return "M0,0" if name == "none" else name


def _fits_names(plot: Plot) -> bool:
    """Return whether each name can stand at the end of its line: inside the plot, and apart from others."""
    heights = []
    for line in plot.lines:
        known = np.flatnonzero(np.isfinite(line.values))
        if known.size:
            if position(plot.x, line.steps[known[-1]]) > 1:
                return False
            heights.append(plot.find_pixel(line.values[known[-1]], plot.get_y(line)))
    heights.sort()
    inside = not heights or 0 <= heights[0] <= heights[-1] <= plot.height
    return inside and all(low - high > LABEL_SIZE for high, low in pairwise(heights))


def _list_marks(plot: Plot, name: str) -> list[dict[str, Any]]:
    """List the rows of reference lines or annotations."""
    if name == REFERENCES:
        return [
            {"value": mark.y, "text": mark.text} if mark.x is None else _place_text(plot, mark)
            for mark in plot.references
        ]
    return [_place_text(plot, mark) | {"value": mark.y, "right": mark.right} for mark in plot.annotations]


def _place_text(plot: Plot, mark: Mark) -> dict[str, Any]:
    """Return the row of a mark at a step; ``late`` is in the right half, where its text ends at the step."""
    late = position(plot.x, mark.x or 0) > 1 / 2
    return {"step": mark.x, "text": mark.text, "late": late}


def _write_rows(plot: Plot) -> Iterator[str]:
    """Yield the rows of means and runs as JSON, many in one text."""
    for line in plot.lines:
        own: dict[str, Any] = {"series": line.label} | ({"right": True} if line.right else {})
        own |= {"shift": line.shift} if plot.whiskers or any(other.bars for other in plot.lines) else {}
        own |= {"bars": True} if line.bars else {}
        columns = {"step": line.steps, "value": line.values}
        if np.isfinite(line.low).any():
            columns |= {"low": line.low, "high": line.high}
        columns |= {"n": line.n.astype(np.float64)} | ({} if line.raw is None else {"raw": line.raw})
        yield _format_rows(own, columns)
        runs = thin_together([(run.steps, run.values) for run in line.runs], _RUN_POINTS)
        for run, (steps, values) in zip(line.runs, runs, strict=True):
            yield _format_rows(own | {"run": run.name}, {"step": steps, "value": values})


def _format_rows(own: dict[str, Any], columns: dict[str, FloatArray]) -> str:
    """Format objects of the same texts and of a number from each column; one that is unknown is null.

    One formatting call for all rows is several times as fast as one for each number.
    """
    start = json.dumps(own, separators=(",", ":"), ensure_ascii=False)[:-1]
    form = "".join(f',"{name}":{_DIGITS.get(name, _TEN_DIGITS)}' for name in columns)
    table = np.column_stack(list(columns.values()))
    numbers = "\n".join([form] * len(table)) % tuple(table.ravel().tolist())
    numbers = _UNKNOWN.sub(":null", _UNKNOWN_END.sub("", numbers))
    return ",\n    ".join(f"{start}{row}}}" for row in numbers.split("\n"))
