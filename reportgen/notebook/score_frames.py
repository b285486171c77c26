"""Scores in a notebook: as a frame, with every number and word of a page."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, Stage
from reportgen.notebook.answers import (
    MACRO,
    as_frame,
    locate_errors,
    parse_metric,
    read_problem_scores,
    read_totals,
)
from reportgen.outcomes import Outcomes
from reportgen.statistics.compare import compare_all
from reportgen.statistics.macro import compute_macro_score
from reportgen.statistics.ranks import rank_groups
from reportgen.statistics.scores import score_series as scores_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from reportgen.notebook.table import Table
    from reportgen.outcomes import Estimand, RankGroup, Score
    from reportgen.settings.blocks import CellValue

_SCORE_COLUMNS: Final = (
    *("benchmark", "series", "metric", "estimate", "low", "high", "level", "group", "estimand", "method"),
    *("reason", "problems", "fewest_samples", "most_samples", "runs", "between_runs", "stderr", "run_stderr"),
    *("tokens", "seconds", "cost"),
)


def scores(
    data: Table | Outcomes,
    metric: str = "mean",
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    estimand: Estimand = "problems like these",
    level: float = 0.95,
    higher_is_better: bool = True,
) -> pd.DataFrame:
    """The score of each series on each benchmark, with its interval and group; the best first.

    The estimate is the mean over problems of each problem's own value: the metric over its samples,
    averaged over runs. pass@k is unbiased, 1 - C(n - c, k)/C(n, k) with c of n samples right (Chen et al.
    2021), pass^k is C(c, k)/C(n, k) (Yao et al. 2024), maj@k the expected majority vote, exact.

    The interval is about one of two things, and the column ``estimand`` says which:

    - ``problems like these``: the score on other such problems. logit(u) ± t(P-1) se/(u (1 - u)), carried
      back, with u the estimate and se = s/√P over the P problems' values as shares of the range of scores
      (Brown, Cai and DasGupta 2001, the logit interval, with t); Wilson's (1927) where each problem is one
      sample that is right or wrong.
    - ``these problems``: the score on these very problems with other samples. estimate ± t √(Σ v_p)/P with
      v_p the sampling variance of problem p's value (s²/m for a mean of m samples), degrees of freedom
      after Satterthwaite (1946).

    Every series of a group is better than every one of the groups below it: paired differences, tested by
    sign-flips, adjusted over all pairs of the benchmark; see ``compare``. Where there are several
    benchmarks, rows of the benchmark ``macro average`` follow, in which each counts once; it is about these
    benchmarks and no others, and has no group.

    Totals without problems are used as they are reported: estimate ± z stderr, and no groups.

    Args:
        data: from ``read``, or outcomes that are narrowed already.
        metric: ``mean``, or ``avg@N``, ``pass@K``, ``maj@K``, ``pass^K`` with a number, such as ``pass@8``.
        benchmark: only this one of a table with several; all if None.
        series: only these, in this order.
        where: column to the values it may have.
        estimand: what the interval is about, see above.
        level: confidence level.
        higher_is_better: whether a larger score is the better one.

    Returns:
        Columns ``benchmark, series, metric, estimate, low, high, level, group, estimand, method, reason,
        problems, fewest_samples, most_samples, runs, between_runs, stderr, run_stderr, tokens, seconds,
        cost``, one row a benchmark and series. Scores are in the unit of the data. What is missing is NA, and
        ``reason`` says why no interval is there. ``between_runs`` is the standard deviation of the runs' own
        scores, ``run_stderr`` what runs add to ``stderr`` and the interval beyond what their answers explain.
        ``tokens``, ``seconds`` and ``cost`` are those of a sample.

    Raises:
        ReportError: there is no such metric, benchmark, series or column, a problem has fewer than k
            samples, or the data have measurements and no outcomes.

    Example:
        >>> import reportgen as rg
        >>> frame = rg.scores(rg.read("data/model-comparison"), "pass@4", benchmark="Contest")
        >>> frame[["series", "group", "estimand"]].to_numpy()[:2].tolist()
        [['Aspen', 1, 'problems like these'], ['Birch', 2, 'problems like these']]
    """
    name, k = parse_metric(metric)
    if not isinstance(data, Outcomes) and data.source.kind == "totals":
        return _score_totals(
            data, name, benchmark, series, where, level=level, higher_is_better=higher_is_better
        )
    with locate_errors(data):
        parts = read_problem_scores(data, benchmark, series, where, answers=name == "maj@k")
        columns = {
            title: scores_of(part, name, k, estimand=estimand, level=level) for title, part in parts.items()
        }
        together = {
            title: compare_all(part, name, k, level=level, higher_is_better=higher_is_better)
            for title, part in parts.items()
        }
    rows: list[dict[str, object]] = []
    for title, column in columns.items():
        found = rank_groups(column, together[title], higher_is_better=higher_is_better)
        rows += _make_rows(title, column, found, higher_is_better=higher_is_better)
    if len(parts) > 1:
        rows += _make_rows(MACRO, _average(columns, estimand, level), (), higher_is_better=higher_is_better)
    return as_frame(rows, _SCORE_COLUMNS)


def _score_totals(
    data: Table,
    metric: str,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None,
    *,
    level: float,
    higher_is_better: bool,
) -> pd.DataFrame:
    """Totals as they are reported; of several benchmarks with their average, where it means anything."""
    if metric != "mean":
        said = f'"{data.source.name}" holds totals only, which give no {metric}'
        raise ReportError(Problem(data.source.location, said, "Leave out metric", Stage.DATA))
    found = read_totals(data, benchmark, series, where, level=level, higher_is_better=higher_is_better)
    rows: list[dict[str, object]] = []
    for title, one in found.items():
        rows += _make_rows(title, one.scores, (), higher_is_better=one.higher_is_better)
    # Numbers of other ranges, or of one that is not known, or of other directions have no average.
    ranges = {(*one.ends, one.higher_is_better) for one in found.values()}
    if len(found) > 1 and len(ranges) == 1 and not math.isinf(next(iter(ranges))[0]):
        columns = {title: one.scores for title, one in found.items()}
        better = all(one.higher_is_better for one in found.values())
        rows += _make_rows(
            MACRO, _average(columns, "problems like these", level), (), higher_is_better=better
        )
    return as_frame(rows, _SCORE_COLUMNS)


def _average(columns: Mapping[str, Sequence[Score]], estimand: Estimand, level: float) -> list[Score]:
    """The macro average of each series; the noise of these problems adds up as that of problems like them."""
    by_name = {title: {one.series: one for one in column} for title, column in columns.items()}
    names = dict.fromkeys(one.series for column in columns.values() for one in column)
    averages = [
        compute_macro_score(name, [(title, by_name[title].get(name)) for title in columns], level)
        for name in names
    ]
    if estimand == "these problems":
        return [
            replace(one, estimand="these benchmarks, these problems") if one.estimand else one
            for one in averages
        ]
    return averages


def _make_rows(
    title: str, column: Sequence[Score], found: Sequence[RankGroup], *, higher_is_better: bool
) -> list[dict[str, object]]:
    """A row a series, best first, equal ones in the order of the data, those without a score last."""
    group_of = {name: group.rank for group in found for name in group.series}
    sign = -1 if higher_is_better else 1
    ranked = sorted(column, key=lambda one: (one.estimate is None, sign * (one.estimate or 0.0)))
    return [
        asdict(one)
        | {"benchmark": title, "group": group_of.get(one.series)}
        | dict(zip(("fewest_samples", "most_samples"), one.samples or (None, None), strict=True))
        for one in ranked
    ]
