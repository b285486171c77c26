"""JSON Lines, one object per line, and JSON as a table: keys are columns, and values are read as text.

A JSON file holds a list of records or, in spite of its suffix, JSON Lines. An object of columns or of rows by
name is a table as its YAML twin is.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.json_files import parse_object
from reportgen.formats.layout import NOT_UTF8, FileLayout, Look, Row
from reportgen.formats.messages import limit_problems
from reportgen.formats.tables.json_mapping import has_named_rows, suggest_mapping
from reportgen.formats.tables.json_path import make_json_error
from reportgen.settings.text import CONFLICT, find_conflict_marks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Content


# Variants of a layout: a list of records, or lines.
_RECORDS, _LINES = "records", ""
_HEAD: Final = 256 << 10
_ROWS_OF_A_HEAD: Final = 500
_ROWS_OF_A_SAMPLE: Final = 5_000
_NO_OBJECT: Final = ("the line is not a JSON object", "Mend or remove it")
_MOST_KEYS: Final = 8
_ADVICE: Final = (
    "Say where its rows are with format: mapped, rows: and columns:, write a list of objects, or leave the "
    "file out with files: in source.yml"
)


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Return keys and a sample of lines, or a whole JSON file; raise ``ReportError`` if it is invalid."""
    if form != "json":
        return _look_at_lines(content, form, whole=whole)
    content.check()
    text = content.decode_text(content.read_all())
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        first, _, rest = text.lstrip().partition("\n")
        if isinstance(error, ValueError) and rest.strip() and parse_object(first) is not None:
            return _look_at_lines(content, form, whole=whole)
        if not text.strip():
            raise content.make_error("the file is empty", "Remove it or write it again") from None
        raise make_json_error(content, error, "Write it again") from None
    records = list_records(content, table) if table else []
    if not any(records):
        raise content.make_error("the file has no rows", "Remove it or write it again")
    file = FileLayout(content.name, form, content.compression, (), (), _RECORDS)
    return _look_at_records(content, file, records, exhaustive=True)


def scan(files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
    """Return a SELECT of some keys of files; see ``delimited.scan``."""
    # A reader needs a column, so without any, one that does not exist is read.
    names = columns or ("\x01",)
    reader = "read_json"
    options = f", columns={sql.make_struct(dict.fromkeys(names, sql.TEXT))}, records='true'"
    cells = [sql.quote_name(name) for name in names]
    if len({name.casefold() for name in names}) < len(names):
        # DuckDB cannot have columns that differ only in case.
        reader, options = "read_json_objects", ""
        cells = [f"json ->> {sql.quote('/' + name.replace('~', '~0').replace('/', '~1'))}" for name in names]
    shape = "array" if file.variant == _RECORDS else "newline_delimited"
    picked = "".join(f"{cell} AS k{index}, " for index, cell in enumerate(cells[: len(columns)]))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, row_number() OVER () AS row "  # noqa: S608 - quoted
        f"FROM {reader}({sql.quote_paths(files)}{options}, format={sql.quote(shape)}, "
        f"compression={sql.quote(file.compression or 'none')})"
    )


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Diagnostic]:
    """Yield every row with its line number, and a problem for each that cannot be read."""
    for number, (line, item) in enumerate(_read_objects(content, file), 1):
        if isinstance(item, Diagnostic):
            yield item
        else:
            cells = {name: as_text(item[name]) for name in columns if name in item}
            yield Row(line, number if file.variant else line, cells)


