"""Parquet, compressed and large files, which no page can hold: read as the small texts of the pages."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from made_sources import LONG, Data

from reportgen.core.errors import ReportError
from reportgen.read import read_measurements
from reportgen.statistics.curves.reduce import reduce

if TYPE_CHECKING:
    from pathlib import Path

WIDE = "model,seed,step,loss,eval/acc\nA,1,0,2.5,\nA,1,10,1.5,0.25\nB,1,0,3,0.125\n"
LINES = (
    '{"model": "A", "seed": 1, "step": 0, "loss": 2.5, "eval/acc": null}\n'
    '{"model": "A", "seed": 1, "step": 10, "loss": 1.5, "eval/acc": 0.25}\n'
    '{"model": "B", "seed": 1, "step": 0, "loss": 3, "eval/acc": 0.125}\n'
)
EXPECTED = [
    ("eval/acc", "A", "1", "1", 10.0, 0.25),
    ("eval/acc", "B", "1", "1", 0.0, 0.125),
    ("loss", "A", "1", "1", 0.0, 2.5),
    ("loss", "A", "1", "1", 10.0, 1.5),
    ("loss", "B", "1", "1", 0.0, 3.0),
]
SUMMARY = pd.DataFrame({"step": [0, 1, 2], "loss": [0.5, 0.25, 0.125], "value": [1, 2, 3]}).describe()


def tidy(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    """Rows of a frame in one order."""
    rows = frame[["metric", "series", "run", "seed", "step", "value"]].itertuples(index=False, name=None)
    return sorted(rows)


@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_compression_makes_no_difference(tmp_path: Path, compression: str) -> None:
    """CSV, TSV, JSON Lines and JSON in four shapes."""
    rows = [json.loads(line) for line in LINES.splitlines()]
    texts = {
        "csv": WIDE,
        "tsv": WIDE.replace(",", "\t"),
        "jsonl": LINES,
        "ndjson": LINES.replace("\n", "\r\n\n"),
        "json": json.dumps(rows),
        "indented.json": json.dumps(rows, indent=2),
        "columns.json": json.dumps({name: [row[name] for row in rows] for name in rows[0]}),
        "lines.json": LINES,
    }
    for ending, text in texts.items():
        data = Data(tmp_path / ending)
        data.write(f"runs/a.{ending}.{compression}", text)
        assert tidy(data.frame("runs")) == EXPECTED, ending
        assert data.warnings("runs") == []
    data.write("b.jsonl.gz", '\ufeff{"model": "A", "step": 0, "loss": 1}\n')
    assert list(data.frame("b")["value"]) == [1]
    data.write("c.csv.gz", "model,step,loss\r\nA,0,1\nB,1,2\r\n")
    assert list(data.frame("c")["value"]) == [1, 2]


def test_parquet_gives_the_same_table(tmp_path: Path) -> None:
    """Whole numbers, decimals and empty cells come out as in text, in wide and long form."""
    data = Data(tmp_path)
    rows = "('A',1,0,2.5,NULL),('A',1,10,1.5,0.25::FLOAT),('B',1,0,3,0.125)"
    data.parquet("runs.parquet", f'FROM (VALUES {rows}) AS t(model, seed, step, loss, "eval/acc")')
    assert tidy(data.frame("runs")) == EXPECTED
    rows = "('A',1,0,'loss',2.5),('B',1,10,'eval/acc',0.5)"
    data.parquet("long.parquet", f"FROM (VALUES {rows}) AS t(model, seed, step, metric, value)")
    assert data.open("long").metrics == ("loss", "eval/acc")
    assert tidy(data.frame("long", "eval/acc")) == [("eval/acc", "B", "1", "1", 10.0, 0.5)]


def test_many_files_of_several_formats_are_one_table(tmp_path: Path) -> None:
    """Files that do not look alike are read together, in the order of their names."""
    data = Data(tmp_path)
    data.write("runs/a.csv", "model,step,loss\nA,0,1\nA,1,2\n")
    data.write("runs/b.jsonl.gz", '{"step": 0, "loss": 3, "model": "B"}\n')
    data.write("runs/c.csv", "loss,step,model\n4,0,C\n")
    data.parquet("runs/d.parquet", "SELECT 'D' AS model, 0 AS step, 5 AS loss")
    data.write("runs/e.csv", "model,step,loss\nE,0,6\n")
    frame = data.frame("runs")
    assert list(frame["value"]) == [1, 2, 3, 4, 5, 6]
    assert list(frame["series"]) == ["A", "A", "B", "C", "D", "E"]


def test_cells_of_parquet(tmp_path: Path) -> None:
    """Names that are missing, two names of one metric, printed numbers, and a word with its row."""
    data = Data(tmp_path)
    data.parquet("a.parquet", "FROM (VALUES (NULL, 0, 1), ('B', 0, 2)) AS t(model, step, loss)")
    assert list(data.frame("a")["series"]) == ["(unnamed)", "B"]
    rows = "(0, 0.1, NULL, 8), (1, NULL, 0.2, 9)"
    data.parquet("b.parquet", f"FROM (VALUES {rows}) AS t(step, aime, aime24, other)")
    data.write("b.source.yml", "rename_metrics: {aime: AIME, aime24: AIME}")
    assert data.open("b").metrics == ("AIME", "other")
    assert list(data.frame("b", "AIME")["value"]) == [0.1, 0.2]
    rows = "(0, '51.2%', '1,234', '75.5 ± 0.4'), (1, '-', 'null', '**76.5** ± 0.5')"
    data.parquet("c.parquet", f"FROM (VALUES {rows}) AS t(step, share, tokens, score)")
    data.write("c.source.yml", "interval: se\n")
    values = {name: data.frame("c", name)["value"].tolist() for name in ("share", "tokens", "score")}
    assert values == {"share": [0.512], "tokens": [1234.0], "score": [75.5, 76.5]}
    assert data.frame("c", "score")["stderr"].tolist() == [0.4, 0.5]
    data.parquet("d.parquet", "FROM (VALUES (0, '1'), (1, 'x'), (2, '3')) AS t(step, loss)")
    (problem,) = data.problems("d")
    assert problem.startswith('data/d.parquet: "x" in column "loss" of row 2 is not a number.')
    agents = ", ".join(
        f"('{name}', {step}, {rate * step})" for rate, name in enumerate(("DQN", "PPO")) for step in range(9)
    )
    data.parquet("e.parquet", f"FROM (VALUES {agents}) AS t(Agent, step, reward)")
    assert data.open("e").settings.columns.series == "Agent"


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
def test_times_of_parquet(tmp_path: Path, kind: str) -> None:
    """Every type of time that Parquet has is one."""
    data = Data(tmp_path)
    data.parquet("a.parquet", f"SELECT CAST('2024-05-31' AS {kind}) AS day, 1 AS loss")
    frame = data.frame("a", "loss", x="day")
    assert str(frame["step"][0]) == "2024-05-31 00:00:00+00:00"


@pytest.mark.parametrize("kind", ["VARCHAR", "TIMESTAMPTZ"])
def test_times_are_milliseconds(tmp_path: Path, kind: str) -> None:
    """Since 1970, whatever their zone."""
    data = Data(tmp_path)
    stamps = ("2024-05-31 12:00:00+00", "2024-05-31T12:00:00.250Z", "2024-05-31T14:00:00+02:00")
    if kind == "VARCHAR":
        stamps = ("2024-05-31 12:00", *stamps[1:])
    cells = ", ".join(f"'{stamp}'" for stamp in stamps)
    data.parquet("a.parquet", f"SELECT CAST(unnest([{cells}]) AS {kind}) AS date, 1 AS loss")
    table = read_measurements(tmp_path, data.open("a"), ("loss",), x="date")
    assert table.step_is_time
    noon = 1_717_156_800_000
    steps = list(table.frame.sort("row").to_native().fetchnumpy()["step"])
    assert steps == [noon, noon + 250, noon]


@pytest.mark.parametrize("frame", [SUMMARY, SUMMARY.T, SUMMARY[["loss"]].reset_index()])
def test_a_summary_of_pandas_is_refused(tmp_path: Path, frame: pd.DataFrame) -> None:
    """Its index is a column behind the others, or has become one in front of them."""
    data = Data(tmp_path)
    frame.to_parquet(data.write("summary.parquet", ""))
    (problem,) = data.problems("summary")
    assert "this is a summary, as df.describe() of pandas writes it: count, mean, std, min" in problem


def test_parquet_without_rows_is_told(tmp_path: Path) -> None:
    """A file with columns and no rows is an error like an empty text file."""
    data = Data(tmp_path)
    data.parquet("a.parquet", "SELECT 1 AS step, 2 AS loss WHERE false")
    assert data.problems("a") == ["data/a.parquet: the file has no rows. Remove it or write it again."]


def test_parquet_with_damaged_statistics_or_names(tmp_path: Path) -> None:
    """What the file says of its columns is looked at before it is used, and the file is named."""
    data = Data(tmp_path)
    path = data.parquet("a.parquet", "SELECT 'A' AS model, i AS step, i / 7 AS loss FROM range(9) t(i)")
    whole = path.read_bytes()
    smallest = b"\x18\x08" + bytes(8) + b"\x11"
    # The size of a smallest value, the name of a column beside its values, and that of one in the schema.
    damaged = (
        (whole.rindex(smallest) + 1, 0x01),
        (whole.rindex(b"\x05model"), 0x02),
        (whole.rindex(b"\x05model") + 1, 0x80),
        (whole.index(b"loss"), 0x80),
    )
    for place, bit in damaged:
        changed = bytearray(whole)
        changed[place] ^= bit
        path.write_bytes(changed)
        assert data.problems("a") == [
            "data/a.parquet: the file is not Parquet, or damaged. Write or copy it again."
        ], place


MEND = "Mend it, or leave the cell empty."
MANY = 5_000


def many(header: str, row: str, rows: int = MANY) -> str:
    """A header and many rows; ``#`` in a row is its number."""
    return header + "\n" + "".join(row.replace("#", str(number)) + "\n" for number in range(rows))


