"""``untrusted: true``: refuses in settings, files and pages what runs code in a browser or on this machine.

What the guide's page "Security" promises rests on four checks: settings that let code in are refused, files
that a browser would run are not published, raw HTML does not get through Markdown (``raw_html``), and
the HTML of each page is read once more before anything is written. In the browser the policy is a fifth.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from mkdocs.utils import markdown_extensions

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.settings.parsing import shorten
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File

PLUGINS: Final = frozenset({"reportgen", "search"})
EXTENSIONS: Final = frozenset(
    (
        *("abbr", "admonition", "attr_list", "codehilite", "def_list", "fenced_code", "footnotes", "meta"),
        *("nl2br", "sane_lists", "smarty", "tables", "toc", "wikilinks"),
        *("pymdownx.betterem", "pymdownx.caret", "pymdownx.details", "pymdownx.highlight"),
        *("pymdownx.inlinehilite", "pymdownx.keys", "pymdownx.magiclink", "pymdownx.mark"),
        *("pymdownx.smartsymbols", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.tasklist"),
        "pymdownx.tilde",
    )
)
"""Extensions of Markdown that read no other file and let no HTML through."""
ENDINGS: Final = frozenset(
    (
        *("avif", "gif", "ico", "jpeg", "jpg", "png", "webp", "mp3", "mp4", "ogg", "wav", "webm"),
        *("bib", "csv", "ipynb", "json", "jsonl", "log", "md", "parquet", "pdf", "tex", "toml", "tsv", "txt"),
        *("yaml", "yml", "zip", "otf", "ttf", "woff", "woff2"),
    )
)
"""Endings of files that browsers show or save and do not run, however a server sends them."""

_TAGS: Final = frozenset(
    (
        *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "label", "li", "mark"),
        *("ol", "p", "pre", "q", "rg-bound", "s", "small", "span", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul"),
    )
)
_ATTRIBUTES: Final = frozenset(
    (
        *("align", "alt", "checked", "class", "colspan", "dir", "disabled", "for", "headers", "height"),
        *("href", "id", "lang", "n", "name", "open", "rel", "role", "rowspan", "scope", "src", "start"),
        *("target", "title", "type", "value", "width"),
    )
)
_ADDRESSES: Final = frozenset({"href", "src"})
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
# Browsers read over these in front of and within the scheme of an address.
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\x9f]")
_OURS: Final = "rg-"
# What the plugin itself puts among styles and scripts.
_OWN_ASSETS: Final = "assets/reportgen/"


def refuse_unsafe(config: MkDocsConfig, files: Iterable[File], content: str) -> None:
    """Refuse settings and files that could run code.

    Args:
        config: ``mkdocs.yml`` as MkDocs read it.
        files: those of the content folder that the site shows or copies.
        content: the content folder, for messages.

    Raises:
        ReportError: all of them.
    """
    problems = [*_check_settings(config), *_check_files(files, content)]
    if problems:
        raise ReportError(*problems)


def _check_settings(config: MkDocsConfig) -> Iterator[Problem]:
    """What ``mkdocs.yml`` may not say where nobody is trusted."""
    theme, hooks = config.theme, config.hooks
    if theme.name != "reportgen":
        yield _report_setting("theme", "only the theme reportgen has the policy that untrusted: true needs")
    if theme.custom_dir:
        yield _report_setting("custom_dir", "the templates in custom_dir are run like programs")
    names = {
        "hooks": list(hooks),
        "plugins": [name for name in config.plugins if name not in PLUGINS and name not in hooks],
        "markdown_extensions": [
            name
            for name in config.markdown_extensions
            # Ours are no names.
            if str(name) == name and name.removeprefix("markdown.extensions.") not in EXTENSIONS
        ],
        "extra_templates": list(config.extra_templates),
        "extra_javascript": [
            name for one in config.extra_javascript if not (name := str(one)).startswith(_OWN_ASSETS)
        ],
        "extra_css": [name for name in config.extra_css if not name.startswith(_OWN_ASSETS)],
    }
    for key, found in names.items():
        if found:
            yield _report_setting(key, f"{key} has {join_names(found)}")


def _report_setting(key: str, said: str) -> Problem:
    step = f"Take {key} out, or untrusted: true"
    return Problem(
        SourceLocation("mkdocs.yml"), f"{said}, which untrusted: true does not go with", step, Stage.SETTINGS
    )


def _check_files(files: Iterable[File], content: str) -> Iterator[Problem]:
    """Files of the content folder that a browser could run."""
    for file in files:
        ending = PurePosixPath(file.src_uri).suffix.lower().removeprefix(".")
        if ending not in ENDINGS and f".{ending}" not in markdown_extensions:
            kind = f"a .{ending} file" if ending else "a file without an ending"
            said = f"{kind} is not published where nobody is trusted: a browser may run it"
            step = 'Remove it; the guide\'s page "Security" lists the endings that are published'
            yield Problem(SourceLocation(f"{content}/{file.src_uri}"), said, step, Stage.SITE)


def check_html(html: str, text: str, file: str, mark: str) -> Iterator[Problem]:
    """What in the HTML of a page could run, imitate what reportgen writes, or lead to a script.

    Args:
        html: what Markdown made of the page.
        text: the whole Markdown file, to find lines in.
        file: the page relative to the project.
        mark: what the ids of its blocks begin with in our own marks.
    """
    gate = _Gate(mark)
    gate.feed(html)
    gate.close()
    for said, words in dict.fromkeys(gate.found):
        at = text.find(words) if words else -1
        line = text.count("\n", 0, at) + 1 if at >= 0 else None
        step = "Remove it: pages hold plain Markdown where nobody is trusted"
        yield Problem(SourceLocation(file, line), said, step)


class _Gate(HTMLParser):
    """Notes every tag and attribute that is not known to be harmless, with words to find it by."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Judge a tag."""
        if tag not in _TAGS:
            self.found.append((f"the page has an element <{shorten(tag, 40)}>", f"<{tag}"))
        for name, value in attrs:
            self._judge(tag, name, value or "")

    def handle_comment(self, data: str) -> None:
        """Nothing of a page is hidden."""
        self.found.append(("the page has a comment", f"<!--{data}"))

    def handle_decl(self, decl: str) -> None:
        """Nor declared."""
        self.found.append(("the page has a declaration", f"<!{decl}"))

    def handle_pi(self, data: str) -> None:
        """Nor processed."""
        self.found.append(("the page has an instruction", f"<?{data}"))

    def _judge(self, tag: str, name: str, value: str) -> None:
        if name == "data-rg-block" and value.startswith(self.mark):
            return
        if name == "class" and not (tag == "div" and value == "rg-block"):
            ours = next((one for one in value.split() if one.lower().startswith(_OURS)), "")
            if ours:
                self.found.append((f'the class "{shorten(ours, 40)}" belongs to reportgen', ours))
        elif name in _ADDRESSES:
            scheme = _SCHEME.match(_IGNORED.sub("", value))
            if scheme and scheme[1].lower() not in _SCHEMES:
                self.found.append((f'an address begins with "{shorten(scheme[0], 40)}"', scheme[0]))
        elif tag == "input" and name == "type" and value not in {"checkbox", "radio"}:
            self.found.append((f'an element has the type "{shorten(value, 40)}"', value))
        elif name.startswith("data-rg") or not (name in _ATTRIBUTES or name.startswith(("data-", "aria-"))):
            self.found.append((f'an element has the attribute "{shorten(name, 40)}"', name))
