"""What is read of a hub by other programs and by its search: titles, feeds, and ``hub.json``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from reportgen.archive.publishing.feed_formats import (
    ATOM_NAME,
    JSON_NAME,
    MOST_ENTRIES,
    Entry,
    Feed,
    clean_text,
    make_tag,
    write_atom,
    write_html,
    write_json_feed,
)
from reportgen.core import __version__
from reportgen.site.markdown.blocks import clean

if TYPE_CHECKING:
    from reportgen.hub.entries import Hub, HubEntry
    from reportgen.hub.reading import Summary

FORMAT: Final = 1
RECORD: Final = "hub.json"
LIST: Final = "llms.txt"
_LONGEST_LIST: Final = 50_000  # characters, as of a report's own: programs cut what is longer


def make_titles(hub: Hub) -> bytes:
    """Make the script with what a search looks through first: reports, their pages and benchmarks."""
    listed = []
    for one in hub.newest:
        summary = hub.published[one.name]
        pages = [[title, address] for title, address in summary.pages if address]
        listed.append([one.name, summary.title, one.team, summary.date, pages, list(summary.benchmark_names)])
    benchmarks = [[name, hub.addresses["benchmark", name]] for name in hub.benchmarks]
    teams = [[name, hub.addresses["team", name]] for name in hub.teams if name]
    value = {"reports": listed, "benchmarks": benchmarks, "teams": teams}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"window.reportgenHub={text};\n".encode()


def make_list(hub: Hub) -> bytes:
    """Make ``llms.txt``: a line for each report, newest first, which leads to its own list of pages."""
    about = clean(hub.settings.description or "") or "Reports of runs and evaluations, drawn from their data."
    head = f"# {clean(hub.settings.title)}\n\n> {about}\n\n## Reports\n\n"
    more = f"\nThese are the newest; {RECORD} names all reports.\n"
    room, lines = _LONGEST_LIST - len(head) - len(more), list[str]()
    for one in hub.newest:
        title = clean(hub.published[one.name].title)
        line = f"- [{title}]({quote(one.folder)}{LIST})\n"
        if (room := room - len(line)) < 0:
            lines.append(more)
            break
        lines.append(line)
    return "".join([head, *lines]).encode()


def make_feeds(hub: Hub) -> dict[str, bytes]:
    """Make the feeds of the newest reports; none without an address, or without a date."""
    url = hub.settings.site_url
    dated = [one for one in hub.newest if hub.published[one.name].date][:MOST_ENTRIES]
    if not url or not dated:
        return {}
    title = clean_text(hub.settings.title)
    tag = make_tag((urlsplit(url).hostname or "").encode("idna").decode(), title)
    entries = [_make_entry(one, hub.published[one.name], url, tag) for one in dated]
    feed = Feed(tag, title, url, "en", (title,), tuple(entries))
    return {ATOM_NAME: write_atom(feed), JSON_NAME: write_json_feed(feed)}


def _make_entry(one: HubEntry, summary: Summary, url: str, tag: str) -> Entry:
    """Make the entry of a report's present version; its content is what it says of its benchmarks."""
    address, version = f"{url}{quote(one.folder)}", summary.version or summary.report_sha256[:16]
    about = [f"Team: {one.team}."] if one.team else []
    if summary.unexpected:
        about += [f"{summary.unexpected:,} of {summary.statements:,} statements are not as expected."]
    items = [
        f'<li><a href="{escape(address + quote(page.address))}">{write_html(page.name)}</a>: '
        f"{write_html(page.verdict)}</li>"
        for page in summary.benchmarks
        if page.verdict
    ]
    said = clean_text(" ".join(about))
    content = f"<p>{write_html(said)}</p>" if said else ""
    content += f"<ul>{''.join(items)}</ul>" if items else ""
    content += f'<p><a href="{escape(address)}">Read the report</a></p>'
    title, id_ = f"{summary.title} {summary.version}", f"{tag}/reports/{one.name}/{quote(version, safe='')}"
    return Entry(
        id_,
        address,
        datetime.fromisoformat(summary.date).replace(tzinfo=UTC),
        clean_text(title),
        said,
        content,
    )


def make_record(hub: Hub) -> bytes:
    """Make ``hub.json``, a line a report."""

    def describe(one: HubEntry) -> dict[str, Any]:
        found = one.summary
        known = {
            name: getattr(found, name, "") or None for name in ("title", "version", "date", "doi", "commit")
        }
        return {
            "name": one.name,
            "team": one.team or None,
            "path": one.folder if found else None,
            **known,
            "report_sha256": found.report_sha256 if found else None,
            "statements": found.statements if found else None,
            "statements_not_as_expected": found.unexpected if found else None,
            "versions": list(one.versions),
            "problem": one.problem or None,
        }

    head = {
        "format": FORMAT,
        "generator": {"name": "reportgen", "version": __version__},
        "title": hub.settings.title,
        "site_url": hub.settings.site_url,
    }
    encoder = json.JSONEncoder(ensure_ascii=False)  # json.dumps would make one for each report
    lines = ",\n".join(encoder.encode(describe(one)) for one in hub.entries)
    return f'{encoder.encode(head)[:-1]}, "reports": [\n{lines}\n]}}\n'.encode()
