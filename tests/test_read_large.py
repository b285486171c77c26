"""Large, compressed and Parquet files: what no sample meets is read and reported as in small ones."""

from __future__ import annotations

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

MANY = 5_000
SUMMARY = pd.DataFrame({"step": [0, 1, 2], "loss": [0.5, 0.25, 0.125], "value": [1, 2, 3]}).describe()


def many(header: str, row: str, rows: int = MANY) -> str:
    """A header and many rows; ``#`` in a row is its number."""
    return header + "\n" + "".join(row.replace("#", str(number)) + "\n" for number in range(rows))


def test_times_of_parquet(tmp_path: Path) -> None:
    """Every type of time that Parquet has is one; they are milliseconds since 1970, whatever their zone."""
    data = Data(tmp_path)
    for kind in ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        data.parquet(f"{kind}.parquet", f"SELECT CAST('2024-05-31' AS {kind}) AS day, 1 AS loss")
        assert str(data.frame(kind, "loss", x="day")["step"][0]) == "2024-05-31 00:00:00+00:00"
    noon = 1_717_156_800_000
    for kind, first in (("VARCHAR", "2024-05-31 12:00"), ("TIMESTAMPTZ", "2024-05-31 12:00:00+00")):
        cells = f"'{first}', '2024-05-31T12:00:00.250Z', '2024-05-31T14:00:00+02:00'"
        data.parquet(f"{kind}.parquet", f"SELECT CAST(unnest([{cells}]) AS {kind}) AS date, 1 AS loss")
        table = read_measurements(tmp_path, data.open(kind), ("loss",), x="date")
        assert table.step_is_time
        steps = list(table.frame.sort("row").to_native().fetchnumpy()["step"])
        assert steps == [noon, noon + 250, noon]


@pytest.mark.parametrize("frame", [SUMMARY, SUMMARY.T])
def test_a_summary_of_pandas_is_refused(tmp_path: Path, frame: pd.DataFrame) -> None:
    """Its index is a column behind the others, or has become one in front of them."""
    data = Data(tmp_path)
    frame.to_parquet(data.write("summary.parquet", ""))
    (problem,) = data.problems("summary")
    assert "this is a summary, as df.describe() of pandas writes it: count, mean, std, min" in problem


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
        f'data/a.csv:{MANY + 2}: "n/a?" in column "loss" is not a number. Mend it, or leave the cell empty.',
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
