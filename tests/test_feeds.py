"""Feeds of dated pages and of changed results: what both formats demand, ids that stay, and every fault."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from html_tree import read_html, table_rows, words
from made_projects import PAGE, RUNS, SETTINGS, write_report

from reportgen.archive.publishing.feed_formats import MOST_ENTRIES
from reportgen.archive.publishing.feeds import Feeds, FeedVersion, make_feeds
from reportgen.cli.main import cli
from reportgen.core import intact
from reportgen.core.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

URL = "https://lab.github.io/scaling/"
ATOM = "{http://www.w3.org/2005/Atom}"
CITED = f"""
site_name: Scaling & more
site_url: {URL}
docs_dir: content
theme: {{name: reportgen}}
plugins: [search, {{reportgen: {{citation: {{authors: [{{name: Ada Lovelace}}, {{name: Example Lab}}]}}}}}}]
"""
MATH = """---
title: MATH500
description: MEL ends above GRPO.
date: 2026-11-20
benchmark: {name: MATH500, source: runs, metric: accuracy, date: "May 2026"}
---
# MATH500

[MEL stays below 0.83]{claim="final(MEL) < 0.83"}, and
[MEL ends above GRPO]{claim="final(MEL) > final(GRPO)"}.

```curve
title: Accuracy
```

```table
```
"""
REPORT = {
    "mkdocs.yml": CITED,
    "content/index.md": "# Scaling\n\nTwo methods.\n",
    "content/math500.md": MATH,
    "content/again.md": PAGE.replace(
        "# Small", "---\ndate: 2026-11-18T23:30:00+01:00\n---\n# The same again"
    ),
    "data/runs.csv": RUNS,
}
BETTER = RUNS.replace("MEL,1,10,0.84", "MEL,1,10,0.86").replace("MEL,2,10,0.80", "MEL,2,10,0.82")
DAYS = {"1.0": "2026-10-01", "1.1": "2026-11-19", "1.2": "2026-11-20"}


class Published(NamedTuple):
    """A built site, and its versions, oldest first."""

    main: Path
    versions: tuple[FeedVersion, ...]

    def make(self, base_url: str = URL) -> Feeds:
        """Its feeds."""
        feeds = make_feeds(self.main, self.versions, base_url)
        assert feeds is not None
        return feeds


def invoke(*words: object, day: str = "2026-11-20") -> str:
    """What a command prints on a day, which has to go well."""
    seconds = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp())
    done = CliRunner().invoke(cli, list(map(str, words)), env={"SOURCE_DATE_EPOCH": str(seconds)})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Three versions: the second has other numbers than the first, the third is the same again."""
    folder = tmp_path_factory.mktemp("published")
    versions = []
    for name, runs in (("1.0", RUNS), ("1.1", BETTER), ("1.2", BETTER)):
        root, path = (
            write_report(folder / "report", {**REPORT, "data/runs.csv": runs}),
            folder / f"{name}.zip",
        )
        invoke("archive", "-f", root / "mkdocs.yml", "--to", path, "--data", "none", day=DAYS[name])
        versions.append(FeedVersion(name, path, DAYS[name], "0123456789abcdef" if name == "1.1" else ""))
    return Published(folder / "report" / "site", tuple(versions))


def read_entries(feeds: Feeds) -> dict[str, dict[str, str]]:
    """The entries of both feeds, which have to say the same, by their titles, in order."""
    root, listed = check_atom(feeds.atom), check_json_feed(feeds.json)
    entries = {}
    for atom, item in zip(root.findall(f"{ATOM}entry"), listed["items"], strict=True):
        texts = {one.tag.removeprefix(ATOM): one.text or "" for one in atom}
        assert (texts["id"], texts["title"], texts["content"]) == (
            item["id"],
            item["title"],
            item["content_html"],
        )
        assert texts["updated"] == item["date_published"]
        assert texts.get("summary") == item.get("summary")
        entries[texts["title"]] = item
    return entries


