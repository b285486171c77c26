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

from reportgen.read.logged import Finding, Logged, Unit
from reportgen.read.loggers.record_log import RecordLog, may_be_log
from reportgen.read.loggers.settings_beside import flattened, settings_of
from reportgen.read.loggers.text_file import head
from reportgen.read.loggers.wandb_history import STEP
from reportgen.read.loggers.wandb_records import Records
from reportgen.words import counted

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
_CONFIG: Final = ("files", "config.yaml")
# A line of config.yaml: ``lr: {desc: null, value: 0.001}``.
_SETTING: Final = re.compile(r"(?P<name>.+?)\.value(?P<within>\..+)?", re.DOTALL)


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Every ``.wandb`` file, known by the run's folder where that has its usual name and no other."""
    logs = [file for file in files if file.suffix == _ENDING and _may_be_log(file)]
    logs = [log for log in logs if not _is_copy(log, logs)]
    logs_in = Counter(file.parent for file in logs)
    there = set(files)
    found = []
    for log in logs:
        folder = log.parent
        own = bool(_FOLDER.fullmatch(folder.name)) and logs_in[folder] == 1
        config = folder.joinpath(*_CONFIG)
        beside = (config,) if own and config in there else ()
        found.append(Unit(NAME, folder if own else log, (log, *beside)))
    return tuple(found)


def _may_be_log(file: Path) -> bool:
    """Whether W&B called a file so, even if its beginning is damaged, or it begins as a log does."""
    return file.name.startswith(_PREFIX) or may_be_log(head(file))


def _is_copy(log: Path, logs: Sequence[Path]) -> bool:
    """Whether a log is that of a run beside it: a copied folder often has one for a link."""
    return log.parent.name == _LATEST and any(
        other.name == log.name
        and other.parent.parent == log.parent.parent
        and other != log
        and cmp(other, log, shallow=False)
        for other in logs
    )


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a unit.

    Raises:
        UnreadableError: the file is no log of wandb, or goes beyond a limit.
    """
    path, *beside = unit.files
    log, told = RecordLog(path), Records(path, wanted)
    for record in log:
        told.take(record)
    config = flattened(told.config)
    findings = [*log.findings(), *told.findings()]
    if not config and beside:
        config, problems = _config_of(beside[0])
        findings += problems
    metrics = told.history.points()
    findings += _ending(path, log, told, config)
    if told.history.rows and not metrics and wanted is None:
        rows = counted(told.history.rows, "row holds", "rows hold")
        findings.append(Finding(path, f"{rows} no numbers, but images, tables, texts or the like"))
    yield Logged(
        path=unit.path,
        name=told.name,
        id=told.id or _id_in(path),
        group=told.group,
        config=config,
        metrics=metrics,
        step_name=STEP,
        findings=tuple(findings),
    )


def _id_in(path: Path) -> str:
    """The id of a run by the name of its file; empty where the file has another name."""
    match = _FILE.fullmatch(path.name)
    return match[1] if match else ""


def _ending(path: Path, log: RecordLog, told: Records, config: Mapping[str, Setting]) -> Iterator[Finding]:
    """How the run ended, where that was not well."""
    if told.exit_code:
        yield Finding(path, f"the run failed: it ended with exit code {told.exit_code}")
    if told.history.rows:
        if told.exit_code is None and not log.torn:
            yield Finding(path, "the log has no end: the run was killed, or is still running")
        return
    if log.torn and not log.records:
        return  # already told
    ended = told.exit_code is not None
    kept = f"; {counted(len(config), 'setting')} of it can be read" if config else ""
    how = (
        "ended without logging anything" if ended else "was killed before it logged anything, or just starts"
    )
    yield Finding(path, f"the run {how}{kept}")


def _config_of(path: Path) -> tuple[dict[str, Setting], tuple[Finding, ...]]:
    """The settings of a ``config.yaml``, without what wandb notes for itself."""
    told, findings = settings_of(path)
    found = {
        match["name"] + (match["within"] or ""): value
        for name, value in told.items()
        if (match := _SETTING.fullmatch(name)) and match["name"] != "_wandb"
    }
    return found, findings
