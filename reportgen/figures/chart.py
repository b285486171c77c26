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

from reportgen.figures.chart_layers import DOMAIN, INK, MUTED, layers
from reportgen.figures.layout import TICK_SIZE
from reportgen.figures.palette import SYMBOLS
from reportgen.figures.picture import SYMBOL_PATHS, colour, dash

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.figures.axis import Axis, ScaleKind
    from reportgen.figures.plot import Plot


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

    The data are named:
    ``means`` (rows ``series, step, value, low, high, raw``), ``runs`` (``series, run, step, value``),
    ``ends`` (``series, text, y`` in pixels), ``references`` (``step`` or ``value``, ``text``) and
    ``annotations`` (``step, value, text, anchor, above``).
    """
    layered = alt.layer(*layers(shape)).properties(width=640, height=320, autosize="none")
    specification: dict[str, Any] = layered.configure(**_configuration()).to_dict(validate=False)
    if shape.y_scale == "log":
        specification["params"] = [{"name": DOMAIN, "value": [1, 2]}]
    # Altair moves the data of layers that all share it to the top.
    shared = specification.pop("data", None)
    for layer in specification["layer"] if shared else ():
        layer["data"] = dict(shared)
    return specification


@cache
def skeleton_text(shape: Shape) -> str:
    """The specification of a shape as JSON."""
    return json.dumps(skeleton(shape))


def filled(plot: Plot, keys: list[str], resolved: Callable[[str], str]) -> dict[str, Any]:
    """The specification of a plot, still without data.

    Args:
        plot: what is drawn.
        keys: what identifies its series in the rows.
        resolved: replaces CSS variables by colours.
    """
    specification: dict[str, Any] = json.loads(resolved(skeleton_text(shape_of(plot))))
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
    if plot.y.scale == "log":
        specification["params"] = [{"name": DOMAIN, "value": list(plot.y.domain)}]
    return specification


def _words(axis: Axis) -> dict[str, Any]:
    return {"title": axis.title, "values": list(axis.ticks), "format": axis.format}


def _configuration() -> dict[str, Any]:
    return {
        "background": "transparent",
        "font": "var(--rg-font)",
        "view": alt.ViewConfig(stroke=None),
        "axis": alt.AxisConfig(
            labelColor=MUTED,
            titleColor=INK,
            labelFontSize=TICK_SIZE,
            titleFontSize=TICK_SIZE,
            titleFontWeight=400,
            labelOverlap=False,
            labelBound=False,
        ),
    }
