"""Records of what commands wrote, in the user's cache folder: only that may be replaced or deleted.

A record has the path, size and modification time of each file in a folder, and is found by the folder's
inode, so that it stays valid when the folder is renamed. Nothing inside the folder is believed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from reportgen.core import CACHE_DIR
from reportgen.core.cache import RECORDED, cache_folder, get_stamp, replace_file
from reportgen.core.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from reportgen.site.replacing.locations import Output

Files: TypeAlias = dict[str, tuple[int, int]]
"""Size in bytes and modification time in nanoseconds of files, by their paths below a folder."""
_FILES: Final = f"{RECORDED}files"
"""Record of files that are written for themselves, by their absolute paths."""
# File managers write these into each folder that is looked at.
_BY_FILE_MANAGERS: Final = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
_MOST_NAMED: Final = 3
HAS_DESCRIPTORS: Final = os.scandir in os.supports_fd and os.rename in os.supports_dir_fd
OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def list_files(folder: Path, *, without: Collection[str] = ()) -> Files:
    """List the files below a folder, and links, which are not followed; empty if there is no such folder.

    ``without`` are names directly in the folder that are passed over.
    """
    found, folders = Files(), [""]
    while folders:
        above = folders.pop()
        with suppress(FileNotFoundError), os.scandir(folder / above) as entries:
            for entry in entries:
                path = f"{above}{entry.name}"
                if path in without:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
                else:
                    status = entry.stat(follow_symlinks=False)
                    found[path] = status.st_size, status.st_mtime_ns
    return found


def record_folder(folder: Path, cache: Path, *, files: Files | None = None) -> None:
    """Record that the files in a folder, or only these, were written by a command."""
    written = list_files(folder) if files is None else files
    with suppress(OSError):  # a full disk
        _write(_locate(folder, cache), written)


def read_record(folder: Path, cache: Path) -> Files:
    """Return the files of a folder that commands wrote; empty if nothing is recorded."""
    try:
        return _read(_locate(folder, cache))
    except OSError:
        return {}


def _write(record: Path, files: Files) -> None:
    # Names may have bytes that are no UTF-8.
    encoded = msgspec.msgpack.encode({os.fsencode(path): stamp for path, stamp in files.items()})
    replace_file(str(record), encoded)


def _read(record: Path) -> Files:
    try:
        decoded = msgspec.msgpack.decode(record.read_bytes(), type=dict[bytes, tuple[int, int]])
    except (OSError, ValueError):
        return {}
    return {os.fsdecode(path): stamp for path, stamp in decoded.items()}


def has_record(folder: Path, cache: Path) -> bool:
    """Return whether a command recorded that it wrote a folder, even if it is empty."""
    try:
        return _locate(folder, cache).is_file()
    except OSError:
        return False


def remove_record(folder: Path, cache: Path) -> None:
    """Remove the record of a folder that is about to be removed."""
    with suppress(OSError):
        _locate(folder, cache).unlink(missing_ok=True)


def _locate(folder: Path, cache: Path) -> Path:
    return cache / f"{RECORDED}{folder.stat(follow_symlinks=False).st_ino}"


def find_unrecorded(folder: Path, cache: Path) -> list[str]:
    """Find the files in a folder that no command wrote, or that changed since, sorted by path."""
    files = list_files(folder)
    return filter_unrecorded(files, read_record(folder, cache)) if files else []


def filter_unrecorded(files: Files, recorded: Files) -> list[str]:
    """Return the paths of files that are not as recorded, sorted; what file managers write does not count."""
    return sorted(path for path, stamp in files.items() if not _is_disposable(path, stamp, recorded))


def _is_disposable(path: str, stamp: tuple[int, int], recorded: Files) -> bool:
    return recorded.get(path) == stamp or path.rpartition("/")[2] in _BY_FILE_MANAGERS


def check_output(output: Output, cache: Path) -> None:
    """Raise a ReportError unless a folder may be replaced: for where it is, or what it holds.

    It may hold what commands recorded in the ``cache``, and nothing else.
    """
    output.check_location()
    folder = output.absolute
    if folder.is_file():
        raise output.refuse("is a file", "Choose another folder")
    if folder.is_dir() and (unrecorded := find_unrecorded(folder, cache)):
        step = (
            "The whole folder would be replaced: delete it yourself if you need nothing in it, otherwise move"
            " these files or choose another folder"
        )
        if cache.name.startswith(f"reportgen-{os.getpid()}-"):  # it ends with this process
            step += f". No record can be stored: set {CACHE_DIR} to a folder outside the repository"
        raise output.refuse(f"holds {describe_unrecorded(unrecorded)}", step)


def check_file(output: Output) -> None:
    """Raise a ReportError unless a file may be written: for where it is, or because it is somebody else's."""
    output.check_location()
    path, cache = output.absolute, _find_cache(output)
    if path.is_dir():
        raise output.refuse("is a folder", "Name a file")
    if path.exists() and _read(cache / _FILES).get(_identify(output)) != get_stamp(path):
        message = "is there already, and reportgen did not write it when it last ran here"
        raise output.refuse(message, "Remove it, or choose another name")


