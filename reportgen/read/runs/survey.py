"""How imported runs are read: Parquet files, with the names of series, runs and seeds as given columns."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.messages import suggest_names
from reportgen.read.runs.imported import (
    choose_metrics,
    list_benchmarks,
    list_scored_runs,
    make_file,
    map_score_names,
    name_benchmark,
)
from reportgen.read.runs.labels import get_value
from reportgen.read.runs.write_parquet import list_totals
from reportgen.read.tables.layout import (
    Layout,
    OutcomeRoles,
    Roles,
    Survey,
    TotalRoles,
    find_column,
    get_mapped_columns,
    select_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import FileLayout
    from reportgen.formats.runs import Total
    from reportgen.read.find import Location
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.runs.stored import StoredUnit
    from reportgen.settings.source import SourceSettings


def _survey_totals(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of totals."""
    roles = TotalRoles(score="score", stderr="stderr", n="n", benchmark="benchmark", metric="metric")
    found = list_benchmarks(layout.files, settings)
    metrics = dict.fromkeys(total.metric for one in runs.candidates for total in one.run.totals)
    scored = list_scored_runs(runs)
    chosen = choose_metrics(scored, settings)
    lower = {
        benchmark
        for run in scored
        for total in run.totals
        if _is_lower_better(total) and (benchmark := name_benchmark(run, total.metric, chosen)) is not None
    }
    layout = replace(
        layout,
        totals=roles if found else replace(roles, benchmark=None),
        benchmarks=found,
        lower_is_better=tuple(sorted(lower)),
    )
    return Survey(layout, tuple(layout.kinds), tuple(metrics), ())


def _is_lower_better(total: Total) -> bool:
    """As the harness says or, where it says nothing, the name of the metric."""
    if total.higher_is_better is None:
        return guess_direction(total.metric) is Direction.LOWER
    return not total.higher_is_better


_PARTS: Final = ("sample", "answer", "gold", "tokens", "seconds")
_NO_STEP_NAME: Final = frozenset(("", "_step"))


