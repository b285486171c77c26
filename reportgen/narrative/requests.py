"""The curves or outcomes that a block shows, with defaults from its page and its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import (
    choose_names,
    explain_unmatched,
    is_pattern,
    matches_pattern,
    quote_names,
    suggest_formula,
    suggest_name,
)
from reportgen.settings.base import list_accepted, name_joined
from reportgen.settings.block_parts import DataSettings, list_groupings
from reportgen.settings.blocks import CurveSettings, LineSettings, TableSettings, get_kind
from reportgen.settings.inputs import get_settings_file
from reportgen.settings.score_blocks import (
    BenchmarksSettings,
    ComparedSettings,
    ComparisonSettings,
    LadderSettings,
    MetricSettings,
    OutcomeSettings,
    ProblemsSettings,
    ScoresSettings,
    SweepSettings,
    is_score_metric,
)
from reportgen.settings.yaml_tree import write_flow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import Request
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.report import Benchmark

    _Settings = TypeVar("_Settings", bound=OutcomeSettings)


# The keys of a sweep that select and score the rows of scores.
_OF_SCORES = ("source", "benchmark", "metric", "series", "filter", "level", "higher_is_better")


def list_sources(block: Block, benchmark: Benchmark | None) -> tuple[str, ...]:
    """Return the sources that a block reads; empty for a block without data."""
    named = block.settings.list_sources()
    return named or (benchmark.sources if benchmark and block.settings.data else ())


def list_joined(block: Block, benchmark: Benchmark | None) -> tuple[str, ...]:
    """Return the sources whose series a block shows together; empty for a block of one or of none."""
    named = getattr(block.settings, "source", None)
    if not block.settings.list_sources():
        named = list_sources(block, benchmark)
    return named if isinstance(named, tuple) and len(named) > 1 else ()


def has_sources(block: Block, benchmark: Benchmark | None, sources: Mapping[str, Source]) -> bool:
    """Return whether all sources that a block reads could be opened, and joined if it shows several."""
    joined = list_joined(block, benchmark)
    needed = (*list_sources(block, benchmark), *([name_joined(joined)] if joined else []))
    return all(name in sources for name in needed)


def _list_shown(block: Block, benchmark: Benchmark | None, sources: Mapping[str, Source]) -> list[Source]:
    """Return the sources that a block's requests are about: several shown together as one."""
    joined, names = list_joined(block, benchmark), list_sources(block, benchmark)
    if not joined:
        return [sources[name] for name in names]
    rest = [name for name in names if name not in joined]
    return [sources[name_joined(joined)], *(sources[name] for name in rest)]


def is_about(benchmark: Benchmark, source: Source) -> bool:
    """Return whether a source is that of a benchmark, or shows it together with others."""
    return set(benchmark.sources) <= {one.name for one in list_parts(source)}


def list_parts(source: Source) -> tuple[Source, ...]:
    """Return the sources of those that are shown together, or the source itself."""
    return tuple(part.source for part in source.parts) or (source,)


def make_requests(block: Block, page: Page, sources: Mapping[str, Source]) -> tuple[Request, ...]:
    """Return the curves or outcomes that a block shows, in order; none for an author's own chart.

    Raises:
        ReportError: the page's benchmark gives no source or metric that the block omits, the source holds
            something else, or it is unclear which of its benchmarks is meant.
    """
    settings, benchmark = block.settings, page.front_matter.benchmark
    names = list_sources(block, benchmark)
    if not names and settings.data:
        message = f"this {block.kind} block names no source and its page has no benchmark"
        raise ReportError(Diagnostic(block.location, message, 'Add a line such as "source: NAME"'))
    if not isinstance(settings, DataSettings | OutcomeSettings) or not settings.has_topics:
        return ()
    shown = _list_shown(block, benchmark, sources)
    if isinstance(settings, SweepSettings) and shown[0].kind != "measurements":
        settings = _make_sweep_of_scores(settings, shown[0], block.location)
    if isinstance(settings, OutcomeSettings):
        requests = _make_score_requests(block, settings, benchmark, shown)
        if not isinstance(settings, ComparedSettings):
            return requests
        family = sum(getattr(other.settings, "family", "block") == "page" for other in page.blocks)
        how = {"estimand": settings.estimand, "adjust": settings.adjust}
        blocks = family if settings.family == "page" else 1
        return tuple(replace(request, family_blocks=blocks, **how) for request in requests)
    source = shown[0]
    _check_measured(block, settings, source)
    metrics, formulas = settings.list_metrics(), settings.list_formulas()
    if not metrics and benchmark and is_about(benchmark, source) and benchmark.metric:
        metrics = (benchmark.metric,)
    logged = tuple(name for name in metrics if not formulas.get(name))
    if logged or not metrics:
        whose = f"this {block.kind} block"
        numbers = get_kind(block.kind).settings.takes_numbers
        chosen = _choose_metrics(logged, source, block.location, whose, numbers=numbers)
        metrics = metrics or chosen
    return tuple(
        _make_curve_request(source, metric, settings, formulas.get(metric, "")) for metric in metrics
    )


