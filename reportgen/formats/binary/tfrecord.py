"""Records of a TFRecord file, whole and checked by CRC-32C, a block of many at a time.

A record is the length of its message (uint64), the checksum of that length, the message, and its checksum,
all little-endian. Source: TensorFlow, tensorflow/core/lib/io/record_writer.h, and the guide "TFRecord and
tf.train.Example". CRC-32C: RFC 3720, section 12.1 and appendix B.4 (polynomial 0x1EDC6F41); the mask is
that of
tensorflow/core/lib/hash/crc32c.h. A CRC is linear over GF(2): the register after a record is the exclusive or
of what each byte adds at its distance from the end. A table for each of 256 distances makes that one look-up
for a byte, over all records of one length together.
"""

from __future__ import annotations

import array
import os
from dataclasses import dataclass
from functools import cache
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from reportgen.core.words import format_count
from reportgen.formats.limits import LARGEST_PART
from reportgen.formats.runs import Finding, UnreadableError
from reportgen.formats.text_files import NOTHING_LOGGED, refuse_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path


Bytes: TypeAlias = npt.NDArray[np.uint8]
Registers: TypeAlias = npt.NDArray[np.uint32]

_REVERSED_POLYNOMIAL: Final = 0x82F63B78
_ONES: Final = 0xFFFFFFFF
_MASK_DELTA: Final = np.uint32(0xA282EAD8)
_BLOCK_BITS: Final = 8
_BLOCK_LENGTH: Final = 1 << _BLOCK_BITS
# So many bytes of a matrix stay in the processor's cache while its columns are walked.
_TILE: Final = 1 << 18
# What is longer is taken in pieces, so that padding costs no memory to speak of.
_PIECE: Final = 1 << 20


def calculate_checksum(record: bytes) -> int:
    """CRC-32C, masked, of one short record: arrays are slower for eight bytes than a loop."""
    table, register = _plain_table(), _ONES
    for byte in record:
        register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
    crc = register ^ _ONES
    return (((crc >> 15) | (crc << 17)) + int(_MASK_DELTA)) & _ONES


def calculate_checksums(records: Sequence[memoryview]) -> Registers:
    """CRC-32C, masked, of records of any lengths, shape (n,)."""
    lengths = np.array([len(record) for record in records], np.int64)
    registers = np.zeros(len(records), np.uint32)
    for width, members in _by_width(lengths):
        zeros = memoryview(bytes(width))
        padded = b"".join(
            part for member in members for part in (zeros[lengths[member] :], records[int(member)])
        )
        registers[members] = _reduce_rows(np.frombuffer(padded, np.uint8).reshape(len(members), width))
    for member in np.flatnonzero(lengths > _PIECE):
        registers[member] = _reduce_long(records[int(member)])
    return encode_registers(registers ^ _append_zeros(np.full(len(records), _ONES, np.uint32), lengths))


def calculate_row_checksums(rows: Bytes) -> Registers:
    """CRC-32C, masked, of records of one length, the rows of a matrix (n, length)."""
    count, length = rows.shape
    if length > _BLOCK_LENGTH:
        width = _BLOCK_LENGTH << ((length - 1) >> _BLOCK_BITS).bit_length()
        padded = np.zeros((count, width), np.uint8)
        padded[:, width - length :] = rows
        rows = padded
    ones = _append_zeros(np.array([_ONES], np.uint32), np.array([length]))
    return encode_registers(_reduce_rows(rows) ^ ones)


def encode_registers(registers: Registers) -> Registers:
    """What stands in a file for a register at the end of a record."""
    crc = ~registers
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + _MASK_DELTA


