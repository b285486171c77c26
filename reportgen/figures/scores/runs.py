"""The ``runs`` block: every run a dot, and the mean of each series with its t interval over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.core.model import Cell, ResultTable, Stack, Table
from reportgen.core.words import format_count, join_names
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.plot import FigureText, describe_source
from reportgen.figures.scores.dot_plot import Row, RowDot, draw_dot_plot
from reportgen.figures.scores.wording import (
    explain_metric,
    format_difference,
    format_interval,
    format_level,
    format_score,
    group_reasons,
    half_width,
    list_protocol_notes,
    make_score_axis,
    name_metric,
)
from reportgen.figures.style import pick_slots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Figure
    from reportgen.core.outcomes import RunScore, RunSpread
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.blocks import RunsSettings


_MOST_NAMES = 6


def write_subtitle(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """Metric, runs and level, in a few words."""
    if not spreads:
        return ""
    counts = sorted({len(one.runs) for one in spreads})
    each = "a series" if len(counts) == 1 else "each series"
    runs = format_count(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
    interval = f"{format_level(spreads[0].level)} interval of the mean over runs"
    parts = [
        name_metric(spreads[0].metric, context),
        f"{runs} of {each}",
        interval if any(one.low is not None for one in spreads) else "no interval",
        "" if context.higher_is_better else "lower is better",
    ]
    return ", ".join(filter(None, parts))


def write_summary(spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """One sentence: which series moves most from run to run, and within what each one's runs lie."""
    known = [one for one in spreads if one.sd is not None]
    if not known:
        if not spreads:
            return "No series has a run."
        return "With one run of each series, nothing can be said about how much runs vary."
    widest = max(known, key=lambda one: one.sd or 0.0)
    said = format_difference(widest.sd or 0.0, context, signed=False)
    runs = [run.score for run in widest.runs]
    ends = " to ".join(format_score(end, context) for end in (min(runs), max(runs)))
    lead = f"{format_count(len(runs), 'run')} of {widest.series} reach {ends}, a standard deviation of {said}"
    if len(known) == 1:
        return f"{lead}{_describe_mean(widest, context)}."
    return f"{lead}, the largest of {format_count(len(known), 'series', 'series')} with several runs."


def _describe_mean(one: RunSpread, context: ScoreContext) -> str:
    ends = format_interval(one.low, one.high, context)
    if one.mean is None or not ends:
        return ""
    return f" about their mean of {format_score(one.mean, context, half=half_width(one))} {ends}"


