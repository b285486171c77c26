"""Facts in words: a value with its unit, steps, names, and a whole fact with its evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from reportgen.claims.language import Name, get_text, parse
from reportgen.core.digits import choose_decimals, choose_percent_decimals
from reportgen.core.statements import Quantity
from reportgen.core.words import (
    MINUS,
    format_equation,
    format_moment,
    format_nonzero,
    format_number,
    format_p,
    format_percent,
    format_step,
    join_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.language import Call
    from reportgen.core.statements import Fact, Scale


_SHARE = (0.0, 1.0)
# Units of duration in milliseconds, largest first.
_DURATIONS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))
# Facts that are never below 0: a plus sign would say nothing.
_SIZES = {"widest_gap", "volatility", "band_width", "sd", "noise"}
# Facts with their position in the call.
_PLACED = {"at", "gap", "band_width", "mean", "last"}
# What is said of a fact before its value, for readers; ``{0}`` and ``{1}`` are its arguments.
_HEADS = {
    "start": "{0} starts at",
    "final": "{0} ends at",
    "peak": "The best value of {0} is",
    "peak_step": "{0} is best at",
    "trough": "The worst value of {0} is",
    "trough_step": "{0} is worst at",
    "at": "{0} has",
    "mean": "The mean of {0} is",
    "last": "The mean of the last {1} readings of {0} is",
    "best_by": "Chosen by {1}, {0} has",
    "sd": "The standard deviation across runs of {0} is",
    "n": "The number of runs of {0} is",
    "steps_to": "{0} reaches {1} at",
    "gap": "{0} − {1} is",
    "widest_gap": "{0} and {1} are furthest apart by",
    "widest_gap_step": "{0} and {1} are furthest apart at",
    "crossings": "The number of lead changes between {0} and {1} is",
    "volatility": "The volatility of {0} is",
    "band_width": "The width of the band of {0} is",
    "attempts": "The number of attempts of {0} is",
    "best_of": "The best attempt of {0} has",
    "noise": "The noise between repetitions in {0} is",
    "gain": "The gain of the best attempt of {0} is",
    "score": "{0} scores",
    "low": "The lower end of the interval of {0} is",
    "high": "The upper end of the interval of {0} is",
    "missing": "The number of answers of {0} that are left out is",
    "infrastructure": "The number of answers of {0} lost to infrastructure is",
    "lower_bound": "The lower bound of {0} is",
    "upper_bound": "The upper bound of {0} is",
    "rank": "The rank of {0} is",
    "best_rank": "The best rank left to {0} is",
    "worst_rank": "The worst rank left to {0} is",
    "group": "The group of {0} is",
    "tier": "The group of {0} is",
    "difference": "{0} − {1} is",
    "flips": "The number of problems mostly right for {0} and mostly wrong for {1} is",
    "p_value": "The difference of {0} and {1} has p",
}
# What is said of a fact that is true, and of one that is not.
_VERDICTS = {
    "beyond_luck": ("The gain of {0} is beyond luck", "The gain of {0} is not shown to be beyond luck"),
    "better": ("{0} is better than {1}", "{0} is not shown to be better than {1}"),
    "unclear": ("{0} and {1} are not distinguishable", "{0} and {1} are distinguishable"),
    "tied": ("{0} and {1} are not distinguishable", "{0} and {1} are distinguishable"),
    "equivalent": ("{0} and {1} are equivalent", "{0} and {1} are not shown to be equivalent"),
}
# With more decimals than this, four significant digits are shown.
_MOST_DECIMALS = 12
_MOST_IN_HEAD = 3


def format_quantity(
    value: float, quantity: Quantity, scale: Scale, *, decimals: int | None = None, signed: bool = True
) -> str:
    """Format a value with its unit: ``62.1%``, ``+3.2 points``, ``step 120``, ``40 steps``, ``< 0.001``.

    Values between bounds of 0 and 1 are written in percent, their differences in points, with one decimal; if
    the data are percentages they get the sign as they are; all others have four significant digits. What is
    inside the bounds never seems to reach them, a nonzero difference never seems to be 0, and a p value stays
    on its side of 0.05. ``decimals`` is the number of digits after the point as displayed, also for
    percentages; ``signed`` puts a plus sign before a positive difference. A value that is not finite raises
    ``ValueError``.
    """
    in_percent = scale.bounds == _SHARE and not scale.percent
    if in_percent and decimals is None and quantity in {Quantity.VALUE, Quantity.DIFFERENCE}:
        decimals = 1
    match quantity:
        case Quantity.TRUTH:
            return "true" if value else "false"
        case Quantity.VALUE if in_percent:
            words = format_percent(value, decimals=decimals or 0).removesuffix("%")
        case Quantity.VALUE:
            words = format_number(value, decimals=decimals, within=scale.bounds)
        case Quantity.DIFFERENCE:
            words = format_nonzero(value * (100 if in_percent else 1), decimals=decimals, signed=signed)
        case Quantity.STEP:
            return describe_step(value, scale)
        case Quantity.STEPS:
            return _format_steps(value, scale, decimals)
        case Quantity.PROBABILITY if decimals is None:
            return format_p(value)
        case _:
            within = _SHARE if quantity is Quantity.PROBABILITY else None
            return format_number(value, decimals=decimals, within=within)
    return words + _get_unit(quantity, scale)


def _format_steps(value: float, scale: Scale, decimals: int | None) -> str:
    if not scale.step_is_time:
        count, unit = format_number(value, significant=6, decimals=decimals), scale.step_name or "step"
    else:
        size, unit = next((one for one in _DURATIONS if abs(value) >= one[0]), (1, "millisecond"))
        count = format_number(value / size, decimals=decimals)
    return f"{count} {unit}" if count in {"1", f"{MINUS}1"} else f"{count} {unit}s"


def describe_step(step: float, scale: Scale) -> str:
    """Describe a finite step: ``step 120``, ``iteration 900``; on a time axis ``2024-05-03``, in UTC."""
    if scale.step_is_time:
        return (format_moment(step) or f"{format_number(step)} milliseconds").replace("T", " ")
    return format_step(step, scale.step_name or "step")


def describe_position(step: float, scale: Scale) -> str:
    """Describe a position: ``at step 120``, ``on 2024-05-03``, ``at 2024-05-03 12:30``."""
    words = describe_step(step, scale)
    return f"on {words}" if scale.step_is_time and " " not in words else f"at {words}"


def format_range(first: float, last: float, scale: Scale) -> str:
    """Format an inclusive range of steps: ``step 30 to 40``, or ``step 30`` for one step."""
    if first == last:
        return describe_step(first, scale)
    start, end = describe_step(first, scale), describe_step(last, scale)
    return f"{start} to {end.removeprefix(f'{scale.step_name} ')}"


def format_during(first: float, last: float, end: float, scale: Scale) -> str:
    """Describe a duration: ``at step 30``, ``from step 30 to 40``, or ``from step 30 on`` up to the end."""
    if first == last:
        return describe_position(first, scale)
    if last == end:
        return f"from {describe_step(first, scale)} on"
    return f"from {format_range(first, last, scale)}"


def format_stretches(ends: Sequence[tuple[float, float]], last: float, scale: Scale) -> str:
    """Format ranges up to the last step: ``from step 30 on``, ``at steps 30 to 40 and 110``."""
    if len(ends) == 1 or scale.step_is_time:
        return join_names([format_during(*pair, last, scale) for pair in ends])
    name = scale.step_name or "step"
    parts = [format_range(*pair, scale).removeprefix(f"{name} ") for pair in ends]
    return f"at {name}s {join_names(parts)}"


def format_names(names: Sequence[str], total: int) -> str:
    """Format series inside a sentence: ``A and B``, ``all 5 series``, ``4 of the 5 series``."""
    if len(names) <= _MOST_IN_HEAD:
        return join_names(names)
    return f"all {len(names):,} series" if len(names) == total else f"{len(names):,} of the {total:,} series"


def format_few(names: Sequence[str], most: int) -> str:
    """Format at most this many names and the number of others, but never "1 more" in place of a name."""
    return join_names(names, most=most if len(names) > most + 1 else None)


def describe_fact(fact: Fact, scale: Scale) -> str:
    """Describe a fact with its evidence, without a full stop.

    ``peak(MEL) = 0.84 at step 120``, ``score(Aspen) = 61.0% [50.2, 71.1]``, ``p_value(A, B) < 0.001``,
    ``better(A, B) is true at step 200: difference +0.03 [+0.01, +0.05], adjusted p = 0.012``, ``better(A, B)
    cannot be decided: 1 run of A``, ``steps_to(A, 0.9) has no value: A never reaches 0.9``. Value and
    interval share the digits that the interval justifies.
    """
    if fact.value is None:
        why = "cannot be decided" if fact.quantity is Quantity.TRUTH else "has no value"
        return f"{fact.call} {why}: {fact.reason}"
    if fact.quantity is Quantity.TRUTH:
        said = f"{fact.call} is {'true' if fact.value else 'not true'}"
    else:
        said = format_equation(fact.call, format_fact_interval(fact, scale))
    place = "" if fact.name in _PLACED else _describe_place(fact, scale)
    return f"{said}{place}{f': {fact.note}' if fact.note else ''}"


def _describe_place(fact: Fact, scale: Scale) -> str:
    if fact.quantity is Quantity.STEP:
        return ""
    if fact.step is not None:
        return f" {describe_position(fact.step, scale)}"
    if fact.from_step is None or fact.to_step is None:
        return ""
    if fact.name == "crossings":
        return " between " + " and ".join(describe_step(one, scale) for one in (fact.from_step, fact.to_step))
    return f" from {format_range(fact.from_step, fact.to_step, scale)}" if fact.name == "mean" else ""


def explain_fact(fact: Fact, scale: Scale, shown: str = "") -> str:
    """Describe a fact to readers who do not know the language of claims, without a full stop.

    ``The best value of MEL is 0.84 at step 120``, ``Aspen is better than Birch: difference +13.6 points``.
    ``shown`` is the value as it is to be written, otherwise it is written as in ``describe_fact``.
    """
    if fact.value is None:
        return fact.reason
    call = cast("Call", parse(fact.call))
    names = [one.name if isinstance(one, Name) else get_text(fact.call, one) for one in call.arguments]
    if fact.quantity is Quantity.TRUTH:
        said = _VERDICTS[fact.name][not fact.value].format(*names)
    else:
        head, value = _HEADS[fact.name].format(*names), shown or format_fact_interval(fact, scale)
        said = format_equation(head, value) if fact.name == "p_value" else f"{head} {value}"
    return f"{said}{_describe_place(fact, scale)}{f': {fact.note}' if fact.note else ''}"


def format_quantity_interval(
    value: float, low: float | None, high: float | None, quantity: Quantity, scale: Scale
) -> str:
    """Format a value or difference and its interval, if any, with the digits that the interval justifies."""
    if low is None or high is None:
        return format_quantity(value, quantity, scale)
    half = (high - low) / 2
    # By the half width; None means four significant digits.
    decimals: int | None = None
    if scale.bounds == _SHARE and not scale.percent:
        decimals = choose_percent_decimals(half)
    elif scale.bounds is not None:
        decimals = choose_decimals(half)
    elif half > 0 and "e" not in format_number(max(abs(low), abs(high), abs(value))):
        decimals = max(0, 1 - math.floor(math.log10(half)))
        decimals = decimals if decimals <= _MOST_DECIMALS else None
    whole, *ends = (format_quantity(one, quantity, scale, decimals=decimals) for one in (value, low, high))
    unit = _get_unit(quantity, scale)
    return f"{whole} [{', '.join(end.removesuffix(unit) for end in ends)}]"


def format_fact_interval(fact: Fact, scale: Scale) -> str:
    """Format a fact's value and interval: ``0.84 [0.82, 0.86]``, ``step 120``; empty without a value."""
    if fact.value is None or fact.low is None or fact.high is None:
        return format_fact_value(fact, scale)
    return format_quantity_interval(float(fact.value), fact.low, fact.high, fact.quantity, scale)


def format_fact_value(fact: Fact, scale: Scale) -> str:
    """Format a fact's value: ``0.84``, ``+3.2 points``, ``step 120``, ``true``; empty without a value."""
    if fact.value is None:
        return ""
    return format_quantity(float(fact.value), fact.quantity, scale, signed=fact.name not in _SIZES)


def _get_unit(quantity: Quantity, scale: Scale) -> str:
    if not (scale.percent or scale.bounds == _SHARE):
        return ""
    return "%" if quantity is Quantity.VALUE else " points"
