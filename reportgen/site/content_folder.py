"""The content folder before MkDocs copies it: links out of the repository, loops and pipes are refused."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.structure.files import get_files, set_exclusions

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.repository import Boundary, find_boundary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File, Files

DEEPEST: Final = 100
MOST_ENTRIES: Final = 200_000
_KINDS: Final = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_COPY: Final = "Put a copy of what it leads to in its place; no setting allows such links here"


def find_content_name(config: MkDocsConfig, root: Path) -> str:
    """The content folder relative to ``mkdocs.yml``, with forward slashes.

    Raises:
        ReportError: it lies elsewhere, or is a link out of the repository.
    """
    config_folder = os.path.dirname(os.path.abspath(config.config_file_path or "mkdocs.yml"))  # noqa: PTH100, PTH120 - keeps links
    folder = Path(config.docs_dir)
    target = find_boundary(root).resolve_outside(folder)
    if folder.is_relative_to(config_folder) and target is None:
        return folder.relative_to(config_folder).as_posix()
    said = f"docs_dir leads out of the folder of mkdocs.yml, to {(target or config.docs_dir)!r}"
    step = "Name a folder below it, such as content"
    raise ReportError(Problem(SourceLocation("mkdocs.yml"), said, step, Stage.SITE))


def list_content_files(config: MkDocsConfig, root: Path) -> Files:
    """The files of the content folder as MkDocs finds them.

    Args:
        config: that of MkDocs.
        root: the folder of ``mkdocs.yml``.

    Raises:
        ReportError: of what a site shows, links lead out of the repository, to nothing or in a circle, or
            there are pipes, sockets or devices; also in the theme's own folder.
    """
    boundary = find_boundary(root)
    walk = _Walk(find_content_name(config, root), boundary)
    walk.look_through(config.docs_dir)
    # MkDocs would follow a circle for ever, so it is not even asked.
    _refuse(walk.folders)
    files = get_files(config)
    set_exclusions(files, config)
    shown = (file.abs_src_path or "" for file in filter_shown(files))
    problems = [walk.files[path] for path in shown if path in walk.files]
    if config.theme.custom_dir:
        custom = Path(config.theme.custom_dir)
        theme = _Walk(custom.name, boundary.add(custom))
        theme.look_through(str(custom))
        problems += theme.files.values()
    _refuse(problems)
    return files


def filter_shown(files: Files) -> Iterator[File]:
    """The files that a site shows or copies; drafts are shown while a report is served."""
    return (file for file in files if file.inclusion.is_in_serve())  # type: ignore[no-untyped-call]


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise ReportError(*problems)


@dataclass(slots=True)
class _Walk:
    """A way through a folder as MkDocs goes it, links included.

    Attributes:
        name: the folder, for messages.
        boundary: where links may lead.
        folders: what keeps MkDocs from going through.
        files: what keeps it from copying a file, by the file's path.
    """

    name: str
    boundary: Boundary
    folders: list[Problem] = field(default_factory=list)
    files: dict[str, Problem] = field(default_factory=dict)

    def look_through(self, top: str) -> None:
        """Note every problem below a folder."""
        waiting: list[tuple[str, tuple[str, ...]]] = [(top, (os.path.realpath(top),))]
        entries = 0
        while waiting:
            folder, above = waiting.pop()
            for entry in _list_entries(folder):
                entries += 1
                place = SourceLocation(f"{self.name}/{os.path.relpath(entry.path, top)}")
                real = (
                    os.path.realpath(entry.path) if entry.is_symlink() else f"{above[-1]}{os.sep}{entry.name}"
                )
                if _is_folder(entry):
                    if problem := self._check_folder(place, real, above, linked=entry.is_symlink()):
                        self.folders.append(problem)
                    else:
                        waiting.append((entry.path, (*above, real)))
                elif problem := self._check_file(place, real, entry):
                    self.files[entry.path] = problem
            if entries > MOST_ENTRIES:
                said = f"it holds more than {MOST_ENTRIES:,} files, those that links lead to included"
                self.folders.append(
                    _make_problem(SourceLocation(self.name), said, "Keep data in the data folder")
                )
                return

    def _check_folder(
        self, place: SourceLocation, real: str, above: tuple[str, ...], *, linked: bool
    ) -> Problem | None:
        if linked and not self.boundary.contains(real):
            return _report_outward(place, real)
        if linked and any(f"{one}{os.sep}".startswith(f"{real.rstrip(os.sep)}{os.sep}") for one in above):
            said = f"this link leads to a folder that it stands in, {real!r}, so there is no end to it"
            return _make_problem(place, said, "Remove it")
        if len(above) > DEEPEST:
            return _make_problem(
                SourceLocation(self.name),
                f"its folders are nested more than {DEEPEST} deep",
                "Move the pages up",
            )
        return None

    def _check_file(self, place: SourceLocation, real: str, entry: os.DirEntry[str]) -> Problem | None:
        if entry.is_symlink() and not self.boundary.contains(real):
            return _report_outward(place, real)
        try:
            mode = os.stat(entry.path).st_mode  # noqa: PTH116 - a path as text
        except OSError:
            if not entry.is_symlink():  # gone, or not for us to look at: MkDocs will say so
                return None
            said = f"this link leads to nothing: there is no {os.readlink(entry.path)!r}"  # noqa: PTH115 - as above
            return _make_problem(place, said, "Mend the link or remove it")
        if stat.S_ISREG(mode):
            return None
        return _make_problem(
            place, f"this is {_KINDS.get(stat.S_IFMT(mode), 'a device')}, no file", "Remove it"
        )


def _list_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """What a folder holds; nothing where nobody may look, as for MkDocs."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    yield from found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _report_outward(place: SourceLocation, target: str) -> Problem:
    return _make_problem(place, f"this link leads out of the repository, to {target!r}", _COPY)


def _make_problem(place: SourceLocation, message: str, next_step: str) -> Problem:
    return Problem(place, message, next_step, Stage.SITE)
