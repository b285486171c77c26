"""Blocks and statements in the HTML of a page: marks until it is drafted, then fragments.

The search index reads a page between the two steps. Words that the draft did not check become plain words
again, with a warning: they never look checked. Templates are in ``site_templates/fragments``.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from html import escape, unescape
from itertools import chain
from typing import TYPE_CHECKING, Any

import markupsafe
from markupsafe import Markup
from msgspec import Struct
from pymdownx.superfences import SuperFencesException

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.core.words import format_count, keep_together
from reportgen.narrative.headings import strip_markup
from reportgen.narrative.markdown_extensions import ELEMENT, find_marks
from reportgen.narrative.markup import find_fences
from reportgen.settings.blocks import list_kinds
from reportgen.site.navigation import group_rows
from reportgen.site.outputs import (
    collect_search_text,
    count_statements,
    describe_truth,
    list_file_names,
    merge_single,
)
from reportgen.site.reuse.templates import render_fragment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.model import Shown
    from reportgen.core.statements import Binding, Statement
    from reportgen.narrative.binding_syntax import Candidate
    from reportgen.narrative.markdown_extensions import Mark
    from reportgen.narrative.markup import Fence
    from reportgen.settings.inputs import Page


def render_block(
    shown: Shown, link: Callable[[str], str], page_folder: str, *, label: str = "", level: int = 2
) -> str:
    """Render what a block shows as HTML.

    ``link`` turns a path from the site's root, or a page's source path, into a relative address;
    ``page_folder`` is the folder of the page's figure files, from the site's root. ``label`` is the block's
    number on its page, such as ``Figure 1``, and ``level`` that of its title among the page's headings.
    """
    titled = {"label": label, "tag": f"h{level}"}
    inner = {"label": "", "tag": f"h{min(level + 1, 6)}"}
    if isinstance(shown, Figure):
        part = _make_part(shown, link, page_folder)
        return render_fragment("figure.html", **part, **titled, with_legend=True)
    if isinstance(shown, Panels):
        parts = [_make_part(figure, link, page_folder) for figure in shown.figures]
        legend = dict(entry for figure in shown.figures for entry in figure.legend)
        dashes = dict(pair for one in shown.figures for pair in zip(one.legend, one.dashes, strict=False))
        given = {"parts": parts, "legend": tuple(legend.items()), "dashes": tuple(dashes.values())}
        return render_fragment("panels.html", panels=shown, **given, **titled, inner_tag=inner["tag"])
    if isinstance(shown, ResultTable):
        return _render_table(shown, link, page_folder, title=shown.title, repeats=False, **titled)
    if isinstance(shown, Overview):
        links = {one.page: link(one.page) for one in shown.results}
        return render_fragment("overview.html", overview=shown, groups=group_rows(shown.results), links=links)
    if isinstance(shown, Stack):
        return _render_stack(shown, link, page_folder, titled, inner)
    if isinstance(shown, Observations):
        return render_fragment("observations.html", observations=shown)
    raise TypeError(type(shown))


def _render_stack(
    stack: Stack,
    link: Callable[[str], str],
    page_folder: str,
    titled: Mapping[str, str],
    inner: Mapping[str, str],
) -> str:
    """Render parts one below the other; a redundant title of a part is for screen readers only.

    ``titled`` and ``inner`` are number and tag of the stack's title and of those of its parts; without a
    title of its own, a stack gives its number to the first part.
    """
    figures = [one for one in stack.parts if isinstance(one, Figure)]
    folded = [one for one in stack.parts if figures and isinstance(one, ResultTable) and one.folded]
    stack, texts = merge_single(stack, figures, folded)
    more = Markup("".join(_render_folded(one, link, page_folder) for one in folded))  # noqa: S704 - from templates
    parts: list[dict[str, str]] = []
    for part in stack.parts:
        if isinstance(part, str):
            parts.append({"text": part, "html": ""})
            continue
        if part in folded:
            continue
        repeats = part.title in {"", stack.title} or texts is not None
        title = stack.title if repeats else part.title
        heading = inner if stack.title or any(one["html"] for one in parts) else titled
        heading = {"label": "", "tag": "p"} if repeats else heading
        if isinstance(part, ResultTable):
            html = _render_table(part, link, page_folder, title=title, repeats=repeats, **heading)
        else:
            given = _make_part(part, link, page_folder) | {"title": title, "repeats": repeats, **heading}
            given |= {
                "with_legend": True,
                "texts": texts or [],
                "more": more if part.id == figures[-1].id else "",
                "hides_table": len(figures) == 1 and any(one.complete for one in folded),
            }
            html = render_fragment("figure.html", **given)
        parts.append({"html": Markup(html)})  # noqa: S704 - it comes from a template, which escaped it
    owns_id = all(isinstance(part, str) or part.id != stack.id for part in stack.parts)
    return render_fragment("stack.html", stack=stack, parts=parts, owns_id=owns_id, **titled)


def _render_folded(table: ResultTable, link: Callable[[str], str], page_folder: str) -> str:
    return _render_table(table, link, page_folder, title=table.folded, repeats=False, label="", tag="p")


def _render_table(table: ResultTable, link: Callable[[str], str], page_folder: str, **heading: object) -> str:
    files = {"csv": link(f"{page_folder}/{table.id}.csv")}
    return render_fragment("table.html", table=table, files=files, **heading)


def _make_part(figure: Figure, link: Callable[[str], str], page_folder: str) -> dict[str, Any]:
    files = zip(("svg", "csv", "spec", "pdf"), list_file_names(page_folder, figure), strict=False)
    return {
        "figure": figure,
        "title": figure.title,
        "repeats": False,
        "files": {kind: link(name) for kind, name in files},
        "rows": render_data_rows(figure.table.rows),
        "payload_json": _escape_script(str(figure.payload)),
    }


_CELL, _ROW = "\x1f", "\x1e"  # ASCII separators of cells and rows; HTML allows neither


def render_data_rows(rows: Sequence[Sequence[str]]) -> Markup:
    """Render the rows of a figure's data table.

    All cells are escaped at once, since there are a thousand on a page: one at a time, as a template would,
    they would cost more than everything else on it.
    """
    if not rows:
        return Markup("")
    joined = _ROW.join(map(_CELL.join, rows))
    if joined.count(_CELL) + joined.count(_ROW) + 1 != sum(map(len, rows)):
        return render_data_rows(
            [[cell.replace(_CELL, " ").replace(_ROW, " ") for cell in row] for row in rows]
        )
    lines = (line.partition(_CELL) for line in str(markupsafe.escape(joined)).split(_ROW))
    filled = (
        f'<th scope="row">{first}</th>' + (f"<td>{rest.replace(_CELL, '</td><td>')}</td>" if more else "")
        for first, more, rest in lines
    )
    return Markup("".join(f"<tr>{cells}</tr>" for cells in filled))  # noqa: S704 - escaped above


def render_view(name: str, view: str) -> str:
    """Render a compiled view for live figures, which refer to it by name."""
    text = _escape_script(view)
    return f'<script type="application/json" class="rg-view" data-view="{name}">{text}</script>'


def _escape_script(json_text: str) -> str:
    """Escape JSON for a script element: no tag can begin inside it."""
    return json_text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_HEADING = re.compile(r"<h([1-6])\b")
_MARK_START = '<div class="rg-block" data-rg-block="{salt}-'


class UndraftedBlockError(SuperFencesException):  # type: ignore[misc]  # superfences has no types
    """A page shows a block that the draft did not find: what it is, and the next step."""

    def __str__(self) -> str:
        return str(self.args[0])


class Fences:
    """Finds the drafted block of each fence that Markdown's formatter gets, in order.

    superfences also formats fences that are only shown, inside a comment or a listing, and restores their
    text afterwards; the draft finds the same ones, so the two lists run in parallel.
    """

    def __init__(self, pages: tuple[Page, ...], shown: Mapping[tuple[str, str], Shown]) -> None:
        self._pages = {page.path: page for page in pages}
        self._shown = shown
        self._page = ""
        self._salts: dict[str, str] = {}
        self._fences: Iterator[Fence] = iter(())
        self._ids: Iterator[str] = iter(())

    def set_salt(self, page: str, markdown: str) -> None:
        """Set the salt of a page's marks from its path below the content folder and its text."""
        # No author can have written this by chance or on purpose.
        self._salts[page] = hashlib.sha256(markdown.encode("utf-8", "replace")).hexdigest()[:16]

    def enter_page(self, page: str, *texts: str) -> None:
        """Start a page that is converted, or several texts of it; the next fences are its own."""
        self._page = page
        self.set_salt(page, "".join(texts))
        self._fences = chain.from_iterable(find_fences(text, page) for text in texts)
        drafted = self._pages.get(page)
        self._ids = iter([block.id for block in drafted.blocks] if drafted else [])

    def leave_page(self) -> None:
        """End a page; what is converted before the next one, another plugin composes from pages' texts."""
        self._page = ""

    def mark(self, kind: str, body: str = "") -> str:
        """Return the next fence's mark; raise a SuperFencesException, since Markdown would hide others.

        Outside of a page, such as in a blog's list of posts, return the block's words, if these are known.
        """
        if not self._page:
            places = ((page.path, block) for page in self._pages.values() for block in page.blocks)
            found = [(path, one.id) for path, one in places if (one.kind, one.body) == (kind, body)]
            texts = {collect_search_text(self._shown[place]) for place in found}
            return f"<p>{escape(texts.pop())}</p>" if len(texts) == 1 else ""
        fence = next(self._fences, None)
        if fence is not None and not fence.shown:
            return ""
        block_id = next(self._ids, None)
        if fence is None or fence.kind != kind or block_id is None:
            message = f"a plugin or an extension put a {kind} block into this page after it was drafted"
            raise UndraftedBlockError(message, "Write the block into the page, or include text without one")
        words = escape(collect_search_text(self._shown[self._page, block_id]))
        return f'{_MARK_START.format(salt=self.get_salt(self._page))}{escape(block_id)}">{words}</div>'

    def get_salt(self, page: str) -> str:
        """Return the salt that identifies the marks of a page."""
        return self._salts.get(page, "")

    def list_marked_ids(self, page: str, html: str) -> list[str]:
        """List the ids of the blocks marked in a page."""
        return [unescape(part.partition('"')[0]) for part in self._split(page, html)[1:]]

    def fill(self, page: str, html: str, fragment_of: Callable[[str, int], str]) -> str:
        """Replace every mark in a page by its block's fragment; text that only resembles one stays.

        ``fragment_of`` is given the block's id, and the level beneath the heading of its section.
        """
        filled, *parts = self._split(page, html)
        level, text = 1, filled
        for part in parts:
            level = int(([str(level), *_HEADING.findall(text)])[-1])
            block_id, _, rest = part.partition('"')
            text = rest.partition("</div>")[2]
            filled += fragment_of(unescape(block_id), min(level + 1, 6)) + text
        return filled

    def _split(self, page: str, html: str) -> list[str]:
        """Return the text before, between and after the marks of a page."""
        salt = self.get_salt(page)
        return html.split(_MARK_START.format(salt=salt)) if salt else [html]


