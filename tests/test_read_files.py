"""Files that somebody writes to or that may not be read: stores at work, links, names that are no text."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import sys
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from command_line import call, describe
from described_sources import list_messages, list_points, list_units, read_unit
from limited_disk import limited_disk
from made_files import copy_kept
from made_logs import MLFLOW, TRACKIO
from made_projects import write_file, write_report
from made_sources import LONG, Data

from reportgen.core.errors import ReportError
from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.read import open_source
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

RUN = "a" * 32
COPYING = "the database cannot be copied"
LOSS = b"1700000000000 0.5 0\n1700000000100 nan 1\n1700000000200 -inf 1\n1700000000300 1e-320 7\n"
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


def test_settings_are_numbers_where_their_texts_are(tmp_path: Path) -> None:
    """A text that says a number otherwise, or one that Python does not read, stays a text."""
    (write_run(tmp_path, loss=LOSS) / "params").mkdir()
    texts = ["3", "-0.5", "True", "007", "9" * 5000, "\uff17", ""]
    for number, text in enumerate(texts):
        (tmp_path / "1" / RUN / "params" / f"p{number}").write_text(text, encoding="utf-8")
    (run,) = read(tmp_path)
    assert list(map(repr, run.config.values())) == ["3", "-0.5", "True", *map(repr, texts[3:])]


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


@pytest.mark.slow
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
    monkeypatch.setattr("reportgen.formats.run_data.MOST_POINTS", 100_000)
    with pytest.raises(UnreadableError, match='the metric "loss" has more than 100,000 values'):
        read(tmp_path)


# Databases


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


def test_a_database_that_cannot_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no fault of the run, which would be left out where it may not be read."""
    (unit,) = list_units(write_database(tmp_path / "mlflow.db"))
    with limited_disk(1000), pytest.raises(ReportError, match=f"{COPYING}: File too large. Free some space"):
        list(read_unit(unit))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "copyfile", refuse)
    with pytest.raises(UnreadableError, match=f"{COPYING}: Permission denied") as raised:
        list(read_unit(unit))
    assert raised.value.problem.location.file == str(tmp_path / "mlflow.db")


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


# Files that may not be read, links, and names that are no text

UNREAD = "the file cannot be read: Permission denied; it is left out"


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a file or folder one that may not be read, for root too."""
    barred: set[str] = set()
    access, scandir = os.access, os.scandir

    def _scandir(path: os.PathLike[str]) -> os.ScandirIterator[str]:  # type: ignore[name-defined]
        if os.fspath(path) in barred:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) not in barred and access(path, mode))
    monkeypatch.setattr(os, "scandir", _scandir)
    return lambda path: barred.add(os.fspath(path))


def test_files_carry_size_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size and SHA-256, by the given function if there is one; links have none, and many are refused."""
    data = Data(tmp_path)
    (tmp_path / "data/s").mkdir(parents=True)
    (tmp_path / "data/s/latest.csv").symlink_to(data.write("s/run3.csv", LONG))
    assert [file.path for file in data.open("s").files] == ["data/s/run3.csv"]
    data.write("a.csv", "step,loss\n0,1\n")
    (file,) = data.open("a").files
    assert (file.size, file.sha256) == (14, hashlib.sha256(b"step,loss\n0,1\n").hexdigest())
    source = open_source(tmp_path, "data", "a", load_settings=load_source_settings, hashes=lambda _: "kept")
    assert source.files[0].sha256 == "kept"
    monkeypatch.setattr(sys.modules["reportgen.read.find"], "MOST_FILES", 3)
    for number in range(5):
        data.write(f"t/r{number}.csv", LONG)
    (problem,) = data.problems("t")
    assert problem.startswith("data/t: the folder holds more than 3 files. Name those to read with files:")


def test_a_link_that_may_not_be_asked_where_it_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of another user's process below ``/proc``; it is taken for a file of its own."""
    data = Data(tmp_path)
    target = data.write("t/a.csv", LONG)
    link = tmp_path / "data/s/b.csv"
    link.parent.mkdir()
    link.symlink_to(target)
    plain = os.path.realpath

    def realpath(path: str | Path, **options: bool) -> str:
        if str(path) == str(link):
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, **options)

    monkeypatch.setattr(os.path, "realpath", realpath)
    assert len(data.frame("s")) == LONG.count("\n") - 1


