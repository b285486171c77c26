"""The chart of a plot as Altair objects, as its file and ``rg.draw`` have it. It computes no number.

Bands, lines, points and names are layers over shared encodings of the same rows; those of runs have a
``run``. Altair takes half a second to import and tens of milliseconds to validate a chart. So the chart of
each shape is written once; ``chart_file`` fills in titles, domains, colours and rows.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

import altair as alt

from reportgen.figures.axis import LOGS
from reportgen.figures.paths import RUNS_ASIDE
from reportgen.figures.plot import ANNOTATIONS, CURVES, NEAR, REFERENCES
from reportgen.figures.style import LABEL_SIZE, LEGEND, write_standalone_style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.plot import ChartShape


_NEAREST: Final = "nearest_point"
_INK, _MUTED = "var(--rg-text)", "var(--rg-muted)"
_SHIFT: Final = "datum.shift * width"
_DASHED: Final[dict[str, Any]] = {"strokeDash": [2, 3]}
_TEXT: Final = alt.Text("text", type="nominal")
# Beside a point, on the side where there is more room.
_BESIDE: Final[dict[str, Any]] = {
    "align": alt.ExprRef("datum.late ? 'right' : 'left'"),
    "dx": alt.ExprRef("datum.late ? -9 : 9"),
    "dy": -9,
}


@cache
def write_chart(shape: ChartShape) -> str:
    """Return the Vega-Lite specification of a shape's chart as JSON, without titles, domains and rows.

    With a second y axis, it has two charts as layers.
    """
    chart = _make_side(shape)
    if shape.right:
        chart = alt.layer(chart, _make_side(shape, right=True)).resolve_scale(y="independent")
    specification: dict[str, Any] = chart.to_dict(validate=False)
    del specification["config"]  # the default size, which a chart of a plot has itself
    for layer in _list_layers(specification):
        if layer.get("data") == {"name": CURVES}:
            del layer["data"]
    return json.dumps(specification)


def _list_layers(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in part.get("layer", ()):
        yield layer
        yield from _list_layers(layer)


@alt.theme.register("reportgen", enable=False)
def make_theme() -> alt.theme.ThemeConfig:
    """Return the house style as a theme of Altair, for ``alt.theme.enable("reportgen")``."""
    return {"config": write_standalone_style()}  # type: ignore[typeddict-item]  # checked by Altair itself


def read_chart(text: str) -> alt.LayerChart:
    """Return a specification as written here as Altair objects, which can be combined like any others.

    The house style is that of the theme. Data and layers have no names, and the selection has one of its own,
    so that several charts can be shown together.
    """
    own = f'"{_NEAREST}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"'
    specification = json.loads(text.replace(f'"{_NEAREST}"', own))
    chart = _read_part(specification, specification.get("params", []))
    if not isinstance(chart, alt.LayerChart):
        raise TypeError(type(chart))
    return chart


def _read_part(part: dict[str, Any], selections: list[dict[str, Any]]) -> alt.Chart | alt.LayerChart:
    if "layer" not in part:
        # Altair itself lifts the selections of a layer to the top.
        own = [
            {key: value for key, value in one.items() if key != "views"}
            for one in selections
            if part.get("name") in one["views"]
        ]
        unnamed = {name: value for name, value in part.items() if name != "name"}
        unit: alt.Chart = alt.Chart.from_dict(unnamed | ({"params": own} if own else {}), validate=False)
        return unit
    rest = {name: value for name, value in part.items() if name not in {"layer", "params", "data"}}
    if "data" in part:
        rest["data"] = {"values": part["data"]["values"]}
    made = cast("alt.LayerChart", alt.layer(*(_read_part(one, selections) for one in part["layer"])))
    whole = alt.LayerChart.from_dict(rest | {"layer": []}, validate=False)
    for name in rest.keys() - {"$schema", "config"}:
        setattr(made, name, whole[name])
    return made


def _make_side(shape: ChartShape, *, right: bool = False) -> alt.LayerChart:
    """Return the layers that share a y axis, from back to front."""
    side, kind = "right_" if right else "", _get_kind(shape)
    rows = alt.Chart(alt.NamedData(CURVES))
    if shape.right:
        rows = rows.transform_filter("isValid(datum.right)" if right else "!isValid(datum.right)")
    if shape.x_scale in LOGS:
        rows = rows.transform_filter("datum.step > 0")
    means = rows.transform_filter("!isValid(datum.run)") if shape.runs else rows
    layers = {} if right else _make_references(shape)
    if shape.band:
        banded = means.transform_filter("!datum.bars") if shape.bars else means
        layers["bands"] = _make_bands(banded, shape)
    if shape.bars:
        marked = means.transform_filter("datum.bars && isValid(datum.low)")
        rules = marked.mark_rule(strokeWidth=1.5, opacity=1, **_move(shape))
        layers["bars"] = rules.encode(_make_y("low"), alt.Y2("high"))
    if shape.runs:
        layers["runs"] = _make_runs(rows.transform_filter("isValid(datum.run)"), shape)
    if shape.raw:
        faint = _leave_out(means, shape, "raw").mark_line(strokeWidth=1, opacity=0.4)
        layers["raw"] = faint.encode(_make_y("raw"))
    means = _leave_out(means, shape, "value")
    layers["lines"] = means.mark_line(strokeWidth=2, **_move(shape))
    layers["points"] = _make_points(means, shape)
    if shape.annotations:
        layers |= _make_annotations(shape, right=right)
    if shape.ends:
        layers["names"] = _make_names(means.transform_filter("isValid(datum.value)"), kind)
    chart = alt.layer(*(one.properties(name=f"{side}{name}") for name, one in layers.items()))
    color = alt.Color(
        "series",
        type="nominal",
        legend=None if shape.ends else alt.Legend(**LEGEND),
    )
    return chart.encode(alt.X("step", type=kind), _make_y("value"), color)


def _get_kind(shape: ChartShape) -> Any:  # noqa: ANN401 - a type of Altair's
    return "temporal" if shape.x_scale == "time" else "quantitative"


def _make_y(field: str) -> alt.Y:
    return alt.Y(field, type="quantitative")


def _move(shape: ChartShape, aside: float = 0) -> dict[str, Any]:
    """Return what moves a mark next to those of other series at the same setting."""
    by = f"{_SHIFT} + {aside:g}" if aside else _SHIFT
    return {"xOffset": alt.ExprRef(by)} if shape.whiskers or shape.bars else {}


def _leave_out(rows: alt.Chart, shape: ChartShape, field: str) -> alt.Chart:
    """Leave a gap where a log axis has no place for a value; Vega would draw it at the bottom of the plot."""
    if shape.y_scale != "log":
        return rows
    return rows.transform_calculate(**{field: f"datum.{field} > 0 ? datum.{field} : null"})


def _make_bands(means: alt.Chart, shape: ChartShape) -> alt.Chart:
    low = "low"
    if shape.y_scale == "log":
        # One that reaches below a log axis begins far below the plot, which clips it.
        low = "bottom"
        means = means.transform_calculate(
            bottom="isValid(datum.low) && datum.low <= 0 ? datum.high / 1e12 : datum.low"
        )
    if shape.whiskers:
        marked = means.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, **_move(shape))
    else:
        marked = means.mark_area(opacity=0.16)
    bands: alt.Chart = marked.encode(_make_y(low), alt.Y2("high"))
    return bands


def _make_runs(rows: alt.Chart, shape: ChartShape) -> alt.Chart:
    runs = _leave_out(rows, shape, "value")
    if shape.whiskers:
        marked = runs.mark_point(filled=True, size=28, opacity=0.4, **_move(shape, RUNS_ASIDE))
    else:
        marked = runs.mark_line(strokeWidth=1, opacity=0.32)
    thin: alt.Chart = marked.encode(alt.Detail("run", type="nominal"))
    return thin


def _make_points(means: alt.Chart, shape: ChartShape) -> alt.Chart:
    """Return the points, of which the one nearest to the pointer has the tooltip.

    With a second y axis it is the one under the pointer, since nearest points of both would hide each other.
    """
    nearest = alt.selection_point(name=_NEAREST, nearest=True, on="pointerover", empty=False)
    # For the nearest point, Vega-Lite 6.4 looks up words in the mark in place of its row (its pull request
    # 9707), so both have the name as their description.
    means = means.transform_calculate(description="datum.series")
    numbers = ("value", *(("low", "high") if shape.band else ()), "n")
    parts = [
        alt.Tooltip("description", type="nominal", title="series"),
        alt.Tooltip("step", type=_get_kind(shape)),
        *(alt.Tooltip(name, type="quantitative") for name in numbers),
    ]
    points = means.mark_point(filled=True, size=60, opacity=1, **_move(shape)).encode(
        alt.Description("description", type="nominal"), tooltip=parts
    )
    if shape.right and not shape.symbols:
        points = points.encode(opacity=alt.value(0), size=alt.value(200))
    elif shape.symbols:
        points = points.encode(alt.Shape("series", type="nominal", legend=None))
    else:
        points = points.encode(opacity=alt.when(nearest).then(alt.value(1)).otherwise(alt.value(0)))
    shown: alt.Chart = points if shape.right else points.add_params(nearest)
    return shown


def _make_references(shape: ChartShape) -> dict[str, alt.Chart]:
    """Return reference lines and their labels, at the edges where they begin."""
    rows, layers = alt.Chart(alt.NamedData(REFERENCES)).encode(color=alt.value(_MUTED)), {}
    start = alt.value(0)
    if shape.across:
        across = rows.transform_filter("isValid(datum.value)").encode(x=start)
        layers["levels"] = across.mark_rule(**_DASHED).encode(x2=alt.value("width"))
        layers["level_labels"] = across.mark_text(align="left", dx=4, dy=-6).encode(_TEXT)
    if shape.down:
        down = rows.transform_filter("isValid(datum.step)").encode(y=start)
        layers["steps"] = down.mark_rule(**_DASHED).encode(y2=alt.value("height"))
        layers["step_labels"] = down.mark_text(**{**_BESIDE, "dy": 8}).encode(_TEXT)
    return layers


def _make_annotations(shape: ChartShape, *, right: bool) -> dict[str, alt.Chart]:
    """Return rings around points, and words beside them."""
    rows = alt.Chart(alt.NamedData(ANNOTATIONS)).encode(color=alt.value(_INK))
    if shape.right:
        rows = rows.transform_filter("datum.right" if right else "!datum.right")
    rings = rows.mark_point(size=144, strokeWidth=1, opacity=1)
    return {"annotations": rings, "annotation_labels": rows.mark_text(**_BESIDE).encode(_TEXT)}


def _make_names(means: alt.Chart, kind: Any) -> alt.Chart:  # noqa: ANN401 - as above
    """Return the names of the series at their last values."""
    words = means.mark_text(align="left", dx=NEAR, fontSize=LABEL_SIZE, fontWeight=600)
    last = alt.Y("value", aggregate=alt.ArgmaxDef("step"), type="quantitative")
    names: alt.Chart = words.encode(
        alt.X("step", aggregate="max", type=kind), last, alt.Text("series", type="nominal")
    )
    return names
