"""Key results of scores: the table of a ``scores`` block, the line under a page's title, and its card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.core.comparisons import TARGET_POWER, Verdict
from reportgen.core.model import BenchmarkResult, Cell, ResultTable
from reportgen.core.words import describe_chance, format_count, format_number, join_names
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.scores.wording import (
    find_protocol_differences,
    format_difference,
    format_level,
    format_rank,
    format_score,
    format_score_estimate,
    format_share,
    name_metric,
)
from reportgen.figures.style import get_colour
from reportgen.figures.text import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.comparisons import RankRange
    from reportgen.core.model import Lead
    from reportgen.core.outcomes import Score
    from reportgen.figures.plot import BenchmarkScores, ScoreContext
    from reportgen.settings.report import Benchmark


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

    Scores are in the order of their rows, all of one metric and level.
    """
    columns = [column for column in _build_columns(shown, scored, context) if column is not None]
    rows = zip(*(column.cells for column in columns), strict=True)
    return ResultTable(
        id=table_id,
        title=title,
        header=("series", *(column.name for column in columns)),
        rows=tuple((Cell(score.series), *cells) for score, cells in zip(shown, rows, strict=True)),
        caption=" ".join(column.note for column in columns if column.note),
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
    name, samples = "score", _Column("samples", tuple(_samples(score.samples) for score in shown))
    if shown:
        name = f"{name_metric(shown[0].metric, context)} [{format_level(shown[0].level)} interval]"
    # The samples of totals are never known.
    sampled = not shown or any(score.samples for score in shown)
    return (
        _Column(name, tuple(_build_score_cell(score, context) for score in shown)),
        *_build_rank_columns(shown, scored),
        _Column("problems", tuple(_count(score.problems) for score in shown)),
        samples if sampled else None,
        _Column("runs", tuple(_count(score.runs) for score in shown)),
        _build_spread_column(shown, context),
        _build_cost_column("tokens a sample", [score.tokens for score in shown]),
        _build_cost_column("seconds a sample", [score.seconds for score in shown]),
        _build_cost_column("cost a sample", [score.cost for score in shown]),
        *_build_protocol_columns(shown, context),
    )


def _build_score_cell(score: Score, context: ScoreContext) -> Cell:
    mark = "missing" if score.estimate is None else ""
    return Cell(format_score_estimate(score, context), score.estimate, mark)


def _build_rank_columns(shown: Sequence[Score], scored: BenchmarkScores) -> list[_Column]:
    """The ranks that the verdicts leave open, and how often each series is the best."""
    ranks = {one.series: one for one in scored.ranks}
    if len(ranks) < 2:  # noqa: PLR2004 - one alone has no rank
        return []
    found = [ranks.get(score.series) for score in shown]
    cells = (_NONE if one is None else Cell(format_rank(one), float(one.best)) for one in found)
    columns = [_Column("rank", tuple(cells))]
    if all(one is None or one.best_probability is not None for one in found):
        shares = [None if one is None else one.best_probability for one in found]
        cells = (_NONE if one is None else Cell(format_share(one), one) for one in shares)
        columns.append(_Column("best in", tuple(cells), _BEST_IN))
    return columns


def _count(count: int) -> Cell:
    return Cell(f"{count:,}", float(count)) if count else _UNKNOWN


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
    """A column for everything that was not measured in the same way."""
    columns = []
    names = [score.series for score in shown]
    for label, texts in find_protocol_differences(context, names, dated=True).items():
        by_series = {name: text for text, names in texts.items() for name in names}
        cells = tuple(Cell(by_series.get(score.series, "not stated")) for score in shown)
        columns.append(_Column(label, cells))
    return columns


_ACROSS, _DOWN, _PIXELS = 600, 200, 56
_MOST_NAMED = 4


def summarize_score_benchmark(
    benchmark: Benchmark, page: str, scored: BenchmarkScores, context: ScoreContext
) -> BenchmarkResult:
    """Best score, who is in its group, how large a difference is found, and on how many problems.

    ``page`` is the page's path below ``content/``; at least one series has a score.
    """
    known, lead = [one for one in scored.scores if one.estimate is not None], scored.lead
    leaders = _leaders(known, context)
    names = join_names([one.series for one in leaders], most=_MOST_NAMED)
    # Scores that read alike may have intervals of their own, which the blocks of the page tell.
    alone = (
        format_score_estimate(leaders[0], context)
        if len(leaders) == 1
        else _format_leader_score(leaders[0], context)
    )
    facts = [
        ("Best" if lead.series else _name_first(context), f"{names} {alone}"),
        ("No clear winner", "" if lead.series else _describe_level(leaders, scored)),
        ("Problems", _describe_problems(known)),
        ("Power", _describe_power(scored, context)),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or _describe_protocol(context)),
        ("Caution", _caution(context)),
    ]
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        description=benchmark.description or "",
        leader=lead.series or "",
        score=_card(names, f"{alone} {name_metric(known[0].metric, context)}", lead, context),
        facts=tuple((label, text) for label, text in facts if text),
        spark=_draw_spark(known, benchmark, context),
        legend=tuple((one.series, context.slots.get(one.series)) for one in known),
    )


