"""What is read, when, and how often: only what a question is about, and what is kept for the next one."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import zipfile
from typing import IO, TYPE_CHECKING, Any

import duckdb
import pytest
from made_files import KINDS
from made_sources import LONG, Data, measurements

import reportgen as rg
from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.formats.registry import find_reader, load_code
from reportgen.read import (
    make_frame,
    open_path,
    open_source,
    read_measurements,
    read_raw_frame,
)
from reportgen.read.queries.reduce import reduce, reduce_large
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.inputs import Source


def write_statement(data: Data, name: str, *metrics: str, series: tuple[str, ...] | None = None) -> str:
    """The statement that reads metrics of a source."""
    table = read_measurements(data.root, data.open(name), metrics, series=series)
    statement: str = table.frame.to_native().sql_query()
    return statement


def test_nothing_is_read_before_the_frame_is_collected(tmp_path: Path) -> None:
    """What is wrong deep inside a file comes up when rows are read, and is told with its line."""
    data = Data(tmp_path)
    text = "model,step,loss\n" + "A,1,0.5\n" * 5_000
    data.write("a.csv", text + "A,2,oops\n" + "A,3,0.5\n" * 5_000)
    table = read_measurements(tmp_path, data.open("a"), ("loss",))
    with pytest.raises(ReportError, match=r'data/a\.csv:5002: "oops" in column "loss"'), table.reading():
        reduce(table)


def test_only_the_wanted_columns_are_read(tmp_path: Path) -> None:
    """A wide table may be broken in columns that nobody selects; text is read once."""
    data = Data(tmp_path)
    names = [f"m{number}" for number in range(120)]
    rows = [
        ",".join(["A", str(step), *(["1.5"] * 119), "oops" if step == 150 else "2"]) for step in range(200)
    ]
    data.write("a.csv", "\n".join([",".join(["model", "step", *names]), *rows]))
    assert len(data.open("a").metrics) == 120
    assert set(data.frame("a", "m0", "m118")["value"]) == {1.5}
    assert write_statement(data, "a", "m7").count(" AS k") == 3
    assert data.problems("a", "m119") == [
        'data/a.csv:152: "oops" in column "m119" is not a number. Mend it, or leave the cell empty.'
    ]
    for name, text in (("wide", "step,a,b,c\n0,1,2,3\n"), ("long", LONG)):
        data.write(f"{name}.csv", text)
        assert write_statement(data, name, *data.open(name).metrics).count("read_csv(") == 1


@pytest.mark.parametrize("metrics", [("m1",), ("m1", "m2")])
def test_parquet_gives_up_single_columns(tmp_path: Path, metrics: tuple[str, ...]) -> None:
    """Of a Parquet file the plan names the wanted columns alone, and all rows come in order of writing."""
    data = Data(tmp_path)
    wide = ", ".join(f"i * {number} AS m{number}" for number in range(50))
    for name in ("p1", "p2"):
        select = f"SELECT 'A' AS model, i AS step, {wide} FROM range(1_000) AS t(i)"  # noqa: S608 - a test's own
        data.parquet(f"s/{name}.parquet", select)
    source = data.open("s")
    table = read_measurements(tmp_path, source, metrics)
    explained = table.frame.to_native().explain()
    assert "m49" not in explained
    rows = table.frame.to_native().fetchnumpy()
    assert len(rows["row"]) == 2_000 * len(metrics)
    assert len(set(rows["row"])) == 2_000
    assert list(rows["step"][rows["row"].argsort(kind="stable")][:: len(metrics)]) == [*range(1_000)] * 2


def test_the_frame_has_the_promised_columns_and_types(tmp_path: Path) -> None:
    """Column names and types are those that statistics rely on, whatever the format."""
    data = Data(tmp_path)
    data.write("a.csv", LONG)
    data.write("w.csv", "model,step,a,b\nA,0,1,2\n")
    data.parquet(
        "b.parquet", "SELECT 'A' AS model, 1::TINYINT AS seed, 0::UINTEGER AS step, 1::DECIMAL(9,3) AS a"
    )
    data.write("c.json", '{"step": [0, 1], "a": [1, 2]}')
    for name in "awbc":
        source = data.open(name)
        for question in (source.metrics, source.metrics[:1], ()):
            native = read_measurements(tmp_path, source, question).frame.to_native()
            assert native.columns == ["series", "run", "seed", "metric", "step", "value", "row"]
            types = ["VARCHAR"] * 4 + ["DOUBLE", "DOUBLE", "BIGINT"]
            assert list(map(str, native.types)) == types


def test_measurements_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Tables of one process can be read in any order, each more than once."""
    data = Data(tmp_path)
    data.write("a.csv", LONG)
    data.write("b.csv", "step,loss\n0,7\n")
    tables = [read_measurements(tmp_path, data.open(name), ("loss",)) for name in "abab"]
    sizes = [len(table.frame.collect()) for table in reversed(tables)]
    assert sizes == [1, 6, 1, 6]
    assert len(tables[0].frame.collect()) == 6


