"""Statements of Python as cells of a notebook: what each gives, or what is wrong with it."""

from __future__ import annotations

import ast
from contextlib import chdir
from typing import TYPE_CHECKING

import pandas as pd

from reportgen import ReportError

if TYPE_CHECKING:
    from pathlib import Path


def run_cells(root: Path, file: str) -> str:
    """Run the statements of a file in a folder; return the source of each behind ``>>>``, and its value.

    A problem is printed as a notebook prints the last line of its traceback.
    """
    text = (root / file).read_text("utf-8")
    names: dict[str, object] = {}
    with chdir(root), pd.option_context("display.width", 110, "display.max_columns", 40):
        parts = [_run_cell(statement, text, names) for statement in ast.parse(text).body]
    return "".join(parts)


def _run_cell(statement: ast.stmt, text: str, names: dict[str, object]) -> str:
    source = ast.get_source_segment(text, statement)
    try:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "cell", "exec"), names)  # noqa: S102 - a test's own
            return ""
        value = eval(compile(ast.Expression(statement.value), "cell", "eval"), names)  # noqa: S307 - as above
    except (ReportError, ValueError) as error:
        value = f"{type(error).__name__}: {error}"
    else:
        value = repr(value)
    return f">>> {source}\n{value}\n"
