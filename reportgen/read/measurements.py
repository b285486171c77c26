"""The metrics of a source as one lazy tidy table, and tables as pandas frames for notebooks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.sql import fetch_frame, get_engine
from reportgen.read.check_repeats import check_runs
from reportgen.read.derived import check_derived, check_x, derive
from reportgen.read.groups import expand_settings
from reportgen.read.plan import build_rows, plan_measurements, select_rows
from reportgen.read.runs.counters import check_counters
from reportgen.read.tables.check import explain_errors, explain_faults, find_faults
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import (
    keep_series,
    locate_row,
    resolve_filters,
    select_files,
    select_names,
    select_run,
    select_series,
)
from reportgen.read.x_axis import DerivedRows, find_x, place_rows
from reportgen.settings.base import describe_filter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from reportgen.core.model import Measurements
    from reportgen.read.groups import Groups
    from reportgen.read.plan import MeasurementQuery, Plan
    from reportgen.read.tables.rows import Rows
    from reportgen.read.x_axis import PlacedRows
    from reportgen.settings.inputs import Source


class PlannedTable(Struct, frozen=True):
    """The measurements of one source: the SELECT of its rows with their x, and its groups of runs."""

    root: Path
    source: Source
    plan: Plan
    rows: PlacedRows
    groups: Groups
    notes: tuple[str, ...]  # sentences about rows that were selected, grouped and computed

    @property
    def order(self) -> tuple[str, ...]:
        """Series, or groups of runs, in the order of drawing."""
        plan = self.plan
        return self.groups.order or (plan.layout.series if plan.series is None else plan.series)

    def list_faults(self) -> list[Diagnostic]:
        """List faults in the files that keep the rows from being read."""
        return _list_faults(self.root, self.source, self.plan)

    def check_runs(self) -> None:
        """Refuse series of one name that share a run, and runs that differ in words without settings."""
        plan = self.plan
        grouped = bool(plan.groups.by)
        check_runs(self.root, self.source, plan.layout, plan.filters, plan, is_grouped=grouped)

    def check_counters(self) -> None:
        """Refuse steps that count two things, such as iterations and epochs."""
        check_counters(self.root, self.plan)

    def list_runs(self) -> tuple[tuple[str, str, str | None], ...]:
        """Return series, run and seed of every run of the rows, also of those without any of the metrics.

        Empty where each row has all metrics, so that such a run has rows of its own.
        """
        plan, layout = self.plan, self.plan.layout
        if plan.repeat == "runs" or not plan.has_gaps:
            return ()

        def list_cells(rows: Rows) -> dict[str, str]:
            names = select_names(rows, layout, plan.rename)
            return {**names, **plan.groups.select(rows), "row": rows.get_position()}

        select = keep_series(select_files(self.root, layout, list_cells, plan.filters), plan.series)
        select = plan.groups.regroup(select) if plan.groups.list_fields() else select
        every = f'SELECT series, run, min(seed) FROM ({select}) GROUP BY 1, 2 ORDER BY min("row")'  # noqa: S608
        return tuple(get_engine().fetch_rows(every))

    def check_x(self) -> None:
        """Refuse an x that goes back or stands still within a run, or that some runs do not have."""
        check_x(self.rows.checked, self.rows.title, self.source, is_time=self.rows.is_time)


def _list_faults(root: Path, source: Source, plan: Plan) -> list[Diagnostic]:
    times = {plan.step} if plan.step_is_time else set()
    found = find_faults(root, plan.layout.files, plan.list_numbers(), times)
    return found or list(_find_values_outside(root, source, plan))


_MOST_OUTSIDE = 10


def _find_values_outside(root: Path, source: Source, plan: Plan) -> Iterator[Diagnostic]:
    """Yield a problem for values below ``at_least`` or above ``at_most``, in the order of writing."""
    bounds = _list_bounds(source, plan)
    if not (tests := [f"({_write_test(name, ends)})" for name, ends in bounds.items()]):
        return
    select = f'SELECT metric, value, "row" FROM ({select_rows(root, plan)})'  # noqa: S608 - quoted
    order = f'ORDER BY "row" LIMIT {_MOST_OUTSIDE}'
    rows = get_engine().fetch_rows(f"{select} WHERE {' OR '.join(tests)} {order}")
    for name, value, row in rows:
        path, line, _ = locate_row(root, plan.layout, row)
        low, high = bounds[name]
        bound = f"below at_least: {low:g}" if value < low else f"above at_most: {high:g}"
        place, message = SourceLocation(path, line), f"{name} is {value:.6g}, {bound}"
        yield Diagnostic(place, message, "Mend it, or state another range in source.yml", Stage.DATA)


def _list_bounds(source: Source, plan: Plan) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest possible value of metrics that have them."""
    found = ((name, source.settings.find_ends(name)) for name in plan.metrics)
    return {name: ends for name, ends in found if ends}


def _write_test(metric: str, ends: tuple[float, float]) -> str:
    """Return SQL for whether a value is outside; infinite and missing ones are not."""
    low, high = (f"CAST({sql.quote(repr(end))} AS DOUBLE)" for end in ends)
    return f"metric = {sql.quote(metric)} AND isfinite(value) AND value NOT BETWEEN {low} AND {high}"


