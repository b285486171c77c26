"""Lines of a text file: the first, a few from all over it, the last, and all of them in turn."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, cast

from reportgen.read.limits import LARGEST_PART

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reportgen.read.content import Content, Head

_SAMPLES: Final = 128
_TAIL: Final = 64 << 10
_BOM_CHARACTER: Final = "\ufeff"
_BLOCK_SIZE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LastLine:
    """A last line that has no end: its bytes, and how many stand before it."""

    data: bytes
    offset: int


def keep_whole_lines(head: Head) -> bytes:
    """The lines of a head that are not cut off."""
    if head.complete:
        return head.data
    return head.data[: _find_line_end(head.data)]


def sample_lines(content: Content, head: Head) -> list[bytes]:
    """A few whole lines from places all over a file; none where it has to be decompressed.

    A series or metric that fills more than a hundredth of the file in one go is met in one of them.
    """
    if head.complete or content.compression:
        return []
    size = min(64 + 3 * len(head.data) // max(head.data.count(b"\n"), 1), _BLOCK_SIZE)
    found = []
    with content.open() as file:
        last = max(file.seek(0, io.SEEK_END) - size, 0)
        for index in range(_SAMPLES):
            file.seek(last * index // (_SAMPLES - 1))
            piece = file.read(size)
            # What stands before the first end may be part of a line or the header.
            begin = piece.find(b"\n") + 1
            end = piece.rfind(b"\n") + 1
            if 0 < begin < end:
                found.append(piece[begin:end])
    return found


def find_last_line(content: Content, head: Head) -> LastLine | None:
    """The last line if it has no end and can be had without reading the whole file."""
    if head.complete:
        data, before = head.data, 0
    elif content.compression:
        return None
    else:
        with content.open() as file:
            before = max(file.seek(0, io.SEEK_END) - _TAIL, 0)
            file.seek(before)
            data = file.read()
    start = _find_line_end(data)
    if start == len(data) or (start == 0 and before > 0):
        return None
    return LastLine(data[start:], before + start)


def find_line_number(content: Content, offset: int) -> int:
    """The 1-based number of the line that begins at an offset."""
    ends, returns, left = 0, 0, offset
    with content.open() as file:
        while left > 0 and (piece := file.read(min(left, _BLOCK_SIZE))):
            ends += piece.count(b"\n")
            returns += piece.count(b"\r")
            left -= len(piece)
    return (ends or returns) + 1


def has_even_ends(pieces: list[bytes]) -> bool:
    """Whether lines end with one sign everywhere, as far as can be seen."""
    both = sum(piece.count(b"\r\n") for piece in pieces)
    return both == 0 or both == sum(piece.count(b"\n") for piece in pieces)


def decode_text(content: Content, data: bytes) -> str:
    """Bytes of a file as text, without its byte order mark.

    Raises:
        ReportError: they are not UTF-8; the first such line of the file is named.
    """
    try:
        return data.decode().removeprefix(_BOM_CHARACTER)
    except UnicodeDecodeError:
        lines = enumerate(read_lines(content), 1)
        line = next((number for number, text in lines if not is_utf8(text)), None)
        raise content.make_error(*NOT_UTF8, line) from None


def read_lines(content: Content, keep: int | None = None) -> Iterator[str]:
    """Every line with its end, without a byte order mark; bytes that are not UTF-8 as surrogates.

    Args:
        content: the file.
        keep: bytes that count, when the rest is torn off.
    """
    with content.open() as file:
        bounded = cast("IO[bytes]", _LimitedFile(content, file))
        text = io.TextIOWrapper(bounded, "utf-8", errors="surrogateescape", newline="")
        try:
            yield from _take_lines(keep, text)
        finally:
            # Otherwise it would close the file a second time, and be told off for it.
            text.detach()


class _LimitedFile:
    """A file as ``io.TextIOWrapper`` reads it; a line that is too long is refused before it is held.

    Counted are the bytes since the last line end, of a piece at a time.
    """

    def __init__(self, content: Content, file: IO[bytes]) -> None:
        self._content, self._file = content, cast("io.BufferedReader", file)
        self._ends, self._length = 0, 0

    def read1(self, size: int = -1) -> bytes:
        piece = self._file.read1(size)
        self._length += len(piece)
        if after := _find_line_end(piece):
            self._ends += piece.count(b"\n") or piece.count(b"\r")
            self._length = len(piece) - after
        if self._length > LARGEST_PART:
            raise self._content.make_length_error(self._ends + 1)
        return piece

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def is_utf8(text: str) -> bool:
    """Whether a line of ``read_lines`` was UTF-8."""
    return text.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in text)


NOT_UTF8: Final = ("the line has bytes that are not UTF-8", "Save the file as UTF-8")


def _take_lines(keep: int | None, lines: Iterable[str]) -> Iterator[str]:
    """Lines without a byte order mark, up to a number of bytes."""
    left = keep
    for number, line in enumerate(lines):
        if left is not None:
            if left <= 0:
                return
            left -= len(line.encode("utf-8", "surrogateescape"))
        yield line if number else line.removeprefix(_BOM_CHARACTER)


def _find_line_end(data: bytes) -> int:
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
