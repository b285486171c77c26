"""Markdown extensions: one marks the words of bindings, one keeps raw HTML out of untrusted pages.

The draft, which asks what is shown, and the site use the same extension for bindings. A preprocessor after
superfences replaces the opening bracket and the braces by placeholders that no other extension reads as
markup, so that quotes, ``<`` and ``|`` in an expression do no harm. Markdown then turns the placeholders into
``<rg-bound n="SALT-N">words</rg-bound>``, unless they are in code, a comment or raw HTML.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.etree.ElementTree import Element

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString, Processor, code_escape

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.text import NESTED_TOO_DEEP, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown import Markdown

    from reportgen.narrative.binding_syntax import Candidate


ELEMENT: Final = "rg-bound"
_SIGN: Final = re.compile(r"rgb[0-9a-f]{16}(?:o\d+|c\d+p\d+)z")
_MARKED_WORDS: Final = r"rgb([0-9a-f]{16})o(\d+)z(.*?)rgb\1c\2p0z((?:\s*rgb\1c\2p\d+z)*)"
_NEXT_SIGN: Final = re.compile(r"z\s*rgb")
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
    # No author can have written this by chance or on purpose.
    salt = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    stand_for: dict[str, str] = {}
    parts: list[str] = []
    place = 0
    for number, one in enumerate(found):
        spans = [(f"c{number}p{part}", *span) for part, span in enumerate(one.closing)]
        if not one.faults:
            spans.insert(0, (f"o{number}", one.start, one.start + 1))
        for name, start, end in spans:
            sign = f"rgb{salt}{name}z"
            stand_for[sign] = text[start:end]
            parts += [text[place:start], sign]
            place = end
    return Placeholders("".join([*parts, text[place:]]), salt, stand_for)


def find_marks(html: str) -> Iterator[Mark]:
    """The marks that a reader sees: not those in comments, scripts and attributes."""
    links = 0
    for match in _PIECE.finditer(html):
        tag = (match["tag"] or "").lower()
        if tag == "a":
            links = max(0, links - 1) if match["end"] else links + 1
        elif tag == ELEMENT and not match["end"] and (found := _NUMBER.search(match["rest"])):
            yield Mark(match.start(), match.end(), found[1], int(found[2]), links > 0)


def find_left_placeholders(html: str) -> frozenset[int]:
    """The candidates whose braces a reader would see, since they are not code either."""
    seen = strip_code_and_tags(html)
    return frozenset(int(n) for n in re.findall(r"rgb[0-9a-f]{16}c(\d+)p0z", seen))


def strip_code_and_tags(html: str) -> str:
    """The words of a page that are no code."""
    seen = re.sub(r"<(pre|code)\b.*?</\1\s*>", "", html, flags=re.DOTALL | re.IGNORECASE)
    return _PIECE.sub("", seen)


class BindingsExtension(Extension):
    """Marks the words of bindings.

    Attributes:
        seen: the candidates of each text that was converted, by its salt.
    """

    def __init__(self, *, restoring: bool = True) -> None:
        """Take whether signs that nobody took become text again; the draft looks for them instead."""
        super().__init__()
        self.restoring = restoring
        self.seen: dict[str, tuple[Candidate, ...]] = {}

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register every step, at its place among those of Markdown (superfences 25, raw HTML 20)."""
        text = _Text()
        md.preprocessors.register(_Swap(md, self, text), "reportgen_signs", 24)
        # Behind escapes (180) and code spans (190), before footnotes (175) and links (170).
        md.inlinePatterns.register(_MarkWords(md, self), "reportgen_bound", 175.5)
        if self.restoring:
            md.preprocessors.register(_RestoreHtml(md, text), "reportgen_raw", 19)
            # Code is highlighted at 30; what else is left is known once inline markup is done, at 20.
            md.treeprocessors.register(_RestoreCode(md, text), "reportgen_code", 100)
            md.treeprocessors.register(_RestoreRest(md, text), "reportgen_rest", 19.5)
            md.postprocessors.register(_RestoreStash(md, text), "reportgen_stash", -10)


class _Text:
    """What the signs of the text that is being converted stand for."""

    def __init__(self) -> None:
        self.stand_for: dict[str, str] = {}

    def restore(self, text: str, *, code: bool = False, escaped: bool = False) -> str:
        """The text with what its signs stand for."""

        def get_original(match: re.Match[str]) -> str:
            original = self.stand_for.get(match.group(), match.group())
            if escaped:
                return escape(original)
            return code_escape(original) if code else original

        return _SIGN.sub(get_original, text) if self.stand_for and "rgb" in text else text


class _Swap(Preprocessor):
    def __init__(self, md: Markdown, spans: BindingsExtension, text: _Text) -> None:
        super().__init__(md)
        self.spans = spans
        self.text = text

    def run(self, lines: list[str]) -> list[str]:
        """Lines with signs."""
        self.text.stand_for = {}
        text = "\n".join(lines)
        found = find_candidates(text) if has_binding_marks(text) else ()
        if not found:
            return lines
        signed = put_placeholders(text, found)
        self.spans.seen[signed.salt] = found
        self.text.stand_for = signed.stand_for
        return signed.text.split("\n")


