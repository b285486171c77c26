"""MLflow's file store: a folder a run, a text file a metric, parameter and tag.

Source: ``mlflow/store/tracking/file_store.py`` of the repository mlflow/mlflow. The layout is
``EXPERIMENT/RUN/{meta.yaml,metrics/**,params/**,tags/**}`` beside ``EXPERIMENT/meta.yaml``; a name with a
slash is a file in folders. A deleted run stays, with ``lifecycle_stage: deleted``; a deleted experiment
goes to ``.trash``. A metric is a file with ``timestamp value step`` a line (``_log_run_metric`` and
``_get_metric_from_line`` there), timestamps in milliseconds since 1970. Before version 1.0 a line was
``timestamp value``, with seconds and without a step; since 3.0 the name and digest of a dataset may follow.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from reportgen.core.words import format_count, join_names
from reportgen.formats.run_data import MOST_POINTS, parse_number_text
from reportgen.formats.runs import Finding, LoggedRun, Points, Unit, UnreadableError
from reportgen.formats.text_files import Count, Decoder, read_lines, read_whole, report_left_out
from reportgen.formats.trackers.mlflow_run import (
    DELETED,
    META,
    PARTS,
    RUN_NAME,
    Meta,
    build_config,
    find_folders,
    report_deleted,
    warn_unfinished,
    warn_without_steps,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.core.model import FloatArray


_LINES_AT_ONCE: Final = 1 << 15
_LONGEST_LINE: Final = 64 << 10
_OLD, _NEW, _WITH_DATASET = 2, 3, 5
_FEW: Final = 3


class MetricFile:
    """The whole values of a metric file in the order of writing, if any, and what was left out.

    Reading raises ``UnreadableError`` for a file that cannot be read, a Git LFS pointer and too many values.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._faulty = Count()
        self._datasets: dict[str, None] = {}
        self._torn = False
        table = self._read_table()
        times, values, steps = table.T.copy()
        self.points = Points(steps, values, times) if len(table) else None
        self.findings = tuple(self._list_findings(len(table)))

    def _read_table(self) -> FloatArray:
        """Times, values and steps, of shape (n, 3)."""
        numbered = read_lines(self._path, _LONGEST_LINE)
        tables: list[FloatArray] = [np.empty((0, 3))]
        total = 0
        while batch := list(islice(numbered, _LINES_AT_ONCE)):
            if not batch[-1][1].endswith(b"\n"):
                # A number may have been cut in its middle and still be one.
                self._torn = True
                batch.pop()
            table = _parse_table([line for _, line in batch])
            if table is None:
                rows = [self._parse_row(number, line) for number, line in batch]
                table = np.array([row for row in rows if row], np.float64).reshape(-1, 3)
            tables.append(table)
            total += len(tables[-1])
            if total > MOST_POINTS:
                message = f"the metric has more than {MOST_POINTS:,} values"
                raise UnreadableError(self._path, message, "Thin it out before it is read")
        return np.concatenate(tables)

    def _parse_row(self, number: int, line: bytes) -> tuple[float, float, float] | None:
        parts = line.decode("utf-8", "replace").split()
        numbers = [cell for part in parts[:3] if (cell := parse_number_text(part)) is not None]
        known = len(parts) in {_OLD, _NEW} or len(parts) >= _WITH_DATASET
        if not known or len(numbers) < min(len(parts), _NEW) or not math.isfinite(numbers[0]):
            self._faulty.add(number)
            return None
        if len(parts) == _OLD:
            return 1000 * numbers[0], numbers[1], math.nan
        if len(parts) >= _WITH_DATASET:
            self._datasets[" ".join(parts[3:-1])] = None
        return numbers[0], numbers[1], numbers[2]

    def _list_findings(self, count: int) -> Iterator[Finding]:
        if faulty := self._faulty.number:
            lines = format_count(faulty, "line is", "lines are")
            message = f"{lines} not of the form timestamp, value, step: left out"
            yield Finding(self._path, message, self._faulty.line)
        if self._torn:
            read = f"the {format_count(count, 'whole one')} before it {'is' if count == 1 else 'are'} read"
            message = f"the last line is torn, as when a run is killed or still writing: {read}"
            yield Finding(self._path, message)
        if not count and not self._faulty.number and not self._torn:
            yield Finding(self._path, "the file holds no value")
        if len(self._datasets) > 1:
            names = join_names([f'"{name}"' for name in self._datasets], most=_FEW)
            message = f"values for {len(self._datasets)} datasets ({names}) stand under one name"
            yield Finding(self._path, f"{message}, as one curve")


def _parse_table(batch: Sequence[bytes]) -> FloatArray | None:
    """Lines of three finite or non-finite numbers each; None where one is something else."""
    if not batch:
        return np.empty((0, 3))
    try:
        table: FloatArray = np.loadtxt(batch, np.float64, comments=None, ndmin=2, encoding="ascii")
    except (ValueError, UnicodeError):
        return None
    regular = table.shape == (len(batch), _NEW) and bool(np.isfinite(table[:, 0]).all())
    return table if regular else None


NAME: Final = "mlflow_files"
TITLE: Final = "MLflow file store"

