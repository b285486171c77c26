"""JSON Lines: an object a line; its keys are the columns, and every value is read as text."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.formats import sql
from reportgen.formats.files import (
    NOT_UTF8,
    decode_text,
    find_last_line,
    is_utf8,
    keep_whole_lines,
    make_columns_error,
    read_lines,
    sample_lines,
    warn_torn_line,
)
from reportgen.formats.layout import FileLayout, Look, Row
from reportgen.formats.limits import MOST_COLUMNS
from reportgen.formats.messages import limit_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.files import Content


# What a file lacks is NULL, so files with different keys are read together.
FREE_COLUMNS: Final = True
_HEAD: Final = 256 << 10
_ROWS_OF_A_HEAD: Final = 500
_ROWS_OF_A_SAMPLE: Final = 5_000


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Keys and values of the first rows and of a few from places all over the file, or of every row.

    Raises:
        ReportError: everything that is wrong with the file, if something shows in the sample.
    """
    head = content.read_head(_HEAD)
    lines = decode_text(content, keep_whole_lines(head)).split("\n")
    file = FileLayout(content.name, form, content.compression, (), (), skip=head.bom)
    last = find_last_line(content, head)
    # A last line without an end that is no JSON is torn.
    torn = last if last and last.offset and last.data.strip() else None
    if torn and _parse_object(torn.data.decode(errors="replace")) is not None:
        torn = None
    if torn:
        file = replace(file, keep=torn.offset)
        lines = lines[: -1 if head.complete else None]
    if not head.complete and not whole:
        pieces = (decode_text(content, piece).split("\n") for piece in sample_lines(content, head))
        lines = [*lines[:_ROWS_OF_A_HEAD], *chain.from_iterable(pieces)]

    def parse_objects() -> Iterator[dict[str, Any]]:
        for line in filter(str.strip, read_lines(content, file.keep) if whole else lines):
            item = _parse_object(line)
            if item is None:
                rows = read_rows(content, file, ())
                raise ReportError(*limit_problems(row for row in rows if isinstance(row, Diagnostic)))
            yield item

    seen = look_at_records(file, parse_objects(), exhaustive=whole or head.complete)
    if not seen.rows:
        raise content.make_error("the file has no rows", "Remove it or write it again")
    if not seen.file.columns:
        raise content.make_error("its rows are empty: none has a key", "Remove the file or write it again")
    return replace(seen, warnings=(warn_torn_line(content, torn),)) if torn else seen


def look_at_records(file: FileLayout, objects: Iterable[dict[str, Any]], *, exhaustive: bool) -> Look:
    """A look at records: all their keys in order of first appearance, and a sample as text."""
    names: dict[str, None] = {}
    sample: list[dict[str, Any]] = []
    count, apart = 0, 1
    for count, item in enumerate(objects, 1):
        names |= dict.fromkeys(item)
        if (count - 1) % apart == 0:
            sample.append(item)
        if len(sample) > _ROWS_OF_A_SAMPLE:
            sample, apart = sample[::2], 2 * apart
    # DuckDB knows no column without a name.
    keys = tuple(key for key in names if key)
    if len(keys) > MOST_COLUMNS:
        raise make_columns_error(file.path, len(keys))
    cells = [tuple(as_text(item.get(key)) for key in keys) for item in sample]
    file = replace(file, columns=keys, types=(sql.TEXT,) * len(keys))
    return Look(file, cells, exhaustive and len(sample) == count)


def scan(
    files: Sequence[Path], file: FileLayout, columns: Sequence[str], shape: str = "newline_delimited"
) -> str:
    """A SELECT of some keys of files; see ``delimited.scan``."""
    # A reader without columns is refused, so one that nobody has stands in.
    types = sql.make_struct(dict.fromkeys(columns or ("\x01",), sql.TEXT))
    reader, options = "read_json", f", columns={types}, records='true'"
    cells = [sql.quote_name(name) for name in columns]
    if has_case_twins(columns):
        reader, options = "read_json_objects", ""
        cells = [f"json ->> {sql.quote(build_pointer(name))}" for name in columns]
    picked = "".join(f"{cell} AS k{index}, " for index, cell in enumerate(cells))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, row_number() OVER () AS row "  # noqa: S608 - quoted
        f"FROM {reader}({sql.quote_paths(files)}{options}, format={sql.quote(shape)}, "
        f"compression={sql.quote(file.compression or 'none')})"
    )


def has_case_twins(names: Collection[str]) -> bool:
    """Whether some keys differ in capital letters alone, which columns of DuckDB cannot."""
    return len({name.casefold() for name in names}) < len(names)


def build_pointer(name: str) -> str:
    """A key of an object as a JSON Pointer (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Diagnostic]:
    """Every row with its line number, and a problem in place of each that cannot be read."""
    for number, line in enumerate(read_lines(content, file.keep), 1):
        if not line.strip():
            continue
        if not is_utf8(line):
            yield content.make_problem(*NOT_UTF8, number)
            continue
        item = _parse_object(line)
        if item is None:
            yield content.make_problem("the line is not a JSON object", "Mend or remove it", number)
        else:
            yield Row(number, number, {name: as_text(item[name]) for name in columns if name in item})


def as_text(value: Any) -> Text:  # noqa: ANN401 - whatever JSON holds
    """A JSON value as the text that DuckDB makes of it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _parse_object(line: str) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None
