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

from reportgen.read.loggers.event_message import Event, event, numbers
from reportgen.read.loggers.protobuf import MalformedError
from reportgen.read.loggers.tfrecord import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.model import FloatArray
    from reportgen.read.loggers.crc32c import Bytes
    from reportgen.read.loggers.event_message import Place, Scalar
    from reportgen.read.loggers.tfrecord import Block, Places

_WALL, _STEP = 0x09, 0x10  # the tags of wall time and step
_WALL_STOP: Final = 9
_MORE: Final = 0x80
# Layouts that are tried for messages of one length, and patterns that are kept for one layout.
_TRIES: Final = 8
_MOST_PATTERNS: Final = 200_000

_UNKNOWN: Final = -1


class Rows:
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

    def by_tag(self) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
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

    def __init__(self, tag_number: Callable[[Scalar], int], besides: Callable[[Event], None]) -> None:
        """Take what to ask for the number of a tag (negative: not wanted), and what to tell of the rest."""
        self._tag_number, self._besides = tag_number, besides
        self._patterns: dict[tuple[int, int, tuple[Place, ...]], _Patterns] = {}
        self.malformed = 0

    def rows(self, block: Block) -> Rows:
        """Every number of a block's records."""
        rows = Rows()
        left = [self._alike(records, messages, rows) for records, messages in block.alike]
        for record in np.sort(np.concatenate([block.others, *left])):
            self._one(int(record), block.message(record), rows)
        return rows

    def known(self, message: bytes, stop: int, layout: tuple[Place, ...]) -> tuple[int, ...] | None:
        """The tags of a message whose numbers stand where ``layout`` says; None where they do not."""
        try:
            parsed = event(memoryview(message))
        except MalformedError:
            return None
        if parsed.prefix != stop or parsed.layout() != layout:
            return None
        self._besides(parsed)
        return tuple(self._tag_number(scalar) for scalar in parsed.scalars)

    def _one(self, record: int, message: memoryview, rows: Rows) -> None:
        try:
            parsed = event(message)
        except MalformedError:
            self.malformed += 1
            return
        self._besides(parsed)
        for place, scalar in enumerate(parsed.scalars):
            tag = self._tag_number(scalar)
            rows.add(tag, (record << 32) + place, float(parsed.step), parsed.wall, scalar.value)

    def _alike(self, records: Places, messages: Bytes, rows: Rows) -> Places:
        """Take messages of one length, shape (n, length); returns which records are left."""
        if messages.shape[1] <= _WALL_STOP + 1:
            return records
        stops, left = _prefix_stops(messages), []
        for stop in np.unique(stops):
            chosen = slice(None) if (stops == stop).all() else np.flatnonzero(stops == stop)
            if stop:
                left.append(self._same_prefix(records[chosen], messages[chosen], int(stop), rows))
            else:
                left.append(records[chosen])
        return np.concatenate(left)

    def _same_prefix(self, records: Places, messages: Bytes, stop: int, rows: Rows) -> Places:
        """Take messages whose steps end at ``stop``; returns which records are left."""
        odd = []
        for _ in range(_TRIES):
            if len(records) < FEW:
                break
            layout = _layout(messages[0])
            if layout is None:
                fits = np.zeros(len(records), np.bool_)
                odd.append(records[:1])
                records, messages = records[1:], messages[1:]
                continue
            fits = self._take(records, messages, stop, layout, rows)
            records, messages = records[~fits], messages[~fits]
        return np.concatenate([records, *odd])

    def _take(
        self, records: Places, messages: Bytes, stop: int, layout: tuple[Place, ...], rows: Rows
    ) -> npt.NDArray[np.bool_]:
        """Take the messages whose numbers stand where ``layout`` says; returns which these are."""
        key = (messages.shape[1], stop, layout)
        patterns = self._patterns.setdefault(key, _Patterns(self, *key))
        names = _without_numbers(messages, stop, layout)
        found = np.fromiter(map(patterns.__getitem__, names), np.int64, len(names))
        fits = np.asarray(found != _UNKNOWN)
        if not fits.all():
            records, messages, found = records[fits], messages[fits], found[fits]
        tags = patterns.tags()[found]
        steps, walls = _steps(messages, stop), numbers(messages[:, 1:_WALL_STOP], "<f8")
        for place, (first, last, kind) in enumerate(layout):
            order = (records << 32) + place
            rows.extend(tags[:, place], order, steps, walls, numbers(messages[:, first:last], kind))
        return fits


class _Patterns(dict[bytes, int]):
    """Patterns of one layout, numbered as they come; ``_UNKNOWN`` for what is of another layout."""

    def __init__(self, reader: EventReader, length: int, stop: int, layout: tuple[Place, ...]) -> None:
        super().__init__()
        self._reader, self._length, self._stop, self._layout = reader, length, stop, layout
        self._tags: list[tuple[int, ...]] = []

    def __missing__(self, pattern: bytes) -> int:
        # The message with zeros for what it leaves out: they have no say in where things stand.
        step = [_STEP, *[_MORE] * (self._stop - _WALL_STOP - 2), 0] if self._stop > _WALL_STOP else []
        message = bytearray([_WALL, *[0] * 8, *step])
        used = 0
        for first, last, _ in self._layout:
            piece = pattern[used : used + first - len(message)]
            used += len(piece)
            message += piece + bytes(last - first)
        tags = self._reader.known(bytes(message) + pattern[used:], self._stop, self._layout)
        if tags is None or len(self) >= _MOST_PATTERNS:
            return _UNKNOWN
        self._tags.append(tags)
        self[pattern] = len(self._tags) - 1
        return self[pattern]

    def tags(self) -> Places:
        """The tags of every pattern, shape (patterns, numbers)."""
        return np.array(self._tags, np.int64).reshape(-1, len(self._layout))


def _layout(message: Bytes) -> tuple[Place, ...] | None:
    try:
        return event(memoryview(message.tobytes())).layout()
    except MalformedError:
        return None


def _prefix_stops(messages: Bytes) -> Places:
    """Where wall time and step end, shape (n,); 0 for messages that do not begin with them."""
    more = messages[:, _WALL_STOP + 1 : _WALL_STOP + 11] >= _MORE
    ends = np.where(more.all(axis=1), 0, _WALL_STOP + 2 + np.argmin(more, axis=1))
    stops = np.where(messages[:, _WALL_STOP] == _STEP, ends, _WALL_STOP)
    return np.where(messages[:, 0] == _WALL, stops, 0).astype(np.int64)


def _steps(messages: Bytes, stop: int) -> FloatArray:
    """The steps of messages in which they end at ``stop``, shape (n,)."""
    steps = np.zeros(len(messages), np.uint64)
    for place in range(stop - _WALL_STOP - 1):
        digit = messages[:, _WALL_STOP + 1 + place] & (_MORE - 1)
        steps |= digit.astype(np.uint64) << np.uint64(7 * place)
    return steps.view(np.int64).astype(np.float64)


def _without_numbers(messages: Bytes, stop: int, layout: tuple[Place, ...]) -> list[bytes]:
    """Messages without wall time, step and numbers."""
    edges = [stop, *(edge for first, last, _ in layout for edge in (first, last)), messages.shape[1]]
    parts = [messages[:, first:last] for first, last in zip(edges[::2], edges[1::2], strict=True)]
    names = np.concatenate(parts, axis=1)
    found: list[bytes] = names.view(f"V{names.shape[1]}")[:, 0].tolist()
    return found
