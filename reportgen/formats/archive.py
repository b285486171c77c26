"""Members of a zip archive, also of a torn one, read into memory and within limits; nothing goes to disk.

ZIP as in APPNOTE.TXT by PKWARE: methods 0 (stored), 8 (deflate) and 93 (Zstandard). Members are asked for by
their exact name, so a name such as ``../x`` leads nowhere. What counts is what is really unpacked, not what
the archive says of itself: a member may unpack to 128 MiB, everything together to 2 GiB, and a member beyond
16 MiB to at most 200 times its packed size (texts of real logs unpack to 5 to 40 times). Each member has a
local header with its name, method, checksum and sizes before it (4.3.7), and the list of all of them, the
central directory (4.3.12), is the end of the file; a torn copy lacks it, and it is made again from what is
there.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import TYPE_CHECKING, Final

from reportgen.formats.files import ZstdError, open_zstd
from reportgen.formats.runs import UnreadableError
from reportgen.formats.text_files import (
    LARGEST_PART,
    explain_os_errors,
    format_mebibytes,
    read_head,
    refuse_pointer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
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
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, OverflowError, NotImplementedError),
)
_PIECE: Final = 1 << 16
# zipfile unpacks what it has taken in of a Zstandard member without a bound, so it is given little at a time.
_PIECE_OF_ZIPFILE: Final = 1 << 12


class Archive:
    """An open archive; see ``open_archive``."""

    def __init__(self, path: Path, file: IO[bytes], zipped: zipfile.ZipFile, *, torn: int = 0) -> None:
        self.path = path
        # How many members there are before the tear, where the list of them is missing or damaged; or 0.
        self.torn = torn
        # A name that stands twice is there once, and its last content counts.
        self.names = frozenset(zipped.namelist())
        self._file = file
        self._zip = zipped
        self._unpacked = 0

    def read(self, name: str) -> bytes:
        """The content of a member.

        Raises ``UnreadableError`` where it is missing, encrypted, damaged, packed by an unknown method or
        beyond a limit.
        """
        if name not in self.names:
            raise UnreadableError(self.path, f"the archive has no {name}", "Write it again")
        info = self._zip.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            message = f"{name} in the archive is encrypted"
            raise UnreadableError(self.path, message, "Unpack it with its password and pack it without one")
        if info.compress_type not in _METHODS:
            message = f"{name} in the archive is packed by method {info.compress_type}, which is not read"
            raise UnreadableError(self.path, message, "Pack it with deflate or Zstandard")
        by_zstandard = info.compress_type == _ZSTANDARD and sys.version_info < (3, 14)
        content = BytesIO()
        try:
            for piece in self._read_by_zstandard(info) if by_zstandard else self._read_by_zipfile(info):
                content.write(piece)
                self._unpacked += len(piece)
                self._check_limits(info, content.tell())
        except _DAMAGE as error:
            message = f"{name} in the archive is damaged"
            raise UnreadableError(self.path, message, "Copy or write the file again") from error
        return content.getvalue()

    def _check_limits(self, info: zipfile.ZipInfo, size: int) -> None:
        if size > EXPANSION_COUNTS_FROM and size / max(info.compress_size, 1) > MOST_EXPANSION:
            limit = f"more than {MOST_EXPANSION} times its size"
        elif size > LARGEST_PART:
            limit = f"more than {format_mebibytes(LARGEST_PART)}"
        elif self._unpacked > LARGEST_TOTAL:
            limit = f"more than {LARGEST_TOTAL >> 30} GiB, with what was read before"
        else:
            return
        message = f"{info.filename} in the archive unpacks to {limit}"
        raise UnreadableError(self.path, message, "Leave it out if it is not yours; log less if it is")

    def _read_by_zipfile(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content in pieces; its checksum is compared at the end."""
        with self._zip.open(info) as member:
            while piece := member.read(_PIECE_OF_ZIPFILE):
                yield piece

    def _read_by_zstandard(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """As ``_read_by_zipfile``, for a member that zipfile of this Python cannot unpack."""
        self._file.seek(info.header_offset)
        signature, *_, name, extra = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if signature != _MEMBER_SIGNATURE:
            raise zipfile.BadZipFile("a member does not begin where it should")
        self._file.seek(name + extra, io.SEEK_CUR)
        packed = BytesIO(self._file.read(min(info.compress_size, LARGEST_PART)))
        checksum = 0
        try:
            with open_zstd(packed) as member:
                while piece := member.read(_PIECE):
                    checksum = zlib.crc32(piece, checksum)
                    yield piece
        except ZstdError as error:
            raise zipfile.BadZipFile("a member is not whole Zstandard") from error
        if checksum != info.CRC:
            raise zipfile.BadZipFile("a member has another checksum")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """A zip archive.

    Raises ``UnreadableError`` where it cannot be read, is none, was cut off in its first member, or has too
    many members.
    """
    refuse_pointer(path, read_head(path))
    with explain_os_errors(path):
        file = path.open("rb")
    with file:
        zipped, whole = _open_zip(path, file)
        with zipped:
            if len(zipped.filelist) > MOST_MEMBERS:
                message = f"the archive has more than {MOST_MEMBERS:,} members"
                raise UnreadableError(path, message, "Leave it out if it is not yours")
            yield Archive(path, zipped.fp or file, zipped, torn=whole)


def _open_zip(path: Path, file: IO[bytes]) -> tuple[zipfile.ZipFile, int]:
    """The archive, and where its list of members had to be made again the number of these."""
    try:
        return zipfile.ZipFile(file), 0
    except _DAMAGE as error:
        content, whole = repair_archive(file)
        with suppress(*_DAMAGE):
            if whole:
                return zipfile.ZipFile(content), whole
        message = "it is no whole zip archive: its list of members is missing or damaged"
        advice = "Wait until it is written; if its program was killed, recover the log with its own tool"
        raise UnreadableError(path, message, advice) from error


def repair_archive(file: IO[bytes]) -> tuple[BytesIO, int]:
    """The whole members of an archive whose list cannot be read, as one with a list; and how many there are.

    An archive beyond 128 MiB has no members here.
    """
    content = BytesIO()
    file.seek(0)
    content.write(file.read(LARGEST_PART + 1))
    size = content.tell()
    end, directory, count = 0, BytesIO(), 0
    while size <= LARGEST_PART and (member := _read_member(content, end, size)):
        end, entry = member
        directory.write(entry)
        count += 1
    content.truncate(end)
    content.seek(end)
    content.write(directory.getvalue())
    known = min(count, 0xFFFF)  # readers go by the size of the list
    content.write(struct.pack("<4s4H2LH", _END, 0, 0, known, known, directory.tell(), end, 0))
    return content, count


def _read_member(content: BytesIO, begin: int, size: int) -> tuple[int, bytes] | None:
    """Where a member ends, and its entry in the list; None where there is no whole one."""
    content.seek(begin)
    header = content.read(_LOCAL.size)
    if len(header) < _LOCAL.size:
        return None
    signature, *fields, name_length, extra_length = _LOCAL.unpack(header)
    _, flags, *_, packed, unpacked = fields
    end = begin + _LOCAL.size + name_length + extra_length + packed
    known_sizes = not flags & _STREAMED and _ZIP64 not in {packed, unpacked}
    if signature != _MEMBER_SIGNATURE or not known_sizes or end > size:
        return None
    entry = struct.pack("<4sH5H3L5H2L", _SIGNATURE, 20, *fields, name_length, 0, 0, 0, 0, 0, begin)
    return end, entry + content.read(name_length)
