"""Trackio's SQLite store: one database per project, one row per call of ``log``, with values as JSON.

Source: ``trackio/sqlite_storage.py`` of the repository gradio-app/trackio. Before version 0.24 a run was
identified only by its name, without ``run_id``. JSON has no NaN and no infinities: they are the texts
``NaN``, ``Infinity`` and ``-Infinity``. System metrics are in ``system_metrics`` and have no step.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.json_files import iterate_cells, parse_or_none
from reportgen.formats.registry import get_title
from reportgen.formats.run_data import MetricsBuilder, flatten, number_or_nan, parse_time
from reportgen.formats.runs import LoggedRun, warn
from reportgen.formats.sqlite import find_stores, open_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Unit
    from reportgen.formats.sqlite import SqliteStore


_METRIC_COLUMNS: Final = {"run_name", "step", "metrics", "timestamp"}
# Added by Trackio to a configuration: user and time are not settings, and the group becomes `group`.
_ADDED: Final = {"_Username", "_Created", "_Group"}


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return a unit for each database with Trackio's tables, and for damaged ones in a folder ``trackio``."""
    return find_stores(files, _METRIC_COLUMNS, lambda file: file.parent.name == "trackio")


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield every run of the project."""
    with open_store(unit.path) as store:
        store.check_columns("metrics", _METRIC_COLUMNS, get_title(unit.format))
        # Names of runs by id, in the order of their first rows; a run may have only settings.
        names: dict[str, str] = {}
        for table in ("metrics", "configs", "system_metrics"):
            if "run_name" in store.columns.get(table, ()):
                key = _choose_key(store, table)
                query = (
                    f"SELECT {key}, run_name, MIN(rowid) FROM {table} "  # noqa: S608 - names of ours
                    f"WHERE {key} IS NOT NULL GROUP BY 1, 2 ORDER BY 3"
                )
                more = {str(run): str(name or "") for run, name, _ in store.select(query)}
                names = names | more | names
        for run, name in names.items():
            rows: Counter[str] = Counter()
            machine = _read_metrics(store, "system_metrics", run, unit.selected, rows)
            logged = _read_metrics(store, "metrics", run, unit.selected, rows)
            findings = list(logged.list_findings())
            if unreadable := rows["unreadable"]:
                of_run = f"{unreadable:,} of {format_count(rows.total(), 'row')} of this run"
                holds = "holds" if unreadable == 1 else "hold"
                findings.append(warn(unit.path, f"{of_run} {holds} no whole JSON: left out"))
            # A logged metric takes precedence over a system metric with the same name.
            metrics = machine.build() | logged.build()
            config: dict[str, Any] = {}
            if "config" in store.columns.get("configs", ()):
                query = f"SELECT config FROM configs WHERE {_choose_key(store, 'configs')} = ?"  # noqa: S608 - as above
                for (text,) in store.select(query, (run,)):
                    config |= _parse_object(text) or {}
            group = {"group": config["_Group"]} if config.get("_Group") else {}
            settings = flatten(group | {key: cell for key, cell in config.items() if key not in _ADDED})
            run_id = run if _choose_key(store, "metrics") == "run_id" else ""
            every = (*findings, *store.list_findings())
            yield LoggedRun(unit.path, name, run_id, unit.path.stem, settings, metrics, findings=every)


def _choose_key(store: SqliteStore, table: str) -> str:
    return "run_id" if "run_id" in store.columns.get(table, ()) else "run_name"


def _read_metrics(
    store: SqliteStore, table: str, run: str, selected: Collection[str] | None, rows: Counter[str]
) -> MetricsBuilder:
    """Return the metrics in a table's JSON, in the order of writing; count whole and unreadable rows."""
    builder = MetricsBuilder(store.path, selected, timed=True)
    if "metrics" not in store.columns.get(table, ()):
        return builder
    columns = [store.name_column(table, name) for name in ("step", "timestamp", "metrics")]
    query = (
        # Sort row ids rather than rows, which are long.
        f"SELECT {', '.join(columns)} FROM {table} WHERE rowid IN "  # noqa: S608 - names of ours
        f"(SELECT rowid FROM {table} WHERE {_choose_key(store, table)} = ?) ORDER BY rowid"
    )
    for step, time, text in store.select(query, (run,)):
        record = _parse_object(text)
        rows["unreadable" if record is None else "whole"] += 1
        if record is None:
            continue
        milliseconds = parse_time(time)
        row_time = math.nan if milliseconds is None else milliseconds
        for name, cell in iterate_cells(record, joint=".", media="_type"):
            if not isinstance(cell, list):
                builder.add_cell(name, number_or_nan(step), cell, row_time)
    return builder


def _parse_object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str | bytes):
        return None
    item = parse_or_none(text if isinstance(text, str) else text.decode(errors="replace"))
    return item if isinstance(item, dict) else None
