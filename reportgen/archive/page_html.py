"""A page's HTML rewritten for a file that holds all pages: ids get a prefix, whatever loads is embedded.

The tokens follow the HTML standard, so that an attribute may hold anything; they are the same with every
Python, which those of ``html.parser`` are not. What an author left open is closed at the page's end, and what
closes nothing is left out: a page never reaches into the next one.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SPACE: Final = r"\t\n\f\r "
_NAME: Final = rf"[^{_SPACE}/>][^{_SPACE}/>=]*+"
_EQUALS: Final = rf"[{_SPACE}]*+=[{_SPACE}]*+"
_UNQUOTED: Final = rf"[^{_SPACE}>\"'][^{_SPACE}>]*+"
_TOKEN: Final = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(?P<end>/?)(?P<tag>[a-zA-Z][^{_SPACE}/>]*+)"
    rf"(?P<attributes>(?:[{_SPACE}/]++|{_NAME}(?:{_EQUALS}(?:\"[^\"]*\"|'[^']*'|{_UNQUOTED})?+)?+)*+)>"
    r"|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(rf"({_NAME})(?:{_EQUALS}(?:\"([^\"]*)\"|'([^']*)'|({_UNQUOTED}))?+)?+")
_VALID_NAME: Final = re.compile(r"[a-zA-Z_:@][^\x00-\x20\"'<>/=\x7f]*")
_URL: Final = re.compile(r"(?i)(url\(\s*(?:&quot;|')?\s*#)")

_RAW: Final = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
_VOID: Final = frozenset(
    (
        *("area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    )
)
# Their end tags may be left out, and one too many of </p> would be a paragraph.
_OPTIONAL: Final = frozenset(
    (
        *("caption", "colgroup", "dd", "dt", "li", "optgroup", "option", "p", "rp", "rt", "tbody", "td"),
        *("tfoot", "th", "thead", "tr"),
    )
)
# Tags that stand for the whole document, or swallow the rest of it.
_LEFT_OUT: Final = frozenset(("base", "body", "frameset", "head", "html", "link", "meta", "plaintext"))
_REMOVED: Final = frozenset(("noembed", "noframes", "script", "style", "title", "xmp"))
_FRAMES: Final = {"embed": "src", "frame": "src", "iframe": "src", "object": "data"}
# The site's own parts around the text.
_AROUND: Final = re.compile(r"class=\"(?:rg-above|rg-page-end|rg-paper)\"")
_PAYLOAD: Final = re.compile(r"type=\"application/json\" class=\"rg-(?:payload|heat-data)\"")

_IDS: Final = frozenset(
    (
        *("aria-activedescendant", "commandfor", "data-checked", "for", "form", "id", "list", "name"),
        "popovertarget",
    )
)
"""Attributes that name an element of the page, or a group of them."""
_ID_LISTS: Final = frozenset(
    (
        *("aria-controls", "aria-describedby", "aria-details", "aria-errormessage", "aria-flowto"),
        *("aria-labelledby", "aria-owns", "headers"),
    )
)
_LOADED: Final = frozenset(("poster", "src"))
# A policy of hashes refuses styles and handlers, a picture has its src, and no page has the first focus.
_UNUSED: Final = frozenset(
    ("autofocus", "background", "download", "nonce", "ping", "sizes", "srcdoc", "srcset", "style")
)


class Token(NamedTuple):
    """A start tag, an end tag, or text, whose tag is empty."""

    tag: str
    attributes: str  # as written; the text of text
    is_end: bool
    start: int
    end: int


class Link(NamedTuple):
    """A link of a page: which part its attributes become, its address, and whether it is a figure's file."""

    part: int
    address: str
    is_file: bool


def read_tokens(html: str) -> Iterator[Token]:
    """Read tags and texts, without comments and declarations; the text of a script or title is one token."""
    place = 0
    while match := _TOKEN.search(html, place):
        if match.start() > place:
            yield Token("", html[place : match.start()], is_end=False, start=place, end=match.start())
        place = match.end()
        if not match["tag"]:
            continue
        tag, is_end = match["tag"].lower(), bool(match["end"])
        yield Token(tag, match["attributes"], is_end, match.start(), place)
        if tag in _RAW and not is_end:
            closing = re.compile(rf"</{tag}(?=[{_SPACE}/>])", re.IGNORECASE).search(html, place)
            until = closing.start() if closing else len(html)
            yield Token("", html[place:until], is_end=False, start=place, end=until)
            place = until
    if place < len(html):
        yield Token("", html[place:], is_end=False, start=place, end=len(html))


def read_attributes(attributes: str) -> dict[str, str]:
    """Read a tag's attributes: names in lower case, values as written in double quotes."""
    found: dict[str, str] = {}
    for name, double, single, plain in _ATTRIBUTE.findall(attributes):
        if _VALID_NAME.fullmatch(name):
            value = double or single.replace('"', "&quot;") or plain.replace('"', "&quot;")
            found.setdefault(name.lower(), value.replace("<", "&lt;"))
    return found


def replace_values(html: str, names: frozenset[str], change: Callable[[str, str], str]) -> str:
    """Replace values of named attributes by what ``change`` makes of name and value; all else stays as it is.

    Values are given and written without character references and quotes.
    """

    def replace(found: re.Match[str]) -> str:
        value = unescape(found[2] or found[3] or found[4] or "")
        if not value or found[1].lower() not in names:
            return found[0]
        changed = change(found[1].lower(), value)
        return found[0] if changed == value else f'{found[1]}="{escape(changed)}"'

    # Most tags of a drawing have many attributes, and none of these.
    named = re.compile("|".join(map(re.escape, names)), re.IGNORECASE)
    parts, last = [], 0
    for token in read_tokens(html):
        if token.tag and not token.is_end and named.search(token.attributes):
            parts += [
                html[last : token.end - 1 - len(token.attributes)],
                _ATTRIBUTE.sub(replace, token.attributes),
            ]
            last = token.end - 1
    return "".join([*parts, html[last:]])


