"""Pages of earlier builds: unchanged ones are neither converted from Markdown nor rendered.

What a page is made of is hashed into two keys: of its converted Markdown, and of its HTML, which also shows
pages near it, the theme and the commit. Both results are in the user's cache, since nothing in a checkout or
in the old site is trusted. They are only reused if everything that determines a site is known: see
``has_known_inputs``.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from jinja2 import Template
from mkdocs.contrib.search.search_index import SearchIndex
from mkdocs.structure.toc import get_toc
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import Cache, CachedText
from reportgen.narrative.binding_syntax import Candidate  # noqa: TC001 - msgspec reads it
from reportgen.site.reuse.manifest import SITE_URL, describe_environment
from reportgen.site.reuse.templates import hash_templates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page
    from mkdocs.structure.toc import AnchorLink

    from reportgen.narrative.markdown_extensions import BindingsExtension
    from reportgen.site.navigation import NavigationTree

_Messages: TypeAlias = list[tuple[str, int, str]]
"""Logger, level and text of what MkDocs said."""


class Conversion(Struct, frozen=True):
    """Markdown of a page converted to HTML, with what we insert, and what MkDocs knows of it since.

    ``key`` is that of everything that determines it.
    """

    key: str
    content: str
    title: str | None
    toc: list[dict[str, Any]]  # entries as from Python-Markdown's table of contents
    anchors: list[str]
    links: dict[str, dict[str, str]] | None  # as written, by the path of the page they lead to and its anchor
    messages: _Messages
    candidates: dict[str, tuple[Candidate, ...]]  # as in ``BindingsExtension``


class Rendering(Struct, frozen=True):
    """HTML of a page as in the site, its entries in the search index, and a key as of a conversion."""

    key: str
    html: CachedText
    entries: list[dict[str, Any]]


class PageStore:
    """Pages of the last build and of this one, of a site that no other plugin changes.

    The cache has one conversion and one rendering of each page in each ``mode`` of MkDocs, such as serving: a
    page's HTML is large, and every commit changes it.
    ``get_inputs`` returns what a page shows of the draft, by its path, ``get_context`` what its template is
    given of it.
    """

    def __init__(
        self,
        cache: Cache,
        config: MkDocsConfig,
        spans: BindingsExtension,
        *,
        mode: str,
        get_inputs: Callable[[str], Iterable[str]],
        get_context: Callable[[Page], Iterable[str]],
    ) -> None:
        self._cache, self._spans, self._mode = cache, spans, mode
        self._get_inputs, self._get_context = get_inputs, get_context
        settings = Path(config.config_file_path or "mkdocs.yml").read_bytes()
        environment = describe_environment()
        packages = (environment["python"] or "", environment["packages"] or "")
        # The address and the theme may come from the command line.
        given = (config.site_url, config.use_directory_urls, config.theme.name)
        # Messages below this level are not even made.
        level = logging.getLogger("mkdocs").getEffectiveLevel()
        self._site = Cache.make_key(settings, *packages, repr((*given, level)), hash_templates())
        # Templates of a report may show anything of any page.
        self.renders = config.theme.name == "reportgen" and not config.theme.custom_dir
        self._keys: dict[str, str] = {}  # of conversions, by the path of the page
        self._html_keys: dict[str, str] = {}
        self._restored: set[str] = set()
        self._renderings: dict[str, Rendering] = {}
        self._found: dict[str, tuple[_Messages, dict[str, tuple[Candidate, ...]]]] = {}
        self._outdated: dict[str, str] = {}  # files of HTML that nobody needs any more
        self._entries: dict[str, list[dict[str, Any]]] = {}
        self._index: _StoredIndex | None = None

    def add_files(self, files: Files) -> None:
        """Add what links of pages may lead to, once all files are known."""
        known = sorted(
            (file.src_uri, file.dest_uri if file.is_documentation_page() else "", file.inclusion.value)
            for file in files
        )
        self._site = Cache.make_key(self._site, repr(known), *getattr(files, "outputs", ()))

    def restore(self, page: Page, markdown: str) -> bool:
        """Let a page take its converted Markdown from an earlier build, and return whether there is one.

        Otherwise, what its conversion says and finds is recorded.
        """
        path = page.file.src_uri
        parts = (path, markdown, repr(page.meta), *self._get_inputs(path))
        key = self._keys[path] = Cache.make_key("conversion", self._site, *parts)
        conversion = self._cache.load(self._make_slot("conversion", path), Conversion)
        if conversion is None or conversion.key != key:
            page.render = partial(self._record, path, page.render)  # type: ignore[method-assign]
            return False
        self._restored.add(path)
        self._spans.seen.update(conversion.candidates)
        page.render = partial(_restore, conversion, page)  # type: ignore[method-assign]
        return True

    def _make_slot(self, what: str, path: str) -> str:
        return Cache.make_key(what, self._mode, path)

    def _record(self, path: str, convert: Callable[..., None], config: MkDocsConfig, files: Files) -> None:
        all_seen, self._spans.seen = self._spans.seen, {}
        messages: _Messages = []
        handler = logging.Handler(logging.INFO)
        handler.emit = lambda record: messages.append((record.name, record.levelno, record.getMessage()))  # type: ignore[method-assign]
        logger = logging.getLogger("mkdocs")
        logger.addHandler(handler)  # MkDocs' messages still go where they go
        try:
            convert(config, files)
            self._found[path] = messages, self._spans.seen
        finally:
            logger.removeHandler(handler)
            all_seen.update(self._spans.seen)
            self._spans.seen = all_seen

    def is_converted(self, path: str) -> bool:
        """Return whether a page was converted by an earlier build; it also holds what we insert."""
        return path in self._restored

    def store_conversion(self, page: Page, content: str) -> None:
        """Store the converted Markdown of a page, with what we inserted into it."""
        path = page.file.src_uri
        links = page.links_to_anchors
        conversion = Conversion(
            self._keys[path],
            content,
            page._title_from_render,  # noqa: SLF001 - MkDocs has no other name for it
            [_describe_entry(entry) for entry in page.toc],
            sorted(page.present_anchor_ids or ()),
            None if links is None else {file.src_uri: found for file, found in links.items()},
            *self._found[path],
        )
        self._cache.store(self._make_slot("conversion", path), conversion)

    def find_rendered(self, files: Files, tree: NavigationTree, config: MkDocsConfig) -> None:
        """Find the pages whose HTML an earlier build rendered, and let MkDocs render nothing for them."""
        search = config.plugins.get("search")
        if not self.renders or type(getattr(search, "search_index", None)) not in {SearchIndex, type(None)}:
            return
        if search is not None:
            self._index = _StoredIndex(self._renderings, self._entries, search.config)
            search.search_index = self._index
        empty = Template("")
        for file in files.documentation_pages():
            page = file.page
            if page is None or file.src_uri not in self._keys:
                continue
            parts = (self._keys[file.src_uri], *self._get_context(page), *tree.describe(page))
            key = Cache.make_key("html", self._site, *parts)
            self._html_keys[file.src_uri] = key
            rendering = self._cache.load(self._make_slot("html", file.src_uri), Rendering)
            if rendering is None:
                continue
            # Its current path, since the cache may have been moved.
            html = replace(rendering.html, path=self._locate_html(file.src_uri, rendering.key))
            if rendering.key == key and html.stands:
                self._renderings[file.src_uri] = replace(rendering, html=html)
                page.meta["template"] = empty
            else:
                self._outdated[file.src_uri] = html.path

    def get_search_index(self) -> dict[str, Any] | None:
        """Return MkDocs' search index, or None if it is only in its file."""
        return self._index.describe() if self._index else None

    def get_html(self, path: str) -> CachedText | None:
        """Return the HTML of an unchanged page, or None."""
        rendering = self._renderings.get(path)
        return rendering.html if rendering else None

    def store_html(self, path: str, html: str) -> CachedText | None:
        """Store the HTML of a page; return None if that is impossible or the page is always rendered."""
        key = self._html_keys.get(path)
        if key is None:
            return None
        slot, target = self._make_slot("html", path), self._locate_html(path, key)
        outdated = self._outdated.get(path, target)
        try:
            if outdated != target:
                Path(outdated).unlink(missing_ok=True)
            text = self._cache.put_text(slot, _name_html(key), html)
        except (OSError, UnicodeEncodeError):
            return None
        self._cache.store(slot, Rendering(key, text, self._entries.get(path, [])))
        return text

    def _locate_html(self, path: str, key: str) -> str:
        return self._cache.get_text_path(self._make_slot("html", path), _name_html(key))


