"""Drawing of blocks of all kinds, and of curves, sweeps and author-defined charts."""

from __future__ import annotations

import json
import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.model import Figure, Overview, Panels, Stack
from reportgen.core.plugins import import_object
from reportgen.core.words import join_names, quote_names, suggest_name
from reportgen.draft.blocks.draw_inputs import SeriesColours, check_colours, list_cautions, make_curve_context
from reportgen.draft.blocks.observations import mark_points
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.curves.differences import draw_differences
from reportgen.figures.curves.figure import draw_curve, draw_panels
from reportgen.figures.curves.plotting import show_gaps, sort_curves
from reportgen.figures.curves.several_metrics import (
    check_axes,
    draw_coloured_panels,
    draw_keyed_lines,
    name_y_axis,
)
from reportgen.figures.curves.small_multiples import FACET_HEIGHT, draw_small_multiples
from reportgen.figures.plot import RightAxis, make_curve_spec, make_panel_specs
from reportgen.figures.render import draw_chart
from reportgen.figures.style import fix_slots
from reportgen.figures.text import write_compact_json
from reportgen.narrative.requests import list_joined
from reportgen.settings.base import PALETTE, name_joined
from reportgen.settings.blocks import get_kind, report_failures
from reportgen.settings.loading import load_block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from reportgen.core.model import Curve, CurveRequest, CurveSet, Shown
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.figures.plot import DrawContext, PlotSpec
    from reportgen.settings.block_parts import AltairSettings, ChartSettings, VegaLiteSettings
    from reportgen.settings.blocks import CurveSettings, PanelsSettings


MOST_ROWS = 100_000
"""Most rows of a source in an author-defined chart, since the page holds each row with its column names."""


def draw_vega_lite(planned: PlannedBlock, settings: VegaLiteSettings, inputs: DrawInputs) -> Figure:
    """Draw a ``vega-lite`` block with the rows of its sources."""
    frames = {name: _read_frame(inputs, name, planned.block.location) for name in planned.sources}
    specification = dict(settings.spec)
    if settings.source:
        specification["data"] = {"source": settings.source}
    return _draw_author_chart(planned, settings, inputs, specification, frames)


def draw_altair(planned: PlannedBlock, settings: AltairSettings, inputs: DrawInputs) -> Figure:
    """Draw an ``altair`` block by calling its function with the source's data frame.

    Raises ``ReportError`` if the report's settings do not allow code, or the function fails.
    """
    place, source = planned.block.location, _find_source(planned)
    if inputs.project.skips_code:
        return _draw_author_chart(planned, settings, inputs, {"mark": "point"}, {})
    if not inputs.project.settings.allow_code:
        said = f'"{settings.function}" is not run: this report does not allow code'
        step = "Set allow_code: true for the reportgen plugin in mkdocs.yml if you trust every author"
        raise ReportError(Diagnostic(place, said, step, Stage.FIGURE))
    from reportgen.figures.author_charts import run_chart_function  # noqa: PLC0415 - only where code is allowed

    frame = _read_frame(inputs, source, place)
    specification = run_chart_function(inputs.project.root, settings.function, frame, place)
    return _draw_altair_chart(planned, settings, inputs, specification, {source: frame})


def draw_installed(planned: PlannedBlock, settings: ChartSettings, inputs: DrawInputs) -> Figure:
    """Draw a block of another package, whose function gets a copy of the source's data frame.

    Raises ``ReportError`` if the function fails.
    """
    from reportgen.figures.author_charts import make_specification  # noqa: PLC0415 - as above

    block, kind, source = planned.block, get_kind(planned.block.kind), _find_source(planned)
    frame = _read_frame(inputs, source, block.location)
    with report_failures(block.kind, block.location):
        chart = kind.chart(frame.copy(), settings) if kind.chart else None
    specification = make_specification(chart, block.kind, block.location)
    return _draw_altair_chart(planned, settings, inputs, specification, {source: frame})


def _find_source(planned: PlannedBlock) -> str:
    joined = list_joined(planned.block, planned.page.front_matter.benchmark)
    return name_joined(joined) if joined else planned.sources[0]


def _draw_altair_chart(
    planned: PlannedBlock,
    settings: ChartSettings,
    inputs: DrawInputs,
    specification: dict[str, Any],
    frames: Mapping[str, pd.DataFrame],
) -> Figure:
    """Draw what a function returned.

    Raises ``ReportError`` if it names an outside address or has something else that a block may not have.
    """
    # A chart can contain external URLs, just as a block can, so it goes through the same check. That skips
    # the rows that Altair inlined, but not the URL of data.
    checked = {key: value for key, value in specification.items() if key not in {"datasets", "data"}}
    if isinstance(data := specification.get("data"), dict) and "url" in data:
        checked["data"] = data
    place = replace(planned.block.location, column=None)
    title = load_block("vega-lite", json.dumps(checked), place).title

    def draw_once(spec: dict[str, Any]) -> str:  # called each time, but equal charts are drawn once
        key = inputs.cache.make_key("author-chart", version("vl-convert-python"), write_compact_json(spec))
        return inputs.cache.memo(key, str, lambda: draw_chart(spec))

    titled = {**specification, "title": title}
    return _draw_author_chart(planned, settings, inputs, titled, frames, draw=draw_once)


