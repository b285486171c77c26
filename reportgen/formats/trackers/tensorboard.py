"""Runs that TensorBoard shows: the scalars and hyperparameters of the event files of one folder.

Source: TensorFlow, tensorflow/core/util/event.proto (see ``tensorboard_events``) in TFRecord files (see
``tfrecord``). As in TensorBoard, all event files of a folder are one run, the older before the newer, and a
restart that says its step (``purge_step``) leaves out what earlier files have from there on. Unlike there,
nothing else is discarded when a run was resumed: all rows are read and the overlap is reported.
What ``add_hparams`` writes into a folder of its own below the run's belongs to the run, if there is one such,
and so do the curves of ``add_scalars``, as the metrics ``MAIN_TAG/TAG``: torch/utils/tensorboard/writer.py of
pytorch/pytorch and tensorboardX/writer.py of lanpa/tensorboardX, both ``add_scalars(main_tag, {tag:
value})``,
write values to ``MAIN_TAG_TAG`` (slashes of the main tag as ``_``) or ``MAIN_TAG/TAG`` below the run's
folder,
under the tag ``MAIN_TAG``. Settings in the folder belong to the run, too: ``hparams.yaml`` (Lightning),
``params.json`` (Ray Tune), ``args.yaml`` (timm, Ultralytics), ``config.yaml`` (Detectron2),
``params.yaml`` (DVC).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count
from reportgen.formats.binary.protobuf import MalformedError
from reportgen.formats.binary.tfrecord import HEADER, find_messages, is_record_header
from reportgen.formats.files import natural_key
from reportgen.formats.run_data import read_settings
from reportgen.formats.runs import Finding, LoggedRun, Unit, UnreadableError
from reportgen.formats.text_files import is_pointer, report_left_out
from reportgen.formats.trackers.tensorboard_events import parse_event
from reportgen.formats.trackers.tensorboard_run import EventRun

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Points, Setting


def find_curve_folders(beginnings: Mapping[Path, Sequence[bytes]]) -> dict[Path, tuple[Path, str]]:
    """For folders that ``add_scalars`` wrote: the folder of their run, and the name of their curve.

    ``beginnings`` holds the beginning of every event file of each folder.
    """
    found: dict[Path, tuple[Path, str]] = {}
    # From the outside to the inside: no folder of a curve has curves.
    for folder, beginnings_here in sorted(beginnings.items(), key=lambda one: len(one[0].parts)):
        above = [parent for parent in folder.parents if parent in beginnings and parent not in found]
        tags = {tag for beginning in beginnings_here for tag in _read_tags(beginning)} if above else set()
        if len(tags) != 1:
            continue
        (tag,) = tags
        for parent in above:
            if name := _find_curve_name(folder.relative_to(parent).as_posix(), tag):
                found[folder] = (parent, name)
                break
    return found


def _find_curve_name(path: str, tag: str) -> str:
    """The name of the curve in a folder with values of one tag; empty where ``add_scalars`` made it not."""
    for start in (f"{tag}/", f"{tag.replace('/', '_')}_"):
        if tag and path.startswith(start) and (start.endswith("/") or "/" not in path):
            return path.removeprefix(start)
    return ""


def _read_tags(beginning: bytes) -> Iterator[str]:
    """The tags of the scalars whose records are whole in the beginning of an event file."""
    for message in find_messages(beginning):
        try:
            parsed = parse_event(message)
        except MalformedError:
            return
        yield from (scalar.tag.decode("utf-8", "replace") for scalar in parsed.scalars)


NAME: Final = "tensorboard"
TITLE: Final = "TensorBoard event files"

_WRITTEN: Final = re.compile(r"tfevents\.(\d+)")
_HPARAMS_FOLDER: Final = re.compile(r"\d{9,}(\.\d+)?")
_HPARAMS: Final = b"_hparams_/"
_BEGINNING: Final = 4096
# Of two that set the same, the later counts.
_SETTINGS: Final = ("params.yaml", "config.yaml", "args.yaml", "params.json", "hparams.yaml")


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each folder with event files: files named ``…tfevents…`` that hold no text.

    Behind them stand files with settings.
    """
    beginnings = {file: _read_beginning(file) for file in files if "tfevents" in file.name}
    folders: dict[Path, list[Path]] = {}
    for file, beginning in beginnings.items():
        if _is_event_file(file, beginning):
            folders.setdefault(file.parent, []).append(file)
    begin = {folder: [beginnings[file] for file in event_files] for folder, event_files in folders.items()}
    below = _find_hparams_folders(begin)
    curves: dict[Path, list[Path]] = {}
    others = {folder: held for folder, held in begin.items() if folder not in below.values()}
    for folder, (run, _) in find_curve_folders(others).items():
        curves.setdefault(run, []).append(folder)
    within_others = {*below.values(), *(folder for inner in curves.values() for folder in inner)}
    existing = set(files)
    found = []
    for folder, held in folders.items():
        if folder not in within_others:
            within = [*([below[folder]] if folder in below else []), *curves.get(folder, ())]
            inner = [file for one in within for file in _sort_by_time(folders[one])]
            settings = [file for name in _SETTINGS if (file := folder / name) in existing]
            found.append(Unit(NAME, folder, (*_sort_by_time(held), *inner, *settings)))
    return tuple(found)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """The run of a folder, nameless: TensorBoard calls it by its path."""
    run, hparams_run = EventRun(selected), EventRun(selected)
    curves = _find_curves(unit, selected)
    events = [file for file in unit.files if file.name not in _SETTINGS or file == unit.path]
    refused = []
    for file in events:
        try:
            otherwise = run if file.parent == unit.path else hparams_run
            curves.get(file.parent, ("", otherwise))[1].read(file)
        except UnreadableError as error:
            refused.append(error)
    if len(refused) == len(events):
        raise refused[0]
    metrics, twice = _merge_metrics(unit.path, run, hparams_run, curves)
    of_curves = [finding for _, curve in curves.values() for finding in curve.findings]
    findings = [*run.findings, *hparams_run.findings, *of_curves, *twice]
    findings += [report_left_out(error, "the file is left out") for error in refused]
    config: dict[str, Setting] = {}
    for file in unit.files[len(events) :]:
        found, problems = read_settings(file)
        config |= found
        findings += problems
    if not metrics and selected is None:
        findings.append(Finding(unit.path, "no scalars are in its event files"))
    yield LoggedRun(
        path=unit.path,
        name="",
        id="",
        group="",
        config=config | run.config | hparams_run.config,
        metrics=metrics,
        findings=tuple(findings),
    )


