"""The runs of all units of a source, in the order of writing, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Stage
from reportgen.read.find import place_of
from reportgen.read.runs.run_labels import distinct_paths
from reportgen.read.runs.run_names import name_runs
from reportgen.read.runs.run_settings import Candidate, names_there_are, value_named
from reportgen.read.wording import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.model import SourceFile
    from reportgen.read.cells import Text
    from reportgen.read.choosing import Chosen
    from reportgen.read.find import Location
    from reportgen.read.logged import Unit
    from reportgen.read.runs.kept_units import KeptUnit
    from reportgen.read.runs.run_names import Naming
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A unit that was read.

    Attributes:
        unit: its files.
        files: the same with their hashes.
        kept: its runs, and the parts with its rows.
        parts: where each part lies, relative to the project or absolute.
    """

    unit: Unit
    files: tuple[SourceFile, ...]
    kept: KeptUnit
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """Units with the names of their runs.

    Attributes:
        units: in the order of writing: in natural order, but parts of one run in that of time.
        candidates: every run, in the order of the units.
        naming: their names.
    """

    units: tuple[ReadUnit, ...]
    candidates: tuple[Candidate, ...]
    naming: Naming

    def by_unit(self) -> Iterator[tuple[ReadUnit, range]]:
        """Each unit, and the places of its runs."""
        begin = 0
        for unit in self.units:
            yield unit, range(begin, begin + len(unit.kept.runs))
            begin += len(unit.kept.runs)


def named_runs(
    location: Location, settings: SourceSettings, chosen: Chosen, units: Sequence[ReadUnit]
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
    candidates = _candidates(location, chosen, units)
    problems = list(_unknown(location, settings, candidates))
    if problems:
        raise ReportError(*problems)
    naming = name_runs(candidates, settings, source)
    ordered = _in_time(units, naming)
    if ordered != list(units):
        candidates = _candidates(location, chosen, ordered)
        naming = name_runs(candidates, settings, source)
    return ImportedRuns(tuple(ordered), candidates, naming)


def _candidates(location: Location, chosen: Chosen, units: Sequence[ReadUnit]) -> tuple[Candidate, ...]:
    runs = [(run, _labels(chosen, unit)) for unit in units for run in unit.kept.runs]
    top = PurePosixPath(place_of(location.path, location.root).file)
    paths = [_below(PurePosixPath(run.path), top) for run, _ in runs]
    return tuple(
        Candidate(run, labels, path, folder)
        for (run, labels), path, folder in zip(runs, paths, distinct_paths(paths), strict=True)
    )


def _below(path: PurePosixPath, top: PurePosixPath) -> str:
    """A path below the source; of the source itself nothing."""
    return path.relative_to(top).as_posix() if path.is_relative_to(top) and path != top else ""


def _labels(chosen: Chosen, unit: ReadUnit) -> Mapping[str, Text]:
    """What ``files:`` tells of the first file of a unit that it tells anything of."""
    return next((labels for file in unit.unit.files if (labels := chosen.labels_of(file))), {})


def _unknown(
    location: Location, settings: SourceSettings, candidates: Sequence[Candidate]
) -> Iterator[Problem]:
    """What the settings want runs to be named by, and no run has."""
    series = settings.series_from or ()
    asked = [("series_from", name) for name in ((series,) if isinstance(series, str) else series)]
    asked += [("seed_from", settings.seed_from or ""), ("run_from", settings.run_from or "")]
    for key, name in asked:
        if name and name != "folder" and all(value_named(one, name) is None for one in candidates):
            message = f'{key}: no run has "{name}"'
            advice = known_names(name, names_there_are(candidates), "They have")
            yield Problem(location.place, message, advice, Stage.DATA)


def _in_time(units: Sequence[ReadUnit], naming: Naming) -> list[ReadUnit]:
    """Units, those with parts of one run in the order of time."""
    owner = [place for place, unit in enumerate(units) for _ in unit.kept.runs]
    order = list(range(len(units)))
    for places in naming.resumed:
        parts = list(dict.fromkeys(owner[place] for place in places))
        slots = sorted(order.index(part) for part in parts)
        for slot, part in zip(slots, parts, strict=True):
            order[slot] = part
    return [units[place] for place in order]
