"""Figures of aligned curves: text, picture, table, CSV and specification."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import describe_verdict
from reportgen.core.digits import is_same
from reportgen.core.model import Figure, Panels
from reportgen.core.words import format_count, join_names, lower_axis_title
from reportgen.figures.axis import format_value, make_linear_axis
from reportgen.figures.curves.bands import describe_band, format_level, name_band
from reportgen.figures.curves.key_results import (
    describe_fewer_runs,
    describe_given_n,
    describe_pick,
    find_best,
    find_bests,
    format_ends,
    get_lead,
    list_known_curves,
    list_level_series,
    rank_finals,
    read_out,
    read_out_apart,
    read_out_estimate,
)
from reportgen.figures.curves.plotting import (
    align_margins,
    compute_margins,
    describe_beyond_log,
    describe_left_out,
    get_unsmoothed,
    make_plot,
)
from reportgen.figures.labels import describe_unplaced
from reportgen.figures.live import draw_plot_figure
from reportgen.figures.plot import (
    GAP,
    STRIP_HEIGHT,
    FigureText,
    Mark,
    Plot,
    SeriesLine,
    describe_source,
    join_caption,
)
from reportgen.figures.style import BEST, SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.model import Curve, CurveSet
    from reportgen.figures.curves.key_results import Reading
    from reportgen.figures.plot import DrawContext, PlotSpec
    from reportgen.settings.blocks import PanelsSettings


_LOWEST = 150  # pixels of a plot above the difference of its lines
_STRIP_PAD = 0.08  # of its values, above and below them


class _CurveWords(Struct, frozen=True):
    """Sentences and numbers of a figure of curves."""

    curve_set: CurveSet
    spec: PlotSpec

    def describe_best(self, centre: str, plot: Plot) -> str:
        """Describe the best value, naming every series that reaches it and how many it was picked from."""
        curves, lowest = list_known_curves(self.curve_set), self.spec.higher_is_better is False
        if self.spec.higher_is_better is None:
            # Neither direction is better: report the lowest value if the highest is where curves start.
            tops = [(find_best(curve, lowest=False), curve) for curve in curves]
            highest = max(top.value for top, _ in tops)
            lowest = all(
                top.step == curve.steps[np.isfinite(get_unsmoothed(curve))][0]
                for top, curve in tops
                if top.value == highest
            )
        word = "lowest" if lowest else "highest"
        what = " ".join(filter(None, (word, centre, self.spec.measured)))
        bests = find_bests(curves, lowest=lowest, precision=self.spec.precision)
        most = "best" if self.spec.higher_is_better is not None else word
        picked = describe_pick(self.curve_set, plot, most=most)
        places = [
            f"at {lower_axis_title(self.spec.x_title)} {format_value(plot.x, best.step)}" for best in bests
        ]
        if len(bests) > 1:
            reached = [f"{best.name} ({place})" for best, place in zip(bests, places, strict=True)]
            value = f"{read_out(plot, bests[0].value)}{self._describe_apart(bests, plot)}"
            return f"{join_names(reached)} reach the {what}, {value}, {picked}."
        best = bests[0]
        value = read_out_estimate(plot, best)
        if len(curves) > 1:
            return f"{best.series} reaches the {what}, {value} {places[0]}, {picked}."
        before = " before smoothing" if self.curve_set.smooth else ""
        with_value = f"{'a ' * bool(centre)}{centre}{' of ' * bool(centre)}{value}{before}"
        return f"{best.series} {'is lowest' if lowest else 'peaks'} {places[0]}, with {with_value}, {picked}."

    def describe_constant(self, plot: Plot) -> str:
        """Describe lines of which none has a best value: constant ones, or single readings; "" for others."""
        curves = list_known_curves(self.curve_set)
        values = [get_unsmoothed(curve)[np.isfinite(get_unsmoothed(curve))] for curve in curves]
        if not all(is_same(float(own.min()), float(own.max())) for own in values):
            return ""
        most = max(own.size for own in values)
        if len(curves) > 1:  # single readings are their own ends
            return "All lines are constant." if most > 1 else " "
        (end,) = rank_finals(curves, lowest=False)
        value, x = read_out_estimate(plot, end), lower_axis_title(self.spec.x_title)
        if most > 1:
            return f"{end.series} is constant at {value}, over {format_count(most, 'checkpoint')}."
        return f"{end.series} has {value} at {x} {format_value(plot.x, end.step)}."

    def describe_endings(self, centre: str, plot: Plot) -> str:
        """Describe the final values, naming a leader only if the test finds one."""
        lowest = self.spec.higher_is_better is False
        ends = rank_finals(list_known_curves(self.curve_set), lowest=lowest)
        same_step = len({end.step for end in ends}) == 1
        x = lower_axis_title(self.spec.x_title)
        where = f"At the end ({x} {format_value(plot.x, ends[0].step)})," if same_step else "At their ends"
        if same_step and self.curve_set.bins and not all(curve.every_step for curve in self.curve_set.curves):
            where = f"In the last of {self.curve_set.bins} bins ({x} {format_value(plot.x, ends[0].step)}),"
        first, second = ends[:2]
        values = [read_out_estimate(plot, end) for end in (first, second)]
        lead = get_lead(self.curve_set, lowest=lowest)
        if lead.tested:
            where += f" {describe_verdict(lead, has_direction=self.spec.higher_is_better is not None)}:"
        if len(level := list_level_series(ends, self.spec.precision)) > 1:
            names, apart = join_names([end.name for end in level]), self._describe_apart(level, plot)
            return f"{where} {names} are level at {read_out(plot, first.value)}{apart}."
        if lead.tested:
            return f"{where} {first.series} has {values[0]}, {second.series} {values[1]}."
        which = f"{'lowest' if lowest else 'highest'} {centre or 'reading'}"
        values = read_out_apart(plot, [end._replace(part="") for end in (first, second)])
        return f"{where} the {which} is {values[0]} ({first.name}), then {values[1]} ({second.name})."

    def _describe_apart(self, level: Sequence[Reading], plot: Plot) -> str:
        """Say within what readings are level, unless they are equal."""
        return (
            ""
            if len(list_level_series(level)) == len(level)
            else f" within {read_out(plot, self.spec.precision)}"
        )

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``: how the figure was made, the leader and points by series."""
        lower = self.spec.higher_is_better is False
        lead, rows = get_lead(self.curve_set, lowest=lower), []
        picks = {"highest": False, "lowest": True} if self.spec.higher_is_better is None else {"best": lower}
        for curve in (curve.every_step or curve for curve in self.curve_set.curves):
            known = np.flatnonzero(np.isfinite(get_unsmoothed(curve)))
            row: dict[str, Any] = {"name": curve.series, "runs": len(curve.runs), "points": int(known.size)}
            if known.size:
                row["first"] = _make_point(curve, int(known[0]))
                for kind, lowest in picks.items():
                    best = find_best(curve, lowest=lowest)
                    point = _make_point(curve, int(np.flatnonzero(curve.steps == best.step)[0]))
                    sure = math.isfinite(best.low) and math.isfinite(best.high)
                    ends = {"low": best.low if sure else None, "high": best.high if sure else None}
                    # The number of points that the value was picked from.
                    row[kind] = point | ends | {"of": int(known.size)}
                row["last"] = _make_point(curve, int(known[-1]))
            rows.append(row)
        return {
            "metric": self.curve_set.metric,
            "band": self.curve_set.band,
            "level": self.curve_set.level,
            "smooth": self.curve_set.smooth,
            "aligned_exactly": self.curve_set.exact,
            "bins": self.curve_set.bins,
            "replaced": self.curve_set.replaced,
            "dropped": self.curve_set.dropped,
            "higher_is_better": self.spec.higher_is_better,
            "leader": lead.series if lead.tested else None,
            "series": rows,
        }


