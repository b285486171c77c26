"""Formats: one table, however it is written, is one table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import duckdb
import pytest
from made_sources import LONG, Data

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

WIDE = "model,seed,step,loss,eval/acc\nA,1,0,2.5,\nA,1,10,1.5,0.25\nB,1,0,3,0.125\n"
ROWS = [
    {"model": "A", "seed": 1, "step": 0, "loss": 2.5, "eval/acc": None},
    {"model": "A", "seed": 1, "step": 10, "loss": 1.5, "eval/acc": 0.25},
    {"model": "B", "seed": 1, "step": 0, "loss": 3, "eval/acc": 0.125},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
TEXTS = {
    "csv": WIDE,
    "tsv": WIDE.replace(",", "\t"),
    "jsonl": "\n".join(map(json.dumps, ROWS)) + "\n",
    "ndjson": "\r\n\n".join(map(json.dumps, ROWS)),
    "json": json.dumps(ROWS),
    "indented.json": json.dumps(ROWS, indent=2),
    "columns.json": json.dumps(COLUMNS),
    "lines.json": "\n".join(map(json.dumps, ROWS)),
}


def tidy(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    """Rows of a frame in one order."""
    rows = frame[["metric", "series", "run", "seed", "step", "value"]].itertuples(index=False, name=None)
    return sorted(rows)


EXPECTED = [
    ("eval/acc", "A", "1", "1", 10.0, 0.25),
    ("eval/acc", "B", "1", "1", 0.0, 0.125),
    ("loss", "A", "1", "1", 0.0, 2.5),
    ("loss", "A", "1", "1", 10.0, 1.5),
    ("loss", "B", "1", "1", 0.0, 3.0),
]


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", TEXTS)
def test_every_text_format_and_compression_gives_the_same_table(
    tmp_path: Path, ending: str, compression: str
) -> None:
    """CSV, TSV, JSON Lines and JSON in three shapes, plain, gzip or zstd."""
    data = Data(tmp_path)
    data.write(f"runs/a.{ending}{compression}", TEXTS[ending])
    assert tidy(data.frame("runs")) == EXPECTED
    assert data.open("runs").metrics == ("loss", "eval/acc")
    assert data.open("runs").warnings == ()


def test_parquet_gives_the_same_table(tmp_path: Path) -> None:
    """Whole numbers, decimals and empty cells of a Parquet file come out as in text."""
    data = Data(tmp_path)
    rows = "('A',1,0,2.5,NULL),('A',1,10,1.5,0.25::FLOAT),('B',1,0,3,0.125)"
    data.parquet("runs.parquet", f'FROM (VALUES {rows}) AS t(model, seed, step, loss, "eval/acc")')
    assert tidy(data.frame("runs")) == EXPECTED


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_long_form(tmp_path: Path, ending: str) -> None:
    """A row a value with its metric beside it; rows of other metrics are not read."""
    data = Data(tmp_path)
    path = data.write("runs.csv", LONG)
    if ending != "csv":
        options = "FORMAT json" if ending == "jsonl" else "FORMAT parquet"
        duckdb.sql(f"COPY (FROM read_csv('{path}')) TO '{path.with_suffix('.' + ending)}' ({options})")
        path.unlink()
    assert data.open("runs").metrics == ("loss", "eval/acc")
    frame = data.frame("runs", "eval/acc")
    assert tidy(frame) == [("eval/acc", "B", "1", "1", 10.0, 0.5)]
    assert tidy(data.frame("runs"))[1:3] == [
        ("loss", "A", "1", "1", 0.0, 2.5),
        ("loss", "A", "1", "1", 10.0, 1.5),
    ]


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


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_csv_is_seen_in_the_header(tmp_path: Path, delimiter: str) -> None:
    """Spreadsheets write CSV with semicolons or tabs, too."""
    data = Data(tmp_path)
    data.write("a.csv", "model,step,loss\nA,0,1.5\n".replace(",", delimiter))
    assert tidy(data.frame("a")) == [("loss", "A", "", None, 0.0, 1.5)]


def test_nan_and_infinity_of_python_are_read_from_json(tmp_path: Path) -> None:
    """Bare NaN and Infinity, which Python writes and JSON does not know, are values."""
    data = Data(tmp_path)
    data.write(
        "a.jsonl", '{"step": 0, "loss": NaN}\n{"step": 1, "loss": -Infinity}\n{"step": 2, "loss": "NaN"}\n'
    )
    data.write("b.json", '[{"step": 0, "loss": Infinity}, {"step": 1, "loss": 2}]')
    assert list(map(str, data.frame("a")["value"])) == ["nan", "-inf", "nan"]
    assert list(data.frame("b")["value"]) == [float("inf"), 2.0]


def test_nested_values_are_words(tmp_path: Path) -> None:
    """An object or a list in a cell is no metric and does not disturb the others."""
    data = Data(tmp_path)
    data.write("a.jsonl", '{"step": 0, "loss": 1, "config": {"lr": 1}, "tags": [1, 2], "done": true}\n')
    source = data.open("a")
    assert source.metrics == ("loss",)
    assert source.columns == ("step", "loss", "config", "tags", "done")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", '{"lr": 0.1}', "a.json: the file is neither a list of objects nor an object of lists"),
        ("a.json", "[1, 2]", "a.json: the file is neither a list of objects nor an object of lists"),
        ("a.json", '{"a": [1], "b": [1, 2]}', 'a.json: the column "b" has 2 values and "a" has 1'),
        ("a.json", '[{"a": 1},\n {"a": }]', "a.json:2: the file is not JSON: expecting value"),
        ("a.json", "[]", "a.json: the file has no rows"),
        ("a.json", '{"a": []}', "a.json: the file has no rows"),
        ("a.json", "[" * 100_000, "a.json: the JSON is nested too deeply"),
        ("a.jsonl", "[1]\n[2]\n", "a.jsonl:1: the line is not a JSON object"),
        ("a.jsonl", '{"step": 1}\n{"step": \n{"step": 3}\n', "a.jsonl:2: the line is not a JSON object"),
        ("a.jsonl", "\n\n", "a.jsonl: the file has no rows"),
        ("a.parquet", "PAR1 no", "a.parquet: the file is not Parquet, or damaged"),
        ("a.csv", "1,2\n3,4\n", "a.csv:1: the first line holds numbers, not column names"),
        ("a.csv", "\na,b\n", "a.csv:1: the first line is empty; it should hold the column names"),
        ("a.csv", "a,b,a\n1,2,3\n", "a.csv:1: more than one column is called a"),
    ],
)
def test_a_file_that_is_no_table_is_told(tmp_path: Path, name: str, text: str, told: str) -> None:
    """What stands in a file that cannot be a table is said, with the line where there is one."""
    data = Data(tmp_path)
    data.write(name, text)
    assert data.problems("a")[0].startswith(f"data/{told}")


def test_parquet_without_rows_is_told(tmp_path: Path) -> None:
    """A Parquet file with columns and no rows is an error like an empty text file."""
    data = Data(tmp_path)
    data.parquet("a.parquet", "SELECT 1 AS step, 2 AS loss WHERE false")
    assert data.problems("a") == ["data/a.parquet: the file has no rows. Remove it or write it again."]


def test_names_that_differ_only_in_capitals(tmp_path: Path) -> None:
    """DuckDB takes Loss and loss for one name; columns of CSV and keys of JSON are told apart."""
    data = Data(tmp_path)
    data.write("a.csv", "step,Loss,loss\n0,1,2\n")
    data.write("b.jsonl", '{"step": 0, "Loss": 1, "loss": 2}\n')
    data.write("c.json", '{"step": [0], "Loss": [1], "loss": [2]}')
    data.write("d.json", '[{"step": 0, "Loss": 1, "loss": 2}]')
    for name in "abcd":
        assert [row[0::5] for row in tidy(data.frame(name))] == [("Loss", 1.0), ("loss", 2.0)], name
        assert list(data.frame(name, "loss")["value"]) == [2.0]


def test_keys_that_differ_in_capitals_and_have_signs_of_pointers(tmp_path: Path) -> None:
    """Slash and tilde are parts of the key, and an empty cell stays empty."""
    data = Data(tmp_path)
    rows = ({"step": 0, "A/b~c": 1, "a/b~c": None}, {"step": 1, "A/b~c": 3, "a/b~c": 4.5})
    data.write("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    data.write("c.json", json.dumps({key: [row[key] for row in rows] for key in rows[0]}))
    for name in "bc":
        assert [(metric, value) for metric, *_, value in tidy(data.frame(name)) if value is not None] == [
            ("A/b~c", 1.0),
            ("A/b~c", 3.0),
            ("a/b~c", 4.5),
        ]


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
