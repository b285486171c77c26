"""What a caller asks of a source, in the source's own columns; unknown names are told with near ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, Stage
from reportgen.read.cells import Kind
from reportgen.read.columns import INTERVAL_PARTS, find_column
from reportgen.read.layout import get_layout
from reportgen.read.tabular.survey import complete_layout
from reportgen.read.wording import list_names, suggest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.read.layout import Filters, Layout, RawNames
    from reportgen.settings.blocks import CellValue


EXTREMES: Final = "minimum and maximum"
"""The way of an interval from the smallest to the largest of the values that one stands for."""


@dataclass(frozen=True, slots=True)
class MeasurementQuery:
    """What is asked of a source, in the names of the report; see ``measuring.measurements``."""

    metrics: tuple[str, ...]
    x: str | None
    series: tuple[str, ...] | None
    where: Mapping[str, CellValue | tuple[CellValue, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which columns and rows of a source make a table of measurements.

    Attributes:
        layout: how the source is read.
        rename: series as written, and their names in the report.
        metrics: metrics asked for, and their names in the data.
        step: the column used as x.
        step_metric: names in the data of the metric used as x of a long table, joined on the step.
        step_name: what x is called.
        series: only these series, if not all.
        filters: column as written, and the cells it may hold.
        intervals: for each metric of the data the columns of its own interval, by part.
        repeat: what several rows of one step mean, as ``repeat:`` of a source says; empty where nothing does.
    """

    layout: Layout
    rename: Mapping[str, str]
    metrics: Mapping[str, RawNames]
    step: str
    step_metric: RawNames
    step_name: str
    series: tuple[str, ...] | None
    filters: Filters
    intervals: Mapping[str, Mapping[str, str]]
    repeat: str = ""

    @property
    def own_step(self) -> str:
        """The column of the rows' own step, whatever is used as x."""
        return self.layout.roles.step or self.step

    @property
    def step_is_time(self) -> bool:
        """Whether x is a time."""
        return not self.step_metric and self.layout.kinds[self.step] is Kind.TIME

    @property
    def given_interval(self) -> str | None:
        """How the data give their own interval, in words; the fullest way where metrics differ."""
        parts = [set(interval) for interval in self.intervals.values()]
        if self.layout.spread and any(parts):
            return EXTREMES
        ways = {"low and high": {"low", "high"}, "stderr": {"stderr"}, "std and n": {"std", "n"}}
        return next((way for way, needed in ways.items() if any(needed <= had for had in parts)), None)

    def list_numbers(self) -> set[str]:
        """Every column that has to hold numbers."""
        layout = self.layout
        values = {layout.roles.value or ""} if layout.long else {*self.intervals, *self.step_metric}
        given = {name for interval in self.intervals.values() for name in interval.values()}
        return values | given | (set() if self.step_is_time else {self.step})


def plan_measurements(root: Path, source: Source, query: MeasurementQuery) -> Plan:
    """Find the columns of what is asked for.

    Raises:
        ReportError: every name that the source does not have.
    """
    layout = get_layout(source)
    problems = list(_report_unknown(source, layout, query))
    if problems and not layout.exhaustive:
        layout = complete_layout(root, source)
        problems = list(_report_unknown(source, layout, query))
    if problems:
        raise ReportError(*problems)
    step, step_metric = _find_step(layout, query.x)
    metrics = {name: layout.metrics[name] for name in query.metrics}
    filters = {**source.settings.filter, **query.where}
    return Plan(
        layout=layout,
        rename=source.settings.rename,
        metrics=metrics,
        step=step or "",
        step_metric=step_metric,
        step_name=(query.x if step_metric else _step_name(layout, step)) or "",
        series=query.series,
        filters=tuple((_find_column(name, layout) or name, cell) for name, cell in filters.items()),
        intervals={raw: _find_interval(raw, layout) for raws in metrics.values() for raw in raws},
        repeat=source.settings.repeat or layout.repeat,
    )


def _report_unknown(source: Source, layout: Layout, query: MeasurementQuery) -> Iterator[Problem]:
    """A problem for each name that is not there."""
    columns, metrics, x = tuple(layout.kinds), tuple(layout.metrics), query.x
    missing = [("metric", name, metrics) for name in query.metrics if name not in metrics]
    missing += [("series", name, layout.series) for name in query.series or () if name not in layout.series]
    missing += [("column", name, columns) for name in query.where if _find_column(name, layout) is None]
    found = _find_step(layout, x)
    if x is not None and found == (None, ()):
        missing.append(("column or metric", x, tuple(dict.fromkeys((*columns, *metrics)))))
    for kind, name, known in missing:
        message = f'the source "{source.name}" has no {kind} "{name}"'
        yield Problem(source.location, message, suggest_names(name, known, "It has"), Stage.DATA)
    if found[0] is None and (x is None or found[1]):
        message = (
            f'no column of the source "{source.name}" is known as the step; it has {list_names(columns)}'
        )
        advice = "Name it in source.yml, as in columns: {step: NAME}, or as x: of the block"
        yield Problem(source.location, message, advice, Stage.DATA)


def _find_step(layout: Layout, x: str | None) -> tuple[str | None, RawNames]:
    """The column used as x, and the metric where a long table has it in rows of its own."""
    if x is None or x in layout.kinds:
        return x or layout.roles.step, ()
    if x in layout.metrics:
        raws = layout.metrics[x]
        return (layout.roles.step, raws) if layout.long or layout.spread else (raws[0], ())
    return _find_column(x, layout), ()


def _step_name(layout: Layout, step: str | None) -> str | None:
    return layout.step_name if layout.step_name and step == layout.roles.step else step


def _find_column(name: str, layout: Layout) -> str | None:
    """The column of this name or, where none has it, the one that plays this part."""
    found = find_column(name, tuple(layout.kinds))
    if found is None and name in {"series", "run", "seed", "step", "metric"}:
        role: str | None = getattr(layout.roles, name)
        return role
    return found


def _find_interval(raw: str, layout: Layout) -> dict[str, str]:
    """The columns of the interval that belongs to a metric of the data, by part."""
    if layout.spread:
        one = layout.spread[raw]
        return {"low": one.low, "high": one.high} if one.low else {}
    if layout.long or len(layout.metrics) == 1:
        named = {part: getattr(layout.roles, part) for part in INTERVAL_PARTS}
    else:
        named = {"n": "n" if "n" in layout.kinds else None}
    found = {part: name for part, name in named.items() if name is not None}
    if not layout.long:
        found |= {part: f"{raw}_{part}" for part in INTERVAL_PARTS if f"{raw}_{part}" in layout.kinds}
    # A lone n says nothing.
    return found if set(found) - {"n"} else {}
