"""Runs in TensorBoard: the scalars and hyperparameters of the event files of one folder.

Source: TensorFlow, tensorflow/core/util/event.proto (see ``tensorboard_events``) in TFRecord files (see
``tfrecord``). As in TensorBoard, all event files of a folder are one run, older files first, and a restart
that states its step (``purge_step``) discards the values of earlier files from there on. Unlike TensorBoard,
nothing else is discarded when a run was resumed: all rows are read and the overlap is reported. The output of
``add_hparams`` in a separate folder below the run's belongs to the run, if there is only one such folder, and
so do the curves of ``add_scalars``, as the metrics ``MAIN_TAG/TAG``: torch/utils/tensorboard/writer.py of
pytorch/pytorch and tensorboardX/writer.py of lanpa/tensorboardX, both ``add_scalars(main_tag, {tag:
value})``, write values to ``MAIN_TAG_TAG`` (slashes of the main tag as ``_``) or ``MAIN_TAG/TAG`` below the
run's folder, under the tag ``MAIN_TAG``. Settings in the folder belong to the run, too: ``hparams.yaml``
(Lightning), ``params.json`` (Ray Tune), ``args.yaml`` (timm, Ultralytics), ``config.yaml`` (Detectron2),
``params.yaml`` (DVC).
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.words import format_count, format_number
from reportgen.formats.decode import Count, is_pointer, read_head, report_left_out
from reportgen.formats.files import natural_key
from reportgen.formats.protobuf import MalformedError
from reportgen.formats.run_data import check_metric_count, check_value_count, read_settings
from reportgen.formats.runs import LoggedRun, Points, Unit, UnreadableError, warn
from reportgen.formats.tfrecord import HEADER, find_messages, is_record_header, read_records
from reportgen.formats.trackers.tensorboard_events import EventReader, parse_event, read_hyperparameters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting
    from reportgen.formats.trackers.tensorboard_events import Event, Scalar


_WRITTEN: Final = re.compile(r"tfevents\.(\d+)")
_HPARAMS: Final = b"_hparams_/"
_HPARAMS_FOLDER: Final = re.compile(r"\d{9,}(\.\d+)?")
# If two set the same, the later one counts.
_SETTINGS: Final = ("params.yaml", "config.yaml", "args.yaml", "params.json", "hparams.yaml")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit for each folder with event files, which come before files with settings."""
    folders: dict[Path, dict[Path, bytes]] = {}
    for file, data in ((file, read_head(file)) for file in files if "tfevents" in file.name):
        # Include what should be an event file: torn, damaged, or a Git LFS pointer.
        begun = len(data) >= HEADER and (is_record_header(data) or b"\0" in data or is_pointer(data))
        if begun or (len(data) < HEADER and _WRITTEN.search(file.name)):
            folders.setdefault(file.parent, {})[file] = data
    # Map folders with event files to inner folders that belong to their runs, first those of add_hparams.
    named: dict[Path, list[Path]] = {}
    for folder, heads in folders.items():
        in_run = folder.parent in folders and not _HPARAMS_FOLDER.fullmatch(folder.parent.name)
        if (
            in_run
            and _HPARAMS_FOLDER.fullmatch(folder.name)
            and all(_HPARAMS in head for head in heads.values())
        ):
            named.setdefault(folder.parent, []).append(folder)
    inner = {folder: within for folder, within in named.items() if len(within) == 1}
    of_hparams = {folder for within in inner.values() for folder in within}
    others = {folder: heads.values() for folder, heads in folders.items() if folder not in of_hparams}
    curves = _find_curve_folders(others)
    for folder, (run, _) in curves.items():
        inner.setdefault(run, []).append(folder)

    def rank(file: Path) -> tuple[int, object]:
        # By the time in its name, oldest first.
        match = _WRITTEN.search(file.name)
        return int(match[1]) if match else 0, natural_key(file)

    settings = {(file.parent, file.name): file for file in files if file.name in _SETTINGS}
    units = []
    for folder in folders:
        if folder not in of_hparams and folder not in curves:
            events = [sorted(folders[one], key=rank) for one in (folder, *inner.get(folder, ()))]
            stated = [found for name in _SETTINGS if (found := settings.get((folder, name)))]
            units.append(Unit(folder, (*chain.from_iterable(events), *stated)))
    return tuple(units)


