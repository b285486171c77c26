"""Scores as a table: interval, rank, problems, samples, runs, what they cost, and how they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.figures.score_words import (
    find_protocol_differences,
    format_difference,
    format_level,
    format_rank,
    format_score_estimate,
    format_share,
    name_metric,
)
from reportgen.figures.tidy import write_table_csv
from reportgen.model import Cell, ResultTable
from reportgen.words import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.outcomes import RankRange, Score

_CSV_HEADER = (
    *("series", "metric", "score", "low", "high", "level", "estimand", "method", "stderr", "run_stderr"),
    *("best_rank", "worst_rank", "best_probability", "group"),
    *("problems", "fewest_samples", "most_samples", "runs", "between_runs_sd", "tokens", "seconds", "cost"),
    "reason",
)
_BEST_IN = "Best in: share of resampled sets of problems (and runs) on which it has the best score."
_UNKNOWN = Cell("not known", None, "missing")
_NONE = Cell("none", None, "missing")


def build_score_table(
    table_id: str, title: str, shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext
) -> ResultTable:
    """A row for each score; columns that no score has anything for are left out.

    Args:
        table_id: its id on the page.
        title: of the block.
        shown: scores in the order of their rows, all of one metric and level.
        scored: the benchmark, with ranks and groups.
        context: words for scores, and the protocols.
    """
    columns = [column for column in _build_columns(shown, scored, context) if column is not None]
    rows = zip(*(column.cells for column in columns), strict=True)
    return ResultTable(
        id=table_id,
        title=title,
        header=("series", *(column.name for column in columns)),
        rows=tuple((Cell(score.series), *cells) for score, cells in zip(shown, rows, strict=True)),
        caption=_caption(columns),
        csv=write_score_csv(shown, scored),
    )


def write_score_csv(shown: Sequence[Score], scored: BenchmarkScores) -> str:
    """Every number behind the scores, in the unit of the input; what is not known is empty."""
    ranks = {one.series: one for one in scored.ranks}
    groups = {name: one.rank for one in scored.groups for name in one.series}
    return write_table_csv(
        _CSV_HEADER,
        ([*_list_fields(score, ranks.get(score.series), groups.get(score.series))] for score in shown),
    )


def _list_fields(score: Score, rank: RankRange | None, group: int | None) -> tuple[object, ...]:
    fewest, most = score.samples or (None, None)
    ranked = (rank.best, rank.worst, rank.best_probability) if rank else (None, None, None)
    return (
        *(score.series, score.metric, score.estimate, score.low, score.high, score.level, score.estimand),
        *(score.method, score.stderr, score.run_stderr, *ranked, group, score.problems or None, fewest, most),
        *(score.runs or None, score.between_runs, score.tokens, score.seconds, score.cost, score.reason),
    )


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    cells: tuple[Cell, ...]
    note: str = ""


def _build_columns(
    shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext
) -> tuple[_Column | None, ...]:
    first = shown[0] if shown else None
    name = (
        f"{name_metric(first.metric, context)} [{format_level(first.level)} interval]" if first else "score"
    )
    return (
        _Column(name, tuple(_score(score, context) for score in shown)),
        *_build_rank_columns(shown, scored),
        _Column("problems", tuple(_count(score.problems) for score in shown)),
        _Column("samples", tuple(_samples(score.samples) for score in shown))
        if _has_samples(shown)
        else None,
        _Column("runs", tuple(_count(score.runs) for score in shown)),
        _build_spread_column(shown, context),
        _build_cost_column("tokens a sample", [score.tokens for score in shown]),
        _build_cost_column("seconds a sample", [score.seconds for score in shown]),
        _build_cost_column("cost a sample", [score.cost for score in shown]),
        *_build_protocol_columns(shown, context),
    )


def _score(score: Score, context: ScoreContext) -> Cell:
    mark = "missing" if score.estimate is None else ""
    return Cell(format_score_estimate(score, context), score.estimate, mark)


def _build_rank_columns(shown: Sequence[Score], scored: BenchmarkScores) -> list[_Column]:
    """The ranks that the verdicts leave open, and how often each series is the best."""
    ranks = {one.series: one for one in scored.ranks}
    if len(ranks) < 2:  # noqa: PLR2004 - one alone has no rank
        return []
    found = [ranks.get(score.series) for score in shown]
    columns = [_Column("rank", tuple(_NONE if one is None else _rank(one) for one in found))]
    if all(one is None or one.best_probability is not None for one in found):
        shares = [None if one is None else one.best_probability for one in found]
        cells = tuple(_NONE if one is None else Cell(format_share(one), one) for one in shares)
        columns.append(_Column("best in", cells, _BEST_IN))
    return columns


def _rank(one: RankRange) -> Cell:
    return Cell(format_rank(one), float(one.best))


def _count(count: int) -> Cell:
    return Cell(f"{count:,}", float(count)) if count else _UNKNOWN


def _has_samples(shown: Sequence[Score]) -> bool:
    """Whether the samples of any score are known: of totals they never are."""
    return not shown or any(score.samples for score in shown)


def _samples(samples: tuple[int, int] | None) -> Cell:
    if samples is None:
        return _UNKNOWN
    fewest, most = samples
    return Cell(f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}", float(fewest))


def _build_spread_column(shown: Sequence[Score], context: ScoreContext) -> _Column | None:
    if all(score.between_runs is None for score in shown):
        return None
    cells = [
        Cell("1 run", None, "missing")
        if score.between_runs is None
        else Cell(format_difference(score.between_runs, context, signed=False), score.between_runs)
        for score in shown
    ]
    return _Column(
        "SD between runs",
        tuple(cells),
        "SD between runs: standard deviation of the runs' own scores.",
    )


def _build_cost_column(name: str, values: Sequence[float | None]) -> _Column | None:
    if all(value is None for value in values):
        return None
    cells = [
        _UNKNOWN if value is None else Cell(format_number(value, significant=3), value) for value in values
    ]
    return _Column(
        name, tuple(cells), f"{name[:1].upper()}{name[1:]}: mean over samples, then over problems."
    )


def _build_protocol_columns(shown: Sequence[Score], context: ScoreContext) -> list[_Column]:
    """A column for everything that was not measured alike."""
    columns = []
    names = [score.series for score in shown]
    for label, texts in find_protocol_differences(context, names, dated=True).items():
        by_series = {name: text for text, names in texts.items() for name in names}
        cells = tuple(Cell(by_series.get(score.series, "not stated")) for score in shown)
        columns.append(_Column(label, cells))
    return columns


def _caption(columns: Sequence[_Column]) -> str:
    return " ".join(column.note for column in columns if column.note)
