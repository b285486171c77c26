"""Pass@k against k (``passk``): a curve for each series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.digits import is_same
from reportgen.core.model import Curve, CurveSet
from reportgen.core.words import format_number, join_names
from reportgen.figures.axis import format_estimate, format_value
from reportgen.figures.curves.bands import name_band
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import draw_plot_figure
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.plot import FigureText, PlotSpec, describe_source, join_caption, make_step_context
from reportgen.figures.scores.wording import (
    MOST_NAMES,
    describe_intervals,
    format_range,
    group_reasons,
    is_percent,
    list_found_notes,
    list_protocol_notes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.core.comparisons import ProblemScores, Score
    from reportgen.core.model import Figure, FloatArray
    from reportgen.figures.plot import ChartShape, Plot, ScoreContext
    from reportgen.settings.score_blocks import PasskSettings


ESTIMATOR = "unbiased, Chen et al. 2021"
_APART, _WIDEST = 6, 40  # pixels between bars at one k, and of all of them
_MOST_DECIMALS = 3
"""The live view's numbers have at least as many."""
_EACH_POINT = (
    "Each point is the mean over problems of pass@k, the chance that at least one of k samples is right, by "
    "its unbiased estimator 1 \N{MINUS SIGN} C(n \N{MINUS SIGN} c, k)/C(n, k) for c right among n samples "
    "(Chen et al. 2021)."
)


def draw_passk(
    block_id: str,
    settings: PasskSettings,
    curves: Sequence[Sequence[Score]],
    context: ScoreContext,
    *,
    problems: ProblemScores | None = None,
    get_chart: Callable[[ChartShape], str],
) -> Figure:
    """Draw pass@k against k on a log2 axis, with a line and band for each series.

    ``curves`` holds the scores of each series by ascending k, as from ``statistics.pass_curves``, empty for a
    series without a score; ``problems`` is their input, for notes on it. ``get_chart`` returns the
    Vega-Lite specification of a shape as JSON. Raises a ``ReportError`` if no series has a score, or a
    highlighted series has none.
    """
    drawn = tuple(tuple(curve) for curve in curves if curve)
    spec = _make_pass_spec(block_id, settings, context)
    better = bool(spec.higher_is_better)
    drawing = _PassCurves(drawn, context, better)
    own = tuple(drawing.make_curves())
    curve_set = CurveSet(metric=spec.y_title, curves=own, band="ci", level=settings.level)
    plot_context = make_step_context(context, "k", get_chart, higher_is_better=better)
    plot = drawing.use_units(make_plot(curve_set, spec, plot_context))
    plot, leader = _draw_bars(plot, lowest=not better)
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=drawing.write_subtitle(name_band(curve_set), leader),
        caption=drawing.write_caption(problems),
        summary=drawing.write_summary(own, plot),
        source=describe_source(context),
        numbers={"metric": "pass@k", "estimator": ESTIMATOR}
        | {"largest_k": {line.name: int(line.steps[-1]) for line in plot.lines}},
        band=name_band(curve_set),
    )
    return draw_plot_figure(plot, curve_set, text, plot_context)


def _draw_bars(plot: Plot, *, lowest: bool) -> tuple[Plot, str]:
    """Give the series that leads at the largest k of all a band, others bars; also return its name."""
    common = set.intersection(*(set(line.steps.tolist()) for line in plot.lines))
    if len(plot.lines) == 1 or plot.band == "none":
        return plot, ""
    ends = [float(line.values[line.steps == max(common)][0]) for line in plot.lines]
    first = (np.argmin if lowest else np.argmax)(ends)
    others = [line for number, line in enumerate(plot.lines) if number != first]
    step = min(_APART, _WIDEST / len(others)) / PIXELS_WIDE
    shifts = {line.name: (number - (len(others) - 1) / 2) * step for number, line in enumerate(others)}
    lines = (
        replace(line, bars=True, shift=shifts[line.name]) if line.name in shifts else line
        for line in plot.lines
    )
    return replace(plot, lines=tuple(lines)), plot.lines[first].name