def check_atom(content: bytes) -> ET.Element:
    """A feed that has what RFC 4287 demands, sections 4.1.1, 4.1.2, 3.2, 3.3 and 4.2.7."""
    root = ET.fromstring(content)  # noqa: S314 - written by us
    assert root.tag == f"{ATOM}feed"
    entries = root.findall(f"{ATOM}entry")
    for one in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(one.findall(f"{ATOM}{name}")) == 1
        assert re.fullmatch(
            r"tag:[a-z0-9.-]+,\d{4}:[A-Za-z0-9._~!$&'()*+,;=:@/?%-]+", one.findtext(f"{ATOM}id") or ""
        )
        moment = one.findtext(f"{ATOM}updated") or ""
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d|Z)", moment)
        (alternate,) = (link for link in one.findall(f"{ATOM}link") if link.get("rel") == "alternate")
        assert is_address(alternate.get("href") or "")
    for one in entries:
        assert len(one.findall(f"{ATOM}content")) == 1
        assert len(one.findall(f"{ATOM}summary")) <= 1
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    (own,) = (link.get("href") for link in root.findall(f"{ATOM}link") if link.get("rel") == "self")
    assert (own or "").endswith("/feed.xml")
    ids = [one.findtext(f"{ATOM}id") for one in (root, *entries)]
    assert len(ids) == len(set(ids))
    moments = [datetime.fromisoformat(one.findtext(f"{ATOM}updated") or "") for one in entries]
    assert moments == sorted(moments, reverse=True)
    assert root.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")
    return root


def check_json_feed(content: bytes) -> dict[str, Any]:
    """A feed that has what JSON Feed 1.1 demands."""
    feed: dict[str, Any] = json.loads(content)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert isinstance(feed["title"], str)
    assert feed["title"]
    assert all(one["name"] for one in feed["authors"])
    assert is_address(feed["home_page_url"])
    assert feed["feed_url"] == f"{feed['home_page_url']}feed.json"
    for one in feed["items"]:
        assert isinstance(one["id"], str)
        assert one["content_html"]
        assert is_address(one["url"])
        assert is_address(one.get("image", URL))
        addresses = re.findall(r'(?:href|src)="([^"]*)"', one["content_html"])
        assert all(map(is_address, addresses))
    return feed


def is_address(text: str) -> bool:
    """Whether a text is a whole address, without characters that it may not have."""
    return re.fullmatch(r"https?://[a-z0-9.:-]+/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*", text) is not None


def read_content(entry: Mapping[str, str]) -> ET.Element:
    """The content of an entry as a tree."""
    return read_html(f"<div>{entry['content_html']}</div>")


def write_site(folder: Path, *pages: Mapping[str, object], title: str = "Made", **stated: object) -> Path:
    """A site as far as its feed needs it."""
    empty: dict[str, object] = {"description": None, "figures": [], "tables": []}
    report = {"format": 1, "pages": [{**empty, **one} for one in pages], **stated}
    folder.mkdir(exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report), "utf-8")
    (folder / "index.html").write_text(f'<html lang="de"><title>{title}</title></html>', "utf-8")
    for one in pages:
        (folder / str(one["path"])).with_suffix(".html").touch()
    return folder


def repack(version: FeedVersion, path: Path, change: Callable[[str], str], name: str = "") -> FeedVersion:
    """An archive of nothing but a changed ``report.json`` and its manifest."""
    with zipfile.ZipFile(version.archive) as file:
        content = change(file.read("report.json").decode()).encode()
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("report.json", content)
        file.writestr(intact.MANIFEST, f"{hashlib.sha256(content).hexdigest()}  report.json\n")
    return FeedVersion(name or version.name, path, version.date, version.commit)


# ---- what feeds say


def test_a_feed_says_what_became_of_the_results(published: Published) -> None:
    """Between two versions: the number that moved and the claim that became false, in the title already."""
    feeds = published.make()
    assert feeds.left_out == ()
    entries = read_entries(feeds)
    assert list(entries) == [
        "MATH500",
        "1.2: no number and no statement changed",
        "1.1: MEL 0.82 → 0.84 on MATH500; 1 claim became false",
        "The same again",
    ]
    changed = entries["1.1: MEL 0.82 → 0.84 on MATH500; 1 claim became false"]
    assert changed["url"] == f"{URL}v/1.1/"
    assert changed["date_published"] == "2026-11-19T00:00:00+00:00"
    assert "Differences are not tested" in changed["summary"]
    tree = read_content(changed)
    (item,) = tree.iter("li")
    assert "“MEL stays below 0.83” on MATH500: claim became false, because the data changed" in words(item)
    rows = table_rows(tree)
    assert rows[1][:3] == ["MEL", "accuracy", "MATH500"]
    assert (rows[1][3][:5], rows[1][4][:5], rows[1][5]) == ("0.82 ", "0.84 ", "+0.02")
    assert f'<a href="{URL}v/1.0/">1.0</a>' in changed["content_html"]
    assert "01234567" in changed["content_html"]
    assert entries["1.2: no number and no statement changed"]["summary"].startswith("Numbers: ")


