"""The Altair chart of a shape. It draws numbers and computes none: the band is the table's interval.

Altair checks every part of a chart, which costs tens of milliseconds, and its import half a second. So a
chart is made once for each ``ChartShape``, and ``shape.filled`` puts a plot's own titles, domains and colours
into it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import altair as alt

from reportgen.figures.chart_layers import INK, MUTED, make_layers
from reportgen.figures.layout import TICK_SIZE
from reportgen.figures.shape import DOMAIN

if TYPE_CHECKING:
    from reportgen.figures.shape import ChartShape


@cache
def build_chart_spec(shape: ChartShape) -> dict[str, Any]:
    """The Vega-Lite specification of a shape, without data; not to be changed, copy it.

    The data are named:
    ``means`` (rows ``series, step, value, low, high, raw``), ``runs`` (``series, run, step, value``),
    ``ends`` (``series, text, y`` in pixels), ``references`` (``step`` or ``value``, ``text``) and
    ``annotations`` (``step, value, text``); both with what ``shape.placed`` says.
    """
    layered = alt.layer(*make_layers(shape)).properties(width=640, height=320, autosize="none")
    specification: dict[str, Any] = layered.configure(**_make_configuration()).to_dict(validate=False)
    if shape.y_scale == "log":
        specification["params"] = [{"name": DOMAIN, "value": [1, 2]}]
    # Altair moves the data of layers that all share it to the top.
    shared = specification.pop("data", None)
    for layer in specification["layer"] if shared else ():
        layer["data"] = dict(shared)
    return specification


@cache
def write_chart_spec(shape: ChartShape) -> str:
    """The specification of a shape as JSON."""
    return json.dumps(build_chart_spec(shape))


def _make_configuration() -> dict[str, Any]:
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
