"""Runs the function that an ``altair`` block names; only where the report's settings allow code."""

from __future__ import annotations

import importlib.util
import traceback
from typing import TYPE_CHECKING, Any

from reportgen.errors import Place, Problem, ReportError, Stage

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import pandas as pd


def chart_of(root: Path, function: str, frame: pd.DataFrame, place: Place) -> dict[str, Any]:
    """The Vega-Lite specification of the chart that ``file.py:function`` returns for ``frame``.

    Raises:
        ReportError: the file or function is missing, lies outside the report, raises, or returns
            something other than an Altair chart.
    """
    file_name, _, name = function.partition(":")
    path = (root / file_name).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        raise _problem(
            place, f'there is no file "{file_name}" in the report', "Give it relative to mkdocs.yml"
        )
    module = _load(path, file_name)
    make = getattr(module, name, None)
    if not callable(make):
        raise _problem(place, f'"{file_name}" has no function "{name}"')
    try:
        chart = make(frame)
    except Exception as error:
        raise _raised(error, path, file_name) from error
    if not hasattr(chart, "to_dict"):
        raise _problem(place, f'"{function}" returned {type(chart).__name__}, not an Altair chart')
    specification: dict[str, Any] = chart.to_dict()
    return specification


def _load(path: Path, file_name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"reportgen_author_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise _problem(Place(file_name), "this file is not Python")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _raised(error, path, file_name) from error
    return module


def _raised(error: Exception, path: Path, file_name: str) -> ReportError:
    """The author's error at the deepest line of the author's file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    return _problem(Place(file_name, line), f"{type(error).__name__}: {error}")


def _problem(place: Place, message: str, next_step: str = "") -> ReportError:
    return ReportError(Problem(place, message, next_step, Stage.FIGURE))
