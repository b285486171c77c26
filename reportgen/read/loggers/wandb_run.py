"""Runs of Weights & Biases on disk: ``run-DATE_TIME-ID/run-ID.wandb``, written offline or online.

Source: wandb/proto/wandb_internal.proto of wandb/wandb for the records, see ``wandb_records``; ``record_log``
has the file around them. The log is complete in itself: ``files/config.yaml`` beside it is only read where
the log says nothing of the configuration, as where the run was killed at once. Steps are ``_step``, which
counts calls of ``log``; a metric that the run draws over, such as an epoch, is a metric here, too.
"""

from __future__ import annotations

import re
from collections import Counter
from filecmp import cmp
from typing import TYPE_CHECKING, Final

from reportgen.read.logged import Finding, LoggedRun, Unit
from reportgen.read.loggers.record_log import RecordLog, is_log
from reportgen.read.loggers.settings_beside import flatten, read_settings
from reportgen.read.loggers.text_file import read_head
from reportgen.read.loggers.wandb_history import STEP
from reportgen.read.loggers.wandb_records import RunRecords
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.logged import Setting

NAME: Final = "wandb"
TITLE: Final = "Weights & Biases runs"

_PREFIX: Final = "run-"
_ENDING: Final = ".wandb"
_FOLDER: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+")
_FILE: Final = re.compile(r"run-(.+)\.wandb")
_LATEST: Final = "latest-run"
_CONFIG_FILE: Final = ("files", "config.yaml")
# A line of config.yaml: ``lr: {desc: null, value: 0.001}``.
_SETTING: Final = re.compile(r"(?P<name>.+?)\.value(?P<within>\..+)?", re.DOTALL)


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every ``.wandb`` file, known by the run's folder where that has its usual name and no other."""
    logs = [file for file in files if file.suffix == _ENDING and _may_be_log(file)]
    logs = [log for log in logs if not _is_copy(log, logs)]
    logs_in = Counter(file.parent for file in logs)
    there = set(files)
    found = []
    for log in logs:
        folder = log.parent
        own = bool(_FOLDER.fullmatch(folder.name)) and logs_in[folder] == 1
        config = folder.joinpath(*_CONFIG_FILE)
        extra = (config,) if own and config in there else ()
        found.append(Unit(NAME, folder if own else log, (log, *extra)))
    return tuple(found)


def _may_be_log(file: Path) -> bool:
    """Whether W&B called a file so, even if its beginning is damaged, or it begins as a log does."""
    return file.name.startswith(_PREFIX) or is_log(read_head(file))


def _is_copy(log: Path, logs: Sequence[Path]) -> bool:
    """Whether a log is that of a run beside it: a copied folder often has one for a link."""
    return log.parent.name == _LATEST and any(
        other.name == log.name
        and other.parent.parent == log.parent.parent
        and other != log
        and cmp(other, log, shallow=False)
        for other in logs
    )


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a unit.

    Raises:
        UnreadableError: the file is no log of wandb, or goes beyond a limit.
    """
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
        name=records.name,
        id=records.id or _id_in(path),
        group=records.group,
        config=config,
        metrics=metrics,
        step_name=STEP,
        findings=tuple(findings),
    )


def _id_in(path: Path) -> str:
    """The id of a run by the name of its file; empty where the file has another name."""
    match = _FILE.fullmatch(path.name)
    return match[1] if match else ""


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
        return  # already told
    ended = records.exit_code is not None
    remainder = f"; {format_count(len(config), 'setting')} of it can be read" if config else ""
    how = (
        "ended without logging anything" if ended else "was killed before it logged anything, or just starts"
    )
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
