"""What MLflow says of runs beside their values: when they began, the run above, and values without a step."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from test_read_mlflow import (
    OTHER,
    POINTER,
    RUN,
    database,
    experiment,
    from_database,
    from_files,
    run_folder,
    told,
)

from reportgen.formats import sqlite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    rows = sqlite.SqliteStore.select

    def counted(store: sqlite.SqliteStore, query: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401
        asked.append(query)
        return rows(store, query, values)

    monkeypatch.setattr(sqlite.SqliteStore, "select", counted)
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


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "the file is missing"),
        (b"", "the file is empty"),
        (
            b"artifact_uri: x\nexperiment_id: '1'\nlifecycle_stage: act",
            "the file has no run_id, as where it was cut off",
        ),
        (b"[1, 2", "a list that begins with [ does not end with ]"),
        (b"words\n", "the file holds no keys with values"),
        (POINTER, "it is a Git LFS pointer, not the data themselves"),
    ],
)
def test_a_run_whose_meta_says_nothing_is_read_and_told(
    content: bytes | None, found: str, tmp_path: Path
) -> None:
    """Its folder is called by its id and lies in an experiment: its values are there all the same."""
    store = tmp_path / "mlruns"
    experiment(store)
    run_folder(store, OTHER, loss=b"1700000000000 1 0\n")
    meta = run_folder(store, RUN, loss=b"1700000000000 2 0\n") / "meta.yaml"
    if content is None:
        meta.unlink()
    else:
        meta.write_bytes(content)
    runs = {run.id: run for run in from_files(store)}
    assert runs[RUN].metrics["loss"].values.tolist() == [2]
    (message,) = told(runs[RUN].findings)
    assert message.startswith(
        f"{found}: what it says of the run (its end, whether it was deleted) is unknown"
    )
    assert runs[RUN].findings[0].path == meta
    assert told(runs[OTHER].findings) == []


def test_an_experiment_whose_meta_says_nothing_is_told_once(tmp_path: Path) -> None:
    """Its runs are read under its number."""
    store = tmp_path / "mlruns"
    experiment(store)
    (store / "1" / "meta.yaml").write_bytes(b"")
    for run in (RUN, OTHER):
        run_folder(store, run, loss=b"1700000000000 1 0\n")
    runs = from_files(store)
    assert [run.group for run in runs] == ["1", "1"]
    assert [message for run in runs for message in told(run.findings)] == [
        "the file is empty: what it says of the experiment (its name, whether it was deleted) is unknown"
    ]


def test_folders_within_a_run_are_no_runs(tmp_path: Path) -> None:
    """Artifacts may be anything, also the copy of another store."""
    store = tmp_path / "mlruns"
    experiment(store)
    run = run_folder(store, RUN, loss=b"1700000000000 1 0\n")
    copied = run / "artifacts" / OTHER / "metrics"
    copied.mkdir(parents=True)
    (copied / "loss").write_bytes(b"1700000000000 1 0\n")
    (copied.parent / "meta.yaml").write_bytes(b"")
    assert [run.id for run in from_files(store)] == [RUN]


def test_a_run_of_pointers_leaves_the_others(tmp_path: Path) -> None:
    """Its metrics are told; only where no run has one is it an error."""
    store = tmp_path / "mlruns"
    experiment(store)
    run_folder(store, RUN, loss=POINTER)
    run_folder(store, OTHER, loss=b"1700000000000 1 0\n")
    runs = {run.id: run for run in from_files(store)}
    assert (dict(runs[RUN].metrics), list(runs[OTHER].metrics)) == ({}, ["loss"])
    assert told(runs[RUN].findings) == [
        "it is a Git LFS pointer, not the data themselves: left out. Run git lfs pull"
    ]


def test_a_run_that_still_runs_is_told(tmp_path: Path) -> None:
    """Or one that was killed without a word: MLflow cannot tell them apart."""
    folder = run_folder(tmp_path, loss=b"1700000000000 1 0\n")
    meta = folder / "meta.yaml"
    meta.write_text(meta.read_text().replace("status: 3", "status: 1"))
    assert told(from_files(tmp_path)[0].findings) == [
        "MLflow says that the run is still running, as also where it was killed: values may be missing"
    ]
