"""Stores of MLflow and Trackio: what pages of cases cannot say of writers at work, and of memory."""

from __future__ import annotations

import math
import sqlite3
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from made_logs import MLFLOW, TRACKIO
from read_units import list_messages, list_points, list_units, read_unit

from reportgen.formats.runs import LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUN, OTHER = "a" * 32, "b" * 32
LOSS = b"1700000000000 0.5 0\n1700000000100 nan 1\n1700000000200 -inf 1\n1700000000300 1e-320 7\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 12\n"
RUNS = """
INSERT INTO experiments VALUES (1, 'pilot', 'active');
INSERT INTO runs VALUES ('a', 'one', 'FINISHED', 'active', 1), ('b', 'two', 'FINISHED', 'active', 1);
"""
Row = tuple[str, float, int, str, int, int]


def read(*files: Path, selected: Sequence[str] | None = None) -> list[LoggedRun]:
    """Every run of the one store in files or a folder."""
    (unit,) = list_units(*files)
    return [run for run in read_unit(unit, selected) if isinstance(run, LoggedRun)]


def write_run(store: Path, run: str = RUN, **metrics: bytes) -> Path:
    """A run as the file store of MLflow writes it, in the experiment 1."""
    folder = store / "1" / run
    (folder / "metrics").mkdir(parents=True)
    (folder / "meta.yaml").write_text(f"lifecycle_stage: active\nrun_id: {run}\nrun_name: x\nstatus: 3\n")
    for name, content in metrics.items():
        (folder / "metrics" / name).write_bytes(content)
    return folder


def make_rows(count: int, value: float = 0.5) -> list[Row]:
    """A metric of the first run on so many steps."""
    return [("loss", value, step, "a", step, 0) for step in range(count)]


