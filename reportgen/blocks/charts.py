"""Draws a block of any kind: curves, panels and tables here, as well as charts of the author's own."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from reportgen.blocks.observations import mark_points
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.curves.figure import draw_curve, draw_panels
from reportgen.figures.curves.key_results import build_result_table
from reportgen.figures.plot import make_curve_spec, make_panel_specs
from reportgen.figures.render_worker import draw_chart
from reportgen.figures.vega.live import write_compact_json
from reportgen.settings.blocks import (
    AltairSettings,
    CurveSettings,
    ObservationsSettings,
    OutcomeSettings,
    PanelsSettings,
    TableSettings,
    VegaLiteSettings,
)
from reportgen.settings.loading import load_block

if TYPE_CHECKING:
    import pandas as pd

    from reportgen.blocks.draw_inputs import DrawInputs
    from reportgen.blocks.plan import PlannedBlock
    from reportgen.core.cache import Cache
    from reportgen.core.model import Figure, Shown
    from reportgen.figures.plot import DrawContext
    from reportgen.settings.blocks import BlockSettings


MOST_ROWS = 100_000
"""Of a source in a chart of an author's: they stand on the page, each with its columns' names."""


def draw_vega_lite(planned: PlannedBlock, settings: VegaLiteSettings, inputs: DrawInputs) -> Figure:
    """A ``vega-lite`` block with its sources' rows put in."""
    rows = {
        name: _convert_rows(_read_frame(inputs, name, planned.block.location)) for name in planned.sources
    }
    specification = dict(settings.spec)
    if settings.source:
        specification["data"] = {"source": settings.source}
    return draw_author_figure(
        planned.block.id,
        planned.block.kind,
        specification,
        rows,
        title=settings.title,
        caption=_write_caption(settings.caption, planned, inputs),
        summary=settings.summary,
        place=planned.block.location,
    )


def draw_author_chart(planned: PlannedBlock, settings: AltairSettings, inputs: DrawInputs) -> Figure:
    """An ``altair`` block: its function is called with the source's frame.

    Raises:
        ReportError: the report's settings do not allow code, or the function fails.
    """
    place = planned.block.location
    if not inputs.project.settings.allow_code:
        said = f'"{settings.function}" is not run: this report does not allow code'
        step = "Set allow_code: true for the reportgen plugin in mkdocs.yml if you trust every author"
        raise ReportError(Diagnostic(place, said, step, Stage.FIGURE))
    from reportgen.figures.author_charts import run_chart_function  # noqa: PLC0415 - only where code is allowed

    frame = _read_frame(inputs, planned.sources[0], place)
    specification = run_chart_function(inputs.project.root, settings.function, frame, place)
    # A chart may come with outside addresses as well as a block may: the same check reads both.
    checked = load_block("vega-lite", json.dumps(_remove_data(specification)), replace(place, column=None))
    spec: dict[str, Any] = {**specification, "title": checked.title}
    return draw_author_figure(
        planned.block.id,
        planned.block.kind,
        spec,
        {planned.sources[0]: _convert_rows(frame)},
        title=settings.title or checked.title,
        caption=_write_caption(settings.caption, planned, inputs),
        summary=settings.summary,
        place=place,
        draw=lambda spec: _draw_cached(inputs.cache, spec),
    )


def _draw_cached(cache: Cache, specification: dict[str, Any]) -> str:
    """The picture of a chart: an author's function is called each time, what it returns is drawn once."""
    key = cache.make_key("author-chart", version("vl-convert-python"), write_compact_json(specification))
    drawing = cache.get(key)
    if drawing is None:
        drawing = draw_chart(specification).encode()
        cache.put(key, drawing)
    return drawing.decode()


def _remove_data(specification: dict[str, Any]) -> dict[str, Any]:
    """The specification without the rows that Altair put in; an address that it may name stays."""
    rest = {key: value for key, value in specification.items() if key not in {"datasets", "data"}}
    data = specification.get("data")
    if isinstance(data, dict) and "url" in data:
        rest["data"] = data
    return rest


