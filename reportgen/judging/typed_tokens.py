"""The parts of a number typed in prose, and the words that may stand beside it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from reportgen.expressions.faults import ExpressionError, Fault

if TYPE_CHECKING:
    from reportgen.statements import Scale

SPACE = r"(?:\s|&(?:nbsp|thinsp|ensp);)"
_MINUS = r"(?:[-−–]|&(?:minus|ndash);)"
_TIMES = r"(?:×|&times;)"
_GROUPED = r"[0-9]{1,3}(?P<separator>[,\u2009\u202f\u00a0])[0-9]{3}(?:(?P=separator)[0-9]{3})*(?![0-9])"
# Every branch takes what it can and never gives back more than one choice, so that reading takes linear time.
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
    """What a typed number counts; the words are for messages."""

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


def tokenize_typed(words: str, scale: Scale) -> tuple[re.Match[str], ...]:
    """The parts of some words, each with its kind as ``lastgroup``; together they are all of the words.

    On an axis of steps, what looks like a date is several numbers.

    Raises:
        ExpressionError: a comma that parts no thousands, as in ``0,84``.
    """
    found: list[re.Match[str]] = []
    at = 0
    while match := _TOKEN.match(words, at):
        if match.lastgroup == "moment" and not scale.step_is_time:
            match = _TOKEN.match(words, at, at + 4) or match
        found.append(match)
        at = match.end()
        if (
            match[0] == ","
            and re.search(r"[0-9]\Z", words[: match.start()])
            and re.match("[0-9]", words[at:])
        ):
            step = "Write a point before decimals, and commas before each three digits: 0.84, 12,345"
            raise make_misread_error(f'"{words}" has a comma that parts no thousands', step)
    return tuple(found)


def make_misread_error(message: str, next_step: str) -> ExpressionError:
    """A fault of the words: it has no place in the expression."""
    return ExpressionError([Fault(-1, 1, message, next_step)])


def list_step_nouns(scale: Scale) -> dict[str, str]:
    """What steps may be called, in lower case: one and several, each with the other of the two."""
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
    """``steps`` for ``step`` and the other way round; empty for what has one form, such as ``pp``."""
    if noun.lower() in {"x", "pp", "ppt", "percent", "cent", ""}:
        return ""
    known = list_step_nouns(scale).get(noun.lower())
    if known is not None:
        return known
    return noun[:-1] if noun.endswith("s") else f"{noun}s"
