"""The runs, metrics, answers and totals of a source, counted by the database or as loggers report them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.core.statements import DescribedEvaluation, DescribedMetric, DescribedRun, DescribedTotal
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.registry import find_format, find_units, get_title, load_reader
from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.read.describe.suggestions import suggest_for_runs
from reportgen.read.find import locate_file
from reportgen.read.measurements import read_measurements
from reportgen.read.outcomes import read_outcomes
from reportgen.read.runs.problems import find_method
from reportgen.read.tables.layout import get_layout
from reportgen.read.totals import TotalsTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import Measurements
    from reportgen.core.outcomes import Outcomes
    from reportgen.core.statements import Description
    from reportgen.formats.runs import Unit
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.runs.ingest import ImportedSource
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class EmptyRuns:
    """Runs without any values: the name of their format, every file that was read, and the runs.

    The findings say what was irregular about them, as warnings: also why they hold nothing, where that is
    known.
    """

    form: str
    files: tuple[Path, ...]
    runs: tuple[DescribedRun, ...]
    findings: tuple[Diagnostic, ...]


def find_empty_runs(chosen: ChosenFiles, settings: SourceSettings, root: Path) -> EmptyRuns | None:
    """The runs among files that cannot be read as a source; None as soon as one holds a value.

    Runs are called as their logger calls them, otherwise as their folders.
    """
    units: tuple[Unit, ...] = ()
    runs: list[LoggedRun] = []
    with suppress(OSError, UnreadableError):
        units = find_units(chosen.paths, settings.format, named=chosen.named).units
        form = find_format(units[0].format) if units else None
        for unit in units if form else ():
            for run in load_reader(form).read(unit) if form else ():
                if not isinstance(run, LoggedRun) or run.metrics:
                    return None
                runs.append(run)
    if not runs:
        return None
    files = dict.fromkeys(file for unit in units for file in unit.files)
    found = (
        Diagnostic(locate_file(one.path, root, one.line), one.message, "", Stage.DATA, Severity.WARNING)
        for run in runs
        for one in run.findings
    )
    return EmptyRuns(
        units[0].format,
        tuple(files),
        tuple(_describe_run(run, root) for run in runs),
        tuple(dict.fromkeys(found)),
    )


def _describe_run(run: LoggedRun, root: Path) -> DescribedRun:
    path = locate_file(run.path, root).file
    name = run.name or run.path.name
    return DescribedRun(name, name, None, path, 0, 0, None, None, config=dict(run.config))


# A run keeps to a distance if more than so many of its steps do.
_REGULAR: Final = 0.5
# Steps are held in memory: of a large source some metrics at a time, by the bytes of its files.
_BYTES_OF_A_PASS: Final = 200_000_000
# Lists of steps cost a third of what grouping by step does.
_CURVES_SQL: Final = """
WITH runs AS (
    SELECT series, run, any_value(seed) AS seed, metric, min(row) AS row, count(*) AS written,
        count(*) - count(value) AS missing, count(*) FILTER (isnan(value)) AS lost,
        count(*) FILTER (isinf(value)) AS endless,
        min(value) FILTER (isfinite(value)) AS low, max(value) FILTER (isfinite(value)) AS high,
        coalesce(list_sort(list(step) FILTER (isfinite(step))), []) AS steps
    FROM measured GROUP BY series, run, metric
), spaced AS (
    SELECT *, list_transform(range(2, len(steps) + 1), lambda place: steps[place] - steps[place - 1]) AS gaps
    FROM runs
), apart AS (
    SELECT *, list_transform(list_filter(gaps, lambda gap: gap > 0), lambda gap: round(gap, 9)) AS wide,
        list_aggregate(wide, 'mode') AS every
    FROM spaced
)
SELECT series, run, seed, metric, row, written, steps[1], steps[-1],
    every, len(list_filter(wide, lambda gap: gap = every)) / len(wide),
    list_sum(list_transform(list_filter(wide, lambda gap: gap > 1.5 * every),
        lambda gap: round(gap / every) - 1)),
    len(gaps) - len(wide), missing, lost, endless, written - len(steps), low, high
