"""Logs with a row for each step: trials of Ray, and tables with the settings of their run beside them.

Schema of Ray: ray-project/ray, python/ray/tune/logger/json.py and csv.py write ``result.json``, JSON Lines
with nested objects, and ``progress.csv`` with nested names joined by ``/`` into the folder of each trial,
both with the same rows, and ``params.json``. python/ray/tune/result.py names what Tune adds to a row.
Without Tune, RLlib (rllib/algorithms/algorithm.py) writes the same files into ``ALGORITHM_ENVIRONMENT_DATE``
with eight random characters, and the id of the trial is ``default``. NaN of NumPy is the text ``null``.

A program is described by names, see ``RowLogs``; a further one is a constant at the
end, and an entry of ``formats.logs``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.formats.cells import convert_unix_time, is_missing, is_unix_time
from reportgen.formats.decode import check_filled, read_head
from reportgen.formats.files import get_ending, strip_compression
from reportgen.formats.json_files import JsonLines, as_mapping, as_word, iterate_cells, parse_beginning
from reportgen.formats.layout import ROLE_NAMES, RUN_SETTINGS, TIME_NAMES
from reportgen.formats.registry import get_title
from reportgen.formats.run_data import MetricsBuilder, flatten, number_or_nan, parse_number, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.tables.delimited import is_chart
from reportgen.formats.trackers.metrics_csv import parse_header, read_rows, split_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.run_data import Row
    from reportgen.formats.runs import Setting


# Headers of Ray name every setting, and its first row holds them.
_HEAD: Final = 256 << 10
_LINES: Final = frozenset((".jsonl", ".ndjson", ".json"))
_TABLES: Final = frozenset((".csv", ".tsv", ".jsonl", ".ndjson"))
_ROWS_AT_ONCE: Final = 2048
# A table with one of these has several runs, an interval of its own, or answers.
_OF_OTHER_TABLES: Final = frozenset(
    name
    for role in ("series", "run", "seed", "metric", "low", "high", "stderr", "std")
    for name in ROLE_NAMES[role]
) | {"problem", "problem_id", "question_id", "task_id"}


class RowLogs(Struct, frozen=True, kw_only=True):
    """Reader of one kind of tables; see ``Reader`` in ``formats.registry``."""

    files: tuple[str, ...] = ()  # names of its table, of which a folder's first is read; empty: any table
    steps: tuple[str, ...] = ()  # names of the step, the first that a table has; empty: any usual name
    ignored: re.Pattern[str] = re.compile(r"(?!)")  # columns that are no metrics
    time: str = ""  # the column of times, in seconds since 1970
    settings: re.Pattern[str] = RUN_SETTINGS  # names of the files with settings, in the folder or around it
    needs_settings: bool = False  # whether tables without settings are left to others
    trial: str = ""  # the column with the id of a trial, which the name of its folder repeats
    folder: re.Pattern[str] = re.compile(r"(?!)")  # names of folders of runs without a trial

    def find(self, files: Sequence[Path]) -> tuple[Unit, ...]:
        """Return runs: a folder, or each of several tables of a folder that have metrics in common."""
        settings = {file.parent: file for file in reversed(files) if self.settings.fullmatch(file.name)}
        if self.needs_settings and not settings:
            return ()
        by_folder: dict[Path, dict[Path, frozenset[str]]] = defaultdict(dict)
        for file in files:
            if columns := self._find_metrics(file):
                by_folder[file.parent][file] = columns
        if self.files and by_folder:
            # Runs that failed before their first row, next to others.
            own = (
                file for file in files if strip_compression(file) in self.files and file.parent in settings
            )
            for file in [one for one in own if one.parent not in by_folder and not read_head(one, 1)]:
                by_folder[file.parent][file] = frozenset()
        units = []
        for folder, tables in by_folder.items():
            around = next((settings[one] for one in (folder, *folder.parents) if one in settings), None)
            more = (around,) if around else ()
            if self.files:
                same = sorted(tables, key=lambda file: self.files.index(strip_compression(file)))
                units.append(Unit(folder, (*same, *more)))
            elif len({name for names in tables.values() for name in names}) == sum(map(len, tables.values())):
                units.append(Unit(folder, (*tables, *more)))
            else:
                units += [Unit(file, (file, *more)) for file in tables]
        with_settings = any(self.settings.fullmatch(unit.files[-1].name) for unit in units)
        return tuple(units) if with_settings or not self.needs_settings else ()

    def read(self, unit: Unit) -> Iterator[LoggedRun]:
        """Yield the run of a folder or table."""
        path = unit.files[0]
        builder = MetricsBuilder(path, unit.selected, timed=True)
        config: dict[str, Setting] = {}
        first: Mapping[str, Any] = {}
        findings: list[Diagnostic] = []
        step_name = ""
        for file in unit.files:
            if self.settings.fullmatch(file.name):
                config, more = read_settings(file)
                findings += more
                continue
            if self.files and file != path:
                continue  # the same rows in another form
            first = _read_first_row(file)
            if not (step_name := self._find_step(first)):
                check_filled(file)
                advice = f"Check that it is of {get_title(unit.format)}"
                raise UnreadableError(file, "no column of it is a step", advice, 1)
            time = self.time or _find_time(first)
            if get_ending(file) in _LINES:
                first, problems = self._read_lines(file, step_name, time, builder)
            else:
                _, problems = read_rows(file, builder, (step_name,), self._is_metric, time)
            findings += problems
        findings += builder.list_findings()
        nested = {name.removeprefix("config/"): cell for name, cell in first.items() if "config/" in name[:7]}
        config = config or flatten(as_mapping(first.get("config")) or nested)
        name = unit.path.name.partition(f"_{as_word(first.get(self.trial))}_")[0] if first else ""
        name = name if self.trial and name != unit.path.name else ""
        # The folder of a trial is an id: it has the time and some of the settings.
        id_, group = (unit.path.name, unit.path.parent.name) if name else ("", "")
        if alone := self.folder.fullmatch(unit.path.name):
            name, id_ = name or alone["name"], unit.path.name
        yield LoggedRun(unit.path, name, id_, group, config, builder.build(), step_name, tuple(findings))

    def _find_step(self, cells: Mapping[str, Any]) -> str:
        if self.steps:
            return next((name for name in self.steps if name in cells), "")
        folded = {name.strip().casefold(): name for name in reversed(list(cells))}
        return next((folded[name] for name in ROLE_NAMES["step"] if name in folded), "")

    def _find_metrics(self, file: Path) -> frozenset[str]:
        """Return the metrics of a table of this kind; empty if it is none."""
        if strip_compression(file) not in self.files if self.files else get_ending(file) not in _TABLES:
            return frozenset()
        if self.settings.fullmatch(file.name):
            return frozenset()
        cells = _read_first_row(file)
        step = self._find_step(cells)
        others = {name: cell for name, cell in cells.items() if name != step and self._is_metric(name)}
        if not step or not others:
            return frozenset()
        if not self.files:
            folded = {name.strip().casefold() for name in cells}
            others = {name: cell for name, cell in others.items() if not TIME_NAMES.fullmatch(name)}
            charted = get_ending(file) == ".csv" and is_chart(tuple(cells))
            if charted or folded & _OF_OTHER_TABLES or any(map(_is_word, others.values())):
                return frozenset()
        return frozenset(others)

    def _select(self, item: Mapping[str, Any], above: str = "") -> dict[str, Any]:
        """Return the cells that are metrics, also of those that are nested."""
        chosen = {name: cell for name, cell in item.items() if self._is_metric(f"{above}{name}")}
        nested = {name: cell for name, cell in chosen.items() if not above and isinstance(cell, dict)}
        return {**chosen, **{name: self._select(cell, f"{name}/") for name, cell in nested.items()}}

    def _is_metric(self, name: str) -> bool:
        return not self.ignored.fullmatch(name)

    def _read_lines(
        self, file: Path, step_name: str, time_name: str, builder: MetricsBuilder
    ) -> tuple[dict[str, Any], list[Diagnostic]]:
        """Add the values of JSON Lines; return the first row, and the irregularities."""
        lines, first = JsonLines(file), dict[str, Any]()
        rows: list[Row] = []
        for item in lines.read_objects():
            first = first or item
            taken = {step_name, time_name}
            cells = {name: cell for name, cell in self._select(item).items() if name not in taken}
            time = convert_unix_time(number_or_nan(item.get(time_name))) if time_name else math.nan
            rows.append((number_or_nan(item.get(step_name)), time, cells))
            if len(rows) == _ROWS_AT_ONCE:
                builder.add_rows(rows)
                rows = []
        builder.add_rows(rows)
        return first, list(lines.list_findings())


def _find_time(first: Mapping[str, Any]) -> str:
    """Return the column of a first row with numbers that are times since 1970; empty if it has none."""
    times = (
        name for name, cell in first.items() if TIME_NAMES.fullmatch(name) and is_unix_time(as_word(cell))
    )
    return next(times, "")


def _is_word(cell: object) -> bool:
    """Return whether a cell is a word, which may tell rows apart."""
    return isinstance(cell, str) and not is_missing(cell) and parse_number(cell) is None


def _read_first_row(file: Path) -> dict[str, Any]:
    """Return the first row of a table by column, with a word if any row in its beginning has one there."""
    lines = read_head(file, _HEAD).decode(errors="replace").split("\n")
    if get_ending(file) in _LINES:
        items = [parse_beginning(line) or {} for line in lines[:50] if line.startswith("{")]
        rows = [dict(iterate_cells(item)) | {"config": item.get("config")} for item in items]
        rows = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
    else:
        header, separator = parse_header(lines[0])
        cells = (split_cells(line.rstrip("\r"), separator) for line in lines[1:50])
        rows = [dict(zip(header, row, strict=False)) for row in cells if len(row) == len(header)]
        rows = rows or [dict.fromkeys(header, "")]
    first: dict[str, Any] = {}
    for row in rows:
        first |= {name: cell for name, cell in row.items() if name not in first or _is_word(cell)}
    return first


RAY: Final = RowLogs(
    files=("result.json", "progress.csv"),
    steps=("training_iteration",),
    ignored=re.compile(
        r"config|config/.*|experiment_(tag|id)|trial_id|date|timestamp|pid|hostname|node_ip|done"
        r"|(time|timesteps|iterations)_since_restore|should_checkpoint|checkpoint_dir_name|hist_stats/.*"
        r"|perf/v?(cpu|gpu|ram)_util_percent\d*"
    ),
    time="timestamp",
    settings=re.compile(r"params\.json"),
    trial="trial_id",
    folder=re.compile(r"(?P<name>.+)_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d[a-z0-9_]{8}"),
)
RUN_TABLES: Final = RowLogs(needs_settings=True)