def record_file(output: Output) -> None:
    """Record that a command wrote a file, which the next one may replace."""
    cache = _find_cache(output)
    with suppress(OSError):
        _write(cache / _FILES, _read(cache / _FILES) | {_identify(output): get_stamp(output.absolute)})


def _find_cache(output: Output) -> Path:
    # Reports of one folder may write the same file.
    return cache_folder(Path(os.path.realpath(output.absolute.parent)))


def _identify(output: Output) -> str:
    path = output.absolute
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - of texts


def describe_unrecorded(paths: list[str]) -> str:
    """Name files that no record has: ``2 files that the last run did not write or that changed since: …``."""
    count = format_count(len(paths), "file")
    named = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
    return f"{count} that reportgen did not write when it last ran here: {named}"


def remove_recorded(folder: Path, cache: Path, *, parent: int | None = None) -> list[str]:
    """Remove a folder, but for files that no command wrote or that changed since; return their paths.

    ``parent`` is a descriptor of the folder's parent, whose path may have changed meanwhile.
    """
    recorded = read_record(folder, cache)
    remaining = [*_remove_below(_open(folder, parent), "", recorded)]
    if not remaining:
        remove_record(folder, cache)
        os.rmdir(folder if parent is None else folder.name, dir_fd=parent)
    return remaining


def _open(folder: Path, parent: int | None) -> int | str:
    """Return a folder's descriptor, or its path where the system has none."""
    if not HAS_DESCRIPTORS:
        return str(folder)
    return os.open(folder if parent is None else folder.name, OPEN_FOLDER, dir_fd=parent)


def _remove_below(folder: int | str, above: str, recorded: Files) -> Iterator[str]:
    """Remove what is recorded of an open folder, which is closed; yield the paths of everything else."""
    try:
        with os.scandir(folder) as entries:
            inside = [*entries]
        for entry in inside:
            path = f"{above}{entry.name}"
            name, descriptor = (entry.name, folder) if isinstance(folder, int) else (entry.path, None)
            if entry.is_dir(follow_symlinks=False):
                opened = os.open(name, OPEN_FOLDER, dir_fd=descriptor) if descriptor is not None else name
                yield from _remove_below(opened, f"{path}/", recorded)
                with suppress(OSError):  # not empty
                    os.rmdir(name, dir_fd=descriptor)
                continue
            status = entry.stat(follow_symlinks=False)
            if _is_disposable(path, (status.st_size, status.st_mtime_ns), recorded):
                os.unlink(name, dir_fd=descriptor)
            else:
                yield path
    finally:
        if isinstance(folder, int):
            os.close(folder)
