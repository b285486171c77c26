"""The runs of all units of a source, in the order of writing, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Stage
from reportgen.read.find import locate_file
from reportgen.read.runs.run_labels import shorten_paths
from reportgen.read.runs.run_names import name_runs
from reportgen.read.runs.run_settings import Candidate, get_value, list_value_names
from reportgen.read.wording import suggest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.model import SourceFile
    from reportgen.read.cells import Text
    from reportgen.read.choosing import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.logged import Unit
    from reportgen.read.runs.kept_units import StoredUnit
    from reportgen.read.runs.run_names import Naming
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class ImportedUnit:
    """A unit that was read.

    Attributes:
        unit: its files.
        files: the same with their hashes.
        stored: its runs, and the parts with its rows.
        parts: where each part lies, relative to the project or absolute.
    """

    unit: Unit
    files: tuple[SourceFile, ...]
    stored: StoredUnit
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """Units with the names of their runs.

    Attributes:
        units: in the order of writing: in natural order, but parts of one run in that of time.
        candidates: every run, in the order of the units.
        naming: their names.
    """

    units: tuple[ImportedUnit, ...]
    candidates: tuple[Candidate, ...]
    naming: Naming

    def iterate_units(self) -> Iterator[tuple[ImportedUnit, range]]:
        """Each unit, and the places of its runs."""
        begin = 0
        for unit in self.units:
            yield unit, range(begin, begin + len(unit.stored.runs))
            begin += len(unit.stored.runs)


def name_imported_runs(
    location: Location, settings: SourceSettings, chosen: ChosenFiles, units: Sequence[ImportedUnit]
) -> ImportedRuns:
    """Find the names of all runs.

    Args:
        location: the source.
        settings: what ``source.yml`` says.
        chosen: the files of the source, with the labels that ``files:`` gives them.
        units: what was read, in natural order.

    Raises:
        ReportError: the settings name something that no run has.
    """
    source = settings.title or location.name
    candidates = _make_candidates(location, chosen, units)
    problems = list(_report_unknown(location, settings, candidates))
    if problems:
        raise ReportError(*problems)
    naming = name_runs(candidates, settings, source)
    ordered = _order_units(units, naming)
    if ordered != list(units):
        candidates = _make_candidates(location, chosen, ordered)
        naming = name_runs(candidates, settings, source)
    return ImportedRuns(tuple(ordered), candidates, naming)


def _make_candidates(
    location: Location, chosen: ChosenFiles, units: Sequence[ImportedUnit]
) -> tuple[Candidate, ...]:
    runs = [(run, _labels(chosen, unit)) for unit in units for run in unit.stored.runs]
    top = PurePosixPath(locate_file(location.path, location.root).file)
    paths = [_below(PurePosixPath(run.path), top) for run, _ in runs]
    return tuple(
        Candidate(run, labels, path, folder)
        for (run, labels), path, folder in zip(runs, paths, shorten_paths(paths), strict=True)
    )


def _below(path: PurePosixPath, top: PurePosixPath) -> str:
    """A path below the source; of the source itself nothing."""
    return path.relative_to(top).as_posix() if path.is_relative_to(top) and path != top else ""


def _labels(chosen: ChosenFiles, unit: ImportedUnit) -> Mapping[str, Text]:
    """What ``files:`` tells of the first file of a unit that it tells anything of."""
    return next((labels for file in unit.unit.files if (labels := chosen.get_labels(file))), {})


def _report_unknown(
    location: Location, settings: SourceSettings, candidates: Sequence[Candidate]
) -> Iterator[Problem]:
    """What the settings want runs to be named by, and no run has."""
    series = settings.series_from or ()
    requested = [("series_from", name) for name in ((series,) if isinstance(series, str) else series)]
    requested += [("seed_from", settings.seed_from or ""), ("run_from", settings.run_from or "")]
    for key, name in requested:
        if name and name != "folder" and all(get_value(one, name) is None for one in candidates):
            message = f'{key}: no run has "{name}"'
            advice = suggest_names(name, list_value_names(candidates), "They have")
            yield Problem(location.place, message, advice, Stage.DATA)


def _order_units(units: Sequence[ImportedUnit], naming: Naming) -> list[ImportedUnit]:
    """Units, those with parts of one run in the order of time."""
    owner = [index for index, unit in enumerate(units) for _ in unit.stored.runs]
    order = list(range(len(units)))
    for places in naming.resumed:
        parts = list(dict.fromkeys(owner[place] for place in places))
        slots = sorted(order.index(part) for part in parts)
        for slot, part in zip(slots, parts, strict=True):
            order[slot] = part
    return [units[place] for place in order]
