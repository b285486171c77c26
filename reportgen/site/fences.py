"""Hands fenced blocks from Markdown to the draft: each fence becomes a mark that the page fills later."""

from __future__ import annotations

from collections import defaultdict
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from pymdownx.superfences import SuperFencesException

from reportgen.model import Figure, Overview, Panels, ResultTable
from reportgen.settings.blocks import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.model import Page, Shown

_MARK = '<div class="rg-block" data-rg-block="{id}">{words}</div>'


class Fences:
    """Finds the drafted block behind a fence by its page, language and body.

    Blocks of one page with the same body are taken in their order on the page.
    """

    def __init__(self, pages: tuple[Page, ...], shown: Mapping[tuple[str, str], Shown]) -> None:
        self._shown = shown
        self._ids: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for page in pages:
            for block in page.blocks:
                self._ids[page.path, block.kind, block.body.strip()].append(block.id)
        self._page = ""
        self._taken: dict[tuple[str, str, str], int] = defaultdict(int)

    def enter(self, page: str) -> None:
        """The next fences are those of this page (its path below the content folder)."""
        self._page = page
        self._taken.clear()

    def mark(self, body: str, kind: str) -> str:
        """The mark that stands in the page's HTML for a fence, with its words for the search index.

        Raises:
            SuperFencesException: the draft knows no such fence; Markdown would hide any other error.
        """
        key = (self._page, kind, body.strip())
        ids = self._ids.get(key)
        if not ids:
            said = f"content page {self._page}: Markdown shows a {kind} block that the draft did not find"
            raise SuperFencesException(said)
        number = self._taken[key] % len(ids)
        self._taken[key] += 1
        words = escape(words_of(self._shown[self._page, ids[number]]))
        return _MARK.format(id=escape(ids[number]), words=words)


def custom_fences(mark: Callable[[str, str], str]) -> list[dict[str, Any]]:
    """The ``custom_fences`` of pymdownx.superfences for every kind of block."""

    def formatter(source: str, language: str, *_args: object, **_options: object) -> str:
        return mark(source, language)

    return [{"name": kind, "class": kind, "format": formatter} for kind in BLOCKS]


def fill(html: str, fragment_of: Callable[[str], str]) -> str:
    """The page with every mark replaced by the fragment of its block."""
    start = '<div class="rg-block" data-rg-block="'
    parts = html.split(start)
    filled = [parts[0]]
    for part in parts[1:]:
        block_id, _, rest = part.partition('"')
        _, _, after = rest.partition("</div>")
        filled.append(fragment_of(unescape(block_id)) + after)
    return "".join(filled)


def words_of(shown: Shown) -> str:
    """What a search should find: title, summary and caption."""
    if isinstance(shown, Figure):
        return f"{shown.title}. {shown.summary} {shown.caption}"
    if isinstance(shown, Panels):
        return " ".join([f"{shown.title}. {shown.caption}", *(words_of(figure) for figure in shown.figures)])
    if isinstance(shown, ResultTable):
        names = ", ".join(row[0].text for row in shown.rows)
        return f"{shown.title}: {names}. {shown.caption}"
    if isinstance(shown, Overview):
        return " ".join(f"{card.name}: {card.leader} {card.score}." for card in shown.cards)
    raise TypeError(type(shown))
