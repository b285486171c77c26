"""Hands fenced blocks from Markdown to the draft: each fence becomes a mark that the page fills later."""

from __future__ import annotations

import hashlib
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from pymdownx.superfences import SuperFencesException

from reportgen.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.narrative.fences import find_fences
from reportgen.settings.kinds import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reportgen.model import Page, Shown
    from reportgen.narrative.fences import Fence

_MARK_START = '<div class="rg-block" data-rg-block="{salt}-'


class Fences:
    """Finds the drafted block behind each fence that Markdown's formatter is given, in its order.

    superfences also asks for fences that are only shown, inside a comment or a listing, and puts their
    text back afterwards; the draft finds the same ones, so the two lists run side by side.
    """

    def __init__(self, pages: tuple[Page, ...], shown: Mapping[tuple[str, str], Shown]) -> None:
        self._pages = {page.path: page for page in pages}
        self._shown = shown
        self._page = ""
        self._salts: dict[str, str] = {}
        self._fences: Iterator[Fence] = iter(())
        self._ids: Iterator[str] = iter(())

    def enter_page(self, page: str, markdown: str) -> None:
        """The next fences are those of this page: its path below the content folder, and its text."""
        self._page = page
        # No author can have written this by chance or on purpose.
        self._salts[page] = hashlib.sha256(markdown.encode("utf-8", "replace")).hexdigest()[:16]
        self._fences = iter(find_fences(markdown, page))
        drafted = self._pages.get(page)
        self._ids = iter([block.id for block in drafted.blocks] if drafted else [])

    def mark(self, kind: str) -> str:
        """The mark that stands in the page's HTML for the next fence, with words for the search index.

        Raises:
            SuperFencesException: the draft knows no such fence; Markdown would hide any other error.
        """
        fence = next(self._fences, None)
        if fence is not None and not fence.shown:
            return ""
        block_id = next(self._ids, None)
        if fence is None or fence.kind != kind or block_id is None:
            said = f"content page {self._page}: Markdown shows a {kind} block that the draft did not find"
            raise SuperFencesException(said)
        words = escape(collect_search_text(self._shown[self._page, block_id]))
        return f'{_MARK_START.format(salt=self.get_salt(self._page))}{escape(block_id)}">{words}</div>'

    def get_salt(self, page: str) -> str:
        """What the marks of a page are known by."""
        return self._salts.get(page, "")

    def list_marked_ids(self, page: str, html: str) -> list[str]:
        """The ids of the blocks whose marks stand in a page."""
        return [unescape(part.partition('"')[0]) for part in self._split(page, html)[1:]]

    def fill(self, page: str, html: str, fragment_of: Callable[[str], str]) -> str:
        """A page with every mark replaced by the fragment of its block; what only looks like one stays."""
        first, *parts = self._split(page, html)
        filled = [first]
        for part in parts:
            block_id, _, rest = part.partition('"')
            _, _, after = rest.partition("</div>")
            filled.append(fragment_of(unescape(block_id)) + after)
        return "".join(filled)

    def _split(self, page: str, html: str) -> list[str]:
        """What stands before, between and behind the marks of a page."""
        salt = self.get_salt(page)
        return html.split(_MARK_START.format(salt=salt)) if salt else [html]


def make_custom_fences(mark: Callable[[str], str]) -> list[dict[str, Any]]:
    """The ``make_custom_fences`` of pymdownx.superfences for every kind of block."""

    def format_fence(_source: str, language: str, *_args: object, **_options: object) -> str:
        return mark(language)

    return [{"name": kind, "class": kind, "format": format_fence} for kind in BLOCKS]


def collect_search_text(shown: Shown) -> str:
    """What a search should find: title, summary and caption."""
    if isinstance(shown, Figure):
        return f"{shown.title}. {shown.summary} {shown.caption}"
    if isinstance(shown, Panels):
        return " ".join(
            [f"{shown.title}. {shown.caption}", *(collect_search_text(figure) for figure in shown.figures)]
        )
    if isinstance(shown, ResultTable):
        names = ", ".join(row[0].text for row in shown.rows)
        return f"{': '.join(filter(None, [shown.title, names]))}. {shown.caption}"
    if isinstance(shown, Overview):
        return " ".join(f"{card.name}: {f'{card.leader} {card.score}'.strip()}." for card in shown.cards)
    if isinstance(shown, Stack):
        parts = (part if isinstance(part, str) else collect_search_text(part) for part in shown.parts)
        return " ".join(filter(None, [f"{shown.title}.", shown.subtitle, *parts, shown.caption]))
    if isinstance(shown, Observations):
        return " ".join([f"{shown.title}.", *(one.text for one in shown.items)])
    raise TypeError(type(shown))
