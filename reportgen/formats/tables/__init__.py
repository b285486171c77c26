"""Table formats: CSV, JSON, Parquet. A new one is a module with three functions, and an entry below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from reportgen.formats.tables import delimited, json_tables, parquet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.layout import Content, FileLayout, Look, Row


class TableFormat(Protocol):
    """Interface of a table format's module."""

    def look(self, content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:
        """Return columns, types and a bounded sample of a file."""

    def scan(self, files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
        """Return a lazy SELECT of ``k0, k1, ...`` (the columns), ``file`` and ``row``."""

    def read_rows(
        self, content: Content, file: FileLayout, columns: Collection[str]
    ) -> Iterator[Row | Diagnostic]:
        """Yield every row with its line, to locate problems."""


FORMATS: Final[Mapping[str, TableFormat]] = {
    "csv": delimited,
    "tsv": delimited,
    delimited.WANDB_CHART: delimited,
    "jsonl": json_tables,
    "json": json_tables,
    "parquet": parquet,
}
FREE_COLUMNS: Final = frozenset(("jsonl",))
"""Formats whose files can be read together even if their columns differ: missing ones are NULL."""
