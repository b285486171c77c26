"""Prose so plain that Markdown surely shows a binding in it: nobody has to convert the page to know."""

from __future__ import annotations

import re
from typing import Final

_OPENING: Final = re.compile(r"rgb[0-9a-f]{16}o(\d+)z")
_CLOSING: Final = re.compile(r"rgb[0-9a-f]{16}c(\d+)p\d+z")
# A definition makes terms of the lines of the block in front of it.
_BLOCKS: Final = re.compile(r"\n(?:[> ]*\n)++(?![> ]*:)")
# Comments and raw HTML may hide whatever follows them.
_HTML: Final = re.compile(r"<[A-Za-z!?/]")
# Indented text, definitions, titles of admonitions and tabs; tables, escapes, targets of links and notes.
_HARD: Final = re.compile(r"^(?:[-+*>]|\d+[.)]| )*?(?:    |:|!!!|\?\?\?|===|///)|[\\|]|\]:", re.MULTILINE)
_CODE: Final = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)")
_LINK: Final = re.compile(r"!?\[[^\[\]]*\](?:\([^()]*\)| ?\[[^\[\]]*\])?")
_BRACKETS: Final = re.compile(r"[\[\]]|\x00 ?\(")
_QUOTES: Final = re.compile(r"[> ]*")
_HEADING: Final = re.compile(r"(?:[-+*> ]|\d+[.)])*#")
# What begins another block, so that words do not go on there.
_BEGINS: Final = re.compile(r"[> ]*(?:[-+*#=_:~{\[]|\d+[.)] )")


def find_surely_shown(signed: str) -> frozenset[int]:
    """The numbers of the candidates that stand in plain prose.

    Args:
        signed: the page after superfences, with signs for its candidates (see ``spans.signs``).
    """
    if _HTML.search(signed):
        return frozenset()
    return frozenset(number for block in _BLOCKS.split(signed) for number in _find_in_block(block))


def _find_in_block(block: str) -> frozenset[int]:
    numbers = {int(number) for number in _OPENING.findall(block)}
    if not numbers or _HARD.search(block):
        return frozenset()
    without_code = "\n".join(_CODE.sub("\x01", line) for line in block.split("\n"))
    prose = _LINK.sub("\x00", without_code)
    if "`" in prose or _BRACKETS.search(prose):
        return frozenset()
    left = {int(number) for number in _OPENING.findall(prose)}
    whole = left & {int(number) for number in _CLOSING.findall(prose)}
    return frozenset(whole - _find_broken(block.split("\n")))


def _find_broken(lines: list[str]) -> set[int]:
    """Candidates on several lines of which one may begin another block, or a quote of another depth."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, line in enumerate(lines):
        first.update((int(number), at) for number in _OPENING.findall(line))
        last.update((int(number), at) for number in _CLOSING.findall(line))
    broken = set()
    for number, begin in first.items():
        inside = lines[begin : last.get(number, begin) + 1]
        depths = {_count_quotes(line) for line in inside}
        heading = len(inside) > 1 and _HEADING.match(lines[begin]) is not None
        if heading or len(depths) > 1 or any(_BEGINS.match(line) for line in inside[1:]):
            broken.add(number)
    return broken


def _count_quotes(line: str) -> int:
    match = _QUOTES.match(line)
    return match.group().count(">") if match else 0
