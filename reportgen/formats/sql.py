"""Text as SQL, and the meaning of a cell in SQL (``cells`` says the same in Python)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.formats.cells import MISSING, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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
