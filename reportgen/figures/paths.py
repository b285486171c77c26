"""SVG path data of a plot's lines and bands, thinned to what pixels can show, in integer units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.figures.axis import LOGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray, IntArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Plot


PIXELS_WIDE = 600
"""Plot width in a standalone picture; a fluid picture has as many drawing units and is stretched."""
UNITS_A_PIXEL = 4
RUNS_ASIDE = 8
"""Pixels from a whisker to the points of its runs."""
_HALF_PIXEL = UNITS_A_PIXEL // 2
_MOST_POINTS = 320
_RUN_POINTS = 160
_FARTHEST = 10_000_000
"""Limit in drawing units for points far outside the picture."""


def write_line_path(x: FloatArray, y: FloatArray) -> str:
    """Write the path of a line through points in drawing units; NaN in ``y`` is a gap."""
    return "".join(_write_stretch(x[part], y[part]) for part in _find_stretches(y))


def write_band_path(x: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Write the path of the area between ``low`` and ``high``; NaN in either is a gap."""
    outlines = (
        _write_stretch(
            np.concatenate([x[part], x[part][::-1]]),
            _round_to_half_pixels(np.concatenate([high[part], low[part][::-1]])),
        )
        for part in _find_stretches(low + high)
    )
    return "".join(f"{outline}z" for outline in outlines)


