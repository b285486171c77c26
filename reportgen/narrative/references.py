"""Numbers of figures and tables on their page, and references to them: ``[Figure]{ref="scores"}``."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import AtomicString

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.core.words import quote_names, suggest_name
from reportgen.narrative.markdown_extensions import walk
from reportgen.settings.inputs import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from markdown import Markdown

    from reportgen.core.model import Shown
    from reportgen.settings.inputs import Page

_REFERENCE: Final = r"""\[([^\[\]\x02]+)\]\{ref=(?:"([^"\n\x02]*)"|'([^'\n\x02]*)')\}"""
_ANY_REFERENCE: Final = re.compile(_REFERENCE)
_SECTION: Final = 2  # level of headings that divide a page


class ReferencesExtension(Extension):
    """Extension that makes references links; ``resolve`` returns address and text for words and target."""

    def __init__(self, resolve: Callable[[str, str], tuple[str, str]]) -> None:
        super().__init__()
        self._resolve = resolve

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register the step after escapes (180) and code spans (190), before links (170)."""
        md.inlinePatterns.register(_LinkReference(md, self._resolve), "reportgen_reference", 175.7)


class _LinkReference(InlineProcessor):
    def __init__(self, md: Markdown, resolve: Callable[[str, str], tuple[str, str]]) -> None:
        super().__init__(_REFERENCE, md)
        self._resolve = resolve

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # type: ignore[override]  # noqa: ARG002, N802
        address, text = self._resolve(" ".join(m[1].split()), m[2] if m[2] is not None else m[3])
        element = Element("a", {"class": "rg-reference", "href": address})
        element.text = AtomicString(text)
        return element, m.start(0), m.end(0)


def find_references(text: str, path: str, file: str, first_line: int) -> tuple[Reference, ...]:
    """Return the references that a reader sees in Markdown that begins at ``first_line`` of a file."""
    targets: list[str] = []

    def record(words: str, target: str) -> tuple[str, str]:
        targets.append(target)
        return "", words

    walk(text).render(ReferencesExtension(record))
    ends: defaultdict[str, int] = defaultdict(int)
    found = []
    for target in targets:
        start = text.find(target, text.find("{ref=", ends[target]))
        ends[target] = start + 1
        place = SourceLocation(file, first_line + text.count("\n", 0, max(start, 0)))
        found.append(Reference(*locate_target(path, target), place))
    return tuple(found)


def locate_target(path: str, target: str) -> tuple[str, str]:
    """Return the path of the page and the id that a reference on a page leads to."""
    other, _, block_id = target.strip().rpartition("#")
    return (posixpath.normpath(posixpath.join(posixpath.dirname(path), other)) if other else path), block_id


def check_references(pages: Sequence[Page], broken: Collection[str] = ()) -> Iterator[Diagnostic]:
    """Yield an error for each reference to a page, figure or table that does not exist.

    Of ``broken`` files, figures may be unknown. An id that their other words may give is not reported.
    """
    ids = {page.path: [b.id for b in page.blocks if b.settings.is_numbered] for page in pages}
    files = {page.path: page.file for page in pages}
    texts = {page.path: _ANY_REFERENCE.sub("", page.text) for page in pages if page.file in broken}
    for page in pages:
        for one in page.references:
            if one.page not in ids and broken:
                continue
            if one.page not in ids:
                step = f"{suggest_name(one.page, [*ids])}Write the page's path from here, such as other.md#id"
                yield Diagnostic(one.location, f'there is no page "{one.page}"', step)
            elif one.id not in ids[one.page] and not (
                files[one.page] in broken and _join_words(one.id) in _join_words(texts[one.page])
            ):
                where = "this page" if one.page == page.path else one.page
                there = ids[one.page]
                known = f"The ids there are {quote_names(there)}" if there else "It has none"
                message = f'there is no figure or table "{one.id}" on {where}'
                yield Diagnostic(one.location, message, f"{suggest_name(one.id, there)}{known}")


def _join_words(text: str) -> str:
    """Return the words of a text as an id has them, with a hyphen before and after each."""
    return "-".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])


def number_blocks(blocks: Iterable[tuple[str, Shown]]) -> dict[str, str]:
    """Number a page's blocks in order as ``Figure 1`` or ``Table 1``, by their ids.

    Panels and stacks have one number; a stack is a table if it has no figure.
    """
    counts: Counter[str] = Counter()
    labels = {}
    for block_id, shown in blocks:
        if isinstance(shown, Overview | Observations):
            continue
        parts = shown.parts if isinstance(shown, Stack) else (shown,)
        kind = "Figure" if any(isinstance(part, Figure | Panels) for part in parts) else "Table"
        counts[kind] += 1
        labels[block_id] = f"{kind}\N{NO-BREAK SPACE}{counts[kind]}"
    return labels


def name_blocks(blocks: Iterable[tuple[str, Shown]], labels: Mapping[str, str]) -> dict[str, str]:
    """Return number and title of each numbered block, for the contents."""
    titles = {}
    for block_id, shown in blocks:
        title = getattr(shown, "title", "")
        if not title and isinstance(shown, Stack):
            parts = (part.title for part in shown.parts if isinstance(part, Figure | ResultTable))
            title = next(parts, "")
        if block_id in labels:
            number = labels[block_id].removeprefix("Figure\N{NO-BREAK SPACE}") if title else labels[block_id]
            titles[block_id] = f"{number} {title}".rstrip()
    return titles


def add_to_contents(
    items: list[Any],
    html: str,
    salt: str,
    titles: Mapping[str, str],
    make_entry: Callable[[str, str, int], Any],
) -> None:
    """Add figures and tables to the ``items`` of MkDocs' contents, each in its section.

    ``salt`` is that of their marks in the HTML; ``make_entry`` makes an item of title, id and level.
    """
    by_id: dict[str, Any] = {}
    waiting = list(items)
    while waiting:
        link = waiting.pop()
        by_id[link.id] = link
        waiting += link.children
    below, place, level = items, 0, _SECTION
    heading = r'<h[1-6]\b[^>]*?\bid="([^"]+)"'
    for match in re.finditer(rf'{heading}|data-rg-block="{salt}-([^"]+)"', html):
        if match[2] is None:
            link = by_id.get(unescape(match[1]))
            if link is None:
                continue
            if link.level <= _SECTION:
                below, place, level = link.children, 0, link.level + 1
            elif link in below:
                place = below.index(link) + 1
        elif title := titles.get(block_id := unescape(match[2])):
            below.insert(place, make_entry(escape(title), block_id, level))
            place += 1


def make_link(words: str, target: str, page: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return address and text of a reference: ``Figure 3`` for ``[Figure]{ref="scores"}``.

    ``labels`` are those of the page with the target. Words other than Figure and Table are kept.
    """
    label = labels.get(locate_target(page, target)[1], "")
    number = label.rpartition("\N{NO-BREAK SPACE}")[2]
    text = label if words in {"Figure", "Table"} else f"{words}\N{NO-BREAK SPACE}{number}"
    address = target.strip()
    return address if "#" in address else f"#{address}", text if label else words


def replace_references(text: str, page: str, label_blocks: Callable[[str], Mapping[str, str]]) -> str:
    """Replace the references in a page's Markdown by links; ``label_blocks`` has the labels of a page."""

    def replace(match: re.Match[str]) -> str:
        target = match[2] if match[2] is not None else match[3]
        labels = label_blocks(locate_target(page, target)[0])
        address, words = make_link(" ".join(match[1].split()), target, page, labels)
        return f"[{words}]({address})"

    return _ANY_REFERENCE.sub(replace, text)
