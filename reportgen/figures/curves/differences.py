"""Figures of differences from a baseline: a line for each other series, with 0 as the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from reportgen.core.words import join_names, lower_axis_title
from reportgen.figures.axis import format_value
from reportgen.figures.curves.bands import format_level
from reportgen.figures.curves.figure import collect_numbers, join_plot_caption
from reportgen.figures.curves.key_results import (
    describe_given_n,
    list_known_curves,
    rank_finals,
    read_out_estimate,
)
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import draw_plot_figure
from reportgen.figures.plot import FigureText, describe_source, join_caption
from reportgen.settings.block_parts import ReferenceLine

if TYPE_CHECKING:
    from reportgen.core.model import CurveSet, Figure
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec

_MOST_NAMES = 6


def draw_differences(curve_set: CurveSet, spec: PlotSpec, context: DrawContext, baseline: str) -> Figure:
    """Draw what ``subtract_baseline`` returns; of shares in percent, the differences are in points."""
    level = format_level(curve_set)
    known = any(np.isfinite(curve.low).any() for curve in curve_set.curves)
    interval = f"{level} CI" if known else ""
    minus = f"{spec.metric} \N{MINUS SIGN} {baseline}"
    factor, unit = (100.0, " (points)") if spec.percent else (1.0, "")
    drawn = (
        replace(one, values=one.values * factor, low=one.low * factor, high=one.high * factor)
        for one in curve_set.curves
    )
    zero = ReferenceLine(y=0.0, label=baseline)
    y_title = spec.y_title if spec.y_title != spec.metric else f"{minus}{unit}"
    spec = replace(spec, y_title=y_title, percent=False, references=(zero, *spec.references))
    shown = replace(curve_set, metric=f"{minus}{unit}", curves=tuple(drawn))
    plot = make_plot(shown, spec, context)
    n, lower = describe_given_n(curve_set.curves), spec.higher_is_better is False
    parts = (f"{minus}{unit}{n}", interval and f"band: {interval}", "lower is better" if lower else "")
    band = f"Band: pointwise {level} CI of the difference (Welch's t over runs)."
    why = "the runs are illustrative" if context.illustrative else "an interval needs at least 2 runs of both"
    absent = join_names(curve_set.absent, most=_MOST_NAMES)
    sentences = (
        f"Each line is a series minus {baseline}, at the steps inside both ranges{n}.",
        f"Without a step of {baseline}, and left out: {absent}." if absent else "",
        band if known else "",
        "" if known or curve_set.band == "none" else f"No band: {why}.",
    )
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=", ".join(filter(None, parts)),
        caption=join_plot_caption(plot, join_caption(sentences, context, how=["Not smoothed."])),
        summary=_write_summary(plot, shown, spec, baseline),
        source=describe_source(context),
        numbers=collect_numbers(shown, spec) | {"baseline": baseline},
        band=interval,
        comparable=False,
    )
    return draw_plot_figure(plot, shown, text, context)


def _write_summary(plot: Plot, curve_set: CurveSet, spec: PlotSpec, baseline: str) -> str:
    """Say how far each series is from the baseline where it ends."""
    ends = rank_finals(list_known_curves(curve_set), lowest=spec.higher_is_better is False)
    x, same = lower_axis_title(plot.x.title), len({end.step for end in ends}) == 1
    where = f" ({x} {format_value(plot.x, ends[0].step)})" if same else ""
    words = []
    for end in ends:
        sign = "+" if end.value > 0 else ""
        words.append(f"{end.series} {sign}{read_out_estimate(plot, end)}")
    return f"Minus {baseline}, at the end{where}: {join_names(words, most=_MOST_NAMES)}."
