"""Plan of the columns and rows of a table of measurements, as one lazy SQL statement."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.words import choose_names, explain_unmatched, is_pattern, suggest_formula
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.messages import list_names, suggest_names
from reportgen.read.derived import make_name_formula, replace_x
from reportgen.read.groups import GroupColumns, separate_runs
from reportgen.read.tables.layout import (
    INTERVAL_PARTS,
    add_settings,
    get_layout,
    list_setting_names,
    resolve_column,
)
from reportgen.read.tables.rows import (
    group_files,
    keep_series,
    list_cells,
    rename_texts,
    select_fields,
    select_names,
)
from reportgen.read.tables.suggest import advise_step
from reportgen.read.tables.survey import complete_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import Formula
    from reportgen.read.tables.layout import Filters, Layout, RawNames
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


_SCORES: Final = "standard errors of scores"
# Each form of an interval: the parts that it needs, and the columns of the frame that it fills.
_WAYS: Final = {
    "low and high": ({"low", "high"}, ("low", "high")),
    "stderr": ({"stderr"}, ("stderr", "n")),
    "std and n": ({"std", "n"}, ("stderr", "n")),
    _SCORES: ({"bounds"}, ("low", "high", "stderr", "n")),
}
# The range of the values that one value aggregates.
_EXTREMES: Final = "minimum and maximum"
_NULL: Final = "CAST(NULL AS DOUBLE)"
# The columns of every table, and their types in an empty one.
_COLUMNS: Final = {
    **dict.fromkeys(("series", "run", "seed", "metric"), "''"),
    **dict.fromkeys(("step", "value"), _NULL),
    "row": "0::BIGINT",
}
# The row's own step, which decides what belongs to one step if another column is used as x.
_OWN: Final = "own"


class MeasurementQuery(Struct, frozen=True):
    """A query of measurements, in the names of the report; see ``read_measurements``."""

    metrics: tuple[str, ...]
    x: str | None
    series: tuple[str, ...] | None
    where: Mapping[str, CellValue | tuple[CellValue, ...]]
    by: tuple[str, ...] = ()
    colour: str | None = None
    formula: Formula | None = None  # derives the only metric
    x_formula: Formula | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the settings or columns that it names."""
        return (*self.where, *self.by, *([self.colour] if self.colour else []))


class Plan(Struct, frozen=True, dict=True):
    """Columns and rows of a source that make a table of measurements."""

    layout: Layout
    metrics: Mapping[str, RawNames]  # metrics of the query, and their names in the data
    step: str  # the column used as x
    filters: Filters
    intervals: Mapping[str, Mapping[str, str]]  # columns of the interval of each raw metric, by part
    rename: Mapping[str, str] = field(default_factory=dict)  # series as written: their names in the report
    step_metric: RawNames = ()  # raw names of a metric used as x in a long table, joined on steps
    step_name: str = ""  # the name of x
    series: tuple[str, ...] | None = None  # these series only, or all if None
    repeat: str = ""  # meaning of several rows of one step, as in ``repeat:`` of a source
    groups: GroupColumns = field(default_factory=GroupColumns)

    @property
    def own_step(self) -> str:
        """Column of the rows' own step, whatever is used as x."""
        return self.layout.roles.step or self.step

    @property
    def step_is_time(self) -> bool:
        """Whether x is a time."""
        return not self.step_metric and self.layout.kinds[self.step] is Kind.TIME

    @property
    def names(self) -> dict[str, str]:
        """Name in the report of each metric in the data, including one used as x."""
        joined = {self.step_name: self.step_metric} if self.step_metric else {}
        return {raw: name for name, raws in {**self.metrics, **joined}.items() for raw in raws}

    @property
    def given_interval(self) -> str | None:
        """Form of the data's own interval, in words; the fullest one if metrics differ."""
        parts = [set(interval) for interval in self.intervals.values()]
        if self.layout.is_chart and any(parts):
            return _EXTREMES
        if self.layout.bounds and any(parts):
            return _SCORES
        return next((way for way, (needed, _) in _WAYS.items() if any(needed <= had for had in parts)), None)

    @cached_property  # for each of thousands of metrics, it looked at all of them
    def interval_columns(self) -> tuple[str, ...]:
        """Columns of the frame that the data's own interval fills."""
        way = self.given_interval
        return _WAYS[way][1] if way in _WAYS else ("low", "high") if way else ()

    def list_numbers(self) -> set[str]:
        """Return every column that must hold numbers."""
        layout = self.layout
        values = {layout.roles.value or ""} if layout.long else {*self.intervals, *self.step_metric}
        given = {name for interval in self.intervals.values() for name in interval.values()}
        return values | given | (set() if self.step_is_time else {self.step})

    @property
    def by_own_step(self) -> bool:
        """Whether the rows' own step is needed: to combine or separate rows of one step, or to check x."""
        return self.repeat in {"mean", "runs"} or self.keeps_own

    @property
    def keeps_own(self) -> bool:
        """Whether ``build_rows`` keeps the rows' own step, since x is another column."""
        return self.repeat not in {"mean", "runs"} and self.step != self.own_step

    @property
    def has_gaps(self) -> bool:
        """Whether an empty cell means that a row has other metrics, as when loggers share a table."""
        return sum(map(len, self.layout.metrics.values())) > 1


