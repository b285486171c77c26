"""The ``sweep`` block: one value of each run against a setting, with the mean of the runs that share it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import write_verdict
from reportgen.core.model import Cell, CurveSet, Estimate, Figure, ResultTable, Stack, Table
from reportgen.core.words import choose_common_decimals, format_count, format_estimate, join_names
from reportgen.figures.curves.bands import name_band
from reportgen.figures.curves.marks import separate_lines
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import draw_plot_figure, write_curves_csv
from reportgen.figures.plot import (
    FigureText,
    PlotSpec,
    describe_source,
    join_caption,
    make_step_context,
)
from reportgen.figures.scatter.figure import draw_points
from reportgen.figures.scatter.fit import collect_fit, describe_fit
from reportgen.figures.scatter.words import Scatter, ScatterPoint, ScatterWords
from reportgen.figures.scores.dot_plot import Row, RowDot, draw_dot_plot
from reportgen.figures.style import fix_slots, pick_slots
from reportgen.figures.text import write_table_csv
from reportgen.figures.value_axis import WIDE, make_references, make_value_axis
from reportgen.settings.base import PALETTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.comparisons import Fit
    from reportgen.core.model import Lead
    from reportgen.figures.plot import ChartShape, SourceContext
    from reportgen.settings.score_blocks import SweepSettings


_MOST_NAMES, _SAME, _PAD = 6, 1e-12, 0.04


class SweepPoint(Struct, frozen=True):
    """The runs that share a setting: the setting as written and as a number, and one value of each run."""

    group: str  # the settings in words
    line: str  # settings other than x in words, or the metric
    text: str
    number: float | None
    estimate: Estimate
    values: tuple[float, ...]


class Sweep(Struct, frozen=True):
    """The points of a sweep in order, their curves if all settings are numbers, and the leader at the end.

    ``averaged`` says in the subtitle what each point is a mean of, ``interval`` what intervals are, and
    ``how`` are the sentences of the caption about both. ``test`` is how the best point was compared with all
    others, empty if it was not.
    """

    metric: str
    value: str | None  # ``final``, ``best`` or ``mean`` of each run; None for scores
    measured: str  # what each point measures, in words
    where: str  # where it was measured, with " on " before it; empty for a metric
    points: tuple[SweepPoint, ...]
    line_title: str  # the settings that make lines
    curve_set: CurveSet | None
    lead: Lead
    higher_is_better: bool | None
    percent: bool
    averaged: str
    interval: str
    how: tuple[str, ...]
    test: str
    fit: Fit | None = None  # through the points

    @property
    def has_runs(self) -> bool:
        """Whether a point is the mean of several runs."""
        return any(len(point.values) > 1 for point in self.points)

    def name_colour(self, point: SweepPoint) -> str:
        """Return what gives a point its colour: its line, or the group where all are on one line of words."""
        one_line = len({point.line for point in self.points}) == 1
        return point.group if one_line and self.curve_set is None else point.line


def draw_sweep(
    block_id: str,
    settings: SweepSettings,
    sweep: Sweep,
    context: SourceContext,
    get_chart: Callable[[ChartShape], str],
) -> Stack:
    """Draw a sweep over numbers as lines, over words or as bars in rows, and a table ``<id>-table``."""
    words = _SweepWords(settings, sweep, context)
    text = FigureText(
        id=block_id,
        kind="sweep",
        title=words.title,
        subtitle=words.write_subtitle(),
        summary=words.write_summary(),
        caption=words.write_caption(),
        source=describe_source(context),
        numbers=words.collect_numbers(),
        band=name_band(sweep.curve_set) if sweep.curve_set else "",
        of_steps=False,
    )
    lines = sweep.curve_set if settings.mark == "dot" else None
    if sweep.fit:
        figure = _draw_fit(words, text)
    else:
        figure = _draw_lines(lines, words, text, get_chart) if lines else _draw_rows(words, text)
    return Stack(block_id, words.title, "", (figure, words.build_table(f"{block_id}-table")), "")


class _SweepWords(Struct, frozen=True, dict=True):
    """Texts and tables of a sweep."""

    settings: SweepSettings
    sweep: Sweep
    context: SourceContext

    @cached_property
    def decimals(self) -> int | None:
        """The decimals of all points."""
        estimates = [point.estimate for point in self.sweep.points]
        return choose_common_decimals(estimates, percent=self.sweep.percent)

    def write(self, estimate: Estimate) -> str:
        """Write an estimate as the block says, with the digits of all points."""
        return format_estimate(estimate, percent=self.sweep.percent, decimals=self.decimals)

    def write_run(self, value: float) -> str:
        """Write the value of one run."""
        return self.write(Estimate(value, None, None, 1))

    @property
    def title(self) -> str:
        measured = f"{self.sweep.measured}{self.sweep.where}"
        return self.settings.title or f"{measured[:1].upper()}{measured[1:]} by {self.settings.x}"

    def choose_slots(self) -> dict[str, int | None]:
        """Return the palette slot of each line or group; those that the block gives first."""
        names = tuple(dict.fromkeys(map(self.sweep.name_colour, self.sweep.points)))
        fixed = {name: PALETTE.index(colour) for name, colour in self.settings.colours.items()}
        return pick_slots(names, fix_slots(self.context.slots, names, fixed))

    def write_subtitle(self) -> str:
        """Return what each point is."""
        better = "lower is better" if self.sweep.higher_is_better is False else ""
        measured = f"{self.sweep.measured}{self.sweep.where}"
        parts = (measured, self.sweep.averaged, self.sweep.interval, better)
        return ", ".join(filter(None, parts))

    def write_summary(self) -> str:
        """Name the best value of the setting, and whether a test tells it from all others."""
        lowest, points = self.sweep.higher_is_better is False, self.sweep.points
        first = (min if lowest else max)(points, key=lambda point: point.estimate.value)
        word = "" if self.sweep.value == "best" else "lowest " if lowest else "highest "
        what = f"{word}{self.sweep.measured}{self.sweep.where}"
        best, count = first.estimate.value, format_count(len(points), "value")
        equal = [one.group for one in points if math.isclose(one.estimate.value, best, rel_tol=_SAME)]
        said = f"The {what} is {self.write(first.estimate)}, with {first.group}, of {count} compared."
        if len(equal) > 1:
            names = join_names(equal, most=_MOST_NAMES)
            said = f"{names} share the {what}, {self.write_run(best)}, of {count} compared."
        if not self.sweep.test or len(points) == 1:
            return said
        verdict = write_verdict(self.sweep.lead, has_direction=self.sweep.higher_is_better is not None)
        return f"{said} {verdict}{f' by {self.sweep.test}' if self.sweep.lead.tested else ''}."

    def write_caption(self) -> str:
        """Join what points and intervals are, and the source."""
        equation, method = self.describe_fit()
        return join_caption((equation, *self.sweep.how), self.context, how=[method])

    def describe_fit(self) -> tuple[str, str]:
        """Return the equation of the fit and its method, both empty without one."""
        if self.sweep.fit is None:
            return "", ""
        return describe_fit(self.sweep.fit, self.settings.level, units="settings", percent=self.sweep.percent)

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``."""
        rows = [
            {
                "name": point.group,
                "x": point.text if point.number is None else point.number,
                "mean": point.estimate.value,
                "low": point.estimate.low,
                "high": point.estimate.high,
                "runs": list(point.values),
            }
            for point in self.sweep.points
        ]
        return {
            "metric": self.sweep.metric,
            "value": self.sweep.value,
            "x": self.settings.x,
            "points": rows,
        } | ({"fit": collect_fit(self.sweep.fit)} if self.sweep.fit else {})

    def build_table(self, table_id: str) -> ResultTable:
        """Build the table of settings and results, a row for each point."""
        lines, runs = len({point.line for point in self.sweep.points}) > 1, self.sweep.has_runs
        header = (self.settings.x, *([self.sweep.line_title] if lines else []), "runs", self.sweep.measured)
        header += ("lowest run", "highest run") if runs else ()
        rows, records = [], []
        for point in self.sweep.points:
            estimate, ends = point.estimate, (min(point.values), max(point.values))
            cells = [Cell(point.text, point.number)]
            cells += [Cell(point.line, None)] if lines else []
            cells += [Cell(str(len(point.values)), float(len(point.values)))]
            cells += [Cell(self.write(estimate), estimate.value)]
            cells += [Cell(self.write_run(end), end) for end in ends if runs]
            rows.append(tuple(cells))
            values = (estimate.value, estimate.low, estimate.high)
            records.append((point.text, point.line, len(point.values), *values, *ends))
        columns = (self.settings.x, self.sweep.line_title, "runs", "mean", "low", "high", "lowest", "highest")
        return ResultTable(
            id=table_id,
            title=self.title,
            header=header,
            rows=tuple(rows),
            caption="",
            csv=write_table_csv(columns, records),
        )


