"""The numbers of a figure for ``site/assets/live.js``, as few bytes as read the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import asdict

from reportgen.figures.axis import count_decimals
from reportgen.figures.live import list_dash, list_label_fields
from reportgen.figures.picture import get_symbol
from reportgen.figures.style import SYMBOL_PATHS, get_colour

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot, SeriesLine


# A thousandth of the y range is under half a pixel.
_RUN_LEVELS = 1024
# Limit for values far outside the plot, in these levels.
_FARTHEST = 2**40
_HALF = 0.5 + 1e-9  # a half that floats made a little smaller is rounded up, too
_NO_DIFFERENCE = 1e-6


def build_payload(plot: Plot, *, band_name: str) -> dict[str, Any]:
    """Build the signals and columns of a plot for ``site/assets/live.js``.

    ``xs`` holds each column of steps once, even ones as start, step and count. Means and intervals are
    rounded to a hundred-thousandth of the y range; runs are stored as differences, rounded to a thousandth or
    finer (``run_from``, ``run_unit``). If ``run_exact``, they read as the values themselves. A gap is null.
    """
    steps = _Steps()
    series = [_build_series(plot, line, steps) for line in plot.lines]
    references, annotations = (
        [_list_mark_fields(mark) for mark in marks] for marks in (plot.references, plot.annotations)
    )
    right = plot.right
    at_right = {"right": _build_axis(right) | _build_run_levels(right)} if right else {}
    return at_right | {
        "x": _build_axis(plot.x),
        "y": _build_axis(plot.y),
        "margins": asdict(plot.margins),
        "height": plot.height,
        "clip": plot.clip,
        "symbols": plot.symbols,
        "band": band_name,
        "series": series,
        "xs": steps.columns,
        **_build_run_levels(plot.y),
        "run_exact": all(count_decimals(axis) is not None for axis in (plot.y, right) if axis),
        "ends": [{"text": end.text, "y": end.y} for end in plot.ends],
        "references": references,
        "annotations": annotations,
    }


def _list_mark_fields(mark: Mark) -> dict[str, Any]:
    row: dict[str, Any] = {"x": mark.x, "y": mark.y, "text": mark.text}
    return row | ({"series": mark.series} if mark.series else {}) | list_label_fields(mark)


def _build_run_levels(axis: Axis) -> dict[str, float]:
    start, unit = _choose_run_levels(axis)
    return {"run_from": start, "run_unit": unit}


def _choose_run_levels(axis: Axis) -> tuple[float, float]:
    """Return the start and the distance of the levels that values of runs are rounded to.

    If values are read with a number of decimal places, an odd number of levels stands for one of the last:
    then rounding twice reads as rounding once.
    """
    (low, high), read = axis.domain, count_decimals(axis)
    unit = (high - low) / _RUN_LEVELS
    if read is None:
        return low, unit
    place = 10.0**-read
    return math.floor(low / place) * place, place / (2 * math.ceil((place / unit - 1) / 2) + 1)


class _Steps:
    """Columns of steps, without duplicates; evenly spaced integers as start, step and count."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self._known: dict[bytes, int] = {}

    def add(self, steps: FloatArray) -> int:
        key = steps.tobytes()
        if key not in self._known:
            self._known[key] = len(self.columns)
            column: Any = [_shorten_whole(step) for step in steps.tolist()]
            if steps.size >= 3:  # noqa: PLR2004 - two numbers are shorter than their rule
                start, by = float(steps[0]), float(steps[1] - steps[0])
                if by.is_integer() and start.is_integer() and (np.diff(steps) == by).all():
                    column = {"from": column[0], "by": _shorten_whole(by), "count": len(column)}
            self.columns.append(column)
        return self._known[key]


def _build_series(plot: Plot, line: SeriesLine, steps: _Steps) -> dict[str, Any]:
    n, axis = line.n.tolist(), plot.get_y(line)
    (low, high), (start, unit) = axis.domain, _choose_run_levels(axis)
    read, decimals = count_decimals(axis), max(0, 5 - math.floor(math.log10(high - low)))
    row: dict[str, Any] = {
        "name": line.name,
        "colour": get_colour(line.slot),
        "muted": line.slot is None,
        "dash": list_dash(plot, line),
        "shape": SYMBOL_PATHS[get_symbol(line)],
        "x": steps.add(line.steps),
        "y": round_values(line.values, decimals, read),
        "n": n[0] if n and len(set(n)) == 1 else n,
    }
    if line.dash is not None:
        row["line"] = line.dash
    if line.right:
        row["right"] = True
    if np.isfinite(line.low).any():
        row["low"], row["high"] = (round_values(end, decimals, read) for end in (line.low, line.high))
    if line.raw is not None:
        row["raw"] = round_values(line.raw, decimals, read)
    for run in line.runs:
        # ``q`` holds differences of (value - ``run_from``) / ``run_unit``, rounded; a gap is null.
        known = np.isfinite(run.values)
        with np.errstate(over="ignore"):
            heights = (run.values[known] - start) / unit
            whole = np.floor(heights.clip(-_FARTHEST, _FARTHEST) + _HALF).astype(np.int64)
        rest = iter(np.diff(whole, prepend=0).tolist())
        differences = [next(rest) if here else None for here in known.tolist()]
        row.setdefault("runs", []).append({"name": run.name, "x": steps.add(run.steps), "q": differences})
    return row


def _build_axis(axis: Axis) -> dict[str, Any]:
    how = ({"unit": axis.unit} if axis.unit else {}) | ({"symbol": True} if axis.symbol else {})
    return how | {
        "title": axis.title,
        "scale": axis.scale,
        "domain": list(axis.domain),
        "ticks": list(axis.ticks),
        "format": axis.format,
        "read": axis.read_format,
    }


def round_values(values: FloatArray, decimals: int, read: int | None = None) -> list[float | None]:
    """Return values as a list, rounded to ``decimals`` places; NaN becomes None.

    A value that rounding would put halfway between two numbers of ``read`` places is not rounded: rounded
    twice, it could differ from the data table.
    """
    short = np.round(values, decimals)
    if read is not None and read < decimals:
        halves = short * (2 * 10.0**read)
        nearest = np.rint(halves)
        middle = (np.abs(halves - nearest) < _NO_DIFFERENCE) & (nearest % 2 == 1)
        short = np.where(middle, values, short)
    numbers: list[float] = short.tolist()
    if np.isfinite(values).all():
        return list(numbers)
    return [number if math.isfinite(number) else None for number in numbers]


def _shorten_whole(number: float) -> float:
    """Convert an integral float to an int, which is shorter in JSON."""
    return int(number) if number.is_integer() and abs(number) < 1e15 else number  # noqa: PLR2004 - exact below