def test_a_source_that_somebody_else_made_is_refused(tmp_path: Path) -> None:
    """A Source without a layout is a fault of ours, not of the user's."""
    from msgspec.structs import replace  # noqa: PLC0415

    data = Data(tmp_path)
    data.write("a.csv", LONG)
    with pytest.raises(TypeError, match="not opened by"):
        read_measurements(tmp_path, replace(data.open("a"), layout=None), ("loss",))


@pytest.mark.slow
def test_a_process_ends_quietly(tmp_path: Path) -> None:
    """Nothing is printed when the interpreter ends, and no temporary folder stays."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nA,0,1\nA,1,2\nA,2")
    program = (
        "import tempfile\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "from reportgen.read import make_frame, open_path, read_measurements\n"
        "from reportgen.settings.loading import load_source_settings\n"
        f"root, source = open_path({str(tmp_path / 'data/a.csv')!r}, load_settings=load_source_settings)\n"
        "print(len(make_frame(read_measurements(root, source, source.metrics))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_file_that_vanishes_or_breaks_is_told(tmp_path: Path) -> None:
    """Between opening and reading; a failure that no row accounts for has the database's words."""
    data = Data(tmp_path)
    path = data.write("a.csv", LONG)
    source = data.open("a")
    path.unlink()
    with pytest.raises(ReportError, match=r"data/a\.csv: the file cannot be read"):
        read_measurements(tmp_path, source, ("loss",))
    path = data.parquet("b.parquet", "SELECT i AS step, i AS loss FROM range(5000) AS t(i)")
    table = read_measurements(tmp_path, data.open("b"), ("loss",))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ReportError, match=r"data/b\.parquet: the data cannot be read: "), table.reading():
        reduce(table)


# ---- archives and logs of runs ----------------------------------------------------------------------------


def reopen(data: Data) -> Source:
    """The source ``s``, with what earlier openings kept."""
    cache = Cache(data.root / "cache")
    return open_source(data.root, "data", "s", load_settings=load_source_settings, cache=cache)


RUNS = "".join(f"%% runs/base_seed{seed}.csv\nstep,loss\n1,{seed}.5\n2,{seed}.25\n" for seed in (1, 2, 3))


def test_members_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cache they come as long as the archive is the same and all of them are there."""
    cache = Cache(tmp_path / "cache")
    Data(tmp_path).write("s.zip", KINDS["zip"](RUNS))
    reads: list[str] = []
    real = zipfile.ZipFile.open

    def read(self: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
        reads.append(member.filename)
        return real(self, member)

    monkeypatch.setattr(zipfile.ZipFile, "open", read)

    def count() -> int:
        source = open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
        assert len(make_frame(read_measurements(tmp_path, source, source.metrics))) == 6
        return len(reads)

    assert (count(), count()) == (3, 3)
    next((tmp_path / "cache").rglob("base_seed1.csv")).unlink()
    assert count() == 6
    cache.prune(-1)
    assert not list((tmp_path / "cache").rglob("*.csv"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that the reader of lines with steps has read."""
    reader, names = _load_reader(), list[str]()
    plain = reader.read

    def read(unit: Any) -> Any:  # noqa: ANN401 - passed on
        names.append(unit.path.name)
        yield from plain(unit)

    monkeypatch.setattr(reader, "read", read)
    return names


def _load_reader() -> Any:  # noqa: ANN401 - a module
    form = find_reader("step_json")
    assert form is not None
    return load_code(form)