def _check_measured(block: Block, settings: DataSettings, source: Source) -> None:
    """Refuse a block of curves, or of final values, for what a source does not have."""
    if source.kind != "measurements":
        message = f'a {block.kind} block draws measurements, and "{source.name}" holds scores'
        raise ReportError(Diagnostic(block.location, message, "Write a scores block instead"))
    if chosen_part := getattr(settings, "benchmark", None):
        raise ReportError(explain_benchmark(chosen_part, source.name, block.location))
    if isinstance(settings, LineSettings) or (settings.x and not settings.x_is_setting):
        check_steps(source, block.location, f"this {block.kind} block")


def check_steps(source: Source, place: SourceLocation, what: str) -> None:
    """Refuse ``what`` needs steps for a table of finished runs, which have none."""
    finished = [one.name for one in list_parts(source) if one.settings.form == "runs"]
    if finished:
        message = f'{what} needs steps, and each run of "{finished[0]}" has one value of a metric'
        step = "Write a sweep, scatter, distribution, table or runs-table block"
        raise ReportError(Diagnostic(place, message, step))


def explain_score_metric(metric: str, source: str, place: SourceLocation) -> Diagnostic:
    """Return the problem that a metric, in quotes, is none of scores."""
    message = f'{metric} is no metric of scores, and "{source}" holds scores'
    return Diagnostic(place, message, "Write mean, or such as avg@16, pass@8, maj@8, pass^8")


def explain_benchmark(benchmark: str, source: str, place: SourceLocation) -> Diagnostic:
    """Return the problem that a block of measurements names a benchmark."""
    message = f'benchmark: {benchmark} chooses rows of scores, and "{source}" holds measurements'
    return Diagnostic(place, message, "Leave it out, or choose rows with filter")


def _make_sweep_of_scores(settings: SweepSettings, source: Source, place: SourceLocation) -> MetricSettings:
    """Return what a sweep shows of scores; raise ``ReportError`` for what only measurements have."""
    problems = []
    if settings.value != "final":
        message = f'value: {settings.value} picks a step of each run, and "{source.name}" holds scores'
        problems.append(Diagnostic(place, message, "Leave out value"))
    if isinstance(settings.metric, dict) or not is_score_metric(settings.metric or "mean"):
        metric = quote_names(settings.list_metrics())
        problems.append(explain_score_metric(metric, source.name, place))
    if problems:
        raise ReportError(*problems)
    given = {name: getattr(settings, name) for name in settings.model_fields_set & set(_OF_SCORES)}
    return MetricSettings(**given, by=(settings.x, *list_groupings(settings.by)))


