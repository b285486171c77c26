"""Notebooks as Jupyter writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT = {"name": "stdout", "output_type": "stream", "text": ["```curve\n", "of the code\n"]}


def make_notebook(*cells: str | tuple[str]) -> dict[str, Any]:
    """A notebook in nbformat 4 of Markdown cells and, in tuples, of code cells with an output."""
    return {
        "cells": [_make_cell(number, cell) for number, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _make_cell(number: int, cell: str | tuple[str]) -> dict[str, Any]:
    code = isinstance(cell, tuple)
    text = cell[0] if isinstance(cell, tuple) else cell
    common: dict[str, Any] = {
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    more: dict[str, Any] = {"execution_count": number, "outputs": [OUTPUT]} if code else {}
    return {"cell_type": "code" if code else "markdown", **common, **more}


def write_notebook(*cells: str | tuple[str]) -> str:
    """The file that Jupyter saves: indented by one space, a line of a cell on each line."""
    return json.dumps(make_notebook(*cells), indent=1, ensure_ascii=False) + "\n"


def find_place(text: str, words: Sequence[str]) -> tuple[int, int]:
    """Line and column, from 1, of the last of these words that follow each other in a text."""
    offset = 0
    for word in words:
        offset = text.index(word, offset)
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
