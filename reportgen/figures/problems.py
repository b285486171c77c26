"""The ``problems`` block: who solves which problem, what only one series solves, and scores by slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.figures.cell_lines import in_lines
from reportgen.figures.heat_map import bound_text, grid_csv, heat_map, payload
from reportgen.figures.heat_picture import BELOW, body, height, inline_svg, left_margin
from reportgen.figures.heat_specification import heat_specification
from reportgen.figures.live import compact_json
from reportgen.figures.palette import drawn_slots
from reportgen.figures.plot import Margins
from reportgen.figures.row_poster import framed_svg
from reportgen.figures.score_words import protocol_notes, score_text
from reportgen.figures.slice_tables import slice_table
from reportgen.figures.tidy import table_csv
from reportgen.figures.wording import isolated
from reportgen.model import Cell, Figure, ResultTable, Stack, Table
from reportgen.words import axis_word, counted, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.figures.heat_map import HeatMap
    from reportgen.figures.score_context import ScoreContext
    from reportgen.outcomes import ProblemGrid, Score
    from reportgen.settings.score_blocks import ProblemsSettings

_MOST_ROWS, _MOST_NAMED = 60, 12


def problems_block(
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
        parts.append(_figure(f"{block_id}-map", grid, context))
        parts += _alone(f"{block_id}-alone", grid)
    else:
        parts.append(f"{context.benchmark} has no problem with a score.")
    parts += [
        slice_table(f"{block_id}-{place}", column, values, context)
        for place, (column, values) in enumerate(sliced.items(), start=1)
    ]
    caution = f" ({context.approximate})" if context.approximate else ""
    sentences = [
        settings.caption or "",
        _missing(grid),
        *protocol_notes(context, grid.series),
        *context.notes,
        f"Source: {context.source}{caution}.",
    ]
    series = counted(len(grid.series), "series", "series")
    return Stack(
        id=block_id,
        title=settings.title or f"{context.benchmark}: who solves what",
        subtitle=f"{counted(len(grid.problems), 'problem')} by {series}",
        parts=tuple(isolated(part, grid.series) if isinstance(part, str) else part for part in parts),
        caption=isolated(" ".join(filter(None, sentences)), grid.series),
    )


def _figure(figure_id: str, grid: ProblemGrid, context: ScoreContext) -> Figure:
    heat = heat_map(grid, context)
    title = "Score of each series on each problem"
    how = "problems from easiest to hardest, by their average over series"
    margins = Margins(top=8, right=16, bottom=BELOW, left=left_margin(heat))
    return Figure(
        id=figure_id,
        kind="problems",
        title=title,
        subtitle=how,
        caption=_shared(heat),
        summary=isolated(_summary(grid, context), grid.series),
        inline_svg=inline_svg(heat, context, figure_id),
        file_svg=framed_svg(
            body(heat, context, alive=False),
            height(heat),
            margins,
            title=f"{context.benchmark}: {axis_word(title)}",
            subtitle=how,
            source=context.source,
        ),
        table=_table(grid, context),
        csv=grid_csv(grid),
        spec=compact_json(heat_specification(heat, context, title=title, subtitle=how)) + "\n",
        view="",
        payload=compact_json(payload(heat, context)),
        numbers={"series": list(grid.series), "problems": len(grid.problems)},
        legend=tuple(drawn_slots(grid.series, context.slots).items()),
        plot_class=f"rg-heat rg-left-{margins.left} rg-right-{margins.right}",
    )


def _summary(grid: ProblemGrid, context: ScoreContext) -> str:
    """On how many problems all series have the highest, or the lowest, possible score."""
    known = np.isfinite(grid.score)
    some = known.any(axis=0)
    best = int(np.count_nonzero(np.all(~known | (grid.score >= context.highest), axis=0) & some))
    worst = int(np.count_nonzero(np.all(~known | (grid.score <= context.lowest), axis=0) & some))
    top, bottom = bound_text(context.highest, context), bound_text(context.lowest, context)
    rest = int(np.count_nonzero(some)) - best - worst
    apart = f"on the other {rest:,} they differ or lie between" if rest else "there are no others"
    return (
        f"All series have {top} on {counted(best, 'problem') if best else 'no problem'} and {bottom} on "
        f"{worst or 'none'}; {apart}."
    )


def _shared(heat: HeatMap) -> str:
    if heat.shared == 1:
        return ""
    return (
        f"A column is the mean of {heat.shared} problems that are next to each other in difficulty; "
        "the CSV file has every problem."
    )


def _table(grid: ProblemGrid, context: ScoreContext) -> Table:
    """A row a problem, the hardest first, since these are what is looked up; of many only those."""
    order = range(len(grid.problems) - 1, -1, -1)
    rows = []
    for place in list(order)[:_MOST_ROWS]:
        cells = [
            _cell(score, samples, context)
            for score, samples in zip(
                grid.score[:, place].tolist(), grid.samples[:, place].tolist(), strict=True
            )
        ]
        rows.append((grid.problems[place], *cells))
    note = "Each cell: score, and of how many samples."
    if len(grid.problems) > _MOST_ROWS:
        note += f" The hardest {_MOST_ROWS} of {len(grid.problems):,} problems; the CSV file has them all."
    return Table(("problem, hardest first", *grid.series), tuple(rows), note)


def _cell(score: float, samples: int, context: ScoreContext) -> str:
    if not np.isfinite(score):
        return "missing: no answer"
    return f"{score_text(score, context)} of {samples}"


def _alone(table_id: str, grid: ProblemGrid) -> list[str | ResultTable]:
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
            Cell(in_lines(listing(names, most=_MOST_NAMED))),
        )
        for name, names in own.items()
        if names
    )
    without = [name for name, names in own.items() if not names]
    others = f" None: {listing(without, most=_MOST_NAMED)}." if without else ""
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
            csv=table_csv(("problem", "series"), grid.solved_by_one),
        )
    ]


def _missing(grid: ProblemGrid) -> str:
    """Which series lack how many problems."""
    lacking = np.count_nonzero(~np.isfinite(grid.score), axis=1).tolist()
    said = [f"{name} {count}" for name, count in zip(grid.series, lacking, strict=True) if count]
    if not said:
        return ""
    return f"Missing, because there is no answer with a score (problems): {listing(said, most=_MOST_NAMED)}."
