"""What a browser needs to make a picture live: compiled views, columns of numbers, and links to a state.

The view is driven by signals (``x_domain``, ``x_ticks``, ``colours`` and so on), so that all figures of
one shape share it; the payload holds the signals' values and the data.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from reportgen.figures.axis import count_decimals
from reportgen.figures.picture import get_dash
from reportgen.figures.style import SYMBOL_PATHS, SYMBOLS, get_colour
from reportgen.figures.vega.specification import list_label_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.model import FloatArray
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, Plot, RunLine, SeriesLine


_RUN_LEVELS = 1024
"""Thin run lines are shown, never read out: a thousandth of the y range is under half a pixel."""
_FARTHEST = 2**40
_NO_DIFFERENCE = 1e-6
"""In these levels; a value so far outside the plot may as well stand here."""


def compile_view(specification: str) -> str:
    """The compiled Vega specification of a shape (Vega-Lite as JSON), its variable parts as signals."""
    from reportgen.figures.render import compile_to_vega  # noqa: PLC0415 - starts an engine

    vega = compile_to_vega(json.loads(specification))
    vega.pop("$schema")
    vega["padding"] = {"signal": "margins"}
    for scale in vega["scales"]:
        _set_scale_signal(scale)
    for axis in vega["axes"]:
        _set_axis_signals(axis)
    for mark in vega["marks"]:
        _set_clip_signal(mark)
    signals = (*_SCALE_SIGNALS.values(), *_AXIS_SIGNALS, "keys", "margins", "clip")
    vega["signals"] = [{"name": name} for name in dict.fromkeys(signals)]
    return write_compact_json(vega)


@lru_cache(maxsize=64)  # figures of one shape share their view
def name_view(specification: str) -> str:
    """A short name of a view, made of the Vega-Lite specification that it is compiled from."""
    return hashlib.sha256(specification.encode()).hexdigest()[:12]


def write_compact_json(value: object) -> str:
    """JSON without spaces, keys sorted; refuses NaN."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False, ensure_ascii=False)


def build_payload(plot: Plot, *, band_name: str) -> dict[str, Any]:
    """The signals and columns of a plot; see ``site/assets/live.js`` for who reads them.

    Steps that several lines share stand once in ``xs``, even ones as start, step and count. Means and
    intervals are rounded to a hundred-thousandth of the y range, runs to a thousandth of it as
    differences. A gap is null.
    """
    steps = _Steps()
    low, high = plot.y.domain
    unit = (high - low) / _RUN_LEVELS
    decimals = max(0, 5 - math.floor(math.log10(high - low)))
    series = [_build_series(plot, line, steps, decimals, unit) for line in plot.lines]
    return {
        "x": _build_axis(plot.x),
        "y": _build_axis(plot.y),
        "margins": asdict(plot.margins),
        "height": plot.height,
        "clip": plot.clip,
        "symbols": plot.symbols,
        "band": band_name,
        "series": series,
        "xs": steps.columns,
        "run_unit": unit,
        "ends": [{"text": end.text, "y": end.y} for end in plot.ends],
        "references": _list_marks(plot.references),
        "annotations": _list_marks(plot.annotations),
    }


class _Steps:
    """Columns of steps, each kept once."""

    def __init__(self) -> None:
        self.columns: list[Any] = []
        self._known: dict[bytes, int] = {}

    def add(self, steps: FloatArray) -> int:
        key = steps.tobytes()
        if key not in self._known:
            self._known[key] = len(self.columns)
            self.columns.append(_write_even_steps(steps) or [_shorten_whole(step) for step in steps.tolist()])
        return self._known[key]


def _write_even_steps(steps: FloatArray) -> dict[str, Any] | None:
    if steps.size < 3:  # noqa: PLR2004 - two numbers are shorter than their rule
        return None
    by = float(steps[1] - steps[0])
    start = float(steps[0])
    if by.is_integer() and start.is_integer() and (np.diff(steps) == by).all():
        return {"from": _shorten_whole(start), "by": _shorten_whole(by), "count": int(steps.size)}
    return None


def _build_series(plot: Plot, line: SeriesLine, steps: _Steps, decimals: int, unit: float) -> dict[str, Any]:
    known = np.isfinite(line.low)
    n = line.n.tolist()
    read = count_decimals(plot.y)
    row: dict[str, Any] = {
        "name": line.name,
        "colour": get_colour(line.slot),
        "muted": line.slot is None,
        "dash": list(get_dash(plot, line)) or [1, 0],
        "shape": SYMBOL_PATHS[SYMBOLS[line.slot or 0]],
        "x": steps.add(line.steps),
        "y": round_values(line.values, decimals, read),
        "n": n[0] if n and len(set(n)) == 1 else n,
    }
    if known.any():
        row["low"], row["high"] = (round_values(end, decimals, read) for end in (line.low, line.high))
    if line.raw is not None:
        row["raw"] = round_values(line.raw, decimals, read)
    if line.runs:
        row["runs"] = [_build_run(run, steps, unit, plot.y.domain[0]) for run in line.runs]
    return row


