"""Formatting of numbers, dates and names, as precise as the interval supports, and patterns of names."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.digits import Precision, find_decimals, needs_exponent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from reportgen.core.model import Estimate

    class HasInterval(Protocol):
        """A number with an interval."""

        @property
        def low(self) -> float | None:
            """Lower end, or None if no interval can be known."""

        @property
        def high(self) -> float | None:
            """Upper end, or None."""


MINUS = "\N{MINUS SIGN}"
SMALLEST_P, LARGEST_P = 0.001, 0.999
"""p-values beyond these are written as ``< 0.001`` and ``> 0.999``."""

# Powers of ten from ``_LARGE`` up and below ``_SMALL`` are written with an exponent.
_LARGE, _SMALL = 12, -4
# An interval this many digits smaller than its value is written separately.
_MOST_SHARED_DIGITS = 12
# Room for every digit of every double, so that nothing is rounded by accident.
_EXACT = Context(prec=1100)
# Significance level of verdicts.
_ALPHA = 0.05
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Spaces between a number and its unit, before and inside an interval, and around the sign after p.
_UNITS = "points?|runs?|problems?|samples?|seeds?|checkpoints?"
_BREAKS = re.compile(
    rf"(?<=\d)\s(?=(?:{_UNITS})\b)|(?<=[\d%])\s(?=\[[−+]?\d)|(?<=points)\s(?=\[[−+]?\d)"
    r"|(?<=[\d%],)\s(?=[−+]?[\d.,]+%?\])|(?<=\bp)\s(?=[=<>≤]\s\d)|(?<=\bp\s[=<>≤])\s(?=\d)"
)
# A step by its name, which may be of two words: "at training step 75", "from iteration 500 on".
_STEPS = re.compile(r"\b((?:at|from|by|to)\s(?:[^\W\d_]+\s)?[^\W\d_]+)\s(?=\d)")


def format_number(
    value: float | Decimal,
    *,
    significant: int = 4,
    decimals: int | None = None,
    within: tuple[float | Decimal, float | Decimal] | None = None,
    signed: bool = False,
) -> str:
    """Format a finite number as ``0.8214``, ``12,345`` or ``1.6e24``, with U+2212 as the minus sign.

    Without ``decimals``, ``significant`` digits are shown, integer digits are never dropped, and trailing
    zeros are removed. ``decimals`` is an exact number; a negative one rounds to tens or hundreds. ``within``
    has finite or infinite bounds that a value inside them is never rounded to: within (0, 1) and with two
    decimals, 0.996 is ``0.99`` and 0.0004 is ``0.01``. ``signed`` adds a plus to a positive number.
    """
    exact = _check_finite(value)
    if decimals is not None:
        text = f"{_round(exact, decimals, within):,f}"
    else:
        exponent = _find_exponent(exact, significant)
        if exact.adjusted() >= _LARGE or exponent < _SMALL:
            mantissa = _round(exact.scaleb(-exponent, _EXACT), significant - 1, None)
            text = f"{_strip_zeros(f'{mantissa:f}')}e{exponent}"
        else:
            digits = max(0, significant - 1 - exact.adjusted())
            text = _strip_zeros(f"{_round(exact, digits, within):,f}")
    return _add_sign(text, signed=signed)


def format_nonzero(value: float, *, decimals: int | None, signed: bool) -> str:
    """Format a difference like ``format_number``, never rounding a nonzero one to 0."""
    far = 10 * abs(value) + 10
    within = (0.0, far) if value > 0 else (-far, 0.0)
    return format_number(value, decimals=decimals, within=within, signed=signed)


def format_percent(share: float, *, decimals: int = 1) -> str:
    """Format a fraction as a percentage: ``82.1%``; 0.9996 is ``99.9%``, only 1 itself is ``100.0%``."""
    hundredfold = _check_finite(share).scaleb(2, _EXACT)
    return _add_sign(f"{_round(hundredfold, decimals, (0, 100)):,f}") + "%"


def format_estimate(
    estimate: Estimate,
    *,
    significant: int = 2,
    percent: bool = False,
    decimals: int | Precision | None = None,
) -> str:
    """Format a value and its interval with the digits that the interval supports: ``0.820 ± 0.012``.

    The half-width has ``significant`` digits, and the value as many decimals. An interval that is not
    centred on the value is written out: ``0.820 [0.800, 0.850]``. Very large and very small numbers
    share an exponent: ``(1.60 ± 0.12)e24``. A value without an interval has four significant digits.
    ``percent`` writes a share as ``82.0 ± 1.2%``. ``decimals``, as ``choose_common_decimals`` returns them,
    replaces these digits where they show enough of the interval or of the value (``find_decimals``).
    """
    precision = Precision(decimals, decimals) if isinstance(decimals, int) else decimals
    if percent:
        scaled = scale_estimate(estimate, 100)
        return f"{_format_estimate(scaled, significant, precision, percent=True)}%"
    return _format_estimate(estimate, significant, precision, percent=False)


def _format_estimate(
    estimate: Estimate, significant: int, precision: Precision | None, *, percent: bool
) -> str:
    if estimate.low is None or estimate.high is None:
        if precision is None or (needs_exponent(estimate.value) and not percent):
            return format_number(estimate.value)
        return format_number(
            estimate.value, decimals=find_decimals(estimate.value, precision, percent=percent)
        )
    value, low, high = (_check_finite(end) for end in (estimate.value, estimate.low, estimate.high))
    half = (high - low) / 2
    if half == 0:
        return f"{format_number(estimate.value, decimals=precision and precision.usual)} ± 0"
    largest = max(abs(value), abs(low), abs(high))
    if _find_exponent(largest, 1) - _find_exponent(half, significant) > _MOST_SHARED_DIGITS:
        number = format_number(estimate.value, significant=_MOST_SHARED_DIGITS)
        return f"{number} ± {format_number(float(half), significant=2)}"
    exponent = _find_exponent(largest, significant + 1)
    shared = exponent if exponent >= _LARGE or exponent < _SMALL else 0
    value, low, high, half = (part.scaleb(-shared, _EXACT) for part in (value, low, high, half))
    decimals = significant - 1 - _find_exponent(half, significant)
    if precision is not None and not shared:
        decimals = find_decimals(float(value), precision, float(half), percent=percent)
    texts = [_add_sign(f"{_round(part, decimals, None):,f}") for part in (value, low, high, half)]
    is_central = abs((low + high) / 2 - value) <= half / 20
    words = f"{texts[0]} ± {texts[3]}" if is_central else f"{texts[0]} [{texts[1]}, {texts[2]}]"
    return f"({words})e{shared}".replace("-", MINUS) if shared else words


def scale_estimate(estimate: Estimate, factor: float) -> Estimate:
    """Multiply a value and its interval by a factor above 0."""
    low, high = (None if end is None else end * factor for end in (estimate.low, estimate.high))
    return replace(estimate, value=estimate.value * factor, low=low, high=high)


def format_p(p: float) -> str:
    """Format a p-value: ``0.012``, ``< 0.001``, ``> 0.999``.

    Rounding never crosses 0.05, so that the text agrees with the verdict: 0.0496 is ``0.049``.
    """
    if p < SMALLEST_P:
        return f"< {SMALLEST_P}"
    if p > LARGEST_P:
        return f"> {LARGEST_P}"
    below = math.nextafter(_ALPHA, 0)  # the double nearest to 0.05 is above it
    if p < _ALPHA:
        return format_number(min(p, math.nextafter(below, 0)), decimals=3, within=(0.0, below))
    return format_number(p, decimals=3, within=(_ALPHA, 1.0))


def format_equation(name: str, words: str) -> str:
    """Format an equation or a limit: ``p = 0.012``, ``p < 0.001``."""
    return f"{name} {words}" if words.startswith(("<", ">")) else f"{name} = {words}"


def find_common_half(estimates: Iterable[HasInterval]) -> float | None:
    """Return the median half-width of the intervals above 0, of two the narrower, or None without any.

    It determines the digits of all estimates of one metric in a table.
    """
    pairs = ((one.low, one.high) for one in estimates)
    halves = sorted((high - low) / 2 for low, high in pairs if low is not None and high is not None)
    halves = [half for half in halves if half > 0]
    return halves[(len(halves) - 1) // 2] if halves else None


def choose_common_decimals(estimates: Sequence[Estimate], *, percent: bool = False) -> int | None:
    """Return the decimals with which a table writes all estimates of one metric.

    They give the typical half-width two significant digits or, without intervals, every value four. Returns
    None if a value is so large or small that it needs an exponent.
    """
    if percent:
        return choose_common_decimals([scale_estimate(one, 100) for one in estimates])
    if (half := find_common_half(estimates)) is not None:
        exponent = _find_exponent(_check_finite(half), 2)
        largest = max(_find_exponent(_check_finite(one.value), 1) for one in estimates)
        return None if largest >= _LARGE or exponent < -_MOST_SHARED_DIGITS else 1 - exponent
    texts = [f"{one.value:.4g}" for one in estimates]
    return None if any("e" in text for text in texts) else max(len(t.partition(".")[2]) for t in texts)


def format_step(step: float, name: str = "step") -> str:
    """Format a finite step for running text: ``step 120``, ``iteration 1,200,000``, ``epoch 0.25``."""
    return f"{name} {format_number(step, significant=6, decimals=0 if step == round(step) else None)}"


def join_names(names: Sequence[str], *, most: int | None = None) -> str:
    """Join names for a sentence: ``A``, ``A and B``, ``A, B and C``; beyond ``most``: ``A, B and 4 more``."""
    shown = list(names)
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    if len(shown) <= 1:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def format_count(count: float, one: str, many: str | None = None) -> str:
    """Format a count with its noun: ``1 run``, ``3 runs``, ``0 runs``, ``2 series`` if ``many`` is given."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def keep_together(text: str) -> str:
    """Return the text with no-break spaces in quantities: ``61.0% [47.6, 73.0]``, ``5 runs``, ``step 9``."""
    return _STEPS.sub("\\1\N{NO-BREAK SPACE}", _BREAKS.sub("\N{NO-BREAK SPACE}", text))


