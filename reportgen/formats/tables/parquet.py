"""Parquet: the file has names and types; only the columns and rows that are needed are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.formats import sql
from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.layout import NAME_COLUMNS, TIME_NAMES, FileLayout, Look, Row
from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic, ReportError
    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Content


_HEAD: Final = 300
_SPOTS: Final = 128


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Return names, types and a sample of columns of names; raise ``ReportError`` if it is not Parquet."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    content.check()
    try:
        relation = get_engine().open_cursor().sql(f"SELECT * FROM {_build_reader([content.path])}")  # noqa: S608 - quoted
        columns = tuple(relation.columns)
        file = FileLayout(content.name, form, "", columns, tuple(map(str, relation.types)))
        if len(columns) > MOST_COLUMNS:
            raise content.make_columns_error(len(columns))
        counts = f"SELECT num_rows FROM parquet_file_metadata({sql.quote_paths([content.path])})"  # noqa: S608 - quoted
        (((count,)),) = get_engine().fetch_rows(counts)
        # The column metadata is used later on, so it has to be readable, too.
        table = f"parquet_metadata({sql.quote_paths([content.path])})"
        get_engine().fetch_rows(f"SELECT count(COLUMNS(*)) FROM {table}")  # noqa: S608
        known = NAME_COLUMNS | {name.casefold() for name in mapped}
        known |= {name.casefold() for name in columns if TIME_NAMES.fullmatch(name)}
        names = [name for name in columns if file.type_of(name) == sql.TEXT or name.casefold() in known]
        sampled: list[tuple[Text, ...]] = []
        if names:
            # The first rows, and a few from all over the file.
            select = _as_texts(content.path, file, names)
            sampled = get_engine().fetch_rows(f"{select} LIMIT {_HEAD}")
            spots = [_HEAD + (count - 1 - _HEAD) * spot // _SPOTS for spot in range(_SPOTS + 1)]
            if count > _HEAD:
                where = f"WHERE file_row_number IN ({', '.join(map(str, spots))})"
                sampled += get_engine().fetch_rows(f"{select} {where}")
    except duckdb.OutOfMemoryException:
        message = "a row, or a page of a column, unpacks to more than fits in memory"
        raise content.make_error(message, "Write it with smaller values and row groups") from None
    except (duckdb.Error, RuntimeError):
        # RuntimeError is for names that are not UTF-8.
        raise _describe_damage(content) from None
    if count == 0:
        raise content.make_error("the file has no rows", "Remove it or write it again")
    # None in the columns that were not sampled.
    blank: dict[str, Text] = dict.fromkeys(columns)
    rows = [tuple({**blank, **dict(zip(names, cells, strict=True))}.values()) for cells in sampled]
    return Look(file, rows, exhaustive=count <= _HEAD)


def scan(files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:  # noqa: ARG001 - one shape
    """Return a SELECT of some columns of files; see ``delimited.scan``."""
    picked = "".join(f"{sql.quote_name(name)} AS k{index}, " for index, name in enumerate(columns))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, file_row_number AS row "  # noqa: S608 - quoted
        f"FROM {_build_reader(files)}"
    )


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Diagnostic]:
    """Yield every row with its number, and its cells as text."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    names = [name for name in columns if name in file.columns]
    if names:
        number = 0
        try:
            cursor = get_engine().open_cursor().execute(_as_texts(content.path, file, names))
            while batch := cursor.fetchmany(10_000):
                for cells in batch:
                    number += 1
                    yield Row(None, number, dict(zip(names, cells, strict=True)))
        except duckdb.Error:
            raise _describe_damage(content) from None


def find_gapless(files: Sequence[Path], names: Collection[str]) -> frozenset[str]:
    """Return the columns without empty cells, according to the files' metadata."""
    known = (
        f"SELECT path_in_schema FROM parquet_metadata({sql.quote_paths(files)}) "  # noqa: S608 - quoted
        f"WHERE path_in_schema IN ({sql.quote_all(names)}) GROUP BY ALL "
        "HAVING count(*) = count(stats_null_count) AND max(stats_null_count) = 0"
    )
    return frozenset(name for (name,) in get_engine().fetch_rows(known)) if names else frozenset()


def _describe_damage(content: Content) -> ReportError:
    return content.make_error("the file is not Parquet, or damaged", "Write or copy it again")


def _build_reader(files: Iterable[Path]) -> str:
    # A folder named a=b does not describe the rows unless source.yml says so.
    return f"read_parquet({sql.quote_paths(files)}, hive_partitioning=false)"


def _as_texts(path: Path, file: FileLayout, names: Sequence[str]) -> str:
    cells = ", ".join(sql.as_text(sql.quote_name(name), file.type_of(name)) for name in names)
    return f"SELECT {cells} FROM {_build_reader([path])}"  # noqa: S608 - quoted
