"""The language of claims: small, safe and total. An expression is parsed to a tree before anything is asked.

Lowest binding first::

    or, and, not, < <= > >= = !=, + -, * /, unary minus, atoms

An atom is a number (``84%`` is 0.84), a fact such as ``at(MEL, 120)``, or an expression in parentheses; the
arguments of facts are names, names in quotes (a doubled quote stands for one), and expressions. Comparisons
chain as in ``a < b < c``. Nothing can be read from a name but a series or a fact, and nothing is called but
facts. Length, number of parts and depth are bounded, so that reading ends in time linear in the length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from reportgen.claims.expressions.faults import ExpressionError, Fault
from reportgen.claims.expressions.tokens import Token, TokenKind, parse_number, tokenize
from reportgen.claims.facts.vocabulary import FACTS, KEYWORDS, quote_name

if TYPE_CHECKING:
    from collections.abc import Sequence


_NEXT_STEP = "Write a number, a fact such as final(A), or a name there"
_THOUSANDS = 3


def explain_missing(words: Sequence[Token], at: int) -> Fault:
    """What to say where a number, a fact or a name has to stand and ``words[at]`` stands instead."""
    token, before = words[at], words[at - 1] if at else None
    if token.kind is TokenKind.END:
        said = "The expression ends too early"
        return _make_fault(
            token, f'{said}: nothing stands behind "{before.text}"' if before else said, _NEXT_STEP
        )
    if token.text in {")", ","} and before is not None and before.text in {"(", ","}:
        if before.text == "(" and token.text == ")":
            return _make_fault(token, "Nothing stands between these parentheses", _NEXT_STEP)
        return _make_fault(token, "An argument is missing here", "Write it, or take the comma out")
    if token.text == "+":
        return _make_fault(token, 'A "+" in front of a number means nothing', "Take it out")
    if (
        token.text not in {")", ","}
        and before is not None
        and before.kind is TokenKind.MARK
        and before.text not in {"(", ","}
    ):
        return _explain_operators(before, token)
    return _make_fault(token, f'Something is missing in front of "{token.text}"', _NEXT_STEP)


def explain_unexpected(text: str, words: Sequence[Token], at: int, opened: Sequence[Token]) -> Fault:
    """What to say where an expression is complete and ``words[at]`` stands behind it.

    ``opened`` are the opening parentheses that are still open.
    """
    token, before = words[at], words[at - 1]
    if token.kind is TokenKind.END:
        return _make_fault(opened[-1], 'This "(" is never closed', 'Put the ")" where it belongs')
    if token.kind is TokenKind.MARK and token.text in {")", ",", "%"}:
        return _explain_mark(text, words, at)
    if opened and before.kind is TokenKind.NAME and token.kind in {TokenKind.NAME, TokenKind.NUMBER}:
        return _explain_spaced_name(text, words, at)
    step = 'Put "and", "or", a comparison or an arithmetic sign between'
    if token.text.lower() in KEYWORDS and token.kind is TokenKind.NAME:
        step = f'Write "{token.text.lower()}" in small letters'
    elif before.kind is TokenKind.NAME and before.text in FACTS:
        step = f"Put what a fact is about in parentheses: {FACTS[before.text].signature}"
    return _make_fault(token, f'Nothing connects "{token.text}" with what stands in front of it', step)


def remove_comma(text: str, before: str, behind: str, position: int) -> str:
    """The number that an author means by ``1,200`` or ``0,84``; empty where a comma separates.

    ``before`` and ``behind`` are the numbers around the comma, as written; ``position`` is where the second
    starts in the text.
    """
    if text[:position].endswith(f"{before},") and before.isdigit() and behind[:1].isdigit():
        thousands = len(behind.partition(".")[0]) == _THOUSANDS and not before.startswith("0")
        if thousands:
            return f"{before}{behind}".removesuffix(".")
        return f"{before}.{behind}" if behind.isdigit() else ""
    return ""


def _explain_mark(text: str, words: Sequence[Token], at: int) -> Fault:
    token = words[at]
    if token.text == ")":
        return _make_fault(token, 'This ")" closes nothing', 'Take it out, or put a "(" in front')
    if token.text == "%":
        return _make_fault(
            token, "A percent sign stands behind something else than a number", "Write it as in 84%"
        )
    before, behind = words[at - 1], words[at + 1]
    meant = remove_comma(text, before.text, behind.text, behind.position)
    if meant:
        start, end = before.position, behind.position + behind.length
        said = f'"{text[start:end]}" has a comma, and a number is written without'
        return Fault(start, end - start, said, f"Write {meant}")
    return _make_fault(token, "A comma stands outside the arguments of a fact", "Take it out")


def _explain_operators(before: Token, token: Token) -> Fault:
    together = before.text + token.text
    step = f'Write "{together}" without a space' if together in {"<=", ">=", "!="} else "Take one of them out"
    start = before.position
    length = token.position + token.length - start
    return Fault(start, length, f'"{before.text}" and "{token.text}" follow each other', step)


def _explain_spaced_name(text: str, words: Sequence[Token], at: int) -> Fault:
    first = last = at
    while words[first - 1].kind in {TokenKind.NAME, TokenKind.NUMBER}:
        first -= 1
    while words[last + 1].kind in {TokenKind.NAME, TokenKind.NUMBER}:
        last += 1
    start, end = words[first].position, words[last].position + words[last].length
    name = text[start:end]
    step = f"A name with spaces is put in quotes: {quote_name(name)}"
    return Fault(start, end - start, f'Nothing connects the words "{name}"', step)


def _make_fault(token: Token, message: str, next_step: str) -> Fault:
    return Fault(token.position, token.length, message, next_step)


MOST_CHARACTERS, MOST_NODES, MOST_DEPTH = 1_000, 200, 40


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of an expression, and where it stands."""

    position: int
    length: int


