"""Whether a typed number says what the data say, to the digits typed.

A typed number agrees if it is the value correctly rounded to the digits that were typed, with ties either
to even or away from zero; the sign has to be right even where nothing but zeros is left. It may not seem to
reach a bound that the value does not reach: 0.9996 is no ``100 %``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from reportgen.expressions.faults import Fault
from reportgen.judging.typed_tokens import Unit
from reportgen.moments import parse_moment, to_datetime
from reportgen.statements import Quantity
from reportgen.words import MINUS, format_number, get_unit

if TYPE_CHECKING:
    from reportgen.judging.typed import Typed
    from reportgen.statements import Scale

# Room for every digit of every double beside every exponent that may be typed.
EXACT = Context(prec=2000)
# Sums of measured values are right to this many digits: a tie within them counts as a tie.
_RELIABLE = Context(prec=12)

_NUMBERS = frozenset(Quantity) - {Quantity.TRUTH}
_FITTING = {
    Unit.NONE: _NUMBERS,
    Unit.PERCENT: {Quantity.VALUE, Quantity.DIFFERENCE, Quantity.NUMBER, Quantity.PROBABILITY},
    Unit.POINTS: {Quantity.DIFFERENCE},
    Unit.STEPS: {Quantity.STEP, Quantity.STEPS},
    Unit.STEP: {Quantity.STEP},
    Unit.TIMES: {Quantity.NUMBER},
    Unit.MOMENT: {Quantity.STEP},
    Unit.DURATION: {Quantity.STEPS},
}
_SAID = {
    Quantity.VALUE: ("a value", "0.84 or 84 %"),
    Quantity.DIFFERENCE: ("a difference of values", "+0.032 or +3.2 points"),
    Quantity.STEP: ("a step", "step 120"),
    Quantity.STEPS: ("a number of steps", "120 steps"),
    Quantity.PROBABILITY: ("a p value", "p = 0.03 or p < 0.001"),
    Quantity.NUMBER: ("a plain number", "2 or 2 times"),
}
_SAID_OF_TIMES = {
    Quantity.STEP: ("a date", "2024-05-03 or 2024-05-03 12:30"),
    Quantity.STEPS: ("a span of time", "3 days or 12 hours"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in the unit that was typed.

    ``exact`` is the double, ``reliable`` those decimals that can be relied on; ``within`` are bounds that
    the value lies strictly between.
    """

    exact: Decimal
    reliable: tuple[Decimal, ...]
    within: tuple[Decimal, Decimal] | None


def check_unit(typed: Typed, quantity: Quantity, scale: Scale) -> Fault | None:
    """What is wrong with a unit that does not go with what a number is; None where it goes."""
    by_time = _SAID_OF_TIMES if scale.step_is_time else {}
    what, examples = by_time.get(quantity, _SAID[quantity])
    timed = quantity in by_time
    fits = quantity in _FITTING[typed.unit] and (not timed or typed.unit in {Unit.MOMENT, Unit.DURATION})
    if fits and (quantity is Quantity.PROBABILITY or not (typed.p or typed.relation not in {"", "="})):
        return None
    return Fault(-1, 1, f'"{typed.words}" is typed, but the expression is {what}', f"Write it as {examples}")


def agrees(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> bool:
    """Whether what was typed is the value, correctly rounded to the digits typed.

    Args:
        typed: words whose unit fits.
        value: a finite number.
        quantity: what it is.
        scale: the subject's.
    """
    if typed.moment:
        return format_moment(typed, value) == typed.moment
    reading = make_reading(typed, value, quantity, scale)
    if typed.relation not in {"", "="}:
        return _is_within_limit(reading, typed.relation, typed.number)
    if (
        typed.sign
        and not typed.number
        and not (reading.exact > 0 if typed.sign == "+" else reading.exact < 0)
    ):
        return False
    if reading.within is not None:
        low, high = reading.within
        if not low < typed.number < high:
            return False
        if quantity is not Quantity.PROBABILITY and typed.number == _round_inside_bounds(
            reading, _find_last_place(typed)
        ):
            return True
    unit = get_unit(_find_last_place(typed))
    return typed.number in {
        one.quantize(unit, rounding=rounding, context=EXACT)
        for one in (reading.exact, *reading.reliable)
        for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
    }


def get_typed_value(typed: Typed, quantity: Quantity, scale: Scale) -> float:
    """What was typed, as a number of the data's own unit; for a date milliseconds since 1970."""
    if typed.moment:
        return parse_moment(typed.moment) or 0.0
    size = Decimal(typed.milliseconds or 1).scaleb(-_find_shift(typed, quantity, scale), EXACT)
    return float(EXACT.multiply(typed.number, size))


def format_moment(typed: Typed, milliseconds: float) -> str:
    """The time in the precision typed: a day goes on to its end. Empty outside the years 1 to 9999."""
    try:
        moment = to_datetime(milliseconds)
    except OverflowError:
        return ""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")[: len(typed.moment)]


def make_reading(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> Reading:
    """A value in the unit that was typed."""
    shift = _find_shift(typed, quantity, scale)

    def convert(one: Decimal) -> Decimal:
        shifted = one.scaleb(shift, EXACT)
        return EXACT.divide(shifted, Decimal(typed.milliseconds)) if typed.milliseconds else shifted

    exact = convert(Decimal(value))
    nearly = _RELIABLE.plus(exact)
    reliable = [convert(Decimal(repr(value)))]
    if _find_last_place(typed) < _RELIABLE.prec - 1 - exact.adjusted():
        reliable.append(nearly)
    bounds = {Quantity.VALUE: scale.bounds, Quantity.PROBABILITY: (0.0, 1.0)}.get(quantity)
    if bounds is not None:
        low, high = (convert(Decimal(bound)) for bound in bounds)
        if low < nearly < high and low < exact < high:
            return Reading(exact, tuple(reliable), (low, high))
    return Reading(exact, tuple(reliable), None)


def _find_shift(typed: Typed, quantity: Quantity, scale: Scale) -> int:
    """The power of ten between the data's own unit and the one typed."""
    as_written = scale.percent and quantity in {Quantity.VALUE, Quantity.DIFFERENCE}
    hundredfold = typed.unit in {Unit.PERCENT, Unit.POINTS} and not as_written
    return (2 if hundredfold else 0) - typed.magnitude


def _is_within_limit(reading: Reading, relation: str, limit: Decimal) -> bool:
    """Whether the value is on the right side of a limit; what is as good as equal is equal."""
    ones = (reading.exact, *reading.reliable)
    if relation in {"<", "≤"}:
        return all(one < limit for one in ones) or (relation == "≤" and any(one <= limit for one in ones))
    return all(one > limit for one in ones) or (relation == "≥" and any(one >= limit for one in ones))


def _round_inside_bounds(reading: Reading, decimals: int) -> Decimal:
    """The value rounded so that it does not seem to reach its bounds."""
    text = format_number(reading.exact, decimals=decimals, within=reading.within)
    return Decimal(text.replace(",", "").replace(MINUS, "-"))


def _find_last_place(typed: Typed) -> int:
    """Decimals of the last digit typed; below 0 where it counts tens or hundreds."""
    return typed.decimals - typed.exponent
