"""The ``table`` block: a row for each series, with the columns that the author chose."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.core.comparisons import describe_verdict
from reportgen.core.digits import Precision, choose_decimals
from reportgen.core.model import Cell, Estimate, ResultTable
from reportgen.core.statements import Quantity
from reportgen.core.words import (
    format_estimate,
    format_nonzero,
    format_number,
    join_names,
    lower_axis_title,
)
from reportgen.figures.axis import DAY
from reportgen.figures.curves.key_results import describe_checkpoints
from reportgen.figures.number_format import choose_step_format, format_d3, format_time
from reportgen.figures.plot import join_caption
from reportgen.figures.text import write_table_csv
from reportgen.settings.block_parts import Statistic, parse_column_number, split_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.model import Ending, Lead
    from reportgen.core.statements import Fact
    from reportgen.figures.plot import DrawContext
    from reportgen.settings.blocks import TableSettings


_UNITS = {"h": "hours", "min": "minutes", "s": "seconds"}
_COUNTS = ("step", "iteration", "epoch")
_HEADS: dict[str, str] = {"final": "final", "peak": "best", "mean": "mean over steps"}
_IN_FULL = ("", "low", "high", "n", "step", "first step", "last step", "checkpoints")
_SECOND = "%Y-%m-%d %H:%M:%S"
_NUMBERS = {"final": "final", "best": "peak"}


class _Metric(Struct, frozen=True, dict=True):
    """Metric of a table: final values by series, and the leader by the test."""

    name: str
    endings: tuple[Ending, ...]
    better: bool | None
    lead: Lead
    facts: Mapping[tuple[str, str], Fact]  # by series and column, of all other columns
    percent: bool
    statistics: Sequence[str]  # of final, peak and mean those that are columns
    precision: Precision  # of the metric's values in figures

    @cached_property
    def by_series(self) -> Mapping[str, Ending]:
        """The values of each series."""
        return {ending.series: ending for ending in reversed(self.endings)}

    @cached_property
    def readings(self) -> frozenset[int]:
        """Numbers of readings of the series."""
        return frozenset(ending.readings for ending in self.endings)

    def write_head(self, column: str, context: DrawContext) -> str:
        """Return a column's header; for best values, it includes how many they were picked from if equal."""
        if column != Statistic.PEAK:
            return _HEADS.get(column) or _write_fact_head(column, context)
        most = "best" if self.better is not None else "highest"
        if len(self.readings) > 1:
            return most
        return describe_checkpoints([*self.readings], is_time=context.step_is_time, most=most)

    def write(self, estimate: Estimate) -> str:
        """Write a value with its interval."""
        return format_estimate(estimate, percent=self.percent, decimals=self.precision)

    def write_steps(self, steps: float, column: str) -> str:
        """Write interpolated steps: whole ones exactly, others with digits of all steps of the column.

        They show three digits of the largest and two of the smallest.
        """
        values = [fact.value for (_, name), fact in self.facts.items() if name == column]
        known = [abs(float(value)) for value in values if value]
        if all(value == round(value) for value in known):
            return format_number(steps, decimals=0)
        return format_number(steps, decimals=choose_decimals(min(*known, max(known) / 10)))

    def find_number(self, series: str, column: str) -> Mapping[str, float | None]:
        """Return the value of a cell in full, its interval, and where it is, by their names in the file."""
        ending = self.by_series.get(series)
        if column in _HEADS and ending:
            estimate, step = _choose_number(ending, column)
            several = column == Statistic.PEAK and len(self.readings) > 1
            own = {"": estimate.value, "low": estimate.low, "high": estimate.high, "n": float(estimate.n)}
            return {**own, "step": step, "checkpoints": float(ending.readings) if several else None}
        fact = self.facts.get((series, column))
        if fact is None or fact.value is None:
            return {}
        if fact.quantity in {Quantity.STEP, Quantity.NUMBER}:
            return {"": float(fact.value)}
        place = {"step": fact.step, "first step": fact.from_step, "last step": fact.to_step}
        return {"": float(fact.value), "low": fact.low, "high": fact.high, "n": float(fact.n), **place}


