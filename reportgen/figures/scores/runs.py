"""The ``runs`` block: every run a dot, and the mean of each series with its t interval over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.core.model import Cell, ResultTable, Stack, Table
from reportgen.core.words import format_count, join_names
from reportgen.figures.plot import FigureText, describe_source, join_caption
from reportgen.figures.scores.dot_plot import Row, RowDot, draw_dot_plot
from reportgen.figures.scores.wording import (
    MOST_NAMES,
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
from reportgen.figures.text import write_table_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Figure
    from reportgen.core.outcomes import RunSpread
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.blocks import RunsSettings


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
    level = format_level(spreads[0].level) if spreads else ""
    header = ("series", "runs", f"mean [{level} interval]", "SD between runs", "lowest run", "highest run")
    records = (
        (
            *(spread.series, spread.metric, spread.level, len(spread.runs), spread.mean, spread.sd),
            *(spread.low, spread.high, spread.problems, spread.left_out, spread.reason),
        )
        for spread in spreads
    )
    table = ResultTable(
        id=f"{block_id}-table",
        title=title,
        header=(*header, "problems"),
        rows=tuple(_build_row(spread, context) for spread in spreads),
        caption="",
        csv=write_table_csv(_SPREAD_COLUMNS, records),
    )
    figure = _draw_figure(block_id, title, settings.caption, spreads, context)
    return Stack(block_id, title, "", (figure, table), "")


def _build_row(spread: RunSpread, context: ScoreContext) -> tuple[Cell, ...]:
    """A row a series: runs, mean and interval, spread, and from lowest to highest run."""
    mean = f"{_format_mean(spread, context)} {format_interval(spread.low, spread.high, context)}".rstrip()
    scores = [run.score for run in spread.runs]
    ends = (min(scores), max(scores)) if scores else (None, None)
    return (
        Cell(spread.series),
        Cell(f"{len(scores):,}", float(len(scores))),
        Cell(mean, spread.mean, "missing" if spread.mean is None else ""),
        Cell("not known", None, "missing")
        if spread.sd is None
        else Cell(format_difference(spread.sd, context, signed=False), spread.sd),
        *(
            Cell("not known", None, "missing")
            if end is None
            else Cell(format_score(end, context, half=half_width(spread)), end)
            for end in ends
        ),
        Cell(f"{spread.problems:,}", float(spread.problems)),
    )


def _format_mean(spread: RunSpread, context: ScoreContext) -> str:
    if spread.mean is None:
        return "no score"
    return format_score(spread.mean, context, half=half_width(spread))


def _draw_figure(
    figure_id: str, title: str, words: str | None, spreads: Sequence[RunSpread], context: ScoreContext
) -> Figure:
    metric, level = (spreads[0].metric, spreads[0].level) if spreads else (None, None)
    numbers: dict[str, Any] = {"metric": metric, "level": level, "higher_is_better": context.higher_is_better}
    numbers["series"] = [
        {"name": one.series, "runs": len(one.runs), "mean": one.mean, "low": one.low, "high": one.high}
        for one in spreads
    ]
    subtitle, summary = _write_headline(spreads, context)
    text = FigureText(
        id=figure_id,
        kind="runs",
        title=title,
        subtitle=subtitle,
        caption=_write_caption(words, spreads, context),
        summary=summary,
        source=describe_source(context),
        numbers=numbers,
    )
    slots = pick_slots(tuple(spread.series for spread in spreads), context.slots)
    pairs = [(spread, run) for spread in spreads for run in spread.runs]
    cells = tuple(
        (spread.series, run.run, run.seed or "", format_score(run.score, context, half=half_width(spread)))
        for spread, run in pairs
    )
    # Downloads are in the unit of the input.
    records = (
        (spread.series, run.run, run.seed, spread.metric, run.score, spread.problems) for spread, run in pairs
    )
    ends = [end for spread in spreads for end in (spread.mean, spread.low, spread.high)]
    named = name_metric(metric or "mean", context)
    return draw_dot_plot(
        [_make_row(spread, slots[spread.series], context) for spread in spreads],
        make_score_axis([*ends, *(run.score for _, run in pairs)], context, title=named),
        text,
        table=Table(("series", "run", "seed", named), cells),
        csv=write_table_csv(_RUN_COLUMNS, records),
    )


def _make_row(spread: RunSpread, slot: int | None, context: ScoreContext) -> Row:
    """The mean of a series with its interval, and its runs below."""
    mean, ends = _format_mean(spread, context), format_interval(spread.low, spread.high, context)
    of = "mean of " if len(spread.runs) > 1 else ""
    tip = [
        spread.series,
        f"{of}{format_count(len(spread.runs), 'run')}: {mean}",
        f"{format_level(spread.level)} interval {ends}" if ends else "",
        "" if spread.sd is None else f"SD {format_difference(spread.sd, context, signed=False)}",
        format_count(spread.problems, "problem"),
        spread.reason,
    ]
    dots = []
    # A lone run is its own mean: it is drawn once.
    for run in spread.runs if len(spread.runs) > 1 else ():
        seed = "" if run.seed in {None, run.run} else f", seed {run.seed}"
        score = format_score(run.score, context, half=half_width(spread))
        dots.append(RowDot(run.score, (spread.series, f"run {run.run}{seed}: {score}")))
    lines = tuple(filter(None, tip))
    return Row(spread.series, slot, mean, spread.mean, spread.low, spread.high, lines, dots=tuple(dots))


def _write_headline(spreads: Sequence[RunSpread], context: ScoreContext) -> tuple[str, str]:
    """Metric, runs and level in a few words, and which series moves most from run to run in a sentence."""
    if not spreads:
        return "", "No series has a run."
    counts = sorted({len(spread.runs) for spread in spreads})
    count = f"{format_count(counts[0], 'run')} of a series"
    if len(counts) > 1:
        count = f"{counts[0]} to {counts[-1]} runs of each series"
    interval = f"{format_level(spreads[0].level)} interval of the mean over runs"
    if all(spread.low is None for spread in spreads):
        interval = "no interval"
    lower = "" if context.higher_is_better else "lower is better"
    subtitle = ", ".join(filter(None, (name_metric(spreads[0].metric, context), count, interval, lower)))
    known = [(spread.sd, spread) for spread in spreads if spread.sd is not None]
    if not known:
        return subtitle, "With one run of each series, nothing can be said about how much runs vary."
    sd, widest = max(known, key=lambda pair: pair[0])
    runs = [run.score for run in widest.runs]
    ends = " to ".join(format_score(end, context) for end in (min(runs), max(runs)))
    reach = f"{format_count(len(runs), 'run')} of {widest.series} reach {ends}"
    lead = f"{reach}, a standard deviation of {format_difference(sd, context, signed=False)}"
    around = format_interval(widest.low, widest.high, context)
    if len(known) > 1:
        lead += f", the largest of {format_count(len(known), 'series', 'series')} with several runs"
    elif widest.mean is not None and around:
        lead += f" about their mean of {_format_mean(widest, context)} {around}"
    return subtitle, f"{lead}."


def _write_caption(words: str | None, spreads: Sequence[RunSpread], context: ScoreContext) -> str:
    """What dots and lines are, what was left out, the protocol and the source; the author's words first."""
    by_count: dict[int, list[str]] = {}
    for spread in spreads:
        by_count.setdefault(len(spread.runs), []).append(spread.series)
    counts = [
        f"{format_count(n, 'run')} of {join_names(names, most=MOST_NAMES)}" for n, names in by_count.items()
    ]
    size = f"n: {'; '.join(counts)}." if counts else ""
    if len(by_count) == 1:
        size = f"n = {format_count(len(spreads[0].runs), 'run')} of each series."
    line = "Hollow dot: their mean, without an interval."
    if any(spread.low is not None for spread in spreads):
        line = (
            f"Large dot and line: their mean with its {format_level(spreads[0].level)} interval (Student's t "
            "over runs), for the mean of other runs like these on these problems; how much problems vary is "
            "not in it."
        )
    sentences = [
        words or "",
        size,
        "Small dot: the score of one run, on the problems that every run of its series answered.",
        line,
        explain_metric(spreads[0].metric) if spreads else "",
        *group_reasons((spread.series, spread.reason) for spread in spreads),
        *(
            f"{spread.series}: {format_count(spread.left_out, 'problem')} that only some of its runs "
            "answered left out."
            for spread in spreads
            if spread.left_out
        ),
        "" if context.higher_is_better else "Lower is better.",
        *list_protocol_notes(context, [spread.series for spread in spreads]),
    ]
    return join_caption(sentences, context)
