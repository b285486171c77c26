"""Runs that TensorBoard shows: the scalars and hyperparameters of the event files of one folder.

Source: TensorFlow, tensorflow/core/util/event.proto (events, see ``event_message``) in TFRecord files (see
``tfrecord``). As in TensorBoard, all event files of a folder are one run, the older before the newer. Unlike
there, nothing is discarded when a run was resumed: its rows are all handed over and the overlap is told.
What ``add_hparams`` writes into a folder of its own below the run's belongs to the run, if there is one such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reportgen.read.find import natural
from reportgen.read.logged import Finding, Logged, Unit, UnreadableError
from reportgen.read.loggers.event_run import EventRun
from reportgen.read.loggers.tfrecord import HEADER, LFS, can_begin

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

NAME: Final = "tensorboard"
TITLE: Final = "TensorBoard event files"

_WRITTEN: Final = re.compile(r"tfevents\.(\d+)")
_HPARAMS_FOLDER: Final = re.compile(r"\d{9,}(\.\d+)?")
_HPARAMS: Final = b"_hparams_/"
_BEGINNING: Final = 4096


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each folder with event files: files named ``…tfevents…`` that hold no text."""
    beginnings = {file: _beginning(file) for file in files if "tfevents" in file.name}
    folders: dict[Path, list[Path]] = {}
    for file, beginning in beginnings.items():
        if _may_be_events(file, beginning):
            folders.setdefault(file.parent, []).append(file)
    below = _hparams_folders(
        {folder: [beginnings[file] for file in held] for folder, held in folders.items()}
    )
    return tuple(
        Unit(NAME, folder, (*_in_order(held), *_in_order(folders[below[folder]] if folder in below else [])))
        for folder, held in folders.items()
        if folder not in below.values()
    )


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """The run of a folder, nameless: TensorBoard calls it by its path.

    Raises:
        UnreadableError: none of its files is an event file, or a metric has too many values.
    """
    run, beside = EventRun(wanted), EventRun(wanted)
    refused = []
    for file in unit.files:
        try:
            (run if file.parent == unit.path else beside).read(file)
        except UnreadableError as error:
            refused.append(error)
    if len(refused) == len(unit.files):
        raise refused[0]
    metrics = dict(run.metrics())
    metrics |= {name: points for name, points in beside.metrics().items() if name not in metrics}
    findings = [*run.findings, *beside.findings]
    findings += [Finding(error.path, f"{error.message}: the file is left out") for error in refused]
    if not metrics and wanted is None:
        findings.append(Finding(unit.path, "no scalars are in its event files"))
    yield Logged(
        path=unit.path,
        name="",
        id="",
        group="",
        config=run.config | beside.config,
        metrics=metrics,
        findings=tuple(findings),
    )


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(_BEGINNING)
    except OSError:
        return b""  # told when it is read


def _may_be_events(file: Path, beginning: bytes) -> bool:
    """Whether a file is an event file, or was meant to be one: torn, damaged, or a pointer of Git LFS."""
    if len(beginning) < HEADER:
        return bool(_WRITTEN.search(file.name))
    return can_begin(beginning) or b"\0" in beginning or beginning.startswith(LFS)


def _hparams_folders(beginnings: dict[Path, list[bytes]]) -> dict[Path, Path]:
    """For folders with event files: the one folder within that ``add_hparams`` wrote."""
    found: dict[Path, list[Path]] = {}
    for folder, held in beginnings.items():
        named = _HPARAMS_FOLDER.fullmatch(folder.name) and not _HPARAMS_FOLDER.fullmatch(folder.parent.name)
        if named and folder.parent in beginnings and all(_HPARAMS in beginning for beginning in held):
            found.setdefault(folder.parent, []).append(folder)
    return {folder: within[0] for folder, within in found.items() if len(within) == 1}


def _in_order(files: list[Path]) -> list[Path]:
    """The older file first, by the time in its name."""
    written = {file: _WRITTEN.search(file.name) for file in files}
    return sorted(files, key=lambda file: (int(match[1]) if (match := written[file]) else 0, natural(file)))
