"""The tokens of an expression: numbers, names, text in quotes and marks, each with its place."""

from __future__ import annotations

import math
import re
import string
from enum import StrEnum
from typing import NamedTuple

from reportgen.claims.expressions.faults import ExpressionError, Fault
from reportgen.claims.facts.vocabulary import KEYWORDS, PLAIN_NAME, quote_name


class TokenKind(StrEnum):
    """What a word of an expression is; the words are for messages."""

    NUMBER = "a number"
    NAME = "a name"
    STRING = "text in quotes"
    MARK = "a mark"
    END = "the end"


class Token(NamedTuple):
    """A word of an expression.

    Attributes:
        kind: what it is.
        text: for a name and for text in quotes what it says, for a mark its plain form: ``<=`` for ``≤``.
        position, length: where it stands.
    """

    kind: TokenKind
    text: str
    position: int
    length: int


_PLAIN = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "×": "*"}
# What other languages, editors and web pages write, and what is written here instead.
_INSTEAD = {
    **dict(zip(("&lt;", "&gt;", "&le;", "&ge;", "&ne;"), ("<", ">", "<=", ">=", "!="), strict=True)),
    **dict(zip(("=>", "=<", "<>", "===", "!=="), (">=", "<=", "!=", "=", "!="), strict=True)),
    **dict.fromkeys(("&amp;", "&&", "&", "\N{LOGICAL AND}"), "and"),
    **dict.fromkeys(("||", "|", "\N{LOGICAL OR}"), "or"),
    **dict.fromkeys(("!", "\N{NOT SIGN}"), "not"),
    **dict.fromkeys(("\N{EN DASH}", "\N{EM DASH}", "\N{HYPHEN}", "\N{NON-BREAKING HYPHEN}"), "-"),
    **dict.fromkeys(("\N{MIDDLE DOT}", "\N{DOT OPERATOR}"), "*"),
    **dict.fromkeys(("\N{DIVISION SIGN}", "\N{DIVISION SLASH}"), "/"),
    **dict.fromkeys(("\N{ALMOST EQUAL TO}", "~", "\N{PLUS-MINUS SIGN}"), "0.83 < final(A) < 0.85"),
    **dict.fromkeys(
        ("&quot;", "&#39;", "\N{LEFT SINGLE QUOTATION MARK}", "\N{RIGHT SINGLE QUOTATION MARK}"), "'"
    ),
    **dict.fromkeys(("\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}", "`"), "'"),
}
_IN_PATHS = string.ascii_letters + string.digits + "_.-/"
_LONG = "|".join(re.escape(mark) for mark in sorted(_INSTEAD, key=len, reverse=True) if len(mark) > 1)
_FIRST = "".join(sorted({mark[0] for mark in _INSTEAD}))
_SHORT = "|".join(re.escape(mark) for mark in _INSTEAD if len(mark) == 1)
# Every branch that repeats can match in one way only, so that reading takes linear time.
_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"""|(?P<string>'(?:[^']|'')*+'|"(?:[^"]|"")*+")"""
    r"""|(?P<unclosed>['"].*)"""
    # A digit in front of letters is no number: 4B, 120k.
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-−]?[0-9]+)?(?![\w.]))"
    rf"|(?P<name>{PLAIN_NAME})"
    r"|(?P<digits>[\w.]+(?:-[\w.]+)*)"
    rf"|(?P<long>{_LONG})"
    r"|(?P<mark><=|>=|!=|==|[<>=≤≥≠+\-−*×/(),%])"
    rf"|(?P<short>{_SHORT})"
    rf"|(?P<unknown>[^\w\s.'\"{re.escape('<>=≤≥≠+-−*×/(),%')}{re.escape(_FIRST)}]+|.)",
    re.DOTALL,
)


def tokenize(text: str) -> tuple[Token, ...]:
    """The words of an expression, and behind them one that stands for its end.

    Raises:
        ExpressionError: characters that no expression has, an open quote, a number out of range.
    """
    found: list[Token] = []
    faults: list[Fault] = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "space":
            token = _read_token(match)
            if isinstance(token, Token):
                found.append(token)
            else:
                faults.append(token)
    if faults:
        raise ExpressionError(faults)
    return (*found, Token(TokenKind.END, "", len(text), 1))


def _read_token(match: re.Match[str]) -> Token | Fault:
    text, position = match.group(), match.start()
    match match.lastgroup:
        case "name":
            kind = TokenKind.MARK if text in KEYWORDS else TokenKind.NAME
            return Token(kind, text, position, len(text))
        case "mark":
            return Token(TokenKind.MARK, _PLAIN.get(text, text), position, len(text))
        case "number":
            return _check_range(text, position) or Token(TokenKind.NUMBER, text, position, len(text))
        case "string":
            name = text[1:-1].replace(text[0] * 2, text[0])
            return Token(TokenKind.STRING, name, position, len(text))
    return Fault(position, len(text), *_explain_foreign(match))


def _explain_foreign(match: re.Match[str]) -> tuple[str, str]:
    """What is wrong with characters that no expression has, and the next step."""
    text = match.group()
    match match.lastgroup:
        case "unclosed":
            return "A quote is opened here and never closed", f"Put {text[0]} behind the name"
        case "digits":
            name = f"Put a name in quotes: {_quoted_path(match)}"
            return f'"{text}" is neither a number nor a name', f"{name}. Write a number as 120, 0.84 or 1e-3"
        case "long" | "short" if _INSTEAD[text] == "'":
            step = "Use the straight quotes ' or \""
        case "long" | "short":
            step = f'Write "{_INSTEAD[text]}" instead'
        case _:
            step = "Put a name that holds it in quotes" if text.isprintable() else "Take it out"
    return f'"{text if text.isprintable() else ascii(text)[1:-1]}" means nothing in an expression', step


def _quoted_path(match: re.Match[str]) -> str:
    """The name meant, with what stands in front of a slash: ``'Qwen/7B'``."""
    before = match.string[: match.start()]
    stem = before[len(before.rstrip(_IN_PATHS)) :] if before.endswith("/") else ""
    return quote_name(stem.lstrip("/") + match.group())


def _check_range(text: str, position: int) -> Fault | None:
    value = parse_number(text)
    if math.isinf(value):
        return Fault(position, len(text), "This number is too large", "Write one below 1e308")
    if value == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        return Fault(position, len(text), "This number is too small to be told from 0", "Write 0")
    return None


def parse_number(text: str) -> float:
    """The value of a number token."""
    return float(text.replace("−", "-"))
