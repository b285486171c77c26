"""Reading archives that anybody may have written: nothing leads out, and nothing fills memory or disk."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.archive import provenance
from reportgen.core import intact
from reportgen.core.cache import make_temporary_folder
from reportgen.core.errors import make_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LARGEST_TEXT: Final = 500_000_000
_LARGEST_WHOLE: Final = 100_000_000_000
_CHUNK: Final = 1 << 20


class OpenedArchive(Struct, frozen=True):
    """An archive or a site, packed or unpacked: sizes of files in bytes, by path, and the CRC-32 of each.

    ``comment`` is that of the zip file, which an unpacked archive has no more.
    """

    name: str
    sizes: Mapping[str, int]
    open_file: Callable[[str], IO[bytes]]
    get_checksum: Callable[[str], int]
    comment: bytes = b""

    def read(self, name: str) -> bytes:
        """Read a whole file; raise a ReportError if it is missing, damaged or too large to be ours."""
        if self.sizes.get(name, _LARGEST_TEXT + 1) > _LARGEST_TEXT:
            raise make_error(
                f"{self.name}/{name}", "missing, or too large", "Is this an archive of a report?"
            )
        try:
            with self.open_file(name) as file:
                # A larger number would be allocated as a whole.
                return file.read(self.sizes[name])
        except intact.READING_ERRORS as error:
            raise make_error(f"{self.name}/{name}", f"it cannot be read ({error})") from error

    def unpack(self, folder: Path) -> None:
        """Write all files into a folder; raise a ReportError if that cannot be done."""
        size = sum(self.sizes.values())
        free = shutil.disk_usage(folder).free
        if size > min(_LARGEST_WHOLE, free // 2):
            message = f"it has {size:,} bytes unpacked, which is too much for the {free:,} that are free"
            raise make_error(self.name, message, "Unpack it yourself, and name the folder")
        for name in self.sizes:
            target = folder / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with self.open_file(name) as file, target.open("xb") as copy:
                    shutil.copyfileobj(file, copy, _CHUNK)
            except intact.READING_ERRORS as error:
                raise make_error(f"{self.name}/{name}", f"it cannot be unpacked ({error})") from error


def unpack_for_review(path: Path) -> Path:
    """Unpack an archive into a folder of its name, which is removed at exit.

    An archive without its data is left its numbers alone, which is all that can be compared then. Raises a
    ReportError if it is no archive of a report.
    """
    folder = make_temporary_folder(Path(tempfile.gettempdir())) / path.stem
    folder.mkdir()
    with open_archive(path) as archive:
        archive.unpack(folder)
        try:
            has_data = json.loads(archive.read(provenance.NAME)).get("data") != "none"
        except (ValueError, AttributeError, RecursionError) as error:
            raise make_error(f"{path.name}/{provenance.NAME}", f"it cannot be read ({error})") from error
    if not has_data:
        (folder / "mkdocs.yml").unlink(missing_ok=True)
    return folder


@contextmanager
def open_archive(path: Path) -> Iterator[OpenedArchive]:
    """Open an archive; raise a ReportError if it is none, or has names or members that ours do not have."""
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()]
        names = {file.relative_to(path).as_posix(): file for file in files}
        sizes = {name: file.stat().st_size for name, file in names.items() if intact.is_safe(name)}
        yield OpenedArchive(
            path.name,
            sizes,
            lambda name: (path / name).open("rb"),
            lambda name: zlib.crc32((path / name).read_bytes()),
        )
        return
    try:
        opened = zipfile.ZipFile(path)
        # Other programs also pack folders themselves.
        opened.filelist = [one for one in opened.filelist if one.file_size or not one.is_dir()]
        members, problems = intact.list_members(opened)
    except intact.READING_ERRORS as error:
        raise make_error(path.name, f"this is no whole zip file ({error})", "Fetch it again") from error
    with opened:
        if problems:
            raise make_error(path.name, problems[0], "It was not written by reportgen archive")
        sizes = {name: one.file_size for name, one in sorted(members.items())}
        yield OpenedArchive(
            path.name,
            sizes,
            lambda name: opened.open(members[name]),
            lambda name: members[name].CRC,
            opened.comment,
        )