def plan_measurements(root: Path, source: Source, query: MeasurementQuery) -> Plan:
    """Find the columns that a query needs, or raise a ``ReportError`` with every unknown name."""
    layout = add_settings(get_layout(source), query.settings)
    problems = list(_check_names(root, source, layout, query))
    if not layout.exhaustive and (problems or any(map(is_pattern, query.series or ()))):
        layout = complete_layout(root, source)
        problems = list(_check_names(root, source, layout, query))
    if problems:
        raise ReportError(*problems)
    step, step_metric = _find_step(layout, query.x)
    step_name = layout.step_name if layout.step_name and step == layout.roles.step else step
    if source.settings.form == "runs" and query.x is None:
        step_name = ""  # finished runs have none
    metrics = {name: layout.metrics.get(name, (name,)) for name in query.metrics}
    named = {**source.settings.filter, **query.where}
    filters = tuple((_find_column(name, layout) or name, cell) for name, cell in named.items())
    found = {name: _find_column(name, layout) or name for name in query.settings}
    by, colour = ({name: found[name] for name in some if name} for some in (query.by, [query.colour]))
    groups = GroupColumns(by, colour)
    return Plan(
        layout=separate_runs(root, layout, groups, filters),
        rename=source.settings.rename,
        metrics=metrics,
        step=step or "",
        step_metric=step_metric,
        step_name=(query.x if step_metric else step_name) or "",
        series=choose_series(query.series, layout),
        filters=filters,
        intervals={raw: _find_interval(raw, layout) for raws in metrics.values() for raw in raws},
        repeat=source.settings.repeat or layout.repeat,
        groups=groups,
    )


def report_missing(source: Source, missing: Iterable[tuple[str, str, Iterable[str]]]) -> Iterator[Diagnostic]:
    """Yield a problem for each kind and name that a source does not have, with those that it has."""
    for kind, name, known in missing:
        message = f'the source "{source.name}" has no {kind} "{name}"'
        formula = suggest_formula(name) if kind == "column or metric" else ""
        step = formula + suggest_names(name, tuple(known), "It has")
        yield Diagnostic(source.location, message, step, Stage.DATA)


def choose_series(patterns: tuple[str, ...] | None, layout: Layout) -> tuple[str, ...] | None:
    """Return the series that names and patterns choose, or None for all."""
    return None if patterns is None else choose_names(patterns, layout.series).names


def report_missing_series(
    source: Source, known: tuple[str, ...], patterns: tuple[str, ...] | None
) -> Iterator[Diagnostic]:
    """Yield a problem for each name or pattern of series that chooses nothing, or for all together."""
    chosen, owner = choose_names(patterns or (), known), f'source "{source.name}"'
    for text in chosen.unmatched:
        if not is_pattern(text):
            yield from report_missing(source, [("series", text, known)])
            continue
        message, advice = explain_unmatched(text, "series", known, owner)
        yield Diagnostic(source.location, message, advice, Stage.DATA)
    if patterns and not chosen.names and not chosen.unmatched:
        message = f"{list_names(patterns)} together leave out all series of {owner}"
        yield Diagnostic(source.location, message, f"It has {list_names(known)}", Stage.DATA)


def _check_names(root: Path, source: Source, layout: Layout, query: MeasurementQuery) -> Iterator[Diagnostic]:
    """Yield a problem for each unknown name in a query."""
    columns, metrics, x = tuple(layout.kinds), tuple(layout.metrics), query.x
    unknown = (name for name in query.metrics if name not in {*metrics, *layout.numbers})
    absent = [("metric", name, metrics) for name in unknown]
    yield from report_missing(source, absent)
    yield from report_missing_series(source, layout.series, query.series)
    kind, known = "column or setting" if layout.settings else "column", list_setting_names(layout) + columns
    missing = [(kind, name, known) for name in query.settings if _find_column(name, layout) is None]
    step, step_metric = _find_step(layout, x)
    if x is not None and step is None and not step_metric:
        missing.append(("column or metric", x, tuple(dict.fromkeys((*columns, *metrics)))))
    yield from report_missing(source, missing)
    if step is None and (x is None or step_metric):
        # What stands after ± is a column only here.
        stated = columns if source.settings.interval else ()
        own = {f"{name}_{part}" for name in stated for part in INTERVAL_PARTS}
        shown = list_names(name for name in columns if name not in own)
        message = f'no column of the source "{source.name}" is known as the step; it has {shown}'
        step_advice = advise_step(root, layout, source.settings)
        yield Diagnostic(source.location, message, step_advice, Stage.DATA)


