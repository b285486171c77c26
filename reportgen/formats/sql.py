"""DuckDB: the shared connection, text as SQL, and the meaning of a cell in SQL (in Python: ``cells``)."""

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

from reportgen.core.cache import make_temporary_folder
from reportgen.formats.cells import AROUND, BOLD, LONGEST_NUMBER, MARKS, MISSING, REPORTED, UNIX_TIMES, Kind
from reportgen.settings.base import list_accepted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import duckdb
    import narwhals as nw

    from reportgen.settings.base import CellValue


TEXT: Final = "VARCHAR"
LARGEST: Final = repr(sys.float_info.max)
"""Bound of finite numbers, which is faster to compare with than ``isfinite``."""
_NUMBERS: Final = (
    *("DOUBLE", "FLOAT", "DECIMAL", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)
Meaning: TypeAlias = Callable[[str, str], str]


def quote(text: str) -> str:
    """Quote a text as an SQL string; NUL, which a statement cannot hold, is added by the database."""
    if "\0" in text:
        return f"({' || chr(0) || '.join(map(quote, text.split(chr(0))))})"
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def quote_all(texts: Iterable[str]) -> str:
    """Quote texts as the items of an SQL list."""
    return ", ".join(quote(text) for text in texts)


def unnest(cells: Iterable[str]) -> str:
    """Return the cells of one row as successive rows."""
    return f"unnest([{', '.join(cells)}])"


def make_list(texts: Iterable[str | None]) -> str:
    """Return texts as an SQL list: a single constant, which is 20 times as fast as one constant per text."""
    return f"from_json({quote(json.dumps(list(texts)))}, '[\"VARCHAR\"]')"


def quote_paths(files: Iterable[Path]) -> str:
    """Return paths as an SQL list, with DuckDB's pattern characters escaped."""
    plain = ("".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(file)) for file in files)
    return f"[{quote_all(plain)}]"


def make_struct(types: Mapping[str, str]) -> str:
    """Return column names and SQL types as the ``columns`` argument of a reader."""
    return "{" + ", ".join(f"{quote(name)}: {quote(kind)}" for name, kind in types.items()) + "}"


def parse_number(expression: str, kind: str) -> str:
    """Return SQL for a cell as a number, with percentages as shares.

    A missing word is NULL, any other word an error.
    """
    if kind == "DOUBLE":
        return expression
    if kind != TEXT:
        return f"CAST({expression} AS DOUBLE)"
    # The words are compared only if the first cast yields NULL, so they cost nothing otherwise.
    return (
        f"coalesce({try_number(expression)}, CASE WHEN {is_missing(expression)} THEN NULL "
        f"ELSE CAST({expression} AS DOUBLE) END)"
    )


def try_number(expression: str) -> str:
    """Return SQL for a text as a number, also as people print it, with percentages as shares; otherwise NULL.

    A number with a ± is none, since that would be lost; see ``parse_estimate``.
    """
    share = f"regexp_replace({expression}, ' *% *$', 'e-2')"
    return f"coalesce(TRY_CAST({expression} AS DOUBLE), TRY_CAST({share} AS DOUBLE), printed({expression}))"


def parse_estimate(expression: str) -> tuple[str, str]:
    """Return SQL for the number before ± of a text, as ``parse_number``, and for the one after it."""
    number = f"coalesce(estimate({expression}), {parse_number(expression, TEXT)})"
    return number, f"spread({expression})"


def _make_macros() -> Iterator[str]:
    """Yield statements that create ``share``, ``printed``, ``estimate`` and ``spread``; see ``cells``."""
    yield "CREATE MACRO share(n) AS CAST(format('{:.15g}', n / 100) AS DOUBLE)"
    clean = f"regexp_replace(replace(replace(t, '\u2212', '-'), '\\%', '%'), {quote(MARKS)}, '\\1', 'g')"
    clean = f"trim(regexp_replace({clean}, {quote(BOLD)}, '', 'g'), {quote(AROUND)})"
    pattern = quote(f"^{re.sub(r'[?]P<[a-z]+>', '', REPORTED)}$")
    yield f"CREATE MACRO parts(t) AS regexp_extract({clean}, {pattern}, ['v', 'p', 'a', 'q', 'w'])"
    percent = "CASE WHEN s.p || s.q = '' THEN '' ELSE 'e-2' END"
    for name, number, more in (
        ("printed", "s.v", "s.a || s.w = ''"),
        ("estimate", "s.v", "TRUE"),
        ("spread", "s.a || s.w", "TRUE"),
    ):
        value = f"CASE WHEN {more} THEN TRY_CAST(replace({number}, ',', '') || {percent} AS DOUBLE) END"
        size = f"length(t) BETWEEN 2 AND {LONGEST_NUMBER}"
        # A macro of ``s`` would have all of ``parts`` planned once for each use, milliseconds a column.
        once = f"list_transform([parts(t)], lambda s: {value})[1]"
        yield f"CREATE MACRO {name}(t) AS CASE WHEN {size} THEN {once} END"


