"""The ``problems`` block: a heat map of problem × series, problems only one series solves, and slices.

Each row of the map is a nested ``svg`` stretched to the full width, in which one path per colour level holds
all cells: 600 problems of 20 series are some hundred elements and not 12 000. Rows have the same pitch in
wide figures, with names left of them, and in narrow ones, where the style sheet puts names (``rg-heat-name``)
above cells of half the height (``rg-heat-cells``). So a pointer's height determines its row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from reportgen.core.model import Cell, Figure, ResultTable, Stack, Table
from reportgen.core.words import format_count, format_number, join_names, lower_axis_title
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import Frame, draw_framed
from reportgen.figures.plot import Margins, join_caption
from reportgen.figures.scores.key_results import build_slice_table
from reportgen.figures.scores.samples import write_samples
from reportgen.figures.scores.wording import format_score, is_percent, list_protocol_notes
from reportgen.figures.style import (
    LABEL_SIZE,
    TICK_SIZE,
    apply_house_style,
    pick_slots,
    resolve,
    resolve_specification,
)
from reportgen.figures.text import (
    WIDEST_NAME,
    cut_label,
    escape_field,
    escape_text,
    format_field,
    isolate_names,
    measure_text,
    wrap_cell,
    write_compact_json,
    write_table_csv,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.comparisons import ProblemGrid, Score
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.figures.plot import ScoreContext
    from reportgen.figures.scores.samples import SampleSource
    from reportgen.settings.score_blocks import ProblemsSettings


MOST_COLUMNS = 600
"""The width of the widest picture in pixels; with more problems, neighbours share a column."""
LEVELS = 7
"""Number of colours: never, five in between, always. Readers look for never and always."""
PITCH = 34
"""Distance of rows in pixels: room for a name above cells of half that height."""
OPACITIES = (0.1, 0.25, 0.39, 0.53, 0.68, 0.84, 1.0)
"""Opacity of each level; opacity over the page background works in light and dark."""
_INK = "var(--rg-series-1)"
# Room below the rows for the axis labels and the colour key.
_BELOW = 52
# Size of a cell in drawing units; the picture stretches them.
_CELL = 10
# Largest number of columns with gaps between cells.
_SEPARATE = 120
_MOST_ROWS, _MOST_NAMED = 60, 12
_SHARED = (
    "A column is the mean of {} problems that are next to each other in difficulty; the CSV file has every "
    "problem."
)


def draw_problems(
    block_id: str,
    settings: ProblemsSettings,
    grid: ProblemGrid,
    sliced: Mapping[str, Mapping[str, tuple[Score, ...]]],
    context: ScoreContext,
    *,
    samples: SampleSource | None = None,
) -> Stack:
    """Draw the heat map, the problems that only one series solves, and a table for each slicing column.

    ``sliced`` has the scores of every series, in one order, by column and value of the column. With
    ``samples``, a cell of the map opens their texts.
    """
    parts: list[Any] = []
    if grid.problems and grid.series:
        parts.append(_draw_figure(f"{block_id}-map", grid, context, samples))
        parts += [_build_lone_table(f"{block_id}-alone", grid)] if grid.solved_by_one else []
    else:
        parts.append(isolate_names(f"{context.benchmark} has no problem with a score.", grid.series))
    parts += [
        build_slice_table(f"{block_id}-{place}", column, values, context)
        for place, (column, values) in enumerate(sliced.items(), start=1)
    ]
    # Number of missing problems of each series.
    counts = np.count_nonzero(~np.isfinite(grid.score), axis=1).tolist()
    missing = [f"{name} {count}" for name, count in zip(grid.series, counts, strict=True) if count]
    names = join_names(missing, most=_MOST_NAMED)
    mixed, how = list_protocol_notes(context, grid.series)
    sentences = (
        f"Missing, because there is no answer with a score (problems): {names}." if missing else "",
        *mixed,
    )
    series = format_count(len(grid.series), "series", "series")
    return Stack(
        id=block_id,
        title=settings.title or f"{context.benchmark}: who solves what",
        subtitle=f"{format_count(len(grid.problems), 'problem')} by {series}",
        parts=tuple(parts),
        caption=join_caption(sentences, context, grid.series, how),
    )


def _build_lone_table(table_id: str, grid: ProblemGrid) -> ResultTable:
    """Build the table of problems that only one series solves."""
    own = {name: [problem for problem, one in grid.solved_by_one if one == name] for name in grid.series}
    lists = [(name, names, join_names(names, most=_MOST_NAMED)) for name, names in own.items() if names]
    without = [name for name, names in own.items() if not names]
    others = f" There is none for {join_names(without, most=_MOST_NAMED)}." if without else ""
    return ResultTable(
        id=table_id,
        title="Solved by one series only",
        header=("series", "problems", "which, hardest last"),
        rows=tuple(
            (Cell(name), Cell(str(len(names)), float(len(names))), Cell(wrap_cell(words)))
            for name, names, words in lists
        ),
        caption=(
            "Problems that one series solved at least once, and no other series that was given them did. "
            f"A single correct sample may be luck; no test is made.{others}"
        ),
        csv=write_table_csv(("problem", "series"), grid.solved_by_one),
    )


class HeatMap(Struct, frozen=True, eq=False):
    """Heat map with a row for each of ``series`` and a column for each of ``columns``, hardest last."""

    series: tuple[str, ...]
    columns: tuple[str, ...]  # the problem of each column, or the range of problems that share it
    score: FloatArray  # shape (series, columns), in the unit of the input; NaN without an answer
    samples: IntArray  # same shape; 0 for missing problems
    right: IntArray | None  # same shape: right samples; None unless scores are binary
    level: IntArray  # same shape: colour level, 0 is the lowest score; -1 for missing problems
    difficulty: FloatArray  # shape (columns,), mean over the series that have the problem
    shared: int  # problems per column; the last column may have fewer
    problems: int

    @property
    def height(self) -> int:
        """Height of the rows in pixels."""
        return PITCH * len(self.series)

    def build_payload(self, context: ScoreContext) -> dict[str, Any]:
        """Build the data for naming a cell in the browser; read by ``site/assets/live-marks.js``.

        ``score``, ``samples`` and ``right``, which only binary scores have, are lists by series; ``tags``
        holds the difficulty of each problem. A score is an index into the texts in ``words``, null if
        missing, so that no script rounds numbers.
        """
        places: dict[str, int] = {}
        scores = [
            [
                places.setdefault(format_score(value, context), len(places)) if math.isfinite(value) else None
                for value in row
            ]
            for row in self.score.tolist()
        ]
        return {
            "series": list(self.series),
            "problems": list(self.columns),
            "tags": [
                f"on average {format_score(value, context)}" if math.isfinite(value) else "no score"
                for value in self.difficulty.tolist()
            ],
            "score": scores,
            "samples": self.samples.tolist(),
            "words": list(places),
        } | ({} if self.right is None else {"right": self.right.tolist()})

    def draw_body(self, context: ScoreContext, *, alive: bool) -> str:
        """Draw the elements of the fluid picture; with ``alive``, a page can isolate a series."""
        parts: list[str] = []
        for place, name in enumerate(self.series):
            top, series = PITCH * place, f' data-rg-series="{escape_text(name)}"' if alive else ""
            short = cut_label(" ".join(name.split()), WIDEST_NAME)
            parts.append(
                f"<g{series}>"
                f'<text class="rg-heat-name" x="-10" y="{top + 22}" text-anchor="end" '
                f'font-size="{LABEL_SIZE}" fill="var(--rg-text)">{escape_text(short)}</text>'
                f'<svg y="{top}" width="100%" height="{PITCH}">'
                f'<svg class="rg-heat-cells" y="1" width="100%" height="{PITCH - 2}" '
                f'preserveAspectRatio="none" viewBox="0 0 {_CELL * len(self.columns)} {_CELL}" fill="none" '
                f'stroke="{_INK}">{"".join(self.draw_cells(place))}</svg></svg></g>'
            )
        y, middle = self.height + 17, format_count(self.problems, "problem")
        middle += f", {self.shared} a column" if self.shared > 1 else ""
        parts.append('<g class="rg-x-labels" fill="var(--rg-muted)">')
        for x, anchor, words in (
            ("0", "", "easiest"),
            ("50%", ' text-anchor="middle"', middle),
            ("100%", ' text-anchor="end"', "hardest"),
        ):
            parts.append(f'<text x="{x}" y="{y}"{anchor}>{words}</text>')
        return "".join([*parts, "</g>", *self.draw_key(context)])

    def draw_cells(self, place: int) -> Iterator[str]:
        """Draw one path per level; a row-high stroke takes a third of the characters of a rectangle."""
        levels = self.level[place]
        for level in (*range(LEVELS), -1):
            if levels.size <= _SEPARATE:
                places = np.flatnonzero(levels == level).tolist()
                data = "".join(f"M{_CELL * place} 5h{_CELL - 1}" for place in places)
            else:
                # Adjacent cells without a gap are one line.
                chosen = np.concatenate([[0], (levels == level).view(np.int8), [0]])
                edges = np.flatnonzero(np.diff(chosen)).reshape(-1, 2).tolist()
                data = "".join(f"M{_CELL * start} 5h{_CELL * (stop - start)}" for start, stop in edges)
            # A missing score is a thin line, so that it does not look like a score.
            pen = 'stroke="var(--rg-series-muted)" stroke-width="0.8"'
            if level >= 0:
                pen = f'stroke-opacity="{OPACITIES[level]:g}" stroke-width="{_CELL}"'
            if data:
                yield f'<path {pen} d="{data}"/>'

    def draw_key(self, context: ScoreContext) -> Iterator[str]:
        """Draw the colour key from lowest to highest score, only with levels in use."""
        between = ((self.level > 0) & (self.level < LEVELS - 1)).any()
        y = self.height + 34
        high, low = format_bounds(context)
        x = measure_text(low, TICK_SIZE) + 6
        yield '<g class="rg-heat-key" fill="var(--rg-muted)">'
        yield f'<text x="0" y="{y + 10}">{escape_text(low)}</text>'
        for level in range(LEVELS) if between else (0, LEVELS - 1):
            yield f'<rect x="{x:.0f}" y="{y}" width="17" height="12" fill="{_INK}" '
            yield f'fill-opacity="{OPACITIES[level]:g}"/>'
            x += 18
        yield f'<text x="{x + 5:.0f}" y="{y + 10}">{escape_text(high)}</text>'
        if (self.level < 0).any():
            x += measure_text(high, TICK_SIZE) + 26
            yield f'<rect x="{x:.0f}" y="{y + 5}" width="17" height="2" fill="var(--rg-series-muted)"/>'
            yield f'<text x="{x + 22:.0f}" y="{y + 10}">missing</text>'
        yield "</g>"

    def build_spec(self, context: ScoreContext, *, title: str, subtitle: str) -> dict[str, Any]:
        """Build the specification with a rectangle per cell, hardest problem last, without missing cells.

        Columns are numbered, so that two problems never share one; the tooltip names them.
        """
        nominal, numeric = ("problem", "series"), ("score", "samples")
        # The colour of the lowest score differs from the background, which means no score.
        pairs = zip(*(bytes.fromhex(resolve(name)[1:]) for name in ("var(--rg-bg)", _INK)), strict=True)
        faintest = "".join(f"{round(ground + OPACITIES[0] * (ink - ground)):02x}" for ground, ink in pairs)
        colours = {"range": [f"#{faintest}", resolve(_INK)], "interpolate": "rgb"}
        names = {"title": None, "labelLimit": 320, "ticks": False, "domain": False}
        spec = {
            "width": PIXELS_WIDE,
            "height": self.height,
            "background": "var(--rg-bg)",
            "mark": {"type": "rect"},
            "encoding": {
                "x": {"field": "column", "type": "ordinal", "axis": None},
                "y": {"field": "series", "type": "nominal", "sort": None, "axis": names},
                "color": {
                    "field": "score",
                    "type": "quantitative",
                    "scale": {"domain": [context.lowest, context.highest], **colours},
                    "legend": {"title": "score", "format": ".0%" if is_percent(context) else "~r"},
                },
                "tooltip": [
                    *({"field": name, "type": "nominal"} for name in nominal),
                    *({"field": name, "type": "quantitative"} for name in numeric),
                ],
            },
        }
        ours: dict[str, Any] = resolve_specification(apply_house_style(spec))
        heading = {"text": title, "subtitle": subtitle, "anchor": "start"}
        # By default Vega would read a name such as 007 as a number.
        kinds = dict.fromkeys(("score", "samples", "column"), "number") | dict.fromkeys(nominal, "string")
        starts = [f"{place},{escape_field(name)}" for place, name in enumerate(self.columns, start=1)]
        csv = "column,problem,series,score,samples\n" + "".join(
            _list_csv_rows(starts, self, with_missing=False)
        )
        return {**ours, "title": heading, "data": {"values": csv, "format": {"type": "csv", "parse": kinds}}}


def build_heat_map(grid: ProblemGrid, context: ScoreContext) -> HeatMap:
    """Build the heat map of a grid; if there are too many problems, neighbours in difficulty share a column.

    A shared column is the mean score over the problems that the series answered, equally weighted.
    """
    count = len(grid.problems)
    shared = max(1, math.ceil(count / MOST_COLUMNS))
    starts = np.arange(0, count, shared)

    def average(values: FloatArray) -> FloatArray:
        known = np.isfinite(values)
        answered = np.add.reduceat(known, starts, axis=-1, dtype=np.int64)
        total = np.add.reduceat(np.where(known, values, 0.0), starts, axis=-1)
        mean: FloatArray = np.where(answered > 0, total / np.maximum(answered, 1), np.nan)
        return mean

    score = average(grid.score)
    share = (np.nan_to_num(score, nan=context.lowest) - context.lowest) / (context.highest - context.lowest)
    between = 1 + np.minimum(np.floor(share * (LEVELS - 2)), LEVELS - 3)
    level = np.where(share <= 0, 0, np.where(share >= 1, LEVELS - 1, between))
    groups = [grid.problems[start : start + shared] for start in starts.tolist()]
    return HeatMap(
        series=grid.series,
        columns=tuple(g[0] if len(g) == 1 else f"{g[0]} to {g[-1]} ({len(g)} problems)" for g in groups),
        score=score,
        samples=np.add.reduceat(grid.samples, starts, axis=1),
        right=None if grid.right is None else np.add.reduceat(grid.right, starts, axis=1),
        level=np.where(np.isfinite(score), level, -1).astype(np.int64),
        difficulty=average(grid.difficulty),
        shared=shared,
        problems=count,
    )


def _draw_figure(
    figure_id: str, grid: ProblemGrid, context: ScoreContext, samples: SampleSource | None
) -> Figure:
    heat = build_heat_map(grid, context)
    texts = write_samples(figure_id, grid, samples, context, shared=heat.shared)
    title = "Score of each series on each problem"
    how = "problems from easiest to hardest, by their average over series"
    # Room for names left of the rows, a multiple of 8 like the style sheet's margins.
    widest = max((measure_text(cut_label(name, WIDEST_NAME), LABEL_SIZE) for name in heat.series), default=0)
    left = min(200, max(16, 8 * math.ceil((widest + 12) / 8)))
    margins = Margins(top=8, right=16, bottom=_BELOW, left=left)
    labels = escape_text(f"{figure_id}-title {figure_id}-summary")
    file_title, body = (
        f"{context.benchmark}: {lower_axis_title(title)}",
        heat.draw_body(context, alive=False),
    )
    return Figure(
        id=figure_id,
        kind="problems",
        title=title,
        subtitle=how,
        caption=_SHARED.format(heat.shared) if heat.shared > 1 else "",
        summary=isolate_names(write_grid_summary(grid, context), grid.series),
        inline_svg=(
            f'<svg class="rg-picture rg-heat" role="img" aria-labelledby="{labels}" width="100%" '
            f'height="{heat.height}" font-size="{TICK_SIZE}" data-rg-columns="problems">'
            f'<rect class="rg-cells" width="100%" height="{heat.height}" fill="none"/>'
            f"{heat.draw_body(context, alive=True)}</svg>"
        ),
        file_svg=draw_framed(body, heat.height, margins, Frame(file_title, how, f"Source: {context.source}")),
        table_data=build_grid_table(grid, context),
        csv=write_grid_csv(grid),
        spec=write_compact_json(heat.build_spec(context, title=title, subtitle=how)) + "\n",
        view="",
        payload=write_compact_json(heat.build_payload(context) | texts.payload),
        numbers_data={"series": list(grid.series), "problems": len(grid.problems)} | texts.numbers,
        samples=texts.scripts,
        legend=tuple(pick_slots(grid.series, context.slots).items()),
        plot_class=f"rg-heat rg-left-{margins.left} rg-right-{margins.right}",
    )


def write_grid_summary(grid: ProblemGrid, context: ScoreContext) -> str:
    """Count the problems on which all series have the highest or the lowest possible score."""
    known = np.isfinite(grid.score)
    some = known.any(axis=0)
    best = int(np.count_nonzero(np.all(~known | (grid.score >= context.highest), axis=0) & some))
    worst = int(np.count_nonzero(np.all(~known | (grid.score <= context.lowest), axis=0) & some))
    top, bottom = format_bounds(context)
    of = format_count(int(np.count_nonzero(some)), "problem")
    return f"Of {of}, all series score {top} on {best or 'none'} and {bottom} on {worst or 'none'}."


def format_bounds(context: ScoreContext) -> tuple[str, str]:
    """Format the highest and lowest possible scores exactly: ``100%``."""
    if is_percent(context):
        return f"{context.highest * 100:g}%", f"{context.lowest * 100:g}%"
    return format_number(context.highest), format_number(context.lowest)


def build_grid_table(grid: ProblemGrid, context: ScoreContext) -> Table:
    """Build a table of the hardest problems, hardest first, since these are the ones looked up."""
    hardest = slice(None, -_MOST_ROWS - 1, -1)
    rows = [
        (
            problem,
            *(
                f"{format_score(score, context)} of {count}" if math.isfinite(score) else "missing: no answer"
                for score, count in zip(scores.tolist(), samples.tolist(), strict=True)
            ),
        )
        for problem, scores, samples in zip(
            grid.problems[hardest], grid.score.T[hardest], grid.samples.T[hardest], strict=True
        )
    ]
    note = "Each cell: score, and of how many samples."
    if len(grid.problems) > _MOST_ROWS:
        note += f" The hardest {_MOST_ROWS} of {len(grid.problems):,} problems; the CSV file has them all."
    return Table(("problem, hardest first", *grid.series), tuple(rows), note)


def write_grid_csv(grid: ProblemGrid) -> str:
    """Write a row per cell, for all problems."""
    starts = [
        f"{escape_field(problem)},{format_field(difficulty)}"
        for problem, difficulty in zip(grid.problems, grid.difficulty.tolist(), strict=True)
    ]
    rows = _list_csv_rows(starts, grid, with_missing=True)
    return "problem,difficulty,series,score,samples\n" + "".join(rows)


def _list_csv_rows(
    starts: Sequence[str], heat: HeatMap | ProblemGrid, *, with_missing: bool
) -> Iterator[str]:
    """List a line per cell; missing cells have an empty score or are omitted.

    Names are escaped once rather than per cell: there may be some hundred thousand cells.
    """
    names = [escape_field(name) for name in heat.series]
    for start, scores, counts in zip(starts, heat.score.T.tolist(), heat.samples.T.tolist(), strict=True):
        for name, value, count in zip(names, scores, counts, strict=True):
            if with_missing or math.isfinite(value):
                yield f"{start},{name},{format_field(value)},{count}\n"