def build_result_table(
    block_id: str,
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: DrawContext,
    *,
    better: tuple[bool | None, ...],
    leads: tuple[Lead, ...],
    precisions: Sequence[Precision],
    facts: Sequence[Mapping[tuple[str, str], Fact]] = (),
    runs_with: Mapping[str, Mapping[str, str | None]] | None = None,
    given: Mapping[str, str] = {},
) -> ResultTable:
    """Build a table with a row for each series: the number of runs, then the chosen statistics by metric.

    ``runs_with`` has the settings of each series; several have a column each, since the name joins them.
    ``given`` says what the interval of a series is that has one in the input, and under "" on which scale the
    others are made.
    ``metrics`` pairs names with the endings of the series. For each metric, ``better`` says whether larger is
    better (None if unknown or neither), ``leads`` which series the test finds better than all others,
    ``facts`` the cells of columns other than final, peak and mean, by series and column, and ``precisions``
    those of its values in figures.
    """
    columns, several = settings.columns, len(metrics) > 1
    statistics = [column for column in columns if column in _HEADS]
    known = zip(facts or [{}] * len(metrics), precisions, strict=True)
    shown = [
        _Metric(name, ends, way, lead, own, context.is_percent(name, settings.format), statistics, places)
        for (name, ends), way, lead, (own, places) in zip(metrics, better, leads, known, strict=True)
    ]
    names = dict.fromkeys(name for values in (runs_with or {}).values() for name in values)
    apart = [*names] if len(names) > 1 else []
    header = ["series", *apart, "runs"]
    for metric in shown:
        heads = [metric.write_head(column, context) for column in columns]
        header += [f"{metric.name}: {head}" if several else head for head in heads]
    series, sorted_by = _order_series(settings, header[2 + len(apart) :], shown)
    rows = []
    for name in series:
        cells = [build_setting_cell((runs_with or {}).get(name, {}).get(key)) for key in apart]
        rows.append((Cell(name), *cells, *_build_row(name, columns, shown, context)))
    return ResultTable(
        id=block_id,
        title=settings.title or (metrics[0][0] if not several else "Results"),
        header=tuple(header),
        rows=tuple(rows),
        caption=_write_caption(settings, shown, context, given),
        csv=_write_csv(header, rows, columns, shown, context),
        sorted_by=sorted_by,
    )


def _build_row(
    name: str, columns: Sequence[str], metrics: Sequence[_Metric], context: DrawContext
) -> list[Cell]:
    """Build the cells of a series behind its name: the number of runs, and its statistics."""
    own = [metric.by_series.get(name) for metric in metrics]
    runs = max((ending.runs for ending in own if ending), default=0)
    cells = [Cell(str(runs), float(runs))]
    for (ending, metric), column in product(zip(own, metrics, strict=True), columns):
        if ending is None:
            cells.append(Cell("no data"))
        elif column not in _HEADS:
            fact = metric.facts.get((ending.series, column))
            if column == f"{Statistic.VS} {name}":
                cells.append(Cell("baseline"))
                continue
            cells.append(_build_fact_cell(fact, column, metric, context) if fact else Cell("no data"))
        else:
            estimate, step = _choose_number(ending, column)
            at = "" if step is None or not context.step_title else f" at {format_table_step(step, context)}"
            if column == Statistic.PEAK and len(metric.readings) > 1:
                at += f", of {ending.readings:,}"
            if 0 < estimate.n < ending.runs:
                at += f", {estimate.n:,} of {ending.runs:,} runs"
            cells.append(Cell(f"{metric.write(estimate)}{at}", estimate.value))
    return cells


def _write_csv(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    columns: Sequence[str],
    metrics: Sequence[_Metric],
    context: DrawContext,
) -> str:
    """Write the table with every number in full: columns for ends, runs and steps where there are any.

    The number of runs of a value is a column only where it is not that of its series.
    """
    first = len(header) - len(metrics) * len(columns)
    heads = list(header[:first])
    filled: list[list[object]] = [[cell.text for cell in row[:first]] for row in rows]
    for head, (metric, column) in zip(header[first:], product(metrics, columns), strict=True):
        numbers = [metric.find_number(row[0].text, column) for row in rows]
        names = [name for name in _IN_FULL if any(own.get(name) is not None for own in numbers)]
        names = [name for name in names if context.step_title or name != "step"]
        if all(own.get("n") in {None, row[first - 1].sort} for own, row in zip(numbers, rows, strict=True)):
            names = [name for name in names if name != "n"]
        for name in names or [""]:
            is_time = context.step_is_time and (
                name.endswith("step") or (not name and split_column(column)[0] is Statistic.STEPS_TO)
            )
            heads.append(f"{head} {name}".strip())
            for line, own in zip(filled, numbers, strict=True):
                value = own.get(name)
                line.append(format_time(value, _SECOND) if is_time and value is not None else value)
    return write_table_csv(heads, filled)


