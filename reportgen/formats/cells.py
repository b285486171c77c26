"""What the text of a cell means: missing, a number, a time or a word (``sql`` says the same in SQL)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


# A cell as it is written; None where the format itself says that there is nothing.
Text: TypeAlias = str | None

MISSING: Final = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none", "missing", "-", "--"))
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:[0-5]\d(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d{2}(:?\d{2})?)?)?"
)


class Kind(StrEnum):
    """What the cells of a column hold, as far as they were looked at."""

    NUMBER = "numbers"
    MIXED = "numbers, and words that no number is"
    TIME = "times"
    TEXT = "words"
    EMPTY = "nothing"


NUMERIC: Final = frozenset((Kind.NUMBER, Kind.MIXED))


def is_missing(cell: Text) -> bool:
    """Whether a cell says that there is no value; ``NaN`` is a value."""
    return cell is None or cell.strip(" ").lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number, ``NaN`` and infinity included."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii()


def is_time(cell: str) -> bool:
    """Whether a cell is a date, or a date and a time, in the order of ISO 8601."""
    text = cell.strip(" ")
    if not _TIME.fullmatch(text):
        return False
    try:
        # Day and minute; the pattern knows no calendar.
        datetime.fromisoformat(text[:16])
    except ValueError:
        return False
    return True


def infer_kind(cells: Iterable[Text]) -> Kind:
    """What a column holds: numbers or times where at least half of its filled cells are."""
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
    """What a column holds in several files: what it holds in most of them."""
    filled = [kind for kind in kinds if kind is not Kind.EMPTY]
    if not filled:
        return Kind.EMPTY
    if len(set(filled)) == 1:
        return filled[0]
    if 2 * sum(kind in NUMERIC for kind in filled) >= len(filled):
        return Kind.MIXED
    return Kind.TIME if 2 * filled.count(Kind.TIME) >= len(filled) else Kind.TEXT
