"""Replacing a folder as a whole: the next one is written next to it, and then takes its place by renaming.

Its parent is opened once, through no link, and everything is renamed in there: whatever happens to the path
meanwhile, no other folder is touched. The present folder is removed last, and only what a command recorded.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.cache import is_running
from reportgen.core.errors import ReportError, diagnose_disk_error
from reportgen.site.replacing.locations import Output
from reportgen.site.replacing.records import (
    HAS_DESCRIPTORS,
    OPEN_FOLDER,
    check_output,
    describe_unrecorded,
    find_unrecorded,
    record_folder,
    remove_record,
    remove_recorded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAKEN: Final = frozenset((errno.ENOTEMPTY, errno.EEXIST))


class Stage(Struct, frozen=True):
    """Two names next to a folder: the next one is written to ``new``, the present one waits as ``old``.

    ``parent`` is a descriptor of the folder that has all three, or None where the system has none.
    """

    output: Output
    folder: Path
    new: Path
    old: Path
    cache: Path
    parent: int | None

    def swap(self) -> list[str]:
        """Replace the present folder with the new one; restore it if that fails.

        Returns why the old folder stays as ``old``, if it does: files that appeared in it, or an error.
        Raises a ReportError if files were put into the present folder meanwhile, or a link took its place,
        and an OSError if the disk refuses; the present folder is where it was then.
        """
        if self._get_status(self.new).st_ino != self.new.stat(follow_symlinks=False).st_ino:
            raise self.output.refuse("was moved while it was written", "Run the command again")
        record_folder(self.new, self.cache)
        while True:
            with suppress(FileNotFoundError):
                self._rename(self.folder, self.old)
                self._check_replaced()
            try:
                self._rename(self.new, self.folder)
            except OSError as error:
                if error.errno not in _TAKEN:
                    self._restore()
                    raise
                # Another process put its folder there meanwhile; the later one stays.
                self._remove_old()
            else:
                return self._remove_old()

    def _check_replaced(self) -> None:
        """Raise a ReportError if what was renamed is no folder, or holds what nobody recorded."""
        if self.old.is_symlink() or not self.old.is_dir():
            self._restore()
            raise self.output.refuse("became a link or a file meanwhile", "Remove it")
        if unrecorded := find_unrecorded(self.old, self.cache):
            self._restore()
            message = f"holds {describe_unrecorded(unrecorded)}"
            raise self.output.refuse(message, "Move them away, and run the command again")

    def _remove_old(self) -> list[str]:
        try:
            return remove_recorded(self.old, self.cache, parent=self.parent)
        except FileNotFoundError:
            return []
        except OSError as error:  # the new folder is in its place
            return [error.strerror or str(error)]

    def _restore(self) -> None:
        with suppress(OSError):
            self._rename(self.old, self.folder)

    def recover(self) -> None:
        """Undo a killed run: restore the present folder and remove the unfinished one."""
        if not os.path.lexists(self.folder):
            self._restore()
        self._remove_old()
        self.discard()

    def discard(self) -> None:
        """Remove the new folder, which nobody but this run wrote."""
        remove_record(self.new, self.cache)
        shutil.rmtree(self._name(self.new), ignore_errors=True, dir_fd=self.parent)

    def make_new(self) -> None:
        """Make the new folder."""
        os.mkdir(self._name(self.new), dir_fd=self.parent)

    def _rename(self, source: Path, target: Path) -> None:
        names = self._name(source), self._name(target)
        os.rename(*names, src_dir_fd=self.parent, dst_dir_fd=self.parent)

    def _get_status(self, path: Path) -> os.stat_result:
        return os.stat(self._name(path), dir_fd=self.parent, follow_symlinks=False)

    def _name(self, path: Path) -> str:
        return str(path) if self.parent is None else path.name


@contextmanager
def open_stage(output: Output, cache: Path) -> Iterator[Stage]:
    """Make a folder next to the one to replace, to write the next one in; remove it afterwards in any case.

    The cache records it meanwhile: a folder that came with a checkout is not from a killed run. Raises a
    ReportError if the output may not be written where it is, or holds what no command recorded, and if the
    disk is full or not writable, there or anywhere else.
    """
    check_output(output, cache)
    folder, record = output.absolute, cache / f"build-{os.getpid()}.json"
    try:
        with _open_parent(output) as parent:
            stage = _choose_names(output, cache, parent)
            try:
                names = [str(path) for path in (stage.folder, stage.new, stage.old)]
                with suppress(OSError):
                    record.write_text(json.dumps(names), "utf-8")
                stage.make_new()
                yield stage
            finally:
                stage.discard()
                with suppress(OSError):
                    record.unlink(missing_ok=True)
    except OSError as error:
        problem = diagnose_disk_error(error, str(folder.parent), f'"{output.name}" cannot be written')
        raise ReportError(problem) from error


def _choose_names(output: Output, cache: Path, parent: int | None) -> Stage:
    """Find unused names: a container reuses process ids."""
    folder = output.absolute
    numbered = (f"{os.getpid()}-{number}" for number in count())
    pairs = (
        [folder.with_name(f".{folder.name}.{kind}-{one}") for kind in ("new", "old")] for one in numbered
    )
    new, old = next(pair for pair in pairs if not any(map(os.path.lexists, pair)))
    return Stage(output, folder, new, old, cache, parent)


@contextmanager
def _open_parent(output: Output) -> Iterator[int | None]:
    """Open the folder that has the output, made if necessary, through no link; None without descriptors.

    Raises an OSError if there is a link on the way by now.
    """
    top, parts = output.list_parts()
    if not HAS_DESCRIPTORS:
        output.absolute.parent.mkdir(parents=True, exist_ok=True)
        yield None
        return
    top.mkdir(parents=True, exist_ok=True)
    parent = os.open(top, os.O_RDONLY)
    try:
        for part in parts[:-1]:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
            above, parent = parent, os.open(part, OPEN_FOLDER, dir_fd=parent)
            os.close(above)
        yield parent
    finally:
        os.close(parent)


def recover_killed(cache: Path) -> None:
    """Clean up after killed runs, even those killed between the two renames of a swap."""
    for record in cache.glob("build-*.json"):
        process = record.stem.removeprefix("build-")
        if process.isdecimal() and not is_running(int(process)):
            with suppress(OSError, ValueError, TypeError):
                folder, new, old = map(Path, json.loads(record.read_text("utf-8")))
                Stage(Output(folder, cache, ""), folder, new, old, cache, None).recover()
            record.unlink(missing_ok=True)
