"""Series and pairs of series across benchmarks, with the average of all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, Comparison
from reportgen.core.outcomes import REPORTED, ScoresError
from reportgen.statistics.compare import Family
from reportgen.statistics.pairs import compute_macro_score
from reportgen.statistics.scores import make_missing_score, score_series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    ``compare_all`` with the series first and the baseline second. The macro average is that of
    ``compute_macro_score``: every benchmark counts once, however many problems it has. All comparisons of
    the table, those of the macro average too, are adjusted together. A series that lacks a benchmark has no
    average, because an average over fewer could not be compared with the others.

    ``parts`` holds problem scores by benchmark, without problems where there are totals only; ``given`` holds
    totals by benchmark, in the unit of ``parts`` (``score_totals``). Without a ``baseline`` nothing is
    compared. The other arguments are those of ``compare_all``.

    Raises:
        ScoresError: if the benchmarks' scores have different ranges, or no benchmark has the baseline;
            otherwise see ``compute_problem_values``.
    """
    unknown_ranges = _check_one_range(parts) if len(parts) > 1 else ()
    table = _tabulate_scores(parts, given or {}, metric, k, level)
    benchmarks = tuple(table)
    series = tuple(dict.fromkeys(name for column in table.values() for name in column))
    if baseline is not None and baseline not in series:
        raise ScoresError(f"there is no series {baseline} to compare with", f"There are {', '.join(series)}")
    family = Family(metric, k, level=level, seed=seed)
    if baseline is not None:
        _add_pairs(family, parts, benchmarks, series, baseline)
    judged = family.judge(alpha=alpha, higher_is_better=higher_is_better, blocks=blocks)
    by_cell = {(pair[0], benchmark): comparison for (benchmark, pair), comparison in judged.items()}
    rows = []
    for name in series:
        scores: dict[str | None, Score] = {
            benchmark: column.get(name)
            or make_missing_score(name, level, f"{name} has no answers to {benchmark}")
            for benchmark, column in table.items()
        }
        scores[None] = _compute_average(name, list(scores.values()), table, level, unknown_ranges)
        rows.append([_make_cell(of, one, by_cell.get((name, of)), baseline) for of, one in scores.items()])
    cells, averages = tuple(tuple(row[:-1]) for row in rows), tuple(row[-1] for row in rows)
    return AcrossBenchmarks(series, benchmarks, cells, averages, baseline)


def _compute_average(
    series: str, scores: Sequence[Score], benchmarks: Iterable[str], level: float, unknown: Sequence[str]
) -> Score:
    """The macro average; none where nothing says that the numbers are of one kind."""
    if unknown:
        reason = f"no average: the range of scores is not known on {', '.join(unknown)}"
        return make_missing_score(series, level, reason)
    return compute_macro_score(series, list(zip(benchmarks, scores, strict=True)), level)


def _tabulate_scores(
    parts: Mapping[str, ProblemScores],
    given: Mapping[str, Sequence[Score]],
    metric: Metric | str,
    k: int | None,
    level: float,
) -> dict[str, dict[str, Score]]:
    """Scores by benchmark and series; those of problems come before totals."""
    table = {}
    for name in dict.fromkeys([*parts, *given]):
        own = {}
        if name in parts and parts[name].problems:
            own = {score.series: score for score in score_series(parts[name], metric, k, level=level)}
        totals = {score.series: score for score in given.get(name, ())}
        table[name] = own | {series: score for series, score in totals.items() if series not in own}
    return table


def _add_pairs(
    family: Family,
    parts: Mapping[str, ProblemScores],
    benchmarks: tuple[str, ...],
    series: Sequence[str],
    baseline: str,
) -> None:
    """Each series against the baseline on each benchmark and, where all have both, on their average."""
    for name in benchmarks:
        part = parts.get(name)
        if part is not None and part.problems and baseline in part.series:
            family.add(name, part, [(other, baseline) for other in part.series if other != baseline])
    if family.benchmarks == benchmarks:
        family.add_averages([(name, baseline) for name in series if name != baseline])


def _make_cell(
    benchmark: str | None, score: Score, against: Comparison | None, baseline: str | None
) -> BenchmarkCell:
    """A score, its comparison, and why one of them is missing."""
    if score.estimate is None:
        return BenchmarkCell(score, None, score.reason)
    reason = ""
    if against is None and baseline not in {None, score.series}:
        reason = f"{baseline} has no problems in {benchmark}"
        if benchmark is None:
            reason = f"not paired with {baseline} on every benchmark"
        elif score.method == REPORTED:
            reason = _NOT_PAIRED
    return BenchmarkCell(score, against, reason)


def _check_one_range(parts: Mapping[str, ProblemScores]) -> tuple[str, ...]:
    """The benchmarks whose range of scores is not known; raises a ScoresError if known ranges differ."""
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

    Arguments are those of ``compare_all``, with problem scores by benchmark; all comparisons are adjusted
    together. A pair of which a side has no answers to a benchmark, or no average, has no number there and a
    reason.

    Raises:
        ScoresError: if a series is on no benchmark; otherwise see ``compute_problem_values``.
    """
    names = tuple(dict.fromkeys(name for part in parts.values() for name in part.series))
    chosen = list(combinations(names, 2)) if pairs is None else list(pairs)
    unknown = sorted({name for pair in chosen for name in pair} - set(names))
    if unknown:
        raise ScoresError(f"there is no series {', '.join(unknown)}", f"There are {', '.join(names)}")
    family = Family(metric, k, level=level, seed=seed)
    for name, part in parts.items():
        family.add(name, part, [pair for pair in chosen if set(pair) <= set(part.series)])
    if len(parts) > 1:
        family.add_averages(chosen)
    judged = family.judge(alpha=alpha, higher_is_better=higher_is_better)
    found = []
    columns: list[str | None] = [*parts, None] if len(parts) > 1 else [*parts]
    for benchmark in columns:
        for a, b in chosen:
            comparison = judged.get((benchmark, (a, b)))
            if comparison is None:
                reason = "the two do not share problems on every benchmark"
                if benchmark is not None:
                    absent = [name for name in dict.fromkeys((a, b)) if name not in parts[benchmark].series]
                    reason = f"no answers to {benchmark} from {' and '.join(absent)}"
                comparison = Comparison(a, b, "", level, reason=reason)
            found.append(PairOn(benchmark, comparison))
    tested = sum(pair.comparison.p is not None for pair in found)
    return tuple(pair._replace(comparison=replace(pair.comparison, tested_together=tested)) for pair in found)
