"""Sheets of Excel files (``.xlsx``, ECMA-376) as tab-separated text: the values of cells, not their formulas.

openpyxl reads a sheet row by row. It bounds neither what an archive unpacks to nor what a sheet claims to
hold, so every member is unpacked within the limits of ``archive`` first, entities are refused, and rows and
cells are counted, with the empty cells that stand before a filled one.
"""

from __future__ import annotations

import re
import struct
import warnings
import zipfile
import zlib
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.formats.archive import open_archive
from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.messages import list_names, suggest_names
from reportgen.formats.runs import UnreadableError
from reportgen.formats.tables.delimited import write_separated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.formats.layout import Content


MOST_ROWS: Final = 1 << 20
"""Rows of a sheet, as in Excel itself."""
MOST_CELLS: Final = 20_000_000
"""Cells of a sheet, with the empty ones before the last of each row."""
_RANGE: Final = re.compile(
    r"(?P<sheet>.+)!\$?(?P<left>[A-Za-z]{1,3})\$?(?P<top>\d{1,7}):\$?(?P<right>[A-Za-z]{1,3})\$?(?P<bottom>\d{1,7})"
)
_FORMULA: Final = re.compile(rb"<f[ />]")
# Enough rows to see whether a sheet is filled.
_ROWS_OF_A_HEAD: Final = 1000
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, SyntaxError, RecursionError),
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, NotImplementedError),
)


class _Sheet(NamedTuple):
    """A sheet by its name, and what is read of it: first column and row, last column and row, from 1."""

    name: str
    bounds: tuple[int, int, int, int] = (1, 1, MOST_COLUMNS, MOST_ROWS)


def write_sheet(content: Content, requested: str | None) -> str:
    """Return a sheet as tab-separated text, a line for each row from the first filled one on.

    ``requested`` is the name of the sheet, also with a range as in ``Scores!B3:F20``; None for the only one
    that is filled. Raises ``ReportError`` if there is no such sheet, or if the file is none of Excel's.
    """
    content.check()
    with content.open() as file:
        if file.read(2) != b"PK":
            message = "it is no Excel workbook, which is a zip archive with the ending .xlsx"
            advice = "Save it as .xlsx again; if it is a table as text, let its name end in .csv or .tsv"
            raise content.make_error(message, advice)
    has_formulas = _check_members(content)
    try:
        with warnings.catch_warnings():
            # They are about charts, validation and styles, none of which is read.
            warnings.simplefilter("ignore")
            sheet = _choose_sheet(content, requested)
            rows = _trim(_read_rows(content, sheet))
            is_computed = not has_formulas or _is_computed(content, sheet)
    except _DAMAGE as error:
        message = "the file is no Excel workbook, or damaged"
        raise content.make_error(message, "Save it as .xlsx again, or as CSV") from error
    # A title stands alone in the rows above a table.
    widths = [len(row) - row.count(None) for row in rows]
    first = next((place for place, width in enumerate(widths) if width > 1), 0)
    rows = rows[first:] if all(row[0] is not None for row in rows[:first] if any(row)) else rows
    if not is_computed:
        message = f'the formulas of the sheet "{sheet.name}" have no values: what wrote them computed none'
        raise content.make_error(message, "Open the file in a spreadsheet program and save it")
    if not rows:
        message = f'the sheet "{sheet.name}" is empty'
        raise content.make_error(message, "Name another with sheet: in source.yml")
    return write_separated(content, rows)


def _check_members(content: Content) -> bool:
    """Unpack every member within limits, refuse entities, and return whether a sheet has formulas."""
    has_formulas = False
    try:
        with open_archive(content.path) as archive:
            if archive.torn:
                raise content.make_error("the file is cut off", "Copy or save it again")
            for name in sorted(archive.names):
                data = archive.read(name)
                is_xml = name.lower().endswith((".xml", ".rels"))
                if is_xml and (b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data[:4096]):
                    message = (
                        f"{name} in the file declares entities or is not UTF-8, which Excel never writes"
                    )
                    advice = "Save it with a spreadsheet program, or leave it out with files:"
                    raise content.make_error(message, advice)
                has_formulas = has_formulas or (
                    name.startswith("xl/worksheets/") and bool(_FORMULA.search(data))
                )
    except UnreadableError as error:
        fault = error.problem
        raise content.make_error(f"it is no Excel file: {fault.message}", fault.next_step) from None
    return has_formulas


