"""Outcomes to one row per run and one column per problem, grouped in DuckDB whatever their number."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import (
    NoOutcomesError,
    OutcomeNotes,
    Outcomes,
    ProblemScores,
    RunOfSeries,
    ScoresError,
    Votes,
)
from reportgen.core.score_names import STATUS, STATUSES, AnswerCounts
from reportgen.read.queries.points import (
    LARGEST_FLOAT,
    Column,
    as_floats,
    as_names,
    as_texts,
    rank_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from reportgen.core.model import FloatArray, IntArray

# Sums of whole millionths are exact, hence the same however rows are split over threads. An answer may cost
# less than a millionth of a currency unit.
_UNITS = {"tokens": 1e6, "seconds": 1e6, "cost": 1e12}
_LARGEST_COST = 1e15

# Statuses of answers that are not scored, "" where the status is not known.
_KINDS = ("", *STATUSES[1:])

_Columns: TypeAlias = "Mapping[str, Column]"
_Number = TypeVar("_Number", np.int64, np.float64)


def group_problem_scores(
    outcomes: Outcomes, *, where: Mapping[str, str] | None = None, answers: bool = False
) -> ProblemScores:
    """Group all series by problem, with one query.

    Rows without a finite score are left out and counted; of several rows of one sample the last written
    counts. ``where`` selects rows with these values in free columns; ``answers`` counts answers too, for
    majority votes. Raises a ScoresError if a score is outside the stated range, a problem is in two clusters,
    a column does not exist, or nothing is left; a ReportError, with every file and line, if the files cannot
    be read.
    """
    parts = _read_parts(outcomes, None, where or {}, answers=answers)
    if not parts:
        raise NoOutcomesError("there is no outcome with a series, a problem and a score")
    return replace(parts[""], grouped=outcomes.notes)


def group_problem_scores_by(
    outcomes: Outcomes, column: str, *, answers: bool = False
) -> dict[str, ProblemScores]:
    """Do the same as ``group_problem_scores`` for each value of a free column, in order of appearance."""
    return _read_parts(outcomes, column, {}, answers=answers)


class _Query(NamedTuple):
    """Query of outcomes; if ``repeated``, a sample may have several rows."""

    outcomes: Outcomes
    part: str
    condition: str
    repeated: bool = False

    @property
    def statuses(self) -> bool:
        """Whether statuses of answers are known."""
        return STATUS in self.outcomes.has

    def fetch(self, extra: list[str], aggregates: tuple[str, ...], further: str = "") -> dict[str, Column]:
        """Fetch one row per part, series, run and problem, and per value of ``further``.

        ``extra`` columns are those of the last row of each sample, null if none has a finite score.
        """
        table = self.outcomes.frame.to_native()
        if self.condition:
            table = table.filter(self.condition)
        finite = f"score BETWEEN -{LARGEST_FLOAT} AND {LARGEST_FLOAT}"
        key = "series, run, problem"
        if self.repeated:
            # arg_max_null, because the last row may have no answer.
            chosen = [
                f'arg_max_null({name}, "row") FILTER ({finite}) AS {name}' for name in ("score", *extra)
            ]
            # The status of a sample without a score is that of its last row.
            chosen += [f'arg_max_null({STATUS}, "row") AS {STATUS}'] * self.statuses
            samples = table.aggregate(
                f'{self.part} AS part, {key}, sample, min(seed) AS seed, min("row") AS first, '
                f"count(*) AS rows, count(*) FILTER ({finite}) AS usable, {', '.join(chosen)}",
                f"{self.part}, {key}, sample",
            )
        else:
            chosen = [f"CASE WHEN {finite} THEN {name} END AS {name}" for name in ("score", *extra)]
            chosen += [STATUS] * self.statuses
            samples = table.project(
                f'{self.part} AS part, {key}, sample, seed, "row" AS first, 1 AS rows, '
                f"coalesce({finite}, false)::INTEGER AS usable, {', '.join(chosen)}"
            )
        keys = f"part, {key}{', ' if further else ''}{further}"
        columns: dict[str, Column] = samples.aggregate(f"{keys}, {', '.join(aggregates)}", keys).fetchnumpy()
        return columns

    def read_cells(self) -> tuple[_Query, dict[str, Column]]:
        """Read all cells, one per run and problem of a part, and return them with their query.

        To find the last row of every sample needs a group per sample, which costs more than all else. So
        samples are first assumed to have one row each: if no cell has two equal hashes of samples, none is
        repeated.
        """
        outcomes = self.outcomes
        low, high = float(outcomes.lowest), float(outcomes.highest)
        costs = [name for name in _UNITS if name in outcomes.has]
        texts = [name for name in ("gold", "cluster") if name in outcomes.has]
        usable = {
            name: f"FILTER (score IS NOT NULL AND {name} BETWEEN -{_LARGEST_COST} AND {_LARGEST_COST})"
            for name in costs
        }
        aggregates = (
            "min(seed) AS seed, min(first) AS first, sum(rows) AS rows, sum(usable) AS usable",
            "len(list_distinct(list(hash(sample)) FILTER (score IS NOT NULL))) AS different",
            f"count(score) AS n, count(*) FILTER (score = {high!r}) AS correct",
            f"count(*) FILTER (score = {low!r}) AS wrong, min(score) AS smallest, max(score) AS largest",
            # Only scores between the ends are fetched: for 0/1 scores the counts suffice.
            f"list(score) FILTER (score > {low!r} AND score < {high!r}) AS others",
            *(
                f"count({name}) {usable[name]} AS {name}_n, "
                f"sum(round({name} * {_UNITS[name]!r})::HUGEINT) {usable[name]} AS {name}"
                for name in costs
            ),
            *(f"min({name}) AS {name}_first, max({name}) AS {name}_last" for name in texts),
        )
        if self.statuses:
            aggregates += (
                "count(*) - count(score) AS left_out",
                *_count_statuses("left out", "score IS NULL"),
                *_count_statuses("wrong", f"score = {low!r}"),
            )
        columns = self.fetch([*costs, *texts], aggregates)
        if self.repeated:
            return self, columns
        different = np.ma.filled(columns["different"].astype(np.float64), 0)
        if not np.any(different < columns["n"].astype(np.float64)):
            return self, columns
        query = self._replace(repeated=True)
        return query, query.fetch([*costs, *texts], aggregates)


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
    conditions = [_quote(name) + " = " + _quote(value, "'") for name, value in where.items()]
    if column:
        conditions.append(f"{_quote(column)} IS NOT NULL")
    # A sample that was tried again has a row of each try, of which one may have no score.
    repeated = STATUS in outcomes.has
    query = _Query(outcomes, _quote(column) if column else "''", " AND ".join(conditions), repeated)
    votes = None
    with outcomes.reading():
        query, columns = query.read_cells()
        parts = _split_by_part(columns)
        _check_cells(outcomes, columns, parts)
        if query.repeated and (not query.statuses or _has_repeats(columns)):
            outcomes.check_repeats()
        outcomes.check_runs()
        if answers and "answer" in outcomes.has:
            # One row per run, problem and answer: its count and mean score.
            low, width = float(outcomes.lowest), float(outcomes.highest - outcomes.lowest)
            total = f"sum(round((score - {low!r}) / {width!r} * {_PARTS})::HUGEINT)"
            answered = query.fetch(["answer"], (f"count(score) AS n, {total} AS total",), "answer")
            count = np.maximum(np.asarray(answered["n"]).astype(np.float64), 1)
            totals = np.ma.filled(answered["total"].astype(np.float64), 0)
            votes = _split_by_part(answered | {"mean": low + width * (totals / _PARTS / count)})
    names = sorted(parts, key=lambda part: (to_integers(parts[part]["first"]).min(), part))
    scores = {part: _assemble_scores(outcomes, parts[part]) for part in names}
    return scores if votes is None else {part: _add_votes(one, votes[part]) for part, one in scores.items()}


def _count_statuses(name: str, condition: str) -> Iterator[str]:
    """Yield the number of samples of each status that meet a condition, in a column after both names."""
    for status in _KINDS:
        known = f"coalesce({STATUS}, '') IN ('{status}'{', ' + repr(STATUSES[0]) if not status else ''})"
        yield f'count(*) FILTER ({condition} AND {known}) AS "{name} {status}"'


def _has_repeats(columns: _Columns) -> bool:
    rows, n, left_out = (to_integers(columns[name]) for name in ("rows", "n", "left_out"))
    return bool(np.any(rows > n + left_out))


def _quote(text: str, mark: str = '"') -> str:
    return mark + text.replace(mark, 2 * mark) + mark


def _split_by_part(columns: _Columns) -> dict[str, dict[str, Column]]:
    parts = np.array(as_texts(columns["part"]), dtype=object)
    rows = {part: np.flatnonzero(parts == part) for part in dict.fromkeys(parts.tolist())}
    return {part: {name: column[own] for name, column in columns.items()} for part, own in rows.items()}


# Scores are added in parts of their range: sums of whole numbers are the same in any order.
_PARTS = 2**40


def _check_cells(outcomes: Outcomes, cells: _Columns, parts: Mapping[str, _Columns]) -> None:
    """Raise a ScoresError that names scores outside the stated range, or a problem in several clusters."""
    names = (as_names(cells[name]) for name in ("series", "problem"))
    ends = (as_floats(cells[name]).tolist() for name in ("smallest", "largest"))
    outside = sorted(
        (series, problem, end)
        for series, problem, low, high in zip(*names, *ends, strict=True)
        for end in dict.fromkeys((low, high))
        if end < outcomes.lowest or end > outcomes.highest
    )
    if outside:
        shown = "; ".join(f"{end:g} ({series}, problem {problem})" for series, problem, end in outside[:3])
        more = f"; and {len(outside) - 3} more" if len(outside) > 3 else ""  # noqa: PLR2004 - shown
        raise ScoresError(
            f"scores outside of {outcomes.lowest:g} to {outcomes.highest:g}: {shown}{more}",
            "State the range of the scores, or mend them",
        )
    for part in parts.values():
        for problem, clusters in sorted(_collect_by_problem(part, "cluster").items()):
            if len(clusters) > 1:
                outcomes.check_clusters()
                raise ScoresError(
                    f"problem {problem} is in more than one cluster: {', '.join(sorted(clusters)[:3])}",
                    "Give each problem one cluster in all of its rows",
                )


def _assemble_scores(outcomes: Outcomes, cells: _Columns) -> ProblemScores:
    """Build the matrices of all runs and problems, with notes on irregular rows."""
    problems = tuple(sorted(set(as_names(cells["problem"]))))
    every, cells = cells, _drop_unscored_runs(cells)
    names, first = as_names(cells["series"]), to_integers(cells["first"]).tolist()
    place_of_series = rank_names(names, first, outcomes.order)
    series, graded = (*place_of_series,), np.array([place_of_series[name] for name in names])
    seeds: dict[tuple[int, str], str | None] = {}
    for key in zip(graded.tolist(), as_names(cells["run"]), as_texts(cells["seed"]), strict=True):
        seeds[key[:2]] = key[2] if seeds.get(key[:2]) is None else seeds[key[:2]]
    runs = tuple(RunOfSeries(*key, seeds[key]) for key in sorted(seeds))
    row, column = _locate_cells(series, runs, problems, cells)

    def fill(values: npt.NDArray[_Number], empty: float = math.nan) -> npt.NDArray[_Number]:
        matrix = np.full((len(runs), len(problems)), empty, dtype=values.dtype)
        matrix[row, column] = values
        return matrix

    n, right, wrong = (to_integers(cells[name]) for name in ("n", "correct", "wrong"))
    mean, variance = _compute_moments(cells, outcomes.lowest, outcomes.highest)
    mixed = set(graded[right + wrong < n].tolist())
    golds, clusters = (_collect_by_problem(cells, name) for name in ("gold", "cluster"))
    scores = ProblemScores(
        series=series,
        problems=problems,
        runs=runs,
        samples=fill(n, 0),
        correct=fill(right, 0),
        mean=fill(mean),
        variance=fill(variance),
        binary=tuple(place not in mixed for place in range(len(series))),
        lowest=float(outcomes.lowest),
        highest=float(outcomes.highest),
        tokens=fill(_compute_cost(cells, "tokens")),
        seconds=fill(_compute_cost(cells, "seconds")),
        cost=fill(_compute_cost(cells, "cost")),
        notes=OutcomeNotes(),
        gold=_list_single(golds, problems),
        clusters=_list_single(clusters, problems),
    )
    return _add_notes(every, scores)


def _add_notes(every: _Columns, scores: ProblemScores) -> ProblemScores:
    """Add irregularities and, where statuses are known, the answers of each cell that are left out.

    Of a cell without a score these are as many as elsewhere, so that pass@k has bounds. Runs without any
    score are added, too.
    """
    if "left_out" in every:
        known = {(scores.series[run.series], run.run) for run in scores.runs}
        keys = dict.fromkeys(zip(as_names(every["series"]), as_names(every["run"]), strict=True))
        lost = (RunOfSeries(scores.series.index(key[0]), key[1], None) for key in keys if key not in known)
        cells = _drop_unscored_runs(every)
        given = np.zeros(scores.samples.shape, dtype=np.int64)
        where = _locate_cells(scores.series, scores.runs, scores.problems, cells)
        given[where] = to_integers(cells["n"]) + to_integers(cells["left_out"])
        left_out = np.where(scores.samples > 0, given - scores.samples, given.max())
        scores = replace(scores, left_out=left_out, lost_runs=tuple(lost))
    return replace(scores, notes=_describe_cells(every, scores))


def _drop_unscored_runs(cells: _Columns) -> _Columns:
    """Return the cells without runs that have no score, unless that is all of their series."""
    keys = list(zip(as_names(cells["series"]), as_names(cells["run"]), strict=True))
    scored = {key for key, n in zip(keys, to_integers(cells["n"]).tolist(), strict=True) if n}
    series = {name for name, _ in scored}
    chosen = np.array([key in scored or key[0] not in series for key in keys], dtype=np.bool_)
    return cells if chosen.all() else {name: column[chosen] for name, column in cells.items()}


def _list_single(texts: Mapping[str, set[str]], problems: Iterable[str]) -> tuple[str | None, ...]:
    """Return the single text of each problem, or None; empty if no problem has any."""
    every = (texts.get(problem, set()) for problem in problems if texts)
    return tuple(next(iter(own)) if len(own) == 1 else None for own in every)


def _add_votes(scores: ProblemScores, answers: _Columns) -> ProblemScores:
    """Return ``scores`` with the votes from a query grouped by answer."""
    has_score = to_integers(answers["n"]) > 0
    answers = {name: cells[has_score] for name, cells in answers.items()}
    row, column = _locate_cells(scores.series, scores.runs, scores.problems, answers)
    answered = np.array([bool((text or "").strip()) for text in as_texts(answers["answer"])], dtype=np.int64)
    count, mean = to_integers(answers["n"]), as_floats(answers["mean"])
    # In a fixed order, so that neither rows nor threads change a sum.
    order = np.lexsort((mean, count, answered, column, row))
    return replace(scores, votes=Votes(row[order], column[order], count[order], mean[order], answered[order]))


def _locate_cells(
    series: Sequence[str], runs: Sequence[RunOfSeries], problems: Sequence[str], cells: _Columns
) -> tuple[IntArray, IntArray]:
    """Return row and column of cells by the names of their series, run and problem."""
    row_of = {(series[run.series], run.run): row for row, run in enumerate(runs)}
    column_of = {problem: column for column, problem in enumerate(problems)}
    names = zip(as_names(cells["series"]), as_names(cells["run"]), strict=True)
    columns = [column_of[problem] for problem in as_names(cells["problem"])]
    return np.array([row_of[key] for key in names], dtype=np.int64), np.array(columns, dtype=np.int64)


def _compute_moments(cells: _Columns, lowest: float, highest: float) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance (ddof = 1) of each cell's scores; NaN if there is none."""
    n, right, wrong = (to_integers(cells[name]) for name in ("n", "correct", "wrong"))
    width = highest - lowest
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, lowest + width * (right / n), np.nan)
        # s² of right and wrong alone: the share of each, times n/(n - 1).
        variance = np.where(n > 1, width**2 * (right / n) * (wrong / (n - 1)), np.nan)
    for cell in np.flatnonzero(~np.ma.getmaskarray(cells["others"])).tolist():
        ends = np.repeat((lowest, highest), (int(wrong[cell]), int(right[cell])))
        scores = np.concatenate([ends, np.asarray(cells["others"][cell], dtype=np.float64)])
        mean[cell] = math.fsum(scores) / scores.size
        squares = math.fsum((scores - mean[cell]) ** 2)
        variance[cell] = squares / (scores.size - 1) if scores.size > 1 else np.nan
    return mean, variance


