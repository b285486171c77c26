"""Trackio's store, in the shapes of its older and newer versions."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers import mlflow_sqlite, trackio

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# As trackio/sqlite_storage.py makes the tables, from version 0.24 on and before.
NEW = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
    run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE INDEX idx_metrics_run_step ON metrics(run_id, step);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL,
    config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL,
    timestamp TEXT NOT NULL, run_name TEXT NOT NULL, metrics TEXT NOT NULL);
"""
OLD = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
    step INTEGER NOT NULL, metrics TEXT NOT NULL);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_name TEXT NOT NULL, config TEXT NOT NULL,
    created_at TEXT NOT NULL, UNIQUE(run_name));
"""
TIME = "2026-01-01T00:00:00.500000+00:00"
MILLISECONDS = 1767225600500.0
ROWS: list[tuple[str, int, dict[str, Any]]] = [
    ("one", 0, {"loss": 0.5, "val/acc": 0.1}),
    ("two", 0, {"loss": 4}),
    ("one", 3, {"loss": "NaN", "done": False}),
    ("one", 2, {"loss": "Infinity", "picture": {"_type": "trackio.image", "width": 3}}),
    ("one", 2, {"loss": "-Infinity", "eval": {"math": {"acc": 0.25}}, "note": "words"}),
    ("one", 5, {"loss": "diverged", "table": [1, 2], "nothing": None, 'é "quoted"': 1.5}),
]
CONFIG = {
    "lr": 1e-05,
    "model": {"size": "7B"},
    "none": None,
    "_Username": "me",
    "_Created": TIME,
    "_Group": "g",
}


def add_new(connection: sqlite3.Connection, rows: Sequence[tuple[str, int, dict[str, Any]]] = ROWS) -> None:
    """Rows as newer versions write them: JSON as bytes, and an id for each run."""
    values = [(f"id {run}", TIME, run, step, json.dumps(metrics).encode()) for run, step, metrics in rows]
    connection.executemany(
        "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", values
    )


def store(path: Path) -> Path:
    """A store of a newer version with two runs."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(NEW)
        add_new(connection)
        connection.execute(
            "INSERT INTO configs VALUES (1, 'id one', 'one', ?, '')", (json.dumps(CONFIG).encode(),)
        )
        connection.execute(
            "INSERT INTO system_metrics VALUES (1, 'id one', ?, 'one', ?)",
            (TIME, b'{"gpu/0": 55.5, "loss": 7}'),
        )
    return path


def runs_of(path: Path, wanted: Sequence[str] | None = None) -> list[LoggedRun]:
    """Every run of a store."""
    (unit,) = trackio.find_units([path])
    return list(trackio.read(unit, wanted))


def test_a_store_is_read_exactly(tmp_path: Path) -> None:
    """Values in the order of writing; words for what JSON lacks; nested names; media are no metrics."""
    one, two = runs_of(store(tmp_path / "my-project.db"))
    assert (one.name, one.id, one.group) == ("one", "id one", "my-project")
    assert one.config == {"group": "g", "lr": 1e-05, "model.size": "7B"}
    assert set(one.metrics) == {"loss", "val/acc", "done", "eval.math.acc", 'é "quoted"', "gpu/0"}
    loss = one.metrics["loss"]
    assert loss.steps.tolist() == [0, 3, 2, 2]
    assert np.array_equal(loss.values, [0.5, math.nan, math.inf, -math.inf], equal_nan=True)
    assert loss.times is not None
    assert loss.times.tolist() == [MILLISECONDS] * 4
    assert one.metrics["done"].values.tolist() == [0]
    assert np.isnan(one.metrics["gpu/0"].steps).all()
    assert [finding.message for finding in one.findings] == ['1 value that is no number in "loss": left out']
    assert two.metrics["loss"].values.tolist() == [4]
    assert (two.config, two.findings) == ({}, ())


def test_only_wanted_metrics_are_kept(tmp_path: Path) -> None:
    """Names that JSON writes as they are, nested ones, and ones that it has to escape."""
    path = store(tmp_path / "p.db")
    everything = runs_of(path)[0].metrics
    for name, points in everything.items():
        one, two = runs_of(path, [name])
        assert list(one.metrics) == [name]
        assert np.array_equal(one.metrics[name].values, points.values, equal_nan=True)
        assert list(two.metrics) == (["loss"] if name == "loss" else [])
    assert set(runs_of(path, ["loss", "eval.math.acc"])[0].metrics) == {"loss", "eval.math.acc"}


