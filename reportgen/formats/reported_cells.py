"""Cells of tables as papers print them: ``51.2%``, ``75.5 ± 0.4``, ``**76.8**``, ``1,234``."""

from __future__ import annotations

import math
import re
from typing import Final

from msgspec import Struct

_NUMBER: Final = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
# A value, and after ±, +/- or in round brackets how sure it is.
_REPORTED: Final = re.compile(
    rf"(?P<value>{_NUMBER})\s*(?P<percent>%?)"
    rf"(?:\s*(?:±|\+/?-|\\pm)\s*(?P<after>{_NUMBER})\s*(?P<late>%?)"
    rf"|\s*\(\s*±?\s*(?P<within>{_NUMBER})\s*%?\s*\))?"
)
# Marks of the best score of a column, and of footnotes.
_MARKS: Final = re.compile(r"\\(?:textbf|underline|mathbf)\{([^{}]*)\}")
_BOLD: Final = re.compile(r"\*\*|__|\$")
_AROUND: Final = "*† \u00a0\t"


class Reported(Struct, frozen=True):
    """A reported score, and the number after its ±; both as shares if they are written in percent."""

    value: float
    spread: float | None = None
    percent: bool = False


def parse_reported(cell: str) -> Reported | None:
    """Parse a cell as a reported score; None if it is none, as with words or a decimal comma."""
    text = _MARKS.sub(r"\1", cell.replace("\u2212", "-").replace("\\%", "%"))
    found = _REPORTED.fullmatch(_BOLD.sub("", text).strip(_AROUND))
    if not found:
        return None
    percent = bool(found["percent"] or found["late"])
    value, spread = (_to_number(found["value"], percent=percent), found["after"] or found["within"])
    if not math.isfinite(value):
        return None
    return Reported(value, None if spread is None else abs(_to_number(spread, percent=percent)), percent)


def _to_number(text: str, *, percent: bool) -> float:
    number = float(text.replace(",", ""))
    # Rounded to the digits that are written, as 51.2 / 100 is 0.51200000000000001.
    return float(f"{number / 100:.15g}") if percent else number
