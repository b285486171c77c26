"""Freezing a table where it lies, here on DuckDB: ``tests/spark`` holds the same on Spark and Polars."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from made_measurements import measurements

import reportgen as rg
from reportgen.core import engines
from reportgen.notebook import freezing
from reportgen.statistics.curves import reduce as reduce_module

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROWS = """SELECT 'm' || (i % 2) AS model, 's' || (i % 3) AS seed, i // 6 AS step, i AS written,
    CASE i % 1009 WHEN 5 THEN 'nan'::DOUBLE WHEN 6 THEN 'inf'::DOUBLE WHEN 8 THEN NULL
    ELSE sin(i) * power(10, i % 17) END AS loss, cos(i) AS "top.1 acc's" FROM range(60000) r(i)"""


def open_table(select: str = ROWS) -> duckdb.DuckDBPyRelation:
    """A lazy table on a connection of its own, as a user has one."""
    return duckdb.connect().sql(select)


def list_files(folder: Path) -> list[str]:
    """The names of all files of a folder; empty if there is none."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def read_problem(error: pytest.ExceptionInfo[rg.ReportError]) -> str:
    """The text of the one problem of an error."""
    (problem,) = error.value.problems
    return problem.text


def refuse(folder: Path, select: str, settings: Mapping[str, Any]) -> str:
    """The problem with a table that cannot be frozen, of which nothing is written."""
    with pytest.raises(rg.ReportError) as error:
        rg.freeze(open_table(select), folder, **settings)
    assert list_files(folder) == []
    return read_problem(error)


def test_a_table_becomes_a_source(tmp_path: Path) -> None:
    """Points of every run, their origin, and settings by which they are read like any other source."""
    folder = tmp_path / "data/sweep"
    metrics = ["loss", "top.1 acc's"]
    frozen = rg.freeze(open_table(), folder, metrics=metrics, table="lake.runs@snapshot 4711")
    assert (frozen.rows, frozen.points, frozen.differences) == (60_000, 2 * 6 * 400, ())
    assert list_files(folder) == ["origin.json", "points.parquet", "source.yml"]
    origin = json.loads((folder / "origin.json").read_text())
    assert origin["table"] == "lake.runs@snapshot 4711"
    assert origin["engine"].startswith("DuckDB ")
    assert {name: part["bins"] for name, part in origin["parts"].items()} == dict.fromkeys(metrics, 400)
    rows = duckdb.read_parquet(str(folder / "points.parquet"))
    columns = ["series", "run", "seed", "metric", "step", "value", "lowest", "highest", "steps_in_bin"]
    assert rows.columns == columns
    known = 'metric, sum(steps_in_bin) AS steps, bool_and("value" BETWEEN lowest AND highest) AS inside'
    (acc, loss) = rows.aggregate(known, "metric").order("metric DESC").fetchall()
    assert acc == ("top.1 acc's", 60_000, True)
    missing = sum(place % 1009 in {5, 6, 8} for place in range(60_000))
    assert loss == ("loss", 60_000 - missing, True)
    means = rg.curves(rg.read(folder), "top.1 acc's")
    assert list(means["series"].unique()) == ["m0", "m1"]
    assert set(means["n"]) == {3}


def test_points_are_those_of_the_large_reduction(tmp_path: Path) -> None:
    """What is frozen is what a build computes of the whole table, bit by bit."""
    values = [math.sin(place) * 10.0 ** (place % 9) for place in range(2000)]
    rows = [{"step": float(place), "value": value} for place, value in enumerate(values)]
    expected = reduce_module.reduce_large(measurements(rows), max_points=50, smooth=0)["score"].runs[0]
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


def test_the_order_of_rows_and_the_form_of_the_table_do_not_matter(tmp_path: Path) -> None:
    """A shuffled table has the same bytes, and so has one with a row a value."""
    files = []
    wide = open_table()
    long = f"""SELECT model, seed, step, written, 'loss' AS metric, loss AS value FROM ({ROWS})
        WHERE loss IS NOT NULL ORDER BY hash(written)"""
    settings: dict[str, Any] = {"order": "written"}
    rg.freeze(wide.order("hash(written)"), tmp_path / "wide", metrics=["loss"], **settings)
    rg.freeze(open_table(long), tmp_path / "long", **settings)
    files = [(tmp_path / name / "points.parquet").read_bytes() for name in ("wide", "long")]
    assert files[0] == files[1]


