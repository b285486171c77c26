"""The runs, metrics, answers and totals of a source, counted by the database or as files report them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostics
from reportgen.core.statements import DescribedEvaluation, DescribedMetric, DescribedRun, DescribedTotal
from reportgen.formats import sql
from reportgen.formats.cells import MOST_EXACT
from reportgen.formats.files import split_ending
from reportgen.formats.layout import Content, Row
from reportgen.formats.sql import get_engine
from reportgen.formats.tables import FORMATS
from reportgen.read.joined import read_measurements
from reportgen.read.scored.outcomes import read_outcomes
from reportgen.read.scored.totals import TotalsTable
from reportgen.read.tables.layout import get_layout
from reportgen.read.x_axis import find_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.comparisons import Outcomes
    from reportgen.core.model import Measurements
    from reportgen.settings.inputs import Source


# Share of equal distances above which the steps of a run are regular.
_REGULAR: Final = 0.5
# Steps are held in memory, so the metrics of a large source are read in passes of so many bytes.
_BYTES_OF_A_PASS: Final = 200_000_000
# Lists of steps take a third of the time of grouping by step.
_CURVES_SQL: Final = """
WITH runs AS (
    SELECT series, run, any_value(seed) AS seed, metric, min(row) AS row, count(*) AS written,
        count(*) - count(value) AS missing, count(*) FILTER (isnan(value)) AS nan,
        count(*) FILTER (isinf(value)) AS infinite,
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
SELECT series, run, seed, metric, written, steps[1] AS begin, steps[-1] AS finish,
    every, len(list_filter(wide, lambda gap: gap = every)) / len(wide) AS share,
    list_sum(list_transform(list_filter(wide, lambda gap: gap > 1.5 * every),
        lambda gap: round(gap / every) - 1)) AS holes,
    len(gaps) - len(wide) AS repeated, missing, nan, infinite, written - len(steps) AS without_step, low, high
FROM apart ORDER BY row, series, run, metric
"""
_SPAN_SQL: Final = """
SELECT series, run, min(step) AS begins, max(step) AS ends FROM measured GROUP BY series, run
"""
# As ``read.queries.problem_scores``: the last score of a sample, the mean of samples, then that of problems.
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
SELECT series, run, any_value(seed) AS seed, benchmark, count(*) AS problems, sum(written) AS answers,
    min(samples) AS fewest, max(samples) AS most, sum(missing) AS missing,
    sum(written) - sum(samples) AS repeated, avg(score) AS mean
FROM problems GROUP BY series, run, benchmark ORDER BY min(row)
"""
# Columns that may group problems, by the last word of their name.
_GROUP: Final = re.compile(
    r"(?:.*[^a-z])?(?:clusters?|groups?|categor(?:y|ies)|topics?|subjects?|domains?|passages?|contexts?"
    r"|documents?|articles?|stor(?:y|ies)|chapters?|repos?|repositor(?:y|ies)|templates?)(?:[^a-z]?id)?",
    re.IGNORECASE,
)
_GROUPED_SQL: Final = """
SELECT count(DISTINCT (benchmark, problem)) AS problems, count(DISTINCT groups) AS groups,
    count(DISTINCT (benchmark, problem, groups)) AS pairs, count(*) FILTER (groups IS NULL) AS incomplete
FROM (SELECT {benchmark} AS benchmark, problem, {column} AS groups FROM measured)
"""


def count_rows(path: Path, name: str) -> int | None:
    """Return the number of rows of a table file; None for a file of another kind, or with faults."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    form = split_ending(path)[1]
    table = FORMATS.get(form or "")
    if table is None or form is None:
        return None
    content = Content(path, name)
    # Faults in files that a report reads stop its build; here, the file may be no table in spite of its name.
    with Diagnostics().collecting(), suppress(duckdb.Error):
        file = table.look(content, form, (), whole=False).file
        if not file.as_it_is:
            return sum(isinstance(row, Row) for row in table.read_rows(content, file, ()))
        rows = get_engine().fetch_rows(f"SELECT count(*) FROM ({table.scan([path], file, ())})")  # noqa: S608 - quoted
        return int(rows[0][0])
    return None


def count_curves(root: Path, source: Source) -> tuple[tuple[DescribedRun, ...], tuple[DescribedMetric, ...]]:
    """Return the runs and metrics of a source, each in order of first appearance.

    This and the functions below raise ``ReportError`` for all faults in the files.
    """
    by_run: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    by_metric: dict[str, list[dict[str, Any]]] = {name: [] for name in source.metrics}
    size = sum(file.size for file in source.files)
    count = max(1, min(len(source.metrics), len(source.metrics) * _BYTES_OF_A_PASS // max(1, size)))
    for begin in range(0, len(source.metrics), count):
        table = read_measurements(root, source, source.metrics[begin : begin + count])
        for line in _query(table, _CURVES_SQL):
            by_run[line["series"], line["run"]].append(line)
            by_metric[line["metric"]].append(line)
    # Times of the first and last value of each run, if recorded.
    layout, spans = get_layout(source), []
    if (time := find_time(layout)) and layout.roles.step != time:
        spans = _query(read_measurements(root, source, source.metrics, x=time), _SPAN_SQL)
    times = {(span.pop("series"), span.pop("run")): span for span in spans}
    runs = (
        DescribedRun(
            series=series,
            run=run,
            seed=next((line["seed"] for line in lines if line["seed"] is not None), None),
            path="",
            metrics=len(lines),
            values=sum(line["written"] for line in lines),
            first=min(_list_known(lines, "begin"), default=None),
            last=max(_list_known(lines, "finish"), default=None),
            finite=any(line["low"] is not None for line in lines),
            **times.get((series, run), {}),
        )
        for (series, run), lines in by_run.items()
    )
    return tuple(runs), tuple(_describe_metric(name, lines) for name, lines in by_metric.items())


def _describe_metric(name: str, lines: Sequence[dict[str, Any]]) -> DescribedMetric:
    regular = [line for line in lines if line["every"] and (line["share"] or 0) > _REGULAR]
    paces = Counter(line["every"] for line in regular).most_common(1)
    irregular = ("repeated", "missing", "nan", "infinite", "without_step")
    return DescribedMetric(
        name,
        runs=len(lines),
        values=sum(line["written"] for line in lines),
        first=min(_list_known(lines, "begin"), default=None),
        last=max(_list_known(lines, "finish"), default=None),
        every=paces[0][0] if paces and 2 * paces[0][1] > len(lines) else None,
        holes=holes if (holes := sum(_list_known(regular, "holes"))) >= MOST_EXACT else int(holes),
        low=min(_list_known(lines, "low"), default=None),
        high=max(_list_known(lines, "high"), default=None),
        **{key: int(sum(_list_known(lines, key))) for key in irregular},
    )


def _list_known(lines: Sequence[dict[str, Any]], key: str) -> list[float]:
    return [line[key] for line in lines if line[key] is not None]


def _query(table: Measurements | Outcomes, statement: str) -> list[dict[str, Any]]:
    """Return the rows of a statement about the table ``measured``, by the names of its columns."""
    with table.reading():
        return sql.fetch_named(table.frame, statement)


def count_answers(root: Path, source: Source) -> tuple[DescribedEvaluation, ...]:
    """Return the evaluations of a source, in order of first appearance."""
    table = read_outcomes(root, source)
    rows = _query(table, _ANSWERS_SQL.format(benchmark=_select_benchmark(table)))
    return tuple(DescribedEvaluation(**row) for row in rows)


def _select_benchmark(table: Outcomes) -> str:
    return "coalesce(benchmark, '')" if "benchmark" in table.slices else "''"


def likely_clusters(root: Path, source: Source) -> str | None:
    """Return the column that, by its name, groups problems, with each in one of several groups.

    If there are several such columns, return the one with the most groups.
    """
    table = read_outcomes(root, source)
    if "cluster" in table.has:
        return None
    groups: dict[str, int] = {}
    for name in filter(_GROUP.fullmatch, table.slices):
        column = sql.quote_name(name)
        statement = _GROUPED_SQL.format(benchmark=_select_benchmark(table), column=column)
        (row,) = _query(table, statement)
        if 1 < row["groups"] < row["problems"] == row["pairs"] and not row["incomplete"]:
            groups[name] = row["groups"]
    return max(groups, key=groups.__getitem__, default=None)


def list_totals(root: Path, source: Source) -> tuple[DescribedTotal, ...]:
    """Return the totals of a source, benchmark by benchmark and metric by metric."""
    totals, roles = TotalsTable(root, source), get_layout(source).totals
    column = roles.metric if roles else None
    chosen = [{column: metric} for metric in totals.list_metrics()] if column else [{}]
    return tuple(
        DescribedTotal(
            one.series, one.run, one.seed, name or "", one.metric, one.value, one.stderr, one.problems
        )
        for name in source.benchmarks or (None,)
        for where in chosen
        for one in totals.get_scores(name, where=where)
    )
