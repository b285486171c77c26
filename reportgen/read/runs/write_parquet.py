"""Runs and evaluations as tidy Parquet files, written in parts so that no unit has to fit in memory."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import duckdb
import numpy as np

from reportgen.core.errors import ReportError, diagnose_disk_error
from reportgen.formats import sql
from reportgen.formats.engine import get_engine
from reportgen.formats.runs import Evaluation, LoggedRun
from reportgen.read.find import locate_file
from reportgen.read.runs.stored import StoredFinding, StoredPart, StoredRun, StoredUnit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.formats.cells import Text
    from reportgen.formats.runs import Points, ScoredAnswer, Total


# What the table of answers has besides its slices, and columns that the source gives to all of them.
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
    filled = {
        name: cells
        for name, cells in columns.items()
        if name in needed or any(cell not in {None, ""} for cell in cells)
    }
    types = {name: ANSWERS.get(name, sql.TEXT) for name in filled}
    kinds = {"DOUBLE": float, sql.TEXT: object}
    return {name: np.array(cells, kinds[types[name]]) for name, cells in filled.items()}, types


def _clean_cell(cell: str | float | None) -> str | float | None:
    return clean_text(cell) if isinstance(cell, str) else cell


def clean_text(text: Text) -> Text:
    """A text without halves of characters, which JSON can hold and UTF-8 cannot, and with NUL as U+FFFD."""
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


# The column that tells a row's run by its index in the unit.
CODE: Final = "logged"
# What the table of totals has; ``CODE`` is there the place of the total among those of the unit.
TOTALS: Final = {CODE: "INTEGER", "score": "DOUBLE", "stderr": "DOUBLE", "n": "DOUBLE"}
_ROWS_OF_A_PART: Final = 1 << 20
# Times that a timestamp can hold, which leaves out sentinels: 1 to 100,000 years after 1970.
_TIMES: Final = (-6e13, 3e15)
_LONGEST_SETTING: Final = 500


def name_part(number: int) -> str:
    """What a part is called, after the key of its unit."""
    return f"{number}.parquet"


def write_part(cache: Cache, key: str, name: str, columns: Columns, cells: Mapping[str, str]) -> int:
    """Write a part of a unit, by its key and name, into the cache, and return its size in bytes.

    ``cells`` holds the columns of the part, and each one's cell as SQL over the names of ``columns``.

    Raises:
        ReportError: the disk is full or read-only.
    """
    listed = ", ".join(f"{cell} AS {sql.quote_name(column)}" for column, cell in cells.items())
    cursor = get_engine().open_cursor()
    cursor.register("piece", columns)
    try:
        with cache.write_file(key, name) as path:
            cursor.execute(f"COPY (SELECT {listed} FROM piece) TO {sql.quote(str(path))} (FORMAT parquet)")  # noqa: S608
            size = path.stat().st_size
    except (OSError, duckdb.IOException) as error:
        # No fault of the run, which would otherwise be left out as one that cannot be read.
        failed = error if isinstance(error, OSError) else _find_system_error(error)
        message = "the rows that were read cannot be kept"
        raise ReportError(diagnose_disk_error(failed, cache.get_text_path(key, name), message)) from error
    finally:
        cursor.unregister("piece")
    return size


def _find_system_error(error: duckdb.IOException) -> OSError:
    """The error of the system, which DuckDB passes on within its own words."""
    number = re.search(r'"errno":"(\d+)"', str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error))


class UnitWriter:
    """Writes the rows of one unit into a cache, in parts; paths are relative to ``root``."""

    def __init__(self, cache: Cache, key: str, root: Path) -> None:
        self._cache, self._key, self._root = cache, key, root
        self._runs: list[StoredRun] = []
        self._parts: list[StoredPart] = []
        self._findings: list[StoredFinding] = []
        self._points: list[tuple[int, str, Points]] = []
        self._rows = 0

    def write(self, found: Iterable[LoggedRun | Evaluation]) -> StoredUnit:
        """Write everything that a reader hands over.

        Raises:
            UnreadableError: what the reader raises.
        """
        for one in found:
            self._findings += [
                StoredFinding(self._get_path(finding.path), finding.message, finding.line)
                for finding in one.findings
            ]
            if isinstance(one, LoggedRun):
                self._add_logged(one)
            else:
                self._add_evaluated(one)
        self._write_points()
        self._write_totals()
        return StoredUnit(tuple(self._runs), tuple(self._parts), tuple(self._findings))

    def _add_logged(self, one: LoggedRun) -> None:
        for name, points in one.metrics.items():
            self._add_points(len(self._runs), _clean_name(name), points)
        self._runs.append(
            StoredRun(
                path=self._get_path(one.path),
                name=_clean_name(one.name),
                id=_clean_name(one.id),
                group=_clean_name(one.group),
                config={
                    _clean_name(name): _clean_name(value[:_LONGEST_SETTING])
                    if isinstance(value, str)
                    else value
                    for name, value in one.config.items()
                },
                metrics={_clean_name(name): len(points.values) for name, points in one.metrics.items()},
                step_name=_clean_name(one.step_name),
                begins=_begin(one),
            )
        )

    def _add_points(self, run: int, name: str, points: Points) -> None:
        begin, count = 0, len(points.values)
        while begin < count:
            end = min(count, begin + _ROWS_OF_A_PART - self._rows)
            times = None if points.times is None else points.times[begin:end]
            piece = type(points)(points.steps[begin:end], points.values[begin:end], times)
            self._points.append((run, name, piece))
            self._rows += end - begin
            begin = end
            if self._rows >= _ROWS_OF_A_PART:
                self._write_points()

    def _write_points(self) -> None:
        if not self._rows:
            return
        names = {name: index for index, name in enumerate(dict.fromkeys(name for _, name, _ in self._points))}
        lengths = [len(points.values) for *_, points in self._points]
        values = np.concatenate([points.values for *_, points in self._points])
        columns: dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]] = {
            CODE: np.repeat(np.array([run for run, *_ in self._points], np.int32), lengths),
            "metric": np.repeat(np.array([names[name] for _, name, _ in self._points], np.int32), lengths),
            "step": np.concatenate([points.steps for *_, points in self._points]),
            "value": values,
            "lost": np.isnan(values),
        }
        cells = {
            CODE: CODE,
            "metric": f"[{sql.quote_all(names)}][metric + 1]",
            "step": "step",
            # The database takes NaN for an empty cell, but what was logged as NaN is no gap.
            "value": "CASE WHEN lost THEN CAST('nan' AS DOUBLE) ELSE value END",
        }
        types = {CODE: "INTEGER", "metric": sql.TEXT, "step": "DOUBLE", "value": "DOUBLE"}
        if any(points.times is not None for *_, points in self._points):
            columns["time"] = np.concatenate([_clean_times(points) for *_, points in self._points])
            cells["time"], types["time"] = "epoch_ms(CAST(time AS BIGINT))", "TIMESTAMP"
        self._points, self._rows = [], 0
        self._write(columns, cells, types)

    def _add_evaluated(self, one: Evaluation) -> None:
        run = len(self._runs)
        by_metric: dict[str, list[ScoredAnswer]] = defaultdict(list)
        for answer in one.answers:
            by_metric[_clean_name(answer.metric)].append(answer)
        for metric, answers in by_metric.items():
            columns, types = make_answer_columns(answers)
            cells = {name: f"CAST({sql.quote_name(name)} AS {kind})" for name, kind in types.items()}
            self._write(columns, cells, types, run, metric)
        self._runs.append(
            StoredRun(
                path=self._get_path(one.path),
                name=_clean_name(one.run),
                metrics={metric: len(answers) for metric, answers in by_metric.items()},
                evaluated=True,
                model=_clean_name(one.model),
                benchmark=_clean_name(one.benchmark),
                seed=clean_text(one.seed),
                protocol={_clean_name(name): _clean_name(value) for name, value in one.protocol.items()},
                totals=tuple(replace(total, metric=_clean_name(total.metric)) for total in one.totals),
                finished=one.finished,
            )
        )

    def _write_totals(self) -> None:
        """The totals of evaluations without answers, one row each, in the order of ``list_totals``."""
        totals = list_totals(self._runs)
        if not totals:
            return
        columns = {
            CODE: np.arange(len(totals), dtype=np.int32),
            "score": np.array([one.value for _, one in totals]),
            "stderr": np.array([one.stderr for _, one in totals], float),
            "n": np.array([one.n for _, one in totals], float),
        }
        self._write(columns, {name: sql.quote_name(name) for name in TOTALS}, TOTALS)

    def _write(
        self,
        columns: Columns,
        cells: Mapping[str, str],
        types: Mapping[str, str],
        run: int | None = None,
        metric: str = "",
    ) -> None:
        """One part, from arrays by name, the cell of each column as SQL, and its type."""
        name = name_part(len(self._parts))
        size = write_part(self._cache, self._key, name, columns, cells)
        self._parts.append(StoredPart(name, size, tuple(types), tuple(types.values()), run, metric))

    def _get_path(self, path: Path) -> str:
        return locate_file(path, self._root).file


def list_totals(runs: Iterable[StoredRun]) -> list[tuple[int, Total]]:
    """The totals of a unit that are rows of it, each with the index of its run: those without answers."""
    return [(index, total) for index, run in enumerate(runs) if not run.metrics for total in run.totals]


def _clean_name(text: str) -> str:
    """A name as statements, files and pages can hold it: without NUL and halves of characters."""
    return clean_text(text) or ""


def _begin(one: LoggedRun) -> float | None:
    """The earliest time of a value."""
    found = [_clean_times(points) for points in one.metrics.values() if points.times is not None]
    known = [float(np.nanmin(times)) for times in found if np.isfinite(times).any()]
    return min(known, default=None)


def _clean_times(points: Points) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if points.times is None:
        return np.full(len(points.values), np.nan)
    return np.where((points.times > _TIMES[0]) & (points.times < _TIMES[1]), points.times, np.nan)
