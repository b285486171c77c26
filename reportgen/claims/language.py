"""The language of claims: small, safe and total. Expressions are parsed to a tree before evaluation.

Lowest binding first::

    or, and, not, < <= > >= = !=, + -, * /, unary minus, atoms

An atom is a number (``84%`` is 0.84), a fact such as ``at(MEL, 120)``, or an expression in parentheses; the
arguments of facts are names, names in quotes (a doubled quote is an escaped one), and expressions.
Comparisons chain as in ``a < b < c``. Names refer only to series and facts, and only facts are called.
Length, number of parts and depth are bounded, so that parsing takes time linear in the length.
"""

from __future__ import annotations

import math
import re
import string
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from reportgen.claims.vocabulary import KEYWORDS, PLAIN_NAME, quote_name
from reportgen.core.facts import FACTS
from reportgen.core.statements import ExpressionError, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def shorten(text: str, most: int = 60) -> str:
    """Shorten words of an expression for a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# ---- tokens ------------------------------------------------------------------------------------------


class TokenKind(StrEnum):
    """Kind of a token; the words are for messages."""

    NUMBER = "a number"
    NAME = "a name"
    STRING = "text in quotes"
    MARK = "a mark"
    END = "the end"


class Token(NamedTuple):
    """A token of an expression, and its position."""

    kind: TokenKind
    text: str  # content of a name or quoted text, plain form of a mark: ``<=`` for ``≤``
    position: int
    length: int


_PLAIN = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "×": "*"}
# Replacements for the notation of other languages, editors and web pages.
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
# Every repeated branch can match in one way only, so that reading takes linear time.
_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"""|(?P<string>'(?:[^']|'')*+'|"(?:[^"]|"")*+")"""
    r"""|(?P<unclosed>['"].*)"""
    # A digit before letters is not a number: 4B, 120k.
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
    """Split an expression into tokens, followed by an end token.

    Raises ``ExpressionError``: characters that no expression has, an open quote, a number out of range.
    """
    tokens: list[Token] = []
    faults: list[Fault] = []
    for match in _TOKEN.finditer(text):
        part, place = match.group(), (match.start(), len(match.group()))
        match match.lastgroup:
            case "space":
                continue
            case "name":
                tokens.append(Token(TokenKind.MARK if part in KEYWORDS else TokenKind.NAME, part, *place))
            case "mark":
                tokens.append(Token(TokenKind.MARK, _PLAIN.get(part, part), *place))
            case "string":
                name = part[1:-1].replace(part[0] * 2, part[0])
                tokens.append(Token(TokenKind.STRING, name, *place))
            case "number":
                value = parse_number(part)
                if math.isinf(value):
                    faults.append(Fault(*place, "This number is too large", "Write one below 1e308"))
                if value == 0 and re.search("[1-9]", re.split("[eE]", part)[0]):
                    faults.append(Fault(*place, "This number is too small to distinguish from 0", "Write 0"))
                tokens.append(Token(TokenKind.NUMBER, part, *place))
            case _:
                faults.append(Fault(*place, *_explain_foreign(match)))
    if faults:
        raise ExpressionError(faults)
    return (*tokens, Token(TokenKind.END, "", len(text), 1))


def _explain_foreign(match: re.Match[str]) -> tuple[str, str]:
    """Explain characters that no expression has, and the next step."""
    text = match.group()
    match match.lastgroup:
        case "unclosed":
            return "A quote is opened here and never closed", f"Put {text[0]} behind the name"
        case "digits":
            # The name meant, with the part before a slash: 'Qwen/7B'.
            before = match.string[: match.start()]
            stem = before[len(before.rstrip(_IN_PATHS)) :] if before.endswith("/") else ""
            name = f"Put a name in quotes: {quote_name(stem.lstrip('/') + text)}"
            return f'"{text}" is neither a number nor a name', f"{name}. Write a number as 120, 0.84 or 1e-3"
        case "long" | "short" if _INSTEAD[text] == "'":
            step = "Use the straight quotes ' or \""
        case "long" | "short":
            step = f'Write "{_INSTEAD[text]}" instead'
        case _:
            step = "Put a name that holds it in quotes" if text.isprintable() else "Take it out"
    return f'"{text if text.isprintable() else ascii(text)[1:-1]}" means nothing in an expression', step


def parse_number(text: str) -> float:
    """Parse a number token."""
    return float(text.replace("−", "-"))


# ---- the tree ----------------------------------------------------------------------------------------


class _Node(Struct, frozen=True):
    """A part of an expression, and its position."""

    position: int
    length: int


class Number(_Node, frozen=True):
    """A number; ``percent`` if a percent sign follows it, which ``value`` includes."""

    value: float
    percent: bool


class Name(_Node, frozen=True):
    """A name by itself: a series, or in quotes a date."""

    name: str
    quoted: bool


class Call(_Node, frozen=True):
    """A fact with its arguments; the name is its first characters."""

    name: str
    arguments: tuple[Tree, ...]