def _draw_author_chart(
    planned: PlannedBlock,
    settings: VegaLiteSettings | ChartSettings,
    inputs: DrawInputs,
    specification: dict[str, Any],
    frames: Mapping[str, pd.DataFrame],
    *,
    draw: Callable[[dict[str, Any]], str] = draw_chart,
) -> Figure:
    sources = [inputs.sources[name] for name in planned.sources]
    titles = ", ".join(source.settings.title or source.name for source in sources)
    source_words = f"Source: {titles}{list_cautions(sources)}." if titles else ""
    return draw_author_figure(
        planned.block.id,
        planned.block.kind,
        specification,
        {name: _convert_rows(frame) for name, frame in frames.items()},
        title=settings.title,
        caption=source_words,
        summary=settings.summary,
        place=planned.block.location,
        draw=draw,
    )


def _read_frame(inputs: DrawInputs, source: str, place: SourceLocation) -> pd.DataFrame:
    """Read the rows of a source; raise ``ReportError`` if there are too many for a page."""
    from reportgen.read import read_raw_frame  # noqa: PLC0415 - imports the database and pandas

    frame: pd.DataFrame = read_raw_frame(inputs.project.root, inputs.sources[source])
    if len(frame) > MOST_ROWS:
        said = f'"{source}" has {len(frame):,} rows, but a chart can have at most {MOST_ROWS:,}'
        step = "Leave some out with filter: in its source.yml, or make a smaller table of it"
        raise ReportError(Diagnostic(place, said, step, Stage.FIGURE))
    return frame


def _convert_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert rows to JSON values: full-precision numbers, times in ISO 8601, None for missing values."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    columns = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            column = column.dt.strftime("%Y-%m-%dT%H:%M:%S.%f").str[:-3]
        missing = column.isna() | column.isin([math.inf, -math.inf])
        columns[str(name)] = column.astype(object).mask(missing, None).tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def draw_curve_block(planned: PlannedBlock, settings: CurveSettings, inputs: DrawInputs) -> Figure | Panels:
    """Draw a ``curve`` block: a figure, or small multiples."""
    results = [inputs.answers.get_curves(request) for request in planned.curves]
    context = make_curve_context(planned, inputs)
    if settings.baseline:
        return _draw_from_baseline(settings.baseline, planned, settings, inputs, context)
    curve_sets = tuple(show_gaps(result.curve_set) for result in results)
    marked = mark_points(planned, settings, inputs)
    if len(curve_sets) == 1 and not settings.colour and not settings.axis:
        spec = make_curve_spec(planned.block.id, settings, curve_sets[0].metric, context, marked)
        spec = replace(spec, y_title=settings.y_title or _add_unit(planned.curves[0], inputs))
        if not settings.facet:
            difference = _subtract_second(curve_sets[0], spec) if settings.difference else None
            return draw_curve(curve_sets[0], spec, context, difference)
        height = spec.height if "height" in settings.model_fields_set else FACET_HEIGHT
        return draw_small_multiples(curve_sets[0], replace(spec, height=height), context)
    if settings.facet:
        message = f"facet: series draws one metric, and these are {len(curve_sets)}"
        step = "Write a block for each metric, or leave out facet"
        raise ReportError(Diagnostic(planned.block.location, message, step, Stage.FIGURE))
    metrics = [one.metric for one in curve_sets]
    axis = {metrics[-1]: "right"} if settings.axis == "right" else settings.axis
    colours = {series: colour for result in results for series, colour in result.colours.items()}
    ways = {metric: context.resolve_direction(metric, settings.higher_is_better) for metric in metrics}
    better, better_at_right = check_axes(ways, axis, context)
    spec = make_curve_spec(planned.block.id, settings, join_names(metrics), context, marked)
    titles: dict[bool, list[str]] = {False: [], True: []}
    for request in planned.curves:
        titles[request.metric in axis].append(_add_unit(request, inputs))
    y_title = settings.y_title or name_y_axis(titles[False])
    at_right = tuple(metric for metric in metrics if metric in axis)
    right = RightAxis(at_right, name_y_axis(titles[True]), better_at_right) if at_right else None
    spec = replace(spec, y_title=y_title, higher_is_better=better, right=right)
    return draw_keyed_lines(curve_sets, spec, context, colours, settings.colour or "series")


def _subtract_second(curve_set: CurveSet, spec: PlotSpec) -> Curve | None:
    """Return the difference of two lines, of the leader minus the other where that is known.

    Otherwise they are in their order. Smoothed lines and log axes have no difference.
    """
    from reportgen.statistics.curves.differences import subtract_second  # noqa: PLC0415 - computes

    if len(curve_set.curves) != 2 or curve_set.smooth or spec.y_scale == "log":  # noqa: PLR2004 - a pair
        return None
    lower_first = spec.higher_is_better is False
    a, b = sort_curves(curve_set.curves, spec.order, lower_first=lower_first)
    if curve_set.leads[int(lower_first)].pair == (b.series, a.series):
        a, b = b, a
    return subtract_second(a, b, curve_set)


