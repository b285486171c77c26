"""One event of an event file: its step, its time, and the numbers that it holds.

Source: TensorBoard, tensorboard/compat/proto: event.proto, summary.proto, tensor.proto, tensor_shape.proto,
types.proto. A number is a ``simple_value``, or a tensor of one element that no plugin but ``scalars`` claims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from reportgen.read.loggers.protobuf import (
    DELIMITED,
    FIXED32,
    FIXED64,
    VARINT,
    as_signed,
    decode_double,
    decode_float,
    iterate_delimited,
    iterate_spans,
    read_varint,
)

if TYPE_CHECKING:
    from reportgen.model import FloatArray
    from reportgen.read.loggers.crc32c import Bytes

NumberPlace: TypeAlias = tuple[int, int, str]
"""Where a number stands in its message, from and to, and of which type it is, as ``decode_numbers`` takes it."""

BFLOAT16: Final = "bfloat16"

# By number in types.proto; those beyond 14 came later.
_TYPES: Final = {1: "<f4", 2: "<f8", 3: "<i4", 4: "|u1", 5: "<i2", 6: "|i1", 9: "<i8", 10: "|u1"} | {
    14: BFLOAT16,
    17: "<u2",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
_WIDTHS: Final = {name: 2 if name == BFLOAT16 else int(name[-1]) for name in _TYPES.values()}
# Fields of a tensor that hold its elements one by one, and the types that they are for.
_FIXED_LISTS: Final = {5: "<f4", 6: "<f8"}
_VARINT_LISTS: Final = {7: {"<i4", "|u1", "<i2", "|i1", "<u2"}, 10: {"<i8"}, 11: {"|u1"}} | {
    13: {"<f2", BFLOAT16},
    16: {"<u4"},
    17: {"<u8"},
}
_SCALARS: Final = b"scalars"
_SUMMARY, _VALUE, _TAG, _SIMPLE, _TENSOR, _METADATA = 5, 1, 1, 2, 8, 9
_SESSION_LOG: Final = 7
_WALL_STOP: Final = 9


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number under its tag; ``place`` is None where it has no fixed width."""

    tag: bytes
    value: float
    place: NumberPlace | None
    of_tensor: bool


@dataclass(slots=True)
class Event:
    """What one record holds.

    Attributes:
        step: int64.
        wall: seconds since 1970.
        scalars: in the order of writing.
        foreign: tags that a plugin other than ``scalars`` claims.
        sessions: what the plugin ``hparams`` keeps, one message each.
        strange: values said to be scalars that are no number.
        begins: whether a writer begins here, and TensorBoard forgets what there was from this step on.
        prefix: length of the beginning that holds wall time and step and nothing else, the one in eight bytes
            behind its tag and the other, where it is not 0, as a varint; 0 where the message differs.
    """

    step: int = 0
    wall: float = math.nan
    scalars: list[Scalar] = field(default_factory=list)
    foreign: list[bytes] = field(default_factory=list)
    sessions: list[memoryview] = field(default_factory=list)
    strange: int = 0
    begins: bool = False
    prefix: int = 0

    def get_layout(self) -> tuple[NumberPlace, ...] | None:
        """Where all numbers stand; None where there is none, or where other events may differ."""
        places = tuple(scalar.place for scalar in self.scalars if scalar.place)
        plain = self.prefix and places and len(places) == len(self.scalars)
        return places if plain and not (self.sessions or self.strange) else None


def parse_event(message: memoryview) -> Event:
    """Parse the message of a record.

    Raises:
        MalformedError: it is no event.
    """
    parsed = Event()
    for place, (number, wire, start, stop, value) in enumerate(iterate_spans(message, 0, len(message))):
        if number == 1 and wire == FIXED64:
            parsed.wall = decode_double(message[start:stop])
            parsed.prefix = stop if place == 0 and stop == _WALL_STOP else 0
        elif number == 2 and wire == VARINT:  # noqa: PLR2004 - the field's number
            parsed.step = as_signed(value)
            parsed.prefix = stop if place == 1 and parsed.prefix else 0
        elif number == _SESSION_LOG and wire == DELIMITED:
            parsed.begins |= any(
                inner == 1 and status == 1 for inner, *_, status in iterate_spans(message, start, stop)
            )
        elif number == _SUMMARY and wire == DELIMITED:
            for inner, kind, first, last, _ in iterate_spans(message, start, stop):
                if inner == _VALUE and kind == DELIMITED:
                    _take_value(message, first, last, parsed)
    return parsed


