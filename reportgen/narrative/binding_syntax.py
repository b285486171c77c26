"""Syntax of bound values and claims, ``[0.84]{value="peak(MEL)" of="scores"}``, and its errors.

``markup`` decides whether Markdown shows a binding, or reads it as code or a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import Struct

from reportgen.core.words import find_nearest, suggest_name
from reportgen.narrative.misplaced import find_misplaced, may_misplace

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
_MENTIONED: Final = re.compile(r"(?<![\w-])(?:value|claim)\s*(?:=|:\s*[\x22'])")
_BRACE: Final = re.compile(r"\]( *)\{")
_NAMES: Final = re.compile(r"(?<![\w-])([A-Za-z]+) *=")
_CALL: Final = re.compile(r"\w\(")
# Braces anywhere, or parentheses behind words in brackets, with an attribute whose text calls something.
_CALLING: Final = rf"""{_NAMES.pattern} *["'\u201c\u2018][^{{}}"\u201c\u201d]{{0,300}}?{_CALL.pattern}"""
_BEFORE: Final = r"""(?:[^{}()"']|"[^{}"]*"|'[^{}']*'){0,200}?"""
_LOOSE: Final = re.compile(rf"{{(?={_BEFORE}{_CALLING})|(?<=\])\((?= *{_CALLING})")
_QUOTED: Final = re.compile(r"(?:[> ]|[-+*] +|\d+[.)] +)*")
_EMPTY_LINE: Final = re.compile(r"\n[> ]*\n")
_CONTROL: Final = re.compile("[\x02\x03]")


class Fault(NamedTuple):
    """A syntax error in a binding: an offset, the message, and the next step."""

    offset: int
    message: str
    next_step: str


class Candidate(Struct, frozen=True):
    """A binding as written, with its syntax errors in ``faults``.

    All offsets are in the text that was searched; the first fields are those of ``Binding``.
    """

    kind: Literal["value", "claim"]
    words: str
    expression: str
    of: str | None
    name: str
    fails: str
    start: int  # the opening bracket, or the closing one if it is missing
    words_start: int  # the words without surrounding spaces
    words_end: int
    expression_start: int
    # From the closing bracket to the closing brace, start and end of each line's part, without indentation
    # and quote marks; for a faulty binding, the opening brace alone.
    closing: tuple[tuple[int, int], ...]
    faults: tuple[Fault, ...] = ()


def has_binding_marks(text: str) -> bool:
    """Return quickly whether a text may contain a binding, or what is nearly one."""
    if may_misplace(text):
        return True
    if "{" not in text and "](" not in text:
        return False
    names = dict.fromkeys(_NAMES.findall(text))
    return _MENTIONED.search(text) is not None or any(_is_meant(name, calls=True) for name in names)


def _is_meant(name: str, *, calls: bool) -> bool:
    """Return whether only statements have an attribute, or its name is nearly ``value`` or ``claim``.

    ``calls`` is whether its text calls something, as all expressions do: HTML has ``class="..."``.
    """
    return name in {*KINDS, "of", "fails"} or bool(find_nearest(name, KINDS, 0.7 if calls else 0.8))


@lru_cache(maxsize=256)  # used for the draft, and later for the page itself
def find_candidates(text: str) -> tuple[Candidate, ...]:
    """Find everything that is written as a binding, or was clearly meant as one, in order.

    ``text`` is Markdown after superfences, with lines ended by a line feed and without tabs.
    """
    found: list[Candidate] = []
    offset, read = 0, set[int]()
    while match := _BRACE.search(text, offset):
        offset = match.end()
        read.add(offset - 1)
        if candidate := _read_candidate(text, match.start(), offset - 1):
            found.append(candidate)
            offset = max(offset, candidate.closing[-1][1])
    ends = [(one.start, one.closing[-1][1]) for one in found]
    for match in _LOOSE.finditer(text):
        start = match.start()
        is_apart = start not in read and not any(first <= start < last for first, last in ends)
        if is_apart and _is_meant(match[1] or match[2], calls=True) and not _is_escaped(text, start):
            found.append(_make_loose(start))
    ends += [(one.start, one.start + 1) for one in found]
    misplaced = find_misplaced(text) if may_misplace(text) else ()
    found += [_make_loose(at) for at in misplaced if not any(first <= at < last for first, last in ends)]
    return tuple(sorted(found, key=lambda candidate: candidate.start))


def _make_loose(brace: int) -> Candidate:
    """Return the candidate of braces, or parentheses, that follow no words in square brackets."""
    message = (
        "this is read as text, since a statement has words in square brackets, and value= or claim= in braces"
    )
    fault = Fault(brace, message, 'Write [words]{claim="..."} or [0.84]{value="..."}, without a space')
    place = ((brace, brace + 1),)
    return Candidate("claim", "", "", None, "", "", brace, brace, brace, brace, place, (fault,))


def _read_candidate(text: str, closing: int, brace: int) -> Candidate | None:
    """Return the binding with this closing bracket and opening brace, or None if none was meant."""
    opening = text.rfind("[", text.rfind("]", 0, closing) + 1, closing)
    if _is_escaped(text, closing) or (opening >= 0 and _is_escaped(text, opening)):
        return None
    raw = text[opening + 1 : closing] if opening >= 0 else ""
    if _EMPTY_LINE.search(raw) or _CONTROL.search(raw):
        opening, raw = -1, ""
    start = opening if opening >= 0 else closing
    quotes = _QUOTED.match(text, text.rfind("\n", 0, start) + 1, start)
    depth = quotes.group().count(">") if quotes else 0
    braces = _read_braces(text, brace + 1, depth)
    bound = next((attribute for attribute in braces.attributes if attribute.name in KINDS), None)
    if not braces.are_meant():
        rest = braces.text[max(braces.end, 0) :].partition("}")[0]
        if braces.end >= 0 or not _MENTIONED.search(rest):
            return None
    words = re.sub(rf" *\n *(?:> *){{0,{depth}}}", " ", raw).strip()
    faults = tuple(braces.find_faults(text, (opening, closing, brace), words))
    texts = {attribute.name: attribute.text or "" for attribute in braces.attributes}
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
        start=start,
        words_start=first,
        words_end=max(first, closing - (len(raw) - len(raw.rstrip()))),
        expression_start=braces.find_offset(bound.text_start + lead) if bound else brace,
        closing=((brace, brace + 1),) if faults else braces.split_lines(text, closing),
        faults=faults,
    )


def _is_escaped(text: str, offset: int) -> bool:
    start = offset
    while start and text[start - 1] == "\\":
        start -= 1
    return (offset - start) % 2 == 1


class _Attribute(NamedTuple):
    """``name="text"`` with offsets in the braces' text; the text is None without ``=``."""

    name: str
    text: str | None
    quoted: bool
    start: int
    text_start: int


class _Braces(NamedTuple):
    """The text from an opening brace to the end of its paragraph, each line break as one space."""

    text: str
    starts: tuple[tuple[int, int], ...]  # start of each line, in this text and in the whole one
    attributes: list[_Attribute]
    end: int  # after the closing brace; -1 if there is none

    def are_meant(self) -> bool:
        """Return whether an attribute is, or nearly is, one of statements."""
        return any(
            _is_meant(one.name.lstrip(":"), calls=_CALL.search(one.text) is not None)
            for one in self.attributes
            if one.text is not None
        )

    def find_offset(self, index: int) -> int:
        """Return the offset in the whole text of a character of this text."""
        inside, start = self.starts[bisect_right(self.starts, index, key=lambda pair: pair[0]) - 1]
        return start + index - inside

    def split_lines(self, text: str, closing: int) -> tuple[tuple[int, int], ...]:
        """Return each line's part from the closing bracket to the closing brace."""
        starts = [closing, *(start for inside, start in self.starts[1:] if inside < self.end)]
        last = self.find_offset(self.end - 1) + 1
        ends = (text.find("\n", start) for start in starts)
        return tuple((start, last if e < 0 else min(last, e)) for start, e in zip(starts, ends, strict=True))

    def explain_unclosed(self, text: str, brace: int) -> Fault:
        """Return why there is no closing brace after the brace at an offset."""
        last = self.attributes[-1] if self.attributes else None
        if len(self.text) == LONGEST:
            return Fault(brace, f"these braces are longer than {LONGEST} characters", "Shorten them")
        if last and last.text == "" and not last.quoted and self.text[last.text_start :][:1] in {'"', "'"}:
            message = f"the quote behind {last.name}= is not closed"
            return Fault(self.find_offset(last.start), message, "Close it before the next empty line")
        if "}" in text[brace : brace + LONGEST].partition("\n")[0]:
            message = "the text in these braces cannot be read"
            return Fault(brace, message, 'Write name="text" for each attribute, with spaces between')
        return Fault(brace, "this { is not closed", "Write a } before the next empty line")

    def check_attributes(self) -> Iterator[Fault]:
        """Yield the errors in attributes that could be parsed."""
        seen: list[str] = []
        kinds = {attribute.name for attribute in self.attributes if attribute.name in KINDS}
        for name, text, quoted, start, _ in self.attributes:
            offset = self.find_offset(start)
            if name not in ATTRIBUTES:
                named = ", ".join(f"{known}=" for known in ATTRIBUTES)
                step = f"{suggest_name(name, ATTRIBUTES)}The attributes are {named}"
                yield Fault(offset, f'"{name}" is no attribute of a statement', step)
            elif name in seen:
                yield Fault(offset, f"{name}= is written twice", "Leave one of them")
            elif text is None or not quoted:
                yield Fault(offset, f"{name}= has no quotes around its text", f'Write {name}="..."')
            elif not text.strip():
                yield Fault(offset, f"{name}= is empty", "Write something between its quotes")
            elif name in {"name", "fails"} and kinds == {"value"}:
                yield Fault(offset, f"only a claim can have {name}=", "Remove it, or write claim= for value=")
            seen.append(name)
        if not kinds and all(name in ATTRIBUTES for name in seen):
            offset = self.find_offset(self.attributes[0].start)
            yield Fault(offset, "a statement has value= or claim=", 'Write value="..." or claim="..."')
        if len(kinds) > 1:
            offset = self.find_offset(self.attributes[0].start)
            message = "a statement has value= or claim=, not both"
            yield Fault(offset, message, "Bind the words to one of them")

    def find_faults(self, text: str, marks: tuple[int, int, int], words: str) -> Iterator[Fault]:
        """Yield the errors in a binding with these opening bracket (or -1), closing bracket and brace."""
        opening, closing, brace = marks
        if opening < 0:
            if "]" in text[text.rfind("\n", 0, closing) + 1 : closing]:
                message = "the words of a statement hold a square bracket or a link"
                yield Fault(closing, message, "Bind words without square brackets: [0.84]{...}")
            else:
                yield Fault(closing, "this ] has no [ in its paragraph", "Write the words as [words]{...}")
        if brace > closing + 1:
            yield Fault(closing + 1, "there is a space between the words and the braces", "Remove it")
        if self.end < 0:
            yield self.explain_unclosed(text, brace)
        else:
            yield from self.check_attributes()
        if opening >= 0 and not words:
            step = "Write the words or the number between the square brackets"
            yield Fault(opening, "there is nothing between the square brackets", step)


def _read_braces(text: str, start: int, depth: int) -> _Braces:
    """Read the rest of a paragraph, in quotes of a depth."""
    continues = re.compile(rf" *(?:> *){{0,{depth}}}")
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0
    while True:
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        starts.append((length, start))
        pieces.append(text[start : min(line_end, start + LONGEST)].rstrip(" "))
        length += len(pieces[-1]) + 1
        # Most braces end on their line, so the rest of a long paragraph is not joined for each of them.
        is_closed = "}" in pieces[-1] and _parse_attributes(" ".join(pieces))[1] >= 0
        match = None if is_closed else continues.match(text, line_end + 1)
        if match is None or text[match.end() : match.end() + 1] in {"", "\n"} or length > LONGEST:
            joined = " ".join(pieces)[:LONGEST]
            return _Braces(joined, tuple(starts), *_parse_attributes(joined))
        start = match.end()


def _parse_attributes(text: str) -> tuple[list[_Attribute], int]:
    """Return the attributes, and the offset after the closing brace, or -1 if there is none."""
    attributes: list[_Attribute] = []
    offset = 0
    while match := _ATTRIBUTE.match(text, offset):
        offset = match.end()
        if match["end"]:
            return attributes, offset
        group = next((name for name in ("double", "single", "bare") if match[name] is not None), "")
        value, start = (match[group], match.start(group)) if group else (None, match.end("name"))
        attributes.append(_Attribute(match["name"], value, group != "bare", match.start("name"), start))
    return attributes, -1


class MarkAttributes(NamedTuple):
    """Attributes between two offsets: text and offset by name, and the syntax errors.

    What ``table=`` says is a value of a table.
    """

    texts: dict[str, tuple[str, int]]
    faults: tuple[Fault, ...]


def read_mark_attributes(text: str, start: int, end: int) -> MarkAttributes:
    """Read the attributes of a mark, which stand on one line of a text."""
    inside = f"{text[start:end].rstrip()}}}"
    attributes, closed = _parse_attributes(inside)
    if not attributes or closed < len(inside):
        step = 'Write value="..." or claim="...", and of="..."'
        return MarkAttributes({}, (Fault(start, "the text of this mark cannot be read", step),))
    attributes = [one._replace(name="value") if one.name == "table" else one for one in attributes]
    braces = _Braces(inside, ((0, start),), attributes, closed)
    texts = {
        one.name: (one.text, start + one.text_start + len(one.text) - len(one.text.lstrip()))
        for one in attributes
        if one.text is not None
    }
    return MarkAttributes(texts, tuple(braces.check_attributes()))
