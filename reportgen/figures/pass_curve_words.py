"""Words about pass@k against k: estimator, interval, what it is about, and how many problems and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import format_value
from reportgen.figures.score_words import (
    describe_estimand,
    describe_method,
    format_level,
    list_found_notes,
    list_protocol_notes,
)
from reportgen.figures.wording import describe_plot_source, name_band
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.plot import Plot
    from reportgen.figures.score_context import ScoreContext
    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Curve, CurveSet
    from reportgen.outcomes import ProblemScores, Score

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
    plot_context: DrawContext,
    problems: ProblemScores | None,
) -> str:
    """The author's words, then estimator, n, interval and what it is about, what was found, and source.

    Args:
        said: the author's words, if any.
        curves: the scores of each series that is drawn, at rising k.
        context: has the protocol.
        plot_context: source and notes.
        problems: what the curves were made of, if it is known.
    """
    names = [curve[0].series for curve in curves]
    requested = list(problems.series) if problems else names
    missing = [name for name in requested if name not in names]
    found = list_found_notes(problems.notes, requested) if problems else ()
    sentences = [said or "", *_describe_estimator(curves), *_describe_band(curves), *_list_remarks(curves)]
    sentences += [
        f"Without a score, and not drawn: {join_names(missing, most=_MOST_NAMES)}." if missing else ""
    ]
    sentences += [
        *found,
        *list_protocol_notes(context, names),
        *plot_context.notes,
        f"Source: {describe_plot_source(plot_context)}.",
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
    return f"{_format_range(problems, 'problem')} × {_format_range(samples, 'sample')}"


def _format_range(counts: Sequence[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    return format_count(high, noun) if low == high else f"{low:,} to {format_count(high, noun)}"


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
            f"Band: {format_level(known[0].level)} interval for {describe_estimand(known[0])} ({'; '.join(ways)})."
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