def test_older_stores_know_a_run_by_its_name(tmp_path: Path) -> None:
    """Before version 0.24 there was no id, and a time had no zone: it is taken as UTC."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(OLD)
        connection.execute("INSERT INTO configs VALUES (1, 'three', '{\"seed\": 3}', '')")
        connection.executemany(
            "INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)",
            [(TIME.partition("+")[0], run, step, json.dumps(metrics)) for run, step, metrics in ROWS],
        )
    one, two, three = runs_of(path)
    assert [(run.name, run.id) for run in (one, two, three)] == [("one", ""), ("two", ""), ("three", "")]
    assert one.metrics["loss"].steps.tolist() == [0, 3, 2, 2]
    assert one.metrics["loss"].times is not None
    assert one.metrics["loss"].times[0] == MILLISECONDS
    assert (three.config, dict(three.metrics)) == ({"seed": 3}, {})


def test_two_runs_of_one_name_are_two(tmp_path: Path) -> None:
    """The id tells them apart, and the name may have changed on the way: the last one counts."""
    path = store(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE metrics SET run_name = 'two' WHERE run_id = 'id one' AND step > 0")
    assert [(run.name, run.id) for run in runs_of(path)] == [("two", "id one"), ("two", "id two")]


def test_a_killed_run_loses_nothing(tmp_path: Path) -> None:
    """Trackio writes ahead, so a killed program leaves its rows, and its tables, beside the database."""
    path, left = tmp_path / "p.db", tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.executescript(NEW)
        add_new(writer)
        for ending in ("", "-wal"):
            (left / f"p.db{ending}").write_bytes((tmp_path / f"p.db{ending}").read_bytes())
    before = {file.name: file.read_bytes() for file in left.iterdir()}
    (unit,) = trackio.find_units([left / "p.db"])
    assert [len(run.metrics["loss"].values) for run in trackio.read(unit)] == [4, 1]
    assert {file.name: file.read_bytes() for file in left.iterdir()} == before
    assert unit.files == (left / "p.db", left / "p.db-wal")

    # Half a record at the end of what was written ahead is none.
    frame = 24 + 4096
    (left / "p.db-wal").write_bytes(before["p.db-wal"][: -3 * frame - 100])
    assert [len(run.metrics["loss"].values) for run in trackio.read(unit)] == [3, 1]


def test_rows_that_are_no_json_are_counted(tmp_path: Path) -> None:
    """The others are read."""
    path = store(tmp_path / "p.db")
    deep = "[" * 100_000
    bad = [
        '{"loss": 1',
        "[1]",
        7,
        f'{{"loss": {deep}',
        b"\xff",
        f'{{"loss": {"9" * 400}}}',
        '{"loss": 1e999}',
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) "
            "VALUES ('id two', 'two', 7, 1, ?)",
            [(cell,) for cell in bad],
        )
    _, two = runs_of(path)
    assert two.metrics["loss"].values.tolist() == [4, math.inf]
    assert [finding.message for finding in two.findings] == [
        '1 value that is no number in "loss": left out',
        "5 of 8 rows of this run hold no whole JSON: left out",
    ]


def test_stores_are_known_by_their_tables(tmp_path: Path) -> None:
    """MLflow's are none of Trackio's, and Trackio's none of MLflow's; a damaged one in its folder is told."""
    path = store(tmp_path / "p.db")
    assert mlflow_sqlite.find_units([path]) == ()
    folder = tmp_path / "trackio"
    folder.mkdir()
    damaged = folder / "p.db"
    damaged.write_bytes(path.read_bytes()[:5000])
    (unit,) = trackio.find_units([damaged, tmp_path / "missing.db"])
    with pytest.raises(UnreadableError, match="damaged or cut short"):
        list(trackio.read(unit))
    with pytest.raises(UnreadableError, match="cannot be read"):
        list(trackio.read(Unit("trackio", tmp_path / "missing.db", ())))


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_mutated_store_gives_rows_or_an_error(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes of the database changed at will: no other exception leaves the reader."""
    original, path = tmp_path / "original.db", tmp_path / "p.db"
    if not original.exists():
        store(original)
    content = bytearray(original.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.one_of(st.integers(16, 200), st.integers(16, len(content) - 1)))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    for unit in trackio.find_units([path]):
        try:
            for run in trackio.read(unit):
                assert all(len(points.steps) == len(points.values) for points in run.metrics.values())
        except UnreadableError as error:
            assert error.message  # noqa: PT017 - either outcome is right
