"""Comparisons of series on the problems that both answered, on one benchmark and across several."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import (
    FRAGILE,
    REPORTED,
    THESE_PROBLEMS,
    AcrossBenchmarks,
    BenchmarkCell,
    Comparison,
    ScoresError,
    Verdict,
)
from reportgen.statistics.composites import find_composites, find_repeats, guess_totals
from reportgen.statistics.curves.bands import average_runs
from reportgen.statistics.distributions import check_level, deviation, mean
from reportgen.statistics.intervals import moderate_variances, share_variance
from reportgen.statistics.metrics import (
    find_rows,
    mean_of_known,
)
from reportgen.statistics.pairs import (
    FEWEST,
    Pair,
    PairedBenchmark,
    compare_macro,
    compare_macro_within,
    compute_average_run_variance,
    compute_macro_score,
    make_average_hypothesis,
)
from reportgen.statistics.permutation_tests import Adjusted, Hypothesis, adjust_step_down, count_draws
from reportgen.statistics.scores import fill_answers, make_missing_score, score_series
from reportgen.statistics.verdicts import ALPHA, add_t, adjust_by_fdr, adjust_comparisons, decide, holm

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Unpack

    from reportgen.core.comparisons import Metric, ProblemScores, Score
    from reportgen.core.model import Estimate, FloatArray

# A benchmark, or None for the average of all, and a pair of series.
_Key: TypeAlias = tuple[str | None, Pair]
# Problem scores by benchmark, and the pairs to compare there.
_Paired: TypeAlias = "Mapping[str, tuple[ProblemScores, Sequence[Pair]]]"


class FamilyOptions(TypedDict, total=False):
    """Settings of comparisons that are shown together.

    ``level`` is the confidence level. ``ALPHA`` is the chance of at least one wrong verdict (``decide``)
    among all; if several ``blocks`` form one family, p is multiplied by their number (Bonferroni). With
    ``adjust="fdr"`` it is the expected share of wrong verdicts among all verdicts.
    """

    level: float
    higher_is_better: bool
    blocks: int
    seed: int
    estimand: str
    adjust: str


class _Family(Struct, frozen=True):
    """A metric and the options; see ``compare_all``."""

    metric: Metric | str
    k: int | None
    level: float = 0.95
    higher_is_better: bool = True
    blocks: int = 1
    seed: int = 0
    estimand: str = "problems like these"
    adjust: str = "fwer"

    def __post_init__(self) -> None:
        check_level(self.level)

    def tabulate(
        self, parts: Mapping[str, ProblemScores], given: Mapping[str, Sequence[Score]]
    ) -> dict[str, dict[str, Score]]:
        """Return all scores by benchmark and series, those computed from problems before totals."""
        table: dict[str, dict[str, Score]] = {name: {} for name in (*parts, *given)}
        for name, column in table.items():
            own: tuple[Score, ...] = ()
            if name in parts and parts[name].problems:
                part, estimand = parts[name], self.estimand
                own = score_series(part, self.metric, self.k, estimand=estimand, level=self.level)
            for score in (*own, *given.get(name, ())):
                column.setdefault(score.series, score)
        series = dict.fromkeys(one for column in table.values() for one in column)
        reasons = {name: "has no score on" if name in given else "has no answers to" for name in table}
        return {
            name: {
                one: column.get(one) or make_missing_score(one, self.level, f"{one} {reasons[name]} {name}")
                for one in series
            }
            for name, column in table.items()
        }

    def compare(
        self, paired: _Paired, averaged: Sequence[Pair] = (), *, over: Collection[str] | None = None
    ) -> dict[_Key, Comparison]:
        """Return all comparisons by benchmark and pair, adjusted together, with verdicts.

        ``averaged`` pairs are also compared on the average of all benchmarks, or ``over`` some (None), if
        they share problems on each. A single pair keeps the p of its own test; no adjusted p is smaller.
        """
        parts = [PairedBenchmark(name, *own, self.metric, self.k) for name, own in paired.items()]
        single = [part for part in parts if over is None or part.name in over]
        averaged = [
            pair
            for pair in averaged
            if all(pair in part.pairs and part.compute_differences(pair)[0].size for part in single)
        ]
        count = sum(len(part.tested) for part in parts) + len(averaged)
        draws = count_draws(count) if count > 1 and not self._uses_p else 0
        comparisons: dict[_Key, Comparison] = {}
        hypotheses: dict[_Key, Hypothesis] = {}
        for part in parts:
            if not self._is_within:
                part.prepare(draws, self.seed)
            for pair in part.pairs:
                key = part.name, pair
                comparisons[key] = part.compare(pair, self.level, within=self._is_within)
                if pair in part.tested and draws:
                    hypotheses[key] = part.make_hypothesis(pair)
        self._add_averages(single, averaged, comparisons, hypotheses if draws else {})
        return self._judge_all(comparisons, hypotheses, draws)

    @property
    def _is_within(self) -> bool:
        return self.estimand == THESE_PROBLEMS

    @property
    def _uses_p(self) -> bool:
        """Whether the adjustment needs only the p of each pair, and no draws of all."""
        return self._is_within or self.adjust == "fdr"

    def _add_averages(
        self,
        parts: Sequence[PairedBenchmark],
        averaged: Sequence[Pair],
        comparisons: dict[_Key, Comparison],
        hypotheses: dict[_Key, Hypothesis],
    ) -> None:
        names = list(dict.fromkeys(name for pair in averaged for name in pair))
        variances = [compute_average_run_variance(parts, name) for name in names]
        alone = dict(zip(names, variances, strict=True))
        moderated = dict(zip(names, moderate_variances(variances), strict=True))
        for pair in averaged:
            compared = [comparisons[part.name, pair] for part in parts]
            if self._is_within:
                comparisons[None, pair] = compare_macro_within(parts, pair, compared)
                continue
            runs = share_variance([alone[name] for name in pair])
            average = compare_macro(parts, pair, compared, runs, self.seed)
            comparisons[None, pair] = average
            if average.p is not None and average.low is not None:
                runs = share_variance([moderated[name] for name in pair])
                hypotheses[None, pair] = make_average_hypothesis(parts, pair, runs)

    def _judge_all(
        self,
        comparisons: Mapping[_Key, Comparison],
        hypotheses: Mapping[_Key, Hypothesis],
        draws: int,
    ) -> dict[_Key, Comparison]:
        """Add adjusted p and verdicts: of the largest statistic, or of all p that are known."""
        tested = {key: one.p for key, one in comparisons.items() if one.p is not None}
        adjusted: dict[_Key, Adjusted] = {}
        if len(hypotheses) > 1:
            results = adjust_step_down([*hypotheses.values()], draws, ALPHA / self.blocks, self.seed)
            adjusted = dict(zip(hypotheses, results, strict=True))
        elif self._uses_p:
            adjust = adjust_by_fdr if self.adjust == "fdr" else holm
            adjusted = dict(zip(tested, map(Adjusted, adjust([*tested.values()])), strict=True))
        together = len(hypotheses or tested)
        known = {"tested_together": together, "family_blocks": self.blocks, "adjust": self.adjust}
        return {
            key: self._judge(replace(one, **known), adjusted.get(key)) for key, one in comparisons.items()
        }

    def _judge(self, one: Comparison, adjusted: Adjusted | None) -> Comparison:
        """Return the comparison with adjusted p and verdict."""
        if one.p is None:
            return one
        p = min(1.0, one.family_blocks * max(one.p, adjusted.p if adjusted else 0.0))
        verdict = decide(one, p, higher_is_better=self.higher_is_better)
        one = replace(one, adjusted_p=p, verdict=verdict)
        return replace(one, family_stderr=adjusted.stderr, critical=adjusted.critical) if adjusted else one

    def remark_fragile(self, scores: ProblemScores, one: Comparison) -> Comparison:
        """Add a remark to a verdict that does not hold with every answer that is left out against it.

        These are at the worse end of the range for the better series, and at the better end for the other. p
        is times the number of tests of the family (Bonferroni): whatever the other pairs show.
        """
        decided = one.verdict in {Verdict.BETTER, Verdict.WORSE}
        if scores.left_out is None or not decided or self.metric == "maj@k":
            return one
        better = one.a if one.verdict is Verdict.BETTER else one.b
        pair, low, high = (one.a, one.b), scores.lowest, scores.highest
        ends = (low, high) if (one.difference or 0.0) > 0 else (high, low)
        filled = fill_answers(scores, dict(zip(pair, ends, strict=True)))
        against = replace(self, blocks=1).compare({"": (filled, [pair])})["", pair]
        p = 1.0 if against.p is None else against.p * one.tested_together * one.family_blocks
        if decide(against, p, higher_is_better=self.higher_is_better) is one.verdict:
            return one
        return replace(one, reason="; ".join(filter(None, [one.reason, f"{better} is better {FRAGILE}"])))


def compare_all(
    problem_scores: ProblemScores,
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    **options: Unpack[FamilyOptions],
) -> tuple[Comparison, ...]:
    """Return the paired differences of ``pairs``, or of all pairs, with intervals, adjusted p and verdicts.

    Over the problems that both have: the mean difference, its t interval (``estimate_over_differences``), a
    two-sided p from sign flips, or from t if runs add to the variance, and p adjusted by ``adjust_step_down``
    over all pairs of at least ``pairs.FEWEST`` problems. A verdict that answers left out could overturn has
    that as its reason. Raises a ScoresError if a series does not exist.
    """
    family = _Family(metric, k, **options)
    chosen = _choose_pairs(problem_scores.series, pairs)
    comparisons = family.compare({"": (problem_scores, chosen)})
    return tuple(family.remark_fragile(problem_scores, comparisons["", pair]) for pair in chosen)


def _choose_pairs(series: Sequence[str], pairs: Sequence[Pair] | None) -> list[Pair]:
    """Return ``pairs``, whose series must exist, or all pairs if it is None."""
    chosen = list(combinations(series, 2)) if pairs is None else list(pairs)
    unknown = sorted({name for pair in chosen for name in pair} - set(series))
    if unknown:
        raise ScoresError(f"there is no series {', '.join(unknown)}", f"There are {', '.join(series)}")
    return chosen


def compare_benchmarks(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    given: Mapping[str, Sequence[Score]] | None = None,
    known_parts: Mapping[str, Sequence[str]] | None = None,
    baseline: str | None = None,
    guess: bool = True,
    average: bool = True,
    **options: Unpack[FamilyOptions],
) -> AcrossBenchmarks:
    """Score every series on every benchmark, with the macro average, and compare each with the baseline.

    Cells hold scores of ``score_series`` and comparisons of ``compare_all``, adjusted together; without a
    ``baseline`` nothing is compared. ``parts`` holds problem scores by benchmark, ``given`` totals
    (``score_totals``). What is a mean over other benchmarks (``find_composites`` with ``known_parts``),
    repeats their problems (``find_repeats``) or, if ``guess``, may be a total (``guess_totals``) is in no
    average. There is none without ``average`` or if ranges of scores differ or are not known. Raises a
    ScoresError if no benchmark has the baseline.
    """
    family = _Family(metric, k, **options)
    table = family.tabulate(parts, given or {})
    composites = _list_composites(table, parts, known_parts or {}, guess=guess)
    others = {name: part for name, part in parts.items() if name not in composites}
    no_average = _compare_ranges(others) if average else "it is left out"
    series = tuple(next(iter(table.values()), ()))
    if baseline not in {None, *series}:
        raise ScoresError(f"there is no series {baseline} to compare with", f"There are {', '.join(series)}")
    paired = _pair_with(baseline, parts)
    single = tuple(name for name in table if name not in composites)
    is_paired = tuple(name for name in paired if name in single) == single
    tested = series if is_paired and not no_average else ()
    averaged = [(name, baseline) for name in tested if baseline not in {None, name}]
    comparisons = family.compare(paired, averaged, over=single)

    macros = {name: make_missing_score(name, family.level, f"no average: {no_average}") for name in series}
    for name in series if not no_average else ():
        macros[name] = compute_macro_score(name, [(at, table[at][name]) for at in single], family.level)

    def make_cells(benchmark: str | None, scores: Mapping[str, Score]) -> list[BenchmarkCell]:
        base = scores[baseline] if baseline is not None else None
        return [_make_cell(benchmark, scores[name], base, comparisons) for name in series]

    cells = zip(*(make_cells(*one) for one in table.items()), strict=True)
    return AcrossBenchmarks(
        series, tuple(table), tuple(cells), tuple(make_cells(None, macros)), baseline, composites
    )


def _pair_with(
    baseline: str | None, parts: Mapping[str, ProblemScores]
) -> dict[str, tuple[ProblemScores, list[tuple[str, str]]]]:
    """Return the benchmarks that have the baseline, each with its pairs."""
    return {
        name: (part, [(other, baseline) for other in part.series if other != baseline])
        for name, part in parts.items()
        if baseline is not None and part.problems and baseline in part.series
    }


def _list_composites(
    table: Mapping[str, Mapping[str, Score]],
    parts: Mapping[str, ProblemScores],
    known_parts: Mapping[str, Sequence[str]],
    *,
    guess: bool,
) -> tuple[str, ...]:
    """Return the benchmarks that are in no average, in order, unless none would be left."""
    found = find_composites(table, known_parts) | find_repeats(parts)
    if guess:
        found |= guess_totals({name: one for name, one in table.items() if name not in found}).keys()
    return tuple(name for name in table if name in found) if len(found) < len(table) else ()


def _make_cell(
    benchmark: str | None, score: Score, base: Score | None, comparisons: Mapping[_Key, Comparison]
) -> BenchmarkCell:
    """Return a score with its comparison, and the reason if one of them is missing.

    Totals have a difference from the score of the baseline, ``base``, which nothing can test.
    """
    if score.estimate is None:
        return BenchmarkCell(score, None, score.reason)
    if base is None or base.series == score.series:
        return BenchmarkCell(score, None, "")
    if against := comparisons.get((benchmark, (score.series, base.series))):
        return BenchmarkCell(score, against, "")
    reason = f"{base.series} has no problems in {benchmark}"
    if benchmark is None:
        reason = f"not paired with {base.series} on every benchmark"
    elif score.is_reported:
        reason = f"{REPORTED}: without problems nothing can be paired"
    # The scores shown differ by this much, whether or not a test is possible.
    if base.estimate is not None and (benchmark is None or (score.is_reported and base.is_reported)):
        names = (score.series, base.series, score.metric, score.level)
        against = Comparison(*names, difference=score.estimate - base.estimate, reason=reason)
    return BenchmarkCell(score, against, reason)


def _compare_ranges(parts: Mapping[str, ProblemScores]) -> str:
    """Return why several benchmarks have no average, if their ranges differ or are not known."""
    every = {name: (part.lowest, part.highest) for name, part in parts.items() if len(parts) > 1}
    ranges = {name: ends for name, ends in every.items() if all(map(math.isfinite, ends))}
    if len(set(ranges.values())) > 1:
        listed = ", ".join(f"{low:g} to {high:g} on {name}" for name, (low, high) in ranges.items())
        return f"scores have different ranges, {listed}"
    unknown = [name for name in every if name not in ranges]
    return f"the range of scores is not known on {', '.join(unknown)}" if unknown else ""


class PairOn(NamedTuple):
    """A pair on a benchmark, or on the average of all if ``benchmark`` is None."""

    benchmark: str | None
    comparison: Comparison


def compare_pairs_across(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    **options: Unpack[FamilyOptions],
) -> tuple[PairOn, ...]:
    """Compare every pair on every benchmark and, if there are several, on their average, adjusted together.

    Arguments are those of ``compare_all``. If one of a pair has no answers to a benchmark, or no average, the
    comparison has a reason and no number. The average is over benchmarks that are no means of others and do
    not repeat their problems. Raises a ScoresError if a series is on no benchmark.
    """
    names = tuple(dict.fromkeys(name for part in parts.values() for name in part.series))
    chosen = _choose_pairs(names, pairs)
    family = _Family(metric, k, **options)
    paired = {name: (part, [p for p in chosen if {*p} <= {*part.series}]) for name, part in parts.items()}
    composites = _list_composites(family.tabulate(parts, {}), parts, {}, guess=False)
    single = [name for name in parts if name not in composites]
    columns: list[str | None] = [*parts, None] if len(single) > 1 else [*parts]
    comparisons = family.compare(paired, chosen if None in columns else (), over=single)
    results = []
    for benchmark in columns:
        for a, b in chosen:
            reason = "the two do not share problems on every benchmark"
            if benchmark is not None:
                absent = [name for name in dict.fromkeys((a, b)) if name not in parts[benchmark].series]
                reason = f"no answers to {benchmark} from {' and '.join(absent)}"
            missing = Comparison(a, b, "", family.level, reason=reason)
            results.append(PairOn(benchmark, comparisons.get((benchmark, (a, b)), missing)))
    tested = sum(pair.comparison.p is not None for pair in results)
    return tuple(
        pair._replace(comparison=replace(pair.comparison, tested_together=tested)) for pair in results
    )


Cost: TypeAlias = Literal["tokens", "seconds", "cost"]
"""What answers cost."""


def _collect_costs(scores: ProblemScores, cost: Cost) -> dict[str, FloatArray]:
    """Return the mean cost of an answer to each problem by series, those without any left out."""
    means = {
        name: mean_of_known(getattr(scores, cost)[find_rows(scores, place)])
        for place, name in enumerate(scores.series)
    }
    return {name: values for name, values in means.items() if np.isfinite(values).any()}


def estimate_costs(scores: ProblemScores, cost: Cost, level: float = 0.95) -> dict[str, Estimate]:
    """Return the mean cost of an answer, averaged over problems, by series, with a t interval over these."""
    costs = _collect_costs(scores, cost).items()
    return {name: average_runs(own[np.isfinite(own)].tolist(), level) for name, own in costs}


def compare_costs(scores: ProblemScores, cost: Cost, level: float = 0.95) -> tuple[Comparison, ...]:
    """Compare the costs of all pairs of series by paired t over shared problems, less being better.

    Adjusted together by Holm. ``TOO_FEW`` under 6 shared problems.
    """
    compared = []
    for (a, first), (b, second) in combinations(_collect_costs(scores, cost).items(), 2):
        differences = (first - second)[np.isfinite(first - second)]
        one = Comparison(a, b, cost, level, shared=differences.size)
        if differences.size >= FEWEST and (spread := deviation(differences)) > 0:
            one = replace(one, difference=mean(differences))
            one = add_t(one, spread / math.sqrt(differences.size), differences.size - 1, "paired t")
        compared.append(one)
    return adjust_comparisons(compared, higher_is_better=False)
