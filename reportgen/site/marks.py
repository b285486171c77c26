"""Marks in a page's HTML, for fenced blocks and for bound words, and what replaces them after the draft.

The search index reads a page between the two steps. Words that the draft did not check become plain words
again, with a warning: they never look checked.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from pymdownx.superfences import SuperFencesException

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.narrative.markdown_extensions import ELEMENT, find_marks
from reportgen.narrative.markup import find_fences
from reportgen.settings.blocks import BLOCKS
from reportgen.site.fragments import (
    choose_id_prefix,
    fill_statements,
    render_badge,
    render_checked_list,
    render_end,
    render_start,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reportgen.core.model import Shown
    from reportgen.core.statements import Binding, Statement
    from reportgen.narrative.binding_syntax import Candidate
    from reportgen.narrative.markdown_extensions import Mark
    from reportgen.narrative.markup import Fence
    from reportgen.settings.inputs import Page

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
        """The mark of the next fence; raises a SuperFencesException, since Markdown would hide others."""
        fence = next(self._fences, None)
        if fence is not None and not fence.shown:
            return ""
        block_id = next(self._ids, None)
        if fence is None or fence.kind != kind or block_id is None:
            message = f"content page {self._page}: Markdown shows a {kind} block that the draft did not find"
            raise SuperFencesException(message)
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
        filled, *parts = self._split(page, html)
        for part in parts:
            block_id, _, rest = part.partition('"')
            filled += fragment_of(unescape(block_id)) + rest.partition("</div>")[2]
        return filled

    def _split(self, page: str, html: str) -> list[str]:
        """The text before, between and behind the marks of a page."""
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
        return " ".join([f"{shown.title}. {shown.caption}", *map(collect_search_text, shown.figures)])
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


_END = f"</{ELEMENT}>"


@dataclass(frozen=True, slots=True)
class BoundMarks:
    """The marked words of a page, each with its statement or None.

    ``shown`` are the statements on the page, in their order, ``missing`` the others; ``unchecked`` are marked
    words that the draft does not know.
    """

    marks: tuple[tuple[Mark, Statement | None], ...]
    shown: tuple[Statement, ...]
    missing: tuple[Statement, ...]
    unchecked: tuple[Candidate, ...]


def match_statements(
    html: str, seen: Mapping[str, tuple[Candidate, ...]], statements: Sequence[Statement]
) -> BoundMarks:
    """Pair a page's marks with its statements, equal ones in order; ``seen`` has words by their salt."""
    marks = tuple(find_marks(html)) if f"<{ELEMENT}" in html else ()
    waiting: dict[tuple[object, ...], list[Statement]] = defaultdict(list)
    for statement in reversed(statements):
        waiting[_make_key(statement.binding)].append(statement)
    behind: dict[tuple[str, int], Statement | None] = {}
    unchecked = []
    for salt, number in sorted({(mark.salt, mark.number) for mark in marks}):
        one = seen[salt][number] if number < len(seen.get(salt, ())) else None
        same = waiting[_make_key(one)] if one else []
        behind[salt, number] = same.pop() if same else None
        if one and behind[salt, number] is None:
            unchecked.append(one)
    numbers = {statement.number for statement in behind.values() if statement}
    return BoundMarks(
        marks=tuple((mark, behind[mark.salt, mark.number]) for mark in marks),
        shown=tuple(one for one in statements if one.number in numbers),
        missing=tuple(one for one in statements if one.number not in numbers),
        unchecked=tuple(unchecked),
    )


def insert_statements(html: str, bound: BoundMarks) -> str:
    """The page with what the data say behind its marks, under its title and at its end."""
    parts: list[str] = []
    place = 0
    named: set[int] = set()
    prefix = choose_id_prefix(html)
    for mark, statement in bound.marks:
        end = html.find(_END, mark.end)
        if end < 0:
            continue
        words = html[mark.end : end]
        parts.append(html[place : mark.start])
        if statement is None:
            parts.append(words)
        else:
            first = statement.number not in named
            start = render_start(statement, prefix, in_link=mark.in_link, first=first)
            parts += [start, words, render_end(statement, in_link=mark.in_link)]
            named.add(statement.number)
        place = end + len(_END)
    page = "".join([*parts, html[place:]])
    return fill_statements(page, render_badge(bound.shown, prefix), render_checked_list(bound.shown, prefix))


def find_unmatched(bound: BoundMarks, file: str) -> Iterator[Diagnostic]:
    """Where the draft and a page, a ``file`` relative to the project, do not agree."""
    for statement in bound.missing:
        message = f'"{statement.binding.words}" is not shown as checked: Markdown reads its braces as text'
        step = "Look for a missing extension in mkdocs.yml, such as admonition or pymdownx.tabbed"
        yield Diagnostic(statement.binding.location, message, step, Stage.SITE, Severity.WARNING)
    for one in bound.unchecked:
        message = f'"{one.words}" was not held against the data: it came into the page after the draft'
        step = "Write it into the page itself, not by another plugin or extension"
        yield Diagnostic(SourceLocation(file), message, step, Stage.SITE, Severity.WARNING)


def _make_key(one: Binding | Candidate) -> tuple[object, ...]:
    return one.kind, one.words, one.expression, one.of, one.name, one.fails
