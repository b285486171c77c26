"""MLflow's SQLite store: tables of experiments, runs, metrics, parameters and tags.

Source: ``mlflow/store/tracking/dbmodels/models.py`` and ``sqlalchemy_store.py`` of the repository
mlflow/mlflow. NaN is the value 0 with ``is_nan`` set, and an infinity is the largest double. Version 1.0
added ``step``, and 1.1 added ``is_nan``.
"""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from reportgen.formats.registry import get_title
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number
from reportgen.formats.runs import LoggedRun
from reportgen.formats.sqlite import find_stores, open_store
from reportgen.formats.trackers import mlflow_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from reportgen.formats.runs import Unit
    from reportgen.formats.sqlite import SqliteStore


_METRIC_COLUMNS: Final = {"key", "value", "run_uuid"}
_INFINITY: Final = 1.7976931348623157e308


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return a unit for each database with MLflow's tables, and for a damaged ``mlflow.db``."""
    return find_stores(files, _METRIC_COLUMNS, lambda file: file.stem == "mlflow")


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield every run that is not deleted."""
    with open_store(unit.path) as store:
        store.check_columns("runs", {"run_uuid"}, get_title(unit.format))
        store.check_columns("metrics", _METRIC_COLUMNS, get_title(unit.format))
        runs = list(store.select(_build_run_query(store)))
        alive = [run[:-2] for run in runs if mlflow_files.DELETED not in run[-2:]]
        findings = mlflow_files.report_deleted(unit.path, len(runs) - len(alive), len(runs))
        names = {str(run[1]): str(run[2] or "") for run in runs}
        rows_of_texts = [_RunRows(store, table, ("key", "value")) for table in ("tags", "params")]
        metric_rows = _RunRows(store, "metrics", ("key", "value", "step", "timestamp", "is_nan"))
        for place, run_id, name, status, experiment in alive:
            tags, params = (
                {str(key): str(value) for key, value in rows.read_run(place) if value is not None}
                for rows in rows_of_texts
            )
            builder = MetricsBuilder(unit.path, unit.selected, timed=True)
            for key, value, step, time, is_nan in metric_rows.read_run(place):
                # NULL is counted as not a number; the largest double represents infinity.
                cell = math.nan if is_nan else "" if value is None else value
                number = parse_number(cell)
                if number is not None and abs(number) >= _INFINITY:
                    cell = math.copysign(math.inf, number)
                builder.add_cell(str(key), number_or_nan(step), cell, number_or_nan(time))
            metrics = builder.build()
            findings += (*mlflow_files.warn_unfinished(unit.path, str(status)), *builder.list_findings())
            findings += (*mlflow_files.warn_without_steps(unit.path, metrics), *store.list_findings())
            run_name, group = tags.get(mlflow_files.RUN_NAME) or str(name or ""), str(experiment or "")
            config = mlflow_files.build_config(params, tags, names)
            yield LoggedRun(unit.path, run_name, str(run_id), group, config, metrics, findings=findings)
            findings = ()


def _build_run_query(store: SqliteStore) -> str:
    """Return the query for place, id, name, status, experiment, and the two columns that mark deletion."""
    join, experiment, stage = "", store.name_column("runs", "experiment_id"), "NULL"
    if {"experiment_id", "name"} <= store.columns.get("experiments", frozenset()):
        join = "LEFT JOIN experiments ON experiments.experiment_id = runs.experiment_id"
        experiment, stage = 'experiments."name"', store.name_column("experiments", "lifecycle_stage")
    own = [store.name_column("runs", name) for name in ("name", "status", "lifecycle_stage")]
    columns = ["runs.rowid", 'runs."run_uuid"', *own[:2], experiment, stage, own[2]]
    return f"SELECT {', '.join(columns)} FROM runs {join} ORDER BY runs.rowid"  # noqa: S608 - names of ours


class _RunRows:
    """Rows of a table in the order of writing, run by run; none if the table does not have a column.

    This is one query for all runs: a query per run takes minutes if the table has no index of runs, which is
    the case for parameters in every version.
    """

    def __init__(self, store: SqliteStore, table: str, names: Sequence[str]) -> None:
        columns = [store.name_column(table, name) for name in names]
        query = (
            f"SELECT runs.rowid, {', '.join(columns)} FROM runs "  # noqa: S608 - names of ours
            f"CROSS JOIN {table} ON {table}.run_uuid = runs.run_uuid "
            f"ORDER BY runs.rowid, {table}.rowid"
        )
        complete = store.columns.get(table, frozenset()) >= _METRIC_COLUMNS
        rows = store.select(query) if complete else iter(())
        self._groups = groupby(rows, key=itemgetter(0))
        self._next = next(self._groups, None)

    def read_run(self, place: int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a run, without its place; places must increase from call to call."""
        while self._next and self._next[0] < place:
            self._next = next(self._groups, None)
        if self._next and self._next[0] == place:
            yield from (row[1:] for row in self._next[1])
