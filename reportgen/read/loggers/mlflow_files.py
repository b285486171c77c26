"""MLflow's file store: a folder a run, a text file a metric, parameter and tag.

Source: ``mlflow/store/tracking/file_store.py`` of the repository mlflow/mlflow. The layout is
``EXPERIMENT/RUN/{meta.yaml,metrics/**,params/**,tags/**}`` beside ``EXPERIMENT/meta.yaml``; a name with a
slash is a file in folders. A deleted run stays, with ``lifecycle_stage: deleted``; a deleted experiment
goes to ``.trash``. See ``mlflow_meta`` for ``meta.yaml``, and ``mlflow_metric`` for the lines of a metric.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.read.logged import Finding, LoggedRun, Points, Unit, UnreadableError
from reportgen.read.loggers.growing import parse_number_text
from reportgen.read.loggers.mlflow_meta import META, PARTS, Meta, find_folders
from reportgen.read.loggers.mlflow_metric import MetricFile
from reportgen.read.loggers.mlflow_run import (
    DELETED,
    RUN_NAME,
    build_config,
    report_deleted,
    warn_unfinished,
    warn_without_steps,
)
from reportgen.read.loggers.text_file import Decoder, read_whole, report_left_out

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

NAME: Final = "mlflow_files"
TITLE: Final = "MLflow file store"

_TRASH: Final = ".trash"
_LONGEST: Final = 1 << 20
_MOST_FINDINGS: Final = 20


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each store: the folder that experiments lie in, as far as it is below what was named."""
    experiments, runs = find_folders(files)
    parts = _group_files(files, runs)
    there = set(files)
    stores: dict[Path, list[Path]] = {}
    for run, path in runs.items():
        experiment = path.parent
        store = experiment.parent.parent if experiment.parent.name == _TRASH else experiment.parent
        store_files = stores.setdefault(store, [])
        if experiments.pop(os.fspath(experiment), None):
            store_files.append(experiment / META)
        store_files += [*([path / META] if path / META in there else []), *parts[run]]
    return tuple(Unit(NAME, _choose_folder(store, files), tuple(kept)) for store, kept in stores.items())


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun]:
    """Every run of the store that is not deleted; of its metrics only those wanted are opened.

    Raises:
        UnreadableError: every run is deleted, or none has a metric that can be read.
    """
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

    Attributes:
        refused: why none of its metrics can be read, where that is so.
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


def _choose_folder(store: Path, files: Sequence[Path]) -> Path:
    """The store, unless only a folder within it was named: then the one that holds all files there are."""
    common = Path(os.path.commonpath([file.parent for file in files]))
    return common if common.is_relative_to(store) else store
