"""The ``plan`` block: what more problems, samples or runs would find, in words, as curves and as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.comparisons import TARGET_POWER
from reportgen.core.model import Cell, Curve, CurveSet, ResultTable, Stack
from reportgen.core.words import format_count, format_percent, join_names
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.curves.figure import draw_plot_figure
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.plot import FigureText, PlotSpec, describe_source, make_step_context
from reportgen.figures.scores.pairs import FOUND_NOTE, describe_power
from reportgen.figures.scores.wording import format_difference, name_metric
from reportgen.figures.style import assign_slots
from reportgen.settings.blocks import ReferenceLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.comparisons import Plan, PlannedDesign
    from reportgen.core.model import Figure
    from reportgen.figures.plot import ChartShape, ScoreContext
    from reportgen.settings.blocks import PlanSettings


_COLUMNS = ("problems", "samples", "runs", "stderr", "difference", "alone", "together", "found")
_PARTS = {
    "problems": "from problems",
    "answers": "from sampled answers",
    "run_problem": "from runs on single problems",
    "runs": "from runs",
}


def draw_plan(
    block_id: str,
    settings: PlanSettings,
    plan: Plan,
    context: ScoreContext,
    *,
    get_chart_spec: Callable[[ChartShape], str],
) -> Stack:
    """What the data find now, what halves the width, the probability against problems, and a table.

    The figure has the id of the block, the table ``<id>-table``.
    """
    title = settings.title or f"What more data on {context.benchmark} would find"
    how = (
        "Power comes from the variances that the data show: between problems, of sampled answers, and "
        "between runs where there are several. The critical value is that of the test of all pairs as it is "
        "now."
    )
    sentences = (
        settings.caption or "",
        FOUND_NOTE,
        how,
        *context.notes,
        f"Source: {describe_source(context)}.",
    )
    return Stack(
        id=block_id,
        title=title,
        subtitle=f"{name_metric(settings.metric, context)}, every pair",
        parts=(
            *write_plan_sentences(plan, context),
            _draw_figure(block_id, settings, plan, context, get_chart_spec),
            build_plan_table(f"{block_id}-table", plan, context),
        ),
        caption=" ".join(filter(None, sentences)),
    )


def write_plan_sentences(plan: Plan, context: ScoreContext) -> tuple[str, ...]:
    """What is found now, what the standard error is made of, and what would halve it."""
    return (
        describe_power(context.benchmark, plan.power, context),
        " ".join(_describe_components(plan, context)),
        " ".join(_describe_halvings(plan)),
    )


def build_plan_table(table_id: str, plan: Plan, context: ScoreContext) -> ResultTable:
    """The probability to find the difference: a row for each number of problems, a column for the rest."""
    columns = list(dict.fromkeys((one.samples, one.runs) for one in plan.designs))
    rows = list(dict.fromkeys(one.problems for one in plan.designs))
    cells = {(one.problems, one.samples, one.runs): one for one in plan.designs}
    return ResultTable(
        id=table_id,
        title=_write_title(plan, context),
        header=("problems", *(_describe_design(plan, *column) for column in columns)),
        rows=tuple(
            (
                Cell(f"{count:,}{' (now)' if count == plan.power.problems else ''}", float(count)),
                *(_build_cell(cells[count, *column]) for column in columns),
            )
            for count in rows
        ),
        caption="",
        csv=_write_csv(plan),
    )


def _write_title(plan: Plan, context: ScoreContext) -> str:
    among = f", among {plan.power.together:,} pairs" if plan.power.family_difference is not None else ""
    said = format_difference(plan.difference, context, signed=False)
    return f"How often a true difference of {said} is found{among}"


def _build_cell(one: PlannedDesign) -> Cell:
    share = _get_probability(one)
    return Cell(format_percent(share, decimals=0).replace("%", " %"), share)


def _get_probability(one: PlannedDesign) -> float:
    return one.alone if one.together is None else one.together


def _describe_design(plan: Plan, samples: int, runs: int) -> str:
    """``4 samples``; where series have runs ``4 samples, 3 runs``."""
    several = any(one.runs > 1 for one in plan.designs)
    said = format_count(samples, "sample")
    return f"{said}, {format_count(runs, 'run')}" if several else said


def _describe_components(plan: Plan, context: ScoreContext) -> Iterator[str]:
    parts = [
        f"{format_difference(one.stderr, context, signed=False)} {_PARTS[one.name]}"
        for one in plan.components
        if one.stderr
    ]
    whole = format_difference(plan.power.stderr or 0.0, context, signed=False)
    if len(parts) == 1:
        (name,) = (one.name for one in plan.components if one.stderr)
        yield f"The standard error of a difference is {whole}, all of it {_PARTS[name]}."
    else:
        yield f"The standard error of a difference is {whole}: {join_names(parts)}; their squares add up."
    for reason in dict.fromkeys(one.reason for one in plan.components if one.reason):
        yield f"{reason[:1].upper()}{reason[1:]}."


def _describe_halvings(plan: Plan) -> Iterator[str]:
    """What can do it by itself, and what cannot."""
    now = {"problems": plan.power.problems, "samples": plan.samples, "runs": plan.runs}
    able = [f"{one.needed:,} {one.what} instead of {now[one.what]:,}" for one in plan.halvings if one.needed]
    unable = [one.what for one in plan.halvings if one.needed is None and not one.reason]
    unknown = [one.what for one in plan.halvings if one.reason]
    if able:
        yield f"Half the width of an interval takes {' or '.join(able)}."
    if unable:
        yield f"No number of {' or '.join(unable)} alone can halve it."
    if unknown:
        yield f"What more {' or '.join(unknown)} would do is not known."


def _draw_figure(
    figure_id: str,
    settings: PlanSettings,
    plan: Plan,
    context: ScoreContext,
    get_chart_spec: Callable[[ChartShape], str],
) -> Figure:
    designs = list(dict.fromkeys((one.samples, one.runs) for one in plan.designs))
    curves = tuple(_make_curve(plan, samples, runs) for samples, runs in designs)
    curve_set = CurveSet(metric="probability (%)", curves=curves, band="none", level=settings.level)
    slots = assign_slots([tuple(curve.series for curve in curve_set.curves)])
    own = replace(context, slots=slots)
    plot_context = make_step_context(own, "problems", get_chart_spec, higher_is_better=True)
    spec = PlotSpec(
        id=figure_id,
        kind="plan",
        title=_write_title(plan, context),
        metric="probability",
        x_title="problems",
        y_title="probability (%)",
        height=settings.height,
        higher_is_better=True,
        y_domain=(0.0, 100.0),
        x_scale="log2",
        references=(ReferenceLine(y=100 * TARGET_POWER, label="four times in five"),),
    )
    plot = make_plot(curve_set, spec, plot_context)
    text = FigureText(
        id=figure_id,
        kind=spec.kind,
        title=spec.title,
        subtitle="by number of problems, a line for other numbers of samples and runs",
        summary=_write_summary(plan, context),
        source=describe_source(context),
        numbers={"difference": plan.difference},
    )
    plot = replace(plot, y=replace(plot.y, unit=" %", read_format=",.0f"))
    return draw_plot_figure(plot, curve_set, text, plot_context)


def _write_summary(plan: Plan, context: ScoreContext) -> str:
    now = (plan.power.problems, plan.samples, plan.runs)
    found = next(one for one in plan.designs if (one.problems, one.samples, one.runs) == now)
    said = format_difference(plan.difference, context, signed=False)
    return (
        f"With the data as they are a true difference of {said} is found in "
        f"{_build_cell(found).text} of cases."
    )


def _make_curve(plan: Plan, samples: int, runs: int) -> Curve:
    points = [one for one in plan.designs if (one.samples, one.runs) == (samples, runs)]
    nothing = np.full(len(points), np.nan)
    return Curve(
        series=_describe_design(plan, samples, runs),
        steps=np.array([one.problems for one in points], dtype=np.float64),
        values=np.array([100 * _get_probability(one) for one in points]),
        low=nothing,
        high=nothing,
        n=np.array([one.problems for one in points], dtype=np.int64),
    )


def _write_csv(plan: Plan) -> str:
    """A row a design, in the unit of the input."""
    rows = (
        (
            *(one.problems, one.samples, one.runs, one.stderr, plan.difference),
            *(one.alone, one.together, one.found),
        )
        for one in plan.designs
    )
    return write_table_csv(_COLUMNS, rows)
