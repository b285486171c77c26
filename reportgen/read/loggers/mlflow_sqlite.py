"""MLflow's SQLite store: tables of experiments, runs, metrics, parameters and tags.

Source: ``mlflow/store/tracking/dbmodels/models.py`` and ``sqlalchemy_store.py`` of the repository
mlflow/mlflow. NaN is the value 0 with ``is_nan`` set, and an infinity is the largest double. Before
version 1.0 there was no ``step``, and before 1.1 no ``is_nan``.
"""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.read.logged import Logged, Points, Unit
from reportgen.read.loggers.growing import Growing, number
from reportgen.read.loggers.mlflow_run import DELETED, RUN_NAME, config_of, ended, left_out, without_steps
from reportgen.read.loggers.sqlite_copy import columns_of, opened, sidecars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from reportgen.read.loggers.sqlite_copy import Store

NAME: Final = "mlflow_sqlite"
TITLE: Final = "MLflow SQLite store"

_METRIC_COLUMNS: Final = {"key", "value", "run_uuid"}
_USUAL_NAME: Final = "mlflow"
_INFINITY: Final = 1.7976931348623157e308
_MOST_VARIABLES: Final = 30_000


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each database with MLflow's tables; what is called ``mlflow.db`` is not passed over."""
    found = []
    for file in files:
        columns = columns_of(file, "metrics")
        if file.stem == _USUAL_NAME if columns is None else columns >= _METRIC_COLUMNS:
            found.append(Unit(NAME, file, (file, *sidecars(file))))
    return tuple(found)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """Every run that is not deleted; only the metrics wanted leave the database.

    Raises:
        UnreadableError: it is no such database, is damaged, or every run is deleted.
    """
    with opened(unit.path) as store:
        store.expect("runs", {"run_uuid"}, TITLE)
        store.expect("metrics", _METRIC_COLUMNS, TITLE)
        runs = list(store.rows(_runs(store)))
        alive = [run[:-2] for run in runs if DELETED not in run[-2:]]
        found = left_out(unit.path, len(runs) - len(alive), len(runs))
        names = {str(run[1]): str(run[2] or "") for run in runs}
        every_tag, every_param, every_metric = (
            _texts(store, "tags"),
            _texts(store, "params"),
            _metrics(store, wanted),
        )
        for place, run_id, name, status, experiment in alive:
            tags, params = (
                {str(key): str(value) for key, value in texts.of(place)} for texts in (every_tag, every_param)
            )
            growing = Growing(unit.path, wanted, timed=True)
            for key, value, step, time, is_nan in every_metric.of(place):
                _add(growing, key, math.nan if is_nan else value, step, time)
            metrics = {name: _unbounded(points) for name, points in growing.points().items()}
            yield Logged(
                path=unit.path,
                name=tags.get(RUN_NAME) or str(name or ""),
                id=str(run_id),
                group=str(experiment or ""),
                config=config_of(params, tags, names),
                metrics=metrics,
                findings=(
                    *found,
                    *ended(unit.path, str(status)),
                    *growing.findings(),
                    *without_steps(unit.path, metrics),
                    *store.findings(),
                ),
            )
            found = ()


def _runs(store: Store) -> str:
    """The query for place, id, name, status, experiment, and the two columns that say what is deleted."""
    joined = {"experiment_id", "name"} <= store.columns.get("experiments", frozenset())
    columns = [
        "runs.rowid",
        'runs."run_uuid"',
        store.column("runs", "name"),
        store.column("runs", "status"),
        *(
            ('experiments."name"', store.column("experiments", "lifecycle_stage"))
            if joined
            else (store.column("runs", "experiment_id"), "NULL")
        ),
        store.column("runs", "lifecycle_stage"),
    ]
    join = "LEFT JOIN experiments ON experiments.experiment_id = runs.experiment_id" if joined else ""
    return f"SELECT {', '.join(columns)} FROM runs {join} ORDER BY runs.rowid"  # noqa: S608 - names of ours


class _ByRun:
    """The rows of a table, handed out run by run.

    One query for all runs: one for each takes minutes where the table has no index of runs, as that of
    parameters has none in any version.
    """

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._groups = groupby(rows, key=itemgetter(0))
        self._next = next(self._groups, None)

    def of(self, place: int) -> Iterator[tuple[Any, ...]]:
        """The rows of a run, without its place; the places of runs have to grow from call to call."""
        while self._next and self._next[0] < place:
            self._next = next(self._groups, None)
        if self._next and self._next[0] == place:
            yield from (row[1:] for row in self._next[1])


def _texts(store: Store, table: str) -> _ByRun:
    """Names and values of parameters or tags."""
    if not store.columns.get(table, frozenset()) >= {"key", "value", "run_uuid"}:
        return _ByRun(iter(()))
    columns = [store.column(table, name) for name in ("key", "value")]
    return _by_run(store, table, columns, f"{columns[1]} IS NOT NULL")


def _metrics(store: Store, wanted: Collection[str] | None) -> _ByRun:
    """The values of runs in the order of writing."""
    columns = [store.column("metrics", name) for name in ("key", "value", "step", "timestamp", "is_nan")]
    if wanted is None or len(wanted) >= _MOST_VARIABLES:
        return _by_run(store, "metrics", columns, "TRUE")
    # With the plus no index of names is taken instead of that of runs.
    return _by_run(
        store, "metrics", columns, f"+metrics.key IN ({', '.join('?' * len(wanted))})", sorted(wanted)
    )


def _by_run(
    store: Store, table: str, columns: Sequence[str], condition: str, values: Sequence[object] = ()
) -> _ByRun:
    query = (
        f"SELECT runs.rowid, {', '.join(columns)} FROM runs "  # noqa: S608 - names of ours
        f"CROSS JOIN {table} ON {table}.run_uuid = runs.run_uuid "
        f"WHERE {condition} ORDER BY runs.rowid, {table}.rowid"
    )
    return _ByRun(store.rows(query, values))


def _add(growing: Growing, key: Any, value: Any, step: Any, time: Any) -> None:  # noqa: ANN401 - SQLite is untyped
    measured, at, when = number(value), number(step), number(time)
    if measured is None:
        growing.drop(str(key))
    else:
        growing.add(str(key), math.nan if at is None else at, measured, math.nan if when is None else when)


def _unbounded(points: Points) -> Points:
    """The largest double stands for an infinity."""
    huge = np.abs(points.values) >= _INFINITY
    if not huge.any():
        return points
    values = np.where(huge, np.copysign(np.inf, points.values), points.values)
    return Points(points.steps, values, points.times)
