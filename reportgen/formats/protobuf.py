"""Protocol Buffers wire format: the fields of a message, read in order without a schema.

Source: "Encoding" in the Protocol Buffers documentation. A message is a sequence of tags and values. Nothing
is copied: a field's content is a slice of the message.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5

_WIDTHS: Final = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT: Final = 10
_DOUBLE: Final = Struct("<d")
_FLOAT: Final = Struct("<f")


class MalformedError(ValueError):
    """Error for an invalid message: an endless varint, a length beyond the end, an unknown wire type."""


def read_varint(data: memoryview | bytes, at: int) -> tuple[int, int]:
    """Return the unsigned 64-bit number at ``at`` and where it ends; raise ``MalformedError``."""
    value = shift = 0
    for index in range(at, min(at + _LONGEST_VARINT, len(data))):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the bit that says "more follows"
            return value & ((1 << 64) - 1), index + 1
        shift += 7
    raise MalformedError("a number without an end")


def iterate_spans(message: memoryview, start: int, stop: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield number, wire type, start and stop of the content of every field of ``message[start:stop]``.

    The fifth item is the value of a ``VARINT`` (see ``as_signed``), otherwise 0. All fields yielded before a
    ``MalformedError`` are whole.
    """
    at = start
    while at < stop:
        tag, at = read_varint(message, at)
        number, wire, value = tag >> 3, tag & 7, 0
        begin = at
        if wire == DELIMITED:
            width, begin = read_varint(message, at)
            at = begin + width
        elif wire == VARINT:
            value, at = read_varint(message, at)
        elif wire in _WIDTHS:
            at += _WIDTHS[wire]
        else:
            raise MalformedError(f"a field of wire type {wire}")
        if not number:
            raise MalformedError("a field without a number")
        if at > stop:
            raise MalformedError("a field that goes beyond the end")
        yield number, wire, begin, at, value


def iterate_fields(message: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Yield number, wire type and value of every field, in the order of writing.

    The value is an int for ``VARINT`` (see ``as_signed``), the raw bytes for ``FIXED64``, ``FIXED32`` and
    ``DELIMITED``. Errors are those of ``iterate_spans``.
    """
    for number, wire, start, stop, value in iterate_spans(message, 0, len(message)):
        yield number, wire, value if wire == VARINT else message[start:stop]


def iterate_delimited(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of every length-delimited field: texts, bytes, nested messages."""
    for number, wire, start, stop, _ in iterate_spans(message, 0, len(message)):
        if wire == DELIMITED:
            yield number, message[start:stop]


def as_signed(value: int) -> int:
    """Return a varint as an int64 (two's complement)."""
    return value - (1 << 64) if value >= 1 << 63 else value


def decode_double(content: memoryview) -> float:
    """Decode a ``FIXED64`` field that is a double; raise ``MalformedError`` for one of another length."""
    if len(content) != _DOUBLE.size:
        raise MalformedError(f"a double of {len(content)} bytes")
    return float(_DOUBLE.unpack(content)[0])


def decode_float(content: memoryview) -> float:
    """Decode a ``FIXED32`` field that is a float, widened exactly."""
    return float(_FLOAT.unpack(content)[0])


def decode_text(content: memoryview) -> str:
    """Decode a string; invalid UTF-8 becomes U+FFFD."""
    return str(content, "utf-8", "replace")
