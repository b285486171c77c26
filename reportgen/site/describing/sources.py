"""A file or folder of data by its path: the report around it, and the folder that it is frozen into."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.core import __version__
from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import Stage, make_error
from reportgen.core.repository import find_data_boundary
from reportgen.settings.loading import load_source_settings, read_data_settings

if TYPE_CHECKING:
    from reportgen.core.repository import Boundary
    from reportgen.draft.describing import FrozenSource

_PROJECT = "mkdocs.yml"


@dataclass(frozen=True, slots=True)
class DataPath:
    """A path without ``..`` and the report around it; without one there is no cache, and no hash is saved."""

    path: Path
    # the folder of the report, otherwise the working folder or, for a path not below it, the folder around it
    root: Path
    # what blocks call it, if it is below the data folder of the report; otherwise empty
    name: str
    # relative to the root; empty without a report
    data_dir: str
    cache: Cache | None
    hashes: FileHashes
    # where links in the path may lead; None for anywhere
    boundary: Boundary | None = None


def locate_data(path: Path) -> DataPath:
    """What is around a path; raises a ReportError if there is no such file or folder."""
    typed, path = path, path.absolute()
    path = Path(*(part for part in path.parts if part != ".")) if ".." not in path.parts else path.resolve()
    try:
        path.stat()
    except OSError as error:
        message = "there is no such file or folder"
        if isinstance(error, PermissionError):
            message = "it may not be looked at: Permission denied"
        raise make_error(str(typed), message, "Check the path", Stage.DATA) from None
    for folder in (path, *path.parents) if path.is_dir() else path.parents:
        if os.path.isfile(folder / _PROJECT):  # noqa: PTH113 - pathlib raises where nobody may look
            break
    else:
        root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
        # Never saved, so the folder need not be there.
        return DataPath(
            path, root, "", "", None, FileHashes(Path(tempfile.gettempdir(), "reportgen-no-report"))
        )
    data_dir, follows_links = read_data_settings(folder / _PROJECT, _PROJECT)
    data = folder / data_dir
    is_source = path != data and path.is_relative_to(data) and path.is_dir()
    name = path.relative_to(data).as_posix() if is_source else ""
    cache = cache_folder(folder)
    # The path itself may be a link: whoever typed it wants what it leads to.
    boundary = None if follows_links else find_data_boundary(folder, data_dir).add(path)
    return DataPath(path, folder, name, data_dir, Cache(cache), FileHashes(cache), boundary)


TABLE: Final = "data.parquet"
SETTINGS: Final = "source.yml"
# Both are written whole before either takes its place.
_PARTS: Final = (f".{TABLE}.part", f".{SETTINGS}.part")
TOOL: Final = f"reportgen {__version__} freeze"


@dataclass(frozen=True, slots=True)
class FrozenFiles:
    """The files written, their size in bytes, and whether they replace what was frozen before."""

    files: tuple[Path, ...]
    size: int
    replaced: bool


def refuse_foreign(folder: Path, source: Path) -> None:
    """Raise a ReportError if a folder is a file, holds the source, or has files that were not frozen."""
    whole = folder.resolve()
    if whole == source.resolve() or whole in source.resolve().parents:
        message = "the source itself lies there"
    elif folder.exists() and not folder.is_dir():
        message = "there is a file of this name"
    elif folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        message = "the folder holds files that reportgen freeze did not write"
    else:
        return
    advice = "Name a folder that is empty or does not exist yet with --to"
    raise make_error(str(folder), message, advice)


def write_frozen(freezing: FrozenSource, folder: Path) -> FrozenFiles:
    """Write a source into a folder; raises a ReportError of all that is wrong, and replaces nothing then."""
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
