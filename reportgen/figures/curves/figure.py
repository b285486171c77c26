"""The finished figure of aligned curves: picture, caption, table, CSV and specification."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.core.model import Figure, Panels, Table
from reportgen.core.words import format_count, join_names
from reportgen.figures.axis import make_reader
from reportgen.figures.csv_text import write_curves_csv
from reportgen.figures.curves.plotting import align_margins, get_unsmoothed, make_plot
from reportgen.figures.curves.standing import count_readings, find_best, get_lead, write_summary
from reportgen.figures.labels import describe_unplaced
from reportgen.figures.paths import make_line_paths
from reportgen.figures.picture import draw_file, draw_picture
from reportgen.figures.plot import FigureText, describe_source, get_shape
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names
from reportgen.figures.vega.live import build_payload, name_view, write_compact_json
from reportgen.figures.vega.specification import build_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec, SeriesLine
    from reportgen.settings.blocks import PanelsSettings


_BANDS = {
    "ci": "{level} confidence interval of the mean across runs (Student t), at each step by itself",
    "simultaneous": "the whole mean curve of runs like these lies in it with {level} confidence (sup-t)",
    "se": "standard error of the mean across runs, at each step by itself",
    "sd": "standard deviation across runs, at each step by itself",
    "range": "smallest to largest run, at each step by itself",
    "iqr": "middle half of the runs at each step by itself, with the median as the line",
}
_MOST_NAMES = 6


def name_band(curve_set: CurveSet) -> str:
    """A short name of the band for subtitles and tooltips; empty where none is drawn."""
    if curve_set.given_interval and not any(len(curve.runs) > 1 for curve in curve_set.curves):
        ends = curve_set.given_interval == "minimum and maximum"
        return "smallest to largest, as given" if ends else "interval as given"
    level = f"{curve_set.level * 100:g} %"
    names = {
        "ci": f"{level} CI",
        "simultaneous": f"{level} simultaneous",
        "se": "± standard error",
        "sd": "± SD",
        "range": "range",
        "iqr": "IQR",
    }
    has_band = any(np.isfinite(curve.low).any() for curve in curve_set.curves)
    return names.get(curve_set.band, "") if has_band else ""


def write_subtitle(curve_set: CurveSet, spec: PlotSpec) -> str:
    """Metric, centre, band and number of runs, in a few words."""
    centre = "median" if curve_set.band == "iqr" else "mean"
    counts = sorted({len(curve.runs) for curve in curve_set.curves})
    if all(curve.given for curve in curve_set.curves):
        runs = f"as given{describe_given_n(curve_set.curves)}"
    elif counts == [1]:
        runs = "1 run per series"
    elif len(counts) == 1:
        runs = f"{centre} of {counts[0]} runs per series"
    else:
        runs = f"{centre} of {counts[0]} to {counts[-1]} runs per series"
    band = name_band(curve_set)
    better = "lower is better" if spec.higher_is_better is False else ""
    return ", ".join(part for part in (spec.metric, runs, band and f"band: {band}", better) if part)


def write_caption(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> str:
    """The author's words, then n, band and level, smoothing, alignment, what was dropped, and source."""
    sentences = [
        spec.caption or "",
        _describe_runs(curve_set),
        _describe_band(curve_set),
        _describe_choice(curve_set),
        "Smoothed by a time-weighted exponential average, "
        f"{curve_set.smooth:g}; the faint line is not smoothed."
        if curve_set.smooth
        else "Not smoothed.",
        _describe_alignment(curve_set),
        *_describe_dropped(curve_set),
        *context.notes,
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_runs(curve_set: CurveSet) -> str:
    counts = {curve.series: len(curve.runs) for curve in curve_set.curves}
    distinct = set(counts.values())
    if all(curve.given for curve in curve_set.curves):
        return f"Each line is as given by the input{describe_given_n(curve_set.curves)}."
    if distinct == {1}:
        return "Each line is one run."
    centre = "median" if curve_set.band == "iqr" else "mean"
    if len(distinct) == 1:
        return f"Each line is the {centre} of n = {distinct.pop()} runs."
    listed = ", ".join(f"{series} {count}" for series, count in counts.items())
    return f"Each line is the {centre} of n runs: {listed}."


def _describe_band(curve_set: CurveSet) -> str:
    given = [curve.series for curve in curve_set.curves if curve.given]
    by_input = _describe_given_band(curve_set)
    if len(given) == len(curve_set.curves):
        return f"Band: {by_input}."
    if curve_set.band == "none":
        return f"Band of {join_names(given)}: {by_input}." if given else ""
    several = any(len(curve.runs) > 1 for curve in curve_set.curves)
    if not several and not given:
        return "No band: an interval needs at least 2 runs."
    words = _BANDS[curve_set.band].format(level=f"{curve_set.level * 100:g} %")
    sentences = [f"Band: {words}."] if several else []
    lone = [curve.series for curve in curve_set.curves if len(curve.runs) == 1 and not curve.given]
    sentences += [f"{join_names(lone)}: 1 run, no band."] if lone else []
    sentences += [f"{join_names(given)}: {by_input}."] if given else []
    sentences += [_describe_equal_runs(curve_set)] if several else []
    if any(len(set(curve.n.tolist())) > 1 and not curve.given for curve in curve_set.curves):
        sentences.append("Where fewer runs reach, the band is drawn from those that do.")
    if curve_set.given_ignored:
        sentences.append("Where a series has several runs, intervals that the input gives are not used.")
    return " ".join(filter(None, sentences))


def _describe_equal_runs(curve_set: CurveSet) -> str:
    """Where all runs are equal, and a band without width would look like certainty."""
    steps = [(curve.equal, curve.series) for curve in curve_set.curves if curve.equal]
    if not steps:
        return ""
    what = "an equal middle half of the runs" if curve_set.band == "iqr" else "equal readings in all runs"
    count = sum(number for number, _ in steps)
    if len(curve_set.curves) == 1 or len(steps) > _MOST_NAMES:
        where = format_count(count, "step")
    else:
        where = join_names([f"{format_count(number, 'step')} of {series}" for number, series in steps])
    return f"{where} {'has' if count == 1 else 'have'} {what}: no band there."


def _describe_choice(curve_set: CurveSet) -> str:
    if all(curve.extremes is None for curve in curve_set.curves):
        return ""
    level = f"{curve_set.level * 100:g} %"
    return f"The interval of the best value ({level}) allows for the choice of its step among all."


def _describe_given_band(curve_set: CurveSet) -> str:
    if curve_set.given_interval == "low and high":
        return "interval given by the input (low and high)"
    if curve_set.given_interval == "minimum and maximum":
        return "from the smallest to the largest of the values that a point stands for, as given by the input"
    level = f"{curve_set.level * 100:g} %"
    source = curve_set.given_interval
    return f"{level} confidence interval computed from the input's {source}, at each step by itself"


def describe_given_n(curves: Sequence[Curve]) -> str:
    """How many runs the input says are behind its own interval, where it says so."""
    counts = {int(n) for curve in curves for n in curve.n.tolist()}
    if max(counts) <= 1:
        return ""
    return f", n = {min(counts)}" if len(counts) == 1 else f", n from {min(counts)} to {max(counts)}"


def _describe_alignment(curve_set: CurveSet) -> str:
    if all(len(curve.runs) == 1 for curve in curve_set.curves):
        return ""
    if curve_set.exact:
        return "All runs share their steps."
    return "Steps differ between runs: each run is interpolated linearly within its own range."


def _describe_dropped(curve_set: CurveSet) -> list[str]:
    """What is not drawn as it was read, and the series and runs without a finite value."""
    sentences = []
    if curve_set.bins:
        sentences.append(f"Steps are averaged in {curve_set.bins} bins.")
    if curve_set.replaced:
        rows = "row was" if curve_set.replaced == 1 else "rows were"
        sentences.append(f"{curve_set.replaced:,} {rows} replaced by a later row of the same run and step.")
    if curve_set.dropped:
        values = "value was" if curve_set.dropped == 1 else "values were"
        sentences.append(f"{curve_set.dropped:,} missing or non-finite {values} left out.")
    names = [series if run is None else f"run {run} of {series}" for series, run in curve_set.without_values]
    if names:
        sentences.append(f"Without a finite value, and not drawn: {join_names(names, most=_MOST_NAMES)}.")
    return sentences


_MOST_TABLE_ROWS = 40


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
    plots = [make_plot(curves, spec, context) for curves, spec in zip(curve_sets, specs, strict=True)]
    rows = zip(align_margins(plots), curve_sets, specs, strict=True)
    figures = tuple(_draw_figure(plot, curves, spec, context) for plot, curves, spec in rows)
    captions = {figure.caption for figure in figures}
    words = [settings.caption or ""]
    if len(figures) > 1 and len(captions) == 1:
        # What holds for every panel is said once, below them.
        words += captions
        figures = tuple(replace(figure, caption="") for figure in figures)
    return Panels(block_id, settings.title or "", " ".join(filter(None, words)), figures)


def _draw_figure(plot: Plot, curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Figure:
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=write_subtitle(curve_set, spec),
        caption=" ".join(filter(None, (write_caption(curve_set, spec, context), describe_unplaced(plot)))),
        summary=write_summary(curve_set, plot, spec),
        source=describe_source(context),
        numbers=_collect_numbers(curve_set, spec),
        band=name_band(curve_set),
    )
    return draw_plot_figure(plot, curve_set, text, context, spec.highlight)


def draw_plot_figure(
    plot: Plot,
    curve_set: CurveSet,
    text: FigureText,
    context: DrawContext,
    highlight: tuple[str, ...] = (),
) -> Figure:
    """The finished figure of a plot: pictures, specification, live view, table and CSV of the same numbers.

    ``curve_set`` are the curves that the plot was made of, ``highlight`` the series that keep their colour.
    """
    how, names = text.subtitle, tuple(line.name for line in plot.lines)
    paths, csv = make_line_paths(plot), write_curves_csv(curve_set)
    chart_spec = context.get_chart_spec(get_shape(plot))
    spec = build_spec(plot, curve_set, csv, chart_spec, title=text.title, subtitle=how)
    columns = build_payload(plot, band_name=text.band) | {"view": name_view(chart_spec)}
    has = (" rg-has-ends" if plot.ends else "") + (" rg-has-symbols" if plot.symbols else "")
    return Figure(
        id=text.id,
        kind=text.kind,
        title=text.title,
        subtitle=how,
        caption=isolate_names(text.caption, names),
        summary=isolate_names(text.summary, names),
        inline_svg=draw_picture(plot, paths, labelled_by=f"{text.id}-title {text.id}-summary"),
        file_svg=draw_file(plot, paths, title=text.title, subtitle=how, source=text.source),
        table=_build_table(plot),
        csv=csv,
        spec=write_compact_json(spec) + "\n",
        view=chart_spec,
        payload=write_compact_json(columns),
        numbers=text.numbers,
        legend=tuple(pick_slots(names, context.slots, highlight).items()),
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
    """What ``report.json`` holds of a figure: how it was made, who leads, and each series' ends."""
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
            row["highest"] = _make_best_point(curve, lowest=False)
            row["lowest"] = _make_best_point(curve, lowest=True)
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
    # A smoothed line's band belongs to the smoothed line, not to this value.
    low, high = (float(end[index]) for end in (curve.low, curve.high))
    known = math.isfinite(low) and math.isfinite(high) and curve.raw is None
    return {
        "step": float(curve.steps[index]),
        "value": float(get_unsmoothed(curve)[index]),
        "low": low if known else None,
        "high": high if known else None,
        "n": int(curve.n[index]),
    }
