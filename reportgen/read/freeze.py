"""A source as one Parquet file that says the same: every row and column, with the names of the report."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.engine import get_engine
from reportgen.read.find import make_location, name_source
from reportgen.read.measurements import read_measurements
from reportgen.read.sources import open_location
from reportgen.read.tables.check import explain_errors, find_faults
from reportgen.read.tables.columns import INTERVAL_PARTS, resolve_column, resolve_filters
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import group_files, make_where, select_run
from reportgen.read.tables.survey import complete_layout
from reportgen.read.totals import get_score_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.repository import Boundary
    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Which files there are and how they are read matters no more, and rows that a filter leaves out are gone.
_DONE: Final = frozenset(
    ("files", "format", "series_from", "seed_from", "run_from", "rows", "fields", "filter", "columns", "form")
)
_COUNTED: Final = ("tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """A source as a table to be written.

    Attributes:
        select: its rows in the order of writing, as SQL.
        settings: what ``source.yml`` has to say of it, without its provenance.
    """

    select: str
    settings: Mapping[str, object]


def open_at(
    path: Path,
    root: Path,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> Source:
    """Open a file or folder as a source, with paths relative to a root.

    Raises:
        ReportError: everything that is wrong with its settings or files.
    """
    name = path.name if path.is_dir() else name_source(path)
    return open_location(make_location(path, name, root, boundary), load_settings, hashes, cache)


def freeze_table(root: Path, source: Source) -> FrozenTable:
    """A source as a table, with the settings that still matter.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    layout = complete_layout(root, source)
    said = source.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    settings = {key: value for key, value in said.items() if key not in _DONE and key != "provenance"}
    if layout.outcomes or layout.totals:
        # Of several scores of a harness the chosen ones are the only ones that are left.
        settings.pop("metrics", None)
        if names := get_score_names(source):
            same = len(set(names.values())) == 1 and set(names) >= set(source.benchmarks)
            settings["score_name"] = next(iter(names.values())) if same else dict(names)
    if source.lower_is_better:
        everywhere = set(source.lower_is_better) >= set(source.benchmarks)
        settings["lower_is_better"] = True if everywhere else list(source.lower_is_better)
    if layout.spread:
        return _freeze_chart(root, source, settings)
    names = _name_columns(layout)
    selects = [_select_rows(rows, layout, source, names) for rows in group_files(root, layout)]
    listed = ", ".join(sql.quote_name(name) for name in names.values())
    select = f"SELECT {listed} FROM ({' UNION ALL '.join(selects)}) ORDER BY {_ROW}"  # noqa: S608 - quoted
    settings["form"] = _get_form(layout)
    if layout.repeat and not layout.totals:
        # What a logger's steps mean is not known of a table.
        settings.setdefault("repeat", layout.repeat)
    columns = {part: names[name] for part, name in _list_roles(layout).items() if names[name] != part}
    if columns:
        settings["columns"] = columns
    if layout.long and len(layout.metrics) > 1 and "metrics" not in settings:
        # A look at some of the rows would not find them all.
        settings["metrics"] = [raw for raws in layout.metrics.values() for raw in raws]
    return FrozenTable(select, settings)


