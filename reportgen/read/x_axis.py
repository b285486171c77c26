"""What x is: the step, a column, a metric, a formula, or a word such as ``tokens`` or ``relative time``."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.words import quote_names
from reportgen.formats.cells import Kind
from reportgen.formats.layout import TIME_NAMES
from reportgen.read.derived import choose_time_unit, count_from_start, make_name_formula, replace_x
from reportgen.read.tables.layout import find_column, get_layout
from reportgen.read.tables.rows import select_files, select_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.model import Formula
    from reportgen.read.plan import Plan
    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source


_TIME: Final = "time"
_WALL: Final = frozenset(("wall time", "walltime", "wall clock", "wall clock time", "timestamp", "date"))
_RELATIVE: Final = frozenset(("relative time", "elapsed time", "elapsed", "time since start", "hours"))
# How loggers and trainers name what counts up with training, by the word for it.
_BEFORE: Final = "(?:num|n|total|cumulative|train|training|consumed|processed|input|global)"
_BEHIND: Final = "(?:seen|so_far|processed|consumed|total|trained)"
_COUNTS: Final = {
    "tokens": re.compile(rf"(?:{_BEFORE}_)*tokens?(?:_{_BEHIND})*", re.IGNORECASE),
    "samples": re.compile(rf"(?:{_BEFORE}_)*(?:samples?|examples?|sequences?)(?:_{_BEHIND})*", re.IGNORECASE),
    "epochs": re.compile(rf"(?:{_BEFORE}_)*epochs?", re.IGNORECASE),
}
_SAME: Final = {"token": "tokens", "sample": "samples", "examples": "samples", "epoch": "epochs"}


class XAxis(Struct, frozen=True):
    """What x is: the column or metric that a plan reads (None for the step), and what is computed from it."""

    reads: str | None = None
    title: str = ""  # the name of x, if it is not that of what is read
    formula: Formula | None = None
    relative: bool = False  # whether times count from the start of each run

    @property
    def note(self) -> str:
        """Return a sentence that says what x is, or an empty string if its name does."""
        if self.formula:
            return f"{self.title} = {self.formula.text}."
        return f"{self.title}: {self.reads}." if self.title and self.reads != _TIME else ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names in its formula."""
        return self.formula.names if self.formula else ()

    def add_inputs(self, metrics: tuple[str, ...], layout: Layout) -> tuple[str, ...]:
        """Return metrics together with those that its formula needs."""
        steps = list_step_names(layout)
        return tuple(name for name in dict.fromkeys((*metrics, *self.inputs)) if name not in steps)


def find_x(source: Source, x: str | None, formula: Formula | None) -> XAxis:
    """Return what x is; a word is looked up only if no column or metric has that name."""
    layout = get_layout(source)
    if formula is not None:
        return XAxis(title=x or "", formula=formula)
    if x is None or x in layout.metrics or find_column(x, tuple(layout.kinds)):
        return XAxis(x)
    if x == "step":
        return XAxis(None)
    word = re.sub(r"[\s_-]+", " ", x.strip().casefold())
    if word in _WALL | _RELATIVE:
        if found := find_time(layout):
            title = "" if word in _WALL else "time since start"
            return XAxis(found, title, relative=word in _RELATIVE)
        message = f'"{x}" is not known: source "{source.name}" has no times of its values'
        raise ReportError(Diagnostic(source.location, message, "Leave x out, or name a metric", Stage.DATA))
    counted = _COUNTS.get(_SAME.get(word, word))
    if counted is None:
        return XAxis(x)
    # The metric or column that counts what the word says.
    names = dict.fromkeys((*layout.metrics, *layout.kinds))
    counts = [name for name in names if counted.fullmatch(re.split(r"[/.]", name)[-1])]
    if len(counts) == 1:
        return XAxis(counts[0], x)
    message = f'source "{source.name}" has no column or metric "{x}", nor one that counts {x}'
    advice = f"Say how many one step has, as in x: {{step * 4096: {x}}}"
    if counts:
        message = f'several may be meant by "x: {x}" in source "{source.name}": {quote_names(counts)}'
        advice = "Name one of them as x"
    raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))


