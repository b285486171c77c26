"""Charts of the author's own: their sources' rows are fetched, their code is run where that is allowed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from reportgen.errors import Problem, ReportError, Stage
from reportgen.figures.custom import draw_author_figure
from reportgen.figures.drawing import draw_chart
from reportgen.figures.live import write_compact_json
from reportgen.settings.loading import load_block

if TYPE_CHECKING:
    import pandas as pd

    from reportgen.cache import Cache
    from reportgen.drafting.desk import DrawInputs
    from reportgen.drafting.plan import PlannedBlock
    from reportgen.errors import SourceLocation
    from reportgen.model import Figure
    from reportgen.settings.blocks import AltairSettings, VegaLiteSettings

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
        raise ReportError(Problem(place, said, step, Stage.FIGURE))
    from reportgen.figures.author_code import run_chart_function  # noqa: PLC0415 - only where code is allowed

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
        raise ReportError(Problem(place, said, step, Stage.FIGURE))
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
