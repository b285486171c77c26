"""Curves in a notebook: as a frame, and as an Altair chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.blocks.results import CurveResult, ResultsStore
from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.core.model import CurveRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.figures.altair_chart import write_chart_spec
from reportgen.figures.curves.figure import write_subtitle
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import build_spec, write_curves_csv
from reportgen.figures.plot import DrawContext, get_shape, make_curve_spec
from reportgen.figures.style import assign_slots
from reportgen.settings.blocks import CurveSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt
    import pandas as pd

    from reportgen.notebook.table import Table
    from reportgen.settings.base import CellValue


def curves(
    table: Table,
    metric: str | None = None,
    *,
    x: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    band: str = "ci",
    level: float = 0.95,
    smooth: float = 0.0,
    max_points: int | None = 400,
) -> pd.DataFrame:
    """The mean of each series at each step, with its interval across runs.

    Args:
        table: from ``read``.
        metric: its name; may be left out where there is only one.
        x: a column or metric used as x; the step if None.
        series: only these, in this order.
        where: column to the values it may have.
        band: ``ci`` (mean ± t(n−1)·s/√n), ``simultaneous``, ``se``, ``sd``, ``range``, ``iqr`` or ``none``.
        level: confidence level of ``ci`` and ``simultaneous``.
        smooth: 0 for none, towards 1 for more.
        max_points: more distinct steps are binned; None for no limit.

    Returns:
        Columns ``series, metric, step, value, low, high, n``, one row a point; ``low`` and ``high`` are
        missing where no interval can be known, as with one run.

    Raises:
        ReportError: an unknown metric, series or column, with the nearest known name.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import

    name, pairs = _choose_metric(table, metric), _list_conditions(where)
    request = CurveRequest(table.source.name, name, x, series, pairs, max_points, smooth, band, level)
    curve_set = _read_curves(table, request).curve_set
    columns = ("series", "metric", "step", "value", "low", "high", "n")
    parts = [
        pd.DataFrame(
            {
                "series": curve.series,
                "metric": curve_set.metric,
                "step": curve.steps,
                "value": curve.values,  # noqa: PD011 - a field of ours, not a frame
                "low": curve.low,
                "high": curve.high,
                "n": curve.n,
            },
            columns=columns,
        )
        for curve in curve_set.curves
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def draw(
    table: Table,
    metric: str | None = None,
    *,
    x: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    band: str = "ci",
    level: float = 0.95,
    smooth: float = 0.0,
    title: str | None = None,
) -> alt.LayerChart:
    """The figure that a ``curve`` block would show, as an Altair chart with its data inside.

    The arguments are those of ``curves``; ``title`` is the chart's.

    Raises:
        ReportError: as ``curves``.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    name, pairs = _choose_metric(table, metric), _list_conditions(where)
    request = CurveRequest(table.source.name, name, x, series, pairs, 400, smooth, band, level)
    answer = _read_curves(table, request)
    context = _make_context(table, answer)
    settings = CurveSettings(title=title)
    plot_spec = make_curve_spec("figure", settings, request.metric, context)
    plot = make_plot(answer.curve_set, plot_spec, context)
    words = write_subtitle(answer.curve_set, plot_spec)
    spec_text = write_chart_spec(get_shape(plot))
    csv = write_curves_csv(answer.curve_set)
    spec = build_spec(plot, answer.curve_set, csv, spec_text, title=plot_spec.title, subtitle=words)
    chart = alt.LayerChart.from_dict(spec)
    if not isinstance(chart, alt.LayerChart):
        raise TypeError(type(chart))
    return chart


def _list_conditions(
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None,
) -> tuple[tuple[str, tuple[CellValue, ...]], ...]:
    return tuple((k, v if isinstance(v, tuple) else (v,)) for k, v in (where or {}).items())


def _choose_metric(table: Table, metric: str | None) -> str:
    if table.source.kind != "measurements":
        message = f'"{table.source.name}" holds scores'
        raise make_error(table.source.location, message, "Use rg.scores or rg.compare", Stage.DATA)
    known = table.metrics
    if metric is None and len(known) == 1:
        return known[0]
    if metric in known:
        return str(metric)
    message = f'"{metric}" is not a metric' if metric else "name a metric"
    step = f"{suggest_name(metric or '', known)}Its metrics are {quote_names(known)}"
    raise make_error(table.source.location, message, step, Stage.DATA)


def _read_curves(table: Table, request: CurveRequest) -> CurveResult:
    return ResultsStore(table.root, {table.source.name: table.source}, [request]).get_curves(request)


def _make_context(table: Table, answer: CurveResult) -> DrawContext:
    names = tuple(curve.series for curve in answer.curve_set.curves)
    return DrawContext(
        place=SourceLocation("notebook"),
        slots=assign_slots([names]),
        higher_is_better=None,
        step_title=answer.step_name.replace("_", " ").strip(),
        step_is_time=answer.step_is_time,
        source=table.source.settings.title or table.source.name,
        approximate=table.source.settings.approximate,
        get_chart_spec=write_chart_spec,
    )
