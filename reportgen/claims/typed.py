"""Numbers typed by authors in prose: digits, unit and style, each with its position.

::

    words     := lead* [sign] digits [magnitude] [unit]
    lead      := "p" | "=" | "<" | "<=" | ">" | ">=" | about | the step's name
    about     := "~" or a sign like it | "about" | "around" | "roughly" | "approximately"
    sign      := "+" | a minus sign, a hyphen or an en dash
    digits    := 0.84 | .84 | 1,234 | 1e-3 | 1.6 times 10 raised to 3, in its signs
                 on an axis of times also 2024-05-03 | 2024-05-03 12:30 | 2024-05-03 12:30:15, in UTC
    magnitude := "k" | "M" | "B" or "G" | "T" | "thousand" | "million" | "billion" | "trillion"
    unit      := "%" | "percent" | "points" | "pp" | "percentage points" | "steps" | the step's name
                 | a times sign | "x" | "times"; on an axis of times also seconds, minutes, hours, days, weeks

Thousands may be separated by thin or no-break spaces. Spaces, emphasis, code marks, tags, quotes and
punctuation are allowed between the parts. Anything else, or a second number, is a fault: what is not
understood is not checked.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.statements import ExpressionError, Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.statements import Scale


SPACE = r"(?:\s|&(?:nbsp|thinsp|ensp);)"
_MINUS = r"(?:[-−–]|&(?:minus|ndash);)"
_TIMES = r"(?:×|&times;)"
_GROUPED = r"[0-9]{1,3}(?P<separator>[,\u2009\u202f\u00a0])[0-9]{3}(?:(?P=separator)[0-9]{3})*(?![0-9])"
# Every branch is greedy and gives back at most one choice, so that reading takes linear time.
_TOKEN = re.compile(
    r"(?P<tag></?[A-Za-z][^<>]*>)"
    rf"|(?P<moment>(?P<day>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
    rf"(?:(?:T|{SPACE})(?P<clock>[0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}})?)Z?)?)"
    rf"|(?P<number>(?P<mantissa>(?:{_GROUPED}|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    rf"(?:(?P<mark>[eE]|{SPACE}?(?:{_TIMES}|[x·⋅]){SPACE}?10(?:\^|(?=[⁰¹²³⁴-⁹⁺⁻])))"
    rf"(?P<exponent_sign>[+⁺⁻]|{_MINUS})?(?P<exponent>[0-9]+|[⁰¹²³⁴-⁹]+))?)"
    rf"|(?P<sign>\+|{_MINUS})"
    r"|(?P<relation><=|>=|[<>=≤≥]|&[lg][te];)"
    r"|(?P<about>[~≈≃≅]|&(?:approx|asymp);)"
    r"|(?P<percent>%)"
    rf"|(?P<times>{_TIMES})"
    r"|(?P<word>[^\W\d_](?:[\w.'/-]*[^\W_])?)"
    rf"""|(?P<space>{SPACE}|[*_`\\"'\u2018\u2019“”„«».,;:!?()])"""
    r"|(?P<other>.)",
    re.DOTALL,
)
RELATIONS = {"&lt;": "<", "&gt;": ">", "&le;": "≤", "&ge;": "≥", "<=": "≤", ">=": "≥"}
ABOUT = {"about", "around", "roughly", "approximately"}
MAGNITUDES = {
    **dict.fromkeys(("k", "K", "thousand"), 3),
    **dict.fromkeys(("M", "million"), 6),
    **dict.fromkeys(("B", "G", "billion"), 9),
    **dict.fromkeys(("T", "trillion"), 12),
}


class Unit(StrEnum):
    """Unit of a typed number; the words are for messages."""

    NONE = "a plain number"
    PERCENT = "in percent"
    POINTS = "in percentage points"
    STEPS = "a number of steps"
    STEP = "a step"
    TIMES = "a ratio"
    MOMENT = "a date"
    DURATION = "a span of time"


UNITS = {
    **dict.fromkeys(("%", "percent", "per cent"), Unit.PERCENT),
    **dict.fromkeys(("points", "point", "pp", "ppt", "% points"), Unit.POINTS),
    **dict.fromkeys(("percentage points", "percentage point"), Unit.POINTS),
    **dict.fromkeys(("×", "x", "times", "time"), Unit.TIMES),
}
MILLISECONDS = {
    **dict.fromkeys(("second", "seconds"), 1000),
    **dict.fromkeys(("minute", "minutes"), 60_000),
    **dict.fromkeys(("hour", "hours"), 3_600_000),
    **dict.fromkeys(("day", "days"), 86_400_000),
    **dict.fromkeys(("week", "weeks"), 604_800_000),
}


def make_misread_error(message: str, next_step: str) -> ExpressionError:
    """Make a fault of the words: it has no position in the expression."""
    return ExpressionError([Fault(-1, 1, message, next_step)])


def list_step_nouns(scale: Scale) -> dict[str, str]:
    """List the nouns for steps in lower case, singular and plural, each with its counterpart."""
    nouns: dict[str, str] = {}
    for name in ("step", (scale.step_name or "step").lower()):
        one = name[:-1] if name.endswith("s") and not name.endswith("ss") else name
        many = f"{one}s"
        if one.endswith(("s", "x", "sh", "tch")):
            many = f"{one}es"
        elif one.endswith("y") and one[-2:-1] not in set("aeiou"):
            many = f"{one[:-1]}ies"
        nouns |= {one: many, many: one}
    return nouns


def get_other_number(noun: str, scale: Scale) -> str:
    """Return ``steps`` for ``step`` and vice versa; empty for a noun with one form, such as ``pp``."""
    if noun.lower() in {"x", "pp", "ppt", "percent", "cent", ""}:
        return ""
    known = list_step_nouns(scale).get(noun.lower())
    if known is not None:
        return known
    return noun[:-1] if noun.endswith("s") else f"{noun}s"


MOST_CHARACTERS, MOST_DIGITS = 1_000, 40
# No double has more digits before or after its point.
_MOST_EXPONENT = 330
_NUMBERS = {"number", "moment"}
_NOT_READ = {"tag", "space"}
_FORMS = "a number such as 0.84, 84%, +3.2 points, 120 steps, 1.2k or 1e-3"
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class Typed(Struct, frozen=True):
    """A typed number; absent parts are empty or 0."""

    words: str  # everything between the brackets
    start: int  # of sign and digits in ``words``, with their exponent, without magnitude and unit
    digits: int  # where the digits begin; after ``start`` if there is a sign
    end: int
    number: Decimal = Decimal(0)  # with sign and exponent, before magnitude and unit; 0 for a date
    sign: str = ""  # as typed
    decimals: int = 0  # digits after the mantissa's point
    separator: str | None = None  # thousands separator; None if there are too few digits to see it
    bare_point: bool = False  # no digit before the point, as in ``.84``
    significant: int = 1  # digits of the mantissa without leading zeros, at least 1
    exponent: int = 0  # the power of ten after the mantissa
    exponent_mark: str = ""  # between mantissa and exponent, such as ``e``
    exponent_sign: str = ""  # as typed
    exponent_digits: str = ""  # as typed
    magnitude: int = 0  # the power of ten of ``k`` or ``million``
    unit: Unit = Unit.NONE  # what it counts
    milliseconds: int = 0  # of one unit of a duration
    noun: str = ""  # the unit's last word
    noun_start: int = 0
    p: bool = False  # whether ``p`` precedes it
    relation: str = ""  # ``=``, ``<``, ``≤``, ``>`` or ``≥``; ``≈`` counts as ``=``
    relation_start: int = 0
    relation_end: int = 0
    moment: str = ""  # the date in ISO 8601, in its own precision

    @property
    def last_place(self) -> int:
        """Decimals of the last digit; below 0 if it counts tens or hundreds."""
        return self.decimals - self.exponent


def read_typed(words: str, scale: Scale) -> Typed:
    """Read what an author typed between the brackets.

    The name of the scale's step is a unit, and on a time axis there are dates. Raises ``ExpressionError`` if
    there is no number, more than one, or something that is not understood; a fault has the position -1, since
    it is one of the words, not of the expression.
    """
    if len(words) > MOST_CHARACTERS:
        message = f"a bound value has {len(words):,} characters, and there may be {MOST_CHARACTERS:,}"
        raise make_misread_error(message, f"Bind {_FORMS} alone")
    tokens: list[re.Match[str]] = []
    end = 0
    while match := _TOKEN.match(words, end):
        # On an axis of steps, what looks like a date is several numbers.
        if match.lastgroup == "moment" and not scale.step_is_time:
            match = _TOKEN.match(words, end, end + 4) or match
        tokens += [match] if match.lastgroup not in _NOT_READ else []
        end = match.end()
        if match[0] == "," and re.fullmatch("[0-9],[0-9]", words[max(end - 2, 0) : end + 1]):
            step = "Write a point before decimals, and commas before each three digits: 0.84, 12,345"
            raise make_misread_error(f'"{words}" has a comma that parts no thousands', step)
    numbers = [at for at, match in enumerate(tokens) if match.lastgroup in _NUMBERS]
    if not numbers:
        raise make_misread_error(f'"{words}" holds no number', f"Type {_FORMS}, or make it a claim")
    if len(numbers) > 1:
        message = f'"{words}" holds more than one number: {", ".join(tokens[at][0] for at in numbers)}'
        raise make_misread_error(message, "Bind each number by itself")
    (place,) = numbers
    for at, match in enumerate(tokens):
        if match.lastgroup == "other" or (match.lastgroup == "sign" and at != place - 1):
            raise _make_foreign_error(words, match[0])
    signed = place > 0 and tokens[place - 1].lastgroup == "sign"
    typed = _read_digits(words, tokens[place], tokens[place - 1] if signed else None)
    typed = _read_lead(typed, tokens[: place - signed], scale)
    return _read_unit(typed, tokens[place + 1 :], scale)


def _make_foreign_error(words: str, part: str) -> Exception:
    step = "Keep it outside the brackets; units that can be checked are %, points, steps, times, k and M"
    return make_misread_error(f'"{words}" holds "{part}", which is no number and no unit', step)


def _read_digits(words: str, match: re.Match[str], sign: re.Match[str] | None) -> Typed:
    start, typed_sign = (sign.start(), sign[0]) if sign else (match.start(), "")
    if match.lastgroup == "moment":
        if sign:
            message = f'"{words}" has a sign before a date'
            raise make_misread_error(message, "Write the date alone, such as 2024-05-03")
        moment = f"{match['day']}T{match['clock']}" if match["clock"] else match["day"]
        try:
            datetime.fromisoformat(moment)
        except ValueError:
            message = f'"{match[0]}" is no date there is'
            raise make_misread_error(message, "Write year, month and day: 2024-05-03") from None
        return Typed(words, start, start, match.end(), unit=Unit.MOMENT, moment=moment)
    separator = match["separator"]
    whole, _, fraction = match["mantissa"].replace(separator or ",", "").partition(".")
    exponent_sign, exponent_digits = match["exponent_sign"] or "", match["exponent"] or ""
    # Python refuses to parse thousands of digits, and nobody needs them.
    exponent = int(exponent_digits.translate(_RAISED)[:6] or "0")
    exponent = exponent if exponent_sign in {"", "+", "⁺"} else -exponent
    if abs(exponent) > _MOST_EXPONENT or len(whole + fraction) > MOST_DIGITS:
        message = f'"{words}" has more digits, or a larger exponent, than any number here'
        raise make_misread_error(message, "Type as many digits as tell something")
    number = Decimal(f"{whole}.{fraction}E{exponent}")
    return Typed(
        *(words, start, match.start(), match.end()),
        number=number if typed_sign in {"", "+"} else number.copy_negate(),
        sign=typed_sign,
        decimals=len(fraction),
        separator=separator or ("" if len(whole) > 3 else None),  # noqa: PLR2004 - thousands have three digits
        bare_point=not whole,
        significant=max(1, len((whole + fraction).lstrip("0"))),
        exponent=exponent,
        exponent_mark=match["mark"] or "",
        exponent_sign=exponent_sign,
        exponent_digits=exponent_digits,
    )


def _read_lead(typed: Typed, lead: Sequence[re.Match[str]], scale: Scale) -> Typed:
    name: list[str] = []
    p, relation, place = False, "", (0, 0)
    for match in lead:
        kind, part = match.lastgroup, match[0]
        if kind == "word" and part in {"p", "P"} and not p:
            p = True
        elif (kind == "relation" and relation in {"", "≈"}) or (kind == "about" and not relation):
            relation, place = "≈" if kind == "about" else RELATIONS.get(part, part), match.span()
        elif kind == "word":
            name += [part] if part.lower() not in ABOUT else []
        else:
            raise _make_foreign_error(typed.words, part)
    if name and (" ".join(name).lower() not in list_step_nouns(scale) or typed.unit is Unit.MOMENT):
        raise _make_foreign_error(typed.words, " ".join(name))
    relation = "=" if relation == "≈" else relation
    unit = Unit.STEP if name else typed.unit
    start, end = place
    return replace(typed, p=p, relation=relation, relation_start=start, relation_end=end, unit=unit)


def _read_unit(typed: Typed, tail: Sequence[re.Match[str]], scale: Scale) -> Typed:
    if tail and tail[0][0] in MAGNITUDES and typed.unit is not Unit.MOMENT:
        typed = replace(typed, magnitude=MAGNITUDES[tail[0][0]])
        tail = tail[1:]
    words = " ".join("×" if match.lastgroup == "times" else match[0].lower() for match in tail)
    if not tail or (typed.unit is Unit.MOMENT and words == "utc"):
        return typed
    times = MILLISECONDS if scale.step_is_time else {}
    named = Unit.DURATION if words in times else UNITS.get(words)
    unit = Unit.STEPS if words in list_step_nouns(scale) else named
    if unit is None or typed.unit is not Unit.NONE:
        raise _make_foreign_error(typed.words, " ".join(match[0] for match in tail))
    is_word = tail[-1].lastgroup == "word"
    noun, noun_start = (tail[-1][0], tail[-1].start()) if is_word else ("", 0)
    milliseconds = times.get(words, 0)
    return replace(typed, unit=unit, milliseconds=milliseconds, noun=noun, noun_start=noun_start)