@contextmanager
def _open_workbook(content: Content, *, formulas: bool = False) -> Iterator[Any]:
    from openpyxl import load_workbook  # noqa: PLC0415 - takes a fifth of a second

    with content.path.open("rb") as file:
        yield load_workbook(file, read_only=True, data_only=not formulas, keep_links=False)


def _choose_sheet(content: Content, requested: str | None) -> _Sheet:
    from openpyxl.utils import column_index_from_string  # noqa: PLC0415 - as above

    with _open_workbook(content) as workbook:
        states = {sheet.title: sheet.sheet_state for sheet in workbook.worksheets}
    if requested is not None:
        ranged = None if requested in states else _RANGE.fullmatch(requested)
        name = ranged["sheet"].strip("'") if ranged else requested
        if name not in states:
            message, advice = (
                f'sheet: there is no sheet "{name}"',
                suggest_names(name, [*states], "There are"),
            )
            raise content.make_error(message, advice)
        if ranged is None:
            return _Sheet(name)
        columns = [column_index_from_string(ranged[group].upper()) for group in ("left", "right")]
        return _Sheet(name, (columns[0], int(ranged["top"]), columns[1], int(ranged["bottom"])))
    shown = [name for name, state in states.items() if state == "visible"]
    heads = ((name, islice(_read_rows(content, _Sheet(name)), _ROWS_OF_A_HEAD)) for name in shown)
    filled = {name: sum(map(len, cells)) for name, rows in heads if (cells := _trim(rows))}
    if len(filled) > 1:
        message, largest = (
            f"several sheets are filled: {list_names(filled)}",
            max(filled, key=filled.__getitem__),
        )
        raise content.make_error(message, f"Name one in source.yml, as in sheet: {largest}")
    return _Sheet([*filled, *states][0])


def _read_rows(content: Content, sheet: _Sheet, *, formulas: bool = False) -> Iterator[Sequence[object]]:
    """Yield the rows of a sheet, of different lengths; raise ``ReportError`` beyond the limits."""
    first_column, first, last_column, last = sheet.bounds
    cells = 0
    with _open_workbook(content, formulas=formulas) as workbook:
        found = workbook[sheet.name]
        # Some programs write a size that is not that of the sheet.
        found.reset_dimensions()
        for number, row in enumerate(found.iter_rows(values_only=True), 1):
            cells += len(row)
            if number > MOST_ROWS or cells > MOST_CELLS:
                message = f"the sheet has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells"
                raise content.make_error(message, "Save it as CSV or Parquet")
            if number > last:
                return
            if number >= first:
                yield row[first_column - 1 : last_column]


def _trim(rows: Iterable[Sequence[object]]) -> list[Sequence[object]]:
    """Return rows of one length, without empty rows and columns around the filled cells."""
    listed: list[Sequence[object]] = []
    filled: list[list[int]] = []
    for row in rows:
        places = [index for index, cell in enumerate(row) if cell is not None and cell != ""]
        if places or listed:
            listed.append(row)
            filled.append(places)
    while filled and not filled[-1]:
        filled.pop()
    begin = min((places[0] for places in filled if places), default=0)
    end = max((places[-1] for places in filled if places), default=-1) + 1
    return [(*row[begin:end], *[None] * (end - max(len(row), begin))) for row in listed[: len(filled)]]


def _is_computed(content: Content, sheet: _Sheet) -> bool:
    """Return whether a formula of a sheet has a value, or the sheet has none."""
    both = zip(_read_rows(content, sheet), _read_rows(content, sheet, formulas=True), strict=False)
    pairs = (pair for rows in both for pair in zip(*rows, strict=False))
    # A formula is a text or, for several cells, an object with a range.
    computed = [
        value is not None
        for value, written in pairs
        if (isinstance(written, str) and written.startswith("=")) or hasattr(written, "ref")
    ]
    return any(computed) or not computed
