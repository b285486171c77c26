"""Runs of Weights & Biases on disk: ``run-DATE_TIME-ID/run-ID.wandb``, written offline or online.

Source: ``Record`` and the messages within it in wandb/proto/wandb_internal.proto of wandb/wandb;
``record_log``
has the file around them. The log is complete in itself: ``files/config.yaml`` is only read where the log says
nothing of the configuration, as where the run was killed at once. Steps are ``_step``, which counts calls of
``log``; a metric that the run draws over, such as an epoch, is a metric here, too. What is not needed is
passed over by its tag: summary, console, files, system metrics, telemetry and requests.
"""

from __future__ import annotations

import re
from collections import Counter
from filecmp import cmp
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.formats.binary import protobuf
from reportgen.formats.binary.record_log import RecordLog, is_log
from reportgen.formats.json_files import parse_or_none
from reportgen.formats.run_data import FEW_NAMES, flatten, quote_metric, read_settings
from reportgen.formats.runs import Finding, LoggedRun, Unit
from reportgen.formats.text_files import read_head
from reportgen.formats.trackers.wandb_history import STEP, TIME, History

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Setting


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


class RunRecords:
    """A run as its log describes it, record by record; a later value replaces an earlier one.

    Attributes:
        names: texts of the run record by field.
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

    def add(self, record: bytes) -> None:
        """Take a whole record; raises ``UnreadableError`` where a metric has too many values."""
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
            names = [quote_metric(name) for name in sorted(self._axes) if self._axes[name] == axis]
            drawn = join_names(names, most=FEW_NAMES)
            message = f"the run draws {drawn} over {quote_metric(axis)}: steps here are _step"
            yield Finding(self._path, f"{message}, {self._suggest_axis(axis)}")
        if self._malformed:
            records = format_count(self._malformed, "record is", "records are")
            yield Finding(self._path, f"{records} malformed and left out")

    def _suggest_axis(self, axis: str) -> str:
        """How to draw over what the run draws over."""
        if axis == TIME:
            return 'and "x: time" in a block does the same'
        if not self.history.is_selected(axis):
            return f"and metrics: leaves {quote_metric(axis)} out"
        if self.history.is_empty(axis):
            return f"since {quote_metric(axis)} has no values"
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
                    value = parse_or_none(bytes(content))
            # What wandb notes for itself is no setting of the user's.
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


NAME: Final = "wandb"
TITLE: Final = "Weights & Biases runs"

_FOLDER: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+")
_FILE: Final = re.compile(r"run-(.+)\.wandb")
_LATEST: Final = "latest-run"
# A line of config.yaml: ``lr: {desc: null, value: 0.001}``.
_SETTING: Final = re.compile(r"(?P<name>.+?)\.value(?P<within>\..+)?", re.DOTALL)


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every ``.wandb`` file, known by the run's folder where that has its usual name and no other."""
    # W&B called a file so, even if its beginning is damaged, or it begins as a log does.
    logs = [
        file
        for file in files
        if file.suffix == ".wandb" and (file.name.startswith("run-") or is_log(read_head(file)))
    ]
    logs = [log for log in logs if not _is_copy(log, logs)]
    logs_in = Counter(file.parent for file in logs)
    existing = set(files)
    units = []
    for log in logs:
        folder = log.parent
        own = bool(_FOLDER.fullmatch(folder.name)) and logs_in[folder] == 1
        config = folder / "files" / "config.yaml"
        extra = (config,) if own and config in existing else ()
        units.append(Unit(NAME, folder if own else log, (log, *extra)))
    return tuple(units)


def _is_copy(log: Path, logs: Sequence[Path]) -> bool:
    """Whether a log is that of a run next to it: a copied folder often has one for a link."""
    return log.parent.name == _LATEST and any(
        other.name == log.name
        and other.parent.parent == log.parent.parent
        and other != log
        and cmp(other, log, shallow=False)
        for other in logs
    )


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a unit."""
    path, *config_files = unit.files
    log, records = RecordLog(path), RunRecords(path, selected)
    for record in log:
        records.add(record)
    config = flatten(records.config)
    findings = [*log.list_findings(), *records.list_findings()]
    if not config and config_files:
        config, problems = _read_config(config_files[0])
        findings += problems
    metrics = records.history.build()
    findings += _report_ending(path, log, records, config)
    if records.history.rows and not metrics and selected is None:
        rows = format_count(records.history.rows, "row holds", "rows hold")
        findings.append(Finding(path, f"{rows} no numbers, but images, tables, texts or the like"))
    yield LoggedRun(
        path=unit.path,
        # An offline run may have no name yet; an id is shared by a resumed run and its beginning.
        name=records.names.get(_DISPLAY_NAME, ""),
        id=records.names.get(_ID) or (match[1] if (match := _FILE.fullmatch(path.name)) else ""),
        group=records.names.get(_GROUP) or records.names.get(_PROJECT, ""),
        config=config,
        metrics=metrics,
        step_name=STEP,
        findings=tuple(findings),
    )


def _report_ending(
    path: Path, log: RecordLog, records: RunRecords, config: Mapping[str, Setting]
) -> Iterator[Finding]:
    """How the run ended, where that was not well."""
    if records.exit_code:
        yield Finding(path, f"the run failed: it ended with exit code {records.exit_code}")
    if records.history.rows:
        if records.exit_code is None and not log.torn:
            yield Finding(path, "the log has no end: the run was killed, or is still running")
        return
    if log.torn and not log.records:
        return  # already reported
    remainder = f"; {format_count(len(config), 'setting')} of it can be read" if config else ""
    how = "was killed before it logged anything, or just starts"
    if records.exit_code is not None:
        how = "ended without logging anything"
    yield Finding(path, f"the run {how}{remainder}")


def _read_config(path: Path) -> tuple[dict[str, Setting], tuple[Finding, ...]]:
    """The settings of a ``config.yaml``, without what wandb notes for itself."""
    settings, findings = read_settings(path)
    found = {
        match["name"] + (match["within"] or ""): value
        for name, value in settings.items()
        if (match := _SETTING.fullmatch(name)) and match["name"] != "_wandb"
    }
    return found, findings