def _draw_lines(
    curve_set: CurveSet, words: _SweepWords, text: FigureText, get_chart: Callable[[ChartShape], str]
) -> Figure:
    """Draw means and intervals at the numbers, with a dot for each run."""
    settings, sweep = words.settings, words.sweep
    numbers = [float(step) for curve in curve_set.curves for step in curve.steps]
    wide = min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE
    scale = settings.x_scale or ("log" if wide else "linear")
    spec = PlotSpec(
        id=text.id,
        kind=text.kind,
        title=text.title,
        metric=sweep.measured,
        x_title=settings.x_title or settings.x,
        y_title=settings.y_title or sweep.measured,
        x_domain=settings.x_domain,
        y_domain=settings.y_domain,
        y_scale=settings.y_scale,
        references=settings.reference,
        height=settings.height,
        higher_is_better=sweep.higher_is_better,
        x_scale=scale,
        runs=sweep.has_runs,
        whiskers=True,
        percent=sweep.percent,
    )
    slots = {name: slot for name, slot in words.choose_slots().items() if slot is not None}
    around = make_step_context(
        replace(words.context, slots=slots),
        settings.x,
        get_chart,
        higher_is_better=sweep.higher_is_better,
    )
    plot = separate_lines(make_plot(curve_set, spec, around))
    return draw_plot_figure(plot, curve_set, text, around)


