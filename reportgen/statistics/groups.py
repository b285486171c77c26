"""The runs found in a table, and what a reduced metric says about them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.model import ReducedMetric
from reportgen.statistics.binning import make_bins
from reportgen.statistics.points import (
    GIVEN_COLUMNS,
    RunName,
    bin_points,
    has_more_steps,
    smooth_points,
    split_runs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray, Measurements, Run
    from reportgen.statistics.points import Points

# A column as DuckDB hands it over: masked where it is null.
Column: TypeAlias = npt.NDArray[np.generic]


# A number is finite if it lies between minus this and this.
LARGEST_FLOAT = sys.float_info.max


class Group(NamedTuple):
    """One metric of one run, before reduction: its names, rows, non-null values and first row."""

    metric: str
    series: str
    run: str
    seed: str | None
    rows: int
    filled: int
    first: int

    @property
    def name(self) -> RunName:
        """What tells the run from others."""
        return RunName(self.series, self.run, self.seed)


def list_given_columns(measurements: Measurements) -> tuple[str, ...]:
    """The columns of an interval that the input itself gives."""
    present = measurements.frame.collect_schema().names() if measurements.given_interval else []
    return tuple(name for name in GIVEN_COLUMNS if name in present)


def order_groups(groups: Sequence[Group], series_order: Sequence[str]) -> list[int]:
    """The places of groups by metric (as they appear), series (as given, then so too) and first row."""
    rank = {series: place for place, series in enumerate(series_order)}
    first_of_metric: dict[str, int] = {}
    first_of_series: dict[str, int] = {}
    for group in groups:
        for first_of, name in ((first_of_metric, group.metric), (first_of_series, group.series)):
            first_of[name] = min(group.first, first_of.get(name, group.first))

    def key(place: int) -> tuple[int, str, int, int, str, int, str]:
        group = groups[place]
        return (
            first_of_metric[group.metric],
            group.metric,
            rank.get(group.series, len(rank)),
            first_of_series[group.series],
            group.series,
            group.first,
            group.run,
        )

    return sorted(range(len(groups)), key=key)


def reduce_points(
    points: Points,
    groups: Sequence[Group],
    given_interval: str | None,
    *,
    finite: int,
    max_points: int | None,
    smooth: float,
) -> ReducedMetric:
    """Smooth and bin the points of one metric, and count what was left out.

    Args:
        points: all points of the metric's runs.
        groups: one a run, in the same order.
        given_interval: how the input gave its interval.
        finite: how many rows had a finite step and value.
        max_points: the largest number of distinct steps kept; None keeps all.
        smooth: 0 for none, below 1.
    """
    distinct = points.steps.size
    if smooth > 0:
        points = smooth_points(points, smooth)
    bins = None
    if max_points is not None and has_more_steps(points, max_points):
        bins = make_bins(float(points.steps.min()), float(points.steps.max()), max_points)
        points = bin_points(points, bins)
    runs = split_runs(points, [group.name for group in groups])
    count = bins.count if bins else None
    return make_reduced_metric(runs, groups, given_interval, finite=finite, distinct=distinct, bins=count)


def make_reduced_metric(
    runs: tuple[Run, ...],
    groups: Sequence[Group],
    given_interval: str | None,
    *,
    finite: int,
    distinct: int,
    bins: int | None,
) -> ReducedMetric:
    """A reduced metric with its counts: of ``finite`` usable rows, ``distinct`` are left, one a step."""
    rows = sum(group.rows for group in groups)
    return ReducedMetric(
        metric=groups[0].metric,
        runs=runs,
        replaced=finite - distinct,
        dropped=rows - finite,
        bins=bins,
        given_interval=given_interval,
        empty=rows - sum(group.filled for group in groups),
    )


def as_floats(column: Column) -> FloatArray:
    """A fetched column as float64, null and infinite as NaN."""
    values: FloatArray = np.ma.filled(column.astype(np.float64), np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def as_texts(column: Column) -> list[str | None]:
    """A fetched column of texts, null as None."""
    texts: list[str | None] = column.tolist()
    return texts


def as_counts(column: Column) -> list[int]:
    """A fetched column of whole numbers without null."""
    counts: list[int] = np.asarray(column).astype(np.int64).tolist()
    return counts