@dataclass(frozen=True, slots=True)
class Number(_Node):
    """A number; ``percent`` where a percent sign stands behind it, which ``value`` has taken in."""

    value: float
    percent: bool


@dataclass(frozen=True, slots=True)
class Name(_Node):
    """A name that stands alone: a series, or in quotes a date."""

    name: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Call(_Node):
    """A fact with its arguments; the name is its first characters."""

    name: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Prefix(_Node):
    """``not`` or ``-`` in front of an expression."""

    operator: str
    of: Tree


@dataclass(frozen=True, slots=True)
class Chain(_Node):
    """Two or more expressions with operators of one level between them, read from the left.

    Attributes:
        operators: one fewer than parts: all of ``or``; ``and``; comparisons; ``+ -``; or ``* /``.
    """

    operators: tuple[str, ...]
    parts: tuple[Tree, ...]


Tree: TypeAlias = Number | Name | Call | Prefix | Chain
_Made = TypeVar("_Made", Number, Name, Call, Prefix, Chain)

COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
_OR, _NOT, _COMPARISON, _SIGN = 1, 3, 4, 7
_LEVELS = {"or": _OR, "and": 2, **dict.fromkeys(COMPARISONS, _COMPARISON), "+": 5, "-": 5, "*": 6, "/": 6}


def parse(text: str) -> Tree:
    """The tree of an expression.

    Raises:
        ExpressionError: the text is no expression, or is too long or too deep.
    """
    if len(text) > MOST_CHARACTERS:
        said = f"The expression has {len(text):,} characters, and there may be {MOST_CHARACTERS:,}"
        step = "Split it into several claims"
        raise ExpressionError([Fault(MOST_CHARACTERS, len(text) - MOST_CHARACTERS, said, step)])
    return _Parser(text).parse_all()


