"""Events of event files: step, time and numbers of each.

Source: TensorBoard, tensorboard/compat/proto: event.proto, summary.proto, tensor.proto, tensor_shape.proto,
types.proto; tensorboard/plugins/hparams/plugin_data.proto; google/protobuf/struct.proto. A number is a
``simple_value``, or a tensor of one element that no plugin other than ``scalars`` claims. Most events of a
tag differ only in wall time and step, at the begin, and in a float at the end, so that what is between is
parsed once and looked up for the others: that is about ten times as fast.
"""

from __future__ import annotations

import json
import math
from array import array
from contextlib import suppress
from struct import Struct as Unpacked
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct, field

from reportgen.formats import protobuf
from reportgen.formats.cells import MOST_EXACT
from reportgen.formats.json_files import iterate_cells
from reportgen.formats.protobuf import DELIMITED, FIXED32, FIXED64, VARINT, MalformedError, iterate_spans
from reportgen.formats.run_data import as_json_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.formats.runs import Setting


BFLOAT16: Final = "bfloat16"

# By number in types.proto; those beyond 14 came later.
_EARLY_TYPES: Final = {1: "<f4", 2: "<f8", 3: "<i4", 4: "|u1", 5: "<i2", 6: "|i1", 9: "<i8", 10: "|u1"}
_LATER_TYPES: Final = {14: BFLOAT16, 17: "<u2", 19: "<f2", 22: "<u4", 23: "<u8"}
_TYPES: Final = _EARLY_TYPES | _LATER_TYPES
_WIDTHS: Final = {name: 2 if name == BFLOAT16 else int(name[-1]) for name in _TYPES.values()}
# Fields of a tensor that hold its elements one by one, and the types that they are for.
_FIXED_LISTS: Final = {5: "<f4", 6: "<f8"}
_LISTS_OF_SMALL: Final = {7: ("<i4", "|u1", "<i2", "|i1", "<u2"), 13: ("<f2", BFLOAT16)}
_VARINT_LISTS: Final = {**_LISTS_OF_SMALL, 10: ("<i8",), 11: ("|u1",), 16: ("<u4",), 17: ("<u8",)}
_SCALARS: Final = b"scalars"
_FLOAT: Final = "<f4"
_WALL_TIME, _STEP_NUMBER, _SUMMARY, _SESSION_LOG = 1, 2, 5, 7
_VALUE, _TAG, _SIMPLE, _TENSOR, _METADATA = 1, 1, 2, 8, 9
_PLUGIN_NAME, _PLUGIN_CONTENT = 1, 2
_DTYPE, _SHAPE, _DIM, _VERSION, _CONTENT = 1, 2, 2, 3, 4
_WALL_END: Final = 9


class Scalar(Struct, frozen=True):
    """Number under its tag."""

    tag: bytes
    value: float
    of_tensor: bool
    end: int = 0  # where it ends in its message if it is stored as a float, otherwise 0


class Event(Struct):
    """Contents of one record."""

    step: int = 0
    wall: float = math.nan  # seconds since 1970
    scalars: list[Scalar] = field(default_factory=list)
    foreign: list[bytes] = field(default_factory=list)  # tags that a plugin other than ``scalars`` claims
    sessions: list[memoryview] = field(default_factory=list)  # messages of the plugin ``hparams``
    strange: int = 0  # values declared as scalars that are not numbers
    # Whether a writer starts here, and TensorBoard discards earlier values from this step on.
    begins: bool = False


def parse_event(message: memoryview) -> Event:
    """Parse the message of a record; raise ``MalformedError`` if it is not an event."""
    event = Event()
    for number, wire, start, stop, value in iterate_spans(message, 0, len(message)):
        if number == _WALL_TIME and wire == FIXED64:
            event.wall = protobuf.decode_double(message[start:stop])
        elif number == _STEP_NUMBER and wire == VARINT:
            event.step = protobuf.as_signed(value)
        elif number == _SESSION_LOG and wire == DELIMITED:
            event.begins |= any(
                inner == 1 and status == 1 for inner, *_, status in iterate_spans(message, start, stop)
            )
        elif number == _SUMMARY and wire == DELIMITED:
            for inner, kind, first, last, _ in iterate_spans(message, start, stop):
                if inner == _VALUE and kind == DELIMITED:
                    _add_value(event, message, first, last)
    return event


