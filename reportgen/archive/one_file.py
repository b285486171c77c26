"""``report.html``: all pages of a built site in one file, which loads nothing and runs only our scripts.

Each page is a section whose ids have the page's name before them, so that links between pages, to anchors and
to states of figures stay within the file. Styles, fonts and pictures are embedded, scripts stand there once.
"""

from __future__ import annotations

import base64
import posixpath
import re
from functools import partial
from html import escape, unescape
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from reportgen.archive.page_html import PageRewriter, cut_element, read_attributes, read_tokens
from reportgen.core.errors import make_error
from reportgen.site.navigation import WHOLE_LIST
from reportgen.site.reuse.templates import render_template
from reportgen.site.security import make_file_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from urllib.parse import SplitResult


_MAIN: Final = re.compile(r"<main\b[^>]*\bclass=\"rg-main\"[^>]*>")
_VIEW: Final = re.compile(
    r"<script type=\"application/json\" class=\"rg-view\" data-view=\"([^\"]*)\">.*?</script>", re.DOTALL
)
_SOURCE: Final = re.compile(r"<section>.*?</section>", re.DOTALL)
_STYLE_URL: Final = re.compile(r"url\(\s*([\"']?)(?!#|data:)([^\"')]*)\1\s*\)")
_IMPORT: Final = re.compile(r"(/\*.*?\*/)|@import\b[^;]*;?", re.DOTALL)
_DESCRIBED: Final = ("description", "author", "generator")
# Browsers ignore such characters before and within what an address begins with.
_CODE: Final = re.compile(r"[\x00-\x20]*".join(["", *"javascript:"]), re.IGNORECASE)
_LIVE: Final = "assets/reportgen/live.js"
_PART: Final = re.compile(r"assets/reportgen/[^/]+\.js")
_NAV: Final = '<nav class="rg-nav" id="navigation" aria-label="Pages" tabindex="-1"></nav>'
# Ids of the template, and of scripts.
_TAKEN: Final = ("content", "navigation", "rg-keys", "rg-mark-keys", "rg-told", "search-results")
_TYPES: Final = {
    "avif": "image/avif",
    "csv": "text/csv",
    "gif": "image/gif",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
}


ONE_FILE: Final = "report.html"
"""Its name in an archive."""


def write_one_file(
    site: Path,
    *,
    live: bool = True,
    links: Literal["relative", "embedded"] = "relative",
    warn: Callable[[str], None] = lambda _: None,
) -> str:
    """Write the site of a folder, as ``reportgen build`` leaves it, as one HTML file.

    Without ``live`` it leaves out what only makes figures live. Links to the files of figures are relative,
    where the file stands next to ``figures/``, or their content is embedded, as that of all other files that
    pages show or link to always is. ``warn`` gets what cannot be in the file. Equal sites give equal bytes.
    Raises a ReportError if the site has no page in our theme.
    """
    return _OneFile(site, warn, live=live, has_figures=links == "relative").write()


class _Page(Struct, frozen=True):
    """A page of the site, from its start to its text, its text, and the rest."""

    path: str
    head: str
    main: str
    tail: str
    name: str  # the id of its section
    rewriter: PageRewriter


class _Head(Struct):
    """What the head of a page says."""

    title: str = ""
    language: str = "en"
    icon: str = ""
    sheets: tuple[str, ...] = ()
    described: tuple[tuple[str, str], ...] = ()


