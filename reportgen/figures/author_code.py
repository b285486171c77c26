"""Runs the function that an ``altair`` block names; only where the report's settings allow code."""

from __future__ import annotations

import hashlib
import sys
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.naming import suggest_name
from reportgen.settings.parsing import shorten

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

_MOST_WORDS = 300


def run_chart_function(
    root: Path, function: str, frame: pd.DataFrame, place: SourceLocation
) -> dict[str, Any]:
    """The Vega-Lite specification of the chart that ``file.py:function`` returns for a copy of ``frame``.

    Raises:
        ReportError: the file or function is missing, lies outside the report, raises, or returns
            something other than an Altair chart, or one that Altair refuses.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    file_name, _, name = function.partition(":")
    path = (root / file_name).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        raise _make_error(
            place, f'there is no file "{file_name}" in the report', "Give it relative to mkdocs.yml"
        )
    make = _find_function(_load(path, file_name), file_name, name, place)
    try:
        chart = make(frame.copy())
    except (Exception, SystemExit) as error:
        raise _locate_error(error, path, file_name) from error
    if not isinstance(chart, alt.TopLevelMixin):
        raise _make_error(place, f'"{function}" returned {type(chart).__name__}, not an Altair chart')
    try:
        with alt.data_transformers.enable("default", max_rows=None):
            specification: dict[str, Any] = chart.to_dict()
    except Exception as error:
        said = shorten(str(error), _MOST_WORDS).removesuffix(".")
        raise _make_error(place, f'Altair refuses the chart of "{function}": {said}') from error
    return specification


def _load(path: Path, file_name: str) -> ModuleType:
    """The author's module, made from its source each time: a cached one may be a second too old."""
    name = f"reportgen_author_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - what allow_code allows
    except (Exception, SystemExit) as error:
        raise _locate_error(error, path, file_name) from error
    return module


def _find_function(
    module: ModuleType, file_name: str, name: str, place: SourceLocation
) -> Callable[..., object]:
    make = getattr(module, name, None)
    if callable(make):
        found: Callable[..., object] = make
        return found
    known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    raise _make_error(place, f'"{file_name}" has no function "{name}"', suggest_name(name, known).rstrip())


def _locate_error(error: BaseException, path: Path, file_name: str) -> ReportError:
    """The author's error at the deepest line of the author's file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    said = shorten(f"{type(error).__name__}: {error}", _MOST_WORDS).removesuffix(".")
    return _make_error(SourceLocation(file_name, line), said)


def _make_error(place: SourceLocation, message: str, next_step: str = "") -> ReportError:
    return ReportError(Problem(place, message, next_step, Stage.FIGURE))
