"""Scores and comparisons in a notebook, as data frames with the numbers and words of a page."""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

from msgspec import Struct, to_builtins

from reportgen.core.comparisons import Outcomes, ScoresError
from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.notebook.tables import Table, explain_frames, open_data
from reportgen.read.queries.problem_scores import group_problem_scores
from reportgen.settings.score_blocks import MetricSettings, split_metric
from reportgen.statistics.compare import FamilyOptions, compare_all, compare_pairs_across
from reportgen.statistics.pairs import compute_macro_score
from reportgen.statistics.scores import hide_interval, score_series, score_totals
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from reportgen.core.comparisons import Adjust, Estimand, ProblemScores, RankGroup, Score
    from reportgen.notebook.tables import Data
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


MACRO: Final = "macro average"
"""Benchmark of the rows with averages over several benchmarks."""

_NOTEBOOK: Final = SourceLocation("notebook")
_SCORE_COLUMNS: Final = (
    *("benchmark", "series", "metric", "estimate", "low", "high", "level", "group", "estimand", "method"),
    *("reason", "problems", "fewest_samples", "most_samples", "runs", "between_runs", "stderr", "run_stderr"),
    *("tokens", "seconds", "cost"),
)
_PAIR_COLUMNS: Final = (
    *("benchmark", "a", "b", "metric", "difference", "low", "high", "level", "spread", "p"),
    *("adjusted_p", "tested_together", "verdict", "reason", "shared", "only_a", "only_b"),
    *("method", "interval_method", "runs_a", "runs_b", "stderr", "run_stderr", "df"),
    *("family_stderr", "critical", "family_blocks", "estimand", "adjust"),
    *("answer_stderr", "problem_stderr"),
)
_COUNTS: Final = (
    *("group", "problems", "fewest_samples", "most_samples", "runs", "tested_together", "shared"),
    *("runs_a", "runs_b", "family_blocks"),
)
_NUMBERS: Final = (
    *("estimate", "low", "high", "level", "between_runs", "stderr", "tokens", "seconds", "cost"),
    *("difference", "spread", "p", "adjusted_p", "run_stderr", "df", "family_stderr", "critical"),
    *("answer_stderr", "problem_stderr"),
)


