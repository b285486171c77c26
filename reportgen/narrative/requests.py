"""Which curves or outcomes a block asks for, with the defaults of its page and its source filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.settings.blocks import (
    ComparedSettings,
    ComparisonSettings,
    CurveSettings,
    DataSettings,
    LineSettings,
    MetricSettings,
    OutcomeSettings,
    ProblemsSettings,
    ScoresSettings,
    TableSettings,
    is_score_metric,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.model import Request
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark

    _Settings = TypeVar("_Settings", bound=OutcomeSettings)


def list_sources(block: Block, benchmark: Benchmark | None) -> tuple[str, ...]:
    """The sources a block reads; empty for a block without data."""
    named = block.settings.list_sources()
    return named or ((benchmark.source,) if benchmark and block.settings.data else ())


def make_requests(block: Block, page: Page, sources: Mapping[str, Source]) -> tuple[Request, ...]:
    """The curves or outcomes behind a block of a page, in the order they are shown; none for author's charts.

    Raises:
        ReportError: no source or metric is named and none can be taken from the page's benchmark, the source
            holds something else, or it is open which of its benchmarks is meant.
    """
    settings, benchmark = block.settings, page.front_matter.benchmark
    if not isinstance(settings, DataSettings | OutcomeSettings) or not settings.has_topics:
        return ()
    named = list_sources(block, benchmark)
    if not named:
        said = f"this {block.kind} block names no source and its page has no benchmark"
        raise ReportError(Diagnostic(block.location, said, 'Add a line such as "source: NAME"'))
    if isinstance(settings, OutcomeSettings):
        found = _make_score_requests(block, settings, benchmark, [sources[name] for name in named])
        if not isinstance(settings, ComparedSettings) or settings.family == "block":
            return found
        family = sum(getattr(one.settings, "family", "block") == "page" for one in page.blocks)
        return tuple(replace(one, family_blocks=family) for one in found)
    source = sources[named[0]]
    if source.kind != "measurements":
        said = f'a {block.kind} block draws measurements, and "{source.name}" holds scores'
        raise ReportError(Diagnostic(block.location, said, "Write a scores block instead"))
    metrics = block.settings.list_metrics()
    if not metrics and benchmark and benchmark.source == source.name and benchmark.metric:
        metrics = (benchmark.metric,)
    if not metrics:
        if len(source.metrics) != 1:
            said = f'this {block.kind} block names no metric and "{source.name}" has {len(source.metrics)}'
            raise ReportError(Diagnostic(block.location, said, _list_metrics(source)))
        metrics = source.metrics
    unknown = [metric for metric in metrics if metric not in source.metrics]
    if unknown:
        raise ReportError(*(_explain_unknown_metric(block.location, source, metric) for metric in unknown))
    return tuple(_make_curve_request(source.name, metric, settings) for metric in metrics)


def make_benchmark_request(benchmark: Benchmark, source: Source, page: Page) -> Request:
    """The curves or outcomes that a page's benchmark is ranked by.

    Raises:
        ReportError: its metric is unknown, or none is named and the source has several, or it is open which
            part of the source is meant.
    """
    place = SourceLocation(page.file, benchmark.line)
    if source.kind != "measurements":
        return _make_score_benchmark_request(benchmark, source, place)
    metric = benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else "")
    if metric in source.metrics:
        return _make_curve_request(benchmark.source, metric, CurveSettings())
    if metric:
        raise ReportError(_explain_unknown_metric(place, source, metric))
    said = f'benchmark "{benchmark.name}" names no metric and "{source.name}" has {len(source.metrics)}'
    raise ReportError(Diagnostic(place, said, _list_metrics(source)))


# ---- curves


def _make_curve_request(source: str, metric: str, settings: DataSettings) -> CurveRequest:
    line = settings if isinstance(settings, LineSettings) else LineSettings()
    table = settings if isinstance(settings, TableSettings) else None
    return CurveRequest(
        source=source,
        metric=metric,
        x=settings.x,
        series=settings.series,
        where=_list_conditions(settings.filter),
        # A table tells the exact last and best step, so nothing is binned for it.
        max_points=None if table else line.max_points,
        smooth=line.smooth,
        band=line.band.value,
        level=settings.level,
        peak=(table or line).peak.value,
    )


def _list_conditions(
    filters: Mapping[str, CellValue | tuple[CellValue, ...]],
) -> tuple[tuple[str, tuple[CellValue, ...]], ...]:
    return tuple(
        (column, value if isinstance(value, tuple) else (value,)) for column, value in filters.items()
    )


def _explain_unknown_metric(place: SourceLocation, source: Source, metric: str) -> Diagnostic:
    said = f'"{metric}" is not a metric of source "{source.name}"'
    return Diagnostic(place, said, f"{suggest_name(metric, source.metrics)}{_list_metrics(source)}")


def _list_metrics(source: Source) -> str:
    """A next step: which metrics a source has."""
    if not source.metrics:
        return "It has none: look at it with reportgen describe"
    return f"Its metrics are {quote_names(source.metrics)}"


# ---- scores


def fill_defaults(settings: _Settings, benchmark: Benchmark | None) -> _Settings:
    """What a block leaves out, taken from the page's benchmark if it shows that benchmark's source.

    Which way is better is decided for each benchmark, in ``make_requests``.
    """
    named = settings.list_sources()
    own = benchmark if benchmark and (not named or benchmark.source in named) else None
    given: dict[str, object] = {}
    if isinstance(settings, MetricSettings) and "metric" not in settings.model_fields_set:
        # A problem with another metric of the benchmark is reported where the benchmark is.
        given["metric"] = own.metric if own and own.metric and is_score_metric(own.metric) else "mean"
    if isinstance(settings, ComparisonSettings) and own:
        given["baseline"] = settings.baseline or own.baseline
    return settings.model_copy(update=given)


def find_part(benchmark: Benchmark, source: Source) -> str | None:
    """Which value of the source's benchmark column a page's benchmark is; None if that is not known."""
    if benchmark.benchmark:
        return benchmark.benchmark if benchmark.benchmark in source.benchmarks else None
    if benchmark.name in source.benchmarks:
        return benchmark.name
    return source.benchmarks[0] if len(source.benchmarks) == 1 else None


def name_benchmark(request: ScoreRequest, source: Source, benchmark: Benchmark | None) -> str:
    """What a benchmark is called: as the page calls its own, otherwise as the data do, or by its source."""
    own = benchmark if benchmark and benchmark.source == source.name else None
    if own and find_part(own, source) == request.benchmark:
        return own.name
    return request.benchmark or source.settings.title or source.name


def _make_score_requests(
    block: Block, settings: OutcomeSettings, benchmark: Benchmark | None, sources: list[Source]
) -> tuple[ScoreRequest, ...]:
    """One request, several for benchmarks side by side."""
    if settings.source and len(sources) > 1:
        said = f"this {block.kind} block names a source and sources"
        raise ReportError(Diagnostic(block.location, said, "Write them all under sources"))
    whole = fill_defaults(settings, benchmark)
    found = []
    for source in sources:
        _check_source(block, whole, source)
        own = benchmark if benchmark and benchmark.source == source.name else None
        own_part = find_part(own, source) if own else None
        for part in _choose_parts(block, settings, source, own_part):
            better = settings.higher_is_better
            if better is None and own and part == own_part:
                # Of the source's other benchmarks the page's says nothing.
                better = own.higher_is_better
            found.append(_make_score_request(source, part, whole, better=better))
    if block.kind == "comparison" and len(found) == 1 and sources[0].kind == "totals":
        said = f'"{sources[0].name}" holds totals only, and without problems nothing can be paired'
        step = "Write a scores block, or put several benchmarks side by side"
        raise ReportError(Diagnostic(block.location, said, step))
    return tuple(found)


def _make_score_benchmark_request(
    benchmark: Benchmark, source: Source, place: SourceLocation
) -> ScoreRequest:
    metric = benchmark.metric or "mean"
    if not is_score_metric(metric):
        said = f'"{metric}" is no metric of scores, and "{source.name}" holds outcomes'
        raise ReportError(Diagnostic(place, said, "Write mean, or such as avg@16, pass@8, maj@8, pass^8"))
    part, named = find_part(benchmark, source), benchmark.benchmark
    if named and named != part:
        raise ReportError(_explain_unknown_part(place, named, source))
    if part is None and source.benchmarks:
        said = f'benchmark "{benchmark.name}" is none of the benchmarks of source "{source.name}"'
        near = suggest_name(benchmark.name, source.benchmarks)
        step = f"{near}Add benchmark: with one of {quote_names(source.benchmarks)}"
        raise ReportError(Diagnostic(place, said, step))
    settings = MetricSettings(metric=metric)
    return _make_score_request(source, part, settings, better=benchmark.higher_is_better)


def _choose_parts(
    block: Block, settings: OutcomeSettings, source: Source, default: str | None
) -> tuple[str | None, ...]:
    """Values of the source's benchmark column, None where it has none."""
    names = (settings.benchmark,) if settings.benchmark else ()
    if isinstance(settings, ComparisonSettings):
        names = tuple(dict.fromkeys((*names, *settings.benchmarks)))
    unknown = [name for name in names if name not in source.benchmarks]
    if unknown:
        raise ReportError(*(_explain_unknown_part(block.location, name, source) for name in unknown))
    if names:
        return names
    if not source.benchmarks:
        return (None,)
    if default is not None:
        return (default,)
    if len(source.benchmarks) == 1 or isinstance(settings, ComparisonSettings):
        return source.benchmarks
    said = f'this {block.kind} block names no benchmark and "{source.name}" has {len(source.benchmarks)}'
    raise ReportError(
        Diagnostic(block.location, said, f"Its benchmarks are {quote_names(source.benchmarks)}")
    )


