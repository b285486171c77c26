"""The formats of tables: CSV, JSON, Parquet. A new one is a module with three functions, and a line below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from reportgen.formats.tables import delimited, json_tables, parquet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.files import Content
    from reportgen.formats.layout import FileLayout, Look, Row


class TableFormat(Protocol):
    """What a module knows about its format."""

    def look(self, content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:
        """Columns, types and a bounded sample of a file."""

    def scan(self, files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
        """A SELECT of ``k0, k1, ...`` (the columns), ``file`` and ``row``; lazy."""

    def read_rows(
        self, content: Content, file: FileLayout, columns: Collection[str]
    ) -> Iterator[Row | Diagnostic]:
        """Every row with its line, to find what is wrong."""


FORMATS: Final[Mapping[str, TableFormat]] = {
    "csv": delimited,
    "tsv": delimited,
    delimited.WANDB_CHART: delimited,
    "jsonl": json_tables,
    "json": json_tables,
    "parquet": parquet,
}
FREE_COLUMNS: Final = frozenset(("jsonl",))
"""Formats whose files are read in one go though their columns differ: what a file lacks is NULL."""