def _merge_metrics(
    path: Path, run: EventRun, hparams_run: EventRun, curves: Mapping[Path, tuple[str, EventRun]]
) -> tuple[dict[str, Points], list[Finding]]:
    """The metrics of a run, then those of folders below that it lacks itself; and which of them it has."""
    metrics = dict(run.build_metrics())
    of_curves = {
        f"{tag}/{name}": points
        for name, curve in curves.values()
        for tag, points in curve.build_metrics().items()
    }
    found = []
    for writer, more in (("add_hparams", hparams_run.build_metrics()), ("add_scalars", of_curves)):
        if both := [name for name in more if name in metrics]:
            which = format_count(len(both), "metric of the run is", "metrics of the run are")
            where = f"in a folder below, too, as {writer} keeps them"
            found.append(Finding(path, f"{which} {where}: left out there"))
        metrics |= {name: points for name, points in more.items() if name not in both}
    return metrics, found


def _find_curves(unit: Unit, selected: Collection[str] | None) -> dict[Path, tuple[str, EventRun]]:
    """For each folder of ``add_scalars`` below a run's: the curve's name, and what reads its files."""
    files = [file for file in unit.files if "tfevents" in file.name]
    beginnings: dict[Path, list[bytes]] = {}
    for file in files if any(file.parent != unit.path for file in files) else ():
        beginnings.setdefault(file.parent, []).append(_read_beginning(file))
    curves = {}
    for folder, (_, name) in find_curve_folders(beginnings).items():
        end = f"/{name}"
        tags = selected and {metric.removesuffix(end) for metric in selected if metric.endswith(end)}
        curves[folder] = (name, EventRun(tags))
    return curves


def _read_beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(_BEGINNING)
    except OSError:
        return b""  # reported when it is read


def _is_event_file(file: Path, beginning: bytes) -> bool:
    """Whether a file is an event file, or was meant to be one: torn, damaged, or a pointer of Git LFS."""
    if len(beginning) < HEADER:
        return bool(_WRITTEN.search(file.name))
    return is_record_header(beginning) or b"\0" in beginning or is_pointer(beginning)


def _find_hparams_folders(beginnings: dict[Path, list[bytes]]) -> dict[Path, Path]:
    """For folders with event files: the one folder within that ``add_hparams`` wrote."""
    found: dict[Path, list[Path]] = {}
    for folder, held in beginnings.items():
        named = _HPARAMS_FOLDER.fullmatch(folder.name) and not _HPARAMS_FOLDER.fullmatch(folder.parent.name)
        if named and folder.parent in beginnings and all(_HPARAMS in beginning for beginning in held):
            found.setdefault(folder.parent, []).append(folder)
    return {folder: within[0] for folder, within in found.items() if len(within) == 1}


def _sort_by_time(files: list[Path]) -> list[Path]:
    """The older file first, by the time in its name."""
    written = {file: _WRITTEN.search(file.name) for file in files}
    return sorted(
        files, key=lambda file: (int(match[1]) if (match := written[file]) else 0, natural_key(file))
    )
