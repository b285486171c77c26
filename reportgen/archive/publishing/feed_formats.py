"""The same entries as Atom 1.0 (RFC 4287) and as JSON Feed 1.1, both as UTF-8."""

from __future__ import annotations

import json
import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

_ATOM: Final = "http://www.w3.org/2005/Atom"
_JSON_FEED: Final = "https://jsonfeed.org/version/1.1"
MOST_ENTRIES: Final = 50
MOST_ROWS: Final = 20
"""Of a table in an entry."""
ATOM_NAME: Final = "feed.xml"
JSON_NAME: Final = "feed.json"

# The year in which this form of ids began: a tag URI names a date on which its host was the tagger's.
_TAG_DATE: Final = "2026"
# What no XML may contain (XML 1.0, section 2.2), and what turns the direction of the words around it.
_FORBIDDEN: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


class Entry(Struct, frozen=True):
    """An entry: texts are cleaned, the content is HTML, and ``image`` the address of a picture, if any."""

    id: str
    url: str
    moment: datetime  # with offset
    title: str
    summary: str = ""
    content: str = ""
    image: str = ""


class Feed(Struct, frozen=True):
    """A feed of at least one entry, newest first; ``url`` is that of the site, with a slash at its end."""

    id: str
    title: str
    url: str
    language: str
    authors: tuple[str, ...]
    entries: tuple[Entry, ...]


def make_tag(host: str, name: str) -> str:
    """Return the tag URI (RFC 4151) that ids begin with, from a host in ASCII."""
    # It has neither the colons of an address in numbers nor its brackets.
    owner = re.sub("[^a-z0-9.-]+", "-", host).strip("-")
    return f"tag:{owner},{_TAG_DATE}:{quote(name, safe='')}"


def clean_text(text: str) -> str:
    """Return a text on one line with U+FFFD for what no XML may contain, and no change of direction."""
    return " ".join(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", _TURNING.sub("", text)).split())


def isolate(name: str) -> str:
    """Return a cleaned name for a plain text, where right-to-left letters do not turn what follows it.

    Without, ``0.82 → 0.84`` after such a name is shown as ``0.84 → 0.82``.
    """
    plain = clean_text(name)
    if any(unicodedata.bidirectional(one) in _RIGHT_TO_LEFT for one in plain):
        return f"\N{FIRST STRONG ISOLATE}{plain}\N{POP DIRECTIONAL ISOLATE}"
    return plain


def write_html(text: str) -> str:
    """Return a cleaned text as HTML, also in attributes; its direction is its own."""
    return escape(clean_text(text))


def write_table(title: str, header: Sequence[str], rows: Sequence[Iterable[str]]) -> str:
    """Return the first rows of a table as HTML, and a sentence about the others; cells are plain texts."""

    def write_row(tag: str, cells: Iterable[str]) -> str:
        return "".join(["<tr>", *(f'<{tag} dir="auto">{write_html(one)}</{tag}>' for one in cells), "</tr>"])

    caption = f"<caption>{write_html(title)}</caption>" if title else ""
    body = "".join(write_row("td", row) for row in rows[:MOST_ROWS])
    rest = f"<p>{len(rows) - MOST_ROWS:,} more rows are left out here.</p>" if len(rows) > MOST_ROWS else ""
    return f"<table>{caption}<thead>{write_row('th', header)}</thead><tbody>{body}</tbody></table>{rest}"


def write_atom(feed: Feed) -> bytes:
    """Write a feed as Atom."""
    root = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": feed.language})

    def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
        child = ET.SubElement(parent, tag, attributes)
        child.text = text or None
        return child

    add(root, "id", feed.id)
    add(root, "title", feed.title)
    add(root, "updated", feed.entries[0].moment.isoformat())
    add(root, "link", rel="alternate", type="text/html", href=feed.url)
    add(root, "link", rel="self", type="application/atom+xml", href=f"{feed.url}{ATOM_NAME}")
    for author in feed.authors:
        add(add(root, "author"), "name", author)
    add(root, "generator", "reportgen")
    for one in feed.entries:
        entry = add(root, "entry")
        add(entry, "id", one.id)
        add(entry, "title", one.title)
        add(entry, "link", rel="alternate", type="text/html", href=one.url)
        for tag in ("published", "updated"):
            add(entry, tag, one.moment.isoformat())
        if one.summary:
            add(entry, "summary", one.summary)
        add(entry, "content", one.content, type="html")
    ET.indent(root)
    return b"%s\n" % ET.tostring(root, encoding="utf-8", xml_declaration=True)


def write_json_feed(feed: Feed) -> bytes:
    """Write a feed as JSON Feed."""

    def describe(one: Entry) -> dict[str, str]:
        optional = {"summary": one.summary, "image": one.image}
        value = {"id": one.id, "url": one.url, "title": one.title, "content_html": one.content}
        value |= {name: text for name, text in optional.items() if text}
        return value | {"date_published": one.moment.isoformat()}

    value = {
        "version": _JSON_FEED,
        "title": feed.title,
        "home_page_url": feed.url,
        "feed_url": f"{feed.url}{JSON_NAME}",
        "language": feed.language,
        "authors": [{"name": author} for author in feed.authors],
        "items": list(map(describe, feed.entries)),
    }
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".encode()
