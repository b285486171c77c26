"""What to tell of imported runs: what was irregular, guessed, or left out."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.errors import Place, Problem, Severity, Stage
from reportgen.read.content import few
from reportgen.read.find import ending_of, place_of
from reportgen.read.runs.alike_problems import alike_problems
from reportgen.read.runs.evaluation_problems import evaluation_problems
from reportgen.read.runs.run_methods import method_of
from reportgen.read.runs.run_names import UNNAMED
from reportgen.read.units import title_of
from reportgen.read.wording import names
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.choosing import Chosen
    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.read.runs.kept_units import KeptFinding
    from reportgen.read.units import FoundUnits
    from reportgen.settings.source import SourceSettings

# The key that keeps the series as they were found.
_SETTLED: Final = {
    "their names": "name",
    "their folders": "folder",
    "folders and names": "[folder, name]",
    "groups and names": "[group, name]",
}
_MOST_UNITS: Final = 20
# Findings of so many units are told one by one.
_FEW_UNITS: Final = 3
_NUMBERS: Final = re.compile(r"\d[\d,.]*")
_TABLES: Final = frozenset(("csv", "tsv", "jsonl", "parquet"))


def import_problems(
    location: Location, settings: SourceSettings, chosen: Chosen, found: FoundUnits, runs: ImportedRuns
) -> tuple[Problem, ...]:
    """Warnings about what was read, in the order of their places."""
    told = chain(
        _findings(runs),
        _left_out(location, chosen, found),
        _names(location, settings, runs),
        _apart(location, settings, runs),
        _without_settings(location, settings, runs),
        evaluation_problems(location, settings, runs),
    )
    return tuple(replace(problem, severity=Severity.WARNING) for problem in told)


def _findings(runs: ImportedRuns) -> Iterator[Problem]:
    """What the readers found: once what they found of many units, and not more than a person reads."""
    alike: dict[str, dict[str, KeptFinding]] = defaultdict(dict)
    for unit in runs.units:
        for one in unit.kept.findings:
            alike[_NUMBERS.sub("#", one.message)].setdefault(one.path, one)
    many = {message for message, found in alike.items() if len(found) > _FEW_UNITS}
    yield from (_folded(list(found.values())) for message, found in alike.items() if message in many)
    by_unit = [
        [
            Problem(Place(one.path, one.line), one.message, "", Stage.DATA)
            for one in unit.kept.findings
            if _NUMBERS.sub("#", one.message) not in many
        ]
        for unit in runs.units
    ]
    by_unit = [problems for problems in by_unit if problems]
    for problems in by_unit[:_MOST_UNITS]:
        yield from (replace(problem, next_step="") for problem in few(problems))
    if rest := by_unit[_MOST_UNITS:]:
        message = f"something irregular was found in {counted(len(rest), 'more run', 'more runs')} like this"
        yield replace(rest[0][0], message=message)


def _folded(found: Sequence[KeptFinding]) -> Problem:
    """What was found in many places, told at the first of them; of numbers that differ, the first ones."""
    first = found[0]
    like = "the same" if len({one.message for one in found}) == 1 else "the same with other numbers"
    others = listing([one.path for one in found[1:]], most=2)
    message = f"{first.message}; {like} in {len(found) - 1:,} more: {others}"
    return Problem(Place(first.path, first.line), message, "", Stage.DATA)


def _left_out(location: Location, chosen: Chosen, found: FoundUnits) -> Iterator[Problem]:
    """Other formats, and tables, of which a source with runs reads none."""
    read = f"the source is read as {title_of(found.units[0].format)}"
    for name, count in found.left_out:
        message = f"{read}, and {count} of {title_of(name)} left out: one format a source"
        yield Problem(location.place, message, f"Say format: {name} to read these", Stage.DATA)
    taken = chosen.unread.union(*(unit.files for unit in found.units))
    others = {form for form, _ in found.left_out}
    tables = [path for path in chosen.paths if path not in taken and ending_of(path)[1] in _TABLES]
    if tables and not others:
        shown = names(place_of(path, location.path).file for path in tables)
        message = f"{read}, and {counted(len(tables), 'table')} beside left out: {shown}"
        advice = "Name what is to be read with files:, or make the others a source of their own"
        yield Problem(location.place, message, advice, Stage.DATA)


def _names(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """How series and seeds were guessed, which runs are alike, and which are parts of one."""
    naming = runs.naming
    if naming.guessed:
        seeds = f", and seeds by {naming.seed_by}" if naming.seed_by else ""
        series = dict.fromkeys(name.series for name in naming.names)
        message = f"series were told apart by {naming.series_by}{seeds}: {names(series)}"
        advice = "Settle it with series_from: and seed_from:, or with files: and groups, in source.yml"
        yield Problem(location.place, message, advice, Stage.DATA)
    yield from alike_problems(location, settings, runs)
    if naming.resumed:
        shown = names(naming.names[places[0]].run for places in naming.resumed)
        count = counted(len(naming.resumed), "run")
        message = f"{count} resumed under the same id: {shown}; where its parts overlap, the later one counts"
        yield Problem(location.place, message, "", Stage.DATA)
    unnamed = [place for place, name in enumerate(naming.names) if name.series == UNNAMED]
    if unnamed and settings.series_from:
        shown = names(dict.fromkeys(runs.candidates[place].run.path for place in unnamed))
        message = f"series_from: {len(unnamed)} of {len(naming.names)} runs have no such thing: {shown}"
        files = listing([file for file, _ in _lacking_files(runs, unnamed) if file])
        advice = f'They are the series "{UNNAMED}"{f"; write {files} there" if files else ""}'
        yield Problem(location.place, message, advice, Stage.DATA)


def _apart(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """Runs of which each is a series, and which may be repetitions of a few."""
    if key := method_of(settings, runs):
        series = dict.fromkeys(name.series for name in runs.naming.names)
        bare = len(_bare_places(runs))
        them = counted(len(series) - bare, "of them", "of them") if bare else "them"
        message = (
            f"each of {len(series)} runs is a series of its own, though {key} and the seed tell {them} apart"
        )
        advice = f"If those of one {key} are repetitions, say series_from: {key} in source.yml"
        if own := _SETTLED.get(runs.naming.series_by):
            advice = f"{advice}; if not, say series_from: {own}"
        yield Problem(location.place, message, advice, Stage.DATA)


def _without_settings(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """Runs whose settings or seed nothing tells, where those of the others bring them together."""
    places = runs.naming.seedless or (_bare_places(runs) if method_of(settings, runs) else ())
    if not places:
        return
    others = len(runs.candidates) - len(places)
    for file, several in _lacking_files(runs, places):
        shown = names(runs.candidates[place].run.path for place in several)
        named = names(f'"{name}"' for name in dict.fromkeys(runs.naming.names[at].series for at in several))
        message, advice = f"no settings tell the seed of {shown}", "Add it to them, as in seed: 1"
        if file:
            message = f"{shown} {'has' if len(several) == 1 else 'have'} no {file}"
            advice = f"Write {file} there, with the settings and the seed of the run, as in seed: 1"
        message += (
            f", unlike the other {counted(others, 'run')}: nothing tells which of these "
            f"{'it repeats' if len(several) == 1 else 'they repeat'}, if any; read as the series {named}"
        )
        advice += ", or leave it out with files: in source.yml"
        yield Problem(location.place, message, advice, Stage.DATA)


def _lacking_files(runs: ImportedRuns, places: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The files that all runs but these have, as words, and the places of those that lack them."""
    files = [{file.name for file in unit.unit.files} for unit, of_unit in runs.by_unit() for _ in of_unit]
    usual = set[str]().union(*files).intersection(*(one for at, one in enumerate(files) if at not in places))
    lacking: dict[str, list[int]] = defaultdict(list)
    for place in places:
        lacking[listing(sorted(usual - files[place]))].append(place)
    return list(lacking.items())


def _bare_places(runs: ImportedRuns) -> tuple[int, ...]:
    """Places of runs with values of which neither settings nor seed are known."""
    pairs = enumerate(zip(runs.candidates, runs.naming.names, strict=True))
    return tuple(
        place for place, (one, name) in pairs if one.run.metrics and not one.run.config and name.seed is None
    )
