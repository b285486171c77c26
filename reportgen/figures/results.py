"""The ``table`` block: final value, peak and mean of each series, with intervals where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.figures.d3_format import format_d3, format_time
from reportgen.figures.plotting import choose_step_format
from reportgen.figures.standing import describe_checkpoints
from reportgen.figures.tidy import write_table_csv
from reportgen.figures.time_ticks import DAY
from reportgen.model import Cell, ResultTable
from reportgen.settings.blocks import Statistic
from reportgen.words import choose_decimals, format_estimate, format_number, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.wanted import DrawContext
    from reportgen.model import Ending, Estimate, Lead
    from reportgen.settings.blocks import TableSettings

_HEADS = {Statistic.FINAL: "final", Statistic.PEAK: "best", Statistic.MEAN: "mean over steps"}


def build_result_table(
    block_id: str,
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: DrawContext,
    *,
    better: tuple[bool | None, ...],
    leads: tuple[Lead, ...],
) -> ResultTable:
    """A row for each series: runs, then the chosen numbers of each metric.

    Args:
        block_id: id of the block on its page.
        settings: which columns, in which order.
        metrics: metric name and its series' endings.
        context: source and caution.
        better: of each metric, whether a larger value is better; None where that is not known, or neither is.
        leads: of each metric, who ends better than all others by the test.
    """
    names = _order(settings.order, metrics, lower_first=better[0] is False)
    several = len(metrics) > 1
    header = ["series", "runs"]
    for (metric, endings), way in zip(metrics, better, strict=True):
        most = "best" if way is not None else "highest"
        heads = [_write_head(column, endings, most, context) for column in settings.columns]
        header += [f"{metric}: {head}" if several else head for head in heads]
    digits = [_choose_digits(endings, settings.columns) for _, endings in metrics]
    by_name = [{ending.series: ending for ending in reversed(endings)} for _, endings in metrics]
    rows = tuple(
        _build_row(name, settings.columns, [endings.get(name) for endings in by_name], digits, context)
        for name in names
    )
    words = [[cell.text for cell in row] for row in rows]
    return ResultTable(
        id=block_id,
        title=settings.title or (metrics[0][0] if not several else "Results"),
        header=tuple(header),
        rows=rows,
        caption=_write_caption(settings, metrics, context, better, leads),
        csv=write_table_csv(header, words),
    )


def _write_head(column: Statistic, endings: tuple[Ending, ...], most: str, context: DrawContext) -> str:
    """A column's head; that of best values says from how many they were picked, where that is the same."""
    if column is not Statistic.PEAK:
        return _HEADS[column]
    counts = {ending.readings for ending in endings}
    return (
        describe_checkpoints([*counts], is_time=context.step_is_time, most=most) if len(counts) == 1 else most
    )


def _order(
    order: str, metrics: tuple[tuple[str, tuple[Ending, ...]], ...], *, lower_first: bool
) -> list[str]:
    endings = metrics[0][1]
    names = list(dict.fromkeys(ending.series for _, group in metrics for ending in group))
    sign = 1 if lower_first else -1
    if order == "name":
        return sorted(names, key=str.casefold)
    if order in {"final", "best"}:
        rank = {e.series: sign * (e.final if order == "final" else e.peak).value for e in endings}
        return sorted(names, key=lambda name: rank.get(name, float("inf")))
    return names


def _build_row(
    name: str,
    columns: tuple[Statistic, ...],
    found: list[Ending | None],
    digits: list[_Digits],
    context: DrawContext,
) -> tuple[Cell, ...]:
    """The cells of a series: its endings, one a metric."""
    cells = [Cell(name)]
    runs = max((ending.runs for ending in found if ending), default=0)
    cells.append(Cell(str(runs), float(runs)))
    for ending, shared in zip(found, digits, strict=True):
        cells += [_build_cell(ending, column, shared, context) for column in columns]
    return tuple(cells)


class _Digits(NamedTuple):
    """What the cells of a metric share: decimals of each column, and whether best values say their counts."""

    decimals: dict[Statistic, int | None]
    counts: bool


def _choose_digits(endings: tuple[Ending, ...], columns: tuple[Statistic, ...]) -> _Digits:
    values = {column: [_choose_number(ending, column)[0].value for ending in endings] for column in columns}
    counts = len({ending.readings for ending in endings}) > 1
    return _Digits({column: _choose_decimals(values[column]) for column in columns}, counts)