def _read_frame(inputs: DrawInputs, source: str, place: SourceLocation) -> pd.DataFrame:
    """The rows of a source.

    Raises:
        ReportError: there are more than a page can hold.
    """
    from reportgen.read import read_raw_frame  # noqa: PLC0415 - imports the database and pandas

    frame: pd.DataFrame = read_raw_frame(inputs.project.root, inputs.sources[source])
    if len(frame) > MOST_ROWS:
        said = f'"{source}" has {len(frame):,} rows, and a chart takes {MOST_ROWS:,} at most'
        step = "Leave some out with filter: in its source.yml, or make a smaller table of it"
        raise ReportError(Diagnostic(place, said, step, Stage.FIGURE))
    return frame


def _convert_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON has them: every digit of a number, times in ISO 8601, None for what is missing."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    columns = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            column = column.dt.strftime("%Y-%m-%dT%H:%M:%S.%f").str[:-3]
        missing = column.isna() | column.isin([math.inf, -math.inf])
        columns[str(name)] = column.astype(object).mask(missing, None).tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _write_caption(words: str | None, planned: PlannedBlock, inputs: DrawInputs) -> str:
    sources = [inputs.sources[name] for name in planned.sources]
    cautions = dict.fromkeys(s.settings.approximate for s in sources if s.settings.approximate)
    titles = ", ".join(source.settings.title or source.name for source in sources)
    caution = f" ({', '.join(cautions)})" if cautions else ""
    return " ".join(part for part in (words or "", f"Source: {titles}{caution}." if titles else "") if part)


def draw_block(planned: PlannedBlock, settings: BlockSettings, inputs: DrawInputs) -> Shown:
    """What a block shows: a figure, panels, a table or a list, drawn from the data that it names."""
    if isinstance(settings, VegaLiteSettings):
        return draw_vega_lite(planned, settings, inputs)
    if isinstance(settings, TableSettings):
        return _draw_table(planned, settings, inputs)
    if isinstance(settings, OutcomeSettings):
        from reportgen.blocks.scores import draw_score_block  # noqa: PLC0415 - only where there are scores

        return draw_score_block(planned, settings, inputs)
    if isinstance(settings, ObservationsSettings):
        from reportgen.blocks.observations import draw_observations  # noqa: PLC0415 - as above

        return draw_observations(planned, settings, inputs)
    answers = [inputs.answers.get_curves(request) for request in planned.curves]
    context = _make_context(planned, inputs)
    curve_sets = tuple(answer.curve_set for answer in answers)
    if isinstance(settings, CurveSettings):
        marked = mark_points(planned, settings, inputs)
        spec = make_curve_spec(planned.block.id, settings, curve_sets[0].metric, context, marked)
        return draw_curve(curve_sets[0], spec, context)
    if isinstance(settings, PanelsSettings):
        specs = make_panel_specs(planned.block.id, settings, context)
        return draw_panels(planned.block.id, settings, curve_sets, specs, context)
    raise TypeError(planned.block.kind)


def _draw_table(planned: PlannedBlock, settings: TableSettings, inputs: DrawInputs) -> Shown:
    context = _make_context(planned, inputs)
    better = tuple(context.resolve_direction(one.metric, settings.higher_is_better) for one in planned.curves)
    endings = [
        inputs.answers.get_endings(request, higher_is_better=way is not False)
        for request, way in zip(planned.curves, better, strict=True)
    ]
    metrics = tuple(zip((request.metric for request in planned.curves), endings, strict=True))
    leads = tuple(
        inputs.answers.get_curves(request).curve_set.leads[int(way is False)]
        for request, way in zip(planned.curves, better, strict=True)
    )
    return build_result_table(planned.block.id, settings, metrics, context, better=better, leads=leads)


def _make_context(planned: PlannedBlock, inputs: DrawInputs) -> DrawContext:
    answer = inputs.answers.get_curves(planned.curves[0])
    return inputs.make_context(
        planned.block.location, planned.sources[0], answer, planned.page.front_matter.benchmark
    )