def write_runs(root: Path, **runs: list[float]) -> Data:
    """A source ``s`` of logs with one metric."""
    data = Data(root)
    for name, values in runs.items():
        rows = ({"step": step, "data": {"loss": value}} for step, value in enumerate(values))
        data.write(f"s/{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    return data


def test_the_files_of_loggers_are_the_provenance(tmp_path: Path) -> None:
    """A source names the files that were there, not those in the cache; its digest changes with them."""
    data = write_runs(tmp_path, a=[1, 2], b=[3, 4])
    source = reopen(data)
    assert [file.path for file in source.files] == ["data/s/a.jsonl", "data/s/b.jsonl"]
    assert source.files[0].size == (tmp_path / "data/s/a.jsonl").stat().st_size
    write_runs(tmp_path, a=[1, 3])
    assert reopen(data).digest != source.digest


def test_each_log_is_read_once(tmp_path: Path, reads: list[str]) -> None:
    """A file that changes is read alone, names are no reason to read again, and lost rows are one."""
    data = write_runs(tmp_path, a=[1, 2], b=[3, 4])
    reopen(data)
    data.write("s/source.yml", "series_from: [folder]\n")
    reopen(data)
    assert reads == ["a.jsonl", "b.jsonl"]
    write_runs(tmp_path, a=[9])
    source = reopen(data)
    assert reads[2:] == ["a.jsonl"]
    assert make_frame(read_measurements(tmp_path, source, ("loss",)))["value"].tolist() == [9, 3, 4]
    for part in (tmp_path / "cache").rglob("*.parquet"):
        part.unlink()
    reopen(data)
    assert reads[3:] == ["a.jsonl", "b.jsonl"]


def test_a_notebook_reads_a_log_once(tmp_path: Path, reads: list[str]) -> None:
    """Without a cache the rows are in a temporary folder, and an unchanged file is read once a process."""
    write_runs(tmp_path, seed_1=[1.25, 2], seed_2=[3, 4])
    root, source = open_path(tmp_path / "data/s", load_settings=load_source_settings)
    _, again = open_path(tmp_path / "data/s", load_settings=load_source_settings)
    assert source == again
    assert reads == ["seed_1.jsonl", "seed_2.jsonl"]
    assert read_raw_frame(root, source)["series"].tolist() == ["s"] * 4


def test_a_file_that_grows_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: list[str]
) -> None:
    """What is there is read, and not taken for the whole next time."""
    data = write_runs(tmp_path, a=[1, 2])
    reader = _load_reader()
    plain = reader.read

    def read(unit: Any) -> Any:  # noqa: ANN401 - passed on
        yield from plain(unit)
        os.utime(tmp_path / "data/s/a.jsonl", ns=(0, len(reads)))

    with monkeypatch.context() as patch:
        patch.setattr(reader, "read", read)
        reopen(data)
    assert len(make_frame(read_measurements(tmp_path, reopen(data), ("loss",)))) == 2
    assert reads == ["a.jsonl", "a.jsonl"]


def test_one_run_that_may_not_be_read_does_not_take_the_others_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out and reported with its file, as long as any can be read."""
    data, closed = write_runs(tmp_path, a=[1.125, 2], b=[3, 4]), {"a.jsonl"}
    reader = _load_reader()
    plain = reader.read

    def read(unit: Any) -> Any:  # noqa: ANN401 - passed on
        if unit.path.name in closed:
            raise PermissionError(13, "Permission denied", str(unit.path))
        yield from plain(unit)

    monkeypatch.setattr(reader, "read", read)
    why = "the file cannot be read: Permission denied"
    assert data.warnings("s")[0].startswith(f"data/s/a.jsonl: {why}; this run is left out.")
    assert [file.path for file in data.open("s").files] == ["data/s/b.jsonl"]
    closed.add("b.jsonl")
    write_runs(tmp_path, b=[0, 9])
    assert [one.partition(". ")[0] for one in data.problems("s")] == [
        f"data/s/{name}.jsonl: {why}" for name in "ab"
    ]


def test_many_points_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the parts are, the rows and their order are the same."""
    runs = {name: [place + step / 8 for step in range(60)] for place, name in enumerate("abc")}
    data = write_runs(tmp_path, **runs)
    whole = data.frame("s")
    monkeypatch.setattr(sys.modules["reportgen.read.runs.stored"], "_ROWS_OF_A_PART", 7)
    cache = Cache(tmp_path / "other")
    parted = open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
    assert len(parted.layout.files) > 20  # type: ignore[attr-defined]
    assert make_frame(read_measurements(tmp_path, parted, parted.metrics)).equals(whole)
    assert len(whole) == 180


