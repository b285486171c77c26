"""History of a W&B run: items of key and JSON value become metrics, mostly without a JSON parser.

Source: ``HistoryRecord`` and ``HistoryItem`` in wandb/proto/wandb_internal.proto of wandb/wandb. A key is one
name (``key``) or the parts of a nested one (``nested_key``); older writers leave nested values as JSON
objects. A value is JSON with bare NaN and Infinity (``value_json``) or, as newer schemas also allow, a typed
field. Images, histograms and other media are objects with ``_type``, and numbers in them are not metrics.
"""

from __future__ import annotations

import json
import math
from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import format_count
from reportgen.formats import protobuf
from reportgen.formats.run_data import (
    MOST_POINTS,
    check_metric_count,
    check_value_count,
    describe_dropped,
    parse_number,
)
from reportgen.formats.runs import Points, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import FloatArray


_BOOLEAN, _INTEGER, _NUMBER, _TEXT, _JSON, _VALUE_JSON = 4, 5, 6, 7, 8, 16
# A longer text or list is not a number, and parsing a column of them would cost time.
_LONGEST_TEXT: Final = 64


class Column:
    """Values of one metric and their rows; call ``put_value`` and ``put_row`` together."""

    __slots__ = ("dropped", "name", "put_row", "put_value", "rows", "values")

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: array[float] = array("d")
        self.rows: array[int] = array("I")
        self.put_value = self.values.append
        self.put_row = self.rows.append
        self.dropped = 0

    def pick_rows(self, of_rows: FloatArray) -> FloatArray:
        """Return this column's elements of an array with an element for every row."""
        rows = np.frombuffer(self.rows, np.uint32)
        return of_rows if len(rows) == len(of_rows) and (np.diff(rows) == 1).all() else of_rows[rows]

    def expand(self, count: int) -> FloatArray:
        """Return one value per row: NaN for a row without any, the last one for a row with several."""
        values = np.full(count, math.nan)
        values[np.frombuffer(self.rows, np.uint32)] = np.frombuffer(self.values, np.float64)
        return values


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


def parse_json_value(text: bytes) -> object:
    """Parse a JSON value; return the text if it is invalid, or a list or text too long for a number."""
    start = text[:1]
    if start in {b'"', b"["} and len(text) > _LONGEST_TEXT:
        return text
    try:
        # Python's parser reads -0 as an integer, which would lose its sign.
        return float(text) if start.isdigit() or start == b"-" else json.loads(text)
    except (ValueError, RecursionError):
        return text


STEP: Final = "_step"
TIME: Final = "_timestamp"
_ITEM: Final = 0x0A
# The tag of ``value_json`` (field 16), which ends the bytes that name an item.
_VALUE: Final = b"\x82\x01"
_KEY, _NESTED_KEY = 1, 2
_ROW_STEP: Final = 0x12
_TWO_BYTES: Final = 0x80
_MILLISECONDS: Final = 1000.0

_NO_COLUMN: Final = Column("")


