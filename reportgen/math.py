r"""Markdown extension ``reportgen.math``: formulas in TeX become MathML, which needs no script.

``$…$`` and ``\(…\)`` stand in a line; ``$$…$$`` and ``\[…\]`` in a paragraph of their own. A dollar opens a
formula unless a space follows it, and closes one unless a space stands before it or a digit after it, as in
Pandoc: ``$3/$15`` is money.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement

from latex2mathml import exceptions
from latex2mathml.commands import MATRICES
from latex2mathml.converter import convert_to_element
from markdown import Extension, Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.serializers import to_html_string

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

_INLINE: Final = r"\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$(?![\d$])|\\\((.+?)\\\)"
_PARAGRAPH: Final = re.compile(r"\s*(?:\$\$(.+?)\$\$|\\\[(.+?)\\\])\s*", re.DOTALL)
_ENVIRONMENT: Final = re.compile(r"\\begin\s*\{([^{}]*)\}")
_BRACE: Final = re.compile(r"\\.|([{}])", re.DOTALL)
_ENVIRONMENTS: Final = frozenset(name.removeprefix("\\") for name in MATRICES)
_ERRORS: Final = tuple(vars(exceptions)[name] for name in vars(exceptions) if name.endswith("Error"))
# Attributes that do more than set a formula.
_REFUSED: Final = frozenset(("href", "style", "class", "id"))
# Before the backslash of an escape (180) and after code (190).
_PRIORITY: Final = 185
_NEXT: Final = "Mend it, or write \\$ for a dollar"


def _find_faults(tex: str) -> Iterator[str]:
    """Find what the converter would read in another way than TeX does, without a word."""
    depth = 0
    for brace in _BRACE.finditer(tex):
        depth += {"{": 1, "}": -1}.get(brace[1] or "", 0)
        if depth < 0:
            break
    if depth:
        yield "its braces are not balanced"
    for name in _ENVIRONMENT.findall(tex):
        if name not in _ENVIRONMENTS:
            yield f"{name} is no environment that can be set"


def _find_unset(math: Element) -> Iterator[str]:
    """Find what the converter left as it was written."""
    for element in math.iter():
        text = element.text or ""
        if element.tag != "mtext" and text.startswith("\\"):
            yield f"{text} is no command that can be set"
        if element.tag != "mtext" and text == "&":
            yield "& stands outside of an environment with columns"
        if refused := _REFUSED.intersection(element.attrib):
            yield f"\\{min(refused)} is not allowed"


def convert_formula(tex: str, *, is_block: bool = False) -> str:
    """Convert a formula into MathML, with its TeX for those who cannot see it.

    Raises:
        ValueError: it cannot be set, or would be set as something else than in TeX.
    """
    # Both are set alike, and only one is known.
    known = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex.strip())
    faults = [*_find_faults(known)]
    if not faults:
        around = Element("span")
        try:
            convert_to_element(known, display="block" if is_block else "inline", parent=around)
        except _ERRORS as error:
            name = type(error).__name__.removesuffix("Error")
            faults = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()]
        except (StopIteration, ValueError, IndexError):
            faults = ["an argument is missing"]
        else:
            faults = [*_find_unset(around)]
    if faults:
        raise ValueError(faults[0])
    (math,) = around
    math.set("alttext", tex.strip())
    return to_html_string(math)


class _Page(Preprocessor):
    """Keeps the text of a page, in which faults are located."""

    text = ""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines as they are."""
        self.text = "\n".join(lines)
        return lines

    def store(self, tex: str, *, is_block: bool = False) -> str:
        """Store a formula, and return its place in the page.

        Raises:
            ReportError: it cannot be set; the file of the location is that of the page, and left out.
        """
        try:
            mathml = convert_formula(tex, is_block=is_block)
        except ValueError as fault:
            first = tex.strip().partition("\n")[0]
            found = self.text.find(first)
            line = self.text.count("\n", 0, found) + 1 if found >= 0 else None
            message = f"the formula {first} cannot be set: {fault}"
            raise ReportError(
                Diagnostic(SourceLocation("", line), message, _NEXT, Stage.NARRATIVE)
            ) from fault
        tag = "div" if is_block else "span"
        return self.md.htmlStash.store(f'<{tag} class="rg-math">{mathml}</{tag}>')


class _Inline(InlineProcessor):
    """Converts formulas in a line."""

    def __init__(self, page: _Page) -> None:
        super().__init__(_INLINE, page.md)
        self._page = page

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]  # noqa: ARG002, N802 - Python-Markdown's signature
        """Return the place of a formula, and where it begins and ends."""
        return self._page.store(m[1] or m[2]), m.start(), m.end()


class _Paragraph(BlockProcessor):
    """Converts formulas that are a paragraph."""

    def __init__(self, page: _Page) -> None:
        super().__init__(page.md.parser)
        self._page = page

    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002 - Python-Markdown's signature
        """Return whether a block of text is a formula."""
        return _PARAGRAPH.fullmatch(block) is not None

    def run(self, parent: Element, blocks: list[str]) -> bool:
        """Replace the first block by its formula."""
        found = _PARAGRAPH.fullmatch(blocks.pop(0))
        assert found  # noqa: S101 - as tested
        SubElement(parent, "p").text = self._page.store(found[1] or found[2], is_block=True)
        return True


class MathExtension(Extension):
    """Adds formulas in a line and of their own."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Register both, and let a backslash escape a dollar."""
        page = _Page(md)
        md.ESCAPED_CHARS.append("$")
        md.preprocessors.register(page, "reportgen_math", 1000)  # before every other step
        md.inlinePatterns.register(_Inline(page), "reportgen_math", _PRIORITY)
        md.parser.blockprocessors.register(_Paragraph(page), "reportgen_math", _PRIORITY)


def makeExtension(**_: object) -> MathExtension:  # noqa: N802 - as Python-Markdown asks the module for it
    """Return the extension."""
    return MathExtension()
