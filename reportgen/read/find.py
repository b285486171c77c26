"""Which sources there are in the data folder, and every file below the folder of one."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.words import suggest_name
from reportgen.formats.files import natural_key, split_ending
from reportgen.formats.messages import list_names
from reportgen.formats.registry import is_unit_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.repository import Boundary


# The text after the last dot of an event file's name is no ending.
_EVENTS: Final = "events.out."
SETTINGS: Final = "source.yml"
MOST_FILES: Final = 200_000
DEEPEST: Final = 100
"""Folders within folders that a source may have."""


@dataclass(frozen=True, slots=True)
class Location:
    """A source's file or folder, under the name that blocks use."""

    name: str
    path: Path
    root: Path  # what the locations of problems are relative to
    settings: Path  # the ``source.yml``, whether there is one or not
    boundary: Boundary | None = None  # links may lead anywhere without one

    @property
    def place(self) -> SourceLocation:
        """Where problems of the whole source are reported: its settings, otherwise the file or folder."""
        return locate_file(self.settings if self.has_settings else self.path, self.root)

    @property
    def has_settings(self) -> bool:
        """Whether there is a ``source.yml``; not where its folder may not be entered."""
        return os.path.isfile(self.settings)  # noqa: PTH113 - pathlib raises where a folder may not be entered


@lru_cache(maxsize=1024)
def locate_file(path: Path, root: Path, line: int | None = None) -> SourceLocation:
    """A file as users know it: relative to the root where it is below it, with forward slashes."""
    return SourceLocation((path.relative_to(root) if path.is_relative_to(root) else path).as_posix(), line)


def find_sources(
    project_root: Path,
    data_dir: str,
    boundary: Boundary | None = None,
    outward: dict[Path, str] | None = None,
) -> tuple[str, ...]:
    """Names of all sources below the data folder, in natural order; none if there is no such folder.

    Links that leave the boundary are not followed, and ``outward`` gets them and where they lead. Two files,
    or a file and a folder, of the same name are an error.
    """
    data = project_root / data_dir
    if not data.is_dir():
        return ()
    names: dict[str, list[Path]] = {}
    for file in sorted(_list_files(data), key=natural_key):
        names.setdefault(split_ending(file)[0], []).append(file)
    # Every folder with data somewhere below it is a source.
    walk = FolderWalk(data.parent, boundary, nested_sources=True, outward={} if outward is None else outward)
    files = (file for file in walk.list_files(data) if split_ending(file)[1] or is_unit_name(file.name))
    for folder in sorted({parent for file in files for parent in file.parents}, key=natural_key):
        if folder != data and folder.is_relative_to(data):
            names.setdefault(folder.relative_to(data).as_posix(), []).append(folder)
    for file in sorted(_list_files(data, of_units=True), key=natural_key):
        # A log next to a table of its name has been no source of its own.
        names.setdefault(_name_source(file), [file])
    problems = [_report_clash(name, paths, project_root) for name, paths in names.items() if len(paths) > 1]
    if problems:
        raise ReportError(*problems)
    return tuple(sorted(names, key=lambda name: natural_key(Path(name))))


def locate(project_root: Path, data_dir: str, name: str, boundary: Boundary | None = None) -> Location:
    """The file or folder that a source's name means; raises where there is none, or more than one."""
    data = project_root / data_dir
    parts = PurePosixPath(name).parts
    found: list[Path] = []
    if parts and ".." not in parts and not PurePosixPath(name).is_absolute() and "\0" not in name:
        folder = data.joinpath(*parts)
        found = [folder] if folder.is_dir() else []
        if len(parts) == 1 and data.is_dir():
            found += [path for path in _list_files(data, f"{name}.") if split_ending(path)[0] == name]
            units = _list_files(data, name, of_units=True) if not found else ()
            found += [path for path in units if _name_source(path) == name]
    if len(found) > 1:
        raise ReportError(_report_clash(name, found, project_root))
    if not found:
        message = f'there is no source "{name}" in {data_dir}/'
        known = find_sources(project_root, data_dir, boundary)
        # Folders of a folder can be named, too, but they are parts of it.
        tops = [one for one in known if "/" not in one]
        there = "The sources are" if len(tops) > 1 else "The only source is"
        advice = f"{suggest_name(name, known)}{there} {list_names(tops)}" if tops else ""
        raise ReportError(Diagnostic(SourceLocation(data_dir), message, advice, Stage.DATA))
    return make_location(found[0], PurePosixPath(*parts).as_posix(), project_root, boundary)


def make_location(path: Path, name: str, root: Path, boundary: Boundary | None = None) -> Location:
    """A source whose file or folder is known; without a name it is called as that is."""
    is_folder = path.is_dir()
    own_name = path.name if is_folder else _name_source(path)
    settings = path / SETTINGS if is_folder else path.with_name(f"{own_name}.{SETTINGS}")
    return Location(name or own_name, path, root, settings, boundary)


