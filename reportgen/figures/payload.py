"""The numbers of a figure for ``site/assets/live.js``, as few bytes as read the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import asdict

from reportgen.figures.picture import get_dash, get_symbol
from reportgen.figures.style import SYMBOL_PATHS, get_colour

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot, SeriesLine


# With more values than this in lines and runs, they are packed.
_MOST_EXACT = 2_000
_TOLERANCE = 1e-6  # relative error of packed values
_MOST_DECIMALS, _LARGEST_SCALED = 9, 2.0**40
_BITS_CUT = 32  # 21 significant bits of a double remain, with a relative error below 5e-7
# Whole numbers have fewer than 16 digits below it.
_EXACT = 1e15
# Digits of whole numbers, 6 bits each.
_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
_DIGIT_BITS = 6


def build_payload(plot: Plot, *, band_name: str) -> dict[str, Any]:
    """Build the signals and columns of a plot for ``site/assets/live.js``.

    ``xs`` holds each column of steps once (``_Steps``). Up to 2,000 values of
    lines and runs are sent as they are. More are packed: as they are if they are short decimals, otherwise
    with a relative error of at most 1e-6.
    """
    steps = _Steps()
    count = sum(line.values.size + sum(run.values.size for run in line.runs) for line in plot.lines)
    series = [_build_series(plot, line, steps, packed=count > _MOST_EXACT) for line in plot.lines]
    references, annotations = (
        [_list_mark_fields(mark) for mark in marks] for marks in (plot.references, plot.annotations)
    )
    extra: dict[str, Any] = {"right": _build_axis(plot.right)} if plot.right else {}
    return (
        extra
        | ({"strip": plot.strip.lines[0].name} if plot.strip else {})
        | {
            "x": _build_axis(plot.x),
            "y": _build_axis(plot.y),
            "margins": asdict(plot.margins),
            "height": plot.height,
            "clip": plot.clip,
            "symbols": plot.symbols,
            "band": band_name,
            "series": series,
            "xs": steps.columns,
            "ends": [end.list_fields() for end in plot.ends],
            "references": references,
            "annotations": annotations,
        }
    )


def list_dash(plot: Plot, line: SeriesLine) -> list[float]:
    """Return the lengths of a line's dashes and gaps in pixels."""
    return list(get_dash(plot, line)) or [1, 0]


def list_label_fields(mark: Mark) -> dict[str, Any]:
    """Return a mark's axis and label as fields of its row: ``right, text, short, align, dx, dy, from, to``.

    ``right`` is omitted on the left axis, ``short`` if equal to ``text``, and ``from`` and ``to`` without a
    leader. A label that does not fit and a horizontal line have no fields but ``right``.
    """
    label, where = mark.label, {"right": True} if mark.right else {}
    if label is None:
        return where
    align = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
    row: dict[str, Any] = where | {"text": label.text, "align": align, "dx": label.dx, "dy": label.dy}
    row |= {"short": label.short} if label.short != label.text else {}
    return row | (dict(zip(("from", "to"), label.leader, strict=True)) if label.leader else {})


def _list_mark_fields(mark: Mark) -> dict[str, Any]:
    row: dict[str, Any] = {"x": mark.x, "y": mark.y, "text": mark.text}
    return row | ({"series": mark.series} if mark.series else {}) | list_label_fields(mark)


def _pack_column(values: FloatArray) -> tuple[list[Any], FloatArray]:
    """Pack values, and return what they are read back as; NaN is a gap.

    A column is ``[decimals, first, digits]`` of values times a power of ten if these are whole, which is
    exact, or ``[null, first, digits]`` of their doubles' upper 32 bits, whichever is shorter.
    ``first`` is the first number and ``digits`` the differences between them (``_write_differences``).
    """
    known = np.isfinite(values)
    whole = _cut_doubles(values)
    rounded = _write_differences(whole)
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = np.rint(values * 10.0**decimals)
        if (np.abs(scaled[known]) > _LARGEST_SCALED).any():
            break
        if (scaled[known] / 10.0**decimals == values[known]).all():
            first, digits = _write_differences(scaled)
            if len(digits) <= len(rounded[1]):
                return [decimals, first, digits], values
            break
    return [None, *rounded], _restore_doubles(whole)


def _write_differences(whole: FloatArray) -> tuple[int, str]:
    """Return the first known number, and each one's difference to the known one before, in base 64.

    A difference is doubled and its sign becomes the last bit; it is one more than that, so that 0 is a gap.
    All last digits come first, then all before, and so on, which compresses best.
    """
    known = np.isfinite(whole)
    first = whole[known][:1]
    steps = np.diff(whole[known], prepend=first).astype(np.int64)
    rest = np.zeros(whole.size, np.int64)
    rest[known] = 2 * np.abs(steps) + (steps < 0) + 1
    planes: list[str] = []
    while not planes or rest.any():
        planes.append(_DIGITS[rest % (1 << _DIGIT_BITS)].tobytes().decode())
        rest >>= _DIGIT_BITS
    return int(first.sum()), " ".join(planes)


