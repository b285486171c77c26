"""Units in the cache: their runs, and the Parquet files with their values.

Rows are written in parts, so that no unit has to fit in memory.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping  # noqa: TC003 - the schema of stored units needs it at run time
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.cache import Cache
from reportgen.core.errors import Diagnostic, ReportError, diagnose_disk_error
from reportgen.core.score_names import STATUS
from reportgen.formats import sql
from reportgen.formats.decode import explain_os_errors
from reportgen.formats.evaluations.texts import TEXTS
from reportgen.formats.runs import Evaluation, LoggedRun, Points, Setting, Total, UnreadableError
from reportgen.formats.sql import get_engine
from reportgen.read.find import locate_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import duckdb

    from reportgen.formats.cells import Text
    from reportgen.formats.runs import ScoredAnswer


class StoredRun(Struct, frozen=True):
    """One run of a logger, or one evaluation of a harness, without its values.

    ``path`` is relative to the project if it is below it. The other fields are as in ``LoggedRun`` and
    ``Evaluation``; the name of an evaluation is its ``run``.
    """

    path: str
    name: str
    id: str = ""
    group: str = ""
    config: Mapping[str, Setting] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)  # number of values or answers of each
    step_name: str = "step"
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    begins: float | None = None  # the earliest time of a value, milliseconds since 1970 UTC
    evaluated: bool = False
    model: str = ""
    benchmark: str = ""
    seed: str | None = None
    protocol: Mapping[str, str] = field(default_factory=dict)
    totals: tuple[Total, ...] = ()
    finished: bool = True


class StoredPart(Struct, frozen=True):
    """Some of a unit's rows as a Parquet file: its size in bytes, and its columns with their SQL types."""

    name: str  # after the key of the unit
    size: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    run: int | None = None  # the index of its only run, None if a column has that of each row
    metric: str = ""  # the metric of that run's answers


class StoredUnit(Struct, frozen=True):
    """A unit that was read: its runs and rows in the order of writing, and irregularities."""

    runs: tuple[StoredRun, ...]
    parts: tuple[StoredPart, ...]
    findings: tuple[Diagnostic, ...]


def locate_problem(problem: Diagnostic, root: Path) -> Diagnostic:
    """Return the problem of a reader, which names whole paths, with its place relative to the project."""
    return replace(problem, location=locate_file(problem.location.file, root, problem.location.line))


@contextmanager
def locate_errors(path: Path, root: Path) -> Iterator[None]:
    """Turn an ``OSError`` into ``UnreadableError``, and make its place relative to the project."""
    try:
        with explain_os_errors(path):
            yield
    except UnreadableError as error:
        found = locate_problem(error.problem, root)
        raise UnreadableError(
            found.location.file, found.message, found.next_step, found.location.line
        ) from error


def get_temporary_cache() -> Cache:
    """Return a cache that lasts as long as the process, as in a notebook."""
    return Cache(get_engine().folder / "units")


def store_unit(cache: Cache, key: str, unit: StoredUnit) -> None:
    """Store the description of a unit whose parts are written."""
    cache.store(key, unit)


def load_unit(cache: Cache, key: str) -> StoredUnit | None:
    """Load what ``store_unit`` wrote, or return None if it or one of its parts is missing."""
    unit = cache.load(key, StoredUnit)
    with suppress(OSError):
        paths = ((cache.get_text_path(key, part.name), part.size) for part in unit.parts) if unit else ()
        if all(os.stat(path).st_size == size for path, size in paths):  # noqa: PTH116 - pathlib takes longer
            return unit
    return None


# The column with the index of a row's run in the unit or, for totals, of the total.
CODE: Final = "logged"
TOTALS: Final = {"score": "DOUBLE", "stderr": "DOUBLE", "n": "DOUBLE"}
# Columns of answers besides slices, and names of columns that the source itself gives.
_ANSWERS: Final = ("problem", "sample", "score", "answer", "gold", "tokens", "seconds")
_NUMBERS: Final = frozenset(("score", "tokens", "seconds"))
_GIVEN: Final = frozenset(
    ("series", "run", "seed", "benchmark", "step", "metric", "value", "row", "cost", STATUS)
)
_ROWS_OF_A_PART: Final = 1 << 20
# Milliseconds since 1970 that a timestamp can hold, without sentinels: about the years 70 to 97,000.
_TIMES: Final = (-6e13, 3e15)
_LONGEST_SETTING: Final = 500
_ERROR_NUMBER: Final = re.compile(r'"errno":"(\d+)"')

Columns: TypeAlias = "Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]"
"""Arrays of shape (n,) by name: numbers, or objects that are texts or None."""


def clean_text(text: Text) -> Text:
    """Return a text without lone surrogates, which JSON can hold and UTF-8 cannot, and with NUL as U+FFFD."""
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


@lru_cache(4096)
def _clean_name(text: str) -> str:
    return clean_text(text) or ""


