"""Raw HTML in Markdown, in pages of people whom nobody knows: found with its line, kept out of the site."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from reportgen.errors import Problem, SourceLocation
from reportgen.narrative.spans import strip_code_and_tags
from reportgen.settings.kinds import BLOCKS
from reportgen.settings.parsing import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown import Markdown

# What Markdown takes for a tag, a comment or a declaration; addresses in <> are links. No blank line in it.
_TAG: Final = re.compile(
    r"(?<!\]\()<(?!(?:https?|ftp)://)"
    r"(?:/?[a-z][^<>@ \n]*+(?:[ \n](?:[^<>\n]|\n(?![ \t]*\n))*+)?>|!--|\?|!\[|![a-z])",
    re.IGNORECASE,
)
_MOST: Final = 50
"""Lines of a page that are told."""
_STEP: Final = "Write it in Markdown; in a text write &lt; for <, and put code in backticks"


def find_raw_html(text: str, file: str, first_line: int) -> Iterator[Problem]:
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
        yield Problem(
            SourceLocation(file, first_line), "this page is nested too deep", "Indent and quote less"
        )
        return
    first_tags: dict[int, str] = {}
    for number in placeholders.find_numbers(prose):
        line, tag = placeholders.found[number]
        first_tags.setdefault(line, tag)
    for line, tag in list(first_tags.items())[:_MOST]:
        said = f"raw HTML is refused here, where nobody is trusted: {shorten(tag, 60)}"
        yield Problem(SourceLocation(file, first_line + lines[line]), said, _STEP)


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

    def sign(self, number: int | str) -> str:
        """The word for a tag."""
        return f"rgh{self.salt}n{number}z"

    def find_numbers(self, text: str) -> list[int]:
        """The tags whose words stand in a text, in their order."""
        return sorted(int(number) for number in re.findall(self.sign(r"(\d+)"), text))

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register the step."""
        md.preprocessors.register(_PutTagPlaceholders(md, self), "reportgen_tags", 24)


class _PutTagPlaceholders(Preprocessor):
    def __init__(self, md: Markdown, placeholders: _TagPlaceholders) -> None:
        super().__init__(md)
        self.signs = placeholders

    def run(self, lines: list[str]) -> list[str]:
        """Lines without tags."""
        text = "\n".join(lines)
        self.signs.found = []
        starts = [match.start() for match in re.finditer("\n", text)]

        def put(match: re.Match[str]) -> str:
            self.signs.found.append((bisect_left(starts, match.start()), match.group()))
            return self.signs.sign(len(self.signs.found) - 1) + "\n" * match.group().count("\n")

        return _TAG.sub(put, text).split("\n")
