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
    from collections.abc import Sequence


_Fault: TypeAlias = tuple[str, str]
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


def split_words(text: str) -> frozenset[str]:
    """The words of a text; a hyphen is part of one."""
    return frozenset(re.findall(r"[\w-]+", text))


# Properties that lead from a value to code, or from an element to the window.
_LEADS_OUT: Final = split_words(
    """constructor __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ ownerDocument
    defaultView contentWindow contentDocument"""
)
_PATH: Final = re.compile(r"[.\[\]'\"\\]+")
_EVENT_PROPERTIES: Final = split_words(
    """type x y clientX clientY pageX pageY screenX screenY offsetX offsetY movementX movementY button buttons
    key code keyCode which repeat shiftKey altKey ctrlKey metaKey deltaX deltaY deltaMode wheelDelta detail
    pointerId pointerType pressure timeStamp isTrusted"""
)
# Functions of Vega 6, https://vega.github.io/vega/docs/expressions/, except those that change data (setdata,
# modify, encode), write to the console, or return the scene, the event or the screen.
_FUNCTIONS: Final = split_words(
    """isArray isBoolean isDate isDefined isFinite isNaN isNumber isObject isRegExp isString isTuple isValid
    toBoolean toDate toNumber toString if abs acos asin atan atan2 ceil clamp cos exp floor hypot log max
    min pow random round sin sqrt tan sampleNormal cumulativeNormal densityNormal quantileNormal
    sampleLogNormal cumulativeLogNormal densityLogNormal quantileLogNormal sampleUniform cumulativeUniform
    densityUniform quantileUniform now datetime date day dayofyear year quarter month week hours minutes
    seconds milliseconds time timezoneoffset timeOffset timeSequence utc utcdate utcday utcdayofyear
    utcyear utcquarter utcmonth utcweek utchours utcminutes utcseconds utcmilliseconds utcOffset
    utcSequence isoweek utcisoweek extent clampRange indexof inrange join lastindexof length lerp peek
    pluck reverse sequence slice sort span lower pad parseFloat parseInt replace split substring trim
    truncate upper merge dayFormat dayAbbrevFormat format monthFormat monthAbbrevFormat timeUnitSpecifier
    timeFormat timeParse utcFormat utcParse regexp test rgb hsl lab hcl luminance contrast x y xy
    pinchDistance pinchAngle inScope data indata scale invert copy domain range bandwidth bandspace
    gradient panLinear panLog panPow panSymlog zoomLinear zoomLog zoomPow zoomSymlog geoArea geoBounds
    geoCentroid geoScale geoTranslate containerSize windowSize btoa atob encodeURIComponent flush"""
)
_GIVES_A_NUMBER: Final = split_words(
    """length indexof lastindexof floor ceil round abs min max clamp toNumber parseInt parseFloat year quarter
    month week date day hours minutes seconds utcyear utcquarter utcmonth utcdate utcday utchours"""
)
_ARITHMETIC: Final = frozenset("-*/%")
_CHOOSING: Final = frozenset("?:,|&")
LAST_CHARACTER: Final = 0x10FFFF


def check_expression(text: str, *, selector: bool = False) -> _Fault | None:
    """What is wrong with an expression; None if an author may write it.

    The brackets of a ``selector`` of events, such as ``pointerdown[event.shiftKey]``, hold expressions and
    look nothing up.
    """
    if len(text) > _LONGEST:
        step = f"Keep it below {_LONGEST:,}, or compute it before"
        return f"the expression has {len(text):,} characters", step
    pieces: list[str] = []
    index = 0
    while index < len(text):
        # A slash after a value divides; elsewhere it begins a regular expression, which may contain quotes.
        is_division = bool(pieces) and _is_value(pieces[-1])
        match = (None if is_division else _REGEXP.match(text, index)) or _TOKEN.match(text, index)
        if match is None:
            break
        index = match.end()
        pieces += [] if match[0].isspace() else [match[0]]
    depth = 0
    for index, piece in enumerate(pieces):
        if fault := _check_piece(pieces, index, looks_up=depth > 0 or not selector):
            return fault
        depth += (piece in _OPENING) - (piece in _CLOSING)
    return None


