"""The Altair chart of a plot. It draws numbers and computes none: the band is the table's interval.

Altair checks every part of a chart, which costs tens of milliseconds. So a chart is made once for each
``Shape`` and filled with a plot's own titles, domains and colours as a plain dictionary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import altair as alt

from reportgen.figures.layout import LABEL_SIZE, TICK_SIZE
from reportgen.figures.palette import SYMBOLS
from reportgen.figures.picture import SYMBOL_PATHS, colour, dash

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.figures.axis import Axis, ScaleKind
    from reportgen.figures.plot import Plot

MEANS, RUNS, ENDS, REFERENCES, ANNOTATIONS = "means", "runs", "ends", "references", "annotations"
# Vega draws a symbol path in units of half the square root of its size: 4 keeps our pixels.
_SYMBOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides the layers of a chart; plots of one shape differ in data, titles and colours only."""

    x_scale: ScaleKind
    y_scale: ScaleKind
    band: bool
    runs: bool
    raw: bool
    symbols: bool
    across: bool
    down: bool
    annotations: bool
    ends: bool


def shape_of(plot: Plot) -> Shape:
    """The shape of a plot's chart."""
    return Shape(
        x_scale=plot.x.scale,
        y_scale=plot.y.scale,
        band=plot.band != "none",
        runs=any(line.runs for line in plot.lines),
        raw=any(line.raw is not None for line in plot.lines),
        symbols=plot.symbols,
        across=any(mark.y is not None for mark in plot.references),
        down=any(mark.x is not None for mark in plot.references),
        annotations=bool(plot.annotations),
        ends=bool(plot.ends),
    )


@cache
def skeleton(shape: Shape) -> dict[str, Any]:
    """The Vega-Lite specification of a shape, without data; not to be changed, copy it.

    Layers of references, bands, runs, means, symbols, annotations and line ends. The data are named:
    ``means`` (rows ``series, step, value, low, high, raw``), ``runs`` (``series, run, step, value``),
    ``ends`` (``series, text, y`` in pixels), ``references`` (``step`` or ``value``, ``text``) and
    ``annotations`` (``step, value, text, anchor, above``).
    """
    on = _Encodings(shape)
    layers = [*_reference_layers(shape, on), *_line_layers(shape, on)]
    if shape.annotations:
        layers += _annotation_layers(on)
    if shape.ends:
        layers.append(_ends_layer(on))
    layered = alt.layer(*layers).properties(width=640, height=320, autosize="none")
    specification: dict[str, Any] = layered.configure(**_configuration()).to_dict(validate=False)
    # Altair moves the data of layers that all share it to the top.
    shared = specification.pop("data", None)
    for layer in specification["layer"] if shared else ():
        layer["data"] = dict(shared)
    return specification


@cache
def _skeleton_text(shape: Shape) -> str:
    return json.dumps(skeleton(shape))


def filled(plot: Plot, keys: list[str], resolved: Callable[[str], str]) -> dict[str, Any]:
    """The specification of a plot, still without data.

    Args:
        plot: what is drawn.
        keys: what identifies its series in the rows.
        resolved: replaces CSS variables by colours.
    """
    specification: dict[str, Any] = json.loads(resolved(_skeleton_text(shape_of(plot))))
    scales = {
        "color": {"domain": keys, "range": [resolved(colour(line.slot)) for line in plot.lines]},
        "strokeDash": {"domain": keys, "range": [list(dash(plot, line)) or [1, 0] for line in plot.lines]},
        "shape": {"domain": keys, "range": [SYMBOL_PATHS[SYMBOLS[line.slot or 0]] for line in plot.lines]},
        "x": {"domain": list(plot.x.domain)},
        "y": {"domain": list(plot.y.domain)},
    }
    scales["fill"] = scales["color"]
    for layer in specification["layer"]:
        for channel, encoding in layer["encoding"].items():
            if channel in scales and encoding.get("scale") is not None:
                encoding["scale"].update(scales[channel])
            if channel in {"x", "y"} and encoding.get("axis"):
                encoding["axis"].update(_words(plot.x if channel == "x" else plot.y))
            if channel == "y" and encoding.get("axis"):
                encoding["axis"]["titleX"] = -plot.margins.left
    specification["height"] = plot.height
    return specification


def _words(axis: Axis) -> dict[str, Any]:
    return {"title": axis.title, "values": list(axis.ticks), "format": axis.format}


class _Encodings:
    """The channels that layers share, with explicit types (a shorthand costs ten times as long)."""

    def __init__(self, shape: Shape) -> None:
        inks = alt.Scale(domain=["0"], range=["black"])
        temporal = shape.x_scale == "time"
        kind: Any = "temporal" if temporal else "quantitative"
        self.x = alt.X("step", type=kind, scale=_scale(shape.x_scale), axis=_x_axis())
        self.y = alt.Y("value", type="quantitative", scale=_scale(shape.y_scale), axis=_y_axis())
        self.low = alt.Y("low", type="quantitative", scale=_scale(shape.y_scale), axis=_y_axis())
        self.raw = alt.Y("raw", type="quantitative", scale=_scale(shape.y_scale), axis=_y_axis())
        self.color = alt.Color("series", type="nominal", scale=inks, legend=None)
        self.fill = alt.Fill("series", type="nominal", scale=inks, legend=None)
        dashes = alt.Scale(domain=["0"], range=[[1, 0]])
        self.dash = alt.StrokeDash("series", type="nominal", scale=dashes, legend=None)
        shapes = alt.Scale(domain=["0"], range=["circle"])
        self.shape = alt.Shape("series", type="nominal", scale=shapes, legend=None)


