"""Raw HTML in Markdown, which is refused where nobody is trusted."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from markdown.extensions import Extension

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.narrative.markdown_extensions import make_salt, make_step, strip_code_and_tags, walk
from reportgen.settings.text import NESTED_TOO_DEEP, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown import Markdown

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
    tags = _TagPlaceholders(make_salt(text))
    try:
        prose = strip_code_and_tags(walked.render(tags))
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
        md.preprocessors.register(make_step(self.replace_tags), "reportgen_tags", 24)

    def replace_tags(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        self.found = []
        starts = [match.start() for match in re.finditer("\n", text)]

        def put(match: re.Match[str]) -> str:
            self.found.append((bisect_left(starts, match.start()), match.group()))
            return f"rgh{self.salt}n{len(self.found) - 1}z" + "\n" * match.group().count("\n")

        return _TAG.sub(put, text).split("\n")
