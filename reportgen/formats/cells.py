"""Meaning of a cell's text: missing, a number, a time or a word (``sql`` has the same rules in SQL)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


# A cell as written; None if the format itself marks it as missing.
Text: TypeAlias = str | None

MISSING: Final = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none", "missing", "-", "--"))
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:[0-5]\d(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d{2}(:?\d{2})?)?)?"
)


class Kind(StrEnum):
    """Content of a column, as far as its cells were read."""

    NUMBER = "numbers"
    MIXED = "numbers, and words that no number is"
    TIME = "times"
    TEXT = "words"
    EMPTY = "nothing"


NUMERIC: Final = frozenset((Kind.NUMBER, Kind.MIXED))


def is_missing(cell: Text) -> bool:
    """Return whether a cell is a missing value; ``NaN`` is a value."""
    return cell is None or cell.strip(" ").lower() in MISSING


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, including ``NaN`` and infinity."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii()


def is_time(cell: str) -> bool:
    """Return whether a cell is an ISO 8601 date, with or without a time."""
    text = cell.strip(" ")
    if not _TIME.fullmatch(text):
        return False
    try:
        # The pattern does not check the calendar, so parse day and minute.
        datetime.fromisoformat(text[:16])
    except ValueError:
        return False
    return True


def infer_kind(cells: Iterable[Text]) -> Kind:
    """Return the kind of a column: numbers or times if at least half of its filled cells are."""
    numbers = times = words = 0
    for cell, count in Counter(cells).items():
        if cell is None:
            continue
        if is_number(cell):
            numbers += count
        elif not is_missing(cell):
            words += count
            times += count if is_time(cell) else 0
    if not words:
        return Kind.NUMBER if numbers else Kind.EMPTY
    if numbers >= words:
        return Kind.MIXED
    return Kind.TIME if 2 * times >= numbers + words else Kind.TEXT


def combine_kinds(kinds: Iterable[Kind]) -> Kind:
    """Return the kind of a column over several files: that of most of them."""
    filled = [kind for kind in kinds if kind is not Kind.EMPTY]
    if not filled:
        return Kind.EMPTY
    if len(set(filled)) == 1:
        return filled[0]
    if 2 * sum(kind in NUMERIC for kind in filled) >= len(filled):
        return Kind.MIXED
    return Kind.TIME if 2 * filled.count(Kind.TIME) >= len(filled) else Kind.TEXT