class _Selection(Struct, frozen=True):
    """The part of a table or of outcomes selected by a call, and how its scores are compared."""

    data: Table | Outcomes
    benchmark: str | None
    series: tuple[str, ...] | None
    where: Mapping[str, CellValue | tuple[CellValue, ...]]
    level: float
    higher_is_better: bool
    by: tuple[str, ...] = ()

    @property
    def is_illustrative(self) -> bool:
        """Whether the source says that its answers are invented."""
        return isinstance(self.data, Table) and self.data.source.settings.illustrative

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Report a ``ScoresError`` raised inside the context at the location of the data."""
        try:
            yield
        except ScoresError as error:
            place = _NOTEBOOK if isinstance(self.data, Outcomes) else self.data.source.location
            raise make_error(place, error.message, error.next_step, Stage.DATA) from error

    def list_benchmarks(self, source: Source) -> dict[str | None, str]:
        """Return the benchmarks of a source with their names in a frame."""
        benchmarks: Sequence[str | None] = [self.benchmark] if self.benchmark else source.benchmarks or [None]
        return {title: title or source.settings.title or source.name for title in benchmarks}

    def read_problem_scores(self, *, answers: bool) -> dict[str, ProblemScores]:
        """Read the problem scores by name of their benchmark, with ``answers`` if needed."""
        if isinstance(self.data, Outcomes):
            if self.benchmark or self.series or self.where or self.by:
                raise ValueError("outcomes are narrowed where they are read")
            return {"": group_problem_scores(self.data, answers=answers)}
        from reportgen.read import read_outcomes  # noqa: PLC0415 - imports the database

        root, source = self.data.root, self.data.source
        read = partial(read_outcomes, root, source, series=self.series, where=self.where, by=self.by)
        return {
            name: group_problem_scores(read(benchmark=title), answers=answers)
            for title, name in self.list_benchmarks(source).items()
        }


def _open_scores(data: Data | Outcomes) -> Table | Outcomes:
    """Return outcomes as they are and all else as a table; raise for a frame without scores."""
    if isinstance(data, Outcomes):
        return data
    table = open_data(data)
    if table is not data and table.source.kind == "measurements":
        message = "the frame has no scores: no column for the problem or none for its score"
        advice = (
            'Rename them to "problem" and "score". For a table with a column for each benchmark, also for '
        )
        advice += 'one alone, give rg.read(frame, form="wide") instead of the frame'
        raise make_error(_NOTEBOOK, message, advice, Stage.DATA)
    return table


def _parse_metric(metric: str) -> tuple[str, int]:
    """Parse a metric as a block does, and split it for the statistics: ``pass@8`` is ``pass@k`` and 8."""
    try:
        return split_metric(MetricSettings(metric=metric).metric)
    except ValueError:
        message = f'"{metric}" is not a metric of scores'
        advice = "Write mean, or avg@N, pass@K, maj@K or pass^K with a number, such as pass@8"
        raise make_error(_NOTEBOOK, message, advice, Stage.DATA) from None


def _as_frame(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a frame with these columns: numbers as float64, counts as Int64, strings and tuples as objects."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    frame = pd.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns))
    kinds = {**dict.fromkeys(_NUMBERS, "float64"), **dict.fromkeys(_COUNTS, "Int64")}
    return frame.astype({name: kind for name, kind in kinds.items() if name in columns})


@explain_frames
def scores(
    data: Data | Outcomes,
    metric: str = "mean",
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    by: str | Sequence[str] = (),
    estimand: Estimand = "problems like these",
    level: float = 0.95,
    higher_is_better: bool = True,
) -> pd.DataFrame:
    """Compute the score of each series on each benchmark, with its interval and group, best first.

    The estimate is the mean over problems of each problem's value: the metric over its samples, averaged
    over runs. pass@k is the unbiased 1 - C(n - c, k)/C(n, k) with c of n samples right (Chen et al. 2021),
    pass^k is C(c, k)/C(n, k) (Yao et al. 2024), and maj@k is the exact expectation of the majority vote.

    The interval has one of two estimands, given in the column ``estimand``:

    - ``problems like these``: the score on other problems of the same kind. It is logit(u) ± t(P-1)
      se/(u (1 - u)), transformed back, with u the estimate and se = s/√P over the values of the P problems
      as fractions of the range of scores (the logit interval of Brown, Cai and DasGupta 2001, with t), or
      Wilson's interval (1927) if each problem has one sample that is right or wrong.
    - ``these problems``: the score on the same problems with other samples. It is estimate ± t √(Σ v_p)/P
      with v_p the sampling variance of problem p's value (s²/m for a mean of m samples) and degrees of
      freedom after Satterthwaite (1946).

    Every series in a group is better than every series in lower groups, by sign-flip tests of paired
    differences adjusted over all pairs of the benchmark; see ``compare``. For several benchmarks, rows of the
    benchmark ``macro average`` follow, which weights benchmarks equally. It is an average over these
    benchmarks and no others, and has no group.

    Totals without problems are used as reported: estimate ± z stderr, without groups. Of a source that is
    ``illustrative`` there are estimates alone.

    Args:
        data: the result of ``read``, a data frame with the same columns as a data file, or outcomes that
            are already filtered.
        metric: ``mean``, or ``avg@N``, ``pass@K``, ``maj@K``, ``pass^K`` with a number, such as ``pass@8``.
        benchmark: the benchmark to use from a table with several; all if None.
        series: series to include, in this order; all if None.
        where: allowed value or values of each column.
        by: setting or settings whose values are the series.
        estimand: estimand of the interval, see above.
        level: confidence level.
        higher_is_better: whether larger scores are better.

    Returns:
        Columns ``benchmark, series, metric, estimate, low, high, level, group, estimand, method, reason,
        problems, fewest_samples, most_samples, runs, between_runs, stderr, run_stderr, tokens, seconds,
        cost``, with one row per benchmark and series. Scores are in the unit of the data. Missing values are
        NA, and ``reason`` explains a missing interval. ``between_runs`` is the standard deviation of the
        runs' scores, and ``run_stderr`` the part of ``stderr`` due to runs that their answers do not explain.
        ``tokens``, ``seconds`` and ``cost`` are per sample.

    Raises:
        ReportError: the metric, benchmark, series or column does not exist, a problem has fewer than k
            samples, or the data are measurements instead of outcomes.

    Example:
        >>> import reportgen as rg
        >>> frame = rg.scores(rg.read("data/model-comparison"), "pass@4", benchmark="Contest")
        >>> frame[["series", "group", "estimand"]].to_numpy()[:2].tolist()
        [['Aspen', 1, 'problems like these'], ['Birch', 2, 'problems like these']]
    """
    name, k = _parse_metric(metric)
    table = _open_scores(data)
    grouped = (by,) if isinstance(by, str) else tuple(by)
    chosen = _Selection(table, benchmark, series, where or {}, level, higher_is_better, grouped)
    if isinstance(table, Table) and table.source.kind == "totals":
        return _score_totals(table, name, chosen)
    columns, rows = {}, list[dict[str, object]]()
    with chosen.locate_errors():
        for title, part in chosen.read_problem_scores(answers=name == "maj@k").items():
            columns[title] = score_series(part, name, k, estimand=estimand, level=level)
            groups: Sequence[RankGroup] = ()
            if chosen.is_illustrative:
                columns[title] = tuple(map(hide_interval, columns[title]))
            else:
                options = FamilyOptions(estimand=estimand, level=level, higher_is_better=higher_is_better)
                pairs = compare_all(part, name, k, **options)
                groups = rank_groups(columns[title], pairs, higher_is_better=higher_is_better)
            rows += _make_rows(title, columns[title], groups, higher_is_better=higher_is_better)
    if len(columns) > 1:
        rows += _make_rows(MACRO, _average(columns, level), (), higher_is_better=higher_is_better)
    return _as_frame(rows, _SCORE_COLUMNS)


def _score_totals(table: Table, metric: str, chosen: _Selection) -> pd.DataFrame:
    """Return totals as reported, with an average over several benchmarks if it is meaningful."""
    from reportgen.read import TotalsTable  # noqa: PLC0415 - imports the database

    source = table.source
    if chosen.by:
        message = f'by groups runs by their settings, and "{source.name}" holds totals only'
        raise make_error(source.location, message, "Leave out by", Stage.DATA)
    if metric != "mean":
        message = f'"{source.name}" holds totals only, which give no {metric}'
        raise make_error(source.location, message, "Leave out metric", Stage.DATA)
    totals = TotalsTable(table.root, source)
    columns, ranges, rows = {}, set(), list[dict[str, object]]()
    for benchmark, title in chosen.list_benchmarks(source).items():
        reported = totals.get_scores(benchmark, chosen.series, chosen.where)
        better = chosen.higher_is_better and (benchmark or "") not in source.lower_is_better
        ends = totals.get_range(reported, higher_is_better=better)
        columns[title] = score_totals(reported, level=chosen.level, ends=ends)
        if chosen.is_illustrative:
            columns[title] = tuple(map(hide_interval, columns[title]))
        ranges.add((*ends, better))
        rows += _make_rows(title, columns[title], (), higher_is_better=better)
    # Totals with different or unknown ranges or with different directions have no average.
    low, _, better = next(iter(ranges))
    if len(columns) > 1 and len(ranges) == 1 and not math.isinf(low):
        averages = _average(columns, chosen.level)
        rows += _make_rows(MACRO, averages, (), higher_is_better=better)
    return _as_frame(rows, _SCORE_COLUMNS)


def _average(columns: Mapping[str, Sequence[Score]], level: float) -> list[Score]:
    """Compute macro averages; intervals for these problems combine like those for problems like these."""
    by_name = {title: {one.series: one for one in column} for title, column in columns.items()}
    names = dict.fromkeys(one.series for column in columns.values() for one in column)
    return [
        compute_macro_score(name, [(title, by_name[title].get(name)) for title in columns], level)
        for name in names
    ]


def _make_rows(
    title: str, column: Sequence[Score], groups: Sequence[RankGroup], *, higher_is_better: bool
) -> list[dict[str, object]]:
    """Make a row per series, best first, ties in the order of the data, and those without a score last."""
    group_of = {name: group.rank for group in groups for name in group.series}
    sign = -1 if higher_is_better else 1
    ranked = sorted(column, key=lambda one: (one.estimate is None, sign * (one.estimate or 0.0)))
    return [
        to_builtins(one)
        | {"benchmark": title, "group": group_of.get(one.series)}
        | dict(zip(("fewest_samples", "most_samples"), one.samples or (None, None), strict=True))
        for one in ranked
    ]


@explain_frames
def compare(
    data: Data | Outcomes,
    a: str | None = None,
    b: str | None = None,
    *,
    metric: str = "mean",
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    by: str | Sequence[str] = (),
    level: float = 0.95,
    higher_is_better: bool = True,
    estimand: Estimand = "problems like these",
    adjust: Adjust = "fwer",
) -> pd.DataFrame:
    """Compute paired differences of series, a minus b, with intervals, adjusted p-values and verdicts.

    Without ``a`` and ``b``, all pairs are compared; with only ``b``, all other series are compared with it
    as a baseline.

    - ``difference``: the mean of d_p, the difference of the two values of problem p (see ``scores``), over
      the P problems that both answered. It estimates the mean difference over problems like these and, with
      several runs on each side, over runs like these: it then compares methods, otherwise these checkpoints.
    - ``low``, ``high``: difference ± t √(s_d²/P + τ_a²/r_a + τ_b²/r_b) for each pair alone, with τ² the
      variance between runs that their answers do not explain.
    - ``p``: two-sided, the fraction of sign vectors for which Σ ± d_p is at least as far from 0 as observed
      (Fisher 1935): of all vectors for up to 20 problems that differ, otherwise of 20 000 seeded ones,
      (1 + r)/(1 + 20 000) (Phipson and Smyth 2010). From Student's t if runs add to the variance.
    - ``adjusted_p``: from a step-down test of the largest statistic (Westfall and Young 1993) over all rows
      of this frame. If you choose a pair after looking at many, compare all of them.
    - ``verdict`` on a: ``better`` or ``worse`` if adjusted p < 0.05 and the interval excludes 0, ``unclear``
      otherwise, and ``too few`` with fewer than 6 shared problems.

    For several benchmarks, each pair also has a row of the benchmark ``macro average``, which weights
    benchmarks equally.

    Args:
        data: the result of ``read``, a data frame with the same columns as a data file, or outcomes that
            are already filtered.
        a: the only series on the first side.
        b: the only series on the second side.
        metric: as in ``scores``.
        benchmark: the benchmark to use from a table with several; all if None.
        series: series to include; all if None.
        where: allowed value or values of each column.
        by: setting or settings whose values are the series.
        level: confidence level of the intervals.
        higher_is_better: whether larger scores are better.
        estimand: as in ``scores``; for ``these problems``, interval and p are by t over samples, with Holm's
            adjustment (1979).
        adjust: ``fwer`` limits the chance of any wrong verdict to 5%, ``fdr`` (Benjamini and Hochberg 1995)
            the expected share of wrong ones among the pairs called different.

    Returns:
        Columns ``benchmark, a, b, metric, difference, low, high, level, spread, p, adjusted_p,
        tested_together, verdict, reason, shared, only_a, only_b, method, interval_method, runs_a, runs_b,
        stderr, run_stderr, df, family_stderr, critical, family_blocks, estimand, adjust, answer_stderr,
        problem_stderr``, with one row per benchmark and pair. The last two are the parts of the standard
        error that come from other samples and from other problems. ``spread`` is s_d; ``only_a`` and
        ``only_b`` are tuples of the problems that only one side answered. Missing values are NA, and
        ``reason`` says why.

    Raises:
        ReportError: as for ``scores``, or the source is ``illustrative``.

    Example:
        >>> import reportgen as rg
        >>> frame = rg.compare(rg.read("data/model-comparison"), b="Birch", benchmark="Contest")
        >>> frame[["a", "verdict", "tested_together"]].to_numpy().tolist()
        [['Aspen', 'better', 3], ['Cedar', 'unclear', 3], ['Damson', 'unclear', 3]]
    """
    name, k = _parse_metric(metric)
    table = _open_scores(data)
    grouped = (by,) if isinstance(by, str) else tuple(by)
    chosen = _Selection(table, benchmark, series, where or {}, level, higher_is_better, grouped)
    with chosen.locate_errors():
        if chosen.is_illustrative:
            raise ScoresError("the answers are illustrative, and nothing is tested", "Take measured ones")
        parts = chosen.read_problem_scores(answers=name == "maj@k")
        names = tuple(dict.fromkeys(one for part in parts.values() for one in part.series))
        pairs = _choose_pairs(names, a, b)
        how = FamilyOptions(level=level, higher_is_better=higher_is_better, estimand=estimand, adjust=adjust)
        found = compare_pairs_across(parts, name, k, pairs=pairs, **how)
    rows = [
        to_builtins(one)
        | {"benchmark": MACRO if title is None else title, "verdict": str(one.verdict)}
        | dict(zip(("runs_a", "runs_b"), one.runs, strict=True))
        | {
            "answer_stderr": one.noises and one.noises.answers,
            "problem_stderr": one.noises and one.noises.problems,
        }
        for title, one in found
    ]
    return _as_frame(rows, _PAIR_COLUMNS)


def _choose_pairs(names: Sequence[str], a: str | None, b: str | None) -> list[tuple[str, str]]:
    """Return the pair of two series, those of one with all others, or all pairs."""
    if a is not None and b is not None:
        return [(a, b)]
    if a is not None:
        return [(a, other) for other in names if other != a]
    if b is not None:
        return [(other, b) for other in names if other != b]
    return list(combinations(names, 2))
