"""Reduction of tables too large to fetch: the same results, computed where the rows are."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from reportgen.statistics.curves.points import (
    LARGEST_FLOAT,
    Bins,
    Column,
    Group,
    Points,
    as_counts,
    as_floats,
    as_texts,
    bin_points,
    keep_last_written,
    list_given_columns,
    make_bins,
    make_groups,
    make_reduced_metric,
    order_groups,
    reduce_points,
    smooth_points,
    split_runs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import FloatArray, IntArray, Measurements, ReducedMetric, Run


# Slots that share a mark; their powers of two add up exactly in a float64.
_MARKS = 48


class Extent(NamedTuple):
    """One metric of one run: its finite rows, first and last step, and largest absolute numbers."""

    group: Group
    finite: int
    first_step: float
    last_step: float
    largest: dict[str, float]


def has_unique_steps(rows: nw.LazyFrame[Any], extents: Sequence[Extent]) -> bool:
    """Whether it is certain that no run has two rows of one step; False where that would cost too much.

    Steps are put in slots half as wide as the closest run's mean spacing. Each row adds 2^slot to the
    mark of its run and of 48 neighbouring slots. If every slot is used at most once, a mark has as many
    one bits as rows; equal terms would carry and leave fewer. So equality proves that all slots, and
    hence all steps, differ. It costs a grouping with rows / 24 groups instead of one with a group a row.
    """
    spacings = [
        (extent.last_step - extent.first_step) / (extent.finite - 1)
        for extent in extents
        if extent.finite > 1
    ]
    if not spacings or min(spacings) <= 0:
        return not spacings
    start = min(extent.first_step for extent in extents if extent.finite)
    slots = rows.select(
        "series", "run", slot=((nw.col("step") - start) / (min(spacings) / 2)).floor()
    ).with_columns(block=(nw.col("slot") / _MARKS).floor())
    marks = slots.group_by("series", "run", "block").agg(
        nw.len().alias("rows"), (2.0 ** (nw.col("slot") - nw.col("block") * _MARKS)).sum().alias("mark")
    )
    fetched = marks.select("rows", "mark").to_native().fetchnumpy()
    mark = as_floats(fetched["mark"])
    whole = (mark < 2.0**_MARKS) & (mark == np.floor(mark))
    bits = np.bitwise_count(np.where(whole, mark, 0).astype(np.int64))
    return bool(np.all(whole & (bits == np.asarray(fetched["rows"]))))


_LEVELS = 4
_MANTISSA = 53


def split_column(
    frame: nw.LazyFrame[Any], column: str, largest: float, count: int
) -> tuple[nw.LazyFrame[Any], list[str]]:
    """Split a column into parts whose sums are exact, hence the same in any order.

    Adding and subtracting a large power of two cuts a number at a fixed bit. All parts of one level are
    then multiples of one unit, and up to ``count`` of them add up without rounding. What the last level
    leaves is not summed; with a million rows it is below 2^-125 of ``largest``.

    Source: ExtractVector in Rump, Ogita and Oishi, "Accurate Floating-Point Summation" (2008); used for
    reproducible sums by Demmel and Nguyen, "Fast Reproducible Floating-Point Summation" (2013).

    ``column`` is float64 without null, NaN stays NaN; no absolute value exceeds ``largest``, and no group has
    more than ``count`` rows. The names are those of the parts.

    Returns:
        The table with the parts as further columns, and their names.
    """
    bits = max(1, math.ceil(math.log2(max(count, 1))) + 1)
    exponent = (math.frexp(largest)[1] if largest > 0 else 0) + bits
    rest = f"{column}_rest"
    frame = frame.with_columns(nw.col(column).alias(rest))
    names = [f"{column}_{level}" for level in range(_LEVELS)]
    for name in names:
        # 1.5 keeps sum and difference within one power of two for either sign.
        cut = 1.5 * 2.0 ** min(max(exponent, -900), 1000)
        frame = frame.with_columns(((nw.col(rest) + cut) - cut).alias(name))
        frame = frame.with_columns((nw.col(rest) - nw.col(name)).alias(rest))
        exponent += bits - _MANTISSA + 1
    return frame, names


def add_parts(sums: Mapping[str, FloatArray], names: list[str]) -> FloatArray:
    """The sum of the parts' sums, from the smallest part to the largest."""
    result = sums[names[-1]]
    for name in reversed(names[:-1]):
        result = result + sums[name]
    return result


