"""The ``scores`` block: scores with intervals, in groups, as a picture and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.core.comparisons import THESE_PROBLEMS, Verdict, write_verdict
from reportgen.core.model import Stack, Table
from reportgen.core.words import format_count, join_names
from reportgen.figures.plot import FigureText, describe_source, join_caption
from reportgen.figures.scores.comparison import swap_sides
from reportgen.figures.scores.dot_plot import Row, draw_dot_plot
from reportgen.figures.scores.key_results import build_score_table, write_score_csv
from reportgen.figures.scores.wording import (
    MOST_NAMES,
    describe_adjustment,
    describe_counts,
    describe_estimand,
    describe_family_blocks,
    describe_method,
    explain_metric,
    find_protocol_differences,
    format_difference,
    format_interval,
    format_level,
    format_p_text,
    format_range,
    format_rank,
    format_score_estimate,
    group_reasons,
    half_width,
    list_found_notes,
    list_protocol_notes,
    make_score_axis,
    name_metric,
    share_digits,
)
from reportgen.figures.style import colour_best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import Score
    from reportgen.core.model import Figure
    from reportgen.figures.plot import BenchmarkScores, ScoreContext
    from reportgen.settings.score_blocks import ScoresSettings


def draw_scores(
    block_id: str, settings: ScoresSettings, scored: BenchmarkScores, context: ScoreContext
) -> Stack:
    """Draw dots and intervals in groups, and a table that adds problems, samples, runs and costs.

    The figure has the id of the block, the table ``<id>-table``.
    """
    context = share_digits(context, scored.scores, scored.comparisons)
    shown = _sort_scores(scored.scores, settings.order, context)
    metric = name_metric(shown[0].metric if shown else settings.metric, context)
    # The name of a metric that is used as reported is not capitalized.
    named = metric if shown and shown[0].is_reported else f"{metric[:1].upper()}{metric[1:]}"
    title = settings.title or f"{named} on {context.benchmark}"
    table = build_score_table(f"{block_id}-table", title, shown, scored, context, order=settings.order)
    groups = {name: group.rank for group in scored.groups for name in group.series}
    numbers = [
        {"name": score.series, "score": score.estimate, "low": score.low, "high": score.high}
        | {"group": groups.get(score.series)}
        for score in shown
    ]
    figure = _ScoreFigure(shown, scored, context)
    text = FigureText(
        id=block_id,
        kind="scores",
        title=title,
        subtitle=figure.write_subtitle() if shown else "",
        caption=figure.write_caption(),
        summary=figure.write_summary(),
        source=describe_source(context),
        numbers={
            "metric": shown[0].metric if shown else None,
            "estimand": shown[0].estimand if shown else None,
            "level": shown[0].level if shown else None,
            "higher_is_better": context.higher_is_better,
            "series": numbers,
        },
    )
    return Stack(block_id, title, "", (figure.draw(text), table), "")


def _sort_scores(scores: Sequence[Score], order: str, context: ScoreContext) -> tuple[Score, ...]:
    """Sort scores best first (no score last, ties as given), as given, or by name."""
    if order == "given":
        return tuple(scores)
    if order == "name":
        return tuple(sorted(scores, key=lambda score: score.series.casefold()))
    sign = -1.0 if context.higher_is_better else 1.0
    return tuple(sorted(scores, key=lambda s: float("inf") if s.estimate is None else sign * s.estimate))


class _ScoreFigure(Struct, frozen=True):
    """Figure of scores, in display order."""

    shown: tuple[Score, ...]
    scored: BenchmarkScores
    context: ScoreContext

    def draw(self, text: FigureText) -> Figure:
        """Draw a row for each score, under its group's heading, and a table of the numbers drawn."""
        ranked = _sort_scores(self.shown, "best", self.context)
        slots = colour_best([score.series for score in ranked], self.context.slots)
        several = len(self.scored.groups) > 1
        groups = {
            name: f"Group {group.rank}" for group in self.scored.groups for name in group.series if several
        }
        ranks = {rank.series: rank for rank in self.scored.ranks}
        differs = find_protocol_differences(self.context, dated=True)
        rows, cells = [], []
        for score in self.shown:
            rank = ranks.get(score.series)
            # The score with as many digits as in the table.
            value = format_score_estimate(score, self.context).partition(" [")[0]
            interval = format_interval(score.low, score.high, self.context)
            measured = dict(
                next((pairs for name, pairs in self.context.protocol if name == score.series), ())
            )
            tip = (
                score.series,
                value if score.estimate is None else f"{name_metric(score.metric, self.context)} {value}",
                f"{format_level(score.level)} CI {interval}" if interval else "",
                f"rank {format_rank(rank)}" if rank and rank.count > 1 else "",
                describe_counts([score]),
                score.reason,
                *(f"{label}: {measured.get(label) or 'not stated'}" for label in differs),
            )
            interval_ends, lines = (score.low, score.high), tuple(filter(None, tip))
            name, group = score.series, groups.get(score.series, "")
            rows.append(Row(name, slots[name], value, score.estimate, *interval_ends, lines, group=group))
            cells.append((score.series, value, interval, format_rank(rank) if rank else ""))
        level = f"{format_level(self.shown[0].level)} CI" if self.shown else "interval"
        metric = name_metric(self.shown[0].metric if self.shown else "mean", self.context)
        ends = [end for score in self.shown for end in (score.estimate, score.low, score.high)]
        axis = make_score_axis(ends, self.context, title=metric)
        table = Table(("series", metric if self.shown else "score", level, "rank"), tuple(cells))
        return draw_dot_plot(rows, axis, text, table=table, csv=write_score_csv(self.shown, self.scored))

    def write_subtitle(self) -> str:
        """Return metric, problems × samples, level and estimand in a few words."""
        first = self.shown[0]
        parts = [
            name_metric(first.metric, self.context),
            describe_counts(self.shown),
            f"{format_level(first.level)} CI for {first.estimand}" if first.estimand else "",
            "" if self.context.higher_is_better else "lower is better",
        ]
        return ", ".join(filter(None, parts))

    def write_summary(self) -> str:
        """Return a sentence on the best score and its test against the second."""
        ranked = _sort_scores(self.shown, "best", self.context)
        known = [score for score in ranked if score.estimate is not None]
        if not known:
            return "No series has a score."
        first = known[0]
        value = format_score_estimate(first, self.context)
        if len(known) == 1:
            over = (
                format_count(first.problems, "problem") if first.problems else "problems that are not known"
            )
            return f"{first.series} scores {value} on {over}."
        second = known[1]
        sureness = self.describe_sureness(first, second)
        follows = f"; {second.series} follows with {format_score_estimate(second, self.context)}{sureness}."
        best = "highest" if self.context.higher_is_better else "lowest"
        verdict = f"{write_verdict(self.scored.lead)}. "
        equal = [score.series for score in known if score.estimate == first.estimate]
        if len(equal) > 1:
            shared = f"{join_names(equal, most=MOST_NAMES)} share the {best} score"
            return f"{verdict}{shared}, {value}{sureness}."
        return f"{verdict}{first.series} has the {best} score, {value}{follows}"

    def describe_sureness(self, first: Score, second: Score) -> str:
        """Describe the paired comparison of the first two series."""
        pair = next((c for c in self.scored.comparisons if {c.a, c.b} == {first.series, second.series}), None)
        if pair is None or pair.adjusted_p is None:
            return ""
        pair = pair if pair.a == first.series else swap_sides(pair)
        size = format_difference(pair.difference or 0.0, self.context, half=half_width(pair))
        ends = format_interval(pair.low, pair.high, self.context, signed=True)
        adjusted = "adjusted " if pair.tested_together > 1 else ""
        numbers = f"{' '.join(filter(None, [size, ends]))}, {adjusted}{format_p_text(pair.adjusted_p)}"
        finding = "no difference is clear" if pair.verdict is Verdict.UNCLEAR else "the two differ"
        count = format_count(pair.shared, "problem")
        where = f"other samples of these {count}" if pair.estimand == THESE_PROBLEMS else count
        return f": on {where} {finding} ({numbers})"

    def write_caption(self) -> str:
        """Join the meaning of dots, lines and ranks, protocol, notes and source."""
        names = [score.series for score in self.shown]
        ways: dict[str, list[str]] = {}
        for score in self.shown:
            if score.low is not None:
                way = f"{describe_estimand(score)} ({describe_method(score.method)})"
                ways.setdefault(way, []).append(score.series)
        how = []
        if self.shown:
            level = format_level(self.shown[0].level)
            how += [self.describe_dots(), explain_metric(self.shown[0].metric)]
            # Several sentences if the intervals differ in method.
            how += [
                f"Line{f' of {join_names(those, most=MOST_NAMES)}' if len(ways) > 1 else ''}: "
                f"{level} CI for {way}."
                for way, those in ways.items()
            ] or ["No interval is known."]
            how.append(self.describe_runs())
        reasons = group_reasons((score.series, score.reason) for score in self.shown)
        mixed, shared = list_protocol_notes(self.context, names)
        how += [*reasons, self.describe_groups(), *shared]
        lower = "" if self.context.higher_is_better else "Lower is better."
        sentences = (lower, *mixed, *list_found_notes(self.scored.problems.notes, names))
        return join_caption(sentences, self.context, how=how)

    def describe_dots(self) -> str:
        """Describe what dots show, and what is unknown about totals that are used as reported."""
        metric = name_metric(self.shown[0].metric, self.context)
        if any(score.is_reported for score in self.shown):
            problems = format_range([score.problems for score in self.shown if score.problems], "problem")
            over = f" over {problems}" if problems else ""
            return f"Dot: {metric}{over}, as reported: the problems behind it are not known."
        averaged = ", runs averaged within each problem" if any(s.runs > 1 for s in self.shown) else ""
        counts = describe_counts(self.shown)
        over = f" over {counts}{averaged}" if counts else ""
        return f"Dot: {metric}{over}; every problem counts the same."

    def describe_groups(self) -> str:
        if len(self.shown) < 2:  # noqa: PLR2004 - one alone is in no group
            return ""
        if not self.scored.groups:
            return "No ranks: nothing was compared problem by problem."
        compared = self.scored.comparisons
        together = max((one.tested_together for one in compared), default=0)
        family = f", adjusted for {format_count(together, 'pair')} tested together" if together > 1 else ""
        if any(one.adjust == "fdr" for one in compared):
            family = f", {describe_adjustment(compared, 'pair')}"
        family += describe_family_blocks(compared)
        first = sum(rank.best == 1 for rank in self.scored.ranks)
        problems = format_count(max(score.problems for score in self.shown), "problem")
        top = f"{first} series may be first: these {problems} do not separate them. " if first > 1 else ""
        below = "Every series of a group is better than every one of the groups below. "
        more = f"{top}{below if len(self.scored.groups) > 1 else ''}"
        return (
            f"Ranks: those that the test of pairs leaves open (paired by problem{family}, p < 0.05). "
            f"{more}Intervals of two series may overlap although they differ."
        )

    def describe_runs(self) -> str:
        """Say what no interval is about where each series has one run."""
        single = all(score.runs == 1 and score.estimand == "problems like these" for score in self.shown)
        return "One run each: about these checkpoints, not about other seeds." if single else ""
