"""Points of runs in flat arrays: sorting, smoothing, binning, counting and splitting into runs."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.model import GivenInterval, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import FloatArray, IntArray, Measurements, ReducedMetric

# Weights inside a block are relative to its first step; e^200 leaves room for values of 1e220.
_BLOCK = 200.0


def smooth(steps: FloatArray, values: FloatArray, weight: float) -> FloatArray:
    """Average each value with all earlier ones of its run, weighted less the further back they are.

    The smoothed value at step ``t_k`` is ``sum_j w_kj v_j / sum_j w_kj`` over the values up to it, with
    ``w_kj = weight ** ((t_k - t_j) / unit)`` and ``unit`` the median distance of neighbouring steps (Eckner,
    "Algorithms for Unevenly Spaced Time Series", 2014); with equal distances it is TensorBoard's debiased
    smoothing, and pandas' ``ewm(halflife, times=..., adjust=True)``. ``values`` of one or several runs, shape
    (S,) or (R, S), share strictly increasing ``steps`` and are finite. A ``weight`` of 0 leaves them
    unchanged; one outside [0, 1) raises a ValueError.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"smooth must be at least 0 and below 1, not {weight}")
    if weight == 0 or steps.size <= 1:
        return values.copy()
    age = (steps - steps[0]) * (-math.log(weight) / float(np.median(np.diff(steps))))
    scale = np.max(np.abs(values), axis=-1, keepdims=True)
    scaled = values / np.where(scale > 0, scale, 1)
    # Mean of the values up to each point, weighted by exp(age_j - age_k), without a loop over points.
    averaged = np.empty_like(values)
    total, weights, start = np.zeros((*values.shape[:-1], 1)), 0.0, 0
    while start < age.size:
        block = slice(start, int(np.searchsorted(age, age[start] + _BLOCK, side="right")))
        decay = math.exp(age[start - 1] - age[start]) if start else 0.0
        growth = np.exp(age[block] - age[start])
        sums = np.cumsum(scaled[..., block] * growth, axis=-1) + total * decay
        norms = np.cumsum(growth) + weights * decay
        averaged[..., block] = sums / norms
        total, weights, start = sums[..., -1:] / growth[-1], float(norms[-1] / growth[-1]), block.stop
    # Rounding may exceed the range of the averaged values by an ulp: a constant stays exactly constant.
    low, high = (pick.accumulate(values, axis=-1) for pick in (np.minimum, np.maximum))
    smoothed: FloatArray = np.clip(averaged * scale, low, high)
    return smoothed


class Bins(Struct, frozen=True):
    """``count`` bins of equal width from ``start`` to ``stop``; the last one includes its end.

    With ``log``, ``start`` and ``stop`` are logarithms, in which widths are equal, and one more bin before
    the others holds steps that a log axis cannot show.
    """

    start: float
    stop: float
    count: int
    log: bool = False

    @property
    def width(self) -> float:
        """Width of each bin."""
        return (self.stop - self.start) / self.count

    def find(self, steps: FloatArray) -> FloatArray:
        """Return the bin of each step; ``reduce.reduce_large`` does the same, operation by operation."""
        if not self.log:
            return np.minimum(np.floor((steps - self.start) / self.width), self.count - 1)
        logs = np.log(np.where(steps > 0, steps, 1.0))
        place = np.minimum(np.floor((logs - self.start) / self.width + ON_THE_EDGE), self.count - 1)
        return np.where(steps > 0, place + 1, 0.0)


ON_THE_EDGE = 1e-9
"""Part of a bin on a log axis by which a step may be before its start: logarithms of two libraries differ."""
_SAME_STEP = 1e-9  # part of a bin by which means of the same steps differ

# Columns of an interval that the input may give; see ``reportgen.core.model.GivenInterval``.
_GIVEN_COLUMNS = ("low", "high", "stderr", "n")