def _find_step(layout: Layout, x: str | None) -> tuple[str | None, RawNames]:
    """Return the column used as x, and the metric if a long table has it in rows of its own."""
    if x is None or x in layout.kinds:
        return x or layout.roles.step, ()
    if x in layout.metrics:
        raws = layout.metrics[x]
        return (layout.roles.step, raws) if layout.long else (raws[0], ())
    return _find_column(x, layout), ()


def _find_column(name: str, layout: Layout) -> str | None:
    """Return the column of this name, otherwise the one with this role, or None."""
    roles = {"step": layout.roles.step, "metric": layout.roles.metric}
    return resolve_column(name, layout) or roles.get(name)


def _find_interval(raw: str, layout: Layout) -> dict[str, str]:
    """Return the columns of the interval that belongs to a raw metric, by part."""
    if layout.long or len(layout.metrics) == 1:
        named = {part: getattr(layout.roles, part) for part in INTERVAL_PARTS}
    else:
        named = {"n": layout.roles.n or ("n" if "n" in layout.kinds else None)}
    found = {part: name for part, name in named.items() if name is not None}
    if not layout.long:
        found |= {part: f"{raw}_{part}" for part in INTERVAL_PARTS if f"{raw}_{part}" in layout.kinds}
    if "n" not in found and not layout.roles.std:
        found.pop("std", None)  # of a batch
    # n alone is no interval.
    return found if set(found) - {"n"} else {}


def select_rows(root: Path, plan: Plan) -> str:
    """Build the SELECT of the rows of a plan, with the settings that group them."""
    selects: list[str] = []
    for rows in group_files(root, plan.layout):
        found = [(name, raw) for name, raws in plan.metrics.items() for raw in raws if rows.has(raw)]
        if plan.layout.long:
            selects.append(_select_long(rows, plan))
        elif rows.columnar:
            # One column at a time is free in a columnar file; a text file would be parsed again.
            selects += (_select_metrics(rows.copy(), plan, [one]) for one in found)
        elif found:
            selects.append(_select_metrics(rows, plan, found))
    if not selects:
        nothing = {**_COLUMNS, **({_OWN: _NULL} if plan.by_own_step else {})}
        nothing |= dict.fromkeys(plan.groups.list_fields(), f"CAST(NULL AS {sql.TEXT})")
        listed = list_cells(_order_fields({**nothing, **dict.fromkeys(plan.interval_columns, _NULL)}))
        selects = [f"SELECT {listed} WHERE FALSE"]
    return keep_series(" UNION ALL ".join(selects), plan.series)


def build_statement(root: Path, plan: Plan) -> str:
    """Build the SELECT of a plan, with the columns of ``Measurements.frame``."""
    select = build_rows(root, plan)
    if not plan.step_metric:
        return select
    joined = replace_x(select, make_name_formula(plan.step_name), (), plan.metrics)
    return f"SELECT * EXCLUDE (own) FROM ({joined}) WHERE step IS NOT NULL"  # noqa: S608 - our own names


def build_rows(root: Path, plan: Plan) -> str:
    """Build the SELECT of a plan, with ``own`` if x is another column; a metric used as x has its rows."""
    select = select_rows(root, plan)
    if plan.groups.list_fields():
        select = plan.groups.regroup(select)
    if plan.repeat == "mean":
        # One row per step: the mean of its finite values, in the order of writing to be stable.
        finite = f"FILTER (value BETWEEN -{sql.LARGEST} AND {sql.LARGEST})"
        mean = f'list_avg(list(value ORDER BY "row") {finite})'
        x = 'CASE WHEN min(step) = max(step) THEN min(step) ELSE list_avg(list(step ORDER BY "row")) END'
        return (
            f"SELECT series, run, min(seed) AS seed, metric, {x} AS step, "  # noqa: S608 - our own names
            f'coalesce({mean}, arg_max(value, "row")) AS value, min("row") AS "row" '
            f"FROM ({select}) GROUP BY series, run, metric, {_OWN}"
        )
    return _RUNS_SQL.format(select=select) if plan.repeat == "runs" else select


