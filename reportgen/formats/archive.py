"""Members of zip and tar archives, even of a torn zip, read into memory within limits, and not to disk.

ZIP as in APPNOTE.TXT by PKWARE: methods 0 (stored), 8 (deflate) and 93 (Zstandard). Members are looked up by
their exact name, so a name such as ``../x`` leads nowhere. Limits apply to what is actually unpacked, not to
the sizes in the archive: 128 MiB for a member, 2 GiB for everything, and for a member beyond 16 MiB at most
200 times its packed size (texts of real logs unpack to 5 to 40 times). Each member follows a local header
with its name, method, checksum and sizes (4.3.7), and the list of members, the central directory (4.3.12), is
at the end of the file; a torn copy has none, so it is rebuilt from the headers.

Tar archives (POSIX pax, ustar and GNU), plain or packed by gzip or zstd, are read once from begin to end, for
they have no list of members. The same limits apply, and only regular files count: links, devices and sparse
files, whose holes take no room in the archive, are no members.
"""

from __future__ import annotations

import gzip
import io
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NoReturn, cast

from reportgen.formats.decode import (
    LARGEST_PART,
    ZstdError,
    explain_os_errors,
    format_mebibytes,
    open_zstd,
    read_head,
    refuse_pointer,
)
from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO


MOST_MEMBERS: Final = 1_000_000
LARGEST_TOTAL: Final = 2 << 30
MOST_EXPANSION: Final = 200
EXPANSION_COUNTS_FROM: Final = 16 << 20

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_MEMBER_SIGNATURE, _SIGNATURE, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_STREAMED: Final = 8
_ZIP64: Final = 0xFFFFFFFF
_ZSTANDARD: Final = 93
_METHODS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD}
_ENCRYPTED: Final = 1
_CUT_OFF: Final = "the archive is damaged or cut off"
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, OverflowError, NotImplementedError, ZstdError),
)
# zipfile unpacks the bytes read from a Zstandard member without a limit, so it gets few at a time.
_PIECE: Final = 1 << 12