class Points(Struct, frozen=True):
    """Points of several runs, one run after another, ordered by step within each run.

    Run ``i`` has the points ``offsets[i]`` up to ``offsets[i + 1]``; its steps are strictly increasing. Every
    other array has one entry per point. ``lowest`` and ``highest`` are the extremes of bins, and ``counts``
    how many steps are in each.
    """

    offsets: IntArray
    steps: FloatArray
    values: FloatArray
    given: Mapping[str, FloatArray] = field(default_factory=dict)
    smoothed: FloatArray | None = None
    lowest: FloatArray | None = None
    highest: FloatArray | None = None
    counts: IntArray | None = None

    def select_runs(self, start: int, stop: int) -> Points:
        """Return the points of the runs ``start`` up to, but not including, ``stop``."""
        inside = slice(int(self.offsets[start]), int(self.offsets[stop]))
        given = {name: column[inside] for name, column in self.given.items()}
        offsets = self.offsets[start : stop + 1] - self.offsets[start]
        return Points(offsets, self.steps[inside], self.values[inside], given)


def keep_last_written(run: IntArray, row: IntArray, columns: Mapping[str, FloatArray], runs: int) -> Points:
    """Sort rows into points; of several rows of one run and step, only the last written remains.

    ``run`` and ``row``, the order of writing, have shape (N,), and so does each of ``columns``: ``step`` and
    ``value``, all finite, and any of ``low``, ``high``, ``stderr``, ``n``.
    """
    steps = columns["step"]
    same_run = run[1:] == run[:-1]
    if np.all(run[1:] >= run[:-1]) and np.all(steps[1:][same_run] > steps[:-1][same_run]):
        chosen: slice | IntArray = slice(None)  # the usual log: nothing to sort, nothing written twice
    else:
        order = np.lexsort((row, steps, run))
        chosen = order[_mark_changes(run[order], steps[order], last=True)]
    offsets = np.searchsorted(run[chosen], np.arange(runs + 1)).astype(np.int64)
    given = {name: columns[name][chosen] for name in _GIVEN_COLUMNS if name in columns}
    return Points(offsets, steps[chosen], columns["value"][chosen], given)


def goes_back(groups: Sequence[Group], run: IntArray, row: IntArray, steps: FloatArray) -> bool:
    """Return whether a row of a run has less than half the step of a row that was written before it.

    ``run``, the position of each row's group, ``row`` and ``steps`` have shape (N,); metrics of one run count
    together.
    """
    labels: dict[tuple[str, str], int] = {}
    every = [labels.setdefault((group.series, group.run), len(labels)) for group in groups]
    label = np.array(every)[run]
    order = np.lexsort((row, label))
    ends = np.flatnonzero(np.diff(label[order])) + 1
    parts = np.split(steps[order], ends)
    return any(bool(np.any(2 * part < np.maximum.accumulate(part))) for part in parts)


def _mark_changes(run: IntArray, other: FloatArray, *, last: bool = False) -> npt.NDArray[np.bool_]:
    """Mark the first (or last) entry of each stretch of one run and one value of ``other``."""
    changes = (run[1:] != run[:-1]) | (other[1:] != other[:-1])
    end = np.ones(min(run.size, 1), dtype=np.bool_)
    return np.concatenate([changes, end] if last else [end, changes])


def smooth_points(points: Points, weight: float) -> Points:
    """Return the points with ``smoothed`` filled in, each run on its own steps."""
    lengths = np.diff(points.offsets)
    if lengths.size and lengths[0] and np.all(lengths == lengths[0]):
        steps = points.steps.reshape(lengths.size, -1)
        if np.all(steps == steps[0]):
            values = points.values.reshape(-1, lengths[0])
            return replace(points, smoothed=smooth(steps[0], values, weight).reshape(-1))
    smoothed = np.empty_like(points.values)
    for start, stop in zip(points.offsets[:-1], points.offsets[1:], strict=True):
        if stop > start:
            smoothed[start:stop] = smooth(points.steps[start:stop], points.values[start:stop], weight)
    return replace(points, smoothed=smoothed)


