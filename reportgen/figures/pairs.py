"""All pairs of a benchmark, each seen from either side, and who stands first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, Stage
from reportgen.outcomes import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.outcomes import Comparison

VERDICT_MARKS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "unclear",
    Verdict.TOO_FEW: "missing",
}
"""The class of a cell by its verdict; too few problems decide as little as none."""
VERDICT_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "cannot tell",
    Verdict.TOO_FEW: "too few",
}
_OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Series, best first, the one that the others are held against, and every comparison by its pair."""

    series: tuple[str, ...]
    reference: str
    by_pair: Mapping[tuple[str, str], Comparison]

    def get_comparison(self, a: str, b: str) -> Comparison | None:
        """``a`` minus ``b``; None where the two were not compared."""
        return self.by_pair.get((a, b))

    def list_against_reference(self) -> tuple[Comparison, ...]:
        """Every other series minus the reference, best first."""
        found = (self.get_comparison(name, self.reference) for name in self.series if name != self.reference)
        return tuple(one for one in found if one is not None)


def collect_pairs(scored: BenchmarkScores, baseline: str | None, context: ScoreContext) -> Pairs:
    """The pairs of a benchmark; the reference is the baseline, or the series that scores best.

    Raises:
        ReportError: if the baseline is not among the series.
    """
    series = sort_best_first(scored, higher_is_better=context.higher_is_better)
    if baseline is not None and baseline not in series:
        there = f"There are {', '.join(series)}"
        said = f"there is no series {baseline} to compare with on {context.benchmark}"
        raise ReportError(Problem(context.place, said, there, Stage.FIGURE))
    by_pair = {(one.a, one.b): one for one in scored.comparisons}
    by_pair |= {(one.b, one.a): _swap_sides(one) for one in scored.comparisons}
    return Pairs(series, baseline or (series[0] if series else ""), by_pair)


def sort_best_first(scored: BenchmarkScores, *, higher_is_better: bool) -> tuple[str, ...]:
    """Names by score; those without one last, equal ones in the order of the data."""
    sign = -1 if higher_is_better else 1
    known = {one.series: sign * one.estimate for one in scored.scores if one.estimate is not None}
    return tuple(sorted((one.series for one in scored.scores), key=lambda n: known.get(n, float("inf"))))


def group_by_verdict(compared: Sequence[Comparison]) -> dict[Verdict, list[str]]:
    """The first sides of comparisons by what was found of them, in the order of verdicts' names."""
    return {verdict: [one.a for one in compared if one.verdict is verdict] for verdict in Verdict}


def _swap_sides(one: Comparison) -> Comparison:
    """The same comparison seen from its other side; 0 has no sign to turn."""
    low, high = (None if end is None else 0.0 - end for end in (one.high, one.low))
    return replace(
        one,
        a=one.b,
        b=one.a,
        difference=None if one.difference is None else 0.0 - one.difference,
        low=low,
        high=high,
        only_a=one.only_b,
        only_b=one.only_a,
        verdict=_OPPOSITE.get(one.verdict, one.verdict),
    )
