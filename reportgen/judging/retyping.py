"""How typed words should read where the data say otherwise: the author's digits, unit and style stay."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

from reportgen.judging.agreement import EXACT, agrees, format_moment, make_reading
from reportgen.judging.typed_tokens import Unit, get_other_number
from reportgen.statements import Quantity
from reportgen.words import MINUS, format_number, get_unit

if TYPE_CHECKING:
    from reportgen.judging.agreement import Reading
    from reportgen.judging.typed import Typed
    from reportgen.statements import Scale

_LARGE, _SIGNIFICANT = 15, 4
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# A p value typed without decimals has no digits to keep.
_DECIMALS_OF_P = 2


def repair(typed: Typed, value: float, quantity: Quantity, scale: Scale) -> str:
    """The words as they should be typed; unchanged where they agree.

    More digits stand only where the author's would say that a bound is reached; for a p value stands
    ``<`` there.

    Args:
        typed: words whose unit fits (see ``unfitting``).
        value: a finite number; for a typed date in the years 1 to 9999.
        quantity: what it is.
        scale: the subject's.
    """
    if agrees(typed, value, quantity, scale):
        return typed.words
    if typed.moment:
        return _apply_edits(
            typed.words, (typed.start, typed.end, _replace_date(typed, format_moment(typed, value)))
        )
    reading = make_reading(typed, value, quantity, scale)
    if quantity is Quantity.PROBABILITY:
        return _format_p(typed, reading)
    text = _format_number(typed, reading.exact, reading.within)
    return _apply_edits(typed.words, (typed.start, typed.end, text), _edit_noun(typed, text, scale))


def _replace_date(typed: Typed, moment: str) -> str:
    """A time with what its author wrote between day and clock, and behind them."""
    old = typed.words[typed.start : typed.end]
    day, _, clock = moment.partition("T")
    if not clock:
        return day or old
    place = old.index(typed.moment[11:], 10)
    return day + old[10:place] + clock + old[place + len(clock) :]


def _format_p(typed: Typed, reading: Reading) -> str:
    """Words for a p value, with ``<`` where its digits would say 0, and ``>`` where they would say 1."""
    if typed.exponent_mark:
        text = _format_number(typed, reading.exact, reading.within)
        relation = "=" if text == _format_number(typed, reading.exact, None) else ">"
    else:
        decimals = typed.decimals or (_DECIMALS_OF_P if typed.unit is Unit.NONE else 0)
        rounded = reading.exact.quantize(get_unit(decimals), rounding=ROUND_HALF_EVEN, context=EXACT)
        shown = rounded
        if reading.within is not None:
            low, high = reading.within
            shown = min(max(rounded, low + get_unit(decimals)), high - get_unit(decimals))
        relation = "<" if shown > rounded else ">" if shown < rounded else "="
        text = _apply_style(typed, f"{shown:,f}")
    return _apply_edits(typed.words, _edit_relation(typed, relation), (typed.start, typed.end, text))


def _edit_relation(typed: Typed, relation: str) -> tuple[int, int, str]:
    """The edit that puts a relation before the number; without a ``p``, none stands for ``=``."""
    start, end = typed.relation_start, typed.relation_end
    if relation == (typed.relation or "="):
        return start, start, ""
    if relation == "=" and not typed.p:
        while typed.words[end] == " ":
            end += 1
        return start, end, ""
    return (start, end, relation) if end > start else (typed.start, typed.start, f"{relation} ")


def _format_number(typed: Typed, value: Decimal, within: tuple[Decimal, Decimal] | None) -> str:
    """Sign, digits and exponent in the author's style, with as many digits.

    A number with more digits than a double has is written with an exponent, whatever the style.
    """
    if not typed.exponent_mark and value.adjusted() >= _LARGE:
        typed = replace(typed, exponent_mark="e", exponent_digits="1", significant=_SIGNIFICANT)
    if not typed.exponent_mark or not value:
        return _apply_style(typed, _format_rounded(value, typed.decimals, within))
    exponent = value.adjusted()
    text = _format_mantissa(typed, value, exponent, within)
    if text.lstrip(MINUS).startswith("10"):
        exponent += 1
        text = _format_mantissa(typed, value, exponent, within)
    return _apply_style(typed, text) + typed.exponent_mark + _format_exponent(typed, exponent)


def _format_mantissa(
    typed: Typed, value: Decimal, exponent: int, within: tuple[Decimal, Decimal] | None
) -> str:
    scaled = None
    if within is not None:
        scaled = within[0].scaleb(-exponent, EXACT), within[1].scaleb(-exponent, EXACT)
    return _format_rounded(value.scaleb(-exponent, EXACT), typed.significant - 1, scaled)


def _format_rounded(value: Decimal, decimals: int, within: tuple[Decimal, Decimal] | None) -> str:
    if within is not None:
        return format_number(value, decimals=decimals, within=within)
    text = f"{value.quantize(get_unit(decimals), rounding=ROUND_HALF_EVEN, context=EXACT):,f}"
    return text.replace("-", MINUS)


def _apply_style(typed: Typed, text: str) -> str:
    """A number with commas and U+2212, dressed with the author's signs and marks."""
    digits = text.removeprefix("-").removeprefix(MINUS)
    minus = typed.sign if typed.sign not in {"", "+"} else MINUS
    sign = minus if digits != text else "+" if typed.sign == "+" else ""
    if not digits.strip("0.,"):
        sign = ""
    gap = typed.words[typed.start + len(typed.sign) : typed.digits]
    if not sign:
        # What the sign kept apart stays apart: "step−5".
        before = typed.words[: typed.start][-1:]
        gap = " " * bool(typed.sign and (before.isalnum() or before in {".", ","})) + gap.lstrip()
    if typed.separator is not None:
        digits = digits.replace(",", typed.separator)
    if typed.bare_point and digits.startswith("0."):
        digits = digits.removeprefix("0")
    return sign + gap + digits


def _format_exponent(typed: Typed, exponent: int) -> str:
    """An exponent, raised or not, with the sign and the zeros in front that its author writes."""
    raised = typed.exponent_digits[0] in _RAISED
    minus, plus = ("⁻", "⁺") if raised else ("-" if typed.exponent_mark in {"e", "E"} else MINUS, "+")
    if typed.exponent_sign not in {"", plus}:
        minus = typed.exponent_sign
    sign = minus if exponent < 0 else plus if typed.exponent_sign == plus else ""
    digits = f"{abs(exponent):0{len(typed.exponent_digits)}d}"
    # Zeros in front are a style only where the author's exponent has them.
    digits = digits if typed.exponent_digits[0] in "0⁰" else f"{abs(exponent)}"
    return sign + (digits.translate(str.maketrans("0123456789", _RAISED)) if raised else digits)


def _edit_noun(typed: Typed, text: str, scale: Scale) -> tuple[int, int, str]:
    """The edit that makes one step of several, or several of one."""
    other = get_other_number(typed.noun, scale)
    one, was_one = (part.lstrip("+-−–") == "1" for part in (text, typed.words[typed.digits : typed.end]))
    singular = len(other) > len(typed.noun)
    if not other or typed.magnitude or not ((one and not singular) or (was_one and not one and singular)):
        return typed.end, typed.end, ""
    start = typed.noun_start
    return start, start + len(typed.noun), other.capitalize() if typed.noun[0].isupper() else other


def _apply_edits(words: str, *edits: tuple[int, int, str]) -> str:
    """Some words after edits, given as start, end and new text."""
    for start, end, new in sorted(edits, reverse=True):
        words = words[:start] + new + words[end:]
    return words