def bin_points(points: Points, bins: Bins) -> Points:
    """Return mean, smallest and largest value of each run in each bin, at the mean of its steps there."""
    run = _number_runs(points)
    index = bins.find(points.steps)
    starts = np.flatnonzero(_mark_changes(run, index))
    counts = np.diff(starts, append=run.size)

    def mean(column: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(column, starts) / counts)

    lowest, highest = (pick.reduceat(points.values, starts) for pick in (np.minimum, np.maximum))
    given = {
        name: np.fmin.reduceat(column, starts) if name == "n" else mean(column)
        for name, column in points.given.items()
    }
    return Points(
        offsets=np.searchsorted(run[starts], np.arange(points.offsets.size)).astype(np.int64),
        steps=mean(points.steps),
        values=np.clip(mean(points.values), lowest, highest),
        given=given,
        smoothed=None if points.smoothed is None else mean(points.smoothed),
        lowest=lowest,
        highest=highest,
        counts=counts.astype(np.int64),
    )


def join_points(parts: Sequence[Points]) -> Points:
    """Join the points of several runs, which have the same columns."""

    def join(name: str) -> Any:  # noqa: ANN401 - of numbers or counts
        columns = [getattr(part, name) for part in parts]
        return None if columns[0] is None else np.concatenate(columns)

    offsets = np.cumsum([0, *(part.steps.size for part in parts)])
    given = {name: np.concatenate([part.given[name] for part in parts]) for name in parts[0].given}
    steps, values, *others = map(join, ("steps", "values", "smoothed", "lowest", "highest", "counts"))
    return Points(offsets, steps, values, given, *others)


def _number_runs(points: Points) -> IntArray:
    return np.repeat(np.arange(points.offsets.size - 1), np.diff(points.offsets))


def share_steps(points: Points, bins: Bins, ends: FloatArray) -> Points:
    """Move all means in a bin to one step, the mean of all steps in it, along the line of their run's means.

    So runs with other steps can be compared, and a straight line stays where it is. A run that does not reach
    that step, has a single mean or would leave the values of its bin keeps its own step. ``points`` are those
    of ``bin_points``, and ``ends`` the first and last step of each run, shape (R, 2).
    """
    if not points.steps.size:
        return points
    run, index = _number_runs(points), bins.find(points.steps).astype(np.int64)
    counts = np.ones(index.size) if points.counts is None else points.counts
    first = np.full(index.max() + 1, np.inf)
    np.minimum.at(first, index, points.steps)
    apart = np.bincount(index, (points.steps - first[index]) * counts)
    target = first[index] + (apart[index] / np.bincount(index, counts)[index])
    # Means of the same steps differ by rounding at most.
    same = target - first[index] <= _SAME_STEP * np.maximum(np.abs(target), 1)
    other = _find_neighbours(run, target > points.steps)
    moves = ~same & (other != np.arange(run.size)) & (ends[run, 0] <= target) & (target <= ends[run, 1])
    share = (target - points.steps) / np.where(moves, points.steps[other] - points.steps, np.inf)
    values = points.values * (1 - share) + points.values[other] * share
    if points.lowest is not None and points.highest is not None:
        within = np.clip(values, points.lowest, points.highest)
        moves &= np.isclose(values, within, rtol=_SAME_STEP, atol=0.0)
        values, share = within, np.where(moves, share, 0.0)

    def move(column: FloatArray) -> FloatArray:
        moved = column * (1 - share) + column[other] * share
        return np.where(np.isfinite(moved), moved, column)

    return replace(
        points,
        steps=np.where(same, first[index], np.where(moves, target, points.steps)),
        values=np.where(moves, values, points.values),
        given={name: column if name == "n" else move(column) for name, column in points.given.items()},
        smoothed=None if points.smoothed is None else move(points.smoothed),
    )


def _find_neighbours(run: IntArray, later: npt.NDArray[np.bool_]) -> IntArray:
    """Return the next point of each point's run, or the one before where not ``later`` and at the end.

    A run of one point has no other: its own place is returned.
    """
    place = np.arange(run.size)
    has_next, has_previous = np.diff(run, append=-1) == 0, np.diff(run, prepend=-1) == 0
    forward = has_next & (later | ~has_previous)
    return np.where(forward, place + 1, np.where(has_previous, place - 1, place))


# A column as DuckDB returns it: masked at nulls.
Column: TypeAlias = npt.NDArray[np.generic]

# A number is finite if it is between minus this and this.
LARGEST_FLOAT = sys.float_info.max


