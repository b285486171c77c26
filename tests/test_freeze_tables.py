"""Freezing a table where it lies, here on DuckDB: ``tests/spark`` holds the same on Spark and Polars."""

from __future__ import annotations

import json
import math
import zipfile
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from click.testing import CliRunner
from made_measurements import measurements

import reportgen as rg
from reportgen.cli.main import cli
from reportgen.core import engines
from reportgen.draft.describing import describe_frozen_table
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


def test_the_last_written_counts(tmp_path: Path) -> None:
    """Of rows of one step, that with the largest order; without one nobody can know."""
    twice = "SELECT i % 5 AS step, i AS at, i * 1.5::DOUBLE AS loss FROM range(10) r(i)"
    rg.freeze(open_table(twice), tmp_path / "a", metrics=["loss"], order="at")
    assert duckdb.read_parquet(str(tmp_path / "a/points.parquet")).project('"value"').fetchall() == [
        (value * 1.5,) for value in range(5, 10)
    ]
    assert "5 rows were replaced by a later one" in (tmp_path / "a/source.yml").read_text()
    text = refuse(tmp_path / "b", twice, {"metrics": ["loss"]})
    assert "2 rows are of series b, run 1, metric loss, step" in text
    assert "which is the last? Name a column of whole numbers" in text
    same = "SELECT 1 AS step, 1 AS at, i * 1.5::DOUBLE AS loss FROM range(2) r(i)"
    assert 'of one order in "at": which is the last?' in refuse(
        tmp_path / "c", same, {"metrics": ["loss"], "order": "at"}
    )


def test_an_interval_of_the_table_stays(tmp_path: Path) -> None:
    """Ends that the table has are averaged as the values are, and found again."""
    ends = "i - 1.5::DOUBLE AS a, i + 2.5::DOUBLE AS b"
    select = f"SELECT i AS step, i::DOUBLE AS score, {ends} FROM range(900) r(i)"
    rg.freeze(open_table(select), tmp_path / "s", value="score", low="a", high="b", reduce=300)
    rows = rg.curves(rg.read(tmp_path / "s"))
    assert (rows["low"][1], rows["value"][1], rows["high"][1]) == (2.5, 4.0, 6.5)
    text = refuse(tmp_path / "t", ROWS, {"metrics": ["loss", "step"], "low": "loss", "step": "written"})
    assert text.startswith("low= needs one column of values.")


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


@pytest.mark.parametrize(
    ("column", "role", "words"),
    [
        ("1.5::DECIMAL(9, 2)", "loss", "engines round decimals differently"),
        ("TIMESTAMP '2026-01-01'", "step", "the zone of the session"),
        ("TIMESTAMPTZ '2026-01-01 00:00Z'", "model", "the zone of the session"),
        ("'x'::BLOB", "model", "Select the part of it that is text"),
        ("{'a': 1.5}", "loss", "Select the part of it that is double"),
        ("[1.5]", "loss", "Select the part of it that is double"),
        ("'0.5'", "loss", "try_cast makes words that are no number empty"),
        ("0.1::DOUBLE", "model", "engines write numbers differently"),
        ("0.5::DOUBLE", "written", "Cast it to a whole number"),
    ],
)
def test_types_that_engines_read_differently_are_refused(
    tmp_path: Path, column: str, role: str, words: str
) -> None:
    """Each is named with its column, its type and how to cast it."""
    cells = {"model": "'a'", "step": "i", "written": "i", "loss": "i::DOUBLE", role: column}
    select = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
    settings = {"metrics": ["loss"], "order": "written"}
    text = refuse(tmp_path / "x", f"SELECT {select} FROM range(9) r(i)", settings)
    assert f'the column "{role}" is of type ' in text
    assert words in text


@pytest.mark.parametrize("kind", ["TINYINT", "UTINYINT", "SMALLINT", "HUGEINT", "FLOAT"])
def test_small_and_large_numbers_are_read(tmp_path: Path, kind: str) -> None:
    """An int8 neither overflows in a sum nor loses a digit."""
    select = f"SELECT i AS step, (i % 100)::{kind} AS loss FROM range(1000) r(i)"
    rg.freeze(open_table(select), tmp_path / "x", metrics=["loss"], reduce=1)
    ((value, count),) = (
        duckdb.read_parquet(str(tmp_path / "x/points.parquet")).project('"value", steps_in_bin').fetchall()
    )
    assert (value, count) == (49.5, 1000)


@pytest.mark.parametrize(
    ("select", "settings", "words"),
    [
        (f"{ROWS} WHERE i < 0", {"metrics": ["loss"]}, "the table has no rows"),
        (ROWS, {"metrics": ["lose"]}, 'metrics: there is no column "lose". Did you mean "loss"?'),
        (
            ROWS,
            {"metrics": ["loss"], "sries": "model"},
            '"sries" is no role of a column. Did you mean "series"?',
        ),
        (ROWS, {}, "no column is the value. Name it: value=COLUMN, or metrics=[COLUMN, …]"),
        (ROWS, {"metrics": ["loss"], "reduce": 0}, "reduce must be at least 1, not 0"),
        (
            "SELECT NULLIF('m' || i % 2, 'm1') AS model, i AS step, i AS loss FROM range(6) r(i)",
            {"metrics": ["loss"]},
            '3 rows have no series: the column "model" is empty there. Fill or filter them first',
        ),
        ("SELECT i AS step, NULL::DOUBLE AS loss FROM range(6) r(i)", {"metrics": ["loss"]}, "no row with"),
        (
            "SELECT error('lost; token=dapi0123') AS loss, i AS step FROM range(6) r(i)",
            {},
            "no column is the",
        ),
    ],
)
def test_a_table_that_cannot_be_frozen(
    tmp_path: Path, select: str, settings: dict[str, Any], words: str
) -> None:
    """What was found, and the next step; nothing is written."""
    assert words in refuse(tmp_path / "x", select, settings)


