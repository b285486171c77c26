"""Excel, YAML, NumPy arrays and queries of SQLite: read as tables, compared with what was written."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import openpyxl
import pytest
from made_sources import Data
from mutated_bytes import mutations
from tries import tries

from reportgen.core.errors import Diagnostics, ReportError
from reportgen.formats.tables import excel, queries
from reportgen.read import TotalsTable, read_outcomes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUNS = [
    ("model", "seed", "step", "loss"),
    *((m, s, 10 * k, 1 / (k + s)) for m in "AB" for s in (1, 2) for k in range(4)),
]
VALUES = [value for *_, value in RUNS[1:]]


def book(data: Data, name: str = "s.xlsx", **sheets: Sequence[Sequence[Any]]) -> Data:
    """An Excel file as written by openpyxl."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    workbook.save(file)
    data.write(name, file.getvalue())
    return data


def repacked(data: Data, name: str, member: str, old: bytes, new: bytes) -> Data:
    """An Excel file with other bytes in one member."""
    path = data.root / "data" / name
    with zipfile.ZipFile(path) as packed:
        members = {info.filename: packed.read(info) for info in packed.infolist()}
    assert old in members[member]
    members[member] = members[member].replace(old, new, 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for title, content in members.items():
            packed.writestr(title, content)
    return data


def database(data: Data, query: str, name: str = "s.db") -> Data:
    """A database with a table ``logs`` and a statement that selects from it."""
    path = data.root / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE logs (model TEXT, seed INTEGER, step INTEGER, loss REAL)")
        connection.executemany("INSERT INTO logs VALUES (?, ?, ?, ?)", RUNS[1:])
    connection.close()
    data.write("s.source.yml", f"query: |\n  {query}\n")
    return data


def list_scores(data: Data) -> dict[tuple[str, str], float | None]:
    """The totals of the source ``s`` by series and benchmark."""
    source = data.open("s")
    table = TotalsTable(data.root, source)
    return {(one.series, name): one.value for name in source.benchmarks for one in table.get_scores(name)}


def test_excel_has_the_numbers_of_its_cells(tmp_path: Path) -> None:
    """The only sheet that is filled is read, with no other setting."""
    data = book(Data(tmp_path), Runs=RUNS, Notes=[])
    frame = data.frame("s")
    assert list(frame["value"]) == VALUES
    assert list(dict.fromkeys(frame["series"])) == ["A", "B"]
    assert data.warnings("s") == []


def test_the_largest_sheet_is_suggested(tmp_path: Path) -> None:
    """A sheet of notes in front of the table is rarely meant."""
    data = book(Data(tmp_path), Notes=[("Made by hand",)], Runs=RUNS)
    assert data.problems("s")[0].endswith("Name one in data/s.source.yml, as in sheet: Runs.")


def test_of_several_sheets_one_is_named(tmp_path: Path) -> None:
    """By its name, or with a range where the table stands below a title."""
    titled = [("Our best runs",), (), *((None, *row) for row in RUNS)]
    data = book(Data(tmp_path), Runs=RUNS, Scores=titled)
    assert data.problems("s") == [
        (
            "data/s.xlsx: several sheets are filled: Runs and Scores. "
            "Name one in data/s.source.yml, as in sheet: Scores."
        )
    ]
    data.write("s.source.yml", "sheet: Runs\n")
    assert list(data.frame("s")["value"]) == VALUES
    data.write("s.source.yml", "sheet: Scores!B3:E20\n")
    assert list(data.frame("s")["value"]) == VALUES
    data.write("s.source.yml", "sheet: Scors\n")
    (problem,) = data.problems("s")
    assert problem.startswith('data/s.xlsx: sheet: there is no sheet "Scors". Did you mean "Scores"?')


def test_a_sheet_as_papers_write_it(tmp_path: Path) -> None:
    """Merged headers, percentages and ± as in a CSV file."""
    rows = [("Model", "AIME", "MATH"), ("Elm", "51.2%", "**76.8%**"), ("Fir", "48.0%", None)]
    data = book(Data(tmp_path), Scores=rows)
    expected = {("Elm", "AIME"): 0.512, ("Elm", "MATH"): 0.768, ("Fir", "AIME"): 0.48}
    assert list_scores(data) == expected


def test_a_title_above_a_table_is_ignored(tmp_path: Path) -> None:
    """A row of a single cell, and empty ones; the names of columns are the first row that is counted."""
    rows: list[list[object]] = [
        ["Table 1: main results"],
        [],
        ["model", "step", "loss"],
        ["A", 0, 2.5],
        ["A", 10, "x"],
    ]
    data = book(Data(tmp_path), S=rows)
    (problem,) = data.problems("s")
    assert problem.startswith('data/s.xlsx:3: "x" in column "loss" is not a number')
    book(data, S=[*rows[:4], ["A", 10, 1.5]])
    assert [*data.frame("s", "loss")["value"]] == [2.5, 1.5]


def test_cells_of_other_kinds(tmp_path: Path) -> None:
    """Times are an axis, a line break is a space, and a word among numbers is named with its row."""
    moments = [datetime(2026, 11, day, 14, 30, tzinfo=UTC).replace(tzinfo=None) for day in (1, 2)]
    data = book(Data(tmp_path), S=[("model", "step", "loss"), *(("A\nB", one, 0.5) for one in moments)])
    frame = data.frame("s")
    assert list(frame["series"]) == ["A B", "A B"]
    assert frame["step"].diff().iloc[1].total_seconds() == 86_400
    broken = book(Data(tmp_path / "b"), S=[("step", "loss"), (1, 0.5), (2, 0.4), (3, "#DIV/0!")])
    (problem,) = broken.problems("s", "loss")
    assert problem.startswith('data/s.xlsx:4: "#DIV/0!"')


def test_formulas_without_values(tmp_path: Path) -> None:
    """What a library wrote has no values: it is no empty table."""
    data = book(Data(tmp_path), S=[("step", "loss"), (1, "=1/2"), (2, "=1/4")])
    (problem,) = data.problems("s")
    assert 'the formulas of the sheet "S" have no values' in problem
    assert problem.endswith("Open the file in a spreadsheet program and save it.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"<worksheet", b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet', "declares entities"),
        (b'<row r="2"', b'<row r="999999999999"', "more than 1,048,576 rows"),
        (b"</sheetData>", b"<row></sheetData>", "no Excel workbook, or damaged"),
        (b"<sheetData>", b"<sheetData>" + b" " * (20 << 20), "unpacks to more than 200 times"),
    ],
)
def test_hostile_sheets(tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    """Entities, rows without end and zip bombs are refused with a word about it."""
    data = repacked(book(Data(tmp_path), S=RUNS), "s.xlsx", "xl/worksheets/sheet1.xml", old, new)
    (problem,) = data.problems("s")
    assert message in problem


def test_a_sheet_of_wide_empty_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell in the last column of many rows takes the room of all before it: they are counted."""
    monkeypatch.setattr(excel, "MOST_CELLS", 50_000)
    workbook = openpyxl.Workbook()
    for row in range(1, 6):
        workbook.worksheets[0].cell(row, 16_384, 1)
    workbook.save(Data(tmp_path).write("s.xlsx", b""))
    (problem,) = Data(tmp_path).problems("s")
    assert "more than 1,048,576 rows or 50,000 cells" in problem


@pytest.mark.random
@pytest.mark.parametrize("name", ["s.xlsx", "z.npz"])
def test_damaged_files_are_refused_or_read(tmp_path: Path, name: str) -> None:
    """Accidents in a member, packed with the right checksum, are a problem of that file or change nothing."""
    data = book(Data(tmp_path), S=RUNS)
    file = io.BytesIO()
    np.savez(file, step=np.arange(5), loss=np.ones(5, np.float32), word=np.array(["a"] * 5))
    data.write("z.npz", file.getvalue())
    path = tmp_path / "data" / name
    with zipfile.ZipFile(path) as packed:
        members = {info.filename: packed.read(info) for info in packed.infolist()}
    refused = 0
    for member, content in members.items():
        for damaged in mutations(content, tries(8, 100)):
            with zipfile.ZipFile(path, "w") as packed:
                for title, own in {**members, member: damaged}.items():
                    packed.writestr(title, own)
            found = Diagnostics()
            with found.collecting():
                found.add(data.open(name[0]).warnings)
            refused += bool(found.found)
            assert {problem.location.file for problem in found.found} <= {f"data/{name}"}
    assert refused


def test_arrays_are_columns(tmp_path: Path) -> None:
    """Numbers of each kind are exact; two axes are a column for each index of the second."""
    steps, loss = np.arange(6), np.linspace(0, 1, 6, dtype=np.float32)
    scores = np.arange(12.0).reshape(6, 2)
    file = io.BytesIO()
    np.savez(file, step=steps, loss=loss, scores=scores, model="A", big=np.ones((2, 2, 2)), odd=np.ones(4))
    data = Data(tmp_path)
    data.write("s.npz", file.getvalue())
    assert [float(one) for one in data.frame("s", "loss")["value"]] == [float(str(one)) for one in loss]
    assert list(data.frame("s", "scores[1]")["value"]) == list(scores[:, 1])
    assert set(data.frame("s", "loss")["series"]) == {"A"}
    assert data.warnings("s") == [
        "data/s.npz: the array big is left out: it has 3 axes, and at most 2 are read.",
        "data/s.npz: the array odd is left out: it has 4 rows where others have 6.",
    ]


def test_pickles_in_arrays_never_run(tmp_path: Path) -> None:
    """An array of Python objects is named, and read by nobody."""
    file = io.BytesIO()
    np.savez(file, runs=np.array([{"loss": 1}], object))
    data = Data(tmp_path)
    data.write("s.npz", file.getvalue())
    (problem,) = data.problems("s")
    assert "runs: it holds Python objects, which cannot be read without running code" in problem


def test_an_array_of_numbers_that_are_no_characters(tmp_path: Path) -> None:
    """A damaged text ends in words, not in an error of Python's own."""
    file = io.BytesIO()
    np.savez(file, loss=np.ones(2), model=np.array([65, 0x110000], np.uint32).view("<U1"))
    data = Data(tmp_path)
    data.write("s.npz", file.getvalue())
    (problem,) = data.warnings("s")
    assert "the array model is left out: it holds numbers that are no characters" in problem


def test_an_array_that_claims_a_size(tmp_path: Path) -> None:
    """The header of an array is believed only where it fits the bytes that are there."""
    file = io.BytesIO()
    np.save(file, np.ones(3))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("loss.npy", file.getvalue().replace(b"(3,), }      ", b"(3000000000,)", 1))
    data = Data(tmp_path)
    data.write("s.npz", packed.getvalue())
    assert "no array can be read (loss: " in data.problems("s")[0]


def test_rows_that_a_statement_selects(tmp_path: Path) -> None:
    """The database stays as it is, and the statement may be of several lines."""
    data = database(
        Data(tmp_path), "SELECT model, seed, step,\n    loss FROM logs WHERE step > 0 -- no start"
    )
    before = (tmp_path / "data/s.db").read_bytes()
    assert list(data.frame("s")["value"]) == [1 / (k + s) for _ in "AB" for s in (1, 2) for k in (1, 2, 3)]
    assert (tmp_path / "data/s.db").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["s.db", "s.source.yml"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DROP TABLE logs", "is no statement that selects rows"),
        ("SELECT 1; DROP TABLE logs", "one statement at a time"),
        ("WITH a AS (SELECT 1) DELETE FROM logs", 'does more than that: "logs"'),
        ("SELECT * FROM pragma_table_info('logs')", "may only select rows"),
        ("SELECT load_extension('x') AS step", 'does more than that: "load_extension"'),
        ("SELECT random() AS step, loss FROM logs", 'does more than that: "random"'),
        ("SELECT loss FROM log", "no such table: log. There are logs"),
        ("SELECT lss FROM logs", "no such column: lss. There are "),
        ("SELECT loss FROM logs WHERE 0", "gives no row"),
    ],
)
def test_statements_that_are_refused(tmp_path: Path, query: str, message: str) -> None:
    """Whatever is not one SELECT, with what there is instead."""
    (problem,) = database(Data(tmp_path), query).problems("s")
    assert problem.startswith("data/s.db: query: ")
    assert message in problem


