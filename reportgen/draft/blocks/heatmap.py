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
from reportgen.figures.scores.problems import build_grid_table, write_grid_csv, write_grid_summary
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
    from collections.abc import Sequence

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
    across, scales = read.across, make_scales(read.across, read.contexts, read.context)
    first = 0 if settings.average else 1
    names, scales = (AVERAGE, *across.benchmarks)[first:], scales[first:]
    cells = [(average, *row)[first:] for average, row in zip(across.macro, across.cells, strict=True)]
    sign = -1 if read.context.higher_is_better else 1
    averages = [cell.score.estimate for cell in across.macro]
    ranks = [math.inf if value is None else sign * value for value in averages]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    heat = _map_benchmarks(across, names, [cells[place] for place in order], scales, order)
    unit = " in %" if all(map(is_percent, scales)) else ""
    series = format_count(len(across.series), "series", "series")
    subtitle = f"{name_metric(settings.metric, read.context)}{unit}, {series}"
    cautions = [
        f"{name}: {note}"
        for name, found in read.found.items()
        for note in (*list_found_notes(found, across.series), *list_protocol_notes(read.contexts[name])[0])
    ]
    notes = [note for one in read.contexts.values() for note in one.notes if note not in read.context.notes]
    missing = [
        f"{row[place].score.series or across.series[at]} on {name}"
        for at, row in enumerate(cells)
        for place, name in enumerate(names)
        if row[place].score.estimate is None
    ]
    sentences = [
        settings.caption or "",
        f"{DASH} is missing: {join_names(missing, most=_MOST_NAMED)}." if missing else "",
        "" if heat.ends else "Each column has its own colours: the ranges of scores differ.",
        "The data table has the intervals.",
        *list_composites(across),
        *cautions,
        *dict.fromkeys(notes),
    ]
    how = list(list_methods(across, read.powers, read.contexts, [*scales[:1], *scales] if first else scales))
    drawn = make_figure(
        block_id,
        heat,
        settings.title or f"{format_count(len(across.benchmarks), 'benchmark')} side by side",
        subtitle,
        read.context,
    )
    return replace(
        drawn,
        caption=join_caption(sentences, read.context, across.series, how),
        summary=isolate_names(_write_summary(across, order, read.context, settings), across.series),
        table_data=_build_table(names, [cells[place] for place in order], scales, across, order),
        csv=_write_csv(names, cells, across),
        numbers_data=read.numbers,
        legend=tuple(pick_slots(across.series, read.context.slots).items()),
    )


def _map_benchmarks(
    across: AcrossBenchmarks,
    names: tuple[str, ...],
    cells: Sequence[Sequence[BenchmarkCell]],
    scales: Sequence[ScoreContext],
    order: Sequence[int],
) -> HeatMap:
    """Colour all scores from the lowest to the highest shown, or those of each benchmark if ranges differ."""
    together = len({(scale.lowest, scale.highest) for scale in scales}) == 1
    columns = [[cell.score.estimate for cell in column] for column in zip(*cells, strict=True)]
    known = [[value for value in column if value is not None] for column in columns]
    every = [value for column in known for value in column]
    ends = [
        (min(values), max(values)) if values else (0.0, 1.0)
        for values in ([every] * len(known) if together else known)
    ]
    rows = []
    for place, row in zip(order, cells, strict=True):
        name = across.series[place]
        columns_of_row = zip(names, row, scales, ends, strict=True)
        rows.append((name, tuple(_make_tile(name, *column) for column in columns_of_row)))
    low, high = ends[0]
    words = (format_score(low, scales[0]), format_score(high, scales[0])) if together and every else None
    return HeatMap(names, tuple(rows), words, has_average=names[0] == AVERAGE)


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


def _write_summary(
    across: AcrossBenchmarks, order: Sequence[int], context: ScoreContext, settings: HeatmapSettings
) -> str:
    best = across.macro[order[0]].score if settings.average and order else None
    tested = "Nothing is tested here; a comparison block tests differences."
    if best is None or best.estimate is None:
        return tested
    return f"{best.series} has the best average: {format_score_estimate(best, context)}. {tested}"


def _build_table(
    names: Sequence[str],
    cells: Sequence[Sequence[BenchmarkCell]],
    scales: Sequence[ScoreContext],
    across: AcrossBenchmarks,
    order: Sequence[int],
) -> Table:
    rows = []
    for place, row in zip(order, cells, strict=True):
        words = (
            format_score_estimate(cell.score, scale)
            if cell.score.estimate is not None
            else f"missing: {cell.reason or cell.score.reason}"
            for cell, scale in zip(row, scales, strict=True)
        )
        rows.append((across.series[place], *words))
    return Table(("series", *names), tuple(rows))


def _write_csv(
    names: Sequence[str], cells: Sequence[Sequence[BenchmarkCell]], across: AcrossBenchmarks
) -> str:
    header = ("benchmark", "series", "metric", "score", "low", "high", "level", "problems", "reason")
    records = []
    for place, name in enumerate(names):
        for series, row in zip(across.series, cells, strict=True):
            score, reason = row[place].score, row[place].reason
            numbers = (
                score.metric,
                score.estimate,
                score.low,
                score.high,
                score.level,
                score.problems or None,
            )
            records.append((name, series, *numbers, score.problems or None, score.reason or reason))
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
        settings.caption or "",
        "Hardest problem first, by the average over series.",
        f"{DASH} is missing: no answer with a score." if missing else "",
        *mixed,
    )
    title = settings.title or f"{context.benchmark}: who solves what"
    unit, series = " in %" if is_percent(context) else "", format_count(len(grid.series), "series", "series")
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
    ends = format_score(low, context), format_score(high, context)
    return HeatMap(grid.series, tuple(rows), ends, of_items=True)
