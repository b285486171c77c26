"""Whether a typed number agrees with the data to the digits typed, and its repair if it does not.

A typed number agrees if it is the value correctly rounded to the digits that were typed, with ties either to
even or away from zero; the sign has to be right even if only zeros are left. It must not seem to reach a
bound that the value does not reach: 0.9996 is not ``100%``.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.typed import Unit, get_other_number
from reportgen.core.statements import Fault, Quantity
from reportgen.core.words import MINUS, format_number, get_unit, parse_moment, to_datetime

if TYPE_CHECKING:
    from reportgen.claims.typed import Typed
    from reportgen.core.statements import Scale


# Precision for every digit of every double with every exponent that may be typed.
EXACT = Context(prec=2000)
# Sums of measured values are accurate to this many digits: a tie within them counts as a tie.
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
_WORDS = {
    Quantity.VALUE: ("a value", "0.84 or 84%"),
    Quantity.DIFFERENCE: ("a difference of values", "+0.032 or +3.2 points"),
    Quantity.STEP: ("a step", "step 120"),
    Quantity.STEPS: ("a number of steps", "120 steps"),
    Quantity.PROBABILITY: ("a p value", "p = 0.03 or p < 0.001"),
    Quantity.NUMBER: ("a plain number", "2 or 2 times"),
}
_WORDS_OF_TIMES = {
    Quantity.STEP: ("a date", "2024-05-03 or 2024-05-03 12:30"),
    Quantity.STEPS: ("a span of time", "3 days or 12 hours"),
}


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LARGE, _SIGNIFICANT = 15, 4
# A p value typed without decimals has no digits to follow.
_DECIMALS_OF_P = 2


class Reading(Struct, frozen=True):
    """A value in the unit that was typed."""

    exact: Decimal  # the double
    reliable: tuple[Decimal, ...]  # the reliable decimals of it
    within: tuple[Decimal, Decimal] | None  # exclusive bounds of the value


def check_unit(typed: Typed, quantity: Quantity, scale: Scale) -> Fault | None:
    """Return the fault of a unit that does not match the quantity of a number, or None."""
    timed = scale.step_is_time and quantity in _WORDS_OF_TIMES
    fits = quantity in _FITTING[typed.unit] and (not timed or typed.unit in {Unit.MOMENT, Unit.DURATION})
    plain = not typed.p and typed.relation in {"", "="}
    if fits and (plain or quantity is Quantity.PROBABILITY):
        return None
    what, examples = (_WORDS_OF_TIMES if timed else _WORDS)[quantity]
    return Fault(-1, 1, f'"{typed.words}" is typed, but the expression is {what}', f"Write it as {examples}")


def agrees(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> bool:
    """Return whether the finite value, rounded to the digits typed, is the typed number in a valid unit."""
    if typed.moment:
        return format_moment(typed, value) == typed.moment
    reading = make_reading(typed, value, quantity, scale)
    values = (reading.exact, *reading.reliable)
    if typed.relation not in {"", "="}:
        # The right side of a limit; equal up to rounding is equal.
        sign = 1 if typed.relation in {"<", "≤"} else -1
        apart = [sign * one.compare(typed.number) for one in values]
        return all(one < 0 for one in apart) or (typed.relation in {"≤", "≥"} and min(apart) <= 0)
    right_sign = reading.exact > 0 if typed.sign == "+" else reading.exact < 0
    if typed.sign and not typed.number and not right_sign:
        return False
    if reading.within is not None:
        low, high = reading.within
        if not low < typed.number < high:
            return False
        if quantity is not Quantity.PROBABILITY:
            # Rounded so that it does not seem to reach its bounds.
            text = format_number(reading.exact, decimals=typed.last_place, within=reading.within)
            if typed.number == Decimal(text.replace(",", "").replace(MINUS, "-")):
                return True
    unit = get_unit(typed.last_place)
    return typed.number in {
        one.quantize(unit, rounding=rounding, context=EXACT)
        for one in values
        for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
    }


def get_typed_value(typed: Typed, quantity: Quantity, scale: Scale) -> float:
    """Return the typed number in the data's own unit; for a date milliseconds since 1970."""
    if typed.moment:
        return parse_moment(typed.moment) or 0.0
    size = Decimal(typed.milliseconds or 1).scaleb(-_find_shift(typed, quantity, scale), EXACT)
    return float(EXACT.multiply(typed.number, size))