def test_a_dated_page_is_an_entry_with_its_picture_and_table(published: Published) -> None:
    """The summary, the picture as a file of the site, no SVG, and the numbers of the first table."""
    entry = read_entries(published.make())["MATH500"]
    assert entry["url"] == f"{URL}math500/"
    assert entry["summary"] == "MEL ends above GRPO."
    assert entry["date_published"] == "2026-11-20T00:00:00+00:00"
    assert (published.main / entry["image"].removeprefix(URL)).is_file()
    content = entry["content_html"]
    assert f'<img src="{entry["image"]}" alt="' in content
    assert "<svg" not in content
    pages = json.loads((published.main / "report.json").read_text("utf-8"))["pages"]
    (table,) = next(one["tables"] for one in pages if one["path"] == "math500.md")
    shown = [[cell["text"] for cell in row] for row in table["rows"]]
    assert table_rows(read_content(entry)) == [table["header"], *shown]


def test_a_feed_names_the_site_and_who_wrote_it(published: Published) -> None:
    """Title and authors are those of the report, the address is where it is published."""
    feed = check_json_feed(published.make().json)
    assert feed["title"] == "Scaling & more"
    assert feed["authors"] == [{"name": "Ada Lovelace"}, {"name": "Example Lab"}]
    assert feed["language"] == "en"
    root = check_atom(published.make().atom)
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == "en"


