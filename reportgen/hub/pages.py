"""The pages of a hub: its index, and a page for each team and benchmark."""

from __future__ import annotations

import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct, field, msgpack

from reportgen.core import __version__
from reportgen.core.cache import get_stamp
from reportgen.core.words import format_count, join_names, keep_together
from reportgen.hub.comparing import describe_scores
from reportgen.hub.entries import VERSIONS
from reportgen.hub.listings import LIST, RECORD, make_feeds, make_list, make_record, make_titles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reportgen.hub.comparing import BenchmarkScores
    from reportgen.hub.entries import Hub, HubEntry

Given: TypeAlias = "Mapping[str, Any]"
Finish: TypeAlias = "Callable[[Given], dict[str, Any]]"

LISTED: Final = ("team-*.html", "benchmark-*.html")
"""Names of pages that are removed with what they are about."""
_TITLES: Final = "search/titles.js"
_NEWEST: Final = 5
_MOST_OF_TEAM: Final = 8
_MOST_OF_PAGE: Final = 500
_MOST_IN_CONTENTS: Final = 15
_MOST_NAMES: Final = 3
_WITHOUT_TEAM: Final = "Other reports"
_POLICY: Final = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
_STYLES: Final = ("tokens.css", "figure.css")
_THEME: Final = ("css/prose.css", "css/theme.css", "img/favicon.svg", "js/boot.js", "js/theme.js")

