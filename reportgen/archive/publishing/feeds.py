"""Feeds of a published report: its dated pages, and what changed in its results from version to version.

An entry has the same id for good, so that no reader shows it twice: a tag URI (RFC 4151) of the report and of
the path of the page, or the name of the version. The report's part is ``feed_id`` of its settings. Where that
is left out, it is the host of the site with its ``site_name``: the repository, the address below the host and
the titles of pages may change, but whoever moves to another host or renames the report sets ``feed_id`` to
what it was.
"""

from __future__ import annotations

import html
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from reportgen.archive.publishing.feed_formats import (
    MOST_ENTRIES,
    Entry,
    Feed,
    clean_text,
    make_tag,
    write_atom,
    write_html,
    write_json_feed,
    write_table,
)
from reportgen.archive.publishing.result_changes import describe_result_changes
from reportgen.archive.publishing.sites import find_page_address, parse_base_url
from reportgen.core.cache import Cache, cache_folder
from reportgen.core.errors import ReportError, make_error
from reportgen.core.report_json import FORMAT
from reportgen.core.words import join_names
from reportgen.settings.report import read_moment
from reportgen.site.outputs import get_page_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MOST_NAMES: Final = 5
_TITLE: Final = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_LANGUAGE: Final = re.compile(r"<html\b[^>]*\blang=\"([A-Za-z0-9-]+)\"")


class FeedVersion(Struct, frozen=True):
    """A version that is published at ``v/<name>/``: its archive, and date and commit, empty if unknown."""

    name: str
    archive: Path
    date: str
    commit: str


class Feeds(Struct, frozen=True):
    """Both feeds as bytes, empty where there is no entry, and in sentences what is not in them, and why."""

    atom: bytes
    json: bytes
    left_out: tuple[str, ...]


def make_feeds(main: Path, versions: Sequence[FeedVersion], base_url: str) -> Feeds | None:
    """Make the feeds of a built site and its versions, oldest first, published at ``base_url``.

    They have the newest 50 entries. Without an address there is no feed. What changed between two versions is
    stored in the cache of the folder above the site. Raises a ReportError if ``main`` is no site of this
    version of reportgen, or ``base_url`` no address.
    """
    if not base_url:
        return None
    site, left_out, entries = _read_site(main, base_url), list[str](), list[Entry]()
    pairs = {f"{site.tag}/versions/{quote(one.name, safe='')}": (was, one) for was, one in pairwise(versions)}
    known = [*_list_pages(site, left_out), *_list_versions(site, pairs, left_out)]
    known.sort(key=lambda one: one.id)
    known.sort(key=lambda one: one.moment, reverse=True)
    cache = Cache(cache_folder(main.resolve().parent))
    for one in known:
        if len(entries) == MOST_ENTRIES:
            break
        if one.id not in pairs:
            entries.append(one)
            continue
        # Of many versions only the newest are compared.
        before, after = pairs[one.id]
        try:
            found = describe_result_changes(before.archive, after.archive, cache)
        except ReportError as error:
            left_out.append(f"what changed in version {after.name} is not in the feed. {error}")
            continue
        was, now = (
            f'<a href="{html.escape(site.locate(version))}">{write_html(version.name)}</a>'
            for version in (before, after)
        )
        commit = f" (commit {write_html(after.commit[:8])})" if after.commit else ""
        content = f"{found.content}<p>Version {now}{commit}, compared with {was}.</p>"
        title = f"{one.title}: {found.title}"
        entries.append(replace(one, title=title, summary=found.summary, content=content))
    if not entries:
        return Feeds(b"", b"", tuple(left_out))
    # A feed has to have an author.
    authors = tuple(map(clean_text, site.report.get("authors") or [site.title]))
    feed = Feed(site.tag, site.title, site.url, site.language, authors, tuple(entries))
    return Feeds(write_atom(feed), write_json_feed(feed), tuple(left_out))


class _Site(Struct, frozen=True):
    """A built site; ``url`` ends in a slash, and ``tag`` is what ids begin with."""

    folder: Path
    url: str
    title: str
    language: str
    report: dict[str, Any]
    tag: str

    def locate(self, version: FeedVersion) -> str:
        """Return the address of a version."""
        return f"{self.url}v/{quote(version.name, safe='')}/"


def _read_site(main: Path, base_url: str) -> _Site:
    try:
        url = parse_base_url(base_url)
        host = (urlsplit(url).hostname or "").encode("idna").decode()
    except ValueError:
        step = "Write one as https://example.org/report/"
        raise make_error(base_url, "this is no address of a site", step) from None
    try:
        report = json.loads((main / "report.json").read_bytes())
        front = (main / "index.html").read_text("utf-8")
        known = report["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise make_error(main.name, "this is no site of this version of reportgen", "Build it again")
    found, language = (pattern.search(front) for pattern in (_TITLE, _LANGUAGE))
    title = clean_text(html.unescape(found[1])) if found else ""
    tag = report.get("feed_id") or make_tag(host, title or "report")
    return _Site(main, url, title or host, language[1] if language else "en", report, tag)


def _list_pages(site: _Site, left_out: list[str]) -> Iterator[Entry]:
    """List the pages that have a date, with summary, picture and first table; feed readers leave out SVG."""
    for page in site.report["pages"]:
        if not page.get("date"):
            continue
        path = page["path"]
        address = find_page_address(path, lambda name: (site.folder / name).is_file())
        if address is None:
            left_out.append(f"page {path} is not in the feed: the site does not have it where MkDocs puts it")
            continue
        id_, url = f"{site.tag}/pages/{quote(path)}", f"{site.url}{quote(address)}"
        title, summary = clean_text(page["title"]) or path, clean_text(page["description"] or "")
        moment = read_moment(page["date"])
        card, table = f"{get_page_folder(path)}/card.png", next(iter(page["tables"]), None)
        image = f"{site.url}{quote(card)}" if (site.folder / card).is_file() else ""
        parts = [f"<p>{write_html(summary)}</p>"] if summary else []
        if image:
            shown = next((one["summary"] for one in page["figures"]), title)
            parts.append(f'<p><img src="{html.escape(image)}" alt="{write_html(shown)}"></p>')
        if table:
            rows = [[cell["text"] for cell in row] for row in table["rows"]]
            parts.append(write_table(table["title"], table["header"], rows))
        parts.append(f'<p><a href="{html.escape(url)}">Read the page</a></p>')
        yield Entry(id_, url, moment, title, summary, content="".join(parts), image=image)


def _list_versions(
    site: _Site, pairs: dict[str, tuple[FeedVersion, FeedVersion]], left_out: list[str]
) -> Iterator[Entry]:
    """List each version but the first; what changed in it is to be added."""
    undated = []
    for id_, (_, version) in pairs.items():
        try:
            moment = read_moment(version.date)
        except ValueError:
            undated.append(version.name)
        else:
            yield Entry(id_, site.locate(version), moment, clean_text(version.name))
    if undated:
        noun, verb = ("version", "it has") if len(undated) == 1 else ("versions", "they have")
        names = join_names(undated, most=_MOST_NAMES)
        left_out.append(f"what changed in {noun} {names} is not in the feed, since {verb} no date")
