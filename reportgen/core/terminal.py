"""Safe text for a terminal or a workflow's log, and excerpts of files with carets."""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.errors import SourceLocation

_TAB = 4
_ELLIPSIS = "…"
# A third of a line that has to be cut is before its caret.
_BEFORE = 3
# Start of a line that GitHub, Azure or TeamCity would take for a command in a log.
_COMMAND = re.compile(r"^\s*:(?=:)|##\w*(?=\[)")
# Characters that may need an escape in JSON.
_ESCAPED = re.compile(r"[^\n -~]|#(?=#\w*\[)")


def format_excerpt(line: str, place: SourceLocation, length: int = 1, *, width: int = 100) -> tuple[str, ...]:
    """Return a printable line and its carets below, or only the line without a column.

    Tabs become spaces, control characters of terminals are replaced or left out, and a line too wide is cut
    around the caret. ``place`` has the column of the first caret, counted in characters from 1, ``length`` is
    the number of characters with carets, ``width`` the number of available cells.
    """
    gutter = f"{place.line or 0:>5} | "
    drawn = _measure_characters(line)
    ends = [0, *accumulate(cells for _, cells in drawn)]
    first = min((place.column or 1) - 1, len(drawn))
    last = min(first + max(length, 1), len(drawn))
    room = max(width - len(gutter), 20)
    # All characters that fit are shown; otherwise those before the caret are cut to a third.
    start, stop = 0, len(drawn)
    if ends[-1] > room:
        inner = room - 2 * len(_ELLIPSIS)
        # A caret near the end of the line: show the line to its end.
        most = min(max(ends[first] - inner // _BEFORE, 0), ends[-1] - inner)
        start = next(n for n, end in enumerate(ends) if end >= most)
        stop = max(n for n, end in enumerate(ends) if end - ends[start] <= inner)
    before, after = (_ELLIPSIS if start else ""), (_ELLIPSIS if stop < len(drawn) else "")
    shown = before + _break_commands("".join(text for text, _ in drawn[start:stop])) + after
    if place.column is None:
        return (f"{gutter}{shown}".rstrip(),)
    left = len(before) + ends[first] - ends[start]
    carets = max(ends[min(last, stop)] - ends[first], 1) if last > first else 1
    return f"{gutter}{shown}".rstrip(), f"{' ' * 5} | {' ' * left}{'^' * carets}"


def clean_text(text: str) -> str:
    """Return a text on one line without commands for a terminal or a workflow's log."""
    return _break_commands("".join(shown for shown, _ in _measure_characters(text)))


def clean_lines(text: str) -> str:
    """Return a text of several lines, each printable."""
    return "\n".join(map(clean_text, text.split("\n")))


def clean_json(text: str) -> str:
    """Return JSON of several lines, with escapes for control characters of terminals."""

    def escape(match: re.Match[str]) -> str:
        if match[0] == "#":
            return "\\u0023"
        return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]

    return _ESCAPED.sub(escape, text)


def format_annotation(severity: str, properties: Mapping[str, str | int | None], message: str) -> str:
    """A workflow command of GitHub Actions: ``::error file=content/index.md,line=5::…``.

    Properties that are None are left out.
    """
    pairs = (
        f"{name}={_escape_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{severity} {','.join(pairs)}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    """A message as workflow commands want it escaped."""
    lines = (clean_lines(line).replace("%", "%25").replace("\n", "%0A") for line in text.split("\r"))
    return "%0D".join(lines)


def _break_commands(shown: str) -> str:
    """Break what would be a command to a workflow's log with a space."""
    return _COMMAND.sub(r"\g<0> ", shown)


def _measure_characters(line: str) -> list[tuple[str, int]]:
    """Return what is printed for each character, and its width in cells."""
    drawn: list[tuple[str, int]] = []
    at = 0
    for character in line:
        text, cells = character, 1
        kind = unicodedata.category(character)
        if character == "\t":
            cells = _TAB - at % _TAB
            text = " " * cells
        elif kind in {"Cc", "Cs", "Zl", "Zp"}:
            text = "\N{REPLACEMENT CHARACTER}"
        elif kind == "Cf":
            text, cells = "", 0
        elif kind in {"Mn", "Me"}:
            cells = 0
        elif unicodedata.east_asian_width(character) in {"W", "F"}:
            cells = 2
        drawn.append((text, cells))
        at += cells
    return drawn
