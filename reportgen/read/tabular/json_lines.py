"""JSON Lines: an object a line; its keys are the columns, and every value is read as text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.errors import Problem, ReportError
from reportgen.read import sql
from reportgen.read.content import BOM, few
from reportgen.read.layout import FileLayout, Look, Row
from reportgen.read.tabular.sampling import (
    NOT_UTF8,
    decoded,
    is_utf8,
    last_line,
    line_number_at,
    spots,
    text_lines,
    whole_lines,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.cells import Text
    from reportgen.read.content import Content, Head
    from reportgen.read.tabular.sampling import LastLine

# What a file lacks is NULL, so files with different keys are read together.
FREE_COLUMNS: Final = True
_HEAD: Final = 256 << 10
_ROWS_OF_A_HEAD: Final = 500
_ROWS_OF_A_SAMPLE: Final = 5_000


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Keys and values of the first rows and of a few from places all over the file.

    Args:
        content: the file.
        form: the format's name.
        mapped: columns that ``source.yml`` names.
        whole: whether to read every row, since a key may stand in few of them.

    Raises:
        ReportError: everything that is wrong with the file, if something shows in the sample.
    """
    head = content.head(_HEAD)
    lines = decoded(content, whole_lines(head)).split("\n")
    file = FileLayout(content.name, form, content.compression, (), (), skip=_bom(head))
    torn = _torn(content, head)
    if torn:
        file = replace(file, keep=torn.offset)
        lines = lines[: -1 if head.complete else None]
    if whole:
        lines = list(text_lines(content, file.keep))
    exhaustive = whole or head.complete
    if not exhaustive:
        pieces = (decoded(content, piece) for piece in spots(content, head))
        lines = lines[:_ROWS_OF_A_HEAD] + [line for piece in pieces for line in piece.split("\n")]
    objects = [_object(line) for line in lines if line.strip()]
    if None in objects:
        raise ReportError(*few(row for row in rows(content, file, ()) if isinstance(row, Problem)))
    if not objects:
        raise content.error("the file has no rows", "Remove it or write it again")
    if not any(objects):
        raise content.error("its rows are empty: none has a key", "Remove the file or write it again")
    found = looked(file, [item for item in objects if item is not None], exhaustive=exhaustive)
    if torn:
        line = line_number_at(content, torn.offset)
        found = replace(
            found, warnings=(content.warning("the last line is torn off and was left out", line),)
        )
    return found


def looked(file: FileLayout, objects: Sequence[dict[str, Any]], *, exhaustive: bool) -> Look:
    """A look at records: all their keys in order of first appearance, and a sample as text."""
    # DuckDB knows no column without a name.
    keys = tuple(key for key in dict.fromkeys(key for item in objects for key in item) if key)
    file = replace(file, columns=keys, types=(sql.TEXT,) * len(keys))
    sample = objects[:: -(-len(objects) // _ROWS_OF_A_SAMPLE)]
    cells = [tuple(as_text(item.get(key)) for key in keys) for item in sample]
    return Look(file, cells, exhaustive and len(sample) == len(objects))


def scan(
    files: Sequence[Path], file: FileLayout, wanted: Sequence[str], shape: str = "newline_delimited"
) -> str:
    """A SELECT of the wanted keys of files; see ``delimited.scan``."""
    # A reader without columns is refused, so one that nobody has stands in.
    types = sql.struct(dict.fromkeys(wanted or ("\x01",), sql.TEXT))
    reader, options = "read_json", f", columns={types}, records='true'"
    cells = [sql.identifier(name) for name in wanted]
    if differ_in_capitals(wanted):
        reader, options = "read_json_objects", ""
        cells = [f"json ->> {sql.literal(pointer(name))}" for name in wanted]
    picked = "".join(f"{cell} AS k{place}, " for place, cell in enumerate(cells))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, row_number() OVER () AS row "  # noqa: S608 - quoted
        f"FROM {reader}({sql.paths(files)}{options}, format={sql.literal(shape)}, "
        f"compression={sql.literal(file.compression or 'none')})"
    )


def differ_in_capitals(names: Collection[str]) -> bool:
    """Whether some keys differ in capital letters alone, which columns of DuckDB cannot."""
    return len({name.casefold() for name in names}) < len(names)


def pointer(name: str) -> str:
    """A key of an object as a JSON Pointer (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def rows(content: Content, file: FileLayout, wanted: Collection[str]) -> Iterator[Row | Problem]:
    """Every row with its line number, and a problem in place of each that cannot be read."""
    for number, line in enumerate(text_lines(content, file.keep), 1):
        if not line.strip():
            continue
        if not is_utf8(line):
            yield content.problem(*NOT_UTF8, number)
            continue
        item = _object(line)
        if item is None:
            yield content.problem("the line is not a JSON object", "Mend or remove it", number)
        else:
            yield Row(number, number, {name: as_text(item[name]) for name in wanted if name in item})


def as_text(value: Any) -> Text:  # noqa: ANN401 - whatever JSON holds
    """A JSON value as the text that DuckDB makes of it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _object(line: str) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


def _torn(content: Content, head: Head) -> LastLine | None:
    """The last line if it has no end and is no JSON."""
    last = last_line(content, head)
    if last is None or last.offset == 0 or not last.data.strip():
        return None
    return None if _object(last.data.decode(errors="replace")) is not None else last


def _bom(head: Head) -> int:
    return len(BOM) if head.data.startswith(BOM) else 0
