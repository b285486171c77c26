"""Markdown extensions that record fences, mark the words of bindings, and refuse raw HTML.

The draft, which needs to know what is shown, and the site use the same extension for bindings. After
superfences, a preprocessor replaces the opening bracket and the braces by placeholders that no other
extension reads as markup, so that quotes, ``<`` and ``|`` in an expression do no harm. Markdown then turns
them into ``<rg-bound n="SALT-N">words</rg-bound>``, unless they are in code, a comment or raw HTML.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
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
from msgspec import Struct
from pymdownx.superfences import SuperFencesCodeExtension, highlight_validator

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.narrative.binding_syntax import find_candidates, has_binding_marks
from reportgen.settings.blocks import list_kinds
from reportgen.settings.text import NESTED_TOO_DEEP, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from reportgen.narrative.binding_syntax import Candidate


def _make_salt(text: str) -> str:
    """Return a word that the text cannot contain by chance or intent."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _make_step(run: Callable[[list[str]], list[str]]) -> Preprocessor:
    step = Preprocessor()
    step.run = run  # type: ignore[assignment, method-assign]
    return step


# ---- fences


class Call(NamedTuple):
    """A fence that superfences passed to a formatter; lines are counted from 0."""

    language: str
    source: str
    start: int
    end: int
    ours: bool  # whether its language is one of ours, not code to be highlighted
    bare: bool  # whether the opening fence has nothing but the language


class _Lines(list[str]):
    """Lines that record the current one during iteration."""

    current = 0

    def __iter__(self) -> Iterator[str]:
        for self.current, line in enumerate(super().__iter__()):
            yield line


class _FenceRecorder(Extension):
    """Recorder of the calls of validators and formatters by superfences."""

    def __init__(self, salt: str = "", probes: dict[int, int] | None = None) -> None:
        super().__init__()
        self.salt = salt
        # Line numbers of probes after superfences, and in the text.
        self.probes = probes or {}
        self.clear()

    def clear(self) -> None:
        self.lines = _Lines()
        self.calls: list[Call] = []
        self.opened: list[int] = []
        self.bare = True

    def make_converter(self, *extensions: str | Extension) -> Markdown:
        take, take_code = partial(self.take, ours=True), partial(self.take, ours=False)
        fences = [
            {"name": kind, "class": kind, "format": take, "validator": self.open} for kind in list_kinds()
        ]
        code = {"name": "*", "class": "", "format": take_code, "validator": self.open_code}
        superfences = SuperFencesCodeExtension(custom_fences=[code, *fences])
        return Markdown(extensions=[*extensions, superfences, self])

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        # superfences runs at priority 25; HTML is removed at 20.
        md.preprocessors.register(_make_step(self.count_lines), "reportgen_lines", 25.5)
        md.preprocessors.register(_make_step(self.put_probes), "reportgen_probes", 24.5)

    def count_lines(self, lines: list[str]) -> list[str]:
        self.lines = _Lines(lines)
        return self.lines

    def put_probes(self, lines: list[str]) -> list[str]:
        """Put a recognisable word in place of lines that superfences left unchanged."""
        for index, line in self.probes.items():
            text = lines[index]
            lines[index] = f"{text[: len(text) - len(text.lstrip('> '))]}{self.salt}-{line}-"
        return lines

    def open(
        self, _language: str, inputs: dict[str, str], _options: object, attrs: dict[str, str], _md: object
    ) -> bool:
        """Record an opening fence of ours; superfences refuses it itself if ``attrs`` are not in braces."""
        attrs.update(inputs)
        self.bare = not inputs
        self.opened.append(self.lines.current)
        return True

    def open_code(self, *arguments: Any) -> bool:  # noqa: ANN401
        """Record an opening fence of code, and return whether superfences would accept it."""
        self.opened.append(self.lines.current)
        return bool(highlight_validator(*arguments))

    def take(self, source: str, language: str, *_: object, ours: bool, **more: Any) -> str:  # noqa: ANN401
        bare = ours and self.bare and not more["classes"] and not more["id_value"]
        start = self.opened[-1]
        self.calls.append(Call(language or "", source, start, self.lines.current, ours, bare))
        return f'<div id="{self.salt}-{start}"></div>' if ours else "<pre></pre>"


# Extensions whose containers may hold an indented fence. If a site omits one, its indented text is code, and
# superfences restores it.
_CONTAINERS: Final = (
    *("abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"),
    *("pymdownx.details", "pymdownx.tabbed"),
)
# Lines that may turn the following text into code, a comment or a link's target; otherwise all is shown.
_HARD: Final = re.compile(r"^[> ]*    |<[A-Za-z!?/]|\]:")
# In browsers an unclosed comment or script runs to the end of the page.
_NEVER_SHOWN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_HIDES: Final = re.compile(r"<!--|<script|<style", re.IGNORECASE)
_CODE: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL | re.IGNORECASE)


