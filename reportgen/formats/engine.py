"""The one DuckDB database of a process: in memory, offline, two threads, files in a temporary folder."""

from __future__ import annotations

import atexit
import sys
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final

import duckdb

from reportgen.core.cache import make_temporary_folder

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


def _clear_types() -> None:
    """Let go of DuckDB's types, which narwhals keeps in a cache: DuckDB 2.0 calls that a leak on stderr."""
    namespace = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
    if namespace is not None:
        namespace.cache_clear()
    get_engine.cache_clear()
