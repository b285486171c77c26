"""CSV logs of Lightning and Keras: one row per logging call, with gaps for metrics not logged in it.

SCHEMA: Lightning-AI/pytorch-lightning, src/lightning/pytorch/loggers/csv_logs.py, class ``CSVLogger``:
``NAME/version_N/metrics.csv`` with a column ``step``, mostly ``epoch``, and ``hparams.yaml`` next to it;
training and evaluation at one step are separate rows. keras-team/keras, keras/src/callbacks/csv_logger.py,
class ``CSVLogger``: first column ``epoch``, counted from 0, then the metrics in alphabetical order and the
same with ``val_``; ``NA`` for missing values. Other CSV files are tables, which ``tables/delimited`` reads.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from itertools import compress, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import join_names
from reportgen.formats.cells import convert_unix_time, is_other_number, parse_reported
from reportgen.formats.decode import Count, Decoder, check_filled, find_unfilled, is_unfilled
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import read_head_text
from reportgen.formats.run_data import MetricsBuilder, parse_number_text, quote_metric, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting


_LIGHTNING: Final = "metrics.csv"
_SETTINGS: Final = "hparams.yaml"
_VERSION: Final = re.compile(r"version_\d+")
_ENDINGS: Final = frozenset((".csv", ".tsv", ".log", ".txt"))
_STEP, _EPOCH, _VALIDATION = "step", "epoch", "val_"
# These loggers do not write tables of several runs.
_NAMES_A_RUN: Final = frozenset(
    ("run", "run_id", "seed", "model", "series", "method", "name", "experiment", "metric", "metricName")
)
_NONE: Final = frozenset(("", "NA"))
_MANY: Final = 8192
_OTHER_LENGTH: Final = " with another number of cells than the header: left out"
_OTHER_SCALE: Final = " without %, where others of the metric have one: read as NaN"
_LEFT_OUT: Final = "the column is left out"
_NO_ROWS: Final = "the file has a header and no rows, nothing was logged into it yet"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return runs: Lightning's by name and folder or header, Keras' by header."""
    settings = {file.parent: file for file in files if file.name == _SETTINGS}
    units: list[Unit] = []
    for file in files:
        if get_ending(file) not in _ENDINGS:
            continue
        head = read_head_text(file)
        columns, _ = parse_header(head)
        one_run = _NAMES_A_RUN.isdisjoint(columns)
        with_settings = (file, settings[file.parent]) if file.parent in settings else (file,)
        # Lightning's own folder, whatever the file holds.
        in_folder = _is_versioned(file) or len(with_settings) > 1
        if file.name == _LIGHTNING and (
            (_STEP in columns and (in_folder or (_EPOCH in columns and one_run)))
            or (in_folder and is_unfilled(file))
        ):
            units.append(Unit(file.parent if in_folder else file, with_settings))
            continue
        # Keras: the epoch, then metrics in alphabetical order with a loss, then the same again with val_.
        trained = [name for name in columns[1:] if not name.startswith(_VALIDATION)]
        validated = {name.removeprefix(_VALIDATION) for name in columns[1:] if name.startswith(_VALIDATION)}
        in_order = validated <= set(trained) if validated else len(trained) > 1 and trained == sorted(trained)
        # A logger writes no ±: such a table is somebody's own.
        if one_run and columns[:1] == [_EPOCH] and "loss" in trained and in_order and "±" not in head:
            units.append(Unit(file, (file,)))
    unfilled = find_unfilled(files, {unit.files[0] for unit in units})
    return (*units, *(Unit(file, (file,)) for file in unfilled))


def _is_versioned(file: Path) -> bool:
    return _VERSION.fullmatch(file.parent.name) is not None


def parse_header(text: str) -> tuple[list[str], str]:
    """Return the columns of a first line and their separator: the one that gives most columns."""
    line = text.partition("\n")[0].rstrip("\r")
    separator = max(",;\t", key=line.count)
    return split_cells(line, separator), separator


def split_cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line, which may be quoted."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a file."""
    path = unit.files[0]
    builder = MetricsBuilder(path, unit.selected)
    step_name, findings = read_rows(path, builder)
    config: dict[str, Setting] = {}
    for file in unit.files[1:]:
        config, problems = read_settings(file)
        findings += problems
    name = path.parent.name if _is_versioned(path) else ""
    group = path.parent.parent.name if name else ""
    group = "" if group == "lightning_logs" else group
    findings += builder.list_findings()
    yield LoggedRun(unit.path, name, "", group, config, builder.build(), step_name, tuple(findings))