def test_the_same_input_gives_the_same_bytes(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in another folder and with an empty cache."""
    first = published.make()
    monkeypatch.setenv("REPORTGEN_CACHE_DIR", str(tmp_path / "cache"))
    copy = shutil.copytree(published.main, tmp_path / "elsewhere" / "main")
    assert Published(copy, published.versions).make() == first


def test_versions_are_compared_once(published: Published, tmp_path: Path) -> None:
    """A second assembly finds the answer by the identities of both archives; the site has nothing of it."""
    main = write_site(tmp_path / "site")
    before, after = (
        repack(one, tmp_path / f"{one.name}.zip", lambda text: text) for one in published.versions[:2]
    )
    first = make_feeds(main, (before, after), URL)
    with zipfile.ZipFile(after.archive) as file:
        manifest = file.read(intact.MANIFEST)
    with zipfile.ZipFile(after.archive, "w") as file:
        file.writestr(intact.MANIFEST, manifest)
    assert make_feeds(main, (before, after), URL) == first
    assert sorted(path.name for path in main.iterdir()) == ["index.html", "report.json"]


# ---- ids


def list_ids(published: Published, base_url: str = URL) -> list[str]:
    """The ids of a feed and its entries."""
    root = check_atom(published.make(base_url).atom)
    return [one.text or "" for one in root.iter(f"{ATOM}id")]


def test_ids_stay_when_the_repository_or_a_title_is_another(published: Published, tmp_path: Path) -> None:
    """Neither the address below the host nor a page's title or date is in an id."""
    ids = list_ids(published)
    assert ids[1] == "tag:lab.github.io,2026:Scaling%20%26%20more/pages/math500.md"
    assert list_ids(published, "https://lab.github.io/renamed/") == ids
    assert list_ids(published, "http://lab.github.io:80") == ids
    main = shutil.copytree(published.main, tmp_path / "site")
    text = (main / "report.json").read_text("utf-8").replace('"title": "MATH500"', '"title": "Mathematics"')
    (main / "report.json").write_text(text.replace('"date": "2026-11-20"', '"date": "2026-11-21"'), "utf-8")
    other = Published(main, published.versions)
    assert "Mathematics" in read_entries(other.make())
    assert list_ids(other) == ids


def test_ids_stay_on_another_host_with_a_feed_id(published: Published, tmp_path: Path) -> None:
    """Whoever moves to a domain sets what the ids began with; without, readers see every entry anew."""
    elsewhere = "https://results.example.org/"
    assert set(list_ids(published, elsewhere)).isdisjoint(list_ids(published))
    main = shutil.copytree(published.main, tmp_path / "site")
    report = json.loads((main / "report.json").read_text("utf-8"))
    report["feed_id"] = list_ids(published)[0]
    (main / "report.json").write_text(json.dumps(report), "utf-8")
    assert list_ids(Published(main, published.versions), elsewhere) == list_ids(published)


def test_a_feed_id_is_in_the_report(tmp_path: Path) -> None:
    """What mkdocs.yml says becomes part of report.json."""
    options = "[{reportgen: {feed_id: 'tag:example.org,2026-11:runs/7'}}]"
    root = write_report(tmp_path, {"mkdocs.yml": SETTINGS.replace("[reportgen]", options)})
    invoke("build", "-f", root / "mkdocs.yml")
    assert (
        json.loads((root / "site/report.json").read_text("utf-8"))["feed_id"]
        == "tag:example.org,2026-11:runs/7"
    )


def test_two_reports_of_one_host_have_different_ids(tmp_path: Path) -> None:
    """Pages of the same path on the same day, in two repositories of one organization."""
    page = {"path": "index.md", "title": "Home", "date": "2026-11-20"}
    sites = [write_site(tmp_path / one, page, title=one) for one in ("first", "second")]
    assert len({one for site in sites for one in list_ids(Published(site, ()))}) == 4


def test_a_page_and_a_version_of_one_name_have_different_ids(published: Published, tmp_path: Path) -> None:
    """A page may be called as a version is."""
    main = write_site(tmp_path / "site", {"path": "1.1", "title": "Page", "date": "2026-11-20"})
    assert len(list_ids(Published(main, published.versions[:2]))) == 3


# ---- what is left out


def test_without_an_address_there_is_no_feed(published: Published) -> None:
    """A feed needs whole addresses."""
    assert make_feeds(published.main, published.versions, "") is None


def test_without_an_entry_there_is_no_file(published: Published, tmp_path: Path) -> None:
    """A feed without a date is not valid; the first version alone is no change."""
    main = write_site(tmp_path / "site", {"path": "index.md", "title": "Home"})
    assert make_feeds(main, published.versions[:1], URL) == Feeds(b"", b"", ())


def test_versions_without_a_date_are_named_once(published: Published) -> None:
    """One sentence about all of them; nothing is dated by the clock."""
    versions = tuple(FeedVersion(one.name, one.archive, "", "") for one in published.versions)
    feeds = Published(published.main, versions).make()
    assert feeds.left_out == (
        "what changed in versions 1.1 and 1.2 is not in the feed, since they have no date",
    )
    assert list(read_entries(feeds)) == ["MATH500", "The same again"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"format": 1', '"format": 99'), "format 99"),
        (lambda text: text.replace('"pages"', '"sides"'), "'pages'"),
        (lambda text: text[:-9], "cannot be compared"),
        (lambda _text: "[" * 100_000, "cannot be compared"),
        (lambda _text: "null", "cannot be compared"),
    ],
    ids=["another format", "without pages", "cut", "nested", "no report"],
)
def test_a_version_of_a_foreign_format_is_left_out_and_named(
    published: Published, tmp_path: Path, change: Callable[[str], str], said: str
) -> None:
    """The entries of the other versions and pages are there."""
    first, second, third = published.versions
    foreign = repack(third, tmp_path / "foreign.zip", change, "2.0")
    feeds = Published(published.main, (first, second, foreign)).make()
    (reason,) = feeds.left_out
    assert reason.startswith("what changed in version 2.0 is not in the feed. foreign.zip/report.json: ")
    assert said in reason
    assert len(read_entries(feeds)) == 3


def test_a_file_that_is_no_archive_is_left_out_and_named(published: Published, tmp_path: Path) -> None:
    """Both changes that need it are."""
    first, second, third = published.versions
    (tmp_path / "broken.zip").write_bytes(b"PK")
    broken = FeedVersion("1.1", tmp_path / "broken.zip", second.date, "")
    left_out = Published(published.main, (first, broken, third)).make().left_out
    assert [one.partition(" is not")[0] for one in left_out] == [
        "what changed in version 1.2",
        "what changed in version 1.1",
    ]


