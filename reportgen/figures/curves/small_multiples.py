"""Small multiples: a panel for each series of a curve, with the other series in grey behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.core.model import Panels, Table
from reportgen.core.words import format_count, lower_axis_title
from reportgen.figures.axis import format_value
from reportgen.figures.curves.bands import name_band
from reportgen.figures.curves.figure import (
    collect_numbers,
    join_plot_caption,
    write_caption,
    write_subtitle,
    write_summary,
)
from reportgen.figures.curves.key_results import (
    describe_pick,
    find_best,
    list_known_curves,
    rank_finals,
    read_out_estimate,
)
from reportgen.figures.curves.plotting import align_margins, make_plot, sort_curves
from reportgen.figures.live import draw_plot_figure, write_curves_csv
from reportgen.figures.plot import FigureText, describe_source, make_diagnostic

if TYPE_CHECKING:
    from reportgen.core.model import Curve, CurveSet, Figure
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec, SeriesLine

    _Line = TypeVar("_Line", Curve, SeriesLine)


FACET_HEIGHT = 200
"""Height of a panel in pixels, unless the author gives one."""
_MOST_PANELS = 24
_GREY = "Grey lines: the other series{}. All panels share both axes."


def draw_small_multiples(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Panels:
    """Draw a panel ``<id>-1`` and so on for each series, in the order of the block.

    ``spec`` is the plot of all series; its annotations of a series are in the panel of that series alone.
    Raises a ``ReportError`` if there is a single series, or too many.
    """
    known = tuple(curve for curve in curve_set.curves if np.isfinite(curve.values).any())
    curves = sort_curves(known, spec.order, lower_first=spec.higher_is_better is False)
    if not 1 < len(curves) <= _MOST_PANELS:
        message = f"facet: series draws 2 to {_MOST_PANELS} panels, and this figure has {len(curves)} series"
        raise ReportError(make_diagnostic(context, message, "Choose others with series:, or leave out facet"))
    specs = []
    for number, series in enumerate((curve.series for curve in curves), start=1):
        notes = {
            name: tuple(note for note in getattr(spec, name) if note.series in {None, series})
            for name in ("annotations", "marked")
        }
        own = {"id": f"{spec.id}-{number}", "title": series, "highlight": (series,), **notes}
        specs.append(replace(spec, kind="panel", **own))
    # Axes come from all series with their bands, so that they are the same in all panels.
    plots = align_margins(make_plot(curve_set, one, context) for one in specs)
    rows = zip(curves, plots, specs, strict=True)
    figures = tuple(_draw_panel(curve_set, *row, context) for row in rows)
    summary = write_summary(curve_set, plots[0], spec)
    grey = _GREY.format(", without their bands" if name_band(curve_set) else "")
    caption = join_plot_caption(plots[0], f"{summary} {grey} {write_caption(curve_set, spec, context)}")
    return Panels(spec.id, spec.title, caption, figures)


def _draw_panel(
    curve_set: CurveSet, curve: Curve, plot: Plot, spec: PlotSpec, context: DrawContext
) -> Figure:
    """Draw the panel of a series; table and file are about that series alone."""
    alone = replace(curve_set, curves=(curve,))
    # The final value of the series, and its best value.
    lowest = spec.higher_is_better is False
    (full,) = list_known_curves(alone)
    (end,), best = rank_finals([full], lowest=lowest), find_best(full, lowest=lowest)
    most = "lowest" if lowest else "highest"
    pick = describe_pick(alone, plot, most="best" if spec.higher_is_better is not None else most)
    readings = ((read_out_estimate(plot, one), format_value(plot.x, one.step)) for one in (end, best))
    last, top = (f"{value} at {lower_axis_title(spec.x_title)} {step}" for value, step in readings)
    summary = f"{last}, the {pick}." if end.step == best.step else f"{last}; {top}, {pick}."
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=write_subtitle(alone, spec) if curve.given else format_count(len(curve.runs), "run"),
        summary=summary,
        source=describe_source(context),
        numbers=collect_numbers(alone, spec),
        band=name_band(alone),
        of=spec.id.rpartition("-")[0],
    )
    lines = (line if line.name == curve.series else replace(_mute(line), look="plain") for line in plot.lines)
    plot = replace(plot, lines=tuple(lines))
    drawn = tuple(one if one is curve else _mute(one) for one in curve_set.curves)
    figure = draw_plot_figure(plot, replace(curve_set, curves=drawn), text, context)
    table, column = figure.table, figure.table.header.index(curve.series)
    rows = tuple((row[0], row[column]) for row in table.rows if row[column])
    return replace(
        figure,
        table_data=Table((table.header[0], curve.series), rows, table.note),
        csv=write_curves_csv(alone, context.full_names),
        legend=tuple(entry for entry in figure.legend if entry[0] == curve.series),
    )


def _mute(one: _Line) -> _Line:
    """Take band, runs and the line before smoothing from a curve or line."""
    unknown = np.full_like(one.values, np.nan)
    return replace(one, low=unknown, high=unknown, runs=(), raw=None)
