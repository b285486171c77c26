"""MLflow's two stores: what was logged is what is read, and nothing else is touched."""

from __future__ import annotations

import math
import sqlite3
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reportgen.formats.runs import Finding, LoggedRun, UnreadableError
from reportgen.formats.trackers import mlflow_files, mlflow_sqlite
from reportgen.formats.trackers.mlflow_files import parse_setting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.formats.runs import Points

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 12\n"
RUN, OTHER = "a" * 32, "b" * 32
LOSS = b"1700000000000 0.5 0\n1700000000100 nan 1\n1700000000200 -inf 1\n1700000000300 1e-320 7\n"

# As the writers' migrations leave the tables (mlflow/store/db_migrations), without what is not read.
SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256) NOT NULL UNIQUE,
    lifecycle_stage VARCHAR(32));
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9),
    lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
    run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT metric_pk PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE TABLE params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
    PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL,
    PRIMARY KEY (key, run_uuid));
INSERT INTO experiments VALUES (1, 'pilot', 'active'), (2, 'gone', 'deleted');
INSERT INTO runs VALUES ('a', 'column name', 'FINISHED', 'active', 1), ('b', '', 'KILLED', 'active', 1),
    ('c', 'x', 'FINISHED', 'deleted', 1), ('d', 'y', 'FINISHED', 'active', 2);
INSERT INTO tags VALUES ('mlflow.runName', 'shown name', 'b'), ('team', 'blue', 'b');
INSERT INTO params VALUES ('lr', '1e-05', 'a'), ('model/size', '7B', 'a');
"""
HUGE = 1.7976931348623157e308
ROWS = [
    ("loss", 0.5, 1700000000000, "a", 0, 0),
    ("acc", 0.1, 1700000000001, "a", 0, 0),
    ("loss", 0.0, 1700000000002, "a", 3, 1),
    ("loss", HUGE, 1700000000003, "a", 2, 0),
    ("loss", -HUGE, 1700000000004, "a", 2, 0),
    ("loss", 5e-324, 1700000000005, "a", 2, 0),
    ("loss", 9.0, 1700000000006, "b", 0, 0),
]


def run_folder(store: Path, run: str = RUN, meta: str = "", **metrics: bytes) -> Path:
    """A run as the file store writes it, in the experiment 1."""
    folder = store / "1" / run
    for name in ("metrics", "params", "tags"):
        (folder / name).mkdir(parents=True)
    (folder / "meta.yaml").write_text(
        f"experiment_id: '1'\nlifecycle_stage: active\nrun_id: {run}\nrun_name: given name\nstatus: 3\n{meta}"
    )
    for name, content in metrics.items():
        (folder / "metrics" / name).write_bytes(content)
    return folder


def experiment(store: Path, name: str = "pilot", number: str = "1") -> None:
    """What an experiment's folder says of itself."""
    (store / number).mkdir(parents=True, exist_ok=True)
    (store / number / "meta.yaml").write_text(
        f"artifact_location: x\nexperiment_id: '{number}'\nlifecycle_stage: active\nname: {name}\n"
    )


