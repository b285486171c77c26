"""Warnings about imported runs: irregular, guessed, indistinguishable or left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.words import format_count, join_names
from reportgen.formats.files import split_ending
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.registry import get_title
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import list_scores
from reportgen.read.runs.labels import SCHEMES, find_differences, is_experiment_setting
from reportgen.read.runs.names import UNNAMED, warn_guessed, write_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.find import ChosenFiles
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.runs.labels import Candidate
    from reportgen.read.runs.stored import StoredRun


_MOST_MESSAGES: Final = 20
_MOST_KEYS: Final = 5
# Findings in up to so many files are reported one by one.
_FEW_FILES: Final = 3
_LAST_NUMBER: Final = re.compile(r"\d+$")
_NUMBERS: Final = re.compile(r"\d[\d,.]*")
_TABLES: Final = frozenset(("csv", "tsv", "jsonl", "parquet"))


def find_method(runs: ImportedRuns) -> tuple[str, ...]:
    """Return the settings whose values may be the series of all runs, repeated by seed; empty without any.

    They need several runs of each combination of values, no two with the same seed. There are none if names
    or ``source.yml`` combine runs already. If runs differ in seeds alone, and their names in the last number,
    it is a setting that they share.
    """
    logged = [
        (candidate, name)
        for candidate, name in zip(runs.candidates, runs.naming.names, strict=True)
        # A run without settings and seed has no effect.
        if candidate.run.metrics and (candidate.run.config or name.seed is not None)
    ]
    alone = len({name.series for _, name in logged}) == len(logged)
    named = runs.settings.series_from or any("series" in candidate.labels for candidate, _ in logged)
    if named or not alone or runs.naming.resumed or any(one.run.evaluated for one, _ in logged):
        return ()
    known = find_differences([candidate for candidate, _ in logged])
    keys = known.choose_keys()
    if not known.keys and len({_LAST_NUMBER.sub("", name.series) for _, name in logged}) == 1:
        some = [name.seed for _, name in logged]
        shared = _find_shared_setting([candidate for candidate, _ in logged])
        return (shared,) if shared and len(some) > 1 and len({*some} - {None}) == len(some) else ()
    if not keys or None in known.values:
        return ()
    seeds: dict[tuple[str | None, ...], list[str | None]] = defaultdict(list)
    for values, (_, name) in zip(known.values, logged, strict=True):
        seeds[tuple((values or ())[known.keys.index(key)] for key in keys)].append(name.seed)
    repeated = all(len(some) > 1 and len({*some} - {None}) == len(some) for some in seeds.values())
    return keys if repeated else ()


def _find_shared_setting(candidates: Sequence[Candidate]) -> str:
    """Return a setting that is the same in all runs, words before numbers; empty if none is."""
    first, *others = (one.run.config for one in candidates)
    shared = [
        key
        for key in first
        if is_experiment_setting(key) and all(one.get(key) == first[key] for one in others)
    ]
    return min(shared, key=lambda key: not isinstance(first[key], str), default="")


def report_imports(runs: ImportedRuns, chosen: ChosenFiles) -> tuple[Diagnostic, ...]:
    """Return warnings about imported runs: irregular, guessed, indistinguishable or left out."""
    place, found, problems = runs.location.place, runs.found, [*_report_findings(runs)]
    read = f"the source is read as {get_title(found.units[0].format)}"
    for name, count in found.left_out:
        message = f"{read}, without {count} of {get_title(name)}, since a source has one format"
        problems.append(Diagnostic(place, message, f"Say format: {name} to read these", Stage.DATA))
    taken = chosen.unreadable.union(*(unit.files for unit in found.units))
    tables = [path for path in chosen.paths if path not in taken and split_ending(path)[1] in _TABLES]
    if tables and not found.left_out:
        shown = list_names(locate_file(path, runs.location.path).file for path in tables)
        message = f"{read}, without {format_count(len(tables), 'table')} that it also holds: {shown}"
        advice = "Name what is to be read with files:, or make the others a source of their own"
        problems.append(Diagnostic(place, message, advice, Stage.DATA))
    problems += _report_names(runs)
    problems += _report_evaluations(runs)
    return tuple(replace(problem, severity=Severity.WARNING) for problem in problems)


def _report_findings(runs: ImportedRuns) -> Iterator[Diagnostic]:
    """Yield the readers' findings, those in many files once, and no more than a person reads."""
    by_message: dict[str, list[Diagnostic]] = defaultdict(list)
    for finding in chain.from_iterable(unit.stored.findings for unit in runs.units):
        if finding.confirmed_by not in runs.settings.model_fields_set:
            by_message[_NUMBERS.sub("#", finding.message)].append(finding)
    problems: list[Diagnostic] = []
    for found in by_message.values():
        files = list(dict.fromkeys(one.location.file for one in found))
        if len(files) > _FEW_FILES:
            # At the first of them, with its numbers.
            more = f"{len(files) - 1:,} more: {join_names(files[1:], most=2)}"
            problems.append(replace(found[0], message=f"{found[0].message}; likewise in {more}"))
        else:
            problems += (replace(one, next_step=found[0].next_step) for one in limit_problems(found))
    yield from problems[:_MOST_MESSAGES]
    if rest := problems[_MOST_MESSAGES:]:
        count = format_count(len(rest), "more irregularity", "more irregularities")
        yield replace(rest[0], message=f"{count} such as this one: {rest[0].message}")