class History:
    """Metrics of one run, which grow row by row."""

    def __init__(self, path: Path, selected: Collection[str] | None = None) -> None:
        self.rows = 0
        self._path = path
        self._selected = selected
        self._step = Column(STEP)
        self._columns: dict[str, Column | None] = {STEP: self._step}
        # The same by the bytes that name an item, so that most items need no parsing.
        self._known: dict[bytes, Column | None] = {}
        self._given_steps = Column("")
        self._media: set[str] = set()
        self._malformed = self._selected_count = 0

    def add(self, record: bytes, at: int, end: int) -> None:
        """Add a row: the ``HistoryRecord`` in ``record[at:end]``; raise the errors of ``MetricsBuilder``."""
        row, known, stepped = self.rows, self._known, self._step.rows
        self.rows += 1
        try:
            while at < end:
                size = record[at + 1]
                if record[at] != _ITEM or size >= _TWO_BYTES:
                    # The row's own step comes last and mostly repeats that of the item.
                    repeated = record[at] == _ROW_STEP and stepped and stepped[-1] == row
                    is_last = repeated and at + 2 + size == end
                    at = end if is_last else self._read_field(record, at, end, row)
                    continue
                item = record[at + 2 : at + 2 + size]
                at += 2 + size
                head, _, value = item.partition(_VALUE)
                column = known.get(head, _NO_COLUMN)
                if column is None:
                    continue
                if column is _NO_COLUMN or value[0] != len(value) - 1:
                    self._read_item(item, row)
                    continue
                try:
                    column.put_value(float(value[1:]))
                    column.put_row(row)
                except ValueError:
                    self._add_value(column, parse_json_value(value[1:]), row)
        except (protobuf.MalformedError, IndexError):
            at = -1
        if at != end:
            self._malformed += 1
        for column in self._list_metrics() if row >= MOST_POINTS else ():
            check_value_count(len(column.values), self._path, column.name)

    def build(self) -> dict[str, Points]:
        """Return every metric with a value, by the row of its first: newer writers shuffle a row's items."""
        steps, time = self._build_steps(), self._columns.get(TIME)
        times = time.expand(self.rows) * _MILLISECONDS if time else np.full(self.rows, math.nan)
        times[np.isinf(times)] = math.nan
        metrics = {}
        for column in sorted(self._list_metrics(), key=lambda column: (column.rows[0], column.name)):
            own_times = column.pick_rows(times)
            points_times = None if np.isnan(own_times).all() else own_times
            values = np.frombuffer(column.values, np.float64)
            metrics[column.name] = Points(column.pick_rows(steps), values, points_times)
        return metrics

    def is_selected(self, name: str) -> bool:
        """Return whether this metric is read."""
        return self._selected is None or name in self._selected

    def is_empty(self, name: str) -> bool:
        """Return whether no value of a metric was read."""
        column = self._columns.get(name)
        return column is None or not column.values

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield the irregularities in the rows."""
        dropped = {column.name: column.dropped for column in self._list_metrics() if column.dropped}
        yield from describe_dropped(self._path, dropped)
        if stepless := int(np.isnan(self._build_steps()).sum()):
            yield warn(self._path, f"{format_count(stepless, 'row')} without a step")
        if self._malformed:
            rows = format_count(self._malformed, "row of the history is", "rows of the history are")
            yield warn(self._path, f"{rows} malformed: what could be read is read")

    def _build_steps(self) -> FloatArray:
        """Return the step of every row: its item ``_step`` if finite, otherwise the row's own field."""
        own = self._step.expand(self.rows)
        return np.where(np.isfinite(own), own, self._given_steps.expand(self.rows))

    def _list_metrics(self) -> Iterator[Column]:
        """Yield the columns with values that are not part of an image, a histogram or other media."""
        for name, column in self._columns.items():
            if column and column.values and name not in {STEP, TIME}:
                ends = (end for end, sign in enumerate(name) if sign == ".") if self._media else ()
                if not any(name[:end] in self._media for end in ends):
                    yield column

    def _read_field(self, record: bytes, at: int, end: int, row: int) -> int:
        """Read a field of a row that is not a short item; return where the next one starts."""
        number, wire, start, stop, _ = next(protobuf.iterate_spans(memoryview(record), at, end))
        if wire == protobuf.DELIMITED and number == _ITEM >> 3:
            self._read_item(record[start:stop], row)
        elif wire == protobuf.DELIMITED and number == _ROW_STEP >> 3:
            fields = protobuf.iterate_fields(memoryview(record)[start:stop])
            # An omitted number is 0.
            step = next((value for _, _, value in fields if isinstance(value, int)), 0)
            self._given_steps.put_value(float(protobuf.as_signed(step)))
            self._given_steps.put_row(row)
        return stop

    def _read_item(self, item: bytes, row: int) -> None:
        parts: list[str] = []
        values: list[object] = []
        head = b""
        for field, wire, content in protobuf.iterate_fields(memoryview(item)):
            if field in {_KEY, _NESTED_KEY} and isinstance(content, memoryview):
                part = protobuf.decode_text(content)
                parts.append(part)
                head += bytes([field << 3 | wire, len(content) & 0x7F]) + bytes(content)
            else:
                values.append(decode_value(field, content))
        if parts[-1:] == ["_type"]:
            self._media.add(".".join(parts[:-1]))
        column = self._get_column(".".join(parts))
        if item.startswith(head + _VALUE):
            self._known[head] = column
        if column and values:
            self._add_value(column, values[-1], row)

    def _add_value(self, column: Column, value: object, row: int) -> None:
        """Add a value; the numbers in an object are metrics of their own."""
        waiting: list[tuple[str, object]] = [(column.name, value)]
        while waiting:
            name, value = waiting.pop()
            if isinstance(value, dict):
                if "_type" in value:
                    self._media.add(name)
                else:
                    waiting += [(f"{name}.{key}", child) for key, child in reversed(value.items())]
                continue
            metric = self._get_column(name)
            if metric is None or value is None:
                continue
            number = parse_number(value)
            if number is None:
                metric.dropped += 1
            else:
                metric.put_value(number)
                metric.put_row(row)

    def _get_column(self, name: str) -> Column | None:
        """Return the column of a metric; None if it is not read."""
        if name not in self._columns:
            selected = name in {STEP, TIME} or self.is_selected(name)
            # Old logs have nested metrics in a single object.
            selected = selected or any(metric.startswith(f"{name}.") for metric in self._selected or ())
            self._columns[name] = Column(name) if selected and name else None
            self._selected_count += bool(selected)
            check_metric_count(self._selected_count, self._path)
        return self._columns[name]
