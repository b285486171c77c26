"""Appearance of figures: palette slots, dashes and symbols, design tokens, and our Vega-Lite style."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


TICK_SIZE = 12
LABEL_SIZE = 13
SLOTS = 8
BEST = 5
"""Number of series that have colour where there are more than the palette has."""
"""Number of series that colours can distinguish; further ones are grey."""

DASHES: tuple[tuple[float, ...], ...] = (
    *((), (6, 3), (2, 2.5), (9, 3, 2, 3)),
    *((12, 4), (4, 2, 1, 2, 1, 2), (1, 3), (8, 2, 8, 6)),
)
DASH_WORDS = (
    *("solid", "dashed", "dotted", "dash-dotted", "long-dashed", "dash-dot-dotted", "finely dotted"),
    "dashed in pairs",
)
SHAPE_WORDS = (
    *("circles", "squares", "triangles", "diamonds", "triangles down", "crosses", "triangles right"),
    "triangles left",
)
SYMBOL_PATHS: dict[str, str] = {
    "circle": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "square": "M-3.2-3.2h6.4v6.4h-6.4z",
    "triangle-up": "M0-4.4L4 3H-4z",
    "diamond": "M0-4.6L4.2 0L0 4.6L-4.2 0z",
    "triangle-down": "M0 4.4L4-3H-4z",
    "cross": "M-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
    "triangle-right": "M4.4 0L-3 4V-4z",
    "triangle-left": "M-4.4 0L3 4V-4z",
}
SYMBOLS = tuple(SYMBOL_PATHS)
SYMBOL_PATHS["none"] = "M0 0"
LIGHT: dict[str, str] = {
    "bg": "#ffffff",
    "text": "#1c1f23",
    "muted": "#59606a",
    "grid": "#e8eaed",
    "rule": "#cfd3d9",
    "series-1": "#0d4795",
    "series-2": "#d47104",
    "series-3": "#2a876e",
    "series-4": "#8f5e89",
    "series-5": "#b24349",
    "series-6": "#3593c8",
    "series-7": "#666100",
    "series-8": "#c1729a",
    "series-muted": "#888e97",
    "font": "Reportgen Sans, Liberation Sans, Arial, sans-serif",
}
DARK: dict[str, str] = LIGHT | {
    "bg": "#15171a",
    "text": "#e4e6e9",
    "muted": "#a8aeb8",
    "grid": "#282b30",
    "rule": "#3d4249",
    "series-1": "#5783d4",
    "series-2": "#ed9c36",
    "series-3": "#49cba5",
    "series-4": "#b68cb1",
    "series-5": "#da6561",
    "series-6": "#a5dbf8",
    "series-7": "#ccc880",
    "series-8": "#efa7ca",
    "series-muted": "#767d87",
}

_TOKEN = re.compile(r"var\(--rg-([a-z0-9-]+)\)")
_TAG = re.compile("<[^<>]+>")
_INK = re.compile(r'( (?:fill|stroke|stop-color|color|font-family|style)=")([^"]*)')
# Parts of a specification that hold data, and keys with plain text. (A part such as "text" of the
# configuration also has colours.)
_DATA = frozenset({"values", "datasets"})
_CHANNELS = frozenset({"text", "tooltip", "description"})
_WORDS = _CHANNELS | {"title", "subtitle", "domain", "name", "field", "datum", "labels", "equal", "oneOf"}
_WIDTH, _HEIGHT = 640, 320
_TIME_UNIT = re.compile("^(binned)?(.+)$")
# vl-convert 1.9 writes font names into XML unescaped, and aborts the whole process if that breaks it.
_BREAKS_XML = re.compile("[<>&\"']")


def assign_slots(
    figures: Iterable[tuple[str, ...]], pinned: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Give each series a palette slot, 0 to 7, so that series drawn together differ.

    ``figures`` holds the series names of each figure, in the order of the report; ``pinned`` holds slots that
    the author fixed. In order of first appearance, each series gets the lowest slot that no series drawn with
    it has. If all eight are taken, it gets the one least used among them (its figure then needs
    ``highlight``, which greys the rest).
    """
    groups = tuple(dict.fromkeys(figures))
    places: dict[str, list[int]] = {}
    for place, names in enumerate(groups):
        for name in dict.fromkeys(names):
            places.setdefault(name, []).append(place)
    slots = dict(pinned or {})
    taken = [Counter(slots[name] for name in {*names} if name in slots) for names in groups]
    for name, own in places.items():
        if name not in slots:
            # Most series are in one group, of which there may be thousands.
            counts = taken[own[0]]
            if len(own) > 1:
                others = {other for place in own for other in groups[place]}
                counts = Counter(slots[other] for other in others if other in slots)
            slots[name] = min(range(SLOTS), key=lambda slot: (counts[slot], slot))
            for place in own:
                taken[place][slots[name]] += 1
    return slots


def fix_slots(slots: Mapping[str, int], names: Iterable[str], fixed: Mapping[str, int]) -> dict[str, int]:
    """Return the slots with some fixed in one figure; its other ``names`` give way to these."""
    shown = tuple(dict.fromkeys(names))
    others = {name: slots[name] for name in shown if name in slots and slots[name] not in fixed.values()}
    return {**slots, **assign_slots([shown], {**others, **fixed})}


