"""What the records of a W&B log say of a run: its history, names, configuration, x axes and end.

Source: ``Record`` and the messages within it in wandb/proto/wandb_internal.proto of wandb/wandb. What is not
needed is passed over by its tag: summary, console, files, system metrics, telemetry and requests.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding
from reportgen.read.loggers import protobuf
from reportgen.read.loggers.wandb_history import STEP, TIME, History
from reportgen.settings.parsing import shorten
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_NUMBERED: Final = 0x08
_MORE: Final = 0x80
_HISTORY, _CONFIG, _METRIC, _RUN, _EXIT = 2, 5, 12, 17, 18
_HISTORY_TAG: Final = _HISTORY << 3 | protobuf.DELIMITED
# Summary, console (both ways), files, system metrics, telemetry: most of a log that is no history.
_PASSED: Final = frozenset(field << 3 | protobuf.DELIMITED for field in (3, 4, 6, 7, 11, 13))
# Of a run: id, project, configuration, group, display name.
_ID, _PROJECT, _RUN_CONFIG, _GROUP, _DISPLAY_NAME = 1, 3, 4, 6, 8
_UPDATE, _REMOVE = 1, 2
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
_NAME, _GLOB, _STEP_METRIC, _FROM_GLOB = 1, 2, 4, 10
_FEW: Final = 3
_LONGEST_NAME: Final = 60


class RunRecords:
    """A run as its log tells it, record by record; what is said later counts.

    Attributes:
        names: texts of the run record by field.
        config: as nested objects.
        history: the metrics.
        exit_code: None where the run did not end.
    """

    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.names: dict[int, str] = {}
        self.config: dict[str, Any] = {}
        self.history = History(path, selected)
        self.exit_code: int | None = None
        self._path = path
        self._axes: dict[str, str] = {}
        self._malformed = 0

    @property
    def name(self) -> str:
        """The display name; empty where it has none yet, as in an offline run that was not named."""
        return self.names.get(_DISPLAY_NAME, "")

    @property
    def id(self) -> str:
        """The id of the run, which it keeps when it is resumed."""
        return self.names.get(_ID, "")

    @property
    def group(self) -> str:
        """The group of the run, otherwise its project."""
        return self.names.get(_GROUP) or self.names.get(_PROJECT, "")

    def add(self, record: bytes) -> None:
        """Take a whole record.

        Raises:
            UnreadableError: a metric has too many values.
        """
        try:
            at = 0
            if record[0] == _NUMBERED:
                _, at = protobuf.read_varint(record, 1)
            tag = record[at]
            if tag == _HISTORY_TAG:
                size, at = record[at + 1], at + 2
                if size >= _MORE:
                    size, at = protobuf.read_varint(record, at - 1)
                self.history.add(record, at, at + size)
            elif tag not in _PASSED:
                self._add_other(memoryview(record))
        except (IndexError, protobuf.MalformedError):
            self._malformed += 1

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular or should be known."""
        yield from self.history.list_findings()
        # In the order of names, so that runs of one script say the same in the same words.
        for axis in sorted(set(self._axes.values())) if self.history.rows else ():
            drawn = join_names(
                [_quote(name) for name in sorted(self._axes) if self._axes[name] == axis], most=_FEW
            )
            message = f"the run draws {drawn} over {_quote(axis)}: steps here are _step"
            yield Finding(self._path, f"{message}, {self._suggest_axis(axis)}")
        if self._malformed:
            records = format_count(self._malformed, "record is", "records are")
            yield Finding(self._path, f"{records} malformed and left out")

    def _suggest_axis(self, axis: str) -> str:
        """How to draw over what the run draws over."""
        if axis == TIME:
            return 'and "x: time" in a block does the same'
        if not self.history.is_selected(axis):
            return f"and metrics: leaves {_quote(axis)} out"
        if self.history.is_empty(axis):
            return f"since {_quote(axis)} has no values"
        return f'and "x: {axis}" in a block does the same'

    def _add_other(self, record: memoryview) -> None:
        for field, content in protobuf.iterate_delimited(record):
            if field == _HISTORY:
                self.history.add(bytes(content), 0, len(content))
            elif field == _RUN:
                self._add_run(content)
            elif field == _CONFIG:
                self._add_config(content)
            elif field == _METRIC:
                self._add_axis(content)
            elif field == _EXIT:
                codes = (value for number, _, value in protobuf.iterate_fields(content) if number == 1)
                code = next(codes, 0)
                self.exit_code = protobuf.as_signed(code) if isinstance(code, int) else 0

    def _add_run(self, message: memoryview) -> None:
        for field, content in protobuf.iterate_delimited(message):
            if field == _RUN_CONFIG:
                self._add_config(content)
            elif field in {_ID, _PROJECT, _GROUP, _DISPLAY_NAME}:
                self.names[field] = protobuf.decode_text(content)

    def _add_config(self, message: memoryview) -> None:
        for field, item in protobuf.iterate_delimited(message):
            keys: list[str] = []
            value: object = None
            for part, content in protobuf.iterate_delimited(item):
                if part in {_KEY, _NESTED_KEY}:
                    keys.append(protobuf.decode_text(content))
                elif part == _VALUE_JSON:
                    value = _setting(bytes(content))
            # What wandb notes for itself is no setting of the user's.
            if keys and keys[0] != "_wandb":
                self._set(keys, value if field == _UPDATE else None)

    def _set(self, keys: list[str], value: object) -> None:
        tree = self.config
        for key in keys[:-1]:
            below = tree.get(key)
            if not isinstance(below, dict):
                below = tree[key] = {}
            tree = below
        tree[keys[-1]] = value

    def _add_axis(self, message: memoryview) -> None:
        texts: dict[int, str] = {}
        for field, wire, content in protobuf.iterate_fields(message):
            if field == _FROM_GLOB and content:
                return
            if wire == protobuf.DELIMITED and isinstance(content, memoryview):
                texts[field] = protobuf.decode_text(content) if field in {_NAME, _GLOB, _STEP_METRIC} else ""
        name = texts.get(_NAME) or texts.get(_GLOB)
        if name and texts.get(_STEP_METRIC, STEP) != STEP:
            self._axes[name] = texts[_STEP_METRIC]


def _setting(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _quote(name: str) -> str:
    return f'"{shorten(name, _LONGEST_NAME)}"'
