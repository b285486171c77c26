"""What to tell of imported runs: what was irregular, guessed, or left out."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Severity, SourceLocation, Stage
from reportgen.read.content import limit_problems
from reportgen.read.find import locate_file, split_ending
from reportgen.read.runs.alike_problems import report_indistinct_runs
from reportgen.read.runs.evaluation_problems import report_evaluations
from reportgen.read.runs.run_methods import find_method
from reportgen.read.runs.run_names import UNNAMED
from reportgen.read.units import get_title
from reportgen.read.wording import list_names
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.choosing import ChosenFiles
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


def report_imports(
    location: Location, settings: SourceSettings, chosen: ChosenFiles, found: FoundUnits, runs: ImportedRuns
) -> tuple[Problem, ...]:
    """Warnings about what was read, in the order of their places."""
    problems = chain(
        _report_findings(runs),
        _report_left_out(location, chosen, found),
        _report_names(location, settings, runs),
        _report_likely_series(location, settings, runs),
        _report_missing_settings(location, settings, runs),
        report_evaluations(location, settings, runs),
    )
    return tuple(replace(problem, severity=Severity.WARNING) for problem in problems)


def _report_findings(runs: ImportedRuns) -> Iterator[Problem]:
    """What the readers found: once what they found of many units, and not more than a person reads."""
    by_message: dict[str, dict[str, KeptFinding]] = defaultdict(dict)
    for unit in runs.units:
        for one in unit.stored.findings:
            by_message[_NUMBERS.sub("#", one.message)].setdefault(one.path, one)
    many = {message for message, found in by_message.items() if len(found) > _FEW_UNITS}
    yield from (
        _merge_findings(list(found.values())) for message, found in by_message.items() if message in many
    )
    by_unit = [
        [
            Problem(SourceLocation(one.path, one.line), one.message, "", Stage.DATA)
            for one in unit.stored.findings
            if _NUMBERS.sub("#", one.message) not in many
        ]
        for unit in runs.units
    ]
    by_unit = [problems for problems in by_unit if problems]
    for problems in by_unit[:_MOST_UNITS]:
        yield from (replace(problem, next_step="") for problem in limit_problems(problems))
    if rest := by_unit[_MOST_UNITS:]:
        message = (
            f"something irregular was found in {format_count(len(rest), 'more run', 'more runs')} like this"
        )
        yield replace(rest[0][0], message=message)


def _merge_findings(found: Sequence[KeptFinding]) -> Problem:
    """What was found in many places, told at the first of them; of numbers that differ, the first ones."""
    first = found[0]
    like = "the same" if len({one.message for one in found}) == 1 else "the same with other numbers"
    others = join_names([one.path for one in found[1:]], most=2)
    message = f"{first.message}; {like} in {len(found) - 1:,} more: {others}"
    return Problem(SourceLocation(first.path, first.line), message, "", Stage.DATA)


def _report_left_out(location: Location, chosen: ChosenFiles, found: FoundUnits) -> Iterator[Problem]:
    """Other formats, and tables, of which a source with runs reads none."""
    read = f"the source is read as {get_title(found.units[0].format)}"
    for name, count in found.left_out:
        message = f"{read}, and {count} of {get_title(name)} left out: one format a source"
        yield Problem(location.place, message, f"Say format: {name} to read these", Stage.DATA)
    taken = chosen.unreadable.union(*(unit.files for unit in found.units))
    others = {form for form, _ in found.left_out}
    tables = [path for path in chosen.paths if path not in taken and split_ending(path)[1] in _TABLES]
    if tables and not others:
        shown = list_names(locate_file(path, location.path).file for path in tables)
        message = f"{read}, and {format_count(len(tables), 'table')} beside left out: {shown}"
        advice = "Name what is to be read with files:, or make the others a source of their own"
        yield Problem(location.place, message, advice, Stage.DATA)


def _report_names(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """How series and seeds were guessed, which runs are alike, and which are parts of one."""
    naming = runs.naming
    if naming.guessed:
        seeds = f", and seeds by {naming.seed_by}" if naming.seed_by else ""
        series = dict.fromkeys(name.series for name in naming.names)
        message = f"series were told apart by {naming.series_by}{seeds}: {list_names(series)}"
        advice = "Settle it with series_from: and seed_from:, or with files: and groups, in source.yml"
        yield Problem(location.place, message, advice, Stage.DATA)
    yield from report_indistinct_runs(location, settings, runs)
    if naming.resumed:
        shown = list_names(naming.names[places[0]].run for places in naming.resumed)
        count = format_count(len(naming.resumed), "run")
        message = f"{count} resumed under the same id: {shown}; where its parts overlap, the later one counts"
        yield Problem(location.place, message, "", Stage.DATA)
    unnamed = [index for index, name in enumerate(naming.names) if name.series == UNNAMED]
    if unnamed and settings.series_from:
        shown = list_names(dict.fromkeys(runs.candidates[place].run.path for place in unnamed))
        message = f"series_from: {len(unnamed)} of {len(naming.names)} runs have no such thing: {shown}"
        files = join_names([file for file, _ in _find_missing_files(runs, unnamed) if file])
        advice = f'They are the series "{UNNAMED}"{f"; write {files} there" if files else ""}'
        yield Problem(location.place, message, advice, Stage.DATA)


def _report_likely_series(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Problem]:
    """Runs of which each is a series, and which may be repetitions of a few."""
    if key := find_method(settings, runs):
        series = dict.fromkeys(name.series for name in runs.naming.names)
        bare = len(_find_bare_runs(runs))
        them = format_count(len(series) - bare, "of them", "of them") if bare else "them"
        message = (
            f"each of {len(series)} runs is a series of its own, though {key} and the seed tell {them} apart"
        )
        advice = f"If those of one {key} are repetitions, say series_from: {key} in source.yml"
        if own := _SETTLED.get(runs.naming.series_by):
            advice = f"{advice}; if not, say series_from: {own}"
        yield Problem(location.place, message, advice, Stage.DATA)


def _report_missing_settings(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Problem]:
    """Runs whose settings or seed nothing tells, where those of the others bring them together."""
    places = runs.naming.seedless or (_find_bare_runs(runs) if find_method(settings, runs) else ())
    if not places:
        return
    others = len(runs.candidates) - len(places)
    for file, several in _find_missing_files(runs, places):
        shown = list_names(runs.candidates[place].run.path for place in several)
        named = list_names(
            f'"{name}"' for name in dict.fromkeys(runs.naming.names[at].series for at in several)
        )
        message, advice = f"no settings tell the seed of {shown}", "Add it to them, as in seed: 1"
        if file:
            message = f"{shown} {'has' if len(several) == 1 else 'have'} no {file}"
            advice = f"Write {file} there, with the settings and the seed of the run, as in seed: 1"
        message += (
            f", unlike the other {format_count(others, 'run')}: nothing tells which of these "
            f"{'it repeats' if len(several) == 1 else 'they repeat'}, if any; read as the series {named}"
        )
        advice += ", or leave it out with files: in source.yml"
        yield Problem(location.place, message, advice, Stage.DATA)


def _find_missing_files(runs: ImportedRuns, places: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The files that all runs but these have, as words, and the places of those that lack them."""
    files = [
        {file.name for file in unit.unit.files} for unit, of_unit in runs.iterate_units() for _ in of_unit
    ]
    usual = set[str]().union(*files).intersection(*(one for at, one in enumerate(files) if at not in places))
    missing: dict[str, list[int]] = defaultdict(list)
    for index in places:
        missing[join_names(sorted(usual - files[index]))].append(index)
    return list(missing.items())


def _find_bare_runs(runs: ImportedRuns) -> tuple[int, ...]:
    """Places of runs with values of which neither settings nor seed are known."""
    pairs = enumerate(zip(runs.candidates, runs.naming.names, strict=True))
    return tuple(
        place for place, (one, name) in pairs if one.run.metrics and not one.run.config and name.seed is None
    )