def survey_runs(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of a source whose units were read.

    Raises:
        ReportError: the settings name columns that there are not, or there is nothing to read.
    """
    given = _collect_given(settings, runs)
    files = tuple(_list_files(location, settings, runs, given))
    if not files:
        advice = "Wait for the first, or name other files with files:"
        raise ReportError(Diagnostic(location.place, "the runs hold no values yet", advice, Stage.DATA))
    kinds: dict[str, Kind] = {}
    for name in dict.fromkeys([*given, *chain.from_iterable(file.names for file in files)]):
        file = next(file for file in files if name in file.names)
        kinds[name] = sql.get_kind(file.type_of(name)) or Kind.TEXT
    _check_names(location, settings, kinds)
    roles = replace(
        Roles(series="series", run="run", seed="seed" if "seed" in kinds else None),
        **{part: name for part, name in get_mapped_columns(settings).items() if part in Roles.__slots__},
    )
    layout = Layout(
        files=files,
        labels=tuple(file.path for file in files),
        kinds=kinds,
        roles=roles,
        long=False,
        metrics={},
        series=tuple(dict.fromkeys(settings.rename.get(one.series, one.series) for one in runs.naming.names)),
        exhaustive=True,
        gapless=frozenset(("series", "run", "metric")),
        # Loggers write steps again after a resume, harnesses answers after a retry; others write CSV logs.
        repeat="" if any(unit.unit.format == "metrics_csv" for unit in runs.units) else "last",
    )
    if "problem" in kinds:
        return _survey_answers(layout, settings, runs)
    return (_survey_totals if "score" in kinds else _survey_curves)(layout, settings, runs)


def _survey_curves(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of curves: a long table."""
    raw = tuple(dict.fromkeys(name for candidate in runs.candidates for name in candidate.run.metrics))
    called = {candidate.run.step_name for candidate in runs.candidates if candidate.run.metrics}
    roles = layout.roles
    layout = replace(
        layout,
        roles=replace(roles, step=roles.step or "step", metric="metric", value="value"),
        long=True,
        metrics=select_metrics(raw, settings),
        step_name=called.pop() if len(called) == 1 and not called & _NO_STEP_NAME else "",
    )
    return Survey(layout, tuple(layout.kinds), raw, ())


def _survey_answers(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of answers: a table of outcomes."""
    parts = {part: part for part in _PARTS if part in layout.kinds}
    if settings.columns.cluster and (cluster := find_column(settings.columns.cluster, tuple(layout.kinds))):
        parts["cluster"] = cluster
    found = list_benchmarks(layout.files, settings)
    layout = replace(
        layout,
        outcomes=OutcomeRoles("problem", "score", benchmark="benchmark" if found else None, **parts),
        benchmarks=found,
        score_names=map_score_names(list_scored_runs(runs), settings),
    )
    scored = dict.fromkeys(metric for candidate in runs.candidates for metric in candidate.run.metrics)
    return Survey(layout, tuple(layout.kinds), tuple(scored), ())


def _collect_given(settings: SourceSettings, runs: ImportedRuns) -> dict[str, tuple[Text, ...]]:
    """Columns with one value for each run: its names, and what ``files:`` and ``filter:`` ask for."""
    names = runs.naming.names
    given: dict[str, tuple[Text, ...]] = {
        "series": tuple(name.series for name in names),
        "run": tuple(name.run for name in names),
    }
    if any(name.seed is not None for name in names):
        given["seed"] = tuple(name.seed for name in names)
    groups = dict.fromkeys(name for candidate in runs.candidates for name in candidate.labels)
    for name in (*groups, *settings.filter):
        values = tuple(get_value(candidate, name) for candidate in runs.candidates)
        if name not in given and any(value is not None for value in values):
            given[name] = values
    return given


def _list_files(
    location: Location,
    settings: SourceSettings,
    runs: ImportedRuns,
    given: Mapping[str, tuple[Text, ...]],
) -> Iterator[FileLayout]:
    """The parts of all units that are read: curves, otherwise answers or, where there are none, totals."""
    evaluated = any(candidate.run.evaluated for candidate in runs.candidates)
    answered = any(candidate.run.metrics for candidate in runs.candidates)
    chosen = choose_metrics(list_scored_runs(runs), settings)
    for unit, indices in runs.iterate_units():
        stored = unit.stored
        for part, copy in zip(stored.parts, unit.parts, strict=True):
            if not evaluated:
                columns = {name: tuple(column[i] for i in indices) for name, column in given.items()}
            elif not answered:
                columns = _list_total_columns(stored, indices, given, chosen)
            elif part.run is None:
                continue
            else:
                benchmark = name_benchmark(stored.runs[part.run], part.metric, chosen)
                if benchmark is None:
                    continue
                columns = {name: (column[indices[part.run]],) for name, column in given.items()}
                columns |= {"benchmark": (benchmark,)} if any(chosen) else {}
            yield make_file(location, unit, part, copy, tuple(columns.items()))


def _list_total_columns(
    stored: StoredUnit,
    indices: range,
    given: Mapping[str, tuple[Text, ...]],
    chosen: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[Text, ...]]:
    """What is known of every total of a unit; those of metrics that were not chosen have no metric there."""
    totals = list_totals(stored.runs)
    columns = {name: tuple(column[indices[run]] for run, _ in totals) for name, column in given.items()}
    benchmarks = tuple(name_benchmark(stored.runs[run], total.metric, chosen) for run, total in totals)
    columns |= {"benchmark": benchmarks} if any(chosen) else {}
    metrics = (total.metric for _, total in totals)
    columns["metric"] = tuple(
        None if benchmark is None else metric for benchmark, metric in zip(benchmarks, metrics, strict=True)
    )
    return columns


def _check_names(location: Location, settings: SourceSettings, kinds: Mapping[str, Kind]) -> None:
    """Refuse columns that there are not."""
    columns = tuple(kinds)
    requested = [(f"columns: {part}", name) for part, name in get_mapped_columns(settings).items()]
    requested += [("filter", name) for name in settings.filter]
    problems = []
    for key, name in requested:
        if find_column(name, columns) is None:
            message = f'{key} names the column "{name}", which the runs do not have'
            advice = suggest_names(name, columns, "They have")
            problems.append(Diagnostic(location.place, message, advice, Stage.DATA))
    if problems:
        raise ReportError(*problems)