def make_benchmark_request(benchmark: Benchmark, source: Source, page: Page) -> Request:
    """Return the curves or outcomes that a page's benchmark is ranked by.

    Raises:
        ReportError: its metric is unknown, or none is named and the source has several, or it is unclear
            which part of the source is meant.
    """
    place = SourceLocation(page.file, benchmark.line)
    if source.kind == "measurements":
        own = (benchmark.metric,) if benchmark.metric else ()
        (metric,) = _choose_metrics(own, source, place, f'benchmark "{benchmark.name}"')
        return _make_curve_request(source, metric, CurveSettings())
    metric = benchmark.metric or "mean"
    if not is_score_metric(metric):
        raise ReportError(explain_score_metric(f'"{metric}"', source.name, place))
    part, named = _find_part(benchmark, source), benchmark.benchmark
    if named and named != part:
        raise ReportError(_explain_part(place, named, source))
    if part is None and source.benchmarks:
        message = f'benchmark "{benchmark.name}" is none of the benchmarks of source "{source.name}"'
        near, names = suggest_name(benchmark.name, source.benchmarks), quote_names(source.benchmarks)
        raise ReportError(Diagnostic(place, message, f"{near}Add benchmark: with one of {names}"))
    settings, better = MetricSettings(metric=metric), benchmark.higher_is_better
    return _make_score_request(source, part, settings, better=better)


def _choose_metrics(
    named: tuple[str, ...], source: Source, place: SourceLocation, whose: str, *, numbers: bool = False
) -> tuple[str, ...]:
    """Return the metrics that a block or benchmark names, or the only one of the source.

    With ``numbers``, settings of finished runs can be named, too.
    """
    unknown = [
        (metric, one)
        for metric in named
        for one in ((source,) if is_pattern(metric) else list_parts(source))
        if metric not in one.metrics and not (numbers and metric in one.numbers)
    ]
    problems = []
    for metric, one in unknown:
        formula = suggest_formula(metric)
        message = f'"{metric}" is not a metric of source "{one.name}"'
        others = one.numbers if numbers else ()
        step = f"{formula or suggest_name(metric, (*one.metrics, *others))}{_list_metrics(one)}"
        step += f", and its settings {quote_names(others)}" if others else ""
        if is_pattern(metric) and not formula:
            message, step = explain_unmatched(metric, "metric", one.metrics, f'source "{one.name}"')
            matched = () if metric.startswith("!") else choose_names([metric], one.metrics).names
            if len(matched) > 1:
                message = f'{whose} draws one metric, and "{metric}" matches {len(matched)}'
                step = f"Name one of {quote_names(matched)}"
        elif one.is_sampled:
            every = write_flow([*one.metrics, metric])
            step += f", in a sample of its rows; if others have it, say metrics: {every} in source.yml"
        problems.append(Diagnostic(place, message, step))
    if not named and len(source.metrics) != 1:
        message = f'{whose} names no metric and "{source.name}" has {len(source.metrics)}'
        problems = [Diagnostic(place, message, _list_metrics(source))]
    if problems:
        raise ReportError(*problems)
    return named or source.metrics


def _list_metrics(source: Source) -> str:
    if not source.metrics:
        return "It has none: look at it with reportgen describe"
    which = "The metrics of each" if source.parts else "Its metrics"
    return f"{which} are {quote_names(source.metrics)}"


def _make_curve_request(
    source: Source, metric: str, settings: DataSettings, formula: str = ""
) -> CurveRequest:
    line = settings if isinstance(settings, LineSettings) else LineSettings()
    table = settings if isinstance(settings, TableSettings) else None
    # Of a sweep x is a setting, which groups runs. Tables and ladders show exact steps: nothing is binned.
    sweep = isinstance(settings, SweepSettings)
    x = None if sweep else settings.x
    order = settings.order or "id" if isinstance(settings, LadderSettings) else ""
    return CurveRequest(
        source=source.name,
        metric=metric,
        x=next(iter(x)) if isinstance(x, dict) else x,
        x_formula=next(iter(x.values())) if isinstance(x, dict) else "",
        series=_list_series(settings, source),
        where=_list_conditions(settings),
        max_points=None if table or sweep or order else line.max_points,
        smooth=line.smooth,
        band=line.band.value,
        level=settings.level,
        peak=(table or line).peak.value,
        formula=formula,
        by=(*([settings.x] if isinstance(settings, SweepSettings) else []), *list_groupings(settings.by)),
        colour=line.colour,
        value=settings.value if isinstance(settings, SweepSettings) else "",
        log=line.x_scale == "log" and not table and not sweep,
        order=order,
    )


