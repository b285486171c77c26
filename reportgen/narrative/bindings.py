"""Finds the bound values and claims of a page, exactly those that the site will show.

A binding that is badly written, or whose braces Markdown would show to the reader, is a problem. In code and
comments there are none. The site processes the same text in the same steps (``markdown_extensions``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.core.statements import Binding
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.text import MAX_CHARACTERS, read_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.errors import Diagnostics
    from reportgen.narrative.binding_syntax import Candidate
    from reportgen.narrative.superfences import Walk


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
        depths = {line[: len(line) - len(line.lstrip("> "))].count(">") for line in inside}
        heading = len(inside) > 1 and _HEADING.match(lines[begin]) is not None
        if heading or len(depths) > 1 or any(_BEGINS.match(line) for line in inside[1:]):
            broken.add(number)
    return broken


_NOT_READ: Final = "Markdown does not read this as a bound {kind}, so its braces would stand on the page"
_MEND: Final = "Keep its words and braces in one paragraph, cell or item, outside raw HTML and links' targets"


def find_bindings(
    text: str, file: str, first_line: int, offset: int, problems: Diagnostics
) -> tuple[Binding, ...]:
    """The bindings of a page, in the order in which they are written.

    Args:
        text: Markdown without front matter, its lines ended by a line feed.
        file: the page relative to the project.
        first_line: the line of the file at which ``text`` begins.
        offset: the place in ``Page.text`` at which ``text`` begins.
        problems: gets what is badly written, each at its place.
    """
    if not has_binding_marks(text):
        return ()
    with problems.collecting():
        found = read_markdown(text, SourceLocation(file, first_line), _find_all)
        problems.add(_list_problems(found, file, first_line))
        return tuple(
            _make_binding(one, found, file, first_line, offset)
            for number, one in enumerate(found.candidates)
            if number in found.shown and not one.faults
        )
    return ()


def strip_bindings(text: str) -> str:
    """The text with the words alone in place of each binding, on as many lines: for headings and titles."""
    if not has_binding_marks(text) or len(text) > MAX_CHARACTERS:
        return text
    try:
        found = _find_all(text)
    except RecursionError:  # which ``find_bindings`` has reported
        return text
    parts, place = [], 0
    for number, one in enumerate(found.candidates):
        if number not in found.shown or one.faults:
            continue
        start, opened = found.find_offset(one.start), found.find_offset(one.start) + 1
        closed, end = found.find_offset(one.closing[0][0]), found.find_offset(one.closing[-1][1] - 1) + 1
        parts += [text[place:start], text[opened:closed], "\n" * text.count("\n", closed, end)]
        place = end
    return "".join([*parts, text[place:]])


_SHIFTING = re.compile("[\t\x02\x03]")


@dataclass(frozen=True, slots=True)
class _FoundBindings:
    """Candidates in what superfences left of a text, which of them are shown, and which are broken."""

    text: str
    left: tuple[str, ...]
    lines: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    shown: frozenset[int]
    broken: frozenset[int]
    left_starts: tuple[int, ...]
    starts: tuple[int, ...]

    def find_offset(self, place: int) -> int:
        """The offset in the text of a character of what is left, whose tabs are spaces."""
        row = bisect_right(self.left_starts, place) - 1
        start = self.starts[self.lines[row]]
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)]
        return start + _find_column(line, place - self.left_starts[row])

    def place(self, place: int, file: str, first_line: int) -> SourceLocation:
        """The line and column of a character of what is left."""
        offset = self.find_offset(place)
        row = bisect_right(self.starts, offset) - 1
        return SourceLocation(file, first_line + row, offset - self.starts[row] + 1)


@lru_cache(maxsize=1024)  # bindings and headings of a page ask one after the other
def _find_all(text: str) -> _FoundBindings:
    from reportgen.narrative.superfences import walk  # noqa: PLC0415 - most pages of a site bind nothing

    walked = walk(text, tuple(BLOCKS))
    left = "\n".join(walked.left)
    found = find_candidates(left)
    shown, broken = _find_shown(walked, left, found) if found else (frozenset[int](), frozenset[int]())
    return _FoundBindings(
        text=text,
        left=tuple(walked.left),
        lines=tuple(walked.get_original_lines()),
        candidates=found,
        shown=shown,
        broken=broken,
        left_starts=_list_line_starts(left),
        starts=_list_line_starts(text),
    )


def _find_shown(
    walked: Walk, left: str, found: tuple[Candidate, ...]
) -> tuple[frozenset[int], frozenset[int]]:
    """Which candidates the page shows as bindings, and of which it shows the braces."""
    from reportgen.narrative import markdown_extensions as extensions  # noqa: PLC0415 - most pages bind nothing

    if not any(one.faults for one in found):
        sure = find_surely_shown(extensions.put_placeholders(left, found).text)
        if len(sure) == len(found):
            return sure, frozenset()
    page = walked.render(extensions.BindingsExtension(restoring=False))
    shown = frozenset(mark.number for mark in extensions.find_marks(page))
    return shown, extensions.find_left_placeholders(page)


def _make_binding(one: Candidate, found: _FoundBindings, file: str, first_line: int, offset: int) -> Binding:
    start = found.find_offset(one.words_start)
    return Binding(
        kind=one.kind,
        words=one.words,
        expression=one.expression,
        of=one.of,
        name=one.name,
        fails=one.fails,
        location=found.place(one.start, file, first_line),
        expression_location=found.place(one.expression_start, file, first_line),
        start=offset + start,
        end=offset + found.find_offset(one.words_end - 1) + 1,
    )


def _list_problems(found: _FoundBindings, file: str, first_line: int) -> Iterator[Diagnostic]:
    for number in sorted(found.broken):
        one = found.candidates[number]
        for fault in one.faults:
            yield Diagnostic(found.place(fault.offset, file, first_line), fault.message, fault.next_step)
        if not one.faults:
            said = _NOT_READ.format(kind=one.kind)
            yield Diagnostic(found.place(one.start, file, first_line), said, _MEND)


def _list_line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in re.finditer("\n", text)))


def _find_column(line: str, target: int) -> int:
    """Where a character stands in a line as it was, before tabs became spaces and marks were removed."""
    if not _SHIFTING.search(line):
        return min(target, len(line))
    column = 0
    for index, character in enumerate(line):
        width = 4 - column % 4 if character == "\t" else 0 if character in "\x02\x03" else 1
        if column <= target < column + width:
            return index
        column += width
    return len(line)
