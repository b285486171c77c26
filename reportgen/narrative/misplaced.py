"""Expressions of statements behind words, in other brackets, quotes or words than a statement has.

``[0.84]{final(MEL)}``, ``[0.84](value=final(MEL))`` or ``[0.84]{exp="final(MEL)"}`` are no links, attributes
or notes: they call a fact, or begin with ``value=``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from reportgen.core.facts import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIRS: Final = {"{": "}", "(": ")", "[": "]", "\uff5b": "\uff5d", "\uff08": "\uff09", "\uff3b": "\uff3d"}
# Quotes, brackets and signs of other keyboards.
_PLAIN: Final = str.maketrans(
    {"\uff5b": "{", "\uff5d": "}", "\uff08": "(", "\uff09": ")", "\uff1d": "=", "\uff1a": ":"}
    | dict.fromkeys("\"'`$\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\uff02\uff07", '"')
)
_CALL: Final = rf"\b(?:{'|'.join(FACTS)})[(\uff08]"
_WORD: Final = r"(?<![\w-])(?:value|claim)[\"']?\s*[=:\uff1d\uff1a]"
_MARKS: Final = re.compile(f"{_CALL}|{_WORD}", re.IGNORECASE)
# A bracket behind words in brackets, braces behind a number, bold words or a link, or a word of statements.
_OPENING: Final = re.compile(
    "[\\]\uff3d\u3011] {0,3}\n?(?P<brace>[{\uff5b])|[\\]\uff3d\u3011](?P<other>[(\\[\uff08\uff3b])"
    "|(?:[)*%\\d] ?|^)(?P<loose>[{\uff5b])|[}\uff5d](?P<turned>[\\[])",
    re.MULTILINE,
)
_LONGEST: Final = 300
_NAMED: Final = re.compile(
    r"\"?[:.#]?(?P<name>[a-z][\w-]*)\"?\s*[=:]\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL
)
# A text that consists of calls, numbers and operators alone; nothing is tried in two ways.
_NUMBER: Final = r"\d++(?:\.\d++)?(?:e[-+]?\d++)?+(?: *(?:%|points?|pp))?"
_EXPRESSION: Final = re.compile(
    rf"(?:{_CALL}[^()]*+\)|{_NUMBER}|\b(?:and|or|not)\b|[-+*/<>=!\u2264\u2265\u2212()\s])++", re.IGNORECASE
)
_CALLS: Final = re.compile(_CALL, re.IGNORECASE)
# Attributes of HTML whose text may be anything.
_FREE: Final = re.compile(r"title|alt|style|on[a-z]+|.*-.*", re.IGNORECASE)
_MATH: Final = re.compile(r"(?<!\\)\$\$?[^$]{1,300}+\$|\\\(.{0,300}?\\\)|\\\[.{0,300}?\\\]")


def may_misplace(text: str) -> bool:
    """Return quickly whether a text calls a fact or has a word of statements."""
    return _MARKS.search(text) is not None and _OPENING.search(text) is not None


def find_misplaced(text: str) -> Iterator[int]:
    """Yield the offset of each opening bracket of what can only be meant as a statement, and is none."""
    marks = [match.start() for match in _MARKS.finditer(text)]
    for match in _OPENING.finditer(text):
        kind = match.lastgroup or ""
        start = match.start(kind)
        near = marks[(at := bisect_left(marks, start)) : at + 1]
        if not near or near[0] > start + _LONGEST or _is_literal(text, match.start(), start):
            continue
        content = _read_content(text, start)
        if not _MARKS.search(content):
            continue
        if text[start] == "[" and re.search(rf"^ *\[{re.escape(content)}\]:", text, re.MULTILINE):
            continue
        if _is_statement(content.translate(_PLAIN).strip(" {}\n"), kind):
            yield start


def _read_content(text: str, start: int) -> str:
    """Return what is between a bracket and the one that closes it, or the end of the line if none does."""
    opening, closing = text[start], _PAIRS[text[start]]
    end = text.find("\n\n", start, start + _LONGEST)
    part, depth = text[start : end if end >= 0 else start + _LONGEST], 0
    for place, letter in enumerate(part if closing in part else ""):
        depth += (letter == opening) - (letter == closing)
        if not depth:
            return part[1:place]
    return part[1:].partition("\n")[0] if opening in "{\uff5b" else ""


def _is_literal(text: str, first: int, start: int) -> bool:
    """Return whether a bracket is escaped or in mathematics."""
    words = text.rfind("[", max(0, first - _LONGEST), first)
    if any(text[at - 1] == "\\" for at in (words, first, start) if at > 0):
        return True
    begin = max(text.rfind("\n", 0, first) + 1, first - _LONGEST)
    end = text.find("\n", start)
    row = text[begin : min(start + _LONGEST, end if end >= 0 else len(text))]
    return any(one.start() <= start - begin < one.end() for one in _MATH.finditer(row))


def _is_statement(content: str, kind: str) -> bool:
    if (named := _NAMED.fullmatch(content)) is None:
        return _is_expression(content.lstrip("=:"))
    name, text = named["name"].casefold(), named["text"].strip()
    if name in {"value", "claim"}:
        return kind in {"brace", "other"} or bool(_CALLS.search(text))
    return not _FREE.fullmatch(name) and _is_expression(text)


def _is_expression(text: str) -> bool:
    text = text.strip('" ')
    return bool(_CALLS.search(text) and _EXPRESSION.fullmatch(text))
