"""The ``run-scores`` block: a dot for each run, and the mean of each series with its t interval over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

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
    share_digits,
)
from reportgen.figures.style import pick_slots
from reportgen.figures.text import write_table_csv

if TYPE_CHECKING:
    from reportgen.core.comparisons import RunSpread
    from reportgen.core.model import Figure
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.score_blocks import RunsSettings


_RUN_COLUMNS = ("series", "run", "seed", "metric", "score", "problems")
_SPREAD_COLUMNS = (
    *("series", "metric", "level", "runs", "mean", "sd", "low", "high"),
    *("problems", "left_out", "reason"),
)


def draw_runs(
    block_id: str, settings: RunsSettings, spreads: tuple[RunSpread, ...], context: ScoreContext
) -> Stack:
    """Draw a row for each series with a dot for each run, and a table with the id ``<id>-table``."""
    context = share_digits(context, spreads)
    metric = name_metric(spreads[0].metric if spreads else settings.metric, context)
    title = settings.title or f"Spread of {metric} between runs on {context.benchmark}"
    level = format_level(spreads[0].level) if spreads else ""
    header = ("series", "runs", f"mean [{level} CI]", "SD between runs", "lowest run", "highest run")
    records = (
        (
            *(spread.series, spread.metric, spread.level, len(spread.runs), spread.mean, spread.sd),
            *(spread.low, spread.high, spread.problems, spread.left_out, spread.reason),
        )
        for spread in spreads
    )
    figure = _RunsFigure(spreads, context)
    table = ResultTable(
        id=f"{block_id}-table",
        title=title,
        header=(*header, "problems"),
        rows=tuple(figure.build_row(spread) for spread in spreads),
        caption="",
        csv=write_table_csv(_SPREAD_COLUMNS, records),
    )
    return Stack(block_id, title, "", (figure.draw(block_id, title), table), "")


class _RunsFigure(Struct, frozen=True):
    """Figure of runs, with a row for each series in order."""

    spreads: tuple[RunSpread, ...]
    context: ScoreContext

    def draw(self, figure_id: str, title: str) -> Figure:
        subtitle, summary = self.write_headline()
        text = FigureText(
            id=figure_id,
            kind="run-scores",
            title=title,
            subtitle=subtitle,
            caption=self.write_caption(),
            summary=summary,
            source=describe_source(self.context),
            numbers=self.collect_numbers(),
        )
        slots = pick_slots(tuple(spread.series for spread in self.spreads), self.context.slots)
        pairs = [(spread, run) for spread in self.spreads for run in spread.runs]
        scores = [format_score(run.score, self.context, half=half_width(spread)) for spread, run in pairs]
        rows = zip(pairs, scores, strict=True)
        cells = tuple((spread.series, run.run, run.seed or "", score) for (spread, run), score in rows)
        # Downloads are in the unit of the input.
        records = (
            (spread.series, run.run, run.seed, spread.metric, run.score, spread.problems)
            for spread, run in pairs
        )
        ends = [end for spread in self.spreads for end in (spread.mean, spread.low, spread.high)]
        named = name_metric(self.spreads[0].metric if self.spreads else "mean", self.context)
        return draw_dot_plot(
            [self.make_row(spread, slots[spread.series]) for spread in self.spreads],
            make_score_axis([*ends, *(run.score for _, run in pairs)], self.context, title=named),
            text,
            table=Table(("series", "run", "seed", named), cells),
            csv=write_table_csv(_RUN_COLUMNS, records),
        )

    def collect_numbers(self) -> dict[str, Any]:
        """Return the figure's entry in ``report.json``."""
        metric, level = (self.spreads[0].metric, self.spreads[0].level) if self.spreads else (None, None)
        series = [
            {"name": one.series, "runs": len(one.runs), "mean": one.mean, "low": one.low, "high": one.high}
            for one in self.spreads
        ]
        head = {"metric": metric, "level": level, "higher_is_better": self.context.higher_is_better}
        return head | {"series": series}

    def make_row(self, spread: RunSpread, slot: int | None) -> Row:
        """Make the row of a series: mean, interval, and runs below."""
        mean, ends = (
            _format_mean(spread, self.context),
            format_interval(spread.low, spread.high, self.context),
        )
        of = "mean of " if len(spread.runs) > 1 else ""
        tip = [
            spread.series,
            f"{of}{format_count(len(spread.runs), 'run')}: {mean}",
            f"{format_level(spread.level)} CI {ends}" if ends else "",
            "" if spread.sd is None else f"SD {format_difference(spread.sd, self.context, signed=False)}",
            format_count(spread.problems, "problem"),
            spread.reason,
        ]
        dots = []
        # A single run equals the mean, so it is drawn once.
        for run in spread.runs if len(spread.runs) > 1 else ():
            seed = "" if run.seed in {None, run.run} else f", seed {run.seed}"
            score = format_score(run.score, self.context, half=half_width(spread))
            dots.append(RowDot(run.score, (spread.series, f"run {run.run}{seed}: {score}")))
        lines = tuple(filter(None, tip))
        return Row(spread.series, slot, mean, spread.mean, spread.low, spread.high, lines, dots=tuple(dots))

    def build_row(self, spread: RunSpread) -> tuple[Cell, ...]:
        """Build the table row of a series: runs, mean and interval, SD, lowest and highest run."""
        interval = format_interval(spread.low, spread.high, self.context)
        mean = f"{_format_mean(spread, self.context)} {interval}".rstrip()
        scores = [run.score for run in spread.runs]
        ends = (min(scores), max(scores)) if scores else (None, None)
        return (
            Cell(spread.series),
            Cell(f"{len(scores):,}", float(len(scores))),
            Cell(mean, spread.mean, "missing" if spread.mean is None else ""),
            Cell("not known", None, "missing")
            if spread.sd is None
            else Cell(format_difference(spread.sd, self.context, signed=False), spread.sd),
            *(
                Cell("not known", None, "missing")
                if end is None
                else Cell(format_score(end, self.context, half=half_width(spread)), end)
                for end in ends
            ),
            Cell(f"{spread.problems:,}", float(spread.problems)),
        )

    def write_headline(self) -> tuple[str, str]:
        """Return metric, runs and level in short, and a sentence on the series with the largest spread."""
        if not self.spreads:
            return "", "No series has a run."
        counts = sorted({len(spread.runs) for spread in self.spreads})
        count = f"{format_count(counts[0], 'run')} of a series"
        if len(counts) > 1:
            count = f"{counts[0]} to {counts[-1]} runs of each series"
        interval = f"{format_level(self.spreads[0].level)} CI of the mean over runs"
        if all(spread.low is None for spread in self.spreads):
            interval = "no interval"
        lower = "" if self.context.higher_is_better else "lower is better"
        subtitle = ", ".join(
            filter(None, (name_metric(self.spreads[0].metric, self.context), count, interval, lower))
        )
        known = [(spread.sd, spread) for spread in self.spreads if spread.sd is not None]
        if not known:
            return subtitle, "With one run of each series, nothing can be said about how much runs vary."
        sd, widest = max(known, key=lambda pair: pair[0])
        runs = [run.score for run in widest.runs]
        ends = " to ".join(format_score(end, self.context) for end in (min(runs), max(runs)))
        reach = f"The {format_count(len(runs), 'run')} of {widest.series} range from {ends}"
        lead = f"{reach} (SD {format_difference(sd, self.context, signed=False)})"
        if len(known) > 1:
            lead += f", the widest spread of {format_count(len(known), 'series', 'series')} with several runs"
        return subtitle, f"{lead}."

    def write_caption(self) -> str:
        """Join the meaning of dots and lines, omissions, protocol and source."""
        by_count: dict[int, list[str]] = {}
        for spread in self.spreads:
            by_count.setdefault(len(spread.runs), []).append(spread.series)
        counts = [
            f"{format_count(n, 'run')} of {join_names(names, most=MOST_NAMES)}"
            for n, names in by_count.items()
        ]
        size = f"n: {'; '.join(counts)}." if counts else ""
        if len(by_count) == 1:
            size = f"n = {format_count(len(self.spreads[0].runs), 'run')} of each series."
        line = "Hollow dot: their mean, without an interval."
        if any(spread.low is not None for spread in self.spreads):
            line = (
                f"Large dot and line: their mean with its {format_level(self.spreads[0].level)} CI "
                "(Student's t over runs), for the mean of other runs like these on these problems; how much "
                "problems vary is not in it."
            )
        mixed, shared = list_protocol_notes(self.context, [spread.series for spread in self.spreads])
        sentences = [size, "" if self.context.higher_is_better else "Lower is better.", *mixed]
        how = [
            "Small dot: the score of one run, on the problems that every run of its series answered.",
            line,
            explain_metric(self.spreads[0].metric) if self.spreads else "",
            *group_reasons((spread.series, spread.reason) for spread in self.spreads),
            *(
                f"{spread.series}: {format_count(spread.left_out, 'problem')} that only some of its runs "
                "answered left out."
                for spread in self.spreads
                if spread.left_out
            ),
            *shared,
        ]
        return join_caption(sentences, self.context, how=how)


def _format_mean(spread: RunSpread, context: ScoreContext) -> str:
    if spread.mean is None:
        return "no score"
    return format_score(spread.mean, context, half=half_width(spread))