def _describe_cells(cells: _Columns, scores: ProblemScores) -> OutcomeNotes:
    golds = _collect_by_problem(cells, "gold")
    differing = tuple(problem for problem in scores.problems if len(golds.get(problem, ())) > 1)
    incomplete, uneven, partial = [], [], []
    known = {(scores.series[run.series], run.run): row for row, run in enumerate(scores.runs)}
    keys = dict.fromkeys(zip(as_names(cells["series"]), as_names(cells["run"]), strict=True))
    owner = np.array([run.series for run in scores.runs])
    is_scored = scores.samples.sum(axis=0) > 0
    for place, name in enumerate(scores.series):
        own = scores.samples[owner == place]
        answered = int(np.count_nonzero(own.sum(axis=0)))
        for key in (key for key in keys if key[0] == name):
            count = int(np.count_nonzero(scores.samples[known[key]])) if key in known else 0
            partial += [(*key, count, answered)] if count < answered else []
        gone = np.flatnonzero(is_scored & (own.sum(axis=0) == 0))
        if gone.size:
            incomplete.append((name, tuple(scores.problems[column] for column in gone.tolist())))
        counts = own[own > 0]
        if counts.size and counts.min() < counts.max():
            uneven.append((name, int(counts.min()), int(counts.max())))
    rows, usable, scored = (int(to_integers(cells[name]).sum()) for name in ("rows", "usable", "n"))
    notes = OutcomeNotes(rows, usable - scored, rows - usable, tuple(incomplete), tuple(uneven), differing)
    if scores.left_out is not None:  # each series says what is missing, and why
        notes = replace(notes, missing=0, statuses=tuple(_count_answers(cells, scores)))
    return replace(notes, partial=tuple(partial))