def _line_layers(shape: Shape, on: _Encodings) -> list[alt.Chart]:
    means = alt.NamedData(MEANS)
    layers = []
    if shape.band:
        band = alt.Chart(means, name="bands").mark_area(opacity=0.16, aria=False, clip=True)
        layers.append(band.encode(x=on.x, y=on.low, y2=alt.Y2("high"), fill=on.fill))
    if shape.runs:
        run = alt.Detail("run", type="nominal")
        thin = alt.Chart(alt.NamedData(RUNS), name="runs")
        thin = thin.mark_line(strokeWidth=1, opacity=0.32, strokeJoin="round", aria=False, clip=True)
        layers.append(thin.encode(x=on.x, y=on.y, color=on.color, detail=run))
    if shape.raw:
        faint = alt.Chart(means, name="raw").mark_line(strokeWidth=1, opacity=0.4, aria=False, clip=True)
        layers.append(faint.encode(x=on.x, y=on.raw, color=on.color))
    line = alt.Chart(means, name="lines").mark_line(strokeWidth=2, strokeJoin="round", aria=False, clip=True)
    layers.append(line.encode(x=on.x, y=on.y, color=on.color, strokeDash=on.dash))
    if shape.symbols:
        point = alt.Chart(means, name="points")
        point = point.mark_point(filled=True, opacity=1, size=_SYMBOL_SIZE, aria=False, clip=True)
        layers.append(point.encode(x=on.x, y=on.y, fill=on.fill, shape=on.shape))
    return layers


def _reference_layers(shape: Shape, on: _Encodings) -> list[alt.Chart]:
    layers = []
    data = alt.NamedData(REFERENCES)
    words: dict[str, Any] = {"color": _MUTED, "fontSize": TICK_SIZE, "align": "left", "aria": False}
    if shape.across:
        across = alt.Chart(data).transform_filter("isValid(datum.value)")
        rule = across.mark_rule(color=_MUTED, strokeDash=[2, 3], clip=True, aria=False)
        layers.append(rule.encode(y=on.y))
        text = across.mark_text(dx=4, dy=-5, baseline="alphabetic", clip=True, **words)
        layers.append(text.encode(y=on.y, x=alt.value(0), text=_TEXT))
    if shape.down:
        down = alt.Chart(data).transform_filter("isValid(datum.step)")
        rule = down.mark_rule(color=_MUTED, strokeDash=[2, 3], clip=True, aria=False)
        layers.append(rule.encode(x=on.x))
        text = down.mark_text(dx=5, baseline="alphabetic", clip=True, **words)
        layers.append(text.encode(x=on.x, y=alt.value(10), text=_TEXT))
    return layers


def _annotation_layers(on: _Encodings) -> list[alt.Chart]:
    base = alt.Chart(alt.NamedData(ANNOTATIONS)).encode(x=on.x, y=on.y)
    ring = base.mark_point(
        shape="circle", size=144, stroke=_INK, strokeWidth=1, opacity=1, aria=False, clip=True
    )
    layers = [ring]
    sides: tuple[tuple[str, Any], ...] = (("start", "left"), ("middle", "center"), ("end", "right"))
    for anchor, align in sides:
        for above, shift in (("true", -12), ("false", 22)):
            here = base.transform_filter(f"datum.anchor === '{anchor}' && datum.above === {above}")
            text = here.mark_text(
                dy=shift, align=align, baseline="alphabetic", color=_INK, fontSize=TICK_SIZE, aria=False
            )
            layers.append(text.encode(text=_TEXT))
    return layers


def _ends_layer(on: _Encodings) -> alt.Chart:
    text = alt.Chart(alt.NamedData(ENDS), name="ends").mark_text(
        align="left", baseline="middle", dx=10, fontSize=LABEL_SIZE, fontWeight=600, aria=False
    )
    y = alt.Y("y", type="quantitative", scale=None, axis=None)
    layer: alt.Chart = text.encode(x=alt.value("width"), y=y, text=_TEXT, color=on.color)
    return layer


_INK, _MUTED, _GRID, _RULE, _FONT = (
    f"var(--rg-{name})" for name in ("text", "muted", "grid", "rule", "font")
)
_TEXT = alt.Text("text", type="nominal")


def _scale(kind: ScaleKind) -> alt.Scale:
    names: dict[ScaleKind, Any] = {"linear": "linear", "log": "log", "time": "utc"}
    return alt.Scale(type=names[kind], domain=[1, 2], nice=False, zero=False)


def _x_axis() -> alt.Axis:
    return alt.Axis(
        grid=False,
        tickColor=_RULE,
        domainColor=_RULE,
        labelFlush=False,
        labelPadding=5,
        titleY=38,
        titleAnchor="middle",
        titleBaseline="alphabetic",
    )


def _y_axis() -> alt.Axis:
    return alt.Axis(
        domain=False,
        ticks=False,
        labelPadding=8,
        gridColor=_GRID,
        titleAngle=0,
        titleAlign="left",
        titleBaseline="alphabetic",
        titleX=0,
        titleY=-14,
    )


def _configuration() -> dict[str, Any]:
    return {
        "background": "transparent",
        "font": _FONT,
        "view": alt.ViewConfig(stroke=None),
        "axis": alt.AxisConfig(
            labelColor=_MUTED,
            titleColor=_INK,
            labelFontSize=TICK_SIZE,
            titleFontSize=TICK_SIZE,
            titleFontWeight=400,
            labelOverlap=False,
            labelBound=False,
        ),
    }