def pick_slots(
    series: tuple[str, ...], slots: Mapping[str, int], highlight: tuple[str, ...] = ()
) -> dict[str, int | None]:
    """Return the slot of each series in one figure; None is the muted grey.

    With ``highlight``, only the named series have colour; without it, a series is grey if an earlier one in
    the figure has its slot, as from the ninth series on.
    """
    result: dict[str, int | None] = {}
    for name in series:
        slot = slots.get(name)
        coloured = slot not in result.values() and (not highlight or name in highlight)
        result[name] = slot if coloured else None
    return result


def colour_best(ranked: Sequence[str], slots: Mapping[str, int]) -> dict[str, int | None]:
    """Return the slot of each series, best first: of more than eight, the best five alone have colour.

    Each of these keeps its own unless a better one has it.
    """
    if len(ranked) <= SLOTS:
        return pick_slots(tuple(ranked), slots)
    best = tuple(ranked[:BEST])
    own: dict[str, int] = {}
    for name in best:
        if (slot := slots.get(name)) is not None and slot not in own.values():
            own[name] = slot
    coloured = assign_slots([best], own)
    return {name: coloured.get(name) for name in ranked}


def get_colour(slot: int | None) -> str:
    """Return the CSS variable of a palette slot; None is the muted grey."""
    return f"var(--rg-series-{'muted' if slot is None else slot + 1})"


def resolve(text: str) -> str:
    """Replace each ``var(--rg-NAME)`` in our own text by its value in the light theme.

    Raises a ``KeyError`` if there is no such token. Text with names from data needs the functions below.
    """
    return _TOKEN.sub(lambda match: LIGHT[match[1]], text)


def resolve_svg(svg: str, tokens: Mapping[str, str] = LIGHT) -> str:
    """Make an SVG standalone: replace tokens in colours and fonts, but not in text."""
    return _TAG.sub(lambda tag: _INK.sub(lambda ink: ink[1] + _resolve_known(ink[2], tokens), tag[0]), svg)


def resolve_specification(part: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Make a Vega-Lite specification standalone: replace tokens except in titles, names and data."""
    if key in _DATA or (key in _WORDS and not isinstance(part, dict)):
        return part
    if isinstance(part, dict):
        words = key if key in _CHANNELS else "value"
        return {
            name: resolve_specification(inner, words if name == "value" else name)
            for name, inner in part.items()
        }
    if isinstance(part, list):
        return [resolve_specification(inner, key) for inner in part]
    return _resolve_known(part) if isinstance(part, str) else part


def _resolve_known(text: str, tokens: Mapping[str, str] = LIGHT) -> str:
    """Replace known tokens; unknown names, as an author may write, stay."""
    return _TOKEN.sub(lambda match: tokens.get(match[1], match[0]), text)


_LABELS = {
    "labelColor": "var(--rg-muted)",
    "titleColor": "var(--rg-text)",
    "labelFontSize": TICK_SIZE,
    "titleFontSize": TICK_SIZE,
    "titleFontWeight": 400,
}
HOUSE_STYLE: dict[str, Any] = {
    "font": LIGHT["font"],
    "view": {"stroke": None},
    "axis": _LABELS
    | {"gridColor": "var(--rg-grid)", "domainColor": "var(--rg-rule)", "tickColor": "var(--rg-rule)"},
    "legend": _LABELS,
    "header": {"labelColor": "var(--rg-text)", "titleColor": "var(--rg-text)"},
    "text": {"color": "var(--rg-text)"},
    "mark": {"color": "var(--rg-series-1)"},
    "range": {"category": [f"var(--rg-series-{slot})" for slot in range(1, 9)]},
}
"""The configuration of every chart."""


LEGEND: dict[str, Any] = {"title": None, "labelFontSize": TICK_SIZE, "labelLimit": 300, "symbolOpacity": 1}
"""The legend of series of a plot."""


def write_standalone_style() -> dict[str, Any]:
    """Return the configuration of charts outside of a page, with the colours of the light theme."""
    style: dict[str, Any] = resolve_specification(HOUSE_STYLE)
    return style


def apply_house_style(specification: dict[str, Any]) -> dict[str, Any]:
    """Add our size, fonts, colours and UTC unless the specification has its own."""
    spec: dict[str, Any] = _use_utc(_clean_fonts(specification))
    for side, pixels in (("width", _WIDTH), ("height", _HEIGHT)):
        # The picture is as wide as its page anyway; only a live chart could query a container.
        if spec.get(side, "container") == "container":
            spec[side] = pixels
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": "transparent"} | spec
    return spec | {"config": _merge(HOUSE_STYLE, spec.get("config", {}))}


def _merge(ours: Any, authors: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the author's value, with ours for missing keys."""
    if not (isinstance(ours, dict) and isinstance(authors, dict)):
        return authors
    shared = {key: _merge(ours[key], value) if key in ours else value for key, value in authors.items()}
    return ours | shared


def _clean_fonts(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: inner if name in _DATA else _clean_fonts(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clean_fonts(inner, key) for inner in value]
    return _BREAKS_XML.sub("", value) if isinstance(value, str) and "font" in key.lower() else value


def _use_utc(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Use UTC, as in all our figures; Vega would use the local time of the builder or reader."""
    if isinstance(value, list):
        return [_use_utc(inner, key) for inner in value]
    if key == "timeUnit" and isinstance(value, str):
        return value if "utc" in value else _TIME_UNIT.sub(r"\1utc\2", value)
    if not isinstance(value, dict):
        return value
    part = {name: inner if name in _DATA else _use_utc(inner, name) for name, inner in value.items()}
    if key in {"x", "y"} and part.get("type") == "temporal" and part.get("scale", {}) is not None:
        part["scale"] = {"type": "utc"} | part.get("scale", {})
    return {"utc": True} | part if key == "timeUnit" else part