def _name_html(key: str) -> str:
    # Another build may be linking the file of another key.
    return f"{key[:16]}.html"


class _StoredIndex(SearchIndex):
    """Search index that takes the entries of unchanged pages from an earlier build."""

    def __init__(
        self,
        known: Mapping[str, Rendering],
        added: dict[str, list[dict[str, Any]]],
        settings: Mapping[str, Any],
    ) -> None:
        super().__init__(**settings)
        self._known, self._added = known, added

    def add_entry_from_context(self, page: Page) -> None:
        """Add the entries of a page and of its sections."""
        path = page.file.src_uri
        if rendering := self._known.get(path):
            self._entries += rendering.entries
            return
        count = len(self._entries)
        super().add_entry_from_context(page)
        self._added[path] = self._entries[count:]

    def generate_search_index(self) -> str:
        """Return an empty file: our theme reads scripts that are made of the index itself."""
        return ""

    def describe(self) -> dict[str, Any]:
        """Return what the file of the index would hold."""
        return {"docs": self._entries, "config": self.config}


def _restore(conversion: Conversion, page: Page, _: MkDocsConfig, files: Files) -> None:
    """Give a page what its conversion by MkDocs would give it, and repeat what MkDocs said of it."""
    page.content = conversion.content
    page.toc = get_toc(conversion.toc)  # type: ignore[arg-type]
    page._title_from_render = conversion.title  # noqa: SLF001 - as above
    page.present_anchor_ids = set(conversion.anchors)
    if conversion.links is not None:
        targets = ((files.get_file_from_path(path), found) for path, found in conversion.links.items())
        page.links_to_anchors = {file: found for file, found in targets if file}
    for name, level, message in conversion.messages:
        logging.getLogger(name).log(level, "%s", message)


