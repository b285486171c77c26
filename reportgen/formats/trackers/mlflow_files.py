"""MLflow's file store: a folder per run, with a text file per metric, parameter and tag.

Source: ``mlflow/store/tracking/file_store.py``, ``mlflow/entities/lifecycle_stage.py``, ``run_status.py`` and
``utils/mlflow_tags.py`` of the repository mlflow/mlflow. The layout is
``EXPERIMENT/RUN/{meta.yaml,metrics/**,params/**,tags/**}`` next to ``EXPERIMENT/meta.yaml``; a name with a
slash is a file in folders. A run's folder is named after its id, 32 hexadecimal digits, so it is recognised
even if its ``meta.yaml`` is empty, cut off or missing. A deleted run stays, with ``lifecycle_stage:
deleted``; a deleted experiment moves to ``.trash``. A metric is a file with ``timestamp value step`` on each
line (``_log_run_metric`` and ``_get_metric_from_line`` there), timestamps in milliseconds since 1970. Before
version 1.0 a line was ``timestamp value``, in seconds and without a step; since 3.0 the name and digest of a
dataset may follow.
"""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from reportgen.core.words import format_count, join_names
from reportgen.formats.decode import Count, Decoder, is_pointer, read_head, read_lines, report_left_out
from reportgen.formats.run_data import MOST_POINTS, parse_number_text, parse_yaml
from reportgen.formats.runs import LoggedRun, Points, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import FloatArray
    from reportgen.formats.runs import Setting


DELETED: Final = "deleted"
RUN_NAME: Final = "mlflow.runName"

_PARENT: Final = "mlflow.parentRunId"
_FEW: Final = 3
# A file store writes the number, a database the name.
_RUNNING: Final = ("1", "RUNNING")
_ENDED: Final = {"4": "failed", "FAILED": "failed", "5": "was killed", "KILLED": "was killed"}


def parse_setting(text: str) -> Setting:
    """Parse a parameter, which MLflow stores as text: a number, a truth value, or the text itself."""
    if text in {"True", "False"}:
        return text == "True"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # 007 and 1.50 stay texts; nan and inf are no use as settings.
        if str(value) == text and value - value == 0:
            return value
    return text


def build_config(
    params: Mapping[str, str], tags: Mapping[str, str], runs: Mapping[str, str]
) -> dict[str, Setting]:
    """Return the parent run, the user's tags as ``tags.NAME`` and parameters; ``runs`` has names by id."""
    config: dict[str, Setting] = {}
    if parent := tags.get(_PARENT):
        config["parent"] = runs.get(parent) or parent
    # MLflow itself sets tags that start with its name.
    own = {name: text for name, text in tags.items() if not name.startswith("mlflow.")}
    config |= {f"tags.{name}": parse_setting(text) for name, text in own.items()}
    return config | {name: parse_setting(text) for name, text in params.items()}


def warn_without_steps(path: Path, metrics: Mapping[str, Points]) -> Iterator[Diagnostic]:
    """Yield at most one finding: metrics with all values at step 0, MLflow's default."""
    names = [
        f'"{name}"'
        for name, points in metrics.items()
        if len(points.steps) > 1 and not points.steps.any() and points.times is not None
    ]
    if names:
        values = f"all values of {join_names(names, most=_FEW)} stand at step 0"
        advice = '"x: time" in a block draws them one after the other'
        yield warn(path, f"{values}, as where log_metric is given no step: {advice}")


def warn_unfinished(path: Path, status: str) -> Iterator[Diagnostic]:
    """Yield at most one finding: that the run failed, was killed or is still running."""
    if status in _RUNNING:
        message = "MLflow says that the run is still running, as also where it was killed"
        yield warn(path, f"{message}: values may be missing")
    elif how := _ENDED.get(status):
        yield warn(path, f"MLflow says that the run {how}: its values end there")


def report_deleted(path: Path, deleted: int, total: int) -> tuple[Diagnostic, ...]:
    """Return at most one finding: deleted runs; raise ``UnreadableError`` if there are no others."""
    if not total:
        raise UnreadableError(path, "the store has no run")
    if deleted == total:
        message = f"all {format_count(total, 'run')} of this store are deleted"
        raise UnreadableError(path, message, "Restore them with mlflow runs restore")
    rest = f" of {total:,} {'is' if deleted == 1 else 'are'} deleted in MLflow: left out"
    return tuple(Count(deleted).describe(path, "run", "runs", rest))


