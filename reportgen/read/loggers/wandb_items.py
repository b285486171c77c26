"""What an item of a W&B history says, and the column that its number goes to.

Source: ``HistoryItem`` in wandb/proto/wandb_internal.proto of wandb/wandb. A key is one name (``key``) or
the parts of a nested one (``nested_key``); older writers leave nested values as JSON objects. A value is JSON
with bare NaN and Infinity (``value_json``) or, as newer schemas also allow, a typed field.
"""

from __future__ import annotations

import json
import math
from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.read.loggers import protobuf

if TYPE_CHECKING:
    from reportgen.model import FloatArray

_BOOLEAN, _INTEGER, _NUMBER, _TEXT, _JSON, _VALUE_JSON = 4, 5, 6, 7, 8, 16
# A text or list that is longer is no number, and a column of them would cost time.
_LONGEST_TEXT: Final = 64


class Column:
    """The values of one metric, and the number of the row that each stands in.

    ``put_value`` and ``put_row`` belong together; they are attributes since they are called for each value.
    """

    __slots__ = ("dropped", "name", "put_row", "put_value", "rows", "values")

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: array[float] = array("d")
        self.rows: array[int] = array("I")
        self.put_value = self.values.append
        self.put_row = self.rows.append
        self.dropped = 0

    def pick_rows(self, of_rows: FloatArray) -> FloatArray:
        """A value for each of this column's rows, out of one for every row."""
        rows = np.frombuffer(self.rows, np.uint32)
        return of_rows if len(rows) == len(of_rows) and (np.diff(rows) == 1).all() else of_rows[rows]

    def expand(self, count: int) -> FloatArray:
        """A value for each of so many rows; NaN where this column has none, the last where it has several."""
        found = np.full(count, math.nan)
        found[np.frombuffer(self.rows, np.uint32)] = np.frombuffer(self.values, np.float64)
        return found


def decode_value(field: int, content: int | memoryview) -> object:
    """What a field of an item says; None where it says nothing."""
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
    """JSON as a value; as it stands where it is no JSON, or a list or text too long for a number."""
    start = text[:1]
    if start in {b'"', b"["} and len(text) > _LONGEST_TEXT:
        return text
    try:
        # JSON's -0 is an integer to Python's parser, and would lose its sign.
        return float(text) if start.isdigit() or start == b"-" else json.loads(text)
    except (ValueError, RecursionError):
        return text