def find_time(layout: Layout) -> str | None:
    """Return the column with the times of rows: the one called ``time``, otherwise the only one."""
    times = [name for name in layout.kinds if layout.kinds[name] is Kind.TIME and TIME_NAMES.fullmatch(name)]
    return _TIME if _TIME in times else times[0] if len(times) == 1 else None


def list_axes(source: Source, x: object, metrics: Sequence[str]) -> tuple[str, ...]:
    """List what else the data have as x, by its word: the step, tokens, samples, epochs and relative time.

    ``x`` is what is drawn, a name or formula or None for the step, and ``metrics`` are drawn over it.
    """
    sources = [part.source for part in source.parts] or [source]

    def find_reads(word: str | None) -> set[str | None]:
        """Return what a word reads, None for the step; empty if it is in one of the sources only."""
        with suppress(ReportError):
            axes = [(find_x(one, word, None).reads, list_step_names(get_layout(one))) for one in sources]
            return {None if reads in names else reads for reads, names in axes}
        return set()

    drawn = {*metrics, *(find_reads(x) if x is None or isinstance(x, str) else ())}
    words = ("step", *_COUNTS, "relative time")
    return tuple(word for word in words if (reads := find_reads(word)) and not reads & drawn)


def list_step_names(layout: Layout) -> tuple[str, ...]:
    """Return the names that the rows' own step has in a formula."""
    names = dict.fromkeys(("step", layout.roles.step or "", layout.step_name))
    return tuple(name for name in names if name and name not in layout.metrics)


class DerivedRows(Struct, frozen=True):
    """The SELECT of rows of some metrics, and of those that x needs; whether it has their own step, too."""

    select: str
    metrics: tuple[str, ...]
    keeps_own: bool
    notes: tuple[str, ...] = ()  # sentences on how they were computed


class PlacedRows(Struct, frozen=True):
    """The SELECT of rows with their x; the same with the rows' own step as ``own``, to check x, or empty."""

    select: str
    checked: str
    title: str
    is_time: bool
    unit: float = 0.0  # of times since the start, in milliseconds


def place_rows(root: Path, source: Source, plan: Plan, axis: XAxis, rows: DerivedRows) -> PlacedRows:
    """Give rows their x."""
    select, metrics, keeps_own = rows.select, rows.metrics, rows.keeps_own
    formula, own = axis.formula, list_step_names(plan.layout)
    title = axis.title or plan.step_name
    if plan.step_metric:
        formula, own = make_name_formula(plan.step_name), ()
    if formula is not None:
        checked = replace_x(select, formula, own, metrics)
        placed = f"SELECT * EXCLUDE (own) FROM ({checked}) WHERE step IS NOT NULL"  # noqa: S608 - our own names
        return PlacedRows(placed, checked, title, is_time=False)
    is_time, size = plan.step_is_time, 0.0
    if axis.relative:

        def list_fields(rows: Rows) -> dict[str, str]:
            names = select_names(rows, plan.layout, source.settings.rename)
            return {**names, "began": rows.as_time(plan.step), **plan.groups.select(rows)}

        # The time of the first value of each run, of whatever metric.
        every = select_files(root, plan.layout, list_fields, plan.filters)
        every = plan.groups.regroup(every) if plan.groups.list_fields() else every
        starts = f"SELECT series, run, min(began) AS began FROM ({every}) GROUP BY series, run"  # noqa: S608
        unit, size = choose_time_unit(count_from_start(select, starts, 1.0))
        select, title, is_time = count_from_start(select, starts, size), f"{title} ({unit})", False
    if keeps_own:
        return PlacedRows(f"SELECT * EXCLUDE (own) FROM ({select})", select, title, is_time, size)  # noqa: S608
    return PlacedRows(select, "", title, is_time, size)
