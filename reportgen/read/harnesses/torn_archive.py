"""A zip archive without its list of members, as a torn copy is: the list is made again from what is there.

ZIP as in APPNOTE.TXT by PKWARE: each member has a local header with its name, method, checksum and sizes
before it (4.3.7), and the list of all of them, the central directory (4.3.12), is the end of the file. A
program that writes a stream puts the sizes behind the member: then nothing tells where it ends.
"""

from __future__ import annotations

import struct
from io import BytesIO
from typing import TYPE_CHECKING, Final

from reportgen.read.limits import LARGEST_PART

if TYPE_CHECKING:
    from typing import IO

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_MEMBER_SIGNATURE, _SIGNATURE, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_STREAMED: Final = 8
_ZIP64: Final = 0xFFFFFFFF


def repair_archive(file: IO[bytes]) -> tuple[BytesIO, int]:
    """The whole members from the beginning on, in memory, as an archive with a list; and how many there are.

    Args:
        file: an archive whose list cannot be read; beyond 128 MiB it has no members here.
    """
    content = BytesIO()
    file.seek(0)
    content.write(file.read(LARGEST_PART + 1))
    size = content.tell()
    end, directory, count = 0, BytesIO(), 0
    while size <= LARGEST_PART and (found := _read_member(content, end, size)):
        end, entry = found
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
    if signature != _MEMBER_SIGNATURE or flags & _STREAMED or _ZIP64 in {packed, unpacked}:
        return None
    end = begin + _LOCAL.size + name_length + extra_length + packed
    if end > size:
        return None
    name = content.read(name_length)
    entry = struct.pack("<4sH5H3L5H2L", _SIGNATURE, 20, *fields, name_length, 0, 0, 0, 0, 0, begin)
    return end, entry + name