def _report_names(runs: ImportedRuns) -> Iterator[Diagnostic]:
    """Warn about guessed series and seeds, indistinguishable runs, and possible repetitions."""
    naming, place = runs.naming, runs.location.place
    series = dict.fromkeys(name.series for name in naming.names)
    yield from warn_guessed(naming, runs.confirmation, place)
    yield from _report_indistinct(runs)
    if naming.resumed:
        shown = list_names(naming.names[indices[0]].run for indices in naming.resumed)
        count = format_count(len(naming.resumed), "run")
        message = f"{count} resumed under the same id: {shown}; where its parts overlap, the later one counts"
        yield Diagnostic(place, message, "", Stage.DATA)
    unnamed = [index for index, name in enumerate(naming.names) if name.series == UNNAMED]
    if unnamed and runs.settings.series_from:
        shown = list_names(dict.fromkeys(_list_paths(runs, unnamed)))
        message = f"series_from: {len(unnamed)} of {len(naming.names)} runs do not have it: {shown}"
        advice = f'They are the series "{UNNAMED}"; add it to their settings'
        yield Diagnostic(place, message, advice, Stage.DATA)
    if naming.seedless:
        count = format_count(len(naming.names) - len(naming.seedless), "other run")
        message = f"no seed is known of {list_names(_list_paths(runs, naming.seedless))}"
        message += f", so that the {count} are not combined"
        advice = "Add it to the settings, as in seed: 1, or leave these out with files: in source.yml"
        yield Diagnostic(place, message, advice, Stage.DATA)
    # A grid of several settings may be meant as it is; ``describe`` suggests what combines its runs.
    if len(keys := find_method(runs)) == 1:
        (key,) = keys
        seeded = sum(name.seed is not None for name in naming.names)
        them = "them" if seeded == len(naming.names) else f"{seeded} of them"
        alone = f"each of {len(series)} runs is a series of its own"
        combined = write_keys({"series_from": key})
        advice = f"If those of one {key} are repetitions, say {combined} in source.yml"
        if own := SCHEMES.get(naming.series_by):
            # The key that preserves the series as found.
            advice += f"; if not, say {write_keys({'series_from': own})}"
        shared = len({candidate.run.config.get(key) for candidate in runs.candidates} - {None}) == 1
        distinct = "the seed alone distinguishes" if shared else f"{key} and the seed distinguish"
        yield Diagnostic(place, f"{alone}, though {distinct} {them}", advice, Stage.DATA)


def _report_indistinct(runs: ImportedRuns) -> Iterator[Diagnostic]:
    """Warn about runs of one series and seed, once if they recur on many benchmarks."""
    naming, chosen, place = runs.naming, runs.chosen, runs.location.place
    # Without evaluations that have none of the chosen scores.
    read = [
        not (run.evaluated and (taken := chosen.get(run.benchmark)))
        or not set(taken).isdisjoint(list_scores(run))
        for run in (candidate.run for candidate in runs.candidates)
    ]
    groups: dict[tuple[bool, str, str | None], list[list[Candidate]]] = defaultdict(list)
    flagged = [*((False, group) for group in naming.indistinct), *((True, group) for group in naming.mixed)]
    for mixed, group in flagged:
        indices = [index for index in group if read[index]]
        if len(indices) > 1:
            name = naming.names[indices[0]]
            key = (mixed, name.series, None if mixed else name.seed)
            groups[key].append([runs.candidates[index] for index in indices])
    for (mixed, series, seed), (candidates, *others) in list(groups.items())[:_MOST_MESSAGES]:
        count, seed_text = len(candidates), "no seed" if seed is None else f"seed {seed}"
        message = f'{count} runs have the series "{series}" and {seed_text}'
        message = f'{count} runs of the series "{series}" differ in more than seeds' if mixed else message
        paths = [one.run.path for one in candidates]
        # Names are more helpful if all have the same path.
        names = [one.run.name or one.run.id for one in candidates]
        shown = list_names(paths if len(set(paths)) > 1 else names)
        same = f"; likewise on {format_count(len(others), 'more benchmark')}" if others else ""
        advice = _advise_indistinct(runs, candidates)
        yield Diagnostic(place, f"{message}: {shown}{same}", advice, Stage.DATA)
    if (rest := len(groups) - _MOST_MESSAGES) > 0:
        message = f"the same holds of {format_count(rest, 'more series or seed', 'more series and seeds')}"
        yield Diagnostic(place, message, "", Stage.DATA)