class Group(NamedTuple):
    """One metric of one run before reduction: names, number of rows and non-null values, and first row."""

    metric: str
    series: str
    run: str
    seed: str | None
    rows: int
    filled: int
    first: int


def split_runs(points: Points, groups: Sequence[Group]) -> tuple[Run, ...]:
    """Return one ``Run`` per group; its arrays are views of the points'.

    Steps are copies, of which runs with the same steps share one, as most runs of a sweep do.
    """
    runs: list[Run] = []
    for group, start, stop in zip(groups, points.offsets[:-1], points.offsets[1:], strict=True):
        inside = slice(int(start), int(stop))
        given = {name: column[inside] for name, column in points.given.items()}
        low, high, smoothed = (
            None if column is None else column[inside]
            for column in (points.lowest, points.highest, points.smoothed)
        )
        names, interval = (group.series, group.run, group.seed), GivenInterval(**given) if given else None
        counts = None if points.counts is None else points.counts[inside]
        steps = points.steps[inside]
        is_same = bool(runs) and np.array_equal(runs[-1].steps, steps)
        steps = runs[-1].steps if is_same else steps.copy()
        runs.append(Run(*names, steps, points.values[inside], low, high, smoothed, interval, counts))
    return tuple(runs)


def add_gaps(metric: ReducedMetric, gaps: Sequence[Column]) -> ReducedMetric:
    """Return a metric with ``Run.not_finite`` of each run, before and after binning."""
    if not any(steps.size for steps in gaps):
        return metric

    def add(runs: tuple[Run, ...]) -> tuple[Run, ...]:
        return tuple(replace(run, not_finite=as_floats(steps)) for run, steps in zip(runs, gaps, strict=True))

    return replace(metric, runs=add(metric.runs), every_step=add(metric.every_step) if metric.bins else ())


def make_groups(fetched: Mapping[str, Column], series_order: Sequence[str]) -> tuple[list[Group], list[int]]:
    """Return sorted groups made from columns of names and counts, and their positions in the columns.

    Sorted by metric (in order of appearance), series (in the given order, then likewise) and first row.
    """
    names = [as_names(fetched[name]) for name in ("metric", "series", "run")]
    counts = [as_counts(fetched[name]) for name in ("rows", "filled", "first")]
    groups = [Group(*one) for one in zip(*names, as_texts(fetched["seed"]), *counts, strict=True)]
    by_metric, by_series = rank_names(names[0], counts[2]), rank_names(names[1], counts[2], series_order)

    def key(place: int) -> tuple[int, int, int, str]:
        group = groups[place]
        return by_metric[group.metric], by_series[group.series], group.first, group.run

    order = sorted(range(len(groups)), key=key)
    return [groups[place] for place in order], order


def rank_names(names: Sequence[str], rows: Sequence[int], order: Sequence[str] = ()) -> dict[str, int]:
    """Map each name, in rank order, to its rank: in ``order``, then by first row."""
    given = {name: place for place, name in enumerate(order)}
    first: dict[str, int] = {}
    for name, row in zip(names, rows, strict=True):
        first[name] = min(row, first.get(name, row))
    ranked = sorted(first, key=lambda name: (given.get(name, len(given)), first[name], name))
    return {name: place for place, name in enumerate(ranked)}


def list_given_columns(measurements: Measurements) -> tuple[str, ...]:
    """List the columns of an interval that the input itself gives."""
    present = measurements.frame.collect_schema().names() if measurements.given_interval else []
    return tuple(name for name in _GIVEN_COLUMNS if name in present)


def as_floats(column: Column) -> FloatArray:
    """Convert a fetched column to float64, with null and infinite values as NaN."""
    values: FloatArray = np.ma.filled(column.astype(np.float64), np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def as_texts(column: Column) -> list[str | None]:
    """Convert a fetched text column to a list, with null as None."""
    texts: list[str | None] = column.tolist()
    return texts


def as_names(column: Column) -> list[str]:
    """Convert a fetched column of names to a list, with null, which reading does not give, as ""."""
    return [text or "" for text in as_texts(column)]


def as_counts(column: Column) -> list[int]:
    """Convert a fetched column of whole numbers without nulls to a list."""
    counts: list[int] = np.asarray(column).astype(np.int64).tolist()
    return counts