def collect_numbers(curve_set: CurveSet, spec: PlotSpec) -> dict[str, Any]:
    """Return the entry of a figure in ``report.json``."""
    return _CurveWords(curve_set, spec).collect_numbers()


def write_summary(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> str:
    """Summarize the final values, whether a test finds a leader, and the best value with its uncertainty."""
    curves = list_known_curves(curve_set)
    if not curves:
        return f"No series has a value of {spec.metric}."
    single = all(len(curve.runs) == 1 for curve in curves)
    centre = "" if single else "median" if curve_set.band == "iqr" else "mean"
    words = _CurveWords(curve_set, spec)
    sentences = [words.describe_endings(centre, plot)] if len(curves) > 1 else []
    sentences.append(words.describe_constant(plot) or words.describe_best(centre, plot))
    return " ".join(sentences).rstrip()


def write_subtitle(curve_set: CurveSet, spec: PlotSpec) -> str:
    """Return metric, centre, band and number of runs in a few words."""
    counts = [len(curve.runs) for curve in curve_set.curves]
    if all(curve.given for curve in curve_set.curves):
        runs = f"as given{describe_given_n(curve_set.curves)}"
    elif set(counts) == {1}:
        runs = "1 run per series"
    else:
        centre = "median" if curve_set.band == "iqr" else "mean"
        kind = "illustrative runs" if curve_set.curves[0].illustrative else "runs"
        runs = f"{centre} of {format_ends(counts)} {kind} per series"
    band = name_band(curve_set)
    better = "lower is better" if spec.higher_is_better is False else ""
    if len(counts) > SLOTS and not spec.highlight and not any(curve.key for curve in curve_set.curves):
        which = "lowest" if spec.higher_is_better is False else "highest"
        better = f"in colour: the {BEST} that end {which} of {len(counts)}"
    return ", ".join(part for part in (spec.measured, runs, band and f"band: {band}", better) if part)


def write_caption(curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> str:
    """Join n, band and level, smoothing, alignment, dropped data and source."""
    curves, counts = curve_set.curves, [len(curve.runs) for curve in curve_set.curves]
    centre = "median" if curve_set.band == "iqr" else "mean"
    listed = ", ".join(f"{curve.series} {len(curve.runs)}" for curve in curves)
    runs = f"Each line is the {centre} of n runs: {listed}."
    if all(curve.given for curve in curves):
        runs = f"Values and intervals are as supplied{describe_given_n(curves)}."
    elif set(counts) == {1}:
        runs = "Each line is one run."
    elif len(set(counts)) == 1:
        runs = f"Each line is the {centre} of n = {counts[0]} runs."
    chosen = f"The interval of the best value ({format_level(curve_set)}) allows for the choice of its step"
    smoothed = f"Smoothed by a time-weighted exponential average, {curve_set.smooth:g}"
    aligned = "Steps differ between runs: each run is interpolated linearly within its own range."
    sentences = [
        spec.note,
        describe_fewer_runs(curves),
        f"{smoothed}; the faint line is not smoothed." if curve_set.smooth else "",
        *_describe_dropped(curve_set),
        describe_beyond_log(curves, spec),
    ]
    how = [
        runs,
        *describe_band(curve_set),
        "" if curve_set.smooth else "Not smoothed.",
        f"{chosen} among all." if any((curve.every_step or curve).extremes for curve in curves) else "",
        ("All runs share their steps." if curve_set.exact else aligned) if set(counts) != {1} else "",
    ]
    return join_caption(sentences, context, how=how)


def _describe_dropped(curve_set: CurveSet) -> Iterator[str]:
    """Describe averaged, replaced and dropped values."""
    if curve_set.bins:
        every = all(curve.every_step for curve in curve_set.curves)
        words = "; values in words are those of single steps" if every else ""
        yield f"Steps are averaged in {curve_set.bins} bins{words}."
    if curve_set.replaced:
        rows = "row was" if curve_set.replaced == 1 else "rows were"
        yield f"{curve_set.replaced:,} {rows} replaced by a later row of the same run and step."
    if curve_set.dropped:
        values = "value was" if curve_set.dropped == 1 else "values were"
        yield f"{curve_set.dropped:,} missing or non-finite {values} left out."


def draw_curve(
    curve_set: CurveSet, spec: PlotSpec, context: DrawContext, difference: Curve | None = None
) -> Figure:
    """Draw one metric against the step, with a line for each series, and below them their difference."""
    if difference is not None:
        spec = replace(spec, height=max(spec.height - GAP - STRIP_HEIGHT, _LOWEST))
    plot = make_plot(curve_set, spec, context)
    if difference is not None:
        plot = _add_strip(plot, difference)
    return _draw_figure(plot, curve_set, spec, context)


def _add_strip(plot: Plot, difference: Curve) -> Plot:
    """Draw the difference of two lines, as it is given, below them; of shares in percent, in points."""
    factor, unit = (100.0, " (points)") if plot.y.percent else (1.0, "")
    parts = (difference.values, difference.low, difference.high)
    values, low, high = (part * factor for part in parts)
    known = np.concatenate([values, low, high, [0.0]])
    known = known[np.isfinite(known)]
    names = [line.name for line in plot.lines]
    title = " \N{MINUS SIGN} ".join(names[::-1] if names[1] == difference.series else names) + unit
    ends = float(known.min()), float(known.max())
    axes = (make_linear_axis(title, *ends, count=count, pad=_STRIP_PAD) for count in range(2, 10))
    y = next(axis for axis in axes if len(axis.ticks) > 1)
    line = SeriesLine(difference.series, None, difference.steps, values, low, high, difference.n)
    lines = [line]
    if not plot.symbols:  # a second band makes the first one darker
        open_ends = ~((low > 0) | (high < 0))
        unknown = np.full(values.size, np.nan)
        sure = {"low": np.where(open_ends, np.nan, low), "high": np.where(open_ends, np.nan, high)}
        lines.append(replace(line, values=unknown, **sure))
    margins = replace(plot.margins, left=max(plot.margins.left, compute_margins(y, ()).left))
    strip = Plot(
        id=f"{plot.id}-difference",
        x=plot.x,
        y=y,
        lines=tuple(lines),
        margins=margins,
        height=STRIP_HEIGHT,
        symbols=False,
        clip=plot.clip,
        band="ci" if np.isfinite(low).any() else "none",
        references=(Mark("", y=0.0),),
    )
    return replace(plot, strip=strip, margins=margins)


def _describe_strip(plot: Plot) -> str:
    """Say in a subtitle what is special in the difference below the lines, if its interval is known."""
    if plot.strip is None or plot.strip.band == "none":
        return ""
    return f"below: {'filled' if plot.symbols else 'dark'} where the CI of the difference excludes 0"


def draw_panels(
    block_id: str,
    settings: PanelsSettings,
    curve_sets: tuple[CurveSet, ...],
    specs: tuple[PlotSpec, ...],
    context: DrawContext,
) -> Panels:
    """Draw several metrics of the same runs, a figure for each, with aligned axes."""
    plots = [make_plot(curves, spec, context) for curves, spec in zip(curve_sets, specs, strict=True)]
    rows = zip(align_margins(plots), curve_sets, specs, strict=True)
    return join_panels(block_id, settings, [_draw_figure(*row, context) for row in rows])


def join_panels(block_id: str, settings: PanelsSettings, figures: Sequence[Figure]) -> Panels:
    """Put figures of the same runs side by side."""
    captions, shared = {figure.caption for figure in figures}, ""
    if len(figures) > 1 and len(captions) == 1:
        # A caption shared by all panels appears once, below them.
        (shared,) = captions
        figures = [replace(figure, caption="") for figure in figures]
    return Panels(block_id, settings.title or "", shared, tuple(figures))


def _draw_figure(plot: Plot, curve_set: CurveSet, spec: PlotSpec, context: DrawContext) -> Figure:
    below = _describe_strip(plot)
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=", ".join(filter(None, (write_subtitle(curve_set, spec), below))),
        caption=join_plot_caption(plot, write_caption(curve_set, spec, context)),
        summary=write_summary(curve_set, plot, spec),
        source=describe_source(context),
        numbers=collect_numbers(curve_set, spec),
        band=name_band(curve_set),
    )
    return draw_plot_figure(plot, curve_set, text, context)


def join_plot_caption(plot: Plot, caption: str) -> str:
    """Put what a plot does not show before a caption."""
    return " ".join(filter(None, (describe_left_out(plot.y), describe_unplaced(plot), caption)))


def _make_point(curve: Curve, index: int) -> dict[str, float | int | None]:
    # The band of a smoothed line is not an interval of the unsmoothed value.
    low, high = (float(end[index]) for end in (curve.low, curve.high))
    known = math.isfinite(low) and math.isfinite(high) and curve.raw is None and not curve.illustrative
    return {
        "step": float(curve.steps[index]),
        "value": float(get_unsmoothed(curve)[index]),
        "low": low if known else None,
        "high": high if known else None,
        "n": int(curve.n[index]),
    }
