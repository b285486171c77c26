"""The shape of a plot's chart: what decides its layers, and what fills a shape with a plot's own words.

This needs no Altair, so that a build whose shapes are all known does without importing it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reportgen.figures.palette import SYMBOLS
from reportgen.figures.picture import SYMBOL_PATHS, get_colour, get_dash

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.figures.axis import Axis, ScaleKind
    from reportgen.figures.plot import Mark, Plot

MEANS, RUNS, ENDS, REFERENCES, ANNOTATIONS = "means", "runs", "ends", "references", "annotations"
DOMAIN = "y_domain"
"""The parameter of charts with a log y axis that holds the axis' ends."""


@dataclass(frozen=True, slots=True)
class ChartShape:
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


def get_shape(plot: Plot) -> ChartShape:
    """The shape of a plot's chart."""
    return ChartShape(
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


def fill_spec(plot: Plot, chart_spec: str, keys: list[str], resolved: Callable[[str], str]) -> dict[str, Any]:
    """The specification of a plot, still without data.

    Args:
        plot: what is drawn.
        chart_spec: the specification of its shape, as JSON.
        keys: what identifies its series in the rows.
        resolved: replaces CSS variables by colours.
    """
    specification: dict[str, Any] = json.loads(resolved(chart_spec))
    scales = {
        "color": {"domain": keys, "range": [resolved(get_colour(line.slot)) for line in plot.lines]},
        "strokeDash": {
            "domain": keys,
            "range": [list(get_dash(plot, line)) or [1, 0] for line in plot.lines],
        },
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


def list_label_fields(mark: Mark) -> dict[str, Any]:
    """Where the words of a mark stand, as fields of its row: ``text, short, align, dx, dy, from, to``.

    Without ``short`` it is the same, without ``align`` there is no room for them, without ``from`` no leader;
    a line across has none of these.
    """
    label = mark.label
    if label is None:
        return {}
    align = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
    row: dict[str, Any] = {"text": label.text, "align": align, "dx": label.dx, "dy": label.dy}
    row |= {"short": label.short} if label.short != label.text else {}
    return row | (dict(zip(("from", "to"), label.leader, strict=True)) if label.leader else {})


def _words(axis: Axis) -> dict[str, Any]:
    return {"title": axis.title, "values": list(axis.ticks), "format": axis.format}
