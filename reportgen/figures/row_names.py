"""Names beside rows: broken where a name has a joint, and cut where it is too long even so."""

from __future__ import annotations

import re

from reportgen.figures.layout import LABEL_SIZE
from reportgen.figures.text_width import measure_text

WIDEST_NAME = 188
"""Pixels that a line of a name may take beside its row."""
NARROWEST = 296
"""Pixels of the plot where a page is 360 wide, the narrowest that pictures are made for."""
_BETWEEN = 28
_MOST_LINES = 2
_JOINT = re.compile(r"[^\s/_:,-]*[\s/_:,-]*")


def break_name(name: str) -> tuple[str, ...]:
    """A name in at most two lines of ``WIDEST_NAME`` pixels, broken after a space or a mark such as ``/``."""
    lines: list[str] = []
    for part in filter(None, _JOINT.findall(" ".join(name.split()))):
        longer = f"{lines[-1]}{part}" if lines else part
        if lines and _measure_label(longer.rstrip()) <= WIDEST_NAME:
            lines[-1] = longer
        else:
            lines.append(part)
    # A cut line ends in an ellipsis, and so does the last one that has room.
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "".join(lines[_MOST_LINES - 1 :])]
    return tuple(cut_label(line.rstrip(), WIDEST_NAME) for line in lines) or ("",)


def shorten_name(name: str, words: str) -> str:
    """A name in one line above its row, cut so that the words at its right still fit in ``NARROWEST``."""
    return cut_label(" ".join(name.split()), NARROWEST - _BETWEEN - _measure_label(words))


def cut_label(text: str, width: float) -> str:
    """The text, or as much of it as fits into ``width`` pixels with an ellipsis."""
    if _measure_label(text) <= width:
        return text
    count, taken = 0, _measure_label("…")
    for letter in text:
        taken += _measure_label(letter)
        if taken > width:
            break
        count += 1
    return f"{text[:count].rstrip()}…"


def _measure_label(text: str) -> float:
    return measure_text(text, LABEL_SIZE)
