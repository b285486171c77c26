"""Archives as sources: their members are unpacked into the cache once, and read from there like a folder.

Members keep the archive in their names, as in ``data/runs.zip/seed1/log.csv``, since the cache has the same
folders around them as the project has around the archive.
"""

from __future__ import annotations

import os
from collections.abc import Mapping  # noqa: TC003 - the schema of stored members needs it at run time
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.model import SourceFile
from reportgen.core.repository import is_hidden
from reportgen.core.words import quote_names
from reportgen.formats.archive import read_members
from reportgen.formats.decode import LARGEST_PART
from reportgen.formats.files import get_archive_ending
from reportgen.formats.messages import list_names
from reportgen.formats.registry import is_data_name
from reportgen.formats.runs import UnreadableError
from reportgen.read.find import MOST_FILES, SETTINGS, locate_file
from reportgen.read.runs.stored import locate_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.core.cache import Cache
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


_FOLDER: Final = "unpacked"
# What operating systems add.
_FOREIGN: Final = frozenset(("__MACOSX", "Thumbs.db"))


class _Members(Struct, frozen=True):
    """Unpacked files with their sizes, links that look like data, and archives without a mark at the end."""

    sizes: Mapping[str, int]
    links: tuple[str, ...]
    unended: tuple[str, ...]  # paths in the project


class Unpacked(Struct, frozen=True):
    """A source whose members lie in the cache, its archives, and warnings of what was left out."""

    location: Location
    files: tuple[SourceFile, ...]
    warnings: tuple[Diagnostic, ...]


def unpack_source(
    location: Location, settings: SourceSettings, hashes: Callable[[Path], str], cache: Cache
) -> Unpacked | None:
    """Unpack a source that is an archive, or a folder of nothing else; None for any other source.

    Raises ``ReportError`` for archives that are damaged, hostile or beyond the limits.
    """
    archives = _list_archives(location.path)
    if not archives:
        return None
    try:
        files = tuple(
            SourceFile(locate_file(path, location.root).file, path.stat().st_size, hashes(path))
            for path in archives
        )
        patterns = settings.files if isinstance(settings.files, tuple) else (settings.files or "",)
        key = cache.make_key("unpacked", repr([(file.path, file.sha256) for file in files]), repr(patterns))
        root = Path(cache.get_text_path(key, _FOLDER))
        members, is_whole = cache.load(key, _Members), False
        with suppress(OSError):
            sizes = members.sizes.items() if members else ()
            is_whole = all(os.stat(root / name).st_size == size for name, size in sizes)  # noqa: PTH116
        if members is None or not is_whole:
            members = _Unpacking(archives, location, patterns).write(cache, key)
    except UnreadableError as error:
        raise ReportError(locate_problem(error.problem, location.root)) from None
    except OSError as error:
        message = f"the archive cannot be unpacked: {error.strerror or error}"
        advice = "Unpack it beforehand, into a folder of the data folder"
        raise ReportError(
            Diagnostic(locate_file(archives[0], location.root), message, advice, Stage.DATA)
        ) from None
    warnings = tuple(_list_warnings(members, locate_file(archives[0], location.root)))
    inner = root / _get_relative(location.path, location.root)
    moved = replace(location, path=inner, root=root, boundary=None, shown=location.place)
    return Unpacked(moved, files, warnings)


def _list_warnings(members: _Members, place: SourceLocation) -> Iterator[Diagnostic]:
    if members.links:
        message = f"links in the archive are not followed: {list_names(members.links)}"
        yield Diagnostic(place, message, "", Stage.DATA, Severity.WARNING)
    for path in members.unended:
        message = "the archive has no mark at its end, so it may be cut off and files may be missing"
        advice = "Copy or write it again, if it should have more"
        yield Diagnostic(SourceLocation(path), message, advice, Stage.DATA, Severity.WARNING)


def _list_archives(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if get_archive_ending(path.name) else []
    archives: list[Path] = []
    # A folder that cannot be opened is reported by whoever looks for its files.
    with suppress(OSError), os.scandir(path) as entries:
        visible = [one for one in entries if not is_hidden(one.name) and one.name != SETTINGS]
        others = [one for one in visible if not get_archive_ending(one.name)]
        if not any(is_data_name(one.name) or one.is_dir() for one in others):
            archives = [Path(one.path) for one in visible if get_archive_ending(one.name) and one.is_file()]
    return sorted(archives)


def _get_relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


class _Unpacking:
    """Unpacking of the archives of a source into one folder of the cache."""

    def __init__(self, archives: Sequence[Path], location: Location, patterns: Sequence[str]) -> None:
        self._archives, self._location = archives, location
        # The last part of a pattern has to fit some part of the path of whatever it matches.
        self._patterns = patterns
        last = [PurePosixPath(pattern).name for pattern in patterns if "(?P<" not in pattern]
        self._parts = last if len(last) == len(patterns) and all(last) else ["*"]
        self._sizes: dict[str, int] = {}
        self._links: list[str] = []
        self._unended: list[Path] = []
        self._seen: list[str] = []

    def write(self, cache: Cache, key: str) -> _Members:
        """Write the members and the list of them."""
        cache.write_folder(key, _FOLDER, self._read())
        links = tuple(name for name in self._links if is_data_name(PurePosixPath(name).name))
        unended = tuple(locate_file(path, self._location.root).file for path in self._unended)
        members = _Members(self._sizes, links, unended)
        cache.store(key, members)
        return members

    def _read(self) -> Iterator[tuple[str, bytes]]:
        for archive in self._archives:
            top = _get_relative(archive, self._location.root)
            found = False
            for name, data in read_members(archive, self._is_selected, self._links, self._unended):
                found = True
                self._sizes[f"{top}/{name}"] = len(data)
                if len(self._sizes) > MOST_FILES:
                    message = f"the archive holds more than {MOST_FILES:,} files"
                    raise UnreadableError(archive, message, "Name those to read with files: in source.yml")
                yield f"{top}/{name}", data
            if not found:
                message = "the archive has no file that may be data"
                if any(self._patterns):
                    message = f"files: {quote_names(self._patterns)} matches nothing in the archive"
                advice = f"It holds {list_names(sorted(self._seen))}" if self._seen else "Pack it again"
                raise UnreadableError(archive, message, advice)
            self._seen.clear()

    def _is_selected(self, name: str, size: int) -> bool:
        """Return whether a member may be read: neither hidden nor a large file of an unknown kind."""
        parts = PurePosixPath(name).parts
        if parts[-1] == SETTINGS or any(is_hidden(part) or part in _FOREIGN for part in parts):
            return False
        self._seen.append(name)
        is_small = size <= LARGEST_PART or is_data_name(parts[-1])
        return is_small and any(fnmatchcase(part, pattern) for part in parts for pattern in self._parts)
