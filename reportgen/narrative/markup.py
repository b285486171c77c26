"""Search for reportgen's fences, bound values and claims in Markdown, as the site will show them.

superfences (pymdownx) later renders the page and passes each fence's text to reportgen, so its scanner is
used here too, and Python-Markdown decides what is in a comment, raw HTML or indented code. A fence or binding
that they do not recognise although the author clearly meant one is a problem.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.core.statements import Binding
from reportgen.core.words import find_nearest
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.settings.blocks import KINDS, list_kinds
from reportgen.settings.text import CONFLICT, MAX_CHARACTERS, find_conflict_marks, read_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.errors import Diagnostics
    from reportgen.narrative.binding_syntax import Candidate
    from reportgen.narrative.markdown_extensions import Walk


# The first word of the opening fence of any block, and a line with nothing but such a fence.
_WORD: Final = re.compile(
    r"^[> ]*(?:[-+*] +|\d+[.)] +)?(?:`{2,}|~{3,}) *(?:\{ *\.?|\.)?([A-Za-z][\w@-]*)", re.MULTILINE
)
_NAMED: Final = re.compile(
    r"[> ]*(?P<marks>`{3,}|~{3,}) *(?:\{ *\.?|\.)?(?P<word>[A-Za-z][\w@-]*)(?=[ }]|$)[^`]*"
)
# Lines that look like a fence to their author, but not to Markdown.
_TWO_MARKS: Final = re.compile(r"[> ]*``(?P<word>[A-Za-z-]+) *")
_IN_ITEM: Final = re.compile(r"[> ]*(?:[-+*]|\d+[.)]) +(?P<marks>`{3,}|~{3,}) *(?P<word>[A-Za-z-]+) *")
# The first line of many of our blocks.
_SOURCE: Final = re.compile(r"^[> ]*source: *\S", re.MULTILINE)
_LEAST_SIMILARITY: Final = 0.8
# Languages of others close to our kinds: mkdocs-charts-plugin's, a program, plain text.
_OF_OTHERS: Final = frozenset({"vegalite", "tableau", "plain"})
_SWALLOWED: Final = (
    "this block is read as part of the indented code above it",
    "Put an empty line before it",
)


def report_conflict_marks(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return a problem for each merge conflict mark in a whole file, except in its code."""
    marked = find_conflict_marks(text)
    if not marked:
        return ()
    from reportgen.narrative.markdown_extensions import walk  # noqa: PLC0415  # hardly any page has one

    code = [call for call in walk(text).calls if not call.ours]
    return tuple(
        Diagnostic(SourceLocation(file, line), *CONFLICT)
        for line in marked
        if not any(call.start < line - 1 < call.end for call in code)
    )


class Fence(Struct, frozen=True):
    """A fence whose language is one of reportgen's kinds."""

    kind: str
    body: str  # as superfences passes it to its formatter: without the fence's indentation, tabs expanded
    line: int
    column: int
    # Whether it reaches the page. superfences also passes on fences in comments and in indented code, where
    # it restores the text afterwards.
    shown: bool


def find_fences(
    text: str, file: str, first_line: int = 1, problems: Diagnostics | None = None
) -> tuple[Fence, ...]:
    """Return every fence of ours, in the order in which superfences passes them to its formatter.

    ``text`` is Markdown without front matter, and ``first_line`` its first line in the file. What would be
    raised is added to ``problems`` if they are given.

    Raises:
        ReportError: a fence is not closed, or has more than its language.
    """
    # Most pages of a site hold no fence, and finding a text in another takes far less than a pattern.
    has_marks = "``" in text or "~~~" in text
    hints = (
        has_marks and _compile_mention(list_kinds()).search(text),
        "source:" in text and _SOURCE.search(text),
    )
    if not any(hints) and not (has_marks and any(map(_guess_kind, set(_WORD.findall(text))))):
        return ()
    fences, refused = read_markdown(text, SourceLocation(file, first_line), _scan_fences)
    before = first_line - 1
    found = [
        Diagnostic(SourceLocation(file, before + line), message.format(before=before + outer), step)
        for line, outer, message, step in refused
    ]
    if found and problems is None:
        raise ReportError(*found)
    if problems is not None:
        problems.add(found)
    return tuple(replace(fence, line=before + fence.line) for fence in fences)


_Refused: TypeAlias = tuple[int, int, str, str]
"""A line, the line of the fence around it, the reason with a place for that one's number, and advice."""


def _scan_fences(text: str) -> tuple[tuple[Fence, ...], tuple[_Refused, ...]]:
    """Return fences with their 1-based lines in the text, and refused lines."""
    return _scan(text, list_kinds())