def build_setting_cell(text: str | None) -> Cell:
    """Build the cell of a setting, sorted as a number if it is one."""
    try:
        return Cell("none") if text is None else Cell(text, float(text))
    except ValueError:
        return Cell(text or "")


def _order_series(
    settings: TableSettings, heads: Sequence[str], metrics: Sequence[_Metric]
) -> tuple[list[str], tuple[str, str]]:
    """Order the series; return also the head of the column that orders them, if shown, and the order."""
    names = list(dict.fromkeys(end.series for metric in metrics for end in metric.endings))
    if settings.order == "name":
        return sorted(names, key=str.casefold), ("series", "ascending")
    number, is_lower_first = _NUMBERS.get(settings.order, ""), metrics[0].better is False
    if settings.order in {"final", "best"}:
        sign = 1 if is_lower_first else -1
        ranks = {end.series: sign * getattr(end, number).value for end in metrics[0].endings}
        names.sort(key=lambda name: ranks.get(name, float("inf")))
    head = dict(zip(settings.columns, heads, strict=False)).get(number, "")
    return names, (head, "ascending" if is_lower_first else "descending")


def _choose_number(ending: Ending, column: str) -> tuple[Estimate, float | None]:
    """Return the value of a column and its step."""
    if column == Statistic.FINAL:
        return ending.final, ending.final_step
    if column == Statistic.PEAK:
        return ending.peak, ending.peak_step
    return ending.mean, None


def format_table_step(step: float, context: DrawContext) -> str:
    """Write a step, or a date, as tables do."""
    if context.step_is_time:
        return format_time(step, "%Y-%m-%d" if step % DAY == 0 else "%Y-%m-%d %H:%M")
    return format_d3(step, choose_step_format(np.array([step])))


def _write_caption(
    settings: TableSettings, metrics: list[_Metric], context: DrawContext, given: Mapping[str, str]
) -> str:
    lower = [metric.name for metric in metrics if metric.better is False]
    some = "" if len(lower) == len(metrics) else f" for {join_names(lower)}"
    leaders = []
    for metric in metrics:
        if metric.lead.tested:
            result = describe_verdict(metric.lead, has_direction=metric.better is not None)
            leaders.append(f"{metric.name}: {result}" if len(metrics) > 1 else result)
    tested = f"At the end {'; '.join(leaders)} (t over runs)." if leaders else ""
    endings = [ending for metric in metrics for ending in metric.endings]
    # If neither direction is better, the column shows the highest value.
    highest = [metric.name for metric in metrics if metric.better is None]
    which = "highest" if len(highest) == len(metrics) else "best"
    of = f" (of {join_names(highest)} the highest)" if highest and which == "best" else ""
    known = any(ending.peak.low is not None for ending in endings)
    interval = "its interval allows for the choice" if known else "it has no interval"
    peak = f"{which.capitalize()}: the {which} value of the mean curve{of}, picked by looking; {interval}."
    single, how = _explain_intervals(settings, endings, given, has_steps=bool(context.step_title))
    equal = list(dict.fromkeys(e.series for e in endings if e.runs > 1 and e.final.low is None))
    where = " at the last step" if context.step_title else ""
    none = f"{join_names(equal, most=6)}: all runs are equal{where}, so no interval."
    sentences = (
        tested,
        how if single else "",
        none if equal and not single and not context.illustrative else "",
        f"Lower is better{some}." if lower else "",
    )
    columns = (
        peak if Statistic.PEAK in settings.columns else "",
        *_explain_columns(settings.columns, metrics, context),
        "" if single else how,
    )
    return join_caption(sentences, context, how=columns)


def _explain_intervals(
    settings: TableSettings, endings: Sequence[Ending], given: Mapping[str, str], *, has_steps: bool
) -> tuple[bool, str]:
    """Return whether single runs leave a table without intervals, and a sentence on what there is."""
    series: dict[str, dict[str, None]] = {}
    for ending in endings:
        if ending.final.low is not None:
            series.setdefault(given.get(ending.series, ""), {})[ending.series] = None
    if not series:
        single = all(ending.runs == 1 for ending in endings)
        return single, "One run per series: no interval." if single else ""
    what = "Interval:" if given.get("") else "± is half the"
    level = f"{'pointwise ' if has_steps else ''}{settings.level * 100:g}%"
    half = f"{what} {level} CI across runs (Student t{given.get('', '')})."
    if not given.keys() - {""}:
        return False, half
    own = (
        f"Interval{f' of {join_names([*names], most=6)}' if len(series) > 1 else ''}: {words}."
        for words, names in series.items()
        if words
    )
    return False, " ".join([*([half] if "" in series else []), *own])