def _find_curve_folders(beginnings: Mapping[Path, Collection[bytes]]) -> dict[Path, tuple[Path, str]]:
    """Return the run's folder and the curve for folders of ``add_scalars``, by the starts of their files."""
    curves: dict[Path, tuple[Path, str]] = {}
    outer: dict[Path, list[Path]] = {}  # by the folder that a folder is in, those around it, inner ones first
    # Outer folders first: no folder of a curve has curves.
    for folder, heads in sorted(beginnings.items(), key=lambda item: len(item[0].parts)):
        if folder.parent not in outer:
            parents = (folder.parent, *folder.parent.parents)
            outer[folder.parent] = [parent for parent in parents if parent in beginnings]
        above = [parent for parent in outer[folder.parent] if parent not in curves]
        tags: set[bytes] = set()
        for head in heads if above else ():
            with suppress(MalformedError):
                for message in find_messages(head):
                    tags.update(scalar.tag for scalar in parse_event(message).scalars)
        names = {tag.decode("utf-8", "replace") for tag in tags}
        tag = names.pop() if len(names) == 1 else ""
        for parent in above if tag else ():
            path = folder.relative_to(parent).as_posix()
            start = f"{tag}/"
            if not path.startswith(start) and "/" not in path:
                start = f"{tag.replace('/', '_')}_"
            if path.startswith(start) and path != start:
                curves[folder] = parent, path.removeprefix(start)
                break
    return curves


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a folder, without a name: TensorBoard names it by its path.

    A metric of the run itself takes precedence over those of folders below.
    """
    selected = unit.selected
    run, hparams_run = EventRun(selected), EventRun(selected)
    events = [file for file in unit.files if file.name not in _SETTINGS or file == unit.path]
    # For each folder of add_scalars below the run's: the curve's name, and the reader of its files.
    beginnings: dict[Path, list[bytes]] = {}
    for file in events if any(file.parent != unit.path for file in events) else ():
        beginnings.setdefault(file.parent, []).append(read_head(file))
    curves = {}
    for folder, (_, name) in _find_curve_folders(beginnings).items():
        tags = selected and {tag.removesuffix(f"/{name}") for tag in selected if tag.endswith(f"/{name}")}
        curves[folder] = (name, EventRun(tags))
    refused = []
    for file in events:
        try:
            curves.get(file.parent, ("", run if file.parent == unit.path else hparams_run))[1].read(file)
        except UnreadableError as error:
            refused.append(error)
    if len(refused) == len(events):
        raise refused[0]
    metrics = run.build_metrics()
    findings = [*run.findings, *hparams_run.findings]
    of_curves: dict[str, Points] = {}
    for name, curve in curves.values():
        findings += curve.findings
        of_curves |= {f"{tag}/{name}": points for tag, points in curve.build_metrics().items()}
    for writer, more in (("add_hparams", hparams_run.build_metrics()), ("add_scalars", of_curves)):
        both = Count(len(more.keys() & metrics.keys()))
        where = f" in a folder below, too, as {writer} keeps them: left out there"
        findings += both.describe(unit.path, "metric of the run is", "metrics of the run are", where)
        metrics |= {name: points for name, points in more.items() if name not in metrics}
    findings += [report_left_out(error, "the file is left out") for error in refused]
    config: dict[str, Setting] = {}
    for settings, problems in map(read_settings, unit.files[len(events) :]):
        config |= settings
        findings += problems
    if not metrics and selected is None:
        findings.append(warn(unit.path, "no scalars are in its event files"))
    config |= run.config | hparams_run.config
    yield LoggedRun(unit.path, config=config, metrics=metrics, findings=tuple(findings))


class _Piece(NamedTuple):
    """Values of one metric from one file of a run."""

    file: int
    steps: FloatArray
    values: FloatArray
    times: FloatArray


class EventRun:
    """Reader of event files into metrics, hyperparameters (those of later files win) and findings."""

    def __init__(self, selected: Collection[str] | None = None) -> None:
        self.config: dict[str, Setting] = {}
        self.findings: list[Diagnostic] = []
        self._path = Path()
        self._selected = selected
        self._reader = EventReader(self._number_metric, self._add_event)
        self._numbers: dict[bytes, int] = {}  # by tag as written
        self._names: dict[str, int] = {}
        self._pieces: dict[int, list[_Piece]] = {}  # by metric, in the order of writing
        self._foreign: set[bytes] = set()
        self._of_tensors: set[bytes] = set()
        self._strange = self._replaced = 0
        # The step from which this file's writer discards earlier values, and when it started.
        self._begins, self._began = math.inf, math.nan
        self._last: list[float] = []  # the time of the last value of each file, NaN if it has none

    def read(self, path: Path) -> None:
        """Read a file that follows those read before.

        Raises ``UnreadableError`` if it is not an event file, cannot be read, or has too many metrics or
        values of one.
        """
        self._path = path
        self._reader.malformed = self._strange = self._replaced = 0
        self._begins, self._began = math.inf, math.nan
        self._last.append(math.nan)
        try:
            for messages in read_records(path, self.findings):
                self._reader.read(messages)
        except OSError as error:
            raise UnreadableError(path, f"it cannot be read ({error.strerror})") from error
        for tag, columns in self._reader.take_columns().items():
            steps, walls, values = (np.frombuffer(cells, np.float64) for cells in columns)
            pieces = self._pieces.setdefault(tag, [])
            count = sum(len(piece.steps) for piece in pieces) + len(steps)
            check_value_count(count, path, list(self._names)[tag])
            with np.errstate(over="ignore"):
                times = np.rint(walls * 1000)
            times[~np.isfinite(times)] = np.nan
            pieces.append(_Piece(len(self._last) - 1, steps, values, times))
            self._last[-1] = float(np.fmax.reduce(times, initial=self._last[-1]))
        shown = f" no UTF-8 text: what cannot be read in it is shown as {_REPLACEMENT}"
        for number, singular, plural, rest in (
            (self._reader.malformed, "record", "records", " that cannot be parsed: left out"),
            (self._strange, "scalar", "scalars", " without exactly one number: left out"),
            (self._replaced, "tag that is", "tags that are", shown),
        ):
            self.findings += Count(number).describe(path, singular, plural, rest)
        self._discard_restarted()
        self._report_overlap()

    def build_metrics(self) -> dict[str, Points]:
        """Return every metric in order of first appearance, except those that belong to other plugins."""
        foreign = {self._numbers[tag] for tag in self._foreign & self._of_tensors}
        names, metrics = list(self._names), {}
        for number, pieces in self._pieces.items():
            _, *columns = zip(*pieces, strict=True)
            points = Points(*map(np.concatenate, columns))
            if number not in foreign and len(points.steps):
                metrics[names[number]] = points
        return metrics

    def _number_metric(self, scalar: Scalar) -> int:
        """Return the number of a scalar's metric; -1 if it is not read."""
        if scalar.of_tensor:
            self._of_tensors.add(scalar.tag)
        number = self._numbers.get(scalar.tag)
        if number is None:
            name = scalar.tag.decode("utf-8", "replace")
            self._replaced += _REPLACEMENT in name
            if self._selected is not None and name not in self._selected:
                number = -1
            else:
                number = self._names.setdefault(name, len(self._names))
                check_metric_count(len(self._names), self._path)
            self._numbers[scalar.tag] = number
        return number

    def _add_event(self, event: Event) -> None:
        self._foreign.update(event.foreign)
        self._strange += event.strange
        if event.begins and event.step < self._begins:
            self._begins, self._began = event.step, event.wall * 1000
        for session in event.sessions:
            try:
                self.config.update(read_hyperparameters(session))
            except MalformedError:
                self._reader.malformed += 1

    def _discard_restarted(self) -> None:
        """Discard values that a restart replaces: those of ended files from its step on.

        This follows ``_CheckForRestartAndMaybePurge`` in TensorBoard's event_accumulator.py. A file that was
        written to after the restart belongs to a concurrent process, and stays.
        """
        ended = {number for number, last in enumerate(self._last[:-1]) if not last > self._began}
        given_up = [np.empty(0)]
        for pieces in self._pieces.values() if self._begins < math.inf else ():
            for index, (file, *columns) in enumerate(pieces):
                if file in ended:
                    gone = columns[0] >= self._begins
                    given_up.append(columns[0][gone])
                    pieces[index] = _Piece(file, *(column[~gone] for column in columns))
        steps = np.concatenate(given_up)
        if len(steps):
            which = "step" if steps.min() == steps.max() else "steps"
            values = (
                f"{format_count(len(steps), 'value')} of earlier files ({which} {_describe_range(steps)})"
            )
            restart = f"the run was restarted at step {format_number(float(self._begins), decimals=0)}"
            message = f"{restart}: left out {values}, logged again or given up, as TensorBoard does"
            self.findings.append(warn(self._path, message))

    def _report_overlap(self) -> None:
        """Report how far earlier files go beyond the step at which a metric continues in this one."""
        gone_over, this = [np.empty(0)], len(self._last) - 1
        for *before, last in self._pieces.values():
            if before and last.file == this:
                steps = np.concatenate([piece.steps for piece in before])
                gone_over.append(steps[steps >= min(self._begins, last.steps[0])])
        steps = np.unique(np.concatenate(gone_over))
        if len(steps):
            again = f"{format_count(len(steps), 'step')} of earlier files ({_describe_range(steps)})"
            how = "the run was resumed, or several processes wrote it"
            message = (
                f"{how}: this file goes back over {again}; the rows of all are kept, the later ones last"
            )
            self.findings.append(warn(self._path, message))


def _describe_range(steps: FloatArray) -> str:
    ends = [format_number(float(step), decimals=0) for step in (steps.min(), steps.max())]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
