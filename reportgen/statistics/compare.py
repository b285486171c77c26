"""Series against series on the problems that both answered, alone and in a family."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.core.outcomes import ScoresError
from reportgen.statistics.distributions import check_level
from reportgen.statistics.intervals import RunVariance, shrink_variances
from reportgen.statistics.metrics import compute_problem_values
from reportgen.statistics.pairs import (
    Pair,
    PairedBenchmark,
    compare_macro,
    compute_average_run_variance,
    make_average_hypothesis,
)
from reportgen.statistics.permutation_tests import Adjusted, Hypothesis, adjust_step_down, count_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.outcomes import Metric, ProblemScores


_RunVariances: TypeAlias = dict[str, RunVariance | None]


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
    blocks: int = 1,
    seed: int = 0,
) -> tuple[Comparison, ...]:
    """Paired differences of all pairs, with intervals, adjusted p and verdicts.

    For each pair, d_p is the difference of the two values of problem p (``statistics.metrics``; samples and
    runs are averaged before), over the P problems that both have. Problems that only one side answered are
    named and never filled in.

    - difference: the mean of d_p; its estimand is the mean difference over problems like these and, where
      both series have several runs, over runs like these: of methods then, otherwise of these checkpoints;
    - interval: mean ± t √V, V = s_d²/P + τ_a²/r_a + τ_b²/r_b (``intervals.over_differences``);
    - p: two-sided, by flipping the signs of d_p (``statistics.sign_flips``), or by t where runs add to V;
    - adjusted p: ``adjust_step_down`` over all pairs. Fewer than ``pairs.FEWEST`` shared problems are not
    tested.
    - verdict: ``BETTER`` or ``WORSE`` needs both an adjusted p below ``alpha`` and an interval without 0; the
      p guards against many comparisons, the interval against a difference whose size is not known.

    Args:
        problem_scores: of one benchmark.
        metric: see ``scores``.
        k: see ``scores``.
        pairs: names of series; every pair once, in the order of ``problem_scores.series``, if left out.
        level: confidence level of the intervals, each by itself.
        alpha: the chance of at least one wrong verdict among all.
        higher_is_better: whether a larger value is the better one.
        blocks: how many blocks of comparisons are one family; p is multiplied by it (Bonferroni), since
            blocks need share no problems.
        seed: of the report.

    Raises:
        ScoresError: if a series does not exist; otherwise see ``compute_problem_values``.
    """
    family = Family(metric, k, level=level, seed=seed)
    chosen = list(combinations(problem_scores.series, 2)) if pairs is None else list(pairs)
    family.add("", problem_scores, chosen)
    judged = family.judge(alpha=alpha, higher_is_better=higher_is_better, blocks=blocks)
    return tuple(judged["", pair] for pair in chosen)


class Family:
    """Comparisons that are shown together: of one or several benchmarks, and of their average.

    Args:
        metric: see ``scores``.
        k: see ``scores``.
        level: confidence level of the intervals, each by itself.
        seed: of the report.
    """

    def __init__(self, metric: Metric | str, k: int | None, *, level: float, seed: int) -> None:
        self._metric, self._k = metric, k
        self._level, self._seed = check_level(level), seed
        self._parts: list[PairedBenchmark] = []
        self._averaged: list[Pair] = []

    def add(self, benchmark: str, scores: ProblemScores, pairs: Sequence[Pair]) -> None:
        """Compare pairs on a benchmark.

        Raises:
            ScoresError: if a series does not exist; otherwise see ``compute_problem_values``.
        """
        unknown = sorted({name for pair in pairs for name in pair} - set(scores.series))
        if unknown:
            said = f"there is no series {', '.join(unknown)}"
            raise ScoresError(said, f"There are {', '.join(scores.series)}")
        values = compute_problem_values(scores, self._metric, self._k)
        self._parts.append(PairedBenchmark(benchmark, scores, values, pairs))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Those that were added, in order."""
        return tuple(part.name for part in self._parts)

    def add_averages(self, pairs: Sequence[Pair]) -> None:
        """Compare pairs on the average of all benchmarks; only those that share problems on each of them."""
        self._averaged += pairs

    def judge(
        self, *, alpha: float, higher_is_better: bool, blocks: int = 1
    ) -> dict[tuple[str | None, Pair], Comparison]:
        """All comparisons by benchmark (None for the average) and pair, adjusted together, with verdicts.

        A pair by itself keeps the p of its own test. No adjusted p is smaller than its own. Where several
        ``blocks`` are one family, p is multiplied by their number.
        """
        averaged = [pair for pair in self._averaged if self._shares_all(pair)]
        count = sum(len(part.tested) for part in self._parts) + len(averaged)
        draws = count_draws(count) if count > 1 else 0
        found: dict[tuple[str | None, Pair], Comparison] = {}
        tested: dict[tuple[str | None, Pair], Hypothesis] = {}
        for part in self._parts:
            part.prepare(draws, self._seed)
            for pair in part.pairs:
                found[part.name, pair] = part.compare(pair, self._level)
                if pair in part.tested:
                    tested[part.name, pair] = part.make_hypothesis(pair)
        alone, together = self._compute_average_runs(averaged)
        for pair in averaged:
            of_parts = [found[part.name, pair] for part in self._parts]
            own = [alone[name] for name in pair]
            one = found[None, pair] = compare_macro(self._parts, pair, of_parts, own, self._seed)
            if one.p is not None and one.low is not None:
                tested[None, pair] = make_average_hypothesis(
                    self._parts, pair, [together[name] for name in pair]
                )
        after: dict[tuple[str | None, Pair], Adjusted] = {}
        if len(tested) > 1:
            adjusted = adjust_step_down(list(tested.values()), draws, alpha / blocks, self._seed)
            after = dict(zip(tested, adjusted, strict=True))
        few: dict[tuple[str | None, Pair], str] = {
            (part.name, pair): part.describe_few(pair) for part in self._parts for pair in part.tested
        }
        judged = {}
        for key, one in found.items():
            open_one = replace(one, tested_together=len(tested), family_blocks=blocks)
            carried = few.get(key, "")
            judged[key] = _make_verdict(
                open_one, after.get(key), alpha, carried, higher_is_better=higher_is_better
            )
        return judged

    def _shares_all(self, pair: Pair) -> bool:
        return all(pair in part.pairs and part.compute_differences(pair)[0].size for part in self._parts)

    def _compute_average_runs(self, pairs: Sequence[Pair]) -> tuple[_RunVariances, _RunVariances]:
        """What runs add to the average of each series, by itself and averaged over the series."""
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        own = [compute_average_run_variance(self._parts, name) for name in names]
        averaged = shrink_variances(own)
        return dict(zip(names, own, strict=True)), dict(zip(names, averaged, strict=True))


def _make_verdict(
    one: Comparison,
    adjusted: Adjusted | None,
    alpha: float,
    carried: str,
    *,
    higher_is_better: bool,
) -> Comparison:
    if one.p is None:
        return one
    p = min(1.0, one.family_blocks * (max(one.p, adjusted.p) if adjusted else one.p))
    verdict, reason = Verdict.UNCLEAR, one.reason
    if p < alpha and one.low is not None and one.high is not None and (one.low > 0 or one.high < 0):
        verdict = Verdict.BETTER if ((one.difference or 0.0) > 0) is higher_is_better else Verdict.WORSE
        reason = "; ".join(filter(None, [reason, carried]))
    return replace(
        one,
        adjusted_p=p,
        verdict=verdict,
        reason=reason,
        family_stderr=adjusted.stderr if adjusted else None,
        critical=adjusted.critical if adjusted else None,
    )
