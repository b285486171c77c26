"""One metric file of MLflow's file store: ``timestamp value step`` a line.

Source: ``_log_run_metric`` and ``_get_metric_from_line`` of ``mlflow/store/tracking/file_store.py`` in the
repository mlflow/mlflow. Timestamps are milliseconds since 1970. Before version 1.0 a line was ``timestamp
value``, with seconds and without a step; since 3.0 the name and digest of a dataset may follow the step.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.read.logged import Finding, Points, UnreadableError
from reportgen.read.loggers.growing import MOST_POINTS, parse_number_text
from reportgen.read.loggers.text_file import read_lines
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.model import FloatArray

_LINES_AT_ONCE: Final = 1 << 15
_LONGEST_LINE: Final = 64 << 10
_OLD, _NEW, _WITH_DATASET = 2, 3, 5
_FEW: Final = 3


class MetricFile:
    """The values of a metric file, and what was irregular in it.

    Attributes:
        points: whole values in the order of writing; None where there is none.
        findings: what was left out.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            UnreadableError: it cannot be read, is a Git LFS pointer, or has too many values.
        """
        self._path = path
        self._faulty: list[int] = []
        self._datasets: dict[str, None] = {}
        self._torn = False
        table = self._read_table()
        self.points = (
            Points(table[:, 2].copy(), table[:, 1].copy(), table[:, 0].copy()) if len(table) else None
        )
        self.findings = tuple(self._list_findings(len(table)))

    def _read_table(self) -> FloatArray:
        """Times, values and steps, of shape (n, 3)."""
        numbered = read_lines(self._path, _LONGEST_LINE)
        tables: list[FloatArray] = [np.empty((0, 3))]
        total = 0
        while batch := list(islice(numbered, _LINES_AT_ONCE)):
            if not batch[-1][1].endswith(b"\n"):
                # A number may have been cut in its middle and still be one.
                self._torn = True
                batch.pop()
            table = _parse_table([line for _, line in batch])
            tables.append(self._parse_lines(batch) if table is None else table)
            total += len(tables[-1])
            if total > MOST_POINTS:
                message = f"the metric has more than {MOST_POINTS:,} values"
                raise UnreadableError(self._path, message, "Thin it out before it is read")
        return np.concatenate(tables)

    def _parse_lines(self, batch: Sequence[tuple[int, bytes]]) -> FloatArray:
        rows = []
        for number, line in batch:
            row = self._parse_row(line.decode("utf-8", "replace").split())
            if row is None:
                self._faulty.append(number)
            else:
                rows.append(row)
        return np.array(rows, np.float64).reshape(-1, 3)

    def _parse_row(self, parts: Sequence[str]) -> tuple[float, float, float] | None:
        if len(parts) not in {_OLD, _NEW} and len(parts) < _WITH_DATASET:
            return None
        numbers = [parse_number_text(part) for part in parts[:3]]
        if None in numbers or not math.isfinite(numbers[0] or 0.0):
            return None
        if len(parts) == _OLD:
            return 1000 * (numbers[0] or 0.0), numbers[1] or 0.0, math.nan
        if len(parts) >= _WITH_DATASET:
            self._datasets[" ".join(parts[3:-1])] = None
        return numbers[0] or 0.0, numbers[1] or 0.0, numbers[2] or 0.0

    def _list_findings(self, count: int) -> list[Finding]:
        found = []
        if self._faulty:
            what = format_count(len(self._faulty), "line is", "lines are")
            message = f"{what} not of the form timestamp, value, step: left out"
            found.append(Finding(self._path, message, self._faulty[0]))
        if self._torn:
            read = f"the {format_count(count, 'whole one')} before it {'is' if count == 1 else 'are'} read"
            message = f"the last line is torn, as when a run is killed or still writing: {read}"
            found.append(Finding(self._path, message))
        if not count and not found:
            found.append(Finding(self._path, "the file holds no value"))
        if len(self._datasets) > 1:
            names = join_names([f'"{name}"' for name in self._datasets], most=_FEW)
            message = f"values for {len(self._datasets)} datasets ({names}) stand under one name"
            found.append(Finding(self._path, f"{message}, as one curve"))
        return found


def _parse_table(batch: Sequence[bytes]) -> FloatArray | None:
    """Lines of three finite or non-finite numbers each; None where one is something else."""
    if not batch:
        return np.empty((0, 3))
    try:
        table: FloatArray = np.loadtxt(batch, np.float64, comments=None, ndmin=2, encoding="ascii")
    except (ValueError, UnicodeError):
        return None
    regular = table.shape == (len(batch), _NEW) and bool(np.isfinite(table[:, 0]).all())
    return table if regular else None
