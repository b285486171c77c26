"""Folders that are not gone into, and files that may not be read: they are left out and told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Severity, SourceLocation, Stage
from reportgen.read.alike import merge_problems
from reportgen.read.find import locate_file, split_ending
from reportgen.read.units import is_unit_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_UNREAD: Final = "the file cannot be read: Permission denied; it is left out"


def find_unreadable(paths: Sequence[Path], *, named: bool) -> frozenset[Path]:
    """Files that may not be read, of those that would be.

    Args:
        paths: all files of a source.
        named: whether the user named them; otherwise only those count whose names may be of data.
    """
    data = (path for path in paths if named or split_ending(path)[1] or is_unit_name(path.name))
    return frozenset(path for path in data if not os.access(path, os.R_OK) and path.exists())


def report_unread(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Problem]:
    """Warnings of what is left out, many of one kind in one.

    Args:
        folders: those that are not gone into, and why, as a sentence without full stop.
        files: those that may not be read.
        root: what paths are told relative to.
    """
    reasons = (*folders.items(), *((file, _UNREAD) for file in files))
    advice = "Check who may read it, and where links lead"
    return merge_problems(
        Problem(SourceLocation(locate_file(path, root).file), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in reasons
    )
