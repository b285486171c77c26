"""Events of event files: step, time and numbers of one event, and the numbers of many at once.

Source: TensorBoard, tensorboard/compat/proto: event.proto, summary.proto, tensor.proto, tensor_shape.proto,
types.proto; tensorboard/plugins/hparams/plugin_data.proto; google/protobuf/struct.proto. A number is a
``simple_value``, or a tensor of one element that no plugin other than ``scalars`` claims. Most events of a
file differ only in wall time, step and number. The rest of the message, its pattern, is the same for all
events of a tag, so each pattern is parsed once and looked up for the others. Other events are parsed one by
one.
"""

from __future__ import annotations

import json
import math
from array import array
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from reportgen.formats import protobuf
from reportgen.formats.cells import MOST_EXACT
from reportgen.formats.json_files import iterate_cells
from reportgen.formats.protobuf import DELIMITED, FIXED32, FIXED64, VARINT, MalformedError, iterate_spans
from reportgen.formats.run_data import as_json_setting
from reportgen.formats.tfrecord import FEWEST_IN_ARRAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting
    from reportgen.formats.tfrecord import Block, Bytes, Places


NumberPlace: TypeAlias = tuple[int, int, str]
"""Start and end of a number in its message, and its type as in ``decode_numbers``."""

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
_WALL_TIME, _STEP_NUMBER, _SUMMARY, _SESSION_LOG = 1, 2, 5, 7
_VALUE, _TAG, _SIMPLE, _TENSOR, _METADATA = 1, 1, 2, 8, 9
_PLUGIN_NAME, _PLUGIN_CONTENT = 1, 2
_DTYPE, _SHAPE, _DIM, _VERSION, _CONTENT = 1, 2, 2, 3, 4
_WALL_END: Final = 9


class Scalar(Struct, frozen=True):
    """Number under its tag; ``place`` is None if it has no fixed width."""

    tag: bytes
    value: float
    place: NumberPlace | None
    of_tensor: bool


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
    # Length of the prefix with only the wall time, in eight bytes after its tag, and the step, if it is not
    # 0, as a varint; 0 if the message differs.
    prefix: int = 0

    def get_layout(self) -> tuple[NumberPlace, ...] | None:
        """Return the positions of all numbers; None if there are none, or if other events may differ."""
        places = tuple(scalar.place for scalar in self.scalars if scalar.place)
        plain = self.prefix and places and len(places) == len(self.scalars)
        return places if plain and not (self.sessions or self.strange) else None


def parse_event(message: memoryview) -> Event:
    """Parse the message of a record; raise ``MalformedError`` if it is not an event."""
    event = Event()
    for index, (number, wire, start, stop, value) in enumerate(iterate_spans(message, 0, len(message))):
        if number == _WALL_TIME and wire == FIXED64:
            event.wall = protobuf.decode_double(message[start:stop])
            event.prefix = stop if index == 0 and stop == _WALL_END else 0
        elif number == _STEP_NUMBER and wire == VARINT:
            event.step = protobuf.as_signed(value)
            event.prefix = stop if index == 1 and event.prefix else 0
        elif number == _SESSION_LOG and wire == DELIMITED:
            event.begins |= any(
                inner == 1 and status == 1 for inner, *_, status in iterate_spans(message, start, stop)
            )
        elif number == _SUMMARY and wire == DELIMITED:
            for inner, kind, first, last, _ in iterate_spans(message, start, stop):
                if inner == _VALUE and kind == DELIMITED:
                    _add_value(event, message, first, last)
    return event


def decode_numbers(raw: Bytes, kind: str) -> FloatArray:
    """Decode raw numbers, shape (n, width), as doubles, shape (n,)."""
    if kind == BFLOAT16:
        raw, kind = np.pad(raw, ((0, 0), (2, 0))), "<f4"
    with np.errstate(invalid="ignore"):  # a signalling NaN is NaN, too
        return np.ascontiguousarray(raw).view(kind)[:, 0].astype(np.float64)


def _add_value(event: Event, message: memoryview, start: int, stop: int) -> None:
    tag, plugin, of_tensor = b"", b"", False
    scalar: tuple[float, NumberPlace | None] | None = None
    for number, wire, first, last, _ in iterate_spans(message, start, stop):
        if number == _TAG and wire == DELIMITED:
            tag = bytes(message[first:last])
        elif number == _SIMPLE and wire == FIXED32:
            scalar, of_tensor = _read_number(message, (first, last, "<f4")), False
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
        event.scalars.append(Scalar(tag, *scalar, of_tensor))
    elif of_tensor and plugin == _SCALARS:
        event.strange += 1


