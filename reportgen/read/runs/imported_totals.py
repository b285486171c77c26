"""Evaluations of which a harness kept totals only, as a table of totals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.directions import Direction, guess_direction
from reportgen.read.layout import Survey, TotalRoles
from reportgen.read.runs.imported_parts import (
    choose_metrics,
    list_benchmarks,
    list_scored_runs,
    make_file,
    name_benchmark,
)
from reportgen.read.runs.tidy_parquet import list_totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.read.cells import Text
    from reportgen.read.find import Location
    from reportgen.read.layout import FileLayout, Layout
    from reportgen.read.runs.imported_runs import ImportedRuns, ImportedUnit
    from reportgen.read.runs.kept_units import StoredTotal
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
