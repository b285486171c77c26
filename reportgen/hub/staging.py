"""Putting a report into a hub: only what differs is copied, and at the end everything is renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.archive.publishing.sites import LARGEST
from reportgen.core import intact
from reportgen.core.cache import is_running
from reportgen.core.errors import make_error
from reportgen.hub.entries import FOLDER, VERSIONS
from reportgen.site.replacing.records import (
    find_unrecorded,
    has_record,
    list_files,
    read_record,
    record_folder,
    remove_record,
    remove_recorded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.hub.reading import OpenedReport
    from reportgen.site.replacing.records import Files

_CHUNK: Final = 1 << 20
_STAGE: Final = ".hub-"
# What a name of a file may make fail, and no other file.
_BY_NAME: Final = frozenset(
    (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
)


def find_published(folder: Path) -> dict[str, int]:
    """Find the files of a published report with their sizes, with those of its earlier versions."""
    return {path: size for path, (size, _) in list_files(folder).items()}


class StagedReport(Struct):
    """A report that is compared with the published one and then staged; ``same`` are files that are equal."""

    report: OpenedReport
    published: Path
    sizes: dict[str, int] = field(default_factory=dict)
    same: set[str] = field(default_factory=set)

    def compare(self, versions: Sequence[str]) -> bool:
        """Return whether all files are as published; raise a ReportError if one cannot be read."""
        self.sizes = self.report.sizes
        self._check_size()
        before = find_published(self.published)
        owned = self.sizes.keys()
        if not any(path.startswith(f"{VERSIONS}/") for path in owned):
            inner = tuple(f"{VERSIONS}/{one}/" for one in versions)
            before = {path: size for path, size in before.items() if not path.startswith(inner)}
        for path, size in self.sizes.items():
            if before.get(path) == size and self._is_same(path):
                self.same.add(path)
        return len(self.same) == len(before) == len(self.sizes)

    def stage(self, folder: Path) -> int:
        """Write all files into a new folder, and return how many differ from the published ones."""
        made = set[Path]()
        size = sum(size for path, size in self.sizes.items() if path not in self.same)
        if size > (free := shutil.disk_usage(folder.parents[1]).free):
            message = f"{size:,} bytes of it would be written, and {free:,} are free"
            raise make_error(self.report.name, message, "Free some space")
        for path in self.sizes:
            target = folder / path
            try:
                if target.parent not in made:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    made.add(target.parent)
                if path in self.same:
                    link_file(self.published / path, target)
                    continue
                with target.open("xb") as copy:
                    for chunk in self._read(path):
                        copy.write(chunk)
            except OSError as error:
                if error.errno not in _BY_NAME:
                    raise
                message = f"it cannot be written here ({error.strerror})"
                raise make_error(f"{self.report.name}/{path}", message, "Give it another name") from error
        return len(self.sizes) - len(self.same)

    def _check_size(self) -> None:
        if (size := sum(self.sizes.values())) > LARGEST:
            message = f"it has {size:,} bytes, more than 10 GB"
            raise make_error(self.report.name, message, "Leave out files that nobody needs")
        if missing := [name for name in self.report.hashes if self.report.is_missing(name)]:
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise make_error(self.report.name, f"{missing[0]} is missing{more}", "Archive the report again")

    def _is_same(self, path: str) -> bool:
        with (self.published / path).open("rb") as old:
            return all(old.read(len(chunk)) == chunk for chunk in self._read(path))

    def _read(self, path: str) -> Iterator[bytes]:
        """Read a file in parts; raise a ReportError if that cannot be done, or an archive says otherwise."""
        hashes, digest = self.report.hashes, hashlib.sha256()
        try:
            with self.report.open_file(path) as file:
                while chunk := file.read(_CHUNK):
                    if hashes:
                        digest.update(chunk)
                    yield chunk
        except intact.READING_ERRORS as error:
            # The error itself may say where the hub's file is on this machine.
            reason = getattr(error, "strerror", None) or error
            raise make_error(f"{self.report.name}/{path}", f"it cannot be read ({reason})") from error
        if hashes and hashes.get(f"{self.report.prefix}{path}") != digest.hexdigest():
            message = "it has changed since it was archived"
            raise make_error(f"{self.report.name}/{path}", message, "Archive the report again")


def link_file(old: Path, new: Path) -> None:
    """Give a file a second name, or copy it where that cannot be done."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copy2(old, new)  # with its time, by which records know it


def link_tree(old: Path, new: Path, paths: Iterator[str]) -> None:
    """Give files of a folder second names in another one."""
    for path in paths:
        target = new / path
        target.parent.mkdir(parents=True, exist_ok=True)
        link_file(old / path, target)