def _check_finite(value: float | Decimal) -> Decimal:
    exact = value if isinstance(value, Decimal) else Decimal(float(value))
    if not exact.is_finite():
        raise ValueError(f"{value} is not a number to write; say what is missing and why")
    return exact


def _find_exponent(value: Decimal, significant: int) -> int:
    """Return the power of ten of the first digit after rounding to this many digits."""
    if not value:
        return 0
    unit = get_unit(significant - 1 - value.adjusted())
    return _EXACT.plus(value).quantize(unit, context=_EXACT).adjusted()


def _round(value: Decimal, decimals: int, within: tuple[float | Decimal, float | Decimal] | None) -> Decimal:
    """Round to a multiple of 10^-decimals, without reaching a bound if ``value`` is strictly inside."""
    unit = get_unit(decimals)
    result = value.quantize(unit, rounding=ROUND_HALF_UP, context=_EXACT)
    if within is not None and Decimal(within[0]) < value < Decimal(within[1]):
        bottom, top = (Decimal(bound) for bound in within)
        # The last multiple before each finite bound.
        lowest = bottom.quantize(unit, ROUND_FLOOR, _EXACT) + unit if bottom.is_finite() else bottom
        highest = top.quantize(unit, ROUND_CEILING, _EXACT) - unit if top.is_finite() else top
        if lowest > highest:
            return _round(value, decimals + 1, within)
        result = min(max(result, lowest), highest)
    # A number rounded to hundreds is still written with its zeros.
    return result.quantize(Decimal(1), context=_EXACT) if decimals < 0 else result


