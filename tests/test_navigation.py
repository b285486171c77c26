"""Of a large site each page lists the pages near it, and one page lists them all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "site_name: Large\ntheme: reportgen\ndocs_dir: content\nplugins: [search, reportgen]\n"


def write_large(folder: Path, *, count: int) -> Path:
    """A report with a section of many pages, one of two, and a first page."""
    pages = {f"content/many/page-{n:03}.md": f"# Page {n}\n\nText {n}.\n" for n in range(count)}
    others: dict[str, str | bytes | None] = {
        "mkdocs.yml": SETTINGS,
        "content/index.md": "# First\n\nText.\n",
        "content/few/a.md": "# A\n\nText.\n",
        "content/few/b.md": "# B\n\nText.\n",
    }
    return write_report(folder, others | pages)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built report of 203 pages."""
    root = write_large(tmp_path_factory.mktemp("large"), count=200)
    built = call(root, "build")
    assert built.returncode == 0, built.stderr
    return root


def read_navigation(page: Path) -> str:
    """Return the list of pages beside a page."""
    return page.read_text("utf-8").partition('<nav class="rg-nav"')[2].partition("</nav>")[0]


def list_titles(navigation: str) -> list[str]:
    """Return the words of its links."""
    return re.findall(r"<a [^>]*>([^<]+)</a>", navigation)


def test_a_page_lists_what_is_near_it(large: Path) -> None:
    """Its section is open around it; of another section the first page is linked."""
    near = [f"Page {n}" for n in range(85, 116)]
    navigation = read_navigation(large / "site/many/page-100/index.html")
    assert list_titles(navigation) == ["First", "Few", *near, "All 203 pages"]
    assert navigation.count('aria-hidden="true">…<') == 2
    assert re.search(r'href="\./" aria-current="page">Page 100<', navigation)
    assert 'href="../../few/a/">Few<' in navigation
    assert 'href="../../pages.html">All 203 pages<' in navigation
    few = read_navigation(large / "site/few/b/index.html")
    assert list_titles(few) == ["First", "A", "B", "Many", "All 203 pages"]
    assert list_titles(read_navigation(large / "site/404.html")) == ["First", "Few", "Many", "All 203 pages"]


def test_one_page_lists_them_all(large: Path) -> None:
    """In their sections, each once."""
    page = (large / "site/pages.html").read_text("utf-8").partition("<h1>All pages</h1>")[2]
    titles = list_titles(page.partition("</article>")[0])
    assert titles == ["First", "A", "B", *(f"Page {n}" for n in range(200))]


def test_pages_stay_small_at_any_number(large: Path) -> None:
    """The list beside a page does not grow with the report."""
    sizes = [len(read_navigation(path)) for path in (large / "site").rglob("index.html")]
    assert len(sizes) == 203
    assert max(sizes) < 5_000


def test_a_title_is_new_wherever_it_is_listed(large: Path) -> None:
    """Also on pages that did not change themselves, and nowhere else."""
    (large / "content/many/page-100.md").write_text("# Renamed\n\nText 100.\n", "utf-8")
    assert call(large, "build").returncode == 0
    showing = {
        path.parent.name
        for path in (large / "site").rglob("index.html")
        if ">Renamed<" in read_navigation(path)
    }
    assert showing == {f"page-{n:03}" for n in range(85, 116)}
    beside = (large / "site/many/page-101/index.html").read_text("utf-8")
    assert "</span> Renamed</a>" in beside.partition('aria-label="Previous and next page"')[2]


def test_an_archive_has_every_page_in_its_list(large: Path, tmp_path: Path) -> None:
    """One file has no page that lists them all: its own list is whole, and leads to each page."""
    done = call(
        large, "archive", "--one-file", str(tmp_path / "report.html"), "--to", str(tmp_path / "a.zip")
    )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "report.html").read_text("utf-8")
    links = re.findall(r'href="#([^"]+)"', html.partition('<nav class="rg-nav"')[2].partition("</nav>")[0])
    assert len(links) == 203
    assert all(f'<section class="rg-report-page" id="{name}">' in html for name in links)


def test_a_small_site_lists_all_pages_everywhere(tmp_path: Path) -> None:
    """Up to 100 pages, sections are folded lists."""
    root = write_large(tmp_path, count=97)
    built = call(root, "build")
    assert built.returncode == 0, built.stderr
    titles = list_titles(read_navigation(root / "site/few/a/index.html"))
    assert titles == ["First", "A", "B", *(f"Page {n}" for n in range(97))]
    assert not (root / "site/pages.html").exists()
