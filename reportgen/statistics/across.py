"""Series and pairs of series across benchmarks, with the average of all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, Comparison, Verdict
from reportgen.core.outcomes import REPORTED, ScoresError
from reportgen.statistics.compare import Family
from reportgen.statistics.pairs import compute_macro_score
from reportgen.statistics.scores import make_missing_score, score_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.outcomes import Metric, ProblemScores, Score


_NOT_PAIRED = f"{REPORTED}: without problems nothing can be paired"


def compare_benchmarks(
    parts: Mapping[str, ProblemScores],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    given: Mapping[str, Sequence[Score]] | None = None,
    baseline: str | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    blocks: int = 1,
    seed: int = 0,
) -> AcrossBenchmarks:
    """Every series on every benchmark, each cell against the baseline, and the macro average.

    A cell's score is that of ``score_series`` for problems like these, its comparison that of
    ``compare_all`` with
    the series first and the baseline second. The macro average is that of ``statistics.macro``: every
    benchmark counts once, however many problems it has. All comparisons of the table, the macro average's
    too, are adjusted together. What a series lacks stays missing, with a reason; a series that lacks a
    benchmark has no average, because an average over fewer could not be held against the others.

    Args:
        parts: problem scores by the name of their benchmark; without problems where there are totals only.
        metric: see ``score_series``.
        k: see ``score_series``.
        given: totals without problems by benchmark, in the unit of ``parts``; see ``given_score``.
        baseline: the series that the others are compared with; None compares nothing.
        level: confidence level.
        alpha: see ``compare_all``.
        higher_is_better: whether a larger value is the better one.
        blocks: see ``compare_all``.
        seed: of the report.

    Raises:
        ScoresError: if the benchmarks' scores have different ranges, or no benchmark has the baseline;
            otherwise see ``problem_values``.
    """
    names = tuple(dict.fromkeys([*parts, *(given or {})]))
    unknown = _check_one_range(parts) if len(parts) > 1 else ()
    request = _Request(parts, names, metric, k, level, seed)
    table = {name: _score_benchmark(request, name, (given or {}).get(name, ())) for name in names}
    series = tuple(dict.fromkeys(one for column in table.values() for one in column))
    if baseline is not None and baseline not in series:
        raise ScoresError(f"there is no series {baseline} to compare with", f"There are {', '.join(series)}")
    against = _make_family(request, series, baseline)
    judged = against.judge(alpha=alpha, higher_is_better=higher_is_better, blocks=blocks)
    by_cell = {(pair[0], benchmark): one for (benchmark, pair), one in judged.items()}
    table_of = _Table(by_cell, baseline, level)
    columns = {one: [(name, table[name].get(one)) for name in names] for one in series}
    return AcrossBenchmarks(
        series=series,
        benchmarks=names,
        cells=tuple(
            tuple(table_of.make_cell(one, name, score) for name, score in column)
            for one, column in columns.items()
        ),
        macro=tuple(
            table_of.make_cell(one, None, _compute_average(one, column, level, unknown))
            for one, column in columns.items()
        ),
        baseline=baseline,
    )


class _Request(NamedTuple):
    """What ``compare_benchmarks`` was asked for."""

    parts: Mapping[str, ProblemScores]
    benchmarks: tuple[str, ...]
    metric: Metric | str
    k: int | None
    level: float
    seed: int


class _Table(NamedTuple):
    """The verdicts of a table, by series and benchmark (None for the average)."""

    judged: Mapping[tuple[str, str | None], Comparison]
    baseline: str | None
    level: float

    def make_cell(self, series: str, benchmark: str | None, score: Score | None) -> BenchmarkCell:
        """A score, its comparison, and why one of them is missing."""
        if score is None:
            reason = f"{series} has no answers to {benchmark}"
            return BenchmarkCell(make_missing_score(series, self.level, reason), None, reason)
        if score.estimate is None:
            return BenchmarkCell(score, None, score.reason)
        against = self.judged.get((series, benchmark))
        if against is not None or self.baseline in (None, series):
            return BenchmarkCell(score, against, "")
        if benchmark is None:
            return BenchmarkCell(score, None, f"not paired with {self.baseline} on every benchmark")
        if score.method == REPORTED:
            return BenchmarkCell(score, None, _NOT_PAIRED)
        return BenchmarkCell(score, None, f"{self.baseline} has no problems in {benchmark}")


def _compute_average(
    series: str, column: Sequence[tuple[str, Score | None]], level: float, unknown: Sequence[str]
) -> Score:
    """The macro average; none where nothing says that the numbers are of one kind."""
    if unknown:
        reason = f"no average: the range of scores is not known on {', '.join(unknown)}"
        return make_missing_score(series, level, reason)
    return compute_macro_score(series, column, level)


def _score_benchmark(request: _Request, benchmark: str, given: Sequence[Score]) -> dict[str, Score]:
    """Scores of a benchmark by series; those of problems come before totals."""
    totals = {one.series: one for one in given}
    part = request.parts.get(benchmark)
    if part is None or not part.problems:
        return totals
    own = {one.series: one for one in score_series(part, request.metric, request.k, level=request.level)}
    return {**own, **{name: one for name, one in totals.items() if name not in own}}


def _make_family(request: _Request, series: Sequence[str], baseline: str | None) -> Family:
    """Each series against the baseline, if there is one, on each benchmark and on their average."""
    family = Family(request.metric, request.k, level=request.level, seed=request.seed)
    for name in request.benchmarks:
        part = request.parts.get(name)
        if part is not None and part.problems and baseline is not None and baseline in part.series:
            family.add(name, part, [(one, baseline) for one in part.series if one != baseline])
    if baseline is not None and family.benchmarks == request.benchmarks:
        family.add_averages([(name, baseline) for name in series if name != baseline])
    return family


def _check_one_range(parts: Mapping[str, ProblemScores]) -> tuple[str, ...]:
    """Refuse scores of different ranges; the benchmarks whose range is not known.

    Raises:
        ScoresError: known ranges differ.
    """
    every = {name: (part.lowest, part.highest) for name, part in parts.items()}
    ranges = {name: ends for name, ends in every.items() if all(map(math.isfinite, ends))}
    if len(set(ranges.values())) > 1:
        listed = ", ".join(f"{low:g} to {high:g} ({name})" for name, (low, high) in ranges.items())
        raise ScoresError(
            f"scores of different ranges cannot be averaged: {listed}", "Give all benchmarks one range"
        )
    return tuple(name for name in every if name not in ranges)


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
