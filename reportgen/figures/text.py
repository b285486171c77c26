"""Text in figures: escaped for XML and CSV, measured without a browser, cut and wrapped; links to them."""

from __future__ import annotations

import hashlib
import json
import math
import re
import textwrap
import unicodedata
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote

from reportgen.core.words import escape_formula
from reportgen.figures.style import LABEL_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


FONTS = Path(__file__).with_name("fonts")
"""Fonts of pictures and their advance widths."""
UNITS_PER_EM = 2048
Weight: TypeAlias = Literal[400, 600]
WIDEST_NAME = 188
"""Width in pixels of a line of a name at the left of its row."""
NARROWEST = 296
"""Width in pixels of the plot on a page 360 wide, the narrowest supported."""

# Everything but the Char production of XML 1.0: an XML parser fails at any of these.
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BETWEEN = 28
_MOST_LINES = 2
_JOINT = re.compile(r"[^\s/_:,-]*[\s/_:,-]*")
# Characters of a line in a table cell: about as wide as a score with its interval.
_WIDEST_CELL = 34
_LARGEST_WHOLE = 2**53
_TURNING = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def escape_text(text: str) -> str:
    """Escape text for an element or attribute; characters that XML forbids become U+FFFD."""
    return escape(clean_text(text))


def clean_text(text: str) -> str:
    """Replace every character that XML forbids by U+FFFD."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def escape_field(text: str) -> str:
    """Escape a CSV field: quoted if needed, harmless in a spreadsheet."""
    text = escape_formula(text)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def format_field(value: object) -> str:
    """Format a CSV field: text as is, numbers with ten significant digits, None and NaN empty.

    A whole number has all of its digits, for it may be a step.
    """
    if value is None:
        return ""
    if isinstance(value, float):
        digits = 15 if value.is_integer() else 10
        return f"{value:.{digits}g}" if math.isfinite(value) else ""
    return str(value) if isinstance(value, int) else escape_field(str(value))


def write_table_csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table as CSV with cells from ``format_field``."""
    return "".join(",".join(map(format_field, row)) + "\n" for row in (header, *rows))


def measure_text(text: str, size: float, weight: Weight = 400) -> float:
    """Return the width of one line of text, in the unit of the font's ``size``.

    It is the sum of the advances; omitting kerning changes words by at most a few percent. Characters outside
    the font are drawn with the reader's fonts and estimated: zero for combining or invisible ones, an em for
    wide ones (CJK, emoji), the width of an x for any other.
    """
    advances = _load_advances()[weight]
    return sum(advances[char] for char in text) * size / UNITS_PER_EM


class _Advances(dict[str, int]):
    """Advance of each character of a font; estimated for characters outside the font."""

    def __missing__(self, char: str) -> int:
        kind = unicodedata.category(char)
        if kind in {"Mn", "Me", "Cf"}:
            return 0
        # A control character is drawn as a replacement character, or as a space.
        return UNITS_PER_EM if kind == "Cc" or unicodedata.east_asian_width(char) in {"W", "F"} else self["x"]


@cache
def _load_advances() -> dict[int, _Advances]:
    """Load the advances by weight, written by ``site_templates/fonts/make_fonts.py``."""
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
    """Cut text wider than ``width`` and add an ellipsis; arguments as in ``measure_text``."""
    if measure_text(text, size, weight) <= width:
        return text
    start = text
    while start and measure_text(f"{start}…", size, weight) > width:
        start = start[: int(len(start) * 0.9)]
    return f"{start}…"


def wrap_words(text: str, size: float, weight: Weight, width: float) -> list[str]:
    """Wrap words into lines of at most ``width`` pixels; a longer word is cut with an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure_text(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_text(word, size, weight, width))
    return lines


def break_name(name: str) -> tuple[str, ...]:
    """Break a name into at most two lines of ``WIDEST_NAME`` pixels, after spaces or marks such as ``/``."""
    lines: list[str] = []
    for part in filter(None, _JOINT.findall(" ".join(name.split()))):
        longer = f"{lines[-1]}{part}" if lines else part
        if lines and measure_text(longer.rstrip(), LABEL_SIZE) <= WIDEST_NAME:
            lines[-1] = longer
        else:
            lines.append(part)
    # Excess lines are joined into the last one, which is then cut with an ellipsis.
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "".join(lines[_MOST_LINES - 1 :])]
    return tuple(cut_label(line.rstrip(), WIDEST_NAME) for line in lines) or ("",)


def shorten_name(name: str, words: str, room: float = NARROWEST) -> str:
    """Shorten a name to one line above its row, leaving room for ``words`` within ``room`` pixels."""
    return cut_label(" ".join(name.split()), room - _BETWEEN - measure_text(words, LABEL_SIZE))


def cut_label(text: str, width: float) -> str:
    """Cut text to ``width`` pixels with an ellipsis if it is wider."""
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
    """Wrap text between words; a word longer than a line stays whole."""
    return "\n".join(textwrap.wrap(text, _WIDEST_CELL, break_long_words=False, break_on_hyphens=False))


def isolate_names(sentence: str, names: Sequence[str]) -> str:
    """Isolate right-to-left names so that they do not reorder the text around them.

    Such a name is put between U+2068 and U+2069 (Unicode annex 9).
    """
    for name in names:
        if any(unicodedata.bidirectional(letter) in _TURNING for letter in name):
            sentence = sentence.replace(name, f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}")
    return sentence


def name_line(series: str, metric: str, *, alone: bool) -> str:
    """Return the name of a line; a series that is alone in its plot is not repeated on every line."""
    return metric if alone else f"{series} · {metric}"


@lru_cache(maxsize=64)  # figures of one shape share their view
def name_view(specification: str) -> str:
    """Return a short name of the view compiled from a Vega-Lite specification."""
    return hashlib.sha256(specification.encode()).hexdigest()[:12]


def write_link_state(
    figure: str,
    series: Sequence[str] = (),
    x: tuple[float, float] | None = None,
    mark: tuple[float, str] | None = None,
    run: tuple[str, str] | None = None,
) -> str:
    """Write the fragment of a link to a figure's state: ``scores~series=MEL,GRPO~x=100..140~mark=120@MEL``.

    ``site/assets/live-state.js`` reads it. Names are percent-encoded, so they cannot contain a separator.
    Only given parts are written, in this order. Series not in ``series`` fade; ``mark`` is the step and
    series of the marked point, ``run`` the name and series of a run to show alone. In panels, the figure is
    the panel. Raises a ``ValueError`` if a step is not finite.
    """
    parts = [_quote_name(figure)]
    if series:
        parts.append("series=" + ",".join(map(_quote_name, series)))
    if x is not None:
        parts.append("x=" + "..".join(map(_write_step, x)))
    if mark is not None:
        parts.append(f"mark={_write_step(mark[0])}@{_quote_name(mark[1])}")
    if run is not None:
        parts.append("run=" + "@".join(map(_quote_name, run)))
    return "~".join(parts)


def _quote_name(name: str) -> str:
    # A lone surrogate cannot be encoded; ``quote`` does not escape the separator ``~``.
    return quote(name.encode("utf-8", "replace"), safe="").replace("~", "%7E")


def _write_step(step: float) -> str:
    if not math.isfinite(step):
        raise ValueError(f"a link cannot name the step {step}")
    return str(int(step)) if float(step).is_integer() and abs(step) <= _LARGEST_WHOLE else repr(float(step))


def write_compact_json(value: object) -> str:
    """Serialize to JSON without spaces and with sorted keys; NaN is an error."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False, ensure_ascii=False)
