"""What a cell of a score column means: a number in a stated range, or a word for one of its ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reportgen.read import sql
from reportgen.read.cells import is_missing, is_number

if TYPE_CHECKING:
    from reportgen.read.cells import Text

RIGHT: Final = frozenset(("true", "correct", "right", "pass", "passed"))
WRONG: Final = frozenset(("false", "incorrect", "wrong", "fail", "failed"))


def parse_score(expression: str, kind: str, ends: tuple[float, float]) -> str:
    """A cell as a score, in SQL; a missing word is NULL, any other word makes the statement fail.

    Args:
        expression: the cell.
        kind: its SQL type.
        ends: the lowest and the highest possible score, for which truth values and words stand.
    """
    low, high = (f"CAST({sql.quote(repr(end))} AS DOUBLE)" for end in ends)
    if kind == "BOOLEAN":
        return f"CASE WHEN {expression} THEN {high} WHEN NOT {expression} THEN {low} END"
    if kind != sql.TEXT:
        return sql.parse_number(expression, kind)
    return (
        f"coalesce(TRY_CAST({expression} AS DOUBLE), CASE WHEN {sql.is_one_of(expression, RIGHT)} THEN {high} "
        f"WHEN {sql.is_one_of(expression, WRONG)} THEN {low} WHEN {sql.is_missing(expression)} THEN NULL "
        f"ELSE CAST({expression} AS DOUBLE) END)"
    )


def check_range(name: str, ends: tuple[float, float]) -> str:
    """A column of scores, in SQL; one outside of the range makes the statement fail.

    NaN and infinite scores pass: they are missing, not wrong, and counted as such.
    """
    low, high = (f"CAST({sql.quote(repr(end))} AS DOUBLE)" for end in ends)
    outside = f"isfinite({name}) AND {name} NOT BETWEEN {low} AND {high}"
    return f"CASE WHEN {outside} THEN error('a score is out of range') ELSE {name} END"


def check_score(cell: Text, ends: tuple[float, float]) -> tuple[str, str] | None:
    """What is wrong with a cell of a score column, and the next step; None where it is a score or missing."""
    if cell is None or is_missing(cell) or cell.strip(" ").lower() in RIGHT | WRONG:
        return None
    if not is_number(cell):
        return "is not a score", "Write a number, true or false, or correct or incorrect"
    value = float(cell)
    if math.isfinite(value) and not ends[0] <= value <= ends[1]:
        advice = "State the possible scores in source.yml, as in score_range: [0, 100], or mend it"
        return f"lies outside of {ends[0]:g} to {ends[1]:g}", advice
    return None