def _check_bounds(select: str, source: Source, plan: Plan) -> str:
    """Return a SELECT that fails at a value outside the range of its metric."""
    tests = [_write_test(*one) for one in _list_bounds(source, plan).items()]
    if not tests:
        return select
    outside = " OR ".join(f"({test})" for test in tests)
    value = f"CASE WHEN {outside} THEN error('a value is out of range') ELSE value END"
    return f"SELECT * REPLACE ({value} AS value) FROM ({select})"  # noqa: S608 - quoted


def plan_table(root: Path, source: Source, query: MeasurementQuery) -> PlannedTable:
    """Plan the measurements of one source; raise ``ReportError`` as ``joined.read_measurements``."""
    query = replace(query, by=expand_settings(root, query.by, get_layout(source), source))
    axis = find_x(source, query.x, query.x_formula)
    read = axis.add_inputs(query.formula.names if query.formula else query.metrics, get_layout(source))
    plan = plan_measurements(root, source, replace(query, metrics=read, x=axis.reads))
    if query.formula:
        # A derived metric has no intervals from the data.
        plan = replace(plan, intervals={raw: {} for raw in plan.intervals})
    elif plan.repeat == "mean" and plan.given_interval:
        message = f"repeat: mean cannot average the intervals that the data give ({plan.given_interval})"
        advice = "Say repeat: runs, or rename the columns of the intervals"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.SETTINGS))
    with explain_errors(root, source.location, partial(_list_faults, root, source, plan)):
        groups = plan.groups.find_groups(select_rows(root, plan), source)
        select, notes = _check_bounds(build_rows(root, plan), source, plan), tuple[str, ...]()
        if query.formula:
            # The rows of the derived metric, and of those that x needs.
            (name,) = query.metrics
            notes = check_derived(select, name, query.formula, source, has_own=plan.keeps_own)
            others = (*axis.inputs, *([plan.step_name] if plan.step_metric else []))
            select = derive(select, name, query.formula, others, has_own=plan.keeps_own)
        rows = DerivedRows(select, query.metrics, keeps_own=plan.keeps_own, notes=notes)
        placed = place_rows(root, source, plan, axis, rows)
    notes = (*filter(None, [describe_filter(query.where), axis.note]), *rows.notes, *groups.notes)
    return PlannedTable(root, source, plan, placed, groups, notes)


_PARTS: Final = ("series", "run", "seed", "step", "metric", "value")


def make_frame(measurements: Measurements) -> pd.DataFrame:
    """Return measurements as a frame in the order of writing, with times as timestamps in UTC.

    Its columns are ``series, run, seed, metric, step, value`` and those of an interval in the data. Faults in
    the files raise one ``ReportError``.
    """
    import pandas as pd  # noqa: PLC0415 - takes half a second, and few commands need it

    with measurements.reading():
        table: pd.DataFrame = fetch_frame(measurements.frame.sort("row", "metric").drop("row"))
    if measurements.step_is_time:
        table["step"] = pd.to_datetime(table["step"], unit="ms", utc=True)
    return table


def read_raw_frame(project_root: Path, source: Source) -> pd.DataFrame:
    """Return every column of a source as written, and those that reportgen recognised.

    ``series`` and metrics are renamed as the source says. ``series`` and ``run`` are always present;
    ``seed``, ``step``, ``metric`` and ``value`` are if a column has that role under another name. The rows
    are those that the source's filter keeps, in the order of writing. Numbers are float64, words str, missing
    cells None or NaN. Faults in the files raise one ``ReportError``. Of several sources shown together, a
    first column ``source`` has the name of each, and series have their names among all.
    """
    if source.parts:
        return _join_raw_frames(project_root, source)
    layout, settings = get_layout(source), source.settings
    numbers = {name for name, kind in layout.kinds.items() if kind is Kind.NUMBER}
    # Name in the frame: column of the data. A column's own name takes precedence over its role.
    columns = {name: name for name in layout.kinds}
    for part in _PARTS:
        column = getattr(layout.roles, part)
        if part not in columns and (column is not None or part in {"series", "run"}):
            columns[part] = column or ""

    def select_cell(rows: Rows, part: str, name: str) -> str:
        # A column called series or run without that role stays as it is.
        if part == "series" and name in {"", layout.roles.series}:
            return select_series(rows, layout, settings.rename)
        if part == "run" and name in {"", layout.roles.run}:
            return select_run(rows, layout)
        return rows.as_number(name) if name in numbers else rows.as_written(name)

    def list_accepted(rows: Rows) -> dict[str, str]:
        cells = {f"c{index}": select_cell(rows, *pair) for index, pair in enumerate(columns.items())}
        return {**cells, "row": rows.get_position()}

    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    select = select_files(project_root, layout, list_accepted, filters)
    with explain_faults(project_root, source.location, layout.files, numbers):
        ordered = f"SELECT * EXCLUDE (row) FROM ({select}) ORDER BY row"  # noqa: S608 - quoted
        table: pd.DataFrame = get_engine().open_cursor().sql(ordered).df()
    table.columns = list(columns)
    # Metrics are renamed, both as columns and in the column that names them.
    if "metric" in table.columns:
        table["metric"] = table["metric"].replace(dict(settings.rename_metrics))
    return table.rename(columns=dict(settings.rename_metrics))


def _join_raw_frames(project_root: Path, source: Source) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - takes half a second, and few commands need it

    frames = []
    for part in source.parts:
        frame = read_raw_frame(project_root, part.source)
        if "series" in frame.columns:
            frame["series"] = frame["series"].replace(part.names)
        frame.insert(0, "source", part.source.name, allow_duplicates=True)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