class Prefix(_Node, frozen=True):
    """``not`` or ``-`` before an expression."""

    operator: str
    of: Tree


class Chain(_Node, frozen=True):
    """Two or more expressions joined by operators of one level, read from the left."""

    operators: tuple[str, ...]  # one fewer: all ``or``; ``and``; comparisons; ``+ -``; or ``* /``
    parts: tuple[Tree, ...]


Tree: TypeAlias = Number | Name | Call | Prefix | Chain
_Made = TypeVar("_Made", Number, Name, Call, Prefix, Chain)


def get_text(text: str, tree: Tree) -> str:
    """Return the words of a part of an expression's tree."""
    return text[tree.position : tree.position + tree.length]


def make_fault(part: Token | Tree, message: str, next_step: str) -> Fault:
    """Make a fault of a part of an expression, at its position."""
    return Fault(part.position, part.length, message, next_step)


# ---- explanations of faults --------------------------------------------------------------------------

_NEXT_STEP = "Write a number, a fact such as final(A), or a name there"
_THOUSANDS = 3


def explain_missing(words: Sequence[Token], at: int) -> Fault:
    """Explain that ``words[at]`` is in the position of a number, a fact or a name."""
    token, before = words[at], words[at - 1] if at else None
    closing = token.text in {")", ","}
    if token.kind is TokenKind.END:
        behind = f': nothing follows "{before.text}"' if before else ""
        return make_fault(token, f"The expression ends too early{behind}", _NEXT_STEP)
    if closing and before is not None and before.text in {"(", ","}:
        if before.text == "(" and token.text == ")":
            return make_fault(token, "Nothing stands between these parentheses", _NEXT_STEP)
        return make_fault(token, "An argument is missing here", "Write it, or take the comma out")
    if token.text == "+":
        return make_fault(token, 'A "+" in front of a number means nothing', "Take it out")
    mark = before is not None and before.kind is TokenKind.MARK and before.text not in {"(", ","}
    if before is not None and mark and not closing:
        pair = before.text + token.text
        step = f'Write "{pair}" without a space' if pair in {"<=", ">=", "!="} else "Take one of them out"
        length = token.position + token.length - before.position
        return Fault(before.position, length, f'"{before.text}" and "{token.text}" follow each other', step)
    return make_fault(token, f'Something is missing in front of "{token.text}"', _NEXT_STEP)


def explain_unexpected(text: str, words: Sequence[Token], at: int, opened: Sequence[Token]) -> Fault:
    """Explain ``words[at]`` after a complete expression; ``opened`` are open parentheses."""
    token, before = words[at], words[at - 1]
    if token.kind is TokenKind.END:
        return make_fault(opened[-1], 'This "(" is never closed', 'Put the ")" where it belongs')
    if token.kind is TokenKind.MARK and token.text in {")", ",", "%"}:
        return _explain_mark(text, words, at)
    spaced = {TokenKind.NAME, TokenKind.NUMBER}
    if opened and before.kind is TokenKind.NAME and token.kind in spaced:
        first = last = at
        while words[first - 1].kind in spaced:
            first -= 1
        while words[last + 1].kind in spaced:
            last += 1
        start, end = words[first].position, words[last].position + words[last].length
        name = text[start:end]
        step = f"A name with spaces is put in quotes: {quote_name(name)}"
        return Fault(start, end - start, f'Nothing connects the words "{name}"', step)
    step = 'Put "and", "or", a comparison or an arithmetic sign between'
    if token.text.lower() in KEYWORDS and token.kind is TokenKind.NAME:
        step = f'Write "{token.text.lower()}" in small letters'
    elif before.kind is TokenKind.NAME and before.text in FACTS:
        step = f"Put what a fact is about in parentheses: {FACTS[before.text].signature}"
    return make_fault(token, f'Nothing connects "{token.text}" with what comes before it', step)


def _explain_mark(text: str, words: Sequence[Token], at: int) -> Fault:
    token = words[at]
    if token.text == ")":
        return make_fault(token, 'This ")" closes nothing', 'Take it out, or put a "(" in front')
    if token.text == "%":
        message = "A percent sign follows something other than a number"
        return make_fault(token, message, "Write it as in 84%")
    before, behind = words[at - 1], words[at + 1]
    meant = remove_comma(text, before.text, behind.text, behind.position)
    if meant:
        start, end = before.position, behind.position + behind.length
        message = f'"{text[start:end]}" has a comma, and a number is written without'
        return Fault(start, end - start, message, f"Write {meant}")
    return make_fault(token, "A comma stands outside the arguments of a fact", "Take it out")


def remove_comma(text: str, before: str, behind: str, position: int) -> str:
    """Return the number meant by ``1,200`` or ``0,84``; empty if the comma is a separator.

    ``before`` and ``behind`` are the numbers around the comma, as written; ``position`` is the start of the
    second in the text.
    """
    if not (text[:position].endswith(f"{before},") and before.isdigit() and behind[:1].isdigit()):
        return ""
    if len(behind.partition(".")[0]) == _THOUSANDS and not before.startswith("0"):
        return f"{before}{behind}".removesuffix(".")
    return f"{before}.{behind}" if behind.isdigit() else ""


