"""Series against series on the problems that both answered, alone and in a family."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.core.outcomes import ScoresError
from reportgen.statistics.distributions import check_level
from reportgen.statistics.intervals import shrink_variances
from reportgen.statistics.metrics import compute_problem_values
from reportgen.statistics.pairs import (
    Pair,
    PairedBenchmark,
    compare_macro,
    compute_average_run_variance,
    make_average_hypothesis,
)
from reportgen.statistics.permutation_tests import Adjusted, Hypothesis, adjust_step_down, count_draws
from reportgen.statistics.verdicts import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.outcomes import Metric, ProblemScores


# A benchmark, None for the average of all, and a pair of series.
_Key: TypeAlias = tuple[str | None, Pair]


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
    - interval: mean ± t √V, V = s_d²/P + τ_a²/r_a + τ_b²/r_b (``estimate_over_differences``);
    - p: two-sided, by flipping the signs of d_p (``permutation_tests``), or by t where runs add to V;
    - adjusted p: ``adjust_step_down`` over all pairs. Fewer than ``pairs.FEWEST`` shared problems are not
      tested;
    - verdict: ``BETTER`` or ``WORSE`` needs both an adjusted p below ``alpha`` and an interval without 0; the
      p guards against many comparisons, the interval against a difference whose size is not known.

    Every pair is compared once, in the order of ``problem_scores.series``, unless ``pairs`` are given.
    ``level`` is that of each interval by itself, ``alpha`` the chance of at least one wrong verdict among
    all. Where several ``blocks`` are one family, p is multiplied by their number (Bonferroni), since they
    need share no problems.

    Raises:
        ScoresError: if a series does not exist; otherwise see ``compute_problem_values``.
    """
    family = Family(metric, k, level=level, seed=seed)
    chosen = list(combinations(problem_scores.series, 2)) if pairs is None else list(pairs)
    family.add("", problem_scores, chosen)
    judged = family.judge(alpha=alpha, higher_is_better=higher_is_better, blocks=blocks)
    return tuple(judged["", pair] for pair in chosen)


class Family:
    """Comparisons that are shown together: of one or several benchmarks, and of their average."""

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
            raise ScoresError(
                f"there is no series {', '.join(unknown)}", f"There are {', '.join(scores.series)}"
            )
        values = compute_problem_values(scores, self._metric, self._k)
        self._parts.append(PairedBenchmark(benchmark, scores, values, pairs))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Those that were added, in order."""
        return tuple(part.name for part in self._parts)

    def add_averages(self, pairs: Sequence[Pair]) -> None:
        """Compare pairs on the average of all benchmarks; only those that share problems on each of them."""
        self._averaged += pairs

    def judge(self, *, alpha: float, higher_is_better: bool, blocks: int = 1) -> dict[_Key, Comparison]:
        """All comparisons by benchmark (None for the average) and pair, adjusted together, with verdicts.

        A pair by itself keeps the p of its own test. No adjusted p is smaller than its own. Where several
        ``blocks`` are one family, p is multiplied by their number.
        """
        averaged = [pair for pair in self._averaged if self._shares_all(pair)]
        count = sum(len(part.tested) for part in self._parts) + len(averaged)
        draws = count_draws(count) if count > 1 else 0
        found: dict[_Key, Comparison] = {}
        hypotheses: dict[_Key, Hypothesis] = {}
        few: dict[_Key, str] = {}
        for part in self._parts:
            part.prepare(draws, self._seed)
            for pair in part.pairs:
                found[part.name, pair] = part.compare(pair, self._level)
                if pair in part.tested:
                    hypotheses[part.name, pair] = part.make_hypothesis(pair)
                    few[part.name, pair] = part.describe_few(pair)
        names = list(dict.fromkeys(name for pair in averaged for name in pair))
        own_runs = [compute_average_run_variance(self._parts, name) for name in names]
        alone = dict(zip(names, own_runs, strict=True))
        together = dict(zip(names, shrink_variances(own_runs), strict=True))
        for a, b in averaged:
            of_parts = [found[part.name, (a, b)] for part in self._parts]
            one = compare_macro(self._parts, (a, b), of_parts, (alone[a], alone[b]), self._seed)
            found[None, (a, b)] = one
            if one.p is not None and one.low is not None:
                runs = together[a], together[b]
                hypotheses[None, (a, b)] = make_average_hypothesis(self._parts, (a, b), runs)
        adjusted: dict[_Key, Adjusted] = {}
        if len(hypotheses) > 1:
            results = adjust_step_down(list(hypotheses.values()), draws, alpha / blocks, self._seed)
            adjusted = dict(zip(hypotheses, results, strict=True))
        return {
            key: _judge(
                replace(one, tested_together=len(hypotheses), family_blocks=blocks),
                adjusted.get(key),
                alpha,
                few.get(key, ""),
                higher_is_better=higher_is_better,
            )
            for key, one in found.items()
        }

    def _shares_all(self, pair: Pair) -> bool:
        return all(pair in part.pairs and part.compute_differences(pair)[0].size for part in self._parts)


def _judge(
    one: Comparison, adjusted: Adjusted | None, alpha: float, few: str, *, higher_is_better: bool
) -> Comparison:
    """A comparison with its p adjusted and a verdict; ``few`` is the remark that a clear one carries."""
    if one.p is None:
        return one
    p = min(1.0, one.family_blocks * max(one.p, adjusted.p if adjusted else 0.0))
    verdict = decide(one, p, alpha, higher_is_better=higher_is_better)
    return replace(
        one,
        adjusted_p=p,
        verdict=verdict,
        reason="; ".join(filter(None, [one.reason, "" if verdict is Verdict.UNCLEAR else few])),
        family_stderr=adjusted.stderr if adjusted else None,
        critical=adjusted.critical if adjusted else None,
    )