def get_unit(decimals: int) -> Decimal:
    """Return 10^-decimals, the unit of the last decimal; a negative number gives tens or hundreds."""
    return Decimal((0, (1,), -decimals))


def _strip_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _add_sign(text: str, *, signed: bool = False) -> str:
    """Add U+2212 to a negative number, a plus to a positive one if ``signed``, and nothing to zero."""
    bare = text.removeprefix("-")
    if not bare.partition("e")[0].strip("0.,"):
        return bare
    sign = MINUS if text.startswith("-") else "+" if signed else ""
    return sign + bare.replace("-", MINUS)


def lower_axis_title(title: str) -> str:
    """Lower-case an axis title for use in a sentence, unless its first word is an acronym."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def to_datetime(milliseconds: float) -> datetime:
    """Convert milliseconds since 1970 to a date and time in UTC.

    Raises ``OverflowError`` outside the years 1 to 9999.
    """
    return _FIRST + timedelta(milliseconds=milliseconds)


def format_moment(milliseconds: float) -> str | None:
    """Format a time as ``2024-05-03`` or ``2024-05-03T12:30`` in UTC; None outside the years 1 to 9999."""
    try:
        moment = to_datetime(milliseconds)
    except OverflowError:
        return None
    part = "milliseconds" if moment.microsecond % 1000 == 0 else "microseconds"
    day, _, clock = moment.replace(tzinfo=None).isoformat(timespec=part).partition("T")
    shortest = clock.removesuffix(".000").removesuffix(":00")
    return day if shortest == "00:00" else f"{day}T{shortest}"


def parse_moment(text: str) -> float | None:
    """Parse ``2024-05-01`` or ``2024-05-01T12:00`` as milliseconds since 1970; None if it is not a date.

    A date without a time is midnight; a time without an offset is in UTC.
    """
    if not _ISO.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _FIRST
    except (ValueError, OverflowError):  # no such date, or outside the years 1 to 9999
        return None
    return since / timedelta(milliseconds=1)


_LONGEST = 100
"""Characters of a name that are compared, since the time for comparing is quadratic in the length."""


_WILD = frozenset("*?")
_NO_WILD = dict.fromkeys(map(ord, _WILD))


class ChosenNames(Struct, frozen=True):
    """The names that patterns choose, in their order, and the patterns that choose or exclude nothing."""

    names: tuple[str, ...]
    unmatched: tuple[str, ...]


def is_pattern(text: str) -> bool:
    """Return whether a text may choose several names or exclude some."""
    return text.startswith("!") or not _WILD.isdisjoint(text)


def matches_pattern(pattern: str, name: str) -> bool:
    """Return whether a pattern without ``!`` chooses a name: ``*`` is any text, also with slashes."""
    # Brackets are part of many names: "acc [%]" and "layers[0]".
    return pattern == name or fnmatchcase(name, pattern.replace("[", "[[]"))


def choose_names(patterns: Sequence[str], known: Sequence[str]) -> ChosenNames:
    """Choose among known names: those that a pattern names or matches, without those behind ``!``.

    A name that is written exactly comes before any other meaning of it. With exclusions alone all others are
    chosen, in the order of ``known``; otherwise the order is that of the patterns.
    """
    excluding = {text: text[1:].strip() for text in patterns if text.startswith("!") and text not in known}
    found = {
        text: [text] if text in known else [name for name in known if matches_pattern(text, name)]
        for text in patterns
        if text not in excluding
    }
    gone = {
        text: {name for name in known if matches_pattern(pattern, name)}
        for text, pattern in excluding.items()
    }
    left_out = set().union(*gone.values())
    chosen: Iterable[str] = known if not found else (name for names in found.values() for name in names)
    return ChosenNames(
        tuple(dict.fromkeys(name for name in chosen if name not in left_out)),
        tuple(text for text in patterns if not (found.get(text) or gone.get(text))),
    )


def explain_unmatched(pattern: str, what: str, known: Sequence[str], owner: str) -> tuple[str, str]:
    """Explain why a pattern chooses nothing, and the next step with the nearest name.

    ``what`` is one of the named things, such as ``metric``, and ``owner`` where they are.
    """
    plain = pattern.removeprefix("!").strip()
    near = suggest_name(plain.translate(_NO_WILD), known, cutoff=0.5)
    verb = "leaves out" if pattern.startswith("!") else "matches"
    return f'"{pattern}" {verb} no {what} of {owner}', f"{near}It has {quote_names(known) or 'none'}"


def suggest_formula(text: str) -> str:
    """Return how to write a text that computes, such as ``1 - accuracy``, or an empty text for any other."""
    return f"To compute it, write {{NAME: {text}}}. " if re.search(r"\S\s+[-+*/]\s+\S", text) else ""


def find_nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the most similar known name, ignoring case, or an empty string; the first of equal ones.

    ``cutoff`` is the required similarity: 0 for any name, 1 for the same letters.
    """
    return _match_nearest(name, tuple(known), cutoff)


def suggest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Suggest the nearest name in a question followed by a space, or an empty string if there is none."""
    near = find_nearest(name, known, cutoff)
    return f'Did you mean "{near}"? ' if near else ""


def quote_names(names: Sequence[str], most: int = 12) -> str:
    """Quote and join the first ``most`` names, and count the others."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


# A renamed series is looked up on many lines, and comparing it with all other names is slow.
@lru_cache(maxsize=256)
def _match_nearest(name: str, known: tuple[str, ...], cutoff: float) -> str:
    by_small = {one.lower(): one for one in reversed(known)}
    found = get_close_matches(name.lower()[:_LONGEST], list(by_small), n=1, cutoff=cutoff)
    return by_small[found[0]] if found else ""


def escape_formula(text: str) -> str:
    """Prefix a name that a spreadsheet would run as a formula with an apostrophe.

    The marks are those of OWASP's page on CSV injection, including their full-width forms.
    """
    return f"'{text}" if text.startswith(_FORMULA_MARKS) else text
