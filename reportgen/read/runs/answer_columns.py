"""Answers to problems as columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from reportgen.read import sql

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.read.cells import Text
    from reportgen.read.logged import ScoredAnswer

# What the table of answers has beside its slices, and columns that the source gives to all of them.
ANSWERS: Final = {
    **dict.fromkeys(("problem", "sample"), sql.TEXT),
    "score": "DOUBLE",
    **dict.fromkeys(("answer", "gold"), sql.TEXT),
    **dict.fromkeys(("tokens", "seconds"), "DOUBLE"),
}
_GIVEN: Final = frozenset(("series", "run", "seed", "benchmark", "step", "metric", "value", "row", "cost"))

Columns: TypeAlias = "Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]"
"""Arrays of shape (n,) by name: numbers, or objects that are texts or None."""


def make_answer_columns(answers: Sequence[ScoredAnswer]) -> tuple[Columns, dict[str, str]]:
    """The columns that say anything, and their types; a slice with the name of another column is left out."""
    columns: dict[str, list[str | float | None]] = {
        name: [_clean_cell(getattr(answer, name)) for answer in answers] for name in ANSWERS
    }
    taken = {*ANSWERS, *_GIVEN}
    for name in dict.fromkeys(name for answer in answers for name in answer.slices):
        column = clean_text(name) or ""
        if column.casefold() not in taken:
            taken.add(column.casefold())
            columns[column] = [_clean_cell(answer.slices.get(name)) for answer in answers]
    needed = {"problem", "score"}
    said = {
        name: cells
        for name, cells in columns.items()
        if name in needed or any(cell not in {None, ""} for cell in cells)
    }
    types = {name: ANSWERS.get(name, sql.TEXT) for name in said}
    kinds = {"DOUBLE": float, sql.TEXT: object}
    return {name: np.array(cells, kinds[types[name]]) for name, cells in said.items()}, types


def _clean_cell(cell: str | float | None) -> str | float | None:
    return clean_text(cell) if isinstance(cell, str) else cell


def clean_text(text: Text) -> Text:
    """A text without halves of characters, which JSON can hold and UTF-8 cannot, and with NUL as U+FFFD."""
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
