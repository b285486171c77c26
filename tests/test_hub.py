"""A hub of reports: each keeps its bytes, only what changed is written, and a broken one stays as it was."""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from command_line import call
from limited_disk import NO_SPACE, limited_disk
from made_archives import CITED, REPORT, archive, commit
from made_hubs import URL, list_hub, make_page, make_report, make_score, read_record, update, write_hub
from made_projects import files_below, write_file, write_report
from made_sites import pack_archive, pack_site, write_site

from reportgen.core.cache import cache_folder
from reportgen.hub.updating import update_hub
from reportgen.site.replacing.records import record_folder

if TYPE_CHECKING:
    from collections.abc import Callable

ATOM = "{http://www.w3.org/2005/Atom}"


def first() -> dict[str, bytes]:
    """A report."""
    return make_report("First", make_page(make_score("MEL", 0.8), statements=(True, True)), version="1.0")


def second() -> dict[str, bytes]:
    """Another one, with a statement that is not as expected."""
    page = make_page(make_score("GRPO", 0.7), statements=(True, False))
    return make_report("Second", page, date="2026-11-21", doi="10.5281/zenodo.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a hub of two reports, published."""
    write_hub(tmp_path, {"one": first(), "two": second()}, {"one": "Red", "two": "Blue"})
    assert update(tmp_path)[0] == 0
    return tmp_path


def list_times(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file each path is, and when it was written."""
    paths = [path for path in (folder / "public").rglob("*") if path.is_file()]
    return {
        path.relative_to(folder / "public").as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in paths
    }


def find_written(folder: Path, before: dict[str, tuple[int, int]]) -> set[str]:
    """The files that are new, changed or gone."""
    after = list_times(folder)
    return {path for path in before | after if before.get(path) != after.get(path)}


def test_each_report_keeps_its_bytes(folder: Path) -> None:
    """A built site is published as it is, and the record says what it is."""
    assert files_below(folder / "public/r/one") == first()
    assert files_below(folder / "public/r/two") == second()
    record = read_record(folder)
    assert record["one"]["version"] == "1.0"
    assert record["two"] == {
        "name": "two",
        "team": "Blue",
        "path": "r/two/",
        "title": "Second",
        "version": None,
        "date": "2026-11-21",
        "doi": "10.5281/zenodo.1",
        "commit": "a" * 40,
        "report_sha256": record["two"]["report_sha256"],
        "statements": 2,
        "statements_not_as_expected": 1,
        "versions": [],
        "problem": None,
    }


def test_the_index_lists_teams_benchmarks_and_statements(folder: Path) -> None:
    """A reader sees what there is, and what is not as expected."""
    index = (folder / "public/index.html").read_text("utf-8")
    for words in (
        "2 reports of 2 teams on 1 benchmark.",
        "1 of 2 statements not as expected",
        "2 statements as expected",
        "version <bdi>1.0",
    ):
        assert words in index, words
    assert 'href="team-red.html"' in index
    assert 'href="benchmark-contest.html"' in index
    assert (folder / "public/team-red.html").is_file()


def test_nothing_is_written_where_nothing_changed(folder: Path) -> None:
    """Also with an empty cache, where everything is read and compared."""
    before = list_times(folder)
    code, said = update(folder)
    assert (code, "nothing changed; 0 files written" in said) == (0, True)
    shutil.rmtree(cache_folder(folder.resolve()))
    cache_folder.cache_clear()
    assert update(folder)[0] == 0
    assert find_written(folder, before) == set()


def test_the_same_input_gives_the_same_bytes(folder: Path) -> None:
    """Whatever was published in between."""
    write_site(folder / "one", first() | {"a/index.html": b"<title>A</title>changed"})
    update(folder)
    write_site(folder / "one", first())
    update(folder)
    assert update(folder, "other")[0] == 0
    assert files_below(folder / "public") == files_below(folder / "other")


def test_only_files_of_a_changed_report_are_written(folder: Path) -> None:
    """What is the same in it stays the same file, and so does the page of the other team."""
    before = list_times(folder)
    changed = make_report("First, again", make_page(make_score("MEL", 0.9)), version="1.0")
    write_site(folder / "one", changed)
    code, said = update(folder)
    assert (code, "1 changed (one)" in said) == (0, True)
    assert find_written(folder, before) == {
        *("r/one/index.html", "r/one/report.json"),
        *("index.html", "team-red.html", "benchmark-contest.html", "search/titles.js", "hub.json"),
        *("feed.xml", "feed.json"),
    }
    assert files_below(folder / "public/r/one") == changed


def test_an_added_report_leaves_the_others(folder: Path) -> None:
    """Only its files and those about all reports are written."""
    before = list_times(folder)
    third = make_report("Third", make_page(title="Elsewhere"))
    write_hub(
        folder,
        {"one": first(), "three": third, "two": second()},
        {"one": "Red", "two": "Blue", "three": "Red"},
    )
    # Writing a site again changes the times of its files, and not its bytes.
    code, said = update(folder)
    assert (code, "1 new (three)" in said) == (0, True)
    written = find_written(folder, before)
    assert {path for path in written if path.startswith("r/")} == {f"r/three/{path}" for path in third}
    assert {path for path in written if not path.startswith("r/")} == {
        *("index.html", "team-red.html", "search/titles.js", "hub.json", "feed.xml", "feed.json")
    }


def test_an_update_writes_what_a_new_hub_has(folder: Path) -> None:
    """Whichever fact of a report changed: each of them is somewhere on the pages, which are made anew."""

    def make(
        title: str = "Third", date: str = "2026-11-22", value: float = 0.6, half: float = 0.1, name: str = "c"
    ) -> None:
        page = make_page(make_score(name, value, half), statements=(True,))
        write_site(folder / "three", make_report(title, page, date=date))

    names = ("one", "two", "three")
    changes: tuple[Callable[[], object], ...] = (
        make,
        lambda: make("Third, renamed"),
        lambda: make(date="2026-11-23"),
        lambda: make(value=0.9),
        lambda: make(half=0.2),
        lambda: make(name="another"),
        lambda: write_site(folder / "three", make_report("Third", date="2026-11-22")),
    )
    for number, change in enumerate(changes):
        change()
        list_hub(folder, [{"name": one, "from": one, "team": "Red"} for one in names])
        assert update(folder)[0] == 0
        assert update(folder, f"new-{number}")[0] == 0
        assert files_below(folder / "public") == files_below(folder / f"new-{number}")


def test_a_removed_report_disappears(folder: Path) -> None:
    """With the pages of its team, and from every list."""
    list_hub(folder, [{"name": "one", "from": "one", "team": "Red"}])
    code, said = update(folder)
    assert (code, "1 removed (two)" in said) == (0, True)
    assert not (folder / "public/r/two").exists()
    assert not (folder / "public/team-blue.html").exists()
    assert all(b"Second" not in content for content in files_below(folder / "public").values())


def test_a_broken_report_stays_as_it_was(folder: Path) -> None:
    """It is named by the command, by its index and in the record, until it is whole again."""
    was = files_below(folder / "public/r/two")
    (folder / "two/report.json").write_bytes(b"{")
    hub = (folder / "hub.yml").read_text("utf-8")
    for _ in range(2):  # from what was read, and from what is known of it
        code, said = update(folder)
        assert code == 3
        line = 1 + hub.split('"name": "two"')[0].count("\n")
        assert (
            f"hub.yml:{line}:12: two is shown as last published. two/report.json: reportgen did not write"
            in said
        )
        assert "1 not up to date" in said
    assert files_below(folder / "public/r/two") == was
    index = (folder / "public/index.html").read_text("utf-8")
    assert "Not up to date" in index
    assert 'Second</a> is shown as last published, of <span class="rg-hub-date">2026-11-21</span>.' in index
    assert "reportgen did not write it" in str(read_record(folder)["two"]["problem"])
    write_site(folder / "two", second())
    assert update(folder)[0] == 0
    assert "Not up to date" not in (folder / "public/index.html").read_text("utf-8")


def test_a_hub_that_nothing_is_known_of_is_not_changed(folder: Path) -> None:
    """With an empty cache, nobody can say who wrote what is there."""
    was = files_below(folder / "public")
    shutil.rmtree(cache_folder(folder.resolve()))
    cache_folder.cache_clear()
    write_site(folder / "one", make_report("First, again"))
    code, said = update(folder)
    assert (code, files_below(folder / "public")) == (1, was)
    assert "did not write when it last ran here" in said
    shutil.rmtree(folder / "public")
    assert update(folder)[0] == 0


def break_format(folder: Path) -> None:
    """A report of another format."""
    write_site(folder, make_report("Newer", format=2))


def break_source(folder: Path) -> None:
    """The source of a report."""
    write_file(folder / "mkdocs.yml", "site_name: Source\n")


def break_link(folder: Path) -> None:
    """A site with a link."""
    write_site(folder, first())
    (folder / "link").symlink_to("/etc/passwd")


def break_pages(folder: Path) -> None:
    """A report whose pages are no pages."""
    write_site(folder, make_report("Odd", {"path": 7}))


def break_number(folder: Path) -> None:
    """A report with a score that JSON does not have."""
    write_site(folder, make_report("Odd", make_page(make_score("A", float("nan")))))


def break_missing(folder: Path) -> None:
    """A site without ``report.json``."""
    write_site(folder, {name: content for name, content in first().items() if name != "report.json"})


@pytest.mark.parametrize(
    ("break_report", "words"),
    [
        (break_format, "it has format 2, and this reportgen reads format 1. Update reportgen"),
        (
            break_source,
            "the source of a report, not its site. Build it with reportgen build -f bad/mkdocs.yml",
        ),
        (break_link, "link: this is a link, or no file. Put a copy"),
        (break_pages, "bad/report.json: it cannot be read (TypeError"),
        (break_number, "bad/report.json: it cannot be read (ValueError"),
        (break_missing, "there is no report.json"),
    ],
)
def test_what_is_no_report_is_named(folder: Path, break_report: Callable[[Path], None], words: str) -> None:
    """With the next step, and without harm to the others."""
    break_report(folder / "bad")
    names = ("bad", "one", "two")
    list_hub(folder, [{"name": name, "from": name} for name in names])
    code, said = update(folder)
    assert code == 3
    assert "bad was never published." in said
    assert words in said
    assert files_below(folder / "public/r/one") == first()
    assert not (folder / "public/r/bad").exists()


def test_archives_are_checked_file_by_file(folder: Path) -> None:
    """An archive's site is published, and one that was changed, cut or packed by somebody else is not."""
    pack_archive(folder / "good.zip", first())
    pack_archive(folder / "changed.zip", first(), **{"site/a/index.html": b"other words"})
    pack_archive(folder / "added.zip", first(), **{"site/more.html": b"more"})
    pack_site(folder / "bare.zip", {"manifest-sha256.txt": f"{'0' * 64}  a\n".encode()})
    pack_site(folder / "up.zip", {**first(), "../../out.html": b"out"})
    pack_site(folder / "twin.zip", {**first(), "a/index.html/x": b"a folder and a file"})
    (folder / "cut.zip").write_bytes((folder / "good.zip").read_bytes()[:-100])
    names = ("good", "changed", "added", "bare", "up", "twin", "cut")
    list_hub(folder, [{"name": name, "from": f"{name}.zip"} for name in names])
    code, said = update(folder)
    assert code == 3
    assert files_below(folder / "public/r/good") == first()
    assert [path.name for path in (folder / "public/r").iterdir()] == ["good"]
    for words in (
        "changed.zip/a/index.html: it has changed since it was archived",
        "added.zip/more.html: it has changed since it was archived",
        "bare.zip: this archive has no site. Archive the report with --site",
        "up.zip: '../../out.html': a name that leads elsewhere",
        "twin.zip/a/index.html",
        "cut.zip: this is no whole zip file",
    ):
        assert words in said, words
    assert not (folder.parent / "out.html").exists()


def test_an_archive_says_which_version_it_is(tmp_path: Path) -> None:
    """A real one with another version than that of its site, packed and unpacked."""
    report = commit(write_report(tmp_path / "report", REPORT | {"mkdocs.yml": CITED}))
    packed = archive(report, "a.zip", "--site", "--version", "2.0")
    with zipfile.ZipFile(packed) as file:
        file.extractall(tmp_path / "unpacked")
    sources = {"built": "report/site", "packed": packed.name, "unpacked": "unpacked"}
    list_hub(tmp_path, [{"name": name, "from": source} for name, source in sources.items()])
    assert update(tmp_path)[0] == 0
    record = read_record(tmp_path)
    assert {name: one["version"] for name, one in record.items()} == {
        "built": "1.0",
        "packed": "2.0",
        "unpacked": "2.0",
    }
    assert {one["doi"] for one in record.values()} == {"10.5281/zenodo.1234567"}
    for name in sources:
        assert files_below(tmp_path / "public/r" / name) == files_below(report / "site")


def test_earlier_versions_stay(tmp_path: Path) -> None:
    """As many as ``keep_versions`` says, the newest ones, as they were; the same version is replaced."""
    made: dict[str, dict[str, bytes]] = {}
    for version in ("1.0", "1.1", "1.2", "1.2", "2.0"):
        made[version] = make_report(f"Report {version} {len(made)}", version=version)
        write_hub(tmp_path, {"a": made[version]}, keep_versions=2)
        assert update(tmp_path)[0] == 0
    expected = made["2.0"] | {
        f"v/{version}/{path}": content
        for version in ("1.2", "1.1")
        for path, content in made[version].items()
    }
    assert files_below(tmp_path / "public/r/a") == expected
    assert read_record(tmp_path)["a"]["versions"] == ["1.2", "1.1"]
    write_hub(tmp_path, {"a": made["2.0"]}, keep_versions=1)
    assert update(tmp_path)[0] == 0
    assert read_record(tmp_path)["a"]["versions"] == ["1.2"]
    assert sorted(path.name for path in (tmp_path / "public/r/a/v").iterdir()) == ["1.2"]
    assert 'href="r/a/v/1.2/"' in (tmp_path / "public/index.html").read_text("utf-8")


def test_only_what_was_measured_in_one_way_is_compared(tmp_path: Path) -> None:
    """Another protocol, another level or none stated is no match, and is named."""
    page = make_page
    reports = {
        "a": make_report("Alpha", page(make_score("MEL", 0.5), make_score("SFT", 0.25, None))),
        "b": make_report("Beta", page(make_score("GRPO", 0.75, 0.05))),
        "c": make_report("Gamma", page(make_score("DPO", 0.9), protocol={"harness": "another"})),
        "d": make_report("Delta", page(make_score("PPO", 0.9, level=0.9))),
        "e": make_report("Epsilon", page(make_score("RLOO", 0.9), protocol={})),
        "f": make_report("Zeta", page(make_score("RFT", 0.9), benchmark="Another")),
    }
    write_hub(tmp_path, reports)
    assert update(tmp_path)[0] == 0
    html = (tmp_path / "public/benchmark-contest.html").read_text("utf-8")
    table = html[html.index('id="compared-1"') : html.index('id="not-compared"')]
    assert [table.index(words) for words in ("GRPO", "MEL", "SFT")] == sorted(
        table.index(words) for words in ("GRPO", "MEL", "SFT")
    )
    assert not any(words in table for words in ("DPO", "PPO", "RLOO", "RFT"))
    assert "0.750 ± 0.050" in table
    assert "Protocol: <bdi>harness lm-eval 0.4.9, problem set c1206e5c6b53</bdi>." in table
    assert "Differences between reports are not tested" in table
    assert table.count("<line ") == 2  # one has no interval
    assert "Epsilon states no protocol for its scores." in html
    assert "Gamma and Delta have scores that no other report measured in the same way." in html
    assert "The highest of 3 scores that were measured in one way is GRPO 0.750 ± 0.050" in html


def test_curves_are_compared_by_their_last_value(tmp_path: Path) -> None:
    """If the page says how its benchmark was measured; where less is better, the lowest comes first."""

    def make(title: str, value: float, step: float) -> dict[str, bytes]:
        last = {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 3, "step": step}
        numbers = {"metric": "loss", "level": 0.95, "higher_is_better": False}
        numbers |= {"series": [{"name": f"Run of {title}", "last": last}]}
        page = make_page() | {"benchmark": {"name": "Held out", "facts": {"Protocol": "every 10 steps"}}}
        return make_report(title, page | {"figures": [{"id": "f", "title": "Loss", "numbers": numbers}]})

    write_hub(tmp_path, {"a": make("Alpha", 2.0, 100), "b": make("Beta", 1.0, 200)})
    assert update(tmp_path)[0] == 0
    html = (tmp_path / "public/benchmark-held-out.html").read_text("utf-8")
    assert html.index("Run of Beta") < html.index("Run of Alpha")
    assert "3 runs, at step 200" in html
    assert "The lowest of 2 scores that were measured in one way is Run of Beta 1.00 ± 0.10" in html


def test_the_feeds_have_the_newest_reports(folder: Path) -> None:
    """Both formats, with ids that last; another version is another entry."""
    feed = ET.fromstring((folder / "public/feed.xml").read_bytes())  # noqa: S314 - it is our own
    entries = feed.findall(f"{ATOM}entry")
    assert [one.findtext(f"{ATOM}title") for one in entries] == ["Second", "First 1.0"]
    assert entries[1].findtext(f"{ATOM}id") == "tag:lab.example,2026:Lab/reports/one/1.0"
    items = json.loads((folder / "public/feed.json").read_bytes())["items"]
    assert [one["url"] for one in items] == [f"{URL}r/two/", f"{URL}r/one/"]
    assert "1 of 2 statements are not as expected." in items[0]["content_html"]
    assert '<a href="https://lab.example/reports/r/one/a/">Contest</a>: MEL leads' in items[1]["content_html"]
    list_hub(folder, [{"name": "one", "from": "one"}], site_url=None)
    _, said = update(folder)
    assert "there is no feed: it needs site_url" in said
    assert not (folder / "public/feed.xml").exists()


def test_a_long_list_has_several_pages(tmp_path: Path) -> None:
    """Which disappear with what they list, and each report is on one of them."""
    reports = {f"r{number}": {"name": f"r{number}", "from": "one", "team": "Red"} for number in range(501)}
    write_site(tmp_path / "one", first())
    list_hub(tmp_path, list(reports.values()))
    assert update(tmp_path)[0] == 0
    pages = [
        (tmp_path / f"public/{name}").read_text("utf-8") for name in ("team-red.html", "team-red.2.html")
    ]
    assert [page.count("<tr><th scope=") - 1 for page in pages] == [500, 1]
    assert "501 reports, the newest first; here are 1 to 500." in pages[0]
    assert '<a href="team-red.2.html">2</a>' in pages[0]
    assert {name for name in reports for page in pages if f'href="r/{name}/"' in page} == reports.keys()
    list_hub(tmp_path, list(reports.values())[:500])
    assert update(tmp_path)[0] == 0
    assert not (tmp_path / "public/team-red.2.html").exists()


def test_a_hub_says_why_it_has_no_feed(tmp_path: Path) -> None:
    """Where it has an address, no report has a date."""
    write_hub(tmp_path, {"one": make_report("Undated", date="")})
    code, said = update(tmp_path)
    assert (code, "there is no feed: no report has a date. Commit a report before" in said) == (0, True), said
    assert not (tmp_path / "public/feed.xml").exists()


def test_names_are_text_wherever_they_are_shown(tmp_path: Path) -> None:
    """Markup in a title, a team, a benchmark or a series is not run by any page or script."""
    bad = "</script><img src=x onerror=alert(1)>\u2028"
    page = make_page(make_score(bad, 0.5), benchmark=bad, title=bad)
    site = make_report("A &lt;/script&gt;&lt;b&gt;", page)
    write_hub(tmp_path, {"a": site, "b": site}, {"a": bad, "b": bad}, title=bad)
    assert update(tmp_path)[0] == 0
    for path in (tmp_path / "public").glob("*.html"):
        assert "<img" not in path.read_text("utf-8"), path.name
    titles = (tmp_path / "public/search/titles.js").read_text("utf-8")
    assert not set("<\u2028") & set(titles)


def test_all_mistakes_in_a_hub_are_named_at_once(folder: Path) -> None:
    """Each with its line and the next step, and the hub stays as it was."""
    was = files_below(folder / "public")
    text = (
        "title: Lab\nsite_url: lab\nkeep: 3\nreports:\n"
        "- {name: one, from: one}\n- name: one\n  from: two\n- {name: ONE, from: two}\n"
        "- {name: ../up, from: two}\n- {name: three}\n- ../a.zip\n"
    )
    write_file(folder / "hub.yml", text)
    code, said = update(folder)
    assert code == 1
    for words in (
        'hub.yml:2:1: error: "lab" is not an address',
        'hub.yml:3:1: error: "keep" is not a key of hub.yml.',
        'hub.yml:6:9: error: "one" is also the name of the report on line 5. Give one of the',
        'hub.yml:8:10: error: "ONE" is the same on some systems as "one", the name of the report on line 5.',
        'hub.yml:9:4: error: "../up" cannot be the name of a folder',
        'hub.yml:10:3: error: item 5 of "reports" in hub.yml needs "from".',
        (
            'hub.yml:11:3: error: item 6 of "reports" must be keys and values, not "../a.zip". '
            "Write them as key: value; the keys are name, team and from."
        ),
        "7 problems; the hub was left as it was.",
    ):
        assert words in said, said
    assert files_below(folder / "public") == was


@pytest.mark.parametrize(
    "text", ["", "[]", "title: Lab\nreports: []\n", "title: Lab\nreports: {a: b}\n", "a: [b\n"]
)
def test_a_hub_without_reports_is_an_error(tmp_path: Path, text: str) -> None:
    """Not an empty site."""
    write_file(tmp_path / "hub.yml", text)
    code, said = update(tmp_path)
    assert (code, "hub.yml" in said, (tmp_path / "public").exists()) == (1, True, False)


def test_a_folder_of_something_else_is_refused(folder: Path) -> None:
    """As is one that holds a report, or is in one."""
    write_file(folder / "other/mine.txt", "mine")
    code, said = update(folder, "other")
    assert (code, files_below(folder / "other")) == (1, {"mine.txt": b"mine"})
    assert "it holds something that reportgen hub did not write" in said
    for place in ("one/public", "."):
        code, said = update(folder, place)
        assert (code, "Choose a folder of its own" in said) == (1, True)


def test_a_full_disk_leaves_the_old_hub(folder: Path) -> None:
    """Nothing is half-written, and nothing is left over."""
    was = files_below(folder / "public")
    write_site(folder / "one", make_report("First, again", files={"large.bin": "x" * 3_000_000}))
    with limited_disk(1_000_000):
        done = call(folder, "hub", "hub.yml", "--to", "public")
    assert done.returncode == 1
    assert NO_SPACE.search(done.stderr), done.stderr
    assert files_below(folder / "public") == was
    assert update(folder)[0] == 0
    assert (folder / "public/r/one/large.bin").stat().st_size == 3_000_000


@pytest.mark.parametrize("calls", range(8))
def test_a_failed_swap_is_undone(folder: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Whichever file cannot be put into its place, the old hub is there afterwards, to the byte."""
    was = files_below(folder / "public")
    write_site(folder / "one", make_report("First, again", version="1.1"))
    shutil.rmtree(folder / "two")
    list_hub(folder, [{"name": "one", "from": "one", "team": "New"}])
    replace, done = Path.replace, []

    def fail(self: Path, target: Path) -> Path:
        if "new" in self.parts:
            done.append(target)
            if len(done) > calls:
                monkeypatch.undo()
                raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    code, said = update(folder)
    if len(done) > calls:
        assert (code, "No space left on device. Free some space" in said) == (1, True)
        assert files_below(folder / "public") == was
    monkeypatch.undo()
    assert update(folder)[0] == 0
    assert update(folder, "other")[0] == 0
    assert read_record(folder)["one"]["title"] == "First, again"


def test_a_killed_update_is_cleaned_up(folder: Path) -> None:
    """A report that it had moved away returns, and what it had begun is gone."""
    was = files_below(folder / "public")
    left = folder / "public/.hub-999999999-0"
    (left / "old/r").mkdir(parents=True)
    (folder / "public/r/one").rename(left / "old/r/one")
    write_file(left / "new/r/one/index.html", "half of i")
    record_folder(left, cache_folder(folder.resolve()))
    assert update(folder)[0] == 0
    assert files_below(folder / "public") == was


def test_two_updates_at_once_are_refused(folder: Path) -> None:
    """The one that runs is named."""
    parent = os.getppid()
    (folder / f"public/.hub-{parent}-0").mkdir()
    code, said = update(folder)
    assert (code, f"process {parent} is writing this hub" in said) == (1, True)


def test_a_large_report_is_never_in_memory(tmp_path: Path) -> None:
    """Whether it is copied, compared or linked."""
    write_hub(tmp_path, {"a": first()})
    with (tmp_path / "a/large.bin").open("wb") as file:
        file.truncate(200_000_000)
    for changed in ("", "compared", "linked"):
        write_file(tmp_path / "a/words.txt", changed)
        tracemalloc.start()
        update_hub(tmp_path / "hub.yml", tmp_path / "public", lambda _done, _all: None)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        tracemalloc.stop()
    assert (tmp_path / "public/r/a/large.bin").stat().st_size == 200_000_000
    (tmp_path / "public/r/a/large.bin").unlink()


def test_a_report_that_changes_while_it_is_read_waits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of each state is never published."""
    was = files_below(folder / "public/r/one")
    write_site(folder / "one", make_report("First, again"))
    open_file = Path.open
    opened: list[Path] = []

    def change(self: Path, *words: str, **more: str) -> object:
        if self == folder / "one/index.html" and not opened:
            opened.append(self)
            write_file(folder / "one/late.html", "late")
        return open_file(self, *words, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", change)
    code, said = update(folder)
    assert (code, "one: it changed while it was read. Run this again." in said) == (3, True)
    assert files_below(folder / "public/r/one") == was
    assert update(folder)[0] == 0
    assert (folder / "public/r/one/late.html").is_file()