FROM apart ORDER BY row, series, run, metric
"""


_TIME: Final = "time"
_SPAN: Final = "SELECT series, run, min(step), max(step) FROM measured GROUP BY series, run"


class _MetricRun(NamedTuple):
    """One metric of one run."""

    series: str
    run: str
    seed: str | None
    metric: str
    row: int
    written: int
    first: float | None
    last: float | None
    every: float | None
    share: float | None
    holes: float | None
    repeated: int | None
    missing: int
    nan: int
    infinite: int
    without_step: int | None
    low: float | None
    high: float | None


def count_curves(root: Path, source: Source) -> tuple[tuple[DescribedRun, ...], tuple[DescribedMetric, ...]]:
    """The runs and metrics of a source, each in order of first appearance.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    lines: list[_MetricRun] = []
    size = sum(file.size for file in source.files)
    count = max(1, min(len(source.metrics), len(source.metrics) * _BYTES_OF_A_PASS // max(1, size)))
    for begin in range(0, len(source.metrics), count):
        table = read_measurements(root, source, source.metrics[begin : begin + count])
        lines += [_MetricRun(*row) for row in _query(table, _CURVES_SQL)]
    return tuple(_count_runs(lines, _fetch_times(root, source))), tuple(_count_metrics(lines, source.metrics))


def _fetch_times(root: Path, source: Source) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """When each run wrote its first and last value, milliseconds since 1970 UTC, where that is written."""
    layout = get_layout(source)
    if layout.kinds.get(_TIME) is not Kind.TIME or layout.roles.step == _TIME:
        return {}
    rows = _query(read_measurements(root, source, source.metrics, x=_TIME), _SPAN)
    return {(series, run): (begin, end) for series, run, begin, end in rows}


def _query(table: Measurements | Outcomes, statement: str) -> list[Any]:
    """The rows of a statement about the table ``measured``."""
    with table.reading():
        relation: Any = table.frame.to_native()
        rows: list[Any] = relation.query("measured", statement).fetchall()
    return rows


def _count_runs(
    lines: Iterable[_MetricRun], times: Mapping[tuple[str, str], tuple[float | None, float | None]]
) -> Iterator[DescribedRun]:
    grouped: dict[tuple[str, str], list[_MetricRun]] = defaultdict(list)
    for line in lines:
        grouped[line.series, line.run].append(line)
    for (series, run), own in grouped.items():
        begins, ends = times.get((series, run), (None, None))
        yield DescribedRun(
            series=series,
            run=run,
            seed=next((line.seed for line in own if line.seed is not None), None),
            path="",
            metrics=len(own),
            values=sum(line.written for line in own),
            first=_min_known(line.first for line in own),
            last=_max_known(line.last for line in own),
            begins=begins,
            ends=ends,
        )


def _count_metrics(lines: Iterable[_MetricRun], names: Sequence[str]) -> Iterable[DescribedMetric]:
    grouped: dict[str, list[_MetricRun]] = {name: [] for name in names}
    for line in lines:
        grouped[line.metric].append(line)
    for name, own in grouped.items():
        regular = [line for line in own if line.every and (line.share or 0) > _REGULAR]
        paces = Counter(line.every for line in regular).most_common(1)
        yield DescribedMetric(
            name=name,
            runs=len(own),
            values=sum(line.written for line in own),
            first=_min_known(line.first for line in own),
            last=_max_known(line.last for line in own),
            every=paces[0][0] if paces and 2 * paces[0][1] > len(own) else None,
            holes=int(sum(line.holes or 0 for line in regular)),
            repeated=int(sum(line.repeated or 0 for line in own)),
            missing=int(sum(line.missing for line in own)),
            nan=int(sum(line.nan for line in own)),
            infinite=int(sum(line.infinite for line in own)),
            without_step=int(sum(line.without_step or 0 for line in own)),
            low=_min_known(line.low for line in own),
            high=_max_known(line.high for line in own),
        )


def _min_known(numbers: Iterable[float | None]) -> float | None:
    return min((number for number in numbers if number is not None), default=None)


def _max_known(numbers: Iterable[float | None]) -> float | None:
    return max((number for number in numbers if number is not None), default=None)


# As ``statistics.problem_scores``: the last score of a sample, the mean of samples, then that of problems.
_ANSWERS_SQL: Final = """
WITH answers AS (
    SELECT series, run, {benchmark} AS benchmark, problem, sample, count(*) AS written, min(row) AS row,
        any_value(seed) AS seed, count(*) FILTER (score IS NULL OR isnan(score)) AS missing,
        arg_max(score, row) FILTER (isfinite(score)) AS score, max(isfinite(score)::INTEGER) AS scored
    FROM measured GROUP BY ALL
), problems AS (
    SELECT series, run, benchmark, problem, count(*) AS samples, sum(written) AS written, min(row) AS row,
        any_value(seed) AS seed, sum(missing) AS missing, sum(score) / nullif(sum(scored), 0) AS score
    FROM answers GROUP BY ALL
)
SELECT series, run, any_value(seed), benchmark, count(*), sum(written), min(samples), max(samples),
    sum(missing), sum(written) - sum(samples), avg(score)
FROM problems GROUP BY series, run, benchmark ORDER BY min(row)
"""

# What questions may have in common, by the last word of a column's name.
_GROUP: Final = re.compile(
    r"(?:.*[^a-z])?(?:clusters?|groups?|categor(?:y|ies)|topics?|subjects?|domains?|passages?|contexts?"
    r"|documents?|articles?|stor(?:y|ies)|chapters?|repos?|repositor(?:y|ies)|templates?)(?:[^a-z]?id)?",
    re.IGNORECASE,
)
_GROUPED: Final = """
SELECT count(DISTINCT (benchmark, problem)), count(DISTINCT groups),
    count(DISTINCT (benchmark, problem, groups)), count(*) FILTER (groups IS NULL)
FROM (SELECT {benchmark} AS benchmark, problem, {column} AS groups FROM measured)
"""


def count_answers(root: Path, source: Source) -> tuple[DescribedEvaluation, ...]:
    """The evaluations of a source, in order of first appearance.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    table = read_outcomes(root, source)
    rows = _query(table, _ANSWERS_SQL.format(benchmark=_select_benchmark(table)))
    return tuple(
        DescribedEvaluation(
            series=series,
            run=run,
            seed=seed,
            benchmark=benchmark,
            problems=int(counts[0]),
            answers=int(counts[1]),
            fewest=int(counts[2]),
            most=int(counts[3]),
            missing=int(counts[4]),
            repeated=int(counts[5]),
            mean=mean,
        )
        for series, run, seed, benchmark, *counts, mean in rows
    )


def _select_benchmark(table: Outcomes) -> str:
    return "coalesce(benchmark, '')" if "benchmark" in table.slices else "''"


def likely_clusters(root: Path, source: Source) -> str | None:
    """The column that groups problems, by its name, and has each of them in one group of several.

    Where there are several such columns, the one with the most groups.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    table = read_outcomes(root, source)
    if "cluster" in table.has:
        return None
    found = {}
    for name in filter(_GROUP.fullmatch, table.slices):
        statement = _GROUPED.format(benchmark=_select_benchmark(table), column=sql.quote_name(name))
        ((problems, groups, pairs, incomplete),) = _query(table, statement)
        if 1 < groups < problems == pairs and not incomplete:
            found[name] = groups
    return max(found, key=found.__getitem__, default=None)


def list_totals(root: Path, source: Source) -> tuple[DescribedTotal, ...]:
    """The totals of a source, benchmark by benchmark.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    totals = TotalsTable(root, source)
    return tuple(
        DescribedTotal(
            one.series, one.run, one.seed, benchmark or "", one.metric, one.value, one.stderr, one.problems
        )
        for benchmark in source.benchmarks or (None,)
        for one in totals.get_scores(benchmark)
    )


def add_imported(description: Description, imported: ImportedSource, settings: SourceSettings) -> Description:
    """What loggers and harnesses say besides their values."""
    runs, names_by = imported.runs, imported.runs.naming
    totals = tuple(
        DescribedTotal(
            settings.rename.get(name.series, name.series),
            name.run,
            name.seed,
            candidate.run.benchmark,
            total.metric,
            total.value,
            total.stderr,
            total.n,
        )
        for candidate, name in zip(runs.candidates, names_by.names, strict=True)
        for total in candidate.run.totals
    )
    described = description.counts.runs
    if description.kind == "measurements":
        described = tuple(_add_run_details(description.counts.runs, imported, settings))
    form = imported.found.units[0].format
    return replace(
        description,
        format=form,
        shape="",
        title=get_title(form),
        series_by=names_by.series_by,
        seed_by=names_by.seed_by,
        counts=replace(description.counts, runs=described, totals=totals),
        settings=suggest_for_runs(settings, imported),
        repetitions={"series_from": method} if (method := find_method(settings, runs)) else {},
    )


def _add_run_details(
    counted: Iterable[DescribedRun], imported: ImportedSource, settings: SourceSettings
) -> Iterator[DescribedRun]:
    """Runs with what their loggers say of them, those without values last."""
    runs = imported.runs
    known = {
        (settings.rename.get(name.series, name.series), name.run): (candidate.run, name.seed)
        for candidate, name in zip(runs.candidates, runs.naming.names, strict=True)
    }
    for one in counted:
        found = known.pop((one.series, one.run), None)
        yield replace(one, path=found[0].path, config=found[0].config) if found else one
    for (series, run), (stored, seed) in known.items():
        yield DescribedRun(series, run, seed, stored.path, 0, 0, None, None, config=stored.config)
