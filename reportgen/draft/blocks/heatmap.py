"""The ``heatmap`` block: what its cells are, in pictures of ``figures/scores/heatmap.py``.

Its scores are those of a ``comparison`` of several benchmarks, or of the map of a ``problems`` block.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reportgen.core.comparisons import ScoresError
from reportgen.core.model import Table
from reportgen.core.words import format_count, format_percent, join_names
from reportgen.draft.blocks.across import read_benchmarks
from reportgen.draft.blocks.results import place_score_errors
from reportgen.draft.blocks.scores import draw_score_block
from reportgen.figures.plot import join_caption
from reportgen.figures.scores.across import AVERAGE, list_composites, list_methods, make_scales
from reportgen.figures.scores.heatmap import DASH, HeatMap, Tile, make_figure
from reportgen.figures.scores.problems import (
    build_grid_table,
    format_bounds,
    write_grid_csv,
    write_grid_summary,
)
from reportgen.figures.scores.wording import (
    format_score,
    format_score_estimate,
    half_width,
    is_percent,
    list_found_notes,
    list_protocol_notes,
    name_metric,
)
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names, write_table_csv
from reportgen.narrative.requests import fill_defaults

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.comparisons import AcrossBenchmarks, BenchmarkCell, ProblemGrid
    from reportgen.core.model import Figure, Stack
    from reportgen.draft.blocks.across import ReadBenchmarks
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.blocks.scores import ScoreBlock
    from reportgen.figures.plot import ScoreContext
    from reportgen.settings.score_blocks import HeatmapSettings


MOST_ITEMS: Final = 200
"""Most rows of problems: a map of more is too high to be seen, and the ``problems`` block has them all."""
_MOST_NAMED: Final = 6


def draw_heatmap(planned: PlannedBlock, settings: HeatmapSettings, inputs: DrawInputs) -> Figure | Stack:
    """Draw a ``heatmap`` block. Raises ``ReportError`` as ``draw_score_block``."""
    if settings.rows == "problems":
        return draw_score_block(_draw_items, planned, settings, inputs)
    settings = fill_defaults(settings, planned.page.front_matter.benchmark)
    with place_score_errors(planned.block.location):
        read = read_benchmarks(planned, settings, inputs)
    return _draw_benchmarks(planned.block.id, settings, read)


def _draw_benchmarks(block_id: str, settings: HeatmapSettings, read: ReadBenchmarks) -> Figure:
    """Draw a row for each series, best average first, and a column for each benchmark."""
    across, context = read.across, read.context
    first = 0 if settings.average else 1
    names = (AVERAGE, *across.benchmarks)[first:]
    every = make_scales(across, read.contexts, context)
    scales = every[first:]
    sign = -1 if context.higher_is_better else 1
    averages = [cell.score.estimate for cell in across.macro]
    ranks = [math.inf if value is None else sign * value for value in averages]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    rows = [(across.macro[place], *across.cells[place])[first:] for place in order]
    ordered = [across.series[place] for place in order]
    heat = _map_benchmarks(ordered, names, rows, scales)
    title = settings.title or f"{format_count(len(across.benchmarks), 'benchmark')} side by side"
    if not settings.title and len(across.benchmarks) == 1:
        title = f"Scores on {across.benchmarks[0]}"
    unit, series = _name_unit(scales), format_count(len(across.series), "series", "series")
    subtitle = f"{name_metric(settings.metric, context)}{unit}, {series}"
    sentences = [*_list_sentences(read, ordered, names, rows, heat)]
    how = list_methods(across, read.contexts, every)
    return replace(
        make_figure(block_id, heat, title, subtitle, context),
        caption=join_caption(sentences, context, across.series, how),
        summary=isolate_names(_write_summary(across, order, context, settings), across.series),
        table_data=_build_table(ordered, names, rows, scales),
        csv=_write_csv(ordered, names, rows),
        numbers_data=read.numbers,
        legend=tuple(pick_slots(across.series, context.slots).items()),
    )


def _name_unit(scales: Sequence[ScoreContext]) -> str:
    return " in %" if all(map(is_percent, scales)) else ""


def _list_sentences(
    read: ReadBenchmarks,
    series: Sequence[str],
    names: Sequence[str],
    rows: Sequence[Sequence[BenchmarkCell]],
    heat: HeatMap,
) -> Iterator[str]:
    """Say what is missing, the numbers of problems, and what is notable in outcomes and protocols."""
    missing = [
        f"{one} on {name}"
        for one, row in zip(series, rows, strict=True)
        for name, cell in zip(names, row, strict=True)
        if cell.score.estimate is None
    ]
    if missing:
        yield f"A dash is a missing score: {join_names(missing, most=_MOST_NAMED)}."
    if heat.ends is None:
        yield "Each column has colours of its own, as the ranges of scores differ."
    yield _write_counts(read.across)
    if any(cell.score.low is not None for row in rows for cell in row):
        yield "The data table has the intervals."
    yield from list_composites(read.across)
    for name, found in read.found.items():
        notes = (*list_found_notes(found, series), *list_protocol_notes(read.contexts[name])[0])
        yield from (f"{name}: {note}" for note in notes)
    notes = tuple(note for one in read.contexts.values() for note in one.notes)
    yield from dict.fromkeys(note for note in notes if note not in read.context.notes)


def _map_benchmarks(
    series: Sequence[str],
    names: tuple[str, ...],
    rows: Sequence[Sequence[BenchmarkCell]],
    scales: Sequence[ScoreContext],
) -> HeatMap:
    """Colour all scores from the lowest to the highest shown, or those of each benchmark if ranges differ."""
    together = len({(scale.lowest, scale.highest) for scale in scales}) == 1
    columns = [[cell.score.estimate for cell in column] for column in zip(*rows, strict=True)]
    known = [[value for value in column if value is not None] for column in columns]
    every = [value for column in known for value in column]
    ranges = [every] * len(known) if together else known
    ends = [(min(values), max(values)) if values else (0.0, 1.0) for values in ranges]
    tiles = tuple(
        (name, tuple(_make_tile(name, *column) for column in zip(names, row, scales, ends, strict=True)))
        for name, row in zip(series, rows, strict=True)
    )
    words = None
    if together and every:
        words = format_score(min(every), scales[0]), format_score(max(every), scales[0])
    return HeatMap(names, tiles, words, has_average=names[0] == AVERAGE)


def _make_tile(
    series: str, benchmark: str, cell: BenchmarkCell, context: ScoreContext, ends: tuple[float, float]
) -> Tile:
    score, (low, high) = cell.score, ends
    if score.estimate is None:
        return Tile(DASH, (series, benchmark, f"missing: {cell.reason or score.reason}"), series, None, None)
    number = format_score(score.estimate, context, half=half_width(score)).removesuffix("%")
    share = (score.estimate - low) / (high - low) if high > low else 0.5
    count = format_count(score.problems, "problem") if score.problems else ""
    words = (series, benchmark, format_score_estimate(score, context), *filter(None, [count]))
    return Tile(number, words, series, share, score.estimate)


def _write_counts(across: AcrossBenchmarks) -> str:
    """Return the number of problems of each benchmark of which it is known."""
    columns = zip(across.benchmarks, zip(*across.cells, strict=True), strict=True)
    counts = {name: max(cell.score.problems for cell in column) for name, column in columns}
    if len(counts) > 1 and len({*counts.values()}) == 1 and all(counts.values()):
        return f"Each benchmark has {format_count(max(counts.values()), 'problem')}."
    known = [f"{count:,} of {name}" for name, count in counts.items() if count]
    return f"Problems: {join_names(known, most=_MOST_NAMED)}." if known else ""


def _write_summary(
    across: AcrossBenchmarks, order: Sequence[int], context: ScoreContext, settings: HeatmapSettings
) -> str:
    best = across.macro[order[0]].score if settings.average and order else None
    tested = "Nothing is tested here; a comparison block tests differences."
    if best is None or best.estimate is None:
        return tested
    return f"{best.series} has the best average: {format_score_estimate(best, context)}. {tested}"


def _build_table(
    series: Sequence[str],
    names: Sequence[str],
    rows: Sequence[Sequence[BenchmarkCell]],
    scales: Sequence[ScoreContext],
) -> Table:
    def write(cell: BenchmarkCell, scale: ScoreContext) -> str:
        if cell.score.estimate is None:
            return f"missing: {cell.reason or cell.score.reason}"
        return format_score_estimate(cell.score, scale)

    body = (
        (name, *(write(cell, scale) for cell, scale in zip(row, scales, strict=True)))
        for name, row in zip(series, rows, strict=True)
    )
    return Table(("series", *names), tuple(body))


def _write_csv(series: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[BenchmarkCell]]) -> str:
    header = ("benchmark", "series", "metric", "score", "low", "high", "level", "problems", "reason")
    records = []
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        for one, cell in zip(series, column, strict=True):
            score = cell.score
            numbers = (score.metric, score.estimate, score.low, score.high, score.level)
            records.append((name, one, *numbers, score.problems or None, score.reason or cell.reason))
    return write_table_csv(header, records)


def _draw_items(block: ScoreBlock, settings: HeatmapSettings) -> tuple[Figure, dict[str, Any]]:
    """Draw a row for each problem, the hardest first, and a column for each series.

    Raises ``ScoresError`` if there are too many problems.
    """
    from reportgen.statistics.scores import build_problem_grid  # noqa: PLC0415 - only where it is drawn

    grid = build_problem_grid(block.problems, higher_is_better=block.request.higher_is_better)
    if len(grid.problems) > MOST_ITEMS:
        message = f"a heatmap has at most {MOST_ITEMS} rows, and {block.context.benchmark} has "
        message += format_count(len(grid.problems), "problem")
        raise ScoresError(message, "Write a problems block, which shows them all, or choose some with filter")
    context = block.add_notes(replace(block.problems.notes, incomplete=()))
    heat = _map_items(grid, context)
    mixed, how = list_protocol_notes(context, grid.series)
    missing = any(tile.share is None for _, tiles in heat.rows for tile in tiles)
    sentences = (
        "Hardest problem first, by the average over series.",
        "A dash is a missing score: there is no answer with one." if missing else "",
        *mixed,
    )
    title = settings.title or f"{context.benchmark}: who solves what"
    unit, series = _name_unit([context]), format_count(len(grid.series), "series", "series")
    problems = format_count(len(grid.problems), "problem")
    drawn = make_figure(
        block.id, heat, title, f"mean score of the samples{unit}, {problems} by {series}", context
    )
    return replace(
        drawn,
        caption=join_caption(sentences, context, grid.series, how),
        summary=isolate_names(write_grid_summary(grid, context), grid.series),
        table_data=build_grid_table(grid, context),
        csv=write_grid_csv(grid),
        legend=tuple(pick_slots(grid.series, context.slots).items()),
    ), {"series": list(grid.series), "problems": len(grid.problems)}


def _map_items(grid: ProblemGrid, context: ScoreContext) -> HeatMap:
    """Colour from the lowest to the highest possible score."""
    low, high = context.lowest, context.highest
    rows = []
    for place in reversed(range(len(grid.problems))):
        problem, tiles = grid.problems[place], []
        for series, scores, samples in zip(grid.series, grid.score, grid.samples, strict=True):
            value, count = float(scores[place]), format_count(int(samples[place]), "sample")
            if not math.isfinite(value):
                tiles.append(Tile(DASH, (problem, f"{series}: no answer"), series, None, None))
                continue
            number = format_percent(value, decimals=0).removesuffix("%")
            if not is_percent(context):
                number = format_score(value, context)
            words = problem, f"{series}: {format_score(value, context)} of {count}"
            tiles.append(Tile(number, words, series, (value - low) / (high - low), value))
        rows.append((problem, tuple(tiles)))
    high_word, low_word = format_bounds(context)
    return HeatMap(grid.series, tuple(rows), (low_word, high_word), of_items=True)
