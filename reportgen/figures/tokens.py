"""The design tokens that pictures outside a page need: the same values as ``site/assets/tokens.css``."""

from __future__ import annotations

import re

LIGHT: dict[str, str] = {
    "bg": "#ffffff",
    "text": "#1c1f23",
    "muted": "#5c6470",
    "grid": "#e8eaed",
    "rule": "#9aa1ab",
    "font": "Reportgen Sans, Liberation Sans, Arial, sans-serif",
    "series-1": "#1f66ad",
    "series-2": "#d9730d",
    "series-3": "#2a9d5c",
    "series-4": "#a63d8f",
    "series-5": "#7a6ad8",
    "series-6": "#00929f",
    "series-7": "#8a8f20",
    "series-8": "#6b4f3a",
    "series-muted": "#9aa1ab",
}


def resolve(text: str) -> str:
    """Replace ``var(--rg-NAME)`` by its value in the light theme, for files that stand alone."""
    return re.sub(r"var\(--rg-([a-z0-9-]+)\)", lambda match: LIGHT[match[1]], text)
