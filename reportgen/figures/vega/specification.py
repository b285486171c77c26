"""The Vega-Lite specification of a plot: a shape's specification, filled with words, colours and data.

This needs no Altair, so that a build whose shapes are all known does without importing it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reportgen.figures.csv_text import escape_formula, write_runs_csv
from reportgen.figures.picture import get_dash
from reportgen.figures.style import SYMBOL_PATHS, SYMBOLS, get_colour, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import CurveSet
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot


MEANS, RUNS, ENDS, REFERENCES, ANNOTATIONS = "means", "runs", "ends", "references", "annotations"
DOMAIN = "y_domain"
"""The parameter of charts with a log y axis that holds the axis' ends."""


def fill_spec(plot: Plot, chart_spec: str, keys: list[str], resolved: Callable[[str], str]) -> dict[str, Any]:
    """The specification of a plot, still without data.

    ``chart_spec`` is that of its shape, as JSON; ``keys`` identify its series in the rows; ``resolved``
    replaces CSS variables by colours.
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


_TITLE_ROOM = 56
_CSV = {
    MEANS: {"type": "csv", "parse": dict.fromkeys(("step", "value", "low", "high", "raw"), "number")},
    RUNS: {"type": "csv", "parse": {"step": "number", "value": "number", "run": "string"}},
}


def build_spec(
    plot: Plot, curve_set: CurveSet, csv: str, chart_spec: str, *, title: str, subtitle: str
) -> dict[str, Any]:
    """What ``figures/<page>/<id>.vl.json`` holds; opens in any Vega-Lite editor.

    ``csv`` is the figure's own, which holds the means as it stands, parsed by Vega; ``chart_spec`` is the
    specification of the plot's shape, as JSON.
    """
    keys = [escape_formula(line.name) for line in plot.lines]
    spec = fill_spec(plot, chart_spec, keys, resolve)
    spec["padding"] = asdict(plot.margins) | {"top": plot.margins.top + _TITLE_ROOM}
    spec["title"] = {"text": title, "subtitle": subtitle, "anchor": "start", "frame": "bounds", "offset": 30}
    spec["background"] = resolve("var(--rg-bg)")
    for layer in spec["layer"]:
        layer["data"] |= {"format": _CSV[layer["data"]["name"]]} if layer["data"]["name"] in _CSV else {}
        if layer.get("name") == "lines":
            # A tooltip at each point, and a legend where the names do not stand at the line ends.
            layer["mark"]["point"] = {"filled": True, "opacity": 0, "size": 80}
            shown = ["series", "step", "value", "low", "high", "n"]
            layer["encoding"]["tooltip"] = [
                {"field": name, "type": "nominal" if name == "series" else "quantitative"} for name in shown
            ]
            if not plot.ends:
                layer["encoding"]["color"]["legend"] = {"orient": "right", "title": None, "labelLimit": 240}
    by_name = dict(zip((line.name for line in plot.lines), keys, strict=True))
    datasets: dict[str, Any] = {MEANS: csv}
    if any(line.runs for line in plot.lines):
        datasets[RUNS] = write_runs_csv(curve_set)
    if plot.ends:
        datasets[ENDS] = [{"series": by_name[end.text], "text": end.text, "y": end.y} for end in plot.ends]
    for name, marks in ((REFERENCES, plot.references), (ANNOTATIONS, plot.annotations)):
        if marks:
            datasets[name] = [
                {"step": m.x, "value": m.y, "text": m.text} | list_label_fields(m) for m in marks
            ]
    spec["datasets"] = datasets
    return spec