def make_custom_fences(mark: Callable[[str, str], str]) -> list[dict[str, Any]]:
    """Return ``custom_fences`` of pymdownx.superfences for every kind of block."""

    def format_fence(source: str, language: str, *_args: object, **_options: object) -> str:
        return mark(language, source)

    return [{"name": kind, "class": kind, "format": format_fence} for kind in list_kinds()]


_END = f"</{ELEMENT}>"


class BoundMarks(Struct, frozen=True):
    """Marked words of a page, each with its statement or None.

    ``shown`` are the statements on the page, in order, ``missing`` the others; ``unchecked`` are marked words
    that the draft does not know.
    """

    marks: tuple[tuple[Mark, Statement | None], ...]
    shown: tuple[Statement, ...]
    missing: tuple[Statement, ...]
    unchecked: tuple[Candidate, ...]


def match_statements(
    html: str, seen: Mapping[str, tuple[Candidate, ...]], statements: Sequence[Statement], content: str = ""
) -> BoundMarks:
    """Pair a page's marks with its statements, equal ones in order; ``seen`` has words by salt.

    If the page's own ``content`` is given, others are of pages that a plugin shows parts of: plain words.
    """
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
        if one and behind[salt, number] is None and (not content or salt in content):
            unchecked.append(one)
    numbers = {statement.number for statement in behind.values() if statement}
    return BoundMarks(
        marks=tuple((mark, behind[mark.salt, mark.number]) for mark in marks),
        shown=tuple(one for one in statements if one.number in numbers),
        missing=tuple(one for one in statements if one.number not in numbers),
        unchecked=tuple(unchecked),
    )


