"""The ``problems`` block: who solves which problem, what only one series solves, and scores by slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.core.model import Cell, Figure, ResultTable, Stack, Table
from reportgen.core.words import format_count, join_names, lower_axis_title
from reportgen.figures.csv_text import write_table_csv
from reportgen.figures.picture import draw_framed
from reportgen.figures.plot import Margins, describe_source
from reportgen.figures.scores.heat_map import (
    BELOW,
    build_heat_map,
    build_heat_payload,
    build_heat_spec,
    draw_heat_body,
    draw_heat_map,
    format_bound,
    measure_heat_height,
    measure_left_margin,
    write_grid_csv,
)
from reportgen.figures.scores.wording import (
    describe_intervals,
    format_score,
    format_score_estimate,
    list_protocol_notes,
    name_metric,
)
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names, wrap_cell
from reportgen.figures.vega.live import write_compact_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reportgen.core.comparisons import ProblemGrid
    from reportgen.core.outcomes import Score
    from reportgen.figures.plot import ScoreContext
    from reportgen.figures.scores.heat_map import HeatMap
    from reportgen.settings.blocks import ProblemsSettings


_CSV_COLUMNS = (
    *("column", "value", "series", "metric", "score", "low", "high", "level", "problems"),
    *("estimand", "method", "reason"),
)


def build_slice_table(
    table_id: str, column: str, values: Mapping[str, tuple[Score, ...]], context: ScoreContext
) -> ResultTable:
    """A row for each series and a column for each value of ``column``, with intervals.

    ``values`` has the scores of all series by value, in one order.
    """
    names = list(dict.fromkeys(score.series for scores in values.values() for score in scores))
    by_name = {value: {score.series: score for score in scores} for value, scores in values.items()}
    return ResultTable(
        id=table_id,
        title=f"By {column}",
        header=("series", *(_write_head(column, value, scores) for value, scores in values.items())),
        rows=tuple(
            (Cell(name), *(_build_cell(by_name[value].get(name), value, context) for value in values))
            for name in names
        ),
        caption=_write_caption([one for scores in values.values() for one in scores], len(values), context),
        csv=write_table_csv(_CSV_COLUMNS, _list_csv_rows(column, values)),
    )


def _write_head(column: str, value: str, scores: Iterable[Score]) -> str:
    """The value with its number of problems; a bare number is told what it counts: ``level 1``."""
    counts = sorted({one.problems for one in scores if one.problems})
    name = f"{column} {value}" if value[:1].isdigit() else value
    if not counts:
        return f"{name} (no problems)"
    many = format_count(counts[-1], "problem")
    return f"{name} ({many})" if len(counts) == 1 else f"{name} ({counts[0]} to {many})"


def _build_cell(score: Score | None, value: str, context: ScoreContext) -> Cell:
    if score is None or score.estimate is None:
        reason = score.reason if score and score.reason else f"no answers in {value}"
        return Cell(f"missing\n{wrap_cell(reason)}", None, "missing")
    without = "\nno interval" if score.low is None else ""
    return Cell(f"{format_score_estimate(score, context)}{without}", score.estimate)


def _list_csv_rows(column: str, values: Mapping[str, tuple[Score, ...]]) -> Iterator[tuple[object, ...]]:
    for value, scores in values.items():
        for one in scores:
            yield (
                *(column, value, one.series, one.metric, one.estimate, one.low, one.high, one.level),
                *(one.problems, one.estimand, one.method, one.reason),
            )


def _write_caption(scores: list[Score], slices: int, context: ScoreContext) -> str:
    known = [one for one in scores if one.low is not None]
    if not known:
        return "No interval: each slice has too few problems."
    metric = join_names(list(dict.fromkeys(name_metric(one.metric, context) for one in known)))
    return (
        f"{metric[0].upper()}{metric[1:]} over the problems of a slice. Brackets: "
        f"{describe_intervals(known)}. {format_count(slices, 'slice')}, each by itself: nothing is adjusted "
        "for many, and intervals that overlap do not say that series are alike."
    )


_MOST_ROWS, _MOST_NAMED = 60, 12


def draw_problems(
    block_id: str,
    settings: ProblemsSettings,
    grid: ProblemGrid,
    sliced: Mapping[str, Mapping[str, tuple[Score, ...]]],
    context: ScoreContext,
) -> Stack:
    """The heat map, then what only one series solves, then a table for each column to slice by.

    ``sliced`` has scores by column and value of the column; of every series, in one order.
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
    sentences = [
        settings.caption or "",
        _describe_missing(grid),
        *list_protocol_notes(context, grid.series),
        *context.notes,
        f"Source: {describe_source(context)}.",
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
    # A row a problem, the hardest first, since these are what is looked up; of many only those.
    hardest = slice(None, -_MOST_ROWS - 1, -1)
    columns = zip(grid.problems[hardest], grid.score.T[hardest], grid.samples.T[hardest], strict=True)
    rows = []
    for problem, scores, samples in columns:
        cells = zip(scores.tolist(), samples.tolist(), strict=True)
        rows.append((problem, *(_format_cell(*cell, context) for cell in cells)))
    note = "Each cell: score, and of how many samples."
    if len(grid.problems) > _MOST_ROWS:
        note += f" The hardest {_MOST_ROWS} of {len(grid.problems):,} problems; the CSV file has them all."
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
        table=Table(("problem, hardest first", *grid.series), tuple(rows), note),
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


def _format_cell(score: float, samples: int, context: ScoreContext) -> str:
    return f"{format_score(score, context)} of {samples}" if np.isfinite(score) else "missing: no answer"


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
