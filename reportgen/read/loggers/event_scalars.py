"""The numbers of many events at once.

Most events of a file differ in wall time, step and number only. What is left of a message without these, its
pattern, is the same for all events of a tag, so each pattern is parsed once and looked up for the others. The
rest is parsed event by event.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from reportgen.read.loggers.event_message import Event, decode_numbers, parse_event
from reportgen.read.loggers.protobuf import MalformedError
from reportgen.read.loggers.tfrecord import FEWEST_IN_ARRAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.model import FloatArray
    from reportgen.read.loggers.crc32c import Bytes
    from reportgen.read.loggers.event_message import NumberPlace, Scalar
    from reportgen.read.loggers.tfrecord import Block, Places

_WALL, _STEP = 0x09, 0x10  # the tags of wall time and step
_WALL_END: Final = 9
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
        order = order[np.searchsorted(tags[order], 0) :]  # the rest is not wanted
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
        """Take what to ask for the number of a tag (negative: not wanted), and what to tell of the rest."""
        self._tag_number, self._besides = tag_number, add_event
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
        try:
            parsed = parse_event(memoryview(message))
        except MalformedError:
            return None
        if parsed.prefix != stop or parsed.get_layout() != layout:
            return None
        self._besides(parsed)
        return tuple(self._tag_number(scalar) for scalar in parsed.scalars)

    def _read_record(self, record: int, message: memoryview, rows: ScalarRows) -> None:
        try:
            parsed = parse_event(message)
        except MalformedError:
            self.malformed += 1
            return
        self._besides(parsed)
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
            layout = _find_layout(messages[0])
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


def _find_layout(message: Bytes) -> tuple[NumberPlace, ...] | None:
    try:
        return parse_event(memoryview(message.tobytes())).get_layout()
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