def _make_score_request(
    source: Source, part: str | None, settings: OutcomeSettings, *, better: bool | None
) -> ScoreRequest:
    """The outcomes of one benchmark; where no author says which way is better, the harness may."""
    return ScoreRequest(
        source=source.name,
        benchmark=part,
        series=settings.series,
        where=_list_conditions(settings.filter),
        metric=settings.metric if isinstance(settings, MetricSettings) else "mean",
        level=settings.level,
        higher_is_better=(part or "") not in source.lower_is_better if better is None else better,
    )


def _check_source(block: Block, settings: OutcomeSettings, source: Source) -> None:
    """Refuse a source without scores, totals where answers are needed, and unknown columns to slice by."""
    said, step = "", ""
    if source.kind == "measurements":
        said = f'a {block.kind} block shows scores of problems, and "{source.name}" has none'
        step = "Its data need a column problem and a column score; where they are called otherwise, say so "
        step += "under columns in its source.yml"
    elif source.kind == "totals":
        # One number a benchmark, and nothing of its problems, samples and answers.
        step = "Let the harness write the answers, too, as with lm_eval --log_samples, or "
        if not isinstance(settings, ScoresSettings | ComparisonSettings):
            said = f'a {block.kind} block shows answers to problems, and "{source.name}" holds totals only'
            step += "write a scores block"
        elif settings.metric != "mean":
            said = f'"{source.name}" holds totals only, which give no {settings.metric}'
            step += "leave out metric"
    if said:
        raise ReportError(Diagnostic(block.location, said, step))
    names = settings.slices if isinstance(settings, ProblemsSettings) else ()
    problems = [
        Diagnostic(
            block.location,
            f'"{name}" is no column of source "{source.name}" to slice by',
            f"{suggest_name(name, source.slices)}There are {quote_names(source.slices) or 'none'}",
        )
        for name in names
        if name not in source.slices
    ]
    if problems:
        raise ReportError(*problems)


def _explain_unknown_part(place: SourceLocation, name: str, source: Source) -> Diagnostic:
    if not source.benchmarks:
        said = f'source "{source.name}" has no column that names benchmarks, so none is called "{name}"'
        return Diagnostic(place, said, "Leave out benchmark, or name the column under columns in source.yml")
    step = f"{suggest_name(name, source.benchmarks)}Its benchmarks are {quote_names(source.benchmarks)}"
    return Diagnostic(place, f'"{name}" is no benchmark of source "{source.name}"', step)
