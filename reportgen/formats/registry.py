"""Registry of logger and harness formats, and the search for their units in a folder.

A new format is a module that implements ``Reader``, and an entry below. A module is imported only if a file
name matches.
"""

from __future__ import annotations

import importlib
import re
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from msgspec import Struct

from reportgen.formats.files import get_archive_ending, split_ending, split_weak_ending
from reportgen.formats.runs import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from reportgen.formats.runs import Evaluation, LoggedRun


class UnitFormat(Struct, frozen=True):
    """Format that is read in units."""

    name: str  # the name in ``format:`` of a source
    module: str
    # File names that may be of this format, in lower case; at least one file of a unit matches.
    patterns: tuple[str, ...]
    # Whether it is left out, unless ``format:`` names it, if there are tables that it does not read: console
    # output repeats them, and answer lists may be their cells.
    weak: bool = False
    # Whether files that a format above it reads are not of it.
    rest: bool = False

    def matches(self, name: str) -> bool:
        """Return whether a file of this name may be of this format."""
        return bool(_compile(self.patterns).match(name.lower()))


@cache
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


class Reader(Protocol):
    """Interface of a reader's module."""

    NAME: str
    TITLE: str

    def find_units(self, files: Sequence[Path]) -> tuple[Unit, ...]:
        """Return the files of this format, grouped into units."""

    def read(self, unit: Unit, selected: Collection[str] | None = None) -> Iterator[LoggedRun | Evaluation]:
        """Yield the contents of a unit; raise ``UnreadableError`` if none of it can be read."""


def _make_format(
    module: str, *patterns: str, name: str = "", weak: bool = False, rest: bool = False
) -> UnitFormat:
    return UnitFormat(name or module.rpartition(".")[2], f"reportgen.formats.{module}", patterns, weak, rest)


_DATABASES: Final = ("*.db", "*.sqlite", "*.sqlite3")
# If runs were logged in several formats, the first of them is read: the most complete formats come first, the
# least certain ones last. The Trainer also logs for TensorBoard, in folders that do not identify the run.
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
    _make_format("logs.optuna_studies", *_DATABASES, "*.csv", "*.log", "*.jsonl", name="optuna"),
    _make_format("logs.row_logs", "result.json", "progress.csv", name="ray"),
    _make_format("logs.stable_baselines", "*monitor.csv", "progress.csv"),
    _make_format("logs.neptune_export", "*_part_*.parquet", name="neptune"),
    _make_format("logs.documents", "*_results.json", name="trainer_results"),
    _make_format("logs.documents", "*.json", name="keras_history"),
    _make_format("logs.documents", "*.json", name="clearml"),
    _make_format("logs.documents", "*.json", name="comet"),
    _make_format("logs.row_logs", "*.csv", "*.tsv", "*.jsonl", "*.ndjson", name="run_tables", rest=True),
    _make_format("trackers.console", "*.log", "*.txt", "*.out", "*.err", weak=True),
)
HARNESSES: tuple[UnitFormat, ...] = (
    _make_format("evaluations.inspect_logs", "*.eval", "*.json", name="inspect"),
    _make_format("evaluations.lm_eval", "*.json", "*.jsonl"),
    _make_format("evaluations.lighteval", "*.json"),
    _make_format("evaluations.helm", "run_spec.json", "stats.json", "per_instance_stats.json"),
    _make_format("evaluations.promptfoo", "*.json", "*.jsonl", "*.ndjson"),
    _make_format("evaluations.mt_bench", "*.jsonl", "*.ndjson"),
    _make_format("evaluations.matharena", "*.json"),
    _make_format("evaluations.flat_results", "*.json", name="simple_evals"),
    _make_format("evaluations.flat_results", "*.json", name="bigcode"),
    _make_format("evaluations.flat_results", "*.json", "summary_*.csv", name="opencompass"),
    _make_format("evaluations.answer_lists", "*.json", "*.jsonl", "*.ndjson", weak=True),
)


class FoundUnits(Struct, frozen=True):
    """Units of loggers or harnesses in a folder."""

    units: tuple[Unit, ...] = ()  # of one format, in natural order
    left_out: tuple[tuple[str, int], ...] = ()  # other formats found, with their numbers of units


def list_formats() -> tuple[UnitFormat, ...]:
    """Return all formats that are read in units, in search order: weak ones last."""
    return tuple(sorted((*LOGGERS, *HARNESSES), key=lambda form: form.weak))


def find_format(name: str | None) -> UnitFormat | None:
    """Return the format that ``format:`` names; None for a table format."""
    return next((form for form in list_formats() if form.name == name), None)


def load_reader(form: UnitFormat) -> Reader:
    """Import and return the reader: a module, or one of its ``READERS``."""
    module = importlib.import_module(form.module)
    return cast("Reader", getattr(module, "READERS", {}).get(form.name, module))


def get_title(name: str) -> str:
    """Return the display name of a format."""
    form = find_format(name)
    return load_reader(form).TITLE if form else name


def is_unit_name(name: str) -> bool:
    """Return whether a file name is typical of a logger or harness, and not of a table."""
    patterns = tuple(pattern for form in (*LOGGERS, *HARNESSES) for pattern in form.patterns)
    return split_ending(Path(name))[1] is None and bool(_compile(patterns).match(name.lower()))


def is_data_name(name: str) -> bool:
    """Return whether a file of this name may hold data, of any format."""
    is_table = split_weak_ending(Path(name))[1] is not None
    return is_table or is_unit_name(name) or bool(get_archive_ending(name))


def find_units(files: Sequence[Path], form: str | None = None, *, named: bool = False) -> FoundUnits:
    """Find the units of the first format that has at least half as many as any other format.

    One run is often logged in several formats at once, so formats are never mixed; but a format that only one
    of many runs has does not hide the others. ``files`` are in natural order. ``form`` is the only format to
    look for; with ``named``, every file is then a unit whatever its name, since the user named it.
    """
    found: dict[str, tuple[Unit, ...]] = {}
    names = {file.name for file in files}
    for candidate in [find_format(form)] if form else list_formats():
        if candidate is None or not (form or any(map(candidate.matches, names))):
            continue
        own = files
        if candidate.rest or candidate.weak:
            own = _list_unused(files, (unit for units in found.values() for unit in units))
        units = load_reader(candidate).find_units(own)
        if candidate.weak and not form:
            others = _list_unused(files, units)
            if any(split_ending(file)[1] not in {None, "json"} for file in others):
                continue
        if form and named:
            units += tuple(Unit(candidate.name, file, (file,)) for file in _list_unused(files, units))
        if units:
            found[candidate.name] = units
    if not found:
        return FoundUnits()
    weak = {candidate.name for candidate in list_formats() if candidate.weak}
    most = max(len(units) for name, units in found.items() if name not in weak or weak.issuperset(found))
    first = next(name for name, units in found.items() if 2 * len(units) >= most)
    # A weak format may read the same files.
    used = {file for unit in found[first] for file in unit.files}
    repeated = {name for name in weak & {*found} if {unit.files[0] for unit in found[name]} <= used}
    left_out = tuple((name, len(units)) for name, units in found.items() if name not in {first, *repeated})
    return FoundUnits(found[first], left_out)


def _list_unused(files: Sequence[Path], units: Iterable[Unit]) -> list[Path]:
    """Return the files that none of the units has."""
    used = {file for unit in units for file in unit.files}
    return [file for file in files if file not in used]