def _read_scalar_tensor(
    message: memoryview, start: int, stop: int
) -> tuple[float, NumberPlace | None] | None:
    """Return the number in a TensorProto of one element; None if it is not a number or has several."""
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
        return _read_number(message, (first, last, kind))
    if kind in _VARINT_LISTS.get(number, ()) and wire in {VARINT, DELIMITED}:
        value, end = protobuf.read_varint(message, first)
        if end == last:
            bits = (value & ((1 << 8 * _WIDTHS[kind]) - 1)).to_bytes(_WIDTHS[kind], "little")
            return _read_number(memoryview(bits), (0, len(bits), kind))[0], None
    return None


def _read_number(message: memoryview, place: NumberPlace) -> tuple[float, NumberPlace]:
    first, last, kind = place
    if kind == "<f4":
        return protobuf.decode_float(message[first:last]), place
    return float(decode_numbers(np.frombuffer(message[first:last], np.uint8)[None, :], kind)[0]), place


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
_MORE: Final = 0x80
# Layouts that are tried for messages of one length, and patterns that are stored for one layout.
_TRIES: Final = 8
_MOST_PATTERNS: Final = 200_000

_UNKNOWN: Final = -1


class EventReader:
    """Reader of the numbers in blocks of records; ``malformed`` counts records that are not events."""

    def __init__(self, tag_number: Callable[[Scalar], int], add_event: Callable[[Event], None]) -> None:
        """``tag_number`` numbers a tag, negative to leave it out; ``add_event`` takes the rest."""
        self._tag_number, self._add_event = tag_number, add_event
        self._patterns: dict[tuple[int, int, tuple[NumberPlace, ...]], _Patterns] = {}
        # Numbers of a block, not yet sorted: tag, order of writing, step, wall time, value.
        self._pieces: list[tuple[Places, Places, FloatArray, FloatArray, FloatArray]] = []
        self.malformed = 0

    def read_block(self, block: Block) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
        """Yield tag, steps, wall times and values as written, tags in the order of their first number."""
        self._pieces = []
        left = [block.others]
        for records, messages in block.same_length:
            left += self._read_same_length(records, messages)
        places, numbers = (array("q"), array("q")), (array("d"), array("d"), array("d"))
        for record in np.sort(np.concatenate(left)).tolist():
            event = _parse_or_none(block.get_message(record))
            if event is None:
                self.malformed += 1
                continue
            self._add_event(event)
            for index, scalar in enumerate(event.scalars):
                places[0].append(self._tag_number(scalar))
                places[1].append((record << 32) + index)
                for column, cell in zip(numbers, (event.step, event.wall, scalar.value), strict=True):
                    column.append(cell)
        tags, written = map(np.array, places)
        steps, walls, values = map(np.array, numbers)
        self._pieces.append((tags, written, steps, walls, values))
        tags, written, *parts = (np.concatenate(pieces) for pieces in zip(*self._pieces, strict=True))
        order = np.lexsort((written, tags))
        order = order[np.searchsorted(tags[order], 0) :]  # the rest is not read
        if not len(order):
            return
        tags, written, (steps, walls, values) = tags[order], written[order], (part[order] for part in parts)
        firsts = np.flatnonzero(np.diff(tags, prepend=_UNKNOWN))
        lasts = np.append(firsts[1:], len(tags))
        for tag in np.argsort(written[firsts]):
            of_tag = slice(int(firsts[tag]), int(lasts[tag]))
            yield int(tags[of_tag.start]), steps[of_tag], walls[of_tag], values[of_tag]

    def match_layout(
        self, message: bytes, stop: int, layout: tuple[NumberPlace, ...]
    ) -> tuple[int, ...] | None:
        """Return the tags of a message whose numbers have this layout; None if they do not."""
        event = _parse_or_none(memoryview(message))
        if event is None or event.prefix != stop or event.get_layout() != layout:
            return None
        self._add_event(event)
        return tuple(self._tag_number(scalar) for scalar in event.scalars)

    def _read_same_length(self, records: Places, messages: Bytes) -> Iterator[Places]:
        """Read messages of one length, shape (n, length); yield the indices of the records left."""
        if messages.shape[1] <= _WALL_END + 1:
            yield records
            return
        # Where wall time and step end; 0 for messages that do not start with them.
        more = messages[:, _WALL_END + 1 : _WALL_END + 11] >= _MORE
        ends = np.where(more.all(axis=1), 0, _WALL_END + 2 + np.argmin(more, axis=1))
        stops = np.where(messages[:, _WALL_END] == _STEP, ends, _WALL_END)
        stops = np.where(messages[:, 0] == _WALL, stops, 0)
        for stop in np.unique(stops).tolist():
            chosen = slice(None) if (stops == stop).all() else np.flatnonzero(stops == stop)
            rest, rest_messages = records[chosen], messages[chosen]
            for _ in range(_TRIES if stop else 0):
                if len(rest) < FEWEST_IN_ARRAY:
                    break
                first = _parse_or_none(memoryview(rest_messages[0].tobytes()))
                layout = first.get_layout() if first else None
                if layout is None:
                    yield rest[:1]
                    rest, rest_messages = rest[1:], rest_messages[1:]
                else:
                    fits = self._read_same_layout(rest, rest_messages, stop, layout)
                    rest, rest_messages = rest[~fits], rest_messages[~fits]
            yield rest

    def _read_same_layout(
        self, records: Places, messages: Bytes, stop: int, layout: tuple[NumberPlace, ...]
    ) -> npt.NDArray[np.bool_]:
        """Read the messages whose numbers have this layout; return a mask of them."""
        key = (messages.shape[1], stop, layout)
        patterns = self._patterns.setdefault(key, _Patterns(self, stop, layout))
        # The bytes between wall time, step and numbers of each message, as a single name.
        edges = [stop, *(edge for first, last, _ in layout for edge in (first, last)), messages.shape[1]]
        parts = [messages[:, first:last] for first, last in zip(edges[::2], edges[1::2], strict=True)]
        names = np.concatenate(parts, axis=1)
        names = names.view(f"V{names.shape[1]}")[:, 0]
        numbers = np.fromiter(map(patterns.__getitem__, names.tolist()), np.int64, len(names))
        fits = np.asarray(numbers != _UNKNOWN)
        if not fits.all():
            records, messages, numbers = records[fits], messages[fits], numbers[fits]
        tags = np.array(patterns.tags, np.int64).reshape(-1, len(layout))[numbers]
        varints = np.zeros(len(messages), np.uint64)
        for index in range(stop - _WALL_END - 1):
            digit = messages[:, _WALL_END + 1 + index] & (_MORE - 1)
            varints |= digit.astype(np.uint64) << np.uint64(7 * index)
        steps = varints.view(np.int64).astype(np.float64)
        walls = decode_numbers(messages[:, 1:_WALL_END], "<f8")
        for index, (first, last, kind) in enumerate(layout):
            values = decode_numbers(messages[:, first:last], kind)
            self._pieces.append((tags[:, index], (records << 32) + index, steps, walls, values))
        return fits