@lru_cache(maxsize=1024)  # used for the draft, and later by the formatter
def _scan(text: str, kinds: tuple[str, ...]) -> tuple[tuple[Fence, ...], tuple[_Refused, ...]]:
    from reportgen.narrative.markdown_extensions import walk  # noqa: PLC0415  # most pages of a site hold no fence

    walked = walk(text)
    suspects = tuple(_find_suspects(walked, kinds))
    shown = walked.find_shown([line for line, *_ in suspects])
    refused = [suspect for suspect in suspects if suspect[0] in shown]
    refused += [(line, line, *_SWALLOWED) for line in walked.find_swallowed(shown)]
    fences = tuple(
        Fence(call.language, call.source, call.start + 1, walked.find_column(call.start), call.start in shown)
        for call in walked.calls
        if call.ours
    )
    return fences, tuple(
        (line + 1, outer + 1, message, step) for line, outer, message, step in sorted(refused)
    )


def _find_suspects(walked: Walk, kinds: tuple[str, ...]) -> Iterator[_Refused]:
    """Yield lines meant as our opening fences that superfences reads differently; lines from 0."""
    meant, bare_fence = _compile_fences(kinds)
    covered = {line for call in walked.calls for line in range(call.start + 1, call.end + 1)}
    bare = {call.start for call in walked.calls if call.ours and call.bare}
    taken = {call.start for call in walked.calls}
    for line, text in enumerate(walked.lines):
        if line in covered or line in bare:
            continue
        match = meant.fullmatch(text)
        if match is None:
            if fault := _check_line(text, walked.lines[line + 1 : line + 2]):
                yield line, line, *fault
            continue
        kind, marks = match["kind"], match["marks"]
        outer = max((start for start in walked.opened if start < line), default=line)
        if line in taken or not bare_fence.fullmatch(text):
            message = f"the opening fence of a {kind} block can only name the language"
            step = f"Write {marks}{kind} and put the settings into the body, as key: value"
        elif line in walked.opened:
            message = f"this {kind} block is not closed"
            step = f"End it with a line of {marks}, indented as its first line"
        else:
            message = f"this {kind} block is inside the fence of line {{before}}, which is not closed"
            step = "Close that fence, with a line indented as its first line"
        yield line, outer, message, step


def _check_line(text: str, following: Sequence[str]) -> tuple[str, str] | None:
    """Return the error in a line that almost opens a block of ours, if it does, and the next step."""
    if match := _NAMED.fullmatch(text):
        word, kind = match["word"], _guess_kind(match["word"])
        has_source = any(map(_SOURCE.match, following)) and word.lower() not in _list_languages()
        wrong = kind != word if kind else has_source
        of_chart = (name for name, one in KINDS.items() if word.lower() in one.charts.split())
        near = f'Did you mean "{kind}"? ' if (kind := kind or next(of_chart, "")) else ""
        step = f"{near}There are {', '.join(list_kinds())}"
        return (f'there is no block called "{word}"', step) if wrong else None
    if (match := _TWO_MARKS.fullmatch(text)) and match["word"].lower() in list_kinds():
        return "a fence has three marks, and this has two", f"Write ```{match['word'].lower()}"
    if (match := _IN_ITEM.fullmatch(text)) and match["word"].lower() in list_kinds():
        message = f"this {match['word'].lower()} block begins on the line of its list item"
        return message, "Begin it on a line of its own, indented by four spaces"
    return None


def replace_fences(text: str, stripped: str, contents: Iterator[str]) -> str:
    """Replace each fence of ours that reaches the page by the next of ``contents``.

    ``stripped`` is the same text without bindings, with the same lines; the result is made of it.
    """
    if not find_fences(text, ""):
        return "\n\n".join([stripped, *contents])
    from reportgen.narrative.markdown_extensions import walk  # noqa: PLC0415  # most pages of a site hold no fence

    walked, lines = walk(text), stripped.split("\n")
    shown, end, parts = walked.find_shown([]), 0, list[str]()
    for call in (call for call in walked.calls if call.ours and call.start in shown):
        indent = lines[call.start][: walked.find_column(call.start) - 1]
        content = next(contents, "").split("\n")
        parts += [*lines[end : call.start], *(f"{indent}{line}".rstrip() for line in content)]
        end = call.end + 1
    return "\n".join([*parts, *lines[end:]])


