"""The record log that wandb writes: whole records out of blocks, with what is torn or damaged reported.

Source: "leveldb Log format" (doc/log_format.md of google/leveldb), as core/pkg/leveldb of wandb/wandb has
it. A file begins with ``:W&B``, 0xBEE1 (little-endian) and a version byte. It goes on in blocks of 32 KiB,
counted from its first byte; a block holds chunks of CRC-32 (4 bytes), length (2), kind (1) and data. A record
is one chunk (full) or several (first, middle, last). Unlike LevelDB's own, the CRC is plain CRC-32 (IEEE,
not Castagnoli, not masked) of kind and data. What is shorter than a chunk's head at a block's end is padding.
"""

from __future__ import annotations

import re
import zlib
from struct import Struct
from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count
from reportgen.formats.limits import LARGEST_PART, format_mebibytes
from reportgen.formats.runs import Finding, UnreadableError
from reportgen.formats.text_files import explain_os_errors, is_pointer, refuse_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


HEADER: Final = b":W&B\xe1\xbe\x00"
_MAGIC: Final = HEADER[:-1]
BLOCK: Final = 32 << 10
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

_CHUNK: Final = Struct("<IHB")
_SEEDS: Final = {kind: zlib.crc32(bytes([kind])) for kind in (FULL, FIRST, MIDDLE, LAST)}
# So much is read at once; a multiple of a block.
_PIECE: Final = 128 * BLOCK
# Where a chunk may say its kind; in so many damaged places the next whole chunk is looked for byte by byte.
_ANY_KIND: Final = re.compile(rb"[\x01-\x04]")
_MOST_SEARCHES: Final = 100


def is_log(start: bytes) -> bool:
    """Whether a file that begins so is a log, or was meant to be one: empty, cut, or a pointer of Git LFS."""
    begun = start[: len(_MAGIC)]
    return _MAGIC.startswith(begun) or is_pointer(start)


