"""What stands in the braces of a binding, ``{value="peak(MEL)" of="scores"}``, and what is wrong with it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.naming import suggest_name

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
