"""Drawing of ``sweep`` blocks: one value of each run against a setting of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import ReducedMetric, Run
from reportgen.figures.curves.sweep import Sweep, SweepPoint, draw_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, CurveSet, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.blocks.results import CurveResult
    from reportgen.figures.plot import DrawContext
    from reportgen.settings.blocks import SweepSettings


def draw_sweep_block(
    planned: PlannedBlock, settings: SweepSettings, inputs: DrawInputs, context: DrawContext
) -> Stack:
    """Draw a ``sweep`` block; raise ``ReportError`` if runs lack the setting, or it has a single value."""
    (request,) = planned.curves
    result = inputs.answers.get_curves(request)
    better = context.resolve_direction(request.metric, settings.higher_is_better)
    points = [
        _make_point(curve, result, settings, higher=better is not False) for curve in result.curve_set.curves
    ]
    message = ""
    if missing := [point.group for point in points if not point.text]:
        message = f'runs have no "{settings.x}": {", ".join(missing[:3])}'
    elif len({point.text for point in points}) == 1:
        message = f'all runs have the same "{settings.x}", {points[0].text}: there is nothing to compare'
    if message:
        step = "Leave such runs out with filter: or series:" if missing else "Name a setting that differs"
        raise ReportError(Diagnostic(planned.block.location, message, step, Stage.FIGURE))
    curve_set = None
    if all(point.number is not None for point in points):
        curve_set = _make_curves(request.metric, points, settings.level)
    lead = result.curve_set.leads[int(better is False)]
    sweep = Sweep(request.metric, tuple(points), curve_set, settings.level, lead, better)
    return draw_sweep(planned.block.id, settings, sweep, context)


def _make_point(curve: Curve, result: CurveResult, settings: SweepSettings, *, higher: bool) -> SweepPoint:
    from reportgen.statistics.curves.mean_curves import average_runs, measure_runs  # noqa: PLC0415 - only where something is computed

    values = measure_runs(curve, settings.value, higher_is_better=higher)
    text = next(iter(result.settings[curve.series].values())) or ""
    # The first part of the group's name is x, which may have commas of its own.
    rest = ", ".join(curve.series.split(", ")[1 + text.count(", ") :])
    return SweepPoint(
        group=curve.series,
        line=rest or result.curve_set.metric,
        text=text,
        number=_parse_number(text),
        estimate=average_runs(values, settings.level),
        values=values,
    )


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _make_curves(metric: str, points: Sequence[SweepPoint], level: float) -> CurveSet:
    """Return a curve for each line, with the settings as steps and each run at one of them."""
    from reportgen.statistics.curves.mean_curves import compute_curves  # noqa: PLC0415 - as above

    runs = [
        Run(point.line, f"{point.group} {number}", None, np.array([point.number]), np.array([value]))
        for point in sorted(points, key=lambda one: one.number or 0.0)
        for number, value in enumerate(point.values, start=1)
    ]
    reduced = ReducedMetric(metric, tuple(runs), replaced=0, dropped=0, bins=None, given_interval=None)
    return compute_curves(reduced, level=level)
