"""Key results of curves: the ``table`` block, the line under a page's title, and the overview's cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.core.model import BenchmarkResult, Cell, Overview, ResultTable
from reportgen.core.words import choose_decimals, format_estimate, format_number, join_names, lower_axis_title
from reportgen.figures.axis import DAY, format_value
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.curves.figure import describe_given_n
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.curves.standing import (
    describe_checkpoints,
    describe_pick,
    find_bests,
    get_lead,
    list_known_curves,
    name_level_series,
    rank_finals,
    read_out,
    read_out_estimate,
)
from reportgen.figures.number_format import choose_step_format, format_d3, format_time
from reportgen.figures.paths import positions, thin, write_line_path
from reportgen.figures.plot import describe_source, make_curve_spec
from reportgen.figures.style import get_colour
from reportgen.figures.text import escape_text
from reportgen.settings.blocks import CurveSettings, Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import CurveSet, Ending, Estimate, Lead
    from reportgen.figures.plot import DrawContext, Plot, PlotSpec
    from reportgen.settings.blocks import OverviewSettings, TableSettings
    from reportgen.settings.inputs import Block
    from reportgen.settings.report import Benchmark


_HEADS = {Statistic.FINAL: "final", Statistic.PEAK: "best", Statistic.MEAN: "mean over steps"}


def build_result_table(
    block_id: str,
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: DrawContext,
    *,
    better: tuple[bool | None, ...],
    leads: tuple[Lead, ...],
) -> ResultTable:
    """A row for each series: runs, then the chosen numbers of each metric.

    ``metrics`` are names with their series' endings. Of each, ``better`` says whether a larger value is
    better (None where that is not known, or neither is), and ``leads`` who ends better than all others by the
    test.
    """
    names = _order(settings.order, metrics, lower_first=better[0] is False)
    several = len(metrics) > 1
    header = ["series", "runs"]
    for (metric, endings), way in zip(metrics, better, strict=True):
        most = "best" if way is not None else "highest"
        heads = [_write_head(column, endings, most, context) for column in settings.columns]
        header += [f"{metric}: {head}" if several else head for head in heads]
    digits = [_choose_digits(endings, settings.columns) for _, endings in metrics]
    by_name = [{ending.series: ending for ending in reversed(endings)} for _, endings in metrics]
    rows = tuple(
        _build_row(name, settings.columns, [endings.get(name) for endings in by_name], digits, context)
        for name in names
    )
    words = [[cell.text for cell in row] for row in rows]
    return ResultTable(
        id=block_id,
        title=settings.title or (metrics[0][0] if not several else "Results"),
        header=tuple(header),
        rows=rows,
        caption=_write_caption(settings, metrics, context, better, leads),
        csv=write_table_csv(header, words),
    )


def _write_head(column: Statistic, endings: tuple[Ending, ...], most: str, context: DrawContext) -> str:
    """A column's head; that of best values says from how many they were picked, where that is the same."""
    if column is not Statistic.PEAK:
        return _HEADS[column]
    counts = {ending.readings for ending in endings}
    return (
        describe_checkpoints([*counts], is_time=context.step_is_time, most=most) if len(counts) == 1 else most
    )


def _order(
    order: str, metrics: tuple[tuple[str, tuple[Ending, ...]], ...], *, lower_first: bool
) -> list[str]:
    endings = metrics[0][1]
    names = list(dict.fromkeys(ending.series for _, group in metrics for ending in group))
    sign = 1 if lower_first else -1
    if order == "name":
        return sorted(names, key=str.casefold)
    if order in {"final", "best"}:
        rank = {e.series: sign * (e.final if order == "final" else e.peak).value for e in endings}
        return sorted(names, key=lambda name: rank.get(name, float("inf")))
    return names


def _build_row(
    name: str,
    columns: tuple[Statistic, ...],
    found: list[Ending | None],
    digits: list[_Digits],
    context: DrawContext,
) -> tuple[Cell, ...]:
    """The cells of a series: its endings, one a metric."""
    cells = [Cell(name)]
    runs = max((ending.runs for ending in found if ending), default=0)
    cells.append(Cell(str(runs), float(runs)))
    for ending, shared in zip(found, digits, strict=True):
        cells += [_build_cell(ending, column, shared, context) for column in columns]
    return tuple(cells)


class _Digits(NamedTuple):
    """What the cells of a metric share: decimals of each column, and whether best values say their counts."""

    decimals: dict[Statistic, int | None]
    counts: bool


def _choose_digits(endings: tuple[Ending, ...], columns: tuple[Statistic, ...]) -> _Digits:
    values = {column: [_choose_number(ending, column)[0].value for ending in endings] for column in columns}
    counts = len({ending.readings for ending in endings}) > 1
    return _Digits({column: _choose_decimals(values[column]) for column in columns}, counts)


def _build_cell(ending: Ending | None, column: Statistic, shared: _Digits, context: DrawContext) -> Cell:
    if ending is None:
        return Cell("no data")
    estimate, step = _choose_number(ending, column)
    at = f" at {_format_step(step, context)}" if step is not None else ""
    if column is Statistic.PEAK and shared.counts:
        at += f", of {ending.readings:,}"
    decimals = shared.decimals[column]
    if estimate.low is not None and estimate.high is not None:
        return Cell(f"{format_estimate(estimate)}{at}", estimate.value)
    final = ending.final
    if final.low is not None and final.high is not None and decimals is not None:
        # A value without an interval has no more digits than one that has it.
        decimals = choose_decimals((final.high - final.low) / 2)
    return Cell(f"{format_number(estimate.value, decimals=decimals)}{at}", estimate.value)


