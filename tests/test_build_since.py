"""``reportgen build --since``: each page of a site says what changed since another state of the report."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import pytest
from click.testing import CliRunner
from html_tree import classed, read_html, table_rows, words
from made_projects import RUNS, files_below, share_cache, write_file, write_report
from made_reviews import BASE, CHANGES, SETTINGS, TRAINING, write_state

from reportgen.cli.main import cli
from reportgen.review.model import read_review

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from xml.etree import ElementTree as ET

OURS = {"assets/reportgen/review.css", "assets/reportgen/favicon.svg"}
ADDED = {"review.html", "review.json", *OURS}
FALSE = "1 [a-z]+ became false"
SINCE = "What changed since base"


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state before every change, built, so that its cache has what all tests share."""
    root = write_state(tmp_path_factory.mktemp("drafted") / "base")
    build(root)
    return root


@pytest.fixture
def base(tmp_path: Path, drafted: Path) -> Path:
    """The state before the change."""
    return shutil.copytree(drafted, tmp_path / "base")


def build(root: Path, *options: str, code: int = 0) -> str:
    """Build a report in this process; returns what it prints."""
    done = CliRunner().invoke(cli, ["build", "-f", str(root / "mkdocs.yml"), *options])
    assert done.exit_code == code, done.output
    return done.output


def write_changed(base: Path, changes: Mapping[str, str | None]) -> Path:
    """The state after a change, beside the one before it."""
    root = base.with_name("report")
    share_cache(base, root)
    return write_state(root, changes)


def build_since(base: Path, changes: Mapping[str, str | None]) -> Path:
    """The site of the state after a change, which says what changed."""
    root = write_changed(base, changes)
    build(root, "--since", str(base))
    return root / "site"


def read_page(site: Path, name: str) -> ET.Element:
    """A page of a site: ``training``, or "" for the front page."""
    return read_html((site / name / "index.html").read_text("utf-8"))


def read_section(site: Path, name: str) -> str:
    """The words of a page's section, empty where it has none."""
    return " ".join(map(words, classed(read_page(site, name), "rg-changed")))


def find_dead_links(site: Path) -> list[str]:
    """Links in sections and notes to a file or an anchor that is not there."""
    dead = []
    for path in sorted(site.rglob("index.html")):
        page = read_html(path.read_text("utf-8"))
        parts = [*classed(page, "rg-changed"), *classed(page, "rg-since")]
        for address in (link.get("href", "") for part in parts for link in part.iter("a")):
            name, anchor = urldefrag(address)
            target = path.parent / unquote(name) if name else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and f'id="{anchor}"' not in target.read_text("utf-8")):
                dead.append(f"{path.relative_to(site)}: {address}")
    return dead


def test_a_changed_page_says_what_became_false_and_which_numbers_moved(base: Path) -> None:
    """Both findings, each number before and after with its verdict, and links to what changed."""
    site = build_since(base, CHANGES["claim-becomes-false"])
    page = read_page(site, "training")
    [section] = classed(page, "rg-changed")
    said = words(section)
    for expected in (
        f"{SINCE} No longer true MEL ends above GRPO",
        "Before holds: 0.7975 is above 0.722",
        "After fails: 0.7975 is not above 0.922",
        "Accuracy: changed in 1 of 2 series (before and after)",
        "Source training: 1 file changed",
    ):
        assert expected in said
    name, *cells = table_rows(section)[1]
    assert re.fullmatch(r"GRPO accuracy at (step )?30", name)
    assert cells == [
        "0.722 [0.711, 0.733]",
        "0.922 [0.911, 0.933]",
        "+0.200 [+0.188, +0.212]",
        "▲ higher, better p < 0.001 adjusted",
    ]
    [note] = classed(page, "rg-since")
    assert re.match(rf"Since base: {FALSE}", words(note))
    assert find_dead_links(site) == []


def test_other_pages_are_as_without_it(base: Path) -> None:
    """Not a byte of a page without a change is another, nor of report.json and the figures."""
    with_it = files_below(build_since(base, CHANGES["claim-becomes-false"]))
    build(base.with_name("report"), "--force")
    without = files_below(base.with_name("report") / "site")
    changed = {path for path in with_it if with_it[path] != without.get(path)}
    assert changed - {path for path in changed if path.startswith("search/")} == {
        *("index.html", "training/index.html", *ADDED),
    }
    assert with_it.keys() - without.keys() == ADDED
    read_review(with_it["review.json"])


def test_the_front_page_lists_all_pages(base: Path) -> None:
    """One line of counts, then changed and new pages with links, those that are gone, and its own text."""
    changes = {
        **CHANGES["claim-becomes-false"],
        **CHANGES["text-only"],
        "content/exam.md": None,
        "content/fresh.md": "# Fresh\n",
    }
    site = build_since(base, changes)
    front = read_section(site, "")
    assert re.match(rf"{SINCE} {FALSE}", front)
    assert "Fresh: New page." in front
    assert re.search(rf"Training: {FALSE}", front)
    assert "Exam: Gone." in front
    assert "On this page Text: 1 line added, 1" in front
    assert "Reviewed:" not in front
    assert "This page is new." in read_section(site, "fresh")
    assert find_dead_links(site) == []


def test_the_contents_list_the_section(base: Path) -> None:
    """It stands at the end, on the level of the other sections."""
    text = f"{BASE['content/training.md']}\n## Setup\n\nFour runs.\n"
    page = read_page(build_since(base, {"content/training.md": text}), "training")
    for contents in classed(page, "rg-toc"):
        links = [(words(link), link.get("href")) for link in contents.iter("a")]
        assert links == [("Figure 1. Accuracy", "#accuracy"), ("Setup", "#setup"), (SINCE, "#what-changed")]
    assert len(classed(page, "rg-toc")) == 2


