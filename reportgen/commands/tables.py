"""Tables: fitted to its width on a terminal, elsewhere in aligned columns that other programs can cut."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: its header.
        longest: characters after which a text is cut; None where none is.
        wraps: whether its texts are broken into lines on a narrow terminal.
        styles: the colour of its texts, by the text.
    """

    title: str
    longest: int | None = None
    wraps: bool = False
    styles: Mapping[str, str] = field(default_factory=dict)

    def cut(self, text: str) -> str:
        """A text of this column."""
        if self.longest is None or len(text) <= self.longest:
            return text
        return f"{text[: self.longest - 1].rstrip()}…"


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of printable texts, as many in each as there are columns."""
    cut = [[column.cut(text) for column, text in zip(columns, row, strict=True)] for row in rows]
    if sys.stdout.isatty():
        _print_rich(columns, cut)
        return
    widths = [max(map(len, texts)) for texts in zip(*cut, strict=True)]
    for row in cut:
        padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        click.echo(_GAP.join(padded).rstrip())


def _print_rich(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.title, no_wrap=not column.wraps, overflow="fold")
    for row in rows:
        styles = (column.styles.get(text, "") for column, text in zip(columns, row, strict=True))
        table.add_row(*(Text(text, style) for text, style in zip(row, styles, strict=True)))
    Console().print(table)
