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
from reportgen.read.tables.columns import find_column, get_mapped_columns, select_metrics
from reportgen.read.tables.layout import Layout, OutcomeRoles, Roles, Survey, TotalRoles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.read.runs.imported import ImportedRuns, ImportedUnit
    from reportgen.read.runs.stored import StoredTotal
    from reportgen.settings.source import SourceSettings


def list_total_files(
    location: Location,
    settings: SourceSettings,
    runs: ImportedRuns,
    given: Mapping[str, tuple[Text, ...]],
) -> Iterator[FileLayout]:
    """The totals of each unit; those of metrics that were not chosen have no metric there."""
    chosen = choose_metrics(list_scored_runs(runs), settings)
    for unit, places in runs.iterate_units():
        for part, copy in zip(unit.stored.parts, unit.parts, strict=True):
            columns = {
                name: tuple(column[places[run]] for run, _ in list_totals(unit.stored.runs))
                for name, column in given.items()
            }
            yield make_file(
                location, unit, part, copy, tuple({**columns, **_name_totals(unit, chosen)}.items())
            )


def survey_totals(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of totals."""
    roles = TotalRoles(score="score", stderr="stderr", n="n", benchmark="benchmark", metric="metric")
    found = list_benchmarks(layout.files, settings)
    roles = roles if found else replace(roles, benchmark=None)
    metrics = dict.fromkeys(total.metric for one in runs.candidates for total in one.run.totals)
    chosen = choose_metrics(list_scored_runs(runs), settings)
    lower = {
        benchmark
        for run in list_scored_runs(runs)
        for total in run.totals
        if _is_lower_better(total) and (benchmark := name_benchmark(run, total.metric, chosen)) is not None
    }
    layout = replace(layout, totals=roles, benchmarks=found, lower_is_better=tuple(sorted(lower)))
    return Survey(layout, tuple(layout.kinds), tuple(metrics), ())


def _is_lower_better(total: StoredTotal) -> bool:
    """As the harness says or, where it says nothing, the name of the metric."""
    if total.higher_is_better is None:
        return guess_direction(total.metric) is Direction.LOWER
    return not total.higher_is_better


def _name_totals(unit: ImportedUnit, chosen: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Text, ...]]:
    """The benchmark and metric of every total of a unit; None where it is not chosen."""
    totals = [(unit.stored.runs[run], total.metric) for run, total in list_totals(unit.stored.runs)]
    named = [(name_benchmark(run, metric, chosen), metric) for run, metric in totals]
    benchmarks = {"benchmark": tuple(benchmark for benchmark, _ in named)} if any(chosen) else {}
    return {
        **benchmarks,
        "metric": tuple(None if benchmark is None else metric for benchmark, metric in named),
    }


_PARTS: Final = ("sample", "answer", "gold", "tokens", "seconds")
_NO_STEP_NAME: Final = frozenset(("", "_step"))


def survey_runs(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of a source whose units were read.

    Raises:
        ReportError: the settings name columns that there are not, or there is nothing to read.
    """
    given = _collect_given(settings, runs)
    if not any(candidate.run.evaluated for candidate in runs.candidates):
        files = tuple(_list_curve_files(location, runs, given))
    elif any(candidate.run.metrics for candidate in runs.candidates):
        files = tuple(_list_answer_files(location, settings, runs, given))
    else:
        files = tuple(list_total_files(location, settings, runs, given))
    if not files:
        raise ReportError(_nothing(location))
    columns = dict.fromkeys([*given, *chain.from_iterable(file.names for file in files)])
    kinds = {name: _kind(name, files) for name in columns}
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
        repeat=_get_repeat(runs),
    )
    if "problem" in kinds:
        return _survey_answers(layout, settings, runs)
    return (
        survey_totals(layout, settings, runs) if "score" in kinds else _survey_curves(layout, settings, runs)
    )


def _get_repeat(runs: ImportedRuns) -> str:
    """What rows of one step mean: loggers write steps again after a resume, harnesses answers after a retry.

    A CSV log is a table, which others fill, too.
    """
    return "" if any(unit.unit.format == "metrics_csv" for unit in runs.units) else "last"


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
    roles = OutcomeRoles(problem="problem", score="score", benchmark="benchmark", **parts)
    found = list_benchmarks(layout.files, settings)
    roles = roles if found else replace(roles, benchmark=None)
    layout = replace(
        layout,
        outcomes=roles,
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


def _list_curve_files(
    location: Location, runs: ImportedRuns, given: Mapping[str, tuple[Text, ...]]
) -> Iterator[FileLayout]:
    for unit, places in runs.iterate_units():
        values = tuple((name, tuple(column[index] for index in places)) for name, column in given.items())
        for part, copy in zip(unit.stored.parts, unit.parts, strict=True):
            yield make_file(location, unit, part, copy, values)


def _list_answer_files(
    location: Location,
    settings: SourceSettings,
    runs: ImportedRuns,
    given: Mapping[str, tuple[Text, ...]],
) -> Iterator[FileLayout]:
    chosen = choose_metrics(list_scored_runs(runs), settings)
    named = any(chosen)
    for unit, places in runs.iterate_units():
        for part, copy in zip(unit.stored.parts, unit.parts, strict=True):
            if part.run is None:
                continue
            benchmark = name_benchmark(unit.stored.runs[part.run], part.metric, chosen)
            if benchmark is None:
                continue
            of = {"benchmark": (benchmark,)} if named else {}
            values = {name: (column[places[part.run]],) for name, column in given.items()}
            yield make_file(location, unit, part, copy, tuple({**values, **of}.items()))


def _kind(name: str, files: Sequence[FileLayout]) -> Kind:
    file = next(file for file in files if name in file.names)
    return sql.get_kind(file.type_of(name)) or Kind.TEXT


def _check_names(location: Location, settings: SourceSettings, kinds: Mapping[str, Kind]) -> None:
    """Refuse columns that there are not."""
    columns = tuple(kinds)
    requested = [(f"columns: {part}", name) for part, name in get_mapped_columns(settings).items()]
    requested += [("filter", name) for name in settings.filter]
    problems = [
        Diagnostic(
            location.place,
            f'{key} names the column "{name}", which the runs do not have',
            suggest_names(name, columns, "They have"),
            Stage.DATA,
        )
        for key, name in requested
        if find_column(name, columns) is None
    ]
    if problems:
        raise ReportError(*problems)


def _nothing(location: Location) -> Diagnostic:
    """What to tell of units without any values, answers or totals."""
    message = "the runs hold no values yet"
    return Diagnostic(
        location.place, message, "Wait for the first, or name other files with files:", Stage.DATA
    )
