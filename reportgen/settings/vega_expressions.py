"""Vega's expression language: which functions and properties an author's specification may use.

Vega keeps expressions away from the page by a list of function names, and holes in it have been found again
and again: an event leads to the window (``event.view``), a scene item to its element, a value to its
``constructor``, and Vega-Lite's own ``vlSelectionTuples`` calls what it is given. So the functions and the
properties of an event that may be used are listed here, and whatever leads out of the data is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.core.words import suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


Fault: TypeAlias = tuple[str, str]
"""What is wrong, and the next step."""

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<text>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\w*)
    | (?P<name>[^\W\d][\w$]*|\$[\w$]*)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEXP: Final = re.compile(
    r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])*/\w*"
)
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_MARKS: Final = frozenset("()[]{}.,:;?+-*/%<>=!&|^~@")
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([\s\S]))")
_LONGEST: Final = 10_000
_LAST_CHARACTER: Final = 0x10FFFF


def split_words(text: str) -> frozenset[str]:
    """The words of a text; a hyphen is part of one."""
    return frozenset(re.findall(r"[\w-]+", text))


# Ways from a value to code, and from an element to the window.
_LEADS_OUT: Final = split_words(
    """constructor __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__
    ownerDocument defaultView contentWindow contentDocument"""
)
_PATH: Final = re.compile(r"[.\[\]'\"\\]+")
_EVENT_PROPERTIES: Final = split_words(
    """type x y clientX clientY pageX pageY screenX screenY offsetX offsetY movementX movementY button
    buttons key code keyCode which repeat shiftKey altKey ctrlKey metaKey deltaX deltaY deltaMode
    wheelDelta detail pointerId pointerType pressure timeStamp isTrusted"""
)
# Of Vega 6: https://vega.github.io/vega/docs/expressions/, without those that change data (setdata, modify,
# encode), write to the console, or give the scene, the event or the screen.
_FUNCTIONS: Final = split_words(
    """isArray isBoolean isDate isDefined isFinite isNaN isNumber isObject isRegExp isString isTuple
    isValid toBoolean toDate toNumber toString if abs acos asin atan atan2 ceil clamp cos
    exp floor hypot log max min pow random round sin sqrt tan sampleNormal cumulativeNormal
    densityNormal quantileNormal sampleLogNormal cumulativeLogNormal densityLogNormal
    quantileLogNormal sampleUniform cumulativeUniform densityUniform quantileUniform now
    datetime date day dayofyear year quarter month week hours minutes seconds milliseconds
    time timezoneoffset timeOffset timeSequence utc utcdate utcday utcdayofyear utcyear
    utcquarter utcmonth utcweek utchours utcminutes utcseconds utcmilliseconds utcOffset
    utcSequence isoweek utcisoweek extent clampRange indexof inrange join lastindexof length
    lerp peek pluck reverse sequence slice sort span lower pad parseFloat parseInt replace
    split substring trim truncate upper merge dayFormat dayAbbrevFormat format monthFormat
    monthAbbrevFormat timeUnitSpecifier timeFormat timeParse utcFormat utcParse regexp test
    rgb hsl lab hcl luminance contrast x y xy pinchDistance pinchAngle inScope data indata
    scale invert copy domain range bandwidth bandspace gradient panLinear panLog panPow
    panSymlog zoomLinear zoomLog zoomPow zoomSymlog geoArea geoBounds geoCentroid geoScale
    geoTranslate containerSize windowSize btoa atob encodeURIComponent flush"""
)
_GIVES_A_NUMBER: Final = split_words(
    """length indexof lastindexof floor ceil round abs min max clamp toNumber parseInt parseFloat year
    quarter month week date day hours minutes seconds utcyear utcquarter utcmonth utcdate utcday
    utchours"""
)
_ARITHMETIC: Final = frozenset("-*/%")
_CHOOSING: Final = frozenset("?:,|&")


def decode_escapes(text: str) -> str:
    r"""The text with JavaScript's escapes undone, as ``\u0063`` and ``\x63`` for the letter c."""
    return _ESCAPE.sub(_decode_escape, text)


def find_unsafe_name(path: str) -> str:
    """The first name in a path such as ``a.constructor`` that leads from data to code; empty if none does."""
    return next((part for part in _PATH.split(decode_escapes(path)) if part in _LEADS_OUT), "")


def check_expression(text: str, *, selector: bool = False) -> Fault | None:
    """What is wrong with an expression, and the next step; None if an author may write it.

    Args:
        text: the expression.
        selector: whether it is a selector of events, such as ``pointerdown[event.shiftKey]``, whose brackets
            hold expressions and look nothing up.
    """
    if len(text) > _LONGEST:
        return (
            f"the expression has {len(text):,} characters",
            f"Keep it below {_LONGEST:,}, or compute it before",
        )
    return next(_find_faults(tuple(_tokenize(text)), selector=selector), None)