def write_table(root: Path, source: Source, table: FrozenTable, path: Path) -> None:
    """Write a table as Parquet; the same rows give the same bytes.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    layout = get_layout(source)
    numbers = {name for name in layout.kinds if name in _list_numbers(layout)}
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    with explain_errors(root, source.location, lambda: find_faults(root, layout.files, numbers)):
        get_engine().open_cursor().execute(f"COPY ({table.select}) TO {sql.quote(str(path))} ({options})")


_ROW: Final = '"row of the source"'


_PARTS: Final = frozenset(("series", "run", "seed", "metric", "value", "low", "high"))


def _freeze_chart(root: Path, source: Source, settings: dict[str, object]) -> FrozenTable:
    """Runs that are columns, as a long table under the names of the report."""
    table = read_measurements(root, source, source.metrics)
    with table.reading():
        relation: Any = table.frame.to_native()
    step = table.step_name if table.step_name not in {"", *_PARTS} else "step"
    spread = get_layout(source).spread.values()
    seed = "seed, " if any(one.seed for one in spread) else ""
    ends = ", low, high" if any(one.low for one in spread) else ""
    position = "epoch_ms(CAST(step AS BIGINT))" if table.step_is_time else "step"
    select = (
        f"SELECT series, run, {seed}metric, {position} AS {sql.quote_name(step)}, value{ends} "  # noqa: S608 - quoted
        f"FROM ({relation.sql_query()}) "
        f"ORDER BY list_position([{sql.quote_all(source.metrics)}], metric), "
        f"list_position([{sql.quote_all(table.order)}], series), run, row"
    )
    rest = {key: value for key, value in settings.items() if key not in {"rename", "rename_metrics"}}
    rest |= {"form": "long", "metrics": list(source.metrics)}
    return FrozenTable(select, {**rest, **({} if step == "step" else {"columns": {"step": step}})})


def _get_form(layout: Layout) -> str:
    if layout.outcomes:
        return "outcomes"
    if layout.totals:
        return "totals"
    return "long" if layout.long else "wide"


def _name_columns(layout: Layout) -> dict[str, str]:
    """Column of the source, or part that no column plays, and its name in the table."""
    names = {name: name for name in layout.kinds}
    if layout.step_name and layout.roles.step and layout.step_name not in names:
        names[layout.roles.step] = layout.step_name
    for part in ("series", "run"):
        if getattr(layout.roles, part) is None and (part == "series" or len(layout.files) > 1):
            names[_mark_part(part)] = part if part not in names else f"{part} of the file"
    return names


def _mark_part(part: str) -> str:
    """What stands for a part that no column plays, in place of a column; no column is called so."""
    return f"\0{part}"


def _list_roles(layout: Layout) -> dict[str, str]:
    """Every part that is played, and by which column."""
    found = {one.name: getattr(layout.roles, one.name) for one in fields(layout.roles)}
    if layout.outcomes:
        found |= {one.name: getattr(layout.outcomes, one.name) for one in fields(layout.outcomes)}
    if layout.totals:
        found |= {one.name: getattr(layout.totals, one.name) for one in fields(layout.totals)}
    found["series"] = found["series"] or _mark_part("series")
    if len(layout.files) > 1:
        found["run"] = found["run"] or _mark_part("run")
    # Answers of which nothing tells the benchmark have no column of it.
    there = {_mark_part("series"), _mark_part("run"), *layout.kinds}
    return {part: name for part, name in found.items() if name in there and name is not None}


def _select_rows(rows: Rows, layout: Layout, source: Source, names: Mapping[str, str]) -> str:
    """The rows of files of one shape."""
    numbers = _list_numbers(layout)
    cells = {name: _select_cell(rows, layout, name, numbers, source.score_range) for name in names}
    metric = layout.roles.metric
    raw_metrics = [raw for raws in layout.metrics.values() for raw in raws]
    only = (
        f"{rows.as_words(metric)} IN ({sql.quote_all(raw_metrics) or 'NULL'})"
        if layout.long and metric
        else ""
    )
    if layout.totals and layout.totals.metric:
        # Of several scores of a harness those that were not chosen have no metric.
        only = f"{rows.as_text(layout.totals.metric)} IS NOT NULL"
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    filters = tuple((resolve_column(name, layout) or name, cell) for name, cell in filters)
    listed = ", ".join(f"{cell} AS {sql.quote_name(names[name])}" for name, cell in cells.items())
    where = make_where(rows, filters, only)
    return f"SELECT {listed}, {rows.get_position()} AS {_ROW} FROM {rows.build_source()}{where}"  # noqa: S608 - quoted


def _select_cell(
    rows: Rows, layout: Layout, name: str, numbers: frozenset[str], ends: tuple[float, float]
) -> str:
    if name == _mark_part("series"):
        return rows.label(layout.labels)
    if name == _mark_part("run") or (name == layout.roles.run and len(layout.files) > 1):
        return select_run(rows, layout)
    if layout.outcomes and name == layout.outcomes.score:
        return rows.as_score(name, ends)
    if name in numbers:
        return rows.as_number(name)
    types = {file.type_of(name) for file in layout.files if name in file.names}
    typed = layout.kinds[name] is Kind.TIME and len(types) == 1 and sql.TEXT not in types
    return f"CAST({rows.as_written(name)} AS {types.pop()})" if typed else rows.as_words(name)


def _list_numbers(layout: Layout) -> frozenset[str]:
    """Columns that are read as numbers; all others are kept as they are written."""
    parts = ("value", *INTERVAL_PARTS) if layout.long else INTERVAL_PARTS
    found = {getattr(layout.roles, part) for part in parts}
    if layout.outcomes:
        found |= {getattr(layout.outcomes, part) for part in _COUNTED}
    elif layout.totals:
        found |= {layout.totals.score, layout.totals.stderr, layout.totals.n}
    elif not layout.long:
        metrics = [raw for raws in layout.metrics.values() for raw in raws]
        found |= {*metrics, *_companions(metrics, layout)}
    step = layout.roles.step
    if step and layout.kinds[step] is not Kind.TIME:
        found.add(step)
    return frozenset(name for name in found if name)


def _companions(metrics: list[str], layout: Layout) -> Iterator[str]:
    """Columns of intervals that belong to metrics of a wide table."""
    yield from (
        name for raw in metrics for part in INTERVAL_PARTS if (name := f"{raw}_{part}") in layout.kinds
    )