# ---- parsing -----------------------------------------------------------------------------------------

MOST_CHARACTERS, MOST_NODES, MOST_DEPTH = 1_000, 200, 40

COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
_OR, _NOT, _COMPARISON, _SIGN = 1, 3, 4, 7
_LEVELS = {"or": _OR, "and": 2, **dict.fromkeys(COMPARISONS, _COMPARISON), "+": 5, "-": 5, "*": 6, "/": 6}


def parse(text: str) -> Tree:
    """Parse an expression to a tree; raise ``ExpressionError`` if it is invalid, too long or too deep."""
    if len(text) > MOST_CHARACTERS:
        message = f"The expression has {len(text):,} characters, and there may be {MOST_CHARACTERS:,}"
        step = "Split it into several claims"
        raise ExpressionError([Fault(MOST_CHARACTERS, len(text) - MOST_CHARACTERS, message, step)])
    return _Parser(text).parse_all()


class _Parser:
    """Precedence climbing over the tokens: one level of nesting takes few frames, a chain takes none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._at = 0
        self._next = self._tokens[0]
        self._nodes = 0
        self._depth = 0
        self._opened: list[Token] = []

    def parse_all(self) -> Tree:
        if len(self._tokens) == 1:
            step = "Write a fact, such as final(A) > final(B)"
            raise _make_error(self._next, "The expression is empty", step)
        tree = self._parse_expression(_OR)
        if self._at < len(self._tokens) - 1:
            raise self._make_unexpected_error()
        return tree

    def _take(self) -> Token:
        taken = self._next
        self._at += 1  # the end is never consumed
        self._next = self._tokens[self._at]
        return taken

    def _get_level(self) -> int:
        token = self._next
        return _LEVELS.get(token.text, 0) if token.kind is TokenKind.MARK else 0

    def _is(self, mark: str) -> bool:
        return self._next.kind is TokenKind.MARK and self._next.text == mark

    def _parse_expression(self, lowest: int) -> Tree:
        start = self._next
        if self._is("not") or self._is("-"):
            if self._is("not") and lowest > _NOT:
                step = "Put parentheses around it: (not …)"
                raise _make_error(start, '"not" cannot stand behind this operator', step)
            operand = self._parse_nested(self._take(), _NOT if start.text == "not" else _SIGN)
            left: Tree = self._make(Prefix, start, start.text, operand)
        else:
            left = self._parse_atom()
        while (level := self._get_level()) >= lowest:
            operators, parts = [], [left]
            while self._get_level() == level:
                operators.append(self._take().text)
                parts.append(self._parse_expression(level + 1))
            left = self._make(Chain, start, tuple(operators), tuple(parts))
        return left

    def _parse_atom(self) -> Tree:
        token = self._next
        if self._is("("):
            inner = self._parse_nested(self._open(), _OR)
            self._close()
            return inner
        if token.kind not in {TokenKind.NUMBER, TokenKind.NAME, TokenKind.STRING}:
            raise ExpressionError([explain_missing(self._tokens, self._at)])
        self._take()
        if token.kind is TokenKind.NUMBER:
            percent = self._is("%")
            if percent:
                self._take()
            return self._make(Number, token, parse_number(token.text) / (100 if percent else 1), percent)
        if token.kind is TokenKind.STRING or not self._is("("):
            return self._make(Name, token, token.text, token.kind is TokenKind.STRING)
        opened = self._open()
        arguments = []
        if not self._is(")"):
            arguments.append(self._parse_nested(opened, _OR))
            while self._is(","):
                arguments.append(self._parse_nested(self._take(), _OR))
        self._close()
        return self._make(Call, token, token.text, tuple(arguments))

    def _open(self) -> Token:
        self._opened.append(self._next)
        return self._take()

    def _close(self) -> None:
        if not self._is(")"):
            raise self._make_unexpected_error()
        self._take()
        self._opened.pop()

    def _parse_nested(self, token: Token, lowest: int) -> Tree:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            message = f"The expression is nested more than {MOST_DEPTH} deep"
            raise _make_error(token, message, "Take out parentheses, or split it into several claims")
        tree = self._parse_expression(lowest)
        self._depth -= 1
        return tree

    def _make(self, kind: Callable[..., _Made], start: Token, *fields: object) -> _Made:
        last = self._tokens[self._at - 1]
        node = kind(start.position, last.position + last.length - start.position, *fields)
        self._nodes += 1
        if self._nodes > MOST_NODES:
            message = f"The expression has more than {MOST_NODES} parts"
            raise _make_error(node, message, "Split it into several claims")
        return node

    def _make_unexpected_error(self) -> ExpressionError:
        return ExpressionError([explain_unexpected(self._text, self._tokens, self._at, self._opened)])


def _make_error(token: Token | Tree, message: str, next_step: str) -> ExpressionError:
    return ExpressionError([make_fault(token, message, next_step)])