@pytest.mark.parametrize(
    ("name", "header", "row", "last"),
    [
        ("a.csv", "model,step,loss", "A,#,1.5", "A,77"),
        ("a.csv", "model,step,loss", "A,#,1.5", "A"),
        ("a.csv", "model,step,loss", "A,#,1.5", "A,7,1e-"),
        ("a.csv", "model,step,loss", '"A",#,1.5', '"A'),
        ("a.csv", "model,step,loss", '"A",#,1.5', '"A",7'),
        ("a.csv", "loss,step,model", '1.5,#,"A\nB"', '1.5,7,"A'),
        ("a.jsonl", "", '{"model": "A", "step": #, "loss": 1.5}', '{"model": "A", "st'),
        ("a.json", "", '{"model": "A", "step": #, "loss": 1.5}', '{"model": "A", "st'),
    ],
)
def test_a_torn_last_line_is_left_out(tmp_path: Path, name: str, header: str, row: str, last: str) -> None:
    """As of a small file."""
    data = Data(tmp_path)
    text = many(header, row).removeprefix("\n") + last
    data.write(name, text)
    line = text.count("\n") + 1
    assert data.warnings("a") == [f"data/{name}:{line}: the last line is torn off and was left out."]
    assert len(data.frame("a")) == MANY


@pytest.mark.parametrize(
    ("header", "row", "last"),
    [
        ("model,step,loss", "A,#,1.5", "A,7,2"),
        ("model,step,loss", "A,#,1.5", "A,7,"),
        ("model,step,loss", '"A",#,1.5', '"A\nB, C",7,2'),
        ("step,loss,model", '#,1.5,"A"', '7,2,"A\nB"'),
    ],
)
def test_a_last_line_without_an_end_is_a_row(tmp_path: Path, header: str, row: str, last: str) -> None:
    """As of a small file."""
    data = Data(tmp_path)
    data.write("a.csv", many(header, row) + last)
    assert data.warnings("a") == []
    assert len(data.frame("a")) == MANY + 1