def test_a_folder_that_may_not_be_entered_is_told(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """The others are read; where there is nothing else it is an error."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    bar(data.write("s/closed/b.csv", LONG).parent)
    assert [file.path for file in data.open("s").files] == ["data/s/a.csv"]
    (told,) = [one for one in data.warnings("s") if "closed" in one]
    assert told.startswith("data/s/closed: the folder cannot be opened: Permission denied; it is left out.")
    bar(tmp_path / "data/s")
    assert data.problems("s")[0].startswith("data/s: the folder cannot be opened: Permission denied")


def test_files_that_may_not_be_read_are_left_out(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """Many of them in one sentence; files that hold no data are no matter."""
    data = Data(tmp_path)
    for place in range(6):
        data.write(f"s/r{place}.csv", LONG)
    bar(data.write("s/model.bin", "x"))
    bar(tmp_path / "data/s/r0.csv")
    assert [one for one in data.warnings("s") if "cannot" in one] == [
        f"data/s/r0.csv: {UNREAD}. Check who may read it, and where links lead."
    ]
    assert len(data.open("s").files) == 5
    for place in range(5):
        bar(tmp_path / f"data/s/r{place}.csv")
    (told,) = [one for one in data.warnings("s") if "cannot" in one]
    assert "; the same in 4 more: data/s/r" in told
    bar(tmp_path / "data/s/r5.csv")
    with pytest.raises(ReportError, match="Permission denied") as caught:
        data.open("s")
    assert all(problem.severity == "error" for problem in caught.value.problems)


@pytest.mark.parametrize(("kind", "ending"), [("lm-eval", "json"), ("trainer", "csv")])
def test_runs_beside_a_file_that_may_not_be_read(
    tmp_path: Path, kind: str, ending: str, bar: Callable[[Path], None]
) -> None:
    """A file of none of the runs that are found is told, and no table beside them."""
    data = Data(tmp_path)
    copy_kept(f"data/{kind}-example", tmp_path / "data" / kind)
    bar(data.write(f"{kind}/closed.{ending}", "x"))
    told = [one for one in data.warnings(kind) if "closed" in one]
    assert len(told) == 1
    assert UNREAD in told[0]


def test_a_metric_of_a_store_that_may_not_be_read(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """The runs of the store are read without it."""
    data = Data(tmp_path)
    data.write("s/mlruns/1/meta.yaml", "experiment_id: '1'\nname: tuning\n")
    for run in ("a" * 32, "b" * 32):
        data.write(f"s/mlruns/1/{run}/meta.yaml", f"run_id: {run}\nrun_name: {run[0]}\nstatus: 3\n")
        for metric in ("loss", "acc"):
            data.write(f"s/mlruns/1/{run}/metrics/{metric}", "1700000000000 0.5 0\n1700000001000 0.25 1\n")
    assert len(data.frame("s")) == 8
    bar(tmp_path / f"data/s/mlruns/1/{'a' * 32}/metrics/acc")
    assert len(data.frame("s")) == 6
    assert f"data/s/mlruns/1/{'a' * 32}/metrics/acc: {UNREAD}" in data.warnings("s")[0]
    bar(tmp_path / f"data/s/mlruns/1/{'a' * 32}/meta.yaml")
    told = [one for one in data.warnings("s") if "meta.yaml" in one]
    assert len(data.frame("s")) == 6
    assert not any("it is left out" in one for one in told)


def test_a_folder_that_many_links_lead_to_is_walked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two links to each of ten folders would make a thousand ways."""
    for level in range(11):
        (tmp_path / f"data/d{level}").mkdir(parents=True)
        for name in ("a", "b"):
            (tmp_path / f"data/d{level}" / name).symlink_to(tmp_path / f"data/d{level + 1}")
    data = Data(tmp_path)
    data.write("d11/x.csv", LONG)
    scandir, seen = os.scandir, []

    def counted(path: Path) -> object:
        seen.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    assert len(data.frame("d0")) == LONG.count("\n") - 1
    assert len(set(seen)) == 12


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """A log is read, with a mark for each such byte; the database cannot open a table, and no page is one."""
    odd, folder = os.fsdecode(b"b\xe9"), tmp_path / "runs"
    folder.mkdir()
    for name in ("a", odd):
        (folder / f"{name}.jsonl").write_text('{"step": 0, "data": {"loss": 1}}\n')
    described = describe(tmp_path, "runs")
    assert [run["series"] for run in described["runs"]] == ["a", "b?"]
    root = write_report(tmp_path / "report")
    for name in ("a", odd):
        write_file(root / f"data/t/{name}.csv", "step,loss\n0,1\n1,2\n")
    (root / "content/index.md").rename(root / f"content/{odd}.md")
    for words, name in ((("describe", "data/t"), "data/t/b?.csv"), (("check",), "content/b?.md")):
        done = call(root, *words)
        assert re.search(
            rf"{re.escape(name)}: error: the name of .* has bytes that are not UTF-8", done.stdout
        )
        assert done.returncode == 1