def write_caption(spreads: Sequence[RunSpread], context: ScoreContext, *, words: str | None = None) -> str:
    """What dots and lines are, what was left out, the protocol and the source; the author's words first."""
    names = [one.series for one in spreads]
    sentences = [
        words or "",
        _describe_counts(spreads),
        "Small dot: the score of one run, on the problems that every run of its series answered.",
        _describe_line(spreads),
        explain_metric(spreads[0].metric) if spreads else "",
        *group_reasons((one.series, one.reason) for one in spreads),
        *(
            f"{one.series}: {format_count(one.left_out, 'problem')} that only some of its runs "
            "answered left out."
            for one in spreads
            if one.left_out
        ),
        "" if context.higher_is_better else "Lower is better.",
        *list_protocol_notes(context, names),
        *context.notes,
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(filter(None, sentences))


def _describe_counts(spreads: Sequence[RunSpread]) -> str:
    by_count: dict[int, list[str]] = {}
    for one in spreads:
        by_count.setdefault(len(one.runs), []).append(one.series)
    if len(by_count) == 1:
        return f"n = {format_count(next(iter(by_count)), 'run')} of each series."
    said = [
        f"{format_count(n, 'run')} of {join_names(names, most=_MOST_NAMES)}" for n, names in by_count.items()
    ]
    return f"n: {'; '.join(said)}." if said else ""


def _describe_line(spreads: Sequence[RunSpread]) -> str:
    if all(one.low is None for one in spreads):
        return "Hollow dot: their mean, without an interval."
    level = format_level(spreads[0].level)
    return (
        f"Large dot and line: their mean with its {level} interval (Student's t over runs), for the mean of "
        "other runs like these on these problems; how much problems vary is not in it."
    )


_RUN_COLUMNS = ("series", "run", "seed", "metric", "score", "problems")
_SPREAD_COLUMNS = (
    *("series", "metric", "level", "runs", "mean", "sd", "low", "high"),
    *("problems", "left_out", "reason"),
)


def draw_runs(
    block_id: str, settings: RunsSettings, spreads: tuple[RunSpread, ...], context: ScoreContext
) -> Stack:
    """A row a series with a dot for each run, then a table with the id ``<id>-table``."""
    metric = name_metric(spreads[0].metric if spreads else settings.metric, context)
    title = settings.title or f"Spread of {metric} between runs on {context.benchmark}"
    figure = _draw_figure(block_id, title, settings.caption, spreads, context)
    # A row a series: runs, mean and interval, spread, and from lowest to highest run.
    level = format_level(spreads[0].level) if spreads else ""
    header = ("series", "runs", f"mean [{level} interval]", "SD between runs", "lowest run", "highest run")
    # A row a series, in the unit of the input.
    rows = (
        (
            *(one.series, one.metric, one.level, len(one.runs), one.mean, one.sd, one.low, one.high),
            *(one.problems, one.left_out, one.reason),
        )
        for one in spreads
    )
    table = ResultTable(
        id=f"{block_id}-table",
        title=title,
        header=(*header, "problems"),
        rows=tuple(_build_row(one, context) for one in spreads),
        caption="",
        csv=write_table_csv(_SPREAD_COLUMNS, rows),
    )
    return Stack(id=block_id, title=title, subtitle="", parts=(figure, table), caption="")


def make_run_rows(spreads: Sequence[RunSpread], context: ScoreContext) -> tuple[Row, ...]:
    """A row for each series: its mean and interval, and its runs below."""
    slots = pick_slots(tuple(one.series for one in spreads), context.slots)
    return tuple(
        Row(
            name=one.series,
            slot=slots[one.series],
            text=_format_mean(one, context),
            value=one.mean,
            low=one.low,
            high=one.high,
            tip=_write_tip(one, context),
            # A lone run is its own mean: it is drawn once.
            dots=tuple(RowDot(run.score, _write_run_tip(one, run, context)) for run in one.runs)
            if len(one.runs) > 1
            else (),
        )
        for one in spreads
    )


def _format_mean(one: RunSpread, context: ScoreContext) -> str:
    return "no score" if one.mean is None else format_score(one.mean, context, half=half_width(one))


def _write_tip(one: RunSpread, context: ScoreContext) -> tuple[str, ...]:
    ends = format_interval(one.low, one.high, context)
    of = "mean of " if len(one.runs) > 1 else ""
    lines = [
        one.series,
        f"{of}{format_count(len(one.runs), 'run')}: {_format_mean(one, context)}",
        f"{format_level(one.level)} interval {ends}" if ends else "",
        "" if one.sd is None else f"SD {format_difference(one.sd, context, signed=False)}",
        format_count(one.problems, "problem"),
        one.reason,
    ]
    return tuple(filter(None, lines))


def _write_run_tip(one: RunSpread, run: RunScore, context: ScoreContext) -> tuple[str, ...]:
    name = f"run {run.run}" if run.seed in {None, run.run} else f"run {run.run}, seed {run.seed}"
    return (one.series, f"{name}: {format_score(run.score, context, half=half_width(one))}")


def _draw_figure(
    figure_id: str, title: str, words: str | None, spreads: Sequence[RunSpread], context: ScoreContext
) -> Figure:
    values = [value for one in spreads for value in (one.mean, one.low, one.high)]
    values += [run.score for one in spreads for run in one.runs]
    metric = name_metric(spreads[0].metric if spreads else "mean", context)
    text = FigureText(
        id=figure_id,
        kind="runs",
        title=title,
        subtitle=write_subtitle(spreads, context),
        caption=write_caption(spreads, context, words=words),
        summary=write_summary(spreads, context),
        source=describe_source(context),
        numbers=_collect_numbers(spreads, context),
    )
    axis = make_score_axis(values, context, title=metric)
    rows = tuple(
        (one.series, run.run, run.seed or "", format_score(run.score, context, half=half_width(one)))
        for one in spreads
        for run in one.runs
    )
    table = Table(("series", "run", "seed", metric), rows)
    # Downloads are in the unit of the input.
    records = (
        (one.series, run.run, run.seed, one.metric, run.score, one.problems)
        for one in spreads
        for run in one.runs
    )
    csv = write_table_csv(_RUN_COLUMNS, records)
    return draw_dot_plot(make_run_rows(spreads, context), axis, text, table=table, csv=csv)


def _build_row(one: RunSpread, context: ScoreContext) -> tuple[Cell, ...]:
    ends = format_interval(one.low, one.high, context)
    said = " ".join(filter(None, [_format_mean(one, context), ends]))
    scores = [run.score for run in one.runs]
    unknown = Cell("not known", None, "missing")
    return (
        Cell(one.series),
        Cell(f"{len(one.runs):,}", float(len(one.runs))),
        Cell(said, one.mean, "missing" if one.mean is None else ""),
        unknown if one.sd is None else Cell(format_difference(one.sd, context, signed=False), one.sd),
        *(
            Cell(format_score(end, context, half=half_width(one)), end)
            for end in ((min(scores), max(scores)) if scores else ())
        ),
        *((unknown, unknown) if not scores else ()),
        Cell(f"{one.problems:,}", float(one.problems)),
    )


def _collect_numbers(spreads: Sequence[RunSpread], context: ScoreContext) -> dict[str, Any]:
    """What ``report.json`` keeps of the figure itself."""
    return {
        "metric": spreads[0].metric if spreads else None,
        "level": spreads[0].level if spreads else None,
        "higher_is_better": context.higher_is_better,
        "series": [
            {"name": one.series, "runs": len(one.runs), "mean": one.mean, "low": one.low, "high": one.high}
            for one in spreads
        ],
    }