class _MarkWords(InlineProcessor):
    def __init__(self, md: Markdown, spans: BindingsExtension) -> None:
        super().__init__(_MARKED_WORDS, md)
        self.spans = spans

    def handleMatch(  # type: ignore[override]  # noqa: N802  # Python-Markdown's name
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002
    ) -> tuple[Element | None, int | None, int | None]:
        """Words between whole signs become an element; Markdown goes on with what stands in it."""
        found = self.spans.seen.get(m[1], ())
        number = int(m[2])
        if number >= len(found) or _SIGN.search(m[3]):
            return None, None, None
        if m[4].count("rgb") + 1 != len(found[number].closing):
            return None, None, None
        element = Element(ELEMENT, {"n": f"{m[1]}-{number}"})
        element.text = m[3]
        return element, m.start(0), m.end(0)


class _Restore(Processor):
    """A step that puts back what signs stand for."""

    def __init__(self, md: Markdown, text: _Text) -> None:
        super().__init__(md)
        self.text = text


class _RestoreHtml(_Restore, Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        """Raw HTML as it was."""
        stash = self.md.htmlStash.rawHtmlBlocks
        stash[:] = [self.text.restore(raw) if isinstance(raw, str) else raw for raw in stash]
        return lines


class _RestoreCode(_Restore, Treeprocessor):
    def run(self, root: Element) -> None:
        """Blocks of code as they were."""
        for code in root.iter("code"):
            if code.text:
                code.text = AtomicString(self.text.restore(code.text, code=True))


class _RestoreRest(_Restore, Treeprocessor):
    def run(self, root: Element) -> None:
        """Spans of code, and what is no binding to Markdown, as they were."""
        if not self.text.stand_for:
            return
        for one in root.iter():
            if one.text:
                kind = type(one.text)
                one.text = kind(self.text.restore(one.text, code=one.tag == "code"))
            if one.tail:
                one.tail = type(one.tail)(self.text.restore(one.tail))
            for name, value in one.items():
                one.set(name, self.text.restore(value))


class _RestoreStash(_Restore, Postprocessor):
    def run(self, text: str) -> str:
        """What other extensions put aside inside a line, such as highlighted code, as it was."""
        return self.text.restore(text, escaped=True)


# What Markdown takes for a tag, a comment or a declaration; addresses in <> are links. No blank line in it.
_TAG: Final = re.compile(
    r"(?<!\]\()<(?!(?:https?|ftp)://)"
    r"(?:/?[a-z][^<>@ \n]*+(?:[ \n](?:[^<>\n]|\n(?![ \t]*\n))*+)?>|!--|\?|!\[|![a-z])",
    re.IGNORECASE,
)
_MOST: Final = 50
"""Lines of a page that are told."""
_STEP: Final = "Write it in Markdown; in a text write &lt; for <, and put code in backticks"


def find_raw_html(text: str, file: str, first_line: int) -> Iterator[Diagnostic]:
    """What Markdown would pass on as HTML, once for each line of a page; code is none.

    Args:
        text: Markdown without front matter.
        file: the page relative to the project.
        first_line: the line of the file at which ``text`` begins.
    """
    if not _TAG.search(text):
        return
    from reportgen.narrative.superfences import walk  # noqa: PLC0415 - most pages hold nothing like it

    walked = walk(text, tuple(BLOCKS))
    lines = walked.get_original_lines()
    placeholders = _TagPlaceholders(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16])
    try:
        prose = strip_code_and_tags(walked.render(placeholders))
    except RecursionError:
        yield Diagnostic(SourceLocation(file, first_line), *NESTED_TOO_DEEP)
        return
    first_tags: dict[int, str] = {}
    for number in placeholders.find_numbers(prose):
        line, tag = placeholders.found[number]
        first_tags.setdefault(line, tag)
    for line, tag in list(first_tags.items())[:_MOST]:
        said = f"raw HTML is refused here, where nobody is trusted: {shorten(tag, 60)}"
        yield Diagnostic(SourceLocation(file, first_line + lines[line]), said, _STEP)


class NoRawHtml(Extension):
    """Markdown to which every ``<`` is a letter."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Take away both steps that let HTML through."""
        md.preprocessors.deregister("html_block", strict=False)
        md.inlinePatterns.deregister("html", strict=False)


class _TagPlaceholders(Extension):
    """Puts words that mean nothing in place of tags, behind superfences: what is left of code is prose.

    Attributes:
        found: the tags, each with its 0-based line in what superfences left.
    """

    def __init__(self, salt: str) -> None:
        super().__init__()
        self.salt = salt
        self.found: list[tuple[int, str]] = []

    def find_numbers(self, text: str) -> list[int]:
        """The tags whose words stand in a text, in their order."""
        return sorted(int(number) for number in re.findall(rf"rgh{self.salt}n(\d+)z", text))

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register the step."""
        step = Preprocessor(md)
        step.run = self.replace_tags  # type: ignore[method-assign]
        md.preprocessors.register(step, "reportgen_tags", 24)

    def replace_tags(self, lines: list[str]) -> list[str]:
        """Lines without tags."""
        text = "\n".join(lines)
        self.found = []
        starts = [match.start() for match in re.finditer("\n", text)]

        def put(match: re.Match[str]) -> str:
            self.found.append((bisect_left(starts, match.start()), match.group()))
            return f"rgh{self.salt}n{len(self.found) - 1}z" + "\n" * match.group().count("\n")

        return _TAG.sub(put, text).split("\n")
