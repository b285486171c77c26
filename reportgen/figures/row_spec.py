"""Rows of dots and intervals as a Vega-Lite specification, for whoever takes a figure elsewhere.

It is written as it stands: Altair would take half a second to import, and a test holds it to Altair's schema.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reportgen.figures.house_style import apply_house_style
from reportgen.figures.picture import get_colour
from reportgen.figures.tokens import resolve_specification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.score_rows import Row

_STEP, _STEP_WITH_DOTS = 36, 52
_DOTS_OFFSET = 12


def write_rows_spec(
    rows: Sequence[Row], axis: Axis, *, title: str, subtitle: str, rule: float | None = None
) -> str:
    """The specification as JSON with a newline at the end: data inside, colours of the light theme.

    Args:
        rows: from top to bottom; their names differ.
        axis: of their values.
        title: what is shown.
        subtitle: how.
        rule: see ``score_rows.rows_svg``.
    """
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": 600,
        "height": {"step": _STEP_WITH_DOTS if any(row.dots for row in rows) else _STEP},
        "background": "var(--rg-bg)",
        "data": {"name": "rows"},
        "layer": _make_layers(rows, axis, rule),
        "datasets": {"rows": _list_rows(rows), "dots": _list_dots(rows)},
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"


def _make_layers(rows: Sequence[Row], axis: Axis, rule: float | None) -> list[dict[str, Any]]:
    x, y = _encode_x(axis), _encode_y(rows)
    ink: dict[str, Any] = {
        "field": "name",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [row.name for row in rows], "range": [get_colour(row.slot) for row in rows]},
    }
    layers = [
        _make_shade_layer(y),
        _make_head_layer(y),
        *([_make_rule_layer(rule, x)] if rule is not None else []),
    ]
    layers += [_make_interval_layer(x, y, ink), _make_point_layer(x, y, ink)]
    if any(row.dots for row in rows):
        mark = {"type": "circle", "size": 30, "opacity": 0.65, "yOffset": _DOTS_OFFSET}
        placed = {"x": {**x, "field": "value"}, "y": y, "color": ink, "tooltip": [{"field": "text"}]}
        layers.append({"name": "dots", "data": {"name": "dots"}, "mark": mark, "encoding": placed})
    return layers


def _encode_x(axis: Axis) -> dict[str, Any]:
    """The axis with the picture's own labels: Vega numbers its ticks from 0 to 1."""
    labels = json.dumps(list(axis.labels), ensure_ascii=False)
    return {
        "type": "quantitative",
        "title": axis.title,
        "scale": {"domain": list(axis.domain), "nice": False, "zero": False},
        "axis": {
            "values": list(axis.ticks),
            "labelExpr": f"{labels}[round(datum.index * {max(0, len(axis.ticks) - 1)})]",
        },
    }


def _encode_y(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows in their order, also those that have nothing to draw."""
    return {
        "field": "name",
        "type": "nominal",
        "title": None,
        "scale": {"domain": [row.name for row in rows]},
        "axis": {"labelLimit": 320, "ticks": False, "domain": False},
    }


def _make_shade_layer(y: dict[str, Any]) -> dict[str, Any]:
    """A band behind every second group."""
    return {
        "name": "shades",
        "transform": [{"filter": "datum.shaded"}],
        "mark": {"type": "rect", "color": "var(--rg-muted)", "opacity": 0.08},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": y},
    }


def _make_head_layer(y: dict[str, Any]) -> dict[str, Any]:
    """The word of a group at its first row."""
    return {
        "name": "heads",
        "mark": {"type": "text", "align": "left", "dx": 4, "dy": -10, "color": "var(--rg-muted)"},
        "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "head"}},
    }


def _make_rule_layer(rule: float, x: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "rule",
        "mark": {"type": "rule", "color": "var(--rg-muted)"},
        "encoding": {"x": {**x, "datum": rule}},
    }


def _make_interval_layer(x: dict[str, Any], y: dict[str, Any], ink: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "intervals",
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": ink},
    }


def _make_point_layer(x: dict[str, Any], y: dict[str, Any], ink: dict[str, Any]) -> dict[str, Any]:
    """A dot, hollow as in the picture."""
    return {
        "name": "points",
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "point", "size": 80, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            "x": {**x, "field": "value"},
            "y": y,
            "stroke": ink,
            "fill": {"condition": {"test": "datum.hollow", "value": "var(--rg-bg)"}, **ink},
            "tooltip": [{"field": name} for name in ("name", "text", "value", "low", "high", "group")],
        },
    }


def _list_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    words = list(dict.fromkeys(row.group for row in rows if row.group))
    before = ["", *(row.group for row in rows)]
    return [
        {
            "name": row.name,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "text": row.text,
            "hollow": row.hollow or row.low is None,
            "group": row.group,
            "head": row.group if row.group != above else "",
            "shaded": bool(row.group) and words.index(row.group) % 2 == 0,
        }
        for row, above in zip(rows, before, strict=False)
    ]


def _list_dots(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"name": row.name, "value": dot.value, "text": ", ".join(dot.tip)} for row in rows for dot in row.dots
    ]
