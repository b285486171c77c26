"""The cells of a query over outcomes, one for each run and problem, put into matrices."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from reportgen.core.outcomes import OutcomeNotes, ProblemScores, RunOfSeries, Votes
from reportgen.statistics.curves.points import as_floats, as_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.outcomes import Outcomes
    from reportgen.statistics.curves.points import Column


_Number = TypeVar("_Number", np.int64, np.float64)


class Cells(NamedTuple):
    """One entry a run and problem: names, counts, and the scores that are neither lowest nor highest."""

    series: list[str]
    run: list[str]
    seed: list[str | None]
    problem: list[str]
    first: IntArray
    rows: IntArray
    usable: IntArray
    samples: IntArray
    correct: IntArray
    wrong: IntArray
    smallest: FloatArray
    largest: FloatArray
    others: list[FloatArray | None]
    tokens: FloatArray
    seconds: FloatArray
    cost: FloatArray
    gold: list[tuple[str | None, str | None]]
    cluster: list[tuple[str | None, str | None]]

    @classmethod
    def from_columns(cls, columns: Mapping[str, Column], places: IntArray) -> Cells:
        """The rows of a query's answer at these places."""
        here = {name: column[places] for name, column in columns.items()}
        others = here["others"]
        missing = np.ma.getmaskarray(others)
        none: list[str | None] = [None] * places.size

        def ends(name: str) -> list[tuple[str | None, str | None]]:
            both = (f"{name}_first", f"{name}_last")
            return list(zip(*(as_texts(here[end]) if end in here else none for end in both), strict=True))

        return cls(
            series=_to_texts(here["series"]),
            run=_to_texts(here["run"]),
            seed=as_texts(here["seed"]),
            problem=_to_texts(here["problem"]),
            first=_to_integers(here["first"]),
            rows=_to_integers(here["rows"]),
            usable=_to_integers(here["usable"]),
            samples=_to_integers(here["n"]),
            correct=_to_integers(here["correct"]),
            wrong=_to_integers(here["wrong"]),
            smallest=as_floats(here["smallest"]),
            largest=as_floats(here["largest"]),
            others=[None if missing[place] else others[place] for place in range(places.size)],
            tokens=_compute_average(here, "tokens"),
            seconds=_compute_average(here, "seconds"),
            cost=_compute_average(here, "cost"),
            gold=ends("gold"),
            cluster=ends("cluster"),
        )


def assemble_scores(outcomes: Outcomes, cells: Cells) -> ProblemScores:
    """The matrices of all runs and problems, with what was found on the way."""
    series = _order_series(cells, outcomes.order)
    place_of_series = {name: place for place, name in enumerate(series)}
    seeds: dict[tuple[int, str], str | None] = {}
    for name, run, seed in zip(cells.series, cells.run, cells.seed, strict=True):
        key = (place_of_series[name], run)
        seeds[key] = seed if seeds.get(key) is None else seeds[key]
    runs = tuple(RunOfSeries(*key, seeds[key]) for key in sorted(seeds))
    problems = tuple(sorted(set(cells.problem)))
    row, column = locate_cells(series, runs, problems, (cells.series, cells.run, cells.problem))

    def fill(values: npt.NDArray[_Number], empty: float = math.nan) -> npt.NDArray[_Number]:
        matrix = np.full((len(runs), len(problems)), empty, dtype=values.dtype)
        matrix[row, column] = values
        return matrix

    mean, variance = _compute_moments(cells, outcomes.lowest, outcomes.highest)
    samples = fill(cells.samples, 0)
    graded = np.array([place_of_series[name] for name in cells.series])
    mixed = set(graded[cells.correct + cells.wrong < cells.samples].tolist())
    golds, clusters = (_collect_by_problem(cells, texts) for texts in (cells.gold, cells.cluster))
    differing = tuple(problem for problem in problems if len(golds.get(problem, ())) > 1)
    return ProblemScores(
        series=series,
        problems=problems,
        runs=runs,
        samples=samples,
        correct=fill(cells.correct, 0),
        mean=fill(mean),
        variance=fill(variance),
        binary=tuple(place not in mixed for place in range(len(series))),
        lowest=float(outcomes.lowest),
        highest=float(outcomes.highest),
        tokens=fill(cells.tokens),
        seconds=fill(cells.seconds),
        cost=fill(cells.cost),
        notes=replace(_summarise_cells(cells, series, problems, runs, samples), differing_gold=differing),
        gold=tuple(_get_only(golds.get(problem, ())) for problem in problems) if golds else (),
        clusters=tuple(_get_only(clusters.get(problem, ())) for problem in problems) if clusters else (),
    )


def find_split_problems(cells: Cells) -> dict[str, tuple[str, ...]]:
    """The problems that are in more than one cluster, and these, sorted."""
    found = _collect_by_problem(cells, cells.cluster)
    return {problem: tuple(sorted(names)) for problem, names in sorted(found.items()) if len(names) > 1}


