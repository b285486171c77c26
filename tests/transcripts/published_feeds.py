"""The feeds of a published folder: that they have what both formats demand, and what they say."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from html_tree import read_html
from shown_report import show_built_page

if TYPE_CHECKING:
    from pathlib import Path

_ATOM = "{http://www.w3.org/2005/Atom}"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TAG = re.compile(r"tag:[a-z0-9.-]+,\d{4}:[A-Za-z0-9._~!$&'()*+,;=:@/?%-]+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d|Z)")
_ADDRESS = re.compile(r"https?://[a-z0-9.:-]+/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*")


def show_feeds(folder: Path, *keys: str) -> str:
    """Print the feed of a folder, or some of what is known of each entry, a line each; "" if there is none.

    Fails where one of the two formats demands more than they have, or where they do not say the same.
    """
    if not (folder / "feed.json").exists():
        assert not (folder / "feed.xml").exists()
        return ""
    feed = _check_json((folder / "feed.json").read_bytes())
    root = _check_atom((folder / "feed.xml").read_bytes())
    _compare(root, feed)
    if keys:
        return "".join(" | ".join(one.get(key, "") for key in keys) + "\n" for one in feed["items"])
    authors = ", ".join(one["name"] for one in feed["authors"])
    count, title = len(feed["items"]), f"{feed['title']} ({feed['language']})"
    head = f"{title} by {authors}: {feed['home_page_url']}, {count} entries\n"
    return head + f"{root.findtext(f'{_ATOM}id')}\n" + "".join(map(_show_entry, feed["items"]))


def _show_entry(one: dict[str, str]) -> str:
    html = re.sub("</?bdi>", "", f"<article>{one['content_html']}</article>")
    tree = read_html(html)
    parts = [one["title"], one["id"], f"{one['date_published']} {one['url']}"]
    parts += [f"{name}: {one[name]}" for name in ("image", "summary") if name in one]
    parts += [f"picture {image.get('src')}: {image.get('alt')}" for image in tree.iter("img")]
    parts += [f"caption {caption.text}" for caption in tree.iter("caption")]
    parts += show_built_page(html).splitlines()
    parts += [f"link {link.get('href')}" for link in tree.iter("a")]
    return "\n" + "\n  ".join(parts) + "\n"


def _check_atom(content: bytes) -> ET.Element:
    """A feed that has what RFC 4287 demands, sections 4.1.1, 4.1.2, 3.2, 3.3 and 4.2.7."""
    root = ET.fromstring(content)  # noqa: S314 - written by us
    assert root.tag == f"{_ATOM}feed"
    entries = root.findall(f"{_ATOM}entry")
    for one in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(one.findall(f"{_ATOM}{name}")) == 1
        assert _TAG.fullmatch(one.findtext(f"{_ATOM}id") or "")
        assert _MOMENT.fullmatch(one.findtext(f"{_ATOM}updated") or "")
        (alternate,) = (link for link in one.findall(f"{_ATOM}link") if link.get("rel") == "alternate")
        assert _ADDRESS.fullmatch(alternate.get("href") or "")
    for one in entries:
        assert len(one.findall(f"{_ATOM}content")) == 1
        assert len(one.findall(f"{_ATOM}summary")) <= 1
    assert root.findtext(f"{_ATOM}author/{_ATOM}name")
    (own,) = (link.get("href") for link in root.findall(f"{_ATOM}link") if link.get("rel") == "self")
    assert (own or "").endswith("/feed.xml")
    ids = [one.findtext(f"{_ATOM}id") for one in (root, *entries)]
    assert len(ids) == len(set(ids))
    moments = [datetime.fromisoformat(one.findtext(f"{_ATOM}updated") or "") for one in entries]
    assert moments == sorted(moments, reverse=True)
    assert root.findtext(f"{_ATOM}updated") == entries[0].findtext(f"{_ATOM}updated")
    return root


def _check_json(content: bytes) -> dict[str, Any]:
    """A feed that has what JSON Feed 1.1 demands."""
    feed: dict[str, Any] = json.loads(content)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"]
    assert all(one["name"] for one in feed["authors"])
    assert _ADDRESS.fullmatch(feed["home_page_url"])
    assert feed["feed_url"] == f"{feed['home_page_url']}feed.json"
    for one in feed["items"]:
        assert isinstance(one["id"], str)
        assert one["content_html"]
        assert "<svg" not in one["content_html"]
        addresses = re.findall(r'(?:href|src)="([^"]*)"', one["content_html"])
        stated = (one[name] for name in ("url", "image") if name in one)
        assert all(map(_ADDRESS.fullmatch, (*addresses, *stated)))
    return feed


def _compare(root: ET.Element, feed: dict[str, Any]) -> None:
    assert root.findtext(f"{_ATOM}title") == feed["title"]
    assert root.get(_LANGUAGE) == feed["language"]
    assert [{"name": one.text} for one in root.iter(f"{_ATOM}name")] == feed["authors"]
    for atom, item in zip(root.findall(f"{_ATOM}entry"), feed["items"], strict=True):
        texts = {one.tag.removeprefix(_ATOM): one.text or "" for one in atom}
        names = {"id": "id", "title": "title", "content": "content_html", "updated": "date_published"}
        assert {name: texts[name] for name in names} == {name: item[key] for name, key in names.items()}
        assert texts.get("summary") == item.get("summary")