def parse_time(expression: str, kind: str) -> str:
    """Return SQL for a cell as milliseconds since 1970 UTC; a time without a zone is UTC.

    A number is a time since 1970, in the unit that its size shows.
    """
    number = expression if kind != TEXT else f"TRY_CAST({expression} AS DOUBLE)"
    cases = " ".join(
        f"WHEN {number} >= {low!r} AND {number} < {high!r} THEN round({number} * {factor!r}::DOUBLE)"
        for low, high, factor in UNIX_TIMES
    )
    if kind.startswith(_NUMBERS):
        return f"CASE {cases} END"
    if kind == TEXT:
        time = f"CAST(trim({expression}) AS TIMESTAMPTZ)"
        stamp = f"CASE WHEN {is_missing(expression)} THEN NULL ELSE {time} END"
    elif kind == "TIMESTAMP WITH TIME ZONE":
        stamp = expression
    else:
        stamp = f"CAST({expression} AS TIMESTAMP)"
    moment = f"CAST(epoch_ms({stamp}) AS DOUBLE)"
    return f"CASE {cases} ELSE {moment} END" if kind == TEXT else moment


def as_text(expression: str, kind: str) -> str:
    """Return SQL for a cell as text."""
    return expression if kind == TEXT else f"CAST({expression} AS {TEXT})"


def is_missing(expression: str) -> str:
    """Return SQL for whether a text is a missing value."""
    return is_one_of(expression, MISSING)


def is_one_of(expression: str, words: Iterable[str]) -> str:
    """Return SQL for whether a text is one of these words, ignoring case and surrounding spaces."""
    # A list of words would become a join, computed for every row whatever its position in the statement.
    pattern = f" *({'|'.join(map(re.escape, sorted(words)))}) *"
    return f"regexp_full_match({expression}, {quote(pattern)}, 'i')"


def is_equal(expression: str, kind: str, cell: CellValue | tuple[CellValue, ...]) -> str:
    """Return SQL for whether a cell passes a condition or one of several: numbers by value, words exactly.

    A text may also be a pattern such as ``qwen*``, a comparison such as ``<= 1e-5`` or ``> 0 and < 1``, or
    either behind ``!``. Comparisons and exclusions have to hold in addition to all others.
    """
    some: list[str] = []
    every: list[str] = []
    for item in list_accepted(cell):
        compared = parse_comparisons(item) if isinstance(item, str) else ()
        if compared:
            number = f"TRY_CAST({expression} AS DOUBLE)"
            every += (f"{number} {mark} CAST({quote(repr(value))} AS DOUBLE)" for mark, value in compared)
        elif isinstance(item, str) and item.startswith("!"):
            named = _is_one(expression, kind, item[1:].lstrip("=").strip())
            every.append(f"({_is_one(expression, kind, item)} OR coalesce(NOT {named}, TRUE))")
        else:
            some.append(_is_one(expression, kind, item))
    tests = [*every, *([f"({' OR '.join(some)})"] if some else [])]
    return f"({' AND '.join(tests)})" if tests else "FALSE"


def check_texts(texts: Iterable[str | None], cell: CellValue | tuple[CellValue, ...]) -> list[bool]:
    """Return for each of a few texts whether it passes, as ``is_equal``."""
    tests = f"SELECT coalesce({is_equal('text', TEXT, cell)}, FALSE) FROM "  # noqa: S608 - quoted
    return [
        passes for (passes,) in get_engine().fetch_rows(f"{tests}(SELECT unnest({make_list(texts)}) AS text)")
    ]


