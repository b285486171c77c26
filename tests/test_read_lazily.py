"""What is read, when, and how often: only what a question is about, and what is kept for the next one."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pytest
from made_sources import LONG, Data

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.read import open_source, read_measurements, read_raw_frame, sources
from reportgen.read.plan import MeasurementQuery, build_statement, plan_measurements
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.curves.reduce import reduce

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.inputs import Source


def test_nothing_is_read_before_the_frame_is_collected(tmp_path: Path) -> None:
    """What is wrong deep inside a file comes up when rows are read, and is told with its line."""
    data = Data(tmp_path)
    text = "model,step,loss\n" + "A,1,0.5\n" * 5_000
    data.write("a.csv", text + "A,2,oops\n" + "A,3,0.5\n" * 5_000)
    table = read_measurements(tmp_path, data.open("a"), ("loss",))
    with pytest.raises(ReportError, match=r'data/a\.csv:5002: "oops" in column "loss"'), table.reading():
        reduce(table)


def test_only_the_wanted_columns_are_read(tmp_path: Path) -> None:
    """A wide table may be broken in columns that nobody asks for."""
    data = Data(tmp_path)
    names = [f"m{number}" for number in range(500)]
    rows = [
        ",".join(["A", str(step), *(["1.5"] * 499), "oops" if step == 150 else "2"]) for step in range(200)
    ]
    data.write("a.csv", "\n".join([",".join(["model", "step", *names]), *rows]))
    source = data.open("a")
    assert len(source.metrics) == 500
    assert set(data.frame("a", "m0", "m498")["value"]) == {1.5}
    sql = build_statement(
        tmp_path, plan_measurements(tmp_path, source, MeasurementQuery(("m7",), None, None, {}))
    )
    assert sql.count(" AS k") == 3
    assert data.problems("a", "m499") == [
        'data/a.csv:152: "oops" in column "m499" is not a number. Mend it, or leave the cell empty.'
    ]


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


def test_one_pass_over_a_text_file_serves_several_metrics(tmp_path: Path) -> None:
    """A text file is parsed once for all metrics of a question."""
    data = Data(tmp_path)
    data.write("wide.csv", "step,a,b,c\n0,1,2,3\n")
    data.write("long.csv", LONG)
    for name in ("wide", "long"):
        source = data.open(name)
        sql = build_statement(
            tmp_path, plan_measurements(tmp_path, source, MeasurementQuery(source.metrics, None, None, {}))
        )
        assert sql.count("read_csv(") == 1


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


def test_a_raw_frame_has_every_column_and_those_recognised(tmp_path: Path) -> None:
    """Columns as written, then what reportgen recognised under its own names, in the order of writing."""
    data = Data(tmp_path)
    data.write("s/a.csv", "Model,Iter,note,done,loss\nm1,1,x,true,2\nm2,0,,false,NA\n")
    data.write("s/b.csv", "Model,Iter,loss\nm1,5,3\n")
    data.write("s/source.yml", "rename: {m1: Model 1}\nfilter: {model: [m1, m2]}")
    table = read_raw_frame(tmp_path, data.open("s"))
    assert list(table.columns) == ["Model", "Iter", "note", "done", "loss", "series", "run", "step"]
    assert list(table["series"]) == ["Model 1", "m2", "Model 1"]
    assert list(table["run"]) == ["a", "a", "b"]
    assert list(table["step"]) == [1, 0, 5]
    assert list(table["done"])[:2] == ["true", "false"]
    assert list(table["loss"].isna()) == [False, True, False]


def test_a_raw_frame_of_a_long_table(tmp_path: Path) -> None:
    """Parts under their own names are there once; a stranger's column of such a name keeps its cells."""
    data = Data(tmp_path)
    data.write("a.csv", LONG)
    assert list(read_raw_frame(tmp_path, data.open("a")).columns) == [
        "model",
        "seed",
        "step",
        "metric",
        "value",
        "series",
        "run",
    ]
    data.write("s/b.csv", "series,algo,step,loss\nSeries 7,GRPO,0,1\n")
    data.write("s/source.yml", "columns: {series: algo}")
    table = read_raw_frame(tmp_path, data.open("s"))
    assert list(table.columns) == ["series", "algo", "step", "loss", "run"]
    assert list(table["series"]) == ["Series 7"]


