"""Markdown files to pages: front matter, title, headings, and blocks with ids, settings and locations."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.narrative.bindings import find_bindings, strip_bindings
from reportgen.narrative.fences import find_conflict_marks, find_fences
from reportgen.settings.inputs import Block, Page
from reportgen.settings.loading import load_block, load_front_matter
from reportgen.settings.report import FrontMatter
from reportgen.settings.text import normalise_text, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.narrative.fences import Fence
    from reportgen.settings.blocks import BlockSettings


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
    joined = re.sub(r"[^a-z0-9]+", "-", _fold_to_ascii(words).lower()).strip("-")
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
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", _fold_to_ascii(words)).strip().lower())


def _fold_to_ascii(words: str) -> str:
    return unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")


# The theme's landmarks; a figure of such an id would take their links.
RESERVED: Final = frozenset({"content", "navigation", "search-results", "toc", "toc-title"})


def make_block_ids(
    blocks: Sequence[tuple[str, BlockSettings, SourceLocation]], headings: Mapping[str, int]
) -> tuple[str, ...]:
    """The id of each block of a page.

    Args:
        blocks: kind, settings and place of each block in the page's order.
        headings: the ids of the page's headings, each with its line in the file.

    Returns:
        ``id:`` where it is given; otherwise the slug of the title, metric, function or kind, with ``-2``,
        ``-3`` where that is taken. Letters' case is no difference: the ids become file names.

    Raises:
        ReportError: a given id stands twice on the page, or is that of a heading or of the theme.
    """
    problems = Diagnostics()
    given: dict[str, SourceLocation] = {}
    for _, settings, place in blocks:
        if settings.id:
            problems.add(_find_clashes(settings.id, place, given, headings))
            given.setdefault(settings.id.lower(), place)
    problems.raise_errors()
    taken = {*given, *(name.lower() for name in headings), *RESERVED}
    return tuple(settings.id or _free(_suggest_id(kind, settings), taken) for kind, settings, _ in blocks)


def _find_clashes(
    name: str, place: SourceLocation, given: Mapping[str, SourceLocation], headings: Mapping[str, int]
) -> Iterable[Diagnostic]:
    another = f'Choose another, such as "{name}-figure"'
    if name.lower() in given:
        said = f'"id: {name}" is used twice; the first is in line {given[name.lower()].line}'
        yield Diagnostic(place, said, "Change one of them")
    elif name in headings:
        said = f'"id: {name}" is also the id of the heading in line {headings[name]}'
        yield Diagnostic(place, said, another)
    elif name in RESERVED:
        yield Diagnostic(place, f'"id: {name}" belongs to the page itself', another)


def _suggest_id(kind: str, settings: BlockSettings) -> str:
    base = next((name for words in settings.list_names() if (name := make_slug(words))), kind)
    # An id begins with a letter.
    return base if base[0].isalpha() else f"{kind}-{base}"


def _free(base: str, taken: set[str]) -> str:
    name = next(name for n in count(1) if (name := base if n == 1 else f"{base}-{n}") not in taken)
    taken.add(name)
    return name


# As MkDocs finds front matter (mkdocs/utils/meta.py), which strips it before it renders the page.
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?\n)(?:\.{3}|---)[ \t]*\n", re.DOTALL)
# A rule may begin a page as well, so the line below it has to be a key as people write them.
_OPENED: Final = re.compile(r"---[ \t]*\n\s*[a-z][\w-]*:(?:\s|\Z)")
_KEY: Final = re.compile(r"""^(?:[^\s#'"-][^\n]*|"[^\n]*"|'[^\n]*')?:(?:\s|$)""", re.MULTILINE)


def read_pages(
    root: Path, content_dir: str, paths: Sequence[str], problems: Diagnostics, *, untrusted: bool = False
) -> tuple[Page, ...]:
    """Read a report's Markdown files; ``problems`` gets those of every page.

    ``paths`` are relative to ``content_dir``, which is relative to ``root``; in an ``untrusted`` report raw
    HTML is a problem too.

    Returns:
        The pages without the blocks that have a problem, and without the files that cannot be read.
    """
    pages = []
    for path in paths:
        file = str(PurePosixPath(content_dir) / path)
        with problems.collecting():
            text = read_text(root / content_dir / path, file, Stage.NARRATIVE)
            pages.append(_parse_page(path, text, file, problems))
            if untrusted:
                from reportgen.narrative.markdown_extensions import find_raw_html  # noqa: PLC0415 - few reports need it

                _, body, first_line = _split(text, file)
                problems.add(find_raw_html(body, file, first_line))
    return tuple(pages)


def read_page(path: str, text: str, file: str) -> Page:
    """Read one page.

    Args:
        path: the page relative to the content folder.
        text: the whole file, front matter included.
        file: the page relative to the project.

    Returns:
        The page; ``text`` with a line feed at the end of each line. Fences inside comments, or shown as
        indented code, are no blocks of it.

    Raises:
        ReportError: every problem of the page.
    """
    problems = Diagnostics()
    page = _parse_page(path, text, file, problems)
    problems.raise_errors()
    return page


def _parse_page(path: str, text: str, file: str, problems: Diagnostics) -> Page:
    text = normalise_text(text)
    if marks := find_conflict_marks(text, file):
        raise ReportError(*marks)
    front_text, body, first_line = _split(text, file)
    front_matter: FrontMatter | None = None
    with problems.collecting():
        front_matter = load_front_matter(front_text, file)
    bindings = find_bindings(body, file, first_line, len(text) - len(body), problems)
    found = find_headings(strip_bindings(body))
    blocks: tuple[Block, ...] = ()
    with problems.collecting():
        lines = {heading.id: first_line + heading.line for heading in found}
        blocks = _load_blocks(find_fences(body, file, first_line), file, lines, problems)
    if front_matter is None:
        # What its blocks left to the page's benchmark is not known: nobody shall miss it.
        front_matter, blocks, bindings = FrontMatter(), (), ()
    title = (
        front_matter.title
        or next((heading.words for heading in found if heading.level == 1), "")
        or _name_page(path)
    )
    return Page(path, file, title, front_matter, blocks, text, bindings=bindings)


def _split(text: str, file: str) -> tuple[str, str, int]:
    """Front matter, the Markdown after it, and the line at which that begins.

    Raises:
        ReportError: the front matter has no end.
    """
    match = _FRONT_MATTER.match(text)
    if match is None and _OPENED.match(text):
        said = "the front matter that begins here has no end"
        step = "End it with a line of three dashes, and begin the text on the next line"
        raise ReportError(Diagnostic(SourceLocation(file, 1), said, step))
    if match is None or not _KEY.search(match[1]):
        # Two rules with words between them are no front matter to MkDocs either.
        return "", text, 1
    body = text[match.end() :].lstrip("\n")
    return match[1], body, text.count("\n", 0, len(text) - len(body)) + 1


def _load_blocks(
    fences: Sequence[Fence], file: str, headings: dict[str, int], problems: Diagnostics
) -> tuple[Block, ...]:
    loaded: list[tuple[Fence, BlockSettings]] = []
    for fence in fences:
        if fence.shown:
            with problems.collecting():
                settings = load_block(fence.kind, fence.body, SourceLocation(file, fence.line, fence.column))
                loaded.append((fence, settings))
    ids = make_block_ids(
        [(f.kind, settings, SourceLocation(file, f.line)) for f, settings in loaded], headings
    )
    return tuple(
        Block(fence.kind, name, settings, SourceLocation(file, fence.line), fence.body)
        for name, (fence, settings) in zip(ids, loaded, strict=True)
    )


def _name_page(path: str) -> str:
    """A title from the file name, as MkDocs makes it; an index page is called by its folder."""
    page = PurePosixPath(path)
    name = page.stem
    if name.lower() in {"index", "readme"}:
        name = page.parent.name or "Home"
    words = name.replace("-", " ").replace("_", " ")
    return words.capitalize() if words.lower() == words else words
