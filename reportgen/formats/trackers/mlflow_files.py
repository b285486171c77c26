"""MLflow's file store: a folder per run, with a text file per metric, parameter and tag.

Source: ``mlflow/store/tracking/file_store.py``, ``mlflow/entities/lifecycle_stage.py``, ``run_status.py`` and
``utils/mlflow_tags.py`` of the repository mlflow/mlflow. The layout is
``EXPERIMENT/RUN/{meta.yaml,metrics/**,params/**,tags/**}`` next to ``EXPERIMENT/meta.yaml``; a name with a
slash is a file in folders. A run's folder is named after its id, 32 hexadecimal digits, and is known by that
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
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.core.words import format_count, join_names
from reportgen.formats.decode import Count, Decoder, read_head, read_lines, report_left_out
from reportgen.formats.run_data import MetricsBuilder, parse_number_text, parse_yaml
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Points, Setting


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
_TRASH: Final = ".trash"
_LONGEST: Final = 1 << 20
_LONGEST_LINE: Final = 64 << 10
_OLD, _NEW, _WITH_DATASET = 2, 3, 5
_OF_RUN: Final = re.compile(rb"^run_(uu)?id:", re.MULTILINE)
_RUN_FOLDER: Final = re.compile(r"[0-9a-f]{32}")
_PARTS: Final = ("metrics", "params", "tags")


class _Run(Struct):
    """Folder of a run and its files by part, with their names there."""

    folder: Path
    parts: dict[str, list[tuple[str, Path]]] = field(default_factory=lambda: defaultdict(list))
    entries: Mapping[str, str] = field(default_factory=dict)  # of its description
    experiment: Mapping[str, str] = field(default_factory=dict)  # of the description of its experiment

    @property
    def name(self) -> str:
        """Name of the run, which older versions store in a tag."""
        return self.entries.get("run_name") or self.entries.get("name", "")

    @property
    def start(self) -> float:
        """Time of its start; folder names are random."""
        return parse_number_text(self.entries.get("start_time", "")) or math.inf

    @property
    def deleted(self) -> bool:
        stages = [entries.get("lifecycle_stage") for entries in (self.entries, self.experiment)]
        return DELETED in stages or self.folder.parent.parent.name == _TRASH


def _find_runs(files: Sequence[Path]) -> list[_Run]:
    """Return the runs in files: folders with the name of a run, or with its description.

    What is within a run, as its artifacts, is no other run.
    """
    runs: dict[Path, _Run] = {}
    described = {file.parent for file in files if file.name == _META}
    known: dict[Path, bool] = {}

    def is_run(folder: Path) -> bool:
        if folder not in known:
            named = _RUN_FOLDER.fullmatch(folder.name) and not described.isdisjoint((folder, folder.parent))
            known[folder] = bool(named or (folder in described and _OF_RUN.search(read_head(folder / _META))))
        return known[folder]

    for file in files:
        folder = next(filter(is_run, reversed(file.parents)), None)
        inner = file.relative_to(folder).parts if folder else ()
        if folder and (inner == (_META,) or inner[0] in _PARTS):
            own = runs.setdefault(folder, _Run(folder)).parts
            name = "/".join(inner[1:]).encode(errors="surrogateescape").decode(errors="replace")
            own[inner[0]].append((name, file))
    return [*runs.values()]


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit per store: the folder of experiments, or the part of it that the user named."""
    existing = set(files)
    stores: dict[Path, dict[Path, None]] = {}
    for run in _find_runs(files):
        experiment = run.folder.parent
        store = experiment.parent.parent if experiment.parent.name == _TRASH else experiment.parent
        own = [file for part in run.parts.values() for _, file in part]
        own += {experiment / _META} & existing
        stores.setdefault(store, {}).update(dict.fromkeys(own))
    # The store, unless only a folder within it was named: then the deepest folder with all files.
    common = Path(os.path.commonpath([file.parent for file in files])) if stores else Path()
    return tuple(
        Unit(common if common.is_relative_to(store) else store, tuple(own)) for store, own in stores.items()
    )


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield every run of the store that is not deleted; only selected metrics are opened."""
    runs, existing = _find_runs(unit.files), set(unit.files)
    metas = {run.folder.parent / _META for run in runs} & existing
    experiments = {meta.parent: _read_meta(meta, "experiment_id") for meta in sorted(metas)}
    findings = [finding for _, problems in experiments.values() for finding in problems]
    of_runs: dict[Path, list[Diagnostic]] = {}
    for run in runs:
        run.entries, of_runs[run.folder] = _read_meta(run.folder / _META, "run_id", "run_uuid")
        run.experiment = experiments.get(run.folder.parent, ({}, []))[0]
    alive = sorted((run for run in runs if not run.deleted), key=lambda run: run.start)
    findings = [*report_deleted(unit.path, len(runs) - len(alive), len(runs)), *findings]
    names = {run.folder.name: run.name for run in runs}
    errors: list[UnreadableError | None] = []
    for run in alive:
        logged, error = _read_run(run, names, unit.selected, [*findings, *of_runs[run.folder]])
        yield logged
        errors.append(error)
        findings = []
    if errors and errors[0] and all(errors):
        raise errors[0]


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
    if not (problem or entries.keys() & {*ids}):
        problem = f"the file has no {ids[0]}, as where it was cut off"
    findings = [warn(path, f"{problem}: {unknown}", line)] if problem else []
    return entries, [*findings, *decoding.list_findings()]


def _read_run(
    run: _Run, names: Mapping[str, str], selected: Collection[str] | None, findings: Sequence[Diagnostic]
) -> tuple[LoggedRun, UnreadableError | None]:
    """Return a run with findings about the store, and an error if none of its metrics can be read."""
    texts: dict[str, dict[str, str]] = {"tags": {}, "params": {}}
    of_files: list[Diagnostic] = []
    for part, of_part in texts.items():
        for name, file in run.parts[part]:
            decoding = Decoder(file)
            try:
                of_part[name] = decoding.read_whole(_LONGEST)
            except UnreadableError as error:
                of_files.append(report_left_out(error))
            of_files += decoding.list_findings()
    builder, failed = MetricsBuilder(run.folder, selected, timed=True), list[UnreadableError]()
    files = [(name, file) for name, file in run.parts["metrics"] if builder.is_selected(name)]
    for name, file in files:
        try:
            of_files += _read_metric(name, file, builder)
        except UnreadableError as error:
            failed.append(error)
            of_files.append(report_left_out(error))
    entries, folder, metrics = run.entries, run.folder, builder.build()
    endings = [*warn_unfinished(folder, entries.get("status", "")), *warn_without_steps(folder, metrics)]
    run_id = entries.get("run_id") or entries.get("run_uuid") or folder.name
    group = run.experiment.get("name") or entries.get("experiment_id", folder.parent.name)
    logged = LoggedRun(
        folder,
        texts["tags"].get(RUN_NAME) or run.name,
        run_id,
        group,
        build_config(texts["params"], texts["tags"], names),
        metrics,
        findings=(*findings, *endings, *of_files),
    )
    return logged, failed[0] if failed and len(failed) == len(files) else None


def _read_metric(name: str, path: Path, builder: MetricsBuilder) -> list[Diagnostic]:
    """Add the whole values of a metric file in the order of writing; return what was left out."""
    faulty, datasets, torn, count = Count(), dict[str, None](), False, 0
    for number, line in read_lines(path, _LONGEST_LINE):
        if not line.endswith(b"\n"):
            torn = True  # a truncated number may still be a number
            break
        parts = line.decode("utf-8", "replace").split()
        cells = [cell for part in parts[:_NEW] if (cell := parse_number_text(part)) is not None]
        known = len(parts) in {_OLD, _NEW} or len(parts) >= _WITH_DATASET
        if not known or len(cells) < min(len(parts), _NEW) or not math.isfinite(cells[0]):
            faulty.add(number)
            continue
        time, value, step = cells if len(parts) > _OLD else (1000 * cells[0], cells[1], math.nan)
        builder.add(name, step, value, time)
        count += 1
        if dataset := " ".join(parts[_NEW:-1]):
            datasets[dataset] = None
    rest = " not of the form timestamp, value, step: left out"
    findings = list(faulty.describe(path, "line is", "lines are", rest))
    if torn:
        read = f"the {format_count(count, 'whole one')} before it {'is' if count == 1 else 'are'} read"
        message = f"the last line is torn, as when a run is killed or still writing: {read}"
        findings.append(warn(path, message))
    if not count and not findings:
        findings.append(warn(path, "the file holds no value"))
    if len(datasets) > 1:
        named = join_names([f'"{dataset}"' for dataset in datasets], most=_FEW)
        message = f"values for {len(datasets)} datasets ({named}) stand under one name, as one curve"
        findings.append(warn(path, message))
    return findings
