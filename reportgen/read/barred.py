"""Folders that are not gone into, and files that may not be read: they are left out and told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from reportgen.errors import Place, Problem, Severity, Stage
from reportgen.read.alike import folded
from reportgen.read.find import ending_of, place_of
from reportgen.read.units import may_be_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_UNREAD: Final = "the file cannot be read: Permission denied; it is left out"


def barred_files(paths: Sequence[Path], *, named: bool) -> frozenset[Path]:
    """Files that may not be read, of those that would be.

    Args:
        paths: all files of a source.
        named: whether the user named them; otherwise only those count whose names may be of data.
    """
    data = (path for path in paths if named or ending_of(path)[1] or may_be_read(path.name))
    return frozenset(path for path in data if not os.access(path, os.R_OK) and path.exists())


def barred_problems(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Problem]:
    """Warnings of what is left out, many of one kind in one.

    Args:
        folders: those that are not gone into, and why, as a sentence without full stop.
        files: those that may not be read.
        root: what paths are told relative to.
    """
    told = (*folders.items(), *((file, _UNREAD) for file in files))
    advice = "Check who may read it, and where links lead"
    return folded(
        Problem(Place(place_of(path, root).file), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in told
    )
