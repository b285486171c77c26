"""Excel, NumPy arrays and queries of SQLite that are hostile, damaged, or without end."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, cast

import numpy as np
import openpyxl
import pytest
from made_files import KINDS
from made_sources import Data
from mutated_bytes import mutations
from tries import tries

from reportgen.core.errors import Diagnostics
from reportgen.formats.tables import excel, queries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHEET = KINDS["xlsx"]('[S]\n["model", "seed", "step", "loss"]\n["A", 1, 0, 1.0]\n["A", 1, 10, 0.5]\n')
PART = "xl/worksheets/sheet1.xml"


def unpack(content: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {info.filename: packed.read(info) for info in packed.infolist()}


def pack(members: dict[str, bytes]) -> bytes:
    """An archive of members, with the right checksums."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, own in members.items():
            packed.writestr(name, own)
    return content.getvalue()


def write_arrays(**arrays: object) -> bytes:
    """Arrays as numpy.savez writes them."""
    content, save = io.BytesIO(), cast("Callable[..., None]", np.savez)
    save(content, **arrays)
    return content.getvalue()


def find_problem(root: Path, name: str, content: bytes) -> str:
    """The one problem, or warning, of a source."""
    data = Data(root)
    data.write(name, content)
    found = Diagnostics()
    with found.collecting():
        found.add(data.open(name.partition(".")[0]).warnings)
    (problem,) = found.found
    return str(problem)


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
    members = unpack(SHEET)
    assert old in members[PART]
    members[PART] = members[PART].replace(old, new, 1)
    assert message in find_problem(tmp_path, "s.xlsx", pack(members))


def test_a_sheet_of_wide_empty_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell in the last column of many rows takes the room of all before it: they are counted."""
    monkeypatch.setattr(excel, "MOST_CELLS", 50_000)
    workbook, content = openpyxl.Workbook(), io.BytesIO()
    for row in range(1, 6):
        workbook.worksheets[0].cell(row, 16_384, 1)
    workbook.save(content)
    said = find_problem(tmp_path, "s.xlsx", content.getvalue())
    assert "more than 1,048,576 rows or 50,000 cells" in said


@pytest.mark.random
@pytest.mark.parametrize("name", ["s.xlsx", "z.npz"])
def test_damaged_files_are_refused_or_read(tmp_path: Path, name: str) -> None:
    """Accidents in a member, packed with the right checksum, are a problem of that file or change nothing."""
    arrays = write_arrays(step=np.arange(5), loss=np.ones(5, np.float32), word=np.array(["a"] * 5))
    members, refused, data = unpack(SHEET if name == "s.xlsx" else arrays), 0, Data(tmp_path)
    for member, content in members.items():
        for damaged in mutations(content, tries(8, 100)):
            data.write(name, pack({**members, member: damaged}))
            found = Diagnostics()
            with found.collecting():
                found.add(data.open(name[0]).warnings)
            refused += bool(found.found)
            assert {problem.location.file for problem in found.found} <= {f"data/{name}"}
    assert refused


def test_arrays_that_claim_what_they_do_not_hold(tmp_path: Path) -> None:
    """Numbers that are no characters, and a size in the header that does not fit the bytes that are there."""
    words = np.array([65, 0x110000], np.uint32).view("<U1")
    said = find_problem(tmp_path / "a", "s.npz", write_arrays(loss=np.ones(2), model=words))
    assert "the array model is left out: it holds numbers that are no characters" in said
    file = io.BytesIO()
    np.save(file, np.ones(3))
    claimed = file.getvalue().replace(b"(3,), }      ", b"(3000000000,)", 1)
    assert claimed != file.getvalue()
    assert "no array can be read (loss: " in find_problem(
        tmp_path / "b", "s.npz", pack({"loss.npy": claimed})
    )


def test_statements_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of SQLite and rows are counted; the database stays as it is, and nothing is written beside it."""
    monkeypatch.setattr(queries, "MOST_INSTRUCTIONS", 3_000_000)
    monkeypatch.setattr(queries, "MOST_ROWS", 1000)
    database = KINDS["sqlite"](
        "CREATE TABLE logs (step INTEGER, loss REAL);\nINSERT INTO logs VALUES (1, 0.5);\n"
    )
    endless = "WITH RECURSIVE a(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM a) SELECT"
    messages = {"count(*)": "needs more than 3,000,000 steps of SQLite", "step": "gives more than 1,000 rows"}
    for name, message in messages.items():
        data = Data(tmp_path / name[0])
        data.write("s.source.yml", f"query: {endless} {name} FROM a\n")
        assert message in find_problem(data.root, "s.db", database)
    data.write("s.source.yml", "query: SELECT step, loss FROM logs\n")
    assert list(data.frame("s")["value"]) == [0.5]
    files = {path.name: path.read_bytes() for path in (data.root / "data").iterdir()}
    assert files.keys() == {"s.db", "s.source.yml"}
    assert files["s.db"] == database
