"""Headings of Markdown, with ids as from Python-Markdown, and slugs of words."""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_ID: Final = 60
_FENCE: Final = re.compile(r"[> \t]*(`{3,}|~{3,})(.*)")
_COMMENT_ENDS: Final = re.compile("-->")
_HASHES: Final = re.compile(r"(#{1,6})(.*)")
_UNDERLINE: Final = re.compile(r"=+|-+")
_GIVEN_ID: Final = re.compile(r"#([^\s#.}]+)")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS: Final = re.compile(r"(?<!\\)(\*{1,3}|`+)|(?<![\w\\])_{1,3}|(?<!\\)_{1,3}(?!\w)")
_ESCAPE: Final = re.compile(r"\\([\\`*_{}\[\]()<>#+\-.!|])")


class Heading(Struct, frozen=True):
    """A heading outside fences: level from 1 to 6, words without markup, id and 0-based line."""

    level: int
    words: str
    id: str
    line: int


def find_headings(text: str) -> Iterator[Heading]:
    """Find the headings of a page in order, with ids as from Python-Markdown's table of contents."""
    # The lines outside fences and comments, with their 0-based numbers.
    prose: list[tuple[int, str]] = []
    closing: re.Pattern[str] | None = None
    for number, line in enumerate(text.split("\n")):
        match = _FENCE.fullmatch(line)
        if closing is not None:
            closing = None if closing.search(line) else closing
        elif line.lstrip().startswith("<!--"):
            closing = None if "-->" in line else _COMMENT_ENDS
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            closing = re.compile(rf"^[> \t]*{re.escape(match[1])}[ \t]*$")
        else:
            prose.append((number, line))
    for (number, line), (_, following) in pairwise([*prose, (0, "")]):
        if (match := _HASHES.fullmatch(line)) and match[2].strip(" \t#"):
            yield _parse_heading(len(match[1]), match[2].strip().rstrip("#"), number)
        elif line[:1].strip(" \t>") and _UNDERLINE.fullmatch(after := following.rstrip()):
            yield _parse_heading(1 if after[0] == "=" else 2, line, number)


def make_slug(words: str) -> str:
    """Return words as an id of small ASCII letters, digits and hyphens; empty if they have none."""
    joined = re.sub(r"[^a-z0-9]+", "-", _fold_to_ascii(words).lower()).strip("-")
    if len(joined) <= _LONGEST_ID:
        return joined
    cut = joined[: _LONGEST_ID + 1]
    return (cut.rpartition("-")[0] or cut)[:_LONGEST_ID].strip("-")


def _parse_heading(level: int, marked_up: str, line: int) -> Heading:
    before, brace, attributes = marked_up.rstrip().rpartition("{")
    if not (brace and attributes.endswith("}")):
        before, attributes = marked_up, ""
    given, words = _GIVEN_ID.search(attributes), strip_markup(before)
    # Same as markdown.extensions.toc.slugify, without importing all of Markdown.
    slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", _fold_to_ascii(words)).strip().lower())
    return Heading(level, words, given[1] if given else slug, line)


def strip_markup(marked_up: str) -> str:
    """Remove links, emphasis, code marks, tags and escapes from words on one line."""
    plain = _EMPHASIS.sub("", _TAG.sub("", _LINK.sub(r"\1", marked_up)))
    return " ".join(html.unescape(_ESCAPE.sub(r"\1", plain)).split())


def _fold_to_ascii(words: str) -> str:
    return unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