def test_the_same_input_gives_the_same_bytes(base: Path) -> None:
    """Twice the same site, also from nothing; a build without --since leaves nothing of it."""
    site = build_since(base, CHANGES["scores-fall"])
    root = site.parent
    first = files_below(site)
    output = build(root, "--since", str(base))
    assert re.search(rf"\nSince base: {FALSE}", output)
    assert "Nothing changed" not in output
    assert files_below(site) == first
    assert "\nBuilt 3 pages" in build(root)
    plain = files_below(site)
    assert not ADDED & plain.keys()
    assert not [path for path, content in plain.items() if b"What changed since" in content]
    assert build(root).startswith("Nothing changed")
    build(root, "--since", str(base))
    assert files_below(site) == first


def test_nothing_changed(base: Path) -> None:
    """Only the front page says so."""
    site = build_since(base, {})
    assert read_section(site, "").startswith(f"{SINCE} Nothing changed.")
    assert read_section(site, "training") == read_section(site, "exam") == ""


def test_a_revision_is_named_with_its_commit(base: Path) -> None:
    """As for a review; a name that stands for nothing is an error, and the old site stays."""
    root = write_changed(base, {})
    for line in ("init -q -b main", "add content data mkdocs.yml", "commit -q -m Begin"):
        git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *line.split()]
        subprocess.run(git, cwd=root, check=True)
    write_file(root / "data/training.csv", CHANGES["one-value"]["data/training.csv"] or "")
    output = build(root, "--since", "main")
    assert re.search(r"\nSince main \([0-9a-f]{8}\): 1 number in the text no longer matches", output)
    before = files_below(root / "site")
    for name in ("nowhere", ""):
        output = build(root, "--since", name, code=1)
        assert "this is no revision of the report's repository" in output
        assert "1 problem; the site was left as it was." in output
    assert files_below(root / "site") == before


def test_a_site_and_a_report_json_serve_too(base: Path) -> None:
    """Numbers of two built reports are compared as their report.json has them."""
    root = write_changed(base, CHANGES["scores-fall"])
    for name, title in (("site", "site"), ("site/report.json", "report.json")):
        build(root, "--since", str(base / name))
        assert read_section(root / "site", "exam").startswith(f"What changed since {title} No longer true")


def test_where_there_is_no_earlier_report_the_front_page_says_so(base: Path) -> None:
    """The report is built as it stands, also with --strict, and nothing in it is called new."""
    write_file(base / "data/training.csv", "no,table\n")
    text = TRAINING.replace("0.7]", "0.8]").replace("< 0.7", "< 0.8")
    root = write_changed(base, {"content/training.md": text})
    output = build(root, "--since", str(base), "--strict")
    assert output.startswith("Since base: There is no earlier report to compare with: ")
    front = read_section(root / "site", "")
    assert front.startswith(f"{SINCE} There is no earlier report to compare with: ")
    assert "New page" not in front
    assert read_section(root / "site", "training") == ""


def test_the_authors_own_names_stay_theirs(base: Path) -> None:
    """A heading and a file that have our names already."""
    text = f"{BASE['content/training.md']}\n## What changed\n\nNothing.\n"
    site = build_since(base, {"content/training.md": text, "content/review.html": "<p>Mine</p>"})
    page = (site / "training/index.html").read_text("utf-8")
    assert page.count('id="what-changed"') == page.count('id="rg-what-changed"') == 1
    assert (site / "review.html").read_text("utf-8") == "<p>Mine</p>"
    assert "<title>Review of working tree against base" in (site / "rg-review.html").read_text("utf-8")
    assert find_dead_links(site) == []


def test_names_in_the_data_stay_text(base: Path) -> None:
    """Mark-up and characters that turn words around, in the names of series and of the state."""
    name = '<img src=x onerror="alert(1)">\u202e'
    settings = SETTINGS.replace("[reportgen]", "[search, {reportgen: {untrusted: true}}]")
    files = {
        "mkdocs.yml": settings,
        "data/runs.csv": f"{RUNS}{json.dumps(name)},1,10,0.5\n".replace('\\"', '""'),
    }
    hostile = write_report(base.with_name("<b>&amp;"), files)
    share_cache(base, hostile)
    root = base.with_name("report")
    shutil.copytree(hostile, root)
    write_file(root / "data/runs.csv", files["data/runs.csv"].replace("10,0.5", "10,0.6"))
    build(root, "--since", str(hostile))
    html = (root / "site/index.html").read_text("utf-8")
    assert "What changed since <b>&amp;" in read_section(root / "site", "")
    assert "<img" not in html
    assert "\u202e" not in html.split('class="rg-changed"')[1].split("</section>")[0]


@pytest.mark.parametrize("theme", ["mkdocs", "readthedocs", "material"])
def test_other_themes_have_it_too(base: Path, theme: str) -> None:
    """With the styles that it needs, and in the theme's table of contents."""
    changes = {
        **CHANGES["claim-becomes-false"],
        "mkdocs.yml": SETTINGS.replace("{name: reportgen}", theme),
        "content/training.md": f"{BASE['content/training.md']}\n## Setup\n\nFour runs.\n",
    }
    html = (build_since(base, changes) / "training/index.html").read_text("utf-8")
    assert html.count('<section class="rg-changed"') == 1
    assert "assets/reportgen/statements.css" in html
    assert html.count('href="#what-changed"') >= 2