_TRASH: Final = ".trash"
_LONGEST: Final = 1 << 20
_MOST_FINDINGS: Final = 20


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each store: the folder that experiments lie in, as far as it is below what was named."""
    experiments, runs = find_folders(files)
    parts = _group_files(files, runs)
    existing = set(files)
    stores: dict[Path, list[Path]] = {}
    for run, path in runs.items():
        experiment = path.parent
        store = experiment.parent.parent if experiment.parent.name == _TRASH else experiment.parent
        store_files = stores.setdefault(store, [])
        if experiments.pop(os.fspath(experiment), None):
            store_files.append(experiment / META)
        store_files += [*([path / META] if path / META in existing else []), *parts[run]]
    # The store, unless only a folder within it was named: then the one that holds all files there are.
    common = Path(os.path.commonpath([file.parent for file in files])) if stores else Path()
    return tuple(
        Unit(NAME, common if common.is_relative_to(store) else store, tuple(held))
        for store, held in stores.items()
    )


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """Every run of the store that is not deleted; of its metrics only the selected ones are opened."""
    experiments, runs = find_folders(unit.files)
    parts = _group_files(unit.files, runs)
    groups = {folder: Meta(path / META, of_run=False) for folder, path in experiments.items()}
    metas = {run: Meta(path / META) for run, path in runs.items()}
    alive = [run for run in runs if not _is_deleted(runs[run], metas[run], groups)]
    # The names of folders are random.
    alive.sort(key=lambda run: parse_number_text(metas[run].entries.get("start_time", "")) or math.inf)
    found = (
        *report_deleted(unit.path, len(runs) - len(alive), len(runs)),
        *(finding for group in groups.values() for finding in group.findings),
    )
    names = {runs[run].name: meta.name for run, meta in metas.items()}
    waiting: list[LoggedRun] = []
    refused: UnreadableError | None = None
    any_read = False
    for run in alive:
        one = _Run(runs[run], parts[run], metas[run], names)
        waiting.append(one.read(groups.get(os.fspath(runs[run].parent)), selected, found))
        found = ()
        refused, any_read = refused or one.refused, any_read or one.refused is None
        if any_read:
            yield from waiting
            waiting.clear()
    if refused and not any_read:
        raise refused


@dataclass(slots=True)
class _Run:
    """A run's folder, and the names of all runs of its store by their ids.

    ``refused`` is set where none of its metrics can be read.
    """

    folder: Path
    files: Sequence[Path]
    meta: Meta
    names: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    refused: UnreadableError | None = None

    def read(
        self, group: Meta | None, selected: Collection[str] | None, store_findings: tuple[Finding, ...]
    ) -> LoggedRun:
        """The run with its experiment's name, and findings about the store."""
        entries = self.meta.entries
        tags, params = self._read_texts("tags"), self._read_texts("params")
        metrics = self._read_metrics(selected)
        experiment = entries.get("experiment_id", self.folder.parent.name)
        return LoggedRun(
            path=self.folder,
            name=tags.get(RUN_NAME) or self.meta.name,
            id=entries.get("run_id") or entries.get("run_uuid") or self.folder.name,
            group=(group.entries.get("name") if group else None) or experiment,
            config=build_config(params, tags, self.names),
            metrics=metrics,
            findings=(
                *store_findings,
                *self.meta.findings,
                *warn_unfinished(self.folder, entries.get("status", "")),
                *warn_without_steps(self.folder, metrics),
                *self._list_findings(),
            ),
        )

    def _find_files(self, part: str) -> Iterator[tuple[str, Path]]:
        """Names and files of the metrics, parameters or tags."""
        root = os.path.join(self.folder, part, "")  # noqa: PTH118 - texts: there may be very many files
        for file in self.files:
            text = os.fspath(file)
            if text.startswith(root):
                name = text[len(root) :].replace(os.sep, "/")
                yield name.encode(errors="surrogateescape").decode(errors="replace"), file

    def _read_texts(self, part: str) -> dict[str, str]:
        texts = {}
        for name, file in self._find_files(part):
            decoding = Decoder(file)
            try:
                texts[name] = decoding.decode(read_whole(file, _LONGEST))
            except UnreadableError as error:
                self.findings.append(report_left_out(error))
            self.findings += decoding.list_findings()
        return texts

    def _read_metrics(self, selected: Collection[str] | None) -> Mapping[str, Points]:
        metrics, failed, tried = {}, [], 0
        for name, file in self._find_files("metrics"):
            if selected is not None and name not in selected:
                continue
            tried += 1
            try:
                metric = MetricFile(file)
            except UnreadableError as error:
                failed.append(error)
                self.findings.append(report_left_out(error))
                continue
            self.findings += metric.findings
            if metric.points:
                metrics[name] = metric.points
        if failed and len(failed) == tried:
            self.refused = failed[0]
        return metrics

    def _list_findings(self) -> Iterator[Finding]:
        """The first findings, and how many more there are."""
        yield from self.findings[:_MOST_FINDINGS]
        if more := self.findings[_MOST_FINDINGS:]:
            yield Finding(self.folder, f"{len(more):,} more files of the run are irregular in these ways")


def _group_files(files: Sequence[Path], runs: Mapping[str, Path]) -> dict[str, list[Path]]:
    """The metrics, parameters and tags of each run."""
    parts: dict[str, list[Path]] = {run: [] for run in runs}
    for file in files:
        run = _find_run(os.fspath(file), runs)
        if run:
            parts[run].append(file)
    return parts


def _find_run(file: str, runs: Mapping[str, Path]) -> str:
    """The folder of the run that a file is a metric, parameter or tag of; empty where it is none."""
    for part in PARTS:
        at = file.rfind(f"{os.sep}{part}{os.sep}")
        while at > 0:
            if file[:at] in runs:
                return file[:at]
            at = file.rfind(f"{os.sep}{part}{os.sep}", 0, at)
    return ""


def _is_deleted(folder: Path, meta: Meta, groups: Mapping[str, Meta]) -> bool:
    group = groups.get(os.fspath(folder.parent))
    stages = {one.entries.get("lifecycle_stage") for one in (meta, group) if one}
    return DELETED in stages or folder.parent.parent.name == _TRASH
