"""The runs of all units of a source, named and in the order of writing, and their layout as tables.

A table is a Parquet file of a unit, with the names of series, runs and seeds as given columns.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import chain, compress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.score_names import STATUS, is_result
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.evaluations.scores import SUBTASKS
from reportgen.formats.evaluations.texts import TEXTS
from reportgen.formats.layout import FileLayout
from reportgen.formats.messages import suggest_names
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import Candidate, get_value, list_settings, list_value_names, shorten_paths
from reportgen.read.runs.names import confirm_runs, find_confirmation, name_runs
from reportgen.read.runs.stored import CODE, TOTALS, clean_text, write_totals
from reportgen.read.tables.layout import (
    Layout,
    OutcomeRoles,
    Roles,
    Survey,
    TotalRoles,
    check_named_columns,
    find_column,
    get_mapped_columns,
)
from reportgen.read.tables.notations import check_new_names, find_percentages, select_metrics
from reportgen.settings.source import Protocol, make_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.cells import Text
    from reportgen.formats.registry import FoundUnits
    from reportgen.formats.runs import Unit
    from reportgen.read.find import ChosenFiles, Location
    from reportgen.read.runs.names import Naming
    from reportgen.read.runs.stored import StoredRun, StoredUnit
    from reportgen.settings.source import SourceSettings


# Keys that can name runs, the simplest first.
_PARTS: Final = ("sample", "answer", "gold", "tokens", "seconds")
_NO_STEP_NAME: Final = frozenset(("", "_step"))


class ImportedUnit(Struct, frozen=True):
    """A unit that was read: its files with their hashes, its stored form, and the path of each part."""

    unit: Unit
    files: tuple[SourceFile, ...]
    stored: StoredUnit
    parts: tuple[str, ...]


class ImportedRuns(Struct, frozen=True, dict=True):
    """Units in the order of writing: natural order, but parts of one run by time."""

    location: Location
    settings: SourceSettings  # as in ``source.yml``
    found: FoundUnits  # including those that cannot be read
    units: tuple[ImportedUnit, ...]
    candidates: tuple[Candidate, ...]
    naming: Naming

    def iterate_units(self) -> Iterator[tuple[ImportedUnit, range]]:
        """Yield each unit and the indices of its runs."""
        begin = 0
        for unit in self.units:
            yield unit, range(begin, begin + len(unit.stored.runs))
            begin += len(unit.stored.runs)

    @cached_property
    def scored(self) -> list[StoredRun]:
        """Evaluations that are read: those with answers or, if there are none, those with totals."""
        evaluated = [one.run for one in self.candidates if one.run.evaluated]
        return [run for run in evaluated if run.metrics] or [run for run in evaluated if run.totals]

    @cached_property
    def confirmation(self) -> dict[str, object]:
        """Keys of ``source.yml`` that state the guessed names; see ``find_confirmation``."""
        source = self.settings.title or self.location.name
        return find_confirmation(self.naming, self.candidates, self.settings, source)

    @cached_property
    def different(self) -> dict[str, object]:
        """Keys of ``source.yml`` that state that runs of one name are different; see ``confirm_runs``."""
        source = self.settings.title or self.location.name
        return confirm_runs(self.naming, self.candidates, self.settings, source)

    @cached_property
    def taken(self) -> tuple[str, ...]:
        """The ``metrics`` that state which of several scores were chosen; empty if none need be stated."""
        taken = tuple(dict.fromkeys(chain.from_iterable(self.chosen.values())))
        stated = self.settings.model_copy(update={"metrics": taken})
        several = not self.settings.metrics and any(len(list_scores(run)) > 1 for run in self.scored)
        return taken if several and replace(self, settings=stated).chosen == self.chosen else ()

    @cached_property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """Scores chosen on each benchmark; see ``choose_metrics``."""
        return choose_metrics(self.scored, self.settings)


def name_imported_runs(
    location: Location,
    settings: SourceSettings,
    chosen: ChosenFiles,
    found: FoundUnits,
    units: Sequence[ImportedUnit],
) -> ImportedRuns:
    """Name the runs of units given in natural order; raises if settings have unknown names."""
    units = _rename_benchmarks(units, settings, location)
    candidates = _make_candidates(location, chosen, units)
    # Some formats say what a series is.
    usual = found.reader.series_from if found.reader and not settings.series_from else ""
    stated = settings.model_copy(update={"series_from": usual}) if usual else settings
    series = settings.series_from or ()
    requested = [("series_from", name) for name in ((series,) if isinstance(series, str) else series)]
    requested += [("seed_from", settings.seed_from or ""), ("run_from", settings.run_from or "")]
    problems = []
    for key, name in requested:
        if name and name != "folder" and all(get_value(one, name) is None for one in candidates):
            advice = suggest_names(name, list_value_names(candidates), "They have")
            problems.append(Diagnostic(location.place, f'{key}: no run has "{name}"', advice, Stage.DATA))
    if problems:
        raise ReportError(*problems)
    naming = name_runs(candidates, stated, settings.title or location.name)
    # Units with parts of one run are in the order of time.
    owner = [index for index, unit in enumerate(units) for _ in unit.stored.runs]
    order = list(range(len(units)))
    for group in naming.resumed:
        parts = list(dict.fromkeys(owner[index] for index in group))
        for slot, part in zip(sorted(map(order.index, parts)), parts, strict=True):
            order[slot] = part
    if order != sorted(order):
        units = [units[index] for index in order]
        candidates = _make_candidates(location, chosen, units)
        naming = name_runs(candidates, stated, settings.title or location.name)
    return ImportedRuns(location, settings, found, tuple(units), candidates, naming)


def _rename_benchmarks(
    units: Sequence[ImportedUnit], settings: SourceSettings, location: Location
) -> Sequence[ImportedUnit]:
    """Return units whose evaluations have the names of benchmarks in the report."""
    if not (new := settings.rename_benchmarks):
        return units
    evaluated = (run.benchmark for unit in units for run in unit.stored.runs if run.evaluated)
    check_new_names(filter(None, evaluated), settings, location.place)

    def rename(run: StoredRun) -> StoredRun:
        parts = ", ".join(new.get(name, name) for name in run.protocol.get(SUBTASKS, "").split(", "))
        protocol = {**run.protocol, SUBTASKS: parts} if parts else run.protocol
        return replace(run, benchmark=new.get(run.benchmark, run.benchmark), protocol=protocol)

    return [
        replace(unit, stored=replace(unit.stored, runs=tuple(map(rename, unit.stored.runs))))
        for unit in units
    ]


def _make_candidates(
    location: Location, chosen: ChosenFiles, units: Sequence[ImportedUnit]
) -> tuple[Candidate, ...]:
    """Return all runs, with the groups of ``files:`` in the first file of the unit that has any."""
    top = PurePosixPath(locate_file(location.path, location.root).file)
    runs, paths = [], []
    below: dict[str, str] = {}  # an evaluation file has runs of one path
    for unit in units:
        labels = next((groups for file in unit.unit.files if (groups := chosen.get_labels(file))), {})
        for run in unit.stored.runs:
            if run.path not in below:
                path = PurePosixPath(run.path)
                is_below = path.is_relative_to(top) and path != top
                inner = path.relative_to(top).as_posix() if is_below else ""
                below[run.path] = clean_text(inner) or ""
            paths.append(below[run.path])
            runs.append((run, labels))
    distinct = tuple(dict.fromkeys(paths))
    folders = dict(zip(distinct, shorten_paths(distinct), strict=True))
    return tuple(
        Candidate(run, labels, path, folders[path]) for (run, labels), path in zip(runs, paths, strict=True)
    )


def choose_metrics(runs: Iterable[StoredRun], settings: SourceSettings) -> dict[str, tuple[str, ...]]:
    """Choose the scores on each benchmark, the same for every evaluation: series are compared by them.

    They are those that ``metrics:`` names or, if the benchmark has none of these, the first that all of its
    evaluations have, one with the name of a usual score before others, otherwise the first of all. Answers
    that were not graded have a score without a name, which counts only if no evaluation has another.
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
        usual = tuple(filter(is_result, shared))
        chosen[benchmark] = named or (usual or shared or there)[:1]
    return chosen


