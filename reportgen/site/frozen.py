"""Writes a frozen source: a folder with one Parquet file, a ``source.yml`` and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen import __version__
from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.drafting.freezing import FrozenSource

TABLE: Final = "data.parquet"
SETTINGS: Final = "source.yml"
# Both are written whole before either takes its place.
_PARTS: Final = (f".{TABLE}.part", f".{SETTINGS}.part")
TOOL: Final = f"reportgen {__version__} freeze"


@dataclass(frozen=True, slots=True)
class FrozenFiles:
    """What was written: the files, their bytes together, and whether they replace what was frozen before."""

    files: tuple[Path, ...]
    size: int
    replaced: bool


def refuse_foreign(folder: Path, source: Path) -> None:
    """Refuse a folder that a source may not be frozen into.

    Args:
        folder: where to freeze.
        source: the file or folder to be frozen.

    Raises:
        ReportError: it is a file, has files that freezing did not write, or is or holds the source.
    """
    whole = folder.resolve()
    if whole == source.resolve() or whole in source.resolve().parents:
        found = "the source itself lies there"
    elif folder.exists() and not folder.is_dir():
        found = "there is a file of this name"
    elif folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        found = "the folder holds files that reportgen freeze did not write"
    else:
        return
    advice = "Name a folder that is empty or does not exist yet with --to"
    raise ReportError(Problem(SourceLocation(str(folder)), found, advice, Stage.SITE))


def write_frozen(freezing: FrozenSource, folder: Path) -> FrozenFiles:
    """Write a source into a folder that was not refused; what was frozen there before is replaced.

    Raises:
        ReportError: everything that is wrong in the source's files; nothing is replaced then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table, settings = folder / TABLE, folder / SETTINGS
    parts = [folder / name for name in _PARTS]
    replaced = table.exists()
    try:
        freezing.write(parts[0])
        parts[1].write_text(freezing.settings, encoding="utf-8", newline="\n")
        parts[0].replace(table)
        parts[1].replace(settings)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    return FrozenFiles((table, settings), table.stat().st_size + settings.stat().st_size, replaced)


def _is_ours(folder: Path) -> bool:
    """Whether all that is there was frozen before, or left by a freezing that was killed."""
    left = {path.name for path in folder.iterdir()} - set(_PARTS)
    settings = folder / SETTINGS
    if left - {TABLE, SETTINGS} or (left and not settings.is_file()):
        return False
    if not left:
        return True
    tool = load_source_settings(settings, str(settings)).provenance.tool
    return tool is not None and tool.startswith("reportgen ") and tool.endswith(" freeze")
