"""The Vega-Lite specification of a heat map, to open in an editor: its data inside, its colours resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.heat_map import write_heat_csv
from reportgen.figures.heat_picture import INK, OPACITIES, PITCH
from reportgen.figures.house_style import apply_house_style
from reportgen.figures.line_paths import PIXELS_WIDE
from reportgen.figures.score_words import is_percent
from reportgen.figures.tokens import resolve, resolve_specification

if TYPE_CHECKING:
    from reportgen.figures.heat_map import HeatMap
    from reportgen.figures.score_context import ScoreContext

_NAMES = {"title": None, "labelLimit": 320, "ticks": False, "domain": False}


def build_heat_spec(heat: HeatMap, context: ScoreContext, *, title: str, subtitle: str) -> dict[str, Any]:
    """A rectangle a cell, the hardest problem last; cells without an answer are left out.

    Columns are numbered, so that two problems never share one; the tooltip names them.
    """
    nominal, numeric = ("problem", "series"), ("score", "samples")
    spec = {
        "width": PIXELS_WIDE,
        "height": PITCH * len(heat.series),
        "background": "var(--rg-bg)",
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": None},
            "y": {"field": "series", "type": "nominal", "sort": None, "axis": _NAMES},
            "color": {
                "field": "score",
                "type": "quantitative",
                "scale": {
                    "domain": [context.lowest, context.highest],
                    "range": [_compute_faintest(), resolve(INK)],
                    "interpolate": "rgb",
                },
                "legend": {"title": "score", "format": ".0%" if is_percent(context) else "~r"},
            },
            "tooltip": [
                *({"field": name, "type": "nominal"} for name in nominal),
                *({"field": name, "type": "quantitative"} for name in numeric),
            ],
        },
    }
    ours: dict[str, Any] = resolve_specification(apply_house_style(spec))
    heading = {"text": title, "subtitle": subtitle, "anchor": "start"}
    # Of its own accord Vega would read a name such as 007 as a number.
    kinds = {
        "score": "number",
        "samples": "number",
        "column": "number",
        "problem": "string",
        "series": "string",
    }
    data = {"values": write_heat_csv(heat), "format": {"type": "csv", "parse": kinds}}
    return {**ours, "title": heading, "data": data}


def _compute_faintest() -> str:
    """The colour of the lowest score, which is not that of the ground: there stands no score."""
    pairs = (
        (int(ground, 16), int(ink, 16))
        for ground, ink in zip(*(_channels(name) for name in ("var(--rg-bg)", INK)), strict=True)
    )
    return "#" + "".join(f"{round(ground + OPACITIES[0] * (ink - ground)):02x}" for ground, ink in pairs)


def _channels(token: str) -> tuple[str, ...]:
    colour = resolve(token).removeprefix("#")
    return colour[:2], colour[2:4], colour[4:]