def get_text(text: str, tree: Tree) -> str:
    """The words of an expression that a part of its tree stands for."""
    return text[tree.position : tree.position + tree.length]


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
        if self._is_at_end():
            raise _make_error(
                self._next, "The expression is empty", "Write a fact, such as final(A) > final(B)"
            )
        tree = self._parse_expression(_OR)
        if not self._is_at_end():
            raise self._make_unexpected_error()
        return tree

    def _is_at_end(self) -> bool:
        return self._next.kind is TokenKind.END

    def _take(self) -> Token:
        taken = self._next
        self._at += 1  # the end is never taken
        self._next = self._tokens[self._at]
        return taken

    def _get_level(self) -> int:
        token = self._next
        return _LEVELS.get(token.text, 0) if token.kind is TokenKind.MARK else 0

    def _is(self, mark: str) -> bool:
        return self._next.kind is TokenKind.MARK and self._next.text == mark

    def _parse_expression(self, lowest: int) -> Tree:
        start = self._next
        left = self._parse_prefixed(lowest)
        while (level := self._get_level()) >= lowest:
            operators, parts = [], [left]
            while self._get_level() == level:
                operators.append(self._take().text)
                parts.append(self._parse_expression(level + 1))
            left = self._count_node(Chain(*self._get_span(start), tuple(operators), tuple(parts)))
        return left

    def _parse_prefixed(self, lowest: int) -> Tree:
        start = self._next
        if self._is("not"):
            if lowest > _NOT:
                step = "Put parentheses around it: (not …)"
                raise _make_error(start, '"not" cannot stand behind this operator', step)
            operand = self._parse_nested(self._take(), _NOT)
        elif self._is("-"):
            operand = self._parse_nested(self._take(), _SIGN)
        else:
            return self._parse_atom()
        return self._count_node(Prefix(*self._get_span(start), start.text, operand))

    def _parse_atom(self) -> Tree:
        token = self._next
        if token.kind is TokenKind.NUMBER:
            return self._parse_number()
        if token.kind is TokenKind.NAME or token.kind is TokenKind.STRING:
            self._take()
            if token.kind is TokenKind.NAME and self._is("("):
                return self._parse_call(token)
            return self._count_node(Name(*self._get_span(token), token.text, token.kind is TokenKind.STRING))
        if self._is("("):
            inner = self._parse_nested(self._open(), _OR)
            self._close()
            return inner
        raise self._missing()

    def _parse_number(self) -> Number:
        token = self._take()
        percent = self._is("%")
        if percent:
            self._take()
        value = parse_number(token.text) / (100 if percent else 1)
        return self._count_node(Number(*self._get_span(token), value, percent))

    def _parse_call(self, name: Token) -> Call:
        opened = self._open()
        arguments = []
        if not self._is(")"):
            arguments.append(self._parse_nested(opened, _OR))
            while self._is(","):
                arguments.append(self._parse_nested(self._take(), _OR))
        self._close()
        return self._count_node(Call(*self._get_span(name), name.text, tuple(arguments)))

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
            said = f"The expression is nested more than {MOST_DEPTH} deep"
            raise _make_error(token, said, "Take out parentheses, or split it into several claims")
        tree = self._parse_expression(lowest)
        self._depth -= 1
        return tree

    def _count_node(self, tree: _Made) -> _Made:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            said = f"The expression has more than {MOST_NODES} parts"
            raise _make_error(tree, said, "Split it into several claims")
        return tree

    def _get_span(self, start: Token) -> tuple[int, int]:
        last = self._tokens[self._at - 1]
        return start.position, last.position + last.length - start.position

    def _missing(self) -> ExpressionError:
        return ExpressionError([explain_missing(self._tokens, self._at)])

    def _make_unexpected_error(self) -> ExpressionError:
        return ExpressionError([explain_unexpected(self._text, self._tokens, self._at, self._opened)])


def _make_error(token: Token | Tree, message: str, next_step: str) -> ExpressionError:
    return ExpressionError([Fault(token.position, token.length, message, next_step)])
