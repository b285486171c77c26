"""Rows of dots and intervals as a Vega-Lite specification, for whoever takes a figure elsewhere.

It is written as it stands: Altair would take half a second to import, and a test holds it to Altair's schema.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reportgen.figures.house_style import in_house_style
from reportgen.figures.picture import colour
from reportgen.figures.tokens import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.score_rows import Row

_STEP, _STEP_WITH_DOTS = 36, 48
_DOTS_AT = 12
_Y = {
    "field": "name",
    "type": "nominal",
    "sort": None,
    "title": None,
    "axis": {"labelLimit": 320, "ticks": False, "domain": False},
}


def rows_spec(
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
        "layer": _layers(rows, axis, rule),
        "datasets": {"rows": _rows(rows), "dots": _dots(rows)},
    }
    whole = in_house_style(spec)
    # Data are the author's: only our own colours are resolved.
    data = whole.pop("datasets")
    return json.dumps({**json.loads(resolve(json.dumps(whole))), "datasets": data}, ensure_ascii=False) + "\n"


def _layers(rows: Sequence[Row], axis: Axis, rule: float | None) -> list[dict[str, Any]]:
    labels = json.dumps(list(axis.labels), ensure_ascii=False)
    scale = {"domain": list(axis.domain), "nice": False, "zero": False}
    # The labels are those of the picture: Vega numbers its ticks from 0 to 1.
    ticks = {
        "values": list(axis.ticks),
        "labelExpr": f"{labels}[round(datum.index * {max(0, len(axis.ticks) - 1)})]",
    }
    x: dict[str, Any] = {"type": "quantitative", "scale": scale, "axis": ticks, "title": axis.title}
    ink: dict[str, Any] = {
        "field": "name",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [row.name for row in rows], "range": [colour(row.slot) for row in rows]},
    }
    shown = {"value": {**x, "field": "value"}, "low": {**x, "field": "low"}, "colour": ink}
    layers = [_shade(), *([_rule(rule, x)] if rule is not None else []), _interval(shown), _point(shown)]
    if any(row.dots for row in rows):
        dots = {"type": "circle", "size": 30, "opacity": 0.65, "yOffset": _DOTS_AT}
        layers.append(
            {"data": {"name": "dots"}, "mark": dots, "encoding": {"x": shown["value"], "y": _Y, "color": ink}}
        )
    return layers


def _shade() -> dict[str, Any]:
    """A band behind every second group, with the group's word."""
    return {
        "transform": [{"filter": "datum.shaded"}],
        "mark": {"type": "rect", "color": "var(--rg-muted)", "opacity": 0.08},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": _Y},
    }


def _rule(rule: float, x: dict[str, Any]) -> dict[str, Any]:
    return {
        "mark": {"type": "rule", "color": "var(--rg-muted)"},
        "encoding": {"x": {**x, "datum": rule}},
    }


def _interval(shown: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": shown["low"], "x2": {"field": "high"}, "y": _Y, "color": shown["colour"]},
    }


def _point(shown: dict[str, dict[str, Any]]) -> dict[str, Any]:
    tip = [{"field": name} for name in ("name", "text", "value", "low", "high", "group")]
    return {
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "circle", "size": 90, "opacity": 1},
        "encoding": {"x": shown["value"], "y": _Y, "color": shown["colour"], "tooltip": tip},
    }


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    words = list(dict.fromkeys(row.group for row in rows if row.group))
    return [
        {
            "name": row.name,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "text": row.text,
            "group": row.group,
            "shaded": bool(row.group) and words.index(row.group) % 2 == 0,
        }
        for row in rows
    ]


def _dots(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"name": row.name, "value": dot.value, "text": ", ".join(dot.tip)} for row in rows for dot in row.dots
    ]
