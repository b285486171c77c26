"""Text in figures: escaped for XML and CSV, measured without a browser, cut and broken into lines."""

from __future__ import annotations

import json
import math
import re
import textwrap
import unicodedata
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from reportgen.figures.style import LABEL_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


FONTS = Path(__file__).with_name("fonts")
"""The fonts of pictures, and their advance widths."""
UNITS_PER_EM = 2048
Weight: TypeAlias = Literal[400, 600]
WIDEST_NAME = 188
"""Pixels that a line of a name may take at the left of its row."""
NARROWEST = 296
"""Pixels of the plot where a page is 360 wide, the narrowest that pictures are made for."""

# Everything but the Char production of XML 1.0: a reader of XML stops at any of these.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BETWEEN = 28
_MOST_LINES = 2
_JOINT = re.compile(r"[^\s/_:,-]*[\s/_:,-]*")
# Letters of a line in a table cell: about as wide as a score with its interval.
_WIDEST_CELL = 34
_TURNING = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def escape_text(text: str) -> str:
    """Text for an element or an attribute; a character that XML forbids becomes U+FFFD."""
    return escape(clean_text(text))


def clean_text(text: str) -> str:
    """Text with U+FFFD for every character that XML forbids."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def escape_field(text: str) -> str:
    """A CSV field, quoted where needed, harmless in a spreadsheet."""
    text = escape_formula(text)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def escape_formula(text: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe before it.

    The marks are those of OWASP's page on CSV injection, in their full-width forms too.
    """
    return f"'{text}" if text.startswith(_FORMULA_MARKS) else text


def format_field(value: object) -> str:
    """A CSV field: words as they are, a number with ten significant digits, None or NaN empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else ""
    return str(value) if isinstance(value, int) else escape_field(str(value))


def write_table_csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV, every cell as ``format_field`` writes it."""
    return "".join(",".join(map(format_field, row)) + "\n" for row in (header, *rows))


def measure_text(text: str, size: float, weight: Weight = 400) -> float:
    """The width of one line of text, in the unit of the font's ``size``.

    It is the sum of the advances; kerning is left out, and changes words by at most a few percent.
    A character outside the font is drawn by one of the reader's own fonts and is estimated: nothing for
    a combining or invisible one, an em for a wide one (CJK, emoji), the average letter for any other.
    """
    advances = _load_advances()[weight]
    return sum(advances[char] for char in text) * size / UNITS_PER_EM


class _Advances(dict[str, int]):
    """The advance of each character of a font; one that the font lacks is estimated."""

    def __missing__(self, char: str) -> int:
        kind = unicodedata.category(char)
        if kind in {"Mn", "Me", "Cf"}:
            return 0
        # A control character is drawn as a replacement character, or as a space.
        return UNITS_PER_EM if kind == "Cc" or unicodedata.east_asian_width(char) in {"W", "F"} else self["x"]


@cache
def _load_advances() -> dict[int, _Advances]:
    """The advances by weight, as ``site_templates/fonts/make_fonts.py`` writes them."""
    weights = json.loads((FONTS / "advances.json").read_bytes())
    return {
        int(weight): _Advances(
            (chr(code), advance)
            for first, run in runs.items()
            for code, advance in enumerate(run, int(first))
        )
        for weight, runs in weights.items()
    }


def cut_text(text: str, size: float, weight: Weight, width: float) -> str:
    """A text that is wider than ``width`` loses its end to an ellipsis; arguments as in ``measure_text``."""
    if measure_text(text, size, weight) <= width:
        return text
    start = text
    while start and measure_text(f"{start}…", size, weight) > width:
        start = start[: int(len(start) * 0.9)]
    return f"{start}…"


def wrap_words(text: str, size: float, weight: Weight, width: float) -> list[str]:
    """Words in lines no wider than ``width`` pixels; a word wider than a line is cut with an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure_text(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_text(word, size, weight, width))
    return lines


def break_name(name: str) -> tuple[str, ...]:
    """A name in at most two lines of ``WIDEST_NAME`` pixels, broken after a space or a mark such as ``/``."""
    lines: list[str] = []
    for part in filter(None, _JOINT.findall(" ".join(name.split()))):
        longer = f"{lines[-1]}{part}" if lines else part
        if lines and measure_text(longer.rstrip(), LABEL_SIZE) <= WIDEST_NAME:
            lines[-1] = longer
        else:
            lines.append(part)
    # A cut line ends in an ellipsis, and so does the last one that has room.
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "".join(lines[_MOST_LINES - 1 :])]
    return tuple(cut_label(line.rstrip(), WIDEST_NAME) for line in lines) or ("",)


def shorten_name(name: str, words: str) -> str:
    """A name in one line above its row, cut so that the words at its right still fit in ``NARROWEST``."""
    return cut_label(" ".join(name.split()), NARROWEST - _BETWEEN - measure_text(words, LABEL_SIZE))


def cut_label(text: str, width: float) -> str:
    """The text, or as much of it as fits into ``width`` pixels with an ellipsis."""
    if measure_text(text, LABEL_SIZE) <= width:
        return text
    count, taken = 0, measure_text("…", LABEL_SIZE)
    for letter in text:
        taken += measure_text(letter, LABEL_SIZE)
        if taken > width:
            break
        count += 1
    return f"{text[:count].rstrip()}…"


def wrap_cell(text: str) -> str:
    """The text broken between words; a word longer than a line stays whole."""
    return "\n".join(textwrap.wrap(text, _WIDEST_CELL, break_long_words=False, break_on_hyphens=False))


def isolate_names(sentence: str, names: Sequence[str]) -> str:
    """A sentence in which names that run from right to left do not turn the words around them.

    Such a name is put between U+2068 and U+2069 (Unicode annex 9).
    """
    for name in names:
        if any(unicodedata.bidirectional(letter) in _TURNING for letter in name):
            sentence = sentence.replace(name, f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}")
    return sentence
