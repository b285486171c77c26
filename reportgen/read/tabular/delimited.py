"""CSV and TSV: a header line, then a row a line; every cell is read as text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from reportgen.errors import ReportError
from reportgen.read import sql
from reportgen.read.cells import Kind, infer_kind, is_missing, is_number
from reportgen.read.content import limit_problems, make_columns_error
from reportgen.read.layout import FileLayout, Look, Row
from reportgen.read.limits import MOST_COLUMNS
from reportgen.read.tabular import wandb_csv
from reportgen.read.tabular.sampling import (
    NOT_UTF8,
    decode_text,
    find_last_line,
    find_line_number,
    has_even_ends,
    is_utf8,
    keep_whole_lines,
    read_lines,
    sample_lines,
)
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.errors import Problem
    from reportgen.read.content import Content, Head
    from reportgen.read.tabular.sampling import LastLine

FREE_COLUMNS: Final = False
_HEAD: Final = 64 << 10
_ROWS_OF_A_HEAD: Final = 200
_FEW_LONG_ROWS: Final = 5
_QUOTE: Final = '"'
# Each further word costs time where a reader makes millions of numbers.
_NOTHING: Final = ("", "null", "None", "NA")
_LINE_END: Final = re.compile(r"[\r\n]")
# A cell may hold a whole document; the limit of Python's reader is 128 kB otherwise.
csv.field_size_limit(16 << 20)


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Header and a bounded sample: the first rows, and a few from places all over the file.

    Raises:
        ReportError: everything that is wrong with the file, if something shows in the sample.
    """
    head = content.read_head(_HEAD)
    text = decode_text(content, keep_whole_lines(head))
    header, delimiter = _parse_header(content, text, form)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    next(reader)
    sample = [row for row in islice(reader, None if head.complete else _ROWS_OF_A_HEAD) if row]
    file = FileLayout(content.name, form, content.compression, header, (sql.TEXT,) * len(header), delimiter)
    torn = _find_torn_line(content, file, head, sample)
    if torn:
        sample = sample[: -1 if head.complete else None]
        file = replace(file, keep=torn.offset)
    pieces = sample_lines(content, head)
    if _QUOTE not in text:
        sample += _parse_spots(pieces, file)
    if any(len(row) != len(header) for row in sample):
        raise ReportError(
            *limit_problems(row for row in read_rows(content, file, ()) if not isinstance(row, Row))
        )
    if not sample and not head.complete:
        sample = _read_long_rows(content, file)
    if not sample:
        raise content.make_error("the file has a header and no rows", "Remove it or write it again", 1)
    file = replace(file, even_ends=has_even_ends([head.data, *pieces]))
    warnings = (_warn_torn(content, torn),) if torn else ()
    return Look(file, [tuple(row) for row in sample], head.complete, warnings)


def scan(files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
    """A SELECT of the wanted columns of files that all look like ``file``.

    Its columns are ``k0, k1, ...``, in the order of ``columns``, ``file`` (place in ``files``) and ``row``.
    """
    kinds = [
        kind if name in columns else sql.TEXT for name, kind in zip(file.columns, file.types, strict=True)
    ]
    safe = {f"c{place}": kind for place, kind in enumerate(kinds)}
    # Where the reader makes numbers itself, it has to know the words for nothing.
    nulls = f"nullstr=[{sql.quote_all(_NOTHING)}], " if set(kinds) != {sql.TEXT} else ""
    picked = "".join(f"c{file.columns.index(name)} AS k{place}, " for place, name in enumerate(columns))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, row_number() OVER () AS row "  # noqa: S608 - quoted
        f"FROM read_csv({sql.quote_paths(files)}, columns={sql.make_struct(safe)}, auto_detect=false, header=true, "
        f"delim={sql.quote(file.variant)}, quote='\"', escape='\"', {nulls}"
        f"compression={sql.quote(file.compression or 'none')})"
    )


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Problem]:
    """Every row with its line number, and a problem in place of each that cannot be read."""
    alien: list[int] = []
    reader = csv.reader(_check_lines(read_lines(content, file.keep), alien), delimiter=file.variant)
    places = [(name, file.columns.index(name)) for name in columns if name in file.columns]
    line = 1
    try:
        for cells in reader:
            yield from (content.make_problem(*NOT_UTF8, number) for number in alien)
            alien.clear()
            if cells and len(cells) != len(file.columns):
                message = f"the row has {len(cells)} cells where the header has {len(file.columns)}"
                yield content.make_problem(message, "Look for a missing delimiter or an open quote", line)
            elif cells and line > 1:
                yield Row(line, line - 1, {name: cells[place] for name, place in places})
            line = reader.line_num + 1
    except csv.Error as error:
        yield content.make_problem(f"the row cannot be read: {error}", "Look for an open quote", line)