@pytest.mark.slow
def test_a_report_of_parquet_imports_no_reader(tmp_path: Path) -> None:
    """Nobody pays for formats that a report does not have."""
    Data(tmp_path).parquet("s/a.parquet", "SELECT 1 AS step, 2 AS loss")
    code = (
        "import sys; from pathlib import Path; from reportgen.read import open_source\n"
        "from reportgen.settings.loading import load_source_settings as load\n"
        "open_source(Path(sys.argv[1]), 'data', 's', load_settings=load)\n"
        "print([name for name in sys.modules if 'formats.trackers.' in name or 'formats.logs.' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# ---- tables that are frozen where they lie, here on DuckDB: tests/spark has the same on Spark and Polars ---


def refuse(folder: Path, table: duckdb.DuckDBPyRelation, metric: str = "loss") -> str:
    """The problem with a table that cannot be frozen, of which nothing is written."""
    with pytest.raises(ReportError) as error:
        rg.freeze(table, folder, metrics=[metric])
    assert not folder.exists() or not list(folder.iterdir())
    (problem,) = error.value.problems
    return problem.text


def test_points_are_those_of_the_large_reduction(tmp_path: Path) -> None:
    """What is frozen is what a build computes of the whole table, bit by bit."""
    values = [math.sin(place) * 10.0 ** (place % 9) for place in range(2000)]
    rows = [{"step": float(place), "value": value} for place, value in enumerate(values)]
    expected = reduce_large(measurements(rows), max_points=50, smooth=0)["score"].runs[0]
    table = duckdb.connect()
    table.execute(
        "CREATE TABLE t AS SELECT unnest($steps) AS step, unnest($values) AS score",
        {"steps": [row["step"] for row in rows], "values": values},
    )
    rg.freeze(table.table("t"), tmp_path / "t", value="score", reduce=50)
    found = duckdb.read_parquet(str(tmp_path / "t/points.parquet")).fetchnumpy()
    assert found["value"].tolist() == expected.values.tolist()
    assert found["step"].tolist() == expected.steps.tolist()
    assert expected.counts is not None
    assert found["steps_in_bin"].tolist() == expected.counts.tolist()


def test_what_cannot_be_frozen_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old engine, more runs or points than a client can hold, and a table that is written to."""
    connection, fetch = duckdb.connect(), reduce_large.__globals__["fetch"]

    def raise_version(*_: object, **__: object) -> None:
        raise ValueError("Minimum version of duckdb supported by Narwhals is (1, 1), found: (0, 9)")

    runs = connection.sql("SELECT i AS run, 1 AS step, 1.5::DOUBLE AS loss FROM range(101) r(i)")
    points = connection.sql(
        "SELECT 'm' || i % 6 AS model, i // 6 AS step, sin(i) AS loss FROM range(6000) r(i)"
    )
    with monkeypatch.context() as patch:
        patch.setattr("narwhals.from_native", raise_version)
        assert "found: (0, 9). Install a newer version of it" in refuse(tmp_path / "x", runs)
    with monkeypatch.context() as patch:
        patch.setattr("reportgen.notebook.freezing.MOST_POINTS", 1000)
        words = "more than 100 runs of metrics are left of the table. Lower reduce=, or freeze a part"
        assert words in refuse(tmp_path / "x", runs)
        assert "more than 1,000 points of one metric are left" in refuse(tmp_path / "x", points)
        rg.freeze(points, tmp_path / "fewer", metrics=["loss"], reduce=100)
    with monkeypatch.context() as patch:
        patch.setattr("reportgen.notebook.frozen_outcomes.MOST_ANSWERS", 5)
        answers = connection.sql("SELECT 'm' AS model, i AS problem, 1 AS score FROM range(6) r(i)")
        with pytest.raises(ReportError, match="the table has more than 5 answers"):
            rg.freeze(answers, tmp_path / "answers", problem="problem")
    connection.execute("CREATE TABLE rows AS SELECT i AS step, i::DOUBLE AS loss FROM range(9) r(i)")

    def write(*arguments: Any) -> Any:  # noqa: ANN401 - what is passed on
        connection.execute("INSERT INTO rows VALUES (9, 9)")
        return fetch(*arguments)

    monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "fetch", write)
    said = refuse(tmp_path / "x", connection.table("rows"))
    assert "the table changed while it was read: it had 9 rows, and has 1" in said
    assert "Freeze one version of it, such as a snapshot of Iceberg" in said