def list_scores(run: StoredRun) -> tuple[str, ...]:
    """Return the names of an evaluation's scores: of its answers or, if it has none, of its totals."""
    if len(run.totals) == 1 and not run.metrics:  # as most of thousands are
        return (run.totals[0].metric,)
    return tuple(run.metrics) or tuple(dict.fromkeys(total.metric for total in run.totals))


def name_benchmark(run: StoredRun, metric: str, chosen: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the name of a benchmark by one of its scores, or None if that is not chosen."""
    taken = chosen.get(run.benchmark, ())
    if metric not in taken:
        return None
    if len(taken) < 2:  # noqa: PLR2004 - the only one needs no name
        return run.benchmark
    return f"{run.benchmark} ({metric})" if run.benchmark else metric


def complete_settings(runs: ImportedRuns) -> SourceSettings:
    """Return settings with the protocols in files.

    What all series share is the protocol, with what is specific to one in ``protocols``. What differs between
    the evaluations of one series is left out, and the settings take precedence.
    """
    settings = runs.settings
    read, reported = {id(run) for run in runs.scored}, defaultdict(set)
    for candidate, name in zip(runs.candidates, runs.naming.names, strict=True):
        if id(candidate.run) in read:
            reported[settings.rename.get(name.series, name.series)].add(tuple(candidate.run.protocol.items()))
    if not reported:
        return settings
    by_series = {
        series: set.intersection(*(_list_fields(make_protocol(one)) for one in protocols))
        for series, protocols in reported.items()
    }
    # A key that the settings give for all series applies to each of them.
    common = dict(set.intersection(*by_series.values())) | dict(_list_fields(settings.protocol))
    protocols = dict(settings.protocols)
    for series, shared in by_series.items():
        stated = _list_fields(protocols[series]) if series in protocols else ()
        own = {key: value for key, value in shared if key not in common} | dict(stated)
        if own:
            protocols[series] = Protocol.model_validate(own)
    return settings.model_copy(update={"protocol": Protocol.model_validate(common), "protocols": protocols})


def _list_fields(protocol: Protocol) -> set[tuple[str, object]]:
    return set(protocol.model_dump(exclude_none=True).items())


def survey_runs(runs: ImportedRuns, cache: Cache) -> Survey:
    """Return the survey of imported units; raises for unknown columns, or if there are no values."""
    location, settings, names = runs.location, runs.settings, runs.naming.names
    # Columns with one value for each run: its names, the groups of ``files:``, and keys of ``filter:``.
    given: dict[str, tuple[Text, ...]] = {
        part: tuple(getattr(name, part) for name in names) for part in ("series", "run", "seed")
    }
    groups = dict.fromkeys(name for candidate in runs.candidates for name in candidate.labels)
    for name in (*groups, *settings.filter):
        if {*given.get(name, (None,))} == {None}:
            given[name] = tuple(get_value(candidate, name) for candidate in runs.candidates)
    given = {name: values for name, values in given.items() if {*values} != {None}}
    scored = runs.scored
    is_total = bool(scored) and not any(run.metrics for run in scored)
    files = (_list_totals(runs, given, cache),) if is_total else tuple(_list_files(runs, given))
    if not files:
        advice = "Wait for the first, or name other files with files:"
        raise ReportError(Diagnostic(location.place, "the runs hold no values yet", advice, Stage.DATA))
    kinds = dict.fromkeys(given, Kind.TEXT)
    for file in files:
        for name in file.names:
            kinds.setdefault(name, sql.get_kind(file.type_of(name)) or Kind.TEXT)
    mapped = get_mapped_columns(settings)
    others = tuple(list_value_names(runs.candidates)) if settings.filter else ()
    check_named_columns(tuple(kinds), settings, location.place, "runs", exactly=False, others=others)
    roles = Roles(series="series", run="run", seed="seed" if "seed" in kinds else None)
    roles = replace(roles, **{part: name for part, name in mapped.items() if part in Roles.__struct_fields__})
    gapless = frozenset(("series", "run", "metric"))
    series = tuple(dict.fromkeys(settings.rename.get(one.series, one.series) for one in names))
    # Loggers repeat steps after a resume, harnesses answers after a retry; tables may have been appended to.
    repeat = "" if runs.found.reader and runs.found.reader.appended else "last"
    layout = Layout(files, kinds, roles, False, {}, series, exhaustive=True, gapless=gapless, repeat=repeat)
    settings_of_runs = tuple(map(list_settings, runs.candidates))
    layout = replace(layout, settings=settings_of_runs, higher_is_better=_list_directions(runs))
    found = _survey_kind(layout, runs)
    percentages = find_percentages(found.layout, settings)
    return replace(found, layout=replace(found.layout, percentages=percentages))


def _list_files(runs: ImportedRuns, given: Mapping[str, tuple[Text, ...]]) -> Iterator[FileLayout]:
    """Yield the parts of all units that are read: curves, otherwise answers."""
    answered = any(candidate.run.evaluated for candidate in runs.candidates)
    chosen = runs.chosen
    for unit, indices in runs.iterate_units():
        stored = unit.stored.runs
        for part, copy in zip(unit.stored.parts, unit.parts, strict=True):
            # The runs of the given columns' values: one for each code in the part, or one for all its rows.
            owners = indices if part.run is None else [indices[part.run]]
            columns = {name: tuple(column[run] for run in owners) for name, column in given.items()}
            if answered:
                if part.run is None:
                    continue
                benchmark = name_benchmark(stored[part.run], part.metric, chosen)
                if benchmark is None:
                    continue
                columns |= {"benchmark": (benchmark,)} if any(chosen) else {}
            own = {name: kind for name, kind in zip(part.columns, part.types, strict=True) if name != CODE}
            code = CODE if part.run is None else ""
            path = locate_file(unit.unit.path, runs.location.root).file
            yield _make_file(path, own, columns, owners, copy=copy, code=code)


def _list_totals(runs: ImportedRuns, given: Mapping[str, tuple[Text, ...]], cache: Cache) -> FileLayout:
    """Write the totals of all units to one file, since there may be thousands of units."""
    chosen = runs.chosen
    rows = [(index, one.run, total) for index, one in enumerate(runs.candidates) for total in one.run.totals]
    benchmarks = [name_benchmark(run, total.metric, chosen) for _, run, total in rows]
    owners = [index for index, _, _ in rows]
    columns = {name: [column[run] for run in owners] for name, column in given.items()}
    columns |= {"benchmark": benchmarks} if any(chosen) else {}
    # Totals of metrics that were not chosen have no metric.
    pairs = zip(benchmarks, rows, strict=True)
    columns["metric"] = [None if name is None else total.metric for name, (_, _, total) in pairs]
    path = locate_file(runs.units[0].unit.path, runs.location.root).file
    copy = write_totals(cache, [total for _, _, total in rows], columns)
    own = {**TOTALS, **dict.fromkeys(columns, sql.TEXT)}
    return _make_file(path, own, {}, owners, copy=copy, code=CODE)


def _make_file(
    path: str,
    own: Mapping[str, str],
    columns: Mapping[str, tuple[Text, ...]],
    owners: Sequence[int],
    *,
    copy: str,
    code: str,
) -> FileLayout:
    names, kinds, given = tuple(own), tuple(own.values()), tuple(columns.items())
    file = FileLayout(path, "parquet", "", names, kinds, copy=copy, given=given, code=code)
    return replace(file, label=path, owners=tuple(owners))


def _list_directions(runs: ImportedRuns) -> dict[str, bool]:
    """Return whether higher is better by metric, where runs log it and agree."""
    ways: dict[str, set[bool]] = defaultdict(set)
    for metric, way in chain.from_iterable(one.run.higher_is_better.items() for one in runs.candidates):
        ways[runs.settings.rename_metrics.get(metric, metric)].add(way)
    return {metric: way for metric, (way, *others) in ways.items() if not others}


def _list_benchmarks(runs: ImportedRuns) -> tuple[str, ...]:
    """Return the benchmarks that are read, in the order of the runs."""
    chosen, accepted = runs.chosen, runs.settings.filter.get("benchmark")
    every = ((run, metric) for run in runs.scored for metric in list_scores(run)) if any(chosen) else ()
    named = dict.fromkeys(filter(None, (name_benchmark(run, metric, chosen) for run, metric in every)))
    return tuple(named if accepted is None else compress(named, sql.check_texts(named, accepted)))


def _list_benchmark_parts(runs: ImportedRuns) -> dict[str, tuple[str, ...]]:
    """Return the benchmarks that are means over others, with those that they are over, also indirectly."""
    parts: dict[str, dict[str, None]] = {}
    for run in runs.scored:
        if SUBTASKS in run.protocol:
            parts.setdefault(run.benchmark, {}).update(dict.fromkeys(run.protocol[SUBTASKS].split(", ")))
    for members in parts.values():
        waiting = list(members)
        while waiting:
            inner = [name for name in parts.get(waiting.pop(), ()) if name not in members]
            members.update(dict.fromkeys(inner))
            waiting += inner
    named = ((run, name_benchmark(run, one.metric, runs.chosen)) for run in runs.scored for one in run.totals)
    return {name: tuple(parts[run.benchmark]) for run, name in named if name and run.benchmark in parts}


def _survey_kind(layout: Layout, runs: ImportedRuns) -> Survey:
    """Return the survey with the columns of curves, a long table, or of answers or totals."""
    settings = runs.settings
    metrics = tuple(dict.fromkeys(name for one in runs.candidates for name in one.run.metrics))
    if not layout.kinds.keys() & {"problem", "score"}:
        names = {one.run.step_name for one in runs.candidates if one.run.metrics}
        layout = replace(
            layout,
            roles=replace(layout.roles, step=layout.roles.step or "step", metric="metric", value="value"),
            long=True,
            metrics=select_metrics(metrics, settings),
            step_name=names.pop() if len(names) == 1 and not names & _NO_STEP_NAME else "",
        )
        return Survey(layout, metrics, ())
    chosen, benchmarks = runs.chosen, _list_benchmarks(runs)
    layout = replace(layout, benchmarks=benchmarks, benchmark_parts=_list_benchmark_parts(runs))
    column = "benchmark" if benchmarks else None
    if "problem" in layout.kinds:
        texts = TEXTS if any(unit.unit.texts for unit in runs.units) else ()
        parts = {part: part for part in (*_PARTS, *texts) if part in layout.kinds}
        if STATUS in layout.kinds:
            parts["status"] = STATUS
        if cluster := find_column(settings.columns.cluster or "", tuple(layout.kinds)):
            parts["cluster"] = cluster
        # The name of a benchmark does not include its only score.
        scores = {name: taken[0] for name, taken in chosen.items() if len(taken) == 1 and taken[0]}
        outcomes = OutcomeRoles("problem", "score", benchmark=column, **parts)
        layout = replace(layout, outcomes=outcomes, score_names=scores)
        return Survey(layout, metrics, ())
    totals = TotalRoles("score", "stderr", n="n", benchmark=column, metric="metric")
    lower = set()
    for run, total in ((one, total) for one in runs.scored for total in one.totals):
        # As the harness says or, if it does not, by the name of the metric.
        is_lower = guess_direction(total.metric) is Direction.LOWER
        is_lower = is_lower if total.higher_is_better is None else not total.higher_is_better
        if is_lower and (benchmark := name_benchmark(run, total.metric, chosen)) is not None:
            lower.add(benchmark)
    metrics = tuple(dict.fromkeys(total.metric for one in runs.candidates for total in one.run.totals))
    layout = replace(layout, totals=totals, lower_is_better=tuple(sorted(lower)))
    return Survey(layout, metrics, ())


def suggest_for_runs(runs: ImportedRuns) -> dict[str, object]:
    """Suggest keys of ``source.yml`` that state what was guessed, and change nothing else."""
    settings, suggested = runs.settings, dict[str, object]()
    if runs.found.left_out and settings.format is None:
        suggested["format"] = runs.found.units[0].format
    suggested |= runs.confirmation
    return {**suggested, "metrics": [*runs.taken]} if runs.taken else suggested
