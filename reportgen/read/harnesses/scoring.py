"""Scores as harnesses write them: numbers, truth values, marks such as C and I, and texts with a ±."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from reportgen.read.harnesses.documents import shorten_cell
from reportgen.read.logged import Finding, Total
from reportgen.read.loggers.growing import parse_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# The marks of Inspect's scorers (inspect_ai, scorer/_metric.py: value_to_float), and what others write.
_MARKS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("C", "c", "yes", "true", "correct", "right", "pass", "passed"), 1.0),
    **dict.fromkeys(("I", "i", "N", "n", "no", "false", "incorrect", "wrong", "fail", "failed"), 0.0),
    **dict.fromkeys(("P", "p"), 0.5),
}
_LONGEST_CELL: Final = 40
_MOST: Final = 1e12
_PLUS_MINUS: Final = re.compile(
    r"\s*(?P<value>[-+\N{MINUS SIGN}]?\d+(?:\.\d+)?)\s*(?:±|\+/-|\+-|\\pm)\s*(?P<half>\d+(?:\.\d+)?)\s*%?\s*"
)


def parse_score(cell: object) -> float | None:
    """A cell as the score of one answer; None where it is none or not finite."""
    value = parse_number(cell)
    if value is None and isinstance(cell, str):
        mark = cell.strip()
        value = _MARKS.get(mark, _MARKS.get(mark.lower()))
    return value if value is not None and math.isfinite(value) else None


def parse_total(
    path: Path,
    metric: str,
    cell: object,
    stderr: object = None,
    *,
    n: int | None = None,
    higher_is_better: bool | None = None,
) -> tuple[Total | None, Finding | None]:
    """A score of a whole benchmark, and what was irregular about it.

    Texts such as ``28.7±4.8`` give their first number alone: nothing says whether the second is a standard
    error or half an interval. A standard error such as ``N/A`` is none, which is no irregularity.
    """
    value, finding = parse_number(cell), None
    if value is None and isinstance(cell, str) and (match := _PLUS_MINUS.fullmatch(cell)):
        value = float(match["value"].replace("\N{MINUS SIGN}", "-"))
        message = f'{shorten_cell(metric)} is the text "{shorten_cell(cell, _LONGEST_CELL)}": {match["value"]} is read'
        left = f"{match['half']} is left out, since nothing says what interval it is"
        finding = Finding(path, f"{message}, and {left}")
    if value is None or not math.isfinite(value):
        if cell in (None, "", " "):
            return None, None
        what = shorten_cell(cell, _LONGEST_CELL) or f"a {type(cell).__name__}"
        return None, Finding(path, f"{shorten_cell(metric)} is no number ({what}): left out")
    error = parse_number(stderr)
    if error is not None and not (math.isfinite(error) and error >= 0):
        error = None
    return Total(metric, value, error, n, higher_is_better), finding


def parse_count(cell: object) -> int | None:
    """A cell as a number of things; None where it is none, not even one, or beyond belief."""
    value = parse_number(cell)
    if (
        value is None
        or isinstance(cell, bool)
        or not math.isfinite(value)
        or not 1 <= value <= _MOST
        or value != int(value)
    ):
        return None
    return int(value)
