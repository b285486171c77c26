"""Export of a source as one Parquet file with every row and column, named as in the report."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import asdict

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.sql import get_engine
from reportgen.read.groups import list_experiment_settings
from reportgen.read.joined import read_measurements
from reportgen.read.scored.outcomes import get_score_names
from reportgen.read.tables.check import explain_faults
from reportgen.read.tables.layout import (
    INTERVAL_PARTS,
    add_settings,
    get_layout,
    match_columns,
    resolve_column,
)
from reportgen.read.tables.rows import resolve_filters, select_files, select_run
from reportgen.read.tables.survey import complete_layout

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Keys that no longer matter: one file replaces all, and filtered rows are gone.
_DONE: Final = {
    *("files", "format", "sheet", "query", "lines", "series_from", "seed_from", "run_from", "rows", "fields"),
    *("filter", "columns", "form", "wide", "interval", "unit", "rename_benchmarks"),
}
_COUNTED: Final = ("tokens", "seconds", "cost")
_ROW: Final = "row of the source"
# Placeholders for roles without a column; no column has such a name.
_MARKS: Final = {"series": "\0series", "run": "\0run"}
_PARTS: Final = frozenset(("series", "run", "seed", "metric", "value", "low", "high"))


class FrozenTable(Struct, frozen=True):
    """A source as a table: the ordered SELECT of its rows, and the settings for its ``source.yml``."""

    select: str
    settings: Mapping[str, object]


def can_freeze(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether a table can replace a source.

    It cannot for rows without a step that only an author's chart reads, nor for logs whose prompts and
    answers a page shows.
    """
    texts, named = layout.outcomes, settings.columns
    is_read = texts or layout.totals or layout.spread or layout.roles.step is not None
    is_read = is_read and settings.form != "runs"
    return bool(is_read) and not (texts and (texts.prompt, texts.response) != (named.prompt, named.response))


def freeze_table(root: Path, source: Source) -> FrozenTable:
    """Return a source as a table with the settings that still matter; raises if its files have faults."""
    if source.settings.form == "runs":
        message = "a table of finished runs has nothing to freeze: it is as small as what would be written"
        raise ReportError(Diagnostic(source.location, message, "Commit the file itself", Stage.DATA))
    layout = complete_layout(root, source)
    # Blocks group, filter and colour by what a logger recorded of each run.
    layout = add_settings(layout, list_experiment_settings(layout))
    stated = source.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    settings = {key: value for key, value in stated.items() if key not in _DONE and key != "provenance"}
    if layout.outcomes or layout.totals:
        # Only the chosen scores of a harness are left.
        settings.pop("metrics", None)
        if names := get_score_names(source):
            same = len(set(names.values())) == 1 and set(names) >= set(source.benchmarks)
            settings["score_name"] = next(iter(names.values())) if same else dict(names)
    if source.lower_is_better:
        everywhere = set(source.lower_is_better) >= set(source.benchmarks)
        settings["lower_is_better"] = True if everywhere else list(source.lower_is_better)
    elif ways := {name: way for name, way in source.higher_is_better.items() if name in source.metrics}:
        settings["lower_is_better"] = [name for name, way in ways.items() if not way] or False
    if layout.spread:
        return _freeze_chart(root, source, settings)
    form = "long" if layout.long else "wide"
    settings["form"] = "outcomes" if layout.outcomes else "totals" if layout.totals else form
    if layout.repeat and not layout.totals:
        # A table does not say what repeated steps of a logger mean.
        settings.setdefault("repeat", layout.repeat)
    names, columns = _name_columns(layout)
    if columns:
        settings["columns"] = columns
    if layout.long and len(layout.metrics) > 1 and "metrics" not in settings:
        # A sample of the rows would not show them all.
        settings["metrics"] = list(_list_raw_metrics(layout))
    return FrozenTable(_select_rows(root, layout, source, names), settings)


def write_table(root: Path, source: Source, table: FrozenTable, path: Path) -> None:
    """Write a table as Parquet, the same rows as the same bytes; raises as ``freeze_table`` does."""
    layout = get_layout(source)
    numbers = _list_numbers(layout) & layout.kinds.keys()
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    with explain_faults(root, source.location, layout.files, numbers):
        get_engine().open_cursor().execute(f"COPY ({table.select}) TO {sql.quote(str(path))} ({options})")