def reduce_large(
    measurements: Measurements, *, max_points: int | None, smooth: float
) -> dict[str, ReducedMetric]:
    """As ``reduce``, with grouping and binning left to the database."""
    columns = ("value", *list_given_columns(measurements))
    extents = _read_extents(measurements, columns)
    found: dict[str, ReducedMetric] = {}
    for metric, members in groupby(extents, key=lambda extent: extent.group.metric):
        names = [name for name in columns if name != "value"]
        usable = measurements.frame.filter(_is_finite("step", "value"))
        known = [
            nw.when(_is_finite(name)).then(nw.col(name)).otherwise(float("nan")).alias(name) for name in names
        ]
        rows = usable.select("series", "run", "metric", "step", "row", "value", *known).filter(
            nw.col("metric") == metric
        )
        found[metric] = _reduce_metric(
            _Rows(rows, columns, list(members)), measurements.given_interval, max_points, smooth
        )
    return found


class _Rows(NamedTuple):
    """The finite rows of one metric, which of their columns hold numbers, and their runs."""

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    extents: list[Extent]

    @property
    def groups(self) -> list[Group]:
        """The runs, in order."""
        return [extent.group for extent in self.extents]

    @property
    def finite(self) -> int:
        """The number of rows."""
        return sum(extent.finite for extent in self.extents)


def _reduce_metric(
    rows: _Rows, given_interval: str | None, max_points: int | None, smooth: float
) -> ReducedMetric:
    unique = has_unique_steps(rows.frame, rows.extents)
    longest = max(extent.finite for extent in rows.extents)
    known_long = unique and max_points is not None and longest > max_points
    if max_points is None or not (known_long or _distinct_steps(rows) > max_points):
        # Every point of every run, when the distinct steps are few or all are wanted.
        fetched = _fetch(_select_last_written(rows))
        points = keep_last_written(
            _find_runs_of_rows(fetched, rows.groups),
            np.zeros(fetched["step"].size, dtype=np.int64),
            {name: as_floats(fetched[name]) for name in ("step", *rows.columns)},
            len(rows.extents),
        )
        return reduce_points(
            points, rows.groups, given_interval, finite=rows.finite, max_points=max_points, smooth=smooth
        )
    reached = [extent for extent in rows.extents if extent.finite]
    first = min(extent.first_step for extent in reached)
    bins = make_bins(first, max(extent.last_step for extent in reached), max_points)
    if smooth > 0:
        runs, distinct = _read_smoothed_runs(rows, bins, smooth)
    else:
        runs, distinct = _read_binned_runs(rows, bins, unique=unique)
    return make_reduced_metric(
        runs, rows.groups, given_interval, finite=rows.finite, distinct=distinct, bins=bins.count
    )


def _is_finite(*names: str) -> nw.Expr:
    # Comparing costs nothing where is_finite takes most of the time; NaN is larger than every number.
    return nw.all_horizontal(
        *(nw.col(name).is_between(-LARGEST_FLOAT, LARGEST_FLOAT) for name in names), ignore_nulls=False
    )


def _read_extents(measurements: Measurements, columns: tuple[str, ...]) -> list[Extent]:
    def where_finite(name: str) -> nw.Expr:
        return nw.when(_is_finite("step", "value", name)).then(nw.col(name))

    fetched = _fetch(
        measurements.frame.group_by("series", "run", "metric").agg(
            nw.col("seed").min(),
            nw.len().alias("rows"),
            nw.col("value").count().alias("filled"),
            nw.col("row").min().alias("first"),
            where_finite("value").count().alias("finite"),
            where_finite("step").min().alias("first_step"),
            where_finite("step").max().alias("last_step"),
            *(where_finite(name).abs().max().alias(f"{name}_largest") for name in columns),
        )
    )
    groups = make_groups(fetched)
    finite_rows = as_counts(fetched["finite"])
    first, last = (as_floats(fetched[name]).tolist() for name in ("first_step", "last_step"))
    largest = {name: np.nan_to_num(as_floats(fetched[f"{name}_largest"])).tolist() for name in columns}
    return [
        Extent(
            groups[place],
            finite_rows[place],
            first[place],
            last[place],
            {name: numbers[place] for name, numbers in largest.items()},
        )
        for place in order_groups(groups, measurements.order)
    ]


