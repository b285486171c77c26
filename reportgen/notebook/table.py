"""Opening run data in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.model import Source


@dataclass(frozen=True, slots=True)
class Table:
    """A file or folder of run data, opened and not yet read; ``source`` says what is in it."""

    root: Path
    source: Source

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics."""
        return self.source.metrics


def read(path: str | Path) -> Table:
    """Open a file or folder of run data, with its ``source.yml`` if it has one.

    Args:
        path: a data file, or a folder of them.

    Raises:
        ReportError: nothing is there, or it cannot be understood; every problem is told.
    """
    from reportgen.read import open_path  # noqa: PLC0415 - imports the database
    from reportgen.settings.loading import load_source_settings  # noqa: PLC0415

    return Table(*open_path(path, load_settings=load_source_settings))
