"""MLflow's databases: what was committed is what is read, and what both stores say beside values."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_read_mlflow import (
    OTHER,
    ROWS,
    RUN,
    below,
    database,
    experiment,
    from_database,
    from_files,
    run_folder,
    same,
    told,
)

from reportgen.formats import run_data, sqlite
from reportgen.formats.runs import Unit, UnreadableError
from reportgen.formats.trackers import mlflow_sqlite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

UNSTEPPED = "1700000000000 0.5 0\n1700000000100 0.25 0\n"
FOUND = (
    'all values of "loss" stand at step 0, as where log_metric is given no step: '
    '"x: time" in a block draws them one after the other'
)


def test_a_database_is_read_exactly(tmp_path: Path) -> None:
    """In the order of writing, with NaN and the infinities that SQLite cannot hold."""
    path = database(tmp_path / "odd ?#% name.db")
    first, second = from_database(path)
    assert (first.name, first.id, first.group, first.path) == ("column name", "a", "pilot", path)
    assert first.config == {"lr": 1e-05, "model/size": "7B"}
    assert list(first.metrics) == ["loss", "acc"]
    values = [0.5, math.nan, math.inf, -math.inf, 5e-324]
    times = [1700000000000 + late for late in (0, 2, 3, 4, 5)]
    assert same(first.metrics["loss"], [0, 3, 2, 2, 2], values, times)
    assert told(first.findings) == ["2 runs of 4 are deleted in MLflow: left out"]
    assert (second.name, second.config) == ("shown name", {"tags.team": "blue"})
    assert told(second.findings) == ["MLflow says that the run was killed: its values end there"]


def test_only_wanted_metrics_leave_a_database(tmp_path: Path) -> None:
    """Runs without them are still there."""
    runs = from_database(database(tmp_path / "mlflow.db"), ["acc"])
    assert [list(run.metrics) for run in runs] == [["acc"], []]
    assert [list(run.metrics) for run in from_database(tmp_path / "mlflow.db", [])] == [[], []]


def test_committed_rows_beside_a_database_are_read(tmp_path: Path) -> None:
    """What lies in the -wal is not lost, and the folder stays as it was, byte for byte."""
    path = database(tmp_path / "mlflow.db", [])
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO metrics VALUES ('loss', 0.25, 1, 'a', 5, 0)")
        writer.execute("BEGIN")
        writer.execute("INSERT INTO metrics VALUES ('loss', 0.75, 2, 'a', 6, 0)")
        before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in below(tmp_path)}
        (unit,) = mlflow_sqlite.find_units([path])
        run = next(mlflow_sqlite.read(unit))
        after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in below(tmp_path)}
    assert run.metrics["loss"].values.tolist() == [0.25]
    assert after == before
    assert [file.name for file in unit.files] == ["mlflow.db", "mlflow.db-wal"]


def test_half_a_transaction_is_rolled_back_in_the_copy(tmp_path: Path) -> None:
    """A program that was killed while it overwrote pages leaves a -journal that has the old ones."""
    live = database(tmp_path / "live.db", [("loss", float(n), n, "a", n, 0) for n in range(2000)])
    left = tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(live, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE metrics SET value = 99.0")
        for ending in ("", "-journal"):
            (left / f"mlflow.db{ending}").write_bytes((tmp_path / f"live.db{ending}").read_bytes())
    before = {file.name: file.read_bytes() for file in below(left)}
    assert b"\xd9\xd5\x05\xf9" in before["mlflow.db-journal"]
    run = from_database(left / "mlflow.db")[0]
    assert run.metrics["loss"].values.tolist() == list(range(2000))
    assert {file.name: file.read_bytes() for file in below(left)} == before


def test_a_locked_database_is_read(tmp_path: Path) -> None:
    """Whoever writes keeps its lock; what was committed is read beside it."""
    path = database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert len(from_database(path)) == 2


def test_a_database_that_changes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are written while others are read are missing, and the user knows."""
    monkeypatch.setattr(sqlite, "_SMALL", 0)
    path = database(tmp_path / "mlflow.db")
    (unit,) = mlflow_sqlite.find_units([path])
    runs = mlflow_sqlite.read(unit)
    next(runs)
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("INSERT INTO params VALUES ('late', '1', 'b')")
    (second,) = runs
    expected = "the database was written to while it was read: rows of that time are missing"
    assert expected in told(second.findings)


def test_a_small_database_is_of_one_moment(tmp_path: Path) -> None:
    """What changes while other runs are read changes nothing in the copy, even beyond what SQLite keeps."""
    rows = [("loss", 0.5, step, run, step, 0) for run in "ab" for step in range(30_000)]
    path = database(tmp_path / "mlflow.db", rows)
    runs = mlflow_sqlite.read(mlflow_sqlite.find_units([path])[0])
    next(runs)
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("UPDATE metrics SET value = 1 WHERE run_uuid = 'b' AND step % 2")
    (second,) = runs
    assert set(second.metrics["loss"].values.tolist()) == {0.5}


