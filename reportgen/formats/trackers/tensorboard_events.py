"""Events of event files: step, time and numbers of one event, and the numbers of many at once.

Source: TensorBoard, tensorboard/compat/proto: event.proto, summary.proto, tensor.proto, tensor_shape.proto,
types.proto. A number is a ``simple_value``, or a tensor of one element that no plugin but ``scalars`` claims.
Most events of a file differ in wall time, step and number only. What is left of a message without these, its
pattern, is the same for all events of a tag, so each pattern is parsed once and looked up for the others. The
rest is parsed event by event.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.formats.binary.protobuf import (
    DELIMITED,
    FIXED32,
    FIXED64,
    VARINT,
    MalformedError,
    as_signed,
    decode_double,
    decode_float,
    iterate_delimited,
    iterate_spans,
    read_varint,
)
from reportgen.formats.binary.tfrecord import FEWEST_IN_ARRAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.model import FloatArray
    from reportgen.formats.binary.tfrecord import Block, Bytes, Places


NumberPlace: TypeAlias = tuple[int, int, str]
"""Where a number stands in its message, and its type, as ``decode_numbers`` takes it."""

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
_WALL_END: Final = 9


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
        strange: values declared as scalars that are no number.
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
            parsed.prefix = stop if place == 0 and stop == _WALL_END else 0
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
    elements = 1
    for number, dim in iterate_delimited(shape):
        if number == 2:  # noqa: PLR2004 - the field's number
            fields = iterate_spans(dim, 0, len(dim))
            elements *= next((as_signed(value) for inner, *_, value in fields if inner == 1), 0)
    return elements


def _read_number(message: memoryview, place: NumberPlace) -> float:
    first, last, kind = place
    if kind == "<f4":
        return decode_float(message[first:last])
    return float(decode_numbers(np.frombuffer(message[first:last], np.uint8)[None, :], kind)[0])


_WALL, _STEP = 0x09, 0x10  # the tags of wall time and step
_MORE: Final = 0x80
# Layouts that are tried for messages of one length, and patterns that are kept for one layout.
_TRIES: Final = 8
_MOST_PATTERNS: Final = 200_000

_UNKNOWN: Final = -1


class ScalarRows:
    """Numbers as they are found, not yet in order: tag, order of writing, step, wall time, value."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Places, Places, FloatArray, FloatArray, FloatArray]] = []
        self._places = (array("q"), array("q"))
        self._cells = (array("d"), array("d"), array("d"))

    def add(self, tag: int, order: int, step: float, wall: float, value: float) -> None:
        """One number."""
        self._places[0].append(tag)
        self._places[1].append(order)
        for column, cell in zip(self._cells, (step, wall, value), strict=True):
            column.append(cell)

    def extend(
        self, tags: Places, order: Places, steps: FloatArray, walls: FloatArray, values: FloatArray
    ) -> None:
        """Many numbers, arrays of one length."""
        self._pieces.append((tags, order, steps, walls, values))

    def group_by_tag(self) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
        """Tag, steps, wall times and values in the order of writing; tags in that of their first number."""
        places = [np.array(column, np.int64) for column in self._places]
        cells = [np.array(column, np.float64) for column in self._cells]
        self._pieces.append((places[0], places[1], cells[0], cells[1], cells[2]))
        tags, written, *columns = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        order = np.lexsort((written, tags))
        order = order[np.searchsorted(tags[order], 0) :]  # the rest is not to be read
        if not len(order):
            return
        tags, written, (steps, walls, values) = tags[order], written[order], (part[order] for part in columns)
        firsts = np.flatnonzero(np.diff(tags, prepend=_UNKNOWN))
        lasts = np.append(firsts[1:], len(tags))
        for tag in np.argsort(written[firsts]):
            part = slice(int(firsts[tag]), int(lasts[tag]))
            yield int(tags[part.start]), steps[part], walls[part], values[part]