def _advise_indistinct(runs: ImportedRuns, candidates: Sequence[Candidate]) -> str:
    """Return the lines that confirm that these are runs of one series, or make them several."""
    known, stated = find_differences(candidates), write_keys(runs.different)
    read = "They are read as different runs of one series"
    if differing := known.list_differing():
        model = ["model"] if all(one.run.model for one in candidates) else []
        apart = write_keys({"series_from": [*model, (known.choose_keys() or differing)[0]]})
        read += f", but differ in {join_names(differing, most=_MOST_KEYS)}: distinguish them with {apart}"
        return f"{read}{f', or confirm it with {stated},' if stated else ''} in source.yml"
    is_apart = len({one.folder for one in candidates}) == len(candidates)
    other = "series_from: folder" if is_apart else "series_from: or seed_from:"
    confirmed = f": confirm it with {stated}" if stated else ""
    return f"{read}{confirmed}. If they are not, distinguish them with {other} in source.yml"


def _list_paths(runs: ImportedRuns, indices: Sequence[int]) -> list[str]:
    return [runs.candidates[index].run.path for index in indices]


def _report_evaluations(runs: ImportedRuns) -> Iterator[Diagnostic]:
    """Warn about evaluations that are not read completely, and scores that are not chosen."""
    scored = runs.scored
    answered = any(run.metrics for run in scored)
    evaluations = [candidate.run for candidate in runs.candidates if candidate.run.evaluated]
    for run in evaluations:
        if not run.finished:
            message = f"the evaluation of {_name_evaluation(run)} did not finish; what is there is read"
            advice = "Leave it out with files:, or let it finish"
            yield Diagnostic(SourceLocation(run.path), message, advice, Stage.DATA)
        if answered and run.totals and not run.metrics:
            totals = f"of {_name_evaluation(run)} there are totals only"
            message = f"{totals}; they are not read, since others here have answers"
            advice = "Let the harness write its samples, too, or make these a source of their own"
            yield Diagnostic(SourceLocation(run.path), message, advice, Stage.DATA)
    chosen = runs.chosen
    several: Counter[tuple[tuple[str, ...], str]] = Counter()
    for run in scored:
        taken, there = chosen[run.benchmark], list_scores(run)
        if not set(taken) & set(there):
            name = _name_evaluation(run)
            message = f"of {name} there is no score by {list_names(taken)}: it is left out"
            advice = f"It has {list_names(there)}; choose as in metrics: [{there[0]}]"
            if not any(there):
                message = f"the answers of {name} are not graded: they are left out, since others on it are"
                advice = "Grade them, or leave the file out with files:"
            yield Diagnostic(SourceLocation(run.path), message, advice, Stage.DATA)
        if len(there) > 1 and not runs.settings.metrics:
            several[there, taken[0]] += 1
    for (there, first), count in several.items():
        has = f"{format_count(count, 'evaluation')} {'has' if count == 1 else 'have'}"
        other = next(name for name in there if name != first)
        message, advice = f"{has} scores by {list_names(there)}; {first} is taken", f"[{other}]"
        advice = f"Choose others with metrics: {advice}"
        if runs.taken:
            advice = f"Confirm it with metrics: [{', '.join(runs.taken)}], or c{advice[1:]}"
        yield Diagnostic(runs.location.place, message, advice, Stage.DATA)


def _name_evaluation(run: StoredRun) -> str:
    """Return model and benchmark of an evaluation, or its file if both are unknown."""
    names = filter(None, (run.model or run.name, run.benchmark))
    return " on ".join(names) or PurePosixPath(run.path).name
