"""The runs of all units of a source: in the order of writing, with their names, scores and protocols."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.formats.layout import FileLayout
from reportgen.formats.messages import suggest_names
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import Candidate, get_value, list_value_names, shorten_paths
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.write_parquet import CODE
from reportgen.settings.source import Protocol, make_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.core.model import SourceFile
    from reportgen.formats.cells import Text
    from reportgen.formats.runs import Unit
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.runs.names import Naming
    from reportgen.read.runs.stored import StoredPart, StoredRun, StoredUnit
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class ImportedUnit:
    """A unit that was read: its files with their hashes, what is stored of it, and the path of each part."""

    unit: Unit
    files: tuple[SourceFile, ...]
    stored: StoredUnit
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """Units with the names of their runs, which are candidates in the order of the units.

    Units are in the order of writing: in natural order, but parts of one run in that of time.
    """

    units: tuple[ImportedUnit, ...]
    candidates: tuple[Candidate, ...]
    naming: Naming

    def iterate_units(self) -> Iterator[tuple[ImportedUnit, range]]:
        """Each unit, and the indices of its runs."""
        begin = 0
        for unit in self.units:
            yield unit, range(begin, begin + len(unit.stored.runs))
            begin += len(unit.stored.runs)


def name_imported_runs(
    location: Location, settings: SourceSettings, chosen: ChosenFiles, units: Sequence[ImportedUnit]
) -> ImportedRuns:
    """Find the names of all runs of units, which are in natural order.

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
    """All runs, each with what ``files:`` tells of the first file of its unit that it tells anything of."""
    top = PurePosixPath(locate_file(location.path, location.root).file)
    runs, paths = [], []
    for unit in units:
        labels = next((found for file in unit.unit.files if (found := chosen.get_labels(file))), {})
        for run in unit.stored.runs:
            path = PurePosixPath(run.path)
            below = path.is_relative_to(top) and path != top
            paths.append(path.relative_to(top).as_posix() if below else "")
            runs.append((run, labels))
    return tuple(
        Candidate(run, labels, path, folder)
        for (run, labels), path, folder in zip(runs, paths, shorten_paths(paths), strict=True)
    )


def _report_unknown(
    location: Location, settings: SourceSettings, candidates: Sequence[Candidate]
) -> Iterator[Diagnostic]:
    """What the settings want runs to be named by, and no run has."""
    series = settings.series_from or ()
    requested = [("series_from", name) for name in ((series,) if isinstance(series, str) else series)]
    requested += [("seed_from", settings.seed_from or ""), ("run_from", settings.run_from or "")]
    for key, name in requested:
        if name and name != "folder" and all(get_value(one, name) is None for one in candidates):
            advice = suggest_names(name, list_value_names(candidates), "They have")
            yield Diagnostic(location.place, f'{key}: no run has "{name}"', advice, Stage.DATA)


def _order_units(units: Sequence[ImportedUnit], naming: Naming) -> list[ImportedUnit]:
    """Units, those with parts of one run in the order of time."""
    owner = [index for index, unit in enumerate(units) for _ in unit.stored.runs]
    order = list(range(len(units)))
    for group in naming.resumed:
        parts = list(dict.fromkeys(owner[index] for index in group))
        slots = sorted(order.index(part) for part in parts)
        for slot, part in zip(slots, parts, strict=True):
            order[slot] = part
    return [units[index] for index in order]


def make_file(
    location: Location,
    unit: ImportedUnit,
    part: StoredPart,
    copy: str,
    given: tuple[tuple[str, tuple[Text, ...]], ...],
) -> FileLayout:
    """A part of a unit, with columns that have one value for all of it or one for each code in it."""
    own = [(name, kind) for name, kind in zip(part.columns, part.types, strict=True) if name != CODE]
    return FileLayout(
        path=locate_file(unit.unit.path, location.root).file,
        format="parquet",
        compression="",
        columns=tuple(name for name, _ in own),
        types=tuple(kind for _, kind in own),
        copy=copy,
        given=given,
        code=CODE if part.run is None else "",
    )