class EventReader:
    """Finds the numbers of blocks of records.

    Attributes:
        malformed: records that are no events.
    """

    def __init__(self, tag_number: Callable[[Scalar], int], add_event: Callable[[Event], None]) -> None:
        """``tag_number`` numbers a tag, negative to leave it out; ``add_event`` takes the rest."""
        self._tag_number, self._add_event = tag_number, add_event
        self._patterns: dict[tuple[int, int, tuple[NumberPlace, ...]], _Patterns] = {}
        self.malformed = 0

    def read_block(self, block: Block) -> ScalarRows:
        """Every number of a block's records."""
        rows = ScalarRows()
        left = [self._read_same_length(records, messages, rows) for records, messages in block.same_length]
        for record in np.sort(np.concatenate([block.others, *left])):
            self._read_record(int(record), block.get_message(record), rows)
        return rows

    def match_layout(
        self, message: bytes, stop: int, layout: tuple[NumberPlace, ...]
    ) -> tuple[int, ...] | None:
        """The tags of a message whose numbers stand where ``get_layout`` says; None where they do not."""
        parsed = _parse_or_none(memoryview(message))
        if parsed is None or parsed.prefix != stop or parsed.get_layout() != layout:
            return None
        self._add_event(parsed)
        return tuple(self._tag_number(scalar) for scalar in parsed.scalars)

    def _read_record(self, record: int, message: memoryview, rows: ScalarRows) -> None:
        parsed = _parse_or_none(message)
        if parsed is None:
            self.malformed += 1
            return
        self._add_event(parsed)
        for place, scalar in enumerate(parsed.scalars):
            tag = self._tag_number(scalar)
            rows.add(tag, (record << 32) + place, float(parsed.step), parsed.wall, scalar.value)

    def _read_same_length(self, records: Places, messages: Bytes, rows: ScalarRows) -> Places:
        """Take messages of one length, shape (n, length); returns which records are left."""
        if messages.shape[1] <= _WALL_END + 1:
            return records
        stops, left = _find_prefix_stops(messages), []
        for stop in np.unique(stops):
            chosen = slice(None) if (stops == stop).all() else np.flatnonzero(stops == stop)
            if stop:
                left.append(self._read_same_prefix(records[chosen], messages[chosen], int(stop), rows))
            else:
                left.append(records[chosen])
        return np.concatenate(left)

    def _read_same_prefix(self, records: Places, messages: Bytes, stop: int, rows: ScalarRows) -> Places:
        """Take messages whose steps end at ``stop``; returns which records are left."""
        odd = []
        for _ in range(_TRIES):
            if len(records) < FEWEST_IN_ARRAY:
                break
            first = _parse_or_none(memoryview(messages[0].tobytes()))
            layout = first.get_layout() if first else None
            if layout is None:
                fits = np.zeros(len(records), np.bool_)
                odd.append(records[:1])
                records, messages = records[1:], messages[1:]
                continue
            fits = self._read_same_layout(records, messages, stop, layout, rows)
            records, messages = records[~fits], messages[~fits]
        return np.concatenate([records, *odd])

    def _read_same_layout(
        self, records: Places, messages: Bytes, stop: int, layout: tuple[NumberPlace, ...], rows: ScalarRows
    ) -> npt.NDArray[np.bool_]:
        """Take the messages whose numbers stand where ``get_layout`` says; returns which these are."""
        key = (messages.shape[1], stop, layout)
        patterns = self._patterns.setdefault(key, _Patterns(self, *key))
        names = _strip_numbers(messages, stop, layout)
        found = np.fromiter(map(patterns.__getitem__, names), np.int64, len(names))
        fits = np.asarray(found != _UNKNOWN)
        if not fits.all():
            records, messages, found = records[fits], messages[fits], found[fits]
        tags = patterns.list_tags()[found]
        steps, walls = _decode_steps(messages, stop), decode_numbers(messages[:, 1:_WALL_END], "<f8")
        for place, (first, last, kind) in enumerate(layout):
            order = (records << 32) + place
            rows.extend(tags[:, place], order, steps, walls, decode_numbers(messages[:, first:last], kind))
        return fits


class _Patterns(dict[bytes, int]):
    """Patterns of one layout, numbered as they come; ``_UNKNOWN`` for what is of another layout."""

    def __init__(self, reader: EventReader, length: int, stop: int, layout: tuple[NumberPlace, ...]) -> None:
        super().__init__()
        self._reader, self._length, self._stop, self._layout = reader, length, stop, layout
        self._tags: list[tuple[int, ...]] = []

    def __missing__(self, pattern: bytes) -> int:
        # The message with zeros for what it leaves out: they have no say in where things stand.
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
        self._tags.append(tags)
        self[pattern] = len(self._tags) - 1
        return self[pattern]

    def list_tags(self) -> Places:
        """The tags of every pattern, shape (patterns, numbers)."""
        return np.array(self._tags, np.int64).reshape(-1, len(self._layout))


def _parse_or_none(message: memoryview) -> Event | None:
    try:
        return parse_event(message)
    except MalformedError:
        return None


def _find_prefix_stops(messages: Bytes) -> Places:
    """Where wall time and step end, shape (n,); 0 for messages that do not begin with them."""
    more = messages[:, _WALL_END + 1 : _WALL_END + 11] >= _MORE
    ends = np.where(more.all(axis=1), 0, _WALL_END + 2 + np.argmin(more, axis=1))
    stops = np.where(messages[:, _WALL_END] == _STEP, ends, _WALL_END)
    return np.where(messages[:, 0] == _WALL, stops, 0).astype(np.int64)


def _decode_steps(messages: Bytes, stop: int) -> FloatArray:
    """The steps of messages in which they end at ``stop``, shape (n,)."""
    steps = np.zeros(len(messages), np.uint64)
    for place in range(stop - _WALL_END - 1):
        digit = messages[:, _WALL_END + 1 + place] & (_MORE - 1)
        steps |= digit.astype(np.uint64) << np.uint64(7 * place)
    return steps.view(np.int64).astype(np.float64)


def _strip_numbers(messages: Bytes, stop: int, layout: tuple[NumberPlace, ...]) -> list[bytes]:
    """Messages without wall time, step and numbers."""
    edges = [stop, *(edge for first, last, _ in layout for edge in (first, last)), messages.shape[1]]
    parts = [messages[:, first:last] for first, last in zip(edges[::2], edges[1::2], strict=True)]
    names = np.concatenate(parts, axis=1)
    found: list[bytes] = names.view(f"V{names.shape[1]}")[:, 0].tolist()
    return found
