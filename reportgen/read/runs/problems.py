"""What to report of imported runs: what was irregular, guessed, indistinguishable or left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.words import format_count, join_names
from reportgen.formats.files import split_ending
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.registry import get_title
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import choose_metrics, list_scored_runs, list_scores
from reportgen.read.runs.labels import find_differences
from reportgen.read.runs.names import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.formats.registry import FoundUnits
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.runs.labels import Candidate
    from reportgen.read.runs.stored import StoredFinding, StoredRun
    from reportgen.settings.source import SourceSettings


def find_method(settings: SourceSettings, runs: ImportedRuns) -> str | None:
    """The setting whose values may be the series of all runs, and the seeds their repetitions.

    Returns:
        None where names or ``source.yml`` bring runs together already, or nothing says that they belong so:
        of each value there are several runs, and no two of them have the same seed.
    """
    logged = [
        (candidate, name)
        for candidate, name in zip(runs.candidates, runs.naming.names, strict=True)
        # What nothing is known of says nothing of the others.
        if candidate.run.metrics and (candidate.run.config or name.seed is not None)
    ]
    alone = len({name.series for _, name in logged}) == len(logged)
    named = settings.series_from or any("series" in candidate.labels for candidate, _ in logged)
    if named or not alone or runs.naming.resumed or any(one.run.evaluated for one, _ in logged):
        return None
    known = find_differences([candidate for candidate, _ in logged])
    keys = known.choose_keys()
    if len(keys) != 1 or None in known.values:
        return None
    index, seeds = known.keys.index(keys[0]), defaultdict(list)
    for values, (_, name) in zip(known.values, logged, strict=True):
        seeds[values[index] if values else None].append(name.seed)
    repeated = all(
        len(several) > 1 and len({*several} - {None}) == len(several) for several in seeds.values()
    )
    return keys[0] if repeated else None


_MOST: Final = 20
_MOST_KEYS: Final = 5


def _report_indistinct(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Diagnostic]:
    """Runs that are read as different runs of one series, what is the same on many benchmarks once."""
    naming = runs.naming
    # The evaluations of which no score is taken.
    chosen = choose_metrics(list_scored_runs(runs), settings)
    unread = {
        index
        for index, one in enumerate(runs.candidates)
        if (taken := chosen.get(one.run.benchmark))
        and one.run.evaluated
        and not {*taken} & {*list_scores(one.run)}
    }
    by_message: dict[str, list[list[int]]] = defaultdict(list)
    for mixed, groups in ((False, naming.indistinct), (True, naming.mixed)):
        of_name: dict[tuple[str, str | None], list[list[int]]] = defaultdict(list)
        for group in groups:
            if len(read := [index for index in group if index not in unread]) > 1:
                name = naming.names[read[0]]
                of_name[name.series, None if mixed else name.seed].append(read)
        for (series, seed), several in of_name.items():
            seed_text = f"seed {seed}" if seed is not None else "no seed"
            message = f'{len(several[0])} runs have the series "{series}" and {seed_text}'
            if mixed:
                message = f'{len(several[0])} runs of the series "{series}" differ in more than seeds'
            by_message[message] += several
    for message, (first, *others) in list(by_message.items())[:_MOST]:
        candidates = [runs.candidates[index] for index in first]
        paths = [one.run.path for one in candidates]
        # What they are called says more where they lie in one place.
        shown = paths if len(set(paths)) > 1 else [one.run.name or one.run.id for one in candidates]
        more = format_count(len(others), "more benchmark")
        same = f"; likewise on {more}" if others else ""
        whole = f"{message}: {list_names(shown)}{same}"
        yield Diagnostic(location.place, whole, _suggest_keys(candidates), Stage.DATA)
    if (rest := len(by_message) - _MOST) > 0:
        message = f"the same holds of {format_count(rest, 'more series or seed', 'more series and seeds')}"
        yield Diagnostic(location.place, message, "", Stage.DATA)


def _suggest_keys(candidates: Sequence[Candidate]) -> str:
    """What to do about runs of one series: by which of their settings they could be told apart."""
    known = find_differences(candidates)
    several = known.list_differing()
    advice = "They are read as different runs of one series"
    if not several:
        return f"{advice}. If they are not, tell them apart with series_from: or seed_from:"
    shown = join_names(several, most=_MOST_KEYS)
    first = (known.choose_keys() or several)[0]
    first = f"[model, {first}]" if all(one.run.model for one in candidates) else first
    return f"{advice}, but differ in {shown}: tell them apart with series_from: {first}, if that matters"


def _report_evaluations(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Diagnostic]:
    """Evaluations of which not everything is read."""
    scored = list_scored_runs(runs)
    answered = any(run.metrics for run in scored)
    for run in (candidate.run for candidate in runs.candidates if candidate.run.evaluated):
        of, place = _name_evaluation(run), SourceLocation(run.path)
        if not run.finished:
            message = f"the evaluation of {of} did not finish; what is there is read"
            yield Diagnostic(place, message, "Leave it out with files:, or let it finish", Stage.DATA)
        if answered and run.totals and not run.metrics:
            message = f"of {of} there are totals only; they are not read, since others here have answers"
            advice = "Let the harness write its samples, too, or make these a source of their own"
            yield Diagnostic(place, message, advice, Stage.DATA)
    yield from _report_scores(location, settings, scored)


def _name_evaluation(run: StoredRun) -> str:
    """What is evaluated on what; of an evaluation that says neither, its file."""
    return " on ".join(filter(None, (run.model or run.name, run.benchmark))) or PurePosixPath(run.path).name


def _report_scores(
    location: Location, settings: SourceSettings, scored: Sequence[StoredRun]
) -> Iterator[Diagnostic]:
    """Scores that are there and not taken, and evaluations that lack those that are."""
    chosen = choose_metrics(scored, settings)
    several: Counter[tuple[tuple[str, ...], str]] = Counter()
    for run in scored:
        taken, there, of = chosen[run.benchmark], list_scores(run), _name_evaluation(run)
        if not set(taken) & set(there):
            message = f"of {of} there is no score by {list_names(taken)}: it is left out"
            advice = f"It has {list_names(there)}; say with metrics: which are taken"
            if not any(there):
                message = f"the answers of {of} are not graded: they are left out, since others on it are"
                advice = "Grade them, or leave the file out with files:"
            yield Diagnostic(SourceLocation(run.path), message, advice, Stage.DATA)
        if len(there) > 1 and not settings.metrics:
            several[there, taken[0]] += 1
    for (there, first), count in several.items():
        has = "has" if count == 1 else "have"
        message = f"{format_count(count, 'evaluation')} {has} scores by {list_names(there)}; {first} is taken"
        other = next(name for name in there if name != first)
        yield Diagnostic(location.place, message, f"Choose others with metrics: [{other}]", Stage.DATA)


# The key that keeps the series as they were found.
_SETTLED: Final = {
    "their names": "name",
    "their folders": "folder",
    "folders and names": "[folder, name]",
    "groups and names": "[group, name]",
}
_MOST_UNITS: Final = 20
# Findings of so many units are reported one by one.
_FEW_UNITS: Final = 3
_NUMBERS: Final = re.compile(r"\d[\d,.]*")
_TABLES: Final = frozenset(("csv", "tsv", "jsonl", "parquet"))


def report_imports(
    location: Location, settings: SourceSettings, chosen: ChosenFiles, found: FoundUnits, runs: ImportedRuns
) -> tuple[Diagnostic, ...]:
    """Warnings about what was read, in the order of their locations."""
    problems = chain(
        _report_findings(runs),
        _report_left_out(location, chosen, found),
        _report_names(location, settings, runs),
        _report_likely_series(location, settings, runs),
        _report_missing_settings(location, settings, runs),
        _report_evaluations(location, settings, runs),
    )
    return tuple(replace(problem, severity=Severity.WARNING) for problem in problems)


def _report_findings(runs: ImportedRuns) -> Iterator[Diagnostic]:
    """What the readers found: once what they found of many units, and not more than a person reads."""
    by_message: dict[str, dict[str, StoredFinding]] = defaultdict(dict)
    for unit in runs.units:
        for one in unit.stored.findings:
            by_message[_NUMBERS.sub("#", one.message)].setdefault(one.path, one)
    many = {message: found for message, found in by_message.items() if len(found) > _FEW_UNITS}
    yield from (_merge_findings(list(found.values())) for found in many.values())
    by_unit = [
        [
            Diagnostic(SourceLocation(one.path, one.line), one.message, "", Stage.DATA)
            for one in unit.stored.findings
            if _NUMBERS.sub("#", one.message) not in many
        ]
        for unit in runs.units
    ]
    by_unit = [problems for problems in by_unit if problems]
    for problems in by_unit[:_MOST_UNITS]:
        yield from (replace(problem, next_step="") for problem in limit_problems(problems))
    if rest := by_unit[_MOST_UNITS:]:
        count = format_count(len(rest), "more run")
        yield replace(rest[0][0], message=f"something irregular was found in {count} like this")


def _merge_findings(found: Sequence[StoredFinding]) -> Diagnostic:
    """What was found in many indices, at the first of them; of numbers that differ, the first ones."""
    first = found[0]
    like = "the same" if len({one.message for one in found}) == 1 else "the same with other numbers"
    others = join_names([one.path for one in found[1:]], most=2)
    message = f"{first.message}; {like} in {len(found) - 1:,} more: {others}"
    return Diagnostic(SourceLocation(first.path, first.line), message, "", Stage.DATA)


def _report_left_out(location: Location, chosen: ChosenFiles, found: FoundUnits) -> Iterator[Diagnostic]:
    """Other formats, and tables, of which a source with runs reads none."""
    read = f"the source is read as {get_title(found.units[0].format)}"
    for name, count in found.left_out:
        message = f"{read}, and {count} of {get_title(name)} left out: one format a source"
        yield Diagnostic(location.place, message, f"Say format: {name} to read these", Stage.DATA)
    taken = chosen.unreadable.union(*(unit.files for unit in found.units))
    others = {form for form, _ in found.left_out}
    tables = [path for path in chosen.paths if path not in taken and split_ending(path)[1] in _TABLES]
    if tables and not others:
        shown = list_names(locate_file(path, location.path).file for path in tables)
        message = f"{read}, and {format_count(len(tables), 'table')} beside left out: {shown}"
        advice = "Name what is to be read with files:, or make the others a source of their own"
        yield Diagnostic(location.place, message, advice, Stage.DATA)


def _report_names(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Diagnostic]:
    """How series and seeds were guessed, which runs are not told apart, and which are parts of one."""
    naming = runs.naming
    if naming.guessed:
        seeds = f", and seeds by {naming.seed_by}" if naming.seed_by else ""
        series = dict.fromkeys(name.series for name in naming.names)
        message = f"series were told apart by {naming.series_by}{seeds}: {list_names(series)}"
        advice = "Settle it with series_from: and seed_from:, or with files: and groups, in source.yml"
        yield Diagnostic(location.place, message, advice, Stage.DATA)
    yield from _report_indistinct(location, settings, runs)
    if naming.resumed:
        shown = list_names(naming.names[indices[0]].run for indices in naming.resumed)
        count = format_count(len(naming.resumed), "run")
        message = f"{count} resumed under the same id: {shown}; where its parts overlap, the later one counts"
        yield Diagnostic(location.place, message, "", Stage.DATA)
    unnamed = [index for index, name in enumerate(naming.names) if name.series == UNNAMED]
    if unnamed and settings.series_from:
        shown = list_names(dict.fromkeys(runs.candidates[index].run.path for index in unnamed))
        message = f"series_from: {len(unnamed)} of {len(naming.names)} runs have no such thing: {shown}"
        files = join_names([file for file, _ in _find_missing_files(runs, unnamed) if file])
        advice = f'They are the series "{UNNAMED}"{f"; write {files} there" if files else ""}'
        yield Diagnostic(location.place, message, advice, Stage.DATA)


def _report_likely_series(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Diagnostic]:
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
        yield Diagnostic(location.place, message, advice, Stage.DATA)


def _report_missing_settings(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Diagnostic]:
    """Runs whose settings or seed nothing tells, where those of the others bring them together."""
    indices = runs.naming.seedless or (_find_bare_runs(runs) if find_method(settings, runs) else ())
    if not indices:
        return
    others = len(runs.candidates) - len(indices)
    for file, several in _find_missing_files(runs, indices):
        shown = list_names(runs.candidates[index].run.path for index in several)
        named = list_names(
            f'"{name}"' for name in dict.fromkeys(runs.naming.names[index].series for index in several)
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
        yield Diagnostic(location.place, message, advice, Stage.DATA)


def _find_missing_files(runs: ImportedRuns, indices: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The files that all runs but these have, as words, and the indices of those that lack them."""
    files = [
        {file.name for file in unit.unit.files} for unit, of_unit in runs.iterate_units() for _ in of_unit
    ]
    usual = (
        set[str]()
        .union(*files)
        .intersection(*(one for index, one in enumerate(files) if index not in indices))
    )
    missing: dict[str, list[int]] = defaultdict(list)
    for index in indices:
        missing[join_names(sorted(usual - files[index]))].append(index)
    return list(missing.items())


def _find_bare_runs(runs: ImportedRuns) -> tuple[int, ...]:
    """The indices of runs with values of which neither settings nor seed are known."""
    pairs = enumerate(zip(runs.candidates, runs.naming.names, strict=True))
    return tuple(
        place for place, (one, name) in pairs if one.run.metrics and not one.run.config and name.seed is None
    )
