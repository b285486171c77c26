"""Axes: domain, round ticks and labels, shared by the static picture and the live view."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.digits import Precision, find_decimals, needs_exponent
from reportgen.figures.number_format import format_d3, format_time, make_formatter, to_moment

if TYPE_CHECKING:
    from collections.abc import Callable


ScaleKind: TypeAlias = Literal["linear", "log", "log2", "time"]
LOGS = frozenset({"log", "log2"})
"""Log scales; the base affects only the ticks."""

_SECOND, _MINUTE, _HOUR = 1_000.0, 60_000.0, 3_600_000.0
DAY = 24 * _HOUR
"""A day in milliseconds."""

_MONTH = 30.44 * DAY
# Tick distances in milliseconds, and in months if their lengths vary.
_STEPS = (
    *((n, 0) for n in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)),
    *((n * _SECOND, 0) for n in (1, 2, 5, 15, 30)),
    *((n * _MINUTE, 0) for n in (1, 2, 5, 15, 30)),
    *((n * _HOUR, 0) for n in (1, 3, 6, 12)),
    *((n * DAY, 0) for n in (1, 2, 7, 14)),
    *((n * _MONTH, n) for n in (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)),
)
_MONTHS_A_YEAR = 12
_LAST_MONTH = 12 * 9999 + 11

SI = "~s"
"""The d3 format of large ticks, such as 20k."""
BILLIONS = "replace(datum.label, 'G', 'B')"
"""The label of such a tick in Vega: 7B parameters, not 7G."""

_SI_FROM = 1e5
_SI_STEP = 1e-3
_EXPONENT_FROM, _EXPONENT_BELOW = 1e15, 1e-4
_DIGITS = 15
"""Significant decimal digits that a double always holds."""
_SMALLEST_RANGE = 1e-12
_SMALLEST, _LARGEST = 1e-300, 1e300
"""Differences beyond these sizes may overflow or underflow."""
_FEWEST_LOG_TICKS = 3
_MOST_LOG2_TICKS = 12
# Tolerance for ticks at the ends of the axis.
_ROUNDING = 1e-9


class Axis(Struct, frozen=True):
    """Axis of a plot; domain and ticks are in the same unit."""

    title: str
    scale: ScaleKind  # log is base 10, time is milliseconds since 1970 UTC
    domain: tuple[float, float]
    ticks: tuple[float, ...]  # inside the domain, ascending
    labels: tuple[str, ...]
    format: str  # d3 format (d3-time-format on a time axis) of the tick labels, for the browser
    read_format: str  # format of single values, one or two digits finer than the ticks
    unit: str = ""  # suffix of single values, including its space; not for ticks and intervals
    symbol: bool = False  # whether the title is a symbol, as in "k = 8" rather than "step 8"
    precision: Precision | None = None  # of single values as written, instead of read_format
    left_out: int = 0  # values of lines that ``y_domain: auto`` does not show

    @property
    def percent(self) -> bool:
        """Whether shares are written as percentages."""
        return self.format.endswith("%")


def make_linear_axis(
    title: str, low: float, high: float, *, count: int, pad: float = 0.0, whole: bool = False
) -> Axis:
    """Make a linear axis from ``low`` to ``high``, padded on both sides by ``pad`` of the range.

    If ``whole`` is True, ticks are whole numbers only, as for steps. A range within rounding error is widened
    by a tenth of the value, so that a constant is drawn in the middle.
    """
    low, high = (min(_LARGEST, max(-_LARGEST, end)) for end in (low, high))
    size = max(abs(low), abs(high))
    if high - low <= max(size * _SMALLEST_RANGE, _SMALLEST):
        spread = size * 0.1 if size > _SMALLEST else 1.0
        low, high = low - spread, high + spread
    room = (high - low) * pad
    low, high = low - room, high + room
    ticks, step = _round_values(low, high, count, least=1.0 if whole else 0.0)
    largest = max(abs(low), abs(high))
    # Values get digits down to between a hundredth and a thousandth of the domain.
    place = _exponent(high - low) - 2
    if largest >= _EXPONENT_FROM or largest < _EXPONENT_BELOW:
        read_format = f".{min(_exponent(largest) - place, _DIGITS)}~e"
    else:
        read_format = f",.{max(0, min(-place, _DIGITS - 1 - _exponent(largest)))}f"
    return _make_axis(title, "linear", (low, high), ticks, _choose_tick_format(largest, step), read_format)


def make_log_axis(title: str, low: float, high: float) -> Axis:
    """Make a base-10 log axis; ``low`` must be positive.

    Ticks are powers of ten, with 2 and 5 on a short range, or evenly spaced round values if too few of these
    are inside.
    """
    if low == high:
        low, high = low / 2, high * 2
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(first, last + 1, max(1, math.ceil((last - first) / 6)))
    for heads in ((1,), (1, 2, 5)):
        round_numbers = (float(f"{head}e{power}") for power in powers for head in heads)
        ticks = tuple(n for n in round_numbers if low * (1 - _ROUNDING) <= n <= high * (1 + _ROUNDING))
        if len(ticks) >= _FEWEST_LOG_TICKS:
            spec = "~e" if ticks[-1] >= _SI_FROM * 10 or ticks[0] < _EXPONENT_BELOW else ",.6~f"
            break
    else:
        ticks, step = _round_values(low, high, 5)
        spec = _choose_tick_format(high, step)
    readable = low >= _EXPONENT_BELOW and high < _EXPONENT_FROM
    return _make_axis(title, "log", (low, high), ticks, spec, ",.4~r" if readable else ".3~e")


def make_log2_axis(title: str, low: float, high: float) -> Axis:
    """Make a base-2 log axis of counts; ``low`` must be at least 1.

    Ticks are powers of two, thinned if there are many, or whole numbers if fewer than three powers are
    inside.
    """
    if low == high:
        low, high = low / 2, high * 2
    first, last = math.ceil(math.log2(max(1.0, low)) - _ROUNDING), math.floor(math.log2(high) + _ROUNDING)
    stride = 1 + max(0, last - first) // _MOST_LOG2_TICKS
    ticks = tuple(2.0**power for power in range(first, last + 1, stride))
    if len(ticks) < _FEWEST_LOG_TICKS:
        ticks, _ = _round_values(max(1.0, low), high, 5, least=1.0)
    return _make_axis(title, "log2", (low, high), ticks, ",.0f", ",.0f")


def make_time_axis(title: str, low: float, high: float, *, count: int) -> Axis:
    """Make a UTC time axis over milliseconds since 1970, with ticks at clock times, days, months or years.

    Raises an ``OverflowError`` if an end is outside the years 1 to 9999.
    """
    if low == high:
        low, high = low - DAY / 2, high + DAY / 2
    first, last = to_moment(low), to_moment(high)
    ideal = (high - low) / max(1, count)
    step, months = min(_STEPS, key=lambda choice: abs(math.log(choice[0] / ideal)))
    if months:
        start = math.ceil((first.year * 12 + first.month - 1) / months) * months
        starts = (
            datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC).timestamp() * 1000
            for index in range(start, _LAST_MONTH + 1, months)
        )
        ticks = tuple(tick for tick in takewhile(lambda tick: tick <= high, starts) if tick >= low)
        spec, read_format = "%Y" if months >= _MONTHS_A_YEAR else "%b %Y", "%Y-%m-%d"
    else:
        ticks = tuple(index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1))
        clock = "%H:%M:%S.%L" if step < _SECOND else "%H:%M:%S" if step < _MINUTE else "%H:%M"
        spec, read_format = clock if first.date() == last.date() else f"%b %d {clock}", f"%Y-%m-%d {clock}"
        if step >= DAY:
            spec, read_format = "%b %d", "%Y-%m-%d"
    return _make_axis(title, "time", (low, high), ticks, spec, read_format)


def _make_axis(  # noqa: PLR0917 - the fields of an axis in their order
    title: str,
    scale: ScaleKind,
    domain: tuple[float, float],
    ticks: tuple[float, ...],
    spec: str,
    read_format: str,
) -> Axis:
    """Make an axis with labels for its ticks."""
    write = format_time if scale == "time" else format_d3
    labels = tuple(write(tick, spec) for tick in ticks)
    if spec == SI:
        labels = tuple(label.replace("G", "B") for label in labels)
    return Axis(title, scale, domain, ticks, labels, spec, read_format)


_PLACES = re.compile(r",?\.(\d+)~?f")


def choose_axis_decimals(low: float, high: float) -> int:
    """Return the decimals down to between a hundredth and a thousandth of a range; −1 stands for tens."""
    return min(2 - _exponent(high - low), _DIGITS - 1 - _exponent(max(abs(low), abs(high))))


def use_percent(axis: Axis) -> Axis:
    """Return the axis with its numbers in percent: ``84%`` for 0.84. The domain stays as it is."""

    def convert(spec: str, most: int) -> str:
        match = _PLACES.fullmatch(spec)
        return f",.{max(0, int(match[1]) - 2) if match else most}{'~' if '~' in spec else ''}%"

    written = convert(axis.format, 6)
    labels = tuple(format_d3(tick, written) for tick in axis.ticks)
    return replace(axis, labels=labels, format=written, read_format=convert(axis.read_format, 2))


def tick_step(low: float, high: float, count: int) -> float:
    """Return the round step for about ``count`` ticks: 1, 2 or 5 times a power of ten, as in d3-array."""
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    ratio = raw / power
    return next((n for n, least in ((10, 50), (5, 10), (2, 2)) if ratio >= math.sqrt(least)), 1) * power


def position(axis: Axis, value: float) -> float:
    """Return the position of ``value`` on the axis: 0 at the start of its domain, 1 at the end.

    Values that a log axis cannot show are at minus infinity.
    """
    low, high = axis.domain
    if axis.scale in LOGS:
        if value <= 0:
            return -math.inf
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    return (value - low) / (high - low)


def format_value(axis: Axis, value: float) -> str:
    """Format a value without an interval as the live view's tooltip does."""
    return format_estimate(axis, value)[0]