class Walk(Struct, frozen=True):
    """The result of superfences for a text; lines are counted from 0."""

    text: str
    lines: list[str]  # of the text, with white space as in Python-Markdown
    calls: list[Call]
    opened: list[int]  # lines that it read as an opening fence, closed or not
    left: list[str]  # text for the later steps of Markdown, with a line for each fence

    def find_column(self, line: int) -> int:
        """Return the 1-based column at which the text of a line begins."""
        return len(self.lines[line]) - len(self.lines[line].lstrip("> ")) + 1

    def get_original_lines(self) -> list[int]:
        """Return the line of the text for each line that is left; for a fence, its opening line."""
        gone = {line for call in self.calls for line in range(call.start + 1, call.end + 1)}
        return [line for line in range(len(self.lines)) if line not in gone]

    def render(self, extension: Extension) -> str:
        """Render the page with one more extension, as on a site with all containers."""
        return _FenceRecorder().make_converter(*_CONTAINERS, extension).convert(self.text)

    def find_shown(self, probes: Collection[int]) -> frozenset[int]:
        """Return the lines of our fences that reach the page outside comments and code.

        Those of ``probes``, lines that superfences leaves unchanged, are included.
        """
        ours = [call.start for call in self.calls if call.ours]
        if not probes and not any(_HARD.search(line) for line in self.left):
            return frozenset(ours)
        salt = _make_salt(self.text)
        # superfences replaces each fence by one line.
        lost = {
            line: sum(call.end - call.start for call in self.calls if call.start < line) for line in probes
        }
        recorder = _FenceRecorder(salt, {line - lost[line]: line for line in probes})
        page = _NEVER_SHOWN.sub("", recorder.make_converter(*_CONTAINERS).convert(self.text))
        prose = _CODE.sub("", page)
        shown = {line for line in ours if f'"{salt}-{line}"' in page}
        return frozenset(shown | {line for line in probes if f"{salt}-{line}-" in prose})

    def find_swallowed(self, shown: Collection[int]) -> tuple[int, ...]:
        """Return lines of our fences at the margin that do not reach the page, if nothing hides them."""
        if _HIDES.search(self.text):
            return ()
        ours = (call.start for call in self.calls if call.ours)
        return tuple(line for line in ours if line not in shown and not _HARD.match(self.lines[line]))


def walk(text: str) -> Walk:
    """Let superfences find the fences in Markdown, without any other step of Markdown."""
    recorder, markdown = _make_scanner(list_kinds())
    recorder.clear()
    markdown.reset()
    lines = text.split("\n")
    for name in ("normalize_whitespace", "reportgen_lines", "fenced_code_block"):
        lines = markdown.preprocessors[name].run(lines)
    return Walk(text, list(recorder.lines), recorder.calls, recorder.opened, lines)


@cache  # making a converter takes as long as scanning a page
def _make_scanner(_kinds: tuple[str, ...]) -> tuple[_FenceRecorder, Markdown]:
    recorder = _FenceRecorder()
    return recorder, recorder.make_converter()


# ---- bindings

ELEMENT: Final = "rg-bound"
_SIGN: Final = re.compile(r"rgb[0-9a-f]{16}(?:o\d+|c\d+p\d+)z")
_MARKED_WORDS: Final = r"rgb([0-9a-f]{16})o(\d+)z(.*?)rgb\1c\2p0z((?:\s*rgb\1c\2p\d+z)*)"
# Pieces of HTML as in browsers: comments, scripts, tags with their quoted attributes.
_PIECE: Final = re.compile(
    # Case is ignored only where it must be: sets of characters would take 20 ms to compile.
    r"<!--.*?(?:-->|\Z)|<(?i:script|style)\b.*?(?:</(?i:script|style)\s*>|\Z)"
    r"""|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)(?P<rest>(?:[^"'>]|"[^"]*"|'[^']*')*+)>""",
    re.DOTALL,
)
_NUMBER: Final = re.compile(r'\bn="([0-9a-f]{16})-(\d+)"')


class Placeholders(NamedTuple):
    """A text with placeholders for its candidates, and the text that each replaces."""

    text: str
    salt: str
    stand_for: dict[str, str]


class Mark(NamedTuple):
    """Marked words on a page: offsets of the opening tag, salt and number, and whether it is in a link."""

    start: int
    end: int
    salt: str
    number: int
    in_link: bool


def put_placeholders(text: str, found: tuple[Candidate, ...]) -> Placeholders:
    """Put placeholders into a text without changing the number of lines."""
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
    """Yield the marks that a reader sees, not those in comments, scripts and attributes."""
    links = 0
    for match in _PIECE.finditer(html):
        tag = (match["tag"] or "").lower()
        if tag == "a":
            links = max(0, links - 1) if match["end"] else links + 1
        elif tag == ELEMENT and not match["end"] and (name := _NUMBER.search(match["rest"])):
            yield Mark(match.start(), match.end(), name[1], int(name[2]), links > 0)