def _draw_fit(words: _SweepWords, text: FigureText) -> Figure:
    """Draw means, intervals and runs at the numbers, with the line that is fitted to the means."""
    settings, sweep = words.settings, words.sweep
    points = [
        ScatterPoint(
            series=point.group,
            x=Estimate(point.number or 0.0, None, None, point.estimate.n),
            y=point.estimate,
            runs=tuple((str(n), point.number or 0.0, value) for n, value in enumerate(point.values, start=1))
            if len(point.values) > 1
            else (),
            colour=sweep.name_colour(point),
        )
        for point in sweep.points
    ]
    scatter = Scatter(
        x_title=settings.x,
        y_title=sweep.measured,
        points=tuple(points),
        ways=(None, sweep.higher_is_better),
        front=None,
        units="runs" if sweep.value else "problems",
        level=settings.level,
        percent=sweep.percent,
        how=(),
        fit=sweep.fit,
        names=False,
    )
    slots = {name: slot for name, slot in words.choose_slots().items() if slot is not None}
    rows = tuple((point.text, words.write(point.estimate)) for point in sweep.points)
    shown = ScatterWords(settings, scatter, replace(words.context, slots=slots))
    csv = write_curves_csv(sweep.curve_set) if sweep.curve_set else ""
    return draw_points(text, shown, table=Table((settings.x, sweep.measured), rows), csv=csv)


def _draw_rows(words: _SweepWords, text: FigureText) -> Figure:
    """Draw a row for each word, with a dot for each run."""
    settings, sweep, points = words.settings, words.sweep, words.sweep.points
    ends = [end for one in points for end in (one.estimate.low, one.estimate.high) if end is not None]
    ends += [value for point in points for value in point.values]
    is_bar = words.settings.mark == "bar"
    ends += [0.0] if is_bar else []
    title = settings.y_title or sweep.measured
    axis = make_value_axis(ends, title, settings, "y", words.context, pad=_PAD, percent=sweep.percent)
    slots = words.choose_slots()
    rows = []
    for point in points:
        estimate, value = point.estimate, words.write(point.estimate)
        dots = (RowDot(one, (point.group, words.write_run(one))) for one in point.values)
        row = Row(
            name=point.group,
            slot=slots.get(sweep.name_colour(point)),
            text=value,
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            tip=(point.group, value, format_count(len(point.values), "run")),
            bar=is_bar,
            dots=tuple(dots) if len(point.values) > 1 else (),
        )
        rows.append(row)
    table = Table((words.settings.x, sweep.measured), tuple((row.name, row.text) for row in rows))
    records = ((point.text, point.line, value) for point in points for value in point.values)
    csv = write_table_csv((words.settings.x, sweep.line_title, sweep.measured), records)
    references = make_references(settings.reference)
    return draw_dot_plot(rows, axis, text, table=table, csv=csv, references=references)