@cache
def _compile_mention(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a text with a fence of ours, which may be within another one."""
    return re.compile(rf"(?:`{{3}}|~{{3}}).*(?:{'|'.join(kinds)})")


@cache
def _compile_fences(kinds: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of lines that can only be meant as our opening fence, and of those that are one."""
    names, marks = "|".join(kinds), r"`{3,}|~{3,}"
    meant = rf"[> ]*(?P<marks>{marks}) *(?:\{{[^}}]*?)?\.?(?P<kind>{names})(?=[ }}]|$)[^`]*"
    return re.compile(meant), re.compile(rf"[> ]*(?:{marks}) *(?:\.?(?:{names})|\{{ *\.(?:{names}) *\}}) *")


@lru_cache(maxsize=1024)
def _guess_kind(word: str) -> str:
    """Return the kind of block that the first word of a fence means, or an empty text."""
    if word.lower() in list_kinds():
        return word.lower()
    if word == "runs":  # its name before the first release
        return "run-scores"
    near = find_nearest(word, list_kinds(), _LEAST_SIMILARITY)
    # The first letter is hardly ever mistyped: "stable" does not mean a table.
    meant = near[:1] == word[0].lower() and word.lower() not in _OF_OTHERS
    return near if meant and word.lower() not in _list_languages() else ""


@cache
def _list_languages() -> frozenset[str]:
    from pygments.lexers import get_all_lexers  # noqa: PLC0415 - needed only where a word is close to a kind of block

    return frozenset(alias for _, aliases, *_ in get_all_lexers(plugins=False) for alias in aliases)


# ---- bound values and claims

_OPENING: Final = re.compile(r"rgb[0-9a-f]{16}o(\d+)z")
_CLOSING: Final = re.compile(r"rgb[0-9a-f]{16}c(\d+)p\d+z")
# A definition turns the lines of the previous block into terms.
_BLOCKS: Final = re.compile(r"\n(?:[> ]*\n)++(?![> ]*:)")
# Comments and raw HTML may hide whatever follows them.
_HTML: Final = re.compile(r"<[A-Za-z!?/]")
# Indented text, definitions, titles of admonitions and tabs; tables, escapes, targets of links and notes.
_HARD: Final = re.compile(r"^(?:[-+*>]|\d+[.)]| )*?(?:    |:|!!!|\?\?\?|===|///)|[\\|]|\]:", re.MULTILINE)
_CODE: Final = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)")
_LINK: Final = re.compile(r"!?\[[^\[\]]*\](?:\([^()]*\)| ?\[[^\[\]]*\])?")
_BRACKETS: Final = re.compile(r"[\[\]]|\x00 ?\(")
_HEADING: Final = re.compile(r"(?:[-+*> ]|\d+[.)])*#")
# Beginnings of another block, at which words end.
_BEGINS: Final = re.compile(r"[> ]*(?:[-+*#=_:~{\[]|\d+[.)] )")
_SHIFTING: Final = re.compile("[\t\x02\x03]")
_NOT_READ: Final = "Markdown does not read this as a bound {kind}, so its braces would stand on the page"
_MEND: Final = "Keep its words and braces in one paragraph, cell or item, outside raw HTML and links' targets"


def find_bindings(
    text: str, file: str, first_line: int, offset: int, problems: Diagnostics
) -> tuple[Binding, ...]:
    """Return the bindings of a page, in order.

    ``text`` is Markdown without front matter, which begins at ``first_line`` of the file and at ``offset`` of
    ``Page.text``. Syntax errors are added to ``problems``, each with its location.
    """
    if not has_binding_marks(text):
        return ()
    with problems.collecting():
        found = read_markdown(text, SourceLocation(file, first_line), _scan_bindings)
        for candidate in (found.candidates[number] for number in sorted(found.broken)):
            for fault in candidate.faults:
                place = found.locate(fault.offset, file, first_line)
                problems.add([Diagnostic(place, fault.message, fault.next_step)])
            if not candidate.faults:
                place = found.locate(candidate.start, file, first_line)
                problems.add([Diagnostic(place, _NOT_READ.format(kind=candidate.kind), _MEND)])
        return tuple(
            Binding(
                kind=candidate.kind,
                words=candidate.words,
                expression=candidate.expression,
                of=candidate.of,
                name=candidate.name,
                fails=candidate.fails,
                location=found.locate(candidate.start, file, first_line),
                expression_location=found.locate(candidate.expression_start, file, first_line),
                start=offset + found.find_offset(candidate.words_start),
                end=offset + found.find_offset(candidate.words_end - 1) + 1,
            )
            for number, candidate in enumerate(found.candidates)
            if number in found.shown and not candidate.faults
        )
    return ()


