"""Pairs of series on several benchmarks and on their average, all adjusted together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from reportgen.outcomes import Comparison, ScoresError, Verdict
from reportgen.statistics.compare import Family

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.outcomes import Metric, ProblemScores


class PairOn(NamedTuple):
    """A pair on a benchmark; on the average of all where ``benchmark`` is None."""

    benchmark: str | None
    comparison: Comparison


def compare_pairs_across(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    seed: int = 0,
) -> tuple[PairOn, ...]:
    """Every pair on every benchmark, then, where there are several, on their average.

    Each comparison is that of ``compare_all``, the average's that of ``statistics.macro``; all of them are
    adjusted together. Against one series it is the table of ``across_benchmarks``. A pair of which a side has
    no answers to a benchmark, or no average, has no number there and a reason.

    Args:
        parts: problem scores by the name of their benchmark, with one range of scores.
        metric: see ``scores``.
        k: see ``scores``.
        pairs: names of series; every pair once, in the order of first appearance, if left out.
        level: confidence level of the intervals, each by itself.
        alpha: see ``compare_all``.
        higher_is_better: whether a larger value is the better one.
        seed: of the report.

    Raises:
        ScoresError: if a series is on no benchmark; otherwise see ``problem_values``.
    """
    names = tuple(dict.fromkeys(name for part in parts.values() for name in part.series))
    chosen = list(combinations(names, 2)) if pairs is None else list(pairs)
    unknown = sorted({name for pair in chosen for name in pair} - set(names))
    if unknown:
        raise ScoresError(f"there is no series {', '.join(unknown)}", f"There are {', '.join(names)}")
    family = Family(metric, k, level=level, seed=seed)
    for benchmark, part in parts.items():
        family.add(benchmark, part, [pair for pair in chosen if set(pair) <= set(part.series)])
    if len(parts) > 1:
        family.add_averages(chosen)
    judged = family.judge(alpha=alpha, higher_is_better=higher_is_better)
    found = [
        PairOn(benchmark, judged.get((benchmark, pair)) or _make_missing(pair, benchmark, part, level))
        for benchmark, part in parts.items()
        for pair in chosen
    ]
    if len(parts) > 1:
        reason = "the two do not share problems on every benchmark"
        found += [
            PairOn(None, judged.get((None, pair)) or _make_empty(pair, level, reason)) for pair in chosen
        ]
    tested = sum(one.comparison.p is not None for one in found)
    return tuple(one._replace(comparison=replace(one.comparison, tested_together=tested)) for one in found)


def _make_missing(pair: tuple[str, str], benchmark: str, part: ProblemScores, level: float) -> Comparison:
    gone = " and ".join(dict.fromkeys(name for name in pair if name not in part.series))
    return _make_empty(pair, level, f"no answers to {benchmark} from {gone}")


def _make_empty(pair: tuple[str, str], level: float, reason: str) -> Comparison:
    """A comparison that is missing, and why."""
    return Comparison(
        a=pair[0],
        b=pair[1],
        metric="",
        level=level,
        difference=None,
        low=None,
        high=None,
        spread=None,
        p=None,
        adjusted_p=None,
        tested_together=0,
        shared=0,
        only_a=(),
        only_b=(),
        verdict=Verdict.TOO_FEW,
        method="",
        interval_method="",
        reason=reason,
    )
