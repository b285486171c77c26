"""What the plugin ``hparams`` keeps of a run's settings.

Source: TensorBoard, tensorboard/plugins/hparams/plugin_data.proto; google/protobuf/struct.proto.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reportgen.read.loggers.protobuf import (
    DELIMITED,
    FIXED64,
    VARINT,
    decode_double,
    decode_text,
    iterate_delimited,
    iterate_fields,
)
from reportgen.read.loggers.settings_beside import as_json_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.read.logged import Setting

_SESSION_START: Final = 3
_HPARAMS: Final = 1
_KEY, _VALUE = 1, 2
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 2, 3, 4, 5, 6
_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 20


def read_hyperparameters(plugin_data: memoryview) -> Iterator[tuple[str, Setting]]:
    """Hyperparameters of a session's start, nested names joined by dots; other data have none.

    Numbers are kept as doubles there: one without a fraction comes back as an int. A list becomes JSON.

    Raises:
        MalformedError: it is no such message.
    """
    for number, session in iterate_delimited(plugin_data):
        if number == _SESSION_START:
            for part, entry in iterate_delimited(session):
                if part == _HPARAMS:
                    name, value = _parse_entry(entry, 0)
                    yield from _flatten(name, value)


def _parse_entry(entry: memoryview, depth: int) -> tuple[str, object]:
    """The key and the value of a map's entry."""
    name, value = "", None
    for number, content in iterate_delimited(entry):
        if number == _KEY:
            name = decode_text(content)
        elif number == _VALUE:
            value = _parse_value(content, depth)
    return name, value


def _parse_value(message: memoryview, depth: int) -> object:
    """A google.protobuf.Value: text, bool, int, float, dict or list; None for null and beyond any depth."""
    value: object = None
    for number, wire, content in iterate_fields(message):
        if isinstance(content, int):
            value = bool(content) if number == _BOOL and wire == VARINT else None
        elif number == _NUMBER and wire == FIXED64:
            value = _as_int(decode_double(content))
        elif number == _STRING and wire == DELIMITED:
            value = decode_text(content)
        elif number in {_STRUCT, _LIST} and wire == DELIMITED and depth < _DEEPEST:
            inner = [part for one, part in iterate_delimited(content) if one == 1]
            if number == _STRUCT:
                value = dict(_parse_entry(part, depth + 1) for part in inner)
            else:
                value = [_parse_value(part, depth + 1) for part in inner]
    return value


def _as_int(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) <= _MOST_EXACT else value


def _flatten(name: str, value: object) -> Iterator[tuple[str, Setting]]:
    if isinstance(value, str | int | float):
        yield name, as_json_setting(value)
    elif isinstance(value, list):
        yield name, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for inner, part in value.items():
            yield from _flatten(f"{name}.{inner}", part)
