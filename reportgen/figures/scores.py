"""The ``scores`` block: each series' score with its interval, in groups, as a picture and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.palette import pick_slots
from reportgen.figures.row_poster import draw_rows_file
from reportgen.figures.row_spec import write_rows_spec
from reportgen.figures.score_axis import make_score_axis
from reportgen.figures.score_captions import (
    describe_counts,
    describe_source,
    write_caption,
    write_subtitle,
    write_summary,
)
from reportgen.figures.score_rows import Row, draw_rows, name_rows_class
from reportgen.figures.score_table import build_score_table, write_score_csv
from reportgen.figures.score_words import (
    find_protocol_differences,
    format_interval,
    format_level,
    format_rank,
    format_score_estimate,
    name_metric,
)
from reportgen.figures.wording import isolate_names
from reportgen.model import Figure, Stack, Table
from reportgen.outcomes import REPORTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.score_context import BenchmarkScores, ScoreContext
    from reportgen.outcomes import RankRange, Score
    from reportgen.settings.score_blocks import ScoresSettings


def draw_scores(
    block_id: str, settings: ScoresSettings, scored: BenchmarkScores, context: ScoreContext
) -> Stack:
    """Dots and intervals in groups, then a table that also has problems, samples, runs and costs.

    Args:
        block_id: id of the block on its page; the figure has it too, the table ``<id>-table``.
        settings: title, caption and order.
        scored: one benchmark.
        context: words and colours.
    """
    shown = sort_scores(scored.scores, settings.order, context)
    metric = name_metric(shown[0].metric if shown else settings.metric, context)
    title = settings.title or f"{_titled(shown, metric)} on {context.benchmark}"
    table = build_score_table(f"{block_id}-table", title, shown, scored, context)
    figure = _draw_figure(block_id, title, shown, scored, settings, context)
    return Stack(id=block_id, title=title, subtitle="", parts=(figure, table), caption="")


def _titled(shown: Sequence[Score], metric: str) -> str:
    """A metric at the beginning of a title; the name of one that is used as reported stays as it is."""
    reported = bool(shown) and shown[0].method == REPORTED
    return metric if reported else f"{metric[:1].upper()}{metric[1:]}"


def sort_scores(scores: Sequence[Score], order: str, context: ScoreContext) -> tuple[Score, ...]:
    """Scores best first (without a score last, equal ones as given), as given, or by name."""
    if order == "given":
        return tuple(scores)
    if order == "name":
        return tuple(sorted(scores, key=lambda score: score.series.casefold()))
    sign = -1.0 if context.higher_is_better else 1.0
    return tuple(sorted(scores, key=lambda s: float("inf") if s.estimate is None else sign * s.estimate))


def make_score_rows(
    shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext
) -> tuple[Row, ...]:
    """A row for each score, under the word of its group."""
    slots = pick_slots(tuple(score.series for score in shown), context.slots)
    several = len(scored.groups) > 1
    groups = {name: one.rank for one in scored.groups for name in one.series if several}
    ranks = {one.series: one for one in scored.ranks}
    return tuple(
        Row(
            name=score.series,
            slot=slots[score.series],
            text=_format_score(score, context),
            value=score.estimate,
            low=score.low,
            high=score.high,
            tip=_write_tip(score, ranks.get(score.series), context),
            group=f"Group {groups[score.series]}" if score.series in groups else "",
        )
        for score in shown
    )


def _write_tip(score: Score, rank: RankRange | None, context: ScoreContext) -> tuple[str, ...]:
    """What is shown at the pointer: the score, its interval, what it is made of, and how it was measured."""
    ends = format_interval(score.low, score.high, context)
    differs = find_protocol_differences(context, dated=True)
    measured = dict(next((pairs for name, pairs in context.protocol if name == score.series), ()))
    lines = [
        score.series,
        _format_score(score, context)
        if score.estimate is None
        else f"{name_metric(score.metric, context)} {_format_score(score, context)}",
        f"{format_level(score.level)} interval {ends}" if ends else "",
        f"rank {format_rank(rank)}" if rank and rank.count > 1 else "",
        describe_counts([score]),
        score.reason,
        *(f"{label}: {measured.get(label) or 'not stated'}" for label in differs),
    ]
    return tuple(filter(None, lines))


def _format_score(score: Score, context: ScoreContext) -> str:
    """The score in the digits of the table."""
    return format_score_estimate(score, context).partition(" [")[0]


def _draw_figure(  # noqa: PLR0917 - what a figure is made of
    figure_id: str,
    title: str,
    shown: Sequence[Score],
    scored: BenchmarkScores,
    settings: ScoresSettings,
    context: ScoreContext,
) -> Figure:
    rows = make_score_rows(shown, scored, context)
    axis = _axis(shown, context)
    how = write_subtitle(shown, context) if shown else ""
    names = tuple(score.series for score in shown)
    best = sort_scores(shown, "best", context)
    return Figure(
        id=figure_id,
        kind="scores",
        title=title,
        subtitle=how,
        caption=isolate_names(write_caption(shown, scored, context, words=settings.caption), names),
        summary=isolate_names(write_summary(best, scored, context), names),
        inline_svg=draw_rows(rows, axis, labelled_by=f"{figure_id}-title {figure_id}-summary"),
        file_svg=draw_rows_file(rows, axis, title=title, subtitle=how, source=describe_source(context)),
        table=_build_table(shown, scored, context),
        csv=write_score_csv(shown, scored),
        spec=write_rows_spec(rows, axis, title=title, subtitle=how),
        view="",
        payload="",
        numbers=_collect_numbers(shown, scored, context),
        legend=(),
        plot_class=name_rows_class(rows),
    )


def _axis(shown: Sequence[Score], context: ScoreContext) -> Axis:
    values = [value for score in shown for value in (score.estimate, score.low, score.high)]
    return make_score_axis(values, context, title=name_metric(shown[0].metric if shown else "mean", context))


def _build_table(shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext) -> Table:
    """The numbers drawn."""
    ranks = {one.series: format_rank(one) for one in scored.ranks}
    rows = tuple(
        (
            score.series,
            _format_score(score, context),
            format_interval(score.low, score.high, context),
            ranks.get(score.series, ""),
        )
        for score in shown
    )
    level = f"{format_level(shown[0].level)} interval" if shown else "interval"
    metric = name_metric(shown[0].metric, context) if shown else "score"
    return Table(("series", metric, level, "rank"), rows)


def _collect_numbers(
    shown: Sequence[Score], scored: BenchmarkScores, context: ScoreContext
) -> dict[str, Any]:
    """What ``report.json`` keeps of the figure itself."""
    groups = {name: one.rank for one in scored.groups for name in one.series}
    return {
        "metric": shown[0].metric if shown else None,
        "estimand": shown[0].estimand if shown else None,
        "level": shown[0].level if shown else None,
        "higher_is_better": context.higher_is_better,
        "series": [
            {
                "name": score.series,
                "score": score.estimate,
                "low": score.low,
                "high": score.high,
                "group": groups.get(score.series),
            }
            for score in shown
        ],
    }
