"""Power with more data (``plan``): the probability of finding a difference, as a figure and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from reportgen.core.comparisons import TARGET_POWER
from reportgen.core.model import Cell, Curve, CurveSet, ResultTable, Stack
from reportgen.core.words import format_count, format_percent, join_names
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import draw_plot_figure
from reportgen.figures.plot import FigureText, PlotSpec, describe_source, join_caption, make_step_context
from reportgen.figures.scores.pass_curve import choose_percent_format, make_score_curve
from reportgen.figures.scores.wording import format_difference, name_metric
from reportgen.figures.style import assign_slots
from reportgen.figures.text import write_table_csv
from reportgen.settings.block_parts import ReferenceLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.comparisons import Plan, PlannedDesign, Power
    from reportgen.core.model import Figure
    from reportgen.figures.plot import ChartShape, ScoreContext
    from reportgen.settings.score_blocks import PlanSettings


_COLUMNS = ("problems", "samples", "runs", "stderr", "difference", "alone", "together", "found")
_FOUND_NOTE = "Detected: the comparison gets a verdict, for a pair with the mean variance of all pairs."
_PARTS = {
    "problems": "from problems",
    "answers": "from sampled answers",
    "runs": "from runs",
}


def draw_plan(
    block_id: str,
    settings: PlanSettings,
    plan: Plan,
    context: ScoreContext,
    *,
    get_chart: Callable[[ChartShape], str],
) -> Stack:
    """Draw the current power, what halves intervals, the probability by number of problems, and a table.

    The figure has the id of the block, the table ``<id>-table``.
    """
    how = (
        "Power comes from the variances that the data show: between problems, of sampled answers, and "
        "between runs where there are several. The critical value is that of the test of all pairs as it is "
        "now."
    )
    return Stack(
        id=block_id,
        title=settings.title or f"What more data on {context.benchmark} would find",
        subtitle=f"{name_metric(settings.metric, context)}, every pair",
        parts=(
            *write_plan_sentences(plan, context),
            _draw_plan_figure(block_id, settings, plan, context, get_chart),
            build_plan_table(f"{block_id}-table", plan, context),
        ),
        caption=join_caption((), context, how=(_FOUND_NOTE, how)),
    )


def write_plan_sentences(plan: Plan, context: ScoreContext) -> tuple[str, ...]:
    """Describe the current power, the components of the standard error, and what would halve it."""
    known = [(_PARTS[part.name], part.stderr) for part in plan.components if part.stderr]
    whole = format_difference(plan.power.stderr or 0.0, context, signed=False)
    parts = [f"{format_difference(stderr, context, signed=False)} {origin}" for origin, stderr in known]
    made = (
        f", all of it {known[0][0]}." if len(known) == 1 else f": {join_names(parts)}; their squares add up."
    )
    components = [f"The standard error of a difference is {whole}{made}"]
    reasons = dict.fromkeys(part.reason for part in plan.components if part.reason)
    components += [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons]
    if plan.runs > 1:
        # The relative standard error of a standard deviation from two sides of r runs is 1 / √(2 · 2(r − 1)).
        error = format_percent(0.5 / math.sqrt(plan.runs - 1), decimals=0)
        components += [f"What comes from {plan.runs:,} runs a side is known to about {error} of itself only."]
    now = {"problems": plan.power.problems, "samples": plan.samples, "runs": plan.runs}
    able = [f"{one.needed:,} {one.what} instead of {now[one.what]:,}" for one in plan.halvings if one.needed]
    unable = [one.what for one in plan.halvings if one.needed is None and not one.reason]
    unknown = [one.what for one in plan.halvings if one.reason]
    halvings = (
        f"Halving an interval takes {' or '.join(able)}." if able else "",
        f"No number of {' or '.join(unable)} alone can halve it." if unable else "",
        f"What more {' or '.join(unknown)} would do is not known." if unknown else "",
    )
    found = _describe_power(plan.power, context)
    return found, " ".join(components), " ".join(filter(None, halvings))


def _describe_power(power: Power, context: ScoreContext) -> str:
    """Describe how large a true difference must be to be found."""
    together = power.family_difference is not None
    among = f" among {power.together:,} pairs" if together or power.reason else ""
    if power.reason:
        return f"{power.reason[0].upper()}{power.reason[1:]}{among}."
    fewest, most = power.runs
    runs = f" and {fewest if fewest == most else f'{fewest} to {most}'} runs of each series"
    basis = f"{format_count(power.problems, 'problem')} of {context.benchmark}{runs if most > 1 else ''}"
    least = format_difference(power.family_difference or power.difference or 0.0, context, signed=False)
    power_percent = format_percent(TARGET_POWER, decimals=0)
    return f"The {basis} give {power_percent} power for a true difference of {least}{among}."


def build_plan_table(table_id: str, plan: Plan, context: ScoreContext) -> ResultTable:
    """Build the table of probabilities, with a row for each number of problems."""
    columns = list(dict.fromkeys((design.samples, design.runs) for design in plan.designs))
    cells = {(design.problems, design.samples, design.runs): design for design in plan.designs}
    rows = (
        (
            *(design.problems, design.samples, design.runs, design.stderr, plan.difference),
            *(design.alone, design.together, design.found),
        )
        for design in plan.designs
    )
    return ResultTable(
        id=table_id,
        title=_write_plan_title(plan, context),
        header=("problems", *(_name_design(plan, *column) for column in columns)),
        rows=tuple(
            (
                Cell(f"{count:,}{' (now)' if count == plan.power.problems else ''}", float(count)),
                *(_build_cell(cells[count, *column]) for column in columns),
            )
            for count in dict.fromkeys(design.problems for design in plan.designs)
        ),
        caption="",
        csv=write_table_csv(_COLUMNS, rows),
    )


def _write_plan_title(plan: Plan, context: ScoreContext) -> str:
    among = f", among {plan.power.together:,} pairs" if plan.power.family_difference is not None else ""
    size = format_difference(plan.difference, context, signed=False)
    return f"How often a true difference of {size} is found{among}"


def _name_design(plan: Plan, samples: int, runs: int) -> str:
    """Return ``4 samples``, or ``4 samples, 3 runs`` if series have runs."""
    name = format_count(samples, "sample")
    return f"{name}, {format_count(runs, 'run')}" if any(d.runs > 1 for d in plan.designs) else name


def _build_cell(design: PlannedDesign) -> Cell:
    share = design.alone if design.together is None else design.together
    return Cell(format_percent(share, decimals=0), share)


def _draw_plan_figure(
    figure_id: str,
    settings: PlanSettings,
    plan: Plan,
    context: ScoreContext,
    get_chart: Callable[[ChartShape], str],
) -> Figure:
    curves = tuple(_make_plan_curves(plan))
    curve_set = CurveSet(metric="probability (%)", curves=curves, band="none", level=settings.level)
    slots = assign_slots([tuple(curve.series for curve in curves)])
    plot_context = make_step_context(
        replace(context, slots=slots), "problems", get_chart, higher_is_better=True
    )
    spec = PlotSpec(
        id=figure_id,
        kind="plan",
        title=_write_plan_title(plan, context),
        metric="probability",
        x_title="problems",
        y_title="probability (%)",
        height=settings.height,
        higher_is_better=True,
        y_domain=(0.0, 100.0),
        x_scale="log2",
        references=(ReferenceLine(y=100 * TARGET_POWER, label="80% power"),),
    )
    plot = make_plot(curve_set, spec, plot_context)
    text = FigureText(
        id=figure_id,
        kind=spec.kind,
        title=spec.title,
        subtitle="power by number of problems, one line per number of samples and runs",
        summary=_write_plan_summary(plan, context),
        source=describe_source(context),
        numbers={"difference": plan.difference},
    )
    shown = np.concatenate([line.values for line in plot.lines])
    read_format = choose_percent_format(shown, 0)
    plot = replace(plot, y=replace(plot.y, unit="%", read_format=read_format, precision=None))
    return draw_plot_figure(plot, curve_set, text, plot_context)


def _write_plan_summary(plan: Plan, context: ScoreContext) -> str:
    now = (plan.power.problems, plan.samples, plan.runs)
    present = next(one for one in plan.designs if (one.problems, one.samples, one.runs) == now)
    size = format_difference(plan.difference, context, signed=False)
    return f"The current data detect a true difference of {size} in {_build_cell(present).text} of the time."


def _make_plan_curves(plan: Plan) -> Iterator[Curve]:
    for samples, runs in dict.fromkeys((design.samples, design.runs) for design in plan.designs):
        points = [one for one in plan.designs if (one.samples, one.runs) == (samples, runs)]
        sizes = [point.problems for point in points]
        shares = [(_build_cell(point).sort, None, None) for point in points]
        yield make_score_curve(_name_design(plan, samples, runs), sizes, sizes, shares, 100)
