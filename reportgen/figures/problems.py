"""The ``problems`` block: who solves which problem, what only one series solves, and scores by slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.figures.cell_lines import wrap_cell
from reportgen.figures.heat_map import build_heat_map, build_heat_payload, format_bound, write_grid_csv
from reportgen.figures.heat_picture import (
    BELOW,
    draw_heat_body,
    draw_heat_map,
    measure_heat_height,
    measure_left_margin,
)
from reportgen.figures.heat_specification import build_heat_spec
from reportgen.figures.live import write_compact_json
from reportgen.figures.palette import pick_slots
from reportgen.figures.plot import Margins
from reportgen.figures.row_poster import draw_framed
from reportgen.figures.score_words import format_score, list_protocol_notes
from reportgen.figures.slice_tables import build_slice_table
from reportgen.figures.tidy import write_table_csv
from reportgen.figures.wording import isolate_names
from reportgen.model import Cell, Figure, ResultTable, Stack, Table
from reportgen.words import format_count, join_names, lower_axis_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.figures.heat_map import HeatMap
    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import ProblemGrid, Score
    from reportgen.settings.score_blocks import ProblemsSettings

_MOST_ROWS, _MOST_NAMED = 60, 12


def draw_problems(
    block_id: str,
    settings: ProblemsSettings,
    grid: ProblemGrid,
    sliced: Mapping[str, Mapping[str, tuple[Score, ...]]],
    context: ScoreContext,
) -> Stack:
    """The heat map, then what only one series solves, then a table for each column to slice by.

    Args:
        block_id: id of the block on its page.
        settings: title, caption and slices.
        grid: every series on every problem, the hardest last.
        sliced: scores by column, by value of the column; of every series, in one order.
        context: words and colours.
    """
    parts: list[Any] = []
    if grid.problems and grid.series:
        parts.append(_draw_figure(f"{block_id}-map", grid, context))
        parts += _list_solved_alone(f"{block_id}-alone", grid)
    else:
        parts.append(f"{context.benchmark} has no problem with a score.")
    parts += [
        build_slice_table(f"{block_id}-{place}", column, values, context)
        for place, (column, values) in enumerate(sliced.items(), start=1)
    ]
    caution = f" ({context.approximate})" if context.approximate else ""
    sentences = [
        settings.caption or "",
        _describe_missing(grid),
        *list_protocol_notes(context, grid.series),
        *context.notes,
        f"Source: {context.source}{caution}.",
    ]
    series = format_count(len(grid.series), "series", "series")
    return Stack(
        id=block_id,
        title=settings.title or f"{context.benchmark}: who solves what",
        subtitle=f"{format_count(len(grid.problems), 'problem')} by {series}",
        parts=tuple(isolate_names(part, grid.series) if isinstance(part, str) else part for part in parts),
        caption=isolate_names(" ".join(filter(None, sentences)), grid.series),
    )


def _draw_figure(figure_id: str, grid: ProblemGrid, context: ScoreContext) -> Figure:
    heat = build_heat_map(grid, context)
    title = "Score of each series on each problem"
    how = "problems from easiest to hardest, by their average over series"
    margins = Margins(top=8, right=16, bottom=BELOW, left=measure_left_margin(heat))
    return Figure(
        id=figure_id,
        kind="problems",
        title=title,
        subtitle=how,
        caption=_describe_shared_columns(heat),
        summary=isolate_names(_write_summary(grid, context), grid.series),
        inline_svg=draw_heat_map(heat, context, figure_id),
        file_svg=draw_framed(
            draw_heat_body(heat, context, alive=False),
            measure_heat_height(heat),
            margins,
            title=f"{context.benchmark}: {lower_axis_title(title)}",
            subtitle=how,
            source=context.source,
        ),
        table=_build_table(grid, context),
        csv=write_grid_csv(grid),
        spec=write_compact_json(build_heat_spec(heat, context, title=title, subtitle=how)) + "\n",
        view="",
        payload=write_compact_json(build_heat_payload(heat, context)),
        numbers={"series": list(grid.series), "problems": len(grid.problems)},
        legend=tuple(pick_slots(grid.series, context.slots).items()),
        plot_class=f"rg-heat rg-left-{margins.left} rg-right-{margins.right}",
    )


def _write_summary(grid: ProblemGrid, context: ScoreContext) -> str:
    """On how many problems all series have the highest, or the lowest, possible score."""
    known = np.isfinite(grid.score)
    some = known.any(axis=0)
    best = int(np.count_nonzero(np.all(~known | (grid.score >= context.highest), axis=0) & some))
    worst = int(np.count_nonzero(np.all(~known | (grid.score <= context.lowest), axis=0) & some))
    top, bottom = format_bound(context.highest, context), format_bound(context.lowest, context)
    rest = int(np.count_nonzero(some)) - best - worst
    apart = f"on the other {rest:,} they differ or lie between" if rest else "there are no others"
    return (
        f"All series have {top} on {format_count(best, 'problem') if best else 'no problem'} and {bottom} on "
        f"{worst or 'none'}; {apart}."
    )


def _describe_shared_columns(heat: HeatMap) -> str:
    if heat.shared == 1:
        return ""
    return (
        f"A column is the mean of {heat.shared} problems that are next to each other in difficulty; "
        "the CSV file has every problem."
    )


def _build_table(grid: ProblemGrid, context: ScoreContext) -> Table:
    """A row a problem, the hardest first, since these are what is looked up; of many only those."""
    order = range(len(grid.problems) - 1, -1, -1)
    rows = []
    for place in list(order)[:_MOST_ROWS]:
        cells = [
            _format_cell(score, samples, context)
            for score, samples in zip(
                grid.score[:, place].tolist(), grid.samples[:, place].tolist(), strict=True
            )
        ]
        rows.append((grid.problems[place], *cells))
    note = "Each cell: score, and of how many samples."
    if len(grid.problems) > _MOST_ROWS:
        note += f" The hardest {_MOST_ROWS} of {len(grid.problems):,} problems; the CSV file has them all."
    return Table(("problem, hardest first", *grid.series), tuple(rows), note)


def _format_cell(score: float, samples: int, context: ScoreContext) -> str:
    if not np.isfinite(score):
        return "missing: no answer"
    return f"{format_score(score, context)} of {samples}"


def _list_solved_alone(table_id: str, grid: ProblemGrid) -> list[str | ResultTable]:
    """What only one series solves: a table where there is any."""
    if not grid.solved_by_one:
        return []
    own = {
        name: [problem for problem, series in grid.solved_by_one if series == name] for name in grid.series
    }
    rows = tuple(
        (
            Cell(name),
            Cell(str(len(names)), float(len(names))),
            Cell(wrap_cell(join_names(names, most=_MOST_NAMED))),
        )
        for name, names in own.items()
        if names
    )
    without = [name for name, names in own.items() if not names]
    others = f" None: {join_names(without, most=_MOST_NAMED)}." if without else ""
    return [
        ResultTable(
            id=table_id,
            title="Solved by one series only",
            header=("series", "problems", "which, hardest last"),
            rows=rows,
            caption=(
                "At least one right sample, and none of any other series that tried. "
                f"It names problems and tests nothing: one right sample may be luck.{others}"
            ),
            csv=write_table_csv(("problem", "series"), grid.solved_by_one),
        )
    ]


def _describe_missing(grid: ProblemGrid) -> str:
    """Which series lack how many problems."""
    counts = np.count_nonzero(~np.isfinite(grid.score), axis=1).tolist()
    said = [f"{name} {count}" for name, count in zip(grid.series, counts, strict=True) if count]
    if not said:
        return ""
    return (
        f"Missing, because there is no answer with a score (problems): {join_names(said, most=_MOST_NAMED)}."
    )
