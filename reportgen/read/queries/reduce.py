"""Reduction of measurements to one value per step: grouped in DuckDB, so that few rows are fetched.

Tables too large to fetch are binned in the database, with the same results up to rounding. Any other engine
that narwhals knows, such as Spark, gives the same bits: sums are of parts that add up without rounding.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from msgspec.structs import replace

from reportgen.core.model import ReducedMetric, Run
from reportgen.read.queries.engines import fetch, last_written, rows_up_to, split_column
from reportgen.read.queries.points import (
    LARGEST_FLOAT,
    ON_THE_EDGE,
    Bins,
    Column,
    Group,
    Points,
    add_gaps,
    as_counts,
    as_floats,
    as_names,
    bin_points,
    goes_back,
    join_points,
    keep_last_written,
    list_given_columns,
    make_groups,
    share_steps,
    smooth_points,
    split_runs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray, IntArray, Measurements

# Tables up to this many rows are fetched whole; larger ones are binned in DuckDB.
FULL_ROWS = 1_000_000


def reduce(
    measurements: Measurements, *, max_points: int | None = 400, smooth: float = 0.0, log: bool = False
) -> dict[str, ReducedMetric]:
    """Reduce every metric, in order of first appearance, to one value per run and step.

    Rows without a finite step and value are dropped and counted; of several rows of one run, metric and step
    the last written counts. If the runs of a metric have more than ``max_points`` distinct steps together,
    they are put in that many bins of equal width, with ``log`` in the logarithm: a run's value is the mean of
    its steps in the bin, ``low`` and ``high`` are the extremes, and the step is the mean of all steps in the
    bin (``points.share_steps``); the runs before that are kept as ``every_step``. Smoothing
    (``points.smooth``) comes before. Raises a ReportError, with every file and line, if the files cannot be
    read, and a ValueError if ``max_points`` is below 1 or ``smooth`` is not in [0, 1).
    """
    if max_points is not None and max_points < 1:
        raise ValueError(f"max_points must be at least 1, not {max_points}")
    if not 0 <= smooth < 1:
        raise ValueError(f"smooth must be at least 0 and below 1, not {smooth}")
    with measurements.reading():
        request = _Request(measurements.given_interval, max_points, smooth, log=log)
        fetched = _reduce_fetched(measurements, request)
        if fetched is None:
            fetched = reduce_large(measurements, max_points=max_points, smooth=smooth, log=log), True
        reduced, may_go_back = fetched
        if any(metric.replaced for metric in reduced.values()):
            measurements.check_repeats()
        if may_go_back:
            measurements.check_counters()
        measurements.check_runs()
        runs = measurements.list_runs()
    return {name: _add_runs(metric, runs) for name, metric in reduced.items()}


def _add_runs(metric: ReducedMetric, runs: Sequence[tuple[str, str, str | None]]) -> ReducedMetric:
    """Return a metric with the runs that do not have it; those of a series without any are counted."""
    known = {(run.series, run.run) for run in metric.runs}
    series = {run.series for run in metric.runs}
    others = [one for one in runs if one[:2] not in known]
    empty = tuple(Run(*one, np.empty(0), np.empty(0)) for one in others if one[0] in series)
    absent = Counter(name for name, *_ in others if name not in series)
    return replace(metric, runs=(*metric.runs, *empty), absent=absent)


def _reduce_fetched(
    measurements: Measurements, request: _Request
) -> tuple[dict[str, ReducedMetric], bool] | None:
    """Reduce the whole table, fetched with one list per column and run; return if steps go back.

    None if it is too large.
    """
    columns = ("row", "step", "value", *list_given_columns(measurements))
    between = f"BETWEEN -{LARGEST_FLOAT} AND {LARGEST_FLOAT}"  # isfinite takes most of the time
    aggregates = [
        "series, run, metric, min(seed) AS seed, count(*) AS rows, count(value) AS filled",
        'min("row") AS first',
        *(f'list("{name}") FILTER (step {between} AND value {between}) AS "{name}"' for name in columns),
        f"list(step) FILTER (step {between} AND value IS NOT NULL AND NOT value {between}) AS not_finite",
    ]
    table = rows_up_to(measurements.frame, FULL_ROWS + 1).to_native()
    fetched = table.aggregate(", ".join(aggregates), "series, run, metric").fetchnumpy()
    groups, order = make_groups(fetched, measurements.order)
    if not groups:
        return {}, False
    if sum(group.rows for group in groups) > FULL_ROWS:
        return None
    lists = {}
    for name in (*columns, "not_finite"):
        # The list of a run without a finite value is null, here empty.
        column, missing = fetched[name], np.ma.getmaskarray(fetched[name])
        lists[name] = [np.empty(0) if missing[place] else column[place] for place in order]
    gaps, rows = lists.pop("not_finite"), lists.pop("row")
    run, row = np.repeat(np.arange(len(order)), [own.size for own in rows]), np.concatenate(rows)
    row = row.astype(np.int64)
    numbers = {name: np.concatenate([as_floats(column) for column in own]) for name, own in lists.items()}
    points = keep_last_written(run, row, numbers, len(groups))
    finite, start = np.bincount(run, minlength=len(groups)), 0
    reduced: dict[str, ReducedMetric] = {}
    for metric, members in groupby(groups, key=lambda group: group.metric):
        stop = start + len(list(members))
        own, count = points.select_runs(start, stop), int(finite[start:stop].sum())
        reduced[metric] = add_gaps(request.reduce_points(own, groups[start:stop], count), gaps[start:stop])
        start = stop
    return reduced, goes_back(groups, run, row, numbers["step"])


class _Request(NamedTuple):
    """Number of bins, smoothing, and the columns of an interval that the input gives."""

    given_interval: str | None
    max_points: int | None
    smooth: float
    most: int | None = None  # rows of a result that are fetched
    log: bool = False  # whether the x axis is logarithmic

    def reduce_points(self, points: Points, groups: Sequence[Group], finite: int) -> ReducedMetric:
        """Smooth and bin the points of one metric; ``finite`` of its rows had a finite step and value."""
        distinct, bins, most = points.steps.size, None, self.max_points
        if self.smooth > 0:
            points = smooth_points(points, self.smooth)
        if most is not None and distinct > most:
            # A long run has enough steps of its own.
            longest = int(np.max(np.diff(points.offsets), initial=0))
            if longest > most or np.unique(points.steps).size > most:
                positive = np.min(points.steps, where=points.steps > 0, initial=np.inf)
                bins = self.make_bins(float(points.steps.min()), float(points.steps.max()), float(positive))
        if bins is None:
            return self.make_metric(split_runs(points, groups), groups, finite, distinct, bins)
        filled = np.diff(points.offsets) > 0
        ends = np.full((filled.size, 2), np.nan)
        for side, place in enumerate((points.offsets[:-1], points.offsets[1:] - 1)):
            ends[filled, side] = points.steps[place[filled]]
        runs = split_runs(share_steps(bin_points(points, bins), bins, ends), groups)
        metric = self.make_metric(runs, groups, finite, distinct, bins)
        return replace(metric, every_step=split_runs(points, groups))

    def make_bins(self, first: float, last: float, positive: float) -> Bins:
        """Return the bins between two steps; ``positive`` is the first above 0, where a log axis starts."""
        count = self.max_points or 1
        if self.log and positive < last:
            return Bins(math.log(positive), math.log(last), count, log=True)
        return Bins(first, last, count)

    def make_metric(
        self, runs: tuple[Run, ...], groups: Sequence[Group], finite: int, distinct: int, bins: Bins | None
    ) -> ReducedMetric:
        """Make a metric with its counts: of ``finite`` usable rows, ``distinct`` differ in run or step."""
        rows = sum(group.rows for group in groups)
        return ReducedMetric(
            metric=groups[0].metric,
            runs=runs,
            replaced=finite - distinct,
            dropped=rows - finite,
            bins=bins.count if bins else None,
            given_interval=self.given_interval,
            empty=rows - sum(group.filled for group in groups),
        )


class _Extent(NamedTuple):
    """One metric of one run: its finite rows, first and last step, and largest absolute numbers."""

    group: Group
    finite: int
    first_step: float
    last_step: float
    largest: dict[str, float]


class _Rows(NamedTuple):
    """Finite rows of one metric, their columns that hold numbers, and their runs."""

    frame: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    extents: list[_Extent]
    groups: list[Group]
    longest: int

    def reduce(self, request: _Request) -> ReducedMetric:
        max_points = request.max_points
        finite = sum(extent.finite for extent in self.extents)
        unique = self.has_unique_steps()
        many = unique and max_points is not None and self.longest > max_points
        if max_points is not None and not many:
            steps = fetch(self.frame.select(nw.col("step").n_unique().alias("steps")))["steps"]
            many = as_counts(steps)[0] > max_points
        if max_points is None or not many:
            fetched = fetch(self.select_last_written(), request.most)
            points = keep_last_written(
                _find_runs_of_rows(fetched, self.groups),
                np.zeros(fetched["step"].size, dtype=np.int64),
                {name: as_floats(fetched[name]) for name in ("step", *self.columns)},
                len(self.groups),
            )
            return request.reduce_points(points, self.groups, finite)
        bins = self._make_bins(request)
        if request.smooth <= 0:
            written_once = self if unique else self._replace(frame=self.select_last_written())
            points = written_once.read_binned_points(bins, request.most)
            distinct = int(np.sum(points.counts)) if points.counts is not None else 0
        else:
            points, distinct = self._smooth_in_bins(bins, request.smooth)
        ends = np.array([(extent.first_step, extent.last_step) for extent in self.extents])
        runs = split_runs(share_steps(points, bins, ends), self.groups)
        return request.make_metric(runs, self.groups, finite, distinct, bins)

    def _make_bins(self, request: _Request) -> Bins:
        reached = [extent for extent in self.extents if extent.finite]
        first, last = min(one.first_step for one in reached), max(one.last_step for one in reached)
        positive = first
        if request.log and first <= 0:
            above = self.frame.filter(nw.col("step") > 0).select(nw.col("step").min())
            positive = float(as_floats(fetch(above)["step"])[0])
        return request.make_bins(first, last, positive if positive > 0 else math.inf)

    def _smooth_in_bins(self, bins: Bins, weight: float) -> tuple[Points, int]:
        """Smooth and bin each run separately: only one is in memory at a time. Also return how many steps."""
        parts, distinct = [], 0
        for group in self.groups:
            own = self.frame.filter(nw.col("series") == group.series, nw.col("run") == group.run)
            fetched = fetch(own.select("step", "row", *self.columns))
            columns = {name: as_floats(fetched[name]) for name in ("step", *self.columns)}
            row = np.asarray(fetched["row"]).astype(np.int64)
            points = keep_last_written(np.zeros(row.size, dtype=np.int64), row, columns, 1)
            distinct += points.steps.size
            parts.append(bin_points(smooth_points(points, weight), bins))
        return join_points(parts), distinct

    def has_unique_steps(self) -> bool:
        """Return whether certainly no run has two rows of one step; False if finding out would cost too much.

        Steps are put in slots half as wide as the closest run's mean spacing. Each row adds 2^slot to the
        mark of its run and of 48 neighbouring slots: if a mark has as many one bits as rows, all slots, and
        hence all steps, differ. This needs a grouping with rows / 24 groups instead of one group per row.
        """
        spacings = [
            (extent.last_step - extent.first_step) / (extent.finite - 1)
            for extent in self.extents
            if extent.finite > 1
        ]
        if not spacings or min(spacings) <= 0:
            return not spacings
        start = min(extent.first_step for extent in self.extents if extent.finite)
        slot = ((nw.col("step") - start) / (min(spacings) / 2)).floor()
        slots = self.frame.select("series", "run", slot=slot)
        slots = slots.with_columns(block=(nw.col("slot") / _MARKS).floor())
        marks = slots.group_by("series", "run", "block").agg(
            nw.len().alias("rows"), (2.0 ** (nw.col("slot") - nw.col("block") * _MARKS)).sum().alias("mark")
        )
        # Legendre's formula: a whole number less its one bits is the sum of its halves, rounded down.
        halves = [(nw.col("mark") * 0.5**place).floor() for place in range(1, _MARKS + 1)]
        while len(halves) > 1:  # in pairs: Spark Connect takes no sum of many terms, each inside the next
            halves = [sum(halves[place + 1 : place + 2], halves[place]) for place in range(0, len(halves), 2)]
        known = (nw.col("mark") < 2.0**_MARKS) & (nw.col("mark") - halves[0] == nw.col("rows"))
        shared = nw.when(known).then(0).otherwise(1).sum().alias("shared")
        return as_counts(fetch(marks.select(shared))["shared"]) == [0]

    def select_last_written(self) -> nw.LazyFrame[Any]:
        return last_written(self.frame, ("series", "run", "step"), "row", self.columns)

    def read_binned_points(self, bins: Bins, most: int | None) -> Points:
        """Read the means of runs in bins, as ``bin_points`` computes them."""
        frame = self.frame.with_columns(bin=_find_bin(bins))
        parts: dict[str, list[str]] = {}
        for name in ("step", *self.columns):
            if name != "n":
                frame, parts[name] = split_column(frame, name, self._find_largest(name), self.longest)
        fetched = fetch(
            frame.group_by("series", "run", "bin").agg(
                nw.len().alias("count"),
                nw.col("value").min().alias("lowest"),
                nw.col("value").max().alias("highest"),
                *(nw.col(part).sum() for names in parts.values() for part in names),
                *(nw.col(name).min() for name in self.columns if name == "n"),
            ),
            most,
        )
        run = _find_runs_of_rows(fetched, self.groups)
        order = np.lexsort((as_floats(fetched["bin"]), run))
        del fetched["series"], fetched["run"]
        numbers = {name: as_floats(column)[order] for name, column in fetched.items()}
        means: dict[str, FloatArray] = {}
        for name, (*larger, smallest) in parts.items():
            total = numbers[smallest]
            for part in reversed(larger):
                total = total + numbers[part]
            means[name] = total / numbers["count"]
        means |= {"n": numbers["n"]} if "n" in self.columns else {}
        return Points(
            offsets=np.searchsorted(run[order], np.arange(len(self.groups) + 1)).astype(np.int64),
            steps=means.pop("step"),
            values=np.clip(means.pop("value"), numbers["lowest"], numbers["highest"]),
            given=means,
            lowest=numbers["lowest"],
            highest=numbers["highest"],
            counts=numbers["count"].astype(np.int64),
        )

    def _find_largest(self, column: str) -> float:
        """Return the largest absolute number of a column."""
        if column == "step":
            return max(
                abs(end) for one in self.extents if one.finite for end in (one.first_step, one.last_step)
            )
        return max(extent.largest[column] for extent in self.extents)


def _find_bin(bins: Bins) -> nw.Expr:
    """Return ``Bins.find`` of the column of steps, operation by operation."""
    step, end = nw.col("step"), float(bins.count - 1)
    if not bins.log:
        place = ((step - bins.start) / bins.width).floor()
        return nw.when(place > end).then(end).otherwise(place)
    logs = nw.when(step > 0).then(step).otherwise(1.0).log()
    place = ((logs - bins.start) / bins.width + ON_THE_EDGE).floor()
    return nw.when(step > 0).then(nw.when(place > end).then(end).otherwise(place) + 1).otherwise(0.0)


def reduce_large(
    measurements: Measurements,
    *,
    max_points: int | None,
    smooth: float,
    most: int | None = None,
    log: bool = False,
) -> dict[str, ReducedMetric]:
    """Do the same as ``reduce`` in the database, or on a cluster, with one run in memory at a time.

    Raises ``TooManyRowsError`` if there are more than ``most`` points of one metric, or more than a tenth as
    many runs.
    """
    given, request = (
        list_given_columns(measurements),
        _Request(measurements.given_interval, max_points, smooth, most, log),
    )
    extents = _read_extents(measurements, ("value", *given), most and most // _POINTS_OF_A_RUN)
    reduced: dict[str, ReducedMetric] = {}
    for metric, members in groupby(extents, key=lambda extent: extent.group.metric):
        known = [
            nw.when(_is_finite(name)).then(nw.col(name)).otherwise(float("nan")).alias(name) for name in given
        ]
        usable = measurements.frame.filter(_is_finite("step", "value"))
        frame = usable.select("series", "run", "metric", "step", "row", "value", *known)
        own = list(members)
        groups, longest = [extent.group for extent in own], max(extent.finite for extent in own)
        rows = _Rows(frame.filter(nw.col("metric") == metric), ("value", *given), own, groups, longest)
        reduced[metric] = rows.reduce(request)
    return reduced


# Names and extents of a run take as much memory as this many points.
_POINTS_OF_A_RUN = 10

# Slots that share a mark; their powers of two add up exactly in a float64.
_MARKS = 48


def _is_finite(*names: str) -> nw.Expr:
    # Comparing is free while is_finite takes most of the time; NaN is larger than every number.
    finite = (nw.col(name).is_between(-LARGEST_FLOAT, LARGEST_FLOAT) for name in names)
    return nw.all_horizontal(*finite, ignore_nulls=False)


def _read_extents(measurements: Measurements, columns: tuple[str, ...], most: int | None) -> list[_Extent]:
    def where_finite(name: str) -> nw.Expr:
        return nw.when(_is_finite("step", "value", name)).then(nw.col(name))

    fetched = fetch(
        measurements.frame.group_by("series", "run", "metric").agg(
            nw.col("seed").min(),
            nw.len().alias("rows"),
            nw.col("value").count().alias("filled"),
            nw.col("row").min().alias("first"),
            where_finite("value").count().alias("finite"),
            where_finite("step").min().alias("first_step"),
            where_finite("step").max().alias("last_step"),
            *(where_finite(name).abs().max().alias(f"{name}_largest") for name in columns),
        ),
        most,
    )
    groups, order = make_groups(fetched, measurements.order)
    finite = as_counts(fetched["finite"])
    first, last = (as_floats(fetched[name]).tolist() for name in ("first_step", "last_step"))
    largest = {name: np.nan_to_num(as_floats(fetched[f"{name}_largest"])).tolist() for name in columns}
    return [
        _Extent(
            group, finite[place], first[place], last[place], {n: own[place] for n, own in largest.items()}
        )
        for group, place in zip(groups, order, strict=True)
    ]


def _find_runs_of_rows(fetched: dict[str, Column], groups: Sequence[Group]) -> IntArray:
    place = {(group.series, group.run): index for index, group in enumerate(groups)}
    names = zip(as_names(fetched["series"]), as_names(fetched["run"]), strict=True)
    return np.fromiter((place[key] for key in names), dtype=np.int64)