class Archive:
    """Open archive; see ``open_archive``."""

    def __init__(self, path: Path, zipped: zipfile.ZipFile, file: IO[bytes], *, torn: int = 0) -> None:
        self.path = path
        # Number of members before the tear if the central directory is missing or damaged; otherwise 0.
        self.torn = torn
        # A repeated name is listed once, and its last content counts.
        self.names = frozenset(zipped.namelist())
        self._file = file
        self._zip = zipped
        self._unpacked = 0

    def read(self, name: str) -> bytes:
        """Return a member's content; raise ``UnreadableError`` if it is missing, damaged or too long."""
        if name not in self.names:
            raise UnreadableError(self.path, f"the archive has no {name}", "Write it again")
        info = self._zip.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            message = f"{name} in the archive is encrypted"
            raise UnreadableError(self.path, message, "Unpack it with its password and pack it without one")
        if info.compress_type not in _METHODS:
            message = f"{name} in the archive is packed by method {info.compress_type}, which is not read"
            raise UnreadableError(self.path, message, "Pack it with deflate or Zstandard")
        content = BytesIO()
        try:
            with self._open_member(info) as member:
                while piece := member.read(_PIECE):
                    content.write(piece)
                    self._unpacked += len(piece)
                    size, times = content.tell(), content.tell() / max(info.compress_size, 1)
                    if size > EXPANSION_COUNTS_FROM and times > MOST_EXPANSION:
                        self._refuse(name, f"more than {MOST_EXPANSION} times its size")
                    if size > LARGEST_PART:
                        self._refuse(name, f"more than {format_mebibytes(LARGEST_PART)}")
                    if self._unpacked > LARGEST_TOTAL:
                        self._refuse(name, f"more than {LARGEST_TOTAL >> 30} GiB, with what was read before")
            if zlib.crc32(content.getvalue()) != info.CRC:
                raise zipfile.BadZipFile("a member has another checksum")
        except _DAMAGE as error:
            message = f"{name} in the archive is damaged"
            raise UnreadableError(self.path, message, "Copy or write the file again") from error
        return content.getvalue()

    def _open_member(self, info: zipfile.ZipInfo) -> IO[bytes]:
        if info.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
            return self._zip.open(info)
        # zipfile of this Python version cannot unpack it.
        self._file.seek(info.header_offset)
        signature, *_, name, extra = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if signature != _MEMBER_SIGNATURE:
            raise zipfile.BadZipFile("a member does not begin where it should")
        self._file.seek(name + extra, io.SEEK_CUR)
        return open_zstd(BytesIO(self._file.read(min(info.compress_size, LARGEST_PART))))

    def list_members(self) -> Iterator[tuple[str, int, bool]]:
        """Yield the name, the stated size and whether it is a link of every member but folders."""
        for name in sorted(self.names):
            info = self._zip.getinfo(name)
            if name and not name.endswith("/"):
                yield name, info.file_size, stat.S_ISLNK(info.external_attr >> 16)

    def _refuse(self, name: str, limit: str) -> NoReturn:
        message = f"{name} in the archive unpacks to {limit}"
        raise UnreadableError(self.path, message, "Leave it out if it is not yours; log less if it is")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip archive; raise ``UnreadableError`` if it is not one, has no whole member or has too many."""
    refuse_pointer(path, read_head(path))
    with explain_os_errors(path):
        file = path.open("rb")
    with file:
        zipped, whole = None, 0
        try:
            zipped = zipfile.ZipFile(file)
        except _DAMAGE as error:
            content, whole = repair_archive(file)
            with suppress(*_DAMAGE):
                zipped = zipfile.ZipFile(content) if whole else None
            if not zipped:
                message = "it is no whole zip archive: its list of members is missing or damaged"
                advice = "Copy or write it again"
                if path.suffix.lower() == ".eval":
                    advice = "Wait until it is written; if its run was killed, recover it with its own tool"
                raise UnreadableError(path, message, advice) from error
        with zipped:
            if len(zipped.filelist) > MOST_MEMBERS:
                message = f"the archive has more than {MOST_MEMBERS:,} members"
                raise UnreadableError(path, message, "Leave it out if it is not yours")
            yield Archive(path, zipped, zipped.fp or file, torn=whole)


def repair_archive(file: IO[bytes]) -> tuple[BytesIO, int]:
    """Rebuild the central directory of a torn archive of up to 128 MiB; also return its number of members."""
    file.seek(0)
    data = file.read(LARGEST_PART + 1)
    begin, directory, count = 0, BytesIO(), 0
    while begin + _LOCAL.size <= len(data) <= LARGEST_PART:
        signature, *fields, name_length, extra_length = _LOCAL.unpack_from(data, begin)
        _, flags, *_, packed, unpacked = fields
        name = begin + _LOCAL.size
        end = name + name_length + extra_length + packed
        known_sizes = not flags & _STREAMED and _ZIP64 not in {packed, unpacked}
        if signature != _MEMBER_SIGNATURE or not known_sizes or end > len(data):
            break
        entry = struct.pack("<4sH5H3L5H2L", _SIGNATURE, 20, *fields, name_length, 0, 0, 0, 0, 0, begin)
        directory.write(entry + data[name : name + name_length])
        begin, count = end, count + 1
    known = min(count, 0xFFFF)  # readers use the size of the directory
    ending = struct.pack("<4s4H2LH", _END, 0, 0, known, known, directory.tell(), begin, 0)
    return BytesIO(data[:begin] + directory.getvalue() + ending), count


def read_members(
    path: Path, is_selected: Callable[[str, int], bool], links: list[str], unended: list[Path]
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the selected files of a zip or tar archive; no name leads out of it.

    ``is_selected`` is given a name and the size that the archive states. Links are not followed: their names
    are added to ``links``. A tar archive without the block of zeros at its end is added to ``unended``: some
    programs write none (it is optional for readers of GNU tar), but so ends one that was cut off between
    members. Raises ``UnreadableError`` for an archive that is damaged or beyond a limit, or
    has a name that leads out of it.
    """
    if path.name.lower().endswith(".zip"):
        with open_archive(path) as archive:
            if archive.torn:
                raise UnreadableError(path, _CUT_OFF, "Copy or write it again")
            for name, size, is_link in archive.list_members():
                inner = clean_member_name(path, name)
                if is_link:
                    links.append(inner)
                elif inner and is_selected(inner, size):
                    yield inner, archive.read(name)
        return
    refuse_pointer(path, read_head(path))
    try:
        yield from _read_tar(path, is_selected, links, unended)
    except (tarfile.TarError, RecursionError, *_DAMAGE) as error:
        raise UnreadableError(path, _CUT_OFF, "Copy or write it again") from error