def test_statements_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of SQLite and rows are counted."""
    monkeypatch.setattr(queries, "MOST_INSTRUCTIONS", 3_000_000)
    monkeypatch.setattr(queries, "MOST_ROWS", 1000)
    endless = "WITH RECURSIVE a(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM a) SELECT"
    (problem,) = database(Data(tmp_path / "a"), f"{endless} count(*) FROM a").problems("s")
    assert "needs more than 3,000,000 steps of SQLite" in problem
    (problem,) = database(Data(tmp_path / "b"), f"{endless} step FROM a").problems("s")
    assert "gives more than 1,000 rows" in problem


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "s.h5",
            'an HDF5 file, and is not read. Write it as Parquet, as in pandas.read_hdf("s.h5").to_parquet(',
        ),
        (
            "s.pkl",
            "a pickle, which runs code as it is read, and is not read. Write its numbers with numpy.savez",
        ),
        (
            "s.npy",
            "a single NumPy array without a name, and is not read. Write its numbers with numpy.savez, as in",
        ),
        ("s.xls", "an Excel file of an older or binary kind, and is not read. Save it as .xlsx or CSV."),
    ],
)
def test_formats_that_are_not_read(tmp_path: Path, name: str, message: str) -> None:
    """By itself or alone in a folder, the kind of the file is named, and what to write instead."""
    alone, folder = Data(tmp_path / "a"), Data(tmp_path / "b")
    alone.write(name, b"\x89HDF\r\n\x1a\n\0\0")
    folder.write(f"s/{name}", b"\x89HDF\r\n\x1a\n\0\0")
    assert message in alone.problems("s")[0]
    assert message in folder.problems("s")[0]


SAMPLED = [
    {"model": "A", "problem": "p1", "correct": [True, False], "tokens": [10, 20], "level": 1},
    {"model": "A", "problem": "p2", "correct": [], "tokens": [], "level": 2},
    {"model": "B", "problem": "p1", "correct": [True, True], "tokens": [30, 40], "level": 1},
]


def list_samples(data: Data) -> list[tuple[Any, ...]]:
    """Series, problem, score, tokens and level of every answer of the source ``s``."""
    table = read_outcomes(data.root, data.open("s"))
    with table.reading():
        rows = (
            table.frame.to_native().order('"row"').project("series, problem, score, tokens, level").fetchall()
        )
    return [tuple(None if cell is None else str(cell) for cell in row) for row in rows]


def list_problems(data: Data) -> list[str]:
    """What is wrong with the source ``s``."""
    with pytest.raises(ReportError) as caught:
        data.open("s")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_lists_of_samples(tmp_path: Path, form: str) -> None:
    """A problem with a list of scores has a sample for each; one without any has no score."""
    data = Data(tmp_path)
    if form == "json":
        data.write("s.json", json.dumps({name: [row[name] for row in SAMPLED] for name in SAMPLED[0]}))
    else:
        data.write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in SAMPLED))
        duckdb.read_json(str(tmp_path / "data/rows.jsonl")).write_parquet(str(tmp_path / "data/s.parquet"))
    assert data.warnings("s") == []
    assert list_samples(data) == [
        ("A", "p1", "1.0", "10.0", "1"),
        ("A", "p1", "0.0", "20.0", "1"),
        ("A", "p2", None, None, "2"),
        ("B", "p1", "1.0", "30.0", "1"),
        ("B", "p1", "1.0", "40.0", "1"),
    ]


def test_lists_of_samples_of_different_lengths(tmp_path: Path) -> None:
    """Which tokens are whose cannot be known, so every such row is named."""
    data = Data(tmp_path)
    data.parquet(
        "s.parquet", "SELECT 'A' model, 'p' || i problem, [1, 0] correct, range(i) tokens FROM range(4) t(i)"
    )
    advice = "Give each list an item for each sample."
    message = 'data/s.parquet: the lists of "correct" and "tokens" have different lengths in row'
    assert list_problems(data) == [f"{message} {row}. {advice}" for row in (0, 1, 3)]
