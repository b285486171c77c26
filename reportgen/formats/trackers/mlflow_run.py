"""What MLflow says of a run: its ``meta.yaml``, its settings, which are texts, and how it ended.

Source: ``mlflow/store/tracking/file_store.py``, ``mlflow/entities/lifecycle_stage.py``, ``run_status.py`` and
``utils/mlflow_tags.py`` of the repository mlflow/mlflow. In a file store a run's folder is called by its
id, 32 hexadecimal digits, so it is known as one also where its ``meta.yaml`` is empty, cut off or gone.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostics
from reportgen.core.words import format_count, join_names
from reportgen.formats.runs import Finding, UnreadableError
from reportgen.formats.text_files import Decoder, is_pointer, read_head, read_whole, report_left_out
from reportgen.settings.text import normalise_text
from reportgen.settings.yaml_tree import MappingNode as Tree
from reportgen.settings.yaml_tree import Origin, ScalarNode, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reportgen.formats.runs import Points, Setting


DELETED: Final = "deleted"
RUN_NAME: Final = "mlflow.runName"
_PARENT: Final = "mlflow.parentRunId"

_FEW: Final = 3
# A file store writes the number, a database the word.
_RUNNING: Final = ("1", "RUNNING")
_ENDED: Final = {"4": "failed", "FAILED": "failed", "5": "was killed", "KILLED": "was killed"}


def parse_setting(text: str) -> Setting:
    """A parameter, which MLflow keeps as text: the number or truth value of that text, otherwise the text."""
    if text in {"True", "False"}:
        return text == "True"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # 007 and 1.50 stay what they are; nan and inf are no settings to reckon with.
        if str(value) == text and value - value == 0:
            return value
    return text


def build_config(
    params: Mapping[str, str], tags: Mapping[str, str], runs: Mapping[str, str]
) -> dict[str, Setting]:
    """The parent run, the user's tags as ``tags.NAME`` and the parameters; ``runs`` has all names by id."""
    config: dict[str, Setting] = {}
    if parent := tags.get(_PARENT):
        config["parent"] = runs.get(parent) or parent
    for name, text in tags.items():
        if not name.startswith("mlflow."):  # MLflow sets these itself
            config[f"tags.{name}"] = parse_setting(text)
    return config | {name: parse_setting(text) for name, text in params.items()}


def warn_without_steps(path: Path, metrics: Mapping[str, Points]) -> tuple[Finding, ...]:
    """At most one: metrics whose values all stand at the step that MLflow takes where it is given none."""
    names = [
        f'"{name}"'
        for name, points in metrics.items()
        if len(points.steps) > 1 and not points.steps.any() and points.times is not None
    ]
    if not names:
        return ()
    values = f"all values of {join_names(names, most=_FEW)} stand at step 0"
    message = (
        f'{values}, as where log_metric is given no step: "x: time" in a block draws them one after the other'
    )
    return (Finding(path, message),)


def warn_unfinished(path: Path, status: str) -> tuple[Finding, ...]:
    """At most one: that the run did not come to its end, or not yet."""
    if status in _RUNNING:
        message = "MLflow says that the run is still running, as also where it was killed"
        return (Finding(path, f"{message}: values may be missing"),)
    how = _ENDED.get(status)
    return (Finding(path, f"MLflow says that the run {how}: its values end there"),) if how else ()


def report_deleted(path: Path, deleted: int, total: int) -> tuple[Finding, ...]:
    """At most one: runs that were deleted in MLflow; raises ``UnreadableError`` where there is no other."""
    if not total:
        raise UnreadableError(path, "the store has no run")
    if deleted == total:
        message = f"all {format_count(total, 'run')} of this store are deleted"
        raise UnreadableError(path, message, "Restore them with mlflow runs restore")
    if not deleted:
        return ()
    were = "is" if deleted == 1 else "are"
    return (Finding(path, f"{format_count(deleted, 'run')} of {total:,} {were} deleted in MLflow: left out"),)


META: Final = "meta.yaml"
PARTS: Final = ("metrics", "params", "tags")