def test_faults_that_no_sample_meets_have_their_lines(tmp_path: Path) -> None:
    """A word, rows of another length, broken bytes, an overlong line and a mark of a merge."""
    data = Data(tmp_path)
    rows = many("model,step,loss", "A,#,1.5")
    data.write("a.csv", rows + "A,0,n/a?\n" + "A,1,2\n" * 50)
    data.write("b.csv", rows + 'A,1\nA,1,2,3\nA,"x\ny",2\n' + "A,1,2\n" * 50)
    data.write("c.csv", rows.encode() + b"\xe9t\xe9,1,2\n" + b"A,1,2\n" * 100)
    data.write("d.csv", "model,step,loss\nA,0,1\n" + "A" * 3_000_000 + ",1,2\n")
    deep = [f"{step},0.5\n" for step in range(200_000)]
    deep.insert(150_000, "<<<<<<< HEAD\n")
    data.write("e.csv", f"step,loss\n{''.join(deep)}")
    assert data.problems("a") == [
        f'data/a.csv:{MANY + 2}: "n/a?" in column "loss" is not a number. {MEND}',
    ]
    assert [one.partition(". ")[0] for one in data.problems("b")[:2]] == [
        f"data/b.csv:{MANY + 2}: the row has 2 cells where the header has 3",
        f"data/b.csv:{MANY + 3}: the row has 4 cells where the header has 3",
    ]
    assert data.problems("c") == [
        f"data/c.csv:{MANY + 2}: the line has bytes that are not UTF-8. Save the file as UTF-8."
    ]
    assert data.problems("d")[0].startswith("data/d.csv:3: the row cannot be read: maximum line size of")
    assert [one.partition(". ")[0] for one in data.problems("e")] == [
        "data/e.csv:150002: this line is a merge conflict mark of Git"
    ]


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_files_that_end_early(tmp_path: Path, ending: str) -> None:
    """A stream that was cut is reported, when it is opened or when it is read."""
    data = Data(tmp_path)
    noise = random.Random(1)  # noqa: S311 - seeded noise, so that it does not compress away
    rows = "".join(f"A,{step},{noise.random()}\n" for step in range(20_000))
    path = data.write(f"a.csv.{ending}", "model,step,loss\n" + rows)
    whole = path.read_bytes()
    for size in (100, len(whole) - 1_000):
        path.write_bytes(whole[:size])
        (told,) = data.problems("a")
        assert told.startswith(
            f"data/a.csv.{ending}: the {'gzip' if ending == 'gz' else 'zstd'} stream is damaged"
        )