def cut_element(html: str, name: str) -> str:
    """Return the first element of a class from its start tag to its end tag, or ""."""
    start, tag, depth = -1, "", 0
    for token in read_tokens(html):
        if (
            start < 0
            and not token.is_end
            and name in read_attributes(token.attributes).get("class", "").split()
        ):
            start, tag = token.start, token.tag
        if start >= 0 and token.tag == tag:
            depth += -1 if token.is_end else 1
            if not depth:
                return html[start : token.end]
    return ""


class PageRewriter:
    """Rewrites HTML of one page into ``parts``, some of which are still empty: the ``links``.

    Every id gets ``prefix``; with an empty one, as around the pages, ids stay. ``embed`` returns a data URI
    for an address of the page, or "". ``places`` has the part that ends the start tag of each id.
    """

    def __init__(self, prefix: str, embed: Callable[[str], str], *, live: bool) -> None:
        self.prefix = prefix
        self.parts: list[str] = []
        self.links: list[Link] = []
        self.places: dict[str, int] = {}
        self._embed = embed
        self._live = live
        self._open: list[str] = []
        self._removed_from = -1  # how many elements were open where what is removed began
        self._written: dict[tuple[str, str], str] = {}

    def rewrite(self, html: str) -> None:
        """Add the rewritten HTML of a piece of the page, with all its elements closed."""
        for token in read_tokens(html):
            if not token.tag:
                if self._removed_from < 0:
                    is_data = bool(self._open) and self._open[-1] == "script"
                    text = token.attributes
                    self.parts.append(text if is_data else text.replace("<", "&lt;"))
            elif token.tag in _LEFT_OUT:
                continue
            elif not token.is_end:
                self._start(token.tag, token.attributes)
            elif token.tag in self._open:
                self._close(len(self._open) - self._open[::-1].index(token.tag))
                self._close(len(self._open) - 1, is_written=True)
        self._close(0)

    def _start(self, tag: str, attributes: str) -> None:
        is_closed = tag in _VOID or (
            attributes.endswith("/")
            and (tag in {"svg", "math"} or not {"svg", "math"}.isdisjoint(self._open))
        )
        if self._removed_from < 0:
            is_data = tag == "script" and self._live and _PAYLOAD.search(attributes)
            is_shown = is_data or (tag == "title" and "svg" in self._open)
            if not is_shown and (tag in _REMOVED or tag in _FRAMES or _AROUND.search(attributes)):
                self._removed_from = -1 if is_closed else len(self._open)
                given = read_attributes(attributes) if tag in _FRAMES else {}
                if given and (address := given.get(_FRAMES[tag])):
                    # The file cannot hold what a frame shows, so it has a link to that.
                    self._write_link("<a", unescape(address), is_file=False)
                    self.parts.append(f"{given.get('title') or address}</a>")
            else:
                self._write_tag(tag, attributes, "/" if is_closed and tag not in _VOID else "")
        if not is_closed:
            self._open.append(tag)

    def _close(self, depth: int, *, is_written: bool = False) -> None:
        """Close elements until only ``depth`` are open; an end tag is left out where it may be."""
        while len(self._open) > depth:
            tag = self._open.pop()
            if self._removed_from < 0 and (is_written or tag not in _OPTIONAL):
                self.parts.append(f"</{tag}>")
            if len(self._open) == self._removed_from:
                self._removed_from = -1

    def _write_link(self, start: str, address: str, *, is_file: bool) -> None:
        self.links.append(Link(len(self.parts) + 1, address, is_file))
        self.parts += [start, "", ">"]

    def _write_tag(self, tag: str, attributes: str, end: str) -> None:
        written = self._written.get((tag, attributes))
        if written is not None:
            self.parts.append(written)
            return
        given = read_attributes(attributes)
        address = given.pop("href", given.pop("xlink:href", None)) if tag in {"a", "area"} else None
        changed = ((name, self._change(tag, name, value)) for name, value in given.items())
        start = f"<{tag}" + "".join(f' {name}="{value}"' for name, value in changed if value is not None)
        if address is None:
            self.parts.append(f"{start}{end}>")
            if "id" not in given:
                self._written[tag, attributes] = self.parts[-1]
        else:
            self._write_link(start, unescape(address), is_file="data-file" in given)
        for name in given.keys() & ({"id", "name"} if tag == "a" else {"id"}):
            self.places.setdefault(unescape(given[name]), len(self.parts) - 1)

    def _change(self, tag: str, name: str, value: str) -> str | None:
        """Return the new value of an attribute, or None for none."""
        # Sections of several pages have the same title: as landmarks nobody could tell them apart.
        is_region_name = tag == "section" and name == "aria-labelledby"
        is_current = name == "aria-current" and not self.prefix
        if name in _UNUSED or name.startswith("on") or is_region_name or is_current:
            return None
        if name in _LOADED or (tag in {"image", "feimage"} and name in {"href", "xlink:href"}):
            return escape(self._embed(unescape(value))) or None
        if name in _IDS or name in _ID_LISTS:
            names = value.split() if name in _ID_LISTS else [value]
            return " ".join(self.prefix + one for one in names if one)
        if name in {"href", "usemap", "xlink:href"}:
            return f"#{self.prefix}{value[1:]}" if value.startswith("#") else None
        return _URL.sub(rf"\g<1>{self.prefix}", value) if "url(" in value.lower() else value