def find_left_placeholders(html: str) -> frozenset[int]:
    """Return the candidates whose braces a reader would see, since they are not in code either."""
    return frozenset(int(n) for n in re.findall(r"rgb[0-9a-f]{16}c(\d+)p0z", _strip_code_and_tags(html)))


def _strip_code_and_tags(html: str) -> str:
    seen = re.sub(r"<(pre|code)\b.*?</\1\s*>", "", html, flags=re.DOTALL | re.IGNORECASE)
    return _PIECE.sub("", seen)


class BindingsExtension(Extension):
    """Extension that marks the words of bindings; ``seen`` has the candidates of each text by its salt."""

    def __init__(self, *, restoring: bool = True) -> None:
        """Set whether unused placeholders become text again; the draft looks for them instead."""
        super().__init__()
        self.restoring = restoring
        self.seen: dict[str, tuple[Candidate, ...]] = {}

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register every step, with its priority among those of Markdown (superfences 25, raw HTML 20)."""
        signs = _Signs(md, self.seen)
        md.preprocessors.register(_make_step(signs.put), "reportgen_signs", 24)
        # After escapes (180) and code spans (190), before footnotes (175) and links (170).
        md.inlinePatterns.register(_MarkWords(md, self.seen), "reportgen_bound", 175.5)
        if self.restoring:
            code, rest, stash = Treeprocessor(md), Treeprocessor(md), Postprocessor(md)
            code.run, rest.run, stash.run = signs.restore_code, signs.restore_rest, signs.restore_stash  # type: ignore[method-assign]
            md.preprocessors.register(_make_step(signs.restore_html), "reportgen_raw", 19)
            # Code is highlighted at 30; the rest is known once inline markup is done, at 20.
            md.treeprocessors.register(code, "reportgen_code", 100)
            md.treeprocessors.register(rest, "reportgen_rest", 19.5)
            md.postprocessors.register(stash, "reportgen_stash", -10)


class _Signs:
    """Placeholders in the text being converted, and the steps that put and restore them."""

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
        """Replace the placeholders in a text by the text that they replaced, converted."""
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
        """Restore spans of code, and what Markdown does not read as a binding."""
        for element in root.iter() if self.stand_for else ():
            if element.text:
                restored = self.restore(element.text, code_escape if element.tag == "code" else str)
                element.text = type(element.text)(restored)
            if element.tail:
                element.tail = type(element.tail)(self.restore(element.tail))
            for name, value in element.items():
                element.set(name, self.restore(value))

    def restore_stash(self, text: str) -> str:
        """Restore what other extensions put aside inside a line, such as highlighted code."""
        return self.restore(text, escape)


class _MarkWords(InlineProcessor):
    def __init__(self, md: Markdown, seen: dict[str, tuple[Candidate, ...]]) -> None:
        super().__init__(_MARKED_WORDS, md)
        self.seen = seen

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | None, int | None, int | None]:  # type: ignore[override]  # noqa: ARG002, N802
        """Turn words between complete placeholders into an element, inside which Markdown goes on."""
        found, number = self.seen.get(m[1], ()), int(m[2])
        if number >= len(found) or _SIGN.search(m[3]) or m[4].count("rgb") + 1 != len(found[number].closing):
            return None, None, None
        element = Element(ELEMENT, {"n": f"{m[1]}-{number}"})
        element.text = m[3]
        return element, m.start(0), m.end(0)


# ---- raw HTML

# Tags, comments and declarations in Markdown; addresses in <> are links. They contain no blank line.
_TAG: Final = re.compile(
    r"(?<!\]\()<(?!(?i:https?|ftp)://)"
    r"(?:/?[A-Za-z][^<>@ \n]*+(?:[ \n](?:[^<>\n]|\n(?![ \t]*\n))*+)?>|!--|\?|!\[|![A-Za-z])"
)
_MOST_REPORTED_LINES: Final = 50


def find_raw_html(text: str, file: str, first_line: int) -> Iterator[Diagnostic]:
    """Yield a problem for the HTML in each line of Markdown without front matter, except in code.

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
        message = f"untrusted: true refuses raw HTML: {shorten(tag, 60)}"
        step = "Write it in Markdown; in a text write &lt; for <, and put code in backticks"
        yield Diagnostic(SourceLocation(file, first_line + lines[line]), message, step)


class NoRawHtml(Extension):
    """Markdown extension that reads every ``<`` as a letter."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Remove both steps that let HTML through."""
        md.preprocessors.deregister("html_block", strict=False)
        md.inlinePatterns.deregister("html", strict=False)


class _TagPlaceholders(Extension):
    """Extension that replaces tags by placeholders after superfences; those not in code are prose."""

    def __init__(self, salt: str) -> None:
        super().__init__()
        self.salt = salt
        # Tags with their 0-based lines in what superfences left.
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
