"""What happened on a benchmark: the line of key results under a page's title, and its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError
from reportgen.figures.axis import format_value
from reportgen.figures.line_paths import positions
from reportgen.figures.path import thin, write_line_path
from reportgen.figures.picture import get_colour
from reportgen.figures.plotting import make_plot
from reportgen.figures.standing import (
    describe_pick,
    find_bests,
    get_lead,
    list_known_curves,
    name_level_series,
    rank_finals,
    read_out,
    read_out_estimate,
)
from reportgen.figures.svg_text import escape_text
from reportgen.figures.wanted import make_curve_spec
from reportgen.figures.wording import describe_given_n
from reportgen.model import BenchmarkResult, Overview
from reportgen.settings.blocks import CurveSettings
from reportgen.words import join_names, lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.figures.plot import Plot
    from reportgen.figures.wanted import DrawContext, PlotSpec
    from reportgen.model import Block, CurveSet
    from reportgen.settings.blocks import OverviewSettings
    from reportgen.settings.front_matter import Benchmark

_SPARK_ACROSS, _SPARK_DOWN, _SPARK_PIXELS = 600, 200, 56


def summarize_benchmark(
    benchmark: Benchmark, page: str, curve_set: CurveSet, context: DrawContext
) -> BenchmarkResult:
    """How it ended, the best value, runs, date and protocol in words.

    Args:
        benchmark: as its author declares it.
        page: the page's path below ``content/``.
        curve_set: its curves.
        context: of the benchmark.
    """
    spec = make_curve_spec("spark", CurveSettings(), curve_set.metric, context)
    plot = make_plot(curve_set, spec, context)
    leader, end = _describe_standing(curve_set, plot, spec, "")
    _, card = _describe_standing(curve_set, plot, spec, f" {curve_set.metric} at the end")
    facts = [
        (
            "At the end" if spec.higher_is_better is not None else "Highest at the end",
            f"{leader} {end}".strip(),
        ),
        _describe_best(curve_set, plot, spec),
        ("Runs", _count_runs(curve_set)),
        ("Date", benchmark.date or ""),
        ("Protocol", benchmark.protocol or ""),
        ("Caution", context.approximate or ""),
    ]
    return BenchmarkResult(
        name=benchmark.name,
        page=page,
        description=benchmark.description or "",
        leader=leader,
        score=card if leader else f"{card[0].upper()}{card[1:]}",
        facts=tuple((label, text) for label, text in facts if text),
        spark=_draw_spark(plot, benchmark),
        legend=tuple((line.name, line.slot) for line in plot.lines),
    )


def collect_overview(
    block: Block, settings: OverviewSettings, results: Mapping[str, BenchmarkResult]
) -> Overview:
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
            *(
                Problem(block.location, f'"{name}" is not a benchmark of this report', said)
                for name in unknown
            )
        )
    names = settings.benchmarks or tuple(by_name)
    return Overview(block.id, settings.title or "", tuple(by_name[name] for name in names))


def _describe_standing(curve_set: CurveSet, plot: Plot, spec: PlotSpec, what: str) -> tuple[str, str]:
    """Who leads at the end by the test, empty for nobody, and what else is said; ``what`` follows a value."""
    lowest, ranked = spec.higher_is_better is False, spec.higher_is_better is not None
    ends = rank_finals(list_known_curves(curve_set), lowest=lowest)
    ahead = get_lead(curve_set, lowest=lowest)
    first = ends[0].series
    if len(ends) == 1 or ahead.series == first:
        verb = "" if len(ends) == 1 else "leads with " if ranked else "stands above all others with "
        return first, f"{verb}{read_out_estimate(plot, ends[0])}{what}"
    names = name_level_series(plot, ends)
    value = read_out_estimate(plot, ends[0]) if names == first else read_out(plot, ends[0].value)
    said = (
        f"{'lowest' if lowest else 'highest'} {'mean' if ahead.tested else 'reading'} {value}{what} ({names})"
    )
    return "", f"no clear winner; {said}" if ahead.tested and ranked else said


def _describe_best(curve_set: CurveSet, plot: Plot, spec: PlotSpec) -> tuple[str, str]:
    """A label that says from how many values the best was picked, and the best with its step."""
    found = find_bests(list_known_curves(curve_set), plot, lowest=spec.higher_is_better is False)
    steps = join_names([format_value(plot.x, one.step) for one in found])
    names = [one.series for one in found]
    value = read_out_estimate(plot, found[0]) if len(found) == 1 else read_out(plot, found[0].value)
    most = "best" if spec.higher_is_better is not None else "highest"
    label = describe_pick(curve_set, plot, names, most=most).capitalize()
    return label, f"{join_names(names)} {value} at {lower_axis_title(plot.x.title)} {steps}"


def _count_runs(curve_set: CurveSet) -> str:
    of_series = f"{len(curve_set.curves)} series"
    if all(curve.given for curve in curve_set.curves):
        return f"as given{describe_given_n(curve_set.curves)}, {of_series}"
    counts = sorted({len(curve.runs) for curve in curve_set.curves})
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{each} for each of {of_series}"


def _draw_spark(plot: Plot, benchmark: Benchmark) -> str:
    """A small fluid picture of the mean lines, without axes."""
    lines = []
    for line in plot.lines:
        x = positions(plot.x, line.steps) * _SPARK_ACROSS
        y = (1 - positions(plot.y, line.values)) * _SPARK_DOWN
        lines.append(
            f'<path stroke="{get_colour(line.slot)}" stroke-width="1.75" vector-effect="non-scaling-stroke" '
            f'd="{write_line_path(*thin(x, y, 120))}"/>'
        )
    said = escape_text(f"{benchmark.name}: {plot.y.title} by {plot.x.title}")
    return (
        f'<svg class="rg-spark" role="img" aria-label="{said}" width="100%" height="{_SPARK_PIXELS}" '
        f'viewBox="0 0 {_SPARK_ACROSS} {_SPARK_DOWN}" preserveAspectRatio="none" overflow="visible" '
        f'fill="none" stroke-linejoin="round">{"".join(lines)}</svg>'
    )
