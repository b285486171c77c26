"""The points of several runs in flat arrays: sorted, smoothed, binned, and split into runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.model import GivenInterval, Run
from reportgen.statistics.smooth import smooth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.model import FloatArray, IntArray
    from reportgen.statistics.binning import Bins

# What the input may give beside a value; see ``reportgen.model.GivenInterval``.
GIVEN_COLUMNS = ("low", "high", "stderr", "n")


class RunName(NamedTuple):
    """What tells one run from another."""

    series: str
    run: str
    seed: str | None


@dataclass(frozen=True, slots=True)
class Points:
    """The points of several runs, one run after another, by step within each run.

    Run ``i`` has the points ``offsets[i]`` up to ``offsets[i + 1]``; its steps are strictly increasing.
    Every other array has one entry a point. ``lowest`` and ``highest`` are the extremes of bins.
    """

    offsets: IntArray
    steps: FloatArray
    values: FloatArray
    given: Mapping[str, FloatArray] = field(default_factory=dict)
    smoothed: FloatArray | None = None
    lowest: FloatArray | None = None
    highest: FloatArray | None = None

    def select_runs(self, start: int, stop: int) -> Points:
        """The points of the runs ``start`` up to, but not including, ``stop``."""
        inside = slice(int(self.offsets[start]), int(self.offsets[stop]))
        given = {name: column[inside] for name, column in self.given.items()}
        offsets = self.offsets[start : stop + 1] - self.offsets[start]
        return Points(offsets, self.steps[inside], self.values[inside], given)


def keep_last_written(run: IntArray, row: IntArray, columns: Mapping[str, FloatArray], runs: int) -> Points:
    """Sort rows into points and keep, of several rows of one run and step, the one written last.

    Args:
        run: shape (N,), the run of each row, 0 to ``runs`` - 1.
        row: shape (N,), the order of writing.
        columns: ``step`` and ``value``, all finite, and any of ``low``, ``high``, ``stderr``, ``n``.
        runs: the number of runs; some may have no row.
    """
    steps = columns["step"]
    same_run = run[1:] == run[:-1]
    if np.all(run[1:] >= run[:-1]) and np.all(steps[1:][same_run] > steps[:-1][same_run]):
        chosen: slice | IntArray = slice(None)  # the usual log: nothing to sort, nothing written twice
    else:
        order = np.lexsort((row, steps, run))
        sorted_run, sorted_steps = run[order], steps[order]
        last = np.ones(run.size, dtype=np.bool_)
        last[:-1] = (sorted_run[1:] != sorted_run[:-1]) | (sorted_steps[1:] != sorted_steps[:-1])
        chosen = order[last]
    offsets = np.searchsorted(run[chosen], np.arange(runs + 1)).astype(np.int64)
    given = {name: columns[name][chosen] for name in GIVEN_COLUMNS if name in columns}
    return Points(offsets, steps[chosen], columns["value"][chosen], given)


def has_more_steps(points: Points, limit: int) -> bool:
    """Whether all runs together have more distinct steps than ``limit``."""
    if int(np.max(np.diff(points.offsets), initial=0)) > limit:
        return True
    return bool(points.steps.size > limit and np.unique(points.steps).size > limit)


def smooth_points(points: Points, weight: float) -> Points:
    """The points with ``smoothed`` filled in, each run on its own steps."""
    if (shared := _find_shared_steps(points)) is not None:
        values = points.values.reshape(-1, shared.size)
        return replace(points, smoothed=smooth(shared, values, weight).reshape(-1))
    smoothed = np.empty_like(points.values)
    for start, stop in zip(points.offsets[:-1], points.offsets[1:], strict=True):
        if stop > start:
            smoothed[start:stop] = smooth(points.steps[start:stop], points.values[start:stop], weight)
    return replace(points, smoothed=smoothed)


def bin_points(points: Points, bins: Bins) -> Points:
    """Mean of each run in each bin that it reaches, with the smallest and largest value.

    A bin's step is its centre, the same for all runs.
    """
    run = np.repeat(np.arange(points.offsets.size - 1), np.diff(points.offsets))
    index = bins.locate(points.steps)
    first = np.ones(run.size, dtype=np.bool_)
    first[1:] = (run[1:] != run[:-1]) | (index[1:] != index[:-1])
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=run.size)

    def mean(column: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(column, starts) / counts)

    lowest = np.minimum.reduceat(points.values, starts)
    highest = np.maximum.reduceat(points.values, starts)
    given = {
        name: np.fmin.reduceat(column, starts) if name == "n" else mean(column)
        for name, column in points.given.items()
    }
    return Points(
        offsets=np.searchsorted(run[starts], np.arange(points.offsets.size)).astype(np.int64),
        steps=bins.get_centres(index[starts]),
        values=np.clip(mean(points.values), lowest, highest),
        given=given,
        smoothed=None if points.smoothed is None else mean(points.smoothed),
        lowest=lowest,
        highest=highest,
    )


def split_runs(points: Points, names: Sequence[RunName]) -> tuple[Run, ...]:
    """One ``Run`` for each name; the arrays are views of the points'."""
    runs = []
    for name, start, stop in zip(names, points.offsets[:-1], points.offsets[1:], strict=True):
        inside = slice(int(start), int(stop))
        given = {column: values[inside] for column, values in points.given.items()}
        low, high, smoothed = (
            None if column is None else column[inside]
            for column in (points.lowest, points.highest, points.smoothed)
        )
        interval = GivenInterval(**given) if given else None
        runs.append(Run(*name, points.steps[inside], points.values[inside], low, high, smoothed, interval))
    return tuple(runs)


def _find_shared_steps(points: Points) -> FloatArray | None:
    """The steps of the first run if every run has exactly these, otherwise None."""
    lengths = np.diff(points.offsets)
    if lengths.size == 0 or lengths[0] == 0 or np.any(lengths != lengths[0]):
        return None
    steps = points.steps.reshape(lengths.size, -1)
    return steps[0] if bool(np.all(steps == steps[0])) else None