def _freeze_chart(root: Path, source: Source, settings: dict[str, object]) -> FrozenTable:
    """Return runs that are columns as a long table with the names of the report."""
    table = read_measurements(root, source, source.metrics)
    step = table.step_name if table.step_name not in {"", *_PARTS} else "step"
    spread = get_layout(source).spread.values()
    seed = "seed, " if any(one.seed for one in spread) else ""
    ends = ", low, high" if any(one.low for one in spread) else ""
    position = "epoch_ms(CAST(step AS BIGINT))" if table.step_is_time else "step"
    select = (
        f"SELECT series, run, {seed}metric, {position} AS {sql.quote_name(step)}, value{ends} "  # noqa: S608 - quoted
        f"FROM ({sql.write_statement(table.frame)}) "
        f"ORDER BY list_position([{sql.quote_all(source.metrics)}], metric), "
        f"list_position([{sql.quote_all(table.order)}], series), run, row"
    )
    rest = {key: value for key, value in settings.items() if key not in {"rename", "rename_metrics"}}
    rest |= {"form": "long", "metrics": list(source.metrics)}
    return FrozenTable(select, {**rest, **({} if step == "step" else {"columns": {"step": step}})})


def _name_columns(layout: Layout) -> tuple[dict[str, str], dict[str, object]]:
    """Return the names of columns in the table, and those that have a role under another name.

    A role without a column gets one, under its placeholder.
    """
    names = {name: name for name in layout.kinds}
    if layout.step_name and layout.roles.step and layout.step_name not in names:
        names[layout.roles.step] = layout.step_name
    played: dict[str, str | None] = {}
    for roles in (layout.roles, layout.outcomes, layout.totals):
        played |= asdict(roles) if roles else {}
    for part, mark in _MARKS.items():
        if part == "series" or len(layout.files) > 1:
            if getattr(layout.roles, part) is None:
                names[mark] = part if part not in names else f"{part} of the file"
            played[part] = played[part] or mark
    # The table has more columns than the files, and another of them may be known for a role.
    found = match_columns(ROLE_NAMES, names.values(), {})
    # Answers without a known benchmark have no such column.
    columns: dict[str, object] = {
        part: names[name]
        for part, name in played.items()
        if name in names and (names[name] != part or found.get(part, part) != part)
    }
    if layout.series_parts:
        columns["series"] = [names[name] for name in layout.series_parts]
    return names, columns


def _select_rows(root: Path, layout: Layout, source: Source, names: Mapping[str, str]) -> str:
    """Return the SELECT of the rows of all files, in the order of writing."""
    numbers = _list_numbers(layout)
    metric, run = layout.roles.metric, layout.roles.run

    def select_cell(rows: Rows, name: str) -> str:
        if name == _MARKS["series"]:
            return rows.label(layout.labels)
        if name == _MARKS["run"] or (name == run and len(layout.files) > 1):
            return select_run(rows, layout)
        if layout.outcomes and name == layout.outcomes.score:
            return rows.as_score(name, source.score_range)
        if name in numbers:
            return rows.as_number(name)
        types = {file.type_of(name) for file in layout.files if name in file.names}
        typed = layout.kinds[name] is Kind.TIME and len(types) == 1 and sql.TEXT not in types
        return f"CAST({rows.as_written(name)} AS {types.pop()})" if typed else rows.as_words(name)

    def list_cells(rows: Rows) -> dict[str, str]:
        return {**{names[name]: select_cell(rows, name) for name in names}, _ROW: rows.get_position()}

    def is_chosen(rows: Rows) -> str:
        if layout.totals and layout.totals.metric:
            # Scores of a harness that were not chosen have no metric.
            return f"{rows.as_text(layout.totals.metric)} IS NOT NULL"
        if layout.long and metric:
            return f"{rows.as_words(metric)} IN ({sql.quote_all(_list_raw_metrics(layout)) or 'NULL'})"
        return ""

    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    filters = tuple((resolve_column(name, layout) or name, cell) for name, cell in filters)
    select = select_files(root, layout, list_cells, filters, is_chosen)
    listed = ", ".join(map(sql.quote_name, names.values()))
    return f"SELECT {listed} FROM ({select}) ORDER BY {sql.quote_name(_ROW)}"  # noqa: S608 - quoted


def _list_numbers(layout: Layout) -> frozenset[str]:
    """Return the columns that are read as numbers; all others stay as written."""
    parts = ("value", *INTERVAL_PARTS) if layout.long else INTERVAL_PARTS
    found = {getattr(layout.roles, part) for part in parts}
    if layout.outcomes:
        found |= {getattr(layout.outcomes, part) for part in _COUNTED}
    elif layout.totals:
        found |= {layout.totals.score, layout.totals.stderr, layout.totals.std, layout.totals.n}
    elif not layout.long:
        metrics = _list_raw_metrics(layout)
        companions = {f"{raw}_{part}" for raw in metrics for part in INTERVAL_PARTS}
        found |= {*metrics, *(companions & layout.kinds.keys())}
    step = layout.roles.step
    if step and layout.kinds[step] is not Kind.TIME:
        found.add(step)
    return frozenset(name for name in found if name)


def _list_raw_metrics(layout: Layout) -> tuple[str, ...]:
    return tuple(chain.from_iterable(layout.metrics.values()))