def _decode_escape(escape: re.Match[str]) -> str:
    code = next((digits for digits in escape.groups()[:3] if digits), "")
    return chr(min(int(code, 16), _LAST_CHARACTER)) if code else str(escape[4])


def _tokenize(text: str) -> Iterator[str]:
    """Names, numbers, texts in quotes, regular expressions and single marks, without space between them."""
    at, last = 0, ""
    while at < len(text):
        # A slash behind a value divides; elsewhere it begins a regular expression, which may hold quotes.
        found = (None if _is_value(last) else _REGEXP.match(text, at)) or _TOKEN.match(text, at)
        if found is None:
            return
        at = found.end()
        if not found[0].isspace():
            last = found[0]
            yield last


def _is_value(piece: str) -> bool:
    """Whether a piece ends a value, so that a bracket behind it looks something up in that."""
    return bool(piece) and (piece in _CLOSING or len(piece) > 1 or piece.isalnum() or piece in "$_")


def _find_faults(tokens: Sequence[str], *, selector: bool) -> Iterator[Fault]:
    depth = 0
    for place, piece in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if len(piece) == 1 and not (piece.isalnum() or piece in _MARKS or piece in "$_"):
            yield f'"{piece}" is no part of an expression', "Remove it, or close the quotes"
        elif (piece, after) in {("/", "/"), ("/", "*")}:
            yield "an expression takes no comment", "Remove it"
        elif piece[0] in "'\"" or before == ".":
            yield from _check_path(piece)
        elif piece[0].isalpha() or piece[0] in "_$":
            yield from _check_path(piece)
            yield from _check_name(tokens, place, before, after)
        elif piece == "[" and _is_value(before) and (depth or not selector):
            yield from _check_index(tokens, place)
        depth += (piece in _OPENING) - (piece in _CLOSING)


def _check_path(piece: str) -> Iterator[Fault]:
    if out := find_unsafe_name(piece):
        yield (
            f'"{out}" leads out of the data of a chart',
            "Use fields of the data; rename a column of this name",
        )


def _check_name(tokens: Sequence[str], place: int, before: str, after: str) -> Iterator[Fault]:
    """What is wrong with a name that no dot stands before: a function, the event, an item, or a parameter."""
    name = tokens[place]
    if after == "(":
        if name not in _FUNCTIONS:
            step = "Use other functions of Vega's expressions, or compute it before"
            yield f'a chart may not call "{name}()"', suggest_name(name, _FUNCTIONS) + step
    elif after == ":" and before in {"{", ","}:
        return  # the key of an object
    elif name == "event":
        attribute = tokens[place + 2] if after == "." and place + 2 < len(tokens) else ""
        if attribute not in _EVENT_PROPERTIES:
            step = (
                f"{suggest_name(attribute, _EVENT_PROPERTIES)}Use such as event.shiftKey, "
                "event.key or event.x"
            )
            yield "an event leads out of the chart but for its keys and places", step
    elif name == "item":
        yield "an item of the scene leads out of the chart", "Use datum, which has its data"


def _check_index(tokens: Sequence[str], place: int) -> Iterator[Fault]:
    """What is wrong with a bracket behind a value."""
    end = _find_end(tokens, place)
    after = tokens[end + 1] if end + 1 < len(tokens) else ""
    of_datum = tokens[place - 1] == "datum" and (place == 1 or tokens[place - 2] != ".")
    if _is_plain_index(tokens[place + 1 : end]) or (of_datum and after not in {".", "["}):
        return
    step = "Write the field's name, a number such as +place, or datum[…] without more behind it"
    yield f'"{tokens[place - 1]}[…]" looks up a name that is only known when the chart is drawn', step


def _is_plain_index(inner: Sequence[str]) -> bool:
    """Whether an index is a written name or number, or an expression that can be nothing but a number."""
    if len(inner) == 1:
        return inner[0][0] in "'\"" or inner[0][0].isdigit()
    depth, top = 0, []
    for token in inner:
        depth -= token in _CLOSING
        top += [] if depth else [token]
        depth += token in _OPENING
    if not top or "+" in top[1:] or not _CHOOSING.isdisjoint(top):
        return False
    is_call = top[0] in _GIVES_A_NUMBER and top[1:] == ["(", ")"]
    return is_call or top[0] == "+" or not _ARITHMETIC.isdisjoint(top)


def _find_end(tokens: Sequence[str], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place] in _OPENING) - (tokens[place] in _CLOSING)
        if depth == 0:
            return place
    return len(tokens)