def test_answers_are_counted(tmp_path: Path) -> None:
    """Scores of answers are those of the table itself; the last of a repeated sample counts."""
    select = """SELECT 'm' || (i % 2) AS model, (i // 2) % 50 AS problem, i AS written, i // 100 AS sample,
        CASE WHEN i = 7 THEN NULL ELSE (i * 7 % 5 = 0)::INT END AS score FROM range(2000) r(i)
        UNION ALL SELECT 'm0', 3, 5000, 0, 1"""
    settings: dict[str, Any] = {"problem": "problem", "sample": "sample", "order": "written"}
    frozen = rg.freeze(open_table(select), tmp_path / "a", **settings)
    assert frozen.points == 101
    assert list_files(tmp_path / "a") == ["origin.json", "outcomes.parquet", "source.yml"]
    found = rg.scores(rg.read(tmp_path / "a"))
    frame = open_table(select).filter("written <> 6").df().drop(columns="written")
    expected = rg.scores(rg.read(frame))
    for name in ("series", "estimate", "low", "high", "problems"):
        assert found[name].tolist() == expected[name].tolist(), name
    said = (tmp_path / "a/source.yml").read_text()
    assert "1 answer had no score" in said
    assert "1 row was replaced by a later one" in said
    assert "which is the last?" in refuse(tmp_path / "b", select, {"problem": "problem", "sample": "sample"})


def test_an_engine_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What narwhals says of a version that it does not know, with the next step."""

    def raise_version(*_: object, **__: object) -> None:
        raise ValueError("Minimum version of duckdb supported by Narwhals is (1, 1), found: (0, 9)")

    monkeypatch.setattr("narwhals.from_native", raise_version)
    assert "found: (0, 9). Install a newer version of it" in refuse(tmp_path / "x", ROWS, {})


def test_an_eager_frame_is_a_table_too(tmp_path: Path) -> None:
    """A frame of pandas has the same bytes as the table that it was read from."""
    rg.freeze(open_table(), tmp_path / "lazy", metrics=["loss"])
    rg.freeze(open_table().df(), tmp_path / "eager", metrics=["loss"])
    assert (tmp_path / "lazy/points.parquet").read_bytes() == (tmp_path / "eager/points.parquet").read_bytes()


def test_an_engine_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    """Neither a file nor a token is left of a table that was lost in the middle."""
    connection = duckdb.connect()
    path = tmp_path / "t.parquet"
    connection.execute(f"COPY ({ROWS}) TO '{path}'")
    folder = tmp_path / "x"
    rg.freeze(connection.read_parquet(str(path)), folder, metrics=["loss"])
    before = {name: (folder / name).read_bytes() for name in list_files(folder)}
    relation = connection.sql(
        f"SELECT model, seed, step, CASE WHEN step > 9000 THEN error('lost; token=dapi0123456789abcdef0') "
        f"ELSE loss END AS loss FROM '{path}'"
    )
    with pytest.raises(rg.ReportError) as error:
        rg.freeze(relation, folder, metrics=["loss"])
    assert "the engine failed: " in read_problem(error)
    assert "token=***" in read_problem(error)
    assert "dapi" not in read_problem(error)
    assert {name: (folder / name).read_bytes() for name in list_files(folder)} == before


def test_a_table_that_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read several times, and what was read before and after a row came would not fit together."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT i AS step, i::DOUBLE AS loss FROM range(9) r(i)")
    fetch = engines.fetch

    def write(*arguments: Any) -> Any:  # noqa: ANN401 - what is passed on
        connection.execute("INSERT INTO rows VALUES (9, 9)")
        return fetch(*arguments)

    monkeypatch.setattr(reduce_module, "fetch", write)
    with pytest.raises(rg.ReportError) as error:
        rg.freeze(connection.table("rows"), tmp_path / "x", metrics=["loss"])
    assert "the table changed while it was read: it had 9 rows, and has 1" in read_problem(error)
    assert "Freeze one version of it, such as a snapshot of Iceberg" in read_problem(error)
    assert list_files(tmp_path / "x") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sc://host:443/;use_ssl=true;token=abc.def;x=1", "sc://host:443/;use_ssl=true;token=***;x=1"),
        ("Authorization: Bearer eyJhbGciOi.J9", "Authorization: Bearer ***"),
        ("s3://key:secret@bucket/x", "s3://***@bucket/x"),
        ("password='hunter2', user=me", "password='***', user=me"),
        ("the token is missing", "the token is missing"),
    ],
)
def test_tokens_are_not_repeated(text: str, expected: str) -> None:
    """What logs in appears in no message."""
    assert engines.redact(text) == expected


def test_too_many_runs_or_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clear limit instead of a client that fills its memory, with the next step."""
    monkeypatch.setattr(freezing, "MOST_POINTS", 1000)
    runs = "SELECT i AS run, 1 AS step, 1.5::DOUBLE AS loss FROM range(101) r(i)"
    words = "more than 100 runs of metrics are left of the table. Lower reduce=, or freeze a part"
    assert words in refuse(tmp_path / "x", runs, {"metrics": ["loss"]})
    words = "more than 1,000 points of one metric are left"
    assert words in refuse(tmp_path / "x", ROWS, {"metrics": ["loss"]})
    rg.freeze(open_table(ROWS), tmp_path / "x", metrics=["loss"], reduce=100)
