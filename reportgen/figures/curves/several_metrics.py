"""Lines named after more than their series: colour by series or by a setting, dash by metric."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.core.model import CurveSet, Lead, LineKey
from reportgen.core.words import join_names, quote_names, suggest_name
from reportgen.figures.curves.bands import name_band
from reportgen.figures.curves.figure import (
    collect_numbers,
    join_panels,
    join_plot_caption,
    write_caption,
    write_subtitle,
    write_summary,
)
from reportgen.figures.curves.key_results import get_lead
from reportgen.figures.curves.plotting import align_margins, make_plot
from reportgen.figures.live import draw_plot_figure
from reportgen.figures.plot import FigureText, describe_source, make_diagnostic
from reportgen.figures.style import DASH_WORDS, DASHES, SHAPE_WORDS
from reportgen.figures.text import name_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reportgen.core.model import Figure, Panels
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec
    from reportgen.settings.blocks import PanelsSettings


_PARTS = re.compile(r"[/_.\s-]+")
_UNIT = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_WAYS = {True: "higher", False: "lower"}
_LONGEST_TITLE = 40
_NO_LEAD = Lead(None, tested=False)


def merge_curve_sets(curve_sets: Sequence[CurveSet], colours: Mapping[str, str]) -> CurveSet:
    """Put the curves of several metrics into one set, each with what it stands for.

    ``colours`` has what gives each series its colour, if that is not the series itself. Tests between curves
    of several metrics would compare different things, so these have no leader.
    """
    names = sorted(list_series(curve_sets), key=[*colours, *list_series(curve_sets)].index)
    alone, several = len(names) == 1, len(curve_sets) > 1
    used: Counter[str] = Counter()
    curves = []
    for name in names:
        colour = colours.get(name, name)
        for number, one in enumerate(curve_sets):
            for curve in (curve for curve in one.curves if curve.series == name):
                line = name_line(name, one.metric, alone=alone) if several else name
                line = line if colour in name else f"{line} · {colour}"
                dash = number if several else used[colour] % len(DASHES)
                named = {"series": line, "key": LineKey(name, one.metric, colour, dash)}
                every = curve.every_step and replace(curve.every_step, **named)
                curves.append(replace(curve, every_step=every, **named))
        used[colour] += 1
    first = curve_sets[0]
    return CurveSet(
        metric=join_names([one.metric for one in curve_sets]),
        curves=tuple(curves),
        band=first.band,
        level=first.level,
        smooth=first.smooth,
        exact=all(one.exact for one in curve_sets),
        replaced=sum(one.replaced for one in curve_sets),
        dropped=sum(one.dropped for one in curve_sets),
        bins=next((one.bins for one in curve_sets if one.bins), None),
        given_interval=next((one.given_interval for one in curve_sets if one.given_interval), None),
        empty=sum(one.empty for one in curve_sets),
        given_ignored=any(one.given_ignored for one in curve_sets),
        without_values=tuple(
            (name_line(series, one.metric, alone=alone), run)
            for one in curve_sets
            for series, run in one.without_values
        )
        if several
        else first.without_values,
        leads=(_NO_LEAD, _NO_LEAD) if several else first.leads,
    )


def list_series(curve_sets: Sequence[CurveSet]) -> tuple[str, ...]:
    """Return the series of several metrics, in order of first appearance."""
    return tuple(dict.fromkeys(curve.series for one in curve_sets for curve in one.curves))


def check_axes(
    directions: Mapping[str, bool | None], right: Collection[str], context: DrawContext
) -> tuple[bool | None, bool | None]:
    """Return the directions that the metrics of the left and of the right y axis share.

    ``directions`` are those of all metrics, ``right`` the metrics of the right axis. Raises a
    ``ReportError`` if there are too many metrics, one of the right axis is unknown, the left axis has
    none, or metrics do not fit on their axis.
    """
    if len(directions) > len(DASHES):
        said = f"one plot shows {len(DASHES)} metrics at most, and these are {len(directions)}"
        raise ReportError(make_diagnostic(context, said, "Write a panels block, or name fewer"))
    if unknown := [name for name in right if name not in directions]:
        problems = (f'axis names "{name}", which is not a metric of this figure' for name in unknown)
        steps = (f"{suggest_name(name, directions)}It has {quote_names([*directions])}" for name in unknown)
        raise ReportError(*(make_diagnostic(context, *pair) for pair in zip(problems, steps, strict=True)))
    if right and len(right) == len(directions):
        said = "axis puts every metric on the right y axis, and none is left for the left one"
        raise ReportError(
            make_diagnostic(context, said, "Leave out axis, or the metrics that stay at the left")
        )
    left, other = (
        {name: way for name, way in directions.items() if (name in right) is is_right}
        for is_right in (False, True)
    )
    step = "Draw them side by side in a panels block"
    if not right:
        own = f'axis: {{"{[*directions][-1]}": right}}'
        step += f", since where lines on two y axes cross means nothing, or write {own}"
    return _check_one_axis(left, step, context), _check_one_axis(other, step, context)


def _check_one_axis(directions: Mapping[str, bool | None], step: str, context: DrawContext) -> bool | None:
    """Return the direction that the metrics share; raise a ``ReportError`` unless they fit on one y axis."""
    units = {metric: match[1] if (match := _UNIT.search(metric)) else "" for metric in directions}
    if len(Counter(units.values())) > 1:
        said = ", ".join(f'"{name}" in {unit or "no unit"}' for name, unit in units.items())
        raise ReportError(make_diagnostic(context, f"metrics of different units on one y axis: {said}", step))
    ways = {way: name for name, way in directions.items() if way is not None}
    if len(ways) > 1:
        said = " and ".join(f'of "{name}" {_WAYS[way]} is better' for way, name in ways.items())
        raise ReportError(make_diagnostic(context, f"metrics that do not fit on one y axis: {said}", step))
    return next(iter(ways)) if ways and None not in directions.values() else None


def name_y_axis(metrics: Sequence[str]) -> str:
    """Return a title for the y axis of several metrics: what their names share at the end, or their names."""
    if len(metrics) == 1:
        return metrics[0]
    parts = [[part for part in _PARTS.split(metric) if part] for metric in metrics]
    shared: list[str] = []
    for ends in zip(*(reversed(one) for one in parts), strict=False):
        if len(set(ends)) > 1:
            break
        shared.insert(0, ends[0])
    named = " ".join(shared) or ", ".join(metrics)
    return named if len(named) <= _LONGEST_TITLE else "value"


def draw_keyed_lines(
    curve_sets: Sequence[CurveSet],
    spec: PlotSpec,
    context: DrawContext,
    colours: Mapping[str, str],
    colour: str,
    *,
    plot: Plot | None = None,
) -> Figure:
    """Draw several metrics against the step in one plot, or one whose lines a setting colours.

    ``spec`` is about all metrics together; ``colours`` are as in ``merge_curve_sets``, by the setting
    ``colour``. A panel has its ``plot``.
    """
    merged = merge_curve_sets(curve_sets, colours)
    plot = plot or make_plot(merged, spec, context)
    specs = []
    for one in curve_sets:
        right = spec.right if spec.right and one.metric in spec.right.metrics else None
        way = (right or spec).higher_is_better  # a metric has the direction of its axis
        specs.append(replace(spec, metric=one.metric, y_title=one.metric, higher_is_better=way, right=right))
    spec = _join_axes(spec)
    leads = {
        one.metric: get_lead(one, lowest=own.higher_is_better is False)
        for one, own in zip(curve_sets, specs, strict=True)
    }
    leaders = {metric: lead.series if lead.tested else None for metric, lead in leads.items()}
    keys = [(curve.series, curve.key) for curve in merged.curves if curve.key]
    lines = [
        {"name": name, "series": key.series, "metric": key.metric, "colour": key.colour} for name, key in keys
    ]
    measured = _describe_lines(specs, merged, plot, colour)
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=write_subtitle(merged, replace(spec, metric=measured, y_title=measured)),
        caption=join_plot_caption(plot, write_caption(merged, spec, context)),
        summary=_write_summaries(curve_sets, specs, plot),
        source=describe_source(context),
        numbers=collect_numbers(merged, spec) | {"lines": lines, "leaders": leaders},
        band=name_band(merged),
    )
    return draw_plot_figure(plot, merged, text, context)


def draw_coloured_panels(
    block_id: str,
    settings: PanelsSettings,
    curve_sets: Sequence[CurveSet],
    specs: Sequence[PlotSpec],
    context: DrawContext,
    *,
    colours: Mapping[str, str],
) -> Panels:
    """Draw several metrics side by side, with lines that a setting colours."""
    colour = settings.colour or ""
    pairs = list(zip(curve_sets, specs, strict=True))
    plots = [make_plot(merge_curve_sets([one], colours), spec, context) for one, spec in pairs]
    figures = [
        draw_keyed_lines([one], spec, context, colours, colour, plot=plot)
        for (one, spec), plot in zip(pairs, align_margins(plots), strict=True)
    ]
    return join_panels(block_id, settings, figures)


def _join_axes(spec: PlotSpec) -> PlotSpec:
    """Make the plot of both axes: its caption says which metrics are on the right one."""
    if spec.right is None:
        return spec
    shared = spec.higher_is_better if spec.higher_is_better is spec.right.higher_is_better else None
    said = f"Right axis: {join_names(spec.right.metrics)}."
    return replace(spec, higher_is_better=shared, note=said)


def _describe_lines(specs: Sequence[PlotSpec], merged: CurveSet, plot: Plot, colour: str) -> str:
    """Say what colour, dash and symbol stand for, and which metrics are on the right axis."""
    if len(specs) == 1:
        repeated = any(line.dash for line in plot.lines)
        dashes = ", dash: series of one colour" if repeated else ""
        return f"{specs[0].metric}, colour: {colour}{dashes}"
    mixed = len({one.higher_is_better for one in specs}) > 1
    words = []
    for dash, shape, one in zip(DASH_WORDS, SHAPE_WORDS, specs, strict=False):
        lower = "lower is better" if mixed and one.higher_is_better is False else ""
        aside = "; ".join(filter(None, ("right axis" if one.right else "", lower)))
        look = f"{dash} with {shape}" if plot.symbols else dash
        words.append(f"{look}: {one.metric}{f' ({aside})' if aside else ''}")
    several = len({curve.key.series for curve in merged.curves if curve.key}) > 1
    return ", ".join([f"colour: {colour}", *words] if several else words)


def _write_summaries(curve_sets: Sequence[CurveSet], specs: Sequence[PlotSpec], plot: Plot) -> str:
    """Summarize each metric by itself, since values of different metrics are not ranked."""
    texts = [
        write_summary(one, replace(plot, y=plot.right) if spec.right and plot.right else plot, spec)
        for one, spec in zip(curve_sets, specs, strict=True)
    ]
    if len(texts) == 1:
        return texts[0]
    return " ".join(f"{one.metric}: {text}" for one, text in zip(curve_sets, texts, strict=True))
