"""Rows of a user's own SQLite database, selected by a statement, as tab-separated text.

The statement runs on the copy that ``sqlite`` opens, which can only be read. SQLite's authorizer allows it
to read tables and to call functions, and nothing else: no ATTACH, no PRAGMA, no extension. How long it may
take is counted in instructions of SQLite's virtual machine not in seconds, so that all machines agree.
Source: "SQLite C Interface" in the SQLite documentation (sqlite3_set_authorizer,
sqlite3_progress_handler).
"""

from __future__ import annotations

import re
import sqlite3
from itertools import count
from typing import TYPE_CHECKING, Final

from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.messages import list_names
from reportgen.formats.runs import UnreadableError
from reportgen.formats.sqlite import SUFFIXES, open_store
from reportgen.formats.tables.delimited import write_separated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.formats.layout import Content
    from reportgen.formats.sqlite import SqliteStore


MOST_ROWS: Final = 5_000_000
MOST_INSTRUCTIONS: Final = 1_000_000_000
_INSTRUCTIONS_AT_ONCE: Final = 1_000_000
_LONGEST_CELL: Final = 16 << 20
_ALLOWED: Final = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)
# They load code, or give other rows each time.
_REFUSED_FUNCTIONS: Final = frozenset(("load_extension", "fts3_tokenizer", "random", "randomblob"))
_SELECT: Final = re.compile(
    r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE | re.DOTALL
)
_ADVICE: Final = "Write one statement that begins with SELECT or WITH"


def write_query(content: Content, query: str) -> str:
    """Return the rows of a statement as tab-separated text, with a header of their names.

    Raises ``ReportError`` if the file is no database, or if the statement is wrong, does more than select, or
    takes too long.
    """
    if not _SELECT.match(query):
        raise content.make_error("query: is no statement that selects rows", _ADVICE)
    try:
        with open_store(content.path) as store:
            return _run_query(content, store, query)
    except UnreadableError as error:
        if content.path.suffix.lower() not in SUFFIXES:
            message = "query: is of a SQLite database, and this is none"
            raise content.make_error(message, "Leave query: out, or name the database with files:") from None
        raise content.make_error(error.problem.message, error.problem.next_step) from None


def _run_query(content: Content, store: SqliteStore, query: str) -> str:
    refused: list[str] = []
    portions = count()

    def is_exhausted() -> bool:
        return next(portions) >= MOST_INSTRUCTIONS // _INSTRUCTIONS_AT_ONCE

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action in _ALLOWED and not (action == sqlite3.SQLITE_FUNCTION and second in _REFUSED_FUNCTIONS):
            return sqlite3.SQLITE_OK
        refused.append(second or first or "")
        return sqlite3.SQLITE_DENY

    connection = store.restrict(authorize, is_exhausted, _INSTRUCTIONS_AT_ONCE, _LONGEST_CELL)
    try:
        return write_separated(content, _iterate_rows(content, connection.execute(query)))
    except (sqlite3.Error, sqlite3.Warning) as error:
        message, advice = f"query: {str(error).rstrip('.')}", _ADVICE
        if str(error) == "interrupted":
            message = f"query: needs more than {MOST_INSTRUCTIONS:,} steps of SQLite"
            advice = "Select fewer rows, or add an index to the database"
        elif refused:
            message = f'query: may only select rows, and does more than that: "{refused[0]}"'
        elif "no such table" in str(error):
            advice = f"There are {list_names(sorted(store.columns))}"
        elif "no such column" in str(error):
            advice = f"There are {list_names(sorted(frozenset().union(*store.columns.values())))}"
        raise content.make_error(message, advice) from None


def _iterate_rows(content: Content, cursor: sqlite3.Cursor) -> Iterator[Sequence[object]]:
    """Yield the names of the columns, then every row."""
    names = [" ".join(name.split()) for name, *_ in cursor.description]
    if len(names) > MOST_COLUMNS:
        raise content.make_columns_error(len(names))
    yield names
    number = 0
    for number, row in enumerate(cursor, 1):
        if number > MOST_ROWS:
            message = f"query: gives more than {MOST_ROWS:,} rows"
            raise content.make_error(message, "Select fewer, or export them as Parquet")
        yield row
    if not number:
        raise content.make_error("query: gives no row", "Check its conditions")
