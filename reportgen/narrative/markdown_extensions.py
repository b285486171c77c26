"""Markdown extensions: one marks the words of bindings, one refuses raw HTML.

The draft, which needs to know what is shown, and the site use the same extension for bindings. A
preprocessor after superfences replaces the opening bracket and the braces by signs that no other extension
reads as markup, so that quotes, ``<`` and ``|`` in an expression do no harm. Markdown then turns the signs
into ``<rg-bound n="SALT-N">words</rg-bound>``, unless they are in code, a comment or raw HTML.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.etree.ElementTree import Element

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString, code_escape

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.narrative.superfences import make_salt, make_step, walk
from reportgen.settings.text import NESTED_TOO_DEEP, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown import Markdown

    from reportgen.narrative.binding_syntax import Candidate


ELEMENT: Final = "rg-bound"
_SIGN: Final = re.compile(r"rgb[0-9a-f]{16}(?:o\d+|c\d+p\d+)z")
_MARKED_WORDS: Final = r"rgb([0-9a-f]{16})o(\d+)z(.*?)rgb\1c\2p0z((?:\s*rgb\1c\2p\d+z)*)"
# What browsers read as one piece: comments, scripts, tags with their quoted attributes.
_PIECE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?:script|style)\b.*?(?:</(?:script|style)\s*>|\Z)"
    r"""|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)(?P<rest>(?:[^"'>]|"[^"]*"|'[^']*')*+)>""",
    re.DOTALL | re.IGNORECASE,
)
_NUMBER: Final = re.compile(r'\bn="([0-9a-f]{16})-(\d+)"')


class Placeholders(NamedTuple):
    """A text with signs for its candidates, and what each sign stands for."""

    text: str
    salt: str
    stand_for: dict[str, str]


class Mark(NamedTuple):
    """Marked words on a page: offsets of the mark's begin tag, who it is, and whether it is within a link."""

    start: int
    end: int
    salt: str
    number: int
    in_link: bool


def put_placeholders(text: str, found: tuple[Candidate, ...]) -> Placeholders:
    """Put signs into a text; lines stay lines."""
    salt = make_salt(text)
    stand_for: dict[str, str] = {}
    parts: list[str] = []
    offset = 0
    for number, candidate in enumerate(found):
        spans = [(f"c{number}p{part}", *span) for part, span in enumerate(candidate.closing)]
        if not candidate.faults:
            spans.insert(0, (f"o{number}", candidate.start, candidate.start + 1))
        for name, start, end in spans:
            sign = f"rgb{salt}{name}z"
            stand_for[sign] = text[start:end]
            parts += [text[offset:start], sign]
            offset = end
    return Placeholders("".join([*parts, text[offset:]]), salt, stand_for)


def find_marks(html: str) -> Iterator[Mark]:
    """The marks that a reader sees: not those in comments, scripts and attributes."""
    links = 0
    for match in _PIECE.finditer(html):
        tag = (match["tag"] or "").lower()
        if tag == "a":
            links = max(0, links - 1) if match["end"] else links + 1
        elif tag == ELEMENT and not match["end"] and (name := _NUMBER.search(match["rest"])):
            yield Mark(match.start(), match.end(), name[1], int(name[2]), links > 0)


def find_left_placeholders(html: str) -> frozenset[int]:
    """The candidates whose braces a reader would see, since they are not code either."""
    return frozenset(int(n) for n in re.findall(r"rgb[0-9a-f]{16}c(\d+)p0z", _strip_code_and_tags(html)))


def _strip_code_and_tags(html: str) -> str:
    seen = re.sub(r"<(pre|code)\b.*?</\1\s*>", "", html, flags=re.DOTALL | re.IGNORECASE)
    return _PIECE.sub("", seen)


class BindingsExtension(Extension):
    """Marks the words of bindings; ``seen`` has the candidates of each converted text by its salt."""

    def __init__(self, *, restoring: bool = True) -> None:
        """Set whether signs that nobody took become text again; the draft looks for them instead."""
        super().__init__()
        self.restoring = restoring
        self.seen: dict[str, tuple[Candidate, ...]] = {}

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register every step, at its place among those of Markdown (superfences 25, raw HTML 20)."""
        signs = _Signs(md, self.seen)
        md.preprocessors.register(make_step(signs.put), "reportgen_signs", 24)
        # Behind escapes (180) and code spans (190), before footnotes (175) and links (170).
        md.inlinePatterns.register(_MarkWords(md, self.seen), "reportgen_bound", 175.5)
        if self.restoring:
            code, rest, stash = Treeprocessor(md), Treeprocessor(md), Postprocessor(md)
            code.run, rest.run, stash.run = signs.restore_code, signs.restore_rest, signs.restore_stash  # type: ignore[method-assign]
            md.preprocessors.register(make_step(signs.restore_html), "reportgen_raw", 19)
            # Code is highlighted at 30; what else is left is known once inline markup is done, at 20.
            md.treeprocessors.register(code, "reportgen_code", 100)
            md.treeprocessors.register(rest, "reportgen_rest", 19.5)
            md.postprocessors.register(stash, "reportgen_stash", -10)


class _Signs:
    """The signs of the text that is being converted, and the steps that put and restore them."""

    def __init__(self, md: Markdown, seen: dict[str, tuple[Candidate, ...]]) -> None:
        self.md, self.seen = md, seen
        self.stand_for: dict[str, str] = {}

    def put(self, lines: list[str]) -> list[str]:
        self.stand_for = {}
        text = "\n".join(lines)
        found = find_candidates(text) if has_binding_marks(text) else ()
        if not found:
            return lines
        text, salt, self.stand_for = put_placeholders(text, found)
        self.seen[salt] = found
        return text.split("\n")

    def restore(self, text: str, convert: Callable[[str], str] = str) -> str:
        """The text with what its signs stand for, converted."""
        if not self.stand_for or "rgb" not in text:
            return text
        return _SIGN.sub(lambda sign: convert(self.stand_for.get(sign[0], sign[0])), text)

    def restore_html(self, lines: list[str]) -> list[str]:
        stash = self.md.htmlStash.rawHtmlBlocks
        stash[:] = [self.restore(raw) if isinstance(raw, str) else raw for raw in stash]
        return lines

    def restore_code(self, root: Element) -> None:
        for code in root.iter("code"):
            if code.text:
                code.text = AtomicString(self.restore(code.text, code_escape))

    def restore_rest(self, root: Element) -> None:
        """Spans of code, and what is no binding to Markdown, as they were."""
        for element in root.iter() if self.stand_for else ():
            if element.text:
                restored = self.restore(element.text, code_escape if element.tag == "code" else str)
                element.text = type(element.text)(restored)
            if element.tail:
                element.tail = type(element.tail)(self.restore(element.tail))
            for name, value in element.items():
                element.set(name, self.restore(value))

    def restore_stash(self, text: str) -> str:
        """What other extensions put aside inside a line, such as highlighted code, as it was."""
        return self.restore(text, escape)


class _MarkWords(InlineProcessor):
    def __init__(self, md: Markdown, seen: dict[str, tuple[Candidate, ...]]) -> None:
        super().__init__(_MARKED_WORDS, md)
        self.seen = seen

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | None, int | None, int | None]:  # type: ignore[override]  # noqa: ARG002, N802
        """Words between whole signs become an element; Markdown goes on inside it."""
        found, number = self.seen.get(m[1], ()), int(m[2])
        if number >= len(found) or _SIGN.search(m[3]) or m[4].count("rgb") + 1 != len(found[number].closing):
            return None, None, None
        element = Element(ELEMENT, {"n": f"{m[1]}-{number}"})
        element.text = m[3]
        return element, m.start(0), m.end(0)


# ---- raw HTML

# What Markdown takes for a tag, a comment or a declaration; addresses in <> are links. No blank line in it.
_TAG: Final = re.compile(
    r"(?<!\]\()<(?!(?:https?|ftp)://)"
    r"(?:/?[a-z][^<>@ \n]*+(?:[ \n](?:[^<>\n]|\n(?![ \t]*\n))*+)?>|!--|\?|!\[|![a-z])",
    re.IGNORECASE,
)
_MOST_REPORTED_LINES: Final = 50


def find_raw_html(text: str, file: str, first_line: int) -> Iterator[Diagnostic]:
    """What Markdown without front matter would pass on as HTML, once for each line of a page; code is none.

    ``first_line`` is the line of the file at which ``text`` begins.
    """
    if not _TAG.search(text):
        return
    walked = walk(text)
    lines = walked.get_original_lines()
    tags = _TagPlaceholders(make_salt(text))
    try:
        prose = _strip_code_and_tags(walked.render(tags))
    except RecursionError:
        yield Diagnostic(SourceLocation(file, first_line), *NESTED_TOO_DEEP)
        return
    first_tags: dict[int, str] = {}
    for number in sorted(map(int, re.findall(rf"rgh{tags.salt}n(\d+)z", prose))):
        first_tags.setdefault(*tags.found[number])
    for line, tag in list(first_tags.items())[:_MOST_REPORTED_LINES]:
        message = f"raw HTML is refused here, where nobody is trusted: {shorten(tag, 60)}"
        step = "Write it in Markdown; in a text write &lt; for <, and put code in backticks"
        yield Diagnostic(SourceLocation(file, first_line + lines[line]), message, step)


class NoRawHtml(Extension):
    """Markdown to which every ``<`` is a letter."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Take away both steps that let HTML through."""
        md.preprocessors.deregister("html_block", strict=False)
        md.inlinePatterns.deregister("html", strict=False)


class _TagPlaceholders(Extension):
    """Puts words that mean nothing in place of tags, behind superfences: what is left of code is prose."""

    def __init__(self, salt: str) -> None:
        super().__init__()
        self.salt = salt
        # The tags, each with its 0-based line in what superfences left.
        self.found: list[tuple[int, str]] = []

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        md.preprocessors.register(make_step(self.replace_tags), "reportgen_tags", 24)

    def replace_tags(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        self.found = []
        starts = [match.start() for match in re.finditer("\n", text)]

        def put(match: re.Match[str]) -> str:
            self.found.append((bisect_left(starts, match.start()), match.group()))
            return f"rgh{self.salt}n{len(self.found) - 1}z" + "\n" * match.group().count("\n")

        return _TAG.sub(put, text).split("\n")
