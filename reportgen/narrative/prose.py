"""The prose of pages and documents, whose numbers can be counted.

Code, links, tags, headings and free paragraphs are none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from reportgen.core.digits import find_numbers
from reportgen.narrative.documents import BLANK, FREE, hide_code, hide_tex, iterate_marks

if TYPE_CHECKING:
    from reportgen.settings.inputs import Page

# Code, comments, tags, addresses, targets of links, attributes, notes and mathematics; headings.
_NO_PROSE: Final = re.compile(
    r"(`+)(?!`).{1,2000}?(?<!`)\1(?!`)|<!--.{0,20000}?-->|</?[A-Za-z][^<>]{0,2000}>|https?://\S+|(?<=\])\([^()\n]*\)|(?<=\])\{[^{}]*\}"
    r"|\[\^[^\]\n]*\]:?|\$[^$\n]{1,2000}\$|\{\{.{0,2000}?\}\}",
    re.DOTALL,
)
_NUMBER: Final = re.compile(r"(?<![\w.-])[\d.,]*\d")  # and no name such as Llama3.2
_HEADING: Final = re.compile(r"^ {0,3}#.*$|^ {0,3}\[[^\]\n]*\]: .*$", re.MULTILINE)
# Commands that print none of their arguments, or a heading; then every other command and mathematics.
_TEX_COMMAND: Final = re.compile(
    r"\\(?:\w*cite\w*|\w*ref|label|\w*section\*?|includegraphics|input|usepackage|documentclass|begin|end|url|href"
    r"|vspace|hspace|bibliography\w*)\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})*|\\[A-Za-z]+\*?|\$[^$]*\$|\\[(\[].*?\\[)\]]",
    re.DOTALL,
)


def count_numbers(page: Page) -> tuple[int, int]:
    """Count the bound numbers of a page, and all of its prose; none if its text is elsewhere."""
    bound = sum(one.kind == "value" and one.table is None for one in page.bindings)
    if not bound or not is_own_text(page):
        return 0, 0
    return bound, bound + sum(1 for _ in find_numbers(hide_all_but_prose(page)))


def is_own_text(page: Page) -> bool:
    """Return whether a page's text is what an author wrote into its file."""
    is_made = page.generated or page.template or page.variables
    return not is_made and ".ipynb" not in page.file


_TEX_FREE: Final = re.compile(r"(?<!\\)%\s*rg\s+free\s*$", re.IGNORECASE | re.MULTILINE)


def _hide_free_parts(text: str, *, is_tex: bool) -> str:
    """Replace paragraphs without results by spaces: those with a mark, or after one that stands alone."""
    marks = _TEX_FREE.finditer(text) if is_tex else iterate_marks(text)
    places = [one.span() for one in marks if is_tex or FREE.fullmatch(one["inside"])]
    blanks = [match.span() for match in BLANK.finditer(text)] if places else []
    starts, ends = [0, *(end for _, end in blanks)], [*(start for start, _ in blanks), len(text), len(text)]
    parts, done = [], 0
    for mark_start, mark_end in places:
        number = bisect_right(starts, mark_start) - 1
        start, end = max(starts[number], done), ends[number]
        if not text[start:mark_start].strip() and not text[mark_end:end].strip():
            end = ends[number + 1]
        parts += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def hide_all_but_prose(page: Page) -> str:
    """Return the text of a page with spaces for what is no prose, and for bound digits; offsets stay."""
    is_tex = page.file.endswith(".tex")
    text = page.text
    for binding in page.bindings:
        # Bound words say what the numbers around them are about.
        bound = _NUMBER.sub(lambda one: " " * len(one[0]), text[binding.start : binding.end])
        text = text[: binding.start] + bound + text[binding.end :]
    text = _hide_free_parts(text, is_tex=is_tex) if FREE.search(text) else text
    if is_tex:
        shown = hide_tex(text).replace("\\%", " %").replace("\\,", "  ")
        return _TEX_COMMAND.sub(_blank, shown)
    return _NO_PROSE.sub(_blank, _HEADING.sub(_blank, hide_code(text)))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