_COMPARISON: Final = re.compile(r"(<=|>=|==?|<|>|≤|≥)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(%?)")
_EXPONENT: Final = re.compile(r"[+-]?\d+\.?\d*[eE][+-]?\d+")
_MARKS: Final = {"≤": "<=", "≥": ">=", "==": "="}


def parse_comparisons(text: str) -> tuple[tuple[str, float], ...]:
    """Return the comparisons in a text such as ``> 0 and <= 1e-5``; empty if it is something else."""
    found = [_COMPARISON.fullmatch(part.strip()) for part in re.split(r"\band\b", text)]
    if not all(found):
        return ()
    marks = [(one[1], float(one[2]) / (100 if one[3] else 1)) for one in found if one]
    return tuple((_MARKS.get(mark, mark), value) for mark, value in marks)


def _is_one(expression: str, kind: str, item: CellValue) -> str:
    """Return SQL for whether a cell is a value or matches a pattern."""
    words = as_text(expression, kind)
    if isinstance(item, bool):
        return f"lower({words}) = {quote(str(item).lower())}"
    if not isinstance(item, str):
        return f"TRY_CAST({expression} AS DOUBLE) = CAST({quote(repr(item))} AS DOUBLE)"
    tests = [f"{words} = {quote(item)}"]
    if "*" in item or "?" in item:
        tests.append(f"{words} GLOB {quote(item.replace('[', '[[]'))}")
    if _EXPONENT.fullmatch(item):
        # A loader of YAML may read 1e-5 as a text, and a logger write it as 1e-05.
        tests.append(f"TRY_CAST({expression} AS DOUBLE) = CAST({quote(repr(float(item)))} AS DOUBLE)")
    return f"({' OR '.join(tests)})"


def get_kind(kind: str) -> Kind | None:
    """Return the kind of a column by its SQL type; None if its cells have to be read."""
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
    # A file is read once per draft, and the operating system already caches its pages.
    "enable_external_file_cache": False,
    # No network access, and no name in a statement refers to a Python variable.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}


class Engine:
    """Database, and the folder for files that have to be written before they can be read."""

    def __init__(self) -> None:
        import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

        self.folder: Final = make_temporary_folder(Path(gettempdir()))
        spill = str(self.folder / "spill")
        self._connection = duckdb.connect(config={**_SETTINGS, "temp_directory": spill})
        # Without GLOBAL only this connection would have the setting, and none of its cursors. A cursor never
        # shows a progress bar, and DuckDB cannot set that in a notebook without ipywidgets.
        self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
        for statement in _make_macros():
            self._connection.execute(statement)
        # From here on no statement can change the settings.
        self._connection.execute("SET lock_configuration = true")

    def open_cursor(self) -> duckdb.DuckDBPyConnection:
        """Open a separate connection, so that no statement makes another's relations bind again."""
        return self._connection.cursor()

    def open_frame(self, select: str) -> nw.LazyFrame[Any]:
        """Return the rows of a SELECT as a lazy frame."""
        import narwhals as nw  # noqa: PLC0415 - describing totals needs no frame

        return nw.from_native(self.open_cursor().sql(select)).lazy()

    def fetch_rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return all rows of a short result; raise ``duckdb.Error`` if the files are not as expected."""
        return self.open_cursor().execute(statement).fetchall()


def get_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of DuckDB; none as long as nothing has imported it."""
    module = sys.modules.get("duckdb")
    return (module.Error,) if module else ()


@cache
def get_engine() -> Engine:
    """Return this process's database, created on first use and removed at exit."""

    @atexit.register
    def clear_types() -> None:
        # DuckDB 2.0 reports its types in narwhals' cache as a leak on stderr.
        namespace = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
        if namespace is not None:
            namespace.cache_clear()
        get_engine.cache_clear()

    return Engine()


def close_database() -> None:
    """Close this process's database, which holds memory that is not needed when all is read."""
    get_engine.cache_clear()


def fetch_named(frame: nw.LazyFrame[Any], statement: str) -> list[dict[str, Any]]:
    """Return a short result about a lazy frame, named ``measured`` in the statement, as rows by column."""
    result = frame.to_native().query("measured", statement)
    names = result.columns
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def fetch_frame(frame: nw.LazyFrame[Any]) -> Any:  # noqa: ANN401 - a frame of pandas, which few commands import
    """Load all rows of a lazy frame into memory."""
    return frame.to_native().df()