def _by_width(lengths: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Records that are padded to one power of two, from 64 to ``_PIECE``; longer ones are left out."""
    classes = np.ceil(np.log2(np.maximum(lengths, 64))).astype(np.int64)
    for power in np.unique(classes[lengths <= _PIECE]):
        yield 1 << int(power), np.flatnonzero(classes == power)


def _reduce_long(record: memoryview) -> np.uint32:
    """The register of one record, begun at 0, piece after piece; the short piece comes first."""
    register = np.zeros(1, np.uint32)
    start, stop = 0, len(record) % _PIECE or _PIECE
    while start < len(record):
        piece = np.zeros((1, _PIECE), np.uint8)
        piece[0, _PIECE - (stop - start) :] = np.frombuffer(record[start:stop], np.uint8)
        register = _append_zeros(register, np.array([stop - start])) ^ _reduce_rows(piece)
        start, stop = stop, stop + _PIECE
    return np.uint32(register[0])


def _reduce_rows(rows: Bytes) -> Registers:
    """Registers of rows, begun at 0; beyond ``_BLOCK_LENGTH`` a width is that times a power of two."""
    count, width = rows.shape
    if width <= _BLOCK_LENGTH:
        return _reduce_blocks(rows)
    registers = _reduce_blocks(rows.reshape(-1, _BLOCK_LENGTH)).reshape(count, -1)
    power = _BLOCK_BITS
    while registers.shape[1] > 1:
        registers = _apply(_build_zero_map(power), registers[:, 0::2]) ^ registers[:, 1::2]
        power += 1
    return registers[:, 0]


def _reduce_blocks(rows: Bytes) -> Registers:
    count, width = rows.shape
    distances, registers = _build_distance_tables(), np.zeros(count, np.uint32)
    tile = max(64, _TILE // max(1, width))
    for first in range(0, count, tile):
        part, register = rows[first : first + tile], registers[first : first + tile]
        for column in range(width):
            register ^= distances[width - 1 - column].take(part[:, column])
    return registers


def _append_zeros(registers: Registers, lengths: npt.NDArray[np.int64]) -> Registers:
    """Registers after as many further zero bytes as ``lengths`` says."""
    for power in range(int(lengths.max(initial=0)).bit_length()):
        longer = (lengths >> power) & 1 == 1
        registers = np.where(longer, _apply(_build_zero_map(power), registers), registers)
    return registers


def _apply(tables: Registers, registers: Registers) -> Registers:
    """A linear map of registers, given by its tables for each of the four bytes, shape (4, 256)."""
    low, second = tables[0][registers & 0xFF], tables[1][(registers >> np.uint32(8)) & 0xFF]
    third, high = tables[2][(registers >> np.uint32(16)) & 0xFF], tables[3][registers >> np.uint32(24)]
    return np.asarray(low ^ second ^ third ^ high, np.uint32)


@cache
def _build_zero_map(power: int) -> Registers:
    """The map that ``2 ** power`` further zero bytes are."""
    if power:
        return _apply(_build_zero_map(power - 1), _build_zero_map(power - 1))
    bytes_ = np.arange(256, dtype=np.uint32) << np.arange(0, 32, 8, dtype=np.uint32)[:, None]
    return _append_zero(bytes_)


@cache
def _build_distance_tables() -> Registers:
    """What a byte adds to the register when so many bytes follow it, shape (256, 256)."""
    tables = [_build_byte_table()]
    for _ in range(_BLOCK_LENGTH - 1):
        tables.append(_append_zero(tables[-1]))
    return np.array(tables)


@cache
def _build_byte_table() -> Registers:
    """The register after one byte, begun at 0, shape (256,)."""
    registers = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        carried = (registers & np.uint32(1)) * np.uint32(_REVERSED_POLYNOMIAL)
        registers = (registers >> np.uint32(1)) ^ carried
    return registers


@cache
def _plain_table() -> list[int]:
    return [int(register) for register in _build_byte_table()]


def _append_zero(registers: Registers) -> Registers:
    """Registers after one further zero byte."""
    return np.asarray(_build_byte_table()[registers & 0xFF] ^ (registers >> np.uint32(8)), np.uint32)


Places: TypeAlias = npt.NDArray[np.int64]

HEADER: Final = 12
FEWEST_IN_ARRAY: Final = 16
"""Fewer records of one length than this are not worth arrays of their own."""

_FRAME: Final = HEADER + 4
_BLOCK: Final = 8 << 20
_LENGTH: Final = Struct("<Q")
_CHECKSUM: Final = Struct("<I")
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records that lie together in memory.

    Attributes:
        data: the bytes that they lie in.
        starts, lengths: of their messages in ``data``, shape (n,), in the order of writing.
        same_length: for each length that many have: which records, shape (m,), and their messages, (m,
            length).
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


def find_messages(beginning: bytes) -> Iterator[memoryview]:
    """The messages of the records that are whole in the beginning of a file; checksums are not checked."""
    at = 0
    while at + HEADER < len(beginning):
        start = at + HEADER
        stop = start + _LENGTH.unpack_from(beginning, at)[0]
        at = stop + _CHECKSUM.size
        if at > len(beginning):
            return
        yield memoryview(beginning)[start:stop]


def read_blocks(path: Path, findings: list[Finding]) -> Iterator[Block]:
    """All whole records; others are added to ``findings``.

    A message that is damaged, or beyond 128 MiB, is left out. The length of a message says where the next
    record begins: where that is damaged, the rest of the file is not read. A file that does not begin with a
    record raises ``UnreadableError``.
    """
    with path.open("rb") as file:
        scan = _Scan(path, file, findings)
        while scan.going:
            block = scan.read_block()
            if len(block.starts):
                yield block


class _Scan:
    """The state of reading a file: ``rest`` was read and not yet used, and begins at byte ``base``."""

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
            refuse_pointer(self.path, self.rest)
            if self.rest.startswith(_GZIP):
                raise UnreadableError(
                    self.path, "it is compressed, as no event file is", "Unpack it with gunzip"
                )
            message = "it does not begin with a record, as an event file does"
            raise UnreadableError(self.path, message, "Copy it again, or leave it out with files:")
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
            self.findings.append(Finding(self.path, NOTHING_LOGGED))

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
        """Add a finding with what ends the reading, and how much stands before it."""
        whole = self.count - self.damaged - self.passed
        before = "none is before it"
        if whole:
            before = f"{format_count(whole, 'record')} before it {'is' if whole == 1 else 'are'} read"
        self.findings.append(Finding(self.path, f"{message}; {before}"))

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
        message = f"record {self.count:,} has {length >> 20:,} MiB and is passed over"
        self.findings.append(Finding(self.path, message))
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
    order = np.argsort(lengths, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
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