_META: Final = "meta.yaml"
_LONGEST: Final = 1 << 20


def _read_meta(path: Path, *ids: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return the entries of a ``meta.yaml`` as texts, since a name may be 007, and why any are missing.

    The file must have one of ``ids``, the keys of a run's or an experiment's id.
    """
    what = "experiment (its name" if ids == ("experiment_id",) else "run (its end"
    unknown = f"what it says of the {what}, whether it was deleted) is unknown"
    if not path.exists():
        return {}, [warn(path, f"the file is missing: {unknown}")]
    decoding = Decoder(path)
    try:
        text = decoding.read_whole(_LONGEST)
    except UnreadableError as error:
        return {}, [report_left_out(error, unknown)]
    entries: dict[str, str] = {}
    tree, fault = parse_yaml(path, text)
    problem, line = (fault.message, fault.location.line) if fault else ("", None)
    if tree and tree.kind == "mapping":
        scalars = {name: node for name, node in tree.entries.items() if node.kind == "scalar"}
        entries = {name: node.text for name, node in scalars.items() if node.value is not None}
        if not any(name in entries for name in ids):
            problem = f"the file has no {ids[0]}, as where it was cut off"
    elif not problem:
        problem = "the file is empty" if tree is None else "the file holds no keys with values"
    findings = [warn(path, f"{problem}: {unknown}", line)] if problem else []
    return entries, [*findings, *decoding.list_findings()]


_OF_RUN: Final = re.compile(rb"^run_(uu)?id:", re.MULTILINE)
_OF_EXPERIMENT: Final = re.compile(rb"^experiment_id:", re.MULTILINE)
_OTHER: Final = re.compile(rb"^(model_id|request_id|trace_id):", re.MULTILINE)
_RUN_FOLDER: Final = re.compile(r"[0-9a-f]{32}")
_SEP: Final = re.escape(os.sep)
_PART: Final = re.compile(rf"{_SEP}(metrics|params|tags)(?={_SEP})")
_OF_PART: Final = re.compile(rf"(.*?{_SEP}[0-9a-f]{{32}}){_PART.pattern}")


def _find_folders(files: Sequence[Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the folders of experiments and of runs, by their ``meta.yaml``, otherwise by their names."""
    experiments: dict[str, Path] = {}
    runs: dict[str, Path] = {}
    unclear: dict[str, Path] = {}
    for file in files:
        if file.name == _META and not _OTHER.search(beginning := read_head(file)):
            # Keys are sorted: a truncated file of a run may have the experiment's id but not the run's.
            cut = _RUN_FOLDER.fullmatch(file.parent.name)
            of_run = _OF_RUN.search(beginning) or (cut and is_pointer(beginning))
            of_experiment = _OF_EXPERIMENT.search(beginning) and not cut
            folders = runs if of_run else experiments if of_experiment else unclear
            folders[os.fspath(file.parent)] = file.parent
    # Folders named after a run's id that no meta.yaml marks as one: with metrics, parameters or tags below
    # them, or in an experiment, but not within other runs.
    known = {*experiments, *(os.fspath(run.parent) for run in runs.values())}
    matches = (_OF_PART.match(os.fspath(file)) for file in files)
    filled = dict.fromkeys(match[1] for match in matches if match)
    named = [name for name, folder in unclear.items() if _RUN_FOLDER.fullmatch(folder.name)]
    by_name = {}
    for name in dict.fromkeys([*named, *filled]):
        folder = Path(name)
        of_run = (name in unclear and name in filled) or os.fspath(folder.parent) in known
        if of_run and name not in runs and not any(os.fspath(above) in runs for above in folder.parents):
            by_name[name] = folder
    runs |= by_name
    above_runs = {os.fspath(run.parent) for run in runs.values()}
    return experiments | {name: folder for name, folder in unclear.items() if name in above_runs}, runs


def _group_files(files: Sequence[Path], runs: Collection[str]) -> dict[str, list[tuple[str, str, Path]]]:
    """Return the files of each run, with the part that each belongs to and its name there."""
    groups: dict[str, list[tuple[str, str, Path]]] = {run: [] for run in runs}
    for file in files:
        text = os.fspath(file)
        parts = [match for match in _PART.finditer(text) if text[: match.start()] in groups]
        for part in parts[-1:]:
            name = text[part.end() + 1 :].replace(os.sep, "/")
            name = name.encode(errors="surrogateescape").decode(errors="replace")
            groups[text[: part.start()]].append((part[1], name, file))
    return groups


_LINES_AT_ONCE: Final = 1 << 15
_LONGEST_LINE: Final = 64 << 10
_OLD, _NEW, _WITH_DATASET = 2, 3, 5


def read_metric(path: Path) -> tuple[Points | None, list[Diagnostic]]:
    """Return the whole values of a metric file in the order of writing, if any, and what was left out."""
    faulty, datasets, torn, count = Count(), dict[str, None](), False, 0
    tables: list[FloatArray] = [np.empty((0, 3))]
    numbered = read_lines(path, _LONGEST_LINE)
    while batch := list(islice(numbered, _LINES_AT_ONCE)):
        if not batch[-1][1].endswith(b"\n"):
            # A truncated number may still be a number.
            torn = True
            batch.pop()
        tables.append(_parse_lines(batch, faulty, datasets))
        count += len(tables[-1])
        if count > MOST_POINTS:
            message = f"the metric has more than {MOST_POINTS:,} values"
            raise UnreadableError(path, message, "Thin it out before it is read")
    rest = " not of the form timestamp, value, step: left out"
    findings = list(faulty.describe(path, "line is", "lines are", rest))
    if torn:
        read = f"the {format_count(count, 'whole one')} before it {'is' if count == 1 else 'are'} read"
        message = f"the last line is torn, as when a run is killed or still writing: {read}"
        findings.append(warn(path, message))
    if not count and not findings:
        findings.append(warn(path, "the file holds no value"))
    if len(datasets) > 1:
        names = join_names([f'"{name}"' for name in datasets], most=_FEW)
        message = f"values for {len(datasets)} datasets ({names}) stand under one name, as one curve"
        findings.append(warn(path, message))
    tables = [np.concatenate(tables)]
    times, values, steps = tables.pop().T.copy()
    return Points(steps, values, times) if count else None, findings


def _parse_lines(batch: Sequence[tuple[int, bytes]], faulty: Count, datasets: dict[str, None]) -> FloatArray:
    """Return times, values and steps of numbered lines, shape (n, 3), at once if each has three numbers."""
    if not batch:
        return np.empty((0, 3))
    lines = [line for _, line in batch]
    with suppress(ValueError, UnicodeError):
        table: FloatArray = np.loadtxt(lines, np.float64, comments=None, ndmin=2, encoding="ascii")
        if table.shape == (len(batch), _NEW) and bool(np.isfinite(table[:, 0]).all()):
            return table
    rows = []
    for number, line in batch:
        parts = line.decode("utf-8", "replace").split()
        cells = [cell for part in parts[:3] if (cell := parse_number_text(part)) is not None]
        known = len(parts) in {_OLD, _NEW} or len(parts) >= _WITH_DATASET
        if not known or len(cells) < min(len(parts), _NEW) or not math.isfinite(cells[0]):
            faulty.add(number)
            continue
        rows.append(cells if len(parts) > _OLD else [1000 * cells[0], cells[1], math.nan])
        if dataset := " ".join(parts[3:-1]):
            datasets[dataset] = None
    return np.array(rows, np.float64).reshape(-1, 3)


_TRASH: Final = ".trash"
_MOST_FINDINGS: Final = 20


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit per store: the folder of experiments, or the part of it that the user named."""
    experiments, runs = _find_folders(files)
    groups = _group_files(files, runs)
    existing = set(files)
    stores: dict[Path, list[Path]] = {}
    for run, path in runs.items():
        experiment = path.parent
        store = experiment.parent.parent if experiment.parent.name == _TRASH else experiment.parent
        store_files = stores.setdefault(store, [])
        if experiments.pop(os.fspath(experiment), None):
            store_files.append(experiment / _META)
        store_files += [path / _META] if path / _META in existing else []
        store_files += [file for _, _, file in groups[run]]
    # The store, unless only a folder within it was named: then the deepest folder with all files.
    common = Path(os.path.commonpath([file.parent for file in files])) if stores else Path()
    return tuple(
        Unit(common if common.is_relative_to(store) else store, tuple(store_files))
        for store, store_files in stores.items()
    )


class _Run(Struct, frozen=True):
    """Run's folder, its files as in ``_group_files``, and the entries for it and its experiment."""

    folder: Path
    files: Sequence[tuple[str, str, Path]]
    entries: Mapping[str, str]
    findings: Sequence[Diagnostic]
    experiment: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the run, which older versions store in a tag."""
        return self.entries.get("run_name") or self.entries.get("name", "")

    @property
    def deleted(self) -> bool:
        stages = [entries.get("lifecycle_stage") for entries in (self.entries, self.experiment)]
        return DELETED in stages or self.folder.parent.parent.name == _TRASH

    def list_files(self, part: str) -> list[tuple[str, Path]]:
        return [(name, file) for of_part, name, file in self.files if of_part == part]


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield every run of the store that is not deleted; only selected metrics are opened."""
    experiment_folders, folders = _find_folders(unit.files)
    groups = _group_files(unit.files, folders)
    experiments = {
        name: _read_meta(path / _META, "experiment_id") for name, path in experiment_folders.items()
    }
    runs = [
        _Run(
            folder,
            groups[name],
            *_read_meta(folder / _META, "run_id", "run_uuid"),
            experiments.get(os.fspath(folder.parent), ({}, []))[0],
        )
        for name, folder in folders.items()
    ]
    # Folder names are random, so sort by start time.
    alive = sorted(
        (run for run in runs if not run.deleted),
        key=lambda run: parse_number_text(run.entries.get("start_time", "")) or math.inf,
    )
    findings = [*report_deleted(unit.path, len(runs) - len(alive), len(runs))]
    findings += [finding for _, problems in experiments.values() for finding in problems]
    names = {run.folder.name: run.name for run in runs}
    waiting: list[LoggedRun] = []
    refused: UnreadableError | None = None
    any_read = False
    for run in alive:
        logged, error = _read_run(run, names, unit.selected, findings)
        waiting.append(logged)
        findings = []
        refused, any_read = refused or error, any_read or error is None
        if any_read:
            yield from waiting
            waiting.clear()
    if refused and not any_read:
        raise refused


def _read_run(
    run: _Run, names: Mapping[str, str], selected: Collection[str] | None, findings: Sequence[Diagnostic]
) -> tuple[LoggedRun, UnreadableError | None]:
    """Return a run with findings about the store, and an error if none of its metrics can be read."""
    texts: dict[str, dict[str, str]] = {"tags": {}, "params": {}}
    of_files: list[Diagnostic] = []
    for part, of_part in texts.items():
        for name, file in run.list_files(part):
            decoding = Decoder(file)
            try:
                of_part[name] = decoding.read_whole(_LONGEST)
            except UnreadableError as error:
                of_files.append(report_left_out(error))
            of_files += decoding.list_findings()
    metrics: dict[str, Points] = {}
    failed: list[UnreadableError] = []
    files = [(name, file) for name, file in run.list_files("metrics") if selected is None or name in selected]
    for name, file in files:
        try:
            points, faults = read_metric(file)
        except UnreadableError as error:
            failed.append(error)
            of_files.append(report_left_out(error))
            continue
        of_files += faults
        metrics |= {name: points} if points else {}
    entries, folder, tags = run.entries, run.folder, texts["tags"]
    if more := of_files[_MOST_FINDINGS:]:
        message = f"{len(more):,} more files of the run are irregular in these ways"
        of_files = [*of_files[:_MOST_FINDINGS], warn(folder, message)]
    endings = [*warn_unfinished(folder, entries.get("status", "")), *warn_without_steps(folder, metrics)]
    every = (*findings, *run.findings, *endings, *of_files)
    run_id = entries.get("run_id") or entries.get("run_uuid") or folder.name
    group = run.experiment.get("name") or entries.get("experiment_id", folder.parent.name)
    config = build_config(texts["params"], tags, names)
    logged = LoggedRun(folder, tags.get(RUN_NAME) or run.name, run_id, group, config, metrics, findings=every)
    return logged, failed[0] if failed and len(failed) == len(files) else None
