"""Markdown files to pages: front matter, title, and blocks with their settings and places."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Problems, ReportError, SourceLocation, Stage
from reportgen.model import Block, Page
from reportgen.narrative.bindings import find_bindings, strip_bindings
from reportgen.narrative.fences import find_conflict_marks, find_fences
from reportgen.narrative.headings import find_headings
from reportgen.narrative.ids import make_block_ids
from reportgen.settings.front_matter import FrontMatter
from reportgen.settings.loading import load_block, load_front_matter
from reportgen.settings.text import normalise_text, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.narrative.fences import Fence
    from reportgen.narrative.headings import Heading
    from reportgen.settings.blocks import BlockSettings

# As MkDocs finds front matter (mkdocs/utils/meta.py), which strips it before it renders the page.
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?\n)(?:\.{3}|---)[ \t]*\n", re.DOTALL)
# A rule may begin a page as well, so the line below it has to be a key as people write them.
_OPENED: Final = re.compile(r"---[ \t]*\n\s*[a-z][\w-]*:(?:\s|\Z)")
_KEY: Final = re.compile(r"""^(?:[^\s#'"-][^\n]*|"[^\n]*"|'[^\n]*')?:(?:\s|$)""", re.MULTILINE)


def read_pages(
    root: Path, content_dir: str, paths: Sequence[str], problems: Problems, *, untrusted: bool = False
) -> tuple[Page, ...]:
    """Read a report's Markdown files; whoever comes next can find its own problems in the rest.

    Args:
        root: the folder of ``mkdocs.yml``.
        content_dir: the folder of the pages, relative to ``root``.
        paths: the files relative to ``content_dir``, in the order of the report.
        problems: gets every problem of every page.
        untrusted: whether raw HTML is one.

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
                from reportgen.narrative.raw_html import find_raw_html  # noqa: PLC0415 - few reports need it

                _, body, first_line = _split(text, file)
                problems.add(find_raw_html(body, file, first_line))
    return tuple(pages)


def read_page(path: str, text: str, file: str) -> Page:
    """Read one page.

    Args:
        path: the page relative to the content folder.
        text: the whole file, front matter included.
        file: the page relative to the project, for places.

    Returns:
        The page; ``text`` with a line feed at the end of each line. Fences inside comments, or shown as
        indented code, are no blocks of it.

    Raises:
        ReportError: every problem of the page.
    """
    problems = Problems()
    page = _parse_page(path, text, file, problems)
    problems.raise_errors()
    return page


def _parse_page(path: str, text: str, file: str, problems: Problems) -> Page:
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
    title = front_matter.title or _first_title(found) or _name_page(path)
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
        raise ReportError(Problem(SourceLocation(file, 1), said, step))
    if match is None or not _KEY.search(match[1]):
        # Two rules with words between them are no front matter to MkDocs either.
        return "", text, 1
    body = text[match.end() :].lstrip("\n")
    return match[1], body, text.count("\n", 0, len(text) - len(body)) + 1


def _load_blocks(
    fences: Sequence[Fence], file: str, headings: dict[str, int], problems: Problems
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


def _first_title(found: Sequence[Heading]) -> str:
    return next((heading.words for heading in found if heading.level == 1), "")


def _name_page(path: str) -> str:
    """A title from the file name, as MkDocs makes it; an index page is called by its folder."""
    page = PurePosixPath(path)
    name = page.stem
    if name.lower() in {"index", "readme"}:
        name = page.parent.name or "Home"
    words = name.replace("-", " ").replace("_", " ")
    return words.capitalize() if words.lower() == words else words
