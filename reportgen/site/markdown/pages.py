"""Each page of a site as Markdown beside its HTML, and ``llms.txt``, which lists them.

A page has its text with bound values as words, what each block shows, and each statement with its truth. All
links are relative: they work in a folder, below any address, and in an archive.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

from reportgen.narrative.markup import replace_fences, strip_bindings
from reportgen.narrative.references import number_blocks, replace_references
from reportgen.narrative.templates import split_front_matter
from reportgen.site.markdown.blocks import clean, write_block
from reportgen.site.outputs import describe_truth, get_page_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.statements import Statement
    from reportgen.draft.report import Report
    from reportgen.settings.inputs import Page
    from reportgen.site.reuse.manifest import LastBuild

INDEX: Final = "llms.txt"
FULL: Final = "llms-full.txt"
_LONGEST_INDEX: Final = 50_000  # characters; tools that fetch it cut off what is longer
_LONGEST_LINE: Final = 300  # characters of what a line of it says of a page
# Code, in which nothing is replaced, and what is before the target of a link, and the target.
_CODE: Final = re.compile(
    r"^[ >]*(`{3,}|~{3,})[^\n]*\n.*?^[ >]*\1[`~]*[ ]*$|(`+)[^`].*?\2(?!`)", re.DOTALL | re.MULTILINE
)
_LINK: Final = re.compile(r"(\]\(|^\[[^\]\n]+\]: +)([^()\s<>#][^()\s<>]*)", re.MULTILINE)


_HEAD: Final = """# {title}

> {about}

This report was built by reportgen. Numbers and claims of its text that are bound to data were checked against
the data; each page lists them at its end, with their truth. Pages are Markdown; data are CSV files.

## Pages

"""
_ABOUT: Final = "A report whose figures are drawn from data."
_JOINED: Final = "\x00"  # where a line ends inside a binding; no text of a page has this character


def name_markdown(html: str) -> str:
    """Return the path of a page's Markdown from that of its HTML file, or its relative address."""
    return f"{html.removesuffix('.html')}.md" if html.endswith(".html") else f"{html}index.md"


