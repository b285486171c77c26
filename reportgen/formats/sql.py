"""DuckDB: the one connection, text as SQL, and what a cell means in SQL (``cells`` says it in Python)."""

from __future__ import annotations

import atexit
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import duckdb

from reportgen.core.cache import make_temporary_folder
from reportgen.formats.cells import MISSING, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import narwhals as nw

    from reportgen.settings.base import CellValue


TEXT: Final = "VARCHAR"
LARGEST: Final = repr(sys.float_info.max)
"""A number is finite if it lies between minus this and this; ``isfinite`` takes longer."""
_NUMBERS: Final = (
    *("DOUBLE", "FLOAT", "DECIMAL", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)
Meaning: TypeAlias = Callable[[str, str], str]


def quote(text: str) -> str:
    """A text as an SQL string; NUL, which a statement cannot hold, is put in by the database."""
    if "\0" in text:
        return f"({' || chr(0) || '.join(map(quote, text.split(chr(0))))})"
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def quote_all(texts: Iterable[str]) -> str:
    """Texts as the items of an SQL list."""
    return ", ".join(quote(text) for text in texts)


def make_list(texts: Iterable[str | None]) -> str:
    """Texts as an SQL list: one constant, since the database takes 20 times as long over one a text."""
    return f"from_json({quote(json.dumps(list(texts)))}, '[\"VARCHAR\"]')"


def quote_paths(files: Iterable[Path]) -> str:
    """Paths as an SQL list, with the signs that DuckDB takes for a pattern made plain."""
    plain = ("".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(file)) for file in files)
    return f"[{quote_all(plain)}]"


def make_struct(types: Mapping[str, str]) -> str:
    """Column names and SQL types as the ``columns`` argument of a reader."""
    return "{" + ", ".join(f"{quote(name)}: {quote(kind)}" for name, kind in types.items()) + "}"


def parse_number(expression: str, kind: str) -> str:
    """A cell as a number: a missing word is NULL, any other word makes the statement fail."""
    if kind == "DOUBLE":
        return expression
    if kind != TEXT:
        return f"CAST({expression} AS DOUBLE)"
    # The words are only compared where the first cast gives nothing, which makes them free.
    return (
        f"coalesce(TRY_CAST({expression} AS DOUBLE), CASE WHEN {is_missing(expression)} THEN NULL "
        f"ELSE CAST({expression} AS DOUBLE) END)"
    )


def parse_time(expression: str, kind: str) -> str:
    """A cell as milliseconds since 1970 UTC; a time without a zone is UTC."""
    if kind == TEXT:
        time = f"CAST(trim({expression}) AS TIMESTAMPTZ)"
        stamp = f"CASE WHEN {is_missing(expression)} THEN NULL ELSE {time} END"
    elif kind == "TIMESTAMP WITH TIME ZONE":
        stamp = expression
    else:
        stamp = f"CAST({expression} AS TIMESTAMP)"
    return f"CAST(epoch_ms({stamp}) AS DOUBLE)"


def as_text(expression: str, kind: str) -> str:
    """A cell as a text."""
    return expression if kind == TEXT else f"CAST({expression} AS {TEXT})"


def is_missing(expression: str) -> str:
    """Whether a text says that there is no value."""
    return is_one_of(expression, MISSING)


def is_one_of(expression: str, words: Iterable[str]) -> str:
    """Whether a text is one of these words, in any letters, with or without spaces around it."""
    # A list of words would become a join, which is done for every row, wherever it stands.
    pattern = f" *({'|'.join(map(re.escape, sorted(words)))}) *"
    return f"regexp_full_match({expression}, {quote(pattern)}, 'i')"


def is_equal(expression: str, kind: str, cell: CellValue | tuple[CellValue, ...]) -> str:
    """Whether a cell is the given one, or one of the given ones: numbers by value, words by letter."""
    words, tests = as_text(expression, kind), []
    for item in cell if isinstance(cell, tuple) else (cell,):
        if isinstance(item, bool):
            tests.append(f"lower({words}) = {quote(str(item).lower())}")
        elif isinstance(item, str):
            tests.append(f"{words} = {quote(item)}")
        else:
            tests.append(f"TRY_CAST({expression} AS DOUBLE) = CAST({quote(repr(item))} AS DOUBLE)")
    return f"({' OR '.join(tests)})" if tests else "FALSE"


def get_kind(kind: str) -> Kind | None:
    """What a column of an SQL type holds; None where its cells have to be looked at."""
    if kind.endswith("]"):
        return Kind.TEXT
    if kind == '"NULL"':
        return Kind.EMPTY
    if kind.startswith(_NUMBERS):
        return Kind.NUMBER
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return Kind.TIME
    return None if kind == TEXT else Kind.TEXT


_SETTINGS: Final[dict[str, str | int | bool]] = {
    "threads": 2,
    "memory_limit": "2GB",
    "preserve_insertion_order": True,
    # A file is read once a draft, and its pages are already cached by the operating system.
    "enable_external_file_cache": False,
    # Nothing leaves the machine, and no name in a statement means a Python variable.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}


class Engine:
    """A database and the folder for what has to be written before it can be read."""

    def __init__(self) -> None:
        self.folder: Final = make_temporary_folder(Path(gettempdir()))
        spill = str(self.folder / "spill")
        self._connection = duckdb.connect(config={**_SETTINGS, "temp_directory": spill})
        # Without GLOBAL only this connection would have it, and none of its cursors. A cursor never shows a
        # progress bar, and DuckDB lets nobody set that in a notebook without ipywidgets.
        self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
        # From here on no statement changes these settings.
        self._connection.execute("SET lock_configuration = true")

    def open_cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own, so that no statement makes another's relations bind again."""
        return self._connection.cursor()

    def fetch_rows(self, statement: str) -> list[tuple[Any, ...]]:
        """All rows of a short answer; raises ``duckdb.Error`` where the files are not what they should be."""
        return self.open_cursor().execute(statement).fetchall()


@cache
def get_engine() -> Engine:
    """The database of this process; made when first needed, gone with the process."""
    atexit.register(_clear_types)
    return Engine()


def write_statement(frame: nw.LazyFrame[Any]) -> str:
    """The SELECT of a lazy frame."""
    statement: str = frame.to_native().sql_query()
    return statement


def fetch_named(frame: nw.LazyFrame[Any], statement: str) -> list[dict[str, Any]]:
    """The rows of a short answer about a lazy frame, the table ``measured`` of the statement, by column."""
    result = frame.to_native().query("measured", statement)
    return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


def fetch_frame(frame: nw.LazyFrame[Any]) -> Any:  # noqa: ANN401 - a frame of pandas, which few commands import
    """All rows of a lazy frame, in memory."""
    return frame.to_native().df()


def _clear_types() -> None:
    """Let go of DuckDB's types, which narwhals keeps in a cache: DuckDB 2.0 calls that a leak on stderr."""
    namespace = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
    if namespace is not None:
        namespace.cache_clear()
    get_engine.cache_clear()
