"""Outcomes to one row a run and one column a problem: grouped in DuckDB, however many rows there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.outcomes import Outcomes, ProblemScores, ScoresError
from reportgen.statistics.curves.points import LARGEST_FLOAT, as_texts
from reportgen.statistics.problem_matrix import Cells, add_votes, assemble_scores, find_split_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.statistics.curves.points import Column


# Sums of whole millionths are exact, hence the same however rows are spread over threads. An answer may
# cost less than a millionth of a currency's unit.
_UNITS = {"tokens": 1e6, "seconds": 1e6, "cost": 1e12}
_LARGEST_COST = 1e15


def group_problem_scores(
    outcomes: Outcomes, *, where: Mapping[str, str] | None = None, answers: bool = False
) -> ProblemScores:
    """All series by problem, from one query.

    Rows without a finite score are left out and counted. Of several rows of one series, run, problem and
    sample the last written counts, as for repeated steps; the others are replaced. Samples are then
    averaged within a run and problem.

    ``where`` keeps rows with these values in these free columns. ``answers`` counts answers too, for majority
    votes, by a second query.

    Raises:
        ScoresError: if a score lies outside of the stated range, a problem is in two clusters, a column does
            not exist, or nothing is left.
        ReportError: if the files hold what cannot be read; with every file and line.
    """
    found = _read_parts(outcomes, None, where or {}, answers=answers)
    if not found:
        raise ScoresError("there is no outcome with a series, a problem and a score")
    return found[""]


def group_problem_scores_by(
    outcomes: Outcomes, column: str, *, where: Mapping[str, str] | None = None, answers: bool = False
) -> dict[str, ProblemScores]:
    """As ``group_problem_scores``, for each value of a free column by itself, in order of first appearance.

    Problems of different parts are different problems, whatever their names. Rows without a value in the
    column are in no part.

    Raises:
        ScoresError: as ``group_problem_scores``.
        ReportError: as ``group_problem_scores``.
    """
    return _read_parts(outcomes, column, where or {}, answers=answers)


class _Query(NamedTuple):
    """A table of outcomes and a question about it.

    ``part`` is an expression for the part of a row, ``repeated`` says whether a sample may have several rows.
    """

    outcomes: Outcomes
    part: str
    condition: str
    repeated: bool = False


def _read_parts(
    outcomes: Outcomes, column: str | None, where: Mapping[str, str], *, answers: bool
) -> dict[str, ProblemScores]:
    unknown = [name for name in (*where, *([column] if column else [])) if name not in outcomes.slices]
    if unknown:
        there = f"There are {', '.join(outcomes.slices)}" if outcomes.slices else "There is none"
        raise ScoresError(f"the outcomes have no column {', '.join(unknown)} to slice by", there)
    if not outcomes.lowest < outcomes.highest:
        raise ScoresError(
            f"scores from {outcomes.lowest:g} to {outcomes.highest:g} are no range",
            "State the lowest and the highest possible score",
        )
    condition = " AND ".join(f"{_quote_name(name)} = {_quote_text(value)}" for name, value in where.items())
    if column:
        condition = " AND ".join(filter(None, [condition, f"{_quote_name(column)} IS NOT NULL"]))
    query = _Query(outcomes, _quote_name(column) if column else "''", condition)
    with outcomes.reading():
        query, parts = _read_cells(query)
        _check_range(outcomes, parts)
        _check_clusters(outcomes, parts)
        if query.repeated:
            outcomes.check_repeats()
        counted = _read_answers(query) if answers and "answer" in outcomes.has else None
    names = sorted(parts, key=lambda part: (parts[part].first.min(), part))
    found = {part: assemble_scores(outcomes, parts[part]) for part in names}
    if counted is None:
        return found
    rows_of_part = {part: np.flatnonzero(np.array(as_texts(counted["part"])) == part) for part in names}
    return {
        part: add_votes(one, {name: values[rows_of_part[part]] for name, values in counted.items()})
        for part, one in found.items()
    }


# Scores are added in parts of their range: sums of whole numbers are the same in any order.
_PARTS = 2**40


def _fetch(
    query: _Query, extra: list[str], aggregates: tuple[str, ...], further: str = ""
) -> dict[str, Column]:
    """One row a part, series, run and problem, and a value of ``further``.

    ``extra`` columns are those of the last row of each sample, null where none has a finite score.
    """
    table = query.outcomes.frame.to_native()
    if query.condition:
        table = table.filter(query.condition)
    finite = f"score BETWEEN -{LARGEST_FLOAT} AND {LARGEST_FLOAT}"
    key = "series, run, problem"
    if query.repeated:
        # arg_max_null, because the last row may have no answer.
        chosen = [f'arg_max_null({name}, "row") FILTER ({finite}) AS {name}' for name in ("score", *extra)]
        samples = table.aggregate(
            f'{query.part} AS part, {key}, sample, min(seed) AS seed, min("row") AS first, count(*) AS rows, '
            f"count(*) FILTER ({finite}) AS usable, {', '.join(chosen)}",
            f"{query.part}, {key}, sample",
        )
    else:
        chosen = [f"CASE WHEN {finite} THEN {name} END AS {name}" for name in ("score", *extra)]
        samples = table.project(
            f'{query.part} AS part, {key}, sample, seed, "row" AS first, 1 AS rows, '
            f"coalesce({finite}, false)::INTEGER AS usable, {', '.join(chosen)}"
        )
    keys = f"part, {key}{', ' if further else ''}{further}"
    columns: dict[str, Column] = samples.aggregate(f"{keys}, {', '.join(aggregates)}", keys).fetchnumpy()
    return columns


def _read_cells(query: _Query) -> tuple[_Query, dict[str, Cells]]:
    """All cells by part, and the query that gave them.

    To find the last row of every sample a group a sample is needed, which costs more than all else together.
    So samples are first taken to have one row each, and the hashes of a cell's samples are counted too: if
    none is there twice, no sample is. Two samples with one hash only cost a second query.
    """
    outcomes = query.outcomes
    low, high = float(outcomes.lowest), float(outcomes.highest)
    costs = [name for name in _UNITS if name in outcomes.has]
    texts = [name for name in ("gold", "cluster") if name in outcomes.has]
    aggregates = (
        "min(seed) AS seed, min(first) AS first, sum(rows) AS rows, sum(usable) AS usable",
        "len(list_distinct(list(hash(sample)) FILTER (score IS NOT NULL))) AS different",
        f"count(score) AS n, count(*) FILTER (score = {high!r}) AS correct",
        f"count(*) FILTER (score = {low!r}) AS wrong, min(score) AS smallest, max(score) AS largest",
        # Only scores between the ends travel: of 0/1 scores the counts are all there is to know.
        f"list(score) FILTER (score > {low!r} AND score < {high!r}) AS others",
        *(
            f"count({name}) FILTER ({_filter_usable(name)}) AS {name}_n, "
            f"sum(round({name} * {_UNITS[name]!r})::HUGEINT) FILTER ({_filter_usable(name)}) AS {name}"
            for name in costs
        ),
        *(f"min({name}) AS {name}_first, max({name}) AS {name}_last" for name in texts),
    )
    columns = _fetch(query, [*costs, *texts], aggregates)
    different = np.ma.filled(columns["different"].astype(np.float64), 0)
    if np.any(different < columns["n"].astype(np.float64)):
        query = query._replace(repeated=True)
        columns = _fetch(query, [*costs, *texts], aggregates)
    for name in costs:
        columns[name] = np.ma.filled(columns[name].astype(np.float64), 0) / _UNITS[name]
    parts = np.array(as_texts(columns.pop("part")), dtype=object)
    places = {part: np.flatnonzero(parts == part) for part in dict.fromkeys(parts.tolist())}
    return query, {part: Cells.from_columns(columns, rows) for part, rows in places.items()}


def _read_answers(query: _Query) -> dict[str, Column]:
    """One row an answer of each run and problem: how often it was given and its mean score."""
    low, width = float(query.outcomes.lowest), float(query.outcomes.highest - query.outcomes.lowest)
    total = f"sum(round((score - {low!r}) / {width!r} * {_PARTS})::HUGEINT)"
    columns = _fetch(query, ["answer"], (f"count(score) AS n, {total} AS total",), "answer")
    count = np.maximum(np.asarray(columns["n"]).astype(np.float64), 1)
    columns["mean"] = low + width * (np.ma.filled(columns["total"].astype(np.float64), 0) / _PARTS / count)
    return columns


def _filter_usable(name: str) -> str:
    return f"score IS NOT NULL AND {name} BETWEEN -{_LARGEST_COST} AND {_LARGEST_COST}"


def _check_range(outcomes: Outcomes, parts: Mapping[str, Cells]) -> None:
    """Raises a ScoresError that names the scores outside of the stated range."""
    outside = [
        (cells.series[place], cells.problem[place], end)
        for cells in parts.values()
        for place, ends in enumerate(zip(cells.smallest.tolist(), cells.largest.tolist(), strict=True))
        for end in dict.fromkeys(ends)
        if end < outcomes.lowest or end > outcomes.highest
    ]
    if outside:
        shown = "; ".join(
            f"{end:g} ({series}, problem {problem})" for series, problem, end in sorted(outside)[:3]
        )
        more = f"; and {len(outside) - 3} more" if len(outside) > 3 else ""  # noqa: PLR2004 - shown
        raise ScoresError(
            f"scores outside of {outcomes.lowest:g} to {outcomes.highest:g}: {shown}{more}",
            "State the range of the scores, or mend them",
        )


def _check_clusters(outcomes: Outcomes, parts: Mapping[str, Cells]) -> None:
    """Raises an error where a problem is in two clusters."""
    for cells in parts.values():
        for problem, names in find_split_problems(cells).items():
            outcomes.check_clusters()
            raise ScoresError(
                f"problem {problem} is in more than one cluster: {', '.join(names[:3])}",
                "Give each problem one cluster in all of its rows",
            )


def _quote_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
