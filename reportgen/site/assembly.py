"""Assembly of a drafted report and MkDocs' pages: fragments, page context, search and link cards."""

from __future__ import annotations

import re
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import msgspec
from mkdocs.contrib import search
from mkdocs.structure.toc import AnchorLink
from mkdocs.utils import get_relative_url
from msgspec.structs import replace

from reportgen.core import __version__
from reportgen.core.cache import Cache, cache_folder
from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.core.model import Overview
from reportgen.core.words import keep_together
from reportgen.figures.text import name_view
from reportgen.narrative.markdown_extensions import ELEMENT
from reportgen.narrative.references import add_to_contents, name_blocks, number_blocks
from reportgen.narrative.topics import list_page_sources
from reportgen.site.citation import describe_citation, format_apa, format_bibtex
from reportgen.site.fragments import (
    BADGE,
    CHECKED,
    DATE,
    Fences,
    add_anchors,
    find_unmatched,
    insert_statements,
    match_statements,
    quote_marks,
    render_block,
    render_view,
)
from reportgen.site.markdown.pages import MarkdownPages, add_markdown_link
from reportgen.site.navigation import locate_tags
from reportgen.site.outputs import (
    describe_accepted,
    describe_bound,
    describe_source,
    format_report_json,
    get_page_folder,
    group_states,
    list_figure_files,
    list_figures,
    list_tables,
    make_index_scripts,
)
from reportgen.site.reuse.manifest import find_provenance, link
from reportgen.site.reuse.templates import THEME, hash_templates, render_fragment
from reportgen.site.security import POLICY, inline_style, make_script_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page as MkDocsPage

    from reportgen.core.cache import CachedText
    from reportgen.core.model import Shown
    from reportgen.core.statements import Statement
    from reportgen.draft.report import Report
    from reportgen.narrative.binding_syntax import Candidate
    from reportgen.settings.inputs import Block, Page
    from reportgen.site.citation import CitedReport
    from reportgen.site.outputs import PageOutputs
    from reportgen.site.reuse.added_files import Additions
    from reportgen.site.reuse.manifest import LastBuild
    from reportgen.site.reuse.pages import PageStore
    from reportgen.site.worker import BackgroundJobs


def find_lunr() -> Path:
    """Return the file of lunr, which MkDocs includes; a site serves it as ``search/lunr.js``."""
    return Path(str(search.__file__)).with_name("templates") / "search" / "lunr.js"


_SOURCES, _FONTS = Path(__file__).with_name("assets"), THEME / "fonts"
_REVIEW = "tokens theme prose figure changes review"  # its style sheets
_TITLE_END = re.compile(r"</h1\s*>")
# Code and what else is not prose, a tag, or the text between two tags.
_PART = re.compile(r"<(pre|code|script|style|svg|textarea)\b.*?</\1\s*>|<[^>]*>|[^<]+", re.DOTALL)
# A step that is a bound span, whose element is replaced later.
_STEP = re.compile(rf"(?<=>)([^\W\d_]+)\s(?=\d[\d,.]*</{ELEMENT}>)")
# Code is an inline block, after which a line may break even before a comma.
_CODE_WITH_MARK = re.compile(r"<code>[^<]*</code>[.,:;!?)]+")


