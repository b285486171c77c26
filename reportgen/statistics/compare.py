"""Series against series on the problems that both answered."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.outcomes import Comparison, ScoresError, Verdict
from reportgen.statistics.intervals import checked_level, deviation, mean, no_different, over_differences
from reportgen.statistics.metrics import problem_values
from reportgen.statistics.sign_flips import flip_tests
from reportgen.statistics.verdicts import adjusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from reportgen.outcomes import Metric, ProblemScores
    from reportgen.statistics.metrics import ProblemValues
    from reportgen.statistics.sign_flips import FlipTest

# With 5 problems the smallest possible p is 2/32, above 0.05 whatever the scores.
FEWEST = 6


def compare(
    problem_scores: ProblemScores,
    a: str,
    b: str,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    seed: int = 0,
) -> Comparison:
    """One pair by itself: as ``compare_all`` of that pair, hence without adjustment for others.

    ``compare(a, b)`` is ``compare(b, a)`` with the sign turned, exactly.
    """
    (one,) = compare_all(
        problem_scores,
        metric,
        k,
        pairs=[(a, b)],
        level=level,
        alpha=alpha,
        higher_is_better=higher_is_better,
        seed=seed,
    )
    return one


def compare_all(
    problem_scores: ProblemScores,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    seed: int = 0,
) -> tuple[Comparison, ...]:
    """Paired differences of all pairs, with intervals, adjusted p and verdicts.

    For each pair, d_p is the difference of the two values of problem p (``statistics.metrics``; samples and
    runs are averaged before), over the P problems that both have. Problems that only one side answered are
    named and never filled in.

    - difference: the mean of d_p; its estimand is the mean difference over problems like these;
    - interval: mean ± t s_d/√P with P - 1 degrees of freedom (``intervals.over_differences``);
    - p: two-sided, by flipping the signs of d_p (``statistics.sign_flips``);
    - adjusted p and verdict: ``statistics.verdicts``. Fewer than ``FEWEST`` shared problems are not tested.

    Args:
        problem_scores: of one benchmark.
        metric: see ``scores``.
        k: see ``scores``.
        pairs: names of series; every pair once, in the order of ``problem_scores.series``, if left out.
        level: confidence level of the intervals, each by itself.
        alpha: see ``adjusted``.
        higher_is_better: whether a larger value is the better one.
        seed: of the report.

    Raises:
        ScoresError: if a series does not exist; otherwise see ``problem_values``.
    """
    raw = compared(problem_scores, metric, k, pairs=pairs, level=level, seed=seed)
    return adjusted(raw, alpha=alpha, higher_is_better=higher_is_better)


def compared(
    problem_scores: ProblemScores,
    metric: Metric | str,
    k: int | None,
    *,
    pairs: Sequence[tuple[str, str]] | None,
    level: float,
    seed: int,
) -> list[Comparison]:
    """As ``compare_all``, before adjustment: the verdicts are still open."""
    checked_level(level)
    values = problem_values(problem_scores, metric, k)
    names = problem_scores.series
    asked = list(combinations(names, 2)) if pairs is None else list(pairs)
    unknown = sorted({name for pair in asked for name in pair} - set(names))
    if unknown:
        raise ScoresError(f"there is no series {', '.join(unknown)}", f"There are {', '.join(names)}")
    place = {name: at for at, name in enumerate(names)}
    rows = [(place[a], place[b]) for a, b in asked]
    known = np.isfinite(values.series)
    enough = [row for row in rows if np.count_nonzero(known[row[0]] & known[row[1]]) >= FEWEST]
    ends = (problem_scores.lowest, problem_scores.highest)
    tests = dict(
        zip(enough, flip_tests(values.series, enough, problem_scores.problems, ends, seed), strict=True)
    )
    return [_compared(problem_scores, values, row, tests.get(row), level) for row in rows]


def _compared(
    scores: ProblemScores, values: ProblemValues, row: tuple[int, int], test: FlipTest | None, level: float
) -> Comparison:
    a, b = (values.series[place] for place in row)
    has_a, has_b = np.isfinite(a), np.isfinite(b)
    shared = has_a & has_b
    count = int(np.count_nonzero(shared))
    differences = a[shared] - b[shared]
    width = scores.highest - scores.lowest
    interval = over_differences(differences, -width, width, level)
    spread = None
    if count > 1:
        spread = 0.0 if no_different(differences, -width, width) else deviation(differences)
    few = (
        ""
        if test
        else f"{count} shared problem{'' if count == 1 else 's'}: fewer than {FEWEST} cannot decide"
    )
    return Comparison(
        a=scores.series[row[0]],
        b=scores.series[row[1]],
        metric=values.name,
        level=level,
        difference=mean(differences) if count else None,
        low=interval.low,
        high=interval.high,
        spread=spread,
        p=test.p if test else None,
        adjusted_p=None,
        tested_together=0,
        shared=count,
        only_a=_named(scores, has_a & ~has_b),
        only_b=_named(scores, has_b & ~has_a),
        verdict=Verdict.UNCLEAR if test else Verdict.TOO_FEW,
        method=test.method if test else "",
        interval_method=interval.method,
        reason=few or interval.reason,
    )


def _named(scores: ProblemScores, chosen: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(scores.problems[place] for place in np.flatnonzero(chosen).tolist())
