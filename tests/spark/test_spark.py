"""Freezing on a real Spark and its real Connect server: the bits of DuckDB and Polars, and clear errors."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest
from find_java import find_java, what_is_missing
from started_server import Server, start_server

import reportgen as rg
from reportgen.read.queries.reduce import reduce_large

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# Compiling for long runs takes most of the time of short ones.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

# Runs of unequal length, one of them a hundred times as long; steps written twice; NaN, infinities, both
# zeros and empty cells; numbers of many magnitudes; and names that no language likes.
ROWS = """
SELECT CASE WHEN i % 50 = 0 THEN 'it''s "ré·sumé"' ELSE 'm.' || (i % 2) END AS model,
    (i % 3)::TINYINT AS seed, i // 6 AS step, i AS written,
    CASE i % 101 WHEN 5 THEN 'nan'::DOUBLE WHEN 6 THEN '-inf'::DOUBLE WHEN 7 THEN -0.0 WHEN 8 THEN NULL
        WHEN 9 THEN 0.0 ELSE sin(i) * power(10, i % 33 - 16) END AS "loss/train.1 `x` %",
    cos(i)::FLOAT AS "Loss" FROM range(12000) r(i)
UNION ALL SELECT 'm.0', 0, i % 40, 12000 + i, -0.0, NULL FROM range(120) r(i)
"""
METRICS = ["loss/train.1 `x` %", "Loss"]


class Sparks:
    """Both ways to the same Spark."""

    def __init__(self, port: int) -> None:
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - Java's folder is known only now
        from serve_connect import open_session  # noqa: PLC0415 - as above

        settings = {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.ui.showConsoleProgress": "false",
        }
        self.classic: Any = open_session("1g", "2", settings)
        self.classic.sparkContext.setLogLevel("OFF")
        self.connect: Any = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


@pytest.fixture(scope="session")
def sparks() -> Iterator[Sparks]:
    """Spark, started once; without Java the tests fail and say what is missing."""
    java = find_java()
    if java is None:
        pytest.fail(what_is_missing("nothing was installed"))
    os.environ |= {"JAVA_HOME": java, "SPARK_LOCAL_IP": "127.0.0.1"}
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    opened = Sparks(port)
    yield opened
    opened.connect.stop()
    opened.classic.stop()


@pytest.fixture(scope="session")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The rows as a file that each engine reads itself."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    duckdb.sql(f"COPY ({ROWS}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return str(path)


def open_client(server: Server) -> Any:  # noqa: ANN401 - a session of Spark Connect
    """Open a session of a server of its own: the usual builder would give one that is open again."""
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - needs Java's folder

    return SparkSession.builder.remote(server.address).create()


def freeze(frame: Any, folder: Path, **settings: Any) -> str:  # noqa: ANN401 - of any engine
    """Freeze a table, and return the hash of the file that is written."""
    rg.freeze(frame, folder, **settings)
    name = json.loads((folder / "origin.json").read_text())["file"]
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()


def refuse(frame: Any, folder: Path, settings: Mapping[str, Any]) -> str:  # noqa: ANN401 - as above
    """The problem with a table that cannot be frozen, of which nothing is written."""
    with pytest.raises(rg.ReportError) as error:
        rg.freeze(frame, folder, **settings)
    assert not folder.exists()
    (problem,) = error.value.problems
    return problem.text


@pytest.mark.parametrize("most", [100, 100_000], ids=["binned", "every step"])
def test_all_engines_give_the_same_bytes(sparks: Sparks, parquet: str, tmp_path: Path, most: int) -> None:
    """Points in Parquet, from four engines; the origin names each."""
    frames = {
        "DuckDB": duckdb.read_parquet(parquet),
        "Polars": pl.scan_parquet(parquet),
        "Spark": sparks.classic.read.parquet(parquet),
        "Spark Connect": sparks.connect.read.parquet(parquet),
    }
    settings: dict[str, Any] = {"metrics": METRICS, "order": "written", "reduce": most}
    found = {name: freeze(frame, tmp_path / name, **settings) for name, frame in frames.items()}
    assert set(found.values()) == {found["DuckDB"]}, found
    used = [json.loads((tmp_path / name / "origin.json").read_text())["engine"] for name in frames]
    assert [name.split()[0] for name in used] == ["DuckDB", "Polars", "Spark", "Spark"]
    assert "by Spark from 12,120 rows before freezing" in (tmp_path / "Spark/source.yml").read_text()


def test_sqlframe_gives_the_same_bytes(parquet: str, tmp_path: Path) -> None:
    """Any lazy frame that narwhals knows is frozen, not only those with a method of their own here."""
    from sqlframe.duckdb import DuckDBSession  # noqa: PLC0415 - DuckDB's own alone

    settings: dict[str, Any] = {"metrics": METRICS, "order": "written", "reduce": 100}
    expected = freeze(duckdb.read_parquet(parquet), tmp_path / "a", **settings)
    assert freeze(DuckDBSession().read.parquet(parquet), tmp_path / "b", **settings) == expected
    engine = json.loads((tmp_path / "b/origin.json").read_text())["engine"]
    assert engine == f"sqlframe {version('sqlframe')}"


def test_a_run_with_nearly_all_rows(sparks: Sparks, tmp_path: Path) -> None:
    """One partition has three million rows, others ten; every engine still gives the same bits."""
    path = str(tmp_path / "skewed.parquet")
    rows = "SELECT {run} AS model, i AS step, sin(i) * power(10, i % 30) AS loss FROM range({count}) r(i)"
    runs = [("'long'", 3_000_000), *((f"'short {number}'", 10) for number in range(20))]
    skewed = " UNION ALL ".join(rows.format(run=run, count=count) for run, count in runs)
    duckdb.sql(f"COPY ({skewed}) TO '{path}' (FORMAT parquet)")
    frames = {
        "DuckDB": duckdb.read_parquet(path),
        "Polars": pl.scan_parquet(path),
        "Spark": sparks.classic.read.parquet(path).repartition("model"),
        "Spark Connect": sparks.connect.read.parquet(path).repartition("model"),
    }
    found = {name: freeze(one, tmp_path / name, metrics=["loss"]) for name, one in frames.items()}
    assert set(found.values()) == {found["DuckDB"]}, found


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_neither_order_nor_partitions_of_rows_matter(
    sparks: Sparks, parquet: str, tmp_path: Path, partitions: int
) -> None:
    """A cluster adds up in any order; sums are of parts that add up without rounding."""
    settings: dict[str, Any] = {"metrics": METRICS[:1], "order": "written", "reduce": 50}
    expected = freeze(duckdb.read_parquet(parquet), tmp_path / "a", **settings)
    from pyspark.sql.connect import functions as F  # noqa: N812, PLC0415 - its usual name

    shuffled = sparks.connect.read.parquet(parquet).repartition(partitions, F.rand(partitions))
    assert freeze(shuffled.sortWithinPartitions(F.rand(1)), tmp_path / "b", **settings) == expected


def test_a_row_a_value_and_an_interval(sparks: Sparks, tmp_path: Path) -> None:
    """The other form of a table, with ends that it has itself."""
    path = str(tmp_path / "long.parquet")
    duckdb.sql(
        f"""COPY (SELECT 'r' || i % 2 AS run, i // 2 AS step, 'm' || i % 3 AS metric, sin(i) AS value,
        sin(i) - 0.1 AS lower, sin(i) + 0.1 AS upper FROM range(3000) r(i)) TO '{path}' (FORMAT parquet)"""
    )
    settings: dict[str, Any] = {"low": "lower", "high": "upper", "reduce": 30}
    frames = [duckdb.read_parquet(path), pl.scan_parquet(path), sparks.connect.read.parquet(path)]
    folders = [tmp_path / str(place) / "sweep" for place in range(3)]  # which names the series
    found = [freeze(frame, folder, **settings) for frame, folder in zip(frames, folders, strict=True)]
    assert len(set(found)) == 1


def test_answers_give_the_same_bytes(sparks: Sparks, tmp_path: Path) -> None:
    """Counted answers with a repeated sample and a missing score, of four engines."""
    path = str(tmp_path / "answers.parquet")
    duckdb.sql(
        f"""COPY (SELECT 'm' || i % 2 AS model, 'b' || i % 4 AS benchmark, (i // 4) % 50 AS problem,
        i // 200 AS sample, i AS written, CASE WHEN i = 9 THEN NULL ELSE i * 7 % 5 = 0 END AS correct
        FROM range(4000) r(i) UNION ALL SELECT 'm0', 'b0', 1, 0, 9000, true) TO '{path}' (FORMAT parquet)"""
    )
    frames = {
        "duckdb": duckdb.read_parquet(path),
        "polars": pl.scan_parquet(path),
        "classic": sparks.classic.read.parquet(path),
        "connect": sparks.connect.read.parquet(path).repartition(5),
    }
    settings: dict[str, Any] = {"problem": "problem", "score": "correct", "order": "written"}
    found = {name: freeze(frame, tmp_path / name, **settings) for name, frame in frames.items()}
    assert set(found.values()) == {found["duckdb"]}, found


def test_the_zone_of_the_session_changes_nothing(sparks: Sparks, parquet: str, tmp_path: Path) -> None:
    """No time is read as text or number, so none can depend on where the session believes to be."""
    settings: dict[str, Any] = {"metrics": METRICS[1:], "order": "written"}
    before = freeze(sparks.connect.read.parquet(parquet), tmp_path / "utc", **settings)
    sparks.connect.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        assert freeze(sparks.connect.read.parquet(parquet), tmp_path / "else", **settings) == before
        timed = sparks.connect.sql("SELECT timestamp '2026-01-01 00:00' AS step, 1.5d AS loss")
        assert "the zone of the session" in refuse(timed, tmp_path / "x", {"value": "loss"})
    finally:
        sparks.connect.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize(
    ("cell", "role", "words"),
    [
        ("CAST(1.5 AS DECIMAL(9, 2))", "loss", "engines round decimals differently"),
        ("timestamp_ntz '2026-01-01 00:00'", "step", "the zone of the session"),
        ("timestamp_ltz '2026-01-01 00:00'", "model", "the zone of the session"),
        ("CAST('x' AS BINARY)", "model", "Select the part of it that is text"),
        ("named_struct('a', 1.5d)", "loss", "Select the part of it that is double"),
        ("array(1.5d)", "loss", "Select the part of it that is double"),
        ("map('a', 1.5d)", "loss", "Select the part of it that is double"),
        ("'oops'", "loss", "try_cast makes words that are no number empty"),
    ],
)
def test_types_that_engines_read_differently(
    sparks: Sparks, tmp_path: Path, cell: str, role: str, words: str
) -> None:
    """Each is refused with its column, its type and how to cast it."""
    cells = {"model": "'a'", "step": "id", "loss": "CAST(id AS TINYINT)", role: cell}
    select = ", ".join(f"{expression} AS {name}" for name, expression in cells.items())
    frame = sparks.connect.sql(f"SELECT {select} FROM range(9)")
    text = refuse(frame, tmp_path / "x", {"metrics": ["loss"]})
    assert f'the column "{role}" is of type ' in text
    assert words in text


def test_names_that_differ_in_case_only(sparks: Sparks, tmp_path: Path) -> None:
    """Spark takes them for one name, so each is found by its place; a guess between them is refused."""
    frame = sparks.connect.range(90).selectExpr("id AS step", "1d AS `a.b`", "2d AS `A.b`", "3d AS `STEP`")
    assert "columns differ in case only" in refuse(frame, tmp_path / "x", {"metrics": ["a.b"]})
    rg.freeze(frame, tmp_path / "y", metrics=["A.b"], step="step")
    values = duckdb.read_parquet(str(tmp_path / "y/points.parquet")).aggregate('min("value"), max("value")')
    assert values.fetchall() == [(2.0, 2.0)]
    twice = sparks.connect.range(9).selectExpr("id AS step", "1d AS loss", "2d AS loss")
    assert 'two columns are called "loss"' in refuse(twice, tmp_path / "z", {"metrics": ["loss"]})


def test_rows_without_a_name_and_repeated_steps(sparks: Sparks, tmp_path: Path) -> None:
    """Neither is guessed."""
    nulls = sparks.connect.range(9).selectExpr("nullif(id % 3, 1) AS run", "id AS step", "1d AS loss")
    assert "3 rows have no run" in refuse(nulls, tmp_path / "x", {"metrics": ["loss"]})
    twice = sparks.connect.range(90).selectExpr("id % 10 AS step", "id * 1d AS loss")
    assert "9 rows are of series x, run 1" in refuse(twice, tmp_path / "x", {"metrics": ["loss"]})


def test_partitions_of_different_types(sparks: Sparks, tmp_path: Path) -> None:
    """What one partition calls a number and another a text fails as Spark says it, and nothing is written."""
    parts = tmp_path / "parts"
    for day, step in (("1", "i"), ("2", "'s' || i")):
        (parts / f"day={day}").mkdir(parents=True)
        duckdb.sql(
            f"COPY (SELECT {step} AS step, 1.5::DOUBLE AS loss FROM range(9) r(i)) "
            f"TO '{parts}/day={day}/rows.parquet' (FORMAT parquet)"
        )
    frame = sparks.connect.read.schema("step BIGINT, loss DOUBLE").parquet(str(parts))
    assert "the engine failed: " in refuse(frame, tmp_path / "x", {"metrics": ["loss"]})


def test_ten_million_runs(sparks: Sparks, tmp_path: Path) -> None:
    """The client fetches no more than it can hold, and says what the limit is."""
    frame = sparks.connect.range(10_000_000).selectExpr("id AS run", "1 AS step", "1d AS loss")
    text = refuse(frame, tmp_path / "x", {"metrics": ["loss"]})
    assert text.startswith("more than 100,000 runs of metrics are left of the table. Lower reduce=")


def test_a_token_in_an_error(sparks: Sparks, tmp_path: Path) -> None:
    """What Spark repeats of an address is shortened, before it reaches a log."""
    secret = "sc://host:443/;token=dapi0123456789abcdef0123"  # noqa: S105 - of nobody
    frame = sparks.connect.range(9).selectExpr(
        "id AS step", f"CAST(raise_error('{secret}') AS DOUBLE) AS loss"
    )
    text = refuse(frame, tmp_path / "x", {"metrics": ["loss"]})
    assert "token=***" in text
    assert "dapi" not in text


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        (("3.4.2", "3.5.9"), "Spark 3.4.2 is older than 3.5. Use a cluster with Spark 3.5 or newer"),
        (("4.0.1", "4.1.4"), 'Install the client of the server: pip install "pyspark-client==4.0.1"'),
    ],
)
def test_versions_that_do_not_fit(
    sparks: Sparks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: tuple[str, str], words: str
) -> None:
    """An old Spark, and a client that is newer than its server."""
    monkeypatch.setattr(sparks.connect, "version", versions[0])
    monkeypatch.setattr("pyspark.__version__", versions[1])
    assert words in refuse(sparks.connect.range(9), tmp_path / "x", {"metrics": ["id"], "step": "id"})


def test_an_older_client_is_fine(sparks: Sparks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark promises that an older client works with a newer server."""
    monkeypatch.setattr("pyspark.__version__", "4.0.0")
    frame = sparks.connect.range(9).selectExpr("id AS step", "id * 1d AS loss")
    rg.freeze(frame, tmp_path / "x", metrics=["loss"])
    assert (tmp_path / "x/points.parquet").is_file()


@pytest.fixture(scope="module")
def guide() -> list[str]:
    """The examples of the page in the guide: from a table to a figure, and a server to try it with."""
    page = Path(__file__).parents[2] / "content/guide/large-tables.md"
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def server(guide: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server as the guide starts one, over files of runs."""
    folder = tmp_path_factory.mktemp("lake")
    select = "'m' || i % 2 AS model, i % 6 AS run_id, i // 6 AS step, sin(i) AS loss, cos(i) AS reward"
    duckdb.sql(f"COPY (SELECT {select} FROM range(6000) r(i)) TO '{folder}/a.parquet' (FORMAT parquet)")
    with start_server(code=guide[1].replace("runs/*.parquet", f"{folder}/*.parquet")) as started:
        yield started


def test_the_page_of_the_guide(
    guide: list[str], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ten lines draw a figure of a table on its server, word for word but for names of places."""
    monkeypatch.chdir(tmp_path)
    code = guide[0].replace("sc://localhost:15002", server.address).replace('"runs"', '"global_temp.runs"')
    code = code.replace("SparkSession.builder", "Client.builder").replace("getOrCreate", "create")
    names: dict[str, Any] = {"Client": open_client(server).__class__}
    exec(code, names)  # noqa: S102 - of our own page
    names["spark"].stop()
    assert names["chart"].to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    said = Path("data/sweep/source.yml").read_text(encoding="utf-8")
    assert "Binned by Spark from 6,000 rows of lake.runs@snapshot 4711 before freezing." in said


def test_a_cluster_that_is_lost(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that dies after an answer: what was there stays, and nothing is half-written."""
    folder, calls = tmp_path / "x", []
    session = open_client(server)
    frame = session.range(1000).selectExpr("id AS step", "id * 1d AS loss")
    rg.freeze(frame, folder, metrics=["loss"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    session.client.set_retry_policies([])
    fetch = reduce_large.__globals__["fetch"]

    def lose(*arguments: Any) -> Any:  # noqa: ANN401 - what is passed on
        calls.append(arguments)
        found = fetch(*arguments)
        server.kill()
        return found

    monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "fetch", lose)
    with pytest.raises(rg.ReportError) as error:
        rg.freeze(frame, folder, metrics=["loss"])
    (problem,) = error.value.problems
    assert "the engine failed: " in problem.text
    assert "freeze it again once the engine answers" in problem.text
    assert calls
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
