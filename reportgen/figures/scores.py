"""The ``scores`` block: each series' score with its interval, in groups, as a picture and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.figures.palette import drawn_slots
from reportgen.figures.row_poster import rows_file
from reportgen.figures.row_spec import rows_spec
from reportgen.figures.score_axis import score_axis
from reportgen.figures.score_captions import caption, counts_text, origin, subtitle, summary
from reportgen.figures.score_rows import Row, rows_class, rows_svg
from reportgen.figures.score_table import score_csv, score_table
from reportgen.figures.score_words import (
    estimate_text,
    interval_text,
    level_text,
    metric_text,
    protocol_differences,
    rank_text,
)
from reportgen.figures.wording import isolated
from reportgen.model import Figure, Stack, Table
from reportgen.outcomes import REPORTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.score_context import ScoreContext, Scored
    from reportgen.outcomes import RankRange, Score
    from reportgen.settings.score_blocks import ScoresSettings


def scores_block(block_id: str, settings: ScoresSettings, scored: Scored, context: ScoreContext) -> Stack:
    """Dots and intervals in groups, then a table that also has problems, samples, runs and costs.

    Args:
        block_id: id of the block on its page; the figure has it too, the table ``<id>-table``.
        settings: title, caption and order.
        scored: one benchmark.
        context: words and colours.
    """
    shown = ordered(scored.scores, settings.order, context)
    metric = metric_text(shown[0].metric if shown else settings.metric, context)
    title = settings.title or f"{_titled(shown, metric)} on {context.benchmark}"
    table = score_table(f"{block_id}-table", title, shown, scored, context)
    figure = _figure(block_id, title, shown, scored, settings, context)
    return Stack(id=block_id, title=title, subtitle="", parts=(figure, table), caption="")


def _titled(shown: Sequence[Score], metric: str) -> str:
    """A metric at the beginning of a title; the name of one that is used as reported stays as it is."""
    reported = bool(shown) and shown[0].method == REPORTED
    return metric if reported else f"{metric[:1].upper()}{metric[1:]}"


def ordered(scores: Sequence[Score], order: str, context: ScoreContext) -> tuple[Score, ...]:
    """Scores best first (without a score last, equal ones as given), as given, or by name."""
    if order == "given":
        return tuple(scores)
    if order == "name":
        return tuple(sorted(scores, key=lambda score: score.series.casefold()))
    sign = -1.0 if context.higher_is_better else 1.0
    return tuple(sorted(scores, key=lambda s: float("inf") if s.estimate is None else sign * s.estimate))


def score_rows(shown: Sequence[Score], scored: Scored, context: ScoreContext) -> tuple[Row, ...]:
    """A row for each score, under the word of its group."""
    slots = drawn_slots(tuple(score.series for score in shown), context.slots)
    several = len(scored.groups) > 1
    groups = {name: one.rank for one in scored.groups for name in one.series if several}
    ranks = {one.series: one for one in scored.ranks}
    return tuple(
        Row(
            name=score.series,
            slot=slots[score.series],
            text=_text(score, context),
            value=score.estimate,
            low=score.low,
            high=score.high,
            tip=_tip(score, ranks.get(score.series), context),
            group=f"Group {groups[score.series]}" if score.series in groups else "",
        )
        for score in shown
    )


def _tip(score: Score, rank: RankRange | None, context: ScoreContext) -> tuple[str, ...]:
    """What is shown at the pointer: the score, its interval, what it is made of, and how it was measured."""
    ends = interval_text(score.low, score.high, context)
    differs = protocol_differences(context, dated=True)
    measured = dict(next((pairs for name, pairs in context.protocol if name == score.series), ()))
    lines = [
        score.series,
        _text(score, context)
        if score.estimate is None
        else f"{metric_text(score.metric, context)} {_text(score, context)}",
        f"{level_text(score.level)} interval {ends}" if ends else "",
        f"rank {rank_text(rank)}" if rank and rank.count > 1 else "",
        counts_text([score]),
        score.reason,
        *(f"{label}: {measured.get(label) or 'not stated'}" for label in differs),
    ]
    return tuple(filter(None, lines))


def _text(score: Score, context: ScoreContext) -> str:
    """The score in the digits of the table."""
    return estimate_text(score, context).partition(" [")[0]


def _figure(  # noqa: PLR0917 - what a figure is made of
    figure_id: str,
    title: str,
    shown: Sequence[Score],
    scored: Scored,
    settings: ScoresSettings,
    context: ScoreContext,
) -> Figure:
    rows = score_rows(shown, scored, context)
    axis = _axis(shown, context)
    how = subtitle(shown, context) if shown else ""
    names = tuple(score.series for score in shown)
    best = ordered(shown, "best", context)
    return Figure(
        id=figure_id,
        kind="scores",
        title=title,
        subtitle=how,
        caption=isolated(caption(shown, scored, context, words=settings.caption), names),
        summary=isolated(summary(best, scored, context), names),
        inline_svg=rows_svg(rows, axis, labelled_by=f"{figure_id}-title {figure_id}-summary"),
        file_svg=rows_file(rows, axis, title=title, subtitle=how, source=origin(context)),
        table=_table(shown, scored, context),
        csv=score_csv(shown, scored),
        spec=rows_spec(rows, axis, title=title, subtitle=how),
        view="",
        payload="",
        numbers=_numbers(shown, scored, context),
        legend=(),
        plot_class=rows_class(rows),
    )


def _axis(shown: Sequence[Score], context: ScoreContext) -> Axis:
    values = [value for score in shown for value in (score.estimate, score.low, score.high)]
    return score_axis(values, context, title=metric_text(shown[0].metric if shown else "mean", context))


def _table(shown: Sequence[Score], scored: Scored, context: ScoreContext) -> Table:
    """The numbers drawn."""
    ranks = {one.series: rank_text(one) for one in scored.ranks}
    rows = tuple(
        (
            score.series,
            _text(score, context),
            interval_text(score.low, score.high, context),
            ranks.get(score.series, ""),
        )
        for score in shown
    )
    level = f"{level_text(shown[0].level)} interval" if shown else "interval"
    metric = metric_text(shown[0].metric, context) if shown else "score"
    return Table(("series", metric, level, "rank"), rows)


def _numbers(shown: Sequence[Score], scored: Scored, context: ScoreContext) -> dict[str, Any]:
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
