"""Frozen sources on disk: one Parquet file and a ``source.yml``, replaced only by a later freezing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core import __version__
from reportgen.core.errors import make_error
from reportgen.core.words import join_names
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.describing import FrozenSource


TABLE: Final = "data.parquet"
SETTINGS: Final = "source.yml"
ORIGIN: Final = "origin.json"
"""What ``reportgen.freeze`` writes for a table that it reduced on its engine."""
# Both are written completely before either is moved into place.
_PARTS: Final = (f".{TABLE}.part", f".{SETTINGS}.part")
TOOL: Final = f"reportgen {__version__} freeze"


class FrozenFiles(Struct, frozen=True):
    """The files written, their size in bytes, and whether they replace earlier frozen files."""

    files: tuple[Path, ...]
    size: int
    replaced: bool


def refuse_foreign(folder: Path, source: Path) -> None:
    """Raise a ReportError if a folder is a file, contains the source, or has files that were not frozen."""
    whole = folder.resolve()
    if whole == source.resolve() or whole in source.resolve().parents:
        message = "the source itself is there"
    elif folder.exists() and not folder.is_dir():
        message = "there is already a file with this name"
    elif folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        message = "the folder holds files that reportgen freeze did not write"
    else:
        return
    advice = "Name a folder that is empty or does not exist yet with --to"
    raise make_error(str(folder), message, advice)


def write_frozen(freezing: FrozenSource, folder: Path) -> FrozenFiles:
    """Write a source into a folder; raise a ReportError with all problems, and then replace nothing."""
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


def check_frozen(freezing: FrozenSource, folder: Path) -> None:
    """Raise a ReportError unless a source is as it was when it was frozen into a folder."""
    settings = folder / SETTINGS
    if not (folder / TABLE).is_file() or not settings.is_file():
        raise make_error(str(folder), "nothing was frozen here", "Leave out --check to freeze it")
    before, now = load_source_settings(settings, str(settings)).provenance.files or {}, freezing.files
    moved = {
        "changed": [name for name in now if before.get(name, now[name]) != now[name]],
        "new": [name for name in now if name not in before],
        "gone": [name for name in before if name not in now],
    }
    words = [f"{join_names(names, most=4)} {state}" for state, names in moved.items() if names]
    if words:
        message = f"the source has changed since it was frozen: {', '.join(words)}"
        raise make_error(str(folder), message, "Freeze it again, or keep the table as a record")


def _is_ours(folder: Path) -> bool:
    """Return whether all files were frozen before, or left by a killed freeze."""
    left = {path.name for path in folder.iterdir()} - set(_PARTS)
    settings = folder / SETTINGS
    if left - {TABLE, SETTINGS} or (left and not settings.is_file()):
        return False
    if not left:
        return True
    tool = load_source_settings(settings, str(settings)).provenance.tool
    return tool is not None and tool.startswith("reportgen ") and tool.endswith(" freeze")