def test_a_page_that_the_site_does_not_have_is_named(tmp_path: Path) -> None:
    """A link that leads nowhere is no entry."""
    main = write_site(tmp_path / "site", {"path": "gone.md", "title": "Gone", "date": "2026-11-20"})
    (main / "gone.html").unlink()
    feeds = make_feeds(main, (), URL)
    assert feeds == Feeds(
        b"", b"", ("page gone.md is not in the feed: the site does not have it where MkDocs puts it",)
    )


def test_of_ten_thousand_entries_the_newest_fifty_are_in_the_feed(tmp_path: Path) -> None:
    """By date and then by id; older ones are not even compared, as their archives are not there."""
    days = [
        f"20{year:02}-{month:02}-{day:02}"
        for year in range(30)
        for month in range(1, 13)
        for day in range(1, 29)
    ]
    pages = [{"path": f"{n:05}.md", "title": f"Page {n}", "date": days[n]} for n in range(10_000)]
    pages += [{"path": f"{n}.md", "title": f"Last {n}", "date": days[9_999]} for n in "ba"]
    main = write_site(tmp_path / "site", *pages)
    versions = [FeedVersion(f"0.{n}", tmp_path / "none.zip", days[n], "") for n in range(5_000)]
    feeds = Published(main, tuple(versions)).make()
    assert feeds.left_out == ()
    titles = list(read_entries(feeds))
    assert len(titles) == MOST_ENTRIES
    assert titles[:4] == ["Page 9999", "Last a", "Last b", "Page 9998"]


# ---- addresses


@pytest.mark.parametrize(
    ("path", "file", "address"),
    [
        ("index.md", "index.html", ""),
        ("README.md", "index.html", ""),
        ("a/index.md", "a/index.html", "a/"),
        ("a/v1.0.md", "a/v1.0/index.html", "a/v1.0/"),
        ("a/b.md", "a/b.html", "a/b.html"),
        ("two words/ß?.md", "two words/ß?/index.html", "two%20words/%C3%9F%3F/"),
    ],
)
def test_a_page_is_linked_where_mkdocs_puts_it(tmp_path: Path, path: str, file: str, address: str) -> None:
    """With and without folders as addresses, and with characters that addresses have to encode."""
    main = write_site(tmp_path / "site", title="Made")
    report: dict[str, object] = {
        "path": path,
        "title": "Page",
        "date": "2026-11-20",
        "description": None,
        "figures": [],
        "tables": [],
    }
    (main / "report.json").write_text(json.dumps({"format": 1, "pages": [report]}), "utf-8")
    (main / file).parent.mkdir(parents=True, exist_ok=True)
    (main / file).touch()
    assert read_entries(Published(main, ()).make())["Page"]["url"] == f"{URL}{address}"


@pytest.mark.parametrize("base", ["https://lab.github.io/a b", "https://lab.github.io/a%20b/"])
def test_a_base_with_a_space_is_encoded_once(published: Published, base: str) -> None:
    """Whether it was encoded before or not."""
    feed = check_json_feed(published.make(base).json)
    assert feed["home_page_url"] == "https://lab.github.io/a%20b/"
    assert {urlsplit(unquote(one["url"])).path.partition("/a b/")[0] for one in feed["items"]} == {""}


@pytest.mark.parametrize(
    "base", ["lab.github.io", "ftp://lab.github.io/", "https://", "https://[::1/", "/report/"]
)
def test_a_base_that_is_no_address_is_an_error(published: Published, base: str) -> None:
    """With what to write in its place."""
    with pytest.raises(ReportError, match=r"no address of a site.*https://example.org/report/"):
        make_feeds(published.main, published.versions, base)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"format": 2, "pages": []}', "{}"])
def test_a_folder_that_is_no_site_is_an_error(tmp_path: Path, text: str | None) -> None:
    """A site of another version has to be built again."""
    main = write_site(tmp_path / "site")
    (main / "report.json").unlink() if text is None else (main / "report.json").write_text(text)
    with pytest.raises(ReportError, match="no site of this version of reportgen"):
        make_feeds(main, (), URL)


# ---- foreign characters

