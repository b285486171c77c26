"""CSV logs of Lightning and Keras: a row for each logging, with holes where it logged something else.

SCHEMA: Lightning-AI/pytorch-lightning, src/lightning/pytorch/loggers/csv_logs.py, class ``CSVLogger``:
``NAME/version_N/metrics.csv`` with a column ``step``, mostly ``epoch``, and ``hparams.yaml`` beside it;
training and evaluation of one step are rows of their own. keras-team/keras,
keras/src/callbacks/csv_logger.py, class ``CSVLogger``: first column ``epoch``, counted from 0, then the
metrics by alphabet and the same with ``val_``; ``NA`` where there is none. Other CSV files are tables, which
``tables/delimited`` reads.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import format_count
from reportgen.formats.run_data import MetricsBuilder, parse_number_text, read_settings
from reportgen.formats.runs import Finding, LoggedRun, Unit, UnreadableError
from reportgen.formats.text_files import (
    Decoder,
    check_filled,
    find_unfilled,
    is_unfilled,
    read_head,
    read_lines,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting


NAME: Final = "metrics_csv"
TITLE: Final = "Lightning and Keras CSV logs"

_LIGHTNING: Final = "metrics.csv"
_SETTINGS: Final = "hparams.yaml"
_VERSION: Final = re.compile(r"version_\d+")
_DEFAULT_NAME: Final = "lightning_logs"
_ENDINGS: Final = frozenset((".csv", ".tsv", ".log", ".txt"))
_STEP, _EPOCH, _VALIDATION = "step", "epoch", "val_"
_LOSS: Final = "loss"
# A table of several runs in one file is not what these loggers write.
_NAMES_A_RUN: Final = frozenset(("run", "run_id", "seed", "model", "series", "method", "name", "experiment"))
_NONE: Final = frozenset(("", "NA"))
# As a table that went through a spreadsheet in much of Europe.
_WITH_COMMA: Final = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
_MANY: Final = 8192


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Runs: Lightning's by name and folder or header, Keras' by header."""
    settings = {file.parent: file for file in files if file.name == _SETTINGS}
    found: list[Unit] = []
    for file in files:
        if file.suffix.lower() not in _ENDINGS:
            continue
        settings_file = settings.get(file.parent)
        columns, _ = _parse_header(read_head(file).decode(errors="replace"))
        if file.name == _LIGHTNING and (
            _is_lightning(columns, file, settings_file)
            or (_is_lightning_folder(file, settings_file) and is_unfilled(file))
        ):
            both = (file,) if settings_file is None else (file, settings_file)
            found.append(Unit(NAME, file.parent if len(both) > 1 or _is_versioned(file) else file, both))
        elif _is_keras(columns):
            found.append(Unit(NAME, file, (file,)))
    unfilled = find_unfilled(files, {unit.files[0] for unit in found})
    return (*found, *(Unit(NAME, file, (file,)) for file in unfilled))


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a file."""
    path = unit.files[0]
    builder = MetricsBuilder(path, selected)
    step_name, findings = _read_rows(path, builder)
    config: dict[str, Setting] = {}
    for file in unit.files[1:]:
        config, problems = read_settings(file)
        findings += problems
    name = path.parent.name if _is_versioned(path) else ""
    group = path.parent.parent.name if name else ""
    group = "" if group == _DEFAULT_NAME else group
    findings += builder.list_findings()
    yield LoggedRun(unit.path, name, "", group, config, builder.build(), step_name, tuple(findings))


def _is_versioned(file: Path) -> bool:
    return _VERSION.fullmatch(file.parent.name) is not None


def _parse_header(text: str) -> tuple[list[str], str]:
    """The columns of a first line, and what stands between them: whichever makes most columns."""
    line = text.partition("\n")[0].rstrip("\r")
    found = max(",;\t", key=line.count)
    return _split_cells(line, found), found


def _split_cells(line: str, between: str) -> list[str]:
    if '"' not in line:
        return line.split(between)
    try:
        return next(csv.reader([line], delimiter=between), [])
    except csv.Error:
        return line.split(between)


def _is_lightning(columns: Sequence[str], file: Path, settings: Path | None) -> bool:
    if _STEP not in columns:
        return False
    return _is_lightning_folder(file, settings) or (_EPOCH in columns and _NAMES_A_RUN.isdisjoint(columns))


def _is_lightning_folder(file: Path, settings: Path | None) -> bool:
    """Whether a file lies where Lightning puts it, whatever it holds."""
    return _is_versioned(file) or settings is not None


def _is_keras(columns: Sequence[str]) -> bool:
    """The epoch, then metrics by alphabet with a loss, then the same once more as ``val_``."""
    if not columns or columns[0] != _EPOCH or not _NAMES_A_RUN.isdisjoint(columns):
        return False
    trained = [name for name in columns[1:] if not name.startswith(_VALIDATION)]
    validated = [name.removeprefix(_VALIDATION) for name in columns[1:] if name.startswith(_VALIDATION)]
    if _LOSS not in trained:
        return False
    return set(validated) <= set(trained) if validated else len(trained) > 1 and trained == sorted(trained)


def _read_rows(path: Path, builder: MetricsBuilder) -> tuple[str, list[Finding]]:
    """The name of the step, and what was irregular; values are added to ``builder``."""
    table = _Table(path, Decoder(path))
    rows = table.read_rows()
    header = next(rows, [])
    step_name = next((name for name in (_STEP, _EPOCH) if name in header), "")
    if not step_name:
        check_filled(path)
        advice = "Check that Lightning or Keras wrote this file"
        raise UnreadableError(path, "its first line names no step and no epoch", advice, 1)
    at = header.index(step_name)
    while many := list(islice(rows, _MANY)):
        columns = table.as_columns(many, header)
        if not columns:
            continue
        steps, stepped = table.parse_numbers(columns[at])
        table.without += len(steps) - int(np.count_nonzero(stepped))
        for place, name in enumerate(header):
            if place != at and name and builder.is_selected(name):
                values, there = table.parse_numbers(columns[place])
                builder.extend(name, steps[there], values[there])
                if not there.all():
                    empty = sum(cell in _NONE for cell in columns[place])
                    builder.count_dropped(name, len(values) - int(np.count_nonzero(there)) - empty)
    findings = list(table.list_findings())
    if not table.count and not findings:
        findings.append(Finding(path, "the file has a header and no rows, nothing was logged into it yet"))
    return step_name, findings


@dataclass(slots=True)
class _Table:
    """The lines of a file as rows of cells, and what was irregular in them."""

    path: Path
    decoding: Decoder
    count: int = 0  # rows after the header
    strange: int = 0  # rows with another number of cells than the header
    commas: int = 0  # cells with a comma as their decimal mark
    without: int = 0  # rows that have no step
    torn: int | None = None  # the last line, if it has no end

    def read_rows(self) -> Iterator[list[str]]:
        """The header, then every row; of a stray quote only its own line suffers."""
        between = ","
        for place, raw in read_lines(self.path):
            if not raw.endswith(b"\n"):
                # A number that was cut off is another number.
                self.torn = place
                return
            line = self.decoding.decode(raw, place).rstrip("\r\n")
            if place == 1:
                header, between = _parse_header(line)
                yield header
            elif line:
                self.count += 1
                yield _split_cells(line, between)

    def as_columns(self, rows: Sequence[list[str]], header: Sequence[str]) -> list[tuple[str, ...]]:
        """Rows as columns, without those that do not fit and headers that are written again."""
        whole = [row for row in rows if len(row) == len(header) and row != header]
        self.strange += sum(len(row) != len(header) for row in rows)
        return list(zip(*whole, strict=True))

    def parse_numbers(self, cells: Sequence[str]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Cells as numbers, NaN where there is none, and whether there is one."""
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells)), np.ones(len(cells), np.bool_)
        except ValueError:
            found = [
                None if cell in _NONE else parse_number_text(cell) for cell in self._replace_commas(cells)
            ]
        values = np.array([np.nan if value is None else value for value in found], np.float64)
        return values, np.array([value is not None for value in found], np.bool_)

    def _replace_commas(self, cells: Sequence[str]) -> Sequence[str]:
        """A column with points for decimal commas, where no cell of it has a point already."""
        if any("." in cell for cell in cells):
            return cells
        found = [bool(_WITH_COMMA.fullmatch(cell)) for cell in cells]
        self.commas += sum(found)
        return [cell.replace(",", ".") if comma else cell for cell, comma in zip(cells, found, strict=True)]

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular."""
        if self.commas:
            message = f"{format_count(self.commas, 'value')} with a decimal comma: read as decimals"
            yield Finding(self.path, message)
        if self.strange:
            rows = format_count(self.strange, "row")
            yield Finding(self.path, f"{rows} with another number of cells than the header: left out")
        if self.without:
            yield Finding(self.path, f"{format_count(self.without, 'row')} without a step")
        if self.torn:
            message = "the last line has no end and may be cut off: it was left out"
            yield Finding(self.path, message, self.torn)
        yield from self.decoding.list_findings()