def format_moment(typed: Typed, milliseconds: float) -> str:
    """Return the time in the precision typed: a day lasts to its end. Empty outside the years 1 to 9999."""
    try:
        moment = to_datetime(milliseconds)
    except OverflowError:
        return ""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")[: len(typed.moment)]


def make_reading(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> Reading:
    """Convert a value to the unit that was typed."""
    shift = _find_shift(typed, quantity, scale)

    def convert(one: Decimal) -> Decimal:
        shifted = one.scaleb(shift, EXACT)
        return EXACT.divide(shifted, Decimal(typed.milliseconds)) if typed.milliseconds else shifted

    exact = convert(Decimal(value))
    nearly = _RELIABLE.plus(exact)
    reliable = [convert(Decimal(repr(value)))]
    if typed.last_place < _RELIABLE.prec - 1 - exact.adjusted():
        reliable.append(nearly)
    bounds = {Quantity.VALUE: scale.bounds, Quantity.PROBABILITY: (0.0, 1.0)}.get(quantity)
    within = None
    if bounds is not None:
        low, high = (convert(Decimal(bound)) for bound in bounds)
        within = (low, high) if low < nearly < high and low < exact < high else None
    return Reading(exact, tuple(reliable), within)


def _find_shift(typed: Typed, quantity: Quantity, scale: Scale) -> int:
    """Return the power of ten between the data's own unit and the one typed."""
    as_written = scale.percent and quantity in {Quantity.VALUE, Quantity.DIFFERENCE}
    hundredfold = typed.unit in {Unit.PERCENT, Unit.POINTS} and not as_written
    return (2 if hundredfold else 0) - typed.magnitude


def repair(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> str:
    """Return the words as they should be typed; unchanged if they agree.

    More digits are used only if the author's would say that a bound is reached; for a p value ``<`` is used
    then. The unit is valid (see ``check_unit``), and a date is in the years 1 to 9999.
    """
    words = typed.words
    if agrees(typed, value, quantity, scale):
        return words
    if typed.moment:
        # A time with the author's text between day and clock, and after them.
        old = words[typed.start : typed.end]
        day, _, clock = format_moment(typed, value).partition("T")
        new = day or old
        if clock:
            place = old.index(typed.moment[11:], 10)
            new = day + old[10:place] + clock + old[place + len(clock) :]
        return _apply_edits(words, (typed.start, typed.end, new))
    reading = make_reading(typed, value, quantity, scale)
    if quantity is Quantity.PROBABILITY:
        return _repair_p(typed, reading)
    text = _format_number(typed, reading.exact, reading.within)
    edits = [(typed.start, typed.end, text)]
    # The noun's singular for one step, its plural for several.
    other, noun = get_other_number(typed.noun, scale), typed.noun
    one, was_one = (part.lstrip("+-−–") == "1" for part in (text, words[typed.digits : typed.end]))
    singular = len(other) > len(noun)
    if other and not typed.magnitude and ((one and not singular) or (was_one and not one and singular)):
        other = other.capitalize() if noun[0].isupper() else other
        edits.append((typed.noun_start, typed.noun_start + len(noun), other))
    return _apply_edits(words, *edits)


def _repair_p(typed: Typed, reading: Reading) -> str:
    """Return words for a p value, with ``<`` if its digits would say 0, and ``>`` if they would say 1."""
    if typed.exponent_mark:
        rounded = Context(typed.significant, ROUND_HALF_EVEN).plus(reading.exact)
        reaches = reading.within is not None and rounded >= reading.within[1]
        text = _format_number(typed, reading.exact, reading.within if reaches else None)
        relation = ">" if reaches else "="
    else:
        decimals = typed.decimals or (_DECIMALS_OF_P if typed.unit is Unit.NONE else 0)
        rounded = reading.exact.quantize(get_unit(decimals), rounding=ROUND_HALF_EVEN, context=EXACT)
        shown = rounded
        if reading.within is not None:
            low, high = reading.within
            shown = min(max(rounded, low + get_unit(decimals)), high - get_unit(decimals))
        relation = "<" if shown > rounded else ">" if shown < rounded else "="
        text = _apply_style(typed, f"{shown:,f}")
    start, end = typed.relation_start, typed.relation_end
    if relation == (typed.relation or "="):
        edit = start, start, ""
    elif relation == "=" and not typed.p:  # no relation means "=" then
        edit = start, end + len(typed.words[end:]) - len(typed.words[end:].lstrip(" ")), ""
    else:
        edit = (start, end, relation) if end > start else (typed.start, typed.start, f"{relation} ")
    return _apply_edits(typed.words, edit, (typed.start, typed.end, text))


def _format_number(typed: Typed, value: Decimal, within: tuple[Decimal, Decimal] | None) -> str:
    """Format in the author's style and digits; more digits than a double has always need an exponent."""
    if not typed.exponent_mark and value.adjusted() >= _LARGE:
        typed = replace(typed, exponent_mark="e", exponent_digits="1", significant=_SIGNIFICANT)
    if not typed.exponent_mark or not value:
        return _apply_style(typed, _format_scaled(value, 0, typed.decimals, within))
    exponent = value.adjusted()
    text = _format_scaled(value, exponent, typed.significant - 1, within)
    if text.lstrip(MINUS).startswith("10"):
        exponent += 1
        text = _format_scaled(value, exponent, typed.significant - 1, within)
    # Raised or not, with the author's sign and leading zeros.
    raised = typed.exponent_digits[0] in _RAISED
    minus, plus = ("⁻", "⁺") if raised else ("-" if typed.exponent_mark in {"e", "E"} else MINUS, "+")
    minus = minus if typed.exponent_sign in {"", plus} else typed.exponent_sign
    sign = minus if exponent < 0 else plus if typed.exponent_sign == plus else ""
    # Leading zeros are a style only if the author's exponent has them.
    width = len(typed.exponent_digits) if typed.exponent_digits[0] in "0⁰" else 1
    digits = f"{abs(exponent):0{width}d}"
    digits = digits.translate(str.maketrans("0123456789", _RAISED)) if raised else digits
    return _apply_style(typed, text) + typed.exponent_mark + sign + digits


def _format_scaled(
    value: Decimal, exponent: int, decimals: int, within: tuple[Decimal, Decimal] | None
) -> str:
    """Format a number, or its mantissa, with this many digits, not reaching its bounds."""
    value = value.scaleb(-exponent, EXACT)
    if within is not None:
        low, high = (bound.scaleb(-exponent, EXACT) for bound in within)
        return format_number(value, decimals=decimals, within=(low, high))
    rounded = value.quantize(get_unit(decimals), rounding=ROUND_HALF_EVEN, context=EXACT)
    return f"{rounded:,f}".replace("-", MINUS)


def _apply_style(typed: Typed, text: str) -> str:
    """Format a number with commas and U+2212 with the author's signs and marks."""
    digits = text.removeprefix("-").removeprefix(MINUS)
    minus = typed.sign if typed.sign not in {"", "+"} else MINUS
    sign = minus if digits != text else "+" if typed.sign == "+" else ""
    if not digits.strip("0.,"):
        sign = ""
    gap = typed.words[typed.start + len(typed.sign) : typed.digits]
    if not sign:
        # If the sign separated words, keep them separate: "step−5".
        before = typed.words[: typed.start][-1:]
        gap = " " * bool(typed.sign and (before.isalnum() or before in {".", ","})) + gap.lstrip()
    if typed.separator is not None:
        digits = digits.replace(",", typed.separator)
    if typed.bare_point and digits.startswith("0."):
        digits = digits.removeprefix("0")
    return sign + gap + digits


def _apply_edits(words: str, *edits: tuple[int, int, str]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        words = words[:start] + new + words[end:]
    return words