def choose_metrics(runs: Iterable[StoredRun], settings: SourceSettings) -> dict[str, tuple[str, ...]]:
    """Which scores are taken on each benchmark, the same of every evaluation: series are compared by them.

    They are those that ``metrics:`` names or, where the benchmark has none of these, the first that all of
    its evaluations have; without such a one the first of all. Answers that nobody graded have a score without
    a name, which counts only where no evaluation has another.
    """
    by_benchmark: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for run in runs:
        by_benchmark[run.benchmark].append(list_scores(run))
    chosen = {}
    for benchmark, every in by_benchmark.items():
        scores = [one for one in every if any(one)] or every
        there = tuple(dict.fromkeys(chain.from_iterable(scores)))
        named = tuple(name for name in there if name in (settings.metrics or ()))
        shared = tuple(name for name in there if all(name in one for one in scores))
        chosen[benchmark] = named or shared[:1] or there[:1]
    return chosen


def list_scores(run: StoredRun) -> tuple[str, ...]:
    """The names of an evaluation's scores: of its answers or, where it has none, of its totals."""
    return tuple(run.metrics) or tuple(dict.fromkeys(total.metric for total in run.totals))


def list_scored_runs(runs: ImportedRuns) -> list[StoredRun]:
    """The evaluations that are read: those with answers or, where none has any, those with totals."""
    found = [one.run for one in runs.candidates if one.run.evaluated]
    return [run for run in found if run.metrics] or [run for run in found if run.totals]


def name_benchmark(run: StoredRun, metric: str, chosen: Mapping[str, tuple[str, ...]]) -> str | None:
    """What a benchmark is called by one of its scores; None where that score is not taken."""
    taken = chosen.get(run.benchmark, ())
    if metric not in taken:
        return None
    if len(taken) < 2:  # noqa: PLR2004 - the only one needs no name
        return run.benchmark
    return f"{run.benchmark} ({metric})" if run.benchmark else metric


def list_benchmarks(files: Iterable[FileLayout], settings: SourceSettings) -> tuple[str, ...]:
    """The benchmarks of evaluations, those that ``filter:`` leaves, in order of first appearance."""
    cell = settings.filter.get("benchmark")
    selected = None if cell is None else {str(one) for one in (cell if isinstance(cell, tuple) else (cell,))}
    named = dict.fromkeys(name for file in files for name in file.get_given("benchmark") or () if name)
    return tuple(name for name in named if selected is None or name in selected)


def map_score_names(runs: Iterable[StoredRun], settings: SourceSettings) -> dict[str, str]:
    """Benchmark to its score where one is taken; of several, each is in the name of its benchmark."""
    chosen = choose_metrics(runs, settings)
    return {name: taken[0] for name, taken in chosen.items() if len(taken) == 1 and taken[0]}


def add_protocols(settings: SourceSettings, runs: ImportedRuns) -> SourceSettings:
    """Settings with the protocols that files tell: what all series share, and what one has of its own.

    What differs between the evaluations of one series is left out, and what the settings say stands.
    """
    reported: dict[str, list[dict[str, object]]] = defaultdict(list)
    read = {id(run) for run in list_scored_runs(runs)}
    for candidate, name in zip(runs.candidates, runs.naming.names, strict=True):
        if id(candidate.run) in read:
            series = settings.rename.get(name.series, name.series)
            reported[series].append(_get_fields(make_protocol(candidate.run.protocol)))
    if not reported:
        return settings
    by_series = {series: _find_shared(protocols) for series, protocols in reported.items()}
    common, general = _find_shared(list(by_series.values())), _get_fields(settings.protocol)
    protocols = dict(settings.protocols)
    for series, shared in by_series.items():
        stated = _get_fields(protocols[series]) if series in protocols else {}
        # A key that the settings give for all series stands for each of them.
        own = {key: value for key, value in shared.items() if key not in {*common, *general}} | stated
        if own:
            protocols[series] = Protocol.model_validate(own)
    protocol = Protocol.model_validate({**common, **general})
    return settings.model_copy(update={"protocol": protocol, "protocols": protocols})


def _find_shared(protocols: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The fields that are the same in several protocols."""
    return {
        key: value for key, value in protocols[0].items() if all(one.get(key) == value for one in protocols)
    }


def _get_fields(protocol: Protocol) -> dict[str, object]:
    return protocol.model_dump(exclude_none=True)
