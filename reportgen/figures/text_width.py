"""How wide a text is when it is set in Reportgen Sans, without asking a browser."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal, TypeAlias

from reportgen.figures.advances import ADVANCES, UNITS_PER_EM

Weight: TypeAlias = Literal[400, 600]


def measure_text(text: str, size: float, weight: Weight = 400) -> float:
    """Return the width of one line of text.

    It is the sum of the advances; kerning is left out, and changes words by at most a few percent.
    A character outside the font is drawn by one of the reader's own fonts and is estimated: nothing for
    a combining or invisible one, an em for a wide one (CJK, emoji), the average letter for any other.

    Args:
        text: one line.
        size: font size; the result has the same unit.
        weight: 400 or 600.
    """
    known = _load_advances(weight)
    units = sum(known[char] if char in known else _estimate_advance(char, known["x"]) for char in text)
    return units * size / UNITS_PER_EM


def cut_text(text: str, size: float, weight: Weight, width: float) -> str:
    """A text that is wider than ``width`` loses its end to an ellipsis; arguments as in ``measure_text``."""
    if measure_text(text, size, weight) <= width:
        return text
    start = text
    while start and measure_text(f"{start}…", size, weight) > width:
        start = start[: int(len(start) * 0.9)]
    return f"{start}…"


@cache
def _load_advances(weight: Weight) -> dict[str, int]:
    return {
        chr(first + offset): int(advance)
        for first, run in ADVANCES[weight].items()
        for offset, advance in enumerate(run.split())
    }


@cache
def _estimate_advance(char: str, average: int) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.category(char) == "Cc":
        # Drawn as a replacement character, or as a space.
        return UNITS_PER_EM
    return UNITS_PER_EM if unicodedata.east_asian_width(char) in {"W", "F"} else average