def _draw_from_baseline(
    baseline: str, planned: PlannedBlock, settings: CurveSettings, inputs: DrawInputs, context: DrawContext
) -> Figure:
    """Draw differences; raise a ``ReportError`` for several metrics, or if there is nothing to subtract."""
    from reportgen.statistics.curves.differences import subtract_baseline  # noqa: PLC0415 - computes

    message, step = "", ""
    curve_set = inputs.answers.get_curves(planned.curves[0]).curve_set
    names = [curve.series for curve in curve_set.curves]
    if len(planned.curves) > 1:
        message = f"baseline draws the differences of one metric, and these are {len(planned.curves)}"
        step = "Write a block for each metric, or leave out baseline"
    elif baseline not in names:
        message = f'baseline: "{baseline}" is not a series of this figure'
        step = f"{suggest_name(baseline, names)}It has {quote_names(names)}"
    elif not (differences := subtract_baseline(curve_set, baseline)).curves:
        message = f'no other series has steps of "{baseline}", the baseline'
        step = "Leave out baseline, or show more series"
    else:
        spec = make_curve_spec(planned.block.id, settings, curve_set.metric, context)
        return draw_differences(differences, spec, context, baseline)
    raise ReportError(Diagnostic(planned.block.location, message, step, Stage.FIGURE))


def _add_unit(request: CurveRequest, inputs: DrawInputs) -> str:
    """Return a metric's name, with its unit if it is derived and has one."""
    unit = inputs.answers.parse_formula(request).unit if request.formula else ""
    return (
        f"{request.metric} ({unit})" if unit and not request.metric.endswith((")", "]")) else request.metric
    )


def draw_panels_block(planned: PlannedBlock, settings: PanelsSettings, inputs: DrawInputs) -> Panels:
    """Draw a ``panels`` block."""
    results = [inputs.answers.get_curves(request) for request in planned.curves]
    curve_sets = tuple(show_gaps(result.curve_set) for result in results)
    context = make_curve_context(planned, inputs)
    specs = make_panel_specs(planned.block.id, settings, context)
    if not settings.colour:
        return draw_panels(planned.block.id, settings, curve_sets, specs, context)
    colours = {series: colour for result in results for series, colour in result.colours.items()}
    return draw_coloured_panels(planned.block.id, settings, curve_sets, specs, context, colours=colours)


def draw_block(planned: PlannedBlock, inputs: DrawInputs) -> Shown:
    """Draw a block from the data that it names.

    Raises ``ReportError`` if it has a colour for a series that it does not show.
    """
    colours = getattr(planned.block.settings, "colours", None)
    if colours and not planned.block.settings.x_is_setting:  # which has lines of its own
        by_request = inputs.colours.names
        names = tuple(dict.fromkeys(name for one in planned.requests for name in by_request.get(one, ())))
        check_colours(planned, colours, names)
        fixed = {name: PALETTE.index(colour) for name, colour in colours.items()}
        slots = fix_slots(inputs.colours.slots, names, fixed)
        inputs = replace(inputs, colours=SeriesColours(slots, by_request))
    draw: Callable[[PlannedBlock, Any, DrawInputs], Shown] = import_object(get_kind(planned.block.kind).draw)
    shown = _place_words(draw(planned, planned.block.settings, inputs), planned.block.settings.caption or "")
    if not planned.others:
        return shown
    others, problems = [], Diagnostics()
    for other in planned.others:
        with problems.collecting():
            others.append(draw(other, other.block.settings, inputs))
    if getattr(planned.block.settings, "other_x", None) != "auto":
        problems.raise_errors()  # what the author named; of the rest, a count may stand still, and is no axis
    # The payload of a figure holds those of the same with another x, without what names its steps.
    figures = []
    for figure, *same in zip(*map(_list_figures, (shown, *others)), strict=True):
        whole = json.loads(str(figure.payload))
        place = {name: whole[name] for name in ("margins", "height")}  # the plot keeps its place
        whole["others"] = [json.loads(str(other.payload)) | place for other in same]
        for payload in whole["others"]:
            payload.pop("of", None)
        views = tuple(other.view for other in same)
        figures.append(replace(figure, payload=write_compact_json(whole), other_views=views))
    return replace(shown, figures=tuple(figures)) if isinstance(shown, Panels) else figures[0]


def _place_words(shown: Shown, words: str) -> Shown:
    """Put an author's caption before that of what a block shows, or of its first part that has one."""
    if not words or isinstance(shown, Overview):
        return shown
    place = next((at for at, part in enumerate(getattr(shown, "parts", ())) if not isinstance(part, str)), -1)
    if not isinstance(shown, Stack) or place < 0:
        return replace(shown, words=words)
    return replace(
        shown,
        parts=tuple(
            replace(part, words=words) if at == place and not isinstance(part, str) else part
            for at, part in enumerate(shown.parts)
        ),
    )


def _list_figures(shown: Shown) -> tuple[Figure, ...]:
    if isinstance(shown, Panels):
        return shown.figures
    return (shown,) if isinstance(shown, Figure) else ()