HOSTILE = {
    "emoji": ("👩‍🔬 wins 🏳️‍🌈", "👩‍🔬 wins 🏳️‍🌈"),
    "end of CDATA": ("a ]]> b <b>&amp;</b> \" '", "a ]]> b <b>&amp;</b> \" '"),
    "control": ("a\0b\x1bc\ufffed", "a�b�c�d"),
    "surrogate": ("a\ud800b", "a�b"),
    "lines": ("a\r\n\tb", "a b"),
    "right to left": ("שלום 0.82", "שלום 0.82"),
    "turned": ("\u202eevil\u202c\u2066x\u2069", "evilx"),
}


@pytest.mark.parametrize(("title", "shown"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_title_of_any_characters_is_shown_as_it_is(tmp_path: Path, title: str, shown: str) -> None:
    """In the title, the summary, the table and the picture's text, which no character ends."""
    table = {"title": title, "header": [title], "rows": [[{"text": title, "value": None}]] * 25}
    page = {"path": "a.md", "title": title, "date": "2026-11-20", "description": title, "tables": [table]}
    main = write_site(tmp_path / "site", page | {"figures": [{"summary": title}]}, authors=[title])
    (main / "figures/a").mkdir(parents=True)
    (main / "figures/a/card.png").touch()
    feeds = Published(main, ()).make()
    entry = read_entries(feeds)[shown]
    assert entry["summary"] == shown
    tree = read_content(entry)
    assert [one.text for one in tree.iter("caption")] == [shown]
    assert [one.text for one in tree.iter("td")] == [shown] * 20
    assert "5 more rows" in words(tree)
    assert [one.get("alt") for one in tree.iter("img")] == [shown]
    assert check_json_feed(feeds.json)["authors"] == [{"name": shown}]


def test_a_right_to_left_name_does_not_turn_its_numbers(published: Published, tmp_path: Path) -> None:
    """Before and after would be shown the wrong way round."""
    main = write_site(tmp_path / "site")
    versions = [
        repack(one, tmp_path / f"{one.name}.zip", lambda text: text.replace('"MEL"', '"שלום"'))
        for one in published.versions[:2]
    ]
    (title,) = read_entries(Published(main, tuple(versions)).make())
    assert title == "1.1: \u2068שלום\u2069 0.82 → 0.84 on MATH500; 1 claim became false"  # noqa: RUF001


# ---- what changed, in words


def describe(published: Published, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """The title of what changed from version 1.0 to a changed one."""

    def edit(text: str) -> str:
        report = json.loads(text)
        change(report)
        return json.dumps(report)

    first = published.versions[0]
    other = repack(published.versions[1], tmp_path / "other.zip", edit)
    original = repack(first, tmp_path / "first.zip", lambda text: text)
    (title,) = read_entries(Published(write_site(tmp_path / "site"), (original, other)).make())
    return title


def test_another_quantity_is_no_change_of_a_number(published: Published, tmp_path: Path) -> None:
    """A number that is defined differently is not comparable, and its two values are no headline."""

    def redefine(report: dict[str, Any]) -> None:
        for page in report["pages"]:
            for figure in page["figures"]:
                figure["numbers"]["smooth"] = 0.9

    assert describe(published, tmp_path, redefine) == "1.1: 1 claim became false"


def test_new_numbers_are_counted_where_none_moved(published: Published, tmp_path: Path) -> None:
    """A series that one version did not have."""

    def rename(report: dict[str, Any]) -> None:
        for page in report["pages"]:
            page["statements"] = []
            page["figures"] = [
                {**one, "numbers": json.loads(json.dumps(one["numbers"]).replace('"MEL"', '"MEL-2"'))}
                for one in page["figures"]
            ]

    assert describe(published, tmp_path, rename) == "1.1: 2 numbers are new, 2 numbers are gone"


def test_many_changed_numbers_and_statements_are_cut(published: Published, tmp_path: Path) -> None:
    """A reader gets the first of them, and how many there are."""

    def add_series(report: dict[str, Any], value: float, truth: str) -> None:
        page = next(one for one in report["pages"] if one["path"] == "math500.md")
        series, statement = page["figures"][0]["numbers"]["series"], page["statements"][0]
        last = series[0]["last"]
        series[:] = [{**series[0], "name": f"s{n}", "last": {**last, "value": value + n}} for n in range(30)]
        own = {"truth": truth, "as_expected": truth == "holds"}
        page["statements"] = [{**statement, **own, "number": n, "words": f"w{n}"} for n in range(30)]

    def edit(text: str, value: float, truth: str) -> str:
        report = json.loads(text)
        add_series(report, value, truth)
        return json.dumps(report)

    sides = ((0.5, "holds"), (0.625, "fails"))
    versions = [
        repack(one, tmp_path / f"{one.name}.zip", lambda text, side=side: edit(text, *side))  # type: ignore[misc]
        for one, side in zip(published.versions, sides, strict=False)
    ]
    ((title, entry),) = read_entries(Published(write_site(tmp_path / "site"), tuple(versions)).make()).items()
    assert re.fullmatch(
        r"1\.1: s0 0\.50\d* → 0\.63 on MATH500, 3\d other numbers changed; 30 claims became false", title
    )
    tree = read_content(entry)
    assert len(list(tree.iter("li"))) == 21
    assert "and 10 more" in words(tree)
    assert len(table_rows(tree)) == 21


# ---- the date of a page


def test_a_page_shows_when_it_was_published(published: Published) -> None:
    """Under its title, for link previews and in report.json; a search does not find it."""
    page = (published.main / "math500/index.html").read_text("utf-8")
    assert page.count('<time datetime="2026-11-20">2026-11-20</time>') == 1
    assert page.index("</h1>") < page.index("<time ") < page.index("<figure")
    assert '<meta property="article:published_time" content="2026-11-20">' in page
    again = (published.main / "again/index.html").read_text("utf-8")
    assert '<time datetime="2026-11-18T23:30:00+01:00">2026-11-18</time>' in again
    assert "<time " not in (published.main / "index.html").read_text("utf-8")
    assert "2026-11" not in (published.main / "search/texts-0.js").read_text("utf-8")
    pages = json.loads((published.main / "report.json").read_text("utf-8"))["pages"]
    assert {one["path"]: one.get("date") for one in pages} == {
        "index.md": None,
        "math500.md": "2026-11-20",
        "again.md": "2026-11-18T23:30:00+01:00",
    }
    # When it was measured is another thing.
    assert re.search(r"Date: <span[^>]*>May 2026<", page)


@pytest.mark.parametrize(
    "written",
    ["20.11.2026", "2026", "2026-13-01", "2026-02-30", "20261120", "2026-W47-5", "2026-11-20T09:30", "today",
     "2026-11-20T09:30:00+25:00", "\u0662026-11-20", "{created: 2026-11-20}"],
)  # fmt: skip
def test_a_date_that_is_none_is_an_error_with_its_line(tmp_path: Path, written: str) -> None:
    """Also one without offset, which would be another moment elsewhere."""
    page = f"---\ntitle: Page\ndate: {written}\n---\n# Page\n"
    root = write_report(tmp_path, {"content/other.md": page})
    done = CliRunner().invoke(cli, ["check", "-f", str(root / "mkdocs.yml")])
    assert done.exit_code == 1
    output = " ".join(done.output.split())
    assert "content/other.md:3" in output
    assert "such as 2026-11-20" in output


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-11-20", "2026-11-20"),
        ("'2026-11-20'", "2026-11-20"),
        ("2026-11-20T09:30:00Z", "2026-11-20T09:30:00+00:00"),
        ("2026-11-20 09:30-05:00", "2026-11-20T09:30:00-05:00"),
    ],
)
def test_a_date_is_written_in_one_form(tmp_path: Path, written: str, shown: str) -> None:
    """As HTML and RFC 3339 want it."""
    root = write_report(tmp_path, {"content/other.md": f"---\ndate: {written}\n---\n# Other\n"})
    invoke("build", "-f", root / "mkdocs.yml")
    assert f'<time datetime="{shown}">2026-11-20<' in (root / "site/other/index.html").read_text("utf-8")


@pytest.mark.parametrize(
    "written", ["scaling", "tag:example.org:x", "'tag:example.org,2026:'", "'tag:a b,2026:x'", "tag:a,26:x"]
)
def test_a_feed_id_that_is_no_tag_uri_is_an_error(tmp_path: Path, written: str) -> None:
    """With the form of one."""
    options = f"\n  - reportgen:\n      feed_id: {written}"
    root = write_report(tmp_path, {"mkdocs.yml": SETTINGS.replace(" [reportgen]", options)})
    done = CliRunner().invoke(cli, ["check", "-f", str(root / "mkdocs.yml")])
    assert done.exit_code == 1
    assert "tag:example.org,2026:scaling" in " ".join(done.output.split())
