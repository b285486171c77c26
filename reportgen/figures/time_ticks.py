"""Round moments for the ticks of a time axis, in UTC, and the words at them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple

from reportgen.figures.d3_format import to_moment

_SECOND, _MINUTE, _HOUR = 1_000.0, 60_000.0, 3_600_000.0
DAY = 24 * _HOUR
"""A day in milliseconds."""

_MONTH = 30.44 * DAY
# Milliseconds, and months where a step is not always as long.
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


class TimeTicks(NamedTuple):
    """Ticks in milliseconds since 1970, their d3-time-format, and the one for moments read out."""

    values: tuple[float, ...]
    format: str
    read_format: str


def choose_time_ticks(low: float, high: float, count: int) -> TimeTicks:
    """About ``count`` round moments from ``low`` to ``high``; at times of day, days, months or years.

    Raises:
        OverflowError: an end is outside the years 1 to 9999.
    """
    first, last = to_moment(low), to_moment(high)
    ideal = (high - low) / max(1, count)
    step, months = min(_STEPS, key=lambda choice: abs(math.log(choice[0] / ideal)))
    if months:
        words = "%Y" if months >= _MONTHS_A_YEAR else "%b %Y"
        return TimeTicks(_list_month_starts(low, high, first, months), words, "%Y-%m-%d")
    values = tuple(index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1))
    if step >= DAY:
        return TimeTicks(values, "%b %d", "%Y-%m-%d")
    clock = "%H:%M:%S.%L" if step < _SECOND else "%H:%M:%S" if step < _MINUTE else "%H:%M"
    one_day = first.date() == last.date()
    return TimeTicks(values, clock if one_day else f"%b %d {clock}", f"%Y-%m-%d {clock}")


def _list_month_starts(low: float, high: float, first: datetime, months: int) -> tuple[float, ...]:
    start = math.ceil((first.year * 12 + first.month - 1) / months) * months
    starts = (_month_start(index) for index in range(start, _LAST_MONTH + 1, months))
    ticks = []
    for tick in starts:
        if tick > high:
            break
        if tick >= low:
            ticks.append(tick)
    return tuple(ticks)


def _month_start(index: int) -> float:
    return datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC).timestamp() * 1000