def _distinct_steps(rows: _Rows) -> int:
    return as_counts(_fetch(rows.frame.select(nw.col("step").n_unique().alias("steps")))["steps"])[0]


def _select_last_written(rows: _Rows) -> nw.LazyFrame[Any]:
    # Narwhals would sort the rows of every step to find the last; arg_max needs one row of memory a step.
    last = ", ".join(f'arg_max("{name}", "row") AS "{name}"' for name in rows.columns)
    relation = rows.frame.to_native().aggregate(f"series, run, step, {last}", "series, run, step")
    lazy: nw.LazyFrame[Any] = nw.from_native(relation)
    return lazy


def _read_binned_runs(rows: _Rows, bins: Bins, *, unique: bool) -> tuple[tuple[Run, ...], int]:
    frame = rows.frame if unique else _select_last_written(rows)
    # The same operations as in ``Bins.locate``, so that no step lands in a neighbouring bin.
    place = ((nw.col("step") - bins.start) / bins.width).floor()
    frame = frame.with_columns(
        bin=nw.when(place > bins.count - 1).then(float(bins.count - 1)).otherwise(place)
    )
    longest = max(extent.finite for extent in rows.extents)
    parts: dict[str, list[str]] = {}
    for name in rows.columns:
        if name != "n":
            largest = max(extent.largest[name] for extent in rows.extents)
            frame, parts[name] = split_column(frame, name, largest, longest)
    grouped = frame.group_by("series", "run", "bin").agg(
        nw.len().alias("count"),
        nw.col("value").min().alias("lowest"),
        nw.col("value").max().alias("highest"),
        *(nw.col(part).sum() for names in parts.values() for part in names),
        *(nw.col(name).min() for name in rows.columns if name == "n"),
    )
    fetched = _fetch(grouped)
    points = _make_bin_points(fetched, rows, bins, parts)
    return split_runs(points, [group.name for group in rows.groups]), sum(as_counts(fetched["count"]))


def _make_bin_points(
    fetched: dict[str, Column], rows: _Rows, bins: Bins, parts: dict[str, list[str]]
) -> Points:
    run = _find_runs_of_rows(fetched, rows.groups)
    order = np.lexsort((as_floats(fetched["bin"]), run))
    numbers = {
        name: as_floats(column)[order] for name, column in fetched.items() if name not in {"series", "run"}
    }
    means = {name: add_parts(numbers, names) / numbers["count"] for name, names in parts.items()}
    if "n" in rows.columns:
        means["n"] = numbers["n"]
    return Points(
        offsets=np.searchsorted(run[order], np.arange(len(rows.extents) + 1)).astype(np.int64),
        steps=bins.get_centres(numbers["bin"]),
        values=np.clip(means.pop("value"), numbers["lowest"], numbers["highest"]),
        given=means,
        lowest=numbers["lowest"],
        highest=numbers["highest"],
    )


def _read_smoothed_runs(rows: _Rows, bins: Bins, smooth: float) -> tuple[tuple[Run, ...], int]:
    """Smooth and bin each run by itself: only one is in memory at a time."""
    runs: list[Run] = []
    distinct = 0
    for group in rows.groups:
        one = rows.frame.filter(nw.col("series") == group.series, nw.col("run") == group.run)
        fetched = _fetch(one.select("step", "row", *rows.columns))
        columns: dict[str, FloatArray] = {name: as_floats(fetched[name]) for name in ("step", *rows.columns)}
        row = np.asarray(fetched["row"]).astype(np.int64)
        points = keep_last_written(np.zeros(row.size, dtype=np.int64), row, columns, 1)
        distinct += points.steps.size
        runs += split_runs(bin_points(smooth_points(points, smooth), bins), [group.name])
    return tuple(runs), distinct


def _find_runs_of_rows(fetched: dict[str, Column], groups: Sequence[Group]) -> IntArray:
    place = {(group.series, group.run): index for index, group in enumerate(groups)}
    names = zip(as_texts(fetched["series"]), as_texts(fetched["run"]), strict=True)
    return np.fromiter((place[series or "", run or ""] for series, run in names), dtype=np.int64)


def _fetch(frame: nw.LazyFrame[Any]) -> dict[str, Column]:
    """The columns of a lazy table as arrays, without the help of a data frame library."""
    columns: dict[str, Column] = frame.to_native().fetchnumpy()
    return columns