def decode_numbers(raw: Bytes, kind: str) -> FloatArray:
    """Numbers as they stand in messages, shape (n, width), widened to doubles, shape (n,)."""
    if kind == BFLOAT16:
        raw, kind = np.pad(raw, ((0, 0), (2, 0))), "<f4"
    with np.errstate(invalid="ignore"):  # a signalling NaN is NaN, too
        return np.ascontiguousarray(raw).view(kind)[:, 0].astype(np.float64)


def _take_value(message: memoryview, start: int, stop: int, parsed: Event) -> None:
    """Add one Summary.Value to an event."""
    tag, plugin = b"", b""
    scalar: Scalar | None = None
    tensor = False
    for number, wire, first, last, _ in iterate_spans(message, start, stop):
        if number == _TAG and wire == DELIMITED:
            tag = bytes(message[first:last])
        elif number == _SIMPLE and wire == FIXED32:
            place = (first, last, "<f4")
            scalar, tensor = Scalar(b"", _read_number(message, place), place, of_tensor=False), False
        elif number == _TENSOR and wire == DELIMITED:
            scalar, tensor = _read_scalar_tensor(message, first, last), True
        elif number == _METADATA and wire == DELIMITED:
            plugin = _read_plugin(message[first:last], parsed)
    claimed = plugin not in {b"", _SCALARS}
    if claimed:
        parsed.foreign.append(tag)
    if scalar is not None and not (tensor and claimed):
        parsed.scalars.append(Scalar(tag, scalar.value, scalar.place, tensor))
    elif tensor and plugin == _SCALARS:
        parsed.strange += 1


def _read_plugin(metadata: memoryview, parsed: Event) -> bytes:
    """The name of the plugin that a SummaryMetadata is for; what ``hparams`` keeps goes to the event."""
    name, content = b"", None
    for number, data in iterate_delimited(metadata):
        if number == 1:
            for inner, part in iterate_delimited(data):
                if inner == 1:
                    name = bytes(part)
                elif inner == 2:  # noqa: PLR2004 - the field's number
                    content = part
    if name == b"hparams" and content is not None:
        parsed.sessions.append(content)
    return name


def _read_scalar_tensor(message: memoryview, start: int, stop: int) -> Scalar | None:
    """The number that a TensorProto of one element holds; None where it is no number or several."""
    kind, elements = "", 1
    content: list[tuple[int, int, int, int]] = []
    for number, wire, first, last, value in iterate_spans(message, start, stop):
        if number == 1 and wire == VARINT:
            kind = _TYPES.get(value, "")
        elif number == 2 and wire == DELIMITED:  # noqa: PLR2004 - the field's number
            elements = _count_elements(message[first:last])
        elif number > 3 and last > first:  # noqa: PLR2004 - before it stands the version
            content.append((number, wire, first, last))
    if not kind or elements != 1 or len(content) != 1:
        return None
    number, wire, first, last = content[0]
    if (number == 4 or _FIXED_LISTS.get(number) == kind) and last - first == _WIDTHS[kind]:  # noqa: PLR2004
        place = (first, last, kind)
        return Scalar(b"", _read_number(message, place), place, of_tensor=True)
    if kind in _VARINT_LISTS.get(number, ()) and wire in {VARINT, DELIMITED}:
        value, end = read_varint(message, first)
        if end == last:
            bits = (value & ((1 << 8 * _WIDTHS[kind]) - 1)).to_bytes(_WIDTHS[kind], "little")
            return Scalar(b"", _read_number(memoryview(bits), (0, len(bits), kind)), None, of_tensor=True)
    return None


def _count_elements(shape: memoryview) -> int:
    """How many elements a TensorShapeProto speaks of."""
    sizes = [
        next(
            (
                as_signed(value)
                for number, wire, _, _, value in iterate_spans(dim, 0, len(dim))
                if number == 1
            ),
            0,
        )
        for number, dim in iterate_delimited(shape)
        if number == 2  # noqa: PLR2004 - the field's number
    ]
    return math.prod(sizes)


def _read_number(message: memoryview, place: NumberPlace) -> float:
    first, last, kind = place
    if kind == "<f4":
        return decode_float(message[first:last])
    return float(decode_numbers(np.frombuffer(message[first:last], np.uint8)[None, :], kind)[0])