def test_a_raw_frame_keeps_types_of_parquet(tmp_path: Path) -> None:
    """Times and truth values of a Parquet file stay what they are."""
    data = Data(tmp_path)
    data.parquet(
        "a.parquet", "SELECT DATE '2024-05-31' AS day, true AS done, 1 AS step, 'x' AS model, 2.5 AS loss"
    )
    table = read_raw_frame(tmp_path, data.open("a"))
    assert str(table["day"][0]) == "2024-05-31 00:00:00"
    assert table["done"][0]
    assert table["loss"][0] == 2.5


def test_a_raw_frame_tells_what_is_wrong(tmp_path: Path) -> None:
    """A word deep in a column of numbers is told with its line, not by the database."""
    data = Data(tmp_path)
    data.write("a.csv", "step,loss\n" + "1,0.5\n" * 5_000 + "2,oops\n" + "1,0.5\n" * 5_000)
    with pytest.raises(ReportError, match=r'data/a\.csv:5002: "oops" in column "loss"'):
        read_raw_frame(tmp_path, data.open("a"))


LONG_KEPT = "model,seed,step,metric,value\nMEL,1,0,loss,0.5\nMEL,1,1,loss,0.25\nbase,1,0,acc,1\n"
WIDE = "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,,1.0\n"
OUTCOMES = "model,benchmark,problem,score,level\nMEL,AIME,p,1,easy\nMEL,MATH,p,0.5,hard\n"


def opened(root: Path, name: str = "runs") -> Source:
    """The source, with what earlier openings kept."""
    cache = Cache(root / "cache")
    return open_source(root, "data", name, load_settings=load_source_settings, cache=cache)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder for data files."""
    folder = tmp_path / "data" / "runs"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, form: str) -> None:
    """The same kind of data in one of several forms."""
    if form == "parquet":
        rows = "SELECT 'MEL' AS model, 1 AS step, 0.5 AS loss"
        duckdb.sql(f"COPY ({rows}) TO '{folder / 'a.parquet'}' (FORMAT parquet)")
    elif form == "gzip":
        (folder / "a.csv.gz").write_bytes(gzip.compress(LONG_KEPT.encode()))
    elif form == "settings":
        (folder / "a.csv").write_text(WIDE)
        (folder / "source.yml").write_text("title: Runs\nrename: {MEL: ours}\nmetrics: [loss]\n")
    elif form == "jsonl":
        (folder / "a.jsonl").write_text('{"model": "MEL", "step": 1, "loss": 0.5}\n')
    elif form == "outcomes":
        (folder / "a.csv").write_text(OUTCOMES)
        (folder / "source.yml").write_text("score_range: [0, 2]\nprotocol: {samples: 2}\n")
    else:
        (folder / "a.csv").write_text(LONG_KEPT)
        (folder / "b.tsv").write_text(LONG_KEPT.replace(",", "\t"))


@pytest.mark.parametrize("form", ["text", "gzip", "jsonl", "parquet", "settings", "outcomes"])
def test_the_second_opening_looks_at_nothing(data: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And gives the same source, with the same way to read it."""
    write(data, form)
    root = data.parents[1]
    first = opened(root)
    monkeypatch.setattr(sources, "survey", None)
    second = opened(root)
    assert second == first
    assert not first.warnings
    assert second.layout == first.layout


def test_a_changed_file_is_looked_at(data: Path) -> None:
    """By its content, not by its name."""
    (data / "a.csv").write_text(WIDE)
    assert opened(data.parents[1]).metrics == ("reward", "loss")
    (data / "a.csv").write_text(WIDE.replace("reward", "return"))
    assert opened(data.parents[1]).metrics == ("return", "loss")


def test_changed_settings_count(data: Path) -> None:
    """Though no data file changed."""
    (data / "a.csv").write_text(WIDE)
    opened(data.parents[1])
    (data / "source.yml").write_text("metrics: [loss]\n")
    assert opened(data.parents[1]).metrics == ("loss",)


def test_what_was_handled_is_told_every_time(data: Path) -> None:
    """A torn line is a warning of the second build, too."""
    (data / "a.csv").write_text(WIDE + "MEL,2,0.")
    assert len(opened(data.parents[1]).warnings) == len(opened(data.parents[1]).warnings) == 1


def test_outcomes_are_known_again(data: Path) -> None:
    """With their benchmarks, what they can be sliced by, and their range."""
    write(data, "outcomes")
    opened(data.parents[1])
    again = opened(data.parents[1])
    assert (again.kind, again.benchmarks, again.slices) == ("outcomes", ("AIME", "MATH"), ("level",))
    assert again.score_range == (0.0, 2.0)