def _cut_doubles(values: FloatArray) -> FloatArray:
    """Return the first bits of each double as a whole number with the value's sign, which rises with it."""
    bits = (np.abs(values).view(np.int64) + (1 << (_BITS_CUT - 1))) >> _BITS_CUT
    largest = np.array(np.finfo(np.float64).max).view(np.int64) >> _BITS_CUT
    return np.where(np.isfinite(values), np.copysign(np.minimum(bits, largest), values), np.nan)


def _restore_doubles(whole: FloatArray) -> FloatArray:
    bits = np.abs(np.nan_to_num(whole)).astype(np.int64) << _BITS_CUT
    return np.where(np.isnan(whole), np.nan, np.copysign(bits.view(np.float64), whole))


class _Steps:
    """Columns of steps, without duplicates: even ones as start, distance and count, short decimals packed."""

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
                packed, _ = _pack_column(steps)
                if even == column:
                    column = {"from": column[0], "by": _shorten_whole(by), "count": len(column)}
                elif packed[0] is not None:  # exact
                    column = packed
            self.columns.append(column)
        return self._known[key]


def _build_series(plot: Plot, line: SeriesLine, steps: _Steps, *, packed: bool) -> dict[str, Any]:
    n = line.n.tolist()
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
    if plot.whiskers or any(other.bars for other in plot.lines):
        row["shift"] = line.shift
    if line.bars:
        row["bars"] = True
    columns = {"y": line.values}
    if np.isfinite(line.low).any():
        columns |= {"low": line.low, "high": line.high}
    if line.raw is not None:
        columns["raw"] = line.raw
    write = _pack_column if packed else _list_column
    runs = [write(run.values) for run in line.runs]
    if packed and (spread := _find_spread(line, [read for _, read in runs])) is not None:
        row["spread"] = spread
        columns = {name: values for name, values in columns.items() if name == "raw"}
    row |= {name: write(values)[0] for name, values in columns.items()}
    for run, (values, _) in zip(line.runs, runs, strict=True):
        named = {"name": run.name} | ({"seed": run.seed} if run.seed is not None else {})
        row.setdefault("runs", []).append(named | {"x": steps.add(run.steps), "y": values})
    return row


def _list_column(values: FloatArray) -> tuple[list[Any], FloatArray]:
    numbers = values.tolist()
    return [_shorten_whole(number) if math.isfinite(number) else None for number in numbers], values


def _find_spread(line: SeriesLine, runs: list[FloatArray]) -> float | None:
    """Return the ratio of the band's half width to the standard deviation of the runs as they are read back.

    Returns None unless the runs' mean and this ratio give the line and its band, which then need not be sent.
    """
    if len(runs) < 2 or any(not np.array_equal(run.steps, line.steps) for run in line.runs):  # noqa: PLR2004
        return None
    values = np.array(runs)
    wide = (values != values[0]).any(axis=0)
    if not (np.isfinite(values).all() and np.array_equal(wide, np.isfinite(line.low)) and wide.any()):
        return None
    middle, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
    ratio = float(np.median((line.high - line.low)[wide] / deviation[wide])) / 2
    ends = ((line.low, -ratio), (line.high, ratio))
    pairs = [(middle, line.values), *(((middle + by * deviation)[wide], end[wide]) for end, by in ends)]
    same = all(np.allclose(read, given, rtol=_TOLERANCE, atol=0.0) for read, given in pairs)
    return ratio if same else None


def _build_axis(axis: Axis) -> dict[str, Any]:
    how: dict[str, Any] = {"unit": axis.unit} if axis.unit else {}
    how |= {"symbol": True} if axis.symbol else {}
    how |= {"auto": True} if axis.left_out else {}
    how |= {"read": axis.read_format} if axis.precision is None else {"decimals": axis.precision}
    return how | {
        "title": axis.title,
        "scale": axis.scale,
        "domain": list(axis.domain),
        "ticks": list(axis.ticks),
        "format": axis.format,
    }


def _shorten_whole(number: float) -> float:
    """Convert an integral float to an int, which is shorter in JSON."""
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _shorten_number(number: float) -> float:
    """Round to 15 digits, as ``live-data.js`` rounds evenly spaced steps, so that equal steps stay equal."""
    return _shorten_whole(number) if number.is_integer() else float(f"{number:.15g}")
