"""Facts to words: a value in its unit, a step, and a whole fact with its evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.core.statements import Quantity
from reportgen.core.words import (
    MINUS,
    choose_decimals,
    choose_percent_decimals,
    format_equation,
    format_moment,
    format_nonzero,
    format_number,
    format_p,
    format_percent,
    format_step,
)

if TYPE_CHECKING:
    from reportgen.core.statements import Fact, Scale


_SHARE = (0.0, 1.0)
# Units of a length of time in milliseconds, largest first.
_DURATIONS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))
# Facts that are no smaller than 0: a plus sign would say nothing.
_SIZES = {"widest_gap", "volatility", "band_width"}
# Facts whose call says where they are.
_PLACED = {"at", "gap", "band_width", "mean"}
# More digits than these are an exponent's, not an interval's.
_MOST_DECIMALS = 12


def format_quantity(
    value: float, quantity: Quantity, scale: Scale, *, decimals: int | None = None, signed: bool = True
) -> str:
    """A value with its unit: ``0.84``, ``62.1 %``, ``+3.2 points``, ``step 120``, ``40 steps``, ``< 0.001``.

    Values between bounds of 0 and 1 are told in percent, their differences in points, with one decimal;
    where the data write percentages the sign stands behind them as they are; all others have four
    significant digits. What is inside the bounds never seems to reach them, a difference never seems to be
    0 if it is not, and a p value stays on its side of 0.05.

    Args:
        value: a finite number, or a truth.
        quantity: what it is.
        scale: what it means.
        decimals: digits after the point, as they are written, with the percent sign too.
        signed: a plus sign before a positive difference.

    Raises:
        ValueError: if ``value`` is not finite.
    """
    match quantity:
        case Quantity.TRUTH:
            said = "true" if value else "false"
        case Quantity.VALUE:
            said = f"{_value(value, scale, decimals)}{_get_unit(quantity, scale)}"
        case Quantity.DIFFERENCE:
            said = f"{_difference(value, scale, decimals, signed=signed)}{_get_unit(quantity, scale)}"
        case Quantity.STEP:
            said = describe_step(value, scale)
        case Quantity.STEPS:
            said = _format_steps(value, scale, decimals)
        case Quantity.PROBABILITY:
            said = (
                format_p(value)
                if decimals is None
                else format_number(value, decimals=decimals, within=_SHARE)
            )
        case Quantity.NUMBER:
            said = format_number(value, decimals=decimals)
    return said


def describe_step(step: float, scale: Scale) -> str:
    """A step in a sentence: ``step 120``, ``iteration 900``; on a time axis ``2024-05-03``, in UTC.

    Raises:
        ValueError: if ``step`` is not finite.
    """
    if scale.step_is_time:
        return (format_moment(step) or f"{format_number(step)} milliseconds").replace("T", " ")
    return format_step(step, scale.step_name or "step")


def describe_position(step: float, scale: Scale) -> str:
    """Where something is: ``at step 120``, ``on 2024-05-03``, ``at 2024-05-03 12:30``."""
    said = describe_step(step, scale)
    return f"on {said}" if scale.step_is_time and " " not in said else f"at {said}"


def describe_fact(fact: Fact, scale: Scale) -> str:
    """A fact with its evidence, without a full stop.

    ``peak(MEL) = 0.84 at step 120``, ``score(Aspen) = 61.0 % [50.2, 71.1]``, ``p_value(A, B) < 0.001``,
    ``better(A, B) is true at step 200: difference +0.03 [+0.01, +0.05], adjusted p = 0.012``,
    ``better(A, B) cannot be decided: 1 run of A``, ``steps_to(A, 0.9) has no value: A never reaches 0.9``.
    Value and interval share the digits that the interval deserves.
    """
    if fact.value is None:
        why = "cannot be decided" if fact.quantity is Quantity.TRUTH else "has no value"
        return f"{fact.call} {why}: {fact.reason}"
    if fact.quantity is Quantity.TRUTH:
        said = f"{fact.call} is {'true' if fact.value else 'not true'}"
    else:
        said = format_equation(fact.call, format_fact_interval(fact, scale))
    note = f": {fact.note}" if fact.note else ""
    return f"{said}{_format_place(fact, scale)}{note}"


def format_quantity_interval(value: float, low: float, high: float, quantity: Quantity, scale: Scale) -> str:
    """A value or difference with its interval, both in the digits that the interval deserves."""
    decimals = _choose_decimals(value, low, high, scale)
    unit = _get_unit(quantity, scale)
    ends = (
        format_quantity(end, quantity, scale, decimals=decimals).removesuffix(unit) for end in (low, high)
    )
    return f"{format_quantity(value, quantity, scale, decimals=decimals)} [{', '.join(ends)}]"


def format_fact_interval(fact: Fact, scale: Scale) -> str:
    """What a fact found, with its interval: ``0.84 [0.82, 0.86]``, ``step 120``; empty without a value."""
    if fact.value is None or fact.low is None or fact.high is None:
        return format_fact_value(fact, scale)
    return format_quantity_interval(float(fact.value), fact.low, fact.high, fact.quantity, scale)


def format_fact_value(fact: Fact, scale: Scale) -> str:
    """What a fact found, alone: ``0.84``, ``+3.2 points``, ``step 120``, ``true``; empty without a value."""
    if fact.value is None:
        return ""
    return format_quantity(float(fact.value), fact.quantity, scale, signed=fact.name not in _SIZES)


def _format_place(fact: Fact, scale: Scale) -> str:
    if fact.quantity is Quantity.STEP or fact.name in _PLACED:
        return ""
    if fact.step is not None:
        return f" {describe_position(fact.step, scale)}"
    if fact.name == "crossings" and fact.from_step is not None and fact.to_step is not None:
        first, last = (describe_step(step, scale) for step in (fact.from_step, fact.to_step))
        return f" between {first} and {last}"
    return ""


def _get_unit(quantity: Quantity, scale: Scale) -> str:
    if not (scale.percent or scale.bounds == _SHARE):
        return ""
    return " %" if quantity is Quantity.VALUE else " points"


def _value(value: float, scale: Scale, decimals: int | None) -> str:
    if scale.bounds == _SHARE and not scale.percent:
        return format_percent(value, decimals=1 if decimals is None else decimals).removesuffix("%")
    return format_number(value, decimals=decimals, within=scale.bounds)


def _difference(value: float, scale: Scale, decimals: int | None, *, signed: bool) -> str:
    if scale.bounds == _SHARE and not scale.percent:
        value, decimals = value * 100, 1 if decimals is None else decimals
    return format_nonzero(value, decimals=decimals, signed=signed)


def _format_steps(value: float, scale: Scale, decimals: int | None) -> str:
    if not scale.step_is_time:
        count, unit = format_number(value, significant=6, decimals=decimals), scale.step_name or "step"
    else:
        size, unit = next((one for one in _DURATIONS if abs(value) >= one[0]), (1, "millisecond"))
        count = format_number(value / size, decimals=decimals)
    return f"{count} {unit}" if count in {"1", f"{MINUS}1"} else f"{count} {unit}s"


def _choose_decimals(value: float, low: float, high: float, scale: Scale) -> int | None:
    """Decimals by the interval's half width; None where four significant digits have to do."""
    half = (high - low) / 2
    if scale.bounds == _SHARE and not scale.percent:
        return choose_percent_decimals(half)
    if scale.bounds is not None:
        return choose_decimals(half)
    if not half > 0 or "e" in format_number(max(abs(low), abs(high), abs(value))):
        return None
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return decimals if decimals <= _MOST_DECIMALS else None