# Marks of the badge, of the date of publication (which a search does not need) and of the list of statements.
BADGE = '<p class="rg-badge"></p>'
DATE = '<p class="rg-published"></p>'
CHECKED = '<section class="rg-checked"></section>'

_OUR_IDS = re.compile(
    r'\b(?:id="?|data-rg-block="[0-9a-f]{16}-)(?:statement-\d+|checked-\d+|checked-statements(?:-title)?)["\s>]'
)
# Marks without quotes, as a plugin leaves them that makes pages smaller.
_BARE_MARK = re.compile(
    r"<(?:(?:div|p|section) class=\"?rg-(?:block|badge|published|checked)\b|rg-bound n=[^\"])[^>]*>"
)
_BARE_VALUE = re.compile(r"=([^\s\"'>]+)")


def quote_marks(html: str) -> str:
    """Put back quotes in marks of ours that another plugin took out."""
    return _BARE_MARK.sub(lambda mark: _BARE_VALUE.sub(r'="\1"', mark[0]), html)


# CSS class of each verdict, and the text that a reader has to see at once.
_VERDICTS = {
    "holds": ("rg-holds", ""),
    "fails": ("rg-fails", "does not hold"),
    "cannot be decided": ("rg-undecided", "cannot be decided"),
    "fails as expected": ("rg-expected", "not borne out by these data"),
    "holds unexpectedly": ("rg-unexpected", "holds, against expectation"),
}