_ENVIRONMENT = Environment(
    loader=PackageLoader("reportgen.site_templates", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
# Filters of MkDocs, for pages at a site's root, where an address from the root is a relative one.
_ENVIRONMENT.filters |= {"url": str, "script_tag": str}


class MadeFiles(Struct):
    """Files of a hub by their paths from its root, and digests of all that is on each page.

    A page is not made if its digest is known.
    """

    known: Mapping[str, str]
    content: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def add_page(
        self, path: str, hub: Hub, template: str, title: str, given: Given, *, finish: Finish = dict
    ) -> None:
        """Make a page unless it is known.

        ``finish`` makes what the template takes from what the page is about, and from nothing else.
        """
        head = (hub.settings.title, hub.settings.description, template, title)
        self.digests[path] = hashlib.sha256(msgpack.encode([head, given])).hexdigest()
        if self.known.get(path) != self.digests[path]:
            self.content[path] = _render(hub, template, title, **finish(given))


def make_files(hub: Hub, known: Mapping[str, str]) -> MadeFiles:
    """Make all files of a hub but those of its reports; ``known`` are digests of the pages that it has."""
    feeds = make_feeds(hub)
    made = MadeFiles(known, {**dict(_list_assets()), ".nojekyll": b"", **feeds})
    made.content |= {_TITLES: make_titles(hub), RECORD: make_record(hub), LIST: make_list(hub)}
    names = sorted(feeds)
    made.add_page("index.html", hub, "index.html", "", {"feeds": names, **_describe_index(hub)})
    for team, entries in hub.teams.items():
        address, title = hub.addresses["team", team], team or _WITHOUT_TEAM
        starts = range(0, len(entries), _MOST_OF_PAGE)
        # No other team's page has a dot there.
        parts = [address, *(address.replace(".html", f".{part}.html") for part in range(2, len(starts) + 1))]
        for path, start in zip(parts, starts, strict=True):
            rows = [_describe_row(hub, one) for one in entries[start : start + _MOST_OF_PAGE]]
            given = {"rows": rows, "count": format_count(len(entries), "report"), "feeds": names}
            given |= {
                "first": f"{start + 1:,}",
                "last": f"{start + len(rows):,}",
                "parts": parts,
                "path": path,
            }
            made.add_page(path, hub, "team.html", title, given)
    for name in hub.benchmarks:
        path, rows = hub.addresses["benchmark", name], list(_describe_reports(hub, name))
        about: Given = {"rows": rows, "scores": hub.scores[name], "feeds": names}
        made.add_page(path, hub, "benchmark.html", name, about, finish=_describe_benchmark)
    return made


def stamp_templates() -> str:
    """Stamp the templates of pages; while the stamp is the same, so are they."""
    theme = Path(str(files("reportgen.site_templates")))
    paths = [theme / "base.html", *(theme / "hub").iterdir(), *(theme / "partials").iterdir()]
    return repr([get_stamp(path) for path in sorted(paths)])


def _list_assets() -> Iterator[tuple[str, bytes]]:
    theme = files("reportgen.site_templates")
    for path in _THEME:
        yield path, (theme / path).read_bytes()
    for font in (theme / "fonts").iterdir():
        if not font.name.endswith(".py"):
            yield f"fonts/{font.name}", font.read_bytes()
    for name in _STYLES:
        yield f"assets/reportgen/{name}", (files("reportgen.site") / "assets" / name).read_bytes()
    for name in ("hub.css", "hub.js"):
        yield f"assets/reportgen/{name}", Path(__file__).with_name(name).read_bytes()


def _render(hub: Hub, template: str, title: str, **given: Any) -> bytes:  # noqa: ANN401
    """Render a page with what templates of MkDocs' pages are given."""
    is_home, settings = not title, hub.settings
    home = {"title": "Overview", "url": "./", "children": (), "is_current": is_home}
    sections = [
        {"title": name, "url": f"./#{name.lower()}", "children": (), "is_current": False}
        for name in ("Teams", "Benchmarks")
    ]
    own = [] if is_home else [{"title": title, "url": "#content", "children": (), "is_current": True}]
    tabs = [
        one | {"is_page": True, "is_homepage": False, "is_section": False, "active": False}
        for one in sections
    ]
    config = {
        "theme": {"locale": {"language": "en"}},
        "site_name": settings.title,
        "site_description": settings.description or "",
        "extra_css": [f"assets/reportgen/{name}" for name in (*_STYLES, "hub.css")],
        "extra_javascript": (),
        **dict.fromkeys(("copyright", "repo_url", "site_author"), ""),
        "plugins": ("search",),
    }
    page = {
        "title": title or settings.title,
        "is_homepage": is_home,
        "toc": _Contents(tuple(given.get("contents", ()))),
        **dict.fromkeys(("ancestors", "edit_url", "previous_page", "next_page", "canonical_url")),
    }
    entries = {"entries": [home, *sections, *own], "cut": 0}
    rg = {"csp": _POLICY, "version": __version__, "navigation": entries, "search": "Search all reports"}
    nav = _Navigation(tuple(tabs), {"url": "./", "title": "Overview"})
    shown = {"config": config, "page": page, "rg": rg, "nav": nav, **given}
    return _ENVIRONMENT.get_template(f"hub/{template}").render(shown).encode()


class _Contents(Struct, frozen=True):
    """The headings of a page, as templates of MkDocs' pages know them."""

    items: tuple[dict[str, Any], ...]


class _Navigation(Struct, frozen=True):
    """The sections of a site, as templates of MkDocs' pages know them."""

    items: tuple[dict[str, Any], ...]
    homepage: dict[str, str]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.items)


def _describe_row(hub: Hub, entry: HubEntry) -> dict[str, Any]:
    """Describe a published report for a row of a list."""
    summary = hub.published[entry.name]
    names = summary.benchmark_names
    links = [(name, hub.addresses["benchmark", name]) for name in names[:_MOST_NAMES]]
    count, noun = format_count(summary.statements, "statement").split(" ")
    count = f"{summary.unexpected:,} of {count}" if summary.unexpected else count
    return {
        "title": summary.title,
        "address": entry.folder,
        "team": (entry.team, hub.addresses["team", entry.team]),
        "version": summary.version,
        "versions": [(one, f"{entry.folder}{VERSIONS}/{quote(one)}/") for one in entry.versions],
        "date": summary.date,
        "doi": summary.doi,
        "picture": f"{entry.folder}{quote(summary.picture)}" if summary.picture else "",
        "benchmarks": links,
        "more": len(names) - len(links),
        "statements": count if summary.statements else "",
        "noun": noun,
        "standing": "not as expected" if summary.unexpected else "as expected",
        "is_unexpected": summary.unexpected > 0,
        "problem": entry.problem,
    }


def _describe_index(hub: Hub) -> dict[str, Any]:
    rows = {one.name: _describe_row(hub, one) for one in hub.newest}
    broken = [
        {"name": one.name, "row": rows.get(one.name), "problem": one.problem}
        for one in hub.entries
        if one.problem
    ]
    named = sum(bool(team) for team in hub.teams)
    parts = [format_count(len(hub.newest), "report")]
    parts += [f"of {format_count(named, 'team')}"] if named else []
    parts += [f"on {format_count(len(hub.benchmarks), 'benchmark')}"] if hub.benchmarks else []
    given = {
        "broken": broken,
        "newest": [rows[one.name] for one in hub.newest[:_NEWEST]],
        "teams": list(_describe_teams(hub, rows)),
        "benchmarks": list(_describe_benchmarks(hub, rows)),
    }
    # Few teams have their places in the contents.
    inner = [
        {"title": escape(one["title"]), "url": f"#{one['id']}", "level": 2, "children": ()}
        for one in (given["teams"] if len(hub.teams) <= _MOST_IN_CONTENTS else ())
    ]
    titles = {"broken": "Not up to date", "newest": "Newest", "teams": "Teams", "benchmarks": "Benchmarks"}
    contents = [
        {"title": titles[name], "url": f"#{titles[name].lower().replace(' ', '-')}", "level": 1}
        | {"children": inner if name == "teams" else ()}
        for name, listed in given.items()
        if listed
    ]
    words = {"lead": f"{' '.join(parts)}.", "description": hub.settings.description or ""}
    return {**words, **given, "contents": contents}


def _describe_teams(hub: Hub, rows: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for team, entries in hub.teams.items():
        address = hub.addresses["team", team]
        yield {
            "title": team or _WITHOUT_TEAM,
            "id": address.removesuffix(".html"),
            "address": address,
            "count": format_count(len(entries), "report"),
            "rows": [rows[one.name] for one in entries[:_MOST_OF_TEAM]],
            "is_cut": len(entries) > _MOST_OF_TEAM,
        }


def _describe_benchmarks(hub: Hub, rows: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, entries in hub.benchmarks.items():
        yield {
            "title": name,
            "address": hub.addresses["benchmark", name],
            "count": f"{len(entries):,}",
            "compared": sum(len(one.scores) for one in hub.scores[name].comparisons),
            "latest": rows[entries[0].name],
        }


def _describe_reports(hub: Hub, name: str) -> Iterator[dict[str, Any]]:
    """Describe the reports of a benchmark, and what each of them says of it."""
    for entry in hub.benchmarks[name]:
        own = [one for one in hub.published[entry.name].benchmarks if one.name == name]
        verdict, address = next(((one.verdict, one.address) for one in own), ("", ""))
        page = f"{entry.folder}{quote(address)}"
        yield {"name": entry.name, **_describe_row(hub, entry), "verdict": verdict, "page": page}


def _describe_benchmark(given: Given) -> dict[str, Any]:
    """Describe a benchmark; to find words for all scores takes long, so it is done for new pages alone."""
    scores: BenchmarkScores = given["scores"]
    reports = {row["name"]: row for row in given["rows"]}
    left_out = (
        (scores.unstated, "states no protocol for its scores", "state no protocol for their scores"),
        (
            scores.alone,
            "has scores that no other report measured in the same way",
            "have scores that no other report measured in the same way",
        ),
    )
    notes = []
    for names, one, many in left_out:
        titles = join_names([reports[name]["title"] for name in names], most=5)
        notes += [f"{titles} {one if len(names) == 1 else many}."] if names else []
    tables = [
        {
            "id": f"compared-{number}",
            "comparison": one,
            "rows": [
                {
                    "row": row,
                    "title": reports[row.report]["title"],
                    "page": f"{reports[row.report]['address']}{quote(row.page)}",
                    "date": reports[row.report]["date"],
                }
                for row in describe_scores(one)
            ],
        }
        for number, one in enumerate(scores.comparisons, 1)
    ]
    return {**given, "tables": tables, "notes": notes, "lead": keep_together(_describe_lead(given, tables))}


def _describe_lead(given: Given, tables: Sequence[dict[str, Any]]) -> str:
    """Say what is best among the scores that may be compared first."""
    count = format_count(len(given["rows"]), "report")
    if not tables:
        one_way = "; no two of them have scores that were measured in one way"
        return f"{count}{one_way if len(given['rows']) > 1 else ''}."
    best = next((one for one in tables if one["comparison"].first), None)
    if best is None:
        return f"{count}."
    first, row = best["comparison"].first, best["rows"][0]["row"]
    among = f"{len(best['rows']):,} scores that were measured in one way"
    said = f"The {first} of {among} is {row.series} {row.score} ({best['comparison'].metric})"
    return f"{count}. {said}; differences are not tested."
