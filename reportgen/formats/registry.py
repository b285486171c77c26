"""The formats of loggers and harnesses, and which files of a folder belong to which of their units.

A new format is a module as ``Reader`` describes it, and a line below. A module is imported only where the
name of a file matches.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from reportgen.formats.files import split_ending
from reportgen.formats.runs import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from reportgen.formats.runs import Evaluation, LoggedRun


@dataclass(frozen=True, slots=True)
class UnitFormat:
    """A format that is read in units."""

    name: str  # what ``format:`` of a source says
    module: str
    # File names that may be of this format, in small letters; some of a unit's files have one.
    patterns: tuple[str, ...]
    # Whether it is left out, unless ``format:`` names it, where there are tables that it does not read:
    # console output repeats them, and lists of answers may be cells of theirs.
    weak: bool = False

    def matches(self, name: str) -> bool:
        """Whether a file of this name may be of this format."""
        return any(fnmatchcase(name.lower(), pattern) for pattern in self.patterns)


class Reader(Protocol):
    """What a reader's module has."""

    NAME: str
    TITLE: str

    def find_units(self, files: Sequence[Path]) -> tuple[Unit, ...]:
        """The files of this format, grouped."""

    def read(self, unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun | Evaluation]:
        """What a unit holds; raises ``UnreadableError`` where none of it can be read."""


def _make_format(module: str, *patterns: str, name: str = "", weak: bool = False) -> UnitFormat:
    return UnitFormat(name or module.rpartition(".")[2], f"reportgen.formats.{module}", patterns, weak)


_DATABASES: Final = ("*.db", "*.sqlite", "*.sqlite3")
# Where runs were logged in several formats, the first of them here is read: the most complete first, the
# least certain last. The Trainer logs for TensorBoard, too, into folders that say nothing of the run.
LOGGERS: tuple[UnitFormat, ...] = (
    _make_format("trackers.wandb", "*.wandb"),
    _make_format("trackers.trainer_state", "*.json"),
    _make_format("trackers.tensorboard", "*tfevents*"),
    _make_format("trackers.mlflow_sqlite", *_DATABASES),
    _make_format("trackers.mlflow_files", "meta.yaml"),
    _make_format("trackers.trackio", *_DATABASES),
    _make_format("trackers.dvclive", "*.tsv", "metrics.json"),
    _make_format("trackers.metrics_csv", "*.csv", "*.tsv", "*.log", "*.txt"),
    _make_format("trackers.step_json", "*.jsonl", "*.ndjson", "*.json", "*.log"),
    _make_format("trackers.console", "*.log", "*.txt", "*.out", "*.err", weak=True),
)
HARNESSES: tuple[UnitFormat, ...] = (
    _make_format("evaluations.inspect_logs", "*.eval", "*.json", name="inspect"),
    _make_format("evaluations.lm_eval", "*.json", "*.jsonl"),
    _make_format("evaluations.lighteval", "*.json"),
    _make_format("evaluations.helm", "run_spec.json", "stats.json", "per_instance_stats.json"),
    _make_format("evaluations.promptfoo", "*.json", "*.jsonl", "*.ndjson"),
    _make_format("evaluations.mt_bench", "*.jsonl", "*.ndjson"),
    _make_format("evaluations.answer_lists", "*.json", "*.jsonl", "*.ndjson", weak=True),
)


@dataclass(frozen=True, slots=True)
class FoundUnits:
    """What a folder holds that loggers or harnesses wrote."""

    units: tuple[Unit, ...] = ()  # of one format, in natural order
    left_out: tuple[tuple[str, int], ...] = ()  # other formats that there are, too, and numbers of units


def list_formats() -> tuple[UnitFormat, ...]:
    """All formats that are read in units, in the order in which they are looked for: weak ones last."""
    return tuple(sorted((*LOGGERS, *HARNESSES), key=lambda form: form.weak))


def find_format(name: str | None) -> UnitFormat | None:
    """The format that ``format:`` names; None for a format of tables."""
    return next((form for form in list_formats() if form.name == name), None)


def load_reader(form: UnitFormat) -> Reader:
    """The reader's module, imported when it is first needed."""
    return cast("Reader", importlib.import_module(form.module))


def get_title(name: str) -> str:
    """A format as people call it."""
    form = find_format(name)
    return load_reader(form).TITLE if form else name


def is_unit_name(name: str) -> bool:
    """Whether a file's name is none of a table, but one that a logger or harness gives."""
    return split_ending(Path(name))[1] is None and any(form.matches(name) for form in list_formats())


def find_units(files: Sequence[Path], form: str | None = None, *, named: bool = False) -> FoundUnits:
    """The units among files: those of the first format that has not less than half as many as another one.

    One run is often logged in several formats at once, so two of them are never mixed; but a format that only
    one of many runs has does not hide the others. ``files`` are in natural order, ``form`` is the only format
    to look for; with it, ``named`` files are those that the user named, each a unit, whatever its name.
    """
    found: dict[str, tuple[Unit, ...]] = {}
    for candidate in [find_format(form)] if form else list_formats():
        if candidate is None or not (form or any(candidate.matches(file.name) for file in files)):
            continue
        units = load_reader(candidate).find_units(files)
        used = {file for unit in units for file in unit.files}
        others = [file for file in files if file not in used]
        if (
            candidate.weak
            and not form
            and any(split_ending(file)[1] not in {None, "json"} for file in others)
        ):
            continue
        if form and named:
            units += tuple(Unit(candidate.name, file, (file,)) for file in others)
        if units:
            found[candidate.name] = units
    if not found:
        return FoundUnits()
    weak = {candidate.name for candidate in list_formats() if candidate.weak}
    most = max(len(units) for name, units in found.items() if name not in weak or weak.issuperset(found))
    first = next(name for name, units in found.items() if 2 * len(units) >= most)
    left_out = tuple((name, len(units)) for name, units in found.items() if name != first)
    return FoundUnits(found[first], left_out)