def _leaders(known: list[Score], context: ScoreContext) -> list[Score]:
    """The best series, with all whose score reads the same."""
    choose = max if context.higher_is_better else min
    best = _format_leader_score(choose(known, key=lambda one: one.estimate or 0.0), context)
    return [one for one in known if _format_leader_score(one, context) == best]


def _card(names: str, score: str, lead: Lead, context: ScoreContext) -> str:
    if lead.series:
        return score
    first = _name_first(context)
    return f"{f'No clear winner; {first.lower()}' if lead.tested else first}: {names} {score}"


def _name_first(context: ScoreContext) -> str:
    return "Highest score" if context.higher_is_better else "Lowest score"


def _describe_level(leaders: list[Score], scored: BenchmarkScores) -> str:
    """Whom the test of all pairs leaves as good as the best."""
    names = {one.series for one in leaders}
    first = leaders[0].series
    undecided = {
        name
        for one in scored.comparisons
        if first in {one.a, one.b} and one.verdict not in {Verdict.BETTER, Verdict.WORSE}
        for name in (one.a, one.b)
    }
    rest = [one.series for one in scored.scores if one.series in undecided - names]
    return f"no clear difference from {join_names(rest, most=_MOST_NAMED)}" if rest else ""


def _describe_problems(known: list[Score]) -> str:
    problems = sorted({one.problems for one in known if one.problems})
    if not problems:
        return f"not known, {format_count(len(known), 'series', 'series')}"
    samples = sorted({count for one in known for count in one.samples or ()})
    each = f" × {_format_range(samples)} {'sample' if samples == [1] else 'samples'}" if samples else ""
    return f"{_format_range(problems)}{each}, {format_count(len(known), 'series', 'series')}"


def _format_range(counts: list[int]) -> str:
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _describe_power(scored: BenchmarkScores, context: ScoreContext) -> str:
    """The difference that is found, among all pairs where there are several."""
    found = scored.power
    if found is None or found.difference is None:
        return ""
    said = format_difference(found.family_difference or found.difference, context, signed=False)
    among = f" among {found.together:,} pairs" if found.family_difference is not None else ""
    return f"a true difference of {said} is found {describe_chance(TARGET_POWER)}{among}"


def _describe_protocol(context: ScoreContext) -> str:
    """What the source says of all series, without the hash of its problems."""
    each = [dict(pairs) for _, pairs in context.protocol]
    shared = (
        (label, text)
        for label, text in (each[0] if each else {}).items()
        if label != "problem set" and all(one.get(label) == text for one in each)
    )
    return ", ".join(f"{label} {text}" for label, text in shared)


def _caution(context: ScoreContext) -> str:
    mixed = list(find_protocol_differences(context))
    flagged = f"mixed protocols: {join_names(mixed)} differ{'s' if len(mixed) == 1 else ''}" if mixed else ""
    return "; ".join(filter(None, [context.approximate, flagged]))


def _draw_spark(known: list[Score], benchmark: Benchmark, context: ScoreContext) -> str:
    """A small fluid picture of the scores with their intervals, the best series on top, without axes."""
    said = escape_text(
        f"{benchmark.name}: scores of {format_count(len(known), 'series', 'series')} with intervals"
    )
    rows = "".join(_draw_rows(known, context))
    return (
        f'<svg class="rg-spark" role="img" aria-label="{said}" width="100%" height="{_PIXELS}" '
        f'viewBox="0 0 {_ACROSS} {_DOWN}" preserveAspectRatio="none" overflow="visible" fill="none" '
        f'stroke-linecap="round">{rows}</svg>'
    )


def _draw_rows(known: list[Score], context: ScoreContext) -> Iterator[str]:
    ends = [end for one in known for end in (one.estimate, one.low, one.high) if end is not None]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 1, high + 1

    def x(value: float) -> str:
        return f"{(value - low) / (high - low) * _ACROSS:.5g}"

    sign = -1 if context.higher_is_better else 1
    for place, one in enumerate(sorted(known, key=lambda one: sign * (one.estimate or 0.0))):
        y = f"{(place + 0.5) / len(known) * _DOWN:.5g}"
        stroke = f'stroke="{get_colour(context.slots.get(one.series))}" vector-effect="non-scaling-stroke"'
        if one.low is not None and one.high is not None:
            yield f'<path {stroke} stroke-width="1.75" d="M{x(one.low)} {y}H{x(one.high)}"/>'
        # A line of no length with round ends is a dot, and stays round however the picture is stretched.
        yield f'<path {stroke} stroke-width="7" d="M{x(one.estimate or 0.0)} {y}h0"/>'


def _format_leader_score(score: Score, context: ScoreContext) -> str:
    return format_score(score.estimate or 0.0, context)
