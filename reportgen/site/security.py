"""Control over what a browser runs, and what a report from elsewhere does: policy and ``untrusted: true``.

The promises of the guide's page "Security" rest on four checks: settings that let code in are refused, files
that a browser would run are not published, raw HTML does not get through Markdown (``raw_html``), and the
HTML of each page is parsed once more before anything is written. In the browser the policy is a fifth. It
allows two inline scripts, the theme's first one and a loader, since a browser refuses the hash of a script
file on a disk.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from mkdocs.utils import markdown_extensions

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage, make_error
from reportgen.core.repository import find_boundary
from reportgen.core.words import join_names
from reportgen.settings.text import normalise_text, read_text, shorten
from reportgen.settings.yaml_tree import Origin, parse, to_values
from reportgen.site.reuse.templates import render_fragment, render_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"


_ASSETS: Final = Path(__file__).with_name("assets")


def read_inline_scripts(assets: str, *, searching: bool) -> dict[str, str]:
    """Read inline scripts: ``boot`` for a page's start, ``loader`` for its end, loading from ``assets``."""
    theme = Path(str(files("reportgen.site_templates") / "js"))
    names = ("theme.js", "search.js") if searching else ("theme.js",)
    loaded = {f"js/{name}": theme / name for name in names} | {f"{assets}/live.js": _ASSETS / "live.js"}
    scripts = [(path, hash_content(file.read_bytes())) for path, file in loaded.items()]
    return {
        "boot": (theme / "boot.js").read_text("utf-8"),
        "loader": render_fragment("script_loader.html", scripts=scripts),
    }


def make_script_policy(texts: dict[str, str]) -> str:
    """Return the content security policy directive that allows these scripts and what they load."""
    hashes = " ".join(f"'{hash_content(text.encode())}'" for text in texts.values())
    return f"script-src {hashes} 'strict-dynamic'"


_FONT_FACE: Final = re.compile(r"@font-face \{[^}]*\}\n*")
_LAYOUT: Final = re.compile(r"/\*.*?\*/\s*|(?<=[{};,])\s*\n\s*|(?<=\n)\s+", re.DOTALL)  # of style sheets
_FONT_FILE: Final = re.compile(r'url\("([^"]+\.woff2)"\)')


def write_single_file(template: str, sheets: Sequence[str], **given: object) -> str:
    """A page that is complete in one file, and whose policy lets it run and load nothing.

    ``sheets`` are style sheets of ours, by their paths in ``site_templates`` or among the assets; they stand
    in the page after the fonts, upright ones only, and the policy names their hash. The template gets them as
    ``style``, with the ``policy``.
    """
    theme = Path(str(files("reportgen.site_templates")))
    fonts = theme / "fonts"

    def embed(match: re.Match[str]) -> str:
        data = base64.b64encode((fonts / match[1]).read_bytes()).decode()
        return f'url("data:font/woff2;base64,{data}")'

    faces = _FONT_FACE.findall((fonts / "fonts.css").read_text("utf-8"))
    style = _FONT_FILE.sub(embed, "".join(face for face in faces if "italic" not in face))
    for sheet in sheets:
        path = theme / sheet
        style += _LAYOUT.sub("", (path if path.exists() else _ASSETS / sheet).read_text("utf-8"))
    return render_template(template, style=style, policy=make_file_policy(style), **given)


def inline_style(policy: str) -> tuple[str, str]:
    """Return style sheets for a page that may not find them, and the page's policy that allows them."""
    theme = Path(str(files("reportgen.site_templates"))) / "css"
    sheets = (theme / "theme.css", theme / "prose.css", _ASSETS / "tokens.css")
    style = "".join(sheet.read_text("utf-8") for sheet in sheets)
    return style, f"{policy}; style-src 'self' '{hash_content(style.encode())}'"


def make_file_policy(style: str, scripts: Iterable[str] = ()) -> str:
    """Return the policy of a page that is complete in one file: it runs these scripts and loads nothing."""
    policy = f"default-src 'none'; style-src '{hash_content(style.encode())}'; font-src data:; img-src data:"
    if hashes := " ".join(f"'{hash_content(script.encode())}'" for script in scripts):
        policy += f"; media-src data:; script-src {hashes}"
    return f"{policy}; base-uri 'none'; form-action 'none'"