def as_text(value: Any) -> Text:  # noqa: ANN401 - whatever JSON holds
    """Return a JSON value as the text that DuckDB makes of it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _read_objects(content: Content, file: FileLayout) -> Iterator[tuple[int, dict[str, Any] | Diagnostic]]:
    """Yield the first line of every row, and the row as an object or a problem."""
    if file.variant == _LINES:
        invalid: list[int] = []
        for number, written in enumerate(content.read_lines(file.keep, invalid), 1):
            if written.strip():
                fault = NOT_UTF8 if number in invalid[-1:] else _NO_OBJECT
                item = None if fault is NOT_UTF8 else parse_object(written)
                if item is None and find_conflict_marks(written):
                    yield number, content.make_problem(*CONFLICT, number)
                    return
                yield number, content.make_problem(*fault, number) if item is None else item
        return
    text = content.decode_text(content.read_all())
    decoder = json.JSONDecoder()
    end, line, counted = text.index("[") + 1, 1, 0
    while (begin := text.find("{", end)) >= 0:
        line, counted = line + text.count("\n", counted, begin), begin
        item, end = decoder.raw_decode(text, begin)
        yield line, item


def _look_at_lines(content: Content, form: str, *, whole: bool) -> Look:
    """Read keys and values of the first rows and of some from all over the file, or of every row."""
    sample = content.read_sample(_HEAD)
    lines = sample.text.split("\n")
    file = FileLayout(content.name, form, content.compression, (), (), _LINES)
    # A last line without a line end is torn if it is not valid JSON.
    torn = sample.last if sample.last and sample.last.data.strip() else None
    if torn and parse_object(torn.data.decode(errors="replace")) is not None:
        torn = None
    if torn:
        file = replace(file, keep=torn.offset)
        lines = lines[: -1 if sample.complete else None]
    if not sample.complete and not whole:
        pieces = (content.decode_text(piece).split("\n") for piece in sample.pieces)
        lines = [*lines[:_ROWS_OF_A_HEAD], *chain.from_iterable(pieces)]

    def parse_objects() -> Iterator[dict[str, Any]]:
        for line in filter(str.strip, content.read_lines(file.keep) if whole else lines):
            item = parse_object(line)
            if item is None:
                rows = read_rows(content, file, ())
                raise ReportError(*limit_problems(row for row in rows if isinstance(row, Diagnostic)))
            yield item

    seen = _look_at_records(content, file, parse_objects(), exhaustive=whole or sample.complete)
    if not seen.rows:
        raise content.make_error("the file has no rows", "Remove it or write it again")
    if not seen.file.columns:
        raise content.make_error("its rows are empty: none has a key", "Remove the file or write it again")
    return replace(seen, warnings=content.warn_torn_line(torn))


def _look_at_records(
    content: Content, file: FileLayout, objects: Iterable[dict[str, Any]], *, exhaustive: bool
) -> Look:
    """Read records: all keys in order of first appearance, and a sample as text."""
    names: dict[str, None] = {}
    sample: list[dict[str, Any]] = []
    count, apart = 0, 1
    for count, item in enumerate(objects, 1):
        names |= dict.fromkeys(item)
        if (count - 1) % apart == 0:
            sample.append(item)
        if len(sample) > _ROWS_OF_A_SAMPLE:
            sample, apart = sample[::2], 2 * apart
    # DuckDB has no columns without a name.
    keys = tuple(key for key in names if key)
    if len(keys) > MOST_COLUMNS:
        raise content.make_columns_error(len(keys))
    cells = [tuple(as_text(item.get(key)) for key in keys) for item in sample]
    file = replace(file, columns=keys, types=(sql.TEXT,) * len(keys))
    return Look(file, cells, exhaustive and len(sample) == count)


def list_records(
    content: Content,
    table: Any,  # noqa: ANN401 - whatever JSON holds
    *,
    may_be_one: bool = False,
) -> list[dict[str, Any]]:
    """Return the rows of a list of them, of an object of columns, or of rows by the name of their series.

    An object without inner ones ``may_be_one`` row.
    """
    inner = [*table.values()] if isinstance(table, dict) else []
    if isinstance(table, list) and table and all(isinstance(item, dict) for item in table):
        return table
    if has_named_rows(table):
        return [{"series": name, **item} for name, item in table.items()]
    if inner and may_be_one and not any(isinstance(item, dict | list) for item in inner):
        return [table]
    if not all(isinstance(column, list) for column in inner) or not isinstance(table, dict):
        message = "the file is neither a list of rows, nor columns by name, nor rows by the name of a series"
        raise content.make_error(message, suggest_mapping(table) or _ADVICE)
    if inner and all(column and all(isinstance(cell, dict) for cell in column) for column in inner):
        names = join_names([f'"{name}"' for name in table], most=_MOST_KEYS)
        raise content.make_error(f"the file has its rows below {names}", suggest_mapping(table) or _ADVICE)
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
        message = f'the column "{longest}" has {lengths[longest]} values'
        message = f'{message} and "{shortest}" has {lengths[shortest]}'
        raise content.make_error(message, "Write columns of equal length")
    return [dict(zip(table, cells, strict=True)) for cells in zip(*inner, strict=True)]