def _build_cell(ending: Ending | None, column: Statistic, shared: _Digits, context: DrawContext) -> Cell:
    if ending is None:
        return Cell("no data")
    estimate, step = _choose_number(ending, column)
    at = f" at {_format_step(step, context)}" if step is not None else ""
    if column is Statistic.PEAK and shared.counts:
        at += f", of {ending.readings:,}"
    decimals = shared.decimals[column]
    if estimate.low is not None and estimate.high is not None:
        return Cell(f"{format_estimate(estimate)}{at}", estimate.value)
    final = ending.final
    if final.low is not None and final.high is not None and decimals is not None:
        # A value without an interval has no more digits than one that has it.
        decimals = choose_decimals((final.high - final.low) / 2)
    return Cell(f"{format_number(estimate.value, decimals=decimals)}{at}", estimate.value)


def _format_step(step: float, context: DrawContext) -> str:
    if context.step_is_time:
        return format_time(step, "%Y-%m-%d" if step % DAY == 0 else "%Y-%m-%d %H:%M")
    return format_d3(step, choose_step_format(np.array([step])))


def _choose_decimals(values: list[float]) -> int | None:
    """The decimal places that four significant digits of any of the values need: a column shares them.

    None where a value is too large or small to be written without an exponent.
    """
    texts = [f"{value:.4g}" for value in values]
    if any("e" in text for text in texts):
        return None
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _choose_number(ending: Ending, column: Statistic) -> tuple[Estimate, float | None]:
    """The number of a column, and the step it stands at."""
    if column is Statistic.FINAL:
        return ending.final, ending.final_step
    if column is Statistic.PEAK:
        return ending.peak, ending.peak_step
    return ending.mean, None


def _write_caption(
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: DrawContext,
    better: tuple[bool | None, ...],
    leads: tuple[Lead, ...],
) -> str:
    names = [metric for metric, _ in metrics]
    lower = [name for name, way in zip(names, better, strict=True) if way is False]
    some = "" if len(lower) == len(names) else f" for {join_names(lower)}"
    caution = f" ({context.approximate})" if context.approximate else ""
    sentences = [
        settings.caption or "",
        _describe_leaders(names, better, leads),
        _describe_peak(metrics, better) if Statistic.PEAK in settings.columns else "",
        _describe_intervals(metrics, settings.level),
        f"Lower is better{some}." if lower else "",
        *context.notes,
        f"Source: {context.source}{caution}.",
    ]
    return " ".join(filter(None, sentences))


def _describe_leaders(names: Sequence[str], better: tuple[bool | None, ...], leads: tuple[Lead, ...]) -> str:
    """Who leads at the end of each metric that was tested, and by which test."""
    said = []
    for name, way, lead in zip(names, better, leads, strict=True):
        verb = "leads" if way is not None else "stands above all others"
        what = f"{lead.series} {verb}" if lead.series else "no clear winner" if way is not None else ""
        if lead.tested and what:
            said.append(f"{name}: {what}" if len(names) > 1 else what)
    if not said:
        return ""
    return f"At the end {'; '.join(said)} (Welch's t over runs, Holm over all pairs)."


def _describe_peak(
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...], better: tuple[bool | None, ...]
) -> str:
    """Which value of each metric is its best: the highest where neither way is better; and its interval."""
    names = [metric for metric, _ in metrics]
    highest = [name for name, way in zip(names, better, strict=True) if way is None]
    which = "highest" if len(highest) == len(names) else "best"
    some = f" (of {join_names(highest)} the highest)" if highest and which == "best" else ""
    said = f"{which.capitalize()}: the {which} value of the mean curve{some}, picked by looking"
    known = any(ending.peak.low is not None for _, endings in metrics for ending in endings)
    return f"{said}; {'its interval allows for the choice' if known else 'it has no interval'}."


def _describe_intervals(metrics: tuple[tuple[str, tuple[Ending, ...]], ...], level: float) -> str:
    every = [ending for _, endings in metrics for ending in endings]
    if any(ending.final.low is not None for ending in every):
        interval = f"half the {level * 100:g} % confidence interval across runs (Student t)"
        how = f"± is {interval}, at each step by itself."
    elif all(ending.runs == 1 for ending in every):
        return "One run per series: no interval."
    else:
        how = ""
    equal = dict.fromkeys(
        ending.series for ending in every if ending.final.n > 1 and ending.final.low is None
    )
    none = (
        f"{join_names(list(equal), most=6)}: all runs are equal at the last step, so no interval."
        if equal
        else ""
    )
    return f"{how} {none}".strip()
