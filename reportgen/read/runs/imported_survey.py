"""How imported runs are read: their Parquet files, and beside them the names of series, runs and seeds."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, Stage
from reportgen.read import sql
from reportgen.read.cells import Kind
from reportgen.read.columns import column_named, mapped_columns, reported_metrics
from reportgen.read.layout import FileLayout, Layout, OutcomeRoles, Roles, Survey
from reportgen.read.runs.imported_parts import (
    benchmark_of,
    benchmarks_of,
    chosen_metrics,
    file_of,
    score_names,
    scored_runs,
)
from reportgen.read.runs.imported_totals import total_files, with_totals
from reportgen.read.runs.run_settings import value_named
from reportgen.read.wording import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.read.cells import Text
    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.settings.source import SourceSettings

_PARTS: Final = ("sample", "answer", "gold", "tokens", "seconds")
_NO_STEP_NAME: Final = frozenset(("", "_step"))


def imported_survey(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of a source whose units were read.

    Raises:
        ReportError: the settings name columns that there are not, or there is nothing to read.
    """
    given = _given(settings, runs)
    if not any(candidate.run.evaluated for candidate in runs.candidates):
        files = tuple(_curve_files(location, runs, given))
    elif any(candidate.run.metrics for candidate in runs.candidates):
        files = tuple(_answer_files(location, settings, runs, given))
    else:
        files = tuple(total_files(location, settings, runs, given))
    if not files:
        raise ReportError(_nothing(location))
    columns = dict.fromkeys([*given, *chain.from_iterable(file.names for file in files)])
    kinds = {name: _kind(name, files) for name in columns}
    _check_names(location, settings, kinds)
    roles = replace(
        Roles(series="series", run="run", seed="seed" if "seed" in kinds else None),
        **{part: name for part, name in mapped_columns(settings).items() if part in Roles.__slots__},
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
        repeat=_repeat(runs),
    )
    if "problem" in kinds:
        return _with_outcomes(layout, settings, runs)
    return with_totals(layout, settings, runs) if "score" in kinds else _with_metrics(layout, settings, runs)


def _repeat(runs: ImportedRuns) -> str:
    """What rows of one step mean: loggers write steps again after a resume, harnesses answers after a retry.

    A CSV log is a table, which others fill, too.
    """
    return "" if any(unit.unit.format == "metrics_csv" for unit in runs.units) else "last"


def _with_metrics(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of curves: a long table."""
    raw = tuple(dict.fromkeys(name for candidate in runs.candidates for name in candidate.run.metrics))
    called = {candidate.run.step_name for candidate in runs.candidates if candidate.run.metrics}
    roles = layout.roles
    layout = replace(
        layout,
        roles=replace(roles, step=roles.step or "step", metric="metric", value="value"),
        long=True,
        metrics=reported_metrics(raw, settings),
        step_name=called.pop() if len(called) == 1 and not called & _NO_STEP_NAME else "",
    )
    return Survey(layout, tuple(layout.kinds), raw, ())


def _with_outcomes(layout: Layout, settings: SourceSettings, runs: ImportedRuns) -> Survey:
    """The survey of answers: a table of outcomes."""
    parts = {part: part for part in _PARTS if part in layout.kinds}
    if settings.columns.cluster and (cluster := column_named(settings.columns.cluster, tuple(layout.kinds))):
        parts["cluster"] = cluster
    roles = OutcomeRoles(problem="problem", score="score", benchmark="benchmark", **parts)
    found = benchmarks_of(layout.files, settings)
    roles = roles if found else replace(roles, benchmark=None)
    layout = replace(
        layout, outcomes=roles, benchmarks=found, score_names=score_names(scored_runs(runs), settings)
    )
    scored = dict.fromkeys(metric for candidate in runs.candidates for metric in candidate.run.metrics)
    return Survey(layout, tuple(layout.kinds), tuple(scored), ())


def _given(settings: SourceSettings, runs: ImportedRuns) -> dict[str, tuple[Text, ...]]:
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
        values = tuple(value_named(candidate, name) for candidate in runs.candidates)
        if name not in given and any(value is not None for value in values):
            given[name] = values
    return given


def _curve_files(
    location: Location, runs: ImportedRuns, given: Mapping[str, tuple[Text, ...]]
) -> Iterator[FileLayout]:
    for unit, places in runs.by_unit():
        values = tuple((name, tuple(column[place] for place in places)) for name, column in given.items())
        for part, copy in zip(unit.kept.parts, unit.parts, strict=True):
            yield file_of(location, unit, part, copy, values)


def _answer_files(
    location: Location,
    settings: SourceSettings,
    runs: ImportedRuns,
    given: Mapping[str, tuple[Text, ...]],
) -> Iterator[FileLayout]:
    chosen = chosen_metrics(scored_runs(runs), settings)
    named = any(chosen)
    for unit, places in runs.by_unit():
        for part, copy in zip(unit.kept.parts, unit.parts, strict=True):
            if part.run is None:
                continue
            benchmark = benchmark_of(unit.kept.runs[part.run], part.metric, chosen)
            if benchmark is None:
                continue
            of = {"benchmark": (benchmark,)} if named else {}
            values = {name: (column[places[part.run]],) for name, column in given.items()}
            yield file_of(location, unit, part, copy, tuple({**values, **of}.items()))


def _kind(name: str, files: Sequence[FileLayout]) -> Kind:
    file = next(file for file in files if name in file.names)
    return sql.kind_of_type(file.type_of(name)) or Kind.TEXT


def _check_names(location: Location, settings: SourceSettings, kinds: Mapping[str, Kind]) -> None:
    """Refuse columns that there are not."""
    columns = tuple(kinds)
    asked = [(f"columns: {part}", name) for part, name in mapped_columns(settings).items()]
    asked += [("filter", name) for name in settings.filter]
    problems = [
        Problem(
            location.place,
            f'{key} names the column "{name}", which the runs do not have',
            known_names(name, columns, "They have"),
            Stage.DATA,
        )
        for key, name in asked
        if column_named(name, columns) is None
    ]
    if problems:
        raise ReportError(*problems)


def _nothing(location: Location) -> Problem:
    """What to tell of units without any values, answers or totals."""
    message = "the runs hold no values yet"
    return Problem(location.place, message, "Wait for the first, or name other files with files:", Stage.DATA)
