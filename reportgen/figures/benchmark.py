"""What happened on a benchmark: the line of key results under a page's title, and its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.errors import Problem, ReportError
from reportgen.figures.axis import format_value
from reportgen.figures.line_paths import positions
from reportgen.figures.path import line_path, thin
from reportgen.figures.picture import colour
from reportgen.figures.plotting import plot_of, unsmoothed
from reportgen.figures.svg_text import escaped
from reportgen.figures.wanted import wanted_curve
from reportgen.figures.wording import given_n
from reportgen.model import BenchmarkResult, Overview
from reportgen.settings.blocks import CurveSettings
from reportgen.words import axis_word, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import Context
    from reportgen.model import Block, Curve, CurveSet
    from reportgen.settings.blocks import OverviewSettings
    from reportgen.settings.front_matter import Benchmark

_SPARK_ACROSS, _SPARK_DOWN, _SPARK_PIXELS = 600, 200, 56


def benchmark_result(
    benchmark: Benchmark, page: str, curve_set: CurveSet, context: Context
) -> BenchmarkResult:
    """Leader, score, runs, date and protocol in words; ``page`` is the page's path below ``content/``."""
    wanted = wanted_curve("spark", CurveSettings(), curve_set.metric, context)
    plot = plot_of(curve_set, wanted, context)
    lower, ranked = wanted.higher_is_better is False, wanted.higher_is_better is not None
    leaders = _leaders(curve_set, plot, lower_is_better=lower)
    leader = listing([curve.series for curve, _ in leaders])
    best, index = leaders[0]
    score = _read(plot, best, index) if len(leaders) > 1 else _estimate(plot, best, index)
    steps = listing([format_value(plot.x, float(curve.steps[at])) for curve, at in leaders])
    facts = [
        ("Best" if ranked else "Highest", f"{leader} {score} at {axis_word(plot.x.title)} {steps}"),
        ("At the end" if ranked else "Highest at the end", _endings(curve_set, plot, lower_is_better=lower)),
        ("Runs", _runs(curve_set)),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or ""),
        ("Caution", context.approximate or ""),
    ]
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        description=benchmark.description or "",
        leader=leader,
        score=f"{score} {curve_set.metric}",
        facts=tuple((label, text) for label, text in facts if text),
        spark=_spark(plot, benchmark),
        legend=tuple((line.name, line.slot) for line in plot.lines),
    )


def overview(block: Block, settings: OverviewSettings, results: Mapping[str, BenchmarkResult]) -> Overview:
    """The cards of the benchmarks that the author named, or of all.

    Raises:
        ReportError: a named benchmark is not on any page.
    """
    by_name = {result.name: result for result in results.values()}
    unknown = [name for name in settings.benchmarks if name not in by_name]
    if unknown:
        known = ", ".join(f'"{name}"' for name in by_name) or "none"
        said = f"The report's benchmarks are {known}"
        raise ReportError(
            *(Problem(block.place, f'"{name}" is not a benchmark of this report', said) for name in unknown)
        )
    names = settings.benchmarks or tuple(by_name)
    return Overview(block.id, settings.title or "", tuple(by_name[name] for name in names))


def _leaders(curve_set: CurveSet, plot: Plot, *, lower_is_better: bool) -> list[tuple[Curve, int]]:
    """The series whose best value is the best of all, to the digits shown, and where it stands."""
    pick = np.nanargmin if lower_is_better else np.nanargmax
    known = [curve for curve in curve_set.curves if np.isfinite(unsmoothed(curve)).any()]
    ends = [(curve, int(pick(unsmoothed(curve)))) for curve in known]
    choose = min if lower_is_better else max
    best = _read(plot, *choose(ends, key=lambda end: float(unsmoothed(end[0])[end[1]])))
    return [end for end in ends if _read(plot, *end) == best]


def _endings(curve_set: CurveSet, plot: Plot, *, lower_is_better: bool) -> str:
    """The series that ends best, with every series that stands at the same rounded value."""
    ends = []
    for curve in curve_set.curves:
        known = np.flatnonzero(np.isfinite(unsmoothed(curve)))
        if known.size:
            ends.append((curve, int(known[-1])))
    choose = min if lower_is_better else max
    lead, index = choose(ends, key=lambda end: float(unsmoothed(end[0])[end[1]]))
    said = _read(plot, lead, index)
    level = [curve.series for curve, last in ends if _read(plot, curve, last) == said]
    return f"{listing(level)} {said if len(level) > 1 else _estimate(plot, lead, index)}"


def _estimate(plot: Plot, curve: Curve, index: int) -> str:
    low, high = float(curve.low[index]), float(curve.high[index])
    said = _read(plot, curve, index)
    if not (np.isfinite(low) and np.isfinite(high)) or curve.raw is not None:
        return said
    return f"{said} [{format_value(plot.y, low)}, {format_value(plot.y, high)}]"


def _read(plot: Plot, curve: Curve, index: int) -> str:
    return format_value(plot.y, float(unsmoothed(curve)[index]))


def _runs(curve_set: CurveSet) -> str:
    of_series = f"{len(curve_set.curves)} series"
    if all(curve.given for curve in curve_set.curves):
        return f"as given{given_n(curve_set.curves)}, {of_series}"
    counts = sorted({len(curve.runs) for curve in curve_set.curves})
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{each} for each of {of_series}"


def _spark(plot: Plot, benchmark: Benchmark) -> str:
    """A small fluid picture of the mean lines, without axes."""
    lines = []
    for line in plot.lines:
        x = positions(plot.x, line.steps) * _SPARK_ACROSS
        y = (1 - positions(plot.y, line.values)) * _SPARK_DOWN
        lines.append(
            f'<path stroke="{colour(line.slot)}" stroke-width="1.75" vector-effect="non-scaling-stroke" '
            f'd="{line_path(*thin(x, y, 120))}"/>'
        )
    said = escaped(f"{benchmark.name}: {plot.y.title} by {plot.x.title}")
    return (
        f'<svg class="rg-spark" role="img" aria-label="{said}" width="100%" height="{_SPARK_PIXELS}" '
        f'viewBox="0 0 {_SPARK_ACROSS} {_SPARK_DOWN}" preserveAspectRatio="none" overflow="visible" '
        f'fill="none" stroke-linejoin="round">{"".join(lines)}</svg>'
    )
