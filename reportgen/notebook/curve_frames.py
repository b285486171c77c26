"""Curves in a notebook, as a data frame and as an Altair chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import SourceLocation, Stage, make_error
from reportgen.core.model import Figure
from reportgen.core.words import quote_names, suggest_name
from reportgen.draft.blocks.charts import draw_block
from reportgen.draft.blocks.draw_inputs import DrawInputs, SeriesColours
from reportgen.draft.blocks.kinds import plan_block
from reportgen.draft.blocks.results import ResultsStore
from reportgen.draft.gathering import choose_metrics
from reportgen.figures.live import CURVE_COLUMNS
from reportgen.figures.style import assign_slots
from reportgen.notebook.tables import explain_frames, open_data
from reportgen.settings.blocks import CurveSettings
from reportgen.settings.inputs import Block, Page
from reportgen.settings.report import FrontMatter, Project, ProjectSettings
from reportgen.settings.validation_errors import validate_tree
from reportgen.settings.yaml_tree import from_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import pandas as pd

    from reportgen.core.model import CurveRequest
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.notebook.tables import Data, Table
    from reportgen.settings.base import CellValue

_NOTEBOOK = SourceLocation("notebook")
# The keys of a curve block that only a page has.
_OF_SITES = ("accept", "caption", "pdf")
_OF_PAGES = ("id", "source", "filter", "facet", "difference", "other_x", "annotate", *_OF_SITES)
_LOOKS = frozenset(CurveSettings.model_fields) - {*_OF_PAGES}
_COMPUTED = ("metric", "x", "series", "where", "by", "band", "level", "smooth", "max_points")


@explain_frames
def curves(
    data: Data,
    metric: str | Sequence[str] | Mapping[str, str] | None = None,
    *,
    x: str | Mapping[str, str] | None = None,
    series: str | Sequence[str] | None = None,
    where: Mapping[str, CellValue | Sequence[CellValue]] | None = None,
    by: str | Sequence[str] | None = None,
    band: str = "ci",
    level: float = 0.95,
    smooth: float = 0.0,
    max_points: int | None = 400,
    **others: object,
) -> pd.DataFrame:
    """Compute the mean of each series at each step, with its interval across runs.

    Args:
        data: the result of ``read``, or a data frame with the same columns as a data file.
        metric: the metric, a list of metrics and patterns such as ``rewards/*``, or ``{name: formula}``;
            optional if there is only one.
        x: column or metric to use as x, or ``{formula: name}``; the step if None.
        series: names and patterns of series to include, in this order; all if None.
        where: allowed value or values of each column, which may be patterns or conditions such as
            ``"<= 1e-5"``; the key ``filter`` of a block.
        by: setting or settings whose values are the series.
        band: ``ci`` (mean ± t(n−1)·s/√n), ``simultaneous``, ``se``, ``sd``, ``range``, ``iqr`` or ``none``.
        level: confidence level of ``ci`` and ``simultaneous``.
        smooth: amount of smoothing, from 0 for none towards 1.
        max_points: maximum number of distinct steps, above which they are binned; None for no limit.
        others: refused by name: what only a chart has is an option of ``draw``.

    Returns:
        Columns ``series, metric, step, value, low, high, n``, with one row per point. ``low`` and ``high``
        are NaN if no interval can be known, as with one run.

    Raises:
        ReportError: the metric, series, column or option is unknown; the error suggests the nearest known
            name.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import

    table = open_data(data)
    options: dict[str, object] = {
        "metric": metric,
        "x": x,
        "series": series,
        "filter": where,
        "by": by,
        "band": band,
    }
    options |= {"level": level, "smooth": smooth, "max_points": max_points, **others}
    planned = _plan_curves(table, "rg.curves", options, _COMPUTED)
    requests = planned.curves
    if max_points is None:
        requests = tuple(replace(request, max_points=None) for request in requests)
    answers = _open_results(table, requests)
    curve_sets = [answers.get_curves(request).curve_set for request in requests]
    parts = []
    for name, curve in ((one.metric, curve) for one in curve_sets for curve in one.curves):
        arrays = (curve.steps, curve.values, curve.low, curve.high, curve.n)  # noqa: PD011 - a field of ours
        values = (curve.series, name, *arrays)
        parts.append(pd.DataFrame(dict(zip(CURVE_COLUMNS, values, strict=True))))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=CURVE_COLUMNS)


@explain_frames
def draw(
    data: Data,
    metric: str | Sequence[str] | Mapping[str, str] | None = None,
    *,
    x: str | Mapping[str, str] | None = None,
    series: str | Sequence[str] | None = None,
    where: Mapping[str, CellValue | Sequence[CellValue]] | None = None,
    by: str | Sequence[str] | None = None,
    band: str = "ci",
    level: float = 0.95,
    smooth: float = 0.0,
    **options: object,
) -> alt.LayerChart:
    """Draw the figure of a ``curve`` block as an Altair chart that includes its data.

    The named arguments are those of ``curves``. Others are keys of a ``curve`` block about its look:
    ``title``, ``colour``, ``colours``, ``order``, ``highlight``, ``format``, ``reference``, ``annotations``,
    ``axis``, ``runs``, ``height``, ``max_points``, and titles, ends and scales of its axes, such as
    ``y_title``, ``y_domain`` and ``y_scale``.

    Raises:
        ReportError: as for ``curves``.
    """
    from reportgen.figures.charts.chart import read_chart  # noqa: PLC0415 - imports Altair
    from reportgen.read.runs.stored import get_temporary_cache  # noqa: PLC0415 - imports the database

    table = open_data(data)
    options |= {"metric": metric, "x": x, "series": series, "filter": where, "by": by}
    options |= {"band": band, "level": level, "smooth": smooth}
    drawn = [name for name in CurveSettings.model_fields if name not in _OF_PAGES]
    planned = _plan_curves(table, "rg.draw", options, ["where", *drawn])
    answers = _open_results(table, planned.curves)
    names = {request: answers.get_colour_names(request) for request in planned.requests}
    colours = SeriesColours(assign_slots(names.values()), names)
    project = Project(table.root, "", (), ProjectSettings())
    inputs = DrawInputs(project, {table.source.name: table.source}, answers, colours, get_temporary_cache())
    figure = draw_block(planned, inputs)
    if not isinstance(figure, Figure):
        raise TypeError(type(figure))
    return read_chart(str(figure.spec))


def _plan_curves(
    table: Table, function: str, options: Mapping[str, object], known: Sequence[str]
) -> PlannedBlock:
    """Plan the curves of a call, of which the options are checked as the keys of a block are.

    ``known`` are the options that the function has.
    """
    source = table.source
    if source.kind != "measurements":
        message = f'"{source.name}" holds scores'
        raise make_error(source.location, message, "Use rg.scores or rg.compare", Stage.DATA)
    if not source.metrics:
        message = f'"{source.name}" has no metric: no column of numbers other than the step'
        raise make_error(source.location, message, "Give it a column of numbers for each metric", Stage.DATA)
    for name in options:
        if name not in known and name != "filter":
            advice = "It is one of rg.draw. " if name in _LOOKS else suggest_name(name, known)
            message = f'"{name}" is no option of {function}'
            raise make_error(
                _NOTEBOOK, message, f"{advice}There are {quote_names(known, most=40)}", Stage.DATA
            )
    given = {name: value for name, value in options.items() if value is not None}
    settings = validate_tree(CurveSettings, from_value(given, _NOTEBOOK, None), function)
    chosen = choose_metrics(settings.model_copy(update={"source": source.name}), source)
    block = Block("curve", "figure", chosen, _NOTEBOOK, "")
    page = Page("", _NOTEBOOK.file, "", FrontMatter(), (block,), "")
    return plan_block(block, page, {source.name: source})


def _open_results(table: Table, requests: Sequence[CurveRequest]) -> ResultsStore:
    return ResultsStore(table.root, {table.source.name: table.source}, requests)