def test_older_databases_lack_columns(tmp_path: Path) -> None:
    """Before version 1.0 there was no step, and no word about NaN."""
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, experiment_id INTEGER);
            CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT);
            INSERT INTO runs VALUES ('a', 7);
            INSERT INTO metrics VALUES ('loss', 0.5, 1, 'a'), ('loss', 'words', 2, 'a');""")
    (run,) = from_database(path)
    assert (run.name, run.id, run.group, run.config) == ("", "a", "7", {})
    assert same(run.metrics["loss"], [math.nan], [0.5], [1])
    assert told(run.findings) == ['1 value that is no number in "loss": left out']


def test_other_databases_are_passed_over(tmp_path: Path) -> None:
    """By its tables a store is known; views and virtual tables make their rows by a program."""
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        connection.execute("CREATE TABLE metrics (name TEXT)")
    with closing(sqlite3.connect(tmp_path / "endless.db")) as connection:
        connection.execute(
            "CREATE VIEW metrics AS WITH RECURSIVE n(key, value, run_uuid) AS "
            "(SELECT 'a', 1, 'a' UNION ALL SELECT key, value + 1, run_uuid FROM n) SELECT * FROM n"
        )
    with closing(sqlite3.connect(tmp_path / "virtual.db")) as connection:
        connection.execute("CREATE VIRTUAL TABLE metrics USING fts5(key, value, run_uuid)")
    (tmp_path / "empty.db").touch()
    (tmp_path / "words.db").write_text("no database")
    (tmp_path / "mlflow.txt").write_bytes(database(tmp_path / "real.db").read_bytes())
    assert [unit.path.name for unit in mlflow_sqlite.find_units(below(tmp_path))] == ["real.db"]
    forced = Unit("mlflow_sqlite", tmp_path / "endless.db", (tmp_path / "endless.db",))
    with pytest.raises(UnreadableError, match="no table runs"):
        list(mlflow_sqlite.read(forced))


def test_what_should_be_a_database_and_is_none_is_an_error(tmp_path: Path) -> None:
    """Encrypted, cut short or damaged: a sentence with the next step, not an empty chart."""
    path = database(tmp_path / "mlflow.db", ROWS + [("loss", 1.0, n, "a", n, 0) for n in range(5000)])
    content = path.read_bytes()
    path.write_bytes(bytes(range(256)) * 16)
    with pytest.raises(UnreadableError, match="damaged or encrypted") as error:
        from_database(path)
    assert error.value.next_step
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(UnreadableError, match="damaged or cut short"):
        from_database(path)
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(UnreadableError, match="damaged or cut short"):
        from_database(path)


def test_a_database_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More values than a metric may have are an error, at the first beyond."""
    path = database(tmp_path / "mlflow.db", [("loss", 1.0, n, "a", n, 0) for n in range(101)])
    monkeypatch.setattr(run_data, "MOST_POINTS", 100)
    with pytest.raises(UnreadableError, match="more than 100 values"):
        from_database(path)


def test_text_of_a_database_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    """A replacement mark stands for it."""
    path = database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO params VALUES ('who', CAST(x'52656ee9' AS TEXT), 'a')")
    run = from_database(path)[0]
    assert run.config["who"] == "Ren\ufffd"
    assert any("not UTF-8" in message for message in told(run.findings))


def test_a_database_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy whose parts are from two moments would be wrong, so there is none."""
    path = database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM params")
        (unit,) = mlflow_sqlite.find_units([path])
        moments = iter(range(100))
        monkeypatch.setattr(sqlite, "_read_state", lambda _: (next(moments), None))
        with pytest.raises(UnreadableError, match="written to all the time"):
            list(mlflow_sqlite.read(unit))


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_mutated_database_gives_rows_or_an_error(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes changed at will: no other exception leaves the reader."""
    original, path = tmp_path / "original.db", tmp_path / "mlflow.db"
    if not original.exists():
        database(original, ROWS + [("loss", 1.0, n, "a", n, 0) for n in range(300)])
    content = bytearray(original.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.one_of(st.integers(16, 200), st.integers(16, len(content) - 1)))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(100, 4 * len(content)))])
    for unit in mlflow_sqlite.find_units([path]):
        try:
            for run in mlflow_sqlite.read(unit):
                assert all(len(points.steps) == len(points.values) for points in run.metrics.values())
        except UnreadableError as error:
            assert error.message  # noqa: PT017 - either outcome is right


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
