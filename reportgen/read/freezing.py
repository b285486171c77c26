"""A source as one Parquet file that says the same: every row and column, runs and series with their names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from reportgen.read import sql
from reportgen.read.cells import Kind
from reportgen.read.columns import INTERVAL, resolved
from reportgen.read.engine import engine
from reportgen.read.find import location_of, name_of
from reportgen.read.layout import layout_of
from reportgen.read.measuring import measurements
from reportgen.read.opening import open_location
from reportgen.read.score_names import score_names
from reportgen.read.tabular.faults import explained, find_faults
from reportgen.read.tabular.outcome_columns import column_of
from reportgen.read.tabular.rows import groups, kept, run_of
from reportgen.read.tabular.survey import completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reportgen.cache import Cache
    from reportgen.model import Source
    from reportgen.read.layout import Layout
    from reportgen.read.tabular.rows import Rows
    from reportgen.repository import Boundary
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
    name = path.name if path.is_dir() else name_of(path)
    return open_location(location_of(path, name, root, boundary), load_settings, hashes, cache)


def frozen_table(root: Path, source: Source) -> FrozenTable:
    """A source as a table, with the settings that still matter.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    layout = completed(root, source)
    said = source.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    settings = {key: value for key, value in said.items() if key not in _DONE and key != "provenance"}
    if layout.outcomes or layout.totals:
        # Of several scores of a harness the chosen ones are the only ones that are left.
        settings.pop("metrics", None)
        if names := score_names(source):
            alike = len(set(names.values())) == 1 and set(names) >= set(source.benchmarks)
            settings["score_name"] = next(iter(names.values())) if alike else dict(names)
    if source.lower_is_better:
        everywhere = set(source.lower_is_better) >= set(source.benchmarks)
        settings["lower_is_better"] = True if everywhere else list(source.lower_is_better)
    if layout.spread:
        return _measured(root, source, settings)
    names = _names(layout)
    selects = [_select(rows, layout, source, names) for rows in groups(root, layout)]
    listed = ", ".join(sql.identifier(name) for name in names.values())
    select = f"SELECT {listed} FROM ({' UNION ALL '.join(selects)}) ORDER BY {_ROW}"  # noqa: S608 - quoted
    settings["form"] = _form(layout)
    if layout.repeat and not layout.totals:
        # What a logger's steps mean is not known of a table.
        settings.setdefault("repeat", layout.repeat)
    columns = {part: names[name] for part, name in _roles(layout).items() if names[name] != part}
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
    layout = layout_of(source)
    numbers = {name for name in layout.kinds if name in _numbers(layout)}
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    with explained(root, source.place, lambda: find_faults(root, layout.files, numbers)):
        engine().cursor().execute(f"COPY ({table.select}) TO {sql.literal(str(path))} ({options})")


_ROW: Final = '"row of the source"'


_PARTS: Final = frozenset(("series", "run", "seed", "metric", "value", "low", "high"))


def _measured(root: Path, source: Source, settings: dict[str, object]) -> FrozenTable:
    """Runs that are columns, as a long table under the names of the report."""
    table = measurements(root, source, source.metrics)
    with table.reading():
        relation: Any = table.frame.to_native()
    step = table.step_name if table.step_name not in {"", *_PARTS} else "step"
    spread = layout_of(source).spread.values()
    seed = "seed, " if any(one.seed for one in spread) else ""
    ends = ", low, high" if any(one.low for one in spread) else ""
    position = "epoch_ms(CAST(step AS BIGINT))" if table.step_is_time else "step"
    select = (
        f"SELECT series, run, {seed}metric, {position} AS {sql.identifier(step)}, value{ends} "  # noqa: S608 - quoted
        f"FROM ({relation.sql_query()}) "
        f"ORDER BY list_position([{sql.literals(source.metrics)}], metric), "
        f"list_position([{sql.literals(table.order)}], series), run, row"
    )
    rest = {key: value for key, value in settings.items() if key not in {"rename", "rename_metrics"}}
    rest |= {"form": "long", "metrics": list(source.metrics)}
    return FrozenTable(select, {**rest, **({} if step == "step" else {"columns": {"step": step}})})


