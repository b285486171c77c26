"""Measurements to one value a step: grouped in DuckDB, so that only what is needed becomes an array."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.curves.points import (
    LARGEST_FLOAT,
    Group,
    as_floats,
    keep_last_written,
    list_given_columns,
    make_groups,
    order_groups,
    reduce_points,
)

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray, IntArray, Measurements, ReducedMetric
    from reportgen.statistics.curves.points import Column


# Tables up to this many rows are fetched whole; larger ones are binned in DuckDB.
FULL_ROWS = 1_000_000


def reduce(
    measurements: Measurements, *, max_points: int | None = 400, smooth: float = 0.0
) -> dict[str, ReducedMetric]:
    """One value a step of every run, for every metric of the table.

    Rows whose step or value is null, NaN or infinite are dropped first and counted. Of several rows of
    one run, metric and step the last written counts; the others are replaced. Where the runs of a
    metric have more than ``max_points`` distinct steps together, x is cut into ``max_points`` bins of
    equal width between the first and the last step: a run's value is the mean of its steps in the bin,
    its ``low`` and ``high`` are the smallest and largest, and the step is the bin's centre. Smoothing
    (see ``smooth``) is done on all steps of a run, before binning.

    Tables of more than ``FULL_ROWS`` rows are reduced inside DuckDB, with the same result up to rounding;
    with smoothing, one run at a time is in memory.

    Returns:
        For every metric that has rows, in order of first appearance: its runs, by the order of series in
        ``measurements``, then by first row. A run without any finite value has empty arrays.

    Raises:
        ReportError: if the files hold what cannot be read; with every file and line.
        ValueError: if ``max_points`` is below 1 or ``smooth`` is not in [0, 1).
    """
    if max_points is not None and max_points < 1:
        raise ValueError(f"max_points must be at least 1, not {max_points}")
    if not 0 <= smooth < 1:
        raise ValueError(f"smooth must be at least 0 and below 1, not {smooth}")
    with measurements.reading():
        table = _fetch(measurements)
        if table is None:
            from reportgen.statistics.curves.reduce_large import reduce_large  # noqa: PLC0415 - rarely needed

            found = reduce_large(measurements, max_points=max_points, smooth=smooth)
        else:
            found = _reduce_table(table, measurements.given_interval, max_points=max_points, smooth=smooth)
        if any(metric.replaced for metric in found.values()):
            measurements.check_repeats()
    return found


class _Table(NamedTuple):
    """A whole table: its runs in order, and of each row with a finite step and value its run and numbers."""

    groups: list[Group]
    run: IntArray
    row: IntArray
    columns: dict[str, FloatArray]


def _reduce_table(
    table: _Table, given_interval: str | None, *, max_points: int | None, smooth: float
) -> dict[str, ReducedMetric]:
    if not table.groups:
        return {}
    points = keep_last_written(table.run, table.row, table.columns, len(table.groups))
    finite = np.bincount(table.run, minlength=len(table.groups))
    found: dict[str, ReducedMetric] = {}
    start = 0
    for metric, members in groupby(table.groups, key=lambda group: group.metric):
        stop = start + len(list(members))
        found[metric] = reduce_points(
            points.select_runs(start, stop),
            table.groups[start:stop],
            given_interval,
            finite=int(finite[start:stop].sum()),
            max_points=max_points,
            smooth=smooth,
        )
        start = stop
    return found


def _fetch(measurements: Measurements) -> _Table | None:
    """The whole table, or None if it is too large.

    DuckDB hands over each run's rows as one list a column: a row then costs its numbers, not three texts,
    and files are parsed once.
    """
    columns = ("row", "step", "value", *list_given_columns(measurements))
    between = f"BETWEEN -{LARGEST_FLOAT} AND {LARGEST_FLOAT}"  # isfinite takes most of the time
    aggregates = [
        "series, run, metric, min(seed) AS seed",
        'count(*) AS rows, count(value) AS filled, min("row") AS first',
        *(f'list("{name}") FILTER (step {between} AND value {between}) AS "{name}"' for name in columns),
    ]
    table = measurements.frame.to_native().limit(FULL_ROWS + 1)
    fetched = table.aggregate(", ".join(aggregates), "series, run, metric").fetchnumpy()
    groups = make_groups(fetched)
    if not groups:
        nothing = np.empty(0, dtype=np.int64)
        return _Table([], nothing, nothing, {})
    if sum(group.rows for group in groups) > FULL_ROWS:
        return None
    order = order_groups(groups, measurements.order)
    numbers = {name: _in_lists(fetched[name], order) for name in columns}
    return _Table(
        groups=[groups[place] for place in order],
        run=np.repeat(np.arange(len(order)), [rows.size for rows in numbers["row"]]),
        row=np.concatenate(numbers.pop("row")).astype(np.int64),
        columns={
            name: np.concatenate([as_floats(rows) for rows in lists]) for name, lists in numbers.items()
        },
    )


def _in_lists(column: Column, order: list[int]) -> list[Column]:
    """The lists of a column in this order; the list of a run without a finite value is null, here empty."""
    missing = np.ma.getmaskarray(column)
    return [np.empty(0) if missing[place] else column[place] for place in order]
