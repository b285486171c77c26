"""What MLflow says of runs beside their values: when they began, the run above, and values without a step."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from test_read_mlflow import OTHER, RUN, database, experiment, from_database, from_files, run_folder, told

from reportgen.read.loggers import sqlite_copy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

UNSTEPPED = "1700000000000 0.5 0\n1700000000100 0.25 0\n"
FOUND = (
    'all values of "loss" stand at step 0, as where log_metric is given no step: '
    '"x: time" in a block draws them one after the other'
)


def test_runs_come_in_the_order_of_their_starts(tmp_path: Path) -> None:
    """The folders of a file store have random names; a run that does not say when it began comes last."""
    store = tmp_path / "mlruns"
    experiment(store)
    run_folder(store, RUN, "start_time: 1700000000200\n", loss=b"1700000000000 1 0\n")
    run_folder(store, "0" * 32, loss=b"1700000000000 1 0\n")
    run_folder(store, OTHER, "start_time: 1700000000100\n", loss=b"1700000000000 1 0\n")
    assert [run.id for run in from_files(store)] == [OTHER, RUN, "0" * 32]


def test_the_run_above_is_a_setting(tmp_path: Path) -> None:
    """A run within another one names it, so that folds and seeds of one parent can be one series."""
    store = tmp_path / "mlruns"
    experiment(store)
    above = run_folder(store, RUN, loss=b"1700000000000 1 0\n")
    within = run_folder(store, OTHER, loss=b"1700000000000 1 0\n")
    (within / "tags" / "mlflow.parentRunId").write_text(RUN)
    (above / "tags" / "mlflow.parentRunId").write_text("f" * 32)
    assert {run.id: run.config for run in from_files(store)} == {
        OTHER: {"parent": "given name"},
        RUN: {"parent": "f" * 32},
    }
    path = database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO tags VALUES ('mlflow.parentRunId', 'a', 'b')")
        connection.execute("INSERT INTO params VALUES ('parent', 'own', 'c')")
        connection.execute("UPDATE runs SET lifecycle_stage = 'active'")
        connection.execute("INSERT INTO tags VALUES ('mlflow.parentRunId', 'a', 'c')")
    parents = {run.id: run.config.get("parent") for run in from_database(path)}
    assert parents == {"a": None, "b": "column name", "c": "own"}


def test_values_that_were_logged_without_a_step_are_told(tmp_path: Path) -> None:
    """MLflow takes step 0 then, and a curve of them is no curve; one value, as of a test, is none either."""
    store = tmp_path / "mlruns"
    experiment(store)
    run_folder(store, loss=UNSTEPPED.encode(), accuracy=b"1700000000000 1 0\n", f1=b"1 1 0\n2 1 1\n")
    (run,) = from_files(store)
    assert told(run.findings) == [FOUND]
    rows = [("loss", value, 1700000000000 + value, "a", 0, 0) for value in (1, 2)]
    first, _ = from_database(database(tmp_path / "mlflow.db", rows))
    assert FOUND in told(first.findings)


def test_a_database_is_asked_once_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for each run, a store of four thousand took half a minute: parameters have no index of runs."""
    asked: list[str] = []
    rows = sqlite_copy.Store.rows

    def counted(store: sqlite_copy.Store, query: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401
        asked.append(query)
        return rows(store, query, values)

    monkeypatch.setattr(sqlite_copy.Store, "rows", counted)
    path = database(tmp_path / "mlflow.db", [("loss", run, 1, f"{run:03}", 0, 0) for run in (9, 2, 5)])
    with closing(sqlite3.connect(path)) as connection, connection:
        for run in (9, 1, 5, 2):
            stage = "deleted" if run == 5 else "active"
            connection.execute("INSERT INTO runs VALUES (?, '', 'FINISHED', ?, 1)", (f"{run:03}", stage))
            connection.execute("INSERT INTO params VALUES ('n', ?, ?)", (str(run), f"{run:03}"))
    found = {run.id: (run.config.get("n"), run.metrics) for run in from_database(path)}
    assert list(found) == ["a", "b", "009", "001", "002"]
    assert [found[run][0] for run in found] == [None, None, 9, 1, 2]
    values = {run: metrics["loss"].values.tolist() for run, (_, metrics) in found.items() if metrics}
    assert values == {"009": [9], "002": [2]}
    assert len(asked) == 4
