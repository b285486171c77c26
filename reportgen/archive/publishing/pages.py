"""HTML of published pages: what is put into copies of them, and what a page says apart from its commit.

Pages are bytes that stay as they are but for what is put in or replaced, whatever their encoding holds.
"""

from __future__ import annotations

import posixpath
import re
from html import unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from reportgen.archive.page_html import read_attributes, read_tokens, replace_values

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXTS: Final = tuple((re.compile(rb"<%s\b" % tag), b"</%s>" % tag) for tag in (b"article", b"main"))
# Values of any attribute, since a pattern that begins with names of some takes ten times as long.
_ADDRESS: Final = re.compile(rb"[fcra]=[\"']?([^\"'#?> ]+)")
_ABSOLUTE: Final = re.compile(rb"=[\"']?(/[^/\"'> ][^\"'> ]*)")
_LOADED: Final = (b"href", b"src")
_CANONICAL: Final = re.compile(rb"<link rel=[\"']?canonical[\"']? href=[\"']?([^\"'> ]+)")
_LOADING: Final = frozenset(("action", "data", "data-js", "href", "poster", "src", "srcset", "xlink:href"))
_CANDIDATE: Final = re.compile(r"(^|,)(\s*)([^\s,]+)")
_TARGET: Final = re.compile(r"(?<=\]\()[^()\s]+(?=\))")
_SCRIPT: Final = "theme.js"
_TITLE: Final = re.compile(rb"<title>(.*?)</title>", re.DOTALL)


def decode(html: bytes) -> str:
    """Decode a page so that ``encode`` gives the same bytes, also where they are no UTF-8."""
    return html.decode("utf-8", "surrogateescape")


def encode(html: str) -> bytes:
    """Encode a decoded page."""
    return html.encode("utf-8", "surrogateescape")


def cut_text(html: bytes) -> bytes:
    """Return what a page itself says, without navigation, neighbours and the commit that is around it."""
    for pattern, end in _TEXTS:
        first, last = pattern.search(html), html.rfind(end)
        if first and first.start() < last:
            return html[first.start() : last + len(end)]
    return html


def read_title(html: bytes) -> str:
    """Return a page's title, or ""."""
    found = _TITLE.search(html)
    return " ".join(unescape(found[1].decode("utf-8", "replace")).split()) if found else ""


def read_canonical(html: bytes) -> str:
    """Return the address at which a page says that it is published, or ""."""
    found = _CANONICAL.search(html)
    return unescape(found[1].decode("utf-8", "replace")) if found else ""


def list_absolute_paths(html: bytes) -> Iterator[str]:
    """List addresses on a page that begin at the host's root."""
    for found in _ABSOLUTE.finditer(html):
        if html.endswith(_LOADED, 0, found.start()):
            yield unescape(found[1].decode("utf-8", "replace"))


def list_files(html: bytes, path: str) -> frozenset[str]:
    """List what local addresses in a page's HTML lead to, from the site's root."""
    addresses = (unescape(one.decode("utf-8", "replace")) for one in set(_ADDRESS.findall(html)))
    return frozenset(resolve(path, one) for one in addresses if "://" not in one)


def resolve(path: str, address: str) -> str:
    """Return what the path of an address on the page ``path`` leads to, from the site's root; "" is that."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address)))
    return "" if joined == "." else joined


def insert_into_head(html: str, elements: str) -> str:
    """Insert elements at the end of a page's head; one without a head stays as it is."""
    for token in read_tokens(html):
        if (token.tag == "head" and token.is_end) or token.tag == "body":
            return f"{html[: token.start]}{elements}{html[token.start :]}"
    return html


def insert_before_text(html: str, element: str) -> str:
    """Insert an element where a page's body begins, behind the link that skips to the text."""
    place, is_skip = -1, False
    for token in read_tokens(html):
        if token.tag == "body" and not token.is_end:
            place = token.end
        elif place >= 0 and token.tag:
            is_skip = is_skip or "rg-skip" in read_attributes(token.attributes).get("class", "")
            if not is_skip:
                break
            if token.is_end:
                place = token.end
                break
    return html if place < 0 else f"{html[:place]}{element}{html[place:]}"


def allows_style_sheets(html: str) -> bool:
    """Return whether a page's own policy lets it load a style sheet of the site."""
    for token in read_tokens(html):
        given = read_attributes(token.attributes) if token.tag == "meta" else {}
        if given.get("http-equiv", "").lower() == "content-security-policy":
            policy = unescape(given.get("content", ""))
            styles = "style-src" not in policy or "style-src 'self'" in policy
            return styles and "default-src 'self'" in policy
        if token.tag == "body":
            break
    return True


class Places(Struct, frozen=True):
    """Where the files of a preview are: its own, or those of main, whose root is ``up`` above its root."""

    own: frozenset[str]
    main: frozenset[str]
    up: str = "../../"

    def rewrite(self, html: str, path: str) -> str:
        """Let local addresses on the page ``path`` that the preview does not have lead to main."""

        def change(name: str, value: str) -> str:
            if name == "srcset":
                return _CANDIDATE.sub(lambda one: one[1] + one[2] + self.find(one[3], path), value)
            if name == "data-js":  # the folder that an inline script loads others from
                return self.find(f"{value}{_SCRIPT}", path).removesuffix(_SCRIPT)
            return self.find(value, path)

        return replace_values(html, _LOADING, change)

    def rewrite_markdown(self, text: str, path: str) -> str:
        """Do the same for the links of a page in Markdown."""
        return _TARGET.sub(lambda one: self.find(one[0], path), text)

    def find(self, address: str, path: str) -> str:
        """Return an address on the page ``path`` as it is in the preview."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return address
        is_local = not parts.scheme and not parts.netloc and address.startswith(parts.path)
        if not is_local or not parts.path or parts.path.startswith("/"):
            return address
        target = resolve(path, parts.path)
        if target.startswith("..") or _has(self.own, target) or not _has(self.main, target):
            return address
        is_folder = target and parts.path.rpartition("/")[2] in {"", ".", ".."}
        rest = address[len(parts.path) :]
        return f"{'../' * path.count('/')}{self.up}{quote(target)}{'/' if is_folder else ''}{rest}"


def _has(files: frozenset[str], target: str) -> bool:
    """Return whether there is a file, or a folder with a page."""
    return target in files or f"{target}/index.html".lstrip("/") in files