def _parse_header(content: Content, text: str, form: str) -> tuple[tuple[str, ...], str]:
    """Column names and the delimiter."""
    first = _LINE_END.split(text, maxsplit=1)[0]
    delimiter = "\t"
    if form != "tsv":
        delimiter = "," if "," in first else max(",;\t|", key=first.count)
    if first.count(delimiter) >= MOST_COLUMNS:
        raise make_columns_error(content.name, first.count(delimiter) + 1)
    cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    header = tuple(cell.strip() for cell in cells)
    if not any(header):
        raise content.make_error("the first line is empty; it should hold the column names", "Add them", 1)
    if all(is_missing(cell) or is_number(cell) for cell in header):
        raise content.make_error("the first line holds numbers, not column names", "Add a line of names", 1)
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice and form != "tsv" and wandb_csv.is_table_of_runs(header):
        raise content.make_error(wandb_csv.TABLE_OF_RUNS, wandb_csv.RUNS_TABLE_ADVICE, 1)
    if twice and wandb_csv.is_chart(header):
        return wandb_csv.number_twins(header), delimiter
    if twice:
        message = f"more than one column is called {list_names(twice)}"
        raise content.make_error(message, "Give each column a name of its own", 1)
    return header, delimiter


def _read_long_rows(content: Content, file: FileLayout) -> list[list[str]]:
    """The first rows of a file whose head does not hold one of them.

    Raises:
        ReportError: they cannot be read, such as one that is longer than is ever read.
    """
    first = list(islice(read_rows(content, file, ()), _FEW_LONG_ROWS))
    if wrong := [row for row in first if not isinstance(row, Row)]:
        raise ReportError(*wrong)
    reader = csv.reader(read_lines(content), delimiter=file.variant)
    next(reader)
    return [row for row in islice(reader, _FEW_LONG_ROWS) if row]


def _find_torn_line(
    content: Content, file: FileLayout, head: Head, sample: list[list[str]]
) -> LastLine | None:
    """The last line if writing stopped in the middle of it."""
    last = find_last_line(content, head)
    if last is None or last.offset == 0:
        return None
    line = last.data.decode(errors="replace")
    if line.count(_QUOTE) % 2:
        # Either a quote was open when writing stopped, or the line ends a cell begun on a line before.
        return last if _find_last_row(content, file) == find_line_number(content, last.offset) else None
    cells = next(csv.reader([line], delimiter=file.variant), [])
    if not line.strip() or len(cells) > len(file.columns):
        return None
    if len(cells) < len(file.columns):
        return last
    cut_number = not is_missing(cells[-1]) and not is_number(cells[-1])
    return last if cut_number and infer_kind(row[-1] for row in sample[:-1] if row) is Kind.NUMBER else None


def _warn_torn(content: Content, torn: LastLine) -> Problem:
    line = find_line_number(content, torn.offset)
    return content.make_warning("the last line is torn off and was left out", line)


def _find_last_row(content: Content, file: FileLayout) -> int:
    reader = csv.reader(read_lines(content), delimiter=file.variant)
    begins, line = 1, 1
    for _ in reader:
        begins, line = line, reader.line_num + 1
    return begins


def _parse_spots(pieces: list[bytes], file: FileLayout) -> Iterator[list[str]]:
    """Rows of spots; a piece with a quote may begin in the middle of a cell and is left out."""
    for piece in pieces:
        text = piece.decode(errors="replace")
        if _QUOTE not in text:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=file.variant)
            yield from (row for row in reader if row)


def _check_lines(lines: Iterator[str], alien: list[int]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if not is_utf8(line):
            alien.append(number)
        yield line
