"""How blocks are planned, the overview, and warnings about a block's data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.model import CurveRequest, Overview
from reportgen.core.plugins import import_object
from reportgen.core.score_names import find_families
from reportgen.core.words import choose_names, join_names
from reportgen.draft.blocks.plan import PlannedBlock
from reportgen.draft.blocks.results import place_score_errors
from reportgen.narrative.requests import explain_benchmark, explain_score_metric, make_requests
from reportgen.narrative.topics import Topic, find_topics, list_block_sources
from reportgen.settings.blocks import LineSettings, TableSettings, get_kind
from reportgen.settings.score_blocks import (
    BenchmarksSettings,
    MetricSettings,
    ScatterSettings,
    is_score_metric,
)
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.model import BenchmarkResult, Request
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBenchmark
    from reportgen.settings.block_parts import BlockSettings, OverviewSettings
    from reportgen.settings.blocks import RunsTableSettings
    from reportgen.settings.inputs import Block, Page, Source
    from reportgen.settings.score_blocks import DistributionSettings


_MOST_NAMES = 6
_SHARED = ("source", "series", "filter", "by", "level", "higher_is_better")


def plan_requests(
    block: Block, _settings: BlockSettings, page: Page, sources: Mapping[str, Source]
) -> PlannedBlock:
    """Plan a block that reads what its settings name, and no more."""
    return PlannedBlock(page, block, list_block_sources(block, page), make_requests(block, page, sources))


def plan_measures(
    block: Block,
    settings: ScatterSettings | DistributionSettings,
    page: Page,
    sources: Mapping[str, Source],
) -> PlannedBlock:
    """Plan the curves of the metrics of a ``scatter`` or ``distribution`` block, or a benchmark's scores.

    Raises ``ReportError`` as ``make_requests``.
    """
    names = list_block_sources(block, page)
    shared = {name: getattr(settings, name) for name in _SHARED if name in settings.model_fields_set}
    parts: list[TableSettings | MetricSettings]
    if names and sources[names[0]].kind != "measurements":
        if settings.colour:
            message = f'colour must be a setting of runs, but "{names[0]}" holds scores'
            raise ReportError(Diagnostic(block.location, message, "Leave it out", Stage.FIGURE))
        if not is_score_metric(settings.metric or "mean"):
            raise ReportError(explain_score_metric(f'"{settings.metric}"', names[0], block.location))
        shared |= {"metric": settings.metric} if settings.metric else {}
        parts = [MetricSettings(**shared, benchmark=settings.benchmark)]
    else:
        if settings.benchmark and names:
            raise ReportError(explain_benchmark(settings.benchmark, names[0], block.location))
        others = (settings.x,) if isinstance(settings, ScatterSettings) else ()
        parts = [TableSettings(**shared, metric=metric) for metric in (settings.metric, *others)]
    requests: list[Request] = []
    for part in parts:
        made = make_requests(replace(block, settings=part), page, sources)
        requests += [
            replace(one, colour=settings.colour) if isinstance(one, CurveRequest) else one for one in made
        ]
    return PlannedBlock(page, block, names, tuple(requests))


def plan_runs_table(
    block: Block, _settings: RunsTableSettings, page: Page, sources: Mapping[str, Source]
) -> PlannedBlock:
    """Plan a ``runs-table`` block; its topic is the first curve of the page that draws the same metric."""
    requests = make_requests(block, page, sources)
    shown, topics = {(request.source, request.metric) for request in requests}, list[Topic]()
    for other in page.blocks:
        names = list_block_sources(other, page)
        if isinstance(other.settings, LineSettings) and names and sources.keys() >= {*names}:
            found = find_topics(other.id, page, sources, other.location)
            same = (one for one in found if (one.request.source, one.request.metric) in shown)
            topics += (one for one in same if not one.part)
    return PlannedBlock(page, block, list_block_sources(block, page), requests, tuple(topics[:1]))


def plan_block(block: Block, page: Page, sources: Mapping[str, Source]) -> PlannedBlock:
    """Plan the requests of a block; raise ``ReportError`` if its sources cannot satisfy them."""
    settings = block.settings
    planned: PlannedBlock = import_object(get_kind(block.kind).plan)(block, settings, page, sources)
    if not isinstance(settings, LineSettings):
        return planned
    known: tuple[str, ...] = ()
    if settings.other_x == "auto" and planned.curves:
        from reportgen.read import list_axes  # noqa: PLC0415 - imports the database

        source, metrics = sources[planned.curves[0].source], [one.metric for one in planned.curves]
        known = list_axes(source, settings.x, metrics)
    others = (replace(block, settings=other) for other in settings.list_other_axes(known))
    return replace(
        planned, others=tuple(plan_requests(other, other.settings, page, sources) for other in others)
    )


def is_overview(planned: PlannedBlock) -> bool:
    """Return whether a block shows the results of other pages, and is drawn after all of them."""
    return get_kind(planned.block.kind).shows is Overview


def draw_overview(
    planned: PlannedBlock, settings: OverviewSettings, results: Mapping[str, BenchmarkResult]
) -> Overview:
    """Collect the results of the benchmarks that the author named, or of all.

    Raises a ``ReportError`` if a named benchmark is not on any page.
    """
    by_name = {result.name: result for result in results.values()}
    unknown = [name for name in settings.benchmarks if name not in by_name]
    if unknown:
        known = ", ".join(f'"{name}"' for name in by_name) or "none"
        messages = (f'"{name}" is not a benchmark of this report' for name in unknown)
        raise ReportError(
            *(
                Diagnostic(planned.block.location, message, f"The report's benchmarks are {known}")
                for message in messages
            )
        )
    names = settings.benchmarks or tuple(by_name)
    return Overview(planned.block.id, settings.title or "", tuple(by_name[name] for name in names))


def warn_pooled(planned: PlannedBlock, inputs: DrawInputs) -> Iterator[Diagnostic]:
    """Yield a warning if a block averages runs whose recorded settings differ, as trials of a study do."""
    said: dict[str, str] = {}  # the first setting of each sentence
    for request in planned.curves if planned.block.settings.averages_runs else ():
        source = inputs.sources[request.source]
        parts = [(part.source, part.names) for part in source.parts] or [(source, {})]
        for part, names in parts if not request.by else ():
            found = {
                names.get(one, one): own for one, own in _find_pooled(part, request.where, inputs).items()
            }
            known = tuple(found)
            for series in known if request.series is None else choose_names(request.series, known).names:
                values = [f"{n} ({join_names(v, most=_MOST_NAMES)})" for n, v in found[series].items()]
                said[f'runs of "{series}" differ in {join_names(values)}'] = next(iter(found[series]))
    if said:
        name = next(iter(said.values()))
        message = f"{join_names(list(said), most=_MOST_NAMES)}, and are averaged as one"
        step = f"Write by: {name} to compare them, or choose some with filter: {{{name}: …}}"
        yield Diagnostic(planned.block.location, message, step, Stage.DATA, Severity.WARNING)


def refuse_illustrative(planned: PlannedBlock, sources: Mapping[str, Source]) -> None:
    """Raise ``ReportError`` for a block that judges runs or answers which are invented."""
    block, names = planned.block, [name for name in planned.sources if sources[name].settings.illustrative]
    if names and block.settings.judges:
        message = f'source "{names[0]}" is illustrative: a {block.kind} block would judge invented data'
        step = "Show its values in a curve, table or scores block"
        raise ReportError(Diagnostic(block.location, message, step, Stage.DATA))


def warn_totals(planned: PlannedBlock, inputs: DrawInputs) -> Iterator[Diagnostic]:
    """Yield a warning of benchmarks that are in no average because they look like totals of others."""
    settings, sources = planned.block.settings, inputs.sources
    totals = {one.benchmark: one for one in planned.outcomes if sources[one.source].kind == "totals"}
    names = [name for name in totals if name]
    if not isinstance(settings, BenchmarksSettings) or settings.named_benchmarks or not find_families(names):
        return

    def find() -> dict[str, tuple[str, ...]]:
        from reportgen.read import get_benchmark_parts  # noqa: PLC0415 - imports the database
        from reportgen.statistics.composites import find_composites, guess_totals  # noqa: PLC0415 - as above

        table = {name: {one.series: one for one in inputs.answers.get_scores(totals[name])} for name in names}
        known = {name: get_benchmark_parts(sources[totals[name].source]).get(name, ()) for name in names}
        certain = find_composites(table, known)
        return guess_totals({name: column for name, column in table.items() if name not in certain})

    digests = [sources[one.source].digest for one in totals.values()]
    key = inputs.cache.make_key("totals", repr(planned.outcomes), repr(digests))
    found: dict[str, tuple[str, ...]] = {}
    with Diagnostics().collecting(), place_score_errors(planned.block.location):  # reported when it is drawn
        found = inputs.cache.memo(key, dict[str, tuple[str, ...]], find)
    for name, parts in found.items():
        message = f"{name} looks like a total over {join_names(parts, most=_MOST_NAMES)}: "
        message += "its scores are between theirs, so that it is in no average with them"
        others = [one for one in names if one not in found]
        rest, every = (", ".join(map(write_scalar, some)) for some in (others, names))
        step = f"If it is one, write benchmarks: [{rest}], otherwise benchmarks: [{every}]"
        yield Diagnostic(planned.block.location, message, step, Stage.DATA, Severity.WARNING)


def _find_pooled(
    source: Source, where: tuple[tuple[str, Any], ...], inputs: DrawInputs
) -> dict[str, dict[str, list[str]]]:
    def find() -> dict[str, dict[str, list[str]]]:
        from reportgen.read import find_pooled_settings  # noqa: PLC0415 - imports the database

        return find_pooled_settings(inputs.project.root, source, where)

    looked_up = source.name, where
    if looked_up not in inputs.pooled:
        key = inputs.cache.make_key("pooled", repr(where), source.digest)
        inputs.pooled[looked_up] = inputs.cache.memo(key, dict[str, dict[str, list[str]]], find)
    return inputs.pooled[looked_up]


def name_cause(planned: PlannedBenchmark, found: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the problems of a benchmark's score, and name it where all blocks of its page separate runs."""
    yield from found
    page = planned.page
    blocks = [block for block in page.blocks if block.settings.data]
    separate = all(block.settings.x_is_setting or getattr(block.settings, "by", None) for block in blocks)
    if others := [one for one in found if blocks and separate and one.location.file != page.file]:
        message = (
            f"this benchmark cannot be scored, as {others[0].location} says, and the blocks do not need it"
        )
        source = planned.benchmark.source_name
        step = f"If only they are meant, remove benchmark: and write source: {source} there"
        yield Diagnostic(SourceLocation(page.file, planned.benchmark.line), message, step, Stage.DATA)


def has_pdf(planned: PlannedBlock, inputs: DrawInputs) -> bool:
    """Return whether the figures of a block are also PDF files."""
    own = planned.block.settings.pdf
    return inputs.project.settings.pdf if own is None else own
