"""The design tokens that pictures outside a page need: the same values as ``site/assets/tokens.css``."""

from __future__ import annotations

import re
from typing import Any

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


_TOKEN = re.compile(r"var\(--rg-([a-z0-9-]+)\)")
_TAG = re.compile("<[^<>]+>")
_INK = re.compile(r'( (?:fill|stroke|stop-color|color|font-family|style)=")([^"]*)')
# In a specification: whole parts that are data, and keys whose texts are words. (A part such as "text" of the
# configuration has colours as well.)
_DATA = frozenset({"values", "datasets"})
_CHANNELS = frozenset({"text", "tooltip", "description"})
_WORDS = _CHANNELS | {"title", "subtitle", "domain", "name", "field", "datum", "labels", "equal", "oneOf"}


def resolve(text: str) -> str:
    """Replace each ``var(--rg-NAME)`` in a text of our own by its value in the light theme.

    Raises:
        KeyError: there is no such token. What holds names of data is for the functions below.
    """
    return _TOKEN.sub(lambda match: LIGHT[match[1]], text)


def resolve_svg(svg: str) -> str:
    """An SVG that stands alone: tokens become values where they are colours and fonts, and in no word."""
    return _TAG.sub(lambda tag: _INK.sub(lambda ink: ink[1] + _resolve_known(ink[2]), tag[0]), svg)


def resolve_specification(part: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    """A Vega-Lite specification that stands alone: tokens become values, but for titles, names and data."""
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


def _resolve_known(text: str) -> str:
    """With tokens replaced; a name that is none of ours, as an author may write one, stays."""
    return _TOKEN.sub(lambda match: LIGHT.get(match[1], match[0]), text)
