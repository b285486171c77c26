"""Aligned curves and the author's wishes to finished figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.figures.axis import make_reader
from reportgen.figures.line_paths import make_line_paths
from reportgen.figures.live import build_payload, name_view, write_compact_json
from reportgen.figures.mark_labels import describe_unplaced
from reportgen.figures.palette import pick_slots
from reportgen.figures.picture import draw_picture
from reportgen.figures.plotting import align_margins, get_unsmoothed, make_plot
from reportgen.figures.poster import draw_file
from reportgen.figures.shape import get_shape
from reportgen.figures.specification import build_spec
from reportgen.figures.standing import count_readings, find_best, get_lead
from reportgen.figures.summary import write_summary
from reportgen.figures.tidy import write_curves_csv
from reportgen.figures.wording import (
    describe_plot_source,
    isolate_names,
    name_band,
    write_caption,
    write_subtitle,
)
from reportgen.model import Figure, Panels, Table

if TYPE_CHECKING:
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Plot, SeriesLine
    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Curve, CurveSet, FloatArray
    from reportgen.settings.blocks import PanelsSettings

_MOST_TABLE_ROWS = 40


@dataclass(frozen=True, slots=True)
class FigureText:
    """What is told of a plot beside the drawing of it.

    Attributes:
        subtitle, caption, summary: finished words.
        band: a short name of the band; empty where there is none.
        source: where the numbers come from.
        numbers: what ``report.json`` keeps.
    """

    subtitle: str
    caption: str
    summary: str
    band: str
    source: str
    numbers: dict[str, Any]


def draw_curve(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Figure:
    """One metric against the step, a line for each series."""
    return _draw_figure(make_plot(curve_set, spec, context), curve_set, spec, context)


def draw_panels(
    block_id: str,
    settings: PanelsSettings,
    curve_sets: tuple[CurveSet, ...],
    specs: tuple[PlotSpec, ...],
    context: DrawContext,
) -> Panels:
    """Several metrics of the same runs: one figure each, with axes that line up."""
    plots = [make_plot(curves, wish, context) for curves, wish in zip(curve_sets, specs, strict=True)]
    rows = zip(align_margins(plots), curve_sets, specs, strict=True)
    figures = tuple(_draw_figure(plot, curves, wish, context) for plot, curves, wish in rows)
    captions = {figure.caption for figure in figures}
    words = [settings.caption or ""]
    if len(figures) > 1 and len(captions) == 1:
        # What holds for every panel is said once, below them.
        words += captions
        figures = tuple(replace(figure, caption="") for figure in figures)
    return Panels(block_id, settings.title or "", " ".join(filter(None, words)), figures)


def _draw_figure(plot: Plot, curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Figure:
    text = FigureText(
        subtitle=write_subtitle(curve_set, spec),
        caption=" ".join(filter(None, (write_caption(curve_set, spec, context), describe_unplaced(plot)))),
        summary=write_summary(curve_set, plot, spec),
        band=name_band(curve_set),
        source=describe_plot_source(context),
        numbers=_collect_numbers(curve_set, spec),
    )
    return draw_plot_figure(plot, curve_set, spec, context, text)


def draw_plot_figure(
    plot: Plot, curve_set: CurveSet, spec: PlotSpec, context: DrawContext, text: FigureText
) -> Figure:
    """The finished figure of a plot: pictures, specification, live view, table and CSV of the same numbers.

    Args:
        plot: what is drawn.
        curve_set: the curves that it was made of, for the CSV.
        spec: its id, kind and title, and which series stand out.
        context: palette slots, and the skeletons of charts.
        text: everything else that is said.
    """
    how = text.subtitle
    paths, csv = make_line_paths(plot), write_curves_csv(curve_set)
    chart_spec = context.get_chart_spec(get_shape(plot))
    columns = build_payload(plot, band_name=text.band) | {"view": name_view(chart_spec)}
    names = tuple(line.name for line in plot.lines)
    has = (" rg-has-ends" if plot.ends else "") + (" rg-has-symbols" if plot.symbols else "")
    return Figure(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=how,
        caption=isolate_names(text.caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=draw_picture(plot, paths, labelled_by=f"{spec.id}-title {spec.id}-summary"),
        file_svg=draw_file(plot, paths, title=spec.title, subtitle=how, source=text.source),
        table=_build_table(plot),
        csv=csv,
        spec=write_compact_json(build_spec(plot, curve_set, csv, chart_spec, title=spec.title, subtitle=how))
        + "\n",
        view=chart_spec,
        payload=write_compact_json(columns),
        numbers=text.numbers,
        legend=tuple(pick_slots(names, context.slots, spec.highlight).items()),
        plot_class=f"rg-left-{plot.margins.left} rg-right-{plot.margins.right}{has}",
    )


def _build_table(plot: Plot) -> Table:
    """A row a step and a column a series; of many steps about 40 are shown, evenly picked."""
    steps = np.unique(np.concatenate([line.steps for line in plot.lines]))
    every = math.ceil(steps.size / _MOST_TABLE_ROWS)
    shown = steps[::every]
    if shown[-1] != steps[-1]:
        shown = np.append(shown, steps[-1])
    columns = [list(map(make_reader(plot.x), shown.tolist()))]
    columns += [_format_column(line, shown, plot.y) for line in plot.lines]
    note = f"One in {every} of {steps.size:,} steps; the CSV file has them all." if every > 1 else ""
    header = (plot.x.title, *(line.name for line in plot.lines))
    return Table(header, tuple(zip(*columns, strict=True)), note)


def _format_column(line: SeriesLine, shown: FloatArray, y: Axis) -> list[str]:
    """A series' values at the steps shown, each with its interval; empty where it has none."""
    read = make_reader(y)
    place = np.searchsorted(line.steps, shown).clip(max=line.steps.size - 1)
    there = line.steps[place] == shown
    columns = (line.values[place].tolist(), line.low[place].tolist(), line.high[place].tolist())
    cells = []
    for here, centre, low, high in zip(there.tolist(), *columns, strict=True):
        if not here or not math.isfinite(centre):
            cells.append("")
        elif math.isfinite(low):
            cells.append(f"{read(centre)}{y.unit} [{read(low)}, {read(high)}]")
        else:
            cells.append(f"{read(centre)}{y.unit}")
    return cells


