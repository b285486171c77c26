"""Aligned curves and the author's wishes to finished figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.figures.axis import reader
from reportgen.figures.line_paths import line_paths
from reportgen.figures.live import compact_json, payload, view_name
from reportgen.figures.mark_labels import without_words
from reportgen.figures.palette import drawn_slots
from reportgen.figures.picture import inline_svg
from reportgen.figures.plotting import plot_of, same_margins, unsmoothed
from reportgen.figures.poster import file_svg
from reportgen.figures.shape import shape_of
from reportgen.figures.specification import specification
from reportgen.figures.standing import best, lead, readings
from reportgen.figures.summary import summary
from reportgen.figures.tidy import csv_text
from reportgen.figures.wording import band_name, caption, isolated, source_words, subtitle
from reportgen.model import Figure, Panels, Table

if TYPE_CHECKING:
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Plot, SeriesLine
    from reportgen.figures.wanted import Context, Wanted
    from reportgen.model import Curve, CurveSet, FloatArray
    from reportgen.settings.blocks import PanelsSettings

_MOST_TABLE_ROWS = 40


@dataclass(frozen=True, slots=True)
class Told:
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


def curve_figure(curve_set: CurveSet, wanted: Wanted, context: Context) -> Figure:
    """One metric against the step, a line for each series."""
    return _figure(plot_of(curve_set, wanted, context), curve_set, wanted, context)


def panels(
    block_id: str,
    settings: PanelsSettings,
    curve_sets: tuple[CurveSet, ...],
    wanted: tuple[Wanted, ...],
    context: Context,
) -> Panels:
    """Several metrics of the same runs: one figure each, with axes that line up."""
    plots = [plot_of(curves, wish, context) for curves, wish in zip(curve_sets, wanted, strict=True)]
    rows = zip(same_margins(plots), curve_sets, wanted, strict=True)
    figures = tuple(_figure(plot, curves, wish, context) for plot, curves, wish in rows)
    captions = {figure.caption for figure in figures}
    words = [settings.caption or ""]
    if len(figures) > 1 and len(captions) == 1:
        # What holds for every panel is said once, below them.
        words += captions
        figures = tuple(replace(figure, caption="") for figure in figures)
    return Panels(block_id, settings.title or "", " ".join(filter(None, words)), figures)


def _figure(plot: Plot, curve_set: CurveSet, wanted: Wanted, context: Context) -> Figure:
    told = Told(
        subtitle=subtitle(curve_set, wanted),
        caption=" ".join(filter(None, (caption(curve_set, wanted, context), without_words(plot)))),
        summary=summary(curve_set, plot, wanted),
        band=band_name(curve_set),
        source=source_words(context),
        numbers=_numbers(curve_set, wanted),
    )
    return plot_figure(plot, curve_set, wanted, context, told)


def plot_figure(plot: Plot, curve_set: CurveSet, wanted: Wanted, context: Context, told: Told) -> Figure:
    """The finished figure of a plot: pictures, specification, live view, table and CSV of the same numbers.

    Args:
        plot: what is drawn.
        curve_set: the curves that it was made of, for the CSV.
        wanted: its id, kind and title, and which series stand out.
        context: palette slots, and the skeletons of charts.
        told: everything else that is said.
    """
    how = told.subtitle
    paths, csv = line_paths(plot), csv_text(curve_set)
    skeleton = context.skeleton_of(shape_of(plot))
    columns = payload(plot, band_name=told.band) | {"view": view_name(skeleton)}
    names = tuple(line.name for line in plot.lines)
    has = (" rg-has-ends" if plot.ends else "") + (" rg-has-symbols" if plot.symbols else "")
    return Figure(
        id=wanted.id,
        kind=wanted.kind,
        title=wanted.title,
        subtitle=how,
        caption=isolated(told.caption, names),
        summary=isolated(told.summary, names),
        inline_svg=inline_svg(plot, paths, labelled_by=f"{wanted.id}-title {wanted.id}-summary"),
        file_svg=file_svg(plot, paths, title=wanted.title, subtitle=how, source=told.source),
        table=_table(plot),
        csv=csv,
        spec=compact_json(specification(plot, curve_set, csv, skeleton, title=wanted.title, subtitle=how))
        + "\n",
        view=skeleton,
        payload=compact_json(columns),
        numbers=told.numbers,
        legend=tuple(drawn_slots(names, context.slots, wanted.highlight).items()),
        plot_class=f"rg-left-{plot.margins.left} rg-right-{plot.margins.right}{has}",
    )


def _table(plot: Plot) -> Table:
    """A row a step and a column a series; of many steps about 40 are shown, evenly picked."""
    steps = np.unique(np.concatenate([line.steps for line in plot.lines]))
    every = math.ceil(steps.size / _MOST_TABLE_ROWS)
    shown = steps[::every]
    if shown[-1] != steps[-1]:
        shown = np.append(shown, steps[-1])
    columns = [list(map(reader(plot.x), shown.tolist()))]
    columns += [_column(line, shown, plot.y) for line in plot.lines]
    note = f"One in {every} of {steps.size:,} steps; the CSV file has them all." if every > 1 else ""
    header = (plot.x.title, *(line.name for line in plot.lines))
    return Table(header, tuple(zip(*columns, strict=True)), note)


def _column(line: SeriesLine, shown: FloatArray, y: Axis) -> list[str]:
    """A series' values at the steps shown, each with its interval; empty where it has none."""
    read = reader(y)
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


