"""Folders that are not gone into, and files that may not be read: they are left out and told."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reportgen.errors import Place, Problem, Severity, Stage
from reportgen.read.find import ending_of, place_of
from reportgen.read.units import may_be_read
from reportgen.words import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

# So many of one kind are told one by one.
_FEW: Final = 3
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
    alike: dict[str, list[str]] = defaultdict(list)
    for path, message in (*folders.items(), *((file, _UNREAD) for file in files)):
        alike[message].append(place_of(path, root).file)
    for message, places in alike.items():
        if len(places) > _FEW:
            more = f"{message}; the same of {len(places) - 1:,} more: {listing(places[1:], most=2)}"
            yield _problem(places[0], more)
        else:
            yield from (_problem(place, message) for place in places)


def _problem(place: str, message: str) -> Problem:
    return Problem(
        Place(place), message, "Check who may read it, and where links lead", Stage.DATA, Severity.WARNING
    )
