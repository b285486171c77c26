"""The ``runs-table`` block: a row for each run, with the settings in which runs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.model import Cell
from reportgen.core.words import format_count, lower_axis_title
from reportgen.figures.curves.result_table import build_setting_cell, format_table_step
from reportgen.figures.plot import join_caption
from reportgen.figures.text import write_table_csv
from reportgen.settings.block_parts import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.core.model import ResultTable, Run
    from reportgen.figures.plot import DrawContext
    from reportgen.settings.blocks import RunsTableSettings


_LONGEST_NAME = 20


class RunRow(Struct, frozen=True):
    """A run with its settings, and the link fragment that shows its series in a figure, or ""."""

    run: Run
    settings: Mapping[str, str | None]
    link: str = ""


def name_run(run: Run) -> str:
    """Return the name of a run among all runs of a table."""
    return f"{run.series}, run {run.run}"


def build_runs_table(
    table: ResultTable, rows: Sequence[RunRow], settings: RunsTableSettings, context: DrawContext
) -> ResultTable:
    """Build the table of runs from the one that has their statistics, named as ``name_run`` does.

    Without settings of the author's, those are shown in which the runs of the table differ.
    """
    by_name = {name_run(row.run): row for row in rows}
    names = list(dict.fromkeys(name for row in rows for name in row.settings))
    if not settings.settings:
        names = [name for name in names if len({row.settings.get(name) for row in rows}) > 1]
    leads = _list_leads(rows, names, context)
    width, final = len(settings.columns), Statistic.FINAL
    cells = []
    for name, _, *statistics in table.rows:
        row = by_name[name.text]
        own = [
            # The last step is a column of its own.
            Cell(cell.text.partition(" at ")[0], cell.sort) if settings.columns[n % width] == final else cell
            for n, cell in enumerate(statistics)
        ]
        cells.append((Cell(row.run.series, link=row.link), *(make(row) for make in leads.values()), *own))
    header, first = ("series", *leads, *table.header[2:]), 1 + len(leads)
    # What a run is named and set to stays as it is written; its last step, before ``first``, is a number.
    numbers = (
        [cell.text if n < first - 1 or cell.sort is None else cell.sort for n, cell in enumerate(row)]
        for row in cells
    )
    return replace(
        table,
        title=settings.title or ("Runs" if table.title == "Results" else f"Runs by {table.title}"),
        header=header,
        rows=tuple(cells),
        caption=_write_caption(table, rows, names, settings, context),
        csv=write_table_csv(header, numbers),
    )


def _list_leads(
    rows: Sequence[RunRow], names: Sequence[str], context: DrawContext
) -> dict[str, Callable[[RunRow], Cell]]:
    """Return the columns between the series and its statistics, by their heads.

    A long name of a run, such as a hash, is left out where the seed identifies the run.
    """
    runs = [row.run for row in rows]
    leads: dict[str, Callable[[RunRow], Cell]] = {}
    identified = len({(run.series, run.seed) for run in runs}) == len(runs)
    longest = max(len(run.run) for run in runs)
    if any(run.run not in {"", run.seed} for run in runs) and not (identified and longest > _LONGEST_NAME):
        leads["run"] = lambda row: build_setting_cell(row.run.run)
    if any(run.seed is not None for run in runs):
        leads["seed"] = lambda row: build_setting_cell(row.run.seed)
    for name in names:
        leads[name] = lambda row, name=name: build_setting_cell(row.settings.get(name))  # type: ignore[misc]
    if context.step_title:
        last = f"last {lower_axis_title(context.step_title)}"
        leads[last] = lambda row: Cell(
            format_table_step(float(row.run.steps[-1]), context), float(row.run.steps[-1])
        )
    return leads


def _write_caption(
    table: ResultTable,
    rows: Sequence[RunRow],
    names: Sequence[str],
    settings: RunsTableSettings,
    context: DrawContext,
) -> str:
    series = len({row.run.series for row in rows})
    what = (
        "with the settings in which they differ" if names else "which differ in no known setting but the seed"
    )
    what = "with the settings that the page names" if settings.settings else what
    links = "A row links to the line of its run." if any(row.link for row in rows) else ""
    counted = f"{format_count(len(rows), 'run')} of {format_count(series, 'series', 'series')}, {what}."
    sentences = (counted, links)
    how = table.caption.partition("\n")[2].replace("the mean curve", "the run")
    return join_caption(sentences, context, how=[how])
