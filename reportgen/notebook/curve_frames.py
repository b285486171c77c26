"""Curves in a notebook, as a data frame and as an Altair chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.core.model import CurveRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.draft.blocks.results import CurveResult, ResultsStore
from reportgen.figures.altair_chart import write_chart_spec
from reportgen.figures.curves.figure import write_subtitle
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import CURVE_COLUMNS, build_spec, write_curves_csv
from reportgen.figures.plot import DrawContext, get_shape, make_curve_spec
from reportgen.figures.style import assign_slots
from reportgen.notebook.tables import explain_frames, open_data
from reportgen.settings.base import list_accepted
from reportgen.settings.blocks import CurveSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt
    import pandas as pd

    from reportgen.notebook.tables import Data, Table
    from reportgen.settings.base import CellValue


@explain_frames
def curves(
    data: Data,
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
    """Compute the mean of each series at each step, with its interval across runs.

    Args:
        data: the result of ``read``, or a data frame with the same columns as a data file.
        metric: name of the metric; optional if there is only one.
        x: column or metric to use as x; the step if None.
        series: series to include, in this order; all if None.
        where: allowed value or values of each column.
        band: ``ci`` (mean ± t(n−1)·s/√n), ``simultaneous``, ``se``, ``sd``, ``range``, ``iqr`` or ``none``.
        level: confidence level of ``ci`` and ``simultaneous``.
        smooth: amount of smoothing, from 0 for none towards 1.
        max_points: maximum number of distinct steps, above which they are binned; None for no limit.

    Returns:
        Columns ``series, metric, step, value, low, high, n``, with one row per point. ``low`` and ``high``
        are NaN if no interval can be known, as with one run.

    Raises:
        ReportError: the metric, series or column is unknown; the error suggests the nearest known name.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import

    table = open_data(data)
    pairs = tuple((name, list_accepted(cell)) for name, cell in (where or {}).items())
    request = CurveRequest(table.source.name, "", x, series, pairs, max_points, smooth, band, level)
    curve_set = _compute(table, metric, request).curve_set
    parts = []
    for curve in curve_set.curves:
        arrays = (curve.steps, curve.values, curve.low, curve.high, curve.n)  # noqa: PD011 - a field of ours
        values = (curve.series, curve_set.metric, *arrays)
        parts.append(pd.DataFrame(dict(zip(CURVE_COLUMNS, values, strict=True))))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=CURVE_COLUMNS)


@explain_frames
def draw(
    data: Data,
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
    """Draw the figure of a ``curve`` block as an Altair chart that includes its data.

    The arguments are those of ``curves``, and ``title`` is the title of the chart.

    Raises:
        ReportError: as for ``curves``.
    """
    import altair as alt  # noqa: PLC0415 - slow to import

    table = open_data(data)
    pairs = tuple((name, list_accepted(cell)) for name, cell in (where or {}).items())
    request = CurveRequest(table.source.name, "", x, series, pairs, 400, smooth, band, level)
    result = _compute(table, metric, request)
    curve_set, settings = result.curve_set, table.source.settings
    context = DrawContext(
        place=SourceLocation("notebook"),
        slots=assign_slots([tuple(curve.series for curve in curve_set.curves)]),
        higher_is_better=None,
        step_title=result.step_name.replace("_", " ").strip(),
        step_is_time=result.step_is_time,
        source=settings.title or table.source.name,
        approximate=settings.approximate,
        get_chart_spec=write_chart_spec,
        percent=settings.list_percent((curve_set.metric,)),
    )
    plot_spec = make_curve_spec("figure", CurveSettings(title=title), curve_set.metric, context)
    plot = make_plot(curve_set, plot_spec, context)
    words, csv = write_subtitle(curve_set, plot_spec), write_curves_csv(curve_set)
    chart_spec = write_chart_spec(get_shape(plot))
    spec = build_spec(plot, curve_set, csv, chart_spec, title=plot_spec.title, subtitle=words)
    chart = alt.LayerChart.from_dict(spec)
    if not isinstance(chart, alt.LayerChart):
        raise TypeError(type(chart))
    return chart


def _compute(table: Table, metric: str | None, request: CurveRequest) -> CurveResult:
    """Compute the curves of a request for a metric, which is optional if there is only one."""
    source, known = table.source, table.metrics
    if source.kind != "measurements":
        message = f'"{source.name}" holds scores'
        raise make_error(source.location, message, "Use rg.scores or rg.compare", Stage.DATA)
    name = known[0] if metric is None and len(known) == 1 else metric
    if not known:
        message = f'"{source.name}" has no metric: no column of numbers other than the step'
        raise make_error(source.location, message, "Give it a column of numbers for each metric", Stage.DATA)
    if name is None or name not in known:
        message = f'"{metric}" is not a metric' if metric else "name a metric"
        step = f"{suggest_name(metric or '', known)}Its metrics are {quote_names(known)}"
        raise make_error(source.location, message, step, Stage.DATA)
    request = replace(request, metric=name)
    return ResultsStore(table.root, {source.name: source}, [request]).get_curves(request)