def write_whisker_path(x: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Write the path of a line from ``low`` to ``high`` at each point that has both."""
    known = np.isfinite(low + high)
    ends = np.rint(np.column_stack([x, low, high])[known].clip(-_FARTHEST, _FARTHEST)).astype(np.int64)
    return "".join(f"M{across} {start}V{end}" for across, start, end in ends.tolist())


def thin(x: FloatArray, y: FloatArray, most: int = _MOST_POINTS) -> tuple[FloatArray, FloatArray]:
    """Thin a line to about ``most`` points, at most 1.5 times as many, that look the same.

    The range of ``x``, which must be ascending, is split into buckets of equal width. Each retains its lowest
    and highest point, so no spike is lost (min-max decimation, after M4 of Jugel et al. 2014), and its first
    gap, so gaps remain.
    """
    if x.size <= most:
        return x, y
    if np.isfinite(y).all() and is_even(x):
        across, down = thin_rows(x, y[np.newaxis], most)
        fresh = np.diff(across[0], prepend=-np.inf) > 0
        return across[0][fresh], down[0][fresh]
    span = x[-1] - x[0]
    bucket = np.minimum((x - x[0]) * (most // 2 / span), most // 2 - 1).astype(np.int64)
    known = np.isfinite(y)
    ranked = np.lexsort((y, bucket))
    ranked = ranked[known[ranked]]
    change = np.flatnonzero(np.diff(bucket[ranked], prepend=-1, append=-1))
    gaps = np.flatnonzero(~known)
    first_gaps = gaps[np.diff(bucket[gaps], prepend=-1) > 0]
    ends = np.array([0, x.size - 1])
    chosen = np.unique(np.concatenate([ends, ranked[change[:-1]], ranked[change[1:] - 1], first_gaps]))
    return x[chosen], y[chosen]


def is_even(x: FloatArray) -> bool:
    """Return whether steps are evenly spaced, to a billionth."""
    gaps = np.diff(x)
    return bool(gaps.max() - gaps.min() <= 1e-9 * gaps[0])


def thin_rows(x: FloatArray, rows: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Thin many lines at once: ``x`` has shape (points,) and is even, ``rows`` has (lines, points).

    A bucket is a column of a table, so that one call finds the extremes of all lines; if a bucket's lowest
    and highest point coincide, it appears twice. Returns steps and values of shape (lines, about ``most``).
    """
    lines, size = rows.shape
    width = math.ceil(size / (most // 2))
    buckets = math.ceil(size / width)
    padded = np.concatenate([rows, np.repeat(rows[:, -1:], buckets * width - size, axis=1)], axis=1)
    grid = padded.reshape(lines, buckets, width)
    starts = np.arange(buckets) * width
    pairs = np.sort(np.stack([starts + grid.argmin(axis=2), starts + grid.argmax(axis=2)], axis=2), axis=2)
    ends = np.broadcast_to([0, size - 1], (lines, 2))
    inner = pairs.reshape(lines, -1).clip(max=size - 1)
    chosen = np.concatenate([ends[:, :1], inner, ends[:, 1:]], axis=1)
    return x[chosen], np.take_along_axis(rows, chosen, axis=1)


def thin_together(
    lines: Sequence[tuple[FloatArray, FloatArray]], most: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Thin many lines, all at once if they share even steps and have no gaps."""
    steps = lines[0][0] if lines else np.empty(0)
    if steps.size > most and all(np.array_equal(x, steps) for x, _ in lines) and is_even(steps):
        rows = np.stack([y for _, y in lines])
        if np.isfinite(rows).all():
            return list(zip(*thin_rows(steps, rows, most), strict=True))
    return [thin(x, y, most) for x, y in lines]


def _round_to_half_pixels(y: FloatArray) -> FloatArray:
    """Round heights of bands and runs, whose pale edges show no more, to what takes fewer bytes."""
    rounded: FloatArray = np.rint(y / _HALF_PIXEL) * _HALF_PIXEL
    return rounded


def _find_stretches(y: FloatArray) -> list[slice]:
    """Return the slices of consecutive finite numbers."""
    known = np.isfinite(y)
    if known.all():
        return [slice(0, y.size)] if y.size else []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.view(np.int8), [0]])))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _write_stretch(x: FloatArray, y: FloatArray) -> str:
    points: IntArray = np.rint(np.column_stack([x, y]).clip(-_FARTHEST, _FARTHEST)).astype(np.int64)
    first = points[0]
    if len(points) == 1:
        return f"M{first[0]} {first[1]}h0"
    steps = " ".join(map(str, np.diff(points, axis=0).ravel().tolist())).replace(" -", "-")
    return f"M{first[0]} {first[1]}l{steps}"


class LinePaths(Struct, frozen=True):
    """SVG path data of one series, in drawing units; empty if there is nothing to draw."""

    band: str
    runs: str
    raw: str
    line: str


def positions(axis: Axis, values: FloatArray) -> FloatArray:
    """Return the positions of values on an axis: 0 to 1 over its domain, NaN below a log axis."""
    low, high = axis.domain
    if axis.scale not in LOGS:
        with np.errstate(over="ignore"):
            return (values - low) / (high - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(values > 0, np.log(values), np.nan)
    placed: FloatArray = (logs - np.log(low)) / (np.log(high) - np.log(low))
    return placed


def make_line_paths(plot: Plot, width: int = PIXELS_WIDE) -> tuple[LinePaths, ...]:
    """Make the path data of a plot's lines, in order, for a fluid picture or one ``width`` pixels wide."""

    def place(y_axis: Axis, steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Steps that a log axis cannot show are dropped, such values become NaN.
        x = (positions(plot.x, steps) + line.shift) * (width * UNITS_A_PIXEL)
        shown = np.isfinite(x)
        return x[shown], (1 - positions(y_axis, values[..., shown])) * (plot.height * UNITS_A_PIXEL)

    paths = []
    for line in plot.lines:
        axis = plot.get_y(line)
        x, y = place(axis, line.steps, line.values)
        band = runs = ""
        if plot.band != "none" and np.isfinite(line.low).any():
            # A band that extends below the domain of a log axis starts at the bottom of the plot.
            low = np.where(line.low <= 0, axis.domain[0], line.low) if axis.scale == "log" else line.low
            write = write_whisker_path if plot.whiskers or line.bars else write_band_path
            band = write(x, *(place(axis, line.steps, end)[1] for end in (low, line.high)))
        steps = line.runs[0].steps if line.runs else line.steps
        share_steps = all(run.steps is steps or np.array_equal(run.steps, steps) for run in line.runs)
        if not plot.whiskers and line.runs and share_steps:
            across, down = place(axis, steps, np.stack([run.values for run in line.runs]))
            if across.size > _RUN_POINTS and np.isfinite(down).all() and is_even(across):
                # Thin and write runs with the same even steps together.
                thinned = np.stack(thin_rows(across, _round_to_half_pixels(down), _RUN_POINTS), axis=2)
                points = np.rint(thinned.clip(-_FARTHEST, _FARTHEST)).astype(np.int64)
                moves = np.diff(points, axis=1).reshape(len(points), -1).tolist()
                rows = zip(points[:, 0].tolist(), moves, strict=True)
                parts = (f"M{h} {v}l{' '.join(map(str, row))}" for (h, v), row in rows)
                runs = "".join(parts).replace(" -", "-")
        if not runs:
            aside = RUNS_ASIDE * UNITS_A_PIXEL if plot.whiskers else 0
            placed = (place(axis, run.steps, run.values) for run in line.runs)
            pale = (thin(x + aside, _round_to_half_pixels(y), _RUN_POINTS) for x, y in placed)
            runs = "".join(write_line_path(*run) for run in pale)
        raw = "" if line.raw is None else write_line_path(*thin(*place(axis, line.steps, line.raw)))
        paths.append(LinePaths(band, runs, raw, write_line_path(*thin(x, y))))
    return tuple(paths)
