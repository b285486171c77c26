"""Outcomes made in a test: as lazy as those of files, as the matrix they become, or with all that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from made_sources import make_lazy_frame

from reportgen.core.comparisons import OutcomeNotes, Outcomes, ProblemScores, RunOfSeries
from reportgen.core.errors import SourceLocation
from reportgen.figures.plot import BenchmarkScores, ScoreContext
from reportgen.figures.style import assign_slots
from reportgen.statistics.compare import compare_all
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import find_leader, rank_groups, rank_ranges

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
    "answer_status": "VARCHAR",
}


def outcomes(
    rows: Iterable[dict[str, Any]],
    *,
    slices: Sequence[str] = (),
    lowest: float = 0.0,
    highest: float = 1.0,
) -> Outcomes:
    """Rows of names and numbers as ``Outcomes``."""
    listed = list(rows)
    has = [name for name in _OPTIONAL if any(name in row for row in listed)]
    kinds = {**_COLUMNS, **{name: _OPTIONAL[name] for name in has}, **dict.fromkeys(slices, "VARCHAR")}
    defaults = {"series": "A", "run": "1", "problem": "p", "sample": "1"}
    return Outcomes(
        frame=make_lazy_frame(listed, kinds, defaults),
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
        higher_is_better=higher_is_better,
        seed=seed,
    )
    return comparison


def scored(
    problems: ProblemScores,
    metric: str = "mean",
    k: int | None = None,
    *,
    estimand: str = "problems like these",
    higher_is_better: bool = True,
) -> BenchmarkScores:
    """One benchmark with its scores, all pairs and groups."""
    found = score_series(problems, metric, k, estimand=estimand)
    pairs = compare_all(problems, metric, k, higher_is_better=higher_is_better)
    ranked = rank_groups(found, pairs, higher_is_better=higher_is_better)
    ranks = rank_ranges(found, pairs)
    known = {one.series: one.estimate for one in found if one.estimate is not None}
    first = (max if higher_is_better else min)(known, key=known.__getitem__, default="")
    lead = find_leader(pairs, first, [name for name in known if name != first])
    return BenchmarkScores(problems, found, pairs, ranked, ranks, lead)


def score_context(*names: str, **fields: Any) -> ScoreContext:  # noqa: ANN401 - fields of a ScoreContext
    """The context of series with these names: scores from 0 to 1, higher is better, no protocol."""
    plain: dict[str, Any] = {
        "place": SourceLocation("content/page.md", 7),
        "slots": assign_slots([names]),
        "source": "a source",
        "benchmark": "Contest",
        "approximate": None,
        "higher_is_better": True,
        "lowest": 0.0,
        "highest": 1.0,
    }
    return ScoreContext(**{**plain, **fields})