def _collect_numbers(curve_set: CurveSet, spec: PlotSpec) -> dict[str, Any]:
    """What ``report.json`` keeps of a figure: how it was made, who leads, and each series' ends."""
    ahead = get_lead(curve_set, lowest=spec.higher_is_better is False)
    return {
        "metric": curve_set.metric,
        "band": curve_set.band,
        "level": curve_set.level,
        "smooth": curve_set.smooth,
        "aligned_exactly": curve_set.exact,
        "bins": curve_set.bins,
        "replaced": curve_set.replaced,
        "dropped": curve_set.dropped,
        "higher_is_better": spec.higher_is_better,
        "leader": ahead.series if ahead.tested else None,
        "series": [_summarize_series(curve, spec) for curve in curve_set.curves],
    }


def _summarize_series(curve: Curve, spec: PlotSpec) -> dict[str, Any]:
    known = np.flatnonzero(np.isfinite(get_unsmoothed(curve)))
    row: dict[str, Any] = {"name": curve.series, "runs": len(curve.runs), "points": int(known.size)}
    if known.size:
        row["first"] = _make_point(curve, int(known[0]))
        if spec.higher_is_better is None:
            row["highest"], row["lowest"] = (
                _make_best_point(curve, lowest=False),
                _make_best_point(curve, lowest=True),
            )
        else:
            row["best"] = _make_best_point(curve, lowest=not spec.higher_is_better)
        row["last"] = _make_point(curve, int(known[-1]))
    return row


def _make_best_point(curve: Curve, *, lowest: bool) -> dict[str, float | int | None]:
    """A point that was picked for its value, from ``of`` points."""
    one = find_best(curve, lowest=lowest)
    point = _make_point(curve, int(np.flatnonzero(curve.steps == one.step)[0]))
    known = math.isfinite(one.low) and math.isfinite(one.high)
    ends = {"low": one.low if known else None, "high": one.high if known else None}
    return point | ends | {"of": count_readings(curve)}


def _make_point(curve: Curve, index: int) -> dict[str, float | int | None]:
    # A smoothed line's band belongs to the smoothed line, not to the value told here.
    low, high = (float(end[index]) for end in (curve.low, curve.high))
    known = math.isfinite(low) and math.isfinite(high) and curve.raw is None
    return {
        "step": float(curve.steps[index]),
        "value": float(get_unsmoothed(curve)[index]),
        "low": low if known else None,
        "high": high if known else None,
        "n": int(curve.n[index]),
    }