def format_estimate(
    axis: Axis, value: float, low: float = math.nan, high: float = math.nan
) -> tuple[str, str]:
    """Format a value and its interval, whose ends have no unit: ``30.2%`` and ``[29.7, 30.7]``.

    The interval is "" without finite ends.
    """
    known = math.isfinite(low) and math.isfinite(high)
    write = _make_writer(axis, value, low, high) if axis.precision is not None else make_reader(axis)
    ends = f"[{', '.join(write(end).removesuffix('%') for end in (low, high))}]" if known else ""
    return write(value), ends


def _make_writer(axis: Axis, value: float, low: float, high: float) -> Callable[[float], str]:
    """Return a function that formats a value and the ends of its interval with the same last digit."""
    factor = 100 if axis.percent else 1
    half = (high - low) / 2 * factor
    decimals = find_decimals(value * factor, axis.precision or Precision(0, 0), half, percent=axis.percent)
    if axis.percent or not needs_exponent(value, low, high):
        return make_formatter(f",.{max(0, decimals)}{'%' if axis.percent else 'f'}")

    def write(number: float) -> str:
        digits = decimals + _exponent(abs(number)) if number else -1
        return format_d3(number, f".{digits}{'' if half > 0 else '~'}e") if digits >= 0 else "0"

    return write


def make_reader(axis: Axis) -> Callable[[float], str]:
    """Return a function that formats values of this axis, for formatting many."""
    if axis.precision is not None:
        return partial(format_value, axis)
    if axis.scale == "time":
        return partial(format_time, specifier=axis.read_format)
    return make_formatter(axis.read_format)


def _round_values(low: float, high: float, count: int, least: float = 0.0) -> tuple[tuple[float, ...], float]:
    """Return the multiples of a round step inside the range, and the step, which is at least ``least``."""
    step = max(least, tick_step(low, high, count))
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    places = 1 - _exponent(step)
    return tuple(round(index * step, places) + 0.0 for index in range(first, last + 1)), step


def _choose_tick_format(largest: float, step: float) -> str:
    """Return the format with the fewest digits that distinguish ticks, with exponents for long numbers."""
    place = _exponent(step)
    if largest >= _EXPONENT_FROM or largest < _EXPONENT_BELOW:
        return f".{min(_exponent(largest) - place, _DIGITS)}~e"
    if largest >= _SI_FROM and step >= largest * _SI_STEP:
        return SI
    return f",.{max(0, -place)}f"


def _exponent(size: float) -> int:
    return math.floor(math.log10(size) + _ROUNDING)
