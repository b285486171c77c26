"""The ``runs`` block: every run a dot, and the mean of each series with its t interval over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.palette import pick_slots
from reportgen.figures.row_poster import draw_rows_file
from reportgen.figures.row_spec import write_rows_spec
from reportgen.figures.run_words import write_caption, write_subtitle, write_summary
from reportgen.figures.score_axis import make_score_axis
from reportgen.figures.score_captions import describe_source
from reportgen.figures.score_rows import Row, RowDot, draw_rows, name_rows_class
from reportgen.figures.score_words import (
    format_difference,
    format_interval,
    format_level,
    format_score,
    name_metric,
)
from reportgen.figures.tidy import write_table_csv
from reportgen.figures.wording import isolate_names
from reportgen.model import Cell, Figure, ResultTable, Stack, Table
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import RunScore, RunSpread
    from reportgen.settings.score_blocks import RunsSettings

_RUN_COLUMNS = ("series", "run", "seed", "metric", "score", "problems")
_SPREAD_COLUMNS = (
    *("series", "metric", "level", "runs", "mean", "sd", "low", "high"),
    *("problems", "left_out", "reason"),
)


def draw_runs(
    block_id: str, settings: RunsSettings, spreads: tuple[RunSpread, ...], context: ScoreContext
) -> Stack:
    """A row a series with a dot for each run, then a table.

    Args:
        block_id: id of the block on its page; the figure has it too, the table ``<id>-table``.
        settings: title and caption.
        spreads: of one benchmark and metric, in the order of their rows.
        context: words and colours.
    """
    metric = name_metric(spreads[0].metric if spreads else settings.metric, context)
    title = settings.title or f"Spread of {metric} between runs on {context.benchmark}"
    figure = _draw_figure(block_id, title, settings.caption, spreads, context)
    table = _build_table(f"{block_id}-table", title, spreads, context)
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


def _half_width(one: RunSpread) -> float | None:
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def _format_mean(one: RunSpread, context: ScoreContext) -> str:
    return "no score" if one.mean is None else format_score(one.mean, context, half=_half_width(one))


def _write_tip(one: RunSpread, context: ScoreContext) -> tuple[str, ...]:
    ends = format_interval(one.low, one.high, context)
    of = "mean of " if len(one.runs) > 1 else ""
    lines = [
        one.series,
        f"{of}{format_count(len(one.runs), 'run')}: {_format_mean(one, context)}",
        f"{format_level(one.level)} interval {ends}" if ends else "",
        _spread(one, context),
        format_count(one.problems, "problem"),
        one.reason,
    ]
    return tuple(filter(None, lines))


def _spread(one: RunSpread, context: ScoreContext) -> str:
    return "" if one.sd is None else f"SD {format_difference(one.sd, context, signed=False)}"


def _write_run_tip(one: RunSpread, run: RunScore, context: ScoreContext) -> tuple[str, ...]:
    name = f"run {run.run}" if run.seed in {None, run.run} else f"run {run.run}, seed {run.seed}"
    return (one.series, f"{name}: {format_score(run.score, context, half=_half_width(one))}")


def _draw_figure(
    figure_id: str, title: str, words: str | None, spreads: Sequence[RunSpread], context: ScoreContext
) -> Figure:
    rows, how = make_run_rows(spreads, context), write_subtitle(spreads, context)
    values = [value for one in spreads for value in (one.mean, one.low, one.high)]
    values += [run.score for one in spreads for run in one.runs]
    metric = name_metric(spreads[0].metric if spreads else "mean", context)
    axis = make_score_axis(values, context, title=metric)
    names = tuple(one.series for one in spreads)
    return Figure(
        id=figure_id,
        kind="runs",
        title=title,
        subtitle=how,
        caption=isolate_names(write_caption(spreads, context, words=words), names),
        summary=isolate_names(write_summary(spreads, context), names),
        inline_svg=draw_rows(rows, axis, labelled_by=f"{figure_id}-title {figure_id}-summary"),
        file_svg=draw_rows_file(rows, axis, title=title, subtitle=how, source=describe_source(context)),
        table=_build_runs_table(spreads, metric, context),
        csv=_write_csv(spreads),
        spec=write_rows_spec(rows, axis, title=title, subtitle=how),
        view="",
        payload="",
        numbers=_collect_numbers(spreads, context),
        plot_class=name_rows_class(rows),
    )


def _build_runs_table(spreads: Sequence[RunSpread], metric: str, context: ScoreContext) -> Table:
    """Every run drawn."""
    rows = tuple(
        (one.series, run.run, run.seed or "", format_score(run.score, context, half=_half_width(one)))
        for one in spreads
        for run in one.runs
    )
    return Table(("series", "run", "seed", metric), rows)


def _build_table(
    table_id: str, title: str, spreads: Sequence[RunSpread], context: ScoreContext
) -> ResultTable:
    """A row a series: runs, mean and interval, spread, and from lowest to highest run."""
    level = format_level(spreads[0].level) if spreads else ""
    header = ("series", "runs", f"mean [{level} interval]", "SD between runs", "lowest run", "highest run")
    return ResultTable(
        id=table_id,
        title=title,
        header=(*header, "problems"),
        rows=tuple(_build_row(one, context) for one in spreads),
        caption="",
        csv=_write_spread_csv(spreads),
    )


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
            Cell(format_score(end, context, half=_half_width(one)), end)
            for end in ((min(scores), max(scores)) if scores else ())
        ),
        *((unknown, unknown) if not scores else ()),
        Cell(f"{one.problems:,}", float(one.problems)),
    )


def _write_csv(spreads: Sequence[RunSpread]) -> str:
    """A row a run, in the unit of the input."""
    rows = (
        (one.series, run.run, run.seed, one.metric, run.score, one.problems)
        for one in spreads
        for run in one.runs
    )
    return write_table_csv(_RUN_COLUMNS, rows)


def _write_spread_csv(spreads: Sequence[RunSpread]) -> str:
    """A row a series, in the unit of the input."""
    rows = (
        (
            *(one.series, one.metric, one.level, len(one.runs), one.mean, one.sd, one.low, one.high),
            *(one.problems, one.left_out, one.reason),
        )
        for one in spreads
    )
    return write_table_csv(_SPREAD_COLUMNS, rows)


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