def write_database(path: Path, rows: Sequence[Row] = ()) -> Path:
    """A database as MLflow makes it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(MLFLOW + RUNS)
        connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
    return path


def read_files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of the files of a folder."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


# Files


def test_only_chosen_metrics_are_opened(tmp_path: Path) -> None:
    """What nobody selects may be anything; settings are numbers where their texts are."""
    folder = write_run(tmp_path, loss=LOSS, other=POINTER)
    (folder / "params").mkdir()
    texts = ["3", "-0.5", "True", "007", "1.50", "nan", "inf", "9" * 5000, "\uff17", ""]
    for number, text in enumerate(texts):
        (folder / "params" / f"p{number}").write_text(text, encoding="utf-8")
    (run,) = read(tmp_path, selected=["loss"])
    assert (list(run.metrics), run.findings) == (["loss"], ())
    assert list(run.config.values()) == [3, -0.5, True, *texts[3:]]
    assert [type(value) for value in run.config.values()] == [int, float, bool, *[str] * 7]


def test_runs_in_the_trash_are_counted(tmp_path: Path) -> None:
    """Those of an experiment that was deleted."""
    write_run(tmp_path, loss=LOSS)
    write_run(tmp_path / ".trash", OTHER, loss=LOSS)
    (run,) = read(tmp_path)
    assert (run.id, len(run.findings)) == (RUN, 1)
    assert list_messages(run)[0].startswith("1 run of 2 is deleted in MLflow")


def test_a_metric_file_may_be_torn_anywhere(tmp_path: Path) -> None:
    """Cut at every byte: the whole lines before the tear, and the tear is reported; half a number is none."""
    folder = write_run(tmp_path, whole=LOSS)
    for cut in range(len(LOSS) + 1):
        (folder / "metrics" / "loss").write_bytes(LOSS[:cut])
        (run,) = read(tmp_path)
        steps = [step for step, _ in list_points(run).get("loss", [])]
        assert steps == [0, 1, 1, 7][: LOSS[:cut].count(b"\n")]
        torn = not LOSS[:cut].endswith(b"\n") and cut > 0
        assert any("the last line is torn" in message for message in list_messages(run)) == torn


def test_a_metric_file_is_read_in_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three doubles for each value, about twice while they are put together; and there is a limit."""
    lines = "".join(f"{1700000000000 + step} {step / 7} {step}\n" for step in range(200_000))
    write_run(tmp_path, loss=lines.encode())
    tracemalloc.start()
    (run,) = read(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.metrics["loss"].values.tolist() == [step / 7 for step in range(200_000)]
    assert peak < 4 * 3 * 8 * 200_000
    monkeypatch.setattr("reportgen.formats.trackers.mlflow_files.MOST_POINTS", 100_000)
    with pytest.raises(UnreadableError, match="more than 100,000 values"):
        read(tmp_path)


# Databases


def test_only_chosen_metrics_leave_a_database(tmp_path: Path) -> None:
    """Runs without them are still there; a limit on values is an error at the first beyond."""
    path = write_database(tmp_path / "mlflow.db", [*make_rows(2), ("acc", 0.5, 1, "a", 0, 0)])
    assert [list(run.metrics) for run in read(path, selected=["acc"])] == [["acc"], []]
    assert [list(run.metrics) for run in read(path, selected=[])] == [[], []]


def test_committed_rows_beside_a_database_are_read(tmp_path: Path) -> None:
    """What is in the -wal is not lost, and the folder stays as it was, byte for byte."""
    path = write_database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO metrics VALUES ('loss', 0.25, 1, 'a', 5, 0)")
        writer.execute("BEGIN")
        writer.execute("INSERT INTO metrics VALUES ('loss', 0.75, 2, 'a', 6, 0)")
        before = read_files(tmp_path)
        (unit,) = list_units(tmp_path)
        run = next(read_unit(unit))
        assert read_files(tmp_path) == before
    assert isinstance(run, LoggedRun)
    assert list_points(run) == {"loss": [(5, 0.25)]}
    assert [file.name for file in unit.files] == ["mlflow.db", "mlflow.db-wal"]


def test_half_a_transaction_is_rolled_back_in_the_copy(tmp_path: Path) -> None:
    """A program that was killed while it overwrote pages leaves a -journal that has the old ones."""
    live, left = write_database(tmp_path / "live.db", make_rows(2000)), tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(live, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE metrics SET value = 99.0")
        for ending in ("", "-journal"):
            (left / f"mlflow.db{ending}").write_bytes((tmp_path / f"live.db{ending}").read_bytes())
    before = read_files(left)
    assert b"\xd9\xd5\x05\xf9" in before["mlflow.db-journal"][0]
    assert set(read(left / "mlflow.db")[0].metrics["loss"].values.tolist()) == {0.5}
    assert read_files(left) == before


def test_a_locked_database_is_read(tmp_path: Path) -> None:
    """Whoever writes keeps its lock; what was committed is read beside it."""
    path = write_database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert len(read(path)) == 2


@pytest.mark.parametrize("copied", [True, False])
def test_a_database_that_changes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copied: bool
) -> None:
    """A copy of a small one is of one moment, also beyond what SQLite keeps; rows of a large one may miss."""
    if not copied:
        monkeypatch.setattr("reportgen.formats.sqlite._SMALL", 0)
    rows = [("loss", 0.5, step, run, step, 0) for run in "ab" for step in range(30_000)]
    path = write_database(tmp_path / "mlflow.db", rows)
    (unit,) = list_units(path)
    runs = read_unit(unit)
    next(runs)
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("UPDATE metrics SET value = 1 WHERE run_uuid = 'b' AND step % 2")
        writer.execute("INSERT INTO params VALUES ('late', '1', 'b')")
    (second,) = runs
    assert isinstance(second, LoggedRun)
    if copied:
        assert set(second.metrics["loss"].values.tolist()) == {0.5}
    assert any(message.startswith("the database was written to") for message in list_messages(second))


def test_a_database_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy whose parts are from two moments would be wrong, so there is none."""
    path = write_database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM params")
        moments = iter(range(100))
        monkeypatch.setattr("reportgen.formats.sqlite._read_state", lambda _: (next(moments), None))
        with pytest.raises(UnreadableError, match="written to all the time"):
            read(path)


def test_a_database_is_queried_once_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each run, a store of four thousand took half a minute: parameters have no index of runs."""
    path = write_database(tmp_path / "mlflow.db", [("loss", run, 1, f"{run:03}", 0, 0) for run in (9, 2, 5)])
    with closing(sqlite3.connect(path)) as connection, connection:
        for run in (9, 1, 5, 2):
            stage = "deleted" if run == 5 else "active"
            connection.execute("INSERT INTO runs VALUES (?, '', 'FINISHED', ?, 1)", (f"{run:03}", stage))
            connection.execute("INSERT INTO params VALUES ('n', ?, ?)", (str(run), f"{run:03}"))
    few, queries, connect = write_database(tmp_path / "few.db"), list[str](), sqlite3.connect

    def connect_traced(*words: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **options)  # type: ignore[call-overload]
        connection.set_trace_callback(queries.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_traced)
    found = {run.id: (run.config.get("n"), run.metrics) for run in read(path)}
    assert list(found) == ["a", "b", "009", "001", "002"]
    assert [number for number, _ in found.values()] == [None, None, 9, 1, 2]
    values = {run: metrics["loss"].values.tolist() for run, (_, metrics) in found.items() if metrics}
    assert values == {"009": [9], "002": [2]}
    count = len(queries)
    read(few)
    assert len(queries) == 2 * count


def write_trackio(connection: sqlite3.Connection) -> None:
    """Rows of two runs in tables of Trackio, one of them nested."""
    connection.executescript(TRACKIO)
    rows = [("one", step, f'{{"loss": {step}, "eval": {{"acc": 0.25}}}}') for step in (0, 3, 2)]
    rows += [("two", 0, '{"loss": 4, "\\u00e9 \\"q\\"": NaN}')]
    connection.executemany(
        "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) "
        "VALUES (?1, ?1, '2026-01-01T00:00:00', ?2, ?3)",
        rows,
    )


def test_chosen_metrics_of_trackio(tmp_path: Path) -> None:
    """Names that JSON writes as they are, nested ones, and ones that it has to escape."""
    path = tmp_path / "p.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        write_trackio(connection)
    names = ["loss", "eval.acc", 'é "q"']
    for name in names:
        assert [list(run.metrics) for run in read(path, selected=[name])] == [
            [name] if name != names[2] else [],
            [name] if name != names[1] else [],
        ]
    one, two = read(path, selected=names[:2])
    assert list_points(one) == {"loss": [(0, 0), (3, 3), (2, 2)], "eval.acc": [(n, 0.25) for n in (0, 3, 2)]}
    assert list(two.metrics) == ["loss"]
    assert math.isnan(read(path)[1].metrics[names[2]].values[0])


def test_a_killed_run_of_trackio_loses_nothing(tmp_path: Path) -> None:
    """It writes ahead, so a killed program leaves its rows, and its tables, beside the database."""
    path, left = tmp_path / "p.db", tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        write_trackio(writer)
        for ending in ("", "-wal"):
            (left / f"p.db{ending}").write_bytes((tmp_path / f"p.db{ending}").read_bytes())
    before = read_files(left)
    assert [len(run.metrics["loss"].values) for run in read(left)] == [3, 1]
    assert read_files(left) == before
    # Half a record at the end of what was written ahead is none.
    (left / "p.db-wal").write_bytes(before["p.db-wal"][0][:-100])
    assert [len(run.metrics["loss"].values) for run in read(left)] == [3]
