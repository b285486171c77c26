"""Which curves a block asks for, with the defaults of its page and its source filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.model import CurveRequest
from reportgen.naming import quote_names, suggest_name
from reportgen.narrative.score_requests import (
    list_score_sources,
    make_score_benchmark_request,
    make_score_requests,
)
from reportgen.settings.blocks import (
    AltairSettings,
    CurveSettings,
    DataSettings,
    LineSettings,
    PanelSettings,
    PanelsSettings,
    TableSettings,
    VegaLiteSettings,
)
from reportgen.settings.score_blocks import OutcomeSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.model import Block, Page, Request, Source
    from reportgen.settings.front_matter import Benchmark


def list_sources(block: Block, benchmark: Benchmark | None) -> tuple[str, ...]:
    """The sources a block reads; empty for a block without data."""
    settings = block.settings
    if isinstance(settings, VegaLiteSettings):
        inside = _find_sources(settings.spec)
        return tuple(dict.fromkeys(([settings.source] if settings.source else []) + inside))
    if isinstance(settings, DataSettings):
        if settings.source:
            return (settings.source,)
        return (benchmark.source,) if benchmark else ()
    return list_score_sources(settings, benchmark) if isinstance(settings, OutcomeSettings) else ()


def make_requests(block: Block, page: Page, sources: Mapping[str, Source]) -> tuple[Request, ...]:
    """The curves or outcomes behind a block of a page, in the order they are shown; none for author's charts.

    Raises:
        ReportError: no source or metric is named and none can be taken from the page's benchmark, or the
            source holds something else.
    """
    settings, benchmark = block.settings, page.front_matter.benchmark
    if isinstance(settings, OutcomeSettings):
        found = make_score_requests(block, settings, benchmark, sources)
        family = sum(getattr(one.settings, "family", "block") == "page" for one in page.blocks)
        alone = getattr(settings, "family", "block") == "block"
        return found if alone else tuple(replace(one, family_blocks=family) for one in found)
    if isinstance(settings, AltairSettings) or not isinstance(settings, DataSettings):
        return ()
    named = list_sources(block, benchmark)
    if not named:
        said = f"this {block.kind} block names no source and its page has no benchmark"
        raise ReportError(Problem(block.location, said, 'Add a line such as "source: NAME"', Stage.NARRATIVE))
    source = sources[named[0]]
    if source.kind != "measurements":
        said = f'a {block.kind} block draws measurements, and "{source.name}" holds scores'
        raise ReportError(Problem(block.location, said, "Write a scores block instead", Stage.NARRATIVE))
    return tuple(
        _make_curve_request(source.name, metric, settings)
        for metric in _choose_metrics(block, source, benchmark)
    )


def make_benchmark_request(benchmark: Benchmark, source: Source, page: Page) -> Request:
    """The curves or outcomes that a page's benchmark is ranked by.

    Raises:
        ReportError: its metric is unknown, or none is named and the source has several.
    """
    if source.kind != "measurements":
        return make_score_benchmark_request(benchmark, source, page)
    place = SourceLocation(page.file, benchmark.line)
    metric = benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else "")
    if metric in source.metrics:
        return _make_curve_request(benchmark.source, metric, CurveSettings())
    if metric:
        raise ReportError(_explain_unknown_metric(place, source, metric))
    said = f'benchmark "{benchmark.name}" names no metric and "{source.name}" has {len(source.metrics)}'
    raise ReportError(Problem(place, said, _list_metrics(source)))


def _make_curve_request(source: str, metric: str, settings: DataSettings) -> CurveRequest:
    line = settings if isinstance(settings, LineSettings) else LineSettings()
    where = tuple(
        (column, value if isinstance(value, tuple) else (value,)) for column, value in settings.filter.items()
    )
    return CurveRequest(
        source=source,
        metric=metric,
        x=settings.x,
        series=settings.series,
        where=where,
        # A table tells the exact last and best step, so nothing is binned for it.
        max_points=None if isinstance(settings, TableSettings) else line.max_points,
        smooth=line.smooth,
        band=line.band.value,
        level=settings.level,
        peak=(settings if isinstance(settings, TableSettings) else line).peak.value,
    )


def _choose_metrics(block: Block, source: Source, benchmark: Benchmark | None) -> tuple[str, ...]:
    metrics = _list_named_metrics(block)
    if not metrics:
        if benchmark and benchmark.source == source.name and benchmark.metric:
            metrics = (benchmark.metric,)
        elif len(source.metrics) == 1:
            metrics = source.metrics
        else:
            said = f'this {block.kind} block names no metric and "{source.name}" has {len(source.metrics)}'
            raise ReportError(Problem(block.location, said, _list_metrics(source)))
    unknown = [metric for metric in metrics if metric not in source.metrics]
    if unknown:
        raise ReportError(*(_explain_unknown_metric(block.location, source, metric) for metric in unknown))
    return metrics


def _list_named_metrics(block: Block) -> tuple[str, ...]:
    settings = block.settings
    if isinstance(settings, PanelsSettings):
        return tuple(m.metric if isinstance(m, PanelSettings) else m for m in settings.metrics)
    if isinstance(settings, TableSettings) and settings.metrics:
        return settings.metrics
    if isinstance(settings, CurveSettings | TableSettings) and settings.metric:
        return (settings.metric,)
    return ()


def _explain_unknown_metric(place: SourceLocation, source: Source, metric: str) -> Problem:
    said = f'"{metric}" is not a metric of source "{source.name}"'
    return Problem(place, said, f"{suggest_name(metric, source.metrics)}{_list_metrics(source)}")


def _list_metrics(source: Source) -> str:
    """A next step: which metrics a source has."""
    if not source.metrics:
        return "It has none: look at it with reportgen describe"
    return f"Its metrics are {quote_names(source.metrics)}"


def _find_sources(value: object) -> list[str]:
    """Every ``data: {source: NAME}`` of a specification, outermost first."""
    if isinstance(value, list):
        return [name for item in value for name in _find_sources(item)]
    if not isinstance(value, dict):
        return []
    data = value.get("data")
    here = [data["source"]] if isinstance(data, dict) and isinstance(data.get("source"), str) else []
    return here + [name for item in value.values() for name in _find_sources(item)]