def database(path: Path, rows: Sequence[tuple[Any, ...]] = ROWS) -> Path:
    """A database as MLflow makes it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
    return path


def below(folder: Path) -> list[Path]:
    """All files below a folder in a stable order."""
    return sorted(file for file in folder.rglob("*") if file.is_file())


def from_files(store: Path, wanted: Sequence[str] | None = None) -> list[LoggedRun]:
    """Every run of the one store below a folder."""
    (unit,) = mlflow_files.find_units(below(store))
    return list(mlflow_files.read(unit, wanted))


def from_database(path: Path, wanted: Sequence[str] | None = None) -> list[LoggedRun]:
    """Every run of a database."""
    (unit,) = mlflow_sqlite.find_units([path])
    return list(mlflow_sqlite.read(unit, wanted))


def told(findings: Sequence[Finding]) -> list[str]:
    """What was found, in words."""
    return [finding.message for finding in findings]


def same(points: Points, steps: Sequence[float], values: Sequence[float], times: Sequence[float]) -> bool:
    """Whether the points are exactly these; NaN is itself."""
    assert points.times is not None
    pairs = ((points.steps, steps), (points.values, values), (points.times, times))
    return all(np.array_equal(got, np.array(want, float), equal_nan=True) for got, want in pairs)


def test_a_file_store_is_read_exactly(tmp_path: Path) -> None:
    """Values, steps and times as written; a slash in a name is a folder; settings and names beside them."""
    store = tmp_path / "mlruns"
    experiment(store, "'1e3'")
    folder = run_folder(store, loss=LOSS)
    (folder / "metrics" / "val" / "deep").mkdir(parents=True)
    (folder / "metrics" / "val" / "deep" / "acc top-5").write_bytes(b"1700000000000 0.1 3\n")
    for name, text in {
        "lr": "1e-05",
        "seed": "3",
        "flag": "True",
        "id": "007",
        "text": "two\nlines é",
    }.items():
        (folder / "params" / name).write_text(text, encoding="utf-8")
    (folder / "params" / "model").mkdir()
    (folder / "params" / "model" / "size").write_text("7B")
    (folder / "tags" / "mlflow.runName").write_text("shown name")
    (folder / "tags" / "mlflow.user").write_text("me")
    (folder / "tags" / "team").write_text("blue")
    (folder / "artifacts").mkdir()
    (folder / "artifacts" / "metrics").write_text("no metric")

    (run,) = from_files(store)

    assert (run.name, run.id, run.group, run.path) == ("shown name", RUN, "1e3", folder)
    assert run.config == {
        "lr": 1e-05,
        "seed": 3,
        "flag": True,
        "id": "007",
        "text": "two\nlines é",
        "model/size": "7B",
        "tags.team": "blue",
    }
    assert sorted(run.metrics) == ["loss", "val/deep/acc top-5"]
    times = [1700000000000, 1700000000100, 1700000000200, 1700000000300]
    assert same(run.metrics["loss"], [0, 1, 1, 7], [0.5, math.nan, -math.inf, 1e-320], times)
    assert same(run.metrics["val/deep/acc top-5"], [3], [0.1], [1700000000000])
    assert run.findings == ()


def test_settings_keep_their_text() -> None:
    """A number is one only where its text would be written again: 007, 1.50 and nan stay texts."""
    texts = [
        "3",
        "-0.5",
        "1e-05",
        "True",
        "False",
        "007",
        "1.50",
        "1_0",
        "nan",
        "inf",
        "9" * 5000,
        "",
        "\uff17",
    ]
    assert [str(parse_setting(text)) for text in texts] == texts
    assert [type(parse_setting(text)).__name__ for text in texts[:5]] == [
        "int",
        "float",
        "float",
        "bool",
        "bool",
    ]
    assert all(isinstance(parse_setting(text), str) for text in texts[5:10])


@pytest.mark.parametrize("name", ["1e3", "null", "2024-01-01", "0x10"])
def test_an_experiment_may_be_called_like_a_value(tmp_path: Path, name: str) -> None:
    """MLflow writes some of these without quotes, and they are names all the same."""
    experiment(tmp_path, f"'{name}'")
    run_folder(tmp_path, loss=LOSS)
    assert from_files(tmp_path)[0].group == name
    experiment(tmp_path, "1e3")
    assert from_files(tmp_path)[0].group == "1e3"


def test_deleted_runs_are_left_out_and_told(tmp_path: Path) -> None:
    """A run that was deleted, and one in an experiment that was, are counted and not read."""
    store = tmp_path / "mlruns"
    experiment(store)
    run_folder(store, loss=LOSS)
    run_folder(store, OTHER, "", loss=LOSS)
    meta = store / "1" / OTHER / "meta.yaml"
    meta.write_text(meta.read_text().replace("active", "deleted"))
    trash = store / ".trash"
    experiment(trash, "gone", "2")
    run_folder(trash, "c" * 32, loss=LOSS).rename(trash / "2" / ("c" * 32))

    (run,) = from_files(store)
    assert run.id == RUN
    assert told(run.findings) == ["2 runs of 3 are deleted in MLflow: left out"]

    meta = store / "1" / RUN / "meta.yaml"
    meta.write_text(meta.read_text().replace("active", "deleted"))
    with pytest.raises(UnreadableError, match="all 3 runs of this store are deleted"):
        from_files(store)


def test_a_metric_file_may_be_torn_anywhere(tmp_path: Path) -> None:
    """Cut at every byte: the whole lines before the tear, and the tear is told; half a number is none."""
    file = tmp_path / "loss"
    for cut in range(len(LOSS) + 1):
        file.write_bytes(LOSS[:cut])
        points, findings = mlflow_files.read_metric(file)
        whole = LOSS[:cut].count(b"\n")
        steps = [] if points is None else points.steps.tolist()
        assert steps == [0, 1, 1, 7][:whole]
        torn = not LOSS[:cut].endswith(b"\n") and cut > 0
        assert any("the last line is torn" in message for message in told(findings)) == torn
    file.write_bytes(LOSS[:30])
    expected = (
        "the last line is torn, as when a run is killed or still writing: the 1 whole one before it is read"
    )
    assert told(mlflow_files.read_metric(file)[1]) == [expected]


def test_lines_of_other_versions(tmp_path: Path) -> None:
    """Two fields are seconds and a value without a step; five name a dataset, and two datasets are told."""
    file = tmp_path / "loss"
    file.write_bytes(b"1500000000 0.5\n1500000001 0.25\n")
    points, _ = mlflow_files.read_metric(file)
    assert points is not None
    assert same(points, [math.nan] * 2, [0.5, 0.25], [1500000000000, 1500000001000])

    file.write_bytes(b"1700000000000 0.5 1 train ab12\n1700000000000 0.75 1 test set cd34\n")
    points, findings = mlflow_files.read_metric(file)
    assert points is not None
    assert points.values.tolist() == [0.5, 0.75]
    assert told(findings) == [
        'values for 2 datasets ("train" and "test set") stand under one name, as one curve'
    ]


def test_only_wanted_metrics_are_opened(tmp_path: Path) -> None:
    """What nobody asked for may be anything."""
    run_folder(tmp_path, loss=LOSS, other=POINTER)
    (run,) = from_files(tmp_path, ["loss"])
    assert list(run.metrics) == ["loss"]
    assert run.findings == ()
    (run,) = from_files(tmp_path)
    assert list(run.metrics) == ["loss"]
    assert told(run.findings) == [
        "it is a Git LFS pointer, not the data themselves: left out. Run git lfs pull"
    ]


def test_pointers_of_git_lfs_say_what_to_do(tmp_path: Path) -> None:
    """A store that was not fetched is an error with its next step, whichever of its files are missing."""
    folder = run_folder(tmp_path, loss=POINTER)
    with pytest.raises(UnreadableError) as error:
        from_files(tmp_path)
    assert error.value.next_step == "Run git lfs pull"
    (folder / "meta.yaml").write_bytes(POINTER)
    with pytest.raises(UnreadableError, match="Git LFS pointer"):
        from_files(tmp_path)
    path = tmp_path / "mlflow.db"
    path.write_bytes(POINTER)
    with pytest.raises(UnreadableError) as error:
        from_database(path)
    assert error.value.next_step == "Run git lfs pull"


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    """A tag is read over; a file that is no YAML costs the run its name, not its values."""
    mark = tmp_path / "mark"
    meta = f"evil: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]\n"
    folder = run_folder(tmp_path / "mlruns", meta=meta, loss=LOSS)
    (run,) = from_files(tmp_path)
    assert run.name == "given name"
    assert not mark.exists()
    (folder / "meta.yaml").write_text(f"run_id: {RUN}\nname: [\n")
    (run,) = from_files(tmp_path)
    assert (run.name, run.id, list(run.metrics)) == ("", RUN, ["loss"])
    unknown = "what it says of the run (its end, whether it was deleted) is unknown"
    assert told(run.findings) == [f"a bracket is opened and not closed: {unknown}"]


def test_stores_are_told_apart(tmp_path: Path) -> None:
    """A unit is a store; models and artifacts are none, and the path is never above what was named."""
    for name in ("one", "two"):
        experiment(tmp_path / name)
        run_folder(tmp_path / name, loss=LOSS)
    model = tmp_path / "one" / "1" / "models" / "m-1"
    (model / "metrics").mkdir(parents=True)
    (model / "meta.yaml").write_text("experiment_id: '1'\nmodel_id: m-1\nsource_run_id: x\n")
    (model / "metrics" / "acc").write_text("1 0.5 3 run\n")
    (tmp_path / "one" / "1" / RUN / "artifacts").mkdir()
    (tmp_path / "one" / "1" / RUN / "artifacts" / "big.bin").write_text("x")

    first, second = mlflow_files.find_units(below(tmp_path))
    assert (first.path, second.path) == (tmp_path / "one", tmp_path / "two")
    assert sorted(file.name for file in first.files) == ["loss", "meta.yaml", "meta.yaml"]
    for named in (tmp_path / "one" / "1", tmp_path / "one" / "1" / RUN):
        (unit,) = mlflow_files.find_units(below(named))
        assert unit.path == named
        assert [run.id for run in mlflow_files.read(unit)] == [RUN]


def test_a_file_store_is_read_in_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three doubles for each value, about twice while they are put together; and there is a limit."""
    file = tmp_path / "loss"
    file.write_text("".join(f"{1700000000000 + step} {step / 7} {step}\n" for step in range(200_000)))
    tracemalloc.start()
    points, _ = mlflow_files.read_metric(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert points is not None
    assert points.values.tolist() == [step / 7 for step in range(200_000)]
    assert peak < 4 * 3 * 8 * 200_000

    monkeypatch.setattr(mlflow_files, "MOST_POINTS", 100_000)
    with pytest.raises(UnreadableError, match="more than 100,000 values"):
        mlflow_files.read_metric(file)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files_give_values_or_an_error(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes of a metric and of a run's description changed at will: no other exception leaves the reader."""
    folder = tmp_path / "1" / RUN
    if not folder.exists():
        run_folder(tmp_path)
        experiment(tmp_path)
        (folder / "meta.yaml").rename(tmp_path / "meta")
    meta = (tmp_path / "meta").read_bytes()
    (folder / "metrics" / "loss").write_bytes(mutated(data, LOSS))
    (folder / "meta.yaml").write_bytes(b"run_id: a\n" + mutated(data, meta))
    for unit in mlflow_files.find_units(below(tmp_path)):
        try:
            for run in mlflow_files.read(unit):
                assert all(len(points.steps) == len(points.values) for points in run.metrics.values())
        except UnreadableError as error:
            assert error.message  # noqa: PT017 - either outcome is right


def mutated(data: st.DataObject, content: bytes) -> bytes:
    """Some bytes replaced, put in or taken out, and possibly the end cut off."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(changed)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    return bytes(changed[: data.draw(st.integers(0, 2 * len(changed)))])