def _decode_number(raw: bytes, kind: str) -> float:
    if kind == BFLOAT16:
        raw, kind = bytes(2) + raw, "<f4"
    with np.errstate(invalid="ignore"):  # a signalling NaN is NaN, too
        return float(np.frombuffer(raw, kind)[0])


def _add_value(event: Event, message: memoryview, start: int, stop: int) -> None:
    tag, plugin, of_tensor = b"", b"", False
    scalar: tuple[float, int] | None = None
    for number, wire, first, last, _ in iterate_spans(message, start, stop):
        if number == _TAG and wire == DELIMITED:
            tag = bytes(message[first:last])
        elif number == _SIMPLE and wire == FIXED32:
            scalar, of_tensor = (protobuf.decode_float(message[first:last]), last), False
        elif number == _TENSOR and wire == DELIMITED:
            scalar, of_tensor = _read_scalar_tensor(message, first, last), True
        elif number == _METADATA and wire == DELIMITED:
            datas = [data for part, data in protobuf.iterate_delimited(message[first:last]) if part == 1]
            parts = dict(pair for data in datas for pair in protobuf.iterate_delimited(data))
            plugin = bytes(parts.get(_PLUGIN_NAME, b""))
            if plugin == b"hparams" and _PLUGIN_CONTENT in parts:
                event.sessions.append(parts[_PLUGIN_CONTENT])
    claimed = plugin not in {b"", _SCALARS}
    if claimed:
        event.foreign.append(tag)
    if scalar is not None and not (of_tensor and claimed):
        value, end = scalar
        event.scalars.append(Scalar(tag, value, of_tensor, end))
    elif of_tensor and plugin == _SCALARS:
        event.strange += 1


def _read_scalar_tensor(message: memoryview, start: int, stop: int) -> tuple[float, int] | None:
    """Return the number in a TensorProto of one element, and where it ends if it is a float.

    Return None if it is not a number or has several.
    """
    kind, elements = "", 1
    content: list[tuple[int, int, int, int]] = []
    for number, wire, first, last, value in iterate_spans(message, start, stop):
        if number == _DTYPE and wire == VARINT:
            kind = _TYPES.get(value, "")
        elif number == _SHAPE and wire == DELIMITED:
            dims = [dim for part, dim in protobuf.iterate_delimited(message[first:last]) if part == _DIM]
            fields = (iterate_spans(dim, 0, len(dim)) for dim in dims)
            sizes = ((size for inner, *_, size in spans if inner == 1) for spans in fields)
            elements = math.prod(protobuf.as_signed(next(size, 0)) for size in sizes)
        elif number > _VERSION and last > first:
            content.append((number, wire, first, last))
    if not kind or elements != 1 or len(content) != 1:
        return None
    number, wire, first, last = content[0]
    if (number == _CONTENT or _FIXED_LISTS.get(number) == kind) and last - first == _WIDTHS[kind]:
        return _decode_number(bytes(message[first:last]), kind), last if kind == _FLOAT else 0
    if kind in _VARINT_LISTS.get(number, ()) and wire in {VARINT, DELIMITED}:
        value, end = protobuf.read_varint(message, first)
        if end == last:
            bits = (value & ((1 << 8 * _WIDTHS[kind]) - 1)).to_bytes(_WIDTHS[kind], "little")
            return _decode_number(bits, kind), 0
    return None


_SESSION_START, _HPARAMS = 3, 1
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 2, 3, 4, 5, 6
_DEEPEST: Final = 20


def read_hyperparameters(plugin_data: memoryview) -> Iterator[tuple[str, Setting]]:
    """Yield the hyperparameters of a session's start, nested names joined by dots; other data have none.

    Numbers are doubles there: one without a fraction becomes an int. A list becomes JSON. Raises
    ``MalformedError`` if the message is invalid.
    """
    for number, session in protobuf.iterate_delimited(plugin_data):
        entries = (entry for part, entry in protobuf.iterate_delimited(session) if part == _HPARAMS)
        for entry in entries if number == _SESSION_START else ():
            for name, value in iterate_cells(dict([_parse_entry(entry, 0)]), joint="."):
                if isinstance(value, list):
                    yield name, json.dumps(value, ensure_ascii=False)
                elif value is not None:
                    yield name, as_json_setting(value)


