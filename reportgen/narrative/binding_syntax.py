"""The syntax of bound values and claims, ``[0.84]{value="peak(MEL)" of="scores"}``, and its mistakes.

Whether Markdown shows a binding, or takes it for code or a comment, is decided in ``bindings``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reportgen.core.words import suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterator


LONGEST: Final = 4_000
"""Characters from a brace to the end of its paragraph that are read at most."""

KINDS: Final = ("value", "claim")
ATTRIBUTES: Final = (*KINDS, "of", "name", "fails")
_ATTRIBUTE: Final = re.compile(
    r""" *(?:(?P<end>\})|(?P<name>[^\s={}"']+)"""
    r"""(?: *= *(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s}"']*)))?)"""
)


class Fault(NamedTuple):
    """What is wrong with how a binding is written: an offset, what was found, and the next step."""

    offset: int
    message: str
    next_step: str


class Attribute(NamedTuple):
    """``name="text"`` at places in the braces' text; the text is None without ``=``."""

    name: str
    text: str | None
    quoted: bool
    start: int
    text_start: int


class Braces(NamedTuple):
    """The text from an opening brace to the end of its paragraph on one line, and where its parts stand."""

    text: str
    starts: tuple[tuple[int, int], ...]

    def find_offset(self, place: int) -> int:
        """Where a character of the one line stands."""
        inside, start = self.starts[bisect_right(self.starts, place, key=lambda pair: pair[0]) - 1]
        return start + place - inside


def read_braces(text: str, start: int, depth: int) -> Braces:
    """The rest of a paragraph on one line: a line break, with the quote marks behind it, is one space."""
    continues = re.compile(rf" *(?:> *){{0,{depth}}}")
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        starts.append((length, start))
        pieces.append(text[start : min(end, start + LONGEST)].rstrip(" "))
        length += len(pieces[-1]) + 1
        # Most braces end on their line; the rest of a long paragraph need not be joined for each of them.
        if "}" in pieces[-1] and parse_attributes(" ".join(pieces))[1] >= 0:
            return Braces(" ".join(pieces)[:LONGEST], tuple(starts))
        match = continues.match(text, end + 1)
        if match is None or text[match.end() : match.end() + 1] in {"", "\n"} or length > LONGEST:
            return Braces(" ".join(pieces)[:LONGEST], tuple(starts))
        start = match.end()


def parse_attributes(text: str) -> tuple[list[Attribute], int]:
    """The attributes, and the place behind the closing brace: -1 where there is none to be found."""
    found: list[Attribute] = []
    place = 0
    while match := _ATTRIBUTE.match(text, place):
        if match["end"]:
            return found, match.end()
        group = next((name for name in ("double", "single", "bare") if match[name] is not None), "")
        value, start = (match[group], match.start(group)) if group else (None, match.end("name"))
        found.append(Attribute(match["name"], value, group != "bare", match.start("name"), start))
        place = match.end()
    return found, -1


def explain_unclosed(text: str, brace: int, braces: Braces, attributes: list[Attribute]) -> Fault:
    """Why no closing brace was found behind the brace at an offset."""
    last = attributes[-1] if attributes else None
    if len(braces.text) == LONGEST:
        return Fault(brace, f"these braces are longer than {LONGEST} characters", "Shorten them")
    if last and last.text == "" and not last.quoted and braces.text[last.text_start :][:1] in {'"', "'"}:
        said = f"the quote behind {last.name}= is not closed"
        return Fault(braces.find_offset(last.start), said, "Close it before the next empty line")
    if "}" in text[brace : brace + LONGEST].partition("\n")[0]:
        said = "what stands in these braces cannot be read"
        return Fault(brace, said, 'Write name="text" for each attribute, with spaces between')
    return Fault(brace, "this { is not closed", "Write a } before the next empty line")


def check_attributes(attributes: list[Attribute], braces: Braces) -> Iterator[Fault]:
    """What is wrong with attributes that could be read."""
    seen: list[str] = []
    kinds = [a.name for a in attributes if a.name in KINDS]
    for name, text, quoted, start, _ in attributes:
        at = braces.find_offset(start)
        if name not in ATTRIBUTES:
            known = ", ".join(f"{one}=" for one in ATTRIBUTES)
            said = f'"{name}" is no attribute of a statement'
            yield Fault(at, said, f"{suggest_name(name, ATTRIBUTES)}There are {known}")
        elif name in seen:
            yield Fault(at, f"{name}= stands twice", "Leave one of them")
        elif text is None or not quoted:
            yield Fault(at, f"{name}= has no quotes around its text", f'Write {name}="..."')
        elif not text.strip():
            yield Fault(at, f"{name}= is empty", "Write something between its quotes")
        elif name in {"name", "fails"} and "claim" not in kinds:
            yield Fault(at, f"only a claim can have {name}=", "Remove it, or write claim= for value=")
        seen.append(name)
    if len(set(kinds)) > 1:
        said = "a statement has value= or claim=, not both"
        yield Fault(braces.find_offset(attributes[0].start), said, "Bind the words to one of them")


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