def _select_long(rows: Rows, plan: Plan) -> str:
    names = plan.names
    raw = rows.as_words(plan.layout.roles.metric or "")
    renamed = {old: new for old, new in names.items() if old != new}
    metric = rename_texts(raw, renamed)
    if len(set(names.values())) == 1:
        metric = sql.quote(next(iter(names.values())))
    fields = {
        **_name_fields(rows, plan),
        "metric": metric,
        "value": rows.as_number(plan.layout.roles.value or ""),
        **_select_interval(rows, plan, next(iter(plan.intervals.values()), {})),
    }
    test = f"{raw} IN ({sql.quote_all(names) or 'NULL'})"
    return _select(rows, plan, fields, test)


def _select_metrics(rows: Rows, plan: Plan, found: Sequence[tuple[str, str]]) -> str:
    """Select metrics, by name and raw name, from rows that are parsed once."""
    names = [sql.quote(name) for name, _ in found]
    cells = [
        {"value": rows.as_number(raw), **_select_interval(rows, plan, plan.intervals[raw])}
        for _, raw in found
    ]
    if len(found) == 1:
        fields = {**_name_fields(rows, plan), "metric": names[0], **cells[0]}
        test = f"{cells[0]['value']} IS NOT NULL" if plan.has_gaps else ""
        return _select(rows, plan, fields, test)
    fields = {
        **_name_fields(rows, plan),
        "metric": sql.unnest(names),
        **{part: sql.unnest(cell[part] for cell in cells) for part in cells[0]},
    }
    select = _select(rows, plan, fields)
    return f"SELECT * FROM ({select}) WHERE value IS NOT NULL" if plan.has_gaps else select  # noqa: S608


def _name_fields(rows: Rows, plan: Plan) -> dict[str, str]:
    """Return the fields of every row besides metric and value."""
    return {**select_names(rows, plan.layout, plan.rename), **_position_fields(rows, plan)}


def _position_fields(rows: Rows, plan: Plan) -> dict[str, str]:
    """Return step and row, and the rows' own step if ``repeat:`` needs it."""
    fields = {
        "step": rows.as_time(plan.step) if plan.step_is_time else rows.as_number(plan.step),
        "row": rows.get_position(),
    }
    if plan.by_own_step:
        is_time = plan.layout.kinds[plan.own_step] is Kind.TIME
        fields[_OWN] = rows.as_time(plan.own_step) if is_time else rows.as_number(plan.own_step)
    return fields | plan.groups.select(rows)


def _select_interval(rows: Rows, plan: Plan, interval: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of the data's own interval, with NULL for a metric without one."""
    parts = {part: rows.as_number(name) for part, name in interval.items()}
    if "stderr" not in parts and {"std", "n"} <= set(parts):
        # The standard error of a mean over n.
        parts["stderr"] = f"{parts['std']} / sqrt(nullif({parts['n']}, 0))"
    if bounds := plan.layout.bounds:
        parts |= {"low": f"{bounds[0]!r}::DOUBLE", "high": f"{bounds[1]!r}::DOUBLE"}
    return {part: parts.get(part, _NULL) for part in plan.interval_columns}


def _select(rows: Rows, plan: Plan, fields: Mapping[str, str], *tests: str) -> str:
    return select_fields(rows, _order_fields(fields), plan.filters, *tests)


def _order_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Return fields in one order everywhere, as UNION ALL requires."""
    return {part: fields[part] for part in dict.fromkeys((*_COLUMNS, *fields))}


# Rows of one step as separate runs: whole curves one after the other, otherwise in turn.
_RUNS_SQL: Final = """
WITH lagged AS (
    SELECT *, lag(own) OVER (PARTITION BY series, run, metric ORDER BY "row") AS before
    FROM ({select}) WHERE value IS NOT NULL
), placed AS (
    SELECT *, 1 + count(*) FILTER (own <= before) OVER (w ORDER BY "row") AS curve,
        row_number() OVER (PARTITION BY series, run, metric, own ORDER BY "row") AS nth
    FROM lagged WINDOW w AS (PARTITION BY series, run, metric)
), counted AS (
    SELECT *, max(nth) OVER (PARTITION BY series, run) AS several,
        CASE WHEN max(curve) OVER (w) = max(nth) OVER (w) THEN curve ELSE nth END AS number
    FROM placed WINDOW w AS (PARTITION BY series, run, metric)
)
SELECT * EXCLUDE (own, before, curve, nth, several, number)
    REPLACE (CASE WHEN several = 1 THEN run
        WHEN run = '' THEN number::VARCHAR ELSE run || ' #' || number END AS run)
FROM counted
"""