def strip_bindings(text: str, *, with_values: bool = True, line_end: str = "\n") -> str:
    """Replace each binding by its words, preserving the number of lines, for headings and titles.

    Anchors of headings are without the words of values. ``line_end`` ends each line inside of braces.
    """
    if not has_binding_marks(text) or len(text) > MAX_CHARACTERS:
        return text
    try:
        found = _scan_bindings(text)
    except RecursionError:  # already reported by find_bindings
        return text
    parts, end = [], 0
    for number, candidate in enumerate(found.candidates):
        if number in found.shown and not candidate.faults:
            start = found.find_offset(candidate.start)
            closing = found.find_offset(candidate.closing[0][0])
            words = text[start + 1 : closing] if with_values or candidate.kind == "claim" else ""
            parts += [text[end:start], words]
            end = found.find_offset(candidate.closing[-1][1] - 1) + 1
            parts.append(line_end * text.count("\n", closing, end))
    return "".join([*parts, text[end:]])


class _FoundBindings(Struct, frozen=True):
    """Candidates in the text that superfences left."""

    text: str
    lines: tuple[int, ...]  # line of the text for each line that is left
    left_starts: tuple[int, ...]  # offset of each line that is left
    starts: tuple[int, ...]  # offset of each line of the text
    candidates: tuple[Candidate, ...]
    shown: frozenset[int]
    broken: frozenset[int]

    def find_offset(self, left_offset: int) -> int:
        """Return the offset in the text of a character of what is left, in which tabs are spaces."""
        row = bisect_right(self.left_starts, left_offset) - 1
        start, target = self.starts[self.lines[row]], left_offset - self.left_starts[row]
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else None]
        if not _SHIFTING.search(line):
            return start + min(target, len(line))
        # Tabs that became spaces, and removed marks, shifted the characters of the line.
        column = 0
        for index, character in enumerate(line):
            width = 4 - column % 4 if character == "\t" else 0 if character in "\x02\x03" else 1
            if column <= target < column + width:
                return start + index
            column += width
        return start + len(line)

    def locate(self, left_offset: int, file: str, first_line: int) -> SourceLocation:
        """Return the line and column of a character of what is left."""
        offset = self.find_offset(left_offset)
        row = bisect_right(self.starts, offset) - 1
        return SourceLocation(file, first_line + row, offset - self.starts[row] + 1)


@lru_cache(maxsize=1024)  # used for the bindings, then for the headings of a page
def _scan_bindings(text: str) -> _FoundBindings:
    from reportgen.narrative.markdown_extensions import (  # noqa: PLC0415 - most pages have no bindings
        BindingsExtension,
        find_left_placeholders,
        find_marks,
        put_placeholders,
        walk,
    )

    walked = walk(text)
    left = "\n".join(walked.left)
    candidates = find_candidates(left)
    shown, broken = frozenset[int](), frozenset[int]()
    if candidates and not any(candidate.faults for candidate in candidates):
        shown = find_surely_shown(put_placeholders(left, candidates).text)
    if len(shown) < len(candidates):
        page = walked.render(BindingsExtension(restoring=False))
        shown = frozenset(mark.number for mark in find_marks(page))
        broken = find_left_placeholders(page)
    left_starts, starts = (
        (0, *(match.end() for match in re.finditer("\n", content))) for content in (left, text)
    )
    lines = tuple(walked.get_original_lines())
    return _FoundBindings(text, lines, left_starts, starts, candidates, shown, broken)


def find_surely_shown(signed: str) -> frozenset[int]:
    """Return the numbers of the candidates in plain prose.

    ``signed`` is the page after superfences, with placeholders for its candidates (see ``put_placeholders``).
    """
    shown: set[int] = set()
    for block in [] if _HTML.search(signed) else _BLOCKS.split(signed):
        if not _OPENING.search(block) or _HARD.search(block):
            continue
        lines = block.split("\n")
        prose = _LINK.sub("\x00", "\n".join(_CODE.sub("\x01", line) for line in lines))
        if "`" in prose or _BRACKETS.search(prose):
            continue
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for index, line in enumerate(lines):
            first |= dict.fromkeys(_OPENING.findall(line), index)
            last |= dict.fromkeys(_CLOSING.findall(line), index)
        for number in set(_OPENING.findall(prose)) & set(_CLOSING.findall(prose)):
            # None of its lines may begin another block, or be in a quote of another depth.
            inside = lines[first[number] : last[number] + 1]
            depths = {line[: len(line) - len(line.lstrip("> "))].count(">") for line in inside}
            heading = len(inside) > 1 and _HEADING.match(inside[0]) is not None
            if not (heading or len(depths) > 1 or any(_BEGINS.match(line) for line in inside[1:])):
                shown.add(int(number))
    return frozenset(shown)
