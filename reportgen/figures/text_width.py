"""How wide a text is when it is set in Reportgen Sans, without asking a browser."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal, TypeAlias

from reportgen.figures.advances import ADVANCES, UNITS_PER_EM

Weight: TypeAlias = Literal[400, 600]


def text_width(text: str, size: float, weight: Weight = 400) -> float:
    """Return the width of one line of text.

    It is the sum of the advances; kerning is left out, and changes words by at most a few percent.
    A character outside the font is drawn by one of the reader's own fonts and is estimated: nothing for
    a combining or invisible one, an em for a wide one (CJK, emoji), the average letter for any other.

    Args:
        text: one line.
        size: font size; the result has the same unit.
        weight: 400 or 600.
    """
    known = _advances(weight)
    units = sum(known[char] if char in known else _estimate(char, known["x"]) for char in text)
    return units * size / UNITS_PER_EM


def cut(text: str, size: float, weight: Weight, width: float) -> str:
    """A text that is wider than ``width`` loses its end to an ellipsis; arguments as in ``text_width``."""
    if text_width(text, size, weight) <= width:
        return text
    kept = text
    while kept and text_width(f"{kept}…", size, weight) > width:
        kept = kept[: int(len(kept) * 0.9)]
    return f"{kept}…"


@cache
def _advances(weight: Weight) -> dict[str, int]:
    return {
        chr(first + offset): int(advance)
        for first, run in ADVANCES[weight].items()
        for offset, advance in enumerate(run.split())
    }


@cache
def _estimate(char: str, average: int) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.category(char) == "Cc":
        # Drawn as a replacement character, or as a space.
        return UNITS_PER_EM
    return UNITS_PER_EM if unicodedata.east_asian_width(char) in {"W", "F"} else average