def _build_fact_cell(fact: Fact, column: str, metric: _Metric, context: DrawContext) -> Cell:
    if fact.value is None:
        return Cell({"steps_to": "not reached", "sd": "1 run"}.get(fact.name, "no data"))
    value = float(fact.value)
    if fact.quantity is Quantity.STEP:
        steps = metric.write_steps(value, column)
        return Cell(format_table_step(value, context) if context.step_is_time else steps, value)
    if fact.quantity is Quantity.NUMBER:
        return Cell(f"{value:,.0f}", value)
    if fact.name == "gap":
        return Cell(_write_difference(fact, metric), value)
    if fact.name == "sd":
        factor, unit = (100, " points") if metric.percent else (1, "")
        words = format_nonzero(factor * value, decimals=metric.precision.usual, signed=False)
        return Cell(f"{words}{unit}", value)
    ends = (fact.from_step, fact.to_step)
    at = (
        f" at {format_table_step(fact.step, context)}"
        if fact.step is not None and fact.name == "best_by"
        else ""
    )
    if ends[0] is not None and ends[1] is not None:
        at = f" at {format_table_step(ends[0], context)} to {format_table_step(ends[1], context)}"
    estimate = Estimate(value, fact.low, fact.high, fact.n)
    return Cell(f"{metric.write(estimate)}{at}", value)


def _write_difference(fact: Fact, metric: _Metric) -> str:
    """Write a difference with its sign and interval, of percentages in points."""
    factor, unit = (100.0, " points") if metric.percent else (1.0, "")
    value = factor * float(fact.value or 0.0)
    low, high = (None if end is None else factor * end for end in (fact.low, fact.high))
    words = format_estimate(Estimate(value, low, high, fact.n), decimals=metric.precision)
    return f"{'+' if value > 0 else ''}{words}{unit}"


_MOST_NOTES = 6


def _write_fact_head(column: str, context: DrawContext) -> str:
    """Return the header of a column of facts, which names x and its unit where it counts up to a level."""
    kind, behind = split_column(column)
    if kind is not Statistic.STEPS_TO:
        return column
    title = lower_axis_title(context.step_title)
    counted = f"{title}s" if title.endswith(_COUNTS) else title
    unit = _UNITS.get(title.rpartition(" (")[2].removesuffix(")"), counted)
    return f"{unit} {'at' if context.step_is_time else 'to'} {behind}"


def _explain_columns(
    columns: Sequence[str], metrics: Sequence[_Metric], context: DrawContext
) -> Iterator[str]:
    """Yield what columns other than final, peak and mean show, and what picking checkpoints costs."""
    for column in columns:
        kind, behind = split_column(column)
        match kind:
            case Statistic.BEST_BY:
                facts = [own for metric in metrics for key, own in metric.facts.items() if key[1] == column]
                notes = [f"{fact.series[0]}, {fact.note or fact.reason}" for fact in facts]
                yield f"{column.capitalize()}: {join_names(notes, most=_MOST_NOTES)}."
            case Statistic.LAST:
                mean = f"the mean of the last {behind} readings of each run"
                yield f"Last {behind}: {mean}, or of all if there are fewer."
            case Statistic.STEPS_TO:
                head = _write_fact_head(column, context)
                yield f"{head[0].upper()}{head[1:]}: where the mean curve first reaches it, interpolated."
            case Statistic.VS:
                where = " at the last step of both" if context.step_title else ""
                interval = "Welch's t over runs, for each pair by itself"
                yield f"V{column[1:]}: the difference{where}; interval: {interval}."
            case Statistic.SD:
                yield "sd: across runs, at the last step." if context.step_title else "sd: across runs."


def make_column_call(column: str, one_percent: float | None) -> tuple[str, tuple[str | float, ...]] | None:
    """Return the fact that a column shows, and its arguments after the series.

    ``one_percent`` is 1% in values of the metric: 0.01 of shares, 1 of percentages, None of others, for which
    a percentage is no level. None for ``final``, ``peak`` and ``mean``.
    """
    kind, behind = split_column(column)
    if column in _HEADS:
        return None
    if kind is Statistic.BEST_BY:
        return "best_by", (behind,)
    if kind is Statistic.VS:
        return "gap", (behind,)
    if behind.endswith("%") and one_percent:
        return "steps_to", (round(float(behind[:-1]) * one_percent, 12),)
    number = parse_column_number(behind)
    return kind.replace(" ", "_"), () if number is None else (number,)
