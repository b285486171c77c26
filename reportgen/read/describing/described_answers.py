"""What the rows of outcomes and totals hold: problems, samples, scores that are missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reportgen.description import DescribedEvaluation, DescribedTotal
from reportgen.read.answering import read_outcomes
from reportgen.read.totals import TotalsTable

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.model import Source

# As ``statistics.problem_scores``: the last score of a sample, the mean of samples, then that of problems.
_ANSWERS_SQL: Final = """
WITH answers AS (
    SELECT series, run, {benchmark} AS benchmark, problem, sample, count(*) AS written, min(row) AS row,
        any_value(seed) AS seed, count(*) FILTER (score IS NULL OR isnan(score)) AS missing,
        arg_max(score, row) FILTER (isfinite(score)) AS score, max(isfinite(score)::INTEGER) AS scored
    FROM answered GROUP BY ALL
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
FROM (SELECT {benchmark} AS benchmark, problem, {column} AS groups FROM answered)
"""


def count_answers(root: Path, source: Source) -> tuple[DescribedEvaluation, ...]:
    """The evaluations of a source, in order of first appearance.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    table = read_outcomes(root, source)
    benchmark = "coalesce(benchmark, '')" if "benchmark" in table.slices else "''"
    with table.reading():
        relation: Any = table.frame.to_native()
        rows = relation.query("answered", _ANSWERS_SQL.format(benchmark=benchmark)).fetchall()
    return tuple(
        DescribedEvaluation(
            series=series,
            run=run,
            seed=seed,
            benchmark=named,
            problems=int(counts[0]),
            answers=int(counts[1]),
            fewest=int(counts[2]),
            most=int(counts[3]),
            missing=int(counts[4]),
            repeated=int(counts[5]),
            mean=mean,
        )
        for series, run, seed, named, *counts, mean in rows
    )


def likely_clusters(root: Path, source: Source) -> str | None:
    """The column that groups problems, by its name, and has each of them in one group of several.

    Where there are several such columns, the one with the most groups.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    table = read_outcomes(root, source)
    names = [name for name in table.slices if _GROUP.fullmatch(name)]
    if not names or "cluster" in table.has:
        return None
    benchmark = "coalesce(benchmark, '')" if "benchmark" in table.slices else "''"
    found = {}
    with table.reading():
        relation: Any = table.frame.to_native()
        for name in names:
            column = '"' + name.replace('"', '""') + '"'
            statement = _GROUPED.format(benchmark=benchmark, column=column)
            ((problems, groups, pairs, lacking),) = relation.query("answered", statement).fetchall()
            if 1 < groups < problems == pairs and not lacking:
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
