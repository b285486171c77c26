"""The design tokens that pictures outside a page need: the same values as ``site/assets/tokens.css``."""

from __future__ import annotations

import re

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


def resolve(text: str) -> str:
    """Replace ``var(--rg-NAME)`` by its value in the light theme, for files that stand alone."""
    return re.sub(r"var\(--rg-([a-z0-9-]+)\)", lambda match: LIGHT[match[1]], text)
