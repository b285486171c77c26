"""Runs of Weights & Biases on disk: ``run-DATE_TIME-ID/run-ID.wandb``, written offline or online.

Source: ``Record`` and its nested messages in wandb/proto/wandb_internal.proto of wandb/wandb, in a record
log: "leveldb Log format" (doc/log_format.md of google/leveldb), as implemented in core/pkg/leveldb of
wandb/wandb. The log starts with ``:W&B``, 0xBEE1 (little-endian) and a version byte. Blocks of 32 KiB,
counted from the first byte of the file, hold chunks of CRC-32 (4 bytes), length (2), kind (1) and data. A
record is one chunk (full) or several (first, middle, last). Unlike LevelDB's own, the CRC is plain CRC-32
(IEEE, not Castagnoli, not masked) of kind and data. Fewer bytes than a chunk's header at the end of a block
are padding. The log is complete in itself: ``files/config.yaml`` is read only if the log has no
configuration, as when the run was killed at once. Steps are ``_step``, which counts calls of ``log``; a
metric used as the run's x axis, such as an epoch, is a metric here, too. Other records are skipped by their
tag: summary, console, files, system metrics, telemetry and requests.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.formats import decode, protobuf
from reportgen.formats.decode import LARGEST_PART, Count
from reportgen.formats.json_files import parse_or_none
from reportgen.formats.run_data import FEW_NAMES, flatten, quote_metric, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn
from reportgen.formats.trackers.wandb_history import STEP, TIME, History

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


HEADER: Final = b":W&B\xe1\xbe\x00"
_MAGIC: Final = HEADER[:-1]
BLOCK: Final = 32 << 10
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

_CHUNK: Final = Struct("<IHB")
_SEEDS: Final = {kind: zlib.crc32(bytes([kind])) for kind in (FULL, FIRST, MIDDLE, LAST)}
# Bytes that are read at once; a multiple of a block.
_PIECE: Final = 128 * BLOCK
# Possible kinds of a chunk, to search for the next whole one, in at most this many damaged places.
_ANY_KIND: Final = re.compile(rb"[\x01-\x04]")
_MOST_SEARCHES: Final = 100


def _read_chunk(block: bytes, at: int) -> tuple[int, int, bytes, bool]:
    """Return kind, length and data of the chunk at a position of a block, and whether it is whole."""
    crc, length, kind = _CHUNK.unpack_from(block, at)
    data = block[at + _CHUNK.size : at + _CHUNK.size + length]
    whole = kind in _SEEDS and len(data) == length and zlib.crc32(data, _SEEDS[kind]) == crc
    return kind, length, data, whole


class RecordLog:
    """Whole records of a file in the order of writing; ``records`` counts those read so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records = 0
        self._gaps: list[range] = []
        self._searches = 0
        # Start of the bytes lost since the last whole record, and whether data only ends too early.
        self._lost_from: int | None = None
        self._cut = False
        # The record that is being assembled, and where it starts.
        self._record: bytearray | None = None
        self._begun = self._read = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield whole records; raise ``UnreadableError`` if it is not a log or a record is too large."""
        base = 0
        with decode.explain_os_errors(self._path), self._path.open("rb") as file:
            piece = file.read(_PIECE)
            decode.refuse_pointer(self._path, piece, "the run itself")
            header = piece[: len(HEADER)]
            if header[:-1] == _MAGIC and header != HEADER:
                message = f"it is a log of wandb in version {header[-1]}, which reportgen does not know"
                raise UnreadableError(self._path, message, "Export the charts of the run as CSV instead")
            if not HEADER.startswith(header):
                message = "it does not begin as a log of wandb does"
                raise UnreadableError(self._path, message, "Copy the file again")
            at = len(header)
            while piece:
                for start in range(0, len(piece), BLOCK):
                    yield from self._read_block(piece[start : start + BLOCK], at, base + start)
                    at = 0
                base += len(piece)
                # A short piece is the end, even if the file grows meanwhile.
                piece = file.read(_PIECE) if len(piece) == _PIECE else b""
        self._read = base
        if self._lost_from is not None and not (self.records or self._cut):
            message = f"the file is damaged from byte {self._lost_from + 1:,} on: no whole record is in it"
            raise UnreadableError(self._path, message, "Copy the file again")

    @property
    def torn(self) -> bool:
        """Whether the end of the file is torn or damaged; valid after the last record."""
        return self._lost_from is not None or self._record is not None or 0 < self._read < len(HEADER)

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield findings about torn or damaged parts; complete after the last record."""
        if self._gaps:
            lost = format_count(sum(map(len, self._gaps)), "byte")
            where = f"at byte {self._gaps[0].start + 1:,}"
            if len(self._gaps) > 1:
                where = f"in {format_count(len(self._gaps), 'place')}, the first {where}"
            message = f"the file is damaged {where}: {lost} there cannot be read; the records behind are read"
            yield warn(self._path, message)
        if self.torn:
            message = "the last record is torn: the run was killed while writing, or is still running"
            if self._lost_from is not None and not self._cut:
                left = format_count(self._read - self._lost_from, "byte")
                message = f"a record is damaged, and the last {left} of the file cannot be read"
            before = "the one before it is read" if self.records else "there is no whole one before it"
            if self.records > 1:
                before = f"the {self.records:,} whole ones before it are read"
            yield warn(self._path, f"{message}; {before}")

    def _read_block(self, block: bytes, at: int, base: int) -> list[bytes]:
        """Return the records that end in a block, from ``at``; after damage, from the next whole chunk on."""
        records: list[bytes] = []
        head = _CHUNK.size
        while at + head <= len(block):
            kind, length, data, whole = _read_chunk(block, at)
            if not whole:
                ends_early = kind in _SEEDS and len(data) < length and len(block) < BLOCK
                self._start_gap(base + at, cut=ends_early or not any(block[at:]))
                # Continue with the next whole chunk, or at the end of the block if there is none.
                self._searches += 1
                matches = _ANY_KIND.finditer(block, at + head) if self._searches <= _MOST_SEARCHES else ()
                starts = (match.end() - head for match in matches)
                at = next((start for start in starts if _read_chunk(block, start)[-1]), len(block))
                continue
            if kind in {FULL, FIRST}:
                if self._record is not None:
                    self._start_gap(self._begun)
                if self._lost_from is not None:
                    self._gaps.append(range(self._lost_from, base + at))
                    self._lost_from = None
                self._begun, self._record = base + at, bytearray()
            if self._record is None:
                # The rest of a record whose start is lost.
                self._start_gap(base + at)
            else:
                self._record += data
                # About three times as much memory is used while a record is parsed.
                if len(self._record) > LARGEST_PART:
                    message = f"a record is larger than {decode.format_mebibytes(LARGEST_PART)}"
                    raise UnreadableError(self._path, message, "Copy the file again, or leave it out")
                if kind in {FULL, LAST}:
                    records.append(bytes(self._record))
                    self._record = None
            at += head + length
        if at < len(block) < BLOCK:
            self._start_gap(base + at, cut=True)
        self.records += len(records)
        return records

    def _start_gap(self, at: int, *, cut: bool = False) -> None:
        """Note that bytes are lost from here until a record starts."""
        if self._lost_from is None:
            self._lost_from = at if self._record is None else self._begun
            self._cut = cut
        self._record = None