def _is_value(piece: str) -> bool:
    """Whether a piece ends a value, so that a bracket behind it looks something up in that."""
    return bool(piece) and (piece in _CLOSING or len(piece) > 1 or piece.isalnum() or piece in "$_")


def _check_piece(pieces: Sequence[str], index: int, *, looks_up: bool) -> _Fault | None:
    piece = pieces[index]
    before = pieces[index - 1] if index else ""
    after = pieces[index + 1] if index + 1 < len(pieces) else ""
    if len(piece) == 1 and not (piece.isalnum() or piece in _MARKS or piece in "$_"):
        return f'"{piece}" is no part of an expression', "Remove it, or close the quotes"
    if (piece, after) in {("/", "/"), ("/", "*")}:
        return "an expression cannot contain a comment", "Remove it"
    is_name = piece[0].isalpha() or piece[0] in "_$"
    if (is_name or piece[0] in "'\"" or before == ".") and (name := find_unsafe_name(piece)):
        step = "Use fields of the data; rename a column of this name"
        return f'"{name}" leads out of the data of a chart', step
    if is_name and before != ".":
        return _check_name(pieces, index, before, after)
    if piece == "[" and before != "." and _is_value(before) and looks_up:
        return _check_index(pieces, index)
    return None


def _check_name(pieces: Sequence[str], index: int, before: str, after: str) -> _Fault | None:
    """Check a name that no dot stands before: a function, the event, an item, or a parameter."""
    name = pieces[index]
    if after == "(":
        if name not in _FUNCTIONS:
            step = "Use other functions of Vega's expressions, or compute it before"
            return f'a chart may not call "{name}()"', suggest_name(name, _FUNCTIONS) + step
    elif after == ":" and before in {"{", ","}:
        return None  # the key of an object
    elif name == "event":
        attribute = pieces[index + 2] if after == "." and index + 2 < len(pieces) else ""
        if attribute not in _EVENT_PROPERTIES:
            near = suggest_name(attribute, _EVENT_PROPERTIES)
            step = f"{near}Use such as event.shiftKey, event.key or event.x"
            return "an event leads out of the chart but for its keys and places", step
    elif name == "item":
        return "an item of the scene leads out of the chart", "Use datum, which has its data"
    return None


def _check_index(pieces: Sequence[str], start: int) -> _Fault | None:
    """Check a bracket behind a value: it holds a written name or number, or what can only be a number."""
    inner: list[str] = []
    outermost: list[str] = []  # the pieces inside that are not in nested brackets
    depth = 0
    for piece in pieces[start + 1 :]:
        depth -= piece in _CLOSING
        if depth < 0:
            break
        inner.append(piece)
        outermost += [] if depth else [piece]
        depth += piece in _OPENING
    before, after = pieces[start - 1], "".join(pieces[start + len(inner) + 2 :][:1])
    if before == "datum" and (start == 1 or pieces[start - 2] != ".") and after not in {".", "["}:
        return None
    if len(inner) == 1:
        is_plain = inner[0][0] in "'\"" or inner[0][0].isdigit()
    elif not outermost or "+" in outermost[1:] or not _CHOOSING.isdisjoint(outermost):
        is_plain = False
    else:
        is_call = outermost[0] in _GIVES_A_NUMBER and outermost[1:] == ["(", ")"]
        is_plain = is_call or outermost[0] == "+" or not _ARITHMETIC.isdisjoint(outermost)
    step = "Write the field's name, a number such as +place, or datum[…] without more behind it"
    message = f'"{before}[…]" looks up a name that is only known when the chart is drawn'
    return None if is_plain else (message, step)


def undo_escapes(text: str) -> str:
    r"""The text without JavaScript's escapes, such as ``\u0063`` and ``\x63`` for the letter c."""

    def decode(escape: re.Match[str]) -> str:
        code = next((digits for digits in escape.groups()[:3] if digits), "")
        return chr(min(int(code, 16), LAST_CHARACTER)) if code else str(escape[4])

    return _ESCAPE.sub(decode, text)


def find_unsafe_name(path: str) -> str:
    """The first name in a path such as ``a.constructor`` that leads from data to code; empty if none does."""
    return next((part for part in _PATH.split(undo_escapes(path)) if part in _LEADS_OUT), "")
