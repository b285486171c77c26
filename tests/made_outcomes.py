"""Outcomes made in a test: as lazy as those that are read from files, or as the matrix they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import numpy as np

from reportgen.core.comparisons import OutcomeNotes, Outcomes, ProblemScores, RunOfSeries
from reportgen.statistics.compare import compare_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import FloatArray, IntArray

_COLUMNS = {
    "series": "VARCHAR",
    "run": "VARCHAR",
    "seed": "VARCHAR",
    "problem": "VARCHAR",
    "sample": "VARCHAR",
    "score": "DOUBLE",
}
_OPTIONAL = {
    "answer": "VARCHAR",
    "gold": "VARCHAR",
    "cluster": "VARCHAR",
    "tokens": "DOUBLE",
    "seconds": "DOUBLE",
    "cost": "DOUBLE",
}


def outcomes(
    rows: Iterable[dict[str, Any]],
    *,
    slices: Sequence[str] = (),
    lowest: float = 0.0,
    highest: float = 1.0,
) -> Outcomes:
    """Rows of names and numbers as ``Outcomes``; ``row`` counts them unless they say it themselves."""
    listed = list(rows)
    has = [name for name in _OPTIONAL if any(name in row for row in listed)]
    kinds = {**_COLUMNS, **{name: _OPTIONAL[name] for name in has}, **dict.fromkeys(slices, "VARCHAR")}
    defaults = {"series": "A", "run": "1", "problem": "p", "sample": "1"}
    lists = {name: [row.get(name, defaults.get(name)) for row in listed] for name in kinds}
    picked = ", ".join(f"unnest(${name}::{kind}[]) AS {name}" for name, kind in kinds.items())
    connection = duckdb.connect()
    connection.execute(
        f'CREATE TABLE made AS SELECT {picked}, unnest($at::BIGINT[]) AS "row"',
        {**lists, "at": [row.get("row", place) for place, row in enumerate(listed)]},
    )
    return Outcomes(
        frame=nw.from_native(connection.sql("FROM made")),
        order=tuple(dict.fromkeys(row.get("series", "A") for row in listed)),
        has=frozenset(has),
        slices=tuple(slices),
        lowest=lowest,
        highest=highest,
    )


def matrix(
    scores: Sequence[Any] | FloatArray,
    *,
    series: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    lowest: float = 0.0,
    highest: float = 1.0,
) -> ProblemScores:
    """Scores of shape (series, problems, samples) with one run a series; NaN where a sample is missing."""
    array = np.asarray(scores, dtype=np.float64)
    known = np.isfinite(array)
    n: IntArray = known.sum(axis=2).astype(np.int64)
    filled = np.where(known, array, 0.0)
    count = np.where(n > 0, n, 1)
    mean: FloatArray = np.where(n > 0, filled.sum(axis=2) / count, np.nan)
    squares = np.where(known, (filled - np.nan_to_num(mean)[:, :, np.newaxis]) ** 2, 0.0).sum(axis=2)
    nothing = np.full(n.shape, np.nan)
    names = tuple(series or [chr(65 + place) for place in range(array.shape[0])])
    return ProblemScores(
        series=names,
        problems=tuple(problems or [f"p{place:05}" for place in range(array.shape[1])]),
        runs=tuple(RunOfSeries(place, "1", None) for place in range(array.shape[0])),
        samples=n,
        correct=(array == highest).sum(axis=2).astype(np.int64),
        mean=mean,
        variance=np.where(n > 1, squares / np.maximum(n - 1, 1), np.nan),
        binary=tuple(bool(np.isin(one[np.isfinite(one)], (lowest, highest)).all()) for one in array),
        lowest=lowest,
        highest=highest,
        tokens=nothing,
        seconds=nothing,
        cost=nothing,
        notes=OutcomeNotes(),
    )


def compare(
    scores: ProblemScores,
    a: str,
    b: str,
    metric: str = "mean",
    k: int | None = None,
    *,
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    seed: int = 0,
) -> Comparison:
    """One pair by itself, as ``compare_all`` compares it."""
    (comparison,) = compare_all(
        scores,
        metric,
        k,
        pairs=[(a, b)],
        level=level,
        alpha=alpha,
        higher_is_better=higher_is_better,
        seed=seed,
    )
    return comparison
