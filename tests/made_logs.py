"""Logs, stores and archives from readable text, as pages of cases have it: a line of JSON for each event."""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if sys.version_info >= (3, 14):
    from compression.zstd import compress as packed_zstandard
    from compression.zstd import decompress as unpacked_zstandard
else:
    import zstandard

    def packed_zstandard(data: bytes) -> bytes:
        """A Zstandard frame."""
        return zstandard.ZstdCompressor().compress(data)

    def unpacked_zstandard(data: bytes) -> bytes:
        """What Zstandard frames hold."""
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
EVENTS: Final = "events.out.tfevents.1700000000.host.1.0"
WALL: Final = 1.7e9

# Protocol Buffers


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


# Event files of TensorBoard, plainly and without what is under test.


def _make_crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # noqa: PLW2901 - the definition itself
        table.append(byte)
    return table


_CRC_TABLE: Final = _make_crc_table()


def calculate_crc(data: bytes) -> int:
    """The checksum CRC-32C, byte by byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def mask_crc(data: bytes) -> bytes:
    """The checksum as a file has it."""
    crc = calculate_crc(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(message: bytes) -> bytes:
    """A record."""
    length = struct.pack("<Q", len(message))
    return length + _mask_length(length) + message + mask_crc(message)


_mask_length = cache(mask_crc)


def simple(tag: bytes, value: float, more: bytes = b"") -> bytes:
    """A Summary.Value with a ``simple_value``."""
    with np.errstate(over="ignore"):
        return field(1, field(1, tag) + b"\x15" + np.float32(value).tobytes() + more)


def tensor(tag: bytes, kind: int, content: bytes, more: bytes = b"") -> bytes:
    """A Summary.Value with a scalar TensorProto."""
    return field(1, field(1, tag) + field(8, field(1, kind) + field(2, b"") + content) + more)


def plugin(name: bytes, content: bytes = b"") -> bytes:
    """SummaryMetadata."""
    return field(9, field(1, field(1, name) + (field(2, content) if content else b"")))


def event(step: int, *values: bytes, wall: float = WALL) -> bytes:
    """An Event with a Summary."""
    start = b"\x09" + struct.pack("<d", wall) + (field(2, step) if step else b"")
    return start + field(5, b"".join(values))


def hparams(settings: Mapping[str, object]) -> bytes:
    """The event that starts a session of the plugin ``hparams``."""
    pairs = b"".join(
        field(1, field(1, key) + field(2, _make_value(value))) for key, value in settings.items()
    )
    metadata = plugin(b"hparams", field(1, 0) + field(3, pairs))
    return event(0, field(1, field(1, b"_hparams_/session_start_info") + metadata))


def _make_value(value: object) -> bytes:
    """A google.protobuf.Value."""
    match value:
        case bool():
            return field(4, int(value))
        case None:
            return field(1, 0)
        case int() | float():
            return b"\x11" + struct.pack("<d", value)
        case str():
            return field(3, value)
        case list():
            return field(6, b"".join(field(1, _make_value(one)) for one in value))
        case dict():
            pairs = (field(1, field(1, key) + field(2, _make_value(one))) for key, one in value.items())
            return field(5, b"".join(pairs))
    raise TypeError(value)


VERSION: Final = b"\x09" + struct.pack("<d", WALL) + field(3, b"brain.Event:2")


def write_events(path: Path, messages: Iterable[bytes]) -> Path:
    """An event file, its folder and its version record included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(frame, [VERSION, *messages])))
    return path


def read_events(text: str) -> bytes:
    """An event file: a line for each event, with its step, wall time and scalars, or how a session began.

    A negative number at the end leaves out that many bytes.
    """
    *lines, last = map(json.loads, text.splitlines())
    cut = last if isinstance(last, int) else None
    messages = [_make_event(line) for line in lines + ([] if cut else [last])]
    return b"".join(map(frame, [VERSION, *messages]))[:cut]


def _make_event(line: dict[str, Any]) -> bytes:
    if "hparams" in line:
        return hparams(line["hparams"])
    step, wall, status = (
        line.pop(key, other) for key, other in (("step", 0), ("wall", WALL), ("session", 0))
    )
    session = field(7, field(1, status)) if status else b""
    values = (simple(tag.encode("utf-8", "surrogateescape"), value) for tag, value in line.items())
    return event(step, *values, wall=wall) + session


# Logs of W&B, as wandb writes them: records of Protocol Buffers in a LevelDB log

HEADER: Final = b":W&B\xe1\xbe\x00"
BLOCK: Final = 32 << 10
_HEAD: Final = 7
_HISTORY, _CONFIG, _METRIC, _RUN, _EXIT = 2, 5, 12, 17, 18


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


def _settings(values: Mapping[str, object]) -> bytes:
    return b"".join(field(1, item(key, value)) for key, value in values.items())


def _leaves(row: Mapping[str, Any]) -> Iterable[tuple[list[str], object]]:
    for key, value in row.items():
        if isinstance(value, dict) and value:
            yield from (([key, *keys], leaf) for keys, leaf in _leaves(value))
        else:
            yield [key], value


