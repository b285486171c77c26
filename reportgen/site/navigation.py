"""The list of pages beside each page, whole on a small site, near the page on a large one; groups of pages.

With the whole list on each page, a site would grow with the square of its number of pages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct

from reportgen.narrative.headings import find_headings
from reportgen.narrative.pages import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mkdocs.structure import StructureItem
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

    from reportgen.core.model import BenchmarkResult
    from reportgen.settings.inputs import Page as ReportPage

WHOLE_LIST: Final = "pages.html"
"""Address of the page that lists all pages, where the others do not."""
_MOST_PAGES: Final = 100
"""Number of pages up to which each page lists all of them."""
_NEAR: Final = 15
"""Number of entries before and after the current one that a long list shows."""


class Entry(Struct, frozen=True):
    """An entry of the list of pages, with its address from the site's root.

    A section has ``children``, or the address of its first page where they are left out. An entry with
    neither stands for entries that are left out.
    """

    title: str
    url: str
    is_current: bool = False
    is_open: bool = False
    children: tuple[Entry, ...] = ()


_CUT: Final = Entry("", "")


class NavigationTree:
    """The pages of a site in their sections."""

    def __init__(self, nav: Navigation) -> None:
        self._nav = nav
        self.is_whole = len(nav.pages) <= _MOST_PAGES
        self._places: dict[int, int] = {}  # of each item among its siblings, by its id()
        self._described: dict[int, str] = {}
        self._describe_items(nav.items)
        self._everything = "".join(self._described.values()) if self.is_whole else ""
        home = nav.homepage
        self._home = repr((home.url, home.title)) if home else ""

    def _describe_items(self, items: Sequence[StructureItem]) -> None:
        for place, item in enumerate(items):
            children = _list_children(item)
            self._describe_items(children)
            self._places[id(item)] = place
            self._described[id(item)] = repr((item.title, _find_address(item), len(children)))

    def make_context(self, page: Page | None) -> dict[str, object]:
        """Return what the template of a page, or of none, shows: entries, and the number of pages if cut."""
        entries = self._make_entries(self._nav.items, page, self._list_path(page))
        return {"entries": entries, "cut": 0 if self.is_whole else len(self._nav.pages)}

    def list_all(self) -> tuple[Entry, ...]:
        """List every page in its section."""
        return tuple(self._make_whole(item, None) for item in self._nav.items)

    def describe(self, page: Page) -> Iterator[str]:
        """Describe what a page shows of the others, as parts of a key."""
        neighbours = (page.previous_page, page.next_page)
        yield self._home + repr([(one.title, one.url) for one in neighbours if one])
        if self.is_whole:
            yield self._everything
            return
        yield str(len(self._nav.pages))
        items: Sequence[StructureItem] = self._nav.items
        for item in [*self._list_path(page), None]:
            start, stop = self._find_window(items, item)
            cuts = (start > 0, stop < len(items))
            yield repr(cuts) + "".join(self._described[id(one)] for one in items[start:stop])
            items = _list_children(item) if item else ()

    def _list_path(self, page: Page | None) -> list[StructureItem]:
        """Return the sections around a page and the page; nothing if the navigation leaves it out."""
        return [*reversed([*page.ancestors]), page] if page and id(page) in self._places else []

    def _find_window(self, items: Sequence[StructureItem], item: StructureItem | None) -> tuple[int, int]:
        """Return start and stop of the entries around one of them, or of the first ones."""
        most = 2 * _NEAR + 1
        start = max(0, min((self._places[id(item)] if item else 0) - _NEAR, len(items) - most))
        return start, start + most

    def _make_entries(
        self, items: Sequence[StructureItem], page: Page | None, path: Sequence[StructureItem]
    ) -> tuple[Entry, ...]:
        if self.is_whole:
            return tuple(self._make_whole(item, page) for item in items)
        head = path[0] if path else None
        start, stop = self._find_window(items, head)
        entries = []
        for item in items[start:stop]:
            if item is head and item.is_section:
                below = self._make_entries(_list_children(item), page, path[1:])
                entries.append(Entry(item.title or "", "", is_open=True, children=below))
            else:
                entries.append(Entry(item.title or "", _find_address(item), item is page))
        return (*[_CUT] * (start > 0), *entries, *[_CUT] * (stop < len(items)))

    def _make_whole(self, item: StructureItem, page: Page | None) -> Entry:
        children = _list_children(item)
        if not children:
            return Entry(item.title or "", _find_address(item), item is page)
        below = tuple(self._make_whole(child, page) for child in children)
        return Entry(item.title or "", "", is_open=bool(page and item in page.ancestors), children=below)


def _list_children(item: StructureItem) -> Sequence[StructureItem]:
    return getattr(item, "children", None) or ()


def _find_address(item: StructureItem) -> str:
    """Return the address of a page or link, and that of a section's first page; "" if there is none."""
    if item.is_section:
        return next(filter(None, map(_find_address, _list_children(item))), "")
    return getattr(item, "url", None) or ""


TAGS: Final = "tags.md"
"""Path of the page that lists the pages with each tag, unless the author has one."""


def write_tags(pages: Iterable[ReportPage]) -> str:
    """Return the Markdown of a page with a heading for each tag and links to the pages that have it."""
    by_tag: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        for tag in dict.fromkeys(page.front_matter.tags):
            by_tag[tag].append(f"- [{escape_markdown(page.title)}]({quote(page.path)})")
    listed = sorted(by_tag.items(), key=lambda item: (item[0].casefold(), item[0]))
    return "\n\n".join(
        ["# Tags", *("\n".join([f"## {escape_markdown(tag)}\n", *own]) for tag, own in listed)]
    )


def locate_tags(pages: Sequence[ReportPage], addresses: Mapping[str, str]) -> dict[str, str]:
    """Return the address of each tag in the page of tags, or of the author's page of this name."""
    own = any(page.path == TAGS for page in pages)
    headings = [heading for heading in find_headings(write_tags(pages)) if heading.level > 1]
    address = addresses.get(TAGS, "")
    return {unescape(one.words): address if own else f"{address}#{one.id}" for one in headings}


_MANY_ROWS = 9  # rows of an overview that are grouped by folder


def group_rows(rows: Sequence[BenchmarkResult]) -> list[tuple[str, list[BenchmarkResult]]]:
    """Group the rows of an overview by the folder of their pages, if they are many and in several folders."""
    grouped: dict[str, list[BenchmarkResult]] = defaultdict(list)
    for row in rows:
        grouped[row.page.rpartition("/")[0] if len(rows) >= _MANY_ROWS else ""].append(row)
    if len(grouped) == 1:
        return [("", list(rows))]
    names = {folder: re.sub("[-_]+", " ", folder.rpartition("/")[2]) for folder in grouped}
    return [(f"{names[folder][:1].upper()}{names[folder][1:]}", own) for folder, own in grouped.items()]
