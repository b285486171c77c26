"""The ``comparison`` block: what is read of each of several benchmarks, compared and drawn side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import ScoresError
from reportgen.core.words import quote_names
from reportgen.draft.blocks.results import place_score_errors
from reportgen.draft.blocks.scores import (
    check_series,
    collect_score,
    describe_measurement,
    draw_pairs_block,
    make_score_context,
    to_json_values,
)
from reportgen.narrative.requests import fill_defaults, name_benchmark
from reportgen.settings.score_blocks import split_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, OutcomeNotes
    from reportgen.core.model import Figure, ScoreRequest, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.inputs import Source
    from reportgen.settings.score_blocks import BenchmarksSettings, ComparisonSettings


def draw_comparison_block(
    planned: PlannedBlock, settings: ComparisonSettings, inputs: DrawInputs
) -> Figure | Stack:
    """Draw all pairs on one benchmark, or all series on several.

    Raises ``ReportError`` as ``draw_score_block``.
    """
    if len(planned.outcomes) == 1:
        return draw_pairs_block(planned, settings, inputs)
    with place_score_errors(planned.block.location):
        return _draw_benchmarks(planned, settings, inputs)


def _draw_benchmarks(planned: PlannedBlock, settings: ComparisonSettings, inputs: DrawInputs) -> Stack:
    """Draw several benchmarks side by side."""
    from reportgen.figures.scores.across import draw_across  # noqa: PLC0415 - only where it is drawn

    settings = fill_defaults(settings, planned.page.front_matter.benchmark)
    read = read_benchmarks(planned, settings, inputs, settings.baseline)
    whole, found = read.context, read.found
    drawn = draw_across(planned.block.id, settings, read.across, read.contexts, whole, found=found)
    return replace(drawn, numbers=read.numbers)


class ReadBenchmarks(Struct, frozen=True):
    """Several benchmarks side by side, with their contexts and the notes on their outcomes by name."""

    across: AcrossBenchmarks
    contexts: Mapping[str, ScoreContext]
    context: ScoreContext  # of all of them
    found: Mapping[str, OutcomeNotes]

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers for ``report.json``."""
        contexts = self.contexts.items()
        benchmarks = {name: describe_measurement(self.found[name], own) for name, own in contexts}
        return _collect_across(self.across, benchmarks)


def read_benchmarks(
    planned: PlannedBlock, settings: BenchmarksSettings, inputs: DrawInputs, baseline: str | None = None
) -> ReadBenchmarks:
    """Score all series on the benchmarks of a block, and compare them with a baseline."""
    from reportgen.statistics.compare import compare_benchmarks  # noqa: PLC0415 - only where it is drawn

    place, answers, sources = planned.block.location, inputs.answers, inputs.sources
    requests = _name_requests(planned, sources)
    parts = {name: answers.get_problem_scores(request) for name, request in requests.items()}
    make_context = partial(
        make_score_context,
        benchmark=planned.page.front_matter.benchmark,
        slots=inputs.colours.slots,
        shows_all=settings.benchmarks == "all",
    )
    contexts = {
        name: make_context(place, one, parts[name], sources[one.source]) for name, one in requests.items()
    }
    check_series(baseline, [name for part in parts.values() for name in part.series], place)
    given = {name: answers.get_scores(one) for name, one in requests.items() if not parts[name].problems}
    across = compare_benchmarks(
        parts,
        *split_metric(settings.metric),
        given=given,
        known_parts=_get_known_parts(requests, sources),
        baseline=baseline,
        guess=not settings.named_benchmarks,
        average=settings.average,
        level=settings.level,
        higher_is_better=_find_direction(requests),
        blocks=planned.outcomes[0].family_blocks,
        estimand=planned.outcomes[0].estimand,
        adjust=planned.outcomes[0].adjust,
    )
    whole = _combine_contexts(list(contexts.values()))
    found = {name: part.notes for name, part in parts.items()}
    return ReadBenchmarks(across, contexts, whole, found)


def _name_requests(planned: PlannedBlock, sources: Mapping[str, Source]) -> dict[str, ScoreRequest]:
    """Return the requests by benchmark, with the source behind the name if two benchmarks share it."""
    benchmark = planned.page.front_matter.benchmark
    named = [(name_benchmark(one, sources[one.source], benchmark), one) for one in planned.outcomes]
    names = [name for name, _ in named]
    return {name if names.count(name) == 1 else f"{name} ({one.source})": one for name, one in named}


def _find_direction(requests: Mapping[str, ScoreRequest]) -> bool:
    """Return whether higher is better on all benchmarks; raise a ``ScoresError`` if they differ."""
    lower = [name for name, request in requests.items() if not request.higher_is_better]
    if lower and len(lower) < len(requests):
        higher = [name for name in requests if name not in lower]
        said = f"lower is better on {quote_names(lower)}, and higher on {quote_names(higher)}"
        raise ScoresError(f"{said}: they have no average", "Give each a block of its own with benchmarks:")
    return not lower


def _get_known_parts(
    requests: Mapping[str, ScoreRequest], sources: Mapping[str, Source]
) -> dict[str, tuple[str, ...]]:
    """Return the parts of benchmarks that are means over others by their harness, by the names shown."""
    from reportgen.read import get_benchmark_parts  # noqa: PLC0415 - imports the database

    known = {name: get_benchmark_parts(sources[one.source]) for name, one in requests.items()}
    return {name: known[name].get(one.benchmark or "", ()) for name, one in requests.items()}


def _collect_across(across: AcrossBenchmarks, measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Collect how each benchmark was measured, every cell by series and benchmark, and the macro averages."""

    def collect_cell(cell: BenchmarkCell) -> dict[str, Any]:
        return {**to_json_values(cell), "score": collect_score(cell.score)}

    series, macro = {}, {}
    for name, cells, average in zip(across.series, across.cells, across.macro, strict=True):
        series[name] = {at: collect_cell(cell) for at, cell in zip(across.benchmarks, cells, strict=True)}
        macro[name] = collect_cell(average)
    return {"benchmarks": dict(measured), "baseline": across.baseline, "series": series, "macro": macro}


def _combine_contexts(contexts: Sequence[ScoreContext]) -> ScoreContext:
    """Combine the contexts of several benchmarks, without protocols, which stay with each benchmark."""
    names = {one.score_name for one in contexts}
    cautions = dict.fromkeys(one.approximate for one in contexts if one.approximate)
    return replace(
        contexts[0],
        source=", ".join(dict.fromkeys(one.source for one in contexts)),
        benchmark="",
        approximate="; ".join(cautions) or None,
        protocol=(),
        score_name=names.pop() if len(names) == 1 else "",
        notes=tuple(dict.fromkeys(note for one in contexts for note in one.notes)),
    )