def read_wandb(text: str, *, nested: bool = False) -> bytes:
    """A log of W&B: a line of JSON for the run, one for each record, and a number where it ends.

    A record is a row of the history, ``{"define": …}`` of an axis, or ``{"update": …, "remove": …}`` of the
    settings; ``row`` in a row is its own step. A negative number at the end leaves out that many bytes.
    """
    write_row = nested_history if nested else history
    lines, records, cut = [*map(json.loads, text.splitlines())], list[bytes](), None
    for number, row in enumerate(lines, -1):
        if row is None:
            continue
        if isinstance(row, int) and row < 0:
            cut = row
        elif isinstance(row, int):
            records.append(ended(row))
        elif number == -1 or "config" in row:
            named = {"id_" if key == "id" else key: value for key, value in row.items() if key != "config"}
            records.append(run(row.get("config", {}), **named))
        elif "define" in row:
            records.append(metric(**row["define"]))
        elif "update" in row:
            records.append(config(row["update"], row.get("remove", ())))
        else:
            step = row.pop("row", row.get("_step", number))
            records.append(write_row(row, step if isinstance(step, int) else None))
    return log(numbered(records))[:cut]


# Databases

# As the writers' migrations leave the tables (mlflow/store/db_migrations), without what is not read.
MLFLOW: Final = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256) NOT NULL UNIQUE,
    lifecycle_stage VARCHAR(32));
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9),
    lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
    run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT metric_pk PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE TABLE params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
    PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL,
    PRIMARY KEY (key, run_uuid));
"""
# As trackio/sqlite_storage.py makes the tables, from version 0.24 on.
TRACKIO: Final = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
    run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE INDEX idx_metrics_run_step ON metrics(run_id, step);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL,
    config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL,
    timestamp TEXT NOT NULL, run_name TEXT NOT NULL, metrics TEXT NOT NULL);
"""


def write_database(text: str) -> bytes:
    """Statements of SQL as the database that they make; a line ``-- N bytes`` at the end cuts it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(text)
        cut = re.search(r"^-- (\d+) bytes\n\Z", text, re.MULTILINE)
        return path.read_bytes()[: int(cut[1]) if cut else None]


# Archives: a line ``%% name`` before the text of each member


def zipped(members: Mapping[str, bytes], method: int = DEFLATED, flags: int = 0) -> bytes:
    """A zip archive, byte by byte, since zipfile writes no Zstandard before Python 3.14.

    Args:
        members: content by name.
        method: how each is packed.
        flags: general purpose bits; 1 says that it is encrypted.
    """
    body, directory = b"", b""
    for name, content in members.items():
        packed = _pack(content, method)
        sizes = (zlib.crc32(content), len(packed), len(content))
        own = name.encode()
        central = (b"PK\x01\x02", 20, 20, flags, method, 0, 33, *sizes, len(own), 0, 0, 0, 0, 0, len(body))
        directory += struct.pack("<4s6H3L5H2L", *central) + own
        body += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, flags, method, 0, 33, *sizes, len(own), 0)
        body += own + packed
    count = len(members)
    return (
        body
        + directory
        + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    )


def read_zip(data: bytes) -> dict[str, bytes]:
    """The members of a zip archive, also of those that Zstandard packs."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for one in archive.infolist():
            if one.compress_type != ZSTANDARD:
                found[one.filename] = archive.read(one)
                continue
            start = one.header_offset + 30 + sum(struct.unpack_from("<2H", data, one.header_offset + 26))
            found[one.filename] = unpacked_zstandard(data[start : start + one.compress_size])
    return found


def _pack(content: bytes, method: int) -> bytes:
    """The content of a member as a method packs it."""
    if method == DEFLATED:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        return compressor.compress(content) + compressor.flush()
    return packed_zstandard(content) if method == ZSTANDARD else content


def _split_members(text: str) -> tuple[dict[str, bytes], int | None]:
    """Return members by name, and how many bytes a line ``-- N bytes`` at the end leaves of the archive."""
    text, _, cut = text.partition("\n-- ")
    _, *parts = re.split(r"^%% ([^\n]+)\n", text + "\n" * bool(cut), flags=re.MULTILINE)
    contents = {
        json.loads(f'"{name}"'): content.encode()
        for name, content in zip(parts[::2], parts[1::2], strict=True)
    }
    return contents, int(cut.split()[0]) if cut else None


def write_zip(text: str, method: int = DEFLATED) -> bytes:
    """Members as a zip archive."""
    members, size = _split_members(text)
    return zipped(members, method)[:size]


def write_tar(text: str) -> bytes:
    """Members as a tar archive; one with the text ``-> name`` is a link."""
    file, (members, size) = io.BytesIO(), _split_members(text)
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if content.startswith(b"-> "):
                info.type, info.linkname = tarfile.SYMTYPE, content[3:].decode().strip()
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()[:size]


ARCHIVES: Final = {
    "zip": write_zip,
    "zip_stored": lambda text: write_zip(text, STORED),
    "zip_zstd": lambda text: write_zip(text, ZSTANDARD),
    "tar": write_tar,
    "tar_gz": lambda text: gzip.compress(write_tar(text), mtime=0),
    "tar_zst": lambda text: packed_zstandard(write_tar(text)),
}