def insert_statements(html: str, bound: BoundMarks) -> str:
    """Insert results into a page: links from its marks, a badge under its title, a list at its end."""
    # Prefix of our ids: empty, or ``rg-`` if a heading or block of the page already uses one.
    prefix = "rg-" if _OUR_IDS.search(html) else ""
    parts: list[str] = []
    place = 0
    named: set[int] = set()
    for mark, statement in bound.marks:
        end = html.find(_END, mark.end)
        if end < 0:
            continue
        words = html[mark.end : end]
        if statement is not None:
            name = "" if statement.number in named else f' id="{prefix}statement-{statement.number}"'
            named.add(statement.number)
            truth, target = describe_truth(statement), f"{prefix}checked-{statement.number}"
            (kind, verdict), words = _VERDICTS[truth], keep_together(words)
            if truth == "fails" and (repaired := strip_markup(statement.judgement.repaired)):
                verdict = f"the data say {repaired}"
            if mark.in_link:
                words = f'<span class="rg-bound {kind}"{name} data-checked="{target}">{words}</span>'
            else:
                # Out of the Tab order until a reader switches them on: dozens of stops would precede the next
                # section.
                link = f'class="rg-bound {kind}"{name} href="#{target}" tabindex="-1"'
                words = f"<a {link}>{words}</a>"
            words += f' <span class="rg-verdict">({escape(verdict)})</span>' if verdict else ""
        parts += [html[place : mark.start], words]
        place = end + len(_END)
    page = "".join([*parts, html[place:]]).replace(BADGE, _render_badge(bound.shown, prefix), 1)
    before, listed, after = page.rpartition(CHECKED)
    return before + _render_checked_list(bound.shown, prefix) + after if listed else page


def _render_badge(statements: Sequence[Statement], prefix: str) -> str:
    """Return ``14 statements checked against the data, 2 do not hold``, or "" without statements."""
    counts = count_statements(statements)
    rest = [
        (format_count(counts[name], one, many), name != "fail_as_expected")
        for name, one, many in (
            ("fail", "does not hold", "do not hold"),
            ("undecided", "cannot be decided", "cannot be decided"),
            ("hold_unexpectedly", "holds against expectation", "hold against expectation"),
            ("fail_as_expected", "fails as expected", "fail as expected"),
        )
        if counts[name]
    ]
    words = format_count(len(statements), "statement")
    return render_fragment("badge.html", statements=words, rest=rest, prefix=prefix) if statements else ""


def _render_checked_list(statements: Sequence[Statement], prefix: str) -> str:
    """Return the list for the page's end, or "" without statements."""
    rows = []
    for one in statements:
        truth = describe_truth(one)
        rows.append(
            {
                "number": one.number,
                "words": strip_markup(one.binding.words),
                "truth": truth,
                "kind": _VERDICTS[truth][0],
                "sentences": one.judgement.sentences,
                "written": one.judgement.written,
                "reason": one.binding.fails,
                "metric": one.metric,
                "state": one.state,
            }
        )
    words = format_count(len(rows), "statement")
    return (
        render_fragment("checked_statements.html", rows=rows, statements=words, prefix=prefix) if rows else ""
    )


def find_unmatched(bound: BoundMarks, file: str) -> Iterator[Diagnostic]:
    """Report differences between the draft and a page, a ``file`` relative to the project."""
    for statement in bound.missing:
        message = f'"{statement.binding.words}" is not shown as checked: Markdown reads its braces as text'
        step = "Look for a missing extension in mkdocs.yml, such as admonition or pymdownx.tabbed"
        yield Diagnostic(statement.binding.location, message, step, Stage.SITE, Severity.WARNING)
    for one in bound.unchecked:
        message = f'"{one.words}" was not checked: it came into the page after the draft'
        step = "Write it into the page itself, not by another plugin or extension"
        yield Diagnostic(SourceLocation(file), message, step, Stage.SITE, Severity.WARNING)


def _make_key(one: Binding | Candidate) -> tuple[object, ...]:
    return one.kind, one.words, one.expression, one.of, one.name, one.fails


def add_anchors(fragment_html: str, states: Iterable[str]) -> str:
    """Add an anchor for each state to a block, so that its links also work without JavaScript."""
    spans = "".join(f'<span class="rg-anchor" id="{escape(state)}"></span>' for state in states)
    start, end, rest = fragment_html.partition(">")
    return f"{start}{end}{spans}{rest}" if spans else fragment_html