def test_names_that_no_sample_meets(tmp_path: Path) -> None:
    """A metric or series of a single row of a large file is found when a question has it."""
    data = Data(tmp_path)
    rows = many("model,step,metric,value", "A,#,loss,1.5").splitlines(keepends=True)
    rows[4_000] = "B,0,rare,0.5\n"
    data.write("a.csv", "".join(rows))
    lines = many("", '{"model": "A", "step": #, "loss": 1.5}', 20_000).splitlines(keepends=True)
    lines[12_345] = '{"model": "B", "step": 0, "rare": 0.5}\n'
    data.write("b.jsonl", "".join(lines))
    for name in "ab":
        assert "rare" not in data.open(name).metrics
        assert list(data.frame(name, "rare")["value"]) == [0.5]
        assert list(data.frame(name, "rare", series=("B",))["value"]) == [0.5]
        assert 'has no metric "rar". Did you mean "rare"?' in data.problems(name, "rar")[0]
    data.write("c.csv", many("step,loss,eval", "#,1.5,") + "1,1,0.5\n")
    assert data.open("c").metrics == ("loss", "eval")
    assert list(data.frame("c", "eval")["value"]) == [0.5]


@pytest.mark.parametrize("sorted_by", ["metric", "model"])
def test_names_of_sorted_tables_are_met(tmp_path: Path, sorted_by: str) -> None:
    """A table made by melting a wide one is sorted by metric; all forty are found without reading it all."""
    data = Data(tmp_path)
    rows = [f"m{a:02},{step},k{b:02},1\n" for a in range(40) for b in range(2) for step in range(200)]
    if sorted_by == "metric":
        rows = [f"m{b:02},{step},k{a:02},1\n" for a in range(40) for b in range(2) for step in range(200)]
    data.write("a.csv", "model,step,metric,value\n" + "".join(rows))
    source = data.open("a")
    assert len(source.metrics) == (40 if sorted_by == "metric" else 2)
    assert len(read_measurements(tmp_path, source, source.metrics).order) == (
        2 if sorted_by == "metric" else 40
    )


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
