"""Trackio's SQLite store: a database a project, a row a call of ``log``, its values as JSON.

Source: ``trackio/sqlite_storage.py`` of the repository gradio-app/trackio. Before version 0.24 a run was
known by its name only, without ``run_id``. JSON has no NaN and no infinities: they are the texts ``NaN``,
``Infinity`` and ``-Infinity``. Measurements of the machine lie in ``system_metrics`` and have no step.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, Logged, Unit
from reportgen.read.loggers.growing import Growing, number
from reportgen.read.loggers.settings_beside import flattened
from reportgen.read.loggers.sqlite_copy import columns_of, opened, sidecars
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.logged import Setting
    from reportgen.read.loggers.sqlite_copy import Store

NAME: Final = "trackio"
TITLE: Final = "Trackio store"

_METRIC_COLUMNS: Final = {"run_name", "step", "metrics", "timestamp"}
_USUAL_FOLDER: Final = "trackio"
# What Trackio adds to a configuration: who and when is no setting, and the group is told as `group`.
_ADDED: Final = {"_Username", "_Created", "_Group"}
# Names that stand in JSON as they are, whatever wrote it.
_PLAIN: Final = re.compile(r"[A-Za-z0-9 _/:@%+-]+")
_MOST_CONDITIONS: Final = 50


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each database with Trackio's tables; in a folder ``trackio`` none is passed over."""
    found = []
    for file in files:
        columns = columns_of(file, "metrics")
        if file.parent.name == _USUAL_FOLDER if columns is None else columns >= _METRIC_COLUMNS:
            found.append(Unit(NAME, file, (file, *sidecars(file))))
    return tuple(found)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """Every run of the project; rows without a metric that is wanted stay in the database.

    Raises:
        UnreadableError: it is no such database, or is damaged.
    """
    with opened(unit.path) as store:
        store.expect("metrics", _METRIC_COLUMNS, TITLE)
        for run, name in _runs(store).items():
            rows = _Rows(store, run, wanted)
            machine, logged = rows.values("system_metrics"), rows.values("metrics")
            yield Logged(
                path=unit.path,
                name=name,
                id=run if _key(store, "metrics") == "run_id" else "",
                group=unit.path.stem,
                config=_config(store, run),
                # A metric that was logged goes before one of the machine with its name.
                metrics=machine.points() | logged.points(),
                findings=(*logged.findings(), *rows.findings(), *store.findings()),
            )


def _key(store: Store, table: str) -> str:
    """The column that tells runs apart."""
    return "run_id" if "run_id" in store.columns.get(table, ()) else "run_name"


def _runs(store: Store) -> dict[str, str]:
    """The name of every run by its id, in the order of their first rows; a run may only have settings."""
    names: dict[str, str] = {}
    for table in ("metrics", "configs", "system_metrics"):
        if "run_name" in store.columns.get(table, ()):
            key = _key(store, table)
            query = (
                f"SELECT {key}, run_name, MIN(rowid) FROM {table} "  # noqa: S608 - names of ours
                f"WHERE {key} IS NOT NULL GROUP BY 1, 2 ORDER BY 3"
            )
            found = {str(run): str(name or "") for run, name, _ in store.rows(query)}
            names |= {run: name for run, name in found.items() if run not in names}
    return names


def _config(store: Store, run: str) -> dict[str, Setting]:
    """The settings of a run, nested names joined by dots, without what Trackio adds."""
    if "config" not in store.columns.get("configs", ()):
        return {}
    query = f"SELECT config FROM configs WHERE {_key(store, 'configs')} = ?"  # noqa: S608 - a name of ours
    config: dict[str, Any] = {}
    for (text,) in store.rows(query, (run,)):
        config |= _object(text) or {}
    group = config.get("_Group")
    kept = {name: value for name, value in config.items() if name not in _ADDED}
    return flattened(({"group": group} if group else {}) | kept)


@dataclass(slots=True)
class _Rows:
    """The rows of a run, and how many of them could not be read."""

    store: Store
    run: str
    wanted: Collection[str] | None
    unreadable: int = 0
    total: int = 0

    def values(self, table: str) -> Growing:
        """The metrics in a table's JSON, in the order of writing."""
        growing = Growing(self.store.path, self.wanted, timed=True)
        if "metrics" not in self.store.columns.get(table, ()):
            return growing
        columns = [self.store.column(table, name) for name in ("step", "timestamp", "metrics")]
        top = self._top_level()
        contains = f"AND ({' OR '.join(['instr(metrics, ?)'] * len(top))})" if top else ""
        query = (
            # Numbers of rows are put in order, not the rows themselves, which are long.
            f"SELECT {', '.join(columns)} FROM {table} WHERE rowid IN "  # noqa: S608 - names of ours
            f"(SELECT rowid FROM {table} WHERE {_key(self.store, table)} = ?) {contains} ORDER BY rowid"
        )
        for step, time, text in self.store.rows(query, (self.run, *(f'"{name}"' for name in top))):
            self.total += 1
            record = _object(text)
            if record is None:
                self.unreadable += 1
                continue
            if top:
                record = {name: record[name] for name in top if name in record}
            at = number(step)
            _add(growing, record, math.nan if at is None else at, _milliseconds(time))
        return growing

    def _top_level(self) -> list[str]:
        """The metrics wanted, where all of them are written in JSON as they are called and not nested."""
        wanted = sorted(self.wanted or ())
        plain = len(wanted) <= _MOST_CONDITIONS and all(map(_PLAIN.fullmatch, wanted))
        return wanted if plain else []

    def findings(self) -> Iterator[Finding]:
        """At most one: rows whose values are no JSON."""
        if self.unreadable:
            rows = f"{self.unreadable:,} of {counted(self.total, 'row')} of this run"
            holds = "holds" if self.unreadable == 1 else "hold"
            yield Finding(self.store.path, f"{rows} {holds} no whole JSON: left out")


def _add(growing: Growing, record: dict[str, Any], step: float, time: float) -> None:
    """Take the numbers of one row; nested names are joined by dots, and media are no metrics."""
    waiting: list[tuple[str, Any]] = list(reversed(record.items()))
    while waiting:
        name, cell = waiting.pop()
        value = number(cell)
        if value is not None:
            growing.add(name, step, value, time)
        elif isinstance(cell, dict):
            if "_type" not in cell:
                waiting += [(f"{name}.{key}", child) for key, child in reversed(cell.items())]
        elif cell is not None and not isinstance(cell, list):
            growing.drop(name)


def _object(text: object) -> dict[str, Any] | None:
    """A JSON object from a cell of text or bytes; None where it is none."""
    if not isinstance(text, str | bytes):
        return None
    try:
        found = json.loads(text if isinstance(text, str) else text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _milliseconds(time: object) -> float:
    """Milliseconds since 1970 of an ISO 8601 text; without a zone it is taken as UTC."""
    if not isinstance(time, str):
        return math.nan
    try:
        when = datetime.fromisoformat(time)
        return 1000 * (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan
