"""Records of a TFRecord file, whole and checked, a block of many at a time.

A record is the length of its message (uint64), the checksum of that length, the message, and its checksum,
all little-endian. Source: TensorFlow, tensorflow/core/lib/io/record_writer.h, and the guide "TFRecord and
tf.train.Example".
"""

from __future__ import annotations

import array
import os
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from reportgen.read.limits import LARGEST_PART
from reportgen.read.logged import Finding, UnreadableError
from reportgen.read.loggers.crc32c import (
    Bytes,
    calculate_checksum,
    calculate_checksums,
    calculate_row_checksums,
)
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

Places: TypeAlias = npt.NDArray[np.int64]

HEADER: Final = 12
FEWEST_IN_ARRAY: Final = 16
"""Fewer records of one length than this are not worth arrays of their own."""

_FRAME: Final = HEADER + 4
_BLOCK: Final = 8 << 20
_LENGTH: Final = Struct("<Q")
_CHECKSUM: Final = Struct("<I")
_GZIP: Final = b"\x1f\x8b"
LFS: Final = b"version https://git-lfs"
"""How a pointer of Git LFS begins."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records that lie together in memory.

    Attributes:
        data: the bytes that they lie in.
        starts, lengths: of their messages in ``data``, shape (n,), in the order of writing.
        same_length: for each length that many have: which records, shape (m,), and their messages, (m, length).
        others: which records have a length that few have.
        damaged: which records have a wrong checksum; they are in neither ``same_length`` nor ``others``.
    """

    data: memoryview
    starts: Places
    lengths: Places
    same_length: tuple[tuple[Places, Bytes], ...]
    others: Places
    damaged: Places

    def get_message(self, record: int) -> memoryview:
        """The message of one record."""
        start = int(self.starts[record])
        return self.data[start : start + int(self.lengths[record])]


def is_record_header(header: bytes) -> bool:
    """Whether a record can begin with these bytes, at least 12."""
    return _parse_length(header[:HEADER]) is not None


def read_blocks(path: Path, findings: list[Finding]) -> Iterator[Block]:
    """All whole records; ``findings`` then tells of others.

    A message that is damaged, or beyond 128 MiB, is passed over. The length of a message tells where the next
    record begins: where that is damaged, the rest of the file is not read.

    Raises:
        UnreadableError: the file does not begin with a record.
    """
    with path.open("rb") as file:
        scan = _Scan(path, file, findings)
        while scan.going:
            block = scan.read_block()
            if len(block.starts):
                yield block


class _Scan:
    """Where in a file the reading is: ``rest`` was read and not yet used, from byte ``base`` on."""

    def __init__(self, path: Path, file: BufferedReader, findings: list[Finding]) -> None:
        self.path, self.file, self.findings = path, file, findings
        self.lengths: dict[bytes, int] = {}
        self.rest, self.base, self.count = b"", 0, 0
        self.damaged = self.first_damaged = self.passed = 0
        self.going = True

    def read_block(self) -> Block:
        """The records that the next piece of the file makes whole; perhaps none."""
        missing = self.lengths.get(self.rest[:HEADER], 0) + _FRAME - len(self.rest)
        more = self.file.read(max(_BLOCK, missing))
        data = self.rest + more if self.rest else more
        starts, stop = _walk_records(data, self.lengths)
        block = _check_records(data, starts, stop)
        if len(block.damaged):
            self.first_damaged = self.first_damaged or self.count + 1 + int(block.damaged[0])
            self.damaged += len(block.damaged)
        self.count += len(block.starts)
        self.rest, self.base = data[stop:], self.base + stop
        header = self.rest[:HEADER]
        if len(header) == HEADER and header not in self.lengths:
            self._report_lost()
        elif self.lengths.get(header, 0) > LARGEST_PART:
            self._skip_record(self.lengths[header])
        elif not more:
            self._report_end()
        return block

    def _report_lost(self) -> None:
        """Stop where nothing says how long a record is."""
        if not self.base:
            _refuse(self.path, self.rest)
        self._stop()
        left = format_count(self._get_size() - self.base, "byte")
        message = f"record {self.count + 1:,} is damaged (the checksum of its length is wrong)"
        self._report(f"{message}, and the last {left} are not read")

    def _report_end(self) -> None:
        self._stop()
        if self.rest:
            message = f"record {self.count + 1:,}, the last one, is torn: the run still writes or was killed"
            self._report(message)
        elif not self.base:
            self.findings.append(Finding(self.path, "the file is empty, nothing was logged into it yet"))

    def _stop(self) -> None:
        self.going = False
        first = f"record {self.first_damaged:,}"
        if self.damaged == 1:
            message = f"{first} is damaged (its checksum is wrong) and left out"
            self.findings.append(Finding(self.path, message))
        elif self.damaged:
            message = f"{self.damaged:,} records are damaged (their checksums are wrong) and left out"
            self.findings.append(Finding(self.path, f"{message}, the first of them {first}"))

    def _report(self, message: str) -> None:
        """Say what ends the reading, and how much stands before it."""
        whole = self.count - self.damaged - self.passed
        before = format_count(whole, "record")
        remainder = (
            f"{before} before it {'is' if whole == 1 else 'are'} read" if whole else "none is before it"
        )
        self.findings.append(Finding(self.path, f"{message}; {remainder}"))

    def _get_size(self) -> int:
        """The file may grow while it is read."""
        return os.fstat(self.file.fileno()).st_size

    def _skip_record(self, length: int) -> None:
        """Go on behind a message that is too long to hold."""
        following = self.base + _FRAME + length
        if following > self._get_size():
            self._report_end()
            return
        self.count += 1
        self.passed += 1
        self.findings.append(
            Finding(self.path, f"record {self.count:,} has {length >> 20:,} MiB and is passed over")
        )
        self.file.seek(following)
        self.rest, self.base = b"", following


def _walk_records(data: bytes, lengths: dict[bytes, int]) -> tuple[Places, int]:
    """Where the messages of all records begin that are whole in ``data``, and where the last record ends.

    ``lengths`` keeps what a header says, by its bytes: a dictionary is faster than a checksum, and a file
    has few lengths. The walk ends at a header that is wrong.
    """
    starts = array.array("q")
    add = starts.append
    at, last = 0, len(data) - HEADER
    while at <= last:
        length = lengths.get(data[at : at + HEADER])
        if length is None:
            header = data[at : at + HEADER]
            length = _parse_length(header)
            if length is None:
                break
            lengths[header] = length
        add(at + HEADER)
        at += _FRAME + length
    if at > len(data):
        at = starts.pop() - HEADER
    return np.array(starts, np.int64), at


def _parse_length(header: bytes) -> int | None:
    """What a header says; None where its checksum is wrong."""
    right = calculate_checksum(header[:8]) == _CHECKSUM.unpack_from(header, 8)[0]
    return int(_LENGTH.unpack_from(header)[0]) if right else None


def _check_records(data: bytes, starts: Places, stop: int) -> Block:
    """The records that begin at ``starts``, up to ``stop``, parted by their checksums."""
    view, content = memoryview(data), np.frombuffer(data, np.uint8)
    lengths = np.diff(starts, append=stop + HEADER) - _FRAME
    if not len(starts):
        return Block(view, starts, lengths, (), starts, starts)
    written = sliding_window_view(content, 4)[starts + lengths].view("<u4")[:, 0]
    right = np.empty(len(starts), np.bool_)
    same_length, others = [], []
    for members in _group_by_length(lengths):
        length = int(lengths[members[0]])
        if len(members) < FEWEST_IN_ARRAY or not length:
            others.append(members)
            continue
        rows = sliding_window_view(content, length)[starts[members]]
        right[members] = calculate_row_checksums(rows) == written[members]
        same_length.append((members, rows))
    few = np.sort(np.concatenate(others)) if others else np.empty(0, np.int64)
    if len(few):
        whole = Block(view, starts, lengths, (), few, few)
        right[few] = calculate_checksums([whole.get_message(record) for record in few]) == written[few]
    if not right.all():
        same_length = [
            (members[fine], rows[fine]) for members, rows in same_length if (fine := right[members]).any()
        ]
    return Block(view, starts, lengths, tuple(same_length), few[right[few]], np.flatnonzero(~right))


def _group_by_length(lengths: Places) -> list[Places]:
    """Which records share a length, each in the order of writing."""
    order = np.argsort(lengths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)


def _refuse(path: Path, beginning: bytes) -> None:
    """Raise the error for a file that does not begin with a record."""
    if beginning.startswith(LFS):
        raise UnreadableError(path, "it is a Git LFS pointer, not the data themselves", "Run git lfs pull")
    if beginning.startswith(_GZIP):
        raise UnreadableError(path, "it is compressed, as no event file is", "Unpack it with gunzip")
    message = "it does not begin with a record, as an event file does"
    raise UnreadableError(path, message, "Copy it again, or leave it out with files:")
