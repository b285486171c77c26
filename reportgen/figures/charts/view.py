"""The live view of a plot: the chart of its shape, as a page draws it.

Names at line ends, labels and leaders stand where the still picture has them, and data come from the page.
This needs no Altair, so a build with only known shapes does not import it.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from reportgen.figures.charts.chart_file import index_layers
from reportgen.figures.plot import ENDS, MEANS, RUNS
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE

if TYPE_CHECKING:
    from reportgen.figures.axis import ScaleKind
    from reportgen.figures.plot import ChartShape

_INK, _MUTED, _GRID, _RULE = (f"var(--rg-{name})" for name in ("text", "muted", "grid", "rule"))
# Vega scales a symbol's path by half the square root of its size: with 4, path units are pixels.
_SYMBOL_SIZE: Final = 4
_TYPES: Final[dict[ScaleKind, dict[str, Any]]] = {"log2": {"type": "log", "base": 2}, "time": {"type": "utc"}}
_CONFIG: Final = {
    "background": "transparent",
    "font": "var(--rg-font)",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _MUTED,
        "titleColor": _INK,
        "labelFontSize": TICK_SIZE,
        "titleFontSize": TICK_SIZE,
        "titleFontWeight": 400,
        "labelOverlap": False,
        "labelBound": False,
    },
}
_X_AXIS: Final = {
    "grid": False,
    "tickColor": _RULE,
    "domainColor": _RULE,
    "labelFlush": False,
    "labelPadding": 5,
    "titleY": 38,
    "titleAnchor": "middle",
    "titleBaseline": "alphabetic",
}
_Y_AXIS: Final = {
    "domain": False,
    "titleAngle": 0,
    "titleBaseline": "alphabetic",
    "titleX": 0,
    "titleY": -14,
}
_LEFT: Final = {"ticks": False, "labelPadding": 8, "gridColor": _GRID, "titleAlign": "left"}
# The grid is that of the left axis.
_RIGHT: Final = {
    "orient": "right",
    "grid": False,
    "tickColor": _RULE,
    "tickSize": 5,
    "labelPadding": 4,
    "titleAlign": "right",
}
_PIXELS: Final = {"type": "quantitative", "scale": None, "axis": None}
_EDGE: Final = {"value": "width"}
_FROM_ROW: Final = {name: {"expr": f"datum.{name}"} for name in ("align", "dx", "dy")}
_WORDS: Final = {"baseline": "alphabetic", "fontSize": TICK_SIZE}
# Names at line ends, thin lines to names away from them, and dotted lines from lines that end early.
_END_LAYERS: Final[dict[str, Any]] = {
    "early": {
        "transform": [{"filter": "isValid(datum.step)"}],
        "mark": {"type": "rule", "strokeDash": [1, 4], "strokeWidth": 1, "clip": True},
        "encoding": {"x2": _EDGE, "y": {"field": "at"} | _PIXELS},
    },
    "leaders": {
        "transform": [{"filter": "isValid(datum.at)"}],
        "mark": {"type": "rule", "strokeWidth": 1, "xOffset": 6, "x2Offset": {"expr": "datum.dx - 4"}},
        "encoding": {"x": _EDGE, "x2": _EDGE, "y": {"field": "at"} | _PIXELS, "y2": {"field": "y"}},
    },
    "ends": {
        "mark": {"type": "text", "fontSize": LABEL_SIZE, "fontWeight": 600, "align": "left"}
        | {"baseline": "middle", "dx": _FROM_ROW["dx"]},
        "encoding": {"x": _EDGE, "y": {"field": "y"} | _PIXELS, "text": {"field": "text", "type": "nominal"}},
    },
}
_OFFSETS: Final = {"yOffset": {"expr": "datum.from"}, "y2Offset": {"expr": "datum.to"}}


def write_view(chart: str, shape: ChartShape) -> str:
    """Return the Vega-Lite specification of a shape's live view as JSON; ``chart`` is that of its files.

    The data are named, and ``site/assets/live-view.js`` has their rows: ``means`` (``series, step, value,
    low, high, raw``), ``runs`` (``series, run, step, value``), ``ends`` (``series, text, y`` in pixels),
    ``references`` (``step`` or ``value``, ``text``) and ``annotations`` (``step, value, text``); rows of the
    last two also place their text.
    """
    specification: dict[str, Any] = json.loads(chart)
    specification.pop("params", None)
    sides = specification["layer"] if shape.right else [specification]
    for side, scale in zip(sides, (shape.y_scale, "linear"), strict=False):
        _adapt_side(side, shape, scale, right=side is not sides[0])
    specification |= {"width": 640, "height": 320, "autosize": "none", "config": _CONFIG}
    return json.dumps(specification)


def _adapt_side(side: dict[str, Any], shape: ChartShape, scale: ScaleKind, *, right: bool) -> None:
    """Adapt the layers of one y axis."""
    shared, layers = side["encoding"], index_layers(side)
    shared["x"] |= {"scale": _make_scale(shape.x_scale), "axis": _X_AXIS}
    shared["y"] |= {"scale": _make_scale(scale), "axis": _Y_AXIS | (_RIGHT if right else _LEFT)}
    shared["color"] = _name_look("black")
    for kind in ("bands", "bars", "runs", "raw", "lines", "points"):
        if kind in layers:
            _adapt_line_layer(kind, layers[kind])
    if not shape.symbols:
        del layers["points"]
    for kind in layers.keys() & {"levels", "level_labels", "steps", "step_labels"}:
        layers[kind]["mark"]["clip"] = True
    if "level_labels" in layers:
        layers["level_labels"]["mark"] |= _WORDS | {"dy": -5}
    if "step_labels" in layers:
        _place_words(layers["step_labels"])
    if "annotations" in layers:
        labels = layers.pop("annotation_labels")
        layers["annotation_leaders"] = _make_leaders(labels)
        layers["annotation_labels"] = _place_words(labels)
    if layers.pop("names", None) and not right:
        layers |= {name: layer | {"data": {"name": ENDS}} for name, layer in deepcopy(_END_LAYERS).items()}
    for kind, layer in layers.items():
        layer["name"] = f"right_{kind}" if right else kind
        layer["mark"]["aria"] = False
    side["layer"] = list(layers.values())


def _make_scale(kind: ScaleKind) -> dict[str, Any]:
    return {"type": kind} | _TYPES.get(kind, {}) | {"domain": [1, 2], "nice": False, "zero": False}


def _name_look(first: str | list[int]) -> dict[str, Any]:
    """Return the channel of a look of each series, whose scale becomes signals."""
    scale = {"domain": ["0"], "range": [first]}
    return {"field": "series", "type": "nominal", "legend": None, "scale": scale}


def _adapt_line_layer(kind: str, layer: dict[str, Any]) -> None:
    layer["data"] = {"name": RUNS if kind == "runs" else MEANS}
    layer["mark"]["clip"] = True
    if kind in {"lines", "runs"}:
        layer["mark"]["strokeJoin"] = "round"
    if kind == "lines":
        layer["encoding"] = {"strokeDash": _name_look([1, 0])}
    elif kind == "points":
        layer["mark"]["size"] = _SYMBOL_SIZE
        layer["encoding"] = {"shape": _name_look("circle")}


def _place_words(labels: dict[str, Any]) -> dict[str, Any]:
    """Place labels as their rows say; those without a place are not shown."""
    labels["mark"] |= _WORDS | _FROM_ROW
    labels["transform"] = [*labels.get("transform", []), {"filter": "isValid(datum.align)"}]
    return labels


def _make_leaders(labels: dict[str, Any]) -> dict[str, Any]:
    """Return the layer of thin lines from annotations to their labels."""
    shown = [*labels.get("transform", []), {"filter": "isValid(datum.to)"}]
    mark = {"type": "rule", "strokeWidth": 1, **_OFFSETS}
    encoding = {"color": {"value": _MUTED}, "y2": {"field": "value"}}
    return {"data": labels["data"], "transform": shown, "mark": mark, "encoding": encoding}
