"""Previews of pull requests: pages and files that differ from main, whose links to the rest lead to main."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.archive.publishing.pages import (
    Places,
    allows_style_sheets,
    cut_text,
    decode,
    encode,
    insert_before_text,
    insert_into_head,
    list_files,
    read_title,
)
from reportgen.archive.publishing.sites import (
    DOMAIN,
    NOT_FOUND,
    Given,
    LeftOut,
    State,
    Tree,
    format_address,
    list_pages,
    open_given,
    read_state,
)
from reportgen.core.errors import Diagnostics, make_error
from reportgen.core.words import format_count
from reportgen.site.describe import format_bytes
from reportgen.site.reuse.templates import render_fragment

if TYPE_CHECKING:
    from reportgen.archive.unpacking import OpenedArchive

FOLDER: Final = "pr"
MOST: Final = 25
"""Previews that are published, those with the highest numbers."""
LARGEST: Final = 30_000_000
"""Bytes of a preview."""
_LARGEST_GIVEN: Final = 1_000_000_000
NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_STYLE: Final = "assets/reportgen/preview.css"
_HOME: Final = "index.html"
_REPORT: Final = "report.json"
# These are about the whole site. Pages of the preview search main, which has the pages that it does not.
_WHOLE: Final = frozenset(
    (NOT_FOUND, DOMAIN, ".nojekyll", _REPORT, "robots.txt", "sitemap.xml", "sitemap.xml.gz")
)
_INDEX: Final = "search/"
_ROBOTS: Final = '<meta name="robots" content="noindex">\n'


class Preview(Struct, frozen=True):
    """A published preview: its pull request, its commit, and the addresses of the pages that differ."""

    number: str
    state: State
    changed: tuple[str, ...]
    tree: Tree


class Main(Struct, frozen=True):
    """The main site as previews are compared with it, in any process.

    ``checksums`` are CRC-32 of files that are no pages, ``texts`` SHA-256 of what pages say, and ``links``
    what their texts load or link to, from the site's root.
    """

    sizes: dict[str, int]
    checksums: dict[str, int]
    texts: dict[str, bytes]
    links: dict[str, frozenset[str]]


def read_main(site: OpenedArchive) -> Main:
    """Read the main site; raise a ReportError if that cannot be done."""
    texts, links = {}, {}
    for page in list_pages(site.sizes):
        text = cut_text(site.read(page))
        texts[page] = hashlib.sha256(text).digest()
        links[page] = list_files(text, page)
    checksums = {name: site.get_checksum(name) for name in site.sizes if name not in texts}
    return Main(dict(site.sizes), checksums, texts, links)


def publish_preview(given: Given, folder: Path, main: Main) -> Preview | LeftOut:
    """Publish what a pull request's built site, in a folder or packed, has other than main.

    Raises an OSError if it cannot be written.
    """
    problems, made = Diagnostics(), dict[str, bytes]()
    with problems.collecting(), open_given(given.path) as site:
        whole = sum(site.sizes.values())
        if whole > _LARGEST_GIVEN or any(site.sizes[page] > LARGEST for page in list_pages(site.sizes)):
            message = f"it has {format_bytes(whole)}, or a page that is too large to compare"
            raise make_error(site.name, message)
        state = read_state(site)
        changed = _find_changed(site, main)
        pages = list_pages(changed)
        # The address of the preview has to lead to something.
        own = frozenset(changed | {_HOME})
        size = sum(site.sizes[name] for name in own)
        if size <= LARGEST:
            made = _write_files(given.name, site, main, own, pages)
            size = sum(map(len, made.values()))
        if size > LARGEST:
            message = f"what differs from the published report has {format_bytes(size)}, more than 30 MB"
            raise make_error(site.name, message)
    if problems.found:
        return LeftOut("preview", given.name, "; ".join(map(str, problems.found)))
    tree = Tree(folder)
    for path, content in made.items():
        tree.write(path, content)
    return Preview(given.name, state, tuple(map(format_address, pages)), tree)


def _find_changed(site: OpenedArchive, main: Main) -> set[str]:
    """Find the files that a preview has to have: all of them if style sheets or scripts differ."""
    files = {name for name in site.sizes if name not in _WHOLE and not name.startswith(_INDEX)}
    pages = set(list_pages(files))
    changed = set()
    for name in files - pages:
        # Whoever makes checksums collide may write what they want into the site anyway.
        if site.sizes[name] != main.sizes.get(name) or site.get_checksum(name) != main.checksums[name]:
            changed.add(name)
    # Scripts and style sheets load each other, and what they load is next to them.
    if any(name.endswith(".js" if name not in main.sizes else (".css", ".js")) for name in changed):
        return {name for name in site.sizes if name not in _WHOLE or name == _REPORT}
    same = {
        page
        for page in pages & main.texts.keys()
        if hashlib.sha256(cut_text(site.read(page))).digest() == main.texts[page]
    }
    return changed | (pages - same) | {page for page in same if not changed.isdisjoint(main.links[page])}


def _hash_text(html: bytes) -> bytes:
    return hashlib.sha256(cut_text(html)).digest()


def _write_files(
    number: str, site: OpenedArchive, main: Main, own: frozenset[str], pages: list[str]
) -> dict[str, bytes]:
    """Write the files ``own`` of a preview, in which ``pages`` differ from those of main."""
    made = {name: site.read(name) for name in sorted(own)}
    titles = {page: read_title(made[page]) for page in list_pages(own)}
    end = f" · {titles[_HOME]}"
    listed = [(format_address(page), titles[page].removesuffix(end) or page) for page in pages]
    gone = [page for page in list_pages(main.sizes) if page not in site.sizes]
    places = Places(own, frozenset(main.sizes))
    for name in (one for one in made if one.endswith((".md", "llms.txt"))):
        made[name] = encode(places.rewrite_markdown(decode(made[name]), name))
    for page in titles:
        root = "../" * page.count("/")
        banner = render_fragment(
            "preview_banner.html",
            number=number,
            front="" if page == _HOME else root or "./",
            published=f"{root}{places.up}{format_address(page)}" if page in main.sizes else "",
            count=f"{format_count(len(pages), 'page')} {'differs' if len(pages) == 1 else 'differ'}",
            changed=listed,
            gone=gone,
        )
        html = decode(made[page])
        head = _ROBOTS
        if allows_style_sheets(html):
            head += f'<link rel="stylesheet" href="{root}{_STYLE}">\n'
        html = insert_before_text(places.rewrite(html, page), banner)
        made[page] = encode(insert_into_head(html, head))
    return made | {_STYLE: Path(__file__).with_name("preview.css").read_bytes()}