def _list_series(settings: DataSettings | OutcomeSettings, source: Source) -> tuple[str, ...] | None:
    """Return the series of a block; of joined sources those that names and patterns choose.

    There, a name that several sources have is that series of each of them.
    """
    if settings.series is None or not source.parts:
        return settings.series
    # The name of each series in its own source, and among all.
    pairs = [pair for part in source.parts for pair in part.names.items()]
    known = [name for _, name in pairs]
    found: list[str] = []
    for text in settings.series:
        excluding = text.startswith("!") and text not in known
        pattern = text[1:].strip() if excluding else text
        same = [text] if text in known else [name for own, name in pairs if pattern in {own, name}]
        same = same or [pair[1] for pair in pairs if any(matches_pattern(pattern, name) for name in pair)]
        found += [f"!{name}" if excluding else name for name in same] or [text]
    chosen = choose_names(found, known)
    # Reading explains what chooses nothing.
    return chosen.names if chosen.names and not chosen.unmatched else tuple(dict.fromkeys(found))


def _list_conditions(
    settings: DataSettings | OutcomeSettings,
) -> tuple[tuple[str, tuple[CellValue, ...]], ...]:
    values = settings.filter.items()
    return tuple((column, list_accepted(value)) for column, value in values)


def fill_defaults(settings: _Settings, benchmark: Benchmark | None) -> _Settings:
    """Fill in what a block omits from the page's benchmark, if it shows that benchmark's source.

    Which direction is better is decided for each benchmark, in ``make_requests``.
    """
    named = settings.list_sources()
    own = benchmark if benchmark and (not named or set(benchmark.sources) <= set(named)) else None
    given: dict[str, object] = {}
    if isinstance(settings, MetricSettings) and "metric" not in settings.model_fields_set:
        # Any other metric of the benchmark is reported at the benchmark.
        given["metric"] = own.metric if own and own.metric and is_score_metric(own.metric) else "mean"
    if isinstance(settings, ComparisonSettings) and own:
        given["baseline"] = settings.baseline or own.baseline
    return settings.model_copy(update=given)


def _find_part(benchmark: Benchmark, source: Source) -> str | None:
    """Return the value of the source's benchmark column for a page's benchmark, or None if unknown."""
    if benchmark.benchmark:
        return benchmark.benchmark if benchmark.benchmark in source.benchmarks else None
    if benchmark.name in source.benchmarks:
        return benchmark.name
    return source.benchmarks[0] if len(source.benchmarks) == 1 else None


def name_benchmark(request: ScoreRequest, source: Source, benchmark: Benchmark | None) -> str:
    """Return a benchmark's name: the page's own name, otherwise that in the data or of the source."""
    own = benchmark if benchmark and is_about(benchmark, source) else None
    if own and _find_part(own, source) == request.benchmark:
        return own.name
    return request.benchmark or source.settings.title or source.name


def _make_score_requests(
    block: Block, settings: OutcomeSettings, benchmark: Benchmark | None, sources: Sequence[Source]
) -> tuple[ScoreRequest, ...]:
    """Return one request, or several for benchmarks side by side."""
    if settings.source and len(sources) > 1:
        message = f"this {block.kind} block names a source and sources"
        raise ReportError(Diagnostic(block.location, message, "Write them all under sources"))
    whole = fill_defaults(settings, benchmark)
    requests = []
    for source in sources:
        _check_source(block, whole, source)
        own = benchmark if benchmark and is_about(benchmark, source) else None
        own_part = _find_part(own, source) if own else None
        for part in _choose_parts(block, settings, source, own_part):
            better = settings.higher_is_better
            if better is None and own and part == own_part:
                # The page's benchmark does not define the source's other benchmarks.
                better = own.higher_is_better
            requests.append(_make_score_request(source, part, whole, better=better))
    if settings.compares_pairs and len(requests) == 1 and sources[0].kind == "totals":
        message = f'"{sources[0].name}" holds totals only, and without problems nothing can be paired'
        step = "Write a scores block, or put several benchmarks side by side"
        step += ", as benchmarks: all does" if len(list_parts(sources[0])) > 1 else ""
        raise ReportError(Diagnostic(block.location, message, step))
    return tuple(requests)