def _name_source(path: Path) -> str:
    """The name of a source that is one file: without the endings of a table, otherwise without its ending."""
    name, kind, _ = split_ending(path)
    return name if kind or name.startswith(_EVENTS) else path.stem


def _list_files(data: Path, start: str = "", *, of_units: bool = False) -> Iterator[Path]:
    """Tables directly in the data folder whose names begin so, or what loggers and harnesses wrote there."""
    for path in data.iterdir():
        if not path.name.startswith(start) or path.name.startswith(".") or path.name.endswith(SETTINGS):
            continue
        if (is_unit_name(path.name) if of_units else split_ending(path)[1]) and path.is_file():
            yield path


def _report_clash(name: str, paths: list[Path], root: Path) -> Diagnostic:
    others = " and ".join(locate_file(path, root).file for path in paths[1:])
    message = f'{others} would be the source "{name}" too'
    return Diagnostic(locate_file(paths[0], root), message, "Rename one of them", Stage.DATA)


@dataclass(frozen=True, slots=True)
class FolderWalk:
    """A way through folders, and what is left out on it. Without a boundary all links are followed."""

    root: Path  # what the locations of problems are relative to
    boundary: Boundary | None = None
    nested_sources: bool = False  # whether to go into folders with a ``source.yml``, sources of their own
    skipped: dict[Path, str] = field(default_factory=dict)  # folders that are not gone into, and why
    outward: dict[Path, str] = field(default_factory=dict)  # links that leave the boundary, and where to

    def list_files(self, folder: Path) -> Iterator[Path]:
        """Every file below a folder but hidden ones, in natural order, each once though links lead to it."""
        seen: set[str] = set()
        place = locate_file(folder, self.root)
        for path, real in self._walk(folder, (os.path.realpath(folder),), set(), place):
            if real not in seen:
                seen.add(real)
                yield path
            if len(seen) > MOST_FILES:
                message = f"the folder holds more than {MOST_FILES:,} files"
                advice = "Name those to read with files: in source.yml, or move the others elsewhere"
                raise ReportError(Diagnostic(place, message, advice, Stage.DATA))

    def _walk(
        self, folder: Path, above: tuple[str, ...], walked: set[str], top: SourceLocation
    ) -> Iterator[tuple[Path, str]]:
        """Files below a folder and where they are; of the folders ``above``, the last is really this one."""
        walked.add(above[-1])
        if len(above) > DEEPEST + 1:
            message = f"its folders are nested more than {DEEPEST} deep"
            raise ReportError(Diagnostic(top, message, "Move the data further up", Stage.DATA))
        try:
            with os.scandir(folder) as entries:
                found = [(entry.is_symlink(), natural_key(Path(entry.name)), entry) for entry in entries]
        except OSError as error:
            self.skipped[folder] = f"the folder cannot be opened: {error.strerror or error}; it is left out"
            return
        if found and not os.access(folder, os.X_OK):
            self.skipped[folder] = "the folder cannot be opened: Permission denied; it is left out"
            return
        # Files and folders themselves come before links to them, so that these are the ones left out.
        visible = (one for one in found if one[2].name != SETTINGS and not one[2].name.startswith("."))
        for linked, _, entry in sorted(visible, key=lambda one: one[:2]):
            path = folder / entry.name
            real = os.path.join(above[-1], entry.name)  # noqa: PTH118
            if linked:
                # Where it leads; where that may not be seen, as of another user's process, the link itself.
                real = str(path)
                with suppress(OSError):
                    real = os.path.realpath(path)
            if os.path.isdir(path) if linked else entry.is_dir():  # noqa: PTH112 - pathlib raises at loops
                if real not in walked and self._is_entered(path, real, above if linked else ()):
                    yield from self._walk(path, (*above, real), walked, top)
            elif linked and self._check_outward(path, real):
                continue
            elif entry.is_file() if not linked else os.path.isfile(path) or not os.path.exists(path):  # noqa: PTH110, PTH113
                # A link to nothing is reported by its reader; a link to a pipe would be waited for.
                yield path, real

    def _is_entered(self, path: Path, real: str, above: tuple[str, ...]) -> bool:
        """Whether a folder is gone into: no source of its own, and no link to a folder around those above."""
        if any(PurePosixPath(one).is_relative_to(real) for one in above):
            self.skipped[path] = "the link leads to a folder that the source is in; it is not followed"
            return False
        if above and self._check_outward(path, real):
            return False
        return self.nested_sources or not os.path.isfile(path / SETTINGS)  # noqa: PTH113 - as above

    def _check_outward(self, link: Path, real: str) -> bool:
        """Whether a link leads out of what may be read, which is noted."""
        if self.boundary is None or self.boundary.contains(real):
            return False
        self.outward[link] = real
        return True
