"""Records of a TFRecord file, checked by CRC-32C.

A record is the length of its message (uint64), the checksum of that length, the message, and its checksum,
all little-endian. Source: TensorFlow, tensorflow/core/lib/io/record_writer.h, and the guide "TFRecord and
tf.train.Example"; checksums are masked as in tensorflow/core/lib/hash/crc32c.h.
"""

from __future__ import annotations

import os
import struct
from itertools import compress
from typing import TYPE_CHECKING, Final

import google_crc32c
import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from reportgen.core.words import format_count
from reportgen.formats.decode import LARGEST_PART, NOTHING_LOGGED, refuse_pointer
from reportgen.formats.runs import UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


HEADER: Final = 12
_FRAME: Final = HEADER + 4
_BLOCK: Final = 8 << 20
_LENGTH: Final = struct.Struct("<Q")
_CHECKSUM: Final = struct.Struct("<I")
_GZIP: Final = b"\x1f\x8b"


def calculate_checksum(record: bytes) -> int:
    """Return the masked CRC-32C of a record."""
    return int(_mask(np.array([google_crc32c.value(record)], np.uint32))[0])


def _mask(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(0xA282EAD8)


def is_record_header(header: bytes) -> bool:
    """Return whether these bytes, at least 12, can start a record."""
    return _parse_length(header[:HEADER]) is not None


def _parse_length(header: bytes) -> int | None:
    """Return the length in a header; None if its checksum is wrong."""
    right = calculate_checksum(header[:8]) == _CHECKSUM.unpack_from(header, 8)[0]
    return int(_LENGTH.unpack_from(header)[0]) if right else None


def find_messages(beginning: bytes) -> Iterator[memoryview]:
    """Yield the messages of the whole records at the start of a file, without verifying checksums."""
    at = 0
    while at + HEADER < len(beginning):
        start = at + HEADER
        stop = start + _LENGTH.unpack_from(beginning, at)[0]
        at = stop + _CHECKSUM.size
        if at > len(beginning):
            return
        yield memoryview(beginning)[start:stop]


def read_records(path: Path, findings: list[Diagnostic]) -> Iterator[list[bytes]]:
    """Yield the messages of all whole records, many at once; report the others in ``findings``.

    A message that is damaged or beyond 128 MiB is left out. The length of a message locates the next record,
    so the rest of the file is not read if that length is damaged. A file that does not start with a record
    raises ``UnreadableError``.
    """
    with path.open("rb") as file:
        yield from _Scan(path, file, findings).read_records()


class _Scan:
    """State of reading a file: ``rest``, which starts at byte ``base``, was read but not yet used."""

    def __init__(self, path: Path, file: BufferedReader, findings: list[Diagnostic]) -> None:
        self.path, self.file, self.findings = path, file, findings
        # Lengths by header bytes: a look-up is faster than a checksum, and a file has few lengths.
        self.lengths: dict[bytes, int] = {}
        self.rest, self.base, self.count = b"", 0, 0
        self.damaged = self.first_damaged = self.too_long = 0

    def read_records(self) -> Iterator[list[bytes]]:
        going = True
        while going:
            missing = self.lengths.get(self.rest[:HEADER], 0) + _FRAME - len(self.rest)
            more = self.file.read(max(_BLOCK, missing))
            data = self.rest + more if self.rest else more
            # Collect messages, and stop after the last whole record or at a wrong header.
            messages, ends, stop, last, lengths = (
                list[bytes](),
                list[int](),
                0,
                len(data) - HEADER,
                self.lengths,
            )
            while stop <= last:
                header = data[stop : stop + HEADER]
                length = lengths.get(header)
                if length is None:
                    length = _parse_length(header)
                    if length is None:
                        break
                    lengths[header] = length
                end = stop + HEADER + length
                if end + _CHECKSUM.size > len(data):
                    break
                messages.append(data[stop + HEADER : end])
                ends.append(end)
                stop = end + _CHECKSUM.size
            fine = _check_messages(data, messages, ends)
            if damaged := len(messages) - sum(fine):
                self.first_damaged = self.first_damaged or self.count + 1 + fine.index(False)
                self.damaged += damaged
            self.count += len(messages)
            self.rest, self.base = data[stop:], self.base + stop
            going = self._continue(at_end=not more)
            yield [*compress(messages, fine)] if damaged else messages

    def _continue(self, *, at_end: bool) -> bool:
        """Return whether to read on; otherwise report why not."""
        header = self.rest[:HEADER]
        if len(header) == HEADER and header not in self.lengths:
            if not self.base:
                # Not even the first record has a valid length.
                refuse_pointer(self.path, self.rest)
                message, advice = "it is compressed, which no event file is", "Unpack it with gunzip"
                if not self.rest.startswith(_GZIP):
                    message = "it does not begin with a record, as an event file does"
                    advice = "Copy it again, or leave it out with files:"
                raise UnreadableError(self.path, message, advice)
            left = format_count(self._get_size() - self.base, "byte")
            reason = f"record {self.count + 1:,} is damaged (the checksum of its length is wrong)"
            self._report_end(f"{reason}, and the last {left} are not read")
            return False
        length = self.lengths.get(header, 0)
        following = self.base + _FRAME + length
        if length > LARGEST_PART and following <= self._get_size():
            self.count += 1
            self.too_long += 1
            message = f"record {self.count:,} has {length >> 20:,} MiB and is passed over"
            self.findings.append(warn(self.path, message))
            self.file.seek(following)
            self.rest, self.base = b"", following
            return True
        if length <= LARGEST_PART and not at_end:
            return True
        last = f"record {self.count + 1:,}, the last one, is torn: the run still writes or was killed"
        self._report_end(last if self.rest else "")
        if not self.rest and not self.base:
            self.findings.append(warn(self.path, NOTHING_LOGGED))
        return False

    def _report_end(self, reason: str) -> None:
        first = f"record {self.first_damaged:,}"
        if self.damaged == 1:
            message = f"{first} is damaged (its checksum is wrong) and left out"
            self.findings.append(warn(self.path, message))
        elif self.damaged:
            message = f"{self.damaged:,} records are damaged (their checksums are wrong) and left out"
            self.findings.append(warn(self.path, f"{message}, the first of them {first}"))
        if reason:
            whole = self.count - self.damaged - self.too_long
            before = "none is before it"
            if whole:
                before = f"{format_count(whole, 'record')} before it {'is' if whole == 1 else 'are'} read"
            self.findings.append(warn(self.path, f"{reason}; {before}"))

    def _get_size(self) -> int:
        """Return the current size, since the file may grow while it is read."""
        return os.fstat(self.file.fileno()).st_size


def _check_messages(data: bytes, messages: Sequence[bytes], ends: Sequence[int]) -> list[bool]:
    """Return whether each message has the checksum that follows its end."""
    if not messages:
        return []
    right = _mask(np.fromiter(map(google_crc32c.value, messages), np.uint32, len(messages)))
    stated = sliding_window_view(np.frombuffer(data, np.uint8), _CHECKSUM.size)[ends].view("<u4")[:, 0]
    found: list[bool] = (right == stated).tolist()
    return found
