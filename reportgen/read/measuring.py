"""A source's metrics as one lazy tidy table."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import narwhals as nw

from reportgen.errors import Problem, ReportError, Stage
from reportgen.model import Measurements
from reportgen.read.engine import get_engine
from reportgen.read.plan import MeasurementQuery, plan_measurements
from reportgen.read.repeats import check_steps
from reportgen.read.statement import build_statement
from reportgen.read.tabular.faults import explain_errors, find_faults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.settings.blocks import CellValue

_EVERYTHING: Mapping[str, CellValue | tuple[CellValue, ...]] = MappingProxyType({})


def read_measurements(
    project_root: Path,
    source: Source,
    metrics: tuple[str, ...],
    *,
    x: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] = _EVERYTHING,
) -> Measurements:
    """Metrics of a source as a lazy table: nothing is read before it is collected.

    Whoever collects the frame does it inside ``measurements.reading()``, which turns what the files have
    wrong into a ``ReportError`` with every file and line.

    Args:
        project_root: the folder that the source's files are relative to.
        source: from ``open_source`` or ``open_path``.
        metrics: names of metrics; their rows come in one pass over the files.
        x: a column, or another metric of the same runs, used as the step.
        series: only these series, in this order.
        where: only rows whose column has this value, or one of these; besides the source's own filter.

    Returns:
        The table. An interval of the data's own is handed over as it is: ``low`` and ``high``, or
        ``stderr`` (std / sqrt(n) where ``std`` and ``n`` are given) and ``n``.

    Raises:
        ReportError: metrics, columns or series that the source does not have.
    """
    plan = plan_measurements(project_root, source, MeasurementQuery(metrics, x, series, where))
    if plan.repeat == "mean" and plan.given_interval:
        message = f"repeat: mean cannot average the intervals that the data give ({plan.given_interval})"
        advice = "Say repeat: runs, or rename the columns of the intervals"
        raise ReportError(Problem(source.location, message, advice, Stage.SETTINGS))

    def report_errors() -> AbstractContextManager[None]:
        times = {plan.step} if plan.step_is_time else set()
        return explain_errors(
            project_root,
            source.location,
            lambda: find_faults(project_root, plan.layout.files, plan.list_numbers(), times),
        )

    with report_errors():
        relation = get_engine().open_cursor().sql(build_statement(project_root, plan))
    return Measurements(
        frame=nw.from_native(relation).lazy(),
        step_name=plan.step_name,
        step_is_time=plan.step_is_time,
        given_interval=plan.given_interval,
        order=plan.layout.series if series is None else series,
        reading=report_errors,
        check_repeats=lambda: check_steps(project_root, plan),
    )