class RecordLog:
    """The whole records of a file in the order of writing; ``records`` counts those read so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records = 0
        self._gaps: list[range] = []
        self._searches = 0
        # Where reading lost its way, until the next record begins, and whether something only ends too early.
        self._lost_from: int | None = None
        self._cut = False
        # The record that is being put together: its chunks, their size, and where it begins.
        self._parts: list[bytes] = []
        self._size = 0
        self._begun = 0
        self._read = 0

    def __iter__(self) -> Iterator[bytes]:
        """Every whole record; raises ``UnreadableError`` for what is no log, and for a record too large."""
        base = 0
        for piece in self._read_pieces():
            at = 0 if base else self._check_header(piece)
            for start in range(0, len(piece), BLOCK):
                yield from self._read_block(piece[start : start + BLOCK], 0 if start else at, base + start)
            base += len(piece)
        self._read = base

    @property
    def torn(self) -> bool:
        """Whether the end of the file is torn or damaged; known after the last record."""
        return self._lost_from is not None or bool(self._parts) or 0 < self._read < len(HEADER)

    def list_findings(self) -> Iterator[Finding]:
        """What is torn or damaged; complete after the last record."""
        if self._gaps:
            places = format_count(len(self._gaps), "place")
            lost = format_count(sum(map(len, self._gaps)), "byte")
            first = f"byte {self._gaps[0].start + 1:,}"
            where = f"at {first}" if len(self._gaps) == 1 else f"in {places}, the first at {first}"
            message = f"the file is damaged {where}: {lost} there cannot be read; the records behind are read"
            yield Finding(self._path, message)
        if self.torn:
            message = "the last record is torn: the run was killed while writing, or is still running"
            if self._lost_from is not None and not self._cut:
                left = format_count(self._read - self._lost_from, "byte")
                message = f"a record is damaged, and the last {left} of the file cannot be read"
            before = "no whole one stands before it"
            if self.records:
                several = self.records > 1
                before = (
                    f"the {self.records:,} whole ones before it are read"
                    if several
                    else "the one before it is read"
                )
            yield Finding(self._path, f"{message}; {before}")

    def _read_pieces(self) -> Iterator[bytes]:
        """Blocks, many at once; the last one may be short."""
        with explain_os_errors(self._path), self._path.open("rb") as file:
            piece = file.read(_PIECE)
            yield piece
            # A short piece is the end, also of a file that grows meanwhile.
            while len(piece) == _PIECE and (piece := file.read(_PIECE)):
                yield piece

    def _check_header(self, start: bytes) -> int:
        """Where the first chunk begins."""
        refuse_pointer(self._path, start, "the run itself")
        header = start[: len(HEADER)]
        if HEADER.startswith(header):
            return len(header)
        if header[:-1] == _MAGIC:
            message = f"it is a log of wandb in version {header[-1]}, which reportgen does not know"
            raise UnreadableError(self._path, message, "Export the charts of the run as CSV instead")
        raise UnreadableError(self._path, "it does not begin as a log of wandb does", "Copy the file again")

    def _read_block(self, block: bytes, at: int, base: int) -> list[bytes]:
        """The records that end in a block, from ``at``; after a damaged chunk from the next whole one on."""
        found: list[bytes] = []
        head, crc32, seeds = _CHUNK.size, zlib.crc32, _SEEDS
        while at + head <= len(block):
            crc, length, kind = _CHUNK.unpack_from(block, at)
            data = block[at + head : at + head + length]
            if kind not in seeds or len(data) < length or crc32(data, seeds[kind]) != crc:
                ends_early = kind in seeds and len(data) < length and len(block) < BLOCK
                self._start_gap(base + at, cut=ends_early or not any(block[at:]))
                at = self._next_chunk(block, at)
                continue
            if kind == FULL and self._lost_from is None and not self._parts:
                found.append(data)
            else:
                self._add_chunk(found, kind, data, base + at)
            at += head + length
        if at < len(block) < BLOCK:
            self._start_gap(base + at, cut=True)
        self.records += len(found)
        return found

    def _next_chunk(self, block: bytes, at: int) -> int:
        """Where the next whole chunk of a block begins behind a damaged one; the block's end without one."""
        self._searches += 1
        if self._searches <= _MOST_SEARCHES:
            head = _CHUNK.size
            for match in _ANY_KIND.finditer(block, at + head):
                start = match.end() - head
                crc, length, kind = _CHUNK.unpack_from(block, start)
                data = block[start + head : start + head + length]
                if len(data) == length and zlib.crc32(data, _SEEDS[kind]) == crc:
                    return start
        return len(block)

    def _add_chunk(self, found: list[bytes], kind: int, data: bytes, at: int) -> None:
        """A chunk that is a part of a record, or comes after something that is missing."""
        if kind in {FULL, FIRST}:
            if self._parts:
                self._start_gap(self._begun)
            if self._lost_from is not None:
                self._gaps.append(range(self._lost_from, at))
                self._lost_from = None
            self._begun = at
            if kind == FULL:
                found.append(data)
            else:
                self._parts, self._size = [data], len(data)
        elif not self._parts:
            # The rest of a record whose beginning is lost.
            self._start_gap(at)
        else:
            self._parts.append(data)
            self._size += len(data)
            # Some three times as much is held while a record is taken apart.
            if self._size > LARGEST_PART:
                message = f"a record is larger than {format_mebibytes(LARGEST_PART)}"
                raise UnreadableError(self._path, message, "Copy the file again, or leave it out")
            if kind == LAST:
                found.append(b"".join(self._parts))
                self._parts = []

    def _start_gap(self, at: int, *, cut: bool = False) -> None:
        """From here on nothing is known until a record begins."""
        if self._lost_from is None:
            self._lost_from = self._begun if self._parts else at
            self._cut = cut
        self._parts = []
