"""History of a W&B run: items of key and JSON value become metrics, row by row.

Source: ``HistoryRecord`` and ``HistoryItem`` in wandb/proto/wandb_internal.proto of wandb/wandb. A key is one
name (``key``) or the parts of a nested one (``nested_key``); older writers leave nested values as JSON
objects. A value is JSON with bare NaN and Infinity (``value_json``) or, as newer schemas also allow, a typed
field. Images, histograms and other media are objects with ``_type``, and numbers in them are not metrics.
"""

from __future__ import annotations

import json
import math
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats import protobuf
from reportgen.formats.json_files import iterate_cells
from reportgen.formats.run_data import MetricsBuilder, number_or_nan
from reportgen.formats.runs import warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.run_data import Row
    from reportgen.formats.runs import Points


STEP: Final = "_step"
TIME: Final = "_timestamp"
_BOOLEAN, _INTEGER, _NUMBER, _TEXT, _JSON, _VALUE_JSON = 4, 5, 6, 7, 8, 16
# A longer text or list is not a number, and parsing a column of them would cost time.
_LONGEST_TEXT: Final = 64
_ITEM: Final = 0x0A
_ROW_STEP: Final = 2
_TWO_BYTES: Final = 0x80
_ROWS_AT_ONCE: Final = 1024
_KEY, _NESTED_KEY = 1, 2
_MEDIA: Final = "_type"
# The tag of ``value_json`` (field 16), which ends the bytes that name an item.
_VALUE: Final = b"\x82\x01"
_MOST_KNOWN: Final = 200_000
_MILLISECONDS: Final = 1000.0


class History:
    """Metrics of one run, which grow row by row."""

    def __init__(self, path: Path, selected: Collection[str] | None = None) -> None:
        self.rows = 0
        self._path = path
        self._builder = MetricsBuilder(path, selected, timed=True)
        self._waiting: list[Row] = []
        self._known: dict[bytes, str] = {}  # names by the bytes of their items before the value
        self._media: set[str] = set()
        self._malformed = self._stepless = 0

    def add(self, record: bytes, at: int, end: int) -> None:
        """Add a row: the ``HistoryRecord`` in ``record[at:end]``; raise the errors of ``MetricsBuilder``."""
        row: dict[str, object] = {}
        given = math.nan
        self.rows += 1
        try:
            while at < end:
                size = record[at + 1]
                if record[at] == _ITEM and size < _TWO_BYTES:
                    self._add_item(record[at + 2 : at + 2 + size], row)
                    at += 2 + size
                    continue
                number, wire, start, at, _ = next(protobuf.iterate_spans(memoryview(record), at, end))
                if wire == protobuf.DELIMITED and number == _ITEM >> 3:
                    self._add_item(record[start:at], row)
                elif wire == protobuf.DELIMITED and number == _ROW_STEP:
                    fields = protobuf.iterate_fields(memoryview(record)[start:at])
                    # An omitted number is 0.
                    number = next((value for _, _, value in fields if isinstance(value, int)), 0)
                    given = float(protobuf.as_signed(number))
            self._malformed += at != end
        except (protobuf.MalformedError, IndexError):
            self._malformed += 1
        own, time = number_or_nan(row.pop(STEP, None)), number_or_nan(row.pop(TIME, None)) * _MILLISECONDS
        step = own if math.isfinite(own) else given
        self._stepless += math.isnan(step)
        row.pop("", None)
        cells = (
            iterate_cells(row, joint=".", media=_MEDIA) if dict in map(type, row.values()) else row.items()
        )
        # Newer writers shuffle the items of a row.
        time = time if math.isfinite(time) else math.nan
        self._waiting.append((step, time, dict(sorted(cells, key=itemgetter(0)))))
        if len(self._waiting) == _ROWS_AT_ONCE:
            self._add_rows()

    def _add_rows(self) -> None:
        self._builder.add_rows(self._waiting)
        self._waiting = []

    def _add_item(self, item: bytes, row: dict[str, object]) -> None:
        """Add an item to a row, without the parser of messages if one of its name was there before."""
        head, _, value = item.partition(_VALUE)
        name = self._known.get(head)
        if name is not None and value and value[0] == len(value) - 1:
            row[name] = parse_json_value(value[1:])
            return
        parts: list[str] = []
        for field, _, content in protobuf.iterate_fields(memoryview(item)):
            if field in {_KEY, _NESTED_KEY} and isinstance(content, memoryview):
                parts.append(protobuf.decode_text(content))
            else:
                row[".".join(parts)] = decode_value(field, content)
        if parts[-1:] == [_MEDIA]:
            self._media.add(".".join(parts[:-1]))
        if len(self._known) < _MOST_KNOWN and len(head) + len(_VALUE) + len(value) == len(item):
            self._known[head] = ".".join(parts)

    def build(self) -> dict[str, Points]:
        """Return every metric with a value that is not part of an image, a histogram or other media."""
        self._add_rows()
        metrics = self._builder.build()
        ends = {name: [name[:end] for end, sign in enumerate(name) if sign == "."] for name in metrics}
        return {name: points for name, points in metrics.items() if self._media.isdisjoint(ends[name])}

    def is_selected(self, name: str) -> bool:
        """Return whether this metric is read."""
        return self._builder.is_selected(name)

    def is_empty(self, name: str) -> bool:
        """Return whether no value of a metric was read."""
        self._add_rows()
        return name not in self._builder

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield the irregularities in the rows."""
        self._add_rows()
        yield from self._builder.list_findings()
        if self._stepless:
            yield warn(self._path, f"{format_count(self._stepless, 'row')} without a step")
        if self._malformed:
            rows = format_count(self._malformed, "row of the history is", "rows of the history are")
            yield warn(self._path, f"{rows} malformed: what could be read is read")


def decode_value(field: int, content: int | memoryview) -> object:
    """Return the value of an item's field; None if it has none."""
    if isinstance(content, int):
        if field == _INTEGER:
            # Zigzag: 0, -1, 1, -2 and so on.
            return float((content >> 1) ^ -(content & 1))
        return float(bool(content)) if field == _BOOLEAN else None
    if field in {_VALUE_JSON, _JSON}:
        return parse_json_value(bytes(content))
    if field == _NUMBER:
        return protobuf.decode_double(content)
    return protobuf.decode_text(content) if field == _TEXT else None


def parse_json_value(text: bytes) -> Any:  # noqa: ANN401 - JSON can be anything
    """Parse a JSON value; return the text if it is invalid, or a list or text too long for a number."""
    start = text[:1]
    if start in {b'"', b"["} and len(text) > _LONGEST_TEXT:
        return text
    try:
        # Python's parser reads -0 as an integer, which would lose its sign.
        return float(text) if start.isdigit() or start == b"-" else json.loads(text)
    except (ValueError, RecursionError):
        return text