def _clean_setting(value: Setting) -> Setting:
    """Return a setting that can be stored: a shortened text, and an integer beyond 64 bits as text."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = str(value)
    return _clean_name(value[:_LONGEST_SETTING]) if isinstance(value, str) else value


@lru_cache(4096)  # the evaluations of a file share a few protocols
def _clean_protocol(entries: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return {_clean_name(name): _clean_name(value) for name, value in entries}


def name_part(number: int) -> str:
    """Return the name of a part, after the key of its unit."""
    return f"{number}.parquet"


def write_part(cache: Cache, key: str, name: str, columns: Columns, cells: Mapping[str, str]) -> int:
    """Write a part of a unit, by its key and name, into the cache, and return its size in bytes.

    ``cells`` has the columns of the part, each with its cell as SQL over the names of ``columns``. A full or
    read-only disk raises a ``ReportError``.
    """
    listed = ", ".join(f"{cell} AS {sql.quote_name(column)}" for column, cell in cells.items())
    cursor = get_engine().open_cursor()
    cursor.register("piece", columns)
    try:
        return write_query(cache, key, name, f"SELECT {listed} FROM piece", cursor)  # noqa: S608 - quoted
    finally:
        cursor.unregister("piece")


def write_query(
    cache: Cache, key: str, name: str, select: str, cursor: duckdb.DuckDBPyConnection | None = None
) -> int:
    """Write the rows of a SELECT as a part of a unit; see ``write_part``."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    try:
        with cache.write_file(key, name) as path:
            copy = f"COPY ({select}) TO {sql.quote(str(path))} (FORMAT parquet)"
            (cursor or get_engine().open_cursor()).execute(copy)
            return path.stat().st_size
    except (OSError, duckdb.IOException) as error:
        # Not a fault of the run, which would otherwise be left out as unreadable.
        failed = error if isinstance(error, OSError) else OSError(str(error))
        # DuckDB wraps the system's error in its own message.
        if not isinstance(error, OSError) and (number := _ERROR_NUMBER.search(str(error))):
            failed = OSError(int(number[1]), os.strerror(int(number[1])))
        message = "the rows that were read cannot be stored"
        raise ReportError(diagnose_disk_error(failed, cache.get_text_path(key, name), message)) from error


def write_totals(cache: Cache, totals: Sequence[Total], texts: Mapping[str, Sequence[Text]]) -> str:
    """Write a row for each total, unless the cache has them, and return the path of the Parquet file.

    ``texts`` has further columns, with a cell for each total.
    """
    key, name = cache.make_key("totals", repr(totals), repr(texts)), name_part(0)
    path = cache.get_text_path(key, name)
    with suppress(FileNotFoundError):
        os.utime(path)  # records the use for pruning
        return path
    columns = {
        CODE: np.arange(len(totals), dtype=np.int32),
        "score": np.array([one.value for one in totals]),
        "stderr": np.array([one.stderr for one in totals], float),
        "n": np.array([one.n for one in totals], float),
    }
    cells = {column: sql.quote_name(column) for column in columns}
    for column, own in texts.items():
        columns[column] = np.array([clean_text(text) for text in own], object)
        cells[column] = f"CAST({sql.quote_name(column)} AS {sql.TEXT})"
    write_part(cache, key, name, columns, cells)
    return path