def _numbers(curve_set: CurveSet, wanted: Wanted) -> dict[str, Any]:
    """What ``report.json`` keeps of a figure: how it was made, who leads, and each series' ends."""
    ahead = lead(curve_set, lowest=wanted.higher_is_better is False)
    return {
        "metric": curve_set.metric,
        "band": curve_set.band,
        "level": curve_set.level,
        "smooth": curve_set.smooth,
        "aligned_exactly": curve_set.exact,
        "bins": curve_set.bins,
        "replaced": curve_set.replaced,
        "dropped": curve_set.dropped,
        "higher_is_better": wanted.higher_is_better,
        "leader": ahead.series if ahead.tested else None,
        "series": [_series_numbers(curve, wanted) for curve in curve_set.curves],
    }


def _series_numbers(curve: Curve, wanted: Wanted) -> dict[str, Any]:
    known = np.flatnonzero(np.isfinite(unsmoothed(curve)))
    row: dict[str, Any] = {"name": curve.series, "runs": len(curve.runs), "points": int(known.size)}
    if known.size:
        row["first"] = _point(curve, int(known[0]))
        if wanted.higher_is_better is None:
            row["highest"], row["lowest"] = _picked(curve, lowest=False), _picked(curve, lowest=True)
        else:
            row["best"] = _picked(curve, lowest=not wanted.higher_is_better)
        row["last"] = _point(curve, int(known[-1]))
    return row


def _picked(curve: Curve, *, lowest: bool) -> dict[str, float | int | None]:
    """A point that was picked for its value, from ``of`` points."""
    one = best(curve, lowest=lowest)
    point = _point(curve, int(np.flatnonzero(curve.steps == one.step)[0]))
    known = math.isfinite(one.low) and math.isfinite(one.high)
    ends = {"low": one.low if known else None, "high": one.high if known else None}
    return point | ends | {"of": readings(curve)}


def _point(curve: Curve, index: int) -> dict[str, float | int | None]:
    # A smoothed line's band belongs to the smoothed line, not to the value told here.
    low, high = (float(end[index]) for end in (curve.low, curve.high))
    known = math.isfinite(low) and math.isfinite(high) and curve.raw is None
    return {
        "step": float(curve.steps[index]),
        "value": float(unsmoothed(curve)[index]),
        "low": low if known else None,
        "high": high if known else None,
        "n": int(curve.n[index]),
    }