def _form(layout: Layout) -> str:
    if layout.outcomes:
        return "outcomes"
    if layout.totals:
        return "totals"
    return "long" if layout.long else "wide"


def _names(layout: Layout) -> dict[str, str]:
    """Column of the source, or part that no column plays, and its name in the table."""
    names = {name: name for name in layout.kinds}
    if layout.step_name and layout.roles.step and layout.step_name not in names:
        names[layout.roles.step] = layout.step_name
    for part in ("series", "run"):
        if getattr(layout.roles, part) is None and (part == "series" or len(layout.files) > 1):
            names[_part(part)] = part if part not in names else f"{part} of the file"
    return names


def _part(part: str) -> str:
    """What stands for a part that no column plays, in place of a column; no column is called so."""
    return f"\0{part}"


def _roles(layout: Layout) -> dict[str, str]:
    """Every part that is played, and by which column."""
    found = {one.name: getattr(layout.roles, one.name) for one in fields(layout.roles)}
    if layout.outcomes:
        found |= {one.name: getattr(layout.outcomes, one.name) for one in fields(layout.outcomes)}
    if layout.totals:
        found |= {one.name: getattr(layout.totals, one.name) for one in fields(layout.totals)}
    found["series"] = found["series"] or _part("series")
    if len(layout.files) > 1:
        found["run"] = found["run"] or _part("run")
    # Answers of which nothing tells the benchmark have no column of it.
    there = {_part("series"), _part("run"), *layout.kinds}
    return {part: name for part, name in found.items() if name in there and name is not None}


def _select(rows: Rows, layout: Layout, source: Source, names: Mapping[str, str]) -> str:
    """The rows of files of one shape."""
    numbers = _numbers(layout)
    cells = {name: _cell(rows, layout, name, numbers, source.score_range) for name in names}
    metric = layout.roles.metric
    wanted = [raw for raws in layout.metrics.values() for raw in raws]
    only = f"{rows.words(metric)} IN ({sql.literals(wanted) or 'NULL'})" if layout.long and metric else ""
    if layout.totals and layout.totals.metric:
        # Of several scores of a harness those that were not chosen have no metric.
        only = f"{rows.text(layout.totals.metric)} IS NOT NULL"
    filters = resolved(source.settings.filter, tuple(layout.kinds))
    filters = tuple((column_of(name, layout) or name, cell) for name, cell in filters)
    listed = ", ".join(f"{cell} AS {sql.identifier(names[name])}" for name, cell in cells.items())
    where = kept(rows, filters, only)
    return f"SELECT {listed}, {rows.position()} AS {_ROW} FROM {rows.source()}{where}"  # noqa: S608 - quoted


def _cell(rows: Rows, layout: Layout, name: str, numbers: frozenset[str], ends: tuple[float, float]) -> str:
    if name == _part("series"):
        return rows.label(layout.labels)
    if name == _part("run") or (name == layout.roles.run and len(layout.files) > 1):
        return run_of(rows, layout)
    if layout.outcomes and name == layout.outcomes.score:
        return rows.score(name, ends)
    if name in numbers:
        return rows.number(name)
    types = {file.type_of(name) for file in layout.files if name in file.names}
    typed = layout.kinds[name] is Kind.TIME and len(types) == 1 and sql.TEXT not in types
    return f"CAST({rows.plain(name)} AS {types.pop()})" if typed else rows.words(name)


def _numbers(layout: Layout) -> frozenset[str]:
    """Columns that are read as numbers; all others are kept as they are written."""
    parts = ("value", *INTERVAL) if layout.long else INTERVAL
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
    yield from (name for raw in metrics for part in INTERVAL if (name := f"{raw}_{part}") in layout.kinds)