class MarkdownPages:
    """The pages of a report as Markdown.

    ``paths`` has the HTML file of each by its source path, and ``folder`` is that of the report in its site.
    """

    def __init__(self, report: Report, paths: Mapping[str, str], folder: str) -> None:
        self._report, self._folder = report, folder
        self._paths = {path: name_markdown(html) for path, html in paths.items()}
        self._pages = {page.path: page for page in report.pages}
        self._key = repr(sorted(self._paths.items()))

    def list_pages(self) -> Iterator[tuple[Page, str]]:
        """List the pages that the site has, in the report's order, with the path of their Markdown."""
        return ((page, self._paths[page.path]) for page in self._report.pages if page.path in self._paths)

    def write_all(
        self, site: Path, cache: Cache, last_build: LastBuild | None, describe: Callable[[str], Iterable[str]]
    ) -> None:
        """Write the Markdown of every page; that of an unchanged one is linked from the last build's site.

        ``describe`` says what a page shows of the report.
        """
        for page, path in self.list_pages():
            key = cache.make_key("markdown", self._key, page.text, *describe(page.path))
            if last_build is None or not last_build.link(path, key, site):
                text = cache.memo(key, str, partial(self.write, page, path))
                _write(site / path, text)

    def write(self, page: Page, path: str) -> str:
        """Write a page as Markdown with links from a path of the site."""
        start, shown = posixpath.dirname(path), self._report.shown
        folder, figures = posixpath.dirname(page.path), get_page_folder(page.path)

        def link(name: str) -> str:  # as an author would write it
            return _link(folder, name if name in self._paths else f"{figures}/{name}")

        blocks = {block.id: shown[page.path, block.id] for block in page.blocks}
        labels = number_blocks(blocks.items())
        parts = (write_block(one, labels.get(name, ""), link) for name, one in blocks.items())
        body = split_front_matter(page.text, page.file)[1]
        text = replace_fences(body, strip_bindings(body, line_end=f"{_JOINED}\n"), parts)
        text = text.replace(f"{_JOINED}\n", "")
        text = self._replace_links(page, start, text)
        title = "" if re.search(r"^# ", text, re.MULTILINE) else f"# {clean(page.title)}\n\n"
        index = f"> All pages of this report: [{INDEX}]({_link(start, f'{self._folder}{INDEX}')})\n\n"
        statements = map(_describe_statement, self._report.statements.get(page.path, ()))
        listed = "\n".join(statements)
        end = f"\n\n## Checked statements\n\n{listed}" if listed else ""
        return f"{index}{title}{text.strip()}{end}\n"

    def _replace_links(self, page: Page, start: str, text: str) -> str:
        """Let links to pages and files lead where these are, as seen from the page's Markdown."""
        folder = posixpath.dirname(page.path)

        def replace(match: re.Match[str]) -> str:
            before, target = match.groups()
            address = urlsplit(target)
            if address.scheme or not address.path or address.path.startswith("/"):
                return match[0]
            source = posixpath.normpath(posixpath.join(folder, unquote(address.path)))
            anchor = f"#{address.fragment}" if address.fragment else ""
            return f"{before}{_link(start, self._paths.get(source, source))}{anchor}"

        parts, end = list[str](), 0
        for code in (*_CODE.finditer(text), None):
            prose = text[end : code.start() if code else None]
            if "{ref=" in prose:
                prose = replace_references(prose, page.path, self._label_blocks)
            parts += [_LINK.sub(replace, prose), code[0] if code else ""]
            end = code.end() if code else end
        return "".join(parts)

    def _label_blocks(self, path: str) -> dict[str, str]:
        page, shown = self._pages[path], self._report.shown
        return number_blocks((block.id, shown[path, block.id]) for block in page.blocks)

    def write_index(self, site: Path, title: str, description: str, *, full: bool) -> None:
        """Write ``llms.txt``: what the report is, and a line for each page; if ``full``, all pages as well.

        Of a report of very many pages, lines have titles alone, then the last ones are left out.
        """
        head = _HEAD.format(title=clean(title), about=clean(description) or _ABOUT)
        found = [(page, _link(self._folder, path)) for page, path in self.list_pages()]
        titles = [f"- [{clean(page.title)}]({path})" for page, path in found]
        described = (self._describe(page) for page, _ in found)
        lines = [": ".join(filter(None, both)) for both in zip(titles, described, strict=True)]
        text = next(
            (one for one in map("\n".join, (lines, titles)) if len(one) < _LONGEST_INDEX - len(head)), ""
        )
        if not text:
            end = f"\nThese are the first of {len(titles)} pages; report.json names all of them."
            ends = accumulate(len(one) + 1 for one in titles)
            count = sum(one <= _LONGEST_INDEX - len(head) - len(end) - 1 for one in ends)
            text = "\n".join([*titles[:count], end])
        _write(site / self._folder / INDEX, f"{head}{text}\n")
        if full:
            path = f"{self._folder}{FULL}"
            _write(site / path, "\n".join(self.write(page, path) for page, _ in self.list_pages()))

    def _describe(self, page: Page) -> str:
        result = self._report.benchmarks.get(page.path)
        words = clean(page.front_matter.description or (result.claim if result else ""))
        return words if len(words) <= _LONGEST_LINE else f"{words[: _LONGEST_LINE - 1].rstrip()}…"


def add_markdown_link(html: str, url: str) -> str:
    """Return a page with a link in its head to its Markdown."""
    # Material loads a sitemap for each link whose rel is this word alone, without the space.
    rel = "alternate" if '<div class="rg-page">' in html else "alternate "
    link = f'<link rel="{rel}" type="text/markdown" href="{name_markdown(url.rpartition("/")[2])}">'
    return html.replace("</head>", f"{link}\n</head>", 1)


def _link(folder: str, path: str) -> str:
    return quote(posixpath.relpath(path, folder or "."))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def _describe_statement(one: Statement) -> str:
    binding, judgement = one.binding, one.judgement
    evidence = "; ".join([judgement.found, *judgement.evidence])
    return f"{one.number}. “{clean(binding.words)}” ({describe_truth(one)}): {clean(evidence)}"