class _OneFile:
    """The pages of a site on their way into one file."""

    def __init__(self, site: Path, warn: Callable[[str], None], *, live: bool, has_figures: bool) -> None:
        self._site, self._warn, self._live, self._has_figures = site, warn, live, has_figures
        self._warned: set[str] = set()
        self._files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
        self._pages: dict[str, _Page] = {}
        pages = (path for path in self._files - {"404.html", WHOLE_LIST} if path.endswith(".html"))
        for path in sorted(pages, key=lambda path: (path != "index.html", path)):
            html = self._read_text(path)
            start, end = _MAIN.search(html), html.rfind("</main>")
            if start is None or end < start.end():
                continue
            stem = path.removesuffix(".html").removesuffix("/index").replace("/", ".")
            stem = re.sub(r"[^A-Za-z0-9_.]+", "-", stem).strip("-") or "page"
            taken = {page.name for page in self._pages.values()}.union(_TAKEN)
            names = chain([stem], (f"{stem}-{n}" for n in count(2)))
            name = next(name for name in names if name not in taken)
            rewriter = PageRewriter(f"{name}--", partial(self._embed, path), live=live)
            main, tail = html[start.end() : end], html[end:]
            self._pages[path] = _Page(path, html[: start.start()], main, tail, name, rewriter)
        if not self._pages:
            message = "this folder has no page in the theme reportgen, and no other one can become one file"
            step = "Set theme: name: reportgen in mkdocs.yml and build the site"
            raise make_error(site.name, message, step)

    def write(self) -> str:
        """Write the file."""
        first = next(iter(self._pages.values()))
        bar, search = _rewrite_around(cut_element(first.head, "rg-bar")), cut_element(first.tail, "rg-search")
        nav = _rewrite_around(self._find_navigation(first.head))
        listed = (_split_local(link.address) for link in nav.links)
        order = [self._find(first.path, address.path) for address in listed if address]
        pages = [self._pages[path] for path in dict.fromkeys([*order, *self._pages]) if path in self._pages]
        footer, sources = _read_footers(pages)
        for page in pages:
            page.rewriter.rewrite(page.main)
        for page in pages:
            self._fill_links(page.path, page.rewriter)
        head = _read_head(first.head)
        style = "".join(self._read_style(first.path, sheet) for sheet in head.sheets).replace("</", "<\\/")
        boot, theme, *live = map(self._read_text, ("js/boot.js", "js/theme.js", *(_LIVE,) * self._live))
        run = [theme, Path(__file__).with_name("one_file.js").read_text("utf-8"), *live]
        parts = [path for path in sorted(self._files) if _PART.fullmatch(path) and path != _LIVE]
        held = {posixpath.basename(path): self._read_text(path) for path in parts if self._live}
        views = {match[1]: match[0] for page in pages for match in _VIEW.finditer(page.tail) if self._live}
        others = [page for page in pages if page.path not in order]
        return render_template(
            "archive/report.html",
            policy=make_file_policy(style, [boot, *run, *held.values()]),
            head=head,
            icon=self._embed(first.path, head.icon) if head.icon else "data:,",
            boot=boot,
            style=style,
            bar=self._fill_links(first.path, bar),
            search=self._fill_links(first.path, _rewrite_around(search)),
            paper=self._fill_links(first.path, _rewrite_around(cut_element(first.main, "rg-paper"))),
            nav=self._fill_links(first.path, nav).removesuffix("</nav>"),
            others=[(p.name, _read_head(p.head).title.removesuffix(f" · {head.title}")) for p in others],
            pages=[(page.name, "".join(page.rewriter.parts)) for page in pages],
            sources=sources,
            footer=self._fill_links(pages[0].path, footer),
            views=views.values(),
            held=held.items(),
            run=run,
        )

    def _find_navigation(self, head: str) -> str:
        """Return the list of all pages, which a large site has on a page of its own beside the first one."""
        if WHOLE_LIST in self._files:
            return _NAV.replace("></", f">{cut_element(self._read_text(WHOLE_LIST), 'rg-all-pages')}</")
        return cut_element(head, "rg-nav") or _NAV

    # ---- links

    def _fill_links(self, path: str, rewriter: PageRewriter) -> str:
        for link in rewriter.links:
            parts, written = _split_local(link.address), ""
            if not rewriter.prefix and link.address.startswith("#"):  # around the pages
                written = f' href="{escape(link.address)}"'
            elif parts is None:
                written = "" if _CODE.match(link.address) else f' href="{escape(link.address)}"'
            elif (found := self._find(path, parts.path)) in self._pages:
                written = f' href="#{escape(self._find_id(path, self._pages[found], parts.fragment))}"'
            elif found and link.is_file and self._has_figures:
                written = f' href="{quote(found)}" download'
            elif data := self._embed(path, link.address):
                written = f' href="{data}" download="{escape(posixpath.basename(found))}"'
            rewriter.parts[link.part] = written  # nothing if it leads nowhere
        return "".join(rewriter.parts)

    def _find(self, path: str, address: str) -> str:
        """Return the path in the site of a local address on a page, or "" if the site does not have it."""
        folder = "" if address.startswith("/") else posixpath.dirname(path)
        joined = posixpath.join(folder, unquote(address).lstrip("/"))
        found = (posixpath.normpath(f"{joined}{end}") for end in ("", "/index.html")) if address else [path]
        return next((one for one in found if one in self._files), "")

    def _find_id(self, path: str, target: _Page, fragment: str) -> str:
        """Return the id of what a link to a page leads to; a figure's state gets an anchor if it has none."""
        places, prefix = target.rewriter.places, target.rewriter.prefix
        figure, is_state, _ = fragment.partition("~")
        if is_state and figure in places and fragment not in places:
            target.rewriter.parts[places[figure]] += (
                f'<span class="rg-anchor" id="{escape(prefix + fragment)}"></span>'
            )
            places[fragment] = places[figure]
        if fragment in places or unquote(fragment) in places:
            return prefix + fragment
        if fragment:
            self._report(
                path, f'"#{fragment}" is not on {target.path}, so the link leads to the page\'s start'
            )
        return target.name

    # ---- files

    def _embed(self, path: str, address: str) -> str:
        """Return a data URI of what an address on a page leads to, or "" if the site does not have it."""
        if address.startswith("data:"):
            return address
        parts = _split_local(address)
        found = self._find(path, parts.path) if parts and parts.path else ""
        if not found:
            where = "in the site" if parts else "of the site"
            self._report(path, f'"{address}" is not {where}, so the file does not have it')
            return ""
        kind = _TYPES.get(posixpath.splitext(found)[1][1:].lower(), "application/octet-stream")
        return f"data:{kind};base64,{base64.b64encode((self._site / found).read_bytes()).decode()}"

    def _read_style(self, path: str, address: str) -> str:
        """Read a style sheet of a page with all that it loads."""
        found = self._find(path, address)

        def drop(match: re.Match[str]) -> str:
            if not match[1]:
                self._report(
                    found, f"{match[0]} is not followed, since the file holds each style sheet itself"
                )
            return match[1] or ""

        def embed(match: re.Match[str]) -> str:
            return f'url("{self._embed(found, match[2]) or "data:,"}")'

        return _STYLE_URL.sub(embed, _IMPORT.sub(drop, self._read_text(found))) if found else ""

    def _read_text(self, path: str) -> str:
        """Read a file of the site, as a browser does, or "" if there is none."""
        if path not in self._files:
            return ""
        return (self._site / path).read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def _report(self, path: str, message: str) -> None:
        if (text := f"{path}: {message}") not in self._warned:
            self._warned.add(text)
            self._warn(text)