def _read_tar(
    path: Path, is_selected: Callable[[str, int], bool], links: list[str], unended: list[Path]
) -> Iterator[tuple[str, bytes]]:
    with explain_os_errors(path), ExitStack() as opened:
        stream = _TarStream(path, _open_packed(path, opened))
        with tarfile.open(fileobj=stream, mode="r:") as tar:
            for count, member in enumerate(tar):
                if count >= MOST_MEMBERS:
                    message = f"the archive has more than {MOST_MEMBERS:,} members"
                    raise UnreadableError(path, message, "Leave it out if it is not yours")
                inner = clean_member_name(path, member.name)
                if member.islnk() or member.issym():
                    links.append(inner)
                elif inner and member.isreg() and not member.issparse() and is_selected(inner, member.size):
                    yield inner, stream.read_member(tar, member)
        if stream.is_spent:
            unended.append(path)


def clean_member_name(path: Path, name: str) -> str:
    """Return a name with forward slashes; raise ``UnreadableError`` if it leads out of the archive."""
    posix = PurePosixPath(name.replace("\\", "/"))
    if posix.is_absolute() or ".." in posix.parts or "\0" in name or posix.as_posix()[1:2] == ":":
        message = f"the name {name!a} in the archive leads out of it"
        raise UnreadableError(path, message, "Leave it out if it is not yours; otherwise pack it again")
    return "" if posix.as_posix() == "." else posix.as_posix()


def _open_packed(path: Path, opened: ExitStack) -> IO[bytes]:
    """Open a tar archive decompressed."""
    file = opened.enter_context(path.open("rb"))
    name = path.name.lower()
    if name.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", opened.enter_context(gzip.GzipFile(fileobj=file)))
    return opened.enter_context(open_zstd(file)) if name.endswith(".zst") else file


class _TarStream(io.RawIOBase):
    """File that ``tarfile`` reads forwards, within limits for each read and for all of them."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__()
        self._path, self._file, self._at = path, file, 0
        self._size = max(path.stat().st_size, 1)
        self.is_spent = False  # whether the last read was at the end of the file

    def seek(self, to: int, whence: int = io.SEEK_SET) -> int:
        to += self._at if whence == io.SEEK_CUR else 0
        while self._at < to and self.read(min(to - self._at, 1 << 20)):
            pass
        if self._at != to:
            raise tarfile.ReadError("a member ends beyond the archive")
        return to

    def read(self, size: int = -1) -> bytes:
        if size > LARGEST_PART:
            self._refuse(f"a part of more than {format_mebibytes(LARGEST_PART)}")
        data = self._file.read(size)
        self.is_spent = not data
        self._at += len(data)
        if self._at > EXPANSION_COUNTS_FROM and self._at > MOST_EXPANSION * self._size:
            self._refuse(f"more than {MOST_EXPANSION} times its size")
        if self._at > LARGEST_TOTAL:
            self._refuse(f"more than {LARGEST_TOTAL >> 30} GiB")
        return data

    def read_member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
        """Return the content of the member that was listed last."""
        if member.size > LARGEST_PART:
            self._refuse(f"more than {format_mebibytes(LARGEST_PART)} for {member.name}")
        content = cast("IO[bytes]", tar.extractfile(member)).read()
        if len(content) != member.size:
            raise tarfile.ReadError("a member is cut off")
        return content

    def _refuse(self, limit: str) -> NoReturn:
        message = f"the archive unpacks to {limit}"
        raise UnreadableError(self._path, message, "Leave it out if it is not yours, or unpack it beforehand")