def _format_step(step: float, context: DrawContext) -> str:
    if context.step_is_time:
        return format_time(step, "%Y-%m-%d" if step % DAY == 0 else "%Y-%m-%d %H:%M")
    return format_d3(step, choose_step_format(np.array([step])))


def _choose_decimals(values: list[float]) -> int | None:
    """The decimal places that four significant digits of any of the values need: a column shares them.

    None where a value is too large or small to be written without an exponent.
    """
    texts = [f"{value:.4g}" for value in values]
    if any("e" in text for text in texts):
        return None
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _choose_number(ending: Ending, column: Statistic) -> tuple[Estimate, float | None]:
    """The number of a column, and the step it stands at."""
    if column is Statistic.FINAL:
        return ending.final, ending.final_step
    if column is Statistic.PEAK:
        return ending.peak, ending.peak_step
    return ending.mean, None


def _write_caption(
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: DrawContext,
    better: tuple[bool | None, ...],
    leads: tuple[Lead, ...],
) -> str:
    names = [metric for metric, _ in metrics]
    lower = [name for name, way in zip(names, better, strict=True) if way is False]
    some = "" if len(lower) == len(names) else f" for {join_names(lower)}"
    sentences = [
        settings.caption or "",
        _describe_leaders(names, better, leads),
        _describe_peak(metrics, better) if Statistic.PEAK in settings.columns else "",
        _describe_intervals(metrics, settings.level),
        f"Lower is better{some}." if lower else "",
        *context.notes,
        f"Source: {describe_source(context)}.",
    ]
    return " ".join(filter(None, sentences))


def _describe_leaders(names: Sequence[str], better: tuple[bool | None, ...], leads: tuple[Lead, ...]) -> str:
    """Who leads at the end of each metric that was tested, and by which test."""
    said = []
    for name, way, lead in zip(names, better, leads, strict=True):
        verb = "leads" if way is not None else "stands above all others"
        what = f"{lead.series} {verb}" if lead.series else "no clear winner" if way is not None else ""
        if lead.tested and what:
            said.append(f"{name}: {what}" if len(names) > 1 else what)
    if not said:
        return ""
    return f"At the end {'; '.join(said)} (Welch's t over runs, Holm over all pairs)."


def _describe_peak(
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...], better: tuple[bool | None, ...]
) -> str:
    """Which value of each metric is its best: the highest where neither way is better; and its interval."""
    names = [metric for metric, _ in metrics]
    highest = [name for name, way in zip(names, better, strict=True) if way is None]
    which = "highest" if len(highest) == len(names) else "best"
    some = f" (of {join_names(highest)} the highest)" if highest and which == "best" else ""
    said = f"{which.capitalize()}: the {which} value of the mean curve{some}, picked by looking"
    known = any(ending.peak.low is not None for _, endings in metrics for ending in endings)
    return f"{said}; {'its interval allows for the choice' if known else 'it has no interval'}."


def _describe_intervals(metrics: tuple[tuple[str, tuple[Ending, ...]], ...], level: float) -> str:
    every = [ending for _, endings in metrics for ending in endings]
    if any(ending.final.low is not None for ending in every):
        interval = f"half the {level * 100:g} % confidence interval across runs (Student t)"
        how = f"± is {interval}, at each step by itself."
    elif all(ending.runs == 1 for ending in every):
        return "One run per series: no interval."
    else:
        how = ""
    equal = dict.fromkeys(
        ending.series for ending in every if ending.final.n > 1 and ending.final.low is None
    )
    none = (
        f"{join_names(list(equal), most=6)}: all runs are equal at the last step, so no interval."
        if equal
        else ""
    )
    return f"{how} {none}".strip()


_SPARK_ACROSS, _SPARK_DOWN, _SPARK_PIXELS = 600, 200, 56


def summarize_benchmark(
    benchmark: Benchmark, page: str, curve_set: CurveSet, context: DrawContext
) -> BenchmarkResult:
    """How it ended, the best value, runs, date and protocol in words.

    ``page`` is the page's path below ``content/``.
    """
    spec = make_curve_spec("spark", CurveSettings(), curve_set.metric, context)
    plot = make_plot(curve_set, spec, context)
    leader, end = _describe_standing(curve_set, plot, spec, "")
    _, card = _describe_standing(curve_set, plot, spec, f" {curve_set.metric} at the end")
    ending = "At the end" if spec.higher_is_better is not None else "Highest at the end"
    # A label that says from how many values the best was picked, and the best with its step.
    found = find_bests(list_known_curves(curve_set), plot, lowest=spec.higher_is_better is False)
    steps = join_names([format_value(plot.x, one.step) for one in found])
    names = [one.series for one in found]
    value = read_out_estimate(plot, found[0]) if len(found) == 1 else read_out(plot, found[0].value)
    most = "best" if spec.higher_is_better is not None else "highest"
    label = describe_pick(curve_set, plot, names, most=most).capitalize()
    facts = [
        (ending, f"{leader} {end}".strip()),
        (label, f"{join_names(names)} {value} at {lower_axis_title(plot.x.title)} {steps}"),
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
                Diagnostic(block.location, f'"{name}" is not a benchmark of this report', said)
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