def test_no_frame(tmp_path: Path) -> None:
    """Neither a path nor a list is a table."""
    with pytest.raises(rg.ReportError) as error:
        rg.freeze("data/runs.csv", tmp_path / "x")
    assert read_problem(error).startswith("str is no table that narwhals knows.")


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


def test_only_its_own_folder_is_written(tmp_path: Path) -> None:
    """A folder with other files is refused; settings that its user added stay when it is frozen again."""
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "points.parquet").write_bytes(b"mine")
    with pytest.raises(rg.ReportError, match=r"holds files that reportgen\.freeze did not write"):
        rg.freeze(open_table(), folder, metrics=["loss"])
    (folder / "points.parquet").unlink()
    rg.freeze(open_table(), folder, metrics=["loss"])
    settings = folder / "source.yml"
    settings.write_text(f"title: My sweep\n{settings.read_text()}")
    rg.freeze(open_table(), folder, metrics=["loss"], reduce=10)
    assert "title: My sweep" in settings.read_text()
    assert "10 bins" in settings.read_text()


def test_check_says_whether_the_table_moved_on(tmp_path: Path) -> None:
    """Columns, rows and values are compared with what was frozen, with the options of then."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS {ROWS}")
    folder = tmp_path / "x"
    rg.freeze(connection.table("t"), folder, metrics=["loss"], order="written", reduce=50)
    before = {name: (folder / name).read_bytes() for name in list_files(folder)}
    assert rg.freeze(connection.table("t"), folder, check=True).differences == ()
    connection.execute("INSERT INTO t VALUES ('m0', 's0', 1, 70000, 0.5, 0.5)")
    connection.execute("ALTER TABLE t ADD COLUMN host VARCHAR")
    checked = rg.freeze(connection.table("t"), folder, check=True)
    assert checked.differences == (
        "The table gained the columns host.",
        "The table had 60,000 rows and has 60,001.",
        "The values of loss differ.",
    )
    assert {name: (folder / name).read_bytes() for name in list_files(folder)} == before
    with pytest.raises(rg.ReportError, match="no table was frozen here"):
        rg.freeze(connection.table("t"), tmp_path / "y", check=True)


def test_the_command_checks_what_was_frozen(tmp_path: Path) -> None:
    """Without the engine: whether the file is the one that was written, and from what."""
    folder = tmp_path / "sweep"
    rg.freeze(open_table(), folder, metrics=["loss"], table="lake.runs")
    said = CliRunner().invoke(cli, ["freeze", "--check", str(folder)])
    assert said.exit_code == 0
    assert (
        "points.parquet is as it was frozen: 2,400 rows from 60,000 rows of lake.runs by DuckDB"
        in said.output
    )
    (folder / "points.parquet").write_bytes(b"PAR1")
    with pytest.raises(rg.ReportError, match="it is not the table that was frozen"):
        describe_frozen_table(folder)
    (folder / "origin.json").write_text('{"format": 1}')
    with pytest.raises(rg.ReportError, match="it is damaged: "):
        describe_frozen_table(folder)


def test_the_command_checks_whether_files_moved_on(tmp_path: Path) -> None:
    """A source of files is compared with the hashes of when it was frozen."""
    runs, table = tmp_path / "runs", tmp_path / "table"
    runs.mkdir()
    for name in "ab":
        (runs / f"{name}.csv").write_text("step,loss\n1,0.5\n2,0.25\n")
    words = ["freeze", str(runs), "--to", str(table)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    same = CliRunner().invoke(cli, [*words, "--check"])
    assert (same.exit_code, "is what freezing it now would write" in same.output) == (0, True)
    before = (table / "data.parquet").read_bytes()
    (runs / "a.csv").write_text("step,loss\n1,0.5\n2,0.125\n")
    (runs / "c.csv").write_text("step,loss\n1,0.5\n")
    moved = CliRunner().invoke(cli, [*words, "--check"])
    assert moved.exit_code == 1
    assert "has changed since it was frozen: runs/a.csv changed, runs/c.csv new" in moved.output
    assert (table / "data.parquet").read_bytes() == before


def test_a_page_says_where_its_points_come_from(tmp_path: Path) -> None:
    """A frozen table is a source like any other: built, with its origin in captions, and archived."""
    (tmp_path / "content").mkdir()
    page = "# A\n\n```curve\nsource: sweep\nmetric: loss\n```\n"
    (tmp_path / "content/index.md").write_text(page)
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: A\ndocs_dir: content\ntheme: {name: reportgen}\nplugins: [search, reportgen]\n"
    )
    rg.freeze(open_table(), tmp_path / "data/sweep", metrics=["loss"], table="lake.runs")
    mkdocs = str(tmp_path / "mkdocs.yml")
    built = CliRunner().invoke(cli, ["build", "-f", mkdocs])
    assert built.exit_code == 0, built.output
    html = (tmp_path / "site/index.html").read_text().replace("\xa0", " ")
    assert "Binned by DuckDB from 60,000 rows of lake.runs before freezing." in html
    archived = CliRunner().invoke(cli, ["archive", "-f", mkdocs, "--to", str(tmp_path / "a.zip")])
    assert archived.exit_code == 0, archived.output
    names = zipfile.ZipFile(tmp_path / "a.zip").namelist()
    assert {"data/sweep/origin.json", "data/sweep/points.parquet", "data/sweep/source.yml"} <= {*names}
