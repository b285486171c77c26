"""Links of a source that lead out of the repository: whoever may change data could publish any file so."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, Severity, Stage
from reportgen.read.alike import merge_problems
from reportgen.read.find import locate_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.errors import SourceLocation
    from reportgen.read.find import Location

_ADVICE: Final = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data"
)


def refuse_outward_links(found: Mapping[Path, str], location: Location) -> None:
    """Refuse links that lead out of the repository.

    Args:
        found: the links, and where they lead.
        location: the source whose links they are.

    Raises:
        ReportError: there are some.
    """
    for link, target in found.items():
        if location.path.parent not in link.parents:
            # What is said of the whole data folder is told at the page that wants something of it.
            place = locate_file(link, location.root)
            raise ReportError(_report_link(place, f'the link "{place}"', target))
    if found:
        raise ReportError(*report_links(found, location.root))


def report_links(
    found: Mapping[Path, str], root: Path, severity: Severity = Severity.ERROR
) -> Iterator[Problem]:
    """What is told of links that lead out, many to one place in one."""
    problems = (_report_link(locate_file(link, root), "this link", target) for link, target in found.items())
    return merge_problems(replace(one, severity=severity) for one in problems)


def _report_link(place: SourceLocation, name: str, target: str) -> Problem:
    # Quoted as Python does: a terminal obeys none of it.
    said = f"{name} leads out of the repository, to {target!r}"
    return Problem(place, said, _ADVICE, Stage.DATA)


_DATABASE_PARTS: Final = ("-wal", "-shm", "-journal")


def find_outward_source(location: Location) -> dict[Path, str]:
    """Of a source's file or folder and its ``source.yml``: the link that leads out, and where to."""
    return _find_outward([location.path, location.settings], location)


def find_outward_files(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Links on the way to files that were named, and of what stands beside them, and where they lead.

    Args:
        paths: files, or folders of such.
        location: their source, whose own file or folder is known to be within.
    """
    paths = list(paths)
    linked = [path for path in paths if path.is_symlink()]
    folders = {
        folder
        for path in paths
        for folder in path.parents
        if folder == path.parent or folder.is_relative_to(location.path)
    }
    if location.path.is_dir():
        links = [link for folder in sorted(folders) for link in _list_links(folder)]
    else:
        # Beside a source that is one file stand other sources, which may be thousands.
        parts = (location.path.with_name(location.path.name + ending) for ending in _DATABASE_PARTS)
        links = [part for part in parts if part.is_symlink()]
    return _find_outward([*sorted(folders - set(location.path.parents)), *linked, *links], location)


def _find_outward(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Paths that lead out, each told by the first link on its way that does, and where they lead."""
    boundary = location.boundary
    if boundary is None:
        return {}
    found: dict[Path, str] = {}
    for path in paths:
        if target := boundary.resolve_outside(path):
            below = (one for one in (*reversed(path.parents), path) if one.is_relative_to(location.root))
            link = next((one for one in below if one.is_symlink() and boundary.resolve_outside(one)), path)
            found[link] = boundary.resolve_outside(link) or target
    return found


def _list_links(folder: Path) -> Iterator[Path]:
    """The links to files in a folder, such as the part of a database that stands beside it."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_symlink() and not entry.is_dir()]
    except OSError:
        return
    yield from (folder / name for name in found)