class UnitWriter:
    """Writer of the rows of one unit into a cache, in parts; paths are relative to ``root``."""

    def __init__(self, cache: Cache, key: str, root: Path) -> None:
        self._cache, self._key, self._root = cache, key, root
        self._runs: list[StoredRun] = []
        self._parts: list[StoredPart] = []
        self._points: list[tuple[int, str, Points]] = []
        self._rows = 0

    def write(self, runs: Iterable[LoggedRun | Evaluation]) -> StoredUnit:
        """Write everything that a reader yields."""
        findings: list[Diagnostic] = []
        for run in runs:
            findings += (locate_problem(finding, self._root) for finding in run.findings)
            if isinstance(run, LoggedRun):
                self._runs.append(self._add_logged(run))
            else:
                self._runs.append(self._add_evaluated(run))
        self._write_points()
        return StoredUnit(tuple(self._runs), tuple(self._parts), tuple(findings))

    def _add_logged(self, logged: LoggedRun) -> StoredRun:
        for name, points in logged.metrics.items():
            begin, count = 0, len(points.values)
            while begin < count:
                end = min(count, begin + _ROWS_OF_A_PART - self._rows)
                times = None if points.times is None else points.times[begin:end]
                piece = Points(points.steps[begin:end], points.values[begin:end], times)
                self._points.append((len(self._runs), _clean_name(name), piece))
                self._rows += end - begin
                begin = end
                if self._rows >= _ROWS_OF_A_PART:
                    self._write_points()
        known = [_clean_times(points) for points in logged.metrics.values() if points.times is not None]
        return StoredRun(
            path=self._get_path(logged.path),
            name=_clean_name(logged.name),
            id=_clean_name(logged.id),
            group=_clean_name(logged.group),
            config={_clean_name(name): _clean_setting(value) for name, value in logged.config.items()},
            metrics={_clean_name(name): len(points.values) for name, points in logged.metrics.items()},
            step_name=_clean_name(logged.step_name),
            higher_is_better=logged.higher_is_better,
            begins=min((float(np.nanmin(one)) for one in known if np.isfinite(one).any()), default=None),
        )

    def _write_points(self) -> None:
        """Write the points added since the last call."""
        if not self._rows:
            return
        runs, metrics, points = zip(*self._points, strict=True)
        names = {name: index for index, name in enumerate(dict.fromkeys(metrics))}
        lengths = [len(one.values) for one in points]
        values = np.concatenate([one.values for one in points])
        columns: dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]] = {
            CODE: np.repeat(np.array(runs, np.int32), lengths),
            "metric": np.repeat(np.array([names[name] for name in metrics], np.int32), lengths),
            "step": np.concatenate([one.steps for one in points]),
            "value": values,
            "lost": np.isnan(values),
        }
        cells = {
            CODE: (CODE, "INTEGER"),
            "metric": (f"[{sql.quote_all(names)}][metric + 1]", sql.TEXT),
            "step": ("step", "DOUBLE"),
            # The database reads NaN as an empty cell, but a logged NaN is not a gap.
            "value": ("CASE WHEN lost THEN CAST('nan' AS DOUBLE) ELSE value END", "DOUBLE"),
        }
        if any(one.times is not None for one in points):
            columns["time"] = np.concatenate([_clean_times(one) for one in points])
            cells["time"] = ("epoch_ms(CAST(time AS BIGINT))", "TIMESTAMP")
        self._points, self._rows = [], 0
        self._write(columns, cells)

    def _add_evaluated(self, evaluation: Evaluation) -> StoredRun:
        by_metric: dict[str, list[ScoredAnswer]] = defaultdict(list)
        for answer in evaluation.answers:
            by_metric[_clean_name(answer.metric)].append(answer)
        for metric, answers in by_metric.items():
            values: dict[str, list[str | float | None]] = {
                name: [getattr(answer, name) for answer in answers] for name in _ANSWERS
            }
            if any(answer.texts for answer in answers):
                values |= {name: [answer.texts.get(name) for answer in answers] for name in TEXTS}
            if any(answer.status for answer in answers):
                values[STATUS] = [answer.status for answer in answers]
            # A slice with the name of another column is left out, and so is an empty column.
            taken = {*values, *_GIVEN}
            for name in dict.fromkeys(name for answer in answers for name in answer.slices):
                column = _clean_name(name)
                if column.casefold() not in taken:
                    taken.add(column.casefold())
                    values[column] = [answer.slices.get(name) for answer in answers]
            cells, columns = {}, {}
            for name, own in values.items():
                cleaned = [clean_text(value) if isinstance(value, str) else value for value in own]
                if name in {"problem", "score"} or any(value not in {None, ""} for value in cleaned):
                    kind = "DOUBLE" if name in _NUMBERS else sql.TEXT
                    columns[name] = np.array(cleaned, float if name in _NUMBERS else object)
                    cells[name] = (f"CAST({sql.quote_name(name)} AS {kind})", kind)
            self._write(columns, cells, len(self._runs), metric)
        return StoredRun(
            path=self._get_path(evaluation.path),
            name=_clean_name(evaluation.run),
            metrics={metric: len(answers) for metric, answers in by_metric.items()},
            evaluated=True,
            model=_clean_name(evaluation.model),
            benchmark=_clean_name(evaluation.benchmark),
            seed=clean_text(evaluation.seed),
            protocol=_clean_protocol(tuple(evaluation.protocol.items())),
            totals=tuple(replace(total, metric=_clean_name(total.metric)) for total in evaluation.totals),
            finished=evaluation.finished,
        )

    def _write(
        self, columns: Columns, cells: Mapping[str, tuple[str, str]], run: int | None = None, metric: str = ""
    ) -> None:
        """Write a part from arrays by name, and the cell of each column as SQL with its type."""
        name, types = name_part(len(self._parts)), tuple(kind for _, kind in cells.values())
        selected = {column: cell for column, (cell, _) in cells.items()}
        size = write_part(self._cache, self._key, name, columns, selected)
        self._parts.append(StoredPart(name, size, tuple(cells), types, run, metric))

    def _get_path(self, path: Path) -> str:
        return locate_file(path, self._root).file


def _clean_times(points: Points) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if points.times is None:
        return np.full(len(points.values), np.nan)
    return np.where((points.times > _TIMES[0]) & (points.times < _TIMES[1]), points.times, np.nan)
