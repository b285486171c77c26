"""Which outcomes a block about scores asks for, with the defaults of its page and its source filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.model import ScoreRequest
from reportgen.naming import quote_names, suggest_name
from reportgen.settings.score_blocks import (
    ComparisonSettings,
    MetricSettings,
    OutcomeSettings,
    ProblemsSettings,
    ScoresSettings,
    is_score_metric,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.model import Block, Page, Source
    from reportgen.settings.front_matter import Benchmark

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


def _explain_unknown_part(place: SourceLocation, name: str, source: Source) -> Problem:
    if not source.benchmarks:
        said = f'source "{source.name}" has no column that names benchmarks, so none is called "{name}"'
        return _make_problem(
            place, said, "Leave out benchmark, or name the column under columns in source.yml"
        )
    step = f"{suggest_name(name, source.benchmarks)}Its benchmarks are {quote_names(source.benchmarks)}"
    return _make_problem(place, f'"{name}" is no benchmark of source "{source.name}"', step)


def _make_problem(place: SourceLocation, message: str, next_step: str) -> Problem:
    return Problem(place, message, next_step, Stage.NARRATIVE)
