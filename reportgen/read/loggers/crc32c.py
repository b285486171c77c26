"""CRC-32C of many records at once, without a loop over bytes.

A CRC is linear over GF(2): the register after a record is the exclusive or of what each byte adds at its
distance from the end. A table for each of 256 distances makes that one look-up for a byte, over all records
of one length together; longer records are cut into blocks whose registers are joined pairwise.

Source: RFC 3720, section 12.1 and appendix B.4 (polynomial 0x1EDC6F41); the mask is that of TensorFlow,
tensorflow/core/lib/hash/crc32c.h.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        registers = _reduce_rows(padded)
    else:
        registers = _reduce_rows(rows)
    return encode_registers(registers ^ _append_zeros(np.array([_ONES], np.uint32), np.array([length])))


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
    """Registers of rows, begun at 0; a width beyond ``_BLOCK_LENGTH`` is ``_BLOCK_LENGTH`` times a power of two."""
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
