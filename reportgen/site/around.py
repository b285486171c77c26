"""The report around a path, found by its ``mkdocs.yml``: its root, its data folder and its cache."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.cache import Cache, FileHashes, cache_folder
from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.repository import find_data_boundary
from reportgen.settings.loading import read_data_settings

if TYPE_CHECKING:
    from reportgen.repository import Boundary

_PROJECT = "mkdocs.yml"


@dataclass(frozen=True, slots=True)
class DataPath:
    """What is around a path.

    Attributes:
        path: the file or folder, without ``..``.
        root: the folder of the report, otherwise the working folder or, if the path is not below it, the
            folder around the path.
        name: what blocks call it, if it is below the data folder of the report; otherwise empty.
        data_dir: the data folder relative to the root; empty without a report.
        cache: of the report; None without one.
        hashes: SHA-256 of files, remembered by the report if there is one.
        boundary: where links in the path may lead; anywhere without a report, or if it says so.
    """

    path: Path
    root: Path
    name: str
    data_dir: str
    cache: Cache | None
    hashes: FileHashes
    boundary: Boundary | None = None


def locate_data(path: Path) -> DataPath:
    """What is around a path.

    Raises:
        ReportError: there is no such file or folder.
    """
    typed, path = path, path.absolute()
    path = Path(*(part for part in path.parts if part != ".")) if ".." not in path.parts else path.resolve()
    try:
        path.stat()
    except OSError as error:
        message = "there is no such file or folder"
        if isinstance(error, PermissionError):
            message = "it may not be looked at: Permission denied"
        raise ReportError(
            Problem(SourceLocation(str(typed)), message, "Check the path", Stage.DATA)
        ) from None
    for folder in (path, *path.parents) if path.is_dir() else path.parents:
        if os.path.isfile(folder / _PROJECT):  # noqa: PTH113 - pathlib raises where nobody may look
            return _locate_in_report(path, folder)
    root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
    # Never saved, so the folder need not be there.
    hashes = FileHashes(Path(tempfile.gettempdir(), "reportgen-no-report"))
    return DataPath(path, root, "", "", None, hashes)


def _locate_in_report(path: Path, root: Path) -> DataPath:
    data_dir, follows_links = read_data_settings(root / _PROJECT, _PROJECT)
    data = root / data_dir
    name = ""
    if path != data and path.is_relative_to(data):
        below = path.relative_to(data)
        name = below.as_posix() if path.is_dir() else ""
    folder = cache_folder(root)
    # The path itself may be a link: whoever typed it wants what it leads to.
    boundary = None if follows_links else find_data_boundary(root, data_dir).add(path)
    return DataPath(path, root, name, data_dir, Cache(folder), FileHashes(folder), boundary)
