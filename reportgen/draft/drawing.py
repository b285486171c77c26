"""Draws every block, or takes it from the cache, and judges every bound value and claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reportgen.blocks.charts import draw_author_chart, draw_block
from reportgen.blocks.observations import judge_statement
from reportgen.blocks.subjects import describe_topic, link_topic
from reportgen.claims.facts.vocabulary import FACTS
from reportgen.core.errors import Problem, Severity, SourceLocation, Stage
from reportgen.core.model import ScoreRequest
from reportgen.core.statements import Statement, Truth
from reportgen.draft.block_cache import (
    make_block_key,
    restore_block,
    restore_result,
    store_block,
    store_result,
)
from reportgen.figures.curves.key_results import collect_overview, summarize_benchmark
from reportgen.settings.blocks import (
    AltairSettings,
    OverviewSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.blocks.draw_inputs import DrawInputs
    from reportgen.blocks.plan import Plan, PlannedBenchmark, PlannedBlock, PlannedStatement
    from reportgen.core.errors import Problems
    from reportgen.core.model import BenchmarkResult, Shown
    from reportgen.core.statements import Fact
    from reportgen.settings.blocks import BlockSettings


@dataclass(slots=True)
class DrawnBlocks:
    """What was drawn: results by their page's path, the others by their page's path and their block's id.

    ``keys`` has the cache keys of blocks that are kept; ``statements`` what the data say to those of each
    page.
    """

    results: dict[str, BenchmarkResult] = field(default_factory=dict)
    shown: dict[tuple[str, str], Shown] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    statements: dict[str, tuple[Statement, ...]] = field(default_factory=dict)


def draw_blocks(
    plan: Plan,
    inputs: DrawInputs,
    problems: Problems,
    report_progress: Callable[[str, Shown], None] = lambda _page, _shown: None,
) -> DrawnBlocks:
    """Draw everything but overviews, which show other pages' results.

    Args:
        plan: what to draw.
        inputs: what to draw it from.
        problems: gets what cannot be drawn.
        report_progress: told after each block its page's path and what it shows.
    """
    drawn = DrawnBlocks()
    for benchmark in plan.benchmarks:
        with problems.collecting():
            drawn.results[benchmark.page.path] = _get_result(benchmark, inputs)
    for planned in plan.blocks:
        place, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                continue
            if isinstance(settings, AltairSettings):
                # Never kept: the author's function may change while its block does not.
                block: Shown = draw_author_chart(planned, settings, inputs)
            else:
                key = _make_key(planned, settings, inputs)
                block = restore_block(inputs.cache, key) or store_block(
                    inputs.cache, key, draw_block(planned, settings, inputs)
                )
                drawn.keys[place] = key
            drawn.shown[place] = block
            report_progress(planned.page.path, block)
    drawn.statements |= judge_statements(plan, inputs, problems)
    return drawn


def add_overviews(
    plan: Plan, drawn: DrawnBlocks, problems: Problems, report_progress: Callable[[str, Shown], None]
) -> DrawnBlocks:
    """Everything drawn, in the order of the plan, with overviews of the results."""
    results = {
        b.page.path: drawn.results[b.page.path] for b in plan.benchmarks if b.page.path in drawn.results
    }
    shown: dict[tuple[str, str], Shown] = {}
    for planned in plan.blocks:
        key, settings = (planned.page.path, planned.block.id), planned.block.settings
        with problems.collecting():
            if isinstance(settings, OverviewSettings):
                shown[key] = collect_overview(planned.block, settings, results)
                report_progress(planned.page.path, shown[key])
            elif key in drawn.shown:
                shown[key] = drawn.shown[key]
    return DrawnBlocks(results, shown, drawn.keys, drawn.statements)


def _make_key(planned: PlannedBlock, settings: BlockSettings, inputs: DrawInputs) -> str:
    benchmark = planned.page.front_matter.benchmark
    parts = (
        planned.block.kind,
        planned.block.id,
        settings.model_dump_json(),
        benchmark.model_dump_json() if benchmark else "",
        repr(planned.requests),
        repr(planned.topics),
        repr([claim.expression for claim in planned.claims]),
        repr(sorted(inputs.colours.get_slots(planned.requests).items())),
    )
    return make_block_key(inputs.cache, parts, (inputs.sources[name] for name in planned.sources))


def _get_result(planned: PlannedBenchmark, inputs: DrawInputs) -> BenchmarkResult:
    page, benchmark = planned.page, planned.benchmark
    source = inputs.sources[benchmark.source]
    slots = repr(sorted(inputs.colours.get_slots([planned.request]).items()))
    parts = ("benchmark", page.path, benchmark.model_dump_json(), repr(planned.request), slots)
    key = make_block_key(inputs.cache, parts, [source])
    result = restore_result(inputs.cache, key)
    if result is None:
        result = _make_result(planned, inputs)
        store_result(inputs.cache, key, result)
    return result


def _make_result(planned: PlannedBenchmark, inputs: DrawInputs) -> BenchmarkResult:
    page, benchmark, request = planned.page, planned.benchmark, planned.request
    if isinstance(request, ScoreRequest):
        from reportgen.blocks.scores import make_score_result  # noqa: PLC0415 - as above

        return make_score_result(page, benchmark, request, inputs)
    answer = inputs.answers.get_curves(request)
    context = inputs.make_context(
        SourceLocation(page.file, benchmark.line), benchmark.source, answer, benchmark
    )
    return summarize_benchmark(benchmark, page.path, answer.curve_set, context)


def judge_statements(plan: Plan, inputs: DrawInputs, problems: Problems) -> dict[str, tuple[Statement, ...]]:
    """What the data say to each page's statements, by the page's path.

    Args:
        plan: its statements are judged.
        inputs: the data, and what earlier drafts knew of them.
        problems: gets an error for each statement that cannot be read, and a warning for each that does not
            hold, cannot be decided, or was expected to fail and holds.
    """
    found: dict[str, list[Statement]] = {}
    for planned in plan.statements:
        with problems.collecting():
            statement = _make_statement(planned, inputs)
            found.setdefault(planned.page.path, []).append(statement)
            problems.add(list_warnings(statement))
    inputs.subjects.store()
    return {path: tuple(statements) for path, statements in found.items()}


def list_warnings(statement: Statement) -> Iterator[Problem]:
    """The warnings that a statement deserves: for what became of it, and for old names of facts."""
    binding, judgement = statement.binding, statement.judgement
    for name in dict.fromkeys(fact.name for fact in judgement.facts):
        if instead := FACTS[name].instead:
            said = f'"{name}" is an old name of a fact'
            place = binding.expression_location
            yield Problem(place, said, f"Write {instead}", Stage.NARRATIVE, Severity.WARNING)
    if statement.as_expected:
        return
    if judgement.truth is Truth.UNDECIDED:
        said = f'"{binding.words}": {judgement.found}'
        step = "Say that it is not known, or remove the claim" if binding.kind == "claim" else ""
    elif binding.fails:
        said = f'"{binding.words}" holds, and was expected to fail ("{binding.fails}"): {judgement.found}'
        step = "Take fails= away"
    elif binding.kind == "value":
        said = f'"{binding.words}" but {judgement.found}'
        step = f'"reportgen fix" writes "{judgement.repaired}"' if judgement.repaired else ""
    else:
        said = f'"{binding.words}" is not so: {judgement.found}'
        step = "Rewrite the sentence, or say with fails= why it fails"
    yield Problem(binding.location, said, step, Stage.NARRATIVE, Severity.WARNING)


def _make_statement(planned: PlannedStatement, inputs: DrawInputs) -> Statement:
    judgement = judge_statement(planned, inputs)
    return Statement(
        binding=planned.binding,
        number=planned.number,
        judgement=judgement,
        metric=describe_topic(planned.topic, inputs.sources),
        figure=planned.topic.figure,
        state=_link_facts(planned, judgement.facts),
    )


def _link_facts(planned: PlannedStatement, facts: Sequence[Fact]) -> str:
    """The figure with the series that the facts are about, and the first range and point that they name."""
    series = tuple(dict.fromkeys(name for fact in facts for name in fact.series))
    points = ((fact.step, fact.series[0]) for fact in facts if fact.step is not None and fact.series)
    spans = (
        (first, last)
        for fact in facts
        if (first := fact.from_step) is not None and (last := fact.to_step) is not None and first < last
    )
    return link_topic(planned.topic, series, next(spans, None), next(points, None))
