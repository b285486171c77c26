"""The ``table`` block: final value, peak and mean of each series, with intervals where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.d3_format import format_number, format_time
from reportgen.figures.plotting import step_format
from reportgen.figures.tidy import table_csv
from reportgen.figures.time_ticks import DAY
from reportgen.model import Cell, ResultTable
from reportgen.settings.blocks import Statistic
from reportgen.words import estimate_words, listing, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.figures.wanted import Context
    from reportgen.model import Ending, Estimate
    from reportgen.settings.blocks import TableSettings

_HEADS = {Statistic.FINAL: "final", Statistic.PEAK: "peak", Statistic.MEAN: "mean over steps"}


def result_table(
    block_id: str,
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: Context,
    *,
    better: tuple[bool | None, ...],
) -> ResultTable:
    """A row for each series: runs, then the chosen numbers of each metric.

    Args:
        block_id: id of the block on its page.
        settings: which columns, in which order.
        metrics: metric name and its series' endings.
        context: source and caution.
        better: of each metric, whether a larger value is better; None where that is not known, or neither is.
    """
    names = _order(settings.order, metrics, lower_first=better[0] is False)
    several = len(metrics) > 1
    header = ["series", "runs"]
    header += [
        f"{metric}: {_HEADS[column]}" if several else _HEADS[column]
        for metric, _ in metrics
        for column in settings.columns
    ]
    decimals = [
        [_decimals([_chosen(ending, column)[0].value for ending in endings]) for column in settings.columns]
        for _, endings in metrics
    ]
    by_name = [{ending.series: ending for ending in reversed(endings)} for _, endings in metrics]
    rows = tuple(
        _row(name, settings.columns, [endings.get(name) for endings in by_name], decimals, context)
        for name in names
    )
    words = [[cell.text for cell in row] for row in rows]
    return ResultTable(
        id=block_id,
        title=settings.title or (metrics[0][0] if not several else "Results"),
        header=tuple(header),
        rows=rows,
        caption=_caption(settings, metrics, context, better),
        csv=table_csv(header, words),
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


def _row(
    name: str,
    columns: tuple[Statistic, ...],
    found: list[Ending | None],
    decimals: list[list[int | None]],
    context: Context,
) -> tuple[Cell, ...]:
    """The cells of a series: its endings, one a metric, in the decimals of each metric's columns."""
    cells = [Cell(name)]
    runs = max((ending.runs for ending in found if ending), default=0)
    cells.append(Cell(str(runs), float(runs)))
    for ending, shared in zip(found, decimals, strict=True):
        cells += [
            _cell(ending, column, places, context) for column, places in zip(columns, shared, strict=True)
        ]
    return tuple(cells)


def _cell(ending: Ending | None, column: Statistic, decimals: int | None, context: Context) -> Cell:
    if ending is None:
        return Cell("no data")
    estimate, step = _chosen(ending, column)
    at = f" at {_step(step, context)}" if step is not None else ""
    known = estimate.low is not None and estimate.high is not None
    said = estimate_words(estimate) if known else number(estimate.value, decimals=decimals)
    return Cell(f"{said}{at}", estimate.value)


def _step(step: float, context: Context) -> str:
    if context.step_is_time:
        return format_time(step, "%Y-%m-%d" if step % DAY == 0 else "%Y-%m-%d %H:%M")
    return format_number(step, step_format(np.array([step])))


def _decimals(values: list[float]) -> int | None:
    """The decimal places that four significant digits of any of the values need: a column shares them.

    None where a value is too large or small to be written without an exponent.
    """
    texts = [f"{value:.4g}" for value in values]
    if any("e" in text for text in texts):
        return None
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _chosen(ending: Ending, column: Statistic) -> tuple[Estimate, float | None]:
    """The number of a column, and the step it stands at."""
    if column is Statistic.FINAL:
        return ending.final, ending.final_step
    if column is Statistic.PEAK:
        return ending.peak, ending.peak_step
    return ending.mean, None


def _caption(
    settings: TableSettings,
    metrics: tuple[tuple[str, tuple[Ending, ...]], ...],
    context: Context,
    better: tuple[bool | None, ...],
) -> str:
    level = f"{settings.level * 100:g} %"
    intervals = any(e.final.low is not None for _, endings in metrics for e in endings)
    how = (
        f"± is half the {level} confidence interval across runs (Student t)."
        if intervals
        else "One run per series: no interval."
    )
    names = [metric for metric, _ in metrics]
    peak = f"{_peak(names, better)} " if Statistic.PEAK in settings.columns else ""
    lower = [name for name, way in zip(names, better, strict=True) if way is False]
    some = "" if len(lower) == len(names) else f" for {listing(lower)}"
    direction = f" Lower is better{some}." if lower else ""
    caution = f" ({context.approximate})" if context.approximate else ""
    sentences = [settings.caption or "", f"{peak}{how}{direction}"]
    return " ".join(
        part for part in (*sentences, *context.notes, f"Source: {context.source}{caution}.") if part
    )


def _peak(names: Sequence[str], better: tuple[bool | None, ...]) -> str:
    """Which value of each metric its peak is: the best, or the highest where neither way is better."""
    highest = [name for name, way in zip(names, better, strict=True) if way is None]
    which = "highest" if len(highest) == len(names) else "best"
    some = f" (of {listing(highest)} the highest)" if highest and which == "best" else ""
    return f"Peak: the {which} value of the mean curve{some}, and the step it stands at."
