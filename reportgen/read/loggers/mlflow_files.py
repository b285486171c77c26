"""MLflow's file store: a folder a run, a text file a metric, parameter and tag.

Source: ``mlflow/store/tracking/file_store.py`` of the repository mlflow/mlflow. The layout is
``EXPERIMENT/RUN/{meta.yaml,metrics/**,params/**,tags/**}`` beside ``EXPERIMENT/meta.yaml``; a name with a
slash is a file in folders. A deleted run stays, with ``lifecycle_stage: deleted``; a deleted experiment
goes to ``.trash``. See ``mlflow_metric`` for the lines of a metric.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problems
from reportgen.read.logged import Finding, Logged, Points, Unit, UnreadableError
from reportgen.read.loggers.growing import number_of
from reportgen.read.loggers.mlflow_metric import MetricFile
from reportgen.read.loggers.mlflow_run import DELETED, RUN_NAME, config_of, ended, left_out, without_steps
from reportgen.read.loggers.text_file import Decoding, head, whole
from reportgen.settings.parsing import Origin, parse
from reportgen.settings.text import normalised
from reportgen.settings.tree import Mapping as Tree
from reportgen.settings.tree import Scalar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

NAME: Final = "mlflow_files"
TITLE: Final = "MLflow file store"

_META: Final = "meta.yaml"
_TRASH: Final = ".trash"
_PARTS: Final = ("metrics", "params", "tags")
_LONGEST: Final = 1 << 20
_MOST_FINDINGS: Final = 20
_OF_RUN: Final = re.compile(rb"^run_(uu)?id:", re.MULTILINE)
_OF_EXPERIMENT: Final = re.compile(rb"^experiment_id:", re.MULTILINE)
_OTHER: Final = re.compile(rb"^(model_id|request_id|trace_id):", re.MULTILINE)
_RUN_FOLDER: Final = re.compile(r"[0-9a-f]{32}")


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """One unit for each store: the folder that experiments lie in, as far as it is below what was named."""
    experiments, runs = _folders(files)
    parts = _parts(files, runs)
    stores: dict[Path, list[Path]] = {}
    for run, path in runs.items():
        experiment = path.parent
        store = experiment.parent.parent if experiment.parent.name == _TRASH else experiment.parent
        kept = stores.setdefault(store, [])
        if experiments.pop(os.fspath(experiment), None):
            kept.append(experiment / _META)
        kept += [path / _META, *parts[run]]
    return tuple(Unit(NAME, _named(store, files), tuple(kept)) for store, kept in stores.items())


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Logged]:
    """Every run of the store that is not deleted; of its metrics only those wanted are opened.

    Raises:
        UnreadableError: every run is deleted, or a file cannot be read at all.
    """
    experiments, runs = _folders(unit.files)
    parts = _parts(unit.files, runs)
    groups = {folder: _Meta(path / _META) for folder, path in experiments.items()}
    metas = {run: _Meta(path / _META) for run, path in runs.items()}
    alive = [run for run in runs if not _is_deleted(runs[run], metas[run], groups)]
    # The names of folders are random.
    alive.sort(key=lambda run: number_of(metas[run].entries.get("start_time", "")) or math.inf)
    found = left_out(unit.path, len(runs) - len(alive), len(runs))
    names = {runs[run].name: meta.name for run, meta in metas.items()}
    for run in alive:
        folder = runs[run]
        group = groups.get(os.fspath(folder.parent))
        logged = _Run(folder, parts[run], metas[run], names).logged(group, wanted, found)
        found = ()
        yield logged


@dataclass(slots=True)
class _Meta:
    """The entries of a ``meta.yaml`` as texts: an experiment may be called 007 or 1e3."""

    path: Path
    entries: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        decoding = Decoding(self.path)
        text = decoding.text(whole(self.path, _LONGEST))
        problems = Problems()
        with problems.collecting():
            tree = parse(normalised(text), Origin(self.path.name), any_tag=True)
            if isinstance(tree, Tree):
                said = tree.entries.items()
                self.entries = {
                    name: node.text
                    for name, node in said
                    if isinstance(node, Scalar) and node.value is not None
                }
        for problem in problems.found[:1]:
            message = f"{problem.message}: name and state of the run are unknown"
            self.findings.append(Finding(self.path, message, problem.place.line))
        self.findings += decoding.findings()

    @property
    def name(self) -> str:
        """What is called so; older versions keep the name of a run in a tag."""
        return self.entries.get("run_name") or self.entries.get("name", "")


@dataclass(slots=True)
class _Run:
    """A run's folder, and the names of all runs of its store by their ids."""

    folder: Path
    files: Sequence[Path]
    meta: _Meta
    names: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)

    def logged(
        self, group: _Meta | None, wanted: Collection[str] | None, found: tuple[Finding, ...]
    ) -> Logged:
        """The run with its experiment's name, and findings about the store."""
        entries = self.meta.entries
        tags, params = self._texts("tags"), self._texts("params")
        metrics = self._metrics(wanted)
        experiment = entries.get("experiment_id", self.folder.parent.name)
        return Logged(
            path=self.folder,
            name=tags.get(RUN_NAME) or self.meta.name,
            id=entries.get("run_id") or entries.get("run_uuid") or self.folder.name,
            group=(group.entries.get("name") if group else None) or experiment,
            config=config_of(params, tags, self.names),
            metrics=metrics,
            findings=(
                *found,
                *self.meta.findings,
                *(group.findings if group else ()),
                *ended(self.folder, entries.get("status", "")),
                *without_steps(self.folder, metrics),
                *self._few(),
            ),
        )

    def _of(self, part: str) -> Iterator[tuple[str, Path]]:
        """Names and files of the metrics, parameters or tags."""
        root = os.path.join(self.folder, part, "")  # noqa: PTH118 - texts: there may be very many files
        for file in self.files:
            text = os.fspath(file)
            if text.startswith(root):
                name = text[len(root) :].replace(os.sep, "/")
                yield name.encode(errors="surrogateescape").decode(errors="replace"), file

    def _texts(self, part: str) -> dict[str, str]:
        texts = {}
        for name, file in self._of(part):
            decoding = Decoding(file)
            try:
                texts[name] = decoding.text(whole(file, _LONGEST))
            except UnreadableError as error:
                self.findings.append(Finding(file, f"{error.message}: left out"))
            self.findings += decoding.findings()
        return texts

    def _metrics(self, wanted: Collection[str] | None) -> Mapping[str, Points]:
        metrics, failed, tried = {}, [], 0
        for name, file in self._of("metrics"):
            if wanted is not None and name not in wanted:
                continue
            tried += 1
            try:
                metric = MetricFile(file)
            except UnreadableError as error:
                failed.append(error)
                self.findings.append(Finding(file, f"{error.message}: left out", error.line))
                continue
            self.findings += metric.findings
            if metric.points:
                metrics[name] = metric.points
        if failed and len(failed) == tried:
            raise failed[0]
        return metrics

    def _few(self) -> Iterator[Finding]:
        """The first findings, and how many more there are."""
        yield from self.findings[:_MOST_FINDINGS]
        if more := self.findings[_MOST_FINDINGS:]:
            yield Finding(self.folder, f"{len(more):,} more files of the run are irregular in these ways")