def _describe_entry(entry: AnchorLink) -> dict[str, Any]:
    children = [_describe_entry(child) for child in entry.children]
    return {"name": entry.title, "id": entry.id, "level": entry.level, "children": children}


# The inputs of other plugins, of extensions that read files, and of settings that point elsewhere are
# unknown: with one of these, every build is a full one.
_KNOWN_PLUGINS = {"reportgen", "search", "material/search"}
_KNOWN_EXTENSIONS = re.compile(
    r"[^.]+|(?:markdown\.extensions|material\.extensions|pymdownx)\..+|reportgen\.(?:guard|math)"
)
_READING_EXTENSIONS = {"pymdownx.snippets", "pymdownx.b64"}
# What determines a site besides its files. The address that workflows set is known.
_ADDRESS = rf"{SITE_URL}|\[{SITE_URL}, [\"'][^\"'\n]*[\"']\]"
_FUNCTION = r"!!python/(?!name:(?:pymdownx|material)\.)"
_OUTSIDE = re.compile(rf"!ENV\b(?! (?:{_ADDRESS})\s*$)|^\s*INHERIT\s*:|{_FUNCTION}", re.MULTILINE)


def has_known_inputs(config: MkDocsConfig) -> bool:
    """Return whether everything that determines the site is known."""
    # Extensions of ours are objects.
    listed: list[object] = [*config.markdown_extensions]
    extensions = {name for name in listed if isinstance(name, str)}
    text = Path(config.config_file_path or "mkdocs.yml").read_text(encoding="utf-8")
    return (
        set(config.plugins) <= _KNOWN_PLUGINS
        and all(_KNOWN_EXTENSIONS.fullmatch(name) for name in extensions)
        and not extensions & _READING_EXTENSIONS
        and not _OUTSIDE.search(text)
    )
