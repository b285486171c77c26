"""Meaning of a cell's text: missing, a number, a time or a word (``sql`` has the same rules in SQL)."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable


# A cell as written; None if the format itself marks it as missing.
Text: TypeAlias = str | None

_DASHES: Final = ("-", "--", "\u2013", "\u2014", "\u2212")
MISSING: Final = frozenset(("", "na", "n/a", "#n/a", "<na>", "null", "none", "missing", *_DASHES))
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:[0-5]\d(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d{2}(:?\d{2})?)?)?"
)
MOST_EXACT: Final = 2**53
"""Whole numbers up to this one are exact as doubles."""
_PERCENT: Final = re.compile(r" *([+-]?(?:\d+\.?\d*|\.\d+)) *% *")


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


def parse_percent(cell: str) -> float | None:
    """Parse a percentage such as ``51.2%`` as a share, 0.512; None if the cell is none."""
    found = _PERCENT.fullmatch(cell) if "%" in cell else None
    # The exponent keeps the digits that are written, as 51.2 / 100 is 0.51200000000000001.
    return float(f"{found[1]}e-2") if found else None


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


UNIX_TIMES: Final = ((1e9, 1e10, 1e3), (1e12, 1e13, 1.0), (1e15, 1e16, 1e-3), (1e18, 1e19, 1e-6))
"""Ranges of times since 1970 in s, ms, µs and ns, for the years 2001 to 2286, and factors to milliseconds."""


def is_unix_time(cell: str) -> bool:
    """Return whether a cell is a number that can be a time since 1970, in seconds or a smaller unit."""
    return is_number(cell) and any(low <= float(cell) < high for low, high, _ in UNIX_TIMES)


def convert_unix_time(number: float) -> float:
    """Return a time since 1970 in milliseconds, going by its size; NaN if the number can be none."""
    return next((number * factor for low, high, factor in UNIX_TIMES if low <= number < high), math.nan)


_CODE: Final = re.compile(r"[0-9A-Za-z]*")
_BOTH: Final = re.compile(r"[0-9]+[A-Za-z]|[A-Za-z]+[0-9]")


def are_codes(cells: Iterable[str]) -> bool:
    """Return whether cells are codes of one length, such as commits, of which some are no numbers.

    A hash may happen to have digits only, or to look like 82e10.
    """
    filled = {cell for cell in cells if not is_missing(cell)}
    is_code = len({*map(len, filled)}) == 1 and all(map(_CODE.fullmatch, filled))
    return is_code and any(_BOTH.match(cell) and not is_number(cell) for cell in filled)


def infer_kind(cells: Iterable[Text]) -> Kind:
    """Return the kind of a column: numbers or times if at least half of its filled cells are."""
    counts = Counter(cells)
    if are_codes(cell for cell in counts if cell is not None):
        return Kind.TEXT
    numbers = times = words = 0
    for cell, count in counts.items():
        if cell is None:
            continue
        if is_number(cell) or parse_reported(cell):
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


LONGEST_NUMBER: Final = 80
"""Most characters of a cell that is parsed as a printed number, as LaTeX may write one."""
_NUMBER: Final = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_DIGIT: Final = re.compile("[0-9]")
# A value, and after ±, +/- or in round brackets how sure it is.
REPORTED: Final = (
    rf"(?P<value>{_NUMBER})\s*(?P<percent>%?)"
    rf"(?:\s*(?:±|\+/?-|\\pm)\s*(?P<after>{_NUMBER})\s*(?P<late>%?)"
    rf"|\s*\(\s*±?\s*(?P<within>{_NUMBER})\s*%?\s*\))?"
)
# Marks of the best score of a column, and of footnotes.
MARKS: Final = r"\\(?:textbf|underline|mathbf)\{([^{}]*)\}"
BOLD: Final = r"\*\*|__|\$"
AROUND: Final = "*† \u00a0\t"


class Reported(Struct, frozen=True):
    """A reported score, and the number after its ±; both as shares if they are written in percent."""

    value: float
    spread: float | None = None
    percent: bool = False


def parse_reported(cell: str) -> Reported | None:
    """Parse a cell as a number as people print it; None if it is none, as with words or a decimal comma."""
    if len(cell) > LONGEST_NUMBER or not _DIGIT.search(cell):
        return None
    text = re.sub(MARKS, r"\1", cell.replace("\u2212", "-").replace("\\%", "%"))
    found = re.fullmatch(REPORTED, re.sub(BOLD, "", text).strip(AROUND))
    if not found:
        return None
    percent = bool(found["percent"] or found["late"])
    value, spread = (_to_number(found["value"], percent=percent), found["after"] or found["within"])
    if not math.isfinite(value):
        return None
    return Reported(value, None if spread is None else abs(_to_number(spread, percent=percent)), percent)


def is_other_number(cell: Text) -> bool:
    """Return whether a cell shows a number in a notation that is not read, such as ``1,234`` or ``5 ± 1``."""
    if not cell or is_number(cell) or parse_percent(cell) is not None:
        return False
    return parse_reported(cell.replace(",", ".", 1)) is not None or parse_reported(cell) is not None


def _to_number(text: str, *, percent: bool) -> float:
    number = float(text.replace(",", ""))
    return make_share(number) if percent else number


def make_share(percentage: float) -> float:
    """Return a percentage as a share."""
    # Rounded to the digits that are written, as 12.3 / 100 is 0.12300000000000001.
    return float(f"{percentage / 100:.15g}")