def _split_local(address: str) -> SplitResult | None:
    """Split an address of this site, or return None for one that leads elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else parts


def _rewrite_around(html: str) -> PageRewriter:
    """Rewrite what stands around the text of pages."""
    rewriter = PageRewriter("", lambda _: "", live=False)
    rewriter.rewrite(html)
    return rewriter


def _read_footers(pages: Iterable[_Page]) -> tuple[PageRewriter, list[str]]:
    """Read what the site's footer says, and the data behind all pages, each source once."""
    words, sources = "", dict[str, None]()
    for page in pages:
        footer = cut_element(page.tail, "rg-footer")
        provenance = cut_element(footer, "rg-provenance")
        sources |= dict.fromkeys(_SOURCE.findall(provenance))
        words = words or footer.partition(">")[2].removesuffix("</footer>").replace(provenance, "")
    return _rewrite_around(words), list(sources)


def _read_head(html: str) -> _Head:
    head, last = _Head(), ""
    for token in read_tokens(html):
        if token.tag == "body":
            break
        given = read_attributes(token.attributes) if token.tag else {}
        given = {name: unescape(value) for name, value in given.items()}
        if not token.tag and last == "title":
            head.title = unescape(token.attributes).strip()
        elif token.tag == "html":
            head.language = given.get("lang", head.language)
        elif token.tag == "meta" and given.get("name") in _DESCRIBED:
            head.described += ((given["name"], given.get("content", "")),)
        elif token.tag == "link" and given.get("rel") == "stylesheet":
            head.sheets += (given.get("href", ""),)
        elif token.tag == "link" and given.get("rel") == "icon":
            head.icon = given.get("href", "")
        last = token.tag if not token.is_end else ""
    return head