def _make_pass_spec(block_id: str, settings: PasskSettings, context: ScoreContext) -> PlotSpec:
    better = context.higher_is_better if settings.higher_is_better is None else settings.higher_is_better
    return PlotSpec(
        id=block_id,
        kind="passk",
        title=settings.title or f"pass@k on {context.benchmark}".removesuffix(" on "),
        metric="pass@k",
        x_title="k",
        y_title="pass@k (%)" if is_percent(context) else "pass@k",
        height=settings.height,
        higher_is_better=better,
        x_scale="log2",
        highlight=settings.highlight,
    )


def choose_percent_format(shown: FloatArray, decimals: int) -> str:
    """Return a format with at least so many decimals that shows no other percentages as 0 or 100."""
    inside = shown[(shown > 0) & (shown < 100)].tolist()  # noqa: PLR2004 - percent
    for more in range(decimals, _MOST_DECIMALS):
        texts = (format_number(value, decimals=more) for value in inside)
        if not any(float(text) in {0.0, 100.0} for text in texts):
            return f",.{more}f"
    return f",.{_MOST_DECIMALS}f"


def make_score_curve(
    series: str,
    steps: Sequence[int],
    n: Sequence[int],
    shares: Sequence[tuple[float | None, ...]],
    scale: int,
) -> Curve:
    """Make a curve; ``shares`` are value, low and high at each step, to be multiplied by ``scale``."""
    known = [[np.nan if share is None else share for share in row] for row in shares]
    values, low, high = np.array(known, dtype=np.float64).T * scale
    counts = np.array(n, dtype=np.int64)
    return Curve(series, np.array(steps, dtype=np.float64), values, low, high, counts)


