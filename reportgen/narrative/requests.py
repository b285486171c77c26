"""Which curves or outcomes a block asks for, with the defaults of its page and its source filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import quote_names, suggest_name
from reportgen.settings.blocks import (
    AltairSettings,
    ComparisonSettings,
    CurveSettings,
    DataSettings,
    LineSettings,
    MetricSettings,
    OutcomeSettings,
    PanelSettings,
    PanelsSettings,
    ProblemsSettings,
    ScoresSettings,
    TableSettings,
    VegaLiteSettings,
    is_score_metric,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.model import Request
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark


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
        raise ReportError(
            Diagnostic(block.location, said, 'Add a line such as "source: NAME"', Stage.NARRATIVE)
        )
    source = sources[named[0]]
    if source.kind != "measurements":
        said = f'a {block.kind} block draws measurements, and "{source.name}" holds scores'
        raise ReportError(Diagnostic(block.location, said, "Write a scores block instead", Stage.NARRATIVE))
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
    raise ReportError(Diagnostic(place, said, _list_metrics(source)))


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
            raise ReportError(Diagnostic(block.location, said, _list_metrics(source)))
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


def _explain_unknown_metric(place: SourceLocation, source: Source, metric: str) -> Diagnostic:
    said = f'"{metric}" is not a metric of source "{source.name}"'
    return Diagnostic(place, said, f"{suggest_name(metric, source.metrics)}{_list_metrics(source)}")


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


_Settings = TypeVar("_Settings", bound=OutcomeSettings)


def list_score_sources(settings: OutcomeSettings, benchmark: Benchmark | None) -> tuple[str, ...]:
    """The sources that a block about scores reads; the page's benchmark's if it names none."""
    named = settings.sources if isinstance(settings, ComparisonSettings) else ()
    if settings.source:
        named = (settings.source, *named)
    return tuple(dict.fromkeys(named)) or ((benchmark.source,) if benchmark else ())


def fill_defaults(settings: _Settings, benchmark: Benchmark | None) -> _Settings:
    """What a block leaves out, taken from the page's benchmark if it shows that benchmark's source.

    Which way is better is told by benchmark, in ``make_score_requests``.
    """
    own = benchmark if benchmark and benchmark.source in list_score_sources(settings, benchmark) else None
    given: dict[str, object] = {}
    if isinstance(settings, MetricSettings) and "metric" not in settings.model_fields_set:
        # Another metric of the benchmark is told where the benchmark is.
        given["metric"] = own.metric if own and own.metric and is_score_metric(own.metric) else "mean"
    if isinstance(settings, ComparisonSettings) and own:
        given["baseline"] = settings.baseline or own.baseline
    return settings.model_copy(update=given)


def make_score_requests(
    block: Block, settings: OutcomeSettings, benchmark: Benchmark | None, sources: Mapping[str, Source]
) -> tuple[ScoreRequest, ...]:
    """The outcomes behind a block about scores: one request, several for benchmarks side by side.

    Raises:
        ReportError: no source is named and the page has no benchmark, a source holds no outcomes, has no such
            benchmark or column, or it is open which of its benchmarks is meant.
    """
    named = list_score_sources(settings, benchmark)
    if not named:
        said = f"this {block.kind} block names no source and its page has no benchmark"
        raise ReportError(_make_problem(block.location, said, 'Add a line such as "source: NAME"'))
    if settings.source and len(named) > 1:
        said = f"this {block.kind} block names a source and sources"
        raise ReportError(_make_problem(block.location, said, "Write them all under sources"))
    whole = fill_defaults(settings, benchmark)
    found = []
    for name in named:
        source = sources[name]
        _refuse_other_kinds(block, source)
        _refuse_totals(block, whole, source)
        _refuse_unknown_slices(block, settings, source)
        own = benchmark if benchmark and benchmark.source == name else None
        parts = _choose_parts(block, settings, source, own)
        found += [
            _make_score_request(source, part, whole, better=_said(settings, own, part, source))
            for part in parts
        ]
    if block.kind == "comparison" and len(found) == 1 and sources[found[0].source].kind == "totals":
        said = f'"{found[0].source}" holds totals only, and without problems nothing can be paired'
        step = "Write a scores block, or put several benchmarks side by side"
        raise ReportError(_make_problem(block.location, said, step))
    return tuple(found)


def make_score_benchmark_request(benchmark: Benchmark, source: Source, page: Page) -> ScoreRequest:
    """The outcomes that a page's benchmark is ranked by.

    Raises:
        ReportError: its metric is none of scores, or it is open which part of the source is meant.
    """
    place = SourceLocation(page.file, benchmark.line)
    metric = benchmark.metric or "mean"
    if not is_score_metric(metric):
        said = f'"{metric}" is no metric of scores, and "{source.name}" holds outcomes'
        raise ReportError(_make_problem(place, said, "Write mean, or such as avg@16, pass@8, maj@8, pass^8"))
    part = find_part(benchmark, source)
    named = benchmark.benchmark
    if named and named != part:
        raise ReportError(_explain_unknown_part(place, named, source))
    if part is None and source.benchmarks:
        said = f'benchmark "{benchmark.name}" is none of the benchmarks of source "{source.name}"'
        near = suggest_name(benchmark.name, source.benchmarks)
        step = f"{near}Add benchmark: with one of {quote_names(source.benchmarks)}"
        raise ReportError(_make_problem(place, said, step))
    settings = MetricSettings(metric=metric)
    return _make_score_request(source, part, settings, better=benchmark.higher_is_better)


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


def _choose_parts(
    block: Block, settings: OutcomeSettings, source: Source, own: Benchmark | None
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
    default = find_part(own, source) if own else None
    if default is not None:
        return (default,)
    if len(source.benchmarks) == 1 or isinstance(settings, ComparisonSettings):
        return source.benchmarks
    said = f'this {block.kind} block names no benchmark and "{source.name}" has {len(source.benchmarks)}'
    raise ReportError(
        _make_problem(block.location, said, f"Its benchmarks are {quote_names(source.benchmarks)}")
    )


def _said(settings: OutcomeSettings, own: Benchmark | None, part: str | None, source: Source) -> bool | None:
    """Which way block or page say is better; of the source's other benchmarks the page's says nothing."""
    if settings.higher_is_better is None and own is not None and part == find_part(own, source):
        return own.higher_is_better
    return settings.higher_is_better


def _make_score_request(
    source: Source, part: str | None, settings: OutcomeSettings, *, better: bool | None
) -> ScoreRequest:
    """The outcomes of one benchmark; where no author says which way is better, the harness may."""
    where = tuple(
        (column, value if isinstance(value, tuple) else (value,)) for column, value in settings.filter.items()
    )
    return ScoreRequest(
        source=source.name,
        benchmark=part,
        series=settings.series,
        where=where,
        metric=settings.metric if isinstance(settings, MetricSettings) else "mean",
        level=settings.level,
        higher_is_better=(part or "") not in source.lower_is_better if better is None else better,
    )


def _refuse_other_kinds(block: Block, source: Source) -> None:
    if source.kind == "measurements":
        said = f'a {block.kind} block shows scores of problems, and "{source.name}" has none'
        step = "Its data need a column problem and a column score; where they are called otherwise, say so "
        raise ReportError(_make_problem(block.location, said, f"{step}under columns in its source.yml"))


def _refuse_totals(block: Block, settings: OutcomeSettings, source: Source) -> None:
    """Totals have one number a benchmark, and nothing of its problems, samples and answers."""
    if source.kind != "totals":
        return
    step = "Let the harness write the answers, too, as with lm_eval --log_samples, or write a scores block"
    if not isinstance(settings, ScoresSettings | ComparisonSettings):
        said = f'a {block.kind} block shows answers to problems, and "{source.name}" holds totals only'
        raise ReportError(_make_problem(block.location, said, step))
    if settings.metric != "mean":
        said = f'"{source.name}" holds totals only, which give no {settings.metric}'
        raise ReportError(
            _make_problem(block.location, said, step.replace("write a scores block", "leave out metric"))
        )


def _refuse_unknown_slices(block: Block, settings: OutcomeSettings, source: Source) -> None:
    names = settings.slices if isinstance(settings, ProblemsSettings) else ()
    problems = [
        _make_problem(
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
        return _make_problem(
            place, said, "Leave out benchmark, or name the column under columns in source.yml"
        )
    step = f"{suggest_name(name, source.benchmarks)}Its benchmarks are {quote_names(source.benchmarks)}"
    return _make_problem(place, f'"{name}" is no benchmark of source "{source.name}"', step)


def _make_problem(place: SourceLocation, message: str, next_step: str) -> Diagnostic:
    return Diagnostic(place, message, next_step, Stage.NARRATIVE)
