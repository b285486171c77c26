"""The ``passk`` block: pass@k against k, drawn like every other curve, with its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.model import Curve, CurveSet
from reportgen.core.words import format_number, join_names
from reportgen.figures.axis import format_value
from reportgen.figures.curves.figure import draw_plot_figure, name_band
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.plot import FigureText, PlotSpec, describe_source, make_step_context
from reportgen.figures.scores.wording import (
    describe_estimand,
    describe_method,
    format_level,
    format_range,
    is_percent,
    list_found_notes,
    list_protocol_notes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.core.model import Figure, FloatArray
    from reportgen.core.outcomes import ProblemScores, Score
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import ChartShape, DrawContext, Plot, ScoreContext
    from reportgen.settings.blocks import PasskSettings


ESTIMATOR = "unbiased, Chen et al. 2021"
_MOST_NAMES = 6


def write_pass_subtitle(curves: Sequence[Sequence[Score]], curve_set: CurveSet, spec: PlotSpec) -> str:
    """Estimator, problems and samples, and the band, in a few words."""
    band = name_band(curve_set)
    size = _describe_size([score for curve in curves for score in curve])
    better = "" if spec.higher_is_better else "lower is better"
    parts = ("unbiased pass@k", f"mean of {size}", band and f"band: {band}", better)
    return ", ".join(part for part in parts if part)


def write_pass_caption(
    said: str | None,
    curves: Sequence[Sequence[Score]],
    context: ScoreContext,
    problems: ProblemScores | None,
) -> str:
    """The author's words, then estimator, n, interval and what it is about, what was found, and source.

    ``problems`` is what the curves were made of, if it is known.
    """
    names = [curve[0].series for curve in curves]
    requested = list(problems.series) if problems else names
    missing = [name for name in requested if name not in names]
    found = list_found_notes(problems.notes, requested) if problems else ()
    sentences = [
        said or "",
        *_describe_estimator(curves),
        *_describe_band(curves),
        *_list_remarks(curves),
        f"Without a score, and not drawn: {join_names(missing, most=_MOST_NAMES)}." if missing else "",
        *found,
        *list_protocol_notes(context, names),
        *context.notes,
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def write_pass_summary(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> str:
    """Who leads at k = 1 and at the largest k that all series reach, with intervals."""
    curves = curve_set.curves
    common = sorted(set.intersection(*(set(curve.steps.tolist()) for curve in curves)))
    ends = list(dict.fromkeys((common[0], common[-1])))
    if len(curves) == 1:
        said = [f"pass@{format_value(plot.x, k)} of {_format_reading(plot, curves[0], k)}" for k in ends]
        return f"{curves[0].series} has {join_names(said)}."
    return " ".join(_describe_leader(curves, plot, spec, k) for k in ends)


def _describe_leader(curves: Sequence[Curve], plot: Plot, spec: PlotSpec, k: float) -> str:
    """Who stands first at one k; every series that reaches the same, to the digits shown, is named."""
    sign = -1 if spec.higher_is_better else 1
    ranked = sorted(curves, key=lambda curve: sign * _get_value(curve, k))
    best = _format_centre(plot, ranked[0], k)
    level = [curve.series for curve in ranked if _format_centre(plot, curve, k) == best]
    what = f"the {'highest' if spec.higher_is_better else 'lowest'} pass@k"
    further = k > 1 and any(curve.steps[-1] > k for curve in curves)
    where = f"At k = {format_value(plot.x, k)}{', the largest that all series reach,' if further else ','}"
    if len(level) > 1:
        return f"{where} {join_names(level, most=_MOST_NAMES)} have {what}, {best}."
    first, second = (f"{_format_reading(plot, curve, k)}" for curve in ranked[:2])
    return f"{where} {ranked[0].series} has {what}, {first}, followed by {ranked[1].series} with {second}."


def _get_value(curve: Curve, k: float) -> float:
    return float(curve.values[curve.steps == k][0])


def _format_centre(plot: Plot, curve: Curve, k: float) -> str:
    return f"{format_value(plot.y, _get_value(curve, k))}{plot.y.unit}"


def _format_reading(plot: Plot, curve: Curve, k: float) -> str:
    low, high = (float(end[curve.steps == k][0]) for end in (curve.low, curve.high))
    if not np.isfinite(low):
        return _format_centre(plot, curve, k)
    return f"{_format_centre(plot, curve, k)} [{format_value(plot.y, low)}, {format_value(plot.y, high)}]"


def _describe_estimator(curves: Sequence[Sequence[Score]]) -> Iterator[str]:
    yield (
        "Each point is the mean over problems of pass@k, the chance that at least one of k samples is right, "
        "by its unbiased estimator 1 \N{MINUS SIGN} C(n \N{MINUS SIGN} c, k)/C(n, k) for c right among n "
        "samples (Chen et al. 2021)."
    )
    firsts = [curve[0] for curve in curves]
    sizes = [_describe_size([score]) for score in firsts]
    if len(set(sizes)) == 1:
        yield f"n = {sizes[0]}."
    else:
        listed = [f"{score.series} {size}" for score, size in zip(firsts, sizes, strict=True)]
        yield f"n: {join_names(listed, most=_MOST_NAMES)}."
    if any(score.runs > 1 for score in firsts):
        yield "Samples are those of a run; the runs of a series are averaged within a problem."


def _describe_size(scores: Sequence[Score]) -> str:
    """How many problems and samples: ``30 problems × 16 samples``, ``28 to 30 problems × 8 samples``."""
    problems = [score.problems for score in scores]
    samples = [count for score in scores for count in score.samples or ()]
    return f"{format_range(problems, 'problem')} × {format_range(samples, 'sample')}"


def _describe_band(curves: Sequence[Sequence[Score]]) -> Iterator[str]:
    """How the intervals were made, what they are about, and where there is something to say of one."""
    scores = [score for curve in curves for score in curve]
    known = [score for score in scores if score.low is not None]
    if known:
        methods: dict[str, list[Score]] = {}
        for score in known:
            methods.setdefault(score.method, []).append(score)
        usual = max(methods, key=lambda method: len(methods[method]))
        ways = [describe_method(usual)]
        ways += [
            f"{describe_method(one)} for {_describe_points(methods[one], curves)}"
            for one in methods
            if one != usual
        ]
        yield (
            f"Band: {format_level(known[0].level)} interval for {describe_estimand(known[0])} "
            f"({'; '.join(ways)})."
        )
        also = "; lines share problems, so bands that overlap do not show two series to be equal"
        yield (
            "Points of a line rest on the same samples, so their intervals move together"
            f"{also if len(curves) > 1 else ''}."
        )
    else:
        yield "No band."
    reasons: dict[str, list[Score]] = {}
    for score in scores:
        if score.reason:
            reasons.setdefault(score.reason, []).append(score)
    for reason, those in reasons.items():
        what = "no interval, because " if those[0].low is None and "no interval" not in reason else ""
        yield f"{_describe_points(those, curves)}: {what}{reason}."


def _describe_points(scores: Sequence[Score], curves: Sequence[Sequence[Score]]) -> str:
    """Which points: ``A at k = 8 and 16``, ``all series at k = 16``."""
    ks: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(score.series for score in scores):
        own = tuple(score.metric.removeprefix("pass@") for score in scores if score.series == name)
        ks.setdefault(own, []).append(name)
    every = len(curves) > 1 and [len(curves)] == [len(names) for names in ks.values()]
    return "; ".join(
        f"{'all series' if every else join_names(names, most=_MOST_NAMES)} at k = {join_names(own)}"
        for own, names in ks.items()
    )


def _list_remarks(curves: Sequence[Sequence[Score]]) -> Iterator[str]:
    samples = {count for curve in curves for count in curve[0].samples or ()}
    if len(samples) > 1:
        yield "A line ends at the fewest samples that any of its problems has."
    if all(len(curve) == 1 for curve in curves):
        yield "With one sample of some problem only pass@1 is known."


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
        problems: what the curves were made of: what was found in it, and which series have no score.
        get_chart_spec: the Vega-Lite specification of a shape, as JSON; made anew if left out.

    Raises:
        ReportError: no series has a score, or a highlighted one is not among those that have.
    """
    drawn = tuple(tuple(curve) for curve in curves if curve)
    percent = is_percent(context)
    plot_context, spec = _plan_plot(block_id, settings, context, get_chart_spec or _make_chart_spec)
    curve_set = CurveSet(
        metric=spec.y_title,
        curves=tuple(_make_curve(scores, 100 if percent else 1) for scores in drawn),
        band="ci",
        level=settings.level,
    )
    plot = _use_percent(make_plot(curve_set, spec, plot_context), percent=percent)
    text = FigureText(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        subtitle=write_pass_subtitle(drawn, curve_set, spec),
        caption=write_pass_caption(settings.caption, drawn, context, problems),
        summary=write_pass_summary(curve_set, plot, spec),
        source=describe_source(context),
        numbers={
            "metric": "pass@k",
            "estimator": ESTIMATOR,
            "largest_k": {line.name: int(line.steps[-1]) for line in plot.lines},
        },
        band=name_band(curve_set),
    )
    return draw_plot_figure(plot, curve_set, text, plot_context, spec.highlight)