def _build_run(run: RunLine, steps: _Steps, unit: float, base: float) -> dict[str, Any]:
    """``q`` holds differences of (value - y domain's start) / ``run_unit``, rounded; a gap is null."""
    known = np.isfinite(run.values)
    with np.errstate(over="ignore"):
        levels = np.rint(((run.values[known] - base) / unit).clip(-_FARTHEST, _FARTHEST)).astype(np.int64)
    differences: list[int | None] = np.diff(levels, prepend=0).tolist()
    if not known.all():
        rest = iter(differences)
        differences = [next(rest) if here else None for here in known.tolist()]
    return {"name": run.name, "x": steps.add(run.steps), "q": differences}


def _list_marks(marks: Iterable[Mark]) -> list[dict[str, Any]]:
    return [{"x": mark.x, "y": mark.y, "text": mark.text} | list_label_fields(mark) for mark in marks]


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
    """Values as a list, rounded to ``decimals`` places; not a number becomes None.

    A value that this would put into the very middle of two numbers of ``read`` places, which it is read out
    with, is left as it is: rounded twice, it could read otherwise than in the data table.
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
    """An integral float as an int: shorter in JSON."""
    return int(number) if number.is_integer() and abs(number) < 1e15 else number  # noqa: PLR2004 - exact below


_SCALE_SIGNALS = {
    "x": "x_domain",
    "y": "y_domain",
    "color": "colours",
    "fill": "colours",
    "strokeDash": "dashes",
    "shape": "shapes",
}
_AXIS_SIGNALS = ("x_title", "x_ticks", "x_format", "y_title", "y_title_x", "y_ticks", "y_format")


_INSIDE = "inrange(datum.step, x_domain) && inrange(datum.value, y_domain) ? 1 : 0"


def _set_scale_signal(scale: dict[str, Any]) -> None:
    signal = {"signal": _SCALE_SIGNALS[scale["name"]]}
    if scale["name"] in {"x", "y"}:
        scale["domain"] = signal
    else:
        scale["domain"], scale["range"] = {"signal": "keys"}, signal


def _set_clip_signal(mark: dict[str, Any]) -> None:
    if mark["name"] == "points_marks":
        # A symbol at the edge of the plot is shown whole, one beyond it not at all.
        del mark["clip"]
        mark["encode"]["update"]["opacity"] = {"signal": _INSIDE}
    elif mark.get("clip"):
        mark["clip"] = {"signal": "clip"}
    for inner in mark.get("marks", ()):
        _set_clip_signal(inner)


def _set_axis_signals(axis: dict[str, Any]) -> None:
    name = axis["scale"]
    # Vega moves axes half a pixel and ticks to whole ones; the static picture does not.
    axis["translate"], axis["tickRound"] = 0, False
    axis["values"] = {"signal": f"{name}_ticks"}
    if not axis.get("grid"):
        axis["title"] = {"signal": f"{name}_title"}
        axis["format"] = {"signal": f"{name}_format"}
        if name == "y":
            axis["titleX"] = {"signal": "y_title_x"}


_LARGEST_WHOLE = 2**53


def write_link_state(
    figure: str,
    series: Sequence[str] = (),
    x: tuple[float, float] | None = None,
    mark: tuple[float, str] | None = None,
) -> str:
    """The fragment of a link to a state of a figure: ``scores~series=MEL,GRPO~x=100..140~mark=120@MEL``.

    ``site/assets/live-state.js`` reads it. Names are percent-encoded, so none of the marks between the parts
    can stand in one; only the parts that are given are written, in this order. Series that are not named
    fade; ``mark`` is the step and the series of the point to mark. In panels the figure is the panel.

    Raises:
        ValueError: a step is not finite.
    """
    parts = [_name(figure)]
    if series:
        parts.append("series=" + ",".join(map(_name, series)))
    if x is not None:
        parts.append("x=" + "..".join(map(_number, x)))
    if mark is not None:
        step, name = mark
        parts.append(f"mark={_number(step)}@{_name(name)}")
    return "~".join(parts)


def _name(name: str) -> str:
    # A lone surrogate cannot be encoded; a tilde, which parts the parts, never is unless asked.
    return quote(name.encode("utf-8", "replace"), safe="").replace("~", "%7E")


def _number(value: float) -> str:
    if not math.isfinite(value):
        msg = f"a link cannot name the step {value}"
        raise ValueError(msg)
    if float(value).is_integer() and abs(value) <= _LARGEST_WHOLE:
        return str(int(value))
    return repr(float(value))
