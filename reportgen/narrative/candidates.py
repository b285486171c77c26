"""What looks like a bound value or claim in Markdown, ``[0.84]{value="peak(MEL)"}``, and how it is written.

Whether Markdown shows it, or takes it for code or a comment, is decided elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from reportgen.narrative.braces import (
    KINDS,
    Fault,
    check_attributes,
    explain_unclosed,
    parse_attributes,
    read_braces,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.narrative.braces import Attribute, Braces

_MENTIONED: Final = re.compile(r"(?<![\w-])(?:value|claim)\s*=")
_BRACE: Final = re.compile(r"\]( *)\{")
_QUOTED: Final = re.compile(r"(?:[> ]|[-+*] +|\d+[.)] +)*")
_EMPTY_LINE: Final = re.compile(r"\n[> ]*\n")
_CONTROL: Final = re.compile("[\x02\x03]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A binding as it is written; all offsets are those of the text that was searched.

    Attributes:
        kind, words, expression, of, name, fails: as in ``Binding``.
        start: the opening bracket; for one that is badly written, where it is told.
        words_start, words_end: the words without the space around them.
        expression_start: the expression's first character.
        closing: from the closing bracket to the closing brace, start and end of each line's part, without
            indentation and quote marks; for one that is badly written, the opening brace alone.
        faults: why it is badly written.
    """

    kind: Literal["value", "claim"]
    words: str
    expression: str
    of: str | None
    name: str
    fails: str
    start: int
    words_start: int
    words_end: int
    expression_start: int
    closing: tuple[tuple[int, int], ...]
    faults: tuple[Fault, ...] = ()


def has_binding_marks(text: str) -> bool:
    """Whether a text may hold a binding at all; quick."""
    return "]" in text and "{" in text and _MENTIONED.search(text) is not None


@lru_cache(maxsize=256)  # the draft asks, and later the page itself
def find_candidates(text: str) -> tuple[Candidate, ...]:
    """Everything in a text that is written as a binding, or was plainly meant as one, in order.

    Args:
        text: Markdown after superfences, its lines ended by a line feed, without tabs.
    """
    found: list[Candidate] = []
    place = 0
    while match := _BRACE.search(text, place):
        place = match.end()
        one = _read_candidate(text, match)
        if one is not None:
            found.append(one)
            place = max(place, one.closing[-1][1])
    return tuple(found)


def _read_candidate(text: str, match: re.Match[str]) -> Candidate | None:
    closing, brace = match.start(), match.end() - 1
    opening = text.rfind("[", text.rfind("]", 0, closing) + 1, closing)
    inside = text[opening + 1 : closing]
    if _is_escaped(text, closing) or (opening >= 0 and _is_escaped(text, opening)):
        return None
    if opening >= 0 and (_EMPTY_LINE.search(inside) or _CONTROL.search(inside)):
        opening = -1
    start = opening if opening >= 0 else closing
    quotes = _QUOTED.match(text, text.rfind("\n", 0, start) + 1, start)
    depth = quotes.group().count(">") if quotes else 0
    braces = read_braces(text, brace + 1, depth)
    attributes, end = parse_attributes(braces.text)
    rest = braces.text[max(end, 0) :].partition("}")[0]
    if not any(a.name in KINDS and a.text is not None for a in attributes) and (
        end >= 0 or not _MENTIONED.search(rest)
    ):
        return None
    faults = [] if opening >= 0 else [_no_words(text, closing)]
    if match[1]:
        faults.append(Fault(closing + 1, "a space stands between the words and the braces", "Remove it"))
    if end < 0:
        faults.append(explain_unclosed(text, brace, braces, attributes))
    else:
        faults += check_attributes(attributes, braces)
    return _make_candidate(text, (opening, closing, brace), depth, (braces, attributes, end), faults)


def _make_candidate(
    text: str,
    places: tuple[int, int, int],
    depth: int,
    read: tuple[Braces, list[Attribute], int],
    faults: list[Fault],
) -> Candidate:
    opening, closing, brace = places
    braces, attributes, end = read
    raw = text[opening + 1 : closing]
    words = re.sub(rf" *\n *(?:> *){{0,{depth}}}", " ", raw).strip()
    if opening >= 0 and not words:
        step = "Write the words or the number between the square brackets"
        faults.append(Fault(opening, "nothing stands between the square brackets", step))
    texts = {a.name: a.text or "" for a in attributes}
    bound = next((a for a in attributes if a.name in KINDS), None)
    expression = bound.text or "" if bound else ""
    lead = len(expression) - len(expression.lstrip())
    first = opening + 1 + len(raw) - len(raw.lstrip())
    return Candidate(
        kind="claim" if bound and bound.name == "claim" else "value",
        words=words,
        expression=expression.strip(),
        of=texts["of"].strip() if "of" in texts else None,
        name=texts.get("name", "").strip(),
        fails=texts.get("fails", "").strip(),
        start=opening if opening >= 0 else closing,
        words_start=first,
        words_end=max(first, closing - (len(raw) - len(raw.rstrip()))),
        expression_start=braces.find_offset(bound.text_start + lead) if bound else brace,
        closing=((brace, brace + 1),) if faults else tuple(_split_lines(text, closing, braces, end)),
        faults=tuple(faults),
    )


def _is_escaped(text: str, place: int) -> bool:
    before = place
    while before and text[before - 1] == "\\":
        before -= 1
    return (place - before) % 2 == 1


def _split_lines(text: str, closing: int, braces: Braces, end: int) -> Iterator[tuple[int, int]]:
    """Each line's part from the closing bracket to the closing brace."""
    last = braces.find_offset(end - 1) + 1
    for number, (inside, offset) in enumerate(braces.starts):
        if inside >= end:
            return
        start = closing if number == 0 else offset
        line_end = text.find("\n", start)
        yield start, last if line_end < 0 else min(last, line_end)


def _no_words(text: str, closing: int) -> Fault:
    if "]" in text[text.rfind("\n", 0, closing) + 1 : closing]:
        said = "the words of a statement hold a square bracket or a link"
        return Fault(closing, said, "Bind words without square brackets: [0.84]{...}")
    return Fault(closing, "this ] has no [ in its paragraph", "Write the words as [words]{...}")