_NUMBERED: Final = 0x08
_MORE: Final = 0x80
_HISTORY, _CONFIG, _METRIC, _RUN, _EXIT = 2, 5, 12, 17, 18
_HISTORY_TAG: Final = _HISTORY << 3 | protobuf.DELIMITED
# Summary, console (both ways), files, system metrics, telemetry: most of a log apart from the history.
_PASSED: Final = frozenset(field << 3 | protobuf.DELIMITED for field in (3, 4, 6, 7, 11, 13))
# Fields of a run: id, project, configuration, group, display name.
_ID, _PROJECT, _RUN_CONFIG, _GROUP, _DISPLAY_NAME = 1, 3, 4, 6, 8
_UPDATE = 1
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
_NAME, _GLOB, _STEP_METRIC, _FROM_GLOB = 1, 2, 4, 10


class RunRecords:
    """Run as its log describes it, record by record; a later value replaces an earlier one."""

    def __init__(self, path: Path, selected: Collection[str] | None) -> None:
        self.names: dict[int, str] = {}  # texts of the run record by field
        self.config: dict[str, Any] = {}
        self.history = History(path, selected)
        self.exit_code: int | None = None  # None if the run did not end
        self._path = path
        self._axes: dict[str, str] = {}
        self._malformed = 0

    def add(self, record: bytes) -> None:
        """Add a whole record; raise ``UnreadableError`` if a metric has too many values."""
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

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield irregularities and notes on the x axis."""
        yield from self.history.list_findings()
        # Sorted by name, so that runs of one script have the same messages.
        for axis in sorted(set(self._axes.values())) if self.history.rows else ():
            names = [quote_metric(name) for name in sorted(self._axes) if self._axes[name] == axis]
            drawn = join_names(names, most=FEW_NAMES)
            how = f'and "x: {"time" if axis == TIME else axis}" in a block does the same'
            if axis != TIME and not self.history.is_selected(axis):
                how = f"and metrics: leaves {quote_metric(axis)} out"
            elif axis != TIME and self.history.is_empty(axis):
                how = f"since {quote_metric(axis)} has no values"
            message = f"the run draws {drawn} over {quote_metric(axis)}: steps here are _step, {how}"
            yield warn(self._path, message)
        malformed = Count(self._malformed)
        yield from malformed.describe(self._path, "record is", "records are", " malformed and left out")

    def _add_other(self, record: memoryview) -> None:
        for field, content in protobuf.iterate_delimited(record):
            if field == _HISTORY:
                self.history.add(bytes(content), 0, len(content))
            elif field == _RUN:
                for part, text in protobuf.iterate_delimited(content):
                    if part == _RUN_CONFIG:
                        self._add_config(text)
                    elif part in {_ID, _PROJECT, _GROUP, _DISPLAY_NAME}:
                        self.names[part] = protobuf.decode_text(text)
            elif field == _CONFIG:
                self._add_config(content)
            elif field == _METRIC:
                self._add_axis(content)
            elif field == _EXIT:
                codes = (value for number, _, value in protobuf.iterate_fields(content) if number == 1)
                code = next(codes, 0)
                self.exit_code = protobuf.as_signed(code) if isinstance(code, int) else 0

    def _add_config(self, message: memoryview) -> None:
        for field, item in protobuf.iterate_delimited(message):
            keys: list[str] = []
            value: object = None
            for part, content in protobuf.iterate_delimited(item):
                if part in {_KEY, _NESTED_KEY}:
                    keys.append(protobuf.decode_text(content))
                elif part == _VALUE_JSON:
                    value = parse_or_none(bytes(content))
            # wandb's own notes are not settings of the user.
            if not keys or keys[0] == "_wandb":
                continue
            tree = self.config
            for key in keys[:-1]:
                if not isinstance(tree.get(key), dict):
                    tree[key] = {}
                tree = tree[key]
            tree[keys[-1]] = value if field == _UPDATE else None

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


_FOLDER: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+")
_FILE: Final = re.compile(r"run-(.+)\.wandb")
_LATEST: Final = "latest-run"
# A line of config.yaml: ``lr: {desc: null, value: 0.001}``.
_SETTING: Final = re.compile(r"(?P<name>.+?)\.value(?P<within>\..+)?", re.DOTALL)


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return every ``.wandb`` file, named by the run's folder if that has its usual name and no other log."""
    # Files that W&B named, even if their start is damaged, and files that start as a log does or should:
    # empty, cut off, or a Git LFS pointer.
    logs = [
        file
        for file in files
        if file.suffix == ".wandb"
        and (
            file.name.startswith("run-")
            or _MAGIC.startswith((beginning := decode.read_head(file))[: len(_MAGIC)])
            or decode.is_pointer(beginning)
        )
    ]
    # A copied folder often has a copy of a run in place of the link to the latest one.
    logs = [
        log
        for log in logs
        if log.parent.name != _LATEST
        or not any(
            other.name == log.name and other.parent.parent == log.parent.parent and other != log
            for other in logs
        )
    ]
    logs_in = Counter(file.parent for file in logs)
    existing = set(files)
    units = []
    for log in logs:
        folder = log.parent
        own = bool(_FOLDER.fullmatch(folder.name)) and logs_in[folder] == 1
        config = folder / "files" / "config.yaml"
        extra = (config,) if own and config in existing else ()
        units.append(Unit(folder if own else log, (log, *extra)))
    return tuple(units)


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a unit."""
    path, *config_files = unit.files
    log, records = RecordLog(path), RunRecords(path, unit.selected)
    for record in log:
        records.add(record)
    config = flatten(records.config)
    findings = [*log.list_findings(), *records.list_findings()]
    if not config and config_files:
        settings, problems = read_settings(config_files[0])
        matches = ((_SETTING.fullmatch(name), value) for name, value in settings.items())
        config = {
            match["name"] + (match["within"] or ""): value
            for match, value in matches
            if match and match["name"] != "_wandb"
        }
        findings += problems
    metrics = records.history.build()
    if records.exit_code:
        findings.append(warn(path, f"the run failed: it ended with exit code {records.exit_code}"))
    rows = records.history.rows
    if rows and records.exit_code is None and not log.torn:
        findings.append(warn(path, "the log has no end: the run was killed, or is still running"))
    elif not rows and (log.records or not log.torn):  # otherwise already reported
        remainder = f"; {format_count(len(config), 'setting')} of it can be read" if config else ""
        how = "ended without logging anything"
        if records.exit_code is None:
            how = "was killed before it logged anything, or has just started"
        findings.append(warn(path, f"the run {how}{remainder}"))
    if rows and not metrics and unit.selected is None:
        rest = " no numbers, but images, tables, texts or the like"
        findings += Count(rows).describe(path, "row holds", "rows hold", rest)
    # An offline run may have no name yet; a resumed run has the same id as its first part.
    name = records.names.get(_DISPLAY_NAME, "")
    run_id = records.names.get(_ID) or (match[1] if (match := _FILE.fullmatch(path.name)) else "")
    group = records.names.get(_GROUP) or records.names.get(_PROJECT, "")
    yield LoggedRun(unit.path, name, run_id, group, config, metrics, STEP, tuple(findings))
