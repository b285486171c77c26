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


# A level of runs is half a pixel in a picture of 320; means and intervals stay sharp when zoomed in.
_RUN_LEVELS, _LEVELS = 640, 10_000
# Limit for values far outside the plot, in these levels.
_FARTHEST = 2**40
# Whole numbers have fewer than 16 digits below it.
_EXACT = 1e15
_HALF = 0.5 + 1e-9  # a half that floats made a little smaller is a half, too
# Characters that JSON and HTML need not escape; those of the second half say that another one follows.
_CHARACTERS = "".join(chr(code) for code in range(35, 126) if chr(code) not in "&'<>\\")
_BASE, _GAP = len(_CHARACTERS) // 2, "!"
_LETTERS = np.frombuffer(_CHARACTERS.encode(), np.uint8)


def build_payload(plot: Plot, *, band_name: str) -> dict[str, Any]:
    """Build the signals and columns of a plot for ``site/assets/live.js``.

    ``xs`` holds each column of steps once, even ones as start, distance and count. Values are rounded to
    evenly spaced levels of their axis and stored as packed differences: those of runs to a 640th of the range
    or finer (``run_levels``), others to a ten-thousandth (``levels``). If ``run_exact``, they read as the
    values themselves. On axes whose values have no fixed number of decimal places, only runs are packed.
    """
    steps = _Steps()
    series = [_build_series(plot, line, steps) for line in plot.lines]
    references, annotations = (
        [_list_mark_fields(mark) for mark in marks] for marks in (plot.references, plot.annotations)
    )
    right = plot.right
    at_right = {"right": _build_axis(right) | _build_levels(right)} if right else {}
    return at_right | {
        "x": _build_axis(plot.x),
        "y": _build_axis(plot.y) | _build_levels(plot.y),
        "margins": asdict(plot.margins),
        "height": plot.height,
        "clip": plot.clip,
        "symbols": plot.symbols,
        "band": band_name,
        "series": series,
        "xs": steps.columns,
        "run_exact": all(count_decimals(axis) is not None for axis in (plot.y, right) if axis),
        "ends": [end.list_fields() for end in plot.ends],
        "references": references,
        "annotations": annotations,
    }


def _list_mark_fields(mark: Mark) -> dict[str, Any]:
    row: dict[str, Any] = {"x": mark.x, "y": mark.y, "text": mark.text}
    return row | ({"series": mark.series} if mark.series else {}) | list_label_fields(mark)


def _build_levels(axis: Axis) -> dict[str, tuple[float, float]]:
    return {"levels": _choose_levels(axis, _LEVELS), "run_levels": _choose_levels(axis, _RUN_LEVELS)}


def _choose_levels(axis: Axis, count: int) -> tuple[float, float]:
    """Return the start and the distance of at least ``count`` levels that values are rounded to.

    If values are read with a number of decimal places, an odd number of levels stands for one of the last:
    then rounding twice reads as rounding once.
    """
    (low, high), read = axis.domain, count_decimals(axis)
    unit = (high - low) / count
    if read is None:
        return low, unit
    place = 10.0**-read
    return math.floor(low / place) * place, place / (2 * math.ceil((place / unit - 1) / 2) + 1)


def _count_levels(values: FloatArray, levels: tuple[float, float]) -> FloatArray:
    """Return the nearest level of each value as a whole number, halves away from zero; NaN stays."""
    start, unit = levels
    with np.errstate(over="ignore"):
        heights = ((values - start) / unit).clip(-_FARTHEST, _FARTHEST)
    return np.where(values < 0, np.ceil(heights - _HALF), np.floor(heights + _HALF))


def _difference(whole: FloatArray) -> FloatArray:
    """Return each number less the one before it that is known."""
    known = np.isfinite(whole)
    made = whole.copy()
    made[known] = np.diff(whole[known], prepend=0)
    return made


