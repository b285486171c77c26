"""JSON as a table: a list of records, an object of columns, or in spite of its name JSON Lines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats import sql
from reportgen.formats.files import decode_text
from reportgen.formats.layout import FileLayout, Look, Row
from reportgen.formats.tables import json_lines
from reportgen.formats.tables.json_path import make_json_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.files import Content


FREE_COLUMNS: Final = False
RECORDS, COLUMNS, LINES = "records", "columns", "lines"
_ADVICE: Final = (
    "Say where its rows are with format: mapped, rows: and columns:, write a list of objects, or leave the "
    "file out with files: in source.yml"
)


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:
    """Keys and values of the whole file: JSON has no part that can be understood alone.

    Raises:
        ReportError: it is not JSON, or not a table.
    """
    content.check()
    text = decode_text(content, content.read_all())
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ValueError) and _is_lines(text):
            found = json_lines.look(content, form, mapped, whole=whole)
            return replace(found, file=replace(found.file, variant=LINES))
        if not text.strip():
            raise content.make_error("the file is empty", "Remove it or write it again") from None
        raise make_json_error(content, error, "Write it again") from None
    listed = isinstance(table, list) and all(isinstance(item, dict) for item in table)
    records = table if listed else _build_records(content, table)
    if not any(records):
        raise content.make_error("the file has no rows", "Remove it or write it again")
    variant = RECORDS if listed else f"{COLUMNS} {len(text.encode())}"
    skip = content.read_head(1).bom
    file = FileLayout(content.name, form, content.compression, (), (), variant, skip)
    return json_lines.look_at_records(file, records, exhaustive=True)


def scan(files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
    """A SELECT of some columns of files; see ``delimited.scan``."""
    if file.variant == LINES:
        return json_lines.scan(files, file, columns)
    if file.variant == RECORDS:
        return json_lines.scan(files, file, columns, "array")
    # The columns run side by side; any of them shows how many rows there are.
    counted = columns or file.columns[:1]
    size = int(file.variant.removeprefix(COLUMNS))
    types = sql.make_struct(dict.fromkeys(counted, f"{sql.TEXT}[]"))
    reader, options = "read_json", f", columns={types}, records='true'"
    lists = [sql.quote_name(name) for name in counted]
    if json_lines.has_case_twins(counted):
        reader, options = "read_json_objects", ""
        pointers = (sql.quote(json_lines.build_pointer(name)) for name in counted)
        lists = [f"from_json(json -> {one}, '[\"VARCHAR\"]')" for one in pointers]
    picked = "".join(f"unnest({lists[index]}) AS k{index}, " for index in range(len(columns)))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, "  # noqa: S608 - quoted
        f"unnest(range(1, len({lists[0]}) + 1)) AS row "
        f"FROM {reader}({sql.quote_paths(files)}{options}, format='unstructured', "
        f"maximum_object_size={size + 1024}, compression={sql.quote(file.compression or 'none')})"
    )


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Diagnostic]:
    """Every row, with its line number where a record has one."""
    if file.variant == LINES:
        yield from json_lines.read_rows(content, file, columns)
        return
    text = decode_text(content, content.read_all())

    def locate_records() -> Iterator[tuple[int | None, dict[str, Any]]]:
        if file.variant != RECORDS:
            yield from ((None, item) for item in _build_records(content, json.loads(text)))
            return
        decoder = json.JSONDecoder()
        end, line, counted = text.index("[") + 1, 1, 0
        while (begin := text.find("{", end)) >= 0:
            line, counted = line + text.count("\n", counted, begin), begin
            item, end = decoder.raw_decode(text, begin)
            yield line, item

    for number, (line, item) in enumerate(locate_records(), 1):
        yield Row(line, number, {name: json_lines.as_text(item[name]) for name in columns if name in item})


def _is_lines(text: str) -> bool:
    """Whether the first line is an object of its own, and there are more."""
    first, _, rest = text.lstrip().partition("\n")
    try:
        return isinstance(json.loads(first), dict) and bool(rest.strip())
    except ValueError:
        return False


def _build_records(content: Content, table: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - whatever JSON holds
    """The rows of an object of columns."""
    if not isinstance(table, dict) or not all(isinstance(column, list) for column in table.values()):
        raise content.make_error("the file is neither a list of objects nor an object of lists", _ADVICE)
    lengths = {len(column) for column in table.values()}
    if len(lengths) > 1:
        longest, shortest = (pick(table, key=lambda name: len(table[name])) for pick in (max, min))
        message = (
            f'the column "{longest}" has {len(table[longest])} values and '
            f'"{shortest}" has {len(table[shortest])}'
        )
        raise content.make_error(message, "Write columns of equal length")
    return [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