def _check_source(block: Block, settings: OutcomeSettings, source: Source) -> None:
    """Refuse a source without scores, totals if answers are needed, and unknown columns to slice by."""
    if settings.by and source.kind == "totals":
        message = f'by groups runs by their settings, and "{source.name}" holds totals only'
        raise ReportError(Diagnostic(block.location, message, "Name a source with answers to problems"))
    if source.kind == "measurements":
        message = f'a {block.kind} block shows scores of problems, and "{source.name}" has none'
        step = "Its data need a column problem and a column score; where they are called otherwise, say so "
        step += f"under columns in {get_settings_file(source)}; a table of scores of whole benchmarks is "
        step += "form: totals there, and form: wide with a column for each benchmark or model"
        raise ReportError(Diagnostic(block.location, message, step))
    if source.kind == "totals":
        # Totals have one number per benchmark, without problems, samples and answers.
        step = "Let the harness write the answers, too, as with lm_eval --log_samples, or "
        if not (settings.takes_several or isinstance(settings, ScoresSettings)):
            message = f'a {block.kind} block shows answers to problems, and "{source.name}" holds totals only'
            raise ReportError(Diagnostic(block.location, message, f"{step}write a scores block"))
        if isinstance(settings, MetricSettings) and settings.metric != "mean":
            message = f'"{source.name}" holds totals only, which give no {settings.metric}'
            raise ReportError(Diagnostic(block.location, message, f"{step}leave out metric"))
    there = f"There are {quote_names(source.slices) or 'none'}"
    unknown = [
        Diagnostic(
            block.location,
            f'"{name}" is no column of source "{source.name}" to slice by',
            f"{suggest_name(name, source.slices)}{there}",
        )
        for name in (settings.slices if isinstance(settings, ProblemsSettings) else ())
        if name not in source.slices
    ]
    if unknown:
        raise ReportError(*unknown)


def _choose_parts(
    block: Block, settings: OutcomeSettings, source: Source, default: str | None
) -> tuple[str | None, ...]:
    """Return values of the source's benchmark column, or None if it has none."""
    names = (settings.benchmark,) if settings.benchmark else ()
    if isinstance(settings, BenchmarksSettings):
        names = tuple(dict.fromkeys((*names, *settings.named_benchmarks)))
    unknown = [(name, one) for one in list_parts(source) for name in names if name not in one.benchmarks]
    if unknown:
        raise ReportError(*(_explain_part(block.location, *pair) for pair in unknown))
    if names:
        return names
    if isinstance(settings, BenchmarksSettings) and settings.benchmarks == "all" and source.parts:
        return tuple(dict.fromkeys(name for one in list_parts(source) for name in one.benchmarks))
    if not source.benchmarks or default is not None:
        return (default,)
    if len(source.benchmarks) == 1 or settings.takes_several:
        return source.benchmarks
    message = f'this {block.kind} block names no benchmark and "{source.name}" has {len(source.benchmarks)}'
    which = "The benchmarks of each" if source.parts else "Its benchmarks"
    raise ReportError(Diagnostic(block.location, message, f"{which} are {quote_names(source.benchmarks)}"))


def _make_score_request(
    source: Source, part: str | None, settings: OutcomeSettings, *, better: bool | None
) -> ScoreRequest:
    """Return the outcomes of one benchmark; the harness may set the direction if no author does."""
    return ScoreRequest(
        source=source.name,
        benchmark=part,
        series=_list_series(settings, source),
        where=_list_conditions(settings),
        metric=settings.metric if isinstance(settings, MetricSettings) else "mean",
        level=settings.level,
        higher_is_better=(part or "") not in source.lower_is_better if better is None else better,
        by=list_groupings(settings.by),
    )


def _explain_part(place: SourceLocation, name: str, source: Source) -> Diagnostic:
    if not source.benchmarks:
        message = f'source "{source.name}" has no column that names benchmarks, so none is called "{name}"'
        advice = f"Leave out benchmark, or name the column under columns in {get_settings_file(source)}"
        return Diagnostic(place, message, advice)
    step = f"{suggest_name(name, source.benchmarks)}Its benchmarks are {quote_names(source.benchmarks)}"
    return Diagnostic(place, f'"{name}" is no benchmark of source "{source.name}"', step)