class Stage(Struct, frozen=True):
    """A folder inside a hub where the next state of what changes is written before it takes its place.

    ``cache`` has the records of what a hub's updates wrote: one for each report, and one for everything else.
    """

    public: Path
    folder: Path
    cache: Path

    @property
    def new(self) -> Path:
        """Where new files and reports are written, by their paths from the root of the hub."""
        return self.folder / "new"

    @property
    def old(self) -> Path:
        """Where present ones wait until all new ones are in their places."""
        return self.folder / "old"

    def commit(self, paths: Sequence[str], removed: Sequence[str]) -> None:
        """Move new files and reports into their places, and those that are removed away.

        If an OSError comes of it, everything is put back.
        """
        done: list[str] = []
        try:
            for path in (*paths, *removed):
                target, old = self.public / path, self.old / path
                for one in (target, old):
                    one.parent.mkdir(parents=True, exist_ok=True)
                done.append(path)
                if target.is_dir() or (path in removed and target.exists()):
                    target.rename(old)
                elif target.exists():
                    link_file(target, old)  # so that it is missing at no moment
                if path not in removed:
                    (self.new / path).replace(target)
        except OSError:
            for path in reversed(done):
                target, old = self.public / path, self.old / path
                with suppress(OSError):
                    if path not in removed and not (self.new / path).exists():
                        target.rename(self.new / path)
                    old.replace(target)
            raise

    def find_unrecorded(self, path: str) -> list[str]:
        """Find the files of a published report that no update wrote, or that changed since."""
        return [f"{path}/{one}" for one in find_unrecorded(self.public / path, self.cache)]

    def record(self, paths: Sequence[str], removed: Sequence[str], others: Files) -> None:
        """Record what is about to be written and replaced; ``others`` are the present files of no report.

        Only what is recorded here is removed by ``remove_replaced``.
        """
        replaced = dict(others)
        for path in (*paths, *removed):
            if (self.new / path).is_dir():
                record_folder(self.new / path, self.cache)
            files = read_record(self.public / path, self.cache) if (self.public / path).is_dir() else {}
            replaced |= {f"{path}/{inner}": stamp for inner, stamp in files.items()}
        record_folder(self.old, self.cache, files=replaced)
        record_folder(self.new, self.cache, files=list_files(self.new, without=(FOLDER,)))

    def adopt_written(self) -> None:
        """Record the files of no report that an update moved into place before it was killed."""
        present = list_files(self.public, without=(FOLDER, self.folder.name))
        written = read_record(self.new, self.cache).items()
        moved = {path: stamp for path, stamp in written if present.get(path) == stamp}
        record_folder(self.public, self.cache, files=read_record(self.public, self.cache) | moved)

    def remove_replaced(self) -> list[str]:
        """Remove what was replaced, but for files that are not as they were recorded; return their paths."""
        for folder in (self.old / FOLDER).glob("*"):
            remove_record(folder, self.cache)  # so that a killed update restores no part of a report
        return remove_recorded(self.old, self.cache)


@contextmanager
def open_hub_stage(public: Path, cache: Path) -> Iterator[Stage]:
    """Make a stage in a folder, and remove it in any case; raise a ReportError if another one is open."""
    public.mkdir(parents=True, exist_ok=True)
    _recover(public, cache)
    number = next(one for one in count() if not (public / f"{_STAGE}{os.getpid()}-{one}").exists())
    stage = Stage(public, public / f"{_STAGE}{os.getpid()}-{number}", cache)
    try:
        for folder in (stage.new, stage.old):
            folder.mkdir(parents=True)
        record_folder(stage.folder, cache)
        yield stage
    finally:
        _discard(stage)


def _discard(stage: Stage) -> None:
    """Remove a stage, but for replaced files that are not as they were recorded."""
    remove_record(stage.new, stage.cache)
    shutil.rmtree(stage.new, ignore_errors=True)
    with suppress(OSError):
        if stage.old.is_dir() and remove_recorded(stage.old, stage.cache):
            return
        remove_record(stage.folder, stage.cache)
        stage.folder.rmdir()


def is_stage(name: str) -> bool:
    """Return whether a file in a hub is what an update that was killed left behind."""
    return name.startswith(_STAGE)


def _recover(public: Path, cache: Path) -> None:
    """Clean up after updates that were killed: reports that they moved away return to their places."""
    for folder in public.glob(f"{_STAGE}*"):
        process = folder.name.removeprefix(_STAGE).partition("-")[0]
        if process.isdecimal() and is_running(int(process)):
            step = f"Wait for it to end; if no such process is running, remove {folder.name}"
            raise make_error(str(public), f"process {process} is writing this hub", step)
        # One without files was just begun, and nothing is recorded of it yet. What else is in a folder without
        # a record is refused as any other file is.
        if folder.is_symlink() or (list_files(folder) and not has_record(folder, cache)):
            continue
        stage = Stage(public, folder, cache)
        stage.adopt_written()
        for old in (folder / "old" / FOLDER).glob("*"):
            target = public / FOLDER / old.name
            if not target.exists() and has_record(old, cache):
                target.parent.mkdir(exist_ok=True)
                old.rename(target)
        _discard(stage)
