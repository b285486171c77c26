"""Markdown extensions: one records fences, one marks the words of bindings, one refuses raw HTML.

The draft, which needs to know what is shown, and the site use the same extension for bindings. A
preprocessor after superfences replaces the opening bracket and the braces by signs that no other extension
reads as markup, so that quotes, ``<`` and ``|`` in an expression do no harm. Markdown then turns the signs
into ``<rg-bound n="SALT-N">words</rg-bound>``, unless they are in code, a comment or raw HTML.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString, code_escape
from pymdownx.superfences import SuperFencesCodeExtension, highlight_validator

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.text import NESTED_TOO_DEEP, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from reportgen.narrative.binding_syntax import Candidate


def _make_salt(text: str) -> str:
    """A word that no author can have written into the text by chance or on purpose."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _make_step(run: Callable[[list[str]], list[str]]) -> Preprocessor:
    step = Preprocessor()
    step.run = run  # type: ignore[assignment, method-assign]
    return step


# ---- fences


class Call(NamedTuple):
    """A fence that superfences handed to a formatter; lines are counted from 0."""

    language: str
    source: str
    start: int
    end: int
    ours: bool  # whether it came as one of our languages, and not as code to be highlighted
    bare: bool  # whether nothing but the language stands at the opening fence


class _Lines(list[str]):
    """Lines that know which of them is being looked at."""

    current = 0

    def __iter__(self) -> Iterator[str]:
        for self.current, line in enumerate(super().__iter__()):
            yield line


class _FenceRecorder(Extension):
    """Stands where superfences calls validators and formatters, and records what they are given."""

    def __init__(self, salt: str = "", probes: dict[int, int] | None = None) -> None:
        super().__init__()
        self.salt = salt
        # Where lines to be found again stand behind superfences, and where they stand in the text.
        self.probes = probes or {}
        self.clear()

    def clear(self) -> None:
        self.lines = _Lines()
        self.calls: list[Call] = []
        self.opened: list[int] = []
        self.bare = True

    def make_converter(self, *extensions: str | Extension) -> Markdown:
        take, take_code = partial(self.take, ours=True), partial(self.take, ours=False)
        fences = [{"name": kind, "class": kind, "format": take, "validator": self.open} for kind in BLOCKS]
        code = {"name": "*", "class": "", "format": take_code, "validator": self.open_code}
        superfences = SuperFencesCodeExtension(custom_fences=[code, *fences])
        return Markdown(extensions=[*extensions, superfences, self])

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        # superfences works at priority 25; HTML is taken out at 20.
        md.preprocessors.register(_make_step(self.count_lines), "reportgen_lines", 25.5)
        md.preprocessors.register(_make_step(self.put_probes), "reportgen_probes", 24.5)

    def count_lines(self, lines: list[str]) -> list[str]:
        self.lines = _Lines(lines)
        return self.lines

    def put_probes(self, lines: list[str]) -> list[str]:
        """Put a word that can be found again where superfences left a line as it was."""
        for index, line in self.probes.items():
            text = lines[index]
            lines[index] = f"{text[: len(text) - len(text.lstrip('> '))]}{self.salt}-{line}-"
        return lines

    def open(
        self, _language: str, inputs: dict[str, str], _options: object, attrs: dict[str, str], _md: object
    ) -> bool:
        """An opening fence of ours; superfences refuses it itself where ``attrs`` are not in braces."""
        attrs.update(inputs)
        self.bare = not inputs
        self.opened.append(self.lines.current)
        return True

    def open_code(self, *arguments: Any) -> bool:  # noqa: ANN401
        """An opening fence of code, which superfences itself would take or not."""
        self.opened.append(self.lines.current)
        return bool(highlight_validator(*arguments))

    def take(self, source: str, language: str, *_: object, ours: bool, **more: Any) -> str:  # noqa: ANN401
        bare = ours and self.bare and not more["classes"] and not more["id_value"]
        start = self.opened[-1]
        self.calls.append(Call(language or "", source, start, self.lines.current, ours, bare))
        return f'<div id="{self.salt}-{start}"></div>' if ours else "<pre></pre>"


