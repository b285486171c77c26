"""The path data of a plot's lines and bands: the same for the fluid picture and the one of fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.axis import LOGS
from reportgen.figures.path import is_even, thin, thin_rows, write_band_path, write_line_path, write_rows_path

if TYPE_CHECKING:
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Plot, RunLine, SeriesLine
    from reportgen.model import FloatArray

PIXELS_WIDE = 600
"""Width of the plot in a picture of its own; the fluid one has as many drawing units and is stretched."""
UNITS_A_PIXEL = 4
_RUN_POINTS = 160


@dataclass(frozen=True, slots=True)
class LinePaths:
    """SVG path data of one series, in drawing units; empty where there is nothing to draw."""

    band: str
    runs: str
    raw: str
    line: str


def make_line_paths(plot: Plot) -> tuple[LinePaths, ...]:
    """The path data of each line of a plot, in its order: the same for both kinds of picture."""
    return tuple(_make_paths(plot, line) for line in plot.lines)


def positions(axis: Axis, values: FloatArray) -> FloatArray:
    """Where values stand on an axis, 0 to 1 over its domain; not positive on a log axis is NaN."""
    low, high = axis.domain
    if axis.scale not in LOGS:
        with np.errstate(over="ignore"):
            return (values - low) / (high - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(values > 0, np.log(values), np.nan)
    placed: FloatArray = (logs - np.log(low)) / (np.log(high) - np.log(low))
    return placed


def _make_paths(plot: Plot, line: SeriesLine) -> LinePaths:
    x, y = _place_points(plot, line.steps, line.values)
    band = ""
    if plot.band != "none" and np.isfinite(line.low).any():
        low, high = (
            _place_points(plot, line.steps, end)[1] for end in (_raise_low_end(plot.y, line.low), line.high)
        )
        band = write_band_path(x, low, high)
    return LinePaths(
        band=band,
        runs=_make_runs_path(plot, line.runs),
        raw="" if line.raw is None else write_line_path(*thin(*_place_points(plot, line.steps, line.raw))),
        line=write_line_path(*thin(x, y)),
    )


def _make_runs_path(plot: Plot, runs: tuple[RunLine, ...]) -> str:
    """All runs of a series in one path; runs that share even steps are thinned and written together."""
    if not runs:
        return ""
    steps = runs[0].steps
    if all(run.steps is steps or np.array_equal(run.steps, steps) for run in runs):
        x, y = _place_points(plot, steps, np.stack([run.values for run in runs]))
        if x.size > _RUN_POINTS and np.isfinite(y).all() and is_even(x):
            return write_rows_path(*thin_rows(x, y, _RUN_POINTS))
    placed = (_place_points(plot, run.steps, run.values) for run in runs)
    return "".join(write_line_path(*thin(*run, _RUN_POINTS)) for run in placed)


def _place_points(plot: Plot, steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points in drawing units; a step that a log axis cannot show is left out, such a value is NaN."""
    x = positions(plot.x, steps) * (PIXELS_WIDE * UNITS_A_PIXEL)
    shown = np.isfinite(x)
    return x[shown], (1 - positions(plot.y, values[..., shown])) * (plot.height * UNITS_A_PIXEL)


def _raise_low_end(axis: Axis, low: FloatArray) -> FloatArray:
    """A band that reaches below what a log axis can show is drawn from its foot."""
    if axis.scale != "log":
        return low
    shown: FloatArray = np.where(low <= 0, axis.domain[0], low)
    return shown
