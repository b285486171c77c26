"""Key results of scores: tables by series and by slice, and the words and strip of a benchmark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from reportgen.core.model import BenchmarkResult, Cell, ResultTable
from reportgen.core.words import format_count, format_number, join_names
from reportgen.figures.plot import name_caution
from reportgen.figures.scores.wording import (
    describe_counts,
    describe_intervals,
    find_protocol_differences,
    format_difference,
    format_level,
    format_range,
    format_rank,
    format_score,
    format_score_estimate,
    is_percent,
    name_metric,
    share_digits,
)
from reportgen.figures.standings import Dot, Standing, draw_strip, make_standing, write_claims
from reportgen.figures.style import colour_best
from reportgen.figures.text import wrap_cell, write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.comparisons import Score
    from reportgen.figures.plot import BenchmarkScores, ScoreContext
    from reportgen.settings.report import Benchmark


_CSV_HEADER = (
    *("series", "metric", "score", "low", "high", "level", "estimand", "method", "stderr", "run_stderr"),
    *("best_rank", "worst_rank", "group"),
    *("problems", "fewest_samples", "most_samples", "runs", "between_runs_sd", "tokens", "seconds", "cost"),
    "reason",
)
_BOUNDS_HEADER = ("missing", "lower_bound", "upper_bound")
_SLICE_COLUMNS = (
    *("column", "value", "series", "metric", "score", "low", "high", "level", "problems"),
    *("estimand", "method", "reason"),
)
_SPREAD = "SD between runs: standard deviation of the runs' own scores."
_BOUNDS = "Bounds: the score with every answer that is left out at the lowest, and at the highest, score."
_UNKNOWN = Cell("not known", None, "missing")
_NONE = Cell("none", None, "missing")


class _Column(NamedTuple):
    name: str
    cells: list[Cell]
    note: str = ""


def build_score_table(
    table_id: str,
    title: str,
    shown: Sequence[Score],
    scored: BenchmarkScores,
    context: ScoreContext,
    *,
    order: str,
) -> ResultTable:
    """Build a table with a row for each score, without empty columns.

    Scores are in the ``order`` of their rows, all of one metric and level.
    """
    name = "score"
    if shown:
        name = f"{name_metric(shown[0].metric, context)} [{format_level(shown[0].level)} CI]"
    marks = ["missing" if score.estimate is None else "" for score in shown]
    values = [
        Cell(format_score_estimate(score, context), score.estimate, mark)
        for score, mark in zip(shown, marks, strict=True)
    ]
    columns = [
        _Column(name, values),
        *_build_columns(shown, scored, context),
    ]
    # A column for each difference in protocol.
    names = [score.series for score in shown]
    for label, texts in find_protocol_differences(context, names, dated=True).items():
        by_series = {series: text for text, those in texts.items() for series in those}
        columns.append(_Column(label, [Cell(by_series.get(series, "not stated")) for series in names]))
    rows = zip(*(column.cells for column in columns), strict=True)
    best_first = (name, "descending" if context.higher_is_better else "ascending")
    return ResultTable(
        id=table_id,
        title=title,
        header=("series", *(column.name for column in columns)),
        rows=tuple((Cell(score.series), *cells) for score, cells in zip(shown, rows, strict=True)),
        caption=" ".join(column.note for column in columns if column.note),
        csv=write_score_csv(shown, scored),
        folded="Table with ranks and sample sizes",
        complete=True,
        sorted_by={"best": best_first, "name": ("series", "ascending")}.get(order, ("", "")),
    )


def write_score_csv(shown: Sequence[Score], scored: BenchmarkScores) -> str:
    """Write all numbers of the scores, in the unit of the input; unknown ones are empty."""
    ranks = {rank.series: (rank.best, rank.worst) for rank in scored.ranks}
    groups = {name: group.rank for group in scored.groups for name in group.series}
    rows = (
        (
            *(score.series, score.metric, score.estimate, score.low, score.high, score.level, score.estimand),
            *(score.method, score.stderr, score.run_stderr, *ranks.get(score.series, (None, None))),
            *(groups.get(score.series), score.problems or None, *(score.samples or (None, None))),
            *(score.runs or None, score.between_runs, score.tokens, score.seconds, score.cost, score.reason),
        )
        for score in shown
    )
    if not scored.bounds:
        return write_table_csv(_CSV_HEADER, rows)
    counts = {one.series: sum(one.left_out.values()) for one in scored.problems.notes.statuses}
    more = ((counts[score.series], *scored.bounds[score.series]) for score in shown)
    whole = ((*row, *own) for row, own in zip(rows, more, strict=True))
    return write_table_csv((*_CSV_HEADER, *_BOUNDS_HEADER), whole)


def _build_columns(
    shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext
) -> Iterator[_Column]:
    """Build the columns of ranks, sizes, spread and costs."""

    def count(number: int) -> Cell:
        return Cell(f"{number:,}", float(number)) if number else _UNKNOWN

    by_name = {rank.series: rank for rank in scored.ranks}
    if len(by_name) > 1:
        ranks = [by_name.get(score.series) for score in shown]
        yield _Column(
            "rank", [Cell(format_rank(rank), float(rank.best)) if rank else _NONE for rank in ranks]
        )
    yield _Column("problems", [count(score.problems) for score in shown])
    if scored.bounds:
        yield _build_bounds(shown, scored, context)
    # Samples are never known for totals.
    if not shown or any(score.samples for score in shown):
        cells = []
        for score in shown:
            known = score.samples
            cells.append(Cell(format_range(known), float(known[0])) if known else _UNKNOWN)
        yield _Column("samples", cells)
    yield _Column("runs", [count(score.runs) for score in shown])
    if any(score.between_runs is not None for score in shown):
        spreads = [
            Cell("1 run", None, "missing")
            if score.between_runs is None
            else Cell(format_difference(score.between_runs, context, signed=False), score.between_runs)
            for score in shown
        ]
        yield _Column("SD between runs", spreads, _SPREAD)
    for what in ("tokens", "seconds", "cost"):
        values: list[float | None] = [getattr(score, what) for score in shown]
        if any(value is not None for value in values):
            cells = [_UNKNOWN if v is None else Cell(format_number(v, significant=3), v) for v in values]
            note = f"{what.capitalize()} a sample: mean over samples, then over problems."
            yield _Column(f"{what} a sample", cells, note)


def _build_bounds(shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext) -> _Column:
    """Build the column of scores with all answers left out wrong, and all right."""
    cells = []
    for score in shown:
        lowest, highest = scored.bounds[score.series]
        low, high = (format_score(end, context) for end in (lowest, highest))
        cells.append(Cell(low if lowest == highest else f"{low} to {high}", lowest))
    return _Column("bounds", cells, _BOUNDS)


def build_slice_table(
    table_id: str, column: str, values: Mapping[str, tuple[Score, ...]], context: ScoreContext
) -> ResultTable:
    """Build a table with a row for each series and a column for each value of ``column``."""
    every = [(value, score) for value, scores in values.items() for score in scores]
    by_name = {(value, score.series): score for value, score in every}
    header = ["series"]
    for value, scores in values.items():
        counts = sorted({score.problems for score in scores if score.problems})
        # A bare number is prefixed with its column: ``level 1``.
        name = f"{column} {value}" if value[:1].isdigit() else value
        size = format_count(counts[-1], "problem") if counts else "no problems"
        header.append(f"{name} ({size})" if len(counts) < 2 else f"{name} ({counts[0]} to {size})")  # noqa: PLR2004
    reasons = dict.fromkeys(score.reason.removesuffix(": no interval") for _, score in every if score.reason)
    caption = f"No interval: {join_names(list(reasons), most=2)}."
    known = [score for _, score in every if score.low is not None]
    if known:
        metric = join_names(list(dict.fromkeys(name_metric(score.metric, context) for score in known)))
        caption = (
            f"{metric[0].upper()}{metric[1:]} over the problems of a slice. Brackets: "
            f"{describe_intervals(known)}.\n{format_count(len(values), 'slice')}, each by itself: nothing is "
            "adjusted for many, and intervals that overlap do not say that series are alike."
        )
    records = (
        (
            *(column, value, score.series, score.metric, score.estimate, score.low, score.high, score.level),
            *(score.problems, score.estimand, score.method, score.reason),
        )
        for value, score in every
    )
    return ResultTable(
        id=table_id,
        title=f"By {column}",
        header=tuple(header),
        rows=tuple(
            (Cell(name), *(_build_slice_cell(by_name.get((value, name)), value, context) for value in values))
            for name in dict.fromkeys(score.series for _, score in every)
        ),
        caption=caption,
        csv=write_table_csv(_SLICE_COLUMNS, records),
    )


def _build_slice_cell(score: Score | None, value: str, context: ScoreContext) -> Cell:
    if score is None or score.estimate is None:
        reason = score.reason if score and score.reason else f"no answers in {value}"
        return Cell(f"missing\n{wrap_cell(reason)}", None, "missing")
    without = "\nno interval" if score.low is None else ""
    return Cell(f"{format_score_estimate(score, context)}{without}", score.estimate)


def summarize_score_benchmark(
    benchmark: Benchmark,
    page: str,
    scored: BenchmarkScores,
    context: ScoreContext,
    others: Sequence[tuple[str, Standing]] = (),
) -> BenchmarkResult:
    """Summarize scores and problems of a benchmark, and the ``others`` by name that its page compares.

    ``page`` is its path.
    """
    words = write_claims([(context.benchmark, describe_standing(scored, context)), *others])
    if not (known := [score for score in scored.scores if score.estimate is not None]):
        return BenchmarkResult(benchmark.name, page, **words, date=benchmark.date or "")
    context = share_digits(context, scored.scores, scored.comparisons)
    metric, size, caution = (
        name_metric(known[0].metric, context),
        _count_answers(known),
        _describe_caution(context),
    )
    facts = (
        ("Verdict", words["claim"]),
        ("Difference", words["difference"]),
        ("Problems", size),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or _describe_protocol(context)),
        ("Caution", caution),
    )
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        **words,
        measure=metric if context.benchmark in metric else f"{metric} on {context.benchmark}",
        size=size,
        flag=name_caution(caution),
        facts=tuple((label, text) for label, text in facts if text),
        strip=draw_strip(_list_dots(_rank(known, context), context), (), percent=is_percent(context)),
        date=benchmark.date or "",
    )


def _rank(scores: Sequence[Score], context: ScoreContext) -> list[Score]:
    sign = -1 if context.higher_is_better else 1
    return sorted(scores, key=lambda score: sign * (score.estimate or 0.0))


def _list_dots(ranked: Sequence[Score], context: ScoreContext) -> list[Dot]:
    dots, slots = [], colour_best([score.series for score in ranked], context.slots)
    for score in ranked:
        value, _, interval = format_score_estimate(score, context).partition(" ")
        low, high = (math.nan if end is None else end for end in (score.low, score.high))
        dots.append(Dot(score.series, slots[score.series], score.estimate or 0.0, low, high, value, interval))
    return dots


def describe_standing(scored: BenchmarkScores, context: ScoreContext) -> Standing:
    """Return what is seen of the two best scores, and what the test says."""
    context = share_digits(context, scored.scores, scored.comparisons)
    known = [score for score in scored.scores if score.estimate is not None]
    if not known:
        return Standing("No score yet")
    first, *others = _rank(known, context)
    values = [format_score_estimate(score, context).partition(" ")[0] for score in (first, *others[:1])]
    finding = f"{first.series} scores {values[0]}"
    if others:
        finding += f", {others[0].series}{' follows with' * (len(others) > 1)} {values[1]}"
    if others and others[0].estimate == first.estimate:
        finding = f"{first.series} and {others[0].series} both score {values[0]}"
    return make_standing(finding, scored.lead, percent=is_percent(context))


def _count_answers(known: Sequence[Score]) -> str:
    """Count problems, samples and runs: ``30 problems × 16 samples, 1 run each``."""
    counts, runs = describe_counts(known), sorted({score.runs for score in known})
    single = f"1 run{' each' * (len(known) > 1)}" if runs == [1] else ""
    return ", ".join(filter(None, [counts or "problems not known", single]))


def _describe_protocol(context: ScoreContext) -> str:
    """Describe what the source states for all series, without the hash of the problem set."""
    protocols = [dict(pairs) for _, pairs in context.protocol]
    return ", ".join(
        f"{label} {text}"
        for label, text in (protocols[0] if protocols else {}).items()
        if label != "problem set" and all(one.get(label) == text for one in protocols)
    )


def _describe_caution(context: ScoreContext) -> str:
    mixed = list(find_protocol_differences(context))
    verb = "differs" if len(mixed) == 1 else "differ"
    flagged = f"mixed protocols: {join_names(mixed)} {verb}" if mixed else ""
    return "; ".join(filter(None, [context.approximate, flagged]))
