"""Logs of W&B runs, byte by byte as wandb writes them: records of Protocol Buffers in a LevelDB log."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

HEADER: Final = b":W&B\xe1\xbe\x00"
BLOCK: Final = 32 << 10
_HEAD: Final = 7
_HISTORY, _SUMMARY, _CONFIG, _METRIC, _RUN, _EXIT = 2, 3, 5, 12, 17, 18


def varint(value: int) -> bytes:
    """An unsigned number, seven bits a byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, content: bytes | str | int) -> bytes:
    """A field of a message: a text, a message within, or a number."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content & (1 << 64) - 1)
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def item(keys: str | Iterable[str], value: object, *, nested: bool = False) -> bytes:
    """An item of a history, a summary or a configuration."""
    named = [field(1, keys)] if isinstance(keys, str) and not nested else []
    parts = [] if named else [keys] if isinstance(keys, str) else list(keys)
    text = value.decode() if isinstance(value, bytes) else json.dumps(value, separators=(",", ":"))
    return b"".join([*named, *(field(2, part) for part in parts), field(16, text)])


def history(row: Mapping[str, object], step: int | None = None) -> bytes:
    """A row of the history as wandb wrote it up to 0.17: nested values as JSON objects."""
    return row_of((item(key, value) for key, value in row.items()), step)


def nested_history(row: Mapping[str, Any], step: int | None = None) -> bytes:
    """A row as wandb writes it since 0.18: every key in parts."""
    return row_of((item(keys, value, nested=True) for keys, value in _leaves(row)), step)


def row_of(items: Iterable[bytes], step: int | None = None) -> bytes:
    """A row of items; ``step`` is the row's own field, whose number is left out where it is 0."""
    told = b"" if step is None else field(2, field(1, step) if step else b"")
    return field(_HISTORY, b"".join(field(1, one) for one in items) + told)


def summary(values: Mapping[str, object]) -> bytes:
    """A summary, which recent wandb writes beside every row."""
    return field(_SUMMARY, b"".join(field(1, item(key, value)) for key, value in values.items()))


def config(update: Mapping[str, object], remove: Iterable[str] = ()) -> bytes:
    """A change of the configuration."""
    return field(_CONFIG, _settings(update) + b"".join(field(2, field(1, key)) for key in remove))


def run(
    settings: Mapping[str, object], *, id_: str = "abc", project: str = "p", group: str = "", name: str = ""
) -> bytes:
    """The record that a run begins with."""
    told = field(1, id_) + field(3, project) + field(4, _settings(settings))
    return field(_RUN, told + (field(6, group) if group else b"") + (field(8, name) if name else b""))


def metric(name: str = "", *, glob: str = "", step_metric: str = "") -> bytes:
    """What ``define_metric`` writes."""
    named = field(1, name) if name else field(2, glob)
    return field(_METRIC, named + (field(4, step_metric) if step_metric else b""))


def ended(code: int = 0) -> bytes:
    """The record that a run ends with."""
    return field(_EXIT, field(1, code) if code else b"")


def numbered(records: Iterable[bytes]) -> list[bytes]:
    """Records with their numbers, as wandb writes them since 0.13."""
    return [field(1, number) + record for number, record in enumerate(records, 1)]


def log(records: Iterable[bytes]) -> bytes:
    """A whole file."""
    data = bytearray(HEADER)
    for record in records:
        rest, begun = memoryview(record), False
        while True:
            left = BLOCK - len(data) % BLOCK
            if left < _HEAD:
                data += bytes(left)
                left = BLOCK
            chunk, rest = rest[: left - _HEAD], rest[left - _HEAD :]
            kind = (3 if rest else 4) if begun else (2 if rest else 1)
            data += struct.pack("<IHB", zlib.crc32(bytes([kind]) + chunk), len(chunk), kind) + chunk
            begun = True
            if not rest:
                break
    return bytes(data)


def write(path: Path, records: Iterable[bytes]) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log(records))
    return path


def _settings(values: Mapping[str, object]) -> bytes:
    return b"".join(field(1, item(key, value)) for key, value in values.items())


def _leaves(row: Mapping[str, Any]) -> Iterable[tuple[list[str], object]]:
    for key, value in row.items():
        if isinstance(value, dict) and value:
            yield from (([key, *keys], leaf) for keys, leaf in _leaves(value))
        else:
            yield [key], value
