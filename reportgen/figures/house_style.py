"""The look of our own figures for a Vega-Lite specification of the author's, who may overrule all of it."""

from __future__ import annotations

import re
from typing import Any

_WIDTH, _HEIGHT = 640, 320
_ROWS = {"values", "datasets"}
_TIME_UNIT = re.compile("^(binned)?(.+)$")
# vl-convert 1.9 sets a font's name into XML as it is, and aborts the whole process where that breaks.
_BREAKS_XML = re.compile("[<>&\"']")


def apply_house_style(specification: dict[str, Any]) -> dict[str, Any]:
    """The specification with our size, fonts, colours and UTC where it does not say its own."""
    spec: dict[str, Any] = _use_utc(_clean_fonts(specification))
    for side, pixels in (("width", _WIDTH), ("height", _HEIGHT)):
        # The picture is as wide as its page anyway; only a live chart could ask a container.
        if spec.get(side, "container") == "container":
            spec[side] = pixels
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": "transparent"} | spec
    return spec | {"config": _merge(_make_config(), spec.get("config", {}))}


def _merge(ours: Any, authors: Any) -> Any:  # noqa: ANN401 - any JSON
    """The author's value, with ours for keys that it does not have."""
    if not (isinstance(ours, dict) and isinstance(authors, dict)):
        return authors
    shared = {key: _merge(ours[key], value) if key in ours else value for key, value in authors.items()}
    return ours | shared


def _clean_fonts(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: inner if name in _ROWS else _clean_fonts(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clean_fonts(inner, key) for inner in value]
    return _BREAKS_XML.sub("", value) if isinstance(value, str) and "font" in key.lower() else value


def _use_utc(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Times in UTC, as in all our figures: Vega's own would be those of whoever builds or looks."""
    if isinstance(value, list):
        return [_use_utc(inner, key) for inner in value]
    if key == "timeUnit" and isinstance(value, str):
        return value if "utc" in value else _TIME_UNIT.sub(r"\1utc\2", value)
    if not isinstance(value, dict):
        return value
    said = {name: inner if name in _ROWS else _use_utc(inner, name) for name, inner in value.items()}
    if key in {"x", "y"} and said.get("type") == "temporal" and said.get("scale", {}) is not None:
        said["scale"] = {"type": "utc"} | said.get("scale", {})
    if key == "timeUnit":
        said = {"utc": True} | said
    return said


def _make_config() -> dict[str, Any]:
    text, muted = "var(--rg-text)", "var(--rg-muted)"
    labels = {"labelColor": muted, "titleColor": text, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "font": "Reportgen Sans",
        "view": {"stroke": None},
        "axis": labels
        | {
            "titleFontWeight": 400,
            "gridColor": "var(--rg-grid)",
            "domainColor": "var(--rg-rule)",
            "tickColor": "var(--rg-rule)",
        },
        "legend": labels | {"titleFontWeight": 400},
        "header": {"labelColor": text, "titleColor": text},
        "text": {"color": text},
        "mark": {"color": "var(--rg-series-1)"},
        "range": {"category": [f"var(--rg-series-{slot})" for slot in range(1, 9)]},
    }