def pack_numbers(whole: FloatArray) -> str:
    """Pack whole numbers into a string, which ``unpack`` in ``site/assets/live-data.js`` reads; NaN is a gap.

    A number is doubled, its sign becomes the last bit, and it is written in digits of base 43, the last
    first, as the differences in source maps are.
    """
    gaps = np.isnan(whole)
    known = np.where(gaps, 0, whole)
    rest = 2 * np.abs(known).astype(np.int64) + (known < 0)
    digits = [rest % _BASE]
    follows = [rest >= _BASE]
    while follows[-1].any():
        rest = rest // _BASE
        digits.append(rest % _BASE)
        follows.append(rest >= _BASE)
    more = np.stack(follows, axis=1)
    letters = _LETTERS[np.stack(digits, axis=1) + _BASE * more]
    letters[gaps, 0] = ord(_GAP)
    # A number ends with the first digit that no other follows.
    written = np.insert(more[:, :-1], 0, values=True, axis=1)
    return letters[written].tobytes().decode()


class _Steps:
    """Columns of steps, without duplicates; evenly spaced ones as start, distance and count."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self._known: dict[bytes, int] = {}

    def add(self, steps: FloatArray) -> int:
        key = steps.tobytes()
        if key not in self._known:
            self._known[key] = len(self.columns)
            column: Any = [_shorten_number(step) for step in steps.tolist()]
            if steps.size >= 3 and np.abs(steps[[0, -1]]).max() < _EXACT:  # noqa: PLR2004 - two are shorter
                start, by = float(steps[0]), float(steps[-1] - steps[0]) / (steps.size - 1)
                even = [_shorten_number(start + by * i) for i in range(steps.size)]
                if even == column:
                    column = {"from": column[0], "by": _shorten_whole(by), "count": len(column)}
            self.columns.append(column)
        return self._known[key]


def _build_series(plot: Plot, line: SeriesLine, steps: _Steps) -> dict[str, Any]:
    n, axis = line.n.tolist(), plot.get_y(line)
    row: dict[str, Any] = {
        "name": line.name,
        "colour": get_colour(line.slot),
        "muted": line.slot is None,
        "dash": list_dash(plot, line),
        "shape": SYMBOL_PATHS[get_symbol(line)],
        "x": steps.add(line.steps),
        "n": n[0] if n and len(set(n)) == 1 else n,
    }
    if line.dash is not None:
        row["line"] = line.dash
    if line.right:
        row["right"] = True
    if plot.whiskers:
        row["shift"] = line.shift
    values = {"y": line.values}
    if np.isfinite(line.low).any():
        values |= {"low": line.low, "high": line.high}
    if line.raw is not None:
        values["raw"] = line.raw
    row |= _pack_columns(values, axis)
    levels = _choose_levels(axis, _RUN_LEVELS)
    for run in line.runs:
        packed = pack_numbers(_difference(_count_levels(run.values, levels)))
        named = {"name": run.name} | ({"seed": run.seed} if run.seed is not None else {})
        row.setdefault("runs", []).append(named | {"x": steps.add(run.steps), "q": packed})
    return row


def _pack_columns(values: dict[str, FloatArray], axis: Axis) -> dict[str, Any]:
    """Pack the columns of a series.

    The high end is packed as its distance to the middle, the low end as what that distance exceeds its own
    by, which is 0 or 1 for symmetric intervals.
    """
    if count_decimals(axis) is None:
        low, high = axis.domain
        decimals = max(0, 5 - math.floor(math.log10(high - low)))
        return {name: round_values(column, decimals) for name, column in values.items()}
    whole = {name: _count_levels(column, _choose_levels(axis, _LEVELS)) for name, column in values.items()}
    packed: dict[str, Any] = {
        name: pack_numbers(_difference(whole[name])) for name in ("y", "raw") if name in whole
    }
    if "low" in whole:
        above, below = whole["high"] - whole["y"], whole["y"] - whole["low"]
        packed |= {"high": pack_numbers(_difference(above)), "low": pack_numbers(above - below)}
    return packed


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


def round_values(values: FloatArray, decimals: int) -> list[float | None]:
    """Return values as a list, rounded to ``decimals`` places; NaN becomes None."""
    return [number if math.isfinite(number) else None for number in np.round(values, decimals).tolist()]


def _shorten_whole(number: float) -> float:
    """Convert an integral float to an int, which is shorter in JSON."""
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _shorten_number(number: float) -> float:
    """Round to 15 digits, as ``live-data.js`` rounds evenly spaced steps, so that equal steps stay equal."""
    return _shorten_whole(number) if number.is_integer() else float(f"{number:.15g}")
