"""Numbers and times as text, formatted as d3-format and d3-time-format do in a browser.

Static text and live view therefore agree to the last digit. Supports only the specifiers of axes:
``[,][.digits][~]`` with ``f``, ``e``, ``r``, ``s`` or ``%`` for numbers.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.words import to_datetime

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from reportgen.core.model import FloatArray


_SPECIFIER = re.compile(r"(,?)(?:\.(\d+))?(~?)([efrs%])")
_PREFIXES = ["y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"]
_NO_PREFIX = 8
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DEFAULT_DIGITS = 6
# From here on JavaScript writes an exponent, whatever the specifier.
_PLAIN_BELOW = 1e21
# Enough precision for every digit of any double, so that nothing is rounded unintentionally.
_EXACT = Context(prec=1100, rounding=ROUND_HALF_UP)
_MOST_READABLE, _LEAST_READABLE = 1e15, 1e-4


class _Specifier(NamedTuple):
    comma: bool
    digits: int
    trim: bool
    type: str


def format_d3(value: float, specifier: str) -> str:
    """Format a finite number as d3-format does, with U+2212 as minus sign and no minus at zero.

    Raises a ``ValueError`` if the specifier is not supported.
    """
    return make_formatter(specifier)(value)


@cache
def make_formatter(specifier: str) -> Callable[[float], str]:
    """Return a function that formats numbers by one specifier.

    Python's fast formatting differs from JavaScript's only for numbers halfway between two roundings; these
    and rarer specifiers take the slow path.
    """
    match = _SPECIFIER.fullmatch(specifier)
    if match is None:
        raise ValueError(f"no such number format: {specifier}")
    comma, digits, trim, kind = match.groups()
    parsed = _Specifier(bool(comma), int(digits) if digits else _DEFAULT_DIGITS, bool(trim), kind)
    if parsed.type != "f" or parsed.trim:
        return lambda value: _format_exactly(value, parsed)
    quick, doubled = f"{comma}.{parsed.digits}f", 2 * 10.0**parsed.digits

    def format_quickly(value: float) -> str:
        if (value * doubled).is_integer():
            return _format_exactly(value, parsed)
        text = format(value, quick)
        if value > 0:
            return text
        return text.replace("-", "\N{MINUS SIGN}") if text.strip("-0.,") else text.removeprefix("-")

    return format_quickly


def _format_exactly(value: float, parsed: _Specifier) -> str:
    # d3 multiplies before rounding, which can affect the last digit.
    size = Decimal(abs(value) * 100 if parsed.type == "%" else abs(value))
    suffix = parsed.type if parsed.type == "%" else ""
    if parsed.type in {"f", "%"} and size >= _PLAIN_BELOW:
        text, _, power = repr(float(size)).partition("e")
        suffix = f"e{power}{suffix}"
    elif parsed.type in {"f", "%"}:
        text = f"{_round_at(size, -parsed.digits):f}"
    elif parsed.type == "e":
        size = _round_at(size, _exponent(size) - parsed.digits)
        exponent = _exponent(size)
        text, suffix = f"{_round_at(_EXACT.scaleb(size, -exponent), -parsed.digits):f}", f"e{exponent:+d}"
    else:
        size = _round_at(size, _exponent(size) - parsed.digits + 1)
        thousands = max(-_NO_PREFIX, min(_NO_PREFIX, _exponent(size) // 3)) if parsed.type == "s" else 0
        text, suffix = f"{_EXACT.scaleb(size, -3 * thousands):f}", _PREFIXES[_NO_PREFIX + thousands]
    if parsed.trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    if parsed.comma:
        whole, point, rest = text.partition(".")
        text = f"{int(whole):,}{point}{rest}"
    minus = "\N{MINUS SIGN}" if value < 0 and text.strip("0.,") else ""
    return f"{minus}{text}{suffix}"


def _exponent(size: Decimal) -> int:
    return size.adjusted() if size else 0


def _round_at(size: Decimal, place: int) -> Decimal:
    """Round at a power of ten, ties upwards as in JavaScript."""
    return _EXACT.quantize(size, Decimal((0, (1,), place)))


def format_time(milliseconds: float, specifier: str) -> str:
    """Format milliseconds since 1970 UTC as d3-time-format does, in UTC and English.

    Raises:
        OverflowError: If the moment is outside the years 1 to 9999.
        KeyError: If a directive is not supported.
    """
    at = to_moment(milliseconds)
    words = {
        "Y": f"{at.year:04}",
        "m": f"{at.month:02}",
        "b": _MONTHS[at.month - 1],
        "d": f"{at.day:02}",
        "H": f"{at.hour:02}",
        "M": f"{at.minute:02}",
        "S": f"{at.second:02}",
        "L": f"{at.microsecond // 1000:03}",
    }
    return re.sub("%([A-Za-z])", lambda directive: words[directive[1]], specifier)


def to_moment(milliseconds: float) -> datetime:
    """Convert milliseconds since 1970 to a UTC time, truncated to whole milliseconds as in JavaScript."""
    return to_datetime(int(milliseconds))


def choose_step_format(steps: FloatArray) -> str:
    """Return the d3 format of steps: all digits of whole steps, otherwise six significant digits."""
    largest = float(np.abs(steps).max(initial=0.0))
    if largest >= _MOST_READABLE or 0 < largest < _LEAST_READABLE:
        return ".5~e"
    return ",.0f" if (steps == np.rint(steps)).all() else ",.6~r"