def _parse_entry(entry: memoryview, depth: int) -> tuple[str, object]:
    name, value = "", None
    for number, content in protobuf.iterate_delimited(entry):
        if number == _ENTRY_KEY:
            name = protobuf.decode_text(content)
        elif number == _ENTRY_VALUE:
            value = _parse_value(content, depth)
    return name, value


def _parse_value(message: memoryview, depth: int) -> object:
    """Parse a google.protobuf.Value; return None for null and for values nested too deeply."""
    value: object = None
    for field_number, wire, content in protobuf.iterate_fields(message):
        if isinstance(content, int):
            value = bool(content) if field_number == _BOOL and wire == VARINT else None
        elif field_number == _NUMBER and wire == FIXED64:
            number = protobuf.decode_double(content)
            value = int(number) if number.is_integer() and abs(number) <= MOST_EXACT else number
        elif field_number == _STRING and wire == DELIMITED:
            value = protobuf.decode_text(content)
        elif field_number in {_STRUCT, _LIST} and wire == DELIMITED and depth < _DEEPEST:
            parts = [part for inner, part in protobuf.iterate_delimited(content) if inner == 1]
            if field_number == _STRUCT:
                value = dict(_parse_entry(part, depth + 1) for part in parts)
            else:
                value = [_parse_value(part, depth + 1) for part in parts]
    return value


_WALL, _STEP = 0x09, 0x10  # the tags of wall time and step
_MOST_KNOWN: Final = 200_000
_UNKNOWN: Final = -2
_TIME: Final = Unpacked("<xd")
_NUMBER_AT_END: Final = Unpacked("<f")


_Column: TypeAlias = "tuple[array[float], array[float], array[float]]"
"""Steps, wall times and values as written."""


class EventReader:
    """Reader of the numbers in messages; ``malformed`` counts those that are not events."""

    def __init__(self, tag_number: Callable[[Scalar], int], add_event: Callable[[Event], None]) -> None:
        """``tag_number`` numbers a tag, negative to leave it out; ``add_event`` takes the rest."""
        self._tag_number, self._add_event = tag_number, add_event
        self._known: dict[bytes, int] = {}  # tags by what is between step and number of a message
        self._columns: dict[int, _Column] = {}  # by tag
        self.malformed = 0

    def take_columns(self) -> dict[int, _Column]:
        """Return the numbers since the last call by tag, in the order of their first numbers."""
        taken, self._columns = self._columns, {}
        self._known = {}
        return taken

    def read(self, messages: Sequence[bytes]) -> None:
        """Add the numbers of messages."""
        known, columns = self._known, self._columns
        step, begin, same = 0, 0, b""  # where the numbers of a message begin, and its step as written
        for message in messages:
            # Several metrics are written at each step.
            if not (same and message.startswith(same, _WALL_END) and message[0] == _WALL):
                step, begin = _find_step(message)
                same = message[_WALL_END:begin]
            number = known.get(message[begin:-4], _UNKNOWN) if begin else _UNKNOWN
            if number == _UNKNOWN:
                self._read_event(message, begin)
            elif number >= 0:
                steps, walls, values = columns[number]
                steps.append(step)
                walls.append(_TIME.unpack_from(message)[0])
                values.append(_NUMBER_AT_END.unpack_from(message, len(message) - 4)[0])

    def _read_event(self, message: bytes, begin: int) -> None:
        """Parse a message, whose wall time and step are all before ``begin`` unless that is 0."""
        try:
            event = parse_event(memoryview(message))
        except MalformedError:
            self.malformed += 1
            return
        self._add_event(event)
        for scalar in event.scalars:
            number = self._tag_number(scalar)
            if number >= 0:
                column = self._columns.setdefault(number, (array("d"), array("d"), array("d")))
                for cells, cell in zip(column, (event.step, event.wall, scalar.value), strict=True):
                    cells.append(cell)
            plain = begin and len(event.scalars) == 1 and scalar.end == len(message)
            if plain and not (event.sessions or event.strange) and len(self._known) < _MOST_KNOWN:
                self._known[message[begin:-4]] = number


def _find_step(message: bytes) -> tuple[int, int]:
    """Return the step of a message that begins with wall time and step, and where it ends; 0 for others."""
    if len(message) <= _WALL_END + 1 or message[0] != _WALL:
        return 0, 0
    if message[_WALL_END] != _STEP:
        return 0, _WALL_END
    with suppress(MalformedError):
        step, end = protobuf.read_varint(message, _WALL_END + 1)
        return protobuf.as_signed(step), end
    return 0, 0
