"""The chart from which the live figures of a shape are compiled, layered from back to front.

It draws numbers and computes none. Its lines and bands become paths that a page makes, and its domains, ticks
and colours signals, so that a view serves all figures of its shape.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import altair as alt
from msgspec.structs import replace

from reportgen.figures.axis import LOGS
from reportgen.figures.paths import RUNS_ASIDE
from reportgen.figures.plot import ANNOTATIONS, DOMAIN, ENDS, MEANS, REFERENCES, RIGHT, RUNS, SHIFTS
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE

if TYPE_CHECKING:
    from reportgen.figures.axis import ScaleKind
    from reportgen.figures.plot import ChartShape


INK, MUTED, GRID, RULE = (f"var(--rg-{name})" for name in ("text", "muted", "grid", "rule"))
# Vega scales a symbol's path by half the square root of its size: with 4, path units are pixels.
_SYMBOL_SIZE = 4
_TEXT = alt.Text("text", type="nominal")
_HAS_WORDS = "isValid(datum.align)"
# Fields of a row that place its text.
_FROM_ROW: dict[str, Any] = {
    name: alt.ExprRef(f"datum.{name}") for name in ("align", "dx", "dy", "from", "to")
}
_PLACED: dict[str, Any] = {name: _FROM_ROW[name] for name in ("align", "dx", "dy")}
_CLIPPED: dict[str, Any] = {"aria": False, "clip": True}
_SHIFT = f"{SHIFTS}[datum.series] * width"
_WORDS: dict[str, Any] = {"baseline": "alphabetic", "fontSize": TICK_SIZE, "aria": False}


@cache
def write_view(shape: ChartShape) -> str:
    """Return the Vega-Lite specification of a chart shape as JSON, without data.

    The data are named:
    ``means`` (rows ``series, step, value, low, high, raw``), ``runs`` (``series, run, step, value``),
    ``ends`` (``series, text, y`` in pixels), ``references`` (``step`` or ``value``, ``text``) and
    ``annotations`` (``step, value, text``); rows of the last two also place their text.
    """
    specification = _write_side(shape)
    if shape.right:
        own = replace(shape, y_scale="linear", across=False, down=False, ends=False)
        sides = (specification, _write_side(own, right=True))
        specification["layer"] = [{"layer": side["layer"]} for side in sides]
        specification["resolve"] = {"scale": {"y": "independent"}}
    params: dict[str, Any] = {DOMAIN: [1, 2]} if shape.y_scale == "log" else {}
    params |= ({RIGHT: []} if shape.right else {}) | ({SHIFTS: {}} if shape.whiskers else {})
    if params:
        specification["params"] = [{"name": name, "value": value} for name, value in params.items()]
    return json.dumps(specification)


def _write_side(shape: ChartShape, *, right: bool = False) -> dict[str, Any]:
    """Write the specification of what is on one y axis."""
    on = _Encodings(shape, right=right)
    behind, front = _make_word_layers(shape, on)
    layers = [*behind, *_make_line_layers(shape, on), *front]
    axis = alt.AxisConfig(
        labelColor=MUTED,
        titleColor=INK,
        labelFontSize=TICK_SIZE,
        titleFontSize=TICK_SIZE,
        titleFontWeight=400,
        labelOverlap=False,
        labelBound=False,
    )
    layered = alt.layer(*layers).properties(width=640, height=320, autosize="none")
    configured = layered.configure(
        background="transparent", font="var(--rg-font)", view=alt.ViewConfig(stroke=None), axis=axis
    )
    specification: dict[str, Any] = configured.to_dict(validate=False)
    # Altair moves data shared by all layers to the top level.
    shared = specification.pop("data", None)
    for layer in specification["layer"] if shared else ():
        layer["data"] = dict(shared)
    return specification


class _Encodings:
    """Encoding channels shared by the layers, with explicit types (shorthands take ten times as long)."""

    def __init__(self, shape: ChartShape, *, right: bool) -> None:
        self.two_axes, self.right = shape.right, right
        inks = alt.Scale(domain=["0"], range=["black"])
        kind: Any = "temporal" if shape.x_scale == "time" else "quantitative"
        self.x = alt.X(
            "step",
            type=kind,
            scale=_make_scale(shape.x_scale),
            axis=alt.Axis(
                grid=False,
                tickColor=RULE,
                domainColor=RULE,
                labelFlush=False,
                labelPadding=5,
                titleY=38,
                titleAnchor="middle",
                titleBaseline="alphabetic",
            ),
        )
        title: dict[str, Any] = {"titleAngle": 0, "titleBaseline": "alphabetic", "titleX": 0, "titleY": -14}
        ground: dict[str, Any] = {"ticks": False, "labelPadding": 8, "gridColor": GRID, "titleAlign": "left"}
        if right:  # the grid is that of the left axis
            ground = {"orient": "right", "grid": False, "tickColor": RULE, "tickSize": 5, "labelPadding": 4}
            ground["titleAlign"] = "right"
        down = alt.Axis(domain=False, **ground, **title)
        self.y, self.low, self.raw = (
            alt.Y(name, type="quantitative", scale=_make_scale(shape.y_scale), axis=down)
            for name in ("value", "low", "raw")
        )
        nominal: dict[str, Any] = {"type": "nominal", "legend": None}
        dashes, shapes = (alt.Scale(domain=["0"], range=[first]) for first in ([1, 0], "circle"))
        self.color = alt.Color("series", scale=inks, **nominal)
        self.fill = alt.Fill("series", scale=inks, **nominal)
        self.dash = alt.StrokeDash("series", scale=dashes, **nominal)
        self.shape = alt.Shape("series", scale=shapes, **nominal)

    def take(self, data: str, name: str) -> alt.Chart:
        """Make a chart of the rows whose series are on this y axis; ``name`` is that of its layer."""
        chart = alt.Chart(alt.NamedData(data), name=f"right_{name}" if self.right else name)
        if not self.two_axes:
            return chart
        return chart.transform_filter(f"indexof({RIGHT}, datum.series) {'>=' if self.right else '<'} 0")


def _make_scale(kind: ScaleKind) -> alt.Scale:
    types: dict[ScaleKind, dict[str, Any]] = {"log2": {"type": "log", "base": 2}, "time": {"type": "utc"}}
    return alt.Scale(**types.get(kind, {"type": kind}), domain=[1, 2], nice=False, zero=False)


def _make_line_layers(shape: ChartShape, on: _Encodings) -> list[alt.Chart]:
    layers = []
    moved: dict[str, Any] = {"xOffset": alt.ExprRef(_SHIFT)} if shape.whiskers else {}
    if shape.band and shape.whiskers:
        band = _keep_positive(on.take(MEANS, "bands"), shape, "high")
        band = band.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, **moved, **_CLIPPED)
        layers.append(band.encode(x=on.x, y=on.low, y2=alt.Y2("high"), color=on.color))
    elif shape.band:
        band = _keep_positive(on.take(MEANS, "bands").mark_area(opacity=0.16, **_CLIPPED), shape, "high")
        if shape.y_scale == "log":
            # A band that extends below the domain of a log axis starts at the bottom of the plot.
            foot = f"isValid(datum.low) && datum.low <= 0 ? {DOMAIN}[0] : datum.low"
            band = band.transform_calculate(low=foot)
        layers.append(band.encode(x=on.x, y=on.low, y2=alt.Y2("high"), fill=on.fill))
    if shape.runs:
        run = alt.Detail("run", type="nominal")
        thin = on.take(RUNS, "runs")
        thin = _keep_positive(thin, shape, "value")
        if shape.whiskers:
            aside = alt.ExprRef(f"{_SHIFT} + {RUNS_ASIDE}")
            thin = thin.mark_point(
                filled=True, shape="circle", size=28, opacity=0.4, xOffset=aside, **_CLIPPED
            )
            layers.append(thin.encode(x=on.x, y=on.y, fill=on.fill, detail=run))
        else:
            thin = thin.mark_line(strokeWidth=1, opacity=0.32, strokeJoin="round", **_CLIPPED)
            layers.append(thin.encode(x=on.x, y=on.y, color=on.color, detail=run))
    if shape.raw:
        faint = on.take(MEANS, "raw").mark_line(strokeWidth=1, opacity=0.4, **_CLIPPED)
        faint = _keep_positive(faint, shape, "raw")
        layers.append(faint.encode(x=on.x, y=on.raw, color=on.color))
    line = on.take(MEANS, "lines").mark_line(strokeWidth=2, strokeJoin="round", **moved, **_CLIPPED)
    line = _keep_positive(line, shape, "value")
    layers.append(line.encode(x=on.x, y=on.y, color=on.color, strokeDash=on.dash))
    if shape.symbols:
        point = _keep_positive(on.take(MEANS, "points"), shape, "value")
        point = point.mark_point(filled=True, opacity=1, size=_SYMBOL_SIZE, **moved, **_CLIPPED)
        layers.append(point.encode(x=on.x, y=on.y, fill=on.fill, shape=on.shape))
    return layers


def _keep_positive(chart: alt.Chart, shape: ChartShape, field: str) -> alt.Chart:
    """Drop values that a log axis cannot show; Vega would draw them at the bottom of the plot."""
    if shape.x_scale in LOGS:
        chart = chart.transform_filter("datum.step > 0")
    if shape.y_scale == "log":
        chart = chart.transform_calculate(**{field: f"datum.{field} > 0 ? datum.{field} : null"})
    return chart


def _make_word_layers(shape: ChartShape, on: _Encodings) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """Return the layers behind the lines (reference lines) and in front (annotations and line-end labels)."""
    behind, front = [], []
    rows = alt.Chart(alt.NamedData(REFERENCES))
    line: dict[str, Any] = {"color": MUTED, "strokeDash": [2, 3], **_CLIPPED}
    words: dict[str, Any] = {"color": MUTED, "clip": True, **_WORDS}
    if shape.across:
        across = rows.transform_filter("isValid(datum.value)")
        text = across.mark_text(dx=4, dy=-5, align="left", **words)
        behind += [across.mark_rule(**line).encode(y=on.y), text.encode(y=on.y, x=alt.value(0), text=_TEXT)]
    if shape.down:
        down = rows.transform_filter("isValid(datum.step)")
        text = down.transform_filter(_HAS_WORDS).mark_text(**_PLACED, **words)
        behind += [down.mark_rule(**line).encode(x=on.x), text.encode(x=on.x, y=alt.value(0), text=_TEXT)]
    if shape.annotations:
        base = alt.Chart(alt.NamedData(ANNOTATIONS)).encode(x=on.x, y=on.y)
        if on.two_axes:
            base = base.transform_filter("datum.right" if on.right else "!datum.right")
        ring = base.mark_point(shape="circle", size=144, stroke=INK, strokeWidth=1, opacity=1, **_CLIPPED)
        leader = base.transform_filter("isValid(datum.to)").encode(y2=alt.Y2("value"))
        ends = {"yOffset": _FROM_ROW["from"], "y2Offset": _FROM_ROW["to"]}
        leader = leader.mark_rule(**ends, color=MUTED, strokeWidth=1, aria=False)
        text = base.properties(name="right_notes" if on.right else "notes").transform_filter(_HAS_WORDS)
        front += [ring, leader, text.mark_text(color=INK, **_WORDS, **_PLACED).encode(text=_TEXT)]
    if shape.ends:
        front += _make_end_layers(on)
    return behind, front


def _make_end_layers(on: _Encodings) -> list[alt.Chart]:
    """Return the names at the line ends, and thin lines from there to names that are away from them."""
    rows, edge = alt.Chart(alt.NamedData(ENDS)).encode(color=on.color), alt.value("width")
    y, at = (alt.Y(name, type="quantitative", scale=None, axis=None) for name in ("y", "at"))
    across = rows.properties(name="early").transform_filter("isValid(datum.step)")
    across = across.mark_rule(strokeDash=[1, 4], strokeWidth=1, **_CLIPPED)
    leader = rows.properties(name="leaders").transform_filter("isValid(datum.at)")
    leader = leader.mark_rule(xOffset=6, x2Offset=alt.ExprRef("datum.dx - 4"), strokeWidth=1, aria=False)
    text = rows.properties(name="ends").mark_text(
        align="left", baseline="middle", dx=_FROM_ROW["dx"], fontSize=LABEL_SIZE, fontWeight=600, aria=False
    )
    return [
        across.encode(x=on.x, x2=edge, y=at),
        leader.encode(x=edge, x2=edge, y=at, y2=alt.Y2("y")),
        text.encode(x=edge, y=y, text=_TEXT),
    ]