def add_votes(scores: ProblemScores, columns: Mapping[str, Column]) -> ProblemScores:
    """``scores`` with the votes that a query grouped by answer has found."""
    names = (_to_texts(columns["series"]), _to_texts(columns["run"]), _to_texts(columns["problem"]))
    row, column = locate_cells(scores.series, scores.runs, scores.problems, names)
    answered = np.array([bool((text or "").strip()) for text in as_texts(columns["answer"])], dtype=np.int64)
    count, mean = _to_integers(columns["n"]), as_floats(columns["mean"])
    # In an order of its own, so that neither rows nor threads move a sum.
    order = np.lexsort((mean, count, answered, column, row))
    order = order[count[order] > 0]
    return replace(scores, votes=Votes(row[order], column[order], count[order], mean[order], answered[order]))


def locate_cells(
    series: Sequence[str],
    runs: Sequence[RunOfSeries],
    problems: Sequence[str],
    names: tuple[list[str], list[str], list[str]],
) -> tuple[IntArray, IntArray]:
    """Row and column of cells by the names of their series, run and problem."""
    row_of = {(series[run.series], run.run): place for place, run in enumerate(runs)}
    column_of = {problem: place for place, problem in enumerate(problems)}
    rows = [row_of[key] for key in zip(names[0], names[1], strict=True)]
    columns = [column_of[problem] for problem in names[2]]
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)


def _order_series(cells: Cells, order: Sequence[str]) -> tuple[str, ...]:
    rank = {name: place for place, name in enumerate(order)}
    first: dict[str, int] = {}
    for name, row in zip(cells.series, cells.first.tolist(), strict=True):
        first[name] = min(row, first.get(name, row))
    return tuple(sorted(first, key=lambda name: (rank.get(name, len(rank)), first[name], name)))


def _compute_moments(cells: Cells, lowest: float, highest: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (ddof = 1) of each cell's scores; NaN where there is none."""
    n, right, wrong = cells.samples, cells.correct, cells.wrong
    width = highest - lowest
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, lowest + width * (right / n), np.nan)
        # s² of right and wrong alone: the share of each, times n/(n - 1).
        variance = np.where(n > 1, width**2 * (right / n) * (wrong / (n - 1)), np.nan)
    for place, others in enumerate(cells.others):
        if others is not None:
            between = np.asarray(others, dtype=np.float64)
            scores = np.concatenate(
                [np.repeat((lowest, highest), (int(wrong[place]), int(right[place]))), between]
            )
            mean[place] = math.fsum(scores) / scores.size
            squares = math.fsum((scores - mean[place]) ** 2)
            variance[place] = squares / (scores.size - 1) if scores.size > 1 else np.nan
    return mean, variance


def _summarise_cells(
    cells: Cells,
    series: tuple[str, ...],
    problems: tuple[str, ...],
    runs: tuple[RunOfSeries, ...],
    samples: IntArray,
) -> OutcomeNotes:
    missing, uneven = [], []
    owner = np.array([run.series for run in runs])
    for place, name in enumerate(series):
        own = samples[owner == place]
        gone = np.flatnonzero(own.sum(axis=0) == 0)
        if gone.size:
            missing.append((name, tuple(problems[column] for column in gone.tolist())))
        counts = own[own > 0]
        if counts.size and counts.min() < counts.max():
            uneven.append((name, int(counts.min()), int(counts.max())))
    return OutcomeNotes(
        rows=int(cells.rows.sum()),
        replaced=int((cells.usable - cells.samples).sum()),
        missing=int((cells.rows - cells.usable).sum()),
        incomplete=tuple(missing),
        uneven=tuple(uneven),
    )


def _collect_by_problem(cells: Cells, given: Sequence[tuple[str | None, str | None]]) -> dict[str, set[str]]:
    """Every text that is given of a problem, such as its right answer."""
    texts: dict[str, set[str]] = {}
    for problem, both in zip(cells.problem, given, strict=True):
        if seen := {text for text in both if text is not None}:
            texts.setdefault(problem, set()).update(seen)
    return texts


def _get_only(texts: Collection[str]) -> str | None:
    """The one text; None where there is none, or not one."""
    return next(iter(texts)) if len(texts) == 1 else None


def _to_texts(column: Column) -> list[str]:
    """A column of names; null, which reading does not give, as an empty one."""
    return [text or "" for text in as_texts(column)]


def _to_integers(column: Column) -> IntArray:
    return np.ma.filled(column.astype(np.float64), 0).astype(np.int64)


def _compute_average(columns: Mapping[str, Column], name: str) -> FloatArray:
    """Mean of a cost in each cell; NaN where it is not given."""
    if name not in columns:
        return np.full(columns["n"].size, np.nan)
    count = _to_integers(columns[f"{name}_n"])
    return np.where(count > 0, as_floats(columns[name]) / np.maximum(count, 1), np.nan)
