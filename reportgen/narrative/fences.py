"""Finds reportgen's fences in Markdown, exactly where superfences will find them.

superfences (pymdownx) renders the page later and hands each fence's text to us, so its own scanner walks the
lines here too, and Python-Markdown decides what ends up in a comment or in a block of indented code. What it
does not take for a fence although the author plainly meant one is a problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.core.words import find_nearest
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.text import read_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.narrative.superfences import Walk


_KINDS: Final = "|".join(map(re.escape, BLOCKS))
_MENTIONED: Final = re.compile(rf"(?:`{{3}}|~{{3}}).*(?:{_KINDS})")
# A line that an author can only have meant as the opening fence of one of our blocks.
_MEANT: Final = re.compile(
    rf"[> ]*(?P<marks>`{{3,}}|~{{3,}}) *(?:\{{[^}}]*?)?\.?(?P<kind>{_KINDS})(?=[ }}]|$)[^`]*"
)
# The word that begins the opening fence of any block, and a line that is nothing but such a fence.
_WORD: Final = re.compile(
    r"^[> ]*(?:[-+*] +|\d+[.)] +)?(?:`{2,}|~{3,}) *(?:\{ *\.?|\.)?([A-Za-z][\w-]*)", re.MULTILINE
)
_NAMED: Final = re.compile(
    r"[> ]*(?P<marks>`{3,}|~{3,}) *(?:\{ *\.?|\.)?(?P<word>[A-Za-z][\w-]*)(?=[ }]|$)[^`]*"
)
# What looks like a fence to its author and to nobody else.
_TWO_MARKS: Final = re.compile(r"[> ]*``(?P<word>[A-Za-z-]+) *")
_IN_ITEM: Final = re.compile(r"[> ]*(?:[-+*]|\d+[.)]) +(?P<marks>`{3,}|~{3,}) *(?P<word>[A-Za-z-]+) *")
_CONFLICT: Final = re.compile(r"(?:<{7}|>{7}) \S.*")
_LEAST_SIMILARITY: Final = 0.8
# What mkdocs-charts-plugin draws, and a program whose name is near to one of our kinds.
_OF_OTHERS: Final = frozenset({"vegalite", "tableau", "plain"})
_BARE: Final = re.compile(rf"[> ]*(?:`{{3,}}|~{{3,}}) *(?:\.?(?:{_KINDS})|\{{ *\.(?:{_KINDS}) *\}}) *")
_SWALLOWED: Final = (
    "this block is read as part of the indented code above it",
    "Put an empty line before it",
)


def find_conflict_marks(text: str, file: str) -> tuple[Diagnostic, ...]:
    """The marks that a merge left in a page, but for those in its code.

    ``text`` is the whole file, its lines ended by a line feed.
    """
    marked = [line for line, found in enumerate(text.split("\n")) if _CONFLICT.fullmatch(found)]
    if not marked:
        return ()
    from reportgen.narrative.superfences import walk  # noqa: PLC0415  # nearly no page holds one

    code = [call for call in walk(text, tuple(BLOCKS)).calls if not call.ours]
    return tuple(
        Diagnostic(
            SourceLocation(file, line + 1),
            "a merge left its mark here",
            "Keep one of the two versions, without the marks",
        )
        for line in marked
        if not any(call.start < line < call.end for call in code)
    )


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence whose language is one of ours.

    Attributes:
        kind: its language.
        body: the text between the fences, exactly as superfences hands it to its formatter: without the
            fence's indentation, tabs expanded, no line feed at the end.
        line: 1-based line of the opening fence.
        column: 1-based column of the opening fence.
        shown: whether it reaches the page. superfences also hands over fences inside comments, and inside
            blocks of indented code, where it restores the text afterwards.
    """

    kind: str
    body: str
    line: int
    column: int
    shown: bool


def find_fences(text: str, file: str, first_line: int = 1) -> tuple[Fence, ...]:
    """Every fence of ours, in the order in which superfences hands them to its formatter.

    Args:
        text: Markdown without front matter, its lines ended by a line feed.
        file: the page relative to the project, for messages.
        first_line: the line of the file at which ``text`` begins.

    Raises:
        ReportError: a fence that is not closed, or that carries more than its language.
    """
    if not _MENTIONED.search(text) and not any(map(_guess_kind, set(_WORD.findall(text)))):
        return ()
    fences, refused = read_markdown(text, SourceLocation(file, first_line), _find_all)
    before = first_line - 1
    if refused:
        raise ReportError(
            *(
                Diagnostic(SourceLocation(file, before + line), said.format(before=before + outer), step)
                for line, outer, said, step in refused
            )
        )
    return tuple(replace(fence, line=before + fence.line) for fence in fences)


