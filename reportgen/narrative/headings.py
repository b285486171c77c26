"""A page's headings, as far as titles and ids need them, and the ids that words become."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside fences: its level from 1 to 6, its words without markup, its id, its 0-based line."""

    level: int
    words: str
    id: str
    line: int


def find_headings(text: str) -> tuple[Heading, ...]:
    """The headings of a page in order. Ids are those that Python-Markdown's table of contents gives."""
    lines = list(_iterate_prose(text))
    found = []
    for index, (number, line) in enumerate(lines):
        after = lines[index + 1][1].rstrip() if index + 1 < len(lines) else ""
        if (match := _HASHES.fullmatch(line)) and match[2].strip(" \t#"):
            found.append(_parse_heading(len(match[1]), match[2].strip().rstrip("#"), number))
        elif line[:1].strip(" \t>") and _UNDERLINE.fullmatch(after):
            found.append(_parse_heading(1 if after[0] == "=" else 2, line, number))
    return tuple(found)


def make_slug(words: str) -> str:
    """Words as an id: small ASCII letters, digits and hyphens; empty where nothing of that is in them."""
    ascii_words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
    joined = re.sub(r"[^a-z0-9]+", "-", ascii_words.lower()).strip("-")
    if len(joined) <= _LONGEST_ID:
        return joined
    cut = joined[: _LONGEST_ID + 1]
    return (cut.rpartition("-")[0] or cut)[:_LONGEST_ID].strip("-")


def _iterate_prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside fences and comments, with their 0-based numbers."""
    closing: re.Pattern[str] | None = None
    for number, line in enumerate(text.split("\n")):
        match = _FENCE.fullmatch(line)
        if closing is not None:
            if closing.search(line):
                closing = None
        elif line.lstrip().startswith("<!--"):
            closing = None if "-->" in line else _COMMENT_ENDS
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            closing = re.compile(rf"^[> \t]*{re.escape(match[1])}[ \t]*$")
        else:
            yield number, line


def _parse_heading(level: int, marked_up: str, line: int) -> Heading:
    before, brace, attributes = marked_up.rstrip().rpartition("{")
    if not (brace and attributes.endswith("}")):
        before, attributes = marked_up, ""
    given = _GIVEN_ID.search(attributes)
    words = strip_markup(before)
    return Heading(level, words, given[1] if given else _id_in_contents(words), line)


def strip_markup(marked_up: str) -> str:
    """Words of one line without links, emphasis, code marks, tags and escapes."""
    plain = _EMPHASIS.sub("", _TAG.sub("", _LINK.sub(r"\1", marked_up)))
    return " ".join(html.unescape(_ESCAPE.sub(r"\1", plain)).split())


def _id_in_contents(words: str) -> str:
    """What ``markdown.extensions.toc.slugify`` makes of a heading, without importing all of Markdown."""
    ascii_words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_words).strip().lower())
