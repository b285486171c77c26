"""Axes: domain, round ticks and their labels, chosen once for the static picture and the live view."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

ScaleKind: TypeAlias = Literal["linear", "log", "time"]

_SI_FROM = 100_000.0
_EXPONENT_BELOW = 1e-4
_DAY = 86_400_000.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot.

    Attributes:
        title: what it shows, with the unit.
        scale: ``linear``, ``log`` (base 10) or ``time`` (milliseconds since 1970 UTC).
        domain: first and last value shown.
        ticks: values that get a tick, inside the domain, rising.
        labels: the words at the ticks.
        format: the d3 format (d3-time-format on a time axis) that makes the same words in a browser.
        read_format: the d3 format for values read out, one or two digits finer than the ticks.
    """

    title: str
    scale: ScaleKind
    domain: tuple[float, float]
    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    format: str
    read_format: str


def linear_axis(title: str, low: float, high: float, *, count: int, pad: float = 0.0) -> Axis:
    """A linear axis over ``low`` to ``high``, widened on both sides by ``pad`` of the range.

    A range of zero width is widened by a tenth of the value, so that a constant is drawn in the middle.
    """
    if low == high:
        spread = abs(low) * 0.1 or 1.0
        low, high = low - spread, high + spread
    room = (high - low) * pad
    low, high = low - room, high + room
    step = tick_step(low, high, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(_clean(index * step, step) for index in range(first, last + 1))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    spec = _number_format(max(abs(low), abs(high)), decimals)
    return Axis(
        title=title,
        scale="linear",
        domain=(low, high),
        ticks=ticks,
        labels=tuple(format_number(tick, spec) for tick in ticks),
        format=spec,
        read_format=_read_format(high - low),
    )


def log_axis(title: str, low: float, high: float) -> Axis:
    """A base-10 log axis; ``low`` must be positive. Ticks at powers, with 2 and 5 on a short range."""
    if low == high:
        low, high = low / 2, high * 2
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = last - first
    stride = max(1, math.ceil(decades / 6))
    heads = (1, 2, 5) if decades <= 2 else (1,)  # noqa: PLR2004 - two decades or fewer
    candidates = (head * 10.0**power for power in range(first, last + 1, stride) for head in heads)
    ticks = tuple(tick for tick in candidates if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9))
    spec = "~e" if last > 5 or first < -3 else ",.6~f"  # noqa: PLR2004 - beyond that zeros are hard to count
    return Axis(
        title=title,
        scale="log",
        domain=(low, high),
        ticks=ticks,
        labels=tuple(format_number(tick, spec) for tick in ticks),
        format=spec,
        read_format=".4~g",
    )


def time_axis(title: str, low: float, high: float, *, count: int) -> Axis:
    """A time axis in UTC over milliseconds since 1970."""
    if low == high:
        low, high = low - _DAY / 2, high + _DAY / 2
    ticks, spec = _time_ticks(low, high, count)
    labels = tuple(_moment(tick).strftime(spec) for tick in ticks)
    return Axis(
        title, "time", (low, high), ticks, labels, spec, "%Y-%m-%d %H:%M" if spec[1] in "HMS" else "%Y-%m-%d"
    )


def tick_step(low: float, high: float, count: int) -> float:
    """The round distance of about ``count`` ticks: 1, 2 or 5 times a power of ten, as in d3-array."""
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    ratio = raw / power
    factor = (
        10 if ratio >= math.sqrt(50) else 5 if ratio >= math.sqrt(10) else 2 if ratio >= math.sqrt(2) else 1
    )
    return factor * power


def position(axis: Axis, value: float) -> float:
    """Where ``value`` stands on the axis: 0 at the start of its domain, 1 at the end."""
    low, high = axis.domain
    if axis.scale == "log":
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    return (value - low) / (high - low)


def format_number(value: float, spec: str) -> str:
    """Format as d3-format does for the specifiers that axes use, with U+2212 as the minus sign."""
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    size = abs(value)
    if spec == "~s":
        return sign + _si(size)
    if spec == "~e":
        mantissa, exponent = f"{size:.6e}".split("e")
        return f"{sign}{_trim(mantissa)}e{int(exponent):+d}"
    if spec.endswith("~f"):
        return sign + _trim(f"{size:{spec.replace('~', '')}}")
    text = f"{size:{spec.replace('~', '')}}"
    return text if not text.strip("0.,") else sign + text


def format_value(axis: Axis, value: float) -> str:
    """A value read out along this axis, as the live view's tooltip says it."""
    if axis.scale == "time":
        return _moment(value).strftime(axis.read_format)
    return format_number(value, axis.read_format)


def _number_format(largest: float, decimals: int) -> str:
    if largest >= _SI_FROM:
        return "~s"
    if 0 < largest < _EXPONENT_BELOW:
        return "~e"
    return f",.{decimals}f"


def _read_format(spread: float) -> str:
    """Digits that tell apart a thousandth of the range shown."""
    decimals = max(0, 3 - math.floor(math.log10(spread) + 1e-9) - 1) if spread > 0 else 3
    return ".4~g" if decimals > 6 else f",.{decimals}f"  # noqa: PLR2004 - past six decimals, exponents


def _clean(value: float, step: float) -> float:
    digits = max(0, 1 - math.floor(math.log10(step)))
    return round(value, digits) + 0.0


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _si(value: float) -> str:
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{_trim(f'{value / size:.6f}')}{letter}"
    return _trim(f"{value:.6f}")


def _moment(milliseconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


_STEPS: tuple[tuple[float, str], ...] = (
    (1_000, "%H:%M:%S"), (5_000, "%H:%M:%S"), (15_000, "%H:%M:%S"), (30_000, "%H:%M:%S"),
    (60_000, "%H:%M"), (300_000, "%H:%M"), (900_000, "%H:%M"), (1_800_000, "%H:%M"),
    (3_600_000, "%H:%M"), (10_800_000, "%H:%M"), (21_600_000, "%H:%M"), (43_200_000, "%b %d"),
    (_DAY, "%b %d"), (2 * _DAY, "%b %d"), (7 * _DAY, "%b %d"), (14 * _DAY, "%b %d"),
)  # fmt: skip
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def _time_ticks(low: float, high: float, count: int) -> tuple[tuple[float, ...], str]:
    wanted = (high - low) / max(1, count)
    for step, spec in _STEPS:
        if step >= wanted:
            first = math.ceil(low / step)
            return tuple(i * step for i in range(first, math.floor(high / step) + 1)), spec
    months = next((m for m in _MONTHS if m * 30.44 * _DAY >= wanted), _MONTHS[-1])
    start = _moment(low)
    index = math.ceil((start.year * 12 + start.month - 1) / months) * months
    ticks: list[float] = []
    while (tick := _month_start(index)) <= high:
        if tick >= low:
            ticks.append(tick)
        index += months
    return tuple(ticks), "%Y" if months >= 12 else "%b %Y"  # noqa: PLR2004 - months in a year


def _month_start(index: int) -> float:
    moment = datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000
