"""A source to be written as a table of its own, with everything that its ``source.yml`` has to say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from reportgen.drafting.frozen_words import list_contents
from reportgen.drafting.notes import list_notes
from reportgen.settings.loading import load_source_settings
from reportgen.settings.writing import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.cache import Cache
    from reportgen.model import Source
    from reportgen.read.freezing import FrozenTable
    from reportgen.repository import Boundary


@dataclass(frozen=True, slots=True)
class FrozenSource:
    """A source that is ready to be written.

    Attributes:
        root: what its paths are relative to.
        source: the source.
        table: it as a table.
        settings: the text of its ``source.yml``.
    """

    root: Path
    source: Source
    table: FrozenTable
    settings: str

    def write(self, path: Path) -> None:
        """Write the table as Parquet.

        Raises:
            ReportError: everything that is wrong in the files.
        """
        from reportgen.read.freezing import write_table  # noqa: PLC0415 - imports the database

        write_table(self.root, self.source, self.table, path)


def freeze_source(
    path: Path,
    root: Path,
    tool: str,
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> FrozenSource:
    """Read a source for freezing, with what was irregular in it and what it holds.

    Args:
        path: its file or folder, which is there.
        root: what its paths are told relative to.
        tool: what writes it, with its version.
        hashes: SHA-256 of a file in hex.
        cache: what was read before; None where nothing is kept.
        boundary: where links in it may lead; anywhere if None.

    Raises:
        ReportError: everything that is wrong with the source.
    """
    from reportgen.read.freezing import freeze_table, open_at  # noqa: PLC0415 - imports the database

    source = open_at(path, root, load_source_settings, hashes, cache, boundary=boundary)
    table = freeze_table(root, source)
    said = source.settings.provenance
    # What was frozen before came from the files that it names.
    files = said.files or {_shorten_path(file.path, path, root): file.sha256 for file in source.files}
    notes = {"found": list(list_notes(source)), "contents": list(list_contents(root, source))}
    provenance = {**said.model_dump(exclude_none=True), "tool": tool, "files": files}
    provenance |= {key: lines for key, lines in notes.items() if lines}
    return FrozenSource(root, source, table, write_yaml({**table.settings, "provenance": provenance}))


def _shorten_path(file: str, path: Path, root: Path) -> str:
    """A file's path from the source's own folder on, which no machine's folders are told by."""
    whole = root / file
    return (
        whole.relative_to(path.parent).as_posix()
        if whole.is_relative_to(path.parent)
        else PurePath(file).name
    )