def read_rows(
    path: Path,
    builder: MetricsBuilder,
    step_names: Sequence[str] = (_STEP, _EPOCH),
    is_metric: Callable[[str], bool] = bool,
    time_name: str = "",
) -> tuple[str, list[Diagnostic]]:
    """Add the values of a table to ``builder``; return the name of the step and the irregularities.

    The step is the first of ``step_names`` that the header has; raise ``UnreadableError`` if it has none.
    ``time_name`` is the column with numbers that are times since 1970, if there is one.
    """
    decoding = Decoder(path)
    lines = (line for number, line in decoding.read_lines() if line or number == 1)
    header, separator = parse_header(next(lines, ""))
    step_name = _find_step(path, header, step_names)
    step_column, count, shares = header.index(step_name), 0, Count()
    strange, without, others = 0, 0, dict[str, str]()  # the first number in another notation, by column
    # A stray quote affects only its own line.
    rows = (split_cells(line, separator) for line in lines)
    while many := list(islice(rows, _MANY)):
        count += len(many)
        strange += sum(len(row) != len(header) for row in many)
        columns, times = _parse_columns(many, header, time_name)
        if not columns:
            continue
        steps, stepped = _parse_numbers(columns[step_column], shares)
        without += len(steps) - int(np.count_nonzero(stepped))
        for column, (name, cells) in enumerate(zip(header, columns, strict=True)):
            is_read = column != step_column and name not in {"", time_name} and is_metric(name)
            if is_read and builder.is_selected(name):
                values, there = _parse_numbers(cells, shares)
                builder.extend(name, steps[there], values[there], None if times is None else times[there])
                if dropped := [cell for cell in compress(cells, ~there) if cell not in _NONE]:
                    builder.count_dropped(name, len(dropped))
                    others.setdefault(name, next(filter(is_other_number, dropped), ""))
    described = [
        *shares.describe(path, "value", "values", _OTHER_SCALE),
        *(_describe_other(path, name, cell) for name, cell in others.items() if cell and name not in builder),
        *Count(strange).describe(path, "row", "rows", _OTHER_LENGTH),
        *Count(without).describe(path, "row", "rows", " without a step"),
        *decoding.list_findings(),
    ]
    return step_name, described or [warn(path, _NO_ROWS)][: not count]


def _parse_columns(
    rows: Sequence[list[str]], header: Sequence[str], time_name: str
) -> tuple[list[tuple[str, ...]], FloatArray | None]:
    """Return the cells of rows by column, and their times in milliseconds if the header has them.

    Rows of another length and repeated headers are left out.
    """
    whole = [row for row in rows if len(row) == len(header) and row != header]
    columns = list(zip(*whole, strict=True))
    if not columns or time_name not in header:
        return columns, None
    numbers, _ = _parse_numbers(columns[header.index(time_name)], Count())
    return columns, np.array([*map(convert_unix_time, numbers.tolist())])


def _find_step(path: Path, header: Sequence[str], step_names: Sequence[str]) -> str:
    for name in step_names:
        if name in header:
            return name
    check_filled(path)
    names = join_names([f"no {name}" for name in step_names])
    raise UnreadableError(path, f"its first line names {names}", "Check which program wrote this file", 1)


def _describe_other(path: Path, name: str, cell: str) -> Diagnostic:
    """Return the finding of a column without a number that is read."""
    line = next((number for number, text in Decoder(path).read_lines() if cell in text), None)
    return warn(
        path, f'"{shorten(cell, 60)}" in column {quote_metric(name)} is not a plain number; {_LEFT_OUT}', line
    )


def _parse_numbers(cells: Sequence[str], shares: Count) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return numbers, NaN for others, and whether each cell is a number.

    ``shares`` counts numbers on another scale than percentages beside them.
    """
    with suppress(ValueError):
        return np.fromiter(map(float, cells), np.float64, len(cells)), np.ones(len(cells), np.bool_)
    numbers: list[float | None] = []
    for cell in cells:
        number = None if cell in _NONE else parse_number_text(cell)
        if number is None and cell not in _NONE:
            found = parse_reported(cell)
            number = found.value if found and found.spread is None else None
        numbers.append(number)
    there = np.array([value is not None for value in numbers], np.bool_)
    values = np.array(numbers, np.float64)
    if any(marked := ["%" in cell for cell in cells]):
        other_scale = ~np.array(marked) & (values != 0) & np.isfinite(values)
        shares.number += int(np.count_nonzero(other_scale))
        values[other_scale] = np.nan
    return values, there
