"""The complete Vega-Lite specification of a plot: its data inside, its colours resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.shape import ANNOTATIONS, ENDS, MEANS, REFERENCES, RUNS, fill_spec, list_label_fields
from reportgen.figures.tidy import escape_formula, write_runs_csv
from reportgen.figures.tokens import resolve

if TYPE_CHECKING:
    from reportgen.figures.plot import Plot
    from reportgen.model import CurveSet

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
    room = {side: getattr(plot.margins, side) for side in ("top", "right", "bottom", "left")}
    spec["padding"] = room | {"top": room["top"] + _TITLE_ROOM}
    spec["title"] = {"text": title, "subtitle": subtitle, "anchor": "start", "frame": "bounds", "offset": 30}
    spec["background"] = resolve("var(--rg-bg)")
    for layer in spec["layer"]:
        layer["data"] |= {"format": _CSV[layer["data"]["name"]]} if layer["data"]["name"] in _CSV else {}
        if layer.get("name") == "lines":
            _make_readable(layer, plot)
    spec["datasets"] = _build_datasets(plot, curve_set, csv, keys)
    return spec


def _make_readable(layer: dict[str, Any], plot: Plot) -> None:
    """A tooltip at each point, and a legend where the names do not stand at the line ends."""
    layer["mark"]["point"] = {"filled": True, "opacity": 0, "size": 80}
    shown = ["series", "step", "value", "low", "high", "n"]
    layer["encoding"]["tooltip"] = [
        {"field": name, "type": "nominal" if name == "series" else "quantitative"} for name in shown
    ]
    if not plot.ends:
        layer["encoding"]["color"]["legend"] = {"orient": "right", "title": None, "labelLimit": 240}


def _build_datasets(plot: Plot, curve_set: CurveSet, csv: str, keys: list[str]) -> dict[str, Any]:
    by_name = dict(zip((line.name for line in plot.lines), keys, strict=True))
    datasets: dict[str, Any] = {MEANS: csv}
    if any(line.runs for line in plot.lines):
        datasets[RUNS] = write_runs_csv(curve_set)
    if plot.ends:
        datasets[ENDS] = [{"series": by_name[end.text], "text": end.text, "y": end.y} for end in plot.ends]
    if plot.references:
        datasets[REFERENCES] = [
            {"step": m.x, "value": m.y, "text": m.text} | list_label_fields(m) for m in plot.references
        ]
    if plot.annotations:
        datasets[ANNOTATIONS] = [
            {"step": m.x, "value": m.y, "text": m.text} | list_label_fields(m) for m in plot.annotations
        ]
    return datasets