_Refused: TypeAlias = tuple[int, int, str, str]
"""A line, the line of the fence around it, the reason with a place for that one's number, and advice."""


@lru_cache(maxsize=1024)  # the draft asks for a page's fences, and later its formatter
def _find_all(text: str) -> tuple[tuple[Fence, ...], tuple[_Refused, ...]]:
    """Fences with their 1-based lines in the text; what is refused."""
    from reportgen.narrative.superfences import walk  # noqa: PLC0415  # most pages of a site hold no fence

    walked = walk(text, tuple(BLOCKS))
    suspects = tuple(_find_suspects(walked))
    shown = walked.find_shown([line for line, *_ in suspects])
    refused = [suspect for suspect in suspects if suspect[0] in shown]
    refused += [(line, line, *_SWALLOWED) for line in walked.find_swallowed(shown)]
    fences = tuple(
        Fence(call.language, call.source, call.start + 1, walked.find_column(call.start), call.start in shown)
        for call in walked.calls
        if call.ours
    )
    return fences, tuple((line + 1, outer + 1, said, step) for line, outer, said, step in sorted(refused))


def _find_suspects(walked: Walk) -> Iterator[_Refused]:
    """Lines meant as our opening fences that superfences takes for something else; lines from 0."""
    covered = {line for call in walked.calls for line in range(call.start + 1, call.end + 1)}
    bare = {call.start for call in walked.calls if call.ours and call.bare}
    taken = {call.start for call in walked.calls}
    for line, text in enumerate(walked.lines):
        if line in covered or line in bare:
            continue
        match = _MEANT.fullmatch(text)
        if match is None:
            if fault := _check_line(text):
                yield line, line, *fault
            continue
        kind, marks = match["kind"], match["marks"]
        outer = max((start for start in walked.opened if start < line), default=line)
        if line in taken or not _BARE.fullmatch(text):
            said = f"the opening fence of a {kind} block takes nothing but its language"
            step = f"Write {marks}{kind} and put the settings into the body, as key: value"
        elif line in walked.opened:
            said = f"this {kind} block is not closed"
            step = f"End it with a line of {marks}, indented as its first line"
        else:
            said = f"this {kind} block stands in the fence of line {{before}}, which is not closed"
            step = "Close that fence, with a line indented as its first line"
        yield line, outer, said, step


def _check_line(text: str) -> tuple[str, str] | None:
    """What is wrong with a line that nearly opens a block of ours, and the next step."""
    if match := _NAMED.fullmatch(text):
        word, kind = match["word"], _guess_kind(match["word"])
        if kind and kind != word:
            return (
                f'there is no block called "{word}"',
                f'Did you mean "{kind}"? There are {", ".join(BLOCKS)}',
            )
    elif (match := _TWO_MARKS.fullmatch(text)) and match["word"].lower() in BLOCKS:
        return "a fence has three marks, and this has two", f"Write ```{match['word'].lower()}"
    elif (match := _IN_ITEM.fullmatch(text)) and match["word"].lower() in BLOCKS:
        said = f"this {match['word'].lower()} block begins on the line of its list item"
        return said, "Begin it on a line of its own, indented by four spaces"
    return None


@lru_cache(maxsize=1024)
def _guess_kind(word: str) -> str:
    """The kind of block that the first word of a fence means; empty where it means none of ours."""
    if word.lower() in BLOCKS:
        return word.lower()
    near = find_nearest(word, BLOCKS, _LEAST_SIMILARITY)
    # Nobody mistypes the first letter, but a stable is no table.
    meant = near[:1] == word[0].lower() and word.lower() not in _OF_OTHERS
    return near if meant and word.lower() not in _list_languages() else ""


@cache
def _list_languages() -> frozenset[str]:
    from pygments.lexers import get_all_lexers  # noqa: PLC0415  # asked only of words near to a kind of ours

    return frozenset(alias for _, aliases, *_ in get_all_lexers(plugins=False) for alias in aliases)
