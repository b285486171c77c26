"""A drafted report in words: each block as a reader meets it, without its picture."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from html_tree import read_html, table_rows, words
from msgspec.structs import replace

from reportgen.core.errors import Diagnostics, ReportError
from reportgen.draft.gathering import gather_pages
from reportgen.site.checking import draft_report, open_report
from reportgen.site.fragments import render_block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from xml.etree import ElementTree as ET

    from reportgen.core.model import Shown
    from reportgen.settings.inputs import Page

_MOST_ROWS = 16
_UNSEEN = {"script", "style", "svg", "button", "nav"}
_INLINE = {
    "a",
    "abbr",
    "b",
    "br",
    "code",
    "em",
    "i",
    "label",
    "mark",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "time",
    "wbr",
}
_SENTENCE_END = re.compile(r"(?<=\.)(?<! al\.) ")


def show_report(root: Path, places: Sequence[str] = ()) -> str:
    """Return what the blocks of a report show, a sentence a line; or what stops its draft.

    ``places`` are paths of pages, such as ``index.md``, or of a page's block, such as ``index.md#curve``.
    """
    try:
        report, warnings = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)
    except ReportError as error:
        return "".join(f"error: {problem}\n" for problem in error.problems)
    known = {name for page, block in report.shown for name in (page, f"{page}#{block}")}
    assert known.issuperset(places), f"there are {sorted(known)}"
    blocks = [
        _show_block(shown, f"{page}#{block}", page)
        for (page, block), shown in report.shown.items()
        if not places or page in places or f"{page}#{block}" in places
    ]
    return "\n".join((*blocks, *(f"warning: {one}" for one in warnings))) + "\n"


def list_pages(root: Path, paths: Sequence[str] = ()) -> str:
    """Return what is read from the pages of a report: titles, blocks, statements and headings by place.

    A problem does not keep the rest from being listed; those of data are no concern of this. Notebooks
    that are named are pages, as mkdocs-jupyter makes them.
    """
    project, problems = open_report(root / "mkdocs.yml").project, Diagnostics()
    notebooks = [path for path in paths if path.endswith(".ipynb")]
    project = replace(project, page_paths=(*project.page_paths, *notebooks))
    pages = gather_pages(project, problems)
    lines = [line for page in pages if page.path in paths or not paths for line in _list_page(page)]
    return "".join(f"{line}\n" for line in (*lines, *map(str, problems.in_order())))


def _list_page(page: Page) -> Iterator[str]:
    made = ", generated" if page.generated else f", from {page.template}" if page.template else ""
    yield f"{page.path}: {page.title} ({page.file}{made})"
    if front := page.front_matter.model_dump(mode="json", exclude_unset=True):
        yield f"  {json.dumps(front, ensure_ascii=False)}"
    for block in page.blocks:
        settings = block.settings.model_dump(mode="json", exclude_unset=True)
        said = json.dumps(settings, ensure_ascii=False)
        yield f"  {block.location.line}: {block.kind} #{block.id} {said}"
    for one in page.bindings:
        first, place = one.location, one.expression_location
        more = {"of": one.of, "name": one.name, "fails": one.fails}
        named = "".join(f" {name}={text}" for name, text in more.items() if text)
        yield f"  {first.line}:{first.column}: {one.kind} [{one.words}]{named}"
        yield f"  {place.line}:{place.column}: {one.expression}"


def show_built_page(html: str, part: str = "article") -> str:
    """Return the words of a built page as blocks have them: of the first element of an id, tag or class."""
    tree = next((one for one in read_html(html).iter() if part in _list_names(one)), None)
    return "".join(f"{line}\n" for line in _list_lines(tree)) if tree is not None else ""


def list_dead_links(site: Path, classes: Sequence[str]) -> str:
    """Return the links of a site, in elements of some classes, to a file or an anchor that is not there."""
    dead = []
    for path in sorted(site.rglob("index.html")):
        parts = (one for one in read_html(path.read_text("utf-8")).iter() if _list_names(one) & {*classes})
        for address in (link.get("href", "") for part in parts for link in part.iter("a")):
            name, anchor = urldefrag(address)
            target = path.parent / unquote(name) if name else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and f'id="{anchor}"' not in target.read_text("utf-8")):
                dead.append(f"{path.relative_to(site)}: {address}\n")
    return "".join(dead)


def _list_names(element: ET.Element) -> set[str | None]:
    return {element.get("id"), element.tag, *element.get("class", "").split()}


def _show_block(shown: Shown, name: str, page: str) -> str:
    tree = read_html(render_block(shown, lambda address: address, page.removesuffix(".md")))
    return "".join(f"{line}\n" for line in (f"[{name}]", *_list_lines(tree)))


def _list_lines(element: ET.Element) -> Iterator[str]:
    """List the words of an element: a line for each sentence, and for each row of a table."""
    if element.tag in _UNSEEN:
        return
    if element.tag == "table":
        yield from _limit([" | ".join(row) for row in table_rows(element)])
    elif all(child.tag in _INLINE for child in element):
        if not (text := words(element)).startswith("Download:"):
            yield from filter(None, _SENTENCE_END.split(text))
    else:
        yield from _split_text(element.text)
        for child in element:
            yield from _list_lines(child)
            yield from _split_text(child.tail)


def _split_text(text: str | None) -> list[str]:
    return [line for line in _SENTENCE_END.split(" ".join((text or "").split())) if line]


def _limit(rows: list[str]) -> list[str]:
    digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]
    return rows if len(rows) <= _MOST_ROWS else [*rows[:_MOST_ROWS], f"… {len(rows)} rows, {digest}"]
