"""Changed numbers in words: values, intervals, differences and verdicts, in the digits they deserve.

Numbers of a review are finite, but nothing else is certain of them: a file may hold 1e308, a p of -5, or an
interval that ends before it begins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reportgen.core.words import (
    choose_decimals,
    choose_percent_decimals,
    format_nonzero,
    format_number,
    format_p,
)

if TYPE_CHECKING:
    from reportgen.review.model import Count, Delta, Estimate, NumberChange

_MOST_COUNTED: Final = 10**12
# Shares beyond are no shares, and decimals of larger or finer numbers are written with an exponent.
_MOST_SHARE, _LARGEST, _FINEST = 1e6, 1e9, 1e-5
_GOOD: Final = {True: ", better", False: ", worse", None: ""}


def clamp_count(count: Count) -> int:
    """A count that can be written."""
    return min(count, _MOST_COUNTED)


def half_width(of: Estimate | Delta | None) -> float | None:
    """Half an interval, 0 or more; None where there is none."""
    if of is None or of.low is None or of.high is None:
        return None
    return abs(of.high / 2 - of.low / 2)


def measure_effect(number: NumberChange) -> float | None:
    """How many half-widths of its interval a difference has; None where there is no interval."""
    half = half_width(number.delta)
    if number.delta is None or half is None:
        return None
    return abs(number.delta.value) / half if half else math.copysign(math.inf, abs(number.delta.value))


def format_estimate(number: NumberChange, estimate: Estimate) -> str:
    """A value with its interval: ``28.0 % [17.0, 42.0]``."""
    half = _find_half(number)
    value = _format_value(number, estimate.value, half)
    unit = " %" if is_share(number) else ""
    if estimate.low is None or estimate.high is None:
        return f"{value}{unit}"
    low, high = (_format_value(number, end, half) for end in sorted((estimate.low, estimate.high)))
    return f"{value}{unit} [{low}, {high}]"


def format_change(number: NumberChange) -> str:
    """Both values: ``28.0 → 32.0 %``; empty where there is none."""
    half = _find_half(number)
    sides = [one for one in (number.before, number.after) if one]
    values = [_format_value(number, one.value, half) for one in sides]
    return f"{' → '.join(values)}{' %' if values and is_share(number) else ''}"


def format_delta(number: NumberChange) -> str:
    """The difference with its interval: ``+4.0 points [−1.0, +9.0]``; empty where there is none."""
    delta = number.delta
    if delta is None:
        return ""
    half = _find_half(number)
    unit = " points" if is_share(number) else ""
    value = f"{_format_difference(number, delta.value, half)}{unit}"
    if delta.low is None or delta.high is None:
        return value
    low, high = (_format_difference(number, end, half) for end in sorted((delta.low, delta.high)))
    return f"{value} [{low}, {high}]"


def format_adjusted_p(number: NumberChange) -> str:
    """The p value after the adjustment for all tests of the change; empty where there is none."""
    p = number.delta.p_adjusted if number.delta else None
    return format_p(p) if p is not None and 0 <= p <= 1 else ""


def format_verdict(number: NumberChange) -> str:
    """The verdict: ``higher, better``, ``unclear``."""
    differs = number.verdict in {"higher", "lower"}
    return f"{number.verdict}{_GOOD[number.good] if differs else ''}"


def is_share(number: NumberChange) -> bool:
    """Whether a number is shown in percent and its difference in points."""
    return number.percent and all(abs(value) < _MOST_SHARE for value in _list_values(number))


def _list_values(number: NumberChange) -> list[float]:
    estimates = [one for one in (number.before, number.after, number.delta) if one]
    ends = [end for one in estimates for end in (one.value, one.low, one.high)]
    return [end for end in ends if end is not None]


def _find_half(number: NumberChange) -> float | None:
    """What decides the digits: half the interval of the difference, or of a value, or the difference."""
    halves = (half_width(one) for one in (number.delta, number.after, number.before))
    size = abs(number.delta.value) if number.delta else None
    return next((half for half in (*halves, size) if half), None)


def _choose_decimals(number: NumberChange, half: float | None) -> int | None:
    if is_share(number):
        return choose_percent_decimals(half)
    fits = half is not None and half > _FINEST and max(map(abs, _list_values(number))) < _LARGEST
    return choose_decimals(half) if fits else None


def _format_value(number: NumberChange, value: float, half: float | None) -> str:
    scale = 100 if is_share(number) else 1
    return format_number(value * scale, decimals=_choose_decimals(number, half))


def _format_difference(number: NumberChange, value: float, half: float | None) -> str:
    decimals, share = _choose_decimals(number, half), is_share(number)
    if decimals is None:
        return format_number(value, signed=True)
    return format_nonzero(value * 100 if share else value, decimals=decimals, signed=True)
