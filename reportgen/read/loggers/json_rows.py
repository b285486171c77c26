"""Rows of a JSON list as metrics: column by column where all cells are numbers, cell by cell where not.

A few thousand rows at a time, so that no object outlives its turn.
"""

from __future__ import annotations

import math
from array import array
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.read.logged import Finding
from reportgen.read.loggers.growing import MetricsBuilder, parse_number
from reportgen.read.loggers.json_objects import iterate_cells
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.model import FloatArray
    from reportgen.read.logged import Points

_STEP: Final = "step"
# Few enough to stay in the processor's cache between their parsing and their counting.
_MANY: Final = 1024
# Rows of one logger have few shapes; beyond these, arrays for each shape cost more than they save.
_MOST_SHAPES: Final = 256


def collect_metrics(
    path: Path, rows: Iterable[Any], selected: Collection[str] | None = None
) -> tuple[Mapping[str, Points], tuple[Finding, ...]]:
    """The metrics of rows such as ``{"step": 10, "loss": 2.3}``; nested names are joined by ``/``.

    Args:
        path: the file, for findings.
        rows: in the order of writing; what is no object is counted.
        selected: only these metrics.

    Raises:
        UnreadableError: a metric has more values than are read.
    """
    growing = MetricsBuilder(path, selected)
    left, strange, without = iter(rows), 0, 0
    while many := list(islice(left, _MANY)):
        shapes: dict[tuple[str, ...], list[int]] = {}
        for place, row in enumerate(many):
            if isinstance(row, dict):
                shapes.setdefault(tuple(row), []).append(place)
            else:
                strange += 1
        without += sum(len(places) for shape, places in shapes.items() if shape and _STEP not in shape)
        tables = _build_tables(many, shapes) if len(shapes) <= _MOST_SHAPES else None
        if tables is None:
            _add_cells(many, growing)
        else:
            _add_columns(tables, growing)
    findings = list(growing.list_findings())
    if strange:
        message = f"{format_count(strange, 'row that is no object', 'rows that are no objects')}: left out"
        findings.append(Finding(path, message))
    if without:
        findings.append(Finding(path, f"{format_count(without, 'row')} without a step"))
    return growing.build(), tuple(findings)


def _add_cells(rows: Sequence[Any], growing: MetricsBuilder) -> None:
    for row in rows:
        if not isinstance(row, dict):
            continue
        step = parse_number(row.get(_STEP))
        at = math.nan if step is None else step
        for name, cell in iterate_cells(row):
            value = parse_number(cell)
            if name == _STEP or cell is None:
                continue
            if value is None:
                growing.count_dropped(name)
            else:
                growing.add(name, at, value)


def _build_tables(
    rows: Sequence[Any], shapes: Mapping[tuple[str, ...], Sequence[int]]
) -> list[tuple[tuple[str, ...], FloatArray, FloatArray]] | None:
    """For each set of keys: the keys, the places of its rows (n,) and their cells (n, keys).

    None where a cell is no number: a text, a list, null, a number beyond a double.
    """
    tables = []
    for shape, places in shapes.items():
        cells = list(chain.from_iterable(rows[place].values() for place in places))
        try:
            table = np.frombuffer(array("d", cells)).reshape(len(places), len(shape))
        except (TypeError, OverflowError):
            return None
        tables.append((shape, np.array(places, np.float64), table))
    return tables


def _add_columns(
    tables: Sequence[tuple[tuple[str, ...], FloatArray, FloatArray]], growing: MetricsBuilder
) -> None:
    """Columns of the same name from several tables are put into the order of writing."""
    pieces: dict[str, list[tuple[FloatArray, FloatArray, FloatArray]]] = {}
    for shape, places, table in tables:
        steps = table[:, shape.index(_STEP)] if _STEP in shape else np.full(len(places), np.nan)
        for column, name in enumerate(shape):
            if name != _STEP:
                pieces.setdefault(name, []).append((places, steps, table[:, column]))
    for name, found in pieces.items():
        places, steps, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(places) if len(found) > 1 else slice(None)
        growing.extend(name, steps[order], values[order])