class _PassCurves(Struct, frozen=True):
    """Curves and wording of each series' scores by ascending k."""

    curves: tuple[tuple[Score, ...], ...]
    context: ScoreContext
    better: bool

    def make_curves(self) -> Iterator[Curve]:
        """Make a curve of each series with k as step and the number of problems as n."""
        scale = 100 if is_percent(self.context) else 1
        for scores in self.curves:
            steps = [int(score.metric.removeprefix("pass@")) for score in scores]
            sizes, ends = zip(*((s.problems, (s.estimate, s.low, s.high)) for s in scores), strict=True)
            yield replace(make_score_curve(scores[0].series, steps, sizes, ends, scale), given=True)

    def write_summary(self, curves: Sequence[Curve], plot: Plot) -> str:
        """Describe the leaders at k = 1 and at the largest k that all series reach, with intervals."""
        common = sorted(set.intersection(*(set(curve.steps.tolist()) for curve in curves)))
        ends = dict.fromkeys((common[0], common[-1]))
        if len(curves) == 1:
            points = [
                f"pass@{format_value(plot.x, k)} of {_format_reading(plot, curves[0], k)[1]}" for k in ends
            ]
            return f"{curves[0].series} has {join_names(points)}."
        sentences = []
        for k in ends:
            sign = -1 if self.better else 1
            values = [sign * float(curve.values[curve.steps == k][0]) for curve in curves]
            ranked = [curves[place] for place in sorted(range(len(curves)), key=values.__getitem__)]
            readings = [_format_reading(plot, curve, k) for curve in ranked]
            best = readings[0][0]
            tied = zip(ranked, sorted(values), strict=True)
            level = [curve.series for curve, value in tied if is_same(value, min(values))]
            what = f"the {'highest' if self.better else 'lowest'} pass@k"
            further = k > 1 and any(curve.steps[-1] > k for curve in curves)
            largest = ", the largest that all series reach" if further else ""
            where = f"At k = {format_value(plot.x, k)}{largest},"
            if len(level) > 1:
                sentences.append(f"{where} {join_names(level, most=MOST_NAMES)} have {what}, {best}.")
            else:
                second = f"followed by {ranked[1].series} with {readings[1][1]}"
                sentences.append(f"{where} {ranked[0].series} has {what}, {readings[0][1]}, {second}.")
        return " ".join(sentences)

    def use_units(self, plot: Plot) -> Plot:
        """Use "k = 8" and "84.2%", with enough decimals that only 100% itself is shown as 100."""
        plot = replace(plot, x=replace(plot.x, symbol=True))
        if not is_percent(self.context):
            return plot
        shown = np.concatenate([part for line in plot.lines for part in (line.values, line.low, line.high)])
        read_format = choose_percent_format(shown, 1)
        return replace(plot, y=replace(plot.y, unit="%", read_format=read_format, precision=None))

    def write_subtitle(self, band: str, leader: str) -> str:
        size = _describe_size([score for curve in self.curves for score in curve])
        how = (
            "unbiased pass@k",
            f"mean of {size}",
            band and f"band: {band}{f' of {leader}, bars: of the others' if leader else ''}",
            "" if self.better else "lower is better",
        )
        return ", ".join(filter(None, how))

    def write_caption(self, problems: ProblemScores | None) -> str:
        """Join estimator, n, interval and its meaning, notes, and source."""
        names = [curve[0].series for curve in self.curves]
        requested = list(problems.series) if problems else names
        missing = [name for name in requested if name not in names]
        firsts = [curve[0] for curve in self.curves]
        sizes = [_describe_size([score]) for score in firsts]
        listed = [f"{score.series} {size}" for score, size in zip(firsts, sizes, strict=True)]
        several = any(score.runs > 1 for score in firsts)
        uneven = len({count for score in firsts for count in score.samples or ()}) > 1
        mixed, shared = list_protocol_notes(self.context, names)
        sentences = [
            f"n = {sizes[0]}." if len(set(sizes)) == 1 else f"n: {join_names(listed, most=MOST_NAMES)}.",
            f"Without a score, and not drawn: {join_names(missing, most=MOST_NAMES)}." if missing else "",
            *mixed,
            *(list_found_notes(problems.notes, requested) if problems else ()),
        ]
        how = [
            _EACH_POINT,
            "Samples are those of a run; the runs of a series are averaged within a problem."
            if several
            else "",
            *self.describe_band(),
            "A line ends at the fewest samples that any of its problems has." if uneven else "",
            "With one sample of some problem only pass@1 is known."
            if all(len(curve) == 1 for curve in self.curves)
            else "",
            *shared,
        ]
        return join_caption(sentences, self.context, how=how)

    def describe_band(self) -> Iterator[str]:
        """Describe the intervals and their estimand, and exceptions."""
        scores = [score for curve in self.curves for score in curve]
        known = [score for score in scores if score.low is not None]
        what = "Band and bars" if len(self.curves) > 1 else "Band"
        yield f"{what}: {describe_intervals(known)}." if known else "No band."
        if known:
            also = "; lines share problems, so intervals that overlap do not show two series to be equal"
            yield (
                "Points of a line rest on the same samples, so their intervals move together"
                f"{also if len(self.curves) > 1 else ''}."
            )
        yield from group_reasons(dict.fromkeys((one.series, one.reason) for one in scores))


def _describe_size(scores: Sequence[Score]) -> str:
    """Count problems and samples: ``30 problems × 16 samples``, ``28 to 30 problems × 8 samples``."""
    problems = [score.problems for score in scores]
    samples = [count for score in scores for count in score.samples or ()]
    return f"{format_range(problems, 'problem')} × {format_range(samples, 'sample')}"


def _format_reading(plot: Plot, curve: Curve, k: float) -> tuple[str, str]:
    """Format the value of a series at one k, without and with its interval."""
    value, low, high = (float(part[curve.steps == k][0]) for part in (curve.values, curve.low, curve.high))
    words, interval = format_estimate(plot.y, value, low, high)
    centre = f"{words}{plot.y.unit}"
    return centre, f"{centre} {interval}".rstrip()