class _Patterns(dict[bytes, int]):
    """Patterns of one layout, numbered in order, and their tags; ``_UNKNOWN`` for another layout."""

    def __init__(self, reader: EventReader, stop: int, layout: tuple[NumberPlace, ...]) -> None:
        super().__init__()
        self._reader, self._stop, self._layout = reader, stop, layout
        self.tags: list[tuple[int, ...]] = []

    def __missing__(self, pattern: bytes) -> int:
        # The message with zeros for the omitted numbers, which do not affect the layout.
        step = [_STEP, *[_MORE] * (self._stop - _WALL_END - 2), 0] if self._stop > _WALL_END else []
        message = bytearray([_WALL, *[0] * 8, *step])
        used = 0
        for first, last, _ in self._layout:
            piece = pattern[used : used + first - len(message)]
            used += len(piece)
            message += piece + bytes(last - first)
        tags = self._reader.match_layout(bytes(message) + pattern[used:], self._stop, self._layout)
        if tags is None or len(self) >= _MOST_PATTERNS:
            return _UNKNOWN
        self.tags.append(tags)
        self[pattern] = len(self.tags) - 1
        return self[pattern]


def _parse_or_none(message: memoryview) -> Event | None:
    try:
        return parse_event(message)
    except MalformedError:
        return None