def _plan_plot(
    block_id: str,
    settings: PasskSettings,
    context: ScoreContext,
    get_chart_spec: Callable[[ChartShape], str],
) -> tuple[DrawContext, PlotSpec]:
    better = context.higher_is_better if settings.higher_is_better is None else settings.higher_is_better
    spec = PlotSpec(
        id=block_id,
        kind="passk",
        title=settings.title or f"pass@k on {context.benchmark}".removesuffix(" on "),
        metric="pass@k",
        x_title="k",
        y_title="pass@k (%)" if is_percent(context) else "pass@k",
        height=settings.height,
        higher_is_better=better,
        caption=settings.caption,
        x_scale="log2",
        highlight=settings.highlight,
    )
    return make_step_context(context, "k", get_chart_spec, higher_is_better=better), spec


def _make_chart_spec(shape: ChartShape) -> str:
    from reportgen.figures.vega.altair_chart import write_chart_spec  # noqa: PLC0415 - imports Altair

    return write_chart_spec(shape)


def _make_curve(scores: Sequence[Score], scale: int) -> Curve:
    """One series with step = k, in percent where ``scale`` is 100; its n is the number of problems."""
    return Curve(
        series=scores[0].series,
        steps=np.array([int(score.metric.removeprefix("pass@")) for score in scores], dtype=np.float64),
        values=_convert_numbers([score.estimate for score in scores], scale),
        low=_convert_numbers([score.low for score in scores], scale),
        high=_convert_numbers([score.high for score in scores], scale),
        n=np.array([score.problems for score in scores], dtype=np.int64),
        given=True,
    )


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