def _folders(files: Sequence[Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """The folders of experiments and of runs, by what their ``meta.yaml`` says."""
    experiments, runs = {}, {}
    for file in files:
        if file.name != _META:
            continue
        folder, beginning = file.parent, head(file)
        pointer = beginning.startswith(b"version https://git-lfs") and _RUN_FOLDER.fullmatch(folder.name)
        if _OTHER.search(beginning):
            continue
        if pointer or _OF_RUN.search(beginning):
            runs[os.fspath(folder)] = folder
        elif _OF_EXPERIMENT.search(beginning):
            experiments[os.fspath(folder)] = folder
    return experiments, runs


def _parts(files: Sequence[Path], runs: Mapping[str, Path]) -> dict[str, list[Path]]:
    """The metrics, parameters and tags of each run."""
    parts: dict[str, list[Path]] = {run: [] for run in runs}
    for file in files:
        run = _run_of(os.fspath(file), runs)
        if run:
            parts[run].append(file)
    return parts


def _run_of(file: str, runs: Mapping[str, Path]) -> str:
    """The folder of the run that a file is a metric, parameter or tag of; empty where it is none."""
    for part in _PARTS:
        at = file.rfind(f"{os.sep}{part}{os.sep}")
        while at > 0:
            if file[:at] in runs:
                return file[:at]
            at = file.rfind(f"{os.sep}{part}{os.sep}", 0, at)
    return ""


def _is_deleted(folder: Path, meta: _Meta, groups: Mapping[str, _Meta]) -> bool:
    group = groups.get(os.fspath(folder.parent))
    stages = {one.entries.get("lifecycle_stage") for one in (meta, group) if one}
    return DELETED in stages or folder.parent.parent.name == _TRASH


def _named(store: Path, files: Sequence[Path]) -> Path:
    """The store, unless only a folder within it was named: then the one that holds all files there are."""
    common = Path(os.path.commonpath([file.parent for file in files]))
    return common if common.is_relative_to(store) else store
