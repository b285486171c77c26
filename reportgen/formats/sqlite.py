"""SQLite databases of loggers, opened without losing rows or writing next to the original.

Source: "Database File Format" and "Write-Ahead Logging" in the SQLite documentation. A large database at rest
is opened in place as one that does not change (``immutable``), which takes no lock and creates no file. A
small one is copied to a temporary folder first, since a program writing to it meanwhile would mix rows of two
moments. Committed rows not yet checkpointed are in a ``-wal`` file next to it, and pages that a killed
program was overwriting are in a ``-journal``: then all files are copied, whatever their size, and SQLite
recovers the copy.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core.errors import DISK_FULL, ReportError, diagnose_disk_error
from reportgen.formats import decode
from reportgen.formats.runs import Unit, UnreadableError, warn
from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from reportgen.core.errors import Diagnostic


SUFFIXES: Final = frozenset({".db", ".db3", ".sqlite", ".sqlite3"})

_HEADER: Final = b"SQLite format 3\x00"
_SIDECARS: Final = ("-wal", "-journal")
_WAL_HEADER: Final = 32
_ROWS_AT_ONCE: Final = 4096
_COPIES: Final = 8
_SMALL: Final = 64 << 20
# A schema may use functions and views; neither is needed, and both are untrusted code.
_GUARDS: Final = ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON")


class SqliteStore(Struct, frozen=True):
    """Open database; ``columns`` are those of every ordinary table, in lower case."""

    path: Path
    columns: dict[str, frozenset[str]]
    _connection: sqlite3.Connection
    _decoding: decode.Decoder
    _state: tuple[object, ...]

    def select(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, a few thousand in memory at a time; cells have SQLite's types."""
        # A cursor that is not exhausted ends with the connection.
        cursor = self._connection.execute(query, values)
        while portion := cursor.fetchmany(_ROWS_AT_ONCE):
            yield from portion

    def restrict(
        self, authorize: Callable[..., int], is_exhausted: Callable[[], bool], instructions: int, longest: int
    ) -> sqlite3.Connection:
        """Return the connection with bounds for a statement of a user's.

        ``authorize`` is SQLite's authorizer. ``is_exhausted`` is called after each number of ``instructions``
        and ends a statement, and no cell may have more than ``longest`` bytes.
        """
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        self._connection.set_authorizer(authorize)
        self._connection.set_progress_handler(is_exhausted, instructions)
        return self._connection

    def name_column(self, table: str, name: str) -> str:
        """Return the column in SQL, or NULL if an older store does not have it."""
        return f'{table}."{name}"' if name in self.columns.get(table, ()) else "NULL"

    def check_columns(self, table: str, columns: Collection[str], title: str) -> None:
        """Raise ``UnreadableError`` if a table does not have these columns."""
        if not self.columns.get(table, frozenset()) >= set(columns):
            message = f"the database has no table {table} as a {title} has it"
            raise UnreadableError(self.path, message, "Check the format of the source")

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield the irregularities found so far."""
        yield from self._decoding.list_findings()
        if _read_state(self.path) != self._state:
            message = "the database was written to while it was read: rows of that time are missing"
            yield warn(self.path, message)


def find_stores(
    files: Sequence[Path],
    columns: Collection[str],
    is_usual: Callable[[Path], bool],
    table: str = "metrics",
) -> tuple[Unit, ...]:
    """Return a unit for each database with these columns in a table, or with a usual name if damaged."""
    units = []
    for file in files:
        beginning = decode.read_head(file, decode.HEAD) if file.suffix.lower() in SUFFIXES else b""
        own: frozenset[str] | None = None if beginning else frozenset()
        if beginning.startswith(_HEADER):
            with suppress(UnreadableError), _open_in_place(file) as store:
                own = store.columns.get(table, frozenset())
            if own is None or (not own and _find_sidecars(file)):
                # A new store has its tables only in the -wal, or is being written to.
                with suppress(UnreadableError), open_store(file) as store:
                    own = store.columns.get(table, frozenset())
        if is_usual(file) if own is None else own >= set(columns):
            units.append(Unit(file, (file, *_find_sidecars(file))))
    return tuple(units)


def _find_sidecars(path: Path) -> tuple[Path, ...]:
    candidates = (path.with_name(path.name + ending) for ending in _SIDECARS)
    return tuple(file for file in candidates if decode.get_size(file))


@contextmanager
def open_store(path: Path) -> Iterator[SqliteStore]:
    """Open a database with all committed rows for reading; raise ``UnreadableError`` if it is not one."""
    real = path.resolve()
    if not decode.read_head(real).startswith(_HEADER):
        with decode.explain_os_errors(real), real.open("rb") as file:
            decode.refuse_pointer(real, file.read(decode.HEAD))
        message = "this does not begin as a SQLite database does: it is damaged or encrypted"
        raise UnreadableError(path, message, "Copy it again from where the run wrote it")
    if decode.get_size(real) > _SMALL and not _find_sidecars(real):
        with _open_in_place(path) as store:
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="copy-", dir=get_engine().folder) as folder:
        for attempt in range(_COPIES):
            copy, state = Path(folder) / f"{attempt}.db", _read_state(path)
            try:
                shutil.copyfile(real, copy)
                for sidecar in _find_sidecars(real):
                    # The writer removes a journal when it is done.
                    with suppress(FileNotFoundError):
                        shutil.copyfile(sidecar, f"{copy}{sidecar.name.removeprefix(real.name)}")
            except OSError as error:
                message = "the database cannot be copied"
                if error.errno in DISK_FULL:
                    # Not the run's fault, which would otherwise be left out as unreadable.
                    raise ReportError(diagnose_disk_error(error, str(copy), message)) from error
                message = f"{message}: {error.strerror or error}"
                raise UnreadableError(path, message, "Check that it may be read") from error
            # The log may have been checkpointed and restarted between the two copies.
            if _read_state(path)[:-1] == state[:-1]:
                break
        else:
            message = "the database is written to all the time, and no whole copy of it could be made"
            raise UnreadableError(path, message, "Read it when the run has ended")
        with _open_connection(path, f"{copy.as_uri()}?mode=rw", state) as store:
            yield store


@contextmanager
def _open_in_place(path: Path) -> Iterator[SqliteStore]:
    with _open_connection(path, f"{path.resolve().as_uri()}?mode=ro&immutable=1", _read_state(path)) as store:
        yield store


@contextmanager
def _open_connection(path: Path, uri: str, state: tuple[object, ...]) -> Iterator[SqliteStore]:
    """Open a connection; errors of SQLite become ``UnreadableError``."""
    decoding = decode.Decoder(path)
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.text_factory = decoding.decode
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, decode.LARGEST_DOCUMENT)
            for guard in _GUARDS:
                connection.execute(f"PRAGMA {guard}")
            # Views and virtual tables have no root page: a program generates their rows, possibly without
            # end. table_info leaves out generated columns.
            tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            columns = "SELECT name FROM pragma_table_info(?)"
            names = {
                table: frozenset(name.lower() for (name,) in connection.execute(columns, (table,)))
                for (table,) in connection.execute(tables).fetchall()
            }
            yield SqliteStore(path, names, connection, decoding, state)
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        # A damaged schema gets into the text of the error, which then cannot be decoded.
        if _read_state(path) != state:
            message = "the database changed while it was read, and does not fit together"
            raise UnreadableError(path, message, "Read it again, or when the run has ended") from error
        message = f"the database is damaged or cut short ({error})"
        raise UnreadableError(path, message, "Copy it again from where the run wrote it") from error


def _read_state(path: Path) -> tuple[object, ...]:
    """Return what changes with the database: its stamps, the start of its log, and last the log's stamp."""
    real = path.resolve()
    log, journal = (Path(f"{real}{ending}") for ending in _SIDECARS)
    stamps: list[tuple[int, int] | None] = []
    for file in (real, journal, log):
        try:
            stat = file.stat()
            stamps.append((stat.st_mtime_ns, stat.st_size))
        except OSError:
            stamps.append(None)
    return stamps[0], stamps[1], decode.read_head(log, _WAL_HEADER), stamps[2]
