"""The ``passk`` block: pass@k against k, drawn like every other curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.curve import FigureText, draw_plot_figure
from reportgen.figures.pass_curve_words import (
    ESTIMATOR,
    write_pass_caption,
    write_pass_subtitle,
    write_pass_summary,
)
from reportgen.figures.plotting import make_plot
from reportgen.figures.score_words import is_percent
from reportgen.figures.wanted import DrawContext, PlotSpec
from reportgen.figures.wording import describe_plot_source, name_band
from reportgen.model import Curve, CurveSet
from reportgen.words import format_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Plot
    from reportgen.figures.score_context import ScoreContext
    from reportgen.figures.shape import ChartShape
    from reportgen.model import Figure, FloatArray
    from reportgen.outcomes import ProblemScores, Score
    from reportgen.settings.score_blocks import PasskSettings

_MOST_DECIMALS = 3
"""The live view's numbers have at least as many."""


def draw_passk(
    block_id: str,
    settings: PasskSettings,
    curves: Sequence[Sequence[Score]],
    context: ScoreContext,
    *,
    problems: ProblemScores | None = None,
    get_chart_spec: Callable[[ChartShape], str] | None = None,
) -> Figure:
    """pass@k against k, a line with its band for each series; k in doublings, pass@k in percent.

    Args:
        block_id: id of the block on its page.
        settings: its title and caption, which series stand out, its height.
        curves: the scores of each series at rising k, as ``statistics.pass_curves`` gives them; a series
            without a score has none.
        context: names, range of scores, palette.
        problems: what the curves were made of: what was found in it, and which series have no score, is told.
        get_chart_spec: the Vega-Lite specification of a shape, as JSON; made anew if left out.

    Raises:
        ReportError: no series has a score, or a highlighted one is not among those that have.
    """
    drawn = tuple(tuple(curve) for curve in curves if curve)
    plot_context = _make_context(settings, context, get_chart_spec or _make_chart_spec)
    spec = _make_spec(
        block_id, settings, plot_context, in_percent=is_percent(context), benchmark=context.benchmark
    )
    curve_set = _make_curve_set(drawn, settings, spec, scale=100 if is_percent(context) else 1)
    plot = _use_percent(make_plot(curve_set, spec, plot_context), percent=is_percent(context))
    text = FigureText(
        subtitle=write_pass_subtitle(drawn, curve_set, spec),
        caption=write_pass_caption(settings.caption, drawn, context, plot_context, problems),
        summary=write_pass_summary(curve_set, plot, spec),
        band=name_band(curve_set),
        source=describe_plot_source(plot_context),
        numbers={
            "metric": "pass@k",
            "estimator": ESTIMATOR,
            "largest_k": {line.name: int(line.steps[-1]) for line in plot.lines},
        },
    )
    return draw_plot_figure(plot, curve_set, spec, plot_context, text)


def _make_chart_spec(shape: ChartShape) -> str:
    from reportgen.figures.chart import write_chart_spec  # noqa: PLC0415 - imports Altair

    return write_chart_spec(shape)


def _make_context(
    settings: PasskSettings, context: ScoreContext, get_chart_spec: Callable[[ChartShape], str]
) -> DrawContext:
    better = settings.higher_is_better
    return DrawContext(
        place=context.place,
        slots=context.slots,
        higher_is_better=context.higher_is_better if better is None else better,
        step_title="k",
        step_is_time=False,
        source=context.source,
        approximate=context.approximate,
        get_chart_spec=get_chart_spec,
        notes=context.notes,
    )


def _make_spec(
    block_id: str, settings: PasskSettings, plot_context: DrawContext, *, in_percent: bool, benchmark: str
) -> PlotSpec:
    return PlotSpec(
        id=block_id,
        kind="passk",
        title=settings.title or f"pass@k on {benchmark}".removesuffix(" on "),
        caption=settings.caption,
        metric="pass@k",
        x_title="k",
        y_title="pass@k (%)" if in_percent else "pass@k",
        x_domain=None,
        y_domain=None,
        x_scale="log2",
        y_scale="linear",
        order="given",
        highlight=settings.highlight,
        height=settings.height,
        runs=None,
        higher_is_better=plot_context.higher_is_better,
    )


def _make_curve_set(
    drawn: Sequence[Sequence[Score]], settings: PasskSettings, spec: PlotSpec, *, scale: int
) -> CurveSet:
    """Curves with step = k, as they are drawn: in percent where ``scale`` is 100."""
    return CurveSet(
        metric=spec.y_title,
        curves=tuple(_make_curve(scores, scale) for scores in drawn),
        band="ci",
        level=settings.level,
        smooth=0.0,
        exact=True,
        replaced=0,
        dropped=0,
        bins=None,
        given_interval=None,
    )


def _make_curve(scores: Sequence[Score], scale: int) -> Curve:
    """One series; its n is that of its interval, the number of problems."""
    return Curve(
        series=scores[0].series,
        steps=np.array([_k(score) for score in scores], dtype=np.float64),
        values=_convert_numbers([score.estimate for score in scores], scale),
        low=_convert_numbers([score.low for score in scores], scale),
        high=_convert_numbers([score.high for score in scores], scale),
        n=np.array([score.problems for score in scores], dtype=np.int64),
        runs=(),
        given=True,
    )


def _k(score: Score) -> int:
    return int(score.metric.removeprefix("pass@"))


def _convert_numbers(values: Sequence[float | None], scale: int) -> FloatArray:
    known: FloatArray = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return known * scale


def _use_percent(plot: Plot, *, percent: bool) -> Plot:
    """One says "k = 8" and "84.2 %"."""
    x = replace(plot.x, symbol=True)
    if not percent:
        return replace(plot, x=x)
    shown = np.concatenate([part for line in plot.lines for part in (line.values, line.low, line.high)])
    return replace(plot, x=x, y=_format_percent_axis(plot.y, shown[np.isfinite(shown)]))


def _format_percent_axis(axis: Axis, shown: FloatArray) -> Axis:
    """With one decimal, or as many more as it takes that only 100 % itself is read as 100."""
    inside = shown[(shown > 0) & (shown < 100)].tolist()  # noqa: PLR2004 - percent
    for decimals in range(1, _MOST_DECIMALS + 1):
        texts = (format_number(value, decimals=decimals) for value in inside)
        if not any(float(text) in {0.0, 100.0} for text in texts):
            break
    return replace(axis, unit=" %", read_format=f",.{decimals}f")