def _count_answers(cells: _Columns, scores: ProblemScores) -> Iterator[AnswerCounts]:
    """Yield what became of the answers of each series; those without a row were not run."""
    names = np.array(as_names(cells["series"]), dtype=object)
    given = to_integers(cells["n"]) + to_integers(cells["left_out"])
    size = scores.samples if scores.left_out is None else scores.samples + scores.left_out
    for place, series in enumerate(scores.series):
        own, rows = names == series, [n for n, run in enumerate(scores.runs) if run.series == place]
        counts = {
            what: Counter(
                {status: int(to_integers(cells[f"{what} {status}"])[own].sum()) for status in _KINDS}
            )
            for what in ("left out", "wrong")
        }
        lost = sum(run.series == place for run in scores.lost_runs)
        every = size[rows].sum() + lost * len(scores.problems) * size.max()
        counts["left out"]["not run"] += int(every - given[own].sum())
        answered = int(np.count_nonzero(scores.samples[rows].sum(axis=0)))
        counts["wrong"][""] = 0  # a wrong answer is no lost one
        known = (dict(+counts[what]) for what in ("left out", "wrong"))
        yield AnswerCounts(series, len(scores.problems), answered, *known)


def _collect_by_problem(cells: _Columns, name: str) -> dict[str, set[str]]:
    """Collect every text that is given for a problem, such as its right answer."""
    texts: dict[str, set[str]] = {}
    for end in (f"{name}_first", f"{name}_last"):
        if end in cells:
            for problem, text in zip(as_names(cells["problem"]), as_texts(cells[end]), strict=True):
                if text is not None:
                    texts.setdefault(problem, set()).add(text)
    return texts


def to_integers(column: Column) -> IntArray:
    """Convert a fetched column of whole numbers, with 0 for nulls."""
    return np.ma.filled(column.astype(np.float64), 0).astype(np.int64)


def _compute_cost(cells: _Columns, name: str) -> FloatArray:
    """Return the mean of a cost in each cell; NaN if it is not given."""
    if name not in cells:
        return np.full(cells["n"].size, np.nan)
    count = to_integers(cells[f"{name}_n"])
    total = as_floats(np.ma.filled(cells[name].astype(np.float64), 0) / _UNITS[name])
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