def hash_content(content: bytes) -> str:
    """Return the SHA-256 of a script or a style sheet as a policy states it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


PLUGINS: Final = frozenset({"reportgen", "search"})
EXTENSIONS: Final = frozenset(
    (
        *("abbr", "admonition", "attr_list", "codehilite", "def_list", "fenced_code", "footnotes", "meta"),
        *("nl2br", "sane_lists", "smarty", "tables", "toc", "wikilinks"),
        *("pymdownx.betterem", "pymdownx.caret", "pymdownx.details", "pymdownx.highlight"),
        *("pymdownx.inlinehilite", "pymdownx.keys", "pymdownx.magiclink", "pymdownx.mark", "pymdownx.quotes"),
        *("pymdownx.smartsymbols", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.tasklist"),
        *("pymdownx.tilde", "reportgen.guard"),
    )
)
"""Markdown extensions that read no other files and let no HTML through."""
ENDINGS: Final = frozenset(
    (
        *("avif", "gif", "ico", "jpeg", "jpg", "png", "webp", "mp3", "mp4", "ogg", "wav", "webm"),
        *("bib", "csv", "ipynb", "json", "jsonl", "log", "md", "parquet", "pdf", "tex", "toml", "tsv", "txt"),
        *("yaml", "yml", "zip", "otf", "ttf", "woff", "woff2"),
    )
)
"""Suffixes of files that browsers show or save but never run, whatever their content type."""

_TAGS: Final = frozenset(
    (
        *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "label", "li", "mark"),
        *("ol", "p", "pre", "q", "rg-bound", "s", "small", "span", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul"),
    )
)
_ATTRIBUTES: Final = {
    "a": frozenset({"href", "name", "title"}),
    "abbr": frozenset({"title"}),
    "details": frozenset({"open"}),
    "div": frozenset({"data-tabs"}),
    "img": frozenset({"alt", "src", "title"}),
    "input": frozenset({"checked", "disabled", "name", "type"}),
    "label": frozenset({"for"}),
    "ol": frozenset({"start"}),
    "rg-bound": frozenset({"n"}),
    "span": frozenset({"data-linenos"}),
    "td": frozenset({"align", "colspan"}),
    "th": frozenset({"align", "colspan"}),
}
"""Attributes that Markdown and the extensions give to an element, besides those of every element."""
_EVERYWHERE: Final = frozenset({"class", "height", "id", "loading", "width"})
# An element's name or id can take the place of a property of the document or window. Besides these ids of
# extensions, authors may set some with a prefix, and a heading has that of its words, in lower case.
_NAMING: Final = frozenset({"for", "id", "name"})
_OWN_ID: Final = "x-"
_MADE_ID: Final = re.compile(r"__(?:codelineno|span|tabbed)|fn:|fnref\d*:")
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ADDRESSES: Final = frozenset({"href", "src"})
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
# Browsers ignore these before and within the scheme of an address.
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\x9f]")
_OURS: Final = "rg-"
# Classes of ours on elements that Markdown makes of blocks and of references to them.
_WRITTEN: Final = frozenset({("div", "rg-block"), ("a", "rg-reference")})
# The plugin's own folder of styles and scripts.
_OWN_ASSETS: Final = "assets/reportgen/"


def refuse_unsafe(config: MkDocsConfig, files: Iterable[File], content: str) -> None:
    """Raise a ReportError of all settings, and of files in the folder ``content``, that could run code."""
    theme, hooks, problems = config.theme, config.hooks, list[Diagnostic]()
    if theme.name != "reportgen":
        message = "only the theme reportgen has the policy that untrusted: true needs"
        problems.append(_report_setting("theme", message))
    if theme.custom_dir:
        problems.append(_report_setting("custom_dir", "the templates in custom_dir are run like programs"))
    names = {
        "hooks": list(hooks),
        "plugins": [name for name in config.plugins if name not in PLUGINS and name not in hooks],
        "markdown_extensions": [
            name
            for name in config.markdown_extensions
            # Our extensions are not strings.
            if str(name) == name and name.removeprefix("markdown.extensions.") not in EXTENSIONS
        ],
        "extra_templates": list(config.extra_templates),
        "extra_javascript": [
            name for one in config.extra_javascript if not (name := str(one)).startswith(_OWN_ASSETS)
        ],
        "extra_css": [name for name in config.extra_css if not name.startswith(_OWN_ASSETS)],
    }
    problems += [
        _report_setting(key, f"{key} has {join_names(listed)}") for key, listed in names.items() if listed
    ]
    for file in files:
        ending = PurePosixPath(file.src_uri).suffix.lower().removeprefix(".")
        if ending not in ENDINGS and f".{ending}" not in markdown_extensions:
            kind = f"a .{ending} file" if ending else "a file without an ending"
            message = f"{kind} is not published with untrusted: true, since a browser may run it"
            step = (
                'Remove it; the guide\'s page "Untrusted pages and data" lists the endings that are published'
            )
            location = SourceLocation(f"{content}/{file.src_uri}")
            problems.append(Diagnostic(location, message, step, Stage.SITE))
    if problems:
        raise ReportError(*problems)


def _report_setting(key: str, reason: str) -> Diagnostic:
    message = f"{reason}, which untrusted: true does not go with"
    step = f"Take {key} out, or untrusted: true"
    return Diagnostic(SourceLocation("mkdocs.yml"), message, step, Stage.SETTINGS)


def check_html(html: str, text: str, file: str, mark: str) -> Iterator[Diagnostic]:
    """Check a page's HTML for what could run, imitate reportgen's output, or link to a script.

    ``text`` is the whole Markdown file, to find lines in, ``file`` its name relative to the project, and
    ``mark`` the prefix of block ids in our own marks.
    """
    gate = _Gate(mark)
    gate.feed(html)
    gate.close()
    for message, words in dict.fromkeys(gate.findings):
        at = text.find(words) if words else -1
        line = text.count("\n", 0, at) + 1 if at >= 0 else None
        step = "Remove it: with untrusted: true, pages are plain Markdown"
        yield Diagnostic(SourceLocation(file, line), message, step)


def _is_harmless_name(tag: str, name: str, value: str) -> bool:
    """Check that no script can take an element for a property that has this id or name."""
    if _MADE_ID.match(value):
        return True
    return name == "id" and (value.startswith(_OWN_ID) or (tag in _HEADINGS and value == value.lower()))


class _Gate(HTMLParser):
    """Collects every tag and attribute that is not known to be harmless, with words to find it by."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark
        self.findings: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check a tag."""
        if tag not in _TAGS:
            self.findings.append((f"the page has an element <{shorten(tag, 40)}>", f"<{tag}"))
        for name, value in attrs:
            if finding := self._check_attribute(tag, name, value or ""):
                self.findings.append(finding)

    def _check_attribute(self, tag: str, name: str, value: str) -> tuple[str, str] | None:
        if name == "data-rg-block" and value.startswith(self.mark):
            return None
        if name not in _ATTRIBUTES.get(tag, frozenset()) | _EVERYWHERE:
            return f'an element has the attribute "{shorten(name, 40)}"', name
        if name == "class" and (tag, value) not in _WRITTEN:
            ours = next((one for one in value.split() if one.lower().startswith(_OURS)), "")
            return (f'the class "{shorten(ours, 40)}" belongs to reportgen', ours) if ours else None
        message, words = "", value
        if name in _ADDRESSES:
            scheme = _SCHEME.match(_IGNORED.sub("", value))
            if scheme and scheme[1].lower() not in _SCHEMES:
                message, words = f'an address begins with "{shorten(scheme[0], 40)}"', scheme[0]
        elif name == "type" and value not in {"checkbox", "radio"}:
            message = f'an element has the type "{shorten(value, 40)}"'
        elif name in _NAMING and not _is_harmless_name(tag, name, value):
            message = f'the {name} "{shorten(value, 40)}" of an element does not begin with {_OWN_ID}'
        return (message, words) if message else None

    def handle_comment(self, data: str) -> None:
        """Refuse comments: nothing on a page is hidden."""
        self.findings.append(("the page has a comment", f"<!--{data}"))

    def handle_decl(self, decl: str) -> None:
        """Refuse declarations."""
        self.findings.append(("the page has a declaration", f"<!{decl}"))

    def handle_pi(self, data: str) -> None:
        """Refuse processing instructions."""
        self.findings.append(("the page has an instruction", f"<?{data}"))


# What of a stranger's mkdocs.yml decides which pages there are, and what they say.
_TAKEN: Final = (
    *("site_name", "site_description", "site_author", "docs_dir", "nav", "exclude_docs", "draft_docs"),
    *("not_in_nav", "extra"),
)
# Of plugins that make pages, and of one's languages, the options that decide which.
_OPTIONS: Final = {
    "mkdocs-jupyter": ("include", "ignore"),
    "i18n": ("docs_structure", "fallback_to_default", "languages"),
}
_LANGUAGE: Final = ("locale", "name", "default", "build")
_MARKDOWN: Final = "markdown_extensions"
_CODE: Final = ("allow_code", "follow_links")
_MOST_INHERITED: Final = 10


def write_foreign_settings(config_file: Path) -> str:
    """Return what of a ``mkdocs.yml`` from elsewhere is believed, in JSON, which is YAML, too.

    Nothing of it can run: it has no hooks, theme, tags, foreign plugins or options of extensions, and allows
    no code. Raises a ReportError if it cannot be read, or if its data are outside.
    """
    settings = _read_foreign(config_file)
    taken = {key: settings[key] for key in _TAKEN if settings.get(key) is not None}
    extensions = (str(name).removeprefix("markdown.extensions.") for name in _list_named(settings, _MARKDOWN))
    named, plugins = _list_named(settings, "plugins"), list[object]()
    if "reportgen" in named:
        own = named["reportgen"] if isinstance(named["reportgen"], dict) else {}
        _refuse_data_outside(own.get("data_dir"), config_file)
        plugins.append({"reportgen": {key: value for key, value in own.items() if key not in _CODE}})
    for name, known in _OPTIONS.items():
        if name in named and find_spec(name.replace("-", "_") if name != "i18n" else "mkdocs_static_i18n"):
            options = named[name] if isinstance(named[name], dict) else {}
            plugins.append({name: {key: _cut_languages(options[key]) for key in known if key in options}})
    made = {"theme": {"name": "reportgen"}, "plugins": plugins}
    return json.dumps(taken | made | {_MARKDOWN: [name for name in extensions if name in EXTENSIONS]})


def list_omitted(config_file: Path) -> list[str]:
    """List what of the code that a ``mkdocs.yml`` names is not run where the report is one from elsewhere."""
    settings = _read_foreign(config_file)
    own, theme = _list_named(settings, "plugins").get("reportgen"), settings.get("theme")
    omitted = ["hooks"] if settings.get("hooks") else []
    omitted += ["custom_dir"] if isinstance(theme, dict) and theme.get("custom_dir") else []
    return omitted + (
        ["functions of altair blocks"] if isinstance(own, dict) and own.get("allow_code") else []
    )


def _read_foreign(config_file: Path) -> dict[str, Any]:
    """Read a ``mkdocs.yml`` with what it inherits, as plain values: tags are ignored."""
    boundary, settings = find_boundary(config_file.parent), dict[str, Any]()
    for _ in range(_MOST_INHERITED):
        if boundary.resolve_outside(config_file):
            raise make_error(config_file.name, "it is outside of its report, and so is not read", "")
        text = normalise_text(read_text(config_file, config_file.name, Stage.SETTINGS))
        root = parse(text, Origin(config_file.name), any_tag=True)
        settings = _merge(to_values(root) if root and root.kind == "mapping" else {}, settings)
        inherited = settings.pop("INHERIT", None)
        if not isinstance(inherited, str):
            break
        config_file = config_file.parent / inherited
    return settings


def _merge(inherited: Any, own: Any) -> Any:  # noqa: ANN401 - any value of a mkdocs.yml
    if not (isinstance(inherited, dict) and isinstance(own, dict)):
        return own
    return inherited | {key: _merge(inherited.get(key), value) for key, value in own.items()}


def _list_named(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    """List plugins or extensions with their options."""
    listed = settings.get(key)
    named: dict[str, Any] = {}
    for one in listed if isinstance(listed, list) else [listed]:
        named |= one if isinstance(one, dict) else {one: None} if isinstance(one, str) else {}
    return named


def _cut_languages(value: object) -> object:
    """Cut the options of languages, which may be any settings of MkDocs, to those that decide pages."""
    if not isinstance(value, list):
        return value
    return [
        {key: one[key] for key in _LANGUAGE if key in one} if isinstance(one, dict) else one for one in value
    ]


def _refuse_data_outside(data_dir: object, config_file: Path) -> None:
    root = os.path.realpath(config_file.parent)
    folder = os.path.normpath(os.path.join(root, data_dir if isinstance(data_dir, str) else "data"))  # noqa: PTH118 - keeps links
    if not find_boundary(config_file.parent).contains(folder):
        step = "Only the report that is checked out may name data elsewhere"
        raise make_error(config_file.name, f"data_dir leads out of the report, to {folder!r}", step)
