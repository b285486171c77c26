"""Why some words are no expression, and what their author may have meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.expressions.faults import Fault
from reportgen.expressions.tokens import Token, TokenKind
from reportgen.facts.names import KEYWORDS, quote_name
from reportgen.facts.vocabulary import FACTS

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

    Args:
        text: the whole expression.
        words: its tokens.
        at: number of the token.
        opened: the opening parentheses that are still open.
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

    Args:
        text: the expression.
        before: the number in front of the comma.
        behind: the number behind it, as written.
        position: where the number behind the comma starts.
    """
    if text[:position].endswith(f"{before},") and before.isdigit() and behind[:1].isdigit():
        thousands = len(behind.partition(".")[0]) == _THOUSANDS and not before.startswith("0")
        return (
            f"{before}{behind}".removesuffix(".")
            if thousands
            else f"{before}.{behind}"
            if behind.isdigit()
            else ""
        )
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