class Assembly:
    """One build of a report into a site.

    ``fences`` finds the block of each fence, ``context`` is for every page's template. ``scripts`` are
    inlined in each page if all scripts are allowed by hash. ``additions`` are put into pages, and ``cited``
    is how the report is cited, if known. ``addresses`` are those of pages by their path.
    """

    def __init__(
        self,
        report: Report,
        root: Path,
        jobs: BackgroundJobs,
        last_build: LastBuild | None,
        seen: Mapping[str, tuple[Candidate, ...]],
        *,
        outputs: Mapping[str, PageOutputs],
        site_url: str,
        folder: str,
        serving: bool,
        scripts: dict[str, str] | None = None,
        additions: Additions | None = None,
        cited: CitedReport | None = None,
        feed_id: str | None = None,
    ) -> None:
        self._site_url, self._folder, self.report, self.outputs = site_url, folder, report, outputs
        self.fences = Fences(report.pages, report.shown)
        self._root, self._provenance = root, find_provenance(root)
        # ``serve`` sends the policy itself, since it knows the live-reload script.
        scripts = {} if serving else scripts or {}
        policy = f"{POLICY}; {make_script_policy(scripts)}" if scripts else POLICY
        self.context: dict[str, Any] = {
            "version": __version__,
            "csp": "" if serving else policy,
            "inline_scripts": scripts,
            "citation": {"reference": format_apa(cited), "bibtex": format_bibtex(cited)} if cited else None,
            "commit": self._provenance.commit,
            "date": self._provenance.date,
            "all_sources": [describe_source(source) for source in report.list_sources()],
            "sources": [],
            "has_problems": bool(report.problems or report.accepted),
            **dict.fromkeys(("og_image", "description", "published"), ""),
        }
        self._pages = {page.path: page for page in report.pages}
        self.addresses, self._paths, self._tags = dict[str, str](), dict[str, str](), dict[str, str]()
        self._jobs, self._last_build, self._seen, self._cited = jobs, last_build, seen, cited
        self._feed_id, self._serving, self._additions, self._review = feed_id, serving, additions, "review"
        self._views, self._all_sources = dict[str, str](), repr(self.context["all_sources"])

    @cached_property
    def _described(self) -> str:
        return repr({name: value for name, value in self.context.items() if name != "all_sources"})

    def list_files(
        self, assets: str, taken: set[str], *, fonts: bool
    ) -> Iterator[tuple[str, bytes | CachedText]]:
        """List the files known before the pages: figures, our styles and scripts, and fonts if requested.

        ``taken`` are the paths of the author's own files.
        """
        if added := self._additions:
            names = [f"{assets}/{name}.css" for name in _REVIEW.split()]
            sheets = [f"{assets}/fonts/fonts.css" if fonts else "fonts/fonts.css", *names]
            links = [("icon", f"{assets}/favicon.svg"), *(("stylesheet", sheet) for sheet in sheets)]
            while {f"{self._review}.html", f"{self._review}.json"} & taken:
                self._review = f"rg-{self._review}"
            page = added.write_page(links, "index.html" if "index.html" in taken else "")
            yield f"{self._review}.html", page.encode()
            yield f"{self._review}.json", added.data.encode()
            for path in (THEME / "img/favicon.svg", THEME / "css/theme.css", THEME / "css/prose.css"):
                yield f"{assets}/{path.name}", path.read_bytes()
        for name, text in list_figure_files(self.outputs):
            # MkDocs writes a long text in chunks of 8 kB, but bytes at once.
            yield name, text.encode() if isinstance(text, str) else text
        for path in sorted(_SOURCES.iterdir()):
            use = {"vega": self._jobs.views, "review": added, "changes": added}.get(path.stem, True)
            if path.suffix in {".css", ".js"} and use:
                yield f"{assets}/{path.name}", path.read_bytes()
        for path in sorted(_FONTS.iterdir()) if fonts else ():
            if path.suffix in {".css", ".woff2", ".txt"}:
                yield f"{assets}/fonts/{path.name}", path.read_bytes()

    def set_addresses(self, files: Files) -> None:
        """Store the address of each page and the path of its HTML, by its path below the content folder."""
        pages = [file for file in files if file.is_documentation_page()]  # drafts, too
        self.addresses = {file.src_uri: file.url for file in pages}
        self._paths = {file.src_uri: file.dest_uri for file in pages}
        self._tags = locate_tags(self.report.pages, self.addresses)

    def list_ids(self, path: str) -> Iterator[str]:
        """List the ids on a page that links may target: those of its blocks and statements."""
        for block_id, shown in self._list_shown(path):
            yield from _list_ids(block_id, shown)
        statements = self.report.statements.get(path, ())
        yield from ("checked-statements",) if statements else ()
        for one in statements:
            yield from (f"statement-{one.number}", f"checked-{one.number}")
        for states in group_states(statements, (shown for _, shown in self._list_shown(path))).values():
            yield from states

    def insert_own(self, html: str, page: MkDocsPage, files: Files) -> str:
        """Add to a page's content what we say of it under its title and at its end.

        These are key results, marks for date, badge and the list of statements, and what changed. Quantities
        stay on one line, and so does code with the punctuation that follows it.
        """
        self.fences.leave_page()
        html = _CODE_WITH_MARK.sub(r'<span class="rg-joined">\g<0></span>', html)
        html = _PART.sub(lambda part: part[0] if part[0][0] == "<" else keep_together(part[0]), html)
        html = _STEP.sub("\\1\N{NO-BREAK SPACE}", html)
        path = page.file.src_uri
        labels, salt = self.label_blocks(path), self.fences.get_salt(path)
        titles = name_blocks(self._list_shown(path), labels)
        add_to_contents(page.toc.items, html, salt, titles, AnchorLink)
        result = self.report.benchmarks.get(path)
        dated = path in self._pages and self._pages[path].front_matter.date
        marks = f"{DATE if dated else ''}{BADGE if self.report.statements.get(path) else ''}"
        head = marks
        if result:
            head = render_fragment("benchmark_head.html", benchmark=result, marks=marks)
        note, section = self._render_changes(html, page, files)
        html += section + (CHECKED if BADGE in marks else "")
        head += note
        title_end = _TITLE_END.search(html)
        return html[: title_end.end()] + head + html[title_end.end() :] if title_end else head + html

    def _render_changes(self, html: str, page: MkDocsPage, files: Files) -> tuple[str, str]:
        """Render a note on what changed and a section, which the table of contents then lists."""
        added, path = self._additions, page.file.src_uri
        own = added.sections.get(path) if added else None
        front = added.front if added and page.file.dest_uri == f"{self._folder}index.html" else None
        if added is None or not (own or front):
            return "", ""
        anchor, taken = "what-changed", {*self.list_ids(path)}
        while anchor in taken or f'id="{anchor}"' in html:
            anchor = f"rg-{anchor}"
        title = f"What changed since {added.name}"
        entries = page.toc.items
        below = entries[-1].children if entries and entries[-1].level == 1 else entries
        below.append(AnchorLink(escape(title), anchor, 2))

        def link(target: str) -> str:
            file = files.get_file_from_path(target)
            return get_relative_url(file.url, page.url) if file else ""

        given = {"anchor": anchor, "own": own, "front": front}
        note = render_fragment("changed_note.html", **given, since=added.name)
        given |= {"path": path, "title": title, "review": get_relative_url(f"{self._review}.html", page.url)}
        return note, render_fragment("what_changed.html", **given, link=link)

    def label_blocks(self, path: str) -> dict[str, str]:
        """Return the number of each figure and table of a page, such as ``Figure 1``, by its id."""
        return number_blocks(self._list_shown(path))

    def get_page(self, path: str) -> Page | None:
        """Return a drafted page by its path below the content folder."""
        return self._pages.get(path)

    def make_site_context(self, template: object) -> dict[str, Any]:
        """Return the context of templates that are no pages, with every problem of the report."""
        own: dict[str, Any] = {"all_accepted": [describe_accepted(one) for one in self.report.accepted]}
        own["problems"] = [{"place": str(one.location), "text": one.text} for one in self.report.problems]
        if template == "404.html" and not (self._site_url or self._serving):
            own["not_found_style"], own["csp"] = inline_style(self.context["csp"])
        return self.context | own

    def make_page_context(self, path: str, url: str) -> dict[str, Any]:
        """Return the context of a page's template."""
        page = self._pages.get(path)
        if page is None:
            return self.context
        card = ""
        if path in self._jobs.cards:
            target = f"{get_page_folder(path)}/card.png"
            # Link previews need an absolute address.
            card = urljoin(self._site_url, target) if self._site_url else get_relative_url(target, url)
        opened = [self.report.sources[name] for name in list_page_sources(page)]
        sources = [describe_source(source) for source in opened]
        accepted = [
            describe_accepted(one)
            for one in self.report.accepted
            if one.problem.location.file == page.file
            or any(replace(one.problem, id="") in source.warnings for source in opened)
        ]
        front = page.front_matter
        own = {"sources": sources, "og_image": card, "accepted": accepted, "published": front.date or ""}
        own |= {"description": front.description or "", "bound": describe_bound(page)}
        tags = [(tag, get_relative_url(self._tags[tag], url)) for tag in dict.fromkeys(front.tags)]
        return self.context | own | {"tags": tags}

    def describe_inputs(self, path: str) -> Iterator[str]:
        """Describe what a page's converted Markdown shows of the report, as parts of a key."""
        for place in self._list_places(path):
            yield place[1]
            # Blocks that are always drawn have no key.
            yield self.report.keys.get(place) or repr(self.report.shown[place])
        for one in self._pages[path].references if path in self._pages else ():
            yield repr(self.label_blocks(one.page).get(one.id))
        # Both are frozen values: their repr contains all of them.
        yield repr(self.report.statements.get(path, ()))
        yield repr(self.report.benchmarks.get(path))

    def describe_context(self, path: str, url: str) -> Iterator[str]:
        """Describe what the template of a page is given by us, as parts of a key."""
        context = self.make_page_context(path, url)
        # The footer of a page without sources lists those of all pages.
        yield repr(context["sources"]) if context["sources"] else self._all_sources
        own = {name: value for name, value in context.items() if value is not self.context.get(name)}
        yield self._described + repr({name: value for name, value in own.items() if name != "sources"})
        always_drawn = (place for place in self._list_places(path) if place not in self.report.keys)
        shown = (self.report.shown[place] for place in always_drawn)
        rows = (row for one in shown if isinstance(one, Overview) for row in one.results)
        yield repr([self.addresses.get(row.page) for row in rows])

    def finish_page(
        self,
        html: str,
        page: MkDocsPage,
        site: str,
        warn: Callable[[Diagnostic], None],
        store: PageStore | None,
    ) -> str:
        """Return a page with its blocks inserted and the views of its figures at the end.

        ``html`` is the page from MkDocs, with marks for blocks. If an earlier build had the same, its file is
        linked into the new ``site``, and "" is returned. ``warn`` gets drafted blocks and statements that
        Markdown treated otherwise.
        """
        path = page.file.src_uri
        if unchanged := store and store.get_html(path):
            return self._place(unchanged, page, site)
        html = add_markdown_link(quote_marks(html), page.url)
        drafted, statements = self._pages.get(path), self.report.statements.get(path, ())
        blocks = drafted.blocks if drafted else ()
        if drafted and drafted.front_matter.date:
            html = html.replace(DATE, render_fragment("published.html", date=drafted.front_matter.date), 1)
        bound = match_statements(html, self._seen, statements, page.content or "")
        placed, problems = set(self.fences.list_marked_ids(path, html)), list[Diagnostic]()
        for block in blocks:
            if block.id not in placed:
                message, step = self._explain_missing(block, page)
                problems.append(Diagnostic(block.location, message, step, Stage.SITE, Severity.WARNING))
        problems += find_unmatched(bound, drafted.file if drafted else path)
        for problem in problems:
            warn(problem)
        keys = [self.report.keys.get((path, block.id)) for block in blocks]
        if self._last_build is not None and None not in keys and not (store and store.renders):
            named = (part for block, key in zip(blocks, keys, strict=True) for part in (block.id, key or ""))
            key = Cache.make_key("page", hash_templates(), html, repr(statements), *named)
            if self._last_build.link(page.file.dest_uri, key, Path(site)):
                return ""
        html = insert_statements(html, bound)
        html = self._insert_blocks(html, path, page.url, bound.shown) if blocks else html
        # The next build has to repeat its warnings.
        stored = store.store_html(path, html) if store and not problems else None
        return self._place(stored, page, site) if stored else html

    def _explain_missing(self, block: Block, page: MkDocsPage) -> tuple[str, str]:
        """Say why a drafted block is not in a page, and the next step."""
        why = "Markdown reads its lines as code"
        step = "Look for a missing extension in mkdocs.yml, such as admonition or pymdownx.tabbed"
        if block.id in self.fences.list_marked_ids(page.file.src_uri, page.content or ""):
            why = "another plugin or the template took its mark out"
            step = "Take plugins that rewrite pages out of mkdocs.yml, one at a time, to find which"
        return f"this {block.kind} block is not shown: {why}", step

    def _place(self, html: CachedText, page: MkDocsPage, site: str) -> str:
        """Link a page into the site and return "", or return it if that is impossible."""
        try:
            if not self._serving:  # MkDocs would say of every page that it is empty
                link(html.path, f"{site}/{page.file.dest_uri}")
                return ""
        except OSError:  # a file system without links
            pass
        return str(html)

    def _insert_blocks(self, html: str, path: str, url: str, statements: Sequence[Statement]) -> str:
        shown = dict(self._list_shown(path))
        states = group_states(statements, shown.values())

        def link(target: str) -> str:
            return get_relative_url(self.addresses.get(target, target), url)

        labels, folder = self.label_blocks(path), get_page_folder(path)

        def fill_block(block_id: str, level: int) -> str:
            anchors = (one for name in _list_ids(block_id, shown[block_id]) for one in states.get(name, ()))
            label = labels.get(block_id, "")
            return add_anchors(render_block(shown[block_id], link, folder, label=label, level=level), anchors)

        figures = (figure for one in shown.values() for figure in list_figures(one))
        views = filter(None, (view for figure in figures for view in (figure.view, *figure.other_views)))
        for name in (names := dict.fromkeys(map(name_view, views))):
            if name not in self._views:
                self._views[name] = render_view(name, self._jobs.views[name]().decode())
        # A plugin that makes pages smaller may leave the end tag out.
        before, end, after = html.rpartition("</body>") if "</body>" in html else (html, "", "")
        rendered = [self._views[name] for name in names]
        return "".join([self.fences.fill(path, before, fill_block), *rendered, end, after])

    def finish(self, config: MkDocsConfig, index: Mapping[str, Any] | None, *, full: bool) -> None:
        """Write what is known only at the end: ``report.json``, Markdown, cards, PDFs and our theme's search.

        ``index`` is MkDocs' search index; it is read from its file if None. ``full`` requests one file of all
        pages as Markdown.
        """
        site = Path(config.site_dir)
        with self._jobs.worker:
            cards = {f"{get_page_folder(path)}/card.png": job for path, job in self._jobs.cards.items()}
            for name, job in (cards | self._jobs.pdfs).items():
                if not (self._last_build and self._last_build.link(name, job.key, site)):
                    _write(site / name, job())
        stated: dict[str, object] = {"feed_id": self._feed_id} if self._feed_id else {}
        stated |= describe_citation(self._cited)
        report = format_report_json(self.report, self.outputs, self._provenance, stated)
        _write(site / self._folder / "report.json", *report)
        _write(site / ".nojekyll")
        pages = MarkdownPages(self.report, self._paths, self._folder)
        pages.write_all(site, Cache(cache_folder(self._root)), self._last_build, self.describe_inputs)
        pages.write_index(site, config.site_name, config.site_description or "", full=full)
        file = site / "search" / "search_index.json"
        if config.theme.name == "reportgen" and file.is_file():
            hidden = {self.addresses.get(p.path) for p in self.report.pages if p.front_matter.search.exclude}
            whole = index or msgspec.json.decode(file.read_bytes())
            for name, script in make_index_scripts(whole, hidden):
                _write(file.with_name(name), script.encode())
            _write(file.with_name("lunr.js"), find_lunr().read_bytes())
            file.unlink()

    def _list_shown(self, path: str) -> Iterator[tuple[str, Shown]]:
        """List a page's blocks with their ids."""
        return ((place[1], self.report.shown[place]) for place in self._list_places(path))

    def _list_places(self, path: str) -> Iterator[tuple[str, str]]:
        page = self._pages.get(path)
        return ((path, block.id) for block in (page.blocks if page else ()))


def _list_ids(block_id: str, shown: Shown) -> tuple[str, ...]:
    """Return the ids of a block and of its figures and tables, each once."""
    figures = (figure.id for figure in list_figures(shown))
    tables = (table.id for table in list_tables(shown))
    return tuple(dict.fromkeys([block_id, *figures, *tables]))


def _write(path: Path, *parts: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(parts)