_LONGEST: Final = 1 << 20
_OF_RUN: Final = re.compile(rb"^run_(uu)?id:", re.MULTILINE)
_OF_EXPERIMENT: Final = re.compile(rb"^experiment_id:", re.MULTILINE)
_OTHER: Final = re.compile(rb"^(model_id|request_id|trace_id):", re.MULTILINE)
_RUN_FOLDER: Final = re.compile(r"[0-9a-f]{32}")
_SEP: Final = re.escape(os.sep)
_OF_PART: Final = re.compile(rf"(.*?{_SEP}[0-9a-f]{{32}}){_SEP}(?:{'|'.join(PARTS)}){_SEP}")
_UNKNOWN: Final = "what it says of the run (its end, whether it was deleted) is unknown"
_UNKNOWN_GROUP: Final = "what it says of the experiment (its name, whether it was deleted) is unknown"


@dataclass(slots=True)
class Meta:
    """The entries of a ``meta.yaml`` as texts: an experiment may be called 007 or 1e3.

    Attributes:
        path: the file, which may be missing.
        of_run: whether it is a run's or an experiment's.
        entries: empty where it cannot be read.
        findings: why entries are missing.
    """

    path: Path
    of_run: bool = True
    entries: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.path.exists():
            self._report("the file is missing")
            return
        decoding = Decoder(self.path)
        try:
            text = decoding.decode(read_whole(self.path, _LONGEST))
        except UnreadableError as error:
            self.findings.append(report_left_out(error, self._unknown))
            return
        problems = Diagnostics()
        with problems.collecting():
            tree = parse(normalise_text(text), Origin(self.path.name), any_tag=True)
            self._take(tree)
        for problem in problems.found[:1]:
            self._report(problem.message, problem.location.line)
        self.findings += decoding.list_findings()

    @property
    def name(self) -> str:
        """What is called so; older versions keep the name of a run in a tag."""
        return self.entries.get("run_name") or self.entries.get("name", "")

    def _take(self, tree: object) -> None:
        if not isinstance(tree, Tree):
            self._report("the file is empty" if tree is None else "the file holds no keys with values")
            return
        self.entries = {
            name: node.text
            for name, node in tree.entries.items()
            if isinstance(node, ScalarNode) and node.value is not None
        }
        ids = ("run_id", "run_uuid") if self.of_run else ("experiment_id",)
        if not any(name in self.entries for name in ids):
            self._report(f"the file has no {ids[0]}, as where it was cut off")

    @property
    def _unknown(self) -> str:
        return _UNKNOWN if self.of_run else _UNKNOWN_GROUP

    def _report(self, problem: str, line: int | None = None) -> None:
        self.findings.append(Finding(self.path, f"{problem}: {self._unknown}", line))


def find_folders(files: Sequence[Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """The folders of experiments and of runs: by what their ``meta.yaml`` says, otherwise by their names."""
    experiments: dict[str, Path] = {}
    runs: dict[str, Path] = {}
    unclear: dict[str, Path] = {}
    for file in files:
        if file.name != META:
            continue
        folder, beginning = file.parent, read_head(file)
        if _OTHER.search(beginning):
            continue
        # Written by alphabet: what a run's was cut to may say the experiment's id, and nothing of the run.
        cut = _RUN_FOLDER.fullmatch(folder.name)
        if _OF_RUN.search(beginning) or (cut and is_pointer(beginning)):
            runs[os.fspath(folder)] = folder
        elif _OF_EXPERIMENT.search(beginning) and not cut:
            experiments[os.fspath(folder)] = folder
        else:
            unclear[os.fspath(folder)] = folder
    runs |= _find_runs_by_name(
        files, unclear, {*experiments, *(os.fspath(run.parent) for run in runs.values())}, runs
    )
    above = {os.fspath(run.parent) for run in runs.values()}
    return experiments | {name: folder for name, folder in unclear.items() if name in above}, runs


def _find_runs_by_name(
    files: Sequence[Path], unclear: Mapping[str, Path], experiments: Collection[str], runs: Mapping[str, Path]
) -> dict[str, Path]:
    """Folders called by the id of a run that no ``meta.yaml`` makes one.

    With metrics, parameters or tags below them, or in an experiment; not those within other runs.
    """
    matches = (_OF_PART.match(os.fspath(file)) for file in files)
    held = dict.fromkeys(match[1] for match in matches if match)
    named = [name for name, folder in unclear.items() if _RUN_FOLDER.fullmatch(folder.name)]
    found: dict[str, Path] = {}
    for name in dict.fromkeys([*named, *held]):
        folder = Path(name)
        of_run = (name in unclear and name in held) or os.fspath(folder.parent) in experiments
        if of_run and name not in runs and not any(os.fspath(one) in runs for one in folder.parents):
            found[name] = folder
    return found