# What may hold an indented fence. Where a site leaves one of these out, its indented text is code, and
# superfences restores it.
_CONTAINERS: Final = (
    *("abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"),
    *("pymdownx.details", "pymdownx.tabbed"),
)
# Lines that may make code, a comment or a link's target of what follows; elsewhere every fence is shown.
_HARD: Final = re.compile(r"^[> ]*    |<[A-Za-z!?/]|\]:")
# Browsers let an unclosed comment or script run to the end of the page.
_NEVER_SHOWN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_HIDES: Final = re.compile(r"<!--|<script|<style", re.IGNORECASE)
_CODE: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Walk:
    """What superfences made of a text; lines are counted from 0."""

    text: str
    lines: list[str]  # of the text, with white space as Python-Markdown sees it
    calls: list[Call]
    opened: list[int]  # the lines that it took for an opening fence, closed or not
    left: list[str]  # what every later step of Markdown sees: a line stands for each fence

    def find_column(self, line: int) -> int:
        """The 1-based column at which the text of a line begins."""
        return len(self.lines[line]) - len(self.lines[line].lstrip("> ")) + 1

    def get_original_lines(self) -> list[int]:
        """The line of the text for each line that is left; for a fence that of its opening."""
        gone = {line for call in self.calls for line in range(call.start + 1, call.end + 1)}
        return [line for line in range(len(self.lines)) if line not in gone]

    def render(self, extension: Extension) -> str:
        """The page with one more extension, as a site with all containers shows it."""
        return _FenceRecorder().make_converter(*_CONTAINERS, extension).convert(self.text)

    def find_shown(self, probes: Collection[int]) -> frozenset[int]:
        """The lines of our fences that reach the page outside comments and code.

        Those of ``probes``, lines that superfences left as they are, are looked for too.
        """
        ours = [call.start for call in self.calls if call.ours]
        if not probes and not any(_HARD.search(line) for line in self.left):
            return frozenset(ours)
        salt = _make_salt(self.text)
        # superfences puts one line in place of each fence.
        lost = {
            line: sum(call.end - call.start for call in self.calls if call.start < line) for line in probes
        }
        recorder = _FenceRecorder(salt, {line - lost[line]: line for line in probes})
        page = _NEVER_SHOWN.sub("", recorder.make_converter(*_CONTAINERS).convert(self.text))
        prose = _CODE.sub("", page)
        shown = {line for line in ours if f'"{salt}-{line}"' in page}
        return frozenset(shown | {line for line in probes if f"{salt}-{line}-" in prose})

    def find_swallowed(self, shown: Collection[int]) -> tuple[int, ...]:
        """Lines of our fences that stand at the margin and yet do not reach the page, for no other reason."""
        if _HIDES.search(self.text):
            return ()
        ours = (call.start for call in self.calls if call.ours)
        return tuple(line for line in ours if line not in shown and not _HARD.match(self.lines[line]))


def walk(text: str) -> Walk:
    """Let superfences look for fences in Markdown, with nothing else of Markdown's work done."""
    recorder, markdown = _make_scanner()
    recorder.clear()
    markdown.reset()
    lines = text.split("\n")
    for name in ("normalize_whitespace", "reportgen_lines", "fenced_code_block"):
        lines = markdown.preprocessors[name].run(lines)
    return Walk(text, list(recorder.lines), recorder.calls, recorder.opened, lines)


@cache  # to make a converter takes as long as to scan a page
def _make_scanner() -> tuple[_FenceRecorder, Markdown]:
    recorder = _FenceRecorder()
    return recorder, recorder.make_converter()


# ---- bindings

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
    salt = _make_salt(text)
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
        md.preprocessors.register(_make_step(signs.put), "reportgen_signs", 24)
        # Behind escapes (180) and code spans (190), before footnotes (175) and links (170).
        md.inlinePatterns.register(_MarkWords(md, self.seen), "reportgen_bound", 175.5)
        if self.restoring:
            code, rest, stash = Treeprocessor(md), Treeprocessor(md), Postprocessor(md)
            code.run, rest.run, stash.run = signs.restore_code, signs.restore_rest, signs.restore_stash  # type: ignore[method-assign]
            md.preprocessors.register(_make_step(signs.restore_html), "reportgen_raw", 19)
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
    tags = _TagPlaceholders(_make_salt(text))
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
        md.preprocessors.register(_make_step(self.replace_tags), "reportgen_tags", 24)

    def replace_tags(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        self.found = []
        starts = [match.start() for match in re.finditer("\n", text)]

        def put(match: re.Match[str]) -> str:
            self.found.append((bisect_left(starts, match.start()), match.group()))
            return f"rgh{self.salt}n{len(self.found) - 1}z" + "\n" * match.group().count("\n")

        return _TAG.sub(put, text).split("\n")
